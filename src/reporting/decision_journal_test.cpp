#include "reporting/decision_journal.h"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

namespace evenkeel::reporting {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

JournalEntry entry_of(const std::string& pod, const std::string& node, Duration at = 0s) {
  JournalEntry entry;
  entry.time = Time(at);
  entry.name_space = "default";
  entry.pod = pod;
  entry.node = node;
  if (node.empty()) entry.outcome = DecisionOutcome::unschedulable;
  return entry;
}

std::vector<std::string> pods(const std::vector<JournalEntry>& entries) {
  std::vector<std::string> names;
  for (const JournalEntry& entry : entries) names.push_back(entry.pod);
  return names;
}

using Names = std::vector<std::string>;

TEST(DecisionJournal, KeepsTheLastEntriesAndForgetsTheOldestFirst) {
  DecisionJournal journal({.max_entries = 3});
  for (const char* pod : {"a", "b", "c", "d", "e"}) journal.record(entry_of(pod, "n1"));
  journal.publish();
  EXPECT_EQ(pods(journal.find({})), (Names{"e", "d", "c"}));
  EXPECT_EQ(journal.size(), 3U);
  EXPECT_EQ(journal.recorded(), 5U);
}

TEST(DecisionJournal, KeepsNoMoreBytesThanAllowed) {
  DecisionJournal journal({.max_entries = 1000, .max_bytes = 20'000});
  for (int i = 0; i < 200; ++i) {
    JournalEntry entry = entry_of("pod-" + std::to_string(i), "");
    entry.message = std::string(900, 'x');
    journal.record(std::move(entry));
    journal.publish();
  }
  std::size_t bytes = 0;
  for (const JournalEntry& entry : journal.find({.limit = 1000})) bytes += entry.bytes();
  EXPECT_LE(bytes, 20'000U);
  EXPECT_GT(bytes, 15'000U);
}

TEST(DecisionJournal, CutsATextThatIsTooLong) {
  DecisionJournal journal({.max_text = 10});
  JournalEntry entry = entry_of("a", "");
  entry.message = std::string(1 << 20, 'x');
  entry.reasons = {{std::string(1 << 20, 'y'), 1}};
  const auto sequence = journal.record(std::move(entry));
  journal.settle(sequence, BindingOutcome::failed, std::string(1 << 20, 'z'), 0s);
  journal.publish();
  const JournalEntry kept = journal.find({}).front();
  EXPECT_EQ(kept.message, "xxxxxxxxxx…");
  EXPECT_EQ(kept.reasons.front().reason, "yyyyyyyyyy…");
  EXPECT_EQ(kept.binding_why, "zzzzzzzzzz…");
}

TEST(DecisionJournal, ShowsNothingBeforeItIsPublished) {
  DecisionJournal journal({});
  journal.record(entry_of("a", "n1"));
  EXPECT_TRUE(journal.find({}).empty());
  journal.publish();
  EXPECT_EQ(journal.find({}).size(), 1U);
}

TEST(DecisionJournal, FindsByPodNodeOutcomeAndAge) {
  DecisionJournal journal({});
  journal.record(entry_of("a", "n1", 10s));
  journal.record(entry_of("b", "n2", 20s));
  journal.record(entry_of("c", "", 30s));
  JournalEntry considered = entry_of("d", "n3", 40s);
  considered.name_space = "other";
  considered.candidates = {{"n3", 9, {}}, {"n1", 8, {}}};
  journal.record(std::move(considered));
  journal.publish();
  EXPECT_EQ(pods(journal.find({.pod = "b"})), Names{"b"});
  EXPECT_EQ(pods(journal.find({.name_space = "other"})), Names{"d"});
  EXPECT_TRUE(journal.find({.name_space = "other", .pod = "a"}).empty());
  EXPECT_EQ(pods(journal.find({.node = "n1"})), (Names{"d", "a"}));
  EXPECT_EQ(pods(journal.find({.outcome = DecisionOutcome::unschedulable})), Names{"c"});
  EXPECT_EQ(pods(journal.find({.since = Time(20s)})), (Names{"d", "c", "b"}));
  EXPECT_EQ(pods(journal.find({.limit = 2})), (Names{"d", "c"}));
}

TEST(DecisionJournal, FindsAcrossManyBatches) {
  DecisionJournal journal({});
  for (int i = 0; i < 1000; ++i)
    journal.record(entry_of("p" + std::to_string(i), i % 100 == 0 ? "rare" : "n"));
  journal.publish();
  EXPECT_EQ(journal.find({.node = "rare"}).size(), 10U);
  EXPECT_EQ(journal.find({.limit = 1000}).size(), 1000U);
  EXPECT_EQ(journal.find({.limit = 1000}).back().pod, "p0");
}

TEST(DecisionJournal, LearnsLaterWhatBecameOfABinding) {
  DecisionJournal journal({.max_entries = 2});
  const auto gone = journal.record(entry_of("a", "n1"));
  const auto bound = journal.record(entry_of("b", "n1"));
  const auto failed = journal.record(entry_of("c", "n1"));
  journal.publish();
  journal.settle(gone, BindingOutcome::bound, "", 1ms);
  journal.settle(bound, BindingOutcome::bound, "", 5ms);
  journal.settle(failed, BindingOutcome::failed, "409 Conflict", 7ms);
  journal.publish();
  const auto entries = journal.find({});
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].outcome, DecisionOutcome::bind_failed);
  EXPECT_EQ(entries[0].binding_why, "409 Conflict");
  EXPECT_EQ(entries[1].outcome, DecisionOutcome::scheduled);
  EXPECT_EQ(entries[1].binding, BindingOutcome::bound);
  EXPECT_EQ(entries[1].bound_after, 5ms);
}

TEST(DecisionJournal, TellsADecisionAsJson) {
  JournalEntry entry = entry_of("web-1", "n2", 1'700'000'000s + 250ms);
  entry.sequence = 7;
  entry.profile = "evenkeel";
  entry.candidates = {{"n2", 451, {{"NodeResourcesFit", 80, 1}}}, {"n1", 423.5, {}}};
  entry.took = 85us;
  entry.binding = BindingOutcome::bound;
  entry.bound_after = 3ms;
  const Json value = Json::parse(json_of(entry));
  EXPECT_EQ(value["time"], "2023-11-14T22:13:20.250000Z");
  EXPECT_EQ(value["pod"], "default/web-1");
  EXPECT_EQ(value["outcome"], "scheduled");
  EXPECT_EQ(value["candidates"][0]["scores"]["NodeResourcesFit"], 80);
  EXPECT_EQ(value["candidates"][1]["total"], 423.5);
  EXPECT_EQ(value["took_us"], 85);
  EXPECT_EQ(value["binding_us"], 3000);
  EXPECT_EQ(value["message"], nullptr);
}

TEST(DecisionJournal, SurvivesNamesThatAreNoText) {
  JournalEntry entry = entry_of("\xff\xfe", "");
  entry.message = "quote \" and \n break";
  const std::string line = json_of(entry);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(Json::parse(line)["message"], "quote \" and \n break");
}

TEST(DecisionJournal, ReadsWhatIsAskedAndRefusesTheRestByName) {
  const Time now(1000s);
  const auto query = journal_query({{"pod", "kube-system/dns"},
                                    {"node", "n1"},
                                    {"outcome", "bind_failed"},
                                    {"since", "5m"},
                                    {"limit", "7"}},
                                   now);
  ASSERT_TRUE(query);
  EXPECT_EQ(query->name_space, "kube-system");
  EXPECT_EQ(query->pod, "dns");
  EXPECT_EQ(query->outcome, DecisionOutcome::bind_failed);
  EXPECT_EQ(query->since, Time(700s));
  EXPECT_EQ(query->limit, 7U);
  EXPECT_EQ(journal_query({{"pod", "web"}}, now)->name_space, "default");
  using Parameter = std::pair<std::string, std::string>;
  for (const Parameter& wrong : {Parameter{"limit", "0"}, Parameter{"limit", "-1"}, Parameter{"limit", "5x"},
                                 Parameter{"limit", "1000000"}, Parameter{"outcome", "great"},
                                 Parameter{"since", "yesterday"}, Parameter{"nodes", "n1"}}) {
    const auto refused = journal_query({wrong}, now);
    ASSERT_FALSE(refused) << wrong.first << "=" << wrong.second;
    EXPECT_NE(refused.error().message.find(wrong.first), std::string::npos) << refused.error().message;
  }
}

TEST(DecisionJournal, IsReadWhileItIsWritten) {
  DecisionJournal journal({.max_entries = 100});
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      std::uint64_t last = ~std::uint64_t{0};
      for (const JournalEntry& entry : journal.find({.limit = 1000})) {
        EXPECT_LT(entry.sequence, last);
        EXPECT_EQ(entry.pod, "p" + std::to_string(entry.sequence));
        last = entry.sequence;
      }
    }
  });
  for (int i = 1; i <= 20'000; ++i) {
    const auto sequence = journal.record(entry_of("p" + std::to_string(i), "n"));
    journal.settle(sequence, BindingOutcome::bound, "", 1us);
    journal.publish();
  }
  done = true;
  reader.join();
  journal.publish();
  EXPECT_EQ(journal.recorded(), 20'000U);
  EXPECT_EQ(journal.find({.limit = 1}).front().binding, BindingOutcome::bound);
}

}  // namespace
}  // namespace evenkeel::reporting
