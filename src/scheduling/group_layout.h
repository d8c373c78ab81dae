// Pods of a group on nodes, with every quantity kept up that a search asks for again and again: what a pod
// would cost elsewhere is two reads, whether a rule allows it a few more.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "scheduling/group_problem.h"

namespace evenkeel::scheduling {

class GroupLayout {
 public:
  static constexpr std::uint32_t kNowhere = GroupProblem::kNowhere;

  explicit GroupLayout(const GroupProblem& problem);  // fixed pods where they are, the others nowhere

  const GroupProblem& problem() const { return *problem_; }
  std::uint32_t node_of(std::uint32_t pod) const { return node_of_[pod]; }
  const std::vector<std::uint32_t>& places() const { return node_of_; }
  std::uint32_t zone_of(std::uint32_t node) const { return zone_of_[node]; }
  bool is_fixed(std::uint32_t pod) const { return problem_->pods[pod].fixed != kNowhere; }
  std::uint32_t placed() const { return placed_; }
  double objective() const { return objective_; }

  // Pods that were put there, not the fixed ones.
  std::span<const std::uint32_t> pods_on(std::uint32_t node) const { return pods_on_[node]; }

  // Latency and bias of the pod on that node, the others being where they are; 0 for nowhere.
  double cost_at(std::uint32_t pod, std::uint32_t node) const {
    return node == kNowhere
               ? 0
               : zone_cost_[pod * zones_ + zone_of_[node]] - near_[std::size_t{pod} * nodes_ + node];
  }
  // What changes when two placed pods change places.
  double swap_delta(std::uint32_t pod, std::uint32_t other) const;

  // Whether the node is the pod's to have and has the room, were `leaving` (kNowhere: nobody) gone from it.
  bool has_room(std::uint32_t pod, std::uint32_t node, std::uint32_t leaving = kNowhere) const;
  // Every rule, with the pod nowhere.
  bool may_put(std::uint32_t pod, std::uint32_t node);
  // Changes places; rules are not looked at. kNowhere: takes it away.
  void move(std::uint32_t pod, std::uint32_t node);
  // Moves the pod if every rule allows it there; false: it stays.
  bool try_move(std::uint32_t pod, std::uint32_t node);
  bool try_swap(std::uint32_t pod, std::uint32_t other);

  struct Peer {
    std::uint32_t pod = 0;
    double out = 0, in = 0;                      // weights: to the peer, from it
    double out_bandwidth = 0, in_bandwidth = 0;  // likewise
    double max_cost = GroupProblem::kUnlimited;
  };
  std::span<const Peer> peers(std::uint32_t pod) const {
    return {peers_.data() + first_peer_[pod], peers_.data() + first_peer_[pod + 1]};
  }
  // What a move costs beside looking at it, in looks.
  std::uint64_t price_of_move(std::uint32_t pod) const { return price_[pod]; }

 private:
  void connect();
  void number_peers();
  void index_apart();
  const Peer* peer(std::uint32_t pod, std::uint32_t other) const;
  double between(const Peer& peer, std::uint32_t node, std::uint32_t other_node) const;
  void tell_peers(std::uint32_t pod, std::uint32_t from, std::uint32_t to);
  bool near_enough(std::uint32_t pod, std::uint32_t node) const;
  bool is_apart(std::uint32_t pod, std::uint32_t node) const;
  void count_apart(std::uint32_t pod, std::uint32_t node, std::uint32_t by);
  bool carries(std::uint32_t pod, std::uint32_t node);
  void add_flows(std::uint32_t pod, std::uint32_t node, double sign);
  template <class Each>
  void each_flow(std::uint32_t pod, std::uint32_t node, Each each);
  std::size_t link(std::uint32_t from_zone, std::uint32_t to_zone) const;

  const GroupProblem* problem_;
  std::size_t zones_, nodes_, resources_ = 0;
  bool symmetric_ = true;  // costs the same both ways
  bool limits_cost_ = false, limits_flow_ = false;
  std::vector<double> reverse_cost_;  // transposed
  std::vector<Peer> peers_;
  std::vector<std::uint32_t> first_peer_;
  // Pods x pods: which of the pod's peers, from 1; 0: none of them. Empty where there are very many pods.
  std::vector<std::uint16_t> peer_number_;
  std::vector<std::uint64_t> price_;
  std::vector<std::uint32_t> zone_of_, node_of_;
  std::vector<std::vector<std::uint32_t>> pods_on_;
  std::vector<double> free_, request_;  // nodes x resources, pods x resources
  std::vector<double> zone_cost_;       // pods x zones, as if on no peer's node
  std::vector<double> near_;            // pods x nodes: what sharing the node saves, less the bias
  // Rules by pod, and how many of a rule's pods each node or zone holds.
  std::vector<std::vector<std::uint32_t>> rules_of_;
  std::vector<std::vector<std::uint32_t>> held_;
  // Links: zones x zones, regions x regions, then the nodes' egress.
  std::vector<double> room_, used_;
  std::size_t region_links_ = 0, egress_ = 0;
  std::uint32_t placed_ = 0;
  double objective_ = 0;
};

}  // namespace evenkeel::scheduling
