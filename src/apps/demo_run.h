#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/control_loop.h"
#include "reporting/dashboard_state.h"
#include "reporting/series_history.h"
#include "simulator/simulated_world.h"
#include "training/experiment.h"
#include "training/references.h"

namespace evenkeel::apps {

// The same world under several policies, advanced together and shown as the dashboard's state.
class DemoRun {
 public:
  static Result<std::unique_ptr<DemoRun>> start(const training::Experiment& experiment,
                                                const std::vector<std::string>& policies, std::uint64_t seed,
                                                const scheduling::PolicyModels& models = {});

  double length_s() const;
  void advance(double share);  // to this share of the whole time, 0..1
  void finish(const reporting::TableView& table);
  const reporting::DashboardState& state();

 private:
  struct Lane {
    std::unique_ptr<simulator::SimulatedWorld> world;
    std::unique_ptr<scheduling::Scheduler> scheduler;
    training::PreparedPolicy policy;
    std::unique_ptr<control::ControlLoop> loop;
    reporting::SeriesHistory history;
    std::deque<reporting::DecisionView> decisions;  // newest first
    reporting::LearningView learning;
    bool ended = false;
  };

  DemoRun(simulator::WorldPlan plan, std::uint64_t seed);
  void add_lane(training::PreparedPolicy policy);
  void note(Lane& lane, const scheduling::PlacementRequest& request, std::optional<NodeId> chosen);
  static void note_learning(Lane& lane);
  reporting::PanelView panel(const Lane& lane) const;

  simulator::WorldPlan plan_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  reporting::DashboardState state_;
  Time now_{};
};

}  // namespace evenkeel::apps
