"""Drains on a real cluster: many nodes at once, drains that are stopped, killed and started again, and what is left on the node.

Each test is judged twice: by what it says itself, and at its end by the server's audit log and a watcher (tests/lib/drain_ground.py):
no budget broken, no eviction without the UID of a pod of that node, nothing deleted.
"""

from __future__ import annotations

import json
import signal
from datetime import datetime

from context import Context, limit
from drain_ground import DONE, Ground, lines
from drain_objects import slow
from objects import deployment

PATIENCE = 4  # seconds; nodes that begin together wait for each other's cordons a little longer than that, and no more


def seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()


@limit(300)
def test_forty_nodes_at_once(ctx: Context) -> None:
    """Twenty applications over forty nodes, budgets of one each, ten nodes to go to."""
    with Ground(ctx, nodes=50) as g:
        spare = range(40, 50)
        g.cordon(*spare)
        for i in range(20):
            spread = [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
                       "labelSelector": {"matchLabels": {"app": f"app-{i}"}}}]
            g.create(slow(deployment(f"app-{i}", g.ns, 6, topologySpreadConstraints=spread, **g.here), ready="500ms", gone="1s"))
            g.create({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": f"app-{i}", "namespace": g.ns},
                      "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": f"app-{i}"}}}})
        g.ready(120)
        g.cordon(*spare, on=False)
        ctx.wait_for(lambda: all(b.get("status", {}).get("disruptionsAllowed") == 1 for b in
                                 g.api.items(f"/apis/policy/v1/namespaces/{g.ns}/poddisruptionbudgets")), 60, "the budgets")
        homes = {p["metadata"]["name"]: p["spec"]["nodeName"] for p in g.pods()}
        done = g.drain(f"{g.label}-[0-39]", timeout=200)
        assert lines(done.stdout, "node/") == sorted(f"node/{g.label}-{n} {w}" for n in range(40) for w in ("cordoned", "drained")), done.stdout
        assert not [p for p in g.pods() if p["spec"].get("nodeName") in g.nodes[:40]]
        first = sorted((e["requestReceivedTimestamp"], e["objectRef"]["name"]) for e in g.evictions() if e["responseStatus"]["code"] == 201)
        cordons = sorted(seconds(e["stageTimestamp"]) for e in g.asked(verb="patch", resource="nodes", subresource="")
                         if e["responseStatus"]["code"] == 200)
        assert len(cordons) == 40 and (seconds(first[0][0]) >= cordons[-1] or cordons[-1] - cordons[0] > PATIENCE), \
            f"evictions began {cordons[-1] - seconds(first[0][0]):.3f} s before the last node was cordoned"
        # One that has come to a node before that was cordoned has its home elsewhere.
        assert len({homes[name] for _, name in first[:20] if name in homes}) >= 8, f"not one after the other: {first[:20]}"


@limit(180)
def test_one_stuck_node_does_not_hold_up_the_others(ctx: Context) -> None:
    with Ground(ctx, nodes=4) as g:
        g.place(0, deployment("never", g.ns, 1, **g.here))
        g.budget("never", {"app": "never"}, minAvailable=1, status={"disruptionsAllowed": 0})
        g.place(1, deployment("web", g.ns, 2, **g.here))
        done = g.blocked(*g.nodes[:3], seconds=8, until=lambda done: done.stdout.count(" drained") == 2)
        assert lines(done.stdout, "node/")[-1:] and {line for line in lines(done.stdout, "node/") if line.endswith("drained")} == \
            {f"node/{n} drained" for n in g.nodes[1:3]}, done.stdout
        assert "There are pending nodes to be drained:" in done.stderr and g.nodes[0] in done.stderr, done.stderr


def test_a_limit_to_the_nodes_that_are_out(ctx: Context) -> None:
    """--max-unavailable 1, --parallel 1: the next node is cordoned when the last one is drained."""
    with Ground(ctx, nodes=5) as g:
        g.cordon(4)
        g.create(slow(deployment("web", g.ns, 8, **g.here), gone="800ms"))
        g.ready(8)
        g.cordon(4, on=False)
        for nodes, flag in ((g.nodes[:2], "--max-unavailable=1"), (g.nodes[2:4], "--parallel=1")):
            done = g.drain(*nodes, flag, timeout=100)
            order = [line.split()[0] for line in done.stdout.splitlines() if line.endswith((" cordoned", " drained"))]
            assert len(order) == 4 and all(a == b for a, b in zip(order[::2], order[1::2])), done.stdout


NEXT = {"key": "slipway.dev/next", "effect": "PreferNoSchedule"}
MINE = {"key": "example.com/mine", "value": "x", "effect": "PreferNoSchedule"}


def marked(g: Ground, number: int) -> bool:
    return NEXT in g.node(number)["spec"].get("taints", [])


def test_nodes_to_come_are_marked(ctx: Context) -> None:
    """The taint is there from the beginning, goes with the cordon, and takes no other taint with it."""
    with Ground(ctx, nodes=4, taints=[MINE]) as g:
        g.place(0, deployment("web", g.ns, 2, **g.here))
        g.budget("web", {"app": "web"}, minAvailable=2, status={"disruptionsAllowed": 0})  # it comes no further until it is told to
        child = g.begin(*g.nodes[:3], "--max-unavailable=1", "--in-order")
        ctx.wait_for(lambda: marked(g, 1) and marked(g, 2), 20, "the marks")
        assert not marked(g, 0) and not marked(g, 3)
        g.api.delete(f"/apis/policy/v1/namespaces/{g.ns}/poddisruptionbudgets/web")
        g.ends(child)
        for number in range(3):
            taints = g.node(number)["spec"]["taints"]
            assert NEXT not in taints and MINE in taints and g.node(number)["spec"]["unschedulable"], taints
        assert g.node(3)["spec"]["taints"] == [MINE]
        marks = [e for e in g.asked(verb="patch", resource="nodes", subresource="")
                 if e["objectRef"]["name"] == g.nodes[2] and e["responseStatus"]["code"] == 200]
        assert len(marks) == 2, marks  # the mark, and the cordon


def test_nodes_not_come_to_are_as_before(ctx: Context) -> None:
    """Stopped, and killed and stopped: the marks are gone."""
    with Ground(ctx, nodes=3) as g:
        g.place(0, deployment("never", g.ns, 1, **g.here))
        g.budget("never", {"app": "never"}, minAvailable=1, status={"disruptionsAllowed": 0})
        for kill in (False, True):
            child = g.begin(*g.nodes[:3], "--max-unavailable=1", "--in-order")
            ctx.wait_for(lambda: marked(g, 1) and marked(g, 2), 20, "the marks")
            if kill:
                child.send(signal.SIGKILL)
                child.end(number=None)
                assert marked(g, 1) and marked(g, 2)
                child = g.begin(*g.nodes[:3], "--max-unavailable=1", "--in-order", "--progress=plain")
                g.hears(child, "PDB")
            child.send(signal.SIGINT)
            assert child.end(number=None) == 130
            assert not marked(g, 1) and not marked(g, 2)


def test_stopped_and_started_again(ctx: Context) -> None:
    """Ctrl-C starts nothing new, says how to go on and undo; the next one finishes."""
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 2, **g.here))
        g.budget("web", {"app": "web"}, minAvailable=2, status={"disruptionsAllowed": 0})
        child = g.begin(g.nodes[0])
        g.hears(child, "PDB")
        child.send(signal.SIGINT)
        assert child.end(number=None) == 130, child.err
        said = "\n".join(child.err)
        assert "slipway drain" in said and "slipway uncordon" in said, said
        assert g.node(0)["spec"].get("unschedulable") is True
        g.api.delete(f"/apis/policy/v1/namespaces/{g.ns}/poddisruptionbudgets/web")
        done = g.drain(g.nodes[0])
        assert f"node/{g.nodes[0]} already cordoned" in done.stdout and not g.names(0), done.stdout
        child = g.begin(g.nodes[1], "--uncordon-on-abort")
        g.ends(child)


def test_undone_when_it_is_stopped(ctx: Context) -> None:
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 1, **g.here))
        g.budget("web", {"app": "web"}, minAvailable=1, status={"disruptionsAllowed": 0})
        child = g.begin(g.nodes[0], "--uncordon-on-abort")
        g.hears(child, "PDB")
        child.send(signal.SIGINT)
        assert child.end(number=None) == 130, child.err
        assert "unschedulable" not in g.node(0)["spec"] and "slipway.dev/cordon" not in g.node(0)["metadata"].get("annotations", {})


def test_killed_and_started_again(ctx: Context) -> None:
    with Ground(ctx) as g:
        g.place(0, slow(deployment("web", g.ns, 4, **g.here), ready="500ms", gone="1s"))
        g.budget("web", {"app": "web"}, maxUnavailable=1, status={"disruptionsAllowed": 1})
        child = g.begin(g.nodes[0])
        ctx.wait_for(lambda: len(g.accepted()) >= 2, 30, "two evictions")
        child.kill()
        g.drain(g.nodes[0], timeout=60)
        assert not g.names(0)
        record = json.loads(g.node(0)["metadata"]["annotations"]["slipway.dev/cordon"])
        assert record["v"] == 1 and record["before"] is False and len(record["holders"]) == 1, record


# -- what is left on the node --------------------------------------------------------------------------------------


def test_record_conditions_and_events(ctx: Context) -> None:
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 1, **g.here))
        g.drain(g.nodes[0], "--reason=CHG-1234 new kernel")
        node = g.node(0)
        record = json.loads(node["metadata"]["annotations"]["slipway.dev/cordon"])
        assert [h["reason"] for h in record["holders"]] == ["CHG-1234 new kernel"] and record["before"] is False, record
        conditions = {c["type"]: c for c in node["status"]["conditions"]}
        assert conditions["DrainInProgress"]["status"] == "False" and conditions["Drained"]["status"] == "True", conditions
        assert conditions["Drained"]["reason"].startswith("Slipway"), conditions

        def reasons() -> set[str]:
            found = g.api.items(f"/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3D{g.nodes[0]}")
            return {e["reason"] for e in found if "slipway" in (e.get("reportingComponent") or e.get("source", {}).get("component", ""))}
        ctx.wait_for(lambda: {"Cordoned", "DrainStarted", "Drained"} <= reasons(), 10, "the Events of the node")


def test_somebody_else_uncordons(ctx: Context) -> None:
    """Nothing more is evicted from a node that another has put back into service."""
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 1, **g.here))
        g.budget("web", {"app": "web"}, minAvailable=1, status={"disruptionsAllowed": 0})
        child = g.begin(g.nodes[0])
        g.hears(child, "PDB")
        g.api.patch(f"/api/v1/nodes/{g.nodes[0]}", {"spec": {"unschedulable": None}})
        ctx.wait_for(lambda: not child.running or any("uncordon" in line for line in child.err), 20, "it to notice")
        before = len(g.evictions())
        g.api.delete(f"/apis/policy/v1/namespaces/{g.ns}/poddisruptionbudgets/web")
        status = child.end(number=None)
        assert status not in (DONE, None) and len(g.names(0)) == 1 and len(g.evictions()) == before, (status, child.err)
