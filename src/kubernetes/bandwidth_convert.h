#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace evenkeel::kubernetes {

// What AppGroups ask for as annotations that the CNI bandwidth plugin obeys. It reads them when a pod's
// network is made, so they belong to templates, before pods are.
//
// An edge A -> B with minBandwidth is meant for every pair of replicas: each pod of A sends that much to each
// of B. So egress of a pod is the sum over its outgoing edges of minBandwidth times the other side's
// replicas, ingress likewise over incoming ones, as whole bits a second. A pod without such edges is left
// alone, and so is an annotation that is there already.
struct ShapedManifests {
  std::string text;                    // all objects that have pods, each a JSON document, --- between them
  std::size_t annotated = 0;           // templates that were given annotations
  std::vector<std::string> remarks{};  // what was guessed or passed over
};

// Manifests by name and text, YAML or JSON, Lists as well; groups and pods may stand in different ones.
Result<ShapedManifests> shape_manifests(const std::vector<std::pair<std::string, std::string>>& manifests);

}  // namespace evenkeel::kubernetes
