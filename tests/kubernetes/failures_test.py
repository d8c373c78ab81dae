#!/usr/bin/env python3
"""Schedulers and API servers that die in the middle of their work, in a real control plane: nothing is lost.

  failures_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set
"""
import os
import random
import signal
import time
import unittest

import lab
from lab import Arrivals, LabTest, kubectl, must

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/evenkeel"
QUICK = {"leaseDuration": "4s", "renewDeadline": "3s", "retryPeriod": "500ms"}


class Failures(LabTest):
    wants_scheduler = False

    def setUp(self):
        super().setUp()
        self.add_nodes(count=10, cpu="8")
        lab.plane.api("DELETE", LEASE)

    def holder(self):
        code, lease = lab.plane.api("GET", LEASE)
        return lease["spec"].get("holderIdentity") if code == 200 else None

    def until_all_bound(self, arrivals, patience=lab.PATIENCE):
        arrivals.join(patience)
        self.assertFalse(arrivals.is_alive(), "pods could not be created")
        self.until(lambda: sum("nodeName" in one["spec"] for one in self.pods()) == arrivals.count, "all pods to be bound",
                   patience)
        self.assert_nothing_overcommitted()
        answers = self.bindings(201)
        self.assertEqual(len(answers), len(set(answers)), "a pod was bound twice")

    def test_the_api_server_is_killed_in_the_middle(self):
        self.run_scheduler()
        arrivals = Arrivals(self.ns, 300)
        for share in (0.2, 0.6):
            self.until(lambda: arrivals.done >= arrivals.count * share, "some pods")
            lab.plane.stop("apiserver", signal.SIGKILL)
            lab.restart_api_server()
        self.until_all_bound(arrivals)

    def test_the_leader_is_killed_in_the_middle_and_the_other_goes_on(self):
        first = self.run_scheduler(election=QUICK)
        self.until(self.holder, "a leader")
        leader = self.holder()
        self.run_scheduler(election=QUICK)
        arrivals = Arrivals(self.ns, 300)
        self.until(lambda: arrivals.done >= 100, "some pods")
        first.kill()
        self.until_all_bound(arrivals)
        self.assertNotIn(self.holder(), (None, "", leader))
        self.assertGreaterEqual(must(200, "GET", LEASE)["spec"]["leaseTransitions"], 1)
        self.assertRegex(kubectl("get", "lease", "evenkeel", "-n", "kube-system"), f"evenkeel +{self.holder()}")

    def test_a_leader_that_stops_hands_over_at_once(self):
        slow = {"leaseDuration": "100s", "renewDeadline": "60s", "retryPeriod": "500ms"}
        first = self.run_scheduler(election=slow)
        self.until(self.holder, "a leader")
        leader = self.holder()
        self.run_scheduler(election=slow)
        arrivals = Arrivals(self.ns, 100)
        self.until(lambda: arrivals.done >= 30, "some pods")
        began = time.monotonic()
        self.assertEqual(first.stop(signal.SIGTERM), 0, first.log_end())
        self.until(lambda: self.holder() not in (None, "", leader), "the other to lead", patience=60)
        self.assertLess(time.monotonic() - began, 60)  # well before the lease would have ended
        self.until_all_bound(arrivals)
        self.assert_each_bound_once()

    def test_a_scheduler_killed_and_started_again_at_any_moment_loses_nothing(self):
        seed = int(os.environ.get("EVENKEEL_SEED", "1"))
        moments = random.Random(seed)
        arrivals = Arrivals(self.ns, 300)
        deaths = 0
        while arrivals.is_alive() or deaths < 4:
            scheduler = self.run_scheduler()
            time.sleep(moments.uniform(0.05, 1.5))  # when it dies is what this test draws
            scheduler.kill()
            deaths += 1
        self.run_scheduler()
        self.until_all_bound(arrivals)
        self.assertGreaterEqual(deaths, 4)


class Fairness(LabTest):
    """Priority & Fairness turns requests away: at the server's defaults, at a tight limit, and switched off."""
    wants_scheduler = False

    def restart_with(self, *flags):
        before = list(lab.plane.state["apiserver_flags"])

        def restart(wanted):
            lab.plane.stop("apiserver", signal.SIGKILL)  # a graceful stop waits for every watch to end
            lab.plane.state["apiserver_flags"] = wanted
            lab.restart_api_server()
        restart([*before, *flags])
        self.addCleanup(restart, before)

    def run_many(self, count):
        self.add_nodes(count=20, cpu="8")
        arrivals = Arrivals(self.ns, count)
        arrivals.join(lab.PATIENCE)
        self.run_scheduler()  # all of them wait already: it works as fast as it is allowed to
        self.until(lambda: sum("nodeName" in one["spec"] for one in self.pods()) == count, "all pods to be bound")
        self.assert_each_bound_once()
        self.assert_nothing_overcommitted()

    def test_at_the_defaults(self):
        self.restart_with("--max-requests-inflight=400", "--max-mutating-requests-inflight=200")
        self.run_many(300)

    def test_switched_off(self):
        self.restart_with("--enable-priority-and-fairness=false")
        self.run_many(200)

    @unittest.skipIf(lab.REFERENCE, "kube-scheduler leaves some of these pods pending for minutes")
    def test_requests_that_are_turned_away_are_made_again(self):
        group = "/apis/flowcontrol.apiserver.k8s.io/v1"
        must(201, "POST", f"{group}/prioritylevelconfigurations", {"metadata": {"name": "tight"}, "spec": {
            "type": "Limited", "limited": {"nominalConcurrencyShares": 1, "lendablePercent": 100, "borrowingLimitPercent": 0,
                                           "limitResponse": {"type": "Reject"}}}})
        self.addCleanup(lab.plane.api, "DELETE", f"{group}/prioritylevelconfigurations/tight")
        must(201, "POST", f"{group}/flowschemas", {"metadata": {"name": "tight"}, "spec": {
            "priorityLevelConfiguration": {"name": "tight"}, "matchingPrecedence": 2, "rules": [{
                "subjects": [{"kind": "User", "user": {"name": "evenkeel-reference"}}, {
                    "kind": "ServiceAccount", "serviceAccount": {"namespace": "kube-system", "name": "evenkeel"}}],
                "resourceRules": [{"verbs": ["create"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}]}]}})
        self.addCleanup(lab.plane.api, "DELETE", f"{group}/flowschemas/tight")
        self.run_many(100)
        self.assertTrue(self.bindings(429), "nobody was turned away: this test has tested nothing")


if __name__ == "__main__":
    lab.main()
