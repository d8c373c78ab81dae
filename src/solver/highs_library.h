// The part of HiGHS's C interface we use, by name. Declared here rather than taken from its headers, which no
// package on PyPI has compiled code beside: the C interface has kept these since 1.0, and opening checks what
// could differ, the major version and the width of its integers.
#pragma once
#include <cstdint>
#include <string>

#include "base/result.h"

namespace evenkeel::solver {

using HighsInt = std::int32_t;

// Called while it runs; what it says is asked for by name.
using HighsCallback = void (*)(HighsInt kind, const char* message, const void* out, void* in, void* own);

struct HighsFunctions {
  void* (*create)() = nullptr;
  void (*destroy)(void*) = nullptr;
  const char* (*version)() = nullptr;
  HighsInt (*major_version)() = nullptr;
  HighsInt (*width)(const void*) = nullptr;
  HighsInt (*set_bool)(void*, const char*, HighsInt) = nullptr;
  HighsInt (*set_int)(void*, const char*, HighsInt) = nullptr;
  HighsInt (*set_double)(void*, const char*, double) = nullptr;
  HighsInt (*pass)(void*, HighsInt columns, HighsInt rows, HighsInt terms, HighsInt format, HighsInt sense,
                   double offset, const double* cost, const double* lower, const double* upper,
                   const double* row_lower, const double* row_upper, const HighsInt* start,
                   const HighsInt* index, const double* value, const HighsInt* kinds) = nullptr;
  HighsInt (*set_solution)(void*, const double* columns, const double* rows, const double* column_duals,
                           const double* row_duals) = nullptr;
  HighsInt (*run)(void*) = nullptr;
  HighsInt (*model_status)(const void*) = nullptr;
  HighsInt (*get_solution)(const void*, double* columns, double* column_duals, double* rows,
                           double* row_duals) = nullptr;
  HighsInt (*get_double)(const void*, const char*, double*) = nullptr;
  HighsInt (*get_int64)(const void*, const char*, std::int64_t*) = nullptr;
  HighsInt (*get_int)(const void*, const char*, HighsInt*) = nullptr;
  HighsInt (*set_callback)(void*, HighsCallback, void* own) = nullptr;
  HighsInt (*start_callback)(void*, HighsInt kind) = nullptr;
  const void* (*callback_item)(const void* out, const char* name) = nullptr;
};

// Opens the file and leaves it open: its threads and tables end with the program.
Result<HighsFunctions> load_highs(const std::string& file);

}  // namespace evenkeel::solver
