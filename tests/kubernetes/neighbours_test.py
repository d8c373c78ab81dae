#!/usr/bin/env python3
"""Ours beside the genuine kube-scheduler, with its configuration file, and with a cluster to fill.

  neighbours_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set
"""
import collections
import unittest

import lab
import objects
from lab import LabTest, kubectl

CONFIG = (lab.ROOT / "tests/kubernetes/kube-scheduler-config.yaml").read_text()


class Neighbours(LabTest):
    """Two schedulers on the same nodes, each with its own pods."""

    def run_genuine(self):
        return self.run_scheduler(genuine=True, profiles=[{"schedulerName": "default-scheduler"}])

    def test_two_schedulers_share_nodes_and_leave_each_others_pods_alone(self):
        self.run_genuine()
        self.add_nodes(count=10, cpu="4")
        self.add(objects.workload("Deployment", "ours", 60, cpu="200m"))
        self.add(objects.workload("Deployment", "theirs", 60, cpu="200m", schedulerName="default-scheduler"))
        self.until_running(120)
        self.assert_nothing_overcommitted()
        who = {one["involvedObject"]["name"].split("-")[0]: one.get("source", {}).get("component") or one["reportingComponent"]
               for one in self.events(reason="Scheduled")}
        self.assertEqual(who, {"ours": "evenkeel", "theirs": "default-scheduler"})
        # What one fills the other sees as full, and says so.
        self.add(objects.workload("Deployment", "rest", 80, cpu="200m", schedulerName="default-scheduler"))
        self.until_running(80, "app=rest")
        self.add_pod("late", cpu="200m")
        self.until_refused("late", "0/10 nodes are available: 10 Insufficient cpu")
        self.assert_nothing_overcommitted()
        kubectl("scale", "deployment", "theirs", "--replicas=59", "-n", self.ns)
        self.until_scheduled("late")
        self.assert_nothing_overcommitted()


class Partition(LabTest):
    """Ours keeps to its part of the cluster, so that both can fill theirs to the brim at the same time."""
    wants_scheduler = False

    @unittest.skipIf(lab.REFERENCE, "kube-scheduler knows no partitions")
    def test_each_fills_its_own_part(self):
        other = f"{self.ns}-other"
        lab.must(201, "POST", "/api/v1/namespaces", {"metadata": {"name": other}})
        self.addCleanup(lab.plane.api, "DELETE", f"/api/v1/namespaces/{other}")
        self.run_scheduler(flags=["--partition-nodes=pool=ours", f"--partition-namespaces={self.ns}"])
        self.run_scheduler(genuine=True, profiles=[{"schedulerName": "default-scheduler"}])
        self.add_nodes("a1", "a2", cpu="1", labels={"pool": "ours"})
        self.add_nodes("b1", "b2", cpu="1", labels={"pool": "theirs"})
        self.add(objects.workload("Deployment", "ours", 25, cpu="100m"))
        self.add(objects.workload("Deployment", "theirs", 25, cpu="100m", schedulerName="default-scheduler",
                                  nodeSelector={"pool": "theirs"}))
        self.until_running(40)
        for app, nodes in (("ours", {"a1", "a2"}), ("theirs", {"b1", "b2"})):
            placed = [one["spec"]["nodeName"].removeprefix(f"{self.ns}-") for one in self.pods(f"app={app}")
                      if "nodeName" in one["spec"]]
            self.assertEqual((len(placed), set(placed)), (20, nodes))
        self.assert_nothing_overcommitted()
        waiting = next(one["metadata"]["name"] for one in self.pods("app=ours") if "nodeName" not in one["spec"])
        self.until_refused(waiting, "0/2 nodes are available: 2 Insufficient cpu")  # the others do not exist for it


class Configuration(LabTest):
    """A file in upstream's style, byte for byte the same for both."""
    wants_scheduler = False

    def place_with(self, genuine):
        path = lab.plane.folder / f"config-{genuine}.yaml"
        user = "under-test" if lab.REFERENCE or not genuine else "scheduler"
        path.write_text(CONFIG.replace("KUBECONFIG", f"{lab.plane.folder}/{user}.kubeconfig"))
        self.run_scheduler(genuine=genuine, config=path)
        self.add_nodes("x1", "x2", zone="x")
        self.add_nodes("y1", "y2", zone="y")
        for profile in ("default-scheduler", "packing", "pinned"):
            self.add(objects.workload("Deployment", profile, 8, schedulerName=profile))
            self.until_running(8, f"app={profile}")
        counts = {profile: collections.Counter(one["spec"]["nodeName"].removeprefix(f"{self.ns}-")
                                               for one in self.pods(f"app={profile}"))
                  for profile in ("default-scheduler", "packing", "pinned")}
        self.assertEqual(sorted(counts["default-scheduler"].values()), [2, 2, 2, 2])
        self.assertEqual(list(counts["packing"].values()), [8])
        self.assertEqual(set(counts["pinned"]), {"x1", "x2"})

    def test_the_genuine_scheduler_takes_the_file(self):
        self.place_with(genuine=True)

    @unittest.skipIf(lab.REFERENCE, "the same as the test before")
    def test_ours_takes_the_same_file(self):
        self.place_with(genuine=False)


class Deployed(LabTest):
    """deploy/: the rights are what every other test here runs with; this is the rest of it."""
    wants_scheduler = False

    def test_the_deployment_keeps_to_the_restricted_pod_standard(self):
        kubectl("label", "namespace", "kube-system", "pod-security.kubernetes.io/warn=restricted", "--overwrite")
        said = kubectl("apply", "--dry-run=server", "-f", lab.ROOT / "deploy/scheduler.yaml")
        self.assertIn("deployment.apps/evenkeel-scheduler created", said)
        self.assertNotIn("would violate", said)

    def test_the_example_is_scheduled_by_us(self):
        self.run_scheduler()
        self.add_nodes(count=3)
        kubectl("apply", "-n", self.ns, "-f", lab.ROOT / "deploy/example.yaml")
        self.until_running(3)
        self.until(lambda: len(self.events(reason="Scheduled")) == 3, "the events")


class Many(LabTest):
    def test_five_hundred_pods_on_a_hundred_nodes(self):
        self.add_nodes(count=100)
        self.add(objects.workload("Deployment", "web", 500))
        counts = collections.Counter(one["spec"]["nodeName"] for one in self.until_running(500))
        self.assertEqual(len(counts), 100)
        self.assertLessEqual(max(counts.values()) - min(counts.values()), 1)
        self.assert_each_bound_once()
        self.assert_nothing_overcommitted()


if __name__ == "__main__":
    lab.main()
