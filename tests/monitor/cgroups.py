"""Cgroups of a test's own, of either version, for processes to be put into."""
import os
import pathlib

ROOT = pathlib.Path("/sys/fs/cgroup")
V1 = [["cpuacct", "cpu,cpuacct", "cpuacct,cpu"], ["memory"], ["blkio"]]


def trees():
    """The roots of the hierarchies that count CPU, memory and disk."""
    if (ROOT / "cgroup.controllers").exists():
        return [ROOT]
    return [next(ROOT / name for name in names if (ROOT / name).is_dir())
            for names in V1 if any((ROOT / name).is_dir() for name in names)]


class Cgroup:
    """`path` below every tree. Raises OSError where we may not make one."""

    def __init__(self, path):
        self.folders = [tree / path for tree in trees()]
        if not self.folders:
            raise OSError("no cgroups are mounted at /sys/fs/cgroup")
        for tree, folder in zip(trees(), self.folders):
            current = tree
            for part in pathlib.Path(path).parts:
                if (tree / "cgroup.controllers").exists():  # v2: what is below counts only what its parent lets it
                    for controller in ("cpu", "memory", "io"):
                        try:
                            (current / "cgroup.subtree_control").write_text(f"+{controller}")
                        except OSError:
                            pass
                current = current / part
                current.mkdir(exist_ok=True)

    def join(self, pid):
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def enter(self):
        """For subprocess's preexec_fn."""
        self.join(os.getpid())


def remove(path):
    for tree in trees():
        for folder, _, _ in os.walk(tree / path, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                pass
