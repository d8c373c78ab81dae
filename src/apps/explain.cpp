// `evenkeel explain`: why this node, and why not the others.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.h"
#include "apps/decided_view.h"
#include "apps/group_plans.h"
#include "apps/live_cluster.h"
#include "apps/place.h"

namespace evenkeel::apps {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::vector<std::string> files;
  ClusterChoice cluster;
  std::string configuration, pod, output = "table";
  std::string server, server_token_file;  // of a running scheduler
  PlaceOptions options;
  bool json = false;
};

int fail(const Error& error) {
  std::cerr << "evenkeel explain: " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

// What is, what was, what would be.
struct Explanation {
  std::vector<PlacedPod> today;
  std::string bound_to;  // empty: it waits
  std::string decided;   // JSON of the running scheduler; empty: it was not asked
};

std::string as_json(const Explanation& explanation, const ClusterState& cluster) {
  Json value = Json::parse(json_of(explanation.today, cluster));
  Json& decision = value["decisions"].front();
  decision["bound"] = explanation.bound_to.empty() ? Json(nullptr) : Json(explanation.bound_to);
  if (!explanation.decided.empty()) {
    const Json decided = Json::parse(explanation.decided, nullptr, false);
    decision["decided"] = decided.is_object() ? decided.value("decisions", Json::array()) : Json::array();
  }
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void tell(const Explanation& explanation, const ClusterState& cluster) {
  const reporting::TextStyle style = reporting::text_style_for(STDOUT_FILENO);
  if (!explanation.decided.empty())
    std::cout << "decided by the running scheduler, the latest first\n"
              << account_of_decided(explanation.decided, style) << "\nwhat would be chosen today\n";
  std::cout << account_of(explanation.today.front(), cluster, style);
  if (!explanation.bound_to.empty())
    std::cout << "\nit runs on " << explanation.bound_to << "; the above is what would be chosen today\n";
}

int run(Arguments arguments) {
  if (const Status read = read_configuration(arguments.configuration, arguments.options); !read)
    return fail(read.error());
  Result<LiveCluster> loaded = load_cluster(arguments.files, arguments.cluster);
  if (!loaded) return fail(loaded.error());
  OfflineCluster& cluster = loaded->cluster;
  const bool with_namespace = arguments.pod.find('/') != std::string::npos;
  const std::string name = with_namespace ? arguments.pod : loaded->name_space + "/" + arguments.pod;
  Explanation explanation;
  if (!arguments.server.empty()) {
    Result<std::string> decided = ask_decisions(arguments.server, arguments.server_token_file, name);
    if (!decided) return fail(decided.error());
    explanation.decided = *std::move(decided);
  }
  const PodId* pod = cluster.find(name);
  if (!pod)
    return fail(not_found("--pod " + arguments.pod + ": no pod that waits or runs is called " + name));
  Result<scheduling::PolicySetup> setup = set_up(arguments.options, cluster.pod(*pod).spec().scheduler_name);
  if (!setup) return fail(setup.error());

  // Of a pod that has its node: what the choice would be had it to be made again, by the cluster without it.
  const PodId id = *pod;
  explanation.bound_to = cluster.take_off(id);
  Random random(arguments.options.seed);
  explanation.today.push_back(
      {name, setup->name,
       decide(cluster.question(id, setup->options), *setup->policy, arguments.options.ties, random), id});
  // With mates that wait beside it, it goes where the whole group does best.
  std::vector<PodId> waiting = cluster.waiting();
  if (std::ranges::find(waiting, id) == waiting.end()) waiting.push_back(id);
  const std::map<PodId, PlannedPod> planned = plan_group_of(id, waiting, cluster, setup->options);
  if (const auto at = planned.find(id); at != planned.end())
    follow_plan(at->second, explanation.today.back().decision);
  if (arguments.output == "json") {
    std::cout << as_json(explanation, cluster.state()) << '\n';
  } else if (arguments.output == "yaml") {
    std::cout << yaml_of(explanation.today, cluster.state());
  } else {
    tell(explanation, cluster.state());
  }
  return kDone;
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("explain", "Why this node for a pod, and why not the others");
  auto arguments = std::make_shared<Arguments>();
  add_cluster_options(*command, arguments->files, arguments->cluster);
  command->add_option("--pod", arguments->pod, "NAMESPACE/NAME, or NAME in the default namespace")
      ->required();
  command->add_option("--server", arguments->server,
                      "A running scheduler's --listen address (http://127.0.0.1:10269):\n"
                      "what it decided then is shown beside what would be chosen today");
  command->add_option("--server-token-file", arguments->server_token_file,
                      "The secret that its --listen-token-file holds");
  command->add_option("--policy", arguments->options.policy, "Who decides (kube-default)");
  command->add_option("--config", arguments->configuration, "A KubeSchedulerConfiguration");
  command->add_option("-o,--output", arguments->output, "table, json or yaml")
      ->check(CLI::IsMember({"table", "json", "yaml"}));
  command->add_flag("--json", arguments->json, "The same as -o json");
  command->footer(
      "Examples:\n  evenkeel explain -f cluster.yaml --pod default/web-1\n"
      "  evenkeel explain --context production --pod default/web-1 --server http://127.0.0.1:10269");
  command->callback([arguments, &exit_code] {
    if (arguments->json) arguments->output = "json";
    exit_code = run(*arguments);
  });
}

}  // namespace evenkeel::apps
