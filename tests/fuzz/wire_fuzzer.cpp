// All readers of the wire in one fuzzer: compiled once, pointed at one of them by --target=<name>.
//   wire_fuzzer --targets                     their names
//   wire_fuzzer --target=http --seeds=<dir>   writes inputs to begin with
//   wire_fuzzer --target=http <dir> …         libFuzzer's own options follow
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "wire_targets.h"

namespace {

const evenkeel::fuzz::Target* chosen = nullptr;

void write_seeds(const std::string& folder) {
  int number = 0;
  for (const std::string& seed : chosen->seeds())
    std::ofstream(folder + "/seed-" + std::to_string(++number), std::ios::binary) << seed;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  std::string seeds;
  for (int i = 1; i < *count; ++i) {
    const std::string argument = (*arguments)[i];
    for (const auto& target : evenkeel::fuzz::targets()) {
      if (argument == "--targets") std::printf("%s\n", std::string(target.name).c_str());
      if (argument == "--target=" + std::string(target.name)) chosen = &target;
    }
    if (argument == "--targets") std::exit(0);
    if (argument.starts_with("--seeds=")) seeds = argument.substr(8);
  }
  if (!chosen) {
    std::fprintf(stderr, "wire_fuzzer: which reader? --target=<name>; --targets names them\n");
    std::exit(2);
  }
  if (seeds.empty()) return 0;
  write_seeds(seeds);
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  chosen->read({reinterpret_cast<const char*>(data), size});
  return 0;
}
