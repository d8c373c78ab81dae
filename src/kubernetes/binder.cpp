#include "kubernetes/binder.h"

#include <algorithm>
#include <utility>

#include "kubernetes/json_field.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
constexpr int kNotFound = 404, kTimeout = 408, kConflict = 409;
constexpr int kLooksAfterSilence = 2;  // a request nobody answered may still be on its way
constexpr Duration kBetweenLooks = 1s, kLongestPause = 10s;

bool is_surely_not_done(const ApiAnswer& answer) {
  if (answer.is_uncertain) return false;
  if (answer.code == 0) return true;  // never sent
  return answer.code >= 400 && answer.code < 500 && answer.code != kNotFound && answer.code != kConflict &&
         answer.code != kTimeout;
}

// What became of a pod, as far as binding is concerned.
struct Fate {
  std::string uid, node;
};
Result<Fate> read_fate(const ApiAnswer& answer) {
  const auto object = read_object(answer.format, answer.body);
  if (!object) return object.error();
  const auto document = JsonDocument::parse(object->json, object->identity.key());
  if (!document) return document.error();
  JsonReading reading(object->identity.key());
  Fate fate{object->identity.uid, JsonField(reading, document->root()).at("spec").text_at("nodeName")};
  if (reading.error()) return *reading.error();
  return fate;
}

}  // namespace

struct Binder::Attempt {
  Binding binding;
  std::string why;  // it did not succeed, as far as is known
  int empty_looks_needed = 1;
  Duration pause = kBetweenLooks;
};

void Binder::bind(Binding binding) {
  ++outstanding_;
  const auto attempt = std::make_shared<Attempt>(Attempt{std::move(binding), {}, 1, kBetweenLooks});
  const Binding& wanted = attempt->binding;
  if (wanted.volumes.empty()) return post(attempt);
  volumes_.bind(wanted.pod, wanted.node, wanted.volumes, wanted.volumes_within,
                [this, attempt](const Status& done) {
                  if (done && handlers_.may_write() && attempt->binding.holds()) return post(attempt);
                  attempt->why = done ? "no longer leading" : done.error().message;
                  fail(attempt);
                });
}

void Binder::post(const Shared& attempt) {
  const Binding& wanted = attempt->binding;
  ++posted_;
  ApiRequest request = bind_request(wanted.reference, wanted.node, wanted.annotations, bodies_);
  // A node that left and came back under its name is another, on which nobody counted this pod.
  request.is_wanted = [attempt, self = std::weak_ptr(alive_), node = wanted.node,
                       handle = feed_.node_named(wanted.node)] {
    const auto alive = self.lock();
    return alive && (*alive)->handlers_.may_write() && attempt->binding.holds() &&
           (*alive)->feed_.node_named(node) == handle;
  };
  connection_.call(std::move(request), [attempt, self = std::weak_ptr(alive_)](const ApiAnswer& answer) {
    if (const auto alive = self.lock()) (*alive)->answered(attempt, answer);
  });
}

void Binder::answered(const Shared& attempt, const ApiAnswer& answer) {
  --posted_;
  if (answer.ok()) return succeed(attempt);
  attempt->why =
      answer.status.message.empty() ? "HTTP " + std::to_string(answer.code) : answer.status.message;
  if (is_surely_not_done(answer)) return fail(attempt);
  const bool was_refused = answer.code == kNotFound || answer.code == kConflict;
  attempt->empty_looks_needed = was_refused ? 1 : kLooksAfterSilence;
  look(attempt);
}

void Binder::look_after(const Shared& attempt, Duration pause) {
  connection_.call_after(pause, [attempt, self = std::weak_ptr(alive_)] {
    if (const auto alive = self.lock()) (*alive)->look(attempt);
  });
}

void Binder::look(const Shared& attempt) {
  const PodReference& pod = attempt->binding.reference;
  connection_.call(read_request(types::pods(), pod.name_space, pod.name, WireFormat::protobuf),
                   [attempt, self = std::weak_ptr(alive_)](const ApiAnswer& answer) {
                     if (const auto alive = self.lock()) (*alive)->looked(attempt, answer);
                   });
}

void Binder::looked(const Shared& attempt, const ApiAnswer& answer) {
  const Binding& binding = attempt->binding;
  const auto fate = answer.ok() ? read_fate(answer) : Result<Fate>(unavailable(answer.status.message));
  if (answer.code == kNotFound || (fate && fate->uid != binding.reference.uid)) {
    end();
    return feed_.vanished(binding.pod);
  }
  if (!fate) {
    look_after(attempt, attempt->pause);
    attempt->pause = std::min(2 * attempt->pause, kLongestPause);
    return;
  }
  if (fate->node == binding.node) return succeed(attempt);
  if (!fate->node.empty()) {
    end();
    return feed_.bound(binding.pod, fate->node);
  }
  if (--attempt->empty_looks_needed > 0) return look_after(attempt, kBetweenLooks);
  fail(attempt);
}

void Binder::succeed(const Shared& attempt) {
  end();
  handlers_.bound(attempt->binding);
  feed_.bound(attempt->binding.pod, attempt->binding.node);
}

void Binder::fail(const Shared& attempt) {
  end();
  handlers_.failed(attempt->binding, attempt->why);
  feed_.bind_failed(attempt->binding.pod, attempt->why);
}

}  // namespace evenkeel::kubernetes
