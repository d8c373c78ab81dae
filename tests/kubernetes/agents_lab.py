"""What the tests of agents share: deploy/agent.yaml on the control plane, and agents on its nodes, one process each."""
import http.client
import json
import pathlib
import re
import ssl
import sys

import lab
import objects
from lab import LabTest, must

sys.path.insert(0, str(lab.ROOT / "tools/agents"))
import fleet  # noqa: E402
from fleet import Agent, Fleet, Flow, Kills, PodLog, percentile  # noqa: E402,F401

AGENT = f"system:serviceaccount:{fleet.SPACE}:{fleet.ACCOUNT}"
APPROVER = f"system:serviceaccount:{fleet.SPACE}:{fleet.APPROVER}"
lab.AUDIT = lab.AUDIT.replace('"evenkeel-reference"', f'"evenkeel-reference", "{AGENT}", "{APPROVER}"')
BUSY = 30  # seconds that nothing here should take even on a machine that has much else to do


def usual_pod(name, **spec):
    return objects.pod(name, {"app": "usual"}, cpu="250m", memory="512Mi", **spec)


class AgentsTest(LabTest):
    """Agents on nodes of the test's own; they are gone with it, and so is what they elected their leader by."""
    wants_scheduler = False

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        fleet.install(lab.plane)

    def run_agents(self, *nodes, flags=(), start=True, **options):
        """For nodes by these names, as add_nodes() gave them."""
        agents = Fleet(lab.plane, lab.EVENKEEL, nodes, flags, **options)
        self.addCleanup(self.end, agents)
        self.schedulers += agents.agents
        return agents.start() if start else agents

    @staticmethod
    def end(agents):
        agents.stop()
        lab.plane.api("DELETE", fleet.LEASE)
        for agent in agents.agents:
            lab.plane.api("DELETE", f"/api/v1/namespaces/{fleet.SPACE}/pods/{fleet.ACCOUNT}-{agent.node}?gracePeriodSeconds=0")

    def watch_pods(self):
        log = PodLog(lab.plane, self.ns)
        self.addCleanup(log.stop)
        return log

    def start_pods(self, rate, count=100000, **spec):
        flow = Flow(lab.plane, self.ns, rate, count, lambda name: usual_pod(name, **spec))
        self.addCleanup(flow.stop)
        return flow

    def until_joined(self, agents, count=None):
        count = len(agents.agents) if count is None else count
        self.until(lambda: agents.joined() == count, f"{count} agents to join")

    def until_all_bound(self, log, count):
        self.until(lambda: len(log.bound()) == count and not log.waiting(), f"{count} pods to be bound")

    def assert_bound_well(self, log, count):
        """Each once, by the server's own record, in a term, and none in an earlier one than the pod before."""
        self.until_all_bound(log, count)
        self.assertEqual(log.moved, [], "pods that were bound to a second node")
        self.assertEqual([pod["name"] for pod in log.bound() if pod["term"] is None], [], "bound in no term")
        self.assertEqual(log.terms_fell(), [], "bound in an earlier term than the pod before")
        # Who was killed while it waited for an answer was not given one: what is on record is not all.
        answers = self.bindings(201)
        self.assertEqual(len(answers), len(set(answers)), "a pod was bound twice")

    def ask_as(self, kubeconfig, method, path, body=None):
        """(code, object) of a request by whoever holds this kubeconfig's token."""
        token = re.search(r"token: ([^}]+)\}", pathlib.Path(kubeconfig).read_text())[1]
        connection = http.client.HTTPSConnection(lab.plane.address, lab.plane.state["ports"]["apiserver"], timeout=60,
                                                 context=ssl.create_default_context(cafile=lab.plane.keys / "ca.crt"))
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {
                "Content-Type": "application/json", "Authorization": f"Bearer {token.strip()}"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def bind_as(self, agent, pod, node, term, dry=False):
        """(code, what the server says) of a binding that this agent's account asks for."""
        annotations = {} if term is None else {fleet.TERM: str(term)}
        code, said = self.ask_as(agent.kubeconfig, "POST", f"/api/v1/namespaces/{self.ns}/pods/{pod}/binding"
                                 + ("?dryRun=All" if dry else ""),
                                 {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod, "annotations": annotations},
                                  "target": {"apiVersion": "v1", "kind": "Node", "name": node}})
        return code, said.get("message", "")


def lease_spec():
    return must(200, "GET", fleet.LEASE)["spec"]
