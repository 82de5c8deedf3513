"""The tables of `kubectl get`, and objects reduced to their metadata."""

from __future__ import annotations

from context import Context
from crds import OPEN, crd, make_crd
from kinds import (ATTACHMENT, BUDGET, CLAIM, CONFIG_MAP, DAEMON_SET, DEPLOYMENT, EVENT, IMAGE, JOB, KINDS, LEASE,
                   NAMESPACE_KIND, NODE, POD,
                   REPLICA_SET, SECRET, SERVICE, SERVICE_ACCOUNT, STATEFUL_SET, VOLUME, Kind)
from objects import config_map, pod
from shape import VERSION, Like, assert_has, assert_is, merged
from wire import JSON, Stream, Wire, query

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
KUBECTL = f"{TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,{JSON}"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIALS = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
AGE = Like(r"\d+[smhd]?.*|<unknown>")
WHEN = "2026-01-02T03:04:05Z"
WORKLOAD_WIDE = ["Containers*", "Images*", "Selector*"]

# A star marks what only the wide output shows.
COLUMNS = {
    POD: ["Name", "Ready", "Status", "Restarts", "Age", "IP*", "Node*", "Nominated Node*", "Readiness Gates*"],
    NODE: ["Name", "Status", "Roles", "Age", "Version", "Internal-IP*", "External-IP*", "OS-Image*", "Kernel-Version*",
           "Container-Runtime*"],
    NAMESPACE_KIND: ["Name", "Status", "Age"],
    CONFIG_MAP: ["Name", "Data", "Age"],
    SECRET: ["Name", "Type", "Data", "Age"],
    SERVICE: ["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector*"],
    SERVICE_ACCOUNT: ["Name", "Age"],
    CLAIM: ["Name", "Status", "Volume", "Capacity", "Access Modes", "StorageClass", "VolumeAttributesClass", "Age", "VolumeMode*"],
    VOLUME: ["Name", "Capacity", "Access Modes", "Reclaim Policy", "Status", "Claim", "StorageClass", "VolumeAttributesClass",
             "Reason", "Age", "VolumeMode*"],
    EVENT: ["Last Seen", "Type", "Reason", "Object", "Subobject*", "Source*", "Message", "First Seen*", "Count*", "Name*"],
    DEPLOYMENT: ["Name", "Ready", "Up-to-date", "Available", "Age", *WORKLOAD_WIDE],
    REPLICA_SET: ["Name", "Desired", "Current", "Ready", "Age", *WORKLOAD_WIDE],
    STATEFUL_SET: ["Name", "Ready", "Age", "Containers*", "Images*"],
    DAEMON_SET: ["Name", "Desired", "Current", "Ready", "Up-to-date", "Available", "Node Selector", "Age", *WORKLOAD_WIDE],
    JOB: ["Name", "Status", "Completions", "Duration", "Age", *WORKLOAD_WIDE],
    BUDGET: ["Name", "Min Available", "Max Unavailable", "Allowed Disruptions", "Age"],
    LEASE: ["Name", "Holder", "Age"],
    ATTACHMENT: ["Name", "Attacher", "PV", "Node", "Attached", "Age"],
}


def start(ctx: Context) -> tuple[Wire, str]:
    return Wire(ctx.still.api), ctx.namespace(ctx.still)


def columns(table: dict) -> list[str]:
    return [c["name"] + "*" * bool(c["priority"]) for c in table["columnDefinitions"]]


def cells(w: Wire, kind: Kind, ns: str, name: str) -> list:
    """The cells of one object, as a get and as a list shows them."""
    table = w.get(kind.path(ns, name), KUBECTL).ok()
    row, = table["rows"]
    listed = w.get(query(kind.path(ns), fieldSelector=f"metadata.name={name}"), KUBECTL).ok()
    age = columns(table).index("Age") if "Age" in columns(table) else None
    same, = [r["cells"] for r in listed["rows"]]
    assert [c for i, c in enumerate(same) if i != age] == [c for i, c in enumerate(row["cells"]) if i != age]
    return row["cells"]


def test_columns(ctx: Context) -> None:
    w, ns = start(ctx)
    assert set(COLUMNS) == set(KINDS)
    for kind, wanted in COLUMNS.items():
        name = ctx.unique("x")
        w.post(kind.path(ns), kind.make(ns, name)).ok(201)
        ctx.undo(lambda path=kind.path(ns, name): w.delete(path, {"gracePeriodSeconds": 0}))
        for accept in (TABLE, KUBECTL):
            answer = w.get(kind.path(ns), accept)
            assert answer.headers["Content-Type"] == JSON, answer.headers
            table = answer.ok()
            assert_has(table, {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": VERSION}})
            assert columns(table) == wanted, (kind.kind, columns(table))
            first = table["columnDefinitions"][0]
            assert kind is EVENT or (first["type"], first["format"]) == ("string", "name")
            row, = [r for r in table["rows"] if r["object"]["metadata"]["name"] == name]
            assert len(row["cells"]) == len(wanted), kind.kind
            assert_has(row["object"], {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"})


def test_pods(ctx: Context) -> None:
    w, ns = start(ctx)
    w.post(POD.path(ns), pod("p", ns, nodeName="n1")).ok(201)
    assert cells(w, POD, ns, "p") == ["p", "0/1", "Pending", "0", AGE, "<none>", "n1", "<none>", "<none>"]

    def status(**status: object) -> list:
        w.patch(POD.path(ns, "p", "status"), {"status": status}).ok()
        return cells(w, POD, ns, "p")[:4]

    def state(ready: bool = False, restarts: int = 0, **state: object) -> list[dict]:
        return [{"name": "main", "image": IMAGE, "imageID": "", "ready": ready, "restartCount": restarts, "state": state}]

    assert status(containerStatuses=state(waiting={"reason": "ContainerCreating"})) == ["p", "0/1", "ContainerCreating", "0"]
    ready = [{"type": "Ready", "status": "True", "lastTransitionTime": WHEN}]
    assert status(phase="Running", conditions=ready,
                  containerStatuses=state(True, running={"startedAt": WHEN})) == ["p", "1/1", "Running", "0"]
    crashed = status(conditions=[], containerStatuses=state(False, 7, waiting={"reason": "CrashLoopBackOff"}))
    assert crashed == ["p", "0/1", "CrashLoopBackOff", "7"], crashed
    assert status(containerStatuses=state(terminated={"exitCode": 3, "reason": "Error"}))[2] == "Error"
    assert status(containerStatuses=state(terminated={"exitCode": 3}))[2] == "ExitCode:3"
    assert status(phase="Succeeded", containerStatuses=state(terminated={"exitCode": 0, "reason": "Completed"}))[1:3] == [
        "0/1", "Completed"]
    assert status(phase="Failed", reason="Evicted", containerStatuses=None)[2] == "Evicted"
    w.post(POD.path(ns), pod("q", ns, nodeName="n1")).ok(201)
    w.delete(POD.path(ns, "q")).ok()
    assert cells(w, POD, ns, "q")[2] == "Terminating"
    w.post(POD.path(ns), POD.make(ns, "gated")).ok(201)
    assert cells(w, POD, ns, "gated") == ["gated", "0/1", "SchedulingGated", "0", AGE, "<none>", "<none>", "<none>", "<none>"]


def test_nodes(ctx: Context) -> None:
    w, _ = start(ctx)
    name = ctx.unique("n")
    ctx.undo(lambda: w.delete(NODE.path(name=name)))
    status = {"nodeInfo": {"kubeletVersion": "v1.36.3", "osImage": "Debian", "kernelVersion": "6.1",
                           "containerRuntimeVersion": "containerd://2"},
              "addresses": [{"type": "InternalIP", "address": "10.1.1.1"}], "conditions": [{"type": "Ready", "status": "True"}]}
    w.post(NODE.path(), merged(NODE.make("", name),
                               {"metadata": {"labels": {"node-role.kubernetes.io/worker": "",
                                                        "node-role.kubernetes.io/a": ""}}, "status": status})).ok(201)
    rest = ["v1.36.3", "10.1.1.1", "<none>", "Debian", "6.1", "containerd://2"]
    assert cells(w, NODE, "", name) == [name, "Ready", "a,worker", AGE, *rest]
    w.patch(NODE.path(name=name), {"spec": {"unschedulable": True}, "metadata": {"labels": None}}).ok()
    w.patch(NODE.path(name=name, sub="status"), {"status": {"conditions": [{"type": "Ready", "status": "False"}]}},
            "strategic").ok()
    assert cells(w, NODE, "", name) == [name, "NotReady,SchedulingDisabled", "<none>", AGE, *rest]
    w.patch(NODE.path(name=name, sub="status"), {"status": {"conditions": None}}).ok()
    assert cells(w, NODE, "", name)[1] == "Unknown,SchedulingDisabled"


def test_workloads(ctx: Context) -> None:
    w, ns = start(ctx)
    wide = ["main", IMAGE, "app=x"]
    for kind, status, wanted in (
            (DEPLOYMENT, {"replicas": 3, "readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 1},
             ["x", "2/4", 3, 1, AGE, *wide]),
            (REPLICA_SET, {"replicas": 3, "readyReplicas": 2}, ["x", 4, 3, 2, AGE, *wide]),
            (STATEFUL_SET, {"replicas": 3, "readyReplicas": 2}, ["x", "2/4", AGE, "main", IMAGE]),
            (DAEMON_SET, {"desiredNumberScheduled": 5, "currentNumberScheduled": 4, "numberReady": 3,
                          "updatedNumberScheduled": 2, "numberAvailable": 1,
                          "numberMisscheduled": 0}, ["x", 5, 4, 3, 2, 1, "no=where", AGE, *wide])):
        w.post(kind.path(ns), kind.make(ns, "x", **({"spec": {"replicas": 4}} if kind.scale else {}))).ok(201)
        w.patch(kind.path(ns, "x", "status"), {"status": status}).ok()
        assert cells(w, kind, ns, "x") == wanted, (kind.kind, cells(w, kind, ns, "x"))
    w.post(JOB.path(ns), JOB.make(ns, "j", spec={"completions": 3})).ok(201)
    assert cells(w, JOB, ns, "j")[1:4] == ["Running", "0/3", ""], cells(w, JOB, ns, "j")
    w.patch(JOB.path(ns, "j", "status"), {"status": {"conditions": [{"type": "Suspended", "status": "True"}]}}).ok()
    assert cells(w, JOB, ns, "j")[1] == "Suspended"


def test_budgets_leases_and_the_rest(ctx: Context) -> None:
    w, ns = start(ctx)
    w.post(BUDGET.path(ns), BUDGET.make(ns, "b")).ok(201)
    w.patch(BUDGET.path(ns, "b", "status"), {"status": {"disruptionsAllowed": 2}}).ok()
    assert cells(w, BUDGET, ns, "b") == ["b", "1", "N/A", 2, AGE]
    w.post(BUDGET.path(ns), BUDGET.make(ns, "c", spec={"minAvailable": None, "maxUnavailable": "50%"})).ok(201)
    assert cells(w, BUDGET, ns, "c") == ["c", "N/A", "50%", 0, AGE]
    w.post(LEASE.path(ns), LEASE.make(ns, "l")).ok(201)
    assert cells(w, LEASE, ns, "l") == ["l", "x", AGE]
    w.post(CONFIG_MAP.path(ns), config_map("m", ns, a="1", b="2")).ok(201)
    assert cells(w, CONFIG_MAP, ns, "m") == ["m", 2, AGE]
    w.post(SECRET.path(ns), SECRET.make(ns, "s")).ok(201)
    assert cells(w, SECRET, ns, "s") == ["s", "Opaque", 2, AGE]
    w.post(SERVICE.path(ns), SERVICE.make(ns, "v", spec={"clusterIP": "None"})).ok(201)
    assert cells(w, SERVICE, ns, "v") == ["v", "ClusterIP", "None", "<none>", "80/TCP", AGE, "app=x"]
    w.post(CLAIM.path(ns), CLAIM.make(ns, "c")).ok(201)
    assert cells(w, CLAIM, ns, "c") == ["c", "Pending", "", "", "", "", "<unset>", AGE, "Filesystem"]
    assert cells(w, NAMESPACE_KIND, "", ns) == [ns, "Active", AGE]
    volume, attachment = ctx.unique("v"), ctx.unique("a")
    for kind, name in ((VOLUME, volume), (ATTACHMENT, attachment)):
        w.post(kind.path(), kind.make("", name)).ok(201)
        ctx.undo(lambda path=kind.path(name=name): (w.patch(path, {"metadata": {"finalizers": None}}), w.delete(path)))
    assert cells(w, VOLUME, "", volume) == [volume, "1Gi", "RWO", "Retain", Like("Pending|Available"), "", "", "<unset>", "",
                                            AGE, "Filesystem"]
    assert cells(w, ATTACHMENT, "", attachment) == [attachment, "csi.example.com", "v", "n", False, AGE]
    w.post(EVENT.path(ns), EVENT.make(ns, "e", count=3, source={"component": "test"}, firstTimestamp=WHEN,
                                      lastTimestamp=WHEN)).ok(201)
    assert_is(cells(w, EVENT, ns, "e"), [AGE, "Normal", "Why", "pod/p", "", "test", "words", AGE, 3, "e"])


def test_what_goes_with_the_rows(ctx: Context) -> None:
    w, ns = start(ctx)
    made = w.post(CONFIG_MAP.path(ns), config_map("m", ns)).ok(201)
    row, = w.get(query(CONFIG_MAP.path(ns, "m"), includeObject="Object"), TABLE).ok()["rows"]
    assert_is(row["object"], made, "includeObject=Object")
    row, = w.get(query(CONFIG_MAP.path(ns, "m"), includeObject="None"), TABLE).ok()["rows"]
    assert row.get("object") is None
    row, = w.get(query(CONFIG_MAP.path(ns, "m"), includeObject="Metadata"), TABLE).ok()["rows"]
    assert_is(row["object"], {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": made["metadata"]})
    w.get(query(CONFIG_MAP.path(ns, "m"), includeObject="Nope"), TABLE).refused(400, "BadRequest")
    table = w.get(query(CONFIG_MAP.path(ns), limit=1), TABLE).ok()
    assert len(table["rows"]) == 1
    w.get(CONFIG_MAP.path(ns, "none"), TABLE).fails(404, "NotFound", 'configmaps "none" not found', name="none", kind="configmaps")
    for accept in ("application/json;as=Nope;v=v1;g=meta.k8s.io", "application/json;as=Table;v=v7;g=meta.k8s.io"):
        w.get(CONFIG_MAP.path(ns), accept).refused(406, "NotAcceptable")
    assert w.get(CONFIG_MAP.path(ns),
                 f"application/json;as=Nope;v=v1;g=meta.k8s.io,{JSON}").ok()["kind"] == "ConfigMapList", "the next in the list"


def test_tables_in_a_watch(ctx: Context) -> None:
    """`kubectl get -w`: each event is a table of one row; the first of them has the columns too."""
    w, ns = start(ctx)
    w.post(CONFIG_MAP.path(ns), config_map("m", ns)).ok(201)
    with Stream(ctx.still.api, query(CONFIG_MAP.path(ns), watch=True), KUBECTL) as stream:
        first = stream.next()
        assert_has(first, {"type": "ADDED", "object": {"kind": "Table", "apiVersion": "meta.k8s.io/v1"}})
        assert columns(first["object"]) == ["Name", "Data", "Age"] and first["object"]["rows"][0]["cells"][:2] == ["m", 0]
        w.patch(CONFIG_MAP.path(ns, "m"), {"data": {"a": "1"}}).ok()
        second = stream.next()
        assert second["type"] == "MODIFIED" and second["object"]["rows"][0]["cells"][:2] == ["m", 1]
        assert not second["object"]["columnDefinitions"]
        w.delete(CONFIG_MAP.path(ns, "m")).ok()
        assert stream.next()["type"] == "DELETED"


def test_metadata_only(ctx: Context) -> None:
    w, ns = start(ctx)
    made = w.post(POD.path(ns), POD.make(ns, "p")).ok(201)
    answer = w.get(POD.path(ns, "p"), PARTIAL)
    assert answer.headers["Content-Type"] == JSON
    assert_is(answer.ok(), {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": made["metadata"]})
    listed = w.get(POD.path(ns), PARTIALS).ok()
    assert (listed["kind"], listed["apiVersion"]) == ("PartialObjectMetadataList",
                                                      "meta.k8s.io/v1") and VERSION == listed["metadata"]["resourceVersion"]
    item, = listed["items"]
    assert item["metadata"] == made["metadata"] and "spec" not in item
    with Stream(ctx.still.api, query(POD.path(ns), watch=True), PARTIAL) as stream:
        event = stream.next()
        assert_is(event, {"type": "ADDED", "object": {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                                                      "metadata": made["metadata"]}})
    w.get(POD.path(ns), PARTIAL).refused(406, "NotAcceptable")


def test_custom_columns(ctx: Context) -> None:
    w, ns = start(ctx)
    plain = make_crd(ctx, ctx.still, crd(ctx, "Plain"))
    w.post(plain.path(ns), plain.make(ns, "x")).ok(201)
    table = w.get(plain.path(ns), KUBECTL).ok()
    assert columns(table) == ["Name", "Age"] and table["rows"][0]["cells"] == ["x", AGE]
    extra = [{"name": "Hull", "type": "string", "jsonPath": ".spec.hull"},
             {"name": "Masts", "type": "integer", "jsonPath": ".spec.masts", "priority": 1},
             {"name": "Crew", "type": "string", "jsonPath": ".spec.crew[*].name"},
             {"name": "Built", "type": "date", "jsonPath": ".spec.built"},
             {"name": "Afloat", "type": "boolean", "jsonPath": ".spec.afloat"},
             {"name": "Draught", "type": "number", "jsonPath": ".spec.draught"},
             {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].status"}]
    rich = make_crd(ctx, ctx.still, crd(ctx, "Rich", OPEN, version={"additionalPrinterColumns": extra}))
    spec = {"hull": "steel", "masts": 3, "crew": [{"name": "a"}, {"name": "b"}], "built": WHEN, "afloat": True, "draught": 2.5}
    w.post(rich.path(ns), rich.make(ns, "x", spec=spec, status={"conditions": [{"type": "Ready", "status": "True"}]})).ok(201)
    w.post(rich.path(ns), rich.make(ns, "y", spec={"hull": 7})).ok(201)
    table = w.get(rich.path(ns), KUBECTL).ok()
    assert columns(table) == ["Name", "Hull", "Masts*", "Crew", "Built", "Afloat", "Draught", "Ready"], "no Age unless asked for"
    first, second = [row["cells"] for row in table["rows"]]
    assert first == ["x", "steel", 3, "a", AGE, True, 2.5, "True"], first
    assert second == ["y", "7", None, None, None, None, None, None], second
