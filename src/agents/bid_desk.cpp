#include "agents/bid_desk.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "base/check.h"
#include "cluster/cluster_state.h"
#include "scheduling/policies/marl_encoding.h"

namespace evenkeel::agents {
namespace {

using namespace std::chrono_literals;
using scheduling::PlacementRequest;

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMostClosed = 8192;  // pods whose late words are known to be late
// A question that nobody has come back to for so long: its pod went another way.
constexpr Duration kForgotten = 5s;
// That a node is unfit is believed for so long only: the leader has just found that it would do.
constexpr Duration kUnfitFor = 1s;

std::string with_digits(double value, int digits) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits).ptr;
  return {text, end};
}

double milliseconds(Duration duration) { return static_cast<double>(duration.count()) / 1000; }

// "3 reject, 1 unfit, 1 abstains"
std::string tally(const BidRound& round) {
  std::string text;
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(what);
  };
  add(round.answered(BidVerdict::reject), "reject");
  add(round.answered(BidVerdict::unfit), "unfit");
  add(round.answered(BidVerdict::abstains), "abstains");
  add(round.count(BidRound::State::out_of_date), "out of date");
  add(round.count(BidRound::State::silent), "silent");
  return text;
}

PodQuestion question_about(const PodKey& pod, const PlacementRequest& request) {
  PodQuestion question = scheduling::pod_question(request);
  question.pod = pod;
  return question;
}

}  // namespace

BidDesk::BidDesk(BidDeskOptions options, Random random) : options_(options), random_(random) {}

void BidDesk::begin_term(Term term) {
  clear_words();
  term_ = term;
}

void BidDesk::end_term() {
  clear_words();
  term_.reset();
}

void BidDesk::set_options(BidDeskOptions options) { options_ = options; }

void BidDesk::clear_words() {
  rounds_by_pod_.clear();
  rounds_.clear();
  openings_.clear();
  looked_at_ = 0;
  early_.clear();
  closed_.clear();
  closed_order_.clear();
  news_ = false;
  for (Agent& agent : agents_) {
    agent.awards = 0;
    agent.awards_to_tell.clear();
    agent.questions.clear();
  }
}

// ---- Who is there.

std::optional<std::uint32_t> BidDesk::find_agent(std::string_view node) const {
  const auto at = by_node_.find(node);
  return at == by_node_.end() ? std::nullopt : std::optional(at->second);
}

void BidDesk::joined(const std::string& node, const AgentHello& hello) {
  left(node);  // a line that is new means one that is gone
  std::uint32_t place = static_cast<std::uint32_t>(agents_.size());
  if (free_places_.empty()) {
    agents_.emplace_back();
  } else {
    place = free_places_.back();
    free_places_.pop_back();
  }
  agents_[place] = {node, true, hello.sees_pods, ++joinings_, 0, {}, {}};
  by_node_[node] = place;
}

void BidDesk::left(const std::string& node) {
  const auto at = by_node_.find(node);
  if (at == by_node_.end()) return;
  const std::uint32_t place = at->second;
  by_node_.erase(at);
  agents_[place] = {};
  free_places_.push_back(place);
  for (auto& [number, round] : rounds_) {
    BidRound::Candidate* candidate = round.of_agent(place);
    if (!candidate) continue;
    round.put(*candidate, State::out);
    if (!round.ended && round.end_by_words() != End::none) news_ = true;
  }
}

std::vector<std::string> BidDesk::agents() const {
  std::vector<const Agent*> there;
  for (const Agent& agent : agents_)
    if (agent.joined) there.push_back(&agent);
  std::sort(there.begin(), there.end(),
            [](const Agent* a, const Agent* b) { return a->joining < b->joining; });
  std::vector<std::string> names;
  for (const Agent* agent : there) names.push_back(agent->node);
  return names;
}

std::optional<std::uint32_t> BidDesk::agent_of(const ClusterState& cluster, NodeId node) {
  if (agent_at_.size() <= node.slot) agent_at_.resize(node.slot + 1, kNobody);
  std::uint32_t& guess = agent_at_[node.slot];
  const std::string& name = cluster.node(node).name;
  if (guess < agents_.size() && agents_[guess].joined && agents_[guess].node == name) return guess;
  const std::optional<std::uint32_t> found = find_agent(name);
  guess = found.value_or(kNobody);
  return found;
}

// ---- What they say.

bool BidDesk::heard(const std::string& node, const AgentBids& bids, Time now) {
  const std::optional<std::uint32_t> agent = find_agent(node);
  if (!agent || !term_ || bids.term != *term_) {
    ++figures_.foreign_term;
    return false;
  }
  early_.forget_before(now - options_.keep_bids);
  for (const Bid& bid : bids.bids) hear(*agent, bid, now);
  return true;
}

void BidDesk::hear(std::uint32_t agent, const Bid& bid, Time now) {
  ++figures_.bids;
  const Agent& speaker = agents_[agent];
  if (bid.awards != speaker.awards) ++figures_.out_of_date;
  if (bid.awards > speaker.awards) return;  // meant for somebody else
  const Said said{agent, speaker.joining, bid.verdict, bid.score, bid.awards, now};
  const auto open = rounds_by_pod_.find(bid.pod);
  if (open == rounds_by_pod_.end()) {
    if (!closed_.contains(bid.pod)) early_.add(bid.pod, said);
    return;
  }
  BidRound& round = open->second->second;
  BidRound::Candidate* candidate = round.of_agent(agent);
  if (!candidate || candidate->joining != speaker.joining || candidate->state == State::out) return;
  if (candidate->spoken && bid.awards < candidate->awards) return;  // overtaken by a later word
  round.hear(*candidate, said, bid.awards == speaker.awards ? State::fresh : State::out_of_date);
  if (!round.ended && round.end(now) != End::none) news_ = true;
}

// ---- What is asked.

BidDesk::Outcome BidDesk::consult(const PlacementRequest& request, DelayOf delay_of) {
  if (!delay_of || is_open(request.pod)) return consult(request, std::span<const float>{});
  std::vector<float> delays(request.feasible.size(), 0);
  for (std::uint32_t slot = 0; slot < delays.size(); ++slot)
    if (request.feasible[slot]) delays[slot] = delay_of(request, {slot});
  return consult(request, delays);
}

BidDesk::Outcome BidDesk::consult(const PlacementRequest& request, std::span<const float> delays) {
  if (!term_) return {Answer::nobody, {}, "no agent leads"};
  const Time now = request.now;
  early_.forget_before(now - options_.keep_bids);
  drop_forgotten(now);
  const PodKey pod = pod_key(request.pod.uid);
  auto known = rounds_by_pod_.find(pod);
  Rounds::iterator at;
  if (known != rounds_by_pod_.end()) {
    at = known->second;
    BidRound& round = at->second;
    // It was answered, and nobody acted on it: what was said may still hold, what was decided need not.
    if (round.ended && round.ended_at != now) {
      round.ended = false;
      round.open_again(now);
    }
    look_at_candidates(round, request);
    // All of them gone: others may be there.
    if (round.asked() == 0) {
      close(at);
      known = rounds_by_pod_.end();
    }
  }
  if (known == rounds_by_pod_.end()) {
    // Pods that go before others may come while as many wait as make sense, but not without end.
    if (rounds_.size() >= 2 * options_.most_open)
      return {Answer::waits, {}, "many pods are being asked about"};
    at = open(pod, request, delays);
    if (at == rounds_.end()) {
      ++figures_.by_nobody;
      return {Answer::nobody, {}, "none of the nodes that would do has an agent"};
    }
  }
  BidRound& round = at->second;
  round.consulted = now;
  if (round.end(now) == End::none) return wait(round, now);
  return decide(round, now);
}

BidDesk::Rounds::iterator BidDesk::open(const PodKey& pod, const PlacementRequest& request,
                                        std::span<const float> delays) {
  std::vector<BidRound::Candidate> candidates = draw_candidates(request, delays);
  const std::vector<Said> early = early_.take(pod);
  if (candidates.empty()) return rounds_.end();
  closed_.erase(pod);
  const double quorum = is_crowded(request.now) ? options_.crowd_quorum : options_.quorum;
  const auto at =
      rounds_
          .try_emplace(next_round_++, question_about(pod, request),
                       BidRound::Terms{options_.gather_within, options_.quorum_after, quorum}, request.now)
          .first;
  BidRound& round = at->second;
  round.replace_candidates(std::move(candidates), agents_.size());
  rounds_by_pod_[pod] = at;
  openings_.push_back(request.now);
  while (openings_.size() > options_.crowd) openings_.pop_front();

  // Only the leader knows what the pod's talk to others would cost: words without that are no answer.
  const bool has_delay = !request.pod.shape->app_group.empty() ||
                         std::any_of(delays.begin(), delays.end(), [](float delay) { return delay != 0; });
  for (BidRound::Candidate& candidate : round.candidates())
    candidate.to_ask = has_delay || options_.tells_pods || !agents_[candidate.agent].sees_pods;
  if (has_delay) return at;
  for (const Said& said : early) {
    BidRound::Candidate* candidate = round.of_agent(said.agent);
    if (!candidate || candidate->joining != said.joining) continue;
    const bool believed = said.verdict == BidVerdict::accept || said.verdict == BidVerdict::reject ||
                          request.now - said.at <= kUnfitFor;
    if (believed) {
      round.hear(*candidate, said,
                 said.awards == agents_[said.agent].awards ? State::fresh : State::out_of_date);
    } else {
      candidate->to_ask = true;
    }
  }
  return at;
}

std::vector<BidRound::Candidate> BidDesk::draw_candidates(const PlacementRequest& request,
                                                          std::span<const float> delays) {
  std::vector<BidRound::Candidate> all;
  all.reserve(std::min(request.feasible_count, by_node_.size()));
  for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot) {
    if (!request.feasible[slot]) continue;
    const std::optional<std::uint32_t> agent = agent_of(request.cluster, {slot});
    if (!agent) continue;
    BidRound::Candidate& candidate = all.emplace_back();
    candidate.node = {slot};
    candidate.agent = *agent;
    candidate.joining = agents_[*agent].joining;
    if (slot < delays.size()) candidate.delay = delays[slot];
  }
  const std::size_t sample = options_.sample == 0 ? all.size() : options_.sample;
  if (const std::size_t few = std::min(sample, options_.crowd_sample);
      few < all.size() && is_crowded(request.now)) {
    keep_least_asked(all, few);
    return all;
  }
  if (sample >= all.size()) return all;
  for (std::size_t i = 0; i < sample; ++i) std::swap(all[i], all[i + random_.below(all.size() - i)]);
  all.resize(sample);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
  return all;
}

bool BidDesk::is_crowded(Time now) const {
  if (rounds_.size() >= options_.crowd) return true;
  return openings_.size() >= options_.crowd && now - openings_.front() <= options_.crowd_within;
}

// By lot where they are asked about equally many.
void BidDesk::keep_least_asked(std::vector<BidRound::Candidate>& candidates, std::size_t count) {
  std::vector<std::uint32_t> questions(agents_.size());
  for (const auto& [number, round] : rounds_)
    for (const BidRound::Candidate& candidate : round.candidates())
      if (candidate.state != State::out) ++questions[candidate.agent];
  std::vector<std::uint64_t> ranks;
  ranks.reserve(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i)
    ranks.push_back(std::uint64_t{questions[candidates[i].agent]} << 48 | random_.below(1U << 16) << 32 | i);
  const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(ranks.begin(), end, ranks.end());
  std::vector<BidRound::Candidate> kept;
  kept.reserve(count);
  for (auto rank = ranks.begin(); rank != end; ++rank)
    kept.push_back(candidates[*rank & std::numeric_limits<std::uint32_t>::max()]);
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
  candidates = std::move(kept);
}

BidDesk::State BidDesk::state_of(const BidRound::Candidate& candidate) const {
  return candidate.awards == agents_[candidate.agent].awards ? State::fresh : State::out_of_date;
}

// Who has left meanwhile, come back, or whose node would not do any more.
void BidDesk::look_at_candidates(BidRound& round, const PlacementRequest& request) {
  for (BidRound::Candidate& candidate : round.candidates()) {
    const std::uint32_t slot = candidate.node.slot;
    const bool would_do = slot < request.feasible.size() && request.feasible[slot] != 0;
    const std::optional<std::uint32_t> agent = would_do ? agent_of(request.cluster, {slot}) : std::nullopt;
    if (!agent) {
      round.put(candidate, State::out);
      continue;
    }
    if (candidate.state != State::out) continue;
    if (*agent != candidate.agent) continue;  // it came back to another place: others answer for this round
    if (agents_[*agent].joining != candidate.joining) {
      candidate.joining = agents_[*agent].joining;
      candidate.spoken = false;
      candidate.to_ask = true;
      candidate.asked_at = BidRound::Candidate::kNever;
    }
    round.put(candidate, candidate.spoken ? state_of(candidate) : State::silent);
  }
}

void BidDesk::ask_the_silent(BidRound& round, Time now) {
  if (now < round.patience_at() || round.count(State::silent) == 0) return;
  for (BidRound::Candidate& candidate : round.candidates())
    if (candidate.state == State::silent && candidate.asked_at == BidRound::Candidate::kNever)
      candidate.to_ask = true;
}

BidDesk::Outcome BidDesk::wait(BidRound& round, Time now) {
  ask_the_silent(round, now);
  round.wake = round.next_moment(now);
  if (!round.looked_at) ++looked_at_;
  round.looked_at = true;
  return {Answer::waits, {}, {}};
}

std::optional<NodeId> BidDesk::best_of(const BidRound& round, float& score) {
  const auto accepts = [](const BidRound::Candidate& candidate) {
    return candidate.state == State::fresh && candidate.verdict == BidVerdict::accept;
  };
  std::size_t equals = 0;
  for (const BidRound::Candidate& candidate : round.candidates()) {
    if (!accepts(candidate) || (equals > 0 && candidate.score < score)) continue;
    equals = equals > 0 && candidate.score == score ? equals + 1 : 1;
    score = candidate.score;
  }
  if (equals == 0) return std::nullopt;
  std::size_t skip = equals == 1 ? 0 : random_.below(equals);
  for (const BidRound::Candidate& candidate : round.candidates())
    if (accepts(candidate) && candidate.score == score && skip-- == 0) return candidate.node;
  EVENKEEL_CHECK(false);
  return std::nullopt;
}

BidDesk::Outcome BidDesk::decide(BidRound& round, Time now) {
  const End end = round.end(now);
  float score = 0;
  const std::optional<NodeId> best = best_of(round, score);
  if (round.looked_at) --looked_at_;
  round.looked_at = false;
  round.wake = Time::max();
  const bool counted = round.ended;
  round.ended = true;
  round.ended_at = now;
  if (!counted) {
    figures_.gather_ms_sum += milliseconds(now - round.opened());
    std::uint64_t& ends = !best                ? figures_.by_nobody
                          : end == End::all    ? figures_.by_all
                          : end == End::quorum ? figures_.by_quorum
                                               : figures_.by_deadline;
    ++ends;
  }
  const std::size_t asked = round.asked(), fresh = round.count(State::fresh);
  const std::string time = " in " + with_digits(milliseconds(now - round.opened()), 1) + " ms";
  const std::string all = std::to_string(asked) + (asked == 1 ? " agent" : " agents");
  if (fresh == 0) {
    const std::string others = tally(round);
    return {Answer::nobody, {}, "none of " + all + " answered" + time + ": " + others};
  }
  if (!best && fresh == asked) return {Answer::nobody, {}, all + " answered, none accepts: " + tally(round)};
  const std::string some = std::to_string(fresh) + " of " + all + " answered" + time;
  if (!best) return {Answer::nobody, {}, some + ", none accepts: " + tally(round)};
  return {Answer::chosen, *best, some + "; the best bid " + with_digits(score, 2)};
}

std::vector<BidDesk::Word> BidDesk::words(const PlacementRequest& request) const {
  std::vector<Word> words;
  const auto known = rounds_by_pod_.find(pod_key(request.pod.uid));
  if (known == rounds_by_pod_.end()) return words;
  const BidRound& round = known->second->second;
  for (const BidRound::Candidate& candidate : round.candidates()) {
    if (candidate.state == State::out) continue;
    Word word{candidate.node, std::nullopt, candidate.state == State::out_of_date};
    if (candidate.spoken)
      word.bid = Bid{round.question().pod, candidate.verdict, candidate.score, candidate.awards};
    words.push_back(std::move(word));
  }
  return words;
}

// ---- What became of it.

void BidDesk::awarded(const PodKey& pod, const std::string& node) {
  if (!term_) return;
  const std::optional<std::uint32_t> winner = find_agent(node);
  const Closed how{0, winner.has_value(), winner.value_or(0), winner ? agents_[*winner].joining : 0};
  const auto before = closed_.find(pod);
  if (winner && before != closed_.end() && before->second.awarded && before->second.joining == how.joining)
    return;        // told twice
  withdrawn(pod);  // from whomever had it before
  close(pod, how);
  if (!winner) return;
  tell_award(agents_[*winner], pod, false);
  outdate(*winner);
}

void BidDesk::withdrawn(const PodKey& pod) {
  const auto known = closed_.find(pod);
  if (known == closed_.end()) return;
  const Closed how = known->second;
  closed_.erase(known);  // it will be asked about again
  if (!how.awarded || how.agent >= agents_.size() || agents_[how.agent].joining != how.joining) return;
  tell_award(agents_[how.agent], pod, true);
  outdate(how.agent);
}

void BidDesk::forget(const PodKey& pod) {
  const auto known = closed_.find(pod);
  // Of an award that is carried out no more is to be withdrawn.
  if (known != closed_.end()) {
    known->second.awarded = false;
    return;
  }
  close(pod, {});
}

void BidDesk::tell_award(Agent& agent, const PodKey& pod, bool withdrawn) {
  // Both count: a bid made under the belief that the pod would come is as wrong as one made before.
  ++agent.awards;
  std::vector<LeaderAwards>& letters = agent.awards_to_tell;
  if (letters.empty() || letters.back().withdrawn != withdrawn)
    letters.push_back({*term_, agent.awards, {}, withdrawn});
  letters.back().awards = agent.awards;
  letters.back().pods.push_back(pod);
}

void BidDesk::outdate(std::uint32_t agent) {
  for (auto& [number, round] : rounds_) {
    BidRound::Candidate* candidate = round.of_agent(agent);
    if (candidate && candidate->state == State::fresh) round.put(*candidate, State::out_of_date);
  }
}

void BidDesk::close(Rounds::iterator at) {
  if (at->second.looked_at) --looked_at_;
  rounds_by_pod_.erase(at->second.question().pod);
  rounds_.erase(at);
}

void BidDesk::close(const PodKey& pod, const Closed& how) {
  early_.forget(pod);
  const auto open = rounds_by_pod_.find(pod);
  if (open != rounds_by_pod_.end()) close(open->second);
  Closed& closed = closed_[pod];
  closed = how;
  closed.number = next_closed_++;
  closed_order_.emplace_back(pod, closed.number);
  while (closed_order_.size() > kMostClosed) {
    const auto oldest = closed_.find(closed_order_.front().first);
    if (oldest != closed_.end() && oldest->second.number == closed_order_.front().second)
      closed_.erase(oldest);
    closed_order_.pop_front();
  }
}

void BidDesk::drop_forgotten(Time now) {
  if (now < next_sweep_) return;
  next_sweep_ = now + kForgotten / 5;
  for (auto at = rounds_.begin(); at != rounds_.end();) {
    const auto round = at++;
    if (round->second.consulted + kForgotten < now) close(round);
  }
}

// ---- When, and what is sent.

void BidDesk::news_seen() {
  news_ = false;
  looked_at_ = 0;
  // Whoever still waits is consulted now, and says when next; a pod that does not come again wakes nobody.
  for (auto& [number, round] : rounds_) {
    round.looked_at = false;
    round.wake = Time::max();
  }
}

Time BidDesk::wake_at() const {
  Time at = Time::max();
  for (const auto& [number, round] : rounds_) at = std::min(at, round.wake);
  return at;
}

// Where pods come at once every decision makes one agent's words out of date, and a round is decided as long
// as a quorum is left: so many are decided before agents must be asked again, times as many as ask others
// altogether. Words about those behind them would be out of date before their turn comes: only twice as many
// are asked about, and whoever has waited long.
void BidDesk::write_questions() {
  std::size_t in_front = 0;
  for (auto& [number, round] : rounds_) {
    if (round.ended) continue;
    bool again = false;
    if (round.count(State::out_of_date) > 0 && round.end_by_words() == End::none) {
      const std::size_t apart =
          std::max<std::size_t>(1, by_node_.size() / std::max<std::size_t>(1, round.asked()));
      const std::size_t decided = apart * (round.asked() - round.needed() + 1);
      again = in_front < 2 * decided || round.consulted >= round.quorum_at();
      ++in_front;
    }
    write_questions(round, again);
  }
}

void BidDesk::write_questions(BidRound& round, bool again) {
  for (BidRound::Candidate& candidate : round.candidates()) {
    if (candidate.state == State::out) continue;
    Agent& agent = agents_[candidate.agent];
    const bool speaks_again =
        again && candidate.state == State::out_of_date && candidate.asked_at != agent.awards;
    if (!candidate.to_ask && !speaks_again) continue;
    candidate.to_ask = false;
    candidate.asked_at = agent.awards;
    PodQuestion question = round.question();
    question.delay = candidate.delay;
    agent.questions.push_back(question);
    ++figures_.questions;
  }
}

std::vector<BidDesk::Letter> BidDesk::take_letters() {
  write_questions();
  std::vector<Letter> letters;
  for (Agent& agent : agents_) {
    // Awards first, so that what is said to the questions knows of them.
    for (LeaderAwards& awards : agent.awards_to_tell) letters.push_back({agent.node, std::move(awards)});
    agent.awards_to_tell.clear();
    if (!agent.questions.empty())
      letters.push_back({agent.node, LeaderAsks{*term_, std::exchange(agent.questions, {})}});
  }
  return letters;
}

BidDesk::Figures BidDesk::figures() const {
  Figures figures = figures_;
  figures.agents = by_node_.size();
  figures.open = rounds_.size();
  return figures;
}

}  // namespace evenkeel::agents
