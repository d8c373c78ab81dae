#include "simulator/application_source.h"

#include <algorithm>
#include <cmath>

#include "base/spelling.h"

namespace evenkeel::simulator {
namespace {

using namespace std::chrono_literals;
using namespace evenkeel::literals;

constexpr Duration kAfterLast = 2min;
constexpr MilliCpu kBackgroundCpu{500};
constexpr Bytes kBackgroundMemory{512LL << 20};

std::shared_ptr<const Behaviour> endless(MilliCpu cpu, Bytes memory) {
  auto behaviour = std::make_shared<Behaviour>();
  behaviour->kind = Behaviour::Kind::endless;
  DemandPhase phase;
  phase.demand[Dimension::cpu] = 0.5 * static_cast<double>(cpu.count) / 1000;
  phase.demand[Dimension::memory] = 0.5 * static_cast<double>(memory.count);
  behaviour->phases.push_back(phase);
  return behaviour;
}

Container asking(const std::string& name, MilliCpu cpu, Bytes memory) {
  Container container;
  container.name = container.image = name;
  container.requests.cpu = cpu;
  container.requests.memory = memory;
  return container;
}

PodAffinityTerm not_beside_its_like(const Labels& labels, std::string_view key) {
  PodAffinityTerm term;
  term.selector.emplace();
  for (const Label& label : labels.all())
    term.selector->requirements.push_back({label.key, SelectorOperator::in, {label.value}});
  term.topology_key = key;
  return term;
}

}  // namespace

bool ApplicationSource::choose_apps(YamlReader& workload, std::vector<Application> all) {
  const std::vector<std::string> names = workload.is_list("app")
                                             ? workload.texts("app").required()
                                             : std::vector{workload.text("app").required()};
  std::vector<std::string_view> known;
  for (const Application& app : all) known.push_back(app.name);
  for (const std::string& name : names) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Application& app) { return app.name == name; });
    if (found == all.end()) {
      workload.fail("app", "no application is called '" + name + "'; there are " + joined(known) +
                               did_you_mean(name, known));
      return false;
    }
    apps_.push_back(*found);
  }
  return !apps_.empty();
}

std::shared_ptr<const ApplicationSource> ApplicationSource::read(YamlReader& workload, YamlReader& root) {
  const std::shared_ptr<ApplicationSource> source(new ApplicationSource);
  source->places_ = Places::read(root);
  source->replicas_ = workload.integer("replicas").between(1, 1000).or_else(1);
  source->copies_ = workload.integer("copies").between(1, 1000).or_else(1);
  source->apart_ =
      workload
          .choice<Apart>("anti_affinity",
                         {{"none", Apart::no}, {"pod", Apart::by_node}, {"zone", Apart::by_zone}})
          .or_else(Apart::no);
  source->bandwidth_ = workload.boolean("bandwidth").or_else(false);
  source->gang_ = workload.boolean("gang").or_else(false);
  source->background_ = workload.number("background").between(0, 0.95).or_else(0);
  source->sort_ = workload
                      .word("sort", {"KahnSort", "TarjanSort", "ReverseKahn", "ReverseTarjan",
                                     "AlternateKahn", "AlternateTarjan"})
                      .or_else("KahnSort");
  source->one_by_one_ =
      workload.choice<bool>("arrivals", {{"together", false}, {"one-by-one", true}}).or_else(false);

  ApplicationFiles files;
  files.edges = workload.text("edges").or_else("");
  files.services = workload.text("services").or_else("");
  files.usual.cpu = workload.cpu("usual.cpu").at_least({0}).or_else({250});
  files.usual.memory = workload.bytes("usual.memory").at_least({0}).or_else(256_MiB);
  files.usual.bandwidth = {8 * workload.byte_rate("usual.bandwidth").at_least({0}).or_else({0}).count};
  std::vector<Application> apps = read_applications(workload);
  if (!files.services.empty() && files.edges.empty())
    workload.fail("services", "expected `edges` beside it: who talks to whom");
  if (!files.edges.empty()) {
    Result<std::vector<Application>> read = read_application_files(files);
    if (!read) {
      workload.fail("edges", read.error().message);
      return nullptr;
    }
    apps = *std::move(read);
    source->files_ = files.edges;
  }
  return source->choose_apps(workload, std::move(apps)) ? source : nullptr;
}

std::string ApplicationSource::description() const {
  std::string text;
  for (const Application& app : apps_) text += (text.empty() ? "" : ", ") + app.name;
  return text + (files_.empty() ? " of the scenario's own" : " of " + files_) + ", " + places_.description();
}

AppGroup ApplicationSource::group_of(const Application& app, const std::string& name) const {
  const auto reference = [](const std::string& workload) {
    return WorkloadReference{"Deployment", workload, workload, "apps/v1", "default"};
  };
  AppGroup group;
  group.name_space = "default";
  group.name = name;
  group.sorting_algorithm = sort_;
  group.gang = gang_;
  group.members = 0;
  for (const ApplicationWorkload& workload : app.workloads) {
    group.members += static_cast<std::int32_t>(workload.count(replicas_));
    group.workloads.push_back({reference(workload.name), {}});
  }
  for (std::size_t from = 0; from < app.workloads.size(); ++from) {
    std::int64_t receivers = 0;
    for (const auto& [a, b] : app.edges)
      if (a == from) receivers += app.workloads[b].count(replicas_);
    for (const auto& [a, b] : app.edges) {
      if (a != from) continue;
      AppDependency dependency{reference(app.workloads[b].name), {}, 0, false};
      if (bandwidth_) dependency.min_bandwidth = {app.workloads[a].bandwidth.count / receivers};
      // Upstream's filter takes an absent limit for 0. The paper sets none, so it gets one that never binds.
      dependency.max_network_cost = 10'000;
      dependency.limits_cost = true;
      group.workloads[from].dependencies.push_back(std::move(dependency));
    }
  }
  return group;
}

std::shared_ptr<const PodTemplate> ApplicationSource::shape_of(const ApplicationWorkload& workload,
                                                               const std::string& group,
                                                               WorldPlan& plan) const {
  const WorkloadId id{static_cast<std::uint32_t>(plan.workloads.size())};
  plan.workloads.push_back(group + "/" + workload.name);
  const Labels labels{{std::string(kAppGroupLabel), group}, {std::string(kAppWorkloadLabel), workload.name}};
  PodSpec spec;
  spec.containers.push_back(asking(workload.name, workload.cpu, workload.memory));
  if (apart_ != Apart::no)
    spec.pod_anti_affinity.required.push_back(
        not_beside_its_like(labels, apart_ == Apart::by_node ? "kubernetes.io/hostname" : kZoneLabel));
  std::vector<OwnerReference> owners{{"ReplicaSet", group + "-" + workload.name, {}, true}};
  return std::make_shared<PodTemplate>("default", labels, std::move(owners), id, std::move(spec));
}

void ApplicationSource::add_background(WorldPlan& plan, Random random) const {
  double wanted = 0;
  std::vector<MilliCpu> free;
  for (const NodePlan& node : plan.nodes) {
    free.push_back(node.node.allocatable.cpu);
    wanted += background_ * static_cast<double>(node.node.allocatable.cpu.count);
  }
  const WorkloadId id{static_cast<std::uint32_t>(plan.workloads.size())};
  plan.workloads.emplace_back("background");
  std::vector<std::shared_ptr<const PodTemplate>> shapes(plan.nodes.size());
  const auto behaviour = endless(kBackgroundCpu, kBackgroundMemory);
  for (int i = 1; wanted >= static_cast<double>(kBackgroundCpu.count) / 2; ++i) {
    std::vector<std::size_t> open;
    for (std::size_t n = 0; n < free.size(); ++n)
      if (free[n] >= kBackgroundCpu) open.push_back(n);
    if (open.empty()) return;
    const std::size_t node = open[random.below(open.size())];
    free[node] -= kBackgroundCpu;
    wanted -= static_cast<double>(kBackgroundCpu.count);
    if (!shapes[node]) {
      PodSpec spec;
      spec.containers.push_back(asking("background", kBackgroundCpu, kBackgroundMemory));
      spec.node_name = plan.nodes[node].node.name;
      shapes[node] = std::make_shared<PodTemplate>("default", Labels{}, std::vector<OwnerReference>{}, id,
                                                   std::move(spec));
    }
    plan.pods.push_back({Time{}, "background-" + std::to_string(i), shapes[node], behaviour, {0}});
  }
}

void ApplicationSource::add_to(WorldPlan& plan, const NodePlan& pattern, std::uint64_t seed) const {
  const Random root = Random(seed).fork("applications");
  places_.add_nodes(pattern, root.fork("places"), plan);
  plan.objects.emplace_back(places_.topology(plan));
  plan.cost_unit_ms = places_.unit_ms();
  if (background_ > 0) add_background(plan, root.fork("background"));

  std::vector<std::vector<PodPlan>> rollouts;
  for (const Application& app : apps_)
    for (std::int64_t copy = 1; copy <= copies_; ++copy) {
      const std::string group = copies_ > 1 ? app.name + "-" + std::to_string(copy) : app.name;
      plan.objects.emplace_back(group_of(app, group));
      std::vector<PodPlan>& pods = rollouts.emplace_back();
      for (const ApplicationWorkload& workload : app.workloads) {
        const auto shape = shape_of(workload, group, plan);
        const auto behaviour = endless(workload.cpu, workload.memory);
        for (std::int64_t i = 1; i <= workload.count(replicas_); ++i)
          pods.push_back(
              {Time{}, group + "-" + workload.name + "-" + std::to_string(i), shape, behaviour, {0}});
      }
    }
  Random order = root.fork("order");
  if (!one_by_one_)
    while (rollouts.size() > 1) {
      rollouts.front().insert(rollouts.front().end(), rollouts.back().begin(), rollouts.back().end());
      rollouts.pop_back();
    }
  order.shuffle(rollouts);
  Time at = Time{} + 1s;
  for (std::vector<PodPlan>& pods : rollouts) {
    order.shuffle(pods);
    for (PodPlan& pod : pods) {
      pod.arrival = at;
      plan.pods.push_back(std::move(pod));
    }
    at += 1s;
  }
  if (plan.end == Time::max()) plan.end = at + kAfterLast;
}

}  // namespace evenkeel::simulator
