#include "monitor/kept_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace evenkeel::monitor {
namespace {

// The kernel hands out a page at most at a time, ending where the next line would not fit: less than this was
// all there is, and asking again would cost a call for nothing.
constexpr std::size_t kSurelyAll = 3072;
constexpr std::size_t kMostBytes = 4 * 1024 * 1024;

}  // namespace

KeptFile::KeptFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) trouble_ = errno;
}

KeptFile KeptFile::holding(int descriptor) {
  KeptFile file;
  file.fd_ = descriptor;
  return file;
}

KeptFile::KeptFile(KeptFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), trouble_(std::exchange(other.trouble_, 0)) {}

KeptFile& KeptFile::operator=(KeptFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(trouble_, other.trouble_);
  return *this;
}

KeptFile::~KeptFile() {
  if (fd_ >= 0) ::close(fd_);
}

ino_t KeptFile::inode() const {
  struct stat found{};
  return fd_ >= 0 && ::fstat(fd_, &found) == 0 ? found.st_ino : 0;
}

std::optional<std::string_view> KeptFile::read(ReadBuffer& buffer) {
  if (fd_ < 0) return std::nullopt;
  std::vector<char>& bytes = buffer.bytes_;
  std::size_t size = 0;
  while (true) {
    if (size == bytes.size()) {
      if (size >= kMostBytes) break;
      bytes.resize(2 * size);
    }
    const ssize_t count = ::pread(fd_, bytes.data() + size, bytes.size() - size, static_cast<off_t>(size));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      trouble_ = errno;
      return std::nullopt;
    }
    size += static_cast<std::size_t>(count);
    if (count == 0 || size < kSurelyAll) break;
  }
  trouble_ = 0;
  return std::string_view(bytes.data(), size);
}

}  // namespace evenkeel::monitor
