#include "base/csv_source.h"

#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace evenkeel {
namespace {

constexpr std::size_t kBlock = 1 << 17;  // zstd's own block size; larger gains nothing
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

}  // namespace

void CsvSource::FreeContext::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

Result<CsvSource> CsvSource::open(const std::string& path) {
  CsvSource source(path);
  source.file_.reset(std::fopen(path.c_str(), "rb"));
  if (!source.file_) {
    const auto kind = errno == ENOENT ? Error::Kind::not_found : Error::Kind::invalid;
    return Error{kind, path + ": " + std::strerror(errno)};
  }
  if (Status begun = source.begin(); !begun) return begun.error();
  return source;
}

Result<CsvSource> CsvSource::from_text(std::string bytes, std::string name) {
  CsvSource source(std::move(name));
  source.block_ = std::move(bytes);
  if (Status begun = source.begin(); !begun) return begun.error();
  return source;
}

Status CsvSource::begin() {
  if (file_) {
    if (Status filled = refill(); !filled) return filled;
  }
  if (std::string_view(block_).starts_with(kZstdMagic)) context_.reset(ZSTD_createDCtx());
  return {};
}

// The next block of the file, or an empty one at the end.
Status CsvSource::refill() {
  at_ = 0;
  if (!file_) {
    block_.clear();
    return {};
  }
  block_.resize(kBlock);
  block_.resize(std::fread(block_.data(), 1, kBlock, file_.get()));
  if (std::ferror(file_.get()) != 0) return invalid(name_ + ": " + std::strerror(errno));
  return {};
}

Result<std::size_t> CsvSource::read(char* to, std::size_t capacity) {
  if (context_) return decompress(to, capacity);
  if (at_ == block_.size()) {
    if (Status filled = refill(); !filled) return filled.error();
  }
  const std::size_t count = std::min(capacity, block_.size() - at_);
  std::memcpy(to, block_.data() + at_, count);
  at_ += count;
  return count;
}

Result<std::size_t> CsvSource::decompress(char* to, std::size_t capacity) {
  ZSTD_outBuffer output{to, capacity, 0};
  while (output.pos == 0) {
    if (at_ == block_.size()) {
      if (Status filled = refill(); !filled) return filled.error();
    }
    const bool at_end = block_.empty();
    // Even without input the context may still hold output it had no room for.
    ZSTD_inBuffer input{block_.data(), block_.size(), at_};
    const std::size_t state = ZSTD_decompressStream(context_.get(), &output, &input);
    if (ZSTD_isError(state) != 0) {
      return invalid(name_ + ": not a valid zstd stream: " + ZSTD_getErrorName(state));
    }
    at_ = input.pos;
    if (!at_end) within_frame_ = state != 0;
    if (at_end && output.pos == 0) {
      if (within_frame_) return invalid(name_ + ": the zstd stream ends early");
      return std::size_t{0};
    }
  }
  return output.pos;
}

}  // namespace evenkeel
