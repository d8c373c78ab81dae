"""Who goes first, and who has to make room. Part of scheduler_test.py."""
import lab
import objects
from lab import LabTest, kubectl, must


class Priorities(LabTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, value, policy in (("low", 1, "PreemptLowerPriority"), ("high", 1000, "PreemptLowerPriority"),
                                    ("patient", 1000, "Never")):
            must(201, "POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
                "metadata": {"name": name}, "value": value, "preemptionPolicy": policy})
            cls.addClassCleanup(lab.plane.api, "DELETE", f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}")

    def fill(self, *nodes):
        """A pod of low priority on each node, which leaves no room for another; app=<the node's name>."""
        for name in nodes:
            self.add_pod(f"low-{name}", {"app": name}, cpu="900m", priorityClassName="low",
                         nodeSelector={"kubernetes.io/hostname": f"{self.ns}-{name}"})
        self.until_running(len(nodes))

    def test_the_lowest_make_room_but_not_those_a_budget_protects(self):
        self.add_nodes("guarded", "open", cpu="1")
        self.fill("guarded", "open")
        self.add(objects.budget("guard", "guarded", minAvailable=1))
        budget = f"/apis/policy/v1/namespaces/{self.ns}/poddisruptionbudgets/guard"
        self.until(lambda: must(200, "GET", budget).get("status", {}).get("currentHealthy") == 1, "the budget to count")
        victim = self.pod("low-open")["metadata"]["uid"]
        self.add_pod("urgent", cpu="800m", priorityClassName="high")
        self.assertEqual(self.until_scheduled("urgent"), ["open"])
        self.assertEqual([one["metadata"]["name"] for one in self.pods()], ["low-guarded", "urgent"])
        told = self.until(lambda: self.events("low-open", "Preempted"), "the victim's event")
        self.assertIn(f"Preempted by pod {self.pod('urgent')['metadata']['uid']} on node {self.ns}-open", told[0]["message"])
        self.assertEqual(told[0]["involvedObject"]["uid"], victim)
        self.assertIn("Preempted", kubectl("get", "events", "-n", self.ns))
        self.assert_nothing_overcommitted()

    def test_a_budget_is_broken_only_where_nothing_else_helps(self):
        self.add_nodes("guarded", cpu="1")
        self.fill("guarded")
        self.add(objects.budget("guard", "guarded", minAvailable=1))
        budget = f"/apis/policy/v1/namespaces/{self.ns}/poddisruptionbudgets/guard"
        self.until(lambda: must(200, "GET", budget).get("status", {}).get("currentHealthy") == 1, "the budget to count")
        self.add_pod("urgent", cpu="800m", priorityClassName="high")
        self.assertEqual(self.until_scheduled("urgent"), ["guarded"])

    def test_a_nominated_pod_is_named_while_its_victims_take_their_time(self):
        self.add_nodes("a", cpu="1")
        # Held back by a finalizer, as a pod is that takes its time to end.
        body = objects.pod("slow", cpu="900m", priorityClassName="low")
        body["metadata"]["finalizers"] = ["example.com/slow"]
        self.add(body)
        self.addCleanup(self.let_go, "slow")
        self.until_running(1)
        self.add_pod("urgent", cpu="800m", priorityClassName="high")
        self.until(lambda: self.pod("urgent").get("status", {}).get("nominatedNodeName") == f"{self.ns}-a", "the nomination")
        self.until(lambda: "deletionTimestamp" in self.pod("slow")["metadata"], "the deletion")
        # Others of the same priority do not take what it waits for.
        self.assertIsNone(self.node_of("urgent"))
        self.let_go("slow")
        self.until_scheduled("urgent")

    def let_go(self, name):
        lab.plane.api("PATCH", f"/api/v1/namespaces/{self.ns}/pods/{name}", {"metadata": {"finalizers": None}},
                      "application/merge-patch+json")

    def test_who_may_not_preempt_waits(self):
        self.add_nodes("a", cpu="1")
        self.fill("a")
        self.add_pod("polite", cpu="800m", priorityClassName="patient")
        self.until_refused("polite", "1 Insufficient cpu", "not eligible due to preemptionPolicy=Never")
        self.assertEqual(self.node_of("low-a"), "a")
        must(200, "DELETE", f"/api/v1/namespaces/{self.ns}/pods/low-a?gracePeriodSeconds=0")
        self.until_scheduled("polite")

    def test_no_more_victims_than_needed(self):
        self.add_nodes("a", cpu="2")
        for index in range(4):
            self.add_pod(f"low-{index}", cpu="450m", priorityClassName="low")
        self.until_running(4)
        self.add_pod("urgent", cpu="600m", priorityClassName="high")
        self.until_scheduled("urgent")
        self.assertEqual(len(self.pods()), 4)
        self.assert_nothing_overcommitted()
