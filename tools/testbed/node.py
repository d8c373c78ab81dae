"""One node of the testbed: its share of the machine, the files it boots from, and its power switch.

A node is a control group and a set of namespaces (mount, network, pid, uts, ipc, cgroup) whose first process is
node_init.py. Killing that process is pulling the plug: the kernel ends everything in it and drops its mounts.
"""
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys

import network
from cgroups import TOP, Cgroup
from kube import Trouble, end_with_parent, started_at, wait_until

HERE = pathlib.Path(__file__).resolve().parent

MIB = 1 << 20
# What kubelet, containerd and the shims of a few dozen pods take; not allocatable, but part of what a node is.
OWN_CPU, OWN_MEMORY = 0.05, 512 * MIB
EVICTION = 64 * MIB  # below that much free memory kubelet evicts


@dataclasses.dataclass
class Share:
    """What pods can have of a node: cores, bytes, and for network and disk bytes a second in each direction. The rate of
    the disk is what counts as busy; version 1 control groups cannot hold a whole node to one."""
    cpu: float = 0.3
    memory: int = 1024 * MIB
    disk: int = 2048 * MIB
    network: int = 4_000_000
    disk_rate: int = 8_000_000

    @property
    def quota(self):
        """Cores: of the whole node."""
        return self.cpu + OWN_CPU

    @property
    def memory_limit(self):
        return self.memory + OWN_MEMORY


class Node:
    def __init__(self, folder, index, share, process=None):
        """process: of the running node, as saved in the testbed's state."""
        self.folder, self.index, self.share, self.process = pathlib.Path(folder), index, share, process

    @property
    def name(self):
        return f"node{self.index}"

    @property
    def address(self):
        return network.address_of(self.index)

    @property
    def cgroup(self):
        return Cgroup(f"{TOP}/{self.name}")

    # Files.

    def write_files(self, plane, nodes, programs, archive, kubelet_flags=()):
        """Everything the node reads when it boots."""
        self.folder.mkdir(parents=True, exist_ok=True)
        keys = plane.keys
        # The disk: a file that grows as it is written to, up to its size.
        disk = self.folder / "disk.img"
        if not disk.exists():
            with open(disk, "wb") as file:
                file.truncate(self.share.disk)
            subprocess.run(["mkfs.ext4", "-q", "-E", "lazy_itable_init=1,lazy_journal_init=1", "-m", "0", disk],
                           check=True, capture_output=True)
        whole = max(1, -(-round(self.share.quota * 1000) // 1000))  # cores it shows
        self.write("containerd.toml", CONTAINERD.replace("@CNI@", f"{self.folder}/cni"))
        self.write("cni/10-testbed.conflist", json.dumps({
            "cniVersion": "0.4.0", "name": "testbed", "plugins": [
                {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipMasq": False, "hairpinMode": True,
                 "ipam": {"type": "host-local", "ranges": [[{"subnet": network.pods_of(self.index)}]],
                          "routes": [{"dst": "0.0.0.0/0"}]}},
                # Holds pods to their annotations kubernetes.io/ingress-bandwidth and egress-bandwidth; others it leaves alone.
                {"type": "bandwidth", "capabilities": {"bandwidth": True}}]}, indent=1))
        self.write("kubelet.yaml", json.dumps({
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
            "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": False},
                               "x509": {"clientCAFile": f"{keys}/ca.crt"}},
            "authorization": {"mode": "AlwaysAllow"},  # of those whom our own authority has certified
            "tlsCertFile": f"{keys}/{self.name}.crt", "tlsPrivateKeyFile": f"{keys}/{self.name}.key",
            "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
            "cgroupDriver": "cgroupfs", "cgroupRoot": "/", "failCgroupV1": False, "failSwapOn": False,
            "enforceNodeAllocatable": ["pods"], "makeIPTablesUtilChains": False, "resolvConf": "",
            "systemReserved": {"cpu": f"{round((whole - self.share.cpu) * 1000)}m", "memory": str(OWN_MEMORY - EVICTION)},
            "evictionHard": {"memory.available": str(EVICTION), "nodefs.available": "1%", "imagefs.available": "1%"},
            "volumePluginDir": "/var/lib/kubelet/volume-plugins", "podLogsDir": "/var/log/pods",
            "healthzBindAddress": "127.0.0.1", "nodeStatusUpdateFrequency": "4s", "nodeLeaseDurationSeconds": 10,
            "registryPullQPS": 0, "eventRecordQPS": 0, "serializeImagePulls": False, "maxPods": 110}, indent=1))
        self.write("boot.json", json.dumps({
            "name": self.name, "folder": str(self.folder), "memory": self.share.memory_limit, "cores": whole,
            "address": f"{self.address}/{network.NODES.prefixlen}", "gateway": network.HOST,
            "routes": {network.pods_of(one.index): one.address for one in nodes if one.index != self.index},
            "shaping": network.shaped(self.share.network), "images": str(archive),
            "hierarchies": list(self.cgroup.places),
            "kubelet": [f"{programs}/kubelet", f"--config={self.folder}/kubelet.yaml",
                        f"--kubeconfig={plane.folder}/{self.name}.kubeconfig", f"--hostname-override={self.name}",
                        f"--node-ip={self.address}", "--v=1", *kubelet_flags]}, indent=1))

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    # Power.

    def power_on(self, outlives_us=True):
        """Boots; returns when the node has its network, not yet when its kubelet is ready."""
        if self.is_on():
            raise Trouble(f"{self.name} is on already")
        (self.folder / "plugged").unlink(missing_ok=True)
        group = self.cgroup
        group.make()
        group.limit(self.share.quota, self.share.memory_limit)

        def before_exec():
            if not outlives_us:
                end_with_parent()
            group.join()
        with open(self.folder / "init.log", "ab") as log:
            process = subprocess.Popen(
                ["unshare", "--mount", "--net", "--pid", "--uts", "--ipc", "--cgroup", "--fork", "--kill-child", "--mount-proc",
                 sys.executable, HERE / "node_init.py", self.folder / "boot.json"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=outlives_us, preexec_fn=before_exec)
        self.process = {"pid": process.pid, "started": started_at(process.pid)}
        self.child = process  # who started it buries it
        wait_until(lambda: self.first_process() or self.died(process), f"{self.name}: no first process", patience=30)
        network.plug_in(self.index, self.first_process(), self.share.network)
        (self.folder / "plugged").touch()

    def died(self, process):
        if process.poll() is not None:
            raise Trouble(f"{self.name} ended with {process.returncode}\n{self.log_end('init')}")

    def is_on(self):
        return bool(self.process) and started_at(self.process["pid"]) == self.process["started"]

    def first_process(self):
        """As the machine numbers it; None while there is none."""
        if not self.is_on():
            return None
        pid = self.process["pid"]
        try:
            children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except FileNotFoundError:
            return None
        return int(children[0]) if children else None

    def power_off(self):
        """At once, as when the plug is pulled. Nothing to do where it is off."""
        if self.is_on():
            first = self.first_process()
            os.kill(first or self.process["pid"], signal.SIGKILL)
            wait_until(lambda: self.has_ended(), f"{self.name} to end", patience=60)
        self.process = None

    def has_ended(self):
        if getattr(self, "child", None):
            self.child.poll()
        return not self.is_on() and not self.cgroup.processes()

    def command(self, *arguments):
        """What to run to run `arguments` inside the node."""
        return ["nsenter", "--target", str(self.first_process()), "--mount", "--net", "--pid", "--uts", "--ipc", "--cgroup",
                "--", *map(str, arguments)]

    def disk(self):
        """The name of the device that is its disk, as loop3."""
        mounts = pathlib.Path(f"/proc/{self.first_process()}/mounts").read_text().splitlines()
        return next(line.split()[0] for line in mounts if line.split()[1] == "/var/lib/kubelet").removeprefix("/dev/")

    def log_end(self, name, lines=15):
        path = self.folder / f"{name}.log"
        text = path.read_text(errors="replace").splitlines() if path.exists() else []
        return "\n".join(f"  {self.name} {name}| {line}" for line in text[-lines:])


CONTAINERD = """version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
                    "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper"]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/evenkeel/pause:1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "@CNI@"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
"""
