"""The autoscaler on real nodes: docs/autoscaling.md as a user follows it, every command as printed, with a service under an open
loop of requests, a real Prometheus, and the genuine HPA of kube-controller-manager to begin with.

  python3 tests/testbed/scaling_test.py build/release/evenkeel [unittest arguments]

Exit code 77 says that this machine cannot have such nodes, and why.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/testbed"))
import service_bed  # noqa: E402
import testbed  # noqa: E402
from kube import Trouble, end_with_parent, wait_until  # noqa: E402

SKIPPED = 77
PATIENCE = int(os.environ.get("EVENKEEL_TEST_PATIENCE", "240"))  # seconds for a condition, on a machine that may be busy
GUIDE = ROOT / "docs/autoscaling.md"
LOW, HIGH = 1, 6
STEADY, MUCH, LITTLE = 18, 62, 4  # requests a second; twenty are all that a pod can serve, so
AT_LEAST = 4                      # are needed under much load
EVENKEEL = ""
bed = None


def blocks(heading):
    """The commands printed under it, block by block."""
    part = next(one for one in re.split(r"^## ", GUIDE.read_text(), flags=re.M) if one.startswith(heading))
    return re.findall(r"^```\n(.*?)^```$", part, flags=re.M | re.S)


class Terminal:
    """A shell in a folder of its own, in which the guide's words hold: kubectl, deploy/ and evenkeel. Here time runs three times
    as fast as in a cluster of everyday, so rates are taken over a quarter of the usual time."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "deploy").symlink_to(ROOT / "deploy")
        (folder / "evenkeel").write_text(f'#!/bin/sh\n[ "$1" = autoscaler ] && set -- "$@" --metrics-prometheus-window=15s\nexec {EVENKEEL} "$@"\n')
        (folder / "evenkeel").chmod(0o755)
        environment = {**os.environ, "KUBECONFIG": str(bed.plane.kubeconfig), "PATH": f"{folder}:{bed.plane.state['bin']}:{os.environ['PATH']}"}
        self.log = folder / "said"
        with open(self.log, "ab") as output:
            self.shell = subprocess.Popen(["bash"], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=output,
                                          stderr=subprocess.STDOUT, text=True, preexec_fn=end_with_parent)
        self.number = 0

    def type(self, commands, patience=PATIENCE):
        """What they print, if the last of them ends well."""
        self.number += 1
        before = self.log.stat().st_size
        self.shell.stdin.write(f'{commands}\necho "typed {self.number}: $?"\n')
        self.shell.stdin.flush()
        ended = wait_until(lambda: re.search(rf"^typed {self.number}: (\d+)$", self.since(before), flags=re.M), commands, patience)
        if ended[1] != "0":
            raise AssertionError(f"{commands}\n{self.since(before)}")
        return self.since(before)[:ended.start()]

    def since(self, place):
        return self.log.read_bytes()[place:].decode(errors="replace")

    def close(self):
        self.type("kill $(jobs -p) 2>/dev/null; wait")
        self.shell.stdin.close()
        self.shell.wait(PATIENCE)


class OnRealNodes(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.terminal = Terminal(pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="evenkeel-guide-"))))
        cls.addClassCleanup(cls.terminal.close)
        cls.load = None

    def setUp(self):
        self.began = time.monotonic()

    def tearDown(self):
        print(f"[{time.monotonic() - self.began:.1f} s] ", end="", file=sys.stderr, flush=True)

    def ask_for(self, rate):
        """So many requests a second from here on."""
        if OnRealNodes.load:
            OnRealNodes.load.kill()
            OnRealNodes.load.wait()
            OnRealNodes.load.stderr.close()
        OnRealNodes.load = bed.start_load([(0, rate)], 3600)[0] if rate else None

    def until(self, condition, what):
        began = time.monotonic()
        try:
            value = wait_until(condition, what, PATIENCE)
            print(f"[{time.monotonic() - began:.1f} s] {what}", file=sys.stderr, flush=True)
            return value
        except Trouble as trouble:
            self.fail(f"{trouble}\n{self.terminal.log.read_text()[-4000:]}\n{bed.kubectl('get', 'events')[-3000:]}"
                      f"{bed.kubectl('get', 'pods,deployments,hpa', '-o', 'wide')}")

    def scaler(self):
        return bed.must("GET", f"{service_bed.SCALERS}/{service_bed.NAME}")

    def replicas(self):
        """However often it is asked, never out of its bounds."""
        found = bed.replicas()
        self.assertTrue(LOW <= found <= HIGH, found)
        return found

    def who_scaled(self):
        fields = bed.must("GET", f"{service_bed.DEPLOYMENTS}/{service_bed.NAME}")["metadata"]["managedFields"]
        return {one["manager"] for one in fields if one.get("subresource") == "scale"}

    def test_1_a_preview_beside_the_genuine_hpa_draws_both_and_scales_nothing(self):
        bed.start_service()
        calm = {"scaleUp": service_bed.BEHAVIOUR["scaleUp"],
                "scaleDown": {**service_bed.BEHAVIOUR["scaleDown"], "stabilizationWindowSeconds": 10}}
        hpa = service_bed.hpa(calm)
        hpa["spec"].update(minReplicas=LOW, maxReplicas=HIGH)
        bed.must("POST", service_bed.HPAS, hpa)
        self.ask_for(STEADY)
        self.until(lambda: self.replicas() > LOW, "the genuine HPA to scale up")
        command, = blocks("A preview")
        said = self.terminal.type(command)
        self.assertRegex(said, r"default/web +HorizontalPodAutoscaler web")
        page = (self.terminal.folder / "preview.html").read_text()
        for part in ("<svg", "set by HorizontalPodAutoscaler web", ">as set<", ">by evenkeel<", "requests a second"):
            self.assertIn(part, page)
        self.assertEqual(self.who_scaled(), {"kube-controller-manager"})

    def test_2_then_it_acts_and_follows_the_load_up_and_down_within_bounds(self):
        install, process, hand_over, back = blocks("Then let it act")
        self.terminal.type(install)
        self.assertEqual((self.scaler()["spec"]["mode"], self.scaler()["spec"]["policy"]), ("Preview", "hpa"))
        self.terminal.type(process)
        bed.kubectl("patch", "wsc", "web", "--type=merge", "-p", f'{{"spec": {{"interval": "{service_bed.PERIOD_S}s"}}}}')
        self.until(lambda: self.scaler().get("status", {}).get("lastDecision"), "a decision in mode Preview")
        self.assertEqual(self.who_scaled(), {"kube-controller-manager"})
        self.terminal.type(hand_over)
        # First it learns what a request costs; `hpa` decides meanwhile.
        self.until(lambda: self.replicas() and self.scaler()["status"]["lastDecision"]["decidedBy"] == "evenkeel", "the policy to decide")
        before = self.replicas()
        self.assertLess(before, HIGH, "there is room to rise")
        self.ask_for(MUCH)
        self.until(lambda: self.replicas() >= max(AT_LEAST, before + 1), f"more than {before} replicas under much load")
        self.until(lambda: sum(map(service_bed.is_ready, bed.known)) >= AT_LEAST, "enough of them ready")
        self.ask_for(LITTLE)
        self.until(lambda: self.replicas() == LOW, f"{LOW} replica under little load")
        self.assertIn("evenkeel-autoscaler", self.who_scaled())
        self.assertTrue([one for one in bed.must("GET", f"/api/v1/namespaces/{service_bed.SPACE}/events")["items"]
                         if (one["reason"], one["involvedObject"]["kind"]) == ("SuccessfulRescale", "WorkloadScaler")])
        self.assertIn("Paused", self.terminal.type(back))
        self.ask_for(MUCH)
        self.until(lambda: any(one["type"] == "ScalingActive" and one["reason"] == "Paused" for one in self.scaler()["status"]["conditions"]),
                   "a word about the pause")
        time.sleep(3 * service_bed.PERIOD_S)
        self.assertEqual(self.replicas(), LOW)
        self.ask_for(0)


def main():
    global EVENKEEL, bed
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} EVENKEEL [unittest arguments]")
    EVENKEEL = pathlib.Path(sys.argv.pop(1)).resolve()
    running, reason = testbed.Testbed.running(), testbed.obstacle()
    if not reason and running and running.is_alive():
        reason = f"there is a testbed already, in {running.folder}; make testbed-down ends it"
    if not reason and not service_bed.prometheus_program():
        reason = "no prometheus: tools/bootstrap unpacks it"
    if reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return SKIPPED
    with service_bed.ServiceBed(say=lambda text: print(f"testbed: {text}", file=sys.stderr, flush=True)) as bed:
        return 0 if unittest.main(module="__main__", verbosity=2, exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
