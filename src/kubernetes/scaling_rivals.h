#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubernetes/workload_scaler.h"

namespace evenkeel::kubernetes {

// Who scales what. Two that scale the same target would undo each other's work for ever: an HPA was asked for
// by somebody and keeps it; of WorkloadScalers in mode Auto the eldest does.
class ScalingRivals {
 public:
  // Everything is known by namespace/name. They answer with the scalers for whom something may have changed.
  std::vector<std::string> set_hpa(const std::string& key, const std::string& name_space,
                                   const ScalerSpec::Target& target);
  std::vector<std::string> drop_hpa(const std::string& key);
  std::vector<std::string> set_scaler(const WorkloadScaler& scaler);
  std::vector<std::string> drop_scaler(const std::string& key);

  // Empty: nobody.
  std::string rival_of(const std::string& scaler) const;
  bool has_scaler(const std::string& name_space, const ScalerSpec::Target& target) const;

 private:
  struct Entry {
    std::pair<Time, std::string> age;  // and who of two of the same age is first
    bool acts = false;
  };
  struct Shared {
    std::set<std::string> hpas;
    std::map<std::string, Entry> scalers;
  };
  static std::string place_of(const std::string& name_space, const ScalerSpec::Target& target);
  std::vector<std::string> concerned(const std::string& place) const;
  void leave(const std::string& place);

  std::map<std::string, Shared> places_;                     // by target
  std::map<std::string, std::string> hpas_at_, scalers_at_;  // where each is
};

}  // namespace evenkeel::kubernetes
