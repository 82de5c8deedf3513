"""Leases: micro times, compare and swap, and who wins."""

from __future__ import annotations

import threading

from context import Context
from kinds import LEASE
from objects import lease
from shape import ANY, MICROTIME, assert_has, merged
from wire import Wire

CHANGED = "the object has been modified; please apply your changes to the latest version and try again"


def start(ctx: Context) -> tuple[Wire, str, str]:
    w, ns = Wire(ctx.cluster.api), ctx.namespace()
    return w, ns, LEASE.path(ns, "l")


def test_times_keep_their_microseconds(ctx: Context) -> None:
    w, ns, path = start(ctx)
    made = w.post(LEASE.path(ns), lease("l", ns, acquireTime="2026-01-02T03:04:05.678901Z",
                                        renewTime="2026-01-02T03:04:05.000000Z")).ok(201)
    assert made["spec"] == {"acquireTime": "2026-01-02T03:04:05.678901Z", "renewTime": "2026-01-02T03:04:05.000000Z"}
    made = w.patch(path, {"spec": {"renewTime": "2026-01-02T04:04:05.100000+01:00"}}).ok()
    assert made["spec"]["renewTime"] == "2026-01-02T03:04:05.100000Z"
    for wrong in ("yesterday", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.1Z"):
        w.patch(path, {"spec": {"renewTime": wrong}}).refused(422, "Invalid", "patch: Invalid value: ")
        w.post(LEASE.path(ns), lease("m", ns, renewTime=wrong)).refused(400, "BadRequest",
                                                                        'Lease in version "v1" cannot be handled as a Lease')


def test_compare_and_swap(ctx: Context) -> None:
    w, ns, path = start(ctx)
    made = w.post(LEASE.path(ns), lease("l", ns, holderIdentity="a", leaseDurationSeconds=15, leaseTransitions=0)).ok(201)
    assert "leaseTransitions" in made["spec"], "a zero that was given stays"
    mine = w.put(path, merged(made, {"spec": {"holderIdentity": "b"}})).ok()
    w.put(path, merged(made, {"spec": {"holderIdentity": "c"}})).fails(
        409, "Conflict", f'Operation cannot be fulfilled on leases.coordination.k8s.io "l": {CHANGED}', name="l",
        group="coordination.k8s.io", kind="leases")
    w.put(path, merged(mine, {"metadata": {"resourceVersion": None}})).invalid("coordination.k8s.io", "leases", "l", (
        "FieldValueInvalid", "metadata.resourceVersion", "Invalid value: 0: must be specified for an update"))
    assert w.get(path).ok() == mine
    released = w.put(path, merged(mine, {"spec": {"holderIdentity": ""}})).ok()
    assert released["spec"]["holderIdentity"] == ""
    assert "generation" not in released["metadata"]


def test_one_of_many_wins(ctx: Context) -> None:
    w, ns, path = start(ctx)
    w.post(LEASE.path(ns), lease("l", ns)).ok(201)
    for _ in range(3):
        before = w.get(path).ok()
        codes: list[int] = []

        def grab(name: str) -> None:
            codes.append(w.put(path, merged(before, {"spec": {"holderIdentity": name}})).code)

        threads = [threading.Thread(target=grab, args=(ctx.unique("c"),)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(codes) == [200] + [409] * 5, codes


def test_values_that_are_refused(ctx: Context) -> None:
    w, ns, _ = start(ctx)

    def refused(*causes: tuple[str, str, str], **spec: object) -> None:
        w.post(LEASE.path(ns), lease("l", ns, **spec)).invalid("coordination.k8s.io", "Lease", "l", *causes)

    refused(("FieldValueInvalid", "spec.leaseDurationSeconds", "Invalid value: 0: must be greater than 0"), leaseDurationSeconds=0)
    refused(("FieldValueInvalid", "spec.leaseTransitions", "Invalid value: -1: must be greater than or equal to 0"),
            leaseTransitions=-1)


def test_every_node_has_one(ctx: Context) -> None:
    """Its kubelet renews it; it belongs to the node and goes with it."""
    name, = ctx.nodes(1)
    api = ctx.cluster.api
    path = LEASE.path("kube-node-lease", name)
    w = Wire(api)
    ctx.wait_for(lambda: w.get(path).code == 200, 60, "the lease of the node")
    first = w.get(path).ok()
    assert_has(first["spec"], {"holderIdentity": ANY, "leaseDurationSeconds": 40, "renewTime": MICROTIME})
    assert_has(first["metadata"]["ownerReferences"], [{"apiVersion": "v1", "kind": "Node", "name": name}])
    ctx.wait_for(lambda: w.get(path).ok()["spec"]["renewTime"] > first["spec"]["renewTime"], 60, "the lease to be renewed")
