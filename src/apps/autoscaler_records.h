#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "autoscaling/scaling_request.h"
#include "cluster/scaling_world.h"

namespace evenkeel::apps {

// What was seen of one workload at one decision, and what was decided.
struct ScalingPoint {
  double at_s = 0;                             // Unix time
  float wanted = 0, ready = 0, decided = 0;    // replicas; `wanted` is what is set, whoever set it
  float requests_per_s = -1, response_s = -1;  // negative: not known
};

struct ScalingRecord {
  std::string name_space, name, kind, target;
  std::string policy, mode, other;  // `other`: who scales it instead
  std::int32_t min_replicas = 0, max_replicas = 0;
  double bound_s = 0, percentile = 0;
  std::vector<ScalingPoint> points;  // oldest first; thinned out evenly as they become many
  ScalingDecision last{};
  bool acted = false;
  std::uint64_t decisions = 0, fallbacks = 0, scalings = 0, failures = 0;
  std::uint64_t changes_set = 0,
                changes_decided = 0;  // how often the number that is set, or decided, changed

  // Means over time of what was set and of what was decided; 0 where there is no time between points.
  double mean_wanted() const, mean_decided() const;
  double above_bound() const;  // share of known response times
};

struct ScalingJournalEntry {
  std::string name_space, name;
  ScalingDecision decision;
  bool acted = false;
  std::string outcome;  // "", "scaled", "failed: …"
};

// What an autoscaler saw and decided, for people. Told by its thread; read by any.
class ScalingRecords {
 public:
  struct Options {
    std::size_t most_points = 240;  // of a workload: beyond that every second one goes
    std::size_t most_entries = 2000;
  };
  explicit ScalingRecords(Options options) : options_(options) {}
  ScalingRecords() : ScalingRecords(Options{}) {}

  void decided(const autoscaling::ScalingRequest& request, const TellDecision& told,
               const std::string& other);
  void observed(const ScalingEvent& event);

  std::vector<ScalingRecord> all() const;
  std::vector<ScalingJournalEntry> journal(const std::string& name_space, const std::string& name,
                                           std::size_t limit) const;  // the newest first
  struct Totals {
    std::uint64_t decisions = 0, fallbacks = 0, holds = 0, scaled_up = 0, scaled_down = 0, failed = 0,
                  unseen = 0;
    std::size_t scalers = 0;
  };
  Totals totals() const;

 private:
  struct Slot {
    ScalerId id{};
    ScalingRecord record;
    std::size_t stride = 1, skipped = 0;  // of points: one in so many is kept
    std::int32_t from = 0;                // of the scaling under way
  };
  Slot* find(ScalerId id);

  Options options_;
  mutable std::mutex mutex_;
  std::map<ScalerId, Slot> slots_;
  std::deque<ScalingJournalEntry> journal_;
  Totals totals_;
};

}  // namespace evenkeel::apps
