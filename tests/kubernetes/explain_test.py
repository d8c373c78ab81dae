#!/usr/bin/env python3
"""What a running scheduler says about itself, and what `place` and `explain` say of a live cluster.

  explain_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set
"""
import json
import os
import subprocess
import tempfile
import urllib.error
import urllib.request

import lab
from lab import LabTest


# Prometheus' own parser comes with the system's Python, which need not be the one that runs this.
PARSE = """
import json, sys
from prometheus_client.parser import text_string_to_metric_families as parse
print(json.dumps([[one.name, one.labels, one.value] for family in parse(sys.stdin.read()) for one in family.samples]))
"""


def evenkeel(*arguments, kubeconfig=None, environment=None):
    environment = {**os.environ, **(environment or {})}
    where = ["--kubeconfig", str(kubeconfig or lab.plane.kubeconfig)] if kubeconfig != "" else []
    return subprocess.run([lab.EVENKEEL, *arguments, *where], capture_output=True, text=True, timeout=lab.PATIENCE,
                          env=environment)


class ALiveCluster(LabTest):
    """Nobody schedules here: pods stay where they are put."""
    wants_scheduler = False

    def explain(self, pod, *arguments):
        done = evenkeel("explain", "--pod", f"{self.ns}/{pod}", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["decisions"][0]

    def test_explain_says_where_a_waiting_pod_would_go_and_what_speaks_against_the_rest(self):
        small, large = self.add_nodes("small", cpu="1") + self.add_nodes("large", cpu="16")
        self.add_nodes("closed", cpu="64", taints=[{"key": "mine", "effect": "NoSchedule"}], ready=False)
        self.add_pod("web", cpu="2")
        said = self.explain("web")
        self.assertEqual(said["node"], large)
        self.assertEqual(said["feasible"], [large])
        self.assertEqual(said["rejected"][small], [{"plugin": "NodeResourcesFit", "reason": "Insufficient cpu"}])
        self.assertEqual(said["rejected"][f"{self.ns}-closed"][0]["plugin"], "TaintToleration")
        self.assertEqual(sum(score * said["weights"][plugin] for plugin, score in said["scores"][large].items()
                             if plugin != "total"), said["scores"][large]["total"])
        self.assertIsNone(said["bound"])

    def test_explain_reads_for_people(self):
        self.add_nodes("a", "b", cpu="4")
        self.add_pod("web", cpu="2")
        done = evenkeel("explain", "--pod", f"{self.ns}/web")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, rf"{self.ns}/web: goes to {self.ns}-[ab] \(kube-default\)")
        self.assertIn("NodeResourcesFit", done.stdout)

    def test_explain_names_whom_preemption_would_end(self):
        self.add_nodes("only", cpu="4")
        node = f"{self.ns}-only"
        lab.must(201, "POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
                 {"metadata": {"name": f"{self.ns}-high"}, "value": 1000})
        self.addCleanup(lab.plane.api, "DELETE", f"/apis/scheduling.k8s.io/v1/priorityclasses/{self.ns}-high")
        self.add_pod("modest", cpu="3", nodeName=node)
        self.add_pod("urgent", cpu="3", priorityClassName=f"{self.ns}-high")
        said = self.explain("urgent")
        self.assertIsNone(said["node"])
        self.assertIn("Insufficient cpu", said["unschedulable"])
        self.assertEqual(said["preempts"], [f"{self.ns}/modest"])
        self.assertEqual(said["nominated"], node)

    def test_explain_of_a_bound_pod_says_where_it_is_and_what_would_be_chosen_today(self):
        worse, better = self.add_nodes("worse", cpu="4") + self.add_nodes("better", cpu="32")
        self.add_pod("web", cpu="3", nodeName=worse)
        said = self.explain("web")
        self.assertEqual((said["bound"], said["node"]), (worse, better))

    def test_place_places_all_that_wait(self):
        self.add_nodes("a", "b", cpu="4")
        for name in ("one", "two"):
            self.add_pod(name, cpu="3")
        done = evenkeel("place", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        placed = {one["pod"]: one["node"] for one in json.loads(done.stdout)["decisions"]}
        self.assertEqual({placed[f"{self.ns}/one"], placed[f"{self.ns}/two"]}, {f"{self.ns}-a", f"{self.ns}-b"})

    def test_trouble_is_named_and_told_apart_by_the_exit_code(self):
        missing = evenkeel("explain", "--pod", f"{self.ns}/nobody")
        self.assertEqual(missing.returncode, 2)
        self.assertIn(f"{self.ns}/nobody", missing.stderr)
        nowhere = evenkeel("place", kubeconfig="/nonexistent/kubeconfig")
        self.assertEqual(nowhere.returncode, 2)
        self.assertIn("/nonexistent/kubeconfig", nowhere.stderr)
        both = evenkeel("place", "-f", "-")
        self.assertEqual(both.returncode, 2)


class ARunningScheduler(LabTest):
    wants_scheduler = False

    def setUp(self):
        super().setUp()
        self.port = lab.control_plane.free_ports(1)[0]

    def run_listening(self, *flags, **options):
        return self.run_scheduler(flags=[f"--listen=127.0.0.1:{self.port}", *flags], **options)

    def get(self, path, token=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}")
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def until_ready(self):
        self.until(lambda: self.get("/readyz") == (200, "ok"), "the scheduler to be ready")

    def samples(self):
        """(name, sorted labels) -> value, as Prometheus' own parser reads them."""
        code, text = self.get("/metrics")
        self.assertEqual(code, 200)
        done = subprocess.run(["/usr/bin/python3", "-c", PARSE], input=text, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {(name, *sorted(labels.items())): value for name, labels, value in json.loads(done.stdout)}

    def test_health_metrics_and_decisions_tell_of_what_it_does(self):
        self.run_listening()
        self.until_ready()
        self.assertIn("[+]informer-sync ok\n", self.get("/readyz?verbose")[1])
        self.add_nodes("a", "b", cpu="4")
        for number in range(4):
            self.add_pod(f"web-{number}", cpu="1")
        self.add_pod("huge", cpu="100")
        self.until_scheduled(*(f"web-{number}" for number in range(4)))
        self.until_refused("huge", "Insufficient cpu")

        profile, scheduled = ("profile", "evenkeel"), ("result", "scheduled")
        self.until(lambda: self.samples()[("scheduler_schedule_attempts_total", profile, scheduled)] == 4, "four to be counted")
        samples = self.samples()
        self.assertEqual(samples[("scheduler_unschedulable_pods", ("plugin", "NodeResourcesFit"), profile)], 1)
        self.assertEqual(samples[("scheduler_pending_pods", ("queue", "unschedulable"))], 1)
        self.assertEqual(samples[("scheduler_pod_scheduling_sli_duration_seconds_count", ("attempts", "1"))], 4)
        self.assertEqual(samples[("scheduler_cache_size", ("type", "assumed_pods"))], 0)

        code, text = self.get(f"/decisions/{self.ns}/web-0")
        self.assertEqual(code, 200)
        decision = json.loads(text)["decisions"][0]
        self.assertEqual(decision["node"], f"{self.ns}-{self.node_of('web-0')}")
        self.assertEqual((decision["outcome"], decision["binding"]), ("scheduled", "bound"))
        refused = json.loads(self.get(f"/decisions?pod={self.ns}/huge")[1])["decisions"][0]
        self.assertEqual(refused["outcome"], "unschedulable")
        self.assertIn("NodeResourcesFit", [reason["plugin"] for reason in refused["reasons"]])

    def test_explain_shows_what_was_decided_then_beside_what_would_be_today(self):
        self.run_listening()
        self.until_ready()
        self.add_nodes("a", cpu="4")
        self.add_pod("web", cpu="1")
        self.until_scheduled("web")
        self.add_nodes("better", cpu="64")
        server = f"http://127.0.0.1:{self.port}"
        done = evenkeel("explain", "--pod", f"{self.ns}/web", "--server", server, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)["decisions"][0]
        self.assertEqual(said["decided"][0]["node"], f"{self.ns}-a")
        self.assertEqual(said["node"], f"{self.ns}-better")
        text = evenkeel("explain", "--pod", f"{self.ns}/web", "--server", server).stdout
        self.assertIn("decided by the running scheduler", text)

    def test_beyond_loopback_it_shows_health_alone_and_the_rest_to_who_knows_the_secret(self):
        open_to_all = self.run_scheduler(flags=[f"--listen=0.0.0.0:{self.port}"])
        self.until_ready()
        self.assertEqual(self.get("/metrics")[0], 403)
        open_to_all.stop()
        with tempfile.NamedTemporaryFile("w") as secret:
            secret.write("open-sesame\n")
            secret.flush()
            self.run_scheduler(flags=[f"--listen=0.0.0.0:{self.port}", f"--listen-token-file={secret.name}"])
            self.until_ready()
            self.assertEqual(self.get("/metrics")[0], 401)
            self.assertEqual(self.get("/metrics", "wrong")[0], 401)
            self.assertEqual(self.get("/metrics", "open-sesame")[0], 200)


if __name__ == "__main__":
    lab.main()
