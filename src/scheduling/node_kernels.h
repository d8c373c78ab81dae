#pragma once
#include <cstddef>
#include <cstdint>

namespace evenkeel::scheduling {

// Walks over one byte or number per node, written for AVX-512 by hand, whose masks suit a
// byte per node. Each has a plain twin, used for what is left over and on other machines
// (there the compiler makes what it can of it), that gives the same answers
// (node_kernels_test.cpp).

struct FitColumns {
  const double *free_cpu, *free_memory;
  const float* free_pods;
};
// Clears the nodes on which cpu, memory or one more pod does not fit.
void clear_unfit(const FitColumns& columns, double cpu, double memory, std::size_t n, std::uint8_t* feasible);

// The highest score of a feasible node; minus infinity when there is none.
float highest_score(const float* scores, const std::uint8_t* feasible, std::size_t n);

// The lowest and highest score of the nodes that are marked; empty (low above high) when there are none.
struct ScoreSpan {
  float low, high;
};
ScoreSpan span_of_scores(const float* scores, const std::uint8_t* marked, std::size_t n);
bool all_finite(const float* scores, std::size_t n);

std::size_t count_set(const std::uint8_t* flags, std::size_t n);  // flags are 0 or 1
std::size_t count_equal(const float* scores, const std::uint8_t* feasible, std::size_t n, float wanted);

// The plain twins, from node `from` on.
namespace plain {
void clear_unfit(const FitColumns& columns, double cpu, double memory, std::size_t from, std::size_t n,
                 std::uint8_t* feasible);
float highest_score(const float* scores, const std::uint8_t* feasible, std::size_t from, std::size_t n);
std::size_t count_equal(const float* scores, const std::uint8_t* feasible, std::size_t from, std::size_t n,
                        float wanted);
}  // namespace plain

}  // namespace evenkeel::scheduling
