#include "optimum/densest.h"

#include <algorithm>

namespace evenkeel::optimum {
namespace {

constexpr double kMostSets = 2e6;
constexpr double kNone = -1;

class Search {
 public:
  Search(const PodClasses& classes, const DensestQuestion& question)
      : classes_(classes),
        question_(question),
        best_(question.pods + 1, kNone),
        count_(question.most.size()) {}

  std::vector<double> run() {
    visit(0, 0, 0);
    while (!best_.empty() && best_.back() == kNone) best_.pop_back();
    return best_;
  }

 private:
  bool respects_limits() const {
    return std::ranges::all_of(question_.limits, [&](const DensestQuestion::Limit& limit) {
      std::uint32_t together = 0;
      for (const std::uint32_t c : limit.classes) together += count_[c];
      return together <= limit.most;
    });
  }
  void visit(std::size_t at, std::uint32_t pods, double weight) {
    if (at == count_.size()) {
      best_[pods] = std::max(best_[pods], weight);
      return;
    }
    double to_others = 0;  // of one more pod of this class
    for (std::size_t before = 0; before < at; ++before)
      if (count_[before] > 0) to_others += count_[before] * classes_.weight(at, before);
    const double among = classes_.weight(at, at);
    double more = 0;
    for (std::uint32_t count = 0; count <= question_.most[at] && pods + count <= question_.pods; ++count) {
      count_[at] = count;
      if (count > 0) more += to_others + (count - 1) * among;
      if (count > 0 && !respects_limits()) break;
      visit(at + 1, pods + count, weight + more);
    }
    count_[at] = 0;
  }

  const PodClasses& classes_;
  const DensestQuestion& question_;
  std::vector<double> best_;
  std::vector<std::uint32_t> count_;
};

}  // namespace

std::vector<double> densest(const PodClasses& classes, const DensestQuestion& question) {
  double sets = 1;
  for (const std::uint32_t most : question.most) sets *= most + 1.0;
  if (sets > kMostSets) return {};
  return Search(classes, question).run();
}

}  // namespace evenkeel::optimum
