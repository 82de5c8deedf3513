"""Objects, permissions and situations that the suites of drains share."""

from __future__ import annotations

from drain_ground import Ground
from objects import pod, pod_template
from shape import merged

EMPTY_DIR = {"volumes": [{"name": "scratch", "emptyDir": {}}]}
NEVER_GONE = {"slipway.dev/test-gone-after": "1h"}

# Permissions: all that a drain reads, and the two writes that it cannot do without.
READ = [{"apiGroups": [""], "resources": ["nodes", "pods", "namespaces"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["apps"], "resources": ["daemonsets", "statefulsets", "replicasets", "deployments"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["storage.k8s.io"], "resources": ["volumeattachments"], "verbs": ["get", "list", "watch"]}]
CORDON = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["patch"]}
EVICT = {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]}


def slow(made: dict, ready: str | None = None, gone: str | None = None) -> dict:
    """A workload whose pods take their time."""
    given = {"slipway.dev/test-ready-after": ready, "slipway.dev/test-gone-after": gone}
    annotations = {k: v for k, v in given.items() if v is not None}
    return merged(made, {"spec": {"template": {"metadata": {"annotations": annotations}}}})


def daemon_set(name: str, ns: str, **spec: object) -> dict:
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": ns},
            "spec": {"selector": {"matchLabels": {"app": name}}, "template": pod_template({"app": name}, **spec)}}


def stateful_set(name: str, ns: str, replicas: int, **spec: object) -> dict:
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name, "namespace": ns},
            "spec": {"replicas": replicas, "serviceName": name, "podManagementPolicy": "Parallel",
                     "selector": {"matchLabels": {"app": name}}, "template": pod_template({"app": name}, **spec)}}


def owned(made: dict, version: str, kind: str, name: str, uid: str = "11111111-1111-1111-1111-111111111111") -> dict:
    owner = {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": True}
    return merged(made, {"metadata": {"ownerReferences": [owner]}})


def held(g: Ground, node: int) -> dict:
    """A pod with a finalizer that the test takes off at its end."""
    made = pod("held", g.ns, nodeName=g.nodes[node], terminationGracePeriodSeconds=1)
    release = b'{"metadata":{"finalizers":null}}'
    g.ctx.undo(lambda: g.api.raw("PATCH", g.path("held"), release, "application/merge-patch+json"))
    return merged(made, {"metadata": {"finalizers": ["slipway.dev/test"]}})


def lose(g: Ground, number: int) -> None:
    """The node falls silent and is given up."""
    g.cluster.leave(g.nodes[number])
    lost = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}

    def given_up() -> bool:
        g.api.patch(f"/api/v1/nodes/{g.nodes[number]}/status", {"status": {"conditions": [lost]}}, "strategic")
        return any(t["key"] == "node.kubernetes.io/unreachable" for t in g.node(number)["spec"].get("taints", []))
    g.ctx.wait_for(given_up, 30, "the node to be given up", interval=0.5)
