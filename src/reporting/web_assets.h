#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::reporting {

// The built dashboard, one self-contained HTML file: DashboardServer::Options::page.
std::string_view dashboard_page();

// Custom properties of the light and the dark scheme. Every series colour has at least 3:1 against its
// background, and lines differ in dash as well, so nothing rests on hue alone.
std::string_view palette_css();

inline constexpr int kSeriesColours = 8;

// A policy keeps one colour everywhere: the well-known ones have theirs, the others take the free slots in
// the order given. The slot is an index into the --series-N variables of palette_css().
std::vector<int> colour_slots(std::span<const std::string> policies);

// The stroke-dasharray that goes with a slot; empty for a solid line.
std::string_view dash_of_slot(int slot);

}  // namespace evenkeel::reporting
