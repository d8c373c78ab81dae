// `evenkeel model`: what a model is, was trained on, and expects.
#include <unistd.h>

#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.h"
#include "apps/model_ranges.h"
#include "apps/models.h"
#include "base/file.h"
#include "learning/network.h"
#include "reporting/number_format.h"
#include "reporting/text_table.h"
#include "scheduling/policies/registry.h"

namespace evenkeel::apps {
namespace {

using Json = nlohmann::ordered_json;
using learning::Model;
using learning::ModelNetwork;
using reporting::Align;

struct Arguments {
  std::string model, policy, out;
  bool json = false;
};

int fail(const std::string& job, const Error& error) {
  std::cerr << "evenkeel model " << job << ": " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

std::string shape_text(const learning::NetworkShape& shape) {
  std::string text = std::to_string(shape.inputs);
  for (const int width : shape.hidden) text += "-" + std::to_string(width);
  return text + "-" + std::to_string(shape.outputs);
}

const char* activation_name(learning::Activation activation) {
  return activation == learning::Activation::relu ? "relu" : "tanh";
}

struct WeightFigures {
  double low = 0, high = 0, rms = 0;
};

WeightFigures figures_of(const std::vector<learning::Real>& weights) {
  WeightFigures figures;
  for (const double weight : weights) {
    figures.low = std::min(figures.low, weight);
    figures.high = std::max(figures.high, weight);
    figures.rms += weight * weight / static_cast<double>(weights.size());
  }
  figures.rms = std::sqrt(figures.rms);
  return figures;
}

// `weights`: all of them, or of each network their range alone.
Json json_of(const Model& model, bool weights) {
  Json networks = Json::array(), ranges = Json::array();
  for (const ModelNetwork& network : model.networks) {
    Json entry = {{"name", network.name},
                  {"inputs", network.shape.inputs},
                  {"hidden", network.shape.hidden},
                  {"outputs", network.shape.outputs},
                  {"activation", activation_name(network.shape.activation)},
                  {"parameter_count", network.parameters.size()}};
    if (weights) {
      // Layer by layer, as they lie: a column of weights per input, then the biases.
      Json layers = Json::array();
      const learning::Network shaped(network.shape);
      for (const learning::Network::Layer& layer : shaped.layers()) {
        const auto at = [&](std::size_t offset) {
          return network.parameters.begin() + static_cast<std::ptrdiff_t>(offset);
        };
        const auto count = static_cast<std::size_t>(layer.inputs) * static_cast<std::size_t>(layer.outputs);
        layers.push_back(
            {{"inputs", layer.inputs},
             {"outputs", layer.outputs},
             {"weights", std::vector<double>(at(layer.weights), at(layer.weights + count))},
             {"biases", std::vector<double>(at(layer.biases),
                                            at(layer.biases + static_cast<std::size_t>(layer.outputs)))}});
      }
      entry["layers"] = std::move(layers);
    } else {
      const WeightFigures figures = figures_of(network.parameters);
      entry["weights"] = {{"low", figures.low}, {"high", figures.high}, {"rms", figures.rms}};
    }
    networks.push_back(std::move(entry));
  }
  for (const learning::FeatureRange& range : model.normalisation)
    ranges.push_back({{"feature", range.feature}, {"low", range.low}, {"high", range.high}});
  Json inputs = Json::array();
  for (const learning::InputRange& range : model.inputs)
    inputs.push_back({{"input", range.input},
                      {"lowest", range.lowest},
                      {"low", range.low},
                      {"high", range.high},
                      {"highest", range.highest}});
  const std::string policy = policy_of_encoding(model.encoding);
  return {{"version", Model::kVersion},
          {"encoding", model.encoding},
          {"policy", policy.empty() ? Json(nullptr) : Json(policy)},
          {"training_worlds", model.training_worlds},
          {"figures", model.figures},
          {"normalisation", std::move(ranges)},
          {"networks", std::move(networks)},
          {"inputs", std::move(inputs)},
          {"recipe", model.recipe}};
}

std::string text_of(const Model& model, const std::string& source) {
  const reporting::TextStyle style = reporting::text_style_for(STDOUT_FILENO);
  const std::string policy = policy_of_encoding(model.encoding);
  std::string worlds;
  for (const std::string& world : model.training_worlds) worlds += (worlds.empty() ? "" : ", ") + world;
  std::string text = source + "\nencoding    " + model.encoding + "\npolicy      " +
                     (policy.empty() ? "none of this program" : policy) + "\ntrained on  " +
                     (worlds.empty() ? "worlds of the recipe's own" : worlds) + "\n";

  reporting::TextTable networks{{{"network", Align::left},
                                 {"layers", Align::left},
                                 {"activation", Align::left},
                                 {"parameters"},
                                 {"lowest"},
                                 {"highest"},
                                 {"rms"}},
                                {},
                                {}};
  for (const ModelNetwork& network : model.networks) {
    const WeightFigures figures = figures_of(network.parameters);
    networks.rows.push_back({{network.name},
                             {shape_text(network.shape)},
                             {activation_name(network.shape.activation)},
                             {std::to_string(network.parameters.size())},
                             {reporting::format_number(figures.low)},
                             {reporting::format_number(figures.high)},
                             {reporting::format_number(figures.rms)}});
  }
  text += "\n" + reporting::render_text_table(networks, style);
  if (!model.figures.empty()) {
    reporting::TextTable reached{{{"figure", Align::left}, {"reached"}}, {}, {}};
    for (const auto& [name, value] : model.figures)
      reached.rows.push_back({{name}, {reporting::format_number(value)}});
    text += "\n" + reporting::render_text_table(reached, style);
  }
  if (!model.normalisation.empty()) {
    reporting::TextTable inputs{{{"feature", Align::left}, {"0 stands for"}, {"1 stands for"}}, {}, {}};
    for (const learning::FeatureRange& range : model.normalisation)
      inputs.rows.push_back(
          {{range.feature}, {reporting::format_number(range.low)}, {reporting::format_number(range.high)}});
    text += "\n" + reporting::render_text_table(inputs, style);
  }
  if (!model.inputs.empty()) text += "\n" + reporting::render_text_table(input_table(model), style);
  return text + "\nrecipe\n" + model.recipe;
}

int inspect(const Arguments& arguments) {
  const Result<Model> model = load_model(arguments.model);
  if (!model) return fail("inspect", model.error());
  if (arguments.json) {
    std::cout << json_of(*model, false).dump(2) << '\n';
  } else {
    std::cout << text_of(*model, arguments.model);
  }
  return kDone;
}

// Reading it has checked size, checksum and every weight; what is left is whether its policy takes it.
int verify(const Arguments& arguments) {
  Result<Model> model = load_model(arguments.model);
  if (!model) return fail("verify", model.error());
  const std::string encoding = model->encoding;
  std::size_t weights = 0;
  for (const ModelNetwork& network : model->networks) weights += network.parameters.size();
  const Result<std::string> policy =
      check_model(arguments.policy, std::make_shared<const Model>(*std::move(model)), arguments.model);
  if (!policy) return fail("verify", policy.error());
  if (arguments.json) {
    std::cout << Json{{"model", arguments.model},
                      {"encoding", encoding},
                      {"policy", *policy},
                      {"weights", weights},
                      {"ok", true}}
                     .dump(2)
              << '\n';
  } else {
    std::cout << arguments.model << ": checksum good, " << weights << " weights, all finite; encoding '"
              << encoding << "' fits policy " << *policy << '\n';
  }
  return kDone;
}

int export_model(const Arguments& arguments) {
  const Result<Model> model = load_model(arguments.model);
  if (!model) return fail("export", model.error());
  const std::string text = json_of(*model, true).dump(2) + "\n";
  if (arguments.out.empty()) {
    std::cout << text;
    return kDone;
  }
  if (const Status written = write_file(arguments.out, text); !written)
    return fail("export", unavailable("cannot write " + written.error().message));
  return kDone;
}

}  // namespace

void add_model(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("model", "What a model is, was trained on, and expects");
  command->require_subcommand(1);
  command->footer("Example:\n  evenkeel model inspect evenkeel");
  auto arguments = std::make_shared<Arguments>();
  const auto add = [&](const char* name, const char* about, int (*job)(const Arguments&)) {
    CLI::App* part = command->add_subcommand(name, about);
    part->add_option("model", arguments->model, "File, or the name of one built in")->required();
    part->add_flag("--json", arguments->json, "Print as JSON");
    part->footer(std::string("Example:\n  evenkeel model ") + name + " model.ekm");
    part->callback([arguments, job, &exit_code] { exit_code = job(*arguments); });
    return part;
  };
  add("inspect", "What it is, what it was trained on, what it reached, what it expects", inspect);
  add("verify", "Whether it is whole and fits the policy that would use it", verify)
      ->add_option("--policy", arguments->policy, "The policy to use it (the one its encoding names)");
  add("export", "Everything in it as JSON, weights included", export_model)
      ->add_option("--out", arguments->out, "Write to this file instead of standard output");
  add_model_ranges(*command, exit_code);
}

}  // namespace evenkeel::apps
