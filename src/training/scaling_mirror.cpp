#include "training/scaling_mirror.h"

#include <cmath>

namespace evenkeel::training {
namespace {

std::int64_t milli(double cores) { return std::llround(1000 * cores); }

std::shared_ptr<const PodTemplate> shape_of(const simulator::ServicePlan& plan, std::size_t service) {
  Container container;
  container.name = container.image = plan.name;
  container.requests.cpu = {milli(plan.cpu_request)};
  container.requests.memory = plan.memory;
  PodSpec spec;
  spec.containers.push_back(std::move(container));
  return std::make_shared<const PodTemplate>(
      plan.scaler.name_space, Labels({{"app", plan.name}}),
      std::vector<OwnerReference>{{"ReplicaSet", plan.name, plan.name, true, "apps/v1"}},
      WorkloadId{static_cast<std::uint32_t>(service)}, std::move(spec));
}

}  // namespace

MirroredRoom::MirroredRoom(const simulator::ServiceWorld& world, const simulator::ServiceWorldPlan& plan,
                           autoscaling::ClusterRoom::Options options)
    : world_(world), plan_(plan), room_(options) {
  room_.set_blind("");
  for (std::uint32_t i = 0; i < plan.nodes.size(); ++i) {
    Node node;
    node.id = {i};
    node.name = plan.nodes[i].name;
    node.allocatable.cpu = {milli(plan.nodes[i].cpu)};
    node.allocatable.memory = plan.nodes[i].memory;
    node.capacity[Dimension::cpu] = plan.nodes[i].cpu;
    node.capacity[Dimension::memory] = static_cast<double>(plan.nodes[i].memory.count);
    room_.observe(NodeAdded{node}, world.now());
  }
  for (std::size_t i = 0; i < plan.services.size(); ++i) shapes_.push_back(shape_of(plan.services[i], i));
}

void MirroredRoom::look_at(std::size_t service, const simulator::Replica& replica) {
  const Time now = world_.now();
  const auto [at, is_new] = pods_.try_emplace({service, replica.serial});
  Known& known = at->second;
  known.seen = true;
  const auto node = [&] { return NodeId{static_cast<std::uint32_t>(replica.node)}; };
  if (is_new) {
    known.id = {slots_++, 1};
    Pod pod;
    pod.id = known.id;
    pod.name = replica.name;
    pod.shape = shapes_[service];
    pod.created = replica.started;
    if (replica.node < 0)
      room_.observe(PodAdded{pod}, now);
    else
      room_.observe(PodFound{pod, node()}, now);
  } else if (known.node < 0 && replica.node >= 0) {
    room_.observe(PodBound{known.id, node()}, now);
  }
  known.node = replica.node;
}

void MirroredRoom::catch_up() {
  for (auto& [key, known] : pods_) known.seen = false;
  for (std::size_t i = 0; i < plan_.services.size(); ++i)
    for (const simulator::Replica& replica : world_.services()[i]->replicas.all()) look_at(i, replica);
  std::erase_if(pods_, [&](const auto& entry) {
    if (entry.second.seen) return false;
    room_.observe(PodGone{entry.second.id}, world_.now());
    return true;
  });
}

void MirroredRoom::reported(const ServiceReported& event) {
  room_.note_usage(event.report, plan_.services[event.scaler.slot].scaler);
}

autoscaling::Room MirroredRoom::room_for(const autoscaling::ScalingRequest& request, std::int32_t more) {
  catch_up();
  return room_.room_for(request, more);
}

autoscaling::Leavers MirroredRoom::leavers_of(const autoscaling::ScalingRequest& request,
                                              std::int32_t fewer) {
  catch_up();
  return room_.leavers_of(request, fewer);
}

}  // namespace evenkeel::training
