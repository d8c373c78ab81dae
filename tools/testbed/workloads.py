"""The papers' workloads, scaled to nodes of a few hundred millicores: who arrives when, asking for what.

The same seed gives the same arrivals, whoever schedules them. DRS's pods had 200m to 500m of ten cores; here they have 30m to
75m of 1.2, and everything but memory scales with what a pod is allowed, as in scenarios/testbed-*.yaml.
"""
import dataclasses
import random

import applications
import network

MOST = 75  # millicores: the largest of DRS's pods
PEER_PORT = 27000  # where the net pods' peer listens, on the machine itself
# Of the largest pod. Frames are about 1/450 of a core's second; rates are a quarter of a node's.
FRAMES, SECONDS = 900, 30.0
NET_RATE, DISK_RATE = 1000, 2.0  # kilobytes and megabytes a second, each way
MEMORY = {"video": 60, "net": 20, "disk": 30}  # megabytes
# The thesis's pods (MARL) are an eighth of a node at most, on nodes of 300m; some thirty of them run at once.
THESIS_MOST, THESIS_SECONDS = 37, 24.0
# Kernels as PPO-LRT used them, a tenth as long as in scenarios/ppo-lrt-random.yaml: name, side, repetitions.
KERNELS = {"2mm": (200, 100), "3mm": (200, 123), "atax": (200, 1), "cholesky": (300, 26), "correlation": (250, 554),
           "covariance": (250, 549), "fdtd-2d": (200, 48), "gemm": (200, 24), "heat-3d": (50, 149), "jacobi-2d": (250, 65)}
LASTS = 200.0  # seconds that services are watched for


@dataclasses.dataclass
class Arrival:
    at: float  # seconds after the beginning
    manifest: dict
    kind: str
    lasts: float | None = None  # seconds after the beginning: it never ends by itself


def drs_pod(name, kind, milli, most=MOST, seconds=SECONDS):
    """most: millicores of the largest pod, which runs for so many seconds."""
    part, size = milli / most, most / MOST
    net, disk = NET_RATE * size, DISK_RATE * size
    arguments = {
        "video": ["--frames", round(FRAMES * size * seconds / SECONDS)],
        "net": ["--peer", network.HOST, "--port", PEER_PORT, "--rate", round(net * part), "--kilobytes", round(net * part * seconds)],
        "disk": ["--rate", round(disk * part, 3), "--megabytes", round(disk * seconds * 0.8, 1), "--span", 8],
    }[kind]
    memory = MEMORY[kind]
    return applications.pod(name, kind, [*arguments, "--memory", memory], cpu=f"{milli}m", memory=f"{memory + 16}M")


def drs(seed, pods, every, deviation=0.0, weights=(1, 1, 1)):
    """Kinds in shuffled blocks, as the simulator has them."""
    dice = random.Random(f"drs {seed} {weights}")
    block = [kind for kind, weight in zip(("video", "net", "disk"), weights) for _ in range(weight)]
    arrivals, kinds, at = [], [], 0.0
    for number in range(pods):
        if not kinds:
            kinds = dice.sample(block, len(block))
        kind = kinds.pop()
        arrivals.append(Arrival(at, drs_pod(f"{kind}-{number:03}", kind, dice.randint(30, MOST)), kind))
        at += max(0.0, dice.gauss(every, deviation)) if deviation else every
    return arrivals


def thesis(seed, pods, every, by_lot):
    """MARL's chapter 5: video, disk and net, in shuffled blocks at equal intervals, or both by lot (scenarios/marl-*.yaml)."""
    dice = random.Random(f"thesis {seed} {by_lot}")
    arrivals, kinds, at = [], [], 0.0
    for number in range(pods):
        if not kinds:
            kinds = dice.choices(sorted(MEMORY)) if by_lot else dice.sample(sorted(MEMORY), len(MEMORY))
        kind = kinds.pop()
        milli = dice.randint(round(0.4 * THESIS_MOST), THESIS_MOST)
        arrivals.append(Arrival(at, drs_pod(f"{kind}-{number:03}", kind, milli, THESIS_MOST, THESIS_SECONDS), kind))
        at += dice.expovariate(1 / every) if by_lot else every
    return arrivals


def web(seed, pods):
    """PPO-LRT's uniform test: web servers whose work is uniformly distributed, all at once, asking for nothing."""
    dice = random.Random(f"web {seed}")
    return [Arrival(0.0, applications.pod(f"web-{number:03}", "web", ["--requests", dice.randint(100, 3300)], limits=None), "web")
            for number in range(pods)]


def kernels(seed, each, within=0.0):
    """PPO-LRT's random test: every kernel so many times, in random order, at once or spread over a time."""
    dice = random.Random(f"kernels {seed}")
    names = dice.sample(sorted(KERNELS) * each, len(KERNELS) * each)
    moments = sorted(dice.uniform(0, within) for _ in names)
    arrivals = []
    for number, (name, at) in enumerate(zip(names, moments)):
        side, repeat = KERNELS[name]
        arguments = ["--kernel", name, "--size", side, "--repeat", repeat, "--memory", 30]
        arrivals.append(Arrival(at, applications.pod(f"kernel-{number:03}", "kernels", arguments, limits=None), name))
    return arrivals


def services(seed, deployments):
    """Services that never end, all asking for the same, using very different amounts: what nobody knows before they run."""
    dice = random.Random(f"services {seed}")
    kinds = dice.sample(("video", "video", "net", "disk") * ((deployments + 3) // 4), deployments)
    arrivals = []
    for number, kind in enumerate(kinds):
        part = dice.uniform(0.2, 1.2)
        forever = 10**9
        arguments = {"video": ["--frames", forever],
                     "net": ["--peer", network.HOST, "--port", PEER_PORT, "--rate", round(NET_RATE * part), "--kilobytes", forever],
                     "disk": ["--rate", round(DISK_RATE * part, 3), "--megabytes", forever, "--span", 8]}[kind]
        # What the container may use is what it uses; what it asks for is the same for all.
        room = {"cpu": f"{round(MOST * part)}m" if kind == "video" else f"{MOST}m", "memory": f"{MEMORY[kind] + 16}M"}
        manifest = applications.deployment(f"s{seed}-{number:02}", 3, kind, [*arguments, "--memory", MEMORY[kind]])
        manifest["spec"]["template"]["spec"]["containers"][0]["resources"] = {
            "requests": {"cpu": "15m", "memory": "32M"}, "limits": room}
        arrivals.append(Arrival(4.0 * number, manifest, kind, LASTS))
    return arrivals


# name -> (what it is, how it is made of a seed and a number of pods, how many pods where nothing else is said)
WORKLOADS = {
    "even": ("DRS Even: video, net and disk 1:1:1, a pod every 2.5 s", lambda seed, pods: drs(seed, pods, 2.5), 60),
    "random": ("DRS Random: as Even, intervals normally distributed, deviation 0.5 s",
               lambda seed, pods: drs(seed, pods, 2.5, 0.5), 60),
    "cpu": ("DRS CPU: video, net and disk 4:1:1, a pod every 2.5 s", lambda seed, pods: drs(seed, pods, 2.5, 0.0, (4, 1, 1)), 60),
    "marl-uniform": ("MARL uniform: video, disk and net in turn, a pod a second", lambda seed, pods: thesis(seed, pods, 1.0, False), 105),
    "marl-random": ("MARL random: which and when by lot, a pod a second on average", lambda seed, pods: thesis(seed, pods, 1.0, True), 105),
    "uniform": ("PPO-LRT uniform: web servers at once, 100 to 3,300 pages each", web, 40),
    "kernels": ("PPO-LRT random: ten kernels at once", lambda seed, pods: kernels(seed, pods // 10), 40),
    "peak": ("PPO-LRT peak: kernels within 30 s", lambda seed, pods: kernels(seed, pods // 10, 30.0), 80),
    "services": ("services of three replicas that never end and use other amounts than they ask for", services, 8),
}
