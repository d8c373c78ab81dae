#pragma once
#include <optional>
#include <string>
#include <utility>

#include "base/yaml_reader.h"
#include "simulator/request_generator.h"
#include "simulator/request_trace.h"
#include "simulator/service_plan.h"

namespace evenkeel::simulator {

// Services, what is asked of them and who watches, as a file says it. `kind: ScalingScenario`.
struct ServiceScenario {
  std::string name, description;
  std::string source;      // where its requests come from, for every output
  ServiceWorldPlan world;  // all but the rates
  // A world's requests are the trace's, the same for each seed, or made anew for each.
  std::shared_ptr<const RequestRates> trace;  // whole, as read: before scale and compression
  RequestShape shape;
  std::pair<std::string, std::string> window;  // of the made ones: from, to, as durations
  bool interpolate = true;
  double compress = 1;  // time runs so many times faster
  double scale = 1;     // of the rates
  // Rate that this quantile of the steps is brought to, before `scale`; 0: rates are as they are.
  double peak = 0;
  // Not the busiest step of all: one minute of a week must not decide how busy all others are.
  double peak_quantile = 0.99;
  double most = 0;  // what is above is cut off, before `scale`; 0: nothing is
};

// Reads all fields; errors are the reader's. A trace is read from disk here, once.
Result<ServiceScenario> read_service_scenario(YamlReader& root);

// The world of one seed.
ServiceWorldPlan expand(const ServiceScenario& scenario, std::uint64_t seed);

}  // namespace evenkeel::simulator
