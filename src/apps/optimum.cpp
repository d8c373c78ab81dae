// `evenkeel optimum`: the best placement of the application groups of a manifest, proven, beside a policy's.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.h"
#include "apps/optimum_view.h"
#include "apps/place.h"
#include "base/unit_text.h"
#include "optimum/joined_groups.h"
#include "scheduling/group_plan.h"
#include "solver/highs.h"

namespace evenkeel::apps {
namespace {

struct Arguments {
  std::vector<std::string> files;
  ClusterChoice cluster;
  std::string policy, configuration, time_limit = "60s";
  bool json = false;
};

int fail(const Error& error) {
  std::cerr << "evenkeel optimum: " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

struct Question {
  optimum::JoinedGroups joined;
  std::vector<std::string> groups;  // by application
  std::size_t without_group = 0;    // pods that wait and are of none
};

// Every group that has pods waiting; pods of no group have no latency to speak of.
Result<Question> read_question(const OfflineCluster& cluster, scheduling::SchedulingOptions options) {
  options.joint.load_weight = 0;  // latency alone, as in the paper
  const ClusterState& state = cluster.state();
  Question question;
  std::map<std::string, std::vector<PodId>> waiting;
  for (const PodId pod : cluster.waiting()) {
    const PodTemplate& shape = *cluster.pod(pod).shape;
    if (shape.app_group.empty() || !state.objects().app_group(shape.name_space, shape.app_group))
      ++question.without_group;
    else
      waiting[shape.name_space + "/" + shape.app_group].push_back(pod);
  }
  if (waiting.empty())
    return invalid("no pod that waits is of an AppGroup that is there: nothing to find the best of");
  scheduling::Nominations nominations;
  for (const scheduling::Nomination& promise : cluster.nominations())
    nominations.set(promise.pod, promise.node);
  std::vector<scheduling::GroupView> views;
  for (auto& [name, pods] : waiting) {
    const std::size_t slash = name.find('/');
    const AppGroup& group = *state.objects().app_group(name.substr(0, slash), name.substr(slash + 1));
    views.push_back(
        scheduling::view_group({state, cluster.history(), options, nominations, group, std::move(pods)}));
    question.groups.push_back(name);
  }
  Result<optimum::JoinedGroups> joined = optimum::join_groups(views, state, options);
  if (!joined) return joined.error();
  question.joined = *std::move(joined);
  return question;
}

// What a policy makes of the same pods; none where it takes a node that the question does not look at.
Result<PolicyPlan> plan_of_policy(OfflineCluster& cluster, const PlaceOptions& options,
                                  const Question& question) {
  const Result<std::vector<PlacedPod>> placed = place_all(cluster, options);
  if (!placed) return placed.error();
  const optimum::JoinedGroups& joined = question.joined;
  std::map<std::string, NodeId> chosen;
  for (const PlacedPod& each : *placed)
    if (each.decision.node) chosen.emplace(each.pod, *each.decision.node);
  PolicyPlan plan{.name = options.policy, .plan = {}};
  std::vector<std::uint32_t> node_of;
  for (std::size_t pod = 0; pod < joined.pods.size(); ++pod) {
    node_of.push_back(joined.problem.pods[pod].fixed);
    const auto at = chosen.find(cluster.pod(joined.pods[pod]).full_name());
    if (node_of.back() != scheduling::GroupProblem::kNowhere || at == chosen.end()) continue;
    const auto number = std::ranges::find(joined.nodes, at->second);
    if (number == joined.nodes.end())
      plan.elsewhere = true;
    else
      node_of.back() = static_cast<std::uint32_t>(number - joined.nodes.begin());
  }
  plan.broken = scheduling::broken_rule(joined.problem, node_of);
  plan.plan = scheduling::plan_of(joined.problem, std::move(node_of));
  return plan;
}

// A line every few seconds: long proofs are waited for.
std::function<void(const MixedProgress&)> reporter() {
  auto last = std::make_shared<double>(0);
  return [last](const MixedProgress& now) {
    if (now.seconds < *last + 5) return;
    *last = now.seconds;
    std::cerr << "optimum: " << std::lround(now.seconds) << " s, best " << now.objective << ", bound "
              << now.bound << std::endl;
  };
}

int run(const Arguments& arguments) {
  const Result<Duration> limit = parse_duration(arguments.time_limit);
  if (!limit || to_seconds(*limit) <= 0)
    return fail(invalid("--time-limit: '" + arguments.time_limit + "' is no time such as 60s or 5m"));
  const Result<solver::Highs> highs = solver::Highs::open();
  if (!highs) return fail(highs.error());
  PlaceOptions options;
  if (const Status read = read_configuration(arguments.configuration, options); !read)
    return fail(read.error());
  options.policy = arguments.policy;
  if (options.policy.empty() && !options.configuration)
    options.policy = scheduling::set_up_policy("network", {}) ? "network" : "kube-default";
  Result<LiveCluster> loaded = load_cluster(arguments.files, arguments.cluster);
  if (!loaded) return fail(loaded.error());
  const Result<scheduling::PolicySetup> setup = set_up(options, "");
  if (!setup) return fail(setup.error());
  if (options.policy.empty()) options.policy = setup->name;
  const Result<Question> question = read_question(loaded->cluster, setup->options);
  if (!question) return fail(question.error());
  const optimum::JoinedGroups& joined = question->joined;

  // The nodes it is about come from the snapshot; the policy changes it, and so comes later.
  const scheduling::GroupPlan start = scheduling::plan_group(
      joined.problem, {.budget = scheduling::GroupPlanOptions::kHundredMilliseconds, .seed = 1});
  const Result<optimum::PlacementOptimum> best =
      optimum::find_optimum(joined.problem, joined.application, highs->solver(),
                            {.seconds = to_seconds(*limit), .start = start.node_of, .progress = reporter()});
  if (!best) return fail(best.error());
  const Result<PolicyPlan> policy = plan_of_policy(loaded->cluster, options, *question);
  if (!policy) return fail(policy.error());
  const OptimumReport report{joined,  question->groups, *best,
                             *policy, loaded->cluster,  question->without_group};
  if (arguments.json)
    std::cout << json_of(report) << '\n';
  else
    std::cout << text_of(report, reporting::text_style_for(STDOUT_FILENO));
  return std::cout ? kDone : kFailed;
}

}  // namespace

void add_optimum(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "optimum",
      "The placement of application groups with the least latency there is, proven, beside a policy's");
  auto arguments = std::make_shared<Arguments>();
  add_cluster_options(*command, arguments->files, arguments->cluster);
  command->add_option("--time-limit", arguments->time_limit,
                      "For the proof; after it, the best so far (60s)");
  command->add_option("--policy", arguments->policy, "Whom to compare with (network)");
  command->add_option(
      "--config", arguments->configuration,
      "A KubeSchedulerConfiguration: its filters and network arguments, and its profile's policy");
  command->add_flag("--json", arguments->json, "Print it as JSON");
  command->footer(
      "Of all AppGroups with pods that wait: as many whole groups as possible, then the least sum of "
      "network\n"
      "costs over all pairs of pods that depend on each other (Diktyo, eq. 11 and 12), every filter, "
      "minBandwidth,\n"
      "maxNetworkCost and anti-affinity by node or zone respected. Needs HiGHS; says so where it is "
      "missing.\n\n"
      "JSON: {\"applications\", \"accepted\", \"latency\", \"bound\", \"gap\" (0..; null: nothing known), "
      "\"proven\",\n"
      "  \"seconds\", \"placement\": [{\"pod\", \"group\", \"node\" or null}],\n"
      "  \"policy\": {\"name\", \"accepted\", \"latency\", \"above_optimum\" (0..; null where it accepts "
      "another number),\n"
      "             \"breaks\" (a rule, or null), \"placement\": [...]}}\n\n"
      "Example:\n  kubectl get nodes,pods,appgroups,networktopologies -A -o json | evenkeel optimum -f - "
      "--time-limit 5m");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace evenkeel::apps
