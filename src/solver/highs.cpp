#include "solver/highs.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "solver/highs_library.h"

namespace evenkeel::solver {
namespace {

// Constants of its C interface.
constexpr HighsInt kFailed = -1, kByRow = 2, kMinimise = 1, kOptimal = 7, kInfeasible = 8,
                   kUnboundedOrInfeasible = 9, kEmpty = 6, kHasSolution = 2, kProgressCallback = 5;

HighsInt kind_of(MixedProgram::Kind kind) {
  switch (kind) {
    case MixedProgram::Kind::continuous:
      return 0;
    case MixedProgram::Kind::integer:
      return 1;
    case MixedProgram::Kind::implied:
      return 4;
  }
  return 0;
}

// Where to look, in order: (file, whether it has to be there to be tried).
std::vector<std::string> candidates() {
  std::vector<std::string> files;
  const auto if_there = [&](const std::filesystem::path& file) {
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) files.push_back(file.string());
  };
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!program.empty()) if_there(program.parent_path() / "libhighs.so.1");
#ifdef EVENKEEL_HIGHS_BUILD_PATH
  if_there(EVENKEEL_HIGHS_BUILD_PATH);
#endif
  files.insert(files.end(), {"libhighs.so.1", "libhighs.so"});
  return files;
}

void report(const HighsFunctions& highs, const MixedLimits& limits, const void* out) {
  const auto number = [&](const char* name) {
    const void* item = highs.callback_item(out, name);
    return item ? *static_cast<const double*>(item) : std::nan("");
  };
  limits.progress({number("running_time"), number("mip_primal_bound"), number("mip_dual_bound")});
}

struct Reporter {
  const HighsFunctions* highs;
  const MixedLimits* limits;
};

void on_callback(HighsInt kind, const char*, const void* out, void*, void* own) {
  const auto* reporter = static_cast<const Reporter*>(own);
  if (kind == kProgressCallback && out) report(*reporter->highs, *reporter->limits, out);
}

// Objectives that differ by less than a step are the same: the search may stop there.
double tolerated_gap(const MixedProgram& program) { return program.step > 0 ? 0.999 * program.step : 1e-6; }

// What nothing can be below, rounded up to an objective that can be.
double rounded_bound(const MixedProgram& program, double bound) {
  if (program.step <= 0 || !std::isfinite(bound)) return bound;
  const double steps = (bound - program.offset) / program.step;
  return std::ceil(steps - 1e-6) * program.step + program.offset;
}

}  // namespace

Result<Highs> Highs::open_file(const std::string& file) {
  const Result<HighsFunctions> loaded = load_highs(file);
  if (!loaded) return loaded.error();
  void* probe = loaded->create();
  const HighsInt width = probe ? loaded->width(probe) : 0;
  if (probe) loaded->destroy(probe);
  if (width != static_cast<HighsInt>(sizeof(HighsInt)))
    return unavailable(file + ": its integers have " + std::to_string(8 * width) + " bits, not 32");
  Highs highs;
  highs.functions_ = std::make_shared<const HighsFunctions>(*loaded);
  highs.file_ = file;
  highs.version_ = loaded->version();
  return highs;
}

Result<Highs> Highs::open() {
  // Whoever names one means that one.
  if (const char* named = std::getenv("EVENKEEL_HIGHS"); named && *named) return open_file(named);
  for (const std::string& file : candidates())
    if (Result<Highs> highs = open_file(file)) return highs;
  return unavailable(
      "the solver HiGHS is not here: tools/bootstrap fetches it for the tree it is in; elsewhere, "
      "`pip download --no-deps highspy==1.15.1`, unzip it, and put its libhighs.so.1 beside the program or "
      "its "
      "path into EVENKEEL_HIGHS");
}

Result<MixedAnswer> Highs::solve(const MixedProgram& program, const MixedLimits& limits) const {
  const HighsFunctions& call = *functions_;
  const std::unique_ptr<void, void (*)(void*)> owner(call.create(), call.destroy);
  void* highs = owner.get();
  if (!highs) return unavailable("HiGHS could not be started");
  call.set_bool(highs, "output_flag", 0);
  call.set_int(highs, "threads", 1);
  call.set_double(highs, "mip_rel_gap", 0);
  call.set_double(highs, "mip_abs_gap", tolerated_gap(program));
  if (std::isfinite(limits.seconds)) call.set_double(highs, "time_limit", std::max(0.0, limits.seconds));
  std::vector<HighsInt> kinds;
  kinds.reserve(program.columns());
  for (const MixedProgram::Kind kind : program.kind) kinds.push_back(kind_of(kind));
  const HighsInt passed = call.pass(
      highs, static_cast<HighsInt>(program.columns()), static_cast<HighsInt>(program.rows()),
      static_cast<HighsInt>(program.column.size()), kByRow, kMinimise, program.offset, program.cost.data(),
      program.lower.data(), program.upper.data(), program.row_lower.data(), program.row_upper.data(),
      program.row_start.data(), program.column.data(), program.factor.data(), kinds.data());
  if (passed == kFailed) return unavailable("HiGHS refused the program");
  if (!limits.start.empty())
    call.set_solution(highs, limits.start.data(), nullptr, nullptr, nullptr);  // refused: it starts without
  Reporter reporter{&call, &limits};
  if (limits.progress) {
    call.set_callback(highs, on_callback, &reporter);
    call.start_callback(highs, kProgressCallback);
  }
  const auto began = std::chrono::steady_clock::now();
  if (call.run(highs) == kFailed) return unavailable("HiGHS failed on the program");

  MixedAnswer answer;
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  call.get_int64(highs, "mip_node_count", &answer.branches);
  const HighsInt status = call.model_status(highs);
  if (status == kInfeasible || status == kUnboundedOrInfeasible) {
    answer.verdict = MixedAnswer::Verdict::infeasible;
    return answer;
  }
  HighsInt found = 0;
  call.get_int(highs, "primal_solution_status", &found);
  call.get_double(highs, "mip_dual_bound", &answer.bound);
  answer.bound = rounded_bound(program, answer.bound);
  if (status == kEmpty) {  // no columns: nothing to choose
    answer.verdict = MixedAnswer::Verdict::optimal;
    answer.objective = answer.bound = program.offset;
    return answer;
  }
  if (found != kHasSolution) return answer;
  answer.values.resize(program.columns());
  call.get_solution(highs, answer.values.data(), nullptr, nullptr, nullptr);
  call.get_double(highs, "objective_function_value", &answer.objective);
  const bool proven = status == kOptimal;
  answer.verdict = proven ? MixedAnswer::Verdict::optimal : MixedAnswer::Verdict::feasible;
  if (proven) answer.bound = answer.objective;
  return answer;
}

}  // namespace evenkeel::solver
