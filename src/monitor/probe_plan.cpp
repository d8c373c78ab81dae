#include "monitor/probe_plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace evenkeel::monitor {
namespace {

constexpr std::array<std::pair<ProbeMode, std::string_view>, 3> kNames = {
    {{ProbeMode::basic, "basic"}, {ProbeMode::full, "full"}, {ProbeMode::zones, "zones"}}};
constexpr std::size_t kLanes = 3;
constexpr double kSpread = 0.5;  // of a slot: the rest is for the test

// In round r everybody talks to the one r places on: a circle or several, each place in one test that begins
// and one that ends there. Neighbours on a circle take turns, and where it is odd its last has a turn of its
// own.
std::vector<std::size_t> lanes_of(std::size_t places, std::size_t round) {
  std::vector<std::size_t> lanes(places);
  const std::size_t circles = std::gcd(places, round), length = places / circles;
  for (std::size_t first = 0; first < circles; ++first) {
    std::size_t at = first;
    for (std::size_t step = 0; step < length; ++step) {
      lanes[at] = length % 2 == 1 && step + 1 == length ? 2 : step % 2;
      at = (at + round) % places;
    }
  }
  return lanes;
}

using Zone = std::pair<std::string_view, std::string_view>;  // region, zone
using Zones = std::map<Zone, std::vector<const ProbeMember*>>;

Zones zones_of(const std::vector<ProbeMember>& members) {
  Zones zones;
  for (const ProbeMember& member : members) zones[{member.region, member.zone}].push_back(&member);
  return zones;
}

// Who speaks for a zone about another one: the highest number drawn. Other pairs of zones load other nodes,
// and one that comes or goes changes nothing for those who do not lose to it.
const std::string& speaker(const std::vector<const ProbeMember*>& candidates, const Zone& from,
                           const Zone& to) {
  const Random pair = Random(1).fork(from.first).fork(from.second).fork(to.first).fork(to.second);
  const auto drawn = [&](const ProbeMember* member) { return pair.fork(member->node).bits(); };
  return (*std::ranges::max_element(candidates, {}, drawn))->node;
}

class Planner {
 public:
  Planner(const ProbeSettings& settings, std::int64_t epoch, std::size_t rounds)
      : settings_(settings), epoch_(epoch), slot_(settings.period / static_cast<int>(kLanes * rounds)) {}

  void add(std::size_t slot, const std::string& origin, const std::string& destination, std::int64_t visit) {
    Random chance = Random(2).fork(origin).fork(destination);
    const bool with_bandwidth =
        settings_.bandwidth_every > 0 &&
        (visit + static_cast<std::int64_t>(chance.below(1 << 20))) % settings_.bandwidth_every == 0;
    const double late = kSpread * chance.fork(static_cast<std::uint64_t>(epoch_)).uniform();
    tasks_.push_back(
        {.origin = origin,
         .destination = destination,
         .start = slot_ * static_cast<std::int64_t>(slot) + from_seconds(late * to_seconds(slot_)),
         .with_bandwidth = with_bandwidth});
  }

  std::vector<ProbeTask> take() {
    std::ranges::sort(tasks_, [](const ProbeTask& a, const ProbeTask& b) {
      return std::tie(a.start, a.origin, a.destination) < std::tie(b.start, b.origin, b.destination);
    });
    return std::move(tasks_);
  }

 private:
  const ProbeSettings& settings_;
  std::int64_t epoch_;
  Duration slot_;
  std::vector<ProbeTask> tasks_;
};

std::vector<ProbeTask> plan_zones(const std::vector<ProbeMember>& members, const ProbeSettings& settings,
                                  std::int64_t epoch) {
  const Zones by_name = zones_of(members);
  const std::vector<Zones::value_type> zones(by_name.begin(), by_name.end());
  if (zones.size() < 2) return {};
  Planner planner(settings, epoch, zones.size() - 1);
  for (std::size_t round = 1; round < zones.size(); ++round) {
    const auto lanes = lanes_of(zones.size(), round);
    for (std::size_t i = 0; i < zones.size(); ++i) {
      const auto& [from, origins] = zones[i];
      const auto& [to, destinations] = zones[(i + round) % zones.size()];
      planner.add(kLanes * (round - 1) + lanes[i], speaker(origins, from, to),
                  speaker(destinations, from, to), epoch);
    }
  }
  return planner.take();
}

}  // namespace

std::optional<ProbeMode> probe_mode_of(std::string_view name) {
  for (const auto& [mode, spelt] : kNames)
    if (spelt == name) return mode;
  return std::nullopt;
}

std::string_view name_of(ProbeMode mode) { return kNames[static_cast<std::size_t>(mode)].second; }

std::int64_t epoch_at(Time now, Duration period) {
  const std::int64_t time = now.time_since_epoch().count(), length = period.count();
  return time / length - (time % length < 0 ? 1 : 0);
}

Time beginning_of(std::int64_t epoch, Duration period) { return Time(epoch * period); }

std::vector<ProbeTask> plan_probes(std::vector<ProbeMember> members, const ProbeSettings& settings,
                                   std::int64_t epoch) {
  std::ranges::sort(members, {}, &ProbeMember::node);
  if (settings.mode == ProbeMode::zones) return plan_zones(members, settings, epoch);
  const std::size_t count = members.size();
  if (count < 2) return {};
  const bool is_full = settings.mode == ProbeMode::full;
  const auto others = static_cast<std::int64_t>(count - 1);
  const auto turn = static_cast<std::size_t>(((epoch % others) + others) % others);
  const std::size_t first = is_full ? 1 : 1 + turn, last = is_full ? count - 1 : first;
  Planner planner(settings, epoch, last - first + 1);
  for (std::size_t round = first; round <= last; ++round) {
    const auto lanes = lanes_of(count, round);
    for (std::size_t i = 0; i < count; ++i)
      planner.add(kLanes * (round - first) + lanes[i], members[i].node, members[(i + round) % count].node,
                  is_full ? epoch : epoch / others);
  }
  return planner.take();
}

std::size_t pairs_of(const std::vector<ProbeMember>& members, ProbeMode mode) {
  const std::size_t count = mode == ProbeMode::zones ? zones_of(members).size() : members.size();
  return count < 2 ? 0 : count * (count - 1);
}

}  // namespace evenkeel::monitor
