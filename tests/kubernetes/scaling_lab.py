"""Workloads that are busy by as much as a test says, told by a real Prometheus that scrapes an exporter of the test's own:
request counts and durations of each pod as an instrumented service has them, and its CPU as cAdvisor does."""
import contextlib
import http.server
import pathlib
import signal
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import lab
import metrics_lab
from lab import control_plane

BOUNDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)  # of the histogram, seconds
STEP = 0.25


def available():
    return metrics_lab.program("prometheus")


class Load:
    """What one workload is asked to do, shared evenly by its pods."""

    def __init__(self, name_space, selector, rate, seconds=0.05, cores=0.02):
        self.name_space, self.selector = name_space, selector
        self.rate, self.seconds, self.cores = rate, seconds, cores  # requests a second; of each: time, and seconds of CPU
        self.pods = {}  # name -> [requests, seconds of CPU, {bound: requests}]
        # What the exporter does to the truth: every value replaced, or so many times what it is; so many pods told of, by name.
        self.lie, self.scale_of_lie, self.told = "", 1, None

    def advance(self, passed, names):
        self.pods = {name: self.pods.get(name, [0.0, 0.0, dict.fromkeys(BOUNDS, 0.0)]) for name in names}
        for done in self.pods.values():
            share = self.rate * self.scale_of_lie * passed / len(self.pods)
            done[0] += share
            done[1] += share * self.cores
            for bound in BOUNDS:
                done[2][bound] += share if self.seconds <= bound else 0.0

    def begin_anew(self):
        """As if every container had been restarted."""
        self.pods = {name: [0.0, 0.0, dict.fromkeys(BOUNDS, 0.0)] for name in self.pods}

    def lines(self):
        for line in self.true_lines():
            yield f"{line.rpartition(' ')[0]} {self.lie}" if self.lie else line

    def true_lines(self):
        for name, (requests, cores, buckets) in sorted(self.pods.items())[:self.told]:
            of = f'namespace="{self.name_space}",pod="{name}"'
            for bound, count in buckets.items():
                yield f'http_request_duration_seconds_bucket{{{of},le="{bound}"}} {count:.6f}'
            yield f'http_request_duration_seconds_bucket{{{of},le="+Inf"}} {requests:.6f}'
            yield f"http_request_duration_seconds_count{{{of}}} {requests:.6f}"
            yield f"http_request_duration_seconds_sum{{{of}}} {requests * self.seconds:.6f}"
            yield f'container_cpu_usage_seconds_total{{{of},container="main"}} {cores:.6f}'
            yield f'container_memory_working_set_bytes{{{of},container="main"}} 64000000'


class Metering:
    """The exporter and the Prometheus that scrapes it every second."""

    def __init__(self):
        self.folder = pathlib.Path(lab.plane.folder) / f"metering-{next(lab.numbers)}"
        self.folder.mkdir()
        self.loads, self.lock, self.stopping = [], threading.Lock(), threading.Event()
        self.plane = control_plane.ControlPlane(lab.plane.folder)  # a connection of its own
        self.port, exporter_port = control_plane.free_ports(2)
        self.log = open(lab.plane.logs / f"{self.folder.name}.log", "ab")
        metering = self

        class Exporter(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                with metering.lock:
                    body = "".join(line + "\n" for load in metering.loads for line in load.lines()).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                with contextlib.suppress(OSError):  # who asked may be gone by now
                    self.wfile.write(body)

            def log_message(self, *_):
                pass
        self.exporter = http.server.ThreadingHTTPServer(("127.0.0.1", exporter_port), Exporter)
        (self.folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
            f"scrape_configs:\n- job_name: pods\n  honor_labels: true\n  static_configs: [{{targets: ['127.0.0.1:{exporter_port}']}}]\n")
        self.threads = [threading.Thread(target=one, daemon=True) for one in (self.exporter.serve_forever, self.keep_counting)]
        for one in self.threads:
            one.start()
        self.prometheus = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def add(self, load):
        with self.lock:
            self.loads.append(load)
        return load

    def keep_counting(self):
        last = time.monotonic()
        while not self.stopping.wait(STEP):
            for load in list(self.loads):
                path = f"/api/v1/namespaces/{load.name_space}/pods?labelSelector={urllib.parse.quote(load.selector)}"
                try:
                    code, said = self.plane.api("GET", path)
                except OSError:
                    continue
                if code != 200:
                    continue
                names = [one["metadata"]["name"] for one in said["items"] if one["status"].get("phase") == "Running"
                         and "deletionTimestamp" not in one["metadata"]]
                with self.lock:
                    load.names = names
            now = time.monotonic()
            with self.lock:
                for load in self.loads:
                    load.advance(now - last, getattr(load, "names", []))
            last = now

    def start(self):
        self.prometheus = subprocess.Popen(
            [metrics_lab.program("prometheus"), f"--config.file={self.folder}/prometheus.yml",
             f"--storage.tsdb.path={self.folder}/data", f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, preexec_fn=control_plane.end_with_parent)

    def kill(self):
        self.prometheus.kill()
        self.prometheus.wait()

    def signal(self, which):
        self.prometheus.send_signal(which)

    def is_ready(self):
        try:
            with urllib.request.urlopen(self.url + "/-/ready", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False

    def stop(self):
        self.stopping.set()
        self.exporter.shutdown()
        self.exporter.server_close()
        for one in self.threads:
            one.join()
        if self.prometheus and self.prometheus.poll() is None:
            self.prometheus.send_signal(signal.SIGCONT)
            self.kill()
        self.plane.close()
        self.log.close()
