"""Clusters made from a seed: small, odd but legal, and full of what schedulers get wrong.

A case is {"id", "items": [objects of the API], "config": KubeSchedulerConfiguration or absent}. Vocabularies are
small on purpose: selectors should match now and then, nodes fill up, names collide across namespaces.
"""
import random

NAMESPACES = ["default", "default", "web", "batch"]
APPS = ["a", "b", "c"]
ZONE, REGION, HOST = "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/hostname"
GPU, LICENCE, HUGE = "example.com/gpu", "example.com/licence", "hugepages-2Mi"
THEMES = ["resources", "taints", "node_affinity", "ports", "spread", "default_spread", "affinity", "images", "volumes",
          "preemption", "features", "names", "config", "nominated"]
MI = 1 << 20


class CaseMaker:
    def __init__(self, seed, number):
        self.r = random.Random(f"{seed}/{number}")
        self.number = number
        r = self.r
        self.themes = set(r.sample(THEMES, r.choice([1, 1, 2, 2, 3, 4])))
        if r.random() < 0.05:
            self.themes = set(THEMES) - {"config"}
        self.uid = 0

    def chance(self, p):
        return self.r.random() < p

    def pick(self, values):
        return self.r.choice(values)

    def on(self, theme, p=0.9, otherwise=0.03):
        return self.chance(p if theme in self.themes else otherwise)

    # -- quantities: one amount, every spelling ---------------------------------------------------------------

    def cpu(self, milli):
        spellings = [f"{milli}m", f"{milli}m", f"{milli / 1000:.3f}", f"{milli * 1000}u", f"{milli}e-3", f"{milli * 1000000}n",
                     f"+{milli}m"]
        if milli % 100 == 0:
            spellings += [f"{milli // 100}e-1", f"{milli // 100}E-1", f"{milli / 1000:g}", milli / 1000]
        if milli % 1000 == 0:
            spellings += [str(milli // 1000), milli // 1000, f"{milli // 1000}.", f"{milli // 1000}.0"]
        if 0 < milli < 1000:
            spellings.append(f".{milli:03d}")
        return self.pick(spellings)

    def memory(self, size):
        spellings = [str(size), f"{size}", f"{size * 1000}m", f"{size / 1e6:.6f}M", f"{size}e0"]
        if size % 1024 == 0:
            spellings += [f"{size // 1024}Ki"] * 2
        if size % MI == 0:
            spellings += [f"{size // MI}Mi"] * 4 + [f"{size / (MI * 1024)}Gi", size]
        if size % 1000000 == 0:
            spellings += [f"{size // 1000000}M", f"{size // 1000000}e6", f"{size // 1000}k", f"{size / 1e9:g}G"]
        return self.pick(spellings)

    def tight(self):
        return "resources" in self.themes or "preemption" in self.themes

    def amount_of_cpu(self):
        if not self.tight():
            return self.pick([0, 1, 10, 50, 100, 100, 200])
        return self.pick([0, 1, 50, 100, 100, 250, 500, 500, 750, 1000, 1500, 2000, 3333])

    def amount_of_memory(self):
        if not self.tight():
            return self.pick([0, 1, 16 * MI, 64 * MI, 100000000, 128 * MI, 123456789])
        return self.pick([0, 1, 64 * MI, 100 * MI, 128 * MI, 200 * MI, 256 * MI, 512 * MI, 1000000000, 1024 * MI, 2048 * MI,
                          123456789])

    def resources(self, rich):
        """A container's requests, and limits now and then."""
        requests, limits = {}, {}
        if self.chance(0.75):
            requests["cpu"] = self.cpu(self.amount_of_cpu())
        if self.chance(0.75):
            requests["memory"] = self.memory(self.amount_of_memory())
        if rich:
            if self.chance(0.2):
                requests["ephemeral-storage"] = self.memory(self.pick([0, MI, 1000 * MI, 5000 * MI]))
            if self.chance(0.25):
                limits[GPU] = requests[GPU] = self.pick(["1", "2", 1, "1e0", "0", "4"])
            if self.chance(0.15):
                limits[LICENCE] = self.pick(["1", "2"])  # the request follows from the limit
            if self.chance(0.1):
                limits[HUGE] = requests[HUGE] = self.pick(["2Mi", "4Mi", "64Mi"])
            if self.chance(0.15):
                limits["cpu"] = self.cpu(self.pick([2000, 4000]))
            if self.chance(0.15):
                limits["memory"] = self.memory(4096 * MI)
        found = {}
        if requests or self.chance(0.3):
            found["requests"] = requests
        if limits:
            found["limits"] = limits
        return found

    # -- labels and selectors ---------------------------------------------------------------------------------

    def pod_labels(self):
        labels = {"app": self.pick(APPS)} if self.chance(0.85) else {}
        if self.chance(0.4):
            labels["tier"] = self.pick(["front", "back"])
        if self.chance(0.3):
            labels["version"] = self.pick(["1", "2"])
        return labels

    def expression(self):
        key = self.pick(["app", "app", "tier", "version", "absent"])
        op = self.pick(["In", "In", "NotIn", "Exists", "DoesNotExist"])
        values = {"app": APPS, "tier": ["front", "back"], "version": ["1", "2"], "absent": ["x"]}[key]
        found = {"key": key, "operator": op}
        if op in ("In", "NotIn"):
            found["values"] = self.r.sample(values, self.r.randint(1, len(values)))
        return found

    def selector(self, absent=0.05, empty=0.08):
        if self.chance(absent):
            return None
        if self.chance(empty):
            return {}
        if self.chance(0.6):
            return {"matchLabels": {"app": self.pick(APPS)}}
        found = {"matchExpressions": [self.expression() for _ in range(self.pick([1, 1, 2]))]}
        if self.chance(0.2):
            found["matchLabels"] = {"tier": self.pick(["front", "back"])}
        return found

    def node_expression(self):
        kind = self.r.randrange(6)
        if kind == 0:
            return {"key": "cores", "operator": self.pick(["Gt", "Lt"]), "values": [self.pick(["4", "8", "0", "15"])]}
        if kind == 1:
            return {"key": "disk", "operator": self.pick(["Exists", "DoesNotExist"])}
        if kind == 2:
            return {"key": ZONE, "operator": self.pick(["In", "NotIn"]), "values": self.r.sample(["z1", "z2", "z3"], self.pick([1, 2]))}
        if kind == 3:
            return {"key": HOST, "operator": self.pick(["In", "NotIn"]), "values": self.r.sample(["n0", "n1", "n2", "n9"], self.pick([1, 2]))}
        return {"key": "disk", "operator": self.pick(["In", "NotIn"]), "values": self.r.sample(["ssd", "hdd", ""], self.pick([1, 2]))}

    def node_term(self):
        term = {}
        if self.chance(0.85):
            term["matchExpressions"] = [self.node_expression() for _ in range(self.pick([1, 1, 1, 2, 2, 0]))]
        if self.chance(0.15):
            term["matchFields"] = [{"key": "metadata.name", "operator": self.pick(["In", "In", "NotIn"]),
                                    "values": [self.pick(["n0", "n1", "n2", "gone"])]}]
        return term

    # -- nodes ------------------------------------------------------------------------------------------------

    def taint(self):
        return {"key": self.pick(["dedicated", "gpu", "spot"]), "value": self.pick(["", "a", "b"]),
                "effect": self.pick(["NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute"])}

    def node(self, name):
        labels = {HOST: name}
        if self.chance(0.85):
            labels[ZONE] = self.pick(["z1", "z1", "z2", "z3"])
        if self.chance(0.4):
            labels[REGION] = self.pick(["r1", "r2"])
        if self.chance(0.5):
            labels["disk"] = self.pick(["ssd", "hdd", ""])
        if self.chance(0.5):
            labels["cores"] = self.pick(["2", "4", "8", "16", "many"])
        if self.chance(0.04):
            del labels[HOST]
        cores, mebibytes = ([1, 2, 4, 4, 8, 16], [512, 1024, 2048, 4096, 4096, 16384]) if self.tight() else ([8, 16], [8192, 16384, 65536])
        allocatable = {"cpu": self.cpu(self.pick(cores) * 1000), "memory": self.memory(self.pick(mebibytes) * MI),
                       "pods": self.pick(["110", "110", "110", 110, "5", "3"])}
        if self.chance(0.4):
            allocatable["ephemeral-storage"] = self.memory(self.pick([1000, 20000]) * MI)
        if self.chance(0.5):
            allocatable[GPU] = self.pick(["1", "2", "4", "8", "0"])
        if self.chance(0.3):
            allocatable[LICENCE] = self.pick(["1", "3"])
        if self.chance(0.3):
            allocatable[HUGE] = self.pick(["64Mi", "1Gi"])
        if self.on("resources", 0.05, 0.005):
            allocatable.pop(self.pick(["cpu", "memory", "pods"]))
        spec = {}
        if self.on("taints", 0.5):
            spec["taints"] = [self.taint() for _ in range(self.pick([1, 1, 2, 3]))]
        if self.on("taints", 0.1, 0.02):
            spec["unschedulable"] = True
            if self.chance(0.7):
                spec.setdefault("taints", []).append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
        status = {"allocatable": allocatable, "capacity": dict(allocatable)}
        if self.chance(0.05):
            del status["allocatable"]
        if self.on("images", 0.8):
            status["images"] = [{"names": self.pick([[f"img-{i}:v1"], [f"registry.example/library/img-{i}:v1", f"img-{i}:v1"],
                                                     [f"img-{i}:latest", f"img-{i}@sha256:{i}"]]),
                                 "sizeBytes": self.pick([1000, 23 * MI, 60 * MI, 300 * MI, 900 * MI, 3000 * MI])}
                                for i in self.r.sample(range(5), self.r.randint(1, 4))]
        if self.on("features", 0.6):
            # Kubelets declare them sorted, and kube-scheduler counts on it.
            status["declaredFeatures"] = sorted(self.r.sample(["UserNamespacesHostNetworkSupport", "RestartAllContainersOnContainerExits",
                                                               "Other"], self.r.randint(1, 3)))
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}

    # -- pods -------------------------------------------------------------------------------------------------

    def container(self, index, init=False):
        found = {"name": f"{'i' if init else 'c'}{index}", "resources": self.resources("resources" in self.themes)}
        image = self.pick([f"img-{self.r.randrange(6)}:v1", f"img-{self.r.randrange(6)}", f"img-{self.r.randrange(6)}:latest",
                           f"registry.example/library/img-{self.r.randrange(6)}:v1", f"img-{self.r.randrange(6)}@sha256:{self.r.randrange(6)}",
                           "registry:5000/odd"])
        found["image"] = image
        if init and self.chance(0.45):
            found["restartPolicy"] = "Always"
        if self.on("ports", 0.6):
            found["ports"] = [{"containerPort": self.pick([80, 443, 53]), "hostPort": self.pick([80, 443, 8080, 0]),
                               **({"protocol": self.pick(["TCP", "UDP", "SCTP"])} if self.chance(0.5) else {}),
                               **({"hostIP": self.pick(["0.0.0.0", "127.0.0.1", "10.0.0.1"])} if self.chance(0.5) else {})}
                              for _ in range(self.pick([1, 1, 2]))]
        return found

    def toleration(self):
        if self.chance(0.1):
            return {"operator": "Exists"}
        found = {"key": self.pick(["dedicated", "gpu", "spot", "node.kubernetes.io/unschedulable"])}
        if self.chance(0.5):
            found["operator"] = self.pick(["Equal", "Exists"])
        if found.get("operator") != "Exists" and self.chance(0.8):
            found["value"] = self.pick(["", "a", "b"])
        if self.chance(0.5):
            found["effect"] = self.pick(["NoSchedule", "PreferNoSchedule", "NoExecute"])
            if found["effect"] == "NoExecute" and self.chance(0.5):
                found["tolerationSeconds"] = self.pick([0, 300])
        return found

    def affinity_term(self, labels):
        term = {"topologyKey": self.pick([HOST, ZONE, ZONE, REGION, "disk", "absent"])}
        selector = self.selector()
        if selector is not None:
            term["labelSelector"] = selector
        if self.chance(0.2):
            term["namespaces"] = self.r.sample(["default", "web", "batch", "gone"], self.pick([1, 2]))
        if self.chance(0.2):
            term["namespaceSelector"] = self.pick([{}, {"matchLabels": {"team": "x"}},
                                                   {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]},
                                                   {"matchLabels": {"kubernetes.io/metadata.name": "web"}}])
        # The API server writes the keys into the selector of the stored pod.
        if selector is not None and self.chance(0.12):
            key = self.pick(["version", "tier"])
            field, op = self.pick([("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")])
            used = [e["key"] for e in selector.get("matchExpressions", [])] + list(selector.get("matchLabels", {}))
            if key not in used:
                term[field] = [key]
                if key in labels:
                    selector.setdefault("matchExpressions", []).append({"key": key, "operator": op, "values": [labels[key]]})
        return term

    def pod_affinity(self, labels):
        found = {}
        if self.chance(0.5):
            found["requiredDuringSchedulingIgnoredDuringExecution"] = [self.affinity_term(labels) for _ in range(self.pick([1, 1, 2]))]
        if self.chance(0.6):
            found["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": self.pick([1, 5, 50, 100]), "podAffinityTerm": self.affinity_term(labels)} for _ in range(self.pick([1, 2, 3]))]
        return found

    def spread(self):
        constraints, seen = [], set()
        for _ in range(self.pick([1, 1, 2, 3])):
            key, when = self.pick([HOST, ZONE, ZONE, REGION, "disk"]), self.pick(["DoNotSchedule", "ScheduleAnyway"])
            if (key, when) in seen:
                continue
            seen.add((key, when))
            constraint = {"maxSkew": self.pick([1, 1, 2, 3, 5]), "topologyKey": key, "whenUnsatisfiable": when}
            selector = self.selector()
            if selector is not None:
                constraint["labelSelector"] = selector
                if self.chance(0.25):
                    constraint["matchLabelKeys"] = self.pick([["version"], ["tier"], ["version", "tier"], ["absent"]])
            if when == "DoNotSchedule" and self.chance(0.35):
                constraint["minDomains"] = self.pick([1, 2, 3, 5])
            if self.chance(0.3):
                constraint["nodeAffinityPolicy"] = self.pick(["Honor", "Ignore"])
            if self.chance(0.3):
                constraint["nodeTaintsPolicy"] = self.pick(["Honor", "Ignore"])
            constraints.append(constraint)
        return constraints

    def pod(self, name, namespace):
        self.uid += 1
        labels = self.pod_labels()
        meta = {"name": name, "namespace": namespace, "uid": f"u{self.uid}", "labels": labels}
        spec = {"containers": [self.container(i) for i in range(self.pick([1, 1, 1, 2, 3]))]}
        if self.chance(0.15):
            meta.pop("labels")
            labels = {}
        if self.chance(0.25):
            spec["initContainers"] = [self.container(i, True) for i in range(self.pick([1, 2, 3]))]
        if self.on("resources", 0.15, 0.02):
            spec["overhead"] = {"cpu": self.cpu(self.pick([0, 100])), "memory": self.memory(64 * MI)}
            for key in self.r.sample(["cpu", "memory"], self.pick([0, 0, 1])):
                del spec["overhead"][key]
        if self.on("resources", 0.15, 0.02):
            self.add_pod_level(spec)
        if self.chance(0.1) or self.on("ports", 0.2, 0):
            spec["hostNetwork"] = True
        if self.on("features", 0.4, 0.01):
            if self.chance(0.5):
                spec["hostNetwork"], spec["hostUsers"] = True, self.chance(0.3)
            else:
                spec["containers"][0]["restartPolicyRules"] = [{"action": self.pick(["Restart", "RestartAllContainers"])}]
                spec["containers"][0]["restartPolicy"] = "Never"
        if self.on("taints", 0.6):
            spec["tolerations"] = [self.toleration() for _ in range(self.pick([1, 2, 3]))]
        if self.on("node_affinity", 0.3):
            spec["nodeSelector"] = self.pick([{"disk": "ssd"}, {ZONE: "z1"}, {"disk": ""}, {"absent": "x"}, {}])
        affinity = {}
        if self.on("node_affinity", 0.7):
            affinity["nodeAffinity"] = self.node_affinity()
        if self.on("affinity", 0.6):
            affinity["podAffinity"] = self.pod_affinity(labels)
        if self.on("affinity", 0.6):
            affinity["podAntiAffinity"] = self.pod_affinity(labels)
        if affinity:
            spec["affinity"] = affinity
        if self.on("spread", 0.8, 0.02):
            spec["topologySpreadConstraints"] = self.spread()
        if self.on("preemption", 0.8, 0.1):
            spec["priority"] = self.pick([-10, 0, 0, 10, 10, 100, 1000, 2000001000])
        if self.on("default_spread", 0.5, 0.05):
            meta["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"rs-{self.pick(APPS)}", "uid": "x",
                                        "controller": True}] if self.chance(0.6) else \
                [{"apiVersion": self.pick(["v1", "apps/v1"]), "kind": self.pick(["ReplicationController", "StatefulSet"]),
                  "name": self.pick(["rc-a", "sts-b"]), "uid": "y", "controller": self.chance(0.9)}]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": {}}

    def add_pod_level(self, spec):
        level = {}
        if self.chance(0.8):
            level["requests"] = {}
            if self.chance(0.7):
                level["requests"]["cpu"] = self.cpu(self.pick([100, 1000, 3000]))
            if self.chance(0.7):
                level["requests"]["memory"] = self.memory(self.pick([256, 2048]) * MI)
        if self.chance(0.4):
            level["limits"] = {"cpu": self.cpu(4000)}
            if self.chance(0.5):
                level["limits"]["memory"] = self.memory(4096 * MI)
            if self.chance(0.1):
                level["limits"][HUGE] = self.pick(["2Mi", "64Mi"])
        spec["resources"] = level

    def node_affinity(self):
        found = {}
        if self.chance(0.6):
            found["requiredDuringSchedulingIgnoredDuringExecution"] = {
                "nodeSelectorTerms": [self.node_term() for _ in range(self.pick([1, 1, 2, 3]))]}
        if self.chance(0.7):
            found["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": self.pick([1, 2, 10, 100]), "preference": self.node_term()} for _ in range(self.pick([1, 2, 3]))]
        return found

    def placed_pod(self, index, nodes):
        pod = self.pod(f"p{index}", self.pick(NAMESPACES))
        pod["spec"]["nodeName"] = self.pick(nodes) if self.chance(0.98) else "gone"
        status = pod["status"]
        status["phase"] = self.pick(["Running"] * 12 + ["Pending", "Succeeded", "Failed"])
        status["startTime"] = f"2026-01-01T00:{self.r.randrange(60):02d}:00Z"
        if self.chance(0.06):
            pod["metadata"]["deletionTimestamp"] = "2026-01-01T01:00:00Z"
            if self.chance(0.5):
                status["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]
        if self.on("resources", 0.08, 0):
            statuses = []
            for container in pod["spec"]["containers"]:
                statuses.append({"name": container["name"], "allocatedResources": {"cpu": self.cpu(self.amount_of_cpu())},
                                 "resources": {"requests": {"cpu": self.cpu(self.amount_of_cpu()),
                                                            "memory": self.memory(self.amount_of_memory())}}})
            status["containerStatuses"] = statuses
            if self.chance(0.5):
                status["initContainerStatuses"] = [
                    {"name": container["name"], **({"resources": {"requests": {"cpu": self.cpu(self.amount_of_cpu())}}} if self.chance(0.8) else {})}
                    for container in pod["spec"].get("initContainers", [])]
            if self.chance(0.4):
                status["resources"] = {"requests": {"cpu": self.cpu(self.amount_of_cpu()), "memory": self.memory(self.amount_of_memory())}}
                if self.chance(0.5):
                    status["allocatedResources"] = {"cpu": self.cpu(self.amount_of_cpu())}
            if self.chance(0.3):
                status["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": self.pick(["Infeasible", "Deferred"])}]
        return pod

    def waiting_pod(self, index, nodes):
        pod = self.pod(f"w{index}", self.pick(NAMESPACES))
        spec = pod["spec"]
        if self.on("preemption", 0.12, 0.02):
            spec["preemptionPolicy"] = self.pick(["Never", "PreemptLowerPriority"])
        if self.chance(0.02):
            spec["schedulingGates"] = [{"name": "wait"}] if self.chance(0.5) else [{"name": "b"}, {"name": "a"}]
        if self.chance(0.01):
            pod["metadata"]["deletionTimestamp"] = "2026-01-01T01:00:00Z"
        if self.chance(0.01):
            pod["status"]["phase"] = self.pick(["Pending", "Failed", "Succeeded"])
        if self.on("nominated", 0.5, 0.01):
            pod["status"]["nominatedNodeName"] = self.pick(nodes + ["gone"])
            spec["priority"] = self.pick([0, 10, 100, 1000])
        if self.on("names", 0.2, 0.005):
            # A pod cannot ask for a node by name and wait for one; it asks by field, as DaemonSets do.
            spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})["requiredDuringSchedulingIgnoredDuringExecution"] = {
                "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [self.pick(nodes + ["gone"])]}]}
                                      for _ in range(self.pick([1, 1, 2]))]}
        return pod

    # -- everything else --------------------------------------------------------------------------------------

    def others(self):
        items = []
        for name in ["default", "web", "batch"]:
            if self.chance(0.9):
                labels = {"team": self.pick(["x", "y"])} if self.chance(0.5) else {}
                items.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        if self.on("default_spread", 0.95, 0.1):
            for app in APPS:
                namespace = self.pick(NAMESPACES)
                if self.chance(0.5):
                    items.append({"apiVersion": "v1", "kind": "Service", "metadata": {"name": f"svc-{app}", "namespace": namespace},
                                  "spec": self.pick([{"selector": {"app": app}}, {"selector": {"app": app, "tier": "front"}}, {"selector": {}}, {}])})
                if self.chance(0.6):
                    items.append({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": f"rs-{app}", "namespace": namespace},
                                  "spec": {"selector": self.selector(0.05, 0.05) or {"matchLabels": {"app": app}}}})
            items.append({"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "rc-a", "namespace": self.pick(NAMESPACES)},
                          "spec": {"selector": {"app": "a"}}})
            items.append({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "sts-b", "namespace": self.pick(NAMESPACES)},
                          "spec": {"selector": {"matchLabels": {"app": "b"}}}})
        if self.on("preemption", 0.9, 0.02):
            for i in range(self.pick([1, 2, 3])):
                spec = {}
                selector = self.selector()
                if selector is not None:
                    spec["selector"] = selector
                status = {"disruptionsAllowed": self.pick([0, 0, 0, 1, 2])}
                if self.chance(0.2):
                    status["disruptedPods"] = {f"p{self.r.randrange(8)}": "2026-01-01T00:00:00Z"}
                items.append({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                              "metadata": {"name": f"pdb-{i}", "namespace": self.pick(NAMESPACES)}, "spec": spec, "status": status})
        return items

    def case(self):
        count = self.pick([1, 2, 3, 3, 4, 5, 6, 8, 10, 12])
        if self.chance(0.02):
            count = self.r.randint(20, 50)
        nodes = [f"n{i}" for i in range(count)]
        items = [self.node(name) for name in nodes]
        placed = [self.placed_pod(i, nodes) for i in range(self.r.randrange(0, 3 * len(nodes) + 2))]
        free_shared_ports(placed)
        waiting = [self.waiting_pod(i, nodes) for i in range(self.pick([1, 1, 1, 2, 3]))]
        if "preemption" in self.themes and self.chance(0.8):
            self.make_tight(waiting)
            if self.chance(0.6):
                self.crowd(items, placed)
        volumes = []
        if "volumes" in self.themes:
            import volume_cases
            volumes = volume_cases.add(self, items, placed, waiting)
        items += placed + waiting + self.others() + volumes
        if self.chance(0.5):
            self.r.shuffle(items)
        case = {"id": self.number, "items": items}
        if "config" in self.themes:
            import config_cases
            case["config"] = config_cases.make(self)
            for pod in waiting:
                pod["spec"]["schedulerName"] = self.pick(case["config"]["profiles"])["schedulerName"]
        return case

    def crowd(self, items, placed):
        """Nodes that are full of pods, most of which may go."""
        for node in items:
            node["spec"] = {}
            node["status"].update(allocatable={"cpu": self.cpu(4000), "memory": "8Gi", "pods": "110"}, capacity={})
        for i, pod in enumerate(placed):
            pod["spec"] = {"nodeName": items[i % len(items)]["metadata"]["name"], "priority": self.pick([-10, 0, 0, 10, 10, 10, 100]),
                           "containers": [{"name": "c0", "image": "img-0", "resources": {"requests": {"cpu": self.cpu(self.pick([500, 1000, 2000, 2000])),
                                                                                                     "memory": "64Mi"}}}]}
            pod["status"].pop("containerStatuses", None)

    def make_tight(self, waiting):
        """Pods that ask for most of a node, so that others have to make room."""
        for pod in waiting:
            if self.chance(0.7):  # nothing else in the way
                for field in ("affinity", "nodeSelector", "topologySpreadConstraints", "resources", "overhead", "initContainers"):
                    pod["spec"].pop(field, None)
                pod["spec"]["containers"] = pod["spec"]["containers"][:1]
                pod["spec"]["tolerations"] = [{"operator": "Exists"}]
            pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": self.cpu(self.pick([900, 1900, 3500])),
                                                                      "memory": self.memory(self.pick([400, 900, 1800]) * MI)}}
            pod["spec"]["priority"] = self.pick([100, 1000, 2000001000])


def free_shared_ports(placed):
    """No node runs two pods on one host port; kube-scheduler would give the port away when either is preempted."""
    used = set()
    for pod in placed:
        network = pod["spec"].get("hostNetwork", False)
        for container in pod["spec"]["containers"] + pod["spec"].get("initContainers", []):
            kept = []
            for port in container.get("ports", []):
                number = port["hostPort"] or (port["containerPort"] if network else 0)
                key = (pod["spec"]["nodeName"], number, port.get("protocol", "TCP"), port.get("hostIP", "0.0.0.0"))
                if number == 0 or key not in used:
                    kept.append(port)
                used.add(key)
            if "ports" in container:
                container["ports"] = kept


def make_case(seed, number):
    return CaseMaker(seed, number).case()
