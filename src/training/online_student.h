#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "learning/algorithms/ppo.h"
#include "learning/model_file.h"
#include "learning/saved_state.h"
#include "scheduling/policies/drs.h"
#include "scheduling/policies/online_learning.h"

namespace evenkeel::training {

// What learns in a live scheduler's training thread, and lives there alone. It has a network for the nodes it
// was laid out for; before that, none.
class Student {
 public:
  struct Studied {
    bool kept = true;                    // false: it was no number, or did not fit
    std::optional<learning::Real> loss;  // where a step was made
  };

  virtual ~Student() = default;
  virtual std::string encoding() const = 0;  // of its checkpoints: whatever they would not fit differs
  // True: another network began, for another number of nodes.
  virtual bool lay_out(const std::vector<std::string>& nodes) = 0;
  virtual const std::vector<std::string>& nodes() const = 0;
  virtual Studied study(scheduling::Lesson lesson) = 0;
  virtual std::uint64_t updates() const = 0;
  virtual bool began_from_model() const = 0;
  virtual std::uint64_t lessons_before_learning() const = 0;
  virtual bool is_finite() const = 0;             // every weight
  virtual learning::Network network() const = 0;  // what decides; laid out only
  virtual learning::SavedState save() const = 0;  // all that the next update depends on; laid out only
  virtual Status restore(learning::SavedState state) = 0;
};

// DRS and its relatives, by whichever algorithm. A model is begun from where it has as many nodes. Its pool
// outlives a change of nodes: what is said there of nodes that are still there is learnt anew.
std::unique_ptr<Student> make_drs_student(const scheduling::DrsSettings& settings,
                                          std::shared_ptr<const learning::Model> model, std::uint64_t seed);

struct PpoLrtStudy {
  std::string name = "ppo-lrt";
  std::size_t update_every = 30;  // steps; seed paper 001, section 4.2
  learning::PpoOptions ppo{
      .hidden = {32, 32},
      .trace_decay = 0.5,
      .epochs = 80,
      .minibatch = 4096,
      .entropy_bonus = 0.01};  // as recipes/ppo-lrt-all.yaml; why: docs/algorithms/ppo-lrt.md
};
std::unique_ptr<Student> make_ppo_lrt_student(PpoLrtStudy study, std::shared_ptr<const learning::Model> model,
                                              std::uint64_t seed);

}  // namespace evenkeel::training
