#include "scheduling/node_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "base/vector_clones.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace evenkeel::scheduling {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();
constexpr std::size_t kLanes = 16;

}  // namespace

namespace plain {

EVENKEEL_VECTOR_CLONES
void clear_unfit(const FitColumns& c, double cpu, double memory, std::size_t from, std::size_t n,
                 std::uint8_t* feasible) {
  for (std::size_t i = from; i < n; ++i) {
    const bool fits = (cpu <= c.free_cpu[i]) & (memory <= c.free_memory[i]) & (c.free_pods[i] >= 1);
    feasible[i] = static_cast<std::uint8_t>(feasible[i] & fits);
  }
}

EVENKEEL_VECTOR_CLONES
float highest_score(const float* scores, const std::uint8_t* feasible, std::size_t from, std::size_t n) {
  std::array<float, kLanes> best;
  best.fill(kNone);
  std::size_t i = from;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float score = feasible[i + lane] ? scores[i + lane] : kNone;
      best[lane] = score > best[lane] ? score : best[lane];
    }
  }
  for (; i < n; ++i)
    if (feasible[i]) best[0] = std::max(best[0], scores[i]);
  return *std::max_element(best.begin(), best.end());
}

EVENKEEL_VECTOR_CLONES
std::size_t count_equal(const float* scores, const std::uint8_t* feasible, std::size_t from, std::size_t n,
                        float wanted) {
  std::uint32_t count = 0;
  for (std::size_t i = from; i < n; ++i)
    count += static_cast<std::uint32_t>(feasible[i] != 0) & static_cast<std::uint32_t>(scores[i] == wanted);
  return count;
}

}  // namespace plain

namespace {

// How far from the start the functions below get: whole vectors. 0 on other machines.
std::size_t by_vectors(std::size_t n) {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return has ? n / kLanes * kLanes : 0;
#else
  return n * 0;
#endif
}

#if defined(__x86_64__)

#define EVENKEEL_AVX512 [[gnu::target("avx512f,avx512bw,avx512vl")]]

EVENKEEL_AVX512
__mmask16 open_nodes(const std::uint8_t* feasible) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(feasible));
  return _mm_test_epi8_mask(bytes, bytes);
}

EVENKEEL_AVX512
void clear_unfit_avx512(const FitColumns& c, double cpu, double memory, std::size_t n,
                        std::uint8_t* feasible) {
  const __m512d more_cpu = _mm512_set1_pd(cpu), more_memory = _mm512_set1_pd(memory);
  const __m128i ones = _mm_set1_epi8(1);
  for (std::size_t i = 0; i < n; i += kLanes) {
    __mmask8 fits[2];
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t at = i + half * 8;
      fits[half] = _mm512_cmp_pd_mask(more_cpu, _mm512_loadu_pd(c.free_cpu + at), _CMP_LE_OQ);
      fits[half] =
          _mm512_mask_cmp_pd_mask(fits[half], more_memory, _mm512_loadu_pd(c.free_memory + at), _CMP_LE_OQ);
    }
    const __mmask16 all = _mm512_mask_cmp_ps_mask(
        _mm512_kunpackb(fits[1], fits[0]), _mm512_loadu_ps(c.free_pods + i), _mm512_set1_ps(1), _CMP_GE_OQ);
    const __mmask16 left = all & open_nodes(feasible + i);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(feasible + i), _mm_maskz_mov_epi8(left, ones));
  }
}

EVENKEEL_AVX512
float highest_avx512(const float* scores, const std::uint8_t* feasible, std::size_t n) {
  __m512 even = _mm512_set1_ps(kNone), odd = even;  // side by side: one would wait for itself
  std::size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    even = _mm512_mask_max_ps(even, open_nodes(feasible + i), even, _mm512_loadu_ps(scores + i));
    odd =
        _mm512_mask_max_ps(odd, open_nodes(feasible + i + kLanes), odd, _mm512_loadu_ps(scores + i + kLanes));
  }
  if (i < n) even = _mm512_mask_max_ps(even, open_nodes(feasible + i), even, _mm512_loadu_ps(scores + i));
  std::array<float, 2 * kLanes> best;  // g++ 12 warns wrongly of the instructions that would reduce it
  _mm512_storeu_ps(best.data(), even);
  _mm512_storeu_ps(best.data() + kLanes, odd);
  return *std::max_element(best.begin(), best.end());
}

EVENKEEL_AVX512
std::size_t count_equal_avx512(const float* scores, const std::uint8_t* feasible, std::size_t n,
                               float wanted) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; i += kLanes)
    count += static_cast<std::size_t>(std::popcount(_mm512_mask_cmp_ps_mask(
        open_nodes(feasible + i), _mm512_loadu_ps(scores + i), _mm512_set1_ps(wanted), _CMP_EQ_OQ)));
  return count;
}

#undef EVENKEEL_AVX512

#else

void clear_unfit_avx512(const FitColumns&, double, double, std::size_t, std::uint8_t*) {}
float highest_avx512(const float*, const std::uint8_t*, std::size_t) { return kNone; }
std::size_t count_equal_avx512(const float*, const std::uint8_t*, std::size_t, float) { return 0; }

#endif

}  // namespace

void clear_unfit(const FitColumns& columns, double cpu, double memory, std::size_t n,
                 std::uint8_t* feasible) {
  const std::size_t done = by_vectors(n);
  if (done > 0) clear_unfit_avx512(columns, cpu, memory, done, feasible);
  if (done < n) plain::clear_unfit(columns, cpu, memory, done, n, feasible);
}

float highest_score(const float* scores, const std::uint8_t* feasible, std::size_t n) {
  const std::size_t done = by_vectors(n);
  const float top = done > 0 ? highest_avx512(scores, feasible, done) : kNone;
  return done < n ? std::max(top, plain::highest_score(scores, feasible, done, n)) : top;
}

std::size_t count_equal(const float* scores, const std::uint8_t* feasible, std::size_t n, float wanted) {
  const std::size_t done = by_vectors(n);
  const std::size_t count = done > 0 ? count_equal_avx512(scores, feasible, done, wanted) : 0;
  return done < n ? count + plain::count_equal(scores, feasible, done, n, wanted) : count;
}

EVENKEEL_VECTOR_CLONES
std::size_t count_set(const std::uint8_t* flags, std::size_t n) {
  std::size_t count = 0;
  for (std::size_t from = 0; from < n; from += 128) {  // blocks whose sum a byte can hold
    const std::size_t to = from + 128 < n ? from + 128 : n;
    std::uint8_t block = 0;
    for (std::size_t i = from; i < to; ++i) block = static_cast<std::uint8_t>(block + flags[i]);
    count += block;
  }
  return count;
}

EVENKEEL_VECTOR_CLONES
ScoreSpan span_of_scores(const float* scores, const std::uint8_t* marked, std::size_t n) {
  std::array<float, kLanes> low, high;
  low.fill(-kNone);
  high.fill(kNone);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float least = marked[i + lane] ? scores[i + lane] : -kNone;
      const float most = marked[i + lane] ? scores[i + lane] : kNone;
      low[lane] = least < low[lane] ? least : low[lane];
      high[lane] = most > high[lane] ? most : high[lane];
    }
  }
  for (; i < n; ++i) {
    if (!marked[i]) continue;
    low[0] = std::min(low[0], scores[i]);
    high[0] = std::max(high[0], scores[i]);
  }
  return {*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end())};
}

EVENKEEL_VECTOR_CLONES
bool all_finite(const float* scores, std::size_t n) {
  constexpr float kMost = std::numeric_limits<float>::max();
  int odd = 0;
  for (std::size_t i = 0; i < n; ++i) odd |= ((scores[i] <= kMost) & (scores[i] >= -kMost)) ? 0 : 1;
  return odd == 0;
}

}  // namespace evenkeel::scheduling
