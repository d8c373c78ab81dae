#include "base/yaml_reader.h"

#include <gtest/gtest.h>

#include <functional>

namespace evenkeel {
namespace {

using namespace literals;
using namespace std::chrono_literals;

YamlFile parsed(std::string_view text) {
  auto file = YamlFile::parse(text, "x.yaml");
  EXPECT_TRUE(file) << file.error().message;
  return *std::move(file);
}

// What reading the text by the given code ends with.
std::string error_of(std::string_view text, const std::function<void(YamlReader&)>& read,
                     std::initializer_list<std::string_view> overrides = {}) {
  YamlFile file = parsed(text);
  for (const std::string_view assignment : overrides) EXPECT_TRUE(file.set(assignment));
  YamlReader root(file);
  read(root);
  const auto bad = root.finish();
  return bad ? bad->message : "no error";
}

constexpr std::string_view kScenario = R"(
kind: Scenario
seed: 7
nodes:
  count: 4
  cpu: 500m
  memory: 4GiB
  read: 36 MB/s
  spread: even
moves:
  per_hour: 1.5
  pause: 5m
  enabled: true
apps:
  - name: web
    demand: [0.1, 0.2]
  - name: batch
labels:
  kubernetes.io/arch: amd64
  zone: a
)";

enum class Spread { even, random };

TEST(YamlReader, ReadsEveryKindOfField) {
  const YamlFile file = parsed(kScenario);
  YamlReader root(file);
  EXPECT_EQ(root.word("kind", {"Scenario", "Recipe"}).required(), "Scenario");
  EXPECT_EQ(root.integer<std::uint64_t>("seed").required(), 7U);
  YamlReader nodes = root.map("nodes");
  EXPECT_EQ(nodes.integer<int>("count").at_least(1).required(), 4);
  EXPECT_EQ(nodes.cpu("cpu").required(), 500_mcpu);
  EXPECT_EQ(nodes.bytes("memory").required(), 4_GiB);
  EXPECT_EQ(nodes.byte_rate("read").required(), 36000000_Bps);
  EXPECT_EQ(nodes.choice<Spread>("spread", {{"even", Spread::even}, {"random", Spread::random}}).required(),
            Spread::even);
  EXPECT_EQ(root.number("moves.per_hour").between(0, 2).required(), 1.5);
  EXPECT_EQ(root.duration("moves.pause").at_most(1h).required(), 5min);
  EXPECT_TRUE(root.boolean("moves.enabled").required());
  std::vector<YamlReader> apps = root.list("apps");
  ASSERT_EQ(apps.size(), 2U);
  EXPECT_EQ(apps[0].text("name").required(), "web");
  EXPECT_EQ(apps[0].numbers("demand").required(), (std::vector<double>{0.1, 0.2}));
  EXPECT_EQ(apps[1].text("name").required(), "batch");
  EXPECT_EQ(apps[1].numbers("demand").optional(), std::nullopt);
  auto labels = root.entries("labels");
  ASSERT_EQ(labels.size(), 2U);
  EXPECT_EQ(labels[0].first, "kubernetes.io/arch");
  EXPECT_EQ(labels[0].second.text("").required(), "amd64");
  const auto bad = root.finish();
  EXPECT_FALSE(bad) << bad->message;
}

TEST(YamlReader, GivesDefaultsForWhatIsAbsent) {
  const YamlFile file = parsed("a: 1\nempty:\n");
  YamlReader root(file);
  EXPECT_EQ(root.integer("a").required(), 1);
  EXPECT_EQ(root.number("b.c").at_least(5).or_else(2), 2);
  EXPECT_EQ(root.text("d").optional(), std::nullopt);
  EXPECT_EQ(root.map("e").duration("f").or_else(3s), 3s);
  EXPECT_TRUE(root.list("g").empty());
  EXPECT_FALSE(root.has("h"));
  EXPECT_TRUE(root.has("a"));
  EXPECT_TRUE(root.list("empty").empty());
  EXPECT_EQ(root.map("empty").number("x").or_else(4), 4);
  EXPECT_FALSE(root.finish());
}

TEST(YamlReader, NamesFileLineFieldFoundAndExpected) {
  EXPECT_EQ(error_of("a: 1\nnodes:\n  count: many\n", [](auto& r) { r.integer("nodes.count"); }),
            "x.yaml:3: nodes.count: expected a whole number, found 'many'");
  EXPECT_EQ(error_of("count: 1.5\n", [](auto& r) { r.integer("count"); }),
            "x.yaml:1: count: expected a whole number, found '1.5'");
  EXPECT_EQ(error_of("share: \"1\"\n", [](auto& r) { r.number("share"); }),
            "x.yaml:1: share: expected a number, found the text \"1\"");
  EXPECT_EQ(error_of("share: .nan\n", [](auto& r) { r.number("share"); }),
            "x.yaml:1: share: expected a number, found '.nan'");
  EXPECT_EQ(error_of("share: {a: 1}\n", [](auto& r) { r.number("share"); }),
            "x.yaml:1: share: expected a number, found a map");
  EXPECT_EQ(error_of("share:\n", [](auto& r) { r.number("share"); }),
            "x.yaml:1: share: expected a number, found nothing");
  EXPECT_EQ(error_of("on: yes\n", [](auto& r) { r.boolean("on"); }),
            "x.yaml:1: on: expected true or false, found 'yes'");
  EXPECT_EQ(error_of("name: [a]\n", [](auto& r) { r.text("name"); }),
            "x.yaml:1: name: expected a text, found a list");
  EXPECT_EQ(error_of("pause: soon\n", [](auto& r) { r.duration("pause"); }),
            "x.yaml:1: pause: expected a duration such as 250ms, 20s, 5m, 2h or 1d, found 'soon'");
  EXPECT_EQ(error_of("pause: []\n", [](auto& r) { r.duration("pause"); }),
            "x.yaml:1: pause: expected a duration such as 20s, found a list");
  EXPECT_EQ(error_of("cpu: lots\n", [](auto& r) { r.cpu("cpu"); }),
            "x.yaml:1: cpu: expected a quantity such as 500m, 2, 1.5, 1e3, 64Mi or 5G, found 'lots'");
  EXPECT_EQ(error_of("size: 3 apples\n", [](auto& r) { r.bytes("size"); }),
            "x.yaml:1: size: expected a size such as 512, 64MiB, 4GiB or 8.4MB, found '3 apples'");
  EXPECT_EQ(error_of("d: [1, x]\n", [](auto& r) { r.numbers("d"); }),
            "x.yaml:1: d.1: expected a number, found 'x'");
}

TEST(YamlReader, HoldsValuesToTheirRange) {
  EXPECT_EQ(error_of("count: -3\n", [](auto& r) { EXPECT_EQ(r.integer("count").at_least(1).or_else(9), 9); }),
            "x.yaml:1: count: expected at least 1, found '-3'");
  EXPECT_EQ(error_of("share: 7\n", [](auto& r) { r.number("share").between(0, 1); }),
            "x.yaml:1: share: expected between 0 and 1, found '7'");
  EXPECT_EQ(error_of("pause: 2h\n", [](auto& r) { r.duration("pause").at_most(1h); }),
            "x.yaml:1: pause: expected at most 1h, found '2h'");
  EXPECT_EQ(error_of("size: 0\n", [](auto& r) { r.bytes("size").more_than(0_B); }),
            "x.yaml:1: size: expected more than 0B, found '0'");
  EXPECT_EQ(error_of("seed: -1\n", [](auto& r) { r.template integer<std::uint32_t>("seed"); }),
            "x.yaml:1: seed: expected between 0 and 4294967295, found '-1'");
  EXPECT_EQ(error_of("share: 1\n", [](auto& r) { r.number("share").between(0, 1); }), "no error");
}

TEST(YamlReader, OffersTheWordsThereAre) {
  const auto read = [](auto& r) {
    r.template choice<Spread>("spread", {{"even", Spread::even}, {"random", Spread::random}});
  };
  EXPECT_EQ(error_of("spread: evn\n", read),
            "x.yaml:1: spread: expected one of even, random, found 'evn'; did you mean 'even'?");
  EXPECT_EQ(error_of("kind: Pod\n", [](auto& r) { r.word("kind", {"Scenario"}); }),
            "x.yaml:1: kind: expected Scenario, found 'Pod'");
}

TEST(YamlReader, RefusesFieldsNobodyAskedFor) {
  const auto read = [](auto& r) {
    r.integer("nodes.count").or_else(1);
    r.cpu("nodes.cpu").or_else(1_cpu);
  };
  EXPECT_EQ(error_of("nodes:\n  cpu: 1\n  cuont: 3\n", read),
            "x.yaml:3: nodes.cuont: unknown field; did you mean 'count'?");
  EXPECT_EQ(error_of("nodes:\n  cpu: 1\n  flavour: 3\n", read),
            "x.yaml:3: nodes.flavour: unknown field; known here: count, cpu");
  EXPECT_EQ(error_of("colour: red\n", [](auto&) {}), "x.yaml:1: colour: unknown field");
  EXPECT_EQ(error_of("apps:\n  - name: a\n    nmae: b\n",
                     [](auto& r) {
                       for (YamlReader& app : r.list("apps")) app.text("name");
                     }),
            "x.yaml:3: apps.0.nmae: unknown field; known here: name");
  EXPECT_EQ(error_of("metadata: {any: thing}\n", [](auto& r) { r.ignore("metadata"); }), "no error");
}

TEST(YamlReader, DemandsRequiredFields) {
  EXPECT_EQ(error_of("a: 1\nnodes:\n  cpu: 1\n",
                     [](auto& r) {
                       r.integer("nodes.count").required();
                       r.integer("a");
                       r.cpu("nodes.cpu");
                     }),
            "x.yaml:2: nodes.count: this field is required");
  EXPECT_EQ(error_of("", [](auto& r) { r.text("kind").required(); }),
            "x.yaml:1: kind: this field is required");
  EXPECT_EQ(error_of("apps:\n  - x: 1\n  - y: 1\n",
                     [](auto& r) {
                       for (YamlReader& app : r.list("apps")) app.integer("x").required();
                     }),
            "x.yaml:3: apps.1.x: this field is required");
}

TEST(YamlReader, ExplainsAMissingFieldByAMisspeltOne) {
  const auto read = [](auto& r) {
    r.integer("nodes.count").required();
    r.integer("nodes.counts");
  };
  EXPECT_EQ(error_of("nodes:\n  cuont: 3\n", read),
            "x.yaml:2: nodes.cuont: unknown field; did you mean 'count'?");
  EXPECT_EQ(error_of("ndoes:\n  count: 3\n", read), "x.yaml:1: ndoes: unknown field; did you mean 'nodes'?");
  // A near name that is a field of its own is no misspelling, even when it is asked for later.
  EXPECT_EQ(error_of("nodes:\n  counts: 3\n", read), "x.yaml:1: nodes.count: this field is required");
}

TEST(YamlReader, NamesTheFlagOfAFieldSetByHand) {
  const auto read = [](auto& r) { r.integer("nodes.count").at_least(1).or_else(1); };
  EXPECT_EQ(error_of("", read, {"nodes.count=none"}),
            "--set nodes.count: expected a whole number, found 'none'");
  EXPECT_EQ(error_of("nodes: {count: 3}", read, {"nodes.count=0"}),
            "--set nodes.count: expected at least 1, found '0'");
  EXPECT_EQ(error_of("nodes: {count: 3}", read, {"nodes.conut=4"}),
            "--set nodes.conut: unknown field; known here: count");
  EXPECT_EQ(error_of("", read, {"nodes={conut: 4}"}),
            "--set nodes: nodes.conut: unknown field; did you mean 'count'?");
  EXPECT_EQ(error_of("", read, {"nodes=5"}), "--set nodes: expected a map, found '5'");
}

TEST(YamlReader, ReportsTheFirstErrorAndReadsOnHarmlessly) {
  EXPECT_EQ(error_of("a: x\nb: y\n",
                     [](auto& r) {
                       EXPECT_EQ(r.integer("a").required(), 0);
                       EXPECT_EQ(r.text("b.c").or_else("fallback"), "fallback");
                       EXPECT_TRUE(r.list("b").empty());
                     }),
            "x.yaml:1: a: expected a whole number, found 'x'");
}

TEST(YamlReader, ReportsAScalarOrListInPlaceOfAMap) {
  EXPECT_EQ(error_of("nodes: 3\n", [](auto& r) { r.integer("nodes.count"); }),
            "x.yaml:1: nodes: expected a map, found '3'");
  EXPECT_EQ(error_of("nodes: [3]\n", [](auto& r) { r.map("nodes").integer("count"); }),
            "x.yaml:1: nodes: expected a map, found a list");
  EXPECT_EQ(error_of("- 1\n", [](auto& r) { r.integer("count"); }), "x.yaml:1: expected a map, found a list");
  EXPECT_EQ(error_of("apps: {a: 1}\n", [](auto& r) { r.list("apps"); }),
            "x.yaml:1: apps: expected a list, found a map");
}

TEST(YamlReader, PlacesErrorsOfTheCaller) {
  EXPECT_EQ(error_of("from: 5\nto: 3\n",
                     [](auto& r) {
                       if (r.integer("to").or_else(0) < r.integer("from").or_else(0))
                         r.fail("to", "must follow 'from'");
                     }),
            "x.yaml:2: to: must follow 'from'");
}

}  // namespace
}  // namespace evenkeel
