"""Drains on a real cluster: what can be asked for besides: --surge, rules, marks of others.

Each test is judged twice: by what it says itself, and at its end by the server's audit log and a watcher (tests/lib/drain_ground.py):
no budget broken, no eviction without the UID of a pod of that node, nothing deleted.
"""

from __future__ import annotations

from context import Context
from drain_ground import Ground
from drain_objects import slow
from objects import deployment
from shape import merged


def test_one_replica_more(ctx: Context) -> None:
    """--surge: a Deployment of one pod that may never be missing is drained all the same, and is what it was afterwards."""
    with Ground(ctx) as g:
        g.place(0, slow(deployment("single", g.ns, 1, **g.here), ready="500ms", gone="500ms"))
        g.budget("single", {"app": "single"}, minAvailable=1, status={"disruptionsAllowed": 0})
        g.drain(g.nodes[0], "--surge", timeout=90)
        assert not g.names(0)
        path = f"/apis/apps/v1/namespaces/{g.ns}/deployments/single"
        ctx.wait_for(lambda: g.api.get(path)["spec"]["replicas"] == 1, 20, "the replicas that it had")
        g.ready(1, 1, app="single")


def test_marks_of_others(ctx: Context) -> None:
    """Not evicted while the mark is there, unless the rules say otherwise."""
    with Ground(ctx) as g:
        marks = [{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}, {"karpenter.sh/do-not-disrupt": "true"}]
        for number, mark in enumerate(marks):
            marked = {"spec": {"template": {"metadata": {"annotations": mark}}}}
            g.place(0, merged(deployment(f"marked-{number}", g.ns, 1, **g.here), marked))
        g.place(0, deployment("plain", g.ns, 1, **g.here))
        done = g.blocked(g.nodes[0], seconds=5, until=lambda _: not g.names(0, app="plain"))
        assert "DoNotDisrupt" in done.stderr, done.stderr
        assert {p["metadata"]["labels"]["app"] for p in g.pods(0)} == {"marked-0", "marked-1"} and len(g.accepted()) == 1
        rules = ctx.tmp / "rules.yaml"
        rules.write_text("apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\nmarks: ignore\n")
        g.drain(g.nodes[0], f"--rules={rules}")
        assert not g.names(0)


def test_one_class_before_another(ctx: Context) -> None:
    """By the server's log: the last of the first class was gone before the first of the second was evicted."""
    with Ground(ctx) as g:
        g.place(0, slow(deployment("front", g.ns, 2, **g.here), gone="1s"), slow(deployment("back", g.ns, 2, **g.here), gone="500ms"))
        rules = ctx.tmp / "rules.yaml"
        rules.write_text("apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\nrules:\n"
                         "- {name: back, match: {labels: {matchLabels: {app: back}}}, order: 10, grace: 5s}\n")
        g.drain(g.nodes[0], f"--rules={rules}", timeout=60)
        sent = {e["objectRef"]["name"]: e for e in g.evictions()}
        # A fake kubelet may delete a pod again that has gone: that is refused, and ends nobody.
        ended = {e["objectRef"]["name"]: e["requestReceivedTimestamp"] for e in
                 g.cluster.audit.requests(g.mark, user="kwok", verb="delete", resource="pods", namespace=g.ns)
                 if e["responseStatus"]["code"] == 200}
        last = max(when for name, when in ended.items() if name.startswith("front"))
        later = [e["requestReceivedTimestamp"] for name, e in sent.items() if name.startswith("back")]
        assert len(sent) == 4 and last < min(later), (last, later)
        assert {e["requestObject"]["deleteOptions"].get("gracePeriodSeconds") for n, e in sent.items() if n.startswith("back")} == {5}
