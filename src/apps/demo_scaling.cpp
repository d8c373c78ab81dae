#include "apps/demo_scaling.h"

#include <algorithm>
#include <cmath>

#include "autoscaling/policies/registry.h"

namespace evenkeel::apps {
namespace {

constexpr std::size_t kMostPoints = 600, kMostDecisions = 5;

// A show of any length in bounded memory: when full, every second point goes.
void thin(std::vector<double>& values) {
  for (std::size_t i = 0; 2 * i + 1 < values.size(); ++i) values[i] = values[2 * i + 1];
  values.resize(values.size() / 2);
}

const learning::Model* model_of(const training::ScalingModels& models, const std::string& policy) {
  const auto found = models.find(policy);
  return found == models.end() ? nullptr : found->second.get();
}

}  // namespace

Result<std::unique_ptr<DemoScaling>> DemoScaling::start(const training::ScalingExperiment& experiment,
                                                        const std::vector<std::string>& policies,
                                                        std::uint64_t seed,
                                                        const training::ScalingModels& models) {
  std::unique_ptr<DemoScaling> demo(new DemoScaling);
  const simulator::ServiceWorldPlan plan = simulator::expand(experiment.scenario, seed);
  for (const std::string& policy : policies) {
    const auto spec = training::parse_scaling_policy(policy);
    if (!spec) return spec.error();
    auto lane = std::make_unique<Lane>();
    lane->policy = policy;
    lane->plan = plan;
    if (const Status applied = training::apply(*spec, lane->plan); !applied) return applied.error();
    const ScalerSpec& scaler = lane->plan.services.front().scaler;
    const auto made =
        autoscaling::make_scaling_policy(scaler.policy, scaler.arguments, model_of(models, scaler.policy));
    if (!made) return made.error();
    lane->view.policy = policy;
    lane->world = std::make_unique<simulator::ServiceWorld>(lane->plan, Random(seed), true);
    lane->loop = std::make_unique<control::ScalingLoop>(
        *lane->world, lane->autoscaler,
        [models](const ScalerSpec& asked) {
          return autoscaling::make_scaling_policy(asked.policy, asked.arguments,
                                                  model_of(models, asked.policy));
        },
        Random(seed));
    lane->loop->watch([here = demo.get(), own = lane.get()](const autoscaling::ScalingRequest&,
                                                            std::span<const ScalingAction> actions) {
      for (const ScalingAction& action : actions)
        if (const auto* told = std::get_if<TellDecision>(&action)) here->note(*own, told->decision);
    });
    demo->lanes_.push_back(std::move(lane));
  }
  return demo;
}

// Those that change something; of the others the last one alone.
void DemoScaling::note(Lane& lane, const ScalingDecision& decision) {
  reporting::ScalingDecisionView view{.at_s = to_seconds(decision.at.time_since_epoch()),
                                      .from = decision.from,
                                      .to = decision.to,
                                      .decided_by = decision.decided_by};
  for (const ScalingReason& reason : decision.reasons)
    view.reasons.push_back(reason.rule + ": " + reason.text);
  auto& shown = lane.view.last_decisions;
  if (!shown.empty() && shown.front().from == shown.front().to) shown.erase(shown.begin());
  shown.insert(shown.begin(), std::move(view));
  if (shown.size() > kMostDecisions) shown.pop_back();
}

void DemoScaling::advance(double share) {
  for (const auto& lane : lanes_) {
    const double length_s = to_seconds(lane->plan.length);
    if (!lane->ended) lane->ended = !lane->loop->run_until(Time{} + from_seconds(length_s * share));
    reporting::ScalingLaneView& view = lane->view;
    const simulator::ServiceMeasures::Summary summary = lane->world->measures().summarise();
    const double now_s = to_seconds(lane->world->now().time_since_epoch());
    const simulator::RunningService& service = *lane->world->services().front();
    view.replicas = service.replicas.wanted();
    view.ready = service.replicas.count(simulator::Replica::State::ready);
    view.requests_per_s = lane->plan.rates->at(from_seconds(std::min(now_s, length_s)));
    view.replicas_mean = summary.replicas;
    view.violation = summary.violation;
    view.scalings = static_cast<int>(summary.scalings);
    if (!view.at_s.empty() && view.at_s.back() == now_s) continue;
    view.at_s.push_back(now_s);
    view.replicas_past.push_back(view.replicas);
    view.requests_past.push_back(view.requests_per_s);
    if (view.at_s.size() < kMostPoints) continue;
    for (std::vector<double>* values : {&view.at_s, &view.replicas_past, &view.requests_past}) thin(*values);
  }
}

reporting::ScalingView DemoScaling::view() const {
  reporting::ScalingView view;
  for (const auto& lane : lanes_) {
    view.service = lane->plan.services.front().name;
    view.bound_ms = 1000 * to_seconds(lane->plan.level.bound);
    view.percentile = lane->plan.level.percentile;
    view.lanes.push_back(lane->view);
  }
  return view;
}

}  // namespace evenkeel::apps
