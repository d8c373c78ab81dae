// Written by tools/make_protobuf_tables from the types of k8s.io/api; do not edit.
#include "kubernetes/protobuf_tables.h"

#include <array>

namespace evenkeel::kubernetes {
namespace {

using enum FieldKind;
using enum FieldShape;

// clang-format off
constexpr std::array<FieldTable, 3> kCorePod{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, false, 20, "spec"},
    {3, message, single, false, false, 21, "status"},
}};
constexpr std::array<FieldTable, 3> kCoreNode{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, false, 22, "spec"},
    {3, message, single, false, false, 23, "status"},
}};
constexpr std::array<FieldTable, 3> kCoreNamespace{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, false, 24, "spec"},
    {3, message, single, false, false, 25, "status"},
}};
constexpr std::array<FieldTable, 2> kCoreService{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, false, 26, "spec"},
}};
constexpr std::array<FieldTable, 3> kCoreReplicationController{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, false, 27, "spec"},
    {3, message, single, false, false, 28, "status"},
}};
constexpr std::array<FieldTable, 3> kCorePersistentVolume{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, false, 29, "spec"},
    {3, message, single, false, false, 30, "status"},
}};
constexpr std::array<FieldTable, 3> kCorePersistentVolumeClaim{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, false, 31, "spec"},
    {3, message, single, false, false, 32, "status"},
}};
constexpr std::array<FieldTable, 15> kCoreEvent{{
    {1, message, single, false, true, 19, "metadata"},
    {2, message, single, false, true, 33, "involvedObject"},
    {3, text, single, false, false, 0, "reason"},
    {4, text, single, false, false, 0, "message"},
    {5, message, single, false, false, 34, "source"},
    {6, time, single, false, false, 0, "firstTimestamp"},
    {7, time, single, false, false, 0, "lastTimestamp"},
    {8, integer, single, false, false, 0, "count"},
    {9, text, single, false, false, 0, "type"},
    {10, micro_time, single, false, false, 0, "eventTime"},
    {11, message, single, false, true, 35, "series"},
    {12, text, single, false, false, 0, "action"},
    {13, message, single, false, true, 33, "related"},
    {14, text, single, false, true, 0, "reportingComponent"},
    {15, text, single, false, true, 0, "reportingInstance"},
}};
constexpr std::array<FieldTable, 3> kAppsReplicaSet{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, false, 36, "spec"},
    {3, message, single, false, false, 37, "status"},
}};
constexpr std::array<FieldTable, 3> kAppsStatefulSet{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, false, 38, "spec"},
    {3, message, single, false, false, 39, "status"},
}};
constexpr std::array<FieldTable, 8> kStorageStorageClass{{
    {1, message, single, false, false, 19, "metadata"},
    {2, text, single, false, true, 0, "provisioner"},
    {3, text, map, false, false, 0, "parameters"},
    {4, text, single, false, true, 0, "reclaimPolicy"},
    {5, text, list, false, false, 0, "mountOptions"},
    {6, boolean, single, false, true, 0, "allowVolumeExpansion"},
    {7, text, single, false, true, 0, "volumeBindingMode"},
    {8, message, list, false, false, 40, "allowedTopologies"},
}};
constexpr std::array<FieldTable, 2> kStorageCSINode{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, true, 41, "spec"},
}};
constexpr std::array<FieldTable, 2> kStorageCSIDriver{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, true, 42, "spec"},
}};
constexpr std::array<FieldTable, 5> kStorageCSIStorageCapacity{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, true, 43, "nodeTopology"},
    {3, text, single, false, true, 0, "storageClassName"},
    {4, quantity, single, false, true, 0, "capacity"},
    {5, quantity, single, false, true, 0, "maximumVolumeSize"},
}};
constexpr std::array<FieldTable, 3> kStorageVolumeAttachment{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, true, 44, "spec"},
    {3, message, single, false, false, 45, "status"},
}};
constexpr std::array<FieldTable, 3> kPolicyPodDisruptionBudget{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, false, 46, "spec"},
    {3, message, single, false, false, 47, "status"},
}};
constexpr std::array<FieldTable, 5> kSchedulingPriorityClass{{
    {1, message, single, false, false, 19, "metadata"},
    {2, integer, single, false, true, 0, "value"},
    {3, boolean, single, false, false, 0, "globalDefault"},
    {4, text, single, false, false, 0, "description"},
    {5, text, single, false, true, 0, "preemptionPolicy"},
}};
constexpr std::array<FieldTable, 2> kCoordinationLease{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, false, 48, "spec"},
}};
constexpr std::array<FieldTable, 6> kMetaStatus{{
    {1, message, single, false, false, 49, "metadata"},
    {2, text, single, false, false, 0, "status"},
    {3, text, single, false, false, 0, "message"},
    {4, text, single, false, false, 0, "reason"},
    {5, message, single, false, true, 50, "details"},
    {6, integer, single, false, false, 0, "code"},
}};
constexpr std::array<FieldTable, 13> kMetaObjectMeta{{
    {1, text, single, false, false, 0, "name"},
    {2, text, single, false, false, 0, "generateName"},
    {3, text, single, false, false, 0, "namespace"},
    {5, text, single, false, false, 0, "uid"},
    {6, text, single, false, false, 0, "resourceVersion"},
    {7, integer, single, false, false, 0, "generation"},
    {8, time, single, false, false, 0, "creationTimestamp"},
    {9, time, single, false, true, 0, "deletionTimestamp"},
    {10, integer, single, false, true, 0, "deletionGracePeriodSeconds"},
    {11, text, map, false, false, 0, "labels"},
    {12, text, map, false, false, 0, "annotations"},
    {13, message, list, false, false, 51, "ownerReferences"},
    {14, text, list, false, false, 0, "finalizers"},
}};
constexpr std::array<FieldTable, 36> kCorePodSpec{{
    {1, message, list, false, false, 52, "volumes"},
    {2, message, list, false, true, 53, "containers"},
    {3, text, single, false, false, 0, "restartPolicy"},
    {4, integer, single, false, true, 0, "terminationGracePeriodSeconds"},
    {5, integer, single, false, true, 0, "activeDeadlineSeconds"},
    {7, text, map, false, false, 0, "nodeSelector"},
    {8, text, single, false, false, 0, "serviceAccountName"},
    {9, text, single, false, false, 0, "serviceAccount"},
    {10, text, single, false, false, 0, "nodeName"},
    {11, boolean, single, false, false, 0, "hostNetwork"},
    {12, boolean, single, false, false, 0, "hostPID"},
    {13, boolean, single, false, false, 0, "hostIPC"},
    {16, text, single, false, false, 0, "hostname"},
    {17, text, single, false, false, 0, "subdomain"},
    {18, message, single, false, true, 54, "affinity"},
    {19, text, single, false, false, 0, "schedulerName"},
    {20, message, list, false, false, 53, "initContainers"},
    {21, boolean, single, false, true, 0, "automountServiceAccountToken"},
    {22, message, list, false, false, 55, "tolerations"},
    {24, text, single, false, false, 0, "priorityClassName"},
    {25, integer, single, false, true, 0, "priority"},
    {27, boolean, single, false, true, 0, "shareProcessNamespace"},
    {28, message, list, false, false, 56, "readinessGates"},
    {29, text, single, false, true, 0, "runtimeClassName"},
    {30, boolean, single, false, true, 0, "enableServiceLinks"},
    {31, text, single, false, true, 0, "preemptionPolicy"},
    {32, quantity, map, false, false, 0, "overhead"},
    {33, message, list, false, false, 57, "topologySpreadConstraints"},
    {35, boolean, single, false, true, 0, "setHostnameAsFQDN"},
    {36, message, single, false, true, 58, "os"},
    {37, boolean, single, false, true, 0, "hostUsers"},
    {38, message, list, false, false, 59, "schedulingGates"},
    {39, message, list, false, false, 60, "resourceClaims"},
    {40, message, single, false, true, 61, "resources"},
    {41, text, single, false, true, 0, "hostnameOverride"},
    {43, message, single, false, true, 62, "schedulingGroup"},
}};
constexpr std::array<FieldTable, 15> kCorePodStatus{{
    {1, text, single, false, false, 0, "phase"},
    {2, message, list, false, false, 63, "conditions"},
    {3, text, single, false, false, 0, "message"},
    {4, text, single, false, false, 0, "reason"},
    {7, time, single, false, true, 0, "startTime"},
    {8, message, list, false, false, 64, "containerStatuses"},
    {9, text, single, false, false, 0, "qosClass"},
    {11, text, single, false, false, 0, "nominatedNodeName"},
    {14, text, single, false, false, 0, "resize"},
    {15, message, list, false, false, 65, "resourceClaimStatuses"},
    {17, integer, single, false, false, 0, "observedGeneration"},
    {18, message, single, false, true, 66, "extendedResourceClaimStatus"},
    {19, quantity, map, false, false, 0, "allocatedResources"},
    {20, message, single, false, true, 61, "resources"},
    {21, message, list, false, false, 67, "nodeAllocatableResourceClaimStatuses"},
}};
constexpr std::array<FieldTable, 6> kCoreNodeSpec{{
    {1, text, single, false, false, 0, "podCIDR"},
    {2, text, single, false, false, 0, "externalID"},
    {3, text, single, false, false, 0, "providerID"},
    {4, boolean, single, false, false, 0, "unschedulable"},
    {5, message, list, false, false, 68, "taints"},
    {7, text, list, false, false, 0, "podCIDRs"},
}};
constexpr std::array<FieldTable, 9> kCoreNodeStatus{{
    {1, quantity, map, false, false, 0, "capacity"},
    {2, quantity, map, false, false, 0, "allocatable"},
    {3, text, single, false, false, 0, "phase"},
    {4, message, list, false, false, 69, "conditions"},
    {8, message, list, false, false, 70, "images"},
    {9, text, list, false, false, 0, "volumesInUse"},
    {10, message, list, false, false, 71, "volumesAttached"},
    {13, message, single, false, true, 72, "features"},
    {14, text, list, false, false, 0, "declaredFeatures"},
}};
constexpr std::array<FieldTable, 1> kCoreNamespaceSpec{{
    {1, text, list, false, false, 0, "finalizers"},
}};
constexpr std::array<FieldTable, 2> kCoreNamespaceStatus{{
    {1, text, single, false, false, 0, "phase"},
    {2, message, list, false, false, 73, "conditions"},
}};
constexpr std::array<FieldTable, 17> kCoreServiceSpec{{
    {2, text, map, false, false, 0, "selector"},
    {3, text, single, false, false, 0, "clusterIP"},
    {4, text, single, false, false, 0, "type"},
    {5, text, list, false, false, 0, "externalIPs"},
    {7, text, single, false, false, 0, "sessionAffinity"},
    {8, text, single, false, false, 0, "loadBalancerIP"},
    {10, text, single, false, false, 0, "externalName"},
    {11, text, single, false, false, 0, "externalTrafficPolicy"},
    {12, integer, single, false, false, 0, "healthCheckNodePort"},
    {13, boolean, single, false, false, 0, "publishNotReadyAddresses"},
    {17, text, single, false, true, 0, "ipFamilyPolicy"},
    {18, text, list, false, false, 0, "clusterIPs"},
    {19, text, list, false, false, 0, "ipFamilies"},
    {20, boolean, single, false, true, 0, "allocateLoadBalancerNodePorts"},
    {21, text, single, false, true, 0, "loadBalancerClass"},
    {22, text, single, false, true, 0, "internalTrafficPolicy"},
    {23, text, single, false, true, 0, "trafficDistribution"},
}};
constexpr std::array<FieldTable, 3> kCoreReplicationControllerSpec{{
    {1, integer, single, false, true, 0, "replicas"},
    {2, text, map, false, false, 0, "selector"},
    {4, integer, single, false, false, 0, "minReadySeconds"},
}};
constexpr std::array<FieldTable, 6> kCoreReplicationControllerStatus{{
    {1, integer, single, false, true, 0, "replicas"},
    {2, integer, single, false, false, 0, "fullyLabeledReplicas"},
    {3, integer, single, false, false, 0, "observedGeneration"},
    {4, integer, single, false, false, 0, "readyReplicas"},
    {5, integer, single, false, false, 0, "availableReplicas"},
    {6, message, list, false, false, 74, "conditions"},
}};
constexpr std::array<FieldTable, 10> kCorePersistentVolumeSpec{{
    {1, quantity, map, false, false, 0, "capacity"},
    {2, message, single, true, true, 75, ""},
    {3, text, list, false, false, 0, "accessModes"},
    {4, message, single, false, true, 33, "claimRef"},
    {5, text, single, false, false, 0, "persistentVolumeReclaimPolicy"},
    {6, text, single, false, false, 0, "storageClassName"},
    {7, text, list, false, false, 0, "mountOptions"},
    {8, text, single, false, true, 0, "volumeMode"},
    {9, message, single, false, true, 76, "nodeAffinity"},
    {10, text, single, false, true, 0, "volumeAttributesClassName"},
}};
constexpr std::array<FieldTable, 4> kCorePersistentVolumeStatus{{
    {1, text, single, false, false, 0, "phase"},
    {2, text, single, false, false, 0, "message"},
    {3, text, single, false, false, 0, "reason"},
    {4, time, single, false, true, 0, "lastPhaseTransitionTime"},
}};
constexpr std::array<FieldTable, 9> kCorePersistentVolumeClaimSpec{{
    {1, text, list, false, false, 0, "accessModes"},
    {2, message, single, false, false, 77, "resources"},
    {3, text, single, false, false, 0, "volumeName"},
    {4, message, single, false, true, 43, "selector"},
    {5, text, single, false, true, 0, "storageClassName"},
    {6, text, single, false, true, 0, "volumeMode"},
    {7, message, single, false, true, 78, "dataSource"},
    {8, message, single, false, true, 79, "dataSourceRef"},
    {9, text, single, false, true, 0, "volumeAttributesClassName"},
}};
constexpr std::array<FieldTable, 8> kCorePersistentVolumeClaimStatus{{
    {1, text, single, false, false, 0, "phase"},
    {2, text, list, false, false, 0, "accessModes"},
    {3, quantity, map, false, false, 0, "capacity"},
    {4, message, list, false, false, 80, "conditions"},
    {5, quantity, map, false, false, 0, "allocatedResources"},
    {7, text, map, false, false, 0, "allocatedResourceStatuses"},
    {8, text, single, false, true, 0, "currentVolumeAttributesClassName"},
    {9, message, single, false, true, 81, "modifyVolumeStatus"},
}};
constexpr std::array<FieldTable, 7> kCoreObjectReference{{
    {1, text, single, false, false, 0, "kind"},
    {2, text, single, false, false, 0, "namespace"},
    {3, text, single, false, false, 0, "name"},
    {4, text, single, false, false, 0, "uid"},
    {5, text, single, false, false, 0, "apiVersion"},
    {6, text, single, false, false, 0, "resourceVersion"},
    {7, text, single, false, false, 0, "fieldPath"},
}};
constexpr std::array<FieldTable, 2> kCoreEventSource{{
    {1, text, single, false, false, 0, "component"},
    {2, text, single, false, false, 0, "host"},
}};
constexpr std::array<FieldTable, 2> kCoreEventSeries{{
    {1, integer, single, false, false, 0, "count"},
    {2, micro_time, single, false, false, 0, "lastObservedTime"},
}};
constexpr std::array<FieldTable, 3> kAppsReplicaSetSpec{{
    {1, integer, single, false, true, 0, "replicas"},
    {2, message, single, false, true, 43, "selector"},
    {4, integer, single, false, false, 0, "minReadySeconds"},
}};
constexpr std::array<FieldTable, 7> kAppsReplicaSetStatus{{
    {1, integer, single, false, true, 0, "replicas"},
    {2, integer, single, false, false, 0, "fullyLabeledReplicas"},
    {3, integer, single, false, false, 0, "observedGeneration"},
    {4, integer, single, false, false, 0, "readyReplicas"},
    {5, integer, single, false, false, 0, "availableReplicas"},
    {6, message, list, false, false, 82, "conditions"},
    {7, integer, single, false, true, 0, "terminatingReplicas"},
}};
constexpr std::array<FieldTable, 9> kAppsStatefulSetSpec{{
    {1, integer, single, false, true, 0, "replicas"},
    {2, message, single, false, true, 43, "selector"},
    {5, text, single, false, true, 0, "serviceName"},
    {6, text, single, false, false, 0, "podManagementPolicy"},
    {7, message, single, false, false, 83, "updateStrategy"},
    {8, integer, single, false, true, 0, "revisionHistoryLimit"},
    {9, integer, single, false, false, 0, "minReadySeconds"},
    {10, message, single, false, true, 84, "persistentVolumeClaimRetentionPolicy"},
    {11, message, single, false, true, 85, "ordinals"},
}};
constexpr std::array<FieldTable, 10> kAppsStatefulSetStatus{{
    {1, integer, single, false, false, 0, "observedGeneration"},
    {2, integer, single, false, true, 0, "replicas"},
    {3, integer, single, false, false, 0, "readyReplicas"},
    {4, integer, single, false, false, 0, "currentReplicas"},
    {5, integer, single, false, false, 0, "updatedReplicas"},
    {6, text, single, false, false, 0, "currentRevision"},
    {7, text, single, false, false, 0, "updateRevision"},
    {9, integer, single, false, true, 0, "collisionCount"},
    {10, message, list, false, false, 86, "conditions"},
    {11, integer, single, false, true, 0, "availableReplicas"},
}};
constexpr std::array<FieldTable, 1> kCoreTopologySelectorTerm{{
    {1, message, list, false, false, 87, "matchLabelExpressions"},
}};
constexpr std::array<FieldTable, 1> kStorageCSINodeSpec{{
    {1, message, list, false, true, 88, "drivers"},
}};
constexpr std::array<FieldTable, 11> kStorageCSIDriverSpec{{
    {1, boolean, single, false, true, 0, "attachRequired"},
    {2, boolean, single, false, true, 0, "podInfoOnMount"},
    {3, text, list, false, false, 0, "volumeLifecycleModes"},
    {4, boolean, single, false, true, 0, "storageCapacity"},
    {5, text, single, false, true, 0, "fsGroupPolicy"},
    {6, message, list, false, false, 89, "tokenRequests"},
    {7, boolean, single, false, true, 0, "requiresRepublish"},
    {8, boolean, single, false, true, 0, "seLinuxMount"},
    {9, integer, single, false, true, 0, "nodeAllocatableUpdatePeriodSeconds"},
    {10, boolean, single, false, true, 0, "serviceAccountTokenInSecrets"},
    {11, boolean, single, false, true, 0, "preventPodSchedulingIfMissing"},
}};
constexpr std::array<FieldTable, 2> kMetaLabelSelector{{
    {1, text, map, false, false, 0, "matchLabels"},
    {2, message, list, false, false, 90, "matchExpressions"},
}};
constexpr std::array<FieldTable, 3> kStorageVolumeAttachmentSpec{{
    {1, text, single, false, true, 0, "attacher"},
    {2, message, single, false, true, 91, "source"},
    {3, text, single, false, true, 0, "nodeName"},
}};
constexpr std::array<FieldTable, 4> kStorageVolumeAttachmentStatus{{
    {1, boolean, single, false, true, 0, "attached"},
    {2, text, map, false, false, 0, "attachmentMetadata"},
    {3, message, single, false, true, 92, "attachError"},
    {4, message, single, false, true, 92, "detachError"},
}};
constexpr std::array<FieldTable, 4> kPolicyPodDisruptionBudgetSpec{{
    {1, int_or_string, single, false, true, 0, "minAvailable"},
    {2, message, single, false, true, 43, "selector"},
    {3, int_or_string, single, false, true, 0, "maxUnavailable"},
    {4, text, single, false, true, 0, "unhealthyPodEvictionPolicy"},
}};
constexpr std::array<FieldTable, 7> kPolicyPodDisruptionBudgetStatus{{
    {1, integer, single, false, false, 0, "observedGeneration"},
    {2, time, map, false, false, 0, "disruptedPods"},
    {3, integer, single, false, true, 0, "disruptionsAllowed"},
    {4, integer, single, false, true, 0, "currentHealthy"},
    {5, integer, single, false, true, 0, "desiredHealthy"},
    {6, integer, single, false, true, 0, "expectedPods"},
    {7, message, list, false, false, 93, "conditions"},
}};
constexpr std::array<FieldTable, 7> kCoordinationLeaseSpec{{
    {1, text, single, false, true, 0, "holderIdentity"},
    {2, integer, single, false, true, 0, "leaseDurationSeconds"},
    {3, micro_time, single, false, true, 0, "acquireTime"},
    {4, micro_time, single, false, true, 0, "renewTime"},
    {5, integer, single, false, true, 0, "leaseTransitions"},
    {6, text, single, false, true, 0, "strategy"},
    {7, text, single, false, true, 0, "preferredHolder"},
}};
constexpr std::array<FieldTable, 5> kMetaListMeta{{
    {1, text, single, false, false, 0, "selfLink"},
    {2, text, single, false, false, 0, "resourceVersion"},
    {3, text, single, false, false, 0, "continue"},
    {4, integer, single, false, true, 0, "remainingItemCount"},
    {5, message, single, false, true, 94, "shardInfo"},
}};
constexpr std::array<FieldTable, 6> kMetaStatusDetails{{
    {1, text, single, false, false, 0, "name"},
    {2, text, single, false, false, 0, "group"},
    {3, text, single, false, false, 0, "kind"},
    {4, message, list, false, false, 95, "causes"},
    {5, integer, single, false, false, 0, "retryAfterSeconds"},
    {6, text, single, false, false, 0, "uid"},
}};
constexpr std::array<FieldTable, 6> kMetaOwnerReference{{
    {1, text, single, false, true, 0, "kind"},
    {3, text, single, false, true, 0, "name"},
    {4, text, single, false, true, 0, "uid"},
    {5, text, single, false, true, 0, "apiVersion"},
    {6, boolean, single, false, true, 0, "controller"},
    {7, boolean, single, false, true, 0, "blockOwnerDeletion"},
}};
constexpr std::array<FieldTable, 2> kCoreVolume{{
    {1, text, single, false, true, 0, "name"},
    {2, message, single, true, true, 96, ""},
}};
constexpr std::array<FieldTable, 6> kCoreContainer{{
    {1, text, single, false, true, 0, "name"},
    {2, text, single, false, false, 0, "image"},
    {6, message, list, false, false, 97, "ports"},
    {8, message, single, false, false, 61, "resources"},
    {14, text, single, false, false, 0, "imagePullPolicy"},
    {24, text, single, false, true, 0, "restartPolicy"},
}};
constexpr std::array<FieldTable, 3> kCoreAffinity{{
    {1, message, single, false, true, 98, "nodeAffinity"},
    {2, message, single, false, true, 99, "podAffinity"},
    {3, message, single, false, true, 100, "podAntiAffinity"},
}};
constexpr std::array<FieldTable, 5> kCoreToleration{{
    {1, text, single, false, false, 0, "key"},
    {2, text, single, false, false, 0, "operator"},
    {3, text, single, false, false, 0, "value"},
    {4, text, single, false, false, 0, "effect"},
    {5, integer, single, false, true, 0, "tolerationSeconds"},
}};
constexpr std::array<FieldTable, 1> kCorePodReadinessGate{{
    {1, text, single, false, true, 0, "conditionType"},
}};
constexpr std::array<FieldTable, 8> kCoreTopologySpreadConstraint{{
    {1, integer, single, false, true, 0, "maxSkew"},
    {2, text, single, false, true, 0, "topologyKey"},
    {3, text, single, false, true, 0, "whenUnsatisfiable"},
    {4, message, single, false, true, 43, "labelSelector"},
    {5, integer, single, false, true, 0, "minDomains"},
    {6, text, single, false, true, 0, "nodeAffinityPolicy"},
    {7, text, single, false, true, 0, "nodeTaintsPolicy"},
    {8, text, list, false, false, 0, "matchLabelKeys"},
}};
constexpr std::array<FieldTable, 1> kCorePodOS{{
    {1, text, single, false, true, 0, "name"},
}};
constexpr std::array<FieldTable, 1> kCorePodSchedulingGate{{
    {1, text, single, false, true, 0, "name"},
}};
constexpr std::array<FieldTable, 3> kCorePodResourceClaim{{
    {1, text, single, false, true, 0, "name"},
    {3, text, single, false, true, 0, "resourceClaimName"},
    {4, text, single, false, true, 0, "resourceClaimTemplateName"},
}};
constexpr std::array<FieldTable, 3> kCoreResourceRequirements{{
    {1, quantity, map, false, false, 0, "limits"},
    {2, quantity, map, false, false, 0, "requests"},
    {3, message, list, false, false, 101, "claims"},
}};
constexpr std::array<FieldTable, 1> kCorePodSchedulingGroup{{
    {1, text, single, false, true, 0, "podGroupName"},
}};
constexpr std::array<FieldTable, 7> kCorePodCondition{{
    {1, text, single, false, true, 0, "type"},
    {2, text, single, false, true, 0, "status"},
    {3, time, single, false, false, 0, "lastProbeTime"},
    {4, time, single, false, false, 0, "lastTransitionTime"},
    {5, text, single, false, false, 0, "reason"},
    {6, text, single, false, false, 0, "message"},
    {7, integer, single, false, false, 0, "observedGeneration"},
}};
constexpr std::array<FieldTable, 10> kCoreContainerStatus{{
    {1, text, single, false, true, 0, "name"},
    {4, boolean, single, false, true, 0, "ready"},
    {5, integer, single, false, true, 0, "restartCount"},
    {6, text, single, false, true, 0, "image"},
    {7, text, single, false, true, 0, "imageID"},
    {8, text, single, false, false, 0, "containerID"},
    {9, boolean, single, false, true, 0, "started"},
    {10, quantity, map, false, false, 0, "allocatedResources"},
    {11, message, single, false, true, 61, "resources"},
    {15, text, single, false, true, 0, "stopSignal"},
}};
constexpr std::array<FieldTable, 2> kCorePodResourceClaimStatus{{
    {1, text, single, false, true, 0, "name"},
    {2, text, single, false, true, 0, "resourceClaimName"},
}};
constexpr std::array<FieldTable, 2> kCorePodExtendedResourceClaimStatus{{
    {1, message, list, false, true, 102, "requestMappings"},
    {2, text, single, false, true, 0, "resourceClaimName"},
}};
constexpr std::array<FieldTable, 3> kCoreNodeAllocatableResourceClaimStatus{{
    {1, text, single, false, true, 0, "resourceClaimName"},
    {2, text, list, false, false, 0, "containers"},
    {3, quantity, map, false, true, 0, "resources"},
}};
constexpr std::array<FieldTable, 4> kCoreTaint{{
    {1, text, single, false, true, 0, "key"},
    {2, text, single, false, false, 0, "value"},
    {3, text, single, false, true, 0, "effect"},
    {4, time, single, false, true, 0, "timeAdded"},
}};
constexpr std::array<FieldTable, 6> kCoreNodeCondition{{
    {1, text, single, false, true, 0, "type"},
    {2, text, single, false, true, 0, "status"},
    {3, time, single, false, false, 0, "lastHeartbeatTime"},
    {4, time, single, false, false, 0, "lastTransitionTime"},
    {5, text, single, false, false, 0, "reason"},
    {6, text, single, false, false, 0, "message"},
}};
constexpr std::array<FieldTable, 2> kCoreContainerImage{{
    {1, text, list, false, true, 0, "names"},
    {2, integer, single, false, false, 0, "sizeBytes"},
}};
constexpr std::array<FieldTable, 2> kCoreAttachedVolume{{
    {1, text, single, false, true, 0, "name"},
    {2, text, single, false, true, 0, "devicePath"},
}};
constexpr std::array<FieldTable, 1> kCoreNodeFeatures{{
    {1, boolean, single, false, true, 0, "supplementalGroupsPolicy"},
}};
constexpr std::array<FieldTable, 5> kCoreNamespaceCondition{{
    {1, text, single, false, true, 0, "type"},
    {2, text, single, false, true, 0, "status"},
    {4, time, single, false, false, 0, "lastTransitionTime"},
    {5, text, single, false, false, 0, "reason"},
    {6, text, single, false, false, 0, "message"},
}};
constexpr std::array<FieldTable, 5> kCoreReplicationControllerCondition{{
    {1, text, single, false, true, 0, "type"},
    {2, text, single, false, true, 0, "status"},
    {3, time, single, false, false, 0, "lastTransitionTime"},
    {4, text, single, false, false, 0, "reason"},
    {5, text, single, false, false, 0, "message"},
}};
constexpr std::array<FieldTable, 21> kCorePersistentVolumeSource{{
    {1, message, single, false, true, 103, "gcePersistentDisk"},
    {2, message, single, false, true, 104, "awsElasticBlockStore"},
    {3, message, single, false, true, 105, "hostPath"},
    {4, message, single, false, true, 106, "glusterfs"},
    {5, message, single, false, true, 107, "nfs"},
    {6, message, single, false, true, 108, "rbd"},
    {7, message, single, false, true, 109, "iscsi"},
    {8, message, single, false, true, 110, "cinder"},
    {9, message, single, false, true, 111, "cephfs"},
    {10, message, single, false, true, 112, "fc"},
    {11, message, single, false, true, 113, "flocker"},
    {13, message, single, false, true, 114, "azureFile"},
    {14, message, single, false, true, 115, "vsphereVolume"},
    {15, message, single, false, true, 116, "quobyte"},
    {16, message, single, false, true, 117, "azureDisk"},
    {17, message, single, false, true, 118, "photonPersistentDisk"},
    {18, message, single, false, true, 119, "portworxVolume"},
    {19, message, single, false, true, 120, "scaleIO"},
    {20, message, single, false, true, 121, "local"},
    {21, message, single, false, true, 122, "storageos"},
    {22, message, single, false, true, 123, "csi"},
}};
constexpr std::array<FieldTable, 1> kCoreVolumeNodeAffinity{{
    {1, message, single, false, true, 124, "required"},
}};
constexpr std::array<FieldTable, 2> kCoreVolumeResourceRequirements{{
    {1, quantity, map, false, false, 0, "limits"},
    {2, quantity, map, false, false, 0, "requests"},
}};
constexpr std::array<FieldTable, 3> kCoreTypedLocalObjectReference{{
    {1, text, single, false, true, 0, "apiGroup"},
    {2, text, single, false, true, 0, "kind"},
    {3, text, single, false, true, 0, "name"},
}};
constexpr std::array<FieldTable, 4> kCoreTypedObjectReference{{
    {1, text, single, false, true, 0, "apiGroup"},
    {2, text, single, false, true, 0, "kind"},
    {3, text, single, false, true, 0, "name"},
    {4, text, single, false, true, 0, "namespace"},
}};
constexpr std::array<FieldTable, 6> kCorePersistentVolumeClaimCondition{{
    {1, text, single, false, true, 0, "type"},
    {2, text, single, false, true, 0, "status"},
    {3, time, single, false, false, 0, "lastProbeTime"},
    {4, time, single, false, false, 0, "lastTransitionTime"},
    {5, text, single, false, false, 0, "reason"},
    {6, text, single, false, false, 0, "message"},
}};
constexpr std::array<FieldTable, 2> kCoreModifyVolumeStatus{{
    {1, text, single, false, false, 0, "targetVolumeAttributesClassName"},
    {2, text, single, false, true, 0, "status"},
}};
constexpr std::array<FieldTable, 5> kAppsReplicaSetCondition{{
    {1, text, single, false, true, 0, "type"},
    {2, text, single, false, true, 0, "status"},
    {3, time, single, false, false, 0, "lastTransitionTime"},
    {4, text, single, false, false, 0, "reason"},
    {5, text, single, false, false, 0, "message"},
}};
constexpr std::array<FieldTable, 2> kAppsStatefulSetUpdateStrategy{{
    {1, text, single, false, false, 0, "type"},
    {2, message, single, false, true, 125, "rollingUpdate"},
}};
constexpr std::array<FieldTable, 2> kAppsStatefulSetPersistentVolumeClaimRetentionPolicy{{
    {1, text, single, false, false, 0, "whenDeleted"},
    {2, text, single, false, false, 0, "whenScaled"},
}};
constexpr std::array<FieldTable, 1> kAppsStatefulSetOrdinals{{
    {1, integer, single, false, true, 0, "start"},
}};
constexpr std::array<FieldTable, 5> kAppsStatefulSetCondition{{
    {1, text, single, false, true, 0, "type"},
    {2, text, single, false, true, 0, "status"},
    {3, time, single, false, false, 0, "lastTransitionTime"},
    {4, text, single, false, false, 0, "reason"},
    {5, text, single, false, false, 0, "message"},
}};
constexpr std::array<FieldTable, 2> kCoreTopologySelectorLabelRequirement{{
    {1, text, single, false, true, 0, "key"},
    {2, text, list, false, true, 0, "values"},
}};
constexpr std::array<FieldTable, 4> kStorageCSINodeDriver{{
    {1, text, single, false, true, 0, "name"},
    {2, text, single, false, true, 0, "nodeID"},
    {3, text, list, false, true, 0, "topologyKeys"},
    {4, message, single, false, true, 126, "allocatable"},
}};
constexpr std::array<FieldTable, 2> kStorageTokenRequest{{
    {1, text, single, false, true, 0, "audience"},
    {2, integer, single, false, true, 0, "expirationSeconds"},
}};
constexpr std::array<FieldTable, 3> kMetaLabelSelectorRequirement{{
    {1, text, single, false, true, 0, "key"},
    {2, text, single, false, true, 0, "operator"},
    {3, text, list, false, false, 0, "values"},
}};
constexpr std::array<FieldTable, 2> kStorageVolumeAttachmentSource{{
    {1, text, single, false, true, 0, "persistentVolumeName"},
    {2, message, single, false, true, 29, "inlineVolumeSpec"},
}};
constexpr std::array<FieldTable, 3> kStorageVolumeError{{
    {1, time, single, false, false, 0, "time"},
    {2, text, single, false, false, 0, "message"},
    {3, integer, single, false, true, 0, "errorCode"},
}};
constexpr std::array<FieldTable, 6> kMetaCondition{{
    {1, text, single, false, true, 0, "type"},
    {2, text, single, false, true, 0, "status"},
    {3, integer, single, false, false, 0, "observedGeneration"},
    {4, time, single, false, true, 0, "lastTransitionTime"},
    {5, text, single, false, true, 0, "reason"},
    {6, text, single, false, true, 0, "message"},
}};
constexpr std::array<FieldTable, 1> kMetaShardInfo{{
    {1, text, single, false, true, 0, "selector"},
}};
constexpr std::array<FieldTable, 3> kMetaStatusCause{{
    {1, text, single, false, false, 0, "reason"},
    {2, text, single, false, false, 0, "message"},
    {3, text, single, false, false, 0, "field"},
}};
constexpr std::array<FieldTable, 24> kCoreVolumeSource{{
    {1, message, single, false, true, 105, "hostPath"},
    {2, message, single, false, true, 127, "emptyDir"},
    {3, message, single, false, true, 103, "gcePersistentDisk"},
    {4, message, single, false, true, 104, "awsElasticBlockStore"},
    {7, message, single, false, true, 107, "nfs"},
    {8, message, single, false, true, 128, "iscsi"},
    {9, message, single, false, true, 129, "glusterfs"},
    {10, message, single, false, true, 130, "persistentVolumeClaim"},
    {11, message, single, false, true, 131, "rbd"},
    {13, message, single, false, true, 132, "cinder"},
    {14, message, single, false, true, 133, "cephfs"},
    {15, message, single, false, true, 113, "flocker"},
    {17, message, single, false, true, 112, "fc"},
    {18, message, single, false, true, 134, "azureFile"},
    {20, message, single, false, true, 115, "vsphereVolume"},
    {21, message, single, false, true, 116, "quobyte"},
    {22, message, single, false, true, 117, "azureDisk"},
    {23, message, single, false, true, 118, "photonPersistentDisk"},
    {24, message, single, false, true, 119, "portworxVolume"},
    {25, message, single, false, true, 135, "scaleIO"},
    {27, message, single, false, true, 136, "storageos"},
    {28, message, single, false, true, 137, "csi"},
    {29, message, single, false, true, 138, "ephemeral"},
    {30, message, single, false, true, 139, "image"},
}};
constexpr std::array<FieldTable, 5> kCoreContainerPort{{
    {1, text, single, false, false, 0, "name"},
    {2, integer, single, false, false, 0, "hostPort"},
    {3, integer, single, false, true, 0, "containerPort"},
    {4, text, single, false, false, 0, "protocol"},
    {5, text, single, false, false, 0, "hostIP"},
}};
constexpr std::array<FieldTable, 2> kCoreNodeAffinity{{
    {1, message, single, false, true, 124, "requiredDuringSchedulingIgnoredDuringExecution"},
    {2, message, list, false, false, 140, "preferredDuringSchedulingIgnoredDuringExecution"},
}};
constexpr std::array<FieldTable, 2> kCorePodAffinity{{
    {1, message, list, false, false, 141, "requiredDuringSchedulingIgnoredDuringExecution"},
    {2, message, list, false, false, 142, "preferredDuringSchedulingIgnoredDuringExecution"},
}};
constexpr std::array<FieldTable, 2> kCorePodAntiAffinity{{
    {1, message, list, false, false, 141, "requiredDuringSchedulingIgnoredDuringExecution"},
    {2, message, list, false, false, 142, "preferredDuringSchedulingIgnoredDuringExecution"},
}};
constexpr std::array<FieldTable, 2> kCoreResourceClaim{{
    {1, text, single, false, true, 0, "name"},
    {2, text, single, false, false, 0, "request"},
}};
constexpr std::array<FieldTable, 3> kCoreContainerExtendedResourceRequest{{
    {1, text, single, false, true, 0, "containerName"},
    {2, text, single, false, true, 0, "resourceName"},
    {3, text, single, false, true, 0, "requestName"},
}};
constexpr std::array<FieldTable, 4> kCoreGCEPersistentDiskVolumeSource{{
    {1, text, single, false, true, 0, "pdName"},
    {2, text, single, false, false, 0, "fsType"},
    {3, integer, single, false, false, 0, "partition"},
    {4, boolean, single, false, false, 0, "readOnly"},
}};
constexpr std::array<FieldTable, 4> kCoreAWSElasticBlockStoreVolumeSource{{
    {1, text, single, false, true, 0, "volumeID"},
    {2, text, single, false, false, 0, "fsType"},
    {3, integer, single, false, false, 0, "partition"},
    {4, boolean, single, false, false, 0, "readOnly"},
}};
constexpr std::array<FieldTable, 2> kCoreHostPathVolumeSource{{
    {1, text, single, false, true, 0, "path"},
    {2, text, single, false, true, 0, "type"},
}};
constexpr std::array<FieldTable, 4> kCoreGlusterfsPersistentVolumeSource{{
    {1, text, single, false, true, 0, "endpoints"},
    {2, text, single, false, true, 0, "path"},
    {3, boolean, single, false, false, 0, "readOnly"},
    {4, text, single, false, true, 0, "endpointsNamespace"},
}};
constexpr std::array<FieldTable, 3> kCoreNFSVolumeSource{{
    {1, text, single, false, true, 0, "server"},
    {2, text, single, false, true, 0, "path"},
    {3, boolean, single, false, false, 0, "readOnly"},
}};
constexpr std::array<FieldTable, 8> kCoreRBDPersistentVolumeSource{{
    {1, text, list, false, true, 0, "monitors"},
    {2, text, single, false, true, 0, "image"},
    {3, text, single, false, false, 0, "fsType"},
    {4, text, single, false, false, 0, "pool"},
    {5, text, single, false, false, 0, "user"},
    {6, text, single, false, false, 0, "keyring"},
    {7, message, single, false, true, 143, "secretRef"},
    {8, boolean, single, false, false, 0, "readOnly"},
}};
constexpr std::array<FieldTable, 11> kCoreISCSIPersistentVolumeSource{{
    {1, text, single, false, true, 0, "targetPortal"},
    {2, text, single, false, true, 0, "iqn"},
    {3, integer, single, false, true, 0, "lun"},
    {4, text, single, false, false, 0, "iscsiInterface"},
    {5, text, single, false, false, 0, "fsType"},
    {6, boolean, single, false, false, 0, "readOnly"},
    {7, text, list, false, false, 0, "portals"},
    {8, boolean, single, false, false, 0, "chapAuthDiscovery"},
    {10, message, single, false, true, 143, "secretRef"},
    {11, boolean, single, false, false, 0, "chapAuthSession"},
    {12, text, single, false, true, 0, "initiatorName"},
}};
constexpr std::array<FieldTable, 4> kCoreCinderPersistentVolumeSource{{
    {1, text, single, false, true, 0, "volumeID"},
    {2, text, single, false, false, 0, "fsType"},
    {3, boolean, single, false, false, 0, "readOnly"},
    {4, message, single, false, true, 143, "secretRef"},
}};
constexpr std::array<FieldTable, 6> kCoreCephFSPersistentVolumeSource{{
    {1, text, list, false, true, 0, "monitors"},
    {2, text, single, false, false, 0, "path"},
    {3, text, single, false, false, 0, "user"},
    {4, text, single, false, false, 0, "secretFile"},
    {5, message, single, false, true, 143, "secretRef"},
    {6, boolean, single, false, false, 0, "readOnly"},
}};
constexpr std::array<FieldTable, 5> kCoreFCVolumeSource{{
    {1, text, list, false, false, 0, "targetWWNs"},
    {2, integer, single, false, true, 0, "lun"},
    {3, text, single, false, false, 0, "fsType"},
    {4, boolean, single, false, false, 0, "readOnly"},
    {5, text, list, false, false, 0, "wwids"},
}};
constexpr std::array<FieldTable, 2> kCoreFlockerVolumeSource{{
    {1, text, single, false, false, 0, "datasetName"},
    {2, text, single, false, false, 0, "datasetUUID"},
}};
constexpr std::array<FieldTable, 4> kCoreAzureFilePersistentVolumeSource{{
    {1, text, single, false, true, 0, "secretName"},
    {2, text, single, false, true, 0, "shareName"},
    {3, boolean, single, false, false, 0, "readOnly"},
    {4, text, single, false, true, 0, "secretNamespace"},
}};
constexpr std::array<FieldTable, 4> kCoreVsphereVirtualDiskVolumeSource{{
    {1, text, single, false, true, 0, "volumePath"},
    {2, text, single, false, false, 0, "fsType"},
    {3, text, single, false, false, 0, "storagePolicyName"},
    {4, text, single, false, false, 0, "storagePolicyID"},
}};
constexpr std::array<FieldTable, 6> kCoreQuobyteVolumeSource{{
    {1, text, single, false, true, 0, "registry"},
    {2, text, single, false, true, 0, "volume"},
    {3, boolean, single, false, false, 0, "readOnly"},
    {4, text, single, false, false, 0, "user"},
    {5, text, single, false, false, 0, "group"},
    {6, text, single, false, false, 0, "tenant"},
}};
constexpr std::array<FieldTable, 6> kCoreAzureDiskVolumeSource{{
    {1, text, single, false, true, 0, "diskName"},
    {2, text, single, false, true, 0, "diskURI"},
    {3, text, single, false, true, 0, "cachingMode"},
    {4, text, single, false, true, 0, "fsType"},
    {5, boolean, single, false, true, 0, "readOnly"},
    {6, text, single, false, true, 0, "kind"},
}};
constexpr std::array<FieldTable, 2> kCorePhotonPersistentDiskVolumeSource{{
    {1, text, single, false, true, 0, "pdID"},
    {2, text, single, false, false, 0, "fsType"},
}};
constexpr std::array<FieldTable, 3> kCorePortworxVolumeSource{{
    {1, text, single, false, true, 0, "volumeID"},
    {2, text, single, false, false, 0, "fsType"},
    {3, boolean, single, false, false, 0, "readOnly"},
}};
constexpr std::array<FieldTable, 10> kCoreScaleIOPersistentVolumeSource{{
    {1, text, single, false, true, 0, "gateway"},
    {2, text, single, false, true, 0, "system"},
    {3, message, single, false, true, 143, "secretRef"},
    {4, boolean, single, false, false, 0, "sslEnabled"},
    {5, text, single, false, false, 0, "protectionDomain"},
    {6, text, single, false, false, 0, "storagePool"},
    {7, text, single, false, false, 0, "storageMode"},
    {8, text, single, false, false, 0, "volumeName"},
    {9, text, single, false, false, 0, "fsType"},
    {10, boolean, single, false, false, 0, "readOnly"},
}};
constexpr std::array<FieldTable, 2> kCoreLocalVolumeSource{{
    {1, text, single, false, true, 0, "path"},
    {2, text, single, false, true, 0, "fsType"},
}};
constexpr std::array<FieldTable, 5> kCoreStorageOSPersistentVolumeSource{{
    {1, text, single, false, false, 0, "volumeName"},
    {2, text, single, false, false, 0, "volumeNamespace"},
    {3, text, single, false, false, 0, "fsType"},
    {4, boolean, single, false, false, 0, "readOnly"},
    {5, message, single, false, true, 33, "secretRef"},
}};
constexpr std::array<FieldTable, 10> kCoreCSIPersistentVolumeSource{{
    {1, text, single, false, true, 0, "driver"},
    {2, text, single, false, true, 0, "volumeHandle"},
    {3, boolean, single, false, false, 0, "readOnly"},
    {4, text, single, false, false, 0, "fsType"},
    {5, text, map, false, false, 0, "volumeAttributes"},
    {6, message, single, false, true, 143, "controllerPublishSecretRef"},
    {7, message, single, false, true, 143, "nodeStageSecretRef"},
    {8, message, single, false, true, 143, "nodePublishSecretRef"},
    {9, message, single, false, true, 143, "controllerExpandSecretRef"},
    {10, message, single, false, true, 143, "nodeExpandSecretRef"},
}};
constexpr std::array<FieldTable, 1> kCoreNodeSelector{{
    {1, message, list, false, true, 144, "nodeSelectorTerms"},
}};
constexpr std::array<FieldTable, 2> kAppsRollingUpdateStatefulSetStrategy{{
    {1, integer, single, false, true, 0, "partition"},
    {2, int_or_string, single, false, true, 0, "maxUnavailable"},
}};
constexpr std::array<FieldTable, 1> kStorageVolumeNodeResources{{
    {1, integer, single, false, true, 0, "count"},
}};
constexpr std::array<FieldTable, 2> kCoreEmptyDirVolumeSource{{
    {1, text, single, false, false, 0, "medium"},
    {2, quantity, single, false, true, 0, "sizeLimit"},
}};
constexpr std::array<FieldTable, 11> kCoreISCSIVolumeSource{{
    {1, text, single, false, true, 0, "targetPortal"},
    {2, text, single, false, true, 0, "iqn"},
    {3, integer, single, false, true, 0, "lun"},
    {4, text, single, false, false, 0, "iscsiInterface"},
    {5, text, single, false, false, 0, "fsType"},
    {6, boolean, single, false, false, 0, "readOnly"},
    {7, text, list, false, false, 0, "portals"},
    {8, boolean, single, false, false, 0, "chapAuthDiscovery"},
    {10, message, single, false, true, 145, "secretRef"},
    {11, boolean, single, false, false, 0, "chapAuthSession"},
    {12, text, single, false, true, 0, "initiatorName"},
}};
constexpr std::array<FieldTable, 3> kCoreGlusterfsVolumeSource{{
    {1, text, single, false, true, 0, "endpoints"},
    {2, text, single, false, true, 0, "path"},
    {3, boolean, single, false, false, 0, "readOnly"},
}};
constexpr std::array<FieldTable, 2> kCorePersistentVolumeClaimVolumeSource{{
    {1, text, single, false, true, 0, "claimName"},
    {2, boolean, single, false, false, 0, "readOnly"},
}};
constexpr std::array<FieldTable, 8> kCoreRBDVolumeSource{{
    {1, text, list, false, true, 0, "monitors"},
    {2, text, single, false, true, 0, "image"},
    {3, text, single, false, false, 0, "fsType"},
    {4, text, single, false, false, 0, "pool"},
    {5, text, single, false, false, 0, "user"},
    {6, text, single, false, false, 0, "keyring"},
    {7, message, single, false, true, 145, "secretRef"},
    {8, boolean, single, false, false, 0, "readOnly"},
}};
constexpr std::array<FieldTable, 4> kCoreCinderVolumeSource{{
    {1, text, single, false, true, 0, "volumeID"},
    {2, text, single, false, false, 0, "fsType"},
    {3, boolean, single, false, false, 0, "readOnly"},
    {4, message, single, false, true, 145, "secretRef"},
}};
constexpr std::array<FieldTable, 6> kCoreCephFSVolumeSource{{
    {1, text, list, false, true, 0, "monitors"},
    {2, text, single, false, false, 0, "path"},
    {3, text, single, false, false, 0, "user"},
    {4, text, single, false, false, 0, "secretFile"},
    {5, message, single, false, true, 145, "secretRef"},
    {6, boolean, single, false, false, 0, "readOnly"},
}};
constexpr std::array<FieldTable, 3> kCoreAzureFileVolumeSource{{
    {1, text, single, false, true, 0, "secretName"},
    {2, text, single, false, true, 0, "shareName"},
    {3, boolean, single, false, false, 0, "readOnly"},
}};
constexpr std::array<FieldTable, 10> kCoreScaleIOVolumeSource{{
    {1, text, single, false, true, 0, "gateway"},
    {2, text, single, false, true, 0, "system"},
    {3, message, single, false, true, 145, "secretRef"},
    {4, boolean, single, false, false, 0, "sslEnabled"},
    {5, text, single, false, false, 0, "protectionDomain"},
    {6, text, single, false, false, 0, "storagePool"},
    {7, text, single, false, false, 0, "storageMode"},
    {8, text, single, false, false, 0, "volumeName"},
    {9, text, single, false, false, 0, "fsType"},
    {10, boolean, single, false, false, 0, "readOnly"},
}};
constexpr std::array<FieldTable, 5> kCoreStorageOSVolumeSource{{
    {1, text, single, false, false, 0, "volumeName"},
    {2, text, single, false, false, 0, "volumeNamespace"},
    {3, text, single, false, false, 0, "fsType"},
    {4, boolean, single, false, false, 0, "readOnly"},
    {5, message, single, false, true, 145, "secretRef"},
}};
constexpr std::array<FieldTable, 5> kCoreCSIVolumeSource{{
    {1, text, single, false, true, 0, "driver"},
    {2, boolean, single, false, true, 0, "readOnly"},
    {3, text, single, false, true, 0, "fsType"},
    {4, text, map, false, false, 0, "volumeAttributes"},
    {5, message, single, false, true, 145, "nodePublishSecretRef"},
}};
constexpr std::array<FieldTable, 1> kCoreEphemeralVolumeSource{{
    {1, message, single, false, true, 146, "volumeClaimTemplate"},
}};
constexpr std::array<FieldTable, 2> kCoreImageVolumeSource{{
    {1, text, single, false, false, 0, "reference"},
    {2, text, single, false, false, 0, "pullPolicy"},
}};
constexpr std::array<FieldTable, 2> kCorePreferredSchedulingTerm{{
    {1, integer, single, false, true, 0, "weight"},
    {2, message, single, false, true, 144, "preference"},
}};
constexpr std::array<FieldTable, 6> kCorePodAffinityTerm{{
    {1, message, single, false, true, 43, "labelSelector"},
    {2, text, list, false, false, 0, "namespaces"},
    {3, text, single, false, true, 0, "topologyKey"},
    {4, message, single, false, true, 43, "namespaceSelector"},
    {5, text, list, false, false, 0, "matchLabelKeys"},
    {6, text, list, false, false, 0, "mismatchLabelKeys"},
}};
constexpr std::array<FieldTable, 2> kCoreWeightedPodAffinityTerm{{
    {1, integer, single, false, true, 0, "weight"},
    {2, message, single, false, true, 141, "podAffinityTerm"},
}};
constexpr std::array<FieldTable, 2> kCoreSecretReference{{
    {1, text, single, false, false, 0, "name"},
    {2, text, single, false, false, 0, "namespace"},
}};
constexpr std::array<FieldTable, 2> kCoreNodeSelectorTerm{{
    {1, message, list, false, false, 147, "matchExpressions"},
    {2, message, list, false, false, 147, "matchFields"},
}};
constexpr std::array<FieldTable, 1> kCoreLocalObjectReference{{
    {1, text, single, false, false, 0, "name"},
}};
constexpr std::array<FieldTable, 2> kCorePersistentVolumeClaimTemplate{{
    {1, message, single, false, false, 19, "metadata"},
    {2, message, single, false, true, 31, "spec"},
}};
constexpr std::array<FieldTable, 3> kCoreNodeSelectorRequirement{{
    {1, text, single, false, true, 0, "key"},
    {2, text, single, false, true, 0, "operator"},
    {3, text, list, false, false, 0, "values"},
}};

constexpr std::array<MessageTable, 148> kMessages{{
    {"Pod", kCorePod},
    {"Node", kCoreNode},
    {"Namespace", kCoreNamespace},
    {"Service", kCoreService},
    {"ReplicationController", kCoreReplicationController},
    {"PersistentVolume", kCorePersistentVolume},
    {"PersistentVolumeClaim", kCorePersistentVolumeClaim},
    {"Event", kCoreEvent},
    {"ReplicaSet", kAppsReplicaSet},
    {"StatefulSet", kAppsStatefulSet},
    {"StorageClass", kStorageStorageClass},
    {"CSINode", kStorageCSINode},
    {"CSIDriver", kStorageCSIDriver},
    {"CSIStorageCapacity", kStorageCSIStorageCapacity},
    {"VolumeAttachment", kStorageVolumeAttachment},
    {"PodDisruptionBudget", kPolicyPodDisruptionBudget},
    {"PriorityClass", kSchedulingPriorityClass},
    {"Lease", kCoordinationLease},
    {"Status", kMetaStatus},
    {"ObjectMeta", kMetaObjectMeta},
    {"PodSpec", kCorePodSpec},
    {"PodStatus", kCorePodStatus},
    {"NodeSpec", kCoreNodeSpec},
    {"NodeStatus", kCoreNodeStatus},
    {"NamespaceSpec", kCoreNamespaceSpec},
    {"NamespaceStatus", kCoreNamespaceStatus},
    {"ServiceSpec", kCoreServiceSpec},
    {"ReplicationControllerSpec", kCoreReplicationControllerSpec},
    {"ReplicationControllerStatus", kCoreReplicationControllerStatus},
    {"PersistentVolumeSpec", kCorePersistentVolumeSpec},
    {"PersistentVolumeStatus", kCorePersistentVolumeStatus},
    {"PersistentVolumeClaimSpec", kCorePersistentVolumeClaimSpec},
    {"PersistentVolumeClaimStatus", kCorePersistentVolumeClaimStatus},
    {"ObjectReference", kCoreObjectReference},
    {"EventSource", kCoreEventSource},
    {"EventSeries", kCoreEventSeries},
    {"ReplicaSetSpec", kAppsReplicaSetSpec},
    {"ReplicaSetStatus", kAppsReplicaSetStatus},
    {"StatefulSetSpec", kAppsStatefulSetSpec},
    {"StatefulSetStatus", kAppsStatefulSetStatus},
    {"TopologySelectorTerm", kCoreTopologySelectorTerm},
    {"CSINodeSpec", kStorageCSINodeSpec},
    {"CSIDriverSpec", kStorageCSIDriverSpec},
    {"LabelSelector", kMetaLabelSelector},
    {"VolumeAttachmentSpec", kStorageVolumeAttachmentSpec},
    {"VolumeAttachmentStatus", kStorageVolumeAttachmentStatus},
    {"PodDisruptionBudgetSpec", kPolicyPodDisruptionBudgetSpec},
    {"PodDisruptionBudgetStatus", kPolicyPodDisruptionBudgetStatus},
    {"LeaseSpec", kCoordinationLeaseSpec},
    {"ListMeta", kMetaListMeta},
    {"StatusDetails", kMetaStatusDetails},
    {"OwnerReference", kMetaOwnerReference},
    {"Volume", kCoreVolume},
    {"Container", kCoreContainer},
    {"Affinity", kCoreAffinity},
    {"Toleration", kCoreToleration},
    {"PodReadinessGate", kCorePodReadinessGate},
    {"TopologySpreadConstraint", kCoreTopologySpreadConstraint},
    {"PodOS", kCorePodOS},
    {"PodSchedulingGate", kCorePodSchedulingGate},
    {"PodResourceClaim", kCorePodResourceClaim},
    {"ResourceRequirements", kCoreResourceRequirements},
    {"PodSchedulingGroup", kCorePodSchedulingGroup},
    {"PodCondition", kCorePodCondition},
    {"ContainerStatus", kCoreContainerStatus},
    {"PodResourceClaimStatus", kCorePodResourceClaimStatus},
    {"PodExtendedResourceClaimStatus", kCorePodExtendedResourceClaimStatus},
    {"NodeAllocatableResourceClaimStatus", kCoreNodeAllocatableResourceClaimStatus},
    {"Taint", kCoreTaint},
    {"NodeCondition", kCoreNodeCondition},
    {"ContainerImage", kCoreContainerImage},
    {"AttachedVolume", kCoreAttachedVolume},
    {"NodeFeatures", kCoreNodeFeatures},
    {"NamespaceCondition", kCoreNamespaceCondition},
    {"ReplicationControllerCondition", kCoreReplicationControllerCondition},
    {"PersistentVolumeSource", kCorePersistentVolumeSource},
    {"VolumeNodeAffinity", kCoreVolumeNodeAffinity},
    {"VolumeResourceRequirements", kCoreVolumeResourceRequirements},
    {"TypedLocalObjectReference", kCoreTypedLocalObjectReference},
    {"TypedObjectReference", kCoreTypedObjectReference},
    {"PersistentVolumeClaimCondition", kCorePersistentVolumeClaimCondition},
    {"ModifyVolumeStatus", kCoreModifyVolumeStatus},
    {"ReplicaSetCondition", kAppsReplicaSetCondition},
    {"StatefulSetUpdateStrategy", kAppsStatefulSetUpdateStrategy},
    {"StatefulSetPersistentVolumeClaimRetentionPolicy", kAppsStatefulSetPersistentVolumeClaimRetentionPolicy},
    {"StatefulSetOrdinals", kAppsStatefulSetOrdinals},
    {"StatefulSetCondition", kAppsStatefulSetCondition},
    {"TopologySelectorLabelRequirement", kCoreTopologySelectorLabelRequirement},
    {"CSINodeDriver", kStorageCSINodeDriver},
    {"TokenRequest", kStorageTokenRequest},
    {"LabelSelectorRequirement", kMetaLabelSelectorRequirement},
    {"VolumeAttachmentSource", kStorageVolumeAttachmentSource},
    {"VolumeError", kStorageVolumeError},
    {"Condition", kMetaCondition},
    {"ShardInfo", kMetaShardInfo},
    {"StatusCause", kMetaStatusCause},
    {"VolumeSource", kCoreVolumeSource},
    {"ContainerPort", kCoreContainerPort},
    {"NodeAffinity", kCoreNodeAffinity},
    {"PodAffinity", kCorePodAffinity},
    {"PodAntiAffinity", kCorePodAntiAffinity},
    {"ResourceClaim", kCoreResourceClaim},
    {"ContainerExtendedResourceRequest", kCoreContainerExtendedResourceRequest},
    {"GCEPersistentDiskVolumeSource", kCoreGCEPersistentDiskVolumeSource},
    {"AWSElasticBlockStoreVolumeSource", kCoreAWSElasticBlockStoreVolumeSource},
    {"HostPathVolumeSource", kCoreHostPathVolumeSource},
    {"GlusterfsPersistentVolumeSource", kCoreGlusterfsPersistentVolumeSource},
    {"NFSVolumeSource", kCoreNFSVolumeSource},
    {"RBDPersistentVolumeSource", kCoreRBDPersistentVolumeSource},
    {"ISCSIPersistentVolumeSource", kCoreISCSIPersistentVolumeSource},
    {"CinderPersistentVolumeSource", kCoreCinderPersistentVolumeSource},
    {"CephFSPersistentVolumeSource", kCoreCephFSPersistentVolumeSource},
    {"FCVolumeSource", kCoreFCVolumeSource},
    {"FlockerVolumeSource", kCoreFlockerVolumeSource},
    {"AzureFilePersistentVolumeSource", kCoreAzureFilePersistentVolumeSource},
    {"VsphereVirtualDiskVolumeSource", kCoreVsphereVirtualDiskVolumeSource},
    {"QuobyteVolumeSource", kCoreQuobyteVolumeSource},
    {"AzureDiskVolumeSource", kCoreAzureDiskVolumeSource},
    {"PhotonPersistentDiskVolumeSource", kCorePhotonPersistentDiskVolumeSource},
    {"PortworxVolumeSource", kCorePortworxVolumeSource},
    {"ScaleIOPersistentVolumeSource", kCoreScaleIOPersistentVolumeSource},
    {"LocalVolumeSource", kCoreLocalVolumeSource},
    {"StorageOSPersistentVolumeSource", kCoreStorageOSPersistentVolumeSource},
    {"CSIPersistentVolumeSource", kCoreCSIPersistentVolumeSource},
    {"NodeSelector", kCoreNodeSelector},
    {"RollingUpdateStatefulSetStrategy", kAppsRollingUpdateStatefulSetStrategy},
    {"VolumeNodeResources", kStorageVolumeNodeResources},
    {"EmptyDirVolumeSource", kCoreEmptyDirVolumeSource},
    {"ISCSIVolumeSource", kCoreISCSIVolumeSource},
    {"GlusterfsVolumeSource", kCoreGlusterfsVolumeSource},
    {"PersistentVolumeClaimVolumeSource", kCorePersistentVolumeClaimVolumeSource},
    {"RBDVolumeSource", kCoreRBDVolumeSource},
    {"CinderVolumeSource", kCoreCinderVolumeSource},
    {"CephFSVolumeSource", kCoreCephFSVolumeSource},
    {"AzureFileVolumeSource", kCoreAzureFileVolumeSource},
    {"ScaleIOVolumeSource", kCoreScaleIOVolumeSource},
    {"StorageOSVolumeSource", kCoreStorageOSVolumeSource},
    {"CSIVolumeSource", kCoreCSIVolumeSource},
    {"EphemeralVolumeSource", kCoreEphemeralVolumeSource},
    {"ImageVolumeSource", kCoreImageVolumeSource},
    {"PreferredSchedulingTerm", kCorePreferredSchedulingTerm},
    {"PodAffinityTerm", kCorePodAffinityTerm},
    {"WeightedPodAffinityTerm", kCoreWeightedPodAffinityTerm},
    {"SecretReference", kCoreSecretReference},
    {"NodeSelectorTerm", kCoreNodeSelectorTerm},
    {"LocalObjectReference", kCoreLocalObjectReference},
    {"PersistentVolumeClaimTemplate", kCorePersistentVolumeClaimTemplate},
    {"NodeSelectorRequirement", kCoreNodeSelectorRequirement},
}};

constexpr std::array<KindTable, 19> kKinds{{
    {"v1", "Pod", 0},
    {"v1", "Node", 1},
    {"v1", "Namespace", 2},
    {"v1", "Service", 3},
    {"v1", "ReplicationController", 4},
    {"v1", "PersistentVolume", 5},
    {"v1", "PersistentVolumeClaim", 6},
    {"v1", "Event", 7},
    {"apps/v1", "ReplicaSet", 8},
    {"apps/v1", "StatefulSet", 9},
    {"storage.k8s.io/v1", "StorageClass", 10},
    {"storage.k8s.io/v1", "CSINode", 11},
    {"storage.k8s.io/v1", "CSIDriver", 12},
    {"storage.k8s.io/v1", "CSIStorageCapacity", 13},
    {"storage.k8s.io/v1", "VolumeAttachment", 14},
    {"policy/v1", "PodDisruptionBudget", 15},
    {"scheduling.k8s.io/v1", "PriorityClass", 16},
    {"coordination.k8s.io/v1", "Lease", 17},
    {"v1", "Status", 18},
}};
// clang-format on

}  // namespace

std::span<const MessageTable> message_tables() { return kMessages; }
std::span<const KindTable> kind_tables() { return kKinds; }

}  // namespace evenkeel::kubernetes
