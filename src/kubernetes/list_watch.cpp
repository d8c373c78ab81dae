#include "kubernetes/list_watch.h"

#include <utility>

#include "kubernetes/http_url.h"

namespace evenkeel::kubernetes {
namespace {

constexpr int kForbidden = 403, kNotFound = 404;
constexpr Duration kGrace = std::chrono::seconds(30);  // beyond the time after which the server ends a watch

}  // namespace

ListWatch::ListWatch(ApiConnection& client, ResourceType type, Options options, Handlers handlers)
    : client_(client),
      type_(std::move(type)),
      options_(std::move(options)),
      handlers_(std::move(handlers)),
      reflector_(options_.backoff),
      random_(Random(options_.seed).fork(type_.plural)),
      format_(options_.format.value_or(type_.best_format())) {}

ListWatch::~ListWatch() {
  client_.cancel_timer(timer_);
  if (stream_ != 0) client_.cancel(stream_);
}

void ListWatch::step() {
  Reflector::Request request = reflector_.next(random_);
  if (request.pause <= Duration::zero()) return ask(request);
  const Duration pause = request.pause;
  timer_ = client_.call_after(pause, [this, request = std::move(request)] { ask(request); });
}

void ListWatch::refresh(std::function<void()> done) {
  refreshed_ = std::move(done);
  must_list_again_ = is_listing_;
  if (is_listing_) return;
  client_.cancel_timer(timer_);
  if (stream_ != 0) client_.cancel(std::exchange(stream_, 0));
  reflector_.list_again();
  step();
}

void ListWatch::ask(const Reflector::Request& request) {
  if (request.is_watch) {
    ask_watch(request);
  } else {
    ask_list(request);
  }
}

std::string ListWatch::query(const std::string& rest) const {
  std::string text = type_.collection(options_.name_space) + "?" + rest;
  if (!options_.field_selector.empty()) text += "&fieldSelector=" + percent_encoded(options_.field_selector);
  if (!options_.label_selector.empty()) text += "&labelSelector=" + percent_encoded(options_.label_selector);
  return text;
}

void ListWatch::ask_list(const Reflector::Request& asked) {
  ApiRequest request;
  request.accept = format_;
  request.path = query(asked.whole ? "limit=0" : "limit=" + std::to_string(options_.page_size));
  if (!asked.continue_token.empty()) request.path += "&continue=" + percent_encoded(asked.continue_token);
  counts_.lists += asked.continue_token.empty() ? 1 : 0;
  is_listing_ = true;
  client_.call(std::move(request), [self = std::weak_ptr(alive_)](ApiAnswer answer) {
    const auto alive = self.lock();
    if (!alive) return;
    ListWatch& here = **alive;
    here.is_listing_ = false;
    if (std::exchange(here.must_list_again_, false)) {
      here.reflector_.list_again();
      return here.step();
    }
    if (!answer.ok()) {
      answer.status.code = answer.code;
      const bool absent = answer.code == kNotFound || answer.code == kForbidden;
      absent&& here.options_.may_be_absent ? here.is_absent(answer.status) : here.refused(answer.status);
      return here.step();
    }
    auto page = read_list(answer.format, answer.body, here.type_.api_version, here.type_.kind);
    if (!page) {
      here.refused({0, "", page.error().message, 0});
      return here.step();
    }
    ++here.counts_.pages;
    here.counts_.damaged += page->damaged.size();
    for (const std::string& what : page->damaged)
      here.handlers_.trouble(here.type_.plural + ": left out: " + what);
    const bool was_synced = here.reflector_.synced();
    const auto changes = here.reflector_.page_read(*std::move(page));
    here.tell(changes);
    if (!was_synced && here.reflector_.synced()) here.handlers_.synced();
    if (here.reflector_.is_watching() && here.refreshed_) std::exchange(here.refreshed_, nullptr)();
    here.step();
  });
}

void ListWatch::ask_watch(const Reflector::Request& asked) {
  const double seconds = to_seconds(options_.watch_time) * random_.between(1, 2);
  ApiRequest request;
  request.accept = format_;
  request.path =
      query("watch=1&allowWatchBookmarks=true&resourceVersion=" + percent_encoded(asked.resource_version) +
            "&timeoutSeconds=" + std::to_string(static_cast<int>(seconds)));
  request.timeout = from_seconds(seconds) + kGrace;
  ++counts_.watches;
  frames_.reset();
  ApiConnection::StreamHandlers handlers;
  handlers.opened = [this](WireFormat format) {
    frames_.emplace(format);
    opened_ = client_.now();
  };
  handlers.body = [this](std::string_view piece) {
    frames_->append(piece);
    read_frames();
  };
  handlers.refused = [this](const ApiStatus& status) {
    stream_ = 0;
    refused(status);
    step();
  };
  handlers.end = [this] {
    stream_ = 0;
    reflector_.watch_ended(frames_ ? client_.now() - opened_ : Duration::zero());
    step();
  };
  stream_ = client_.stream(std::move(request), std::move(handlers));
}

void ListWatch::read_frames() {
  while (stream_ != 0) {
    const auto frame = frames_->next();
    if (frame && !*frame) return;
    if (!frame) {
      // Out of step with the stream: nothing behind this can be understood.
      client_.cancel(std::exchange(stream_, 0));
      refused({0, "", frame.error().message, 0});
      return step();
    }
    auto event = read_watch_event(frames_->format(), **frame);
    if (!event) {
      ++counts_.damaged;
      handlers_.trouble(type_.plural + ": left out: " + event.error().message);
      continue;
    }
    if (event->type == WatchEvent::Type::error) {
      client_.cancel(std::exchange(stream_, 0));
      refused(event->status);
      return step();
    }
    counts_.events += event->type == WatchEvent::Type::bookmark ? 0 : 1;
    counts_.bookmarks += event->type == WatchEvent::Type::bookmark ? 1 : 0;
    tell(reflector_.event_read(*std::move(event)));
  }
}

void ListWatch::refused(const ApiStatus& status) {
  handlers_.trouble(type_.plural + ": " +
                    (status.code == 0 ? "" : "HTTP " + std::to_string(status.code) + ": ") + status.message);
  reflector_.refused(status);
}

void ListWatch::is_absent(const ApiStatus& status) {
  const bool was_synced = reflector_.synced();
  // A kind that nobody installed is no trouble; rights that are missing are said once.
  if (status.code == kForbidden && !was_synced)
    handlers_.trouble(type_.plural + ": HTTP 403: " + status.message + " (taken for none)");
  tell(reflector_.absent());
  if (!was_synced) handlers_.synced();
  if (refreshed_) std::exchange(refreshed_, nullptr)();
}

void ListWatch::tell(const std::vector<ObjectChange>& changes) {
  for (const ObjectChange& change : changes) handlers_.changed(change);
}

}  // namespace evenkeel::kubernetes
