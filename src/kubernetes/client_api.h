#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/random.h"
#include "base/result.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/backoff.h"
#include "kubernetes/credentials.h"
#include "kubernetes/event_loop.h"
#include "kubernetes/http_client.h"
#include "kubernetes/kubeconfig.h"
#include "kubernetes/rate_limit.h"

namespace evenkeel::kubernetes {

// Asks an API server and understands its refusals. 429 (Priority & Fairness) and 503 are waited out as the
// server says; a question that found no answer is asked again; a write is sent once.
class ApiClient : public ApiConnection {
 public:
  struct Options {
    std::size_t max_connections = 64;
    std::string user_agent = "evenkeel";
    int max_tries = 8;
    std::uint64_t seed = 0;  // spreads retries
    Backoff::Options backoff{std::chrono::milliseconds(100), std::chrono::seconds(5)};
    RateLimit limit{};  // of calls; streams are not counted
  };

  static Result<std::unique_ptr<ApiClient>> open(EventLoop& loop, const ClusterAccess& access,
                                                 FileReader read, Options options);

  Time now() const override { return loop_.now(); }
  Time steady_now() const override { return loop_.steady_now(); }
  void call(ApiRequest request, Done done) override;
  StreamId stream(const ApiRequest& request, StreamHandlers handlers) override;
  void cancel(StreamId stream) override { http_.cancel(stream); }
  TimerId call_after(Duration delay, std::function<void()> work) override {
    return loop_.call_after(delay, std::move(work));
  }
  void cancel_timer(TimerId timer) override { loop_.cancel(timer); }
  bool run_for(Duration time, const std::function<bool()>& done) override {
    return loop_.run_for(time, done);
  }

  EventLoop& loop() { return loop_; }

  // What came back, every try and every stream counted: by method and code, 0 for no answer.
  using Answers = std::map<std::pair<std::string, int>, std::uint64_t>;
  const Answers& answers() const { return answers_; }

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
  Answers answers_;
};

}  // namespace evenkeel::kubernetes
