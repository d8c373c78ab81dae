"""Distances between real nodes, and what placing a group near itself is worth: the eleven-service shop, placed by ours and spread.

  python3 tests/testbed/network_test.py build/release/evenkeel [unittest arguments]

Exit code 77 says that this machine cannot have such nodes, and why.
"""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/testbed"))
import delays  # noqa: E402
import network_trial  # noqa: E402
import rivals  # noqa: E402
import shop  # noqa: E402
import testbed  # noqa: E402
from kube import wait_until  # noqa: E402
from node import MIB, Share  # noqa: E402

SKIPPED = 77
PATIENCE = int(os.environ.get("EVENKEEL_TEST_PATIENCE", "150"))  # seconds for a condition, on a machine that may be busy
PLACES = delays.read_places("east/east-a,east/east-b,west/west-a,west/west-b")
ROUND_TRIPS = {("east", "west"): 40.0, ("east-a", "east-b"): 2.0, ("west-a", "west-b"): 3.0}
KUBELET = 10250
# Connects to an address again and again; prints the shortest time in ms, which is one round trip.
CONNECT = """
import socket, sys, time
took = []
for _ in range(8):
    began = time.monotonic()
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=10).close()
    took.append(1000 * (time.monotonic() - began))
print(min(took))
"""
EVENKEEL = ""
bed = None


class Distances(unittest.TestCase):
    def setUp(self):
        self.began = time.monotonic()

    def tearDown(self):
        print(f"[{time.monotonic() - self.began:.1f} s] ", end="", file=sys.stderr, flush=True)

    def connect_ms(self, origin, destination):
        command = bed.nodes[origin].command("python3", "-c", CONNECT, bed.nodes[destination].address, KUBELET)
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def assert_distance(self, origin, destination, expected):
        def holds():
            found = self.connect_ms(origin, destination)
            self.assertGreaterEqual(found, expected)
            return found <= 1.1 * expected + 1
        wait_until(holds, f"{expected} ms between nodes {origin + 1} and {destination + 1}", PATIENCE)

    def test_1_nodes_are_as_far_apart_as_they_were_told_to_be(self):
        network_trial.Site(bed, "test", PLACES, ROUND_TRIPS)
        self.assert_distance(0, 1, 2)
        self.assert_distance(2, 3, 3)
        self.assert_distance(0, 2, 40)
        self.assert_distance(3, 1, 40)
        labels = bed.plane.api("GET", f"/api/v1/nodes/{bed.nodes[2].name}")[1]["metadata"]["labels"]
        self.assertEqual((labels[delays.REGION], labels[delays.ZONE]), ("west", "west-a"))
        network_trial.Site(bed, "test", PLACES, {**ROUND_TRIPS, ("east", "west"): 10.0})
        self.assert_distance(0, 2, 10)

    def test_2_a_group_that_is_placed_near_itself_answers_sooner_than_one_that_is_spread(self):
        site = network_trial.Site(bed, "test", PLACES, ROUND_TRIPS)
        found = {}
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="evenkeel-schedulers-"))
        for policy in ("kube-default", "network"):
            with network_trial.Trial(site, rivals.contender(policy, bed, EVENKEEL, folder)) as trial:
                made = trial.shop(8, phases=[("Initial", 1)])
            found[policy] = made["phases"]["Initial"]
            self.assertEqual(found[policy]["errors"], 0)
        for policy, one in found.items():
            print(f"[{policy}: edges {one['edge_ms']:.1f} ms, " + ", ".join(f"{page} {one['pages'][page]['median_ms']:.0f}" for page in one["pages"])
                  + " ms] ", end="", file=sys.stderr, flush=True)
        spread, near = found["kube-default"], found["network"]
        self.assertLess(near["edge_ms"], 0.5 * spread["edge_ms"], (near["placed"], spread["placed"]))
        for page in ("GET /", "GET /cart", "POST /cart/checkout"):
            self.assertLess(near["pages"][page]["median_ms"], 0.7 * spread["pages"][page]["median_ms"], page)


def main():
    global EVENKEEL, bed
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} EVENKEEL [unittest arguments]")
    EVENKEEL = pathlib.Path(sys.argv.pop(1)).resolve()
    running, reason = testbed.Testbed.running(), testbed.obstacle()
    if not reason and running and running.is_alive():
        reason = f"there is a testbed already, in {running.folder}; make testbed-down ends it"
    if not reason and not os.path.exists("/dev/net/tun"):
        reason = "no TAP devices: /dev/net/tun is not there"
    if reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return SKIPPED
    with contextlib.ExitStack() as stack:
        bed = network_trial.start(stack, [Share(cpu=0.25, memory=1024 * MIB, network=25_000_000)] * len(PLACES),
                                  lambda text: print(f"testbed: {text}", file=sys.stderr, flush=True))
        return 0 if unittest.main(module="__main__", verbosity=2, exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
