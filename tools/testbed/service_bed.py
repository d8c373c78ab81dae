"""Real nodes with a service on them, under an open loop of requests: what autoscalers are compared and tested on.

A testbed of two nodes, the genuine kube-controller-manager and kube-scheduler, a real Prometheus that scrapes the service's pods
and the kubelets' cAdvisor, reached as service monitoring/prometheus:9090 through the API server as well, and a metrics API out
of that same Prometheus for the genuine HPA. Time runs three times as fast as in a cluster of everyday: periods and windows of
both autoscalers are a third of their defaults.
"""
import contextlib
import json
import pathlib
import shutil
import subprocess
import tempfile
import threading

import applications
import cgroups
import images
import metrics_adapter
import network
import testbed
from kube import ControlPlane, Trouble, end_with_parent, free_ports, wait_until
from node import MIB, Share

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SPACE, NAME = "default", "web"
SHARES = [Share(0.45, 1024 * MIB), Share(0.45, 1024 * MIB)]
COST_MS = 5       # of processor time, each request
POD_CPU = 0.1     # cores: twenty requests a second at most
START_UP_S = 5
TARGET = 70       # % of the request, of every HPA
LOW, HIGH = 1, 8
PERIOD_S, WINDOW_S = 5, 15  # of decisions; of what is measured
SERVICE_PORT, METRICS_PORT = 8080, 8081
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{SPACE}/deployments"
HPAS = f"/apis/autoscaling/v2/namespaces/{SPACE}/horizontalpodautoscalers"
SCALERS = f"/apis/evenkeel.io/v1alpha1/namespaces/{SPACE}/workloadscalers"
# kube-controller-manager's defaults are 15 s, 5 min, 30 s and 5 min.
HPA_FLAGS = [f"--horizontal-pod-autoscaler-sync-period={PERIOD_S}s", "--horizontal-pod-autoscaler-cpu-initialization-period=100s",
             "--horizontal-pod-autoscaler-initial-readiness-delay=10s", "--horizontal-pod-autoscaler-downscale-stabilization=100s"]
ARGUMENTS_OF_HPA = {"cpuInitializationPeriod": "100s", "initialReadinessDelay": "10s"}
QUICKLY = [{"type": "Pods", "value": 4, "periodSeconds": PERIOD_S}, {"type": "Percent", "value": 100, "periodSeconds": PERIOD_S}]
BEHAVIOUR = {"scaleUp": {"stabilizationWindowSeconds": 0, "policies": QUICKLY},
             "scaleDown": {"stabilizationWindowSeconds": 100, "policies": QUICKLY[1:]}}


def service(replicas=LOW):
    made = applications.deployment(NAME, replicas, "service", ["--cost", COST_MS, "--start-up", START_UP_S], scheduler="default-scheduler",
                                   cpu=f"{round(POD_CPU * 1000)}m", memory="48Mi")
    pod = made["spec"]["template"]["spec"]
    pod["terminationGracePeriodSeconds"] = 10  # it serves who is in line; nobody new comes
    pod["containers"][0]["readinessProbe"] = {"httpGet": {"path": "/ready", "port": METRICS_PORT}, "periodSeconds": 1}
    return made


def hpa(behaviour=None):
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": NAME}, "spec": target_of(behaviour)}


def scaler(policy, level, behaviour=None):
    return {"apiVersion": "evenkeel.io/v1alpha1", "kind": "WorkloadScaler", "metadata": {"name": NAME}, "spec": {
        **target_of(behaviour), "mode": "Auto", "policy": policy, "serviceLevel": level, "interval": f"{PERIOD_S}s", "staleAfter": "20s",
        "policyArguments": ARGUMENTS_OF_HPA if policy == "hpa" else {}}}


def target_of(behaviour):
    return {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": NAME}, "minReplicas": LOW, "maxReplicas": HIGH,
            "behavior": behaviour or BEHAVIOUR,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": TARGET}}}]}


def prometheus_program():
    unpacked = ROOT / ".cache/prometheus/usr/bin/prometheus"
    return str(unpacked) if unpacked.exists() else shutil.which("prometheus")


def is_ready(pod):
    return any(one["type"] == "Ready" and one["status"] == "True" for one in pod["status"].get("conditions", []))


class ServiceBed(contextlib.ExitStack):
    """Up when made; close() ends all of it."""

    def __init__(self, say=lambda text: None):
        super().__init__()
        try:
            self.start(say)
        except BaseException:
            self.close()
            raise

    def start(self, say):
        if not prometheus_program():
            raise Trouble("no prometheus: tools/bootstrap unpacks it")
        self.folder = pathlib.Path(self.enter_context(tempfile.TemporaryDirectory(prefix="evenkeel-service-", ignore_cleanup_errors=True)))
        self.bed = testbed.Testbed.up(self.folder / "bed", SHARES, outlives_us=False, say=say, grace="60s",
                                      parts=("etcd", "apiserver", "controller-manager", "scheduler"), controller_flags=HPA_FLAGS,
                                      kubelet_flags=["--housekeeping-interval=2s"])
        self.callback(self.bed.down)
        self.plane, self.known = self.bed.plane, []
        self.log = self.enter_context(open(self.folder / "log", "ab"))
        images.compile_program(images.SOURCES / "load.cpp", self.folder / "load")
        self.port, adapter_port = free_ports(2)
        self.write_targets()
        self.start_prometheus()
        metrics_adapter.Adapter(network.HOST, adapter_port, self.prometheus, self.folder,
                                lambda _: {one["metadata"]["name"]: one["metadata"]["labels"] for one in self.known})
        for path, body in metrics_adapter.objects(network.HOST, adapter_port):
            self.must("POST", path, body)
        self.introduce_prometheus()
        self.follow()

    # Talking to the cluster.

    def must(self, method, path, body=None):
        code, said = self.plane.api(method, path, body, f"application/{'merge-patch+' if method == 'PATCH' else ''}json")
        if code not in (200, 201):
            raise Trouble(f"{method} {path}: {code} {said.get('message')}")
        return said

    def kubectl(self, *arguments):
        return subprocess.run([f"{self.plane.state['bin']}/kubectl", f"--kubeconfig={self.plane.kubeconfig}", *map(str, arguments)],
                              check=True, stdout=subprocess.PIPE, text=True).stdout

    def replicas(self):
        return self.must("GET", f"{DEPLOYMENTS}/{NAME}")["spec"]["replicas"]

    def start_service(self, replicas=LOW):
        self.must("POST", DEPLOYMENTS, service(replicas))
        wait_until(lambda: sum(map(is_ready, self.known)) >= replicas, "the service's first pods")

    def stop_service(self):
        self.plane.api("DELETE", f"{DEPLOYMENTS}/{NAME}?propagationPolicy=Background")
        wait_until(lambda: not self.plane.api("GET", f"/api/v1/namespaces/{SPACE}/pods?labelSelector=app%3D{NAME}")[1]["items"],
                   "the end of the pods")

    # Prometheus.

    @property
    def prometheus(self):
        return f"http://{network.HOST}:{self.port}"

    def introduce_prometheus(self):
        """As service monitoring/prometheus. The API server's proxy goes to pods alone, so one that nobody runs stands for the
        process."""
        place = "/api/v1/namespaces/monitoring"
        self.must("POST", "/api/v1/namespaces", {"metadata": {"name": "monitoring"}})
        wait_until(lambda: self.plane.api("GET", f"{place}/serviceaccounts/default")[0] == 200, "the namespace's account")
        pod = applications.pod("prometheus", "pause", [], scheduler="nobody")
        self.must("POST", f"{place}/pods", pod)
        self.must("PATCH", f"{place}/pods/prometheus/status", {"status": {"podIP": network.HOST, "podIPs": [{"ip": network.HOST}]}})
        self.must("POST", f"{place}/services", {"metadata": {"name": "prometheus"}, "spec": {"ports": [{"port": 9090, "targetPort": self.port}]}})
        self.must("POST", f"{place}/endpoints", {"metadata": {"name": "prometheus"}, "subsets": [{"ports": [{"port": self.port}], "addresses": [
            {"ip": network.HOST, "targetRef": {"kind": "Pod", "namespace": "monitoring", "name": "prometheus"}}]}]})

    def with_priority(self):
        """For preexec_fn: counts as a part of the testbed, as the control plane does, so that what else the machine does delays no
        request and no measurement."""
        end_with_parent()
        cgroups.Cgroup(f"{cgroups.TOP}/control-plane").join()

    def start_prometheus(self):
        server, keys = f"{self.plane.address}:{self.plane.state['ports']['apiserver']}", self.plane.keys
        nodes = "".join(
            f"- job_name: cadvisor-{node.name}\n  scheme: https\n  metrics_path: /api/v1/nodes/{node.name}/proxy/metrics/cadvisor\n"
            f"  honor_labels: true\n  tls_config: {{ca_file: {keys}/ca.crt, cert_file: {keys}/admin.crt, key_file: {keys}/admin.key}}\n"
            f"  static_configs: [{{targets: ['{server}']}}]\n"
            "  metric_relabel_configs: [{source_labels: [__name__, namespace], separator: '/', action: keep,\n"
            f"    regex: 'container_(cpu_usage_seconds_total|memory_working_set_bytes)/{SPACE}'}}]\n" for node in self.bed.nodes)
        (self.folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 2s, scrape_timeout: 2s}\nscrape_configs:\n- job_name: pods\n  honor_labels: true\n"
            f"  file_sd_configs: [{{files: ['{self.folder}/pods.json'], refresh_interval: 1s}}]\n{nodes}")
        process = subprocess.Popen(
            [prometheus_program(), f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
             f"--web.listen-address={network.HOST}:{self.port}", "--log.level=warn"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, preexec_fn=self.with_priority)
        self.callback(lambda: (process.kill(), process.wait()))

    # A Service's endpoints, without kube-proxy: whom the generator may ask, and whom Prometheus scrapes.

    def follow(self):
        ended, plane = threading.Event(), ControlPlane(self.plane.folder)  # a connection of its own

        def look():
            while not ended.wait(0.5):
                with contextlib.suppress(OSError):
                    code, said = plane.api("GET", f"/api/v1/namespaces/{SPACE}/pods?labelSelector=app%3D{NAME}")
                    if code == 200:
                        self.known = [one for one in said["items"] if one["status"].get("podIP") and "deletionTimestamp" not in one["metadata"]]
                        self.write_targets()
            plane.close()
        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        self.callback(lambda: (ended.set(), thread.join()))

    def write_targets(self):
        files = {"targets.txt": "".join(f"{one['status']['podIP']}:{SERVICE_PORT}\n" for one in self.known if is_ready(one)),
                 "pods.json": json.dumps([{"targets": [f"{one['status']['podIP']}:{METRICS_PORT}"],
                                           "labels": {"namespace": SPACE, "pod": one["metadata"]["name"]}} for one in self.known])}
        for name, text in files.items():
            if not (self.folder / name).exists() or (self.folder / name).read_text() != text:
                (self.folder / f"{name}.new").write_text(text)
                (self.folder / f"{name}.new").replace(self.folder / name)

    def start_load(self, rates, seconds, seed=1):
        """The open loop, and where it writes what became of each request."""
        (self.folder / "rates.csv").write_text("".join(f"{at:.3f},{rate:.4f}\n" for at, rate in rates))
        answers = self.folder / "answers.csv"
        with open(answers, "wb") as output:
            return subprocess.Popen(
                [self.folder / "load", "--seconds", str(seconds), "--rates", self.folder / "rates.csv", "--targets",
                 self.folder / "targets.txt", "--seed", str(seed)], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE,
                text=True, preexec_fn=self.with_priority), answers
