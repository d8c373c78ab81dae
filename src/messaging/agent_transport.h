#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cluster/agent_messages.h"

namespace evenkeel::messaging {

// One agent's line to the others: a line of its own to the leader, and, should it lead itself, those of all
// others to it. Everything happens in the owner's thread: handlers are called from within its event loop,
// never from within a call made here. Messages of one connection arrive in order and at most once; those of a
// connection that broke may be lost, and nobody is told which. Over the network agent_channel.h; in tests a
// simulated one.
class AgentTransport {
 public:
  enum class Line : std::uint8_t {
    open,     // to the leader, both certificates verified
    lost,     // it was open, or could not be opened: silence, a reset, a certificate that will not do
    refused,  // the host says that nobody listens there: that process is no more
  };
  struct Handlers {
    // As a follower.
    std::function<void(Line, const std::string& why)> line;
    std::function<void(FromLeader)> from_leader;
    // As a leader. `node` is what the certificate says, and an AgentHello that says otherwise has been
    // refused before. The newest connection of a node replaces the one before: left, then joined.
    std::function<void(const std::string& node, const AgentHello&)> joined;
    std::function<void(const std::string& node)> left;
    std::function<void(const std::string& node, FromAgent)> from_agent;
  };

  virtual ~AgentTransport() = default;
  virtual void start(Handlers handlers) = 0;

  // Keeps a line to this leader, from now on and until told otherwise: opens it again whenever it is lost,
  // after pauses that grow. The first word on each is the hello. Its certificate must name the holder's node.
  virtual void follow(const HolderIdentity& leader, const AgentHello& hello) = 0;
  virtual void unfollow() = 0;
  // To the leader; dropped where there is no open line. What is said in one turn goes out as one piece.
  virtual void tell_leader(FromAgent message) = 0;

  // As a leader: agents are let in. Else each is answered `otherwise`, and cut off.
  virtual void lead(bool leads, NotLeading otherwise) = 0;
  virtual void tell(const std::string& node, const FromLeader& message) = 0;
  virtual void tell_all(const FromLeader& message) = 0;

  struct Counts {
    std::uint64_t bytes_sent = 0, bytes_received = 0;  // of messages, encryption aside
    std::uint64_t messages_sent = 0, messages_received = 0;
    std::uint64_t refused_unauthenticated = 0, refused_wrong_node = 0, refused_malformed = 0;
    std::uint64_t dropped = 0;  // to somebody who did not read fast enough, and was cut off
  };
  virtual Counts counts() const = 0;
  virtual std::string address() const = 0;  // where others reach us
};

}  // namespace evenkeel::messaging
