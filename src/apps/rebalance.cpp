#include "apps/rebalance.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "scheduling/imbalance.h"
#include "scheduling/policies/least_imbalance.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using scheduling::Move;

constexpr Duration kFirstList = 60s, kTurn = 200ms, kUsageEvery = 5s;
constexpr double kEagerPrice = 0.01;  // somebody asked for moves now

kubernetes::KubernetesWorld::Options world_options(const Rebalance::Options& options) {
  kubernetes::KubernetesWorld::Options world;
  world.writes = !options.moves.dry_run;
  return world;
}

// Never asked where a pod should go, and never to move by itself.
scheduling::SchedulingOptions deciding_options(const Rebalance::Options& options) {
  scheduling::SchedulingOptions deciding;
  deciding.moves = options.moves;
  deciding.stale_after = 30s;
  if (options.usage) options.usage->prepare(deciding);
  return deciding;
}

scheduling::SchedulingOptions following_options(scheduling::SchedulingOptions options) {
  options.moves.per_hour = 0;
  return options;
}

double imbalance_of_cluster(const ClusterState& cluster) {
  return scheduling::imbalance_of(scheduling::utilization_field(cluster.columns()), cluster.node_count())
      .value();
}

}  // namespace

Rebalance::Rebalance(kubernetes::ApiConnection& connection, Options options,
                     std::function<void(const std::string&)> log)
    : connection_(connection),
      options_(std::move(options)),
      world_(connection, world_options(options_), log),
      deciding_(deciding_options(options_)),
      scheduler_(following_options(deciding_)),
      rebalancer_(options_.moves, options_.scheduler_name, kEagerPrice),
      log_(std::move(log)) {
  if (options_.usage) options_.usage->begin(world_, scheduler_, connection_.now());
}

Rebalance::~Rebalance() {
  if (options_.usage) options_.usage->end(false, connection_.now());
}

void Rebalance::observe(const ClusterEvent& event) {
  if (under_way_) {
    const auto* gone = std::get_if<PodGone>(&event);
    const auto* failed = std::get_if<EvictFailed>(&event);
    const auto* found = std::get_if<PodFound>(&event);
    gone_ = gone_ || (gone && gone->pod == under_way_->pod);
    if (failed && failed->pod == under_way_->pod) {
      refused_ = true;
      refusal_ = failed->why;
    }
    if (found && found->pod.shape->workload == workload_ && !landed_) landed_ = found->node;
  }
  scheduler_.observe(event, connection_.now());
}

bool Rebalance::follow(Time deadline) {
  if (options_.usage) options_.usage->turn(connection_.now(), false);
  const auto events = world_.wait_for_events(deadline);
  if (!events) return false;
  for (const ClusterEvent& event : *events) observe(event);
  const Time now = connection_.now();
  if (by_requests_ && (told_usage_ == Time::min() || now - told_usage_ >= kUsageEvery)) {
    told_usage_ = now;
    tell_requests_as_usage();
  }
  return true;
}

std::size_t Rebalance::measured_nodes() const {
  const ClusterState& cluster = scheduler_.cluster();
  const Time now = connection_.now();
  std::size_t count = 0;
  for (std::uint32_t slot = 0; slot < cluster.columns().size(); ++slot) {
    const bool seen = cluster.has_node({slot}) && cluster.measured_at({slot}) != Time::min();
    count += seen && now - cluster.measured_at({slot}) <= deciding_.stale_after ? 1 : 0;
  }
  return count;
}

// By what loads are told from here on, in words. A move is between two nodes: two that are measured are
// enough to go by, since the others are left alone.
std::string Rebalance::find_loads(const std::function<bool()>& stopped) {
  const std::size_t nodes = scheduler_.cluster().node_count();
  std::string why = "no source of live usage is given";
  if (options_.usage) {
    const Time end = connection_.now() + options_.first_usage;
    while (measured_nodes() < nodes && connection_.now() < end && !stopped())
      if (!follow(connection_.now() + kTurn)) break;
    const std::size_t measured = measured_nodes();
    const std::string of_all = std::to_string(measured) + " of " + std::to_string(nodes) + " nodes";
    if (measured >= 2) {
      if (measured < nodes) log_("live usage of " + of_all + ": the others are left alone");
      return "live usage of " + of_all;
    }
    why = "live usage of " + of_all + " only within " +
          std::to_string(std::lround(to_seconds(options_.first_usage))) + " s";
  }
  log_("loads go by what pods request: " + why);
  by_requests_ = true;
  (void)follow(connection_.now());
  return "requests (" + why + ")";
}

// Nobody measures here, so what pods ask for stands in for what they use.
void Rebalance::tell_requests_as_usage() {
  const ClusterState& cluster = scheduler_.cluster();
  const Time now = connection_.now();
  for (std::uint32_t slot = 0; slot < cluster.columns().size(); ++slot) {
    if (!cluster.has_node({slot})) continue;
    std::vector<PodUsage> pods;
    Usage total;
    for (const PodId id : cluster.pods_on({slot})) {
      const Resources& request = cluster.pod(id)->pod.shape->request;
      Usage usage;
      usage.of[static_cast<std::size_t>(Dimension::cpu)] = static_cast<double>(request.cpu.count) / 1000;
      usage.of[static_cast<std::size_t>(Dimension::memory)] = static_cast<double>(request.memory.count);
      pods.push_back({id, usage});
      total += usage;
    }
    scheduler_.observe(UsageReported{{slot}, now, total, pods}, now);
  }
}

std::optional<Move> Rebalance::next_move() {
  return rebalancer_.propose(cluster(), scheduler_.history(), deciding_, connection_.now());
}

void Rebalance::imagine(const Move& move) {
  if (!imagined_) imagined_ = scheduler_.cluster();
  const Pod pod = imagined_->pod(move.pod)->pod;
  const Demand expected = imagined_->pod(move.pod)->expected;
  imagined_->remove_pod(move.pod);
  imagined_->found(pod, move.to, expected, connection_.now());
  imagined_->mark_started(move.pod, connection_.now());
}

Rebalance::Made Rebalance::make(const Move& move, const std::function<bool()>& stopped) {
  const ClusterState& before = cluster();
  Made made{before.pod(move.pod)->pod.full_name(),
            before.node(move.from).name,
            before.node(move.to).name,
            move.why,
            move.gain / to_seconds(options_.moves.foresight),
            "proposed",
            ""};
  if (options_.moves.dry_run) {
    imagine(move);
    return made;
  }
  under_way_ = move;
  workload_ = before.pod(move.pod)->pod.shape->workload;
  gone_ = refused_ = false;
  landed_.reset();
  world_.execute(EvictPod{move.pod, move.to, move.why, false, move.gain});
  const Time end = connection_.now() + options_.patience;
  while (!refused_ && !(gone_ && landed_) && connection_.now() < end && !stopped())
    if (!follow(connection_.now() + kTurn)) break;
  under_way_.reset();
  made.outcome = refused_           ? "refused"
                 : gone_ && landed_ ? "moved"
                 : gone_            ? "gone, successor pending"
                                    : "pending";
  if (refused_) made.why = refusal_;
  if (landed_ && scheduler_.cluster().has_node(*landed_))
    made.landed = scheduler_.cluster().node(*landed_).name;
  return made;
}

Result<Rebalance::Report> Rebalance::run(const std::function<bool()>& stopped) {
  Report report;
  world_.start();
  const Time give_up = connection_.now() + kFirstList;
  while (!world_.synced() && connection_.now() < give_up && !stopped())
    if (!follow(connection_.now() + kTurn)) break;
  if (!world_.synced()) return unavailable("the cluster could not be listed in time");
  report.usage = find_loads(stopped);
  report.imbalance_before = imbalance_of_cluster(cluster());
  const Time end = connection_.now() + options_.longest;
  while (connection_.now() < end && !stopped()) {
    if (const std::optional<Move> move = next_move()) {
      report.moves.push_back(make(*move, stopped));
      continue;
    }
    if (options_.once) break;
    if (!follow(std::min(end, connection_.now() + kTurn))) break;
  }
  report.imbalance_after = imbalance_of_cluster(cluster());
  connection_.run_for(5s, [&] { return world_.outstanding() == 0 && world_.events().waiting() == 0; });
  return report;
}

std::string Rebalance::Report::json(bool dry_run) const {
  using Json = nlohmann::ordered_json;
  Json all = Json::array();
  for (const Made& made : moves)
    all.push_back({{"pod", made.pod},
                   {"from", made.from},
                   {"to", made.to},
                   {"gain", made.gain},
                   {"why", made.why},
                   {"outcome", made.outcome},
                   {"landed", made.landed}});
  const Json value = {{"dry_run", dry_run},
                      {"usage", usage},
                      {"imbalance", {{"before", imbalance_before}, {"after", imbalance_after}}},
                      {"moves", std::move(all)}};
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace evenkeel::apps
