#!/usr/bin/env python3
"""Learning while placing on a real control plane: killed in training it goes on from its checkpoint; on a full disk it goes on
without one. Either way pods go on being scheduled, each once.

  learning_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set
"""
import re
import subprocess
import unittest
import urllib.request

import lab
import metrics_lab
from lab import Arrivals, LabTest, control_plane

LEARNS = {"schedulerName": "evenkeel", "plugins": {"score": {"enabled": [{"name": "Evenkeel", "weight": 100}]}},
          "pluginConfig": [{"name": "Evenkeel", "args": {
              "policy": "drs", "stage": "full", "learning": {"online": True, "explore": 0.2, "rewardAfter": "1s"}}}]}


@unittest.skipIf(lab.REFERENCE, "kube-scheduler does not learn")
@unittest.skipUnless(metrics_lab.available(), "no prometheus and prometheus-node-exporter: tools/bootstrap unpacks them")
class Learning(LabTest):
    wants_scheduler = False

    def setUp(self):
        super().setUp()
        self.monitoring = metrics_lab.Monitoring(self.add_nodes("a", "b", "c"))
        self.addCleanup(self.monitoring.stop)
        self.monitoring.start()
        self.until(self.monitoring.is_ready, "Prometheus")
        self.port, = control_plane.free_ports(1)
        self.state = lab.plane.folder / f"state-{self.ns}"
        self.state.mkdir()

    def start_scheduler(self):
        return self.run_scheduler(profiles=[LEARNS], flags=[
            f"--metrics-prometheus={self.monitoring.url}", "--metrics-every=1s", "--metrics-prometheus-window=5s",
            f"--listen=127.0.0.1:{self.port}", f"--state={self.state}"])

    def figure(self, name, **labels):
        """The sum of what /metrics says under this name; 0 while nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as answer:
                lines = answer.read().decode().splitlines()
        except OSError:
            return 0
        return sum(float(one.rsplit(" ", 1)[1]) for one in lines if one.split("{")[0].split(" ")[0] == name
                   and all(f'{key}="{value}"' in one for key, value in labels.items()))

    def until_fresh(self):
        self.until(lambda: self.figure("evenkeel_usage_nodes", sample="fresh") == 3, "three nodes with a fresh sample")

    def until_all_bound(self, count):
        self.until(lambda: len([one for one in self.pods() if one["spec"].get("nodeName")]) == count, f"{count} pods bound")

    def test_killed_while_it_trains_it_goes_on_from_its_checkpoint(self):
        scheduler = self.start_scheduler()
        self.until_fresh()
        first = Arrivals(self.ns, 80, cpu="10m")
        # Lessons come a few seconds after the bindings, and updates with them: it is in the midst of that.
        self.until(lambda: self.figure("evenkeel_learning_checkpoints_total") >= 1, "a checkpoint")
        self.assertGreaterEqual(self.figure("evenkeel_learning_lessons_total"), 32)
        scheduler.kill()
        first.join()
        before = {one["metadata"]["name"]: one["spec"].get("nodeName") for one in self.pods()}

        again = self.start_scheduler()
        said = self.until(lambda: re.search(r"taken up from \S+drs.checkpoint: (\d+) updates, 3 nodes", again.log.read_text()),
                          "the checkpoint to be taken up")
        self.assertGreaterEqual(int(said[1]), 1)
        self.until(lambda: self.figure("evenkeel_learning_updates_total") >= int(said[1]), "its updates in the metrics")
        self.until_all_bound(80)
        self.until_fresh()  # what is decided without metrics teaches nothing
        for number in range(20):
            self.add_pod(f"later-{number}", cpu="10m")
        self.until_all_bound(100)
        self.until(lambda: self.figure("evenkeel_learning_updates_total") > int(said[1]), "more updates")
        after = {one["metadata"]["name"]: one["spec"].get("nodeName") for one in self.pods()}
        self.assertEqual({name: after[name] for name, node in before.items() if node}, {name: node for name, node in before.items() if node})
        self.assert_each_bound_once()
        self.assertEqual(again.stop(), 0)
        self.assertEqual([one.name for one in (self.state / "learned").iterdir()], ["drs.checkpoint"])

    def test_on_a_full_disk_it_goes_on_and_says_so(self):
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", self.state], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("only root may mount a small disk")
        self.addCleanup(lambda: subprocess.run(["umount", "--lazy", self.state], check=True))
        (self.state / "learned").mkdir()
        with open(self.state / "filler", "wb", buffering=0) as filler, self.assertRaises(OSError):
            while True:
                filler.write(bytes(4096))
        scheduler = self.start_scheduler()
        self.until_fresh()
        Arrivals(self.ns, 60, cpu="10m").join()
        self.until_all_bound(60)
        self.until(lambda: self.figure("evenkeel_learning_checkpoint_failures_total") >= 1, "a checkpoint that fails")
        self.assertRegex(scheduler.log.read_text(), "drs: no checkpoint: .*No space left on device; learning goes on")
        self.assertEqual(self.figure("evenkeel_learning_checkpoints_total"), 0)
        learnt = self.figure("evenkeel_learning_lessons_total")
        for number in range(10):
            self.add_pod(f"later-{number}", cpu="10m")
        self.until_all_bound(70)
        self.until(lambda: self.figure("evenkeel_learning_lessons_total") > learnt, "more lessons")
        self.assert_each_bound_once()
        self.assertEqual([one.name for one in (self.state / "learned").iterdir()], [], "nothing half-written")


if __name__ == "__main__":
    lab.main()
