#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::monitor {

// Lent to one reading after the other, so that none allocates.
class ReadBuffer {
 public:
  ReadBuffer() : bytes_(16 * 1024) {}

 private:
  friend class KeptFile;
  std::vector<char> bytes_;
};

// A file of /proc or of a cgroup, opened once and read from its beginning again and again, which is several
// times cheaper than opening it each time.
class KeptFile {
 public:
  KeptFile() = default;
  explicit KeptFile(const std::string& path);
  static KeptFile holding(int descriptor);  // which is closed with it; negative: none
  KeptFile(KeptFile&& other) noexcept;
  KeptFile& operator=(KeptFile&& other) noexcept;
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;
  ~KeptFile();

  bool is_open() const { return fd_ >= 0; }
  int trouble() const { return trouble_; }  // errno of opening, or of the last reading that failed; 0: none
  ino_t inode() const;
  int descriptor() const { return fd_; }

  // All of it, valid until the buffer is used again. None: not open, or what it told of is gone.
  std::optional<std::string_view> read(ReadBuffer& buffer);

 private:
  int fd_ = -1;
  int trouble_ = 0;
};

}  // namespace evenkeel::monitor
