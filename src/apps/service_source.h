#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/prometheus_source.h"
#include "apps/service_source_queries.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/scaling_meter.h"

namespace evenkeel::apps {

struct ServiceSourceCounts {
  std::uint64_t rounds = 0, questions = 0, failures = 0,
                refused = 0;  // of questions; of values that are none
};

// Request rates, response times and usage out of Prometheus, for all workloads that are due in a few queries.
// What is missing, no number, or of more than one series where one was expected stays absent; what is old
// says so by its time.
class PrometheusMeter final : public kubernetes::ServiceMeter {
 public:
  struct Options {
    ServiceQueryOptions queries;
    std::string prefix;                         // in front of /api/v1/query: a path of the server
    Duration within = std::chrono::seconds(5);  // a round ends with what has come by then
    std::size_t most_joined = 100;              // queries in one question
    std::size_t longest = 24'000;               // bytes of one question
    std::function<void(const std::string&)> log = [](const std::string&) {};
  };
  PrometheusMeter(kubernetes::ApiConnection& connection, Options options)
      : connection_(connection), options_(std::move(options)) {}

  void measure(std::vector<kubernetes::ScalingLook>& looks, std::function<void()> done) override;
  const ServiceSourceCounts& counts() const { return counts_; }

 private:
  struct Round;
  struct Question {
    std::size_t look = 0;
    ServiceQuery query;
  };
  void ask(const std::shared_ptr<Round>& round, std::vector<std::size_t> questions);
  void answered(const std::shared_ptr<Round>& round, const std::vector<std::size_t>& questions,
                const kubernetes::ApiAnswer& answer);
  void failed(const std::shared_ptr<Round>& round, const std::vector<std::size_t>& questions,
              const std::string& why);
  void take(Round& round, std::size_t question, const std::vector<const PrometheusSample*>& samples);
  void finish(const std::shared_ptr<Round>& round);
  void say(const std::string& trouble);

  kubernetes::ApiConnection& connection_;
  Options options_;
  ServiceSourceCounts counts_;
  std::string said_;
  std::shared_ptr<PrometheusMeter*> alive_ = std::make_shared<PrometheusMeter*>(this);
};

// CPU and memory out of metrics.k8s.io, a namespace at a time, as the HPA has them.
class MetricsApiMeter final : public kubernetes::ServiceMeter {
 public:
  MetricsApiMeter(
      kubernetes::ApiConnection& connection, Duration within,
      std::function<void(const std::string&)> log = [](const std::string&) {})
      : connection_(connection), within_(within), log_(std::move(log)) {}
  void measure(std::vector<kubernetes::ScalingLook>& looks, std::function<void()> done) override;
  const ServiceSourceCounts& counts() const { return counts_; }

 private:
  kubernetes::ApiConnection& connection_;
  Duration within_;
  std::function<void(const std::string&)> log_;
  ServiceSourceCounts counts_;
  std::string said_;
  std::shared_ptr<MetricsApiMeter*> alive_ = std::make_shared<MetricsApiMeter*>(this);
};

// Asks all of them at once.
class ServiceMeters final : public kubernetes::ServiceMeter {
 public:
  void add(std::unique_ptr<kubernetes::ServiceMeter> meter) { meters_.push_back(std::move(meter)); }
  void measure(std::vector<kubernetes::ScalingLook>& looks, std::function<void()> done) override;

 private:
  std::vector<std::unique_ptr<kubernetes::ServiceMeter>> meters_;
};

}  // namespace evenkeel::apps
