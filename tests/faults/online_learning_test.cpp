// The live scheduler with policies that learn while they place, in small clusters where everything goes
// wrong, the learner included. What the world does comes from one seed; when the trainer's thread gets to run
// does not, which is as it should be: whatever it does, nothing may depend on it.
//   EVENKEEL_SEED=123 online_learning_test     replays that world alone
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "live_world.h"

namespace evenkeel::faults {
namespace {

using namespace std::chrono_literals;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 10;
#else
constexpr std::uint64_t kSeeds = 100;
#endif
constexpr std::size_t kMostTold = 5;

class Folder {
 public:
  Folder() {
    std::string pattern = testing::TempDir() + "online_learning_XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Totals {
  std::uint64_t bindings = 0, kills = 0, lessons = 0, updates = 0, refused = 0, dropped = 0, learned = 0,
                rule = 0, explored = 0, checkpoints = 0, failures = 0, resumed = 0;
};

// What a world's learners are put through on top of what its scheduler is.
enum class Trouble { none, paused, little_disk, no_folder, damaged };

double figure(const std::vector<scheduling::LearningFigure>& figures, std::string_view name) {
  for (const scheduling::LearningFigure& figure : figures)
    if (figure.name == name) return figure.value;
  return 0;
}

class LearningWorld {
 public:
  LearningWorld(std::uint64_t seed, std::string_view policy, Trouble trouble)
      : random_(Random(seed).fork("learning")), trouble_(trouble), world_(seed) {
    world_.prepare([this, policy](apps::LiveOptions& options) {
      kubernetes::SchedulerProfile& profile = options.configuration.profiles.front();
      profile.score.push_back({"Evenkeel", 100});
      profile.evenkeel.policy = policy;
      profile.evenkeel.learning.online = true;
      profile.evenkeel.learning.explore = 0.2;
      // Half of the worlds begin cold; in the others whatever was learnt, be it nothing, decides at once.
      if (random_.chance(0.5)) options.learner.decides_after = 0;
      options.learner.checkpoint_every = 20ms;
      options.state = trouble_ == Trouble::no_folder ? "/proc/nowhere" : folder_.path();
    });
    world_.on_turn([this](apps::LiveScheduler& live) { look(live); });
  }

  void run(Totals& totals) {
    world_.run();
    totals.bindings += world_.counts().bindings;
    totals.kills += world_.troubles().kills;
    totals.lessons += totals_.lessons;
    totals.updates += totals_.updates;
    totals.refused += totals_.refused;
    totals.dropped += totals_.dropped;
    totals.learned += totals_.learned;
    totals.rule += totals_.rule;
    totals.explored += totals_.explored;
    totals.checkpoints += totals_.checkpoints;
    totals.failures += totals_.failures;
    for (const std::string& line : world_.log())
      totals.resumed += line.find("taken up from") != std::string::npos;
  }
  LiveWorld& world() { return world_; }

 private:
  // After every turn: usage comes in, some of it nonsense, and the learner has its own bad day.
  void look(apps::LiveScheduler& live) {
    const Time now = world_.clock().now();
    if (live.learning().learners() == 0) return;
    training::OnlineLearner& learner = live.learning().learner(0);
    if (trouble_ == Trouble::paused) learner.pause(random_.chance(0.9));
    const auto weights = learner.weights();
    if (weights && !learning::all_finite(weights->network.parameters()))
      world_.judge().accuse("weights that are no numbers were published");
    if (now - reported_ < 1s) return;
    reported_ = now;
    report(live, now);
    if (trouble_ == Trouble::damaged && random_.chance(0.05)) damage();
    if (trouble_ == Trouble::none && random_.chance(0.1)) learner.settle(1s);
    const auto figures = live.policy(0).learning();
    const auto grown = [&](std::uint64_t& total, std::string_view name) {
      total = std::max(total, static_cast<std::uint64_t>(figure(figures, name)));
    };
    grown(totals_.lessons, "lessons");
    grown(totals_.updates, "updates");
    grown(totals_.refused, "refused");
    grown(totals_.dropped, "queue_dropped");
    grown(totals_.learned, "rewards");
    grown(totals_.rule, "rule_rewards");
    grown(totals_.explored, "explored");
    grown(totals_.checkpoints, "checkpoints");
    grown(totals_.failures, "checkpoint_failures");
    for (const scheduling::LearningFigure& figure : figures)
      if (!std::isfinite(figure.value)) world_.judge().accuse("a figure of learning is no number");
  }

  void report(apps::LiveScheduler& live, Time now) {
    const ClusterState& cluster = live.scheduler().cluster();
    for (std::uint32_t slot = 0; slot < cluster.columns().size(); ++slot) {
      if (!cluster.has_node({slot}) || random_.chance(0.05)) continue;
      Usage total;
      std::vector<PodUsage> pods;
      for (const PodId pod : cluster.pods_on({slot})) {
        Usage usage;
        for (std::size_t d = 0; d < kDimensions; ++d)
          usage.of[d] = random_.uniform() * cluster.node({slot}).capacity.of[d] / 10;
        total += usage;
        pods.push_back({pod, usage});
      }
      if (trouble_ == Trouble::damaged && random_.chance(0.02))
        total.of[random_.below(kDimensions)] = std::nan("");
      if (trouble_ == Trouble::damaged && random_.chance(0.02))
        total.of[random_.below(kDimensions)] = INFINITY;
      live.inject(UsageReported{{slot}, now, total, pods}, now);
    }
  }

  void damage() {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path() + "/learned")) {
      const auto bytes = read_file(entry.path());
      if (!bytes || bytes->empty()) continue;
      std::string damaged = *bytes;
      damaged[random_.below(damaged.size())] ^= 1;
      std::ofstream(entry.path(), std::ios::binary) << damaged;
    }
  }

  Random random_;
  Trouble trouble_;
  Folder folder_;
  LiveWorld world_;
  Time reported_{};
  Totals totals_;
};

class OnlineLearning : public testing::TestWithParam<std::string_view> {};

TEST_P(OnlineLearning, ChangesNothingOfWhatASchedulerMustDo) {
  const char* const only = std::getenv("EVENKEEL_SEED");
  const std::uint64_t first = only ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only ? first : kSeeds;
  Totals totals;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const auto trouble = static_cast<Trouble>(seed % 5);
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    if (trouble == Trouble::little_disk) {
      (void)std::signal(SIGXFSZ, SIG_IGN);
      const rlimit little{1024, before.rlim_max};
      ::setrlimit(RLIMIT_FSIZE, &little);
    }
    LearningWorld world(seed, GetParam(), trouble);
    world.run(totals);
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::size_t told = 0;
    for (const std::string& violation : world.world().violations())
      if (++told <= kMostTold) ADD_FAILURE() << violation;
    if (HasFailure()) FAIL() << "seed " << seed << "; replay it with EVENKEEL_SEED=" << seed;
  }
  std::printf(
      "%s: bindings %llu, kills %llu, lessons %llu, updates %llu, refused %llu, learned rewards %llu, rule's "
      "%llu, "
      "explored %llu, checkpoints %llu, failed %llu, taken up %llu\n",
      std::string(GetParam()).c_str(), static_cast<unsigned long long>(totals.bindings),
      static_cast<unsigned long long>(totals.kills), static_cast<unsigned long long>(totals.lessons),
      static_cast<unsigned long long>(totals.updates), static_cast<unsigned long long>(totals.refused),
      static_cast<unsigned long long>(totals.learned), static_cast<unsigned long long>(totals.rule),
      static_cast<unsigned long long>(totals.explored), static_cast<unsigned long long>(totals.checkpoints),
      static_cast<unsigned long long>(totals.failures), static_cast<unsigned long long>(totals.resumed));
  if (only) return;
  EXPECT_GT(totals.bindings, 10 * kSeeds);
  EXPECT_GT(totals.kills, kSeeds);
  EXPECT_GT(totals.rule, kSeeds / 10);
  // PPO-LRT is paid for pods that end by themselves, which hardly any do here: what it learns from is not
  // shown by these worlds, only that it does no harm.
  if (GetParam() == "ppo-lrt") return;
  EXPECT_GT(totals.learned, kSeeds);
  EXPECT_GT(totals.lessons, kSeeds);
  EXPECT_GT(totals.failures, 0U);
  EXPECT_GT(totals.resumed, 0U);
}

INSTANTIATE_TEST_SUITE_P(Policies, OnlineLearning, testing::Values("drs", "drs-ppo", "drs-sac", "ppo-lrt"),
                         [](const auto& policy) {
                           std::string name(policy.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace evenkeel::faults
