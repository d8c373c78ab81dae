"""Agents on a control plane of one's own: a process of `evenkeel agent` for each node, known by a certificate for that node,
with a token as its kubelet would give it and no more rights than deploy/agent.yaml has. For tests and measurements.
"""
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/kube"))
from control_plane import ControlPlane, Keys, Trouble, end_with_parent, wait_until  # noqa: E402

SPACE = "kube-system"
ACCOUNT, APPROVER = "evenkeel-agent", "evenkeel-agent-approver"
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{SPACE}/leases/evenkeel-agents"
TERM = "evenkeel.io/term"
NOT_HERE = ("kind: DaemonSet", "kind: Deployment")  # the agents are processes of ours


def must(plane, method, path, body=None, expected=(200, 201)):
    code, said = plane.api(method, path, body)
    if code not in expected:
        raise Trouble(f"{method} {path}: {code} {said.get('message')}")
    return said


def install(plane):
    """Accounts, rights and the fence of deploy/agent.yaml."""
    rights = plane.folder / "agent-rights.yaml"
    rights.write_text("---\n".join(one for one in (ROOT / "deploy/agent.yaml").read_text().split("---\n")
                                   if not any(f"\n{kind}\n" in f"\n{one}" for kind in NOT_HERE)))
    done = subprocess.run([f"{plane.state['bin']}/kubectl", f"--kubeconfig={plane.kubeconfig}", "apply", "-f", rights],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Trouble(f"deploy/agent.yaml: {done.stderr}")


def token_of(plane, account, node=None, container=None):
    """Of a service account; with a node, bound to a pod that runs there, as a kubelet asks for it."""
    spec = {}
    if node is not None:
        path, name = f"/api/v1/namespaces/{SPACE}/pods", f"{account}-{node}"
        must(plane, "POST", path, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
            "nodeName": node, "serviceAccountName": account, "terminationGracePeriodSeconds": 0,
            "tolerations": [{"operator": "Exists"}], "containers": [{"name": "agent", **(container or {"image": "none"})}]}}, (201, 409))
        spec["boundObjectRef"] = {"kind": "Pod", "apiVersion": "v1", "name": name}
    return must(plane, "POST", f"/api/v1/namespaces/{SPACE}/serviceaccounts/{account}/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})["status"]["token"]


def kubeconfig_of(plane, account, node=None, container=None):
    """A file for whoever holds such a token. container: what the pod runs, where a real kubelet starts it."""
    path = plane.folder / f"{account}-{node or 'nowhere'}.kubeconfig"
    user = f"users: [{{name: admin, user: {{token: {token_of(plane, account, node, container)}}}}}]"
    lines = [user if line.startswith("users:") else line for line in plane.kubeconfig.read_text().splitlines()]
    path.write_text("\n".join(lines) + "\n")
    return path


def certificate_of(plane, node):
    """Paths of a certificate for this node's agent and its key."""
    name = f"agent-{node}"
    if not (plane.keys / f"{name}.crt").exists():
        Keys(plane.keys).leaf(name, f"/CN=evenkeel:agent:{node}")
    return plane.keys / f"{name}.crt", plane.keys / f"{name}.key"


class Agent:
    """One node's agent; may be killed and started any number of times."""

    def __init__(self, plane, evenkeel, node, flags=(), certificate=None, container=None, log_lines=25):
        """certificate: paths of another one than its own; False: none, the flags have it. container: of its pod."""
        self.plane, self.evenkeel, self.node, self.flags = plane, evenkeel, node, list(flags)
        self.kubeconfig = kubeconfig_of(plane, ACCOUNT, node, container)
        if certificate is not False:
            chain, key = certificate or certificate_of(plane, node)
            self.flags = [f"--cert={chain}", f"--key={key}", *self.flags]
        self.log = plane.logs / f"agent-{node}.log"
        self.process, self.log_begins, self.url, self.log_lines, self.headers = None, 0, None, log_lines, {}

    def command(self):
        return [self.evenkeel, "agent", f"--node={self.node}", f"--kubeconfig={self.kubeconfig}", "--no-monitor",
                "--listen=127.0.0.1:0", "--status=127.0.0.1:0", f"--ca={self.plane.keys}/ca.crt", *map(str, self.flags)]

    def start(self):
        self.log_begins, self.url = self.log.stat().st_size if self.log.exists() else 0, None
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=self.prepare_child)
        return self

    def prepare_child(self):
        end_with_parent()

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def send(self, which):
        self.process.send_signal(which)

    def stop(self, how=signal.SIGTERM):
        """Its exit code; None where it had to be killed, or was not running."""
        if self.process is None:
            return None
        self.process.send_signal(signal.SIGCONT)  # one that is paused would never hear of it
        self.process.send_signal(how)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    # What it says.

    def said(self):
        """Since it was last started."""
        if not self.log.exists():
            return ""
        with open(self.log, "rb") as log:
            log.seek(self.log_begins)
            return log.read().decode(errors="replace")

    def log_end(self, lines=None):
        text = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return "".join(f"  {self.log.name}| {line}\n" for line in text[-(lines or self.log_lines):])

    def get(self, path):
        """A page of its status server; nothing while there is none."""
        if self.url is None:
            found = re.search(r"metrics at (http://\S+/)metrics", self.said())
            if not found:
                return ""
            self.url = found[1]
        try:
            request = urllib.request.Request(self.url + path, headers=self.headers)
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.read().decode()
        except OSError:
            return ""

    def metrics(self):
        """By name; the agent's own have no labels."""
        lines = [line for line in self.get("metrics").splitlines() if line and not line.startswith("#")]
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines}

    def metric(self, name):
        return self.metrics().get(name, 0)

    # What it costs.

    def cpu_seconds(self):
        return cpu_seconds(self.process.pid)

    def memory(self):
        return memory_of(self.process.pid)


def cpu_seconds(pid):
    """Of all its threads, to the nanosecond: /proc counts in hundredths of a second."""
    return time.clock_gettime((~pid << 3) | 2)


def memory_of(pid):
    """Megabytes: resident, its fair share of that, its own alone, and the most that was ever resident."""
    rollup = dict(re.findall(r"^(\w+):\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M))
    peak = re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())
    own = int(rollup["Private_Clean"]) + int(rollup["Private_Dirty"])
    return {"rss_mb": int(rollup["Rss"]) / 1024, "pss_mb": int(rollup["Pss"]) / 1024, "own_mb": own / 1024,
            "peak_mb": int(peak[1]) / 1024}


class Fleet:
    """The agents of these nodes."""

    def __init__(self, plane, evenkeel, nodes, flags=(), **options):
        self.plane = plane
        self.agents = [Agent(plane, evenkeel, node, flags, **options) for node in nodes]
        self.by_node = {agent.node: agent for agent in self.agents}

    def start(self):
        for agent in self.agents:
            agent.start()
        return self

    def stop(self):
        """All at once: whoever leads hands over to one that is ending too."""
        running = [agent for agent in self.agents if agent.is_running()]
        for agent in running:
            agent.send(signal.SIGCONT)
            agent.send(signal.SIGTERM)
        for agent in running:
            agent.stop()

    def kill(self):
        for agent in self.agents:
            if agent.process is not None:
                agent.process.kill()
        for agent in self.agents:
            if agent.process is not None:
                agent.process.wait()

    # Who leads.

    def lease(self):
        """(the holder's node, its term); nobody's: (None, the last one's term)."""
        code, said = self.plane.api("GET", LEASE)
        if code != 200:
            return None, 0
        holder = said["spec"].get("holderIdentity") or ""
        return holder.split("/")[0] or None, said["spec"].get("leaseTransitions", 0) + 1

    def leader(self):
        """By the Lease; None: nobody, or one that is not running."""
        agent = self.by_node.get(self.lease()[0])
        return agent if agent and agent.is_running() else None

    def followers(self):
        leader = self.leader()
        return [agent for agent in self.agents if agent is not leader and agent.is_running()]

    def joined(self):
        leader = self.leader()
        return int(leader.metric("evenkeel_agents")) if leader else 0

    def until_joined(self, count=None, patience=120):
        count = len(self.agents) if count is None else count
        wait_until(lambda: self.joined() == count, f"{count} agents to join", patience)


class PodLog(threading.Thread):
    """What a watch tells of the pods of a namespace, and when: by our own clock, for the server's counts seconds."""

    def __init__(self, plane, name_space):
        super().__init__(daemon=True)
        self.path, self.plane = f"/api/v1/namespaces/{name_space}/pods", plane
        self.pods, self.order, self.moved, self.lock = {}, [], [], threading.Lock()
        self.over, self.connection = threading.Event(), None
        # Of what it knows: an empty list in an empty namespace.
        self.version = must(plane, "GET", f"{self.path}?limit=1")["metadata"]["resourceVersion"]
        self.start()

    def run(self):
        while not self.over.is_set():
            try:
                self.follow()
            except (OSError, http.client.HTTPException, ValueError, AttributeError):
                self.over.wait(0.2)  # it was cut, by them or by stop()

    def follow(self):
        self.connection = http.client.HTTPSConnection(self.plane.address, self.plane.state["ports"]["apiserver"],
                                                      context=self.plane.trust())
        self.connection.request("GET", f"{self.path}?watch=true&resourceVersion={self.version}")
        answer = self.connection.getresponse()
        while not self.over.is_set():
            line = answer.readline()
            if not line:
                return
            self.note(json.loads(line), time.monotonic())

    def note(self, event, now):
        meta, kind = event["object"]["metadata"], event["type"]
        self.version = meta["resourceVersion"]
        if kind not in ("ADDED", "MODIFIED"):
            return
        with self.lock:
            pod = self.pods.setdefault(meta["uid"], {"name": meta["name"], "seen": now, "bound": None, "node": None})
            node = event["object"]["spec"].get("nodeName")
            if node and pod["node"] is None:
                term = meta.get("annotations", {}).get(TERM)
                pod.update(bound=now, node=node, term=None if term is None else int(term))
                self.order.append(pod)
            elif node != pod["node"]:
                self.moved.append((meta["name"], pod["node"], node))

    def stop(self):
        self.over.set()
        try:
            self.connection.sock.shutdown(2)
        except (OSError, AttributeError):
            pass
        self.join(10)
        if self.connection:
            self.connection.close()

    # What it saw.

    def bound(self):
        """In the order of their bindings."""
        with self.lock:
            return list(self.order)

    def seen(self):
        with self.lock:
            return len(self.pods)

    def take_old(self):
        """Names of bound pods that no earlier call gave, but for the last hundred."""
        with self.lock:
            old = [pod for pod in self.order[:-100] if not pod.get("taken")]
            for pod in old:
                pod["taken"] = True
            return [pod["name"] for pod in old]

    def waiting(self):
        with self.lock:
            return [pod["name"] for pod in self.pods.values() if pod["node"] is None]

    def delays_ms(self):
        """From seen to bound, the shortest first."""
        return sorted(1000 * (pod["bound"] - pod["seen"]) for pod in self.bound())

    def first_bound_after(self, moment, term):
        """When the first pod was bound after that, in a later term than this; None: none yet."""
        return next((pod["bound"] for pod in self.bound() if pod["bound"] > moment and (pod["term"] or 0) > term), None)

    def terms_fell(self):
        """Bindings that came after one of a later term."""
        found, highest = [], 0
        for pod in self.bound():
            if (pod["term"] or 0) < highest:
                found.append(pod)
            highest = max(highest, pod["term"] or 0)
        return found


def percentile(values, share):
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


class Flow(threading.Thread):
    """Pods at an even rate until there are so many, or stop()."""

    def __init__(self, plane, name_space, rate, count, body):
        """body: makes a pod of its name."""
        super().__init__(daemon=True)
        self.plane = ControlPlane(plane.folder)  # for a connection of its own
        self.path = f"/api/v1/namespaces/{name_space}/pods"
        self.rate, self.count, self.body, self.made, self.over = rate, count, body, 0, threading.Event()
        self.failures = []
        self.start()

    def run(self):
        began = time.monotonic()
        while self.made < self.count and not self.over.wait(max(0.0, began + self.made / self.rate - time.monotonic())):
            try:
                # A server that has no time for us is asked again; what it said to the first try may have been lost.
                must(self.plane, "POST", self.path, self.body(f"p{self.made:05}"), (201, 409))
                self.made += 1
            except (Trouble, OSError, http.client.HTTPException) as trouble:
                self.failures.append(str(trouble))
                self.over.wait(0.2)
        self.plane.close()

    def stop(self):
        self.over.set()
        self.join(60)
        return self.made


class Kills:
    """Kills whoever leads, again and again, under load; each is started again a moment later."""

    def __init__(self, fleet, log, revive_after=0.7, patience=60, tidy=lambda: None):
        """tidy: called after every tenth, for those who make pods without end."""
        self.fleet, self.log, self.revive_after, self.patience, self.tidy = fleet, log, revive_after, patience, tidy
        self.gaps = []  # seconds from a kill to the next binding, in a later term
        self.terms = []

    def run(self, count, pause):
        for number in range(1, count + 1):
            self.kill_once()
            time.sleep(pause)
            if number % 10 == 0:
                self.tidy()
        return self.gaps

    def kill_once(self):
        def leads():
            node, term = self.fleet.lease()
            agent = self.fleet.by_node.get(node)
            return agent and agent.is_running() and (agent, term)
        leader, term = wait_until(leads, "a leader", self.patience)
        killed = time.monotonic()
        leader.kill()
        end = killed + self.patience
        first = None
        while first is None:
            now = time.monotonic()
            if now > end:
                raise Trouble(f"no binding within {self.patience} s after the leader of term {term}, {leader.node}, was killed")
            if not leader.is_running() and now > killed + self.revive_after:
                leader.start()
            first = self.log.first_bound_after(killed, term)
            time.sleep(0.01)
        self.gaps.append(first - killed)
        self.terms.append(term)
        if not leader.is_running():
            time.sleep(max(0.0, killed + self.revive_after - time.monotonic()))
            leader.start()


def nodes_of(plane, prefix, count, cpu="32", memory="128Gi", pods="250"):
    """Names of so many kwok nodes, once they are ready."""
    plane.add_nodes(count, prefix, cpu, memory, pods)
    names = [f"{prefix}{index}" for index in range(count)]

    def ready():
        found = {}
        for node in must(plane, "GET", "/api/v1/nodes")["items"]:
            conditions = {one["type"]: one["status"] for one in node.get("status", {}).get("conditions", [])}
            taints = {one["key"] for one in node["spec"].get("taints", [])}
            found[node["metadata"]["name"]] = conditions.get("Ready") == "True" and "node.kubernetes.io/not-ready" not in taints
        return all(found.get(name) for name in names)
    wait_until(ready, "nodes to be ready")
    return names
