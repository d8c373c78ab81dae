"""One run of one workload under one scheduler: pods are created at their times, followed to their ends, nodes measured."""
import json
import http.client
import statistics
import threading
import time

import measure
from kube import Trouble, wait_until

PODS = "/api/v1/namespaces/default/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


class Follower(threading.Thread):
    """Notes when each pod was seen bound, running and ended, by a watch."""

    def __init__(self, plane):
        super().__init__(daemon=True)
        self.plane, self.over = plane, False
        self.bound, self.running, self.ended, self.phase, self.node = {}, {}, {}, {}, {}
        self.version = plane.api("GET", f"{PODS}?limit=1")[1]["metadata"]["resourceVersion"]

    def run(self):
        while not self.over:
            link = http.client.HTTPSConnection(self.plane.address, self.plane.state["ports"]["apiserver"], timeout=5,
                                               context=self.plane.trust())
            try:
                link.request("GET", f"{PODS}?watch=1&resourceVersion={self.version}&allowWatchBookmarks=true")
                for line in link.getresponse():
                    self.note(json.loads(line)["object"], time.monotonic())
                    if self.over:
                        break
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                pass  # quiet for five seconds, or cut: again from where it was
            link.close()

    def note(self, pod, now):
        self.version = pod["metadata"].get("resourceVersion", self.version)
        name = pod["metadata"].get("name")
        phase = pod.get("status", {}).get("phase")
        if pod.get("spec", {}).get("nodeName"):
            self.bound.setdefault(name, now)
            self.node[name] = pod["spec"]["nodeName"]
        if phase == "Running":
            self.running.setdefault(name, now)
        if phase in ("Succeeded", "Failed"):
            self.ended.setdefault(name, now)
            self.phase[name] = phase


def run(bed, contender, arrivals, settle=10.0, patience=900):
    """Figures of one run. Balance is measured from the moment the first pods have settled to the last arrival."""
    plane = bed.plane
    clear(plane)
    follower = Follower(plane)
    follower.start()
    sampler = measure.Sampler(bed)
    sampler.start()
    used_before, began, created = contender.cpu_seconds(), time.monotonic(), {}
    for one in arrivals:
        time.sleep(max(0.0, began + one.at - time.monotonic()))
        is_pod = one.manifest["kind"] == "Pod"
        (one.manifest["spec"] if is_pod else one.manifest["spec"]["template"]["spec"])["schedulerName"] = contender.scheduler_name
        created[one.manifest["metadata"]["name"]] = time.monotonic()
        code, said = plane.api("POST", PODS if is_pod else DEPLOYMENTS, one.manifest)
        if code != 201:
            raise Trouble(f"{one.manifest['metadata']['name']}: {code} {said.get('message')}")
    last_arrival = time.monotonic() - began
    if arrivals[0].lasts:
        return watch_services(bed, contender, arrivals, follower, sampler, began, used_before, settle + last_arrival)
    try:
        wait_until(lambda: len(follower.ended) >= len(created) or time.sleep(0.5), "all pods to end", patience)
    finally:
        follower.over = True
        samples = sampler.stop()
    used = contender.cpu_seconds() - used_before
    ends = list(follower.ended.values())
    end = max(ends) - began
    # A test that begins with everything at once is measured from its beginning to its end.
    window = [one for one in samples if settle < one.at <= last_arrival] if last_arrival > 3 * settle else \
             [one for one in samples if one.at <= end]
    response = [follower.ended[name] - created[name] for name in created]
    waited = [follower.bound[name] - created[name] for name in created]
    return {"pods": len(created), "failed": sum(phase == "Failed" for phase in follower.phase.values()),
            **of_nodes(bed, window, samples, follower), "makespan_s": end,
            "response_s_mean": statistics.mean(response), "response_s_p95": percentile(response, 95),
            "created_to_bound_ms_mean": 1000 * statistics.mean(waited),
            "created_to_bound_ms_p95": 1000 * percentile(waited, 95),
            "scheduler_cpu_ms_per_pod": 1000 * used / len(created), "seconds_by_kind": by_kind(arrivals, follower)}


def watch_services(bed, contender, arrivals, follower, sampler, began, used_before, settled):
    """Pods that never end: balance from the moment the last of them has settled to the end of the watch."""
    time.sleep(max(0.0, began + arrivals[0].lasts - time.monotonic()))
    follower.over = True
    samples = sampler.stop()
    used = contender.cpu_seconds() - used_before
    wanted = sum(one.manifest["spec"]["replicas"] for one in arrivals)
    bound = len(follower.bound)
    return {"pods": wanted, "failed": max(0, wanted - bound), "moves": max(0, bound - wanted),
            **of_nodes(bed, [one for one in samples if one.at > settled], samples, follower),
            "scheduler_cpu_ms_per_pod": 1000 * used / max(1, bound)}


def of_nodes(bed, window, samples, follower):
    nodes = sorted({node.name for node in bed.nodes})
    return {"utilization": measure.utilisation(window), "imbalance": measure.imbalance(window),
            "imbalance_of_means": measure.imbalance_of_means(window),
            **{f"utilization_{metric}": measure.mean(node[metric] for one in window for node in one.nodes.values())
               for metric in measure.METRICS},
            "testbed_cores": measure.mean(one.testbed for one in samples), "other_cores": measure.mean(one.others for one in samples),
            "placed": {node: sum(one == node for one in follower.node.values()) for node in nodes},
            "samples": [[round(one.at, 1), *[round(one.nodes[node][metric], 4) for node in nodes for metric in measure.METRICS]]
                        for one in samples]}


def by_kind(arrivals, follower):
    """How long pods of each kind ran, on average."""
    lasted = {}
    for one in arrivals:
        name = one.manifest["metadata"]["name"]
        if name in follower.running:
            lasted.setdefault(one.kind, []).append(follower.ended[name] - follower.running[name])
    return {kind: statistics.mean(values) for kind, values in sorted(lasted.items())}


def clear(plane):
    """No pods of an earlier run, and none of their processes."""
    def is_empty():
        plane.api("DELETE", f"{DEPLOYMENTS}?propagationPolicy=Background")
        plane.api("DELETE", f"{PODS}?gracePeriodSeconds=0")
        return not (plane.api("GET", DEPLOYMENTS)[1]["items"] or plane.api("GET", PODS)[1]["items"]) or time.sleep(0.5)
    wait_until(is_empty, "the end of earlier pods", 180)
    time.sleep(3)


def percentile(values, percent):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]
