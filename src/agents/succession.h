#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "cluster/agent_messages.h"

namespace evenkeel::agents {

struct SuccessionOptions {
  Duration beat_every{std::chrono::milliseconds{300}};  // the leader's
  // Without a beat for so long the leader is thought to be in trouble, and the Lease looked at often.
  Duration silence{std::chrono::milliseconds{1500}};
  Duration look_often{std::chrono::milliseconds{400}};  // deputies always, others in trouble
  Duration look_seldom{std::chrono::seconds{5}};        // others, as long as beats come
  Duration turn{std::chrono::milliseconds{100}};  // from one deputy to the next, once a leader is known dead
  std::size_t deputies = 2;
};

// When does an agent that does not lead look at the Lease, when may it take it for free before it has run
// out, and when does it follow the whole cluster so as to be ready? Deputies, whom the leader names in its
// beats, look often and are warm; all others leave the API server alone as long as they hear the leader.
//
//   member ── named in a beat ──▶ deputy ── leader's process gone, its turn come ──▶ claims
//      └────── beats stop, and the deputies let their turns pass ─────────────────▶ claims
//
// That a process is gone is proven by its host, which answers that nobody listens there any more. A leader
// that is only silent (paused, cut off, slow) keeps its Lease until that runs out by everybody's own clock. A
// beat refutes the proof: then the Lease decides as ever.
//
// Lots spread what hundreds would do at the same moment: looks over half to one and a half times their
// interval, and, once the deputies have let their turns pass, the turns of all others over ten.
class Succession {
 public:
  Succession(std::string node, SuccessionOptions options, Random random);

  void heard_beat(const LeaderBeat& beat, Time now);
  void leader_gone(const HolderIdentity& leader, Time now);  // proven
  void line_lost(Time now);
  void line_open(Time now);
  void saw_holder(const std::string& holder, Time now);  // of the Lease; empty: nobody

  bool is_deputy() const;
  const std::vector<std::string>& deputies() const { return deputies_; }  // as last heard
  // How long until the next look at the Lease. Asked after every look, however it ended, and again whenever
  // something was heard or wake_at() has passed: then what is left of the time, or less. Once that time has
  // passed the look is taken for made.
  Duration look_after(Time now);
  // The holder whose Lease counts as run out at once, since it is dead and our turn has come.
  std::optional<HolderIdentity> may_claim_from(Time now) const;
  Time wake_at() const;  // when may_claim_from() or look_after() change by themselves

 private:
  std::optional<std::size_t> rank() const;  // among deputies
  bool in_trouble(Time now) const;
  bool looks_often(Time now) const { return is_deputy() || in_trouble(now); }
  Duration spread(Duration interval) {
    return from_seconds(to_seconds(interval) * random_.between(0.5, 1.5));
  }
  Time turn_after(Time proven);
  void forget_proof();

  std::string node_;
  SuccessionOptions options_;
  Random random_;
  Term term_ = 0;
  std::optional<std::uint32_t> beat_;  // the last of the line that is open
  std::string leader_;
  std::vector<std::string> deputies_;
  std::optional<Time> heard_;  // the last beat, or that a line to a leader was opened; none: on no line
  std::optional<HolderIdentity> gone_;
  Time claim_at_{};          // when our turn comes, where somebody is gone
  bool claim_told_ = false;  // look_after() has said so
  Time next_look_{};
  bool drawn_often_ = true;
  Time seen_{};  // the latest time heard of
};

}  // namespace evenkeel::agents
