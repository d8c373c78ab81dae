"""KubeSchedulerConfigurations that differ from the default profile in one or two ways."""

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def fit_args(m):
    kind = m.r.randrange(3)
    resources = [{"name": name, "weight": m.pick([1, 1, 3, 5])} for name in
                 m.r.sample(["cpu", "memory", "ephemeral-storage", "example.com/gpu"], m.pick([1, 2, 3]))]
    strategy = {"type": ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"][kind], "resources": resources}
    if kind == 2:
        strategy["requestedToCapacityRatio"] = {"shape": m.pick([
            [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}],
            [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}],
            [{"utilization": 0, "score": 0}, {"utilization": 40, "score": 3}, {"utilization": 100, "score": 10}]])}
    args = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "NodeResourcesFitArgs", "scoringStrategy": strategy}
    if m.chance(0.2):
        args["ignoredResources"] = ["example.com/licence"]
    if m.chance(0.2):
        args["ignoredResourceGroups"] = ["example.com"]
    return {"name": "NodeResourcesFit", "args": args}


def balanced_args(m):
    return {"name": "NodeResourcesBalancedAllocation", "args": {
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "NodeResourcesBalancedAllocationArgs",
        "resources": [{"name": name, "weight": 1} for name in m.pick([["cpu", "memory", "example.com/gpu"], ["cpu", "memory"], ["memory", "ephemeral-storage"]])]}}


def spread_args(m):
    args = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "PodTopologySpreadArgs", "defaultingType": "List"}
    constraints = [{"maxSkew": m.pick([1, 2]), "topologyKey": m.pick([ZONE, HOST]), "whenUnsatisfiable": m.pick(["ScheduleAnyway", "DoNotSchedule"])}]
    args["defaultConstraints"] = constraints if m.chance(0.7) else []
    return {"name": "PodTopologySpread", "args": args}


def affinity_args(m):
    return {"name": "InterPodAffinity", "args": {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "InterPodAffinityArgs",
            "hardPodAffinityWeight": m.pick([0, 1, 5, 100]), **({"ignorePreferredTermsOfExistingPods": True} if m.chance(0.5) else {})}}


def node_affinity_args(m):
    return {"name": "NodeAffinity", "args": {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "NodeAffinityArgs", "addedAffinity": m.node_affinity()}}


def preemption_args(m):
    return {"name": "DefaultPreemption", "args": {"minCandidateNodesPercentage": m.pick([1, 100]), "minCandidateNodesAbsolute": 100}}


def plugins(m):
    name = m.pick(["ImageLocality", "NodeResourcesBalancedAllocation", "PodTopologySpread", "InterPodAffinity", "TaintToleration", "NodeAffinity",
                   "NodeResourcesFit"])
    filters = ["NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "PodTopologySpread",
               "InterPodAffinity", "VolumeZone", "NodeDeclaredFeatures"]
    return m.pick([{"score": {"disabled": [{"name": name}]}},
                   {"score": {"disabled": [{"name": name}], "enabled": [{"name": name, "weight": m.pick([1, 5, 7])}]}},
                   {"score": {"enabled": [{"name": name}]}},
                   {"multiPoint": {"disabled": [{"name": name}]}},
                   {"multiPoint": {"enabled": [{"name": name, "weight": 4}]}},
                   {"filter": {"enabled": [{"name": name} for name in m.r.sample(filters, 3)]}},  # their reasons come first
                   {"filter": {"disabled": [{"name": name} for name in m.r.sample(filters, 2)]}},
                   {"postFilter": {"disabled": [{"name": "*"}]}},
                   {"score": {"disabled": [{"name": "*"}]}, "preScore": {"disabled": [{"name": "*"}]}},
                   {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit"}, {"name": "NodeAffinity", "weight": 3}]}}])


def profile(m, name):
    found = {"schedulerName": name}
    makers = m.r.sample([fit_args, fit_args, balanced_args, spread_args, affinity_args, node_affinity_args, preemption_args], m.pick([0, 1, 1, 2]))
    found["pluginConfig"] = [maker(m) for maker in dict.fromkeys(makers)]
    if m.chance(0.4):
        found["plugins"] = plugins(m)
    if m.chance(0.1):
        found["percentageOfNodesToScore"] = m.pick([0, 1, 50, 100])
    return found


def make(m):
    names = m.pick([["default-scheduler"], ["default-scheduler"], ["packer"], ["default-scheduler", "packer"], ["a", "b", "c"]])
    found = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile(m, name) for name in names]}
    if m.chance(0.1):
        found["percentageOfNodesToScore"] = m.pick([0, 1, 100])  # of fewer than a hundred nodes all are looked at
    return found
