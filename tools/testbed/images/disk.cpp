// DRS's `disk`: reads and writes. Writes --megabytes in blocks past the page cache into a file of --span
// megabytes, reads each block again and checks it, at --rate megabytes a second in each direction, and ends.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "arguments.h"
#include "pacing.h"

namespace {

constexpr std::size_t kBlock = 256 * 1024, kAlignment = 4096;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments(
      count, values,
      {{"path", "/disk.data"}, {"megabytes", "100"}, {"span", "16"}, {"rate", "0"}, {"memory", "1"}});
  const char* path = arguments.text("path").c_str();
  int file = ::open(path, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0600);
  // A file system in memory knows no other way than its pages.
  if (file < 0 && errno == EINVAL) file = ::open(path, O_RDWR | O_CREAT | O_TRUNC | O_SYNC | O_CLOEXEC, 0600);
  if (file < 0) fail("disk: open");
  (void)::unlink(path);
  std::vector<char> held(static_cast<std::size_t>(arguments.number("memory") * 1e6), 1);
  auto* out = static_cast<char*>(std::aligned_alloc(kAlignment, kBlock));
  auto* back = static_cast<char*>(std::aligned_alloc(kAlignment, kBlock));
  const auto total = static_cast<std::size_t>(arguments.number("megabytes") * 1e6);
  const std::size_t blocks =
      std::max<std::size_t>(1, static_cast<std::size_t>(arguments.number("span") * 1e6) / kBlock);
  const Pacing pacing(arguments.number("rate") * 1e6);
  std::size_t done = 0;
  for (std::size_t n = 0; done < total; ++n, done += kBlock) {
    pacing.wait(static_cast<double>(done));
    const auto at = static_cast<off_t>(n % blocks * kBlock);
    std::memset(out, static_cast<int>(n % 251), kBlock);
    if (::pwrite(file, out, kBlock, at) != static_cast<ssize_t>(kBlock)) fail("disk: write");
    if (::pread(file, back, kBlock, at) != static_cast<ssize_t>(kBlock)) fail("disk: read");
    if (std::memcmp(out, back, kBlock) != 0) {
      std::fprintf(stderr, "disk: what was read is not what was written\n");
      return 1;
    }
    if (!held.empty()) held[n % held.size()] = static_cast<char>(n);
  }
  std::printf("disk: %zu bytes written and read in %.2f s\n", done, pacing.seconds());
}
