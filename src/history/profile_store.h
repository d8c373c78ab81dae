#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "history/profile_database.h"

namespace evenkeel::history {

// Keeps workloads' pasts beyond our life, from a thread of its own: whoever hands something over never waits
// for a disk. Nothing that happens to the file stops anybody. What could not be written is kept, the newest
// of each workload, and tried again; a file that is damaged is set aside under another name and a new one
// begun; one that a newer version of this program wrote is left alone, and nothing is kept.
class ProfileStore {
 public:
  struct Options {
    std::string path;
    std::size_t most_workloads = 20'000;  // in the file: the longest silent are dropped
    Duration busy_timeout = std::chrono::seconds(2);
    Duration retry_after = std::chrono::seconds(10);
    std::function<void(const std::string&)> log = [](const std::string&) {};  // from either thread
  };
  explicit ProfileStore(Options options);
  ~ProfileStore();  // writes what there is, once
  ProfileStore(const ProfileStore&) = delete;
  ProfileStore& operator=(const ProfileStore&) = delete;

  // What an earlier run kept; once, at the start.
  std::vector<StoredWorkload> take_loaded() { return std::move(loaded_); }

  void keep(std::vector<StoredWorkload> workloads);
  // Waits until all that was handed over is written, or cannot be; for tests and for the end.
  bool flush(Duration at_most);

  struct Counts {
    std::uint64_t written = 0;    // workloads
    std::uint64_t failures = 0;   // of writing a batch, or opening
    std::uint64_t set_aside = 0;  // files
    std::size_t waiting = 0;      // workloads, now
    bool healthy = true;
  };
  Counts counts() const;

 private:
  void open();
  bool write(const std::map<std::string, StoredWorkload>& batch);
  void trouble(const std::string& what);
  void set_aside();
  void work();

  Options options_;
  std::unique_ptr<ProfileDatabase> database_;  // the worker's, once it runs
  std::vector<StoredWorkload> loaded_;
  bool gave_up_ = false;  // somebody else's file: never written

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, StoredWorkload> waiting_;
  Counts counts_;
  bool busy_ = false, stopping_ = false;
  std::thread worker_;
};

}  // namespace evenkeel::history
