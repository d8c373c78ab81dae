#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::fuzz {

// One reader of what comes from outside, and inputs it understands, which a fuzzer then damages.
struct Target {
  std::string_view name;
  void (*read)(std::string_view bytes);  // stops the program where what must hold does not
  std::vector<std::string> (*seeds)();
};
std::span<const Target> targets();

// Objects as an API server spells them, one or two of each kind that scheduling looks at.
std::vector<std::string> object_texts();
// Diktyo's kinds, in upstream's spelling and in that of its examples, and what netperf writes of latencies.
std::vector<std::string> group_texts();
std::vector<std::string> topology_texts();
std::vector<std::string> measurement_texts();
std::string list_of(const std::vector<std::string>& objects);
// The same kinds in protobuf with every field of our tables set; in their envelope.
std::vector<std::string> packed_objects();
std::string packed_list();
std::vector<std::string> packed_events();

}  // namespace evenkeel::fuzz
