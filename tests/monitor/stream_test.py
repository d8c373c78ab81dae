#!/usr/bin/env python3
"""Monitors and a receiver as processes, and what becomes of them when things go wrong.

  stream_test.py EVENKEEL REPORT_LISTENER [unittest arguments]
"""
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from authority import Authority  # noqa: E402

EVENKEEL, LISTENER = (sys.argv.pop(1), sys.argv.pop(1)) if len(sys.argv) > 2 else ("", "")
PATIENCE = 60


class Listener:
    def __init__(self, files, authority, address="127.0.0.1:0"):
        self.process = subprocess.Popen([LISTENER, address, *map(str, files), str(authority)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        first = self.process.stdout.readline()
        self.address = json.loads(first)["address"] if first else None
        self.counts, self.reports = {}, []
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.process.stdout:
            said = json.loads(line)
            self.counts = said["counts"]
            self.reports += [(time.monotonic(), one) for one in said["reports"]]

    def stop(self):
        self.process.kill()
        self.process.wait()


class Faults(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="evenkeel-stream-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.authority = Authority(self.folder / "authority")
        self.server = self.authority.issue("server", "evenkeel", "subjectAltName=IP:127.0.0.1")
        self.listener = self.listen()

    def listen(self, address="127.0.0.1:0"):
        listener = Listener(self.server, self.authority.pem, address)
        self.addCleanup(listener.stop)
        return listener

    def monitor(self, node="n1", files=None, *more, interval="100ms"):
        certificate, key = files or self.authority.issue(node, f"evenkeel:monitor:{node}")
        log = (self.folder / "log").open("a")
        self.addCleanup(log.close)
        process = subprocess.Popen([EVENKEEL, "monitor", "--node", node, "--to", self.listener.address, "--cert",
                                    str(certificate), "--key", str(key), "--ca", str(self.authority.pem),
                                    "--interval", interval, *more], stderr=log)
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.wait()))
        return process

    def wait_until(self, holds, what):
        end = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > end:
                log = (self.folder / "log").read_text() if (self.folder / "log").exists() else ""
                self.fail(f"not within {PATIENCE} s: {what}; counts {self.listener.counts}\n{log}")
            time.sleep(0.02)

    def wait_for_reports(self, count=3):
        before = len(self.listener.reports)
        self.wait_until(lambda: len(self.listener.reports) >= before + count, f"{count} more reports")

    def test_reports_arrive_fresh(self):
        self.monitor()
        self.wait_for_reports(10)
        self.assertTrue(all(one["node"] == "n1" and one["age"] < 1 for _, one in self.listener.reports))

    def test_a_monitor_that_was_killed_begins_anew(self):
        first = self.monitor()
        self.wait_for_reports()
        first.kill()
        first.wait()
        self.wait_until(lambda: self.listener.counts["connections"] == 0, "its connection is seen to be gone")
        self.monitor()
        self.wait_for_reports()
        self.assertEqual(self.listener.counts["out_of_sequence"], 0)

    def test_a_monitor_that_was_paused_goes_on_with_fresh_samples(self):
        process = self.monitor()
        self.wait_for_reports()
        process.send_signal(signal.SIGSTOP)
        time.sleep(3)
        silent_since = len(self.listener.reports)
        process.send_signal(signal.SIGCONT)
        self.wait_for_reports(5)
        # At most one sample was on its way when it was stopped, and it is as old as it is.
        old = [one for _, one in self.listener.reports[silent_since:] if one["age"] > 2]
        self.assertLessEqual(len(old), 1)
        self.assertLess(self.listener.reports[-1][1]["age"], 1)

    def test_a_connection_that_was_cut_is_made_again(self):
        self.monitor()
        self.wait_for_reports()
        address = self.listener.address
        self.listener.stop()
        time.sleep(1)
        self.listener = self.listen(address)
        self.wait_for_reports()
        self.assertLess(self.listener.reports[0][1]["age"], 1)

    def test_a_receiver_that_was_paused_gets_news_and_no_history(self):
        self.monitor()
        self.wait_for_reports()
        self.listener.process.send_signal(signal.SIGSTOP)
        time.sleep(3)
        self.listener.process.send_signal(signal.SIGCONT)
        self.wait_for_reports(5)
        self.assertLess(self.listener.reports[-1][1]["age"], 1)

    def test_wrong_certificates_are_refused_and_counted(self):
        stranger = Authority(self.folder / "stranger")
        self.monitor("n1", stranger.issue("n1", "evenkeel:monitor:n1"))
        self.wait_until(lambda: self.listener.counts.get("refused_unauthenticated", 0) >= 1, "it is counted")
        before = self.listener.counts["refused_unauthenticated"]
        self.monitor("n2", self.authority.issue("other", "system:node:n2"))
        self.wait_until(lambda: self.listener.counts["refused_unauthenticated"] > before, "it is counted")
        self.assertEqual(self.listener.reports, [])

    def test_a_monitor_may_not_speak_of_another_node(self):
        self.monitor("n2", self.authority.issue("n1", "evenkeel:monitor:n1"))
        self.wait_until(lambda: self.listener.counts.get("refused_wrong_node", 0) >= 1, "it is counted")
        self.assertEqual(self.listener.reports, [])

    def test_told_to_stop_it_ends_at_once_and_well(self):
        process = self.monitor(interval="60s")
        time.sleep(1)
        begin = time.monotonic()
        process.terminate()
        self.assertEqual(process.wait(20), 0)
        self.assertLess(time.monotonic() - begin, 5)

    def test_metrics_are_for_who_may_see_them(self):
        token = self.folder / "token"
        token.write_text("secret\n")
        self.monitor("n1", None, "--listen", "127.0.0.1:29469", "--listen-token-file", str(token))
        self.wait_for_reports()

        def ask(path, **headers):
            try:
                request = urllib.request.Request("http://127.0.0.1:29469" + path, headers=headers)
                with urllib.request.urlopen(request, timeout=10) as answer:
                    return answer.status, answer.read().decode()
            except urllib.error.HTTPError as error:
                return error.code, ""

        self.assertEqual(ask("/metrics")[0], 401)
        self.assertEqual(ask("/healthz")[0], 200)
        code, text = ask("/metrics", Authorization="Bearer secret")
        self.assertEqual(code, 200)
        self.assertIn("\nevenkeel_monitor_connected 1\n", text)
        self.assertIn("\nevenkeel_node_cpu_cores ", text)


if __name__ == "__main__":
    unittest.main()
