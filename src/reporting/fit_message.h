#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::reporting {

// "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable. preemption: …" taken apart
// again: kube-scheduler's wording, which is what a pod's condition, its Events and our actions carry.
struct FitMessage {
  struct Part {
    std::uint32_t nodes = 0;  // 0: the message gives no count, it holds for all
    std::string reason;
    std::string plugin;  // whose words these are; empty: nobody's we know
  };
  std::vector<Part> parts;
  bool tried_preemption = false;
};
FitMessage parse_fit_message(std::string_view message);

// The plugin of kube-scheduler's default profile that says so, or nothing.
std::string_view plugin_that_says(std::string_view reason);

}  // namespace evenkeel::reporting
