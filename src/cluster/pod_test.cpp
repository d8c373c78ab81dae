#include "cluster/pod.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

using namespace literals;

Container asks(MilliCpu cpu, Bytes memory) {
  Container container;
  container.requests.cpu = cpu;
  container.requests.memory = memory;
  return container;
}

Container sidecar(MilliCpu cpu, Bytes memory) {
  Container container = asks(cpu, memory);
  container.restarts_always = true;
  return container;
}

Resources both(MilliCpu cpu, Bytes memory) { return {cpu, memory, {}, {}}; }

TEST(EffectiveRequest, IsTheSumOfTheContainers) {
  PodSpec spec;
  spec.containers = {asks(100_mcpu, 1_GiB), asks(200_mcpu, 2_GiB)};
  EXPECT_EQ(effective_request(spec), both(300_mcpu, 3_GiB));
}

TEST(EffectiveRequest, IsTheLargestInitContainerWhereThatIsMore) {
  PodSpec spec;
  spec.init_containers = {asks(2_cpu, 1_GiB), asks(1_cpu, 4_GiB)};
  spec.containers = {asks(500_mcpu, 2_GiB)};
  EXPECT_EQ(effective_request(spec), both(2_cpu, 4_GiB));  // resource by resource
}

TEST(EffectiveRequest, CountsSidecarsBesideTheContainers) {
  PodSpec spec;
  spec.init_containers = {sidecar(100_mcpu, 1_GiB)};
  spec.containers = {asks(200_mcpu, 1_GiB)};
  EXPECT_EQ(effective_request(spec), both(300_mcpu, 2_GiB));
}

TEST(EffectiveRequest, CountsASidecarFromWhereItStarts) {
  PodSpec before, after;
  before.init_containers = {sidecar(1_cpu, 0_B), asks(2_cpu, 0_B)};
  after.init_containers = {asks(2_cpu, 0_B), sidecar(1_cpu, 0_B)};
  EXPECT_EQ(effective_request(before).cpu, 3_cpu);  // runs beside the init container
  EXPECT_EQ(effective_request(after).cpu, 2_cpu);   // starts when it is done
}

TEST(EffectiveRequest, AddsTheOverheadLast) {
  PodSpec spec;
  spec.init_containers = {asks(1_cpu, 0_B)};
  spec.containers = {asks(500_mcpu, 1_GiB)};
  spec.overhead = both(250_mcpu, 64_MiB);
  EXPECT_EQ(effective_request(spec), both(1250_mcpu, 1_GiB + 64_MiB));
}

TEST(EffectiveRequest, IsWhatThePodAsksForAsAWholeWhereItDoes) {
  PodSpec spec;
  spec.containers = {asks(500_mcpu, 1_GiB), asks(500_mcpu, 1_GiB)};
  spec.pod_level_requests = {3_cpu, std::nullopt, {}};
  spec.overhead.cpu = 100_mcpu;
  EXPECT_EQ(effective_request(spec), both(3100_mcpu, 2_GiB));  // memory was not given: the sum
}

TEST(EffectiveRequest, CountsExtendedResourcesAndStorage) {
  Container init = asks(0_mcpu, 0_B), main = init;
  init.requests.set_extended("gpu", 2);
  main.requests.set_extended("gpu", 1);
  main.requests.ephemeral_storage = 1_GiB;
  PodSpec spec;
  spec.init_containers = {init};
  spec.containers = {main, main};
  EXPECT_EQ(effective_request(spec).extended_count("gpu"), 2);
  EXPECT_EQ(effective_request(spec).ephemeral_storage, 2_GiB);
}

TEST(NonZeroRequest, TakesAContainerThatAsksForNothingAsATenthOfACoreAnd200Mi) {
  PodSpec spec;
  spec.containers = {asks(0_mcpu, 0_B), asks(0_mcpu, 1_GiB), asks(300_mcpu, 0_B)};
  EXPECT_EQ(non_zero_request(spec).cpu, 500_mcpu);
  EXPECT_EQ(non_zero_request(spec).memory, 1_GiB + 400_MiB);
  EXPECT_EQ(effective_request(spec), both(300_mcpu, 1_GiB));  // filters see what was asked for
}

TEST(NonZeroRequest, IsThePodsOwnWhereItAsksAsAWhole) {
  PodSpec spec;
  spec.containers = {asks(0_mcpu, 0_B), asks(0_mcpu, 0_B)};
  spec.pod_level_requests = {1_cpu, std::nullopt, {}};
  EXPECT_EQ(non_zero_request(spec).cpu, 1_cpu);
  EXPECT_EQ(non_zero_request(spec).memory, 400_MiB);
}

TEST(NonZeroRequest, TakesWhatTheStatusSaysForSaidEvenWhereItSaysNothing) {
  PodSpec spec;
  spec.containers = {asks(0_mcpu, 0_B)};
  spec.containers[0].actual = spec.containers[0].allocated = Resources{};
  spec.containers[0].status_names_memory = true;
  EXPECT_EQ(non_zero_request(spec).memory, 0_B);
  EXPECT_EQ(non_zero_request(spec).cpu, 100_mcpu);
  EXPECT_EQ(scored_request(spec).memory, 200_MiB);  // a pod that waits is taken by its word
}

TEST(EffectiveRequest, CountsWhatAContainerHasWhereWhatItWantsCannotBeGranted) {
  PodSpec spec;
  spec.containers = {asks(2_cpu, 1_GiB)};
  spec.containers[0].actual = both(1_cpu, 1_GiB);
  EXPECT_EQ(effective_request(spec).cpu, 2_cpu);
  spec.resize_infeasible = true;
  EXPECT_EQ(effective_request(spec).cpu, 1_cpu);
}

Container limited(Container container, MilliCpu cpu, Bytes memory) {
  container.limits.cpu = cpu;
  container.limits.memory = memory;
  return container;
}

TEST(QosClass, IsGuaranteedWhenEveryContainersLimitsEqualItsRequests) {
  PodSpec spec;
  spec.containers = {limited(asks(1_cpu, 1_GiB), 1_cpu, 1_GiB)};
  EXPECT_EQ(qos_class(spec), QosClass::guaranteed);
  spec.containers.push_back(limited(asks(0_mcpu, 0_B), 1_cpu, 1_GiB));  // a limit implies the request
  EXPECT_EQ(qos_class(spec), QosClass::guaranteed);
  spec.init_containers = {asks(1_cpu, 1_GiB)};  // without limits
  EXPECT_EQ(qos_class(spec), QosClass::burstable);
}

TEST(QosClass, IsBurstableWhenALimitIsHigherOrMissing) {
  PodSpec higher, missing;
  higher.containers = {limited(asks(1_cpu, 1_GiB), 2_cpu, 1_GiB)};
  missing.containers = {limited(asks(1_cpu, 1_GiB), 1_cpu, 0_B)};
  EXPECT_EQ(qos_class(higher), QosClass::burstable);
  EXPECT_EQ(qos_class(missing), QosClass::burstable);
}

TEST(QosClass, IsBestEffortWhenNobodyAsksForCpuOrMemory) {
  PodSpec spec;
  spec.containers = {asks(0_mcpu, 0_B)};
  spec.containers.front().requests.set_extended("gpu", 1);
  EXPECT_EQ(qos_class(spec), QosClass::best_effort);
  EXPECT_EQ(qos_class(PodSpec{}), QosClass::best_effort);
}

TEST(QosClass, LooksAtWhatThePodAsksForAsAWhole) {
  PodSpec spec;
  spec.containers = {asks(0_mcpu, 0_B)};
  spec.pod_level_requests = {1_cpu, 1_GiB, {}};
  EXPECT_EQ(qos_class(spec), QosClass::burstable);
}

TEST(PodTemplate, WorksOutOnceWhatFollowsFromItsSpec) {
  PodSpec spec;
  spec.containers = {limited(asks(0_mcpu, 1_GiB), 2_cpu, 1_GiB)};
  const PodTemplate shape("default", {{"app", "web"}}, {}, WorkloadId{7}, spec);
  EXPECT_EQ(shape.request, effective_request(spec));
  EXPECT_EQ(shape.limit, both(2_cpu, 1_GiB));
  EXPECT_EQ(shape.non_zero.cpu, 100_mcpu);
  EXPECT_EQ(shape.qos, qos_class(spec));
}

}  // namespace
}  // namespace evenkeel
