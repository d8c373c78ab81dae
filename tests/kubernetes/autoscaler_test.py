#!/usr/bin/env python3
"""The autoscaler on a real control plane with a real Prometheus: what it scales, what it shows, and what it leaves alone.

  autoscaler_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set
"""
import json
import signal
import subprocess
import threading
import time
import unittest
import urllib.request

import lab
import objects
import scaling_lab
from lab import LabTest, control_plane, must

SCALERS = "/apis/evenkeel.io/v1alpha1/namespaces/{ns}/workloadscalers"
HPAS = "/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers"
TROUPES = "/apis/test.evenkeel.io/v1/namespaces/{ns}/troupes"
AT_ONCE = {"stabilizationWindowSeconds": 0, "policies": [{"type": "Percent", "value": 900, "periodSeconds": 1}]}
LEASE = {"leaseDuration": "4s", "renewDeadline": "3s", "retryPeriod": "500ms"}
# A kind of somebody else's that can be scaled.
TROUPE = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "troupes.test.evenkeel.io"},
          "spec": {"group": "test.evenkeel.io", "scope": "Namespaced", "names": {"kind": "Troupe", "plural": "troupes", "singular": "troupe"},
                   "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {
                       "status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
                                               "labelSelectorPath": ".status.selector"}},
                       "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
MORE_RIGHTS = [
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "evenkeel-autoscaler-more"},
     "rules": [{"apiGroups": ["test.evenkeel.io"], "resources": ["troupes/scale"], "verbs": ["get", "update"]}]},
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "evenkeel-autoscaler-more"},
     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "evenkeel-autoscaler-more"},
     "subjects": [{"kind": "ServiceAccount", "name": "evenkeel-autoscaler", "namespace": "kube-system"}]}]
lab.AUDIT = lab.AUDIT.replace('"evenkeel-reference"', '"evenkeel-reference", "system:serviceaccount:kube-system:evenkeel-autoscaler"')


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


def apply(*bodies):
    folder = lab.plane.folder / f"apply-{next(lab.numbers)}.yaml"
    folder.write_text("\n---\n".join(json.dumps(one) for one in bodies))
    return lab.kubectl("apply", "-f", folder)


def install():
    """What a user applies, but for the Deployment; and the account's kubeconfig."""
    rights = lab.plane.folder / "autoscaler-rights.yaml"
    rights.write_text("---\n".join(one for one in (lab.ROOT / "deploy/autoscaler.yaml").read_text().split("---\n")
                                   if "kind: Deployment" not in one))
    lab.kubectl("apply", "-f", lab.ROOT / "deploy/crds/workloadscalers.yaml", "-f", rights)
    apply(TROUPE, *MORE_RIGHTS)
    for kind in ("workloadscalers.evenkeel.io", "troupes.test.evenkeel.io"):
        lab.kubectl("wait", "--for=condition=Established", f"crd/{kind}")
    token = must(201, "POST", "/api/v1/namespaces/kube-system/serviceaccounts/evenkeel-autoscaler/token",
                 {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    (lab.plane.folder / "autoscaler.token").write_text(token["status"]["token"])
    user = f"users: [{{name: admin, user: {{tokenFile: {lab.plane.folder}/autoscaler.token}}}}]"
    text = [user if line.startswith("users:") else line for line in lab.plane.kubeconfig.read_text().splitlines()]
    (lab.plane.folder / "autoscaler.kubeconfig").write_text("\n".join(text) + "\n")


class Autoscaler(lab.Scheduler):
    """A process of the autoscaler under test."""

    def __init__(self, *flags, election=None, prometheus=None):
        super().__init__(genuine=False, config=lab.plane.folder / "unused")
        number = next(lab.numbers)
        self.log = lab.plane.logs / f"autoscaler-{number}.log"
        self.output = lab.plane.folder / f"autoscaler-{number}.out"
        self.port, = control_plane.free_ports(1)
        self.config = lab.plane.folder / f"autoscaler-{number}.yaml"
        self.config.write_text(json.dumps({
            "apiVersion": "evenkeel.io/v1alpha1", "kind": "AutoscalerConfiguration",
            "clientConnection": {"kubeconfig": str(lab.plane.folder / "autoscaler.kubeconfig")},
            "leaderElection": {"leaderElect": election is not None, **(election or {})},
            "metrics": {"prometheus": prometheus, "window": "4s", "within": "1500ms"}, "listen": f"127.0.0.1:{self.port}"}))
        self.flags = list(flags)

    def start(self):
        with open(self.log, "ab") as log, open(self.output, "wb") as output:
            self.process = subprocess.Popen([lab.EVENKEEL, "autoscaler", f"--config={self.config}", *self.flags],
                                            stdin=subprocess.DEVNULL, stdout=output, stderr=log,
                                            preexec_fn=control_plane.end_with_parent)
        return self

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            return ""


@unittest.skipUnless(scaling_lab.available(), "no prometheus: tools/bootstrap unpacks it")
class Scaling(LabTest):
    wants_scheduler = False

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        install()
        cls.metering = scaling_lab.Metering()
        cls.addClassCleanup(cls.metering.stop)
        cls.metering.start()
        control_plane.wait_until(cls.metering.is_ready, "Prometheus")

    def setUp(self):
        super().setUp()
        self.node, = self.add_nodes("n", cpu="100", pods="500")
        if not self.metering.is_ready():
            self.metering.start()
            self.until(self.metering.is_ready, "Prometheus")

    def clear(self):
        for path in (SCALERS, HPAS, TROUPES):
            lab.plane.api("DELETE", path.format(ns=self.ns))
        self.metering.loads.clear()
        super().clear()

    # Things to scale.

    def run_autoscaler(self, *flags, **options):
        autoscaler = Autoscaler(*flags, prometheus=self.metering.url, **options).start()
        self.schedulers.append(autoscaler)
        self.addCleanup(autoscaler.stop)
        return autoscaler

    def add_workload(self, kind, name, replicas=1, rate=0):
        self.add(objects.workload(kind, name, replicas, cpu="200m", nodeName=self.node,
                                  more={"podManagementPolicy": "Parallel"} if kind == "StatefulSet" else {}))
        return self.metering.add(scaling_lab.Load(self.ns, f"app={name}", rate))

    def add_scaler(self, name, kind="Deployment", api="apps/v1", low=1, high=8, mode="Auto", target=None, **spec):
        """Half a requested core each: 100m of 200m, which is five requests a second of 20 ms."""
        body = {"apiVersion": "evenkeel.io/v1alpha1", "kind": "WorkloadScaler", "metadata": {"name": name},
                "spec": {"scaleTargetRef": {"apiVersion": api, "kind": kind, "name": target or name}, "minReplicas": low, "maxReplicas": high,
                         "mode": mode, "policy": "hpa", "interval": "1s", "staleAfter": "6s",
                         "policyArguments": {"cpuInitializationPeriod": "0s", "initialReadinessDelay": "0s"},
                         "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {
                             "type": "Utilization", "averageUtilization": 50}}}],
                         "behavior": {"scaleUp": AT_ONCE, "scaleDown": AT_ONCE}, **spec}}
        return must(201, "POST", SCALERS.format(ns=self.ns), body)

    def scaler(self, name):
        return must(200, "GET", f"{SCALERS.format(ns=self.ns)}/{name}")

    def scaler_condition(self, name, kind):
        return next((one for one in self.scaler(name).get("status", {}).get("conditions", []) if one["type"] == kind), {})

    def replicas(self, name, kind="deployments"):
        return must(200, "GET", f"/apis/apps/v1/namespaces/{self.ns}/{kind}/{name}")["spec"]["replicas"]

    def until_replicas(self, count, name, kind="deployments"):
        self.until(lambda: self.replicas(name, kind) == count, f"{count} replicas of {name}")

    def until_condition(self, name, kind, status, reason):
        self.until(lambda: (self.scaler_condition(name, kind).get("status"), self.scaler_condition(name, kind).get("reason")) ==
                   (status, reason), f"{name}: {kind} {status} {reason}")

    def scale_writes(self, *codes):
        return [one for one in lab.audit("update") if one["namespace"] == self.ns and one["resource"].endswith("/scale")
                and one["code"] in codes]

    def follow_generations(self, name):
        """Every number of replicas that the Deployment is set to from here on, by a thread that looks at all of its versions."""
        seen, plane, ended = [], control_plane.ControlPlane(lab.plane.folder), threading.Event()
        # Its controller writes an annotation of its own first, which counts as a change.
        self.until(lambda: must(200, "GET", f"/apis/apps/v1/namespaces/{self.ns}/deployments/{name}")["metadata"].get("annotations"),
                   f"{name} to be taken up")
        self.until_running(1, f"app={name}")

        def look():
            while not ended.wait(0.02):
                code, said = plane.api("GET", f"/apis/apps/v1/namespaces/{self.ns}/deployments/{name}")
                if code == 200 and (not seen or seen[-1][0] != said["metadata"]["generation"]):
                    seen.append((said["metadata"]["generation"], said["spec"]["replicas"]))
            plane.close()
        thread = threading.Thread(target=look, daemon=True)
        thread.start()

        def end():
            ended.set()
            thread.join()
            return seen
        self.addCleanup(end)
        return end

    # Tests.

    def test_three_kinds_follow_their_load_within_their_bounds(self):
        web = self.add_workload("Deployment", "web", 2, rate=10)
        store = self.add_workload("StatefulSet", "store", 1, rate=20)
        must(201, "POST", TROUPES.format(ns=self.ns), {"apiVersion": "test.evenkeel.io/v1", "kind": "Troupe", "metadata": {"name": "troupe"},
                                                      "spec": {"replicas": 2}})
        self.patch(f"{TROUPES.format(ns=self.ns)}/troupe/status", {"status": {"replicas": 2, "selector": "app=actor"}}, "merge-patch")
        for i in range(2):
            self.add_pod(f"actor-{i}", {"app": "actor"}, cpu="200m", nodeName=self.node)
        self.metering.add(scaling_lab.Load(self.ns, "app=actor", 30))
        for name, kind, api in (("web", "Deployment", "apps/v1"), ("store", "StatefulSet", "apps/v1"),
                                ("troupe", "Troupe", "test.evenkeel.io/v1")):
            self.add_scaler(name, kind, api)
        autoscaler = self.run_autoscaler()
        self.until_replicas(4, "store", "statefulsets")
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
        self.assertIn("evenkeel_autoscaler_workloads 3", autoscaler.get("/metrics"))
        self.assertEqual(autoscaler.get("/readyz").strip(), "ok")
        self.assertEqual({one["name"] for one in json.loads(autoscaler.get("/decisions"))["decisions"]}, {"web", "store", "troupe"})
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

    def test_without_prometheus_nothing_moves_and_the_reason_is_said(self):
        load = self.add_workload("Deployment", "web", 1, rate=10)
        self.add_scaler("web")
        autoscaler = self.run_autoscaler()
        self.until_replicas(2, "web")
        self.metering.signal(signal.SIGSTOP)  # slow without end
        load.rate = 0.1
        self.until_condition("web", "ScalingActive", "False", "FailedGetMetrics")
        self.assertEqual(self.replicas("web"), 2)
        self.metering.signal(signal.SIGCONT)
        self.until_condition("web", "ScalingActive", "True", "ValidMetricFound")
        self.until_replicas(1, "web")
        self.metering.kill()
        load.rate = 20
        self.until_condition("web", "ScalingActive", "False", "FailedGetMetrics")
        self.until(lambda: self.events("web", "FailedGetMetrics"), "an Event")
        self.assertEqual(self.replicas("web"), 1)
        self.metering.start()
        self.until_replicas(4, "web")
        self.assertIn("answers again", autoscaler.log.read_text())

    def test_somebody_who_writes_all_the_time_delays_and_doubles_nothing(self):
        load = self.add_workload("Deployment", "web", 1, rate=5)
        self.add_scaler("web")
        generations = self.follow_generations("web")
        ended, plane = threading.Event(), control_plane.ControlPlane(lab.plane.folder)

        def disturb():
            number = 0
            while not ended.is_set():
                number += 1
                plane.api("PATCH", f"/apis/apps/v1/namespaces/{self.ns}/deployments/web",
                          {"metadata": {"labels": {"number": str(number)}}}, "application/merge-patch+json")
        thread = threading.Thread(target=disturb, daemon=True)
        thread.start()
        self.run_autoscaler()
        for rate, count in ((15, 3), (40, 8), (5, 1)):
            load.rate = rate
            self.until_replicas(count, "web")
        ended.set()
        thread.join()
        plane.close()
        for autoscaler in self.schedulers:
            autoscaler.stop()  # what it does from here on would be missing from one of the two counts
        self.assert_each_write_changed_something(generations)
        self.assertTrue(all(1 <= replicas <= 8 for _, replicas in generations()))

    def test_two_instances_one_of_them_killed_lose_and_double_nothing(self):
        load = self.add_workload("Deployment", "web", 1, rate=5)
        self.add_scaler("web")
        generations = self.follow_generations("web")
        first = self.run_autoscaler(election=LEASE)
        self.until(lambda: "leading" in first.log.read_text(), "a leader")
        second = self.run_autoscaler(election=LEASE)
        load.rate = 20
        self.until_replicas(4, "web")
        load.rate = 40
        time.sleep(1.0)  # in the middle of something, most likely
        first.kill()
        self.until_replicas(8, "web")
        first.start()
        load.rate = 10
        self.until_replicas(2, "web")
        second.kill()
        load.rate = 30
        self.until_replicas(6, "web")
        for autoscaler in self.schedulers:
            autoscaler.stop()  # what it does from here on would be missing from one of the two counts
        self.assert_each_write_changed_something(generations)
        self.assertTrue(all(1 <= replicas <= 8 for _, replicas in generations()))

    def assert_each_write_changed_something(self, generations):
        """A write that was done twice would be answered twice and change the number once; nobody else changes the spec."""
        seen = generations()
        changes = must(200, "GET", f"/apis/apps/v1/namespaces/{self.ns}/deployments/web")["metadata"]["generation"] - seen[0][0]
        self.until(lambda: len(self.scale_writes(200)) >= changes, "the record of the writes")
        self.assertEqual(len(self.scale_writes(200)), changes, seen)


if __name__ == "__main__":
    lab.main()
