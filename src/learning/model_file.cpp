#include "learning/model_file.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/check.h"
#include "learning/checksum.h"

namespace evenkeel::learning {
namespace {

using Json = nlohmann::json;
static_assert(std::endian::native == std::endian::little && sizeof(Real) == 8,
              "parameters are stored as they lie");

constexpr std::string_view kMagic = "evenkeel-model ";
constexpr std::int64_t kWidest = 1 << 16;  // of a layer: a damaged size must not ask for all memory
constexpr std::size_t kDeepest = 32;

Json header_of(const Model& model) {
  Json header = {{"encoding", model.encoding},
                 {"recipe", model.recipe},
                 {"training_worlds", model.training_worlds},
                 {"figures", model.figures},
                 {"normalisation", Json::array()},
                 {"networks", Json::array()}};
  for (const FeatureRange& range : model.normalisation)
    header["normalisation"].push_back({{"feature", range.feature}, {"low", range.low}, {"high", range.high}});
  for (const ModelNetwork& network : model.networks)
    header["networks"].push_back(
        {{"name", network.name},
         {"inputs", network.shape.inputs},
         {"hidden", network.shape.hidden},
         {"outputs", network.shape.outputs},
         {"activation", network.shape.activation == Activation::relu ? "relu" : "tanh"}});
  // Left out where there are none: models from before are written as they were.
  for (const InputRange& range : model.inputs)
    header["inputs"].push_back({{"input", range.input},
                                {"lowest", range.lowest},
                                {"low", range.low},
                                {"high", range.high},
                                {"highest", range.highest}});
  return header;
}

// Reads fields and remembers the first thing that was wrong, so that callers need look only once.
class HeaderReader {
 public:
  explicit HeaderReader(const Json& object, std::string where = "")
      : object_(object), where_(std::move(where)) {}

  const std::optional<std::string>& problem() const { return problem_; }

  std::string text(const char* field) {
    const Json* value = expect(field, &Json::is_string, "text");
    return value ? value->get<std::string>() : "";
  }
  double number(const char* field) {
    const Json* value = expect(field, &Json::is_number, "a number");
    return value ? value->get<double>() : 0;
  }
  const Json& list(const char* field) {
    static const Json kNone = Json::array();
    const Json* value = expect(field, &Json::is_array, "a list");
    return value ? *value : kNone;
  }
  const Json& object(const char* field) {
    static const Json kNone = Json::object();
    const Json* value = expect(field, &Json::is_object, "an object");
    return value ? *value : kNone;
  }
  int width(const char* field) {
    const Json* value = expect(field, &Json::is_number_integer, "a whole number");
    return value ? checked_width(*value, field) : 0;
  }
  int checked_width(const Json& value, const char* field) {
    const bool fits = value.is_number_integer() && value >= 1 && value <= kWidest;
    if (!fits) complain(field, "is " + value.dump() + ", expected 1 to " + std::to_string(kWidest));
    return fits ? value.get<int>() : 0;
  }
  void complain(const char* field, const std::string& what) {
    if (!problem_) problem_ = "model header: " + where_ + field + " " + what;
  }

 private:
  const Json* expect(const char* field, bool (Json::*is)() const noexcept, const char* kind) {
    const auto found = object_.is_object() ? object_.find(field) : object_.end();
    if (object_.is_object() && found != object_.end() && ((*found).*is)()) return &*found;
    complain(field,
             object_.is_object() && found != object_.end() ? std::string("is not ") + kind : "is missing");
    return nullptr;
  }

  const Json& object_;
  std::string where_;
  std::optional<std::string> problem_;
};

Result<ModelNetwork> read_network(const Json& entry, std::size_t index) {
  HeaderReader reader(entry, "networks[" + std::to_string(index) + "].");
  ModelNetwork network{reader.text("name"), {}, {}};
  network.shape.inputs = reader.width("inputs");
  network.shape.outputs = reader.width("outputs");
  const Json& hidden = reader.list("hidden");
  if (hidden.size() > kDeepest)
    reader.complain("hidden", "has " + std::to_string(hidden.size()) + " layers, more than any of ours");
  else
    for (const Json& width : hidden) network.shape.hidden.push_back(reader.checked_width(width, "hidden"));
  const std::string activation = reader.text("activation");
  if (activation != "relu" && activation != "tanh")
    reader.complain("activation", "is '" + activation + "', expected relu or tanh");
  network.shape.activation = activation == "tanh" ? Activation::tanh : Activation::relu;
  if (reader.problem()) return invalid(*reader.problem());
  return network;
}

Status read_inputs(const Json& list, Model& model) {
  if (!list.is_array()) return invalid("model header: inputs is not a list");
  for (const Json& entry : list) {
    HeaderReader range(entry, "inputs[" + std::to_string(model.inputs.size()) + "].");
    model.inputs.push_back({range.text("input"), range.number("lowest"), range.number("low"),
                            range.number("high"), range.number("highest")});
    const InputRange& read = model.inputs.back();
    if (!(read.lowest <= read.low && read.low <= read.high && read.high <= read.highest))
      range.complain("low", "and its neighbours are not in order");
    if (range.problem()) return invalid(*range.problem());
  }
  const int expected = model.networks.empty() ? 0 : model.networks.front().shape.inputs;
  if (model.inputs.size() != static_cast<std::size_t>(expected))
    return invalid("model header: inputs has " + std::to_string(model.inputs.size()) +
                   " ranges, its first network " + std::to_string(expected) + " inputs");
  return {};
}

Result<Model> read_header(const Json& header) {
  HeaderReader reader(header);
  Model model;
  model.encoding = reader.text("encoding");
  model.recipe = reader.text("recipe");
  for (const Json& world : reader.list("training_worlds")) {
    if (!world.is_string())
      return invalid("model header: training_worlds holds " + world.dump() + ", expected texts");
    model.training_worlds.push_back(world.get<std::string>());
  }
  for (const auto& [name, figure] : reader.object("figures").items()) {
    if (!figure.is_number()) return invalid("model header: figures." + name + " is not a number");
    model.figures[name] = figure.get<double>();
  }
  for (const Json& entry : reader.list("normalisation")) {
    HeaderReader range(entry, "normalisation[" + std::to_string(model.normalisation.size()) + "].");
    model.normalisation.push_back({range.text("feature"), range.number("low"), range.number("high")});
    const FeatureRange& read = model.normalisation.back();
    if (!(read.low < read.high)) range.complain("low", "is not below high");
    if (range.problem()) return invalid(*range.problem());
  }
  for (const Json& entry : reader.list("networks")) {
    Result<ModelNetwork> network = read_network(entry, model.networks.size());
    if (!network) return network.error();
    if (model.find(network->name))
      return invalid("model header: two networks are named '" + network->name + "'");
    model.networks.push_back(*std::move(network));
  }
  if (reader.problem()) return invalid(*reader.problem());
  if (const auto inputs = header.find("inputs"); inputs != header.end())
    if (const Status read = read_inputs(*inputs, model); !read) return read.error();
  return model;
}

struct FirstLine {
  int version = 0;
  std::size_t header_bytes = 0, parameters = 0;
  std::string_view checksum, rest;
};

Result<FirstLine> read_first_line(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return invalid("not a model: it does not begin with 'evenkeel-model'");
  const std::size_t end = bytes.substr(0, 128).find('\n');
  const std::string_view line = bytes.substr(0, end == std::string_view::npos ? 0 : end);
  FirstLine first;
  const char *at = bytes.data() + kMagic.size(), *const stop = line.data() + line.size();
  const auto number = [&](auto& into) {
    if (at >= stop) return false;
    const auto [next, error] = std::from_chars(at, stop, into);
    const bool good = error == std::errc{} && next > at;
    at = next < stop && *next == ' ' ? next + 1 : next;
    return good;
  };
  if (!number(first.version)) return invalid("model: its first line is damaged or cut short");
  // Before anything else: what a newer version's first line says after its number is not ours to judge.
  if (first.version != Model::kVersion)
    return invalid("model: file version " + std::to_string(first.version) + ", this program reads version " +
                   std::to_string(Model::kVersion));
  if (!number(first.header_bytes) || !number(first.parameters) || stop - at != 8)
    return invalid("model: its first line is damaged or cut short");
  first.checksum = {at, 8};
  first.rest = bytes.substr(end + 1);
  return first;
}

}  // namespace

const ModelNetwork* Model::find(std::string_view name) const {
  for (const ModelNetwork& network : networks)
    if (network.name == name) return &network;
  return nullptr;
}

Status check_weights(const Model& model) {
  for (const ModelNetwork& network : model.networks) {
    const std::size_t count = parameter_count(network.shape);
    if (network.parameters.size() != count)
      return invalid("model: network '" + network.name + "' needs " + std::to_string(count) +
                     " parameters, it has " + std::to_string(network.parameters.size()));
    for (std::size_t i = 0; i < count; ++i)
      if (!std::isfinite(network.parameters[i]))
        return invalid("model: parameter " + std::to_string(i) + " of network '" + network.name +
                       "' is not a finite number");
  }
  return {};
}

std::string serialise(const Model& model) {
  // Text that is not UTF-8 is replaced rather than refused: a model is worth more than a comment in its
  // recipe.
  std::string body = header_of(model).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const std::size_t header_bytes = body.size();
  std::size_t count = 0;
  for (const ModelNetwork& network : model.networks) {
    EVENKEEL_CHECK(network.parameters.size() == parameter_count(network.shape));
    body.append(reinterpret_cast<const char*>(network.parameters.data()),
                network.parameters.size() * sizeof(Real));
    count += network.parameters.size();
  }
  return std::string(kMagic) + std::to_string(Model::kVersion) + " " + std::to_string(header_bytes) + " " +
         std::to_string(count) + " " + checksum_text(checksum(body)) + "\n" + body;
}

Result<Model> parse_model(std::string_view bytes) {
  const Result<FirstLine> first = read_first_line(bytes);
  if (!first) return first.error();
  const std::size_t size = first->rest.size();
  // Divided rather than multiplied: a damaged count must not overflow into a right one.
  if (first->header_bytes > size || (size - first->header_bytes) / sizeof(Real) != first->parameters ||
      (size - first->header_bytes) % sizeof(Real) != 0)
    return invalid("model: " + std::to_string(size) + " bytes follow its first line, which promises " +
                   std::to_string(first->header_bytes) + " and " + std::to_string(first->parameters) +
                   " parameters of 8: cut short or damaged");
  if (const std::string sum = checksum_text(checksum(first->rest)); sum != first->checksum)
    return invalid("model: checksum " + sum + ", its first line says " + std::string(first->checksum) +
                   ": damaged");

  const Json header = Json::parse(first->rest.substr(0, first->header_bytes), nullptr, false);
  if (header.is_discarded()) return invalid("model header: not JSON");
  Result<Model> model = read_header(header);
  if (!model) return model;

  std::string_view left = first->rest.substr(first->header_bytes);
  for (ModelNetwork& network : model->networks) {
    const std::size_t count = parameter_count(network.shape);
    if (left.size() / sizeof(Real) < count)
      return invalid("model: network '" + network.name + "' needs " + std::to_string(count) +
                     " parameters, the file has " + std::to_string(left.size() / sizeof(Real)) + " left");
    network.parameters.resize(count);
    std::memcpy(network.parameters.data(), left.data(), count * sizeof(Real));
    left.remove_prefix(count * sizeof(Real));
  }
  if (!left.empty())
    return invalid("model: " + std::to_string(left.size() / sizeof(Real)) +
                   " parameters belong to no network");
  if (const Status sound = check_weights(*model); !sound) return sound.error();
  return model;
}

Result<Model> parse_model(std::string_view bytes, std::string_view expected_encoding) {
  Result<Model> model = parse_model(bytes);
  if (model && model->encoding != expected_encoding)
    return invalid("model: made for encoding '" + model->encoding + "', this policy's is '" +
                   std::string(expected_encoding) + "'");
  return model;
}

}  // namespace evenkeel::learning
