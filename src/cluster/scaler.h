#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/labels.h"

namespace evenkeel {

// How fast a number of replicas may change: the `behavior` block of autoscaling/v2, with its meaning.
struct ScalingRules {
  struct Limit {
    enum class Kind { pods, percent };
    Kind kind = Kind::pods;
    std::int32_t value = 0;
    Duration period{};
    bool operator==(const Limit&) const = default;
  };
  enum class Select { most, least, disabled };  // Max, Min, Disabled

  std::vector<Limit> limits;
  Select select = Select::most;
  std::optional<Duration> stabilisation;  // none: 300 s downwards, none upwards
  std::optional<double> tolerance;        // none: the autoscaler's own, 0.1
  bool operator==(const ScalingRules&) const = default;
};
struct ScalingBehaviour {
  ScalingRules up, down;
  bool operator==(const ScalingBehaviour&) const = default;
};

// Something that replicas are to be kept at: a metric of autoscaling/v2.
struct MetricTarget {
  enum class Source { resource, container_resource, pods, object, external };
  enum class Kind { utilisation, average_value, value };
  Source source = Source::resource;
  std::string name = "cpu";  // of the resource or metric
  std::string container{};   // container_resource
  std::string object{};      // object: "Kind/name", as shown
  std::string selector{};    // pods, object and external, as written
  Kind kind = Kind::utilisation;
  double target = 0.8;  // utilisation: a share of the request; else an amount
  bool operator==(const MetricTarget&) const = default;
};

struct ServiceLevel {
  double percentile = 0.95;
  Duration bound{std::chrono::milliseconds{250}};
  bool operator==(const ServiceLevel&) const = default;
};

// What one workload's owner asks of the autoscaler (WorkloadScaler, evenkeel.io/v1alpha1).
struct ScalerSpec {
  enum class Mode { preview, automatic, paused };
  struct Target {
    std::string api_version, kind, name;
    bool operator==(const Target&) const = default;
  };
  std::string name_space, name;
  Target target;
  std::int32_t min_replicas = 1, max_replicas = 1;
  Mode mode = Mode::preview;
  std::string policy = "evenkeel";
  std::map<std::string, std::string> arguments;  // of the policy
  std::vector<MetricTarget> metrics;          // what `hpa` goes by, also as the fallback; empty: CPU at 80 %
  std::optional<ScalingBehaviour> behaviour;  // none: HPA's defaults
  ServiceLevel level;
  Duration interval{std::chrono::seconds{15}};
  Duration stale_after{std::chrono::seconds{60}};  // of request rate, response time and metrics
  bool operator==(const ScalerSpec&) const = default;
};

}  // namespace evenkeel
