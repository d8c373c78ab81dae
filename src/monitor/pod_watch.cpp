#include "monitor/pod_watch.h"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace evenkeel::monitor {
namespace {

constexpr std::uint32_t kChanges =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_ONLYDIR;

bool join(const KeptFile& queue, const KeptFile& file) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = file.descriptor();
  return file.is_open() && ::epoll_ctl(queue.descriptor(), EPOLL_CTL_ADD, file.descriptor(), &event) == 0;
}

}  // namespace

PodWatch::PodWatch()
    : queue_(KeptFile::holding(::epoll_create1(EPOLL_CLOEXEC))),
      notices_(KeptFile::holding(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK))) {
  if (!join(queue_, notices_)) notices_ = KeptFile();
}

void PodWatch::watch_folders(std::vector<std::string> folders) {
  is_complete_ = notices_.is_open();
  for (const std::string& folder : folders)  // one that is watched already stays so, one that is gone left
    if (::inotify_add_watch(notices_.descriptor(), folder.c_str(), kChanges) < 0) is_complete_ = false;
  folders_ = std::move(folders);
}

KeptFile PodWatch::watch_process(int process) const {
  KeptFile held = KeptFile::holding(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  return join(queue_, held) ? std::move(held) : KeptFile();
}

PodWatch::News PodWatch::ask() {
  News news;
  std::array<epoll_event, 64> events{};
  const int count = queue_.is_open()
                        ? ::epoll_wait(queue_.descriptor(), events.data(), static_cast<int>(events.size()), 0)
                        : 0;
  for (int i = 0; i < count; ++i) {
    const int file = events[static_cast<std::size_t>(i)].data.fd;
    if (file != notices_.descriptor()) {
      news.ended.push_back(file);
      continue;
    }
    news.folders = true;
    // What exactly happened is found out by looking; more than fits is the same news.
    alignas(inotify_event) std::array<char, 4096> nothing;
    while (::read(file, nothing.data(), nothing.size()) > 0) {
    }
  }
  return news;
}

}  // namespace evenkeel::monitor
