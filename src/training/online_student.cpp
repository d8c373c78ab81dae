#include "training/online_student.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/check.h"
#include "scheduling/policies/ppo_lrt_state.h"

namespace evenkeel::training {
namespace {

using learning::Mask;
using learning::Model;
using learning::Network;
using learning::Real;
using learning::SavedState;
using scheduling::DrsLearner;
using scheduling::DrsSettings;
using scheduling::Lesson;

constexpr std::size_t kMostNodes = scheduling::Drs::kMostNodes;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t from = 0, end = 0; (end = text.find('\n', from)) != std::string::npos; from = end + 1)
    names.push_back(text.substr(from, end - from));
  return names;
}

// What any student keeps: for which nodes, what it has been through, and its learner's own part.
struct Saved {
  std::vector<std::string> nodes;
  std::uint64_t updates = 0;
  bool from_model = false;
  SavedState learner;
};

SavedState saved(const std::vector<std::string>& nodes, std::uint64_t updates, bool from_model,
                 const SavedState& learner) {
  SavedState state;
  state.put_text("nodes", joined(nodes));
  state.put("updates", updates);
  state.put("from model", std::uint64_t{from_model ? 1U : 0U});
  state.put("learner", learner);
  return state;
}

Result<Saved> read_saved(SavedState state) {
  Saved read{split(state.text("nodes")), state.count("updates"), state.count("from model") != 0,
             state.part("learner")};
  if (!state.status()) return state.status().error();
  if (read.nodes.empty() || read.nodes.size() > kMostNodes)
    return invalid("saved state: no nodes, or too many");
  return read;
}

std::string described(const std::vector<int>& hidden) {
  std::string text;
  for (const int width : hidden) text += "-" + std::to_string(width);
  return text;
}

Network network_of(const learning::ModelNetwork& from) {
  Network network(from.shape);
  std::copy(from.parameters.begin(), from.parameters.end(), network.parameters().begin());
  return network;
}

// What was seen with some nodes, as others would have seen it: those that were not there were idle and not to
// be had. Nothing where the one that was chosen is gone.
std::optional<Lesson> relaid(const learning::Transition& t, const std::vector<std::string>& from,
                             const std::vector<std::string>& to) {
  Lesson lesson{.state = std::vector<Real>((to.size() + 1) * kDimensions),
                .allowed = Mask(to.size()),
                .action = -1,
                .reward = t.reward,
                .next_state = std::vector<Real>((to.size() + 1) * kDimensions),
                .next_allowed = Mask(to.size())};
  const auto copy = [&](const std::vector<Real>& source, std::size_t i, std::vector<Real>& target,
                        std::size_t j) {
    const auto begin = source.begin() + static_cast<std::ptrdiff_t>(i * kDimensions);
    std::copy(begin, begin + static_cast<std::ptrdiff_t>(kDimensions),
              target.begin() + static_cast<std::ptrdiff_t>(j * kDimensions));
  };
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto found = std::find(to.begin(), to.end(), from[i]);
    if (found == to.end()) continue;
    const auto j = static_cast<std::size_t>(found - to.begin());
    copy(t.state, i, lesson.state, j);
    copy(t.next_state, i, lesson.next_state, j);
    lesson.allowed[j] = t.allowed[i];
    lesson.next_allowed[j] = t.next_allowed[i];
    if (static_cast<std::size_t>(t.action) == i) lesson.action = static_cast<int>(j);
  }
  copy(t.state, from.size(), lesson.state, to.size());
  copy(t.next_state, from.size(), lesson.next_state, to.size());
  if (lesson.action < 0) return std::nullopt;
  return lesson;
}

// Q-learning and SAC: anybody's decisions teach, and a pool keeps them.
class OffPolicyStudent final : public Student {
 public:
  OffPolicyStudent(DrsSettings settings, std::shared_ptr<const Model> model, std::uint64_t seed)
      : settings_(std::move(settings)), model_(std::move(model)), random_(Random(seed).fork("student")) {}

  std::string encoding() const override {
    const auto& hidden = settings_.learner.algorithm == scheduling::DrsAlgorithm::dqn
                             ? settings_.learner.dqn.hidden
                             : settings_.learner.sac.hidden;
    return settings_.name + described(hidden);
  }
  const std::vector<std::string>& nodes() const override { return nodes_; }
  std::uint64_t updates() const override { return updates_; }
  bool began_from_model() const override { return from_model_; }
  std::uint64_t lessons_before_learning() const override { return settings_.learner.learn_after; }

  bool lay_out(const std::vector<std::string>& nodes) override {
    if (nodes.empty() || nodes.size() > kMostNodes) return false;
    const std::vector<std::string> before = std::exchange(nodes_, nodes);
    if (learner_ && before.size() == nodes.size()) return false;
    const std::vector<learning::Transition> kept =
        learner_ ? learner_->kept() : std::vector<learning::Transition>{};
    begin(nodes.size());
    for (const learning::Transition& transition : kept)
      if (std::optional<Lesson> lesson = relaid(transition, before, nodes)) study(*std::move(lesson));
    return true;
  }

  Studied study(Lesson lesson) override {
    if (!learner_ || !fits(lesson)) return {false, {}};
    const std::uint64_t stored = learner_->stored();
    const std::optional<Real> loss = learner_->reward(
        {.state = std::move(lesson.state), .allowed = std::move(lesson.allowed), .action = lesson.action},
        lesson.reward, std::move(lesson.next_state), std::move(lesson.next_allowed), random_);
    if (loss) ++updates_;
    return {learner_->stored() > stored, loss};
  }

  bool is_finite() const override {
    if (!learner_) return true;
    const auto networks = learner_->networks();
    return std::all_of(networks.begin(), networks.end(), [](const learning::ModelNetwork& network) {
      return learning::all_finite(network.parameters);
    });
  }
  Network network() const override { return network_of(learner_->networks().front()); }

  SavedState save() const override { return saved(nodes_, updates_, from_model_, learner_->save()); }

  Status restore(SavedState state) override {
    Result<Saved> read = read_saved(std::move(state));
    if (!read) return read.error();
    std::unique_ptr<DrsLearner> learner =
        scheduling::make_drs_learner(settings_.learner, read->nodes.size(), random_);
    if (const Status restored = learner->restore(std::move(read->learner)); !restored) return restored;
    for (const learning::Transition& t : learner->kept())
      if (!fits(t.state, t.allowed, t.action, t.next_state, t.next_allowed, read->nodes.size()))
        return invalid("saved state: a transition is for another number of nodes");
    std::swap(learner_, learner);
    nodes_ = std::move(read->nodes);
    updates_ = read->updates;
    from_model_ = read->from_model;
    return {};
  }

 private:
  static bool fits(const std::vector<Real>& state, const Mask& allowed, int action,
                   const std::vector<Real>& next_state, const Mask& next_allowed, std::size_t nodes) {
    const std::size_t inputs = (nodes + 1) * kDimensions;
    return state.size() == inputs && next_state.size() == inputs && allowed.size() == nodes &&
           next_allowed.size() == nodes && action >= 0 && static_cast<std::size_t>(action) < nodes;
  }
  bool fits(const Lesson& lesson) const {
    return fits(lesson.state, lesson.allowed, lesson.action, lesson.next_state, lesson.next_allowed,
                nodes_.size());
  }

  void begin(std::size_t nodes) {
    learner_ = scheduling::make_drs_learner(settings_.learner, nodes, random_);
    updates_ = 0;
    from_model_ =
        model_ && scheduling::check_drs_model(settings_, *model_, nodes) && learner_->begin_from(*model_);
  }

  DrsSettings settings_;
  std::shared_ptr<const Model> model_;
  Random random_;
  std::vector<std::string> nodes_;
  std::unique_ptr<DrsLearner> learner_;
  std::uint64_t updates_ = 0;
  bool from_model_ = false;
};

// PPO: what its own policy drew teaches, once, and is then forgotten.
class OnPolicyStudent final : public Student {
 public:
  struct Shape {
    std::string name;
    std::function<int(std::size_t)> inputs, actions;  // by the number of nodes
    learning::PpoOptions ppo;
    std::size_t update_every;
    Real reward_scale = 1;
  };
  OnPolicyStudent(Shape shape, std::shared_ptr<const Model> model, std::uint64_t seed)
      : shape_(std::move(shape)), model_(std::move(model)), random_(Random(seed).fork("student")) {}

  std::string encoding() const override { return shape_.name + described(shape_.ppo.hidden); }
  const std::vector<std::string>& nodes() const override { return nodes_; }
  std::uint64_t updates() const override { return updates_; }
  bool began_from_model() const override { return from_model_; }
  std::uint64_t lessons_before_learning() const override { return shape_.update_every; }

  bool lay_out(const std::vector<std::string>& nodes) override {
    if (nodes.empty() || nodes.size() > kMostNodes) return false;
    const std::vector<std::string> before = std::exchange(nodes_, nodes);
    if (ppo_ && before.size() == nodes.size()) return false;
    collected_.clear();
    ppo_ = fresh(nodes.size());
    updates_ = 0;
    from_model_ = model_ && begin_from(*model_);
    return true;
  }

  Studied study(Lesson lesson) override {
    if (!ppo_ || !fits(lesson)) return {false, {}};
    const Real numbers[] = {lesson.reward, lesson.log_probability};
    if (!learning::all_finite(lesson.state) || !learning::all_finite(lesson.next_state) ||
        !learning::all_finite(numbers))
      return {false, {}};
    if (!collected_.empty() && lesson.sequence != last_sequence_ + 1) close(collected_.back());
    last_sequence_ = lesson.sequence;
    const Real value = ppo_->value(lesson.state);
    collected_.push_back({{std::move(lesson.state), std::move(lesson.allowed), lesson.action,
                           lesson.log_probability, value, shape_.reward_scale * lesson.reward, false, 0},
                          std::move(lesson.next_state)});
    if (collected_.size() < shape_.update_every) return {};
    close(collected_.back());
    bool whole = true;
    for (Collected& collected : collected_) whole = ppo_->remember(std::move(collected.step)) && whole;
    collected_.clear();
    if (!whole) {
      ppo_->forget();
      return {false, {}};
    }
    ++updates_;
    return {true, ppo_->learn(random_).policy_loss};
  }

  bool is_finite() const override {
    return !ppo_ || (learning::all_finite(ppo_->actor().parameters()) &&
                     learning::all_finite(ppo_->critic().parameters()));
  }
  Network network() const override { return ppo_->actor(); }

  // Without what is collected: less than one update's worth.
  SavedState save() const override { return saved(nodes_, updates_, from_model_, ppo_->save()); }

  Status restore(SavedState state) override {
    Result<Saved> read = read_saved(std::move(state));
    if (!read) return read.error();
    std::unique_ptr<learning::Ppo> ppo = fresh(read->nodes.size());
    if (const Status restored = ppo->restore(std::move(read->learner)); !restored) return restored;
    std::swap(ppo_, ppo);
    collected_.clear();
    nodes_ = std::move(read->nodes);
    updates_ = read->updates;
    from_model_ = read->from_model;
    return {};
  }

 private:
  struct Collected {
    learning::PpoStep step;
    std::vector<Real> next_state;
  };

  bool fits(const Lesson& lesson) const {
    const auto inputs = static_cast<std::size_t>(shape_.inputs(nodes_.size()));
    const auto actions = static_cast<std::size_t>(shape_.actions(nodes_.size()));
    return lesson.state.size() == inputs && lesson.next_state.size() == inputs &&
           lesson.allowed.size() == actions && lesson.action >= 0 &&
           static_cast<std::size_t>(lesson.action) < actions &&
           lesson.allowed[static_cast<std::size_t>(lesson.action)] != 0;
  }
  // What comes next is not known to follow: it is worth what the state after it is thought to be.
  void close(Collected& collected) const {
    collected.step.last = true;
    collected.step.value_after = ppo_->value(collected.next_state);
  }
  std::unique_ptr<learning::Ppo> fresh(std::size_t nodes) {
    return std::make_unique<learning::Ppo>(shape_.inputs(nodes), shape_.actions(nodes), shape_.ppo, random_);
  }
  // Models of ppo-lrt hold an actor alone: its critic begins anew, and advantages are poor at first.
  bool begin_from(const Model& model) {
    const learning::ModelNetwork* actor = model.find("actor");
    if (!actor || !(actor->shape == ppo_->actor().shape())) return false;
    std::copy(actor->parameters.begin(), actor->parameters.end(), ppo_->actor().parameters().begin());
    const learning::ModelNetwork* critic = model.find("critic");
    if (critic && critic->shape == ppo_->critic().shape())
      std::copy(critic->parameters.begin(), critic->parameters.end(), ppo_->critic().parameters().begin());
    return true;
  }

  Shape shape_;
  std::shared_ptr<const Model> model_;
  Random random_;
  std::vector<std::string> nodes_;
  std::unique_ptr<learning::Ppo> ppo_;
  std::vector<Collected> collected_;  // since the last update
  std::uint64_t last_sequence_ = 0, updates_ = 0;
  bool from_model_ = false;
};

}  // namespace

std::unique_ptr<Student> make_drs_student(const DrsSettings& settings, std::shared_ptr<const Model> model,
                                          std::uint64_t seed) {
  if (settings.learner.algorithm != scheduling::DrsAlgorithm::ppo)
    return std::make_unique<OffPolicyStudent>(settings, std::move(model), seed);
  return std::make_unique<OnPolicyStudent>(
      OnPolicyStudent::Shape{settings.name,
                             [](std::size_t nodes) { return static_cast<int>((nodes + 1) * kDimensions); },
                             [](std::size_t nodes) { return static_cast<int>(nodes); }, settings.learner.ppo,
                             settings.learner.ppo_every, settings.learner.reward_scale},
      std::move(model), seed);
}

std::unique_ptr<Student> make_ppo_lrt_student(PpoLrtStudy study, std::shared_ptr<const Model> model,
                                              std::uint64_t seed) {
  return std::make_unique<OnPolicyStudent>(
      OnPolicyStudent::Shape{std::move(study.name), scheduling::ppo_lrt_inputs,
                             [](std::size_t nodes) { return static_cast<int>(2 * nodes); },
                             std::move(study.ppo), study.update_every},
      std::move(model), seed);
}

}  // namespace evenkeel::training
