"""Results of experiments: kept as JSON, run by run, and shown as a table with the spread over seeds."""
import json
import statistics

COLUMNS = [("imbalance", "imbalance", 3, 1), ("imbalance_of_means", "of means", 3, 1), ("utilization", "utilisation %", 1, 100),
           ("makespan_s", "makespan s", 0, 1), ("response_s_mean", "response s", 1, 1), ("response_s_p95", "p95 s", 1, 1),
           ("created_to_bound_ms_mean", "bound after ms", 0, 1), ("scheduler_cpu_ms_per_pod", "scheduler CPU ms/pod", 1, 1),
           ("moves", "moves", 1, 1), ("other_cores", "others' cores", 2, 1)]


def load(out):
    path = out / "results.json"
    return json.loads(path.read_text()) if path.exists() else {"runs": []}


def add(out, run):
    """A run made again replaces the old one."""
    kept = load(out)
    same = ("workload", "scheduler", "seed", "monitored")
    kept["runs"] = [one for one in kept["runs"] if any(one[key] != run[key] for key in same)] + [run]
    partial = out / "results.partial"
    partial.write_text(json.dumps(kept))
    partial.replace(out / "results.json")


def table(out):
    """Markdown: a table for each workload, mean and standard deviation over seeds."""
    runs, lines = load(out)["runs"], []
    for workload in dict.fromkeys(one["workload"] for one in runs):
        of_workload = [one for one in runs if one["workload"] == workload]
        lines += [f"**{of_workload[0]['what']}**, {of_workload[0]['pods']} pods", "",
                  "| scheduler | seeds | " + " | ".join(title for _, title, *_ in COLUMNS) + " |", "|---" * (len(COLUMNS) + 2) + "|"]
        for name, monitored in dict.fromkeys((one["scheduler"], one["monitored"]) for one in of_workload):
            same = [one for one in of_workload if (one["scheduler"], one["monitored"]) == (name, monitored)]
            cells = [shown([one[key] * factor for one in same if key in one], digits) for key, _, digits, factor in COLUMNS]
            title = name if monitored or name == "kube-scheduler" else f"{name} (no monitors)"
            lines.append(f"| {title} | {len(same)} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def shown(values, digits):
    if not values:
        return ""
    text = f"{statistics.mean(values):.{digits}f}"
    return text + (f"±{statistics.stdev(values):.{digits}f}" if len(values) > 1 else "")
