#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "messaging/agent_transport.h"
#include "messaging/tls_files.h"

namespace boost::asio {
class io_context;
}

namespace evenkeel::messaging {

// Agents over the network: TLS 1.3 with a certificate from both sides, whose common name is
// `evenkeel:agent:<node>`. An agent may speak of that node and no other; whoever shows no such certificate,
// speaks of another node or says what nobody says is cut off and counted.
//
// Runs inside the io_context of its owner, in the owner's thread, and nothing of it blocks. `line(open)`
// means that the leader has welcomed our hello; one that does not lead says NotLeading and hangs up, and the
// line is `lost` without having been open. `refused` is ECONNREFUSED and nothing else. Whoever ceases to lead
// is told of everybody that they left. Not to be destroyed from within a handler.
class AgentChannel final : public AgentTransport {
 public:
  struct Options {
    std::string node;        // ours: a certificate that names another is not taken
    std::string listen;      // IP:port; port 0: any free one
    std::string advertised;  // where others reach it, IP:port, port 0 as above; empty: where it listens
    TlsFiles tls;            // read again when they change; not there yet: nobody is let in until they are
    std::uint64_t seed = 0;  // of the pauses between attempts
    std::function<void(const std::string&)>
        say{};  // for the log: who was refused, which files cannot be read

    std::size_t most_lines = 5'000, most_strangers = 1'000;  // a stranger has not said hello yet
    std::size_t most_backlog = 256 * 1024;           // bytes said while earlier ones could not be sent
    Duration open_within = std::chrono::seconds(5);  // from the first packet to the welcome
    Duration agents_idle_at_most = std::chrono::seconds(90), leader_idle_at_most = std::chrono::seconds(30);
    Duration unanswered_at_most = std::chrono::seconds(5);  // then the host is gone (TCP_USER_TIMEOUT)
    Duration first_pause = std::chrono::milliseconds(50), longest_pause = std::chrono::seconds(2);
    Duration held_well = std::chrono::seconds(2);  // a line that held so long is dialled again at once
    Duration look_every = std::chrono::milliseconds(500);  // who is late, and whether the files changed
  };
  // invalid: an address; unavailable: the port cannot be had. `io` outlives it.
  static Result<std::unique_ptr<AgentChannel>> listen(boost::asio::io_context& io, Options options);
  ~AgentChannel() override;

  void start(Handlers handlers) override;
  void follow(const HolderIdentity& leader, const AgentHello& hello) override;
  void unfollow() override;
  void tell_leader(FromAgent message) override;
  void lead(bool leads, NotLeading otherwise) override;
  void tell(const std::string& node, const FromLeader& message) override;
  void tell_all(const FromLeader& message) override;
  Counts counts() const override;
  std::string address() const override;

 private:
  struct Service;
  explicit AgentChannel(std::unique_ptr<Service> service);

  std::unique_ptr<Service> service_;
};

}  // namespace evenkeel::messaging
