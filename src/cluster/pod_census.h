#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/pod.h"

namespace evenkeel {

// Which pods are meant: those in one of the namespaces whose labels the selector matches.
struct PodMatch {
  bool everywhere = false;              // whatever the namespace
  std::vector<std::string> namespaces;  // sorted
  LabelSelector selector;
  bool operator==(const PodMatch&) const = default;
};
bool matches(const PodMatch& match, const std::string& name_space, const Labels& labels);

struct PodQuery {
  std::vector<PodMatch> all;  // every one must match; none: no pod is meant
  bool skip_terminating = false;
  bool operator==(const PodQuery&) const = default;
};

// How many pods of which kind are on which node. A query is answered by walking over the pods'
// kinds once; from then on its answer is kept up with every pod that comes and goes, so that
// asking again costs nothing. Pods that look alike (namespace, labels, whether they are ending)
// are one kind.
class PodCensus {
 public:
  using Kind = std::uint32_t;

  Kind kind_of(const Pod& pod);  // held by the pod until released
  void release(Kind kind);
  void count(Kind kind, std::uint32_t node, bool added);

  // One number per node slot; `nodes` of them at least. Valid until the next call of anything.
  std::span<const std::uint32_t> counts(const PodQuery& query, std::size_t nodes);

 private:
  struct OnNode {
    std::uint32_t node, count;
  };
  struct KindEntry {
    std::string name_space;
    Labels labels;
    bool terminating = false;
    std::size_t hash = 0, holders = 0;
    std::vector<OnNode> nodes;              // sorted by node
    std::vector<std::uint32_t> answers_to;  // queries that mean it
  };
  struct Answer {
    PodQuery query;
    std::vector<std::uint32_t> on_node;
  };
  static bool meant(const PodQuery& query, const KindEntry& kind);
  void add_to(Answer& answer, const KindEntry& kind) const;

  std::vector<KindEntry> kinds_;
  std::vector<Kind> free_;
  std::unordered_multimap<std::size_t, Kind> by_hash_;
  std::vector<Answer> answers_;
  std::unordered_multimap<std::size_t, std::uint32_t> answers_by_hash_;
};

// Pods with rules about other pods, by what the rules are.
struct RuleHolders {
  std::shared_ptr<const PodTemplate> example;  // all of them have its namespace and its rules
  std::vector<std::uint32_t> on_node;          // by NodeId::slot
  std::size_t total = 0;
};

class RuleCensus {
 public:
  void count(const std::shared_ptr<const PodTemplate>& shape, std::uint32_t node, bool added);
  std::span<const RuleHolders> holders() const { return holders_; }  // some may have a total of 0
  std::size_t with_required_anti() const { return with_required_anti_; }
  std::size_t pods() const { return pods_; }

 private:
  std::vector<RuleHolders> holders_;
  std::unordered_multimap<std::size_t, std::uint32_t> by_hash_;
  std::size_t with_required_anti_ = 0, pods_ = 0;
};

}  // namespace evenkeel
