#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "reporting/text_table.h"

namespace evenkeel::reporting {

// Two choices for one pod, and what was expected right after each: the imbalance (DRS eq. 13), and how full
// the chosen node's fullest dimension is.
struct ShadowComparison {
  Time time{};
  std::string profile, name_space, workload, pod;
  std::string ours, other;  // nodes
  double our_imbalance = 0, other_imbalance = 0;
  double our_fullest = 0, other_fullest = 0;
};

// Sums over many of them.
struct ShadowTotals {
  std::uint64_t decisions = 0, agreed = 0;
  double our_imbalance = 0, other_imbalance = 0, our_fullest = 0, other_fullest = 0;
  void add(const ShadowComparison& comparison);
};

// What would have changed, in bounded memory: sums, those of the namespaces and workloads seen first (the
// rest share one row), and the decisions whose difference is largest.
class ShadowReport {
 public:
  struct Options {
    std::size_t most_namespaces = 200, most_workloads = 500, most_differences = 20;
  };
  struct Section {
    ShadowTotals all;
    std::map<std::string, ShadowTotals, std::less<>> namespaces, workloads;
    std::vector<ShadowComparison> worst;  // by what ours would have cost, the most first
    std::vector<ShadowComparison> best;   // by what it would have saved
  };

  explicit ShadowReport(Options options) : options_(options) {}

  void learned_against_rule(const ShadowComparison& comparison) { add(learned_, comparison); }
  void ours_against_actual(const ShadowComparison& comparison) { add(actual_, comparison); }
  void undecided() { ++undecided_; }  // bound by others before we had a choice

  const Section& learned() const { return learned_; }
  const Section& actual() const { return actual_; }

  std::string json() const;

 private:
  void add(Section& section, const ShadowComparison& comparison) const;

  Options options_;
  Section learned_, actual_;
  std::uint64_t undecided_ = 0;
};

// The same for people, from its JSON: of this process or of one that was asked. Text that is no such report
// says so.
std::string shadow_text(std::string_view json, TextStyle style);
// One line per section: what promote shows before anything is changed.
std::vector<std::string> shadow_summary(std::string_view json);

}  // namespace evenkeel::reporting
