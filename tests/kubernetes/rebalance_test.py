#!/usr/bin/env python3
"""Moves on a real control plane, by `evenkeel rebalance` from outside and by the scheduler itself: what is moved, what never,
within which budget, and what becomes of a move whose scheduler is killed half-way.

  rebalance_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set
"""
import datetime
import json
import signal
import subprocess
import time
import unittest
import urllib.request

import lab
import metrics_lab
import objects
from lab import LabTest, control_plane

LOOKS = 20  # seconds, in which the rebalancer looks four times


class Rebalancing(LabTest):
    def rebalance(self, *arguments):
        done = subprocess.run([lab.EVENKEEL, "rebalance", "--kubeconfig", str(lab.plane.kubeconfig), "-o", "json", *arguments],
                              capture_output=True, text=True, timeout=lab.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stderr
        return json.loads(done.stdout)


class Moves(Rebalancing):
    """Pods are put on one node while the other does not exist yet; then there is somewhere to go."""

    def lopsided(self, *bodies):
        """These workloads on one node, and an empty one beside it."""
        self.add_nodes("full", cpu="8", memory="16Gi")
        count = 0
        for body in bodies:
            self.add(body)
            count += body["spec"].get("replicas", 1) if body["kind"] != "Pod" else 1
        self.until_running(count)
        self.add_nodes("empty", cpu="8", memory="16Gi")

    def names(self):
        return {one["metadata"]["name"] for one in self.pods()}

    def test_moves_what_helps_within_its_budget(self):
        self.lopsided(*(objects.workload("Deployment", f"web{i}", 2, cpu="800m", memory="1Gi") for i in range(4)))
        before = self.names()
        report = self.rebalance("--budget", "2/hour")
        self.assertEqual([one["outcome"] for one in report["moves"]], ["moved", "moved"], report)
        self.assertLess(report["imbalance"]["after"], report["imbalance"]["before"])
        self.until_running(8)
        self.assertEqual(len(before - self.names()), 2, "two pods went, no more")
        self.assertEqual({one["landed"] for one in report["moves"]}, {f"{self.ns}-empty"})

    def test_a_dry_run_proposes_and_writes_nothing(self):
        self.lopsided(*(objects.workload("Deployment", f"web{i}", 2, cpu="800m", memory="1Gi") for i in range(4)))
        before = {one["metadata"]["uid"] for one in self.pods()}
        report = self.rebalance("--budget", "3/hour", "--dry-run")
        self.assertEqual([one["outcome"] for one in report["moves"]], ["proposed"] * 3, report)
        self.assertLess(report["imbalance"]["after"], report["imbalance"]["before"])
        self.assertEqual({one["metadata"]["uid"] for one in self.pods()}, before)

    def test_lets_those_be_who_must_stay(self):
        scratch = [{"name": "scratch", "emptyDir": {}}]
        host = [{"name": "files", "hostPath": {"path": "/tmp"}}]
        noted = objects.workload("Deployment", "noted", 2, cpu="500m", memory="512Mi")
        noted["spec"]["template"]["metadata"]["annotations"] = {"evenkeel.io/move": "never"}
        unsafe = objects.workload("Deployment", "unsafe", 2, cpu="500m", memory="512Mi")
        unsafe["spec"]["template"]["metadata"]["annotations"] = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
        self.lopsided(noted, unsafe,
                      objects.pod("bare", cpu="500m", memory="512Mi"),
                      objects.workload("Deployment", "single", 1, cpu="500m", memory="512Mi"),
                      objects.workload("Deployment", "scratch", 2, cpu="500m", memory="512Mi", volumes=scratch),
                      objects.workload("Deployment", "host", 2, cpu="500m", memory="512Mi", volumes=host))
        self.assertEqual(self.rebalance("--budget", "10/hour")["moves"], [])
        moved = self.rebalance("--budget", "10/hour", "--dry-run", "--local-storage")["moves"]
        self.assertTrue(moved)
        self.assertEqual({one["pod"].split("/")[1].split("-")[0] for one in moved}, {"scratch"})

    def test_heeds_disruption_budgets(self):
        self.lopsided(objects.workload("Deployment", "kept", 4, cpu="1", memory="1Gi"))
        self.add(objects.budget("kept", "kept", minAvailable=4))
        budget = f"/apis/policy/v1/namespaces/{self.ns}/poddisruptionbudgets/kept"
        self.until(lambda: lab.must(200, "GET", budget).get("status", {}).get("currentHealthy") == 4, "the budget's status")
        before = self.names()
        self.assertEqual(self.rebalance("--budget", "10/hour")["moves"], [])
        self.assertEqual(self.names(), before)
        self.patch(budget, {"spec": {"minAvailable": 3}})
        self.until(lambda: lab.must(200, "GET", budget)["status"]["disruptionsAllowed"] == 1, "room for one")
        self.assertEqual([one["outcome"] for one in self.rebalance("--budget", "10/hour")["moves"]], ["moved"],
                         "one, then the workload cools down")


@unittest.skipIf(lab.REFERENCE, "kube-scheduler does not look at load")
@metrics_lab.needed
class MovesByLiveUsage(metrics_lab.Measured, Rebalancing):
    """Two nodes of which the same is requested, and one does all the work."""

    def test_goes_by_what_nodes_use_and_by_requests_where_nobody_tells(self):
        self.measure("busy", "idle", cores=lambda pod: 1.4 if pod["metadata"]["labels"]["app"] == "hot" else 0.05)
        self.run_scheduler(flags=self.usage_flags(), profiles=[{
            "schedulerName": "evenkeel", "plugins": {"score": {"enabled": [{"name": "Evenkeel", "weight": 100}]}},
            "pluginConfig": [{"name": "Evenkeel", "args": {"policy": "horizon"}}]}])
        self.add_nodes("busy", cpu="8", memory="16Gi")
        self.add(objects.workload("Deployment", "hot", 4, cpu="500m", memory="512Mi"))
        self.until_running(4)
        self.patch(f"/api/v1/nodes/{self.ns}-busy", {"spec": {"unschedulable": True}})
        self.add_nodes("idle", cpu="8", memory="16Gi")
        self.add(objects.workload("Deployment", "cold", 4, cpu="500m", memory="512Mi"))
        self.until_running(8)
        self.patch(f"/api/v1/nodes/{self.ns}-busy", {"spec": {"unschedulable": None}})
        time.sleep(8)  # Prometheus' window

        report = self.rebalance("--budget", "5/hour", "--dry-run")
        self.assertEqual((report["usage"], report["moves"]), ("requests (no source of live usage is given)", []))
        report = self.rebalance("--budget", "1/hour", *self.usage_flags())
        self.assertEqual(report["usage"], "live usage of 2 of 2 nodes")
        self.assertEqual([(one["pod"].split("/")[1].split("-")[0], one["outcome"], one["landed"]) for one in report["moves"]],
                         [("hot", "moved", f"{self.ns}-idle")])
        self.monitoring.kill()
        report = self.rebalance("--budget", "5/hour", "--dry-run", *self.usage_flags())
        self.assertIn("requests (live usage of 0 of 2 nodes only within 20 s)", report["usage"])
        self.assertIn("loads go by what pods request", self.said)


@unittest.skipIf(lab.REFERENCE, "kube-scheduler moves nobody")
@metrics_lab.needed
class MovesOfTheScheduler(metrics_lab.Measured):
    """The rebalancer inside, by live usage: whom it moves goes to the place that was kept for its successor."""

    def setUp(self):
        super().setUp()
        lab.kubectl("apply", "-f", lab.ROOT / "deploy/moves.yaml")
        self.addCleanup(lambda: lab.kubectl("delete", "-f", lab.ROOT / "deploy/moves.yaml"))
        self.until(self.may_evict, "the right to evict")
        self.measure("full", "empty")

    def may_evict(self):
        return lab.plane.api("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": "system:serviceaccount:kube-system:evenkeel", "resourceAttributes": {
                "verb": "create", "resource": "pods", "subresource": "eviction", "namespace": self.ns}}})[1]["status"]["allowed"]

    def start_scheduler(self, **moves):
        profile = {"schedulerName": "evenkeel", "plugins": {"score": {"enabled": [{"name": "Evenkeel", "weight": 100}]}},
                   "pluginConfig": [{"name": "Evenkeel", "args": {"policy": "horizon", **({"moves": moves} if moves else {})}}]}
        self.port, = control_plane.free_ports(1)
        return self.run_scheduler(profiles=[profile], flags=[f"--listen=127.0.0.1:{self.port}", *self.usage_flags()])

    def lopsided(self, *bodies):
        """These workloads on one node, by a scheduler that moves nobody, and an empty node beside it."""
        first = self.start_scheduler()
        self.add_nodes("full", cpu="8", memory="16Gi")
        for body in bodies:
            self.add(body)
        self.until_running(sum(body["spec"]["replicas"] for body in bodies))
        self.assertEqual(first.stop(), 0)
        self.add_nodes("empty", cpu="8", memory="16Gi")

    def webs(self, count=4):
        return [objects.workload("Deployment", f"web{i}", 2, cpu="800m", memory="1Gi") for i in range(count)]

    def figure(self, line):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as answer:
                text = answer.read().decode()
        except OSError:
            return 0
        return next((float(one.rsplit(" ", 1)[1]) for one in text.splitlines() if one.startswith(line + " ")), 0)

    def until_measured(self):
        self.until(lambda: self.figure('evenkeel_usage_nodes{sample="fresh"}') == 2, "both nodes with a fresh sample")

    def stop_controllers(self):
        lab.plane.stop("controller-manager", signal.SIGKILL)
        self.addCleanup(lambda: lab.plane.is_running("controller-manager") or lab.plane.start("controller-manager"))

    def evictions(self):
        return [one for one in lab.audit("create", "pods/eviction") if one["namespace"] == self.ns]

    def until_evicted(self, count):
        self.until(lambda: len(self.evictions()) >= count, f"{count} evictions")

    def on(self, node):
        return [one["metadata"]["name"] for one in self.pods() if one["spec"].get("nodeName") == f"{self.ns}-{node}"]

    def assert_nothing_lost(self, count):
        """All replicas run, no pod was bound twice, and whoever is gone was evicted by us."""
        self.until_running(count)
        bound = self.bindings(201)
        self.assertEqual(len(bound), len(set(bound)), "a pod was bound twice")
        self.assertEqual(len(self.pods()), count)
        self.assert_nothing_overcommitted()

    def test_evens_out_an_unbalanced_cluster_within_its_budget(self):
        self.lopsided(*self.webs())
        before = set(self.on("full"))
        self.start_scheduler(perHour=2)
        self.until_evicted(2)
        self.until_running(8)
        time.sleep(LOOKS)  # the third would help as well
        self.assertEqual([one["code"] for one in self.evictions()], [201, 201])
        self.assertEqual(len(before - set(self.on("full"))), 2)
        self.assertEqual(len(self.on("empty")), 2, "the successors are where room was kept for them")
        self.assertEqual(self.figure('evenkeel_moves_total{outcome="asked"}'), 2)
        said = [one for one in self.events(reason="Evicted")]
        self.assertTrue(said and all("evens out the cluster" in one["message"] for one in said), said)
        self.assert_nothing_lost(8)

    def test_lets_a_workload_cool_down(self):
        self.lopsided(objects.workload("Deployment", "web", 6, cpu="1", memory="1Gi"))
        self.start_scheduler(perHour=30, coolDown="25s")
        self.until_evicted(2)
        first, second = [datetime.datetime.fromisoformat(one["at"].replace("Z", "+00:00")) for one in self.evictions()[:2]]
        self.assertGreaterEqual((second - first).total_seconds(), 24)
        self.assert_nothing_lost(6)

    def test_a_dry_run_proposes_and_evicts_nobody(self):
        self.lopsided(*self.webs())
        before = {one["metadata"]["uid"] for one in self.pods()}
        self.start_scheduler(perHour=5, dryRun=True)
        self.until(lambda: self.figure('evenkeel_moves_total{outcome="proposed"}') >= 2, "proposals")
        self.assertEqual(self.evictions(), [])
        self.assertEqual({one["metadata"]["uid"] for one in self.pods()}, before)

    def test_heeds_budgets_and_a_refusal_by_the_eviction_api(self):
        self.lopsided(objects.workload("Deployment", "kept", 6, cpu="1", memory="1Gi"))
        self.add(objects.budget("kept", "kept", minAvailable=5))
        path = f"/apis/policy/v1/namespaces/{self.ns}/poddisruptionbudgets/kept"
        self.until(lambda: lab.must(200, "GET", path).get("status", {}).get("disruptionsAllowed") == 1, "room for one")
        # Its status is not brought up to date any more: who goes by it sees room, and the Eviction API, which sees that
        # it is out of date, answers 429.
        self.stop_controllers()
        self.patch(path, {"spec": {"minAvailable": 6}}, "merge-patch")
        before = {one["metadata"]["uid"] for one in self.pods()}
        self.start_scheduler(perHour=30, coolDown="10m")
        self.until_evicted(1)
        self.until(lambda: self.figure('evenkeel_moves_total{outcome="refused"}') == 1, "a refusal")
        time.sleep(LOOKS)
        self.assertEqual([one["code"] for one in self.evictions()], [429], "asked once, then the workload cools down")
        self.schedulers[-1].stop()
        lab.plane.start("controller-manager")
        self.until(lambda: lab.must(200, "GET", path)["status"]["disruptionsAllowed"] == 0, "no room")
        self.start_scheduler(perHour=30)
        self.until_measured()
        time.sleep(LOOKS)
        self.assertEqual(len(self.evictions()), 1, "a budget without room is not even asked")
        self.assertEqual({one["metadata"]["uid"] for one in self.pods()}, before)

    def test_killed_between_reservation_and_binding_loses_nobody(self):
        self.lopsided(*self.webs())
        self.stop_controllers()  # nobody makes a successor: the move stays half done for as long as we like
        scheduler = self.start_scheduler(perHour=1)
        self.until_evicted(1)
        self.until(lambda: len(self.pods()) == 7, "one pod gone")
        scheduler.kill()
        lab.plane.start("controller-manager")
        self.until(lambda: [one for one in self.pods() if not one["spec"].get("nodeName")], "a successor that waits")
        self.start_scheduler()
        self.assert_nothing_lost(8)

    def test_killed_at_every_move_loses_nobody(self):
        self.lopsided(*self.webs())
        for kills in range(1, 4):  # as soon as the eviction is on record: before, while or after the successor is bound
            scheduler = self.start_scheduler(perHour=1)
            self.until_evicted(kills)
            scheduler.kill()
        self.start_scheduler()
        self.assert_nothing_lost(8)
        self.assertEqual([one["code"] for one in self.evictions()], [201] * 3)

    def test_needs_rights_of_its_own(self):
        self.assertTrue(self.may_evict())
        lab.kubectl("delete", "-f", lab.ROOT / "deploy/moves.yaml")
        self.until(lambda: not self.may_evict(), "deploy/scheduler.yaml alone to give no right to evict")
        lab.kubectl("apply", "-f", lab.ROOT / "deploy/moves.yaml")


if __name__ == "__main__":
    lab.main()
