// How long a live decision takes, from the watch's word of a pod to its binding on the wire, while every node
// reports what it and its pods use once a second.
#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include "apps/bench.h"
#include "apps/live_reporter.h"
#include "apps/live_scheduler.h"
#include "apps/models.h"
#include "base/random.h"
#include "kubernetes/scripted_cluster.h"
#include "reporting/number_format.h"
#include "reporting/text_table.h"

namespace evenkeel::apps {
namespace {

using Clock = std::chrono::steady_clock;
using kubernetes::ApiAnswer;
using kubernetes::ApiRequest;
using kubernetes::ScriptedCluster;
using namespace std::chrono_literals;

constexpr std::size_t kNodes = 100, kPodsPerNode = 10;
constexpr Duration kStep = 10ms;     // one node reports
constexpr std::size_t kArrival = 5;  // steps from pod to pod: twenty a second

// Hands over what the benchmark puts there.
class StepSource final : public MetricsSource {
 public:
  explicit StepSource(std::vector<MetricsReading>& readings) : readings_(readings) {}
  std::string_view name() const override { return "bench"; }
  std::vector<MetricsReading> take() override { return std::exchange(readings_, {}); }
  SourceCounts counts() const override { return {}; }

 private:
  std::vector<MetricsReading>& readings_;
};

// An API server in this process, so that what is timed is ours: reading, believing, deciding, writing.
class LiveBench {
 public:
  LiveBench(const std::string& policy, const scheduling::PolicyModels& models)
      : reporter_(LiveReporter::Options{}), usage_(LiveUsage::Options{}) {
    for (std::size_t i = 0; i < kNodes; ++i) cluster_.add_node(node(i), "16");
    for (std::size_t i = 0; i < kNodes * kPodsPerNode; ++i) run_pod(i % kNodes);
    cluster_.write = [this](const ApiRequest& request) { return written(request); };
    usage_.add(std::make_unique<StepSource>(readings_));
    options_.configuration.profiles = {kubernetes::default_profile()};
    kubernetes::SchedulerProfile& profile = options_.configuration.profiles.front();
    profile.scheduler_name = "evenkeel";
    profile.score.push_back({"Evenkeel", 100});
    profile.evenkeel.policy = policy;
    options_.models = models;
    options_.bodies = kubernetes::WireFormat::json;
    options_.observer = &reporter_;
    options_.usage = &usage_;
  }

  Result<std::vector<double>> run(std::size_t decisions) {
    auto opened = LiveScheduler::open(cluster_.connection, options_);
    if (!opened) return opened.error();
    LiveScheduler& scheduler = **opened;
    while (!scheduler.synced()) scheduler.turn(cluster_.connection.now() + kStep);
    std::vector<double> took;
    for (std::size_t step = 0; took.size() < decisions; ++step) {
      report(step % kNodes);
      const bool comes = step >= kNodes && step % kArrival == 0;
      if (comes) arrive(step);
      bound_.reset();
      const auto known = Clock::now();
      scheduler.turn(cluster_.connection.now() + kStep);
      if (!comes) continue;
      for (int more = 0; !bound_ && more < 10; ++more) scheduler.turn(cluster_.connection.now() + kStep);
      if (!bound_) return unavailable("a pod was not bound");
      took.push_back(std::chrono::duration<double, std::micro>(*bound_ - known).count());
      settle();
    }
    return took;
  }

 private:
  struct Running {
    std::string name;
    std::size_t node = 0;
  };

  static std::string node(std::size_t i) { return "node-" + std::to_string(i); }

  nlohmann::json pod(const std::string& name) {
    nlohmann::json made = ScriptedCluster::pod(name, "250m");
    const std::string app = "app-" + std::to_string(random_.below(32));
    made["metadata"]["labels"] = {{"app", app}};
    made["spec"]["containers"][0]["image"] = app;
    return made;
  }
  void run_pod(std::size_t on) {
    Running one{"pod-" + std::to_string(next_++), on};
    nlohmann::json made = pod(one.name);
    made["spec"]["nodeName"] = node(on);
    made["status"] = {{"phase", "Running"}};
    cluster_.put(kubernetes::types::pods(), made);
    running_.push_back(std::move(one));
  }
  void arrive(std::size_t step) {
    arriving_ = "new-" + std::to_string(step);
    cluster_.add_pod(arriving_, "250m");
  }
  // The pod that came runs where it was bound, and the oldest ends.
  void settle() {
    nlohmann::json made = ScriptedCluster::pod(arriving_, "250m");
    made["spec"]["nodeName"] = target_;
    made["status"] = {{"phase", "Running"}};
    cluster_.put(kubernetes::types::pods(), made);
    running_.push_back({arriving_, static_cast<std::size_t>(std::stoul(target_.substr(5)))});
    cluster_.remove(kubernetes::types::pods(), "shop", running_.front().name);
    running_.pop_front();
  }
  void report(std::size_t on) {
    NodeReport report;
    report.node = node(on);
    report.measured = cluster_.connection.now();
    report.capacity = Usage{{0, 0, 1.25e9, 1.25e9, 5e8, 5e8}};
    report.total = Usage{{0.5, 1e9, 1e6, 1e6, 1e5, 1e5}};
    for (const Running& one : running_) {
      if (one.node != on) continue;
      const double share = random_.uniform();
      report.pods.push_back(
          {"uid-shop/" + one.name, "", "", Usage{{share, 4e8 * share, 1e7 * share, 1e7 * share, 1e6, 1e6}}});
      report.total += report.pods.back().usage;
    }
    readings_.push_back({{std::move(report)}, {}});
  }
  std::optional<ApiAnswer> written(const ApiRequest& request) {
    if (request.path.find("/binding") == std::string::npos) return std::nullopt;
    bound_ = Clock::now();
    const auto body = nlohmann::json::parse(request.body, nullptr, false);
    target_ = body["target"]["name"];
    return std::nullopt;
  }

  ScriptedCluster cluster_;
  LiveReporter reporter_;
  LiveUsage usage_;
  LiveOptions options_;
  Random random_{11};
  std::vector<MetricsReading> readings_;
  std::deque<Running> running_;
  std::size_t next_ = 0;
  std::string arriving_, target_;
  std::optional<Clock::time_point> bound_;
};

}  // namespace

Result<BenchJson> bench_live(const BenchSettings& settings, std::ostream& out) {
  const Result<scheduling::PolicyModels> models = load_models({});
  if (!models) return models.error();
  reporting::TextTable table{
      {{"policy", reporting::Align::left}, {"p50 us"}, {"p99 us"}, {"longest us"}}, {}, {}};
  BenchJson results;
  for (const char* policy : {"horizon", "evenkeel"}) {
    LiveBench bench(policy, *models);
    auto took = bench.run(settings.quick ? 100 : 2000);
    if (!took) return took.error();
    std::sort(took->begin(), took->end());
    const auto at = [&](std::size_t percent) { return (*took)[(took->size() - 1) * percent / 100]; };
    table.rows.push_back({{policy},
                          {reporting::format_number(at(50))},
                          {reporting::format_number(at(99))},
                          {reporting::format_number(took->back())}});
    results[std::to_string(kNodes)][policy] = {
        {"p50_us", at(50)}, {"p99_us", at(99)}, {"longest_us", took->back()}};
  }
  table.notes.push_back(
      "100 nodes with ten pods each that report every second, twenty pods a second: from a pod's arrival on "
      "the watch to its binding on the wire, the API server's own time left out.");
  out << reporting::render_text_table(table, reporting::TextStyle::plain);
  return results;
}

}  // namespace evenkeel::apps
