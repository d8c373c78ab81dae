#pragma once
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace evenkeel {

// What compares equal keeps its order. The library's own stable_sort calls what C++17 deprecates, which
// clang-tidy takes for ours where it sorts types of ours.
template <class T, class Less>
void sort_stably(std::vector<T>& items, const Less& less) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (less(items[a], items[b])) return true;
    return !less(items[b], items[a]) && a < b;
  });
  std::vector<T> sorted;
  sorted.reserve(items.size());
  for (const std::size_t at : order) sorted.push_back(std::move(items[at]));
  items = std::move(sorted);
}

}  // namespace evenkeel
