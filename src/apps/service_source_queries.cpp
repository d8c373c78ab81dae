#include "apps/service_source_queries.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/numbers.h"
#include "kubernetes/label_selector.h"

namespace evenkeel::apps {
namespace {

using About = ServiceQuery::About;
using Source = MetricTarget::Source;
constexpr std::string_view kNoPod = "[^\\\\x00-\\\\x{10FFFF}]";  // matches nothing, not even a missing label

std::string window_text(Duration window) {
  return std::to_string(
             std::max<std::int64_t>(1, std::chrono::duration_cast<std::chrono::seconds>(window).count())) +
         "s";
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += c == '\n' ? ' ' : c;
  }
  return safe;
}

// A regular expression of their names, as it stands between quotes.
std::string pods_pattern(const ServiceReport& report) {
  std::string pattern;
  for (const ReplicaReport& replica : report.replicas) {
    if (!pattern.empty()) pattern += '|';
    for (const char c : replica.name)
      pattern += c == '.' ? std::string("\\\\.") : escaped(std::string_view(&c, 1));
  }
  return pattern.empty() ? std::string(kNoPod) : pattern;
}

std::string with(const std::string& matchers, const std::string& more) {
  return more.empty() ? matchers : matchers + "," + more;
}

// What an adapter of the custom metrics API would have called it before.
std::string series_name(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != ':') c = '_';
  return name;
}

// A LabelSelector as PromQL's matchers. Label names with characters that Prometheus has not, it writes with
// _.
std::string matchers_of(const std::string& selector) {
  const auto parsed = kubernetes::parse_label_selector(selector);
  if (selector.empty() || !parsed) return "";
  std::string text;
  for (const SelectorRequirement& one : parsed->requirements) {
    std::string name = one.key, values;
    name = series_name(std::move(name));
    for (const std::string& value : one.values) values += (values.empty() ? "" : "|") + escaped(value);
    const bool is_not = one.op == SelectorOperator::not_in || one.op == SelectorOperator::does_not_exist;
    const bool is_about_presence =
        one.op == SelectorOperator::exists || one.op == SelectorOperator::does_not_exist;
    text += (text.empty() ? "" : ",") + name + (is_not ? "!~\"" : "=~\"") +
            (is_about_presence ? ".+" : values) + "\"";
  }
  return text;
}

struct Texts {
  std::string requests, response, in_flight, stamp;
};

Texts http_histogram(const kubernetes::ServiceSources& sources) {
  const std::string of = "{" + with("namespace=\"$namespace\",pod=~\"$pods\"", sources.labels) + "}";
  const std::string& name = sources.metric;
  return {"sum(rate(" + name + "_count" + of + "[$window]))",
          "histogram_quantile($percentile, sum by (le) (rate(" + name + "_bucket" + of + "[$window])))",
          "sum(http_requests_in_flight{namespace=\"$namespace\",pod=~\"$pods\"})",
          "max(timestamp(" + name + "_count" + of + "))"};
}

Texts istio(const kubernetes::ServiceSources& sources) {
  const std::string of = "{" +
                         with(
                             "reporter=\"destination\",destination_workload_namespace=\"$namespace\","
                             "destination_workload=\"$workload\"",
                             sources.labels) +
                         "}";
  return {"sum(rate(istio_requests_total" + of + "[$window]))",
          "histogram_quantile($percentile, sum by (le) (rate(istio_request_duration_milliseconds_bucket" +
              of + "[$window]))) / 1000",
          "", "max(timestamp(istio_requests_total" + of + "))"};
}

Texts ready_made(const kubernetes::ServiceSources& sources, const std::string& otherwise) {
  const std::string& name = sources.ready_made.empty() ? otherwise : sources.ready_made;
  if (name == "http-histogram") return http_histogram(sources);
  if (name == "istio") return istio(sources);
  return {};
}

void add_resource(const MetricTarget& metric, std::size_t i, const auto& add) {
  const std::string of = "{namespace=\"$namespace\",pod=~\"$pods\"," +
                         (metric.container.empty() ? std::string("container!=\"\",container!=\"POD\"")
                                                   : "container=\"" + escaped(metric.container) + "\"") +
                         "}";
  const std::string cpu = "container_cpu_usage_seconds_total" + of,
                    memory = "container_memory_working_set_bytes" + of;
  const bool is_cpu = metric.name == "cpu";
  add(About::pods, i, is_cpu ? "sum by (pod) (rate(" + cpu + "[$window]))" : "sum by (pod) (" + memory + ")");
  add(About::pods_stamp, i, "max by (pod) (timestamp(" + (is_cpu ? cpu : memory) + "))");
}

}  // namespace

std::string filled_in(std::string_view query, const kubernetes::ScalingLook& look, Duration window) {
  const ScalerSpec& spec = look.scaler->spec;
  char buffer[32];
  const std::array<std::pair<std::string_view, std::string>, 5> values{
      {{"$namespace", escaped(spec.name_space)},
       {"$workload", escaped(spec.target.name)},
       {"$pods", pods_pattern(look.report)},
       {"$percentile", std::string(format_number(spec.level.percentile, buffer))},
       {"$window", window_text(window)}}};
  std::string text;
  while (!query.empty()) {
    const std::size_t dollar = std::min(query.find('$'), query.size());
    text += query.substr(0, dollar);
    query.remove_prefix(dollar);
    const auto at = std::find_if(values.begin(), values.end(),
                                 [&](const auto& value) { return query.starts_with(value.first); });
    if (at != values.end()) {
      text += at->second;
      query.remove_prefix(at->first.size());
    } else if (!query.empty()) {
      text += query.front();
      query.remove_prefix(1);
    }
  }
  return text;
}

std::vector<ServiceQuery> service_queries(const kubernetes::ScalingLook& look,
                                          const ServiceQueryOptions& options,
                                          std::vector<std::string>& trouble) {
  std::vector<ServiceQuery> queries;
  const kubernetes::ServiceSources& sources = look.scaler->sources;
  const Texts made = ready_made(sources, options.ready_made);
  const auto add = [&](About about, std::size_t metric, const std::string& text, bool is_own = false) {
    if (!text.empty()) queries.push_back({about, metric, filled_in(text, look, options.window), is_own});
  };
  const auto choose = [&](About about, const std::string& own, const std::string& otherwise) {
    // Nobody is there to be asked about.
    if (own.empty() && look.report.replicas.empty()) return;
    add(about, 0, own.empty() ? otherwise : own, !own.empty() || !sources.labels.empty());
  };
  const bool is_own = !sources.request_rate.empty() || !sources.response_time.empty();
  choose(About::requests, sources.request_rate, made.requests);
  choose(About::response, sources.response_time, made.response);
  choose(About::in_flight, sources.in_flight, made.in_flight);
  choose(About::stamp, sources.measured, is_own ? "" : made.stamp);

  const std::vector<MetricTarget> cpu(1);
  const std::vector<MetricTarget>& metrics =
      look.scaler->spec.metrics.empty() ? cpu : look.scaler->spec.metrics;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const MetricTarget& metric = metrics[i];
    const bool is_whole = metric.source == Source::object || metric.source == Source::external;
    if (const auto own = sources.metrics.find(metric.name); own != sources.metrics.end()) {
      add(is_whole ? About::amount : About::pods, i, own->second, true);
    } else if (is_whole) {
      trouble.push_back("metric " + metric.name + ": no query for it under sources.metrics");
    } else if (look.report.replicas.empty()) {
      continue;
    } else if (metric.source == Source::pods) {
      const std::string of =
          "{" + with("namespace=\"$namespace\",pod=~\"$pods\"", matchers_of(metric.selector)) + "}";
      add(About::pods, i, "sum by (pod) (" + series_name(metric.name) + of + ")", true);
      add(About::pods_stamp, i, "max by (pod) (timestamp(" + series_name(metric.name) + of + "))", true);
    } else if (metric.name != "cpu" && metric.name != "memory") {
      trouble.push_back("metric " + metric.name + ": only cpu and memory are measured");
    } else if (options.resources) {
      add_resource(metric, i, add);
    }
  }
  return queries;
}

std::string joined_query(const std::vector<std::string>& texts) {
  std::string query;
  for (std::size_t i = 0; i < texts.size(); ++i)
    query += (i == 0 ? "" : " or ") + ("label_replace(" + texts[i] + ", \"" + std::string(kQueryLabel) +
                                       "\", \"" + std::to_string(i) + "\", \"\", \"\")");
  return query;
}

}  // namespace evenkeel::apps
