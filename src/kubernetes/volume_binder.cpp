#include "kubernetes/volume_binder.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/numbers.h"
#include "kubernetes/writes.h"

namespace evenkeel::kubernetes {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
constexpr Duration kLookEvery = 500ms;
constexpr const char* kSelectedNode = "volume.kubernetes.io/selected-node";
constexpr const char* kBoundByController = "pv.kubernetes.io/bound-by-controller";

std::string name_of(const VolumeBinding& binding) { return binding.name_space + "/" + binding.claim; }

ApiRequest patch_volume(const std::string& name, const std::string& version, json claim, json annotation) {
  const json patch = {
      {"metadata",
       {{"resourceVersion", version}, {"annotations", {{kBoundByController, std::move(annotation)}}}}},
      {"spec", {{"claimRef", std::move(claim)}}}};
  return patch_request(types::persistent_volumes(), "", name, "", PatchKind::merge, patch.dump());
}

ApiRequest patch_claim(const VolumeBinding& binding, const std::string& version, json node) {
  const json patch = {
      {"metadata", {{"resourceVersion", version}, {"annotations", {{kSelectedNode, std::move(node)}}}}}};
  return patch_request(types::persistent_volume_claims(), binding.name_space, binding.claim, "",
                       PatchKind::merge, patch.dump());
}

bool is_at_least(const std::string& version, const std::string& other) {
  const auto a = parse_integer(version), b = parse_integer(other);
  return a && b && *a >= *b;
}

const PersistentVolumeClaim& claim_of(const ClusterFeed::KnownObject& known) {
  return std::get<PersistentVolumeClaim>(known.object);
}

}  // namespace

void VolumeBinder::bind(PodId pod, std::string node, std::vector<VolumeBinding> volumes, Duration at_most,
                        Done done) {
  const auto work = std::make_shared<Work>();
  work->pod = pod;
  work->node = std::move(node);
  work->handle = feed_.node_named(work->node);
  for (VolumeBinding& binding : volumes) work->steps.push_back({std::move(binding), {}});
  work->deadline = connection_.now() + at_most;
  work->done = std::move(done);
  connection_.call_after({}, [work, self = std::weak_ptr(alive_)] {
    if (const auto alive = self.lock()) (*alive)->write_next(work);
  });
}

void VolumeBinder::call(const Shared& work, ApiRequest request,
                        void (VolumeBinder::*handle)(const Shared&, const ApiAnswer&)) {
  request.is_wanted = [self = std::weak_ptr(alive_)] {
    const auto alive = self.lock();
    return alive && (*alive)->may_write_();
  };
  connection_.call(std::move(request), [work, handle, self = std::weak_ptr(alive_)](const ApiAnswer& answer) {
    if (const auto alive = self.lock()) ((*alive)->*handle)(work, answer);
  });
}

void VolumeBinder::write_next(const Shared& work) {
  for (; work->next < work->steps.size(); ++work->next) {
    const VolumeBinding& binding = work->steps[work->next].binding;
    const ClusterFeed::KnownObject* claim = feed_.claim(binding.name_space, binding.claim);
    if (!claim) return fail(work, "claim " + name_of(binding) + " is gone");
    if (binding.volume.empty()) {
      if (claim_of(*claim).selected_node == work->node) continue;
      return call(work, patch_claim(binding, claim->resource_version, work->node), &VolumeBinder::wrote);
    }
    const ClusterFeed::KnownObject* volume = feed_.volume(binding.volume);
    if (!volume) return fail(work, "volume " + binding.volume + " is gone");
    const auto& promised = std::get<PersistentVolume>(volume->object).claim;
    if (promised && promised->uid == claim->uid) continue;
    return call(work,
                patch_volume(binding.volume, volume->resource_version,
                             {{"apiVersion", "v1"},
                              {"kind", "PersistentVolumeClaim"},
                              {"namespace", binding.name_space},
                              {"name", binding.claim},
                              {"uid", claim->uid},
                              {"resourceVersion", claim->resource_version}},
                             "yes"),
                &VolumeBinder::wrote);
  }
  later(work);
}

void VolumeBinder::wrote(const Shared& work, const ApiAnswer& answer) {
  Step& step = work->steps[work->next];
  if (!answer.ok())
    return fail(work, (step.binding.volume.empty() ? "claim " + name_of(step.binding)
                                                   : "volume " + step.binding.volume) +
                          ": " + answer.status.message);
  if (const auto object = read_object(answer.format, answer.body))
    step.written = object->identity.resource_version;
  ++work->next;
  write_next(work);
}

void VolumeBinder::later(const Shared& work) {
  connection_.call_after(kLookEvery, [work, self = std::weak_ptr(alive_)] {
    if (const auto alive = self.lock()) (*alive)->wait(work);
  });
}

void VolumeBinder::wait(const Shared& work) {
  if (!feed_.pod(work->pod)) return work->done(not_found("the pod is gone"));
  if (feed_.node_named(work->node) != work->handle) return fail(work, "node " + work->node + " is gone");
  bool all_bound = true;
  for (const Step& step : work->steps) {
    const ClusterFeed::KnownObject* known = feed_.claim(step.binding.name_space, step.binding.claim);
    if (!known) return fail(work, "claim " + name_of(step.binding) + " is gone");
    const PersistentVolumeClaim& claim = claim_of(*known);
    if (!claim.volume.empty() && claim.bind_completed) continue;
    all_bound = false;
    if (const auto* volume = feed_.volume(step.binding.volume); volume && !step.written.empty()) {
      const auto& promised = std::get<PersistentVolume>(volume->object).claim;
      if ((!promised || promised->uid != known->uid) && is_at_least(volume->resource_version, step.written))
        return fail(work, "volume " + step.binding.volume + " was given to another");
    }
    // The provisioner takes the annotation away where it cannot serve that node.
    if (step.binding.volume.empty() && claim.selected_node != work->node &&
        is_at_least(known->resource_version, step.written))
      return fail(work, "no volume can be made on " + work->node + " for claim " + name_of(step.binding));
  }
  if (all_bound) return work->done({});
  if (connection_.now() >= work->deadline) return fail(work, "timed out waiting for claims to be bound");
  later(work);
}

void VolumeBinder::fail(const Shared& work, const std::string& why) {
  for (const Step& step : work->steps)
    if (!step.written.empty()) take_back(step);
  work->done(unavailable("binding volumes: " + why));
}

// Only as we left it: a version that is newer is a controller's, who is at work on it.
void VolumeBinder::take_back(const Step& step) {
  ApiRequest request = step.binding.volume.empty()
                           ? patch_claim(step.binding, step.written, nullptr)
                           : patch_volume(step.binding.volume, step.written, nullptr, nullptr);
  request.is_wanted = [self = std::weak_ptr(alive_)] {
    const auto alive = self.lock();
    return alive && (*alive)->may_write_();
  };
  connection_.call(std::move(request), [](const ApiAnswer&) {});
}

}  // namespace evenkeel::kubernetes
