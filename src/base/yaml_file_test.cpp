#include "base/yaml_file.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

YamlFile parsed(std::string_view text) {
  auto file = YamlFile::parse(text, "x.yaml");
  EXPECT_TRUE(file) << file.error().message;
  return *std::move(file);
}

std::string error_of(std::string_view text) {
  const auto file = YamlFile::parse(text, "x.yaml");
  return file ? "no error" : file.error().message;
}

std::string error_of_set(std::string_view text, std::string_view assignment) {
  YamlFile file = parsed(text);
  const Status done = file.set(assignment);
  return done ? "no error" : done.error().message;
}

const YamlNode& at(const YamlFile& file, std::string_view path) {
  const YamlNode* node = &file.root();
  for (const std::string& key : split_yaml_path(path)) {
    node = node->kind == YamlNode::Kind::list ? &node->items.at(std::stoul(key)) : node->child(key);
    EXPECT_NE(node, nullptr) << path;
  }
  return *node;
}

TEST(YamlFile, KeepsValuesWithTheirLines) {
  const YamlFile file = parsed("a: 1\nb:\n  c: 'two'\n  d:\n    - x\n    - y: 3\n");
  EXPECT_EQ(at(file, "a").text, "1");
  EXPECT_EQ(at(file, "b").line, 2);
  EXPECT_EQ(at(file, "b.c").text, "two");
  EXPECT_TRUE(at(file, "b.c").quoted);
  EXPECT_EQ(at(file, "b.d.1.y").text, "3");
  EXPECT_EQ(at(file, "b.d.1.y").line, 6);
  EXPECT_EQ(file.root().keys, (std::vector<std::string>{"a", "b"}));
}

TEST(YamlFile, TakesAnEmptyFileAsNothing) {
  EXPECT_EQ(parsed("").root().kind, YamlNode::Kind::null);
  EXPECT_EQ(parsed("# only a comment\n").root().kind, YamlNode::Kind::null);
}

TEST(YamlFile, CopiesWhatAnAliasStandsFor) {
  const YamlFile file = parsed("a: &x {b: 1}\nc: *x\n");
  EXPECT_EQ(at(file, "c.b").text, "1");
}

TEST(YamlFile, NamesTheLineOfWhatIsNotYaml) {
  EXPECT_EQ(error_of("a: 1\nb: [1, 2\n").substr(0, 23), "x.yaml:3: not valid YAM");
  EXPECT_EQ(error_of("a: 1\n\tb: 2\n").substr(0, 9), "x.yaml:2:");
  EXPECT_NE(error_of("a: *nobody\n"), "no error");
  EXPECT_EQ(error_of("a: 1\nb: 'it''s open\nc: 3\n"), "x.yaml:2: a quote is opened and never closed");
  EXPECT_EQ(error_of("a: \"open \\\"\n"), "x.yaml:1: a quote is opened and never closed");
  EXPECT_EQ(error_of("\xef\xbb\xbf"
                     "a: 'ä'\nb: \"x \\\" y\"\nc: 'it''s'\n"),
            "no error");
}

TEST(YamlFile, RefusesAFieldGivenTwice) {
  EXPECT_EQ(error_of("a: 1\nb: 2\na: 3\n"), "x.yaml:3: 'a' is given twice, first in line 1");
}

TEST(YamlFile, RefusesKeysThatAreNoWords) {
  EXPECT_EQ(error_of("? [a, b]\n: 1\n"), "x.yaml:1: a key must be a word");
}

TEST(YamlFile, RefusesASecondDocument) {
  EXPECT_EQ(error_of("a: 1\n---\nb: 2\n"), "x.yaml:3: expected one document, found another");
}

TEST(YamlFile, RefusesTreesThatWouldNotEnd) {
  EXPECT_NE(error_of("a: &x [*x]\n"), "no error");
  EXPECT_NE(error_of(std::string(100000, '[')), "no error");
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int j = 0; j < 9; ++j) bomb += ", " + last;
    bomb += "]\n";
  }
  EXPECT_NE(error_of(bomb).find("aliases expand to too many values"), std::string::npos);
}

// yaml-cpp finds empty documents for ever at each of these.
TEST(YamlFile, RefusesACommaThatBelongsToNoList) {
  for (const char* text : {",", ", a", "\n,: }", "a: 1\n---\n, b\n", "  ,,"})
    EXPECT_NE(error_of(text).find("not valid YAML"), std::string::npos) << text;
}

TEST(YamlFile, ReadsAHundredThousandKeysInNoTime) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "k" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(error_of(text), "no error");
  EXPECT_EQ(error_of(text + "k5: 2\n"), "x.yaml:100001: 'k5' is given twice, first in line 6");
}

TEST(YamlFile, ReadsEveryDocumentOfAManifest) {
  const auto files = YamlFile::parse_documents("---\nkind: A\n---\n---\nkind: B\n", "m.yaml");
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ(at((*files)[1], "kind").text, "B");
  EXPECT_EQ(at((*files)[1], "kind").line, 5);
  EXPECT_FALSE(YamlFile::parse_documents("a: 1\n---\nb: [\n", "m.yaml"));
}

TEST(YamlFile, NamesAFileThatIsNotThere) {
  const auto file = YamlFile::open("no/such.yaml");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().kind, Error::Kind::not_found);
}

TEST(YamlOverride, ReplacesAddsAndAppends) {
  YamlFile file = parsed("nodes: {count: 3}\napps:\n  - name: a\n");
  ASSERT_TRUE(file.set("nodes.count=7"));
  ASSERT_TRUE(file.set("moves.per_hour=12"));
  ASSERT_TRUE(file.set("apps.0.name=b"));
  ASSERT_TRUE(file.set("apps.1.name=c"));
  ASSERT_TRUE(file.set("sizes=[1, 2]"));
  EXPECT_EQ(at(file, "nodes.count").text, "7");
  EXPECT_EQ(at(file, "nodes.count").override_path, "nodes.count");
  EXPECT_EQ(at(file, "moves.per_hour").text, "12");
  EXPECT_EQ(at(file, "apps.0.name").text, "b");
  EXPECT_EQ(at(file, "apps.1.name").text, "c");
  EXPECT_EQ(at(file, "sizes.1").text, "2");
}

TEST(YamlOverride, WorksOnAnEmptyFile) {
  YamlFile file = parsed("");
  ASSERT_TRUE(file.set("a.b=1"));
  EXPECT_EQ(at(file, "a.b").text, "1");
}

TEST(YamlOverride, TakesTheValueAsItIsWritten) {
  YamlFile file = parsed("{}");
  ASSERT_TRUE(file.set("from=1998-06-10T21:00Z"));
  ASSERT_TRUE(file.set("trace=/data/a=b, c.csv"));
  ASSERT_TRUE(file.set("at=@home"));
  ASSERT_TRUE(file.set("share=50%"));
  ASSERT_TRUE(file.set("labels.kubernetes\\.io/arch=amd64"));
  ASSERT_TRUE(file.set("quoted=\"7\""));
  EXPECT_EQ(at(file, "from").text, "1998-06-10T21:00Z");
  EXPECT_EQ(at(file, "trace").text, "/data/a=b, c.csv");
  EXPECT_EQ(at(file, "at").text, "@home");
  EXPECT_EQ(at(file, "share").text, "50%");
  EXPECT_EQ(file.root().child("labels")->child("kubernetes.io/arch")->text, "amd64");
  EXPECT_TRUE(at(file, "quoted").quoted);
}

TEST(YamlOverride, RemovesAFieldSetToNull) {
  YamlFile file = parsed("a: 1\nb: [x, y]\n");
  ASSERT_TRUE(file.set("a=null"));
  ASSERT_TRUE(file.set("b.0=null"));
  ASSERT_TRUE(file.set("never.there="));
  EXPECT_EQ(file.root().child("a"), nullptr);
  EXPECT_EQ(at(file, "b.0").text, "y");
}

TEST(YamlOverride, ExplainsWhereAPathLeadsNowhere) {
  EXPECT_EQ(error_of_set("nodes: three\n", "nodes.count=3"),
            "--set nodes.count: expected a map at 'nodes', found 'three' (x.yaml:1)");
  EXPECT_EQ(error_of_set("a: 1\napps: [x]\n", "apps.5=y"),
            "--set apps.5: expected an index from 0 to 1 at 'apps', found a list (x.yaml:2)");
  EXPECT_NE(error_of_set("apps: [x]\n", "apps.name=y"), "no error");
  EXPECT_NE(error_of_set("apps: [x]\n", "apps.-1=y"), "no error");
}

TEST(YamlOverride, RefusesWhatIsNoAssignment) {
  for (const char* assignment : {"", "=", "a", "=1", "a..b=1", ".a=1", "a.=1"}) {
    EXPECT_EQ(error_of_set("", assignment),
              "--set: expected field.name=value, found '" + std::string(assignment) + "'");
  }
  EXPECT_EQ(error_of_set("", "a=[1, 2"), "--set a: expected a YAML value, found '[1, 2'");
}

}  // namespace
}  // namespace evenkeel
