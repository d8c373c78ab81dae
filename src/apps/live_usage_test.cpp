#include "apps/live_usage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/live_scheduler.h"
#include "apps/usage_setup.h"
#include "kubernetes/scripted_cluster.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using kubernetes::ApiRequest;
using kubernetes::ScriptedCluster;
using nlohmann::json;

// A source that says what a test hands it.
class GivenSource final : public MetricsSource {
 public:
  explicit GivenSource(std::vector<MetricsReading>& readings) : readings_(readings) {}
  std::string_view name() const override { return "given"; }
  std::vector<MetricsReading> take() override { return std::exchange(readings_, {}); }
  SourceCounts counts() const override { return {7, 1, {{"malformed", 2}}}; }

 private:
  std::vector<MetricsReading>& readings_;
};

// Two nodes, a policy that goes by load, and a source.
class LiveUsageTest : public ::testing::Test {
 protected:
  LiveUsageTest() {
    std::string name = (std::filesystem::temp_directory_path() / "evenkeel-usage-XXXXXX").string();
    folder = ::mkdtemp(name.data());
    cluster.add_node("n1");
    cluster.add_node("n2");
  }
  ~LiveUsageTest() override {
    scheduler.reset();
    usage.reset();
    std::filesystem::remove_all(folder);
  }
  void start() {
    LiveUsage::Options options;
    options.state = folder;
    options.capacity = Usage{{0, 0, 1e9, 1e9, 1e8, 1e8}};
    usage = std::make_unique<LiveUsage>(options);
    usage->add(std::make_unique<GivenSource>(readings));
    LiveOptions live;
    live.configuration.profiles = {kubernetes::default_profile()};
    live.configuration.profiles.front().scheduler_name = "evenkeel";
    live.configuration.profiles.front().score.push_back({"Evenkeel", 100});
    live.configuration.profiles.front().evenkeel.policy = "horizon";
    live.events = false;
    live.usage = usage.get();
    auto opened = LiveScheduler::open(cluster.connection, std::move(live));
    ASSERT_TRUE(opened) << opened.error().message;
    scheduler = *std::move(opened);
    run(1s);
  }
  void stop() {
    scheduler->stop(1s);
    scheduler.reset();
    usage.reset();
  }
  void run(Duration time) {
    const Time end = cluster.connection.now() + time;
    while (cluster.connection.now() < end) scheduler->turn(cluster.connection.now() + 50ms);
  }
  NodeReport report(const std::string& node, double cores) const {
    NodeReport made;
    made.node = node;
    made.measured = cluster.connection.now();
    made.total = Usage{{cores, cores * 1e9, 1e6, 1e6, 0, 0}};
    return made;
  }
  void add_running(const std::string& name, const std::string& node) {
    json pod = ScriptedCluster::pod(name);
    pod["spec"]["nodeName"] = node;
    pod["spec"]["containers"][0]["image"] = "web:1";
    pod["metadata"]["labels"] = {{"app", "web"}};
    pod["status"] = {{"phase", "Running"}, {"startTime", "2025-11-16T07:00:00Z"}};
    cluster.put(kubernetes::types::pods(), pod);
  }
  std::string node_of(const std::string& pod) {
    for (const ApiRequest& request : cluster.sent("POST", "/binding")) {
      const json body = json::parse(request.body);
      if (body["metadata"]["name"] == pod) return body["target"]["name"];
    }
    return "";
  }
  const ClusterState& state() const { return scheduler->scheduler().cluster(); }
  NodeId node(const std::string& name) const { return *state().node_named(name); }

  ScriptedCluster cluster;
  std::string folder;
  std::vector<MetricsReading> readings;
  std::unique_ptr<LiveUsage> usage;
  std::unique_ptr<LiveScheduler> scheduler;
};

TEST_F(LiveUsageTest, PodsGoWhereTheLoadIsLeast) {
  start();
  for (const auto& [busy, idle] : {std::pair("n1", "n2"), std::pair("n2", "n1")}) {
    readings.push_back({{report(busy, 3), report(idle, 0.2)}, {}});
    run(100ms);
    const std::string name = std::string("for-") + idle;
    cluster.add_pod(name, "100m");
    run(1s);
    EXPECT_EQ(node_of(name), idle);
  }
}

TEST_F(LiveUsageTest, LoosePodsFindTheirNodes) {
  add_running("web-1", "n1");
  add_running("web-2", "n2");
  start();
  MetricsReading reading;
  reading.nodes = {report("n1", 2), report("n2", 1)};
  for (const char* pod : {"web-1", "web-2", "nobody"})
    reading.pods.push_back({"", "shop", pod, Usage{{0.5, 1e8, 0, 0, 0, 0}}});
  readings.push_back(reading);
  run(200ms);
  EXPECT_NEAR(state().base_load(node("n1"))[Dimension::cpu], 1.5, 1e-9);
  EXPECT_NEAR(state().base_load(node("n2"))[Dimension::cpu], 0.5, 1e-9);
  EXPECT_EQ(state().node(node("n1")).capacity[Dimension::read], 1e8);  // as it was configured
}

TEST_F(LiveUsageTest, ALongAnswerIsTakenInOverSeveralTurns) {
  for (int i = 0; i < 1000; ++i) add_running("web-" + std::to_string(i), i % 2 == 0 ? "n1" : "n2");
  start();
  MetricsReading reading;
  reading.nodes = {report("n1", 2), report("n2", 1)};
  for (int i = 0; i < 1000; ++i)
    reading.pods.push_back({"", "shop", "web-" + std::to_string(i), Usage{{0.001, 1e6, 0, 0, 0, 0}}});
  readings.push_back(reading);
  scheduler->turn(cluster.connection.now());
  EXPECT_FALSE(state().is_sampled(node("n1")));
  for (int i = 0; i < 3; ++i) scheduler->turn(cluster.connection.now() + 1h);  // none of them waits
  EXPECT_TRUE(state().is_sampled(node("n1")));
}

TEST_F(LiveUsageTest, OldReportsAreRefusedAndFiguresSayHowWellTheNodesAreKnown) {
  start();
  NodeReport old = report("n1", 3);
  old.measured -= 31s;
  readings.push_back({{old, report("n2", 1), report("n9", 1)}, {}});
  run(100ms);
  run(5s);
  const UsageFigures figures = usage->figures(cluster.connection.now());
  EXPECT_EQ(figures.refused.at("stale"), 1U);
  EXPECT_EQ(figures.refused.at("unknown_node"), 1U);
  EXPECT_EQ(figures.nodes_fresh, 1U);
  EXPECT_EQ(figures.nodes_stale, 1U);
  EXPECT_NEAR(figures.oldest_sample_s, 5.1, 0.5);
  EXPECT_EQ(figures.sources.at("given").reports, 7U);
  reporting::MetricsRegistry registry;
  UsageMetrics metrics(registry);
  metrics.show(figures);
  const std::string text = registry.render();
  for (const char* line :
       {"evenkeel_usage_reports_total{source=\"given\"} 7", "evenkeel_usage_nodes{sample=\"stale\"} 1",
        "evenkeel_usage_refused_total{source=\"any\",reason=\"stale\"} 1",
        "evenkeel_usage_refused_total{source=\"given\",reason=\"malformed\"} 2"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST_F(LiveUsageTest, ARestartKeepsWhatWorkloadsDid) {
  add_running("web-1", "n1");
  start();
  for (int i = 0; i < 50; ++i) {
    NodeReport one = report("n1", 1);
    one.pods = {{"uid-shop/web-1", "", "", Usage{{0.125, 5e7, 1000, 0, 0, 0}}}};
    readings.push_back({{one}, {}});
    run(1s);
  }
  const auto demand = [&] {
    const auto id = scheduler->world().feed().pod_named("shop", "web-1");
    return scheduler->scheduler().history().demand(scheduler->world().feed().pod(*id)->pod);
  };
  const Demand before = demand();
  EXPECT_LT(before.mean[Dimension::cpu], 0.25);  // of one core that it asks for
  stop();
  start();
  EXPECT_EQ(demand(), before);
  EXPECT_EQ(usage->figures(cluster.connection.now()).workloads, 1U);
}

TEST_F(LiveUsageTest, ProfilesAreWrittenWhileItRuns) {
  add_running("web-1", "n1");
  start();
  NodeReport one = report("n1", 1);
  one.pods = {{"uid-shop/web-1", "", "", Usage{{0.125, 5e7, 0, 0, 0, 0}}}};
  readings.push_back({{one}, {}});
  run(31s);
  for (int i = 0; i < 200 && usage->figures(cluster.connection.now()).profiles_written == 0; ++i) {
    ::usleep(10'000);
    run(100ms);
  }
  EXPECT_EQ(usage->figures(cluster.connection.now()).profiles_written, 1U);
}

TEST(UsageSetup, RatesAreReadAsPeopleWriteThem) {
  const auto rates = parse_rates("receive=1G,write=300M");
  ASSERT_TRUE(rates);
  EXPECT_EQ(*rates, (Usage{{0, 0, 1e9, 0, 0, 3e8}}));
  EXPECT_TRUE(parse_rates(""));
  for (const char* wrong : {"cpu=4", "receive", "read=fast", "speed=1G"})
    EXPECT_FALSE(parse_rates(wrong)) << wrong;
}

TEST(UsageSetup, WrongFlagsAreNamed) {
  const auto wrong = [](UsageArguments arguments) {
    const auto made = make_live_usage(arguments, {}, [] { return Time{}; }, [](const std::string&) {});
    return made ? "" : made.error().message;
  };
  UsageArguments arguments;
  EXPECT_EQ(wrong(arguments), "");
  arguments.stale = "0s";
  EXPECT_NE(wrong(arguments).find("--metrics-stale"), std::string::npos);
  arguments = {};
  arguments.prometheus = "http://prometheus.monitoring:9090";
  EXPECT_NE(wrong(arguments).find("service:NAMESPACE/NAME:PORT"), std::string::npos) << wrong(arguments);
  arguments.prometheus = "service:prometheus";
  EXPECT_NE(wrong(arguments).find("--metrics-prometheus"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::apps
