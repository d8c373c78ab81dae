#include "optimum/model_builder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace evenkeel::optimum {

using scheduling::GroupProblem;
using Kind = MixedProgram::Kind;

ModelBuilder::ModelBuilder(const GroupProblem& problem, CostTree tree, PlacementModel& model)
    : problem_(problem), tree_(std::move(tree)), model_(model), program_(model.program_) {
  rules_of_.resize(classes());
  for (std::uint32_t one = 0; one < classes(); ++one)
    for (std::uint32_t rule = 0; rule < problem_.apart.size(); ++rule)
      if (std::ranges::count(problem_.apart[rule].pods, class_of(one).pods.front()))
        rules_of_[one].push_back(rule);
  for (std::uint32_t node = 0; node < problem_.nodes.size(); ++node) place({node});
}

void ModelBuilder::build() {
  add_applications();
  add_classes();
  add_resources();
  add_apart();
  order_alike();
  add_latency();
  add_egress();
  add_links();
  limit_costs();
  find_step();
}

// Eq. 11: a column for every application that has pods to place.
void ModelBuilder::add_applications() {
  for (std::uint32_t one = 0; one < classes(); ++one) {
    const std::uint32_t application = class_of(one).application;
    if (is_fixed(one)) continue;
    auto& index = model_.accepted_of_;
    if (index.size() <= application) index.resize(application + 1, GroupProblem::kNowhere);
    if (index[application] != GroupProblem::kNowhere) continue;
    index[application] = model_.applications();
    model_.accepted_.push_back(program_.add_column({0, 1}, Kind::integer));
    model_.meanings_.push_back({Meaning::Kind::accepted, application});
  }
}

// Eq. 1 and 2: all of an application's pods, each once, or none.
void ModelBuilder::add_classes() {
  model_.ones_.resize(classes());
  for (std::uint32_t one = 0; one < classes(); ++one) {
    if (is_fixed(one)) continue;
    Linear everywhere;
    for (std::uint32_t node = 0; node < problem_.nodes.size(); ++node) {
      const Ones here = new_ones(one, node, most_on(one, node));
      ones_[{one, node}] = here;
      model_.ones_[one].insert(model_.ones_[one].end(), {here.first, here.count});
      const auto& bias = pod_of(one).bias;
      for (std::uint32_t k = 0; k < here.count; ++k) {
        everywhere.add(here.first + k, 1);
        if (!bias.empty()) program_.cost[here.first + k] += bias[node];
      }
    }
    everywhere.add(placed(one), -1);
    row({0, 0}, everywhere);
  }
  // Where fixed pods are costs what it costs.
  for (std::uint32_t one = 0; one < classes(); ++one)
    if (is_fixed(one) && !pod_of(one).bias.empty())
      program_.offset += class_of(one).size() * pod_of(one).bias[class_of(one).fixed];
}

// Eq. 3, in whole multiples of the requests' common measure where there is one: no rounding, and a sharper
// row.
void ModelBuilder::add_resources() {
  std::size_t resources = 0;
  for (const GroupProblem::Pod& pod : problem_.pods) resources = std::max(resources, pod.request.size());
  const auto request = [&](std::uint32_t one, std::size_t resource) {
    return resource < pod_of(one).request.size() ? pod_of(one).request[resource] : 0;
  };
  for (std::size_t resource = 0; resource < resources; ++resource) {
    std::int64_t measure = 0;
    bool whole = true;
    double most = 0;
    for (std::uint32_t one = 0; one < classes(); ++one) {
      const double asked = is_fixed(one) ? 0 : request(one, resource);
      whole = whole && asked == std::floor(asked) && asked < 9e15;
      if (whole) measure = std::gcd(measure, static_cast<std::int64_t>(asked));
      most = std::max(most, asked);
    }
    if (most <= 0) continue;
    const double unit = whole ? static_cast<double>(measure) : most;
    for (std::uint32_t node = 0; node < problem_.nodes.size(); ++node) {
      double room = std::max(0.0, problem_.nodes[node].free[resource]) / unit;
      if (whole) room = std::floor(room + 1e-9);
      Linear used;
      double could = 0;
      for (std::uint32_t one = 0; one < classes(); ++one)
        if (!is_fixed(one) && request(one, resource) > 0) {
          used.add(count(one, node), request(one, resource) / unit);
          could += most_on(one, node) * request(one, resource) / unit;
        }
      if (could > room) row({-MixedProgram::kInfinite, room}, used);
    }
  }
}

// Eq. 9 and 10. What is taken already is in most_on.
void ModelBuilder::add_apart() {
  for (std::uint32_t rule = 0; rule < problem_.apart.size(); ++rule) {
    const bool by_zone = problem_.apart[rule].by_zone;
    const auto places = by_zone ? problem_.zones : static_cast<std::uint32_t>(problem_.nodes.size());
    for (std::uint32_t at = 0; at < places; ++at) {
      Linear here;
      for (std::uint32_t node = 0; node < problem_.nodes.size(); ++node)
        if ((by_zone ? problem_.nodes[node].zone : node) == at)
          for (std::uint32_t one = 0; one < classes(); ++one)
            if (!is_fixed(one) && std::ranges::count(rules_of_[one], rule)) here.add(count(one, node), 1);
      if (here.terms.size() > 1) row({-MixedProgram::kInfinite, 1}, here);
    }
  }
}

// How many of a class a node could hold, were it alone there.
std::uint32_t ModelBuilder::most_on(std::uint32_t one, std::uint32_t node) const {
  const GroupProblem::Pod& pod = pod_of(one);
  if (!pod.allowed.empty() && !pod.allowed[node]) return 0;
  double most = class_of(one).size();
  for (std::size_t resource = 0; resource < pod.request.size(); ++resource)
    if (pod.request[resource] > 0)
      most = std::min(
          most,
          std::floor(std::max(0.0, problem_.nodes[node].free[resource]) / pod.request[resource] + 1e-9));
  for (const std::uint32_t number : rules_of_[one]) {
    const GroupProblem::Apart& rule = problem_.apart[number];
    const std::uint32_t zone = problem_.nodes[node].zone, at = rule.by_zone ? zone : node;
    bool taken = !rule.taken.empty() && rule.taken[at];
    for (const std::uint32_t other : rule.pods) {
      const std::uint32_t fixed = problem_.pods[other].fixed;
      if (fixed != GroupProblem::kNowhere)
        taken = taken || (rule.by_zone ? problem_.nodes[fixed].zone == zone : fixed == node);
    }
    most = std::min(most, taken ? 0.0 : 1.0);
  }
  return static_cast<std::uint32_t>(most);
}

// How many pods a node could hold, the smallest of each resource first.
std::uint32_t ModelBuilder::most_pods(std::uint32_t node) const {
  std::size_t resources = 0;
  std::uint32_t most = 0;
  for (std::uint32_t one = 0; one < classes(); ++one)
    if (!is_fixed(one)) {
      most += most_on(one, node);
      resources = std::max(resources, pod_of(one).request.size());
    }
  for (std::size_t resource = 0; resource < resources; ++resource) {
    std::vector<double> requests;
    for (std::uint32_t one = 0; one < classes(); ++one)
      if (!is_fixed(one))
        requests.insert(requests.end(), most_on(one, node),
                        resource < pod_of(one).request.size() ? pod_of(one).request[resource] : 0);
    std::ranges::sort(requests);
    double used = 0;
    std::uint32_t fit = 0;
    for (const double request : requests) {
      used += request;
      if (request > 0 && used > std::max(0.0, problem_.nodes[node].free[resource]) * (1 + 1e-9)) break;
      ++fit;
    }
    most = std::min(most, fit);
  }
  return most;
}

std::uint32_t ModelBuilder::most_in(std::uint32_t one, std::uint32_t place) {
  std::uint32_t most = 0, all = 0;
  const std::uint32_t zone = problem_.nodes[model_.places_[place].front()].zone;
  bool in_one_zone = true;
  for (const std::uint32_t node : model_.places_[place]) {
    most += one == kAll ? most_pods(node) : most_on(one, node);
    in_one_zone = in_one_zone && problem_.nodes[node].zone == zone;
  }
  if (one == kAll) {
    for (std::uint32_t each = 0; each < classes(); ++each)
      if (!is_fixed(each)) all += class_of(each).size();
    return std::min(most, all);
  }
  for (const std::uint32_t rule : rules_of_[one])
    if (problem_.apart[rule].by_zone && in_one_zone) most = std::min(most, 1U);
  return std::min(most, class_of(one).size());
}

ModelBuilder::Ones ModelBuilder::new_ones(std::uint32_t one, std::uint32_t place, std::uint32_t most) {
  const Ones made{program_.columns(), most};
  for (std::uint32_t k = 1; k <= most; ++k) {
    const std::uint32_t column = program_.add_column({0, 1}, Kind::integer);
    model_.meanings_.push_back({Meaning::Kind::ones, one, place, k});
    if (k == 1) continue;
    Linear ordered;  // two only where there is one
    ordered.add(column - 1, 1);
    ordered.add(column, -1);
    row({0, MixedProgram::kInfinite}, ordered);
  }
  return made;
}

ModelBuilder::Ones ModelBuilder::ones(std::uint32_t one, std::uint32_t place) {
  const auto known = ones_.find({one, place});
  if (known != ones_.end()) return known->second;
  const Ones made = new_ones(one, place, most_in(one, place));
  Linear same;
  for (std::uint32_t k = 0; k < made.count; ++k) same.add(made.first + k, 1);
  for (const std::uint32_t node : model_.places_[place])
    for (std::uint32_t each = 0; each < classes(); ++each)
      if (!is_fixed(each) && (one == kAll || one == each)) same.add(count(each, node), -1);
  if (!same.terms.empty()) row({0, 0}, same);
  ones_[{one, place}] = made;
  return made;
}

// Where weights times costs, and biases, are whole numbers, so are objectives.
void ModelBuilder::find_step() {
  std::int64_t step = 0;
  bool whole = true;
  const auto take = [&](double value) {
    whole = whole && value == std::floor(value) && std::abs(value) < 1e9;
    if (whole) step = std::gcd(step, static_cast<std::int64_t>(value));
  };
  for (const Tie& each : model_.classes_.ties) {
    const double weight = model_.classes_.symmetric ? 2 * each.weight : each.weight;
    if (weight == 0) continue;
    take(weight * problem_.same_node);
    for (const double cost : problem_.cost) take(weight * cost);
  }
  for (const GroupProblem::Pod& pod : problem_.pods)
    for (const double bias : pod.bias) take(bias);
  program_.step = whole ? static_cast<double>(step) : 0;
}

}  // namespace evenkeel::optimum
