#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"
#include "cluster/node_report.h"
#include "cluster/usage.h"

namespace evenkeel {

// What the agents of a distributed scheduler say to each other (docs/distributed.md). Every agent stands for
// one node, and is known by its certificate; one of them leads, for a term, and all others talk to it alone.

// Of leadership: the transitions of the Lease. A higher one is newer, and what is said in an older one counts
// for nothing.
using Term = std::uint32_t;

// A pod by its UID, in sixteen bytes: a UUID as it is, any other text by its hash.
struct PodKey {
  std::array<std::uint8_t, 16> bytes{};
  auto operator<=>(const PodKey&) const = default;
};
PodKey pod_key(std::string_view uid);

// Of a shared model: the term of the leader that made it, and how many it had made. Later is better.
struct ModelVersion {
  Term term = 0;
  std::uint32_t number = 0;
  auto operator<=>(const ModelVersion&) const = default;
};

// ---- From an agent to the leader.

// The first on every connection.
struct AgentHello {
  std::uint16_t protocol = 1;
  std::string node;               // must be what the certificate says
  std::uint64_t incarnation = 0;  // drawn when the process starts
  Term term = 0;                  // the newest it has heard of
  bool sees_pods = false;         // by a watch of its own: need not be told what waits
  ModelVersion model{};
  bool operator==(const AgentHello&) const = default;
};

enum class BidVerdict : std::uint8_t {
  accept,    // its network would have the pod
  reject,    // its network would not
  unfit,     // a filter of its node says no
  abstains,  // it has no opinion: no model, no fresh metrics, figures beyond what it was trained on
};
// What one agent says to one pod.
struct Bid {
  PodKey pod;
  BidVerdict verdict = BidVerdict::abstains;
  float score = 0;  // comparable between agents; of `accept`, and of `reject` how bad it would be
  std::uint32_t awards =
      0;  // that it had heard of when it looked: with fewer than were given it is out of date
  bool operator==(const Bid&) const = default;
};
struct AgentBids {
  Term term = 0;
  std::vector<Bid> bids;
  bool operator==(const AgentBids&) const = default;
};
// What its node uses: the monitor's report.
struct AgentReport {
  NodeReport report;
  Duration age{};  // of the sample, when it was sent
  bool operator==(const AgentReport&) const = default;
};
// What it has learnt since the shared model it began with.
struct AgentLessons {
  ModelVersion from{};
  std::uint32_t experience = 0;  // decisions that went into it: its weight among others
  std::vector<float> parameters;
  bool operator==(const AgentLessons&) const = default;
};
using FromAgent = std::variant<AgentHello, AgentBids, AgentReport, AgentLessons>;

// ---- From the leader to an agent.

// A pod that waits, as far as an agent has to know it to decide.
struct PodQuestion {
  PodKey pod;
  std::int32_t priority = 0;
  double cpu = 0;     // cores asked for
  double memory = 0;  // bytes asked for
  Usage expected;     // what it is expected to use
  float delay = 0;    // mean network cost from the agent's node to those it talks to; 0: it talks to nobody
  float life = 0;     // seconds it is expected to run; 0: nobody knows
  bool operator==(const PodQuestion&) const = default;
};
// Asks about pods: those it does not see by itself, and those its last word about which is out of date.
struct LeaderAsks {
  Term term = 0;
  std::vector<PodQuestion> questions;
  bool operator==(const LeaderAsks&) const = default;
};
// Whose bids won: these pods are being bound to the agent's node, or, `withdrawn`, are not after all.
struct LeaderAwards {
  Term term = 0;
  std::uint32_t awards = 0;  // in all, these included, since the agent said hello
  std::vector<PodKey> pods;
  bool withdrawn = false;
  bool operator==(const LeaderAwards&) const = default;
};
// The whole cluster, as shares of what it has (FACTS G: global state).
struct ClusterShares {
  std::array<float, kDimensions> used{};    // mean of what nodes use
  std::array<float, kDimensions> spread{};  // its standard deviation over nodes
  float cpu_requested = 0, memory_requested = 0;
  std::uint32_t nodes = 0, pods = 0;
  bool operator==(const ClusterShares&) const = default;
};
// The heartbeat, and what everybody has to know.
struct LeaderBeat {
  Term term = 0;
  std::uint32_t beat = 0;
  std::string leader;                 // its node
  bool tells_pods = false;            // agents need not watch for pods: they are told (relay)
  std::vector<std::string> deputies;  // nodes whose agents stand ready, the first of them first
  ClusterShares cluster;
  bool operator==(const LeaderBeat&) const = default;
};
// The shared model, from which every agent goes on.
struct LeaderModel {
  Term term = 0;
  ModelVersion version{};
  std::vector<float> parameters;
  bool operator==(const LeaderModel&) const = default;
};
// It does not lead: ask the one that does, should it be known.
struct NotLeading {
  Term term = 0;
  std::string holder;  // of the Lease, as last seen
  // Of the process that answers; 0: not told. Whoever was at this address before it is gone.
  std::uint64_t incarnation = 0;
  bool operator==(const NotLeading&) const = default;
};
using FromLeader = std::variant<LeaderBeat, LeaderAsks, LeaderAwards, LeaderModel, NotLeading>;

// Who holds the Lease, and where its agent is reached: one text, so that both change at once.
//   node-3/10.0.0.7:9473/5f2c8e01d3b4a697
struct HolderIdentity {
  std::string node, address;  // host:port
  std::uint64_t incarnation = 0;
  bool operator==(const HolderIdentity&) const = default;
};
std::string to_text(const HolderIdentity& holder);
// Nothing: no agent's.
std::optional<HolderIdentity> parse_holder(std::string_view text);

}  // namespace evenkeel
