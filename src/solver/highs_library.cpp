#include "solver/highs_library.h"

#include <dlfcn.h>

namespace evenkeel::solver {
namespace {

constexpr HighsInt kMajorVersion = 1;

}  // namespace

Result<HighsFunctions> load_highs(const std::string& file) {
  // Local: its names and those of other libraries are no business of each other's.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    return unavailable(why ? why : file + ": cannot be opened");
  }
  HighsFunctions functions;
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    void* symbol = dlsym(library, name);
    if (!symbol && !missing) missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  find(functions.create, "Highs_create");
  find(functions.destroy, "Highs_destroy");
  find(functions.version, "Highs_version");
  find(functions.major_version, "Highs_versionMajor");
  find(functions.width, "Highs_getSizeofHighsInt");
  find(functions.set_bool, "Highs_setBoolOptionValue");
  find(functions.set_int, "Highs_setIntOptionValue");
  find(functions.set_double, "Highs_setDoubleOptionValue");
  find(functions.pass, "Highs_passMip");
  find(functions.set_solution, "Highs_setSolution");
  find(functions.run, "Highs_run");
  find(functions.model_status, "Highs_getModelStatus");
  find(functions.get_solution, "Highs_getSolution");
  find(functions.get_double, "Highs_getDoubleInfoValue");
  find(functions.get_int64, "Highs_getInt64InfoValue");
  find(functions.get_int, "Highs_getIntInfoValue");
  find(functions.set_callback, "Highs_setCallback");
  find(functions.start_callback, "Highs_startCallback");
  find(functions.callback_item, "Highs_getCallbackDataOutItem");
  if (missing) return unavailable(file + ": is no HiGHS of version 1.8 or later: it has no " + missing);
  if (functions.major_version() != kMajorVersion)
    return unavailable(file + ": is HiGHS " + functions.version() + ", and version 1 is what we know");
  return functions;
}

}  // namespace evenkeel::solver
