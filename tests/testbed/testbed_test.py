"""On real nodes: kubelets, containerd and runc on this machine, and `evenkeel scheduler` placing real containers.

  python3 tests/testbed/testbed_test.py build/release/evenkeel [unittest arguments]

Exit code 77 says that this machine cannot have such nodes, and why. EVENKEEL_TESTBED_KEEP=1 leaves logs behind.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/testbed"))
import applications  # noqa: E402
import cgroups  # noqa: E402
import measure  # noqa: E402
import network  # noqa: E402
import testbed  # noqa: E402
from kube import Trouble, end_with_parent, wait_until  # noqa: E402
from node import MIB, Share  # noqa: E402

SKIPPED = 77
PATIENCE = int(os.environ.get("EVENKEEL_TEST_PATIENCE", "150"))  # seconds for a condition, on a machine that may be busy
SETTINGS = ["kernel/panic", "kernel/panic_on_oops", "vm/overcommit_memory", "vm/panic_on_oom", "net/ipv4/ip_forward"]
SHARES = [Share(cpu=0.3, memory=512 * MIB, disk=1024 * MIB)] * 3 + [Share(cpu=0.25, memory=768 * MIB, disk=1024 * MIB)]
EVENKEEL = ""
bed = scheduler = before = None


def machine():
    """What the testbed must leave as it was."""
    mounts = [line.split()[:3] for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()]
    return {"mounts": sorted(mounts), "links": sorted(one["ifname"] for one in json.loads(network.ip("-j", "link"))),
            "routes": sorted(network.ip("-4", "route").splitlines()), "namespaces": network.ip("netns", "list").split(),
            "disks": subprocess.run(["losetup", "-l", "-n", "-O", "BACK-FILE"], capture_output=True, text=True).stdout,
            "settings": {name: pathlib.Path("/proc/sys", name).read_text() for name in SETTINGS},
            "groups": sorted(place.name for root in cgroups.hierarchies().values() for place in root.iterdir() if place.is_dir()),
            "folders": [place for place in ("/var/lib/kubelet", "/var/lib/cni", "/run/containerd", "/var/log/pods")
                        if os.path.exists(place)]}


def api(method, path, body=None, expected=(200, 201)):
    code, said = bed.plane.api(method, path, body)
    if code not in expected:
        raise AssertionError(f"{method} {path}: {code} {said.get('message')}")
    return said


PODS = "/api/v1/namespaces/default/pods"


def pods(app):
    return api("GET", f"{PODS}?labelSelector=app%3D{app}")["items"]


def phases(app):
    return [one.get("status", {}).get("phase") for one in pods(app)]


def bytes_of(quantity):
    return int(quantity[:-2]) << {"Ki": 10, "Mi": 20, "Gi": 30}[quantity[-2:]]


class RealNodes(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.began = time.monotonic()

    def tearDown(self):
        print(f"[{time.monotonic() - self.began:.1f} s] ", end="", file=sys.stderr, flush=True)
        self.assertIsNone(scheduler.poll(), "the scheduler ended by itself")

    def until(self, condition, what):
        def seldom():
            value = condition()
            if not value:
                time.sleep(0.4)  # the nodes need the processors more than we do
            return value
        try:
            return wait_until(seldom, what, PATIENCE)
        except Trouble as trouble:
            states = [f"  {one['metadata']['name']}: {one['spec'].get('nodeName', '-')} {json.dumps(one['status'])[:600]}"
                      for one in api("GET", PODS)["items"] if one["status"].get("phase") not in ("Succeeded",)]
            events = [f"  {one['involvedObject']['name']}: {one['reason']}: {one.get('message')}"
                      for one in api("GET", "/api/v1/namespaces/default/events")["items"]]
            self.fail("\n".join([str(trouble), *states[:8], *events[-12:], *(node.log_end("kubelet", 6) for node in bed.nodes)]))

    def until_all_succeeded(self, app, count):
        def succeeded():
            self.assertNotIn("Failed", phases(app), self.logs(app))
            return phases(app) == ["Succeeded"] * count
        self.until(succeeded, f"{count} pods of {app} to end well")
        return pods(app)

    def logs(self, app):
        return [api("GET", f"{PODS}/{one['metadata']['name']}/log")["message"] for one in pods(app)
                if one.get("status", {}).get("phase") in ("Failed", "Succeeded")]

    def test_1_each_node_shows_its_share_and_no_more(self):
        for node, share in zip(bed.nodes, SHARES):
            status = api("GET", f"/api/v1/nodes/{node.name}")["status"]
            self.assertEqual(status["allocatable"]["cpu"], f"{round(share.cpu * 1000)}m")
            self.assertEqual(bytes_of(status["allocatable"]["memory"]), share.memory)
            self.assertEqual(status["capacity"]["cpu"], "1")
            self.assertEqual(bytes_of(status["capacity"]["memory"]), share.memory_limit)
            disk = bytes_of(status["capacity"]["ephemeral-storage"])
            self.assertTrue(0.8 * share.disk < disk <= share.disk, disk)
            self.assertTrue(status["nodeInfo"]["containerRuntimeVersion"].startswith("containerd://"))
        self.assertEqual(machine()["settings"], before["settings"], "kubelet's settings are not the machine's")

    def test_2_dozens_of_pods_of_all_three_kinds_run_and_end(self):
        server = applications.pod("server", "net", ["--serve", 7000], cpu="20m", labels={"app": "server"})
        api("POST", PODS, server)
        self.until(lambda: phases("server") == ["Running"], "the peer of the net pods")
        peer = pods("server")[0]["status"]["podIP"]
        kinds = {"video": ["--frames", 40], "net": ["--peer", peer, "--port", 7000, "--kilobytes", 2000, "--rate", 1000],
                 "disk": ["--megabytes", 8, "--rate", 8, "--span", 4]}
        for number in range(12):
            for kind, arguments in kinds.items():
                api("POST", PODS, applications.pod(f"{kind}-{number}", kind, arguments, cpu="30m", memory="32Mi"))
        placed = [one["spec"]["nodeName"] for kind in kinds for one in self.until_all_succeeded(kind, 12)]
        self.assertEqual(sorted(set(placed)), sorted(node.name for node in bed.nodes), "every node got some")
        for kind in kinds:
            self.assertEqual({line.split(":")[0] for line in self.logs(kind)}, {kind}, "each says what it did")
        by = {one.get("reportingComponent") or one.get("source", {}).get("component")
              for one in api("GET", "/api/v1/namespaces/default/events")["items"] if one["reason"] == "Scheduled"}
        self.assertEqual(by, {"evenkeel"})

    def test_3_pods_reach_each_other_across_nodes(self):
        def on(node):
            return {"nodeSelector": {"kubernetes.io/hostname": node.name}}
        first, *others = bed.nodes
        api("POST", PODS, applications.pod("here", "net", ["--serve", 7000], cpu="20m", labels={"app": "here"}, **on(first)))
        self.until(lambda: phases("here") == ["Running"], "the pod that is visited")
        peer = pods("here")[0]["status"]["podIP"]
        for node in others:
            api("POST", PODS, applications.pod(f"from-{node.name}", "net", ["--peer", peer, "--port", 7000, "--kilobytes", 200],
                                               cpu="20m", labels={"app": "visitor"}, **on(node)))
        self.assertEqual(sorted(one["spec"]["nodeName"] for one in self.until_all_succeeded("visitor", len(others))),
                         sorted(node.name for node in others))

    def test_4_a_node_cannot_use_more_than_its_share(self):
        node = bed.nodes[3]
        for number in range(3):
            api("POST", PODS, applications.pod(f"greedy-{number}", "video", ["--frames", 100000], cpu="20m", limits=False,
                                               labels={"app": "greedy"}, nodeSelector={"kubernetes.io/hostname": node.name}))
        self.until(lambda: phases("greedy") == ["Running"] * 3, "greedy pods")
        time.sleep(2)  # they have begun
        sampler = measure.Sampler(bed)
        sampler.start()
        time.sleep(6)
        used = measure.mean(one.nodes[node.name]["cpu"] for one in sampler.stop())
        self.assertLess(used, 1.05, "shares of its quota")
        self.assertGreater(used, 0.4, "it had work enough, though others may use the machine")
        for number in range(3):
            api("DELETE", f"{PODS}/greedy-{number}?gracePeriodSeconds=0")

    def test_5_a_node_that_loses_power_is_noticed_and_its_pods_run_elsewhere(self):
        api("POST", "/apis/apps/v1/namespaces/default/deployments",
            applications.deployment("steady", 6, "net", ["--serve", 7000], cpu="20m", memory="16Mi"))

        def running():
            return [one for one in pods("steady") if one.get("status", {}).get("phase") == "Running"
                    and "deletionTimestamp" not in one["metadata"]]
        self.until(lambda: len(running()) == 6, "six pods to run")
        lost = bed.node(running()[0]["spec"]["nodeName"])
        bed.power_off(lost)
        self.until(lambda: not bed.is_ready(lost), f"{lost.name} to be seen as lost")
        self.until(lambda: len([one for one in running() if one["spec"]["nodeName"] != lost.name]) == 6,
                   "six pods to run on the other nodes")
        bed.power_on(lost, outlives_us=False)
        self.until(lambda: bed.is_ready(lost), f"{lost.name} to come back")

    def test_6_nothing_is_left_after_the_end_even_after_a_crash(self):
        # Somebody's containerd was killed, and the program that began it all knows nothing any more: the state file does.
        for pid in bed.nodes[1].cgroup.processes():
            command = pathlib.Path(f"/proc/{pid}/cmdline")
            if command.exists() and command.read_bytes().startswith(b"containerd\0"):
                os.kill(pid, signal.SIGKILL)
        down = [sys.executable, "-B", ROOT / "tools/testbed/down", *(["--keep"] if os.environ.get("EVENKEEL_TESTBED_KEEP") else [])]
        done = subprocess.run(down, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(machine(), before)
        self.assertEqual(subprocess.run(down, capture_output=True, text=True).returncode, 0, "a second time is no error")


def setUpModule():
    global bed, scheduler, before
    left = testbed.Testbed.running()
    if left and not left.is_alive():
        left.down()  # what a crash left behind
    before = machine()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="evenkeel-testbed-"))
    bed = testbed.Testbed.up(folder, SHARES, outlives_us=False, say=lambda text: print(f"testbed: {text}", file=sys.stderr))
    with open(folder / "scheduler.log", "wb") as log:
        scheduler = subprocess.Popen([EVENKEEL, "scheduler", "--leader-elect", "false", "--kubeconfig", bed.plane.kubeconfig],
                                     stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                     preexec_fn=end_with_parent)


def tearDownModule():
    scheduler.terminate()
    scheduler.wait(30)
    if testbed.Testbed.running():  # a test before the last one failed
        bed.down(wipe=not os.environ.get("EVENKEEL_TESTBED_KEEP"))


def main():
    global EVENKEEL
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} EVENKEEL [unittest arguments]")
    EVENKEEL = sys.argv.pop(1)
    reason = testbed.obstacle()
    running = testbed.Testbed.running()
    if not reason and running and running.is_alive():
        reason = f"there is a testbed already, in {running.folder}; make testbed-down ends it"
    if reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return SKIPPED
    return 0 if unittest.main(module="__main__", verbosity=2, exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
