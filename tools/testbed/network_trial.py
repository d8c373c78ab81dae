"""One application under one scheduler on one set of delays: placed, measured, removed."""
import contextlib
import pathlib
import subprocess
import tempfile
import time

import delays
import groups
import measure
import redis_cluster
import rivals
import shop
import testbed
import trial
from kube import Trouble, wait_until

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CRDS = [ROOT / "deploy/crds/appgroup.yaml", ROOT / "deploy/crds/networktopology.yaml"]
PODS, DEPLOYMENTS = trial.PODS, trial.DEPLOYMENTS
PATIENCE = 240
STAGE_S = 0.5  # after which every scheduler has seen what was bound
SETTLED_S = 4  # after which kubelets have told of what began and ended


def start(stack, shares, say):
    """A testbed whose links can be set, and which knows of groups and topologies; `stack` ends it."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="evenkeel-network-", ignore_cleanup_errors=True))
    bed = testbed.Testbed.up(folder, shares, outlives_us=False, say=say, grace="60s", links=[])
    stack.callback(bed.down)
    kubectl = [f"{bed.plane.state['bin']}/kubectl", f"--kubeconfig={bed.plane.kubeconfig}"]
    for path in CRDS:
        for arguments in (["apply", "-f", path], ["wait", "--for=condition=Established", "--timeout=60s", "-f", path]):
            done = subprocess.run([*kubectl, *map(str, arguments)], capture_output=True, text=True)
            if done.returncode != 0:
                raise Trouble(f"{path}: {done.stderr.strip()}")
    return bed


class Site:
    """Nodes at their places, with the distances between them, and what schedulers are told of them."""

    def __init__(self, bed, name, places, table, rate_mbit=0):
        self.bed, self.name, self.places, self.table = bed, name, places, table
        bed.links.set(delays.rows(places, table, rate_mbit))
        bed.label(places)
        self.replace(groups.TOPOLOGIES, delays.topology(places, table))

    def replace(self, path, made):
        plane = self.bed.plane
        plane.api("DELETE", f"{path}/{made['metadata']['name']}")
        code, said = plane.api("POST", path, made)
        if code != 201:
            raise Trouble(f"{path}: {code} {said.get('message')}")

    def between(self, a, b):
        """Round trip between nodes, in ms; none where it is the same one."""
        index = {node.name: number for number, node in enumerate(self.bed.nodes)}
        return 0.0 if a == b else delays.round_trip(self.table, self.places[index[a]], self.places[index[b]])


class Trial:
    """`with` ends the contender (contenders.py), who begins once a group's pods are all there: a group that comes at once is what
    sorting and joint placement are for, and a scheduler with nothing else to do would have placed the first before the last came.
    staged: instead, each part comes when the one before it is bound, in the group's order."""

    def __init__(self, site, contender, staged=False):
        self.site, self.bed, self.plane, self.contender, self.is_on, self.staged = site, site.bed, site.bed.plane, contender, False, staged

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        if self.is_on:
            self.contender.__exit__(*reason)

    def begin(self):
        self.contender.__enter__()
        self.is_on = True

    def must(self, method, path, body=None):
        code, said = self.plane.api(method, path, body, f"application/{'merge-patch+' if method == 'PATCH' else ''}json")
        if code not in (200, 201):
            raise Trouble(f"{method} {path}: {code} {said.get('message')}")
        return said

    def pods(self, group):
        return self.must("GET", f"{PODS}?labelSelector={groups.LABEL}%3D{group}")["items"]

    def running(self, group, wanted):
        """All of them, once so many are ready and no other is left."""
        def found():
            pods = self.pods(group)
            good = [one for one in pods if one["status"].get("podIP") and any(
                condition["type"] == "Ready" and condition["status"] == "True" for condition in one["status"].get("conditions", []))]
            return good if len(good) == len(pods) == wanted else time.sleep(0.3)
        try:
            return wait_until(found, f"{wanted} pods of {group}", PATIENCE)
        except Trouble as trouble:
            pending = [f"{one['metadata']['name']}: {one['status'].get('phase')} on {one['spec'].get('nodeName')}: "
                       f"{[condition.get('message') for condition in one['status'].get('conditions', [])][:1]}" for one in self.pods(group)]
            raise Trouble(f"{trouble}: {pending}") from None

    def place(self, group, names, edges, deployments):
        self.site.replace(groups.GROUPS, groups.app_group(group, names, edges))
        rivals.meet(self.contender, group, names, edges)
        wanted = sum(one["spec"]["replicas"] for one in deployments)
        if self.staged:
            self.begin()
            order, due = groups.reverse_kahn(names, edges), 0
            for one in sorted(deployments, key=lambda one: order.index(one["metadata"]["name"].removeprefix(f"{group}-"))):
                self.must("POST", DEPLOYMENTS, one)
                due += one["spec"]["replicas"]
                wait_until(lambda: sum("nodeName" in pod["spec"] for pod in self.pods(group)) == due or time.sleep(0.1), "pods to be bound", PATIENCE)
                time.sleep(STAGE_S)
        else:
            for one in deployments:
                self.must("POST", DEPLOYMENTS, one)
            wait_until(lambda: len(self.pods(group)) == wanted or time.sleep(0.1), f"{wanted} pods of {group} to be there", PATIENCE)
            self.begin()
        return self.running(group, wanted)

    def placement(self, pods, edges):
        nodes = {one["spec"]["nodeName"] for one in pods}
        index = {node.name: number for number, node in enumerate(self.bed.nodes)}
        return {"edge_ms": groups.mean_round_trip(edges, pods, self.site.between), "nodes": len(nodes),
                "zones": len({self.site.places[index[one]] for one in nodes}),
                "placed": sorted((groups.part_of(one), one["spec"]["nodeName"]) for one in pods)}

    @contextlib.contextmanager
    def watched(self, figures):
        """What the scheduler, the emulator and the rest of the machine used meanwhile, into `figures`."""
        sampler = measure.Sampler(self.bed)
        sampler.start()
        scheduler, links, began = self.contender.cpu_seconds() if self.is_on else 0.0, self.bed.links.cpu_seconds(), time.monotonic()
        try:
            yield
        finally:
            samples, seconds = sampler.stop(), time.monotonic() - began
        now, most = rivals.memory_mb(self.contender.pid)
        figures.update(seconds=seconds, scheduler_cpu_s=self.contender.cpu_seconds() - scheduler, scheduler_mb=now, scheduler_peak_mb=most,
                       emulator_cores=(self.bed.links.cpu_seconds() - links) / seconds,
                       testbed_cores=measure.mean(one.testbed for one in samples), other_cores=measure.mean(one.others for one in samples))

    # The two applications.

    def shop(self, seconds, phases=tuple(shop.PHASES), names=tuple(shop.NAMES), visitors=3, cpu=shop.CPU):
        """Figures 17 and 18: response times of four pages in each phase."""
        trial.clear(self.plane)
        edges = [one for one in shop.EDGES if set(one) <= set(names)]
        made, placing = {"phases": {}}, {}
        for number, (phase, replicas) in enumerate(phases):
            with self.watched(placing):
                if number == 0:
                    pods = self.place(shop.GROUP, names, edges, shop.deployments(self.contender.scheduler_name, names, cpu))
                else:
                    for name in names:
                        self.must("PATCH", f"{DEPLOYMENTS}/{shop.GROUP}-{name}", {"spec": {"replicas": replicas}})
                    pods = self.running(shop.GROUP, replicas * len(names))
            shop.introduce(pods)
            time.sleep(SETTLED_S)
            loading = {}
            with self.watched(loading):
                pages, errors = shop.visit(pods, seconds, visitors)
            made["phases"][phase] = {"pages": pages, "errors": errors, "placing": dict(placing), "loading": loading, **self.placement(pods, edges)}
        return made

    def redis(self, requests, clients, operations, longest=60):
        """Figure 16: throughput of each operation."""
        trial.clear(self.plane)
        placing, loading = {}, {}
        with self.watched(placing):
            pods = self.place(redis_cluster.GROUP, redis_cluster.NAMES, redis_cluster.EDGES, redis_cluster.deployments(self.contender.scheduler_name))
        redis_cluster.form(pods)
        time.sleep(SETTLED_S)
        with self.watched(loading):
            found = redis_cluster.measure(self.bed, pods, requests, clients, operations, longest)
        return {"operations": found, "placing": placing, "loading": loading, **self.placement(pods, redis_cluster.EDGES)}
