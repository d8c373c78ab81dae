#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "learning/saved_state.h"

namespace evenkeel::learning {

// A learner put away in a file, to be taken up again by another process. The file:
//   line 1   evenkeel-checkpoint <version> <bytes that follow line 1> <checksum of them>
//   then     a SavedState whose part "encoding" says whose it is, and "learner" what it holds
// Whatever is cut short, changed by a single byte, newer or another learner's is refused, and the message
// says which: half a learner is worse than none.
inline constexpr int kCheckpointVersion = 1;

std::string serialise_checkpoint(std::string_view encoding, const SavedState& learner);
Result<SavedState> parse_checkpoint(std::string_view bytes, std::string_view expected_encoding);

}  // namespace evenkeel::learning
