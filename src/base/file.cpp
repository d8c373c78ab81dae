#include "base/file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace evenkeel {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

Error system_error(const std::string& path, int number) {
  const auto kind = number == ENOENT ? Error::Kind::not_found : Error::Kind::invalid;
  return {kind, path + ": " + std::strerror(number)};
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const OpenFile file(std::fopen(path.c_str(), "rb"));
  if (!file) return system_error(path, errno);
  std::string text;
  char block[1 << 16];
  while (const std::size_t got = std::fread(block, 1, sizeof block, file.get())) text.append(block, got);
  if (std::ferror(file.get()) != 0) return system_error(path, errno);
  return text;
}

Status write_file(const std::string& path, std::string_view text) {
  const std::string partial = path + ".partial";
  OpenFile file(std::fopen(partial.c_str(), "wb"));
  if (!file) return system_error(path, errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  // On the disk before it takes the old file's name: a machine that stops in between keeps the old one.
  const bool kept = written && std::fflush(file.get()) == 0 && ::fsync(fileno(file.get())) == 0;
  // Closing flushes: a full disk may show only here.
  const bool closed = std::fclose(file.release()) == 0;
  if (kept && closed && std::rename(partial.c_str(), path.c_str()) == 0) return {};
  const int number = errno;
  (void)std::remove(partial.c_str());
  return system_error(path, number);
}

Status check_writable(const std::string& path) {
  const std::string partial = path + ".partial";
  OpenFile file(std::fopen(partial.c_str(), "wb"));
  if (!file) return system_error(path, errno);
  file.reset();
  (void)std::remove(partial.c_str());
  // One can write beside a directory, but not in its place.
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return system_error(path, EISDIR);
  return {};
}

}  // namespace evenkeel
