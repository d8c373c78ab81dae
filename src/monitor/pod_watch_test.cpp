// Against a real kernel: folders that come and go, processes that end.
#include "monitor/pod_watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/fake_machine.h"
#include "monitor/sampler.h"

namespace evenkeel::monitor {
namespace {

using namespace std::chrono_literals;

class Sleeper {
 public:
  Sleeper() : process_(::fork()) {
    if (process_ == 0)
      while (true) ::pause();
  }
  ~Sleeper() { end(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  void end() {
    if (process_ <= 0) return;
    (void)::kill(process_, SIGKILL);
    (void)::waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  int process() const { return process_; }

 private:
  pid_t process_;
};

TEST(PodWatch, TellsOfFoldersThatCameAndWent) {
  const FakeMachine machine;
  const std::string folder = machine.cgroups() + "/kubepods";
  std::filesystem::create_directories(folder);
  PodWatch watch;
  EXPECT_FALSE(watch.watches_folders());
  watch.watch_folders({folder});
  if (!watch.watches_folders()) GTEST_SKIP() << "no inotify to be had";
  EXPECT_FALSE(watch.ask().folders);
  std::filesystem::create_directory(folder + "/poda");
  EXPECT_TRUE(watch.ask().folders);
  EXPECT_FALSE(watch.ask().folders);
  watch.watch_folders({folder});
  EXPECT_FALSE(watch.ask().folders);
  std::filesystem::remove(folder + "/poda");
  EXPECT_TRUE(watch.ask().folders);
  watch.watch_folders({folder, machine.cgroups() + "/nowhere"});
  EXPECT_FALSE(watch.watches_folders());
}

TEST(PodWatch, TellsOfAProcessThatEnded) {
  PodWatch watch;
  Sleeper sleeper;
  KeptFile held = watch.watch_process(sleeper.process());
  if (!held.is_open()) GTEST_SKIP() << "no pidfd to be had";
  EXPECT_TRUE(watch.ask().ended.empty());
  sleeper.end();
  EXPECT_EQ(watch.ask().ended, std::vector<int>{held.descriptor()});
  held = KeptFile();
  EXPECT_TRUE(watch.ask().ended.empty());
  EXPECT_FALSE(watch.watch_process(-1).is_open());
}

// Cgroups of files, processes and networks of the real machine.
TEST(PodWatch, LetsASamplerFollowAPodWhoseProcessEnds) {
  const FakeMachine machine;
  const std::string group = "/kubepods/podaaaaaaaa";
  machine.cgroup("/cgroup.controllers", "cpu\n");
  Sleeper first, second;
  machine.cgroup(group + "/cpu.stat", "usage_usec 5\n");
  machine.cgroup(group + "/cgroup.procs", std::to_string(first.process()) + "\n");
  Sampler::Options options;
  options.node = "n1";
  options.sys = machine.sys();
  auto sampler = Sampler::open(options);
  ASSERT_TRUE(sampler);
  for (int second_number = 0; second_number < 3; ++second_number)
    (void)sampler->sample(std::chrono::seconds(second_number));
  first.end();
  machine.cgroup(group + "/cgroup.procs", std::to_string(second.process()) + "\n");
  EXPECT_EQ(sampler->sample(3s).pods.size(), 1u);
  EXPECT_EQ(sampler->sample(4s).pods.size(), 1u);
  machine.remove("/sys/fs/cgroup" + group);
  EXPECT_TRUE(sampler->sample(5s).pods.empty());
}

}  // namespace
}  // namespace evenkeel::monitor
