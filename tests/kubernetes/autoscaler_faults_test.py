#!/usr/bin/env python3
"""The autoscaler where things go wrong, on a real control plane with a real Prometheus: nothing is scaled twice, out of bounds or
by what is not known, and nothing is lost.

  autoscaler_faults_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set
"""
import os
import random
import signal
import threading
import time

import autoscaler_lab
import lab
from autoscaler_lab import LEASE
from lab import control_plane

CALM = {"scaleUp": autoscaler_lab.AT_ONCE, "scaleDown": {**autoscaler_lab.AT_ONCE, "stabilizationWindowSeconds": 20}}


class Faults(autoscaler_lab.ScalingTest):
    def test_without_prometheus_nothing_moves_and_the_reason_is_said(self):
        load = self.add_workload("Deployment", "web", 1, rate=10)
        self.add_scaler("web")
        autoscaler = self.run_autoscaler()
        self.until_replicas(2, "web")
        self.metering.signal(signal.SIGSTOP)  # slow without end
        load.rate = 0.1
        self.until_condition("web", "ScalingActive", "False", "FailedGetMetrics")
        self.assertEqual(self.replicas("web"), 2)
        self.metering.signal(signal.SIGCONT)
        self.until_condition("web", "ScalingActive", "True", "ValidMetricFound")
        self.until_replicas(1, "web")
        self.metering.kill()
        load.rate = 20
        self.until_condition("web", "ScalingActive", "False", "FailedGetMetrics")
        self.until(lambda: self.events("web", "FailedGetMetrics"), "an Event")
        self.assertEqual(self.replicas("web"), 1)
        self.metering.start()
        self.until_replicas(4, "web")
        self.assertIn("answers again", autoscaler.log.read_text())

    def test_somebody_who_writes_all_the_time_delays_and_doubles_nothing(self):
        load = self.add_workload("Deployment", "web", 1, rate=5)
        self.add_scaler("web")
        generations = self.follow_generations("web")
        ended, plane = threading.Event(), control_plane.ControlPlane(lab.plane.folder)

        def disturb():
            number = 0
            while not ended.is_set():
                number += 1
                plane.api("PATCH", f"/apis/apps/v1/namespaces/{self.ns}/deployments/web",
                          {"metadata": {"labels": {"number": str(number)}}}, "application/merge-patch+json")
        thread = threading.Thread(target=disturb, daemon=True)
        thread.start()
        self.run_autoscaler()
        for rate, count in ((15, 3), (40, 8), (5, 1)):
            load.rate = rate
            self.until_replicas(count, "web")
        ended.set()
        thread.join()
        plane.close()
        self.stop_and_judge(generations)

    def test_two_instances_one_of_them_killed_lose_and_double_nothing(self):
        load = self.add_workload("Deployment", "web", 1, rate=5)
        self.add_scaler("web")
        generations = self.follow_generations("web")
        first = self.run_autoscaler(election=LEASE)
        self.until(lambda: "leading" in first.log.read_text(), "a leader")
        second = self.run_autoscaler(election=LEASE)
        load.rate = 20
        self.until_replicas(4, "web")
        load.rate = 40
        time.sleep(1.0)  # in the middle of something, most likely
        first.kill()
        self.until_replicas(8, "web")
        first.start()
        load.rate = 10
        self.until_replicas(2, "web")
        second.kill()
        load.rate = 30
        self.until_replicas(6, "web")
        self.stop_and_judge(generations)

    def test_a_prometheus_that_lies_is_not_believed(self):
        load = self.add_workload("Deployment", "web", 2, rate=10)
        # A busy machine counts unevenly: half as much again is no reason to scale.
        self.add_scaler("web", low=2, policyArguments={"cpuInitializationPeriod": "0s", "initialReadinessDelay": "0s", "tolerance": "0.5"})
        generations = self.follow_generations("web", running=2)
        autoscaler = self.run_autoscaler()
        self.until_condition("web", "ScalingActive", "True", "ValidMetricFound")
        for lie in ("NaN", "+Inf"):
            self.until_replicas(2, "web")
            load.lie = lie
            self.until_condition("web", "ScalingActive", "False", "FailedGetMetrics")
            held, load.rate = self.replicas("web"), 40
            self.until_decisions(5, autoscaler)
            self.assertEqual(self.replicas("web"), held, lie)
            load.rate = 10
            self.until_decisions(6, autoscaler)  # what was more has left the window
            load.lie = ""
            self.until_condition("web", "ScalingActive", "True", "ValidMetricFound")
        self.until_replicas(2, "web")
        load.scale_of_lie = 1e12  # more replicas than can be counted are no answer,
        self.until(lambda: self.scaler("web")["status"]["lastDecision"]["decidedBy"] == "hold", "the absurd to be refused")
        held = self.replicas("web")
        self.until_decisions(5, autoscaler)
        self.assertEqual(self.replicas("web"), held)
        load.scale_of_lie = 1
        load.begin_anew()
        self.until_condition("web", "ScalingActive", "True", "ValidMetricFound")
        load.scale_of_lie = 1000  # what could be true is believed as far as the bounds reach
        self.until_replicas(8, "web")
        self.until_condition("web", "ScalingLimited", "True", "TooManyReplicas")
        load.scale_of_lie = 1
        self.until_replicas(2, "web")
        self.stop_and_judge(generations, low=2)

    def test_pods_of_which_nothing_is_known_count_as_idle_when_scaling_up(self):
        load = self.add_workload("Deployment", "web", 2, rate=10)
        self.add_scaler("web")
        autoscaler = self.run_autoscaler()
        self.until_condition("web", "ScalingActive", "True", "ValidMetricFound")
        load.told, load.rate = 1, 40  # eight are needed; one of two is known to be four times too busy
        self.until(lambda: self.replicas("web") > 2, "a scale-up")
        self.until_running(self.replicas("web"), "app=web")
        self.until_decisions(8, autoscaler)
        # One at twice its share and the others at nothing are no reason to scale on: four, or three if it was looked at halfway.
        self.assertIn(self.replicas("web"), (3, 4))
        load.told = None
        self.until_replicas(8, "web")

    def test_counters_that_begin_anew_and_a_prometheus_that_restarts_scale_nothing(self):
        load = self.add_workload("Deployment", "web", 4, rate=20)  # as many as it takes
        self.add_scaler("web", behavior=CALM)
        autoscaler = self.run_autoscaler()
        self.until_condition("web", "ScalingActive", "True", "ValidMetricFound")
        self.until_decisions(8, autoscaler)
        generations = self.follow_generations("web", running=4)
        for _ in range(3):
            load.begin_anew()
            self.until_decisions(5, autoscaler)
        self.metering.kill()
        self.metering.start()
        self.until(self.metering.is_ready, "Prometheus")
        self.until_decisions(8, autoscaler)
        self.assertEqual({replicas for _, replicas in generations()}, {4})

    def test_killed_at_any_moment_it_loses_and_doubles_nothing(self):
        load = self.add_workload("Deployment", "web", 1, rate=5)
        self.add_scaler("web")
        generations = self.follow_generations("web")
        dice, server = random.Random(8), lab.plane.state["processes"]["apiserver"]["pid"]
        for turn in range(8):
            load.rate = 40 if turn % 2 == 0 else 5
            autoscaler = self.run_autoscaler()
            self.until(lambda: "every kind is listed" in autoscaler.log.read_text(), "the autoscaler to look")
            if turn % 2:  # it waits for an answer that never comes to it
                time.sleep(dice.uniform(0.2, 1.5))
                os.kill(server, signal.SIGSTOP)
            time.sleep(dice.uniform(0, 1.5))
            autoscaler.kill()
            os.kill(server, signal.SIGCONT)
        for rate, count in ((40, 8), (5, 1)):
            load.rate = rate
            if rate == 40:
                self.run_autoscaler()
            self.until_replicas(count, "web")
        self.stop_and_judge(generations, answered=False)


if __name__ == "__main__":
    lab.main()
