#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "apps/metrics_source.h"
#include "base/result.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/client_api.h"

namespace evenkeel::apps {

// Questions to a server that come to one reading; asked anew each time.
class MetricsQuestions {
 public:
  struct Answer {
    MetricsReading reading;
    std::map<std::string, std::uint64_t> refused;  // parts of it, by what was wrong
    std::vector<std::string> trouble;              // questions that found no answer
  };
  using Done = std::function<void(Result<Answer>)>;

  virtual ~MetricsQuestions() = default;
  virtual std::string_view name() const = 0;
  // `done` once, from within the connection's run_for(); no other ask() before that.
  virtual void ask(kubernetes::ApiConnection& connection, Duration within, Done done) = 0;
};

// Asks again and again from a thread of its own, so that neither a slow server nor a long answer is ever
// waited for by whoever schedules.
class PolledSource final : public MetricsSource {
 public:
  struct Options {
    Duration every = std::chrono::seconds(5);
    std::function<void()> arrived = [] {};                                    // from its thread
    std::function<void(const std::string&)> log = [](const std::string&) {};  // likewise
  };
  // invalid: the address or the credentials.
  static Result<std::unique_ptr<PolledSource>> open(const kubernetes::ClusterAccess& server,
                                                    std::unique_ptr<MetricsQuestions> questions,
                                                    Options options);
  ~PolledSource() override;

  std::string_view name() const override { return questions_->name(); }
  std::vector<MetricsReading> take() override;
  SourceCounts counts() const override;

 private:
  PolledSource(std::unique_ptr<MetricsQuestions> questions, Options options);
  void work();
  void answered(Result<MetricsQuestions::Answer> answer);
  void say(const std::string& trouble);

  std::unique_ptr<MetricsQuestions> questions_;
  Options options_;
  kubernetes::EventLoop loop_;
  std::unique_ptr<kubernetes::ApiClient> client_;
  std::string said_;  // the trouble that was told last; empty: all is well

  mutable std::mutex mutex_;
  std::vector<MetricsReading> readings_;
  SourceCounts counts_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace evenkeel::apps
