#pragma once
#include <cmath>
#include <vector>

#include "learning/replay_buffer.h"

namespace evenkeel::learning {

// For tests: five states in a row, left and right; stepping right out of the last one pays 1 and ends the
// episode, all else pays nothing. So V*(s) = gamma^(4 - s), Q*(s, right) = V*(s), and Q*(s, left) = gamma
// V*(s - 1).
struct Chain {
  static constexpr int kStates = 5, kLeft = 0, kRight = 1;
  int state = 0;

  static std::vector<Real> seen(int state) {  // a place per state
    std::vector<Real> result(kStates);
    result[static_cast<std::size_t>(state)] = 1;
    return result;
  }

  Experience step(int action) {
    const int from = state;
    const bool out = action == kRight && state == kStates - 1;
    state = action == kRight ? (out ? 0 : state + 1) : (state > 0 ? state - 1 : 0);
    return {.state = seen(from),
            .allowed = {},
            .action = action,
            .reward = out ? 1.0 : 0.0,
            .next_state = seen(out ? from : state),
            .next_allowed = {},
            .end = out ? EpisodeEnd::terminal : EpisodeEnd::none};
  }

  static Real best_value(int state, Real discount) { return std::pow(discount, kStates - 1 - state); }
  static Real action_value(int state, int action, Real discount) {
    if (action == kRight) return best_value(state, discount);
    return discount * best_value(state > 0 ? state - 1 : 0, discount);
  }
};

}  // namespace evenkeel::learning
