#include "kubernetes/protobuf_tables.h"
#include "kubernetes/protobuf_writer.h"
#include "wire_targets.h"

namespace evenkeel::fuzz {
namespace {

using kubernetes::FieldKind;
using kubernetes::FieldShape;
using kubernetes::FieldTable;
using kubernetes::ProtobufWriter;

constexpr int kDeepest = 5;  // below, messages stay empty: every field is reached, and a seed stays small

ProtobufWriter message_with_all_fields(std::uint16_t message, int depth);

// What kinds other than message look like on the wire.
ProtobufWriter of_special_kind(FieldKind kind) {
  ProtobufWriter written;
  if (kind == FieldKind::quantity) written.text(1, "1500m");
  if (kind == FieldKind::time || kind == FieldKind::micro_time)
    written.integer(1, 1'800'000'000).integer(2, 5'000);
  if (kind == FieldKind::int_or_string) written.integer(1, 1).text(3, "25%");
  return written;
}

void write_value(ProtobufWriter& into, const FieldTable& field, std::uint32_t number, int depth) {
  switch (field.kind) {
    case FieldKind::text:
      into.text(number, field.name == "operator" ? "In" : "a");
      return;
    case FieldKind::boolean:
    case FieldKind::integer:
      into.integer(number, 1);
      return;
    case FieldKind::message:
      into.message(number,
                   depth < kDeepest ? message_with_all_fields(field.message, depth + 1) : ProtobufWriter());
      return;
    default:
      into.message(number, of_special_kind(field.kind));
  }
}

ProtobufWriter message_with_all_fields(std::uint16_t message, int depth) {
  ProtobufWriter written;
  for (const FieldTable& field : kubernetes::message_tables()[message].fields) {
    if (field.shape != FieldShape::map) {
      write_value(written, field, field.number, depth);
      continue;
    }
    ProtobufWriter entry;
    entry.text(1, "key");
    write_value(entry, field, 2, depth);
    written.message(field.number, entry);
  }
  return written;
}

}  // namespace

std::vector<std::string> packed_objects() {
  std::vector<std::string> all;
  for (const auto& kind : kubernetes::kind_tables())
    all.push_back(message_with_all_fields(kind.message, 0).enveloped(kind.api_version, kind.kind));
  return all;
}

std::string packed_list() {
  ProtobufWriter metadata, list;
  metadata.text(2, "7").text(3, "more");
  list.message(1, metadata);
  list.message(2, message_with_all_fields(kubernetes::kind_tables().front().message, 2));
  return list.enveloped("v1", "PodList");
}

std::vector<std::string> packed_events() {
  std::vector<std::string> all;
  for (const std::string& object : packed_objects()) {
    ProtobufWriter raw, event;
    raw.text(1, object);
    event.text(1, "MODIFIED").message(2, raw);
    all.push_back(event.enveloped("meta.k8s.io/v1", "WatchEvent"));
  }
  return all;
}

std::vector<std::string> object_texts() {
  return {
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"default","uid":"u","resourceVersion":"5","labels":{"app":"web"},"ownerReferences":[{"kind":"ReplicaSet","name":"web","uid":"r","controller":true}],"creationTimestamp":"2026-11-16T08:30:00Z"},"spec":{"schedulerName":"evenkeel","priority":100,"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"500m","memory":"1Gi","nvidia.com/gpu":"1"}},"ports":[{"containerPort":80,"hostPort":8080,"protocol":"TCP"}]}],"initContainers":[{"name":"i","restartPolicy":"Always"}],"nodeSelector":{"disk":"ssd"},"tolerations":[{"key":"k","operator":"Exists","effect":"NoSchedule","tolerationSeconds":3}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Gt","values":["3"]}],"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}},"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"app":"web"}},"topologyKey":"kubernetes.io/hostname"}]}},"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchExpressions":[{"key":"app","operator":"NotIn","values":["x"]}]},"minDomains":2,"matchLabelKeys":["v"]}],"schedulingGates":[{"name":"g"}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}},{"name":"e","ephemeral":{"volumeClaimTemplate":{"spec":{"storageClassName":"s"}}}}],"overhead":{"cpu":"10m"}},"status":{"phase":"Pending","nominatedNodeName":"n","conditions":[{"type":"PodScheduled","status":"False"}]}})", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"n","labels":{"topology.kubernetes.io/zone":"a"}},"spec":{"unschedulable":true,"taints":[{"key":"k","value":"v","effect":"NoExecute"}]},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110","hugepages-2Mi":"0"},"capacity":{"cpu":"4"},"conditions":[{"type":"Ready","status":"True"}],"images":[{"names":["a:1"],"sizeBytes":100}]}})", R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c","namespace":"default","annotations":{"volume.kubernetes.io/selected-node":"n"}},"spec":{"storageClassName":"s","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},"volumeName":"p"},"status":{"phase":"Bound"}})", R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"p"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"claimRef":{"namespace":"default","name":"c","uid":"u"},"csi":{"driver":"d","volumeHandle":"h"},"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["a"]}]}]}}}})", R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"s"},"provisioner":"d","volumeBindingMode":"WaitForFirstConsumer","allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":["a"]}]}]})", R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b","namespace":"default"},"spec":{"minAvailable":"50%","selector":{"matchLabels":{"app":"web"}}},"status":{"disruptionsAllowed":1}})", R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":1000,"globalDefault":true,"preemptionPolicy":"Never"})"};
}

std::string list_of(const std::vector<std::string>& objects) {
  std::string text =
      R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"t"},"items":[)";
  for (std::size_t i = 0; i < objects.size(); ++i) text += (i > 0 ? "," : "") + objects[i];
  return text + "]}";
}

}  // namespace evenkeel::fuzz
