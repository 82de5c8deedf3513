"""Drains obey the checks, on a real API server and on the simulator: custom resources in the shapes of the projects' own, and what a drain of
their nodes makes of them. What is judged is the server's word: cordons, pods, Events."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import threading
from collections import Counter
from datetime import datetime, timezone
from typing import Callable, NamedTuple

from api import object_path
from checks_site import ALL, AT_ONCE, BLOCKED, CNPG, DONE, ETCD, KUBEVIRT, LONGHORN, READY, REFUSED, ROOK, UNREADY, USAGE, ZALANDO, Site
from context import Context, limit
from crds import DEFINITIONS

PARTIAL = 6
RBAC = "rbac.authorization.k8s.io"


class Case(NamedTuple):
    """
    denied  a node that may not go, and a part of the evidence; None where there is no such thing
    waits   a node that may not go yet, the code, and a part of the evidence
    mend    what makes it go
    pods    on the node that waits
    """
    kinds: list
    denied: tuple[str, str] | None
    waits: tuple[str, str, str]
    mend: Callable[[], object]
    pods: int = 0


# -- what the systems look like ------------------------------------------------------------------------------------------


def longhorn(site: Site) -> Case:
    version = "longhorn.io/v1beta2"
    for node in site.nodes:
        site.add(version, "InstanceManager", f"im-{node}", spec={"nodeID": node, "type": "aio", "dataEngine": "v1"},
                 status={"currentState": "running"})
    site.add(version, "Setting", "node-drain-policy", value="block-if-contains-last-replica", status={"applied": True})
    volumes = {}
    for name, count, nodes, robustness in (("pvc-1", 1, ["w1"], "healthy"), ("pvc-2", 3, ["w2", "w3"], "degraded")):
        volumes[name] = site.add(version, "Volume", name, spec={"numberOfReplicas": count, "size": "1073741824", "dataEngine": "v1"},
                                 status={"state": "attached", "robustness": robustness, "currentNodeID": "w3"})
        for node in nodes:
            site.add(version, "Replica", f"{name}-r-{node}", status={"currentState": "running"},
                     spec={"volumeName": name, "nodeID": node, "dataEngine": "v1", "healthyAt": "2026-11-01T00:00:00Z", "failedAt": "",
                           "desireState": "running"})
    return Case(LONGHORN, ("w1", "volume pvc-1 has its only healthy replica pvc-1-r-w1 on node w1"),
                ("w2", "StorageNotOkToStop", "volume pvc-2 is degraded"),
                lambda: site.api.patch(object_path(volumes["pvc-2"]), {"status": {"robustness": "healthy"}}))


def rook(site: Site) -> Case:
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    details = {"OSD_NEARFULL": {"severity": "HEALTH_WARN", "message": "2 nearfull osd(s)"}}
    ceph = site.add("ceph.rook.io/v1", "CephCluster", "my", spec={"mon": {"count": 1}},
                    status={"phase": "Ready", "ceph": {"health": "HEALTH_WARN", "lastChecked": now, "details": details}})
    site.add("ceph.rook.io/v1", "CephBlockPool", "pool", spec={"failureDomain": "host", "replicated": {"size": 3}})
    site.pod("mon-a", "w1", {"app": "rook-ceph-mon"})
    for i, node in enumerate(("w2", "w3")):
        site.pod(f"osd-{i}", node, {"app": "rook-ceph-osd", "topology-location-host": node})
    return Case(ROOK, ("w1", "1 member, 1 healthy; 0 would be left, 1 is needed"), ("w2", "StorageNotOkToStop", "OSD_NEARFULL (2 nearfull osd(s))"),
                lambda: site.api.patch(object_path(ceph), {"status": {"ceph": {"health": "HEALTH_OK", "details": None}}}), 1)


def kubevirt(site: Site) -> Case:
    stays = {"type": "LiveMigratable", "status": "False", "message": "a disk is not shared"}
    site.add("kubevirt.io/v1", "VirtualMachineInstance", "stays", spec={"evictionStrategy": "LiveMigrate"},
             status={"nodeName": "w1", "phase": "Running", "conditions": [stays]})
    comes = site.add("kubevirt.io/v1", "VirtualMachineInstance", "comes", spec={"evictionStrategy": "None"},
                     status={"nodeName": "w3", "phase": "Running", "conditions": [stays],
                             "migrationState": {"sourceNode": "w3", "targetNode": "w2"}})
    return Case(KUBEVIRT, ("w1", "virtual machine x/stays must leave by live migration (LiveMigrate) and cannot: a disk is not shared"),
                ("w2", "EvictionInProgress", "virtual machine x/comes is migrating to this node"),
                lambda: site.api.patch(object_path(comes), {"status": {"migrationState": {"failed": True, "completed": True}}}))


def cnpg(site: Site) -> Case:
    well = {"phase": "Cluster in healthy state"}
    site.add("postgresql.cnpg.io/v1", "Cluster", "one", spec={"instances": 1},
             status={"instances": 1, "readyInstances": 1, "currentPrimary": "one-1", "targetPrimary": "one-1", **well})
    site.pod("one-1", "w1", {"cnpg.io/cluster": "one", "cnpg.io/podRole": "instance"})
    db = site.add("postgresql.cnpg.io/v1", "Cluster", "db", spec={"instances": 2},
                  status={"instances": 2, "readyInstances": 1, "currentPrimary": "db-1", "targetPrimary": "db-1",
                          "phase": "Waiting for the instances to become active"})
    for name, node in (("db-1", "w3"), ("db-2", "w2")):
        site.pod(name, node, {"cnpg.io/cluster": "db", "cnpg.io/podRole": "instance"})
    return Case(CNPG, ("w1", "x/one"), ("w2", "StorageNotOkToStop", "x/db"),
                lambda: site.api.patch(object_path(db), {"status": {"readyInstances": 2, **well}}), 1)


def zalando(site: Site) -> Case:
    databases = {}
    for name, count, status in (("acid-one", 1, "Running"), ("acid-db", 2, "Updating")):
        databases[name] = site.add("acid.zalan.do/v1", "postgresql", name, spec={"teamId": "acid", "numberOfInstances": count},
                                   status={"PostgresClusterStatus": status})
    for name, node, cluster, role in (("acid-one-0", "w1", "acid-one", "master"), ("acid-db-0", "w3", "acid-db", "master"),
                                      ("acid-db-1", "w2", "acid-db", "replica")):
        site.pod(name, node, {"application": "spilo", "cluster-name": cluster, "spilo-role": role})
    return Case(ZALANDO, ("w1", "x/acid-one"), ("w2", "StorageNotOkToStop", "x/acid-db"),
                lambda: site.api.patch(object_path(databases["acid-db"]), {"status": {"PostgresClusterStatus": "Running"}}), 1)


def etcd_operator(site: Site) -> Case:
    members = [{"name": f"e-{i}", "id": f"{i}", "isHealthy": i != 2} for i in range(3)]
    site.add("operator.etcd.io/v1alpha1", "EtcdCluster", "one", spec={"size": 1, "version": "v3.5.21"},
             status={"members": [{"name": "one-0", "id": "9", "isHealthy": True}]})
    site.pod("one-0", "w1", {"app": "one", "controller": "one"})
    e = site.add("operator.etcd.io/v1alpha1", "EtcdCluster", "e", spec={"size": 3, "version": "v3.5.21"}, status={"members": members})
    for i, node in enumerate(site.nodes):
        site.pod(f"e-{i}", node, {"app": "e", "controller": "e"})
    return Case(ETCD, ("w1", "etcd cluster x/one has 1 member, 1 healthy; 0 would be left, 1 is needed"),
                ("w2", "QuorumAtRisk", "etcd cluster x/e has 3 members, 2 healthy (not healthy: e-2); 1 would be left, 2 are needed"),
                lambda: site.api.patch(object_path(e), {"status": {"members": [m | {"isHealthy": True} for m in members]}}), 1)


def mirror(site: Site, node: str, status: dict = READY) -> dict:
    """A member of the control plane's etcd: a drain does not touch it."""
    return site.pod(f"etcd-{node}", node, {"component": "etcd", "tier": "control-plane"}, status, "kube-system",
                    annotations={"kubernetes.io/config.mirror": "9", "kubernetes.io/config.source": "file"})


def etcd(site: Site) -> Case:
    members = [mirror(site, node, UNREADY if node == "w3" else READY) for node in site.nodes]
    return Case([], None, ("w2", "QuorumAtRisk", "control-plane etcd has 3 members, 2 healthy (not healthy: etcd-w3)"),
                lambda: site.api.patch(object_path(members[2], "status"), {"status": READY}, "strategic"), 1)


CASES = {"longhorn": longhorn, "rook-ceph": rook, "kubevirt": kubevirt, "cnpg": cnpg, "zalando": zalando, "etcd-operator": etcd_operator,
         "etcd": etcd}


def real(ctx: Context, **options: object) -> Site:
    return Site(ctx, ctx.private_cluster(controllers=False, kwok=False), **options)


def simulated(ctx: Context) -> Site:
    return Site(ctx, ctx.counterpart(controllers=False, kwok=False))


# -- each of the systems -------------------------------------------------------------------------------------------------


def json_lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def try_denied(site: Site, check: str, case: Case) -> None:
    node, evidence = case.denied
    pods = len(site.pods_on(node))
    done = site.drain(node, code=REFUSED)
    assert f"{check}: " in done.stderr and evidence in done.stderr and f"--skip-check {check} --reason WHY" in " ".join(done.stderr.split()), done
    site.untouched(node, pods)
    done = site.drain(node, "--json", code=REFUSED)
    said = json_lines(done.stdout)
    assert any(evidence in json.dumps(event) for event in said), done.stdout
    assert said[-1].get("exitCode", REFUSED) == REFUSED, said[-1]
    done = site.drain(node, "--dry-run=server", code=REFUSED)
    assert evidence in done.stderr, done
    assert "--skip-check needs --reason" in site.drain(node, f"--skip-check={check}", code=USAGE).stderr
    site.untouched(node, pods)
    reason = f"CHG-1 {check}"
    site.drain(node, "--skip-check", check, "--reason", reason)
    assert site.cordoned(node)
    told = [e for e in site.events("ChecksSkipped") if e["message"].endswith(f"reason: {reason}")]
    assert len(told) == 1 and told[0]["involvedObject"]["name"] == node and f"not asked: {check};" in told[0]["message"], told
    assert told[0]["type"] == "Warning", told
    site.back(node)


def try_waiting(site: Site, check: str, case: Case) -> None:
    node, code, evidence = case.waits
    # It ends by itself, with the status for that.
    done = site.blocked(evidence, node)
    assert evidence in done.stderr and f"{check}: " in done.stderr, done
    site.untouched(node, case.pods)
    # One that only asks is told at once.
    done = site.drain(node, "--dry-run=server", code=BLOCKED)
    assert "it would have to wait" in done.stderr and evidence in done.stderr, done
    # Killed in the wait, it leaves nothing behind, and the next one begins anew.
    child = site.begin(node)
    site.hears(child, evidence)
    child.send(signal.SIGKILL)
    child.end(number=None)
    site.untouched(node, case.pods)
    plain, events = site.begin(node), site.begin(node, "--json")
    site.hears(plain, evidence)
    site.hears(events, evidence)
    site.untouched(node, case.pods)
    blocked = [e for e in json_lines("\n".join(events.out)) if evidence in json.dumps(e)]
    assert any(code in json.dumps(e) and node in json.dumps(e) for e in blocked), blocked
    events.end(number=signal.SIGINT)
    assert plain.running, plain.err
    site.untouched(node, case.pods)
    case.mend()
    site.ends(plain)
    assert site.cordoned(node)
    site.back(node)


def try_why(site: Site, check: str, case: Case) -> None:
    for found in filter(None, (case.denied, (case.waits[0], case.waits[2]))):
        said = site.slipway("why", found[0], code=BLOCKED).stdout
        assert found[1] in " ".join(said.split()) and f"--skip-check {check} --reason \"$WHY\"" in " ".join(said.split()), said


def try_all(site: Site) -> None:
    site.install(ALL)
    for name, make in CASES.items():
        case = make(site)
        try_why(site, name, case)
        try_waiting(site, name, case)
        if case.denied:
            try_denied(site, name, case)
        site.clear()
    for node in site.nodes:
        assert "--skip-check" not in site.slipway("why", node).stdout


@limit(400)
def test_real(ctx: Context) -> None:
    try_all(real(ctx))


@limit(400)
def test_simulator(ctx: Context) -> None:
    try_all(simulated(ctx))


# -- several nodes ---------------------------------------------------------------------------------------------------------


def try_quorum(site: Site) -> None:
    for node in site.nodes:
        mirror(site, node)
        site.pod(f"app-{node}", node, {"app": "a"})
    # Back as soon as it is drained: one after the other, and never two at once.
    child = site.begin("w1", "w2", "--uncordon")
    said = site.ends(child)
    lines = [line for line in child.out if line.startswith("node/")]
    out = 0
    for line in lines:
        out += line.endswith(" cordoned")
        out -= line.endswith(" uncordoned")
        assert 0 <= out <= 1, said
    assert not site.cordoned("w1") and not site.cordoned("w2"), said
    # It stays cordoned: the second waits, and goes on when somebody brings the first one back.
    for node in ("w1", "w2"):
        site.pod(f"app-{node}", node, {"app": "a"})
    child = site.begin("w1", "w2")
    site.hears(child, "control-plane etcd has 3 members, 3 healthy; 1 would be left, 2 are needed")
    site.ctx.wait_for(lambda: sum(site.cordoned(n) for n in ("w1", "w2")) == 1, 30, "one of them to be cordoned")
    first, second = ("w1", "w2") if site.cordoned("w1") else ("w2", "w1")
    site.ctx.wait_for(lambda: len(site.pods_on(first)) == 1, 30, "the first to be empty")
    site.untouched(second, 2)
    site.hears(child, f"node/{first} drained")
    # Somebody else's drain of the third counts those that are out.
    site.blocked("control-plane etcd", "w3")
    site.untouched("w3", 2)
    site.back(first)
    said = site.ends(child)
    assert site.cordoned(second) and not site.cordoned(first), said
    site.back()
    # With a timeout: one is done, the other blocked.
    for node in ("w1", "w2"):
        if len(site.pods_on(node)) < 2:
            site.pod(f"app-{node}", node, {"app": "a"})
    site.blocked(" drained", "w1", "w2")
    assert sum(site.cordoned(n) for n in ("w1", "w2")) == 1
    site.back()
    site.clear()


@limit(180)
def test_a_quorum_real(ctx: Context) -> None:
    try_quorum(real(ctx))


@limit(180)
def test_a_quorum_simulator(ctx: Context) -> None:
    try_quorum(simulated(ctx))


def test_many_nodes(ctx: Context) -> None:
    """More than are read one by one: all pods are then, and the checks use the same nodes."""
    site = real(ctx, nodes=20)
    site.install(KUBEVIRT)
    site.add("kubevirt.io/v1", "VirtualMachineInstance", "stays", spec={"evictionStrategy": "LiveMigrate"},
             status={"nodeName": "w7", "phase": "Running",
                     "conditions": [{"type": "LiveMigratable", "status": "False", "message": "a disk is not shared"}]})
    said = site.drain("w[1-20]", code=PARTIAL)
    assert "virtual machine x/stays" in said.stderr, said
    site.untouched("w7")
    assert all(site.cordoned(n) for n in site.nodes if n != "w7")


# -- who may read what -------------------------------------------------------------------------------------------------------

# All that `kubectl drain --ignore-daemonsets` asks for (kubectl's pkg/drain and pkg/cmd/drain).
KUBECTL = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "patch"]},
           {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
           {"apiGroups": ["apps"], "resources": ["daemonsets"], "verbs": ["get"]},
           {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]}]
LOOKS = {"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["get", "list", "watch"]}


def grant(site: Site, user: str, name: str, *rules: dict) -> None:
    site.api.create({"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": list(rules)})
    site.api.create({"apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
                     "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
                     "subjects": [{"apiGroup": RBAC, "kind": "User", "name": user}]})
    site.cluster.wait_allowed(user, name)


@limit(180)
def test_what_cannot_be_read_waits(ctx: Context) -> None:
    """A user without permission for the kind: unknown is not healthy. The permission comes, and it goes on by itself."""
    site = real(ctx)
    site.install(CNPG)
    grant(site, "drainer", "drainer", *KUBECTL, LOOKS)
    site.pod("a", "w1", {"app": "a"})
    refused = 'clusters.postgresql.cnpg.io cannot be read: clusters.postgresql.cnpg.io is forbidden: User "drainer" cannot list'
    said = site.blocked(refused, "w1", user="drainer").stderr
    assert refused in said and "CheckUnknown" in site.blocked(refused.replace('"', '\\"'), "w1", "--json", user="drainer").stdout, said
    site.untouched("w1", 1)
    child = site.begin("w1", user="drainer")
    site.hears(child, refused)
    site.untouched("w1", 1)
    grant(site, "drainer", "reads", {"apiGroups": ["postgresql.cnpg.io"], "resources": ["clusters"], "verbs": ["get", "list", "watch"]})
    site.ends(child, timeout=120)
    assert site.cordoned("w1")


def requests_of(site: Site, user: str, mark: dict) -> Counter:
    """What was asked for, without Events, of which one who skips checks writes one more."""
    found: Counter = Counter()
    for event in site.cluster.audit.requests(mark, user=user):
        path = event["requestURI"].partition("?")[0]
        if "/events" not in path:
            found[event["verb"], path] += 1
    return found


@limit(180)
def test_nothing_installed_costs_one_request(ctx: Context) -> None:
    site = real(ctx)
    for user in ("with", "without"):
        grant(site, user, user, *KUBECTL)
    counts = {}
    for node, user, *skip in (("w1", "with"), ("w2", "without", "--skip-check=all", "--reason=as before")):
        site.pod(f"a-{node}", node, {"app": "a"})
        mark = site.cluster.audit.mark()
        site.drain(node, *skip, user=user)
        assert site.cordoned(node) and not site.pods_on(node)
        counts[user] = Counter({(verb, path.replace(node, "NODE")): n for (verb, path), n in requests_of(site, user, mark).items()})
    more = counts["with"] - counts["without"]
    # How often somebody who may not watch lists depends on the time: but nothing else is asked for.
    assert set(counts["with"]) - set(counts["without"]) == {("get", "/apis")} and more["get", "/apis"] == 1, counts
    assert set(counts["without"]) <= set(counts["with"]), counts


# -- what else may happen ------------------------------------------------------------------------------------------------------


def try_deleted_kind(site: Site) -> None:
    """The system is removed while a drain waits for it."""
    site.install(CNPG)
    case = cnpg(site)
    child = site.begin("w2")
    site.hears(child, case.waits[2])
    site.untouched("w2", 1)
    site.api.delete(f"{DEFINITIONS}/clusters.postgresql.cnpg.io")
    site.ends(child, timeout=100)
    assert site.cordoned("w2")


@limit(180)
def test_a_kind_is_deleted_real(ctx: Context) -> None:
    try_deleted_kind(real(ctx))


@limit(180)
def test_a_kind_is_deleted_simulator(ctx: Context) -> None:
    try_deleted_kind(simulated(ctx))


OBEYED = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]"  # by terminals


def test_hostile_words(ctx: Context) -> None:
    """What objects say is shown on the line it belongs to, without what a terminal would obey; what has the wrong shape waits."""
    site = real(ctx)
    site.install(CNPG)
    bad = "\x1b[2J\x1b]0;owned\x07\r\nnode/w1 drained\n\u202egnp\u0085\x00"[:-1]
    site.add("postgresql.cnpg.io/v1", "Cluster", "db", spec={"instances": 2},
             status={"instances": 2, "readyInstances": 1, "currentPrimary": bad, "targetPrimary": bad, "phase": bad * 40})
    for name, node in (("db-1", "w3"), ("db-2", "w2")):
        site.pod(name, node, {"cnpg.io/cluster": "db", "cnpg.io/podRole": "instance"})
    for arguments in ((), ("--json",), ("-v=2",)):
        done = site.blocked("cnpg: PostgreSQL cluster x/db", "w2", *arguments)
        said = done.stdout + done.stderr
        # Of JSON the reader makes what was there; it is harmless on its line.
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f]" if "--json" in arguments else OBEYED, said), ascii(said)
        assert not any(line.startswith("node/w1 drained") for line in said.splitlines()), ascii(said)
        assert max(len(line) for line in said.splitlines()) < 5000, ascii(said)
        assert "cnpg: PostgreSQL cluster x/db" in said, ascii(said)
    said = site.slipway("why", "w2", code=BLOCKED).stdout
    assert not re.search(OBEYED, said), ascii(said)
    site.add("postgresql.cnpg.io/v1", "Cluster", "odd", spec={"instances": "three"}, status=[1, 2])
    found = {(i["code"], i["object"]["name"]) for i in site.ask("w2", code=BLOCKED)["items"] if i["check"] == "cnpg"}
    assert {("StorageNotOkToStop", "db"), ("CheckUnknown", "odd")} <= found, found  # it hides nothing of the other
    site.api.call("DELETE", "/apis/postgresql.cnpg.io/v1/namespaces/x/clusters/db")
    wrong = "cannot read Cluster x/odd: spec.instances: expected a number, found a string"
    assert wrong in site.blocked(wrong, "w2").stderr
    site.untouched("w2", 1)


class Screen:
    """A drain on a terminal: what it has written there."""

    def __init__(self, site: Site, *arguments: str) -> None:
        self.fd, other = pty.openpty()
        env = site.ctx.environment(site.cluster.admin, {"TERM": "xterm", "COLUMNS": "160", "LINES": "40"})
        env.pop("CI", None)
        self.process = subprocess.Popen([str(site.ctx.slipway), "drain", *arguments, *AT_ONCE], env=env, cwd=site.ctx.tmp, stdin=other,
                                        stdout=other, stderr=other, start_new_session=True)
        os.close(other)
        self.text = ""
        threading.Thread(target=self.read, daemon=True).start()
        site.ctx.undo(self.end)

    def read(self) -> None:
        try:
            while data := os.read(self.fd, 65536):
                self.text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", data.decode(errors="replace"))
        except OSError:
            pass  # the other side is closed

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def test_on_a_terminal(ctx: Context) -> None:
    site = real(ctx)
    site.install(CNPG)
    case = cnpg(site)
    screen = Screen(site, "w2")
    site.ctx.wait_for(lambda: "1 waiting: StorageNotOkToStop x/db: cnpg: PostgreSQL cluster x/db has 1 of 2 instances ready" in screen.text, 30,
                      "the terminal to say what is waited for")
    site.untouched("w2", 1)
    case.mend()
    assert screen.process.wait(60) == DONE, screen.text
    assert site.cordoned("w2")


def test_usage(ctx: Context) -> None:
    site = real(ctx)
    for words, part in ((["--skip-check=nonesuch", "--reason=x"], '"nonesuch" is none of longhorn, rook-ceph'),
                        (["--skip-check=longhorn"], "--skip-check needs --reason"), (["--skip-check=all", "--reason= "], "needs --reason")):
        assert part in site.drain("w1", *words, code=USAGE).stderr
    site.untouched("w1")
    # The words of the only control plane: it is drained, and told that nothing more may be done.
    mirror(site, "w1")
    said = site.drain("w1")
    assert "it is drained, but nothing more may be done to it: etcd: " in said.stderr, said
    site.back("w1")
    assert "nothing more may be done" not in site.drain("w1", "--skip-check=etcd,longhorn", "--reason=x").stderr
