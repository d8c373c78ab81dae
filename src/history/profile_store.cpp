#include "history/profile_store.h"

#include <filesystem>
#include <utility>

namespace evenkeel::history {

ProfileStore::ProfileStore(Options options) : options_(std::move(options)) {
  open();
  worker_ = std::thread([this] { work(); });
}

ProfileStore::~ProfileStore() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

// Twice at most: a damaged file makes room for a new one.
void ProfileStore::open() {
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto opened = ProfileDatabase::open(options_.path, options_.busy_timeout);
    if (opened) {
      auto loaded = (*opened)->load();
      if (loaded) {
        database_ = *std::move(opened);
        loaded_ = *std::move(loaded);
        return;
      }
      opened = loaded.error();
    }
    if (opened.error().kind == Error::Kind::conflict) {
      gave_up_ = true;
      trouble(opened.error().message + ": it is left alone, and nothing is kept");
      return;
    }
    if (opened.error().kind != Error::Kind::invalid) return trouble(opened.error().message);
    options_.log(opened.error().message);
    set_aside();
  }
}

void ProfileStore::set_aside() {
  namespace fs = std::filesystem;
  database_.reset();
  std::error_code ignored;
  std::string aside = options_.path + ".damaged";
  for (int i = 2; fs::exists(aside, ignored) && i < 10; ++i)
    aside = options_.path + ".damaged-" + std::to_string(i);
  fs::rename(options_.path, aside, ignored);
  // Its log belongs to it and to no other file.
  for (const char* ending : {"-wal", "-shm"}) fs::rename(options_.path + ending, aside + ending, ignored);
  options_.log(options_.path + " is damaged: set aside as " + aside + ", a new one is begun");
  const std::lock_guard lock(mutex_);
  ++counts_.set_aside;
}

// Said once, until it is well again.
void ProfileStore::trouble(const std::string& what) {
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    ++counts_.failures;
    is_new = std::exchange(counts_.healthy, false);
  }
  if (is_new) options_.log("profiles are not kept for now: " + what);
}

void ProfileStore::keep(std::vector<StoredWorkload> workloads) {
  {
    const std::lock_guard lock(mutex_);
    if (gave_up_) return;
    for (StoredWorkload& workload : workloads) {
      std::string name = workload.name;
      waiting_.insert_or_assign(std::move(name), std::move(workload));
    }
    while (waiting_.size() > options_.most_workloads) waiting_.erase(waiting_.begin());
  }
  changed_.notify_all();
}

bool ProfileStore::flush(Duration at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [&] { return waiting_.empty() && !busy_; });
}

ProfileStore::Counts ProfileStore::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts = counts_;
  counts.waiting = waiting_.size();
  return counts;
}

bool ProfileStore::write(const std::map<std::string, StoredWorkload>& batch) {
  if (!database_) {
    auto opened = ProfileDatabase::open(options_.path, options_.busy_timeout);
    if (!opened) {
      if (opened.error().kind == Error::Kind::invalid) set_aside();
      trouble(opened.error().message);
      return false;
    }
    database_ = *std::move(opened);
  }
  std::vector<StoredWorkload> rows;
  rows.reserve(batch.size());
  for (const auto& [name, workload] : batch) rows.push_back(workload);
  if (const Status saved = database_->save(rows, options_.most_workloads); !saved) {
    if (saved.error().kind == Error::Kind::invalid) set_aside();
    trouble(saved.error().message);
    return false;
  }
  return true;
}

void ProfileStore::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::map<std::string, StoredWorkload> batch = std::exchange(waiting_, {});
    busy_ = true;
    lock.unlock();
    const bool done = write(batch);
    lock.lock();
    busy_ = false;
    if (done) {
      counts_.written += batch.size();
      if (!std::exchange(counts_.healthy, true)) {
        lock.unlock();
        options_.log("profiles are kept again");
        lock.lock();
      }
      changed_.notify_all();
      continue;
    }
    waiting_.merge(batch);  // what came meanwhile is newer
    changed_.notify_all();
    if (stopping_) return;
    changed_.wait_for(lock, options_.retry_after, [&] { return stopping_; });
  }
}

}  // namespace evenkeel::history
