"""The verbs as people type them, against a real cluster: what they print, compared with kubectl's facts; how they end;
and what they asked the server for, by the server's own log."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections import Counter

import pki
from api import Api, object_path
from context import Context, limit
from objects import budget, budget_status, deployment, pod, pod_template, running
from kubeconfigs import config, inline

DONE, FAILED, ACCESS, USAGE = 0, 1, 4, 64
AGENT = "slipway/"


def slipway(ctx: Context, *arguments: str, code: int = DONE, **options) -> subprocess.CompletedProcess:
    done = ctx.run(ctx.slipway, *arguments, **options)
    assert done.returncode == code, f"slipway {' '.join(arguments)}: status {done.returncode}\n{done.stdout}-- stderr:\n{done.stderr}"
    return done


def document(ctx: Context, *arguments: str, **options) -> dict:
    return json.loads(slipway(ctx, *arguments, "-o", "json", **options).stdout)


def table(text: str) -> list[dict[str, str]]:
    """A printed table: columns are separated by at least two blanks."""
    head, *lines = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
    assert all(len(line) == len(head) for line in lines), text
    return [dict(zip(head, line)) for line in lines]


def parse_yaml(ctx: Context, text: str) -> dict:
    """Kubernetes' own YAML parser as the judge: the document goes through kubectl as a part of an object."""
    wrapped = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndocument:\n" + "".join(f"  {line}\n" for line in text.splitlines())
    return json.loads(ctx.cluster.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-", input=wrapped))["document"]


# -- status -------------------------------------------------------------------------------------------------------


class Fleet:
    """Three nodes with everything on them that a drain has to think about."""

    def __init__(self, ctx: Context) -> None:
        self.ctx, api = ctx, ctx.cluster.api
        self.nodes = ctx.nodes(3)
        self.label = f"slipway.dev/test={self.nodes[0].rpartition('-')[0]}"
        self.ns = ns = ctx.namespace()
        only = {"nodeSelector": {"slipway.dev/test": self.nodes[0].rpartition("-")[0]}}
        first = {"nodeName": self.nodes[0]}
        for name, count in (("free", 3), ("never", 2), ("wait", 3), ("twice", 1)):
            api.create(deployment(name, ns, count, **only))
        for name, rule in (("free", {"maxUnavailable": 1}), ("never", {"minAvailable": 2}), ("wait", {"maxUnavailable": 1}),
                           ("twice", {"minAvailable": 0}), ("empty", {"maxUnavailable": 0})):
            api.create(budget(name, ns, {"app": name}, **rule))
        api.create(budget("again", ns, {"app": "twice"}, maxUnavailable=1))
        api.create({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "namespace": ns},
                    "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": pod_template({"app": "agent"}, **only)}})
        api.create(pod("bare", ns, **first))
        api.create(pod("local", ns, volumes=[{"name": "scratch", "emptyDir": {}}], **first))
        api.create(pod("mirror", ns, annotations={"kubernetes.io/config.mirror": "x", "kubernetes.io/config.source": "file"}, **first))
        api.create(pod("finished", ns, annotations={"slipway.dev/test-finish-after": "0s"}, restartPolicy="Never", **first))
        api.create(pod("leaving", ns, annotations={"slipway.dev/test-gone-after": "1h"}, terminationGracePeriodSeconds=3600, **first))
        path = f"/api/v1/namespaces/{ns}/pods"
        ctx.undo(lambda: api.delete(path, {"gracePeriodSeconds": 0}))
        ctx.wait_for(lambda: len([p for p in api.items(path) if p["status"]["phase"] in ("Running", "Succeeded")]) == 17 and
                     api.get(f"{path}/finished")["status"]["phase"] == "Succeeded", 40, "17 pods")
        api.delete(f"{path}/leaving")
        victim = next(p for p in api.items(path) if p["metadata"].get("labels", {}).get("app") == "wait")
        sick = {"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Test"}]}}
        api.patch(object_path({"apiVersion": "v1", "kind": "Pod", "metadata": victim["metadata"]}, "status"), sick, "strategic")
        budget_status(ctx, ns, "wait", currentHealthy=2, disruptionsAllowed=0)
        budget_status(ctx, ns, "never", currentHealthy=2, disruptionsAllowed=0)
        budget_status(ctx, ns, "free", currentHealthy=3, disruptionsAllowed=1)

    def kubectl(self, *arguments: str) -> list[dict]:
        return json.loads(self.ctx.cluster.kubectl("get", *arguments, "-o", "json"))["items"]

    def facts(self) -> list[dict]:
        """What `status -o json` must say about each node, worked out anew from what kubectl says."""
        budgets = self.kubectl("pdb", "-A")
        pods = self.kubectl("pods", "-A")
        return [self.node_facts(node, [p for p in pods if p["spec"].get("nodeName") == node["metadata"]["name"]], budgets)
                for node in sorted(self.kubectl("nodes", "-l", self.label), key=lambda n: n["metadata"]["name"])]

    @staticmethod
    def node_facts(node: dict, pods: list[dict], budgets: list[dict]) -> dict:
        blockers: Counter = Counter()
        moves = stays = leaving = 0
        for p in pods:
            meta, owner = p["metadata"], next((o for o in p["metadata"].get("ownerReferences", []) if o.get("controller")), None)
            name = f"{meta['namespace']}/{meta['name']}"
            if "kubernetes.io/config.mirror" in meta.get("annotations", {}) or owner and owner["kind"] == "DaemonSet":
                stays += 1
                continue
            if meta.get("deletionTimestamp"):
                leaving += 1
                continue
            moves += 1
            if p["status"]["phase"] in ("Succeeded", "Failed"):
                continue
            if not owner:
                blockers["BarePod", name] += 1
            if any("emptyDir" in v for v in p["spec"].get("volumes", [])):
                blockers["LocalStorage", ""] += 1
            over = [b for b in budgets if b["metadata"]["namespace"] == meta["namespace"] and
                    b["spec"]["selector"]["matchLabels"].items() <= meta.get("labels", {}).items()]
            if p["status"]["phase"] == "Pending":
                continue  # evicted without asking any budget
            if len(over) > 1:
                blockers["MultiplePDBs", name] += 1
                continue
            if over and not any(c["type"] == "Ready" and c["status"] == "True" for c in p["status"].get("conditions", [])):
                status = over[0]["status"]
                if over[0]["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow" or \
                        status["currentHealthy"] >= status["desiredHealthy"] > 0:
                    continue  # it keeps nobody's service up
            if over and not over[0]["status"]["disruptionsAllowed"]:
                status = over[0]["status"]
                code = "PDBUnsatisfiable" if status["desiredHealthy"] >= status["expectedPods"] else "PDBNoBudget"
                blockers[code, f"{meta['namespace']}/{over[0]['metadata']['name']}"] += 1
        ready = next(c for c in node["status"]["conditions"] if c["type"] == "Ready")
        info = node["status"]["nodeInfo"]
        return {"name": node["metadata"]["name"], "uid": node["metadata"]["uid"], "created": node["metadata"]["creationTimestamp"],
                "ready": ready["status"], "readySince": ready["lastTransitionTime"], "cordoned": node["spec"].get("unschedulable", False),
                "pods": len(pods), "podsToMove": moves, "podsThatStay": stays, "podsLeaving": leaving, "blockers": dict(blockers),
                "zone": node["metadata"]["labels"]["topology.kubernetes.io/zone"], "kubeletVersion": info["kubeletVersion"],
                "kernelVersion": info["kernelVersion"], "bootID": info["bootID"]}


def nodes_section(text: str) -> list[dict[str, str]]:
    """The rows under "Nodes" of a status with sections."""
    section = text.partition("\nNodes\n")[2].partition("\n\n")[0]
    return table("".join(line[2:] + "\n" for line in section.splitlines()))


def normal(item: dict) -> dict:
    """An item of `status -o json` in the form of the facts; nobody drains here."""
    assert item["phase"] == "Idle", item
    blockers = {(b["code"], b.get("object", "")): b["pods"] for b in item["blockers"]}
    assert all(b["message"] and b["hint"] and b["clears"] in ("auto", "operator") for b in item["blockers"]), item
    return {k: v for k, v in item.items() if k != "phase"} | {"blockers": blockers}


@limit(180)
def test_status_agrees_with_kubectl(ctx: Context) -> None:
    fleet = Fleet(ctx)
    wanted = ctx.wait_for(fleet.facts, 10, "facts")
    codes = {code for node in wanted for code, _ in node["blockers"]}
    assert codes == {"BarePod", "LocalStorage", "MultiplePDBs", "PDBUnsatisfiable", "PDBNoBudget"}, codes
    said = document(ctx, "status", "-l", fleet.label)
    assert said["schema"] == "slipway.status/1.5"
    assert said["summary"] == "All idle: 3 nodes. Every node is Ready." and not said["waves"] and not said["locks"] and not said["gates"], said
    folded = {(b["code"], b.get("object", "")): (b["pods"], b["nodes"]) for b in said["blockers"]}
    twice = [key for node in wanted for key in node["blockers"] if key[0] == "MultiplePDBs"]
    assert len(twice) == 1, twice
    folded[twice[0]] = folded.pop(("MultiplePDBs", f"{fleet.ns}/again,twice"))
    assert folded == {key: (sum(n["blockers"].get(key, 0) for n in wanted), [n["name"] for n in wanted if key in n["blockers"]])
                      for key in {k for n in wanted for k in n["blockers"]}}, folded
    assert [normal(i) for i in said["items"]] == wanted, (said["items"], wanted)
    assert parse_yaml(ctx, slipway(ctx, "status", "-l", fleet.label, "-o", "yaml").stdout) == said
    names = slipway(ctx, "status", "-l", fleet.label, "-o", "name").stdout
    assert names.splitlines() == [f"node/{n}" for n in fleet.nodes]
    rows = nodes_section(slipway(ctx, "status", "-l", fleet.label, "--details=nodes").stdout)
    wide = table(slipway(ctx, "status", "-l", fleet.label, "-o", "wide").stdout)
    for node, row, more in zip(wanted, rows, wide):
        for line in (row, more):
            assert line["NAME"] == node["name"] and line["STATUS"] == "Ready" and line["HELD BY"] == "<none>", line
            assert (line["PODS"], line["MOVE"]) == (str(node["pods"]), str(node["podsToMove"])), line
        for code, name in node["blockers"]:
            assert f"{code} {name}".strip() in more["BLOCKS A DRAIN"], (code, name, more)
        assert (more["ZONE"], more["VERSION"], more["BOOT-ID"]) == (node["zone"], node["kubeletVersion"], node["bootID"]), more
    for item in said["items"]:
        mild = [b["code"] not in ("MultiplePDBs", "PDBUnsatisfiable") for b in item["blockers"]]
        assert mild == sorted(mild), "the worst comes first"
    # One node by its name, two, a selector of one, and one that is not there.
    one = document(ctx, "status", fleet.nodes[0])
    assert [normal(i) for i in one["items"]] == wanted[:1]
    two = document(ctx, "status", fleet.nodes[2], fleet.nodes[0])
    assert [normal(i) for i in two["items"]] == [wanted[0], wanted[2]]
    zone = document(ctx, "status", "-l", f"{fleet.label},topology.kubernetes.io/zone in (b)")
    assert [normal(i) for i in zone["items"]] == [wanted[1]]
    missing = slipway(ctx, "status", "no-such-node", code=FAILED)
    assert missing.stderr == 'error: there is no node "no-such-node"\n' and missing.stdout == "", missing
    partly = slipway(ctx, "status", fleet.nodes[1], "no-such-node", code=FAILED)
    assert 'no node "no-such-node"' in partly.stderr and fleet.nodes[1] in partly.stdout, partly
    nobody = slipway(ctx, "status", "-l", "slipway.dev/test=nobody")
    assert nobody.stdout == "" and "No nodes found" in nobody.stderr, nobody
    assert slipway(ctx, "status", "-o", "jsonpath={.items[*].name}", "-l", fleet.label).stdout.split() == fleet.nodes


@limit(180)
def test_status_reads_little(ctx: Context) -> None:
    """By the audit log: one node costs one node's pods; nothing is watched unless asked; nothing is written."""
    first, second = ctx.nodes(2)
    label = f"slipway.dev/test={first.rpartition('-')[0]}"

    def asked(*arguments: str) -> list[tuple[str, str, dict]]:
        mark = ctx.cluster.audit.mark()
        slipway(ctx, *arguments)
        found, other = [], []
        for event in ctx.cluster.audit.requests(mark, agent=AGENT):
            if "objectRef" not in event:
                other.append(event["requestURI"])
                continue
            _, _, query = event["requestURI"].partition("?")
            found.append((event["verb"], event["objectRef"]["resource"], dict(p.split("=", 1) for p in query.split("&"))))
        assert other == ["/apis"], other  # which systems the checks could ask
        orders = [f for f in found if f[1] in ("maintenances", "rollouts", "policies")]  # where another suite has installed them
        assert all(verb == "list" and query["limit"] == "500" for verb, _, query in orders) and len(orders) in (0, 1, 3), orders
        found = sorted((f for f in found if f not in orders), key=lambda f: f[1])
        stops = found.pop(0)  # whether everything is paused: of ConfigMaps those with our label alone
        assert stops == ("list", "configmaps", {"limit": "500", "labelSelector": "slipway.dev%2Fslots"}), stops
        locks = found.pop(0)  # kured's: its DaemonSet may be any
        assert locks == ("list", "daemonsets", {"limit": "500"}), locks
        return found

    for output in ("wide", "json"):
        one = asked("status", first, "-o", output)
        assert [(verb, what) for verb, what, _ in one] == [("list", "nodes"), ("list", "poddisruptionbudgets"), ("list", "pods")], one
        assert one[0][2]["fieldSelector"] == f"metadata.name%3D{first}" and one[2][2]["fieldSelector"] == f"spec.nodeName%3D{first}", one
    chosen = asked("status", "-l", label)
    assert [(verb, what) for verb, what, _ in chosen] == [("list", "nodes"), ("list", "poddisruptionbudgets"), ("list", "pods")], chosen
    assert "labelSelector" in chosen[0][2] and all(q["limit"] == "500" for _, _, q in chosen), chosen
    assert len(asked("status", first, second)) == 3


def test_cordons_and_their_owners(ctx: Context) -> None:
    names = ctx.nodes(6)
    label = f"slipway.dev/test={names[0].rpartition('-')[0]}"
    cordon = {"spec": {"unschedulable": True}}

    def mark(name: str, **change: object) -> None:
        ctx.cluster.api.patch(f"/api/v1/nodes/{name}", {**cordon, **change})

    def record(text: str) -> dict:
        return {"annotations": {"slipway.dev/cordon": text}}

    ctx.cluster.kubectl("cordon", names[0])
    holders = [{"id": "m-1", "by": "alice", "reason": "kernel update", "since": "2026-11-15T08:00:00Z"}, {"id": "fleetlock"}]
    mark(names[1], metadata=record(json.dumps({"v": 1, "before": False, "holders": holders})))
    mark(names[2], metadata=record(json.dumps({"v": 2, "holders": "of a later release"})))
    mark(names[3], spec={"unschedulable": True, "taints": [{"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}]})
    mark(names[4], spec={"unschedulable": True, "taints": [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]})
    rows = {row["NAME"]: row for row in nodes_section(slipway(ctx, "status", "-l", label, "--details=nodes").stdout)}
    assert all(rows[n]["STATUS"] == "Ready,Cordoned" for n in names[:5]) and rows[names[5]]["STATUS"] == "Ready", rows
    held = [rows[n]["HELD BY"] for n in names]
    assert held[0] == "somebody else" and held[1] == "m-1 (alice): kernel update, fleetlock" and held[3:] == ["cluster-autoscaler", "karpenter", "<none>"], held
    assert held[2].startswith("unreadable record") and "version 2" in held[2], held
    items = {i["name"]: i for i in document(ctx, "status", "-l", label)["items"]}
    assert items[names[1]]["holders"] == holders and items[names[1]]["heldBy"] == held[1], items[names[1]]
    assert items[names[0]]["cordoned"] and items[names[0]]["holders"] == [] and "heldBy" not in items[names[5]]


@limit(180)
def test_status_that_watches(ctx: Context) -> None:
    names = ctx.nodes(2)
    ns = ctx.namespace()
    label = f"slipway.dev/test={names[0].rpartition('-')[0]}"
    mark = ctx.cluster.audit.mark()
    child = ctx.spawn(ctx.slipway, "status", "-w", "-l", label)
    child.expect(rf"^{names[1]} +Ready +<none> +0 ", 20)
    ctx.cluster.kubectl("cordon", names[0])
    child.expect(rf"^{names[0]} +Ready,Cordoned +somebody else", 20)
    ctx.cluster.kubectl("uncordon", names[0])
    child.expect(rf"^{names[0]} +Ready +<none>", 20)
    ctx.cluster.api.create(pod("p", ns, {"app": "p"}, nodeName=names[1]))
    child.expect(rf"^{names[1]} +Ready +<none> +1 +1 +BarePod {ns}/p", 20)
    running(ctx, ns, 1)
    ctx.cluster.api.create(budget("p", ns, {"app": "p"}, minAvailable=1))
    child.expect(rf"^{names[1]} .*PDBUnsatisfiable {ns}/p", 20)
    ctx.cluster.api.delete(f"/api/v1/namespaces/{ns}/pods/p", {"gracePeriodSeconds": 0})
    child.expect(rf"^{names[1]} +Ready +<none> +0 +0 +<none>", 20)
    assert sum(line.startswith("NAME") for line in child.out) == 1, "one headline"
    watches = [e["objectRef"]["resource"] for e in ctx.cluster.audit.requests(mark, agent=AGENT, verb="watch")]
    assert Counter(watches) <= Counter({"nodes": 2, "pods": 2, "poddisruptionbudgets": 2, "daemonsets": 2}) and len(set(watches)) == 4, watches
    child.send(signal.SIGINT)
    assert child.end(number=None) == 130 and not child.err, child.err
    lines = ctx.spawn(ctx.slipway, "status", "-w", "-o", "name", names[0])
    lines.expect(f"^node/{names[0]}$", 20)
    assert lines.end() in (143, -signal.SIGTERM), "a shell says 143 of both: it may come before the program waits for it"


def test_status_to_nowhere(ctx: Context) -> None:
    """A reader that goes away and a full disk: said, with the right status, and not by a crash."""
    name, = ctx.nodes(1)
    full = ctx.run("sh", "-c", f'"{ctx.slipway}" status > /dev/full')
    assert full.returncode == FAILED and "No space left" in full.stderr and full.stderr.count("\n") == 1, full
    closed = ctx.run("sh", "-c", f'"{ctx.slipway}" status >&-')
    assert closed.returncode == FAILED and closed.stderr.count("\n") == 1, closed
    child = ctx.spawn("bash", "-c", f'"{ctx.slipway}" status -w {name} | head -2; echo "status ${{PIPESTATUS[0]}}"')
    child.expect(f"^{name} ", 20)
    ctx.cluster.kubectl("cordon", name)
    assert child.expect(r"^status (\d+)$", 20)[1] == "141", child.out


# -- doctor -------------------------------------------------------------------------------------------------------


def test_doctor_for_an_administrator(ctx: Context) -> None:
    fleet_ns = ctx.namespace()
    ctx.nodes(2)
    api = ctx.cluster.api
    api.create(deployment("never", fleet_ns, 2))
    api.create(deployment("twice", fleet_ns, 1))
    api.create(budget("never", fleet_ns, {"app": "never"}, minAvailable="100%"))
    api.create(budget("one", fleet_ns, {"app": "twice"}, minAvailable=0))
    api.create(budget("two", fleet_ns, {"app": "twice"}, maxUnavailable=1))
    running(ctx, fleet_ns, 3)
    budget_status(ctx, fleet_ns, "never", currentHealthy=2)
    for name in ("one", "two"):
        budget_status(ctx, fleet_ns, name)
    mark = ctx.cluster.audit.mark()
    said = document(ctx, "doctor")
    assert said["schema"] == "slipway.doctor/1.3"
    states = {item["check"]: item["state"] for item in said["items"] if item["check"] not in ("budget", "workload")}
    assert states == {"reach": "ok", "version": "ok", "clock": "ok", "permission": "ok"}, said
    here = {group["cause"]: f for group in said["groups"] for f in group["findings"] if f["object"].get("namespace") == fleet_ns}
    assert set(here) == {"min-available-all", "overlapping-budgets"}, here
    never, twice = here["min-available-all"], here["overlapping-budgets"]
    assert never["object"]["name"] == "never" and never["pods"] == 2 and "needs 2 healthy of 2" in never["message"], never
    assert twice["object"]["name"] == "one,two" and twice["pods"] == 1 and twice["example"].startswith("twice-"), twice
    assert all(f["fixes"] and f["nodes"] for f in here.values()), here
    states = {i["message"].partition(" ")[2]: i["state"] for i in said["items"] if i["check"] in ("budget", "workload")}
    assert [state for what, state in states.items() if "all replicas that there are" in what] == ["bad"], states  # it does not end by itself
    version = json.loads(ctx.cluster.kubectl("version", "-o", "json"))["serverVersion"]["gitVersion"]
    assert f"Kubernetes {version}" in [i["message"] for i in said["items"]]
    # What it asked: each permission once, the version, and lists; not a single write.
    found = Counter((e["verb"], e.get("objectRef", {}).get("resource", e["requestURI"])) for e in ctx.cluster.audit.requests(mark, agent=AGENT))
    permissions = [i for i in said["items"] if i["check"] == "permission"]
    verbs = sum(len(i["message"].rpartition(" ")[0].split(",")) for i in permissions)
    pages = found.pop(("list", "pods")) + found.pop(("list", "poddisruptionbudgets"))
    kinds = ("nodes", "replicasets", "statefulsets", "persistentvolumes", "persistentvolumeclaims", "storageclasses", "namespaces",
             "csinodes", "volumeattachments", "jobs", "resourcequotas", "serviceaccounts")
    once = {("list", kind): found[("list", kind)] for kind in kinds}
    assert all(0 < n <= 2 for n in once.values()), found
    # Deployments twice: all of them, and those that a drain with --surge has marked. Discovery twice: which permissions matter, and
    # what the checks may look at.
    assert found == {("create", "selfsubjectaccessreviews"): verbs, ("get", "/version"): 1, ("get", "/apis"): 2,
                     ("list", "deployments"): 2} | once and \
        verbs < 50 and pages <= 4, found
    text = slipway(ctx, "doctor", "--all").stdout
    assert re.search(r"^\d+ ok, \d+ warnings?, [1-9]\d* bad$", text.splitlines()[-1]), text
    assert all(f"{fleet_ns}/{f['object']['name']}: " in text for f in here.values()), text
    assert all(fix["command"] in text for f in here.values() for fix in f["fixes"]), text
    assert parse_yaml(ctx, slipway(ctx, "doctor", "-o", "yaml").stdout)["schema"] == said["schema"]


def test_doctor_for_somebody_with_few_rights(ctx: Context) -> None:
    """Each permission that is missing, and no other, by the server's own answer."""
    user = ctx.unique("deckhand")
    rules = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]},
             {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
             {"apiGroups": ["apps"], "resources": ["*"], "verbs": ["*"]}]
    base = "/apis/rbac.authorization.k8s.io/v1"
    ctx.cluster.api.call("POST", f"{base}/clusterroles", {"metadata": {"name": user}, "rules": rules})
    ctx.undo(lambda: ctx.cluster.api.delete(f"{base}/clusterroles/{user}"))
    ctx.cluster.allow(user, user)
    kubeconfig = ctx.cluster.kubeconfig(user)
    api = Api(ctx.cluster.ports[0], ctx.cluster.ca, *ctx.cluster.authority.issue(user))

    def may(verb: str, group: str, resource: str, subresource: str) -> bool:
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": {
            "verb": verb, "group": group, "resource": resource, "subresource": subresource}}}
        return api.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)["status"]["allowed"]

    done = slipway(ctx, "doctor", "-o", "json", kubeconfig=kubeconfig, code=FAILED)
    said = json.loads(done.stdout)
    permissions = [i for i in said["items"] if i["check"] == "permission"]
    seen_missing = set()
    for item in permissions:
        m = re.fullmatch(r"((?:[a-z]+, )*[a-z]+) ([a-z]+)(?:\.([a-z0-9.]+))?(?:/([a-z]+))?( is not allowed, needed to .*)?", item["message"])
        assert m, item
        allowed = [may(verb, m[3] or "", m[2], m[4] or "") for verb in m[1].split(", ")]
        if item["state"] == "ok":
            assert all(allowed) and not m[5], item
        else:
            optional = (m[1], m[2], m[4]) in {("patch", "nodes", "status"), ("create", "events", None), ("list", "events", None),
                                                 ("delete", "pods", None), ("list", "storageclasses", None), ("list", "csinodes", None),
                                                 ("list", "resourcequotas", None), ("get, list", "serviceaccounts", None)}
            assert item["state"] == ("warning" if optional else "bad") and not any(allowed) and m[5] and "ClusterRole" in item["hint"], item
            seen_missing.add((m[1], m[2]))
    assert {("patch", "nodes"), ("watch", "pods"), ("create", "pods"), ("get, list, watch", "poddisruptionbudgets")} <= seen_missing, seen_missing
    assert ("get, list, watch", "deployments") not in seen_missing and len(permissions) > 10
    assert "cannot list poddisruptionbudgets" in done.stderr and user in done.stderr, done.stderr
    # As an administrator who asks for somebody else.
    other = slipway(ctx, "doctor", "-o", "json", "--as", user, code=FAILED)
    assert [i for i in json.loads(other.stdout)["items"] if i["check"] == "permission"] == permissions


# -- version, kubectl plug-in -------------------------------------------------------------------------------------


def test_version_of_the_server(ctx: Context) -> None:
    wanted = json.loads(ctx.cluster.kubectl("version", "-o", "json"))["serverVersion"]["gitVersion"]
    mark = ctx.cluster.audit.mark()
    slipway(ctx, "version")
    assert ctx.cluster.audit.count(mark, agent=AGENT) == 0, "a server was asked"
    text = slipway(ctx, "version", "--remote").stdout
    assert f"Server Version: {wanted}" in text, text
    said = document(ctx, "version", "--remote")
    assert said["serverVersion"]["gitVersion"] == wanted and said["clientVersion"]["gitVersion"].startswith("v"), said
    assert ctx.cluster.audit.count(mark, agent=AGENT) == 2


def test_as_a_kubectl_plugin(ctx: Context) -> None:
    names = ctx.nodes(2)
    label = f"slipway.dev/test={names[0].rpartition('-')[0]}"
    bin = ctx.tmp / "bin"
    bin.mkdir()
    (bin / "kubectl-slipway").symlink_to(ctx.slipway)
    env = {"PATH": f"{bin}:{os.environ['PATH']}"}
    kubectl = ctx.cluster.binaries.path("kubectl")
    through = ctx.run(kubectl, "slipway", "status", "-l", label, "-o", "json", env=env, check=True)
    assert through.stdout == slipway(ctx, "status", "-l", label, "-o", "json").stdout
    assert ctx.run(kubectl, "slipway", "status", "nobody", env=env).returncode == FAILED
    help = ctx.run(kubectl, "slipway", "status", "--help", env=env, check=True).stdout
    assert "kubectl slipway status" in help and "\n  slipway status" not in help, help
    listed = ctx.run(kubectl, "plugin", "list", env=env)
    assert str(bin / "kubectl-slipway") in listed.stdout, listed


# -- trouble ------------------------------------------------------------------------------------------------------


@limit(180)
def test_trouble_with_real_servers(ctx: Context) -> None:
    """One sentence on standard error, nothing on standard output, and status 4, for every verb that asks a server."""
    admin = {"client-certificate-data": inline(ctx.cluster._admin_cert[0]), "client-key-data": inline(ctx.cluster._admin_cert[1])}
    here = {"server": ctx.cluster.server(), "certificate-authority-data": inline(ctx.cluster.ca)}
    other = pki.Authority(ctx.tmp / "other")
    scheduler = next(a for a in ctx.cluster["kube-scheduler"].argv if a.startswith("--secure-port=")).partition("=")[2]
    ns = ctx.namespace()
    expired = ctx.cluster.token("gone", ns)
    ctx.cluster.api.delete(f"/api/v1/namespaces/{ns}/serviceaccounts/gone")
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": expired}}
    ctx.wait_for(lambda: not ctx.cluster.api.call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review)["status"].get("authenticated"),
                 60, "the server to know that the account is gone", interval=0.5)
    cases: dict[str, tuple[dict, dict, str]] = {
        "refused": ({**here, "server": "https://127.0.0.1:1"}, admin, r"cannot reach https://127\.0\.0\.1:1: connection refused"),
        "authority": ({**here, "certificate-authority-data": inline(other.cert)}, admin, "signed by an unknown authority"),
        "token": (here, {"token": expired}, r"does not accept the credentials of user test \(.*\): Unauthorized"),
        "nonsense": (here, {"token": "nonsense"}, r"does not accept the credentials of user test \(.*\): Unauthorized"),
        "rights": (here, {"token": ctx.cluster.token("nobody", ns)}, rf'User "system:serviceaccount:{ns}:nobody" cannot (list|watch) resource'),
        "etcd": ({"server": ctx.cluster.etcd_url}, {}, "does not answer like a Kubernetes API server"),
        "scheduler": ({"server": f"https://127.0.0.1:{scheduler}", "insecure-skip-tls-verify": True}, {}, "scheduler|Kubernetes API server|forbidden"),
        "name": ({**here, "server": "https://no-such-host.invalid:6443"}, admin, "cannot be resolved"),
        "tls": ({**here, "server": ctx.cluster.etcd_url.replace("http:", "https:")}, admin, "TLS"),
        "plain": ({"server": ctx.cluster.server().replace("https:", "http:")}, {}, "HTTPS"),
    }
    for name, (cluster, user, words) in cases.items():
        path = config(ctx.tmp / name, cluster, user)
        for verb in (["status"], ["status", "-w"], ["doctor"], ["version", "--remote"]):
            if name == "rights" and verb[0] != "status":
                continue  # anybody may ask for the version and for his rights
            done = ctx.run(ctx.slipway, *verb, kubeconfig=path, timeout=60)
            where = (name, verb, done.returncode, done.stdout, done.stderr)
            assert done.returncode == ACCESS, where
            lines = done.stderr.splitlines()  # who lacks several permissions is told of each
            assert all(line.startswith("error: cannot ") for line in lines) and (len(lines) == 1 or name in ("rights", "scheduler")), where
            assert re.search(words, done.stderr), where
            assert not done.stdout or verb[0] == "version", where
    for arguments in (["--context", "nowhere"], ["--kubeconfig", "/nowhere"]):
        done = ctx.run(ctx.slipway, "status", *arguments)
        # kubectl's line, and perhaps what there is instead.
        lines = done.stderr.splitlines()
        assert done.returncode in (ACCESS, USAGE) and "nowhere" in lines[0] and len(lines) <= 2, done


@limit(180)
def test_server_that_is_frozen(ctx: Context) -> None:
    cluster = ctx.private_cluster(controllers=False, kwok=False)
    watching = ctx.spawn(ctx.slipway, "status", "-w", kubeconfig=cluster.admin)
    ctx.wait_for(lambda: cluster.audit.count(agent=AGENT, verb="watch") >= 3, 20, "the watches")
    cluster["kube-apiserver"].pause()
    for verb in (["status"], ["doctor"], ["version", "--remote"]):
        done = ctx.run(ctx.slipway, *verb, "--request-timeout", "1s", kubeconfig=cluster.admin, timeout=60)
        assert done.returncode == ACCESS and "within 1s" in done.stderr.splitlines()[-1], (verb, done)
        assert done.stderr.splitlines()[-1].startswith("error: cannot "), (verb, done)
    assert watching.running and watching.end(timeout=20) == 143, "Ctrl-C must work whatever the server does"


@limit(180)
def test_watching_through_a_restart(ctx: Context) -> None:
    """The server under `status -w` goes and comes back: said on standard error, and what changed meanwhile is shown."""
    cluster = ctx.private_cluster(apiservers=2, controllers=False, kwok=False)
    names = cluster.add_nodes(2, wait=False)
    child = ctx.spawn(ctx.slipway, "status", "-w", kubeconfig=cluster.admin)
    child.expect(rf"^{names[1]} ", 20)
    cluster["kube-apiserver"].kill()
    other = cluster.kubeconfig(server=1)
    cluster.kubectl("cordon", names[0], kubeconfig=other)
    cluster.kubectl("delete", "node", names[1], kubeconfig=other)
    ctx.wait_for(lambda: any("cannot watch" in line and "trying again" in line for line in child.err), 20, "a word about it")
    cluster["kube-apiserver"].start()
    child.expect(rf"^{names[0]} .*Cordoned +somebody else", 40)
    child.expect(rf"^{names[1]} .*Gone", 40)
    ctx.wait_for(lambda: any("watching works again" in line for line in child.err), 40, "the end of the trouble")
    # one line for the outage and one for its end, whatever the number of watches
    assert child.running and len(child.err) == 2, child.err
    assert child.end() == 143
