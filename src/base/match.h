#pragma once

namespace evenkeel {

// One lambda per alternative: std::visit(Match{[](const BindPod&) {…}, [](const MarkUnschedulable&) {…}},
// action). An alternative without a lambda does not compile.
template <class... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};

}  // namespace evenkeel
