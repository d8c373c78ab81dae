#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/agent_messages.h"

namespace evenkeel::agents {

// Where a leader makes one model of what agents have learnt: now and then the mean of their parameters, each
// counting by its experience since the model they all began with (federated averaging, McMahan et al. 2017).
// What began with an older model, is of another size or has what is no number is left out and counted.
class ModelPool {
 public:
  struct Options {
    Duration every{std::chrono::seconds{60}};
    std::size_t at_least = 1;  // agents
    double most_change = 10;   // of any parameter, against the shared model: more is somebody's mistake
  };
  explicit ModelPool(Options options);

  void begin_term(Term term, ModelVersion known, std::vector<float> parameters, Time now);
  void offer(const std::string& node, const AgentLessons& lessons);
  // A new shared model, should there be one by now.
  std::optional<LeaderModel> average(Time now);
  LeaderModel current() const { return current_; }  // for who has just joined
  Time wake_at() const;

  struct Figures {
    std::uint64_t models = 0, lessons = 0, refused_old = 0, refused_shape = 0, refused_values = 0;
  };
  const Figures& figures() const { return figures_; }

 private:
  bool is_believable(const std::vector<float>& parameters) const;
  bool has_enough() const { return !lessons_.empty() && lessons_.size() >= options_.at_least; }

  Options options_;
  LeaderModel current_;
  std::uint32_t made_ = 0;  // in this term
  Time next_ = Time::max();
  std::map<std::string, AgentLessons> lessons_;  // each agent's latest since the current model
  Figures figures_;
};

}  // namespace evenkeel::agents
