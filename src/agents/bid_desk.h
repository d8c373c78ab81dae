#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "cluster/agent_messages.h"
#include "scheduling/placement_request.h"

namespace evenkeel::agents {

struct BidDeskOptions {
  Duration gather_within{std::chrono::milliseconds{60}};  // from the question: then those who answered did
  Duration quorum_after{std::chrono::milliseconds{12}};   // then a quorum is enough
  double quorum = 0.75;                                   // of those asked
  std::size_t sample = 0;       // agents asked about one pod, drawn among those whose nodes would do; 0: all
  bool tells_pods = false;      // pods are told (relay); else only to those who do not see them
  std::size_t most_open = 64;   // questions at once: more would only grow out of date
  Duration keep_bids{std::chrono::seconds{30}};  // that came before anybody asked
};

// Where a leader gathers what agents say to the pods that wait. Knows no network and no clock.
//
//   consult ─▶ open ── all answered ───────────────────────────────────────────▶ decided, or nobody
//               │  ── after quorum_after, or where all others are only out of date: a quorum ──▶ the same
//               └──── after gather_within ─────────────────────────────────────▶ the same, of those who did
//
// A word is out of date once its agent was given a pod it had not heard of when it spoke: it is asked again, so
// that pods which come at once do not all go to the node that looked best before the first of them.
class BidDesk {
 public:
  explicit BidDesk(BidDeskOptions options, Random random);

  // A new term: nothing said in an earlier one counts. Also ends one: no term, nobody is asked.
  void begin_term(Term term);
  void end_term();
  void set_options(BidDeskOptions options);  // takes effect with the next question
  const BidDeskOptions& options() const { return options_; }

  void joined(const std::string& node, const AgentHello& hello);
  void left(const std::string& node);
  // False: of another term, or from nobody who joined; counted and dropped.
  bool heard(const std::string& node, const AgentBids& bids, Time now);

  enum class Answer : std::uint8_t {
    waits,   // for agents: hold the pod, and ask again once has_news()
    chosen,  // `node`
    nobody,  // a rule has to decide; `why` says why
  };
  struct Outcome {
    Answer answer = Answer::nobody;
    NodeId node{};
    std::string why;  // for people: "4 of 5 agents answered in 3.1 ms; the best bid 0.58"
  };
  // `delay_of`: mean network cost from a node to those the pod talks to; may be null.
  using DelayOf = float (*)(const scheduling::PlacementRequest&, NodeId);
  Outcome consult(const scheduling::PlacementRequest& request, DelayOf delay_of = nullptr);

  // What the last consult() of this pod was based on: for `explain` and the journal.
  struct Word {
    NodeId node;
    std::optional<Bid> bid;  // none: silent so far
    bool out_of_date = false;
  };
  std::vector<Word> words(const scheduling::PlacementRequest& request) const;

  // The pod was decided to go there, by bids or by a rule: its agent is told, and its earlier words count no more.
  void awarded(const PodKey& pod, const std::string& node);
  void withdrawn(const PodKey& pod);  // its binding failed
  void forget(const PodKey& pod);     // it is bound, gone, or somebody else's

  bool is_full() const { return open_.size() >= options_.most_open; }
  // Something has come, or time has passed, since the last consult() that waits: held pods deserve a look.
  bool has_news(Time now) const;
  void news_seen() { news_ = false; }
  Time wake_at() const;  // when time alone makes a difference

  // What is to be sent, gathered by agent; taken once a turn.
  struct Letter {
    std::string node;
    FromLeader message;
  };
  std::vector<Letter> take_letters();

  struct Figures {
    std::size_t agents = 0, open = 0;
    std::uint64_t questions = 0, bids = 0, out_of_date = 0, foreign_term = 0;
    std::uint64_t by_all = 0, by_quorum = 0, by_deadline = 0, by_nobody = 0;  // how rounds ended
    double gather_ms_sum = 0;                                                 // from question to decision
  };
  Figures figures() const;
  std::vector<std::string> agents() const;  // nodes, the longest joined first: deputies are the first of them

 private:
  BidDeskOptions options_;
  Random random_;
  bool news_ = false;
  std::map<PodKey, int> open_;  // placeholder of the implementation
};

}  // namespace evenkeel::agents
