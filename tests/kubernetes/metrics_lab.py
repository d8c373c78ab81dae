"""A real Prometheus on loopback that scrapes a real node-exporter for each node, which reads a /proc of our own making:
machines that are as busy as a test says."""
import pathlib
import shutil
import subprocess
import threading
import time
import unittest
import urllib.request

import lab
from lab import control_plane

TICKS = 100  # of /proc/stat, a second
STEP = 0.2   # seconds between two writes


def program(name):
    """Where it is installed or unpacked by tools/bootstrap; None: nowhere."""
    unpacked = lab.ROOT / ".cache/prometheus/usr/bin" / name
    return str(unpacked) if unpacked.exists() else shutil.which(name)


def available():
    return program("prometheus") and program("prometheus-node-exporter")


needed = unittest.skipUnless(available(), "no prometheus and prometheus-node-exporter: tools/bootstrap unpacks them")


class Machine:
    """One node's /proc, its node-exporter, and what cAdvisor would say of its pods."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.cores, self.memory, self.traffic = 0.5, 2 << 30, 0.0  # used; bytes a second each way
        self.pods = {}  # (namespace, pod) -> cores
        self.used = {}  # the same -> seconds of CPU so far
        self.busy_ticks, self.bytes = 0.0, 0.0
        (folder / "proc/net").mkdir(parents=True)
        (folder / "text").mkdir()
        self.port, = control_plane.free_ports(1)
        self.write(0)

    def write(self, passed):
        self.busy_ticks += self.cores * TICKS * passed
        self.bytes += self.traffic * passed
        busy, total = int(self.busy_ticks), 32 << 20
        self.put("proc/stat", f"cpu  {busy} 0 0 1000 0 0 0 0 0 0\ncpu0 {busy} 0 0 1000 0 0 0 0 0 0\nbtime 1700000000\n")
        self.put("proc/meminfo", f"MemTotal: {total} kB\nMemFree: 1000 kB\nMemAvailable: {total - self.memory // 1024} kB\n")
        self.put("proc/net/dev", "Inter-|   Receive                            |  Transmit\n"
                 " face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed\n"
                 f"  eth0: {int(self.bytes)} 1 0 0 0 0 0 0 {int(self.bytes)} 1 0 0 0 0 0 0\n")
        self.put("proc/diskstats", "   8       0 sda 1 0 8 1 1 0 8 1 0 1 1\n")
        lines = ["# TYPE container_cpu_usage_seconds_total counter\n", "# TYPE container_memory_working_set_bytes gauge\n"]
        for (space, pod), cores in list(self.pods.items()):
            self.used[space, pod] = self.used.get((space, pod), 0.0) + cores * passed
            labels = f'{{namespace="{space}",pod="{pod}",container="main"}}'
            lines.append(f"container_cpu_usage_seconds_total{labels} {self.used[space, pod]:.6f}\n")
            lines.append(f"container_memory_working_set_bytes{labels} 64000000\n")
        if self.pods:
            self.put("text/pods.prom", "".join(lines))

    def put(self, path, text):
        fresh = self.folder / (path + ".tmp")
        fresh.write_text(text)
        fresh.rename(self.folder / path)

    def start(self, log):
        collectors = ("cpu", "meminfo", "netdev", "diskstats", "textfile", "time")
        return subprocess.Popen(
            [program("prometheus-node-exporter"), f"--web.listen-address=127.0.0.1:{self.port}",
             f"--path.procfs={self.folder}/proc", f"--collector.textfile.directory={self.folder}/text",
             "--collector.disable-defaults", "--no-collector.netdev.netlink", *(f"--collector.{one}" for one in collectors)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=control_plane.end_with_parent)


class Monitoring:
    """The machines of these nodes, and a Prometheus that scrapes them every second."""

    def __init__(self, nodes):
        self.folder = pathlib.Path(lab.plane.folder) / f"monitoring-{next(lab.numbers)}"
        self.machines = {name: Machine(name, self.folder / name) for name in nodes}
        self.port, = control_plane.free_ports(1)
        self.log = open(lab.plane.logs / f"{self.folder.name}.log", "ab")
        self.exporters = [machine.start(self.log) for machine in self.machines.values()]
        targets = "".join(f"  - {{targets: ['127.0.0.1:{one.port}'], labels: {{node: {one.name}}}}}\n"
                          for one in self.machines.values())
        (self.folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
            f"scrape_configs:\n- job_name: node\n  static_configs:\n{targets}")
        self.prometheus, self.stopping = None, threading.Event()
        self.writer = threading.Thread(target=self.keep_writing, daemon=True)
        self.writer.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def keep_writing(self):
        last = time.monotonic()
        while not self.stopping.wait(STEP):
            now = time.monotonic()
            for machine in self.machines.values():
                machine.write(now - last)
            last = now

    def start(self):
        self.prometheus = subprocess.Popen(
            [program("prometheus"), f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, preexec_fn=control_plane.end_with_parent)

    def kill(self):
        self.prometheus.kill()
        self.prometheus.wait()

    def is_ready(self):
        try:
            with urllib.request.urlopen(self.url + "/-/ready", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False

    def stop(self):
        self.stopping.set()
        self.writer.join()
        for process in [*self.exporters, *([self.prometheus] if self.prometheus else [])]:
            if process.poll() is None:
                process.kill()
                process.wait()
        self.log.close()


class Loads(threading.Thread):
    """Makes machines as busy as the pods that really run on them, by what each one's workload uses."""

    def __init__(self, name_space, machines, cores):
        super().__init__(daemon=True)
        self.path, self.machines, self.cores = f"/api/v1/namespaces/{name_space}/pods", machines, cores
        self.plane, self.ending = control_plane.ControlPlane(lab.plane.folder), threading.Event()

    def run(self):
        while not self.ending.wait(0.5):
            try:
                pods = self.plane.api("GET", self.path)[1].get("items", [])
            except OSError:
                continue
            for name, machine in self.machines.items():
                machine.pods = {(one["metadata"]["namespace"], one["metadata"]["name"]): self.cores(one) for one in pods
                                if one["spec"].get("nodeName") == name and one["status"].get("phase") == "Running"}
                machine.cores = 0.1 + sum(machine.pods.values())
        self.plane.close()

    def stop(self):
        self.ending.set()
        self.join()


class Measured(lab.LabTest):
    """Nodes whose use a real Prometheus tells, as busy as the pods on them."""
    wants_scheduler = False

    def measure(self, *nodes, cores=lambda pod: 1.0):
        names = [f"{self.ns}-{node}" for node in nodes]
        self.monitoring = Monitoring(names)
        self.addCleanup(self.monitoring.stop)
        self.monitoring.start()
        loads = Loads(self.ns, self.monitoring.machines, cores)
        loads.start()
        self.addCleanup(loads.stop)
        self.until(self.monitoring.is_ready, "Prometheus")

    def usage_flags(self):
        return [f"--metrics-prometheus={self.monitoring.url}", "--metrics-every=1s", "--metrics-prometheus-window=5s",
                "--metrics-capacity=receive=100M,transmit=100M,read=100M,write=100M"]
