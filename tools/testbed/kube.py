"""tools/kube's control plane, from the folder beside this one."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "kube"))
from control_plane import ControlPlane, Keys, Trouble, end_with_parent, free_ports, programs, started_at, wait_until  # noqa: E402

__all__ = ["ControlPlane", "Keys", "Trouble", "end_with_parent", "free_ports", "programs", "started_at", "wait_until"]
