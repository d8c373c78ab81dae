#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kubernetes/api_connection.h"
#include "kubernetes/writes.h"

namespace evenkeel::kubernetes {

// Patches and evictions, sent only by who may write at the very moment they go out.
class NetworkWriter {
 public:
  struct Counts {
    std::uint64_t written = 0, conflicts = 0, failures = 0;
    std::uint64_t evicted = 0, forbidden = 0, not_evicted = 0;  // forbidden: by a disruption budget
  };
  enum class Outcome : std::uint8_t { done, refused, forbidden };

  NetworkWriter(ApiConnection& connection, std::function<bool()> may_write)
      : connection_(connection), may_write_(std::move(may_write)) {}

  // `done` with the object as it is now, or with what went wrong.
  void patch(const ResourceType& type, const std::string& name_space, const std::string& name,
             std::string body, std::function<void(const ApiAnswer&)> done);
  // Through the Eviction API: 429 means that a PodDisruptionBudget says no, and that is that.
  void evict(const PodReference& pod, std::function<void(Outcome, const std::string& why)> done);

  std::size_t outstanding() const { return outstanding_; }
  const Counts& counts() const { return counts_; }

 private:
  void call(ApiRequest request, std::function<void(const ApiAnswer&)> done);

  ApiConnection& connection_;
  std::function<bool()> may_write_;
  std::size_t outstanding_ = 0;
  Counts counts_;
  // Answers that come after the end find it expired.
  std::shared_ptr<NetworkWriter*> alive_ = std::make_shared<NetworkWriter*>(this);
};

}  // namespace evenkeel::kubernetes
