"""The testbed's network: a switch in a namespace of its own, one cable to the machine, one to each node.

On the machine itself there is one interface, evk-host, and a route to the pods; both go with the switch. Where distances
are emulated (emulator.py), each cable ends in a bridge of its own with the emulator's device, which takes the switch's place.
"""
import ipaddress
import json
import subprocess

SWITCH = "evenkeel-switch"
HOST_LINK = "evk-host"
NODES = ipaddress.ip_network("10.219.0.0/24")
PODS = ipaddress.ip_network("10.220.0.0/16")
HOST = str(NODES[1])


class NetworkFailed(Exception):
    """What `ip` said."""


def ip(*arguments, check=True):
    done = subprocess.run(["ip", *map(str, arguments)], capture_output=True, text=True)
    if check and done.returncode != 0:
        raise NetworkFailed(f"ip {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout


def address_of(index):
    return str(NODES[10 + index])


def pods_of(index):
    return str(list(PODS.subnets(new_prefix=24))[index])


def obstacle():
    """Why the network cannot be made; None where it can."""
    for route in json.loads(ip("-j", "-4", "route") or "[]"):
        if route["dst"] == "default" or route.get("dev") == HOST_LINK:
            continue
        taken = ipaddress.ip_network(route["dst"], strict=False)
        if taken.overlaps(NODES) or taken.overlaps(PODS):
            return f"this machine has a route to {taken} by {route.get('dev')}; the testbed wants {NODES} and {PODS}"
    return None


def make_namespace():
    ip("netns", "add", SWITCH)
    ip("-n", SWITCH, "link", "set", "lo", "up")


def make_switch(emulated=()):
    """emulated: names of endpoints whose tap-NAME the emulator has made; none: one bridge joins all."""
    for bridge, device in [(f"br-{name}", f"tap-{name}") for name in emulated] or [("switch", None)]:
        ip("-n", SWITCH, "link", "add", bridge, "type", "bridge")
        ip("-n", SWITCH, "link", "set", bridge, "up")
        if device:
            ip("-n", SWITCH, "link", "set", device, "master", bridge, "up")
    ip("link", "add", HOST_LINK, "type", "veth", "peer", "name", "host", "netns", SWITCH)
    ip("-n", SWITCH, "link", "set", "host", "master", bridge_of("host"), "up")
    ip("address", "add", f"{HOST}/{NODES.prefixlen}", "dev", HOST_LINK)
    ip("link", "set", HOST_LINK, "up")


def bridge_of(endpoint):
    """Where its cable ends."""
    own = f"br-{endpoint}"
    return own if ip("-n", SWITCH, "-o", "link", "show", "dev", own, check=False) else "switch"


def plug_in(index, pid, rate):
    """A cable to the node whose first process is `pid`, which finds it as eth0. `rate`: bytes a second, each way."""
    port = f"node{index}"
    ip("-n", SWITCH, "link", "delete", port, check=False)  # the old end, after a power-off
    ip("-n", SWITCH, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", pid)
    ip("-n", SWITCH, "link", "set", port, "master", bridge_of(port), "up")
    done = subprocess.run(["tc", "-n", SWITCH, "qdisc", "add", "dev", port, *shaped(rate)], capture_output=True, text=True)
    if done.returncode != 0:
        raise NetworkFailed(f"tc: {done.stderr.strip()}")
    ip("route", "replace", pods_of(index), "via", address_of(index))


def shaped(rate):
    """A token bucket for tc: what it holds back must wait, at most for 100 ms."""
    return ["root", "tbf", "rate", f"{rate * 8}bit", "burst", str(max(65536, rate // 50)), "latency", "100ms"]


def remove():
    ip("link", "delete", HOST_LINK, check=False)
    ip("netns", "delete", SWITCH, check=False)


def is_there():
    return SWITCH in ip("netns", "list", check=False) or HOST_LINK in ip("-o", "link")
