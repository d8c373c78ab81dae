#pragma once
// A learner for tests: small, quick, and honest about state, seeds and steps.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/random.h"
#include "training/recipes.h"

namespace evenkeel::training {

// Looks for the weights of a network of one layer that come nearest to a target, by trying small changes.
// With EVENKEEL_TEST_STALL_AT=N in the environment it hangs after step N, to be killed there.
class TestTrainer final : public Trainer {
 public:
  TestTrainer(std::size_t steps, double target, bool diverges, TrainerInput input)
      : steps_(steps), target_(target), diverges_(diverges), random_(input.seed), weights_(3, 0.0) {
    const char* stall = std::getenv("EVENKEEL_TEST_STALL_AT");
    if (stall) stall_at_ = std::strtoull(stall, nullptr, 10);
  }

  std::size_t steps() const override { return steps_; }
  std::size_t done() const override { return done_; }
  std::string_view step_name() const override { return "try"; }

  CurvePoint advance() override {
    if (stall_at_ > 0 && done_ >= stall_at_)
      for (;;) ::pause();
    std::vector<double> changed = weights_;
    for (double& weight : changed) weight += random_.normal(0, 0.1);
    if (distance(changed) < distance(weights_)) weights_ = changed;
    if (diverges_) weights_[0] = std::nan("");
    ++done_;
    CurvePoint point{{"distance", distance(weights_)}};
    if (done_ % 2 == 0) point.push_back({"largest", weights_[0]});
    return point;
  }

  learning::Model model() const override {
    learning::Model model;
    model.encoding = "kube-default/test";
    model.normalisation = {{"cpu", 0, 1}, {"memory", 0, 2}};
    model.figures = {{"tries", static_cast<double>(done_)}};
    model.networks = {{"scorer", {2, {}, 1, learning::Activation::relu}, weights_}};
    return model;
  }

  std::string state() const override {
    std::string bytes(sizeof done_ + sizeof random_ + weights_.size() * sizeof(double), '\0');
    std::memcpy(bytes.data(), &done_, sizeof done_);
    std::memcpy(bytes.data() + sizeof done_, &random_, sizeof random_);
    std::memcpy(bytes.data() + sizeof done_ + sizeof random_, weights_.data(),
                weights_.size() * sizeof(double));
    return bytes;
  }

  Status restore(std::string_view state) override {
    if (state.size() != this->state().size()) return invalid("state of another size");
    std::memcpy(&done_, state.data(), sizeof done_);
    std::memcpy(&random_, state.data() + sizeof done_, sizeof random_);
    std::memcpy(weights_.data(), state.data() + sizeof done_ + sizeof random_,
                weights_.size() * sizeof(double));
    return {};
  }

 private:
  double distance(const std::vector<double>& weights) const {
    double sum = 0;
    for (const double weight : weights) sum += (weight - target_) * (weight - target_);
    return std::sqrt(sum);
  }

  std::size_t steps_, done_ = 0, stall_at_ = 0;
  double target_;
  bool diverges_;
  Random random_;
  std::vector<double> weights_;
};

inline Result<std::unique_ptr<Trainer>> make_test_trainer(YamlReader& recipe, TrainerInput input) {
  const auto steps = recipe.integer<std::size_t>("tries").between(1, 100000).required();
  const double target = recipe.number("target").or_else(1);
  const bool diverges = recipe.boolean("diverges").or_else(false);
  return std::unique_ptr<Trainer>(std::make_unique<TestTrainer>(steps, target, diverges, std::move(input)));
}

inline constexpr Learner kTestLearners[] = {{"test", make_test_trainer}};

inline constexpr std::string_view kTestRecipe = R"(apiVersion: evenkeel.io/v1alpha1
kind: Recipe
name: trial
learner: test
tries: 40
target: 0.5
)";

}  // namespace evenkeel::training
