#include "scheduling/group_layout.h"

#include <algorithm>
#include <map>

namespace evenkeel::scheduling {
namespace {

constexpr std::size_t kNoLink = std::numeric_limits<std::size_t>::max();
constexpr double kSlack = 1e-9;  // of what is there: sums in another order are no breach

double with_slack(double room) { return room + kSlack * (room < 0 ? -room : room); }

}  // namespace

GroupLayout::GroupLayout(const GroupProblem& problem)
    : problem_(&problem), zones_(problem.zones), nodes_(problem.nodes.size()) {
  const std::size_t pods = problem.pods.size();
  for (const GroupProblem::Node& node : problem.nodes) {
    resources_ = std::max(resources_, node.free.size());
    zone_of_.push_back(node.zone);
  }
  free_.assign(nodes_ * resources_, 0);
  for (std::size_t n = 0; n < nodes_; ++n)
    std::ranges::copy(problem.nodes[n].free, free_.begin() + static_cast<std::ptrdiff_t>(n * resources_));
  request_.assign(pods * resources_, 0);
  near_.assign(pods * nodes_, 0);
  for (std::size_t p = 0; p < pods; ++p) {
    const GroupProblem::Pod& pod = problem.pods[p];
    for (std::size_t r = 0; r < std::min(resources_, pod.request.size()); ++r)
      request_[p * resources_ + r] = pod.request[r];
    for (std::size_t n = 0; n < pod.bias.size(); ++n) near_[p * nodes_ + n] = -pod.bias[n];
  }
  zone_cost_.assign(pods * zones_, 0);
  reverse_cost_.resize(problem.cost.size());
  for (std::size_t a = 0; a < zones_; ++a)
    for (std::size_t b = 0; b < zones_; ++b) {
      reverse_cost_[a * zones_ + b] = problem.cost[b * zones_ + a];
      symmetric_ = symmetric_ && problem.cost[a * zones_ + b] == problem.cost[b * zones_ + a];
    }
  node_of_.assign(pods, kNowhere);
  pods_on_.resize(nodes_);
  connect();
  index_apart();
  for (std::uint32_t p = 0; p < pods; ++p)
    if (is_fixed(p)) move(p, problem.pods[p].fixed);
}

// Edges by pod, all between the same two folded into one; what one has to itself is of no account.
void GroupLayout::connect() {
  const std::size_t pods = problem_->pods.size();
  std::vector<std::map<std::uint32_t, Peer>> found(pods);
  for (const GroupProblem::Edge& edge : problem_->edges) {
    if (edge.from == edge.to) continue;
    Peer& to = found[edge.from][edge.to];
    Peer& from = found[edge.to][edge.from];
    to.pod = edge.to;
    from.pod = edge.from;
    to.out += edge.weight;
    from.in += edge.weight;
    to.out_bandwidth += edge.bandwidth;
    from.in_bandwidth += edge.bandwidth;
    to.max_cost = from.max_cost = std::min(to.max_cost, edge.max_cost);
    limits_cost_ = limits_cost_ || edge.max_cost != GroupProblem::kUnlimited;
    limits_flow_ = limits_flow_ || edge.bandwidth > 0;
  }
  constexpr std::uint64_t kLanes = 8;
  for (const auto& peers : found) {
    first_peer_.push_back(static_cast<std::uint32_t>(peers_.size()));
    for (const auto& [pod, peer] : peers) peers_.push_back(peer);
  }
  first_peer_.push_back(static_cast<std::uint32_t>(peers_.size()));
  number_peers();

  const std::size_t regions = problem_->regions;
  region_links_ = zones_ * zones_;
  egress_ = region_links_ + regions * regions;
  room_ = problem_->zone_room;
  room_.resize(region_links_, GroupProblem::kUnlimited);
  room_.insert(room_.end(), problem_->region_room.begin(), problem_->region_room.end());
  room_.resize(egress_, GroupProblem::kUnlimited);
  for (const GroupProblem::Node& node : problem_->nodes) room_.push_back(node.egress);
  used_.assign(room_.size(), 0);
  limits_flow_ = limits_flow_ &&
                 std::ranges::any_of(room_, [](double room) { return room != GroupProblem::kUnlimited; });
  // Measured: what a peer is told by lanes of zones, and what links are told four times over.
  for (std::size_t p = 0; p < pods; ++p)
    price_.push_back(1 +
                     (first_peer_[p + 1] - first_peer_[p]) * (2 + zones_ / kLanes + (limits_flow_ ? 4 : 0)));
}

// Every swap asks whether its two are connected: a table answers faster than a search.
void GroupLayout::number_peers() {
  constexpr std::size_t kMost = 1024;
  const std::size_t pods = problem_->pods.size();
  if (pods > kMost) return;
  peer_number_.assign(pods * pods, 0);
  for (std::uint32_t p = 0; p < pods; ++p) {
    std::uint16_t number = 0;
    for (const Peer& peer : peers(p)) peer_number_[p * pods + peer.pod] = ++number;
  }
}

void GroupLayout::index_apart() {
  rules_of_.resize(problem_->pods.size());
  for (std::uint32_t rule = 0; rule < problem_->apart.size(); ++rule) {
    const GroupProblem::Apart& apart = problem_->apart[rule];
    for (const std::uint32_t pod : apart.pods) rules_of_[pod].push_back(rule);
    held_.emplace_back(apart.taken.begin(), apart.taken.end());
    held_.back().resize(apart.by_zone ? zones_ : nodes_, 0);
  }
}

const GroupLayout::Peer* GroupLayout::peer(std::uint32_t pod, std::uint32_t other) const {
  const auto all = peers(pod);
  if (!peer_number_.empty()) {
    const std::uint16_t number = peer_number_[std::size_t{pod} * problem_->pods.size() + other];
    return number == 0 ? nullptr : &all[number - 1U];
  }
  const auto at = std::ranges::lower_bound(all, other, {}, &Peer::pod);
  return at != all.end() && at->pod == other ? &*at : nullptr;
}

double GroupLayout::between(const Peer& peer, std::uint32_t node, std::uint32_t other_node) const {
  return peer.out * problem_->distance(node, other_node) + peer.in * problem_->distance(other_node, node);
}

double GroupLayout::swap_delta(std::uint32_t pod, std::uint32_t other) const {
  const std::uint32_t a = node_of_[pod], b = node_of_[other];
  const double alone = cost_at(pod, b) + cost_at(other, a) - cost_at(pod, a) - cost_at(other, b);
  const Peer* connection = peer(pod, other);
  if (!connection) return alone;
  // Each was looked at as if the other stayed where it is.
  return alone - between(*connection, b, b) - between(*connection, a, a) + between(*connection, b, a) +
         between(*connection, a, b);
}

bool GroupLayout::has_room(std::uint32_t pod, std::uint32_t node, std::uint32_t leaving) const {
  const std::vector<std::uint8_t>& allowed = problem_->pods[pod].allowed;
  if (!allowed.empty() && !allowed[node]) return false;
  const double* free = &free_[node * resources_];
  const double* request = &request_[pod * resources_];
  if (leaving == kNowhere) {
    for (std::size_t r = 0; r < resources_; ++r)
      if (request[r] > 0 && request[r] > with_slack(free[r])) return false;
    return true;
  }
  const double* back = &request_[leaving * resources_];
  for (std::size_t r = 0; r < resources_; ++r)
    if (request[r] > 0 && request[r] > with_slack(free[r] + back[r])) return false;
  return true;
}

bool GroupLayout::may_put(std::uint32_t pod, std::uint32_t node) {
  return has_room(pod, node) && is_apart(pod, node) && near_enough(pod, node) && carries(pod, node);
}

bool GroupLayout::is_apart(std::uint32_t pod, std::uint32_t node) const {
  return std::ranges::all_of(rules_of_[pod], [&](std::uint32_t rule) {
    return held_[rule][problem_->apart[rule].by_zone ? zone_of_[node] : node] == 0;
  });
}

void GroupLayout::count_apart(std::uint32_t pod, std::uint32_t node, std::uint32_t by) {
  for (const std::uint32_t rule : rules_of_[pod])
    held_[rule][problem_->apart[rule].by_zone ? zone_of_[node] : node] += by;
}

bool GroupLayout::near_enough(std::uint32_t pod, std::uint32_t node) const {
  if (!limits_cost_) return true;
  return std::ranges::all_of(peers(pod), [&](const Peer& peer) {
    const std::uint32_t other = node_of_[peer.pod];
    return peer.max_cost == GroupProblem::kUnlimited || other == kNowhere ||
           (problem_->distance(node, other) <= peer.max_cost &&
            problem_->distance(other, node) <= peer.max_cost);
  });
}

std::size_t GroupLayout::link(std::uint32_t from_zone, std::uint32_t to_zone) const {
  if (from_zone == to_zone) return kNoLink;
  const std::uint32_t from = problem_->region[from_zone], to = problem_->region[to_zone];
  return from == to ? from_zone * zones_ + to_zone
                    : region_links_ + std::size_t{from} * problem_->regions + to;
}

// What the pod on that node sends and is sent, link by link. Between two fixed pods nothing is reserved
// again: the rooms are what is left.
template <class Each>
void GroupLayout::each_flow(std::uint32_t pod, std::uint32_t node, Each each) {
  const std::uint32_t zone = zone_of_[node];
  for (const Peer& peer : peers(pod)) {
    const std::uint32_t other = node_of_[peer.pod];
    if (other == kNowhere || other == node || peer.out_bandwidth + peer.in_bandwidth == 0) continue;
    if (is_fixed(pod) && is_fixed(peer.pod)) continue;
    const std::uint32_t other_zone = zone_of_[other];
    if (peer.out_bandwidth > 0) {
      each(egress_ + node, peer.out_bandwidth);
      if (const std::size_t out = link(zone, other_zone); out != kNoLink) each(out, peer.out_bandwidth);
    }
    if (peer.in_bandwidth > 0) {
      each(egress_ + other, peer.in_bandwidth);
      if (const std::size_t in = link(other_zone, zone); in != kNoLink) each(in, peer.in_bandwidth);
    }
  }
}

void GroupLayout::add_flows(std::uint32_t pod, std::uint32_t node, double sign) {
  each_flow(pod, node, [&](std::size_t at, double flow) { used_[at] += sign * flow; });
}

bool GroupLayout::carries(std::uint32_t pod, std::uint32_t node) {
  if (!limits_flow_) return true;
  add_flows(pod, node, 1);
  bool enough = true;
  each_flow(pod, node,
            [&](std::size_t at, double) { enough = enough && used_[at] <= with_slack(room_[at]); });
  add_flows(pod, node, -1);
  return enough;
}

// What the pod's peers pay on each node and zone, after it went from one node to another.
void GroupLayout::tell_peers(std::uint32_t pod, std::uint32_t from, std::uint32_t to) {
  const auto saved_by_sharing = [&](std::uint32_t node) {
    return problem_->cost[zone_of_[node] * (zones_ + 1)] - problem_->same_node;
  };
  const auto change = [&](double* row, const std::vector<double>& cost, std::uint32_t node, double weight) {
    const double* by_zone = &cost[zone_of_[node] * zones_];
    for (std::size_t z = 0; z < zones_; ++z) row[z] += weight * by_zone[z];
  };
  const bool changes_zone = from == kNowhere || to == kNowhere || zone_of_[from] != zone_of_[to];
  for (const Peer& peer : peers(pod)) {
    const double weight = peer.out + peer.in;
    double* near = &near_[std::size_t{peer.pod} * nodes_];
    if (from != kNowhere) near[from] -= weight * saved_by_sharing(from);
    if (to != kNowhere) near[to] += weight * saved_by_sharing(to);
    if (!changes_zone) continue;
    double* row = &zone_cost_[peer.pod * zones_];
    for (const auto& [node, sign] : {std::pair{from, -1.0}, std::pair{to, 1.0}}) {
      if (node == kNowhere) continue;
      if (symmetric_) {
        change(row, problem_->cost, node, sign * weight);
      } else {
        change(row, problem_->cost, node, sign * peer.out);
        change(row, reverse_cost_, node, sign * peer.in);
      }
    }
  }
}

void GroupLayout::move(std::uint32_t pod, std::uint32_t node) {
  const std::uint32_t from = node_of_[pod];
  if (from == node) return;
  const bool fixed = is_fixed(pod);
  objective_ += cost_at(pod, node) - cost_at(pod, from);
  if (from != kNowhere) {
    if (limits_flow_) add_flows(pod, from, -1);
    for (std::size_t r = 0; r < resources_; ++r)
      free_[from * resources_ + r] += request_[pod * resources_ + r];
    std::vector<std::uint32_t>& here = pods_on_[from];
    *std::ranges::find(here, pod) = here.back();
    here.pop_back();
    count_apart(pod, from, std::uint32_t(-1));
    --placed_;
  }
  node_of_[pod] = node;
  if (node != kNowhere) {
    if (!fixed) {  // what fixed pods take is counted
      for (std::size_t r = 0; r < resources_; ++r)
        free_[node * resources_ + r] -= request_[pod * resources_ + r];
      pods_on_[node].push_back(pod);
    }
    if (limits_flow_) add_flows(pod, node, 1);
    count_apart(pod, node, 1);
    ++placed_;
  }
  tell_peers(pod, from, node);
}

bool GroupLayout::try_move(std::uint32_t pod, std::uint32_t node) {
  const std::uint32_t from = node_of_[pod];
  if (rules_of_[pod].empty() && !limits_cost_ && !limits_flow_) {
    if (!has_room(pod, node)) return false;
    move(pod, node);
    return true;
  }
  if (!has_room(pod, node) || !near_enough(pod, node)) return false;
  if (from != kNowhere) {
    // Its own traces must not stand in its way.
    count_apart(pod, from, std::uint32_t(-1));
    if (limits_flow_) add_flows(pod, from, -1);
  }
  node_of_[pod] = kNowhere;
  const bool fits = is_apart(pod, node) && carries(pod, node);
  node_of_[pod] = from;
  if (from != kNowhere) {
    count_apart(pod, from, 1);
    if (limits_flow_) add_flows(pod, from, 1);
  }
  if (fits) move(pod, node);
  return fits;
}

bool GroupLayout::try_swap(std::uint32_t pod, std::uint32_t other) {
  const std::uint32_t a = node_of_[pod], b = node_of_[other];
  if (!has_room(pod, b, other) || !has_room(other, a, pod)) return false;
  if (rules_of_[pod].empty() && rules_of_[other].empty() && !limits_cost_ && !limits_flow_) {
    move(pod, b);
    move(other, a);
    return true;
  }
  move(pod, kNowhere);
  move(other, kNowhere);
  if (may_put(pod, b)) {
    move(pod, b);
    if (may_put(other, a)) {
      move(other, a);
      return true;
    }
    move(pod, kNowhere);
  }
  move(pod, a);
  move(other, b);
  return false;
}

}  // namespace evenkeel::scheduling
