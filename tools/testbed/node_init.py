"""The first process of a node: gives it its own view of the machine, starts containerd and kubelet, buries orphans.

Runs inside the node's namespaces with boot.json as its argument. Every mount it makes is the node's own and goes with it.
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import time

BOOT = json.loads(pathlib.Path(sys.argv[1]).read_text())
FOLDER = pathlib.Path(BOOT["folder"])
SETTINGS = ("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys",
            "kernel/keys/root_maxbytes")
SOCKET = "/run/containerd/containerd.sock"


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def run(*command, check=True):
    return subprocess.run([str(one) for one in command], check=check, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def bind(source, target):
    run("mount", "--bind", source, target)


def mount_disk():
    """The places that programs of a node write to: on its own disk, or in memory where nothing need last."""
    disk = FOLDER / "disk"
    disk.mkdir(exist_ok=True)
    run("mount", "-o", "loop", FOLDER / "disk.img", disk)
    keep = {name: disk / name for name in ("kubelet", "containerd", "log")}
    for place in ("/run", "/var/lib"):
        run("mount", "-t", "tmpfs", "-o", "mode=755,size=64m", "node", place)
    pathlib.Path("/var/lib/cni").mkdir()
    for name, source in keep.items():
        target = pathlib.Path("/var/log" if name == "log" else f"/var/lib/{name}")
        source.mkdir(exist_ok=True)
        target.mkdir(exist_ok=True)
        bind(source, target)


def mount_cgroups():
    """The node's group is the root of what it sees; its own programs get a group beside kubelet's `kubepods`."""
    run("mount", "-t", "tmpfs", "-o", "mode=755", "node", "/sys/fs/cgroup")
    for controllers in BOOT["hierarchies"]:
        name = controllers.removeprefix("name=")
        place = pathlib.Path("/sys/fs/cgroup", name)
        place.mkdir()
        options = f"none,{controllers}" if controllers.startswith("name=") else controllers
        run("mount", "-t", "cgroup", "-o", options, "cgroup", place)
        for one in name.split(",") if "," in name else []:
            pathlib.Path("/sys/fs/cgroup", one).symlink_to(name)
    for controller in ("cpu", "cpuacct", "memory"):
        group = pathlib.Path("/sys/fs/cgroup", controller, "system")
        group.mkdir(exist_ok=True)
        (group / "cgroup.procs").write_text("0")


def count_disk_traffic():
    """Kernels from 6.10 on count a group's traffic with a disk only once a limit was set for that disk: one that is none."""
    disk = os.stat(FOLDER / "disk").st_dev
    for way in ("read", "write"):
        limit = pathlib.Path(f"/sys/fs/cgroup/blkio/blkio.throttle.{way}_bps_device")
        if limit.exists():
            limit.write_text(f"{os.major(disk)}:{os.minor(disk)} {1 << 40}")


def show_share():
    """Memory and processors as programs read them from the kernel: the node's, not the machine's."""
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    shown = {"MemTotal": BOOT["memory"] // 1024, "MemFree": BOOT["memory"] // 1024, "MemAvailable": BOOT["memory"] // 1024,
             "SwapTotal": 0, "SwapFree": 0}
    names = [line.split(":")[0] for line in lines]
    (FOLDER / "meminfo").write_text("".join(f"{name + ':':<16}{shown[name]:>8} kB\n" if name in shown else line + "\n"
                                            for name, line in zip(names, lines)))
    bind(FOLDER / "meminfo", "/proc/meminfo")
    cores = BOOT["cores"]
    (FOLDER / "online").write_text("0\n" if cores == 1 else f"0-{cores - 1}\n")
    (FOLDER / "offline").write_text("0\n")
    bind(FOLDER / "online", "/sys/devices/system/cpu/online")
    for cpu in pathlib.Path("/sys/devices/system/cpu").glob("cpu[0-9]*"):
        if int(cpu.name[3:]) >= cores and (cpu / "online").exists():
            bind(FOLDER / "offline", cpu / "online")


def shield_settings():
    """Kubelet sets a few of the kernel's settings, which are the whole machine's: it gets files to write to instead."""
    for name in SETTINGS:
        path = pathlib.Path("/proc/sys", name)
        if path.exists():
            copy = FOLDER / name.replace("/", ".")
            copy.write_text(path.read_text())
            bind(copy, path)


def set_up_network():
    while not (FOLDER / "plugged").exists():
        time.sleep(0.02)
    run("ip", "link", "set", "lo", "up")
    run("ip", "address", "add", BOOT["address"], "dev", "eth0")
    run("ip", "link", "set", "eth0", "up")
    run("tc", "qdisc", "add", "dev", "eth0", *BOOT["shaping"])
    run("ip", "route", "add", "default", "via", BOOT["gateway"])
    for pods, node in BOOT["routes"].items():
        run("ip", "route", "add", pods, "via", node)
    pathlib.Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


class Programs:
    """Those that a node keeps running."""

    def __init__(self):
        self.commands, self.pids = {}, {}

    def keep(self, name, *command):
        self.commands[name] = command
        self.start(name)

    def start(self, name):
        log = os.open(FOLDER / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        pid = os.fork()
        if pid == 0:
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.execvp(self.commands[name][0], self.commands[name])
        os.close(log)
        self.pids[pid] = name

    def wait_for_ever(self):
        while True:
            try:
                pid, status = os.wait()
            except ChildProcessError:
                time.sleep(1)
                continue
            name = self.pids.pop(pid, None)
            if name:
                say(f"{name} ended with {os.waitstatus_to_exitcode(status)}; starting it again")
                time.sleep(1)
                self.start(name)


def import_images():
    """Once for each disk: a node that was off has them still."""
    mark = pathlib.Path("/var/lib/containerd/.imported")
    if mark.exists() and mark.read_text() == BOOT["images"]:
        return
    run("ctr", "--address", SOCKET, "--namespace", "k8s.io", "images", "import", BOOT["images"])
    mark.write_text(BOOT["images"])


def main():
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    socket.sethostname(BOOT["name"])
    run("mount", "--make-rprivate", "/")
    mount_disk()
    mount_cgroups()
    count_disk_traffic()
    show_share()
    shield_settings()
    set_up_network()
    programs = Programs()
    programs.keep("containerd", "containerd", "--config", str(FOLDER / "containerd.toml"))
    while run("ctr", "--address", SOCKET, "version", check=False).returncode != 0:
        time.sleep(0.1)
    import_images()
    programs.keep("kubelet", *BOOT["kubelet"])
    say("booted")
    programs.wait_for_ever()


main()
