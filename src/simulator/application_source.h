#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/yaml_reader.h"
#include "simulator/application.h"
#include "simulator/places.h"
#include "simulator/world_plan.h"

namespace evenkeel::simulator {

// Applications whose pods talk to each other, rolled out on a cluster of several zones and regions: Diktyo's
// experiments (seed paper 004, section VI-A).
//
//   workload:
//     kind: applications
//     app: online-boutique     # or several: [basic, redis-cluster]
//     replicas: 2              # of every workload that does not say how many it has
//     copies: 1                # so many applications of each
//     anti_affinity: none      # pod: a workload's replicas on different nodes (eq. 9); zone: in different
//                              # zones (eq. 10)
//     bandwidth: false         # true: dependencies ask for theirs (minBandwidth, eq. 5)
//     background: 0.3          # so much of every CPU there is belongs to pods of others, put anywhere by the
//     seed sort: KahnSort           # the groups' topologySortingAlgorithm gang: false              # all of
//     a group's pods are placed, or none arrivals: together       # all pods at once in an order that the
//     seed draws; or one-by-one: an application
//                              # each second, likewise
//     edges: FILE              # other applications than `apps`, see application.h
//     services: FILE
//     usual: {cpu: 250m, memory: 256MiB}      # of services whose requests the files do not name
//     apps: …
//   network: …                 # see places.h
//
// A pod's bandwidth is shared evenly by all pods that it sends to. The topology is called nt-default, the
// groups like the applications. Pods run on until the world ends, two minutes after the last arrival unless
// the scenario says when.
class ApplicationSource {
 public:
  // Null after an error, which stays with the readers.
  static std::shared_ptr<const ApplicationSource> read(YamlReader& workload, YamlReader& root);

  std::string description() const;
  bool makes_nodes() const { return places_.traced(); }
  // `pattern`: what nodes of a trace look like.
  void add_to(WorldPlan& plan, const NodePlan& pattern, std::uint64_t seed) const;

 private:
  enum class Apart { no, by_node, by_zone };
  ApplicationSource() = default;
  bool choose_apps(YamlReader& workload, std::vector<Application> all);
  void add_background(WorldPlan& plan, Random random) const;
  AppGroup group_of(const Application& app, const std::string& name) const;
  std::shared_ptr<const PodTemplate> shape_of(const ApplicationWorkload& workload, const std::string& group,
                                              WorldPlan& plan) const;

  std::vector<Application> apps_;
  Places places_;
  std::string files_;
  std::int64_t replicas_ = 1, copies_ = 1;
  Apart apart_ = Apart::no;
  bool bandwidth_ = false, gang_ = false, one_by_one_ = false;
  double background_ = 0;
  std::string sort_;
};

}  // namespace evenkeel::simulator
