#include "history/profile_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

namespace evenkeel::history {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class ProfileStoreTest : public ::testing::Test {
 protected:
  ProfileStoreTest() {
    std::string name = (fs::temp_directory_path() / "evenkeel-profiles-XXXXXX").string();
    folder = ::mkdtemp(name.data());
    path = folder / "profiles.db";
  }
  ~ProfileStoreTest() override { fs::remove_all(folder); }

  ProfileStore::Options options() {
    ProfileStore::Options made;
    made.path = path;
    made.busy_timeout = 50ms;
    made.retry_after = 50ms;
    made.log = [this](const std::string& line) {
      const std::lock_guard lock(mutex);
      lines.push_back(line);
    };
    return made;
  }
  static StoredWorkload workload(const std::string& name, int number) {
    StoredWorkload made;
    made.name = name;
    made.seen = Time(std::chrono::seconds(1000 + number));
    for (std::size_t d = 0; d < kDimensions; ++d) {
      const double x = 1.0 / 3 * (number + static_cast<double>(d) + 1);
      made.past.use[d] = {x, x * 2, x * 3, x * 4, x * 5, x * 6, -x * 7};
      made.past.peak.of[d] = x * 1e9;
    }
    made.past.life = {1, 1, -2.5, 3.7, 0.1, 0.2, 0.3};
    made.past.ends = static_cast<std::uint64_t>(number);
    if (number % 2 == 0) made.past.shape_class = {7, number};
    return made;
  }
  std::size_t said(const std::string& part) {
    const std::lock_guard lock(mutex);
    return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(part) != std::string::npos;
    }));
  }

  fs::path folder, path;
  std::mutex mutex;
  std::vector<std::string> lines;
};

TEST_F(ProfileStoreTest, GivesBackToTheBitWhatAnEarlierRunKept) {
  const std::vector<StoredWorkload> kept = {workload("shop/Deployment/web v1", 1), workload("shop/Job/x", 2)};
  {
    ProfileStore store(options());
    EXPECT_TRUE(store.take_loaded().empty());
    store.keep({workload("shop/Deployment/web v1", 9)});  // overtaken by the next
    store.keep(kept);
    EXPECT_TRUE(store.flush(10s));
    EXPECT_TRUE(store.counts().healthy);
  }
  ProfileStore again(options());
  EXPECT_EQ(again.take_loaded(), kept);
}

TEST_F(ProfileStoreTest, WritesWhatIsLeftWhenItEnds) {
  {
    ProfileStore(options()).keep({workload("a", 1)});
  }
  EXPECT_EQ(ProfileStore(options()).take_loaded().size(), 1U);
}

TEST_F(ProfileStoreTest, DropsTheLongestSilentBeyondItsLimit) {
  auto few = options();
  few.most_workloads = 3;
  {
    ProfileStore store(few);
    for (int i = 0; i < 10; ++i) {
      store.keep({workload("w" + std::to_string(i), i)});
      ASSERT_TRUE(store.flush(10s));
    }
  }
  const auto left = ProfileStore(few).take_loaded();
  ASSERT_EQ(left.size(), 3U);
  EXPECT_EQ(left.front().name, "w7");
}

TEST_F(ProfileStoreTest, SetsADamagedFileAsideAndBeginsAnew) {
  {
    std::ofstream(path) << "this was never a database, whatever it is called, and it is long enough to tell";
  }
  {
    ProfileStore store(options());
    EXPECT_TRUE(store.take_loaded().empty());
    EXPECT_EQ(store.counts().set_aside, 1U);
    store.keep({workload("a", 1)});
    EXPECT_TRUE(store.flush(10s));
  }
  EXPECT_TRUE(fs::exists(path.string() + ".damaged"));
  EXPECT_EQ(said("set aside"), 1U);
  EXPECT_EQ(ProfileStore(options()).take_loaded().size(), 1U);
}

TEST_F(ProfileStoreTest, SurvivesAFileWhosePagesAreDamaged) {
  {
    ProfileStore store(options());
    std::vector<StoredWorkload> many;
    for (int i = 0; i < 500; ++i) many.push_back(workload("w" + std::to_string(i), i));
    store.keep(many);
    ASSERT_TRUE(store.flush(10s));
  }
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    for (int i = 0; i < 40'000; ++i) file.put('\xa5');
  }
  ProfileStore store(options());
  EXPECT_TRUE(store.take_loaded().empty());
  store.keep({workload("a", 1)});
  EXPECT_TRUE(store.flush(10s));
  EXPECT_EQ(store.counts().set_aside, 1U);
}

TEST_F(ProfileStoreTest, WaitsForALockedFileWithoutMakingAnybodyWaitAndSaysSoOnce) {
  ProfileStore store(options());
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  const auto from = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) store.keep({workload("a", i)});
  EXPECT_LT(std::chrono::steady_clock::now() - from, 40ms);
  while (store.counts().failures < 3) std::this_thread::sleep_for(5ms);
  EXPECT_FALSE(store.counts().healthy);
  EXPECT_EQ(said("not kept for now"), 1U);
  sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  EXPECT_TRUE(store.flush(10s));
  EXPECT_TRUE(store.counts().healthy);
  EXPECT_EQ(said("kept again"), 1U);
}

TEST_F(ProfileStoreTest, GoesOnWithoutAFolderAndWritesOnceThereIsOne) {
  auto elsewhere = options();
  elsewhere.path = (folder / "later" / "profiles.db").string();
  ProfileStore store(elsewhere);
  store.keep({workload("a", 1)});
  while (store.counts().failures < 2) std::this_thread::sleep_for(5ms);
  fs::create_directory(folder / "later");
  EXPECT_TRUE(store.flush(10s));
  EXPECT_EQ(store.counts().written, 1U);
}

// Writes beyond a limit on the size of files fail as they do on a full disk.
TEST_F(ProfileStoreTest, GoesOnWhileTheDiskIsFullAndLosesNothing) {
  ProfileStore store(options());
  store.keep({workload("first", 1)});
  ASSERT_TRUE(store.flush(10s));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{16'384, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  std::vector<StoredWorkload> many;
  for (int i = 0; i < 300; ++i) many.push_back(workload("w" + std::to_string(i), i));
  store.keep(many);
  while (store.counts().failures < 2) std::this_thread::sleep_for(5ms);
  EXPECT_FALSE(store.counts().healthy);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(store.flush(10s));
  EXPECT_EQ(said("not kept for now"), 1U);
  EXPECT_EQ(store.counts().set_aside, 0U);
  const auto database = ProfileDatabase::open(path, 1s);
  ASSERT_TRUE(database);
  EXPECT_EQ(*(*database)->size(), 301U);
}

TEST_F(ProfileStoreTest, LeavesAFileOfANewerVersionAlone) {
  {
    ProfileStore(options()).keep({workload("a", 1)});
  }
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
  sqlite3_exec(other, "PRAGMA user_version = 99", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  {
    ProfileStore store(options());
    EXPECT_TRUE(store.take_loaded().empty());
    store.keep({workload("b", 1)});
    EXPECT_EQ(store.counts().waiting, 0U);
  }
  EXPECT_EQ(said("left alone"), 1U);
  EXPECT_FALSE(fs::exists(path.string() + ".damaged"));
}

TEST_F(ProfileStoreTest, LeavesOutNumbersThatCannotBe) {
  {
    ProfileStore(options()).keep({workload("a", 1), workload("b", 2)});
  }
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
  sqlite3_exec(other, "UPDATE line SET weight = -1 WHERE workload = 1 AND what = 2", nullptr, nullptr,
               nullptr);
  sqlite3_close(other);
  const auto left = ProfileStore(options()).take_loaded();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left.front().name, "b");
}

}  // namespace
}  // namespace evenkeel::history
