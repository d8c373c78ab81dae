// `evenkeel bench optimum`: how long it takes to prove the best placement of the paper's applications on its
// topologies (Diktyo, section VI-A), and how near our own plans are to it.
#include <cmath>
#include <ctime>
#include <iostream>
#include <ostream>

#include "apps/bench.h"
#include "optimum/network_instances.h"
#include "optimum/placement_optimum.h"
#include "reporting/number_format.h"
#include "reporting/text_table.h"
#include "scheduling/group_plan.h"
#include "solver/highs.h"

namespace evenkeel::apps {
namespace {

using namespace optimum;  // NOLINT: instances and their words

constexpr double kLimit = 300;  // seconds, for each

struct Instance {
  Terrain terrain;
  const char* site;
  NetworkApplication application;
  Spread spread;
  const char* apart;
};

std::vector<Instance> instances(bool quick) {
  constexpr std::pair<Terrain, const char*> kSites[] = {{Terrain::cluster, "cluster"},
                                                        {Terrain::data_centre, "data centre"},
                                                        {Terrain::multi_region, "multi-region"}};
  constexpr std::pair<Spread, const char*> kSpreads[] = {
      {Spread::none, "-"}, {Spread::by_node, "node"}, {Spread::by_zone, "zone"}};
  const std::uint32_t most = quick ? 2 : 5;
  std::vector<Instance> all;
  for (const auto& [terrain, site] : kSites) {
    for (std::uint32_t replicas = 1; replicas <= most; ++replicas)
      all.push_back({terrain, site, basic_application(replicas), Spread::none, "-"});
    for (std::uint32_t replicas = 1; replicas <= most; ++replicas)
      for (const auto& [spread, apart] : kSpreads)
        all.push_back({terrain, site, redis_cluster(replicas), spread, apart});
    for (std::uint32_t replicas = 1; replicas <= (quick ? 1U : 2U); ++replicas)
      all.push_back({terrain, site, online_boutique(replicas), Spread::none, "-"});
  }
  return all;
}

std::string rounded(double value) { return reporting::format_number(std::round(value * 100) / 100); }

}  // namespace

Result<BenchJson> bench_optimum(const BenchSettings& settings, std::ostream& out) {
  const Result<solver::Highs> highs = solver::Highs::open();
  if (!highs) {
    out << "skipped: " << highs.error().message << '\n';
    return BenchJson{{"skipped", highs.error().message}};
  }
  const std::vector<Instance> all = instances(settings.quick);
  reporting::TextTable table{{{"topology", reporting::Align::left},
                              {"application", reporting::Align::left},
                              {"apart", reporting::Align::left},
                              {"pods"},
                              {"nodes"},
                              {"latency"},
                              {"bound"},
                              {"proven", reporting::Align::left},
                              {"seconds"},
                              {"CPU s"},
                              {"columns"},
                              {"ours in 10 ms"}},
                             {},
                             {}};
  BenchJson list = BenchJson::array();
  std::size_t proven = 0, done = 0;
  for (const Instance& instance : all) {
    std::cerr << "optimum " << ++done << " of " << all.size() << ": " << instance.application.name << " with "
              << instance.application.pods() << " pods, apart by " << instance.apart << ", " << instance.site
              << std::endl;
    const scheduling::GroupProblem problem = network_instance(
        network_site(instance.terrain), instance.application,
        {.background = false, .with_bandwidth = false, .spread = instance.spread}, Random(1));
    const scheduling::GroupPlan ours = scheduling::plan_group(problem);
    const std::clock_t before = std::clock();
    const Result<PlacementOptimum> best = find_optimum(
        problem, {}, highs->solver(), {.seconds = kLimit, .start = ours.node_of, .progress = {}});
    const double processor = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    if (!best) return best.error();
    proven += best->proven ? 1 : 0;
    const bool possible = best->accepted > 0;
    table.rows.push_back({{instance.site},
                          {instance.application.name},
                          {instance.apart},
                          {std::to_string(instance.application.pods())},
                          {std::to_string(problem.nodes.size())},
                          {possible ? rounded(best->plan.latency) : "none fits"},
                          {possible ? rounded(best->bound) : ""},
                          {best->proven ? "yes" : "no"},
                          {rounded(best->seconds)},
                          {rounded(processor)},
                          {std::to_string(best->columns)},
                          {ours.placed == problem.pods.size() ? rounded(ours.latency) : ""}});
    list.push_back({{"topology", instance.site},
                    {"application", instance.application.name},
                    {"apart", instance.apart},
                    {"pods", instance.application.pods()},
                    {"nodes", problem.nodes.size()},
                    {"placed", possible},
                    {"latency", best->plan.latency},
                    {"bound", best->bound},
                    {"gap", best->gap()},
                    {"proven", best->proven},
                    {"seconds", best->seconds},
                    {"cpu_s", processor},
                    {"ours", ours.latency}});
  }
  table.notes.push_back(std::to_string(proven) + " of " + std::to_string(all.size()) + " proven, " +
                        std::to_string(static_cast<int>(kLimit)) + " s at most for each; HiGHS " +
                        highs->version());
  out << reporting::render_text_table(table, reporting::TextStyle::plain);
  return BenchJson{{"proven", proven}, {"instances", all.size()}, {"limit_s", kLimit}, {"each", list}};
}

}  // namespace evenkeel::apps
