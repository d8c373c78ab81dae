#pragma once
#include "cluster/cluster_state.h"
#include "scheduling/imbalance.h"

namespace evenkeel::scheduling {

// A cluster right after something was added to one of its nodes, as expected.
struct ExpectedState {
  double imbalance = 0;  // DRS eq. 13
  double fullest = 0;    // of that node's dimensions, the share of capacity in use
};
ExpectedState expected_after(const NodeColumns& columns, const Imbalance& before, const Usage& added,
                             NodeId node);

}  // namespace evenkeel::scheduling
