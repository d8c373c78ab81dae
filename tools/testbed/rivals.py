"""Schedulers that network-aware placement is compared with, and what each of them takes of the machine."""
import json
import pathlib
import signal
import ssl
import subprocess
import urllib.error
import urllib.request

import contenders
from kube import Trouble, end_with_parent, free_ports, wait_until

HERE = pathlib.Path(__file__).resolve().parent
PLUGINS, VOLCANO = "scheduler-plugins", "volcano"
POD_GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
VOLCANO_CONFIGURATION = {
    "actions": "enqueue, allocate, backfill",
    "tiers": [{"plugins": [{"name": "priority"}, {"name": "gang", "enablePreemptable": False}, {"name": "conformance"}]},
              {"plugins": [{"name": "overcommit"}, {"name": "drf", "enablePreemptable": False}, {"name": "predicates"}, {"name": "proportion"},
                           {"name": "nodeorder"}, {"name": "binpack"}, {"name": "task-topology"}]}]}
NAME = "network-aware-scheduler"


def configuration(kubeconfig):
    """As the project's own example has it, but for one thing: NodeResourcesFit is left out of the score alone. Without its
    filter, which the example switches off with it, nodes get more pods than they have room for."""
    return json.dumps({
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 5000, "burst": 5000},
        "profiles": [{"schedulerName": NAME,
                      "plugins": {"multiPoint": {"enabled": [{"name": "NetworkOverhead", "weight": 5}]},
                                  "score": {"disabled": [{"name": "NodeResourcesFit"}]},
                                  "queueSort": {"enabled": [{"name": "TopologicalSort"}], "disabled": [{"name": "*"}]}},
                      "pluginConfig": [{"name": "TopologicalSort", "args": {"namespaces": ["default"]}},
                                       {"name": "NetworkOverhead", "args": {"namespaces": ["default"], "weightsName": "UserDefined",
                                                                            "networkTopologyName": "nt-default"}}]}]})


class Rival:
    """A program built from its Go module (rivals/build), at work; a Contender (contenders.py)."""
    scheme = "https"

    def __init__(self, bed, folder):
        self.bed, self.folder = bed, pathlib.Path(folder)
        built = subprocess.run([HERE / "rivals/build", self.name], stdout=subprocess.PIPE, text=True)
        if built.returncode != 0:
            raise Trouble(f"{self.name} could not be built")
        self.program = built.stdout.strip()

    def flags(self, port):
        raise NotImplementedError

    def meet(self, group, names, edges):
        """What it wants to know of a group besides the AppGroup."""

    def __enter__(self):
        port, = free_ports(1)
        flags = self.flags(port)
        with open(self.folder / f"scheduler-{self.name}.log", "ab") as log:
            self.process = subprocess.Popen([self.program, *map(str, flags)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=end_with_parent)
        self.pid = self.process.pid
        wait_until(lambda: self.answers(port), f"{self.name} to be ready", 60)
        return self

    def answers(self, port):
        if self.process.poll() is not None:
            raise Trouble(f"{self.name} ended with {self.process.returncode}: {(self.folder / f'scheduler-{self.name}.log').read_text()[-1500:]}")
        try:
            with urllib.request.urlopen(f"{self.scheme}://127.0.0.1:{port}/healthz", timeout=5, context=ssl._create_unverified_context()) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def cpu_seconds(self):
        return contenders.Contender.cpu_seconds(self)


class Plugins(Rival):
    """kubernetes-sigs' scheduler with Diktyo's two plugins."""
    name, scheduler_name = PLUGINS, NAME

    def flags(self, port):
        (self.folder / f"{PLUGINS}.yaml").write_text(configuration(self.bed.plane.kubeconfig))
        admin = self.bed.plane.kubeconfig
        return [f"--config={self.folder}/{PLUGINS}.yaml", "--bind-address=127.0.0.1", f"--secure-port={port}",
                f"--authentication-kubeconfig={admin}", f"--authorization-kubeconfig={admin}", "--v=2"]


class Volcano(Rival):
    """Volcano's scheduler as its chart configures it, with its task-topology plugin besides: who calls whom is an affinity between tasks.
    A PodGroup and a queue are what its controllers would have made; of a gang it asks for one pod, so that replicas may come later."""
    name, scheduler_name, scheme = VOLCANO, "volcano", "http"

    def flags(self, port):
        self.define_kinds()
        self.open_queues()
        # Alone in its folder: it reads the file again whenever anything there is written, its own log for one.
        file = self.folder / f"{VOLCANO}-configuration" / "scheduler.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(VOLCANO_CONFIGURATION))
        return [f"--kubeconfig={self.bed.plane.kubeconfig}", f"--scheduler-conf={file}", "--leader-elect=false",
                "--enable-healthz", f"--healthz-address=127.0.0.1:{port}", "--kube-api-qps=5000", "--kube-api-burst=5000",
                "--cache-dumper=false", "--v=3"]

    def define_kinds(self):
        """Its module has them."""
        if self.bed.plane.api("GET", POD_GROUPS)[0] == 200:
            return
        module = subprocess.run([HERE / "../with_go", "go", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", "volcano.sh/volcano"],
                                cwd=HERE / "rivals/volcano", capture_output=True, text=True)
        kinds = sorted(pathlib.Path(module.stdout.strip()).glob("installer/helm/chart/volcano/crd/bases/*.yaml"))
        if not kinds:
            raise Trouble(f"{VOLCANO}: no kinds in its module: {module.stderr.strip()}")
        kubectl = [f"{self.bed.plane.state['bin']}/kubectl", f"--kubeconfig={self.bed.plane.kubeconfig}"]
        files = [word for path in kinds for word in ("-f", path)]
        for arguments in (["apply", "--server-side", *files], ["wait", "--for=condition=Established", "--timeout=60s", *files]):
            done = subprocess.run([*kubectl, *map(str, arguments)], capture_output=True, text=True)
            if done.returncode != 0:
                raise Trouble(f"{VOLCANO}: {done.stderr.strip()}")

    def open_queues(self):
        """It makes its queues by itself, but lets nobody in until its controller has declared them open."""
        plane = self.bed.plane
        for name in ("root", "default"):
            made = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name},
                    "spec": {"weight": 1, "reclaimable": name != "root"}}
            code, said = plane.api("POST", QUEUES, made)
            if code in (201, 409):
                code, said = plane.api("PATCH", f"{QUEUES}/{name}/status", {"status": {"state": "Open"}}, "application/merge-patch+json")
            if code != 200:
                raise Trouble(f"{QUEUES}/{name}: {code} {said.get('message')}")

    def meet(self, group, names, edges):
        self.define_kinds()
        plane = self.bed.plane
        plane.api("DELETE", f"{POD_GROUPS}/{group}")
        code, said = plane.api("POST", POD_GROUPS, {
            "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
            "metadata": {"name": group, "namespace": "default",
                         "annotations": {"volcano.sh/task-topology-affinity": ";".join(f"{origin},{to}" for origin, to in edges)}},
            "spec": {"minMember": 1, "queue": "default"}})
        if code != 201:
            raise Trouble(f"{POD_GROUPS}: {code} {said.get('message')}")


def contender(name, bed, evenkeel, folder, models=None):
    built = {PLUGINS: Plugins, VOLCANO: Volcano}.get(name)
    return built(bed, folder) if built else contenders.Contender(name, bed, evenkeel, folder, models=models)


def meet(contender, group, names, edges):
    if isinstance(contender, Rival):
        contender.meet(group, names, edges)


def memory_mb(pid):
    """(now, at most so far)"""
    status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return tuple(int(status[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))
