"""Garbage collection: what becomes of the dependents when an owner goes, by each of the policies."""

from __future__ import annotations

from context import Context
from kinds import CONFIG_MAP, NODE, POD, SECRET
from objects import config_map
from shape import TIME, merged
from wire import Wire

NOBODY = "11111111-1111-1111-1111-111111111111"


class Family:
    """Config maps of a namespace that own each other."""

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.w, self.ns = ctx, Wire(ctx.cluster.api), ctx.namespace()

    def path(self, name: str) -> str:
        return CONFIG_MAP.path(self.ns, name)

    def make(self, name: str, *owners: dict, hold: bool = False) -> dict:
        """hold: a finalizer keeps it, until let_go()."""
        meta = {"ownerReferences": list(owners), **({"finalizers": ["slipway.dev/a"]} if hold else {})}
        made = self.w.post(CONFIG_MAP.path(self.ns), merged(config_map(name, self.ns), {"metadata": meta})).ok(201)
        self.ctx.undo(lambda: self.w.patch(self.path(name), {"metadata": {"finalizers": None}}))
        return made

    def let_go(self, name: str) -> None:
        self.w.patch(self.path(name), {"metadata": {"finalizers": None}}).ok()

    def gone(self, name: str) -> None:
        self.ctx.wait_for(lambda: self.w.get(self.path(name)).code == 404, 60, f"{name} to be gone")

    def going(self, name: str) -> dict:
        return self.ctx.wait_for(lambda: "deletionTimestamp" in self.meta(name) and self.meta(name), 60, f"{name} to be going")

    def meta(self, name: str) -> dict:
        return self.w.get(self.path(name)).ok()["metadata"]


def owned_by(owner: dict, kind: str = "ConfigMap", **more: object) -> dict:
    return {"apiVersion": "v1", "kind": kind, "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], **more}


def test_background(ctx: Context) -> None:
    """The owner goes at once, the dependents after it, and their dependents after them."""
    f = Family(ctx)
    owner = f.make("owner")
    child = f.make("child", owned_by(owner))
    f.make("grandchild", owned_by(child))
    stranger = f.make("stranger")
    f.make("shared", owned_by(owner), owned_by(stranger))
    assert f.w.delete(f.path("owner"), {"propagationPolicy": "Background"}).ok()["status"] == "Success"
    assert f.w.get(f.path("owner")).code == 404
    f.gone("child")
    f.gone("grandchild")
    ctx.wait_for(lambda: f.meta("shared")["ownerReferences"] == [owned_by(stranger)], 60, "the reference to be removed")
    assert "deletionTimestamp" not in f.meta("shared"), "who has another owner stays"


def test_orphan(ctx: Context) -> None:
    f = Family(ctx)
    owner = f.make("owner")
    f.make("child", owned_by(owner))
    said = f.w.delete(f.path("owner"), {"propagationPolicy": "Orphan"}).ok()
    assert said["metadata"]["finalizers"] == ["orphan"] and TIME == said["metadata"]["deletionTimestamp"]
    f.gone("owner")
    child = f.meta("child")
    assert "ownerReferences" not in child and "deletionTimestamp" not in child


def test_foreground(ctx: Context) -> None:
    """The owner waits for those dependents that block it."""
    f = Family(ctx)
    owner = f.make("owner")
    f.make("blocks", owned_by(owner, blockOwnerDeletion=True), hold=True)
    f.make("free", owned_by(owner), hold=True)
    said = f.w.delete(f.path("owner"), {"propagationPolicy": "Foreground"}).ok()
    assert said["metadata"]["finalizers"] == ["foregroundDeletion"] and said["metadata"]["deletionGracePeriodSeconds"] == 0
    f.going("blocks")
    f.going("free")
    assert f.meta("owner")["finalizers"] == ["foregroundDeletion"]
    f.let_go("blocks")
    f.gone("owner")
    assert f.w.get(f.path("free")).code == 200, "this one was not waited for"
    f.let_go("free")
    f.gone("free")


def test_foreground_goes_down_the_tree(ctx: Context) -> None:
    f = Family(ctx)
    owner = f.make("owner")
    child = f.make("child", owned_by(owner, blockOwnerDeletion=True))
    f.make("grandchild", owned_by(child, blockOwnerDeletion=True), hold=True)
    f.w.delete(f.path("owner"), {"propagationPolicy": "Foreground"}).ok()
    f.going("grandchild")
    assert f.going("child")["finalizers"] == ["foregroundDeletion"] and f.meta("owner")["finalizers"] == ["foregroundDeletion"]
    f.let_go("grandchild")
    for name in ("grandchild", "child", "owner"):
        f.gone(name)


def test_nobody_to_wait_for(ctx: Context) -> None:
    f = Family(ctx)
    for policy in ("Foreground", "Orphan"):
        f.make("owner")
        f.w.delete(f.path("owner"), {"propagationPolicy": policy}).ok()
        f.gone("owner")


def test_owners_that_never_were(ctx: Context) -> None:
    """A name that exists with another uid is another; one in another namespace is nobody."""
    f = Family(ctx)
    owner = f.make("owner")
    f.make("wrong-uid", owned_by(owner) | {"uid": NOBODY})
    f.gone("wrong-uid")
    f.make("nobody", {"apiVersion": "v1", "kind": "ConfigMap", "name": "none", "uid": NOBODY})
    f.gone("nobody")
    other = ctx.namespace()
    far = f.w.post(CONFIG_MAP.path(other), config_map("far", other)).ok(201)
    f.make("cross", owned_by(far))
    f.gone("cross")
    assert f.w.get(CONFIG_MAP.path(other, "far")).code == 200
    f.make("wrong-kind", owned_by(owner, "Secret"))
    f.gone("wrong-kind")


def test_a_cluster_scoped_owner(ctx: Context) -> None:
    f = Family(ctx)
    name = ctx.unique("n")
    node = f.w.post(NODE.path(), NODE.make("", name)).ok(201)
    ctx.undo(lambda: f.w.delete(NODE.path(name=name)))
    f.make("child", owned_by(node, "Node"))
    f.make("sentinel", {"apiVersion": "v1", "kind": "ConfigMap", "name": "none", "uid": NOBODY})
    f.gone("sentinel")  # the collector has been here
    assert "deletionTimestamp" not in f.meta("child")
    f.w.delete(NODE.path(name=name)).ok()
    f.gone("child")


def test_across_kinds(ctx: Context) -> None:
    f = Family(ctx)
    secret = f.w.post(SECRET.path(f.ns), SECRET.make(f.ns, "s")).ok(201)
    f.make("child", owned_by(secret, "Secret"))
    f.w.post(POD.path(f.ns), merged(POD.make(f.ns, "p"),
                                    {"metadata": {"ownerReferences": [owned_by(secret, "Secret", controller=True)]}})).ok(201)
    f.w.delete(SECRET.path(f.ns, "s")).ok()
    f.gone("child")
    ctx.wait_for(lambda: f.w.get(POD.path(f.ns, "p")).code == 404, 60, "the pod to be gone")


def test_the_orphan_finalizer_by_hand(ctx: Context) -> None:
    """kubectl delete --cascade=orphan of old wrote orphanDependents."""
    f = Family(ctx)
    owner = f.make("owner")
    f.make("child", owned_by(owner))
    assert f.w.delete(f.path("owner"), {"orphanDependents": True}).ok()["metadata"]["finalizers"] == ["orphan"]
    f.gone("owner")
    assert "ownerReferences" not in f.meta("child")
