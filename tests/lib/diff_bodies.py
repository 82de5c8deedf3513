"""Objects, patches and mistakes from which the differential test draws.

Everything is a function of the random generator that it is given.  In texts @ns@ stands for the namespace, which has another name
on each server.
"""

from __future__ import annotations

import copy
from random import Random
from typing import Callable

from crds import OPEN
from kinds import (ATTACHMENT, BUDGET, CLAIM, CONFIG_MAP, DAEMON_SET, DEPLOYMENT, EVENT, GATES, IMAGE, JOB, LEASE,
                   NAMESPACE_KIND, NODE, POD, REPLICA_SET, SECRET, SERVICE, SERVICE_ACCOUNT, STATEFUL_SET, VOLUME, Kind)
from shape import merged

NAMES = ("a", "b", "c")
WORDS = ("web", "web", "db", "x", "")
GROUP = "diff.example.com"
PERCENTS = ("0%", "1%", "33%", "50%", "100%", 0, 1, 2, 5)

BOAT_SCHEMA = {
    "type": "object", "properties": {
        "spec": {"type": "object", "required": ["hull"], "properties": {
            "hull": {"type": "string", "enum": ["wood", "steel"]},
            "masts": {"type": "integer", "minimum": 0, "maximum": 5, "default": 2},
            "name": {"type": "string", "pattern": "^[A-Z]", "maxLength": 8}, "crew": {"type": "array", "maxItems": 3, "items": {
                "type": "object", "required": ["name"], "properties": {"name": {"type": "string"},
                                                                       "rank": {"type": "string", "default": "sailor"}}}},
            "speed": {"x-kubernetes-int-or-string": True}, "cargo": {"type": "object", "additionalProperties": {"type": "number"}},
            "note": {"type": "string", "nullable": True}, "free": {**OPEN}}},
        "status": {"type": "object", "properties": {"replicas": {"type": "integer"}, "phase": {"type": "string"}}}}}
BOAT = Kind(f"{GROUP}/v1", "Boat", "boats", {"spec": {"hull": "wood"}}, status=True, unconditional=False, generation=True)
BOAT_CRD = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"boats.{GROUP}"}, "spec": {
    "group": GROUP, "scope": "Namespaced", "names": {"plural": "boats", "singular": "boat", "kind": "Boat", "listKind": "BoatList"},
    "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": BOAT_SCHEMA},
                  "selectableFields": [{"jsonPath": ".spec.hull"}], "additionalPrinterColumns": [
                      {"name": "Hull", "type": "string", "jsonPath": ".spec.hull"}, {"name": "Masts", "type": "integer",
                                                                                    "jsonPath": ".spec.masts", "priority": 1},
                      {"name": "Crew", "type": "string", "jsonPath": ".spec.crew[*].name"},
                      {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}],
                  "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.masts",
                                                           "statusReplicasPath": ".status.replicas"}}}]}}
REVISION = Kind("apps/v1", "ControllerRevision", "controllerrevisions", {"revision": 1, "data": {"a": 1}})
SLICE = Kind("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", {"addressType": "IPv4", "endpoints": []}, generation=True)
PRIORITY = Kind("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", {"value": 1}, namespaced=False)
CSI_NODE = Kind("storage.k8s.io/v1", "CSINode", "csinodes", {"spec": {"drivers": []}}, namespaced=False)
STORAGE_CLASS = Kind("storage.k8s.io/v1", "StorageClass", "storageclasses", {"provisioner": "csi.example.com"}, namespaced=False)
CSI_NODE = Kind("storage.k8s.io/v1", "CSINode", "csinodes", {"spec": {"drivers": []}}, namespaced=False)


def some(r: Random, **choices: Callable[[], object]) -> dict:
    """About half of the choices, each with its value."""
    return {key: value() for key, value in choices.items() if r.random() < 0.5}


def metadata(r: Random) -> dict:
    return some(r, labels=lambda: {"app": r.choice(WORDS), **({"tier": str(r.randrange(3))} if r.random() < 0.5 else {})},
                annotations=lambda: {"slipway.dev/note": r.choice(("", "one", "größer „als“ 三", "a\nb\t\"c\""))},
                finalizers=lambda: ["slipway.dev/hold"] if r.random() < 0.3 else [])


def container(r: Random, name: str = "main") -> dict:
    return {"name": name, "image": r.choice((IMAGE, "registry.test/app", "registry.test/app:latest")), **some(
        r, resources=lambda: {"requests": {"cpu": r.choice(("100m", "1", "0.5", "2000m")),
                                           "memory": r.choice(("64Mi", "1Gi", "1.5G"))},
                              "limits": {"cpu": "4", "memory": "4Gi"}},
        env=lambda: [{"name": "A", "value": str(r.randrange(9))}, {"name": "B", "value": "x"}],
        ports=lambda: [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP", "name": "dns"}],
        command=lambda: ["sleep", "1"], imagePullPolicy=lambda: "Always",
        readinessProbe=lambda: {"httpGet": {"port": 80, "path": "/"}} if r.random() < 0.5 else {"exec": {"command": ["true"]}})}


def pod_spec(r: Random) -> dict:
    return {"containers": [container(r)] + ([container(r, "side")] if r.random() < 0.3 else []), **some(
        r, terminationGracePeriodSeconds=lambda: r.choice((0, 1, 30, 6000)), nodeSelector=lambda: {"disk": "ssd"},
        tolerations=lambda: [{"key": "a", "operator": "Exists", "effect": r.choice(("NoExecute", "NoSchedule"))}],
        volumes=lambda: [r.choice(({"name": "v", "emptyDir": {}}, {"name": "v", "hostPath": {"path": "/x"}},
                                   {"name": "v", "configMap": {"name": "a"}},
                                   {"name": "v", "persistentVolumeClaim": {"claimName": "a"}}))],
        affinity=lambda: {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}]}},
        topologySpreadConstraints=lambda: [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
                                            "whenUnsatisfiable": "DoNotSchedule",
                                            "labelSelector": {"matchLabels": {"app": "web"}}}],
        hostNetwork=lambda: False, initContainers=lambda: [container(r, "init")])}


def template(r: Random, **spec: object) -> dict:
    return {"metadata": {"labels": {"app": "web", **({"tier": "1"} if r.random() < 0.3 else {})}}, "spec": {**pod_spec(r), **spec}}


def make(r: Random, kind: Kind) -> dict:
    """A good body of the kind, less its name."""
    selector = {"selector": {"matchLabels": {"app": "web"}}}
    replicas = some(r, replicas=lambda: r.randrange(4))
    bodies: dict[str, Callable[[], dict]] = {
        "ConfigMap": lambda: some(r, data=lambda: {k: str(r.randrange(9)) for k in "xyz"[:r.randrange(4)]},
                                  binaryData=lambda: {"bin": "AAEC"},
                                  immutable=lambda: r.random() < 0.2),
        "Secret": lambda: some(r, data=lambda: {"a": "Yg=="}, stringData=lambda: {"a": "over", "c": "d"},
                               immutable=lambda: r.random() < 0.2),
        "Service": lambda: {"spec": {"ports": [{"port": 80,
                                                **some(r, name=lambda: "http", targetPort=lambda: r.choice((8080, "web")))}],
                                     "clusterIP": "None", **some(r, selector=lambda: {"app": "web"},
                                                                 sessionAffinity=lambda: "ClientIP",
                                                                 publishNotReadyAddresses=lambda: True)}},
        "ServiceAccount": lambda: some(r, automountServiceAccountToken=lambda: False),
        "PersistentVolumeClaim": lambda: {"spec": {"accessModes": [r.choice(("ReadWriteOnce", "ReadWriteMany"))],
                                                   "resources": {"requests": {
            "storage": r.choice(("1Gi", "1G", "1500Mi"))}}, **some(r, storageClassName=lambda: r.choice(("", "fast")),
                                                                   volumeMode=lambda: "Block")}},
        "Event": lambda: {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "@ns@"}, **some(
            r, reason=lambda: "Why", message=lambda: "words", type=lambda: r.choice(("Normal", "Warning")),
            count=lambda: r.randrange(5))},
        "Pod": lambda: {"spec": {**pod_spec(r),
                                 **({"nodeName": "nowhere"} if r.random() < 0.6 else {"schedulingGates": GATES}), **some(
            r, restartPolicy=lambda: r.choice(("Always", "OnFailure", "Never")))}},
        "Deployment": lambda: {"spec": {**selector, **replicas, "template": template(r), **some(
            r, minReadySeconds=lambda: r.randrange(9), paused=lambda: True, revisionHistoryLimit=lambda: 2,
            strategy=lambda: r.choice((
                {"type": "Recreate"}, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": r.choice((1, "10%"))}}, {})))}},
        "ReplicaSet": lambda: {"spec": {**selector, **replicas, "template": template(r)}},
        "StatefulSet": lambda: {"spec": {**selector, **replicas, "serviceName": "web", "template": template(r), **some(
            r, podManagementPolicy=lambda: "Parallel", ordinals=lambda: {"start": 1}, updateStrategy=lambda: r.choice((
                {"type": "OnDelete"}, {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}})),
            volumeClaimTemplates=lambda: [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {
                "requests": {"storage": "1Gi"}}}}])}},
        "DaemonSet": lambda: {"spec": {**selector, "template": template(r),
                                       **some(r, minReadySeconds=lambda: 3, updateStrategy=lambda: r.choice((
            {"type": "OnDelete"}, {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "50%"}})))}},
        "Job": lambda: {"spec": {"template": {"spec": {**pod_spec(r), "restartPolicy": "Never"}}, **some(
            r, completions=lambda: r.randrange(1, 4), parallelism=lambda: r.randrange(3), backoffLimit=lambda: r.randrange(3),
            suspend=lambda: True, activeDeadlineSeconds=lambda: 100, ttlSecondsAfterFinished=lambda: 0,
            completionMode=lambda: "NonIndexed")}},
        "PodDisruptionBudget": lambda: {"spec": {"selector": {"matchLabels": {"app": r.choice(("web", "web", "db"))}},
                                                 r.choice(("minAvailable", "maxUnavailable")):
                                                 r.choice(PERCENTS), **some(r, unhealthyPodEvictionPolicy=lambda: r.choice(
                                                     ("AlwaysAllow", "IfHealthyBudget")))}},
        "Lease": lambda: {"spec": some(r, holderIdentity=lambda: r.choice(NAMES),
                                       leaseDurationSeconds=lambda: r.randrange(1, 60), leaseTransitions=lambda: r.randrange(3),
                                       renewTime=lambda: "2026-01-02T03:04:05.678901Z")},
        "Node": lambda: {"spec": some(r, unschedulable=lambda: True,
                                      taints=lambda: [{"key": "k", "value": "v", "effect": "NoSchedule"}],
                                      podCIDR=lambda: "10.1.0.0/24", providerID=lambda: "test://x")},
        "PersistentVolume": lambda: {"spec": {"capacity": {"storage": r.choice(("1Gi", "2Gi"))},
                                              "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}, **some(
            r, persistentVolumeReclaimPolicy=lambda: "Delete", storageClassName=lambda: "fast")}},
        "VolumeAttachment": lambda: {"spec": {"attacher": "csi.example.com", "nodeName": "n",
                                              "source": {"persistentVolumeName": "v"}}},
        "Boat": lambda: {"spec": {"hull": r.choice(("wood", "steel")), **some(
            r, masts=lambda: r.randrange(6), name=lambda: "Argo", crew=lambda: [{"name": "x"}], speed=lambda: r.choice((3, "fast")),
            cargo=lambda: {"oil": 1.5}, note=lambda: None, free=lambda: {"a": [1, {"b": None}]}, pruned=lambda: 7)}},
        "Namespace": lambda: some(r, spec=lambda: {"finalizers": ["kubernetes"] + ["slipway.dev/hold"] * (r.random() < 0.3)}),
        "ControllerRevision": lambda: {"revision": r.randrange(9), **some(r, data=lambda: {"spec": {"a": [None, 1.5], "b": 1}})},
        "EndpointSlice": lambda: {"addressType": "IPv4", "endpoints": [{"addresses": [f"10.1.2.{r.randrange(1, 9)}"], **some(
            r, conditions=lambda: {"ready": r.random() < 0.5}, hostname=lambda: "h", nodeName=lambda: "n",
            targetRef=lambda: {"kind": "Pod", "name": "a", "namespace": "@ns@"})}],
            **some(r, ports=lambda: [{"port": 80, "name": "http"}, {"port": 53, "protocol": "UDP", "name": "dns"}])},
        # None that is everybody's default: it would be that of other sequences too.
        "PriorityClass": lambda: {"value": r.randrange(9), **some(r, description=lambda: "words", globalDefault=lambda: False,
                                                                  preemptionPolicy=lambda: "Never")},
        "StorageClass": lambda: {"provisioner": "csi.example.com", **some(
            r, parameters=lambda: {"a": "b"}, reclaimPolicy=lambda: r.choice(("Delete", "Retain")),
            allowVolumeExpansion=lambda: r.random() < 0.5, mountOptions=lambda: ["ro"],
            volumeBindingMode=lambda: r.choice(("Immediate", "WaitForFirstConsumer")), allowedTopologies=lambda: [
                {"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": ["a", "b"]}]}])},
        # Not without drivers: a list without items comes back as null, unless the object goes with this write and is never stored.
        "CSINode": lambda: {"spec": {"drivers": [{"name": "csi.example.com", "nodeID": "n", **some(
            r, topologyKeys=lambda: ["zone"], allocatable=lambda: {"count": r.randrange(5)})}]}},
    }
    return {"metadata": metadata(r), **bodies[kind.kind]()}


NAMESPACED = [POD, CONFIG_MAP, SECRET, SERVICE, SERVICE_ACCOUNT, CLAIM, EVENT, DEPLOYMENT, REPLICA_SET, STATEFUL_SET,
              DAEMON_SET, JOB, BUDGET, LEASE, BOAT, REVISION, SLICE]
SCOPED = [NODE, VOLUME, ATTACHMENT, NAMESPACE_KIND, PRIORITY, STORAGE_CLASS, CSI_NODE]
ALL_KINDS = NAMESPACED + SCOPED


def body(r: Random, kind: Kind, name: str) -> dict:
    where = {"namespace": "@ns@"} if kind.namespaced and r.random() < 0.8 else {}
    labels = {} if kind.namespaced else {"labels": {"seq": "@ns@"}}
    made = {"apiVersion": kind.version, "kind": kind.kind, **make(r, kind)}
    return merged(made, {"metadata": {"name": name, **where, **labels}})


# -- mistakes: each changes a good body into a bad one ------------------------------------------------------------------


def spoil(r: Random, kind: Kind, good: dict) -> object:
    """Something that is wrong with the body: its outside, its metadata, or its spec."""
    bad = copy.deepcopy(good)

    def meta(**more: object) -> dict:
        return merged(bad, {"metadata": more})

    anywhere: list[Callable[[], object]] = [
        lambda: meta(name=r.choice(("A", "a_b", "-a", "a..b", "x" * 254, "a/b", ".", ""))),
        lambda: meta(namespace="elsewhere"), lambda: meta(labels={"a b": "x"}), lambda: meta(labels={"a": "x y"}),
        lambda: meta(labels={"x/y/z": ""}),
        lambda: meta(annotations={"A B": ""}), lambda: meta(finalizers=["plain"]), lambda: meta(finalizers=["a b/c"]),
        lambda: meta(ownerReferences=[{"apiVersion": "v1", "kind": "Pod", "name": "", "uid": ""}]),
        lambda: meta(resourceVersion="5"),
        lambda: meta(labels=[1]), lambda: meta(name=7), lambda: merged(bad, {"kind": "Nothing"}),
        lambda: merged(bad, {"apiVersion": "v7"}),
        lambda: merged(bad, {"kind": None, "apiVersion": None}), lambda: merged(bad, {"extra": {"x": 1}}),
        lambda: merged(bad, {"metadata": {"extra": 1}}),
        lambda: merged(bad, {"metadata": None}), lambda: {"kind": kind.kind, "apiVersion": kind.version}, lambda: "{",
        lambda: "[]", lambda: "", lambda: '"x"',
    ]
    inside = {
        "ConfigMap": [lambda: merged(bad, {"data": {"a b": "x"}}), lambda: merged(bad, {"data": {"a": 1}}),
                      lambda: merged(bad, {"binaryData": {"a": "!"}}),
                      lambda: merged(bad, {"data": {"d": "1"}, "binaryData": {"d": "AA=="}})],
        "Secret": [lambda: merged(bad, {"data": {"a": "not base64!"}}), lambda: merged(bad, {"type": "kubernetes.io/tls"})],
        "Service": [lambda: merged(bad, {"spec": {"ports": []}}), lambda: merged(bad, {"spec": {"ports": [{"port": 0}]}}),
                    lambda: merged(bad, {"spec": {"type": "Nope"}}),
                    lambda: merged(bad, {"spec": {"ports": [{"port": 1}, {"port": 2}]}}),
                    lambda: merged(bad, {"spec": {"sessionAffinity": "x"}})],
        "PersistentVolumeClaim": [lambda: merged(bad, {"spec": {"accessModes": []}}),
                                  lambda: merged(bad, {"spec": {"accessModes": ["Nope"]}}),
                                  lambda: merged(bad, {"spec": {"resources": {"requests": {"storage": "0"}}}}),
                                  lambda: merged(bad, {"spec": {"resources": {"requests": {"storage": "x"}}}})],
        "Event": [lambda: merged(bad, {"involvedObject": {"namespace": "other"}}), lambda: merged(bad, {"involvedObject": None})],
        "Pod": [lambda: merged(bad, {"spec": {"containers": []}}), lambda: merged(bad, {"spec": {"restartPolicy": "x"}}),
                lambda: merged(bad, {"spec": {"dnsPolicy": "x"}}),
                lambda: merged(bad, {"spec": {"containers": [{"name": "A", "image": "x"}]}}),
                lambda: merged(bad, {"spec": {"containers": [{"name": "a"}]}}),
                lambda: merged(bad, {"spec": {"containers": [{"name": "a", "image": "x"}, {"name": "a", "image": "x"}]}}),
                lambda: merged(bad, {"spec": {"containers": [{"name": "a", "image": "x",
                                                              "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}]}}),
                lambda: merged(bad, {"spec": {"containers": [{"name": "a", "image": "x",
                                                              "resources": {"requests": {"cpu": "many"}}}]}}),
                lambda: merged(bad, {"spec": {"containers": [{"name": "a", "image": "x",
                                                              "volumeMounts": [{"name": "none", "mountPath": "/x"}]}]}}),
                lambda: merged(bad, {"spec": {"tolerations": [{"operator": "Equal"}]}}),
                lambda: merged(bad, {"spec": {"terminationGracePeriodSeconds": "x"}}),
                lambda: merged(bad, {"spec": {"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]}}),
                lambda: merged(bad, {"spec": {"serviceAccountName": "none"}}),
                lambda: merged(bad, {"spec": {"priorityClassName": "none"}}), lambda: merged(bad, {"spec": {"priority": 7}}),
                lambda: merged(bad, {"spec": None})],
        "Deployment": [lambda: merged(bad, {"spec": {"strategy": {"type": "x"}}}),
                       lambda: merged(bad, {"spec": {"minReadySeconds": -1}}),
                       lambda: merged(bad, {"spec": {"strategy": {"type": "RollingUpdate",
                                                                  "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}}}),
                       lambda: merged(bad, {"spec": {"progressDeadlineSeconds": 1, "minReadySeconds": 5}})],
        "StatefulSet": [lambda: merged(bad, {"spec": {"podManagementPolicy": "x"}}),
                        lambda: merged(bad, {"spec": {"updateStrategy": {"type": "x"}}}),
                        lambda: merged(bad, {"spec": {"ordinals": {"start": -1}}})],
        "DaemonSet": [lambda: merged(bad,
                                     {"spec": {"updateStrategy": {"type": "RollingUpdate",
                                                                  "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 0}}}}),
                      lambda: merged(bad, {"spec": {"template": {"spec": {"restartPolicy": "Never"}}}})],
        "Job": [lambda: merged(bad, {"spec": {"template": {"spec": {"restartPolicy": "Always"}}}}),
                lambda: merged(bad, {"spec": {"parallelism": -1}}),
                lambda: merged(bad, {"spec": {"completionMode": "x"}}), lambda: merged(bad, {"spec": {"backoffLimit": -1}}),
                lambda: merged(bad, {"spec": {"selector": {"matchLabels": {"a": "b"}}}})],
        "PodDisruptionBudget": [lambda: merged(bad, {"spec": {"minAvailable": 1, "maxUnavailable": 1}}),
                                lambda: merged(bad, {"spec": {"minAvailable": None, "maxUnavailable": "200%"}}),
                                lambda: merged(bad, {"spec": {"minAvailable": None, "maxUnavailable": -1}}),
                                lambda: merged(bad, {"spec": {"unhealthyPodEvictionPolicy": "x"}}),
                                lambda: merged(bad, {"spec": {"minAvailable": None, "maxUnavailable": "x"}})],
        "Lease": [lambda: merged(bad, {"spec": {"leaseDurationSeconds": 0}}),
                  lambda: merged(bad, {"spec": {"leaseTransitions": -1}}), lambda: merged(bad, {"spec": {"renewTime": "x"}})],
        "Node": [lambda: merged(bad, {"spec": {"taints": [{"key": "a b", "effect": "NoSchedule"}]}}),
                 lambda: merged(bad, {"spec": {"taints": [{"key": "a", "effect": "x"}]}}),
                 lambda: merged(bad, {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}] * 2}}),
                 lambda: merged(bad, {"spec": {"podCIDR": "x"}})],
        "PersistentVolume": [lambda: merged(bad, {"spec": {"capacity": None}}),
                             lambda: merged(bad, {"spec": {"hostPath": None}}), lambda: merged(bad, {"spec": {"accessModes": []}})],
        "VolumeAttachment": [lambda: merged(bad, {"spec": {"attacher": ""}}), lambda: merged(bad, {"spec": {"nodeName": ""}}),
                             lambda: merged(bad, {"spec": {"source": {"persistentVolumeName": None}}})],
        "Boat": [lambda: merged(bad, {"spec": {"hull": "paper"}}), lambda: merged(bad, {"spec": {"hull": None}}),
                 lambda: merged(bad, {"spec": {"masts": 9}}), lambda: merged(bad, {"spec": {"masts": "x"}}),
                 lambda: merged(bad, {"spec": {"name": "argo"}}), lambda: merged(bad, {"spec": {"name": "A" * 9}}),
                 lambda: merged(bad, {"spec": {"crew": [{}]}}), lambda: merged(bad, {"spec": None}),
                 lambda: merged(bad, {"spec": {"crew": [{"name": "x"}] * 4}}), lambda: merged(bad, {"spec": {"speed": 1.5}}),
                 lambda: merged(bad, {"spec": {"cargo": {"a": "b"}}})],
        "Namespace": [lambda: merged(bad, {"spec": {"finalizers": ["plain"]}}), lambda: merged(bad, {"spec": {"finalizers": [7]}})],
        "ControllerRevision": [lambda: merged(bad, {"revision": -1}), lambda: merged(bad, {"data": 7}),
                               lambda: merged(bad, {"revision": "x"})],
        "EndpointSlice": [lambda: merged(bad, {"addressType": "x"}), lambda: merged(bad, {"addressType": None}),
                          lambda: merged(bad, {"endpoints": [{"addresses": []}]}),
                          lambda: merged(bad, {"endpoints": [{"addresses": ["1.2.3"]}]}),
                          lambda: merged(bad, {"ports": [{"port": 1}, {"port": 2}]}),
                          lambda: merged(bad, {"ports": [{"port": 1, "protocol": "x", "name": "A"}]})],
        "PriorityClass": [lambda: merged(bad, {"value": 2000000000}), lambda: merged(bad, {"preemptionPolicy": "x"}),
                          lambda: meta(name="system-x"), lambda: merged(bad, {"value": "x"})],
        "StorageClass": [lambda: merged(bad, {"provisioner": ""}), lambda: merged(bad, {"reclaimPolicy": "x"}),
                         lambda: merged(bad, {"volumeBindingMode": "x"}), lambda: merged(bad, {"parameters": {"": "x"}}),
                         lambda: merged(bad, {"allowedTopologies": [{"matchLabelExpressions": [{"key": "", "values": []}]}]})],
        "CSINode": [lambda: merged(bad, {"spec": {"drivers": [{"name": "a b", "nodeID": ""}]}}),
                    lambda: merged(bad, {"spec": {"drivers": [{"name": "a", "nodeID": "n"}] * 2}}),
                    lambda: merged(bad, {"spec": {"drivers": [{"name": "a", "nodeID": "n", "allocatable": {"count": -1}}]}})],
    }
    workloads: list[Callable[[], object]] = [
        lambda: merged(bad, {"spec": {"replicas": -1}}), lambda: merged(bad, {"spec": {"selector": None}}),
        lambda: merged(bad, {"spec": {"selector": {"matchLabels": {"app": "other"}}}}),
        lambda: merged(bad, {"spec": {"template": {"spec": {"containers": []}}}}),
        lambda: merged(bad, {"spec": {"template": {"metadata": {"labels": None}}}}),
        lambda: merged(bad, {"spec": {"replicas": "x"}})]
    known = inside.get(kind.kind, []) + (workloads if kind in (DEPLOYMENT, REPLICA_SET, STATEFUL_SET) else [])
    return r.choice(known)() if known and r.random() < 0.6 else r.choice(anywhere)()
