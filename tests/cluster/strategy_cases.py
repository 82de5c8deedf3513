"""Objects for test_strategy.py: one rich example of each kind, and what is done to them.

BASES names the examples.  mutations(obj) yields every small change of one: a member left out, an empty or odd value,
a list doubled.  The odd values keep the type of what they replace, so that what answers is validation, not the decoder.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Iterator

GONE = object()
LONG = "x" * 64
VERY_LONG = "y" * 260

ODD = {
    str: ["", "Bad_Name!", "good-name", LONG, "a.b/c", "../up", "/abs"],
    bool: [],
    int: [-1, 0, 70000],
}


def meta(name: str, namespace: str | None = "default", **more: object) -> dict:
    return ({"name": name, "namespace": namespace} if namespace else {"name": name}) | more


def obj(version: str, kind: str, name: str, namespace: str | None = "default", **more: object) -> dict:
    return {"apiVersion": version, "kind": kind, "metadata": meta(name, namespace), **more}


CONTAINER = {
    "name": "main", "image": "registry.example.com/app:1.2", "command": ["run"], "workingDir": "/srv",
    "ports": [{"name": "web", "containerPort": 80, "hostPort": 8080, "hostIP": "10.1.1.1", "protocol": "TCP"},
              {"name": "dns", "containerPort": 53, "protocol": "UDP"}],
    "env": [{"name": "A", "value": "b"}, {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "L", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
            {"name": "R", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}},
            {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "cm", "key": "k"}}},
            {"name": "S", "valueFrom": {"secretKeyRef": {"name": "se", "key": "k", "optional": True}}}],
    "envFrom": [{"prefix": "P_", "configMapRef": {"name": "cm"}}, {"secretRef": {"name": "se"}}],
    "resources": {"requests": {"cpu": "100m", "memory": "64Mi"},
                  "limits": {"cpu": "1", "memory": "128Mi", "ephemeral-storage": "1Gi"}},
    "volumeMounts": [{"name": "cache", "mountPath": "/cache", "subPath": "a/b"},
                     {"name": "conf", "mountPath": "/conf", "readOnly": True, "recursiveReadOnly": "IfPossible"},
                     {"name": "host", "mountPath": "/host", "mountPropagation": "HostToContainer"}],
    "volumeDevices": [{"name": "claim", "devicePath": "/dev/x"}],
    "livenessProbe": {"httpGet": {"path": "/live", "port": "web", "httpHeaders": [{"name": "X-A", "value": "1"}]},
                      "initialDelaySeconds": 1, "terminationGracePeriodSeconds": 5},
    "readinessProbe": {"tcpSocket": {"port": 80}, "periodSeconds": 3, "successThreshold": 2},
    "startupProbe": {"grpc": {"port": 9000}, "failureThreshold": 30},
    "lifecycle": {"postStart": {"exec": {"command": ["true"]}}, "preStop": {"sleep": {"seconds": 3}}},
    "securityContext": {"runAsUser": 1000, "runAsGroup": 1000, "allowPrivilegeEscalation": False,
                        "capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]},
                        "seccompProfile": {"type": "RuntimeDefault"}, "procMount": "Default"},
    "terminationMessagePath": "/dev/log", "terminationMessagePolicy": "FallbackToLogsOnError",
    "imagePullPolicy": "Never", "restartPolicy": "OnFailure",
    "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}],
    "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
}

VOLUMES = [
    {"name": "cache", "emptyDir": {"sizeLimit": "1Gi", "medium": "Memory"}},
    {"name": "host", "hostPath": {"path": "/var/x", "type": "Directory"}},
    {"name": "conf", "configMap": {"name": "cm", "items": [{"key": "a", "path": "b/c", "mode": 256}]}},
    {"name": "sec", "secret": {"secretName": "se", "defaultMode": 256}},
    {"name": "down", "downwardAPI": {"items": [
        {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
        {"path": "cpu", "resourceFieldRef": {"containerName": "main", "resource": "limits.cpu"}}]}},
    {"name": "claim", "persistentVolumeClaim": {"claimName": "data"}},
    {"name": "proj", "projected": {"sources": [
        {"secret": {"name": "se", "items": [{"key": "a", "path": "a"}]}}, {"configMap": {"name": "cm"}},
        {"downwardAPI": {"items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        {"serviceAccountToken": {"path": "token", "audience": "x", "expirationSeconds": 700}}]}},
    {"name": "eph", "ephemeral": {"volumeClaimTemplate": {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}},
    {"name": "csi", "csi": {"driver": "csi.example.com", "nodePublishSecretRef": {"name": "x"}}},
    {"name": "nfs", "nfs": {"server": "s", "path": "/p"}},
    {"name": "img", "image": {"reference": "registry.example.com/data:1"}},
]

SPEC = {
    "containers": [CONTAINER, {"name": "second", "image": "busybox"}],
    "initContainers": [{"name": "init", "image": "busybox:latest"},
                       {"name": "sidecar", "image": "busybox:1", "restartPolicy": "Always",
                        "ports": [{"containerPort": 9}], "livenessProbe": {"exec": {"command": ["true"]}}}],
    "volumes": VOLUMES,
    "restartPolicy": "Always", "terminationGracePeriodSeconds": 20, "activeDeadlineSeconds": 100,
    "dnsPolicy": "None", "dnsConfig": {"nameservers": ["10.0.0.10"], "searches": ["a.example.com", "_x.b."],
                                       "options": [{"name": "ndots", "value": "2"}]},
    "nodeSelector": {"disk": "ssd"}, "serviceAccountName": "robot", "hostname": "h", "subdomain": "s",
    "securityContext": {"runAsUser": 1, "fsGroup": 2, "supplementalGroups": [3], "fsGroupChangePolicy": "Always",
                        "sysctls": [{"name": "kernel.shm_rmid_forced", "value": "1"}],
                        "supplementalGroupsPolicy": "Merge", "seLinuxChangePolicy": "Recursive",
                        "appArmorProfile": {"type": "Localhost", "localhostProfile": "p"}},
    "imagePullSecrets": [{"name": "pull"}],
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}],
                 "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}]}]},
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 5, "preference": {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}}]},
        "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone", "namespaces": ["default"],
             "matchLabelKeys": ["rev"], "mismatchLabelKeys": ["tenant"]}]},
        "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 100, "podAffinityTerm": {"labelSelector": {"matchExpressions": [
                {"key": "app", "operator": "NotIn", "values": ["x"]}]}, "topologyKey": "kubernetes.io/hostname",
                "namespaceSelector": {}}}]}},
    "schedulerName": "other",
    "tolerations": [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute", "tolerationSeconds": 30},
                    {"key": "k2", "operator": "Exists"}],
    "hostAliases": [{"ip": "10.1.2.3", "hostnames": ["x.example.com"]}],
    "readinessGates": [{"conditionType": "example.com/ready"}],
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 2,
         "labelSelector": {"matchLabels": {"app": "x"}}, "matchLabelKeys": ["rev"], "nodeAffinityPolicy": "Honor"},
        {"maxSkew": 2, "topologyKey": "host", "whenUnsatisfiable": "ScheduleAnyway"}],
    "os": {"name": "linux"}, "setHostnameAsFQDN": False, "enableServiceLinks": False,
    "preemptionPolicy": "PreemptLowerPriority", "shareProcessNamespace": True,
}

SMALL_SPEC = {"containers": [{"name": "c", "image": "nginx"}]}
LABELS = {"app": "x", "rev": "1"}
TEMPLATE = {"metadata": {"labels": LABELS, "annotations": {"a": "b"}}, "spec": SMALL_SPEC}
SELECTOR = {"matchLabels": {"app": "x"}, "matchExpressions": [{"key": "rev", "operator": "In", "values": ["1", "2"]}]}
CLAIM_SPEC = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
              "storageClassName": "fast", "selector": {"matchLabels": {"a": "b"}}, "volumeName": "pv-x"}


def rich_meta(name: str, namespace: str | None = "default") -> dict:
    return meta(name, namespace, labels={"app": "x", "rev": "1", "tenant": "t"},
                annotations={"example.com/note": "text"}, finalizers=["example.com/hold"],
                ownerReferences=[{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u-1",
                                  "controller": True, "blockOwnerDeletion": True}])


def rich(version: str, kind: str, name: str, namespace: str | None = "default", **more: object) -> dict:
    return {"apiVersion": version, "kind": kind, "metadata": rich_meta(name, namespace), **more}


NODE_STATUS = {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110", "example.com/gpu": "2"},
               "conditions": [{"type": "Ready", "status": "True"}],
               "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "Hostname", "address": "h"}],
               "nodeInfo": {"machineID": "m", "systemUUID": "s", "bootID": "b", "kernelVersion": "k", "osImage": "o",
                            "containerRuntimeVersion": "c", "kubeletVersion": "v", "kubeProxyVersion": "",
                            "operatingSystem": "linux", "architecture": "amd64", "swap": {"capacity": 5}},
               "declaredFeatures": ["A", "B/c"]}

BASES: dict[str, dict] = {
    "pod-small": obj("v1", "Pod", "p", spec=SMALL_SPEC),
    "pod-rich": rich("v1", "Pod", "p", spec=SPEC),
    "pod-host": obj("v1", "Pod", "p", spec=SMALL_SPEC | {
        "hostNetwork": True, "hostPID": True, "hostIPC": True, "nodeName": "node-1", "priorityClassName": "high",
        "automountServiceAccountToken": False,
        "containers": [{"name": "c", "image": "x@sha256:" + "0" * 64, "ports": [{"containerPort": 80}],
                        "securityContext": {"privileged": True},
                        "volumeMounts": [{"name": "v", "mountPath": "/v", "mountPropagation": "Bidirectional"}]}],
        "volumes": [{"name": "v"}]}),
    "pod-gated": obj("v1", "Pod", "p", spec=SMALL_SPEC | {
        "schedulingGates": [{"name": "example.com/wait"}, {"name": "second"}],
        "nodeSelector": {"a": "b"}, "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi"}},
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}], "hostUsers": False,
        "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "500m"},
                                                                 "claims": [{"name": "gpu"}]}}]}),
    "pod-qos": obj("v1", "Pod", "p", spec={"containers": [
        {"name": "c", "image": "x", "resources": {"limits": {"cpu": "1", "memory": "1Gi", "hugepages-2Mi": "4Mi",
                                                             "example.com/gpu": "1"}}}]}),
    "pod-overhead": obj("v1", "Pod", "p", spec=SMALL_SPEC | {"overhead": {"cpu": "10m"}}),
    "pod-windows": obj("v1", "Pod", "p", spec=SMALL_SPEC | {"os": {"name": "windows"}}),
    "podtemplate": rich("v1", "PodTemplate", "t", template=TEMPLATE),
    "deployment": rich("apps/v1", "Deployment", "d", spec={
        "replicas": 3, "selector": SELECTOR, "template": TEMPLATE, "minReadySeconds": 5, "revisionHistoryLimit": 3,
        "progressDeadlineSeconds": 60, "paused": True,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "20%"}}}),
    "deployment-small": obj("apps/v1", "Deployment", "d", spec={
        "selector": {"matchLabels": {"app": "x"}}, "template": TEMPLATE}),
    "replicaset": rich("apps/v1", "ReplicaSet", "r", spec={
        "replicas": 2, "selector": SELECTOR, "template": TEMPLATE, "minReadySeconds": 5}),
    "statefulset": rich("apps/v1", "StatefulSet", "s", spec={
        "replicas": 2, "selector": SELECTOR, "serviceName": "svc", "podManagementPolicy": "Parallel",
        "template": {"metadata": {"labels": LABELS}, "spec": {
            "containers": [{"name": "c", "image": "x", "volumeMounts": [{"name": "data", "mountPath": "/d"}]}],
            "hostname": "x", "subdomain": "y"}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}],
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}, "ordinals": {"start": 3},
        "minReadySeconds": 1}),
    "statefulset-small": obj("apps/v1", "StatefulSet", "s", spec={
        "selector": {"matchLabels": {"app": "x"}}, "template": TEMPLATE, "serviceName": ""}),
    "daemonset": rich("apps/v1", "DaemonSet", "d", spec={
        "selector": SELECTOR, "template": TEMPLATE, "minReadySeconds": 1,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}}}),
    "daemonset-small": obj("apps/v1", "DaemonSet", "d", spec={
        "selector": {"matchLabels": {"app": "x"}}, "template": TEMPLATE}),
    "controllerrevision": rich("apps/v1", "ControllerRevision", "c", data={"spec": {"a": 1}}, revision=3),
    "job": rich("batch/v1", "Job", "j", spec={
        "parallelism": 2, "completions": 5, "backoffLimit": 3, "activeDeadlineSeconds": 100,
        "ttlSecondsAfterFinished": 5, "suspend": True, "podReplacementPolicy": "Failed",
        "managedBy": "example.com/boss",
        "podFailurePolicy": {"rules": [
            {"action": "FailJob", "onExitCodes": {"containerName": "c", "operator": "In", "values": [1, 2]}},
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]},
        "template": {"metadata": {"labels": {"app": "x"}}, "spec": SMALL_SPEC | {"restartPolicy": "Never"}}}),
    "job-indexed": obj("batch/v1", "Job", "j", spec={
        "completions": 4, "parallelism": 4, "completionMode": "Indexed", "backoffLimitPerIndex": 1,
        "maxFailedIndexes": 2,
        "successPolicy": {"rules": [{"succeededIndexes": "0,2-3", "succeededCount": 2}]},
        "template": {"spec": SMALL_SPEC | {"restartPolicy": "OnFailure"}}}),
    "job-small": obj("batch/v1", "Job", "j", spec={
        "template": {"spec": SMALL_SPEC | {"restartPolicy": "Never"}}}),
    "node": rich("v1", "Node", "n-1", None, spec={
        "podCIDR": "10.1.0.0/24", "providerID": "x://1", "unschedulable": True,
        "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}, {"key": "k", "effect": "NoExecute"}]},
        status=NODE_STATUS),
    "node-small": obj("v1", "Node", "n-2", None),
    "pdb": rich("policy/v1", "PodDisruptionBudget", "b", spec={
        "minAvailable": "50%", "selector": SELECTOR, "unhealthyPodEvictionPolicy": "AlwaysAllow"}),
    "pdb-max": obj("policy/v1", "PodDisruptionBudget", "b", spec={"maxUnavailable": 1}),
    "pv": rich("v1", "PersistentVolume", "pv-1", None, spec={
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "fast",
        "persistentVolumeReclaimPolicy": "Delete", "mountOptions": ["ro"],
        "csi": {"driver": "csi.example.com", "volumeHandle": "h", "fsType": "ext4",
                "controllerExpandSecretRef": {"name": "a", "namespace": "b"}},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}},
        "claimRef": {"kind": "PersistentVolumeClaim", "name": "c", "namespace": "default"}}),
    "pv-host": obj("v1", "PersistentVolume", "pv-2", None, spec={
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany", "ReadOnlyMany"],
        "hostPath": {"path": "/data"}}),
    "pv-local": obj("v1", "PersistentVolume", "pv-3", None, spec={
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOncePod"], "local": {"path": "/mnt"},
        "volumeMode": "Block",
        "nodeAffinity": {"required": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "h", "operator": "Exists"}]}]}}}),
    "pv-nfs": obj("v1", "PersistentVolume", "pv-4", None, spec={
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "nfs": {"server": "s", "path": "/p"}}),
    "pv-iscsi": obj("v1", "PersistentVolume", "pv-5", None, spec={
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "iscsi": {
            "targetPortal": "1.2.3.4:3260", "iqn": "iqn.2001-04.com.example:storage", "lun": 3,
            "initiatorName": "iqn.2001-04.com.example:init", "chapAuthSession": True,
            "secretRef": {"name": "s", "namespace": "n"}}}),
    "pv-rbd": obj("v1", "PersistentVolume", "pv-6", None, spec={
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "rbd": {
            "monitors": ["a"], "image": "i"}}),
    "pv-fc": obj("v1", "PersistentVolume", "pv-7", None, spec={
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "fc": {"targetWWNs": ["1"], "lun": 2}}),
    "pvc": rich("v1", "PersistentVolumeClaim", "c", spec=CLAIM_SPEC | {"volumeMode": "Filesystem"}),
    "pvc-small": obj("v1", "PersistentVolumeClaim", "c", spec={
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1.5Gi"}},
        "dataSource": {"kind": "PersistentVolumeClaim", "name": "other"}}),
    "pvc-source": obj("v1", "PersistentVolumeClaim", "c", spec={
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        "dataSourceRef": {"apiGroup": "example.com", "kind": "Thing", "name": "other"}}),
    "storageclass": rich("storage.k8s.io/v1", "StorageClass", "sc", None, provisioner="Example.com/Fast",
                         parameters={"a": "b"}, reclaimPolicy="Retain", volumeBindingMode="WaitForFirstConsumer",
                         allowVolumeExpansion=True, mountOptions=["ro"],
                         allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}]),
    "storageclass-small": obj("storage.k8s.io/v1", "StorageClass", "sc", None, provisioner="x"),
    "volumeattachment": rich("storage.k8s.io/v1", "VolumeAttachment", "va", None, spec={
        "attacher": "csi.example.com", "nodeName": "n", "source": {"persistentVolumeName": "pv"}}),
    "volumeattachment-inline": obj("storage.k8s.io/v1", "VolumeAttachment", "va", None, spec={
        "attacher": "csi.example.com", "nodeName": "n", "source": {"inlineVolumeSpec": {
            "accessModes": ["ReadWriteOnce"], "csi": {"driver": "d", "volumeHandle": "h"}}}}),
    "csinode": rich("storage.k8s.io/v1", "CSINode", "n-1", None, spec={"drivers": [
        {"name": "csi.example.com", "nodeID": "i", "topologyKeys": ["zone"], "allocatable": {"count": 3}}]}),
    "service": rich("v1", "Service", "svc", spec={
        "selector": {"app": "x"}, "ports": [{"name": "a", "port": 80, "targetPort": "web", "appProtocol": "http"},
                                            {"name": "b", "port": 81, "protocol": "UDP"}],
        "sessionAffinity": "ClientIP", "internalTrafficPolicy": "Local", "trafficDistribution": "PreferClose",
        "externalIPs": ["1.2.3.4"]}),
    "service-small": obj("v1", "Service", "svc", spec={"ports": [{"port": 80}]}),
    "service-nodeport": obj("v1", "Service", "svc", spec={
        "type": "NodePort", "ports": [{"port": 80}], "selector": {"a": "b"}, "externalTrafficPolicy": "Local"}),
    "service-lb": obj("v1", "Service", "svc", spec={
        "type": "LoadBalancer", "ports": [{"port": 80}], "selector": {"a": "b"}, "loadBalancerClass": "example.com/lb",
        "loadBalancerSourceRanges": ["10.0.0.0/8"], "externalTrafficPolicy": "Local"}),
    "service-headless": obj("v1", "Service", "svc", spec={"clusterIP": "None", "selector": {"a": "b"}}),
    "service-free": obj("v1", "Service", "svc", spec={"clusterIP": "None", "ports": [{"port": 1}]}),
    "service-name": obj("v1", "Service", "svc", spec={"type": "ExternalName", "externalName": "x.example.com"}),
    "configmap": rich("v1", "ConfigMap", "cm", data={"a.b": "c", "d": "e"}, binaryData={"x": "AAEC"}, immutable=True),
    "configmap-small": obj("v1", "ConfigMap", "cm"),
    "secret": rich("v1", "Secret", "se", data={"a": "AAEC"}, stringData={"b": "text"}, immutable=True),
    "secret-tls": obj("v1", "Secret", "se", type="kubernetes.io/tls", data={"tls.crt": "AA==", "tls.key": "AA=="}),
    "secret-docker": obj("v1", "Secret", "se", type="kubernetes.io/dockerconfigjson",
                         stringData={".dockerconfigjson": "{}"}),
    "secret-basic": obj("v1", "Secret", "se", type="kubernetes.io/basic-auth", stringData={"username": "u"}),
    "secret-ssh": obj("v1", "Secret", "se", type="kubernetes.io/ssh-auth", stringData={"ssh-privatekey": "u"}),
    "serviceaccount": rich("v1", "ServiceAccount", "sa", secrets=[{"name": "a", "namespace": "x"}],
                           imagePullSecrets=[{"name": "b"}], automountServiceAccountToken=True),
    "namespace": rich("v1", "Namespace", "ns-1", None, spec={"finalizers": ["example.com/x"]}),
    "namespace-small": obj("v1", "Namespace", "ns-2", None),
    "lease": rich("coordination.k8s.io/v1", "Lease", "l", spec={
        "holderIdentity": "h", "leaseDurationSeconds": 15, "leaseTransitions": 1,
        "acquireTime": "2026-11-15T08:00:00.000000Z", "renewTime": "2026-11-15T08:00:00.500000Z"}),
    "lease-small": obj("coordination.k8s.io/v1", "Lease", "l"),
    "priorityclass": rich("scheduling.k8s.io/v1", "PriorityClass", "pc", None, value=1000, description="d",
                          preemptionPolicy="Never", globalDefault=False),
    "event": rich("v1", "Event", "e", involvedObject={"kind": "Pod", "name": "p", "namespace": "default"},
                  reason="R", message="m", source={"component": "c"}, type="Normal", count=1,
                  firstTimestamp="2026-11-15T08:00:00Z", lastTimestamp="2026-11-15T08:00:00Z"),
    "event-new": obj("v1", "Event", "e", involvedObject={"kind": "Node", "name": "n", "namespace": "default"},
                     eventTime="2026-11-15T08:00:00.000000Z", reportingComponent="example.com/c",
                     reportingInstance="i", action="A", reason="R", type="Normal"),
    "event-events": obj("events.k8s.io/v1", "Event", "e", regarding={"kind": "Node", "name": "n",
                                                                     "namespace": "default"},
                        eventTime="2026-11-15T08:00:00.000000Z", reportingController="example.com/c",
                        reportingInstance="i", action="A", reason="R", type="Normal", note="n",
                        series={"count": 3, "lastObservedTime": "2026-11-15T08:00:00.000000Z"}),
    "endpointslice": rich("discovery.k8s.io/v1", "EndpointSlice", "es", addressType="IPv4", ports=[
        {"name": "a", "port": 80}], endpoints=[{"addresses": ["10.1.2.3"], "nodeName": "n", "hostname": "h"}]),
}

def paths(value: object, at: tuple = ()) -> Iterator[tuple]:
    """The path of every member and element below a value."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield (*at, key)
            yield from paths(member, (*at, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield (*at, index)
            yield from paths(member, (*at, index))


def changed(base: dict, path: tuple, value: object) -> dict:
    copied = copy.deepcopy(base)
    parent = copied
    for step in path[:-1]:
        parent = parent[step]
    if value is GONE:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return copied


def look(base: dict, path: tuple) -> object:
    for step in path:
        base = base[step]
    return base


# Odd values here are the decoder's business: another type, or a text that is no time, quantity or base64.
TYPED = {"deprecated.daemonset.template.generation", "apiVersion", "kind", "creationTimestamp", "eventTime", "firstTimestamp", "lastTimestamp", "acquireTime",
         "renewTime", "lastObservedTime", "lastTransitionTime", "lastProbeTime", "startTime", "completionTime",
         "time", "lastHeartbeatTime", "startedAt", "finishedAt", "timeAdded"}
LISTS_QUOTED = {"values"}
MAPS = {"labels", "annotations", "matchLabels", "nodeSelector", "selector", "parameters", "data", "binaryData",
        "overhead", "capacity"}
QUANTITIES = {"requests", "limits", "capacity", "allocatable", "overhead", "allocatedResources"}


MAP_PATHS = {(key,) for key in MAPS}


def odd_values(path: tuple, value: object) -> list:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, str)) and len(path) > 1 and (path[-2] in QUANTITIES or path[-1] in
                                                           ("sizeLimit", "divisor")):
        return ["0", "-1", "1500m", "100u", "3Ti"]
    if path[-1] in TYPED and (len(path) == 1 or not isinstance(value, str) or "T" in value or value.isdigit()):
        return []
    if path[0] in ("data", "binaryData") and len(path) == 2:
        return []
    for kind, values in ODD.items():
        if isinstance(value, kind):
            return [v for v in values if v != value]
    if isinstance(value, list):
        # an empty list and none are told apart by Go alone, and only in what messages quote
        return ([] if path[-1] in LISTS_QUOTED else [[]]) + [value + value] if value else []
    if isinstance(value, dict):
        # an empty map and none are told apart by Go alone, and only in what messages quote
        return [{}] if value and path[-1] not in MAPS else []
    return []


@dataclass
class Change:
    """One member of an object left out (value GONE) or replaced."""

    path: tuple
    value: object
    obj: dict  # the whole object with the change

    def __str__(self) -> str:
        return ".".join(map(str, self.path)) + (" gone" if self.value is GONE else f" = {json.dumps(self.value)[:40]}")


def mutations(base: dict, only: tuple = ()) -> Iterator[Change]:
    """Every small change of an object; only those below the given path."""
    for path in paths(base):
        if path[:len(only)] != only or path in (("apiVersion",), ("kind",), ("metadata",)) or path[:2] == ("metadata", "namespace"):
            continue
        value = look(base, path)
        if path[-2:-1] not in MAP_PATHS or len(look(base, path[:-1])) > 1:
            yield Change(path, GONE, changed(base, path, GONE))
        for odd in odd_values(path, value):
            if path == ("spec", "ports") and len(odd) > 1 and "type" in base["spec"]:
                continue  # node ports of both are allocated, and by whom matters
            yield Change(path, odd, changed(base, path, odd))


# -- what updates are about ------------------------------------------------------------------------------------------

TIME = "2026-11-15T08:00:00Z"
CONTAINER_STATUS = {"name": "main", "image": "x", "imageID": "y", "ready": True, "restartCount": 0,
                    "state": {"running": {"startedAt": TIME}},
                    "user": {"linux": {"uid": 0, "gid": 5, "supplementalGroups": [5]}}}

# A status of each kind that has one, as its controller would write it.
STATUSES: dict[str, dict] = {
    "Pod": {"phase": "Running", "podIP": "10.1.1.1", "podIPs": [{"ip": "10.1.1.1"}, {"ip": "fd00::1"}],
            "hostIP": "10.0.0.1", "hostIPs": [{"ip": "10.0.0.1"}], "startTime": TIME, "nominatedNodeName": "n",
            "observedGeneration": 1, "containerStatuses": [CONTAINER_STATUS],
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": TIME},
                           {"type": "example.com/x", "status": "False", "lastTransitionTime": TIME, "reason": "r"}]},
    "PodDisruptionBudget": {
        "observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2,
        "disruptedPods": {"p": TIME}, "conditions": [
            {"type": "DisruptionAllowed", "status": "True", "reason": "SufficientPods", "message": "m",
             "lastTransitionTime": TIME, "observedGeneration": 1}]},
    "Deployment": {"observedGeneration": 1, "replicas": 3, "updatedReplicas": 2, "readyReplicas": 2,
                   "availableReplicas": 1, "unavailableReplicas": 1, "collisionCount": 1, "terminatingReplicas": 1,
                   "conditions": [{"type": "Available", "status": "True", "lastTransitionTime": TIME}]},
    "ReplicaSet": {"observedGeneration": 1, "replicas": 3, "fullyLabeledReplicas": 2, "readyReplicas": 2,
                   "availableReplicas": 1, "terminatingReplicas": 1},
    "StatefulSet": {"observedGeneration": 1, "replicas": 3, "readyReplicas": 2, "currentReplicas": 2,
                    "updatedReplicas": 1, "availableReplicas": 1, "collisionCount": 2, "currentRevision": "a"},
    "DaemonSet": {"observedGeneration": 1, "currentNumberScheduled": 1, "numberMisscheduled": 1,
                  "desiredNumberScheduled": 1, "numberReady": 1, "updatedNumberScheduled": 1, "numberAvailable": 1,
                  "numberUnavailable": 1, "collisionCount": 1},
    "Job": {"active": 1, "ready": 1, "succeeded": 1, "failed": 1, "startTime": TIME, "terminating": 0, "conditions": [
        {"type": "Suspended", "status": "False", "lastTransitionTime": TIME, "lastProbeTime": TIME}]},
    "Service": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4", "ipMode": "VIP"}, {"hostname": "x.example.com"}]}},
    "PersistentVolume": {"phase": "Bound", "message": "m"},
    "PersistentVolumeClaim": {"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]},
    "VolumeAttachment": {"attached": True, "attachmentMetadata": {"a": "b"},
                         "attachError": {"message": "m", "time": TIME, "errorCode": 5}},
    "Namespace": {"conditions": [{"type": "X", "status": "True", "lastTransitionTime": TIME}]},
    "Node": {},
}

# What the objects refer to.
WORLD = [
    obj("v1", "ServiceAccount", "default"),
    obj("v1", "ServiceAccount", "robot", imagePullSecrets=[{"name": "regcred"}], automountServiceAccountToken=False),
    obj("scheduling.k8s.io/v1", "PriorityClass", "high", None, value=1000, preemptionPolicy="Never"),
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1", "labels": {
        "topology.kubernetes.io/zone": "z1", "topology.kubernetes.io/region": "r1", "a": "b"}}},
    {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "x", "metadata": {
        "name": "std", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}},
    obj("storage.k8s.io/v1", "StorageClass", "fast", None, provisioner="x", allowVolumeExpansion=True),
]


def edited(base: dict, **edits: object) -> dict:
    """A copy with members replaced; `spec__replicas=3` goes down."""
    copied = copy.deepcopy(base)
    for path, value in edits.items():
        parent, *steps = copied, *path.split("__")
        for step in steps[:-1]:
            parent = parent[int(step) if step.isdigit() else step]
        key = int(steps[-1]) if steps[-1].isdigit() else steps[-1]
        if value is GONE:
            parent.pop(key, None)
        else:
            parent[key] = value
    return copied


def odd_creations() -> Iterator[tuple[str, dict]]:
    """Creations that no single small change of an example makes."""
    pod, config = BASES["pod-small"], BASES["configmap-small"]
    for base in ("x-", "x", "Bad-", "a." * 40, "y" * 80 + "-", "-", ""):
        meta_only = edited(pod, metadata={"generateName": base, "namespace": "default"})
        yield f"pod generated from {base!r}", meta_only
        yield f"config map generated from {base!r}", edited(config, metadata={"generateName": base,
                                                                              "namespace": "default"})
    yield "annotations too big", edited(config, metadata__annotations={"a": "x" * 262144})
    yield "annotations just fit", edited(config, metadata__annotations={"a": "x" * 262143})
    yield "data too big", edited(config, data={"a": "x" * 1048577})
    yield "data just fits", edited(config, data={"a": "x" * 1048576})
    yield "key in both", edited(config, data={"a": "b"}, binaryData={"a": "AA=="})
    yield "secret too big", edited(BASES["secret-basic"], stringData={"username": "x" * 1048577})
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "u", "controller": True}
    yield "two controllers", edited(config, metadata__ownerReferences=[owner, owner | {"uid": "v", "name": "b"}])
    yield "an owner twice", edited(config, metadata__ownerReferences=[owner, owner])
    yield "an event as owner", edited(config, metadata__ownerReferences=[owner | {"kind": "Event"}])
    yield "orphan and foreground", edited(config, metadata__finalizers=["orphan", "foregroundDeletion"])
    yield "generation kept", edited(config, metadata__generation=7)
    yield "generation below zero", edited(config, metadata__generation=-7)
    yield "own system fields", edited(config, metadata__uid="u", metadata__creationTimestamp=TIME,
                                      metadata__deletionTimestamp=TIME, metadata__deletionGracePeriodSeconds=3)
    yield "namespaced node", edited(BASES["node-small"], metadata__namespace="x")
    for name in ("system-node-critical", "system-cluster-critical", "high", "none"):
        yield f"pod of class {name}", edited(pod, spec__priorityClassName=name)
        yield f"pod of class {name} with a number", edited(pod, spec__priorityClassName=name, spec__priority=1000)
        yield f"pod of class {name} with a policy", edited(pod, spec__priorityClassName=name,
                                                           spec__preemptionPolicy="Never")
    yield "pod with a number", edited(pod, spec__priority=5)
    yield "pod with priority 0", edited(pod, spec__priority=0)
    mirror = {"kubernetes.io/config.mirror": "x"}
    yield "mirror pod", edited(pod, metadata__annotations=mirror, spec__nodeName="node-1")
    yield "mirror pod nowhere", edited(pod, metadata__annotations=mirror)
    yield "mirror pod with account", edited(pod, metadata__annotations=mirror, spec__serviceAccountName="default")
    yield "mirror pod with a secret", edited(pod, metadata__annotations=mirror, spec__nodeName="node-1",
                                             spec__volumes=[{"name": "s", "secret": {"secretName": "x"}}])
    yield "old name of the account", edited(pod, spec__serviceAccount="robot")
    yield "no such account", edited(pod, spec__serviceAccountName="nobody")
    yield "token not wanted", edited(pod, spec__automountServiceAccountToken=False)
    yield "token mounted by hand", edited(pod, spec__containers__0__volumeMounts=[
        {"name": "t", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}], spec__volumes=[{"name": "t"}])
    yield "token volume there", edited(pod, spec__volumes=[{"name": "kube-api-access-abcde", "emptyDir": {}}])
    for cost in ("1", "-5", "+5", "05", "x", "99999999999", ""):
        yield f"deletion cost {cost!r}", edited(pod, metadata__annotations={
            "controller.kubernetes.io/pod-deletion-cost": cost})
    for image in ("nginx", "nginx:latest", "nginx:1", "a/b/c:latest", "host:5000/x", "host:5000/x:latest", "UPPER",
                  "host.Name/x", "x@sha256:" + "a" * 64, "x:latest@sha256:" + "a" * 64, "a" * 64, "a__b", "a___b",
                  "a..b", "x:", ":latest", "localhost/x", "LOCALHOST/x", "[::1]:5000/x", "x/", "x y", " x", "x "):
        yield f"image {image!r}", edited(pod, spec__containers__0__image=image)
    for annotation, value in (("seccomp.security.alpha.kubernetes.io/pod", "bad"),
                              ("seccomp.security.alpha.kubernetes.io/pod", "localhost/../x"),
                              ("container.seccomp.security.alpha.kubernetes.io/c", "unconfined"),
                              ("container.apparmor.security.beta.kubernetes.io/c", "runtime/default"),
                              ("container.apparmor.security.beta.kubernetes.io/c", "localhost/p"),
                              ("container.apparmor.security.beta.kubernetes.io/c", "bad"),
                              ("container.apparmor.security.beta.kubernetes.io/none", "unconfined"),
                              ("pod.beta.kubernetes.io/init-containers", "[]")):
        yield f"annotation {annotation}={value}", edited(pod, metadata__annotations={annotation: value})
    yield "apparmor in two ways", edited(
        pod, metadata__annotations={"container.apparmor.security.beta.kubernetes.io/c": "unconfined"},
        spec__securityContext={"appArmorProfile": {"type": "RuntimeDefault"}})
    yield "seccomp in two ways", edited(
        pod, metadata__annotations={"seccomp.security.alpha.kubernetes.io/pod": "unconfined"},
        spec__securityContext={"seccompProfile": {"type": "RuntimeDefault"}})
    yield "privileged without escalation", edited(pod, spec__containers__0__securityContext={
        "privileged": True, "allowPrivilegeEscalation": False, "capabilities": {"add": ["CAP_SYS_ADMIN"]}})
    yield "host sysctls", edited(pod, spec__hostNetwork=True, spec__hostIPC=True, spec__securityContext={"sysctls": [
        {"name": "net.core.somaxconn", "value": "1"}, {"name": "kernel.sem", "value": "1"}]})
    yield "unmasked", edited(pod, spec__containers__0__securityContext={"procMount": "Unmasked"})
    yield "unmasked with users", edited(pod, spec__hostUsers=False,
                                        spec__containers__0__securityContext={"procMount": "Unmasked"})
    yield "users and the host", edited(pod, spec__hostUsers=False, spec__hostNetwork=True, spec__hostPID=True,
                                       spec__hostIPC=True)
    yield "windows with linux things", edited(
        BASES["pod-windows"], spec__hostPID=True, spec__securityContext={"runAsUser": 1, "fsGroup": 2},
        spec__containers__0__securityContext={"privileged": True, "runAsGroup": 1})
    yield "host process", edited(pod, spec__securityContext={"windowsOptions": {"hostProcess": True}})
    yield "features that are off", edited(
        pod, spec__os={"name": "linux"}, spec__schedulingGroup={"podGroupName": "g"},
        spec__containers__0__lifecycle={"stopSignal": "SIGTERM"},
        spec__volumes=[{"name": "p", "projected": {"sources": [
            {"clusterTrustBundle": {"name": "x", "path": "y"}},
            {"podCertificate": {"signerName": "a/b", "keyType": "ED25519", "keyPath": "k"}}]}}])
    yield "ephemeral containers", edited(pod, spec__ephemeralContainers=[{"name": "e", "image": "x"}])
    yield "node before the gates", edited(BASES["pod-gated"], spec__nodeName="node-1")
    yield "two volumes in one", edited(pod, spec__volumes=[{"name": "v", "emptyDir": {}, "hostPath": {"path": "/x"},
                                                            "downwardAPI": {}, "cephfs": {"monitors": ["a"]}}])
    yield "ephemeral volume twice", edited(pod, spec__volumes=[
        {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM_SPEC}}},
        {"name": "c", "persistentVolumeClaim": {"claimName": "p-e"}}])
    for source, value in FOREIGN.items():
        volume = {"name": "v", source: value}
        yield f"volume {source}", edited(pod, spec__volumes=[volume])
        yield f"volume {source} empty", edited(pod, spec__volumes=[{"name": "v", source: {}}])
        if source != "gitRepo":
            yield f"persistent volume {source}", edited(BASES["pv-host"], spec__hostPath=GONE, **{f"spec__{source}": value})
            yield f"persistent volume {source} empty", edited(BASES["pv-host"], spec__hostPath=GONE,
                                                              **{f"spec__{source}": {}})
    yield "recycled root", edited(BASES["pv-host"], spec__hostPath={"path": "/"},
                                  spec__persistentVolumeReclaimPolicy="Recycle")
    yield "claim from another thing", edited(BASES["pvc-small"], spec__dataSource={
        "apiGroup": "example.com", "kind": "X", "name": "x"})
    yield "claim with two sources", edited(BASES["pvc-small"], spec__dataSourceRef={
        "apiGroup": "example.com", "kind": "X", "name": "x"})
    yield "claim from another namespace", edited(BASES["pvc-source"], spec__dataSourceRef__namespace="x")
    yield "claim without class", edited(BASES["pvc-small"], spec__storageClassName="")
    yield "claim with the old annotation", edited(BASES["pvc-small"], metadata__annotations={
        "volume.beta.kubernetes.io/storage-class": "old"})
    yield "budget with both", edited(BASES["pdb"], spec__maxUnavailable=1)
    for n in ("0", "0%", "100%", "101%", "5", "-1%", "1.5%", 0, 5, -3):
        yield f"budget of {n!r}", edited(BASES["pdb"], spec__minAvailable=n)
        yield f"surge of {n!r}", edited(BASES["deployment"], spec__strategy__rollingUpdate__maxSurge=n)
        yield f"daemons {n!r}", edited(BASES["daemonset"], spec__updateStrategy__rollingUpdate__maxSurge=n)
    yield "recreate and roll", edited(BASES["deployment"], spec__strategy__type="Recreate")
    yield "recreate", edited(BASES["deployment"], spec__strategy={"type": "Recreate"})
    yield "neither surge nor less", edited(BASES["deployment"], spec__strategy={"rollingUpdate": {
        "maxSurge": 0, "maxUnavailable": 0}})
    yield "set on delete", edited(BASES["statefulset"], spec__updateStrategy={"type": "OnDelete"})
    yield "set that waits", edited(BASES["statefulset"], spec__updateStrategy__rollingUpdate__maxUnavailable=2)
    yield "manual selector", edited(BASES["job-small"], spec__manualSelector=True, spec__selector={"matchLabels": {
        "a": "b"}})
    yield "manual selector that fits", edited(
        BASES["job-small"], spec__manualSelector=True, spec__selector={"matchLabels": {"a": "b"}},
        spec__template__metadata={"labels": {"a": "b"}})
    yield "foreign selector", edited(BASES["job-small"], spec__selector={"matchLabels": {"a": "b"}})
    yield "taken label", edited(BASES["job-small"], spec__template__metadata={"labels": {"job-name": "other"}})
    yield "many completions", edited(BASES["job-indexed"], spec__completions=200000, spec__parallelism=20000)
    for text in ("", "0", "5", "1-", "a", "2,1", "1-1", "0-2-3", "0,1,2", "-1", "0,,1"):
        yield f"indexes {text!r}", edited(BASES["job-indexed"], spec__successPolicy={"rules": [
            {"succeededIndexes": text}]})
    for codes in ([0], [1, 1], [2, 1], [], list(range(1, 300))):
        if codes:
            yield f"exit codes {codes[:3]}", edited(BASES["job"], spec__podFailurePolicy={"rules": [
                {"action": "Count", "onExitCodes": {"operator": "In", "values": codes}}]})
    yield "indexed name too long", edited(BASES["job-indexed"], metadata__name="j" * 62)
    yield "same taint twice", edited(BASES["node"], spec__taints=[
        {"key": "k", "effect": "NoSchedule"}, {"key": "k", "value": "v", "effect": "NoSchedule"}])
    yield "not ready already", edited(BASES["node"], spec__taints=[
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}])
    yield "two ranges", edited(BASES["node"], spec__podCIDR=GONE, spec__podCIDRs=["10.0.0.0/24", "fd00::/64"])
    yield "two ranges of one family", edited(BASES["node"], spec__podCIDR=GONE, spec__podCIDRs=["10.0.0.0/24",
                                                                                              "10.0.1.0/24"])
    yield "ranges that differ", edited(BASES["node"], spec__podCIDRs=["10.9.0.0/24"])
    for cidr in ("10.0.0.0/024", "010.0.0.0/8", "10.0.0.1/24", "::ffff:1.2.3.4/120", "10.0.0.0/33", "x", "10.0.0.0"):
        yield f"range {cidr}", edited(BASES["node"], spec__podCIDR=cidr)
    for ip in ("10.0.0.1", "010.0.0.1", "::ffff:1.2.3.4", "fe80::1", "127.0.0.1", "0.0.0.0", "224.0.0.1", "x", "::"):
        yield f"external address {ip}", edited(BASES["service"], spec__externalIPs=[ip])
        yield f"name server {ip}", edited(pod, spec__dnsConfig={"nameservers": [ip]})
        yield f"endpoint {ip}", edited(BASES["endpointslice"], endpoints=[{"addresses": [ip]}])
    for fields in ({"clusterIPs": ["10.0.0.5", "10.0.0.6"]}, {"clusterIP": "10.0.0.5", "clusterIPs": ["10.0.0.6"]},
                   {"clusterIP": "x"}, {"ipFamilies": ["IPv6"]}, {"ipFamilies": ["IPv4", "IPv4"]},
                   {"ipFamilies": ["IPv9"]}, {"ipFamilyPolicy": "RequireDualStack"},
                   {"ipFamilyPolicy": "PreferDualStack"}, {"ipFamilyPolicy": "Odd"},
                   {"clusterIP": "None", "clusterIPs": ["None", "None"]}, {"clusterIP": "fd00::1"},
                   {"clusterIP": "None", "type": "NodePort"}, {"clusterIP": "None", "type": "LoadBalancer"},
                   {"type": "ExternalName", "externalName": "x.", "ipFamilies": ["IPv4"]},
                   {"healthCheckNodePort": 5}, {"externalTrafficPolicy": "Local"}, {"loadBalancerClass": "x/y"},
                   {"allocateLoadBalancerNodePorts": True}, {"loadBalancerSourceRanges": ["10.0.0.0/8"]},
                   {"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 5}}},
                   {"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}}}):
        yield f"service with {fields}", edited(BASES["service-small"], **{f"spec__{k}": v for k, v in fields.items()})
    yield "ports that clash", edited(BASES["service-small"], spec__ports=[
        {"name": "a", "port": 80}, {"name": "b", "port": 80}, {"name": "c", "port": 80, "protocol": "UDP"}])
    for name, value, default in (("system-node-critical", 5, False),
                                 ("system-cluster-critical", 2000000000, True), ("system-x", 1, False),
                                 ("x", 1000000000, False), ("x", 1000000001, False), ("x", -5, True)):
        yield f"class {name} {value} {default}", obj("scheduling.k8s.io/v1", "PriorityClass", name, None, value=value,
                                                     globalDefault=default)
    for length in (128, 129, 1024, 1025):
        yield f"event with {length}", edited(BASES["event-new"], reason="r" * length, message="m" * length,
                                             action="a" * length)
    for ns in ("default", "kube-system", "other", ""):
        for base in ("event", "event-new"):
            yield f"{base} about {ns!r}", edited(BASES[base], involvedObject={"kind": "Pod", "name": "p",
                                                                             "namespace": ns})


FOREIGN = {
    "awsElasticBlockStore": {"volumeID": "x", "partition": 300}, "azureFile": {"secretName": "s", "shareName": "t"},
    "azureDisk": {"diskName": "d", "diskURI": "x", "kind": "Managed", "cachingMode": "Odd"},
    "cephfs": {"monitors": ["a"]}, "cinder": {"volumeID": "x", "secretRef": {}},
    "fc": {"wwids": ["a"], "targetWWNs": ["b"], "lun": 300}, "flexVolume": {"driver": "d", "options": {
        "kubernetes.io/x": "y"}},
    "flocker": {"datasetName": "a/b", "datasetUUID": "u"}, "gcePersistentDisk": {"pdName": "x", "partition": -1},
    "gitRepo": {"repository": "r", "directory": "../x"}, "glusterfs": {"endpoints": "e", "path": "p"},
    "iscsi": {"targetPortal": "p", "iqn": "odd", "lun": 256, "chapAuthDiscovery": True, "initiatorName": "eui.x"},
    "nfs": {"server": "s", "path": "p"}, "photonPersistentDisk": {"pdID": "x"}, "portworxVolume": {"volumeID": "x"},
    "quobyte": {"registry": "a:1,b", "volume": "v"}, "rbd": {"monitors": ["a"], "image": "i"},
    "scaleIO": {"gateway": "g", "system": "s", "secretRef": {"name": "x"}, "volumeName": "v"},
    "storageos": {"volumeName": "Bad!", "volumeNamespace": "Bad!", "secretRef": {}}, "vsphereVolume": {
        "volumePath": "x"},
}
