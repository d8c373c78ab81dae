#!/usr/bin/env python3
"""deploy/ on a real API server, installed by the commands that docs/monitor.md prints: what is accepted, who may do what,
and how a monitor comes by its certificate.

  deploy_test.py EVENKEEL [unittest arguments]          see lab.py for what can be set
"""
import base64
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
import urllib.request

import lab
from lab import LabTest, control_plane, must

SPACE = "evenkeel-monitor"
MONITOR, APPROVER = (f"system:serviceaccount:{SPACE}:evenkeel-{name}" for name in ("monitor", "approver"))
SCHEDULER = "system:serviceaccount:kube-system:evenkeel"
CSR = "certificates.k8s.io/certificatesigningrequests"


def commands():
    """What docs/monitor.md tells to run, block by block."""
    text = (lab.ROOT / "docs/monitor.md").read_text()
    section = text.split("## Installing it on a cluster\n")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


def may(user, verb, resource, name="", subresource="", space=""):
    group, _, kind = resource.rpartition("/")
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
        "user": user, "groups": ["system:serviceaccounts", f"system:serviceaccounts:{user.split(':')[2]}", "system:authenticated"],
        "resourceAttributes": {"verb": verb, "group": group, "resource": kind, "name": name, "subresource": subresource,
                               "namespace": space}}}
    return must(201, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]


class Process:
    """One of our programs with its log; ended with the test."""

    def __init__(self, test, name, *arguments):
        self.log = lab.plane.logs / f"{name}-{next(lab.numbers)}.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([lab.EVENKEEL, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, preexec_fn=control_plane.end_with_parent)
        self.test = test
        test.addCleanup(self.stop)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def until_said(self, pattern):
        def said():
            self.test.assertIsNone(self.process.poll(), self.log.read_text())
            return re.search(pattern, self.log.read_text())
        try:
            return self.test.until(said, f"{self.log.name} to say {pattern}")
        except AssertionError as failed:
            raise AssertionError(f"{failed}\n{self.log.read_text()}") from None


@unittest.skipIf(lab.REFERENCE, "these are our manifests")
class Deploy(LabTest):
    wants_scheduler = False

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="evenkeel-deploy-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        (cls.folder / "deploy").symlink_to(lab.ROOT / "deploy")
        lab.plane.start("scheduler")  # DaemonSets leave the placing to it
        environment = {**os.environ, "KUBECONFIG": str(lab.plane.kubeconfig), "PATH": f"{lab.plane.state['bin']}:{os.environ['PATH']}"}
        cls.said = ""
        for block in commands():
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=cls.folder, env=environment, text=True,
                                  capture_output=True, timeout=lab.PATIENCE)
            cls.said += done.stdout + done.stderr
            if done.returncode != 0:
                raise AssertionError(f"{block}\n{done.stdout}{done.stderr}")

    def pods_of(self, app, space=SPACE):
        return must(200, "GET", f"/api/v1/namespaces/{space}/pods?labelSelector=app.kubernetes.io/name%3D{app}")["items"]

    def monitor_on(self, node):
        """The DaemonSet's pod there, once it runs."""
        def found():
            return next((one for one in self.pods_of("evenkeel-monitor") if one["spec"].get("nodeName") == node
                         and one["status"].get("phase") == "Running"), None)
        return self.until(found, f"a monitor on {node}")

    def kubeconfig(self, account, pod=None):
        """Of a service account, with a token as a kubelet asks for: bound to the pod, where one is given."""
        spec = {} if pod is None else {"boundObjectRef": {
            "kind": "Pod", "apiVersion": "v1", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}}
        answer = must(201, "POST", f"/api/v1/namespaces/{SPACE}/serviceaccounts/{account}/token",
                      {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
        path = self.folder / f"{account}-{next(lab.numbers)}.kubeconfig"
        lines = [line if not line.startswith("users:") else f"users: [{{name: admin, user: {{token: {answer['status']['token']}}}}}]"
                 for line in lab.plane.kubeconfig.read_text().splitlines()]
        path.write_text("\n".join(lines) + "\n")
        return path

    def start_monitor(self, node, kubeconfig, port=9):
        state = self.folder / f"state-{next(lab.numbers)}"
        process = Process(self, "monitor", "monitor", f"--node={node}", f"--to=127.0.0.1:{port}", "--csr", f"--state={state}",
                          "--server-name=evenkeel-reports.kube-system.svc", f"--ca={self.folder}/authority.crt",
                          f"--kubeconfig={kubeconfig}")
        process.state = state
        return process

    def start_approver(self):
        return Process(self, "approver", "approver", "--every=200ms", f"--kubeconfig={self.kubeconfig('evenkeel-approver')}")

    # What is installed.

    def test_every_object_is_accepted_without_a_warning(self):
        self.assertNotIn("Warning", self.said)
        for name in ("moves", "example", "network", "crds/appgroup", "crds/networktopology"):
            done = lab.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", lab.ROOT / f"deploy/{name}.yaml")
            self.assertNotIn("Warning", done)

    def test_what_pods_mount_is_there(self):
        for space, app in ((SPACE, "daemonsets/evenkeel-monitor"), (SPACE, "deployments/evenkeel-approver"),
                           ("kube-system", "deployments/evenkeel-scheduler")):
            spec = must(200, "GET", f"/apis/apps/v1/namespaces/{space}/{app}")["spec"]["template"]["spec"]
            for volume in spec.get("volumes", []):
                if "secret" in volume:
                    must(200, "GET", f"/api/v1/namespaces/{space}/secrets/{volume['secret']['secretName']}")
                if "configMap" in volume:
                    must(200, "GET", f"/api/v1/namespaces/{space}/configmaps/{volume['configMap']['name']}")
            must(200, "GET", f"/api/v1/namespaces/{space}/serviceaccounts/{spec['serviceAccountName']}")

    def test_scheduler_and_approver_are_restricted_and_the_monitor_but_for_two_things(self):
        self.patch(f"/api/v1/namespaces/{self.ns}", {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})

        def tried(space, app):
            spec = must(200, "GET", f"/apis/apps/v1/namespaces/{space}/{app}")["spec"]["template"]["spec"]
            spec["serviceAccountName"] = spec["serviceAccount"] = "default"
            return lab.plane.api("POST", f"/api/v1/namespaces/{self.ns}/pods?dryRun=All", {
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "tried"}, "spec": spec})
        for space, app in (("kube-system", "deployments/evenkeel-scheduler"), (SPACE, "deployments/evenkeel-approver")):
            code, said = tried(space, app)
            self.assertEqual(code, 201, said.get("message"))
        code, said = tried(SPACE, "daemonsets/evenkeel-monitor")
        self.assertEqual(code, 403)
        self.assertRegex(said["message"], r'latest": host namespaces \(hostPID=true\), restricted volume types \(volume "sys" [^,]*$')

    def test_a_monitor_runs_on_every_node_and_one_scheduler_and_approver(self):
        nodes = self.add_nodes(count=3)
        for node in nodes:
            pod = self.monitor_on(node)
            self.assertTrue(pod["spec"]["hostPID"])
        self.until(lambda: len([one for one in self.pods_of("evenkeel-scheduler", "kube-system")
                                if one["status"].get("phase") == "Running"]) == 1, "one scheduler")
        self.until(lambda: [one["status"].get("phase") for one in self.pods_of("evenkeel-approver")] == ["Running"], "an approver")

    def test_accounts_may_do_what_they_need_and_nothing_else(self):
        self.assertTrue(may(MONITOR, "create", CSR))
        self.assertTrue(may(MONITOR, "get", CSR, "evenkeel-monitor-n1-abcde"))
        self.assertTrue(may(APPROVER, "list", CSR))
        self.assertTrue(may(APPROVER, "update", CSR, "a", "approval"))
        self.assertTrue(may(APPROVER, "approve", "certificates.k8s.io/signers", "kubernetes.io/kube-apiserver-client"))
        self.assertTrue(may(SCHEDULER, "create", "pods", "a", "binding", "default"))
        self.assertTrue(may(SCHEDULER, "watch", "nodes"))
        self.assertTrue(may(SCHEDULER, "delete", "pods", "a", "", "default"))  # preemption
        for user in (MONITOR, APPROVER, SCHEDULER):
            self.assertFalse(may(user, "get", "secrets", "a", "", "kube-system"), user)
            self.assertFalse(may(user, "create", "pods", "", "", "default"), user)
            self.assertFalse(may(user, "create", "pods", "a", "exec", "default"), user)
            self.assertFalse(may(user, "update", "nodes", "a"), user)
            self.assertFalse(may(user, "create", "rbac.authorization.k8s.io/clusterrolebindings"), user)
        for user in (MONITOR, APPROVER):
            self.assertFalse(may(user, "delete", "pods", "a", "", "default"), user)
            self.assertFalse(may(user, "list", "pods", "", "", "default"), user)
            self.assertFalse(may(user, "list", "nodes"), user)
        self.assertFalse(may(MONITOR, "list", CSR))
        self.assertFalse(may(MONITOR, "update", CSR, "a", "approval"))
        self.assertFalse(may(MONITOR, "approve", "certificates.k8s.io/signers", "kubernetes.io/kube-apiserver-client"))
        self.assertFalse(may(APPROVER, "create", CSR))
        self.assertFalse(may(APPROVER, "approve", "certificates.k8s.io/signers", "kubernetes.io/kube-apiserver-client-kubelet"))
        self.assertFalse(may(SCHEDULER, "create", "pods", "a", "eviction", "default"), "deploy/moves.yaml gives that")
        self.assertFalse(may(SCHEDULER, "create", CSR))

    # Certificates.

    def test_a_monitor_gets_its_certificate_and_the_scheduler_believes_it(self):
        node, = self.add_nodes(count=1)
        reports, status = control_plane.free_ports(2)
        self.run_scheduler(flags=[f"--metrics-listen=127.0.0.1:{reports}", f"--metrics-cert={self.folder}/tls.crt",
                                  f"--metrics-key={self.folder}/tls.key", f"--metrics-ca={self.folder}/clients.crt",
                                  f"--listen=127.0.0.1:{status}"])
        approver = self.start_approver()
        monitor = self.start_monitor(node, self.kubeconfig("evenkeel-monitor", self.monitor_on(node)), reports)
        approver.until_said(r"approved evenkeel-monitor-\S+: asked for from the node it names")
        monitor.until_said("certificate received")
        self.assertEqual((monitor.state / "monitor.key").stat().st_mode & 0o777, 0o600)

        def fresh():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{status}/metrics", timeout=5) as answer:
                    return 'evenkeel_usage_nodes{sample="fresh"} 1\n' in answer.read().decode()
            except OSError:
                return False
        self.until(fresh, "a node that reports")

    def test_a_request_about_another_node_is_denied_and_both_say_why(self):
        node, other = self.add_nodes(count=2)
        approver = self.start_approver()
        monitor = self.start_monitor(other, self.kubeconfig("evenkeel-monitor", self.monitor_on(node)))
        why = f"asked for from node {node}, about evenkeel:monitor:{other}"
        approver.until_said(f"denied .*: {why}")
        monitor.until_said(rf"no certificate: the certificate was not given \(Denied\): {why}")
        self.assertFalse((monitor.state / "monitor.crt").exists())

    def test_a_token_that_is_bound_to_no_pod_proves_nothing(self):
        approver = self.start_approver()
        monitor = self.start_monitor("n1", self.kubeconfig("evenkeel-monitor"))
        approver.until_said("denied .*: asked for with a token that is bound to no pod on a node")
        monitor.until_said("no certificate: .*Denied")

    def test_while_nobody_answers_it_waits_and_a_person_may_approve(self):
        monitor = self.start_monitor("n1", self.kubeconfig("evenkeel-monitor"))
        said = monitor.until_said(r"it waits for approval \(kubectl certificate approve (\S+)\)")
        self.assertFalse((monitor.state / "monitor.crt").exists())
        lab.kubectl("certificate", "approve", said[1])
        monitor.until_said("certificate received")

    def test_without_the_right_to_ask_it_says_so(self):
        monitor = self.start_monitor("n1", self.kubeconfig("default"))
        monitor.until_said("no certificate: .*cannot create resource")

    def test_other_peoples_requests_are_left_alone(self):
        subprocess.run(["openssl", "req", *control_plane.CURVE, "-keyout", "other.key", "-out", "other.csr", "-subj",
                        "/CN=somebody"], cwd=self.folder, check=True, capture_output=True)
        request = base64.b64encode((self.folder / "other.csr").read_bytes()).decode()
        path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
        must(201, "POST", path, {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
                                 "metadata": {"name": "somebody"}, "spec": {
                                     "request": request, "signerName": "kubernetes.io/kube-apiserver-client",
                                     "usages": ["client auth"]}})
        self.addCleanup(lambda: lab.plane.api("DELETE", f"{path}/somebody"))
        done = subprocess.run([lab.EVENKEEL, "approver", "--once", f"--kubeconfig={self.kubeconfig('evenkeel-approver')}"],
                              text=True, capture_output=True, timeout=lab.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(must(200, "GET", f"{path}/somebody")["status"], {}, json.dumps(done.stderr))


if __name__ == "__main__":
    lab.main()
