"""Applications as graphs: Deployments whose pods say which part of an AppGroup they are, and the AppGroup itself.

The order of placement is written into the group's status as its controller would, by ReverseKahn: of the six orders the one
under which the genuine plugins see every edge of a group that is placed for the first time (an order that begins with callers
shows them none).
"""
import applications

GROUPS = "/apis/appgroup.diktyo.x-k8s.io/v1alpha1/namespaces/default/appgroups"
TOPOLOGIES = "/apis/networktopology.diktyo.x-k8s.io/v1alpha1/namespaces/default/networktopologies"
LABEL = "appgroup.diktyo.x-k8s.io"
ANY_COST = 10_000  # no edge has a bound: absent would be 0, which only a zone of one's own meets
ALGORITHM = "ReverseKahn"


def reverse_kahn(names, edges):
    """Callees first; the last one that could come comes, as the controller's stack has it."""
    waiting = {name: sum(to == name for _, to in edges) for name in names}
    ready, order = [name for name in names if waiting[name] == 0], []
    while ready:
        name = ready.pop()
        order.append(name)
        for origin, to in edges:
            if origin == name:
                waiting[to] -= 1
                if waiting[to] == 0:
                    ready.append(to)
    return order[::-1]


def app_group(group, names, edges, bandwidth=None):
    """edges: (caller, callee). bandwidth: what each of them wants, as '1M'."""
    def workload(name):
        return {"kind": "Deployment", "apiVersion": "apps/v1", "name": f"{group}-{name}", "selector": f"{group}-{name}", "namespace": "default"}

    def dependency(name):
        return {"workload": workload(name), "maxNetworkCost": ANY_COST, **({"minBandwidth": bandwidth} if bandwidth else {})}
    order = {name: number for number, name in enumerate(reverse_kahn(names, edges), 1)}
    return {"apiVersion": "appgroup.diktyo.x-k8s.io/v1alpha1", "kind": "AppGroup", "metadata": {"name": group, "namespace": "default"},
            "spec": {"numMembers": len(names), "topologySortingAlgorithm": ALGORITHM, "workloads": [
                {"workload": workload(name), **({"dependencies": calls} if (calls := [dependency(to) for origin, to in edges if origin == name]) else {})}
                for name in names]},
            "status": {"runningWorkloads": 0, "topologyOrder": [
                {"workload": workload(name), "index": order[name]} for name in sorted(names)]}}


def deployment(group, name, replicas, image, arguments, scheduler, cpu, memory="48Mi"):
    """Asks for its share but may use what its node has left."""
    made = applications.deployment(f"{group}-{name}", replicas, image, arguments, scheduler=scheduler, cpu=cpu, memory=memory)
    template = made["spec"]["template"]
    template["metadata"]["labels"].update({LABEL: group, f"{LABEL}.workload": f"{group}-{name}"})
    # The same in Volcano's words.
    template["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": group, "volcano.sh/task-spec": name}
    del template["spec"]["containers"][0]["resources"]["limits"]
    return made


def part_of(pod):
    """Which of the names it is."""
    labels = pod["metadata"]["labels"]
    return labels[f"{LABEL}.workload"].removeprefix(labels[LABEL] + "-")


def mean_round_trip(edges, pods, between):
    """Of all edges, over all pairs of their replicas: what the network adds to a call. between(node, node): ms."""
    nodes = {}
    for pod in pods:
        nodes.setdefault(part_of(pod), []).append(pod["spec"]["nodeName"])
    means = [sum(between(a, b) for a in nodes[origin] for b in nodes[to]) / (len(nodes[origin]) * len(nodes[to])) for origin, to in edges]
    return sum(means) / len(means)
