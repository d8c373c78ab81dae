#include "reporting/http_server.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <list>
#include <mutex>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

namespace evenkeel::reporting {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

using Request = http::request_parser<http::empty_body>;
using Response = http::response<http::string_body>;
using Stream = beast::tcp_stream;

constexpr std::uint32_t kMaxHeaderBytes = 16 * 1024;
constexpr auto kStopGrace = 200ms;
constexpr auto kAcceptRetry = 100ms;  // out of file descriptors: wait instead of spinning

constexpr std::string_view kText = "text/plain; charset=utf-8";

// Errors are values here: every asynchronous call fills `error` instead of throwing.
auto returning(error_code& error) { return asio::redirect_error(asio::use_awaitable, error); }

std::string bracketed(const asio::ip::address& address) {
  return address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
}

std::string_view without_port(std::string_view host) {
  const auto bracket = host.rfind(']');
  const auto colon = host.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  return has_port ? host.substr(0, colon) : host;
}

// Any port is fine: a tunnel changes it, and DNS rebinding needs a foreign name.
bool names_this_server(std::string_view host_header, const tcp::endpoint& local) {
  const std::string_view host = without_port(host_header);
  return beast::iequals(beast::string_view(host.data(), host.size()), "localhost") || host == "127.0.0.1" ||
         host == "[::1]" || host == bracketed(local.address());
}

Response make_response(http::status status, std::string_view type, std::string body) {
  Response response{status, 11};
  response.set(http::field::content_type, beast::string_view(type.data(), type.size()));
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("X-Frame-Options", "DENY");
  response.set("Referrer-Policy", "no-referrer");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  response.body() = std::move(body);
  response.prepare_payload();
  return response;
}

Response refusal_of(error_code error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return make_response(http::status::request_header_fields_too_large, kText,
                         "the request header is too large\n");
  }
  if (error == http::error::body_limit || error == http::error::unexpected_body) {
    return make_response(http::status::payload_too_large, kText, "requests here have no body\n");
  }
  return make_response(http::status::bad_request, kText, "not a valid HTTP/1.1 request\n");
}

bool is_parse_error(error_code error) {
  static const auto& http_category = http::make_error_code(http::error::bad_version).category();
  return error.category() == http_category && error != http::error::end_of_stream &&
         error != http::error::partial_message;
}

// In the list for as long as it is in scope.
template <class T>
class Listed {
 public:
  Listed(std::list<T*>& list, T* item) : list_(list), place_(list.insert(list.end(), item)) {}
  ~Listed() { list_.erase(place_); }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

 private:
  std::list<T*>& list_;
  typename std::list<T*>::iterator place_;
};

Error cannot_listen(const HttpServer::Options& options, const error_code& error) {
  return unavailable(options.name + " cannot listen on " + options.address + " port " +
                     std::to_string(options.port) + ": " + error.message() +
                     (options.port_advice.empty() ? "" : " (" + options.port_advice + ")"));
}

std::string_view view_of(beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct HttpServer::Service {
  explicit Service(Options given) : options(std::move(given)) {}

  const Options options;
  tcp::endpoint endpoint;

  std::mutex latest_mutex;  // held for a swap of pointers only
  std::shared_ptr<const std::string> latest;
  std::uint64_t version = 0;  // 0: nothing published yet
  bool wake_is_posted = false;

  // From here on touched by the server's thread alone.
  bool stopping = false;
  std::list<Stream*> connections;
  std::list<asio::steady_timer*> event_streams;  // each waits on its timer for the next state

  asio::io_context io{1};  // below what its coroutines refer to: destroyed first, and they with it
  tcp::acceptor acceptor{io};
  asio::steady_timer grace{io};
  std::thread thread;

  error_code listen(const asio::ip::address& address);
  void begin_stop();
  void wake_streams();
  std::pair<std::shared_ptr<const std::string>, std::uint64_t> current();

  asio::awaitable<void> accept_all();
  asio::awaitable<void> serve(tcp::socket socket);
  asio::awaitable<bool> answer(Stream& stream, const Request& request);
  asio::awaitable<bool> send(Stream& stream, Response response, const Request& request);
  asio::awaitable<void> stream_events(Stream& stream);
};

error_code HttpServer::Service::listen(const asio::ip::address& address) {
  error_code error;
  endpoint = {address, options.port};
  acceptor.open(endpoint.protocol(), error);
  // Without it a restart would find its own port taken for a minute; a live listener is still refused.
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) endpoint = acceptor.local_endpoint(error);
  return error;
}

asio::awaitable<void> HttpServer::Service::accept_all() {
  while (!stopping) {
    error_code error;
    tcp::socket socket = co_await acceptor.async_accept(returning(error));
    if (stopping || error == asio::error::operation_aborted) co_return;
    if (error) {
      asio::steady_timer pause(io, kAcceptRetry);
      co_await pause.async_wait(returning(error));
      continue;
    }
    if (connections.size() >= options.max_connections) continue;  // destroyed here, that is: closed
    asio::co_spawn(io, serve(std::move(socket)), asio::detached);
  }
}

asio::awaitable<void> HttpServer::Service::serve(tcp::socket socket) {
  Stream stream(std::move(socket));
  const Listed listed(connections, &stream);
  beast::flat_buffer buffer(2 * kMaxHeaderBytes);
  bool keep_alive = true;
  while (keep_alive && !stopping) {
    Request request;
    request.header_limit(kMaxHeaderBytes);
    request.body_limit(1);  // 0 would mean no limit to some parsers; empty_body refuses the one byte itself
    error_code error;
    stream.expires_after(options.client_timeout);
    co_await http::async_read(stream, buffer, request, returning(error));
    if (is_parse_error(error)) co_await send(stream, refusal_of(error), request);
    if (error) break;
    keep_alive = co_await answer(stream, request);
  }
  error_code ignored;  // the other side may have gone first
  stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
  if (stopping && connections.size() == 1) io.stop();  // this was the last one
}

// Whether the connection can carry another request.
asio::awaitable<bool> HttpServer::Service::answer(Stream& stream, const Request& request) {
  const auto& header = request.get();
  error_code error;
  const tcp::endpoint local = stream.socket().local_endpoint(error);
  if (error) co_return false;
  if (!options.any_host && !names_this_server(view_of(header[http::field::host]), local)) {
    co_return co_await send(
        stream,
        make_response(http::status::forbidden, kText, "refused: the Host header does not name this server\n"),
        request);
  }

  const std::string_view target = view_of(header.target());
  const std::size_t mark = target.find('?');
  HttpAnswer answered =
      options.answer({target.substr(0, mark),
                      mark == std::string_view::npos ? HttpPairs{} : decode_query(target.substr(mark + 1)),
                      view_of(header[http::field::authorization]), current().first});
  const bool is_read = header.method() == http::verb::get || header.method() == http::verb::head;
  if (answered.status == 200 && !is_read) {
    Response refusal =
        make_response(http::status::method_not_allowed, kText, "only GET and HEAD are allowed here\n");
    refusal.set(http::field::allow, "GET, HEAD");
    co_return co_await send(stream, std::move(refusal), request);
  }
  if (answered.streams_events && header.method() == http::verb::get) {
    co_await stream_events(stream);
    co_return false;
  }
  Response response =
      make_response(static_cast<http::status>(answered.status), answered.type, std::move(answered.body));
  for (const auto& [name, value] : answered.headers) response.set(name, value);
  co_return co_await send(stream, std::move(response), request);
}

asio::awaitable<bool> HttpServer::Service::send(Stream& stream, Response response, const Request& request) {
  // A request that could not be parsed leaves no way to tell where the next one begins.
  const bool keep_alive = request.is_done() && request.get().keep_alive();
  response.keep_alive(keep_alive);
  if (request.is_header_done() && request.get().method() == http::verb::head) response.body().clear();
  http::response_serializer<http::string_body> serializer(response);
  error_code error;
  stream.expires_after(options.client_timeout);
  co_await http::async_write(stream, serializer, returning(error));
  co_return !error && keep_alive;
}

asio::awaitable<void> HttpServer::Service::stream_events(Stream& stream) {
  Response head = make_response(http::status::ok, "text/event-stream", "");
  head.erase(http::field::content_length);
  head.keep_alive(false);
  std::ostringstream opening;
  opening << head.base() << "retry: 1000\n\n";
  std::string message = opening.str();

  asio::steady_timer idle(io);
  const Listed listed(event_streams, &idle);

  std::uint64_t sent = 0;
  while (true) {
    error_code error;
    if (const auto [state, newest] = current(); newest != sent) {
      message += "id: " + std::to_string(newest) + "\ndata: " + *state + "\n\n";
      sent = newest;
    }
    // The clock starts again with every piece taken: a slow line is fine, a page that stopped reading is not.
    for (std::string_view rest = message; !rest.empty();) {
      stream.expires_after(options.client_timeout);
      rest.remove_prefix(co_await stream.async_write_some(asio::buffer(rest), returning(error)));
      if (error) co_return;
    }
    message.clear();
    if (current().second != sent) continue;  // published during the write
    if (stopping) co_return;
    idle.expires_after(options.heartbeat);
    co_await idle.async_wait(returning(error));
    if (!error) message = ": still here\n\n";  // the timer ran out; a new state would have cancelled it
  }
}

std::pair<std::shared_ptr<const std::string>, std::uint64_t> HttpServer::Service::current() {
  const std::lock_guard lock(latest_mutex);
  return {latest, version};
}

void HttpServer::Service::wake_streams() {
  {
    const std::lock_guard lock(latest_mutex);
    wake_is_posted = false;
  }
  for (asio::steady_timer* idle : event_streams) idle->cancel();
}

void HttpServer::Service::begin_stop() {
  stopping = true;
  error_code ignored;
  acceptor.close(ignored);
  if (connections.empty()) return io.stop();
  wake_streams();
  grace.expires_after(kStopGrace);
  grace.async_wait([this](const error_code&) {
    for (Stream* stream : connections) stream->close();
  });
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(Options options) {
  error_code error;
  const std::string host = options.address == "localhost" ? "127.0.0.1" : options.address;
  const auto address = asio::ip::make_address(host, error);
  if (error) {
    return invalid("'" + options.address + "' is not an IP address " + options.name + " could listen on");
  }
  if (!address.is_loopback() && !options.loopback_only_because.empty()) {
    return invalid(options.loopback_only_because);
  }
  const std::string name = options.name;
  try {
    auto service = std::make_unique<Service>(std::move(options));
    if (const error_code failure = service->listen(address)) return cannot_listen(service->options, failure);
    asio::co_spawn(service->io, service->accept_all(), asio::detached);
    service->thread = std::thread([&io = service->io] { io.run(); });
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(service)));
  } catch (const std::exception& failure) {  // no thread or no descriptor to be had
    return unavailable(name + " could not be started: " + failure.what());
  }
}

HttpServer::HttpServer(std::unique_ptr<Service> service) : service_(std::move(service)) {}

HttpServer::~HttpServer() { stop(); }

std::uint16_t HttpServer::port() const { return service_->endpoint.port(); }

std::string HttpServer::url() const {
  return "http://" + bracketed(service_->endpoint.address()) + ":" + std::to_string(port()) + "/";
}

void HttpServer::publish(std::string event) {
  auto next = std::make_shared<const std::string>(std::move(event));
  bool must_wake = false;
  {
    const std::lock_guard lock(service_->latest_mutex);
    service_->latest.swap(next);
    ++service_->version;
    must_wake = !std::exchange(service_->wake_is_posted, true);
  }
  // One wake-up at a time, or a busy publisher would fill the queue of a busy server.
  if (must_wake) asio::post(service_->io, [service = service_.get()] { service->wake_streams(); });
}

void HttpServer::stop() {
  if (!service_->thread.joinable()) return;
  asio::post(service_->io, [service = service_.get()] { service->begin_stop(); });
  service_->thread.join();
}

}  // namespace evenkeel::reporting
