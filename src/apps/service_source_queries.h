#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kubernetes/scaling_meter.h"

namespace evenkeel::apps {

// What is asked of Prometheus about one workload. Pure: docs/autoscaling.md shows the texts.
struct ServiceQuery {
  enum class About {
    requests,    // a second
    response,    // seconds, at the service level's percentile
    in_flight,   //
    stamp,       // when the newest of those was measured, in Unix seconds
    pods,        // of a metric, by label pod
    pods_stamp,  // likewise
    amount,      // of a metric of the workload as a whole
  };
  About about = About::requests;
  std::size_t metric = 0;  // of pods, pods_stamp and amount
  std::string text;
  bool is_own = false;  // there are words of its owner in it
};

struct ServiceQueryOptions {
  Duration window = std::chrono::minutes(1);  // of rates: at least two scrapes
  std::string ready_made = "http-histogram";  // of those that name no template
  bool resources = true;  // cpu and memory by cAdvisor's series; false: somebody else knows them
};

std::vector<ServiceQuery> service_queries(const kubernetes::ScalingLook& look,
                                          const ServiceQueryOptions& options,
                                          std::vector<std::string>& trouble);

// Many instant vectors in one query, told apart by label `evenkeel`.
inline constexpr std::string_view kQueryLabel = "evenkeel";
std::string joined_query(const std::vector<std::string>& texts);

// $namespace, $workload, $pods, $percentile and $window filled in; other dollars stay.
std::string filled_in(std::string_view query, const kubernetes::ScalingLook& look, Duration window);

}  // namespace evenkeel::apps
