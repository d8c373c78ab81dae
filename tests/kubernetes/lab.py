"""What the scenario tests share: a control plane, the scheduler under test, fresh namespaces and nodes, patience.

The scheduler under test is a parameter. EVENKEEL_TEST_SCHEDULER=kube-scheduler puts the genuine one in its place, which
says whether a test asks for what Kubernetes does; without it `evenkeel scheduler` runs, with no more rights than
deploy/scheduler.yaml gives it. EVENKEEL_KUBE_KEEP=1 leaves the control plane's folder, with all logs, behind.
"""
import datetime
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

import objects

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/kube"))
import control_plane  # noqa: E402
from control_plane import ControlPlane, Trouble, wait_until  # noqa: E402

EVENKEEL = ""  # the program; set by main()
REFERENCE = os.environ.get("EVENKEEL_TEST_SCHEDULER") == "kube-scheduler"
PATIENCE = int(os.environ.get("EVENKEEL_TEST_PATIENCE", "150"))  # seconds for a condition, on a machine that may be busy
AUDIT = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, users: ["system:serviceaccount:kube-system:evenkeel", "evenkeel-reference"]}
- {level: None}
"""
JUST_BEGUN = 45  # seconds
plane = None
restarts = []  # of the API server
numbers = itertools.count(1)


def start(flags=()):
    """One control plane for all tests of a program; stop() ends it."""
    global plane
    folder = pathlib.Path(tempfile.mkdtemp(prefix="evenkeel-kube-"))
    (folder / "audit.yaml").write_text(AUDIT)
    plane = ControlPlane(folder)
    audit_flags = [f"--audit-policy-file={folder}/audit.yaml", f"--audit-log-path={folder}/audit.log"]
    plane = ControlPlane.up(folder, apiserver_flags=[*audit_flags, *flags])
    make_scheduler_user()


def stop():
    plane.down()
    if not os.environ.get("EVENKEEL_KUBE_KEEP"):
        shutil.rmtree(plane.folder, ignore_errors=True)


def make_scheduler_user():
    """kubeconfig of the scheduler under test: deploy's service account, or an administrator for the reference."""
    text = plane.kubeconfig.read_text().splitlines()
    if REFERENCE:
        control_plane.Keys(plane.keys).leaf("reference", "/CN=evenkeel-reference")
        # Not a member of system:masters: those are exempt from Priority & Fairness.
        kubectl("create", "clusterrolebinding", "reference", "--clusterrole=cluster-admin", "--user=evenkeel-reference")
        user = f"{{client-certificate: {plane.keys}/reference.crt, client-key: {plane.keys}/reference.key}}"
    else:
        rights = plane.folder / "rights.yaml"
        rights.write_text("---\n".join(one for one in (ROOT / "deploy/scheduler.yaml").read_text().split("---\n")
                                       if "kind: Deployment" not in one))
        kubectl("apply", "-f", rights)
        answer = must(201, "POST", "/api/v1/namespaces/kube-system/serviceaccounts/evenkeel/token",
                      {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        (plane.folder / "scheduler.token").write_text(answer["status"]["token"])
        user = f"{{tokenFile: {plane.folder}/scheduler.token}}"
    text = [line if not line.startswith("users:") else f"users: [{{name: admin, user: {user}}}]" for line in text]
    (plane.folder / "under-test.kubeconfig").write_text("\n".join(text) + "\n")


def kubectl(*arguments):
    done = subprocess.run([f"{plane.state['bin']}/kubectl", f"--kubeconfig={plane.kubeconfig}", *map(str, arguments)],
                          text=True, capture_output=True, timeout=PATIENCE)
    if done.returncode != 0:
        raise AssertionError(f"kubectl {arguments}: {done.stderr}")
    return done.stdout + done.stderr


def must(expected, method, path, body=None, content_type="application/json"):
    code, said = plane.api(method, path, body, content_type)
    if code != expected:
        raise AssertionError(f"{method} {path}: expected {expected}, got {code}: {said.get('message')}")
    return said


def audit(verb=None, resource=None):
    """What the scheduler under test asked of the API server: one dict for each request that ended."""
    log = plane.folder / "audit.log"
    for line in log.read_text().splitlines() if log.exists() else []:
        if not line.endswith("}"):
            continue  # being written
        entry = json.loads(line)
        what = entry.get("objectRef", {})
        name = "/".join(filter(None, [what.get("resource"), what.get("subresource")]))
        if verb in (None, entry["verb"]) and resource in (None, name):
            yield {"verb": entry["verb"], "group": what.get("apiGroup", ""), "resource": name, "name": what.get("name"),
                   "namespace": what.get("namespace"), "code": entry.get("responseStatus", {}).get("code"),
                   "uri": entry["requestURI"], "at": entry["stageTimestamp"]}


def restart_api_server():
    """A new one, which refuses everybody for a moment: it knows no rights before it has read them."""
    plane.start("apiserver")
    restarts.append(datetime.datetime.now(datetime.timezone.utc))


def refused():
    """Requests without the right to make them, but for those to an API server that had just begun."""
    def was_new(at):
        moment = datetime.datetime.fromisoformat(at.replace("Z", "+00:00"))
        return any(abs((moment - began).total_seconds()) < JUST_BEGUN for began in restarts)
    return [one for one in audit() if one["code"] == 403 and not was_new(one["at"])]


class Scheduler:
    """A process of the scheduler under test, or of the genuine one; known by what it was started as."""

    def __init__(self, profiles=({"schedulerName": "evenkeel"},), election=None, genuine=REFERENCE, config=None, flags=(),
                 kubeconfig=None, settings=None):
        self.genuine, self.flags, self.process = genuine, list(flags), None
        number = next(numbers)
        self.log = plane.logs / f"scheduler-{number}.log"
        kubeconfig = kubeconfig or plane.folder / ("scheduler" if genuine and not REFERENCE else "under-test")
        kubeconfig = kubeconfig.with_suffix(".kubeconfig")
        self.config = config or plane.folder / f"scheduler-{number}.yaml"
        if config is None:
            leader = {"leaderElect": False} if election is None else {
                "leaderElect": True, "resourceLock": "leases", "resourceName": "evenkeel", "resourceNamespace": "kube-system",
                **election}
            self.config.write_text(json.dumps({
                "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
                "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 1000, "burst": 2000},
                "leaderElection": leader, "profiles": list(profiles), **(settings or {})}))

    def start(self):
        program = [f"{plane.state['bin']}/kube-scheduler", "--secure-port=0"] if self.genuine else [EVENKEEL, "scheduler"]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*program, f"--config={self.config}", *self.flags], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, preexec_fn=control_plane.end_with_parent)
        return self

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def stop(self, how=signal.SIGTERM):
        """Its exit code; None where it had to be killed, or was not running."""
        if self.process is None:
            return None
        self.process.send_signal(how)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None

    def kill(self):
        self.stop(signal.SIGKILL)

    def log_end(self, lines=25):
        return "".join(f"  {self.log.name}| {line}\n" for line in self.log.read_text(errors="replace").splitlines()[-lines:])


class Arrivals(threading.Thread):
    """Pods that come one after the other whatever happens to the API server: one that is down is asked again."""

    def __init__(self, name_space, count, **spec):
        super().__init__(daemon=True)
        self.path, self.count, self.spec, self.done = f"/api/v1/namespaces/{name_space}/pods", count, spec, 0
        self.plane = ControlPlane(plane.folder)  # for a connection of its own
        self.start()

    def run(self):
        while self.done < self.count:
            body = objects.pod(f"p{self.done:04}", {"app": "arrived"}, **self.spec)
            try:
                code, _ = self.plane.api("POST", self.path, body)
            except OSError:
                code = 0
            if code in (201, 409):
                self.done += 1
            else:
                time.sleep(0.05)
        self.plane.close()


class LabTest(unittest.TestCase):
    """A namespace and nodes of its own for each test; nothing of it is left for the next."""
    maxDiff = None
    longMessage = True
    scheduler = None
    wants_scheduler = True  # one for all tests of the class; False: each test starts its own

    @classmethod
    def setUpClass(cls):
        if cls.wants_scheduler:
            cls.scheduler = Scheduler().start()
            cls.addClassCleanup(cls.scheduler.stop)

    def setUp(self):
        self.ns = f"t{next(numbers)}"
        self.nodes, self.schedulers, self.began = [], [self.scheduler] if self.scheduler else [], time.monotonic()
        must(201, "POST", "/api/v1/namespaces", {"metadata": {"name": self.ns}})
        self.addCleanup(self.clear)
        self.until(lambda: plane.api("GET", f"/api/v1/namespaces/{self.ns}/serviceaccounts/default")[0] == 200,
                   "a service account")

    def tearDown(self):
        print(f"[{time.monotonic() - self.began:.1f} s] ", end="", file=sys.stderr, flush=True)
        for scheduler in self.schedulers:
            scheduler_ended = scheduler.process and not scheduler.is_running() and scheduler.process.returncode not in (0, -15, -9)
            self.assertFalse(scheduler_ended, f"a scheduler ended by itself\n{scheduler.log_end()}")
        self.assertEqual(refused(), [], "deploy/scheduler.yaml gives too few rights")

    def clear(self):
        for kind in ("deployments", "statefulsets", "daemonsets", "replicasets"):
            plane.api("DELETE", f"/apis/apps/v1/namespaces/{self.ns}/{kind}?propagationPolicy=Background")

        def pods_are_gone():
            plane.api("DELETE", f"/api/v1/namespaces/{self.ns}/pods?gracePeriodSeconds=0")
            return not self.pods()
        self.until(pods_are_gone, "the end of the pods")
        plane.api("DELETE", f"/api/v1/namespaces/{self.ns}")
        for node in self.nodes:
            plane.api("DELETE", f"/api/v1/nodes/{node}")

    def run_scheduler(self, **options):
        scheduler = Scheduler(**options).start()
        self.schedulers.append(scheduler)
        self.addCleanup(scheduler.stop)
        return scheduler

    # Objects.

    def add_nodes(self, *names, count=0, ready=True, **options):
        """Ready nodes by these names; where count is given, names it makes up."""
        fresh = [f"{self.ns}-{name}" for name in [*names, *(f"n{i}" for i in range(count))]]
        self.nodes += fresh
        for name in fresh:
            must(201, "POST", "/api/v1/nodes", objects.node(name, **options))
        if ready:
            self.until(lambda: not [name for name in fresh if not self.is_ready(name)] , "nodes to be ready")
        return fresh

    def is_ready(self, name):
        node = must(200, "GET", f"/api/v1/nodes/{name}")
        conditions = {one["type"]: one["status"] for one in node.get("status", {}).get("conditions", [])}
        taints = {one["key"] for one in node["spec"].get("taints", [])}
        return conditions.get("Ready") == "True" and "node.kubernetes.io/not-ready" not in taints

    def add(self, body):
        """Creates an object where its kind belongs."""
        return must(201, "POST", objects.collection(body, self.ns), body)

    def add_pod(self, name, labels=None, annotations=None, **spec):
        return self.add(objects.pod(name, labels, annotations, **spec))

    def patch(self, path, body, kind="strategic-merge-patch"):
        return must(200, "PATCH", path, body, f"application/{kind}+json")

    # Looking.

    def pods(self, selector=""):
        query = f"?labelSelector={urllib.parse.quote(selector)}" if selector else ""
        return must(200, "GET", f"/api/v1/namespaces/{self.ns}/pods{query}")["items"]

    def pod(self, name):
        return must(200, "GET", f"/api/v1/namespaces/{self.ns}/pods/{name}")

    def node_of(self, name):
        """Without the test's prefix; None while it has none."""
        node = self.pod(name)["spec"].get("nodeName")
        return node and node.removeprefix(self.ns + "-")

    def events(self, name=None, reason=None):
        items = must(200, "GET", f"/api/v1/namespaces/{self.ns}/events")["items"]
        return [one for one in items if name in (None, one["involvedObject"]["name"]) and reason in (None, one["reason"])]

    def condition(self, name, kind="PodScheduled"):
        conditions = self.pod(name).get("status", {}).get("conditions", [])
        return next((one for one in conditions if one["type"] == kind), {})

    # Waiting.

    def until(self, condition, what, patience=PATIENCE):
        try:
            return wait_until(condition, what, patience)
        except Trouble as trouble:
            logs = "".join(one.log_end() for one in getattr(self, "schedulers", []))
            self.fail(f"{trouble}\n{self.state_of_pods()}{logs}")

    def state_of_pods(self):
        lines = [f"  {one['metadata']['name']}: {one['spec'].get('nodeName', '-')} {one.get('status', {}).get('phase')} "
                 f"{one.get('status', {}).get('nominatedNodeName', '')}\n" for one in self.pods()]
        pending = [line for line in lines if ": - " in line]
        said = [f"  {one['involvedObject']['name']}: {one['reason']}: {one['message']}\n" for one in self.events()]
        return "".join(["pods:\n", *(pending or lines)[:15], "events:\n", *said[-15:]])

    def until_scheduled(self, *names):
        """Their nodes, once they all have one."""
        self.until(lambda: all(self.node_of(name) for name in names), f"{', '.join(names)} to be scheduled")
        return [self.node_of(name) for name in names]

    def until_running(self, count, selector=""):
        def running():
            pods = [one for one in self.pods(selector) if one["status"].get("phase") == "Running"
                    and "deletionTimestamp" not in one["metadata"]]
            return len(pods) == count and pods
        return self.until(running, f"{count} running pods {selector}")

    def until_refused(self, name, *parts):
        """The message by which the scheduler explains why this pod waits; each part must be in it."""
        def refused():
            said = self.condition(name)
            message = said.get("message", "")
            return said.get("status") == "False" and all(part in message for part in parts) and message
        return self.until(refused, f"{name} to be refused with {parts}, not {self.condition(name)}")

    # Judging.

    def assert_nothing_overcommitted(self):
        self.assertEqual(objects.overcommitted(must(200, "GET", "/api/v1/nodes")["items"],
                                               must(200, "GET", "/api/v1/pods")["items"]), [])

    def bindings(self, *codes):
        """Names of the pods of this test whose binding was answered so, by the API server's own record."""
        return [one["name"] for one in audit("create", "pods/binding") if one["namespace"] == self.ns and one["code"] in codes]

    def assert_each_bound_once(self):
        bound = [one["metadata"]["name"] for one in self.pods() if one["spec"].get("nodeName")]
        # The record is written after the answer, so it may be a moment behind.
        self.until(lambda: len(self.bindings(201)) >= len(bound), "the record of the bindings")
        self.assertEqual(sorted(self.bindings(201)), sorted(bound))


def main(flags=()):
    global EVENKEEL
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} EVENKEEL [unittest arguments]")
    EVENKEEL = sys.argv.pop(1)
    try:
        start(flags)
        outcome = unittest.main(module="__main__", verbosity=2, exit=False).result
    finally:
        stop()
    sys.exit(0 if outcome.wasSuccessful() else 1)
