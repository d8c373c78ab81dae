"""Network namespaces joined by a switch, for tests; each with a way to an API server that listens on loopback."""
import ctypes
import os
import socket
import subprocess
import threading

CLONE_NEWNET = 0x40000000


class CannotBeMade(Exception):
    """Why not."""


def ip(*arguments):
    done = subprocess.run(["ip", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise CannotBeMade(f"ip {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout


class Wires:
    """Namespaces `names`, each with eth0 at 198.18.7.N; remove() takes all of it away."""

    def __init__(self, names):
        self.prefix = f"np{os.getpid()}"
        self.names = list(names)
        self.listeners = []
        try:
            ip("netns", "add", self.space("switch"))
            ip("-n", self.space("switch"), "link", "add", "switch", "type", "bridge")
            ip("-n", self.space("switch"), "link", "set", "switch", "up")
            for number, name in enumerate(self.names):
                ip("netns", "add", self.space(name))
                ip("-n", self.space(name), "link", "set", "lo", "up")
                ip("-n", self.space(name), "link", "add", "eth0", "type", "veth", "peer", "name", f"port{number}",
                   "netns", self.space("switch"))
                ip("-n", self.space("switch"), "link", "set", f"port{number}", "master", "switch", "up")
                ip("-n", self.space(name), "addr", "add", f"{self.address(name)}/24", "dev", "eth0")
                ip("-n", self.space(name), "link", "set", "eth0", "up")
        except (OSError, CannotBeMade):
            self.remove()
            raise

    def space(self, name):
        return f"{self.prefix}-{name}"

    def address(self, name):
        return f"198.18.7.{1 + self.names.index(name)}"

    def slow_down(self, name, rate):
        """What leaves it is held to a rate: 20mbit."""
        done = subprocess.run(["tc", "-n", self.space(name), "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", rate,
                               "burst", "32kb", "latency", "100ms"], capture_output=True, text=True)
        if done.returncode != 0:
            raise CannotBeMade(f"tc: {done.stderr.strip()}")

    def enter(self, name):
        """Words before a command that is to run there."""
        return ["ip", "netns", "exec", self.space(name)]

    def bytes_of(self, name):
        """What went through its wire so far: received, transmitted."""
        text = subprocess.run([*self.enter(name), "cat", "/proc/net/dev"], capture_output=True, text=True, check=True).stdout
        fields = next(line for line in text.splitlines() if line.strip().startswith("eth0:")).split(":")[1].split()
        return int(fields[0]), int(fields[8])

    def reach(self, name, port):
        """There, 127.0.0.1:port leads to the same port of this machine's loopback."""
        listener = self.socket_in(name)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(16)
        self.listeners.append(listener)
        threading.Thread(target=self.pass_on, args=(listener, port), daemon=True).start()

    def socket_in(self, name):
        """A socket keeps the namespace it was made in, whoever uses it later."""
        made = []

        def make():
            with open(f"/run/netns/{self.space(name)}") as space:
                if ctypes.CDLL(None, use_errno=True).setns(space.fileno(), CLONE_NEWNET) != 0:
                    return
            made.append(socket.socket())
        thread = threading.Thread(target=make)  # the thread's namespace goes with the thread
        thread.start()
        thread.join()
        if not made:
            raise CannotBeMade("setns is not allowed here")
        return made[0]

    def ask(self, name, port, path):
        """What a server on its loopback answers."""
        with self.socket_in(name) as connection:
            connection.settimeout(60)
            connection.connect(("127.0.0.1", port))
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            answer = b""
            while data := connection.recv(65536):
                answer += data
        return answer.decode().partition("\r\n\r\n")[2]

    def pass_on(self, listener, port):
        while True:
            try:
                inner, _ = listener.accept()
                outer = socket.create_connection(("127.0.0.1", port))
            except OSError:
                return
            for source, sink in ((inner, outer), (outer, inner)):
                threading.Thread(target=self.pump, args=(source, sink), daemon=True).start()

    @staticmethod
    def pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def remove(self):
        for listener in self.listeners:
            listener.close()
        for name in [*self.names, "switch"]:
            subprocess.run(["ip", "netns", "del", self.space(name)], stderr=subprocess.DEVNULL)
