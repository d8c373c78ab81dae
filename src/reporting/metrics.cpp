#include "reporting/metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <variant>

#include "base/check.h"

namespace evenkeel::reporting {
namespace {

std::string text_of(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

// `profile="default",result="scheduled"`
std::string label_pairs(const std::vector<std::string>& names, const std::vector<std::string>& values) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : ",") + names[i] + "=\"" + escaped(values[i], true) + "\"";
  return out;
}

std::string braced(const std::string& pairs) { return pairs.empty() ? "" : "{" + pairs + "}"; }

void write(std::string& out, const std::string& name, const std::string& labels, const Counter& counter) {
  out += name + braced(labels) + " " + std::to_string(counter.value()) + "\n";
}

void write(std::string& out, const std::string& name, const std::string& labels, const Gauge& gauge) {
  out += name + braced(labels) + " " + text_of(gauge.value()) + "\n";
}

void write(std::string& out, const std::string& name, const std::string& labels, const Histogram& histogram) {
  const Histogram::Reading reading = histogram.read();
  const std::string lead = name + "_bucket{" + labels + (labels.empty() ? "" : ",") + "le=\"";
  for (std::size_t i = 0; i < reading.up_to.size(); ++i)
    out += lead + text_of(histogram.bounds()[i]) + "\"} " + std::to_string(reading.up_to[i]) + "\n";
  out += lead + "+Inf\"} " + std::to_string(reading.count) + "\n";
  out += name + "_sum" + braced(labels) + " " + text_of(reading.sum) + "\n";
  out += name + "_count" + braced(labels) + " " + std::to_string(reading.count) + "\n";
}

}  // namespace

std::vector<double> exponential_bounds(double start, double factor, std::size_t count) {
  std::vector<double> bounds(count);
  for (double& bound : bounds) {
    bound = start;
    start *= factor;
  }
  return bounds;
}

Histogram::Histogram(std::span<const double> bounds)
    : bounds_(bounds.begin(), bounds.end()), per_(bounds.size() + 1) {}

void Histogram::observe(double value) {
  const auto at =
      static_cast<std::size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin());
  per_[at].store(per_[at].load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  sum_.store(sum_.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

Histogram::Reading Histogram::read() const {
  Reading reading;
  for (std::size_t i = 0; i < per_.size(); ++i) {
    reading.count += per_[i].load(std::memory_order_relaxed);
    if (i < bounds_.size()) reading.up_to.push_back(reading.count);
  }
  reading.sum = sum_.load(std::memory_order_relaxed);
  return reading;
}

template <class Series>
std::unique_ptr<Series> MetricFamily<Series>::make() const {
  if constexpr (std::is_same_v<Series, Histogram>) {
    return std::make_unique<Histogram>(bounds_);
  } else {
    return std::make_unique<Series>();
  }
}

template <class Series>
Series& MetricFamily<Series>::with(std::initializer_list<std::string_view> values) {
  EVENKEEL_CHECK(values.size() == text_.labels.size());
  std::vector<std::string> key(values.begin(), values.end());
  const std::lock_guard lock(mutex_);
  if (const auto at = series_.find(key); at != series_.end()) return *at->second;
  if (series_.size() >= kMostSeries) std::fill(key.begin(), key.end(), "other");
  std::unique_ptr<Series>& place = series_[std::move(key)];
  if (!place) place = make();
  return *place;
}

// Series are never removed, so they can be read after the lock is gone: writing a page holds nobody up.
template <class Series>
std::vector<const typename MetricFamily<Series>::Labelled*> MetricFamily<Series>::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<const Labelled*> found;
  found.reserve(series_.size());
  for (const Labelled& labelled : series_) found.push_back(&labelled);
  return found;
}

template class MetricFamily<Counter>;
template class MetricFamily<Gauge>;
template class MetricFamily<Histogram>;

struct MetricsRegistry::Entry {
  template <class Series>
  using Owned = std::unique_ptr<MetricFamily<Series>>;
  std::string_view type;
  std::variant<Owned<Counter>, Owned<Gauge>, Owned<Histogram>> family;
};

MetricsRegistry::MetricsRegistry() = default;
MetricsRegistry::~MetricsRegistry() = default;

template <class Series>
MetricFamily<Series>& MetricsRegistry::add(MetricText text, std::string_view type,
                                           std::vector<double> bounds) {
  const std::string name = text.name;
  auto family = std::make_unique<MetricFamily<Series>>(std::move(text), std::move(bounds));
  MetricFamily<Series>& kept = *family;
  // Without labels there is one series, and it is there from the start: 0 is a figure too.
  if (kept.text_.labels.empty()) kept.with({});
  const std::lock_guard lock(mutex_);
  const bool is_new = families_.emplace(name, std::make_unique<Entry>(Entry{type, std::move(family)})).second;
  EVENKEEL_CHECK(is_new);
  return kept;
}

MetricFamily<Counter>& MetricsRegistry::counters(MetricText text) {
  return add<Counter>(std::move(text), "counter");
}
MetricFamily<Gauge>& MetricsRegistry::gauges(MetricText text) { return add<Gauge>(std::move(text), "gauge"); }
MetricFamily<Gauge>& MetricsRegistry::totals(MetricText text) {
  return add<Gauge>(std::move(text), "counter");
}
MetricFamily<Histogram>& MetricsRegistry::histograms(MetricText text, std::vector<double> bounds) {
  return add<Histogram>(std::move(text), "histogram", std::move(bounds));
}

std::string MetricsRegistry::render() const {
  std::string out;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, entry] : families_) {
    std::visit(
        [&](const auto& family) {
          const auto all = family->all();
          if (all.empty()) return;
          out += "# HELP " + name + " " + escaped(family->text_.help, false) + "\n";
          out += "# TYPE " + name + " " + std::string(entry->type) + "\n";
          for (const auto* series : all)
            write(out, name, label_pairs(family->text_.labels, series->first), *series->second);
        },
        entry->family);
  }
  return out;
}

}  // namespace evenkeel::reporting
