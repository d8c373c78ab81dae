"""The link emulator between real network namespaces: delays, rates, loss, changes while it runs, and what it costs when idle.

  python3 tests/testbed/links_test.py build/release/evenkeel_links [unittest arguments]

Exit code 77 says that this machine cannot have TAP devices and namespaces, and why.
"""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77
PATIENCE = int(os.environ.get("EVENKEEL_TEST_PATIENCE", "60"))  # seconds for a condition, on a machine that may be busy
NAMES = ["a", "b", "c"]
SPACES = {name: f"evenkeel-links-{name}" for name in ["switch", *NAMES]}
ADDRESS = {name: f"10.213.7.{number}" for number, name in enumerate(NAMES, 1)}
ECHO, SINK = 20101, 20102
LINKS = ""


def ip(*arguments, check=True):
    return subprocess.run(["ip", *arguments], check=check, capture_output=True, text=True)


def inside(name, *arguments, **options):
    """This file's own parts, below, in an endpoint's namespace."""
    return subprocess.Popen(["nsenter", f"--net=/run/netns/{SPACES[name]}", sys.executable, __file__, *map(str, arguments)],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, **options)


# Parts that run in namespaces.

def echo():
    """Answers datagrams."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("", ECHO))
    print("ready", flush=True)
    while True:
        data, sender = server.recvfrom(2048)
        server.sendto(data, sender)


def ping(address, count):
    """Round trips in milliseconds; null: lost."""
    client, took = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), []
    client.settimeout(1.0)
    for number in range(int(count)):
        began = time.monotonic()
        client.sendto(str(number).encode(), (address, ECHO))
        try:
            while client.recv(2048) != str(number).encode():
                pass  # late answer to an earlier one
            took.append(1000 * (time.monotonic() - began))
        except TimeoutError:
            took.append(None)
    print(json.dumps(took))


def sink():
    """Bits a second of the next stream, without its first second, in which it finds its pace."""
    server = socket.create_server(("", SINK))
    print("ready", flush=True)
    stream, _ = server.accept()
    began, first, total = time.monotonic(), None, 0
    while data := stream.recv(1 << 16):
        now = time.monotonic()
        if now - began < 1:
            continue
        if first is None:
            first = now
            continue
        total, last = total + len(data), now
    print(8 * total / (last - first))


def blast(address, seconds):
    stream, end = socket.create_connection((address, SINK), timeout=10), time.monotonic() + float(seconds)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
    while time.monotonic() < end:
        stream.sendall(b"\0" * (1 << 14))


class Wires(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for space in SPACES.values():
            ip("netns", "add", space)
            cls.addClassCleanup(ip, "netns", "delete", space, check=False)
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="evenkeel-links-"))
        cls.matrix = pathlib.Path(folder, "links.csv")
        cls.write("")
        cls.log = open(pathlib.Path(folder, "log"), "w+")
        cls.addClassCleanup(cls.log.close)
        cls.links = subprocess.Popen(["nsenter", f"--net=/run/netns/{SPACES['switch']}", LINKS, cls.matrix, *NAMES],
                                     stdout=cls.log, stderr=cls.log)
        cls.addClassCleanup(lambda: (cls.links.kill(), cls.links.wait()))
        cls.until(lambda: "ready" in cls.said(), "the emulator")
        for name in NAMES:
            space, device = SPACES[name], f"tap-{name}"
            ip("-n", SPACES["switch"], "link", "set", device, "netns", space)
            ip("-n", space, "address", "add", f"{ADDRESS[name]}/24", "dev", device)
            ip("-n", space, "link", "set", device, "up")
            server = inside(name, "echo")
            cls.addClassCleanup(lambda one=server: (one.kill(), one.wait(), one.stdout.close()))
            server.stdout.readline()

    @classmethod
    def write(cls, text):
        cls.matrix.write_text("from,to,delay_ms,rate_mbit,jitter_ms,loss_percent\n" + text)

    @classmethod
    def said(cls):
        return pathlib.Path(cls.log.name).read_text()

    @staticmethod
    def until(condition, what, pause=0.02):
        end = time.monotonic() + PATIENCE
        while not (value := condition()):
            if time.monotonic() > end:
                raise AssertionError(f"waited {PATIENCE} s for {what}")
            time.sleep(pause)
        return value

    def change(self, text, expected="read"):
        before = self.said().count(expected)
        self.write(text)
        self.links.send_signal(signal.SIGHUP)
        self.until(lambda: self.said().count(expected) > before, f"'{expected}'")

    def round_trips(self, origin, destination, count=20):
        client = inside(origin, "ping", ADDRESS[destination], count)
        return json.loads(client.communicate(timeout=PATIENCE)[0])

    def rate(self, origin, destination, seconds=3):
        server = inside(destination, "sink")
        server.stdout.readline()
        client = inside(origin, "blast", ADDRESS[destination], seconds)
        client.communicate(timeout=PATIENCE)
        return float(server.communicate(timeout=PATIENCE)[0])

    def assert_round_trip(self, origin, destination, expected):
        """Never shorter; and as short as that once the machine gives the emulator its turn."""
        slack = max(0.1 * expected, 0.5)

        def holds():
            took = [one for one in self.round_trips(origin, destination) if one is not None]
            self.assertGreaterEqual(min(took), expected)
            return min(took) <= expected + slack and took
        took = self.until(holds, f"{expected} ms from {origin} to {destination} and back")
        print(f"[{origin}-{destination} {expected} ms: {min(took):.2f}, median {sorted(took)[len(took) // 2]:.2f}] ", end="",
              file=sys.stderr, flush=True)

    def test_1_round_trips_take_what_both_directions_say(self):
        self.change("a,b,5,,,\nb,a,5,,,\na,c,25,,,\nc,a,5,,,\nb,c,0.5,,,\nc,b,0.5,,,\n")
        self.assert_round_trip("a", "b", 10)
        self.assert_round_trip("a", "c", 30)
        self.assert_round_trip("c", "a", 30)
        self.assert_round_trip("b", "c", 1)

    def test_2_a_hangup_changes_delays_and_a_bad_file_changes_nothing(self):
        self.change("a,b,2,,,\nb,a,2,,,\n")
        self.assert_round_trip("a", "b", 4)
        self.assert_round_trip("a", "c", 0)
        self.change("a,nobody,7,,,\n", expected="kept")
        self.assertIn("is no endpoint", self.said())
        self.assert_round_trip("a", "b", 4)

    def test_3_a_stream_gets_the_rate_of_its_link_and_no_more(self):
        for limit in (10, 50):
            self.change(f"a,b,1,{limit},,\nb,a,1,,,\n")

            def holds():
                found = self.rate("a", "b") / 1e6
                self.assertLess(found, 1.05 * limit)
                print(f"[{limit} Mbit/s: {found:.1f}] ", end="", file=sys.stderr, flush=True)
                return found > 0.85 * limit
            self.until(holds, f"{limit} Mbit/s")

    def test_4_loss_loses_and_jitter_delays(self):
        self.change("a,b,0,,,30\n")
        took = self.round_trips("a", "b", 60)
        self.assertTrue(3 <= took.count(None) <= 40, took)
        self.change("a,b,1,,20,\n")
        took = [one for one in self.round_trips("a", "b", 60) if one is not None]
        self.assertGreater(max(took) - min(took), 5)
        self.assertGreaterEqual(min(took), 1)

    def test_5_idle_it_costs_nothing(self):
        self.change("a,b,5,,,\nb,a,5,,,\n")

        def used():
            fields = pathlib.Path(f"/proc/{self.links.pid}/stat").read_text().rpartition(")")[2].split()
            return int(fields[11]) + int(fields[12])

        def holds():
            before = used()
            time.sleep(3)
            return used() - before <= 1  # hundredths of a second
        self.until(holds, "three seconds without work")

    def test_6_it_ends_when_told_to_and_its_devices_with_it(self):
        self.links.terminate()
        self.assertEqual(self.links.wait(PATIENCE), 0)
        self.assertNotIn("tap-a", ip("-n", SPACES["a"], "link").stdout)


def obstacle():
    if os.geteuid() != 0:
        return "it needs root: it makes network namespaces and devices"
    try:
        open("/dev/net/tun", "rb+", buffering=0).close()
    except OSError as error:
        return f"no TAP devices: {error}"
    made = ip("netns", "add", SPACES["switch"], check=False)
    if made.returncode == 0:
        made = ip("-n", SPACES["switch"], "tuntap", "add", "tap-x", "mode", "tap", check=False)
        ip("netns", "delete", SPACES["switch"])
    return made.stderr.strip() if made.returncode else None


def main():
    global LINKS
    parts = {"echo": echo, "ping": ping, "sink": sink, "blast": blast}
    if sys.argv[1:2] and sys.argv[1] in parts:
        return parts[sys.argv[1]](*sys.argv[2:])
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} LINKS [unittest arguments]")
    LINKS = str(pathlib.Path(sys.argv.pop(1)).resolve())
    reason = obstacle()
    if reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return SKIPPED
    return 0 if unittest.main(module="__main__", verbosity=2, exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
