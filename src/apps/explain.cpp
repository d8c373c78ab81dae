// `evenkeel explain`: why this node, and why not the others.
#include <unistd.h>

#include <iostream>
#include <memory>

#include "apps/command.h"
#include "apps/place.h"

namespace evenkeel::apps {
namespace {

struct Arguments {
  std::vector<std::string> files;
  std::string configuration, pod, output = "table";
  PlaceOptions options;
  bool json = false;
};

int fail(const Error& error) {
  std::cerr << "evenkeel explain: " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

int run(Arguments arguments) {
  if (const Status read = read_configuration(arguments.configuration, arguments.options); !read)
    return fail(read.error());
  Result<OfflineCluster> cluster = load_cluster(arguments.files);
  if (!cluster) return fail(cluster.error());
  const bool with_namespace = arguments.pod.find('/') != std::string::npos;
  const std::string name = with_namespace ? arguments.pod : "default/" + arguments.pod;
  const PodId* pod = cluster->find(name);
  if (!pod)
    return fail(not_found("--pod " + arguments.pod + ": no pod that waits or runs is called " + name));
  Result<scheduling::PolicySetup> setup = set_up(arguments.options, cluster->pod(*pod).spec().scheduler_name);
  if (!setup) return fail(setup.error());

  // Of a pod that has its node: what the choice would be had it to be made again, by the cluster without it.
  const PodId id = *pod;
  const std::string bound_to = cluster->take_off(id);
  Random random(arguments.options.seed);
  const std::vector<PlacedPod> answer{
      {name, setup->name,
       decide(cluster->question(id, setup->options), *setup->policy, arguments.options.ties, random)}};
  if (arguments.output == "json") {
    std::cout << json_of(answer, cluster->state()) << '\n';
  } else if (arguments.output == "yaml") {
    std::cout << yaml_of(answer, cluster->state());
  } else {
    std::cout << account_of(answer.front(), cluster->state(), reporting::text_style_for(STDOUT_FILENO));
    if (!bound_to.empty())
      std::cout << "\nit runs on " << bound_to << "; the above is what would be chosen today\n";
  }
  return kDone;
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("explain", "Why this node for a pod, and why not the others");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("-f,--filename", arguments->files, "Manifests, YAML or JSON; - is standard input")
      ->required()
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--pod", arguments->pod, "NAMESPACE/NAME, or NAME in default")->required();
  command->add_option("--policy", arguments->options.policy, "Who decides (kube-default)");
  command->add_option("--config", arguments->configuration, "A KubeSchedulerConfiguration");
  command->add_option("-o,--output", arguments->output, "table, json or yaml")
      ->check(CLI::IsMember({"table", "json", "yaml"}));
  command->add_flag("--json", arguments->json, "The same as -o json");
  command->footer("Example:\n  evenkeel explain -f cluster.yaml --pod default/web-1");
  command->callback([arguments, &exit_code] {
    if (arguments->json) arguments->output = "json";
    exit_code = run(*arguments);
  });
}

}  // namespace evenkeel::apps
