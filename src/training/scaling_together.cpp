#include "training/scaling_together.h"

#include <algorithm>
#include <cmath>

#include "autoscaling/autoscaler.h"
#include "autoscaling/leavers.h"
#include "autoscaling/policies/registry.h"
#include "base/check.h"
#include "control/scaling_loop.h"
#include "simulator/request_generator.h"
#include "training/in_parallel.h"
#include "training/scaling_mirror.h"

namespace evenkeel::training {
namespace {

using namespace std::chrono_literals;
using simulator::Replica;
using simulator::ServicePlan;
using simulator::ServiceWorld;
using simulator::ServiceWorldPlan;

constexpr double kNodeCores = 8, kUtilisation = 0.7;
constexpr double kPerPod = 50;  // requests a second of a pod at its limit, whatever its size
constexpr Bytes kNodeMemory{32LL << 30};
constexpr Duration kDay = 24h;

// A day of its own: when it peaks, how far it swings, what comes unannounced.
std::shared_ptr<const simulator::RequestRates> requests_of(double peak, Duration length, Random random) {
  simulator::RequestShape shape;
  shape.length = kDay;
  shape.daily = random.between(0.4, 0.8);
  shape.peak_at = Duration(static_cast<Duration::rep>(static_cast<double>(kDay.count()) * random.uniform()));
  shape.bursts.per_hour = 0.25;
  shape.bursts.height = 0.6;
  shape.bursts.length = 30min;
  shape.noise.spread = 0.1;
  simulator::RequestRates rates = simulator::make_requests(shape, random.fork("requests"));
  const float most = *std::max_element(rates.per_s.begin(), rates.per_s.end());
  for (float& rate : rates.per_s) rate *= static_cast<float>(peak) / most;
  rates.step = Duration(rates.step.count() * length.count() / kDay.count());
  return std::make_shared<const simulator::RequestRates>(std::move(rates));
}

// What a loop sees of a world: room is told by the adviser, or by nobody.
class Shielded final : public ScalingWorld {
 public:
  Shielded(ServiceWorld& world, MirroredRoom* room, std::function<void()> passed)
      : world_(world), room_(room), passed_(std::move(passed)) {}
  Time now() const override { return world_.now(); }
  std::optional<std::span<const ScalingEvent>> wait_for_events(Time deadline) override {
    const auto events = world_.wait_for_events(deadline);
    passed_();
    if (!events) return std::nullopt;
    told_.clear();
    if (room_) room_->catch_up();
    for (const ScalingEvent& event : *events) {
      if (const auto* report = std::get_if<ServiceReported>(&event); report && room_)
        room_->reported(*report);
      if (!std::holds_alternative<RoomSeen>(event)) told_.push_back(event);
    }
    return std::span<const ScalingEvent>(told_);
  }
  void execute(const ScalingAction& action) override { world_.execute(action); }

 private:
  ServiceWorld& world_;
  MirroredRoom* room_;
  std::function<void()> passed_;
  std::vector<ScalingEvent> told_;
};

// What a world comes to, looked at whenever it has moved on.
class TogetherMeasures {
 public:
  TogetherMeasures(const ServiceWorld& world, const ServiceWorldPlan& plan)
      : world_(world), plan_(plan), last_(plan.services.size()) {}

  void look() {
    const Time now = world_.now();
    const double seconds = to_seconds(now - then_);
    then_ = now;
    const bool counts = seconds > 0 && now.time_since_epoch() > plan_.measured_from;
    for (std::size_t i = 0; i < plan_.services.size(); ++i) {
      const simulator::ServiceCounters& counters = world_.services()[i]->counters;
      const double answered = counters.answered - last_[i].answered;
      const double bad = counters.late - last_[i].late + counters.refused - last_[i].refused;
      const double all = answered + counters.refused - last_[i].refused;
      last_[i] = {counters.answered, counters.late, counters.refused};
      if (counts && bad > (1 - plan_.level.percentile) * all) violated_ += seconds;
    }
    if (!counts) return;
    seconds_ += seconds;
    imbalance_ += 100 * imbalance() * seconds;
    note_pending(seconds);
  }

  std::vector<Metric> metrics() const {
    const simulator::ServiceMeasures::Summary summary = world_.measures().summarise();
    const double hours = seconds_ / 3600;
    return {{"pending_pod_s", 3600 * summary.pending},
            {"pending_longest_s", longest_},
            {"node_imbalance", imbalance_ / seconds_},
            {"sla_violation", violated_ / seconds_ / static_cast<double>(plan_.services.size())},
            {"replicas_mean", summary.replicas},
            {"scalings", static_cast<double>(summary.scalings) / hours}};
  }

 private:
  struct Counted {
    double answered = 0, late = 0, refused = 0;
  };

  double imbalance() const {
    std::vector<autoscaling::NodeLoad> nodes(plan_.nodes.size());
    for (const auto& service : world_.services())
      for (const Replica& replica : service->replicas.all()) {
        if (replica.node < 0) continue;
        const auto at = static_cast<std::size_t>(replica.node);
        const double used =
            replica.state == Replica::State::ready ? service->load * service->plan.cpu_limit : 0;
        nodes[at].cpu += used / plan_.nodes[at].cpu;
        nodes[at].memory += static_cast<double>(service->plan.memory.count) /
                            static_cast<double>(plan_.nodes[at].memory.count);
      }
    return autoscaling::spread_of(nodes);
  }

  // How long in a row some pod or other of a service waits.
  void note_pending(double seconds) {
    waits_.resize(plan_.services.size());
    for (std::size_t i = 0; i < waits_.size(); ++i) {
      const bool waits = world_.services()[i]->replicas.count(Replica::State::pending) > 0;
      waits_[i] = waits ? waits_[i] + seconds : 0;
      longest_ = std::max(longest_, waits_[i]);
    }
  }

  const ServiceWorld& world_;
  const ServiceWorldPlan& plan_;
  Time then_{};
  std::vector<Counted> last_;
  std::vector<double> waits_;
  double seconds_ = 0, violated_ = 0, imbalance_ = 0, longest_ = 0;
};

}  // namespace

ServiceWorldPlan make_together_world(const TogetherWorld& world, const std::string& policy,
                                     std::uint64_t seed) {
  Random random = Random(seed).fork("together");
  ServiceWorldPlan plan;
  plan.length = world.length;
  plan.measured_from = world.length / 12;
  for (int i = 0; i < world.nodes; ++i)
    plan.nodes.push_back({"node-" + std::to_string(i), kNodeCores, kNodeMemory});
  simulator::RequestRates none;
  none.step = world.length;
  none.per_s = {0};
  plan.rates = std::make_shared<const simulator::RequestRates>(std::move(none));
  const double cores = world.crowding * kNodeCores * world.nodes / world.services;  // of each at its peak
  constexpr double kSizes[] = {0.25, 0.5, 1};
  for (int i = 0; i < world.services; ++i) {
    ServicePlan service;
    service.name = "service-" + std::to_string(i);
    service.cpu_request = service.cpu_limit = kSizes[random.below(3)];
    service.memory = {static_cast<std::int64_t>(256LL << 20) << random.below(4)};
    service.cpu_per_request = service.cpu_limit / kPerPod;
    service.times.kind = simulator::ServiceTimes::Kind::fixed;
    service.start_up = 20s;
    const double share = random.between(0.5, 1.5);
    const double rate = cores * share * kUtilisation / service.cpu_per_request;
    service.rates =
        requests_of(rate, world.length, random.fork("service").fork(static_cast<std::uint64_t>(i)));
    service.replicas = 2;  // it grows into its day before anything is counted
    ScalerSpec& scaler = service.scaler;
    scaler.name_space = "together";
    scaler.name = scaler.target.name = service.name;
    scaler.target.kind = "Deployment";
    scaler.mode = ScalerSpec::Mode::automatic;
    scaler.policy = policy;
    scaler.min_replicas = 2;
    scaler.max_replicas = 200;
    scaler.metrics = {MetricTarget{.target = kUtilisation}};
    plan.services.push_back(std::move(service));
  }
  return plan;
}

std::vector<TogetherVariant> together_variants() {
  return {{"apart", false, false}, {"room", true, false}, {"leavers", false, true}, {"both", true, true}};
}

RunResult run_together(const ServiceWorldPlan& plan, const TogetherVariant& variant, std::uint64_t seed) {
  const Random random(seed);
  ServiceWorld world(plan, random);
  TogetherMeasures measures(world, plan);
  std::unique_ptr<MirroredRoom> room;
  autoscaling::Autoscaler autoscaler;
  if (variant.room || variant.leavers) {
    room = std::make_unique<MirroredRoom>(world, plan,
                                          autoscaling::ClusterRoom::Options{variant.room, variant.leavers});
    autoscaler.ask_about_nodes(room.get());
  }
  Shielded shielded(world, room.get(), [&] { measures.look(); });
  control::ScalingLoop loop(
      shielded, autoscaler,
      [](const ScalerSpec& spec) {
        return autoscaling::make_scaling_policy(spec.policy, spec.arguments, nullptr);
      },
      random);
  while (loop.turn()) {
  }
  RunResult result;
  result.metrics = measures.metrics();
  return result;
}

Result<Evaluation> evaluate_together(const TogetherOptions& options) {
  Evaluation evaluation;
  evaluation.scenario = "together";
  evaluation.source = "made: " + std::to_string(options.world.services) + " services on " +
                      std::to_string(options.world.nodes) + " nodes";
  evaluation.seeds = options.seeds;
  const std::vector<TogetherVariant> variants = together_variants();
  for (const std::string& policy : options.policies) {
    if (const auto made = autoscaling::make_scaling_policy(policy, {}, nullptr); !made) return made.error();
    for (const TogetherVariant& variant : variants) {
      evaluation.policies.push_back({policy + ", " + variant.name, false, {}});
      evaluation.policies.back().runs.resize(options.seeds.size());
    }
  }
  const std::size_t rows = evaluation.policies.size();
  in_parallel(rows * options.seeds.size(), options.threads, [&](std::size_t job) {
    const std::size_t seed = job / rows, row = job % rows;
    const ServiceWorldPlan plan =
        make_together_world(options.world, options.policies[row / variants.size()], options.seeds[seed]);
    evaluation.policies[row].runs[seed] =
        run_together(plan, variants[row % variants.size()], options.seeds[seed]);
  });
  return evaluation;
}

}  // namespace evenkeel::training
