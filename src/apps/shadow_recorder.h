#pragma once
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/live_observer.h"
#include "reporting/shadow_report.h"
#include "scheduling/expected_after.h"
#include "scheduling/policies/guarded.h"

namespace evenkeel::apps {

// What would have changed: learned choices beside the rule's, where a guard asks both, and our choices beside
// where pods really went, where others bind them. Told by the scheduler's thread; the report may be read by
// any.
class ShadowRecorder final : public LiveObserver {
 public:
  explicit ShadowRecorder(bool shadow) : shadow_(shadow), report_({}) {}

  std::string json() const;  // as of the last turn that nobody was reading

  void serves(std::span<const LiveProfile> profiles) override;
  void began(const scheduling::Scheduler& scheduler, Time now) override;
  void decided(const scheduling::PlacementRequest& request, std::optional<NodeId> node, Duration) override;
  void observed(const ClusterEvent& event, Time now) override;
  void turned(const scheduling::Scheduler& scheduler, Time now) override;
  void ended() override;

 private:
  static constexpr std::size_t kMostOpen = 20'000;
  // A choice of ours that somebody else may yet make differently.
  struct Open {
    NodeId node;
    std::size_t profile = 0;
    scheduling::Imbalance before{};
    Usage demand{};
    scheduling::ExpectedState expected{};
  };
  void compare_sides(const scheduling::PlacementRequest& request);
  void went(PodId pod, NodeId node, Time now);
  void publish();

  bool shadow_;
  reporting::ShadowReport report_;
  std::vector<LiveProfile> profiles_;
  const scheduling::Scheduler* scheduler_ = nullptr;
  std::unordered_map<PodId, Open> open_;
  bool has_news_ = true;
  Time published_ = Time::min();

  mutable std::mutex mutex_;
  std::string published_json_ = "{}";
};

// Tells two of everything, in this order.
class ObserverPair final : public LiveObserver {
 public:
  ObserverPair(LiveObserver& first, LiveObserver& second) : first_(first), second_(second) {}

  void serves(std::span<const LiveProfile> profiles) override {
    first_.serves(profiles);
    second_.serves(profiles);
  }
  void began(const scheduling::Scheduler& scheduler, Time now) override {
    first_.began(scheduler, now);
    second_.began(scheduler, now);
  }
  void woke(Time now) override {
    first_.woke(now);
    second_.woke(now);
  }
  void decided(const scheduling::PlacementRequest& request, std::optional<NodeId> node,
               Duration took) override {
    first_.decided(request, node, took);
    second_.decided(request, node, took);
  }
  void acted(const Action& action, Time now) override {
    first_.acted(action, now);
    second_.acted(action, now);
  }
  void observed(const ClusterEvent& event, Time now) override {
    first_.observed(event, now);
    second_.observed(event, now);
  }
  void turned(const scheduling::Scheduler& scheduler, Time now) override {
    first_.turned(scheduler, now);
    second_.turned(scheduler, now);
  }
  void led(bool leading, Time now) override {
    first_.led(leading, now);
    second_.led(leading, now);
  }
  void synced(bool whole, Time now) override {
    first_.synced(whole, now);
    second_.synced(whole, now);
  }
  void carried(const LiveTraffic& traffic) override {
    first_.carried(traffic);
    second_.carried(traffic);
  }
  void ended() override {
    first_.ended();
    second_.ended();
  }

 private:
  LiveObserver &first_, &second_;
};

}  // namespace evenkeel::apps
