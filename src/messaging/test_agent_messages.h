#pragma once
#include <vector>

#include "cluster/agent_messages.h"

namespace evenkeel::messaging {

// One of everything agents say, with every field set. Amounts of `expected` are exact in short: they travel
// so.
inline std::vector<FromAgent> agent_samples() {
  AgentHello hello{.protocol = 1,
                   .node = "node-1.example",
                   .incarnation = 0xfedcba9876543210,
                   .term = 4'000'000'000,
                   .sees_pods = true,
                   .model = {.term = 3, .number = 700}};
  AgentBids bids;
  bids.term = 12;
  for (const BidVerdict verdict :
       {BidVerdict::accept, BidVerdict::reject, BidVerdict::unfit, BidVerdict::abstains})
    bids.bids.push_back({.pod = pod_key("0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"),
                         .verdict = verdict,
                         .score = verdict == BidVerdict::unfit ? 0.0f : -0.58f,
                         .awards = verdict == BidVerdict::reject ? 4'294'967'295u : 3u});
  AgentReport report;
  report.age = Duration(250'000);
  report.report.node = "node-1.example";
  report.report.total = {{1.5, 6e9, 125e6, 3.25e6, 1e6, 2e6}};
  report.report.capacity = {{4, 16e9, 1.25e9, 1.25e9, 0, 0}};
  report.report.known = {true, true, true, true, false, true};
  report.report.pods = {{.uid = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
                         .name_space = "",
                         .name = "",
                         .usage = {{0.5, 1 << 30, 1024, 2048, 4096, 8192}}}};
  AgentLessons lessons{
      .from = {.term = 2, .number = 9}, .experience = 300, .parameters = {0.5f, -1.25f, 0.0f, 3e-20f}};
  return {hello, bids, AgentBids{}, report, lessons};
}

inline std::vector<FromLeader> leader_samples() {
  LeaderBeat beat{.term = 12,
                  .beat = 70'000,
                  .leader = "node-3",
                  .tells_pods = true,
                  .deputies = {"node-1", "node-2"},
                  .cluster = {.used = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f},
                              .spread = {0.01f, 0.02f, 0.03f, 0.04f, 0.05f, 0.06f},
                              .cpu_requested = 0.7f,
                              .memory_requested = 0.8f,
                              .nodes = 100,
                              .pods = 3000}};
  PodQuestion whole{.pod = pod_key("a"),
                    .priority = -5,
                    .cpu = 0.1,
                    .memory = 512.0 * 1024 * 1024,
                    .expected = {{0.5, 1 << 28, 1000, 2000, 4000, 8000}},
                    .delay = 2.5f,
                    .life = 61};
  PodQuestion bare{
      .pod = pod_key("b"), .priority = 2'000'000'000, .cpu = 1.0 / 3, .memory = 0.5, .expected = {}};
  LeaderAwards awards{.term = 12, .awards = 300, .pods = {pod_key("a"), pod_key("b")}, .withdrawn = true};
  LeaderModel model{.term = 12, .version = {.term = 12, .number = 1}, .parameters = {1, -2, 0.125f}};
  NotLeading answer{
      .term = 13, .holder = "node-3/10.0.0.7:9473/5f2c8e01d3b4a697", .incarnation = 0x5f2c8e01d3b4a697};
  return {beat, LeaderAsks{.term = 12, .questions = {whole, bare}}, awards, model, answer, NotLeading{}};
}

}  // namespace evenkeel::messaging
