"""Storage for a case: claims bound and unbound, volumes tied to zones and nodes, drivers that run out of slots or room."""

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
DRIVER, OTHER_DRIVER = "csi.example.com", "disk.example.org"
GI = 1 << 30


def storage_classes(m):
    classes = [("wait", DRIVER, "WaitForFirstConsumer"), ("now", DRIVER, "Immediate"),
               ("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"), ("zonal", OTHER_DRIVER, "WaitForFirstConsumer")]
    items = []
    for name, provisioner, mode in classes:
        if not m.chance(0.95):
            continue
        item = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner,
                "volumeBindingMode": mode}
        if name == "zonal" or m.chance(0.05):
            item["allowedTopologies"] = [{"matchLabelExpressions": [{"key": ZONE, "values": m.r.sample(["z1", "z2", "z3"], m.pick([1, 2]))}]}
                                         for _ in range(m.pick([1, 1, 2]))]
        if mode == "Immediate" and m.chance(0.3):
            del item["volumeBindingMode"]  # the API server fills it in
        items.append(item)
    return items


def drivers(m, nodes):
    items = []
    for name in (DRIVER, OTHER_DRIVER):
        if m.chance(0.7):
            items.append({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": name},
                          "spec": {"storageCapacity": m.chance(0.5)}})
    for node in nodes:
        if m.chance(0.75):
            found = []
            for name in (DRIVER, OTHER_DRIVER):
                if m.chance(0.75):
                    driver = {"name": name, "nodeID": node}
                    if m.chance(0.7):
                        driver["allocatable"] = {"count": m.pick([0, 1, 1, 2, 2, 20])} if m.chance(0.9) else {}
                    found.append(driver)
            items.append({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": node}, "spec": {"drivers": found}})
    for i in range(m.r.randrange(0, 4)):
        item = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": f"cap{i}", "namespace": "default"},
                "storageClassName": m.pick(["wait", "zonal"])}
        if m.chance(0.9):
            item["nodeTopology"] = m.pick([{}, {"matchLabels": {ZONE: m.pick(["z1", "z2"])}}, {"matchLabels": {HOST: m.pick(nodes)}},
                                           {"matchExpressions": [{"key": ZONE, "operator": "Exists"}]}])
        if m.chance(0.9):
            item["capacity"] = m.pick(["1Gi", "10Gi", "1e10", "0"])
        if m.chance(0.3):
            item["maximumVolumeSize"] = m.pick(["1Gi", "100Gi"])
        items.append(item)
    return items


def volume_source(m, i):
    kind = m.r.randrange(8)
    if kind < 4:
        return {"csi": {"driver": m.pick([DRIVER, OTHER_DRIVER]), "volumeHandle": f"handle-{m.pick([i, 0])}"}}
    if kind < 6:
        return {"local": {"path": "/data"}}
    return {"hostPath": {"path": "/data"}}


def persistent_volume(m, i, nodes):
    spec = {"capacity": {"storage": m.pick(["1Gi", "5Gi", "10Gi", "10G"])}, "accessModes": m.pick([["ReadWriteOnce"], ["ReadWriteOnce", "ReadOnlyMany"],
            ["ReadWriteMany"], ["ReadWriteOncePod"]]), "storageClassName": m.pick(["wait", "wait", "local", "now", "zonal", ""]), **volume_source(m, i)}
    meta = {"name": f"pv{i}", "uid": f"pv-uid-{i}"}
    if m.chance(0.35):
        expression = m.pick([{"key": ZONE, "operator": "In", "values": m.r.sample(["z1", "z2", "z3"], m.pick([1, 2]))},
                             {"key": HOST, "operator": "In", "values": [m.pick(nodes)]}])
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    labels = {}
    if m.chance(0.5):
        labels[m.pick([ZONE, ZONE, "failure-domain.beta.kubernetes.io/zone"])] = m.pick(["z1", "z2", "z1__z2"])
    if m.chance(0.15):
        labels["topology.kubernetes.io/region"] = m.pick(["r1", "r2"])
    if m.chance(0.3):
        labels["app"] = m.pick(["a", "b"])
    if labels:
        meta["labels"] = labels
    if m.chance(0.1):
        spec["volumeMode"] = m.pick(["Block", "Filesystem"])
    if m.chance(0.05):
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": spec,
            "status": {"phase": m.pick(["Available", "Available", "Available", "Released", "Pending"])}}


def claim(m, name, namespace, volumes):
    spec = {"accessModes": m.pick([["ReadWriteOnce"], ["ReadWriteOnce"], ["ReadWriteMany"], ["ReadWriteOncePod"], ["ReadOnlyMany"]]),
            "resources": {"requests": {"storage": m.pick(["1Gi", "2Gi", "5Gi", "20Gi", "1e9"])}}}
    meta = {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}"}
    status = {"phase": "Pending"}
    if m.chance(0.93):
        spec["storageClassName"] = m.pick(["wait", "wait", "local", "now", "zonal", "absent"] if m.chance(0.5) else ["wait", "local", "zonal"])
    if m.chance(0.1):
        spec["selector"] = {"matchLabels": {"app": m.pick(["a", "b"])}}
    if m.chance(0.08):
        spec["volumeMode"] = m.pick(["Block", "Filesystem"])
    free = [v for v in volumes if "claimRef" not in v["spec"]]
    if m.chance(0.5) and free:
        volume = m.pick(free)
        spec["volumeName"] = volume["metadata"]["name"]
        spec["storageClassName"] = volume["spec"].get("storageClassName", "")
        volume["spec"]["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": name, "uid": meta["uid"]}
        volume["status"]["phase"] = "Bound"
        if m.chance(0.95):
            meta["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        status["phase"] = "Bound"
    elif m.chance(0.05):
        spec["volumeName"] = "gone"
        meta["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        status["phase"] = m.pick(["Bound", "Lost"])
    elif m.chance(0.05) and free:
        # Bound beforehand by whoever made the volume.
        m.pick(free)["spec"]["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": name}
    elif m.chance(0.05):
        meta["annotations"] = {"volume.kubernetes.io/selected-node": m.pick(["n0", "n1"])}
    if m.chance(0.03):
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec, "status": status}


def inline_disk(m):
    return m.pick([{"gcePersistentDisk": {"pdName": m.pick(["d1", "d2"]), "readOnly": m.chance(0.5)}},
                   {"awsElasticBlockStore": {"volumeID": m.pick(["v1", "v2"]), "readOnly": m.chance(0.5)}},
                   {"iscsi": {"targetPortal": "x", "iqn": m.pick(["iqn.1", "iqn.2"]), "lun": 0, "readOnly": m.chance(0.5)}},
                   {"rbd": {"monitors": m.r.sample(["m1", "m2", "m3"], m.pick([1, 2])), "image": m.pick(["i1", "i2"]),
                            **({"pool": m.pick(["rbd", "other"])} if m.chance(0.5) else {}), "readOnly": m.chance(0.5)}},
                   {"emptyDir": {}}, {"configMap": {"name": "c"}}])


def add(m, items, placed, waiting):
    """Gives pods volumes and returns the objects behind them."""
    nodes = [item["metadata"]["name"] for item in items if item["kind"] == "Node"]
    volumes = [persistent_volume(m, i, nodes) for i in range(m.r.randrange(0, 7))]
    claims = {}
    for namespace in ("default", "web", "batch"):
        for i in range(m.pick([1, 2, 3])):
            claims[(namespace, f"c{i}")] = claim(m, f"c{i}", namespace, volumes)
    for pod in placed + waiting:
        if not m.chance(0.6):
            continue
        namespace, own = pod["metadata"]["namespace"], pod in waiting
        found = []
        for i in range(m.pick([1, 1, 2, 3])):
            name = f"v{i}"
            if m.chance(0.2):
                found.append({"name": name, **inline_disk(m)})
            elif m.chance(0.12):
                found.append({"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"],
                              "resources": {"requests": {"storage": "1Gi"}}}}}})
                if m.chance(0.85):
                    made = claim(m, f"{pod['metadata']['name']}-{name}", namespace, volumes)
                    if m.chance(0.9):
                        made["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"],
                                                                "uid": pod["metadata"]["uid"], "controller": True}]
                    claims[(namespace, made["metadata"]["name"])] = made
            else:
                which = f"c{m.r.randrange(3)}" if m.chance(0.97) else "missing"
                found.append({"name": name, "persistentVolumeClaim": {"claimName": which, "readOnly": m.chance(0.2)}})
        pod["spec"]["volumes"] = found
    attachments = []
    for volume in volumes:
        if "csi" in volume["spec"] and m.chance(0.3):
            attachments.append({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": f"va-{volume['metadata']['name']}"},
                                "spec": {"attacher": volume["spec"]["csi"]["driver"], "nodeName": m.pick(nodes),
                                         "source": {"persistentVolumeName": m.pick([volume["metadata"]["name"], "gone"])}}})
    return storage_classes(m) + drivers(m, nodes) + volumes + list(claims.values()) + attachments
