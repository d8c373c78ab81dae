#!/usr/bin/env python3
"""Reads the same KubeSchedulerConfigurations with kube-scheduler's own code and with ours: files as people have them
(configurations/*.yaml), and generated ones, of which some are wrong. Both must refuse the same ones, and make the same
of the others: what runs at each point, in which order, with which weights and arguments. Besides, docs/compatibility.md is
held against the fields of kube-scheduler's PodSpec.

  tests/conformance/configurations.py build/release/configuration_probe [--cases 1000] [--seed 1] [--judge PATH]
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
API = "kubescheduler.config.k8s.io/v1"
PLUGINS = ["SchedulingGates", "PrioritySort", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
           "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread",
           "InterPodAffinity", "DefaultPreemption", "NodeResourcesBalancedAllocation", "ImageLocality", "DefaultBinder",
           "NodeDeclaredFeatures"]
SCORERS = ["TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding", "PodTopologySpread", "InterPodAffinity",
           "NodeResourcesBalancedAllocation", "ImageLocality"]
PRE_FILTERS = ["NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone",
               "PodTopologySpread", "InterPodAffinity", "NodeDeclaredFeatures"]
FILTERS = PLUGINS[2:14] + ["NodeDeclaredFeatures"]


class Maker:
    def __init__(self, seed, number):
        self.r = random.Random(f"configuration {seed}/{number}")

    def chance(self, p):
        return self.r.random() < p

    def pick(self, values):
        return self.r.choice(values)

    def some(self, values, most=4):
        return self.r.sample(values, self.r.randint(0, min(most, len(values))))

    def odd(self, usual, odd, p=0.03):
        """What is usual, and now and then what is wrong or on the edge."""
        return self.pick(odd) if self.chance(p) else self.pick(usual)

    def plugin_set(self, known, weighted):
        found = {}
        if self.chance(0.7):
            found["enabled"] = [{"name": name, **({"weight": self.odd([0, 1, 2, 5, 100], [-1, 2147483647])} if weighted and self.chance(0.6) else {})}
                                for name in self.some(known)]
            if self.chance(0.03):
                found["enabled"].append({"name": self.pick(known + ["NoSuchPlugin", ""])})
        if self.chance(0.6):
            found["disabled"] = [{"name": "*"}] if self.chance(0.2) else [{"name": name} for name in self.some(known)]
        return found

    def plugins(self):
        found = {}
        if self.chance(0.4):
            found["multiPoint"] = self.plugin_set(PLUGINS, True)
        if self.chance(0.5):
            found["score"] = self.plugin_set(SCORERS, True)
        if self.chance(0.3):
            found["filter"] = self.plugin_set(FILTERS, False)
        if self.chance(0.1):
            found["preFilter"] = self.plugin_set(PRE_FILTERS, False)
        if self.chance(0.1):
            found["postFilter"] = self.plugin_set(["DefaultPreemption"], False)
        if self.chance(0.05):
            found["queueSort"] = self.plugin_set(["PrioritySort"], False)
        if self.chance(0.05):
            found["bind"] = self.plugin_set(["DefaultBinder"], False)
        if self.chance(0.02):
            found[self.pick(["reserve", "permit", "scores", "preBind"])] = {}
        return found

    def resources(self, weights):
        return [{"name": name, **({"weight": self.odd(weights, [-1, 0, 101])} if self.chance(0.8) else {})}
                for name in self.some(["cpu", "memory", "ephemeral-storage", "example.com/gpu"])]

    def shape(self):
        points = [{"utilization": u, "score": self.odd(range(0, 11), [-1, 11])} for u in sorted(self.r.sample(range(0, 101), self.r.randint(1, 4)))]
        if self.chance(0.05):
            points = self.pick([points[::-1], [], [{"utilization": 101, "score": 1}]])
        return points

    def fit(self):
        args = {}
        if self.chance(0.8):
            strategy = args["scoringStrategy"] = {"type": self.odd(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"], ["Worst", ""])}
            if self.chance(0.8):
                strategy["resources"] = self.resources([1, 1, 3, 100])
            if strategy["type"] == "RequestedToCapacityRatio" or self.chance(0.03):
                strategy["requestedToCapacityRatio"] = {"shape": self.shape()}
                if self.chance(0.03):
                    del strategy["requestedToCapacityRatio"]
        if self.chance(0.3):
            args["ignoredResources"] = self.odd([["example.com/gpu"], ["a.b/c", "cpu"]], [["a b"], ["/x"], [""], ["example.com/a/b"]], 0.1)
        if self.chance(0.3):
            args["ignoredResourceGroups"] = self.odd([["example.com"], ["a.b"]], [["example.com/gpu"], ["-a"]], 0.1)
        return args

    def spread(self):
        args = {}
        if self.chance(0.7):
            args["defaultConstraints"] = [
                {"maxSkew": self.odd([1, 2, 5], [0, -1]), "topologyKey": self.odd(["topology.kubernetes.io/zone", "kubernetes.io/hostname"], ["", "a b"]),
                 "whenUnsatisfiable": self.odd(["DoNotSchedule", "ScheduleAnyway"], ["", "Never"])} for _ in range(self.pick([1, 1, 1, 2, 0]))]
            if args["defaultConstraints"] and self.chance(0.03):
                args["defaultConstraints"][0]["labelSelector"] = {}
        if self.chance(0.7):
            args["defaultingType"] = self.odd(["List", "List", "List", "System"], ["Both", ""])
        return args

    def arguments(self, plugin):
        if plugin == "NodeResourcesFit":
            return self.fit()
        if plugin == "NodeResourcesBalancedAllocation":
            return {"resources": self.resources([1])} if self.chance(0.9) else {}
        if plugin == "PodTopologySpread":
            return self.spread()
        if plugin == "InterPodAffinity":
            return {**({"hardPodAffinityWeight": self.odd([0, 1, 50, 100], [-1, 101])} if self.chance(0.8) else {}),
                    **({"ignorePreferredTermsOfExistingPods": self.chance(0.5)} if self.chance(0.5) else {})}
        if plugin == "DefaultPreemption":
            return {**({"minCandidateNodesPercentage": self.odd([0, 10, 100], [-1, 101])} if self.chance(0.8) else {}),
                    **({"minCandidateNodesAbsolute": self.odd([0, 1, 100, 5000], [-1])} if self.chance(0.8) else {})}
        if plugin == "VolumeBinding":
            return {**({"bindTimeoutSeconds": self.odd([0, 1, 600, 100000], [-1])} if self.chance(0.8) else {}),
                    **({"shape": self.shape()} if self.chance(0.05) else {})}
        return {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "x", "operator": self.odd(["In", "NotIn"], ["Exists", "Near"]), "values": self.odd([["a"], ["a", "b"]], [[]])}]}]}}} \
            if self.chance(0.8) else {}

    def plugin_config(self):
        found = []
        for plugin in self.some(["NodeResourcesFit", "NodeResourcesBalancedAllocation", "PodTopologySpread", "InterPodAffinity",
                                 "DefaultPreemption", "VolumeBinding", "NodeAffinity"], 3):
            args = self.arguments(plugin)
            if self.chance(0.6):
                args = {"apiVersion": API, "kind": plugin + "Args", **args}
            if self.chance(0.02):
                args["kind"] = self.pick(["NodeResourcesFitArgs", "OtherArgs"])
            if self.chance(0.02):
                args["unknown"] = 1
            found.append({"name": plugin, "args": args})
        if found and self.chance(0.02):
            found.append(dict(found[0]))
        return found

    def profile(self, name):
        found = {"schedulerName": name}
        if self.chance(0.6):
            found["plugins"] = self.plugins()
        if self.chance(0.7):
            found["pluginConfig"] = self.plugin_config()
        if self.chance(0.2):
            found["percentageOfNodesToScore"] = self.odd([0, 1, 50, 100], [-1, 101])
        if self.chance(0.03):
            found.pop("schedulerName")
        return found

    def configuration(self):
        found = {"apiVersion": self.odd([API], ["kubescheduler.config.k8s.io/v1beta3", "v1"], 0.01),
                 "kind": self.odd(["KubeSchedulerConfiguration"], ["Pod"], 0.01)}
        for field, usual, odd in [("parallelism", [1, 16, 64], [0, -1, "16", 1.5]), ("percentageOfNodesToScore", [0, 5, 100], [101, -1]),
                                  ("podInitialBackoffSeconds", [1, 2], [0, -1]), ("podMaxBackoffSeconds", [10, 60], [0, 1]),
                                  ("enableProfiling", [True, False], ["yes"]), ("enableContentionProfiling", [True, False], [1]),
                                  ("delayCacheUntilActive", [True, False], ["no"]), ("extenders", [[]], [None])]:
            if self.chance(0.2):
                found[field] = self.odd(usual, odd)
        if self.chance(0.4):
            found["leaderElection"] = {key: value for key, value in {
                "leaderElect": self.chance(0.7), "leaseDuration": self.odd(["15s", "1m0s", "30s", "1m", "137s", "12500ms"], ["5s", "x", "-1s", 15]),
                "renewDeadline": self.odd(["10s", "5s"], ["20s", "0s"]), "retryPeriod": self.odd(["2s", "1s", "500ms"], ["30s", "0s"]),
                "resourceLock": self.odd(["leases"], ["endpoints", "configmaps"]), "resourceName": self.odd(["mine"], [""]),
                "resourceNamespace": self.odd(["kube-system", "x"], [""])}.items() if self.chance(0.6)}
        if self.chance(0.4):
            found["clientConnection"] = {key: value for key, value in {
                "kubeconfig": "/etc/k", "qps": self.odd([0, 50, 100, 12.5, -1], ["many"]), "burst": self.odd([0, 100, 200], [-1, "x"]),
                "contentType": "application/json", "acceptContentTypes": ""}.items() if self.chance(0.6)}
        if self.chance(0.9):
            found["profiles"] = [self.profile(name) for name in self.pick([["default-scheduler"], ["a"], ["a", "b"], ["a", "b", "default-scheduler"]])]
            if self.chance(0.02):
                found["profiles"] += found["profiles"][:1]
        if self.chance(0.02):
            found[self.pick(["healthzBindAddress", "metricsBindAddress", "algorithmSource", "Profiles"])] = "x"
        return found


def answers(command, lines):
    done = subprocess.run(command, input="".join(json.dumps(line) + "\n" for line in lines), capture_output=True, text=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if len(found) != len(lines):
        sys.exit(f"{command[0]} ended after {len(found)} of {len(lines)}: {done.stderr[-500:]}")
    return found


def plain(configuration):
    """Left out, percentageOfNodesToScore is 0 for kube-scheduler, and for us every node."""
    if configuration["percentageOfNodesToScore"] is None:
        configuration["percentageOfNodesToScore"] = 0
    return configuration


def difference(ours, theirs):
    if ("error" in ours) != ("error" in theirs):
        return f"ours: {ours.get('error', 'accepted')}\ntheirs: {theirs.get('error', 'accepted')}"
    if "error" in ours:
        return None
    a, b = plain(ours["configuration"]), plain(theirs["configuration"])
    for key in a:
        if key != "profiles" and a[key] != b[key]:
            return f"{key}: ours {a[key]}, theirs {b[key]}"
    for mine, other in zip(a["profiles"], b["profiles"]):
        for key in mine:
            # An argument kept by a plugin that is nowhere enabled is nowhere in force.
            if mine[key] != other.get(key, mine[key]):
                return f"profile {mine['schedulerName']}: {key}: ours {mine[key]}, theirs {other[key]}"
    return None


def undocumented(judge):
    """Fields of a PodSpec that docs/compatibility.md says nothing about."""
    page = (HERE / "../../docs/compatibility.md").read_text()
    words = set(re.findall(r"[A-Za-z]+", " ".join(re.findall(r"`([^`]+)`", page))))
    return [field for field in answers([judge], [{"podSpecFields": True}])[0]["podSpecFields"] if field not in words]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("probe")
    parser.add_argument("--judge")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep-going", action="store_true")
    arguments = parser.parse_args()
    if not arguments.judge:
        arguments.judge = subprocess.run([HERE / "build_judge"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    if missing := undocumented(arguments.judge):
        print(f"docs/compatibility.md says nothing of {', '.join(missing)}")
        return 1
    texts = {path.name: path.read_text() for path in sorted((HERE / "configurations").glob("*.yaml"))}
    for number in range(arguments.cases):
        texts[f"case {number} of seed {arguments.seed}"] = json.dumps(Maker(arguments.seed, number).configuration())
    lines = [{"describe": text} for text in texts.values()]
    ours, theirs = answers([arguments.probe], lines), answers([arguments.judge], lines)
    wrong = refused = 0
    for name, line, mine, other in zip(texts, lines, ours, theirs):
        refused += "error" in other
        found = difference(mine, other)
        if "error" in other and name.endswith(".yaml"):
            found = f"{name} should be accepted: {other['error']}"
        if not found:
            continue
        wrong += 1
        print(f"{name} differs\n{found}\n{line['describe'] if wrong < 4 else ''}\n")
        if not arguments.keep_going:
            return 1
    print(f"{len(lines)} configurations, {refused} of them refused by both, {wrong} differences")
    return 1 if wrong else 0


sys.exit(main())
