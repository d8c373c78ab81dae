#pragma once
#include <functional>
#include <memory>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "kubernetes/backoff.h"
#include "kubernetes/credentials.h"
#include "kubernetes/event_loop.h"
#include "kubernetes/http_client.h"
#include "kubernetes/kubeconfig.h"
#include "kubernetes/wire_objects.h"

namespace evenkeel::kubernetes {

struct ApiRequest {
  std::string method = "GET";
  std::string path;  // with its query
  std::string content_type, body;
  WireFormat accept = WireFormat::json;
  Duration timeout = std::chrono::seconds(60);
  bool waits_its_turn = true;  // false: 429 and 503 are answers, not reasons to try again
};

struct ApiAnswer {
  int code = 0;  // 0: there was none
  WireFormat format = WireFormat::json;
  std::string body;  // of a 2xx
  ApiStatus status;  // of anything else; its message says what went wrong where there was no answer
  // A write that got no answer: it may have been done or not. Look before you repeat it.
  bool is_uncertain = false;

  bool ok() const { return code >= 200 && code < 300; }
  Error error() const;  // of one that is not ok: 404, 409 and what may be tried again are told apart
};

// Asks an API server and understands its refusals. 429 (Priority & Fairness) and 503 are waited out as the
// server says; a question that found no answer is asked again; a write is sent once.
class ApiClient {
 public:
  struct Options {
    std::size_t max_connections = 64;
    std::string user_agent = "evenkeel";
    int max_tries = 8;
    std::uint64_t seed = 0;  // spreads retries
    Backoff::Options backoff{std::chrono::milliseconds(100), std::chrono::seconds(5)};
  };
  using Done = std::function<void(ApiAnswer)>;

  static Result<std::unique_ptr<ApiClient>> open(EventLoop& loop, const ClusterAccess& access,
                                                 FileReader read, Options options);

  void call(ApiRequest request, Done done);
  // call() and wait for it: for programs that do one thing after the other.
  ApiAnswer call_now(ApiRequest request);

  // One try, its body as it comes. An answer that is not 2xx ends as one piece with its status.
  struct StreamHandlers {
    std::function<void(WireFormat)> opened;
    std::function<void(std::string_view)> body;
    std::function<void(const ApiStatus&)> refused;  // instead of body and end; code 0: no answer
    std::function<void()> end;
  };
  HttpClient::StreamId stream(const ApiRequest& request, StreamHandlers handlers);
  void cancel(HttpClient::StreamId stream) { http_.cancel(stream); }

  EventLoop& loop() { return loop_; }

 private:
  struct Call;
  ApiClient(EventLoop& loop, std::unique_ptr<TransportMaker> transports, Credentials credentials,
            Options options);

  void attempt(const std::shared_ptr<Call>& call);
  void answered(const std::shared_ptr<Call>& call, Result<HttpResponse> response);
  Result<HttpRequest> http_request(const ApiRequest& request, std::string_view accept);

  EventLoop& loop_;
  Options options_;
  Credentials credentials_;
  Random random_;
  HttpClient http_;
};

}  // namespace evenkeel::kubernetes
