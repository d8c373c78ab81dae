#include "apps/netprobe_view.h"

#include <sys/resource.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/numbers.h"

namespace evenkeel::apps {
namespace {

using Json = nlohmann::ordered_json;

std::string fixed(double value, const char* format) {
  char buffer[64];
  (void)std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

void head(std::string& text, const std::string& name, const char* type, const std::string& about) {
  text += "# HELP " + name + " " + about + "\n# TYPE " + name + " " + type + "\n";
}

void line(std::string& text, const std::string& name, const std::string& labels, double value) {
  char buffer[32];
  text += name + (labels.empty() ? "" : "{" + labels + "}") + " " +
          std::string(format_number(value, buffer)) + "\n";
}

double cpu_seconds() {
  rusage used{};
  (void)::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

}  // namespace

reporting::TextTable netprobe_table(const std::string& origin, const Paths& paths, const Troubles& troubles) {
  reporting::TextTable table;
  table.columns = {{.header = "from " + origin + " to", .align = reporting::Align::left},
                   {.header = "p50 us"},
                   {.header = "p90 us"},
                   {.header = "p99 us"},
                   {.header = "Mbit/s"}};
  for (const auto& [destination, path] : paths) {
    if (!path.figures) continue;
    const monitor::PathFigures& figures = *path.figures;
    table.rows.push_back(
        {{.text = destination},
         {.text = fixed(figures.p50_us, "%.1f")},
         {.text = fixed(figures.p90_us, "%.1f")},
         {.text = fixed(figures.p99_us, "%.1f")},
         {.text = figures.bits_per_second ? fixed(*figures.bits_per_second / 1e6, "%.1f") : "-"}});
  }
  for (const auto& [destination, trouble] : troubles) table.notes.push_back(destination + ": " + trouble);
  return table;
}

std::string netprobe_json(const std::string& origin, const Paths& paths, const Troubles& troubles) {
  Json json = {{"origin", origin}, {"paths", Json::object()}, {"failed", Json::object()}};
  for (const auto& [destination, path] : paths) {
    if (!path.figures) continue;
    Json one = {
        {"p50_us", path.figures->p50_us}, {"p90_us", path.figures->p90_us}, {"p99_us", path.figures->p99_us}};
    if (path.figures->bits_per_second) one["bits_per_second"] = *path.figures->bits_per_second;
    json["paths"][destination] = std::move(one);
  }
  for (const auto& [destination, trouble] : troubles) json["failed"][destination] = trouble;
  return json.dump(2);
}

std::string netprobe_metrics(const NetprobeFigures& figures) {
  std::string text;
  const std::string latency = "evenkeel_netprobe_round_trip_seconds";
  head(text, latency, "gauge", "Round-trip time to a node, by the last test.");
  for (const auto& [destination, path] : *figures.paths) {
    if (!path.figures) continue;
    const std::array<std::pair<const char*, double>, 3> all = {
        {{"0.5", path.figures->p50_us}, {"0.9", path.figures->p90_us}, {"0.99", path.figures->p99_us}}};
    for (const auto& [quantile, us] : all)
      line(text, latency, "destination=\"" + destination + "\",quantile=\"" + quantile + "\"", us * 1e-6);
  }
  const std::string bandwidth = "evenkeel_netprobe_bandwidth_bits_per_second";
  head(text, bandwidth, "gauge", "What TCP carried to a node, when it was last measured.");
  for (const auto& [destination, path] : *figures.paths)
    if (path.figures && path.figures->bits_per_second)
      line(text, bandwidth, "destination=\"" + destination + "\"", *path.figures->bits_per_second);
  head(text, "evenkeel_netprobe_members", "gauge", "Nodes that take part.");
  line(text, "evenkeel_netprobe_members", "", static_cast<double>(figures.members));
  const auto counter = [&](const std::string& name, const std::string& about, double value) {
    head(text, "evenkeel_netprobe_" + name, "counter", about);
    line(text, "evenkeel_netprobe_" + name, "", value);
  };
  const auto count = [](std::uint64_t value) { return static_cast<double>(value); };
  counter("tests_total", "Tests made.", count(figures.made.tests));
  counter("bandwidth_tests_total", "Of them with bandwidth.", count(figures.made.bandwidth_tests));
  counter("tests_failed_total", "Of them without a result.", count(figures.made.failed));
  counter("tests_missed_total", "Tests a period ended without.", count(figures.made.missed));
  counter("tests_put_off_total", "Times a peer was busy.", count(figures.made.busy));
  counter("tests_answered_total", "Tests of others.", count(figures.answered.tests));
  const std::string refused = "evenkeel_netprobe_refused_total";
  head(text, refused, "counter", "Connections that were refused, and why.");
  line(text, refused, "why=\"unauthenticated\"", count(figures.answered.refused_unauthenticated));
  line(text, refused, "why=\"no_member\"", count(figures.answered.refused_no_member));
  line(text, refused, "why=\"malformed\"", count(figures.answered.refused_malformed));
  line(text, refused, "why=\"crowd\"", count(figures.answered.refused_crowd));
  counter("received_bytes_total", "Traffic of all tests, packets' headers included.",
          count(figures.made.received + figures.answered.received));
  counter("transmitted_bytes_total", "Traffic of all tests, packets' headers included.",
          count(figures.made.transmitted + figures.answered.transmitted));
  counter("writes_total", "Writes to the ConfigMap.", count(figures.written.written));
  counter("writes_failed_total", "Writes that were refused or got no answer.", count(figures.written.failed));
  head(text, "process_cpu_seconds_total", "counter", "Processor time of the probe itself.");
  line(text, "process_cpu_seconds_total", "", cpu_seconds());
  return text;
}

}  // namespace evenkeel::apps
