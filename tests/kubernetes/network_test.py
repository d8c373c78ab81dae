#!/usr/bin/env python3
"""AppGroups and NetworkTopologies on a real control plane: their CRDs, Diktyo's manifests and ours, and the controllers
with no more rights than deploy/network.yaml gives them.

  network_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set
"""
import json
import subprocess
import unittest
import urllib.request

import lab
import objects
from lab import LabTest, control_plane, must

GROUPS = "/apis/appgroup.diktyo.x-k8s.io/v1alpha1/namespaces/{ns}/appgroups"
TOPOLOGIES = "/apis/networktopology.diktyo.x-k8s.io/v1alpha1/namespaces/{ns}/networktopologies"
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
GROUP, WORKLOAD = "appgroup.diktyo.x-k8s.io", "appgroup.diktyo.x-k8s.io.workload"
# Upstream's own manifests, where somebody put them beside this tree.
UPSTREAM = next((place for place in (lab.ROOT.parent / "shared", lab.ROOT.parent.parent / "shared")
                 if (place / "data/apps/diktyo").is_dir()), lab.ROOT) / "data/apps/diktyo"


def install():
    """What a user applies, but for the Deployment; and the account's kubeconfig."""
    rights = lab.plane.folder / "controllers-rights.yaml"
    rights.write_text("---\n".join(one for one in (lab.ROOT / "deploy/network.yaml").read_text().split("---\n")
                                   if "kind: Deployment" not in one))
    lab.kubectl("apply", "-f", lab.ROOT / "deploy/crds/appgroup.yaml", "-f", lab.ROOT / "deploy/crds/networktopology.yaml",
                "-f", rights)
    for kind in ("appgroups.appgroup.diktyo.x-k8s.io", "networktopologies.networktopology.diktyo.x-k8s.io"):
        lab.kubectl("wait", "--for=condition=Established", f"crd/{kind}")
    token = must(201, "POST", "/api/v1/namespaces/kube-system/serviceaccounts/evenkeel-controllers/token",
                 {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    (lab.plane.folder / "controllers.token").write_text(token["status"]["token"])
    user = f"users: [{{name: admin, user: {{tokenFile: {lab.plane.folder}/controllers.token}}}}]"
    text = [user if line.startswith("users:") else line for line in lab.plane.kubeconfig.read_text().splitlines()]
    (lab.plane.folder / "controllers.kubeconfig").write_text("\n".join(text) + "\n")


class Controllers(lab.Scheduler):
    """A process of the controllers under test."""

    def __init__(self, *flags):
        super().__init__(genuine=False, config=lab.plane.folder / "unused")
        self.log = lab.plane.logs / f"controllers-{next(lab.numbers)}.log"
        self.port, = control_plane.free_ports(1)
        self.flags = [f"--kubeconfig={lab.plane.folder}/controllers.kubeconfig", f"--listen=127.0.0.1:{self.port}", *flags]

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([lab.EVENKEEL, "controllers", *self.flags], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, preexec_fn=control_plane.end_with_parent)
        return self

    def metric(self, name):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as answer:
                for line in answer.read().decode().splitlines():
                    if line.startswith(name + " "):
                        return float(line.split()[-1])
        except OSError:
            pass
        return None


def group(name="shop", algorithm="KahnSort", edges=(("web", "db"),), bandwidth="100M"):
    selectors = list(dict.fromkeys(one for edge in edges for one in edge))

    def reference(selector):
        return {"kind": "Deployment", "name": f"{selector}-deployment", "selector": selector}
    return {"apiVersion": "appgroup.diktyo.x-k8s.io/v1alpha1", "kind": "AppGroup", "metadata": {"name": name},
            "spec": {"numMembers": len(selectors), "topologySortingAlgorithm": algorithm, "workloads": [
                {"workload": reference(one), "dependencies": [
                    {"workload": reference(to), "minBandwidth": bandwidth} for start, to in edges if start == one]}
                for one in selectors]}}


def topology(capacity="1G", name="nt", config_map="netperf-metrics"):
    def level(key, origin, destination, cost):
        return {"topologyKey": key, "originList": [{"origin": origin, "costList": [
            {"destination": destination, "networkCost": cost, "bandwidthCapacity": capacity}]}]}
    return {"apiVersion": "networktopology.diktyo.x-k8s.io/v1alpha1", "kind": "NetworkTopology", "metadata": {"name": name},
            "spec": {"configmapName": config_map, "weights": [{"name": "UserDefined", "topologyList": [
                level(ZONE, "z1", "z2", 5), level(REGION, "west", "east", 20)]}]}}


class NetworkTest(LabTest):
    wants_scheduler = False

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        install()

    def clear(self):
        for path in (GROUPS, TOPOLOGIES):
            lab.plane.api("DELETE", path.format(ns=self.ns))
        super().clear()

    def run_controllers(self, *flags):
        made = Controllers(*flags).start()
        self.schedulers.append(made)
        self.addCleanup(made.stop)
        return made

    def apply(self, text, *flags):
        file = lab.plane.folder / f"apply-{next(lab.numbers)}.yaml"
        file.write_text(text)
        return lab.kubectl("-n", self.ns, "apply", *flags, "-f", file)

    def group(self, name="shop"):
        return must(200, "GET", f"{GROUPS.format(ns=self.ns)}/{name}")

    def topology(self, name="nt"):
        return must(200, "GET", f"{TOPOLOGIES.format(ns=self.ns)}/{name}")

    def condition(self, thing, kind):
        return next((one for one in thing.get("status", {}).get("conditions", []) if one["type"] == kind), {})

    def costs(self, weights="UserDefined", name="nt"):
        """(key, origin, destination) -> entry."""
        return {(level["topologyKey"], origin["origin"], cost["destination"]): cost
                for one in self.topology(name)["spec"]["weights"] if one["name"] == weights
                for level in one.get("topologyList", []) for origin in level["originList"] for cost in origin["costList"]}

    def allocated(self, key=(ZONE, "z1", "z2")):
        said = self.costs()[key].get("bandwidthAllocated")
        return said and objects.amount(str(said))

    def until_allocated(self, bits):
        self.until(lambda: self.allocated() == bits, f"{bits} bit/s allocated from z1 to z2")

    def add_places(self):
        for name, region, zone in (("a", "west", "z1"), ("b", "west", "z2"), ("c", "east", "z3")):
            self.add_nodes(name, zone=zone, labels={REGION: region}, pods="500")

    def add_deployment(self, name, replicas, node=None, annotations=None):
        body = objects.workload("Deployment", name, replicas, **({"nodeName": f"{self.ns}-{node}"} if node else {}))
        body["spec"]["template"]["metadata"]["labels"].update({GROUP: "shop", WORKLOAD: name})
        body["spec"]["template"]["metadata"]["annotations"] = annotations or {}
        if not node:
            body["spec"]["template"]["spec"]["schedulerName"] = "nobody"
        self.add(body)

    def scale(self, name, replicas):
        self.patch(f"/apis/apps/v1/namespaces/{self.ns}/deployments/{name}", {"spec": {"replicas": replicas}})


class Guide(NetworkTest):
    """docs/network.md's five minutes, on nodes so small that it takes two."""

    def test_services_that_talk_end_up_in_one_zone_and_the_group_knows_that_they_run(self):
        for number in range(8):
            zone = f"z{number % 4 + 1}"
            self.add_nodes(f"n{number}", zone=zone, labels={REGION: "us-west-1" if zone in ("z1", "z2") else "us-east-1"}, cpu="1")
        for file in ("network-topology.yaml", "shop.yaml"):
            lab.kubectl("-n", self.ns, "apply", "-f", lab.ROOT / "deploy/examples" / file)
        self.run_controllers()
        scheduler = lab.Scheduler(flags=["--policy", "network"]).start()
        self.schedulers.append(scheduler)
        self.addCleanup(scheduler.stop)

        def placed():
            pods = must(200, "GET", f"/api/v1/namespaces/{self.ns}/pods")["items"]
            return {pod["metadata"]["labels"]["app"]: pod["spec"].get("nodeName") for pod in pods}
        self.until(lambda: len(placed()) == 4 and all(placed().values()), "all four services have nodes")
        zones = {must(200, "GET", f"/api/v1/nodes/{node}")["metadata"]["labels"][ZONE] for node in placed().values()}
        self.assertEqual(len(zones), 1, placed())
        self.until(lambda: self.group().get("status", {}).get("runningWorkloads") == 4, "four of them run")


class Manifests(NetworkTest):
    def test_our_examples_apply_and_mean_something(self):
        for file in sorted((lab.ROOT / "deploy/examples").glob("*.yaml")):
            said = lab.kubectl("-n", self.ns, "apply", "--validate=strict", "-f", file)
            self.assertNotIn("Warning", said)
        self.run_controllers("--once").process.wait(lab.PATIENCE)
        boutique = self.group("online-boutique")
        order = {one["workload"]["selector"]: one["index"] for one in boutique["status"]["topologyOrder"]}
        self.assertEqual(sorted(order.values()), list(range(1, 12)))
        self.assertEqual(order["frontend"], 11)
        self.assertLess(order["redis-cart"], order["cartservice"])
        self.assertEqual(self.condition(boutique, "TopologySorted")["reason"], "ReverseKahn")
        self.assertEqual(self.condition(self.topology("nt-default"), "CostsMeasured")["reason"], "NoConfigMap")
        self.assertIn("ReverseKahn", lab.kubectl("-n", self.ns, "get", "ag"))
        self.assertIn("netperf-metrics", lab.kubectl("-n", self.ns, "get", "nt"))

    @unittest.skipUnless(UPSTREAM.is_dir(), "upstream's manifests are not here")
    def test_every_manifest_of_upstreams_applies_and_works(self):
        for name in ("appGroup-example", "redis-appGroup-example"):
            self.apply((UPSTREAM / f"{name}.yaml").read_text(), "--validate=strict")
        self.apply((UPSTREAM / "networkTopology-example.yaml").read_text().replace("namespace: default", f"namespace: {self.ns}"),
                   "--validate=strict")
        self.apply((UPSTREAM / "deploy-onlineBoutique-with-networkAware-scheduler.yaml").read_text(), "--dry-run=server")
        # One of them is no YAML: line 79 (78 as published) gives a map a word as well.
        boutique = (UPSTREAM / "onlineBoutique-appGroup-example.yaml").read_text()
        with self.assertRaisesRegex(AssertionError, "yaml: line [0-9]+: mapping values are not allowed"):
            self.apply(boutique)
        self.apply(boutique.replace("- workload: redis-cart\n", "- workload:\n"), "--validate=strict")
        self.run_controllers("--once").process.wait(lab.PATIENCE)
        order = {one["workload"]["selector"]: one["index"] for one in self.group("a1")["status"]["topologyOrder"]}
        self.assertEqual(order, {"P1": 1, "P2": 2, "P3": 3})
        # 26 of its 28 edges go both ways: folded, there is no circle left.
        boutique = self.group("online-boutique")
        self.assertEqual(self.condition(boutique, "TopologySorted")["reason"], "AlternateKahn")
        self.assertEqual(len(boutique["status"]["topologyOrder"]), 11)
        self.assertEqual(self.costs(name="net-topology-test")[(ZONE, "z3", "z4")]["networkCost"], 10)

    def test_the_spelling_of_upstreams_examples_is_taken_and_rewritten(self):
        old = topology()
        spec = old["spec"]
        spec["configMapName"] = spec.pop("configmapName")
        spec["weights"][0]["costList"] = [
            {"topologyKey": level["topologyKey"], "originCosts": [{"origin": one["origin"], "costs": one["costList"]}
                                                                 for one in level["originList"]]}
            for level in spec["weights"][0].pop("topologyList")]
        self.apply(json.dumps(old), "--validate=strict")
        self.run_controllers("--once").process.wait(lab.PATIENCE)
        self.assertEqual(self.topology()["spec"]["configmapName"], "netperf-metrics")
        self.assertNotIn("configMapName", self.topology()["spec"])
        self.assertEqual(self.costs()[(ZONE, "z1", "z2")]["networkCost"], 5)
        # The same file again, with another cost in it.
        self.apply(json.dumps(old).replace('"networkCost": 5', '"networkCost": 6'), "--validate=strict")
        self.run_controllers("--once").process.wait(lab.PATIENCE)
        self.assertEqual(self.costs()[(ZONE, "z1", "z2")]["networkCost"], 6)

    def test_what_is_wrong_is_refused_by_name(self):
        def changed(body, change):
            change(body["spec"])
            return body

        def cost(spec):
            return spec["weights"][0]["topologyList"][0]["originList"][0]["costList"][0]

        def dependency(spec):
            return spec["workloads"][0]["dependencies"][0]
        for path, body, word in (
                (TOPOLOGIES, changed(topology(), lambda spec: spec.pop("configmapName")), "configmapName is required"),
                (TOPOLOGIES, changed(topology(), lambda spec: spec["weights"][0].pop("topologyList")), "topologyList is required"),
                (TOPOLOGIES, changed(topology(), lambda spec: spec["weights"][0]["topologyList"][0].pop("originList")),
                 "originList is required"),
                (TOPOLOGIES, changed(topology(), lambda spec: cost(spec).update(networkCost=-1)), "networkCost"),
                (TOPOLOGIES, changed(topology(), lambda spec: cost(spec).pop("networkCost")), "networkCost"),
                (TOPOLOGIES, changed(topology(), lambda spec: cost(spec).update(bandwidthCapacity="-1G")), "bandwidthCapacity"),
                (TOPOLOGIES, changed(topology(), lambda spec: cost(spec).update(bandwidthCapacity="fast")), "bandwidthCapacity"),
                (GROUPS, changed(group(), lambda spec: spec.update(numMembers=0)), "numMembers"),
                (GROUPS, changed(group(), lambda spec: spec.pop("workloads")), "workloads"),
                (GROUPS, changed(group(), lambda spec: spec.pop("topologySortingAlgorithm")), "topologySortingAlgorithm"),
                (GROUPS, changed(group(), lambda spec: dependency(spec).update(maxNetworkCost=10001)), "maxNetworkCost"),
                (GROUPS, changed(group(), lambda spec: dependency(spec).update(minBandwidth="a lot")), "minBandwidth"),
                (GROUPS, changed(group(), lambda spec: dependency(spec)["workload"].pop("selector")), "selector"),
                (GROUPS, changed(group(), lambda spec: spec["workloads"][0]["workload"].update(selector="no label!")), "selector")):
            code, said = lab.plane.api("POST", path.format(ns=self.ns), body)
            self.assertEqual(code, 422, word)
            self.assertIn(word, said["message"])


class Reconciling(NetworkTest):
    def setUp(self):
        super().setUp()
        self.add_places()

    def add_objects(self, **options):
        must(201, "POST", GROUPS.format(ns=self.ns), group())
        must(201, "POST", TOPOLOGIES.format(ns=self.ns), topology(**options))

    def test_order_running_pods_and_trouble_are_in_the_status(self):
        self.add_objects()
        must(201, "POST", GROUPS.format(ns=self.ns), group("round", "Bogo", (("x", "y"), ("y", "z"), ("z", "x"))))
        self.add_deployment("web", 2, "a")
        self.add_pod("stray", {GROUP: "nowhere", WORKLOAD: "x"}, nodeName=f"{self.ns}-a")
        controllers = self.run_controllers()
        self.until(lambda: self.group().get("status", {}).get("runningWorkloads") == 2, "two running pods")
        shop = self.group()
        self.assertEqual([(one["workload"]["selector"], one["index"]) for one in shop["status"]["topologyOrder"]],
                         [("db", 2), ("web", 1)])
        self.assertIn("scheduleStartTime", shop["status"])
        self.assertEqual(self.condition(shop, "WorkloadsFound")["reason"], "PodsMissing")
        self.add_deployment("db", 1, "a")
        self.until(lambda: self.condition(self.group(), "WorkloadsFound").get("reason") == "AllFound", "every workload")
        circle = self.condition(self.group("round"), "TopologySorted")
        self.assertEqual((circle["status"], circle["reason"]), ("False", "Cyclic"))
        self.assertIn("x -> y -> z -> x", circle["message"])
        self.until(lambda: self.events("round", "Cyclic"), "an Event about the circle")
        self.until(lambda: self.events("stray", "AppGroupNotFound"), "an Event about the pod that belongs nowhere")
        self.scale("web", 1)
        self.until(lambda: self.group()["status"]["runningWorkloads"] == 2, "one of each")
        # What says what it should is not written again.
        self.until(lambda: controllers.metric('evenkeel_controllers_app_groups') == 2, "two groups")
        version = self.group()["metadata"]["resourceVersion"]
        self.add_pod("other", {"app": "other"}, nodeName=f"{self.ns}-a")
        self.until_running(4)
        self.assertEqual(self.group()["metadata"]["resourceVersion"], version)
        self.assertEqual(controllers.stop(), 0)
        self.assertNotIn("forbidden", controllers.log.read_text())

    def test_costs_follow_the_config_map(self):
        self.add_objects()
        key = "netperf.p90.latency.milliseconds.origin.{0}-a.destination.{0}-{1}"
        config_map = {"metadata": {"name": "netperf-metrics"}, "data": {key.format(self.ns, "b"): "7",
                                                                       key.format(self.ns, "c"): "31"}}
        path = f"/api/v1/namespaces/{self.ns}/configmaps"
        controllers = self.run_controllers()
        self.until(lambda: self.condition(self.topology(), "CostsMeasured").get("reason") == "NoConfigMap", "no measurements")
        must(201, "POST", path, config_map)
        self.until(lambda: self.costs("NetperfCosts").get((ZONE, "z1", "z2"), {}).get("networkCost") == 7, "the first costs")
        measured = self.costs("NetperfCosts")
        self.assertEqual(measured[(REGION, "west", "east")]["networkCost"], 31)
        self.assertEqual(measured[(ZONE, "z1", "z2")]["bandwidthCapacity"], "1G")
        self.assertEqual(self.costs()[(ZONE, "z1", "z2")]["networkCost"], 5)
        self.until(lambda: self.topology()["status"]["nodeCount"] == 3, "three nodes")
        self.assertIn("weightCalculationTime", self.topology()["status"])
        micro = f"netperf_p90_latency_microseconds.origin.{self.ns}-a.destination.{self.ns}-b"
        self.patch(f"{path}/netperf-metrics", {"data": {micro: "12400.5"}})
        self.until(lambda: self.costs("NetperfCosts")[(ZONE, "z1", "z2")]["networkCost"] == 12, "the finer measurement")
        must(200, "DELETE", f"{path}/netperf-metrics")
        self.until(lambda: self.condition(self.topology(), "CostsMeasured").get("reason") == "NoConfigMap", "none again")
        self.assertEqual(self.costs("NetperfCosts")[(ZONE, "z1", "z2")]["networkCost"], 12)
        self.assertNotIn("forbidden", controllers.log.read_text())
        # A name that the role does not list is said, not silently taken for nothing.
        self.patch(f"{TOPOLOGIES.format(ns=self.ns)}/nt", {"spec": {"configmapName": "mine"}}, "merge-patch")
        self.until(lambda: "cannot list" in self.condition(self.topology(), "CostsMeasured").get("message", ""), "the missing right")

    def test_what_is_allocated_is_right_after_everything_that_happens_to_pods_and_controllers(self):
        self.add_objects()
        self.add_deployment("web", 2, "a")
        self.add_deployment("db", 1, "b")
        flags = ("--leader-elect", "--lease-namespace=kube-system", "--lease=3s")
        pair = [self.run_controllers(*flags), self.run_controllers(*flags)]
        self.until_allocated(200_000_000)
        self.until(lambda: sorted(one.metric("evenkeel_controllers_leader") or 0 for one in pair) == [0, 1], "one leader")
        self.scale("db", 3)
        self.until_allocated(600_000_000)
        self.scale("web", 1)
        self.until_allocated(300_000_000)
        leader = next(one for one in pair if one.metric("evenkeel_controllers_leader") == 1)
        other = next(one for one in pair if one is not leader)
        leader.kill()
        self.scale("db", 2)
        self.until_allocated(200_000_000)
        self.assertEqual(other.metric("evenkeel_controllers_leader"), 1)
        other.kill()
        self.scale("web", 3)  # while nobody looks
        self.until_running(5)
        self.run_controllers()
        self.until_allocated(600_000_000)
        must(200, "DELETE", f"/apis/apps/v1/namespaces/{self.ns}/deployments/web?propagationPolicy=Background")
        self.until_allocated(0)

    def test_a_dry_run_says_and_writes_nothing(self):
        self.add_objects()
        before = self.topology()
        dry = self.run_controllers("--once", "--dry-run")
        self.assertEqual(dry.process.wait(lab.PATIENCE), 0)
        self.assertIn("would patch AppGroup", dry.log.read_text())
        self.assertIn("would patch NetworkTopology", dry.log.read_text())
        self.assertEqual(self.topology(), before)

    def test_a_link_with_too_much_promised_loses_pods_within_their_budget(self):
        self.add_objects()
        self.add_deployment("web", 3)
        self.add_deployment("db", 1, "b", annotations={"evenkeel.io/move": "never"})
        self.add(objects.budget("web", "web", minAvailable=2))
        self.until(lambda: len(self.pods("app=web")) == 3, "three pods to be placed")
        first = {one["metadata"]["name"] for one in self.pods("app=web")}
        for name in first:  # whoever takes their places waits for ever
            must(201, "POST", f"/api/v1/namespaces/{self.ns}/pods/{name}/binding", {
                "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
                "target": {"apiVersion": "v1", "kind": "Node", "name": f"{self.ns}-a"}})
        self.until_running(4)
        self.until(lambda: must(200, "GET", f"/apis/policy/v1/namespaces/{self.ns}/poddisruptionbudgets/web")["status"].get(
            "disruptionsAllowed") == 1, "a budget of one")
        controllers = self.run_controllers("--evict-constrained", "--evict-every=1s")
        self.until_allocated(300_000_000)
        self.assertEqual(controllers.metric('evenkeel_controllers_evictions_total{result="evicted"}') or 0, 0)
        self.patch(f"{TOPOLOGIES.format(ns=self.ns)}/nt", topology(capacity="150M"), "merge-patch")
        self.until(lambda: self.condition(self.topology(), "BandwidthConstrained").get("status") == "True", "a constrained link")
        self.until_allocated(200_000_000)
        self.until(lambda: (controllers.metric('evenkeel_controllers_evictions_total{result="budget"}') or 0) > 0,
                   "an eviction that the budget forbids")
        left = {one["metadata"]["name"] for one in self.pods("app=web")} & first
        self.assertEqual(len(left), 2)
        must(200, "DELETE", f"/apis/policy/v1/namespaces/{self.ns}/poddisruptionbudgets/web")
        self.until_allocated(100_000_000)  # no more than it takes
        self.until(lambda: self.condition(self.topology(), "BandwidthConstrained").get("status") == "False", "room on the link")
        self.assertEqual(len({one["metadata"]["name"] for one in self.pods("app=web")} & first), 1)
        self.assertEqual(len(self.pods("app=db")), 1)
        self.assertEqual(controllers.metric('evenkeel_controllers_evictions_total{result="evicted"}'), 2)


if __name__ == "__main__":
    lab.main()
