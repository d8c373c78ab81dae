#include "messaging/agent_dialer.h"

#include <algorithm>
#include <utility>

#include "messaging/agent_wire.h"
#include "messaging/host_port.h"

namespace evenkeel::messaging {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

Result<tcp::endpoint> endpoint_of(const std::string& address) {
  const auto where = parse_host_port(address);
  if (!where) return where.error();
  error_code error;
  const auto host = asio::ip::make_address(where->host, error);
  if (error) return invalid("'" + where->host + "' is not an IP address");
  return tcp::endpoint(host, static_cast<std::uint16_t>(std::stoul(where->port)));
}

}  // namespace

AgentDialer::AgentDialer(Surroundings surroundings, const Limits& limits, Random random)
    : around_(std::move(surroundings)), limits_(limits), random_(random), timer_(around_.io) {}

void AgentDialer::follow(const HolderIdentity& leader, const AgentHello& hello) {
  hello_ = hello;
  if (leader_ == leader) return;
  unfollow();
  leader_ = leader;
  pause_ = {};
  dial_after({});
}

void AgentDialer::unfollow() {
  leader_.reset();
  drop();
}

void AgentDialer::drop() {
  ++*attempt_;
  timer_.cancel();
  socket_.reset();
  if (line_) std::exchange(line_, nullptr)->close();
}

void AgentDialer::dial_after(Duration pause) {
  timer_.expires_after(pause);
  timer_.async_wait([this, current = attempt_, mine = *attempt_](const error_code& error) {
    if (!error && *current == mine) dial();
  });
}

void AgentDialer::dial() {
  until_ = steady_now() + limits_.open_within;
  if (around_.context == nullptr) return fail(Line::lost, "no certificates to show");
  const auto endpoint = endpoint_of(leader_->address);
  if (!endpoint) return fail(Line::lost, endpoint.error().message);
  error_code error;
  socket_.emplace(around_.io);
  socket_->open(endpoint->protocol(), error);
  if (error) return fail(Line::lost, error.message());
  socket_->async_connect(*endpoint, [this, current = attempt_, mine = *attempt_](const error_code& said) {
    if (*current == mine) connected(said);
  });
}

void AgentDialer::connected(const error_code& error) {
  if (error == asio::error::connection_refused) return fail(Line::refused, error.message());
  if (error) return fail(Line::lost, error.message());
  if (around_.context == nullptr) return fail(Line::lost, "no certificates to show");
  line_ = std::make_shared<AgentLine>(*std::exchange(socket_, std::nullopt), *around_.context, around_.common,
                                      *this);
  line_->until = until_;
  line_->begin();
}

void AgentDialer::shaken(AgentLine& line) {
  if (line.peer() != leader_->node) {
    ++around_.common.counts.refused_wrong_node;
    const std::string whose = line.peer().empty() ? "no agent" : line.peer();
    return fail(Line::lost, "there answers " + whose + ", not " + leader_->node);
  }
  scratch_.clear();
  if (const auto written = append_message(FromAgent(hello_), scratch_); !written)
    return fail(Line::lost, written.error().message);
  line.say(scratch_, 1);  // the line sends it as soon as we return
}

Status AgentDialer::received(AgentLine& line, std::string_view body) {
  line.until = steady_now() + limits_.idle_at_most;
  if (!line.has_met && is_welcome(body)) {
    line.has_met = true;
    opened_ = steady_now();
    around_.handlers.line(Line::open, "");
    return {};
  }
  auto message = read_from_leader(body);
  if (!message) {
    ++around_.common.counts.refused_malformed;
    return message.error();
  }
  if (!line.has_met && !std::holds_alternative<NotLeading>(*message)) {
    ++around_.common.counts.refused_malformed;
    return invalid("it speaks before it has welcomed us");
  }
  around_.handlers.from_leader(*std::move(message));
  return {};
}

void AgentDialer::ended(AgentLine& line, const std::string& why) {
  if (line_.get() != &line) return;
  fail(Line::lost, why);
}

// A line that was held for a while is dialled again at once; whoever lets us in and throws us out is not.
void AgentDialer::fail(Line how, const std::string& why) {
  const bool held = line_ && line_->has_met && steady_now() - opened_ >= limits_.held_well;
  drop();
  pause_ = held ? Duration() : std::clamp(2 * pause_, limits_.first_pause, limits_.longest_pause);
  dial_after(from_seconds(to_seconds(pause_) * random_.between(0.5, 1)));
  around_.handlers.line(how, why);
}

void AgentDialer::tell(const FromAgent& message) {
  if (!line_ || !line_->has_met) return;
  scratch_.clear();
  if (!append_message(message, scratch_)) return;
  line_->say(scratch_, 1);
  if (!std::exchange(line_->is_queued, true)) around_.wants_flush();
}

void AgentDialer::flush() {
  if (!line_ || !std::exchange(line_->is_queued, false)) return;
  line_->flush();
}

void AgentDialer::look_after() {
  const Duration now = steady_now();
  if (socket_ && now > until_) return fail(Line::lost, "no answer");
  if (!line_) return;
  if (now > line_->until) return fail(Line::lost, "it was silent for too long");
  if (line_->valid_until() != 0 && line_->valid_until() < std::time(nullptr))
    fail(Line::lost, "its certificate ran out");
}

void AgentDialer::dial_anew(const std::string& why) {
  if (line_) fail(Line::lost, why);
}

}  // namespace evenkeel::messaging
