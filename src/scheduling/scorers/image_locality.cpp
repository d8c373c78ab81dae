// ImageLocality: the bytes of the pod's images that the node has already, each counting the more
// the more nodes have it, so that a lone copy does not draw every pod.
#include <algorithm>

#include "scheduling/scorers/scorer.h"

namespace evenkeel::scheduling {
namespace {

constexpr std::int64_t kLeast = 23LL << 20, kMostPerContainer = 1000LL << 20;

// As container runtimes name it: with a tag.
std::string with_tag(const std::string& name) {
  const std::size_t colon = name.rfind(':'), slash = name.rfind('/');
  const bool tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return tagged ? name : name + ":latest";
}

template <class Visit>
void for_each_image(const PodSpec& spec, Visit visit) {
  for (const Container& container : spec.init_containers) visit(container.image);
  for (const Container& container : spec.containers) visit(container.image);
  for (const PodVolume& volume : spec.volumes)
    if (volume.kind == VolumeKind::image) visit(volume.source);
}

}  // namespace

bool has_known_images(const PlacementRequest& request) {
  if (!request.cluster.knows_images()) return false;
  bool known = false;
  for_each_image(request.pod.spec(), [&](const std::string& name) {
    known = known || !request.cluster.image(with_tag(name)).empty();
  });
  return known;
}

void image_locality(const PlacementRequest& request, float weight, std::span<float> totals) {
  std::vector<std::int64_t> sums(totals.size());
  const auto nodes = static_cast<double>(request.cluster.node_count());
  for_each_image(request.pod.spec(), [&](const std::string& name) {
    const auto holders = request.cluster.image(with_tag(name));
    const double spread = static_cast<double>(holders.size()) / nodes;
    for (const auto& [node, size] : holders)
      sums[node] += static_cast<std::int64_t>(static_cast<double>(size.count) * spread);
  });
  const PodSpec& spec = request.pod.spec();
  const std::int64_t most =
      kMostPerContainer * static_cast<std::int64_t>(spec.init_containers.size() + spec.containers.size());
  if (most <= kLeast) return;
  for (std::size_t slot = 0; slot < sums.size(); ++slot) {
    const std::int64_t score = 100 * (std::clamp(sums[slot], kLeast, most) - kLeast) / (most - kLeast);
    totals[slot] += weight * static_cast<float>(score);
  }
}

}  // namespace evenkeel::scheduling
