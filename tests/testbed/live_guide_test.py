"""docs/live.md as a new user follows it: every command as printed, in order, on real nodes.

  python3 tests/testbed/live_guide_test.py build/release/evenkeel [unittest arguments]

Exit code 77 says that this machine cannot have such nodes, and why.
"""
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/testbed"))
import testbed  # noqa: E402
from kube import end_with_parent  # noqa: E402

SKIPPED = 77
PATIENCE = int(os.environ.get("EVENKEEL_TEST_PATIENCE", "300"))  # seconds for one block
GUIDE = ROOT / "docs/live.md"
METRICS = "curl -s http://127.0.0.1:10269/metrics"


def blocks():
    """{heading's number: [block of commands, ...]} of the guide."""
    found = {}
    for part in re.split(r"^## ", GUIDE.read_text(), flags=re.M)[1:]:
        if part[0].isdigit():
            found[int(part.split(".")[0])] = re.findall(r"^```\n(.*?)^```$", part, flags=re.M | re.S)
    return found


class Terminal:
    """A shell that lives as long as the walk does."""

    def __init__(self):
        self.shell = subprocess.Popen(["bash"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      text=True, preexec_fn=end_with_parent)
        # Job numbers as in a terminal; whoever runs this is root already.
        self.type('set -m; sudo() { "$@"; }')

    def type(self, commands):
        """What they print, with that of programs in the background; and the last one's exit code."""
        self.shell.stdin.write(f'{commands}\necho "walked: $?"\n')
        self.shell.stdin.flush()
        said = ""
        while not (ended := re.search(r"^walked: (\d+)$", said, flags=re.M)):
            line = self.shell.stdout.readline()
            if not line:
                raise AssertionError(f"the shell is gone after:\n{commands}\n{said}")
            said += line
        return said[:ended.start()], int(ended[1])


class Guide(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.blocks, cls.terminal, cls.said = blocks(), Terminal(), []

    @classmethod
    def tearDownClass(cls):
        # All of it is down already where the walk came to its end.
        cls.terminal.type("kill $(jobs -p) 2>/dev/null; wait; tools/testbed/down; rm -rf build/testbed-state")
        cls.terminal.shell.stdin.close()
        cls.terminal.shell.wait(PATIENCE)

    def walk(self, commands):
        began = time.monotonic()
        said, code = self.terminal.type(commands)
        self.said.append(f"$ {commands}{said}")
        print(f"[{time.monotonic() - began:.1f} s] {commands.splitlines()[0][:100]}", file=sys.stderr, flush=True)
        self.assertEqual(code, 0, "\n".join(self.said[-3:]))
        return said

    def until(self, commands, pattern, what):
        """Waits for what a user would wait for."""
        over = time.monotonic() + PATIENCE
        while time.monotonic() < over:
            said, _ = self.terminal.type(commands)
            if re.search(pattern, said, flags=re.M):
                return said
            if len(said) > 20:  # what programs in the background have to say
                self.said.append(said)
            time.sleep(1)
        self.fail(f"no {what}:\n{said}\n" + "\n".join(self.said[-8:]) + self.terminal.type("jobs")[0])

    def step(self, number, block=None):
        """All blocks of a step, or one of them. Backgrounded schedulers are waited for: a user looks at what they print."""
        said = ""
        for commands in self.blocks[number] if block is None else [self.blocks[number][block]]:
            said += self.walk(commands)
            if "--listen" in commands and "kill" not in commands:
                self.until("curl -s -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:10269/readyz", "^200", "ready scheduler")
        return said

    def decisions_by(self, decider):
        said, _ = self.terminal.type(METRICS)
        return sum(float(value) for value in
                   re.findall(rf'^evenkeel_policy_decisions_total{{.*decider="{decider}".*}} (\S+)$', said, flags=re.M))

    def test_from_watching_to_deciding_and_back(self):
        self.assertRegex(self.step(0), "node4 +Ready")
        self.step(1)
        self.step(2, 0)
        self.until(METRICS, 'evenkeel_usage_nodes{sample="fresh"} 4', "samples of all four nodes")
        said = self.step(2, 1)
        self.assertRegex(said, r"\b6\b", "six pods were watched")
        self.step(3, 0)
        self.until(f"{METRICS} | grep ^evenkeel_policy_fallback | grep -c ' 1$'", "^0", "end of the rule's half minute")
        self.step(3, 1)
        self.assertEqual(self.decisions_by("learned"), 0, "in shadow the rule decides")
        self.assertIn("canary, 10 % of pods and namespace default", self.step(4, 0))
        self.step(4, 1)
        self.assertGreaterEqual(self.decisions_by("learned"), 6, self.terminal.type(METRICS)[0])
        said = self.step(4, 2)
        self.assertRegex(said, "canary.* -> full")
        self.assertRegex(said, "full -> canary")
        self.step(4, 3)
        said = self.step(5)
        self.assertRegex(said, "checkpoint")
        self.step(6, 0)
        before = self.nodes_of_crowd()
        self.assertEqual(before, {"node1"})
        self.step(6, 1)
        self.until("kubectl get events --field-selector reason=Evicted", "Evicted", "move")
        self.until("kubectl get pods -o wide --field-selector status.phase=Running", "node[234]", "successor elsewhere")
        self.step(6, 2)
        self.step(7)
        self.assertIsNone(testbed.Testbed.running())

    def nodes_of_crowd(self):
        said, _ = self.terminal.type("kubectl get pods -l 'app in (left,right)' -o custom-columns=N:.spec.nodeName --no-headers")
        return set(said.split())


def main():
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} EVENKEEL [unittest arguments]")
    program = pathlib.Path(sys.argv.pop(1)).resolve()
    running = testbed.Testbed.running()
    reason = testbed.obstacle()
    if not reason and running and running.is_alive():
        reason = f"there is a testbed already, in {running.folder}; make testbed-down ends it"
    if not reason and program != (ROOT / "build/release/evenkeel").resolve():
        reason = "the guide speaks of build/release/evenkeel"
    if reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return SKIPPED
    return 0 if unittest.main(module="__main__", verbosity=2, exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
