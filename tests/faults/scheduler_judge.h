#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/live_observer.h"
#include "simulated_connection.h"

namespace evenkeel::faults {

// Holds schedulers to what they must never do, whatever goes wrong around them. Each decision is judged at
// the moment it is made, by what its process had been told by then and what it had decided itself:
//
//   the pod      is known, waits, has no gates, names our scheduler
//   the node     is known, and not cordoned or tainted against the pod
//   the room     CPU, memory, number of pods and host ports suffice beside every pod known to be there and
//   every
//                binding of this process that has not failed; nobody's required anti-affinity is hurt
//   the victims  of a preemption are on that node and of lower priority; while they end, no others are chosen
//   for the
//                same pod and node
//   the moves    are of pods that run on another node than they are to go to, that a controller would make
//                anew, and that neither say themselves nor by what they keep that they must stay
//
// And each request at the moment it is sent: a binding was decided so by its sender, and was not confirmed to
// it before; only decided victims are ended; nothing of another scheduler's is touched; whoever writes holds
// the lease, by the server's record and by the clock.
//
// Where leadership has terms (the agents of a distributed scheduler), besides: a term is one process's, and
// they only rise; nobody takes the lease from a holder that lives before it has run out; a binding carries
// the term of its sender, in no term two of them bind, and where bindings are fenced none of an earlier term
// than the lease's is done.
//
// Events, which only tell what was done, need no lease. A node that left and came back under its name is
// another: what was decided about the first one must not be sent any more, and does not count on the second.
//
// Excused is what nobody could know: pods that somebody else bound and nodes that shrank or left without the
// process having been told. Such over-commitment is counted; where nobody else binds, no node changes and one
// process is alone, there must be none (`expects_truth`).
class SchedulerJudge {
 public:
  struct Options {
    std::string scheduler_name;
    bool elects = false;
    Duration lease = std::chrono::seconds(15);
    bool has_terms = false, is_fenced = false;
    bool expects_truth = false;
  };
  struct Counts {
    std::uint64_t decisions = 0, bindings = 0, conflicts = 0, preemptions = 0, excused = 0, leaders = 0;
    std::uint64_t moves = 0, moves_refused = 0;  // refused: by a disruption budget
    // Of an earlier term: refused by the fence, and, without one, done.
    std::uint64_t fenced = 0, done_late = 0;
  };

  SchedulerJudge(SimulatedNetwork& network, Options options);
  ~SchedulerJudge();
  SchedulerJudge(const SchedulerJudge&) = delete;
  SchedulerJudge& operator=(const SchedulerJudge&) = delete;

  // What listens to one process from its start to its end; lives as long as the judge.
  apps::LiveObserver& observer(SimulatedConnection& process);
  // Objects that no reader understands take no room as far as a scheduler can know.
  void leave_out(const std::string& pod) { left_out_.insert(pod); }

  // Told of each answer of a policy, and of each move, after it was judged here.
  std::function<void(const std::string& process, const scheduling::PlacementRequest&, std::optional<NodeId>)>
      decided = [](const auto&, const auto&, const auto&) {};
  std::function<void(const std::string& process, const Stored& pod)> moved = [](const auto&, const auto&) {};

  // Whether a process lives, stopped or not.
  std::function<bool(const std::string& process)> lives = [](const std::string&) { return true; };
  // Told of each binding that was done.
  std::function<void(const std::string& process, const Stored& pod)> bound = [](const auto&, const auto&) {};

  // From here on one process is alone and needs no lease.
  void end_election() { options_.elects = options_.has_terms = options_.is_fenced = false; }
  const std::string& leader() const { return leader_; }  // the process that holds the lease; empty: nobody
  std::uint64_t term() const { return term_; }           // of the lease, as it is stored
  // What an admission policy makes of a binding whose sender says its term: why it is refused, or nothing.
  std::string fence(const json& binding) const;

  const std::vector<std::string>& violations() const { return violations_; }
  const Counts& counts() const { return counts_; }
  void accuse(const std::string& what);

 private:
  class Process;
  struct Holder {
    std::optional<Time> sent, renewed;  // a renewal left; the last one that was done had left
    std::uint64_t term = 0;             // its last
  };

  void sent(SimulatedConnection& connection, const kubernetes::ApiRequest& request);
  void answered(SimulatedConnection& connection, const kubernetes::ApiRequest& request,
                const kubernetes::ApiAnswer& answer);
  void wrote(const Write& write);
  void check_lease(const std::string& process, const std::string& what);
  void lease_written(const Write& write);
  void check_term(const std::string& process, const json& binding, const std::string& what);
  void check_truth(const Write& write);
  std::vector<StoredPtr> known_on(const std::map<std::string, StoredPtr>& pods,
                                  const std::string& node) const;

  SimulatedNetwork& network_;
  Options options_;
  Kind &pods_, &nodes_, &leases_;
  std::map<std::string, std::unique_ptr<Process>> processes_;
  std::map<std::string, Holder> holders_;
  std::string leader_;
  std::uint64_t term_ = 0;
  Time lease_written_{};
  std::map<std::uint64_t, std::string> held_;   // by term: whose it is
  std::map<std::uint64_t, std::string> binds_;  // by term: who bound in it
  std::set<std::string> left_out_;
  std::map<std::string, std::string> put_on_;  // the node, by uid: it never changes
  std::vector<std::string> violations_;
  Counts counts_;
};

}  // namespace evenkeel::faults
