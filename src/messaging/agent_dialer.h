#pragma once
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "messaging/agent_line.h"

namespace evenkeel::messaging {

// The line to the leader: dialled at once, and again after pauses that grow while it does not hold.
class AgentDialer final : public AgentLine::Owner {
 public:
  struct Limits {
    Duration open_within = std::chrono::seconds(5);  // connected, hands shaken and welcomed
    Duration idle_at_most = std::chrono::seconds(30);
    Duration first_pause = std::chrono::milliseconds(50), longest_pause = std::chrono::seconds(2);
    Duration held_well = std::chrono::seconds(2);  // for so long: when it is lost, it is dialled at once
  };
  // As the hub's (agent_hub.h).
  struct Surroundings {
    AgentLine::Io& io;
    AgentLine::Common& common;
    const AgentTransport::Handlers& handlers;
    const TlsContext* const& context;
    std::function<void()> wants_flush;
  };
  AgentDialer(Surroundings surroundings, const Limits& limits, Random random);
  ~AgentDialer() { unfollow(); }
  AgentDialer(const AgentDialer&) = delete;
  AgentDialer& operator=(const AgentDialer&) = delete;

  // The same leader again: the line stays, and the next one begins with this hello.
  void follow(const HolderIdentity& leader, const AgentHello& hello);
  void unfollow();
  void tell(const FromAgent& message);
  void flush();

  void look_after();                       // whether it is late, or its certificate ran out
  void dial_anew(const std::string& why);  // we are somebody else now, or trust others

 private:
  using Line = AgentTransport::Line;

  void shaken(AgentLine& line) override;
  Status received(AgentLine& line, std::string_view body) override;
  void ended(AgentLine& line, const std::string& why) override;

  void dial();
  void connected(const boost::system::error_code& error);
  void fail(Line how, const std::string& why);
  void dial_after(Duration pause);
  void drop();
  void say_soon(std::string_view bytes);

  Surroundings around_;
  Limits limits_;
  Random random_;
  std::optional<HolderIdentity> leader_;
  AgentHello hello_;
  // What the event loop still holds of an attempt that was given up bears an older number.
  std::shared_ptr<std::uint64_t> attempt_ = std::make_shared<std::uint64_t>(0);
  std::optional<AgentLine::Socket> socket_;  // until it is connected
  std::shared_ptr<AgentLine> line_;
  boost::asio::steady_timer timer_;
  Duration pause_{}, until_{}, opened_{};
  std::string scratch_;
};

}  // namespace evenkeel::messaging
