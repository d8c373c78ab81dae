#pragma once
#include <boost/asio/basic_socket_acceptor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "messaging/agent_line.h"

namespace evenkeel::messaging {

// Where agents arrive. Always listening, leader or not, so that a refused connection proves that the process
// is gone; who does not lead says so and hangs up.
class AgentHub final : public AgentLine::Owner {
 public:
  struct Limits {
    std::size_t most_lines = 5'000, most_strangers = 1'000;
    Duration handshake_within = std::chrono::seconds(5);
    Duration idle_at_most = std::chrono::seconds(90);
  };
  // All of it belongs to whoever owns the hub, and outlives it.
  struct Surroundings {
    AgentLine::Io& io;
    AgentLine::Common& common;
    const AgentTransport::Handlers& handlers;
    const TlsContext* const& context;  // null: none could be read yet
    std::function<void()> wants_flush;
    std::function<void(const std::string&)> say;
  };
  AgentHub(Surroundings surroundings, const Limits& limits)
      : around_(std::move(surroundings)), limits_(limits) {}
  ~AgentHub() { end(); }
  AgentHub(const AgentHub&) = delete;
  AgentHub& operator=(const AgentHub&) = delete;

  Status listen(const std::string& address);  // IP:port; port 0: any free one
  std::string address() const { return address_; }

  void lead(bool leads, const NotLeading& otherwise);
  void tell(const std::string& node, const FromLeader& message);
  void tell_all(const FromLeader& message);
  void flush();

  void look_after();     // who is late, or was let in by a certificate that ran out
  void part_with_all();  // another authority judges from now on

 private:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, AgentLine::Io::executor_type>;
  using Lines = std::unordered_map<AgentLine*, std::shared_ptr<AgentLine>>;

  void shaken(AgentLine& line) override;
  Status received(AgentLine& line, std::string_view body) override;
  void ended(AgentLine& line, const std::string& why) override;

  void accept();
  void welcome(AgentLine::Socket socket);
  Status meet(AgentLine& line, const FromAgent& message);
  void forget(AgentLine& line);
  void refuse(AgentLine& line, std::uint64_t AgentTransport::Counts::* which, const std::string& why);
  void say_soon(AgentLine& line, std::string_view bytes);
  void end();

  Surroundings around_;
  Limits limits_;
  std::string address_;
  std::unique_ptr<Acceptor> acceptor_;
  std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);  // for what the event loop still holds
  Lines lines_;
  std::unordered_map<std::string, AgentLine*> members_;  // who said hello, by node
  std::vector<std::shared_ptr<AgentLine>> unsent_;
  std::string scratch_;
  std::string not_leading_;  // the answer, as bytes
  bool leads_ = false;
  Duration said_at_{};
};

}  // namespace evenkeel::messaging
