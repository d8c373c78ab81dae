#include "simulator/application.h"

#include <algorithm>
#include <cmath>

#include "base/csv_reader.h"

namespace evenkeel::simulator {
namespace {

constexpr std::int64_t kMostReplicas = 1000;

void talk_all(Application& app) {
  for (std::size_t from = 0; from < app.workloads.size(); ++from)
    for (std::size_t to = 0; to < app.workloads.size(); ++to)
      if (from != to) app.edges.emplace_back(from, to);
}

Application read_application(YamlReader& from) {
  Application app;
  app.name = from.text("name").required();
  const MilliCpu cpu = from.cpu("cpu").at_least({0}).or_else({0});
  const Bytes memory = from.bytes("memory").at_least({0}).or_else({0});
  const BitsPerSecond bandwidth{8 * from.byte_rate("bandwidth").at_least({0}).or_else({0}).count};
  std::vector<YamlReader> workloads = from.list("workloads");
  for (YamlReader& workload : workloads) {
    ApplicationWorkload& read = app.workloads.emplace_back();
    read.name = workload.text("name").required();
    read.replicas = workload.integer("replicas").between(1, kMostReplicas).or_else(0);
    read.cpu = workload.cpu("cpu").at_least({0}).or_else(cpu);
    read.memory = workload.bytes("memory").at_least({0}).or_else(memory);
    read.bandwidth = bandwidth;
  }
  if (app.workloads.empty()) from.fail("workloads", "expected at least one workload");
  for (std::size_t i = 0; i < workloads.size(); ++i)
    for (const std::string& to : workloads[i].texts("calls").or_else({})) {
      const std::size_t found = app.index_of(to);
      if (found == app.workloads.size() || found == i)
        workloads[i].fail("calls", "expected names of the application's other workloads, found '" + to + "'");
      else
        app.edges.emplace_back(i, found);
    }
  if (from.word("calls", {"all"}).optional()) {
    if (!app.edges.empty()) from.fail("calls", "expected no calls of single workloads where all talk to all");
    talk_all(app);
  }
  return app;
}

Application& named(std::vector<Application>& apps, std::string_view name) {
  const auto found =
      std::find_if(apps.begin(), apps.end(), [&](const Application& a) { return a.name == name; });
  if (found != apps.end()) return *found;
  apps.emplace_back().name = name;
  return apps.back();
}

std::size_t part(Application& app, std::string_view name, const ApplicationWorkload& usual) {
  const std::size_t at = app.index_of(name);
  if (at < app.workloads.size()) return at;
  app.workloads.push_back(usual);
  app.workloads.back().name = name;
  return at;
}

Status read_services(const ApplicationFiles& files, std::vector<Application>& apps) {
  Result<CsvReader> csv = CsvReader::open(files.services);
  if (!csv) return csv.error();
  const CsvColumn app = csv->column("app"), workload = csv->column("workload"),
                  replicas = csv->column("replicas"), cpu = csv->column("cpu_req_m"),
                  memory = csv->column("mem_req_mib");
  while (csv->next()) {
    Application& of = named(apps, csv->text(app));
    ApplicationWorkload& read = of.workloads[part(of, csv->text(workload), files.usual)];
    read.times = std::llround(csv->optional_number(replicas).value_or(1));
    if (read.times < 1 || read.times > kMostReplicas)
      csv->fail(replicas, "expected 1 to " + std::to_string(kMostReplicas));
    if (const auto milli = csv->optional_number(cpu)) read.cpu = {std::llround(*milli)};
    if (const auto mib = csv->optional_number(memory)) read.memory = {std::llround(*mib * 1048576)};
    if (read.cpu.count < 0) csv->fail(cpu, "expected 0 or more");
    if (read.memory.count < 0) csv->fail(memory, "expected 0 or more");
  }
  if (const auto bad = csv->finish()) return *bad;
  return {};
}

Status read_edges(const ApplicationFiles& files, std::vector<Application>& apps) {
  Result<CsvReader> csv = CsvReader::open(files.edges);
  if (!csv) return csv.error();
  const CsvColumn app = csv->column("app");
  const auto either = [&](std::string_view name) {
    const CsvColumn service = csv->optional_column(std::string(name) + "_service");
    return service ? service : csv->column(name);
  };
  const CsvColumn src = either("src"), dst = either("dst");
  while (csv->next()) {
    Application& of = named(apps, csv->text(app));
    const std::size_t from = part(of, csv->text(src), files.usual),
                      to = part(of, csv->text(dst), files.usual);
    const std::pair<std::size_t, std::size_t> edge{from, to};
    // Who calls itself stays on its node; who calls twice is one edge.
    if (from != to && std::find(of.edges.begin(), of.edges.end(), edge) == of.edges.end())
      of.edges.push_back(edge);
  }
  if (const auto bad = csv->finish()) return *bad;
  return {};
}

}  // namespace

std::size_t Application::index_of(std::string_view workload) const {
  const auto found = std::find_if(workloads.begin(), workloads.end(),
                                  [&](const ApplicationWorkload& w) { return w.name == workload; });
  return static_cast<std::size_t>(found - workloads.begin());
}

std::vector<Application> read_applications(YamlReader& workload) {
  std::vector<Application> apps;
  for (YamlReader& app : workload.list("apps")) apps.push_back(read_application(app));
  return apps;
}

Result<std::vector<Application>> read_application_files(const ApplicationFiles& files) {
  std::vector<Application> apps;
  if (!files.services.empty())
    if (const Status read = read_services(files, apps); !read) return read.error();
  if (const Status read = read_edges(files, apps); !read) return read.error();
  return apps;
}

}  // namespace evenkeel::simulator
