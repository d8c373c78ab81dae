"""The schedulers that an experiment compares: the genuine kube-scheduler, and ours under each policy."""
import json
import os
import pathlib
import signal
import subprocess
import time

from kube import end_with_parent, wait_until

GENUINE = "kube-scheduler"
TICKS = os.sysconf("SC_CLK_TCK")
RULES = ["kube-default", "horizon", "least-imbalance", "round-robin"]  # decide from the first sample on
# Minutes stand for hours here: a budget that a few minutes can show.
MOVES = {"perHour": 240, "perDay": 2400, "coolDown": "15s"}
GUARDED = 33  # seconds of fresh metrics after which a learned policy may decide


def state_folder(out, name):
    """What a scheduler remembers from run to run: profiles of workloads, what it has learnt."""
    return pathlib.Path(out) / f"state-{name}"


def configuration(model, moves):
    """JSON is YAML."""
    arguments = {**({"model": str(model)} if model else {}), **({"moves": MOVES} if moves else {})}
    return json.dumps({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
                       "profiles": [{"schedulerName": "evenkeel", "pluginConfig": [{"name": "Evenkeel", "args": arguments}]}]})


class Contender:
    """One of them at work; `with` starts and ends it. A name may have a switch behind it: `horizon+moves`, `drs+learn`,
    `evenkeel+own` with a model of its own."""

    def __init__(self, name, bed, evenkeel, folder, flags=(), models=None):
        self.name, self.bed, self.evenkeel, self.folder, self.flags = name, bed, evenkeel, pathlib.Path(folder), list(flags)
        self.models = models or {}

    @property
    def scheduler_name(self):
        return "default-scheduler" if self.name == GENUINE else "evenkeel"

    def __enter__(self):
        if self.name == GENUINE:
            self.bed.plane.start("scheduler")
            self.pid = self.bed.plane.state["processes"]["scheduler"]["pid"]
            return self
        policy, _, switch = self.name.partition("+")
        command = [self.evenkeel, "scheduler", "--leader-elect", "false", "--kubeconfig", self.bed.plane.kubeconfig,
                   "--policy", policy, *self.flags]
        (self.folder / f"{self.name}.yaml").write_text(configuration(self.models.get(self.name), switch == "moves"))
        command += ["--config", self.folder / f"{self.name}.yaml", *(["--learn"] if switch == "learn" else [])]
        state_folder(self.folder, self.name).mkdir(exist_ok=True)
        command += ["--state", state_folder(self.folder, self.name)]
        log = self.folder / f"scheduler-{self.name}.log"
        with open(log, "ab") as out:
            self.process = subprocess.Popen([str(one) for one in command], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                            preexec_fn=end_with_parent)
        self.pid = self.process.pid
        wait_until(lambda: "every kind is listed" in log.read_text() or self.check(log), f"{self.name} to be ready", 60)
        return self

    def wait_until_it_decides(self):
        """Once monitors are there: until then, and for half a minute, the rule decides."""
        time.sleep(5 if self.name.partition("+")[0] in RULES else GUARDED)

    def check(self, log):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name} ended with {self.process.returncode}: {log.read_text()[-2000:]}")

    def __exit__(self, *_):
        if self.name == GENUINE:
            self.bed.plane.stop("scheduler")
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        time.sleep(0.2)

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
