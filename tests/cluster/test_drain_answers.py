"""Drains on a real cluster: answers of the server other than a budget's: webhooks, a busy server, a namespace that goes, a pod that is
another by now.

Each test is judged twice: by what it says itself, and at its end by the server's audit log and a watcher (tests/lib/drain_ground.py):
no budget broken, no eviction without the UID of a pod of that node, nothing deleted.
"""

from __future__ import annotations

import json
import threading

from context import Context
from drain_ground import Ground
from drain_objects import CORDON, EVICT, READ
from drain_webhook import Webhook
from objects import deployment, pod
from shape import merged


def test_a_webhook_that_is_busy(ctx: Context) -> None:
    """429 without a cause, as KubeVirt answers: it is working on it, and that is progress."""
    with Ground(ctx) as g:
        g.place(0, deployment("vm", g.ns, 1, **g.here))
        hook = Webhook(g, lambda _: (False, 429, "Eviction triggered evacuation of VMI"))
        child = g.begin(g.nodes[0], "--progress=plain")
        g.hears(child, "EvictionInProgress.*evacuation of VMI")
        hook.judge = lambda _: (True, 200, "")
        g.ends(child, timeout=60)
        assert not g.names(0) and len(hook.seen) <= 12, len(hook.seen)


def test_a_webhook_that_refuses(ctx: Context) -> None:
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 1, **g.here), deployment("other", g.ns, 1, **g.here))
        Webhook(g, lambda review: (not review["name"].startswith("web"), 403, "not on my watch"))
        done = g.blocked(g.nodes[0], seconds=6, until=lambda done: "AdmissionDenied" in done.stderr and len(g.names(0)) == 1)
        assert "AdmissionDenied" in done.stderr and "not on my watch" in done.stderr, done.stderr
        assert {p["metadata"]["labels"]["app"] for p in g.pods(0)} == {"web"}


def test_a_webhook_that_is_broken(ctx: Context) -> None:
    """500: tried again with patience."""
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 1, **g.here))
        hook = Webhook(g, lambda _: (True, 200, ""))
        hook.broken = True
        child = g.begin(g.nodes[0])
        ctx.wait_for(lambda: len(hook.seen) >= 2, 30, "a second try")
        hook.broken = False
        g.ends(child, timeout=60)
        assert not g.names(0) and len(hook.seen) <= 12, len(hook.seen)


def test_a_server_that_is_busy(ctx: Context) -> None:
    """Priority and fairness turn every eviction away for a while: Retry-After counts, and nothing fails."""
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 2, **g.here))
        config = g.user(*READ, CORDON, EVICT)
        user, flow = g.users[-1], "/apis/flowcontrol.apiserver.k8s.io/v1"
        level = {"metadata": {"name": user}, "spec": {"type": "Limited", "limited": {
            "nominalConcurrencyShares": 0, "lendablePercent": 0, "borrowingLimitPercent": 0, "limitResponse": {"type": "Reject"}}}}
        schema = {"metadata": {"name": user}, "spec": {
            "priorityLevelConfiguration": {"name": user}, "matchingPrecedence": 2,
            "rules": [{"subjects": [{"kind": "User", "user": {"name": user}}],
                       "resourceRules": [{"verbs": ["create"], "apiGroups": [""], "resources": ["pods/eviction"], "namespaces": ["*"]}]}]}}
        for kind, body in (("prioritylevelconfigurations", level), ("flowschemas", schema)):
            g.api.call("POST", f"{flow}/{kind}", body)
            ctx.undo(lambda kind=kind: g.api.raw("DELETE", f"{flow}/{kind}/{user}"))
        ctx.wait_for(lambda: any(c["type"] == "Dangling" and c["status"] == "False" for c in
                                 g.api.get(f"{flow}/flowschemas/{user}").get("status", {}).get("conditions", [])), 30, "the flow schema")
        enough = threading.Event()  # one request may run even there: it takes until the other one was turned away
        Webhook(g, lambda _: (enough.wait(25) or True, 200, ""))
        child = g.begin(g.nodes[0], config=config)
        ctx.wait_for(lambda: [e for e in g.evictions() if e["responseStatus"]["code"] == 429], 30, "an eviction that is turned away")
        enough.set()
        g.api.delete(f"{flow}/flowschemas/{user}")
        g.ends(child, timeout=60)
        assert not g.names(0) and len(g.evictions()) <= 12, len(g.evictions())


def test_a_namespace_that_goes(ctx: Context) -> None:
    """Evictions are forbidden there; the pods go with the namespace, and are waited for."""
    with Ground(ctx) as g:
        g.create(merged(pod("held", g.ns, nodeName=g.nodes[0]), {"metadata": {"finalizers": ["slipway.dev/test"]}}))
        release = {"metadata": {"finalizers": None}}
        ctx.undo(lambda: g.api.raw("PATCH", g.path("held"), json.dumps(release).encode(), "application/merge-patch+json"))
        g.ready(1, 0)
        g.api.delete(f"/api/v1/namespaces/{g.ns}")
        ctx.wait_for(lambda: g.pods(0)[0]["metadata"].get("deletionTimestamp"), 30, "the pod to be told to go")
        child = g.begin(g.nodes[0], "--force")
        ctx.wait_for(lambda: g.node(0)["spec"].get("unschedulable"), 20, "the cordon")
        g.api.patch(g.path("held"), release)
        g.ends(child, timeout=40)


def test_a_pod_that_is_replaced_under_our_hands(ctx: Context) -> None:
    """409: between the eviction's arrival and its deed the pod becomes another one of the same name, on another node."""
    with Ground(ctx) as g:
        g.create(pod("twin", g.ns, nodeName=g.nodes[0]), pod("last", g.ns, nodeName=g.nodes[0]))
        before = {p["metadata"]["name"]: p["metadata"]["uid"] for p in g.ready(2, 0)}["twin"]
        after: list[str] = []

        def judge(review: dict) -> tuple[bool, int, str]:
            if review["name"] == "last":  # keeps the drain going until the server has answered for the twin
                return bool(g.evictions("twin")), 429, "not before the other"
            if not after:
                after.append("")
                g.api.delete(g.path("twin"), {"gracePeriodSeconds": 0})
                after[0] = g.create(pod("twin", g.ns, nodeName=g.nodes[1]))[0]["metadata"]["uid"]
            return True, 200, ""
        hook = Webhook(g, judge)
        g.drain(g.nodes[0], "--force", timeout=40)
        assert not hook.troubles, hook.troubles
        evictions = g.evictions("twin")  # what becomes of the new one is not our business: its fake kubelet deletes by name
        assert {e["requestObject"]["deleteOptions"]["preconditions"]["uid"] for e in evictions} == {before} != set(after)
        assert [e["responseStatus"]["code"] for e in evictions][0] in (404, 409), evictions
