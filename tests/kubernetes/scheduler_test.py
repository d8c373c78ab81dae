#!/usr/bin/env python3
"""What users ask of a scheduler, asked of ours in a real control plane: workloads, rules, and that it says why.

  scheduler_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set
"""
import collections
import unittest

import lab
import objects
from lab import LabTest, kubectl, must
from priority_cases import Priorities  # noqa: F401
from volume_cases import Volumes  # noqa: F401


class Workloads(LabTest):
    def test_a_deployment_runs_on_all_nodes_alike(self):
        self.add_nodes(count=3)
        self.add(objects.workload("Deployment", "web", 12))
        counts = collections.Counter(one["spec"]["nodeName"] for one in self.until_running(12))
        self.assertEqual(sorted(counts.values()), [4, 4, 4])
        self.assert_each_bound_once()
        self.assert_nothing_overcommitted()

    def test_a_stateful_set_comes_up_in_order_and_returns_after_a_deletion(self):
        self.add_nodes(count=2)
        self.add(objects.workload("StatefulSet", "db", 3, {"serviceName": "db"}))
        self.until_running(3)
        before = self.pod("db-1")["metadata"]["uid"]
        must(200, "DELETE", f"/api/v1/namespaces/{self.ns}/pods/db-1?gracePeriodSeconds=0")
        self.until(lambda: [one for one in self.pods() if one["metadata"]["name"] == "db-1"
                            and one["metadata"]["uid"] != before and one["status"].get("phase") == "Running"], "db-1 again")

    def test_a_daemon_set_runs_once_on_every_node_also_on_those_that_come_later(self):
        self.add_nodes("a", "b")
        self.add_nodes("closed", taints=[{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}], ready=False)
        self.add(objects.workload("DaemonSet", "agent"))
        self.until_running(3)
        self.add_nodes("later")
        nodes = sorted(one["spec"]["nodeName"] for one in self.until_running(4))
        self.assertEqual(nodes, sorted(self.nodes))

    def test_a_drained_node_is_emptied_within_the_budget_and_its_pods_land_elsewhere(self):
        drained, *_ = self.add_nodes("a", "b", "c")
        self.add(objects.workload("Deployment", "web", 6))
        self.add(objects.budget("web", "web", maxUnavailable=1))
        self.until_running(6)
        self.until(lambda: must(200, "GET", f"/apis/policy/v1/namespaces/{self.ns}/poddisruptionbudgets/web")
                   .get("status", {}).get("disruptionsAllowed"), "the budget to allow one")
        self.assertIn("drained", kubectl("drain", drained, "--ignore-daemonsets", f"--timeout={lab.PATIENCE}s"))
        counts = collections.Counter(one["spec"]["nodeName"] for one in self.until_running(6))
        self.assertNotIn(drained, counts)
        kubectl("uncordon", drained)
        self.add_pod("after", nodeSelector={"kubernetes.io/hostname": drained})
        self.until_scheduled("after")

    def test_taints_keep_out_and_drive_out_those_that_do_not_tolerate_them(self):
        tainted, = self.add_nodes("tainted", taints=[{"key": "only", "value": "gpu", "effect": "NoSchedule"}])
        self.add_nodes("open")
        self.add_pod("plain")
        self.add_pod("tolerant", tolerations=[{"key": "only", "value": "gpu"}],
                     nodeSelector={"kubernetes.io/hostname": tainted})
        self.assertEqual(self.until_scheduled("plain", "tolerant"), ["open", "tainted"])
        self.add(objects.workload("Deployment", "moving", 2))
        self.until_running(2, "app=moving")
        self.add_nodes("refuge")
        kubectl("taint", "node", f"{self.ns}-open", "broken=yes:NoExecute")
        self.until(lambda: {one["spec"].get("nodeName") for one in self.pods("app=moving")} == {f"{self.ns}-refuge"},
                   "the deployment to move")

    def test_a_gated_pod_waits_for_its_gate(self):
        self.add_nodes("a")
        self.add_pod("gated", schedulingGates=[{"name": "example.com/quota"}])
        self.add_pod("free")
        self.until_scheduled("free")
        self.assertIsNone(self.node_of("gated"))
        self.assertEqual(self.condition("gated").get("reason"), "SchedulingGated")
        self.patch(f"/api/v1/namespaces/{self.ns}/pods/gated", [{"op": "remove", "path": "/spec/schedulingGates"}], "json-patch")
        self.until_scheduled("gated")


class Rules(LabTest):
    def test_zones_stay_level(self):
        for zone in ("x", "y", "z"):
            self.add_nodes(f"{zone}1", f"{zone}2", zone=zone)
        self.add(objects.workload("Deployment", "web", 9, topologySpreadConstraints=[
            {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
             "labelSelector": {"matchLabels": {"app": "web"}}}]))
        zones = collections.Counter(one["spec"]["nodeName"].removeprefix(f"{self.ns}-")[0] for one in self.until_running(9))
        self.assertEqual(zones, {"x": 3, "y": 3, "z": 3})

    def test_pods_that_avoid_each_other_wait_for_another_node(self):
        self.add_nodes(count=2)
        apart = objects.affinity("podAntiAffinity", objects.pod_term("solo", "kubernetes.io/hostname"))
        for name in ("one", "two", "three"):
            self.add_pod(name, {"app": "solo"}, affinity=apart)
        self.until(lambda: sum("nodeName" in one["spec"] for one in self.pods()) == 2, "two to be placed")
        waiting = next(one["metadata"]["name"] for one in self.pods() if "nodeName" not in one["spec"])
        self.until_refused(waiting, "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules")
        self.add_nodes("third")
        self.assertEqual(self.until_scheduled(waiting), ["third"])

    def test_pods_that_belong_together_share_a_zone(self):
        self.add_nodes("x1", "x2", zone="x")
        self.add_nodes("y1", "y2", zone="y")
        self.add_pod("cache", {"app": "cache"}, nodeSelector={"topology.kubernetes.io/zone": "y"})
        near = objects.affinity("podAffinity", objects.pod_term("cache", "topology.kubernetes.io/zone"))
        self.add(objects.workload("Deployment", "web", 4, affinity=near))
        pods = self.until_running(4, "app=web")
        self.assertEqual({one["spec"]["nodeName"].removeprefix(f"{self.ns}-")[0] for one in pods}, {"y"})
        # Nobody it belongs to: it waits until there is somebody.
        self.add_pod("follower", affinity=objects.affinity("podAffinity", objects.pod_term("absent", "kubernetes.io/hostname")))
        self.until_refused("follower", "didn't match pod affinity rules")
        self.add_pod("leader", {"app": "absent"}, nodeName=f"{self.ns}-x1")
        self.assertEqual(self.until_scheduled("follower"), ["x1"])

    def test_node_affinity_ports_and_names_are_honoured(self):
        self.add_nodes("slow", labels={"disk": "hdd"})
        self.add_nodes("fast", labels={"disk": "ssd"})
        self.add_pod("picky", affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [objects.nodes_with("disk", "ssd", "nvme")]}}})
        self.assertEqual(self.until_scheduled("picky"), ["fast"])
        for name in ("first", "second", "third"):
            self.add_pod(name, containers=[objects.container(ports=[{"containerPort": 80, "hostPort": 8080}])])
        self.until(lambda: sum("nodeName" in self.pod(name)["spec"] for name in ("first", "second", "third")) == 2, "two ports")
        waiting = next(name for name in ("first", "second", "third") if not self.node_of(name))
        self.until_refused(waiting, "2 node(s) didn't have free ports for the requested pod ports")


class Reasons(LabTest):
    def test_a_pod_that_fits_nowhere_says_why_and_is_placed_when_a_node_comes(self):
        self.add_nodes("small", cpu="1")
        self.add_nodes("closed", taints=[{"key": "only", "value": "gpu", "effect": "NoSchedule"}])
        self.add_pod("large", cpu="4")
        message = self.until_refused("large").replace("no new claims to deallocate, ", "")  # upstream's DynamicResources
        self.assertEqual(message, "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). preemption: "
                         "0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
        self.assertEqual(self.condition("large")["reason"], "Unschedulable")
        self.until(lambda: self.events("large", "FailedScheduling"), "an event")
        text = kubectl("describe", "pod", "large", "-n", self.ns)
        self.assertRegex(text, r"Warning\s+FailedScheduling\s+\S+\s+evenkeel\s+0/2 nodes are available: 1 Insufficient cpu, ")
        self.assertRegex(text, r"Node:\s+<none>")
        self.assertRegex(text, r"PodScheduled\s+False")
        self.add_nodes("wide", cpu="16")
        self.assertEqual(self.until_scheduled("large"), ["wide"])

    def test_a_placed_pod_shows_its_event_and_condition(self):
        self.add_nodes("a")
        self.add_pod("web")
        self.until_running(1)
        self.until(lambda: self.events("web", "Scheduled"), "an event")
        text = kubectl("describe", "pod", "web", "-n", self.ns)
        self.assertRegex(text, rf"Normal\s+Scheduled\s+\S+\s+evenkeel\s+Successfully assigned {self.ns}/web to {self.ns}-a")
        self.assertEqual(self.condition("web")["status"], "True")
        self.assertEqual(len(self.events("web", "Scheduled")), 1)
        self.assertRegex(kubectl("get", "pods", "-n", self.ns, "-o", "wide"), rf"web\s+1/1\s+Running\s.*{self.ns}-a")

    @unittest.skipIf(lab.REFERENCE, "kube-scheduler honours resource claims")
    def test_a_pod_with_a_resource_claim_stays_pending_and_is_told_which_feature_is_missing(self):
        self.add_nodes("a")
        self.add_pod("gpu", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}],
                     containers=[objects.container(resources={"claims": [{"name": "gpu"}]})])
        self.add_pod("plain")
        self.until_scheduled("plain")
        self.until(lambda: self.events("gpu", "FailedScheduling"), "an event")
        self.assertRegex(self.events("gpu", "FailedScheduling")[0]["message"], "(?i)resource ?claims?")
        self.assertIsNone(self.node_of("gpu"))

    def test_room_that_is_given_up_is_used_at_once(self):
        self.add_nodes("a", cpu="1")
        self.add_pod("tenant", cpu="800m")
        self.until_scheduled("tenant")
        self.add_pod("next", cpu="800m")
        self.until_refused("next", "0/1 nodes are available: 1 Insufficient cpu")
        must(200, "DELETE", f"/api/v1/namespaces/{self.ns}/pods/tenant?gracePeriodSeconds=0")
        self.until_scheduled("next")
        self.assert_nothing_overcommitted()

    def test_a_node_that_changes_is_looked_at_again(self):
        node, = self.add_nodes("a", labels={"disk": "hdd"})
        self.add_pod("picky", nodeSelector={"disk": "ssd"})
        self.until_refused("picky", "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector")
        kubectl("label", "node", node, "disk=ssd", "--overwrite")
        self.until_scheduled("picky")


class Odd(LabTest):
    """Large and strange objects, all accepted by the API: they stop nobody."""

    def test_huge_and_strange_objects_stop_nobody(self):
        self.add_nodes("odd", labels={f"example.com/{'k' * 50}-{i}": "v" * 63 for i in range(1000)})
        self.add_nodes("a")
        self.add_pod("annotated", annotations={"example.com/blob": "x" * 200_000})
        self.add_pod("labelled", labels={f"example.com/{'k' * 55}-{i}": "v" * 63 for i in range(10_000)})
        self.add_pod("unicode", annotations={"example.com/odd": "\u2028 \ud83d\ude80 \x01 \" \\ \u0000" * 50})
        self.add_pod("empty-terms", affinity={
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {}}]},
            "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 100, "podAffinityTerm": {"topologyKey": "no-such-label", "labelSelector": {}}}]}})
        self.add_pod("nothing", containers=[{"name": "main", "image": "none"}])
        self.add_pod("many-terms", affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [objects.nodes_with("kubernetes.io/hostname", f"{self.ns}-a", *(f"h{i}" for i in range(500)))] +
            [objects.nodes_with(f"example.com/k{i}", "v") for i in range(500)]}}})
        self.add_pod("tolerant", tolerations=[{"key": f"example.com/t{i}", "operator": "Exists"} for i in range(900)])
        self.add_pod("too-large", cpu="1000000", memory="4Ei")
        self.add_pod("absurd", cpu="9223372036854775807", memory="9223372036854775807")
        self.add_pod("exact", cpu="0.1", memory="134217728000m")
        self.add_pod("other-case", nodeSelector={"kubernetes.io/os": "LINUX"})
        # Owners that own each other, and one that never was.
        for name, owner in (("ring-1", "ring-2"), ("ring-2", "ring-1")):
            body = objects.pod(name)
            body["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Node", "name": f"{self.ns}-a", "uid": must(
                200, "GET", f"/api/v1/nodes/{self.ns}-a")["metadata"]["uid"], "controller": True}]
            body["metadata"]["annotations"] = {"owner": owner}
            self.add(body)
        self.add(objects.workload("Deployment", "plain", 10))
        self.until_running(10, "app=plain")
        self.until_scheduled("annotated", "labelled", "unicode", "empty-terms", "nothing", "many-terms", "tolerant", "exact",
                             "ring-1", "ring-2")
        self.until_refused("too-large", "0/2 nodes are available", "Insufficient memory")
        self.until_refused("other-case", "0/2 nodes are available")
        self.assertIsNone(self.node_of("absurd"))


if __name__ == "__main__":
    lab.main()
