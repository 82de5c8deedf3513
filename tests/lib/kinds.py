"""The kinds of the API that Slipway and its users meet: the least that makes one, and what the server makes of that.

`least` is a body that a client sends, `whole` what comes back with 201, less the metadata that differs in each run (shape.settled).
Read off kube-apiserver 1.36.3; NAMESPACE stands for the namespace.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from shape import ANY, TIME, UID, Like, merged

NAMESPACE = "NAMESPACE"
SELECTOR = {"matchLabels": {"app": "x"}}
IMAGE = "registry.test/app:1"
TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "main", "image": IMAGE}]}}
CONTAINER = {"name": "main", "image": IMAGE, "resources": {}, "terminationMessagePath": "/dev/termination-log",
             "terminationMessagePolicy": "File", "imagePullPolicy": "IfNotPresent"}
TEMPLATE_SPEC = {"containers": [CONTAINER], "restartPolicy": "Always", "terminationGracePeriodSeconds": 30,
                 "dnsPolicy": "ClusterFirst",
                 "securityContext": {}, "schedulerName": "default-scheduler"}
WHOLE_TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": TEMPLATE_SPEC}
GATES = [{"name": "slipway.dev/nobody-touches-it"}]  # not even the scheduler

TOKEN_VOLUME = Like(r"kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}")
TOKEN = {"name": TOKEN_VOLUME, "projected": {"defaultMode": 420, "sources": [
    {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
    {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}]}}
TOKEN_MOUNT = {"name": TOKEN_VOLUME, "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
TOLERATIONS = [{"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
               for key in ("not-ready", "unreachable")]
POD_SPEC = TEMPLATE_SPEC | {
    "volumes": [TOKEN], "containers": [CONTAINER | {"volumeMounts": [TOKEN_MOUNT]}], "serviceAccountName": "default",
    "serviceAccount": "default", "tolerations": TOLERATIONS, "priority": 0, "enableServiceLinks": True,
    "preemptionPolicy": "PreemptLowerPriority"}
GATED = {"type": "PodScheduled", "status": "False", "lastTransitionTime": TIME, "reason": "SchedulingGated",
         "message": "Scheduling is blocked due to non-empty scheduling gates"}
NODE_INFO = dict.fromkeys(("machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion",
                           "kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"), "")


@dataclass(eq=False)
class Kind:
    """delete_answers: what a DELETE of an object without finalizers answers with, the object or a Status.
    unconditional: an update without resourceVersion is taken.  singular: as it appears in messages of 422."""

    version: str
    kind: str
    resource: str
    least: dict
    whole: dict = field(default_factory=dict)
    namespaced: bool = True
    delete_answers: str = "Status"
    unconditional: bool = True
    scale: bool = False
    status: bool = False
    generation: bool = False

    @property
    def group(self) -> str:
        return self.version.rpartition("/")[0]

    def path(self, namespace: str = "", name: str = "", sub: str = "") -> str:
        base = f"/apis/{self.version}" if self.group else f"/api/{self.version}"
        if self.namespaced and namespace:
            base += f"/namespaces/{namespace}"
        return base + f"/{self.resource}" + (f"/{name}" if name else "") + (f"/{sub}" if sub else "")

    def make(self, namespace: str, name: str, **more: object) -> dict:
        made = replaced(json.loads(json.dumps(self.least)), {NAMESPACE: namespace})
        where = {"namespace": namespace} if self.namespaced else {}
        return merged({"apiVersion": self.version, "kind": self.kind, "metadata": {"name": name, **where}, **made}, more)

    def wanted(self, namespace: str, name: str) -> dict:
        """What the server makes of make()."""
        where = {"namespace": namespace} if self.namespaced else {}
        meta = {"name": name, **where, **({"generation": 1} if self.generation else {})}
        made = merged({"apiVersion": self.version, "kind": self.kind, "metadata": meta, **self.least}, self.whole)
        return replaced(made, {"NAME": name, NAMESPACE: namespace})


def replaced(value: object, names: dict[str, str]):
    if isinstance(value, dict):
        return {key: replaced(v, names) for key, v in value.items()}
    if isinstance(value, list):
        return [replaced(v, names) for v in value]
    return names.get(value, value) if isinstance(value, str) else value


JOB_LABELS = {"batch.kubernetes.io/controller-uid": UID, "batch.kubernetes.io/job-name": "NAME", "controller-uid": UID,
              "job-name": "NAME"}

POD = Kind("v1", "Pod", "pods", {"spec": {"containers": [{"name": "main", "image": IMAGE}], "schedulingGates": GATES}},
           {"spec": POD_SPEC, "status": {"phase": "Pending", "conditions": [GATED], "qosClass": "BestEffort"}}, status=True,
           generation=True, delete_answers="Pod")
CONFIG_MAP = Kind("v1", "ConfigMap", "configmaps", {"data": {"key": "value"}})
SECRET = Kind("v1", "Secret", "secrets", {"data": {"a": "Yg=="}, "stringData": {"c": "d"}},
              {"data": {"a": "Yg==", "c": "ZA=="}, "stringData": None, "type": "Opaque"})
SERVICE = Kind("v1", "Service", "services", {"spec": {"ports": [{"port": 80}], "selector": {"app": "x"}}},
               {"spec": {"ports": [{"protocol": "TCP", "port": 80, "targetPort": 80}], "clusterIP": ANY, "clusterIPs": ANY,
                         "type": "ClusterIP", "sessionAffinity": "None", "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
                         "internalTrafficPolicy": "Cluster"}, "status": {"loadBalancer": {}}}, status=True,
                         delete_answers="Service")
SERVICE_ACCOUNT = Kind("v1", "ServiceAccount", "serviceaccounts", {}, delete_answers="ServiceAccount")
CLAIM = Kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims",
             {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
             {"metadata": {"finalizers": ["kubernetes.io/pvc-protection"]}, "spec": {"volumeMode": "Filesystem"},
              "status": {"phase": "Pending"}}, status=True, delete_answers="PersistentVolumeClaim")
EVENT = Kind("v1", "Event", "events", {"involvedObject": {"kind": "Pod", "name": "p", "namespace": NAMESPACE}, "reason": "Why",
                                       "message": "words", "type": "Normal"},
             {"source": {}, "reportingComponent": "", "reportingInstance": ""})
DEPLOYMENT = Kind("apps/v1", "Deployment", "deployments", {"spec": {"replicas": 0, "selector": SELECTOR, "template": TEMPLATE}},
                  {"spec": {"template": WHOLE_TEMPLATE, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
                            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}},
                   "status": {}}, scale=True, status=True, generation=True)
REPLICA_SET = Kind("apps/v1", "ReplicaSet", "replicasets", {"spec": {"replicas": 0, "selector": SELECTOR, "template": TEMPLATE}},
                   {"spec": {"template": WHOLE_TEMPLATE}, "status": {"replicas": 0}}, scale=True, status=True, generation=True)
STATEFUL_SET = Kind("apps/v1", "StatefulSet", "statefulsets",
                    {"spec": {"replicas": 0, "selector": SELECTOR, "template": TEMPLATE}},
                    {"spec": {"template": WHOLE_TEMPLATE, "serviceName": "", "podManagementPolicy": "OrderedReady",
                              "revisionHistoryLimit": 10,
                              "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
                              "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"}},
                     "status": {"replicas": 0, "availableReplicas": 0}}, scale=True, status=True, generation=True)
DAEMON_SET = Kind("apps/v1", "DaemonSet", "daemonsets",
                  {"spec": {"selector": SELECTOR, "template": merged(TEMPLATE, {"spec": {"nodeSelector": {"no": "where"}}})}},
                  {"metadata": {"annotations": {"deprecated.daemonset.template.generation": "1"}},
                   "spec": {"template": merged(WHOLE_TEMPLATE, {"spec": {"nodeSelector": {"no": "where"}}}),
                            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
                            "revisionHistoryLimit": 10},
                   "status": {"currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0}},
                  status=True, generation=True)
JOB = Kind("batch/v1", "Job", "jobs", {"spec": {"suspend": True, "template": {"spec": {
    "restartPolicy": "Never", "containers": [{"name": "main", "image": IMAGE}]}}}},
    {"metadata": {"labels": JOB_LABELS},
     "spec": {"parallelism": 1, "completions": 1, "backoffLimit": 6, "manualSelector": False, "completionMode": "NonIndexed",
              "podReplacementPolicy": "TerminatingOrFailed",
              "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": UID}},
              "template": {"metadata": {"labels": JOB_LABELS}, "spec": TEMPLATE_SPEC | {"restartPolicy": "Never"}}}, "status": {}},
    status=True, generation=True)
BUDGET = Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", {"spec": {"selector": SELECTOR, "minAvailable": 1}},
              {"status": {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}}, status=True,
              unconditional=False, generation=True)
LEASE = Kind("coordination.k8s.io/v1", "Lease", "leases", {"spec": {"holderIdentity": "x", "leaseDurationSeconds": 15}},
             unconditional=False)

NODE = Kind("v1", "Node", "nodes", {}, {"spec": {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]},
                                        "status": {"daemonEndpoints": {"kubeletEndpoint": {"Port": 0}}, "nodeInfo": NODE_INFO}},
            namespaced=False, status=True)
NAMESPACE_KIND = Kind("v1", "Namespace", "namespaces", {},
                      {"metadata": {"labels": {"kubernetes.io/metadata.name": "NAME"}}, "spec": {"finalizers": ["kubernetes"]},
                       "status": {"phase": "Active"}}, namespaced=False, status=True, delete_answers="Namespace")
VOLUME = Kind("v1", "PersistentVolume", "persistentvolumes",
              {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}},
              {"metadata": {"finalizers": ["kubernetes.io/pv-protection"]},
               "spec": {"hostPath": {"path": "/x", "type": ""}, "persistentVolumeReclaimPolicy": "Retain",
                        "volumeMode": "Filesystem"},
               "status": {"phase": "Pending", "lastPhaseTransitionTime": TIME}}, namespaced=False, status=True,
              delete_answers="PersistentVolume")
ATTACHMENT = Kind("storage.k8s.io/v1", "VolumeAttachment", "volumeattachments",
                  {"spec": {"attacher": "csi.example.com", "nodeName": "n", "source": {"persistentVolumeName": "v"}}},
                  {"status": {"attached": False}}, namespaced=False, status=True, unconditional=False,
                  delete_answers="VolumeAttachment")

NAMESPACED = [POD, CONFIG_MAP, SECRET, SERVICE, SERVICE_ACCOUNT, CLAIM, EVENT, DEPLOYMENT, REPLICA_SET, STATEFUL_SET,
              DAEMON_SET, JOB,
              BUDGET, LEASE]
CLUSTER_SCOPED = [NODE, NAMESPACE_KIND, VOLUME, ATTACHMENT]
KINDS = NAMESPACED + CLUSTER_SCOPED
