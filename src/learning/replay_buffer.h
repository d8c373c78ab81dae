#pragma once
#include <cstddef>
#include <deque>
#include <vector>

#include "base/random.h"
#include "learning/actions.h"
#include "learning/real.h"
#include "learning/saved_state.h"
#include "learning/sum_tree.h"

namespace evenkeel::learning {

enum class EpisodeEnd {
  none,
  terminal,  // nothing comes after, so nothing is worth anything there
  cut,       // the episode stops here, the world would have gone on
};

// One step as it happened.
struct Experience {
  std::vector<Real> state;
  Mask allowed;
  int action = 0;
  Real reward = 0;
  std::vector<Real> next_state;
  Mask next_allowed;
  EpisodeEnd end = EpisodeEnd::none;

  bool is_finite() const;
};

// What is learnt from: value(state, action) is to be reward + discount * value(next_state).
struct Transition {
  std::vector<Real> state;
  Mask allowed;
  int action = 0;
  Real reward = 0;    // of n steps, discounted
  Real discount = 0;  // gamma^n; 0 where the episode ended
  std::vector<Real> next_state;
  Mask next_allowed;
};

// Folds n steps into one (Sutton and Barto 2018, section 7.1). Episodes must be given in order, one at a
// time.
class NStepReturns {
 public:
  NStepReturns(int steps, Real discount) : steps_(static_cast<std::size_t>(steps)), discount_(discount) {}

  // The transitions this experience completes: none at first, all that are left at an episode's end.
  std::vector<Transition> add(Experience experience);
  bool empty() const { return waiting_.empty(); }

 private:
  Transition folded(std::size_t count) const;  // of the first `count` that wait

  std::size_t steps_;
  Real discount_;
  std::deque<Experience> waiting_;
};

struct ReplayOptions {
  std::size_t capacity = 300;
  bool prioritised = false;
  Real priority_exponent = 0.6;  // Schaul et al. 2016, Table 3, proportional variant: alpha
  Real priority_floor = 1e-6;    // so that nothing is forgotten for good: epsilon
};

// The newest transitions, drawn uniformly or in proportion to (|error| + floor)^exponent, with replacement.
class ReplayBuffer {
 public:
  struct Batch {
    std::vector<std::size_t> indices;
    std::vector<Real> weights;  // corrects for uneven drawing, at most 1; all 1 when drawing evenly
  };

  explicit ReplayBuffer(ReplayOptions options);

  void add(Transition transition);  // with the highest priority so far, so that it is seen at least once
  std::size_t size() const { return transitions_.size(); }
  std::vector<Transition> oldest_first() const;
  const Transition& operator[](std::size_t index) const { return transitions_[index]; }

  // `correction` is Schaul's beta: 0 leaves the bias of uneven drawing, 1 removes it.
  Batch sample(std::size_t count, Real correction, Random& random) const;
  void set_error(std::size_t index, Real error);

  SavedState save() const;
  Status restore(SavedState state);

 private:
  ReplayOptions options_;
  std::vector<Transition> transitions_;
  std::size_t oldest_ = 0;
  SumTree priorities_;
  Real highest_priority_ = 1;
};

// A batch as matrices, a column per transition.
Matrix states_of(const ReplayBuffer& buffer, const ReplayBuffer::Batch& batch);
Matrix next_states_of(const ReplayBuffer& buffer, const ReplayBuffer::Batch& batch);

}  // namespace evenkeel::learning
