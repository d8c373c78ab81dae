#include "training/counterfactual.h"

#include <algorithm>
#include <numeric>
#include <variant>

#include "scheduling/scheduler.h"
#include "simulator/simulated_world.h"

namespace evenkeel::training {
namespace {

using scheduling::Evenkeel;
using scheduling::EvenkeelEncoding;
using scheduling::Horizon;
using scheduling::NothingToDo;
using scheduling::PlacementPolicy;
using scheduling::PlacementRequest;
using scheduling::Scheduler;
using simulator::SimulatedWorld;

// Whoever plays the world: what was learnt so far, or horizon. Copied to play on where it stands.
using Player = std::variant<Horizon, Evenkeel>;

Player player_of(const learning::SharedScorer* scorer) {
  return scorer ? Player(std::in_place_type<Evenkeel>, *scorer) : Player();
}

PlacementPolicy& policy_of(Player& player) {
  return std::visit([](auto& policy) -> PlacementPolicy& { return policy; }, player);
}

// A world with its scheduler: a value, so that it can be copied to see what would have happened.
struct Play {
  SimulatedWorld world;
  Scheduler scheduler;
  Random random;

  // Asks `answer` until nothing is left to decide.
  template <class Answer>
  void decide(Answer answer) {
    for (;;) {
      scheduling::Next next = scheduler.next(world.now());
      if (std::holds_alternative<NothingToDo>(next)) return;
      if (const auto* action = std::get_if<Action>(&next)) {
        world.execute(*action);
        continue;
      }
      const auto& request = std::get<PlacementRequest>(next);
      const std::optional<NodeId> chosen = answer(request);
      if (chosen)
        world.execute(scheduler.commit(request, *chosen));
      else
        scheduler.hold(request);
    }
  }

  bool wait(Time deadline) {
    const auto events = world.wait_for_events(std::min(deadline, scheduler.wake_at()));
    if (!events) return false;
    for (const ClusterEvent& event : *events) scheduler.observe(event, world.now());
    return true;
  }
};

// Mean of imbalance and unserved CPU over the time ahead.
double cost_of(Play play, Player player, Duration look, double unserved_weight) {
  PlacementPolicy& policy = policy_of(player);
  const Time from = play.world.now(), until = from + look;
  const auto answer = [&](const PlacementRequest& request) { return policy.choose(request, play.random); };
  const auto level = [&] {
    const simulator::Measures& now = play.world.measures();
    return now.imbalance_now() + unserved_weight * now.unserved_now();
  };
  double sum = 0;
  Time last = from;
  play.decide(answer);
  double before = level();
  while (play.world.now() < until && play.wait(until)) {
    sum += before * to_seconds(play.world.now() - last);
    last = play.world.now();
    play.decide(answer);
    before = level();
  }
  const double watched = to_seconds(last - from);
  return watched > 0 ? sum / watched : 0;
}

// Which candidates are worth playing out, as places in encoded.nodes.
std::vector<std::size_t> pick_candidates(const Evenkeel::Encoded& encoded, NodeId chosen, std::size_t most,
                                         Random& random) {
  std::vector<std::size_t> order(encoded.nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= most) return order;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return encoded.base[a] > encoded.base[b]; });
  const auto at =
      std::find_if(order.begin(), order.end(), [&](std::size_t i) { return encoded.nodes[i] == chosen; });
  std::rotate(order.begin(), at, at + 1);
  const std::size_t best = (most + 1) / 2;
  random.shuffle(std::span(order).subspan(best));
  order.resize(most);
  return order;
}

Evenkeel::Encoded only(const Evenkeel::Encoded& all, const std::vector<std::size_t>& picked) {
  Evenkeel::Encoded some{all.item, all.summary, {}, {}, {}};
  for (const std::size_t i : picked) {
    some.nodes.push_back(all.nodes[i]);
    some.base.push_back(all.base[i]);
    const auto from = all.features.begin() + static_cast<std::ptrdiff_t>(i * EvenkeelEncoding::kNode);
    some.features.insert(some.features.end(), from, from + EvenkeelEncoding::kNode);
  }
  return some;
}

}  // namespace

std::vector<RatedNodes> lessons_of(const RandomWorld& world, const learning::SharedScorer* scorer,
                                   const CounterfactualOptions& options, std::uint64_t seed) {
  const Random root(seed);
  Play play{SimulatedWorld(world.plan, root, false), Scheduler(world.options), root.fork("policy")};
  Random draw = root.fork("lessons");
  Player player = player_of(scorer);
  Horizon horizon;
  EvenkeelEncoding encoding;
  std::size_t ahead = 0;  // decisions left that may become lessons
  for (const simulator::PodPlan& pod : world.plan.pods) ahead += pod.arrival >= world.learn_from ? 1 : 0;
  // In a large cluster one placement hardly shows, and is dear to play out: few of those.
  const std::size_t most =
      std::max<std::size_t>(4, options.lessons * 8 / std::max<std::size_t>(8, world.plan.nodes.size()));
  const double share = static_cast<double>(most) / static_cast<double>(std::max<std::size_t>(1, ahead));
  std::vector<RatedNodes> lessons;

  const auto answer = [&](const PlacementRequest& request) {
    const std::optional<NodeId> chosen = policy_of(player).choose(request, play.random);
    if (!chosen || request.now < world.learn_from || request.feasible_count < 2 || !draw.chance(share) ||
        lessons.size() >= most)
      return chosen;
    // Between lessons forecasts have aged; a refresh makes a few anew each time.
    for (std::size_t i = 0; i < request.cluster.node_count(); i += 3) {
      horizon.rate(request);
      encoding.update(request, horizon);
    }
    const Evenkeel::Encoded all = Evenkeel::encode(request, horizon, encoding);
    RatedNodes lesson{only(all, pick_candidates(all, *chosen, options.candidates, draw)), {}};
    const float unit = scheduling::kBasePerNode * static_cast<float>(request.cluster.node_count());
    for (const NodeId node : lesson.question.nodes) {
      Play fork = play;
      fork.world.execute(fork.scheduler.commit(request, node));
      lesson.costs.push_back(
          unit * static_cast<float>(cost_of(std::move(fork), player, world.look, options.unserved_weight)));
    }
    lessons.push_back(std::move(lesson));
    return chosen;
  };
  while (lessons.size() < most && play.wait(Time::max())) play.decide(answer);
  return lessons;
}

}  // namespace evenkeel::training
