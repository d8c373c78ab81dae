#include "apps/autoscaler_status.h"

#include <chrono>
#include <utility>

#include "apps/scaling_view.h"
#include "base/file.h"
#include "base/numbers.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using reporting::HttpAnswer;
constexpr Duration kStuckAfter = 60s;
constexpr const char* kJson = "application/json";

Duration steady_time() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

Result<std::string> read_token(const std::string& file) {
  if (file.empty()) return std::string();
  Result<std::string> text = read_file(file);
  if (!text) return text.error();
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
  if (text->empty()) return invalid("--listen-token-file: " + file + " is empty");
  return text;
}

}  // namespace

AutoscalerStatus::AutoscalerStatus(ScalingRecords& records, std::string command)
    : records_(records),
      command_(std::move(command)),
      scalers_(
          registry_.gauges({"evenkeel_autoscaler_workloads", "Workloads that are looked at", {}}).with({})),
      pods_(registry_.gauges({"evenkeel_autoscaler_pods", "Pods that are followed", {}}).with({})),
      leads_(registry_.gauges({"evenkeel_autoscaler_leader", "Whether this instance leads", {}}).with({})),
      decisions_(registry_.counters({"evenkeel_autoscaler_decisions_total", "Decisions", {}}).with({})),
      fallbacks_(registry_
                     .counters({"evenkeel_autoscaler_fallbacks_total",
                                "Decisions that the policy itself could not make",
                                {}})
                     .with({})),
      holds_(registry_.counters({"evenkeel_autoscaler_holds_total", "Decisions that nobody could make", {}})
                 .with({})),
      scalings_(registry_.counters({"evenkeel_autoscaler_scalings_total", "Scalings by result", {"result"}})),
      unseen_(registry_.counters({"evenkeel_autoscaler_unseen_total", "Looks that failed", {}}).with({})),
      looks_(registry_.counters({"evenkeel_autoscaler_looks_total", "Looks at a workload", {}}).with({})),
      questions_(
          registry_.counters({"evenkeel_autoscaler_prometheus_queries_total", "Queries to Prometheus", {}})
              .with({})),
      question_failures_(registry_
                             .counters({"evenkeel_autoscaler_prometheus_failures_total",
                                        "Queries to Prometheus that found no answer",
                                        {}})
                             .with({})),
      requests_(registry_.counters(
          {"rest_client_requests_total", "Answers of the API server, 0: none", {"code", "method"}})),
      set_(registry_.gauges(
          {"evenkeel_autoscaler_replicas_set", "Replicas a workload is set to", {"namespace", "name"}})),
      decided_(registry_.gauges(
          {"evenkeel_autoscaler_replicas_decided", "Replicas it had better have", {"namespace", "name"}})) {
  last_turn_.store(steady_time().count());
}

void AutoscalerStatus::turned(const LiveAutoscaler& autoscaler, const PrometheusMeter* prometheus,
                              const kubernetes::ApiClient& client) {
  last_turn_.store(steady_time().count(), std::memory_order_relaxed);
  synced_.store(autoscaler.synced(), std::memory_order_relaxed);
  leading_.store(autoscaler.leading(), std::memory_order_relaxed);
  leads_.set(autoscaler.leading() ? 1 : 0);
  scalers_.set(static_cast<double>(autoscaler.world().scalers()));
  pods_.set(static_cast<double>(autoscaler.world().pods()));
  looks_.raise_to(autoscaler.world().looks());
  if (prometheus) {
    questions_.raise_to(prometheus->counts().questions);
    question_failures_.raise_to(prometheus->counts().failures);
  }
  for (const auto& [what, count] : client.answers())
    requests_.with({std::to_string(what.second), what.first}).raise_to(count);
}

std::string AutoscalerStatus::metrics_text() {
  const ScalingRecords::Totals totals = records_.totals();
  decisions_.raise_to(totals.decisions);
  fallbacks_.raise_to(totals.fallbacks);
  holds_.raise_to(totals.holds);
  scalings_.with({"up"}).raise_to(totals.scaled_up);
  scalings_.with({"down"}).raise_to(totals.scaled_down);
  scalings_.with({"failed"}).raise_to(totals.failed);
  unseen_.raise_to(totals.unseen);
  for (const ScalingRecord& record : records_.all()) {
    set_.with({record.name_space, record.name}).set(record.last.from);
    decided_.with({record.name_space, record.name}).set(record.last.to);
  }
  process_.refresh();
  return registry_.render();
}

std::optional<HttpAnswer> AutoscalerStatus::page(const reporting::HttpQuestion& question) const {
  if (question.path == "/preview")
    return HttpAnswer{.type = "text/html; charset=utf-8", .body = scaling_page(records_.all(), command_)};
  if (question.path == "/preview.json")
    return HttpAnswer{.type = kJson, .body = scaling_json(records_.all(), true)};
  if (question.path != "/decisions") return std::nullopt;
  std::string name_space, name;
  std::size_t limit = 100;
  for (const auto& [key, value] : question.parameters) {
    if (key == "scaler") {
      const std::size_t slash = value.find('/');
      name_space = slash == std::string::npos ? "" : value.substr(0, slash);
      name = slash == std::string::npos ? value : value.substr(slash + 1);
    } else if (key == "limit" && parse_integer(value).value_or(0) > 0) {
      limit = static_cast<std::size_t>(*parse_integer(value));
    } else {
      return HttpAnswer{.status = 400,
                        .body = "expected scaler=NAMESPACE/NAME or limit=N, found " + key + "\n"};
    }
  }
  return HttpAnswer{.type = kJson, .body = scaling_journal_json(records_.journal(name_space, name, limit))};
}

Result<std::unique_ptr<reporting::StatusServer>> AutoscalerStatus::serve(const std::string& listen,
                                                                         const std::string& token_file) {
  if (listen.empty()) return std::unique_ptr<reporting::StatusServer>();
  const auto address = reporting::parse_listen_address(listen);
  if (!address) return invalid("--listen: " + address.error().message);
  auto token = read_token(token_file);
  if (!token) return token.error();
  reporting::StatusServer::Options options;
  options.address = address->address;
  options.port = address->port;
  options.token = *std::move(token);
  const reporting::HealthCheck loop{
      "scaling-loop", [this]() -> std::optional<std::string> {
        const Duration idle = steady_time() - Duration(last_turn_.load(std::memory_order_relaxed));
        if (idle <= kStuckAfter) return std::nullopt;
        return "no turn for " + std::to_string(idle.count() / 1'000'000) + " s";
      }};
  options.live = {{"ping", [] { return std::nullopt; }}, loop};
  options.ready = {loop,
                   {"informer-sync",
                    [this]() -> std::optional<std::string> {
                      if (synced_.load(std::memory_order_relaxed)) return std::nullopt;
                      return "not every kind is listed yet";
                    }},
                   {"shutdown", [this]() -> std::optional<std::string> {
                      if (!stopping_.load(std::memory_order_relaxed)) return std::nullopt;
                      return "process is shutting down";
                    }}};
  options.metrics = [this] { return metrics_text(); };
  options.pages = [this](const reporting::HttpQuestion& question) { return page(question); };
  return reporting::StatusServer::start(std::move(options));
}

}  // namespace evenkeel::apps
