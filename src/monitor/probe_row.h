// What a node knows of the paths from itself, as the entries of a ConfigMap it shares with all others: each
// writes its own row. Pure: what was measured and found goes in, what is to be written comes out.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "monitor/probe_plan.h"

namespace evenkeel::monitor {

// Of one path, in the direction from origin to destination.
struct PathFigures {
  double p50_us = 0, p90_us = 0, p99_us = 0;
  std::optional<double> bits_per_second;  // what TCP carried; the last time it was measured
  bool operator==(const PathFigures&) const = default;
};

// Nearest-rank percentiles of round-trip times; nothing of no samples.
std::optional<PathFigures> figures_of(std::vector<double> round_trips_us);

// What to write where; nothing: to be removed.
using ConfigChanges = std::map<std::string, std::optional<std::string>>;

// The entries of a path, under upstream's names:
//   netperf.p90.latency.milliseconds.origin.A.destination.B    whole, and never 0, which readers take for
//   free netperf_p90_latency_microseconds.origin.A.destination.B    what was measured
//   netperf.bandwidth.bitspersecond.origin.A.destination.B     where it was
std::map<std::string, std::string> entries_of(const std::string& origin, const std::string& destination,
                                              const PathFigures& figures);
// All keys a path may have.
std::vector<std::string> keys_of(const std::string& origin, const std::string& destination);

// Keys are no longer than 253 letters; names that do not fit are measured and shown, but not written.
bool fits_in_a_key(const std::string& origin, const std::string& destination);

// What all of a path's entries take in the ConfigMap, at most.
std::size_t bytes_of_path(std::size_t longest_name);
inline constexpr std::size_t kMostConfigMapBytes = 900 * 1024;  // of the server's 1 MiB

// How many paths each node may write. invalid, with what would fit, where all of the mode's do not.
Result<std::size_t> most_paths_of(const std::vector<ProbeMember>& members, ProbeMode mode);

// Keys of paths from or to nodes that are none of `nodes`. Of those from `origin`, or of all where it is
// empty. Names may hold what separates them: a key that can be read as a path between nodes that are there
// is one.
std::vector<std::string> orphans(const std::vector<std::string>& keys, const std::set<std::string>& nodes,
                                 std::string_view origin);

class ProbeRow {
 public:
  explicit ProbeRow(std::string origin) : origin_(std::move(origin)) {}

  // What was there before us. Its age is not known: it counts from now.
  void found(const std::vector<std::string>& keys, const std::set<std::string>& nodes, Time now);
  // Paths to nodes that are gone are forgotten.
  void keep_only(const std::set<std::string>& nodes);
  void measured(const std::string& destination, const PathFigures& figures, Time now);

  struct Bounds {
    std::size_t most_paths = 0;              // the oldest give way
    Duration keep = std::chrono::hours(24);  // what was not measured for longer is no longer known
  };
  // What to write so that the ConfigMap says what we know; empty: it does.
  ConfigChanges changes(const Bounds& bounds, Time now);
  // They were not written: the next changes() has them again.
  void not_written(const ConfigChanges& changes);

  struct Path {
    std::optional<PathFigures> figures;  // nothing: written by one before us
    Time measured{};
  };
  const std::map<std::string, Path>& paths() const { return paths_; }

 private:
  void forget(const std::string& destination);

  std::string origin_;
  std::map<std::string, Path> paths_;
  ConfigChanges pending_;
};

}  // namespace evenkeel::monitor
