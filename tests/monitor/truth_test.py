#!/usr/bin/env python3
"""What the monitor says of a load beside what the load says it did.

  truth_test.py EVENKEEL MONITOR_LOAD [unittest arguments]

Needs the right to make cgroups and, for the network, network namespaces; says so and skips where it has none.
"""
import bisect
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cgroups import Cgroup, remove  # noqa: E402

EVENKEEL, LOAD = (sys.argv.pop(1), sys.argv.pop(1)) if len(sys.argv) > 2 else ("", "")
CPU, MEMORY, NETWORK, DISK = 0.02, 0.02, 0.05, 0.05  # how far the two may be apart
COLUMNS = {"cpu": 1, "memory": 2, "receive": 3, "transmit": 4, "read": 5, "write": 6}
WINDOWS = {"cpu": 5, "receive": 5, "transmit": 5, "read": 3, "write": 3}
INTERVAL = 0.4


class Load:
    def __init__(self, folder, group, *what, seconds=30, namespace=None):
        self.log = pathlib.Path(folder) / f"load-{uuid.uuid4()}.log"
        enter = ["nsenter", f"--net=/run/netns/{namespace}"] if namespace else []
        self.process = subprocess.Popen([*enter, LOAD, str(self.log), str(seconds), *what],
                                        preexec_fn=group.enter if group else None)

    def rows(self):
        text = self.log.read_text() if self.log.exists() else ""
        return [[float(word) for word in line.split()] for line in text.split("\n")[:-1]]

    def wait_until_steady(self, *columns):
        """Until each of what it was told to do has begun, and a second more."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            rows = self.rows()
            if self.process.poll() is not None:
                raise AssertionError(f"the load ended with {self.process.returncode}")
            if rows and all(rows[-1][COLUMNS[name]] > 0 for name in columns):
                return time.sleep(1)
            time.sleep(0.05)
        raise AssertionError("the load does not begin")

    def at(self, name, moment):
        rows = self.rows()
        after = min(max(bisect.bisect_left([row[0] for row in rows], moment), 1), len(rows) - 1)
        (t0, *_), (t1, *_) = rows[after - 1], rows[after]
        v0, v1 = rows[after - 1][COLUMNS[name]], rows[after][COLUMNS[name]]
        return v0 + (v1 - v0) * (moment - t0) / (t1 - t0)

    def rate(self, name, sampled):
        begin, end = sampled[-1 - WINDOWS[name]], sampled[-1]
        return (self.at(name, end) - self.at(name, begin)) / (end - begin)

    def stop(self):
        self.process.kill()
        self.process.wait()


class Truth(unittest.TestCase):
    def setUp(self):
        # Beside the tree, not in /tmp, which may lie in memory: then no disk would be written.
        self.folder = tempfile.mkdtemp(prefix="evenkeel-truth-", dir=os.environ.get("EVENKEEL_TRUTH_DIR", "/var/tmp"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.node = f"evenkeel-truth-{os.getpid()}"
        self.uid = str(uuid.uuid4())
        try:
            self.group = Cgroup(f"{self.node}/kubepods/burstable/pod{self.uid}/main")
        except OSError as error:
            self.skipTest(f"cgroups cannot be made here: {error}")
        self.addCleanup(remove, self.node)

    def start(self, *what, steady, namespace=None):
        load = Load(self.folder, self.group, *what, namespace=namespace)
        self.addCleanup(load.stop)
        load.wait_until_steady(*steady)
        return load

    def ask(self, *options):
        """What the monitor says of node and pod."""
        done = subprocess.run([EVENKEEL, "monitor", "--node", "n1", "--cgroup", "/" + self.node, "--once", "-o", "json",
                               "--interval", f"{INTERVAL}s", *options], text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        time.sleep(0.1)  # for the load to have written down what it did by then
        said = json.loads(done.stdout)
        self.assertEqual([pod["uid"] for pod in said["pods"]], [self.uid])
        return said["usage"], said["pods"][0]["usage"], said["sampled_at"]

    def assert_close(self, name, said, did, within):
        print(f"{name}: said {said:.6g}, did {did:.6g} ({100 * (said / did - 1):+.2f} %)")
        self.assertLess(abs(said / did - 1), within, f"{name}: said {said}, did {did}")

    def test_cpu(self):
        load = self.start("cpu=0.3", steady=["cpu"])
        node, pod, sampled = self.ask()
        did = load.rate("cpu", sampled)
        self.assert_close("cpu of the node", node["cpu"], did, CPU)
        self.assert_close("cpu of the pod", pod["cpu"], did, CPU)

    def test_memory(self):
        load = self.start(f"memory={400 << 20}", steady=["memory"])
        node, pod, _ = self.ask()
        did = load.rows()[-1][COLUMNS["memory"]]
        self.assert_close("memory of the node", node["memory"], did, MEMORY)
        self.assert_close("memory of the pod", pod["memory"], did, MEMORY)

    def test_memory_without_the_idle_pages_of_files(self):
        self.start(f"memory={100 << 20}", steady=["memory"])
        path = pathlib.Path(self.folder) / "cached"
        path.write_bytes(b"x" * (64 << 20))
        subprocess.run(["dd", f"if={path}", "of=/dev/null", "bs=1M"], preexec_fn=self.group.enter, check=True,
                       stderr=subprocess.DEVNULL)
        _, pod, _ = self.ask()
        self.assertLess(pod["memory"], 120 << 20)

    def test_disk(self):
        path = pathlib.Path(self.folder) / "data"
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT))
        except OSError as error:
            self.skipTest(f"{self.folder} lies on no disk that can be written directly: {error}")
        # Kernels since 6.10 count a v1 cgroup's bytes only of disks that a rule speaks of: one that limits nothing will do.
        disk = os.stat(self.folder).st_dev
        for folder in self.group.folders:
            try:
                (folder / "blkio.throttle.read_bps_device").write_text(f"{os.major(disk)}:{os.minor(disk)} {10 ** 12}")
            except OSError:
                pass  # v2, or a partition: skipped below if nothing is counted
        load = self.start(f"write=4000000,{path}", f"read=6000000,{path}2", steady=["read", "write"])
        node, pod, sampled = self.ask()
        if node["read"] == 0 and node["write"] == 0:
            self.skipTest(f"the kernel counts nothing for cgroups on the disk of {self.folder}")
        for name in ("read", "write"):
            did = load.rate(name, sampled)
            self.assert_close(name + " of the node", node[name], did, DISK)
            self.assert_close(name + " of the pod", pod[name], did, DISK)

    def test_network(self):
        here, there = f"ek{os.getpid()}a", f"ek{os.getpid()}b"
        commands = [f"ip netns add {here}", f"ip netns add {there}",
                    f"ip -n {here} link add ek0 type veth peer name ek0 netns {there}",
                    f"ip -n {here} addr add 198.18.0.1/30 dev ek0", f"ip -n {there} addr add 198.18.0.2/30 dev ek0",
                    f"ip -n {here} link set ek0 up", f"ip -n {there} link set ek0 up"]
        self.addCleanup(lambda: [subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)
                                 for name in (here, there)] if shutil.which("ip") else None)
        try:
            for command in commands:
                subprocess.run(command.split(), check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            self.skipTest(f"network namespaces cannot be made here: {getattr(error, 'stderr', error)}")
        peer = Load(self.folder, None, "send=3000000,198.18.0.1,20001", "listen=198.18.0.2,20002", namespace=there)
        self.addCleanup(peer.stop)
        load = self.start("send=1000000,198.18.0.2,20002", "listen=198.18.0.1,20001", namespace=here,
                          steady=["receive", "transmit"])
        node, pod, sampled = self.ask("--network-of", str(load.process.pid), "--interfaces", "ek0")
        # What came to the node is what its peer sent: the load itself may be late to take it.
        did = {"receive": peer.rate("transmit", sampled), "transmit": load.rate("transmit", sampled)}
        for name in ("receive", "transmit"):
            self.assert_close(name + " of the node", node[name], did[name], NETWORK)
            self.assertEqual(pod[name], 0, "on the node's own network a pod has none of its own")
        _, pod, sampled = self.ask()
        did = {"receive": peer.rate("transmit", sampled), "transmit": load.rate("transmit", sampled)}
        for name in ("receive", "transmit"):
            self.assert_close(name + " of the pod", pod[name], did[name], NETWORK)


if __name__ == "__main__":
    unittest.main()
