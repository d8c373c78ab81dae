#!/usr/bin/env python3
"""`evenkeel rebalance` on a real control plane: what it moves, what it never moves, and within which budget.

  rebalance_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set
"""
import json
import subprocess

import lab
import objects
from lab import LabTest


class Moves(LabTest):
    """Pods are put on one node while the other does not exist yet; then there is somewhere to go."""

    def rebalance(self, *arguments, kubeconfig=None):
        done = subprocess.run([lab.EVENKEEL, "rebalance", "--kubeconfig", str(kubeconfig or lab.plane.kubeconfig), "-o", "json",
                               *arguments], capture_output=True, text=True, timeout=lab.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

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


class MovesOfTheScheduler(LabTest):
    """The rebalancer inside: off by default, and without deploy/moves.yaml nothing is evicted."""
    wants_scheduler = False

    def test_needs_rights_of_its_own(self):
        user = "--as=system:serviceaccount:kube-system:evenkeel"
        rights = lambda: lab.plane.api("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {  # noqa: E731
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": user.split("=")[1], "resourceAttributes": {
                "verb": "create", "resource": "pods", "subresource": "eviction", "namespace": self.ns}}})[1]["status"]["allowed"]
        self.assertFalse(rights())
        lab.kubectl("apply", "-f", lab.ROOT / "deploy/moves.yaml")
        self.addCleanup(lambda: lab.kubectl("delete", "-f", lab.ROOT / "deploy/moves.yaml"))
        self.until(rights, "the right to evict")


if __name__ == "__main__":
    lab.main()
