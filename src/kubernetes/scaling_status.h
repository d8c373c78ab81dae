#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/scaling_world.h"
#include "kubernetes/workload_scaler.h"

namespace evenkeel::kubernetes {

// What people read of a WorkloadScaler: HPA's conditions with HPA's reasons where the meaning is the same,
// and `Acting`, which says whether what is decided is also done.
class ScalingStatus {
 public:
  struct Condition {
    std::string type, status, reason, message;
    Time changed{};
  };

  // Of a process before us: when conditions changed, and whether it put the workload to sleep.
  void read(std::string_view object_json);
  bool slept() const;

  void decided(const WorkloadScaler& scaler, const TellDecision& told, const std::string& rival, Time now);
  void seen(std::int32_t there);
  void unseen(const std::string& why, Time now);  // its scale could not be read
  void rescaled(std::int32_t to, Time now);
  void not_rescaled(const std::string& why, Time now);
  void invalid_spec(const std::string& why, Time now);

  const std::vector<Condition>& conditions() const { return conditions_; }
  const Condition* condition(std::string_view type) const;
  const std::optional<TellDecision>& last() const { return last_; }

  // The body of a merge patch of the status, where it says something new: at once what changes in kind, once
  // a minute what only has other numbers in it. Counts as written.
  std::optional<std::string> news(const WorkloadScaler& scaler, Time now);
  // It was not written after all.
  void not_written() { essence_.clear(); }

 private:
  void set(std::string_view type, bool is_true, std::string reason, const std::string& message, Time now);

  std::vector<Condition> conditions_;  // by type
  std::optional<std::int32_t> there_, desired_;
  std::optional<Time> scaled_;
  std::optional<TellDecision> last_;
  std::string essence_;  // what was last written, without what changes all the time
  Time written_{};
};

// "cpu at 93 % of 70 %: 4; at most 3 by maxReplicas": one line of all reasons.
std::string reasons_text(const ScalingDecision& decision);

}  // namespace evenkeel::kubernetes
