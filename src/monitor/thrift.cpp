#include "monitor/thrift.h"

#include <malloc.h>
#include <sys/mman.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/kept_file.h"
#include "monitor/kernel_text.h"

namespace evenkeel::monitor {
namespace {

struct Mapping {
  std::uintptr_t from = 0, to = 0;
  bool is_files_own = false;  // of a file, not to be written to, and nothing in it was
};

// A line of smaps that begins a mapping: `7f00-7f01 r-xp 00000000 08:01 123  /usr/lib/x.so`.
bool read_mapping(std::string_view line, Mapping& mapping) {
  std::string_view range = cut_word(line);
  const std::string_view from = cut(range, '-'), mode = cut_word(line);
  const auto hex = [](std::string_view text, std::uintptr_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return error == std::errc() && end == text.data() + text.size();
  };
  Mapping found;
  if (!hex(from, found.from) || !hex(range, found.to) || mode.size() != 4) return false;
  for (int skipped = 0; skipped < 3; ++skipped) (void)cut_word(line);
  found.is_files_own = mode[0] == 'r' && mode[1] == '-' && mode[3] == 'p' && cut_word(line).starts_with('/');
  mapping = found;
  return true;
}

}  // namespace

void keep_to_one_heap() {
  (void)::mallopt(M_ARENA_MAX, 1);
  (void)::mallopt(M_TRIM_THRESHOLD, 64 * 1024);
  (void)::mallopt(M_TOP_PAD, 16 * 1024);
}

void give_back_what_starting_took() {
  (void)::malloc_trim(0);
  KeptFile file("/proc/self/smaps");
  ReadBuffer buffer;
  const auto text = file.read(buffer);
  if (!text) return;
  std::vector<Mapping> mappings;
  for (std::string_view rest = *text; !rest.empty();) {
    std::string_view line = cut(rest, '\n');
    Mapping mapping;
    if (read_mapping(line, mapping)) {
      mappings.push_back(mapping);
    } else if (line.starts_with("Anonymous:") && !mappings.empty()) {
      // Pages that the loader changed are not the file's any more: without them the program would not run.
      (void)cut_word(line);
      if (cut_word(line) != "0") mappings.back().is_files_own = false;
    }
  }
  for (const Mapping& mapping : mappings)
    if (mapping.is_files_own)
      (void)::madvise(reinterpret_cast<void*>(mapping.from), mapping.to - mapping.from, MADV_DONTNEED);
}

}  // namespace evenkeel::monitor
