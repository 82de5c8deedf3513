"""Nodes: cordons, taints and who must leave; nodes that fall silent, come back, or are removed."""

from __future__ import annotations

import itertools

from cluster import Cluster
from context import Context, limit
from kinds import CLAIM, DAEMON_SET, DEPLOYMENT, IMAGE, LEASE, NODE, POD
from objects import pod
from shape import TIME, assert_has, merged
from wire import Wire

NOT_READY, UNREACHABLE, UNSCHEDULABLE = (f"node.kubernetes.io/{key}" for key in ("not-ready", "unreachable", "unschedulable"))
ALL = {"app": "x"}
DOOMED, SPARE = "doomed-0", "spare-0"


def taints(w: Wire, node: str) -> set[tuple[str, str]]:
    return {(t["key"], t["effect"]) for t in w.get(NODE.path(name=node)).ok()["spec"].get("taints", [])}


def condition(obj: dict, kind: str) -> dict:
    return next((c for c in obj["status"].get("conditions") or [] if c["type"] == kind), {})


def ready(obj: dict) -> bool:
    return condition(obj, "Ready").get("status") == "True"


def on(node: str, name: str, ns: str, seconds: int | None = None, **spec: object) -> dict:
    """A pod on that node; seconds: how long it tolerates a node that is lost or tainted."""
    tolerations = [{"key": key, "operator": "Exists", "effect": "NoExecute",
                    "tolerationSeconds": seconds} for key in (NOT_READY, UNREACHABLE)]
    selector = {"kubernetes.io/hostname": node}
    return pod(name, ns, ALL, nodeSelector=selector, **({"tolerations": tolerations} if seconds is not None else {}), **spec)


def all_ready(w: Wire, ns: str, count: int) -> bool:
    found = w.get(POD.path(ns)).ok()["items"]
    return len(found) == count and all(map(ready, found))


# -- cordons and taints -------------------------------------------------------------------------------------------


def test_a_new_node(ctx: Context) -> None:
    """Born with a taint, which goes when it is ready."""
    w = Wire(ctx.cluster.api)
    name, = ctx.nodes(1)
    assert taints(w, name) == set()
    found = w.get(NODE.path(name=name)).ok()
    assert_has(condition(found, "Ready"), {"status": "True", "lastHeartbeatTime": TIME, "lastTransitionTime": TIME})
    assert found["status"]["nodeInfo"]["bootID"] and found["status"]["nodeInfo"]["machineID"]
    assert found["status"]["allocatable"]["cpu"] == "16"


def test_a_cordon_is_a_taint_too(ctx: Context) -> None:
    w = Wire(ctx.cluster.api)
    name, = ctx.nodes(1)
    w.patch(NODE.path(name=name), {"spec": {"unschedulable": True}}, "strategic").ok()
    ctx.wait_for(lambda: taints(w, name) == {(UNSCHEDULABLE, "NoSchedule")}, 60, "the taint")
    assert TIME == w.get(NODE.path(name=name)).ok()["spec"]["taints"][0]["timeAdded"]
    w.patch(NODE.path(name=name), {"spec": {"unschedulable": None}}, "strategic").ok()
    ctx.wait_for(lambda: taints(w, name) == set(), 60, "no taint")
    w.patch(NODE.path(name=name), {"spec": {"taints": [{"key": UNSCHEDULABLE, "effect": "NoSchedule"}]}}).ok()
    ctx.wait_for(lambda: taints(w, name) == set(), 60, "a taint without a cordon to go")


def test_nobody_is_placed_on_a_cordoned_node(ctx: Context) -> None:
    w, ns = Wire(ctx.cluster.api), ctx.namespace()
    name, = ctx.nodes(1)
    w.post(POD.path(ns), on(name, "before", ns)).ok(201)
    ctx.wait_for(lambda: all_ready(w, ns, 1), 60, "the pod")
    w.patch(NODE.path(name=name), {"spec": {"unschedulable": True}}).ok()
    ctx.wait_for(lambda: taints(w, name), 60, "the taint")
    ctx.cluster.wait_scheduler([name])
    w.post(POD.path(ns), on(name, "after", ns)).ok(201)
    told = ctx.wait_for(lambda: condition(w.get(POD.path(ns, "after")).ok(), "PodScheduled"), 60, "the scheduler's word")
    assert_has(told, {"status": "False", "reason": "Unschedulable"})
    assert "1 node(s) were unschedulable" in told["message"], told["message"]
    assert ready(w.get(POD.path(ns, "before")).ok()), "who is there stays"
    w.patch(NODE.path(name=name), {"spec": {"unschedulable": None}}).ok()
    ctx.wait_for(lambda: all_ready(w, ns, 2), 60, "the pod to find its place")


def test_a_disk_is_made_where_its_class_allows(ctx: Context) -> None:
    """A pod with a disk that is made for its first consumer goes where allowedTopologies has a node, and waits where there is none."""
    w, ns = Wire(ctx.cluster.api), ctx.namespace()
    inside, outside = ctx.nodes(2)
    classes = "/apis/storage.k8s.io/v1/storageclasses"
    for name, site in ((inside, f"{ns}-a"), (outside, f"{ns}-b")):
        w.patch(NODE.path(name=name), {"metadata": {"labels": {"test.slipway.dev/site": site}}}).ok()
    for name, site in ((f"{ns}-near", f"{ns}-a"), (f"{ns}-nowhere", f"{ns}-c")):
        w.post(classes, {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
                         "provisioner": "test.slipway.dev/none", "volumeBindingMode": "WaitForFirstConsumer",
                         "allowedTopologies": [{"matchLabelExpressions": [{"key": "test.slipway.dev/site", "values": [site]}]}]}).ok(201)
        ctx.undo(lambda name=name: w.delete(f"{classes}/{name}"))
        claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": name, "resources": {"requests": {"storage": "1Gi"}}}
        for i in range(3):  # one might go there by chance
            w.post(POD.path(ns), pod(f"{name}-{i}", ns, ALL, volumes=[
                {"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}])).ok(201)
    for i in range(3):
        def chosen(i: int = i) -> str | None:
            found = w.get(CLAIM.path(ns, f"{ns}-near-{i}-data"))
            return found.code == 200 and found.ok()["metadata"].get("annotations", {}).get("volume.kubernetes.io/selected-node")

        def told(i: int = i) -> str | None:
            words = condition(w.get(POD.path(ns, f"{ns}-nowhere-{i}")).ok(), "PodScheduled").get("message", "")
            return words if "persistent volumes to bind" in words else None

        assert ctx.wait_for(chosen, 60, "a node for the disk") == inside
        ctx.wait_for(told, 60, "the scheduler's word about disks")
        assert "volume.kubernetes.io/selected-node" not in w.get(CLAIM.path(ns, f"{ns}-nowhere-{i}-data")).ok()["metadata"].get("annotations", {})


def test_taints_that_drive_pods_away(ctx: Context) -> None:
    w, ns = Wire(ctx.cluster.api), ctx.namespace()
    name, = ctx.nodes(1)
    forever = [{"key": "gone", "operator": "Exists", "effect": "NoExecute"}]
    w.post(POD.path(ns), on(name, "leaves", ns)).ok(201)
    w.post(POD.path(ns), on(name, "stays", ns, tolerations=forever)).ok(201)
    w.post(POD.path(ns), on(name, "later", ns, tolerations=[forever[0] | {"tolerationSeconds": 2}])).ok(201)
    w.post(POD.path(ns), on(name, "held", ns) | {"metadata": {"name": "held", "finalizers": ["slipway.dev/a"],
                                                              "labels": ALL}}).ok(201)
    ctx.undo(lambda: w.patch(POD.path(ns, "held"), {"metadata": {"finalizers": None}}))
    ctx.wait_for(lambda: all_ready(w, ns, 4), 60, "the pods")
    w.patch(NODE.path(name=name), {"spec": {"taints": [{"key": "gone", "effect": "NoSchedule"}]}}).ok()
    w.patch(NODE.path(name=name), {"spec": {"taints": [{"key": "gone", "effect": "NoExecute"}]}}).ok()
    ctx.wait_for(lambda: w.get(POD.path(ns, "leaves")).code == 404, 60, "the pod to leave")
    ctx.wait_for(lambda: w.get(POD.path(ns, "later")).code == 404, 60, "the other to leave later")
    held = ctx.wait_for(lambda: "deletionTimestamp" in (p := w.get(POD.path(ns, "held")).ok())["metadata"] and p, 60, "what is held to be going")
    assert TIME == held["metadata"]["deletionTimestamp"]
    assert_has(condition(held, "DisruptionTarget"), {"status": "True", "reason": "DeletionByTaintManager",
                                                     "message": "Taint manager: deleting due to NoExecute taint"})
    assert ready(w.get(POD.path(ns, "stays")).ok()) and "deletionTimestamp" not in w.get(POD.path(ns, "stays")).ok()["metadata"]


# -- nodes that are lost ------------------------------------------------------------------------------------------


def lost(ctx: Context) -> tuple[Cluster, Wire]:
    """A cluster that gives up nodes soon, for the tests of this file."""
    def make() -> Cluster:
        cluster = ctx.suite_cluster(node_grace=12)
        cluster.add_nodes(3)
        remove_a_node(ctx, cluster)
        return cluster

    cluster = ctx.once("lost", make)
    return cluster, Wire(cluster.api)


def remove_a_node(ctx: Context, cluster: Cluster) -> None:
    """What the last test of this file looks at takes a minute: it begins with the first."""
    w = Wire(cluster.api)
    cluster.add_nodes(1, prefix=DOOMED.removesuffix("-0"))
    w.post(POD.path("default"), merged(on(DOOMED, "bare", "default"), {"metadata": {"finalizers": ["slipway.dev/a"]}})).ok(201)
    here = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [DOOMED, SPARE]}]}]
    template = {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "main", "image": IMAGE}], "affinity": {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": here}}}}}
    w.post(DEPLOYMENT.path("default"), {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {
        "replicas": 1, "selector": {"matchLabels": {"app": "d"}}, "template": template}}).ok(201)
    ctx.wait_for(lambda: all_ready(w, "default", 2), 60, "the pods")
    ctx.wait_for(lambda: w.get(LEASE.path("kube-node-lease", DOOMED)).code == 200, 60, "its lease")
    cluster.add_nodes(1, prefix=SPARE.removesuffix("-0"))
    w.delete(NODE.path(name=DOOMED)).ok()


@limit(240)
def test_a_silent_node(ctx: Context) -> None:
    """Unknown, tainted, its pods not ready; then they are sent away, each in its time."""
    cluster, w = lost(ctx)
    ns, name = ctx.namespace(cluster), "node-0"
    w.post(POD.path(ns), merged(on(name, "short", ns, seconds=1), {"metadata": {"finalizers": ["slipway.dev/a"]}})).ok(201)
    ctx.undo(lambda: w.patch(POD.path(ns, "short"), {"metadata": {"finalizers": None}}))
    w.post(POD.path(ns), on(name, "long", ns, seconds=36000)).ok(201)
    daemon = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "ds"},
              "spec": {"selector": {"matchLabels": {"app": "ds"}}, "template": {
        "metadata": {"labels": {"app": "ds"}}, "spec": {"nodeSelector": {"kubernetes.io/hostname": name},
                                                        "containers": [{"name": "main", "image": IMAGE}]}}}}
    w.post(DAEMON_SET.path(ns), daemon).ok(201)
    ctx.wait_for(lambda: all_ready(w, ns, 3), 60, "the pods")
    boot = w.get(NODE.path(name=name)).ok()["status"]["nodeInfo"]["bootID"]
    cluster.leave(name)
    ctx.undo(lambda: cluster.come_back(name))
    ctx.wait_for(lambda: taints(w, name) == {(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")}, 120, "the taints")
    node = w.get(NODE.path(name=name)).ok()
    assert_has(condition(node, "Ready"), {"status": "Unknown", "reason": "NodeStatusUnknown",
                                          "message": "Kubelet stopped posting node status."})
    assert {c["status"] for c in node["status"]["conditions"]} == {"Unknown"}, "all of them"
    ctx.wait_for(lambda: "deletionTimestamp" in w.get(POD.path(ns, "short")).ok()["metadata"], 60, "the pod to be sent away")
    assert_has(condition(w.get(POD.path(ns, "short")).ok(), "DisruptionTarget"),
               {"status": "True", "reason": "DeletionByTaintManager"})
    ctx.wait_for(lambda: not any(map(ready, w.get(POD.path(ns)).ok()["items"])), 60, "nobody to be ready there")
    for each in w.get(POD.path(ns)).ok()["items"]:
        assert each["status"]["phase"] == "Running", each["status"]
        assert ("deletionTimestamp" in each["metadata"]) == (each["metadata"]["name"] == "short"), each["metadata"]["name"]
    cluster.come_back(name)
    ctx.wait_for(lambda: taints(w, name) == set() and ready(w.get(NODE.path(name=name)).ok()), 120, "the node to be back")
    assert w.get(NODE.path(name=name)).ok()["status"]["nodeInfo"]["bootID"] == boot
    w.patch(POD.path(ns, "short"), {"metadata": {"finalizers": None}}).ok()
    ctx.wait_for(lambda: w.get(POD.path(ns, "short")).code == 404, 60, "what was sent away to be gone")


@limit(240)
def test_a_node_that_never_came(ctx: Context) -> None:
    cluster, w = lost(ctx)
    name = ctx.unique("ghost")
    cluster.add_ghost(name)
    ctx.undo(lambda: w.delete(NODE.path(name=name)))

    def given_up() -> dict | None:
        told = condition(w.get(NODE.path(name=name)).ok(), "Ready")
        return told if told.get("status") == "Unknown" else None

    told = ctx.wait_for(given_up, 120, "the node to be given up")
    assert_has(told, {"reason": "NodeStatusNeverUpdated", "message": "Kubelet never posted node status."})
    ctx.wait_for(lambda: taints(w, name) == {(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")}, 60, "the taints")


@limit(240)
def test_a_node_that_says_it_is_not_ready(ctx: Context) -> None:
    """The test is its kubelet and writes its status again and again."""
    cluster, w = lost(ctx)
    name, beats = ctx.unique("ghost"), itertools.count()
    cluster.add_ghost(name)
    ctx.undo(lambda: w.delete(NODE.path(name=name)))

    def beats_until(status: str, wanted: set[tuple[str, str]]) -> None:
        def check() -> bool:
            now = {"type": "Ready", "status": status, "reason": "Test",
                   "lastHeartbeatTime": f"2026-01-02T03:{next(beats) // 60 % 60:02}:{next(beats) % 60:02}Z"}
            w.patch(NODE.path(name=name, sub="status"), {"status": {"conditions": [now]}}, "strategic").ok()
            assert taints(w, name) == wanted, taints(w, name)
            return True
        # The simulator's clock runs 200 times as fast there: a beat must come within its 50 seconds of grace.
        ctx.wait_for(check, 120, f"the taints of Ready={status}", interval=0.05)

    beats_until("True", set())
    beats_until("False", {(NOT_READY, "NoSchedule"), (NOT_READY, "NoExecute")})
    beats_until("Unknown", {(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")})
    beats_until("True", set())


@limit(300)
def test_a_node_that_was_removed(ctx: Context) -> None:
    """Its lease goes with it; its pods are collected, which takes the collector a minute; a Deployment replaces them elsewhere."""
    _, w = lost(ctx)
    ctx.wait_for(lambda: w.get(LEASE.path("kube-node-lease", DOOMED)).code == 404, 60, "its lease to be gone")
    ctx.wait_for(lambda: "deletionTimestamp" in w.get(POD.path("default", "bare")).ok()["metadata"], 120, "the pod to be collected")
    told = w.get(POD.path("default", "bare")).ok()
    assert_has(condition(told, "DisruptionTarget"), {"status": "True", "reason": "DeletionByPodGC",
                                                     "message": "PodGC: node no longer exists"})
    assert told["status"]["phase"] == "Failed", told["status"]["phase"]

    def elsewhere() -> bool:
        mine = [p for p in w.get(POD.path("default")).ok()["items"] if p["metadata"]["labels"]["app"] == "d"]
        return len(mine) == 1 and ready(mine[0]) and mine[0]["spec"]["nodeName"] == SPARE

    ctx.wait_for(elsewhere, 120, "the replacement")
