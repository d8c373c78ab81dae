#include "kubernetes/scaling_world.h"

#include <algorithm>
#include <utility>

#include "base/match.h"
#include "kubernetes/scaling_convert.h"
#include "kubernetes/scaling_rules.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
constexpr Duration kLongestWait = 1h;
constexpr const char* kHpa = "hpa:";  // no namespace is called like that

}  // namespace

KubernetesScalingWorld::KubernetesScalingWorld(ApiConnection& connection, ServiceMeter& meter,
                                               Options options, Log log)
    : connection_(connection),
      meter_(meter),
      options_(std::move(options)),
      log_(std::move(log)),
      events_(connection, options_.events),
      targets_(connection),
      writer_(connection, [this] { return options_.writes && leads_(); }, log_) {}

KubernetesScalingWorld::~KubernetesScalingWorld() {
  if (timer_ != 0) connection_.cancel_timer(timer_);
}

void KubernetesScalingWorld::follow(const ResourceType& type,
                                    std::function<void(const ObjectChange&)> changed) {
  ListWatch::Options options;
  options.seed = options_.seed;
  ListWatch::Handlers handlers;
  handlers.changed = std::move(changed);
  handlers.synced = [this, kind = type.kind] {
    ++synced_;
    if (options_.cluster && kind == types::pods().kind) options_.cluster->pods_synced();
  };
  handlers.trouble = log_;
  follows_.push_back(std::make_unique<ListWatch>(connection_, type, options, std::move(handlers)));
}

void KubernetesScalingWorld::start() {
  started_ = true;
  follow(types::horizontal_pod_autoscalers(), [this](const ObjectChange& change) { hpa_changed(change); });
  follow(types::pods(), [this](const ObjectChange& change) {
    if (const Status applied = pods_.apply(change); !applied) log_(applied.error().message);
    if (options_.cluster) options_.cluster->pod_changed(change);
  });
  const auto follow_scalers = [this] {
    follow(types::workload_scalers(), [this](const ObjectChange& change) { scaler_changed(change); });
  };
  if (!options_.follows_hpas) {
    follow_scalers();
    for (const auto& kind : follows_) kind->start();
    return;
  }
  // Who only looks need not have installed anything.
  ApiRequest request;
  request.path = "/apis/" + types::workload_scalers().api_version;
  connection_.call(std::move(request),
                   [this, follow_scalers, self = std::weak_ptr(alive_)](const ApiAnswer& answer) {
                     if (!self.lock()) return;
                     if (answer.code == 404)
                       log_("no WorkloadScalers here (deploy/crds): HorizontalPodAutoscalers are looked at");
                     else
                       follow_scalers();
                     for (const auto& kind : follows_) kind->start();
                   });
}

const KubernetesScalingWorld::Known* KubernetesScalingWorld::find(ScalerId id) const {
  if (id.slot >= known_.size() || known_[id.slot].id != id || !known_[id.slot].scaler) return nullptr;
  return &known_[id.slot];
}

KubernetesScalingWorld::Known* KubernetesScalingWorld::find(ScalerId id) {
  return const_cast<Known*>(std::as_const(*this).find(id));
}

std::vector<ScalerId> KubernetesScalingWorld::ids() const {
  std::vector<ScalerId> all;
  for (const auto& [key, slot] : by_key_) all.push_back(known_[slot].id);
  return all;
}

const WorkloadScaler* KubernetesScalingWorld::scaler(ScalerId id) const {
  const Known* known = find(id);
  return known ? known->scaler.get() : nullptr;
}

std::string KubernetesScalingWorld::rival(ScalerId id) const {
  const Known* known = find(id);
  return known ? known->rival : "";
}

std::string KubernetesScalingWorld::scaled_by(ScalerId id) const {
  const Known* known = find(id);
  if (!known) return "";
  if (known->is_hpa) return "HorizontalPodAutoscaler " + known->scaler->spec.name;
  return rivals_.rival_of(known->scaler->key());
}

void KubernetesScalingWorld::scaler_changed(const ObjectChange& change) {
  const std::string key = change.object.identity.key();
  if (change.type == ObjectChange::Type::deleted) return drop(key);
  Result<WorkloadScaler> read = read_workload_scaler(change.object.json);
  if (read) return set(key, *std::move(read), false, change.object.json);
  // What cannot be understood is not acted upon, not even as it was before.
  log_(read.error().message);
  drop(key);
  if (!options_.writes || !leads_()) return;
  EventRecord event;
  event.kind = types::workload_scalers().kind;
  event.api_version = types::workload_scalers().api_version;
  event.about = {change.object.identity.name_space, change.object.identity.name, change.object.identity.uid};
  event.is_warning = true;
  event.reason = "InvalidSpec";
  event.action = "Reading";
  event.reporter = "evenkeel-autoscaler";
  event.message = read.error().message;
  events_.record_repeating(std::move(event));
}

void KubernetesScalingWorld::hpa_changed(const ObjectChange& change) {
  const std::string key = change.object.identity.key();
  if (change.type == ObjectChange::Type::deleted) {
    tell_rivals(rivals_.drop_hpa(key));
    return drop(kHpa + key);
  }
  Result<ConvertedScaler> read = read_horizontal_pod_autoscaler(change.object.json);
  if (!read) return log_(read.error().message);
  const ScalerSpec& spec = read->scaler.spec;
  tell_rivals(rivals_.set_hpa(key, spec.name_space, spec.target));
  if (!options_.follows_hpas || rivals_.has_scaler(spec.name_space, spec.target)) return drop(kHpa + key);
  set(kHpa + key, std::move(read->scaler), true, "");
}

void KubernetesScalingWorld::set(const std::string& key, WorkloadScaler scaler, bool is_hpa,
                                 std::string_view json) {
  if (!options_.writes && scaler.spec.mode == ScalerSpec::Mode::automatic)
    scaler.spec.mode = ScalerSpec::Mode::preview;
  if (!options_.policy.empty() && scaler.spec.policy != options_.policy) {
    scaler.spec.policy = options_.policy;
    scaler.spec.arguments.clear();  // those are another's
  }
  const auto at = by_key_.find(key);
  if (at != by_key_.end()) {
    Known& known = known_[at->second];
    const bool is_another = known.scaler->uid != scaler.uid;
    const bool is_same =
        !is_another && known.scaler->spec == scaler.spec && known.scaler->sources == scaler.sources;
    if (is_same) {  // our own status, mostly
      if (known.scaler->generation != scaler.generation)
        known.scaler = std::make_shared<const WorkloadScaler>(std::move(scaler));
      return;
    }
    if (is_another) drop(key);
  }
  if (!by_key_.contains(key)) {
    std::uint32_t slot = static_cast<std::uint32_t>(known_.size());
    if (free_.empty()) {
      known_.emplace_back();
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    const std::uint32_t generation = known_[slot].id.generation + 1;
    known_[slot] = Known{};
    known_[slot].id = {slot, generation};
    known_[slot].is_hpa = is_hpa;
    if (!json.empty()) known_[slot].status.read(json);
    by_key_.emplace(key, slot);
  }
  Known& known = known_[by_key_.at(key)];
  known.scaler = std::make_shared<const WorkloadScaler>(std::move(scaler));
  known.type.reset();
  known.next_look = now();
  gathered_.emplace_back(ScalerSet{known.id, known.scaler->spec, known.status.slept()});
  if (is_hpa) return;
  const std::shared_ptr<const WorkloadScaler> made = known.scaler;
  if (options_.follows_hpas) drop_hpas_of(made->spec);
  tell_rivals(rivals_.set_scaler(*made));
}

// Their target is looked at for its WorkloadScaler from here on; they are rivals now.
void KubernetesScalingWorld::drop_hpas_of(const ScalerSpec& spec) {
  std::vector<std::string> keys;
  for (const auto& [key, slot] : by_key_)
    if (known_[slot].is_hpa && known_[slot].scaler->spec.name_space == spec.name_space &&
        is_same_target(known_[slot].scaler->spec.target, spec.target))
      keys.push_back(key);
  for (const std::string& key : keys) drop(key);
}

void KubernetesScalingWorld::drop(const std::string& key) {
  const auto at = by_key_.find(key);
  if (at == by_key_.end()) return;
  Known& known = known_[at->second];
  gathered_.emplace_back(ScalerGone{known.id});
  const bool was_hpa = known.is_hpa;
  known.scaler.reset();
  free_.push_back(at->second);
  by_key_.erase(at);
  if (!was_hpa) tell_rivals(rivals_.drop_scaler(key));
}

void KubernetesScalingWorld::tell_rivals(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    const auto at = by_key_.find(key);
    if (at == by_key_.end()) continue;
    Known& known = known_[at->second];
    // Who only looks fights nobody: a preview beside an HPA is what previews are for.
    const bool acts = known.scaler->spec.mode == ScalerSpec::Mode::automatic;
    std::string who = acts ? rivals_.rival_of(key) : "";
    if (who == known.rival) continue;
    known.rival = std::move(who);
    gathered_.emplace_back(RivalSeen{known.id, known.rival});
    if (!known.rival.empty())
      record(known, true, "RivalScaler",
             known.rival + " scales " + known.scaler->spec.target.kind + " " +
                 known.scaler->spec.target.name + " as well: nothing is done while it is there");
  }
}

std::optional<std::span<const ScalingEvent>> KubernetesScalingWorld::wait_for_events(Time deadline) {
  lent_.clear();
  look_when_due();
  const auto is_over = [&] { return stopped_ || interrupted_ || (synced() && !gathered_.empty()); };
  connection_.run_for(std::clamp(deadline - now(), Duration::zero(), kLongestWait), is_over);
  if (stopped_) return std::nullopt;
  interrupted_ = false;
  if (synced()) std::swap(lent_, gathered_);
  return std::span<const ScalingEvent>(lent_);
}

void KubernetesScalingWorld::execute(const ScalingAction& action) {
  std::visit(Match{[&](const ScaleWorkload& scaling) { scale(scaling); },
                   [&](const TellDecision& told) { tell(told); }},
             action);
}

// Who is to leave, in that order, unless their owner says who; and who was to leave once and is still there.
void KubernetesScalingWorld::name_leavers(const Known& known, const ScaleWorkload& action,
                                          ScaleWriter::Change& change) const {
  const auto selector = parse_label_selector(known.scale->selector);
  if (!selector) return;
  const std::string& name_space = known.scaler->spec.name_space;
  std::vector<std::optional<PodReference>> in_order(action.to < action.from ? action.leave_first.size() : 0);
  bool owner_says = false;
  for (const ScaledPod* pod : pods_.select(name_space, *selector)) {
    if (pod->replica.leaves) continue;
    const auto& names = action.leave_first;
    const auto place =
        static_cast<std::size_t>(std::find(names.begin(), names.end(), pod->replica.name) - names.begin());
    const bool is_ours = is_leaving_cost(pod->deletion_cost);
    owner_says = owner_says || (!pod->deletion_cost.empty() && !is_ours);
    if (place < in_order.size())
      in_order[place] = {name_space, pod->replica.name, pod->uid};
    else if (is_ours)
      change.marked.push_back({name_space, pod->replica.name, pod->uid});
  }
  if (owner_says && !in_order.empty())
    return log_(known.scaler->key() + ": who leaves is left to the " + kDeletionCost + " its pods carry");
  for (std::optional<PodReference>& pod : in_order)
    if (pod) change.leave_first.push_back(*std::move(pod));
}

// The last gate: whatever was decided, nothing leaves the bounds, a rival's target or another's mode alone.
void KubernetesScalingWorld::scale(const ScaleWorkload& action) {
  Known* known = find(action.scaler);
  if (!known) return;
  const ScalerSpec& spec = known->scaler->spec;
  const auto refuse = [&](const std::string& why) {
    log_(known->scaler->key() + ": not scaled from " + std::to_string(action.from) + " to " +
         std::to_string(action.to) + ": " + why);
    gathered_.emplace_back(ScaleFailed{action.scaler, why});
  };
  if (!options_.writes || known->is_hpa || spec.mode != ScalerSpec::Mode::automatic)
    return refuse("the mode forbids it");
  if (!known->rival.empty()) return refuse(known->rival + " scales it");
  if (action.to < spec.min_replicas || action.to > spec.max_replicas) return refuse("out of bounds");
  if (!leads_() || now() > action.not_after) return refuse("no longer leading");
  if (!known->scale || !known->type) return refuse("it was not looked at yet");
  if (known->scale->wanted != action.from)
    return refuse("it is at " + std::to_string(known->scale->wanted) + " by now");
  ScaleWriter::Change change{*known->type,
                             spec.name_space,
                             spec.target.name,
                             known->scale->resource_version,
                             action.from,
                             action.to,
                             {},
                             {},
                             action.not_after};
  name_leavers(*known, action, change);
  writer_.scale(std::move(change), [this, action, key = known->scaler->key()](const Status& done) {
    Known* then = find(action.scaler);
    if (!then) return;
    const std::string text = "New size: " + std::to_string(action.to) + "; reason: " +
                             (then->status.last() ? reasons_text(then->status.last()->decision) : "");
    if (done) {
      if (then->scale) then->scale->wanted = action.to;
      then->status.rescaled(action.to, now());
      gathered_.emplace_back(Scaled{action.scaler, action.to});
      record(*then, false, "SuccessfulRescale", text);
      log_(key + ": " + std::to_string(action.from) + " -> " + std::to_string(action.to));
    } else {
      then->status.not_rescaled(done.error().message, now());
      gathered_.emplace_back(ScaleFailed{action.scaler, done.error().message});
      record(*then, true, "FailedRescale", text + "; error: " + done.error().message);
      log_(key + ": not scaled from " + std::to_string(action.from) + " to " + std::to_string(action.to) +
           ": " + done.error().message);
    }
    write_status(*then);
  });
}

void KubernetesScalingWorld::tell(const TellDecision& action) {
  Known* known = find(action.scaler);
  if (!known) return;
  const auto& last = known->status.last();
  const bool is_new_wish = !last || last->decision.to != action.decision.to;
  known->status.decided(*known->scaler, action, known->rival, now());
  if (known->scaler->spec.mode == ScalerSpec::Mode::preview && is_new_wish &&
      action.decision.to != action.decision.from)
    record(*known, false, "PreviewRescale",
           "Would be " + std::to_string(action.decision.to) + " instead of " +
               std::to_string(action.decision.from) + "; reason: " + reasons_text(action.decision));
  // What is acted upon is written once it is done, or has failed.
  if (!action.acted) write_status(*known);
}

void KubernetesScalingWorld::write_status(Known& known) {
  if (!options_.writes || known.is_hpa || known.is_writing || !leads_()) return;
  auto body = known.status.news(*known.scaler, now());
  if (!body) return;
  known.is_writing = true;
  ++statuses_under_way_;
  const ScalerSpec& spec = known.scaler->spec;
  ApiRequest request = patch_request(types::workload_scalers(), spec.name_space, spec.name, "status",
                                     PatchKind::merge, *std::move(body));
  request.timeout = 10s;
  request.waits_its_turn = false;  // the next decision is soon
  request.is_wanted = [this, self = std::weak_ptr(alive_)] { return self.lock() && leads_(); };
  connection_.call(std::move(request),
                   [this, id = known.id, self = std::weak_ptr(alive_)](const ApiAnswer& answer) {
                     if (!self.lock()) return;
                     --statuses_under_way_;
                     Known* then = find(id);
                     if (!then) return;
                     then->is_writing = false;
                     if (answer.ok()) return;
                     then->status.not_written();
                     if (answer.code != 404 && answer.code != 0)
                       log_(then->scaler->key() + ": status not written: " + answer.error().message);
                   });
}

void KubernetesScalingWorld::record(const Known& known, bool is_warning, const char* reason,
                                    std::string message) {
  if (!options_.writes || known.is_hpa || !leads_()) return;
  EventRecord event;
  event.kind = types::workload_scalers().kind;
  event.api_version = types::workload_scalers().api_version;
  event.about = {known.scaler->spec.name_space, known.scaler->spec.name, known.scaler->uid};
  event.is_warning = is_warning;
  event.reason = reason;
  event.action = "Scaling";
  event.reporter = "evenkeel-autoscaler";
  event.message = std::move(message);
  // Each of these happens once; what others say may be so for hours.
  if (event.reason == "SuccessfulRescale") return events_.record(std::move(event));
  events_.record_repeating(std::move(event));
}

}  // namespace evenkeel::kubernetes
