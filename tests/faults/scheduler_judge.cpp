#include "scheduler_judge.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/match.h"
#include "cluster_facts.h"

namespace evenkeel::faults {

namespace types = kubernetes::types;

namespace {

std::string names_of(const std::vector<StoredPtr>& pods) {
  std::string names;
  for (const StoredPtr& pod : pods)
    names += " " + pod->key + (node_of(*pod).empty() ? " (decided)" : is_ending(*pod) ? " (ending)" : "");
  return names;
}

// What a binding says of the term of its sender; 0: nothing.
std::uint64_t term_of(const json& binding) {
  const json& notes = part(binding, {"metadata", "annotations"});
  const std::string text = notes.is_object() ? notes.value("evenkeel.io/term", "") : "";
  return text.empty() ? 0 : std::strtoull(text.c_str(), nullptr, 10);
}

}  // namespace

// One process, from its decisions to the ends of their bindings.
class SchedulerJudge::Process final : public apps::LiveObserver {
 public:
  Process(SchedulerJudge& judge, SimulatedConnection& connection) : judge_(judge), connection_(connection) {}

  // A process may begin anew, with what the server tells it then alone.
  void began(const scheduling::Scheduler& scheduler, Time /*now*/) override {
    scheduler_ = &scheduler;
    decisions_.clear();
    last_.clear();
  }
  void ended() override { scheduler_ = nullptr; }
  void acted(const Action& action, Time /*now*/) override {
    std::visit(Match{[&](const BindPod& bind) { judge_bind(bind); },
                     [&](const PreemptPods& preempt) { judge_preemption(preempt); },
                     [&](const EvictPod& evict) { judge_move(evict); },
                     [&](const MarkUnschedulable& mark) { note_dropped(mark); }, [](const auto&) {}},
               action);
  }
  void decided(const scheduling::PlacementRequest& request, std::optional<NodeId> node, Duration) override {
    judge_.decided(connection_.process(), request, node);
  }
  void observed(const ClusterEvent& event, Time /*now*/) override {
    if (const auto* failed = std::get_if<BindFailed>(&event)) forget(failed->pod);
    // Told of anew: the order for it came to nothing. A binding that failed was to another place.
    if (const auto* added = std::get_if<PodAdded>(&event)) last_.erase(added->pod.uid);
    if (const auto* failed = std::get_if<BindFailed>(&event))
      if (const StoredPtr pod = known_pod(failed->pod)) last_.erase(pod->uid);
    if (const auto* removed = std::get_if<NodeRemoved>(&event)) note_removed(removed->node);
    const auto* gone = std::get_if<PodGone>(&event);
    if (!gone) return;
    // What is on its way to a pod that is gone finds nobody: its uid is in it.
    for (const auto& [uid, decision] : decisions_)
      if (decision.id == gone->pod) gone_.insert(uid);
    note_gone(gone->pod);
    forget(gone->pod);
  }

  struct Decision {
    PodId id;
    StoredPtr pod;
    std::string node, node_uid;
    bool is_confirmed = false;  // the server said so, to this process
  };
  Decision* decision(const std::string& uid) {
    const auto found = decisions_.find(uid);
    return found == decisions_.end() ? nullptr : &found->second;
  }
  bool is_the_same_node(const Decision& decision) const {
    const StoredPtr node = connection_.knowledge().object(judge_.nodes_, decision.node);
    return node && node->uid == decision.node_uid;
  }
  bool was_gone(const std::string& uid) const { return gone_.contains(uid); }
  bool may_end(const std::string& uid) const { return victims_.contains(uid); }

 private:
  void accuse(const std::string& what) { judge_.accuse(connection_.process() + " " + what); }
  const std::map<std::string, StoredPtr>& known_pods() const {
    return connection_.knowledge().objects(judge_.pods_);
  }
  StoredPtr known_pod(PodId id) const {
    const PodRecord* record = scheduler_->cluster().pod(id);
    if (!record) return nullptr;
    const StoredPtr pod = connection_.knowledge().object(judge_.pods_, record->pod.full_name());
    return pod && pod->uid == record->pod.uid ? pod : nullptr;
  }
  void forget(PodId id) {
    std::erase_if(decisions_, [&](const auto& entry) { return entry.second.id == id; });
  }
  // A look at a binding that got no answer may tell it before any watch does; only where it is true.
  void note_gone(PodId id) {
    const PodRecord* record = scheduler_->cluster().pod(id);
    if (!record) return;
    const auto in_truth = judge_.pods_.objects.find(record->pod.full_name());
    const bool is_true = in_truth == judge_.pods_.objects.end() || in_truth->second->uid != record->pod.uid;
    if (is_true) known_gone_.insert(record->pod.uid);
  }
  // Known to be there, or decided by us to be and not known to have ended otherwise.
  std::vector<StoredPtr> beside(const std::string& node, const std::string& uid) const {
    std::vector<StoredPtr> others = judge_.known_on(known_pods(), node);
    for (const auto& [decided, decision] : decisions_) {
      const StoredPtr known = connection_.knowledge().object(judge_.pods_, decision.pod->key);
      const bool still_waits = known && known->uid == decided && node_of(*known).empty();
      if (decision.node == node && still_waits && is_the_same_node(decision)) others.push_back(known);
    }
    std::erase_if(others, [&](const StoredPtr& other) {
      return other->uid == uid || known_gone_.contains(other->uid);
    });
    return others;
  }

  void judge_bind(const BindPod& bind) {
    ++judge_.counts_.decisions;
    const StoredPtr pod = known_pod(bind.pod);
    if (!pod) return accuse("binds a pod it was not told of, or knows to be gone");
    const std::string name = scheduler_->cluster().node(bind.node).name;
    const std::string what = "binds " + pod->key + " to " + name + ": ";
    if (!node_of(*pod).empty()) accuse(what + "it knows it to be on " + node_of(*pod));
    if (is_gated(*pod)) accuse(what + "it is gated");
    if (text_at(pod->object, {"spec", "schedulerName"}) != judge_.options_.scheduler_name)
      accuse(what + "it is another scheduler's");
    const StoredPtr node = connection_.knowledge().object(judge_.nodes_, name);
    if (!node) return accuse(what + "the node is known to be gone");
    const auto others = beside(name, pod->uid);
    const std::string why = misfit(*pod, *node, others);
    if (!why.empty())
      accuse(what + why + "; beside" + names_of(others) + "; believed there:" + believed_on(bind.node));
    judge_neighbours(*pod, *node, what);
    const Decision* before = decision(pod->uid);
    if (before && before->is_confirmed) accuse(what + "was told that it is bound to " + before->node);
    decisions_[pod->uid] = {bind.pod, pod, name, node->uid, false};
  }

  // What the scheduler itself takes to be there, to tell a decision that is wrong from a belief that is.
  std::string believed_on(NodeId node) const {
    std::string names;
    for (const PodId id : scheduler_->cluster().pods_on(node)) {
      const PodRecord* record = scheduler_->cluster().pod(id);
      names += " " + record->pod.full_name() + (record->place == PodPlace::assumed ? " (assumed)" : "");
    }
    return names;
  }

  void judge_neighbours(const Stored& pod, const Stored& node, const std::string& what) {
    for (const auto& [name, other_node] : connection_.knowledge().objects(judge_.nodes_))
      for (const StoredPtr& other : beside(name, pod.uid))
        if (is_repelled(pod, node, *other, *other_node)) accuse(what + "anti-affinity with " + other->key);
  }

  // In truth, now or before: a process may know by an answer what no watch has told it yet.
  bool was_put_on(const Stored& pod, const std::string& node) const {
    const auto at = judge_.put_on_.find(pod.uid);
    return at != judge_.put_on_.end() && at->second == node;
  }
  // Others end pods too; an order of ours that failed ended nobody.
  static bool was_preempted(const Stored& pod) {
    return pod.text.find("PreemptionByScheduler") != std::string::npos;
  }
  // Its room is somebody else's then.
  bool was_ended_for_another(const std::string& preemptor, const std::string& victim) const {
    return std::ranges::any_of(last_, [&](const auto& entry) {
      const auto& victims = entry.second.second;
      return entry.first != preemptor && std::ranges::find(victims, victim) != victims.end();
    });
  }

  // The node is promised to it no longer, so it begins anew, there or elsewhere.
  void note_dropped(const MarkUnschedulable& mark) {
    const StoredPtr pod = known_pod(mark.pod);
    if (pod && mark.drops_nomination) last_.erase(pod->uid);
  }
  // One that comes back under its name is another.
  void note_removed(NodeId node) {
    if (!scheduler_->cluster().has_node(node)) return;
    const std::string& name = scheduler_->cluster().node(node).name;
    std::erase_if(last_, [&](const auto& entry) { return entry.second.first == name; });
  }
  void note_displaced(const std::string& node, std::int64_t priority) {
    std::erase_if(last_, [&](const auto& entry) {
      return entry.second.first == node && priorities_.at(entry.first) < priority;
    });
  }

  void judge_move(const EvictPod& evict) {
    ++judge_.counts_.moves;
    const StoredPtr pod = known_pod(evict.pod);
    if (!pod) return accuse("moves a pod it was not told of");
    const std::string what = "moves " + pod->key + ": ";
    if (evict.proposed) return accuse(what + "by a dry run");
    if (const std::string why = why_it_must_stay(*pod); !why.empty()) accuse(what + why);
    if (!evict.destination) return accuse(what + "to nowhere");
    const std::string to = scheduler_->cluster().node(*evict.destination).name;
    if (node_of(*pod) == to) accuse(what + "to where it is");
    const StoredPtr node = connection_.knowledge().object(judge_.nodes_, to);
    if (!node) return accuse(what + "to a node that is known to be gone");
    if (part(node->object, {"spec", "unschedulable"}) == true)
      accuse(what + "to " + to + ", which is cordoned");
    victims_.insert(pod->uid);
    judge_.moved(connection_.process(), *pod);
  }

  void judge_preemption(const PreemptPods& preempt) {
    ++judge_.counts_.preemptions;
    const StoredPtr pod = known_pod(preempt.pod);
    if (!pod) return accuse("preempts for a pod it was not told of");
    const std::string node = scheduler_->cluster().node(preempt.node).name;
    const std::string what = "preempts for " + pod->key + " on " + node + ": ";
    // The same node, still there, with victims that still end: nothing is won by ending more.
    const auto last = last_.find(pod->uid);
    if (last != last_.end() && last->second.first == node) {
      for (const std::string& victim : last->second.second) {
        const StoredPtr known = connection_.knowledge().object(judge_.pods_, victim);
        if (known && is_ending(*known) && was_preempted(*known) && node_of(*known) == node &&
            !was_ended_for_another(pod->uid, victim))
          accuse(what + victim + " has not even ended yet");
      }
    }
    note_displaced(node, priority_of(*pod));
    last_[pod->uid] = {node, {}};
    priorities_[pod->uid] = priority_of(*pod);
    for (const PodId id : preempt.victims) {
      const StoredPtr victim = known_pod(id);
      if (!victim) {
        accuse(what + "a victim it was not told of");
        continue;
      }
      if (node_of(*victim) != node && !was_put_on(*victim, node) &&
          !(decision(victim->uid) && decision(victim->uid)->node == node))
        accuse(what + victim->key + " is on " + node_of(*victim));
      if (priority_of(*victim) >= priority_of(*pod)) accuse(what + victim->key + " is as important");
      victims_.insert(victim->uid);
      last_[pod->uid].second.push_back(victim->key);
    }
  }

  SchedulerJudge& judge_;
  SimulatedConnection& connection_;
  const scheduling::Scheduler* scheduler_ = nullptr;
  std::map<std::string, Decision> decisions_;  // by uid
  std::set<std::string> gone_;                 // uids
  std::set<std::string> known_gone_;           // uids, truly gone, that it was told of in whatever way
  std::set<std::string> victims_;              // uids
  std::map<std::string, std::pair<std::string, std::vector<std::string>>>
      last_;                                        // by preemptor: node, victims' names
  std::map<std::string, std::int64_t> priorities_;  // likewise
};

SchedulerJudge::SchedulerJudge(SimulatedNetwork& network, Options options)
    : network_(network),
      options_(std::move(options)),
      pods_(network.server().kind(types::pods())),
      nodes_(network.server().kind(types::nodes())),
      leases_(network.server().kind(types::leases())) {
  network_.sent = [this](SimulatedConnection& connection, const auto& request) { sent(connection, request); };
  network_.answered = [this](SimulatedConnection& connection, const auto& request, const auto& answer) {
    answered(connection, request, answer);
  };
  network_.server().wrote = [this](const Write& write) { wrote(write); };
}

SchedulerJudge::~SchedulerJudge() = default;

apps::LiveObserver& SchedulerJudge::observer(SimulatedConnection& connection) {
  auto& process = processes_[connection.process()];
  process = std::make_unique<Process>(*this, connection);
  return *process;
}

void SchedulerJudge::accuse(const std::string& what) {
  violations_.push_back("at " + std::to_string(to_seconds(network_.clock().now().time_since_epoch())) +
                        " s " + what);
}

std::vector<StoredPtr> SchedulerJudge::known_on(const std::map<std::string, StoredPtr>& pods,
                                                const std::string& node) const {
  auto found = pods_on(pods, node);
  std::erase_if(found, [&](const StoredPtr& pod) { return left_out_.contains(pod->key); });
  return found;
}

void SchedulerJudge::sent(SimulatedConnection& connection, const kubernetes::ApiRequest& request) {
  if (request.method == "GET") return;
  const auto parts = parse_request_path(request.path);
  const std::string& process = connection.process();
  if (!parts) return accuse(process + " asks for " + request.path);
  if (parts->plural == "leases") {
    holders_[process].sent = network_.clock().now();
    return;
  }
  const std::string what =
      request.method + " " + parts->plural + "/" + parts->subresource + " " + parts->key();
  // Events only tell what was done: late ones do no harm.
  if (parts->plural != "events") check_lease(process, what);
  const auto found = processes_.find(process);
  if (parts->plural != "pods" || found == processes_.end()) return;
  Process& sender = *found->second;
  const StoredPtr known = connection.knowledge().object(pods_, parts->key());
  if (parts->subresource == "binding") {
    const json body = request_body(request).value_or(json::object());
    check_term(process, body, what);
    const std::string uid = text_at(body, {"metadata", "uid"}), node = text_at(body, {"target", "name"});
    const Process::Decision* decision = sender.decision(uid);
    if (!decision && sender.was_gone(uid)) return;
    if (!decision || decision->node != node)
      return accuse(process + " sends what it did not decide: " + what);
    if (!sender.is_the_same_node(*decision))
      accuse(process + " sends a pod to a node that left since: " + what);
    if (decision->is_confirmed) accuse(process + " binds again what was confirmed to it: " + what);
    return;
  }
  // Whoever it is meant for: an earlier one of that name, and the server refuses it.
  const json body = request_body(request).value_or(json::object());
  std::string meant = known ? known->uid : "";
  for (const std::string& uid : {text_at(body, {"metadata", "uid"}), text_at(body, {"preconditions", "uid"}),
                                 text_at(body, {"deleteOptions", "preconditions", "uid"})})
    if (!uid.empty()) meant = uid;
  const bool is_end = request.method == "DELETE" || parts->subresource == "eviction";
  if (is_end && known && !sender.may_end(meant)) accuse(process + " ends what it did not choose: " + what);
  const bool is_ours = !known || text_at(known->object, {"spec", "schedulerName"}) == options_.scheduler_name;
  // A victim may be anybody's; its condition says why it ends.
  if (!is_end && !is_ours && meant == known->uid && !sender.may_end(meant))
    accuse(process + " touches another scheduler's pod: " + what);
}

void SchedulerJudge::answered(SimulatedConnection& connection, const kubernetes::ApiRequest& request,
                              const kubernetes::ApiAnswer& answer) {
  if (request.method != "POST" || !answer.ok()) return;
  const auto parts = parse_request_path(request.path);
  const auto found = processes_.find(connection.process());
  if (!parts || parts->subresource != "binding" || found == processes_.end()) return;
  const json body = request_body(request).value_or(json::object());
  if (Process::Decision* decision = found->second->decision(text_at(body, {"metadata", "uid"})))
    decision->is_confirmed = true;
}

void SchedulerJudge::check_lease(const std::string& process, const std::string& what) {
  if (!options_.elects) return;
  const Holder& holder = holders_[process];
  const Time now = network_.clock().now();
  if (!holder.renewed) return accuse(process + " writes without ever having led: " + what);
  if (now > *holder.renewed + options_.lease)
    accuse(process + " writes " + std::to_string(to_seconds(now - *holder.renewed)) +
           " s after it last renewed its lease: " + what);
  if (leader_ != process) accuse(process + " writes while " + leader_ + " leads: " + what);
}

void SchedulerJudge::check_term(const std::string& process, const json& binding, const std::string& what) {
  if (!options_.has_terms) return;
  const std::uint64_t term = term_of(binding);
  if (term == 0) return accuse(process + " says no term: " + what);
  if (term != holders_[process].term)
    accuse(process + " says term " + std::to_string(term) + " and holds " +
           std::to_string(holders_[process].term) + ": " + what);
}

std::string SchedulerJudge::fence(const json& binding) const {
  const std::uint64_t term = term_of(binding);
  if (!options_.is_fenced || term == 0 || term >= term_) return "";
  return "term " + std::to_string(term) + " is over: the lease is in " + std::to_string(term_);
}

void SchedulerJudge::lease_written(const Write& write) {
  const std::string identity = text_at(*write.body, {"spec", "holderIdentity"});
  const std::string leader = identity.empty() ? "" : write.process;
  Holder& writer = holders_[write.process];
  if (!identity.empty()) writer.renewed = writer.sent;
  const Time now = network_.clock().now();
  if (options_.has_terms) {
    const json& transitions = part(*write.body, {"spec", "leaseTransitions"});
    const std::uint64_t term = 1 + (transitions.is_number() ? transitions.get<std::uint64_t>() : 0);
    const std::string told = write.process + " writes term " + std::to_string(term) + ": ";
    if (term < term_) accuse(told + "it was " + std::to_string(term_) + " already");
    if (!leader.empty()) {
      const std::string& other = held_.try_emplace(term, leader).first->second;
      if (other != leader) accuse(told + "it is the term of " + other);
      // Clocks that run fast see a lease run out a little early.
      const bool is_early = now - lease_written_ < from_seconds(0.98 * to_seconds(options_.lease));
      if (leader != leader_ && !leader_.empty() && is_early && lives(leader_))
        accuse(told + leader_ + " lives, and wrote it " + std::to_string(to_seconds(now - lease_written_)) +
               " s ago");
      writer.term = term;
    }
    term_ = term;
  }
  lease_written_ = now;
  counts_.leaders += leader_ != leader ? 1 : 0;
  leader_ = leader;
}

void SchedulerJudge::wrote(const Write& write) {
  const bool is_done = write.code >= 200 && write.code < 300;
  if (write.parts->plural == "leases") {
    if (is_done) lease_written(write);
    return;
  }
  if (write.parts->subresource == "eviction") counts_.moves_refused += write.code == 429 ? 1 : 0;
  if (write.parts->subresource != "binding") return;
  counts_.bindings += is_done ? 1 : 0;
  counts_.conflicts += write.code == 409 ? 1 : 0;
  const std::uint64_t term = term_of(*write.body);
  const bool is_late = options_.has_terms && term < term_;
  counts_.fenced += is_late && write.code == 422 ? 1 : 0;
  if (!is_done) return;
  counts_.done_late += is_late ? 1 : 0;
  if (is_late && options_.is_fenced) accuse(write.process + " bound in a term that was over");
  if (options_.has_terms) {
    const std::string& other = binds_.try_emplace(term, write.process).first->second;
    if (other != write.process)
      accuse(write.process + " binds in term " + std::to_string(term) + ", as " + other + " did");
  }
  if (put_on_.contains(write.before->uid)) accuse(write.process + " bound " + write.parts->key() + " twice");
  bound(write.process, *write.before);
  put_on_[write.before->uid] = text_at(*write.body, {"target", "name"});
  check_truth(write);
}

void SchedulerJudge::check_truth(const Write& write) {
  const std::string name = text_at(*write.body, {"target", "name"});
  const auto node = nodes_.objects.find(name);
  auto others = known_on(pods_.objects, name);
  std::erase_if(others, [&](const StoredPtr& other) { return other->uid == write.before->uid; });
  const std::string why =
      node == nodes_.objects.end() ? "the node is gone" : misfit(*write.before, *node->second, others);
  if (why.empty()) return;
  ++counts_.excused;
  if (options_.expects_truth)
    accuse(write.process + " bound " + write.parts->key() + " to " + name + ": " + why);
}

}  // namespace evenkeel::faults
