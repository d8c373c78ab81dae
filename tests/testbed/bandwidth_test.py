"""On a real node: pods annotated by `evenkeel convert bandwidth` are held to what their AppGroup asks for by the CNI
bandwidth plugin, and others are not.

  python3 tests/testbed/bandwidth_test.py build/release/evenkeel [unittest arguments]

Exit code 77 says that this machine cannot have such nodes, and why. EVENKEEL_TESTBED_KEEP=1 leaves logs behind.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/testbed"))
import applications  # noqa: E402
import testbed  # noqa: E402
from kube import Trouble, wait_until  # noqa: E402
from node import MIB, Share  # noqa: E402

SKIPPED = 77
PATIENCE = int(os.environ.get("EVENKEEL_TEST_PATIENCE", "150"))
PODS = "/api/v1/namespaces/default/pods"
RATE, WITHIN = 10e6, 0.25  # bits a second; how far from it the measured rate may be
WINDOW = 5  # seconds
EVENKEEL = ""
bed = None


def api(method, path, body=None, expected=(200, 201)):
    code, said = bed.plane.api(method, path, body)
    if code not in expected:
        raise AssertionError(f"{method} {path}: {code} {said.get('message')}")
    return said


def group():
    def workload(name):
        return {"kind": "Pod", "name": name, "selector": name, "apiVersion": "v1", "namespace": "default"}
    return {"apiVersion": "appgroup.diktyo.x-k8s.io/v1alpha1", "kind": "AppGroup",
            "metadata": {"name": "streams", "namespace": "default"},
            "spec": {"numMembers": 2, "topologySortingAlgorithm": "KahnSort", "workloads": [
                {"workload": workload("sender"), "dependencies": [{"workload": workload("server"), "minBandwidth": "10M"}]},
                {"workload": workload("server")}]}}


def sender(name, peer, labels):
    # There and back: what the sender may not send does not come back either.
    return applications.pod(name, "net", ["--peer", peer, "--port", 7000, "--kilobytes", 100_000_000], cpu="100m", limits=False,
                            scheduler="default-scheduler", labels={"app": name, **labels}, nodeName=bed.nodes[0].name)


def annotated(pod):
    """What `evenkeel convert bandwidth` makes of it."""
    manifests = json.dumps({"apiVersion": "v1", "kind": "List", "items": [group(), pod]})
    done = subprocess.run([EVENKEEL, "convert", "bandwidth", "-f", "-"], input=manifests, capture_output=True, text=True,
                          timeout=PATIENCE)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def transmitted(peer, name):
    """Bytes that left the pod: by the interface of its own network, which is that of its process."""
    uid = api("GET", f"{PODS}/{name}")["metadata"]["uid"]
    for pid in bed.nodes[0].cgroup.processes():
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if peer.encode() not in words or uid not in pathlib.Path(f"/proc/{pid}/cgroup").read_text():
                continue
            line = next(one for one in pathlib.Path(f"/proc/{pid}/net/dev").read_text().splitlines() if "eth0:" in one)
            return int(line.split(":")[1].split()[8])
        except OSError:
            continue  # it ended meanwhile
    return None


class Bandwidth(unittest.TestCase):
    def until(self, condition, what):
        try:
            return wait_until(condition, what, PATIENCE)
        except Trouble as trouble:
            states = [json.dumps(one["status"])[:600] for one in api("GET", PODS)["items"]]
            events = [f"  {one['involvedObject']['name']}: {one['reason']}: {one.get('message')}"
                      for one in api("GET", "/api/v1/namespaces/default/events")["items"]]
            self.fail("\n".join([str(trouble), *states, *events[-12:], bed.nodes[0].log_end("kubelet", 10)]))

    def run_pod(self, pod):
        name = pod["metadata"]["name"]
        api("POST", PODS, pod)
        self.addCleanup(api, "DELETE", f"{PODS}/{name}?gracePeriodSeconds=0", expected=(200, 404))
        self.until(lambda: api("GET", f"{PODS}/{name}")["status"].get("phase") == "Running", f"{name} to run")
        return api("GET", f"{PODS}/{name}")["status"]["podIP"]

    def rate(self, peer, name):
        before, began = transmitted(peer, name), time.monotonic()
        time.sleep(WINDOW)
        after = transmitted(peer, name)
        return None if before is None or after is None else 8 * (after - before) / (time.monotonic() - began)

    def test_a_pod_is_held_to_what_its_group_asks_for(self):
        server = applications.pod("server", "net", ["--serve", 7000], cpu="50m", limits=False, scheduler="default-scheduler",
                                  labels={"app": "server"}, nodeName=bed.nodes[0].name)
        peer = self.run_pod(server)
        self.run_pod(sender("free", peer, {}))
        free = self.until(lambda: self.rate(peer, "free"), "a pod that sends")
        api("DELETE", f"{PODS}/free?gracePeriodSeconds=0")
        labels = {"appgroup.diktyo.x-k8s.io": "streams", "appgroup.diktyo.x-k8s.io.workload": "sender"}
        held = annotated(sender("held", peer, labels))
        self.assertEqual(held["metadata"]["annotations"], {"kubernetes.io/egress-bandwidth": "10000000"})
        self.run_pod(held)
        rates = []

        # The runtime lets a burst through before it holds a pod to its rate.
        def is_held():
            rates.append(self.rate(peer, "held"))
            return rates[-1] is not None and abs(rates[-1] / RATE - 1) < WITHIN
        self.until(is_held, f"a rate of {RATE / 1e6:.0f} Mbit/s, seen {rates}")
        steady = self.rate(peer, "held")
        print(f"free: {free / 1e6:.1f} Mbit/s, held: {steady / 1e6:.2f} Mbit/s", file=sys.stderr)
        self.assertLess(abs(steady / RATE - 1), WITHIN, "it stays there")
        self.assertGreater(free, 5 * RATE, "without an annotation nobody is held")


def setUpModule():
    global bed
    left = testbed.Testbed.running()
    if left and not left.is_alive():
        left.down()  # what a crash left behind
    folder = pathlib.Path(tempfile.mkdtemp(prefix="evenkeel-testbed-"))
    bed = testbed.Testbed.up(folder, [Share(cpu=0.8, memory=512 * MIB, disk=1024 * MIB)], outlives_us=False,
                             say=lambda text: print(f"testbed: {text}", file=sys.stderr))


def tearDownModule():
    bed.down(wipe=not os.environ.get("EVENKEEL_TESTBED_KEEP"))


def main():
    global EVENKEEL
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} EVENKEEL [unittest arguments]")
    EVENKEEL = sys.argv.pop(1)
    reason = testbed.obstacle()
    if not reason and not pathlib.Path("/usr/lib/cni/bandwidth").exists():
        reason = "there is no CNI bandwidth plugin at /usr/lib/cni/bandwidth"
    running = testbed.Testbed.running()
    if not reason and running and running.is_alive():
        reason = f"there is a testbed already, in {running.folder}; make testbed-down ends it"
    if reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return SKIPPED
    return 0 if unittest.main(module="__main__", verbosity=2, exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
