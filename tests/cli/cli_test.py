#!/usr/bin/env python3
"""What users script against: exit codes, messages, JSON, the same bytes twice. Run with the binary's path."""
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

BINARY = os.path.abspath(sys.argv.pop(1))


def run(*arguments, cwd=None, env=None):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=120, cwd=cwd, env=env)


CLUSTER = """
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: n1}
  status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
- apiVersion: v1
  kind: Node
  metadata: {name: n2}
  status: {allocatable: {cpu: 8, memory: 16Gi, pods: 110}}
- apiVersion: v1
  kind: Node
  metadata: {name: n3}
  spec: {unschedulable: true}
  status: {allocatable: {cpu: 64, memory: 64Gi, pods: 110}}
- apiVersion: v1
  kind: Pod
  metadata: {name: web-1}
  spec: {containers: [{name: c, resources: {requests: {cpu: "3", memory: 1Gi}}}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: web-2}
  spec: {priority: 10, containers: [{name: c, resources: {requests: {cpu: "6", memory: 1Gi}}}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: huge}
  spec: {containers: [{name: c, resources: {requests: {cpu: "60", memory: 1Gi}}}]}
"""


class Place(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.cluster = pathlib.Path(self.folder.name) / "cluster.yaml"
        self.cluster.write_text(CLUSTER)

    def place(self, *arguments):
        done = run("place", "-f", str(self.cluster), "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {decision["pod"]: decision for decision in json.loads(done.stdout)["decisions"]}

    def test_says_node_scores_and_reasons_in_the_promised_shape(self):
        decision = self.place("--policy", "kube-default", "--independent")["default/web-1"]
        self.assertEqual(decision["node"], "n2")
        self.assertEqual(decision["policy"], "kube-default")
        self.assertEqual(decision["feasible"], ["n1", "n2"])
        self.assertEqual(decision["rejected"]["n3"],
                         [{"plugin": "NodeUnschedulable", "reason": "node(s) were unschedulable"}])
        # (4-3)/4 and (8-1)/8 of n1 are 25 and 87; (8-3)/8 and (16-1)/16 of n2 are 62 and 93.
        self.assertEqual(decision["scores"]["n1"]["NodeResourcesFit"], 56)
        self.assertEqual(decision["scores"]["n2"]["NodeResourcesFit"], 77)
        for scores in decision["scores"].values():
            weighted = sum(score * decision["weights"][plugin] for plugin, score in scores.items() if plugin != "total")
            self.assertEqual(weighted, scores["total"])
        self.assertEqual(decision["preempts"], [])
        self.assertIsNone(decision["unschedulable"])

    def test_places_the_most_urgent_first_and_the_others_around_it(self):
        together = self.place()
        self.assertEqual(list(together), ["default/web-2", "default/web-1", "default/huge"])
        self.assertEqual(together["default/web-2"]["node"], "n2")
        self.assertEqual(together["default/web-1"]["node"], "n1")  # n2 is taken
        self.assertEqual(self.place("--independent")["default/web-1"]["node"], "n2")

    def test_says_why_a_pod_fits_nowhere_in_kube_schedulers_words(self):
        decision = self.place("--independent")["default/huge"]
        self.assertIsNone(decision["node"])
        self.assertEqual(decision["unschedulable"],
                         "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu. preemption: 0/3 nodes are "
                         "available: 3 Preemption is not helpful for scheduling.")  # more than any of them has

    def test_takes_kube_schedulers_configuration(self):
        config = pathlib.Path(self.folder.name) / "config.yaml"
        config.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
                          "- pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: {type: MostAllocated}}\n")
        decision = self.place("--independent", "--config", str(config))["default/web-1"]
        self.assertEqual(decision["node"], "n1")
        config.write_text("kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1\nprofile: []\n")
        done = run("place", "-f", str(self.cluster), "--config", str(config))
        self.assertEqual(done.returncode, 2)
        self.assertIn("profile: unknown field", done.stderr)

    def test_gives_the_same_bytes_twice(self):
        arguments = ("place", "-f", str(self.cluster), "--json")
        self.assertEqual(run(*arguments).stdout, run(*arguments).stdout)

    def test_names_file_object_and_field_of_bad_input(self):
        self.cluster.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{resources: {requests: {cpu: lots}}}]}\n")
        done = run("place", "-f", str(self.cluster))
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{self.cluster}:1: Pod p: spec.containers[0].resources.requests.cpu: expected a quantity", done.stderr)
        self.assertEqual(run("place", "-f", "no-such-file").returncode, 2)
        nowhere = run("place", env={"HOME": self.folder.name})  # neither a file nor a cluster to ask
        self.assertEqual(nowhere.returncode, 2)
        self.assertIn("kubeconfig", nowhere.stderr.lower())
        both = run("place", "-f", str(self.cluster), "--kubeconfig", "anything")
        self.assertEqual(both.returncode, 2)
        self.cluster.write_text(CLUSTER)
        self.assertEqual(run("place", "-f", str(self.cluster), "--policy", "nonesuch").returncode, 2)

    def test_answers_a_cluster_per_line(self):
        lines = pathlib.Path(self.folder.name) / "clusters.jsonl"
        lines.write_text('{"items": []}\n{"items": [{"kind": "Pod", "apiVersion": "v1"}]}\n')
        done = run("place", "-f", str(lines), "--lines")
        first, second = map(json.loads, done.stdout.splitlines())
        self.assertEqual(first, {"decisions": []})
        self.assertIn("Pod without a name", second["error"])
        self.assertEqual(done.returncode, 2)

    def test_explains_one_pod(self):
        done = run("explain", "-f", str(self.cluster), "--pod", "default/web-1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("goes to n2", done.stdout)
        self.assertIn("node(s) were unschedulable", done.stdout)
        as_json = json.loads(run("explain", "-f", str(self.cluster), "--pod", "web-1", "--json").stdout)
        self.assertEqual(as_json["decisions"][0]["node"], "n2")
        self.assertIsNone(as_json["decisions"][0]["bound"])
        missing = run("explain", "-f", str(self.cluster), "--pod", "web-9")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("default/web-9", missing.stderr)

    def test_explains_what_a_running_scheduler_decided_beside_what_would_be_today(self):
        asked = []

        class Journal(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                entry = {"time": "2026-11-17T03:00:00.000000Z", "outcome": "scheduled", "node": "n1", "binding": "bound"}
                body = json.dumps({"decisions": [entry]}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Journal)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_port}"
        arguments = ("explain", "-f", str(self.cluster), "--pod", "default/web-1", "--server")
        decision = json.loads(run(*arguments, url, "--json").stdout)["decisions"][0]
        self.assertEqual((decision["decided"][0]["node"], decision["node"]), ("n1", "n2"))
        self.assertEqual(asked, ["/decisions?limit=3&pod=default%2Fweb-1"])
        self.assertIn("2026-11-17T03:00:00.000000Z", run(*arguments, url).stdout)
        self.assertEqual(run(*arguments, "http://example.com").returncode, 2)  # not unencrypted, not over a network
        self.assertEqual(run(*arguments, "http://127.0.0.1:1").returncode, 1)


def network_cluster():
    """Two zones of two nodes, room for two pods on each; one application of four that talk in a ring."""
    items = []
    for number in range(4):
        zone = "z1" if number < 2 else "z2"
        items.append({"apiVersion": "v1", "kind": "Node",
                      "metadata": {"name": f"n{number + 1}", "labels": {
                          "kubernetes.io/hostname": f"n{number + 1}", "topology.kubernetes.io/region": "r1",
                          "topology.kubernetes.io/zone": zone}},
                      "status": {"allocatable": {"cpu": "2", "memory": "8Gi", "pods": "110"}}})
    workloads = [{"workload": {"kind": "Deployment", "name": f"p{i}", "selector": f"p{i}", "apiVersion": "apps/v1",
                               "namespace": "default"},
                  "dependencies": [{"workload": {"kind": "Deployment", "name": f"p{i % 4 + 1}",
                                                 "selector": f"p{i % 4 + 1}", "apiVersion": "apps/v1",
                                                 "namespace": "default"}, "maxNetworkCost": 100}]}
                 for i in range(1, 5)]
    items.append({"apiVersion": "appgroup.diktyo.x-k8s.io/v1alpha1", "kind": "AppGroup",
                  "metadata": {"name": "a1", "namespace": "default"},
                  "spec": {"numMembers": 4, "topologySortingAlgorithm": "KahnSort", "workloads": workloads}})
    costs = [{"origin": a, "costList": [{"destination": b, "networkCost": 5}]} for a, b in (("z1", "z2"), ("z2", "z1"))]
    items.append({"apiVersion": "networktopology.diktyo.x-k8s.io/v1alpha1", "kind": "NetworkTopology",
                  "metadata": {"name": "nt-default", "namespace": "default"},
                  "spec": {"configmapName": "netperf-metrics", "weights": [
                      {"name": "UserDefined", "topologyList": [
                          {"topologyKey": "topology.kubernetes.io/zone", "originList": costs}]}]}})
    for i in range(1, 5):
        items.append({"apiVersion": "v1", "kind": "Pod",
                      "metadata": {"name": f"p{i}-0", "namespace": "default", "labels": {
                          "appgroup.diktyo.x-k8s.io": "a1", "appgroup.diktyo.x-k8s.io.workload": f"p{i}"}},
                      "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}})
    return {"apiVersion": "v1", "kind": "List", "items": items}


class Optimum(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.cluster = pathlib.Path(self.folder.name) / "cluster.json"
        self.cluster.write_text(json.dumps(network_cluster()))

    def tearDown(self):
        self.folder.cleanup()

    def test_proves_the_best_placement_beside_a_policys(self):
        done = run("optimum", "-f", str(self.cluster), "--policy", "kube-default", "--json")
        if "HiGHS is not here" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        # Two by two on neighbouring nodes: two edges of the ring lead from one to the other.
        self.assertEqual((told["accepted"], told["latency"], told["bound"], told["gap"]), (1, 2, 2, 0))
        self.assertTrue(told["proven"])
        self.assertEqual(len(told["placement"]), 4)
        self.assertTrue(all(pod["node"] and pod["group"] == "default/a1" for pod in told["placement"]))
        self.assertEqual(told["policy"]["name"], "kube-default")
        self.assertGreaterEqual(told["policy"]["latency"], 2)

    def test_says_what_is_missing(self):
        nowhere = dict(os.environ, EVENKEEL_HIGHS="/nowhere/libhighs.so.1")
        done = run("optimum", "-f", str(self.cluster), env=nowhere)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere/libhighs.so.1", done.stderr)
        self.assertEqual(run("optimum", "-f", str(self.cluster), "--time-limit", "soon").returncode, 2)


class Evaluate(unittest.TestCase):
    def test_prints_json_with_mean_sd_and_a_value_per_seed(self):
        done = run("evaluate", "--scenario", "smoke", "--policies", "kube-default,clairvoyant", "--seeds", "3", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["scenario"], "smoke")
        self.assertEqual(document["seeds"], [1, 2, 3])
        figure = document["policies"]["kube-default"]["imbalance"]
        self.assertEqual(len(figure["values"]), 3)
        self.assertAlmostEqual(figure["mean"], sum(figure["values"]) / 3)
        self.assertTrue(document["policies"]["clairvoyant"]["reference"])
        self.assertNotIn("reference", document["policies"]["kube-default"])

    def test_gives_the_same_bytes_twice_whatever_the_threads(self):
        arguments = ("evaluate", "--scenario", "churn", "--policies", "kube-default,horizon+moves", "--seeds", "4", "--json")
        first = run(*arguments, "--threads", "1").stdout
        self.assertEqual(first, run(*arguments, "--threads", "2").stdout)
        self.assertTrue(first)
        self.assertNotEqual(first, run(*arguments, "--seed", "7").stdout)

    def test_measures_time_only_when_asked(self):
        plain = run("evaluate", "--scenario", "smoke", "--seeds", "1", "--json").stdout
        timed = run("evaluate", "--scenario", "smoke", "--seeds", "1", "--json", "--timing").stdout
        self.assertNotIn("decision_us_p99", plain)
        self.assertIn("decision_us_p99", timed)

    def test_says_which_trace_or_generator_was_used(self):
        self.assertIn("generated", json.loads(run("evaluate", "--scenario", "smoke", "--seeds", "1", "--json").stdout)["source"])

    def test_writes_a_report_that_needs_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.html"
            done = run("evaluate", "--scenario", "smoke", "--seeds", "2", "--report", str(report))
            self.assertEqual(done.returncode, 0, done.stderr)
            html = report.read_text()
        self.assertIn("<svg", html)
        self.assertIsNone(re.search(r'(src|href)="https?:', html))

    def test_puts_no_colour_into_a_pipe(self):
        self.assertNotIn("\033", run("evaluate", "--scenario", "smoke", "--seeds", "1").stdout)

    def test_reports_pods_that_fit_nowhere_and_goes_on(self):
        done = run("evaluate", "--scenario", "smoke", "--seeds", "1", "--json", "--set", "workload.apps.0.cpu_request=1000",
                   "--set", "workload.apps.0.cpu_limit=1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        figures = json.loads(done.stdout)["policies"]["kube-default"]
        self.assertGreater(figures["unschedulable"]["mean"], 0)
        self.assertGreater(figures["placed"]["mean"], 0)


class WrongInput(unittest.TestCase):
    def refused(self, *arguments, names):
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        for name in names:
            self.assertIn(name, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_names_an_unknown_scenario_and_those_there_are(self):
        self.refused("evaluate", "--scenario", "drs-evn", names=["drs-evn", "drs-even"])

    def test_names_an_unknown_policy_and_those_there_are(self):
        self.refused("evaluate", "--scenario", "smoke", "--policies", "gredy", names=["gredy", "greedy"])

    def test_names_an_unknown_switch(self):
        self.refused("evaluate", "--scenario", "smoke", "--policies", "greedy+fly", names=["+fly", "+moves"])

    def test_names_the_field_of_a_bad_override(self):
        self.refused("evaluate", "--scenario", "smoke", "--set", "metrics.noise=loud", names=["metrics.noise", "loud"])
        self.refused("evaluate", "--scenario", "smoke", "--set", "metrics.nose=1", names=["metrics.nose"])

    def test_names_file_and_line_of_a_malformed_scenario(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "bad.yaml"
            path.write_text("apiVersion: evenkeel.io/v1alpha1\nkind: Scenario\nname: bad\nnodes:\n  list: 7\n")
            self.refused("evaluate", "--scenario", str(path), names=[str(path) + ":5", "nodes.list"])
            path.write_text("a: [1,\n")
            self.refused("evaluate", "--scenario", str(path), names=[str(path)])
            self.refused("evaluate", "--scenario", str(path) + ".yaml", names=[str(path) + ".yaml"])

    def test_names_file_and_line_of_a_malformed_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "usage.csv"
            trace.write_text("vm,slot,cpu_mhz,mem_mib,disk_r_kBps,disk_w_kBps,net_rx_kBps,net_tx_kBps\n1,0,x,1,0,0,0,0\n")
            self.refused("evaluate", "--scenario", "bitbrains", "--set", f"usage.trace={trace}", names=[str(trace) + ":2", "cpu_mhz"])

    def test_names_a_window_no_benchmark_has_and_a_folder_that_is_not_there(self):
        self.refused("bench", "scaling", "--quick", "--tuned-on", "1812-01-01", names=["1812-01-01", "1998-05-04", "1995-07-03", "first-half"])
        self.refused("bench", "scaling", "--quick", "--data", "/nonexistent", names=["--data", "/nonexistent"])

    def test_names_a_policy_no_benchmark_knows(self):
        for bench in ("scaling", "together"):
            done = run("bench", bench, "--quick", "--json", "--policies", "hpo")
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn("hpo", done.stderr)

    def test_names_a_scaling_policy_that_is_given_a_model_and_is_none(self):
        self.refused("evaluate", "--scenario", "scaling-bookinfo", "--model", "nosuch=model.ekm",
                     names=["no scaling policy is called 'nosuch'", "dscaler"])

    def test_wants_a_subcommand_and_known_flags(self):
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("evaluate").returncode, 2)
        self.assertEqual(run("evaluate", "--scenario", "smoke", "--fast").returncode, 2)
        self.assertEqual(run("bench", "nonesuch").returncode, 2)
        self.assertEqual(run("demo", "--headless", "--for", "soon").returncode, 2)

    def test_shows_help_with_an_example_everywhere(self):
        self.assertEqual(run("--help").returncode, 0)
        for command in ("evaluate", "demo", "bench", "train", "model", "papers"):
            done = run(command, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("Example", done.stdout)


class Bench(unittest.TestCase):
    def test_prints_one_json_document(self):
        done = run("bench", "decisions", "--quick", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["bench"], "decisions")
        self.assertGreater(document["results"]["nodes"]["5000"]["kube-default"]["per_s"], 0)

    def test_says_how_near_to_the_optimum_groups_are_placed(self):
        done = run("bench", "network", "--quick", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        results = json.loads(done.stdout)["results"]
        self.assertLessEqual(results["gap_mean"], 0.01)
        self.assertLessEqual(results["gap_worst"], 0.05)
        self.assertGreater(results["ms"], 0)
        self.assertIn("skipped: no data", done.stderr)

    def test_runs_policies_on_applications_that_talk(self):
        arguments = ("evaluate", "--scenario", "diktyo-cluster", "--policies", "kube-default,task-topology,optimum",
                     "--seeds", "2", "--set", "workload.app=basic", "--set", "workload.replicas=2", "--json")
        done = run(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        policies = json.loads(done.stdout)["policies"]
        self.assertTrue(policies["optimum"]["reference"])
        self.assertEqual(policies["optimum"]["gap_to_optimum"]["mean"], 0)
        for figures in policies.values():
            self.assertEqual(figures["placed"]["values"], [6, 6])
            self.assertEqual(figures["bandwidth_violations"]["values"], [0, 0])
            for latency in figures["latency_ms"]["values"]:
                self.assertGreaterEqual(latency, policies["optimum"]["latency_ms"]["mean"])
        self.assertEqual(run(*arguments).stdout, done.stdout)

    def test_takes_applications_and_latencies_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            edges, rtt = pathlib.Path(folder) / "edges.csv", pathlib.Path(folder) / "rtt.csv"
            edges.write_text("app,src,dst\nbook,page,reviews\nbook,reviews,ratings\n")
            rtt.write_text("src,dst,rtt_avg_ms\na,b,20\nb,a,20\n")
            done = run("evaluate", "--scenario", "diktyo-cluster", "--policies", "binpack", "--seeds", "1", "--json",
                       "--set", f"workload.edges={edges}", "--set", "workload.app=book",
                       "--set", f"network.regions.trace={rtt}")
            self.assertEqual(done.returncode, 0, done.stderr)
            document = json.loads(done.stdout)
            self.assertEqual(document["policies"]["binpack"]["placed"]["values"], [3])
            self.assertIn(str(rtt), document["source"])
            wrong = run("evaluate", "--scenario", "diktyo-cluster", "--set", f"workload.edges={edges}",
                        "--set", "workload.app=bokk")
            self.assertEqual(wrong.returncode, 2)
            self.assertIn("book", wrong.stderr)

    def test_times_the_papers_trainings(self):
        done = run("bench", "training", "--quick", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        for figure in ("drs_300_epochs_s", "ppo_lrt_300_episodes_s", "drs_peak_mb"):
            self.assertGreater(json.loads(done.stdout)["results"][figure], 0)

    def test_shows_a_sample_of_the_rules_beside_the_figures_to_reach(self):
        done = run("bench", "rules", "--quick")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("drs-even", done.stdout)
        self.assertIn("skipped: no data", done.stdout)

    def test_puts_scaling_policies_beside_hpa_and_a_clairvoyant(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "scaling.html"
            done = run("bench", "scaling", "--quick", "--json", "--report", str(page))
            self.assertEqual(done.returncode, 0, done.stderr)
            results = json.loads(done.stdout)["results"]
            for traces in ("wc98", "nasa", "llm"):
                for policy in ("hpa", "dscaler", "a-sarsa", "evenkeel", "clairvoyant"):
                    self.assertGreater(results[traces][policy]["replicas_mean"]["mean"], 0)
                self.assertLess(results[traces]["clairvoyant"]["replicas_mean"]["mean"], results[traces]["hpa"]["replicas_mean"]["mean"])
            self.assertIn("<svg", page.read_text())

    def test_scaling_that_asks_about_nodes_is_measured_beside_scaling_that_does_not(self):
        done = run("bench", "together", "--quick", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["policy"]: row for row in json.loads(done.stdout)["results"]}
        self.assertEqual(set(rows), {f"hpa, {variant}" for variant in ("apart", "room", "leavers", "both")})
        self.assertGreater(rows["hpa, apart"]["pending_pod_s"]["mean"], 0)
        for variant in ("room", "both"):
            self.assertEqual(rows[f"hpa, {variant}"]["pending_pod_s"]["mean"], 0)

    def test_a_sample_is_of_the_policies_asked_for(self):
        done = run("bench", "together", "--quick", "--json", "--policies", "evenkeel")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["results"][0]["policy"], "evenkeel, apart")


class Demo(unittest.TestCase):
    def test_ends_headless_with_the_comparison_table(self):
        done = run("demo", "--headless")
        self.assertEqual(done.returncode, 0, done.stderr)
        for policy in ("kube-default", "horizon", "drs"):
            self.assertIn(policy, done.stdout)
        self.assertIn("imbalance", done.stdout)
        scaled = done.stdout[done.stdout.index("scaling-wc98"):]
        for word in ("hpa", "evenkeel", "replicas", "violations"):
            self.assertIn(word, scaled)

    def test_serves_its_state_on_loopback_and_stops_when_told(self):
        demo = subprocess.Popen([BINARY, "demo", "--port", "0", "--for", "60s"], stdout=subprocess.PIPE, text=True)
        try:
            url = demo.stdout.readline().split()[-1]
            self.assertTrue(url.startswith("http://127.0.0.1:"), url)
            for _ in range(100):
                try:
                    state = json.load(urllib.request.urlopen(url + "api/state", timeout=5))
                    if state["panels"]:
                        break
                except (urllib.error.URLError, json.JSONDecodeError, KeyError):
                    pass
                time.sleep(0.1)
            self.assertEqual([panel["policy"] for panel in state["panels"]][:2], ["kube-default", "horizon"])
            self.assertEqual(state["panels"][-1]["policy"], "drs")
            self.assertIn("figures", state["panels"][-1]["learning"])
            self.assertEqual([lane["policy"] for lane in state["scaling"]["lanes"]], ["hpa", "evenkeel"])
            self.assertGreater(state["scaling"]["lanes"][0]["replicas"], 0)
        finally:
            demo.terminate()
            self.assertEqual(demo.wait(timeout=30), 0)
            demo.stdout.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
