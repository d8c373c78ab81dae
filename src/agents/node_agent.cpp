#include "agents/node_agent.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/match.h"
#include "scheduling/filters/filter.h"
#include "scheduling/node_forecasts.h"

namespace evenkeel::agents {
namespace {

using namespace std::chrono_literals;
using scheduling::AgentView;
using scheduling::AgentWord;
using scheduling::MarlBrain;
using scheduling::OwnNode;

constexpr std::size_t kMostSpoken = 1024;  // pods it remembers to have spoken of
constexpr Duration kLostAfter = 5s;        // a pod it does not see and was not given went elsewhere
constexpr std::size_t kBidsInALetter = 512;

// What can be said of a node by looking at that node alone.
constexpr std::array<std::string_view, 7> kLocalFilters{
    "NodeUnschedulable", "NodeName",         "TaintToleration",     "NodeAffinity",
    "NodePorts",         "NodeResourcesFit", "NodeDeclaredFeatures"};

std::vector<std::string> local_of(const std::optional<std::vector<std::string>>& named) {
  std::vector<std::string> local;
  for (const std::string_view filter : kLocalFilters)
    if (!named || std::find(named->begin(), named->end(), filter) != named->end()) local.emplace_back(filter);
  return local;
}

std::vector<scheduling::SchedulingOptions> local_options(
    const std::vector<scheduling::SchedulerProfile>& profiles) {
  std::vector<scheduling::SchedulingOptions> all;
  for (const scheduling::SchedulerProfile& profile : profiles) {
    scheduling::SchedulingOptions& local = all.emplace_back(profile.options);
    local.profile.filters = local_of(profile.options.profile.filters);
    local.profile.pre_filters = local_of(profile.options.profile.pre_filters);
  }
  return all;
}

// A name that no pod can have makes all of them somebody else's: on record, and never asked about.
std::vector<scheduling::SchedulerProfile> facts_only(
    const std::vector<scheduling::SchedulerProfile>& profiles) {
  scheduling::SchedulingOptions options;
  if (!profiles.empty()) {
    options.history = profiles.front().options.history;
    options.stale_after = profiles.front().options.stale_after;
  }
  return {{" ", options}};
}

NodeAgent::Options with_a_profile(NodeAgent::Options options) {
  if (options.profiles.empty()) options.profiles.push_back({"", {}});
  return options;
}

bool waits_for_gates(const Pod& pod) { return !pod.spec().scheduling_gates.empty() || pod.terminating; }

}  // namespace

NodeAgent::NodeAgent(Options options, std::unique_ptr<MarlBrain> brain, Random random)
    : options_(with_a_profile(std::move(options))),
      local_(local_options(options_.profiles)),
      facts_(facts_only(options_.profiles)),
      brain_(std::move(brain)),
      random_(random) {
  if (brain_) brain_->set_frozen(!options_.learns);
}

// ---- Facts.

void NodeAgent::observe(const ClusterEvent& event, Time now) {
  const auto is_own = [&](NodeId node) { return own_ == node; };
  std::visit(Match{
                 [&](const NodeAdded& e) { node_set(e.node, event, now); },
                 [&](const NodeUpdated& e) { node_set(e.node, event, now); },
                 [&](const NodeRemoved& e) {
                   if (!is_own(e.node)) return;
                   facts_.observe(event, now);
                   own_.reset();
                 },
                 [&](const PodAdded& e) { pod_added(e.pod, event, now); },
                 [&](const PodFound& e) {
                   if (is_own(e.node)) return pod_here(pod_key(e.pod.uid), e.pod.id, event, now);
                   pod_lost(e.pod.id, now);
                 },
                 [&](const PodBound& e) {
                   const auto key = keys_.find(e.pod);
                   if (key == keys_.end()) return;
                   if (is_own(e.node)) return pod_here(PodKey(key->second), e.pod, event, now);
                   pod_lost(e.pod, now);
                 },
                 [&](const PodGone& e) {
                   if (keys_.contains(e.pod)) facts_.observe(event, now);
                   pod_lost(e.pod, now);
                 },
                 [&](const PodStarted& e) {
                   if (keys_.contains(e.pod)) facts_.observe(event, now);
                 },
                 [&](const PodUpdated& e) { pod_updated(e.pod, event, now); },
                 [&](const UsageReported& e) {
                   if (!is_own(e.node)) return;
                   facts_.observe(event, now);
                   must_see_first_ = false;
                 },
                 [&](const WorkloadSample&) { facts_.observe(event, now); },
                 [](const BindFailed&) {},  // these are about what others decided
                 [](const EvictFailed&) {},
                 [](const ObjectSet&) {},
                 [](const ObjectGone&) {},
             },
             event);
}

void NodeAgent::node_set(const Node& node, const ClusterEvent& event, Time now) {
  if (node.name != options_.node) return;
  own_ = node.id;
  facts_.observe(event, now);
}

std::optional<std::size_t> NodeAgent::profile_of(const PodSpec& spec) const {
  for (std::size_t i = 0; i < options_.profiles.size(); ++i) {
    const std::string& name = options_.profiles[i].scheduler_name;
    if (name.empty() || name == spec.scheduler_name) return i;
  }
  return std::nullopt;
}

void NodeAgent::pod_added(const Pod& pod, const ClusterEvent& event, Time now) {
  if (!profile_of(pod.spec()) || keys_.contains(pod.id)) return;
  const PodKey key = pod_key(pod.uid);
  facts_.observe(event, now);
  keys_[pod.id] = key;
  Waiting& waiting = waiting_[key];
  waiting = {pod.id};
  if (!waits_for_gates(pod)) queue(key, waiting);
}

void NodeAgent::pod_updated(const Pod& pod, const ClusterEvent& event, Time now) {
  const auto key = keys_.find(pod.id);
  if (key == keys_.end()) return;
  const Pod before = facts_.cluster().pod(pod.id)->pod;
  facts_.observe(event, now);
  const auto waiting = waiting_.find(key->second);
  if (waiting == waiting_.end() || waits_for_gates(pod)) return;
  const bool asks_for_the_same = before.shape == pod.shape || before.spec() == pod.spec();
  if (waits_for_gates(before) || !asks_for_the_same) queue(waiting->first, waiting->second);
}

void NodeAgent::pod_here(const PodKey& key, PodId pod, const ClusterEvent& event, Time now) {
  facts_.observe(event, now);
  waiting_.erase(key);
  awarded_.erase(key);  // it counts by itself from now on
  here_[key] = pod;
  keys_[pod] = key;
}

void NodeAgent::pod_lost(PodId pod, Time now) {
  const auto known = keys_.find(pod);
  if (known == keys_.end()) return;
  const PodKey key = known->second;
  if (waiting_.contains(key)) settle(key, false, now);
  if (facts_.cluster().pod(pod)) facts_.observe(PodGone{pod}, now);
  waiting_.erase(key);
  here_.erase(key);
  keys_.erase(known);
}

// ---- The leader.

bool NodeAgent::is_current(Term term) {
  if (term < term_) {
    ++figures_.older_term;
    return false;
  }
  if (term > term_) {
    term_ = term;
    awards_ = 0;
    to_answer_.clear();
    say_all_again();
  }
  leader_spoke_ = true;
  return true;
}

void NodeAgent::heard(const FromLeader& message, Time now) {
  std::visit(
      Match{
          [&](const LeaderBeat& beat) { hear(beat, now); }, [&](const LeaderAsks& asks) { hear(asks); },
          [&](const LeaderAwards& awards) { hear(awards, now); },
          [&](const LeaderModel& model) { hear(model); },
          [](const NotLeading&) {},  // whom to ask instead is for whoever holds the line
      },
      message);
}

void NodeAgent::hear(const LeaderBeat& beat, Time now) {
  if (!is_current(beat.term)) return;
  beat_at_ = now;
  shares_ = beat.cluster;
  must_see_first_ = false;
  if (std::exchange(tells_pods_, beat.tells_pods) && !beat.tells_pods) say_all_again();
}

void NodeAgent::hear(const LeaderAsks& asks) {
  if (!is_current(asks.term)) return;
  figures_.questions += asks.questions.size();
  to_answer_.insert(to_answer_.end(), asks.questions.begin(), asks.questions.end());
}

void NodeAgent::hear(const LeaderAwards& awards, Time now) {
  if (!is_current(awards.term) || awards.awards <= awards_) return;  // heard before
  awards_ = awards.awards;
  for (const PodKey& pod : awards.pods) {
    if (awards.withdrawn) {
      ++figures_.withdrawn;
      awarded_.erase(pod);
      if (brain_) brain_->forget(pod);
      continue;
    }
    ++figures_.awards;
    if (!here_.contains(pod)) {
      PodQuestion question;
      question.pod = pod;
      if (const auto spoken = spoken_.find(pod); spoken != spoken_.end()) {
        question = spoken->second.question;
      } else if (const Pod* seen = pod_of(pod)) {
        question = question_about(pod, *seen);
      }
      awarded_[pod] = {question, now + options_.forget_awards};
    }
    settle(pod, true, now);
  }
}

void NodeAgent::hear(const LeaderModel& model) {
  if (!is_current(model.term) || !brain_ || model.version == model_) return;
  if (!brain_->take(model.parameters)) {
    ++figures_.refused_models;
    return;
  }
  model_ = model.version;
  ++figures_.models;
}

void NodeAgent::greet(Time now) {
  leader_spoke_ = false;
  term_ = 0;  // whom a new line leads to is the Lease's word, and so is its term
  awards_ = 0;
  to_answer_.clear();
  say_all_again();
  if (next_lessons_ == Time::max()) next_lessons_ = now + options_.lessons_every;
}

AgentHello NodeAgent::hello(std::uint64_t incarnation, bool sees_pods) const {
  AgentHello hello;
  hello.node = options_.node;
  hello.incarnation = incarnation;
  hello.term = term_;
  hello.sees_pods = sees_pods;
  hello.model = model_;
  return hello;
}

void NodeAgent::say_all_again() {
  for (auto& [key, waiting] : waiting_)
    if (const Pod* pod = pod_of(key); pod && !waits_for_gates(*pod)) queue(key, waiting);
}

// ---- Words.

void NodeAgent::queue(const PodKey& pod, Waiting& waiting) {
  if (!std::exchange(waiting.queued, true)) to_say_.push_back(pod);
}

const Pod* NodeAgent::pod_of(const PodKey& key) const {
  const auto waiting = waiting_.find(key);
  if (waiting == waiting_.end()) return nullptr;
  const PodRecord* record = facts_.cluster().pod(waiting->second.pod);
  return record ? &record->pod : nullptr;
}

bool NodeAgent::speaks_unasked_of(const Pod& pod) const {
  return !tells_pods_ && pod.shape->app_group.empty() && !waits_for_gates(pod);
}

std::vector<FromAgent> NodeAgent::take_words(Time now) {
  drop_old(now);
  learn(now);
  std::vector<FromAgent> words;
  if (!leader_spoke_) return words;
  if (!to_answer_.empty() || !to_say_.empty()) {
    const Seen seen = look_at_node(now);
    std::vector<Bid> bids;
    answer_questions(seen, bids, now);
    speak_unasked(seen, bids, now);
    figures_.bids += bids.size();
    for (std::size_t from = 0; from < bids.size(); from += kBidsInALetter) {
      const auto first = bids.begin() + static_cast<std::ptrdiff_t>(from);
      const auto count = static_cast<std::ptrdiff_t>(std::min(kBidsInALetter, bids.size() - from));
      words.emplace_back(AgentBids{term_, {first, first + count}});
    }
  }
  if (std::optional<AgentLessons> lessons = take_lessons(now)) words.emplace_back(*std::move(lessons));
  return words;
}

void NodeAgent::answer_questions(const Seen& seen, std::vector<Bid>& bids, Time now) {
  for (const PodQuestion& question : std::exchange(to_answer_, {})) {
    const auto waiting = waiting_.find(question.pod);
    if (waiting != waiting_.end()) waiting->second.queued = false;  // one answer is enough
    bids.push_back(bid_on(question, pod_of(question.pod), seen, now));
  }
}

void NodeAgent::speak_unasked(const Seen& seen, std::vector<Bid>& bids, Time now) {
  for (const PodKey& key : std::exchange(to_say_, {})) {
    const auto waiting = waiting_.find(key);
    if (waiting == waiting_.end() || !std::exchange(waiting->second.queued, false)) continue;
    const Pod* pod = pod_of(key);
    if (pod && speaks_unasked_of(*pod)) bids.push_back(bid_on(question_about(key, *pod), pod, seen, now));
  }
}

// As the leader would describe it, from what this node has seen of its workload.
PodQuestion NodeAgent::question_about(const PodKey& key, const Pod& pod) const {
  const prediction::Lifetime life = facts_.history().lifetime(pod);
  PodQuestion question;
  question.pod = key;
  question.priority = pod.spec().priority;
  question.cpu = static_cast<double>(pod.shape->request.cpu.count) / 1000;
  question.memory = static_cast<double>(pod.shape->request.memory.count);
  question.expected = scheduling::NodeForecasts::planned(facts_.history().demand(pod));
  question.life = life.endless ? 0 : static_cast<float>(life.median_s());
  return question;
}

NodeAgent::Seen NodeAgent::look_at_node(Time now) const {
  Seen seen;
  if (!own_) return seen;
  const bool looks_ahead = brain_ && brain_->options().inputs.encoding == scheduling::MarlEncoding::shared;
  const Duration horizon = options_.profiles.front().options.horizon;
  seen.node = looks_ahead ? scheduling::own_node(facts_.cluster(), facts_.history(), *own_, now, horizon)
                          : scheduling::own_node_now(facts_.cluster(), *own_);
  for (const auto& [key, awarded] : awarded_) {
    const PodQuestion& pod = awarded.question;
    seen.promised_cpu += pod.cpu;
    seen.promised_memory += pod.memory;
    ++seen.promised_pods;
    seen.node.pods += 1;
    seen.node.used += pod.expected;
    for (std::size_t k = 0; k < OwnNode::kMoments; ++k) {
      const double lives =
          pod.life > 0 ? std::exp2(-seen.node.ahead_s[k] / static_cast<double>(pod.life)) : 1;
      seen.node.ahead[k] += pod.expected * lives;
    }
  }
  return seen;
}

bool NodeAgent::fits(const PodQuestion& question, const Pod* pod, const Seen& seen) const {
  const ClusterState& cluster = facts_.cluster();
  bool by_use = false;
  if (pod) {
    const scheduling::SchedulingOptions& options = local_[profile_of(pod->spec()).value_or(0)];
    by_use = options.by_use.on;
    const Demand demand = facts_.history().demand(*pod);
    const scheduling::FilterInput input{*pod, cluster, demand, options};
    if (!scheduling::objections(input, *own_).empty()) return false;
  } else {
    by_use = options_.profiles.front().options.by_use.on;
  }
  if (by_use) return true;
  // The filter does not know of pods that are on their way, nor of any that is only told of.
  constexpr double kRounding = 1e-6;
  const NodeColumns& columns = cluster.columns();
  const std::uint32_t i = own_->slot;
  const bool cpu_fits =
      question.cpu <= 0 || 1000 * (question.cpu + seen.promised_cpu) <= columns.free_cpu[i] + kRounding;
  const bool memory_fits =
      question.memory <= 0 || question.memory + seen.promised_memory <= columns.free_memory[i];
  const bool pods_fit =
      static_cast<double>(columns.free_pods[i]) >= 1 + static_cast<double>(seen.promised_pods);
  return cpu_fits && memory_fits && pods_fit;
}

bool NodeAgent::may_judge(Time now) const {
  return brain_ && own_ && beat_at_ && *beat_at_ + options_.stale_after >= now &&
         (!options_.needs_samples || facts_.cluster().measured_at(*own_) + options_.stale_after >= now);
}

AgentWord NodeAgent::ask_brain(const AgentView& view) {
  AgentWord word = brain_->decide(view, random_);
  const scheduling::SelfCheck check = brain_->self_check();
  const bool strange = check.outside > options_.too_strange * check.inputs;
  if (strange || !std::isfinite(word.score)) word.verdict = BidVerdict::abstains;
  return word;
}

Bid NodeAgent::bid_on(const PodQuestion& question, const Pod* pod, const Seen& seen, Time now) {
  Bid bid{question.pod, BidVerdict::abstains, 0, awards_};
  if (own_ && !fits(question, pod, seen)) {
    bid.verdict = BidVerdict::unfit;
    ++figures_.unfit;
    return bid;
  }
  const AgentView view{seen.node, shares_, question};
  if (may_judge(now)) {
    const AgentWord word = ask_brain(view);
    bid.verdict = word.verdict;
    bid.score = word.verdict == BidVerdict::abstains ? 0 : word.score;
  }
  figures_.accepts += bid.verdict == BidVerdict::accept ? 1 : 0;
  figures_.abstained += bid.verdict == BidVerdict::abstains ? 1 : 0;
  remember(view, now);
  return bid;
}

// ---- What became of it.

void NodeAgent::remember(const AgentView& view, Time now) {
  Spoken& spoken = spoken_[view.pod.pod];
  spoken.question = view.pod;
  spoken.view.reset();
  if (options_.learns && may_judge(now)) spoken.view = view;
  spoken.number = next_spoken_++;
  spoken.at = now;
  spoken_order_.emplace_back(view.pod.pod, spoken.number);
}

void NodeAgent::settle(const PodKey& pod, bool won, Time now) {
  const auto spoken = spoken_.find(pod);
  if (spoken == spoken_.end()) return;
  if (brain_ && spoken->second.view) brain_->settle(*spoken->second.view, won, now);
  // A pod whose award is withdrawn may be asked about once more.
  spoken_.erase(spoken);
}

void NodeAgent::drop_old(Time now) {
  while (!spoken_order_.empty()) {
    const auto& [key, number] = spoken_order_.front();
    const auto spoken = spoken_.find(key);
    const bool is_void = spoken == spoken_.end() || spoken->second.number != number;
    if (!is_void) {
      const bool lost = spoken->second.at + kLostAfter <= now && !waiting_.contains(key);
      if (!lost && spoken_order_.size() <= kMostSpoken) break;
      if (lost) {
        settle(PodKey(key), false, now);
      } else {
        spoken_.erase(spoken);
      }
    }
    spoken_order_.pop_front();
  }
  const std::size_t before = awarded_.size();
  std::erase_if(awarded_, [&](const auto& entry) { return entry.second.until <= now; });
  figures_.unconfirmed += before - awarded_.size();
}

void NodeAgent::learn(Time now) {
  if (!brain_ || !options_.learns || brain_->review_at() > now) return;
  must_see_first_ = !may_judge(now);
  if (must_see_first_) return;
  const auto use_of = [&](const PodKey& key) -> std::optional<Usage> {
    if (const auto awarded = awarded_.find(key); awarded != awarded_.end())
      return awarded->second.question.expected;
    const auto here = here_.find(key);
    const PodRecord* record = here == here_.end() ? nullptr : facts_.cluster().pod(here->second);
    if (!record) return std::nullopt;
    return record->expected.mean;
  };
  brain_->review(now, {look_at_node(now).node, shares_, {}}, use_of, random_);
}

std::optional<AgentLessons> NodeAgent::take_lessons(Time now) {
  if (!brain_ || !options_.learns || now < next_lessons_ || brain_->experience() == 0) return std::nullopt;
  next_lessons_ = now + options_.lessons_every;
  ++figures_.lessons;
  return AgentLessons{model_, brain_->experience(), brain_->parameters()};
}

Time NodeAgent::wake_at() const {
  if (!brain_ || !options_.learns) return Time::max();
  const Time reward = must_see_first_ ? Time::max() : brain_->review_at();
  return leader_spoke_ && brain_->experience() > 0 ? std::min(reward, next_lessons_) : reward;
}

}  // namespace evenkeel::agents
