"""DRS's Figures 5 to 7: what one pod of each application does to a node that has nothing else to do, second by second;
what an idle node does; and what the monitor adds to that.
"""
import json
import statistics
import time

import chart
import contenders
import measure
import monitors
import trial
import workloads

LASTS = 80  # seconds, as in the paper
SETTLED = 20  # seconds after which an idle node is idle


def measure_all(bed, options, out, say):
    node = bed.nodes[0]
    found = {}
    with contenders.Contender(contenders.GENUINE, bed, options.evenkeel, out) as contender:
        for name in ["none", "monitor", "video", "net", "disk"]:
            if name == "monitor" and options.no_monitors:
                continue
            trial.clear(bed.plane)
            time.sleep(SETTLED)
            found[name] = measure_one(bed, node, name, options, contender)
            say(f"profile of {name}: " + ", ".join(f"{metric} {value:.4f}" for metric, value in found[name]["mean"].items()))
    (out / "profiles.json").write_text(json.dumps({"node": {**vars(node.share)}, "capacities": measure.capacities(node.share),
                                                   "profiles": found}))
    for metric in measure.METRICS:
        lines = {name: one["samples"][metric] for name, one in found.items()}
        (out / f"profile-{metric}.svg").write_text(chart.lines(f"{metric}, share of the node", lines))


def measure_one(bed, node, name, options, contender):
    """Means are over the pod's running time, or over all of it where there is no pod."""
    follower = trial.Follower(bed.plane)
    follower.start()
    agents = monitors.Monitors(bed, options.evenkeel) if name == "monitor" else None
    if agents:
        agents.__enter__()
    sampler = measure.Sampler(bed)
    began = time.monotonic()
    sampler.start()
    if name in workloads.MEMORY:
        manifest = workloads.drs_pod(f"profile-{name}", name, workloads.MOST)
        manifest["spec"].update({"nodeSelector": {"kubernetes.io/hostname": node.name},
                                 "schedulerName": contender.scheduler_name})
        bed.plane.api("POST", trial.PODS, manifest)
    time.sleep(LASTS)
    samples = sampler.stop()
    follower.over = True
    if agents:
        agents.__exit__()
    pod = f"profile-{name}"
    ran = (follower.running[pod] - began, follower.ended.get(pod, time.monotonic()) - began) if pod in follower.running else (0, LASTS)
    inside = [one for one in samples if ran[0] < one.at <= ran[1]] or samples
    return {"seconds": ran[1] - ran[0],
            "mean": {metric: statistics.mean(one.nodes[node.name][metric] for one in inside) for metric in measure.METRICS},
            "samples": {metric: [(one.at, one.nodes[node.name][metric]) for one in samples] for metric in measure.METRICS}}
