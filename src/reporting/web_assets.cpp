#include "reporting/web_assets.h"

#include <algorithm>
#include <array>
#include <utility>

#include "embedded/dashboard.h"

namespace evenkeel::reporting {
namespace {

// Those that appear in almost every comparison; the rest share slots 4 to 7.
constexpr std::array<std::pair<std::string_view, int>, 4> kWellKnown = {
    {{"kube-default", 0}, {"greedy", 1}, {"horizon", 2}, {"evenkeel", 3}}};
constexpr int kFirstFreeSlot = 4;

constexpr std::array<std::string_view, kSeriesColours> kDashes = {"",        "7 3", "", "2 3",
                                                                  "9 3 2 3", "4 2", "", "12 4"};

std::string_view embedded_text(std::string_view name) {
  for (const EmbeddedFile& file : embedded::dashboard::files()) {
    if (file.name == name) return file.text;
  }
  return {};
}

}  // namespace

std::vector<int> colour_slots(std::span<const std::string> policies) {
  std::vector<int> slots;
  slots.reserve(policies.size());
  int next = kFirstFreeSlot;
  for (const std::string& policy : policies) {
    const auto known = std::find_if(kWellKnown.begin(), kWellKnown.end(),
                                    [&](const auto& entry) { return entry.first == policy; });
    slots.push_back(known != kWellKnown.end() ? known->second : next);
    // More policies than colours: those without a slot of their own begin again, and labels tell them apart.
    if (known == kWellKnown.end()) next = next + 1 == kSeriesColours ? kFirstFreeSlot : next + 1;
  }
  return slots;
}

std::string_view palette_css() { return embedded_text("palette.css"); }

std::string_view dashboard_page() { return embedded_text("index.html"); }

std::string_view dash_of_slot(int slot) { return kDashes[static_cast<std::size_t>(slot) % kDashes.size()]; }

}  // namespace evenkeel::reporting
