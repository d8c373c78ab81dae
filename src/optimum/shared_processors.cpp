#include "optimum/shared_processors.h"

#include <algorithm>
#include <numeric>

namespace evenkeel::optimum {

SharedProcessors::SharedProcessors(const PlanProblem& problem) {
  for (const PlanPod& pod : problem.pods) {
    Task& task = tasks_.emplace_back();
    double core_s = 0;
    for (const PlanPhase& phase : pod.phases) {
      task.work_s += phase.seconds;
      core_s += phase.seconds * phase.demand[Dimension::cpu];
    }
    task.cores = task.work_s > 0 ? core_s / task.work_s : 0;
  }
  std::vector<std::uint32_t> order(tasks_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(tasks_[a].work_s, a) < std::pair(tasks_[b].work_s, b);
  });
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) tasks_[order[rank]].rank = rank;
  for (const PlanNode& node : problem.nodes)
    free_.push_back(std::max(1e-9, node.capacity[Dimension::cpu] - node.base[Dimension::cpu]));
  effort_ = 1 + tasks_.size() / std::max<std::size_t>(1, free_.size()) / 4;
  refresh({});
}

// From the longest task to the shortest: the stretch of work between one and the next is done by those met so
// far and nobody else, at a speed their number decides, and each of them waits for all of it.
double SharedProcessors::response_sum(std::size_t node, std::size_t without, std::size_t with) const {
  if (node == free_.size()) return 0;
  double sum = 0, cores = 0, running = 0, longer_s = 0;
  const auto add = [&](const Task& task) {
    sum += (longer_s - task.work_s) * running * std::max(1.0, cores / free_[node]);
    longer_s = task.work_s;
    running += 1;
    cores += task.cores;
  };
  const std::vector<std::uint32_t>& here = on_[node];
  bool due = with != kNobody;
  for (std::size_t i = here.size(); i-- > 0;) {
    const std::uint32_t pod = here[i];
    if (due && tasks_[with].rank > tasks_[pod].rank) {
      add(tasks_[with]);
      due = false;
    }
    if (pod != without) add(tasks_[pod]);
  }
  if (due) add(tasks_[with]);
  return sum + longer_s * running * std::max(1.0, cores / free_[node]);
}

double SharedProcessors::difference(const Change& change) {
  return (response_sum(change.from, change.pod, change.other) - sums_[change.from] +
          response_sum(change.to, change.other, change.pod) - sums_[change.to]) /
         static_cast<double>(tasks_.size());
}

void SharedProcessors::make(const Change& change) {
  const auto by_rank = [&](std::uint32_t a, std::uint32_t b) { return tasks_[a].rank < tasks_[b].rank; };
  const auto carry = [&](std::size_t pod, std::size_t from, std::size_t to) {
    const auto id = static_cast<std::uint32_t>(pod);
    on_[from].erase(std::lower_bound(on_[from].begin(), on_[from].end(), id, by_rank));
    on_[to].insert(std::lower_bound(on_[to].begin(), on_[to].end(), id, by_rank), id);
  };
  carry(change.pod, change.from, change.to);
  if (change.other != kNobody) carry(change.other, change.to, change.from);
  for (const std::size_t node : {change.from, change.to}) sums_[node] = response_sum(node, kNobody, kNobody);
}

void SharedProcessors::refresh(const Assignment& assignment) {
  std::vector<std::uint32_t> order(tasks_.size());
  for (std::uint32_t pod = 0; pod < tasks_.size(); ++pod) order[tasks_[pod].rank] = pod;
  on_.assign(free_.size() + 1, {});
  for (const std::uint32_t pod : order) {
    const std::uint32_t node = assignment.empty() ? kNowhere : assignment[pod];
    on_[node == kNowhere ? free_.size() : node].push_back(pod);
  }
  sums_.clear();
  for (std::size_t node = 0; node < on_.size(); ++node) sums_.push_back(response_sum(node, kNobody, kNobody));
}

double SharedProcessors::value() const {
  return std::accumulate(sums_.begin(), sums_.end(), 0.0) / static_cast<double>(tasks_.size());
}

}  // namespace evenkeel::optimum
