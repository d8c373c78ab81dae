#include "kubernetes/network_writer.h"

#include <utility>

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
constexpr int kNotFound = 404, kConflict = 409, kTooMany = 429;
constexpr Duration kWithin = 20s;

}  // namespace

void NetworkWriter::call(ApiRequest request, std::function<void(const ApiAnswer&)> done) {
  ++outstanding_;
  request.timeout = kWithin;
  request.is_wanted = [self = std::weak_ptr(alive_)] {
    const auto alive = self.lock();
    return alive && (*alive)->may_write_();
  };
  connection_.call(std::move(request),
                   [done = std::move(done), self = std::weak_ptr(alive_)](const ApiAnswer& answer) {
                     const auto alive = self.lock();
                     if (!alive) return;
                     --(*alive)->outstanding_;
                     done(answer);
                   });
}

void NetworkWriter::patch(const ResourceType& type, const std::string& name_space, const std::string& name,
                          std::string body, std::function<void(const ApiAnswer&)> done) {
  ApiRequest request = patch_request(type, name_space, name, "", PatchKind::merge, std::move(body));
  request.accept = WireFormat::json;
  call(std::move(request), [this, done = std::move(done)](const ApiAnswer& answer) {
    ++(answer.ok() ? counts_.written : answer.code == kConflict ? counts_.conflicts : counts_.failures);
    done(answer);
  });
}

void NetworkWriter::evict(const PodReference& pod, std::function<void(Outcome, const std::string&)> done) {
  ApiRequest request = evict_request(pod);
  request.waits_its_turn = false;  // 429 is the answer
  call(std::move(request), [this, done = std::move(done)](const ApiAnswer& answer) {
    const bool is_gone = answer.code == kNotFound || answer.code == kConflict;
    if (answer.ok() || is_gone) {
      counts_.evicted += answer.ok() ? 1 : 0;
      return done(Outcome::done, is_gone ? "it is gone already" : "");
    }
    const bool is_budget = answer.code == kTooMany;
    ++(is_budget ? counts_.forbidden : counts_.not_evicted);
    done(is_budget ? Outcome::forbidden : Outcome::refused, answer.status.message);
  });
}

}  // namespace evenkeel::kubernetes
