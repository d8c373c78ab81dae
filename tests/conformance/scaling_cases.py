"""Workloads to be scaled, made from a seed: pods in every state, metrics of every kind, and time that passes."""
import random

RESOURCES = {"cpu": 500, "memory": 200_000_000_000}  # thousandths that a pod may request
CONTAINERS = ["app", "side"]


def quantity(thousandths):
    return f"{thousandths}m"


def metrics(rng, from_zero):
    """Up to three; a list of (name for the judge, MetricSpec, kind, what one pod or the whole is to come to)."""
    kinds = ["resource"] * 5 + ["container"] * 2 + ["pods"] * 2 + ["object"] * 2 + ["external"] * 2
    chosen = {}
    for i in range(rng.choice([1, 1, 1, 2, 2, 3])):
        kind = rng.choice(["object", "external"]) if from_zero and i == 0 else rng.choice(kinds)
        if kind in ("resource", "container"):
            resource = rng.choice(["cpu", "cpu", "memory"])
            container = rng.choice(CONTAINERS) if kind == "container" else ""
            name = f"{resource}/{container}"
            if rng.random() < 0.7:
                target = {"type": "Utilization", "averageUtilization": rng.choice([1, 25, 50, 70, 80, 100, 150, rng.randint(5, 200)])}
            else:
                target = {"type": "AverageValue", "averageValue": quantity(rng.randint(1, RESOURCES[resource]))}
            source = {"name": resource, "target": target}
            if container:
                source["container"] = container
            spec = {"type": "ContainerResource" if container else "Resource",
                    "containerResource" if container else "resource": source}
        else:
            name = f"m{i}"
            amount = quantity(rng.choice([1, 1000, rng.randint(1, 100_000)]))
            per_pod = kind == "pods" or rng.random() < 0.5
            target = {"type": "AverageValue", "averageValue": amount} if per_pod else {"type": "Value", "value": amount}
            source = {"metric": {"name": name}, "target": target}
            if kind == "object":
                source["describedObject"] = {"apiVersion": "v1", "kind": "Service", "name": "s"}
            spec = {"type": kind.capitalize(), kind: source}
        chosen.setdefault(name, (name, spec, kind))
    return list(chosen.values())


def rules(rng, up):
    given = {}
    if rng.random() < 0.7:
        given["policies"] = [{"type": rng.choice(["Pods", "Percent"]), "value": rng.choice([1, 2, 4, 10, 50, 100, 200, rng.randint(1, 300)]),
                              "periodSeconds": rng.choice([1, 15, 30, 60, 120, 300, 1800])} for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.5:
        given["selectPolicy"] = rng.choice(["Max", "Max", "Min", "Min", "Disabled"])
    if rng.random() < 0.6:
        given["stabilizationWindowSeconds"] = rng.choice([0, 15, 30, 60, 300, 600])
    if rng.random() < 0.3:
        given["tolerance"] = quantity(rng.choice([0, 10, 35, 50, 100, 200, 500]))
    return given


def spec(rng, from_zero):
    least = 0 if from_zero else rng.choice([1, 1, 1, 2, 3, 5])
    chosen = metrics(rng, from_zero)
    made = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "minReplicas": least,
            "maxReplicas": least + rng.choice([0, 1, 5, 10, 30, 100]) or 1, "metrics": [m[1] for m in chosen]}
    if rng.random() < 0.6:
        made["behavior"] = {direction: rules(rng, direction == "scaleUp") for direction in ("scaleUp", "scaleDown") if rng.random() < 0.8}
    return made, chosen


def target_of(metric):
    """Thousandths, or a share of the request."""
    source = next(value for key, value in metric[1].items() if key != "type")["target"]
    if "averageUtilization" in source:
        return source["averageUtilization"] / 100, True
    return int((source.get("averageValue") or source["value"])[:-1]), False


RATIOS = [0, 0.5, 0.89, 0.9, 0.91, 0.99, 1, 1.01, 1.09, 1.1, 1.11, 1.2, 2, 5]


def ratio(rng):
    return rng.choice(RATIOS) if rng.random() < 0.4 else rng.uniform(0, 2.5)


def pod(rng, number, mood, requests, chosen, load):
    made = {"name": f"p{number}", "phase": "Running", "leaves": False, "ready": True, "containers": requests}
    started = rng.choice([10, 29, 30, 31, 120, 299, 300, 301, 1000, rng.randint(1, 2000)])
    made["started"], made["changed"] = started, rng.randint(0, started)
    made["changed"] = rng.choice([made["changed"], max(0, started - 30), max(0, started - 29), 0, 15, 30])
    if rng.random() < mood["odd"]:
        made["phase"] = rng.choice(["Pending", "Running", "Failed", "Succeeded"])
        made["leaves"] = rng.random() < 0.2
        made["ready"] = rng.choice([True, False, False, None])
        if rng.random() < 0.2:
            made["started"] = None
    made["samples"] = []
    for name, _, kind in chosen:
        if kind in ("object", "external") or rng.random() < mood["missing"]:
            made["samples"].append(None)
            continue
        target, share = target_of(metric := next(m for m in chosen if m[0] == name))
        of = request_of(requests, name) or 100 if share else 1
        value = round(target * of * load[metric[0]] * (rng.uniform(0.5, 1.5) if mood["uneven"] else 1))
        made["samples"].append({"value": value, "age": rng.choice([0, 5, 10, 15, 30, 45]), "window": rng.choice([0, 10, 15, 30, 60])})
    return made


def request_of(requests, name):
    """What a metric is a share of: the container's, or all containers'; 0 where one has none."""
    resource, _, container = name.partition("/")
    amounts = [requests[c].get(resource, 0) for c in requests if not container or c == container]
    return sum(amounts) if amounts and all(amounts) else 0


def tick(rng, chosen, mood, replicas, requests):
    load = {m[0]: ratio(rng) for m in chosen}
    count = max(0, replicas + rng.choice([0, 0, 0, 0, -1, 1, 3]))
    made = {"after": rng.choice([1, 5, 15, 15, 15, 15, 30, 60, 299, 300, 301, 700]), "names": [m[0] for m in chosen],
            "pods": [pod(rng, n, mood, requests, chosen, load) for n in range(count)]}
    made["amounts"] = [round(target_of(m)[0] * load[m[0]] * rng.choice([1, max(replicas, 1)])) if m[2] in ("object", "external") and rng.random() >= mood["missing"]
                       else None for m in chosen]
    # What ours is told in the order of the metrics.
    made["requests"] = [request_of(requests, m[0]) if "/" in m[0] else 0 for m in chosen]
    if rng.random() < 0.2:
        made["status"] = max(0, replicas + rng.choice([-1, 1, 2]))
    return made


def make(seed, number):
    rng = random.Random(f"{seed}/{number}")
    from_zero = rng.random() < 0.1
    given, chosen = spec(rng, from_zero)
    mood = {"odd": rng.choice([0, 0, 0.2, 0.6]), "missing": rng.choice([0, 0, 0.2, 0.6]), "uneven": rng.random() < 0.5}
    requests = {c: {r: rng.choice([100, 250, most // 2, rng.randint(1, most)]) for r, most in RESOURCES.items()} for c in CONTAINERS}
    if rng.random() < 0.03:
        del requests[rng.choice(CONTAINERS)][rng.choice(list(RESOURCES))]
    replicas = rng.choice([0, 1, 1, 2, 3, 5, 10, 20, given["maxReplicas"]]) if rng.random() < 0.9 else given["maxReplicas"] + 3
    case = {"id": number, "replicas": replicas, "ticks": []}
    ticks = 1 if rng.random() < 0.6 else rng.randint(5, 40)
    for n in range(ticks):
        made = tick(rng, chosen, mood, replicas if n == 0 else rng.randint(1, min(40, given["maxReplicas"] + 2)), requests)
        made["follow"] = rng.random() < 0.5
        if n == 0:
            made["spec"] = given
        else:
            if rng.random() < 0.03:
                again, _ = spec(rng, given["minReplicas"] == 0)
                made["spec"] = {**again, "metrics": given["metrics"]}
                if rng.random() < 0.3:
                    made["spec"]["minReplicas"] = given["minReplicas"]
            if rng.random() < 0.05:
                made["replicas"] = rng.choice([0, 1, 3, 8, 25])
            made["refuse"] = rng.random() < 0.05
        case["ticks"].append(made)
    return case
