"""A Kubernetes control plane of one's own on loopback: etcd, API server, controller manager, kwok, kube-scheduler.

Everything lies in one folder: keys, data, logs, and state.json with ports and processes. Used by tools/kube/up and down
and by the tests. Processes are known by their id and start time, so that nobody else's is ever stopped.
"""
import ctypes
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ["etcd", "apiserver", "controller-manager", "kwok", "scheduler"]
PATIENCE = 180  # seconds; a machine may be busy
CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


class Trouble(Exception):
    """Says what did not come up, with the end of its log."""


def programs(*more):
    """The folder of the programs, built if need be; `more` are those that only some want, such as kubelet."""
    done = subprocess.run([HERE / "build", *more], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Trouble("tools/kube/build failed")
    return pathlib.Path(done.stdout.strip().splitlines()[-1])


def free_ports(count):
    """Below those that the kernel gives to connections: while a server restarts, none of its clients may take its port."""
    found = []
    for port in random.sample(range(20000, 32768), 2000):
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise Trouble(f"no {count} free ports between 20000 and 32767")


def started_at(pid):
    """When the process began, in ticks since boot; None when there is none (or it is a zombie)."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else fields[19]


def end_with_parent():
    """For preexec_fn: the kernel ends the process when the thread that started it ends, however that comes about."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def wait_until(condition, what, patience=PATIENCE):
    """The first true value of condition(); asks again until then."""
    end = time.monotonic() + patience
    while True:
        asked = time.monotonic()
        value = condition()
        if value:
            return value
        now = time.monotonic()
        if now > end:
            raise Trouble(f"{what}: not within {patience} s")
        time.sleep(max(0.1, now - asked))  # what is dear to ask is asked less often


class Keys:
    """A certificate authority and what it signed."""

    def __init__(self, folder):
        self.folder = folder

    def openssl(self, *arguments):
        done = subprocess.run(["openssl", *arguments], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise Trouble(f"openssl {arguments[0]}: {done.stderr.strip()}")

    def make(self, address="127.0.0.1"):
        """`address`: where the API server listens."""
        self.folder.mkdir(parents=True, mode=0o700)
        self.openssl("req", "-x509", *CURVE, "-keyout", "ca.key", "-out", "ca.crt", "-days", "30", "-subj", "/CN=evenkeel-test-ca")
        self.openssl("genrsa", "-out", "sa.key", "2048")
        self.openssl("rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub")
        names = f"IP:{address},IP:10.0.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
        self.leaf("apiserver", "/CN=kube-apiserver", names)
        self.leaf("admin", "/O=system:masters/CN=admin")
        self.leaf("controller-manager", "/CN=system:kube-controller-manager")
        self.leaf("scheduler", "/CN=system:kube-scheduler")
        self.leaf("kwok", "/O=system:masters/CN=kwok")

    def leaf(self, name, subject, names=None):
        self.openssl("req", *CURVE, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", subject)
        lines = ["extendedKeyUsage=serverAuth,clientAuth"] + ([f"subjectAltName={names}"] if names else [])
        (self.folder / f"{name}.ext").write_text("\n".join(lines) + "\n")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
                     "-out", f"{name}.crt", "-days", "30", "-extfile", f"{name}.ext")


class ControlPlane:
    def __init__(self, folder, outlives_us=True):
        """outlives_us: whether what is started goes on when this program ends, as after tools/kube/up.
        before_exec, where set, is called in each process that is started, before it becomes the program."""
        self.before_exec = None
        self.folder, self.outlives_us = pathlib.Path(folder).resolve(), outlives_us
        self.keys = self.folder / "pki"
        self.logs = self.folder / "log"
        self.state_file = self.folder / "state.json"
        self.connection, self.children = None, []
        self.state = json.loads(self.state_file.read_text()) if self.state_file.exists() else None

    # Up and down.

    @classmethod
    def up(cls, folder, nodes=0, parts=("etcd", "apiserver", "controller-manager", "kwok"), apiserver_flags=(),
           outlives_us=False, controller_flags=(), address="127.0.0.1", before_exec=None):
        """address: the only one at which the API server listens. The flags come last, so they override ours."""
        plane = cls(folder, outlives_us)
        plane.before_exec = before_exec
        if plane.state and any(plane.is_running(part) for part in plane.state["processes"]):
            raise Trouble(f"{plane.folder}: there is a control plane already; stop it with tools/kube/down")
        plane.folder.mkdir(parents=True, exist_ok=True)
        bin_folder = programs()
        Keys(plane.keys).make(address) if not (plane.keys / "ca.crt").exists() else None
        plane.logs.mkdir(exist_ok=True)
        for attempt in range(3):
            # Between our look and their start somebody may take a port: then other ports.
            plane.state = {"bin": str(bin_folder), "ports": dict(zip(["etcd", "peer", "apiserver", "controller-manager",
                           "kwok", "scheduler"], free_ports(6))), "processes": {}, "address": address,
                           "apiserver_flags": list(apiserver_flags), "controller_flags": list(controller_flags)}
            plane.save()
            plane.write_kubeconfigs()
            try:
                for part in PARTS:
                    if part in parts:
                        plane.start(part)
                break
            except Trouble:
                plane.down()
                if attempt == 2 or "address already in use" not in plane.all_logs():
                    raise
        plane.add_nodes(nodes)
        return plane

    def down(self):
        """Stops what up() started, last first. The folder stays."""
        for part in reversed(PARTS):
            self.stop(part)
        for child in self.children:
            child.poll()
        self.close()

    def close(self):
        """Ends the connection of api(), which a later call would open again."""
        if self.connection:
            self.connection.close()
            self.connection = None

    def start(self, part):
        """One that finds its port taken, by somebody's connection say, is started again for a while."""
        over = time.monotonic() + PATIENCE
        while True:
            begins = (self.logs / f"{part}.log").stat().st_size if (self.logs / f"{part}.log").exists() else 0
            try:
                return self.start_once(part)
            except Trouble:
                with open(self.logs / f"{part}.log", "rb") as log:
                    log.seek(begins)
                    if b"address already in use" not in log.read() or time.monotonic() > over:
                        raise
                time.sleep(1)

    def start_once(self, part):
        command = self.command(part)
        with open(self.logs / f"{part}.log", "ab") as log:
            # One session with us unless it is to outlive us: kernels share out processor time by sessions, and in a
            # race nobody should get more of it for being a session of its own.
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       start_new_session=self.outlives_us,
                                       preexec_fn=self.prepare_child)
        self.children.append(process)
        self.state["processes"][part] = {"pid": process.pid, "started": started_at(process.pid)}
        self.save()
        wait_until(lambda: self.answers(part) or self.died(part, process), f"{part} does not answer")

    def prepare_child(self):
        if not self.outlives_us:
            end_with_parent()
        if self.before_exec:
            self.before_exec()

    def died(self, part, process):
        if process.poll() is not None:
            raise Trouble(f"{part} ended with {process.returncode}\n{self.log_end(part)}")

    def stop(self, part, how=signal.SIGTERM):
        if not self.state or part not in self.state["processes"]:
            return
        pid = self.state["processes"][part]["pid"]
        if self.is_running(part):
            os.kill(pid, how)
            try:
                wait_until(lambda: not self.is_running(part), part, patience=30)
            except Trouble:
                os.kill(pid, signal.SIGKILL)
                wait_until(lambda: not self.is_running(part), part, patience=30)
        del self.state["processes"][part]
        self.save()

    def is_running(self, part):
        process = self.state["processes"].get(part)
        if not process:
            return False
        return started_at(process["pid"]) == process["started"]

    # What runs, and how.

    def command(self, part):
        ports, keys, program = self.state["ports"], self.keys, lambda name: f"{self.state['bin']}/{name}"
        if part == "etcd":
            client, peer = f"http://127.0.0.1:{ports['etcd']}", f"http://127.0.0.1:{ports['peer']}"
            return [program("etcd"), "--name=test", f"--data-dir={self.folder}/etcd", "--unsafe-no-fsync=true",
                    "--quota-backend-bytes=4294967296", f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
                    f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=test={peer}"]
        if part == "apiserver":
            return [program("kube-apiserver"), f"--etcd-servers=http://127.0.0.1:{ports['etcd']}", f"--bind-address={self.address}",
                    f"--secure-port={ports['apiserver']}", f"--advertise-address={self.address}", "--endpoint-reconciler-type=none",
                    "--service-cluster-ip-range=10.0.0.0/16", "--authorization-mode=Node,RBAC", "--allow-privileged=true",
                    f"--client-ca-file={keys}/ca.crt", f"--tls-cert-file={keys}/apiserver.crt",
                    f"--tls-private-key-file={keys}/apiserver.key", f"--service-account-key-file={keys}/sa.pub",
                    "--service-account-issuer=https://kubernetes.default.svc",
                    f"--service-account-signing-key-file={keys}/sa.key", "--max-requests-inflight=3000",
                    "--max-mutating-requests-inflight=2000", "--event-ttl=1h", *self.state["apiserver_flags"]]
        config = f"{self.folder}/{part}.kubeconfig"
        if part == "controller-manager":
            return [program("kube-controller-manager"), f"--kubeconfig={config}", f"--authentication-kubeconfig={config}",
                    f"--authorization-kubeconfig={config}", "--bind-address=127.0.0.1",
                    f"--secure-port={ports['controller-manager']}", "--leader-elect=false",
                    "--use-service-account-credentials=true", f"--service-account-private-key-file={keys}/sa.key",
                    f"--root-ca-file={keys}/ca.crt", f"--cluster-signing-cert-file={keys}/ca.crt",
                    f"--cluster-signing-key-file={keys}/ca.key", "--kube-api-qps=2000", "--kube-api-burst=4000",
                    "--node-monitor-grace-period=24h", *self.state.get("controller_flags", [])]
        if part == "kwok":
            return [program("kwok"), f"--config={program('kwok.yaml')}", f"--kubeconfig={config}", "--manage-all-nodes=false",
                    "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake", "--cidr=10.128.0.0/9",
                    f"--server-address=127.0.0.1:{ports['kwok']}"]
        settings = self.folder / "scheduler.yaml"
        settings.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                            f"clientConnection: {{kubeconfig: {config}, qps: 5000, burst: 5000}}\n"
                            "leaderElection: {leaderElect: false}\n")
        return [program("kube-scheduler"), f"--config={settings}", "--bind-address=127.0.0.1",
                f"--secure-port={ports['scheduler']}", f"--authentication-kubeconfig={config}",
                f"--authorization-kubeconfig={config}"]

    def answers(self, part):
        port = self.state["ports"][part]
        paths = {"etcd": f"http://127.0.0.1:{port}/health", "apiserver": f"https://{self.address}:{port}/readyz",
                 "controller-manager": f"https://127.0.0.1:{port}/healthz", "kwok": f"http://127.0.0.1:{port}/healthz",
                 "scheduler": f"https://127.0.0.1:{port}/healthz"}
        trust = None
        if part == "apiserver":
            trust = self.trust()
        elif paths[part].startswith("https"):
            trust = ssl._create_unverified_context()  # their certificates are made at each start, for nobody
        try:
            with urllib.request.urlopen(paths[part], timeout=5, context=trust) as answer:
                return answer.status == 200
        except (urllib.error.URLError, ConnectionError, TimeoutError, OSError):
            return False

    # The API, for set-ups and checks.

    def trust(self):
        context = ssl.create_default_context(cafile=self.keys / "ca.crt")
        context.load_cert_chain(self.keys / "admin.crt", self.keys / "admin.key")
        return context

    def api(self, method, path, body=None, content_type="application/json"):
        """(code, object) of a request as the administrator, over a connection that is kept."""
        for attempt in (1, 2):
            fresh = self.connection is None
            if fresh:
                self.connection = http.client.HTTPSConnection(self.address, self.state["ports"]["apiserver"],
                                                              timeout=60, context=self.trust())
            try:
                self.connection.request(method, path, None if body is None else json.dumps(body),
                                        {"Content-Type": content_type})
                answer = self.connection.getresponse()
                text = answer.read()
                return answer.status, json.loads(text) if text.startswith((b"{", b"[")) else {"message": text.decode()}
            except (http.client.HTTPException, OSError):
                self.connection.close()
                self.connection = None
                if fresh or attempt == 2:  # a kept connection may have been closed by a restart
                    raise

    def add_nodes(self, count, prefix="node-", cpu="32", memory="256Gi", pods="110"):
        for index in range(count):
            name = f"{prefix}{index}"
            room = {"cpu": cpu, "memory": memory, "pods": pods}
            code, said = self.api("POST", "/api/v1/nodes", {
                "apiVersion": "v1", "kind": "Node",
                "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"},
                             "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "type": "kwok"}},
                "status": {"allocatable": room, "capacity": room}})
            if code not in (201, 409):
                raise Trouble(f"node {name}: {code} {said.get('message')}")

    def etcd(self, path, body):
        request = urllib.request.Request(f"http://127.0.0.1:{self.state['ports']['etcd']}{path}", method="POST",
                                         data=json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    # Files.

    @property
    def kubeconfig(self):
        return self.folder / "admin.kubeconfig"

    @property
    def address(self):
        return self.state.get("address", "127.0.0.1")

    def write_kubeconfigs(self):
        for user in ["admin", "controller-manager", "kwok", "scheduler"]:
            self.write_kubeconfig(user)

    def write_kubeconfig(self, user):
        """For whom there is a certificate by that name."""
        (self.folder / f"{user}.kubeconfig").write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: test\n"
            f"clusters: [{{name: test, cluster: {{server: 'https://{self.address}:{self.state['ports']['apiserver']}', "
            f"certificate-authority: {self.keys}/ca.crt}}}}]\n"
            f"users: [{{name: {user}, user: {{client-certificate: {self.keys}/{user}.crt, "
            f"client-key: {self.keys}/{user}.key}}}}]\n"
            f"contexts: [{{name: test, context: {{cluster: test, user: {user}}}}}]\n")

    def save(self):
        partial = self.state_file.with_suffix(".partial")
        partial.write_text(json.dumps(self.state, indent=1))
        partial.replace(self.state_file)

    def log_end(self, part, lines=30):
        path = self.logs / f"{part}.log"
        text = path.read_text(errors="replace").splitlines() if path.exists() else []
        return "\n".join(f"  {part}| {line}" for line in text[-lines:])

    def all_logs(self):
        return "\n".join(path.read_text(errors="replace") for path in self.logs.glob("*.log"))
