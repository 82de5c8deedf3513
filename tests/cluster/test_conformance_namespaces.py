"""Namespaces: what is in a new one, and how one goes with all that it has."""

from __future__ import annotations

from context import Context
from kinds import CONFIG_MAP, DEPLOYMENT, LEASE, NAMESPACE_KIND, POD, SERVICE_ACCOUNT
from objects import config_map, deployment, running
from shape import TIME, assert_has, assert_is, merged
from wire import Wire, cause


def path_of(ns: str) -> str:
    return NAMESPACE_KIND.path(name=ns)


def test_a_new_one(ctx: Context) -> None:
    w, ns = Wire(ctx.cluster.api), ctx.namespace()
    found = w.get(path_of(ns)).ok()
    assert_has(found, {"metadata": {"labels": {"kubernetes.io/metadata.name": ns}}, "spec": {"finalizers": ["kubernetes"]},
                       "status": {"phase": "Active"}})
    assert w.get(SERVICE_ACCOUNT.path(ns, "default")).code == 200
    ctx.wait_for(lambda: w.get(CONFIG_MAP.path(ns, "kube-root-ca.crt")).code == 200, 60, "the root certificate")
    w.delete(NAMESPACE_KIND.path()).no_method()
    for name in ("default", "kube-system", "kube-public", "kube-node-lease"):
        assert w.get(path_of(name)).ok()["status"]["phase"] == "Active"


def test_names_that_are_kept(ctx: Context) -> None:
    w = Wire(ctx.cluster.api)
    for name in ("default", "kube-system", "kube-public"):
        w.delete(path_of(name)).fails(403, "Forbidden", f'namespaces "{name}" is forbidden: this namespace may not be deleted',
                                      name=name, kind="namespaces")


def test_everything_goes_with_it(ctx: Context) -> None:
    ctx.suite_nodes(1)
    w, ns = Wire(ctx.cluster.api), ctx.namespace()
    w.post(CONFIG_MAP.path(ns), config_map("x", ns)).ok(201)
    w.post(LEASE.path(ns), LEASE.make(ns, "x")).ok(201)
    w.post(DEPLOYMENT.path(ns), deployment("d", ns, 2)).ok(201)
    running(ctx, ns, 2)
    gone = w.delete(path_of(ns)).ok()
    assert_has(gone, {"metadata": {"deletionTimestamp": TIME}, "status": {"phase": "Terminating"}})
    ctx.wait_for(lambda: w.get(path_of(ns)).code == 404, 90, "the namespace to be gone")
    for kind in (CONFIG_MAP, LEASE, DEPLOYMENT, POD, SERVICE_ACCOUNT):
        assert w.get(kind.path(ns)).ok()["items"] == [], kind.kind
    w.post(CONFIG_MAP.path(ns), config_map("x", ns)).fails(404, "NotFound", f'namespaces "{ns}" not found', name=ns,
                                                           kind="namespaces")


def test_one_that_cannot_go_yet(ctx: Context) -> None:
    """Nothing new is taken in; what is held is named in its conditions."""
    w, ns = Wire(ctx.cluster.api), ctx.namespace()
    w.post(CONFIG_MAP.path(ns), merged(config_map("held", ns), {"metadata": {"finalizers": ["slipway.dev/a"]}})).ok(201)
    ctx.undo(lambda: w.patch(CONFIG_MAP.path(ns, "held"), {"metadata": {"finalizers": None}}))
    w.post(CONFIG_MAP.path(ns), config_map("free", ns)).ok(201)
    w.delete(path_of(ns)).ok()
    w.post(LEASE.path(ns), LEASE.make(ns, "x")).fails(
        403, "Forbidden", f'leases.coordination.k8s.io "x" is forbidden: unable to create new content in namespace {ns} because it is being terminated',
        [cause("NamespaceTerminating", f"namespace {ns} is being terminated", "metadata.namespace")], name="x",
        group="coordination.k8s.io", kind="leases")
    w.patch(CONFIG_MAP.path(ns, "held"), {"data": {"a": "still"}}).ok()
    ctx.wait_for(lambda: w.get(CONFIG_MAP.path(ns, "free")).code == 404, 60, "what is free to be gone")
    ctx.wait_for(lambda: "deletionTimestamp" in w.get(CONFIG_MAP.path(ns, "held")).ok()["metadata"], 60, "what is held to be going")

    def conditions() -> bool:
        """What is said at last: before, the controller may have met what was still going."""
        found = {c["type"]: c for c in w.get(path_of(ns)).ok()["status"].get("conditions", [])}
        assert_has(found, {"NamespaceDeletionDiscoveryFailure": {"status": "False"},
                           "NamespaceDeletionContentFailure": {"status": "False"},
                           "NamespaceContentRemaining": {"status": "True", "reason": "SomeResourcesRemain",
                                                         "message": "Some resources are remaining: configmaps. has 1 resource instances"},
                           "NamespaceFinalizersRemaining": {
                               "status": "True", "reason": "SomeFinalizersRemain",
                               "message": "Some content in the namespace has finalizers remaining: slipway.dev/a in 1 resource instances"}})
        return True

    ctx.wait_for(conditions, 60, "the conditions")
    assert w.delete(path_of(ns)).ok()["status"]["phase"] == "Terminating", "a second deletion changes nothing"
    w.patch(CONFIG_MAP.path(ns, "held"), {"metadata": {"finalizers": None}}).ok()
    ctx.wait_for(lambda: w.get(path_of(ns)).code == 404, 90, "the namespace to be gone")


def test_metadata_of_a_namespace(ctx: Context) -> None:
    w, ns = Wire(ctx.cluster.api), ctx.namespace()
    changed = w.patch(path_of(ns), {"metadata": {"labels": {"a": "b", "kubernetes.io/metadata.name": "other"}}}).ok()
    assert_is(changed["metadata"]["labels"], {"a": "b", "kubernetes.io/metadata.name": ns}, "its name cannot be relabelled")
    assert w.patch(path_of(ns), {"spec": {"finalizers": []}}).ok()["spec"]["finalizers"] == [
        "kubernetes"], "its spec has a path of its own"
