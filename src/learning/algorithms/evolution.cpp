#include "learning/algorithms/evolution.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace evenkeel::learning {

Evolution::Evolution(std::vector<Real> begin, EvolutionOptions options, Random random)
    : options_(options),
      random_(random),
      mean_(std::move(begin)),
      optimizer_(mean_.size(), options.optimizer) {
  EVENKEEL_CHECK(options_.pairs > 0 && options_.deviation > 0);
}

std::vector<Real> Evolution::noise(std::size_t pair) const {
  Random own = random_.fork(generation_).fork(pair);
  std::vector<Real> noise(mean_.size());
  for (Real& value : noise) value = own.normal();
  return noise;
}

std::vector<Real> Evolution::trial(std::size_t index) const {
  std::vector<Real> parameters = noise(index / 2);
  const Real reach = index % 2 == 0 ? options_.deviation : -options_.deviation;
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] = mean_[i] + reach * parameters[i];
  return parameters;
}

void Evolution::advance(std::span<const Real> results) {
  EVENKEEL_CHECK(results.size() == trials());
  // Ranks from -0.5, the best, to 0.5: one lucky or unlucky world cannot pull further than its place.
  std::vector<std::size_t> order(results.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) { return std::isnan(results[i]) ? INFINITY : results[i]; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<Real> rank(results.size());
  for (std::size_t place = 0; place < order.size(); ++place)
    rank[order[place]] = static_cast<Real>(place) / static_cast<Real>(order.size() - 1) - 0.5;

  std::vector<Real> gradient(mean_.size());
  const Real scale = 1 / (static_cast<Real>(trials()) * options_.deviation);
  for (std::size_t pair = 0; pair < options_.pairs; ++pair) {
    const Real pull = scale * (rank[2 * pair] - rank[2 * pair + 1]);
    const std::vector<Real> direction = noise(pair);
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += pull * direction[i];
  }
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += options_.decay * mean_[i];
  EVENKEEL_CHECK(optimizer_.step(mean_, gradient));
  ++generation_;
}

SavedState Evolution::save() const {
  SavedState state;
  state.put("mean", mean_);
  optimizer_.save(state, "optimizer");
  state.put("generation", generation_);
  return state;
}

Status Evolution::restore(SavedState state) {
  state.reals("mean", mean_);
  optimizer_.restore(state, "optimizer");
  generation_ = state.count("generation");
  return state.status();
}

}  // namespace evenkeel::learning
