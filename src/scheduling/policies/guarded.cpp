#include "scheduling/policies/guarded.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "scheduling/expected_after.h"
#include "scheduling/node_kernels.h"
#include "scheduling/policies/least_imbalance.h"

namespace evenkeel::scheduling {
namespace {

constexpr std::array<std::string_view, kFallbacks> kNames{
    "none",       "no_model",  "stage_unknown", "metrics_missing", "metrics_stale",
    "not_finite", "no_answer", "drift",         "reward"};

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

double cluster_imbalance(const ClusterState& cluster) {
  return imbalance_of(utilization_field(cluster.columns()), cluster.node_count()).value();
}

}  // namespace

std::string_view name_of(Fallback reason) { return kNames[static_cast<std::size_t>(reason)]; }

Guarded::Guarded(Parts parts, GuardOptions options)
    : parts_(std::move(parts)),
      options_(options),
      metrics_(options.most_stale),
      drift_(options.most_outside, options.window),
      reward_(options.reward),
      next_pause_(options.reward_pause) {
  EVENKEEL_CHECK(parts_.rule != nullptr);
  onlooker_ = dynamic_cast<LearnsFromOthers*>(parts_.learned.get());
  if (!parts_.learned) fall({Fallback::no_model, parts_.why_missing}, Time{});
}

void Guarded::set_stage(std::optional<StageSettings> stage, std::string why_unknown) {
  if (stage_ != stage) reward_.forget();  // who decided about what is another question from here on
  stage_ = std::move(stage);
  why_unknown_ = std::move(why_unknown);
}

bool Guarded::decides(const PlacementRequest& request) const {
  return stage_ && learned_decides(*stage_, request.pod);
}

// What is wrong before anything was asked.
Guarded::Trouble Guarded::standing_trouble(const ClusterState& cluster, const SchedulingOptions& options,
                                           Time now) {
  if (!parts_.learned) return {Fallback::no_model, parts_.why_missing};
  if (!stage_) return {Fallback::stage_unknown, why_unknown_};
  const MetricsWatch::Finding& found = metrics_.look(cluster, options.stale_after, now);
  if (!found.fresh) {
    const bool never = found.never * 2 > found.stale;
    return {never ? Fallback::metrics_missing : Fallback::metrics_stale,
            std::to_string(found.stale) + " of " + std::to_string(found.nodes) + " nodes have " +
                (never ? "no metrics"
                       : "no metrics of the last " +
                             std::to_string(std::lround(to_seconds(options.stale_after))) + " s")};
  }
  if (now < paused_until_) return {Fallback::reward, state_.why};
  return {};
}

// `binding`: what it says will be done; else it is asked aside, and learns nothing.
Guarded::Answer Guarded::ask(const PlacementRequest& request, Random& random, bool binding) {
  Answer answer;
  const std::span<const float> scores = parts_.learned->scores(request);
  if (!scores.empty()) {
    if (scores.size() < request.feasible.size() || !all_finite(scores.data(), request.feasible.size()))
      answer.trouble = {Fallback::not_finite, "its scores are not all numbers"};
    else
      answer.node = pick_highest(scores, request.feasible, random);
  } else if (binding) {
    answer.node = parts_.learned->choose(request, random);
    const bool waits = request.options.hold_back.on || parts_.learned->self_check().waits;
    if (!answer.node && waits) return answer;  // better wait, it says
  } else {
    std::uint32_t first = 0;
    while (!request.feasible[first]) ++first;
    const ScoreSheet sheet = parts_.learned->explain_best(request, 1, {first});
    if (!sheet.rows.empty() && std::isfinite(sheet.rows.front().total)) answer.node = sheet.rows.front().node;
  }
  return look_at(request, std::move(answer));
}

Guarded::Answer Guarded::look_at(const PlacementRequest& request, Answer answer) {
  SelfCheck check = parts_.learned->self_check();
  if (check.inputs == 0) {
    const SelfCheck generic = check_inputs(request);
    check.inputs = generic.inputs;
    check.outside = generic.outside;
  }
  drift_.note(check);
  const bool drifted = drift_.drifted();
  if (answer.trouble.reason != Fallback::none) return answer;
  if (!check.finite) {
    answer.trouble = {Fallback::not_finite, "what it computed is not all numbers"};
  } else if (!check.silent.empty()) {
    answer.trouble = {Fallback::no_answer, "its model has nothing to say: " + std::string(check.silent)};
  } else if (!answer.node) {
    answer.trouble = {Fallback::no_answer, "it named no node"};
  } else if (answer.node->slot >= request.feasible.size() || !request.feasible[answer.node->slot]) {
    answer.trouble = {Fallback::no_answer, "it named a node that the filters refuse"};
  } else if (drifted) {
    answer.trouble = {Fallback::drift,
                      percent(drift_.share()) + " of its inputs lie beyond what it was trained on"};
  } else if (check.outside > options_.too_strange * check.inputs) {
    answer.trouble = {Fallback::drift, "most inputs of this question lie beyond what it was trained on"};
    answer.lasting = false;
  } else if (!MetricsWatch::is_fresh(request.cluster, *answer.node, request.options.stale_after,
                                     request.now)) {
    answer.trouble = {Fallback::metrics_stale, "the node it chose has no fresh metrics"};
    answer.lasting = false;
  }
  return answer;
}

void Guarded::fall(const Trouble& trouble, Time now) {
  if (state_.healthy) {
    ++state_.falls;
    state_.since = now;
  }
  state_.healthy = false;
  state_.reason = trouble.reason;
  state_.why = trouble.why;
  well_since_.reset();
}

// Falls at once; comes back only after all was well for a while.
void Guarded::judge(const Trouble& trouble, Time now) {
  if (trouble.reason != Fallback::none) return fall(trouble, now);
  if (state_.healthy) return;
  if (!well_since_) well_since_ = now;
  // Of the stage a word is enough: whoever gives it means it.
  if (state_.reason != Fallback::stage_unknown && now - *well_since_ < options_.settle) return;
  state_.healthy = true;
  state_.reason = Fallback::none;
  state_.why.clear();
  state_.since = now;
  ++state_.returns;
  well_since_.reset();
}

void Guarded::compare(const PlacementRequest& request) {
  if (!verdict_.compared()) return;
  const NodeColumns& columns = request.cluster.columns();
  const Imbalance before = imbalance_of(utilization_field(columns), request.cluster.node_count());
  const Usage& added = request.demand.mean;
  const ExpectedState learned = expected_after(columns, before, added, *verdict_.learned_choice);
  const ExpectedState rule = expected_after(columns, before, added, *verdict_.rule_choice);
  verdict_.learned_imbalance = learned.imbalance;
  verdict_.learned_fullest = learned.fullest;
  verdict_.rule_imbalance = rule.imbalance;
  verdict_.rule_fullest = rule.fullest;
}

std::optional<NodeId> Guarded::choose(const PlacementRequest& request, Random& random) {
  verdict_ = {};
  verdict_.pod = request.pod.id;
  verdict_.at = request.now;
  const bool wanted = decides(request);
  const bool side_by_side = stage_ && stage_->stage != Stage::full;
  Trouble trouble = standing_trouble(request.cluster, request.options, request.now);
  const bool may_ask = trouble.reason == Fallback::none || trouble.reason == Fallback::reward;
  const bool trusted = wanted && trouble.reason == Fallback::none && state_.healthy;

  // Asked aside with lots of its own, so that what the rule decides is what it would decide alone.
  Random aside = random;
  Answer answer;
  if (may_ask) {
    answer = ask(request, trusted ? random : aside, trusted);
    verdict_.learned_choice = answer.node;
    if (trouble.reason == Fallback::none) trouble = answer.trouble;
  }
  const bool lasting = trouble.reason != answer.trouble.reason || answer.lasting;
  if (trouble.reason == Fallback::none || lasting) judge(trouble, request.now);

  verdict_.learned = trusted && trouble.reason == Fallback::none;
  if (verdict_.learned) {
    ++state_.by_learned;
    if (side_by_side) {
      const std::span<const float> scores = parts_.rule->scores(request);
      if (!scores.empty()) verdict_.rule_choice = pick_highest(scores, request.feasible, aside);
    }
  } else {
    if (wanted || !stage_) {
      verdict_.fallback = trouble.reason != Fallback::none ? trouble.reason : state_.reason;
      ++state_.instead[static_cast<std::size_t>(verdict_.fallback)];
    } else {
      ++state_.by_rule;
    }
    verdict_.rule_choice = parts_.rule->choose(request, random);
    if (onlooker_ && verdict_.rule_choice) onlooker_->placed(request, *verdict_.rule_choice);
  }
  if (side_by_side) compare(request);
  if (stage_ && stage_->stage == Stage::canary && verdict_.fallback == Fallback::none)
    reward_.decided(verdict_.learned, cluster_imbalance(request.cluster), request.now);
  return verdict_.learned ? verdict_.learned_choice : verdict_.rule_choice;
}

std::string Guarded::note() const {
  if (verdict_.learned) return "decided by " + parts_.learned_name;
  if (verdict_.fallback == Fallback::none)
    return "decided by " + parts_.rule_name + ", as the stage has it: " + (stage_ ? describe(*stage_) : "");
  return "decided by " + parts_.rule_name + " instead of " + parts_.learned_name + ": " +
         std::string(name_of(verdict_.fallback)) + (state_.why.empty() ? "" : ": " + state_.why);
}

ScoreSheet Guarded::explain(const PlacementRequest& request) {
  const bool decided = verdict_.pod == request.pod.id && verdict_.at == request.now;
  const bool learned = decided ? verdict_.learned : parts_.learned && state_.healthy && decides(request);
  ScoreSheet sheet = (learned ? parts_.learned : parts_.rule)->explain(request);
  const std::string silent(learned && !decided ? parts_.learned->self_check().silent : "");
  if (!silent.empty()) sheet = parts_.rule->explain(request);
  if (decided) {
    sheet.note = note();
  } else if (!silent.empty()) {
    sheet.note = parts_.rule_name + " decides: " + parts_.learned_name + " has nothing to say: " + silent;
  } else if (learned) {
    sheet.note = parts_.learned_name + " decides";
  } else {
    sheet.note = parts_.rule_name + " decides" + (state_.healthy ? "" : ": " + state_.why);
  }
  return sheet;
}

Time Guarded::review_at() const {
  const Time own = parts_.learned ? std::min(next_look_, reward_.due_at()) : Time::max();
  return parts_.learned ? std::min(own, parts_.learned->review_at()) : own;
}

std::vector<EvictPod> Guarded::review(const Retrospect& seen, Random& random) {
  if (!parts_.learned) return {};
  if (reward_.due_at() <= seen.now) reward_.outcome(cluster_imbalance(seen.cluster), seen.now);
  std::vector<EvictPod> evictions;
  if (parts_.learned->review_at() <= seen.now || !seen.ended.empty())
    evictions = parts_.learned->review(seen, random);
  if (next_look_ <= seen.now) {
    next_look_ = seen.now + options_.look_every;
    reward_.reported(parts_.learned->learning());
    const std::optional<std::string> worse = reward_.worse();
    if (worse && seen.now >= paused_until_) {
      paused_until_ = seen.now + next_pause_;
      next_pause_ = std::min(2 * next_pause_, options_.longest_pause);
      reward_.forget();
      fall({Fallback::reward, *worse}, seen.now);
    }
    // Troubles that only a question shows do not go away because nobody asks.
    const Trouble trouble = standing_trouble(seen.cluster, seen.options, seen.now);
    const bool by_question = state_.reason == Fallback::drift || state_.reason == Fallback::not_finite ||
                             state_.reason == Fallback::no_answer;
    if (trouble.reason != Fallback::none || !by_question) judge(trouble, seen.now);
  }
  // Who may not place pods may not end them either.
  if (!state_.healthy || !stage_ || stage_->stage == Stage::shadow) evictions.clear();
  return evictions;
}

std::vector<LearningFigure> Guarded::learning() const {
  return parts_.learned ? parts_.learned->learning() : std::vector<LearningFigure>{};
}

}  // namespace evenkeel::scheduling
