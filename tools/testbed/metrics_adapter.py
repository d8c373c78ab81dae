"""metrics.k8s.io for a control plane without metrics-server: what the genuine HPA asks, answered out of Prometheus.

Serves CPU of pods as rate(container_cpu_usage_seconds_total) over WINDOW, with the time of the newest scrape, over TLS with a
certificate of its own; objects() make it an API of the cluster. The HPA controller and the autoscaler under test so
go by the same series.
"""
import datetime
import http.server
import json
import ssl
import subprocess
import threading
import urllib.parse
import urllib.request

WINDOW = 15  # seconds
GROUP = "/apis/metrics.k8s.io/v1beta1"
USAGE = 'sum by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{namespace="%s",container!=""}[%ds]))'
STAMP = 'max by (pod) (timestamp(container_cpu_usage_seconds_total{namespace="%s",container!=""}))'


def ask(prometheus, query):
    with urllib.request.urlopen(f"{prometheus}/api/v1/query?query={urllib.parse.quote(query)}", timeout=5) as answer:
        return [(one["metric"], float(one["value"][1])) for one in json.load(answer)["data"]["result"]]


class Adapter(http.server.ThreadingHTTPServer):
    def __init__(self, address, port, prometheus, folder, labels_of):
        """labels_of(namespace): {pod: labels}, for the selectors that HPAs ask with."""
        self.prometheus, self.labels_of = prometheus, labels_of
        super().__init__((address, port), Page)
        key, certificate = folder / "adapter.key", folder / "adapter.crt"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=metrics", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def pods(self, name_space, selector):
        stamps = {labels["pod"]: value for labels, value in ask(self.prometheus, STAMP % name_space)}
        known, usage = self.labels_of(name_space), {}
        for labels, cores in ask(self.prometheus, USAGE % (name_space, WINDOW)):
            usage.setdefault(labels["pod"], {})[labels["container"]] = cores
        for pod, containers in sorted(usage.items()):
            if pod not in stamps or any(known.get(pod, {}).get(key) != value for key, value in selector.items()):
                continue
            stamp = datetime.datetime.fromtimestamp(stamps[pod], datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            yield {"metadata": {"name": pod, "namespace": name_space}, "timestamp": stamp, "window": f"{WINDOW}s",
                   "containers": [{"name": name, "usage": {"cpu": f"{round(cores * 1e9)}n", "memory": "0"}}
                                  for name, cores in containers.items()]}


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        parts = url.path.removeprefix(GROUP).strip("/").split("/")
        code, body = 404, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404}
        if url.path == GROUP:
            code, body = 200, {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "metrics.k8s.io/v1beta1", "resources": [
                {"name": "pods", "singularName": "", "namespaced": True, "kind": "PodMetrics", "verbs": ["get", "list"]}]}
        elif len(parts) == 3 and (parts[0], parts[2]) == ("namespaces", "pods"):
            text = urllib.parse.parse_qs(url.query).get("labelSelector", [""])[0]
            selector = dict(one.split("=", 1) for one in text.split(",") if "=" in one)
            try:
                items = list(self.server.pods(parts[1], selector))
                code, body = 200, {"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {}, "items": items}
            except OSError as trouble:
                code, body = 503, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 503, "message": str(trouble)}
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def objects(host, port):
    """What makes it an API of the cluster, and where each goes. The API server goes to `host` by name: there need be no Service
    network."""
    return [("/api/v1/namespaces/kube-system/services", {
                "apiVersion": "v1", "kind": "Service", "metadata": {"name": "metrics"}, "spec": {"type": "ExternalName", "externalName": host}}),
            ("/apis/apiregistration.k8s.io/v1/apiservices", {
                "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1beta1.metrics.k8s.io"},
                "spec": {"group": "metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100,
                         "insecureSkipTLSVerify": True, "service": {"name": "metrics", "namespace": "kube-system", "port": port}}})]
