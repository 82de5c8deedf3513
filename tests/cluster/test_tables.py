"""The simulator's Tables and discovery beside the real server's: odd objects of every kind, what both print of them.

The server's own list is fed to the printers (probe_tables.c); columns, cells, conditions and embedded objects must be the
server's.  Ages are printed by both from the machine's clock: a cell may be what ours prints at any second between the
request and its answer.
"""

from __future__ import annotations

import datetime
import json
import random
import time
from pathlib import Path

import rich
from api import Api, ApiError
from context import Context, limit

AS_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
AS_PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
AS_PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
NS = "odd"
# kind: (group, version, resource, namespaced)
KINDS = {
    "Node": ("", "v1", "nodes", False),
    "Pod": ("", "v1", "pods", True),
    "PersistentVolume": ("", "v1", "persistentvolumes", False),
    "PersistentVolumeClaim": ("", "v1", "persistentvolumeclaims", True),
    "Namespace": ("", "v1", "namespaces", False),
    "Event": ("", "v1", "events", True),
    "ConfigMap": ("", "v1", "configmaps", True),
    "Secret": ("", "v1", "secrets", True),
    "Service": ("", "v1", "services", True),
    "ServiceAccount": ("", "v1", "serviceaccounts", True),
    "DaemonSet": ("apps", "v1", "daemonsets", True),
    "ReplicaSet": ("apps", "v1", "replicasets", True),
    "StatefulSet": ("apps", "v1", "statefulsets", True),
    "Deployment": ("apps", "v1", "deployments", True),
    "ControllerRevision": ("apps", "v1", "controllerrevisions", True),
    "Job": ("batch", "v1", "jobs", True),
    "PodDisruptionBudget": ("policy", "v1", "poddisruptionbudgets", True),
    "Lease": ("coordination.k8s.io", "v1", "leases", True),
    "VolumeAttachment": ("storage.k8s.io", "v1", "volumeattachments", False),
    "StorageClass": ("storage.k8s.io", "v1", "storageclasses", False),
    "CSINode": ("storage.k8s.io", "v1", "csinodes", False),
    "PriorityClass": ("scheduling.k8s.io", "v1", "priorityclasses", False),
    "EndpointSlice": ("discovery.k8s.io", "v1", "endpointslices", True),
    "CustomResourceDefinition": ("apiextensions.k8s.io", "v1", "customresourcedefinitions", False),
    "Widget": ("odd.slipway.dev", "v1", "widgets", True),
    "Plain": ("odd.slipway.dev", "v1", "plains", False),
}
FINALIZERS = ["slipway.dev/stay"]


def collection(kind: str, ns: str | None = NS) -> str:
    group, version, resource, namespaced = KINDS[kind]
    base = f"/apis/{group}/{version}" if group else f"/api/{version}"
    return base + (f"/namespaces/{ns}" if namespaced else "") + f"/{resource}"


def api_version(kind: str) -> str:
    group, version, _, _ = KINDS[kind]
    return f"{group}/{version}" if group else version


def ago(seconds: float, micro: bool = False) -> str:
    when = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=seconds)
    return when.strftime("%Y-%m-%dT%H:%M:%S.%fZ" if micro else "%Y-%m-%dT%H:%M:%SZ")


class Maker:
    """Makes objects; a status goes through the status subresource, a deletion meets a finalizer."""

    def __init__(self, api: Api, seed: int) -> None:
        self.api, self.random, self.count, self.refused = api, random.Random(seed), 0, 0

    def make(self, kind: str, name: str | None = None, status: dict | None = None, delete: bool = False,
             meta: dict = {}, **fields: object) -> None:
        self.count += 1
        name = name or f"odd-{self.count}"
        metadata = {"name": name, **meta} | ({"finalizers": FINALIZERS} if delete else {})
        path = collection(kind)
        self.api.call("POST", path, {"apiVersion": api_version(kind), "kind": kind, "metadata": metadata, **fields})
        if status is not None:
            try:
                self.api.patch(f"{path}/{name}/status", {"status": status})
            except ApiError as error:
                if error.code != 422:
                    raise
                self.refused += 1
        if delete:
            self.api.delete(f"{path}/{name}")

    def one_of(self, *choices: object):
        return self.random.choice(choices)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def long_ago(self) -> float:
        """Seconds, over all the steps of how ages are written; a few are in the future."""
        if self.chance(5):
            return -self.one_of(0.4, 30, 86400)
        return self.random.uniform(1, 10) ** self.random.uniform(0, 9)


# -- objects ------------------------------------------------------------------------------------------------------


def random_state(m: Maker) -> dict:
    kind = m.one_of("waiting", "running", "terminated", None)
    if kind == "waiting":
        return {kind: m.one_of({}, {"reason": "PodInitializing"}, {"reason": "ContainerCreating"}, {"reason": "CrashLoopBackOff"},
                               {"reason": "ImagePullBackOff", "message": "x"})}
    if kind == "running":
        return {kind: m.one_of({}, {"startedAt": ago(50)})}
    if kind == "terminated":
        return {kind: {"exitCode": m.one_of(0, 0, 1, 137), "signal": m.one_of(0, 0, 9, 15),
                       **m.one_of({}, {"reason": "Completed"}, {"reason": "Error"}, {"reason": "OOMKilled"})}}
    return {}


def random_container_status(m: Maker, name: str) -> dict:
    status = {"name": name, "image": "x", "imageID": "", "ready": m.chance(50), "restartCount": m.one_of(0, 0, 1, 7, 2000),
              "state": random_state(m)}
    if m.chance(50):
        status["started"] = m.chance(70)
    if m.chance(50):
        when = m.long_ago()
        ended = {"exitCode": 1} | ({"finishedAt": ago(when), "startedAt": ago(when + 5)} if m.chance(80) else {})
        status["lastState"] = m.one_of({"terminated": ended}, {"waiting": {"reason": "x"}})
    return status


def random_pod(m: Maker) -> None:
    inits = [f"i{n}" for n in range(m.one_of(0, 0, 1, 2, 3))]
    mains = [f"c{n}" for n in range(m.one_of(1, 1, 2, 3))]
    gates = m.one_of([], [], ["a.dev/x"], ["a.dev/x", "a.dev/y", "a.dev/x2"])
    spec = {"containers": [{"name": n, "image": f"registry.test/{n}:1"} for n in mains],
            "initContainers": [{"name": n, "image": "x"} | ({"restartPolicy": "Always"} if m.chance(40) else {}) for n in inits]}
    if gates:
        spec["readinessGates"] = [{"conditionType": g} for g in gates]
    if m.chance(50):
        spec["nodeName"] = m.one_of("n1", "a-node-with-a-long-name.example.com")
    status: dict = {"phase": m.one_of("Pending", "Pending", "Running", "Running", "Running", "Succeeded", "Failed", "Unknown")}
    if m.chance(25):
        status["reason"] = m.one_of("Evicted", "NodeLost", "OutOfcpu", "SchedulingGated")
    conditions = []
    for kind in ("Ready", "Initialized", "PodScheduled", *gates):
        if m.chance(60):
            conditions.append({"type": kind, "status": m.one_of("True", "True", "False", "Unknown")} |
                              ({"reason": m.one_of("SchedulingGated", "Unschedulable")} if m.chance(30) else {}))
    status["conditions"] = conditions
    if m.chance(80):
        status["initContainerStatuses"] = [random_container_status(m, n) for n in inits]
    if m.chance(90):
        status["containerStatuses"] = [random_container_status(m, n) for n in mains]
    if m.chance(50):
        status |= m.one_of({"podIP": "10.1.2.3"}, {"podIPs": [{"ip": "fd00::7"}, {"ip": "10.0.0.7"}]},
                           {"podIP": "10.1.2.4", "podIPs": [{"ip": "10.1.2.4"}, {"ip": "fd00::4"}]})
    if m.chance(20) and "nodeName" not in spec:  # refused for pods that have a node
        status["nominatedNodeName"] = "n7"
    m.make("Pod", status=status, delete=m.chance(25), spec=spec)


def usual_pods(m: Maker) -> None:
    """Those of everyday life, by name, so that a difference is easy to read."""
    def container(name: str, **state: object) -> dict:
        return {"name": name, "image": "x", "imageID": "", "ready": "running" in state, "restartCount": 0, "state": state}

    ended = {"exitCode": 0, "reason": "Completed"}
    spec = {"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]}
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    m.make("Pod", "fresh", spec=spec)
    m.make("Pod", "held", spec=spec | {"schedulingGates": [{"name": "a.dev/gate"}]})
    m.make("Pod", "runs", {"phase": "Running", "containerStatuses": [container("a", running={}), container("b", running={})]} | ready, spec=spec)
    m.make("Pod", "half-done", {"phase": "Running", "containerStatuses": [container("a", running={}), container("b", terminated=ended)]}, spec=spec)
    m.make("Pod", "half-done-ready", {"phase": "Running", **ready, "containerStatuses": [
        container("a", terminated=ended), container("b", running={})]}, spec=spec)
    m.make("Pod", "done", {"phase": "Succeeded", "containerStatuses": [container("a", terminated=ended), container("b", terminated=ended)]}, spec=spec)
    m.make("Pod", "failed-behind", {"phase": "Failed", "containerStatuses": [
        container("a", terminated=ended), container("b", terminated={"exitCode": 3, "reason": "Error"})]}, spec=spec)
    m.make("Pod", "lost", {"phase": "Running", "reason": "NodeLost"}, spec=spec, delete=True)
    m.make("Pod", "going", {"phase": "Running"}, spec=spec, delete=True)
    m.make("Pod", "gone-well", {"phase": "Succeeded"}, spec=spec, delete=True)
    twice = container("a", running={}) | {"restartCount": 2}
    for name, when in (("just", 3), ("minutes", 300), ("hours", 14000), ("days", 200000), ("years", 9e7), ("future", -3600)):
        last = {"lastState": {"terminated": {"exitCode": 1, "finishedAt": ago(when)}}}
        m.make("Pod", f"restarted-{name}", {"phase": "Running", "containerStatuses": [twice | last]}, spec=spec)


def nodes(m: Maker) -> None:
    info = {key: "" for key in ("machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion",
                                "kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture")}
    for ready in ("True", "False", "Unknown", None):
        for cordoned in (False, True):
            status = {"nodeInfo": info | m.one_of({}, {"kubeletVersion": "v1.36.3", "architecture": "arm64", "kernelVersion": "6.1",
                                                       "osImage": "Debian", "containerRuntimeVersion": "containerd://2.0"})}
            if ready:
                status["conditions"] = [{"type": "Other", "status": "True"}, {"type": "Ready", "status": ready}]
            status["addresses"] = m.one_of([], [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "InternalIP", "address": "10.0.0.2"}],
                                           [{"type": "ExternalIP", "address": "1.2.3.4"}, {"type": "Hostname", "address": "h"}])
            labels = m.one_of({}, {"node-role.kubernetes.io/control-plane": "", "node-role.kubernetes.io/a": "x", "kubernetes.io/role": "a"},
                              {"kubernetes.io/role": ""}, {"kubernetes.io/role": "zoo", "node-role.kubernetes.io/b": ""})
            m.make("Node", spec={"unschedulable": cordoned}, status=status, meta={"labels": labels})
    m.make("Node", "doomed", delete=True)


def template(*containers: str) -> dict:
    return {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": n, "image": f"registry.test/{n}:1"} for n in containers]}}


SELECTORS = [
    {"matchLabels": {"app": "x"}},
    {"matchLabels": {"app": "x"}, "matchExpressions": [{"key": "app", "operator": "Exists"}, {"key": "a", "operator": "DoesNotExist"}]},
    {"matchExpressions": [{"key": "app", "operator": "In", "values": ["z", "x", "m"]}, {"key": "b.dev/c", "operator": "NotIn", "values": ["y", ""]},
                          {"key": "app", "operator": "In", "values": ["x"]}]},
]


def workloads(m: Maker) -> None:
    for i, selector in enumerate(SELECTORS):
        counts = {"replicas": i, "readyReplicas": i, "availableReplicas": i, "observedGeneration": 1}
        common = {"selector": selector, "template": template("a", *["b", "c"][:i])}
        m.make("ReplicaSet", spec=common | {"replicas": i * 3}, status=counts)
        m.make("StatefulSet", spec=common | {"serviceName": "s"}, status=counts)
        m.make("Deployment", spec=common | {"replicas": 5}, status=counts | {"updatedReplicas": i})
        place = {**common["template"], "spec": common["template"]["spec"] | {"nodeSelector": {"z": "1", "a.dev/b": "", "a": "2"} if i else {}}}
        m.make("DaemonSet", spec=common | {"template": place}, status={
            "currentNumberScheduled": 1, "numberMisscheduled": 2, "desiredNumberScheduled": 3 * i, "numberReady": 4,
            "updatedNumberScheduled": 5, "numberAvailable": i})
        m.make("ReplicaSet", spec=common)
    owner = {"uid": "11111111-2222-3333-4444-555555555555", "name": "web", "controller": True}
    for owners in ([], [owner | {"apiVersion": "apps/v1", "kind": "DaemonSet"}], [owner | {"apiVersion": "v1", "kind": "Pod"}],
                   [owner | {"apiVersion": "apps/v1", "kind": "StatefulSet", "controller": False}]):
        m.make("ControllerRevision", meta={"ownerReferences": owners}, revision=m.one_of(1, 77), data={})
    for rule in ({"minAvailable": 2}, {"maxUnavailable": "30%"}, {"minAvailable": "100%"}, {"maxUnavailable": 0}, {}):
        m.make("PodDisruptionBudget", spec={"selector": SELECTORS[0], **rule},
               status={"disruptionsAllowed": m.one_of(0, 3), "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1})


def jobs(m: Maker) -> None:
    work = {"metadata": {"labels": {"app": "x"}}, "spec": template("a")["spec"] | {"restartPolicy": "Never"}}
    start, end = ago(4000), ago(3880)
    complete = [{"type": kind, "status": "True", "lastTransitionTime": end} for kind in ("SuccessCriteriaMet", "Complete")]
    failed = [{"type": kind, "status": "True", "lastTransitionTime": end} for kind in ("FailureTarget", "Failed")]
    for rule in ({}, {"parallelism": 1}, {"parallelism": 4}, {"parallelism": 0}, {"completions": 6, "parallelism": 2}):
        for status in ({}, {"startTime": start}, {"startTime": start, "succeeded": 1, "completionTime": end, "conditions": complete},
                       {"startTime": start, "failed": 1, "conditions": failed}, {"startTime": start, "conditions": failed[:1]},
                       {"startTime": start, "conditions": complete[:1]}, {"conditions": [{"type": "Suspended", "status": "True"}]},
                       {"startTime": start, "conditions": [{"type": "Complete", "status": "False"}]}):
            m.make("Job", spec=rule | {"template": work}, status={"uncountedTerminatedPods": {}, "ready": 0, **status}, delete=m.chance(20))


def storage(m: Maker) -> None:
    for size in ("1Gi", "1500Mi", "1.5Gi", "1000000", "0.5", "3e9", "1024Ki"):
        modes = m.random.sample(["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"], m.one_of(1, 2, 3))
        claim = m.one_of({}, {"claimRef": {"namespace": NS, "name": "data"}})
        beta = m.one_of({}, {"volume.beta.kubernetes.io/storage-class": "old"})
        spec = {"capacity": {"storage": size}, "accessModes": modes, "hostPath": {"path": "/x"}, "storageClassName": m.one_of("", "fast"),
                "persistentVolumeReclaimPolicy": m.one_of("Retain", "Delete")}
        m.make("PersistentVolume", spec=spec | claim, meta={"annotations": beta}, delete=m.chance(30),
               status=m.one_of(None, {"phase": "Failed", "reason": "Broken"}, {"phase": "Bound"}))
        wants = {"accessModes": modes, "resources": {"requests": {"storage": size}}}
        m.make("PersistentVolumeClaim", spec=wants, meta={"annotations": beta})
        m.make("PersistentVolumeClaim", spec=wants | {"volumeName": "pv", "storageClassName": "fast", "volumeMode": "Block"}, delete=m.chance(30),
               status={"phase": "Bound", "capacity": {"storage": size}, "accessModes": modes + modes})
        m.make("PersistentVolumeClaim", spec=wants | {"volumeName": "pv", "storageClassName": "fast", "volumeAttributesClassName": "gold"})
    m.make("PersistentVolume", spec={"capacity": {"storage": "1"}, "accessModes": ["ReadWriteOncePod"], "volumeAttributesClassName": "gold",
                                     "csi": {"driver": "d.dev", "volumeHandle": "h"}, "volumeMode": "Block"})
    for marks in ({}, {"storageclass.kubernetes.io/is-default-class": "true"}, {"storageclass.beta.kubernetes.io/is-default-class": "true"},
                  {"storageclass.kubernetes.io/is-default-class": "yes"}):
        m.make("StorageClass", meta={"annotations": marks}, provisioner="d.dev", **m.one_of(
            {}, {"reclaimPolicy": "Retain", "allowVolumeExpansion": True, "volumeBindingMode": "WaitForFirstConsumer"}))
    for attached in (None, True, False):
        m.make("VolumeAttachment", spec={"attacher": "d.dev", "nodeName": "n1", "source": {"persistentVolumeName": "pv"}},
               status=None if attached is None else {"attached": attached})
    m.make("VolumeAttachment", spec={"attacher": "d.dev", "nodeName": "n1", "source": {"inlineVolumeSpec": {
        "accessModes": ["ReadWriteOnce"], "csi": {"driver": "d.dev", "volumeHandle": "h"}}}})
    for n in range(3):
        m.make("CSINode", spec={"drivers": [{"name": f"d{i}.dev", "nodeID": "x"} for i in range(n)]})


def services(m: Maker) -> None:
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 53, "protocol": "UDP"}, {"name": "c", "port": 7, "protocol": "SCTP"}]
    outside = {"externalIPs": ["1.2.3.4", "1.1.1.1"]}
    for kind in ("ClusterIP", "NodePort", "LoadBalancer"):
        for more in ({}, outside):
            for ingress in ([],) if kind != "LoadBalancer" else ([], [{"ip": "9.9.9.9"}, {"hostname": "a.example.com"}, {"ip": "9.9.9.9"}],
                                                                 [{"hostname": "a-very-long-name.of.a.load-balancer.example.com"}]):
                m.make("Service", spec={"type": kind, "ports": ports[:m.one_of(1, 3)], **more, "selector": m.one_of({}, {"z": "1", "a": "b"})},
                       status={"loadBalancer": {"ingress": ingress}})
    m.make("Service", spec={"clusterIP": "None"})
    m.make("Service", spec={"type": "ExternalName", "externalName": "elsewhere.example.com"})
    for n in range(6):
        m.make("EndpointSlice", addressType="IPv4", ports=[
            m.one_of({"name": "", "port": 80}, {"name": f"p{i}", "port": 8000 + i}, {"name": f"q{i}"}) | {"name": f"p{i}" if i else ""}
            for i in range(n)], endpoints=[{"addresses": [f"10.0.{n}.{i + k}" for k in range(1 + i % 2)]} for i in range(n)])
    m.make("EndpointSlice", addressType="FQDN", ports=[{}], endpoints=[{"addresses": ["a.example.com"]}])


def small(m: Maker) -> None:
    for data in ({}, {"a": "b"}, {"a": "b", "c": ""}):
        m.make("ConfigMap", data=data, binaryData=m.one_of({}, {"z": "AA=="}))
        m.make("Secret", stringData=data, type=m.one_of("Opaque", "a.dev/type"))
    m.make("ServiceAccount")
    for holder in ({}, {"holderIdentity": "host_1"}):
        m.make("Lease", spec=holder)
    for value in ({"value": 5}, {"value": -100, "preemptionPolicy": "Never"}, {"value": 1000000000, "globalDefault": True}):
        m.make("PriorityClass", **value)
    about = {"kind": "Pod", "namespace": NS, "name": "web", "apiVersion": "v1", "fieldPath": "spec.containers{main}"}
    for n in range(40):
        old = {} if n % 3 == 0 else {"firstTimestamp": ago(m.long_ago()), "lastTimestamp": ago(m.long_ago())}
        if n % 7 == 1:
            old.pop("lastTimestamp", None)
        new = {} if n % 2 else {"eventTime": ago(m.long_ago(), micro=True), "action": "Doing", "reportingComponent": "a.dev/c",
                                "reportingInstance": "i-1", **m.one_of({}, {"series": {"count": 4, "lastObservedTime": ago(m.long_ago(), micro=True)}})}
        if new:  # events of the new kind are checked more closely
            old.pop("firstTimestamp", None)
        m.make("Event", involvedObject=about if n % 5 else {"kind": "Node", "namespace": NS}, reason="Because", type=m.one_of("Normal", "Warning"),
               message=m.one_of("plain", "  trimmed \t\n", "\u00a0 \u2003inner \u3000 kept\u2028\u0085", "", " \n ", rich.SPOKEN),
               **old, **new, **m.one_of({}, {"source": {"component": "kubelet"}}, {"source": {"component": "kubelet", "host": "n1"}}),
               **m.one_of({}, {"count": 12}))


COLUMNS = [
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
    {"name": "Ratio", "type": "number", "jsonPath": ".spec.ratio", "format": "double"},
    {"name": "On", "type": "boolean", "jsonPath": ".spec.on", "description": "whether it is on"},
    {"name": "Text", "type": "string", "jsonPath": ".spec.text", "priority": 1},
    {"name": "Any", "type": "string", "jsonPath": ".spec.any"},
    {"name": "Any Int", "type": "integer", "jsonPath": ".spec.any"},
    {"name": "Any Number", "type": "number", "jsonPath": ".spec.any"},
    {"name": "Any Bool", "type": "boolean", "jsonPath": ".spec.any"},
    {"name": "Any Date", "type": "date", "jsonPath": ".spec.any"},
    {"name": "When", "type": "date", "jsonPath": ".spec.when"},
    {"name": "First", "type": "string", "jsonPath": ".spec.list[0].name"},
    {"name": "Last", "type": "string", "jsonPath": ".spec.list[-1].name"},
    {"name": "All", "type": "string", "jsonPath": ".spec.list[*].name"},
    {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
    {"name": "Label", "type": "string", "jsonPath": r".metadata.labels.a\.dev/x"},
    {"name": "Whole", "type": "string", "jsonPath": ".spec.list"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp", "format": "date-time"},
]


def definition(plural: str, kind: str, scope: str, columns: list[dict]) -> dict:
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "additionalPrinterColumns": columns,
               "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": free, "status": free}}},
               "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}}
    return {"group": "odd.slipway.dev", "scope": scope, "names": {"plural": plural, "kind": kind, "singular": kind.lower()}, "versions": [version]}


def custom(m: Maker) -> None:
    for name in ("widgets", "plains"):
        spec = definition(name, name[:-1].capitalize(), "Namespaced" if name == "widgets" else "Cluster", COLUMNS if name == "widgets" else [])
        m.make("CustomResourceDefinition", f"{name}.odd.slipway.dev", spec=spec)
    for kind in ("Widget", "Plain"):
        Context.wait_for(lambda: m.api.raw("GET", collection(kind))[0] == 200, 20, f"{kind} to be served")
        Context.wait_for(lambda: json.loads(m.api.raw("GET", collection(kind), accept=AS_TABLE)[1]).get("kind") == "Table", 20, "its columns")
    values = [None, True, False, 0, -7, 12345678901, 1.5, -0.25, 1e20, 1e21, 2.5e22, 1e-5, 1e-7, 123456.0, 1234567.0, 0.1, 3.0, 1e300, 12.999, "", "text",
              rich.SPOKEN, "null", ago(75), ago(-90), ago(5000, micro=True), "2026-01-02t03:04:05z", "2026-01-02T03:04:60Z", "2026-01-02", "12",
              "0001-01-01T00:00:00Z", "2026-01-02T03:04:05+02:00", [], {}, [1, None, "<&>", 2.0, {"b": 1, "a": [1e-9]}], {"z": rich.SPOKEN, "a<b": {"c": None}}]
    for value in values:
        m.make("Widget", spec={"any": value})
    things = [{"name": "one"}, {"name": "two", "x": 3}]
    for fields in ({"size": 3, "ratio": 0.5, "on": True, "text": "words", "when": ago(4 * 3600)}, {"size": 3.9, "ratio": 4, "on": "no", "text": 5, "when": 6},
                   {"list": things}, {"list": []}, {"list": "flat"}, {"list": [{"other": 1}]}, {"text": {"a": 1}}, {"size": "3", "ratio": "x"}):
        m.make("Widget", spec=fields, meta={"labels": {"a.dev/x": "label"}}, status={"conditions": [
            {"type": "Other", "status": "False"}, {"type": "Ready", "status": "True"}]} if m.chance(50) else {"conditions": "none"})
    m.make("Widget")
    m.make("Plain", "replicated", spec={"replicas": 3}, status={"replicas": 2})
    m.make("Plain", "bare", delete=True)


def make_everything(api: Api) -> Maker:
    m = Maker(api, seed=7)
    for obj in (rich.namespace(NS), *rich.prerequisites(NS)):
        kind = obj["kind"]
        path = {"RuntimeClass": "/apis/node.k8s.io/v1/runtimeclasses"}.get(kind) or collection(kind)
        api.call("POST", path, obj)
    for obj in rich.everything(NS):
        if obj["kind"] in ("Namespace", "ResourceQuota"):  # the simulator has no quotas
            continue
        rest = {k: v for k, v in obj.items() if k not in ("apiVersion", "kind", "metadata", "status")}
        meta = {k: v for k, v in obj["metadata"].items() if k not in ("name", "namespace")}
        m.make(obj["kind"], obj["metadata"]["name"], obj.get("status"), meta=meta, **rest)
    m.make("Namespace", "leaving", meta={"finalizers": FINALIZERS})
    api.delete("/api/v1/namespaces/leaving")
    usual_pods(m)
    for _ in range(400):
        random_pod(m)
    for part in (nodes, workloads, jobs, storage, services, small, custom):
        part(m)
    return m


# -- the comparison -----------------------------------------------------------------------------------------------


def big_as_real(value: object) -> object:
    """Whole numbers past 64 bits are reals to the server, which writes 1e20 without a point."""
    if isinstance(value, dict):
        return {k: big_as_real(v) for k, v in value.items()}
    if isinstance(value, list):
        return [big_as_real(v) for v in value]
    return float(value) if type(value) is int and abs(value) >= 1 << 63 else value


class Judge:
    def __init__(self, ctx: Context, api: Api) -> None:
        self.ctx, self.api = ctx, api
        self.program: Path = ctx.probe.with_name("probe_tables")

    def table(self, path: str, accept: str = AS_TABLE) -> tuple[dict, float, float]:
        begin = time.time()
        status, body = self.api.raw("GET", path, accept=accept)
        end = time.time()
        assert status == 200, (path, status, body[:300])
        return json.loads(body), begin, end

    def ours(self, requests: list[dict], begin: float, end: float) -> list[list[dict]]:
        """What ours prints for each request, at each second from begin to end."""
        moments = [begin + n for n in range(int(end - begin) + 1)] + [end]
        lines = []
        for moment in moments:
            now = datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            done = self.ctx.run(self.program, input=json.dumps({"now": now, "requests": big_as_real(requests)}), check=True)
            lines.append([json.loads(line) for line in done.stdout.rstrip("\n").split("\n")])
        return [list(each) for each in zip(*lines)]

    def request(self, kind: str, **more: object) -> dict:
        made = {"group": KINDS[kind][0], "kind": kind, **more}
        if kind in ("Widget", "Plain"):
            made["columns"] = COLUMNS if kind == "Widget" else []
        return made

    def list_and_table(self, kind: str, path: str) -> tuple[dict, dict, float, float]:
        """A list and its Table of the same moment: nothing has changed in between."""
        for _ in range(20):
            before = self.api.get(path)
            table, begin, end = self.table(path)
            if self.api.get(path)["items"] == before["items"]:
                for item in before["items"]:
                    if kind == "DaemonSet" and "includeObject=Object" not in path:
                        # Added when a DaemonSet is put into words, and so not in metadata that stand alone.
                        del item["metadata"]["annotations"]["deprecated.daemonset.template.generation"]
                        if not item["metadata"]["annotations"]:
                            del item["metadata"]["annotations"]
                    item.update({"kind": kind, "apiVersion": api_version(kind)} | {k: item[k] for k in list(item) if k in ("kind", "apiVersion")})
                return before, table, begin, end
        raise AssertionError(f"{path} does not come to rest")

    @staticmethod
    def columns(table: dict, custom: bool) -> list | None:
        """Of built-in columns without the descriptions, which are left out; of custom ones only those of the name and the age are."""
        if table["columnDefinitions"] is None:
            return None
        return [{k: v for k, v in c.items() if k != "description" or custom and c["name"] not in ("Name", "Age")} for c in table["columnDefinitions"]]

    def compare(self, what: object, theirs: dict, ours: list[dict], custom: bool = False) -> None:
        first = ours[0]
        assert (theirs["kind"], theirs["apiVersion"]) == (first["kind"], first["apiVersion"]), what
        assert self.columns(theirs, custom) == self.columns(first, custom), (what, theirs["columnDefinitions"], first["columnDefinitions"])
        assert set(theirs["metadata"]) == set(first["metadata"]), (what, theirs["metadata"], first["metadata"])
        if theirs["rows"] is None or first["rows"] is None:
            assert theirs["rows"] == first["rows"], (what, theirs["rows"], first["rows"])
            return
        assert len(theirs["rows"]) == len(first["rows"]), what
        wrong = []
        for i, row in enumerate(theirs["rows"]):
            same = [one["rows"][i] for one in ours]
            for c, cell in enumerate(row["cells"]):
                said = [one["cells"][c] for one in same]
                if not any(type(cell) is type(s) and cell == s for s in said):
                    wrong.append(f"{row['cells'][0]!r}, column {c}: the server says {cell!r}, ours {said!r}")
            for key in ("conditions", "object"):
                if row.get(key) != same[0].get(key):
                    wrong.append(f"{row['cells'][0]!r}, {key}: the server says {row.get(key)!r:.400}, ours {same[0].get(key)!r:.400}")
            assert set(row) == set(same[0]) and len(row["cells"]) == len(same[0]["cells"]), (what, row)
        assert not wrong, f"{what}: {len(wrong)} differences:\n" + "\n".join(wrong[:25])


def judged(ctx: Context) -> Judge:
    if not ctx.cluster_binaries.version.startswith("1.36."):
        ctx.skip("what is printed is that of Kubernetes 1.36")
    cluster = ctx.private_cluster(controllers=False, kwok=False)
    return Judge(ctx, cluster.api)


@limit(240)
def test_every_kind(ctx: Context) -> None:
    judge = judged(ctx)
    api = judge.api
    empty = {}
    for kind in KINDS:
        if kind not in ("Widget", "Plain"):
            empty[kind] = judge.list_and_table(kind, collection(kind, "nobody"))
    for kind, (listed, table, begin, end) in empty.items():
        judge.compare((kind, "at first"), table, *judge.ours([judge.request(kind, list=listed)], begin, end))
    made = make_everything(api)
    assert made.count > 600 and made.refused < 5, (made.count, made.refused)
    for kind in KINDS:
        is_custom = kind in ("Widget", "Plain")
        path = collection(kind)
        for include in ("", "Metadata", "Object", "None"):
            for text in (False, True):
                listed, table, begin, end = judge.list_and_table(kind, path + (f"?includeObject={include}" if include else ""))
                assert len(listed["items"]) >= (2 if is_custom or kind in ("CustomResourceDefinition", "ServiceAccount") else 3), kind
                ours = judge.ours([judge.request(kind, list=listed, include=include, text=text)], begin, end)
                judge.compare((kind, include, text), table, *ours, custom=is_custom)
        one = listed["items"][-1]
        table, begin, end = judge.table(f"{path}/{one['metadata']['name']}")
        judge.compare((kind, "one"), table, *judge.ours([judge.request(kind, object=one)], begin, end), custom=is_custom)
        assert table["metadata"] == {"resourceVersion": one["metadata"]["resourceVersion"]}


@limit(120)
def test_pages_scales_and_watches(ctx: Context) -> None:
    judge = judged(ctx)
    api = judge.api
    make_everything(api)
    # Pages: what the head of the list says.
    listed, table, begin, end = judge.list_and_table("Pod", collection("Pod") + "?limit=3")
    assert listed["metadata"]["remainingItemCount"] == table["metadata"]["remainingItemCount"] > 300
    ours, = judge.ours([judge.request("Pod", list=listed)], begin, end)
    judge.compare("a page", table, ours)
    assert ours[0]["metadata"] == listed["metadata"]
    # What may be included is said by the server's own words.
    status, body = api.raw("GET", collection("Pod") + "?includeObject=All%22", accept=AS_TABLE)
    said = ctx.run(judge.program, input=json.dumps({"now": ago(0), "requests": [judge.request("Pod", list=listed, include='All"')]})).stderr
    assert status == 400 and json.loads(body)["message"] in said, (body, said)
    # Scales.
    for path, more in ((collection("Deployment") + "/rich/scale", {"group": "autoscaling", "kind": "Scale"}),
                       (collection("Plain") + "/replicated/scale", {"scale": True})):
        table, begin, end = judge.table(path)
        judge.compare(path, table, *judge.ours([{"object": api.get(path), **more}], begin, end), custom="scale" in more)
    # A watch: columns in its first event alone, then a bookmark that is a row, too.
    for kind in ("Pod", "Node", "Event", "Job", "Widget", "CustomResourceDefinition"):
        for include in ("Metadata", "None"):
            check_watch(judge, kind, include)


def initial(judge: Judge, path: str, accept: str) -> list[dict]:
    """The events of a watch up to the bookmark after what is there."""
    connection = judge.api.connect(60)
    connection.request("GET", path, headers={"Accept": accept})
    answer, events = connection.getresponse(), []
    while not events or events[-1]["type"] != "BOOKMARK":
        line = answer.readline()
        assert line, (path, events)
        events.append(json.loads(line))
    connection.close()
    return events


def check_watch(judge: Judge, kind: str, include: str) -> None:
    query = ("?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=60"
             f"&includeObject={include}")
    bare = {event["object"]["metadata"].get("name", ""): event for event in initial(judge, collection(kind) + query, "application/json")}
    begin = time.time()
    events = initial(judge, collection(kind) + query, AS_TABLE)
    end = time.time()
    assert len(events) > 2, kind
    assert [e["type"] for e in events] == ["ADDED"] * (len(events) - 1) + ["BOOKMARK"], [e["type"] for e in events]
    names = [e["object"]["rows"][0]["cells"][-1 if kind == "Event" else 0] for e in events]
    requests = []
    for i, name in enumerate(names):
        source = bare[name]["object"]
        if not name:  # the version moves on
            source["metadata"]["resourceVersion"] = events[i]["object"]["metadata"]["resourceVersion"]
        requests.append(judge.request(kind, object=source, include=include, noHeaders=i > 0))
    for i, ours in enumerate(judge.ours(requests, begin, end)):
        judge.compare((kind, include, names[i]), events[i]["object"], ours, custom=kind == "Widget")
        assert events[i]["object"]["metadata"] == ours[0]["metadata"]


@limit(60)
def test_metadata_alone(ctx: Context) -> None:
    judge = judged(ctx)
    m = Maker(judge.api, seed=3)
    judge.api.create(rich.namespace(NS))
    for n in range(5):
        m.make("ConfigMap", data={"k": rich.SPOKEN}, meta=rich.meta("x") | {"name": f"m{n}"})
    for path in (collection("ConfigMap"), collection("Secret"), collection("ConfigMap") + "?limit=2"):
        listed, begin, end = judge.table(path, "application/json")
        theirs, _, _ = judge.table(path, AS_PARTIAL_LIST)
        for text in (False, True):
            ours, = judge.ours([{"partial": True, "list": listed, "text": text}], begin, begin)
            for each in (theirs, ours[0]):
                for key in ("resourceVersion", "continue"):  # the first moves on, the second holds the first
                    each["metadata"][key] = bool(each["metadata"].get(key))
            assert ours[0] == theirs, (path, text, ours[0], theirs)
    path = collection("ConfigMap") + "/m3"
    for text in (False, True):
        ours, = judge.ours([{"partial": True, "object": judge.api.get(path), "text": text}], time.time(), time.time())
        assert ours[0] == judge.table(path, AS_PARTIAL)[0]


# -- discovery ----------------------------------------------------------------------------------------------------

AS_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
DEFINITIONS = [  # (group, plural, kind, scope, versions, further names)
    ("b.example.com", "widgets", "Widget", "Namespaced", ["v1", "v2alpha1", "v1beta1", "v10", "v2"], {"shortNames": ["wd", "a"], "categories": ["all", "zoo"]}),
    ("b.example.com", "apples", "Apple", "Cluster", ["v1"], {"singular": "fruit"}),
    ("a.example.com", "things", "Thing", "Cluster", ["v1beta1", "foo", "v1alpha2"], {}),
]


def define(api: Api) -> list[dict]:
    for group, plural, kind, scope, versions, names in DEFINITIONS:
        spec = definition(plural, kind, scope, [])
        spec |= {"group": group, "versions": [{**spec["versions"][0], "name": v, "storage": not i} for i, v in enumerate(versions)]}
        spec["names"] |= names
        for later in spec["versions"][1:]:
            later["subresources"] = {}
        api.call("POST", collection("CustomResourceDefinition"), {
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"}, "spec": spec})
    wanted = {(group, version, plural) for group, plural, _, _, versions, _ in DEFINITIONS for version in versions}

    def served() -> bool:
        groups = json.loads(api.raw("GET", "/apis", accept=AS_DISCOVERY)[1])["items"]
        seen = {(g["metadata"]["name"], v["version"], r["resource"]) for g in groups for v in g["versions"] for r in v["resources"]}
        return wanted <= seen and all(f"{g}/{v}" in api.raw("GET", "/apis")[1].decode() for g, v, _ in wanted)

    Context.wait_for(served, 30, "all versions in both forms of discovery")
    return api.get(collection("CustomResourceDefinition"))["items"]


def only_ours(theirs: object, ours: object) -> object:
    """The server's document without what the simulator leaves out: resources, subresources and groups it does not serve."""
    names = {"resources": ("name", "resource"), "subresources": ("subresource",), "groups": ("name",), "items": ("metadata",)}

    def name(entry: dict, keys: tuple) -> object:
        return next((entry[k] for k in keys if k in entry), None)

    if isinstance(theirs, dict) and isinstance(ours, dict):
        kept = {}
        for key, value in theirs.items():
            mine = ours.get(key)
            if key in names and isinstance(value, list):
                served = {json.dumps(name(e, names[key])): e for e in mine or []}
                value = [only_ours(e, served[json.dumps(name(e, names[key]))]) for e in value if json.dumps(name(e, names[key])) in served]
                if not value and mine is None:
                    continue
            elif key == "versions" and isinstance(mine, list) and value and isinstance(value[0], dict) and len(value) == len(mine):
                value = [only_ours(a, b) for a, b in zip(value, mine)]
            kept[key] = value
        return kept
    return theirs


def sorted_resources(document: dict) -> dict:
    """The server lists the resources of one custom version in the order of a Go map."""
    if "example.com" in document.get("groupVersion", ""):
        main = {r["name"]: i for i, r in enumerate(document["resources"])}
        document["resources"].sort(key=lambda r: (r["name"].partition("/")[0], main[r["name"]]))
    return document


@limit(90)
def test_discovery(ctx: Context) -> None:
    judge = judged(ctx)
    api = judge.api
    definitions = define(api)
    assert len(definitions) == 3 and all(d["status"]["acceptedNames"]["plural"] for d in definitions)
    groups = sorted({(g, v) for g, v, _, _ in KINDS.values() if "slipway" not in g} | {("authorization.k8s.io", "v1")} |
                    {(d[0], v) for d in DEFINITIONS for v in d[4]})
    paths = ["/api", "/apis", *sorted({f"/apis/{g}" for g, _ in groups if g}), *[f"/apis/{g}/{v}" if g else f"/api/{v}" for g, v in groups]]
    asked = [(path, False) for path in paths] + [("/api", True), ("/apis", True)]
    requests = [{"discovery": path, "aggregated": aggregated, "definitions": definitions} for path, aggregated in asked]
    now = time.time()
    resources = 0
    for (path, aggregated), (ours, *_) in zip(asked, judge.ours(requests, now, now)):
        def same() -> bool:
            """As soon as the server has the definitions in this one of its documents."""
            theirs = json.loads(api.raw("GET", path, accept=AS_DISCOVERY if aggregated else "application/json")[1])
            for document in (theirs, ours):
                for address in document.get("serverAddressByClientCIDRs", []):
                    address["serverAddress"] = "here"
            seen = sorted_resources(only_ours(theirs, ours))
            assert seen == ours, f"{path}, aggregated {aggregated}:\nthe server {json.dumps(seen)}\nours       {json.dumps(ours)}"
            assert list(seen) == list(ours), (path, list(seen), list(ours))
            return True
        ctx.wait_for(same, 60, f"the same {path}")
        resources += len(ours.get("resources", []))
    assert resources > 50, resources
    # What is not there, and the older form that clients fall back from.
    missing = ["/apis/nope", "/apis/nope/v1", "/apis/apps/v2", "/api/v2", "/apis/b.example.com/v9"]
    for path, (ours, *_) in zip(missing, judge.ours([{"discovery": p, "definitions": definitions} for p in missing], now, now)):
        status, body = api.raw("GET", path)
        assert status == 404 and ours is None, (path, body, ours)
        assert (body == b"404 page not found\n") == (path in ("/apis/nope", "/apis/nope/v1", "/apis/b.example.com/v9")), (path, body)
    assert api.raw("GET", "/apis", accept=AS_DISCOVERY.replace("v2", "v2beta1"))[0] == 406
    theirs = json.loads(api.raw("GET", "/version")[1])
    ours = judge.ours([{"discovery": "/version"}], now, now)[0][0]
    assert list(theirs) == list(ours) and (theirs["major"], theirs["minor"]) == (ours["major"], ours["minor"])
    assert ours["gitVersion"].partition("+")[0] == theirs["gitVersion"]
    assert [theirs[k] == ours[k] for k in theirs if k.startswith(("emulation", "minCompatibility"))] == [True] * 4
