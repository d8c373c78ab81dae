"""Tables and charts of what tools/testbed/network has measured."""
import statistics

import chart
import shop

BASE = "kube-scheduler"
PAGES = [f"{method} {path}" for method, path in shop.PAGES]


def spread(values, digits=0):
    text = f"{statistics.mean(values):.{digits}f}"
    return text + (f"±{statistics.stdev(values):.{digits}f}" if len(values) > 1 else "")


def line(run):
    if run["application"] == "redis":
        return ", ".join(f"{name} {one['requests_s']:.0f}/s" for name, one in run["operations"].items()) + f", edges {run['edge_ms']:.1f} ms"
    def of(phase, one):
        pages = " ".join(f"{one['pages'][page]['mean_ms']:.0f}" for page in PAGES if page in one["pages"])
        return f"{phase}: {pages} ms, edges {one['edge_ms']:.1f} ms"
    return "; ".join(of(phase, one) for phase, one in run["phases"].items())


def by(runs, key):
    found = {}
    for one in runs:
        found.setdefault(one[key], []).append(one)
    return found


def write(runs, out):
    lines = []
    for label, of_set in by(runs, "set").items():
        lines += [f"### {label}: {', '.join(of_set[0]['places'])}", ""]
        for application, own in by(of_set, "application").items():
            lines += shop_table(own, label, out) if application == "shop" else redis_table(own, label, out)
    lines += change_table(runs) + scheduler_table(runs)
    (out / "network.md").write_text("\n".join(lines))


def shop_table(runs, label, out):
    lines = ["Response times of the shop, mean ms, and the mean round trip of its edges", "",
             "| phase | scheduler | runs | " + " | ".join(PAGES) + " | edges ms | nodes | errors | others' cores |", "|---" * (len(PAGES) + 7) + "|"]
    for phase in [name for name, _ in shop.PHASES if name in runs[0]["phases"]]:
        for name, own in by(runs, "scheduler").items():
            of = [one["phases"][phase] for one in own]
            cells = [spread([one["pages"][page]["mean_ms"] for one in of if page in one["pages"]], 1) for page in PAGES]
            lines.append(f"| {phase} | {name} | {len(of)} | " + " | ".join(cells) + f" | {spread([one['edge_ms'] for one in of], 2)} | "
                         f"{spread([one['nodes'] for one in of], 1)} | {sum(one['errors'] for one in of)} | "
                         f"{statistics.mean(one['loading']['other_cores'] for one in of):.2f} |")
        (out / f"shop-{label}-{phase}.svg").write_text(chart.bars(f"{label}, {phase}: response times, ms", PAGES, {
            name: [[one["phases"][phase]["pages"][page]["mean_ms"] for one in own if page in one["phases"][phase]["pages"]] for page in PAGES]
            for name, own in by(runs, "scheduler").items()}))
    return [*lines, ""]


def redis_table(runs, label, out):
    operations = list(runs[0]["operations"])
    lines = [f"Redis Cluster, requests a second ({runs[-1]['requests']} of each operation)", "",
             "| scheduler | runs | " + " | ".join(operations) + " | p99 ms | edges ms | nodes | others' cores |", "|---" * (len(operations) + 6) + "|"]
    for name, own in by(runs, "scheduler").items():
        cells = [spread([one["operations"][operation]["requests_s"] for one in own]) for operation in operations]
        slow = [one["operations"][operation]["p99_ms"] for one in own for operation in operations]
        lines.append(f"| {name} | {len(own)} | " + " | ".join(cells) + f" | {statistics.mean(slow):.1f} | {spread([one['edge_ms'] for one in own], 2)} | "
                     f"{spread([one['nodes'] for one in own], 1)} | {statistics.mean(one['loading']['other_cores'] for one in own):.2f} |")
    (out / f"redis-{label}.svg").write_text(chart.bars(f"{label}: requests a second", operations, {
        name: [[one["operations"][operation]["requests_s"] for one in own] for operation in operations] for name, own in by(runs, "scheduler").items()}))
    return [*lines, ""]


def change_table(runs):
    """Each repetition against that of kube-scheduler, in percent: response times, the mean over pages, and requests a second."""
    def of(run):
        if run["application"] == "redis":
            return {f"Redis {name}": [one["requests_s"]] for name, one in run["operations"].items()}
        return {f"shop {phase}": [one["pages"][page]["mean_ms"] for page in PAGES] for phase, one in run["phases"].items()}
    base = {(one["set"], one["application"], one["number"]): of(one) for one in runs if one["scheduler"] == BASE}
    found, names = {}, [name for name in by(runs, "scheduler") if name != BASE]
    for one in runs:
        known = base.get((one["set"], one["application"], one["number"]))
        if not known or one["scheduler"] == BASE:
            continue
        for what, values in of(one).items():
            change = statistics.mean(100 * (value / other - 1) for value, other in zip(values, known[what]))
            found.setdefault((what, one["set"]), {}).setdefault(one["scheduler"], []).append(change)
    if not found:
        return []
    lines = [f"### Against {BASE}, repetition by repetition, %", "", "| what | delays | " + " | ".join(names) + " |", "|---" * (2 + len(names)) + "|"]
    for (what, label), values in sorted(found.items()):
        lines.append(f"| {what} | {label} | " + " | ".join(spread(values[name]) if name in values else "" for name in names) + " |")
    return [*lines, ""]


def scheduler_table(runs):
    """Table IX: a group placed for the first time, its start included, and the shop's replicas that came later."""
    lines = ["### What the schedulers took", "",
             "| scheduler | first placements: CPU s, with its start | later pods: CPU ms each | memory MB | peak MB |", "|---" * 5 + "|"]
    for name, own in by(runs, "scheduler").items():
        phases = [one["phases"] for one in own if one["application"] == "shop"]
        first = [one["placing"] for one in own if one["application"] == "redis"] + [one["Initial"]["placing"] for one in phases]
        later = [1000 * one["ScaleUp"]["placing"]["scheduler_cpu_s"] / (len(one["ScaleUp"]["placed"]) - len(one["Initial"]["placed"]))
                 for one in phases if "ScaleUp" in one]
        last = [one["ScaleUp"]["placing"] for one in phases if "ScaleUp" in one] or first
        lines.append(f"| {name} | {spread([one['scheduler_cpu_s'] for one in first], 2)} | {spread(later, 1) if later else ''} | "
                     f"{spread([one['scheduler_mb'] for one in last], 1)} | {max(one['scheduler_peak_mb'] for one in last):.1f} |")
    return [*lines, ""]
