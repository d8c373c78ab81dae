#include "apps/bench_live_cluster.h"

#include <algorithm>
#include <utility>

namespace evenkeel::apps {
namespace {

using kubernetes::ApiAnswer;
using kubernetes::ApiRequest;
using kubernetes::ScriptedCluster;
using namespace std::chrono_literals;

constexpr std::size_t kPodsPerNode = 10;
constexpr Duration kStep = 10ms;
constexpr std::size_t kStepsPerSecond = 100;  // in each of which one node may report
constexpr std::size_t kArrival = 5;           // steps from pod to pod: twenty a second

std::string node(std::size_t i) { return "node-" + std::to_string(i); }

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

}  // namespace

LiveBench::LiveBench(const Options& options, const scheduling::PolicyModels& models)
    : nodes_(std::min(options.nodes, kStepsPerSecond)),
      reporter_(LiveReporter::Options{}),
      usage_(LiveUsage::Options{}) {
  for (std::size_t i = 0; i < nodes_; ++i) cluster_.add_node(node(i), "16");
  for (std::size_t i = 0; i < nodes_ * kPodsPerNode; ++i) run_pod(i % nodes_);
  cluster_.write = [this](const ApiRequest& request) { return written(request); };
  usage_.add(std::make_unique<StepSource>(readings_));
  options_.configuration.profiles = {kubernetes::default_profile()};
  kubernetes::SchedulerProfile& profile = options_.configuration.profiles.front();
  profile.scheduler_name = "evenkeel";
  profile.score.push_back({"Evenkeel", 100});
  profile.evenkeel.policy = options.policy;
  profile.evenkeel.learning.online = options.learns;
  options_.learner.decides_after = 0;
  options_.models = models;
  options_.bodies = kubernetes::WireFormat::json;
  options_.observer = &reporter_;
  options_.usage = &usage_;
}

Status LiveBench::run(std::size_t decisions, const Look& look) {
  if (!scheduler_) {
    auto opened = LiveScheduler::open(cluster_.connection, options_);
    if (!opened) return opened.error();
    scheduler_ = *std::move(opened);
    while (!scheduler_->synced()) scheduler_->turn(cluster_.connection.now() + kStep);
  }
  const auto now = [this] { return cluster_.connection.now(); };
  for (std::size_t decided = 0; decided < decisions; ++step_) {
    const Time ends = now() + kStep;
    if (step_ % kStepsPerSecond < nodes_) report(step_ % kStepsPerSecond);
    const bool comes = step_ >= kStepsPerSecond && step_ % kArrival == 0;
    if (comes) {
      arrive(step_);
      bound_.reset();
      const auto known = Clock::now();
      for (int turns = 0; !bound_ && turns < 10; ++turns) scheduler_->turn(now() + kStep);
      if (!bound_) return unavailable("a pod was not bound");
      look(*scheduler_, std::chrono::duration<double, std::micro>(*bound_ - known).count());
      settle();
      ++decided;
    }
    // A turn ends with the first thing that happens, and the clock moves only when nothing does.
    while (now() < ends) scheduler_->turn(ends);
  }
  return {};
}

nlohmann::json LiveBench::pod(const std::string& name) {
  nlohmann::json made = ScriptedCluster::pod(name, "250m");
  const std::string app = "app-" + std::to_string(random_.below(32));
  made["metadata"]["labels"] = {{"app", app}};
  made["spec"]["containers"][0]["image"] = app;
  return made;
}

void LiveBench::run_pod(std::size_t on) {
  Running one{"pod-" + std::to_string(next_++), on};
  nlohmann::json made = pod(one.name);
  made["spec"]["nodeName"] = node(on);
  made["status"] = {{"phase", "Running"}};
  cluster_.put(kubernetes::types::pods(), made);
  running_.push_back(std::move(one));
}

void LiveBench::arrive(std::size_t step) {
  arriving_ = "new-" + std::to_string(step);
  cluster_.add_pod(arriving_, "250m");
}

// The pod that came runs where it was bound, and the oldest ends.
void LiveBench::settle() {
  nlohmann::json made = ScriptedCluster::pod(arriving_, "250m");
  made["spec"]["nodeName"] = target_;
  made["status"] = {{"phase", "Running"}};
  cluster_.put(kubernetes::types::pods(), made);
  running_.push_back({arriving_, static_cast<std::size_t>(std::stoul(target_.substr(5)))});
  cluster_.remove(kubernetes::types::pods(), "shop", running_.front().name);
  running_.pop_front();
}

void LiveBench::report(std::size_t on) {
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

std::optional<ApiAnswer> LiveBench::written(const ApiRequest& request) {
  if (request.path.find("/binding") == std::string::npos) return std::nullopt;
  bound_ = Clock::now();
  const auto body = nlohmann::json::parse(request.body, nullptr, false);
  target_ = body["target"]["name"];
  return std::nullopt;
}

}  // namespace evenkeel::apps
