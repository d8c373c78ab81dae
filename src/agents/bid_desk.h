#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agents/bid_round.h"
#include "agents/early_bids.h"
#include "agents/pod_key_hash.h"
#include "base/random.h"
#include "cluster/agent_messages.h"
#include "scheduling/placement_request.h"

namespace evenkeel::agents {

struct BidDeskOptions {
  Duration gather_within{std::chrono::milliseconds{60}};  // from the question: then those who answered did
  Duration quorum_after{std::chrono::milliseconds{12}};   // then a quorum is enough
  double quorum = 0.75;                                   // of those asked
  std::size_t sample = 0;  // agents asked about one pod, drawn among those whose nodes would do; 0: all
  // With so many questions open, or asked within so short a time, a pod is one of many: to ask everybody
  // about each would take more of the cluster than the pods are worth, and every award makes words out of
  // date. Only so many are asked, those with the fewest questions, and such a quorum of them will do.
  std::size_t crowd = 16, crowd_sample = 6;
  Duration crowd_within{std::chrono::milliseconds{400}};
  double crowd_quorum = 0.5;
  bool tells_pods = false;     // pods are told (relay); else only to those who do not see them
  std::size_t most_open = 64;  // questions at once: more would only grow out of date
  Duration keep_bids{std::chrono::seconds{30}};  // that came before anybody asked
};

// Where a leader gathers what agents say to the pods that wait. Knows no network and no clock.
//
//   consult ─▶ open ── all answered ───────────────────────────────────────────▶ decided, or nobody
//               │  ── after quorum_after, or where all others are only out of date: a quorum ──▶ the same
//               └──── after gather_within ─────────────────────────────────────▶ the same, of those who did
//
// A word is out of date once its agent was given a pod it had not heard of when it spoke: it is asked again,
// so that pods which come at once do not all go to the node that looked best before the first of them. An
// agent that watches for pods speaks unasked; it is asked like the others about pods of application groups,
// whose network delay it cannot know, and about those it is silent on for half of quorum_after.
//
// Whoever runs the loop, once a turn:
//   if (desk.has_news(now)) { desk.news_seen(); release the pods that are held; }
//   … consult() for each of them and for new ones, while not is_full(); awarded() for each decision …
//   send take_letters(); sleep until wake_at() at most
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
  // The same with the delays worked out for all nodes at once, one for each node column; empty: none. They
  // matter when a question is opened, that is, unless is_open().
  Outcome consult(const scheduling::PlacementRequest& request, std::span<const float> delays);
  bool is_open(const Pod& pod) const { return rounds_by_pod_.contains(pod_key(pod.uid)); }

  // What the last consult() of this pod was based on: for `explain` and the journal.
  struct Word {
    NodeId node;
    std::optional<Bid> bid;  // none: silent so far
    bool out_of_date = false;
  };
  std::vector<Word> words(const scheduling::PlacementRequest& request) const;

  // The pod was decided to go there, by bids or by a rule: its agent is told, and its earlier words count no
  // more.
  void awarded(const PodKey& pod, const std::string& node);
  void withdrawn(const PodKey& pod);  // its binding failed
  void forget(const PodKey& pod);     // it is bound, gone, or somebody else's

  // As many were consulted about since the last news, and wait, as make sense.
  bool is_full() const { return looked_at_ >= options_.most_open && !news_; }
  // Some open question can be answered, or time has passed that makes a difference, since the last consult()
  // that waits: held pods deserve a look.
  bool has_news(Time now) const { return news_ || wake_at() <= now; }
  void news_seen();      // before that look
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
  using State = BidRound::State;
  using End = BidRound::End;
  using Rounds = std::map<std::uint64_t, BidRound>;  // in the order they were opened

  struct Agent {
    std::string node;
    bool joined = false, sees_pods = false;
    std::uint32_t joining = 0;  // a number no other joining has, of whomever
    std::uint32_t awards = 0;
    std::vector<LeaderAwards> awards_to_tell;
    std::vector<PodQuestion> questions;
  };
  // A pod that is asked about no more, and who got it. Late words to it are of no use to anybody.
  struct Closed {
    std::uint64_t number = 0;
    bool awarded = false;
    std::uint32_t agent = 0, joining = 0;
  };

  std::optional<std::uint32_t> find_agent(std::string_view node) const;
  std::optional<std::uint32_t> agent_of(const ClusterState& cluster, NodeId node);
  State state_of(const BidRound::Candidate& candidate) const;
  void hear(std::uint32_t agent, const Bid& bid, Time now);

  Rounds::iterator open(const PodKey& pod, const scheduling::PlacementRequest& request,
                        std::span<const float> delays);
  bool is_crowded(Time now) const;
  std::vector<BidRound::Candidate> draw_candidates(const scheduling::PlacementRequest& request,
                                                   std::span<const float> delays);
  void keep_least_asked(std::vector<BidRound::Candidate>& candidates, std::size_t count);
  void look_at_candidates(BidRound& round, const scheduling::PlacementRequest& request);
  void ask_the_silent(BidRound& round, Time now);
  Outcome decide(BidRound& round, Time now);
  Outcome wait(BidRound& round, Time now);
  std::optional<NodeId> best_of(const BidRound& round, float& score);
  void close(Rounds::iterator round);
  void close(const PodKey& pod, const Closed& how);
  void drop_forgotten(Time now);
  void tell_award(Agent& agent, const PodKey& pod, bool withdrawn);
  void outdate(std::uint32_t agent);
  void write_questions();
  void write_questions(BidRound& round, bool again);
  void clear_words();

  BidDeskOptions options_;
  Random random_;
  std::optional<Term> term_;
  std::vector<Agent> agents_;  // places of those who left are given to others
  std::vector<std::uint32_t> free_places_;
  std::map<std::string, std::uint32_t, std::less<>> by_node_;  // of those who joined
  std::vector<std::uint32_t> agent_at_;  // by NodeId::slot: a guess, to be held against the name
  std::uint32_t joinings_ = 0;

  Rounds rounds_;
  std::unordered_map<PodKey, Rounds::iterator, PodKeyHash> rounds_by_pod_;
  std::uint64_t next_round_ = 0;
  std::deque<Time> openings_;  // of the latest, as many as make a crowd
  std::size_t looked_at_ = 0;  // rounds
  EarlyBids early_;
  std::unordered_map<PodKey, Closed, PodKeyHash> closed_;
  std::deque<std::pair<PodKey, std::uint64_t>> closed_order_;
  std::uint64_t next_closed_ = 0;
  Time next_sweep_{};
  bool news_ = false;
  Figures figures_;
};

}  // namespace evenkeel::agents
