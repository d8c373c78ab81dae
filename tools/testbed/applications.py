"""Pods that run the testbed's applications, as manifests."""
import images


def pod(name, application, arguments, cpu="50m", memory="48Mi", limits=True, scheduler="evenkeel", labels=None, **spec):
    """limits: whether it may use no more than it asks for; None: it asks for nothing either."""
    room = {"cpu": cpu, "memory": memory}
    resources = {} if limits is None else {"requests": room, **({"limits": room} if limits else {})}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": {"app": application, **(labels or {})}},
            "spec": {"schedulerName": scheduler, "restartPolicy": "Never", "automountServiceAccountToken": False,
                     "enableServiceLinks": False, "dnsPolicy": "Default", "terminationGracePeriodSeconds": 1,
                     "containers": [{"name": application, "image": images.reference(application), "imagePullPolicy": "Never",
                                     "args": [str(one) for one in arguments], "resources": resources}], **spec}}


def deployment(name, replicas, application, arguments, **options):
    one = pod(name, application, arguments, **options)
    one["spec"]["restartPolicy"] = "Always"
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels}, "spec": one["spec"]}}}
