"""Distances between the testbed's endpoints, by evenkeel_links (tools/testbed/links): one process in the switch's namespace.

Endpoints are the machine, `host`, and the nodes by name. A row says what one direction is like; what has no row has no delay.
"""
import csv
import dataclasses
import os
import pathlib
import signal
import subprocess

import network
from kube import Trouble, end_with_parent, started_at, wait_until

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "build/release/evenkeel_links"


@dataclasses.dataclass
class Row:
    origin: str
    destination: str
    delay_ms: float       # one way
    rate_mbit: float = 0  # 0: no limit
    jitter_ms: float = 0
    loss_percent: float = 0


def write_rows(path, rows):
    partial = pathlib.Path(f"{path}.new")
    with open(partial, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["from", "to", "delay_ms", "rate_mbit", "jitter_ms", "loss_percent"])
        writer.writerows(dataclasses.astuple(one) for one in rows)
    partial.replace(path)


class Emulator:
    def __init__(self, folder, process=None):
        """process: of the running one, as saved in the testbed's state."""
        self.folder, self.process = pathlib.Path(folder), process

    @property
    def log(self):
        return self.folder / "links.log"

    def start(self, endpoints, rows, outlives_us=True, before_exec=lambda: None):
        """Ready when it returns: every endpoint has its device."""
        if not PROGRAM.exists():
            raise Trouble(f"no {PROGRAM}; build it: cmake --build --preset release --target evenkeel_links")
        write_rows(self.folder / "links.csv", rows)

        def prepare():
            if not outlives_us:
                end_with_parent()
            before_exec()
            os.nice(-10)  # a frame that is due is due, whatever else runs
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen(
                ["nsenter", f"--net=/run/netns/{network.SWITCH}", PROGRAM, self.folder / "links.csv", *endpoints],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=outlives_us, preexec_fn=prepare)
        self.process = {"pid": self.child.pid, "started": started_at(self.child.pid)}
        wait_until(lambda: "ready" in self.log.read_text() or self.check(), "the link emulator", 30)

    def set(self, rows):
        """From now on; what is under way arrives as it would have."""
        before = self.log.read_text().count("\n")
        write_rows(self.folder / "links.csv", rows)
        os.kill(self.process["pid"], signal.SIGHUP)
        wait_until(lambda: self.log.read_text().count("\n") > before or self.check(), "the link emulator to read its file", 30)
        said = self.log.read_text().splitlines()[before:]
        if "read" not in said:
            raise Trouble(f"the link emulator: {said}")

    def check(self):
        if not self.is_on():
            raise Trouble(f"the link emulator ended: {self.log.read_text()[-1000:]}")

    def is_on(self):
        if getattr(self, "child", None):
            self.child.poll()
        return bool(self.process) and started_at(self.process["pid"]) == self.process["started"]

    def stop(self):
        """Its devices go with it. Nothing to do where it is off."""
        if self.is_on():
            os.kill(self.process["pid"], signal.SIGKILL)
            wait_until(lambda: not self.is_on(), "the link emulator to end", 30)
        self.process = None

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process['pid']}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
