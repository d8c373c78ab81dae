#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cluster/workload_past.h"

struct sqlite3;

namespace evenkeel::history {

// What is remembered of one workload, by a name that means the same in another run.
struct StoredWorkload {
  std::string name;
  Time seen{};  // when it last taught something: who has been silent longest is dropped first
  WorkloadPast past;
  bool operator==(const StoredWorkload&) const = default;
};

// A file of workloads' pasts (SQLite, write-ahead log: a crash leaves the last whole transaction). One thread
// at a time.
class ProfileDatabase {
 public:
  // Errors: conflict, the file was written by a newer version of this program; invalid, it is damaged or
  // something else; unavailable, it cannot be opened or is locked by somebody else.
  static Result<std::unique_ptr<ProfileDatabase>> open(const std::string& path, Duration busy_timeout);
  ~ProfileDatabase();
  ProfileDatabase(const ProfileDatabase&) = delete;
  ProfileDatabase& operator=(const ProfileDatabase&) = delete;

  // All of them; those whose numbers cannot be are left out.
  Result<std::vector<StoredWorkload>> load();
  // All or none; afterwards no more than `most` are left.
  Status save(std::span<const StoredWorkload> workloads, std::size_t most);
  Result<std::size_t> size();

 private:
  explicit ProfileDatabase(sqlite3* handle) : handle_(handle) {}
  Status prepare_tables();
  Status run(const char* sql);
  Status save_one(const StoredWorkload& workload);
  Result<std::int64_t> number(const char* sql);
  Error error(const char* doing) const;

  sqlite3* handle_;
};

}  // namespace evenkeel::history
