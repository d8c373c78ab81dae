#!/usr/bin/env python3
"""Shadow, canary, full and back on a real control plane: who decides is what one ConfigMap says, obeyed within seconds.

  stage_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set
"""
import json
import re
import subprocess
import unittest
import urllib.request

import lab
import metrics_lab
from lab import LabTest

STAGE = "/api/v1/namespaces/kube-system/configmaps/evenkeel-stage"
SOON = 15  # seconds: within these a stage is obeyed, on a machine that may be busy
PROFILE = {"schedulerName": "evenkeel",
           "plugins": {"score": {"enabled": [{"name": "Evenkeel", "weight": 100}]}},
           "pluginConfig": [{"name": "Evenkeel", "args": {"policy": "evenkeel"}}]}


def evenkeel(*arguments):
    return subprocess.run([lab.EVENKEEL, *arguments], capture_output=True, text=True, timeout=lab.PATIENCE)


class Guarded(LabTest):
    wants_scheduler = False

    def setUp(self):
        super().setUp()
        self.addCleanup(lambda: lab.plane.api("DELETE", STAGE))
        lab.plane.api("DELETE", STAGE)

    def run_guarded(self, stage=None, arguments=None, **options):
        profile = json.loads(json.dumps(PROFILE))
        profile["pluginConfig"][0]["args"].update(arguments or {}, **({"stage": stage} if stage else {}))
        scheduler = self.run_scheduler(profiles=[profile], flags=["--listen=127.0.0.1:0", *options.pop("flags", ())], **options)
        self.url = self.until(lambda: re.search(r"at (http://\S+)", scheduler.log.read_text()), "an address")[1]
        return scheduler

    def read(self, path):
        with urllib.request.urlopen(self.url.rstrip("/") + path, timeout=10) as answer:
            return answer.read().decode()

    def metric(self, name, **labels):
        total = 0
        for line in self.read("/metrics").splitlines():
            if line.startswith(name + "{") and all(f'{key}="{value}"' in line for key, value in labels.items()):
                total += float(line.rsplit(" ", 1)[1])
        return total

    def until_stage(self, stage):
        self.until(lambda: self.metric("evenkeel_policy_stage", stage=stage) == 1, f"stage {stage}", SOON)

    def step(self, command, *arguments):
        done = evenkeel(command, "--kubeconfig", str(lab.plane.kubeconfig), *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def stored(self):
        return lab.must(200, "GET", STAGE)["data"]["evenkeel"]

    def told(self, reason):
        """Messages of the Events about who decides."""
        items = lab.must(200, "GET", f"/api/v1/namespaces/kube-system/events?fieldSelector=reason={reason}")["items"]
        return [one["message"] for one in items]

    def decided(self, name):
        """By whom, as /decisions has it."""
        self.add_pod(name)
        self.until_scheduled(name)
        return self.until(lambda: json.loads(self.read(f"/decisions/{self.ns}/{name}"))["decisions"], "a decision")[0]["message"]


class Stages(Guarded):
    def test_promote_and_demote_are_obeyed_within_seconds(self):
        self.add_nodes(count=2)
        self.run_guarded(stage="shadow")
        self.until_stage("shadow")
        self.add_pod("first")
        self.until_scheduled("first")
        self.until(lambda: self.metric("evenkeel_policy_decisions_total", decider="rule", reason="stage") == 1, "a count", SOON)
        said = self.step("promote", "--to", "canary", "--share", "25%", "--namespaces", self.ns, "--server", self.url)
        self.assertIn(f"evenkeel: as configured -> canary, 25 % of pods and namespace {self.ns}", said)
        self.until_stage("canary")
        self.assertIn("canary -> full", re.sub(r"canary.* ->", "canary ->", self.step("promote")))
        self.until_stage("full")
        self.assertIn(f"full -> canary, 25 % of pods and namespace {self.ns}", self.step("demote"))
        self.until_stage("canary")
        self.step("demote", "--to", "shadow")
        self.until_stage("shadow")

    def test_a_dry_run_writes_nothing(self):
        self.assertIn("canary, 10 % of pods (dry run", self.step("promote", "--to", "canary", "--dry-run"))
        self.assertEqual(lab.plane.api("GET", STAGE)[0], 404)
        self.step("promote", "--to", "canary")
        before = self.stored()
        self.step("promote", "--dry-run")
        self.assertEqual(self.stored(), before)

    def test_a_fallback_is_an_event_that_kubectl_shows(self):
        self.add_nodes(count=2)
        self.run_guarded(stage="full", election={})
        self.add_pod("web")
        self.until_scheduled("web")  # nobody measures here, so the rule decides, and says so

        def told():
            return "PolicyFallback" in lab.kubectl("get", "events", "-n", "kube-system", "--field-selector", "reason=PolicyFallback")
        self.until(told, "an Event about the fallback")
        said = lab.kubectl("get", "events", "-n", "kube-system")
        self.assertIn("lease/evenkeel", said)
        self.assertIn("horizon decides instead of evenkeel: metrics_missing", said)
        self.assertEqual(self.metric("evenkeel_policy_fallback", reason="metrics_missing"), 1)
        self.assertGreaterEqual(self.metric("evenkeel_policy_decisions_total", decider="rule", reason="metrics_missing"), 1)
        decisions = json.loads(self.read(f"/decisions/{self.ns}/web"))["decisions"]
        self.assertIn("decided by horizon instead of evenkeel: metrics_missing", decisions[0]["message"])

    def test_a_map_that_is_deleted_or_damaged_leaves_the_deciding_to_the_rule(self):
        self.add_nodes(count=2)
        scheduler = self.run_guarded(stage="full")
        self.step("promote", "--to", "full")
        self.until(lambda: "stage full, by kube-system/evenkeel-stage" in scheduler.log.read_text(), "the stage", SOON)
        self.patch(STAGE, {"data": {"evenkeel": "stage: everywhere\n"}})
        self.until(lambda: "stage unknown, horizon decides" in scheduler.log.read_text(), "the rule", SOON)
        self.add_pod("damaged")
        self.until_scheduled("damaged")
        self.until(lambda: self.metric("evenkeel_policy_fallback", reason="stage_unknown") == 1, "the rule", SOON)
        done = evenkeel("promote", "--kubeconfig", str(lab.plane.kubeconfig))
        self.assertEqual(done.returncode, 2)
        self.assertIn("--to replaces it", done.stderr)
        self.step("promote", "--to", "full")
        self.until_stage("full")
        lab.must(200, "DELETE", STAGE)
        self.until(lambda: "evenkeel-stage is gone" in scheduler.log.read_text(), "the end of it", SOON)
        self.add_pod("deleted")
        self.until_scheduled("deleted")

    def test_shadow_says_what_would_have_changed(self):
        nodes = self.add_nodes(count=3)
        scheduler = self.run_guarded(stage="shadow", flags=["--shadow"])
        self.until(lambda: "every kind is listed" in scheduler.log.read_text(), "the lists")
        for i in range(6):
            self.add_pod(f"p{i}")
        self.until(lambda: len(json.loads(self.read("/decisions"))["decisions"]) >= 6, "decisions")
        for i in range(6):  # somebody else binds them all to one node
            lab.must(201, "POST", f"/api/v1/namespaces/{self.ns}/pods/p{i}/binding",
                     {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": f"p{i}"},
                      "target": {"apiVersion": "v1", "kind": "Node", "name": nodes[0]}})
        self.until(lambda: json.loads(self.read("/shadow"))["ours_vs_actual"]["decisions"] == 6, "a comparison")
        report = json.loads(self.read("/shadow"))["ours_vs_actual"]
        self.assertLess(report["agreement"], 1)
        self.assertLess(report["imbalance"]["ours"], report["imbalance"]["other"])
        self.assertIn(self.ns, report["namespaces"])
        table = evenkeel("shadow", "--server", self.url)
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertIn("Our choice beside where the pod really went", table.stdout)
        self.assertEqual(scheduler.stop(), 0)
        self.assertIn("Our choice beside where the pod really went", scheduler.log.read_text())
        self.assertEqual([one for one in lab.audit() if one["verb"] in ("create", "patch", "update", "delete")
                          and one["namespace"] == self.ns], [], "in shadow nothing is written")

    def test_a_damaged_model_leaves_the_deciding_to_the_rule_and_an_event_says_so(self):
        whole = (lab.ROOT / "models/evenkeel.ekm").read_bytes()
        damaged = lab.plane.folder / f"{self.ns}.ekm"
        damaged.write_bytes(whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:])
        self.add_nodes(count=2)
        self.run_guarded(stage="full", election={}, arguments={"model": str(damaged)})
        self.assertIn("decided by horizon instead of evenkeel: no_model", self.decided("web"))
        self.until(lambda: [one for one in self.told("PolicyFallback") if "no_model" in one and "damaged" in one],
                   "an Event that says what is wrong with the model")
        self.assertEqual(self.metric("evenkeel_policy_fallback", reason="no_model"), 1)


@unittest.skipIf(lab.REFERENCE, "kube-scheduler has no model")
@metrics_lab.needed
class TheModelThatIsBuiltIn(metrics_lab.Measured, Guarded):
    def healthy(self):
        return self.metric("evenkeel_policy_fallback") == 0

    def test_decides_by_fresh_metrics_leaves_it_to_the_rule_without_and_comes_back(self):
        self.measure("a", "b", "c", cores=lambda pod: 0.2)
        self.add_nodes("a", "b", "c")
        self.run_guarded(stage="full", election={}, flags=[*self.usage_flags(), "--metrics-stale=10s"])
        self.until(lambda: self.metric("evenkeel_usage_nodes", sample="fresh") == 3 and self.healthy(),
                   "metrics that were fresh for a while")
        self.assertEqual(self.decided("first"), "decided by evenkeel")
        self.assertGreaterEqual(self.metric("evenkeel_policy_decisions_total", decider="learned"), 1)

        self.monitoring.kill()
        self.until(lambda: not self.healthy(), "a fallback")
        self.assertIn("decided by horizon instead of evenkeel: metrics_stale", self.decided("second"))
        self.until(lambda: [one for one in self.told("PolicyFallback") if "metrics_stale" in one], "an Event about it")

        self.monitoring.start()
        self.until(self.healthy, "the way back")
        self.assertEqual(self.decided("third"), "decided by evenkeel")
        self.until(lambda: self.told("PolicyRestored"), "an Event about that")
        self.assert_each_bound_once()


if __name__ == "__main__":
    lab.main()
