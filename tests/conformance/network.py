#!/usr/bin/env python3
"""Holds `evenkeel place` against scheduler-plugins' own NetworkOverhead and TopologicalSort.

  tests/conformance/network.py build/release/evenkeel                 the recorded answers (network_cases.json)
  tests/conformance/network.py build/release/evenkeel --live 20000    as many new cases, put to upstream's code itself
  tests/conformance/network.py build/release/evenkeel --record 400    writes network_cases.json anew, from upstream's code

The last two build the judge first: minutes of Go when its cache is cold. Exit 0: no difference; 1: the first ones.
"""
import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import network_cases  # noqa: E402

RECORDED = HERE / "network_cases.json"


def ask(command, questions):
    text = "".join(json.dumps(question) + "\n" for question in questions)
    answered = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=False).stdout.splitlines()
    if len(answered) != len(questions):
        sys.exit(f"{command[0]}: {len(answered)} answers to {len(questions)} questions")
    return [json.loads(line) for line in answered]


def ask_upstream(cases):
    judge = subprocess.run([HERE / "build_judge", "network_judge"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return ask([judge], [{"items": network_cases.manifests(case), **network_cases.arguments(case)} for case in cases])


def ask_ours(evenkeel, cases, *switches):
    lines = [{"apiVersion": "v1", "kind": "List", "items": network_cases.manifests(case), "config": network_cases.configuration(case)} for case in cases]
    return ask([evenkeel, "place", "-f", "-", "--lines", "--json", *switches], lines)


def differences(case, ours, queue, theirs):
    if "error" in ours or "error" in queue or "error" in theirs:
        return [f"error: ours {ours.get('error') or queue.get('error')!r}, theirs {theirs.get('error')!r}"]
    found = []
    mine = {decision["pod"]: decision for decision in ours["decisions"]}
    for decision in theirs["decisions"]:
        own = mine[decision["pod"]]
        rejected = {node: [reason["reason"] for reason in reasons] for node, reasons in own["rejected"].items()}
        wanted = {node: [reason] for node, reason in decision["rejected"].items()}
        if rejected != wanted:
            found.append(f"{decision['pod']}: rejected: ours {rejected}, theirs {wanted}")
        scores = {node: row.get("NetworkOverhead", 0) for node, row in own["scores"].items()}
        if scores != decision["scores"]:
            found.append(f"{decision['pod']}: scores: ours {scores}, theirs {decision['scores']}")
    # Upstream's Less is no order, but whoever we ask about first must not come after the next by it.
    names = [f"{space}/{name}" for name, _, space, _ in case["waiting"]]
    order = [names.index(decision["pod"]) for decision in queue["decisions"]]
    grouped = [pod[3] for pod in case["waiting"]]
    for a, b in zip(order, order[1:]):
        if grouped[a] and grouped[b] and not theirs["less"][a][b]:
            found.append(f"order: ours puts {names[a]} before {names[b]}, theirs does not")
    return found


def compare(evenkeel, cases, answers):
    ours, queues = ask_ours(evenkeel, cases, "--independent"), ask_ours(evenkeel, cases)
    bad = 0
    rejected = told_apart = equal = 0
    for number, (case, mine, queue, theirs) in enumerate(zip(cases, ours, queues, answers)):
        for decision in theirs.get("decisions", []):
            rejected += len(decision["rejected"])
            told_apart += len(set(decision["scores"].values())) > 1
            equal += len(set(decision["scores"].values())) <= 1
        found = differences(case, mine, queue, theirs)
        if found:
            bad += 1
            if bad <= 3:
                print(f"case {number}: {json.dumps(case)}")
                print("  " + "\n  ".join(found))
    print(f"{len(cases)} clusters: {bad} different; nodes rejected {rejected}, pods whose nodes are told apart {told_apart}, others {equal}")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evenkeel")
    parser.add_argument("--live", type=int, metavar="N")
    parser.add_argument("--record", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.live or arguments.record:
        cases = [network_cases.make_case(arguments.seed, number) for number in range(arguments.live or arguments.record)]
        answers = ask_upstream(cases)
    else:
        recorded = json.loads(RECORDED.read_text())
        cases, answers = [entry["case"] for entry in recorded], [entry["upstream"] for entry in recorded]
    if arguments.record:
        lines = [json.dumps({"case": case, "upstream": answer}, separators=(",", ":")) for case, answer in zip(cases, answers)]
        RECORDED.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    sys.exit(1 if compare(arguments.evenkeel, cases, answers) else 0)


if __name__ == "__main__":
    main()
