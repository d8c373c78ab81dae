#pragma once
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

struct ZSTD_DCtx_s;

namespace evenkeel {

// A stream of bytes out of a file or a text, decompressed on the way when it begins as zstd does.
class CsvSource {
 public:
  static Result<CsvSource> open(const std::string& path);
  static Result<CsvSource> from_text(std::string bytes, std::string name);

  // Up to `capacity` (> 0) bytes; 0 at the end.
  Result<std::size_t> read(char* to, std::size_t capacity);

  const std::string& name() const { return name_; }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
  };
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  explicit CsvSource(std::string name) : name_(std::move(name)) {}
  Status begin();
  Status refill();
  Result<std::size_t> decompress(char* to, std::size_t capacity);

  std::string name_;
  std::unique_ptr<std::FILE, CloseFile> file_;         // none where the source is a text
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> context_;  // none where the bytes are plain
  std::string block_;                                  // bytes as they came, from at_ on unread
  std::size_t at_ = 0;
  bool within_frame_ = false;  // a compressed frame has begun and not ended
};

}  // namespace evenkeel
