// The other side of a learner's link, as tests want it: weights are what they say, lessons are kept.
#pragma once
#include <utility>
#include <vector>

#include "scheduling/policies/online_learning.h"

namespace evenkeel::scheduling {

class TestLink final : public LearnerLink {
 public:
  std::shared_ptr<const LearntWeights> weights() override { return published; }
  void teach(Lesson lesson) override { lessons.push_back(std::move(lesson)); }
  void lay_out(const std::vector<std::string>& nodes) override { layouts.push_back(nodes); }
  LearnerProgress progress() override { return reported; }

  // A network that thinks best of one action whatever it sees.
  void publish(std::vector<std::string> nodes, int inputs, int actions, int best, bool decides) {
    learning::Network network({inputs, {}, actions, learning::Activation::relu});
    network.parameters()[network.layers()[0].biases + static_cast<std::size_t>(best)] = 1;
    published = std::make_shared<const LearntWeights>(LearntWeights{std::move(nodes), network, 7, decides});
  }

  std::shared_ptr<const LearntWeights> published;
  std::vector<Lesson> lessons;
  std::vector<std::vector<std::string>> layouts;
  LearnerProgress reported;
};

}  // namespace evenkeel::scheduling
