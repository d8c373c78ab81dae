#pragma once
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace evenkeel::reporting {

// `waiting`: there were nodes, and the policy had the pod wait; `shadow`: decided, and nothing was done.
enum class DecisionOutcome { scheduled, unschedulable, preempting, waiting, shadow, bind_failed };
// What became of the node that was chosen; `forgotten`: the pod or the node went away first.
enum class BindingOutcome { none, in_flight, bound, failed, forgotten };

std::string_view name_of(DecisionOutcome outcome);
std::string_view name_of(BindingOutcome outcome);

// One decision about one pod, in plain values.
struct JournalEntry {
  struct Score {
    std::string plugin;
    double score = 0, weight = 1;
  };
  struct Candidate {
    std::string node;
    double total = 0;
    std::vector<Score> scores;
  };
  struct Reason {
    std::string reason;
    std::uint32_t nodes = 0;  // that it holds for
    std::string plugin{};     // who objects, where known
  };

  std::uint64_t sequence = 0;  // given by the journal; 1 is the first
  Time time{};
  std::string name_space, pod, uid;
  std::string profile, policy;
  std::uint32_t attempt = 1;
  DecisionOutcome outcome = DecisionOutcome::scheduled;
  std::string node;  // chosen, or to be freed by preemption
  std::uint32_t feasible = 0, evaluated = 0;
  std::vector<Candidate> candidates;  // the best first; none: not written down, see docs/observability.md
  std::vector<Reason> reasons;
  std::vector<std::string> victims;
  std::string message;
  Duration took{};
  BindingOutcome binding = BindingOutcome::none;
  std::string binding_why;
  Duration bound_after{};

  std::size_t bytes() const;  // of memory, about
};

// An object without line breaks; no key is ever renamed.
std::string json_of(const JournalEntry& entry);

// The last decisions, in memory. Bounded in entries and in bytes: the oldest go first.
//
// One thread writes: record, settle and publish. What it writes becomes visible to others by publish(), which
// takes the lock only if it is free, so a reader never makes the writer wait: at worst its news comes one
// turn later. Any thread may ask; a question looks at a few entries at a time.
class DecisionJournal {
 public:
  struct Options {
    std::size_t max_entries = 4096;
    std::size_t max_bytes = 4 << 20;
    std::size_t max_text = 1024;  // of one reason or message; the rest is cut off
  };
  explicit DecisionJournal(Options options) : options_(options) {}

  std::uint64_t record(JournalEntry entry);  // its sequence number
  // What became of the binding; an entry that is gone by now is not missed.
  void settle(std::uint64_t sequence, BindingOutcome binding, std::string why, Duration after);
  void publish();

  struct Query {
    std::string name_space{}, pod{};  // empty: any
    std::string node{};               // chosen, freed, or among the candidates
    std::optional<DecisionOutcome> outcome{};
    std::optional<Time> since{};
    std::size_t limit = 100;
  };
  std::vector<JournalEntry> find(const Query& query) const;  // the newest first
  std::size_t size() const;
  std::uint64_t recorded() const;  // ever, as far as published

 private:
  struct Settlement {
    std::uint64_t sequence = 0;
    BindingOutcome binding = BindingOutcome::none;
    std::string why;
    Duration after{};
  };
  void put(JournalEntry entry);

  Options options_;
  // The writer's own.
  std::uint64_t last_sequence_ = 0;
  std::vector<JournalEntry> new_entries_;
  std::vector<Settlement> new_settlements_;

  mutable std::mutex mutex_;
  std::deque<JournalEntry> entries_;  // sequence numbers without gaps
  std::size_t bytes_ = 0;
  std::uint64_t recorded_ = 0;
};

// `pod=NS/NAME`, `node=N`, `outcome=O`, `since=5m`, `limit=N`, already split and decoded; what is not
// understood is refused by name. `now` is what ages are counted from.
Result<DecisionJournal::Query> journal_query(
    const std::vector<std::pair<std::string, std::string>>& parameters, Time now);

}  // namespace evenkeel::reporting
