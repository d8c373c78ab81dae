"""Kubernetes objects as the tests write them, and a judgement on how full nodes are."""
import collections
import fractions

PLACES = {  # kind -> where it is created
    "Pod": "/api/v1/namespaces/{ns}/pods",
    "PersistentVolumeClaim": "/api/v1/namespaces/{ns}/persistentvolumeclaims",
    "PersistentVolume": "/api/v1/persistentvolumes",
    "Deployment": "/apis/apps/v1/namespaces/{ns}/deployments",
    "StatefulSet": "/apis/apps/v1/namespaces/{ns}/statefulsets",
    "ReplicaSet": "/apis/apps/v1/namespaces/{ns}/replicasets",
    "DaemonSet": "/apis/apps/v1/namespaces/{ns}/daemonsets",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "StorageClass": "/apis/storage.k8s.io/v1/storageclasses",
}
UNITS = {"m": fractions.Fraction(1, 1000), "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
         "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def collection(body, name_space):
    return PLACES[body["kind"]].format(ns=name_space)


def node(name, cpu="8", memory="32Gi", pods="110", zone=None, labels=None, taints=()):
    room = {"cpu": cpu, "memory": memory, "pods": pods}
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **(labels or {})}
    if zone:
        labels["topology.kubernetes.io/zone"] = zone
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"}, "labels": labels},
            "spec": {"taints": list(taints)}, "status": {"allocatable": room, "capacity": room}}


def container(cpu="100m", memory="128Mi", **more):
    return {"name": "main", "image": "none", "resources": {"requests": {"cpu": cpu, "memory": memory}}, **more}


def pod_spec(cpu="100m", memory="128Mi", **spec):
    return {"schedulerName": "evenkeel", "terminationGracePeriodSeconds": 0, "containers": [container(cpu, memory)], **spec}


def pod(name, labels=None, annotations=None, **spec):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": labels or {"app": name}, "annotations": annotations or {}},
            "spec": pod_spec(**spec)}


def workload(kind, name, replicas=None, more=None, **spec):
    """A Deployment, StatefulSet or DaemonSet whose pods carry the label app=<name>."""
    body = {"selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": pod_spec(**spec)}, **(more or {})}
    if replicas is not None:
        body["replicas"] = replicas
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": body}


def budget(name, app, **limits):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": {"app": app}}, **limits}}


def pod_term(app, key):
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}


def affinity(kind, *required):
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(required)}}


def nodes_with(key, *values):
    return {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}


def storage_class(name, provisioner, mode="WaitForFirstConsumer"):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner,
            "volumeBindingMode": mode}


def claim(name, storage, size="1Gi"):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": storage,
                     "resources": {"requests": {"storage": size}}}}


def volume(name, storage, node_name, size="5Gi", claim_reference=None):
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": storage, "local": {"path": "/mnt/" + name},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [nodes_with("kubernetes.io/hostname", node_name)]}}}
    if claim_reference:
        spec["claimRef"] = claim_reference
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def mounted(claim_name):
    return [{"name": "data", "persistentVolumeClaim": {"claimName": claim_name}}]


def amount(text):
    """The exact value of a quantity such as 100m or 1.5Gi."""
    for unit in sorted(UNITS, key=len, reverse=True):
        if text.endswith(unit):
            return fractions.Fraction(text[:-len(unit)]) * UNITS[unit]
    return fractions.Fraction(text)


def overcommitted(nodes, pods):
    """What is promised beyond what there is: a line for each node and resource."""
    taken = collections.defaultdict(fractions.Fraction)
    for one in pods:
        name = one["spec"].get("nodeName")
        if not name or one.get("status", {}).get("phase") in ("Succeeded", "Failed"):
            continue
        taken[name, "pods"] += 1
        for part in one["spec"]["containers"]:
            for resource, text in part.get("resources", {}).get("requests", {}).items():
                taken[name, resource] += amount(text)
    room = {(one["metadata"]["name"], resource): amount(text) for one in nodes
            for resource, text in one["status"]["allocatable"].items()}
    names = {one["metadata"]["name"] for one in nodes}
    return [f"{name}: {resource} {float(used)} of {float(room.get((name, resource), 0))}" for (name, resource), used
            in sorted(taken.items()) if name in names and used > room.get((name, resource), 0)]
