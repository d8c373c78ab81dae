// Objects that somebody made to break us, or a program made by mistake: an error that names the object and
// the field, or what the API server would make of it, and in no time.
#include <gtest/gtest.h>

#include "kubernetes/manifest.h"
#include "kubernetes/read_object.h"

namespace evenkeel::kubernetes {
namespace {

Result<std::optional<ApiObject>> read(std::string_view json) {
  const Result<JsonDocument> document = JsonDocument::parse(json, "test");
  if (!document) return document.error();
  return read_object(document->root());
}

Result<std::optional<ApiObject>> read_pod(const std::string& spec) {
  return read(
      R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "web"}, "spec": )" +
      spec + "}");
}

PodSpec pod(const std::string& spec) {
  const auto object = read_pod(spec);
  EXPECT_TRUE(object) << object.error().message;
  return object ? std::get<PodObject>(**object).spec : PodSpec{};
}

std::string error_of(const std::string& spec) {
  const auto object = read_pod(spec);
  return object ? "no error" : object.error().message;
}

std::string asking(const std::string& memory) {
  return R"({"containers": [{"name": "c", "resources": {"requests": {"memory": ")" + memory + R"("}}}]})";
}

std::string repeated(int times, const std::string& entry) {
  std::string list;
  for (int i = 0; i < times; ++i) list += (i ? "," : "") + entry;
  return list;
}

TEST(HostileObject, WithAnAbsurdQuantityIsNamed) {
  constexpr const char* kWhere = "Pod web/p: spec.containers[0].resources.requests.memory: ";
  EXPECT_EQ(error_of(asking("1e999")), kWhere + std::string("quantity '1e999' is too large"));
  EXPECT_EQ(error_of(asking("9223372036854775808")),
            kWhere + std::string("quantity '9223372036854775808' is too large"));
  EXPECT_EQ(error_of(asking("100000000000E")), kWhere + std::string("quantity '100000000000E' is too large"));
  EXPECT_EQ(error_of(asking("-5")), kWhere + std::string("expected a quantity of 0 or more, found '-5'"));
  for (const char* text :
       {"1.5.2", "", "Mi", "1e", "1ee3", "0x10", "NaN", "inf", "1 Gi", "5KiB", "--1", "１"})
    EXPECT_EQ(error_of(asking(text)).substr(0, std::string(kWhere).size()), kWhere) << text;
  EXPECT_EQ(pod(asking("1e-999")).containers[0].requests.memory, Bytes{1});
}

TEST(HostileObject, NeverMakesASumOverflow) {
  const std::string container =
      R"({"name": "c", "resources": {"requests": {"cpu": "9e15", "memory": "7Ei", "example.com/x": "9e18"}}})";
  const PodSpec spec = pod(R"({"containers": [)" + repeated(1000, container) + "]}");
  const Resources asked = effective_request(spec);
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  EXPECT_EQ(asked.cpu.count, kMost);
  EXPECT_EQ(asked.memory.count, kMost);
  EXPECT_EQ(asked.extended_count("example.com/x"), kMost);
  EXPECT_EQ(non_zero_request(spec).memory.count, kMost);
}

TEST(HostileObject, WithListsThatNobodyNeedsIsNamed) {
  EXPECT_EQ(error_of(R"({"containers": [)" + repeated(30'000, R"({"name": "c"})") + "]}"),
            "Pod web/p: spec.containers: expected at most 1000 entries, found 30000");
  std::string resources;
  for (int i = 0; i < 30'000; ++i)
    resources += (i ? ",\"x.io/" : "\"x.io/") + std::to_string(i) + "\": \"1\"";
  EXPECT_EQ(error_of(R"({"containers": [{"name": "c", "resources": {"requests": {)" + resources +
                     R"(}, "limits": {)" + resources + "}}}]}"),
            "Pod web/p: spec.containers[0].resources.limits: expected at most 1000 entries, found 30000");
  EXPECT_EQ(
      error_of(R"({"containers": [], "tolerations": [)" + repeated(5000, R"({"operator": "Exists"})") + "]}"),
      "Pod web/p: spec.tolerations: expected at most 1000 entries, found 5000");
  const std::string term = R"({"topologyKey": "z", "labelSelector": {}})";
  EXPECT_EQ(
      error_of(
          R"({"containers": [], "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [)" +
          repeated(20'000, term) + "]}}}"),
      "Pod web/p: "
      "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution: expected at most 1000 "
      "entries, "
      "found 20000");
}

TEST(HostileObject, WithAWordNobodyKnowsIsNamed) {
  EXPECT_EQ(
      error_of(R"({"containers": [], "tolerations": [{"effect": "Sometimes"}]})"),
      "Pod web/p: spec.tolerations[0].effect: expected one of NoSchedule, PreferNoSchedule, NoExecute, found "
      "'Sometimes'");
  EXPECT_EQ(error_of(R"({"containers": [], "preemptionPolicy": "Always"})"),
            "Pod web/p: spec.preemptionPolicy: expected one of PreemptLowerPriority, Never, found 'Always'");
  EXPECT_EQ(error_of(R"({"containers": [], "affinity": {"nodeAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
    {"key": "a", "operator": "Near", "values": ["b"]}]}]}}}})")
                .substr(0, 20),
            "Pod web/p: spec.affi");
}

TEST(HostileObject, WithAWeightOrSkewOutOfBoundsIsNamed) {
  const auto preferring = [](const std::string& weight) {
    return R"({"containers": [], "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
      {"weight": )" +
           weight + R"(, "preference": {}}]}}})";
  };
  EXPECT_NE(error_of(preferring("-1")).find("weight: expected a number from 0 to 100, found -1"),
            std::string::npos);
  EXPECT_NE(error_of(preferring("2147483648")).find("weight: expected a number from 0 to 100"),
            std::string::npos);
  const auto spread = [](const std::string& skew) {
    return R"({"containers": [], "topologySpreadConstraints": [{"topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule",
      "labelSelector": {}, "maxSkew": )" +
           skew + "}]}";
  };
  EXPECT_EQ(pod(spread("2147483647")).spread[0].max_skew, 2147483647);
  EXPECT_NE(error_of(spread("0")), "no error");
  EXPECT_NE(error_of(spread("99999999999")), "no error");
}

TEST(HostileObject, ThatOwnsItselfIsReadLikeAnyOther) {
  const auto object = read(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "uid": "u",
    "ownerReferences": [{"kind": "Pod", "name": "p", "uid": "u", "controller": true},
                        {"kind": "Pod", "name": "p", "uid": "u", "controller": true}]}, "spec": {"containers": []}})");
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ(std::get<PodObject>(**object).owners.size(), 2U);
}

TEST(HostileManifest, WithTenThousandLabelsOrAHugeAnnotationIsReadInNoTime) {
  std::string labels;
  for (int i = 0; i < 10'000; ++i) labels += "    key-" + std::to_string(i) + ": v\n";
  const auto objects =
      read_manifest("apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  annotations:\n    a: '" +
                        std::string(10 << 20, 'x') + "'\n  labels:\n" + labels + "spec:\n  containers: []\n",
                    "file.yaml");
  ASSERT_TRUE(objects) << objects.error().message;
  EXPECT_EQ(std::get<PodObject>(objects->front()).labels.all().size(), 10'000U);
}

TEST(HostileManifest, NestedTooDeeplyOrNeverEndingIsRefused) {
  const std::string opening(100'000, '[');
  for (const std::string& text :
       {opening, "{a: " + opening, std::string(50'000, '-') + " x", repeated(20'000, "- ").substr(0, 100),
        std::string("\n, a"), std::string(","), std::string("a: b\n---\n, c"), std::string("[a, b]]")}) {
    const auto objects = read_manifest(text, "file.yaml");
    ASSERT_FALSE(objects) << text.substr(0, 40);
    EXPECT_EQ(objects.error().message.substr(0, 10), "file.yaml:") << objects.error().message.substr(0, 200);
    EXPECT_LT(objects.error().message.size(), 300U);
  }
}

}  // namespace
}  // namespace evenkeel::kubernetes
