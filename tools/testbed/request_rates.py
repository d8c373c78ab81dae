"""How many requests come when: made up, or out of a trace, as [(second, requests a second), …]."""
import datetime
import math
import pathlib
import random
import subprocess

from kube import Trouble

STEP = 5  # seconds between two rates that are made up


def made_up(seconds, peak, seed):
    """Thirds: a slow rise, a quick rise and fall, and a restless end."""
    dice, rates, level = random.Random(f"scaling {seed}"), [], 0.5
    for second in range(0, int(seconds), STEP):
        part = 3 * second / seconds
        if part < 1:
            share = 0.15 + 0.45 * part
        elif part < 2:
            share = 0.2 + 0.8 * math.exp(-((part - 1.5) / 0.18) ** 2)
        else:
            level = min(0.95, max(0.15, level + dice.gauss(0, 0.12)))
            share = level
        rates.append((second, peak * share))
    return rates


def of_trace(path, begin, compress, seconds, peak):
    """A piece of a CSV whose first columns are a time (seconds, or a date of one minute) and the requests of each second, or of
    that minute; the highest rate of the piece becomes `peak`. Files that end in .zst are unpacked by zstd."""
    text = (subprocess.run(["zstd", "-dc", path], check=True, capture_output=True, text=True).stdout if path.endswith(".zst")
            else pathlib.Path(path).read_text())
    rows = [line.split(",")[:2] for line in text.splitlines() if line[:1].isdigit()]
    first = next((i for i, row in enumerate(rows) if row[0] >= begin), len(rows)) if begin else 0
    start, rates = None, []
    for at, requests in rows[first:]:
        second = seconds_of(at)
        start = second if start is None else start
        if (second - start) / compress >= seconds:
            break
        rates.append(((second - start) / compress, float(requests)))
    highest = max((rate for _, rate in rates), default=0)
    if highest <= 0:
        raise Trouble(f"{path}: no requests from {begin or 'its beginning'} on")
    return [(at, rate * peak / highest) for at, rate in rates]


def seconds_of(text):
    return datetime.datetime.fromisoformat(text).timestamp() if "T" in text else float(text)
