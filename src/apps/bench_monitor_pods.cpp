#include "apps/bench_monitor_pods.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "monitor/cgroup_tree.h"

namespace evenkeel::apps {
namespace {

constexpr const char* kCgroups = "/sys/fs/cgroup";

std::string uid_of(int pod) {
  char text[40];
  (void)std::snprintf(text, sizeof text, "%08x-0000-4000-8000-%012x",
                      0xbe9c0000u + static_cast<unsigned>(pod), pod);
  return text;
}

bool write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return static_cast<bool>(file.flush());
}

// A network device of the process's own into which packets can be written; -1: none may be made.
int make_device() {
  const int device = ::open("/dev/net/tun", O_RDWR | O_CLOEXEC);
  ifreq request{};
  (void)std::snprintf(request.ifr_name, sizeof request.ifr_name, "bench0");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (device < 0 || ::ioctl(device, TUNSETIFF, &request) != 0) return -1;
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  request.ifr_flags = IFF_UP;
  const bool is_up = ::ioctl(socket, SIOCSIFFLAGS, &request) == 0;
  (void)::close(socket);
  return is_up ? device : -1;
}

// Twenty times a second, not in step with the others.
[[noreturn]] void work(int pod) {
  const int device = make_device();
  char packet[1000] = {0x45};  // of IPv4, to nobody
  volatile unsigned sum = 0;
  (void)::usleep(static_cast<useconds_t>(pod) * 1000);
  while (true) {
    for (unsigned i = 0; i < 20'000; ++i) sum = sum + i;
    if (device >= 0) (void)!::write(device, packet, sizeof packet);
    (void)::usleep(50'000);
  }
}

// Until it is killed, or until whoever made it is gone; in a network of its own where that may be.
pid_t start_process(int pod, BenchPods::Work what) {
  const pid_t process = ::fork();
  if (process != 0) return process;
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)::unshare(CLONE_NEWNET);
  if (what == BenchPods::Work::busy) work(pod);
  while (true) ::pause();
}

}  // namespace

BenchPods::BenchPods(int count, Work work) {
  if (!make_cgroups(count, work)) make_files(count);
}

bool BenchPods::make_cgroups(int count, Work work) {
  const monitor::CgroupTree tree = monitor::CgroupTree::find(kCgroups);
  std::vector<std::string> roots;
  for (const auto* one : {&tree.cpu, &tree.memory, &tree.io})
    if (!one->root.empty() && std::find(roots.begin(), roots.end(), one->root) == roots.end())
      roots.push_back(one->root);
  const std::string node = "/evenkeel-bench-" + std::to_string(::getpid());
  for (const std::string& root : roots) {
    std::string path = root;
    for (const std::string& part : {node, std::string("/kubepods")}) {
      for (const char* controller : {"+cpu", "+memory", "+io"})  // v2 only; elsewhere there is no such file
        if (tree.cpu.is_v2) (void)write(path + "/cgroup.subtree_control", controller);
      path += part;
      if (::mkdir(path.c_str(), 0755) != 0) return false;
      folders_.push_back(path);
    }
    for (const char* controller : {"+cpu", "+memory", "+io"})
      if (tree.cpu.is_v2) (void)write(path + "/cgroup.subtree_control", controller);
  }
  if (roots.empty()) return false;
  for (int pod = 0; pod < count; ++pod) {
    processes_.push_back(start_process(pod, work));
    for (const std::string& root : roots) {
      const std::string folder = root + node + "/kubepods/pod" + uid_of(pod);
      for (const std::string& path : {folder, folder + "/main"}) {
        if (::mkdir(path.c_str(), 0755) != 0) return false;
        folders_.push_back(path);
      }
      if (!write(folder + "/main/cgroup.procs", std::to_string(processes_.back()))) return false;
    }
  }
  // A /sys in which our part of the cgroups is all of them: the node is the machine, its pods are ours.
  const std::string sys = make_folder() + "/sys";
  std::filesystem::create_directories(sys + "/fs");
  for (const char* name : {"class", "block"})
    std::filesystem::create_directory_symlink(std::string("/sys/") + name, sys + "/" + name);
  if (tree.cpu.is_v2) {
    std::filesystem::create_directory_symlink(tree.cpu.root + node, sys + "/fs/cgroup");
  } else {
    std::filesystem::create_directories(sys + "/fs/cgroup");
    for (const std::string& root : roots)
      std::filesystem::create_directory_symlink(
          root + node, sys + "/fs/cgroup/" + std::filesystem::path(root).filename().string());
  }
  options_ = {"--sys", sys};
  description_ = std::to_string(count) + " cgroups (" + tree.description() + ") with a " +
                 (work == Work::busy ? "busy" : "sleeping") + " process each";
  return true;
}

const std::string& BenchPods::make_folder() {
  char name[] = "/tmp/evenkeel-bench-XXXXXX";
  if (files_.empty()) files_ = ::mkdtemp(name);
  return files_;
}

void BenchPods::make_files(int count) {
  const std::string cgroups = make_folder() + "/sys/fs/cgroup";
  std::filesystem::create_directories(cgroups);
  (void)write(cgroups + "/cgroup.controllers", "cpu io memory\n");
  for (const char* file : {"stat", "meminfo", "diskstats"}) {
    std::filesystem::create_directories(files_ + "/proc");
    std::filesystem::create_symlink(std::string("/proc/") + file, files_ + "/proc/" + file);
  }
  std::filesystem::create_directory_symlink("/proc/self", files_ + "/proc/self");
  for (int pod = 0; pod < count; ++pod) {
    const std::string folder = cgroups + "/kubepods/pod" + uid_of(pod);
    std::filesystem::create_directories(folder);
    (void)write(folder + "/cpu.stat", "usage_usec 1000\nuser_usec 500\nsystem_usec 500\n");
    (void)write(folder + "/memory.current", "1000000\n");
    (void)write(folder + "/memory.stat", "anon 1\nfile 2\ninactive_anon 3\nactive_anon 4\ninactive_file 5\n");
    (void)write(folder + "/io.stat", "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n");
    (void)write(folder + "/cgroup.procs", std::to_string(::getpid()) + "\n");
  }
  options_ = {"--proc", files_ + "/proc", "--sys", files_ + "/sys"};
  description_ = std::to_string(count) + " folders that look like cgroups: real ones may not be made here";
}

BenchPods::~BenchPods() {
  for (const pid_t process : processes_) (void)::kill(process, SIGKILL);
  for (const pid_t process : processes_) (void)::waitpid(process, nullptr, 0);
  for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder) (void)::rmdir(folder->c_str());
  std::error_code ignored;
  if (!files_.empty()) std::filesystem::remove_all(files_, ignored);
}

}  // namespace evenkeel::apps
