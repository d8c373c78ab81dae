#include "base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
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
  // Closing flushes: a full disk may show only here.
  const bool closed = std::fclose(file.release()) == 0;
  if (written && closed && std::rename(partial.c_str(), path.c_str()) == 0) return {};
  const int number = errno;
  (void)std::remove(partial.c_str());
  return system_error(path, number);
}

}  // namespace evenkeel
