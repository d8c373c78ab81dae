#pragma once
#include <map>
#include <string>

#include "simulated_api_server.h"

namespace evenkeel::faults {

// What one process has been told, object by object: what it can be blamed for not minding. Whatever was cut
// off, lost or is still under way is not in here.
class ProcessKnowledge {
 public:
  void told(const Kind& kind, const SimulatedApiServer::Frame& frame);
  void told(const SimulatedApiServer::Listing& page);

  const std::map<std::string, StoredPtr>& objects(const Kind& kind) const;
  StoredPtr object(const Kind& kind, const std::string& key) const;
  bool is_complete(const Kind& kind) const;  // a list was read to its end

 private:
  struct OfKind {
    std::map<std::string, StoredPtr> objects;
    std::map<std::string, StoredPtr> listing;  // what the list in progress named so far
    bool is_complete = false;
  };
  std::map<const Kind*, OfKind> kinds_;
};

}  // namespace evenkeel::faults
