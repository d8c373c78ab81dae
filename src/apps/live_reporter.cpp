#include "apps/live_reporter.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/match.h"
#include "reporting/fit_message.h"

namespace evenkeel::apps {
namespace {

using reporting::BindingOutcome;
using reporting::DecisionOutcome;
using reporting::HealthCheck;
using reporting::JournalEntry;
using scheduling::ScoreSheet;

constexpr std::string_view kAttemptFailed = "ScheduleAttemptFailure";

Duration steady_time() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

// As kube-scheduler labels them, to keep the number of series small.
std::string attempts_label(std::uint32_t attempts) {
  return attempts >= 15 ? "15+" : std::to_string(attempts);
}

JournalEntry::Candidate candidate_of(const ScoreSheet& sheet, const ScoreSheet::Row& row,
                                     const ClusterState& cluster) {
  JournalEntry::Candidate candidate{cluster.node(row.node).name, row.total, {}};
  for (std::size_t term = 0; term < sheet.terms.size(); ++term) {
    // A plugin's score before its weight, as `place --json` gives it.
    const double weight = sheet.weights.empty() ? 1 : sheet.weights[term];
    candidate.scores.push_back({sheet.terms[term], row.parts[term] / weight, weight});
  }
  return candidate;
}

}  // namespace

LiveReporter::LiveReporter(Options options)
    : options_(std::move(options)), metrics_(registry_, options_.api_server), journal_(options_.journal) {
  if (!options_.clock) options_.clock = steady_time;
  last_step_ = debt_at_ = options_.clock();
  last_turn_ = last_step_.count();
  metrics_.leading.with({options_.lease}).set(0);
}

std::string LiveReporter::metrics_text() {
  metrics_.process.refresh();
  metrics_.journal_entries.set(static_cast<double>(journal_.size()));
  return registry_.render();
}

void LiveReporter::serves(std::span<const LiveProfile> profiles) {
  for (const LiveProfile& profile : profiles) add_profile(profile);
  guards_.serves(profiles);
  learning_.serves(profiles);
}

std::uint32_t LiveReporter::add_profile(const LiveProfile& profile) {
  const std::string& name = profile.scheduler_name;
  const auto count = [&](const char* result) { return &metrics_.attempts.with({result, name}); };
  const auto seconds = [&](const char* result) { return &metrics_.attempt_seconds.with({result, name}); };
  profiles_.push_back({profile, count("scheduled"), count("unschedulable"), count("error"),
                       seconds("scheduled"), seconds("unschedulable"), seconds("error")});
  return static_cast<std::uint32_t>(profiles_.size() - 1);
}

void LiveReporter::began(const scheduling::Scheduler& scheduler, Time) { scheduler_ = &scheduler; }

void LiveReporter::ended() {
  scheduler_ = nullptr;
  guards_.refresh();
  guards_.ended();
  learning_.refresh();
  learning_.ended();
  for (ProfileSeries& each : profiles_) each.profile.policy = nullptr;
  journal_.publish();
}

// A name that nobody introduced gets series of its own, up to a point: pods may ask for anything.
std::uint32_t LiveReporter::profile_of(const Pod& pod) {
  constexpr std::size_t kMostProfiles = 64;
  const std::string& name = pod.spec().scheduler_name;
  const auto found = std::find_if(profiles_.begin(), profiles_.end(), [&](const ProfileSeries& each) {
    return each.profile.scheduler_name == name;
  });
  if (found != profiles_.end()) return static_cast<std::uint32_t>(found - profiles_.begin());
  return profiles_.size() < kMostProfiles ? add_profile({name, "", nullptr}) : 0;
}

LiveReporter::Notes& LiveReporter::start_notes(const Pod& pod, Time now) {
  if (pod.id.slot >= notes_.size()) notes_.resize(pod.id.slot + 1);
  Notes& notes = notes_[pod.id.slot];
  if (notes.entry != 0) settle(notes, BindingOutcome::forgotten, "the pod is gone", now);
  forgive(notes);
  notes = {};
  notes.pod = pod.id;
  notes.queued = now;
  notes.profile = profile_of(pod);
  return notes;
}

LiveReporter::Notes* LiveReporter::notes_of(PodId pod) {
  if (pod.slot >= notes_.size() || notes_[pod.slot].pod != pod) return nullptr;
  return &notes_[pod.slot];
}

JournalEntry LiveReporter::entry_about(const Pod& pod, const Notes& notes, Time now) const {
  JournalEntry entry;
  entry.time = now;
  entry.name_space = pod.shape->name_space;
  entry.pod = pod.name;
  entry.uid = pod.uid;
  entry.attempt = notes.attempts;
  entry.profile = profiles_[notes.profile].profile.scheduler_name;
  entry.policy = profiles_[notes.profile].profile.policy_name;
  return entry;
}

void LiveReporter::woke(Time) { last_step_ = options_.clock(); }

void LiveReporter::decided(const scheduling::PlacementRequest& request, std::optional<NodeId> node,
                           Duration took) {
  last_step_ = options_.clock();
  metrics_.algorithm_seconds.observe(to_seconds(took));
  Notes* known = notes_of(request.pod.id);
  Notes& notes = known ? *known : start_notes(request.pod, request.now);
  ++notes.attempts;
  JournalEntry entry = entry_about(request.pod, notes, request.now);
  entry.feasible = static_cast<std::uint32_t>(request.feasible_count);
  entry.evaluated = static_cast<std::uint32_t>(request.cluster.node_count());
  entry.took = took;
  if (!node) {
    entry.outcome = DecisionOutcome::waiting;
    journal_.record(std::move(entry));
    return;
  }
  entry.node = request.cluster.node(*node).name;
  entry.outcome = options_.shadow ? DecisionOutcome::shadow : DecisionOutcome::scheduled;
  entry.binding = options_.shadow ? BindingOutcome::none : BindingOutcome::in_flight;
  const bool explain = may_explain();
  (explain ? metrics_.explained : metrics_.unexplained).add();
  if (explain) write_candidates(request, *node, notes.profile, entry);
  notes.node = *node;
  notes.took = took;
  const std::uint64_t sequence = journal_.record(std::move(entry));
  if (options_.shadow) return;
  if (notes.entry == 0) ++in_flight_;
  notes.entry = sequence;
  notes.decided = request.now;
}

// Each explanation is paid for, at its price, before there is another.
bool LiveReporter::may_explain() {
  const Duration now = last_step_;
  explain_debt_ -= from_seconds(to_seconds(now - std::exchange(debt_at_, now)) * options_.explain_share);
  explain_debt_ = std::max(explain_debt_, Duration::zero());
  return options_.candidates > 0 && explain_debt_ == Duration::zero();
}

void LiveReporter::write_candidates(const scheduling::PlacementRequest& request, NodeId chosen,
                                    std::uint32_t profile, JournalEntry& entry) {
  scheduling::PlacementPolicy* policy = profiles_[profile].profile.policy;
  if (!policy) return;
  // The chosen one is written down even if it is not among the best: a policy may draw lots.
  const ScoreSheet sheet = policy->explain_best(request, options_.candidates, chosen);
  entry.message = sheet.note;
  for (const ScoreSheet::Row& row : sheet.rows)
    entry.candidates.push_back(candidate_of(sheet, row, request.cluster));
  const Duration now = options_.clock();
  explain_debt_ += now - last_step_;
  last_step_ = debt_at_ = now;
}

Duration LiveReporter::since_last_step() {
  const Duration now = options_.clock();
  return now - std::exchange(last_step_, now);
}

void LiveReporter::acted(const Action& action, Time now) {
  guards_.acted(action);
  std::visit(Match{[](const BindPod&) {}, [](const EvictPod&) {},
                   [&](const MarkUnschedulable& marked) {
                     JournalEntry entry;
                     entry.time = now;
                     entry.outcome = DecisionOutcome::unschedulable;
                     found_no_node(marked.pod, marked.why, std::move(entry));
                   },
                   [&](const PreemptPods& preempted) { preempting(preempted, now); }},
             action);
}

void LiveReporter::preempting(const PreemptPods& action, Time now) {
  JournalEntry entry;
  entry.time = now;
  entry.outcome = DecisionOutcome::preempting;
  metrics_.victims.observe(static_cast<double>(action.victims.size()));
  if (scheduler_) {
    entry.node = scheduler_->cluster().node(action.node).name;
    for (const PodId victim : action.victims)
      if (const PodRecord* record = scheduler_->cluster().pod(victim))
        entry.victims.push_back(record->pod.full_name());
  }
  found_no_node(action.pod, action.why, std::move(entry));
}

void LiveReporter::found_no_node(PodId pod, const std::string& why, JournalEntry entry) {
  const PodRecord* record = scheduler_ ? scheduler_->cluster().pod(pod) : nullptr;
  if (!record) return;
  const Duration took = since_last_step();
  Notes* known = notes_of(pod);
  Notes& notes = known ? *known : start_notes(record->pod, entry.time);
  ++notes.attempts;
  const bool preempts = entry.outcome == DecisionOutcome::preempting;
  JournalEntry full = entry_about(record->pod, notes, entry.time);
  full.outcome = entry.outcome;
  full.node = std::move(entry.node);
  full.victims = std::move(entry.victims);
  full.evaluated = static_cast<std::uint32_t>(scheduler_->cluster().node_count());
  full.took = took;
  full.message = why;

  const reporting::FitMessage message = reporting::parse_fit_message(why);
  if (message.tried_preemption || preempts) metrics_.preemptions.add();
  series(notes).unschedulable->add();
  series(notes).unschedulable_seconds->observe(to_seconds(took));
  metrics_.incoming.with({"unschedulable", kAttemptFailed}).add();
  forgive(notes);
  for (const reporting::FitMessage::Part& part : message.parts) {
    full.reasons.push_back({part.reason, part.nodes == 0 ? full.evaluated : part.nodes, part.plugin});
    if (!part.plugin.empty()) blame(notes, part.plugin);
  }
  journal_.record(std::move(full));
}

void LiveReporter::blame(Notes& notes, std::string_view plugin) {
  reporting::Gauge* gauge = &metrics_.unschedulable.with({plugin, series(notes).profile.scheduler_name});
  if (std::find(notes.objectors.begin(), notes.objectors.end(), gauge) != notes.objectors.end()) return;
  gauge->add(1);
  notes.objectors.push_back(gauge);
}

// What was held against it no longer counts: it has a node, is gone, or was looked at anew.
void LiveReporter::forgive(Notes& notes) {
  for (reporting::Gauge* gauge : notes.objectors) gauge->add(-1);
  notes.objectors.clear();
}

void LiveReporter::settle(Notes& notes, BindingOutcome outcome, const std::string& why, Time now) {
  journal_.settle(std::exchange(notes.entry, 0), outcome, why, now - notes.decided);
  --in_flight_;
}

void LiveReporter::observed(const ClusterEvent& event, Time now) {
  guards_.observed(event);
  if (const auto* added = std::get_if<PodAdded>(&event)) {
    pod_added(added->pod, now);
  } else if (const auto* updated = std::get_if<PodUpdated>(&event)) {
    pod_updated(updated->pod, now);
  } else if (const auto* bound = std::get_if<PodBound>(&event)) {
    pod_bound(*bound, now);
  } else if (const auto* failed = std::get_if<BindFailed>(&event)) {
    metrics_.bind_failures.with({bind_failure_reason(failed->why)}).add();
    Notes* notes = notes_of(failed->pod);
    if (!notes || notes->entry == 0) return;
    series(*notes).error->add();
    series(*notes).error_seconds->observe(to_seconds(now - notes->decided + notes->took));
    metrics_.incoming.with({"backoff", kAttemptFailed}).add();
    settle(*notes, BindingOutcome::failed, failed->why, now);
  } else if (const auto* gone = std::get_if<PodGone>(&event)) {
    Notes* notes = notes_of(gone->pod);
    if (!notes) return;
    if (notes->entry != 0) settle(*notes, BindingOutcome::forgotten, "the pod is gone", now);
    forgive(*notes);
    *notes = {};
  }
}

void LiveReporter::pod_added(const Pod& pod, Time now) {
  Notes& notes = start_notes(pod, now);
  notes.gated = !pod.spec().scheduling_gates.empty();
  if (notes.gated) blame(notes, "SchedulingGates");
  metrics_.incoming.with({notes.gated ? "unschedulable" : "active", "UnschedulablePodAdd"}).add();
}

void LiveReporter::pod_updated(const Pod& pod, Time now) {
  Notes* notes = notes_of(pod.id);
  if (!notes || !notes->gated || !pod.spec().scheduling_gates.empty()) return;
  notes->gated = false;
  notes->queued = now;
  forgive(*notes);
  metrics_.incoming.with({"active", "UnschedulablePodUpdate"}).add();
}

void LiveReporter::pod_bound(const PodBound& bound, Time now) {
  Notes* notes = notes_of(bound.pod);
  if (!notes) return;
  forgive(*notes);
  if (notes->entry == 0) return;
  if (bound.node != notes->node) return settle(*notes, BindingOutcome::forgotten, "bound elsewhere", now);
  series(*notes).scheduled->add();
  series(*notes).scheduled_seconds->observe(to_seconds(now - notes->decided + notes->took));
  metrics_.sli_seconds.with({attempts_label(notes->attempts)}).observe(to_seconds(now - notes->queued));
  metrics_.pod_attempts.observe(notes->attempts);
  settle(*notes, BindingOutcome::bound, "", now);
  *notes = {};
}

void LiveReporter::turned(const scheduling::Scheduler& scheduler, Time) {
  last_step_ = options_.clock();
  last_turn_.store(last_step_.count(), std::memory_order_relaxed);
  const scheduling::QueueDepths depths = scheduler.depths();
  metrics_.pending.with({"active"}).set(static_cast<double>(depths.active));
  metrics_.pending.with({"backoff"}).set(static_cast<double>(depths.backing_off));
  metrics_.pending.with({"unschedulable"}).set(static_cast<double>(depths.unschedulable));
  metrics_.pending.with({"gated"}).set(static_cast<double>(depths.gated));
  metrics_.cache.with({"nodes"}).set(static_cast<double>(scheduler.cluster().node_count()));
  metrics_.cache.with({"pods"}).set(static_cast<double>(scheduler.cluster().pod_count()));
  metrics_.cache.with({"assumed_pods"}).set(static_cast<double>(in_flight_));
  metrics_.binds_in_flight.set(static_cast<double>(in_flight_));
  guards_.refresh();
  journal_.publish();
}

void LiveReporter::carried(const LiveTraffic& traffic) {
  LiveTraffic all = traffic;
  if (options_.requests) all.requests.merge(options_.requests());
  metrics_.carried(all);
  learning_.refresh();
}

void LiveReporter::led(bool leading, Time) {
  leading_.store(leading, std::memory_order_relaxed);
  metrics_.leading.with({options_.lease}).set(leading ? 1 : 0);
}

void LiveReporter::synced(bool whole, Time) { synced_.store(whole, std::memory_order_relaxed); }

std::vector<HealthCheck> LiveReporter::live_checks() const {
  const auto idle = [this] {
    return options_.clock() - Duration(last_turn_.load(std::memory_order_relaxed));
  };
  const auto stuck = [this, idle]() -> std::optional<std::string> {
    if (idle() <= options_.stuck_after) return std::nullopt;
    return "no turn for " + std::to_string(idle().count() / 1'000'000) + " s";
  };
  const auto lost = [this, idle]() -> std::optional<std::string> {
    if (!leading_.load(std::memory_order_relaxed) || idle() <= options_.lease_lost_after) return std::nullopt;
    return "leads, and cannot have renewed its lease";
  };
  return {{"ping", [] { return std::nullopt; }}, {"scheduling-loop", stuck}, {"leaderElection", lost}};
}

std::vector<HealthCheck> LiveReporter::ready_checks() const {
  std::vector<HealthCheck> checks = live_checks();
  checks.push_back({"shutdown", [this]() -> std::optional<std::string> {
                      if (!stopping_.load(std::memory_order_relaxed)) return std::nullopt;
                      return "process is shutting down";
                    }});
  checks.push_back({"informer-sync", [this]() -> std::optional<std::string> {
                      if (synced_.load(std::memory_order_relaxed)) return std::nullopt;
                      return "not every kind is listed yet";
                    }});
  return checks;
}

std::string LiveReporter::configuration() const {
  nlohmann::ordered_json profiles = nlohmann::ordered_json::array();
  for (const ProfileSeries& each : profiles_)
    profiles.push_back(
        {{"schedulerName", each.profile.scheduler_name}, {"policy", each.profile.policy_name}});
  return nlohmann::ordered_json{{"profiles", std::move(profiles)}, {"shadow", options_.shadow}}.dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace evenkeel::apps
