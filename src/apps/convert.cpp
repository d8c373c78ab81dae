// `evenkeel convert`: HorizontalPodAutoscalers as WorkloadScalers that mean the same; what AppGroups ask for
// as annotations of pods.
#include <iostream>
#include <iterator>
#include <memory>

#include "apps/command.h"
#include "base/file.h"
#include "kubernetes/bandwidth_convert.h"
#include "kubernetes/scaling_convert.h"

namespace evenkeel::apps {
namespace {

struct Arguments {
  std::vector<std::string> files;
  std::string policy = "hpa";
};

Result<std::string> text_of(const std::string& file) {
  if (file != "-") return read_file(file);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

int run(const Arguments& arguments) {
  std::string output;
  std::size_t converted = 0;
  for (const std::string& file : arguments.files) {
    const Result<std::string> text = text_of(file);
    const std::string name = file == "-" ? "standard input" : file;
    std::vector<std::string> others;
    auto made = text ? kubernetes::convert_manifest(*text, name, others)
                     : Result<std::vector<kubernetes::ConvertedScaler>>(text.error());
    if (!made) {
      std::cerr << "evenkeel convert hpa: " << made.error().message << '\n';
      return kBadInput;
    }
    for (const std::string& other : others) std::cerr << other << '\n';
    for (kubernetes::ConvertedScaler& one : *made) {
      one.scaler.spec.policy = arguments.policy;
      for (const std::string& remark : one.remarks)
        std::cerr << "HorizontalPodAutoscaler " << one.scaler.key() << ": " << remark << '\n';
      output += (output.empty() ? "" : "---\n") + kubernetes::write_workload_scaler(one);
      ++converted;
    }
  }
  if (converted == 0) {
    std::cerr << "evenkeel convert hpa: no HorizontalPodAutoscaler found\n";
    return kBadInput;
  }
  std::cout << output;
  return kDone;
}

int run_bandwidth(const std::vector<std::string>& files) {
  const auto fail = [](const Error& error) {
    std::cerr << "evenkeel convert bandwidth: " << error.message << '\n';
    return kBadInput;
  };
  std::vector<std::pair<std::string, std::string>> manifests;
  for (const std::string& file : files) {
    Result<std::string> text = text_of(file);
    if (!text) return fail(text.error());
    manifests.emplace_back(file == "-" ? "standard input" : file, *std::move(text));
  }
  const auto made = kubernetes::shape_manifests(manifests);
  if (!made) return fail(made.error());
  for (const std::string& remark : made->remarks) std::cerr << remark << '\n';
  if (made->annotated == 0) return fail(invalid("no pods of a group with minBandwidth found"));
  std::cout << made->text;
  return kDone;
}

}  // namespace

void add_convert(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("convert", "Manifests of others into ours");
  command->require_subcommand(1);
  CLI::App* hpa =
      command->add_subcommand("hpa", "A HorizontalPodAutoscaler into a WorkloadScaler, in mode Preview");
  auto arguments = std::make_shared<Arguments>();
  hpa->add_option("-f,--filename", arguments->files,
                  "Manifests, YAML or JSON, lists as well; - is standard input")
      ->required();
  hpa->add_option("--policy", arguments->policy, "Who is to decide: hpa means the same as before (hpa)");
  hpa->footer("Example:\n  kubectl get hpa -A -o yaml | evenkeel convert hpa -f - | kubectl apply -f -");
  hpa->callback([arguments, &exit_code] { exit_code = run(*arguments); });
  CLI::App* bandwidth = command->add_subcommand(
      "bandwidth", "Annotations for the CNI bandwidth plugin, out of what AppGroups ask for");
  auto files = std::make_shared<std::vector<std::string>>();
  bandwidth
      ->add_option("-f,--filename", *files,
                   "AppGroups and whatever has pods, YAML or JSON, lists as well; - is standard input")
      ->required();
  bandwidth->footer(
      "Example:\n  evenkeel convert bandwidth -f appgroup.yaml -f deployments.yaml | kubectl apply -f -");
  bandwidth->callback([files, &exit_code] { exit_code = run_bandwidth(*files); });
}

}  // namespace evenkeel::apps
