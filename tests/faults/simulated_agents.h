#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "messaging/agent_transport.h"
#include "simulated_connection.h"

namespace evenkeel::faults {

// How often what goes wrong between agents; all 0 is a calm day.
struct AgentWeather {
  double late = 0;    // of each message: by up to seconds, and all that follow on its connection with it
  double broken = 0;  // of each message: its connection breaks, and what was under way on it is lost
  double silent = 0;  // of broken ones: noticed by a time-out alone, at each end by its own
  static AgentWeather drawn(Random& random);
};

class SimulatedAgentLine;

// Between the agents of one world: hosts by the names of their nodes, and the connections between them. What
// cannot get through is kept and sent again, as TCP does, until one end loses patience.
class AgentNetwork {
 public:
  AgentNetwork(VirtualTime& clock, Random random);
  AgentNetwork(const AgentNetwork&) = delete;
  AgentNetwork& operator=(const AgentNetwork&) = delete;

  VirtualTime& clock() { return clock_; }
  AgentWeather weather;
  Duration patience{std::chrono::seconds{8}};       // until silence is a lost connection
  Duration dial_patience{std::chrono::seconds{5}};  // until silence is no connection

  // From here on nothing of what one says reaches the other; the way back may be open.
  void cut(const std::string& from, const std::string& to);
  void cut_between(const std::set<std::string>& some, const std::set<std::string>& others);
  void heal();  // everything reaches everybody
  bool reaches(const std::string& from, const std::string& to) const;
  // A machine without power says nothing, not even that nobody listens.
  void power_off(const std::string& node);
  void power_on(const std::string& node);

  // What agents say may be another on its way: agents that are not as they should be.
  std::function<void(const std::string& node, FromAgent&)> said = [](const std::string&, FromAgent&) {};

  struct Counts {
    std::uint64_t dialled = 0, opened = 0, refused = 0, unanswered = 0, broken = 0, timed_out = 0, resets = 0;
    std::uint64_t messages = 0, lost = 0, wrong_node = 0, cut_off = 0, turned_away = 0;
  };
  Counts counts;
  std::string host_of(const std::string& node);

 private:
  friend class SimulatedAgentLine;

  struct Shaken {};   // the host there took it, and its certificate is the one that was asked for
  struct Welcome {};  // whoever dialled was let in
  struct Closed {
    std::string why;
  };
  using Parcel = std::variant<Shaken, Welcome, Closed, std::shared_ptr<const FromAgent>,
                              std::shared_ptr<const FromLeader>>;
  // One end of one connection; `inbox` is what is on its way to it.
  struct End {
    SimulatedAgentLine* line = nullptr;  // none: closed, whatever the other end believes
    std::string node;
    std::deque<std::pair<Time, Parcel>> inbox;
    Time last_due{};
    bool is_pumped = false;
    std::size_t unread = 0;  // handed to a process that does not run
  };
  struct Wire {
    End ends[2];               // who dialled, who was dialled
    std::uint64_t epoch = 0;   // rises whenever the way between them changes
    bool is_cut = false;       // one way at least
    bool is_broken = false;    // nothing more gets through, whatever the ends believe
    bool has_greeted = false;  // the hello has come
  };
  using WirePtr = std::shared_ptr<Wire>;

  Duration delay();
  SimulatedAgentLine* listener(const std::string& address) const;
  bool has_power(const std::string& node) const { return !off_.contains(node); }
  void look_at_cuts();
  void send(const WirePtr& wire, int to, Parcel parcel);
  void pump(const WirePtr& wire, int to);
  void arrive(const WirePtr& wire, int to, Parcel parcel);
  // This end is gone; the other hears of it in turn, after all that was said before, or instead of it.
  void close(const WirePtr& wire, int end, const std::string& why, bool keeps_words);
  // This end finds that the connection is no more.
  void lose(const WirePtr& wire, int end, const std::string& why);
  void lose_after(const WirePtr& wire, int end, Duration delay, const std::string& why);
  void break_wire(const WirePtr& wire);

  VirtualTime& clock_;
  Random random_;
  std::map<std::string, std::string> hosts_;              // by node
  std::map<std::string, std::string> nodes_;              // by host
  std::map<std::string, SimulatedAgentLine*> listening_;  // by address
  std::set<std::pair<std::string, std::string>> cuts_;
  std::set<std::string> off_;
  std::vector<std::weak_ptr<Wire>> wires_;
};

// One agent's end of it. The process is its line to the API server: what is paused there is paused here.
class SimulatedAgentLine final : public messaging::AgentTransport {
 public:
  SimulatedAgentLine(AgentNetwork& network, SimulatedConnection& process, std::string node, int port);
  ~SimulatedAgentLine() override;
  SimulatedAgentLine(const SimulatedAgentLine&) = delete;
  SimulatedAgentLine& operator=(const SimulatedAgentLine&) = delete;

  void start(Handlers handlers) override;
  void follow(const HolderIdentity& leader, const AgentHello& hello) override;
  void unfollow() override;
  void tell_leader(FromAgent message) override;
  void lead(bool leads, NotLeading otherwise) override;
  void tell(const std::string& node, const FromLeader& message) override;
  void tell_all(const FromLeader& message) override;
  Counts counts() const override { return counts_; }
  std::string address() const override { return address_; }

  const std::string& node() const { return node_; }
  // Its end, as the kernel tells the others; nothing that is called afterwards has an effect.
  void die();
  // How long it takes over each message.
  void be_slow(Duration each) { each_ = each; }

 private:
  friend class AgentNetwork;
  using Wire = AgentNetwork::Wire;
  using WirePtr = AgentNetwork::WirePtr;

  // One try to reach the leader; its end is of interest while it is wanted.
  struct Attempt {
    SimulatedAgentLine* from = nullptr;
    bool is_wanted = true;
  };
  using AttemptPtr = std::shared_ptr<Attempt>;

  void dial();
  void end_attempt();
  void reach_host(const AttemptPtr& attempt);
  void accept(const AttemptPtr& attempt, const std::string& wanted_node);
  // The line is none, for this reason: told, and tried again after a pause.
  void has_no_line(Line line, const std::string& why);
  void drop_line();
  void heard(const WirePtr& wire, int end, const AgentNetwork::Parcel& parcel);
  void heard_from_agent(const WirePtr& wire, const FromAgent& message);
  void greeted(const WirePtr& wire, const AgentHello& hello);
  void lost(const WirePtr& wire, int end, const std::string& why);
  void forget(const WirePtr& wire, int end);

  AgentNetwork& network_;
  SimulatedConnection& process_;
  std::string node_, address_;
  Handlers handlers_;
  bool is_dead_ = false;
  Counts counts_;
  Duration each_{};
  Time busy_until_{};

  std::optional<HolderIdentity> leader_;
  AgentHello hello_;
  WirePtr to_leader_;
  bool is_open_ = false;
  Time opened_{};
  AttemptPtr attempt_;
  Duration pause_{};
  kubernetes::ApiConnection::TimerId redial_ = 0, give_up_ = 0;

  bool leads_ = false;
  NotLeading otherwise_;
  std::map<std::string, WirePtr> agents_;  // that said hello, by node
  std::vector<WirePtr> strangers_;         // that have not yet
};

}  // namespace evenkeel::faults
