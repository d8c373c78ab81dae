#!/usr/bin/env python3
"""The autoscaler on a real control plane with a real Prometheus: what it scales, what it shows, and what it leaves alone.

  autoscaler_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set
"""
import json
import subprocess

import autoscaler_lab
import lab
import objects
import scaling_lab
from autoscaler_lab import HPAS, TROUPES, SCALERS
from lab import must


DEFAULT_METRICS = [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]

PERCENT = {"type": "Percent", "value": 100, "periodSeconds": 15}
DEFAULT_RULES = {"scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max",
                             "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}, PERCENT]},
                 "scaleDown": {"selectPolicy": "Max", "policies": [PERCENT]}}


def plain(value):
    """With quantities as numbers: 1k, 1000 and "1000" are the same."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: objects.amount(str(one)) if key in ("value", "averageValue") else plain(one) for key, one in value.items()}
    return value


class Scaling(autoscaler_lab.ScalingTest):
    def test_four_kinds_follow_their_load_within_their_bounds(self):
        web = self.add_workload("Deployment", "web", 2, rate=10)
        store = self.add_workload("StatefulSet", "store", 1, rate=20)
        self.add_workload("ReplicaSet", "bare", 1, rate=25)
        must(201, "POST", TROUPES.format(ns=self.ns), {"apiVersion": "test.evenkeel.io/v1", "kind": "Troupe", "metadata": {"name": "troupe"},
                                                      "spec": {"replicas": 2}})
        self.patch(f"{TROUPES.format(ns=self.ns)}/troupe/status", {"status": {"replicas": 2, "selector": "app=actor"}}, "merge-patch")
        for i in range(2):
            self.add_pod(f"actor-{i}", {"app": "actor"}, cpu="200m", nodeName=self.node)
        self.metering.add(scaling_lab.Load(self.ns, "app=actor", 30))
        for name, kind, api in (("web", "Deployment", "apps/v1"), ("store", "StatefulSet", "apps/v1"), ("bare", "ReplicaSet", "apps/v1"),
                                ("troupe", "Troupe", "test.evenkeel.io/v1")):
            self.add_scaler(name, kind, api)
        autoscaler = self.run_autoscaler()
        self.until_replicas(4, "store", "statefulsets")
        self.until_replicas(5, "bare", "replicasets")
        troupe = f"{TROUPES.format(ns=self.ns)}/troupe"
        self.until(lambda: must(200, "GET", troupe)["spec"]["replicas"] == 6, "6 replicas of the troupe")
        web.rate = 60  # twelve would be needed
        self.until_replicas(8, "web")
        self.until_condition("web", "ScalingLimited", "True", "TooManyReplicas")
        self.assertEqual(self.scaler_condition("web", "ScalingActive")["status"], "True")
        store.rate = web.rate = 0.1
        self.until_replicas(1, "web")
        self.until_replicas(1, "store", "statefulsets")
        self.until(lambda: self.events("web", "SuccessfulRescale"), "an Event")
        last = self.scaler("web")["status"]
        self.assertEqual((last["lastDecision"]["decidedBy"], last["target"]), ("hpa", "Deployment/web"))
        self.assertIn("evenkeel_autoscaler_workloads 4", autoscaler.get("/metrics"))
        self.assertEqual(autoscaler.get("/readyz").strip(), "ok")
        self.assertEqual({one["name"] for one in json.loads(autoscaler.get("/decisions"))["decisions"]}, {"web", "store", "bare", "troupe"})
        self.assertIn("Deployment/web", lab.kubectl("-n", self.ns, "get", "wsc"))
        self.assertEqual(autoscaler.stop(), 0)

    def test_what_is_wrong_is_refused_by_name(self):
        for change, word in (({"minReplicas": 9}, "minReplicas"), ({"serviceLevel": {"percentile": 100}}, "percentile"),
                             ({"mode": "Maybe"}, "mode"), ({"interval": "10ms"}, "interval"), ({"minReplicas": 0}, "minReplicas 0"),
                             ({"metrics": [{"type": "Pods"}]}, "needs pods")):
            spec = {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "maxReplicas": 3, **change}
            code, said = lab.plane.api("POST", SCALERS.format(ns=self.ns), {
                "apiVersion": "evenkeel.io/v1alpha1", "kind": "WorkloadScaler", "metadata": {"name": "wrong"}, "spec": spec})
            self.assertEqual(code, 422, change)
            self.assertIn(word, said["message"])

    def test_converted_hpas_apply_and_mean_the_same(self):
        manifests = lab.ROOT / "tests/kubernetes/testdata/hpas.yaml"
        done = subprocess.run([lab.EVENKEEL, "convert", "hpa", "-f", manifests], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("packets-per-second", done.stderr)
        converted = lab.plane.folder / "converted.yaml"
        converted.write_text(done.stdout)
        lab.kubectl("-n", self.ns, "apply", "-f", manifests)
        lab.kubectl("-n", self.ns, "apply", "-f", converted)
        for hpa in must(200, "GET", HPAS.format(ns=self.ns))["items"]:
            name = hpa["metadata"]["name"]
            made = self.scaler(name)["spec"]
            self.assertEqual((made["mode"], made["policy"]), ("Preview", "hpa"))
            for field in ("scaleTargetRef", "minReplicas", "maxReplicas"):
                self.assertEqual(made[field], hpa["spec"][field], f"{name}: {field}")
            # The API server fills in CPU at 80 % where there is nothing, and so do we.
            self.assertEqual(plain(made.get("metrics", DEFAULT_METRICS)), plain(hpa["spec"]["metrics"]), name)
            for side, rules in hpa["spec"].get("behavior", {}).items():
                for field, value in rules.items():
                    said = made["behavior"].get(side, {}).get(field, DEFAULT_RULES[side].get(field))
                    self.assertEqual(said, value, f"{name}: {side}.{field}")

    def test_a_preview_shows_what_it_would_do_beside_an_hpa_and_writes_nothing(self):
        self.add_workload("Deployment", "shop", 2, rate=30)
        self.until_running(2, "app=shop")
        must(201, "POST", HPAS.format(ns=self.ns), {
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "shop"},
            "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop"}, "minReplicas": 2,
                     "maxReplicas": 9, "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {
                         "type": "Utilization", "averageUtilization": 50}}}]}})
        self.add_workload("Deployment", "quiet", 3, rate=1)
        self.add_scaler("quiet", mode="Auto")
        report = lab.plane.folder / "preview.html"
        autoscaler = self.run_autoscaler("--preview", "--policy=hpa", "--json", f"--report={report}")

        def wishes():
            seen = {one["name"]: one for one in json.loads(autoscaler.get("/preview.json") or '{"workloads": []}')["workloads"]}
            return seen.get("shop", {}).get("last", {}).get("to", 0) > 2 and seen["quiet"]["last"]["to"] == 1 and seen
        seen = self.until(wishes, "the preview to want more of shop and fewer of quiet")
        self.assertEqual(seen["shop"]["scaled_by"], "HorizontalPodAutoscaler shop")
        self.assertIn("<svg", autoscaler.get("/preview"))
        self.assertEqual(autoscaler.stop(), 0)
        shown = {one["name"]: one for one in json.loads(autoscaler.output.read_text())["workloads"]}
        self.assertEqual((shown["shop"]["mode"], shown["shop"]["last"]["acted"]), ("Preview", False))
        self.assertIn("HorizontalPodAutoscaler shop", report.read_text())
        self.assertEqual((self.replicas("shop"), self.replicas("quiet")), (2, 3))
        self.assertNotIn("status", self.scaler("quiet"))
        writes = [one for one in lab.audit() if one["namespace"] == self.ns and one["verb"] not in ("get", "list", "watch")]
        self.assertEqual(writes, [])

    def test_hands_are_off_while_an_hpa_or_an_elder_scaler_is_there(self):
        self.add_workload("Deployment", "web", 1, rate=20)
        hpa = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "theirs"},
               "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 9}}
        must(201, "POST", HPAS.format(ns=self.ns), hpa)
        self.add_scaler("web")
        self.run_autoscaler()
        self.until_condition("web", "ScalingActive", "False", "RivalScaler")
        self.until(lambda: self.events("web", "RivalScaler"), "an Event about the rival")
        self.assertEqual((self.replicas("web"), self.scale_writes(200)), (1, []))
        must(200, "DELETE", f"{HPAS.format(ns=self.ns)}/theirs")
        self.until_replicas(4, "web")
        self.until_condition("web", "ScalingActive", "True", "ValidMetricFound")
        self.add_scaler("web-too", high=2, target="web")
        self.until_condition("web-too", "ScalingActive", "False", "RivalScaler")
        self.assertEqual(self.replicas("web"), 4)


if __name__ == "__main__":
    lab.main()
