#include "messaging/agent_hub.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "messaging/agent_wire.h"
#include "messaging/host_port.h"

namespace evenkeel::messaging {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr auto kAcceptRetry = 100ms;  // out of file descriptors: wait instead of spinning
constexpr Duration kHangUpWithin = 1s;
constexpr Duration kSayEvery = 1s;  // of those who are refused: they may come often

}  // namespace

Status AgentHub::listen(const std::string& address) {
  const auto where = parse_host_port(address);
  if (!where) return where.error();
  error_code error;
  const auto host = asio::ip::make_address(where->host, error);
  if (error) return invalid("'" + where->host + "' is not an IP address agents could be reached at");
  tcp::endpoint endpoint(host, static_cast<std::uint16_t>(std::stoul(where->port)));
  acceptor_ = std::make_unique<Acceptor>(around_.io);
  acceptor_->open(endpoint.protocol(), error);
  if (!error) acceptor_->set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_->bind(endpoint, error);
  if (!error) acceptor_->listen(asio::socket_base::max_listen_connections, error);
  if (!error) endpoint = acceptor_->local_endpoint(error);
  if (error) return unavailable("agents cannot be reached at " + address + ": " + error.message());
  address_ = (host.is_v6() ? "[" + host.to_string() + "]" : host.to_string()) + ":" +
             std::to_string(endpoint.port());
  lead(false, {});
  accept();
  return {};
}

void AgentHub::accept() {
  acceptor_->async_accept(around_.io.get_executor(),
                          [this, lives = lives_](const error_code& error, AgentLine::Socket socket) {
                            if (!*lives || error == asio::error::operation_aborted) return;
                            if (!error) {
                              welcome(std::move(socket));
                              return accept();
                            }
                            auto pause = std::make_shared<asio::steady_timer>(around_.io, kAcceptRetry);
                            pause->async_wait([this, lives, pause](const error_code&) {
                              if (*lives) accept();
                            });
                          });
}

void AgentHub::welcome(AgentLine::Socket socket) {
  const std::size_t strangers = lines_.size() - members_.size();
  if (around_.context == nullptr || lines_.size() >= limits_.most_lines ||
      strangers >= limits_.most_strangers)
    return;  // destroyed here, that is: closed
  auto line = std::make_shared<AgentLine>(std::move(socket), *around_.context, around_.common, *this);
  line->until = steady_now() + limits_.handshake_within;
  lines_.emplace(line.get(), line);
  line->begin();
}

void AgentHub::shaken(AgentLine& line) {
  if (!line.peer().empty()) return;
  refuse(line, &AgentTransport::Counts::refused_unauthenticated, "a certificate that names no agent");
  forget(line);
  line.close();
}

void AgentHub::refuse(AgentLine& line, std::uint64_t AgentTransport::Counts::* which,
                      const std::string& why) {
  ++(around_.common.counts.*which);
  if (!around_.say || steady_now() - said_at_ < kSayEvery) return;
  said_at_ = steady_now();
  around_.say("refused " + (line.peer().empty() ? "a stranger" : "the agent of " + line.peer()) + ": " + why);
}

// What an error says is why the line ends; the counts have been raised.
Status AgentHub::received(AgentLine& line, std::string_view body) {
  auto message = read_from_agent(body);
  if (!message) {
    refuse(line, &AgentTransport::Counts::refused_malformed, message.error().message);
    return message.error();
  }
  if (!line.has_met) return meet(line, *message);
  const auto* report = std::get_if<AgentReport>(&*message);
  if (report != nullptr && report->report.node != line.peer()) {
    refuse(line, &AgentTransport::Counts::refused_wrong_node, "a report about " + report->report.node);
    return invalid("a report about another node");
  }
  if (std::holds_alternative<AgentHello>(*message)) {
    refuse(line, &AgentTransport::Counts::refused_malformed, "a second hello");
    return invalid("a second hello");
  }
  line.until = steady_now() + limits_.idle_at_most;
  around_.handlers.from_agent(line.peer(), *std::move(message));
  return {};
}

// The newest connection of a node replaces the one before: an agent that lost its own does not wait for us to
// notice.
Status AgentHub::meet(AgentLine& line, const FromAgent& message) {
  const auto* hello = std::get_if<AgentHello>(&message);
  if (hello == nullptr) {
    refuse(line, &AgentTransport::Counts::refused_malformed, "no hello");
    return invalid("no hello");
  }
  if (hello->node != line.peer()) {
    refuse(line, &AgentTransport::Counts::refused_wrong_node, "a hello from " + hello->node);
    return invalid("a hello from another node");
  }
  if (!leads_) {
    say_soon(line, not_leading_);
    line.close_politely(kHangUpWithin);
    return {};
  }
  if (const auto before = members_.find(line.peer()); before != members_.end()) {
    AgentLine& old = *before->second;
    const auto kept = lines_.at(&old);
    forget(old);
    old.close();
    around_.handlers.left(line.peer());
    if (!leads_) return meet(line, message);  // that was enough for it
  }
  line.has_met = true;
  members_[line.peer()] = &line;
  line.until = steady_now() + limits_.idle_at_most;
  scratch_.clear();
  append_welcome(scratch_);
  say_soon(line, scratch_);
  around_.handlers.joined(line.peer(), *hello);
  return {};
}

void AgentHub::ended(AgentLine& line, const std::string& why) {
  const bool was_member = line.has_met;
  const std::string node = line.peer();
  if (node.empty()) refuse(line, &AgentTransport::Counts::refused_unauthenticated, why);
  forget(line);
  if (was_member) around_.handlers.left(node);
}

// The line itself lives on in what calls it.
void AgentHub::forget(AgentLine& line) {
  if (const auto found = members_.find(line.peer()); found != members_.end() && found->second == &line)
    members_.erase(found);
  line.has_met = false;
  lines_.erase(&line);
}

void AgentHub::lead(bool leads, const NotLeading& otherwise) {
  leads_ = leads;
  not_leading_.clear();
  // A holder that cannot be told is not known.
  if (!append_message(FromLeader(otherwise), not_leading_))
    (void)append_message(
        FromLeader(NotLeading{.term = otherwise.term, .holder = "", .incarnation = otherwise.incarnation}),
        not_leading_);
  if (leads) return;
  for (const auto& [node, line] : std::exchange(members_, {})) {
    say_soon(*line, not_leading_);
    line->has_met = false;
    line->close_politely(kHangUpWithin);
    asio::post(around_.io, [this, lives = lives_, node] {
      if (*lives) around_.handlers.left(node);
    });
  }
}

void AgentHub::say_soon(AgentLine& line, std::string_view bytes) {
  line.say(bytes, 1);
  if (unsent_.empty()) around_.wants_flush();
  if (!std::exchange(line.is_queued, true)) unsent_.push_back(line.shared_from_this());
}

void AgentHub::tell(const std::string& node, const FromLeader& message) {
  const auto found = members_.find(node);
  if (found == members_.end()) return;
  scratch_.clear();
  if (const auto written = append_message(message, scratch_); !written) {
    if (around_.say) around_.say("not told to " + node + ": " + written.error().message);
    return;
  }
  say_soon(*found->second, scratch_);
}

void AgentHub::tell_all(const FromLeader& message) {
  if (members_.empty()) return;
  scratch_.clear();
  if (const auto written = append_message(message, scratch_); !written) {
    if (around_.say) around_.say("not told to anybody: " + written.error().message);
    return;
  }
  for (const auto& [node, line] : members_) say_soon(*line, scratch_);
}

void AgentHub::flush() {
  auto unsent = std::exchange(unsent_, {});
  for (const auto& line : unsent) {
    line->is_queued = false;
    line->flush();
  }
  unsent.clear();
  if (unsent_.empty()) unsent_ = std::move(unsent);  // its memory
}

void AgentHub::look_after() {
  const Duration now = steady_now();
  const std::time_t today = std::time(nullptr);
  std::vector<std::shared_ptr<AgentLine>> late;
  for (const auto& [line, held] : lines_)
    if (now > line->until || (line->valid_until() != 0 && line->valid_until() < today)) late.push_back(held);
  for (const auto& line : late) {
    line->close();
    ended(*line, now > line->until ? "it was silent for too long" : "its certificate ran out");
  }
}

void AgentHub::part_with_all() {
  for (const auto& [key, line] : Lines(lines_)) {
    line->close();
    ended(*line, "another authority");
  }
}

void AgentHub::end() {
  *lives_ = false;
  error_code ignored;
  if (acceptor_) acceptor_->close(ignored);
  for (const auto& [key, line] : std::exchange(lines_, {})) line->close();
}

}  // namespace evenkeel::messaging
