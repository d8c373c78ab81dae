#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api_request_parts.h"
#include "api_storage.h"
#include "kubernetes/api_connection.h"
#include "virtual_time.h"

namespace evenkeel::faults {

// A write as the server executed or refused it.
struct Write {
  std::string process;
  const kubernetes::ApiRequest* request = nullptr;
  const RequestParts* parts = nullptr;
  const json* body = nullptr;
  StoredPtr before;  // the object meant, as it was
  int code = 0;
};

// What an API server does with a request, at once and without faults: objects of every kind a scheduler
// follows, versions, pages, watches, bindings, evictions, leases. Delays, losses and refusals are the
// connection's (simulated_connection.h). Where Kubernetes has a rule a scheduler can run into, this has it
// too.
class SimulatedApiServer {
 public:
  explicit SimulatedApiServer(VirtualTime& clock);

  ApiStorage& storage() { return storage_; }
  Kind& kind(const kubernetes::ResourceType& type) { return storage_.kind(type); }
  VirtualTime& clock() { return clock_; }

  kubernetes::ApiAnswer execute(const std::string& process, const kubernetes::ApiRequest& request);

  // A watch is a place in the history of one kind.
  struct Watch {
    Kind* kind = nullptr;
    Selector selector;
    std::string name_space;
    std::uint64_t seen = 0;   // everything up to this version was told
    bool from_start = false;  // "0": what there is comes first
  };
  struct Frame {
    std::string text;  // with its line break
    StoredPtr object;  // what it tells of; absent for bookmarks
    bool is_deletion = false;
  };
  // Refused where `second` has a code.
  std::pair<Watch, kubernetes::ApiStatus> open_watch(const kubernetes::ApiRequest& request);
  // What the watch was not told yet. Nothing: history was compacted under it.
  std::optional<std::vector<Frame>> news(Watch& watch);
  Frame bookmark(Watch& watch) const;
  static Frame expired();

  // Objects a list answer holds, for whoever wants to know what a process was told.
  struct Listing {
    Kind* kind = nullptr;
    std::vector<StoredPtr> objects;
    bool is_first = false, is_last = false;
  };

  // Pages in progress are forgotten, as after five minutes or a compaction.
  void expire_pages() { pages_.clear(); }
  // Open watches that keep up lose nothing: `compacting` is where they catch up.
  void compact();
  std::function<void()> compacting = [] {};

  // As an admission policy for bindings: why it is turned away; empty: it is not.
  std::function<std::string(const json& binding)> admits_binding = [](const json&) { return ""; };
  std::function<void(const Write&)> wrote = [](const Write&) {};
  // The last list executed, page by page: what exactly was in the answer.
  const Listing& last_listing() const { return last_listing_; }
  std::size_t events_written() const { return events_written_; }

  // Deletion as the API does it: a pod on a node is told to end, its kubelet removes it.
  void delete_pod(const StoredPtr& pod, Duration grace);

 private:
  using Answer = kubernetes::ApiAnswer;
  struct Pages {
    std::vector<StoredPtr> objects;
    std::uint64_t version = 0;
  };

  Answer list(Kind& kind, const RequestParts& parts);
  Answer create(Kind& kind, const RequestParts& parts, json body);
  Answer replace(Kind& kind, const StoredPtr& old, json body);
  Answer patch(Kind& kind, const StoredPtr& old, const std::string& content_type, const json& body);
  Answer remove(Kind& kind, const StoredPtr& old, const json& options);
  Answer bind(Kind& pods, const StoredPtr& pod, const json& binding);
  Answer evict(const StoredPtr& pod, const json& eviction);
  Answer write(Kind& kind, const RequestParts& parts, const kubernetes::ApiRequest& request,
               const json& body);
  Answer write_event(const kubernetes::ApiRequest& request, const RequestParts& parts, const json& body);

  VirtualTime& clock_;
  ApiStorage storage_;
  std::map<std::string, Pages> pages_;  // by token
  std::map<std::string, bool> events_;  // names
  std::uint64_t tokens_ = 0;
  std::size_t events_written_ = 0;
  Listing last_listing_;
};

// What a request carries, in whatever form; nothing where it cannot be read.
std::optional<json> request_body(const kubernetes::ApiRequest& request);
kubernetes::ApiAnswer refusal(int code, std::string reason, std::string message,
                              std::int64_t retry_after = 0);

}  // namespace evenkeel::faults
