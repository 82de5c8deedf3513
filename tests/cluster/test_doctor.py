"""`slipway doctor --pdbs` on a real cluster: what it finds is so, and each fix that it prints is tried.

For every cause a situation is made; the drain that it is about is blocked (or its pods do not come back), the command is pasted into
a shell as it stands there, and after it the same drain succeeds.  A cause with several fixes is made once for each of them.
"""

from __future__ import annotations

import json
import re
import os
import subprocess
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Callable

from api import object_path
from context import Context, limit
from drain_ground import ACCESS, BLOCKED, DONE, FAILED, Ground
from drain_objects import EMPTY_DIR, READ, held, lose, owned, stateful_set
from objects import budget, deployment, pod
from shape import merged

CHANGES = 2
SOON = 3  # seconds


def reader(g: Ground) -> Path:
    """Somebody who is not judged as one who drains."""
    return g.cluster.kubeconfig(user="doctor-reader", groups=["system:masters"])


def doctor(g: Ground, *arguments: str, code: int = DONE, config: Path | None = None, env: dict[str, str] = {}) -> subprocess.CompletedProcess:
    done = g.ctx.run(g.ctx.slipway, "doctor", "--pdbs", *arguments, kubeconfig=config or reader(g), env=env)
    assert done.returncode == code, f"doctor {' '.join(arguments)}: status {done.returncode}, not {code}\n{done.stdout}-- stderr:\n{done.stderr}"
    return done


def examine(g: Ground, **options: object) -> dict:
    found = json.loads(doctor(g, "-o", "json", **options).stdout)
    assert found["schema"] == "slipway.doctor/1.3"
    return found


def findings(g: Ground, **options: object) -> dict[str, list[dict]]:
    """What is said about the namespace of the test, by cause."""
    found: dict[str, list[dict]] = {}
    for group in examine(g, **options)["groups"]:
        for one in group["findings"]:
            if one["object"].get("namespace") == g.ns:
                found.setdefault(group["cause"], []).append(one | {"effect": group["effect"]})
    return found


def only(g: Ground, cause: str, **options: object) -> dict:
    found = findings(g, **options)
    assert len(found.get(cause, [])) == 1, f"{cause}: {json.dumps(found, indent=1)}"
    return found[cause][0]


def paste(g: Ground, command: str) -> None:
    """Into a shell, where kubectl is the one of the cluster's version; a drain is one of the test's own."""
    bin = g.ctx.tmp / "bin"
    bin.mkdir(exist_ok=True)
    for name, program in (("kubectl", g.cluster.binaries.path("kubectl")), ("slipway", g.ctx.slipway)):
        if not (bin / name).exists():
            (bin / name).symlink_to(program)
    drains = command.startswith("slipway drain")
    if drains:
        g.targets(tuple(command.split()))
    done = g.ctx.run("sh", "-ec", command, kubeconfig=g.config if drains else reader(g),
                     env={"PATH": f"{bin}:{os.environ['PATH']}"})
    assert done.returncode == 0, f"{command}: status {done.returncode}\n{done.stdout}-- stderr:\n{done.stderr}"


def back(g: Ground, number: int = 0) -> None:
    g.ctx.run(g.ctx.slipway, "uncordon", g.nodes[number], kubeconfig=g.config, check=True)


def changing(fix: dict) -> bool:
    """One that does something, and not only helps to look."""
    command = fix.get("command", "")
    return bool(command) and not command.startswith("slipway why") and " get pod " not in command and " describe " not in command


def each_fix_helps(ctx: Context, cause: str, make: Callable[[Ground], None], expected: int, refused: int = BLOCKED, deletes: bool = False,
                   effect: str = "never") -> None:
    for turn in range(expected):
        with Ground(ctx, deletes=deletes) as g:
            make(g)
            said = only(g, cause)
            assert said["effect"] == effect and g.nodes[0] in said["nodes"], said
            assert g.nodes[0] in examine(g)["blockedNodes"]
            fixes = [f for f in said["fixes"] if changing(f)]
            assert len(fixes) == expected, said["fixes"]
            assert all(f["risk"] in ("none", "low", "service", "data") and (f["risk"] == "none" or f["cost"]) for f in said["fixes"])
            if refused == BLOCKED:
                g.blocked(g.nodes[0], seconds=SOON)
            else:
                g.drain(g.nodes[0], code=refused)
            back(g)
            paste(g, fixes[turn]["command"])
            if not fixes[turn]["command"].startswith("slipway drain"):
                g.drain(g.nodes[0])
            assert not [p for p in g.pods(0) if not p["metadata"].get("deletionTimestamp")], (fixes[turn], g.names(0))


def strange(g: Ground) -> None:
    """A pod on each node, of a controller that nobody can ask for its number; nor does it make any anew."""
    for name, node in zip(("a", "b"), g.nodes):
        g.create(owned(pod(name, g.ns, {"app": "odd"}, nodeName=node), "example.com/v1", "Odd", "odd"))
    g.ready(2)


# -- budgets -----------------------------------------------------------------------------------------------------------


@limit(240)
def test_budgets_that_never_allow(ctx: Context) -> None:
    def zero(g: Ground) -> None:
        g.place(0, deployment("web", g.ns, 2, **g.here))
        g.budget("web", {"app": "web"}, maxUnavailable=0, status={"currentHealthy": 2})

    def whole(g: Ground) -> None:
        g.place(0, deployment("web", g.ns, 2, **g.here))
        g.budget("web", {"app": "web"}, minAvailable=2, status={"currentHealthy": 2})

    def percent(g: Ground) -> None:
        g.place(0, deployment("web", g.ns, 2, **g.here))
        g.budget("web", {"app": "web"}, minAvailable="100%", status={"currentHealthy": 2})

    def foreign(g: Ground) -> None:
        strange(g)
        g.budget("odd", {"app": "odd"}, minAvailable=2, status={"currentHealthy": 2})

    each_fix_helps(ctx, "max-unavailable-zero", zero, 1)
    each_fix_helps(ctx, "min-available-all", whole, 2)
    each_fix_helps(ctx, "min-available-all", percent, 1)
    each_fix_helps(ctx, "min-available-all", foreign, 1)


@limit(180)
def test_single_replicas(ctx: Context) -> None:
    def single(g: Ground) -> None:
        g.place(0, deployment("solo", g.ns, 1, **g.here))
        g.budget("solo", {"app": "solo"}, minAvailable=1, status={"currentHealthy": 1})
    each_fix_helps(ctx, "single-replica", single, 3)


@limit(180)
def test_other_budgets(ctx: Context) -> None:
    def failed(g: Ground) -> None:
        strange(g)
        made = g.api.create(budget("odd", g.ns, {"app": "odd"}, maxUnavailable=1))

        def noticed() -> bool:
            return any(c["reason"] == "SyncFailed" for c in g.api.get(object_path(made)).get("status", {}).get("conditions", []))
        ctx.wait_for(noticed, 30, "the controller to give up")

    def twice(g: Ground) -> None:
        g.place(0, deployment("web", g.ns, 2, **g.here))
        g.budget("one", {"app": "web"}, maxUnavailable=1, status={"currentHealthy": 2})
        g.budget("two", {"app": "web"}, minAvailable=1)
    each_fix_helps(ctx, "budget-not-computed", failed, 1)
    each_fix_helps(ctx, "overlapping-budgets", twice, 1)


@limit(120)
def test_a_budget_that_counts_no_pods(ctx: Context) -> None:
    """Of pods without a controller the disruption controller expects none, and so allows none, healthy as they are."""
    with Ground(ctx) as g:
        for name, node in zip(("a", "b"), g.nodes):
            g.create(pod(name, g.ns, {"app": "bare"}, nodeName=node))
        g.ready(2)
        g.budget("bare", {"app": "bare"}, maxUnavailable=1, status={"currentHealthy": 2, "expectedPods": 0, "disruptionsAllowed": 0})
        said = only(g, "counts-no-pods")
        assert said["effect"] == "never" and set(g.nodes) <= set(said["nodes"]), said
        g.blocked(g.nodes[0], "--force", seconds=SOON)
        back(g)
        paste(g, next(f["command"] for f in said["fixes"] if changing(f)))
        g.drain(g.nodes[0], "--force")


def apart(g: Ground) -> tuple[str, str]:
    """Two replicas, one on each node: their names."""
    g.place(0, deployment("web", g.ns, 1, **g.here))
    with g.only(1):
        g.api.patch(f"/apis/apps/v1/namespaces/{g.ns}/deployments/web", {"spec": {"replicas": 2}})
        g.ready(1, 1)
    return g.names(0)[0], g.names(1)[0]


@limit(180)
def test_pods_that_are_not_ready(ctx: Context) -> None:
    def unhealthy(g: Ground) -> None:
        for name in apart(g):
            g.set_ready(name, False)
        g.budget("web", {"app": "web"}, minAvailable=1, status={"currentHealthy": 0, "desiredHealthy": 1, "expectedPods": 2})

    def short(g: Ground) -> None:
        g.set_ready(apart(g)[1], False)
        g.budget("web", {"app": "web"}, maxUnavailable=1, status={"currentHealthy": 1, "desiredHealthy": 1, "disruptionsAllowed": 0})
    each_fix_helps(ctx, "unhealthy-held", unhealthy, 1, effect="waits")
    each_fix_helps(ctx, "nothing-to-spare", short, 1, effect="waits")


def test_a_budget_without_pods(ctx: Context) -> None:
    with Ground(ctx, nodes=1) as g:
        g.budget("old", {"app": "gone"}, maxUnavailable=0)
        said = only(g, "selects-nothing")
        assert said["effect"] == "remark" and said["nodes"] == [] and said["pods"] == 0, said
        assert g.nodes[0] not in examine(g)["blockedNodes"]
        paste(g, said["fixes"][0]["command"])
        assert "selects-nothing" not in findings(g)
        g.drain(g.nodes[0])


# -- workloads ---------------------------------------------------------------------------------------------------------


@limit(180)
def test_pods_that_need_a_flag(ctx: Context) -> None:
    def bare(g: Ground) -> None:
        g.create(pod("bare", g.ns, nodeName=g.nodes[0]))
        g.ready(1, 0)

    def data(g: Ground) -> None:
        g.place(0, deployment("tmp", g.ns, 1, **g.here, **EMPTY_DIR))

    def both(g: Ground) -> None:
        bare(g)
        data(g)
    each_fix_helps(ctx, "bare-pod", bare, 1, refused=FAILED, effect="refused")
    each_fix_helps(ctx, "empty-dir", data, 1, refused=FAILED, effect="refused")
    each_fix_helps(ctx, "bare-pod", both, 1, refused=FAILED, effect="refused")
    with Ground(ctx, nodes=1) as g:
        bare(g)
        copy = next(f["command"] for f in only(g, "bare-pod")["fixes"] if " get pod " in f["command"])
        paste(g, copy)
        assert "name: bare" in (ctx.tmp / "bare.yaml").read_text()


@limit(180)
def test_pods_with_marks_and_finalizers(ctx: Context) -> None:
    def marked(g: Ground) -> None:
        g.place(0, merged(deployment("job", g.ns, 1, **g.here),
                          {"spec": {"template": {"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}}}}))

    def awaited(g: Ground) -> None:
        g.place(0, merged(deployment("job", g.ns, 1, **g.here),
                          {"spec": {"template": {"metadata": {"labels": {"cluster.x-k8s.io/drain": "wait-completed"}}}}}))
    each_fix_helps(ctx, "do-not-disrupt", marked, 1, effect="waits")
    each_fix_helps(ctx, "wait-completed", awaited, 1, effect="waits")
    with Ground(ctx, nodes=1) as g:
        g.create(held(g, 0))
        g.ready(1, 0)
        g.api.delete(g.path("held"))
        later = {"SLIPWAY_FAKE_NOW": (datetime.now(timezone.utc) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")}
        said = only(g, "finalizer-stuck", env=later)
        assert "slipway.dev/test" in said["message"] and said["object"]["name"] == "held", said
        g.blocked(g.nodes[0], "--force", seconds=SOON)
        paste(g, next(f for f in said["fixes"] if changing(f))["command"])
        g.drain(g.nodes[0], "--force")


@limit(120)
def test_templates_that_tie_pods_to_a_node(ctx: Context) -> None:
    def pinned(g: Ground) -> None:
        g.create(stateful_set("pinned", g.ns, 1, nodeName=g.nodes[0]))
        g.ready(1, 0)
    with Ground(ctx) as g:
        pinned(g)
        said = only(g, "pinned")
        assert said["effect"] == "never" and said["nodes"] == [g.nodes[0]], said
        paste(g, said["fixes"][0]["command"])
        ctx.wait_for(lambda: "pinned" not in findings(g), 30, "a pod that is not pinned any more")
        g.drain(g.nodes[0])
    with Ground(ctx) as g:
        g.create(deployment("web", g.ns, 1, **g.here, tolerations=[{"key": "other", "operator": "Exists"}, {"operator": "Exists"}]))
        g.ready(1)
        said = only(g, "tolerates-cordon")
        assert said["effect"] == "waits", said
        paste(g, said["fixes"][0]["command"])
        kept = g.api.get(f"/apis/apps/v1/namespaces/{g.ns}/deployments/web")["spec"]["template"]["spec"]["tolerations"]
        assert kept == [{"key": "other", "operator": "Exists"}], kept
        ctx.wait_for(lambda: "tolerates-cordon" not in findings(g), 30, "pods without the toleration")
        here = g.nodes.index(g.ready(1)[0]["spec"]["nodeName"])
        g.drain(g.nodes[here])
        g.ready(1, 1 - here)


@limit(120)
def test_a_stateful_set_that_is_stuck(ctx: Context) -> None:
    """Its first pod is not ready and of an earlier revision: the second one does not come back, until the first is made anew."""
    with Ground(ctx) as g:
        made = merged(stateful_set("db", g.ns, 2, **g.here), {"spec": {"podManagementPolicy": "OrderedReady", "updateStrategy": {
            "type": "RollingUpdate", "rollingUpdate": {"partition": 2}}}})
        with g.only(1):
            g.create(merged(made, {"spec": {"replicas": 1}}))
            g.ready(1, 1)
        path = f"/apis/apps/v1/namespaces/{g.ns}/statefulsets/db"
        with g.only(0):
            g.api.patch(path, {"spec": {"replicas": 2}})
            g.ready(1, 0)
        g.api.patch(path, {"spec": {"template": {"metadata": {"annotations": {"new": "revision"}}}}})
        g.set_ready("db-0", False)

        def noticed() -> bool:
            status = g.api.get(path)["status"]
            return status.get("readyReplicas") == 1 and status["updateRevision"] != status["currentRevision"]
        ctx.wait_for(noticed, 30, "the set to see it")
        said = only(g, "ordered-stuck")
        assert (said["effect"], said["nodes"], said["pods"], said["example"]) == ("down", [g.nodes[0]], 1, "db-0"), said
        fix = next(f for f in said["fixes"] if changing(f))
        assert fix["command"] == f"kubectl -n {g.ns} delete pod db-0", fix
        g.drain(g.nodes[0])
        # The set has seen that it is gone, and stops at the pod that is not ready.
        ctx.wait_for(lambda: g.api.get(path)["status"]["replicas"] == 1, 20, "the set to see that its second pod is gone")
        assert g.names() == ["db-0"], g.names()
        paste(g, fix["command"])
        g.ready(2, 1)
        assert "ordered-stuck" not in findings(g)


@limit(120)
def test_no_room_and_local_volumes(ctx: Context) -> None:
    """The drain ends, and the pods stay Pending: with the scheduler's own words, and until the node is back."""
    def refused(g: Ground) -> str:
        return next((c["message"] for p in g.pods() for c in p["status"].get("conditions", []) if c.get("reason") == "Unschedulable"), "")
    with Ground(ctx) as g:
        cpu = int(g.node()["status"]["allocatable"]["cpu"])
        big = deployment("big", g.ns, 1, **g.here)
        big["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": f"{600 * cpu}m"}}
        g.place(0, big)
        full = merged(big, {"metadata": {"name": "full"}})
        g.place(1, full | {"spec": full["spec"] | {"selector": {"matchLabels": {"app": "full"}},
                                                   "template": merged(full["spec"]["template"], {"metadata": {"labels": {"app": "full"}}})}})
        found = findings(g)["no-room"]
        assert sorted(f["object"]["name"] for f in found) == ["big", "full"] and {f["effect"] for f in found} == {"down"}, found
        words = next(f["message"] for f in found if f["object"]["name"] == "big")
        g.drain(g.nodes[0])
        ctx.wait_for(lambda: refused(g).startswith(words), 30, f"the scheduler to say {words}")
    with Ground(ctx) as g:
        name = f"local-{g.ns}"
        here = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [g.nodes[0]]}]}]
        volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
                  "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "local": {"path": "/d"},
                           "claimRef": {"namespace": g.ns, "name": "data"}, "storageClassName": "none",
                           "nodeAffinity": {"required": {"nodeSelectorTerms": here}}}}
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": g.ns},
                 "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "none", "volumeName": name,
                          "resources": {"requests": {"storage": "1Gi"}}}}
        g.create(volume, claim)
        ctx.undo(lambda: g.api.delete(object_path(volume)))
        g.create(deployment("db", g.ns, 1, **g.here, volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]))
        g.ready(1, 0)
        said = only(g, "local-volume")
        assert said["nodes"] == [g.nodes[0]] and said["effect"] == "down" and "comes back with its disk" in said["fixes"][0]["text"], said
        g.drain(g.nodes[0])
        ctx.wait_for(lambda: refused(g), 30, "the successor without a node")
        back(g)
        g.ready(1, 0)


@limit(180)
def test_a_budget_that_runs_dry(ctx: Context) -> None:
    """Three pods, one disruption, and no room for the first replacement."""
    def dry(g: Ground) -> None:
        cpu = int(g.node()["status"]["allocatable"]["cpu"])

        def sized(name: str, replicas: int, milli: int) -> dict:
            made = deployment(name, g.ns, replicas, **g.here)
            made["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": f"{milli * cpu}m"}}
            return made
        g.place(0, sized("web", 3, 250))
        g.place(1, sized("full", 1, 900))
        g.budget("web", {"app": "web"}, maxUnavailable=1, status={"currentHealthy": 3, "disruptionsAllowed": 1})
    with Ground(ctx) as g:
        dry(g)
        said = only(g, "budget-runs-dry")
        assert (said["effect"], said["pods"], said["nodes"]) == ("never", 2, [g.nodes[0]]), said
        assert g.nodes[0] in examine(g)["blockedNodes"] and "fits nowhere" in said["message"], said
        fix = next(f for f in said["fixes"] if changing(f))
        g.blocked(g.nodes[0], seconds=SOON)
        paste(g, fix["command"])
        g.drain(g.nodes[0])


@limit(180)
def test_a_node_that_does_not_answer(ctx: Context) -> None:
    """The same code in doctor, status and why; and the taint that is advised lets its pods go."""
    with Ground(ctx) as g:
        g.place(1, deployment("web", g.ns, 1, **g.here))
        lose(g, 1)
        group = next(x for x in examine(g)["groups"] if x["cause"] == "node-unreachable")
        said = next(f for f in group["findings"] if f["object"] == {"kind": "Node", "name": g.nodes[1]})
        assert (group["code"], group["effect"], said["pods"], said["nodes"]) == ("NodeUnreachable", "waits", 1, [g.nodes[1]]), group
        shown = g.ctx.run(g.ctx.slipway, "status", g.nodes[1], "-o", "json", kubeconfig=reader(g), check=True).stdout
        assert [(b["code"], b["pods"]) for b in json.loads(shown)["items"][0]["blockers"]] == [("NodeUnreachable", 1)], shown


@limit(180)
def test_what_a_killed_drain_leaves_behind(ctx: Context) -> None:
    """Cordon and marks are named in doctor and status, and what is advised takes them away."""
    def shown(g: Ground, at: dict[str, str]) -> list[dict]:
        return json.loads(g.ctx.run(g.ctx.slipway, "status", *g.nodes, "-o", "json", kubeconfig=reader(g), env=at, check=True).stdout)["leftBehind"]

    def marked(g: Ground) -> list[str]:
        return [name for i, name in enumerate(g.nodes) if any(t["key"] == "slipway.dev/next" for t in g.node(i)["spec"].get("taints", []))]

    def cordoned(g: Ground) -> list[str]:
        return [name for i, name in enumerate(g.nodes) if g.node(i)["spec"].get("unschedulable")]
    with Ground(ctx) as g:
        for i, name in enumerate(("web", "api")):
            g.place(i, deployment(name, g.ns, 1, **g.here))
            g.budget(name, {"app": name}, maxUnavailable=0)
        child = g.begin(*g.nodes, "--max-unavailable=1")
        g.hears(child, "PDBUnsatisfiable")
        ctx.wait_for(lambda: marked(g) and cordoned(g), 30, "a node that is drained, and one to come")

        def recorded() -> bool:
            """Its conditions are written beside the drain: without them it is only a cordon."""
            i = g.nodes.index(cordoned(g)[0])
            return any((c["type"], c["status"]) == ("DrainInProgress", "True") for c in g.node(i)["status"]["conditions"])
        ctx.wait_for(recorded, 30, "the condition of the drain")
        child.kill()
        drained, to_come = cordoned(g), marked(g)
        assert len(drained) == len(to_come) == 1 and shown(g, {}) == [], (drained, to_come)
        later = {"SLIPWAY_FAKE_NOW": (datetime.now(timezone.utc) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")}
        left = shown(g, later)
        assert [(x["what"], x["nodes"]) for x in left] == [("drain", drained), ("mark", to_come)] or \
            [(x["what"], x["nodes"]) for x in left] == [("mark", to_come), ("drain", drained)], left
        said = g.ctx.run(g.ctx.slipway, "doctor", "--all", kubeconfig=reader(g), env=later).stdout
        for one in left:
            assert one["command"] in said, (one, said)
            paste(g, one["command"])
        assert not marked(g) and not cordoned(g) and shown(g, later) == []


# -- manners -----------------------------------------------------------------------------------------------------------


def test_formats_and_exit_codes(ctx: Context) -> None:
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 1, **g.here))
        g.budget("web", {"app": "web"}, maxUnavailable=0)
        text = doctor(g, "--all").stdout
        assert f"    {g.ns}/web: maxUnavailable 0, needs 1 healthy of 1, has 1, allows 0\n" in text, text
        assert f"\n        kubectl -n {g.ns} patch pdb web --type=merge -p '{{\"spec\":{{\"maxUnavailable\":1}}}}'\n" in text, text
        assert f"poddisruptionbudget/{g.ns}/web" in doctor(g, "-o", "name").stdout.splitlines()
        row = next(line for line in doctor(g, "-o", "wide").stdout.splitlines() if f"{g.ns}/web" in line)
        assert "max-unavailable-zero" in row and g.nodes[0] in row and "kubectl -n" in row, row
        assert doctor(g, "-o", "jsonpath={.schema}").stdout == "slipway.doctor/1.3"
        doctor(g, "--detailed-exitcode", code=BLOCKED)


def test_what_is_read(ctx: Context) -> None:
    """By the server's own log: which kinds there are, and lists, each once; nothing is written."""
    with Ground(ctx, nodes=1) as g:
        config = g.cluster.kubeconfig(user=ctx.unique("doctor"), groups=["system:masters"])
        mark = g.cluster.audit.mark()
        doctor(g, config=config)
        asked = [e for e in g.cluster.audit.requests(mark) if e["user"]["username"].startswith("doctor-") and "slipway" in e.get("userAgent", "")]
        uris = [e["requestURI"] for e in asked]
        assert len(uris) == len(set(uris)), sorted(uris)
        found = [u for e, u in zip(asked, uris) if e["verb"] == "get"]  # discovery
        assert all(re.fullmatch(r"/apis?(/[\w./-]+)?(\?.*)?", u) for u in found), found
        lists = [e for e in asked if e["verb"] != "get"]
        assert {e["verb"] for e in lists} == {"list"}, asked
        assert {e["objectRef"]["resource"] for e in lists} == {
            "nodes", "pods", "poddisruptionbudgets", "replicasets", "deployments", "statefulsets", "persistentvolumes",
            "persistentvolumeclaims", "storageclasses", "csinodes", "volumeattachments", "namespaces", "jobs", "resourcequotas",
            "serviceaccounts"}, uris


def test_who_may_not_read_everything(ctx: Context) -> None:
    """Without owners and volumes there is an answer with remarks; without the budgets there is none."""
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 1, **g.here))
        g.budget("web", {"app": "web"}, maxUnavailable=0)
        few = g.user(READ[0] | {"resources": ["nodes", "pods"]}, READ[1])
        done = doctor(g, "-o", "json", config=few)
        found = [f for x in json.loads(done.stdout)["groups"] for f in x["findings"] if f["object"].get("namespace") == g.ns]
        assert [f["object"]["name"] for f in found] == ["web"], found
        for what in ("deployments", "persistentvolumes", "namespaces"):
            assert f"cannot list {what}" in done.stderr, done.stderr
        done = doctor(g, config=g.user(READ[0]), code=ACCESS)
        assert "cannot list poddisruptionbudgets" in done.stderr and done.stdout == "", done
