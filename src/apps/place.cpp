// `evenkeel place`: where every pending pod of a manifest would go, and why.
#include "apps/place.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <tuple>

#include "apps/command.h"
#include "apps/group_plans.h"
#include "apps/network_page.h"
#include "apps/profile.h"
#include "base/file.h"
#include "kubernetes/manifest.h"
#include "reporting/svg_chart.h"
#include "scheduling/group_order.h"

namespace evenkeel::apps {
namespace {

struct Arguments {
  std::vector<std::string> files;
  ClusterChoice cluster;
  PlaceOptions options;
  std::string output = "table";
  std::string configuration, picture;
  bool json = false, lines = false, deterministic = true;
};

int fail(const Error& error) {
  std::cerr << "evenkeel place: " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

Result<std::string> read_input(const std::string& file) {
  if (file != "-") return read_file(file);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

void show(const std::vector<PlacedPod>& placed, const ClusterState& cluster, const std::string& output) {
  if (output == "json") {
    std::cout << json_of(placed, cluster) << '\n';
  } else if (output == "yaml") {
    std::cout << yaml_of(placed, cluster);
  } else if (placed.empty()) {
    std::cout << "no pod waits\n";
  } else {
    std::cout << render_text_table(table_of(placed, cluster), reporting::text_style_for(STDOUT_FILENO));
  }
}

// What one line's cluster makes of its pods, or what is wrong with it.
Result<std::string> answer_line(const std::string& line, const std::string& name, PlaceOptions options) {
  const Result<kubernetes::JsonDocument> document = kubernetes::JsonDocument::parse(line, name);
  if (!document) return document.error();
  kubernetes::JsonReading reading(name);
  const kubernetes::JsonField config = kubernetes::JsonField(reading, document->root()).at("config");
  if (reading.error()) return *reading.error();
  if (config) {
    Result<kubernetes::SchedulerConfiguration> read =
        kubernetes::read_scheduler_configuration(config.value(), name + ": config");
    if (!read) return read.error();
    options.configuration = *std::move(read);
  }
  Result<std::vector<kubernetes::ApiObject>> objects = kubernetes::read_manifest(line, name);
  if (!objects) return objects.error();
  Result<OfflineCluster> cluster = OfflineCluster::build(*std::move(objects), name);
  if (!cluster) return cluster.error();
  const Result<std::vector<PlacedPod>> placed = place_all(*cluster, options);
  if (!placed) return placed.error();
  return json_of(*placed, cluster->state());
}

// A cluster per line in, its decisions per line out: for whoever asks about thousands. A line that cannot be
// understood is answered with its error, and costs the others nothing.
int run_lines(const Arguments& arguments) {
  int exit_code = kDone;
  for (const std::string& file : arguments.files) {
    std::ifstream opened;
    if (file != "-") {
      opened.open(file);
      if (!opened) return fail(invalid(file + ": cannot be opened"));
    }
    std::istream& in = file == "-" ? std::cin : opened;
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
      const std::string name = (file == "-" ? "stdin" : file) + ":" + std::to_string(number);
      const Result<std::string> answer = answer_line(line, name, arguments.options);
      if (!answer) exit_code = kBadInput;
      std::cout << (answer ? *answer : error_json(answer.error().message)) << std::endl;
    }
  }
  return std::cout ? exit_code : kFailed;
}

// Application groups as they stand once everything that can be is placed.
int draw(const OfflineCluster& cluster, const Arguments& arguments) {
  const Result<scheduling::PolicySetup> who = set_up(arguments.options, "");
  if (!who) return fail(who.error());
  const std::string svg = reporting::svg_document(
      reporting::svg_network(picture_of(cluster.state(), who->options.profile.network)));
  if (const Status written = write_file(arguments.picture, svg); !written) return fail(written.error());
  std::cerr << "picture: " << arguments.picture << '\n';
  return kDone;
}

int run(Arguments arguments) {
  if (const Status read = read_configuration(arguments.configuration, arguments.options); !read)
    return fail(read.error());
  if (arguments.lines && arguments.files.empty()) return fail(invalid("--lines needs files: -f"));
  if (arguments.lines) return run_lines(arguments);
  Result<LiveCluster> loaded = load_cluster(arguments.files, arguments.cluster);
  if (!loaded) return fail(loaded.error());
  const Result<std::vector<PlacedPod>> placed = place_all(loaded->cluster, arguments.options);
  if (!placed) return fail(placed.error());
  show(*placed, loaded->cluster.state(), arguments.output);
  return arguments.picture.empty() ? kDone : draw(loaded->cluster, arguments);
}

}  // namespace

Result<LiveCluster> load_cluster(const std::vector<std::string>& files, const ClusterChoice& choice) {
  if (files.empty()) {
    Result<LiveCluster> live = load_live_cluster(choice);
    if (live)
      for (const std::string& what : live->left_out) std::cerr << "left out: " << what << '\n';
    return live;
  }
  std::vector<kubernetes::ApiObject> all;
  std::string names;
  for (const std::string& file : files) {
    const Result<std::string> text = read_input(file);
    if (!text) return text.error();
    const std::string name = file == "-" ? "stdin" : file;
    Result<std::vector<kubernetes::ApiObject>> objects = kubernetes::read_manifest(*text, name);
    if (!objects) return objects.error();
    std::move(objects->begin(), objects->end(), std::back_inserter(all));
    names += (names.empty() ? "" : ", ") + name;
  }
  Result<OfflineCluster> cluster = OfflineCluster::build(std::move(all), names);
  if (!cluster) return cluster.error();
  return LiveCluster{*std::move(cluster)};
}

void add_cluster_options(CLI::App& command, std::vector<std::string>& files, ClusterChoice& choice) {
  CLI::Option* file =
      command.add_option("-f,--filename", files, "Manifests, YAML or JSON; - is standard input")
          ->take_all()
          ->allow_extra_args(false);
  command.add_option("--kubeconfig", choice.kubeconfig, "The live cluster of this file ($KUBECONFIG)")
      ->excludes(file);
  command.add_option("--context", choice.context, "Another context of it than the current one")
      ->excludes(file);
}

Status read_configuration(const std::string& file, PlaceOptions& options) {
  if (file.empty()) return {};
  const Result<std::string> text = read_file(file);
  if (!text) return text.error();
  Result<kubernetes::SchedulerConfiguration> read = kubernetes::read_scheduler_configuration(*text, file);
  if (!read) return read.error();
  options.configuration = *std::move(read);
  for (const std::string& warning : warnings_of(*options.configuration))
    std::cerr << "warning: " << warning << '\n';
  return {};
}

Result<scheduling::PolicySetup> set_up(const PlaceOptions& options, const std::string& scheduler_name) {
  const std::string policy = options.policy.empty() ? "kube-default" : options.policy;
  if (!options.configuration) return scheduling::set_up_policy(policy, {});
  const auto& profiles = options.configuration->profiles;
  const auto named = std::find_if(profiles.begin(), profiles.end(), [&](const auto& profile) {
    return profile.scheduler_name == scheduler_name;
  });
  const kubernetes::SchedulerProfile& profile = named == profiles.end() ? profiles.front() : *named;
  if (options.policy.empty()) return set_up_profile(*options.configuration, profile);
  scheduling::SchedulingOptions with_profile;
  with_profile.profile = profile_of(*options.configuration, profile);
  return scheduling::set_up_policy(policy, with_profile);
}

namespace {

// As a scheduler's queue would: the most important first, then in the order of the file, in which pods are
// numbered; where the profile sorts by topology, pods of a group together.
template <class SetupOf>
void put_in_order(const OfflineCluster& cluster, std::vector<PodId>& order, SetupOf setup_of) {
  scheduling::GroupOrder groups;
  std::map<PodId, scheduling::GroupOrder::Standing> standing;
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& by_topology = setup_of(order[i]).options.profile.topological_sort;
    standing[order[i]] = by_topology ? groups.of(cluster.pod(order[i]), cluster.state(), *by_topology, i)
                                     : scheduling::GroupOrder::Standing{i, 0};
  }
  const auto place_of = [&](PodId pod) {
    const auto& [anchor, rank] = standing.at(pod);
    return std::tuple(-std::int64_t{cluster.pod(pod).spec().priority}, anchor, rank, pod);
  };
  std::sort(order.begin(), order.end(), [&](PodId a, PodId b) { return place_of(a) < place_of(b); });
}

}  // namespace

Result<std::vector<PlacedPod>> place_all(OfflineCluster& cluster, const PlaceOptions& options) {
  std::vector<PodId> order = cluster.waiting();
  std::map<std::string, scheduling::PolicySetup> setups;  // by the scheduler a pod asks for
  for (const PodId pod : order) {
    const std::string& scheduler = cluster.pod(pod).spec().scheduler_name;
    if (setups.contains(scheduler)) continue;
    Result<scheduling::PolicySetup> made = set_up(options, scheduler);
    if (!made) return made.error();
    setups.emplace(scheduler, *std::move(made));
  }
  const auto setup_of = [&](PodId pod) -> scheduling::PolicySetup& {
    return setups.at(cluster.pod(pod).spec().scheduler_name);
  };
  if (!options.independent) put_in_order(cluster, order, setup_of);
  Random random(options.seed);
  std::map<PodId, PlannedPod> planned;
  std::vector<PlacedPod> placed;
  for (const PodId pod : order) {
    scheduling::PolicySetup& who = setup_of(pod);
    if (!options.independent && !planned.contains(pod))
      planned.merge(plan_group_of(pod, order, cluster, who.options));
    scheduling::Decision decision =
        decide(cluster.question(pod, who.options), *who.policy, options.ties, random);
    if (const auto at = planned.find(pod); at != planned.end()) follow_plan(at->second, decision);
    if (decision.node && !options.independent) cluster.place(pod, *decision.node);
    placed.push_back({cluster.pod(pod).full_name(), who.name, std::move(decision), pod});
  }
  return placed;
}

void add_place(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "place", "Where every pending pod of a manifest or of a live cluster would go, and why");
  auto arguments = std::make_shared<Arguments>();
  add_cluster_options(*command, arguments->files, arguments->cluster);
  command->add_option("--policy", arguments->options.policy, "Who decides (kube-default)");
  command->add_option("--config", arguments->configuration,
                      "A KubeSchedulerConfiguration: its profiles, plugins, weights and arguments");
  command->add_option("-o,--output", arguments->output, "table, json or yaml")
      ->check(CLI::IsMember({"table", "json", "yaml"}));
  command->add_flag("--json", arguments->json, "The same as -o json");
  command->add_flag("--independent", arguments->options.independent,
                    "Judge every pod on the same snapshot instead of one after the other");
  command->add_flag("--deterministic,!--by-lot", arguments->deterministic,
                    "Break ties by node name (the default), or by lot");
  command->add_option("--seed", arguments->options.seed, "For lots (1)");
  command->add_option("--picture", arguments->picture,
                      "Draws application groups on their nodes, who talks to whom and what it costs (SVG)");
  command->add_flag("--lines", arguments->lines,
                    "Each line of the file is a cluster (a List, with its own \"config\" if need be);\n"
                    "each line of the output its decisions");
  command->footer(
      "Examples:\n  kubectl get nodes,pods,pvc,pv,sc,ns -A -o json | evenkeel place -f - --policy "
      "kube-default\n  evenkeel place --context production");
  command->callback([arguments, &exit_code] {
    if (arguments->json) arguments->output = "json";
    arguments->options.ties = arguments->deterministic ? scheduling::Ties::by_name : scheduling::Ties::by_lot;
    exit_code = run(*arguments);
  });
}

}  // namespace evenkeel::apps
