"""Control groups of the testbed: one for all of it, in it one for the control plane and one for each node.

Version 1 hierarchies, as many controllers to each as the machine has it. Version 2 is refused: limits, kubelet's cgroup
root and what a node sees of itself are laid out for version 1 here.
"""
import os
import pathlib
import time

TOP = "evenkeel-testbed"
NEEDED = ("cpu", "cpuacct", "memory", "cpuset", "pids", "devices", "freezer", "blkio")
PERIOD = 100_000  # microseconds: kubelet's own


def hierarchies():
    """{controllers, as the kernel spells them: where mounted}, of version 1 and the named ones."""
    mounted = {}
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, rest = line.partition(" - ")
        kind, _, options = rest.split(" ", 2)
        if kind == "cgroup" and fields.split()[3] == "/":
            mounted.setdefault(frozenset(options.split(",")), pathlib.Path(fields.split()[4]))
    found = {}
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        controllers = line.split(":", 2)[1]
        for options, place in mounted.items():
            if controllers and set(controllers.split(",")) <= options:
                found[controllers] = place
    return found


def obstacle():
    """Why no testbed can be had here; None where it can."""
    controllers = {one for key in hierarchies() for one in key.split(",")}
    missing = [one for one in NEEDED if one not in controllers]
    if len(missing) == len(NEEDED) and pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists():
        return ("this machine has control groups of version 2 only; the testbed lays nodes out in version 1 "
                "(boot with systemd.unified_cgroup_hierarchy=0)")
    if missing:
        return f"control groups of version 1 are not mounted for: {', '.join(missing)}"
    for place in hierarchies().values():
        if not os.access(place, os.W_OK):
            return f"{place} cannot be written to"
    return None


class Cgroup:
    """The same path in every hierarchy."""

    def __init__(self, path):
        self.path = path
        self.places = {controllers: place / path for controllers, place in hierarchies().items()}

    def place(self, controller):
        return next(place for controllers, place in self.places.items() if controller in controllers.split(","))

    def make(self):
        for place in self.places.values():
            place.mkdir(parents=True, exist_ok=True)
        cpuset = self.place("cpuset")
        for level in [*reversed([one for one in cpuset.parents if one.is_relative_to(self.top("cpuset"))]), cpuset]:
            for name in ("cpuset.cpus", "cpuset.mems"):  # a new group has none, and takes in nobody
                (level / name).write_text((level.parent / name).read_text())

    def top(self, controller):
        return next(place for key, place in hierarchies().items() if controller in key.split(",")) / TOP

    def write(self, controller, name, value):
        (self.place(controller) / f"{controller}.{name}").write_text(str(value))

    def read(self, controller, name):
        return (self.place(controller) / f"{controller}.{name}").read_text()

    def join(self):
        """This very process, and what it starts later, belongs here."""
        for place in self.places.values():
            (place / "cgroup.procs").write_text("0")

    def join_system(self):
        """The same, among a node's own programs."""
        for place in self.places.values():
            group = place / "system"
            ((group if group.exists() else place) / "cgroup.procs").write_text("0")

    def limit(self, cpu, memory):
        """cpu in cores, memory in bytes."""
        self.write("cpu", "cfs_period_us", PERIOD)
        self.write("cpu", "cfs_quota_us", round(cpu * PERIOD))
        self.write("memory", "limit_in_bytes", memory)

    def processes(self):
        """Those of this group and all below."""
        found = set()
        for place in self.places.values():
            for file in place.rglob("cgroup.procs") if place.exists() else []:
                try:
                    found.update(int(line) for line in file.read_text().split())
                except (FileNotFoundError, OSError):
                    pass  # gone meanwhile
        return found

    def remove(self, patience=20):
        """Whether all of it is gone. Groups stay busy for a moment after their last process."""
        end = time.monotonic() + patience
        while True:
            for place in self.places.values():
                if place.exists():
                    for folder, _, _ in os.walk(place, topdown=False):
                        try:
                            os.rmdir(folder)
                        except OSError:
                            pass
            left = [place for place in self.places.values() if place.exists()]
            if not left or time.monotonic() > end:
                return not left
            time.sleep(0.1)
