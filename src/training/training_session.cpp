#include "training/training_session.h"

#include <boost/crc.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace evenkeel::training {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMagic = "evenkeel-checkpoint ";
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string checksum(std::string_view bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  char text[9];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(crc.checksum()));
  return text;
}

Json curve_json(const LearningCurve& curve) {
  Json lines = Json::array();  // what is not finite becomes null
  for (const LearningCurve::Line& line : curve.lines())
    lines.push_back({{"name", line.name}, {"values", line.values}});
  return lines;
}

Json header_of(const TrainingSession& session) {
  const TrainingIdentity& identity = session.identity();
  return {{"recipe", identity.recipe},
          {"seed", identity.seed},
          {"scenarios", identity.scenarios},
          {"done", session.done()},
          {"steps", session.steps()},
          {"text", identity.text},
          {"curve", curve_json(session.curve())}};
}

struct Parts {
  Json header;
  std::string_view state;
};

Result<Parts> split(std::string_view bytes) {
  const auto damaged = [](const std::string& what) { return invalid("checkpoint: " + what); };
  if (!bytes.starts_with(kMagic)) return damaged("it does not begin with 'evenkeel-checkpoint'");
  const std::size_t end = bytes.substr(0, 128).find('\n');
  if (end == std::string_view::npos) return damaged("its first line is cut short");
  const std::string line(bytes.substr(kMagic.size(), end - kMagic.size()));
  int version = 0;
  unsigned long long header_bytes = 0, state_bytes = 0;
  char sum[9] = {};
  const int read = std::sscanf(line.c_str(), "%d %llu %llu %8s", &version, &header_bytes, &state_bytes, sum);
  if (read >= 1 && version != TrainingSession::kVersion)
    return damaged("file version " + std::to_string(version) + ", this program reads version " +
                   std::to_string(TrainingSession::kVersion));
  if (read != 4) return damaged("its first line is damaged");
  const std::string_view rest = bytes.substr(end + 1);
  if (header_bytes > rest.size() || rest.size() - header_bytes != state_bytes)
    return damaged(std::to_string(rest.size()) + " bytes follow its first line, which promises " +
                   std::to_string(header_bytes) + " and " + std::to_string(state_bytes) +
                   ": cut short or damaged");
  if (checksum(rest) != sum)
    return damaged("checksum " + checksum(rest) + ", its first line says " + sum + ": damaged");
  Json header = Json::parse(rest.substr(0, header_bytes), nullptr, false);
  if (header.is_discarded()) return damaged("its header is not JSON");
  return Parts{std::move(header), rest.substr(header_bytes)};
}

Result<TrainingIdentity> identity_of(const Json& header) {
  // The checksum held, so this is a file of ours; nlohmann throws where it is not.
  try {
    return TrainingIdentity{header.at("recipe"), header.at("text"), header.at("seed"),
                            header.at("scenarios")};
  } catch (const Json::exception& error) {
    return invalid(std::string("checkpoint header: ") + error.what());
  }
}

Result<LearningCurve> curve_of(const Json& header) {
  try {
    const Json& lines = header.at("curve");
    LearningCurve curve;
    const std::size_t steps = header.at("done");
    for (std::size_t i = 0; i < steps; ++i) {
      CurvePoint point;
      for (const Json& line : lines) {
        const Json& value = line.at("values").at(i);
        point.push_back({line.at("name"), value.is_null() ? kNone : value.get<double>()});
      }
      curve.add(point);
    }
    return curve;
  } catch (const Json::exception& error) {
    return invalid(std::string("checkpoint header: ") + error.what());
  }
}

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "the recipe's own worlds" : text;
}

Status same(const TrainingIdentity& theirs, const TrainingIdentity& ours) {
  const std::string whose =
      "checkpoint of recipe '" + theirs.recipe + "' with seed " + std::to_string(theirs.seed);
  if (theirs.recipe != ours.recipe)
    return invalid(whose + ": this training is of recipe '" + ours.recipe + "'");
  if (theirs.seed != ours.seed)
    return invalid(whose + ": this training has seed " + std::to_string(ours.seed));
  if (theirs.scenarios != ours.scenarios)
    return invalid(whose + " in " + list(theirs.scenarios) + ": this training is in " + list(ours.scenarios));
  if (theirs.text != ours.text)
    return invalid(whose + ": the recipe or a --set has changed since it was written");
  return {};
}

}  // namespace

void LearningCurve::add(const CurvePoint& point) {
  for (const Metric& metric : point) {
    auto line = lines_.begin();
    while (line != lines_.end() && line->name != metric.name) ++line;
    if (line == lines_.end()) line = lines_.insert(line, {metric.name, std::vector<double>(steps_, kNone)});
    if (line->values.size() == steps_) line->values.push_back(metric.value);
  }
  ++steps_;
  for (Line& line : lines_) line.values.resize(steps_, kNone);
}

double LearningCurve::last(const Line& line) {
  for (std::size_t i = line.values.size(); i-- > 0;)
    if (std::isfinite(line.values[i])) return line.values[i];
  return kNone;
}

TrainingSession::TrainingSession(Training training, TrainingIdentity identity)
    : training_(std::move(training)), identity_(std::move(identity)) {}

void TrainingSession::advance() {
  EVENKEEL_CHECK(!finished());
  const std::size_t before = done();
  curve_.add(training_.trainer->advance());
  EVENKEEL_CHECK(done() == before + 1);
}

std::string TrainingSession::checkpoint() const {
  std::string body = header_of(*this).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const std::size_t header_bytes = body.size();
  body += training_.trainer->state();
  return std::string(kMagic) + std::to_string(kVersion) + " " + std::to_string(header_bytes) + " " +
         std::to_string(body.size() - header_bytes) + " " + checksum(body) + "\n" + body;
}

Status TrainingSession::resume(std::string_view checkpoint) {
  const Result<Parts> parts = split(checkpoint);
  if (!parts) return parts.error();
  const Result<TrainingIdentity> theirs = identity_of(parts->header);
  if (!theirs) return theirs.error();
  if (const Status fits = same(*theirs, identity_); !fits) return fits;
  Result<LearningCurve> curve = curve_of(parts->header);
  if (!curve) return curve.error();
  if (const Status restored = training_.trainer->restore(parts->state); !restored)
    return invalid("checkpoint: " + restored.error().message);
  if (done() != curve->steps())
    return invalid("checkpoint: its header says " + std::to_string(curve->steps()) + " steps, its state " +
                   std::to_string(done()));
  curve_ = *std::move(curve);
  return {};
}

Result<learning::Model> TrainingSession::model() const {
  learning::Model model = training_.trainer->model();
  model.recipe = identity_.text;
  if (model.training_worlds.empty()) model.training_worlds = identity_.scenarios;
  // Reading it back is the test every user's copy will have to pass.
  Result<learning::Model> checked = learning::parse_model(learning::serialise(model));
  if (!checked) return invalid("the training came to no usable model: " + checked.error().message);
  return checked;
}

}  // namespace evenkeel::training
