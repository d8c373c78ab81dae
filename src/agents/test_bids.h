// A desk with agents around it that a test speaks for: questions go out, bids come in, by name.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agents/bid_desk.h"
#include "scheduling/test_questions.h"

namespace evenkeel::agents {

class TestBids {
 public:
  explicit TestBids(std::uint32_t nodes, BidDeskOptions options = {}, bool sees_pods = false)
      : cluster(nodes), desk(options, Random(1)) {
    desk.begin_term(7);
    for (std::uint32_t slot = 0; slot < nodes; ++slot) join(slot, sees_pods);
  }

  static std::string node(std::uint32_t slot) { return "node-" + std::to_string(slot); }
  void join(std::uint32_t slot, bool sees_pods = false) {
    AgentHello hello;
    hello.node = node(slot);
    hello.sees_pods = sees_pods;
    desk.joined(node(slot), hello);
  }

  std::int64_t milli_cpu = 500;  // that pods ask for, of nodes that have 4000

  // A pod that waits, kept for the questions about it.
  const Pod& pod(const std::string& uid) {
    const auto known = pods_.find(uid);
    if (known != pods_.end()) return known->second;
    Pod made = test_pod({next_pod_++, 1}, shape_asking(milli_cpu, 1 << 20));
    made.uid = uid;
    return pods_[uid] = made;
  }
  BidDesk::Outcome consult(const std::string& uid, BidDesk::DelayOf delay_of = nullptr) {
    return desk.consult(question(uid), delay_of);
  }
  scheduling::PlacementRequest question(const std::string& uid) {
    scheduling::PlacementRequest request = cluster.question(pod(uid));
    for (const std::uint32_t slot : unfit) {
      const_cast<std::uint8_t&>(request.feasible[slot]) = 0;
      --request.feasible_count;
    }
    return request;
  }
  // "node-2", "waits" or "nobody".
  std::string answer(const std::string& uid, BidDesk::DelayOf delay_of = nullptr) {
    const BidDesk::Outcome outcome = consult(uid, delay_of);
    why = outcome.why;
    if (outcome.answer == BidDesk::Answer::waits) return "waits";
    return outcome.answer == BidDesk::Answer::chosen ? node(outcome.node.slot) : "nobody";
  }

  bool say(std::uint32_t slot, const std::string& uid, BidVerdict verdict, float score = 0,
           std::uint32_t awards = 0, Term term = 7) {
    return desk.heard(node(slot), {term, {{pod_key(uid), verdict, score, awards}}}, cluster.now);
  }
  bool accept(std::uint32_t slot, const std::string& uid, float score, std::uint32_t awards = 0) {
    return say(slot, uid, BidVerdict::accept, score, awards);
  }
  void award(const std::string& uid, std::uint32_t slot) { desk.awarded(pod_key(uid), node(slot)); }
  void pass(Duration time) { cluster.now += time; }

  // What is sent, by node: "asks a b", "award 1: a", "withdrawn 2: a", in order.
  std::map<std::string, std::vector<std::string>> letters() {
    std::map<std::string, std::vector<std::string>> sent;
    for (const BidDesk::Letter& letter : desk.take_letters()) {
      std::string text;
      if (const auto* asks = std::get_if<LeaderAsks>(&letter.message)) {
        text = "asks";
        for (const PodQuestion& question : asks->questions) text += " " + name_of(question.pod);
        last_asks[letter.node] = *asks;
      } else {
        const auto& awards = std::get<LeaderAwards>(letter.message);
        text = (awards.withdrawn ? "withdrawn " : "award ") + std::to_string(awards.awards) + ":";
        for (const PodKey& key : awards.pods) text += " " + name_of(key);
      }
      sent[letter.node].push_back(text);
    }
    return sent;
  }
  std::string name_of(const PodKey& key) const {
    for (const auto& [uid, pod] : pods_)
      if (pod_key(uid) == key) return uid;
    return "?";
  }

  scheduling::TestCluster cluster;
  BidDesk desk;
  std::set<std::uint32_t> unfit;  // nodes that would not do
  std::string why;
  std::map<std::string, LeaderAsks> last_asks;

 private:
  std::map<std::string, Pod> pods_;
  std::uint32_t next_pod_ = 1000;
};

}  // namespace evenkeel::agents
