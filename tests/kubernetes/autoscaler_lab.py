"""A real control plane with a real Prometheus, workloads to scale on it, and processes of the autoscaler under test."""
import json
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
class ScalingTest(LabTest):
    wants_scheduler = False
    wants_node = True  # one that has room for anything; False: each test adds its own

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
        if self.wants_node:
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

    def follow_generations(self, name, running=1):
        """Every number of replicas that the Deployment is set to from here on, by a thread that looks at all of its versions."""
        seen, plane, ended = [], control_plane.ControlPlane(lab.plane.folder), threading.Event()
        # Its controller writes an annotation of its own first, which counts as a change.
        self.until(lambda: must(200, "GET", f"/apis/apps/v1/namespaces/{self.ns}/deployments/{name}")["metadata"].get("annotations"),
                   f"{name} to be taken up")
        self.until_running(running, f"app={name}")

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

    def until_decisions(self, count, autoscaler):
        """So many more, of all workloads together."""
        def decided():
            lines = autoscaler.get("/metrics").splitlines()
            return next((float(one.split()[1]) for one in lines if one.startswith("evenkeel_autoscaler_decisions_total ")), 0)
        before = decided()
        self.until(lambda: decided() >= before + count, f"{count} decisions")

    def stop_and_judge(self, generations, low=1, high=8, answered=True):
        for autoscaler in self.schedulers:
            autoscaler.stop()  # what it does from here on would be missing from one of the two counts
        self.assert_each_write_changed_something(generations, answered)
        self.assertTrue(all(low <= replicas <= high for _, replicas in generations()), generations())

    def assert_each_write_changed_something(self, generations, answered):
        """A write that was done twice would be answered twice and change the number once; nobody else changes the spec.
        Where writers were killed some were done whose answer nobody took: they are not on record as done."""
        seen = generations()
        changes = must(200, "GET", f"/apis/apps/v1/namespaces/{self.ns}/deployments/web")["metadata"]["generation"] - seen[0][0]
        if answered:
            self.until(lambda: len(self.scale_writes(200)) >= changes, "the record of the writes")
        else:
            time.sleep(3)  # for the record to be written
        self.assertLessEqual(len(self.scale_writes(200)), changes, seen)
