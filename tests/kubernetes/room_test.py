#!/usr/bin/env python3
"""Placement and scaling together on a real control plane: a scale-up is held to what fits, a scale-down says who leaves.

  room_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set
"""
import json

import autoscaler_lab
import lab
import objects
import scaling_lab
from autoscaler_lab import SCALERS, apply
from lab import must

PER_POD = 10  # requests a second that keep a pod at the half of its 400m
POOR = "evenkeel-autoscaler-poor"


def install_poor():
    """An account that may do everything but look at nodes, and is not told on by the record of refusals."""
    rights = json.loads(lab.kubectl("get", "clusterrole", "evenkeel-autoscaler", "-o", "json"))
    rules = [dict(rule, resources=[one for one in rule["resources"] if one != "nodes"]) for rule in rights["rules"]]
    apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": POOR, "namespace": "kube-system"}},
          {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": POOR}, "rules": rules},
          {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": POOR},
           "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": POOR},
           "subjects": [{"kind": "ServiceAccount", "name": POOR, "namespace": "kube-system"}]})
    token = must(201, "POST", f"/api/v1/namespaces/kube-system/serviceaccounts/{POOR}/token",
                 {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    (lab.plane.folder / "poor.token").write_text(token["status"]["token"])
    text = (lab.plane.folder / "autoscaler.kubeconfig").read_text().replace("autoscaler.token", "poor.token")
    (lab.plane.folder / "poor.kubeconfig").write_text(text)


class Room(autoscaler_lab.ScalingTest):
    wants_scheduler, wants_node = True, False

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        install_poor()

    def add_workload(self, kind, name, replicas, rate, **spec):
        more = {"podManagementPolicy": "Parallel"} if kind == "StatefulSet" else {}
        self.add(objects.workload(kind, name, replicas, cpu="400m", more=more, **spec))
        load = self.metering.add(scaling_lab.Load(self.ns, f"app={name}", rate))
        self.until_running(replicas, f"app={name}")
        return load

    def reasons(self, name, rule):
        decision = self.scaler(name).get("status", {}).get("lastDecision", {})
        return [one["message"] for one in decision.get("reasons", []) if one["rule"] == rule]

    def marked(self):
        return {one["name"] for one in lab.audit("patch", "pods") if one["namespace"] == self.ns and one["code"] == 200}

    def test_a_scale_up_is_held_to_what_fits_and_goes_on_when_a_node_comes(self):
        self.add_nodes("a", "b", cpu="1")  # room for two pods each
        self.add_workload("Deployment", "web", 1, rate=6 * PER_POD)
        self.add_scaler("web")
        self.run_autoscaler()
        self.until_condition("web", "ScalingLimited", "True", "NoRoom")
        self.until_replicas(4, "web")
        self.until_running(4, "app=web")
        self.until(lambda: self.reasons("web", "room"), "the reason")
        self.assertIn("Insufficient cpu", self.scaler_condition("web", "ScalingLimited")["message"])
        rescaled = self.until(lambda: self.events("web", "SuccessfulRescale"), "an Event")
        self.assertTrue(any(f"{self.ns}-a" in one["message"] or f"{self.ns}-b" in one["message"] for one in rescaled), rescaled)
        self.add_nodes("c", cpu="1")
        self.until_replicas(6, "web")
        self.until_running(6, "app=web")
        self.until_condition("web", "ScalingLimited", "False", "DesiredWithinRange")
        self.assertEqual(self.events(reason="FailedScheduling"), [], "no pod was ever asked for that had to wait")

    def test_two_workloads_are_not_promised_the_same_room(self):
        self.add_nodes("a", cpu="2400m")  # room for six in all
        for name in ("left", "right"):
            self.add_workload("Deployment", name, 1, rate=4 * PER_POD)
            self.add_scaler(name)
        self.run_autoscaler()
        self.until(lambda: self.replicas("left") + self.replicas("right") == 6, "six replicas of both")
        self.until_running(6)
        self.until(lambda: "NoRoom" in {self.scaler_condition(name, "ScalingLimited").get("reason") for name in ("left", "right")},
                   "one of them to say that there is no room")
        self.assertEqual(self.events(reason="FailedScheduling"), [])

    def test_where_pods_are_to_wait_for_nodes_nobody_is_held_back(self):
        self.add_nodes("a", cpu="1")
        self.add_workload("Deployment", "web", 1, rate=3 * PER_POD)
        self.add_scaler("web", high=3)
        self.run_autoscaler("--set=room=ignore")
        # The two that run are measured; the third waits, as a node autoscaler wants it to.
        self.until_replicas(3, "web")
        self.until_running(2, "app=web")
        self.until(lambda: self.events(reason="FailedScheduling"), "a pod that waits")

    def test_without_the_right_to_see_nodes_it_says_so_and_scales_all_the_same(self):
        self.add_nodes("a", cpu="1")
        self.add_workload("Deployment", "web", 1, rate=3 * PER_POD)
        self.add_scaler("web", high=3)
        autoscaler = self.run_autoscaler(f"--kubeconfig={lab.plane.folder}/poor.kubeconfig")
        self.until_replicas(3, "web")
        self.until(lambda: "whether replicas fit is not known" in autoscaler.log.read_text(), "the statement")
        self.assertIn("nodes is forbidden", autoscaler.log.read_text())

    def test_a_scale_down_removes_the_pods_without_which_nodes_are_balanced(self):
        names = self.add_nodes("a", "b", "c", cpu="4")
        self.add_pod("ballast", cpu="2", nodeName=names[1])
        spread = [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
                   "labelSelector": {"matchLabels": {"app": "web"}}}]
        self.add_workload("Deployment", "web", 6, rate=6 * PER_POD, topologySpreadConstraints=spread)
        before = {one["metadata"]["name"]: one["spec"]["nodeName"] for one in self.pods("app=web")}
        self.assertEqual(sorted(before.values()), sorted(2 * names))
        self.add_scaler("web", low=6, high=6)
        autoscaler = self.run_autoscaler()
        self.until(lambda: "nodes are known" in autoscaler.log.read_text(), "the nodes to be known")
        # By its bounds: in one step, however slowly anything is measured.
        self.patch(f"{SCALERS.format(ns=self.ns)}/web", {"spec": {"minReplicas": 2, "maxReplicas": 2}}, "merge-patch")
        self.until_replicas(2, "web")
        stayed = {one["metadata"]["name"] for one in self.until_running(2, "app=web")}
        self.until(lambda: len(self.marked()) >= 4, "the record of the marks")
        self.assertEqual(self.marked(), set(before) - stayed)
        self.assertEqual(sorted(before[one] for one in stayed), [names[0], names[2]], "the busy node is the one that is relieved")
        said = self.until(lambda: self.events("web", "SuccessfulRescale"), "an Event")
        self.assertTrue(any("had better go" in one["message"] for one in said), said)

    def test_who_orders_its_pods_itself_is_not_told_who_leaves(self):
        self.add_nodes("a", "b", cpu="4")
        load = self.add_workload("StatefulSet", "store", 3, rate=3 * PER_POD)
        own = self.add_workload("Deployment", "own", 2, rate=2 * PER_POD)
        favourite = self.pods("app=own")[0]["metadata"]["name"]
        self.patch(f"/api/v1/namespaces/{self.ns}/pods/{favourite}",
                   {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "100"}}}, "merge-patch")
        self.add_scaler("store", "StatefulSet")
        self.add_scaler("own")
        self.run_autoscaler()
        self.until_condition("store", "ScalingActive", "True", "ValidMetricFound")
        load.rate = own.rate = 0.1
        self.until_replicas(1, "store", "statefulsets")
        self.until_replicas(1, "own")
        self.assertEqual([one["metadata"]["name"] for one in self.until_running(1, "app=own")], [favourite])
        self.assertEqual(self.marked(), set())


if __name__ == "__main__":
    lab.main()
