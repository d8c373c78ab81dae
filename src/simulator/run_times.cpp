#include "simulator/run_times.h"

#include <algorithm>
#include <map>

#include "base/csv_reader.h"
#include "simulator/scenario.h"

namespace evenkeel::simulator {
namespace {

double median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void last(App& app, double seconds) {
  double usual = 0;
  for (const AppPhase& phase : app.phases) usual += (phase.seconds.low + phase.seconds.high) / 2;
  for (AppPhase& phase : app.phases) {
    const double share = usual > 0 ? (phase.seconds.low + phase.seconds.high) / 2 / usual
                                   : 1 / static_cast<double>(app.phases.size());
    phase.seconds = {seconds * share, seconds * share};
  }
}

}  // namespace

Status read_run_times(const std::string& path, Scenario& scenario) {
  auto csv = CsvReader::open(path);
  if (!csv) return csv.error();
  const CsvColumn kernel = csv->column("kernel"), seconds = csv->column("t_large_s");
  std::map<std::string, std::vector<double>> times;
  while (csv->next()) {
    const double time = csv->number(seconds);
    if (time <= 0)
      csv->fail(seconds, "expected more than 0 seconds, found " + std::string(csv->text(seconds)));
    times[std::string(csv->text(kernel))].push_back(time);
  }
  if (const auto bad = csv->finish()) return *bad;
  for (App& app : scenario.apps) {
    const auto found = times.find(app.name);
    if (found == times.end())
      return invalid(path + ": no row has the kernel '" + app.name + "', which is an app");
    last(app, median(found->second));
  }
  scenario.source = "run times of " + path + " (median t_large_s of each kernel)";
  return {};
}

}  // namespace evenkeel::simulator
