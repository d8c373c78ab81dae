// HiGHS (MIT licence), the solver of mixed-integer programs, found when it is asked for: the program starts
// and does everything else where it is absent (ADR 0011).
//
// Looked for in this order, and the first that is there is taken:
//   $EVENKEEL_HIGHS            a file
//   beside the program         libhighs.so.1
//   the tree it was built in   .cache/highs, where tools/bootstrap puts it
//   the system                 libhighs.so.1, libhighs.so
#pragma once
#include <memory>
#include <string>

#include "base/mixed_program.h"

namespace evenkeel::solver {

struct HighsFunctions;

class Highs {
 public:
  // unavailable: there is none, and the message says how to get one; or it is not the one we know.
  static Result<Highs> open();
  static Result<Highs> open_file(const std::string& file);

  // One thread, the same answer every time that the limit is not reached.
  Result<MixedAnswer> solve(const MixedProgram& program, const MixedLimits& limits = {}) const;

  const std::string& version() const { return version_; }
  const std::string& file() const { return file_; }
  MixedSolver solver() const {
    return [self = *this](const MixedProgram& program, const MixedLimits& limits) {
      return self.solve(program, limits);
    };
  }

 private:
  std::shared_ptr<const HighsFunctions> functions_;
  std::string file_, version_;
};

}  // namespace evenkeel::solver
