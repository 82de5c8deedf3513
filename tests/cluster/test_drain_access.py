"""Drains with no more permissions than kubectl's, and with less: what it does without is said, once each, and what it cannot do without
ends it with the status for that."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from datetime import datetime

from context import Context, limit
from drain_ground import ACCESS, Ground
from drain_objects import CORDON, EVICT, READ, daemon_set, slow
from objects import deployment

# All that `kubectl drain --ignore-daemonsets` asks for (kubectl's pkg/drain and pkg/cmd/drain).
NODES = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "patch"]}
PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}
DAEMON_SETS = {"apiGroups": ["apps"], "resources": ["daemonsets"], "verbs": ["get"]}
KUBECTL = [NODES, PODS, DAEMON_SETS, EVICT]


def more(rule: dict, *verbs: str) -> dict:
    return rule | {"verbs": rule["verbs"] + list(verbs)}


def by_kubectl(g: Ground, node: int, *rules: dict) -> subprocess.CompletedProcess:
    """The real one, with these permissions; not one of the users that are judged, for it names no UID."""
    user = g.ctx.unique("kubectl")
    g.grant(user, *rules)
    return g.ctx.run(g.ctx.cluster_binaries.path("kubectl"), "drain", g.nodes[node], "--ignore-daemonsets",
                     kubeconfig=g.cluster.kubeconfig(user=user, groups=[]))


def furnish(g: Ground, *nodes: int) -> None:
    """An agent on every node and two pods of a Deployment on each of these."""
    g.create(daemon_set("agent", g.ns, **g.here))
    g.ready(len(g.nodes), app="agent")
    for node in nodes:
        g.place(node, deployment(f"web-{node}", g.ns, 2, **g.here))


def seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()


def left(g: Ground, node: int) -> set[str]:
    return {p["metadata"]["labels"]["app"] for p in g.pods(node)}


def shape(text: str) -> Counter:
    """Lines of standard output without the names of nodes and pods."""
    return Counter(re.sub(r"(test|n|web)-[\w-]+", r"\1", line) for line in text.splitlines())


def about(done: subprocess.CompletedProcess, words: str) -> list[str]:
    return [line for line in done.stderr.splitlines() if re.search(words, line)]


def forbidden(g: Ground) -> list[str]:
    """What our users asked for in vain, as verb and resource."""
    found = [e["verb"] + " " + "/".join(filter(None, [e["objectRef"]["resource"], e["objectRef"].get("subresource")]))
             for e in g.asked() if e.get("responseStatus", {}).get("code") == 403]
    return sorted(found)


WITHOUT = {"nodes": r"may not watch nodes\b", "pods": r"may not watch pods\b", "budgets": r"cannot list poddisruptionbudgets\b",
           "volumes": r"cannot list volumeattachments\b", "events": r"\bevents\b", "conditions": r"\bnodes/status\b"}


def does_without(done: subprocess.CompletedProcess, *wanted: str) -> None:
    for what, words in WITHOUT.items():
        said = len(about(done, words))
        assert said == (what in wanted), f"{what}: said {said} times\n{done.stderr}"


@limit(180)
def test_what_kubectl_needs_is_enough(ctx: Context) -> None:
    """Both drain a node with nothing else, in the same words on standard output."""
    with Ground(ctx, nodes=3) as g:
        furnish(g, 0)
        g.cluster.fill(g.nodes[:1])
        ours = g.drain(g.nodes[0], config=g.user(*KUBECTL), timeout=60)
        assert left(g, 0) == {"agent"}, left(g, 0)
        asked = Counter(forbidden(g))
        g.cordon(0, on=False)
        g.api.patch(f"/api/v1/nodes/{g.nodes[0]}", {"spec": {"taints": None}})
        with g.only(0):
            g.api.delete(f"/api/v1/namespaces/{g.ns}/pods?labelSelector=app%3Dweb-0", {"gracePeriodSeconds": 0})
            g.ready(2, 0, app="web-0")
        g.cluster.fill(g.nodes[:1])
        theirs = by_kubectl(g, 0, *KUBECTL)
        assert theirs.returncode == 0, theirs.stderr
        assert left(g, 0) == {"agent"}, left(g, 0)
        assert shape(ours.stdout) == shape(theirs.stdout), (ours.stdout, theirs.stdout)
        assert all(count <= 3 for count in asked.values()), f"what is forbidden is not asked for again and again: {asked}"
        does_without(ours, *WITHOUT)


def test_pods_that_may_be_watched(ctx: Context) -> None:
    """The same with one verb more: they are not polled."""
    with Ground(ctx, nodes=3) as g:
        g.place(0, slow(deployment("web", g.ns, 2, **g.here), gone="8s"))
        done = g.drain(g.nodes[0], config=g.user(NODES, more(PODS, "watch"), DAEMON_SETS, EVICT), timeout=60)
        assert not g.names(0)
        lists = [e for e in g.asked(verb="list", resource="pods") if e["responseStatus"]["code"] == 200]
        assert g.asked(verb="watch", resource="pods") and len(lists) <= 2, [e["requestURI"] for e in lists]
        does_without(done, *(set(WITHOUT) - {"pods"}))


def test_nodes_that_may_be_listed_and_not_watched(ctx: Context) -> None:
    """They are read every few seconds, which is said; a cordon of ours is seen back that way."""
    with Ground(ctx, nodes=3) as g:
        g.place(0, slow(deployment("web", g.ns, 2, **g.here), gone="8s"))
        done = g.drain(g.nodes[0], config=g.user(more(NODES, "list"), PODS, DAEMON_SETS, EVICT), timeout=60)
        assert not g.names(0)
        assert any("every 3 s" in line for line in about(done, WITHOUT["nodes"])), done.stderr
        lists = [seconds(e["requestReceivedTimestamp"]) for e in g.asked(verb="list", resource="nodes") if e["responseStatus"]["code"] == 200]
        assert 2 <= len(lists) <= 5 + (lists[-1] - lists[0]) / 3, lists
        does_without(done, *WITHOUT)


def test_without_permission_to_evict(ctx: Context) -> None:
    """The status for want of access, the server's sentence with the verb and the resource, and nothing has gone."""
    with Ground(ctx, nodes=3) as g:
        g.place(0, deployment("web", g.ns, 2, **g.here))
        done = g.drain(g.nodes[0], code=ACCESS, config=g.user(NODES, PODS, DAEMON_SETS), timeout=60)
        said = about(done, r'cannot create resource "pods/eviction" in API group ""')
        assert said and all(g.users[-1] in line for line in said), done.stderr
        assert any(g.nodes[0] in line for line in done.stderr.splitlines()), done.stderr
        assert len(g.names(0)) == 2 and not g.accepted() and "drained" not in done.stdout, done.stdout
        assert len(g.evictions()) <= 4, f"asked again and again: {len(g.evictions())}"


# -- one thing at a time -------------------------------------------------------------------------------------------


def no_watch(rules: list[dict]) -> list[dict]:
    return [rule | {"verbs": ["get", "list"]} for rule in rules]


def test_permissions_that_are_missing(ctx: Context) -> None:
    """A cordon that fails stops the node; an eviction that is forbidden is told from one that has to wait."""
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 1, **g.here))
        done = g.drain(g.nodes[0], code=ACCESS, config=g.user(*READ, EVICT))
        assert "forbidden" in done.stderr and not g.evictions(), "not cordoned, so nothing is evicted"
        assert "unschedulable" not in g.node(0)["spec"]
        done = g.drain(g.nodes[0], code=ACCESS, config=g.user(*READ, CORDON))
        assert "forbidden" in done.stderr and "pods/eviction" in done.stderr, done.stderr
        done = g.drain(g.nodes[0], code=ACCESS, config=g.user(CORDON, EVICT))
        assert "forbidden" in done.stderr, done.stderr
        assert len(g.names(0)) == 1
        g.drain(g.nodes[0], config=g.user(*READ, CORDON, EVICT))
        assert not g.names(0), "Events and conditions are not needed for it"


def test_without_permission_to_watch(ctx: Context) -> None:
    """It asks again every few seconds, and says so."""
    with Ground(ctx) as g:
        g.place(0, slow(deployment("web", g.ns, 3, **g.here), ready="300ms", gone="500ms"))
        g.budget("web", {"app": "web"}, maxUnavailable=1, status={"currentHealthy": 3, "disruptionsAllowed": 1})
        done = g.drain(g.nodes[0], config=g.user(*no_watch(READ), CORDON, EVICT), timeout=100)
        assert not g.names(0) and "watch" in done.stderr, done.stderr


def test_without_permission_to_read_budgets(ctx: Context) -> None:
    """The server's refusals are all that is known of them: tried again, with patience."""
    with Ground(ctx) as g:
        g.place(0, slow(deployment("web", g.ns, 3, **g.here), ready="300ms", gone="300ms"))
        g.budget("web", {"app": "web"}, maxUnavailable=1, status={"currentHealthy": 3, "disruptionsAllowed": 1})
        rules = [rule for rule in READ if "policy" not in rule["apiGroups"]]
        done = g.drain(g.nodes[0], config=g.user(*rules, CORDON, EVICT), timeout=100)
        assert not g.names(0) and "poddisruptionbudgets" in done.stderr, done.stderr
        assert len(g.evictions()) <= 20, len(g.evictions())
