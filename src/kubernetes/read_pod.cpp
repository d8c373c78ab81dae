#include "kubernetes/read_pod.h"

#include "kubernetes/read_common.h"
#include "kubernetes/read_pod_parts.h"

namespace evenkeel::kubernetes {
namespace {

void read_spec(const JsonField& spec, const JsonField& status, PodObject& pod) {
  PodSpec& into = pod.spec;
  into.node_name = spec.text_at("nodeName");
  into.scheduler_name = spec.text_at("schedulerName");
  if (into.scheduler_name.empty()) into.scheduler_name = "default-scheduler";
  into.host_network = spec.flag_at("hostNetwork");
  read_containers(spec, status, into);
  read_pod_level_requests(spec.at("resources"), status, into);
  into.overhead = read_resources(spec.at("overhead"));
  into.node_selector = read_labels(spec.at("nodeSelector"));
  read_affinity(spec.at("affinity"), into);
  read_spread(spec.at("topologySpreadConstraints"), into);
  read_tolerations(spec.at("tolerations"), into);
  read_volumes(spec.at("volumes"), pod.name, into);
  for (const JsonField& gate : spec.at("schedulingGates").items())
    into.scheduling_gates.push_back(gate.required_text_at("name"));
  for (const JsonField& claim : spec.at("resourceClaims").items())
    into.resource_claims.push_back(claim.required_text_at("name"));
  pod.priority_class = spec.text_at("priorityClassName");
  pod.priority_given = spec.has("priority");
  into.priority = spec.int32_at("priority");
  into.preemption = spec.choice_at("preemptionPolicy",
                                   {std::pair<std::string_view, PreemptionPolicy>{
                                        "PreemptLowerPriority", PreemptionPolicy::lower_priority},
                                    {"Never", PreemptionPolicy::never}},
                                   PreemptionPolicy::lower_priority);
  into.user_namespace = spec.has("hostUsers") && !spec.flag_at("hostUsers");
}

void read_status(const JsonField& status, PodObject& pod) {
  pod.phase = status.choice_at("phase",
                               {std::pair<std::string_view, PodPhase>{"Pending", PodPhase::pending},
                                {"Running", PodPhase::running},
                                {"Succeeded", PodPhase::succeeded},
                                {"Failed", PodPhase::failed},
                                // The node has not been heard of for long; what runs there may still run.
                                {"Unknown", PodPhase::running}},
                               PodPhase::pending);
  pod.nominated_node = status.text_at("nominatedNodeName");
  pod.started = status.at("startTime").time();
  for (const JsonField& condition : status.at("conditions").items()) {
    const std::string type = condition.text_at("type");
    if (type == "DisruptionTarget")
      pod.disrupted_by_us =
          condition.text_at("status") == "True" && condition.text_at("reason") == "PreemptionByScheduler";
    if (type == "PodScheduled" && condition.text_at("status") == "False")
      pod.unscheduled = {condition.text_at("reason"), condition.text_at("message")};
    if (type == "PodResizePending") pod.spec.resize_infeasible = condition.text_at("reason") == "Infeasible";
  }
}

// Whether the pod itself forbids to be moved; the strongest word counts. Who calls a pod safe to evict has
// thought of its emptyDirs: that is what cluster-autoscaler takes it for.
MoveBar read_bar(const JsonField& object) {
  if (read_annotation(object, "kubernetes.io/config.mirror")) return MoveBar::mirror;
  if (read_annotation(object, "evenkeel.io/move") == "never") return MoveBar::asked_not_to;
  const auto safe = read_annotation(object, "cluster-autoscaler.kubernetes.io/safe-to-evict");
  if (safe == "false") return MoveBar::not_safe;
  bool has_scratch = false;
  for (const JsonField& volume : object.at("spec").at("volumes").items()) {
    if (volume.has("hostPath")) return MoveBar::host_path;
    // Memory is lost whenever a container ends, so nobody keeps anything there.
    has_scratch =
        has_scratch || (volume.has("emptyDir") && volume.at("emptyDir").text_at("medium") != "Memory");
  }
  return has_scratch && safe != "true" ? MoveBar::local_storage : MoveBar::none;
}

}  // namespace

PodObject read_pod(const JsonField& object) {
  const Metadata metadata = read_metadata(object);
  PodObject pod;
  pod.name_space = metadata.name_space.empty() ? "default" : metadata.name_space;
  pod.name = metadata.name;
  pod.uid = metadata.uid;
  pod.labels = metadata.labels;
  pod.owners = metadata.owners;
  pod.created = metadata.created;
  pod.terminating = metadata.terminating;
  const JsonField spec = object.at("spec"), status = object.at("status");
  if (!spec) object.fail_at("spec", "expected what the pod is made of, found nothing");
  read_status(status, pod);  // first: what a pod counts with depends on how its resize is going
  read_spec(spec, status, pod);
  pod.bar = read_bar(object);
  return pod;
}

}  // namespace evenkeel::kubernetes
