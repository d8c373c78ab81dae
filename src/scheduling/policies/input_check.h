#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "learning/input_ranges.h"
#include "scheduling/policies/policy.h"

namespace evenkeel::scheduling {

// What a network is shown, held against what it was shown in training. Where its model does not say what that
// was, an input at the limit of its encoding was cut off there, and counts as beyond.
class InputCheck {
 public:
  // Beyond: by more than a tenth of the range, or 0.02 where the range is a point; inputs are of the order of
  // one.
  static constexpr double kSlack = 0.1, kLeastSlack = 0.02;

  void trained_on(std::span<const learning::InputRange> ranges);
  // From now on until told otherwise everything that is looked at is added there as well.
  void record_into(learning::InputSurvey* survey) { survey_ = survey; }

  void begin() { found_ = {}; }  // another question
  // Inputs from `first` on, in the model's order. `limit`: of the encoding, for want of anything better; 0:
  // it has none, and without ranges nothing is said.
  void look(std::size_t first, std::span<const float> values, double limit);
  void look(std::size_t first, std::span<const double> values, double limit);

  SelfCheck& found() { return found_; }
  const SelfCheck& found() const { return found_; }

 private:
  template <class Value>
  void look_at(std::size_t first, std::span<const Value> values, double limit);

  struct Bounds {
    double low = 0, high = 0;
  };
  std::vector<Bounds> bounds_;  // none: the model does not say
  learning::InputSurvey* survey_ = nullptr;
  SelfCheck found_;
};

// A policy whose inputs can be watched.
class ShowsInputs {
 public:
  virtual ~ShowsInputs() = default;
  virtual InputCheck& inputs() = 0;
};

}  // namespace evenkeel::scheduling
