#include "apps/autoscaler_room.h"

#include <utility>

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
constexpr Duration kPatience = 10s;  // with lists that are on their way

}  // namespace

LiveRoom::LiveRoom(kubernetes::ApiConnection& connection, autoscaling::ClusterRoom::Options options,
                   std::uint64_t seed, Log log)
    : connection_(connection),
      options_(options),
      log_(std::move(log)),
      follower_(connection, seed, log_),
      room_(options),
      started_(connection.now()) {}

void LiveRoom::catch_up() {
  const Time now = connection_.now();
  for (const ClusterEvent& event : follower_.take_events()) room_.observe(event, now);
  room_.set_blind(follower_.synced() ? "" : follower_.missing());
  say_what_is_known();
}

void LiveRoom::say_what_is_known() {
  std::string text;
  if (room_.blind().empty())
    text = "nodes are known (" + std::to_string(room_.cluster().node_count()) + "): " +
           (options_.room ? "a scale-up is held to what fits" : "they are only asked who had better leave");
  else if (connection_.now() - started_ >= kPatience)
    text = "whether replicas fit is not known, and no scale-up is held back: " + room_.blind() +
           " (deploy/autoscaler.yaml has the rights; `room: ignore` with `leaving: any` does without)";
  const bool is_new = !text.empty() && text != said_;
  if (!is_new) return;
  log_(text);
  said_ = std::move(text);
}

void LiveRoom::reported(const ServiceReport& report, const ScalerSpec& spec) {
  if (options_.leavers) room_.note_usage(report, spec);
}

}  // namespace evenkeel::apps
