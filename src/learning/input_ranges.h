#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "learning/real.h"

namespace evenkeel::learning {

// What one input of a network was like where it was trained.
struct InputRange {
  std::string input;
  Real lowest = 0, low = 0, high = 0, highest = 0;  // between low and high: all but 0.5 % at either end

  bool operator==(const InputRange&) const = default;
};

// Watches a network's inputs and says in which ranges they lay. Of each input it keeps at most kKept values,
// chosen by lot, so that a long look costs no more memory than a short one; lowest and highest are of all.
class InputSurvey {
 public:
  static constexpr std::size_t kKept = 20'000;

  explicit InputSurvey(std::size_t inputs) : inputs_(inputs) {}

  std::size_t size() const { return inputs_.size(); }
  std::uint64_t seen(std::size_t input) const { return inputs_[input].seen; }
  void add(std::size_t input, Real value);  // what is no number is left out
  void merge(const InputSurvey& other);     // as if it had seen what the other saw
  // One for each name, in order. An input that was never seen has no range: nothing but zeroes.
  std::vector<InputRange> ranges(std::span<const std::string> names) const;

 private:
  struct Input {
    std::vector<Real> kept{};
    Real lowest = 0, highest = 0;
    std::uint64_t seen = 0;
  };
  std::vector<Input> inputs_;
  Random random_{1};
};

}  // namespace evenkeel::learning
