"""A cluster of real nodes on one machine: control plane, kubelets, containerd, runc, each node with its share.

One testbed to a machine. What runs is written to STATE before it runs, so that down() finds all of it after any crash:
processes by id and start time, the control groups and the switch by name, the folder with data and logs.
"""
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess

import cgroups
import images
import network
import kube
from emulator import Emulator
from kube import ControlPlane, Keys, Trouble, wait_until
from node import Node, Share

STATE = pathlib.Path("/run/evenkeel-testbed.json")
# dpkg's names; tools/bootstrap --testbed installs them.
NEEDED = {"containerd": "containerd", "runc": "runc", "ctr": "containerd", "ip": "iproute2", "tc": "iproute2",
          "mkfs.ext4": "e2fsprogs", "unshare": "util-linux", "nsenter": "util-linux"}
HIDDEN = [pathlib.Path(place) for place in ("/run", "/var/run", "/var/lib", "/var/log", "/proc", "/sys")]
READY_WITHIN = 180


def obstacle():
    """Why there can be no testbed on this machine, in a sentence; None where there can."""
    return obstacle_of_machine() or missing_packages() or network.obstacle()


def obstacle_of_machine():
    """What no installation would help against."""
    if os.geteuid() != 0:
        return ("it needs root: it makes control groups, namespaces, mounts and network links, and runs containerd and "
                "kubelets in them; all of that goes again with tools/testbed/down")
    if not pathlib.Path("/dev/loop-control").exists():
        return "there are no loop devices, which nodes have their disks on"
    if "overlay" not in pathlib.Path("/proc/filesystems").read_text():
        return "the kernel has no overlay file system"
    kinds = ["mount", "net", "pid", "uts", "ipc", "cgroup"]
    if subprocess.run(["unshare", *(f"--{kind}" for kind in kinds), "--fork", "true"], capture_output=True).returncode != 0:
        return f"no new namespaces may be made here ({', '.join(kinds)})"
    return cgroups.obstacle()


def missing_packages():
    missing = sorted({package for program, package in NEEDED.items() if not find_program(program)})
    if not pathlib.Path("/usr/lib/cni/bridge").exists():
        missing.append("containernetworking-plugins")
    if missing:
        return f"these packages are missing: {' '.join(missing)} (tools/bootstrap --testbed installs them)"
    return None


def find_program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


class Testbed:
    def __init__(self, state):
        self.state, self.folder = state, pathlib.Path(state["folder"])
        self.nodes = [Node(self.folder / f"node{one['index']}", one["index"], Share(**one["share"]), one.get("process"))
                      for one in state["nodes"]]
        self.plane = ControlPlane(self.folder / "control-plane")
        self.links = Emulator(self.folder, state["links"].get("process")) if "links" in state else None

    @classmethod
    def running(cls):
        """The machine's testbed, as its state says; None where there is none."""
        return cls(json.loads(STATE.read_text())) if STATE.exists() else None

    # Up and down.

    @classmethod
    def up(cls, folder, shares, outlives_us=True, parts=("etcd", "apiserver", "controller-manager"), say=lambda text: None,
           apiserver_flags=(), grace="12s", controller_flags=(), kubelet_flags=(), links=None):
        """grace: how long a node may be silent before it counts as lost. links: rows of emulator.py; None: no emulator."""
        folder = pathlib.Path(folder).resolve()
        reason = obstacle()
        if reason:
            raise Trouble(reason)
        if any(folder.is_relative_to(place) for place in HIDDEN):
            raise Trouble(f"{folder}: nodes have their own of this place; choose a folder elsewhere")
        if STATE.exists():
            raise Trouble(f"there is a testbed already, in {json.loads(STATE.read_text())['folder']}; "
                          "stop it with tools/testbed/down")
        programs = kube.programs("kubelet")
        archive, _ = images.build()
        folder.mkdir(parents=True, exist_ok=True)
        bed = cls({"folder": str(folder), "nodes": [{"index": index, "share": dataclasses.asdict(share)}
                                                    for index, share in enumerate(shares, 1)],
                   **({} if links is None else {"links": {}})})
        bed.save()
        try:
            bed.start(programs, archive, outlives_us, parts, say, apiserver_flags,
                      [f"--node-monitor-grace-period={grace}", *controller_flags], kubelet_flags, links)
        except BaseException:
            bed.down()
            raise
        return bed

    def start(self, programs, archive, outlives_us, parts, say, apiserver_flags, controller_flags, kubelet_flags, links):
        top = cgroups.Cgroup(cgroups.TOP)
        top.make()
        # Against what else the machine does, a testbed counts as much as sixteen processes, not as one.
        top.write("cpu", "shares", 16 * 1024)
        group = cgroups.Cgroup(f"{cgroups.TOP}/control-plane")
        group.make()
        network.make_namespace()
        endpoints = ["host", *(node.name for node in self.nodes)] if self.links else []
        if self.links:
            try:
                self.links.start(endpoints, links, outlives_us, group.join)
            finally:
                self.save()
        network.make_switch(endpoints)
        say(f"switch up; the machine is {network.HOST} on it")
        keys = self.folder / "control-plane/pki"
        flags = [f"--kubelet-client-certificate={keys}/admin.crt", f"--kubelet-client-key={keys}/admin.key",
                 f"--kubelet-certificate-authority={keys}/ca.crt", "--kubelet-preferred-address-types=InternalIP",
                 "--enable-admission-plugins=NodeRestriction", "--default-not-ready-toleration-seconds=3",
                 "--default-unreachable-toleration-seconds=3", *apiserver_flags]
        self.plane = ControlPlane.up(self.folder / "control-plane", parts=parts, apiserver_flags=flags,
                                     controller_flags=["--node-monitor-period=2s", *controller_flags],
                                     address=network.HOST, outlives_us=outlives_us, before_exec=group.join)
        say(f"control plane up: {self.plane.address}:{self.plane.state['ports']['apiserver']}")
        for node in self.nodes:
            names = f"DNS:{node.name},IP:{node.address}"
            Keys(self.plane.keys).leaf(node.name, f"/O=system:nodes/CN=system:node:{node.name}", names)
            self.plane.write_kubeconfig(node.name)
            node.write_files(self.plane, self.nodes, programs, archive, kubelet_flags)
        for node in self.nodes:
            self.power_on(node, outlives_us)
        say("nodes boot")
        wait_until(lambda: all(self.is_ready(node) for node in self.nodes) or self.check_alive(), "nodes to be Ready",
                   patience=READY_WITHIN)
        say(f"{len(self.nodes)} nodes Ready")

    def down(self, wipe=True):
        """Ends and removes all there is, whatever became of it since; a second call finds nothing to do. What could not
        be removed is listed."""
        for node in self.nodes:
            node.power_off()
        for part in ("scheduler", "controller-manager", "apiserver", "etcd"):
            self.plane.stop(part, signal.SIGKILL)  # an API server would first wait for everybody who watches
        self.plane.down()
        if self.links:
            self.links.stop()
        left = []
        for group in [*(node.cgroup for node in self.nodes), cgroups.Cgroup(cgroups.TOP)]:
            if not group.remove():
                left.append(f"control group {group.path}, with processes {sorted(group.processes())}")
        network.remove()
        if network.is_there():
            left.append("the switch of the network")
        if wipe:
            shutil.rmtree(self.folder, ignore_errors=True)
        if not left:
            STATE.unlink(missing_ok=True)
        return left

    def save(self):
        if self.links:
            self.state["links"] = {"process": self.links.process}
        self.state["nodes"] = [{"index": node.index, "share": dataclasses.asdict(node.share), "process": node.process}
                               for node in self.nodes]
        partial = STATE.with_suffix(".partial")
        partial.write_text(json.dumps(self.state, indent=1))
        partial.replace(STATE)

    # Nodes.

    def node(self, name):
        for node in self.nodes:
            if node.name == name:
                return node
        raise Trouble(f"no node '{name}'; there are {', '.join(node.name for node in self.nodes)}")

    def power_on(self, node, outlives_us=True):
        try:
            node.power_on(outlives_us)
        finally:
            self.save()

    def power_off(self, node):
        node.power_off()
        self.save()

    def label(self, places):
        """Where the nodes are (delays.py), for schedulers to see; one place for each."""
        for node, place in zip(self.nodes, places):
            code, said = self.plane.api("PATCH", f"/api/v1/nodes/{node.name}", {"metadata": {"labels": place.labels}},
                                        "application/merge-patch+json")
            if code != 200:
                raise Trouble(f"{node.name}: {code} {said.get('message')}")

    def import_images(self, archive):
        """Into every node, besides those it booted with."""
        for node in self.nodes:
            done = subprocess.run(node.command("ctr", "--namespace", "k8s.io", "images", "import", archive), capture_output=True, text=True)
            if done.returncode != 0:
                raise Trouble(f"{node.name}: {archive}: {done.stderr.strip()}")

    def check_alive(self):
        for node in self.nodes:
            if not node.is_on():
                raise Trouble(f"{node.name} went off while booting\n{node.log_end('init')}\n{node.log_end('kubelet')}")

    def is_alive(self):
        """Whether anything of it runs; False: it is what a crash has left."""
        return any(node.is_on() for node in self.nodes) or bool(self.links and self.links.is_on()) or bool(self.plane.state) and any(
            self.plane.is_running(part) for part in self.plane.state["processes"])

    def is_ready(self, node):
        code, said = self.plane.api("GET", f"/api/v1/nodes/{node.name}")
        conditions = said.get("status", {}).get("conditions", []) if code == 200 else []
        taints = said.get("spec", {}).get("taints", []) if code == 200 else []
        return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions) and not taints
