#pragma once
#include <functional>
#include <string>

#include "kubernetes/list_watch.h"
#include "kubernetes/stage_record.h"

namespace evenkeel::kubernetes {

inline constexpr const char* kStageConfigMap = "evenkeel-stage";

// Follows the one ConfigMap that says how far learned policies may go, and tells of every change at once.
class StageWatch {
 public:
  struct Seen {
    bool exists = false;
    StageRecords records{};
    std::string trouble{};  // the object as a whole cannot be read
  };
  // `seen` after the first list, and whenever it changed; `trouble` as ListWatch's.
  StageWatch(ApiConnection& connection, const std::string& name_space, std::function<void(const Seen&)> seen,
             std::function<void(const std::string&)> trouble);

  void start() { watch_.start(); }
  bool synced() const { return watch_.synced(); }

 private:
  void changed(const ObjectChange& change);

  std::function<void(const Seen&)> seen_;
  Seen last_;
  ListWatch watch_;
};

}  // namespace evenkeel::kubernetes
