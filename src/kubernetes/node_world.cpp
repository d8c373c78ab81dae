#include "kubernetes/node_world.h"

#include <utility>

namespace evenkeel::kubernetes {
namespace {

ClusterFeed::Options feed_options(const NodeWorld::Options& options) {
  ClusterFeed::Options feed;
  feed.scheduler_names = options.scheduler_names;
  feed.namespaces = options.namespaces;
  return feed;
}

void add(NodeWorld::Counts& sum, const ListWatch& follow) {
  sum.events += follow.counts().events;
  sum.watches += follow.counts().watches;
  sum.lists += follow.counts().lists;
}

}  // namespace

NodeWorld::NodeWorld(ApiConnection& connection, Options options, Log log)
    : connection_(connection),
      options_(std::move(options)),
      log_(std::move(log)),
      feed_(feed_options(options_), log_),
      node_(follow(types::nodes(), "metadata.name=" + options_.node,
                   [this](const ObjectChange& change) { feed_.apply(types::nodes(), change); })),
      pods_(follow(types::pods(), "spec.nodeName=" + options_.node,
                   [this](const ObjectChange& change) { feed_.apply(types::pods(), change); })) {}

NodeWorld::~NodeWorld() = default;

std::unique_ptr<ListWatch> NodeWorld::follow(const ResourceType& type, const std::string& fields,
                                             std::function<void(const ObjectChange&)> changed) {
  ListWatch::Options options;
  options.field_selector = fields;
  options.seed = options_.seed;
  ListWatch::Handlers handlers;
  handlers.changed = std::move(changed);
  handlers.synced = [] {};
  handlers.trouble = log_;
  return std::make_unique<ListWatch>(connection_, type, options, std::move(handlers));
}

void NodeWorld::start() {
  started_ = true;
  node_->start();
  pods_->start();
  for (const auto& waiting : waiting_) waiting->start();
}

void NodeWorld::watch_waiting(bool watches) {
  if (watches == watches_waiting()) return;
  if (watches) {
    for (const std::string& scheduler : options_.scheduler_names) {
      waiting_.push_back(follow(types::pods(), "spec.nodeName=,spec.schedulerName=" + scheduler,
                                [this](const ObjectChange& change) { waiting_changed(change); }));
      if (started_) waiting_.back()->start();
    }
    return;
  }
  for (const auto& waiting : waiting_) add(past_, *waiting);
  waiting_.clear();
  std::vector<ObjectChange> gone;
  feed_.each_waiting([&](const ClusterFeed::KnownPod& known) {
    ObjectChange change;
    change.type = ObjectChange::Type::deleted;
    change.object.identity = {known.pod.shape->name_space, known.pod.name, known.pod.uid, ""};
    gone.push_back(std::move(change));
  });
  for (const ObjectChange& change : gone) feed_.apply(types::pods(), change);
}

// One that was bound is deleted for those who follow what waits. Where it was bound to this node the other
// watch may have told so before, and then whatever comes here of it is older: a pod never waits again. That
// holds while its node is away, too: nobody tells of the pod again when that comes back. And it holds for
// earlier pods of its name; a later one is told of again, at the latest when it is bound here or asked about.
void NodeWorld::waiting_changed(const ObjectChange& change) {
  const ObjectIdentity& identity = change.object.identity;
  if (!feed_.is_bound(identity.name_space, identity.name)) feed_.apply(types::pods(), change);
}

std::span<const ClusterEvent> NodeWorld::take_events() {
  lent_.clear();
  lent_samples_.clear();
  if (synced()) {
    std::swap(lent_, feed_.events());
    std::swap(lent_samples_, feed_.samples());
  }
  return lent_;
}

NodeWorld::Counts NodeWorld::counts() const {
  Counts sum = past_;
  add(sum, *node_);
  add(sum, *pods_);
  for (const auto& waiting : waiting_) add(sum, *waiting);
  return sum;
}

}  // namespace evenkeel::kubernetes
