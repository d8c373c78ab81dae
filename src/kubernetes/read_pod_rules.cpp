#include "kubernetes/read_common.h"
#include "kubernetes/read_pod_parts.h"

namespace evenkeel::kubernetes {
namespace {

constexpr std::int32_t kHighestWeight = 100;

std::int32_t read_weight(const JsonField& field) {
  return static_cast<std::int32_t>(field.at("weight").integer(0, kHighestWeight));
}

PodAffinityTerm read_term(const JsonField& field) {
  PodAffinityTerm term;
  term.selector = read_selector(field.at("labelSelector"));
  term.namespaces = field.texts_at("namespaces");
  term.namespace_selector = read_selector(field.at("namespaceSelector"));
  term.topology_key = field.required_text_at("topologyKey");
  term.match_label_keys = field.texts_at("matchLabelKeys");
  term.mismatch_label_keys = field.texts_at("mismatchLabelKeys");
  return term;
}

PodAffinity read_pod_affinity(const JsonField& field) {
  PodAffinity affinity;
  for (const JsonField& term : few_items(field.at("requiredDuringSchedulingIgnoredDuringExecution")))
    affinity.required.push_back(read_term(term));
  for (const JsonField& term : few_items(field.at("preferredDuringSchedulingIgnoredDuringExecution")))
    affinity.preferred.push_back({read_weight(term), read_term(term.at("podAffinityTerm"))});
  return affinity;
}

bool honors(const JsonField& field, std::string_view key, bool fallback) {
  return field.choice_at(key, {std::pair<std::string_view, bool>{"Honor", true}, {"Ignore", false}},
                         fallback);
}

}  // namespace

void read_node_affinity(const JsonField& nodes, PodSpec& into) {
  if (const JsonField required = nodes.at("requiredDuringSchedulingIgnoredDuringExecution"))
    into.node_affinity.required = read_node_selector(required);
  for (const JsonField& term : few_items(nodes.at("preferredDuringSchedulingIgnoredDuringExecution")))
    into.node_affinity.preferred.push_back(
        {read_weight(term), read_node_selector_term(term.at("preference"))});
}

void read_affinity(const JsonField& affinity, PodSpec& into) {
  read_node_affinity(affinity.at("nodeAffinity"), into);
  into.pod_affinity = read_pod_affinity(affinity.at("podAffinity"));
  into.pod_anti_affinity = read_pod_affinity(affinity.at("podAntiAffinity"));
}

void read_spread(const JsonField& constraints, PodSpec& into) {
  for (const JsonField& field : few_items(constraints)) {
    TopologySpreadConstraint constraint;
    constraint.max_skew = static_cast<std::int32_t>(
        field.at("maxSkew").integer(1, std::numeric_limits<std::int32_t>::max(), 1));
    constraint.topology_key = field.required_text_at("topologyKey");
    if (field.text_at("whenUnsatisfiable").empty())
      field.fail_at("whenUnsatisfiable", "expected DoNotSchedule or ScheduleAnyway, found nothing");
    constraint.do_not_schedule = field.choice_at(
        "whenUnsatisfiable",
        {std::pair<std::string_view, bool>{"DoNotSchedule", true}, {"ScheduleAnyway", false}}, true);
    constraint.selector = read_selector(field.at("labelSelector"));
    constraint.min_domains = field.optional_int32_at("minDomains");
    constraint.honor_node_affinity = honors(field, "nodeAffinityPolicy", true);
    constraint.honor_node_taints = honors(field, "nodeTaintsPolicy", false);
    constraint.match_label_keys = field.texts_at("matchLabelKeys");
    into.spread.push_back(std::move(constraint));
  }
}

void read_tolerations(const JsonField& tolerations, PodSpec& into) {
  for (const JsonField& field : few_items(tolerations)) {
    Toleration toleration;
    toleration.key = field.text_at("key");
    toleration.op = field.choice_at(
        "operator",
        {std::pair<std::string_view, Toleration::Operator>{"Equal", Toleration::Operator::equal},
         {"Exists", Toleration::Operator::exists}},
        Toleration::Operator::equal);
    toleration.value = field.text_at("value");
    toleration.effect =
        field.choice_at<std::optional<TaintEffect>>("effect",
                                                    {{"NoSchedule", TaintEffect::no_schedule},
                                                     {"PreferNoSchedule", TaintEffect::prefer_no_schedule},
                                                     {"NoExecute", TaintEffect::no_execute}},
                                                    std::nullopt);
    if (field.has("tolerationSeconds"))
      toleration.seconds =
          field.at("tolerationSeconds")
              .integer(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
    into.tolerations.push_back(std::move(toleration));
  }
}

}  // namespace evenkeel::kubernetes
