#pragma once
#include <set>
#include <string>
#include <vector>

#include "monitor/kept_file.h"

namespace evenkeel::monitor {

// Says when it is worth looking for pods again: folders that came or went (inotify) and processes that ended
// (pidfd), all of them asked about with one call. Where the kernel does not give these it says so, and one
// has to look.
class PodWatch {
 public:
  PodWatch();

  // Whether every folder it was told of is watched; false before there is any.
  bool watches_folders() const { return is_complete_ && !folders_.empty(); }
  // Those in which pods' folders are made. Watched from now on: whoever calls has to look after this, not
  // before.
  void watch_folders(std::vector<std::string> folders);

  // Closed by its owner, which also ends the watching. Not open: the process is gone or cannot be held.
  KeptFile watch_process(int process) const;

  struct News {
    bool folders = false;
    std::vector<int> ended;  // descriptors of processes, each until it is closed
  };
  News ask();

 private:
  KeptFile queue_, notices_;
  std::vector<std::string> folders_;
  bool is_complete_ = false;
};

}  // namespace evenkeel::monitor
