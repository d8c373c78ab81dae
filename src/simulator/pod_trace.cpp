#include "simulator/pod_trace.h"

#include <algorithm>
#include <set>

#include "base/csv_reader.h"

namespace evenkeel::simulator {
namespace {

constexpr std::int64_t kMebi = 1 << 20, kWholeGpu = 1000;

std::int64_t count_in(CsvReader& csv, CsvColumn column, std::int64_t most) {
  const std::int64_t value = csv.integer(column);
  if (value >= 0 && value <= most) return value;
  csv.fail(column, "expected 0 to " + std::to_string(most) + ", found " + std::to_string(value));
  return 0;
}

// Cells that may be absent: no column, or nothing in it.
std::int64_t count_or(CsvReader& csv, CsvColumn column, std::int64_t most, std::int64_t otherwise) {
  return column && csv.optional_number(column) ? count_in(csv, column, most) : otherwise;
}
std::optional<double> time_in(CsvReader& csv, CsvColumn column) {
  if (!column) return std::nullopt;
  return csv.optional_number(column);
}
std::string text_in(const CsvReader& csv, CsvColumn column) {
  return column ? std::string(csv.text(column)) : std::string();
}

constexpr std::int64_t kMostCpu = 10'000'000, kMostMib = 1 << 30, kMostGpus = 1000;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('|', from), text.size());
    if (to > from) parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

std::string unique_name(CsvReader& csv, CsvColumn column, std::set<std::string>& seen) {
  std::string name(csv.text(column));
  if (!seen.insert(name).second) csv.fail(column, "'" + name + "' comes twice");
  return name;
}

}  // namespace

Result<std::vector<TraceNode>> read_trace_nodes(const std::string& path, const NodeColumns& columns) {
  auto csv = CsvReader::open(path);
  if (!csv) return csv.error();
  const CsvColumn name = csv->column(columns.name), cpu = csv->column(columns.cpu),
                  memory = csv->column(columns.memory), gpus = csv->optional_column(columns.gpus),
                  model = csv->optional_column(columns.model);
  std::vector<TraceNode> nodes;
  std::set<std::string> seen;
  while (csv->next()) {
    TraceNode& node = nodes.emplace_back();
    node.name = unique_name(*csv, name, seen);
    node.cpu = {count_in(*csv, cpu, kMostCpu)};
    node.memory = {count_in(*csv, memory, kMostMib) * kMebi};
    node.gpu_milli = count_or(*csv, gpus, kMostGpus, 0) * kWholeGpu;
    node.gpu_model = text_in(*csv, model);
    if (node.cpu.count == 0) csv->fail(cpu, "expected more than 0");
    if (node.memory.count == 0) csv->fail(memory, "expected more than 0");
  }
  if (const auto bad = csv->finish()) return *bad;
  if (nodes.empty()) return invalid(path + ": expected at least one node");
  return nodes;
}

Result<std::vector<TracePod>> read_trace_pods(const std::string& path, const PodColumns& columns) {
  auto csv = CsvReader::open(path);
  if (!csv) return csv.error();
  const CsvColumn name = csv->column(columns.name), cpu = csv->column(columns.cpu),
                  memory = csv->column(columns.memory), created = csv->column(columns.created);
  const CsvColumn gpus = csv->optional_column(columns.gpus), share = csv->optional_column(columns.gpu_milli),
                  models = csv->optional_column(columns.gpu_models), qos = csv->optional_column(columns.qos),
                  deleted = csv->optional_column(columns.deleted),
                  scheduled = csv->optional_column(columns.scheduled);
  std::vector<TracePod> pods;
  std::set<std::string> seen;
  while (csv->next()) {
    TracePod& pod = pods.emplace_back();
    pod.name = unique_name(*csv, name, seen);
    pod.cpu = {count_in(*csv, cpu, kMostCpu)};
    pod.memory = {count_in(*csv, memory, kMostMib) * kMebi};
    // A share is of one GPU; of several, all are whole.
    const std::int64_t count = count_or(*csv, gpus, kMostGpus, 0);
    pod.gpu_milli = count == 1 ? count_or(*csv, share, kWholeGpu, kWholeGpu) : count * kWholeGpu;
    pod.gpu_models = split(text_in(*csv, models));
    pod.qos = text_in(*csv, qos);
    pod.created_s = csv->number(created);
    const auto start = time_in(*csv, scheduled), end = time_in(*csv, deleted);
    if (start && *start < pod.created_s) csv->fail(scheduled, "expected no time before the pod's creation");
    if (!end) continue;
    pod.seconds = *end - start.value_or(pod.created_s);
    if (*pod.seconds < 0) csv->fail(deleted, "expected no time before the pod's start");
  }
  if (const auto bad = csv->finish()) return *bad;
  if (pods.empty()) return invalid(path + ": expected at least one pod");
  std::sort(pods.begin(), pods.end(), [](const TracePod& a, const TracePod& b) {
    return a.created_s != b.created_s ? a.created_s < b.created_s : a.name < b.name;
  });
  return pods;
}

}  // namespace evenkeel::simulator
