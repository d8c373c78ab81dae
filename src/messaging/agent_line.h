#pragma once
#include <array>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "messaging/agent_transport.h"
#include "messaging/tls_session.h"

namespace evenkeel::messaging {

inline constexpr std::string_view kAgentName =
    "evenkeel:agent:";  // and the node: a certificate's common name

Duration steady_now();

// One encrypted connection between two agents, whoever dialled: hands over whole messages, gathers what is to
// be said and sends it at once when told to. Runs inside the io_context of its socket. It lives as long as
// that has work of its; after close() it calls nobody.
class AgentLine : public std::enable_shared_from_this<AgentLine> {
 public:
  using Io = boost::asio::io_context;
  using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Io::executor_type>;

  // What the lines of one agent have in common.
  struct Common {
    std::size_t most_backlog = 256 * 1024;
    Duration unanswered_at_most = std::chrono::seconds(5);
    AgentTransport::Counts counts;
    std::array<char, 16 * 1024> room;  // one reads at a time
  };

  // Called from within the event loop, never from within a call to the line.
  class Owner {
   public:
    virtual void shaken(AgentLine& line) = 0;  // hands: peer() is known. May close it.
    // An error ends the line, and is why. May close it.
    virtual Status received(AgentLine& line, std::string_view body) = 0;
    virtual void ended(AgentLine& line, const std::string& why) = 0;  // by itself: never after close()

   protected:
    ~Owner() = default;
  };

  AgentLine(Socket socket, const TlsContext& context, Common& common, Owner& owner);

  void begin();
  // Says it at the next flush(). Whoever does not read what was said before is cut off there.
  void say(std::string_view messages, std::size_t count);
  void flush();
  // Sends what there is, and closes when the other side has hung up or the time is over.
  void close_politely(Duration within);
  void close();

  bool is_open() const { return socket_.is_open() && !is_leaving_; }
  const std::string& peer() const { return peer_; }  // the node its certificate speaks for; empty: none
  std::time_t valid_until() const { return valid_until_; }

  Duration until{};        // its owner's patience
  bool has_met = false;    // the hello was said, and heard
  bool is_queued = false;  // for its owner's next flush()

 private:
  void shake_hands();
  void read_on();
  void write_on();
  void cut_off();
  bool take(std::string_view bytes);
  bool take_whole(std::string_view& bytes);
  void wait(TlsSession::Step step, void (AgentLine::*then)());
  void end(const std::string& why);
  void set_options();

  Socket socket_;
  TlsSession session_;
  Common* common_;
  Owner* owner_;
  std::string peer_;
  std::time_t valid_until_ = 0;
  std::string input_;   // the beginning of a message whose rest has not come
  std::string output_;  // what could not be sent yet, from `sent_` on
  std::size_t sent_ = 0, messages_ = 0;
  std::size_t behind_ = 0;  // of it, what was said while earlier things waited: a large message is no backlog
  bool has_shaken_ = false, waits_to_write_ = false, is_leaving_ = false, said_farewell_ = false;
};

}  // namespace evenkeel::messaging
