#pragma once
#include <cstddef>
#include <new>
#include <vector>

namespace evenkeel {

// Starts at a cache line, so that what a vector unit reads at once never lies across two.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  CacheLineAllocator() = default;
  template <class Other>
  explicit(false) CacheLineAllocator(const CacheLineAllocator<Other>&) {}

  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* at, std::size_t) { ::operator delete(at, kLine); }
  bool operator==(const CacheLineAllocator&) const = default;
};

// One number per node.
template <class T>
using Column = std::vector<T, CacheLineAllocator<T>>;

}  // namespace evenkeel
