"""Drains on a real cluster: who is evicted and who is not, and owners that are not what they seem.

Each test is judged twice: by what it says itself, and at its end by the server's audit log and a watcher (tests/lib/drain_ground.py):
no budget broken, no eviction without the UID of a pod of that node, nothing deleted.
"""

from __future__ import annotations

from api import object_path
from context import Context, limit
from drain_ground import FAILED, Ground, lines
from drain_objects import EMPTY_DIR, NEVER_GONE, daemon_set, owned
from drain_words import refused
from objects import deployment, pod

DAEMON_SETS = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
LOCAL_STORAGE = "Pods with local storage (use --delete-emptydir-data to override)"
UNMANAGED = "Pods that declare no controller (use --force to override)"


@limit(180)
def test_every_filter(ctx: Context) -> None:
    with Ground(ctx) as g:
        g.create(daemon_set("agent", g.ns, **g.here))
        g.ready(2, app="agent")
        g.place(0, deployment("web", g.ns, 2, **g.here), deployment("cache", g.ns, 1, **g.here, **EMPTY_DIR))
        first = {"nodeName": g.nodes[0]}
        finished = {"slipway.dev/test-finish-after": "0s"}
        g.create(pod("bare", g.ns, **first), pod("bare-local", g.ns, **first, **EMPTY_DIR),
                 pod("mirror", g.ns, annotations={"kubernetes.io/config.mirror": "x", "kubernetes.io/config.source": "file"}, **first),
                 pod("done", g.ns, annotations=finished, restartPolicy="Never", **first, **EMPTY_DIR),
                 pod("broken", g.ns, restartPolicy="Never", **first))
        ctx.wait_for(lambda: {p["metadata"]["name"]: p["status"]["phase"] for p in g.pods(0)}.items() >=
                     {"bare": "Running", "bare-local": "Running", "mirror": "Running", "done": "Succeeded", "broken": "Running"}.items(),
                     30, "the pods")
        g.api.patch(g.path("broken") + "/status", {"status": {"phase": "Failed"}})
        before, cache = set(g.names(0)), set(g.names(0, app="cache"))
        agents = set(g.names(0, app="agent"))
        assert len(agents) == 1 and len(before) == 9, before

        cases = [([], {LOCAL_STORAGE: cache | {"bare-local"}, UNMANAGED: {"bare"}}),
                 (["--force"], {LOCAL_STORAGE: cache | {"bare-local"}}),
                 (["--delete-emptydir-data"], {UNMANAGED: {"bare", "bare-local"}}),
                 (["--force", "--delete-emptydir-data", "--ignore-daemonsets=false"], {DAEMON_SETS: agents})]
        for flags, wanted in cases:
            done = g.drain(g.nodes[0], *flags, code=FAILED)
            assert refused(done.stderr) == {(reason, f"{g.ns}/{p}") for reason, pods in wanted.items() for p in pods}, (flags, done.stderr)
            assert "drained" not in done.stdout and "evicting" not in done.stdout, done.stdout
            assert set(g.names(0)) == before and g.node(0)["spec"]["unschedulable"] is True
        assert not g.evictions(), "nothing is touched when something must not be"

        done = g.drain(g.nodes[0], "--force", "--delete-emptydir-data")
        assert set(g.names(0)) == agents | {"mirror"}, g.names(0)
        gone = before - agents - {"mirror"}
        assert lines(done.stdout, "evicting pod") == sorted(f"evicting pod {g.ns}/{p}" for p in gone), done.stdout
        assert lines(done.stdout, "pod/") == sorted(f"pod/{p} evicted" for p in gone), done.stdout
        assert lines(done.stdout, "node/") == [f"node/{g.nodes[0]} already cordoned", f"node/{g.nodes[0]} drained"], done.stdout
        assert f"ignoring DaemonSet-managed Pods: {g.ns}/{agents.pop()}" in done.stderr, done.stderr
        g.ready(2, 1, app="web")


def test_a_chosen_few(ctx: Context) -> None:
    """--pod-selector: the others are none of its business, not even those that it must not touch."""
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 2, **g.here), deployment("api", g.ns, 1, **g.here), pod("bare", g.ns, nodeName=g.nodes[0]))
        g.drain(g.nodes[0], "--pod-selector=app in (web)")
        assert {p["metadata"].get("labels", {}).get("app", "bare") for p in g.pods(0)} == {"api", "bare"}


def test_grace_and_deletion(ctx: Context) -> None:
    """--disable-eviction asks no budget, and the UID is on every deletion too."""
    with Ground(ctx, deletes=True) as g:
        g.place(0, deployment("web", g.ns, 2, **g.here))
        g.drain(g.nodes[0], "--grace-period=7")
        assert {e["requestObject"]["deleteOptions"]["gracePeriodSeconds"] for e in g.evictions()} == {7}
        g.cordon(0, on=False)
        before = len(g.evictions())
        with g.only(1):
            g.create(deployment("free", g.ns, 2, **g.here))
            g.ready(2, 1, app="free")
        done = g.drain(g.nodes[1], "--disable-eviction", "--grace-period=3")
        deleted = g.asked(verb="delete", resource="pods")
        assert len(g.evictions()) == before and len(deleted) == 4 and not g.pods(1), (len(deleted), g.names(1))
        assert {e["requestObject"]["gracePeriodSeconds"] for e in deleted} == {3}
        assert len(lines(done.stdout, "pod/")) == 4 and all(line.endswith(" deleted") for line in lines(done.stdout, "pod/")), done.stdout


def test_pods_that_do_not_end(ctx: Context) -> None:
    """Waited for, until they have been on their way for longer than --skip-wait-for-delete-timeout says."""
    with Ground(ctx) as g:
        g.create(pod("stuck", g.ns, annotations=NEVER_GONE, terminationGracePeriodSeconds=1, nodeName=g.nodes[0]))
        g.ready(1, 0)
        done = g.blocked(g.nodes[0], "--force", seconds=3, until=lambda _: g.accepted())
        assert f"{g.ns}/stuck" in done.stderr, done.stderr
        g.drain(g.nodes[0], "--force", "--skip-wait-for-delete-timeout=1", timeout=30)
        assert g.names(0) == ["stuck"] and len(g.accepted()) == 1, g.accepted()


def test_dry_runs(ctx: Context) -> None:
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 2, **g.here))
        before, node = g.names(0), g.node(0)
        for mode, suffix in (("client", "(dry run)"), ("server", "(server dry run)")):
            done = g.drain(g.nodes[0], f"--dry-run={mode}")
            assert all(line.endswith(suffix) for line in done.stdout.splitlines()), done.stdout
            assert lines(done.stdout, "evicting") == [f"evicting pod {g.ns}/{p} {suffix}" for p in before], done.stdout
        assert g.names(0) == before and g.node(0)["metadata"]["resourceVersion"] == node["metadata"]["resourceVersion"] or \
            not g.node(0)["spec"].get("unschedulable"), "nothing has changed"
        for event in g.asked():
            if event["verb"] not in ("get", "list", "watch"):
                assert "dryRun=All" in event["requestURI"] or event.get("requestObject", {}).get("deleteOptions", {}).get("dryRun") == ["All"], event
        g.budget("web", {"app": "web"}, minAvailable=2)
        blocked = g.blocked(g.nodes[0], "--dry-run=server", seconds=5, until=lambda done: f"{g.ns}/web" in done.stderr)
        assert f"{g.ns}/web" in blocked.stderr, blocked.stderr


# -- owners that are not what they seem ----------------------------------------------------------------------------


def test_orphans_of_a_daemon_set(ctx: Context) -> None:
    """In a cluster without a garbage collector, which would take them away at once."""
    with Ground(ctx, still=True) as g:
        g.create(owned(pod("orphan", g.ns, nodeName=g.nodes[0]), "apps/v1", "DaemonSet", "gone"))
        g.ready(1, 0)
        done = g.drain(g.nodes[0], code=FAILED)
        assert 'daemonsets.apps "gone" not found' in done.stderr and f"{g.ns}/orphan" in done.stderr, done.stderr
        assert g.names(0) == ["orphan"] and not g.evictions()
        g.drain(g.nodes[0], "--force")
        assert g.names(0) == []


def test_daemon_sets_of_others(ctx: Context) -> None:
    """OpenKruise's: its pods come back however often they are evicted, so they stay as those of Kubernetes' own do."""
    with Ground(ctx) as g:
        crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "daemonsets.apps.kruise.io"},
               "spec": {"group": "apps.kruise.io", "scope": "Namespaced", "names": {"plural": "daemonsets", "singular": "daemonset", "kind": "DaemonSet"},
                        "versions": [{"name": "v1alpha1", "served": True, "storage": True,
                                      "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
        g.create(crd)
        ctx.undo(lambda: g.api.delete(object_path(crd)))
        path = f"/apis/apps.kruise.io/v1alpha1/namespaces/{g.ns}/daemonsets"
        ctx.wait_for(lambda: g.api.raw("GET", path)[0] == 200, 30, "the definition to be served")
        made = g.api.call("POST", path, {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "DaemonSet", "metadata": {"name": "kruise"}})
        g.create(owned(pod("kruise-x", g.ns, nodeName=g.nodes[0]), "apps.kruise.io/v1alpha1", "DaemonSet", "kruise", made["metadata"]["uid"]))
        g.place(0, deployment("web", g.ns, 1, **g.here))
        done = g.drain(g.nodes[0])
        assert g.names(0) == ["kruise-x"] and f"{g.ns}/kruise-x" in done.stderr, (g.names(0), done.stderr)
        assert not g.evictions("kruise-x")
