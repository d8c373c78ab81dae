#include "monitor/kernel_text.h"

#include <charconv>

namespace evenkeel::monitor {
namespace {

constexpr std::uint64_t kSector = 512;  // of /proc/diskstats, whatever the disk's own are

std::optional<std::uint64_t> number(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// Skips words; whether there were so many.
bool skip_words(std::string_view& rest, int count) {
  for (; count > 0; --count)
    if (cut_word(rest).empty()) return false;
  return true;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string_view cut(std::string_view& rest, char end) {
  const std::size_t place = rest.find(end);
  const std::string_view front = rest.substr(0, place);
  rest.remove_prefix(place == std::string_view::npos ? rest.size() : place + 1);
  return front;
}

std::string_view cut_word(std::string_view& rest) {
  std::size_t begin = 0;
  while (begin < rest.size() && (rest[begin] == ' ' || rest[begin] == '\t' || rest[begin] == '\n')) ++begin;
  std::size_t end = begin;
  while (end < rest.size() && rest[end] != ' ' && rest[end] != '\t' && rest[end] != '\n') ++end;
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  const std::string_view word = cut_word(text);
  return cut_word(text).empty() ? number(word) : std::nullopt;
}

std::optional<std::uint64_t> find_count(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    if (!line.starts_with(name)) continue;
    if (cut_word(line) == name) return number(cut_word(line));
  }
  return std::nullopt;
}

std::optional<ProcessorTimes> parse_stat(std::string_view text) {
  std::string_view line = cut(text, '\n');
  if (cut_word(line) != "cpu") return std::nullopt;
  // user nice system idle iowait irq softirq steal guest guest_nice
  static constexpr bool kIsBusy[] = {true, true, true, false, false, true, true};
  ProcessorTimes times;
  for (const bool is_busy : kIsBusy) {
    const auto ticks = number(cut_word(line));
    if (!ticks) return std::nullopt;
    if (is_busy) times.busy_ticks += *ticks;
  }
  while (text.starts_with("cpu")) {
    ++times.processors;
    (void)cut(text, '\n');
  }
  return times;
}

std::optional<MemoryFacts> parse_meminfo(std::string_view text) {
  const auto total = find_count(text, "MemTotal:"), free = find_count(text, "MemFree:"),
             inactive = find_count(text, "Inactive(file):");
  if (!total || !free || !inactive) return std::nullopt;
  const std::uint64_t unused = *free + *inactive;
  return MemoryFacts{.total = *total * 1024, .used = unused < *total ? (*total - unused) * 1024 : 0};
}

std::optional<Transfers> sum_interfaces(std::string_view text, const IsCounted& counted) {
  (void)cut(text, '\n');
  if (cut(text, '\n').find("bytes") == std::string_view::npos) return std::nullopt;
  Transfers sum;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    std::string_view name = cut(line, ':');
    if (!counted(cut_word(name))) continue;
    const auto received = number(cut_word(line));
    if (!received || !skip_words(line, 7)) return std::nullopt;
    const auto sent = number(cut_word(line));
    if (!sent) return std::nullopt;
    sum.in += *received;
    sum.out += *sent;
  }
  return sum;
}

void for_each_interface(std::string_view text, const std::function<void(std::string_view name)>& found) {
  (void)cut(text, '\n');
  (void)cut(text, '\n');
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    std::string_view name = cut(line, ':');
    if (!line.empty()) found(cut_word(name));
  }
}

void for_each_default_route(std::string_view text, const std::function<void(std::string_view name)>& found) {
  (void)cut(text, '\n');
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    const std::string_view name = cut_word(line), destination = cut_word(line);
    if (!skip_words(line, 5)) continue;
    if (destination == "00000000" && cut_word(line) == "00000000") found(name);
  }
}

void for_each_disk(std::string_view text, const std::function<void(const DiskLine& line)>& found) {
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    DiskLine disk;
    disk.major = cut_word(line);
    disk.minor = cut_word(line);
    disk.name = cut_word(line);
    if (!disk.name.empty()) found(disk);
  }
}

std::optional<Transfers> sum_disks(std::string_view text, const IsCounted& counted) {
  Transfers sum;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    if (!skip_words(line, 2)) continue;
    if (!counted(cut_word(line))) continue;
    // reads, reads merged, sectors read, ms, writes, writes merged, sectors written
    if (!skip_words(line, 2)) return std::nullopt;
    const auto read = number(cut_word(line));
    if (!read || !skip_words(line, 3)) return std::nullopt;
    const auto written = number(cut_word(line));
    if (!written) return std::nullopt;
    sum.in += *read * kSector;
    sum.out += *written * kSector;
  }
  return sum;
}

std::optional<Transfers> sum_blkio(std::string_view text, const IsCounted& counted) {
  Transfers sum;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    const std::string_view device = cut_word(line), kind = cut_word(line);
    if (device == "Total" || device.empty()) continue;
    const auto bytes = number(cut_word(line));
    if (!bytes) return std::nullopt;
    if (!counted(device)) continue;
    if (kind == "Read") sum.in += *bytes;
    if (kind == "Write") sum.out += *bytes;
  }
  return sum;
}

std::optional<Transfers> sum_io_stat(std::string_view text, const IsCounted& counted) {
  Transfers sum;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    const std::string_view device = cut_word(line);
    if (device.empty()) continue;
    if (device.find(':') == std::string_view::npos) return std::nullopt;
    if (!counted(device)) continue;
    for (std::string_view word = cut_word(line); !word.empty(); word = cut_word(line)) {
      const std::string_view key = cut(word, '=');
      if (key == "rbytes" && is_number(word)) sum.in += *number(word);
      if (key == "wbytes" && is_number(word)) sum.out += *number(word);
    }
  }
  return sum;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  const auto quota = number(cut_word(text)), period = number(cut_word(text));
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

}  // namespace evenkeel::monitor
