#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/backoff.h"
#include "kubernetes/reflector.h"
#include "kubernetes/resource_type.h"
#include "kubernetes/watch_frames.h"

namespace evenkeel::kubernetes {

// Follows one kind of object on a server, for ever: a Reflector with a network. Handlers are called from
// within the event loop, and must not destroy it.
class ListWatch {
 public:
  struct Options {
    std::string name_space;  // empty: all
    std::string field_selector, label_selector;
    int page_size = 500;
    // The server ends a watch after this long, up to twice as long by chance.
    Duration watch_time = std::chrono::minutes(5);
    std::optional<WireFormat> format;  // absent: the best the kind has
    std::uint64_t seed = 0;
    Backoff::Options backoff{};
    // A server that does not know the kind, or does not show it to us, has none of it: asked again now and
    // then.
    bool may_be_absent = false;
  };
  struct Handlers {
    std::function<void(const ObjectChange&)> changed;
    std::function<void()> synced;                     // once, after the first whole list
    std::function<void(const std::string&)> trouble;  // refusals, lost connections, unreadable objects
  };
  struct Counts {
    std::uint64_t lists = 0, pages = 0, watches = 0, events = 0, bookmarks = 0, damaged = 0;
  };

  ListWatch(ApiConnection& client, ResourceType type, Options options, Handlers handlers);
  ~ListWatch();
  ListWatch(const ListWatch&) = delete;
  ListWatch& operator=(const ListWatch&) = delete;

  void start() { step(); }
  // Lists anew, all that is stored at this moment at least: `done` when every change has been told.
  void refresh(std::function<void()> done);

  bool synced() const { return reflector_.synced(); }
  const Counts& counts() const { return counts_; }
  const ResourceType& type() const { return type_; }

 private:
  void step();
  void ask(const Reflector::Request& request);
  void ask_list(const Reflector::Request& request);
  void ask_watch(const Reflector::Request& request);
  void read_frames();
  void refused(const ApiStatus& status);
  void is_absent(const ApiStatus& status);
  void tell(const std::vector<ObjectChange>& changes);
  std::string query(const std::string& rest) const;

  ApiConnection& client_;
  ResourceType type_;
  Options options_;
  Handlers handlers_;
  Reflector reflector_;
  Random random_;
  WireFormat format_;
  std::optional<WatchFrames> frames_;
  Counts counts_;
  ApiConnection::StreamId stream_ = 0;
  Time opened_{};  // the stream, if frames_ are there
  ApiConnection::TimerId timer_ = 0;
  bool is_listing_ = false;       // an answer to a list is awaited
  bool must_list_again_ = false;  // what that answer holds may be too old
  std::function<void()> refreshed_;
  // Answers that come after the end find it expired.
  std::shared_ptr<ListWatch*> alive_ = std::make_shared<ListWatch*>(this);
};

}  // namespace evenkeel::kubernetes
