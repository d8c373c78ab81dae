#include "wire_targets.h"

namespace evenkeel::fuzz {

std::vector<std::string> group_texts() {
  return {
      R"({"apiVersion":"appgroup.diktyo.x-k8s.io/v1alpha1","kind":"AppGroup","metadata":{"name":"a1","namespace":"default","resourceVersion":"4","annotations":{"evenkeel.io/gang":"true"}},"spec":{"numMembers":3,"topologySortingAlgorithm":"KahnSort","workloads":[{"workload":{"kind":"Deployment","name":"p1","selector":"p1","apiVersion":"apps/v1","namespace":"default"},"dependencies":[{"workload":{"kind":"Deployment","name":"p2","selector":"p2","apiVersion":"apps/v1","namespace":"default"},"minBandwidth":"100Mi","maxNetworkCost":30}]},{"workload":{"kind":"Deployment","name":"p2","selector":"p2","apiVersion":"apps/v1","namespace":"default"},"dependencies":[{"workload":{"kind":"Deployment","name":"p3","selector":"p3"},"minBandwidth":"250M"}]},{"workload":{"kind":"Deployment","name":"p3","selector":"p3"}}]},"status":{"runningWorkloads":2,"scheduleStartTime":"2026-11-16T08:30:00Z","topologyCalculationTime":"2026-11-16T08:30:00Z","topologyOrder":[{"workload":{"kind":"Deployment","name":"p1","selector":"p1"},"index":1},{"workload":{"kind":"Deployment","name":"p2","selector":"p2"},"index":2}]}})",
      R"({"apiVersion":"appgroup.diktyo.x-k8s.io/v1alpha1","kind":"AppGroup","metadata":{"name":"circle","namespace":"n"},"spec":{"numMembers":2,"topologySortingAlgorithm":"AlternateTarjan","workloads":[{"workload":{"name":"a","selector":"a"},"dependencies":[{"workload":{"name":"b","selector":"b"}},{"workload":{"name":"a","selector":"a"}}]},{"workload":{"name":"b","selector":"b"},"dependencies":[{"workload":{"name":"a","selector":"a"},"maxNetworkCost":-1}]}]}})"};
}

std::vector<std::string> topology_texts() {
  return {
      R"({"apiVersion":"networktopology.diktyo.x-k8s.io/v1alpha1","kind":"NetworkTopology","metadata":{"name":"nt","namespace":"default","resourceVersion":"4"},"spec":{"configmapName":"netperf-metrics","weights":[{"name":"UserDefined","topologyList":[{"topologyKey":"topology.kubernetes.io/region","originList":[{"origin":"eu","costList":[{"destination":"us","bandwidthCapacity":"10Gi","bandwidthAllocated":"1Gi","networkCost":20}]}]},{"topologyKey":"topology.kubernetes.io/zone","originList":[{"origin":"z1","costList":[{"destination":"z2","bandwidthCapacity":"1G","networkCost":5}]}]}]}]},"status":{"nodeCount":2,"weightCalculationTime":"2026-11-16T08:30:00Z"}})",
      R"({"apiVersion":"networktopology.diktyo.x-k8s.io/v1alpha1","kind":"NetworkTopology","metadata":{"name":"old"},"spec":{"configMapName":"netperf-metrics","weights":[{"name":"UserDefined","costList":[{"topologyKey":"topology.kubernetes.io/zone","originCosts":[{"origin":"z1","costs":[{"destination":"z2","networkCost":5,"bandwidthCapacity":"1Gi"}]}]}]}]}})"};
}

std::vector<std::string> measurement_texts() {
  return {
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"netperf-metrics","namespace":"default"},"data":{"netperf.p90.latency.milliseconds.origin.a.destination.b":"60","netperf_p90_latency_microseconds.origin.a.destination.b":"60312.5","netperf.p50.latency.milliseconds.origin.b.destination.a":"1e3","netperf.p99.latency.milliseconds.origin.a.destination.a.destination.b":"2","netperf.bandwidth.bitspersecond.origin.a.destination.b":"1000000000"}})",
      R"({"data":{"netperf_p99_latency_milliseconds.origin.a.destination.b":"-1","other":"x"},"binaryData":{"k":"YQ=="}})"};
}

}  // namespace evenkeel::fuzz
