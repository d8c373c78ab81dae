"""Clusters with application groups and networks, made from a seed, for upstream's network-aware plugins and for ours.

A case is small and plain, so that recorded ones can be read; `manifests` makes objects of it.
"""
import random

REGIONS, ZONES = ["r1", "r2", "r3"], ["a", "b", "c", "d"]
REGION, ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"
GROUP, WORKLOAD = "appgroup.diktyo.x-k8s.io", "appgroup.diktyo.x-k8s.io.workload"


def make_case(seed, number):
    r = random.Random(f"{seed}/{number}")
    nodes = []
    for i in range(r.randint(1, 9)):
        region = r.choice(REGIONS[:r.randint(1, 3)]) if r.random() > 0.1 else ""
        # Zones may be called as a region is, or be missing.
        zone = "" if r.random() < 0.1 else region if region and r.random() < 0.1 else r.choice(ZONES[:r.randint(1, 4)])
        nodes.append([f"n{i}", region, zone])
    names = REGIONS + ZONES
    def costs(own, others):
        links = [[a, b, r.choice([0, 1, 2, 5, 10, 20, 99, 100, 1000])] for a in own for b in others if a != b and r.random() > 0.2]
        r.shuffle(links)
        return links
    workloads = [f"p{i}" for i in range(1, r.randint(2, 6))]
    dependencies = [[r.choice(workloads), r.choice(workloads), r.choice([None, None, 0, 1, 5, 10, 100])] for _ in range(r.randint(0, 9))]
    spaces = ["default", "other"]
    pods = [[f"b{i}", r.choice(workloads + ["p99"]), r.choice(nodes)[0], r.choice(spaces[:1] * 3 + spaces[1:]), r.random() > 0.05]
            for i in range(r.randint(0, 12))]
    waiting = [[f"w{i}", r.choice(workloads), r.choice(spaces[:1] * 4 + spaces[1:]), r.random() > 0.1] for i in range(r.randint(1, 5))]
    order = r.sample(workloads, r.randint(0, len(workloads)))
    weights = r.choice(["UserDefined", "UserDefined", "NetperfCosts", "own"])
    zone_origins = ZONES + (REGIONS if r.random() < 0.3 else [])
    return {"nodes": nodes, "regions": costs(REGIONS, names if r.random() < 0.1 else REGIONS), "zones": costs(zone_origins, zone_origins),
            "dependencies": dependencies, "pods": pods, "waiting": waiting, "order": order, "weights": weights,
            "namespace": r.choice(["default", "default", "other"])}


def labelled(labels):
    return {key: value for key, value in labels.items() if value}


def levels(case):
    """Sorted, as upstream's controller writes them; its plugin searches measured costs as they come."""
    def origins(links):
        by = {}
        for origin, destination, cost in links:
            by.setdefault(origin, []).append({"destination": destination, "networkCost": cost})
        return [{"origin": origin, "costList": by[origin]} for origin in sorted(by)]
    return [{"topologyKey": REGION, "originList": origins(case["regions"])}, {"topologyKey": ZONE, "originList": origins(case["zones"])}]


def workload(name):
    return {"kind": "Deployment", "name": name, "selector": name, "apiVersion": "apps/v1", "namespace": "default"}


def manifests(case):
    items = []
    for name, region, zone in case["nodes"]:
        items.append({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labelled({REGION: region, ZONE: zone})},
                      "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]}})
    def pod(name, part, space, grouped, node=None):
        spec = {"containers": [{"name": "c", "image": "c"}], "schedulerName": "network-aware"}
        if node:
            spec["nodeName"] = node
        return {"apiVersion": "v1", "kind": "Pod", "spec": spec,
                "metadata": {"name": name, "namespace": space, "uid": f"{space}-{name}", "labels": {GROUP: "g", WORKLOAD: part} if grouped else {}}}
    for name, part, node, space, grouped in case["pods"]:
        items.append(pod(name, part, space, grouped, node))
    for name, part, space, grouped in case["waiting"]:
        items.append(pod(name, part, space, grouped))
    by = {}
    for origin, target, limit in case["dependencies"]:
        by.setdefault(origin, []).append({"workload": workload(target), **({} if limit is None else {"maxNetworkCost": limit})})
    parts = sorted({d[0] for d in case["dependencies"]} | {d[1] for d in case["dependencies"]}) or ["p1"]
    meta = {"namespace": case["namespace"], "uid": "u"}
    items.append({"apiVersion": "appgroup.diktyo.x-k8s.io/v1alpha1", "kind": "AppGroup", "metadata": {"name": "g", **meta},
                  "spec": {"numMembers": len(parts), "topologySortingAlgorithm": "KahnSort",
                           "workloads": [{"workload": workload(p), **({"dependencies": by[p]} if p in by else {})} for p in parts]},
                  "status": {"topologyOrder": [{"workload": workload(p), "index": case["order"].index(p) + 1} for p in sorted(case["order"])]}})
    items.append({"apiVersion": "networktopology.diktyo.x-k8s.io/v1alpha1", "kind": "NetworkTopology", "metadata": {"name": "nt", **meta},
                  "spec": {"configmapName": "none", "weights": [{"name": case["weights"], "topologyList": levels(case)}]}})
    return items


def arguments(case):
    return {"namespaces": ["empty", case["namespace"]], "weightsName": case["weights"], "networkTopologyName": "nt"}


def configuration(case):
    """Upstream's two plugins and nobody else who has an opinion."""
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [{
        "schedulerName": "network-aware",
        "plugins": {"multiPoint": {"enabled": [{"name": name} for name in ("NetworkOverhead", "TopologicalSort", "DefaultBinder")], "disabled": [{"name": "*"}]}},
        "pluginConfig": [{"name": "NetworkOverhead", "args": arguments(case)},
                         {"name": "TopologicalSort", "args": {"namespaces": arguments(case)["namespaces"]}}]}]}
