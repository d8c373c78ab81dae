#include "kubernetes/cluster_follower.h"

#include <algorithm>
#include <utility>

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
// A right that is missing is given by people: there is no hurry.
constexpr Duration kLongestPause = 1min;

ClusterFeed::Options everything() {
  ClusterFeed::Options options;
  options.scheduler_names = {"*"};  // no scheduler is called that: all of them
  return options;
}

}  // namespace

ClusterFollower::ClusterFollower(ApiConnection& connection, std::uint64_t seed, const Log& log)
    : connection_(connection), seed_(seed), feed_(everything(), log) {
  for (const ResourceType& type :
       {types::nodes(), types::namespaces(), types::priority_classes(), types::storage_classes(),
        types::persistent_volumes(), types::persistent_volume_claims(), types::csi_nodes(),
        types::csi_drivers(), types::csi_storage_capacities(), types::volume_attachments(),
        types::pod_disruption_budgets()})
    follow(type);
}

void ClusterFollower::follow(const ResourceType& type) {
  Kind& kind = *kinds_.emplace_back(std::make_unique<Kind>());
  ListWatch::Options options;
  options.seed = seed_;
  options.backoff.most = kLongestPause;
  ListWatch::Handlers handlers;
  handlers.changed = [this, type](const ObjectChange& change) { feed_.apply(type, change); };
  handlers.synced = [&kind] { kind.trouble.clear(); };
  handlers.trouble = [&kind](const std::string& what) { kind.trouble = what; };
  kind.watch = std::make_unique<ListWatch>(connection_, type, options, std::move(handlers));
}

void ClusterFollower::start() {
  for (const auto& kind : kinds_) kind->watch->start();
}

bool ClusterFollower::synced() const {
  return pods_synced_ && std::ranges::all_of(kinds_, [](const auto& kind) { return kind->watch->synced(); });
}

std::string ClusterFollower::missing() const {
  std::string text;
  for (const auto& kind : kinds_) {
    if (kind->watch->synced()) continue;
    text += (text.empty() ? "" : "; ") +
            (kind->trouble.empty() ? kind->watch->type().plural + " are being listed" : kind->trouble);
  }
  return text.empty() && !pods_synced_ ? "pods are being listed" : text;
}

std::vector<ClusterEvent> ClusterFollower::take_events() {
  std::vector<ClusterEvent> events;
  if (synced()) std::swap(events, feed_.events());
  return events;
}

}  // namespace evenkeel::kubernetes
