"""Drains on a real cluster: pods that stay, come late or come back, and volumes that go late.

Each test is judged twice: by what it says itself, and at its end by the server's audit log and a watcher (tests/lib/drain_ground.py):
no budget broken, no eviction without the UID of a pod of that node, nothing deleted.
"""

from __future__ import annotations

from api import object_path
from context import Context, limit
from drain_ground import Ground
from drain_objects import NEVER_GONE, held, lose, slow, stateful_set
from objects import deployment, pod
from shape import merged

BACK_HERE = [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}]


def test_finalizers(ctx: Context) -> None:
    """Whoever set it has to take it off; until then the pod is there."""
    with Ground(ctx) as g:
        g.create(held(g, 0))
        g.ready(1, 0)
        done = g.blocked(g.nodes[0], "--force", seconds=4, until=lambda _: g.accepted())
        assert f"{g.ns}/held" in done.stderr, done.stderr
        seen = len(g.asked(verb="watch", resource="pods"))
        child = g.begin(g.nodes[0], "--force")
        ctx.wait_for(lambda: len(g.asked(verb="watch", resource="pods")) > seen, 20, "it to look")
        g.api.patch(g.path("held"), {"metadata": {"finalizers": None}})
        g.ends(child, timeout=30)
        assert 1 <= len(g.accepted()) <= 2


@limit(700)
def test_pods_that_are_stuck(ctx: Context) -> None:
    """Long after their grace period: a finalizer, and a node of which nobody can tell whether its pods have stopped.  Each is told by
    its cause, and nothing is ever forced."""
    with Ground(ctx, nodes=3) as g:
        g.create(held(g, 0))
        template = {"metadata": {"annotations": NEVER_GONE}, "spec": {"terminationGracePeriodSeconds": 1}}
        g.place(1, merged(deployment("web", g.ns, 1, **g.here), {"spec": {"template": template}}))
        lose(g, 1)
        done = g.blocked(*g.nodes[:2], "--force", seconds=80,
                         until=lambda done: "FinalizerStuck" in done.stderr and "NodeUnreachable" in done.stderr)
        assert "FinalizerStuck" in done.stderr and "slipway.dev/test" in done.stderr, done.stderr
        assert "NodeUnreachable" in done.stderr and g.nodes[1] in done.stderr, done.stderr
        left, = g.pods(1)
        assert left["metadata"].get("deletionTimestamp") and len(g.accepted()) == 2, (left["metadata"], g.accepted())
        assert all(e["requestObject"]["deleteOptions"].get("gracePeriodSeconds") != 0 for e in g.evictions())
        g.api.delete(g.path(left["metadata"]["name"]), {"gracePeriodSeconds": 0})  # somebody who knows that the node is off
        g.drain(g.nodes[1], timeout=40)


def test_pods_that_come_late(ctx: Context) -> None:
    """Put on the node by name after the cordon: seen, named and evicted."""
    with Ground(ctx) as g:
        g.create(pod("slow", g.ns, annotations=NEVER_GONE, nodeName=g.nodes[0]))
        g.ready(1, 0)
        child = g.begin(g.nodes[0], "--force")
        ctx.wait_for(lambda: g.accepted() == ["slow"], 20, "the first eviction")
        g.create(pod("late", g.ns, nodeName=g.nodes[0]))
        ctx.wait_for(lambda: g.accepted() == ["late", "slow"], 40, "the second")
        g.api.delete(g.path("slow"), {"gracePeriodSeconds": 0})
        g.ends(child, timeout=40)
        assert g.names(0) == [] and g.accepted() == ["late", "slow"], (g.names(0), g.accepted())
        assert any(f"{g.ns}/late" in line for line in child.err), child.err


def test_pods_that_tolerate_the_cordon(ctx: Context) -> None:
    """A pod that comes back to the node is not evicted for ever."""
    with Ground(ctx) as g:
        back = deployment("back", g.ns, 1, tolerations=BACK_HERE, nodeSelector={"kubernetes.io/hostname": g.nodes[0]})
        g.place(0, slow(back, gone="3s"))  # as a rule the next one is there before the last one has ended
        done = g.blocked(g.nodes[0], seconds=15, until=lambda done: "ReturnsToNode" in done.stderr)
        assert "ReturnsToNode" in done.stderr and f"{g.ns}/back" in done.stderr, done.stderr
        assert g.names(0) and len(g.accepted()) <= 5, g.accepted()


def test_pods_that_are_pinned(ctx: Context) -> None:
    """A StatefulSet that names the node: the pod is put back, cordon or not, and the advice is to delete the StatefulSet."""
    with Ground(ctx) as g:
        g.create(stateful_set("pinned", g.ns, 1, nodeName=g.nodes[0]))
        g.ready(1, 0)
        done = g.blocked(g.nodes[0], seconds=8, until=lambda done: "PinnedToNode" in done.stderr)
        assert "PinnedToNode" in done.stderr and "StatefulSet" in done.stderr and "delete" in done.stderr, done.stderr
        assert len(g.accepted()) <= 4, g.accepted()
        g.api.delete(f"/apis/apps/v1/namespaces/{g.ns}/statefulsets/pinned")
        ctx.wait_for(lambda: not g.pods(0), 30, "the pod to go with its set")
        g.drain(g.nodes[0])


def test_a_pinned_pod_with_a_budget(ctx: Context) -> None:
    """Nobody would start another one, so the budget is never satisfied: said, and nothing is forced."""
    with Ground(ctx) as g:
        g.create(pod("pinned", g.ns, {"app": "pinned"}, nodeName=g.nodes[0]))
        g.ready(1, 0)
        g.budget("pinned", {"app": "pinned"}, minAvailable=1, status={"currentHealthy": 1, "disruptionsAllowed": 0})
        done = g.blocked(g.nodes[0], "--force", seconds=5, until=lambda done: "PDBUnsatisfiable" in done.stderr)
        assert "PDBUnsatisfiable" in done.stderr and f"{g.ns}/pinned" in done.stderr, done.stderr
        assert g.names(0) == ["pinned"]
        g.api.delete(g.path("pinned"))
        g.drain(g.nodes[0], "--force", timeout=40)


def test_a_stateful_pod_that_is_replaced_meanwhile(ctx: Context) -> None:
    """Its namesake on another node is another pod: it is done, and the namesake is left alone."""
    with Ground(ctx) as g:
        g.place(0, stateful_set("db", g.ns, 1, **g.here))
        g.budget("db", {"app": "db"}, minAvailable=1, status={"currentHealthy": 1, "disruptionsAllowed": 0})
        child = g.begin(g.nodes[0])
        g.hears(child, "PDBUnsatisfiable|PDBNoBudget")
        before = g.pods(0)[0]["metadata"]["uid"]
        g.api.delete(g.path("db-0"), {"gracePeriodSeconds": 0})  # by somebody who asks no budget; that holds the drain until then
        g.ends(child, timeout=30)
        after = g.ready(1, 1, app="db")[0]["metadata"]["uid"]
        assert after != before
        again = g.drain(g.nodes[0])
        assert "evicting" not in again.stdout
        asked = {e["requestObject"]["deleteOptions"]["preconditions"]["uid"] for e in g.evictions()}
        assert after not in asked, "the new one was never meant"


# -- volumes -------------------------------------------------------------------------------------------------------


def test_volumes_that_go_late(ctx: Context) -> None:
    """The pod is gone and its volume is still attached: the node is not drained until it is not."""
    with Ground(ctx) as g:
        name = ctx.unique("vol")
        volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
                  "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": name,
                           "csi": {"driver": "test.slipway.dev", "volumeHandle": name}}}
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": g.ns},
                 "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": name, "volumeName": name, "resources": {"requests": {"storage": "1Gi"}}}}
        attachment = {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": name, "finalizers": ["slipway.dev/test"]},
                      "spec": {"attacher": "test.slipway.dev", "nodeName": g.nodes[0], "source": {"persistentVolumeName": name}}}
        g.create(volume, claim)
        ctx.undo(lambda: g.api.delete(object_path(volume)))
        claims = f"/api/v1/namespaces/{g.ns}/persistentvolumeclaims/data"
        ctx.wait_for(lambda: g.api.get(claims)["status"].get("phase") == "Bound", 30, "the claim to be bound")
        g.place(0, deployment("db", g.ns, 1, **g.here, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]))
        g.create(attachment)
        path = object_path(attachment)
        ctx.undo(lambda: g.api.raw("DELETE", path))
        ctx.undo(lambda: g.api.raw("PATCH", path, b'{"metadata":{"finalizers":null}}', "application/merge-patch+json"))
        g.api.patch(path + "/status", {"status": {"attached": True}})
        child = g.begin(g.nodes[0])
        g.hears(child, "VolumeStillAttached")
        assert not g.names(0) and child.running and f"node/{g.nodes[0]} drained" not in child.out
        g.api.delete(path)
        g.api.patch(path, {"metadata": {"finalizers": None}})
        g.ends(child, timeout=60)
        assert f"node/{g.nodes[0]} drained" in child.out
