"""Debian's Redis in cluster mode on a testbed: masters, a replica of each, and a client that drives redis-benchmark."""
import csv
import itertools
import pathlib
import shutil
import socket
import subprocess

import groups
import images
from kube import Trouble, wait_until

GROUP, PORT, SLOTS = "redis", 6379, 16384
# About in proportion to what they use, and a node of one CPU holds all of them.
CPU = {"client": "400m", "master": "80m", "replica": "20m"}
MASTERS = 5
NAMES = ["client", "master", "replica"]
LOOK = 40  # requests of each client, to see how fast they are
COMMANDS = {"SET": ["SET", "KEY", "xxx"], "GET": ["GET", "KEY"]}
EDGES = [("client", "master"), ("master", "replica")]
SETTINGS = ["--port", PORT, "--cluster-enabled", "yes", "--cluster-node-timeout", 15000, "--save", "", "--appendonly", "no",
            "--protected-mode", "no", "--repl-diskless-sync-delay", 0]


def programs():
    """{path in the image: path here}; the package's server is the same file as its checker, told apart by its name."""
    found = {name: shutil.which(name) for name in ("redis-check-rdb", "redis-cli", "redis-benchmark")}
    missing = [name for name, path in found.items() if not path]
    if missing:
        raise Trouble(f"no {', '.join(missing)}: tools/bootstrap --testbed installs Redis")
    return {"usr/bin/redis-server": found["redis-check-rdb"], "usr/bin/redis-cli": found["redis-cli"],
            "usr/bin/redis-benchmark": found["redis-benchmark"]}


def add_image(bed):
    archive = pathlib.Path(bed.folder) / "redis.tar"
    images.of_machine("redis", programs(), archive)
    bed.import_images(archive)


def deployments(scheduler):
    """The client waits as a server that nobody asks, until it is told to measure."""
    of = {"master": (MASTERS, SETTINGS), "replica": (MASTERS, SETTINGS), "client": (1, ["--port", PORT])}
    return [groups.deployment(GROUP, name, of[name][0], "redis", of[name][1], scheduler, CPU[name], memory="64Mi") for name in NAMES]


class Server:
    """One of them, spoken to in Redis' own protocol."""

    def __init__(self, address):
        self.address = address
        self.stream = socket.create_connection((address, PORT), timeout=20).makefile("rwb")

    def say(self, *words):
        self.stream.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(one), one) for one in (str(word).encode() for word in words)))
        self.stream.flush()
        first = self.stream.readline().decode().rstrip("\r\n")
        if first.startswith("-"):
            raise Trouble(f"{self.address}: {' '.join(map(str, words))}: {first}")
        if first.startswith("$"):
            text = self.stream.read(int(first[1:]) + 2)
            return text[:-2].decode()
        return first[1:]


def form(pods):
    """A cluster of them: slots in equal parts, every replica with a master of its own."""
    def servers(part):
        addresses = sorted(pod["status"]["podIP"] for pod in pods if groups.part_of(pod) == part)
        return [wait_until(lambda one=one: reached(one), f"{one} to listen", 60) for one in addresses]
    masters, replicas = servers("master"), servers("replica")
    everybody = [*masters, *replicas]
    for number, one in enumerate(masters):
        one.say("CLUSTER", "ADDSLOTSRANGE", number * SLOTS // len(masters), (number + 1) * SLOTS // len(masters) - 1)
        one.say("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
    for one in everybody[1:]:
        one.say("CLUSTER", "MEET", masters[0].address, PORT)
    wait_until(lambda: all(f"cluster_known_nodes:{len(everybody)}" in one.say("CLUSTER", "INFO") for one in everybody), "all to know all", 90)
    for master, replica in zip(masters, replicas):
        name = master.say("CLUSTER", "MYID")
        wait_until(lambda m=name, r=replica: follows(r, m), "replicas to know their masters", 60)
    wait_until(lambda: all("cluster_state:ok" in one.say("CLUSTER", "INFO") for one in everybody), "the cluster to be whole", 90)
    wait_until(lambda: all("master_link_status:up" in one.say("INFO", "replication") for one in replicas), "replicas to follow", 90)


def reached(address):
    try:
        return Server(address)
    except OSError:
        return None


def follows(replica, master):
    try:
        return replica.say("CLUSTER", "REPLICATE", master) == "OK"
    except Trouble:
        return False  # not heard of it yet


def measure(bed, pods, requests, clients, operations, longest):
    """{operation: figures}, by redis-benchmark in the client's pod. Once as it shares requests out in a cluster (`SET`): clients keep
    to one master each, and those of a near one send most of all requests. Once in equal parts for every master, at the same time
    (`SET evenly`), as keys would have it: over when the last is done. longest: seconds (a third of them evenly); where a short look says that all requests
    would take longer, it is as many as that long takes."""
    client = next(pod for pod in pods if groups.part_of(pod) == "client")["metadata"]["name"]
    masters = sorted(pod["status"]["podIP"] for pod in pods if groups.part_of(pod) == "master")
    exec_in = [f"{bed.plane.state['bin']}/kubectl", f"--kubeconfig={bed.plane.kubeconfig}", "exec", client, "--", "/usr/bin/redis-benchmark",
               "-p", str(PORT), "-r", "100000", "--csv"]

    def as_it_shares(operation, count):
        return figures(rows_of(start([*exec_in, "-h", masters[0], "--cluster", "-n", str(count), "-c", str(clients), "-t", operation.lower()]))[0])

    def evenly(operation, count):
        parts = [start([*exec_in, "-h", address, "-n", str(count // len(masters)), "-c", str(clients // len(masters)),
                        *(word.replace("KEY", f"{{{tag_of(number, len(masters))}}}:__rand_int__") for word in COMMANDS[operation])])
                 for number, address in enumerate(masters)]
        each = [figures(rows_of(one)[0]) for one in parts]
        return {"requests_s": len(masters) * min(one["requests_s"] for one in each),
                **{key: sum(one[key] for one in each) / len(each) for key in ("mean_ms", "p50_ms")}, "p99_ms": max(one["p99_ms"] for one in each)}

    found = {}
    for suffix, run, seconds in (("", as_it_shares, longest), (" evenly", evenly, longest / 3)):
        for operation in operations.upper().split(","):
            if run is evenly and operation not in COMMANDS:
                continue
            look = run(operation, min(requests, LOOK * clients))
            count = min(requests, max(LOOK * clients, int(seconds * look["requests_s"])))
            found[f"{operation}{suffix}"] = {**run(operation, count), "requests": count}
    return found


def start(command):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def rows_of(process):
    said, complained = process.communicate(timeout=1800)
    rows = list(csv.DictReader(line for line in said.splitlines() if line.startswith('"')))
    if process.returncode != 0 or not rows:
        raise Trouble(f"redis-benchmark ended with {process.returncode}: {said[-500:]} {complained[-500:]}")
    return rows


def figures(row):
    return {"requests_s": float(row["rps"]), "mean_ms": float(row["avg_latency_ms"]), "p50_ms": float(row["p50_latency_ms"]),
            "p99_ms": float(row["p99_latency_ms"])}


def tag_of(number, masters):
    """What in braces makes a key the slot's of that master."""
    return next(str(tag) for tag in itertools.count() if slot_of(str(tag)) * masters // SLOTS == number)


def slot_of(text):
    """CRC16 (XMODEM), as Redis Cluster has it."""
    value = 0
    for byte in text.encode():
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1 ^ (0x1021 if value & 0x8000 else 0)) & 0xFFFF
    return value % SLOTS
