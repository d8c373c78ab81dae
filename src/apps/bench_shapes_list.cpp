// The shapes, by scheduler_perf's own names where it has them.
#include "apps/bench_shapes.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;

constexpr const char* kHost = "kubernetes.io/hostname";
constexpr const char* kZone = "topology.kubernetes.io/zone";

LabelSelector colour_is(const std::string& colour) { return {{{"color", SelectorOperator::in, {colour}}}}; }

PodAffinityTerm term(const std::string& colour, const char* key) {
  return {colour_is(colour), {"sched-0", "sched-1"}, {}, key, {}, {}};
}

// Pods of one shape onto nodes where others of another already are.
PerfShape plain(std::string name, std::string about, double floor, std::size_t pods, const ShapePtr& standing,
                std::size_t standing_pods, const ShapePtr& measured) {
  return {std::move(name),
          std::move(about),
          floor,
          pods,
          [=](ShapedCluster& cluster) { cluster.add_running(standing, standing_pods); },
          [=](ShapedCluster& cluster, std::size_t) {
            cluster.add(measured);
            cluster.settle();
          }};
}

TopologySpreadConstraint spread_over(const char* key, std::int32_t skew, bool hard) {
  return {skew, key, hard, colour_is("blue"), {}, true, false, {}};
}

// Every pod finds all nodes full of pods of no importance, and has to make room.
PerfShape preemption() {
  const ShapePtr low = perf_pod([](PodSpec& spec) { spec.containers.front().requests.cpu = {900}; });
  const ShapePtr high = perf_pod([](PodSpec& spec) {
    spec.containers.front().requests.cpu = {3000};
    spec.priority = 10;
  });
  return {"Preemption",
          "every pod ends three of four on a node",
          570,
          5000,
          [=](ShapedCluster& cluster) { cluster.add_running(low, cluster.nodes() * 4); },
          [=](ShapedCluster& cluster, std::size_t) {
            cluster.add(high);
            cluster.settle();
            cluster.pass(20ms);
          }};
}

PerfShape preemption_beside() {
  const ShapePtr low = perf_pod([](PodSpec& spec) { spec.containers.front().requests.cpu = {900}; });
  const ShapePtr high = perf_pod([](PodSpec& spec) {
    spec.containers.front().requests.cpu = {3000};
    spec.priority = 10;
  });
  const ShapePtr measured = perf_pod();
  return {"PreemptionAsync",
          "one pod in a hundred has to make room for itself",
          570,
          5000,
          [=](ShapedCluster& cluster) { cluster.add_running(low, cluster.nodes() * 4); },
          [=](ShapedCluster& cluster, std::size_t i) {
            if (i % 100 == 0) cluster.add(high);
            cluster.add(measured);
            cluster.settle();
          }};
}

// Nodes, pods and Services come and go; a hundred times as often as scheduler_perf has it, as we place a
// hundred times as many pods in between.
PerfShape churn() {
  const ShapePtr measured = perf_pod();
  const ShapePtr large = perf_pod([](PodSpec& spec) {
    spec.containers.front().requests.cpu = {9000};
    spec.priority = 10;
  });
  const auto waiting = std::make_shared<std::optional<PodId>>();
  return {"MixedChurn",
          "a node, an unschedulable pod and a Service come and go",
          710,
          10000,
          [=](ShapedCluster& cluster) {
            waiting->reset();
            cluster.add_running(measured, 10000);
          },
          [=](ShapedCluster& cluster, std::size_t i) {
            if (i % 100 == 0) {
              Node node = cluster.node(static_cast<std::uint32_t>(cluster.nodes()));
              node.max_pods = 0;
              node.allocatable = {};
              const PodController service{PodController::Kind::service, "sched-0", "churn",
                                          LabelSelector{{{"app", SelectorOperator::in, {"foo"}}}}};
              if (i % 200 == 0) {
                cluster.tell(NodeAdded{node});
                cluster.tell(ObjectSet{service});
                *waiting = cluster.add(large);
              } else {
                cluster.tell(NodeRemoved{node.id});
                cluster.tell(ObjectGone{service});
                cluster.end(**waiting);
                waiting->reset();
              }
            }
            cluster.add(measured);
            cluster.settle();
          }};
}

// Pods that fit nowhere pile up, while nodes report and others are placed.
PerfShape unschedulable() {
  const ShapePtr measured = perf_pod();
  const ShapePtr large = perf_pod([](PodSpec& spec) { spec.containers.front().requests.cpu = {9000}; });
  return {"Unschedulable",
          "two pods in three fit nowhere",
          0,
          5000,
          [=](ShapedCluster& cluster) { cluster.add_running(measured, 10000); },
          [=](ShapedCluster& cluster, std::size_t i) {
            cluster.add(large);
            cluster.add(large);
            cluster.add(measured);
            Node grown = cluster.node(static_cast<std::uint32_t>(i % cluster.nodes()));
            grown.allocatable.memory.count += static_cast<std::int64_t>(i) << 20;
            cluster.tell(NodeUpdated{grown});
            cluster.settle();
          }};
}

// The same with every pod unlike the others, so that none can speak for another; nodes gain room.
PerfShape parked() {
  return {
      "Parked",
      "a node event while 5,000 unlike pods are parked",
      0,
      5000,
      [](ShapedCluster& cluster) {
        for (std::int64_t i = 0; i < 5000; ++i)
          cluster.add(perf_pod([&](PodSpec& spec) { spec.containers.front().requests.cpu = {5000 + i}; }));
        cluster.settle();
      },
      [](ShapedCluster& cluster, std::size_t i) {
        Node grown = cluster.node(static_cast<std::uint32_t>(i % cluster.nodes()));
        grown.allocatable.memory.count += static_cast<std::int64_t>(i + 1) << 20;
        cluster.tell(NodeUpdated{grown});
        cluster.settle();
      }};
}

}  // namespace

std::vector<PerfShape> perf_shapes() {
  const ShapePtr basic = perf_pod(), blue = perf_pod({}, {{"color", "blue"}});
  const ShapePtr near_zone = perf_pod([](PodSpec& spec) {
    spec.node_affinity.required = {{{{{kZone, SelectorOperator::in, {"zone1", "zone2"}}}, {}}}};
  });
  const ShapePtr hard =
      perf_pod([](PodSpec& s) { s.spread = {spread_over(kZone, 5, true)}; }, {{"color", "blue"}});
  const ShapePtr soft =
      perf_pod([](PodSpec& s) { s.spread = {spread_over(kZone, 5, false)}; }, {{"color", "blue"}});
  const ShapePtr replica = perf_pod({}, {{"color", "blue"}}, {{"ReplicaSet", "web", "", true}});
  const ShapePtr affinity =
      perf_pod([](PodSpec& s) { s.pod_affinity.required = {term("blue", kZone)}; }, {{"color", "blue"}});
  const ShapePtr anti = perf_pod([](PodSpec& s) { s.pod_anti_affinity.required = {term("green", kHost)}; },
                                 {{"color", "green"}});
  const ShapePtr likes =
      perf_pod([](PodSpec& s) { s.pod_affinity.preferred = {{1, term("red", kHost)}}; }, {{"color", "red"}});
  const ShapePtr dislikes =
      perf_pod([](PodSpec& s) { s.pod_anti_affinity.preferred = {{1, term("yellow", kHost)}}; },
               {{"color", "yellow"}});

  std::vector<PerfShape> all;
  all.push_back(plain("Basic", "pods that ask for nothing but room", 680, 10000, basic, 10000, basic));
  all.push_back(plain("NodeAffinity", "zone1 or zone2", 540, 10000, near_zone, 5000, near_zone));
  all.push_back(plain("TopologySpreading", "over zones, hard", 460, 5000, basic, 5000, hard));
  all.push_back(plain("PreferredTopologySpreading", "over zones, soft", 460, 5000, basic, 5000, soft));
  PerfShape defaults = plain("DefaultSpreading", "a ReplicaSet's pods, by the system's defaults", 460, 5000,
                             replica, 5000, replica);
  defaults.prepare = [fill = defaults.prepare](ShapedCluster& cluster) {
    cluster.tell(
        ObjectSet{PodController{PodController::Kind::replica_set, "sched-1", "web", colour_is("blue")}});
    fill(cluster);
  };
  all.push_back(std::move(defaults));
  all.push_back(
      plain("PodAffinity", "with others of its kind in a zone", 70, 5000, affinity, 5000, affinity));
  all.push_back(plain("PodAntiAffinity", "none of its kind on the node", 70, 2000, anti, 1000, anti));
  all.push_back(plain("MatchingAntiAffinity", "pods that others shun", 180, 4000, anti, 1000,
                      perf_pod({}, {{"color", "green"}})));
  all.push_back(plain("PreferredPodAffinity", "rather beside its kind", 180, 5000, likes, 5000, likes));
  all.push_back(
      plain("PreferredPodAntiAffinity", "rather not beside its kind", 180, 5000, dislikes, 5000, dislikes));
  all.push_back(preemption());
  all.push_back(preemption_beside());
  all.push_back(churn());
  all.push_back(unschedulable());
  all.push_back(parked());
  return all;
}

}  // namespace evenkeel::apps
