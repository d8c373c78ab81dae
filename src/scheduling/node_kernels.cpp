#include "scheduling/node_kernels.h"

#include <cstring>
#include <limits>

#include "base/vector_clones.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace evenkeel::scheduling {
namespace plain {

void clear_unfit(const FitColumns& c, double cpu, double memory, std::size_t from, std::size_t n,
                 std::uint8_t* feasible) {
  for (std::size_t i = from; i < n; ++i) {
    const bool fits = c.cpu_used[i] + cpu <= c.cpu_has[i] && c.memory_used[i] + memory <= c.memory_has[i] &&
                      c.pods[i] < c.max_pods[i];
    if (!fits) feasible[i] = 0;
  }
}

float highest_score(const float* scores, const std::uint8_t* feasible, std::size_t from, std::size_t n) {
  float top = -std::numeric_limits<float>::infinity();
  for (std::size_t i = from; i < n; ++i)
    if (feasible[i] && scores[i] > top) top = scores[i];
  return top;
}

}  // namespace plain

namespace {

#if defined(__x86_64__)

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  return has;
}

[[gnu::target("avx2,bmi2")]]
std::size_t clear_unfit_avx2(const FitColumns& c, double cpu, double memory, std::size_t n, std::uint8_t* feasible) {
  const __m256d more_cpu = _mm256_set1_pd(cpu), more_memory = _mm256_set1_pd(memory);
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    unsigned fits = 0;
    for (std::size_t half = 0; half < 8; half += 4) {
      const std::size_t at = i + half;
      const __m256d cpu_fits = _mm256_cmp_pd(_mm256_add_pd(_mm256_loadu_pd(c.cpu_used + at), more_cpu),
                                             _mm256_loadu_pd(c.cpu_has + at), _CMP_LE_OQ);
      const __m256d memory_fits = _mm256_cmp_pd(_mm256_add_pd(_mm256_loadu_pd(c.memory_used + at), more_memory),
                                                _mm256_loadu_pd(c.memory_has + at), _CMP_LE_OQ);
      fits |= static_cast<unsigned>(_mm256_movemask_pd(_mm256_and_pd(cpu_fits, memory_fits))) << half;
    }
    fits &= static_cast<unsigned>(
        _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(c.pods + i), _mm256_loadu_ps(c.max_pods + i), _CMP_LT_OQ)));
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, feasible + i, 8);
    bytes &= _pdep_u64(fits, 0x0101010101010101ULL);  // a bit per node becomes a byte per node
    std::memcpy(feasible + i, &bytes, 8);
  }
  return i;
}

[[gnu::target("avx2")]]
float highest_avx2(const float* scores, const std::uint8_t* feasible, std::size_t n) {
  const __m256 none = _mm256_set1_ps(-std::numeric_limits<float>::infinity());
  __m256 best = none;
  for (std::size_t i = 0; i + 8 <= n; i += 8) {
    const __m256i open = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(feasible + i)));
    const __m256i closed = _mm256_cmpeq_epi32(open, _mm256_setzero_si256());
    best = _mm256_max_ps(best, _mm256_blendv_ps(_mm256_loadu_ps(scores + i), none, _mm256_castsi256_ps(closed)));
  }
  float lanes[8];
  _mm256_storeu_ps(lanes, best);
  float top = lanes[0];
  for (const float lane : lanes) top = lane > top ? lane : top;
  return top;
}

#endif

}  // namespace

void clear_unfit(const FitColumns& columns, double cpu, double memory, std::size_t n, std::uint8_t* feasible) {
  std::size_t done = 0;
#if defined(__x86_64__)
  if (has_avx2()) done = clear_unfit_avx2(columns, cpu, memory, n, feasible);
#endif
  plain::clear_unfit(columns, cpu, memory, done, n, feasible);
}

float highest_score(const float* scores, const std::uint8_t* feasible, std::size_t n) {
#if defined(__x86_64__)
  if (has_avx2() && n >= 8) {
    const float top = highest_avx2(scores, feasible, n);
    const float rest = plain::highest_score(scores, feasible, n / 8 * 8, n);
    return rest > top ? rest : top;
  }
#endif
  return plain::highest_score(scores, feasible, 0, n);
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
std::size_t count_equal(const float* scores, const std::uint8_t* feasible, std::size_t n, float wanted) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < n; ++i)
    count += static_cast<std::uint32_t>(feasible[i] != 0) & static_cast<std::uint32_t>(scores[i] == wanted);
  return count;
}

}  // namespace evenkeel::scheduling
