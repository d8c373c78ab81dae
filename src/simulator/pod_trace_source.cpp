#include "simulator/pod_trace_source.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "simulator/pod_generator.h"

namespace evenkeel::simulator {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kGeneratedNodes = 64;
constexpr double kNetworkRate = 1.25e9, kDiskRate = 1e9;  // of a node, bytes per second
constexpr Duration kAfterLast = 10min;
constexpr const char* kGpu = "evenkeel.io/gpu-milli";
constexpr const char* kGpuModel = "evenkeel.io/gpu-model";
constexpr const char* kQos = "evenkeel.io/qos";

template <class Names>
struct ColumnKey {
  const char* key;
  std::string Names::* name;
};

template <class Names, std::size_t N>
Names read_columns(YamlReader& from, const ColumnKey<Names> (&keys)[N]) {
  Names names;
  for (const auto& [key, name] : keys)
    names.*name = from.text("columns." + std::string(key)).or_else(names.*name);
  return names;
}

constexpr ColumnKey<NodeColumns> kNodeColumns[] = {{"name", &NodeColumns::name},
                                                   {"cpu", &NodeColumns::cpu},
                                                   {"memory", &NodeColumns::memory},
                                                   {"gpus", &NodeColumns::gpus},
                                                   {"model", &NodeColumns::model}};
constexpr ColumnKey<PodColumns> kPodColumns[] = {{"name", &PodColumns::name},
                                                 {"cpu", &PodColumns::cpu},
                                                 {"memory", &PodColumns::memory},
                                                 {"gpus", &PodColumns::gpus},
                                                 {"gpu_milli", &PodColumns::gpu_milli},
                                                 {"gpu_models", &PodColumns::gpu_models},
                                                 {"qos", &PodColumns::qos},
                                                 {"created", &PodColumns::created},
                                                 {"deleted", &PodColumns::deleted},
                                                 {"scheduled", &PodColumns::scheduled}};

std::string shape_name(const TracePod& pod) {
  std::string name = std::to_string(pod.cpu.count) + "m-" + std::to_string(pod.memory.count >> 20) + "Mi";
  if (pod.gpu_milli > 0) name += "-" + std::to_string(pod.gpu_milli) + "gpu";
  return name;
}

// What the pods of a shape use: of CPU and memory a share of the request, of the rest bytes per
// second for each core requested.
struct UseModel {
  Usage share;

  explicit UseModel(Random random) {
    const auto around = [&](double median) { return median * std::exp(0.8 * random.normal()); };
    share[Dimension::cpu] = random.between(0.15, 0.75);
    share[Dimension::memory] = random.between(0.3, 0.95);
    share[Dimension::receive] = around(2e6);
    share[Dimension::transmit] = around(1e6);
    share[Dimension::read] = around(2e6);
    share[Dimension::write] = around(1e6);
  }
  Usage of(const TracePod& pod, Random& random) const {
    const double cores = static_cast<double>(pod.cpu.count) / 1000;
    const double mood = std::exp(0.2 * random.normal());
    Usage use = share * (cores * mood);
    use[Dimension::cpu] = cores * std::min(1.0, share[Dimension::cpu] * mood);
    use[Dimension::memory] = static_cast<double>(pod.memory.count) * share[Dimension::memory];
    return use;
  }
};

struct Shapes {
  explicit Shapes(WorldPlan& world) : plan(world) {}

  WorldPlan& plan;
  std::map<std::string, WorkloadId> workloads;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const PodTemplate>> made;

  std::shared_ptr<const PodTemplate> get(const TracePod& pod) {
    const std::string name = shape_name(pod);
    std::string rest = pod.qos;
    for (const std::string& model : pod.gpu_models) rest += "|" + model;
    auto& shape = made[{name, rest}];
    if (shape) return shape;
    const WorkloadId next{static_cast<std::uint32_t>(plan.workloads.size())};
    const auto [workload, fresh] = workloads.try_emplace(name, next);
    if (fresh) plan.workloads.push_back(name);
    Container container;
    container.name = container.image = name;
    container.requests.cpu = pod.cpu;
    container.requests.memory = pod.memory;
    if (pod.gpu_milli > 0) container.requests.set_extended(kGpu, pod.gpu_milli);
    PodSpec spec;
    spec.containers.push_back(std::move(container));
    if (!pod.gpu_models.empty())
      spec.node_affinity.required = {{{{kGpuModel, SelectorOperator::in, pod.gpu_models}}, {}}};
    Labels labels;
    if (!pod.qos.empty()) labels.set(kQos, pod.qos);
    shape = std::make_shared<PodTemplate>("default", std::move(labels), std::vector<OwnerReference>{},
                                          workload->second, std::move(spec));
    return shape;
  }
};

void add_node(const TraceNode& from, WorldPlan& plan) {
  Node& node = plan.nodes.emplace_back().node;
  node.name = from.name;
  node.labels.set("kubernetes.io/hostname", node.name);
  if (!from.gpu_model.empty()) node.labels.set(kGpuModel, from.gpu_model);
  node.allocatable.cpu = from.cpu;
  node.allocatable.memory = from.memory;
  if (from.gpu_milli > 0) node.allocatable.set_extended(kGpu, from.gpu_milli);
  node.capacity = {{static_cast<double>(from.cpu.count) / 1000, static_cast<double>(from.memory.count),
                    kNetworkRate, kNetworkRate, kDiskRate, kDiskRate}};
}

}  // namespace

std::shared_ptr<const PodTraceSource> PodTraceSource::read(YamlReader& workload, YamlReader& root) {
  std::shared_ptr<PodTraceSource> source(new PodTraceSource);
  const bool nodes = source->read_nodes(root), pods = source->read_pods(workload);
  return nodes && pods ? source : nullptr;
}

bool PodTraceSource::read_nodes(YamlReader& root) {
  YamlReader nodes = root.map("nodes");
  nodes_listed_ = nodes.has("list");
  const auto columns = read_columns(nodes, kNodeColumns);
  const auto count = nodes.integer("count").between(1, 100'000).or_else(0);
  if (count > 0) nodes_count_ = static_cast<std::size_t>(count);
  nodes_path_ = nodes.text("trace").or_else("");
  if (nodes_listed_ && (nodes_count_ || !nodes_path_.empty()))
    nodes.fail("list", "expected no `trace` or `count` beside it");
  if (nodes_path_.empty()) return true;
  auto read = read_trace_nodes(nodes_path_, columns);
  if (!read) {
    nodes.fail("trace", read.error().message);
    return false;
  }
  nodes_ = *std::move(read);
  if (nodes_count_.value_or(0) > nodes_.size())
    nodes.fail("count",
               "expected at most " + std::to_string(nodes_.size()) + ", which is what the trace has");
  return true;
}

bool PodTraceSource::read_pods(YamlReader& workload) {
  const auto columns = read_columns(workload, kPodColumns);
  stay_ = workload.choice<bool>("lifetimes", {{"recorded", false}, {"none", true}}).or_else(false);
  scale_ = workload.number("scale").more_than(0).or_else(1);
  load_ = workload.number("load").between(0.01, 2).or_else(load_);
  length_ = workload.duration("length").more_than(0us).or_else(6h);
  pods_path_ = workload.text("trace").or_else("");
  if (pods_path_.empty()) {
    for (const char* bound : {"from", "to"})
      if (workload.has(bound)) workload.fail(bound, "expected a `trace` to take a window of");
    return true;
  }
  auto read = read_trace_pods(pods_path_, columns);
  if (!read) {
    workload.fail("trace", read.error().message);
    return false;
  }
  pods_ = *std::move(read);
  cut_window(workload);
  return true;
}

void PodTraceSource::cut_window(YamlReader& workload) {
  const bool from_given = workload.has("from");
  const double from = to_seconds(workload.duration("from").at_least(0us).or_else(0us));
  const double to =
      to_seconds(workload.duration("to").more_than(from_seconds(from)).or_else(Duration::max()));
  std::erase_if(pods_, [&](const TracePod& pod) {
    return (from_given && pod.created_s < from) || pod.created_s >= to;
  });
  if (pods_.empty()) {
    workload.fail(from_given ? "from" : "to", "no pod of the trace was created in that window");
    return;
  }
  const double start = from_given ? from : pods_.front().created_s;
  for (TracePod& pod : pods_) pod.created_s = (pod.created_s - start) / scale_;
}

std::string PodTraceSource::description() const {
  std::string text =
      pods_path_.empty() ? "generated pods" : std::to_string(pods_.size()) + " pods of " + pods_path_;
  text += nodes_listed_         ? " on the scenario's nodes"
          : nodes_path_.empty() ? " on generated nodes"
                                : " on nodes of " + nodes_path_;
  if (stay_) text += ", who has come stays";
  return text + "; use is drawn as a share of requests";
}

std::vector<TraceNode> PodTraceSource::nodes_for(std::uint64_t seed) const {
  if (nodes_path_.empty()) return generate_nodes(nodes_count_.value_or(kGeneratedNodes));
  if (!nodes_count_) return nodes_;
  std::vector<std::size_t> order(nodes_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  Random(seed).fork("pod trace").fork("nodes").shuffle(order);
  order.resize(*nodes_count_);
  std::sort(order.begin(), order.end());
  std::vector<TraceNode> sample;
  for (const std::size_t i : order) sample.push_back(nodes_[i]);
  return sample;
}

void PodTraceSource::add_to(WorldPlan& plan, std::uint64_t seed) const {
  const Random root = Random(seed).fork("pod trace");
  std::vector<TraceNode> nodes;
  if (!nodes_listed_) nodes = nodes_for(seed);
  for (const TraceNode& node : nodes) add_node(node, plan);

  std::vector<TracePod> generated;
  if (pods_path_.empty()) {
    for (std::size_t i = 0; nodes_listed_ && i < plan.nodes.size(); ++i) {
      const Resources& has = plan.nodes[i].node.allocatable;
      nodes.push_back({"", has.cpu, has.memory, has.extended_count(kGpu), ""});
    }
    PodStream stream;
    stream.load = load_ * scale_;
    stream.length_s = to_seconds(length_);
    generated = generate_pods(nodes, stream, root.fork("pods"));
  }
  const std::vector<TracePod>& pods = pods_path_.empty() ? generated : pods_;

  Shapes shapes(plan);
  std::map<std::uint32_t, UseModel> uses;
  Random random = root.fork("use");
  for (const TracePod& pod : pods) {
    std::shared_ptr<const PodTemplate> shape = shapes.get(pod);
    const std::uint32_t workload = shape->workload.slot;
    auto use = uses.find(workload);
    if (use == uses.end())
      use = uses.emplace(workload, UseModel(root.fork("shape").fork(plan.workloads[workload]))).first;
    auto behaviour = std::make_shared<Behaviour>();
    const bool ends = pod.seconds && !stay_;
    behaviour->kind = ends ? Behaviour::Kind::fixed_duration : Behaviour::Kind::endless;
    behaviour->phases.push_back({ends ? std::max(1.0, *pod.seconds) : 0, use->second.of(pod, random)});
    plan.pods.push_back(
        {Time{} + from_seconds(pod.created_s), pod.name, std::move(shape), std::move(behaviour), {}});
  }
  if (plan.end == Time::max() && !plan.pods.empty()) plan.end = plan.pods.back().arrival + kAfterLast;
}

}  // namespace evenkeel::simulator
