"""What nodes use, second by second, read from outside: control groups for processor, memory and disk, the switch's ports
for the network. Independent of every monitor and scheduler, so that it can judge them.
"""
import dataclasses
import pathlib
import re
import subprocess
import threading
import time

import network

METRICS = ["cpu", "memory", "receive", "transmit", "read", "write"]


def capacities(share):
    """What 1.0 means for each metric. Memory and processor are the whole node's, its own programs included."""
    return {"cpu": share.quota, "memory": share.memory_limit, "receive": share.network, "transmit": share.network,
            "read": share.disk_rate, "write": share.disk_rate}


def totals(node, ports):
    """Counters, and for memory what is held now (without the page cache that could go)."""
    group = node.cgroup
    statistics = dict(line.split() for line in group.read("memory", "stat").splitlines())
    held = int(group.read("memory", "usage_in_bytes")) - int(statistics["total_inactive_file"])
    disk = {"Read": 0, "Write": 0}
    for line in group.read("blkio", "throttle.io_service_bytes_recursive").splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1] in disk and fields[0].startswith("7:"):  # loop devices: the nodes' disks
            disk[fields[1]] += int(fields[2])
    sent, received = ports.get(f"node{node.index}", (0, 0))  # what the switch received the node has sent
    return {"cpu": int(group.read("cpuacct", "usage")) / 1e9, "memory": held, "receive": received, "transmit": sent,
            "read": disk["Read"], "write": disk["Write"]}


def port_counters(text):
    """{port: (bytes in, bytes out)} of what /proc/net/dev says."""
    found = {}
    for line in text.splitlines()[2:]:
        name, _, figures = line.partition(":")
        fields = figures.split()
        found[name.strip()] = (int(fields[0]), int(fields[8]))
    return found


def machine_busy():
    """Seconds of processor time that all of the machine has used."""
    fields = [int(one) for one in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return (sum(fields[:3]) + sum(fields[5:8])) / 100


@dataclasses.dataclass
class Sample:
    at: float      # seconds since the beginning
    nodes: dict    # name -> {metric: share of its capacity}
    testbed: float  # cores used by nodes and control plane together
    others: float  # cores used by all else on the machine


class Sampler(threading.Thread):
    """Takes a sample a second until stop()."""

    def __init__(self, bed, every=1.0):
        super().__init__(daemon=True)
        self.bed, self.every, self.samples, self.over = bed, every, [], threading.Event()
        self.ports = SwitchPorts()

    def read(self):
        ports = self.ports.read()
        whole = int(self.bed.nodes[0].cgroup.top("cpuacct").joinpath("cpuacct.usage").read_text()) / 1e9
        return {node.name: totals(node, ports) for node in self.bed.nodes}, whole, machine_busy()

    def run(self):
        began = last = time.monotonic()
        nodes, whole, busy = self.read()
        while not self.over.wait(max(0.0, last + self.every - time.monotonic())):
            now = time.monotonic()
            nodes_now, whole_now, busy_now = self.read()
            seconds = now - last
            self.samples.append(Sample(now - began, {
                node.name: shares_used(node, nodes[node.name], nodes_now[node.name], seconds) for node in self.bed.nodes},
                (whole_now - whole) / seconds, max(0.0, (busy_now - busy - whole_now + whole) / seconds)))
            nodes, whole, busy, last = nodes_now, whole_now, busy_now, now
        self.ports.close()

    def stop(self):
        self.over.set()
        self.join()
        return self.samples


def shares_used(node, before, after, seconds):
    full = capacities(node.share)
    return {metric: (after[metric] if metric == "memory" else max(0, after[metric] - before[metric]) / seconds) / full[metric]
            for metric in METRICS}


class SwitchPorts:
    """The switch's counters, without a new process for each reading: by one that sleeps in its namespace."""

    def __init__(self):
        self.process = subprocess.Popen(["ip", "netns", "exec", network.SWITCH, "sleep", "infinity"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.file = pathlib.Path(f"/proc/{self.process.pid}/net/dev")
        while not re.search(r"^\s*host:", self.file.read_text(), re.MULTILINE):
            time.sleep(0.01)

    def read(self):
        return port_counters(self.file.read_text())

    def close(self):
        self.process.kill()
        self.process.wait()


# The papers' figures, of samples.

def utilisation(samples):
    """DRS eq. 12: the mean over time, nodes and metrics."""
    return mean(mean(mean(node.values()) for node in one.nodes.values()) for one in samples)


def imbalance(samples):
    """DRS eq. 13 of every moment, averaged over time."""
    return mean(spread([node for node in one.nodes.values()]) for one in samples)


def imbalance_of_means(samples):
    """DRS eq. 13 of each node's time average."""
    names = samples[0].nodes
    return spread([{metric: mean(one.nodes[name][metric] for one in samples) for metric in METRICS} for name in names])


def spread(nodes):
    """The deviation of the nodes' utilisations from their mean, of each metric, averaged over the metrics."""
    def deviation(values):
        middle = mean(values)
        return mean((one - middle) ** 2 for one in values) ** 0.5
    return mean(deviation([node[metric] for node in nodes]) for metric in METRICS)


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0
