#include "simulator/pod_generator.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::simulator {
namespace {

constexpr std::int64_t kGibi = std::int64_t{1} << 30;
constexpr double kMedianLife = 540, kLifeSigma = 1.88, kLongestLife = 86400;

struct NodeType {
  double share;
  std::int64_t cores, memory_gib, gpus;
  const char* model;
};
constexpr NodeType kNodeTypes[] = {
    {0.36, 96, 384, 8, "large"}, {0.25, 104, 512, 2, "inference"}, {0.08, 16, 120, 2, "old"},
    {0.03, 128, 768, 8, "new"},  {0.03, 32, 128, 4, "training"},   {0.02, 96, 768, 8, "training"},
    {0.10, 32, 256, 0, ""},      {0.08, 96, 512, 0, ""},           {0.05, 64, 256, 0, ""},
};

struct PodShape {
  double share;
  std::int64_t cpu_milli, memory_gib, gpu_milli;
  const char* qos;
};
constexpr PodShape kPodShapes[] = {
    {0.20, 3200, 6, 800, "BE"},      {0.06, 3200, 6, 1000, "BE"},     {0.23, 11400, 48, 1000, "LS"},
    {0.09, 12000, 46, 500, "LS"},    {0.06, 8000, 30, 450, "LS"},     {0.08, 4000, 24, 250, "LS"},
    {0.07, 16000, 48, 1000, "LS"},   {0.05, 20000, 72, 1000, "LS"},   {0.02, 8000, 24, 1000, "LS"},
    {0.06, 12500, 56, 0, "LS"},      {0.04, 32000, 48, 0, "BE"},      {0.03, 8000, 30, 0, "LS"},
    {0.005, 32000, 128, 4000, "LS"}, {0.005, 72000, 288, 8000, "LS"},
};

double draw_life(Random& random) {
  return std::clamp(kMedianLife * std::exp(kLifeSigma * random.normal()), 1.0, kLongestLife);
}

double mean_life() {
  const auto below = [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); };
  const double edge = std::log(kLongestLife / kMedianLife) / kLifeSigma;
  return kMedianLife * std::exp(kLifeSigma * kLifeSigma / 2) * below(edge - kLifeSigma) +
         kLongestLife * (1 - below(edge));
}

// What is left of the life of a pod met at a random moment: long lives are met more often.
double draw_rest(Random& random) {
  for (;;) {
    const double life = draw_life(random);
    if (random.chance(life / kLongestLife)) return std::max(1.0, random.uniform() * life);
  }
}

// How many pods at once put the resource they want most at the load.
double pods_at(double load, const std::vector<TraceNode>& nodes) {
  double cpu = 0, memory = 0, gpu = 0, wants_cpu = 0, wants_memory = 0, wants_gpu = 0, shares = 0;
  for (const TraceNode& node : nodes) {
    cpu += static_cast<double>(node.cpu.count);
    memory += static_cast<double>(node.memory.count);
    gpu += static_cast<double>(node.gpu_milli);
  }
  for (const PodShape& shape : kPodShapes) {
    shares += shape.share;
    wants_cpu += shape.share * static_cast<double>(shape.cpu_milli);
    wants_memory += shape.share * static_cast<double>(shape.memory_gib * kGibi);
    wants_gpu += shape.share * static_cast<double>(shape.gpu_milli);
  }
  const double scarcest = std::max({wants_cpu / cpu, wants_memory / memory, gpu > 0 ? wants_gpu / gpu : 0});
  return load * shares / scarcest;
}

const PodShape& draw_shape(Random& random) {
  double left = random.uniform();
  for (const PodShape& shape : kPodShapes)
    if ((left -= shape.share) < 0) return shape;
  return kPodShapes[0];
}

}  // namespace

std::vector<TraceNode> generate_nodes(std::size_t count) {
  std::vector<TraceNode> nodes;
  double reached = 0;
  for (const NodeType& type : kNodeTypes) {
    reached += type.share;
    const auto to = static_cast<std::size_t>(std::llround(reached * static_cast<double>(count)));
    while (nodes.size() < std::min(to, count))
      nodes.push_back({"node-" + std::to_string(nodes.size() + 1),
                       {type.cores * 1000},
                       {type.memory_gib * kGibi},
                       type.gpus * 1000,
                       type.model});
  }
  return nodes;
}

std::vector<TracePod> generate_pods(const std::vector<TraceNode>& nodes, const PodStream& stream,
                                    Random random) {
  std::vector<TracePod> pods;
  const auto add = [&](double at, double life) {
    const PodShape& shape = draw_shape(random);
    pods.push_back(
        {"", {shape.cpu_milli}, {shape.memory_gib * kGibi}, shape.gpu_milli, {}, shape.qos, at, life});
  };
  const double standing = pods_at(stream.load, nodes);
  for (double i = 0; i < std::round(standing); ++i) {
    const double at = random.uniform() * stream.fill_s;
    add(at, draw_rest(random));
  }
  const double every = mean_life() / standing;
  for (double at = random.exponential(every); at < stream.length_s; at += random.exponential(every))
    add(at, draw_life(random));
  std::sort(pods.begin(), pods.end(),
            [](const TracePod& a, const TracePod& b) { return a.created_s < b.created_s; });
  for (std::size_t i = 0; i < pods.size(); ++i) pods[i].name = "pod-" + std::to_string(i + 1);
  return pods;
}

}  // namespace evenkeel::simulator
