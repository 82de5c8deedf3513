"""`slipway why` on a real cluster: the usual dozen of reasons why a drain does not end.

The judges are the real scheduler, the real controllers and the server's audit log: the words that are passed on are theirs, what is
advised is tried, and nothing is written or read that is not needed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from api import object_path
from context import Context, limit
from drain_ground import BLOCKED, Ground
from drain_objects import EMPTY_DIR, READ, held, lose, owned, stateful_set
from objects import budget, config_map, deployment, pod
from shape import merged

FREE, FAILED = 0, 1


def reader(g: Ground) -> Path:
    """Somebody whose reading is not judged as that of a drain."""
    return g.cluster.kubeconfig(user="why-reader", groups=["system:masters"])


def why(g: Ground, target: str, *arguments: str, code: int = BLOCKED, kubeconfig: Path | None = None) -> dict:
    done = g.ctx.run(g.ctx.slipway, "why", target, *arguments, "-o", "json", kubeconfig=kubeconfig or reader(g))
    assert done.returncode == code, f"why {target}: status {done.returncode}, not {code}\n{done.stdout}-- stderr:\n{done.stderr}"
    found = json.loads(done.stdout)
    assert found["schema"] == "slipway.why/1.0"
    return found


def text(g: Ground, target: str, code: int = BLOCKED) -> str:
    done = g.ctx.run(g.ctx.slipway, "why", target, kubeconfig=reader(g))
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    for line in done.stdout.splitlines():
        assert len(line) <= 80 or " " not in line.strip(), line
    return done.stdout


def link(found: dict, code: str) -> dict:
    there = [x for x in found["links"] if x.get("code") == code]
    assert len(there) == 1, f"{code}: {json.dumps(found, indent=1)}"
    return there[0]


def commands(of: dict) -> str:
    return "\n".join(r.get("command", "") for r in of["remedies"])


def cause(of: dict, pattern: str) -> dict:
    there = [c for c in of.get("causes", []) if re.search(pattern, c["message"])]
    assert there, f"/{pattern}/ in {json.dumps(of, indent=1)}"
    return there[0]


def sick(g: Ground, name: str, **state: object) -> None:
    """A pod whose container is in that state, as a kubelet would report it."""
    status = {"conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}],
              "containerStatuses": [{"name": "main", "image": "registry.test/app:1", "imageID": "", "ready": False, "restartCount": 0} | state]}
    g.api.patch(g.path(name) + "/status", {"status": status}, "strategic")


def with_a_sick_one(g: Ground, **state: object) -> tuple[dict, str]:
    """Two replicas on two nodes, one of which is sick, and a budget that allows one: what is said of the other's node."""
    g.place(0, deployment("web", g.ns, 1, **g.here))
    with g.only(1):
        g.api.patch(f"/apis/apps/v1/namespaces/{g.ns}/deployments/web", {"spec": {"replicas": 2}})
        name = g.ready(1, 1)[0]["metadata"]["name"]
    sick(g, name, **state)
    g.budget("web", {"app": "web"}, maxUnavailable=1, status={"currentHealthy": 1, "desiredHealthy": 1, "disruptionsAllowed": 0})
    return link(why(g, g.nodes[0]), "PDBNoBudget"), name


# -- budgets and what is wrong with their pods ------------------------------------------------------------------------


def test_a_replica_without_a_node(ctx: Context) -> None:
    """The scheduler's own message, and how much is missing where: not on the node that is to be emptied."""
    with Ground(ctx, nodes=2) as g:
        cpu = int(g.node()["status"]["allocatable"]["cpu"])
        for number, name in enumerate(("web", "other")):
            big = deployment(name, g.ns, 1, **g.here)
            big["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": f"{600 * cpu}m"}}
            g.place(number, big)
        g.api.patch(f"/apis/apps/v1/namespaces/{g.ns}/deployments/web", {"spec": {"replicas": 2}})

        def refused() -> dict | None:
            return next((c for p in g.pods() for c in p["status"].get("conditions", []) if c.get("reason") == "Unschedulable"), None)
        ctx.wait_for(refused, 30, "the scheduler to say no")
        g.budget("web", {"app": "web"}, maxUnavailable=1, status={"currentHealthy": 1, "desiredHealthy": 1, "disruptionsAllowed": 0})

        def told() -> tuple[dict, str]:
            """The scheduler counts the nodes of the test before until it hears that they are gone: then it says the same of fewer."""
            said, found = refused()["message"], link(why(g, g.nodes[0]), "PDBNoBudget")
            first = said.split(". no new claims")[0].split(". preemption")[0].rstrip(".")
            assert cause(found, "^Pending: 0/")["message"] == f"Pending: {first}", (found, said)
            return found, first
        found, first = ctx.wait_for(told, 30, "the scheduler's own message")
        assert found["object"] == f"{g.ns}/web" and found["pods"] == 1, found
        pending = cause(found, "^Pending: 0/")
        assert "Insufficient cpu" in first
        room = cause(pending, "too full; the nearest is")
        assert f"the nearest is {g.nodes[1]}: " in room["message"] and "cpu more would do" in room["message"], room
        missing = re.search(r": (\d+)(m?) cpu more", room["message"])
        assert int(missing[1]) * (1 if missing[2] else 1000) == 200 * cpu, (room, cpu)
        waiting = next(p["metadata"]["name"] for p in g.pods() if not p["spec"].get("nodeName"))
        of_pod = why(g, f"{g.ns}/{waiting}")
        assert of_pod["summary"] == "has no node" and of_pod["links"][0]["message"] == f"Pending: {first}", of_pod
        assert cause(of_pod["links"][0], f"a drain of {g.nodes[0]} would wait for it")["code"] == "PDBNoBudget"
        assert text(g, f"{g.ns}/{waiting}").startswith(f"pod/{g.ns}/{waiting}: has no node\n")


def test_a_crash_loop(ctx: Context) -> None:
    with Ground(ctx) as g:
        end = {"exitCode": 137, "reason": "OOMKilled", "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:01Z"}
        found, name = with_a_sick_one(g, restartCount=7, state={"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
                                      lastState={"terminated": end})
        because = cause(found, "crashes again and again: 7 restarts, last exit code 137 \\(OOMKilled\\)")
        assert because["object"] == f"{g.ns}/{name}", because
        assert f"kubectl -n {g.ns} logs {name} -c main --previous" in commands(found)
        assert "scale" not in commands(found), "a second copy of what crashes would crash too"
        found = why(g, f"{g.ns}/{name}")
        assert found["links"][0]["message"].startswith("container main crashes"), found
        assert cause(found["links"][0], f"a drain of {g.nodes[0]} would wait for it")


def test_an_image_that_cannot_be_pulled(ctx: Context) -> None:
    with Ground(ctx) as g:
        found, name = with_a_sick_one(g, state={"waiting": {"reason": "ImagePullBackOff", "message": "not found"}})
        because = cause(found, "^image registry.test/app:1 cannot be pulled: ImagePullBackOff, not found")
        assert because["object"] == f"{g.ns}/{name}", because
        assert f"kubectl -n {g.ns} describe pod {name}" in commands(found)


def test_a_budget_that_never_allows_and_what_helps(ctx: Context) -> None:
    """What is advised is done, and then the eviction goes through."""
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 2, **g.here))
        g.budget("web", {"app": "web"}, minAvailable=2, status={"currentHealthy": 2, "disruptionsAllowed": 0})
        found = why(g, g.nodes[0])
        assert found["state"] == "blocked" and "never end" in found["summary"], found
        of = link(found, "PDBUnsatisfiable")
        assert of["pods"] == 2 and of["remedies"][0]["command"] == f"kubectl -n {g.ns} scale deployment web --replicas=3", of
        g.cluster.kubectl(*of["remedies"][0]["command"].split()[1:])
        g.ready(3, app="web")
        ctx.wait_for(lambda: why_free(g, g.nodes[0]), 30, "a budget that allows one")


def why_free(g: Ground, target: str) -> bool:
    return g.ctx.run(g.ctx.slipway, "why", target, kubeconfig=reader(g)).returncode == FREE


def test_two_budgets(ctx: Context) -> None:
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 2, **g.here))
        g.budget("web", {"app": "web"}, maxUnavailable=1)
        g.create(budget("every", g.ns, {"app": "web"}, maxUnavailable=2))
        ctx.wait_for(lambda: "MultiplePDBs" in text_or(g, g.nodes[0]), 30, "both to be looked at")
        of = link(why(g, g.nodes[0]), "MultiplePDBs")
        assert of["pods"] == 2 and {c["object"] for c in of["causes"]} == {f"{g.ns}/web", f"{g.ns}/every"}, of
        assert re.search(rf"kubectl -n {g.ns} delete pdb (every|web)$", commands(of), re.M), of


def text_or(g: Ground, target: str) -> str:
    return g.ctx.run(g.ctx.slipway, "why", target, kubeconfig=reader(g)).stdout


# -- pods --------------------------------------------------------------------------------------------------------------


def test_pods_that_need_a_flag(ctx: Context) -> None:
    """Without controllers, which would collect the orphan."""
    with Ground(ctx, still=True) as g:
        g.create(pod("bare", g.ns, nodeName=g.nodes[0]), pod("scratch", g.ns, nodeName=g.nodes[0], **EMPTY_DIR),
                 owned(pod("orphan", g.ns, nodeName=g.nodes[0]), "apps/v1", "DaemonSet", "gone"))
        g.ready(3, 0)
        found = why(g, g.nodes[0])
        assert found["podsToMove"] == 3 and "be refused" in found["summary"], found
        bare = [x for x in found["links"] if x["code"] == "BarePod"]
        assert sorted(x["pods"] for x in bare) == [1, 2], bare
        assert any("DaemonSet gone is gone" in x["message"] for x in bare), bare
        advised = next(r["command"] for x in bare for r in x["remedies"] if r.get("command", "").startswith("slipway drain"))
        assert advised == f"slipway drain {g.nodes[0]} --force --delete-emptydir-data"
        assert link(found, "LocalStorage")["pods"] == 1
        g.drain(*advised.split()[2:])
        assert why(g, g.nodes[0], code=FREE)["podsToMove"] == 0


def test_a_pinned_stateful_set(ctx: Context) -> None:
    with Ground(ctx) as g:
        g.create(stateful_set("pinned", g.ns, 1, nodeName=g.nodes[0]))
        g.ready(1, 0)
        of = link(why(g, g.nodes[0]), "PinnedToNode")
        assert of["example"] == f"{g.ns}/pinned-0" and "statefulset pinned" in of["message"], of
        patch = re.search(rf"kubectl -n {g.ns} patch statefulset pinned --type=json -p '(.*)'", commands(of))[1]
        g.cluster.kubectl("-n", g.ns, "patch", "statefulset", "pinned", "--type=json", "-p", patch)
        ctx.wait_for(lambda: why_free(g, g.nodes[0]), 30, "a pod that is not pinned any more")


def planned(g: Ground) -> dict[str, int]:
    """The codes of a plan to drain the first node, with the number of their pods."""
    done = g.ctx.run(g.ctx.slipway, "plan", "drain", g.nodes[0], "-o", "json", kubeconfig=reader(g))
    plan = json.loads(done.stdout)
    codes = [p["blocker"]["code"] for n in plan["nodes"] for p in n["pods"] if "blocker" in p]
    return {code: codes.count(code) for code in codes}


def test_a_local_volume(ctx: Context) -> None:
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
        mount = {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]}
        g.create(deployment("db", g.ns, 1, **g.here, **mount))
        g.ready(1, 0)
        found = why(g, g.nodes[0])
        of = found["links"][0]
        assert of["code"] == "LocalPV" and name in of["message"] and "Pending until the node is back" in of["message"], found
        # With the question of room it is the same link, once, and a plan has the same code.
        found = why(g, g.nodes[0], "--room")
        assert [(x["code"], x["pods"]) for x in found["links"]] == [("LocalPV", 1)], found
        assert planned(g) == {"LocalPV": 1}
        # It is so: without the node its successor finds none.
        g.drain(g.nodes[0])

        def homeless() -> bool:
            return any(c.get("reason") == "Unschedulable" for p in g.pods() for c in p["status"].get("conditions", []))
        ctx.wait_for(homeless, 30, "the successor without a node")
        successor = g.names()[0]
        of = why(g, f"{g.ns}/{successor}")["links"][0]
        assert "volume" in of["message"].lower() or "unschedulable" in of["message"], of
        assert f"slipway uncordon {g.nodes[0]}" in commands(of), of


def test_finalizers(ctx: Context) -> None:
    with Ground(ctx) as g:
        g.create(held(g, 0))
        g.ready(1, 0)
        g.api.delete(g.path("held"))
        g.api.patch(g.path("held") + "/status", {"status": {"phase": "Succeeded"}})
        of = link(why(g, g.nodes[0]), "FinalizerStuck")
        assert "slipway.dev/test" in of["message"] and "since" in of, of
        assert f"kubectl -n {g.ns} patch pod held --type=merge -p '{{\"metadata\":{{\"finalizers\":null}}}}'" in commands(of)
        assert link(why(g, f"{g.ns}/held"), "FinalizerStuck")


def test_a_namespace_that_is_being_deleted(ctx: Context) -> None:
    """Without controllers nobody empties it: its pods are still there and cannot be evicted."""
    with Ground(ctx, still=True) as g:
        made = g.create(pod("a", g.ns, nodeName=g.nodes[0]), config_map("kept", g.ns))[0]
        ctx.wait_for(lambda: g.ready(1, 0), 30, "the pod")
        g.api.delete(f"/api/v1/namespaces/{g.ns}")
        of = link(why(g, g.nodes[0]), "NamespaceTerminating")
        assert of["object"] == g.ns and of["severity"] == "info" and "since" in of, of
        assert made["metadata"]["name"] == "a"


def test_a_mark(ctx: Context) -> None:
    with Ground(ctx) as g:
        marked = merged(deployment("job", g.ns, 1, **g.here),
                        {"spec": {"template": {"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}}}})
        g.place(0, marked)
        of = link(why(g, g.nodes[0]), "DoNotDisrupt")
        name = g.names(0)[0]
        assert f"kubectl -n {g.ns} annotate pod {name} karpenter.sh/do-not-disrupt-" in commands(of), of
        g.cluster.kubectl("-n", g.ns, "annotate", "pod", name, "karpenter.sh/do-not-disrupt-")
        assert why(g, g.nodes[0], code=FREE)["links"] == []


# -- nodes -------------------------------------------------------------------------------------------------------------


@limit(180)
def test_a_node_that_does_not_answer(ctx: Context) -> None:
    with Ground(ctx) as g:
        g.place(1, deployment("web", g.ns, 1, **g.here))
        lose(g, 1)
        of = link(why(g, g.nodes[1]), "NodeUnreachable")
        assert of["pods"] == 1 and "NodeStatusUnknown" in of["message"] and "since" in of, of
        assert [r["risk"] for r in of["remedies"]] == ["none", "data"], of
        g.budget("web", {"app": "web"}, maxUnavailable=0)
        found = why(g, f"{g.ns}/{g.names(1)[0]}")
        assert "which does not answer" in found["summary"] and link(found, "NodeUnreachable"), found


def test_no_room(ctx: Context) -> None:
    """Only when asked for: then the pods find no place, and after a real drain the scheduler says the same."""
    with Ground(ctx) as g:
        cpu = int(g.node()["status"]["allocatable"]["cpu"])
        big = deployment("web", g.ns, 1, **g.here)
        big["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": f"{600 * cpu}m"}}
        g.place(0, big)
        full = deployment("full", g.ns, 1, **g.here)
        full["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": f"{600 * cpu}m"}}
        g.place(1, full)
        assert why(g, g.nodes[0], code=FREE)["links"] == []
        found = why(g, g.nodes[0], "--room")
        assert found["summary"] == "a drain would leave its one pod without a node", found
        assert found["links"][0]["code"] == "CapacityInsufficient", found
        expected = found["links"][0]["message"].partition("Pending: ")[2]
        g.drain(g.nodes[0])

        def refused() -> dict | None:
            return next((c for p in g.pods() for c in p["status"].get("conditions", []) if c.get("reason") == "Unschedulable"), None)
        ctx.wait_for(lambda: (refused() or {}).get("message", "").startswith(expected), 30, f"the scheduler to say {expected}")


def test_a_budget_that_runs_dry(ctx: Context) -> None:
    """The first of three goes and stays Pending, and the budget has nothing left: a plan says so, and a drain finds it so."""
    with Ground(ctx) as g:
        cpu = int(g.node()["status"]["allocatable"]["cpu"])

        def sized(name: str, replicas: int, milli: int) -> dict:
            made = deployment(name, g.ns, replicas, **g.here)
            made["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": f"{milli * cpu}m"}}
            return made
        g.place(0, sized("web", 3, 250))
        g.place(1, sized("full", 1, 900))
        g.budget("web", {"app": "web"}, maxUnavailable=1, status={"currentHealthy": 3, "disruptionsAllowed": 1})
        assert why(g, g.nodes[0], code=FREE)["links"] == []
        found = why(g, g.nodes[0], "--room")
        assert found["state"] == "blocked" and found["summary"] == "a drain would never end: 2 of its 3 pods can never go", found
        dry, room = link(found, "PDBNoBudget"), link(found, "CapacityInsufficient")
        assert (dry["pods"], dry["clears"], dry["severity"], room["pods"]) == (2, "operator", "error", 1), found
        assert room["example"].rpartition("/")[2] in dry["message"] and dry["object"] == f"{g.ns}/web", found
        assert planned(g) == {"PDBNoBudget": 2, "CapacityInsufficient": 1}
        g.blocked(g.nodes[0], seconds=10)
        assert len(g.ready(2, 0)) == 2  # they have not gone, and will not
        status = g.api.get(f"/apis/policy/v1/namespaces/{g.ns}/poddisruptionbudgets/web")["status"]
        assert status["disruptionsAllowed"] == 0, status


def test_a_drain_at_work(ctx: Context) -> None:
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 1, **g.here))
        g.budget("web", {"app": "web"}, maxUnavailable=0)
        child = g.begin(g.nodes[0], "--reason=kernel update")
        g.hears(child, "PDBUnsatisfiable")
        found = ctx.wait_for(lambda: (f := why(g, g.nodes[0]))["draining"] and f, 20, "the condition of the drain")
        assert "drainingSince" in found and "kernel update" in found["heldBy"], found
        assert found["summary"].startswith("being drained for ") and "its one pod can never go" in found["summary"], found
        assert link(found, "PDBUnsatisfiable")["object"] == f"{g.ns}/web"
        g.api.delete(f"/apis/policy/v1/namespaces/{g.ns}/poddisruptionbudgets/web")
        g.ends(child)
        found = why(g, g.nodes[0], code=FREE)
        assert not found["draining"] and found["summary"].startswith("drained and cordoned"), found


# -- what is not made again ------------------------------------------------------------------------------------------


def job(g: Ground, name: str, **spec: object) -> dict:
    template = {"metadata": {"labels": {"app": name}}, "spec": {
        "restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.test/job:1"}], **g.here}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": g.ns}, "spec": {"template": template, **spec}}


def on_disruption(action: str) -> dict:
    return {"podFailurePolicy": {"rules": [
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}},
        {"action": action, "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}}


def stop(g: Ground, name: str) -> None:
    """Its container has ended by the signal."""
    ended = {"terminated": {"exitCode": 143, "reason": "Error"}}
    g.api.patch(g.path(name) + "/status", {"status": {"phase": "Failed", "containerStatuses": [
        {"name": "main", "image": "registry.test/job:1", "imageID": "", "ready": False, "restartCount": 0, "state": ended}]}}, "strategic")


def said_of_pods(g: Ground, *arguments: str) -> dict[str, dict]:
    """What a plan of the first node says of each pod of this namespace, by its label app."""
    done = g.ctx.run(g.ctx.slipway, "plan", "drain", g.nodes[0], "-o", "json", *arguments, kubeconfig=reader(g))
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    names = {p["metadata"]["name"]: p["metadata"]["labels"].get("app", "") for p in g.pods()}
    return {names[p["name"]]: p for n in json.loads(done.stdout)["nodes"] for p in n["pods"] if p.get("namespace") == g.ns}


def test_jobs_that_an_eviction_makes_fail(ctx: Context) -> None:
    """What is said beforehand is what the Job controller does."""
    fails = {"once": {"backoffLimit": 0}, "strict": on_disruption("FailJob")}
    lives = {"usual": {}, "patient": {"backoffLimit": 0} | on_disruption("Ignore"), "counting": on_disruption("Count")}
    with Ground(ctx) as g:
        g.place(0, *(job(g, name, **spec) for name, spec in (fails | lives).items()))
        found = why(g, g.nodes[0])
        assert {x["object"] for x in found["links"] if x["code"] == "JobWouldFail"} == {f"{g.ns}/{name}" for name in fails}, found
        assert "backoffLimit" in commands(next(x for x in found["links"] if x["object"] == f"{g.ns}/once"))
        planned = said_of_pods(g)
        assert {name for name, p in planned.items() if p["verdict"] == "homeless"} == set(fails), planned
        assert {p["blocker"]["code"] for p in planned.values() if p["verdict"] == "homeless"} == {"JobWouldFail"}, planned
        done = ctx.run(ctx.slipway, "doctor", "--pdbs", "-o", "json", kubeconfig=reader(g))
        groups = {x["cause"]: x["findings"] for x in json.loads(done.stdout)["groups"]}
        named = {f["object"]["name"] for f in groups.get("job-would-fail", []) if f["object"].get("namespace") == g.ns}
        assert named == set(fails), groups
        child = g.begin(g.nodes[0])
        # These are counted when they have ended. Nobody but a kubelet says so: of kwok's pods only the objects go.
        for name in ("strict", "patient", "counting"):
            stop(g, ctx.wait_for(lambda name=name: [p["metadata"]["name"] for p in g.pods(0, app=name) if p["metadata"].get("deletionTimestamp")],
                                 60, f"the eviction of {name}")[0])
        g.ends(child)

        def conditions(name: str) -> set[str]:
            status = g.api.get(f"/apis/batch/v1/namespaces/{g.ns}/jobs/{name}")["status"]
            return {c["type"] for c in status.get("conditions", []) if c["status"] == "True"}
        for name in fails:
            ctx.wait_for(lambda name=name: "Failed" in conditions(name), 60, f"the end of Job {name}")
        for name in lives:
            g.ready(1, 1, app=name)
            assert not conditions(name), name


def test_replacements_that_are_refused(ctx: Context) -> None:
    """A ServiceAccount that is gone, and a quota that was lowered: the pods that are evicted are not made again."""
    with Ground(ctx) as g:
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "worker", "namespace": g.ns}}
        g.create(account)
        g.place(0, deployment("web", g.ns, 1, serviceAccountName="worker", **g.here), deployment("free", g.ns, 1, **g.here))
        why(g, g.nodes[0], code=FREE)
        g.api.delete(object_path(account))
        refused = link(why(g, g.nodes[0]), "ReplacementRefused")
        assert refused["object"] == f"{g.ns}/worker" and "its ServiceAccount worker is gone" in refused["message"], refused
        assert f"kubectl -n {g.ns} create serviceaccount worker" in commands(refused)
        assert {n: p["verdict"] for n, p in said_of_pods(g).items()} == {"web": "homeless", "free": "goes"}
        g.create(account)
        why(g, g.nodes[0], code=FREE)
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few", "namespace": g.ns}, "spec": {"hard": {"pods": "1"}}}
        g.create(quota)
        ctx.wait_for(lambda: g.api.get(object_path(quota)).get("status", {}).get("used", {}).get("pods") == "2", 30, "the quota to be counted")
        refused = link(why(g, g.nodes[0]), "ReplacementRefused")
        assert "ResourceQuota few allows 1 pods, and 2 are used" in refused["message"], refused
        # one too many: the other has the place that it gives back
        assert refused["pods"] == 1 and sorted(p["verdict"] for p in said_of_pods(g).values()) == ["goes", "homeless"]
        g.drain(g.nodes[0])
        g.ready(1, 1)
        ctx.wait_for(lambda: any("exceeded quota" in c.get("message", "") for d in g.api.items(f"/apis/apps/v1/namespaces/{g.ns}/deployments")
                                 for c in d["status"].get("conditions", [])), 60, "the refusal")
        assert len([p for p in g.pods() if not p["metadata"].get("deletionTimestamp")]) == 1
        g.api.delete(object_path(quota))


def test_pods_of_another_scheduler(ctx: Context) -> None:
    """Nobody says where they go, and that is said."""
    with Ground(ctx) as g:
        # a scheduler of our own, which puts its pod on the first node
        made = deployment("own", g.ns, 1, schedulerName="mine", **g.here)
        g.create(made)
        name = ctx.wait_for(lambda: g.names(app="own"), 30, "the pod")[0]
        g.api.call("POST", g.path(name) + "/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, "namespace": g.ns},
                                                       "target": {"apiVersion": "v1", "kind": "Node", "name": g.nodes[0]}})
        g.ready(1, 0)
        found = link(why(g, g.nodes[0], "--room", code=FREE), "OtherScheduler")
        assert "scheduler mine" in found["message"], found
        planned = said_of_pods(g)["own"]
        assert planned["verdict"] == "goes" and "to" not in planned, planned


# -- manners -----------------------------------------------------------------------------------------------------------


def test_what_is_read(ctx: Context) -> None:
    """By the server's own log: nothing is written, no pods of other nodes are read, and nothing is read twice."""
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 2, **g.here), deployment("free", g.ns, 1, **g.here))
        g.budget("web", {"app": "web"}, maxUnavailable=0)
        config = g.user()
        why(g, g.nodes[0], kubeconfig=config)
        asked = [e for e in g.asked() if e["user"]["username"] == g.users[-1]]
        assert asked and {e["verb"] for e in asked} <= {"get", "list"}, asked
        uris = [e["requestURI"] for e in asked]
        assert len(uris) == len(set(uris)), sorted(uris)
        pods = [u for u in uris if re.match(r"/api/v1/(namespaces/[^/]+/)?pods\?", u)]
        assert len(pods) == 2, pods
        assert all(f"spec.nodeName%3D{g.nodes[0]}" in u or (u.startswith(f"/api/v1/namespaces/{g.ns}/") and "app%3Dweb" in u) for u in pods)
        assert len(uris) <= 14, uris


def test_who_may_not_read_everything(ctx: Context) -> None:
    """There is an answer, which names what it could not look at; without budgets it is not that all is well."""
    with Ground(ctx) as g:
        g.place(0, deployment("web", g.ns, 1, **g.here))
        g.budget("web", {"app": "web"}, maxUnavailable=0)
        few = [READ[0] | {"resources": ["nodes", "pods"]}, READ[1]]
        found = why(g, g.nodes[0], kubeconfig=g.user(*few))
        assert link(found, "PDBUnsatisfiable") and "replicasets" in found["unread"] and "namespaces" in found["unread"], found
        found = why(g, g.nodes[0], kubeconfig=g.user(READ[0]))
        assert link(found, "Forbidden")["blocks"] and "poddisruptionbudgets" in found["unread"], found
