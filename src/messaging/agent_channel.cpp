#include "messaging/agent_channel.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <optional>
#include <utility>

#include "base/file.h"
#include "messaging/agent_dialer.h"
#include "messaging/agent_hub.h"
#include "messaging/certificate.h"
#include "messaging/host_port.h"

namespace evenkeel::messaging {
namespace {

namespace asio = boost::asio;

// What nobody asked to hear of is not told.
AgentTransport::Handlers complete(AgentTransport::Handlers handlers) {
  if (!handlers.line) handlers.line = [](AgentTransport::Line, const std::string&) {};
  if (!handlers.from_leader) handlers.from_leader = [](const FromLeader&) {};
  if (!handlers.joined) handlers.joined = [](const std::string&, const AgentHello&) {};
  if (!handlers.left) handlers.left = [](const std::string&) {};
  if (!handlers.from_agent) handlers.from_agent = [](const std::string&, const FromAgent&) {};
  return handlers;
}

}  // namespace

struct AgentChannel::Service {
  struct Contexts {
    TlsContext agents, leader;
  };
  Service(asio::io_context& loop, Options given);
  ~Service() { *lives = false; }

  Result<Contexts> read_files() const;
  void look_at_files();
  void look_after();
  void flush_soon();

  const Options options;
  asio::io_context& io;
  AgentLine::Common common;
  Handlers handlers = complete({});
  TlsFileStamps files;
  std::optional<Contexts> contexts;
  const TlsContext* agents_context = nullptr;
  const TlsContext* leader_context = nullptr;
  std::string trouble;
  std::string address;
  bool will_flush = false;
  std::shared_ptr<bool> lives = std::make_shared<bool>(true);
  asio::steady_timer timer;
  AgentHub hub;
  AgentDialer dialer;
};

AgentChannel::Service::Service(asio::io_context& loop, Options given)
    : options(std::move(given)),
      io(loop),
      common{.most_backlog = options.most_backlog,
             .unanswered_at_most = options.unanswered_at_most,
             .counts = {},
             .room = {}},
      timer(io),
      hub({.io = io,
           .common = common,
           .handlers = handlers,
           .context = agents_context,
           .wants_flush = [this] { flush_soon(); },
           .say = options.say},
          {.most_lines = options.most_lines,
           .most_strangers = options.most_strangers,
           .handshake_within = options.open_within,
           .idle_at_most = options.agents_idle_at_most}),
      dialer({.io = io,
              .common = common,
              .handlers = handlers,
              .context = leader_context,
              .wants_flush = [this] { flush_soon(); }},
             {.open_within = options.open_within,
              .idle_at_most = options.leader_idle_at_most,
              .first_pause = options.first_pause,
              .longest_pause = options.longest_pause,
              .held_well = options.held_well},
             Random(options.seed).fork("agent-dialer")) {}

Result<AgentChannel::Service::Contexts> AgentChannel::Service::read_files() const {
  const auto pem = read_file(options.tls.certificate);
  if (!pem) return pem.error();
  const auto facts = read_certificate(*pem);
  if (!facts) return facts.error();
  if (facts->common_name != std::string(kAgentName) + options.node)
    return invalid(options.tls.certificate + ": expected a certificate of " + std::string(kAgentName) +
                   options.node + ", found " + facts->common_name);
  auto agents = TlsContext::read(options.tls, TlsContext::Role::server);
  if (!agents) return agents.error();
  auto leader = TlsContext::read(options.tls, TlsContext::Role::peer);
  if (!leader) return leader.error();
  return Contexts{.agents = *std::move(agents), .leader = *std::move(leader)};
}

// Certificates that cannot be read leave the last good ones in use. A new authority is a new judgement:
// whoever was let in by the old one has to come again. With a new certificate of our own we go and show it.
void AgentChannel::Service::look_at_files() {
  const TlsFileStamps found = TlsFileStamps::of(options.tls);
  if (contexts && found == files) return;
  auto read = read_files();
  if (!read) {
    if (options.say && read.error().message != trouble)
      options.say("certificates not taken over: " + read.error().message);
    trouble = read.error().message;
    return;
  }
  trouble.clear();
  const bool is_first = !contexts, is_judged_anew = !(found.authority == files.authority);
  contexts = *std::move(read);
  agents_context = &contexts->agents;
  leader_context = &contexts->leader;
  files = found;
  if (is_first) return;
  if (is_judged_anew) hub.part_with_all();
  dialer.dial_anew("the certificates changed: dialling anew");
}

void AgentChannel::Service::look_after() {
  timer.expires_after(options.look_every);
  timer.async_wait([this, still = lives](const boost::system::error_code& error) {
    if (!*still || error) return;
    look_at_files();
    hub.look_after();
    dialer.look_after();
    look_after();
  });
}

// At the end of the turn: what was said in it goes out as one piece.
void AgentChannel::Service::flush_soon() {
  if (std::exchange(will_flush, true)) return;
  asio::post(io, [this, still = lives] {
    if (!*still) return;
    will_flush = false;
    hub.flush();
    dialer.flush();
  });
}

Result<std::unique_ptr<AgentChannel>> AgentChannel::listen(asio::io_context& io, Options options) {
  // OpenSSL writes to sockets as to files: whoever hung up would end the program.
  (void)std::signal(SIGPIPE, SIG_IGN);
  auto advertised = parse_host_port(options.advertised.empty() ? options.listen : options.advertised);
  if (!advertised) return advertised.error();
  try {
    auto service = std::make_unique<Service>(io, std::move(options));
    service->look_at_files();
    if (auto listening = service->hub.listen(service->options.listen); !listening) return listening.error();
    const std::string here = service->hub.address();
    if (advertised->port == "0") advertised->port = here.substr(here.rfind(':') + 1);
    const bool is_v6 = advertised->host.find(':') != std::string::npos;
    service->address = (is_v6 ? "[" + advertised->host + "]" : advertised->host) + ":" + advertised->port;
    service->look_after();
    return std::unique_ptr<AgentChannel>(new AgentChannel(std::move(service)));
  } catch (const std::exception& failure) {
    return unavailable(std::string("agents cannot be reached: ") + failure.what());
  }
}

AgentChannel::AgentChannel(std::unique_ptr<Service> service) : service_(std::move(service)) {}

AgentChannel::~AgentChannel() = default;

void AgentChannel::start(Handlers handlers) { service_->handlers = complete(std::move(handlers)); }

void AgentChannel::follow(const HolderIdentity& leader, const AgentHello& hello) {
  service_->dialer.follow(leader, hello);
}

void AgentChannel::unfollow() { service_->dialer.unfollow(); }

void AgentChannel::tell_leader(FromAgent message) { service_->dialer.tell(message); }

void AgentChannel::lead(bool leads, NotLeading otherwise) { service_->hub.lead(leads, otherwise); }

void AgentChannel::tell(const std::string& node, const FromLeader& message) {
  service_->hub.tell(node, message);
}

void AgentChannel::tell_all(const FromLeader& message) { service_->hub.tell_all(message); }

AgentTransport::Counts AgentChannel::counts() const { return service_->common.counts; }

std::string AgentChannel::address() const { return service_->address; }

}  // namespace evenkeel::messaging
