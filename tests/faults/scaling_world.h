#pragma once
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autoscaling/autoscaler.h"
#include "base/random.h"

namespace evenkeel {

// A cluster with a few scaled workloads and two autoscalers of which one holds a lease, made from a seed.
// Metrics are missing, old, no numbers or lies; writes are refused, in conflict, done without an answer or
// done late; processes are killed between two steps; specs and replicas change under their hands. Looks at
// every action when it is taken, and keeps what was wrong with it.
class ScalingFaults {
 public:
  explicit ScalingFaults(std::uint64_t seed);

  void run(Duration with_faults);
  // No more faults, one answer for all, and time for every window to pass. What then is not as asked was
  // lost.
  void settle();

  const std::vector<std::string>& wrongs() const { return wrongs_; }
  std::size_t issued() const { return issued_; }
  std::size_t done() const { return done_; }

 private:
  using Autoscaler = autoscaling::Autoscaler;
  struct Done {
    Time at{};
    std::int32_t from = 0, to = 0;
  };
  // What one process did to one workload, and what it found when it began.
  struct Deeds {
    std::vector<Done> done;
    std::optional<Time> first_look;
    std::int32_t found = 0;
    Duration longest_window = Duration::max();  // the shortest it had since: specs change
  };
  struct Workload {
    ScalerId id{};
    ScalerSpec spec{};
    std::int32_t replicas = 1;
    std::string rival{};
  };
  struct Process {
    std::unique_ptr<Autoscaler> autoscaler;
    std::uint64_t life = 0;
    Time lease_until{};
    Time frozen_until{};
    std::map<ScalerId, Deeds> deeds;
  };
  struct Write {
    std::size_t process = 0;
    std::uint64_t life = 0;
    ScaleWorkload action;
    Time issued{}, lands{}, told{};
    enum class Fate { done, unanswered, told_failed, refused, lost } fate = Fate::done;
    bool landed = false, conflict = false, heard = false;
  };
  struct Late {
    Time at{};
    std::size_t process = 0;
    std::uint64_t life = 0;
    ScalingEvent event;
  };

  bool happens(double probability) { return faults_ && random_.chance(probability); }
  ScalerSpec make_spec(std::uint32_t slot);
  std::optional<ScalingBehaviour> make_behaviour();
  ServiceReport make_report(const Workload& workload);
  autoscaling::Recommendation answer(const autoscaling::ScalingRequest& request);

  void step();
  void land_writes();
  void disturb();
  void report();
  void lease();
  void decide(std::size_t process);
  void restart(std::size_t process);
  void tell(const ScalingEvent& event);
  void tell(std::size_t process, const ScalingEvent& event);
  void send(std::size_t process, const ScaleWorkload& action);

  void judge(std::size_t process, const ScaleWorkload& action);
  void judge_limits(const Workload& workload, const Deeds& deeds, const ScaleWorkload& action);
  void wrong(const ScaleWorkload& action, const std::string& what);
  Workload* find(ScalerId id);

  Random random_;
  Time now_{std::chrono::hours{100}};
  bool faults_ = true;
  std::int32_t settled_answer_ = 0;
  std::vector<Workload> workloads_;
  std::array<Process, 2> processes_;
  std::size_t holder_ = 0;
  Time lease_until_{};
  std::vector<Write> writes_;
  std::vector<Late> late_;
  std::vector<std::string> wrongs_;
  std::size_t issued_ = 0, done_ = 0;
};

}  // namespace evenkeel
