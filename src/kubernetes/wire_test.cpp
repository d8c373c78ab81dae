#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/random.h"
#include "kubernetes/protobuf_json.h"
#include "kubernetes/protobuf_wire.h"
#include "kubernetes/rfc3339.h"
#include "kubernetes/wire_objects.h"

namespace evenkeel::kubernetes {
namespace {

using nlohmann::json;

// A writer of the wire format, so that tests say what they mean.
struct Proto {
  std::string bytes;

  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
  }
  Proto& number(int field, std::int64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Proto& text(int field, std::string_view value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(value.size());
    bytes += value;
    return *this;
  }
  Proto& message(int field, const Proto& value) { return text(field, value.bytes); }
};

Proto entry(const std::string& key, const std::string& value) { return Proto().text(1, key).text(2, value); }
Proto quantity(const std::string& spelled) { return Proto().text(1, spelled); }

Proto metadata() {
  return Proto()
      .text(1, "web-1")
      .text(3, "shop")
      .text(5, "u-1")
      .text(6, "77")
      .message(8, Proto().number(1, 1'763'280'000).number(2, 0))
      .message(11, entry("app", "web"))
      .message(11, entry("tier", "fr\"ont\n"));
}

Proto pod() {
  const Proto requests = Proto().message(2, Proto().text(1, "cpu").message(2, quantity("250m")));
  const Proto container = Proto().text(1, "main").text(2, "nginx").message(8, requests);
  const Proto toleration = Proto().text(1, "gone").text(2, "").text(4, "NoExecute").number(5, 0);
  const Proto spec = Proto()
                         .message(2, container)
                         .text(3, "Always")
                         .text(10, "")
                         .number(11, 0)
                         .text(19, "evenkeel")
                         .message(22, toleration)
                         .number(25, -7);
  const Proto status = Proto().text(1, "Pending");
  return Proto().message(1, metadata()).message(2, spec).message(3, status);
}

std::string enveloped(const std::string& api_version, const std::string& kind, const Proto& object) {
  return std::string("k8s\0", 4) +
         Proto().message(1, Proto().text(1, api_version).text(2, kind)).message(2, object).bytes;
}

std::string watch_frame(const std::string& type, const std::string& inside) {
  return Proto().text(1, type).message(2, Proto().text(1, inside)).bytes;
}

TEST(ProtobufJson, SaysWhatTheApiWouldHaveSaidInJson) {
  std::string text;
  const auto done = append_protobuf_as_json(pod().bytes, "v1", "Pod", text);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(json::parse(text), json::parse(R"({
    "metadata": {"name": "web-1", "namespace": "shop", "uid": "u-1", "resourceVersion": "77",
                 "creationTimestamp": "2025-11-16T08:00:00Z", "labels": {"app": "web", "tier": "fr\"ont\n"}},
    "spec": {"containers": [{"name": "main", "image": "nginx", "resources": {"requests": {"cpu": "250m"}}}],
             "restartPolicy": "Always", "schedulerName": "evenkeel",
             "tolerations": [{"key": "gone", "effect": "NoExecute", "tolerationSeconds": 0}], "priority": -7},
    "status": {"phase": "Pending"}})"));
}

TEST(ProtobufJson, WritesInlinedMessagesAmongTheFieldsOfTheirHolder) {
  const Proto claim = Proto().text(1, "data").number(2, 1);
  const Proto volume = Proto().text(1, "v").message(2, Proto().message(10, claim));
  std::string text;
  ASSERT_TRUE(
      append_protobuf_as_json(Proto().message(2, Proto().message(1, volume)).bytes, "v1", "Pod", text));
  EXPECT_EQ(
      text,
      R"({"spec":{"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data","readOnly":true}}]}})");
}

TEST(ProtobufJson, SpellsNumbersOrTextAsTheyWere) {
  const auto budget = [](const Proto& value) {
    std::string text;
    EXPECT_TRUE(append_protobuf_as_json(Proto().message(2, Proto().message(1, value)).bytes, "policy/v1",
                                        "PodDisruptionBudget", text));
    return text;
  };
  EXPECT_EQ(budget(Proto().number(1, 0).number(2, 3).text(3, "")), R"({"spec":{"minAvailable":3}})");
  EXPECT_EQ(budget(Proto().number(1, 1).number(2, 0).text(3, "50%")), R"({"spec":{"minAvailable":"50%"}})");
}

TEST(ProtobufJson, JumpsOverFieldsItDoesNotKnow) {
  Proto object = Proto().text(999, "new in some later version").number(998, 5);
  object.message(3, Proto().text(1, "Running"));
  std::string text;
  ASSERT_TRUE(append_protobuf_as_json(object.bytes, "v1", "Pod", text));
  EXPECT_EQ(text, R"({"status":{"phase":"Running"}})");
}

TEST(ProtobufJson, RefusesDamageAndTakesItsHalfWrittenTextBack) {
  const std::string whole = pod().bytes;
  std::string text = "before";
  for (std::size_t length = 1; length < whole.size(); ++length) {
    // A cut between two fields of the outermost message leaves a whole message.
    if (append_protobuf_as_json(std::string_view(whole).substr(0, length), "v1", "Pod", text)) {
      EXPECT_TRUE(json::accept(text.substr(6)));
      text.resize(6);
    }
    EXPECT_EQ(text, "before");
  }
}

TEST(ProtobufJson, RefusesAFieldThatStandsTwiceAndTextThatIsNoUtf8) {
  std::string text;
  EXPECT_FALSE(append_protobuf_as_json(pod().message(3, Proto()).bytes, "v1", "Pod", text));
  EXPECT_FALSE(
      append_protobuf_as_json(Proto().message(3, Proto().text(1, "\xff\xfe")).bytes, "v1", "Pod", text));
  EXPECT_FALSE(append_protobuf_as_json("", "example.com/v1", "Custom", text));
}

TEST(Wire, ReadsTheSameListFromBothFormats) {
  const Proto list =
      Proto().message(1, Proto().text(2, "90").text(3, "more")).message(2, pod()).message(2, pod());
  const auto packed = read_list(WireFormat::protobuf, enveloped("v1", "PodList", list), "v1", "Pod");
  ASSERT_TRUE(packed) << packed.error().message;
  std::string one;
  ASSERT_TRUE(append_protobuf_as_json(pod().bytes, "v1", "Pod", one));
  const auto spelled =
      read_list(WireFormat::json,
                R"({"kind":"PodList","metadata":{"resourceVersion":"90","continue":"more"},"items":[)" + one +
                    "," + one + "]}",
                "v1", "Pod");
  ASSERT_TRUE(spelled) << spelled.error().message;
  ASSERT_EQ(packed->items.size(), 2u);
  ASSERT_EQ(spelled->items.size(), 2u);
  EXPECT_EQ(packed->items[0].identity, spelled->items[0].identity);
  EXPECT_EQ(packed->items[0].identity, (ObjectIdentity{"shop", "web-1", "u-1", "77"}));
  EXPECT_EQ(packed->resource_version, "90");
  EXPECT_EQ(spelled->continue_token, "more");
  EXPECT_EQ(json::parse(packed->items[1].json), json::parse(spelled->items[1].json));
}

TEST(Wire, TakesGosEmptyListForAnEmptyList) {
  const auto page =
      read_list(WireFormat::json, R"({"metadata":{"resourceVersion":"1"},"items":null})", "v1", "Pod");
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->items.empty());
}

TEST(Wire, LeavesOutAndNamesTheOneObjectThatIsDamaged) {
  Proto bad = Proto().message(1, Proto().text(1, "bad").text(3, "shop"));
  bad.message(3, Proto().text(1, "\xff"));
  const Proto list = Proto().message(1, Proto().text(2, "90")).message(2, bad).message(2, pod());
  const auto page = read_list(WireFormat::protobuf, enveloped("v1", "PodList", list), "v1", "Pod");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->items.size(), 1u);
  ASSERT_EQ(page->damaged.size(), 1u);
  EXPECT_NE(page->damaged[0].find("shop/bad"), std::string::npos) << page->damaged[0];
}

TEST(Wire, ReadsEventsBookmarksAndErrorsOfAWatch) {
  const auto added =
      read_watch_event(WireFormat::protobuf, watch_frame("ADDED", enveloped("v1", "Pod", pod())));
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->object.identity.uid, "u-1");
  const auto mark = read_watch_event(WireFormat::json,
                                     R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"99"}}})");
  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->object.identity.resource_version, "99");
  const Proto status = Proto().text(2, "Failure").text(3, "too old").text(4, "Expired").number(6, 410);
  const auto packed =
      read_watch_event(WireFormat::protobuf, watch_frame("ERROR", enveloped("v1", "Status", status)));
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->status.code, 410);
  EXPECT_EQ(packed->status.reason, "Expired");
  const auto spelled = read_watch_event(
      WireFormat::json, R"({"type":"ERROR","object":{"code":410,"reason":"Expired","message":"too old"}})");
  ASSERT_TRUE(spelled);
  EXPECT_EQ(spelled->status.code, 410);
}

TEST(Wire, UnderstandsARefusalInEitherFormatAndAProxysPage) {
  const Proto status =
      Proto().text(3, "slow down").text(4, "TooManyRequests").message(5, Proto().number(5, 3)).number(6, 429);
  EXPECT_EQ(read_status(WireFormat::protobuf, enveloped("v1", "Status", status), 429).retry_after_seconds, 3);
  EXPECT_EQ(read_status(WireFormat::json, R"({"code":404,"message":"no such pod"})", 404).message,
            "no such pod");
  const ApiStatus page = read_status(WireFormat::json, "<html>bad gateway</html>", 502);
  EXPECT_EQ(page.code, 502);
  EXPECT_EQ(page.message, "<html>bad gateway</html>");
}

// Changes bytes, cuts, doubles and splices: whatever comes out is refused or is valid, never a crash.
std::string mutated(std::string bytes, const std::string& donor, Random& random) {
  for (std::uint64_t i = 0, n = 1 + random.below(3); i < n && !bytes.empty(); ++i) {
    const auto at = random.below(bytes.size());
    switch (random.below(5)) {
      case 0:
        bytes[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(at, donor.substr(random.below(donor.size()), random.below(40)));
        break;
      default:
        bytes.erase(at, random.below(8));
    }
  }
  return bytes;
}

TEST(Wire, SurvivesFortyThousandMutations) {
  const Proto list = Proto().message(1, Proto().text(2, "90")).message(2, pod()).message(2, pod());
  std::string one;
  ASSERT_TRUE(append_protobuf_as_json(pod().bytes, "v1", "Pod", one));
  const std::string packed_list = enveloped("v1", "PodList", list);
  const std::string packed_event = watch_frame("MODIFIED", enveloped("v1", "Pod", pod()));
  const std::string spelled_list = R"({"metadata":{"resourceVersion":"9"},"items":[)" + one + "]}";
  const std::string spelled_event = R"({"type":"ADDED","object":)" + one + "}";
  Random random(11);
  const auto expect_valid = [](const WireObject& object) {
    EXPECT_TRUE(json::accept(object.json)) << object.json;
  };
  int read = 0;
  for (int round = 0; round < 10'000; ++round) {
    const auto pages = {
        read_list(WireFormat::protobuf, mutated(packed_list, packed_event, random), "v1", "Pod"),
        read_list(WireFormat::json, mutated(spelled_list, spelled_event, random), "v1", "Pod")};
    for (const auto& page : pages) {
      if (page) std::ranges::for_each(page->items, expect_valid);
      read += page ? 1 : 0;
    }
    const auto events = {read_watch_event(WireFormat::protobuf, mutated(packed_event, packed_list, random)),
                         read_watch_event(WireFormat::json, mutated(spelled_event, spelled_list, random))};
    for (const auto& event : events) {
      if (event && event->type != WatchEvent::Type::error && event->type != WatchEvent::Type::bookmark) {
        expect_valid(event->object);
      }
      read += event ? 1 : 0;
    }
  }
  EXPECT_GT(read, 1000);  // many mutants are still whole, so both outcomes were tried
}

TEST(ProtobufWalker, RefusesVarintsAndLengthsThatRunOver) {
  for (const std::string& bytes :
       {std::string("\x80"), std::string("\x08"),
        std::string("\x0a\x05"
                    "abc"),
        std::string("\x0b"), std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
        std::string("\x00", 1), std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")}) {
    ProtobufWalker walker(bytes);
    while (walker.next()) {
    }
    EXPECT_TRUE(walker.broken());
  }
}

TEST(Rfc3339, SpellsTimesAsTheApiDoes) {
  EXPECT_EQ(format_rfc3339(0, 0, false), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_rfc3339(1'763'280'000, 5'000, true), "2025-11-16T08:00:00.000005Z");
  EXPECT_EQ(format_rfc3339(-1, 0, false), "1969-12-31T23:59:59Z");
  EXPECT_EQ(format_rfc3339(253'402'300'800, 0, false), std::nullopt);
}

}  // namespace
}  // namespace evenkeel::kubernetes
