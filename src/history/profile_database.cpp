#include "history/profile_database.h"

#include <sqlite3.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace evenkeel::history {
namespace {

constexpr int kVersion = 1;
constexpr const char* kTables = R"(
  CREATE TABLE workload (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, seen INTEGER NOT NULL, ends INTEGER NOT NULL,
    class_cpu INTEGER, class_memory INTEGER);
  CREATE INDEX workload_by_age ON workload (seen);
  CREATE TABLE line (
    workload INTEGER NOT NULL REFERENCES workload (id) ON DELETE CASCADE, what INTEGER NOT NULL,
    weight REAL, shaped REAL, mean_x REAL, mean_y REAL, sum_xx REAL, sum_yy REAL, sum_xy REAL, peak REAL,
    PRIMARY KEY (workload, what)) WITHOUT ROWID;
  PRAGMA user_version = 1;
)";
constexpr std::size_t kLife = kDimensions;  // `what` of the line of lives, behind those of the dimensions

// A prepared statement, gone with its scope.
class Statement {
 public:
  Statement(sqlite3* handle, const char* sql) {
    if (sqlite3_prepare_v2(handle, sql, -1, &statement_, nullptr) != SQLITE_OK) statement_ = nullptr;
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  explicit operator bool() const { return statement_ != nullptr; }
  void bind(int at, std::int64_t value) { sqlite3_bind_int64(statement_, at, value); }
  void bind(int at, double value) { sqlite3_bind_double(statement_, at, value); }
  void bind(int at, std::string_view text) {
    sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  int step() { return sqlite3_step(statement_); }
  void reset() { sqlite3_reset(statement_); }
  std::int64_t integer(int column) { return sqlite3_column_int64(statement_, column); }
  // What was no number when it was written is stored as nothing.
  double real(int column) {
    return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                           : sqlite3_column_double(statement_, column);
  }
  bool is_null(int column) { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string text(int column) {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return bytes ? std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)))
                 : "";
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

void bind_line(Statement& statement, const LineSums& line, double peak) {
  int at = 3;
  for (const double value :
       {line.weight, line.shaped, line.mean_x, line.mean_y, line.sum_xx, line.sum_yy, line.sum_xy, peak})
    statement.bind(at++, value);
}

// No past can have produced other numbers; a file that was tampered with teaches nothing.
bool is_possible(const LineSums& line, double peak) {
  for (const double value :
       {line.weight, line.shaped, line.mean_x, line.mean_y, line.sum_xx, line.sum_yy, line.sum_xy, peak})
    if (!std::isfinite(value)) return false;
  return line.weight >= 0 && line.shaped >= 0 && line.sum_xx >= 0 && line.sum_yy >= 0 && peak >= 0;
}

Error error_of(int code, const std::string& message) {
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:  // a table that is not as we made it
      return invalid(message);
    default:
      return unavailable(message);
  }
}

std::int64_t to_count(Time time) { return time.time_since_epoch().count(); }

}  // namespace

Error ProfileDatabase::error(const char* doing) const {
  return error_of(sqlite3_errcode(handle_), std::string(doing) + ": " + sqlite3_errmsg(handle_));
}

Result<std::unique_ptr<ProfileDatabase>> ProfileDatabase::open(const std::string& path,
                                                               Duration busy_timeout) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<ProfileDatabase> database(new ProfileDatabase(handle));
  if (code != SQLITE_OK)
    return error_of(code, path + ": " + (handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code)));
  sqlite3_busy_timeout(
      handle, static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(busy_timeout).count()));
  if (Status ready = database->prepare_tables(); !ready)
    return Error{ready.error().kind, path + ": " + ready.error().message};
  return database;
}

ProfileDatabase::~ProfileDatabase() { sqlite3_close_v2(handle_); }

Status ProfileDatabase::prepare_tables() {
  for (const char* sql : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL",
                          "PRAGMA foreign_keys = ON", "PRAGMA journal_size_limit = 4194304"})
    if (Status done = run(sql); !done) return done;
  const auto version = number("PRAGMA user_version");
  if (!version) return version.error();
  if (*version > kVersion)
    return Error{Error::Kind::conflict, "its layout is version " + std::to_string(*version) +
                                            ", this program knows " + std::to_string(kVersion)};
  if (*version == 0) {
    if (Status made = run("BEGIN IMMEDIATE"); !made) return made;
    Status made = run(kTables);
    if (!made) {
      (void)run("ROLLBACK");
      return made;
    }
    return run("COMMIT");
  }
  // A look at what is most likely to be damaged, before anything is built upon it.
  Statement check(handle_, "PRAGMA quick_check(1)");
  if (!check || check.step() != SQLITE_ROW) return error("checking");
  if (check.text(0) != "ok") return invalid("it is damaged: " + check.text(0));
  return {};
}

Status ProfileDatabase::run(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return error("writing");
}

Result<std::int64_t> ProfileDatabase::number(const char* sql) {
  Statement statement(handle_, sql);
  if (!statement || statement.step() != SQLITE_ROW) return error("reading");
  return statement.integer(0);
}

Result<std::size_t> ProfileDatabase::size() {
  const auto count = number("SELECT count(*) FROM workload");
  if (!count) return count.error();
  return static_cast<std::size_t>(*count);
}

Result<std::vector<StoredWorkload>> ProfileDatabase::load() {
  std::vector<StoredWorkload> found;
  std::unordered_map<std::int64_t, std::size_t> places;
  Statement workloads(handle_,
                      "SELECT id, name, seen, ends, class_cpu, class_memory FROM workload ORDER BY seen");
  if (!workloads) return error("reading workloads");
  int code = SQLITE_OK;
  while ((code = workloads.step()) == SQLITE_ROW) {
    StoredWorkload one;
    one.name = workloads.text(1);
    one.seen = Time(Duration(workloads.integer(2)));
    one.past.ends = static_cast<std::uint64_t>(workloads.integer(3));
    if (!workloads.is_null(4) && !workloads.is_null(5))
      one.past.shape_class = {workloads.integer(4), workloads.integer(5)};
    places[workloads.integer(0)] = found.size();
    found.push_back(std::move(one));
  }
  if (code != SQLITE_DONE) return error("reading workloads");

  std::vector<std::uint8_t> is_sound(found.size(), 1);
  Statement lines(
      handle_,
      "SELECT workload, what, weight, shaped, mean_x, mean_y, sum_xx, sum_yy, sum_xy, peak FROM line");
  if (!lines) return error("reading lines");
  while ((code = lines.step()) == SQLITE_ROW) {
    const auto at = places.find(lines.integer(0));
    const auto what = static_cast<std::size_t>(lines.integer(1));
    if (at == places.end() || what > kLife) continue;
    WorkloadPast& past = found[at->second].past;
    LineSums& line = what == kLife ? past.life : past.use[what];
    line = {lines.real(2), lines.real(3), lines.real(4), lines.real(5),
            lines.real(6), lines.real(7), lines.real(8)};
    const double peak = lines.real(9);
    if (what < kLife) past.peak.of[what] = peak;
    if (!is_possible(line, peak)) is_sound[at->second] = 0;
  }
  if (code != SQLITE_DONE) return error("reading lines");
  std::vector<StoredWorkload> sound;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (is_sound[i]) sound.push_back(std::move(found[i]));
  return sound;
}

Status ProfileDatabase::save_one(const StoredWorkload& workload) {
  Statement put(
      handle_,
      "INSERT INTO workload (name, seen, ends, class_cpu, class_memory) VALUES (?1, ?2, ?3, ?4, ?5) "
      "ON CONFLICT (name) DO UPDATE SET seen = ?2, ends = ?3, class_cpu = ?4, class_memory = ?5 "
      "RETURNING id");
  if (!put) return error("writing a workload");
  put.bind(1, std::string_view(workload.name));
  put.bind(2, to_count(workload.seen));
  put.bind(3, static_cast<std::int64_t>(workload.past.ends));
  if (workload.past.shape_class) {
    put.bind(4, workload.past.shape_class->first);
    put.bind(5, workload.past.shape_class->second);
  }
  if (put.step() != SQLITE_ROW) return error("writing a workload");
  const std::int64_t id = put.integer(0);
  put.reset();
  Statement line(handle_, "INSERT OR REPLACE INTO line VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
  if (!line) return error("writing a line");
  for (std::size_t what = 0; what <= kLife; ++what) {
    line.bind(1, id);
    line.bind(2, static_cast<std::int64_t>(what));
    const bool is_life = what == kLife;
    bind_line(line, is_life ? workload.past.life : workload.past.use[what],
              is_life ? 0.0 : workload.past.peak.of[what]);
    if (line.step() != SQLITE_DONE) return error("writing a line");
    line.reset();
  }
  return {};
}

Status ProfileDatabase::save(std::span<const StoredWorkload> workloads, std::size_t most) {
  if (Status begun = run("BEGIN IMMEDIATE"); !begun) return begun;
  Status done;
  for (const StoredWorkload& workload : workloads) {
    done = save_one(workload);
    if (!done) break;
  }
  if (done) {
    Statement drop(handle_,
                   "DELETE FROM workload WHERE id IN (SELECT id FROM workload ORDER BY seen DESC, id DESC "
                   "LIMIT -1 OFFSET ?1)");
    drop.bind(1, static_cast<std::int64_t>(most));
    if (!drop || drop.step() != SQLITE_DONE) done = error("dropping old workloads");
  }
  if (done) done = run("COMMIT");
  if (!done) (void)run("ROLLBACK");  // what is returned is the first thing that went wrong
  return done;
}

}  // namespace evenkeel::history
