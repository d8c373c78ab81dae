#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/papers.h"
#include "scheduling/policies/drs.h"
#include "training/evaluation.h"

namespace evenkeel::apps {

inline constexpr std::string_view kDrsWorkloads[] = {"drs-even", "drs-random", "drs-cpu"};
inline constexpr std::string_view kDrsWorkloadNames[] = {"Even", "Random", "CPU"};

// One policy through DRS's workloads as section 5.3 has it: 300 pods, the reward five seconds after each,
// utilisation from the 250th on.
struct DrsRuns {
  std::vector<std::vector<double>> rewards;  // by seed and epoch
  std::vector<training::RunResult> late;     // by seed: measured from the 250th epoch
  std::vector<training::RunResult> whole;    // by seed: the scenario's own window

  training::Spread mean_reward(std::size_t from = 0) const;  // of the epochs from this one on
  training::Spread late_metric(std::string_view metric) const;
  training::Spread whole_metric(std::string_view metric) const;
};

using MakePolicy = std::function<std::unique_ptr<scheduling::PlacementPolicy>()>;

struct DrsRunOrder {
  std::string_view workload;
  std::string policy;  // as in `evaluate`, with switches
  MakePolicy make;     // in its place, where given
  bool late = false;   // also measured from the 250th epoch
};

// Runs them all; results in the order of the orders.
Result<std::vector<DrsRuns>> run_drs(const std::vector<DrsRunOrder>& orders, const PaperSettings& settings,
                                     const scheduling::PolicyModels& models);

// A model trained by recipes/drs.yaml for this policy, in the three workloads' worlds, `--set` overrides on
// top. Figures train their own, so that they depend on no file but those of this program.
Result<std::shared_ptr<const learning::Model>> pretrain_drs(const std::string& policy,
                                                            const std::vector<std::string>& overrides,
                                                            const PaperSettings& settings);

// Several of them side by side.
Result<scheduling::PolicyModels> pretrain_all(const std::vector<std::string>& policies,
                                              const PaperSettings& settings);

std::uint64_t seeds_of(const PaperSettings& settings);

// What a learner knew when it began.
inline constexpr std::string_view kFromNothing = "from nothing", kPretrained = "pre-trained, frozen",
                                  kLearningOn = "pre-trained, learning on";
// The built-in model of `drs-means`, and no other: "from nothing" must mean it.
scheduling::PolicyModels means_model_of(const PaperSettings& settings);

nlohmann::ordered_json json_of(const training::Spread& spread);
std::string text_of(const training::Spread& spread, double scale = 1);
// The first `names` columns to the left, figures to the right.
reporting::TextTable table_of(std::vector<std::string> headers, std::size_t names);
void add_row(reporting::TextTable& table, std::vector<std::string> cells);

// papers_drs_tables.cpp
Result<PaperResult> drs_table_4(const PaperSettings& settings);
Result<PaperResult> drs_table_5(const PaperSettings& settings);

}  // namespace evenkeel::apps
