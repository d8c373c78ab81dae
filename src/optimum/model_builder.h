// How PlacementModel is built, step by step; private to it.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "optimum/placement_model.h"

namespace evenkeel::optimum {

class ModelBuilder {
 public:
  ModelBuilder(const scheduling::GroupProblem& problem, CostTree tree, PlacementModel& model);
  void build();

 private:
  using Meaning = PlacementModel::Meaning;
  using Term = MixedProgram::Term;
  using Range = MixedProgram::Range;
  using Tie = PodClasses::Tie;
  static constexpr std::uint32_t kAll = scheduling::GroupProblem::kNowhere;  // in place of a class: every pod

  struct Linear {
    std::vector<Term> terms;
    double constant = 0;
    void add(std::uint32_t column, double factor) { terms.push_back({column, factor}); }
    void add(const Linear& other, double factor) {
      for (const Term& term : other.terms) terms.push_back({term.column, term.factor * factor});
      constant += other.constant * factor;
    }
  };
  // Columns in which a number of pods is written: `first` + k - 1 is 1 where there are k or more.
  struct Ones {
    std::uint32_t first = 0, count = 0;
  };

  // model_builder.cpp: what is decided, and eq. 1-3, 9, 10.
  void add_applications();
  void add_classes();
  void add_resources();
  void add_apart();
  void find_step();
  std::uint32_t most_on(std::uint32_t one, std::uint32_t node) const;
  std::uint32_t most_pods(std::uint32_t node) const;
  std::uint32_t most_in(std::uint32_t one, std::uint32_t place);
  Ones new_ones(std::uint32_t one, std::uint32_t place, std::uint32_t most);
  Ones ones(std::uint32_t one, std::uint32_t place);

  // model_terms.cpp: numbers of pods and pairs as sums of columns.
  std::uint32_t place(const std::vector<std::uint32_t>& nodes);
  std::uint32_t zone_place(std::uint32_t zone);
  bool holds(std::uint32_t place, std::uint32_t node) const;
  double fixed_in(std::uint32_t one, std::uint32_t place) const;
  Linear count(std::uint32_t one, std::uint32_t place);
  Linear placed(std::uint32_t one) const;                                  // on any node
  Linear together(std::uint32_t a, std::uint32_t b, std::uint32_t place);  // never more than there are
  Linear across(std::pair<std::uint32_t, std::uint32_t> from,
                std::pair<std::uint32_t, std::uint32_t> to);  // never fewer
  Linear at_least(const Linear& expression, double weight, std::uint32_t only_if, double most);
  void row(Range range, const Linear& expression);

  // model_latency.cpp: eq. 4, 6-8 and 12.
  void add_latency();
  void add_savings(std::uint32_t a, std::uint32_t b);
  void add_remainder(std::uint32_t a, std::uint32_t b);
  void add_objective(const Linear& expression, double factor);
  void add_settled_pair(std::uint32_t a, std::uint32_t b);

  // model_bounds.cpp: what sharpens the relaxation.
  struct PartBound {
    std::vector<double> most;  // by number of pods
    Linear saved;
  };
  Linear weight_in(std::uint32_t place);
  void bound_savings(std::uint32_t place);
  void bound_neighbours(std::uint32_t place, std::uint32_t most);
  void bound_parts();
  PartBound bound_part(std::uint32_t number);

  // model_network.cpp: eq. 5 and the dependencies' maxNetworkCost.
  void add_egress();
  void add_links();
  void limit_link(std::uint32_t from, std::uint32_t to, double room);
  void limit_costs();
  void keep_near(std::uint32_t a, std::uint32_t b, double most);

  // model_symmetry.cpp: of solutions that differ by names of nodes only, one.
  void order_alike();
  std::pair<std::string, std::vector<std::uint32_t>> label(std::uint32_t part);
  std::string label_of_node(std::uint32_t node) const;
  bool zones_differ() const;

  std::uint32_t classes() const { return static_cast<std::uint32_t>(model_.classes_.classes.size()); }
  const PodClasses::Class& class_of(std::uint32_t one) const { return model_.classes_.classes[one]; }
  bool is_fixed(std::uint32_t one) const { return class_of(one).is_fixed(); }
  const Tie& tie(std::uint32_t from, std::uint32_t to) const { return model_.classes_.tie(from, to); }
  const scheduling::GroupProblem::Pod& pod_of(std::uint32_t one) const {
    return problem_.pods[class_of(one).pods.front()];
  }

  const scheduling::GroupProblem& problem_;
  CostTree tree_;
  PlacementModel& model_;
  MixedProgram& program_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> place_numbers_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Ones> ones_;  // by class and place
  // By two classes and place: the first column of the pairs of ones, row by row of the first class's.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> pairs_;
  std::map<std::uint32_t, std::vector<double>> densest_;  // by place: the most weight among so many pods
  std::vector<std::vector<std::uint32_t>> rules_of_;      // rules of Apart, by class
};

}  // namespace evenkeel::optimum
