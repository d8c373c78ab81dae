#include "kubernetes/client_api.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace evenkeel::kubernetes {
namespace {

constexpr int kUnauthorized = 401, kTooMany = 429, kUnavailable = 503;
constexpr std::size_t kMaxRefusal = 1u << 20;  // of a stream's refusal, kept to be read

bool is_success(int code) { return code >= 200 && code < 300; }

// Protobuf with JSON as second choice: aggregated APIs speak JSON alone.
std::string accept_header(WireFormat format) {
  return format == WireFormat::json ? std::string(media_type(format))
                                    : std::string(media_type(format)) + ", application/json";
}
std::string watch_accept_header(WireFormat format) {
  return format == WireFormat::json
             ? std::string(media_type(format))
             : std::string(watch_media_type(format)) + ", application/json;stream=watch";
}

}  // namespace

struct ApiClient::Call {
  ApiRequest request;
  Done done;
  Backoff backoff;
  int tries = 0;
  bool was_unauthorized = false;
};

Result<std::unique_ptr<ApiClient>> ApiClient::open(EventLoop& loop, const ClusterAccess& access,
                                                   FileReader read, Options options) {
  auto transports = TransportMaker::open(loop, access);
  if (!transports) return transports.error();
  Credentials credentials(access, std::move(read));
  if (const auto token = credentials.token(loop.now()); !token) return token.error();
  return std::unique_ptr<ApiClient>(
      new ApiClient(loop, *std::move(transports), std::move(credentials), std::move(options)));
}

ApiClient::ApiClient(EventLoop& loop, std::unique_ptr<TransportMaker> transports, Credentials credentials,
                     Options options)
    : loop_(loop),
      options_(std::move(options)),
      credentials_(std::move(credentials)),
      random_(options_.seed),
      http_(loop, std::move(transports), {options_.max_connections, 1u << 30, options_.user_agent}) {}

Result<HttpRequest> ApiClient::http_request(const ApiRequest& request, std::string_view accept) {
  auto token = credentials_.token(loop_.now());
  if (!token) return token.error();
  HttpRequest http;
  http.method = request.method;
  http.target = request.path;
  http.accept = accept;
  http.content_type = request.content_type;
  http.body = request.body;
  http.bearer_token = *std::move(token);
  http.timeout = request.timeout;
  http.is_urgent = request.is_urgent;
  http.is_wanted = request.is_wanted;
  return http;
}

void ApiClient::call(ApiRequest request, Done done) {
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->done = std::move(done);
  call->backoff = Backoff(options_.backoff);
  const Duration wait = options_.limit.take(loop_.now());
  if (wait <= Duration::zero()) return attempt(call);
  loop_.call_after(wait, [this, call] { attempt(call); });
}

void ApiClient::attempt(const std::shared_ptr<Call>& call) {
  ++call->tries;
  if (call->request.is_wanted && !call->request.is_wanted()) {
    loop_.post([call] {
      ApiAnswer answer;
      answer.status.message = "no longer wanted when its turn came";
      call->done(std::move(answer));
    });
    return;
  }
  auto http = http_request(call->request, accept_header(call->request.accept));
  if (!http) {
    // Told in a later turn, as every other outcome is.
    loop_.post([call, why = http.error()] {
      ApiAnswer answer;
      answer.status.message = why.message;
      call->done(std::move(answer));
    });
    return;
  }
  http_.send(*std::move(http),
             [this, call](Result<HttpResponse> response) { answered(call, std::move(response)); });
}

void ApiClient::answered(const std::shared_ptr<Call>& call, Result<HttpResponse> response) {
  ApiAnswer answer;
  ++answers_[{call->request.method, response ? response->head.status : 0}];
  if (response) {
    answer.code = response->head.status;
    answer.format = format_of(response->head.content_type);
    if (is_success(answer.code)) {
      answer.body = std::move(response->body);
      return call->done(std::move(answer));
    }
    answer.status = read_status(answer.format, response->body, answer.code);
    answer.status.retry_after_seconds =
        std::max(answer.status.retry_after_seconds, response->head.retry_after_seconds);
  } else {
    answer.status.message = response.error().message;
    answer.is_uncertain = call->request.method != "GET" && response.error().kind != Error::Kind::conflict;
  }

  const bool is_token_old = answer.code == kUnauthorized && !call->was_unauthorized;
  if (is_token_old) {
    call->was_unauthorized = true;
    credentials_.refused();
  }
  // The server did nothing when it said so; without an answer only questions may be repeated.
  const bool was_turned_away =
      call->request.waits_its_turn &&
      (answer.code == kTooMany || (answer.code == kUnavailable && answer.status.retry_after_seconds > 0));
  const bool may_repeat = is_token_old || was_turned_away ||
                          (call->request.method == "GET" && (answer.code == 0 || answer.code >= 500));
  if (!may_repeat || call->tries >= options_.max_tries) return call->done(std::move(answer));
  const Duration asked =
      std::chrono::seconds(std::clamp<std::int64_t>(answer.status.retry_after_seconds, 0, 300));
  // The server tells all who were turned away the same time: coming back together they would be again.
  loop_.call_after(asked + call->backoff.next(random_), [this, call] { attempt(call); });
}

ApiConnection::StreamId ApiClient::stream(const ApiRequest& request, StreamHandlers handlers) {
  auto http = http_request(request, watch_accept_header(request.accept));
  if (!http) {
    loop_.post(
        [refused = std::move(handlers.refused), why = http.error()] { refused({0, "", why.message, 0}); });
    return 0;
  }
  struct Streaming {
    StreamHandlers handlers;
    HttpHead head;
    std::string refusal;
  };
  const auto streaming = std::make_shared<Streaming>(Streaming{std::move(handlers), {}, {}});
  HttpClient::StreamHandlers http_handlers;
  http_handlers.head = [this, streaming](const HttpHead& head) {
    streaming->head = head;
    ++answers_[{"GET", head.status}];
    if (is_success(head.status)) streaming->handlers.opened(format_of(head.content_type));
  };
  http_handlers.body = [streaming](std::string_view piece) {
    if (is_success(streaming->head.status)) return streaming->handlers.body(piece);
    if (streaming->refusal.size() < kMaxRefusal) streaming->refusal += piece;
  };
  http_handlers.end = [this, streaming](const Status& outcome) {
    const HttpHead& head = streaming->head;
    if (is_success(head.status)) return streaming->handlers.end();
    if (head.status == 0) ++answers_[{"GET", 0}];
    if (head.status == 0)
      return streaming->handlers.refused({0, "", outcome ? "no answer" : outcome.error().message, 0});
    if (head.status == kUnauthorized) credentials_.refused();
    ApiStatus status = read_status(format_of(head.content_type), streaming->refusal, head.status);
    status.retry_after_seconds = std::max(status.retry_after_seconds, head.retry_after_seconds);
    streaming->handlers.refused(status);
  };
  return http_.stream(*std::move(http), std::move(http_handlers));
}

}  // namespace evenkeel::kubernetes
