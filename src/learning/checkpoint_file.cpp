#include "learning/checkpoint_file.h"

#include <charconv>

#include "learning/checksum.h"

namespace evenkeel::learning {
namespace {

constexpr std::string_view kMagic = "evenkeel-checkpoint ";
constexpr std::size_t kLongestLine = 128;

std::string first_line(std::string_view body) {
  return std::string(kMagic) + std::to_string(kCheckpointVersion) + " " + std::to_string(body.size()) + " " +
         checksum_text(checksum(body));
}

}  // namespace

std::string serialise_checkpoint(std::string_view encoding, const SavedState& learner) {
  SavedState all;
  all.put_text("encoding", encoding);
  all.put("learner", learner);
  const std::string body = all.bytes();
  return first_line(body) + "\n" + body;
}

Result<SavedState> parse_checkpoint(std::string_view bytes, std::string_view expected_encoding) {
  if (!bytes.starts_with(kMagic))
    return invalid("not a checkpoint: it does not begin with 'evenkeel-checkpoint'");
  const std::size_t end = bytes.substr(0, kLongestLine).find('\n');
  if (end == std::string_view::npos) return invalid("checkpoint: its first line is damaged or cut short");
  const std::string_view line = bytes.substr(0, end), body = bytes.substr(end + 1);
  int version = 0;
  const char* const from = line.data() + kMagic.size();
  const auto [at, error] = std::from_chars(from, line.data() + line.size(), version);
  // What a newer version's first line says after its number is not ours to judge.
  if (error == std::errc{} && at > from && version > kCheckpointVersion)
    return invalid("checkpoint: file version " + std::to_string(version) + ", this program reads version " +
                   std::to_string(kCheckpointVersion));
  // Compared as a whole: there is one right first line for these bytes, and no other is believed.
  if (line != first_line(body)) return invalid("checkpoint: damaged or cut short");
  Result<SavedState> all = SavedState::parse(body);
  if (!all) return all.error();
  const std::string encoding = all->text("encoding");
  SavedState learner = all->part("learner");
  if (!all->status()) return all->status().error();
  if (encoding != expected_encoding)
    return invalid("checkpoint: made for '" + encoding + "', expected '" + std::string(expected_encoding) +
                   "'");
  return learner;
}

}  // namespace evenkeel::learning
