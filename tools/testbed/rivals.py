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
PLUGINS = "scheduler-plugins"
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


class Plugins:
    """kubernetes-sigs' scheduler with Diktyo's two plugins; a Contender (contenders.py)."""
    name, scheduler_name = PLUGINS, NAME

    def __init__(self, bed, folder):
        self.bed, self.folder = bed, pathlib.Path(folder)
        built = subprocess.run([HERE / "rivals/build", PLUGINS], stdout=subprocess.PIPE, text=True)
        if built.returncode != 0:
            raise Trouble(f"{PLUGINS} could not be built")
        self.program = built.stdout.strip()

    def __enter__(self):
        (self.folder / f"{PLUGINS}.yaml").write_text(configuration(self.bed.plane.kubeconfig))
        port, = free_ports(1)
        admin = f"{self.bed.plane.kubeconfig}"
        with open(self.folder / f"scheduler-{PLUGINS}.log", "ab") as log:
            self.process = subprocess.Popen(
                [self.program, f"--config={self.folder}/{PLUGINS}.yaml", "--bind-address=127.0.0.1", f"--secure-port={port}",
                 f"--authentication-kubeconfig={admin}", f"--authorization-kubeconfig={admin}", "--v=2"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=end_with_parent)
        self.pid = self.process.pid
        wait_until(lambda: self.answers(port), f"{PLUGINS} to be ready", 60)
        return self

    def answers(self, port):
        if self.process.poll() is not None:
            raise Trouble(f"{PLUGINS} ended with {self.process.returncode}: {(self.folder / f'scheduler-{PLUGINS}.log').read_text()[-1500:]}")
        try:
            with urllib.request.urlopen(f"https://127.0.0.1:{port}/healthz", timeout=5, context=ssl._create_unverified_context()) as answer:
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


def contender(name, bed, evenkeel, folder, models=None):
    return Plugins(bed, folder) if name == PLUGINS else contenders.Contender(name, bed, evenkeel, folder, models=models)


def memory_mb(pid):
    """(now, at most so far)"""
    status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return tuple(int(status[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))
