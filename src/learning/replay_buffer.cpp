#include "learning/replay_buffer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace evenkeel::learning {
namespace {

Matrix gathered(const ReplayBuffer& buffer, const ReplayBuffer::Batch& batch,
                std::vector<Real> Transition::* field) {
  const auto& first = buffer[batch.indices.front()].*field;
  Matrix result(static_cast<Eigen::Index>(first.size()), static_cast<Eigen::Index>(batch.indices.size()));
  for (std::size_t i = 0; i < batch.indices.size(); ++i)
    result.col(static_cast<Eigen::Index>(i)) = as_vector(buffer[batch.indices[i]].*field);
  return result;
}

}  // namespace

bool Experience::is_finite() const {
  return std::isfinite(reward) && all_finite(state) && all_finite(next_state);
}

std::vector<Transition> NStepReturns::add(Experience experience) {
  const bool last = experience.end != EpisodeEnd::none;
  waiting_.push_back(std::move(experience));
  std::vector<Transition> complete;
  while (waiting_.size() >= steps_ || (last && !waiting_.empty())) {
    complete.push_back(folded(std::min(steps_, waiting_.size())));
    waiting_.pop_front();
  }
  return complete;
}

Transition NStepReturns::folded(std::size_t count) const {
  Real reward = 0, discount = 1;
  for (std::size_t i = 0; i < count; ++i) {
    reward += discount * waiting_[i].reward;
    discount *= discount_;
  }
  const Experience &first = waiting_.front(), &last = waiting_[count - 1];
  if (last.end == EpisodeEnd::terminal) discount = 0;
  return {first.state, first.allowed, first.action, reward, discount, last.next_state, last.next_allowed};
}

ReplayBuffer::ReplayBuffer(ReplayOptions options)
    : options_(options), priorities_(options.prioritised ? options.capacity : 1) {
  EVENKEEL_CHECK(options.capacity > 0);
}

void ReplayBuffer::add(Transition transition) {
  std::size_t slot = transitions_.size();
  if (slot < options_.capacity) {
    transitions_.push_back(std::move(transition));
  } else {
    slot = std::exchange(oldest_, (oldest_ + 1) % options_.capacity);
    transitions_[slot] = std::move(transition);
  }
  if (options_.prioritised) priorities_.set(slot, highest_priority_);
}

std::vector<Transition> ReplayBuffer::oldest_first() const {
  const auto turn = size() < options_.capacity ? std::size_t{0} : oldest_;
  std::vector<Transition> all;
  all.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) all.push_back(transitions_[(turn + i) % size()]);
  return all;
}

ReplayBuffer::Batch ReplayBuffer::sample(std::size_t count, Real correction, Random& random) const {
  EVENKEEL_CHECK(!transitions_.empty() && count > 0);
  Batch batch{std::vector<std::size_t>(count), std::vector<Real>(count, 1)};
  if (!options_.prioritised) {
    for (std::size_t& index : batch.indices) index = random.below(size());
    return batch;
  }
  Real largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    // One draw from each of `count` equal stretches (Schaul, appendix B.2.1): the same chances, less scatter.
    const Real mark =
        priorities_.total() * (static_cast<Real>(i) + random.uniform()) / static_cast<Real>(count);
    batch.indices[i] = priorities_.find(mark);
    const Real chance = priorities_.weight(batch.indices[i]) / priorities_.total();
    batch.weights[i] = std::pow(static_cast<Real>(size()) * chance, -correction);
    largest = std::max(largest, batch.weights[i]);
  }
  for (Real& weight : batch.weights) weight /= largest;
  return batch;
}

void ReplayBuffer::set_error(std::size_t index, Real error) {
  if (!options_.prioritised || !std::isfinite(error)) return;
  const Real priority = std::pow(std::abs(error) + options_.priority_floor, options_.priority_exponent);
  highest_priority_ = std::max(highest_priority_, priority);
  priorities_.set(index, priority);
}

namespace {

// A transition as a run of numbers, each list after its length.
void write(const Transition& t, std::vector<Real>& out) {
  out.insert(out.end(), {static_cast<Real>(t.action), t.reward, t.discount});
  for (const std::vector<Real>* list : {&t.state, &t.next_state}) {
    out.push_back(static_cast<Real>(list->size()));
    out.insert(out.end(), list->begin(), list->end());
  }
  for (const Mask* mask : {&t.allowed, &t.next_allowed}) {
    out.push_back(static_cast<Real>(mask->size()));
    out.insert(out.end(), mask->begin(), mask->end());
  }
}

// False: the run ends too early, or a length is none.
bool read(std::span<const Real>& in, Transition& t) {
  const auto take = [&](std::size_t count) {
    const std::span<const Real> taken = in.first(count);
    in = in.subspan(count);
    return taken;
  };
  const auto take_list = [&](auto& list) {
    if (in.empty()) return false;
    const Real length = take(1)[0];
    if (!(length >= 0 && length <= static_cast<Real>(in.size()))) return false;
    const auto values = take(static_cast<std::size_t>(length));
    for (const Real value : values)
      list.push_back(static_cast<typename std::decay_t<decltype(list)>::value_type>(value));
    return true;
  };
  if (in.size() < 3) return false;
  const auto head = take(3);
  t.action = static_cast<int>(head[0]);
  t.reward = head[1];
  t.discount = head[2];
  return take_list(t.state) && take_list(t.next_state) && take_list(t.allowed) && take_list(t.next_allowed);
}

}  // namespace

SavedState ReplayBuffer::save() const {
  SavedState state;
  std::vector<Real> numbers, weights;
  for (const Transition& transition : transitions_) write(transition, numbers);
  if (options_.prioritised)
    for (std::size_t i = 0; i < size(); ++i) weights.push_back(priorities_.weight(i));
  state.put("transitions", numbers);
  state.put("priorities", weights);
  state.put("oldest", oldest_);
  state.put("highest priority", std::span<const Real>(&highest_priority_, 1));
  return state;
}

Status ReplayBuffer::restore(SavedState state) {
  const std::vector<Real> numbers = state.reals("transitions"), weights = state.reals("priorities");
  oldest_ = state.count("oldest");
  state.reals("highest priority", {&highest_priority_, 1});
  transitions_.clear();
  for (std::span<const Real> rest = numbers; state.status() && !rest.empty();)
    if (!read(rest, transitions_.emplace_back())) state.fail("transitions", "whole transitions");
  if (transitions_.size() > options_.capacity || oldest_ >= options_.capacity ||
      (options_.prioritised && weights.size() != transitions_.size()))
    state.fail("transitions",
               "at most " + std::to_string(options_.capacity) + " of them, each with its priority");
  if (!state.status()) {
    transitions_.clear();
    return state.status();
  }
  for (std::size_t i = 0; i < weights.size(); ++i) priorities_.set(i, weights[i]);
  return {};
}

Matrix states_of(const ReplayBuffer& buffer, const ReplayBuffer::Batch& batch) {
  return gathered(buffer, batch, &Transition::state);
}

Matrix next_states_of(const ReplayBuffer& buffer, const ReplayBuffer::Batch& batch) {
  return gathered(buffer, batch, &Transition::next_state);
}

}  // namespace evenkeel::learning
