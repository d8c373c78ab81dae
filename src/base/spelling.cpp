#include "base/spelling.h"

#include <algorithm>
#include <vector>

namespace evenkeel {
namespace {

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

constexpr std::size_t kLongestWord = 64;  // nobody misspells more, and the distance is quadratic

}  // namespace

std::string_view nearest_spelling(std::string_view written, std::span<const std::string_view> candidates) {
  if (written.size() > kLongestWord) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, written.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongestWord) continue;
    const std::size_t distance = edit_distance(written, candidate);
    if (distance >= best_distance || distance >= candidate.size()) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string did_you_mean(std::string_view written, std::span<const std::string_view> candidates) {
  const std::string_view nearest = nearest_spelling(written, candidates);
  if (nearest.empty()) return {};
  return "; did you mean '" + std::string(nearest) + "'?";
}

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

}  // namespace evenkeel
