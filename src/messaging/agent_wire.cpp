#include "messaging/agent_wire.h"

#include <bit>
#include <cmath>
#include <utility>

#include "messaging/report_wire.h"
#include "messaging/wire_bytes.h"

namespace evenkeel::messaging {
namespace {

// Version 1. Every message: varint length of what follows, then a byte of version and kind (the upper and the
// lower half), then, with v for a varint and the lowest byte first elsewhere:
//   hello      v protocol  u64 incarnation  v term  u8 sees pods  v v model  u8 length + node
//   bids       v term  v count, each: 16 pod  v (awards, scored, verdict: from the top, 1 and 2 bits)  f32
//   score report     a frame of report_wire without its header lessons    v v from  v experience  v count f32
//   … welcome    nothing beat       v term  v beat  u8 tells pods  u8 length + leader  u8 count, each: u8
//   length + deputy
//              6 f32 used  6 f32 spread  f32 cpu  f32 memory  v nodes  v pods
//   asks       v term  v count, each: 16 pod  u8 which of six, delay and life are there  v priority
//              amount cpu in 1/1000  amount memory in 1  f32 … those that are there
//   awards     v term  v awards  v (count, withdrawn: 1 bit)  16 pod …
//   model      v term  v v version  v count  f32 …
//   not        v term  v length + holder  u64 incarnation
// An amount is v (n, 0: 1 bit) for n of its units, or a byte 1 and an f64 for what is not whole. A score of 0
// is not sent; priorities are zigzag.
enum class Kind : std::uint8_t {
  hello = 1,
  bids,
  report,
  lessons,
  welcome,
  beat,
  asks,
  awards,
  model,
  not_leading,
};
constexpr unsigned kVersion = 1;
constexpr std::size_t kKeyBytes = sizeof(PodKey::bytes);
constexpr std::size_t kLeastBid = kKeyBytes + 1, kLeastQuestion = kKeyBytes + 4, kLeastDeputy = 2;
constexpr std::uint16_t kProtocol = 1;
constexpr double kMilli = 1000;

constexpr std::uint8_t head_of(Kind kind) {
  return static_cast<std::uint8_t>(kVersion << 4 | static_cast<unsigned>(kind));
}

// ---- What may be believed; asked before writing and after reading.

bool is_node(std::string_view name) { return !name.empty() && name.size() <= kMostName && is_plain(name); }

Status check(const AgentHello& hello) {
  if (hello.protocol != kProtocol)
    return invalid("protocol " + std::to_string(hello.protocol) + " of agents, expected " +
                   std::to_string(kProtocol));
  if (!is_node(hello.node)) return invalid("a hello without a node's name");
  return {};
}

Status check(const AgentBids& bids) {
  if (bids.bids.size() > kMostOfABatch) return invalid("more bids than go into a message");
  for (const Bid& bid : bids.bids)
    if (!std::isfinite(bid.score) || bid.verdict > BidVerdict::abstains)
      return invalid("a bid that cannot be");
  return {};
}

Status check_parameters(const std::vector<float>& parameters) {
  if (parameters.size() > kMostParameters) return invalid("more parameters than a model has");
  for (const float one : parameters)
    if (!std::isfinite(one)) return invalid("a parameter that is no number");
  return {};
}
Status check(const AgentLessons& lessons) { return check_parameters(lessons.parameters); }
Status check(const LeaderModel& model) { return check_parameters(model.parameters); }

bool is_amount(double amount, double most) { return amount >= 0 && amount <= most; }

Status check(const PodQuestion& question) {
  Usage expected;  // as it travels
  for (std::size_t d = 0; d < kDimensions; ++d)
    expected.of[d] = static_cast<double>(static_cast<float>(question.expected.of[d]));
  if (!is_amount(question.cpu, kMostCores) || !is_amount(question.memory, kMostBytes) ||
      !is_believable(expected))
    return invalid("a question about amounts that cannot be");
  if (!std::isfinite(question.delay) || !std::isfinite(question.life) || question.delay < 0 ||
      question.life < 0)
    return invalid("a question about a time that cannot be");
  return {};
}

Status check(const LeaderAsks& asks) {
  if (asks.questions.size() > kMostOfABatch) return invalid("more questions than go into a message");
  for (const PodQuestion& question : asks.questions)
    if (auto checked = check(question); !checked) return checked;
  return {};
}

Status check(const LeaderAwards& awards) {
  if (awards.pods.size() > kMostOfABatch) return invalid("more awards than go into a message");
  return {};
}

Status check(const ClusterShares& shares) {
  for (const auto& six : {shares.used, shares.spread})
    for (const float share : six)
      if (!std::isfinite(share)) return invalid("a share of the cluster that is no number");
  if (!std::isfinite(shares.cpu_requested) || !std::isfinite(shares.memory_requested))
    return invalid("a share of the cluster that is no number");
  return {};
}

Status check(const LeaderBeat& beat) {
  if (!is_node(beat.leader)) return invalid("a beat without a leader's name");
  if (beat.deputies.size() > kMostDeputies) return invalid("more deputies than there may be");
  for (const std::string& deputy : beat.deputies)
    if (!is_node(deputy)) return invalid("a deputy without a name");
  return check(beat.cluster);
}

Status check(const NotLeading& answer) {
  if (answer.holder.size() > kMostHolder || !is_plain(answer.holder))
    return invalid("a holder with a name that cannot be");
  return {};
}

// ---- Writing.

class MessageWriter {
 public:
  MessageWriter(std::string& bytes, Kind kind) : bytes_(bytes), writer_(bytes), begin_(bytes.size()) {
    bytes_.push_back('\0');  // a length of one byte, as most have; others make room for theirs
    writer_.number(head_of(kind));
  }
  WireWriter* operator->() { return &writer_; }
  WireWriter& operator*() { return writer_; }

  void key(const PodKey& key) {
    writer_.raw({reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size()});
  }
  void version(const ModelVersion& version) {
    writer_.varint(version.term);
    writer_.varint(version.number);
  }
  void reals(const std::vector<float>& all) {
    writer_.varint(all.size());
    for (const float one : all) writer_.short_real(one);
  }
  // Exactly, and as a small whole number where it is one, which what pods ask for always is.
  void amount(double value, double units) {
    const double scaled = value * units;
    const double whole = std::round(scaled);
    if (whole >= 0 && whole < 0x1p53 && whole / units == value && !std::signbit(value)) {
      writer_.varint(static_cast<std::uint64_t>(whole) << 1);
    } else {
      writer_.number(std::uint8_t{1});
      writer_.real(value);
    }
  }
  Status finish() {
    const std::size_t length = bytes_.size() - begin_ - 1;
    if (length > kMostAgentMessage) {
      bytes_.resize(begin_);
      return invalid("a message of more bytes than may be sent");
    }
    std::string written;
    WireWriter(written).varint(length);
    bytes_.replace(begin_, 1, written);
    return {};
  }

 private:
  std::string& bytes_;
  WireWriter writer_;
  std::size_t begin_;
};

void write(MessageWriter& writer, const AgentHello& hello) {
  writer->varint(hello.protocol);
  writer->number(hello.incarnation);
  writer->varint(hello.term);
  writer->number(static_cast<std::uint8_t>(hello.sees_pods));
  writer.version(hello.model);
  writer->text(hello.node);
}

void write(MessageWriter& writer, const AgentBids& bids) {
  writer->varint(bids.term);
  writer->varint(bids.bids.size());
  for (const Bid& bid : bids.bids) {
    const bool is_scored = std::bit_cast<std::uint32_t>(bid.score) != 0;
    writer.key(bid.pod);
    writer->varint(std::uint64_t{bid.awards} << 3 | (is_scored ? 4u : 0u) |
                   static_cast<unsigned>(bid.verdict));
    if (is_scored) writer->short_real(bid.score);
  }
}

void write(MessageWriter& writer, const AgentLessons& lessons) {
  writer.version(lessons.from);
  writer->varint(lessons.experience);
  writer.reals(lessons.parameters);
}

void write(MessageWriter& writer, const LeaderBeat& beat) {
  writer->varint(beat.term);
  writer->varint(beat.beat);
  writer->number(static_cast<std::uint8_t>(beat.tells_pods));
  writer->text(beat.leader);
  writer->number(static_cast<std::uint8_t>(beat.deputies.size()));
  for (const std::string& deputy : beat.deputies) writer->text(deputy);
  for (const auto& six : {beat.cluster.used, beat.cluster.spread})
    for (const float share : six) writer->short_real(share);
  writer->short_real(beat.cluster.cpu_requested);
  writer->short_real(beat.cluster.memory_requested);
  writer->varint(beat.cluster.nodes);
  writer->varint(beat.cluster.pods);
}

void write(MessageWriter& writer, const PodQuestion& question) {
  float parts[kDimensions + 2];
  for (std::size_t d = 0; d < kDimensions; ++d) parts[d] = static_cast<float>(question.expected.of[d]);
  parts[kDimensions] = question.delay;
  parts[kDimensions + 1] = question.life;
  unsigned present = 0;
  for (std::size_t i = 0; i < std::size(parts); ++i) present |= parts[i] != 0 ? 1u << i : 0u;
  const auto priority = static_cast<std::uint32_t>(question.priority);
  writer.key(question.pod);
  writer->number(static_cast<std::uint8_t>(present));
  writer->varint(priority << 1 ^ (question.priority < 0 ? UINT32_MAX : 0));
  writer.amount(question.cpu, kMilli);
  writer.amount(question.memory, 1);
  for (const float part : parts)
    if (part != 0) writer->short_real(part);
}

void write(MessageWriter& writer, const LeaderAsks& asks) {
  writer->varint(asks.term);
  writer->varint(asks.questions.size());
  for (const PodQuestion& question : asks.questions) write(writer, question);
}

void write(MessageWriter& writer, const LeaderAwards& awards) {
  writer->varint(awards.term);
  writer->varint(awards.awards);
  writer->varint(awards.pods.size() << 1 | (awards.withdrawn ? 1u : 0u));
  for (const PodKey& pod : awards.pods) writer.key(pod);
}

void write(MessageWriter& writer, const LeaderModel& model) {
  writer->varint(model.term);
  writer.version(model.version);
  writer.reals(model.parameters);
}

void write(MessageWriter& writer, const NotLeading& answer) {
  writer->varint(answer.term);
  writer->varint(answer.holder.size());
  writer->raw(answer.holder);
  writer->number(answer.incarnation);
}

Kind kind_of(const AgentHello&) { return Kind::hello; }
Kind kind_of(const AgentBids&) { return Kind::bids; }
Kind kind_of(const AgentLessons&) { return Kind::lessons; }
Kind kind_of(const LeaderBeat&) { return Kind::beat; }
Kind kind_of(const LeaderAsks&) { return Kind::asks; }
Kind kind_of(const LeaderAwards&) { return Kind::awards; }
Kind kind_of(const LeaderModel&) { return Kind::model; }
Kind kind_of(const NotLeading&) { return Kind::not_leading; }

template <class Message>
Status append(const Message& message, std::string& bytes) {
  if (auto checked = check(message); !checked) return checked;
  MessageWriter writer(bytes, kind_of(message));
  write(writer, message);
  return writer.finish();
}

Status append(const AgentReport& message, std::string& bytes) {
  FrameHead head;
  head.age = message.age;
  std::string frame;
  if (auto written = write_frame(head, message.report, frame); !written) return written;
  MessageWriter writer(bytes, Kind::report);
  writer->raw(std::string_view(frame).substr(kFrameHeader));
  return writer.finish();
}

// ---- Reading.

bool read_flag(WireReader& reader) {
  const auto byte = reader.number<std::uint8_t>();
  if (byte > 1) reader.damage();
  return byte == 1;
}

PodKey read_key(WireReader& reader) {
  PodKey key;
  const std::string_view bytes = reader.take(kKeyBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) key.bytes[i] = static_cast<std::uint8_t>(bytes[i]);
  return key;
}

ModelVersion read_version(WireReader& reader) {
  ModelVersion version;
  version.term = reader.small_varint();
  version.number = reader.small_varint();
  return version;
}

// So many of them, each of so many bytes at least: whoever says more than came is not given memory for it.
std::size_t read_count(WireReader& reader, std::uint64_t said, std::size_t most, std::size_t each) {
  if (said <= most && said <= reader.left() / each) return static_cast<std::size_t>(said);
  reader.damage();
  return 0;
}

std::vector<float> read_reals(WireReader& reader) {
  const std::size_t count = read_count(reader, reader.varint(), kMostParameters, sizeof(float));
  std::vector<float> all(count);
  for (float& one : all) one = reader.short_real();
  return all;
}

double read_amount(WireReader& reader, double units) {
  const std::uint64_t said = reader.varint();
  if ((said & 1) == 0) return static_cast<double>(said >> 1) / units;
  if (said != 1) reader.damage();
  return reader.real();
}

AgentHello read_hello(WireReader& reader) {
  AgentHello hello;
  const std::uint32_t protocol = reader.small_varint();
  hello.protocol = protocol <= UINT16_MAX ? static_cast<std::uint16_t>(protocol) : std::uint16_t{0};
  hello.incarnation = reader.number<std::uint64_t>();
  hello.term = reader.small_varint();
  hello.sees_pods = read_flag(reader);
  hello.model = read_version(reader);
  hello.node = reader.text();
  return hello;
}

AgentBids read_bids(WireReader& reader) {
  AgentBids bids;
  bids.term = reader.small_varint();
  bids.bids.resize(read_count(reader, reader.varint(), kMostOfABatch, kLeastBid));
  for (Bid& bid : bids.bids) {
    bid.pod = read_key(reader);
    const std::uint64_t packed = reader.varint();
    if (packed >> 3 > UINT32_MAX) reader.damage();
    bid.awards = static_cast<std::uint32_t>(packed >> 3);
    bid.verdict = static_cast<BidVerdict>(packed & 3);
    if ((packed & 4) != 0) bid.score = reader.short_real();
  }
  return bids;
}

AgentLessons read_lessons(WireReader& reader) {
  AgentLessons lessons;
  lessons.from = read_version(reader);
  lessons.experience = reader.small_varint();
  lessons.parameters = read_reals(reader);
  return lessons;
}

LeaderBeat read_beat(WireReader& reader) {
  LeaderBeat beat;
  beat.term = reader.small_varint();
  beat.beat = reader.small_varint();
  beat.tells_pods = read_flag(reader);
  beat.leader = reader.text();
  beat.deputies.resize(read_count(reader, reader.number<std::uint8_t>(), kMostDeputies, kLeastDeputy));
  for (std::string& deputy : beat.deputies) deputy = reader.text();
  for (auto* six : {&beat.cluster.used, &beat.cluster.spread})
    for (float& share : *six) share = reader.short_real();
  beat.cluster.cpu_requested = reader.short_real();
  beat.cluster.memory_requested = reader.short_real();
  beat.cluster.nodes = reader.small_varint();
  beat.cluster.pods = reader.small_varint();
  return beat;
}

PodQuestion read_question(WireReader& reader) {
  PodQuestion question;
  question.pod = read_key(reader);
  const unsigned present = reader.number<std::uint8_t>();
  const std::uint32_t priority = reader.small_varint();
  question.priority = static_cast<std::int32_t>(priority >> 1 ^ ((priority & 1) != 0 ? UINT32_MAX : 0));
  question.cpu = read_amount(reader, kMilli);
  question.memory = read_amount(reader, 1);
  for (std::size_t d = 0; d < kDimensions; ++d)
    if ((present >> d & 1) != 0) question.expected.of[d] = static_cast<double>(reader.short_real());
  if ((present >> kDimensions & 1) != 0) question.delay = reader.short_real();
  if ((present >> (kDimensions + 1) & 1) != 0) question.life = reader.short_real();
  return question;
}

LeaderAsks read_asks(WireReader& reader) {
  LeaderAsks asks;
  asks.term = reader.small_varint();
  asks.questions.resize(read_count(reader, reader.varint(), kMostOfABatch, kLeastQuestion));
  for (PodQuestion& question : asks.questions) question = read_question(reader);
  return asks;
}

LeaderAwards read_awards(WireReader& reader) {
  LeaderAwards awards;
  awards.term = reader.small_varint();
  awards.awards = reader.small_varint();
  const std::uint64_t packed = reader.varint();
  awards.withdrawn = (packed & 1) != 0;
  awards.pods.resize(read_count(reader, packed >> 1, kMostOfABatch, kKeyBytes));
  for (PodKey& pod : awards.pods) pod = read_key(reader);
  return awards;
}

LeaderModel read_model(WireReader& reader) {
  LeaderModel model;
  model.term = reader.small_varint();
  model.version = read_version(reader);
  model.parameters = read_reals(reader);
  return model;
}

NotLeading read_not_leading(WireReader& reader) {
  NotLeading answer;
  answer.term = reader.small_varint();
  answer.holder = reader.take(read_count(reader, reader.varint(), kMostHolder, 1));
  answer.incarnation = reader.number<std::uint64_t>();
  return answer;
}

template <class Message>
Result<Message> judged(Message message, const WireReader& reader) {
  if (reader.was_cut()) return invalid("a message that ends in its middle, or is damaged");
  if (!reader.is_at_end()) return invalid("a message with more behind its end");
  if (auto checked = check(message); !checked) return checked.error();
  return message;
}

template <class Any, class Message>
Result<Any> any_of(Result<Message> read) {
  if (!read) return read.error();
  return Any(*std::move(read));
}

Result<AgentReport> read_report(std::string_view bytes) {
  auto frame = read_frame(bytes);
  if (!frame) return frame.error();
  return AgentReport{.report = std::move(frame->report), .age = frame->age};
}

Result<Kind> read_kind(WireReader& reader) {
  const auto head = reader.number<std::uint8_t>();
  if (reader.was_cut()) return invalid("a message of nothing");
  if (head >> 4 != kVersion)
    return invalid("version " + std::to_string(head >> 4) + " of agents' messages, expected " +
                   std::to_string(kVersion));
  return static_cast<Kind>(head & 15);
}

}  // namespace

Status append_message(const FromAgent& message, std::string& bytes) {
  return std::visit([&](const auto& one) { return append(one, bytes); }, message);
}

Status append_message(const FromLeader& message, std::string& bytes) {
  return std::visit([&](const auto& one) { return append(one, bytes); }, message);
}

void append_welcome(std::string& bytes) { (void)MessageWriter(bytes, Kind::welcome).finish(); }

bool is_welcome(std::string_view body) {
  return body.size() == 1 && static_cast<std::uint8_t>(body.front()) == head_of(Kind::welcome);
}

Result<std::optional<MessagePlace>> first_message(std::string_view bytes) {
  constexpr std::size_t kMostDigits = 3;
  std::size_t length = 0;
  for (std::size_t i = 0; i < kMostDigits; ++i) {
    if (i == bytes.size()) return std::optional<MessagePlace>();
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    length |= std::size_t{byte & 0x7fu} << (7 * i);
    if ((byte & 0x80) != 0) continue;
    if (length == 0 || length > kMostAgentMessage || (byte == 0 && i > 0)) break;
    if (bytes.size() - i - 1 < length) return std::optional<MessagePlace>();
    return std::optional(MessagePlace{.begin = i + 1, .end = i + 1 + length});
  }
  return invalid("a message of a length that cannot be");
}

Result<FromAgent> read_from_agent(std::string_view body) {
  WireReader reader(body);
  const auto kind = read_kind(reader);
  if (!kind) return kind.error();
  switch (*kind) {
    case Kind::hello:
      return any_of<FromAgent>(judged(read_hello(reader), reader));
    case Kind::bids:
      return any_of<FromAgent>(judged(read_bids(reader), reader));
    case Kind::report:
      return any_of<FromAgent>(read_report(body.substr(1)));
    case Kind::lessons:
      return any_of<FromAgent>(judged(read_lessons(reader), reader));
    default:
      return invalid("what no agent says to a leader");
  }
}

Result<FromLeader> read_from_leader(std::string_view body) {
  WireReader reader(body);
  const auto kind = read_kind(reader);
  if (!kind) return kind.error();
  switch (*kind) {
    case Kind::beat:
      return any_of<FromLeader>(judged(read_beat(reader), reader));
    case Kind::asks:
      return any_of<FromLeader>(judged(read_asks(reader), reader));
    case Kind::awards:
      return any_of<FromLeader>(judged(read_awards(reader), reader));
    case Kind::model:
      return any_of<FromLeader>(judged(read_model(reader), reader));
    case Kind::not_leading:
      return any_of<FromLeader>(judged(read_not_leading(reader), reader));
    default:
      return invalid("what no leader says to an agent");
  }
}

}  // namespace evenkeel::messaging
