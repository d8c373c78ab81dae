#include "monitor/thrift.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace evenkeel::monitor {
namespace {

long resident_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmRSS:") {
      long kb = 0;
      status >> kb;
      return kb;
    }
  return 0;
}

TEST(Thrift, GivesBackAndGoesOn) {
  [[maybe_unused]] const long before = resident_kb();
  give_back_what_starting_took();
  [[maybe_unused]] const long after = resident_kb();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(after, before);
#endif
  // What was given back is read again as it was.
  EXPECT_EQ(std::stod(std::to_string(1.5)), 1.5);
}

}  // namespace
}  // namespace evenkeel::monitor
