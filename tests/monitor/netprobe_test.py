#!/usr/bin/env python3
"""Network probes on three nodes that are network namespaces, one of them behind a slow wire, and a real API server.

  netprobe_test.py EVENKEEL [unittest arguments]

Needs the right to make network namespaces; says so and skips where it has none.
"""
import http.client
import json
import os
import pathlib
import re
import ssl
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "tools/kube")]
import control_plane  # noqa: E402
from authority import Authority  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from wires import CannotBeMade, Wires  # noqa: E402

EVENKEEL = sys.argv.pop(1) if len(sys.argv) > 1 else ""
PATIENCE = int(os.environ.get("EVENKEEL_TEST_PATIENCE", "150"))
NODES, SLOW = ["n1", "n2", "n3"], "n3"
SLOW_RATE = 20e6  # bits a second
MAX_RATE, DATA, PERIOD = 16e6 / 8, 2 << 20, 6  # bytes a second, bytes, seconds
SPACE = "evenkeel-netprobe"
CONFIG_MAP = "/api/v1/namespaces/default/configmaps/netperf-metrics"
RESOURCE = "network.aware.com/bandwidth"
folder = plane = wires = authority = None


def api(method, path, body=None, kind="application/json"):
    return plane.api(method, path, body, kind)


def must(*arguments):
    code, said = api(*arguments)
    if code not in (200, 201):
        raise AssertionError(f"{arguments[:2]}: {code} {said}")
    return said


def node(name):
    room = {"cpu": "1", "memory": "1Gi", "pods": "10"}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": f"z-{name}", "topology.kubernetes.io/region": "r"}},
            "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}],
                       "addresses": [{"type": "Hostname", "address": name}, {"type": "InternalIP", "address": wires.address(name)}]}}


def setUpModule():
    global folder, plane, wires, authority
    try:
        wires = Wires(NODES)
        wires.slow_down(SLOW, f"{SLOW_RATE / 1e6:.0f}mbit")
    except (OSError, CannotBeMade) as error:
        raise unittest.SkipTest(f"network namespaces cannot be made here: {error}") from error
    folder = pathlib.Path(tempfile.mkdtemp(prefix="evenkeel-netprobe-"))
    authority = Authority(folder / "authority")
    # Without a controller-manager nobody minds that the nodes have no kubelets.
    plane = ControlPlane.up(folder / "plane", parts=("etcd", "apiserver"))
    wait_until(lambda: api("GET", "/api/v1/namespaces/default")[0] == 200, "a namespace")
    rights = folder / "rights.yaml"
    rights.write_text("---\n".join(one for one in (ROOT / "deploy/netprobe.yaml").read_text().split("---\n")
                                   if "kind: DaemonSet" not in one))
    done = subprocess.run([f"{plane.state['bin']}/kubectl", f"--kubeconfig={plane.kubeconfig}", "apply", "-f", rights],
                          capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    for name in NODES:
        wires.reach(name, plane.state["ports"]["apiserver"])
        must("POST", "/api/v1/nodes", node(name))


def tearDownModule():
    if plane:
        plane.down()
    if wires:
        wires.remove()
    if folder and not os.environ.get("EVENKEEL_KUBE_KEEP"):
        shutil.rmtree(folder, ignore_errors=True)


def wait_until(holds, what):
    end = time.monotonic() + PATIENCE
    while not (value := holds()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {PATIENCE} s: {what}")
        time.sleep(0.1)
    return value


def kubeconfig(name):
    """Of the probes' account, by a token such as a kubelet asks for: bound to a pod on that node."""
    path = folder / f"{name}.kubeconfig"
    if path.exists():
        return path
    pod = must("POST", f"/api/v1/namespaces/{SPACE}/pods", {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"probe-{name}"},
        "spec": {"nodeName": name, "serviceAccountName": "evenkeel-netprobe", "automountServiceAccountToken": False,
                 "containers": [{"name": "netprobe", "image": "none"}]}})
    answer = must("POST", f"/api/v1/namespaces/{SPACE}/serviceaccounts/evenkeel-netprobe/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"boundObjectRef": {
            "kind": "Pod", "apiVersion": "v1", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}}})
    lines = [line if not line.startswith("users:") else f"users: [{{name: admin, user: {{token: {answer['status']['token']}}}}}]"
             for line in plane.kubeconfig.read_text().splitlines()]
    path.write_text("\n".join(lines) + "\n")
    return path


def figures():
    """{(percentile or bandwidth, origin, destination): number}, of both spellings."""
    fine, dotted = {}, {}
    for key, value in must("GET", CONFIG_MAP).get("data", {}).items():
        if found := re.fullmatch(r"netperf_(p\d\d)_latency_microseconds\.origin\.(\w+)\.destination\.(\w+)", key):
            fine[found.groups()] = float(value)
        elif found := re.fullmatch(r"netperf\.(p\d\d)\.latency\.milliseconds\.origin\.(\w+)\.destination\.(\w+)", key):
            dotted[found.groups()] = int(value)
        elif found := re.fullmatch(r"netperf\.(bandwidth)\.bitspersecond\.origin\.(\w+)\.destination\.(\w+)", key):
            fine[found.groups()] = int(value)
    return fine, dotted


PAIRS = [(a, b) for a in NODES for b in NODES if a != b]


class Probes(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.files = {name: authority.issue(name, f"evenkeel:netprobe:{name}") for name in NODES}
        cls.began, cls.before = time.monotonic(), {name: wires.bytes_of(name) for name in NODES}
        cls.processes = {name: cls.start(name) for name in NODES}

    @classmethod
    def tearDownClass(cls):
        for process in cls.processes.values():
            process.kill()
            process.wait()

    @classmethod
    def flags(cls, name):
        certificate, key = cls.files[name]
        return ["--node", name, "--kubeconfig", str(kubeconfig(name)), "--cert", str(certificate), "--key", str(key),
                "--ca", str(authority.pem), "--period", f"{PERIOD}s"]

    @classmethod
    def start(cls, name):
        log = open(folder / f"{name}.log", "ab")
        process = subprocess.Popen(
            [*wires.enter(name), EVENKEEL, "netprobe", *cls.flags(name), "--mode", "full", "--bandwidth-every", "2",
             "--bandwidth-bytes", str(DATA), "--max-rate", f"{MAX_RATE:.0f}", "--listen", "127.0.0.1:9472",
             "--advertise", "--node-bandwidth", "2G"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=control_plane.end_with_parent)
        log.close()
        return process

    def until(self, holds, what):
        try:
            return wait_until(holds, what)
        except AssertionError as trouble:
            logs = "".join(f"{name}| {line}\n" for name in NODES for line in (folder / f"{name}.log").read_text().splitlines()[-8:])
            self.fail(f"{trouble}\n{figures()}\n{logs}")

    def metrics(self, name):
        text = wires.ask(name, 9472, "/metrics")
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line and not line.startswith("#")}

    def test_1_every_path_is_measured_and_written_in_both_spellings(self):
        def all_there():
            fine, _ = figures()
            return all((kind, *pair) in fine for pair in PAIRS for kind in ("p50", "p90", "p99", "bandwidth"))
        self.until(all_there, "figures of all pairs, bandwidth among them")
        fine, dotted = figures()
        for pair in PAIRS:
            self.assertGreater(fine["p50", *pair], 0)
            self.assertLessEqual(fine["p50", *pair], fine["p90", *pair])
            self.assertLessEqual(fine["p90", *pair], fine["p99", *pair])
            for kind in ("p50", "p90", "p99"):
                self.assertEqual(dotted[kind, *pair], max(1, int(fine[kind, *pair] / 1000 + 0.5)), "whole, and never free")

    def test_2_a_slow_wire_is_measured_as_slow_as_it_is(self):
        def measured():
            fine, _ = figures()
            return all(("bandwidth", *pair) in fine for pair in PAIRS) and fine
        fine = self.until(measured, "bandwidth of all pairs")
        for destination in ("n1", "n2"):
            rate = fine["bandwidth", SLOW, destination]
            print(f"from {SLOW} to {destination}: {rate / 1e6:.2f} of {SLOW_RATE / 1e6:.0f} Mbit/s", file=sys.stderr)
            self.assertLess(abs(rate / SLOW_RATE - 1), 0.2)
            self.assertGreater(fine["bandwidth", destination, SLOW], 2 * SLOW_RATE, "the other way is not slow")

    def test_3_its_own_traffic_stays_below_the_cap_and_is_counted(self):
        burst = 1.25 * (DATA * 1.3 + 400_000)
        for name in NODES:
            received, transmitted = (after - before for after, before in zip(wires.bytes_of(name), self.before[name]))
            elapsed = time.monotonic() - self.began
            said = self.metrics(name)
            print(f"{name}: {8e-6 * received / elapsed:.2f} Mbit/s in, {8e-6 * transmitted / elapsed:.2f} out", file=sys.stderr)
            self.assertLess(received + transmitted, MAX_RATE * elapsed + burst)
            self.assertLess(said["evenkeel_netprobe_transmitted_bytes_total"], 1.1 * wires.bytes_of(name)[1])

    def test_4_strangers_are_refused_and_counted(self):
        foreign = Authority(folder / "foreign")
        self.files["foreign"] = foreign.issue("n1", "evenkeel:netprobe:n1")
        self.files["n9"] = authority.issue("n9", "evenkeel:netprobe:n9")
        refusals = {}
        for who, why in (("foreign", "unauthenticated"), ("n9", "no_member")):
            certificate, key = self.files[who]
            before = self.metrics("n2")[f'evenkeel_netprobe_refused_total{{why="{why}"}}']
            done = subprocess.run(
                [*wires.enter("n1"), EVENKEEL, "netprobe", "--node", "n1", "--once", "-o", "json", "--mode", "full", "--cert",
                 str(certificate), "--key", str(key), "--ca", str(authority.pem), "--peers",
                 f"n1=127.0.0.1:1,n2={wires.address('n2')}:9471"], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 1, done.stderr)
            refusals[who] = json.loads(done.stdout)["failed"]
            self.until(lambda: self.metrics("n2")[f'evenkeel_netprobe_refused_total{{why="{why}"}}'] > before, f"{who} is counted")
        self.assertEqual({who: list(failed) for who, failed in refusals.items()}, {"foreign": ["n2"], "n9": ["n2"]})

    def test_5_once_makes_as_many_tests_as_the_mode_has(self):
        # Beside the probe that runs there, whose turns it does not take.
        for mode, count in (("basic", 1), ("full", 2), ("zones", 2)):
            done = subprocess.run([*wires.enter("n1"), EVENKEEL, "netprobe", *self.flags("n1"), "--once", "-o", "json", "--mode",
                                   mode], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
            self.assertEqual(len(json.loads(done.stdout)["paths"]), count, mode)

    def test_6_a_node_advertises_its_own_bandwidth_and_no_other_nodes(self):
        def advertised():
            return all(must("GET", f"/api/v1/nodes/{name}")["status"]["allocatable"].get(RESOURCE) == "2G" for name in NODES)
        self.until(advertised, "bandwidth in the status of all nodes")
        token = re.search(r"token: ([^}]+)", kubeconfig("n1").read_text())[1]

        def patch(name, status):
            """What the server says to the probe on n1; empty: it did as asked."""
            server = http.client.HTTPSConnection(plane.address, plane.state["ports"]["apiserver"], timeout=PATIENCE,
                                                 context=ssl.create_default_context(cafile=plane.keys / "ca.crt"))
            server.request("PATCH", f"/api/v1/nodes/{name}/status", json.dumps({"status": status}),
                           {"Content-Type": "application/merge-patch+json", "Authorization": f"Bearer {token}"})
            answer = server.getresponse()
            said = json.loads(answer.read())
            server.close()
            return "" if answer.status == 200 else said["message"]
        self.until(lambda: "no other" in patch("n2", {"capacity": {RESOURCE: "9G"}}), "another node's status is refused")
        self.assertIn("nothing else", patch("n1", {"capacity": {"cpu": "64"}}))
        self.assertIn("alone", patch("n1", {"conditions": [{"type": "Ready", "status": "False"}]}))
        self.assertEqual(patch("n1", {"capacity": {RESOURCE: "2G"}}), "")

    def test_7_a_probe_that_was_killed_stops_nobody_else(self):
        self.processes["n2"].kill()
        self.processes["n2"].wait()
        made = {name: self.metrics(name) for name in ("n1", "n3")}

        def go_on():
            now = {name: self.metrics(name) for name in made}
            return all(now[name]["evenkeel_netprobe_tests_failed_total"] > made[name]["evenkeel_netprobe_tests_failed_total"] and
                       now[name]["evenkeel_netprobe_tests_total"] - now[name]["evenkeel_netprobe_tests_failed_total"] >
                       made[name]["evenkeel_netprobe_tests_total"] - made[name]["evenkeel_netprobe_tests_failed_total"]
                       for name in made)
        self.until(go_on, "tests between the others, and none with it")
        self.assertIn(("p90", "n2", "n1"), figures()[0], "what it measured stands while its node does")

    def test_8_what_is_known_of_a_node_goes_with_it(self):
        must("DELETE", "/api/v1/nodes/n2")
        self.until(lambda: {name for key in figures()[0] for name in key[1:]} == {"n1", "n3"}, "keys of n2 to be removed")
        self.assertEqual(set(figures()[1]), {(kind, *pair) for kind in ("p50", "p90", "p99") for pair in (("n1", "n3"), ("n3", "n1"))})


if __name__ == "__main__":
    unittest.main(verbosity=2)
