#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/label_selector.h"
#include "kubernetes/resource_type.h"

namespace evenkeel::kubernetes {

// What GET …/scale says.
struct ScaleReading {
  std::string resource_version;
  std::int32_t wanted = 0, there = 0;  // spec.replicas, status.replicas
  std::string selector;                // as kubectl's -l has it; empty: the kind tells none
};
Result<ScaleReading> read_scale(std::string_view json);

// Which resource a kind is, and whether it can be scaled, by the API's own discovery. Asked once for each
// group and version; what is not found is asked again later, since CRDs come and go.
class ScaleTargets {
 public:
  using Done = std::function<void(const Result<ResourceType>&)>;

  explicit ScaleTargets(ApiConnection& connection);
  // `done` at once where the answer is known, else in a later turn.
  void find(const std::string& api_version, const std::string& kind, const Done& done);

 private:
  struct Version {
    std::map<std::string, ResourceType> by_kind;  // those that have a scale subresource
    std::vector<std::string> others;              // kinds that have none
    std::vector<std::pair<std::string, Done>> waiting;
    bool is_asking = false;
    std::optional<Time> asked;
    std::string trouble;
  };
  void ask(const std::string& api_version);
  void answered(const std::string& api_version, const ApiAnswer& answer);
  static Result<ResourceType> look_up(const Version& version, const std::string& api_version,
                                      const std::string& kind);

  ApiConnection& connection_;
  std::map<std::string, Version> versions_;
  std::shared_ptr<ScaleTargets*> alive_ = std::make_shared<ScaleTargets*>(this);
};

}  // namespace evenkeel::kubernetes
