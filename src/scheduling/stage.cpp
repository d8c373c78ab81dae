#include "scheduling/stage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace evenkeel::scheduling {
namespace {

constexpr std::array<std::string_view, 3> kNames{"shadow", "canary", "full"};

// FNV-1a, and a last stir: names that differ in their last letter alone must not lie side by side.
std::uint64_t hash_of(std::string_view name_space, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto mix = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  };
  mix(name_space);
  mix("/");
  mix(name);
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
  return hash ^ (hash >> 33);
}

}  // namespace

std::string_view name_of(Stage stage) { return kNames[static_cast<std::size_t>(stage)]; }

std::optional<Stage> stage_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Stage>(i);
  return std::nullopt;
}

std::string describe(const StageSettings& settings) {
  std::string text(name_of(settings.stage));
  if (settings.stage != Stage::canary) return text;
  const double percent = std::round(settings.share * 1000) / 10;
  std::string share = std::to_string(static_cast<int>(percent));
  if (const int tenths = static_cast<int>(std::round(percent * 10)) % 10; tenths != 0)
    share += "." + std::to_string(tenths);
  text += ", " + share + " % of pods";
  for (std::size_t i = 0; i < settings.namespaces.size(); ++i)
    text += (i > 0                             ? ", "
             : settings.namespaces.size() == 1 ? " and namespace "
                                               : " and namespaces ") +
            settings.namespaces[i];
  return text;
}

bool learned_decides(const StageSettings& settings, const Pod& pod) {
  if (settings.stage != Stage::canary) return settings.stage == Stage::full;
  const std::string& name_space = pod.shape->name_space;
  if (std::find(settings.namespaces.begin(), settings.namespaces.end(), name_space) !=
      settings.namespaces.end())
    return true;
  constexpr double kAll = 18446744073709551616.0;  // 2^64
  return static_cast<double>(hash_of(name_space, pod.name)) / kAll < settings.share;
}

}  // namespace evenkeel::scheduling
