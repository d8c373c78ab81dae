#!/usr/bin/env python3
"""Placing by what nodes really use, told by a real Prometheus that scrapes real node-exporters; without it; and what a
restart remembers.

  usage_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set
"""
import sqlite3
import time
import unittest
import urllib.request

import lab
import metrics_lab
import objects
from lab import LabTest, control_plane, must

BY_LOAD = {"schedulerName": "evenkeel", "plugins": {"score": {"enabled": [{"name": "Evenkeel", "weight": 100}]}},
           "pluginConfig": [{"name": "Evenkeel", "args": {"policy": "horizon"}}]}
STALE = 8  # seconds


@unittest.skipIf(lab.REFERENCE, "kube-scheduler does not look at load")
@metrics_lab.needed
class Usage(LabTest):
    wants_scheduler = False

    def setUp(self):
        super().setUp()
        self.nodes_named = dict(zip("abc", self.add_nodes("a", "b", "c")))
        self.monitoring = metrics_lab.Monitoring(self.nodes_named.values())
        self.addCleanup(self.monitoring.stop)
        self.monitoring.start()
        self.until(self.monitoring.is_ready, "Prometheus")
        self.port, = control_plane.free_ports(1)
        self.placed = 0

    def start_scheduler(self, *flags):
        return self.run_scheduler(profiles=[BY_LOAD], flags=[
            f"--metrics-prometheus={self.monitoring.url}", "--metrics-every=1s", f"--metrics-stale={STALE}s",
            "--metrics-prometheus-window=5s", "--metrics-capacity=receive=100M,transmit=100M,read=100M,write=100M",
            f"--listen=127.0.0.1:{self.port}", *flags])

    def machine(self, name):
        return self.monitoring.machines[self.nodes_named[name]]

    def use(self, **cores):
        """So busy are the nodes from now on; returns once Prometheus' window shows nothing else."""
        for name, amount in cores.items():
            self.machine(name).cores = amount
        time.sleep(8)

    def figure(self, line):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as answer:
                text = answer.read().decode()
        except OSError:
            return None
        return next((float(one.rsplit(" ", 1)[1]) for one in text.splitlines() if one.startswith(line + " ")), None)

    def until_fresh(self, count):
        self.until(lambda: self.figure('evenkeel_usage_nodes{sample="fresh"}') == count, f"{count} nodes with a fresh sample")

    def place(self, count):
        """Where so many more pods go, one after the other."""
        names = []
        for _ in range(count):
            self.placed += 1
            names.append(f"p{self.placed}")
            self.add_pod(names[-1], cpu="100m")
            self.until_scheduled(names[-1])
        return "".join(self.node_of(name) for name in names)

    def test_pods_go_where_the_load_is_least_and_by_requests_while_nobody_tells(self):
        self.start_scheduler()
        self.use(a=6, b=0.5, c=6)
        self.until_fresh(3)
        self.assertEqual(self.place(4), "bbbb")
        self.use(a=0.5, b=6)
        self.assertEqual(self.place(4), "aaaa")

        self.monitoring.kill()
        began = time.monotonic()
        self.until_fresh(0)
        self.assertLess(time.monotonic() - began, STALE + 5)
        self.assertEqual(self.place(2), "cc")  # nothing is requested there, however busy it is
        self.assertGreater(self.figure('evenkeel_usage_source_failures_total{source="prometheus"}'), 0)

        self.monitoring.start()
        self.until_fresh(3)
        self.use(c=6)
        self.assertEqual(self.place(2), "aa")
        self.assert_each_bound_once()

    def test_one_node_that_falls_silent_stops_nobody(self):
        self.start_scheduler()
        self.use(a=5, b=5, c=0.5)
        self.until_fresh(3)
        exporter = self.monitoring.exporters[list(self.nodes_named).index("b")]
        exporter.kill()
        self.until(lambda: self.figure('evenkeel_usage_nodes{sample="stale"}') == 1, "one node without a fresh sample")
        self.assertNotIn("a", self.place(4))  # still by load
        self.assertGreater(self.figure("evenkeel_usage_oldest_sample_seconds"), STALE)

    def test_a_burst_between_two_samples_spreads(self):
        self.start_scheduler()
        self.use(a=2, b=2, c=1.8)
        self.until_fresh(3)
        self.add(objects.workload("Deployment", "burst", 20, cpu="200m"))
        self.until(lambda: len([one for one in self.pods("app=burst") if one["spec"].get("nodeName")]) == 20, "20 pods")
        counts = [sum(one["spec"]["nodeName"] == node for one in self.pods("app=burst")) for node in self.nodes_named.values()]
        self.assertGreaterEqual(min(counts), 4, counts)

    def test_a_restart_keeps_what_workloads_did(self):
        state = lab.plane.folder / f"state-{self.ns}"
        scheduler = self.start_scheduler(f"--state={state}")
        self.until_fresh(3)
        self.add(objects.workload("Deployment", "web", 1, cpu="2"))
        pod = self.until_running(1, "app=web")[0]
        node = pod["spec"]["nodeName"]
        self.monitoring.machines[node].pods[self.ns, pod["metadata"]["name"]] = 0.25
        self.until(lambda: self.figure("evenkeel_profile_workloads") == 1, "a profile")
        time.sleep(10)
        self.assertEqual(scheduler.stop(), 0)

        name = f"{self.ns}/Deployment/web none"
        with sqlite3.connect(state / "profiles.db") as database:
            rows = dict(database.execute("SELECT name, mean_y FROM workload JOIN line ON line.workload = id WHERE what = 0"))
        self.assertIn(name, rows)
        self.assertAlmostEqual(rows[name], 0.25, delta=0.05)
        self.monitoring.kill()  # what is known now is known from before
        again = self.start_scheduler(f"--state={state}")
        self.until(lambda: self.figure("evenkeel_profile_workloads") == 1, "the profile")
        self.assertIn("profiles of 1 workloads are known from earlier runs", again.log.read_text())

    def test_a_damaged_state_stops_nobody(self):
        state = lab.plane.folder / f"state-{self.ns}"
        state.mkdir()
        (state / "profiles.db").write_text("not a database, and long enough to be sure of that\n" * 100)
        scheduler = self.start_scheduler(f"--state={state}")
        self.until_fresh(3)
        self.assertEqual(len(self.place(1)), 1)
        self.assertIn("set aside", scheduler.log.read_text())
        self.assertTrue((state / "profiles.db.damaged").exists())


if __name__ == "__main__":
    lab.main()
