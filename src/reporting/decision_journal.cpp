#include "reporting/decision_journal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/unit_text.h"

namespace evenkeel::reporting {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 6> kOutcomes{"scheduled", "unschedulable", "preempting",
                                                    "waiting",   "shadow",        "bind_failed"};
constexpr std::array<std::string_view, 5> kBindings{"none", "in_flight", "bound", "failed", "forgotten"};
// So few are looked at while the lock is held.
constexpr std::size_t kBatch = 64;

std::string time_text(Time time) {
  const std::int64_t micros = time.time_since_epoch().count();
  const std::int64_t within = (micros % 1'000'000 + 1'000'000) % 1'000'000;
  const std::time_t seconds = (micros - within) / 1'000'000;
  std::tm parts{};
  char text[64];
  if (!gmtime_r(&seconds, &parts)) return "";
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::string spelled(text, length);
  (void)std::snprintf(text, sizeof text, ".%06dZ", static_cast<int>(within));
  return spelled + text;
}

// Plugins score in whole steps; what other policies weigh are real numbers.
Json number(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? Json(static_cast<std::int64_t>(value))
                                                              : Json(value);
}

Json json_value(const JournalEntry::Candidate& candidate) {
  Json scores = Json::object(), weights = Json::object();
  for (const JournalEntry::Score& score : candidate.scores) {
    scores[score.plugin] = number(score.score);
    weights[score.plugin] = number(score.weight);
  }
  return {{"node", candidate.node},
          {"total", number(candidate.total)},
          {"scores", std::move(scores)},
          {"weights", std::move(weights)}};
}

bool matches(const JournalEntry& entry, const DecisionJournal::Query& query) {
  if (query.outcome && entry.outcome != *query.outcome) return false;
  if (!query.pod.empty() && entry.pod != query.pod) return false;
  if (!query.name_space.empty() && entry.name_space != query.name_space) return false;
  if (query.node.empty() || entry.node == query.node) return true;
  return std::any_of(entry.candidates.begin(), entry.candidates.end(),
                     [&](const JournalEntry::Candidate& candidate) { return candidate.node == query.node; });
}

void cut(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  text.resize(most);
  text += "…";
}

}  // namespace

std::string_view name_of(DecisionOutcome outcome) { return kOutcomes.at(static_cast<std::size_t>(outcome)); }
std::string_view name_of(BindingOutcome outcome) { return kBindings.at(static_cast<std::size_t>(outcome)); }

std::size_t JournalEntry::bytes() const {
  std::size_t sum = sizeof *this + name_space.capacity() + pod.capacity() + uid.capacity() +
                    profile.capacity() + policy.capacity() + node.capacity() + message.capacity() +
                    binding_why.capacity();
  for (const Candidate& candidate : candidates) {
    sum += sizeof candidate + candidate.node.capacity();
    for (const Score& score : candidate.scores) sum += sizeof score + score.plugin.capacity();
  }
  for (const Reason& each : reasons) sum += sizeof each + each.reason.capacity() + each.plugin.capacity();
  for (const std::string& victim : victims) sum += sizeof victim + victim.capacity();
  return sum;
}

std::string json_of(const JournalEntry& entry) {
  Json value{{"sequence", entry.sequence},
             {"time", time_text(entry.time)},
             {"pod", entry.name_space + "/" + entry.pod},
             {"uid", entry.uid},
             {"profile", entry.profile},
             {"policy", entry.policy},
             {"attempt", entry.attempt},
             {"outcome", name_of(entry.outcome)},
             {"node", entry.node.empty() ? Json(nullptr) : Json(entry.node)},
             {"feasible", entry.feasible},
             {"evaluated", entry.evaluated},
             {"took_us", entry.took.count()},
             {"candidates", Json::array()},
             {"reasons", Json::array()},
             {"preempts", entry.victims},
             {"message", entry.message.empty() ? Json(nullptr) : Json(entry.message)},
             {"binding", name_of(entry.binding)}};
  for (const JournalEntry::Candidate& candidate : entry.candidates)
    value["candidates"].push_back(json_value(candidate));
  for (const JournalEntry::Reason& reason : entry.reasons) {
    Json& each = value["reasons"].emplace_back(Json{{"reason", reason.reason}, {"nodes", reason.nodes}});
    if (!reason.plugin.empty()) each["plugin"] = reason.plugin;
  }
  if (!entry.binding_why.empty()) value["binding_why"] = entry.binding_why;
  if (entry.binding != BindingOutcome::none && entry.binding != BindingOutcome::in_flight)
    value["binding_us"] = entry.bound_after.count();
  // A name may hold anything; what is no UTF-8 is replaced rather than thrown about.
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::uint64_t DecisionJournal::record(JournalEntry entry) {
  entry.sequence = ++last_sequence_;
  cut(entry.message, options_.max_text);
  for (JournalEntry::Reason& each : entry.reasons) cut(each.reason, options_.max_text);
  new_entries_.push_back(std::move(entry));
  return last_sequence_;
}

void DecisionJournal::settle(std::uint64_t sequence, BindingOutcome binding, std::string why,
                             Duration after) {
  cut(why, options_.max_text);
  new_settlements_.push_back({sequence, binding, std::move(why), after});
}

void DecisionJournal::publish() {
  if (new_entries_.empty() && new_settlements_.empty()) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;  // a reader is at it: next time
  for (JournalEntry& entry : new_entries_) put(std::move(entry));
  for (Settlement& settled : new_settlements_) {
    if (entries_.empty() || settled.sequence < entries_.front().sequence) continue;
    JournalEntry& entry = entries_.at(settled.sequence - entries_.front().sequence);
    bytes_ -= entry.bytes();
    entry.binding = settled.binding;
    entry.binding_why = std::move(settled.why);
    entry.bound_after = settled.after;
    if (settled.binding == BindingOutcome::failed) entry.outcome = DecisionOutcome::bind_failed;
    bytes_ += entry.bytes();
  }
  new_entries_.clear();
  new_settlements_.clear();
}

void DecisionJournal::put(JournalEntry entry) {
  bytes_ += entry.bytes();
  entries_.push_back(std::move(entry));
  ++recorded_;
  while (entries_.size() > options_.max_entries || bytes_ > options_.max_bytes) {
    bytes_ -= entries_.front().bytes();
    entries_.pop_front();
  }
}

std::vector<JournalEntry> DecisionJournal::find(const Query& query) const {
  std::vector<JournalEntry> found;
  std::optional<std::uint64_t> oldest_seen;
  for (;;) {
    const std::lock_guard lock(mutex_);
    if (entries_.empty()) return found;
    const std::uint64_t first = entries_.front().sequence;
    if (oldest_seen && *oldest_seen <= first) return found;
    std::size_t index = oldest_seen ? *oldest_seen - first : entries_.size();
    for (std::size_t looked = 0; looked < kBatch && index > 0; ++looked) {
      const JournalEntry& entry = entries_[--index];
      if (found.size() >= query.limit || (query.since && entry.time < *query.since)) return found;
      if (matches(entry, query)) found.push_back(entry);
      oldest_seen = entry.sequence;
    }
  }
}

std::size_t DecisionJournal::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

std::uint64_t DecisionJournal::recorded() const {
  const std::lock_guard lock(mutex_);
  return recorded_;
}

Result<DecisionJournal::Query> journal_query(
    const std::vector<std::pair<std::string, std::string>>& parameters, Time now) {
  constexpr std::size_t kMostAtOnce = 1000;
  DecisionJournal::Query query;
  for (const auto& [key, value] : parameters) {
    if (key == "pod") {
      const std::size_t slash = value.find('/');
      query.name_space = slash == std::string::npos ? "default" : value.substr(0, slash);
      query.pod = slash == std::string::npos ? value : value.substr(slash + 1);
    } else if (key == "namespace") {
      query.name_space = value;
    } else if (key == "node") {
      query.node = value;
    } else if (key == "outcome") {
      const auto* const at = std::find(kOutcomes.begin(), kOutcomes.end(), value);
      if (at == kOutcomes.end())
        return invalid("outcome: found '" + value +
                       "', expected scheduled, unschedulable, preempting, waiting, shadow or bind_failed");
      query.outcome = static_cast<DecisionOutcome>(at - kOutcomes.begin());
    } else if (key == "since") {
      const Result<Duration> age = parse_duration(value);
      if (!age) return invalid("since: " + age.error().message);
      query.since = now - *age;
    } else if (key == "limit") {
      std::size_t limit = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), limit);
      if (error != std::errc{} || end != value.data() + value.size() || limit == 0 || limit > kMostAtOnce)
        return invalid("limit: found '" + value + "', expected a number from 1 to 1000");
      query.limit = limit;
    } else {
      return invalid("'" + key + "' is not asked for here: pod, namespace, node, outcome, since, limit are");
    }
  }
  return query;
}

}  // namespace evenkeel::reporting
