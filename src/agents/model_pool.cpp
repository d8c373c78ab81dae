#include "agents/model_pool.h"

#include <cmath>
#include <utility>

#include "scheduling/policies/marl_brain.h"

namespace evenkeel::agents {

ModelPool::ModelPool(Options options) : options_(options) {}

void ModelPool::begin_term(Term term, ModelVersion known, std::vector<float> parameters, Time now) {
  current_ = {term, known, std::move(parameters)};
  made_ = known.term == term ? known.number : 0;  // never a number twice
  lessons_.clear();
  next_ = now + options_.every;
}

bool ModelPool::is_believable(const std::vector<float>& parameters) const {
  for (std::size_t i = 0; i < parameters.size(); ++i)
    // What is no number is no small difference either.
    if (!(std::abs(static_cast<double>(parameters[i]) - current_.parameters[i]) <= options_.most_change))
      return false;
  return true;
}

void ModelPool::offer(const std::string& node, const AgentLessons& lessons) {
  ++figures_.lessons;
  if (lessons.from != current_.version) {
    ++figures_.refused_old;
  } else if (lessons.parameters.size() != current_.parameters.size()) {
    ++figures_.refused_shape;
  } else if (!is_believable(lessons.parameters)) {
    ++figures_.refused_values;
  } else if (lessons.experience > 0) {
    lessons_[node] = lessons;  // what it said before is part of it
  }
}

std::optional<LeaderModel> ModelPool::average(Time now) {
  if (now < next_ || !has_enough()) return std::nullopt;
  next_ = now + options_.every;
  std::vector<scheduling::BrainShare> shares;
  for (const auto& [node, lessons] : lessons_) shares.push_back({lessons.parameters, lessons.experience});
  std::optional<std::vector<float>> mean = scheduling::average(shares);
  if (!mean) return std::nullopt;
  current_.parameters = *std::move(mean);
  current_.version = {current_.term, ++made_};
  lessons_.clear();
  ++figures_.models;
  return current_;
}

Time ModelPool::wake_at() const { return has_enough() ? next_ : Time::max(); }

}  // namespace evenkeel::agents
