#include "kubernetes/scale_writer.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
constexpr int kGone = 404, kConflict = 409, kTimeout = 408, kTooMany = 429;
constexpr int kPuts = 4;               // against others who write to the same object all the time
constexpr int kLooksAfterSilence = 2;  // a request nobody answered may still be on its way
constexpr int kMostLooks = 8;
constexpr Duration kBetweenLooks = 1s, kLongestPause = 10s, kWithin = 10s;
constexpr std::int64_t kLowestCost = -1'000'000'000, kMostMarked = 1'000'000;

std::string text_of(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string message_of(const ApiAnswer& answer) {
  return answer.status.message.empty() ? "HTTP " + std::to_string(answer.code) : answer.status.message;
}

}  // namespace

std::string leaving_cost(std::size_t place) {
  return std::to_string(kLowestCost + std::min(static_cast<std::int64_t>(place), kMostMarked - 1));
}

bool is_leaving_cost(const std::string& cost) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(cost.data(), cost.data() + cost.size(), number);
  return error == std::errc{} && end == cost.data() + cost.size() && number >= kLowestCost &&
         number < kLowestCost + kMostMarked;
}

struct ScaleWriter::Attempt {
  Change change;
  Done done;
  std::string why;
  std::size_t marking = 0;  // pods whose cost is being written
  int puts = 0, looks = 0, looks_at_from = 0;
  bool was_silent = false;
  Duration pause = kBetweenLooks;
};

ApiRequest replace_scale_request(const ScaleWriter::Change& change) {
  ApiRequest request;
  request.method = "PUT";
  request.path = change.type.object(change.name_space, change.name, "scale");
  request.content_type = "application/json";
  request.body = text_of({{"apiVersion", "autoscaling/v1"},
                          {"kind", "Scale"},
                          {"metadata",
                           {{"namespace", change.name_space},
                            {"name", change.name},
                            {"resourceVersion", change.resource_version}}},
                          {"spec", {{"replicas", change.to}}}});
  request.timeout = kWithin;
  return request;
}

void ScaleWriter::call(ApiRequest request, const Shared& attempt,
                       void (ScaleWriter::*then)(const Shared&, const ApiAnswer&)) {
  connection_.call(std::move(request),
                   [attempt, then, self = std::weak_ptr(alive_)](const ApiAnswer& answer) {
                     if (const auto alive = self.lock()) ((**alive).*then)(attempt, answer);
                   });
}

void ScaleWriter::scale(Change change, Done done) {
  ++outstanding_;
  auto attempt = std::make_shared<Attempt>();
  attempt->change = std::move(change);
  attempt->done = std::move(done);
  if (attempt->change.leave_first.empty() && attempt->change.marked.empty()) return put(attempt);
  mark(attempt);
}

bool ScaleWriter::may_send(const Attempt& attempt) const {
  return may_write_() && connection_.now() <= attempt.change.not_after;
}

// A wish: whether or not it could be written, the number of replicas is what counts.
void ScaleWriter::mark(const Shared& attempt) {
  const Change& change = attempt->change;
  attempt->marking = change.leave_first.size() + change.marked.size();
  const auto then = [this, attempt] {
    if (--attempt->marking == 0) put(attempt);
  };
  for (const PodReference& pod : change.marked) mark(attempt, pod, std::nullopt, then);
  for (std::size_t i = 0; i < change.leave_first.size(); ++i)
    mark(attempt, change.leave_first[i], leaving_cost(i), then);
}

void ScaleWriter::mark(const Shared& attempt, const PodReference& pod, const std::optional<std::string>& cost,
                       std::function<void()> then) {
  nlohmann::json annotation = nullptr;  // is taken away
  if (cost) annotation = *cost;
  ApiRequest request = patch_request(
      types::pods(), pod.name_space, pod.name, "", PatchKind::merge,
      text_of({{"metadata", {{"uid", pod.uid}, {"annotations", {{kDeletionCost, annotation}}}}}}));
  request.timeout = kWithin;
  request.is_wanted = [this, attempt, self = std::weak_ptr(alive_)] {
    return self.lock() && may_send(*attempt);
  };
  request.waits_its_turn = false;
  connection_.call(std::move(request),
                   [pod, then = std::move(then), self = std::weak_ptr(alive_)](const ApiAnswer& answer) {
                     const auto alive = self.lock();
                     if (!alive) return;
                     if (!answer.ok() && answer.code != 0 && answer.code != kGone && answer.code != kConflict)
                       (*alive)->trouble_("pod " + pod.name_space + "/" + pod.name +
                                          " is not marked for leaving: " + message_of(answer));
                     then();
                   });
}

// What was not done leaves no marks: the next to end pods there may be somebody else, for other reasons.
void ScaleWriter::tidy(const Shared& attempt) {
  for (const PodReference& pod : attempt->change.leave_first) {
    ++outstanding_;
    mark(attempt, pod, std::nullopt, [this] { --outstanding_; });
  }
}

void ScaleWriter::put(const Shared& attempt) {
  ++attempt->puts;
  ApiRequest request = replace_scale_request(attempt->change);
  request.is_wanted = [this, attempt, self = std::weak_ptr(alive_)] {
    return self.lock() && may_send(*attempt);
  };
  call(std::move(request), attempt, &ScaleWriter::answered);
}

void ScaleWriter::answered(const Shared& attempt, const ApiAnswer& answer) {
  if (answer.ok()) return end(attempt, {});
  attempt->why = message_of(answer);
  if (answer.code == 0 && !answer.is_uncertain)
    return end(attempt, unavailable(may_send(*attempt) ? attempt->why : "no longer leading"));
  const bool is_refusal = answer.code >= 400 && answer.code < 500 && answer.code != kConflict &&
                          answer.code != kTimeout && answer.code != kTooMany && !answer.is_uncertain;
  if (is_refusal) return end(attempt, answer.error());
  attempt->was_silent = answer.code != kConflict;
  attempt->looks_at_from = 0;
  look(attempt, {});
}

void ScaleWriter::look(const Shared& attempt, Duration pause) {
  const auto ask = [this, attempt] {
    ApiRequest request;
    request.path = attempt->change.type.object(attempt->change.name_space, attempt->change.name, "scale");
    request.timeout = kWithin;
    call(std::move(request), attempt, &ScaleWriter::looked);
  };
  if (pause <= Duration{}) return ask();
  connection_.call_after(pause, [ask, self = std::weak_ptr(alive_)] {
    if (self.lock()) ask();
  });
}

void ScaleWriter::looked(const Shared& attempt, const ApiAnswer& answer) {
  const Result<ScaleReading> scale =
      answer.ok() ? read_scale(answer.body) : Result<ScaleReading>(unavailable(message_of(answer)));
  if (answer.code == 404) return end(attempt, not_found("it is gone"));
  if (!scale) {
    if (++attempt->looks >= kMostLooks)
      return end(attempt, unavailable(attempt->why + "; " + scale.error().message));
    look(attempt, attempt->pause);
    attempt->pause = std::min(2 * attempt->pause, kLongestPause);
    return;
  }
  Change& change = attempt->change;
  if (scale->wanted == change.to) return end(attempt, {});
  if (scale->wanted != change.from)
    return end(attempt, Error{Error::Kind::conflict, "it is at " + std::to_string(scale->wanted) +
                                                         " by now, not at " + std::to_string(change.from)});
  if (attempt->was_silent && ++attempt->looks_at_from < kLooksAfterSilence)
    return look(attempt, kBetweenLooks);
  // What was sent carried a version that is not this one any more, or never arrived: it cannot be done twice.
  const bool may_repeat = !attempt->was_silent && attempt->puts < kPuts && may_send(*attempt);
  if (!may_repeat) return end(attempt, Error{Error::Kind::conflict, attempt->why});
  change.resource_version = scale->resource_version;
  put(attempt);
}

void ScaleWriter::end(const Shared& attempt, const Status& status) {
  --outstanding_;
  if (!status) tidy(attempt);
  attempt->done(status);
}

}  // namespace evenkeel::kubernetes
