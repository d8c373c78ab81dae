"""On real nodes: an agent in each, with its monitor, and pods that go where agents will have them.

  python3 tests/testbed/agents_test.py build/release/evenkeel [unittest arguments]

Exit code 77 says that this machine cannot have such nodes, and why. EVENKEEL_TESTBED_KEEP=1 leaves logs behind.
"""
import os
import pathlib
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/testbed"))
import agents  # noqa: E402
import applications  # noqa: E402
import testbed  # noqa: E402
from agents import fleet  # noqa: E402
from kube import Trouble, wait_until  # noqa: E402
from node import MIB, Share  # noqa: E402

SKIPPED = 77
PATIENCE = int(os.environ.get("EVENKEEL_TEST_PATIENCE", "150"))  # seconds for a condition, on a machine that may be busy
SHARES = [Share(cpu=0.3, memory=512 * MIB, disk=1024 * MIB)] * 4
PODS = "/api/v1/namespaces/default/pods"
ROUNDS = [f"evenkeel_agents_rounds_{way}_total" for way in ("all", "quorum", "deadline")]
EVENKEEL = ""
bed = crew = None


def say(text):
    print(f"\n  {text}", file=sys.stderr, flush=True)


def api(method, path, body=None, expected=(200, 201)):
    return fleet.must(bed.plane, method, path, body, expected)


def pods(app):
    return api("GET", f"{PODS}?labelSelector=app%3D{app}")["items"]


def running(app):
    return [one for one in pods(app) if one.get("status", {}).get("phase") == "Running" and "deletionTimestamp" not in one["metadata"]]


class Agents(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.began = time.monotonic()

    def tearDown(self):
        print(f"[{time.monotonic() - self.began:.1f} s] ", end="", file=sys.stderr, flush=True)

    def until(self, condition, what, patience=PATIENCE):
        def seldom():
            value = condition()
            if not value:
                time.sleep(0.4)  # the nodes need the processors more than we do
            return value
        try:
            return wait_until(seldom, what, patience)
        except Trouble as trouble:
            states = [f"  {one['metadata']['name']}: {one['spec'].get('nodeName', '-')} {one['status'].get('phase')}"
                      for one in api("GET", PODS)["items"]]
            self.fail("\n".join([str(trouble), *states[-12:], *(agent.log_end(12) for agent in crew.agents)]))

    def until_joined(self, count):
        self.until(lambda: crew.joined() == count, f"{count} agents to join")

    def until_warm(self):
        """Its agents have samples of their nodes: they say something."""
        self.until(lambda: all(agent.metric("evenkeel_agent_line_open") or agent.metric("evenkeel_agent_leading")
                               for agent in crew.agents if agent.is_running()), "lines to the leader")

    def add(self, app, count, **options):
        for number in range(count):
            api("POST", PODS, applications.pod(f"{app}-{number}", "net", ["--serve", 7000], cpu="20m", memory="16Mi",
                                               labels={"app": app}, **options))
        self.until(lambda: len(running(app)) == count, f"{count} pods of {app} to run")
        return pods(app)

    def remove(self, app):
        for one in pods(app):
            api("DELETE", f"{PODS}/{one['metadata']['name']}?gracePeriodSeconds=0")

    def decided(self):
        """(by bids, by the rule), of whoever leads."""
        time.sleep(1.5)  # figures are shown once a second
        figures = crew.leader().metrics()
        return sum(figures[name] for name in ROUNDS), figures["evenkeel_agents_rounds_nobody_total"]

    def test_1_pods_go_where_agents_will_have_them(self):
        self.until_joined(3)
        self.until_warm()
        time.sleep(3)  # each has seen its node for a while
        bids, rule = self.decided()
        placed = self.add("first", 12)
        after = self.decided()
        say(f"decided by bids {after[0] - bids:.0f}, by the rule {after[1] - rule:.0f}; on {sorted({one['spec']['nodeName'] for one in placed})}")
        self.assertGreater(after[0] - bids, 0)
        self.assertEqual({one["metadata"]["annotations"][fleet.TERM] for one in placed}, {str(crew.lease()[1])})
        for agent in crew.agents:
            self.assertGreater(agent.metric("evenkeel_agent_bids_total"), 0, agent.node)
            say(f"{agent.node}: {agent.memory()}")

    def test_2_a_node_that_joins_bids_with_the_shared_model_at_once(self):
        node = bed.nodes[3]
        bed.power_on(node, outlives_us=False)
        self.until(lambda: bed.is_ready(node), f"{node.name} to be ready")
        fresh = crew.add(node)
        self.until_joined(4)
        self.until(lambda: fresh.metric("evenkeel_agent_line_open"), "its line to the leader")
        time.sleep(3)
        bids, rule = self.decided()
        placed = self.add("newcomer", 3, nodeSelector={"kubernetes.io/hostname": node.name})
        self.assertEqual({one["spec"]["nodeName"] for one in placed}, {node.name})
        after = self.decided()
        self.assertGreater(after[0] - bids, 0, "its own bids decided")
        self.assertGreater(fresh.metric("evenkeel_agent_bids_total"), 0)

    def test_3_the_leaders_node_loses_power_and_pods_are_bound_all_the_same(self):
        self.until_joined(4)
        leader, (_, term) = crew.leader(), crew.lease()
        log = fleet.PodLog(bed.plane, "default")
        self.addCleanup(log.stop)
        bed.power_off(bed.node(leader.node))
        off = time.monotonic()
        leader.process.wait(30)
        for number in range(6):
            api("POST", PODS, applications.pod(f"after-{number}", "net", ["--serve", 7000], cpu="20m", memory="16Mi",
                                               labels={"app": "after"}))
        # Nobody says that its process is gone: a node without power answers nothing. Its Lease has to run out.
        self.until(lambda: log.first_bound_after(off, term), "the first binding of another leader", patience=60)
        say(f"from power off to binding: {log.first_bound_after(off, term) - off:.1f} s")
        self.until(lambda: len(log.bound()) == 6, "all to be bound")
        self.assertGreater(crew.lease()[1], term)
        self.assertNotEqual(crew.leader().node, leader.node)
        self.until_joined(3)


def setUpModule():
    global bed, crew
    left = testbed.Testbed.running()
    if left and not left.is_alive():
        left.down()  # what a crash left behind
    folder = pathlib.Path(tempfile.mkdtemp(prefix="evenkeel-testbed-"))
    bed = testbed.Testbed.up(folder, SHARES, outlives_us=False, say=lambda text: print(f"testbed: {text}", file=sys.stderr))
    bed.power_off(bed.nodes[3])  # it joins later; until then nobody is to take it for a node that is well
    bed.plane.api("DELETE", f"/api/v1/nodes/{bed.nodes[3].name}")
    crew = agents.Agents(bed, pathlib.Path(EVENKEEL).resolve())
    crew.__enter__()


def tearDownModule():
    crew.__exit__()
    bed.down(wipe=not os.environ.get("EVENKEEL_TESTBED_KEEP"))


def main():
    global EVENKEEL
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} EVENKEEL [unittest arguments]")
    EVENKEEL = sys.argv.pop(1)
    reason = testbed.obstacle()
    running_bed = testbed.Testbed.running()
    if not reason and running_bed and running_bed.is_alive():
        reason = f"there is a testbed already, in {running_bed.folder}; make testbed-down ends it"
    if reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return SKIPPED
    return 0 if unittest.main(module="__main__", verbosity=2, exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
