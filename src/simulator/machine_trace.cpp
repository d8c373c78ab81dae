#include "simulator/machine_trace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/csv_reader.h"
#include "base/numbers.h"

namespace evenkeel::simulator {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
// One wild slot number must not make a file of a few lines fill all memory: 2.4 GB at most.
constexpr std::int64_t kMostSlots = 1'000'000;
constexpr std::size_t kMostSamples = 50'000'000;

constexpr std::array<double, kDimensions> kUnits{kCoresPerMhz, kBytesPerMib, kBytesPerKb,
                                                 kBytesPerKb,  kBytesPerKb,  kBytesPerKb};

using Index = std::unordered_map<std::string, std::size_t>;

double not_negative(CsvReader& csv, CsvColumn column) {
  const double value = csv.number(column);
  if (value < 0) csv.fail(column, "expected 0 or more, found " + std::string(csv.text(column)));
  return value;
}

Status read_capacities(const std::string& path, const MachineColumns& names,
                       std::vector<MachineTrace>& machines, Index& index) {
  auto csv = CsvReader::open(path);
  if (!csv) return csv.error();
  const CsvColumn id = csv->column(names.machine), cpu = csv->column(names.cpu_capacity),
                  memory = csv->column(names.memory_capacity);
  while (csv->next()) {
    const std::string name(csv->text(id));
    if (!index.emplace(name, machines.size()).second) csv->fail(id, "machine " + name + " comes twice");
    machines.push_back(
        {name, not_negative(*csv, cpu) * kCoresPerMhz, not_negative(*csv, memory) * kBytesPerMib, {}});
  }
  if (const auto bad = csv->finish()) return *bad;
  return {};
}

struct SampleColumns {
  CsvColumn machine, slot;
  std::array<CsvColumn, kDimensions> use;
};

void read_sample(CsvReader& csv, const SampleColumns& columns, std::vector<Usage>& use) {
  const std::int64_t slot = csv.integer(columns.slot);
  if (slot < 0 || slot >= kMostSlots) {
    csv.fail(columns.slot,
             "expected 0 to " + std::to_string(kMostSlots - 1) + ", found " + std::to_string(slot));
    return;
  }
  if (static_cast<std::size_t>(slot) < use.size()) {
    csv.fail(columns.slot, "expected more than " + std::to_string(use.size() - 1) +
                               ", the machine's slot before, found " + std::to_string(slot));
    return;
  }
  Usage missing;
  missing.of.fill(kMissing);
  use.resize(static_cast<std::size_t>(slot) + 1, missing);
  for (std::size_t d = 0; d < kDimensions; ++d)
    if (csv.optional_number(columns.use[d])) use.back().of[d] = not_negative(csv, columns.use[d]) * kUnits[d];
}

Status read_samples(const std::string& path, const MachineColumns& names, bool machines_known,
                    std::vector<MachineTrace>& machines, Index& index) {
  auto csv = CsvReader::open(path);
  if (!csv) return csv.error();
  SampleColumns columns{csv->column(names.machine), csv->column(names.slot), {}};
  for (std::size_t d = 0; d < kDimensions; ++d) columns.use[d] = csv->column(names.use[d]);

  std::string name;
  std::size_t at = 0;
  while (csv->next()) {
    // Rows mostly come machine by machine, so the one before is the first guess.
    if (name.empty() || name != csv->text(columns.machine)) {
      name = csv->text(columns.machine);
      auto known = index.find(name);
      if (known == index.end()) {
        if (machines_known) csv->fail(columns.machine, "machine " + name + " is not in the file of machines");
        known = index.emplace(name, machines.size()).first;
        machines.push_back({name, 0, 0, {}});
      }
      at = known->second;
    }
    read_sample(*csv, columns, machines[at].use);
  }
  if (const auto bad = csv->finish()) return *bad;
  return {};
}

void fill_gaps(std::vector<Usage>& use, std::size_t slots) {
  Usage missing;
  missing.of.fill(kMissing);
  use.resize(slots, missing);
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const auto first =
        std::find_if(use.begin(), use.end(), [d](const Usage& u) { return !std::isnan(u.of[d]); });
    double last = first == use.end() ? 0 : first->of[d];
    for (Usage& slot : use) {
      if (std::isnan(slot.of[d])) slot.of[d] = last;
      last = slot.of[d];
    }
  }
}

bool comes_before(const MachineTrace& a, const MachineTrace& b) {
  const auto x = parse_integer(a.id), y = parse_integer(b.id);
  if (x && y && *x != *y) return *x < *y;
  if (x.has_value() != y.has_value()) return x.has_value();
  return a.id < b.id;
}

}  // namespace

Result<std::vector<MachineTrace>> read_machine_trace(const std::string& trace_path,
                                                     const std::optional<std::string>& machines_path,
                                                     const MachineColumns& columns) {
  std::vector<MachineTrace> machines;
  Index index;
  if (machines_path) {
    const Status read = read_capacities(*machines_path, columns, machines, index);
    if (!read) return read.error();
  }
  const Status read = read_samples(trace_path, columns, machines_path.has_value(), machines, index);
  if (!read) return read.error();

  std::erase_if(machines, [](const MachineTrace& machine) { return machine.use.empty(); });
  if (machines.empty()) return invalid(trace_path + ": expected at least one sample");
  std::size_t slots = 0;
  for (const MachineTrace& machine : machines) slots = std::max(slots, machine.use.size());
  if (slots * machines.size() > kMostSamples)
    return invalid(trace_path + ": " + std::to_string(machines.size()) + " machines x " +
                   std::to_string(slots) + " slots are too many, expected at most " +
                   std::to_string(kMostSamples) + " samples");
  for (MachineTrace& machine : machines) {
    fill_gaps(machine.use, slots);
    if (machines_path) continue;
    for (const Usage& use : machine.use) {
      machine.cpu = std::max(machine.cpu, use[Dimension::cpu]);
      machine.memory = std::max(machine.memory, use[Dimension::memory]);
    }
  }
  std::sort(machines.begin(), machines.end(), comes_before);
  return machines;
}

}  // namespace evenkeel::simulator
