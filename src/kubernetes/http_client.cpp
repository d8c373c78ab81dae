#include "kubernetes/http_client.h"

#include <algorithm>
#include <utility>

namespace evenkeel::kubernetes {

// One connection and the exchange under way on it. A read is always pending, on an idle connection too: that
// is how the server's farewell is noticed before a request is lost on it.
class HttpClient::Connection {
 public:
  using Ended = std::function<void(Status)>;
  struct Exchange {
    std::unique_ptr<HttpReader> reader;
    Duration timeout{};
    bool timeout_is_per_piece = false;
    Ended ended;
  };

  Connection(HttpClient& client, std::uint64_t number, std::unique_ptr<Transport> transport)
      : id(number), client_(client), transport_(std::move(transport)) {}
  // A closed one may outlive the client, until the loop comes round to it: it touches nothing of it.
  ~Connection() {
    if (!is_closed_) client_.loop_.cancel(timer_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void perform(std::string bytes, Exchange exchange) {
    EVENKEEL_CHECK(!is_busy_);
    is_busy_ = true;
    exchange_ = std::move(exchange);
    arm_timer();
    if (is_connected_) return write(std::move(bytes));
    transport_->connect([this, bytes = std::move(bytes)](const Status& connected) mutable {
      if (!connected) return finish(connected.error());
      is_connected_ = true;
      write(std::move(bytes));
    });
  }

  void close() {
    client_.loop_.cancel(timer_);
    transport_->close();
    is_closed_ = true;
    is_usable_ = false;
  }

  bool is_usable() const { return is_usable_; }
  bool was_used() const { return finished_ > 0; }

  const std::uint64_t id;

 private:
  void write(std::string bytes) {
    read();
    transport_->write(std::move(bytes), [this](const Status& written) {
      if (!written) finish(written.error());
    });
  }

  void read() {
    if (is_reading_) return;
    is_reading_ = true;
    transport_->read([this](Result<std::string_view> bytes) {
      is_reading_ = false;
      if (!bytes) return finish(bytes.error());
      received(*bytes);
    });
  }

  void received(std::string_view bytes) {
    if (!is_busy_) return finish(unavailable("the server closed the connection"));
    HttpReader& reader = *exchange_.reader;
    const Status fed = bytes.empty() ? reader.feed_end() : reader.feed(bytes);
    if (!is_usable_) return;  // whoever took the body cancelled
    if (!fed) return finish(fed.error());
    if (bytes.empty()) is_usable_ = false;
    if (reader.done()) return finish({});
    if (exchange_.timeout_is_per_piece) arm_timer();
    read();
  }

  void arm_timer() {
    client_.loop_.cancel(timer_);
    timer_ = client_.loop_.call_after(exchange_.timeout, [this, timeout = exchange_.timeout] {
      finish(unavailable("no answer within " + std::to_string(static_cast<int>(to_seconds(timeout))) + " s"));
    });
  }

  // The end of the exchange, or of an idle connection. Nothing of this object is touched after the pool was
  // told.
  void finish(Status outcome) {
    client_.loop_.cancel(timer_);
    const bool had_exchange = std::exchange(is_busy_, false);
    const bool keeps = outcome && is_usable_ && had_exchange && exchange_.reader->keep_alive();
    const Exchange exchange = std::exchange(exchange_, {});
    ++finished_;
    if (keeps) {
      read();
      client_.give_back(*this);
    } else {
      client_.retire(*this);
    }
    if (had_exchange) exchange.ended(std::move(outcome));
  }

  HttpClient& client_;
  std::unique_ptr<Transport> transport_;
  Exchange exchange_;
  EventLoop::TimerId timer_ = 0;
  bool is_connected_ = false, is_busy_ = false, is_reading_ = false, is_usable_ = true;
  bool is_closed_ = false;
  std::uint64_t finished_ = 0;
};

HttpClient::HttpClient(EventLoop& loop, std::unique_ptr<TransportMaker> transports, Options options)
    : loop_(loop), transports_(std::move(transports)), options_(std::move(options)) {}

HttpClient::~HttpClient() {
  for (auto& [id, connection] : connections_) connection->close();
  for (auto& [id, connection] : streams_) connection->close();
}

std::string HttpClient::serialized(const HttpRequest& request) const {
  const auto is_one_line = [](const std::string& text) {
    return text.find_first_of("\r\n") == std::string::npos;
  };
  EVENKEEL_CHECK(is_one_line(request.target) && is_one_line(request.bearer_token));
  const Url& url = transports_->url();
  std::string text = request.method + " " + url.prefix + request.target +
                     " HTTP/1.1\r\nHost: " + url.authority() + "\r\nUser-Agent: " + options_.user_agent +
                     "\r\n";
  if (!request.accept.empty()) text += "Accept: " + request.accept + "\r\n";
  if (!request.bearer_token.empty()) text += "Authorization: Bearer " + request.bearer_token + "\r\n";
  if (!request.content_type.empty()) text += "Content-Type: " + request.content_type + "\r\n";
  const bool has_body = !request.body.empty() || request.method == "POST" || request.method == "PUT";
  if (has_body) text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  return text + "\r\n" + request.body;
}

void HttpClient::send(HttpRequest request, Done done) {
  Waiting waiting{std::move(request), std::move(done)};
  if (!idle_.empty()) {
    const auto id = idle_.back();
    idle_.pop_back();
    return start(*connections_.at(id), std::move(waiting));
  }
  if (connections_.size() >= options_.max_connections) {
    if (waiting.request.is_urgent) {
      waiting_.push_front(std::move(waiting));
    } else {
      waiting_.push_back(std::move(waiting));
    }
    return;
  }
  const auto id = ++last_id_;
  auto& place = connections_[id];
  place = std::make_unique<Connection>(*this, id, transports_->make());
  start(*place, std::move(waiting));
}

void HttpClient::start(Connection& connection, Waiting waiting) {
  struct Call {
    Waiting asked;
    HttpResponse response;
    bool answered = false, too_large = false;
  };
  const auto call = std::make_shared<Call>(Call{std::move(waiting), {}});
  const bool was_used = connection.was_used();
  Connection::Exchange exchange;
  exchange.reader = std::make_unique<HttpReader>(
      [call](const HttpHead& head) {
        call->response.head = head;
        call->answered = true;
      },
      [call, most = options_.max_body](std::string_view piece) {
        call->too_large = call->too_large || call->response.body.size() + piece.size() > most;
        if (!call->too_large) call->response.body += piece;
      });
  exchange.timeout = call->asked.request.timeout;
  exchange.ended = [this, call, was_used](Status outcome) {
    if (outcome && call->too_large) outcome = invalid("the answer is larger than allowed");
    if (outcome) return call->asked.done(std::move(call->response));
    // The server had closed a connection that lay idle. A question is asked again; whether a write was done
    // nobody knows, and the caller decides.
    if (was_used && !call->answered && call->asked.request.method == "GET") {
      return send(std::move(call->asked.request), std::move(call->asked.done));
    }
    call->asked.done(outcome.error());
  };
  connection.perform(serialized(call->asked.request), std::move(exchange));
}

HttpClient::StreamId HttpClient::stream(const HttpRequest& request, StreamHandlers handlers) {
  const auto id = ++last_id_;
  auto& place = streams_[id];
  place = std::make_unique<Connection>(*this, id, transports_->make());
  Connection::Exchange exchange;
  exchange.reader = std::make_unique<HttpReader>(std::move(handlers.head), std::move(handlers.body));
  exchange.timeout = request.timeout;
  exchange.timeout_is_per_piece = true;
  exchange.ended = std::move(handlers.end);
  place->perform(serialized(request), std::move(exchange));
  return id;
}

void HttpClient::cancel(StreamId stream) {
  const auto found = streams_.find(stream);
  if (found != streams_.end()) retire(*found->second);
}

// What nobody wants any more by the time its turn has come is told so, and the next one asked.
std::optional<HttpClient::Waiting> HttpClient::next_wanted() {
  while (!waiting_.empty()) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    if (!next.request.is_wanted || next.request.is_wanted()) return next;
    loop_.post([done = std::move(next.done)] {
      done(Error{Error::Kind::conflict, "no longer wanted when its turn came"});
    });
  }
  return std::nullopt;
}

void HttpClient::give_back(Connection& connection) {
  if (streams_.contains(connection.id)) return retire(connection);
  auto next = next_wanted();
  if (next) return start(connection, *std::move(next));
  idle_.push_back(connection.id);
}

void HttpClient::retire(Connection& connection) {
  connection.close();
  const auto id = connection.id;
  std::erase(idle_, id);
  // It may be the one that called: it is taken apart when nothing of it is on the stack any more.
  std::shared_ptr<Connection> last;
  for (auto* pool : {&connections_, &streams_}) {
    const auto found = pool->find(id);
    if (found == pool->end()) continue;
    last = std::move(found->second);
    pool->erase(found);
  }
  loop_.post([last] {});
  if (connections_.size() >= options_.max_connections) return;
  if (auto next = next_wanted()) send(std::move(next->request), std::move(next->done));
}

}  // namespace evenkeel::kubernetes
