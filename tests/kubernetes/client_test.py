#!/usr/bin/env python3
"""The client against a real API server: one control plane for all tests here.

  client_test.py CLIENT_PROBE [unittest arguments]
  EVENKEEL_KUBE_KEEP=1 leaves the control plane's folder behind
"""
import base64
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/kube"))
import control_plane  # noqa: E402
from control_plane import ControlPlane, wait_until  # noqa: E402

PROBE = sys.argv.pop(1) if len(sys.argv) > 1 else ""
PATIENCE = 120  # seconds for a condition to come true, on a machine that may be busy
plane = None


def setUpModule():
    global plane
    folder = tempfile.mkdtemp(prefix="evenkeel-kube-")
    unittest.addModuleCleanup(lambda: os.environ.get("EVENKEEL_KUBE_KEEP") or shutil.rmtree(folder, ignore_errors=True))
    plane = ControlPlane(folder)
    unittest.addModuleCleanup(lambda: plane.down())
    plane = ControlPlane.up(folder, nodes=2, parts=["etcd", "apiserver", "controller-manager"])
    must(201, "POST", "/api/v1/namespaces", {"metadata": {"name": "lab"}})
    wait_until(lambda: plane.api("GET", "/api/v1/namespaces/lab/serviceaccounts/default")[0] == 200, "service account")


def must(expected, method, path, body=None, content_type="application/json"):
    code, said = plane.api(method, path, body, content_type)
    if code != expected:
        raise AssertionError(f"{method} {path}: expected {expected}, got {code}: {said.get('message')}")
    return said


def pod_body(name, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name.split("-")[0]}},
            "spec": {"schedulerName": "nobody", "containers": [{"name": "main", "image": "none"}], **spec}}


def add_pod(name, **spec):
    return must(201, "POST", "/api/v1/namespaces/lab/pods", pod_body(name, **spec))["metadata"]


def pods_of(prefix):
    """uid -> resourceVersion of what the server has."""
    items = must(200, "GET", "/api/v1/namespaces/lab/pods")["items"]
    return {one["metadata"]["uid"]: one["metadata"]["resourceVersion"] for one in items
            if one["metadata"]["name"].startswith(prefix)}


def remove_pods(prefix):
    for one in must(200, "GET", "/api/v1/namespaces/lab/pods")["items"]:
        if one["metadata"]["name"].startswith(prefix):
            plane.api("DELETE", f"/api/v1/namespaces/lab/pods/{one['metadata']['name']}?gracePeriodSeconds=0")


def probe(*arguments, config=None, text=""):
    """The lines a command of the probe prints."""
    done = subprocess.run([PROBE, str(config or plane.kubeconfig), *map(str, arguments)], input=text, text=True,
                          capture_output=True, timeout=PATIENCE)
    if done.returncode != 0:
        raise AssertionError(f"client_probe {arguments}: {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.split("\n") if line]  # splitlines() knows more than one line break


class Follower:
    """A probe that follows one kind, and what it believes. Changes that make no sense are kept as complaints."""

    def __init__(self, *arguments, prefix="", config=None):
        self.prefix, self.versions, self.complaints, self.troubles = prefix, {}, [], []
        self.synced, self.counts = False, None
        self.process = subprocess.Popen([PROBE, str(config or plane.kubeconfig), "follow", *map(str, arguments)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            self.take(json.loads(line))

    def take(self, line):
        event = line["event"]
        if event == "synced":
            self.synced = True
        elif event == "counts":
            self.counts = line
        elif event == "trouble":
            self.troubles.append(line["what"])
        elif line["key"].startswith(f"lab/{self.prefix}"):
            known = self.versions.get(line["uid"])
            if event == "added" and known is not None:
                self.complaints.append(f"added twice: {line}")
            if event == "changed" and known in (None, line["rv"]):
                self.complaints.append(f"changed without being known, or told twice: {line}")
            if event == "deleted" and known is None:
                self.complaints.append(f"deleted without being known: {line}")
            if event == "deleted":
                self.versions.pop(line["uid"], None)
            else:
                self.versions[line["uid"]] = line["rv"]

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.stdin.close()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.thread.join(PATIENCE)
        self.process.stdout.close()


class ClientTest(unittest.TestCase):
    maxDiff = None

    def follow(self, *arguments, **options):
        follower = Follower(*arguments, **options)
        self.addCleanup(follower.end)
        self.until(lambda: follower.synced, "the first list", follower)
        return follower

    def until(self, condition, what, follower=None):
        try:
            wait_until(condition, what, PATIENCE)
        except control_plane.Trouble as trouble:
            self.fail(f"{trouble}; {follower.troubles[-3:] if follower else ''}")

    def agrees(self, follower, prefix):
        """Ends when the follower believes what the server has, and never was told nonsense on the way."""
        self.until(lambda: follower.versions == pods_of(prefix), "agreement with the server", follower)
        self.assertEqual(follower.complaints, [])

    def test_lists_more_than_a_page_and_follows_what_comes_after(self):
        for index in range(520):
            add_pod(f"many-{index}")
        self.addCleanup(remove_pods, "many")
        for wire in ("protobuf", "json"):
            with self.subTest(wire):
                follower = self.follow("pods", "--format", wire, "--page", 100, prefix="many")
                self.assertGreaterEqual(len(follower.versions), 520)
                add_pod(f"many-later-{wire}")
                plane.api("DELETE", f"/api/v1/namespaces/lab/pods/many-{wire == 'json':d}?gracePeriodSeconds=0")
                self.agrees(follower, "many")
                follower.end()
                self.assertGreaterEqual(follower.counts["pages"], 6)
                self.assertEqual(follower.counts["damaged"], 0)

    def test_loses_nothing_when_the_api_server_is_killed_and_started_again(self):
        self.addCleanup(remove_pods, "kill")
        followers = [self.follow("pods", "--format", wire, prefix="kill") for wire in ("protobuf", "json")]
        for index in range(10):
            add_pod(f"kill-before-{index}")
        plane.stop("apiserver", signal.SIGKILL)
        plane.start("apiserver")
        for index in range(10):
            add_pod(f"kill-after-{index}")
        for index in range(0, 10, 2):
            must(200, "DELETE", f"/api/v1/namespaces/lab/pods/kill-before-{index}?gracePeriodSeconds=0")
        for follower in followers:
            self.agrees(follower, "kill")
            self.assertEqual(len(follower.versions), 15)

    def test_resumes_watches_that_the_server_ends(self):
        self.addCleanup(remove_pods, "brief")
        follower = self.follow("pods", "--watch-seconds", 1, prefix="brief")
        for index in range(20):
            add_pod(f"brief-{index}")
        self.agrees(follower, "brief")
        add_pod("brief-last")
        self.agrees(follower, "brief")
        follower.end()
        self.assertEqual(follower.counts["lists"], 1)

    def test_lists_again_when_history_was_compacted_and_tells_what_vanished(self):
        self.addCleanup(remove_pods, "old")
        for index in range(6):
            add_pod(f"old-{index}")
        follower = self.follow("pods", prefix="old")
        self.agrees(follower, "old")
        # Stopped without a connection: one that was open would have been filled with what happened.
        plane.stop("apiserver", signal.SIGKILL)
        follower.process.send_signal(signal.SIGSTOP)
        plane.start("apiserver")
        for index in range(3):
            must(200, "DELETE", f"/api/v1/namespaces/lab/pods/old-{index}?gracePeriodSeconds=0")
        add_pod("old-0")  # the name returns as another object
        add_pod("old-new")
        revision = plane.etcd("/v3/kv/range", {"key": base64.b64encode(b"x").decode()})["header"]["revision"]
        plane.etcd("/v3/kv/compaction", {"revision": revision, "physical": True})
        # A server remembers in memory what etcd has forgotten: another one.
        plane.stop("apiserver", signal.SIGKILL)
        plane.start("apiserver")
        follower.process.send_signal(signal.SIGCONT)
        self.agrees(follower, "old")
        follower.end()
        self.assertGreaterEqual(follower.counts["lists"], 2, follower.troubles)
        self.assertTrue([what for what in follower.troubles if "too old resource version" in what], follower.troubles)

    def test_binds_once_and_only_the_pod_it_means(self):
        self.addCleanup(remove_pods, "bind")
        pod = add_pod("bind-me")
        self.assertEqual(probe("bind", "lab", "bind-me", "another-uid", "node-0")[0]["code"], 409)
        self.assertEqual(probe("bind", "lab", "bind-me", pod["uid"], "node-0")[0]["code"], 201)
        again = probe("bind", "lab", "bind-me", pod["uid"], "node-1")[0]
        self.assertEqual(again["code"], 409)
        self.assertIn("already assigned", again["message"])
        self.assertEqual(must(200, "GET", "/api/v1/namespaces/lab/pods/bind-me")["spec"]["nodeName"], "node-0")
        self.assertEqual(probe("bind", "lab", "bind-nobody", "u", "node-1")[0]["code"], 404)

    def test_binds_two_hundred_pods_over_its_pool(self):
        self.addCleanup(remove_pods, "bulk")
        for index in range(200):
            add_pod(f"bulk-{index}")
        outcome = probe("bind-all", 2)[-1]
        self.assertEqual(outcome["failed"], 0)
        self.assertGreaterEqual(outcome["bound"], 200)
        names = {one["spec"]["nodeName"] for one in must(200, "GET", "/api/v1/namespaces/lab/pods?labelSelector=app%3Dbulk")["items"]}
        self.assertEqual(names, {"node-0", "node-1"})

    def test_evicts_and_is_told_of_budgets(self):
        self.addCleanup(remove_pods, "evict")
        pod = add_pod("evict-me", nodeName="node-0")
        ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
        must(200, "PATCH", "/api/v1/namespaces/lab/pods/evict-me/status", ready, "application/strategic-merge-patch+json")
        must(201, "POST", "/apis/policy/v1/namespaces/lab/poddisruptionbudgets",
             {"metadata": {"name": "guard"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "evict"}}}})
        path = "/apis/policy/v1/namespaces/lab/poddisruptionbudgets/guard"
        self.until(lambda: must(200, "GET", path).get("status", {}).get("observedGeneration") == 1, "the budget")
        self.assertEqual(probe("evict", "lab", "evict-me", pod["uid"])[0]["code"], 429)
        must(200, "DELETE", path)
        # The budget may be remembered for a moment.
        self.until(lambda: probe("evict", "lab", "evict-me", pod["uid"])[0]["code"] == 201, "the eviction")
        self.assertIn("deletionTimestamp", must(200, "GET", "/api/v1/namespaces/lab/pods/evict-me")["metadata"])

    def test_leases_are_taken_by_one(self):
        first = probe("lease", "lab", "leader", "one")[0]
        self.assertEqual(first["code"], 201)
        self.assertEqual(probe("lease", "lab", "leader", "two")[0]["code"], 409)
        self.assertEqual(probe("lease", "lab", "leader", "one", first["resourceVersion"])[0]["code"], 200)
        self.assertEqual(probe("lease", "lab", "leader", "two", first["resourceVersion"])[0]["code"], 409)
        spec = must(200, "GET", "/apis/coordination.k8s.io/v1/namespaces/lab/leases/leader")["spec"]
        self.assertEqual(spec["holderIdentity"], "one")

    def test_events_and_conditions_are_seen_by_others(self):
        self.addCleanup(remove_pods, "told")
        pod = add_pod("told-pod")
        answer = probe("event", "lab", "told-pod", pod["uid"], "FailedScheduling", "0/2 nodes are available: ünïcode")[0]
        self.assertEqual(answer["code"], 201)
        events = must(200, "GET", f"/api/v1/namespaces/lab/events?fieldSelector=involvedObject.uid%3D{pod['uid']}")["items"]
        self.assertEqual([(one["reason"], one["message"]) for one in events],
                         [("FailedScheduling", "0/2 nodes are available: ünïcode")])
        self.assertEqual(probe("condition", "lab", "told-pod", pod["uid"], "Unschedulable", "no room")[0]["code"], 200)
        conditions = must(200, "GET", "/api/v1/namespaces/lab/pods/told-pod")["status"]["conditions"]
        self.assertIn(("PodScheduled", "False", "Unschedulable", "no room"),
                      [(one["type"], one["status"], one.get("reason"), one.get("message")) for one in conditions])

    def test_scales_a_deployment(self):
        labels = {"app": "scaled"}
        must(201, "POST", "/apis/apps/v1/namespaces/lab/deployments",
             {"metadata": {"name": "scaled"}, "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": {
                 "metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "none"}]}}}})
        self.addCleanup(plane.api, "DELETE", "/apis/apps/v1/namespaces/lab/deployments/scaled")
        self.assertEqual(probe("scale", "lab", "scaled", 3)[0]["code"], 200)
        path = "/api/v1/namespaces/lab/pods?labelSelector=app%3Dscaled"
        self.until(lambda: len(must(200, "GET", path)["items"]) == 3, "three pods")

    def test_follows_custom_resources_in_json(self):
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        must(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
             {"metadata": {"name": "widgets.example.com"}, "spec": {
                 "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
                 "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}})
        widgets = "/apis/example.com/v1/namespaces/lab/widgets"
        self.until(lambda: plane.api("GET", widgets)[0] == 200, "the custom resource")
        follower = self.follow("widgets")
        uid = must(201, "POST", widgets, {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
                                          "size": 3})["metadata"]["uid"]
        self.until(lambda: uid in follower.versions, "the widget", follower)
        self.assertEqual(follower.complaints, [])

    def test_reads_a_rotated_token_and_trusts_no_other_ca(self):
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        must(201, "POST", f"{rbac}/clusterroles", {"metadata": {"name": "lab-reader"}, "rules": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]}]})
        must(201, "POST", f"{rbac}/clusterrolebindings",
             {"metadata": {"name": "lab-reader"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                                                              "name": "lab-reader"},
              "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "lab"}]})
        token = must(201, "POST", "/api/v1/namespaces/lab/serviceaccounts/default/token",
                     {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})["status"]["token"]
        (plane.folder / "token").write_text("stale-and-wrong")
        config = plane.folder / "token.kubeconfig"
        text = plane.kubeconfig.read_text().splitlines()
        text = [line if not line.startswith("users:") else "users: [{name: admin, user: {tokenFile: token}}]" for line in text]
        config.write_text("\n".join(text) + "\n")
        follower = Follower("pods", config=config)
        self.addCleanup(follower.end)
        self.until(lambda: any("401" in what for what in follower.troubles), "a refusal", follower)
        (plane.folder / "token").write_text(token + "\n")
        self.until(lambda: follower.synced, "the new token to be used", follower)
        self.assertFalse([what for what in follower.troubles if "stale-and-wrong" in what])

        stranger = control_plane.Keys(plane.folder / "stranger")
        stranger.make()
        other = plane.folder / "other.kubeconfig"
        other.write_text(plane.kubeconfig.read_text().replace(f"{plane.keys}/ca.crt", f"{stranger.folder}/ca.crt"))
        answer = probe("send", "DELETE", "/api/v1/namespaces/lab", config=other)[0]
        self.assertEqual(answer["code"], 0)
        self.assertIn("certificate verify failed", answer["message"])


def tables():
    loader = importlib.machinery.SourceFileLoader("tables", str(ROOT / "tools/make_protobuf_tables"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tables", loader))
    loader.exec_module(module)
    return module


class Projection:
    """What of an object's JSON the tables know; complains of fields that are neither known nor skipped on purpose."""

    def __init__(self):
        self.generator = tables()
        _, self.rows = self.generator.tables(self.generator.Types())
        self.unknown = set()

    def of(self, value, message):
        fields, names = {}, set(self.generator.SKIPPED.get(message[1], "").split())
        for _, name, kind, shape, target, inlined, _ in self.rows[message]:
            if inlined:
                inner = self.of_inlined(value, target, names)
                fields.update(inner)
                continue
            names.add(name)
            if value.get(name) is None:
                continue
            convert = (lambda one, target=target: self.of(one, target)) if kind == "message" else (lambda one: one)
            if shape == "list":
                fields[name] = [convert(one) for one in value[name]]
            elif shape == "map":
                fields[name] = {key: convert(one) for key, one in value[name].items()}
            else:
                fields[name] = convert(value[name])
        self.unknown |= {f"{message[1]}.{name}" for name in value if name not in names}
        return fields

    def of_inlined(self, value, message, names):
        before = set(self.unknown)
        inner = self.of(value, message)
        self.unknown = before  # the holder's own fields are no complaint of the inlined message
        names |= {name for _, name, *_ in self.rows[message]} | set(self.generator.SKIPPED.get(message[1], "").split())
        return inner


class WireTest(unittest.TestCase):
    maxDiff = None

    def test_protobuf_says_what_json_says_of_every_kind(self):
        self.addCleanup(remove_pods, "wire")
        for path, body in rich_objects():
            must(201, "POST", path, body)
        projection = Projection()
        packages = {kind: package for _, kind, package in projection.generator.ROOTS}
        for plural, kind in {"pods": "Pod", "nodes": "Node", "namespaces": "Namespace", "services": "Service",
                             "replicationcontrollers": "ReplicationController", "persistentvolumes": "PersistentVolume",
                             "persistentvolumeclaims": "PersistentVolumeClaim", "events": "Event", "replicasets": "ReplicaSet",
                             "statefulsets": "StatefulSet", "storageclasses": "StorageClass", "csinodes": "CSINode",
                             "csidrivers": "CSIDriver", "csistoragecapacities": "CSIStorageCapacity",
                             "volumeattachments": "VolumeAttachment", "poddisruptionbudgets": "PodDisruptionBudget",
                             "priorityclasses": "PriorityClass", "leases": "Lease"}.items():
            with self.subTest(plural):
                wait_until(lambda: self.same(plural, (packages[kind], kind), projection), f"{plural} the same", 60)
        self.assertEqual(projection.unknown, set())

    def same(self, plural, message, projection):
        """Controllers write all the time: only objects of the same version can be compared."""
        spelled = {one["uid"]: one for one in probe("list", plural, "--format", "json") if one["event"] == "object"}
        packed = {one["uid"]: one for one in probe("list", plural, "--format", "protobuf") if one["event"] == "object"}
        common = [uid for uid in spelled if uid in packed and spelled[uid]["rv"] == packed[uid]["rv"]]
        for uid in common:
            self.assertEqual(projection.of(packed[uid]["object"], message), projection.of(spelled[uid]["object"], message))
            self.assertEqual(packed[uid]["key"], spelled[uid]["key"])
        return bool(common) and len(common) == len(spelled)


def rich_objects():
    selector = {"matchLabels": {"app": "wire"}, "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["a", "b"]},
                                                                     {"key": "x", "operator": "DoesNotExist"}]}
    term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname", "namespaces": ["lab"],
            "namespaceSelector": {}, "matchLabelKeys": ["rev"]}
    node_term = {"matchExpressions": [{"key": "cpus", "operator": "Gt", "values": ["3"]}],
                 "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-0"]}]}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "wire"}
    pod = pod_body(
        "wire-rich", nodeSelector={"type": "kwok"}, hostNetwork=True, priorityClassName="wire", preemptionPolicy="Never",
        terminationGracePeriodSeconds=0, schedulingGates=[{"name": "example.com/gate"}], hostname="h", subdomain="s",
        readinessGates=[{"conditionType": "example.com/ready"}], resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "t"}],
        affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [node_term]},
                                   "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "preference": node_term}]},
                  "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
                  "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 3, "podAffinityTerm": {
                      "labelSelector": selector, "topologyKey": "zone"}}]}},
        tolerations=[{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},
                     {"operator": "Exists"}],
        topologySpreadConstraints=[{"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 3,
                                    "labelSelector": selector, "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor",
                                    "matchLabelKeys": ["rev"]}],
        volumes=[{"name": "pvc", "persistentVolumeClaim": {"claimName": "wire", "readOnly": True}},
                 {"name": "eph", "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": claim}}},
                 {"name": "gce", "gcePersistentDisk": {"pdName": "d", "readOnly": True, "partition": 0}},
                 {"name": "rbd", "rbd": {"monitors": ["m1", "m2"], "image": "i"}},
                 {"name": "iscsi", "iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:x", "lun": 0}},
                 {"name": "csi", "csi": {"driver": "d.example.com", "volumeAttributes": {"a": "b"}}},
                 {"name": "empty", "emptyDir": {"sizeLimit": "1Mi"}}, {"name": "host", "hostPath": {"path": "/", "type": ""}},
                 {"name": "nfs", "nfs": {"server": "s", "path": "/p"}}],
        initContainers=[{"name": "side", "image": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "0.1"}}}],
        containers=[{"name": "main", "image": "repo/image:tag", "command": ["x"], "env": [{"name": "A", "value": "b"}],
                     "ports": [{"containerPort": 80, "hostPort": 80, "hostIP": "127.0.0.1", "protocol": "UDP", "name": "dns"}],
                     "resources": {"requests": {"cpu": "1500m", "memory": "1.5Gi", "example.com/gpu": "2"},
                                   "limits": {"memory": "2e9", "example.com/gpu": "2"}, "claims": [{"name": "gpu"}]}}])
    pod["metadata"].update(annotations={"odd": "quote \" back\\slash \u2028 \u00e9 \t\n", "empty": ""}, finalizers=["example.com/f"],
                           ownerReferences=[{"apiVersion": "v1", "kind": "X", "name": "x", "uid": "u", "controller": True,
                                             "blockOwnerDeletion": False}])
    pod["metadata"]["finalizers"] = []
    lab, core = "namespaces/lab", "/api/v1"
    template = {"metadata": {"labels": {"app": "wire-t"}}, "spec": {"schedulerName": "nobody", "containers": [{"name": "c", "image": "i"}]}}
    matches = {"matchLabels": {"app": "wire-t"}}
    return [
        ("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "wire"}, "value": -5, "description": "d",
                                                       "preemptionPolicy": "Never"}),
        ("/apis/storage.k8s.io/v1/storageclasses", {
            "metadata": {"name": "wire"}, "provisioner": "none.example.com", "volumeBindingMode": "WaitForFirstConsumer",
            "parameters": {"a": "b"}, "mountOptions": ["ro"], "allowVolumeExpansion": True, "reclaimPolicy": "Retain",
            "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}]}),
        (f"{core}/persistentvolumes", {"metadata": {"name": "wire", "labels": {"topology.kubernetes.io/zone": "a"}}, "spec": {
            "capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "other", "volumeMode": "Block", "csi": {"driver": "d.example.com", "volumeHandle": "h"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": node_term["matchExpressions"]}]}}}}),
        (f"{core}/{lab}/persistentvolumeclaims", {"metadata": {"name": "wire"}, "spec": claim}),
        ("/apis/storage.k8s.io/v1/csinodes", {"metadata": {"name": "node-0"}, "spec": {"drivers": [
            {"name": "d.example.com", "nodeID": "n", "topologyKeys": ["zone"], "allocatable": {"count": 4}}]}}),
        ("/apis/storage.k8s.io/v1/csidrivers", {"metadata": {"name": "d.example.com"}, "spec": {
            "attachRequired": False, "storageCapacity": True, "volumeLifecycleModes": ["Persistent", "Ephemeral"]}}),
        (f"/apis/storage.k8s.io/v1/{lab}/csistoragecapacities", {
            "metadata": {"name": "wire"}, "storageClassName": "wire", "capacity": "3Gi", "maximumVolumeSize": "1Gi",
            "nodeTopology": {"matchLabels": {"zone": "a"}}}),
        ("/apis/storage.k8s.io/v1/volumeattachments", {"metadata": {"name": "wire"}, "spec": {
            "attacher": "d.example.com", "nodeName": "node-0", "source": {"persistentVolumeName": "wire"}}}),
        (f"/apis/policy/v1/{lab}/poddisruptionbudgets", {"metadata": {"name": "wire"}, "spec": {
            "maxUnavailable": "50%", "selector": selector, "unhealthyPodEvictionPolicy": "AlwaysAllow"}}),
        (f"{core}/{lab}/services", {"metadata": {"name": "wire"}, "spec": {"selector": {"app": "wire"}, "ports": [{"port": 80}]}}),
        (f"{core}/{lab}/replicationcontrollers", {"metadata": {"name": "wire"}, "spec": {
            "replicas": 0, "selector": {"app": "wire-t"}, "template": template}}),
        (f"/apis/apps/v1/{lab}/replicasets", {"metadata": {"name": "wire"}, "spec": {
            "replicas": 0, "selector": matches, "template": template}}),
        (f"/apis/apps/v1/{lab}/statefulsets", {"metadata": {"name": "wire"}, "spec": {
            "replicas": 1, "serviceName": "wire", "selector": matches, "template": template,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}}}),
        (f"/apis/coordination.k8s.io/v1/{lab}/leases", {"metadata": {"name": "wire"}, "spec": {
            "holderIdentity": "me", "leaseDurationSeconds": 15, "renewTime": "2026-01-02T03:04:05.678901Z"}}),
        (f"{core}/{lab}/events", {"metadata": {"name": "wire"}, "involvedObject": {"kind": "Pod", "namespace": "lab", "name": "p"},
                                  "reason": "R", "message": "m", "type": "Normal", "count": 3,
                                  "firstTimestamp": "2026-01-02T03:04:05Z", "lastTimestamp": "2026-01-02T03:04:06Z"}),
        (f"{core}/{lab}/pods", pod),
    ]


if __name__ == "__main__":
    if not PROBE:
        sys.exit(__doc__)
    unittest.main(verbosity=2)
