#pragma once
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "agents/pod_key_hash.h"
#include "base/time.h"

namespace evenkeel::agents {

// What one agent said to one pod. Of which agent, and in which of its joinings: whoever comes back has said
// nothing yet.
struct Said {
  std::uint32_t agent = 0, joining = 0;
  BidVerdict verdict = BidVerdict::abstains;
  float score = 0;
  std::uint32_t awards = 0;
  Time at{};
};

// Bids that came before their pod was asked about: agents that watch for pods see them when the leader does,
// or a little earlier. Bounded for each agent and in all; the oldest pods are asked about first, so what is
// beyond that is turned away, and asked for when its time comes.
class EarlyBids {
 public:
  struct Limits {
    std::size_t of_agent = 1024, pods = 4096;
  };
  EarlyBids() = default;
  explicit EarlyBids(Limits limits) : limits_(limits) {}

  // Takes the place of what the agent said before, unless that knew of more awards.
  void add(const PodKey& pod, const Said& said);
  std::vector<Said> take(const PodKey& pod);  // by agent
  void forget(const PodKey& pod) { take(pod); }
  void forget_before(Time first_said);  // whole pods, by their first bid
  void clear();

  std::size_t pods() const { return pods_.size(); }
  std::size_t of(std::uint32_t agent) const { return agent < counts_.size() ? counts_[agent] : 0; }

 private:
  struct OfPod {
    std::vector<Said> said;  // by agent
    std::uint64_t number = 0;
  };
  struct Arrival {
    Time at{};
    PodKey pod;
    std::uint64_t number = 0;
  };
  bool is_void(const Arrival& arrival) const;

  Limits limits_{};
  std::unordered_map<PodKey, OfPod, PodKeyHash> pods_;
  std::deque<Arrival> arrivals_;       // of pods; void once the pod was taken
  std::vector<std::uint32_t> counts_;  // by agent
  std::uint64_t next_number_ = 0;
};

}  // namespace evenkeel::agents
