#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "base/yaml_reader.h"
#include "cluster/network_topology.h"
#include "simulator/world_plan.h"

namespace evenkeel::simulator {

// Where nodes stand and what it costs to talk between these places: a scenario's `network`.
//
//   network:
//     unit: 1ms                    # of latency that one unit of cost stands for
//     zones:                       # of one region; every pair that the list does not name costs `cost`
//       cost: 8
//       bandwidth: 10Gbit/s        # of the link; absent: unlimited
//       list:
//         - {between: [z1, z2], cost: 5, bandwidth: 1Gbit/s}     # both ways; `from` and `to`: one way
//       trace: FILE                # region,src_zone,dst_zone,rtt_avg_ms
//     regions: …                   # the same; trace: src,dst,rtt_avg_ms
//     places: 6                    # so many zones of the traces, others for each seed; absent: all
//   nodes:
//     per_place: 2                 # nodes like the first of `nodes.list` in each zone of a trace
//
// A trace may be a series (column window_end): its last window counts. Regions of a trace without zones have
// one zone each, called like them. What a trace does not name stays unknown. Within a zone a node talks to
// another at a cost of 1, whatever a trace says of it: that is Diktyo's.
class Places {
 public:
  static Places read(YamlReader& root);

  bool traced() const { return !zones_.path.empty() || !regions_.path.empty(); }
  std::string description() const;
  double unit_ms() const { return to_seconds(unit_) * 1000; }

  // Nodes like `pattern` at the places of the traces, if there are any.
  void add_nodes(const NodePlan& pattern, Random random, WorldPlan& plan) const;
  // Between all places that have a node.
  NetworkTopology topology(const WorldPlan& plan) const;

 private:
  struct Link {
    std::int64_t cost = 0;
    std::optional<BitsPerSecond> bandwidth;
  };
  struct Level {
    std::optional<std::int64_t> cost;  // of what is not listed
    std::optional<BitsPerSecond> bandwidth;
    std::map<std::pair<std::string, std::string>, Link> links;  // origin, destination
    std::string path;
  };
  using Place = std::pair<std::string, std::string>;  // region, zone

  void read_level(YamlReader root, Level& level);
  Status read_trace(Level& level, bool of_zones);
  static NetworkTopology::Level level_of(const Level& level, std::string_view key,
                                         const std::vector<std::pair<std::string, std::string>>& pairs);
  std::vector<Place> traced_places() const;

  Duration unit_{std::chrono::milliseconds{1}};
  Level zones_, regions_;
  std::map<std::string, std::string> region_of_;  // zones of a trace
  std::size_t places_ = 0;
  std::int64_t per_place_ = 2;
};

}  // namespace evenkeel::simulator
