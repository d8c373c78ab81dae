"""Volumes that lie on nodes, or are made once a pod's node is known. Part of scheduler_test.py."""
import threading

import lab
import objects
from control_plane import ControlPlane
from lab import LabTest, must

STATIC, MADE, NOW = "lab-static", "lab-made", "lab-now"
SELECTED = "volume.kubernetes.io/selected-node"


class Provisioner(threading.Thread):
    """Plays the external provisioner: makes a volume on the node that the scheduler selected for a claim."""

    def __init__(self, name_space, nodes_it_refuses=()):
        super().__init__(daemon=True)
        self.name_space, self.refuses, self.ended = name_space, set(nodes_it_refuses), threading.Event()
        self.plane = ControlPlane(lab.plane.folder)  # for a connection of its own
        self.api = self.plane.api

    def run(self):
        while not self.ended.wait(0.1):
            claims = self.api("GET", f"/api/v1/namespaces/{self.name_space}/persistentvolumeclaims")[1].get("items", [])
            for one in claims:
                if one["spec"].get("storageClassName") == MADE and not one["spec"].get("volumeName"):
                    self.serve(one)

    def serve(self, one):
        data = one["metadata"]
        node = data.get("annotations", {}).get(SELECTED)
        if not node:
            return
        if node in self.refuses:  # as external-provisioner does: the scheduler is to choose again
            self.api("PATCH", f"/api/v1/namespaces/{self.name_space}/persistentvolumeclaims/{data['name']}",
                     {"metadata": {"annotations": {SELECTED: None}}}, "application/merge-patch+json")
            self.refuses.discard(node)
            return
        reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": self.name_space, "name": data["name"],
                     "uid": data["uid"]}
        body = objects.volume(f"made-{data['uid']}", MADE, node, claim_reference=reference)
        body["metadata"]["annotations"] = {"pv.kubernetes.io/provisioned-by": "lab.example.com"}
        self.api("POST", "/api/v1/persistentvolumes", body)

    def stop(self):
        self.ended.set()
        self.join()
        self.plane.close()


class Volumes(LabTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for body in (objects.storage_class(STATIC, "kubernetes.io/no-provisioner"),
                     objects.storage_class(MADE, "lab.example.com"),
                     objects.storage_class(NOW, "kubernetes.io/no-provisioner", "Immediate")):
            must(201, "POST", objects.collection(body, ""), body)
            cls.addClassCleanup(lab.plane.api, "DELETE", f"/apis/storage.k8s.io/v1/storageclasses/{body['metadata']['name']}")

    def add_volume(self, name, storage, node, **options):
        body = objects.volume(f"{self.ns}-{name}", storage, f"{self.ns}-{node}", **options)
        self.add(body)
        self.addCleanup(lab.plane.api, "DELETE", f"/api/v1/persistentvolumes/{self.ns}-{name}")

    def claim(self, name):
        return must(200, "GET", f"/api/v1/namespaces/{self.ns}/persistentvolumeclaims/{name}")

    def provision(self, **options):
        provisioner = Provisioner(self.ns, **options)
        provisioner.start()
        self.addCleanup(provisioner.stop)

    def test_replicas_follow_the_volumes_that_lie_on_nodes(self):
        self.add_nodes("a", "b", "c")
        for node in ("a", "b"):
            self.add_volume(f"disk-{node}", STATIC, node)
        template = objects.claim("data", STATIC)
        self.add(objects.workload("StatefulSet", "db", 2, {"serviceName": "db", "volumeClaimTemplates": [template]}))
        self.until_running(2)
        for index in range(2):
            chosen = self.claim(f"data-db-{index}")["spec"]["volumeName"]
            self.assertEqual(chosen, f"{self.ns}-disk-{self.node_of(f'db-{index}')}")
        # No third disk: the third replica says so, and comes when there is one.
        self.patch(f"/apis/apps/v1/namespaces/{self.ns}/statefulsets/db/scale", {"spec": {"replicas": 3}}, "merge-patch")
        self.until(lambda: len(self.pods()) == 3, "the third replica")
        self.until_refused("db-2", "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind")
        self.add_volume("disk-c", STATIC, "c")
        self.assertEqual(self.until_scheduled("db-2"), ["c"])

    def test_a_volume_is_made_where_its_first_consumer_goes(self):
        self.add_nodes("a", "b", cpu="1")
        self.provision()
        self.add_pod("filler", cpu="900m", nodeName=f"{self.ns}-a")
        self.add(objects.claim("data", MADE))
        self.add_pod("app", cpu="500m", volumes=objects.mounted("data"))
        self.assertEqual(self.until_scheduled("app"), ["b"])
        self.assertEqual(self.claim("data")["metadata"]["annotations"][SELECTED], f"{self.ns}-b")
        self.assertEqual(self.claim("data")["status"]["phase"], "Bound")
        # A second consumer has to go where the volume is.
        self.add_pod("second", cpu="100m", volumes=objects.mounted("data"))
        self.assertEqual(self.until_scheduled("second"), ["b"])

    def test_another_node_is_chosen_where_no_volume_can_be_made(self):
        first, second = self.add_nodes("a", "b")
        self.provision(nodes_it_refuses=[first])
        self.add(objects.claim("data", MADE))
        self.add_pod("app", volumes=objects.mounted("data"))
        self.until_scheduled("app")
        node = self.pod("app")["spec"]["nodeName"]
        made = must(200, "GET", f"/api/v1/persistentvolumes/{self.claim('data')['spec']['volumeName']}")
        terms = made["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
        self.assertEqual(terms[0]["matchExpressions"][0]["values"], [node])
        self.assertIn(node, (first, second))

    def test_a_pod_goes_where_its_bound_volume_lies_and_waits_for_a_claim_that_is_not_there(self):
        self.add_nodes("a", "b")
        self.add_volume("disk", NOW, "b")
        self.add_pod("early", volumes=objects.mounted("data"))
        self.until_refused("early", 'persistentvolumeclaim "data" not found')
        self.add(objects.claim("data", NOW))
        self.assertEqual(self.until_scheduled("early"), ["b"])

    def test_an_immediate_claim_without_a_volume_is_named(self):
        self.add_nodes("a")
        self.add(objects.claim("data", NOW))
        self.add_pod("app", volumes=objects.mounted("data"))
        self.until_refused("app", "pod has unbound immediate PersistentVolumeClaims")
        self.add_volume("disk", NOW, "a")
        self.until_scheduled("app")
