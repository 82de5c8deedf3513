"""Every kind, listed, watched and decoded both ways, compared with what kubectl prints."""

from __future__ import annotations

import json
import random
import re
import threading
from pathlib import Path

import rich
from api import object_path
from context import Context, limit
from objects import budget, budget_status, lease, pod, running
from probes import Watch, flags, tables, write
from project import project

GATES = [{"name": "slipway.dev/nobody-touches-it"}]  # not even the scheduler
WAYS = [{"json": json_, "list": list_} for json_ in (False, True) for list_ in (False, True)]


def resource_of(table: dict) -> str:
    """As kubectl takes it without guessing: pods.v1., leases.v1.coordination.k8s.io."""
    group, _, version = table["apiVersion"].rpartition("/")
    return f"{table['resource']}.{version}.{group}"


def kubectl_sees(cluster, kind: str, rows: dict, *arguments: str) -> list[dict]:
    """kubectl's objects as the probe must print them, sorted as the probe sorts."""
    scope = ["-A"] if rows[kind]["namespaced"] and "-n" not in arguments else []
    said = json.loads(cluster.kubectl("get", resource_of(rows[kind]), "-o", "json", *scope, *arguments))
    found = [project(kind, item, rows) for item in said["items"]]
    return sorted(found, key=lambda o: (o["metadata"].get("namespace", ""), o["metadata"]["name"]))


def difference(seen: object, wanted: object, path: str = "") -> list[str]:
    """Where two JSON values differ, one line a place."""
    if type(seen) is type(wanted) and isinstance(seen, dict):
        lines = []
        for key in sorted(set(seen) | set(wanted)):
            lines += difference(seen.get(key), wanted.get(key), f"{path}.{key}")
        return lines
    if type(seen) is type(wanted) and isinstance(seen, list) and len(seen) == len(wanted):
        return [line for i, (a, b) in enumerate(zip(seen, wanted)) for line in difference(a, b, f"{path}[{i}]")]
    return [] if seen == wanted else [f"{path}: the probe has {seen!r:.200}, kubectl {wanted!r:.200}"]


def assert_same(seen: list[dict], wanted: list[dict], what: object) -> None:
    def by_name(objects: list[dict]) -> dict:
        return {f"{o['metadata'].get('namespace', '')}/{o['metadata']['name']}": o for o in objects}
    lines = difference(by_name(seen), by_name(wanted))
    assert not lines, f"{what}:\n" + "\n".join(lines[:20])
    assert seen == wanted, f"{what}: not sorted by namespace and name, or doubled"


def minor_of(ctx: Context) -> int:
    return int(ctx.cluster_binaries.version.split(".")[1])


def attempts(ctx: Context, list: bool, **_: bool) -> int:
    """How many times a reflector begins until it is synced: once more where WatchList is off by default."""
    return 1 if list or minor_of(ctx) != 33 else 2


def assert_seen(ctx: Context, kind: str, wanted: list[dict], kubeconfig: Path | None = None, **options: object) -> None:
    """Probes of all four ways hold exactly that when they say that they are synced, after one list and one watch."""
    watches = [Watch(ctx, kind, kubeconfig, quiet=True, **way, **options) for way in WAYS]
    for way, watch in zip(WAYS, watches):
        told = watch.synced()
        seen = watch.dump()
        assert told["objects"] == len(seen), told
        assert_same(seen, wanted, (kind, way, options))
        stats, tries = watch.stats(), attempts(ctx, **way)
        assert stats["lists"] == stats["watches"] == tries and stats["relists"] == stats["failures"] == 0, stats
        watch.end()


# -- every field of every kind ------------------------------------------------------------------------------------


def rows_with_values(rows: list[dict], value: dict, path: str, found: set[str]) -> None:
    """The paths of the rows for which the object has something."""
    for row in rows:
        if row["json"] is None:
            rows_with_values(row["fields"], value, path, found)
            continue
        here = value.get(row["json"])
        if here is None or here == [] or here == {} and row["kind"] in ("msg", "map", "mapqty", "maptime"):
            continue
        found.add(f"{path}.{row['json']}")
        if "fields" in row:
            for each in here if isinstance(here, list) else [here]:
                rows_with_values(row["fields"], each, f"{path}.{row['json']}", found)


def all_rows(rows: list[dict], path: str) -> set[str]:
    found = set()
    for row in rows:
        here = path if row["json"] is None else f"{path}.{row['json']}"
        found |= {here} | (all_rows(row["fields"], here) if "fields" in row else set())
    return found


def not_to_be_had(path: str, minor: int) -> bool:
    """Rows that no object in this cluster can fill: of alpha fields, and of what a kind does not have."""
    kind, _, rest = path.partition(".")
    if "evictionResponders" in rest:  # 1.37, alpha
        return True
    if rest.endswith("spec.containers.restartPolicy"):  # the restart rules of single containers came later
        return True
    if rest == "metadata.generation":
        return kind in ("Node", "Namespace", "Lease", "Event", "ConfigMap", "PersistentVolume", "PersistentVolumeClaim",
                        "VolumeAttachment", "StorageClass", "CSINode", "ResourceQuota", "ServiceAccount")
    if minor < 34 and rest.removeprefix("spec.template.").startswith("spec.resources") and kind != "PersistentVolumeClaim":
        return True
    if rest == "metadata.deletionGracePeriodSeconds":
        return kind == "Namespace"
    if rest.startswith("spec.template"):
        return rest.endswith(("spec.priority", "spec.preemptionPolicy"))
    if rest == "metadata.namespace" or rest.startswith("metadata.finalizers"):
        return kind in ("Node", "Namespace", "PersistentVolume", "VolumeAttachment", "StorageClass", "CSINode")
    return False


@limit(240)
def test_every_field_of_every_kind(ctx: Context) -> None:
    minor = minor_of(ctx)
    gates = ["CoordinatedLeaderElection=true"] + (["DynamicResourceAllocation=true"] if minor < 34 else [])
    served = "--runtime-config=coordination.k8s.io/v1beta1=true" + (",resource.k8s.io/v1beta1=true" if minor < 34 else "")
    cluster = ctx.private_cluster(controllers=False, kwok=False,
                                  apiserver_flags=["--feature-gates=" + ",".join(gates), served])
    ns = "rich"
    cluster.kubectl("create", "-f", "-", input=[rich.namespace(ns), *rich.prerequisites(ns)])
    objects = [o for o in rich.everything(ns, pod_resources=minor >= 34) if o["kind"] != "Namespace"]
    doomed = rich.doomed([rich.namespace(ns), *objects])
    cluster.kubectl("create", "-f", "-", input=[{k: v for k, v in o.items() if k != "status"} for o in objects + doomed])
    rows = tables(ctx)
    for obj in [rich.namespace(ns), *objects]:
        if "status" in obj:
            cluster.api.patch(object_path(obj, "status"), {"status": obj["status"]})
    for obj in doomed:
        cluster.api.delete(object_path(obj))
    kinds = [kind for kind in rows if kind != "Status"]
    assert len(kinds) == 19, kinds
    found: set[str] = set()
    for kind in kinds:
        scope = ns if kind == "Lease" else None  # the servers renew theirs elsewhere
        wanted = kubectl_sees(cluster, kind, rows, *flags({"n": scope}))
        assert any(o["metadata"]["name"] == "doomed" and o["metadata"].get("deletionTimestamp") for o in wanted), kind
        assert_seen(ctx, kind, wanted, cluster.admin, n=scope)
        one = next(o for o in wanted if o["metadata"]["name"] in ("rich", "old"))
        got = write(ctx, "get", kind, one["metadata"]["name"], n=one["metadata"].get("namespace"), kubeconfig=cluster.admin)
        assert_same([got["object"]], [one], (kind, "get"))
        for obj in wanted:
            rows_with_values(rows[kind]["fields"], obj, kind, found)
    missing = {path for kind in kinds for path in all_rows(rows[kind]["fields"], kind)} - found
    missing = {path for path in missing if not not_to_be_had(path, minor)}
    assert not missing, "rows that no object filled:\n" + "\n".join(sorted(missing))


@limit(180)
def test_every_kind_of_a_living_cluster(ctx: Context) -> None:
    """The shared cluster with its controllers at work: what is at rest agrees."""
    ctx.nodes(3)
    ns = ctx.namespace()
    ctx.cluster.kubectl("-n", ns, "create", "deployment", "web", "--image=registry.test/web:1", "--replicas=4")
    running(ctx, ns, 4)
    rows = tables(ctx)
    for kind in rows:
        if kind == "Status":
            continue
        scope = ["-n", ns] if rows[kind]["namespaced"] else []
        watch = Watch(ctx, kind, quiet=True, n=ns if scope else None)
        watch.synced()

        def agrees() -> bool:
            assert_same(watch.dump(), kubectl_sees(ctx.cluster, kind, rows, *scope), kind)
            return True

        ctx.wait_for(agrees, 20, f"the same {kind}s")
        watch.end()


# -- changes ------------------------------------------------------------------------------------------------------


def test_changes_arrive_as_kubectl_makes_them(ctx: Context) -> None:
    ns = ctx.namespace()
    rows = tables(ctx)
    watches = [Watch(ctx, "Lease", n=ns, **way) for way in WAYS]
    for watch in watches:
        watch.synced()
    arguments = ("-n", ns, "-o", "json")
    expected: list[tuple[str, dict]] = []

    def did(kind: str, *command: str, input: dict | None = None) -> None:
        said = json.loads(ctx.cluster.kubectl(*command, *arguments, input=input))
        expected.append((kind, project("Lease", said, rows)))

    did("ADDED", "create", "-f", "-", input=lease("one", ns, holderIdentity="a"))
    did("MODIFIED", "patch", "lease", "one", "--type=merge", "-p", json.dumps({"metadata": {"labels": {"x": "y"}}}))
    did("MODIFIED", "annotate", "lease", "one", f"note={rich.SPOKEN}")
    did("ADDED", "create", "-f", "-", input=lease("two", ns))
    did("MODIFIED", "patch", "lease", "one", "--type=merge", "-p", json.dumps({"spec": {"holderIdentity": "b"}}))
    did("MODIFIED", "patch", "lease", "one", "--type=json", "-p", '[{"op":"remove","path":"/metadata/labels/x"}]')
    ctx.cluster.kubectl("-n", ns, "delete", "lease", "one")
    expected.append(("DELETED", expected[-1][1]))
    did("ADDED", "create", "-f", "-", input=lease("one", ns, holderIdentity="again"))
    for way, watch in zip(WAYS, watches):
        ctx.wait_for(lambda: len(watch.events) >= len(expected), 20, f"{len(expected)} events")
        seen = [(event["type"], event["object"]) for event in watch.events]
        assert seen == expected, difference([list(e) for e in seen], [list(e) for e in expected])
        watch.check_history()
        assert watch.stats()["watches"] == attempts(ctx, **way), "one stream for all of it"
        watch.end()


def test_what_changes_without_being_seen_is_no_event(ctx: Context) -> None:
    """A change of a field that no table names brings a new version and nothing else; a write that changes nothing, nothing."""
    ns = ctx.namespace()
    ctx.cluster.api.create(pod("p", ns, schedulingGates=GATES))
    watch = Watch(ctx, "Pod", n=ns)
    watch.synced()
    before, = watch.dump()
    patched = ctx.cluster.api.patch(f"/api/v1/namespaces/{ns}/pods/p", {"spec": {"activeDeadlineSeconds": 7200}}, "strategic")
    ctx.wait_for(lambda: watch.dump()[0]["metadata"]["resourceVersion"] == patched["metadata"]["resourceVersion"], 10, "the new version")
    after, = watch.dump()
    assert after["spec"] == before["spec"] and after["metadata"]["generation"] == before["metadata"]["generation"] + 1
    events = len(watch.events)
    assert ctx.cluster.api.patch(f"/api/v1/namespaces/{ns}/pods/p", {"metadata": {"labels": {}}})["metadata"] == patched["metadata"]
    ctx.cluster.api.create(pod("q", ns, schedulingGates=GATES))
    ctx.wait_for(lambda: "q" in watch.names(), 10, "the next pod")
    assert not [e for e in watch.events[events:] if e["object"]["metadata"]["name"] == "p"]
    watch.end()


@limit(180)
def test_large_objects(ctx: Context) -> None:
    """A pod of more than a megabyte, most of which we skip, in lists and streams, both ways."""
    ns = ctx.namespace()
    rows = tables(ctx)
    watches = [Watch(ctx, "Pod", n=ns, **way) for way in WAYS]
    for watch in watches:
        watch.synced()
    huge = pod("huge", ns, schedulingGates=GATES)
    huge["spec"]["containers"][0]["env"] = [{"name": f"E{i}", "value": f"{i}" + "\\\"é" * 6000} for i in range(30)]
    ctx.cluster.api.create(huge)
    wanted = kubectl_sees(ctx.cluster, "Pod", rows, "-n", ns)
    for watch in watches:
        ctx.wait_for(lambda: watch.names() == ["huge"], 20, "the pod")
        assert_same(watch.dump(), wanted, "watched")
        watch.end()
    assert_seen(ctx, "Pod", wanted, n=ns)


def test_characters_that_c_strings_cannot_hold(ctx: Context) -> None:
    """A NUL in an annotation, which Kubernetes stores, is shown as a replacement character from either format."""
    ns = ctx.namespace()
    made = lease("odd", ns)
    made["metadata"]["annotations"] = {"a": "left\0right", "b": "\ufffd🚢"}
    ctx.cluster.api.create(made)
    wanted, = kubectl_sees(ctx.cluster, "Lease", tables(ctx), "-n", ns)
    assert wanted["metadata"]["annotations"]["a"] == "left\0right"
    wanted["metadata"]["annotations"] = {"a": "left\ufffdright", "b": "\ufffd🚢"}
    assert_seen(ctx, "Lease", [wanted], n=ns)


# -- selectors ----------------------------------------------------------------------------------------------------


def test_selectors(ctx: Context) -> None:
    first, second = ctx.nodes(2)
    ns = ctx.namespace()
    for i in range(6):
        node = (first, second)[i % 2]
        ctx.cluster.api.create(pod(f"p{i}", ns, {"n": str(i), "even": str(i % 2 == 0).lower()}, nodeName=node))
    running(ctx, ns, 6)
    rows = tables(ctx)
    for field, label in ((f"spec.nodeName={first}", None), (None, "even=true"), (None, "n in (1,2,5),even!=true"),
                         (None, "!nowhere,n notin (0)"), (f"spec.nodeName={first},metadata.name!=p0", "even"),
                         ("status.phase!=Running", None), ("metadata.namespace=elsewhere", None)):
        wanted = kubectl_sees(ctx.cluster, "Pod", rows, "-n", ns, *flags({"field_selector": field, "selector": label}))
        assert_seen(ctx, "Pod", wanted, n=ns, field_selector=field, label_selector=label)
    names = [p["metadata"]["name"] for p in kubectl_sees(ctx.cluster, "Pod", rows, "-A", "--field-selector", f"spec.nodeName={first}")]
    assert names == ["p0", "p2", "p4"], "kubectl itself does not select"


def test_objects_enter_and_leave_a_selector(ctx: Context) -> None:
    ns = ctx.namespace()
    watches = [Watch(ctx, "Lease", n=ns, label_selector="in=yes", **way) for way in WAYS]
    for watch in watches:
        watch.synced()
    path = f"/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/a"
    ctx.cluster.api.create(lease("a", ns))
    for value in ("yes", "no", "yes", None):
        ctx.cluster.api.patch(path, {"metadata": {"labels": {"in": value}}})
    ctx.cluster.api.patch(path, {"metadata": {"labels": {"in": "yes"}}})
    for watch in watches:
        ctx.wait_for(lambda: len(watch.events) >= 5, 20, "five events")
        assert [e["type"] for e in watch.events] == ["ADDED", "DELETED", "ADDED", "DELETED", "ADDED"], watch.events
        watch.check_history()
        watch.end()


def test_selectors_that_the_server_refuses(ctx: Context) -> None:
    for way in WAYS:
        watch = Watch(ctx, "Pod", field_selector="spec.nowhere=x", **way)
        told = watch.problem()
        assert told["outcome"] == "Invalid" and "spec.nowhere" in told["message"], told
        assert told["retryMilliseconds"] >= 800, told
        watch.end()


# -- pages --------------------------------------------------------------------------------------------------------


@limit(180)
def test_small_pages_while_objects_change(ctx: Context) -> None:
    ns = ctx.namespace()
    rows = tables(ctx)
    ctx.cluster.api.bulk(lease(f"l{i:03d}", ns, holderIdentity=str(i)) for i in range(120))
    base = f"/apis/coordination.k8s.io/v1/namespaces/{ns}/leases"
    stop = threading.Event()
    rng = random.Random(4)

    def churn() -> None:
        count = 1000
        while not stop.is_set():
            what, number = rng.randrange(3), rng.randrange(120)
            if what == 0:
                ctx.cluster.api.create(lease(f"l{rng.randrange(120):03d}-{count}", ns))
                count += 1
            elif what == 1:
                ctx.cluster.api.raw("DELETE", f"{base}/l{number:03d}")
            else:
                body = json.dumps({"spec": {"holderIdentity": f"changed {count} {number}"}}).encode()
                ctx.cluster.api.raw("PATCH", f"{base}/l{number:03d}", body, "application/merge-patch+json")
                count += 1

    worker = threading.Thread(target=churn)
    worker.start()
    try:
        mark = ctx.cluster.audit.mark()
        watches = [Watch(ctx, "Lease", n=ns, list=True, page=3, json=json_) for json_ in (False, True)] + [Watch(ctx, "Lease", n=ns)]
        for watch in watches:
            watch.synced()
        lists = [e["requestURI"] for e in ctx.cluster.audit.requests(mark, verb="list", namespace=ns, agent="slipway-probe")]
        assert sum("continue=" in uri and "limit=3" in uri for uri in lists) > 60, len(lists)
        assert all("limit=3" in uri for uri in lists if "limit=500" not in uri), lists
        seen = [len(watch.events) for watch in watches]
        ctx.wait_for(lambda: all(len(w.events) > n + 30 for w, n in zip(watches, seen)), 30, "changes after the lists")
    finally:
        stop.set()
        worker.join()
    wanted = kubectl_sees(ctx.cluster, "Lease", rows, "-n", ns)
    for watch in watches:
        ctx.wait_for(lambda: watch.dump() == wanted, 20, "the same leases")
        watch.check_history()
        stats = watch.stats()
        assert stats["lists"] <= attempts(ctx, list=False) and stats["relists"] == 0, stats
        watch.end()


def test_no_objects_at_all(ctx: Context) -> None:
    ns = ctx.namespace()
    assert_seen(ctx, "Lease", [], n=ns)
    assert_seen(ctx, "Lease", [], n=f"{ns}-nowhere")


# -- Status -------------------------------------------------------------------------------------------------------


def test_real_error_answers(ctx: Context) -> None:
    """What the server says when it refuses, decoded from JSON and from protobuf, agrees with its JSON."""
    ctx.nodes(1)
    ns = ctx.namespace()
    api, rows = ctx.cluster.api, tables(ctx)
    api.create(lease("one", ns))
    api.create(pod("p", ns, {"app": "p"}))
    running(ctx, ns, 1)
    api.create(budget("p", ns, {"app": "p"}, minAvailable=1))
    budget_status(ctx, ns, "p", currentHealthy=1)
    base = f"/apis/coordination.k8s.io/v1/namespaces/{ns}/leases"
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p", "namespace": ns}}
    bad = lease("two", ns, leaseDurationSeconds=-1, renewTime="2026-01-01T00:00:00.000000Z", leaseTransitions=-3)
    tried = {
        404: ("GET", f"{base}/nowhere", None),
        409: ("POST", base, lease("one", ns)),
        422: ("POST", base, bad),
        405: ("PUT", base, lease("one", ns)),
        400: ("GET", f"{base}?fieldSelector=spec.nowhere%3Dx", None),
        429: ("POST", f"/api/v1/namespaces/{ns}/pods/p/eviction", eviction),
        504: ("GET", f"{base}?resourceVersion=99999999999&resourceVersionMatch=NotOlderThan", None),
        200: ("DELETE", f"{base}/one?dryRun=All", None),
    }
    decoded: dict[int, dict] = {}
    for code, (method, path, body) in tried.items():
        data = None if body is None else json.dumps(body).encode()
        answers = {}
        for form, accept in (("json", "application/json"), ("pb", "application/vnd.kubernetes.protobuf")):
            status, answer = api.raw(method, path, data, "application/json" if data else None, accept=accept)
            assert status == code, (status, answer[:300])
            answers[form] = answer
        wanted = project("Status", json.loads(answers["json"]), rows)
        for form, answer in answers.items():
            file = ctx.tmp / f"{code}.{form}"
            file.write_bytes(answer)
            said = json.loads(ctx.run(ctx.probe, "decode", "Status", form, file, check=True).stdout)
            moved = re.compile(r"(?<=current: )\d+")  # two requests, two moments
            said["message"], wanted["message"] = (moved.sub("N", s.get("message", "")) for s in (said, wanted))
            assert said == wanted, (code, form, said, wanted)
        decoded[code] = wanted
    assert len(decoded[422]["details"]["causes"]) == 2, decoded[422]
    assert decoded[429]["details"]["causes"][0]["reason"] == "DisruptionBudget", decoded[429]
    assert decoded[504]["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge", decoded[504]
    assert decoded[504]["details"]["retryAfterSeconds"] == 1 and decoded[504]["reason"] == "Timeout", decoded[504]
    assert decoded[200]["status"] == "Success" and decoded[200]["details"]["uid"], decoded[200]
    assert decoded[404]["details"] == {"name": "nowhere", "group": "coordination.k8s.io", "kind": "leases"}, decoded[404]
