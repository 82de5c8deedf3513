"""`slipway checks` on a real API server and on the simulator: custom resources in the shapes of the projects' own, the verdicts
that must come of them, and what happens when they cannot be read."""

from __future__ import annotations

import re
from datetime import datetime, timezone

from api import object_path
from checks_site import ALL, BLOCKED, CHECKS, CNPG, DONE, FAILED, READY, REFUSED, UNREADY, USAGE, Site
from context import ROOT, Context, limit

# -- what must come of which objects -----------------------------------------------------------------------------


def longhorn(site: Site) -> None:
    version, ns = "longhorn.io/v1beta2", "x"
    for node in site.nodes:
        site.add(version, "InstanceManager", f"im-{node}", ns, spec={"nodeID": node, "type": "aio", "dataEngine": "v1"},
                 status={"currentState": "running"})
    site.add(version, "Setting", "node-drain-policy", ns, value="block-if-contains-last-replica", status={"applied": True})
    site.add(version, "Setting", "default-replica-count", ns, value="3")
    for name, count, nodes in (("pvc-1", 1, ["w1"]), ("pvc-2", 2, ["w2", "w3"])):
        site.add(version, "Volume", name, ns, spec={"numberOfReplicas": count, "size": "1073741824", "dataEngine": "v1"},
                 status={"state": "attached", "robustness": "healthy", "currentNodeID": "w3"})
        for node in nodes:
            site.add(version, "Replica", f"{name}-r-{node}", ns, status={"currentState": "running"},
                     spec={"volumeName": name, "nodeID": node, "dataEngine": "v1", "healthyAt": "2026-11-01T00:00:00Z", "failedAt": "",
                           "desireState": "running"})
    item, = site.expect("longhorn", "w1", REFUSED, "deny LastReplica w1 cordon,operation")
    assert item["message"] == "volume pvc-1 has its only healthy replica pvc-1-r-w1 on node w1 (1 of 1 healthy)", item
    assert item["object"] == {"kind": "Volume", "namespace": "x", "name": "pvc-1"}, item
    site.expect("longhorn", "w2", DONE, "pass - w2 cordon,operation")
    site.expect("longhorn", "w3", DONE, "wait VolumeStillAttached w3 operation")
    site.expect("longhorn", "w3 --before operation", BLOCKED, "wait VolumeStillAttached w3 operation")
    site.expect("longhorn", "w[2-3]", BLOCKED, "wait LastReplica w2 cordon,operation", "wait LastReplica w3 cordon,operation",
                "wait VolumeStillAttached w3 operation")
    site.expect("longhorn", "w2 --before next", DONE, "pass - w2 next")
    site.api.patch("/apis/longhorn.io/v1beta2/namespaces/x/volumes/pvc-2", {"status": {"robustness": "degraded"}})
    site.expect("longhorn", "w2 --before next", BLOCKED, "wait StorageNotOkToStop w2 next")
    # Without nodes each is looked at alone, and the status is that of a list.
    site.expect("longhorn", "", DONE, "deny LastReplica w1 cordon,operation", "wait StorageNotOkToStop w2 cordon",
                "wait StorageNotOkToStop w3 cordon", "wait VolumeStillAttached w3 operation")


def rook(site: Site) -> None:
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    ceph = site.add("ceph.rook.io/v1", "CephCluster", "my", spec={"mon": {"count": 3}},
                    status={"phase": "Ready", "ceph": {"health": "HEALTH_OK", "lastChecked": now}})
    site.add("ceph.rook.io/v1", "CephBlockPool", "pool", spec={"failureDomain": "rack", "replicated": {"size": 3}})
    for i, (node, rack) in enumerate((("w1", "a"), ("w2", "a"), ("w3", "b"))):
        site.pod(f"osd-{i}", node, {"app": "rook-ceph-osd", "topology-location-rack": rack, "topology-location-host": node})
    site.expect("rook-ceph", "w[1-2]", DONE, "pass - w1 cordon,operation", "pass - w2 cordon,operation")
    site.expect("rook-ceph", "w[1,3]", BLOCKED, "wait StorageNotOkToStop w1 cordon,operation", "wait StorageNotOkToStop w3 cordon,operation")
    state = site.add("v1", "ConfigMap", "rook-ceph-pdbstatemap", data={"draining-failure-domain": "a", "set-no-out": "true"})
    item, = site.expect("rook-ceph", "w3", BLOCKED, "wait StorageNotOkToStop w3 cordon,operation")
    assert item["message"] == "Rook lets failure domain a drain, and no other; this node is of b", item
    sick = {"status": {"ceph": {"health": "HEALTH_WARN", "details": {"OSD_DOWN": {"severity": "HEALTH_WARN", "message": "1 osds down"}}}}}
    site.api.patch(object_path(ceph), sick)
    site.expect("rook-ceph", "w1", DONE, "pass - w1 cordon,operation")
    site.api.patch(object_path(state), {"data": {"draining-failure-domain": ""}})
    item, = site.expect("rook-ceph", "w1", BLOCKED, "wait StorageNotOkToStop w1 cordon")
    assert "OSD_DOWN (1 osds down)" in item["message"], item
    site.api.patch(object_path(ceph), {"status": {"ceph": {"lastChecked": "2020-01-01T00:00:00Z"}}})
    site.expect("rook-ceph", "w1", BLOCKED, "wait CheckUnknown w1 cordon,operation")


def kubevirt(site: Site) -> None:
    def machine(name: str, node: str, migratable: str, **spec: str) -> None:
        site.add("kubevirt.io/v1", "VirtualMachineInstance", name, spec=spec,
                 status={"nodeName": node, "phase": "Running",
                         "conditions": [{"type": "LiveMigratable", "status": migratable, "lastProbeTime": None, "message": "a disk is not shared"}]})

    machine("moves", "w1", "True", evictionStrategy="LiveMigrate")
    machine("stays", "w2", "False", evictionStrategy="LiveMigrate")
    machine("stops", "w3", "False")
    site.expect("kubevirt", "w1", DONE, "wait EvictionInProgress w1 operation")
    item, = site.expect("kubevirt", "w2", REFUSED, "deny NotMigratable w2 cordon,operation")
    assert item["message"].endswith("cannot: a disk is not shared"), item
    site.expect("kubevirt", "w3", DONE, "pass NotMigratable w3 operation", "pass - w3 cordon,operation")
    site.add("kubevirt.io/v1", "KubeVirt", "kubevirt", spec={"configuration": {"evictionStrategy": "LiveMigrate"}}, status={"phase": "Deployed"})
    site.expect("kubevirt", "w3", REFUSED, "deny NotMigratable w3 cordon,operation")


def cnpg(site: Site) -> None:
    db = site.add("postgresql.cnpg.io/v1", "Cluster", "db", spec={"instances": 2},
                  status={"instances": 2, "readyInstances": 2, "currentPrimary": "db-1", "targetPrimary": "db-1", "phase": "Cluster in healthy state"})
    for name, node in (("db-1", "w1"), ("db-2", "w2")):
        site.pod(name, node, {"cnpg.io/cluster": "db", "cnpg.io/podRole": "instance"})
    site.expect("cnpg", "w1", DONE, "wait PrimaryOnNode w1 operation")
    site.expect("cnpg", "w2", DONE, "pass - w2 cordon,operation")
    site.expect("cnpg", "w[1-2]", BLOCKED, "wait LastReplica w1 cordon,operation", "wait LastReplica w2 cordon,operation")
    site.api.patch(object_path(db), {"status": {"readyInstances": 1, "phase": "Waiting for the instances to become active"}})
    site.expect("cnpg", "w2", BLOCKED, "wait StorageNotOkToStop w2 cordon")
    site.expect("cnpg", "w2 --before next", BLOCKED, "wait StorageNotOkToStop w2 next")
    site.api.patch(object_path(db), {"spec": {"instances": 1}})
    site.expect("cnpg", "w1", REFUSED, "deny LastReplica w1 cordon,operation")


def zalando(site: Site) -> None:
    site.add("acid.zalan.do/v1", "postgresql", "acid-db", spec={"teamId": "acid", "numberOfInstances": 2},
             status={"PostgresClusterStatus": "Running"})
    for i, role in enumerate(("master", "replica")):
        site.pod(f"acid-db-{i}", site.nodes[i], {"application": "spilo", "cluster-name": "acid-db", "spilo-role": role})
    item, = site.expect("zalando", "w1", DONE, "wait PrimaryOnNode w1 operation")
    assert "node_readiness_label" in item["hint"], item
    site.expect("zalando", "w2", DONE, "pass - w2 cordon,operation")


def etcd_operator(site: Site) -> None:
    members = [{"name": f"e-{i}", "id": f"{i}", "isHealthy": True} for i in range(3)]
    e = site.add("operator.etcd.io/v1alpha1", "EtcdCluster", "e", spec={"size": 3, "version": "v3.5.21"}, status={"members": members})
    for i, node in enumerate(site.nodes):
        site.pod(f"e-{i}", node, {"app": "e", "controller": "e"})
    site.expect("etcd-operator", "w1", DONE, "pass - w1 cordon,operation")
    site.expect("etcd-operator", "w[1-2]", BLOCKED, "wait QuorumAtRisk w1 cordon,operation", "wait QuorumAtRisk w2 cordon,operation")
    members[2]["isHealthy"] = False
    site.api.patch(object_path(e), {"status": {"members": members}})
    item, = site.expect("etcd-operator", "w1", BLOCKED, "wait QuorumAtRisk w1 cordon,operation")
    assert item["message"] == "etcd cluster x/e has 3 members, 2 healthy (not healthy: e-2); 1 would be left, 2 are needed", item


def etcd(site: Site) -> None:
    for node in site.nodes:
        site.pod(f"etcd-{node}", node, {"component": "etcd", "tier": "control-plane"}, UNREADY if node == "w3" else READY, "kube-system")
    site.expect("etcd", "w1", BLOCKED, "wait QuorumAtRisk w1 cordon,operation")
    site.expect("etcd", "w3", DONE, "pass - w3 cordon,operation")
    site.expect("etcd", "w3 --before next", BLOCKED, "wait QuorumAtRisk w3 next")


SCENARIOS = {"longhorn": longhorn, "rook-ceph": rook, "kubevirt": kubevirt, "cnpg": cnpg, "zalando": zalando,
             "etcd-operator": etcd_operator, "etcd": etcd}


def states(document: dict) -> dict[str, str]:
    assert [c["name"] for c in document["checks"]] == CHECKS, document["checks"]
    return {c["name"]: c["state"] for c in document["checks"]}


def try_all(site: Site) -> None:
    """On a server that has none of the systems, then with all of them: empty, and with objects."""
    document = site.ask("w1")
    assert set(states(document).values()) == {"notInstalled"} and document["items"] == [], document
    lines = site.run().stdout.splitlines()
    assert len(lines) == 1 + len(CHECKS) and all(re.search("not installed|there are none", line) for line in lines[1:]), lines
    site.install(ALL)
    document = site.ask("w1")
    assert states(document) == {name: "notInstalled" if name in ("etcd", "statefulset") else "installed" for name in CHECKS}, document
    assert {i["verdict"] for i in document["items"]} <= {"pass"}, document
    for name, scenario in SCENARIOS.items():
        scenario(site)
        table = site.run().stdout
        assert any(line.startswith(f"{name} ") and "not installed" not in line for line in table.splitlines()), table
        site.clear()


@limit(240)
def test_real(ctx: Context) -> None:
    try_all(Site(ctx, ctx.private_cluster(controllers=False, kwok=False)))


@limit(240)
def test_simulator(ctx: Context) -> None:
    try_all(Site(ctx, ctx.counterpart(controllers=False, kwok=False)))


def test_what_cannot_be_read_waits(ctx: Context) -> None:
    """A user who may list nodes only: kinds that are not there are no reason to wait, those that are there are."""
    site = Site(ctx, ctx.private_cluster(controllers=False, kwok=False))
    rule = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]}
    site.api.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "looks"}, "rules": [rule]})
    site.api.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "looks"},
                     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "looks"},
                     "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "looker"}]})
    site.cluster.wait_allowed("looker", "looks")
    document = site.ask("w1", user="looker", code=BLOCKED)
    found = states(document)
    assert {name for name, state in found.items() if state == "unreadable"} == {"etcd", "statefulset"}, found
    # Whether there is an etcd cannot be told; a remark is not worth a wait.
    assert [(i["check"], i["code"]) for i in document["items"]] == [("etcd", "CheckUnknown")], document
    site.install(CNPG)
    items = site.ask("w1", user="looker", code=BLOCKED)["items"]
    message = next(i["message"] for i in items if i["check"] == "cnpg")
    assert message.startswith("clusters.postgresql.cnpg.io cannot be read: ") and 'User "looker" cannot list' in message, items


def test_hostile_objects_wait(ctx: Context) -> None:
    """What has the wrong shape, or is of a version that we do not know, is not taken for healthy, and crashes nothing."""
    site = Site(ctx, ctx.private_cluster(controllers=False, kwok=False))
    site.install(CNPG + [("longhorn.io", "v1beta1", "Volume")])
    site.add("postgresql.cnpg.io/v1", "Cluster", "odd", spec={"instances": "three"}, status=[1, 2])
    items = {i["check"]: i for i in site.ask("w1", code=BLOCKED)["items"]}
    assert items["cnpg"]["code"] == "CheckUnknown", items
    assert items["cnpg"]["message"].startswith("cannot read Cluster x/odd: spec.instances: expected a number, found a string"), items
    assert items["longhorn"]["code"] == "CheckUnknown", items
    assert items["longhorn"]["message"] == "volumes.longhorn.io cannot be read: the server does not have it as longhorn.io/v1beta2", items


def test_usage(ctx: Context) -> None:
    site = Site(ctx, ctx.private_cluster(controllers=False, kwok=False))
    assert 'there is no node "w9"' in site.run("w9", code=FAILED).stderr
    assert "not both" in site.run("w1", "-l", "a=b", code=USAGE).stderr
    assert "cordon, operation, next" in site.run("w1", "--before", "lunch", code=USAGE).stderr
    assert site.run("-l", "a=b").stderr == "No nodes found\n"
    assert site.run("-l", "slipway.dev/test=checks", "-o", "name").stdout.splitlines() == [f"check/{name}" for name in CHECKS]
    wide = site.run("w1", "-o", "wide").stdout.splitlines()[0]
    assert [word for word in ("CODE", "OBJECT", "OVER WHEN", "TO DO") if word not in wide] == [], wide


def test_the_page_has_every_check(ctx: Context) -> None:
    headings = [line[3:] for line in (ROOT / "docs" / "checks.md").read_text().splitlines() if line.startswith("## ")]
    assert headings == ["Before what", "Budgets of operators", "In a drain", "In the controller", *CHECKS], headings
