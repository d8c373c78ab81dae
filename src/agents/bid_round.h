#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "agents/early_bids.h"
#include "cluster/agent_messages.h"
#include "cluster/ids.h"

namespace evenkeel::agents {

// One pod that agents are asked about, and how far that has come. Counts as it goes, so that a bid costs no
// walk over all who were asked.
class BidRound {
 public:
  struct Terms {
    Duration gather_within{}, quorum_after{};
    double quorum = 1;
  };
  enum class State : std::uint8_t {
    out,          // its agent has left, or its node would not do any more
    silent,       // has said nothing yet
    out_of_date,  // has, before it heard of its latest award
    fresh,
  };
  struct Candidate {
    NodeId node;
    std::uint32_t agent = 0, joining = 0;
    float delay = 0;
    State state = State::silent;
    bool to_ask = false;
    bool spoken = false;  // then these are what it said last
    BidVerdict verdict = BidVerdict::abstains;
    float score = 0;
    std::uint32_t awards = 0;
    std::uint64_t asked_at = kNever;  // its awards when it was last asked

    static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  };

  BidRound(PodQuestion question, const Terms& terms, Time opened)
      : question_(std::move(question)), terms_(terms), opened_(opened) {}

  const PodQuestion& question() const { return question_; }
  Time opened() const { return opened_; }
  void open_again(Time now) { opened_ = now; }
  Time quorum_at() const { return opened_ + terms_.quorum_after; }
  // Those who watch for pods are left half of that time to speak by themselves.
  Time patience_at() const { return opened_ + terms_.quorum_after / 2; }

  void replace_candidates(std::vector<Candidate> candidates, std::size_t agents);
  std::vector<Candidate>& candidates() { return candidates_; }
  const std::vector<Candidate>& candidates() const { return candidates_; }
  Candidate* of_agent(std::uint32_t agent);  // null: it is not asked

  void put(Candidate& candidate, State state);
  void hear(Candidate& candidate, const Said& said, State state);

  std::size_t count(State state) const { return counts_[static_cast<std::size_t>(state)]; }
  std::size_t asked() const { return candidates_.size() - count(State::out); }
  std::size_t answered(BidVerdict verdict) const { return verdicts_[static_cast<std::size_t>(verdict)]; }
  std::size_t needed() const;  // for a quorum

  enum class End : std::uint8_t { none, all, quorum, deadline };
  End end(Time now) const;
  End end_by_words() const { return end(opened_); }  // however early it is
  Time next_moment(Time after) const;                // when time alone makes a difference

  // Of what it is to the desk.
  Time consulted{};         // last
  Time wake = Time::max();  // when it wants to be consulted again
  bool looked_at = false;   // consulted since the last news, and waits
  bool ended = false;       // has its answer, which is not carried out yet
  Time ended_at{};

 private:
  void count_in(const Candidate& candidate, std::size_t times);

  PodQuestion question_;
  Terms terms_;
  Time opened_;
  std::vector<Candidate> candidates_;      // by node
  std::vector<std::uint32_t> position_;    // in candidates_, by agent
  std::array<std::size_t, 4> counts_{};    // by State
  std::array<std::size_t, 4> verdicts_{};  // of fresh words
};

}  // namespace evenkeel::agents
