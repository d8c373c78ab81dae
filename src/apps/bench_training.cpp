// How long the papers' trainings take, and what a learner needs with its world.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

#include "apps/bench.h"
#include "apps/recipes.h"
#include "apps/scenarios.h"
#include "reporting/number_format.h"
#include "reporting/text_table.h"
#include "training/drs_trainer.h"
#include "training/recipes.h"

namespace evenkeel::apps {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

// Of the whole process, in MB, since the peak was last forgotten.
double peak_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  return 0;
}

void forget_peak() {
  malloc_trim(0);  // what earlier benchmarks left
  std::ofstream("/proc/self/clear_refs") << "5";
}

struct DrsTiming {
  double median_s = 0, peak_mb = 0;
  std::size_t rewards = 0;
};

// A pod an epoch, 300 of them, the network trained after each (seed paper 000, section 5.3).
Result<DrsTiming> time_drs(std::size_t runs) {
  const Result<training::Experiment> experiment = load_scenario("drs-even", {});
  if (!experiment) return experiment.error();
  DrsTiming timing;
  std::vector<double> took;
  forget_peak();
  for (std::size_t seed = 1; seed <= runs; ++seed) {
    const auto from = Clock::now();
    timing.rewards = training::run_drs_epochs(*experiment, seed);
    took.push_back(seconds_since(from));
  }
  timing.peak_mb = peak_mb();
  std::sort(took.begin(), took.end());
  timing.median_s = took[took.size() / 2];
  return timing;
}

struct PpoLrtTiming {
  double seconds = 0;
  std::size_t episodes = 0;
};

Result<PpoLrtTiming> time_ppo_lrt(std::size_t most) {
  const Result<LoadedRecipe> recipe = load_recipe("ppo-lrt-nginx", {});
  if (!recipe) return recipe.error();
  const auto from = Clock::now();
  training::TrainingOrder order{{}, 1, 1, [](const std::string& name) { return load_scenario(name, {}); }};
  Result<training::Training> training = training::start_training(recipe->file, order);
  if (!training) return training.error();
  training::Trainer& trainer = *training->trainer;
  while (trainer.done() < std::min(most, trainer.steps())) trainer.advance();
  return PpoLrtTiming{seconds_since(from), trainer.done()};
}

std::string seconds_text(double seconds) { return reporting::format_number(seconds); }

}  // namespace

Result<BenchJson> bench_training(const BenchSettings& settings, std::ostream& out) {
  const Result<DrsTiming> drs = time_drs(settings.quick ? 1 : 5);
  if (!drs) return drs.error();
  constexpr std::size_t kEpisodes = 300;
  const Result<PpoLrtTiming> ppo = time_ppo_lrt(settings.quick ? kEpisodes / 10 : kEpisodes);
  if (!ppo) return ppo.error();
  // A sample stands for the whole: episodes are alike.
  const double ppo_s = ppo->seconds * static_cast<double>(kEpisodes) / static_cast<double>(ppo->episodes);

  reporting::TextTable table{{{"what", reporting::Align::left}, {"to reach"}, {"ours"}}, {}, {}};
  table.rows.push_back({{"DRS, 300 epochs, s"}, {"1"}, {seconds_text(drs->median_s)}});
  table.rows.push_back({{"PPO-LRT, 300 episodes, s"}, {"30"}, {seconds_text(ppo_s)}});
  table.rows.push_back({{"DRS's world with its learner, peak MB"}, {"32"}, {seconds_text(drs->peak_mb)}});
  table.notes.push_back("One core. DRS from nothing in drs-even, the median of " +
                        std::to_string(settings.quick ? 1 : 5) + ", " + std::to_string(drs->rewards) +
                        " rewards learnt from; PPO-LRT by recipe ppo-lrt-nginx, " +
                        std::to_string(ppo->episodes) + " episodes run. Memory is the whole process.");
  out << reporting::render_text_table(table, reporting::TextStyle::plain);
  return BenchJson{
      {"drs_300_epochs_s", drs->median_s}, {"ppo_lrt_300_episodes_s", ppo_s}, {"drs_peak_mb", drs->peak_mb}};
}

}  // namespace evenkeel::apps
