#pragma once
#include <utility>
#include <vector>

#include "base/random.h"
#include "simulator/request_rates.h"

namespace evenkeel::simulator {

// Requests of our own making, in the shape that real ones have. The level is 1 before the factors; whoever
// uses the rates sets their height.
struct RequestShape {
  Duration length{std::chrono::hours{24}};
  Duration step{std::chrono::minutes{1}};
  std::vector<std::pair<double, double>> points;  // seconds and level, straight between them; empty: 1
  double daily = 0;                               // swing around the day's mean, 0 … 1
  Duration peak_at{std::chrono::hours{15}};       // of the day
  double weekend = 1;                             // level on days 6 and 7 of a week
  double growth = 0;                              // per day, of the first day's level
  struct Events {  // announced occasions that everybody comes for: matches, launches
    double per_day = 0, height = 0;
    Duration first{std::chrono::hours{12}}, last{std::chrono::hours{20}};  // of the day, when they begin
    Duration rise{std::chrono::minutes{20}}, hold{std::chrono::minutes{100}}, fall{std::chrono::minutes{40}};
  } events;
  struct Bursts {  // at any time
    double per_hour = 0, height = 0;
    Duration length{std::chrono::minutes{3}};
  } bursts;
  struct Noise {  // a factor that wanders: log-normal, forgotten with `memory`
    double spread = 0;
    Duration memory{std::chrono::minutes{10}};
  } noise;
  double work_spread = 0;  // of the mean cost of a step's requests, likewise
};

RequestRates make_requests(const RequestShape& shape, const Random& random);

}  // namespace evenkeel::simulator
