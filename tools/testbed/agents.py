"""One `evenkeel agent` in each node, with the node's own monitor in it: in the node's namespaces and control group, as its
DaemonSet's pod would be, known by a certificate for that node and a token bound to a pod there.
"""
import os
import pathlib
import secrets
import shutil
import signal
import sys
import time

import images
import measure

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "agents"))
import fleet  # noqa: E402

NAME = "agents"
PORT, STATUS = 9473, 9474
ROUNDS = ["all", "quorum", "deadline", "nobody"]  # how a pod was decided; by nobody: by the rule
SLEEPER = {"image": images.reference("pause"), "imagePullPolicy": "Never"}


class NodeAgent(fleet.Agent):
    """It ends with its node."""

    def __init__(self, bed, node, evenkeel, flags=()):
        super().__init__(bed.plane, evenkeel, node.name, flags, container=SLEEPER)
        self.home, self.secret = node, bed.folder / "status.token"
        if not self.secret.exists():
            self.secret.write_text(secrets.token_hex(16))
        self.headers = {"Authorization": f"Bearer {self.secret.read_text()}"}
        self.log = node.folder / "agent.log"

    def command(self):
        full = measure.capacities(self.home.share)
        rates = [f"{way}={int(full[way])}B/s" for way in ("receive", "transmit", "read", "write")]
        return self.home.command(
            self.evenkeel, "agent", f"--node={self.node}", f"--kubeconfig={self.kubeconfig}", f"--ca={self.plane.keys}/ca.crt",
            f"--listen={self.home.address}:{PORT}", f"--status={self.home.address}:{STATUS}", f"--status-token-file={self.secret}",
            "--cgroup=/", "--interfaces=eth0", f"--disks={self.home.disk()}",
            "--capacity=" + ",".join([f"cpu={round(full['cpu'] * 1000)}m", f"memory={full['memory']}", *rates]), *self.flags)

    def prepare_child(self):
        super().prepare_child()
        self.home.cgroup.join_system()

    def itself(self):
        """Its process id, as the machine numbers it; None: it has ended. nsenter waits for it, and hands no signal on."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children") if self.process else None
        found = children.read_text().split() if children and children.exists() else []
        return int(found[0]) if found else None

    def send(self, which):
        if self.itself():
            os.kill(self.itself(), which)

    def stop(self, how=signal.SIGTERM):
        if self.process is None:
            return None
        self.send(signal.SIGCONT)
        self.send(how)
        try:
            return self.process.wait(30)
        except fleet.subprocess.TimeoutExpired:
            self.kill()
            return None

    def kill(self):
        if self.process is not None:
            self.send(signal.SIGKILL)
            self.process.wait()

    def cpu_seconds(self):
        return fleet.cpu_seconds(self.itself())

    def memory(self):
        return fleet.memory_of(self.itself())


class Agents(fleet.Fleet):
    """Of all nodes that are on; `with` starts and ends them."""

    def __init__(self, bed, evenkeel, flags=()):
        self.bed, self.plane, self.evenkeel, self.flags = bed, bed.plane, evenkeel, flags
        fleet.install(bed.plane)
        self.agents, self.by_node = [], {}

    def __enter__(self):
        for node in self.bed.nodes:
            if node.is_on():
                self.add(node)
        return self

    def __exit__(self, *_):
        for agent in self.agents:
            agent.stop()

    def add(self, node):
        agent = NodeAgent(self.bed, node, self.evenkeel, self.flags).start()
        self.agents = [one for one in self.agents if one.node != node.name] + [agent]
        self.by_node[node.name] = agent
        return agent


class Crew(Agents):
    """All of them as a contender (contenders.py), `agents` or `agents+learn`. They keep nothing when they end."""
    scheduler_name = "evenkeel"

    def __init__(self, name, bed, evenkeel, folder, models=None):
        model = (models or {}).get(name)
        super().__init__(bed, evenkeel, [*(["--learn"] if name.endswith("+learn") else []), *([f"--model={model}"] if model else [])])
        self.name, self.folder, self.rounds_before = name, pathlib.Path(folder), {}

    def __enter__(self):
        super().__enter__()
        try:
            self.until_joined()
        except fleet.Trouble as trouble:
            self.__exit__()
            raise fleet.Trouble(f"{trouble}\n" + "".join(agent.log_end() for agent in self.agents)) from None
        return self

    def __exit__(self, *_):
        self.stop()
        for agent in self.agents:
            shutil.copyfile(agent.log, self.folder / f"{self.name}-{agent.node}.log")

    def wait_until_it_decides(self):
        """Each has seen its node for a while, and heard what the cluster uses."""
        time.sleep(5)

    def cpu_seconds(self):
        """Of all of them, their monitors included."""
        return sum(agent.cpu_seconds() for agent in self.agents)

    def rounds(self):
        """How pods were decided since the last call, by whoever leads now."""
        time.sleep(1.5)  # figures are shown once a second
        figures = self.leader().metrics()
        now = {way: figures.get(f"evenkeel_agents_rounds_{way}_total", 0) for way in ROUNDS}
        before, self.rounds_before = self.rounds_before, now
        return {way: now[way] - before.get(way, 0) for way in ROUNDS}
