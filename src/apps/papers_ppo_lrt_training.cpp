// PPO-LRT's figures 5 and 6 (seed paper 001): its training, made again.
#include <cmath>

#include "apps/papers_ppo_lrt.h"
#include "apps/scenarios.h"
#include "reporting/number_format.h"
#include "training/in_parallel.h"
#include "training/ppo_lrt_course.h"
#include "training/ppo_lrt_trainer.h"

namespace evenkeel::apps {
namespace {

using reporting::Align;
using reporting::CaptionedTable;
using reporting::format_mean_sd;
using training::PpoLrtCourse;

constexpr std::uint64_t kTrainings = 5;
constexpr std::size_t kSmooth = 15;  // episodes of the smooth curve's running mean

using Curve = std::vector<double>;  // reward by episode

struct Trainings {
  std::vector<Curve> curves;  // one per seed
  double mean(std::size_t from, std::size_t to, std::size_t seed) const {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += curves[seed][i];
    return sum / static_cast<double>(to - from);
  }
};

// The part of the training in episodes [from, to), over seeds.
std::string part(const Trainings& trainings, std::size_t from, std::size_t to, nlohmann::ordered_json& json,
                 const std::string& name) {
  double mean = 0, squares = 0;
  const auto n = static_cast<double>(trainings.curves.size());
  for (std::size_t s = 0; s < trainings.curves.size(); ++s) mean += trainings.mean(from, to, s) / n;
  for (std::size_t s = 0; s < trainings.curves.size(); ++s)
    squares += std::pow(trainings.mean(from, to, s) - mean, 2);
  const double sd = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
  json[name] = {{"mean", mean}, {"sd", sd}};
  return format_mean_sd(mean, sd);
}

std::vector<reporting::ChartPoint> mean_curve(const Trainings& trainings, std::size_t smooth) {
  std::vector<reporting::ChartPoint> points;
  const std::size_t episodes = trainings.curves.front().size();
  for (std::size_t i = 0; i < episodes; ++i) {
    const std::size_t from = i + 1 > smooth ? i + 1 - smooth : 0;
    double sum = 0;
    for (std::size_t s = 0; s < trainings.curves.size(); ++s) sum += trainings.mean(from, i + 1, s);
    points.push_back({static_cast<double>(i + 1), sum / static_cast<double>(trainings.curves.size())});
  }
  return points;
}

struct Course {
  std::size_t episodes = 300;
  std::uint64_t seeds = kTrainings;
};
Course course_of(const PaperSettings& settings) {
  Course course;
  if (settings.quick) course = {12, 2};
  if (settings.seeds > 0) course.seeds = settings.seeds;
  return course;
}

Trainings each_seed(const PaperSettings& settings, const Course& course, auto&& curve_of) {
  Trainings trainings;
  trainings.curves.resize(course.seeds);
  training::in_parallel(course.seeds, settings.threads,
                        [&](std::size_t s) { trainings.curves[s] = curve_of(settings.seed + s); });
  return trainings;
}

// The published recipe, the number of episodes and the clip set.
Result<Trainings> train(const PaperSettings& settings, const Course& course, double clip) {
  const Result<training::Experiment> world = load_scenario("ppo-lrt-uniform", {});
  if (!world) return world.error();
  Result<YamlFile> recipe = YamlFile::parse("{episodes: " + std::to_string(course.episodes) + "}", "figure");
  if (!recipe) return recipe.error();
  if (const Status set = recipe->set("ppo.clip=" + std::to_string(clip)); !set) return set.error();
  return each_seed(settings, course, [&](std::uint64_t seed) {
    YamlReader reader(*recipe);
    auto trainer = training::make_ppo_lrt_trainer(reader, {{*world}, seed, 1});
    Curve curve;
    while ((*trainer)->done() < (*trainer)->steps()) curve.push_back((*trainer)->advance().front().value);
    return curve;
  });
}

void add_row(CaptionedTable& table, const std::string& name, const Trainings& trainings,
             nlohmann::ordered_json& json) {
  const std::size_t n = trainings.curves.front().size();
  table.table.rows.push_back({{name},
                              {part(trainings, 0, n / 6, json[name], "first_sixth")},
                              {part(trainings, n / 6, n * 2 / 3, json[name], "to_two_thirds")},
                              {part(trainings, n * 2 / 3, n, json[name], "last_third")}});
}

CaptionedTable reward_table(const std::string& caption, const Course& course) {
  const auto episodes = [&](std::size_t sixths) { return std::to_string(course.episodes * sixths / 6); };
  return {caption + ", mean reward of an action, " + std::to_string(course.seeds) + " trainings",
          {{{"", Align::left}, {"episodes 1-" + episodes(1)}, {"to " + episodes(4)}, {"to " + episodes(6)}},
           {},
           {}}};
}

}  // namespace

Result<PaperResult> ppo_lrt_figure5(const PaperSettings& settings) {
  const Course course = course_of(settings);
  const Result<Trainings> learnt = train(settings, course, 0.2);
  if (!learnt) return learnt.error();
  const Result<training::Experiment> world = load_scenario("ppo-lrt-uniform", {});
  if (!world) return world.error();
  const auto others = [&](std::string_view policy) {
    return each_seed(settings, course, [&](std::uint64_t seed) {
      const PpoLrtCourse episodes({}, {*world}, seed);
      Curve curve;
      for (std::size_t i = 0; i < course.episodes; ++i)
        curve.push_back(PpoLrtCourse::point_of(episodes.judge_other(i, policy)).front().value);
      return curve;
    });
  };
  const Trainings kube = others("kube-default"), round_robin = others("round-robin");
  PaperResult result{"PPO-LRT, figure 5: average reward during the training (nginx, matched master)",
                     {reward_table("eq. 12", course)},
                     {},
                     {},
                     nlohmann::ordered_json::object()};
  add_row(result.tables.front(), "ppo-lrt", *learnt, result.figures);
  add_row(result.tables.front(), "kube-default", kube, result.figures);
  add_row(result.tables.front(), "round-robin", round_robin, result.figures);
  reporting::LineChart chart{"Reward of an action by episode", {"episode"}, {"reward"}, {}};
  chart.lines.push_back({"ppo-lrt, raw", 0, true, false, mean_curve(*learnt, 1)});
  chart.lines.push_back({"ppo-lrt", 0, false, false, mean_curve(*learnt, kSmooth)});
  chart.lines.push_back({"kube-default", 1, false, false, mean_curve(kube, kSmooth)});
  chart.lines.push_back({"round-robin", 2, false, false, mean_curve(round_robin, kSmooth)});
  result.charts.push_back(std::move(chart));
  result.notes = {
      "The paper: rises fast for 50 episodes, slowly to 200, converges by 300; kube below it and declining.",
      "Weights of the reward are ours (docs/algorithms/ppo-lrt.md); rules do not learn, so theirs are "
      "level."};
  return result;
}

Result<PaperResult> ppo_lrt_figure6(const PaperSettings& settings) {
  const Course course = course_of(settings);
  PaperResult result{"PPO-LRT, figure 6: training for several clips (nginx, matched master)",
                     {reward_table("eq. 12", course)},
                     {},
                     {},
                     nlohmann::ordered_json::object()};
  reporting::LineChart chart{"Reward of an action by episode and clip", {"episode"}, {"reward"}, {}};
  int colour = 0;
  for (const double clip : {0.05, 0.1, 0.2, 0.3, 0.5}) {
    const Result<Trainings> trainings = train(settings, course, clip);
    if (!trainings) return trainings.error();
    const std::string name = "clip " + reporting::format_number(clip);
    add_row(result.tables.front(), name, *trainings, result.figures);
    chart.lines.push_back({name, colour++, false, false, mean_curve(*trainings, kSmooth)});
  }
  result.charts.push_back(std::move(chart));
  result.notes = {"The paper: 0.2 is the most stable and the highest; it does not name the other clips."};
  return result;
}

}  // namespace evenkeel::apps
