#include "simulated_agents.h"

#include <algorithm>

#include "base/match.h"

namespace evenkeel::faults {
namespace {

using namespace std::chrono_literals;
constexpr Duration kFirstPause = 50ms, kLongestPause = 2s;
constexpr Duration kHeldWell = 2s;         // then a line that is lost is dialled again at once
constexpr std::size_t kMostWaiting = 400;  // messages to one who does not read: then it is cut off

std::string host_in(const std::string& address) { return address.substr(0, address.rfind(':')); }

}  // namespace

AgentWeather AgentWeather::drawn(Random& random) {
  AgentWeather weather;
  const auto rate = [&](double most) {
    return random.chance(0.5) ? 0.0 : most * random.uniform() * random.uniform();
  };
  weather.late = rate(0.1);
  weather.broken = rate(0.02);
  weather.silent = random.chance(0.5) ? 0 : 0.4;
  return weather;
}

AgentNetwork::AgentNetwork(VirtualTime& clock, Random random) : clock_(clock), random_(random) {}

std::string AgentNetwork::host_of(const std::string& node) {
  std::string& host = hosts_[node];
  if (host.empty()) {
    host = "10.0.0." + std::to_string(hosts_.size());
    nodes_[host] = node;
  }
  return host;
}

Duration AgentNetwork::delay() {
  if (random_.chance(weather.late)) return from_seconds(random_.between(0.05, 3));
  return from_seconds(random_.between(0.0001, 0.004));
}

SimulatedAgentLine* AgentNetwork::listener(const std::string& address) const {
  const auto found = listening_.find(address);
  return found == listening_.end() ? nullptr : found->second;
}

bool AgentNetwork::reaches(const std::string& from, const std::string& to) const {
  return has_power(from) && has_power(to) && !cuts_.contains({from, to});
}

void AgentNetwork::cut(const std::string& from, const std::string& to) {
  if (from != to) cuts_.insert({from, to});
  look_at_cuts();
}

void AgentNetwork::cut_between(const std::set<std::string>& some, const std::set<std::string>& others) {
  for (const std::string& one : some)
    for (const std::string& other : others) {
      if (one == other) continue;
      cuts_.insert({one, other});
      cuts_.insert({other, one});
    }
  look_at_cuts();
}

void AgentNetwork::heal() {
  cuts_.clear();
  look_at_cuts();
}

void AgentNetwork::power_off(const std::string& node) {
  off_.insert(node);
  // What its kernel had not brought over yet is gone with it.
  for (const auto& kept : wires_)
    if (const WirePtr wire = kept.lock())
      for (const int end : {0, 1})
        if (wire->ends[1 - end].node == node) wire->ends[end].inbox.clear();
  look_at_cuts();
}

void AgentNetwork::power_on(const std::string& node) {
  off_.erase(node);
  look_at_cuts();
}

void AgentNetwork::look_at_cuts() {
  std::erase_if(wires_, [](const auto& wire) { return wire.expired(); });
  for (const auto& kept : wires_) {
    const WirePtr wire = kept.lock();
    const std::string &one = wire->ends[0].node, &other = wire->ends[1].node;
    const bool is_cut = !reaches(one, other) || !reaches(other, one);
    if (is_cut == wire->is_cut && !is_cut) continue;
    if (is_cut != wire->is_cut) {
      wire->is_cut = is_cut;
      const std::uint64_t epoch = ++wire->epoch;
      // Words that are not acknowledged are as good as unsaid: both ends lose patience, each in its time.
      for (const int end : {0, 1}) {
        if (!is_cut) break;
        clock_.after(from_seconds(to_seconds(patience) * random_.between(0.7, 1.3)),
                     [this, wire, end, epoch] {
                       if (wire->epoch != epoch || !wire->ends[end].line) return;
                       ++counts.timed_out;
                       lose(wire, end, "nothing was heard of it for too long");
                     });
      }
    }
    for (const int end : {0, 1}) {
      if (wire->ends[end].is_pumped || wire->ends[end].inbox.empty()) continue;
      wire->ends[end].is_pumped = true;
      clock_.after(from_seconds(random_.between(0, 0.4)), [this, wire, end] { pump(wire, end); });
    }
  }
}

void AgentNetwork::send(const WirePtr& wire, int to, Parcel parcel) {
  End& end = wire->ends[to];
  const bool is_message = parcel.index() >= 3;
  counts.messages += is_message ? 1 : 0;
  if (wire->is_broken) {
    counts.lost += is_message ? 1 : 0;
    return;
  }
  if (is_message && random_.chance(weather.broken)) return break_wire(wire);
  if (is_message && end.inbox.size() + end.unread >= kMostWaiting) {
    ++counts.cut_off;
    if (SimulatedAgentLine* sender = wire->ends[1 - to].line) ++sender->counts_.dropped;
    return break_wire(wire);
  }
  end.last_due = std::max(end.last_due, clock_.now() + delay());
  end.inbox.emplace_back(end.last_due, std::move(parcel));
  if (std::exchange(end.is_pumped, true)) return;
  clock_.at(end.last_due, [this, wire, to] { pump(wire, to); });
}

void AgentNetwork::pump(const WirePtr& wire, int to) {
  End& end = wire->ends[to];
  end.is_pumped = false;
  if (end.inbox.empty() || !reaches(wire->ends[1 - to].node, end.node)) return;
  Time due = end.inbox.front().first;
  if (end.line) due = std::max(due, end.line->busy_until_);
  end.is_pumped = true;
  if (due > clock_.now()) {
    clock_.at(due, [this, wire, to] { pump(wire, to); });
    return;
  }
  Parcel parcel = std::move(end.inbox.front().second);
  end.inbox.pop_front();
  clock_.after({}, [this, wire, to] { pump(wire, to); });
  if (end.line) end.line->busy_until_ = clock_.now() + end.line->each_;
  arrive(wire, to, std::move(parcel));
}

void AgentNetwork::arrive(const WirePtr& wire, int to, Parcel parcel) {
  End& end = wire->ends[to];
  const bool is_closing = std::holds_alternative<Closed>(parcel);
  if (!end.line) {
    if (is_closing) return;
    ++counts.resets;
    return send(wire, 1 - to, Closed{"reset: nobody knows the connection there"});
  }
  ++end.unread;
  end.line->process_.deliver([wire, to, parcel = std::move(parcel)] {
    --wire->ends[to].unread;
    if (SimulatedAgentLine* line = wire->ends[to].line) line->heard(wire, to, parcel);
  });
}

void AgentNetwork::close(const WirePtr& wire, int end, const std::string& why, bool keeps_words) {
  if (!wire->ends[end].line) return;
  wire->ends[end].line = nullptr;
  counts.lost += wire->ends[end].inbox.size();
  wire->ends[end].inbox.clear();
  if (!keeps_words) wire->ends[1 - end].inbox.clear();
  send(wire, 1 - end, Closed{why});
}

void AgentNetwork::lose(const WirePtr& wire, int end, const std::string& why) {
  SimulatedAgentLine* const line = wire->ends[end].line;
  if (!line) return;
  line->process_.deliver([wire, end, why] {
    if (SimulatedAgentLine* still = wire->ends[end].line) still->lost(wire, end, why);
  });
}

void AgentNetwork::lose_after(const WirePtr& wire, int end, Duration delay, const std::string& why) {
  clock_.after(delay, [this, wire, end, why] { lose(wire, end, why); });
}

void AgentNetwork::break_wire(const WirePtr& wire) {
  if (std::exchange(wire->is_broken, true)) return;
  ++counts.broken;
  for (const int end : {0, 1}) {
    counts.lost += wire->ends[end].inbox.size();
    wire->ends[end].inbox.clear();
    if (random_.chance(weather.silent)) {
      lose_after(wire, end, from_seconds(to_seconds(patience) * random_.between(0.7, 1.3)), "silence");
    } else {
      lose_after(wire, end, delay(), "reset");
    }
  }
}

SimulatedAgentLine::SimulatedAgentLine(AgentNetwork& network, SimulatedConnection& process, std::string node,
                                       int port)
    : network_(network),
      process_(process),
      node_(std::move(node)),
      address_(network.host_of(node_) + ":" + std::to_string(port)) {
  network_.listening_[address_] = this;
}

SimulatedAgentLine::~SimulatedAgentLine() { die(); }

void SimulatedAgentLine::die() {
  if (std::exchange(is_dead_, true)) return;
  if (network_.listener(address_) == this) network_.listening_.erase(address_);
  if (attempt_) attempt_->is_wanted = false;
  // A kernel that closes a dead process's connections sends what it still has, or has none of it.
  const auto close = [this](const WirePtr& wire, int end) {
    network_.close(wire, end, "reset", network_.random_.chance(0.5));
  };
  if (to_leader_) close(to_leader_, 0);
  for (const auto& [node, wire] : agents_) close(wire, 1);
  for (const WirePtr& wire : strangers_) close(wire, 1);
  process_.cancel_timer(redial_);
  process_.cancel_timer(give_up_);
}

void SimulatedAgentLine::start(Handlers handlers) { handlers_ = std::move(handlers); }

void SimulatedAgentLine::follow(const HolderIdentity& leader, const AgentHello& hello) {
  if (is_dead_) return;
  hello_ = hello;
  if (leader_ == leader) return;
  drop_line();
  leader_ = leader;
  pause_ = {};
  dial();
}

void SimulatedAgentLine::unfollow() {
  if (is_dead_) return;
  leader_.reset();
  drop_line();
}

void SimulatedAgentLine::drop_line() {
  end_attempt();
  process_.cancel_timer(redial_);
  is_open_ = false;
  if (const WirePtr wire = std::exchange(to_leader_, nullptr)) network_.close(wire, 0, "closed", true);
}

void SimulatedAgentLine::end_attempt() {
  process_.cancel_timer(give_up_);
  if (const AttemptPtr attempt = std::exchange(attempt_, nullptr)) attempt->is_wanted = false;
}

void SimulatedAgentLine::dial() {
  end_attempt();
  ++network_.counts.dialled;
  attempt_ = std::make_shared<Attempt>(Attempt{this});
  give_up_ = process_.call_after(network_.dial_patience, [this] {
    ++network_.counts.unanswered;
    if (const WirePtr wire = std::exchange(to_leader_, nullptr)) network_.close(wire, 0, "given up", false);
    has_no_line(Line::lost, "no answer");
  });
  network_.clock().after(network_.delay(), [this, attempt = attempt_] {
    if (attempt->is_wanted) reach_host(attempt);
  });
}

void SimulatedAgentLine::reach_host(const AttemptPtr& attempt) {
  const auto there = network_.nodes_.find(host_in(leader_->address));
  if (there == network_.nodes_.end() || !network_.reaches(node_, there->second)) return;
  SimulatedAgentLine* const listener = network_.listener(leader_->address);
  if (listener) {
    // Its kernel takes the connection, even of a process that is stopped; the rest is the process's.
    listener->process_.deliver([listener, attempt, wanted = leader_->node] {
      if (attempt->is_wanted) listener->accept(attempt, wanted);
    });
    return;
  }
  if (!network_.reaches(there->second, node_)) return;
  network_.clock().after(network_.delay(), [this, attempt] {
    if (!attempt->is_wanted) return;
    process_.deliver([this, attempt] {
      if (!attempt->is_wanted) return;
      ++network_.counts.refused;
      has_no_line(Line::refused, "connection refused");
    });
  });
}

void SimulatedAgentLine::accept(const AttemptPtr& attempt, const std::string& wanted_node) {
  SimulatedAgentLine& from = *attempt->from;
  auto wire = std::make_shared<Wire>();
  wire->ends[0].line = &from;
  wire->ends[0].node = from.node_;
  wire->ends[1].line = this;
  wire->ends[1].node = node_;
  network_.wires_.push_back(wire);
  network_.look_at_cuts();
  from.to_leader_ = wire;
  if (wanted_node != node_) return network_.close(wire, 1, "its certificate is that of " + node_, true);
  strangers_.push_back(wire);
  network_.send(wire, 0, AgentNetwork::Shaken{});
}

void SimulatedAgentLine::has_no_line(Line line, const std::string& why) {
  end_attempt();
  const bool was_held = std::exchange(is_open_, false) && network_.clock().now() - opened_ >= kHeldWell;
  pause_ = was_held ? Duration{} : std::clamp(2 * pause_, kFirstPause, kLongestPause);
  process_.cancel_timer(redial_);
  redial_ = process_.call_after(from_seconds(to_seconds(pause_) * network_.random_.between(0.5, 1)),
                                [this] { dial(); });
  if (handlers_.line) handlers_.line(line, why);
}

void SimulatedAgentLine::tell_leader(FromAgent message) {
  if (is_dead_ || !is_open_) return;
  network_.said(node_, message);
  ++counts_.messages_sent;
  network_.send(to_leader_, 1, std::make_shared<const FromAgent>(std::move(message)));
}

void SimulatedAgentLine::lead(bool leads, NotLeading otherwise) {
  if (is_dead_) return;
  otherwise_ = std::move(otherwise);
  if (std::exchange(leads_, leads) == leads || leads) return;
  for (const auto& [node, wire] : std::exchange(agents_, {})) {
    network_.send(wire, 0, std::make_shared<const FromLeader>(otherwise_));
    network_.close(wire, 1, "does not lead any more", true);
    network_.clock().after({}, process_.ours([this, who = node] {
      process_.deliver([this, who] {
        if (handlers_.left) handlers_.left(who);
      });
    }));
  }
}

void SimulatedAgentLine::tell(const std::string& node, const FromLeader& message) {
  const auto found = agents_.find(node);
  if (is_dead_ || found == agents_.end()) return;
  ++counts_.messages_sent;
  network_.send(found->second, 0, std::make_shared<const FromLeader>(message));
}

void SimulatedAgentLine::tell_all(const FromLeader& message) {
  if (is_dead_) return;
  const auto shared = std::make_shared<const FromLeader>(message);
  counts_.messages_sent += agents_.size();
  for (const auto& [node, wire] : agents_) network_.send(wire, 0, shared);
}

void SimulatedAgentLine::heard(const WirePtr& wire, int end, const AgentNetwork::Parcel& parcel) {
  std::visit(Match{[&](const AgentNetwork::Shaken&) {
                     if (wire != to_leader_) return;
                     FromAgent hello = hello_;
                     network_.said(node_, hello);
                     ++counts_.messages_sent;
                     network_.send(wire, 1, std::make_shared<const FromAgent>(std::move(hello)));
                   },
                   [&](const AgentNetwork::Welcome&) {
                     if (wire != to_leader_) return;
                     ++network_.counts.opened;
                     end_attempt();
                     is_open_ = true;
                     opened_ = network_.clock().now();
                     if (handlers_.line) handlers_.line(Line::open, "");
                   },
                   [&](const AgentNetwork::Closed& closed) { lost(wire, end, closed.why); },
                   [&](const std::shared_ptr<const FromAgent>& message) { heard_from_agent(wire, *message); },
                   [&](const std::shared_ptr<const FromLeader>& message) {
                     if (wire != to_leader_) return;
                     ++counts_.messages_received;
                     if (handlers_.from_leader) handlers_.from_leader(*message);
                   }},
             parcel);
}

void SimulatedAgentLine::heard_from_agent(const WirePtr& wire, const FromAgent& message) {
  ++counts_.messages_received;
  const AgentHello* const hello = std::get_if<AgentHello>(&message);
  if (hello != nullptr && !wire->has_greeted) return greeted(wire, *hello);
  const std::string node = wire->ends[0].node;
  const auto found = agents_.find(node);
  if (hello != nullptr || found == agents_.end() || found->second != wire) {
    // Out of turn: whoever speaks so speaks another language.
    ++counts_.refused_malformed;
    network_.close(wire, 1, "out of turn", true);
    return forget(wire, 1);
  }
  const AgentReport* const report = std::get_if<AgentReport>(&message);
  if (report != nullptr && report->report.node != node) {
    ++counts_.refused_wrong_node;
    ++network_.counts.wrong_node;
    network_.close(wire, 1, "a report about another node", true);
    return forget(wire, 1);
  }
  if (handlers_.from_agent) handlers_.from_agent(node, message);
}

void SimulatedAgentLine::greeted(const WirePtr& wire, const AgentHello& hello) {
  wire->has_greeted = true;
  std::erase(strangers_, wire);
  const std::string node = wire->ends[0].node;
  if (hello.node != node) {
    ++counts_.refused_wrong_node;
    ++network_.counts.wrong_node;
    return network_.close(wire, 1, "speaks for " + hello.node + " with the certificate of " + node, true);
  }
  if (!leads_) {
    ++network_.counts.turned_away;
    network_.send(wire, 0, std::make_shared<const FromLeader>(otherwise_));
    return network_.close(wire, 1, "does not lead", true);
  }
  const auto before = agents_.find(node);
  if (before != agents_.end()) {
    const WirePtr old = before->second;
    agents_.erase(before);
    network_.close(old, 1, "replaced", true);
    if (handlers_.left) handlers_.left(node);
    if (!leads_) return network_.close(wire, 1, "does not lead", true);
  }
  agents_[node] = wire;
  network_.send(wire, 0, AgentNetwork::Welcome{});
  if (handlers_.joined) handlers_.joined(node, hello);
}

void SimulatedAgentLine::lost(const WirePtr& wire, int end, const std::string& why) {
  wire->ends[end].line = nullptr;
  for (AgentNetwork::End& one : wire->ends) one.inbox.clear();
  forget(wire, end);
  if (end == 0 && wire == to_leader_) {
    to_leader_ = nullptr;
    has_no_line(Line::lost, why);
  }
}

void SimulatedAgentLine::forget(const WirePtr& wire, int end) {
  if (end == 0) return;
  std::erase(strangers_, wire);
  const auto found = agents_.find(wire->ends[0].node);
  if (found == agents_.end() || found->second != wire) return;
  const std::string node = found->first;
  agents_.erase(found);
  if (handlers_.left) handlers_.left(node);
}

}  // namespace evenkeel::faults
