"""Snapshots and rehearsals of a real cluster: read, and never written to; nothing secret in them; and what a rehearsal says of a drain is
what the drain then does."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from pathlib import Path

from context import Context, limit
from drain_ground import DONE, Ground
from drain_objects import daemon_set, slow, stateful_set
from objects import deployment
from shape import merged

ACCESS, BLOCKED = 4, 3
HUSH = "hush-hush-9f2"

# Lists and nothing else; no watching either.
LISTS = [{"apiGroups": [""], "resources": ["nodes", "pods", "namespaces", "persistentvolumes", "persistentvolumeclaims"], "verbs": ["list"]},
         {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": ["list"]},
         {"apiGroups": ["apps"], "resources": ["*"], "verbs": ["list"]},
         {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["list"]},
         {"apiGroups": ["storage.k8s.io"], "resources": ["*"], "verbs": ["list"]},
         {"apiGroups": ["scheduling.k8s.io"], "resources": ["priorityclasses"], "verbs": ["list"]}]
NEEDED = [*LISTS[:2], {"apiGroups": ["apps"], "resources": ["daemonsets"], "verbs": ["list"]}]


def slipway(g: Ground, *arguments: str, config: Path, code: int = DONE) -> subprocess.CompletedProcess:
    done = g.ctx.run(g.ctx.slipway, *arguments, kubeconfig=config, timeout=120)
    assert done.returncode == code, f"slipway {' '.join(arguments)}: status {done.returncode}\n{done.stdout}-- stderr:\n{done.stderr}"
    return done


def furnish(g: Ground) -> None:
    """Workloads of each kind, whose pods are on all nodes; with values that are nobody's business."""
    secretive = {"spec": {"template": {"metadata": {"annotations": {"vault.test/role": HUSH}}, "spec": {"containers": [
        {"name": "main", "image": "registry.test/app:1", "args": [HUSH], "env": [{"name": "TOKEN", "value": HUSH}]}]}}}}
    g.create(daemon_set("agent", g.ns, **g.here), merged(deployment("web", g.ns, 6, **g.here), secretive),
             stateful_set("db", g.ns, 3, **g.here))
    g.ready(len(g.nodes), app="agent")
    g.ready(6, app="web")
    g.ready(3, app="db")


def wanted(g: Ground) -> dict[str, tuple]:
    """All that people write of the objects that are there.  Their statuses and Events are the controllers', who may be late."""
    paths = [f"/api/v1/namespaces/{g.ns}/pods", f"/apis/apps/v1/namespaces/{g.ns}/deployments",
             f"/apis/policy/v1/namespaces/{g.ns}/poddisruptionbudgets"]
    keys = ("labels", "annotations", "finalizers", "deletionTimestamp")
    return {o["metadata"]["uid"]: (o["spec"], *(o["metadata"].get(k) for k in keys)) for p in paths for o in g.api.get(p)["items"]}


@limit(180)
def test_reads_only(ctx: Context) -> None:
    """By a user who may list and nothing else: by the server's audit log nothing but lists was asked for, and nothing was refused."""
    with Ground(ctx, nodes=3) as g, tempfile.TemporaryDirectory() as directory:
        furnish(g)
        g.budget("web", {"app": "web"}, maxUnavailable=1)
        user, path = g.user(*LISTS), Path(directory) / "s.json"
        before = wanted(g)
        slipway(g, "snapshot", "--out", str(path), config=user)
        done = slipway(g, "rehearse", g.nodes[0], "--runs", "3", config=user)
        assert wanted(g) == before
        asked = g.asked()
        assert {e["verb"] for e in asked if e.get("objectRef")} == {"list"}, sorted({e["verb"] for e in asked})
        refused = [e["requestURI"] for e in asked if e["responseStatus"]["code"] not in (200, 404)]
        assert not refused, refused
        assert not any(e["objectRef"]["resource"] in ("secrets", "configmaps") for e in asked if e.get("objectRef"))
        text = path.read_text()
        assert HUSH not in text
        assert g.nodes[0] in done.stdout and "would be drained" in done.stdout, done.stdout
        assert not done.stderr, done.stderr


@limit(180)
def test_what_may_not_be_read(ctx: Context) -> None:
    """Is said and left out; the copy stays as it is all the same, and a drain of it can be tried."""
    with Ground(ctx, nodes=3) as g, tempfile.TemporaryDirectory() as directory:
        furnish(g)
        path = Path(directory) / "s.json.gz"
        done = slipway(g, "snapshot", "--out", str(path), config=g.user(*NEEDED))
        assert len(re.findall(r"(?m)^Note: \S+ are left out: ", done.stderr)) == 10, done.stderr
        said = json.loads(slipway(g, "rehearse", g.nodes[0], "--snapshot", str(path), "-o", "json", config=g.cluster.admin).stdout)
        assert said["wholeRuns"] == len(said["runs"]), said["left"]
        assert "replicasets.apps" in said["basis"]["unread"]
        done = slipway(g, "snapshot", "--out", str(path), config=g.user(LISTS[1]), code=ACCESS)
        assert "nodes" in done.stderr, done.stderr


@limit(300)
def test_says_what_the_drain_does(ctx: Context) -> None:
    """The same pods stay for the same reason, and the same go; with what was seen of them it says how long, too."""
    with Ground(ctx, nodes=4) as g, tempfile.TemporaryDirectory() as directory:
        g.create(slow(deployment("web", g.ns, 6, **g.here), ready="2s", gone="4s"), deployment("rigid", g.ns, 4, **g.here))
        g.ready(6, app="web")
        g.ready(4, app="rigid")
        g.budget("web", {"app": "web"}, maxUnavailable=1)
        g.budget("rigid", {"app": "rigid"}, maxUnavailable=0)
        history = Path(directory) / "history"
        history.write_text("".join(json.dumps({"v": 1, "workload": f"{g.ns}/Deployment/web", "stop": s}) + "\n" for s in (4.0, 4.1, 4.2)))
        nodes = {n: {p["metadata"]["name"] for p in g.pods(i, app="rigid")} for i, n in enumerate(g.nodes)}
        blocked = next(n for n, pods in nodes.items() if pods)
        said = json.loads(slipway(g, "rehearse", blocked, "--history", str(history), "-o", "json", "--timeout", "30s",
                                  config=g.cluster.admin, code=BLOCKED).stdout)
        assert {p["name"] for p in said["left"]} == nodes[blocked], (said["left"], nodes)
        assert {p["code"] for p in said["left"]} == {"PDBUnsatisfiable"}, said["left"]
        assert all(p["runs"] == len(said["runs"]) for p in said["left"])
        number = g.nodes.index(blocked)
        done = g.blocked(blocked, seconds=30, until=lambda _: not g.names(number, app="web"))
        stayed = set(g.names(number))
        assert stayed == nodes[blocked], (stayed, done.stderr)
