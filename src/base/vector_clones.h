#pragma once
#include <cstring>

// Before a function of plain loops: it is compiled for wider vector units too, and the one
// that fits the machine is chosen when the program starts. Results are the same bit for
// bit (-ffp-contract=off). Not under sanitizers, whose run-time is not up that early.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define EVENKEEL_VECTOR_CLONES [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define EVENKEEL_VECTOR_CLONES
#endif

namespace evenkeel {

// Small vectors in the compiler's own notation, for the few loops it cannot work out by
// itself. They run everywhere, in as many steps as the machine needs.
using Floats16 [[gnu::vector_size(64)]] = float;

template <class Vector>
inline void load(Vector& into, const void* from) {
  std::memcpy(&into, from, sizeof(Vector));
}

}  // namespace evenkeel
