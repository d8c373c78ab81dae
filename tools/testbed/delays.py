"""How far apart nodes are: where each of them is, and what it takes to get from place to place.

A place is REGION/ZONE. Delays come from a CSV file of round trips between regions or zones, in milliseconds, or are made up:

  src,dst,rtt_avg_ms                       between regions, or between zones by name (any other columns are left alone)
  region,src_zone,dst_zone,rtt_avg_ms      between zones of a region; several rows of a pair: their median counts

One way is half a round trip. Of directions that a file lacks the other one counts; of places within a region or a zone
that it lacks, the defaults below. Between regions nothing is guessed.
"""
import csv
import dataclasses
import random
import re
import statistics

from emulator import Row
from kube import Trouble

SAME_ZONE_MS, OTHER_ZONE_MS = 0.2, 2.0  # round trips, where nothing else is known
COST_MS = 0.1  # of round trip: one unit of cost
REGION, ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"


@dataclasses.dataclass(frozen=True)
class Place:
    region: str
    zone: str

    @property
    def labels(self):
        return {REGION: self.region, ZONE: self.zone}


def label(text):
    """Names of places must be values of labels."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-_.")


def read_places(text):
    """'eu/a,eu/b,us/c'; one for each node."""
    places = []
    for one in text.split(","):
        region, slash, zone = one.partition("/")
        if not slash or not label(region) or not label(zone):
            raise Trouble(f"'{one}' is no place; REGION/ZONE is")
        places.append(Place(label(region), label(zone)))
    return places


def read_round_trips(path):
    """{(origin, destination): ms}"""
    found = {}
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        columns = set(reader.fieldnames or [])
        ends = next((one for one in (("src", "dst"), ("src_zone", "dst_zone")) if set(one) <= columns), None)
        if not ends or "rtt_avg_ms" not in columns:
            raise Trouble(f"{path}: columns src and dst, or src_zone and dst_zone, and rtt_avg_ms are needed")
        for row in reader:
            try:
                took = float(row["rtt_avg_ms"])
            except ValueError:
                continue  # a measurement that failed
            found.setdefault((label(row[ends[0]]), label(row[ends[1]])), []).append(took)
    return {pair: statistics.median(values) for pair, values in found.items()}


def make_up(places, seed=1):
    """The same shape as measured ones: 0.2 ms within a zone, 1 to 3 ms within a region, 20 to 120 ms beyond."""
    draw, found = random.Random(seed), {}
    for a in sorted({one.zone for one in places}):
        for b in sorted({one.zone for one in places}):
            found[a, b] = found.get((b, a)) or (SAME_ZONE_MS if a == b else round(draw.uniform(1, 3), 2))
    for a in sorted({one.region for one in places}):
        for b in sorted({one.region for one in places}):
            if a != b:
                found[a, b] = found.get((b, a)) or round(draw.uniform(20, 120), 1)
    return found


def round_trip(table, a, b):
    """Milliseconds from place to place."""
    def known(origin, destination):
        return table.get((origin, destination), table.get((destination, origin)))
    if a == b:
        return next((one for one in (known(a.zone, a.zone), known(a.region, a.region)) if one is not None), SAME_ZONE_MS)
    if a.region == b.region:
        found = known(a.zone, b.zone)
        return OTHER_ZONE_MS if found is None else found
    found = known(a.region, b.region)
    if found is None:
        raise Trouble(f"nothing is known of the way from {a.region} to {b.region}")
    return found


def rows(places, table, rate_mbit=0):
    """For the emulator. The machine itself, with the control plane and whoever asks from outside, is near to every node."""
    return [Row(f"node{i}", f"node{j}", round(round_trip(table, a, b) / 2, 4), rate_mbit)
            for i, a in enumerate(places, 1) for j, b in enumerate(places, 1) if i != j]


def costs(places, table):
    """NetworkTopology's weights, which have whole numbers, the least being 1."""
    def level(key, of):
        names = sorted({of(one) for one in places})
        origins = []
        for name in names:
            origin = next(one for one in places if of(one) == name)
            costs_from = []
            for other in names:
                destination = next(one for one in places if of(one) == other)
                if other != name and (key == REGION or origin.region == destination.region):
                    costs_from.append({"destination": other,
                                       "networkCost": max(1, round(round_trip(table, origin, destination) / COST_MS))})
            origins.append({"origin": name, "costList": costs_from})
        return {"topologyKey": key, "originList": origins}
    return [{"name": "UserDefined", "topologyList": [level(REGION, lambda one: one.region), level(ZONE, lambda one: one.zone)]}]


def topology(places, table, name="nt-default"):
    return {"apiVersion": "networktopology.diktyo.x-k8s.io/v1alpha1", "kind": "NetworkTopology", "metadata": {"name": name},
            "spec": {"configmapName": "netperf-metrics", "weights": costs(places, table)}}
