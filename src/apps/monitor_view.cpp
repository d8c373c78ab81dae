#include "apps/monitor_view.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/numbers.h"

namespace evenkeel::apps {
namespace {

using Json = nlohmann::ordered_json;

struct DimensionText {
  Dimension dimension;
  const char *node, *pod, *capacity;  // Prometheus' names, with their units
  const char* about;
};
constexpr std::array<DimensionText, kDimensions> kTexts = {{
    {Dimension::cpu, "evenkeel_node_cpu_cores", "evenkeel_pod_cpu_cores", "evenkeel_node_capacity_cpu_cores",
     "Processor time used, in cores."},
    {Dimension::memory, "evenkeel_node_memory_bytes", "evenkeel_pod_memory_bytes",
     "evenkeel_node_capacity_memory_bytes", "Memory in use: the working set, as kubelets count it."},
    {Dimension::receive, "evenkeel_node_receive_bytes_per_second", "evenkeel_pod_receive_bytes_per_second",
     "evenkeel_node_capacity_receive_bytes_per_second", "Bytes received."},
    {Dimension::transmit, "evenkeel_node_transmit_bytes_per_second", "evenkeel_pod_transmit_bytes_per_second",
     "evenkeel_node_capacity_transmit_bytes_per_second", "Bytes sent."},
    {Dimension::read, "evenkeel_node_read_bytes_per_second", "evenkeel_pod_read_bytes_per_second",
     "evenkeel_node_capacity_read_bytes_per_second", "Bytes read from disks."},
    {Dimension::write, "evenkeel_node_write_bytes_per_second", "evenkeel_pod_write_bytes_per_second",
     "evenkeel_node_capacity_write_bytes_per_second", "Bytes written to disks."},
}};

std::string number(double value) {
  char buffer[32];
  return std::string(format_number(value, buffer));
}

std::string fixed(double value, const char* format = "%.1f") {
  char buffer[64];
  (void)std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

std::vector<reporting::TextCell> row_of(const std::string& name, const Usage& usage,
                                        const NodeReport::Known& known) {
  std::vector<reporting::TextCell> cells = {{.text = name}};
  for (const DimensionText& text : kTexts) {
    const double amount = usage[text.dimension];
    const bool is_known = known[static_cast<std::size_t>(text.dimension)];
    cells.push_back({.text = !is_known                             ? "-"
                             : text.dimension == Dimension::cpu    ? fixed(amount, "%.3f")
                             : text.dimension == Dimension::memory ? fixed(amount / (1 << 20))
                                                                   : fixed(amount / 1000)});
  }
  return cells;
}

Json json_of(const Usage& usage) {
  Json json;
  for (std::size_t d = 0; d < kDimensions; ++d) json[std::string(kDimensionNames[d])] = usage.of[d];
  return json;
}

void head(std::string& text, const std::string& name, const char* type, const std::string& about) {
  text += "# HELP " + name + " " + about + "\n# TYPE " + name + " " + type + "\n";
}

void line(std::string& text, const std::string& name, const std::string& labels, double value) {
  text += name + (labels.empty() ? "" : "{" + labels + "}") + " " + number(value) + "\n";
}

}  // namespace

reporting::TextTable monitor_table(const NodeReport& report) {
  reporting::TextTable table;
  table.columns = {{.header = "", .align = reporting::Align::left},
                   {.header = "cpu"},
                   {.header = "memory"},
                   {.header = "receive"},
                   {.header = "transmit"},
                   {.header = "read"},
                   {.header = "write"}};
  NodeReport::Known has{};
  for (std::size_t d = 0; d < kDimensions; ++d) has[d] = report.capacity.of[d] > 0;
  table.rows.push_back(row_of(report.node, report.total, report.known));
  table.rows.push_back(row_of("capacity", report.capacity, has));
  for (const NodeReport::PodPart& pod : report.pods)
    table.rows.push_back(row_of("pod " + pod.uid, pod.usage, report.known));
  table.notes = {"cores, MiB, and kB per second; - is not known"};
  return table;
}

std::string monitor_json(const NodeReport& report, const std::vector<double>& sampled) {
  Json json;
  json["node"] = report.node;
  json["usage"] = json_of(report.total);
  json["capacity"] = json_of(report.capacity);
  json["unknown"] = Json::array();
  for (std::size_t d = 0; d < kDimensions; ++d)
    if (!report.known[d]) json["unknown"].push_back(std::string(kDimensionNames[d]));
  json["sampled_at"] = sampled;
  json["pods"] = Json::array();
  for (const NodeReport::PodPart& pod : report.pods)
    json["pods"].push_back({{"uid", pod.uid}, {"usage", json_of(pod.usage)}});
  return json.dump(2);
}

std::string monitor_metrics(const MonitorFigures& figures) {
  const NodeReport& report = figures.report;
  std::string text;
  for (const DimensionText& one : kTexts) {
    const auto d = static_cast<std::size_t>(one.dimension);
    if (report.known[d]) {
      head(text, one.node, "gauge", std::string(one.about) + " By the node, over the window.");
      line(text, one.node, "", report.total.of[d]);
      head(text, one.pod, "gauge", std::string(one.about) + " By a pod, over the window.");
      for (const NodeReport::PodPart& pod : report.pods)
        line(text, one.pod, "uid=\"" + pod.uid + "\"", pod.usage.of[d]);
    }
    if (report.capacity.of[d] > 0) {
      head(text, one.capacity, "gauge", "What the node can give of it.");
      line(text, one.capacity, "", report.capacity.of[d]);
    }
  }
  const auto counter = [&](const std::string& name, const std::string& about, double value) {
    head(text, name, "counter", about);
    line(text, name, "", value);
  };
  const auto gauge = [&](const std::string& name, const std::string& about, double value) {
    head(text, name, "gauge", about);
    line(text, name, "", value);
  };
  gauge("evenkeel_monitor_pods", "Pods seen on the node.", static_cast<double>(report.pods.size()));
  counter("evenkeel_monitor_samples_total", "Samples taken.", static_cast<double>(figures.samples));
  if (figures.sends) {
    gauge("evenkeel_monitor_connected", "1: there is a connection to the scheduler.",
          figures.is_connected ? 1 : 0);
    counter("evenkeel_monitor_reports_sent_total", "Reports sent to the scheduler.",
            static_cast<double>(figures.sent.sent));
    counter("evenkeel_monitor_reports_replaced_total",
            "Reports that a newer one replaced before they were sent.",
            static_cast<double>(figures.sent.replaced));
    counter("evenkeel_monitor_connections_total", "Connections made.",
            static_cast<double>(figures.sent.connected));
    counter("evenkeel_monitor_connection_failures_total",
            "Connections that did not come about or did not last.", static_cast<double>(figures.sent.failed));
  }
  counter("process_cpu_seconds_total", "Processor time of the monitor itself.", figures.cpu_seconds);
  gauge("process_resident_memory_bytes", "Resident memory of the monitor itself.", figures.resident_bytes);
  return text;
}

}  // namespace evenkeel::apps
