#pragma once
#include "cluster/scaling_world.h"
#include "simulator/service_measures.h"
#include "simulator/service_telemetry.h"

namespace evenkeel::simulator {

// A World of services made of a plan, a clock and a seed. Requests flow second by second; every scaler's
// interval a report of what telemetry shows of its service comes as an event. The plan must outlive it.
class ServiceWorld final : public ScalingWorld {
 public:
  ServiceWorld(const ServiceWorldPlan& plan, const Random& random, bool keep_series = false);

  Time now() const override { return now_; }
  std::optional<std::span<const ScalingEvent>> wait_for_events(Time deadline) override;
  void execute(const ScalingAction& action) override;

  const ServiceMeasures& measures() const { return measures_; }
  const RunningServices& services() const { return services_; }  // as they are, unseen by any policy
  const ServiceRoom& room() const { return room_; }

 private:
  void begin();
  void advance(Time to);
  void look();
  Time next_look() const;
  void scale(const ScaleWorkload& action);

  const ServiceWorldPlan& plan_;
  Random failures_;
  Time now_{};
  bool began_ = false;
  ServiceRoom room_;
  RunningServices services_;
  std::vector<ServiceTelemetry> telemetry_;
  std::unique_ptr<ServiceFlow> flow_;
  ServiceMeasures measures_;
  std::vector<ScalingEvent> gathered_, lent_;
};

}  // namespace evenkeel::simulator
