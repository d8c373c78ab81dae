#!/usr/bin/env python3
"""`evenkeel agent`, a process for each node of a real control plane: they elect, bid and bind, whatever becomes of them.

  agents_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set

All of them have the rights of deploy/agent.yaml and no others, and its fence stands.
"""
import collections
import signal
import subprocess
import sys
import time
import unittest

import lab
import objects
from agents_lab import AGENT, APPROVER, BUSY, AgentsTest, Fleet, Kills, fleet, lease_spec, percentile
from deploy_test import CSR, Process, may
from lab import must

FIFTY = 50


def say(text):
    print(f"\n  {text}", file=sys.stderr, flush=True)


class Fifty(AgentsTest):
    """Fifty of them, under load."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.places = fleet.nodes_of(lab.plane, "agents-", FIFTY, cpu="8", memory="32Gi")
        cls.agents = Fleet(lab.plane, lab.EVENKEEL, cls.places, log_lines=3)
        cls.addClassCleanup(cls.leave)
        cls.agents.start()

    @classmethod
    def leave(cls):
        cls.end(cls.agents)
        for node in cls.places:
            lab.plane.api("DELETE", f"/api/v1/nodes/{node}")

    def setUp(self):
        super().setUp()
        self.schedulers += self.agents.agents
        self.until_joined(self.agents)

    def test_1_two_hundred_pods_are_bound_once_each_by_what_agents_say(self):
        log, began = self.watch_pods(), self.agents.leader().metrics()
        self.start_pods(rate=10, count=200)
        self.assert_bound_well(log, 200)
        time.sleep(1.2)  # figures are shown once a second
        ended = self.agents.leader().metrics()
        took = log.delays_ms()
        rounds = {way: int(ended[name] - began[name]) for way in ("all", "quorum", "deadline", "nobody")
                  for name in [f"evenkeel_agents_rounds_{way}_total"]}
        say(f"seen to bound: p50 {percentile(took, 0.5):.1f} ms, p99 {percentile(took, 0.99):.1f} ms; rounds {rounds}")
        self.assertLess(percentile(took, 0.5), 1000)
        self.assertLess(took[-1], BUSY * 1000)
        self.assertEqual({pod["term"] for pod in log.bound()}, {self.agents.lease()[1]}, "one leader bound them all")
        self.assertGreater(ended["evenkeel_agents_bids_total"] - began["evenkeel_agents_bids_total"], 200)
        self.assertLess(rounds["nobody"], 100, "decided without the agents")
        counts = collections.Counter(pod["node"] for pod in log.bound())
        self.assertGreater(len(counts), FIFTY // 5, f"a few nodes got all: {counts}")
        self.assert_nothing_overcommitted()

    def test_2_leaders_are_killed_one_after_the_other_and_nothing_is_lost(self):
        log, flow = self.watch_pods(), self.start_pods(rate=10)
        self.until(lambda: len(log.bound()) >= 10, "some pods")
        kills = Kills(self.agents, log)
        gaps = kills.run(12, pause=1)
        made = flow.stop()
        say(f"from kill to binding: {', '.join(f'{gap:.2f}' for gap in gaps)} s; {made} pods")
        self.assert_bound_well(log, made)
        self.assertEqual(kills.terms, sorted(set(kills.terms)), "terms only rise")
        self.assertLess(max(gaps), BUSY)
        self.until_joined(self.agents)

    def test_3_a_leader_that_was_paused_for_longer_than_its_lease_binds_nothing_any_more(self):
        log, flow = self.watch_pods(), self.start_pods(rate=20)
        self.until(lambda: len(log.bound()) >= 20, "some pods")
        leader, (_, term) = self.agents.leader(), self.agents.lease()
        leader.send(signal.SIGSTOP)
        paused = time.monotonic()
        try:
            self.until(lambda: log.first_bound_after(paused, term), "another to take over", patience=BUSY)
            say(f"from pause to binding: {log.first_bound_after(paused, term) - paused:.2f} s")
            time.sleep(max(0.0, paused + 10 - time.monotonic()))
        finally:
            leader.send(signal.SIGCONT)
        resumed = time.monotonic()
        time.sleep(3)
        self.assert_bound_well(log, flow.stop())
        self.assertEqual([pod for pod in log.bound() if pod["bound"] > resumed and pod["term"] <= term], [])
        self.until_joined(self.agents)
        self.assertIsNone(leader.process.poll(), "it follows now")


class Few(AgentsTest):
    """A handful, and what may happen to them."""

    def begin(self, *names, flags=(), **options):
        nodes = self.add_nodes(*(names or ("a", "b", "c")), **options)
        agents = self.run_agents(*nodes, flags=flags)
        self.until_joined(agents)
        return agents

    def place(self, count, prefix="pod", **spec):
        """Their nodes, once they all have one."""
        names = [f"{prefix}-{number}" for number in range(count)]
        for name in names:
            self.add_pod(name, **spec)
        return self.until_scheduled(*names)

    def test_the_last_agent_schedules_alone(self):
        agents = self.begin()
        self.place(3)
        survivor, *others = agents.followers()
        for agent in [*others, agents.leader()]:
            agent.kill()
        began = time.monotonic()
        self.assertEqual(len(self.place(6, "later")), 6)
        say(f"alone after {time.monotonic() - began:.1f} s")
        self.assertIs(agents.leader(), survivor)
        self.assert_each_bound_once()

    def test_a_leader_that_is_told_to_stop_hands_over(self):
        agents = self.begin()
        leader, (_, term) = agents.leader(), agents.lease()
        self.assertEqual(leader.stop(), 0, leader.log_end())
        self.place(4)
        self.assertGreater(agents.lease()[1], term)
        self.assertIsNot(agents.leader(), leader)

    def test_one_that_is_paused_is_not_waited_for(self):
        agents = self.begin()
        agents.followers()[0].send(signal.SIGSTOP)
        self.addCleanup(agents.followers()[0].send, signal.SIGCONT)
        began = time.monotonic()
        self.place(10)
        self.assertLess(time.monotonic() - began, BUSY)
        self.assert_each_bound_once()

    def test_a_leader_nobody_can_reach_makes_room_for_one_that_can_be_reached(self):
        nodes = self.add_nodes("a", "b", "c")
        lost = self.run_agents(nodes[0], flags=["--advertise=127.0.0.1:9"])
        self.until(lost.leader, "the first to lead")
        others = self.run_agents(*nodes[1:])
        log = self.watch_pods()
        self.start_pods(rate=5, count=30)
        self.assert_bound_well(log, 30)
        self.until(others.leader, "another to lead")

    def test_a_node_without_an_agent_gets_pods_all_the_same(self):
        nodes = self.add_nodes("a", "b", "bare")
        agents = self.run_agents(*nodes[:2])
        self.until_joined(agents)
        self.assertEqual(set(self.place(3, nodeSelector={"kubernetes.io/hostname": nodes[2]})), {"bare"})
        # Nor is it forgotten where the others have no room left: two fit on each.
        self.assertEqual(collections.Counter(self.place(6, "large", cpu="3500m")), {"a": 2, "b": 2, "bare": 2})

    def test_an_agent_with_another_nodes_certificate_gets_no_line(self):
        nodes = self.add_nodes("a", "b", "c")
        agents = self.run_agents(*nodes[:2])
        self.until_joined(agents)
        impostor = fleet.Agent(lab.plane, lab.EVENKEEL, nodes[2], certificate=fleet.certificate_of(lab.plane, nodes[0]))
        self.addCleanup(impostor.stop)
        impostor.start()
        self.until(lambda: f"expected a certificate of evenkeel:agent:{nodes[2]}" in impostor.said(), "it to notice")
        time.sleep(2)
        self.assertFalse(impostor.metric("evenkeel_agent_line_open"), "nobody lets it in")
        self.assertEqual(agents.joined(), 2)
        self.place(3)

    def test_a_stranger_is_refused(self):
        agents = self.begin()
        strangers = fleet.Keys(lab.plane.folder / f"strangers-{self.ns}")
        strangers.make()
        strangers.leaf("agent", f"/CN=evenkeel:agent:{agents.agents[0].node}")
        host, port = lease_spec()["holderIdentity"].split("/")[1].split(":")
        for more in ([], ["-cert", strangers.folder / "agent.crt", "-key", strangers.folder / "agent.key"]):
            subprocess.run(["openssl", "s_client", "-connect", f"{host}:{port}", *more], input="hello\n", text=True,
                           capture_output=True, timeout=60)
        self.until(lambda: agents.leader().metric("evenkeel_agent_refused_total") >= 2, "two refusals")
        self.assertEqual(agents.joined(), 3)

    def test_where_the_leader_tells_of_pods_agents_watch_for_none(self):
        agents = self.begin("a", "b", "c", "d", flags=["--tells-beyond=0"])
        full = agents.agents[0].node
        time.sleep(1.5)  # figures are shown once a second
        before = {agent: agent.metrics() for agent in agents.agents}
        self.place(20, nodeSelector={"kubernetes.io/hostname": full})
        time.sleep(1.5)
        after = {agent: agent.metrics() for agent in agents.agents}
        told = {agent.node: after[agent]["evenkeel_agent_watch_events_total"] - before[agent]["evenkeel_agent_watch_events_total"]
                for agent in agents.agents}
        self.assertGreaterEqual(told.pop(full), 20, "its own pods it does hear of")
        self.assertLess(max(told.values()), 10, told)
        bids = sum(after[agent]["evenkeel_agent_bids_total"] - before[agent]["evenkeel_agent_bids_total"] for agent in agents.agents)
        self.assertGreaterEqual(bids, 20, "they were asked all the same")

    def test_agents_that_watch_hear_of_every_pod(self):
        agents = self.begin("a", "b", "c", "d")
        full = agents.agents[0].node
        before = {agent: agent.metric("evenkeel_agent_watch_events_total") for agent in agents.agents}
        self.place(20, nodeSelector={"kubernetes.io/hostname": full})
        for agent in agents.agents:
            self.until(lambda: agent.metric("evenkeel_agent_watch_events_total") - before[agent] >= 20, f"{agent.node} to hear")

    def test_terms_rise_though_somebody_deletes_the_lease(self):
        agents = self.begin()
        agents.leader().kill()  # so that it is not the first term
        log = self.watch_pods()
        self.start_pods(rate=5, count=40)
        self.until(lambda: len(log.bound()) >= 10, "some pods")
        lab.plane.api("DELETE", fleet.LEASE)
        self.assert_bound_well(log, 40)
        self.assertGreaterEqual(agents.lease()[1], 2)

    # Rules.

    def test_rules_are_kept_whoever_bids(self):
        self.begin("plain", "other", zone="x")
        gpu, = self.add_nodes("gpu", zone="y", labels={"disk": "ssd"}, taints=[{"key": "only", "effect": "NoSchedule"}])
        late = self.run_agents(gpu)
        self.until(lambda: late.agents[0].metric("evenkeel_agent_line_open"), "the third to join")
        self.assertNotIn("gpu", self.place(6, "plain"))
        self.assertEqual(self.place(1, "tolerant", nodeSelector={"disk": "ssd"}, tolerations=[{"operator": "Exists"}]), ["gpu"])
        apart = objects.affinity("podAntiAffinity", objects.pod_term("solo", "kubernetes.io/hostname"))
        names = ["one", "two", "three"]
        for name in names:
            self.add_pod(name, {"app": "solo"}, affinity=apart)
        self.until(lambda: sum("nodeName" in one["spec"] for one in self.pods("app=solo")) == 2, "two to be placed")
        waiting = next(one["metadata"]["name"] for one in self.pods("app=solo") if "nodeName" not in one["spec"])
        self.until_refused(waiting, "0/3 nodes are available", "2 node(s) didn't match pod anti-affinity rules")
        near = objects.affinity("podAffinity", objects.pod_term("tolerant-0", "kubernetes.io/hostname"))
        self.assertEqual(self.place(1, "near", affinity=near, tolerations=[{"operator": "Exists"}]), ["gpu"])
        spread = [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
                   "labelSelector": {"matchLabels": {"app": "level"}}}]
        self.add(objects.workload("Deployment", "level", 6, topologySpreadConstraints=spread, tolerations=[{"operator": "Exists"}]))
        zones = collections.Counter(one["spec"]["nodeName"] == gpu for one in self.until_running(6, "app=level"))
        self.assertEqual(zones, {True: 3, False: 3})
        self.assert_nothing_overcommitted()

    def test_what_does_not_fit_waits_and_is_told_why(self):
        self.begin(cpu="1")
        self.place(6, cpu="500m")
        self.add_pod("large", cpu="500m")
        self.until_refused("large", "0/3 nodes are available: 3 Insufficient cpu")
        must(200, "DELETE", f"/api/v1/namespaces/{self.ns}/pods/pod-0?gracePeriodSeconds=0")
        self.until_scheduled("large")
        self.assert_nothing_overcommitted()


class Fence(AgentsTest):
    """deploy/agent.yaml."""

    def begin(self):
        agents = self.run_agents(*self.add_nodes("a", "b"))
        self.until_joined(agents)
        return agents

    def test_the_server_refuses_what_is_of_another_term_or_from_another_node(self):
        agents = self.begin()
        (node, term), leader, follower = agents.lease(), agents.leader(), agents.followers()[0]
        for name in ("mine", "theirs"):
            self.add_pod(name, schedulerName="nobody")
        # The policy takes effect a moment after it was made.
        self.until(lambda: self.bind_as(leader, "mine", node, None, dry=True)[0] != 201, "the fence to stand")
        for wrong in (None, term - 1, term + 1):
            code, said = self.bind_as(leader, "mine", node, wrong)
            self.assertEqual(code, 422, said)
            self.assertIn("an agent binds in the term of the Lease that it holds, and this is another one", said)
        code, said = self.bind_as(follower, "theirs", node, term)
        self.assertEqual(code, 422, said)
        self.assertIn("only the agent that holds the Lease binds", said)
        self.assertIsNone(self.node_of("theirs"))
        code, said = self.bind_as(leader, "mine", node, term)
        self.assertEqual(code, 201, said)
        self.assertEqual(self.pod("mine")["metadata"]["annotations"][fleet.TERM], str(term))
        # Once somebody else leads, what was right before is not any more.
        leader.kill()
        self.until(lambda: agents.lease()[1] > term and agents.leader() is follower, "the other to lead")
        self.until(lambda: self.bind_as(leader, "theirs", node, term, dry=True)[0] == 422, "the fence to move on", patience=10)
        self.assertEqual(self.bind_as(leader, "theirs", node, term + 1)[0], 422)
        # Others than agents are none of its business.
        code, said = lab.plane.api("POST", f"/api/v1/namespaces/{self.ns}/pods/theirs/binding", {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "theirs"}, "target": {"kind": "Node", "name": node}})
        self.assertEqual(code, 201, said)

    def test_where_no_agent_runs_others_bind_as_ever(self):
        node, = self.add_nodes("a")
        self.add_pod("theirs", schedulerName="nobody")
        self.assertEqual(lab.plane.api("GET", fleet.LEASE)[0], 404)
        code, said = lab.plane.api("POST", f"/api/v1/namespaces/{self.ns}/pods/theirs/binding", {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "theirs"}, "target": {"kind": "Node", "name": node}})
        self.assertEqual(code, 201, said)

    def test_every_object_is_accepted_without_a_warning(self):
        self.assertNotIn("Warning", lab.kubectl("apply", "--dry-run=server", "--validate=strict", "-f",
                                                lab.ROOT / "deploy/agent.yaml"))

    def test_what_pods_mount_is_there(self):
        published = must(200, "GET", f"/api/v1/namespaces/{fleet.SPACE}/configmaps/extension-apiserver-authentication")["data"]
        self.assertEqual(published["client-ca-file"].strip(), (lab.plane.keys / "ca.crt").read_text().strip())

    def test_agents_may_do_what_they_need_and_nothing_else(self):
        self.assertTrue(may(AGENT, "create", "pods", "a", "binding", "default"))
        self.assertTrue(may(AGENT, "watch", "nodes"))
        self.assertTrue(may(AGENT, "delete", "pods", "a", "", "default"))  # preemption
        self.assertTrue(may(AGENT, "create", CSR))
        self.assertTrue(may(AGENT, "update", "coordination.k8s.io/leases", "evenkeel-agents", "", fleet.SPACE))
        self.assertFalse(may(AGENT, "update", "coordination.k8s.io/leases", "kube-scheduler", "", fleet.SPACE))
        self.assertFalse(may(AGENT, "update", "coordination.k8s.io/leases", "evenkeel-agents", "", "default"))
        self.assertFalse(may(AGENT, "delete", "coordination.k8s.io/leases", "evenkeel-agents", "", fleet.SPACE))
        self.assertTrue(may(APPROVER, "list", CSR))
        self.assertTrue(may(APPROVER, "approve", "certificates.k8s.io/signers", "kubernetes.io/kube-apiserver-client"))
        for user in (AGENT, APPROVER):
            self.assertFalse(may(user, "get", "secrets", "a", "", fleet.SPACE), user)
            self.assertFalse(may(user, "list", "secrets"), user)
            self.assertFalse(may(user, "create", "pods", "", "", "default"), user)
            self.assertFalse(may(user, "create", "pods", "a", "exec", "default"), user)
            self.assertFalse(may(user, "create", "pods", "a", "eviction", "default"), user)
            for verb in ("create", "update", "patch", "delete"):
                self.assertFalse(may(user, verb, "nodes", "a"), user)
            self.assertFalse(may(user, "patch", "nodes", "a", "status"), user)
            self.assertFalse(may(user, "create", "serviceaccounts", "a", "token", fleet.SPACE), user)
            self.assertFalse(may(user, "create", "rbac.authorization.k8s.io/clusterrolebindings"), user)
            self.assertFalse(may(user, "update", "admissionregistration.k8s.io/validatingadmissionpolicies", "a"), user)
        self.assertFalse(may(AGENT, "update", CSR, "a", "approval"))
        self.assertFalse(may(AGENT, "approve", "certificates.k8s.io/signers", "kubernetes.io/kube-apiserver-client"))
        self.assertFalse(may(APPROVER, "create", CSR))
        self.assertFalse(may(APPROVER, "create", "pods", "a", "binding", "default"))
        self.assertFalse(may(APPROVER, "list", "pods"))


class Certificates(AgentsTest):
    """From the cluster, approved by where the pod that asks runs."""

    def start_approver(self):
        return Process(self, "approver", "approver", "--every=200ms",
                       f"--kubeconfig={fleet.kubeconfig_of(lab.plane, fleet.APPROVER)}")

    def asking(self, node, **options):
        state = lab.plane.folder / f"state-{next(lab.numbers)}"
        agents = self.run_agents(node, flags=["--csr", f"--state={state}"], certificate=False, start=False, **options)
        agents.agents[0].state = state
        return agents

    def until_said(self, agent, text):
        self.until(lambda: text in agent.said(), f"{agent.node} to say '{text}'")

    def test_agents_get_their_certificates_and_join(self):
        self.start_approver()
        nodes = self.add_nodes("a", "b", "c")
        every = [self.asking(node).start() for node in nodes]
        for agents in every:
            self.until_said(agents.agents[0], "certificate received")
        self.until(lambda: any(agents.joined() == 3 for agents in every), "all to join")
        self.assertEqual((every[0].agents[0].state / "agent.key").stat().st_mode & 0o777, 0o600)
        for number in range(5):
            self.add_pod(f"pod-{number}")
        self.until_scheduled(*(f"pod-{number}" for number in range(5)))

    def test_a_request_about_another_node_is_denied(self):
        approver = self.start_approver()
        here, there = self.add_nodes("here", "there")
        agents = self.asking(there)
        agents.agents[0].kubeconfig = fleet.kubeconfig_of(lab.plane, fleet.ACCOUNT, here)
        agents.start()
        approver.until_said(f"denied .*: asked for from node {here}, about evenkeel:agent:{there}")
        self.until_said(agents.agents[0], "the certificate was not given (Denied)")
        self.assertFalse((agents.agents[0].state / "agent.crt").exists())


if __name__ == "__main__":
    lab.main()
