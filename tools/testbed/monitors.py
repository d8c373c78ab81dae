"""One `evenkeel monitor` in each node, sending to the scheduler on the machine; both show certificates of the testbed's own
authority, and a monitor's certificate is for one node.
"""
import os
import pathlib
import signal
import subprocess

import measure
import network
from kube import Keys, end_with_parent

PORT = 27100
ADDRESS = f"{network.HOST}:{PORT}"


def certify(bed, name, subject, names=None):
    """Paths of certificate and key, made where there are none yet."""
    if not (bed.plane.keys / f"{name}.crt").exists():
        Keys(bed.plane.keys).leaf(name, subject, names)
    return bed.plane.keys / f"{name}.crt", bed.plane.keys / f"{name}.key"


def scheduler_flags(bed):
    """By which a scheduler listens to the monitors."""
    certificate, key = certify(bed, "metrics", "/CN=evenkeel-scheduler", f"IP:{network.HOST}")
    return ["--metrics-listen", ADDRESS, "--metrics-cert", certificate, "--metrics-key", key,
            "--metrics-ca", bed.plane.keys / "ca.crt"]


def command(bed, node, evenkeel):
    """Inside the node its own group is the root of all; its disk is the loop device it booted from."""
    certificate, key = certify(bed, f"monitor-{node.name}", f"/CN=evenkeel:monitor:{node.name}")
    full = measure.capacities(node.share)
    rates = [f"{way}={int(full[way])}B/s" for way in ("receive", "transmit", "read", "write")]
    return [evenkeel, "monitor", "--node", node.name, "--to", ADDRESS, "--cert", certificate, "--key", key,
            "--ca", bed.plane.keys / "ca.crt", "--cgroup", "/", "--interfaces", "eth0", "--disks", node.disk(),
            "--capacity", ",".join([f"cpu={round(full['cpu'] * 1000)}m", f"memory={full['memory']}", *rates])]


class Monitors:
    """All of them; `with` starts and ends them."""

    def __init__(self, bed, evenkeel):
        self.bed, self.evenkeel, self.processes = bed, evenkeel, []

    def __enter__(self):
        for node in self.bed.nodes:
            with open(node.folder / "monitor.log", "ab") as log:
                self.processes.append(subprocess.Popen(
                    node.command(*command(self.bed, node, self.evenkeel)), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    preexec_fn=lambda group=node.cgroup: (end_with_parent(), group.join_system())))
        return self

    def __exit__(self, *_):
        for process in self.processes:
            # nsenter waits for its child, which is the monitor, and hands no signal on.
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            for child in children.read_text().split() if children.exists() else []:
                os.kill(int(child), signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []

    def cpu_seconds(self):
        """Of all of them together."""
        total = 0.0
        for process in self.processes:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            for child in children:
                fields = pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return total
