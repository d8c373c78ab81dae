// A mixed-integer linear program as data, and an answer to one: what the code that states a question
// (optimum/) and the code that has a solver answer it (solver/) both speak of.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "base/result.h"

namespace evenkeel {

// Minimise cost * x + offset, with row_lower <= rows * x <= row_upper and lower <= x <= upper.
struct MixedProgram {
  static constexpr double kInfinite = std::numeric_limits<double>::infinity();
  enum class Kind : std::uint8_t {
    continuous,
    integer,
    implied,  // comes out whole wherever the integers are: no need to branch on it
  };
  struct Term {
    std::uint32_t column = 0;
    double factor = 0;
  };

  std::vector<double> cost, lower, upper;
  std::vector<Kind> kind;
  double offset = 0;
  std::vector<double> row_lower, row_upper;
  std::vector<std::int32_t> row_start;  // of each row's terms
  std::vector<std::int32_t> column;     // of each term
  std::vector<double> factor;
  // Every objective that can be reached is a multiple of it from the next; 0: nothing is known.
  double step = 0;

  std::uint32_t columns() const { return static_cast<std::uint32_t>(cost.size()); }
  std::uint32_t rows() const { return static_cast<std::uint32_t>(row_lower.size()); }

  struct Range {
    double least = 0, most = kInfinite;
  };
  std::uint32_t add_column(Range range, Kind what, double price = 0) {
    cost.push_back(price);
    lower.push_back(range.least);
    upper.push_back(range.most);
    kind.push_back(what);
    return columns() - 1;
  }
  std::uint32_t add_row(Range range, std::span<const Term> terms) {
    row_lower.push_back(range.least);
    row_upper.push_back(range.most);
    row_start.push_back(static_cast<std::int32_t>(column.size()));
    for (const Term& term : terms) {
      column.push_back(static_cast<std::int32_t>(term.column));
      factor.push_back(term.factor);
    }
    return rows() - 1;
  }
};

struct MixedAnswer {
  enum class Verdict {
    optimal,     // nothing is better than `values`
    feasible,    // the time was up: `values` are the best so far, `bound` what nothing can be below
    infeasible,  // there is no answer
    unknown,     // the time was up and nothing was found
  };
  Verdict verdict = Verdict::unknown;
  std::vector<double> values;  // by column; empty: none found
  double objective = 0;
  double bound = -MixedProgram::kInfinite;
  double seconds = 0;
  std::int64_t branches = 0;  // nodes of the search
};

struct MixedProgress {
  double seconds = 0, objective = 0, bound = 0;
};

struct MixedLimits {
  double seconds = MixedProgram::kInfinite;
  std::vector<double> start;  // by column: an answer to begin with; empty: none
  std::function<void(const MixedProgress&)> progress;
};

// Whoever solves. What fails is the solver, never the program: that there is no answer is one.
using MixedSolver = std::function<Result<MixedAnswer>(const MixedProgram&, const MixedLimits&)>;

}  // namespace evenkeel
