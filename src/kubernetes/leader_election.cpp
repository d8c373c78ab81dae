#include "kubernetes/leader_election.h"

#include <algorithm>
#include <utility>

#include "kubernetes/json_field.h"

namespace evenkeel::kubernetes {
namespace {

constexpr int kNotFound = 404;
constexpr double kJitter = 1.2;  // client-go's: those who wait try at different times

struct FoundLease {
  LeaseRecord record;
  std::string resource_version;
};

Result<FoundLease> read_lease(const ApiAnswer& answer) {
  const auto object = read_object(answer.format, answer.body);
  if (!object) return object.error();
  const auto document = JsonDocument::parse(object->json, object->identity.key());
  if (!document) return document.error();
  JsonReading reading("Lease " + object->identity.key());
  const JsonField spec = JsonField(reading, document->root()).at("spec");
  FoundLease found;
  found.resource_version = object->identity.resource_version;
  found.record.holder = spec.text_at("holderIdentity");
  found.record.duration_seconds = spec.int32_at("leaseDurationSeconds", 15);
  found.record.acquired = spec.at("acquireTime").time().value_or(Time{});
  found.record.renewed = spec.at("renewTime").time().value_or(Time{});
  found.record.transitions = spec.int32_at("leaseTransitions");
  if (reading.error()) return *reading.error();
  return found;
}

}  // namespace

LeaderElector::LeaderElector(ApiConnection& connection, Options options, Log log)
    : connection_(connection),
      options_(std::move(options)),
      log_(std::move(log)),
      lease_(options_.lease),
      random_(Random(options_.seed).fork(options_.lease.identity)) {}

LeaderElector::~LeaderElector() { connection_.cancel_timer(timer_); }

void LeaderElector::attempt() {
  is_trying_ = true;
  ask(lease_.begin(connection_.steady_now()));
}

void LeaderElector::send(ApiRequest request, std::function<void(const ApiAnswer&)> handle) {
  // An answer that comes later than this is of no use any more.
  request.timeout = std::max<Duration>(options_.lease.renew_deadline / 2, std::chrono::seconds(1));
  request.waits_its_turn = false;
  request.is_urgent = true;
  connection_.call(std::move(request),
                   [handle = std::move(handle), self = std::weak_ptr(alive_)](const ApiAnswer& answer) {
                     if (self.lock()) handle(answer);
                   });
}

void LeaderElector::ask(Lease::Ask what) {
  const std::string &name_space = options_.name_space, &name = options_.name;
  switch (what) {
    case Lease::Ask::nothing:
      return rest();
    case Lease::Ask::read:
      return send(
          read_request(types::leases(), name_space, name, WireFormat::json), [this](const ApiAnswer& answer) {
            if (answer.code == kNotFound) return ask(lease_.found_none());
            const auto found =
                answer.ok() ? read_lease(answer) : Result<FoundLease>(unavailable(answer.status.message));
            if (!found) {
              log_("leader election: the lease cannot be read: " + found.error().message);
              return rest();
            }
            ask(lease_.found(found->record, found->resource_version, connection_.steady_now()));
          });
    case Lease::Ask::create:
      return send(create_lease_request(name_space, name, lease_.record(connection_.now())),
                  [this](const ApiAnswer& answer) { wrote(answer); });
    case Lease::Ask::replace:
      return send(replace_lease_request(name_space, name, lease_.resource_version(),
                                        lease_.record(connection_.now())),
                  [this](const ApiAnswer& answer) { wrote(answer); });
  }
}

void LeaderElector::wrote(const ApiAnswer& answer) {
  const auto object = answer.ok() ? read_object(answer.format, answer.body)
                                  : Result<WireObject>(unavailable(answer.status.message));
  if (!object) return ask(lease_.refused());
  lease_.written(object->identity.resource_version);
  rest();
}

// The end of a try, and when the next one begins.
void LeaderElector::rest() {
  is_trying_ = false;
  const bool leads = lease_.leads(connection_.steady_now());
  const bool is_news =
      !std::exchange(knows_, true) || leads != was_leading_ || (!leads && lease_.holder() != told_holder_);
  if (is_news) changed_();
  if (leads != was_leading_) {
    terms_ += leads ? 1 : 0;
    log_(leads ? "leader election: leading as " + options_.lease.identity
               : "leader election: no longer leading");
    was_leading_ = leads;
  }
  if (!leads && lease_.holder() != told_holder_) {
    told_holder_ = lease_.holder();
    log_("leader election: " + (told_holder_.empty() ? "nobody" : told_holder_) + " leads");
  }
  if (after_try_) return std::exchange(after_try_, nullptr)();
  if (is_released_) return;
  const double spread = leads ? 1 : 1 + kJitter * random_.between(0, 1);
  const Duration pause =
      !leads && pace_ ? pace_() : from_seconds(to_seconds(options_.lease.retry_period) * spread);
  timer_ = connection_.call_after(pause, [this] { attempt(); });
}

void LeaderElector::repace() {
  if (!pace_ || is_trying_ || is_released_ || leads()) return;
  connection_.cancel_timer(timer_);
  timer_ = connection_.call_after(pace_(), [this] { attempt(); });
}

void LeaderElector::hurry() {
  if (is_trying_ || is_released_) return;
  connection_.cancel_timer(timer_);
  attempt();
}

void LeaderElector::claim_from(const std::string& holder) {
  lease_.presume_dead(holder);
  hurry();
}

void LeaderElector::release(std::function<void()> done) {
  connection_.cancel_timer(timer_);
  const bool held = leads();
  is_released_ = true;
  auto let_go = [this, held, done = std::move(done)] {
    if (!held) return done();
    send(replace_lease_request(options_.name_space, options_.name, lease_.resource_version(),
                               lease_.released(connection_.now())),
         [this, done](const ApiAnswer& answer) {
           log_(answer.ok() ? "leader election: lease released"
                            : "leader election: lease not released: " + answer.status.message);
           done();
         });
  };
  // A renewal under way ends first: its answer has the version to replace.
  if (is_trying_) {
    after_try_ = std::move(let_go);
  } else {
    let_go();
  }
}

}  // namespace evenkeel::kubernetes
