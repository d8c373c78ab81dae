#include "simulator/scenario.h"

#include <algorithm>
#include <cmath>

#include "simulator/application_source.h"
#include "simulator/pod_trace_source.h"
#include "simulator/run_times.h"
#include "simulator/usage_source.h"

namespace evenkeel::simulator {
namespace {

using namespace std::chrono_literals;

Usage read_usage(YamlReader& from, std::string_view path) {
  YamlReader map = from.map(path);
  Usage usage;
  usage[Dimension::cpu] = static_cast<double>(map.cpu("cpu").at_least({0}).or_else({0}).count) / 1000;
  usage[Dimension::memory] = static_cast<double>(map.bytes("memory").at_least({0}).or_else({0}).count);
  const std::pair<std::string_view, Dimension> rates[] = {{"receive", Dimension::receive},
                                                          {"transmit", Dimension::transmit},
                                                          {"read", Dimension::read},
                                                          {"write", Dimension::write}};
  for (const auto& [name, dimension] : rates)
    usage[dimension] = static_cast<double>(map.byte_rate(name).at_least({0}).or_else({0}).count);
  return usage;
}

Labels read_labels(YamlReader& from, std::string_view path) {
  Labels labels;
  for (auto& [key, value] : from.entries(path)) labels.set(key, value.text("").required());
  return labels;
}

YamlField<TaintEffect> read_effect(YamlReader& from) {
  return from.choice<TaintEffect>("effect", {{"NoSchedule", TaintEffect::no_schedule},
                                             {"PreferNoSchedule", TaintEffect::prefer_no_schedule},
                                             {"NoExecute", TaintEffect::no_execute}});
}

// A number, or [low, high].
std::optional<Range> read_range(YamlReader& from, const std::string& path, auto read_one) {
  if (!from.has(path)) return std::nullopt;
  if (!from.is_list(path)) {
    const double value = read_one(from, path);
    return Range{value, value};
  }
  std::vector<YamlReader> bounds = from.list(path);
  if (bounds.size() != 2) {
    from.fail(path, "expected one value or [low, high]");
    return std::nullopt;
  }
  const Range range{read_one(bounds[0], ""), read_one(bounds[1], "")};
  if (range.high < range.low) from.fail(path, "expected [low, high] with low not above high");
  return range;
}

std::optional<Range> read_cores(YamlReader& from, const std::string& path) {
  return read_range(from, path, [](YamlReader& reader, const std::string& at) {
    return static_cast<double>(reader.cpu(at).at_least({0}).required().count) / 1000;
  });
}

std::optional<Range> read_seconds(YamlReader& from, const std::string& path) {
  return read_range(from, path, [](YamlReader& reader, const std::string& at) {
    return to_seconds(reader.duration(at).at_least(0us).required());
  });
}

NodeGroup read_node(YamlReader& from) {
  NodeGroup group;
  group.name = from.text("name").required();
  group.count = from.integer("count").between(0, 1'000'000).or_else(1);
  Node& node = group.node;
  node.capacity = read_usage(from, "capacity");
  for (const Dimension d : {Dimension::cpu, Dimension::memory})
    if (node.capacity[d] <= 0) from.fail("capacity", "expected cpu and memory above 0");
  group.base = read_usage(from, "base");
  if (group.base[Dimension::cpu] >= node.capacity[Dimension::cpu] && node.capacity[Dimension::cpu] > 0)
    from.fail("base", "expected less cpu than the capacity: pods would never run");
  for (std::size_t d = 0; d < kDimensions; ++d)
    if (group.base.of[d] > node.capacity.of[d] && group.base.of[d] > 0)
      from.fail("base", "expected no more " + std::string(kDimensionNames[d]) + " than the capacity");
  node.allocatable.cpu =
      from.cpu("allocatable.cpu").at_least({0}).or_else({std::llround(node.capacity[Dimension::cpu] * 1000)});
  node.allocatable.memory = from.bytes("allocatable.memory")
                                .at_least({0})
                                .or_else({std::llround(node.capacity[Dimension::memory])});
  for (auto& [name, value] : from.entries("extended"))
    node.allocatable.set_extended(name, value.integer("").at_least(0).required());
  node.max_pods = from.integer("max_pods").at_least(0).or_else(110);
  node.labels = read_labels(from, "labels");
  for (YamlReader& taint : from.list("taints"))
    node.taints.push_back(
        {taint.text("key").required(), taint.text("value").or_else(""), read_effect(taint).required()});
  node.unschedulable = from.boolean("unschedulable").or_else(false);
  group.joins = from.duration("joins").at_least(0us).or_else(0us);
  return group;
}

App read_app(YamlReader& from) {
  App app;
  app.name = from.text("name").required();
  app.weight = from.integer<int>("weight").between(1, 1000).or_else(1);
  app.kind = from.choice<Behaviour::Kind>("kind", {{"fixed-work", Behaviour::Kind::fixed_work},
                                                   {"fixed-duration", Behaviour::Kind::fixed_duration},
                                                   {"endless", Behaviour::Kind::endless}})
                 .or_else(Behaviour::Kind::fixed_work);
  app.noise = from.number("noise").between(0, 3).or_else(0);
  if (const auto reference = from.cpu("reference_cpu").more_than({0}).optional())
    app.reference_cpu = static_cast<double>(reference->count) / 1000;
  app.cpu_request = read_cores(from, "cpu_request");
  app.cpu_limit = read_cores(from, "cpu_limit");
  app.memory_request = from.bytes("memory_request").at_least({0}).or_else({0});
  app.memory_limit = from.bytes("memory_limit").at_least({0}).or_else({0});
  app.image = from.text("image").or_else(app.name);
  app.image_size = from.bytes("image_size").at_least({0}).or_else({0});
  app.owner = from.text("owner").or_else("");
  app.priority = from.integer<std::int32_t>("priority").or_else(0);
  app.labels = read_labels(from, "labels");
  app.node_selector = read_labels(from, "node_selector");
  for (YamlReader& t : from.list("tolerations"))
    app.tolerations.push_back(
        {t.text("key").or_else(""),
         t.choice<Toleration::Operator>(
              "operator", {{"Equal", Toleration::Operator::equal}, {"Exists", Toleration::Operator::exists}})
             .or_else(Toleration::Operator::equal),
         t.text("value").or_else(""), read_effect(t).optional(), std::nullopt});
  for (auto& [name, value] : from.entries("extended"))
    app.extended.push_back({name, value.integer("").at_least(1).required()});
  for (YamlReader& phase : from.list("phases")) {
    const bool endless = app.kind == Behaviour::Kind::endless;
    const auto seconds = read_seconds(phase, "seconds");
    if (!seconds && !endless) phase.duration("seconds").required();
    app.phases.push_back({seconds.value_or(Range{}), read_usage(phase, "demand")});
  }
  if (app.phases.empty()) from.fail("phases", "expected at least one phase");
  const auto allows_cpu = [](const std::optional<Range>& range) { return range && range->low > 0; };
  if (app.reference_cpu && !allows_cpu(app.cpu_limit) && !allows_cpu(app.cpu_request))
    from.fail("reference_cpu", "expected a cpu_request or cpu_limit above 0 to scale by");
  return app;
}

Arrivals read_arrivals(YamlReader& from) {
  Arrivals arrivals;
  arrivals.pods = from.integer("pods").between(0, 10'000'000).required();
  using Pattern = Arrivals::Pattern;
  arrivals.pattern = from.choice<Pattern>("pattern", {{"regular", Pattern::regular},
                                                      {"normal", Pattern::normal},
                                                      {"poisson", Pattern::poisson},
                                                      {"at-once", Pattern::at_once},
                                                      {"within", Pattern::within}})
                         .or_else(Pattern::regular);
  if (arrivals.pattern == Pattern::within) {
    arrivals.within = from.duration("within").at_least(0us).required();
  } else if (arrivals.pattern != Pattern::at_once) {
    arrivals.every = from.duration("every").more_than(0us).required();
    arrivals.deviation = from.duration("deviation").at_least(0us).or_else(0us);
  }
  return arrivals;
}

void read_workload(YamlReader& root, Scenario& scenario) {
  if (root.has("usage")) {
    YamlReader usage = root.map("usage");
    scenario.usage = UsageSource::read(usage);
    if (scenario.usage) scenario.source = scenario.usage->description();
    scenario.nodes_count = root.integer("nodes.count").between(1, 100'000).required();
  }
  if (!root.has("workload")) return;
  YamlReader workload = root.map("workload");
  const std::string kind = workload.word("kind", {"apps", "pod-trace", "applications"}).or_else("apps");
  if (kind == "applications") {
    scenario.applications = ApplicationSource::read(workload, root);
    if (scenario.applications) scenario.source = scenario.applications->description();
    return;
  }
  if (kind == "pod-trace") {
    scenario.pods = PodTraceSource::read(workload, root);
    if (scenario.pods) scenario.source = scenario.pods->description();
    return;
  }
  scenario.source = "generated from the scenario's own figures";
  scenario.seconds_scale = workload.number("scale").more_than(0).or_else(1);
  scenario.mix =
      workload.choice<Mix>("mix", {{"blocks", Mix::blocks}, {"random", Mix::random}, {"each", Mix::each}})
          .or_else(Mix::blocks);
  for (YamlReader& app : workload.list("apps")) scenario.apps.push_back(read_app(app));
  if (scenario.apps.empty()) workload.fail("apps", "expected at least one app");
  YamlReader arrivals = workload.map("arrivals");
  scenario.arrivals = read_arrivals(arrivals);
  if (const auto times = workload.text("trace").optional()) {
    const Status read = read_run_times(*times, scenario);
    if (!read) workload.fail("trace", read.error().message);
  }
}

void read_models(YamlReader& root, Scenario& scenario) {
  MetricsModel& metrics = scenario.metrics;
  metrics.every = root.duration("metrics.every").at_least(0us).or_else(metrics.every);
  metrics.delay = root.duration("metrics.delay").at_least(0us).or_else(0us);
  metrics.noise = root.number("metrics.noise").between(0, 1).or_else(0);
  metrics.missing = root.number("metrics.missing").between(0, 1).or_else(0);
  scenario.binding.delay = root.duration("binding.delay").at_least(0us).or_else(0us);
  scenario.binding.jitter = root.duration("binding.jitter").at_least(0us).or_else(0us);
  scenario.binding.fail = root.number("binding.fail").between(0, 0.99).or_else(0);
  scenario.kubelet.start_delay = root.duration("kubelet.start_delay").at_least(0us).or_else(0us);
  scenario.kubelet.pull_bytes_per_s =
      static_cast<double>(root.byte_rate("kubelet.pull_rate").at_least({0}).or_else({0}).count);
  scenario.kubelet.swap = root.boolean("kubelet.swap").or_else(false);
  scenario.faults.crashes_per_hour = root.number("faults.crashes_per_hour").between(0, 3600).or_else(0);
  scenario.faults.leaves_per_hour = root.number("faults.leaves_per_hour").between(0, 3600).or_else(0);
  scenario.faults.back_after = root.duration("faults.back_after").at_least(0us).or_else(5min);
  scenario.measure_from = root.duration("measure.from").at_least(0us).optional();
  if (root.has("measure.to") && root.text("measure.to").required() == "last-arrival") {
    scenario.measure_to_last_arrival = true;
  } else {
    scenario.measure_to =
        root.duration("measure.to").more_than(scenario.measure_from.value_or(0us)).optional();
  }
  scenario.end = root.duration("end").more_than(0us).optional();
}

}  // namespace

Scenario read_scenario(YamlReader& root) {
  Scenario scenario;
  root.word("apiVersion", {"evenkeel.io/v1alpha1"}).required();
  root.word("kind", {"Scenario"}).required();
  scenario.name = root.text("name").required();
  scenario.description = root.text("description").or_else("");
  for (YamlReader& node : root.list("nodes.list")) scenario.nodes.push_back(read_node(node));
  read_workload(root, scenario);
  read_models(root, scenario);
  // One number for clusters of equal nodes, so that a size can be set from the command line.
  if (!scenario.usage && !scenario.pods) {
    const auto count = root.integer("nodes.count").between(1, 1'000'000).optional();
    if (count && scenario.nodes.size() == 1) {
      scenario.nodes.front().count = *count;
    } else if (count) {
      root.fail("nodes.count", "expected a list of one kind of node to multiply");
    }
    if (scenario.nodes.empty()) root.fail("nodes.list", "expected at least one node");
    for (YamlReader& fault : root.list("faults.planned")) {
      NodeFault planned;
      planned.at = Time{} + fault.duration("at").at_least(0us).required();
      planned.node.slot = static_cast<std::uint32_t>(fault.integer("node").between(0, 1'000'000).required());
      planned.kind = fault
                         .choice<NodeFault::Kind>("kind", {{"crashes", NodeFault::Kind::crashes},
                                                           {"leaves", NodeFault::Kind::leaves},
                                                           {"rejoins", NodeFault::Kind::rejoins}})
                         .required();
      std::int64_t nodes = 0;
      for (const NodeGroup& group : scenario.nodes) nodes += group.count;
      if (planned.node.slot >= nodes) fault.fail("node", "expected the number of a node, from 0");
      scenario.planned_faults.push_back(planned);
    }
    const bool endless = std::any_of(scenario.apps.begin(), scenario.apps.end(),
                                     [](const App& app) { return app.kind == Behaviour::Kind::endless; });
    if (endless && !scenario.end) root.fail("end", "expected a time: an app that runs endlessly needs one");
  }
  return scenario;
}

}  // namespace evenkeel::simulator
