"""Drains on a real cluster: budgets, what they allow and what is said of them; and that the judges of these drains see one that is broken.

Each test is judged twice: by what it says itself, and at its end by the server's audit log and a watcher (tests/lib/drain_ground.py):
no budget broken, no eviction without the UID of a pod of that node, nothing deleted.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections import Counter
from datetime import datetime
from typing import Iterator

from context import ROOT, Context, limit
from drain_ground import Ground, lines
from drain_objects import owned, slow
from objects import deployment, pod
from stalls import Stalls


def test_arithmetic_of_the_bench(ctx: Context) -> None:
    done = ctx.run(sys.executable, ROOT / "bench" / "drain_selftest.py", kubeconfig=ctx.tmp / "none")
    assert done.returncode == 0 and "not ok" not in done.stdout, done.stdout + done.stderr


def test_the_judge_sees_a_broken_budget(ctx: Context) -> None:
    """A pod that is deleted past its budget is noticed, one that is evicted under it is not."""
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 2, **g.here))
        g.budget("web", {"app": "web"}, minAvailable=1, status={"disruptionsAllowed": 1})
        first, second = g.names(0)
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": first, "namespace": g.ns}}
        g.cordon(0, 1)
        g.api.call("POST", g.path(first) + "/eviction", eviction)
        assert not [b for b in g.watcher.ask()["broken"] if b["budget"] == f"{g.ns}/web"]
        g.api.patch(f"/apis/policy/v1/namespaces/{g.ns}/poddisruptionbudgets/web", {"spec": {"minAvailable": 2}})
        ctx.wait_for(lambda: g.api.get(f"/apis/policy/v1/namespaces/{g.ns}/poddisruptionbudgets/web")["status"]["desiredHealthy"] == 2, 30,
                     "the controller to have seen it")
        g.api.delete(g.path(second))
        broken, = [b for b in g.watcher.ask()["broken"] if b["budget"] == f"{g.ns}/web"]
        assert (broken["pod"], broken["wanted"], broken["evicted"]) == (f"{g.ns}/{second}", 2, False), broken


def moment(stamp: str) -> float:
    return datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()


def allowed_at(g: Ground, name: str) -> float:
    """When the controller first wrote that this budget allows something."""
    writes = g.cluster.audit.requests(g.mark, resource="poddisruptionbudgets", subresource="status", namespace=g.ns, name=name)
    return min(moment(e["stageTimestamp"]) for e in writes
               if e["responseStatus"]["code"] == 200 and e["requestObject"]["status"]["disruptionsAllowed"] > 0)


# -- what a budget allows ------------------------------------------------------------------------------------------


def test_a_budget_that_never_allows(ctx: Context) -> None:
    """Told by its name and its numbers, and not asked again and again."""
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 2, **g.here), deployment("free", g.ns, 1, **g.here))
        g.budget("web", {"app": "web"}, minAvailable=2, status={"currentHealthy": 2, "disruptionsAllowed": 0})
        done = g.blocked(g.nodes[0], seconds=6, until=lambda _: not g.names(0, app="free"))
        assert "PDBUnsatisfiable" in done.stderr and f"{g.ns}/web" in done.stderr, done.stderr
        for name in g.names(0, app="web"):
            assert f"{g.ns}/{name}" in done.stderr, f"the pods that remain are named: {done.stderr}"
        assert len(g.names(0)) == 2, "the other one has gone"
        assert len([e for e in g.evictions() if e["responseStatus"]["code"] == 429]) <= 6, "polite"


def test_a_budget_that_allows_later(ctx: Context) -> None:
    """When the pod that was missing is well again the next eviction follows at once."""
    with Ground(ctx, nodes=3) as g:
        g.place(0, deployment("web", g.ns, 1, **g.here))
        with g.only(1):
            g.api.patch(f"/apis/apps/v1/namespaces/{g.ns}/deployments/web", {"spec": {"replicas": 2}})
            sick = g.ready(1, 1, app="web")[0]["metadata"]["name"]
        g.set_ready(sick, False)
        g.budget("web", {"app": "web"}, maxUnavailable=1, status={"currentHealthy": 1, "desiredHealthy": 1, "disruptionsAllowed": 0})
        child = g.begin(g.nodes[0])
        g.hears(child, "PDBNoBudget.*web|web.*PDBNoBudget")
        assert g.names(0), "it waits"
        with Stalls(g.cluster) as stalls:
            g.set_ready(sick, True)
            g.ends(child, timeout=30)
        assert not g.names(0)
        refused = [e for e in g.evictions() if e["responseStatus"]["code"] == 429]
        assert len(refused) <= 3, "it did not poll"
        # By the server's clock, from the write that allows it to the eviction: one that waits for no event waits for 10 s.
        waited = moment(g.evictions()[-1]["requestReceivedTimestamp"]) - allowed_at(g, "web")
        assert waited < 8 + stalls.seconds, f"{waited:.3f} s; stalls of {stalls.seconds:.3f} s"


def test_two_budgets_for_a_pod(ctx: Context) -> None:
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 1, **g.here), deployment("free", g.ns, 1, **g.here))
        g.budget("one", {"app": "web"}, minAvailable=0)
        g.budget("two", {"app": "web"}, maxUnavailable=1)
        done = g.blocked(g.nodes[0], seconds=6, until=lambda _: not g.names(0, app="free"))
        assert "MultiplePDBs" in done.stderr and "one and two" in done.stderr, done.stderr
        assert {p["metadata"]["labels"]["app"] for p in g.pods(0)} == {"web"}
        g.api.delete(f"/apis/policy/v1/namespaces/{g.ns}/poddisruptionbudgets/two")
        g.drain(g.nodes[0])


def test_a_budget_that_does_not_sync(ctx: Context) -> None:
    """Pods without a scale under a percentage: the controller gives up, and says so in the budget's condition."""
    with Ground(ctx) as g:
        g.create(pod("bare", g.ns, {"app": "bare"}, nodeName=g.nodes[0]))
        g.budget("odd", {"app": "odd"}, maxUnavailable="50%")  # looked at once while it selects nobody
        owner = g.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner", "namespace": g.ns}})
        g.create(owned(pod("odd", g.ns, {"app": "odd"}, nodeName=g.nodes[0]), "v1", "ConfigMap", "owner", owner["metadata"]["uid"]))
        g.ready(2, 0)
        ctx.wait_for(lambda: any(c["reason"] == "SyncFailed" for c in g.api.get(
            f"/apis/policy/v1/namespaces/{g.ns}/poddisruptionbudgets/odd")["status"]["conditions"]), 30, "the controller to give up")
        done = g.blocked(g.nodes[0], "--force", seconds=6, until=lambda _: g.names(0) == ["odd"])
        assert "PDBSyncFailed" in done.stderr and f"{g.ns}/odd" in done.stderr, done.stderr
        assert g.names(0) == ["odd"]


def test_a_budget_that_nobody_looked_at(ctx: Context) -> None:
    """429 with Retry-After: 10, and on as soon as somebody has."""
    with Ground(ctx, still=True) as g:
        g.create(pod("p", g.ns, {"app": "p"}, nodeName=g.nodes[0]))
        g.ready(1, 0)
        g.budget("p", {"app": "p"}, minAvailable=0)
        child = g.begin(g.nodes[0], "--force")
        ctx.wait_for(lambda: [e for e in g.evictions("p") if e["responseStatus"]["code"] == 429] or g.node(0)["spec"].get("unschedulable"), 20,
                     "the drain to begin")
        g.hears(child, "PDB")
        status = {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 1, "desiredHealthy": 0, "expectedPods": 1}
        g.api.patch(f"/apis/policy/v1/namespaces/{g.ns}/poddisruptionbudgets/p/status", {"status": status})
        g.ends(child, timeout=30)
        refused = [e for e in g.evictions("p") if e["responseStatus"]["code"] == 429]
        gaps = [moment(b["requestReceivedTimestamp"]) - moment(a["stageTimestamp"]) for a, b in zip(refused, refused[1:])]
        assert all(gap >= 9 for gap in gaps), f"Retry-After is honoured: {gaps}"


def test_a_budget_with_too_many_promises(ctx: Context) -> None:
    """403 by the budget, not by want of permission."""
    with Ground(ctx, still=True) as g:
        g.create(pod("p", g.ns, {"app": "p"}, nodeName=g.nodes[0]))
        g.ready(1, 0)
        crowd = {f"gone-{i}": "2026-01-02T03:04:05Z" for i in range(2001)}
        g.budget("p", {"app": "p"}, minAvailable=0, status={"disruptionsAllowed": 1, "currentHealthy": 1, "desiredHealthy": 0,
                                                           "expectedPods": 1, "disruptedPods": crowd})
        done = g.blocked(g.nodes[0], "--force", seconds=5, until=lambda _: g.evictions("p"))
        assert "PDBBroken" in done.stderr and f"{g.ns}/p" in done.stderr, done.stderr


def test_pods_that_are_not_ready(ctx: Context) -> None:
    """They go when the policy of their budget says so, whatever the budget allows."""
    with Ground(ctx, still=True) as g:
        for name, policy in (("always", "AlwaysAllow"), ("healthy", "IfHealthyBudget"), ("short", "IfHealthyBudget")):
            g.create(pod(name, g.ns, {"app": name}, nodeName=g.nodes[0]))
            enough = 1 if name == "healthy" else 0
            g.budget(name, {"app": name}, minAvailable=1, unhealthyPodEvictionPolicy=policy,
                     status={"disruptionsAllowed": 0, "currentHealthy": enough, "desiredHealthy": 1, "expectedPods": 2})
        g.ready(3, 0)
        for name in ("always", "healthy", "short"):
            g.set_ready(name, False)
        done = g.blocked(g.nodes[0], "--force", seconds=5, until=lambda _: len(g.names(0)) == 1)
        assert g.names(0) == ["short"] and f"{g.ns}/short" in done.stderr, (g.names(0), done.stderr)


@limit(240)
def test_budgets_that_cross(ctx: Context) -> None:
    """Three nodes, budgets over pods of all of them, slow replacements: all nodes at once and nothing is broken."""
    with Ground(ctx, nodes=5) as g:
        g.cordon(3, 4)
        for i in range(6):
            g.create(slow(deployment(f"app-{i}", g.ns, 4, **g.here), ready="700ms", gone="1500ms"))
            g.create({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": f"app-{i}", "namespace": g.ns},
                      "spec": {"maxUnavailable": 1 + i % 2, "selector": {"matchLabels": {"app": f"app-{i}"}}}})
        g.ready(24)
        g.cordon(3, 4, on=False)
        ctx.wait_for(lambda: all(b.get("status", {}).get("currentHealthy") == 4 for b in
                                 g.api.items(f"/apis/policy/v1/namespaces/{g.ns}/poddisruptionbudgets")), 30, "the budgets")
        done = g.drain(*g.nodes[:3], timeout=120)
        assert not [p for p in g.pods() if p["spec"].get("nodeName") in g.nodes[:3]]
        assert lines(done.stdout, "node/") == sorted(f"node/{n} {w}" for n in g.nodes[:3] for w in ("cordoned", "drained")), done.stdout
        said = Counter(line.split()[2] for line in lines(done.stdout, "evicting pod"))
        assert said and max(said.values()) == 1, f"each is said once: {said}"


# -- budgets that look hopeless for a moment -----------------------------------------------------------------------

# A pod has gone and the one in its place is not there yet: until it is, status.expectedPods of a budget with a number for minAvailable
# counts one pod less, and is no more than what must stay.  Such a budget waits; that it will never allow anything is not said of it.

BUDGET = {"currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3, "disruptionsAllowed": 1}
SHORT = {"currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 2}


def three(g: Ground) -> None:
    """Three pods of which two may not be missing; two are on the first node."""
    path = f"/apis/apps/v1/namespaces/{g.ns}/deployments/web"
    g.place(0, deployment("web", g.ns, 2, **g.here))
    with g.only(1):
        g.api.patch(path, {"spec": {"replicas": 3}})
        g.ready(1, 1, app="web")
    g.budget("web", {"app": "web"}, minAvailable=2, status=BUDGET)


@contextlib.contextmanager
def no_new_pods(g: Ground) -> Iterator[None]:
    """A quota that is used up; afterwards whoever could not make a pod tries again at once."""
    path = f"/api/v1/namespaces/{g.ns}/resourcequotas"
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "full", "namespace": g.ns}, "spec": {"hard": {"pods": "1"}}}
    body = json.dumps(pod("one-more", g.ns)).encode()

    def one_more() -> int:
        """What the server would say to somebody who wants to make a pod."""
        return g.api.raw("POST", f"/api/v1/namespaces/{g.ns}/pods?dryRun=All", body, "application/json")[0]
    g.create(quota)
    g.ctx.wait_for(lambda: one_more() == 403, 30, "the quota to be in force")
    yield
    g.api.delete(f"{path}/full")
    g.ctx.wait_for(lambda: one_more() == 201, 30, "the quota to be forgotten")
    for owner in g.api.items(f"/apis/apps/v1/namespaces/{g.ns}/replicasets"):
        g.api.patch(f"/apis/apps/v1/namespaces/{g.ns}/replicasets/{owner['metadata']['name']}", {"metadata": {"annotations": {"again": "1"}}})


def hold_short(g: Ground) -> None:
    """Until the budget's status has the numbers of a hopeless one."""
    def short() -> bool:
        status = g.api.get(f"/apis/policy/v1/namespaces/{g.ns}/poddisruptionbudgets/web")["status"]
        return all(status.get(key) == value for key, value in SHORT.items())
    g.ctx.wait_for(short, 30, "the budget to count two pods")


def test_a_budget_that_counts_one_pod_less(ctx: Context) -> None:
    """What is said is that it waits, as long as nobody makes the third pod; then it goes on."""
    with Ground(ctx, nodes=3) as g:
        three(g)
        with no_new_pods(g):
            child = g.begin(g.nodes[0], "--progress=plain")
            hold_short(g)
            g.hears(child, "PDBNoBudget|PDBUnsatisfiable")
        g.ends(child, timeout=60)
        said = "\n".join(child.err + child.out)
        assert "PDBNoBudget" in said and "PDBUnsatisfiable" not in said and "will not pass" not in said, said
        assert not g.names(0) and len(g.accepted()) == 2, g.accepted()


def test_the_same_for_machines(ctx: Context) -> None:
    """--json: no event has the code, nor a severity that calls for a human."""
    with Ground(ctx, nodes=3) as g:
        three(g)
        with no_new_pods(g):
            child = g.begin(g.nodes[0], "--json")
            hold_short(g)
            ctx.wait_for(lambda: any('"PDB' in line for line in child.out), 30, "a blocker")
        g.ends(child, timeout=60)
        events = [json.loads(line) for line in child.out]
        codes = {e["blocker"]["code"] for e in events if e.get("blocker")} | {e["code"] for e in events if e.get("code")}
        assert "PDBNoBudget" in codes and "PDBUnsatisfiable" not in codes, child.out
