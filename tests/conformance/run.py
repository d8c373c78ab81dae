#!/usr/bin/env python3
"""Puts the same generated clusters to evenkeel and to kube-scheduler's own plugin code, and compares the answers.

  tests/conformance/run.py build/release/evenkeel                    10,000 cases of seed 1
  tests/conformance/run.py build/release/evenkeel --cases 200000 --seed 7
  tests/conformance/run.py build/release/evenkeel --case 4711        one case, printed with both answers

Exit 0: no difference; 1: the first one, shrunk, is printed; 2: something is missing.
"""
import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import cases  # noqa: E402

CHUNK = 250


class Respondent:
    """A program that answers a line with a line."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, case):
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the program ended"}

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def commands(evenkeel, judge):
    ours = [evenkeel, "place", "-f", "-", "--lines", "--independent", "--json"]
    return ours, [judge, "-workers", "1"]


def differences(ours, theirs):
    """What the two disagree about, in words; empty when they agree."""
    if "error" in ours or "error" in theirs:
        return [f"error: ours {ours.get('error')!r}, theirs {theirs.get('error')!r}"]
    mine = {d["pod"]: d for d in ours["decisions"]}
    found = []
    for d in theirs["decisions"] or []:
        found += [f"{d['pod']}: {text}" for text in decision_differences(mine[d["pod"]], d)]
    return found


def in_order(reasons):
    """kube-scheduler walks extended resources in the order of a Go map: there is none."""
    if reasons and all(reason["plugin"] == "NodeResourcesFit" for reason in reasons):
        return sorted(reasons, key=lambda reason: reason["reason"])
    return reasons


def decision_differences(ours, theirs):
    if theirs.get("gated"):
        return [] if ours["unschedulable"] == theirs["gated"] else [f"gate: ours {ours['unschedulable']!r}, theirs {theirs['gated']!r}"]
    if theirs.get("error"):
        # kube-scheduler gives up on the pod; so must we, in whatever words.
        return [] if ours["node"] is None else [f"failure: ours goes to {ours['node']}, theirs fails with {theirs['error']!r}"]
    found = []
    if sorted(ours["feasible"]) != theirs["feasible"]:
        found.append(f"feasible: ours {sorted(ours['feasible'])}, theirs {theirs['feasible']}")
    for node in sorted(set(ours["rejected"]) | set(theirs["rejected"])):
        a, b = in_order(ours["rejected"].get(node)), in_order(theirs["rejected"].get(node))
        if a != b:
            found.append(f"rejected: {node}: ours {a}, theirs {b}")
    for node in sorted(set(ours["scores"]) | set(theirs["scores"])):
        a, b = ours["scores"].get(node, {}), theirs["scores"].get(node, {})
        for plugin in sorted(set(a) | set(b)):
            # A plugin that kube-scheduler skips has no score; it counts as one that says 0.
            if a.get(plugin, 0) != b.get(plugin, 0):
                found.append(f"score {plugin}: {node}: ours {a.get(plugin)}, theirs {b.get(plugin)}")
    if theirs["feasible"]:
        best = max(row["total"] for row in theirs["scores"].values())
        chosen = ours["node"] if ours["node"] in theirs["scores"] else None
        promised = theirs.get("nominated") in theirs["feasible"]
        if not found and not promised and (chosen is None or theirs["scores"][chosen]["total"] != best):
            found.append(f"choice: ours {ours['node']}, not one of the best")
        return found
    if (ours["unschedulable"] or "") != theirs.get("unschedulable", ""):
        found.append(f"unschedulable: ours {ours['unschedulable']!r}, theirs {theirs.get('unschedulable')!r}")
    if theirs["candidates"]:
        node = ours.get("nominated")
        if node not in theirs["best"]:
            found.append(f"preemption: ours on {node}, theirs on one of {theirs['best']} of {sorted(theirs['candidates'])}")
        elif ours["preempts"] != theirs["candidates"][node]["victims"]:
            found.append(f"victims: on {node}: ours {ours['preempts']}, theirs {theirs['candidates'][node]['victims']}")
    elif ours["preempts"]:
        found.append(f"preemption: ours evicts {ours['preempts']}, theirs nobody")
    return found


def topic(text):
    """What a difference is about, without names and numbers: "score ImageLocality"."""
    parts = text.split(": ")
    return parts[1] if len(parts) > 1 and "/" in parts[0] else parts[0]


# -- shrinking --------------------------------------------------------------------------------------------------

def without(value, path):
    """A copy of a JSON value with the entry at the path left out."""
    head, rest = path[0], path[1:]
    if isinstance(value, list):
        copy = list(value)
    else:
        copy = dict(value)
    if rest:
        copy[head] = without(value[head], rest)
    else:
        del copy[head]
    return copy


def paths(value, prefix=()):
    """Every entry, outer ones first: they take the most away."""
    queue = collections.deque([(value, prefix)])
    while queue:
        value, prefix = queue.popleft()
        entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, item in list(entries):
            yield prefix + (key,)
            queue.append((item, prefix + (key,)))


KEPT = {"kind", "apiVersion", "name", "namespace", "uid", "id", "items", "metadata", "nodeName", "key", "operator", "effect", "topologyKey", "maxSkew",
        "whenUnsatisfiable", "profiles", "type"}


def shrink(case, about, ours, theirs, patience=4000):
    """The smallest case found about which both still answer, and still disagree on the same topic."""
    def disagree(candidate):
        a, b = ours.ask(candidate), theirs.ask(candidate)
        if "error" in a or "error" in b:
            return False
        return any(topic(text) == about for text in differences(a, b))

    progress = True
    while progress and patience > 0:
        progress = False
        for path in list(paths(case))[::-1] if patience < 2000 else list(paths(case)):
            if isinstance(path[-1], str) and path[-1] in KEPT or patience <= 0:
                continue
            try:
                candidate = without(case, path)
            except (KeyError, IndexError):
                continue  # gone with something larger, or moved
            patience -= 1
            if disagree(candidate):
                case, progress = candidate, True
    return case


# -- running ----------------------------------------------------------------------------------------------------

def run_chunk(work):
    evenkeel, judge, seed, first, count = work
    batch = [cases.make_case(seed, number) for number in range(first, first + count)]
    text = "".join(json.dumps(case) + "\n" for case in batch)
    ours, theirs = (subprocess.run(command, input=text, capture_output=True, text=True) for command in commands(evenkeel, judge))
    mine, other = ours.stdout.splitlines(), theirs.stdout.splitlines()
    # 2 is for a line that was answered with an error, which is compared below.
    if len(mine) != count or len(other) != count or ours.returncode not in (0, 2) or theirs.returncode != 0:
        return [(first + min(len(mine), len(other)), [f"a program ended badly, ours with {ours.returncode}, theirs with {theirs.returncode}: {ours.stderr[-500:]} {theirs.stderr[-500:]}"])], 0, collections.Counter()
    found, pods, seen = [], 0, collections.Counter()
    for case, a, b in zip(batch, map(json.loads, mine), map(json.loads, other)):
        different = differences(a, b)
        if different:
            found.append((case["id"], different))
        for decision in b.get("decisions") or []:
            pods += 1
            count_coverage(decision, seen)
    return found, pods, seen


def count_coverage(decision, seen):
    """What the judge had to say, so that a run shows what it covered."""
    seen["gated" if decision.get("gated") else "failed" if decision.get("error") else "preempts" if decision["candidates"] else
         "placed" if decision["feasible"] else "stuck"] += 1
    for reasons in decision["rejected"].values():
        for plugin in {reason["plugin"] for reason in reasons}:
            seen["nodes rejected by " + plugin] += 1
    rows = list(decision["scores"].values())
    for plugin in {plugin for row in rows for plugin in row} - {"total"}:
        if len({row.get(plugin, 0) for row in rows}) > 1:
            seen["pods whose nodes are told apart by " + plugin] += 1
    seen["nominated pods"] += bool(decision.get("nominated"))
    seen["pods with a choice of victims"] += len(decision["candidates"]) > 1
    seen["budgets broken"] += any(candidate["violations"] for candidate in decision["candidates"].values())


# NodeName is not among them: a pod that names its node is bound.
REJECTING = ["NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits",
             "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity", "NodeDeclaredFeatures"]
SCORING = ["TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation",
           "ImageLocality"]
ENOUGH = 30  # in ten thousand cases


def uncovered(seen):
    topics = ["nodes rejected by " + plugin for plugin in REJECTING] + ["pods whose nodes are told apart by " + plugin for plugin in SCORING] + \
        ["gated", "preempts", "stuck", "placed", "nominated pods", "pods with a choice of victims", "budgets broken"]
    return [topic for topic in topics if seen[topic] < ENOUGH]


def show_case(arguments, number):
    ours, theirs = (Respondent(command) for command in commands(arguments.evenkeel, arguments.judge))
    case = cases.make_case(arguments.seed, number)
    if arguments.shrink:
        for about in dict.fromkeys(topic(text) for text in differences(ours.ask(case), theirs.ask(case))):
            case = shrink(case, about, ours, theirs)
            break
    a, b = ours.ask(case), theirs.ask(case)
    print(json.dumps(case, indent=1))
    print("ours:  ", json.dumps(a))
    print("theirs:", json.dumps(b))
    different = differences(a, b)
    for text in different:
        print(text)
    if different:
        print(f"\nagain: {HERE / 'run.py'} {arguments.evenkeel} --seed {arguments.seed} --case {number}")
    ours.close()
    theirs.close()
    return 1 if different else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evenkeel")
    parser.add_argument("--judge", help="the judge's binary (built where absent)")
    parser.add_argument("--cases", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="this case alone")
    parser.add_argument("--keep-going", action="store_true", help="count all differences by topic instead of shrinking the first")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false")
    arguments = parser.parse_args()
    if not arguments.judge:
        built = subprocess.run([HERE / "build_judge"], stdout=subprocess.PIPE, text=True)
        if built.returncode != 0:
            return 2
        arguments.judge = built.stdout.strip()
    if arguments.case is not None:
        return show_case(arguments, arguments.case)

    started = time.monotonic()
    work = [(arguments.evenkeel, arguments.judge, arguments.seed, first, min(CHUNK, arguments.cases - first))
            for first in range(0, arguments.cases, CHUNK)]
    pods, seen, topics, examples = 0, collections.Counter(), collections.Counter(), {}
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for found, judged, covered in pool.imap(run_chunk, work):
            pods += judged
            seen += covered
            for number, different in found:
                for about in {topic(text) for text in different}:
                    topics[about] += 1
                    examples.setdefault(about, number)
            if found and not arguments.keep_going:
                number, different = found[0]
                print(f"case {number} of seed {arguments.seed} differs: {different[0]}\n", flush=True)
                show_case(arguments, number)
                return 1
    for about, count in sorted(seen.items()):
        print(f"{count:8} {about}")
    for about, count in topics.most_common():
        print(f"{count:6} cases differ about {about}, first {examples[about]}")
    print(f"{arguments.cases} cases, {pods} pods, {sum(topics.values())} differences, {time.monotonic() - started:.0f} s")
    thin = uncovered(seen) if arguments.cases >= 10000 else []
    if thin:
        print("the cases hardly cover: " + ", ".join(thin))
    return 1 if topics or thin else 0


sys.exit(main())
