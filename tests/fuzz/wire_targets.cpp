#include "wire_targets.h"

#include <array>

#include "base/check.h"
#include "base/kube_quantity.h"
#include "kubernetes/http_reader.h"
#include "kubernetes/kubeconfig.h"
#include "kubernetes/manifest.h"
#include "kubernetes/read_object.h"
#include "kubernetes/reflector.h"
#include "kubernetes/scheduler_configuration.h"
#include "kubernetes/watch_frames.h"
#include "kubernetes/wire_objects.h"
#include "messaging/agent_wire.h"
#include "messaging/test_agent_messages.h"

namespace evenkeel::fuzz {
namespace {

using kubernetes::WireFormat;

// What the wire's readers hand on must be JSON, whatever came in; what it means may be refused.
void read_on(const kubernetes::WireObject& object, std::string_view kind, std::string_view api_version) {
  const auto document = kubernetes::JsonDocument::parse(object.json, "fuzz");
  EVENKEEL_CHECK(document);
  (void)kubernetes::read_object(document->root(), kind, api_version);
}

template <WireFormat kFormat>
void read_as_list(std::string_view bytes) {
  auto page = kubernetes::read_list(kFormat, bytes, "v1", "Pod");
  if (!page) return;
  for (const auto& item : page->items) read_on(item, "Pod", "v1");
  kubernetes::Reflector reflector;
  (void)reflector.page_read(*std::move(page));
}

template <WireFormat kFormat>
void read_as_event(std::string_view bytes) {
  auto event = kubernetes::read_watch_event(kFormat, bytes);
  if (!event) return;
  if (event->type != kubernetes::WatchEvent::Type::error) read_on(event->object, "", "");
  kubernetes::Reflector reflector;
  (void)reflector.event_read(*std::move(event));
}

template <WireFormat kFormat>
void read_as_object(std::string_view bytes) {
  const auto object = kubernetes::read_object(kFormat, bytes);
  if (object) read_on(*object, "", "");
  (void)kubernetes::read_status(kFormat, bytes, 500);
}

// How the bytes are cut into pieces must not matter.
std::vector<std::string> frames_of(WireFormat format, std::string_view bytes, std::size_t piece) {
  kubernetes::WatchFrames frames(format);
  std::vector<std::string> found;
  while (!bytes.empty()) {
    frames.append(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    for (;;) {
      const auto frame = frames.next();
      if (!frame) return found;
      if (!*frame) break;
      found.emplace_back(**frame);
    }
  }
  return found;
}

void read_as_frames(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t piece = 1 + static_cast<std::uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  for (const WireFormat format : {WireFormat::json, WireFormat::protobuf})
    EVENKEEL_CHECK(frames_of(format, bytes, piece) == frames_of(format, bytes, bytes.size()));
}

struct HttpSeen {
  int status = 0;
  std::string body;
  bool is_done = false;
  bool operator==(const HttpSeen&) const = default;
};
std::optional<HttpSeen> http_of(std::string_view bytes, std::size_t piece) {
  HttpSeen seen;
  kubernetes::HttpReader reader([&](const kubernetes::HttpHead& head) { seen.status = head.status; },
                                [&](std::string_view body) { seen.body += body; });
  while (!bytes.empty()) {
    if (!reader.feed(bytes.substr(0, piece))) return std::nullopt;
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  if (!reader.feed_end()) return std::nullopt;
  seen.is_done = reader.done();
  return seen;
}

void read_as_http(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t piece = 1 + static_cast<std::uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  const auto whole = http_of(bytes, bytes.size()), cut = http_of(bytes, piece);
  if (whole && cut) EVENKEEL_CHECK(*whole == *cut);
}

void read_as_kubeconfig(std::string_view bytes) {
  const kubernetes::FileReader read = [bytes](const std::string& path) -> Result<std::string> {
    if (path == "config") return std::string(bytes);
    return not_found(path);
  };
  (void)kubernetes::access_from_kubeconfig({"config", ""}, {}, read);
}

void read_as_configuration(std::string_view bytes) {
  const auto configuration = kubernetes::read_scheduler_configuration(bytes, "fuzz");
  if (configuration) EVENKEEL_CHECK(!configuration->profiles.empty());
}

void read_as_manifest(std::string_view bytes) { (void)kubernetes::read_manifest(bytes, "fuzz"); }

// Whole units are the thousandths rounded away from zero.
void read_as_quantity(std::string_view bytes) {
  const auto milli = parse_quantity_milli(bytes), whole = parse_quantity(bytes);
  if (!milli || !whole) return;
  const std::int64_t rest = *milli % 1000;
  const std::int64_t rounded = *milli / 1000 + (rest > 0 ? 1 : rest < 0 ? -1 : 0);
  EVENKEEL_CHECK(rounded == *whole);
}

// Whatever may be read may be said, and comes back the same.
template <class Message>
void say_again(const Message& message, Result<Message> (*read)(std::string_view)) {
  std::string bytes;
  EVENKEEL_CHECK(messaging::append_message(message, bytes));
  const auto place = messaging::first_message(bytes);
  EVENKEEL_CHECK(place && *place && (*place)->end == bytes.size());
  const auto again = read(std::string_view(bytes).substr((*place)->begin));
  EVENKEEL_CHECK(again && *again == message);
}

void read_as_agents(std::string_view bytes) {
  for (;;) {
    const auto place = messaging::first_message(bytes);
    if (!place || !*place) return;
    const std::string_view body = bytes.substr((*place)->begin, (*place)->end - (*place)->begin);
    if (const auto message = messaging::read_from_agent(body))
      say_again(*message, messaging::read_from_agent);
    if (const auto message = messaging::read_from_leader(body))
      say_again(*message, messaging::read_from_leader);
    bytes.remove_prefix((*place)->end);
  }
}

std::vector<std::string> agent_seeds() {
  std::vector<std::string> seeds;
  std::string all;
  const auto add = [&](const auto& message) {
    std::string& seed = seeds.emplace_back();
    EVENKEEL_CHECK(messaging::append_message(message, seed));
    all += seed;
  };
  for (const FromAgent& message : messaging::agent_samples()) add(message);
  for (const FromLeader& message : messaging::leader_samples()) add(message);
  messaging::append_welcome(all);
  seeds.push_back(all);
  return seeds;
}

std::vector<std::string> event_texts() {
  std::vector<std::string> events;
  for (const std::string& object : object_texts())
    events.push_back(R"({"type":"MODIFIED","object":)" + object + "}");
  events.emplace_back(R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"12"}}})");
  events.emplace_back(
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old","details":{"retryAfterSeconds":1}}})");
  return events;
}

std::vector<std::string> frame_seeds() {
  std::string lines = "\x05", blocks = "\x09";
  for (const std::string& event : event_texts()) lines += event + "\n";
  for (const std::string& event : packed_events()) {
    for (const int shift : {24, 16, 8, 0}) blocks += static_cast<char>(event.size() >> shift);
    blocks += event;
  }
  return {lines, blocks};
}

std::vector<std::string> http_seeds() {
  return {"\x07HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
          "\x03HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\n\r\n",
          "\x40HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3\r\nContent-Length: 0\r\nConnection: "
          "close\r\n\r\n",
          "\x20HTTP/1.0 200 OK\r\n\r\nuntil it is closed"};
}

std::vector<std::string> kubeconfig_seeds() {
  return {
      R"(apiVersion: v1
kind: Config
current-context: here
clusters: [{name: c, cluster: {server: "https://10.0.0.1:6443", certificate-authority-data: YWJj, tls-server-name: x}}]
users: [{name: u, user: {token: abc, client-certificate-data: YQ==, client-key-data: YQ==}}]
contexts: [{name: here, context: {cluster: c, user: u, namespace: n}}]
)",
      R"({"clusters":[{"name":"c","cluster":{"server":"http://localhost:8001","insecure-skip-tls-verify":true}}],
"users":[{"name":"u","user":{"exec":{"command":"x"}}}],"contexts":[],"current-context":""})"};
}

std::vector<std::string> configuration_seeds() {
  return {R"(apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 8
percentageOfNodesToScore: 40
leaderElection: {leaderElect: true, leaseDuration: 15s, renewDeadline: 10s, retryPeriod: 2s}
profiles:
- schedulerName: evenkeel
  plugins:
    multiPoint: {enabled: [{name: NodeResourcesFit, weight: 3}], disabled: [{name: "*"}]}
    score: {enabled: [{name: Evenkeel, weight: 2}]}
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy: {type: RequestedToCapacityRatio, resources: [{name: cpu, weight: 1}],
                        requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}}
  - name: PodTopologySpread
    args: {defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}
  - name: Evenkeel
    args: {policy: kube-default}
)"};
}

std::vector<std::string> quantity_seeds() {
  return {"500m", "1.5Gi", "2e3", "-1E-3", "100n", "9223372036854775807", "+.5Ki", "1Ei"};
}

std::vector<std::string> list_texts() { return {list_of(object_texts())}; }
std::vector<std::string> packed_lists() { return {packed_list()}; }

constexpr std::array<Target, 13> kTargets{{
    {"json-list", read_as_list<WireFormat::json>, list_texts},
    {"json-watch", read_as_event<WireFormat::json>, event_texts},
    {"json-object", read_as_object<WireFormat::json>, object_texts},
    {"protobuf-list", read_as_list<WireFormat::protobuf>, packed_lists},
    {"protobuf-watch", read_as_event<WireFormat::protobuf>, packed_events},
    {"protobuf-object", read_as_object<WireFormat::protobuf>, packed_objects},
    {"watch-frames", read_as_frames, frame_seeds},
    {"http", read_as_http, http_seeds},
    {"kubeconfig", read_as_kubeconfig, kubeconfig_seeds},
    {"configuration", read_as_configuration, configuration_seeds},
    {"manifest", read_as_manifest, object_texts},
    {"quantity", read_as_quantity, quantity_seeds},
    {"agents", read_as_agents, agent_seeds},
}};

}  // namespace

std::span<const Target> targets() { return kTargets; }

}  // namespace evenkeel::fuzz
