"""At least one object of each kind that Slipway knows, with every field that its tables name.

For a cluster without controllers and kubelets, where what is written stays as it is.  A status is written through the
status subresource: status_of() splits it off.
"""

from __future__ import annotations

import copy

SPOKEN = "größer „als“ 三 🚢 \\ \"quoted\" <b>&amp;</b> \t tab \u2028 line \u0001 \u007f end"
EXPRESSIONS = [{"key": "tier", "operator": "In", "values": ["a", "b"]}, {"key": "old", "operator": "DoesNotExist"}]
SELECTOR = {"matchLabels": {"app": "rich"}, "matchExpressions": EXPRESSIONS}
LABELS = {"app": "rich", "tier": "a", "team": "deck", "version": "7"}
TERM = {"matchExpressions": [{"key": "disk", "operator": "Gt", "values": ["3"]}, {"key": "x", "operator": "Exists"}],
        "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}]}
POD_TERM = {"labelSelector": SELECTOR, "namespaces": ["here", "there"], "topologyKey": "kubernetes.io/hostname",
            "namespaceSelector": SELECTOR, "matchLabelKeys": ["team"], "mismatchLabelKeys": ["version"]}
POD_AFFINITY = {"requiredDuringSchedulingIgnoredDuringExecution": [POD_TERM, {"topologyKey": "zone", "labelSelector": {}}],
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "podAffinityTerm": POD_TERM}]}
RESOURCES = {"limits": {"cpu": "1500m", "memory": "1.5Gi", "ephemeral-storage": "3e9", "example.com/gpu": "2"},
             "requests": {"cpu": "0.1", "memory": "100M", "ephemeral-storage": "1Ki", "example.com/gpu": "2"}}
WHEN, LATER = "2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z"
MICRO, LATER_MICRO = "2026-01-02T03:04:05.678901Z", "2026-01-02T03:04:06.000001Z"


def meta(name: str, namespace: str | None = None, labels: dict = LABELS, **more: object) -> dict:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "11111111-2222-3333-4444-555555555555"}
    return {"name": name, **({"namespace": namespace} if namespace else {}), "labels": labels,
            "annotations": {"slipway.dev/note": SPOKEN, "k8s.io/empty": "", "example.com/dropped-from-pods": "x" * 300},
            "ownerReferences": [owner | {"controller": True, "blockOwnerDeletion": True}, owner | {"name": "second"}],
            "finalizers": ["slipway.dev/one", "slipway.dev/two"], **more}


def condition(kind: str, status: str = "True", **more: object) -> dict:
    return {"type": kind, "status": status, "lastTransitionTime": WHEN, "reason": "Because", "message": SPOKEN, **more}


def container(name: str, **more: object) -> dict:
    ports = [{"containerPort": 80, "hostPort": 80, "protocol": "TCP", "hostIP": "10.1.2.3"}, {"containerPort": 81, "protocol": "UDP"}]
    return {"name": name, "image": "registry.test/rich:1", "ports": ports, "resources": RESOURCES,
            "env": [{"name": "BIG", "value": "x" * 1000}], **more}


def container_status(name: str, **state: object) -> dict:
    ended = {"exitCode": 137, "signal": 9, "reason": "OOMKilled", "message": SPOKEN, "startedAt": WHEN, "finishedAt": LATER,
             "containerID": "containerd://" + "a" * 64}
    return {"name": name, "image": "registry.test/rich:1", "imageID": "sha256:1", "containerID": "containerd://" + "b" * 64,
            "ready": True, "started": True, "restartCount": 3, "state": state or {"terminated": ended},
            "lastState": {"terminated": ended}, "allocatedResources": RESOURCES["requests"], "resources": RESOURCES}


def pod_spec(gates: bool = True) -> dict:
    """What pods and pod templates have in common."""
    return {
        "restartPolicy": "Always", "terminationGracePeriodSeconds": 0, "nodeSelector": {"disk": "ssd", "empty": ""},
        "hostNetwork": not gates, "schedulerName": "other", "priorityClassName": "rich",
        "runtimeClassName": "rich", "overhead": {"cpu": "250m", "memory": "64Mi"},
        "initContainers": [container("side", restartPolicy="Always"), container("init")],
        "containers": [container("main"), {"name": "bare", "image": "registry.test/bare:1"}],
        "volumes": [
            {"name": "empty", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}, {"name": "path", "hostPath": {"path": "/x"}},
            {"name": "claim", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}},
            {"name": "inline", "csi": {"driver": "csi.example.com", "volumeAttributes": {"a": "b"}}},
            {"name": "short", "ephemeral": {"volumeClaimTemplate": {"spec": {
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}},
            {"name": "dropped", "configMap": {"name": "settings"}}],
        "affinity": {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM, {"matchExpressions": TERM["matchExpressions"]}]},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": TERM}]},
            "podAffinity": POD_AFFINITY, "podAntiAffinity": POD_AFFINITY},
        "tolerations": [{"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute", "tolerationSeconds": 0},
                        {"operator": "Exists"}, {"key": "c", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -7}],
        "topologySpreadConstraints": [{"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR,
                                       "minDomains": 3, "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor",
                                       "matchLabelKeys": ["pod-template-hash"]}],
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}],
        "resources": {"limits": {"cpu": "4", "memory": "8Gi"}, "requests": {"cpu": "3", "memory": "7Gi"}},
        **({"schedulingGates": [{"name": "slipway.dev/gate"}, {"name": "slipway.dev/other"}]} if gates else {}),
    }


def pods(ns: str) -> list[dict]:
    status = {"phase": "Failed", "reason": "Evicted", "message": SPOKEN, "startTime": WHEN, "qosClass": "Burstable",
              "conditions": [condition("Ready", "False"), condition("DisruptionTarget"), condition("Initialized"),
                             condition("ContainersReady")],
              "containerStatuses": [container_status("main"), container_status("bare", waiting={"reason": "Slow", "message": SPOKEN})],
              "initContainerStatuses": [container_status("side", running={"startedAt": WHEN}), container_status("init")]}
    waiting = copy.deepcopy(status)
    for group in ("containerStatuses", "initContainerStatuses"):
        waiting[group][0] |= {"state": {"running": {"startedAt": WHEN}}, "ready": False, "started": False, "restartCount": 0,
                              "lastState": {"waiting": {"reason": "Before", "message": "x"}}}
        waiting[group][1] |= {"state": {"waiting": {"reason": "PodInitializing", "message": "y"}},
                              "lastState": {"running": {"startedAt": WHEN}}}
    waiting |= {"phase": "Pending", "reason": "", "message": "", "nominatedNodeName": "n9"}
    template = {"apiVersion": "v1", "kind": "Pod"}
    bound = pod_spec(gates=False) | {"nodeName": "rich", "terminationGracePeriodSeconds": 3600}
    host = {"hostNetwork": True, "containers": [{"name": "main", "image": "x", "ports": [{"containerPort": 9, "hostPort": 9}]}]}
    return [template | {"metadata": meta("rich", ns), "spec": bound, "status": status},
            template | {"metadata": meta("gated", ns), "spec": pod_spec(), "status": waiting},
            template | {"metadata": {"name": "host", "namespace": ns}, "spec": host}]


def workloads(ns: str) -> list[dict]:
    template = {"metadata": {"labels": LABELS, "annotations": {"a": "b"}}, "spec": pod_spec() | {"hostNetwork": True, "serviceAccountName": "default"}}
    common = {"selector": SELECTOR, "template": template, "minReadySeconds": 11}
    pinned = {"selector": SELECTOR, "template": {**template, "spec": pod_spec(gates=False) | {"nodeName": "rich"}}}
    apps = {"apiVersion": "apps/v1"}
    counts = {"replicas": 8, "readyReplicas": 6, "availableReplicas": 5, "observedGeneration": 1}
    jobs = {"apiVersion": "batch/v1", "kind": "Job"}
    work = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.test/job:1"}]}
    once = {"template": {"metadata": {"labels": LABELS}, "spec": work}, "manualSelector": True, "selector": SELECTOR}
    return [
        apps | {"kind": "DaemonSet", "metadata": meta("rich", ns), "spec": common, "status": {
            "currentNumberScheduled": 1, "numberMisscheduled": 2, "desiredNumberScheduled": 3, "numberReady": 4,
            "observedGeneration": 1, "updatedNumberScheduled": 5, "numberAvailable": 6, "numberUnavailable": 7}},
        apps | {"kind": "ReplicaSet", "metadata": meta("rich", ns), "spec": {**common, "replicas": 0},
                "status": {**counts, "fullyLabeledReplicas": 7, "terminatingReplicas": 6}},
        apps | {"kind": "StatefulSet", "metadata": meta("rich", ns), "spec": {
            **common, "replicas": 9, "serviceName": "rich", "podManagementPolicy": "Parallel"}, "status": {
            **counts, "currentReplicas": 4, "updatedReplicas": 3, "currentRevision": "rich-1", "updateRevision": "rich-2"}},
        apps | {"kind": "Deployment", "metadata": meta("rich", ns), "spec": {
            **common, "replicas": 9, "paused": True,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": 3}}}, "status": {
            **counts, "updatedReplicas": 7, "unavailableReplicas": 2,
            "conditions": [condition("Available", lastUpdateTime=WHEN), condition("Progressing", "False", lastUpdateTime=WHEN)]}},
        apps | {"kind": "Deployment", "metadata": {"name": "plain", "namespace": ns}, "spec": {
            "selector": {"matchLabels": LABELS}, "template": {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "m", "image": "x"}]}},
            "strategy": {"type": "Recreate"}}},
        *(apps | {"kind": kind, "metadata": meta("pinned", ns), "spec": pinned | more}
          for kind, more in (("DaemonSet", {}), ("ReplicaSet", {"replicas": 0}), ("StatefulSet", {"serviceName": "rich"}), ("Deployment", {}))),
        jobs | {"metadata": meta("rich", ns), "spec": {
            **once, "parallelism": 3, "completions": 5, "activeDeadlineSeconds": 99, "backoffLimit": 0,
            "ttlSecondsAfterFinished": 0, "completionMode": "NonIndexed", "suspend": False, "podReplacementPolicy": "Failed"},
            "status": {"active": 3, "ready": 2, "terminating": 1, "succeeded": 1, "failed": 4, "startTime": WHEN,
                       "conditions": [condition("Odd", "False", lastProbeTime=WHEN)]}},
        jobs | {"metadata": meta("done", ns), "spec": once | {"suspend": False, "completions": 1}, "status": {
            "succeeded": 1, "startTime": WHEN, "completionTime": LATER, "ready": 0, "terminating": 0,
            "conditions": [condition("SuccessCriteriaMet", lastProbeTime=WHEN), condition("Complete", lastProbeTime=WHEN)]}},
        jobs | {"metadata": meta("asleep", ns), "spec": once | {"suspend": True, "managedBy": "example.com/somebody"}},
        jobs | {"metadata": meta("careful", ns), "spec": {
            **once, "completionMode": "Indexed", "completions": 3, "backoffLimitPerIndex": 2, "maxFailedIndexes": 2, "podFailurePolicy": {"rules": [
                {"action": "FailIndex", "onExitCodes": {"containerName": "main", "operator": "In", "values": [42, 137]}},
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}},
            "status": {"startTime": WHEN, "failed": 1, "failedIndexes": "1", "ready": 0, "terminating": 0}},
        *(jobs | {"metadata": meta(name, ns), "spec": {**once, "template": {
            **made["template"], "spec": made["template"]["spec"] | {"restartPolicy": "Never"}}}} for name, made in (("full", common), ("pinned", pinned))),
    ]


def storage(ns: str) -> list[dict]:
    volume = {"apiVersion": "v1", "kind": "PersistentVolume"}
    spec = {"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce", "ReadOnlyMany"], "storageClassName": "slow",
            "persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Block"}
    attachment = {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment"}
    trouble = {"time": WHEN, "message": SPOKEN}
    return [
        volume | {"metadata": meta("rich"), "spec": spec | {
            "csi": {"driver": "csi.example.com", "volumeHandle": "vol-1"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [TERM]}},
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": ns, "name": "data",
                         "uid": "99999999-2222-3333-4444-555555555555", "resourceVersion": "5", "fieldPath": "spec.x"}},
            "status": {"phase": "Failed", "reason": "Broken", "message": "x"}},
        volume | {"metadata": {"name": "path"}, "spec": spec | {"hostPath": {"path": "/x"}, "volumeMode": "Filesystem"}},
        volume | {"metadata": {"name": "local"}, "spec": spec | {
            "local": {"path": "/x"}, "volumeMode": "Filesystem",
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": TERM["matchExpressions"]}]}}}},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta("rich", ns), "spec": {
            "accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "3Gi"}, "limits": {"storage": "5G"}},
            "volumeName": "rich", "selector": SELECTOR, "storageClassName": "slow", "volumeMode": "Block"}, "status": {
            "phase": "Lost", "capacity": {"storage": "2.5Gi"}, "accessModes": ["ReadWriteMany"],
            "conditions": [condition("Resizing", lastProbeTime=WHEN)]}},
        {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": meta("rich"), "provisioner": "csi.example.com",
         "parameters": {"type": "x"}, "reclaimPolicy": "Retain", "allowVolumeExpansion": True, "mountOptions": ["ro"],
         "volumeBindingMode": "WaitForFirstConsumer", "allowedTopologies": [
             {"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}, {"key": "rack", "values": ["1"]}]},
             {"matchLabelExpressions": [{"key": "zone", "values": ["c"]}]}]},
        {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": meta("rich"), "spec": {"drivers": [
            {"name": "csi.example.com", "nodeID": "rich", "topologyKeys": ["zone"], "allocatable": {"count": 3}},
            {"name": "other.example.com", "nodeID": "rich", "topologyKeys": []}]}},
        attachment | {"metadata": meta("rich"), "spec": {
            "attacher": "csi.example.com", "source": {"persistentVolumeName": "rich"}, "nodeName": "rich"}, "status": {
            "attached": True, "attachError": trouble, "detachError": trouble, "attachmentMetadata": {"a": "b"}}},
        attachment | {"metadata": {"name": "inline"}, "spec": {
            "attacher": "csi.example.com", "nodeName": "rich", "source": {"inlineVolumeSpec": {
                "accessModes": ["ReadWriteOnce"],
                "csi": {"driver": "csi.example.com", "volumeHandle": "vol-2"}}}}, "status": {"attached": False}},
    ]


def node() -> dict:
    info = {key: f"value of {key}" for key in ("machineID", "systemUUID", "bootID", "kernelVersion", "osImage",
                                               "containerRuntimeVersion", "kubeletVersion", "kubeProxyVersion",
                                               "operatingSystem", "architecture")}
    size = {"cpu": "7910m", "memory": "131886696Ki", "pods": "110", "ephemeral-storage": "1.5Ti", "hugepages-1Gi": "0",
            "example.com/gpu": "8"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta("rich"), "spec": {
        "providerID": "test://rich", "unschedulable": True, "podCIDR": "10.9.0.0/24",
        "taints": [{"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": WHEN}, {"key": "bare", "effect": "NoSchedule"}]},
        "status": {"capacity": size, "allocatable": size | {"cpu": "7.5"}, "nodeInfo": info,
                   "conditions": [condition("Ready", "Unknown", lastHeartbeatTime=LATER), condition("Custom", lastHeartbeatTime=LATER)],
                   "addresses": [{"type": "InternalIP", "address": "fd00::1"}, {"type": "Hostname", "address": "rich"}],
                   "volumesInUse": ["kubernetes.io/csi/csi.example.com^vol-1", "b"],
                   "volumesAttached": [{"name": "kubernetes.io/csi/csi.example.com^vol-1", "devicePath": "/dev/x"},
                                       {"name": "b", "devicePath": ""}],
                   "images": [{"names": ["registry.test/image@sha256:0"], "sizeBytes": 7}]}}


def small(ns: str) -> list[dict]:
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
    event = {"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "Rich", "message": SPOKEN}
    about = {"kind": "Pod", "namespace": ns, "name": "rich", "uid": "u", "apiVersion": "v1", "fieldPath": "spec.containers{main}"}
    return [
        budget | {"metadata": meta("rich", ns), "spec": {
            "minAvailable": "33%", "selector": SELECTOR, "unhealthyPodEvictionPolicy": "AlwaysAllow"}, "status": {
            "observedGeneration": 1, "disruptedPods": {"a": WHEN, "b": LATER}, "disruptionsAllowed": 2, "currentHealthy": 5,
            "desiredHealthy": 3, "expectedPods": 8, "conditions": [condition("DisruptionAllowed", observedGeneration=1)]}},
        budget | {"metadata": meta("zero", ns), "spec": {"maxUnavailable": 0, "selector": {}}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("rich", ns), "data": {"slots": SPOKEN, "empty": ""}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta("rich", ns)},
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta("rich", ns), "spec": {  # of pods that there are none of
            "hard": {"pods": "5"}, "scopes": ["Terminating"], "scopeSelector": {"matchExpressions": [
                {"scopeName": "PriorityClass", "operator": "In", "values": ["nobody"]}]}},
            "status": {"hard": {"pods": "5"}, "used": {"pods": "0"}}},
        {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta("rich", ns), "spec": {
            "holderIdentity": "host_uuid", "leaseDurationSeconds": 15, "acquireTime": MICRO, "renewTime": LATER_MICRO,
            "leaseTransitions": 0, "strategy": "OldestEmulationVersion", "preferredHolder": "next"}},
        {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "empty", "namespace": ns}, "spec": {}},
        event | {"metadata": meta("old", ns), "involvedObject": about, "source": {"component": "kubelet", "host": "n1"},
                 "firstTimestamp": WHEN, "lastTimestamp": LATER, "count": 17},
        event | {"metadata": meta("new", ns), "involvedObject": about, "related": about, "eventTime": MICRO, "action": "Evicting",
                 "reportingComponent": "slipway.dev/controller", "reportingInstance": "pod-1",
                 "series": {"count": 3, "lastObservedTime": LATER_MICRO}},
    ]


def namespace(name: str) -> dict:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": meta(name, finalizers=[]),
            "status": {"phase": "Active", "conditions": [condition("NamespaceContentRemaining", "False")]}}


def everything(ns: str, pod_resources: bool = True) -> list[dict]:
    """pod_resources: the server knows resources of a whole pod (1.34)."""
    made = [namespace(ns), node(), *pods(ns), *small(ns), *storage(ns), *workloads(ns)]
    for obj in made:
        spec = obj.get("spec", {})
        for each in (spec, spec.get("template", {}).get("spec", {})):
            if not pod_resources and "containers" in each:
                each.pop("resources", None)
    return made


def prerequisites(ns: str) -> list[dict]:
    """What other objects refer to."""
    return [{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "rich"}, "value": 12345,
             "preemptionPolicy": "Never"},
            {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "rich"}, "handler": "x",
             "overhead": {"podFixed": {"cpu": "250m", "memory": "64Mi"}}},
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": ns}}]


def doomed(objects: list[dict]) -> list[dict]:
    """A twin of the first of each kind, called so; held by its finalizers, it stays when it is deleted."""
    found: dict[str, dict] = {}
    for obj in objects:
        if obj["kind"] not in found:
            twin = copy.deepcopy(obj)
            twin["metadata"]["name"] = "doomed"
            found[obj["kind"]] = twin
    return list(found.values())
