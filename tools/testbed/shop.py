"""The eleven-service shop (images/shop.cpp) on a testbed, and people who visit it."""
import http.client
import statistics
import threading
import time

import groups
from kube import Trouble, wait_until

GROUP, PORT, CPU = "shop", 8080, "20m"
NAMES = ["frontend", "cart", "catalog", "currency", "payment", "shipping", "email", "checkout", "recommendation", "ad", "redis"]
EDGES = [("frontend", "ad"), ("frontend", "cart"), ("frontend", "checkout"), ("frontend", "currency"), ("frontend", "catalog"),
         ("frontend", "recommendation"), ("frontend", "shipping"), ("cart", "redis"), ("checkout", "cart"), ("checkout", "currency"),
         ("checkout", "email"), ("checkout", "payment"), ("checkout", "catalog"), ("checkout", "shipping"), ("recommendation", "catalog")]
PAGES = [("GET", "/"), ("GET", "/cart"), ("POST", "/cart/checkout"), ("POST", "/setCurrency")]
PHASES = [("Initial", 1), ("ScaleUp", 4), ("ScaleDown", 2)]
GAVE_UP_S = 20


def deployments(scheduler, names=NAMES, cpu=CPU):
    return [groups.deployment(GROUP, name, 1, "shop", ["--service", name], scheduler, cpu, memory="32Mi") for name in names]


def introduce(pods):
    """Tells every one where the others are: a Service's endpoints, without kube-proxy."""
    served = {}
    for pod in pods:
        served.setdefault(groups.part_of(pod), []).append(f"{pod['status']['podIP']}:{PORT}")
    text = "".join(f"{name} {' '.join(sorted(addresses))}\n" for name, addresses in sorted(served.items()))
    for pod in pods:
        wait_until(lambda one=pod: ask(one["status"]["podIP"], "POST", "/targets", text), f"{pod['metadata']['name']} to listen", 60)


def ask(address, method, path, body=None):
    link = http.client.HTTPConnection(address, PORT, timeout=GAVE_UP_S)
    try:
        link.request(method, path, body)
        return link.getresponse().status == 200
    except OSError:
        return False
    finally:
        link.close()


class Visitor(threading.Thread):
    """Asks for one page after the other, in turn, on connections that stay open; notes how long each took."""

    def __init__(self, addresses, number, end, pause):
        super().__init__(daemon=True)
        self.links = [http.client.HTTPConnection(one, PORT, timeout=GAVE_UP_S) for one in addresses]
        self.number, self.end, self.pause, self.took, self.errors = number, end, pause, [], 0

    def run(self):
        turn = self.number
        while time.monotonic() < self.end:
            method, path = PAGES[turn % len(PAGES)]
            link = self.links[turn // len(PAGES) % len(self.links)]
            began = time.monotonic()
            good = self.request(link, method, path)
            if path == "/setCurrency":  # it answers with a redirection
                good = good and self.request(link, "GET", "/")
            if good:
                self.took.append((f"{method} {path}", 1000 * (time.monotonic() - began)))
            else:
                self.errors += 1
            turn += 1
            time.sleep(self.pause)
        for link in self.links:
            link.close()

    @staticmethod
    def request(link, method, path):
        try:
            link.request(method, path)
            answer = link.getresponse()
            answer.read()
            return answer.status == 200
        except (OSError, http.client.HTTPException):
            link.close()
            return False


def visit(pods, seconds, visitors=3, pause=0.05):
    """{page: figures of its response times in ms}, and how many requests failed."""
    fronts = sorted(pod["status"]["podIP"] for pod in pods if groups.part_of(pod) == "frontend")
    for address in fronts:  # open connections behind every page
        for method, path in PAGES:
            if not ask(address, method, path):
                raise Trouble(f"{method} {path} at {address}: no good answer")
    end = time.monotonic() + seconds
    people = [Visitor(fronts, number, end, pause) for number in range(visitors)]
    for one in people:
        one.start()
    for one in people:
        one.join()
    took = {}
    for page, ms in (entry for one in people for entry in one.took):
        took.setdefault(page, []).append(ms)
    return {page: figures(values) for page, values in took.items()}, sum(one.errors for one in people)


def figures(values):
    ordered = sorted(values)
    return {"requests": len(ordered), "mean_ms": statistics.mean(ordered), "median_ms": ordered[len(ordered) // 2],
            "p95_ms": ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]}
