#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::reporting {

// Figures for Prometheus. One thread writes a series and any thread may read all of them: writing is a load
// and a store, takes no lock and never waits for a reader. A reader may see a histogram between the two
// steps of one observation, which the next scrape puts right.

class Counter {
 public:
  void add(std::uint64_t amount = 1) { raise_to(value() + amount); }
  // For what is counted elsewhere. A counter never falls: less than before changes nothing.
  void raise_to(std::uint64_t total) {
    if (total > value()) value_.store(total, std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  void add(double amount) { set(value() + amount); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Histogram {
 public:
  explicit Histogram(std::span<const double> bounds);
  void observe(double value);

  struct Reading {
    std::vector<std::uint64_t> up_to;  // cumulative, one for each bound
    std::uint64_t count = 0;
    double sum = 0;
  };
  Reading read() const;
  std::span<const double> bounds() const { return bounds_; }

 private:
  std::vector<double> bounds_;                   // ascending; a value on a bound is below it
  std::vector<std::atomic<std::uint64_t>> per_;  // one more than bounds: what is above all of them
  std::atomic<double> sum_{0};
};

// start, start x factor, …: as Kubernetes lays out its buckets.
std::vector<double> exponential_bounds(double start, double factor, std::size_t count);

// What all series of one name have in common.
struct MetricText {
  std::string name, help;
  std::vector<std::string> labels;
};

// Series of one name, told apart by their labels. They stay where they are: whoever writes often keeps the
// reference. Labels may come from outside, so there is an end to how many are kept apart; what comes after
// shares one series whose labels all say "other".
template <class Series>
class MetricFamily {
 public:
  MetricFamily(MetricText text, std::vector<double> bounds)
      : text_(std::move(text)), bounds_(std::move(bounds)) {}

  Series& with(std::initializer_list<std::string_view> values);

  static constexpr std::size_t kMostSeries = 500;

 private:
  friend class MetricsRegistry;
  using Labelled = std::pair<const std::vector<std::string>, std::unique_ptr<Series>>;
  std::unique_ptr<Series> make() const;
  std::vector<const Labelled*> all() const;

  MetricText text_;
  std::vector<double> bounds_;                                          // of histograms
  mutable std::mutex mutex_;                                            // of the map, not of what is in it
  std::map<std::vector<std::string>, std::unique_ptr<Series>> series_;  // ordered: the text is reproducible
};

class MetricsRegistry {
 public:
  MetricsRegistry();
  ~MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  MetricFamily<Counter>& counters(MetricText text);
  MetricFamily<Gauge>& gauges(MetricText text);
  // Seconds and the like that only grow: a counter to Prometheus.
  MetricFamily<Gauge>& totals(MetricText text);
  MetricFamily<Histogram>& histograms(MetricText text, std::vector<double> bounds);

  // Prometheus' text exposition format, version 0.0.4.
  std::string render() const;
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct Entry;
  template <class Series>
  MetricFamily<Series>& add(MetricText text, std::string_view type, std::vector<double> bounds = {});

  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Entry>> families_;
};

}  // namespace evenkeel::reporting
