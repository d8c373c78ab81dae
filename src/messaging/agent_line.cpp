#include "messaging/agent_line.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "messaging/agent_wire.h"
#include "messaging/dial.h"

namespace evenkeel::messaging {
namespace {

using boost::system::error_code;

constexpr int kReadsATurn = 16;                  // then it is somebody else's
constexpr std::size_t kKeptMemory = 4 * 1024;    // of a line that has nothing to do
constexpr int kAliveAfter = 5, kAliveEvery = 2;  // seconds of silence until the kernel asks

}  // namespace

Duration steady_now() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

AgentLine::AgentLine(Socket socket, const TlsContext& context, Common& common, Owner& owner)
    : socket_(std::move(socket)),
      session_(context, socket_.native_handle()),
      common_(&common),
      owner_(&owner) {
  session_.read_ahead();
  set_options();
}

// A host that is gone acknowledges nothing and answers nothing: both are noticed.
void AgentLine::set_options() {
  error_code ignored;
  socket_.non_blocking(true, ignored);
  const auto set = [&](int level, int name, int value) {
    (void)::setsockopt(socket_.native_handle(), level, name, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_SNDBUF, kShortSendBuffer);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kAliveAfter);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kAliveEvery);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(common_->unanswered_at_most.count() / 1000));
}

void AgentLine::begin() { shake_hands(); }

void AgentLine::wait(TlsSession::Step step, void (AgentLine::*then)()) {
  const auto go_on = [self = shared_from_this(), then](const error_code& error) {
    if (!self->socket_.is_open()) return;
    if (error) return self->end(error.message());
    ((*self).*then)();
  };
  socket_.async_wait(step == TlsSession::Step::wants_write ? Socket::wait_write : Socket::wait_read, go_on);
}

void AgentLine::shake_hands() {
  const auto step = session_.shake_hands();
  if (step == TlsSession::Step::wants_read || step == TlsSession::Step::wants_write)
    return wait(step, &AgentLine::shake_hands);
  if (step != TlsSession::Step::done)
    return end("no handshake" + (session_.trouble().empty() ? "" : ": " + session_.trouble()));
  has_shaken_ = true;
  if (const std::string name = session_.peer_name(); name.starts_with(kAgentName))
    peer_ = name.substr(kAgentName.size());
  valid_until_ = session_.peer_valid_until();
  const auto self = shared_from_this();
  owner_->shaken(*this);
  if (!socket_.is_open()) return;
  flush();
  if (socket_.is_open()) read_on();
}

// The socket is asked again only when it has told something: a wait for it says so even of what came before.
void AgentLine::read_on() {
  const auto self = shared_from_this();
  auto& room = common_->room;
  for (int i = 0; i < kReadsATurn; ++i) {
    std::size_t count = 0;
    const auto step = session_.read(room.data(), room.size(), count);
    if (step == TlsSession::Step::wants_read || step == TlsSession::Step::wants_write)
      return wait(step, &AgentLine::read_on);
    if (step == TlsSession::Step::closed) return end("the other side hung up");
    if (step == TlsSession::Step::failed) return end(session_.trouble());
    if (!is_leaving_ && !take({room.data(), count})) return;
    if (!session_.has_more()) return wait(TlsSession::Step::wants_read, &AgentLine::read_on);
  }
  boost::asio::post(socket_.get_executor(), [self] {
    if (self->socket_.is_open()) self->read_on();
  });
}

// Whether to go on: messages are read where they arrived, and only the beginning of one is kept.
bool AgentLine::take(std::string_view bytes) {
  common_->counts.bytes_received += bytes.size();
  if (input_.empty()) {
    if (!take_whole(bytes)) return false;
    input_ = bytes;
    return true;
  }
  input_ += bytes;
  std::string_view rest = input_;
  if (!take_whole(rest)) return false;
  if (rest.empty()) {
    input_.clear();
    if (input_.capacity() > kKeptMemory) input_.shrink_to_fit();
  } else {
    input_.erase(0, input_.size() - rest.size());
  }
  return true;
}

bool AgentLine::take_whole(std::string_view& bytes) {
  for (;;) {
    const auto place = first_message(bytes);
    if (!place) {
      ++common_->counts.refused_malformed;
      end(place.error().message);
      return false;
    }
    if (!*place) return true;
    ++common_->counts.messages_received;
    const auto taken =
        owner_->received(*this, bytes.substr((*place)->begin, (*place)->end - (*place)->begin));
    if (!taken) end(taken.error().message);
    if (!taken || !socket_.is_open()) return false;
    bytes.remove_prefix((*place)->end);
    if (is_leaving_) {  // it was told so just now: what else it said does not count
      bytes = {};
      return true;
    }
  }
}

void AgentLine::say(std::string_view messages, std::size_t count) {
  if (!is_open()) return;
  output_ += messages;
  messages_ += count;
  if (waits_to_write_) behind_ += messages.size();
  common_->counts.messages_sent += count;
  common_->counts.bytes_sent += messages.size();
}

void AgentLine::flush() {
  if (!socket_.is_open() || !has_shaken_) return;
  if (!waits_to_write_) return write_on();
  if (behind_ > common_->most_backlog) cut_off();
}

void AgentLine::cut_off() {
  common_->counts.dropped += messages_;
  end("it does not read what it is told");
}

void AgentLine::write_on() {
  waits_to_write_ = false;
  while (sent_ < output_.size()) {
    std::size_t count = 0;
    const auto step = session_.write(std::string_view(output_).substr(sent_), count);
    sent_ += count;
    if (step == TlsSession::Step::done) continue;
    if (step == TlsSession::Step::closed || step == TlsSession::Step::failed)
      return end(session_.trouble().empty() ? "the other side hung up" : session_.trouble());
    output_.erase(0, std::exchange(sent_, 0));
    behind_ = std::min(behind_, output_.size());
    waits_to_write_ = true;
    return wait(step, &AgentLine::write_on);
  }
  output_.clear();
  if (output_.capacity() > kKeptMemory) output_.shrink_to_fit();
  sent_ = messages_ = behind_ = 0;
  if (!is_leaving_ || std::exchange(said_farewell_, true)) return;
  session_.say_farewell();
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

// Closing a socket with unread bytes would take back what was sent: the other side is to hang up first.
void AgentLine::close_politely(Duration within) {
  if (!socket_.is_open()) return;
  if (!has_shaken_) return close();
  is_leaving_ = true;
  until = steady_now() + within;
}

void AgentLine::close() {
  if (has_shaken_ && !said_farewell_ && socket_.is_open()) session_.say_farewell();
  error_code ignored;
  socket_.close(ignored);
}

void AgentLine::end(const std::string& why) {
  if (!socket_.is_open()) return;
  const auto self = shared_from_this();
  close();
  owner_->ended(*this, why);
}

}  // namespace evenkeel::messaging
