#include "apps/controllers_live.h"

#include <algorithm>
#include <utility>

#include "controllers/group_status.h"
#include "kubernetes/network_document.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using kubernetes::ResourceType;
constexpr Duration kGather = 200ms;  // a rollout is many changes at once
constexpr Duration kFirstPause = 500ms, kLongestPause = 1min;
constexpr Duration kLongestPressure = 1h;
constexpr Duration kReleaseWithin = 2s;
constexpr std::size_t kMostStrays = 10'000;
constexpr const char* kReporter = "evenkeel-controllers";

kubernetes::EventRecorder::Options event_options(const LiveControllersOptions& options) {
  kubernetes::EventRecorder::Options events;
  events.on = options.events && options.writes;
  events.host = options.host;
  return events;
}

}  // namespace

LiveControllers::LiveControllers(kubernetes::ApiConnection& connection, LiveControllersOptions options)
    : connection_(connection),
      options_(std::move(options)),
      events_(connection, event_options(options_)),
      writer_(connection, [this] { return options_.writes && leading(); }),
      follower_(connection, *this, options_.seed, options_.log) {
  if (options_.elect && options_.writes) {
    election_ = std::make_unique<kubernetes::LeaderElector>(connection_, options_.election, options_.log);
    election_->on_change([this] { note_change(); });
    election_->start();
  }
  follower_.start();
}

LiveControllers::~LiveControllers() = default;

void LiveControllers::note_change() {
  if (!work_at_) work_at_ = connection_.now() + kGather;
}

void LiveControllers::node_set(const std::string& name, Place place) {
  book_.set_node(name, std::move(place));
  note_change();
}
void LiveControllers::node_gone(const std::string& name) {
  book_.drop_node(name);
  note_change();
}
void LiveControllers::pod_set(NetworkPod pod) {
  book_.set_pod(std::move(pod));
  note_change();
}
void LiveControllers::pod_gone(const std::string& key) {
  book_.drop_pod(key);
  note_change();
}

void LiveControllers::group_set(const kubernetes::WireObject& object) {
  const std::string key = object.identity.key();
  Object& known = groups_[key];
  known.seen = object;
  known.is_due = true;
  auto group = kubernetes::read_group_document(object.json);
  if (group) {
    group->order.clear();  // what we say ourselves is no news
    book_.set_group(*std::move(group));
  } else {
    book_.drop_group(key);  // what cannot be understood is not acted upon, not even as it was before
  }
  note_change();
}
void LiveControllers::group_gone(const std::string& key) {
  groups_.erase(key);
  book_.drop_group(key);
  note_change();
}

void LiveControllers::topology_set(const kubernetes::WireObject& object) {
  Topology& known = topologies_[object.identity.key()];
  known.seen = object;
  known.is_due = true;
  note_change();
}
void LiveControllers::topology_gone(const std::string& key) {
  topologies_.erase(key);
  note_change();
}
void LiveControllers::measurements_changed(const std::string& key) {
  for (auto& [name, topology] : topologies_)
    if (topology.config_map == key) topology.is_due = true;
  note_change();
}

bool LiveControllers::is_settled() const {
  const bool has_work = work_at_ && *work_at_ <= connection_.now() + kGather;
  if (!synced() || has_work || writer_.outstanding() > 0) return false;
  const auto rests = [](const Object& object) { return !object.is_due && !object.is_writing; };
  return std::ranges::all_of(groups_, [&](const auto& entry) { return rests(entry.second); }) &&
         std::ranges::all_of(topologies_, [&](const auto& entry) { return rests(entry.second); });
}

void LiveControllers::turn(Time deadline) {
  const Time now = connection_.now();
  const Time until = work_at_ ? std::min(deadline, std::max(now, *work_at_)) : deadline;
  const bool had_work = work_at_.has_value();
  connection_.run_for(std::max(until - now, Duration::zero()),
                      [&] { return !had_work && work_at_.has_value(); });
  if (election_ && leading() != was_leading_) {
    was_leading_ = leading();
    options_.log(was_leading_ ? "leading: writing from here on" : "not leading: following only");
    for (auto& [key, object] : groups_) object.is_due = true;
    for (auto& [key, object] : topologies_) object.is_due = true;
    note_change();
  }
  const Time later = connection_.now();
  if (leading() && later >= next_period_) note_change();
  if (!work_at_ || later < *work_at_) return;
  work(later);
}

void LiveControllers::work(Time now) {
  // Which ConfigMaps there are to follow is known from topologies alone.
  std::vector<std::string> maps;
  for (auto& [key, topology] : topologies_) {
    if (!topology.is_due) {
      if (!topology.config_map.empty()) maps.push_back(topology.config_map);
      continue;
    }
    auto named = kubernetes::read_topology_document(topology.seen.json);
    topology.read = named ? std::optional(named->topology) : std::nullopt;
    topology.config_map = named && !named->topology.config_map.empty()
                              ? named->topology.name_space + "/" + named->topology.config_map
                              : "";
    if (!topology.config_map.empty()) maps.push_back(topology.config_map);
  }
  follower_.follow_config_maps(maps);
  work_at_.reset();
  if (!synced()) return;
  if (!was_synced_) {
    was_synced_ = true;
    options_.log("every kind is listed: " + std::to_string(groups_.size()) + " AppGroups, " +
                 std::to_string(topologies_.size()) + " NetworkTopologies, " +
                 std::to_string(book_.pods().size()) + " pods of groups");
  }
  if (!leading()) return;
  const bool is_periodic = now >= next_period_;
  if (is_periodic) next_period_ = now + options_.period;
  for (const std::string& key : book_.take_changed()) {
    if (const auto at = groups_.find(key); at != groups_.end())
      at->second.is_due = true;
    else
      tell_strays(key);
  }
  counts_.constrained = counts_.troubled = 0;
  for (auto& [key, object] : groups_) {
    if (object.is_due) look_at_group(key, object, now);
    counts_.troubled += object.is_troubled ? 1 : 0;
  }
  // What is allocated may have changed whoever it was that changed.
  for (auto& [key, topology] : topologies_) {
    look_at_topology(key, topology, is_periodic, now);
    counts_.troubled += topology.is_troubled ? 1 : 0;
  }
}

void LiveControllers::look_at_group(const std::string& key, Object& object, Time now) {
  if (object.is_writing) return;
  if (now < object.not_before) return note_change();
  ++counts_.looks;
  const ResourceType type = kubernetes::types::app_groups();
  const AppGroup* group = book_.group(key);
  object.is_troubled = !group;
  if (group) {
    const AppGroupStatus status = controllers::status_of(*group, book_.members(key));
    tell(type, object, status.conditions);
    return write(type, key, object, kubernetes::group_patch(object.seen.json, status, now));
  }
  const auto read = kubernetes::read_group_document(object.seen.json);
  const std::string trouble = read ? "" : read.error().message;
  tell(type, object, {{"Valid", false, "Unreadable", trouble}});
  write(type, key, object, kubernetes::trouble_patch(object.seen.json, trouble, now));
}

void LiveControllers::look_at_topology(const std::string& key, Topology& topology, bool is_periodic,
                                       Time now) {
  if (topology.is_writing) {
    topology.is_due = true;
    return;
  }
  if (now < topology.not_before) return note_change();
  ++counts_.looks;
  const ResourceType type = kubernetes::types::network_topologies();
  topology.is_troubled = !topology.read;
  if (!topology.read) {
    const auto read = kubernetes::read_topology_document(topology.seen.json);
    const std::string trouble = read ? "" : read.error().message;
    tell(type, topology, {{"Valid", false, "Unreadable", trouble}});
    return write(type, key, topology, kubernetes::trouble_patch(topology.seen.json, trouble, now));
  }
  const LinkLoads& loads = book_.loads();
  const auto* measurements = follower_.measurements(topology.config_map);
  const controllers::TopologyPlan plan = controllers::plan_topology(
      {*topology.read, book_.places(), loads, measurements,
       measurements ? "" : follower_.why_no_measurements(topology.config_map), options_.percentile});
  counts_.constrained += plan.constrained.size();
  tell(type, topology, plan.conditions);
  kubernetes::TopologyContent content;
  content.measured = plan.measured ? &*plan.measured : nullptr;
  content.loads = &loads;
  content.nodes = static_cast<std::int64_t>(book_.places().size());
  content.conditions = plan.conditions;
  content.is_recalculated = is_periodic;
  write(type, key, topology, kubernetes::topology_patch(topology.seen.json, content, now));
  if (options_.evicts)
    for (const controllers::ConstrainedLink& link : plan.constrained) relieve(link, now);
  if (plan.constrained.empty())
    std::erase_if(pressures_, [&](const auto& one) { return now > one.second.not_before; });
}

void LiveControllers::write(const ResourceType& type, const std::string& key, Object& object,
                            const Result<std::optional<std::string>>& patch) {
  object.is_due = false;
  if (!patch) return options_.log(type.kind + " " + key + ": " + patch.error().message);
  if (!*patch) {
    object.failures = 0;
    return;
  }
  if (!options_.writes) {
    if (std::exchange(object.told, **patch) != **patch)
      options_.log("would patch " + type.kind + " " + key + ": " + **patch);
    return;
  }
  object.is_writing = true;
  writer_.patch(type, object.seen.identity.name_space, object.seen.identity.name, **patch,
                [this, type, key](const kubernetes::ApiAnswer& answer) { wrote(type, key, answer); });
}

LiveControllers::Object* LiveControllers::find(const ResourceType& type, const std::string& key) {
  if (type.kind == kubernetes::types::app_groups().kind) {
    const auto at = groups_.find(key);
    return at == groups_.end() ? nullptr : &at->second;
  }
  const auto at = topologies_.find(key);
  return at == topologies_.end() ? nullptr : &at->second;
}

void LiveControllers::wrote(const ResourceType& type, const std::string& key,
                            const kubernetes::ApiAnswer& answer) {
  Object* object = find(type, key);
  if (!object) return;  // gone meanwhile
  object->is_writing = false;
  if (answer.ok()) {
    object->failures = 0;
    if (object->is_due) note_change();
    // Looked at as written, before the watch has told: else the next look would write against an old version.
    auto now = kubernetes::read_object(kubernetes::WireFormat::json, answer.body);
    if (now && now->identity.uid == object->seen.identity.uid) object->seen = *std::move(now);
    return;
  }
  object->is_due = true;
  Duration pause = kFirstPause;
  for (int i = 0; i < object->failures && pause < kLongestPause; ++i) pause *= 2;
  object->not_before = connection_.now() + std::min(pause, kLongestPause);
  ++object->failures;
  if (answer.code != 409 && answer.code != 404 && leading())
    options_.log(type.kind + " " + key + " could not be written: " + answer.error().message);
  note_change();
}

void LiveControllers::tell(const ResourceType& type, Object& object,
                           const std::vector<NetworkCondition>& conditions) {
  if (!options_.writes) return;
  std::string told;
  for (const NetworkCondition& one : conditions) {
    const bool is_trouble = one.type == "BandwidthConstrained" ? one.is_true : !one.is_true;
    // Pods that are not there yet are no news: every application starts that way.
    if (!is_trouble || one.reason == "PodsMissing" || one.reason == "NoConfigMap") continue;
    told += one.reason + one.message;
    if (object.told.find(one.reason + one.message) != std::string::npos) continue;
    kubernetes::EventRecord event;
    event.kind = type.kind;
    event.api_version = type.api_version;
    event.about = {object.seen.identity.name_space, object.seen.identity.name, object.seen.identity.uid};
    event.is_warning = true;
    event.reason = one.reason;
    event.action = "Reconciling";
    event.reporter = kReporter;
    event.message = one.message.substr(0, 1000);
    events_.record_repeating(std::move(event));
  }
  object.told = std::move(told);
}

// Pods whose label means no group at all: nobody but they can be told.
void LiveControllers::tell_strays(const std::string& group_key) {
  if (strays_.size() > kMostStrays) strays_.clear();
  for (const NetworkPod* pod : book_.members(group_key)) {
    if (pod->group.empty() || !options_.writes || !strays_.insert(pod->uid).second) continue;
    kubernetes::EventRecord event;
    event.about = {pod->name_space, pod->name, pod->uid};
    event.is_warning = true;
    event.reason = "AppGroupNotFound";
    event.action = "Reconciling";
    event.reporter = kReporter;
    event.message = "label " + std::string(kAppGroupLabel) + ": there is no readable AppGroup " + group_key;
    events_.record_repeating(std::move(event));
  }
}

// One pod at a time, and another only when what it was good for can be seen.
void LiveControllers::relieve(const controllers::ConstrainedLink& link, Time now) {
  Pressure& pressure = pressures_[link.link];
  if (now < next_eviction_ || now < pressure.not_before) {
    work_at_ = std::min(work_at_.value_or(Time::max()), std::max(next_eviction_, pressure.not_before));
    return;
  }
  std::erase_if(spared_, [&](const auto& entry) { return entry.second < now; });
  std::set<std::string> spared;
  for (const auto& [uid, until] : spared_) spared.insert(uid);
  const auto chosen = controllers::choose_evictions(book_, link, 1, spared);
  if (chosen.empty()) {  // nobody may be asked; those that budgets kept, again later
    for (const auto& [uid, until] : spared_)
      work_at_ = std::min(work_at_.value_or(Time::max()), until + kGather);
    return;
  }
  // Whom it did not help to send away is back in the same place: there is less and less point in going on.
  const bool helped = pressure.load == 0 || link.allocated.count < pressure.load;
  pressure.pause = helped ? options_.evict_every : std::min<Duration>(2 * pressure.pause, kLongestPressure);
  pressure.load = link.allocated.count;
  pressure.not_before = now + pressure.pause;
  next_eviction_ = now + options_.evict_every;
  work_at_ = std::min(work_at_.value_or(Time::max()), next_eviction_);
  const NetworkPod& pod = chosen.front().pod;
  const std::string why = chosen.front().why;
  spared_[pod.uid] = now + 2 * options_.evict_every;
  if (!options_.writes) return options_.log("would evict " + pod.key() + ": " + why);
  writer_.evict({pod.name_space, pod.name, pod.uid},
                [this, pod, why, link = link.link](kubernetes::NetworkWriter::Outcome outcome,
                                                   const std::string& text) {
                  if (outcome != kubernetes::NetworkWriter::Outcome::done) {
                    next_eviction_ = connection_.now();  // somebody else may be asked
                    pressures_.erase(link);
                    note_change();
                    return options_.log(pod.key() + ": not evicted: " + text);
                  }
                  options_.log(pod.key() + ": evicted: " + why);
                  kubernetes::EventRecord event;
                  event.about = {pod.name_space, pod.name, pod.uid};
                  event.reason = "Evicted";
                  event.action = "Evicting";
                  event.reporter = kReporter;
                  event.message = why;
                  events_.record(std::move(event));
                });
}

void LiveControllers::stop(Duration at_most) {
  const auto is_done = [&] { return writer_.outstanding() == 0 && events_.waiting() == 0; };
  connection_.run_for(at_most, is_done);
  is_stopping_ = true;
  bool released = !election_;
  if (election_) election_->release([&] { released = true; });
  connection_.run_for(kReleaseWithin, [&] { return released; });
}

}  // namespace evenkeel::apps
