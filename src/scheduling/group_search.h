// The moves that the planner of groups knows, on a layout of its own; see group_plan.h.
#pragma once
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "scheduling/group_layout.h"

namespace evenkeel::scheduling {

class GroupSearch {
 public:
  GroupSearch(const GroupProblem& problem, Random random);

  // Everything that was put is where these places say, as far as rules allow, in the order of pods.
  void restore(const std::vector<std::uint32_t>& places);
  // Puts what is nowhere, the pod with the heaviest connections to what is placed first, each to its cheapest
  // node. Nothing is placed yet: the first goes to a node by draw, or to the one with most room around it.
  void grow(bool first_by_draw);
  // Until nothing better is one pod or one swap away.
  void descend(std::uint64_t budget);
  // The temperature falls from `hot` to `cold` while the budget lasts.
  void anneal(std::uint64_t budget, double hot, double cold);
  // What the objective changes by when a pod goes elsewhere: on average, and where it is little (of ten
  // changes one is smaller), those left out that are next to none beside the average.
  struct Changes {
    double typical = 0, small = 0;
  };
  Changes sample_changes();

  const GroupLayout& layout() const { return layout_; }
  std::uint64_t looks() const { return looks_; }
  // The best places so far, by number placed, then by objective.
  const std::vector<std::uint32_t>& best() const { return best_; }
  std::uint32_t best_placed() const { return best_placed_; }
  double best_objective() const { return best_objective_; }
  void start_over();  // everything put is taken away; the best stays known
  bool nothing_to_do() const { return movable_.empty() || layout_.problem().nodes.empty(); }

 private:
  static constexpr std::uint32_t kNowhere = GroupProblem::kNowhere;

  void note();
  bool accepts(double delta);
  // Below `count`, which is far below 2^32: near enough alike, and without a division.
  std::uint32_t draw(std::size_t count) {
    return static_cast<std::uint32_t>(((random_.bits() >> 32) * count) >> 32);
  }
  std::uint32_t draw_node(std::uint32_t pod);
  std::uint32_t cheapest_node(std::uint32_t pod, std::uint32_t except);
  std::uint32_t next_to_grow(const std::vector<double>& pull, const std::vector<std::uint8_t>& tried);
  std::uint32_t roomiest_node(std::uint32_t pod);
  void relocate(std::uint32_t pod, std::uint32_t node);
  void swap_with(std::uint32_t pod, std::uint32_t other);
  void chain(std::uint32_t pod, std::uint32_t node);
  void exchange_nodes();
  void shift_zone();
  void insert(std::uint32_t pod);
  bool make_room(std::uint32_t pod, std::uint32_t node);

  // Moves made and not yet decided about, to be undone last first.
  struct Made {
    std::uint32_t pod, from;
  };
  void make(std::uint32_t pod, std::uint32_t node);
  bool try_make(std::uint32_t pod, std::uint32_t node);
  void undo_all();
  void settle(double before, std::uint32_t placed_before);

  GroupLayout layout_;
  Random random_;
  std::vector<std::uint32_t> movable_;
  std::vector<std::vector<std::uint32_t>> nodes_of_;  // that the pod may have, by pod
  std::vector<std::vector<std::uint32_t>> zone_nodes_;
  std::vector<double> pull_of_all_;  // weight of a pod's connections
  std::vector<Made> made_;
  std::vector<std::uint32_t> best_;
  std::uint32_t best_placed_ = 0;
  double best_objective_ = 0;
  std::uint64_t looks_ = 0;
  double temperature_ = 0;
};

}  // namespace evenkeel::scheduling
