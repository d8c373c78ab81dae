#!/usr/bin/env python3
"""Puts the same generated workloads to our autoscaler and to the horizontal pod autoscaler's own code, and compares.

  tests/conformance/scaling.py build/release/scaling_probe                    6,000 cases of seed 1
  tests/conformance/scaling.py build/release/scaling_probe --cases 50000 --seed 7
  tests/conformance/scaling.py build/release/scaling_probe --case 4711        one case, printed with both answers

Compared for every tick: the replicas that are set, whether the metrics told anything, whether recent recommendations and
whether limits or bounds changed the answer. Exit 0: no difference; 1: some, the first is printed; 2: something is missing.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import scaling_cases  # noqa: E402

CHUNK = 250


def ask(program, lines):
    done = subprocess.run([program], input="".join(lines), capture_output=True, text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if len(answers) != len(lines):
        raise RuntimeError(f"{program} gave {len(answers)} answers to {len(lines)} cases: {done.stderr[-2000:]}")
    return answers


def differences(ours, theirs):
    if "error" in ours or "error" in theirs:
        return [f"error: ours {ours.get('error')!r}, theirs {theirs.get('error')!r}"]
    return [f"tick {n}: ours {a}, theirs {b}" for n, (a, b) in enumerate(zip(ours["verdicts"], theirs["verdicts"]))
            if any(told is not None and a.get(what) != told for what, told in b.items())]


def work(arguments):
    probe, judge, seed, numbers = arguments
    lines = [json.dumps(scaling_cases.make(seed, n)) + "\n" for n in numbers]
    found, counts = [], {"ticks": 0, "failed": 0, "stabilised": 0, "limited": 0, "scaled": 0}
    for line, ours, theirs in zip(lines, ask(probe, lines), ask(judge, lines)):
        different = differences(ours, theirs)
        if different:
            found.append((theirs.get("id", ours.get("id")), different))
        before = json.loads(line)["replicas"]
        for verdict in theirs.get("verdicts", []):
            counts["ticks"] += 1
            for what in ("failed", "stabilised", "limited"):
                counts[what] += bool(verdict[what])
            counts["scaled"] += verdict["replicas"] != before
            before = verdict["replicas"]
    return found, counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("probe")
    parser.add_argument("--cases", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int)
    given = parser.parse_args()
    judge = subprocess.run([HERE / "build_judge", "scaling_judge"], stdout=subprocess.PIPE, text=True).stdout.strip()
    if not judge or not os.access(given.probe, os.X_OK):
        print("scaling: the judge or the probe is missing", file=sys.stderr)
        return 2
    if given.case is not None:
        line = json.dumps(scaling_cases.make(given.seed, given.case)) + "\n"
        ours, theirs = ask(given.probe, [line])[0], ask(judge, [line])[0]
        print(line + json.dumps(ours) + "\n" + json.dumps(theirs))
        print("\n".join(differences(ours, theirs)) or "the same")
        return 1 if differences(ours, theirs) else 0

    began = time.monotonic()
    chunks = [(given.probe, judge, given.seed, range(n, min(n + CHUNK, given.cases))) for n in range(0, given.cases, CHUNK)]
    different, totals = [], {}
    with multiprocessing.Pool() as pool:
        for found, counts in pool.imap_unordered(work, chunks):
            different += found
            for what, count in counts.items():
                totals[what] = totals.get(what, 0) + count
    different.sort()
    summary = ", ".join(f"{count} {what}" for what, count in totals.items())
    print(f"{given.cases} cases of seed {given.seed}, {len(different)} different; {summary}; {time.monotonic() - began:.0f} s")
    if different:
        number, texts = different[0]
        print(f"case {number}:\n  " + "\n  ".join(texts[:5]))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
