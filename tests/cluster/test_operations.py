"""What the controller tells those who look after it: metrics, health, logs, audit, Events."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request

from api import object_path
from context import Child, Context, limit
from drain_objects import daemon_set
from exposition import Exposition
from fleetlock_client import Machine
from objects import pod
from test_fleetlock import kubevirt, virtual_machine
from test_maintenance import Yard

OPEN = "application/openmetrics-text"


class Post(Yard):
    """A controller with its listener for machines."""

    def watched(self, *flags: str) -> tuple[Child, str]:
        """The controller and its FleetLock address; self.health is where the rest is."""
        child, base = self.controller("--http-listen", "127.0.0.1:0", "--allow-commands", *flags)
        found = self.ctx.wait_for(lambda: re.search(r"health at ([\d.:]+)", "\n".join(child.err)), 30, "health to be served")
        self.health = f"http://{found[1]}"
        return child, base

    def fetch(self, path: str, accept: str | None = None, method: str = "GET") -> tuple[int, str, str]:
        request = urllib.request.Request(self.health + path, method=method, headers={"Accept": accept} if accept else {})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.headers["Content-Type"], e.read().decode()

    def metrics(self) -> Exposition:
        code, kind, text = self.fetch("/metrics")
        assert code == 200 and kind.startswith("text/plain; version=0.0.4"), (code, kind)
        return Exposition(text)

    def serves(self) -> None:
        self.ctx.wait_for(lambda: self.fetch("/readyz")[0] == 200, 60, "it to be ready")
        self.ctx.wait_for(lambda: self.metrics().sample("slipway_leader") == 1, 60, "it to lead")


@limit(600)
def test_metrics(ctx: Context) -> None:
    """A node is drained, told to go, reboots and comes back; another waits: each can be seen, and counted, in both forms of the text."""
    post = Post(ctx)
    post.pods()
    _, base = post.watched("--metrics-compat", "kured,airlock,fleetlock")
    post.serves()
    first, second, _ = post.machines
    code, kind, text = post.fetch("/metrics", f"{OPEN};version=1.0.0,text/plain;q=0.5")
    assert code == 200 and kind.startswith(OPEN), (code, kind)
    assert Exposition(text, open_metrics=True).sample("slipway_leader") == 1
    post.granted(base, first)
    post.says(second, base, 404, "slots_full")
    ctx.wait_for(lambda: post.metrics().sample("slipway_slots_waiting", policy="default") == 1, 60, "the other one to wait")
    now = post.metrics()
    assert now.sample("slipway_slots", policy="default") == now.sample("slipway_slots_held", policy="default") == 1
    assert now.sample("slipway_slot_holder", node=first.name, by="fleetlock", state="granted") == 1
    assert now.sample("slipway_node_phase", node=first.name, phase="Granted") == 1
    assert now.sample("slipway_node_phase_start_timestamp_seconds", node=first.name) > 0
    assert now.sample("slipway_node_blocked", node=second.name, code="MaxUnavailableReached") == 1
    assert now.sample("slipway_node_reboot_required", node=second.name, reason="fleetlock") == 1
    assert now.sample("slipway_reconcile_duration_seconds_count") >= 1
    assert now.sample("slipway_evictions_total", outcome="evicted") >= 1
    assert now.sample("slipway_phase_duration_seconds_count", phase="Draining", outcome="ok") == 1
    assert now.sample("slipway_fleetlock_requests_total", endpoint="pre-reboot", code="404", kind="slots_full") >= 1
    assert now.sample("slipway_cache_objects", resource="nodes") >= 3
    assert sum(now.all("slipway_api_requests_total", resource="nodes", code="200")) >= 1
    assert now.sample("kured_reboot_required", node=first.name) == 1
    assert now.sample("airlock_database_semaphore_lock_holders", group="default") == 1
    assert now.sample("fleetlock_lock_state", group="default") == 1
    first.boots()
    ctx.wait_for(lambda: first.steady_state(base)[0] == 200, 60, "the report to be taken")
    ctx.wait_for(lambda: post.metrics().sample("slipway_operations_total", operation="Reboot", outcome="complete") == 1, 60,
                 "the reboot to be counted")
    assert post.metrics().all("slipway_node_phase", node=first.name) == []


@limit(600)
def test_metrics_of_a_gate(ctx: Context) -> None:
    """A client waits for what a check says, and for no slot; then for both."""
    post = Post(ctx, 2)
    first, second = post.machines
    kubevirt(ctx, post)
    virtual_machine(ctx, post, first.name)
    post.policy("gated", {"slipway.dev/test": post.label}, fleetlock={"groups": ["default"]})
    _, base = post.watched()
    post.serves()

    def blocked(code: str) -> int:
        return sum(post.metrics().all("slipway_node_blocked", policy="gated", node=first.name, code=code))

    ctx.wait_for(lambda: first.pre_reboot(base)[1]["value"].startswith(f"NotMigratable {post.ns}/vm: kubevirt: "), 60, "why it waits")
    ctx.wait_for(lambda: blocked("NotMigratable"), 60, "the metrics to say so")
    assert not blocked("MaxUnavailableReached"), post.fetch("/metrics")[2]
    assert post.metrics().sample("slipway_node_phase", node=first.name, phase="Pending") == 1
    post.granted(base, second)
    ctx.wait_for(lambda: blocked("MaxUnavailableReached") and blocked("NotMigratable"), 60, "both of them")
    said = first.pre_reboot(base)
    assert said[0] == 404 and second.name in said[1]["value"] and "; and NotMigratable" in said[1]["value"], said
    told = ctx.run(ctx.slipway, "locks", "-n", post.ns, check=True).stdout
    assert f"another holds the only slot: {second.name}; and NotMigratable" in told, told


@limit(600)
def test_health(ctx: Context) -> None:
    """Ready is one that knows the cluster and who leads; one without an API server lives, and is not ready."""
    post = Post(ctx)
    post.watched()
    post.serves()
    assert post.fetch("/readyz") == (200, "text/plain; charset=utf-8", "[+]caches ok\n[+]lease ok\n[+]records ok\nreadyz check passed\n")
    assert post.fetch("/healthz")[::2] == (200, "ok\n")
    assert post.fetch("/")[0] == 404 and post.fetch("/metrics", method="POST")[0] == 405
    nowhere = ctx.tmp / "nowhere.kubeconfig"
    config = json.loads(ctx.run(ctx.cluster.binaries.path("kubectl"), "config", "view", "--raw", "--flatten", "-o", "json", check=True).stdout)
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"
    nowhere.write_text(json.dumps(config))
    post.watched("--kubeconfig", str(nowhere))
    lines = f"[-]caches the cluster is not known yet\n[-]lease the Lease {post.ns}/slipway-controller cannot be read or written: "
    ctx.wait_for(lambda: post.fetch("/readyz")[2].startswith(lines), 60, "it to say why it is not ready")
    assert post.fetch("/readyz")[0] == 503
    assert post.fetch("/healthz")[0] == 200
    assert post.metrics().sample("slipway_leader") == 0


@limit(600)
def test_records(ctx: Context) -> None:
    """A Maintenance from its beginning to its end is told in lines of JSON, in the audit log and in Events, each with the same reasons."""
    post = Post(ctx)
    post.pods()
    path = ctx.tmp / "audit.jsonl"
    child, base = post.watched("--log-format", "json", "--audit-log", str(path))
    post.serves()
    machine, other, _ = post.machines
    name = post.make(machine.name)
    ctx.wait_for(lambda: post.phase(name) == "Complete", 120, "the reboot to be complete")
    journal = [j["reason"] for j in post.get(name)["status"]["journal"]]
    assert journal[0] == "GatesOpen" and journal[-1] == "Released", journal

    lines = [json.loads(line) for line in child.err]  # every line is one, also those of the beginning
    told = [line["reason"] for line in lines if line.get("maintenance") == name]
    assert told == journal, (told, journal)
    drained = next(line for line in lines if line.get("reason") == "Drained" and line.get("maintenance") == name)
    assert drained["node"] == machine.name and (drained["from"], drained["phase"]) == ("Draining", "Granted"), drained

    records = [json.loads(line) for line in path.read_text().splitlines()]
    decided = [r["action"] for r in records if r["kind"] == "decision" and r.get("maintenance") == name]
    assert decided == journal, (decided, journal)
    evicted = [r for r in records if r["kind"] == "write" and r["action"] == "evict" and r["result"] == "ok"]
    assert evicted and {r["actor"] for r in evicted} == {f"maintenance/{name}"}, evicted
    assert any(r["action"] == "patch" and r["object"] == f"nodes/{machine.name}" for r in records)

    def events(about: str) -> set[str]:
        found = post.api.get(f"/api/v1/namespaces/default/events?fieldSelector=involvedObject.name={about}")
        return {e["reason"] for e in found["items"]}
    ctx.wait_for(lambda: set(journal) <= events(name), 60, "the Events of the Maintenance")
    ctx.wait_for(lambda: {"SlotTaken", "DrainStarted", "Drained", "Granted", "SlotReleased"} <= events(machine.name), 60, "those of the Node")
    shown = ctx.cluster.kubectl("describe", "maintenance", name)
    assert "OperationBegun" in shown and "Released" in shown, shown

    path.rename(path.with_suffix(".old"))
    child.send(1)
    ctx.wait_for(path.exists, 60, "the audit log to be opened anew")
    post.granted(base, other)
    ctx.wait_for(lambda: any(json.loads(line)["kind"] == "answer" for line in path.read_text().splitlines()), 60, "the grant in the audit log")
    granted = next(r for r in map(json.loads, path.read_text().splitlines()) if r["kind"] == "answer")
    assert granted["action"] == "pre-reboot" and granted["object"] == f"nodes/{other.name}" and granted["actor"].startswith("127.0.0.1:")


@limit(600)
def test_rivals(ctx: Context) -> None:
    """kured at work is said in log, Event, metric, locks and status; the autoscaler is told to leave a held node alone, and told again afterwards."""
    post = Post(ctx)
    child, base = post.watched()
    post.serves()
    held, other, _ = post.machines
    post.granted(base, held)
    kured = {"metadata": {"annotations": {"weave.works/kured-reboot-in-progress": "2026-11-16T08:00:00Z"}}}
    for machine in (held, other):
        post.api.patch(machine.path, kured)
    ctx.wait_for(lambda: post.metrics().sample("slipway_rival", node=other.name, rival="kured") == 1, 60, "the rival to be seen")
    ctx.wait_for(lambda: {m[1] for line in child.err if (m := re.search(r"node (\S+) has another manager at work: kured reboots it", line))}
                 == {held.name, other.name}, 60, "the log to say it")
    for machine in (held, other):
        query = f"involvedObject.name={machine.name},reason=RivalAtWork"
        ctx.wait_for(lambda query=query: post.api.get(f"/api/v1/namespaces/default/events?fieldSelector={query}")["items"], 60, "the Event")
    said = ctx.run(ctx.slipway, "locks", held.name, "-n", post.ns, check=True).stdout
    assert "; and kured reboots it" in said, said
    shown = ctx.run(ctx.slipway, "status", check=True).stdout
    assert re.search(r"Other managers at work\n.*\n +kured +reboots it +", shown), shown

    mark, ours = "cluster-autoscaler.kubernetes.io/scale-down-disabled", "slipway.dev/scale-down-disabled"
    def notes(machine: Machine) -> tuple[str | None, str | None]:
        have = machine.node["metadata"].get("annotations", {})
        return have.get(mark), have.get(ours)
    assert notes(held)[0] == "true" and notes(held)[1].startswith(f"slot:{post.ns}/default:"), notes(held)
    assert notes(other) == (None, None)
    held.boots()
    ctx.wait_for(lambda: held.steady_state(base)[0] == 200 and held.name not in post.holders(), 60, "the slot to be free")
    assert notes(held) == (None, None), notes(held)


@limit(600)
def test_rivals_that_leave_the_node_alone(ctx: Context) -> None:
    """The lock in kured's DaemonSet and a pod of system-upgrade-controller are said just as a mark; who may not read DaemonSets is told so."""
    post = Post(ctx)
    child, base = post.watched()
    post.serves()
    held, waits, _ = post.machines
    post.granted(base, held)
    post.says(waits, base, 404, "slots_full")
    lock, sets = "weave.works/kured-node-lock", f"/apis/apps/v1/namespaces/{post.ns}/daemonsets"
    post.api.create(daemon_set("reboots", post.ns, nodeSelector={"no": "where"}))
    value = {"nodeID": held.name, "metadata": {"unschedulable": False}, "created": "2026-01-01T00:00:00Z", "TTL": 0}
    post.api.patch(f"{sets}/reboots", {"metadata": {"annotations": {lock: json.dumps(value)}}})
    post.api.create(pod("upgrade", post.ns, {"upgrade.cattle.io/plan": "k3s"}, nodeName=waits.name))
    who = {held: ("kured", "reboots"), waits: ("system-upgrade-controller", "upgrades")}
    for machine, (rival, doing) in who.items():
        ctx.wait_for(lambda: post.metrics().sample("slipway_rival", node=machine.name, rival=rival) == 1, 60, f"{rival} to be seen")
        ctx.wait_for(lambda: any(f"node {machine.name} has another manager at work: {rival} {doing} it" in line for line in child.err), 60,
                     "the log to say it")
        query = f"involvedObject.name={machine.name},reason=RivalAtWork"
        ctx.wait_for(lambda: post.api.get(f"/api/v1/namespaces/default/events?fieldSelector={query}")["items"], 60, "the Event")
        said = ctx.run(ctx.slipway, "locks", machine.name, "-n", post.ns, check=True).stdout
        assert f"; and {rival} {doing} it" in said, said
        shown = ctx.run(ctx.slipway, "status", check=True).stdout
        assert re.search(rf"Other managers at work\n(.*\n)+ +{rival} +{doing} it +", shown), shown
        [item] = json.loads(ctx.run(ctx.slipway, "status", machine.name, "-o", "json", check=True).stdout)["items"]
        assert item["rival"] == rival, item

    user, group = ctx.unique("reader"), "rbac.authorization.k8s.io"
    role = [{"apiGroups": ["", "policy", "slipway.dev", "coordination.k8s.io"], "resources": ["*"], "verbs": ["get", "list"]},
            {"apiGroups": ["apps"], "resources": ["replicasets", "statefulsets"], "verbs": ["list"]}]
    for kind, more in (("ClusterRole", {"rules": role}),
                       ("ClusterRoleBinding", {"subjects": [{"kind": "User", "apiGroup": group, "name": user}],
                                               "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": user}})):
        made = post.api.create({"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": user}, **more})
        ctx.undo(lambda path=object_path(made): post.api.delete(path))
    ctx.cluster.wait_allowed(user, user)
    for verb in ("status", "locks"):
        done = ctx.run(ctx.slipway, verb, held.name, "--as", user, check=True)
        assert held.name in done.stdout and "kured reboots it" not in done.stdout, done.stdout
        assert done.stderr.count("cannot list daemonsets") == 1, done.stderr

    post.api.patch(f"{sets}/reboots", {"metadata": {"annotations": {lock: None}}})
    ctx.wait_for(lambda: "kured" not in post.fetch("/metrics")[2], 60, "the lock to be gone")


@limit(600)
def test_policies(ctx: Context) -> None:
    """Who holds and who waits is in the status of a Policy; one that is deleted stays until its last holder leaves; a mistake is said there."""
    post = Post(ctx)
    for machine in post.machines:
        post.api.patch(machine.path, {"metadata": {"labels": {"pool": post.label}}})
    name, path = post.label, f"/apis/slipway.dev/v1alpha1/policies/{post.label}"
    post.policy(name, {"pool": post.label}, maxUnavailable=1, fleetlock={"groups": ["default"]})
    _, base = post.watched()
    post.serves()

    def status() -> dict:
        found = post.api.get(path)
        have = found.get("status", {})
        ready = [(c["status"], c["reason"]) for c in have.get("conditions", []) if c["type"] == "Ready"]
        current = have.get("observedGeneration") == found["metadata"]["generation"]
        return {k: have.get(k) for k in ("nodes", "held", "waiting", "free", "holders")} | {"ready": ready, "current": current}
    idle = {"nodes": 3, "held": 0, "waiting": 0, "free": 1, "holders": [], "ready": [("True", "InForce")], "current": True}
    ctx.wait_for(lambda: status() == idle, 60, "the status")
    assert post.api.get(path)["metadata"]["finalizers"] == ["slipway.dev/policy"], "before anybody holds a slot"
    first, second, _ = post.machines
    post.granted(base, first)
    post.says(second, base, 404, "slots_full")
    ctx.wait_for(lambda: status() == idle | {"held": 1, "waiting": 1, "free": 0, "holders": [first.name]}, 60, "the holder")
    shown = ctx.cluster.kubectl("get", "policies.slipway.dev", name).splitlines()
    assert shown[0].split() == ["NAME", "MAX", "HELD", "FREE", "WAITING", "READY", "NODES", "AGE"], shown
    assert shown[1].split()[:7] == [name, "1", "1", "0", "1", "True", "3"], shown

    ctx.cluster.kubectl("delete", "policies.slipway.dev", name, "--wait=false")
    ctx.wait_for(lambda: status()["ready"] == [("False", "Deleting")], 60, "its end to be said")
    assert post.holders(name) == [first.name]
    first.boots()
    ctx.wait_for(lambda: first.steady_state(base)[0] == 200, 60, "the report to be taken")
    ctx.wait_for(lambda: post.api.raw("GET", path)[0] == 404, 60, "the policy to be gone")

    post.policy(name + "-bad", {"pool": post.label}, drain={"rules": [
        {"name": "x", "match": {}, "escalate": [{"after": "10m", "to": "delete"}, {"after": "1m", "to": "force"}]}]})
    path = path + "-bad"
    ctx.wait_for(lambda: status()["ready"] == [("False", "Invalid")], 60, "the mistake to be said")
