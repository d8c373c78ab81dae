#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/agent_messages.h"

namespace evenkeel::messaging {

// What agents say to each other, as bytes. Messages follow each other without anything between them, so as
// many as there are go out in one piece. Layout and sizes are in agent_wire.cpp; a decision is at most
// 25 bytes of its batch, and 33 on its own.

inline constexpr std::size_t kMostAgentMessage = 1024 * 1024;
inline constexpr std::size_t kMostParameters = 250'000;  // of a model: a megabyte
inline constexpr std::size_t kMostOfABatch = 4096;       // bids, questions or awards in a message
inline constexpr std::size_t kMostDeputies = 64;
inline constexpr std::size_t kMostHolder = 512;  // letters that name who leads

// Appends the message. What a reader would refuse is not written: invalid, and `bytes` is as before.
Status append_message(const FromAgent& message, std::string& bytes);
Status append_message(const FromLeader& message, std::string& bytes);

// The leader's first answer to a hello: it leads, and this agent is let in. Says nothing else.
void append_welcome(std::string& bytes);
bool is_welcome(std::string_view body);

// Where the first message of these bytes lies. None: more has to come first. invalid: no message is like
// that.
struct MessagePlace {
  std::size_t begin = 0, end = 0;
};
Result<std::optional<MessagePlace>> first_message(std::string_view bytes);

// A message without its length. Whatever the bytes are: either all of one that may be believed, or why not.
Result<FromAgent> read_from_agent(std::string_view body);
Result<FromLeader> read_from_leader(std::string_view body);

}  // namespace evenkeel::messaging
