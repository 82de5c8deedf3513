"""Protobuf for the built-in kinds: its frames, and that Slipway's client sees in it what JSON says."""

from __future__ import annotations

import struct

from context import Context
from diff_bodies import CSI_NODE, STORAGE_CLASS
from kinds import (ATTACHMENT, BUDGET, CLAIM, CONFIG_MAP, DAEMON_SET, DEPLOYMENT, EVENT, JOB, LEASE, NAMESPACE_KIND, NODE, POD,
                   REPLICA_SET, SERVICE_ACCOUNT, STATEFUL_SET, VOLUME, Kind)
from objects import config_map, deployment, pod, running
from probes import Watch, tables, write
from project import project
from protobuf import envelope, fields, text
from shape import differences, merged
from wire import JSON, Wire, query

PROTOBUF = "application/vnd.kubernetes.protobuf"
READ = [NODE, POD, BUDGET, LEASE, ATTACHMENT, DAEMON_SET, REPLICA_SET, STATEFUL_SET, DEPLOYMENT, JOB, VOLUME, CLAIM, STORAGE_CLASS, CSI_NODE,
        NAMESPACE_KIND, EVENT, CONFIG_MAP, SERVICE_ACCOUNT]
WHEN, MICRO = "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678901Z"
OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "11111111-2222-3333-4444-555555555555",
         "controller": True}
META = {"labels": {"app": "rich", "empty": ""}, "annotations": {"slipway.dev/note": "größer „als“ 三 🚢 \\ \"quoted\"\n\t<b>"},
        "ownerReferences": [OWNER], "finalizers": ["slipway.dev/a"]}
TERM = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["a", "b"]}]}
POD_TERM = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "rich"}}}
SPEC = {"terminationGracePeriodSeconds": 0, "nodeSelector": {"disk": "ssd"}, "hostNetwork": False,
        "containers": [{"name": "main", "image": "registry.test/rich:1",
                        "resources": {"requests": {"cpu": "1500m", "memory": "1.5Gi"}}}],
        "volumes": [{"name": "e", "emptyDir": {}}, {"name": "h", "hostPath": {"path": "/x"}},
                    {"name": "c", "persistentVolumeClaim": {"claimName": "x"}}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]}},
                     "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [POD_TERM]}},
        "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}],
        "topologySpreadConstraints": [{"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
                                       "labelSelector": {"matchLabels": {"app": "rich"}}}]}
READY = {"type": "Ready", "status": "True", "lastTransitionTime": WHEN, "reason": "Because", "message": "words"}
TEMPLATE = {"spec": {"template": {"metadata": {"labels": {"app": "x"}}, "spec": SPEC}}}

# What is written beside the least of a kind, and then to its status.
MORE: dict[Kind, tuple[dict, dict]] = {
    NODE: ({"spec": {"unschedulable": True, "providerID": "test://x",
                     "taints": [{"key": "a", "value": "b", "effect": "NoExecute", "timeAdded": WHEN}]}},
           {"capacity": {"cpu": "4", "memory": "8Gi"}, "allocatable": {"cpu": "3500m", "memory": "7Gi"},
            "conditions": [READY | {"lastHeartbeatTime": WHEN}],
            "addresses": [{"type": "InternalIP", "address": "10.1.1.1"}],
            "nodeInfo": {"bootID": "boot", "machineID": "machine", "kubeletVersion": "v1.36.3"},
            "volumesInUse": ["kubernetes.io/csi/x"], "volumesAttached": [{"name": "kubernetes.io/csi/x", "devicePath": "/dev/x"}]}),
    POD: ({"spec": SPEC | {"schedulingGates": None, "nodeName": "nowhere"}},
          {"phase": "Running", "reason": "Because", "startTime": WHEN, "conditions": [READY], "containerStatuses": [
              {"name": "main", "image": "x", "imageID": "", "ready": True, "restartCount": 3,
               "state": {"running": {"startedAt": WHEN}}}]}),
    BUDGET: ({"spec": {"minAvailable": "50%", "unhealthyPodEvictionPolicy": "AlwaysAllow"}},
             {"disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 4, "observedGeneration": 1,
              "disruptedPods": {"gone": WHEN},
              "conditions": [READY | {"type": "DisruptionAllowed", "observedGeneration": 1}]}),
    LEASE: ({"spec": {"holderIdentity": "größer", "acquireTime": MICRO, "renewTime": MICRO, "leaseTransitions": 0}}, {}),
    ATTACHMENT: ({}, {"attached": True, "attachmentMetadata": {"a": "b"}}),
    DAEMON_SET: (TEMPLATE, {"desiredNumberScheduled": 3, "currentNumberScheduled": 2, "numberReady": 1,
                            "numberMisscheduled": 1, "observedGeneration": 1}),
    REPLICA_SET: (TEMPLATE, {"replicas": 3, "readyReplicas": 2, "availableReplicas": 1, "observedGeneration": 1}),
    STATEFUL_SET: (TEMPLATE, {"replicas": 3, "readyReplicas": 2, "availableReplicas": 1, "currentRevision": "a",
                              "updateRevision": "b", "observedGeneration": 1}),
    DEPLOYMENT: (TEMPLATE, {"replicas": 3, "readyReplicas": 2, "availableReplicas": 1, "updatedReplicas": 1,
                            "observedGeneration": 1,
                            "conditions": [{"type": "Available", "status": "False", "reason": "Because"}]}),
    JOB: ({"spec": {"parallelism": 2, "completions": 5, "backoffLimit": 0}}, {"active": 1}),
    VOLUME: ({"spec": {"claimRef": {"namespace": "default", "name": "c"},
                       "nodeAffinity": {"required": {"nodeSelectorTerms": [TERM]}}}}, {}),
    CLAIM: ({"spec": {"volumeName": "v"}}, {"phase": "Bound"}),
    CSI_NODE: ({"spec": {"drivers": [{"name": "csi.example.com", "nodeID": "x", "topologyKeys": ["zone"], "allocatable": {"count": 0}}]}}, None),
    STORAGE_CLASS: ({"volumeBindingMode": "WaitForFirstConsumer", "allowedTopologies": [
        {"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}, {"key": "rack", "values": ["1"]}]}]}, {}),
    NAMESPACE_KIND: ({}, {}),
    EVENT: ({"count": 3, "firstTimestamp": WHEN, "lastTimestamp": WHEN, "eventTime": MICRO, "action": "Act",
             "reportingComponent": "slipway.dev/test",
             "reportingInstance": "x", "source": {"component": "test", "host": "h"}}, {}),
    CONFIG_MAP: ({"data": {"slots": "{\"v\":1}", "empty": ""}}, {}),
    SERVICE_ACCOUNT: ({}, {}),
}


def test_every_kind_is_the_same_in_both(ctx: Context) -> None:
    """The probe, by protobuf and by JSON, by list and by watch, sees what the JSON of the server says."""
    cluster = ctx.still
    w, ns = Wire(cluster.api), ctx.namespace(cluster)
    rows = tables(ctx)
    # The simulator has no quotas: test_kinds.py compares those.
    assert {kind.kind for kind in READ} == set(rows) - {"Status", "ResourceQuota"}
    for kind in READ:
        name = ctx.unique("x")
        spec, status = MORE[kind]
        meta = {"metadata": META if kind is not NAMESPACE_KIND else {"labels": META["labels"], "annotations": META["annotations"]}}
        w.post(kind.path(ns), merged(merged(kind.make(ns, name), meta), spec)).ok(201)
        path = kind.path(ns, name)
        ctx.undo(lambda path=path: (w.patch(path, {"metadata": {"finalizers": None}}), w.delete(path, {"gracePeriodSeconds": 0})))
        if status:
            w.patch(path + "/status", {"status": status}).ok()
        wanted = project(kind.kind, w.get(path).ok(), rows)
        assert wanted["metadata"]["annotations"] or kind is POD
        ways = ({}, {"json": True}, {"list": True}, {"list": True, "json": True})
        watches = [Watch(ctx, kind.kind, cluster.admin, quiet=True, n=ns if kind.namespaced else None,
                         field_selector=f"metadata.name={name}", **way)
                   for way in ways]
        for way, watch in zip(ways, watches):
            watch.synced(60)
            seen = watch.dump()
            assert len(seen) == 1, (kind.kind, way, seen)
            lines = differences(seen[0], wanted)
            assert not lines, f"{kind.kind} {way}\n" + "\n".join(lines)
            watch.end()
        got = write(ctx, "get", kind.kind, name, n=ns if kind.namespaced else None, kubeconfig=cluster.admin)
        assert not differences(got["object"], wanted), differences(got["object"], wanted)


def test_changes_in_a_watch(ctx: Context) -> None:
    cluster = ctx.still
    w, ns = Wire(cluster.api), ctx.namespace(cluster)
    watch = Watch(ctx, "Lease", cluster.admin, n=ns)
    watch.synced(60)
    w.post(LEASE.path(ns), LEASE.make(ns, "l")).ok(201)
    w.patch(LEASE.path(ns, "l"), {"spec": {"holderIdentity": "y"}}).ok()
    w.delete(LEASE.path(ns, "l")).ok()
    ctx.wait_for(lambda: len(watch.events) == 3, 60, "three events")
    assert [e["type"] for e in watch.events] == ["ADDED", "MODIFIED", "DELETED"]
    assert [e["object"]["spec"]["holderIdentity"] for e in watch.events] == ["x", "y", "y"]
    watch.check_history()
    assert not watch.problems, watch.problems
    watch.end()


def test_a_living_cluster(ctx: Context) -> None:
    ctx.suite_nodes(2)
    cluster, ns = ctx.cluster, ctx.namespace()
    rows = tables(ctx)
    cluster.api.create(deployment("d", ns, 3))
    running(ctx, ns, 3)
    w = Wire(cluster.api)
    for kind in (POD, REPLICA_SET, DEPLOYMENT, NODE):
        watch = Watch(ctx, kind.kind, quiet=True, n=ns if kind.namespaced else None)
        watch.synced(60)

        def agrees() -> bool:
            listed = [project(kind.kind, item, rows) for item in w.get(kind.path(ns)).ok()["items"]]
            lines = differences({o["metadata"]["name"]: o for o in watch.dump()}, {o["metadata"]["name"]: o for o in listed})
            assert not lines, lines[:5]
            return True

        ctx.wait_for(agrees, 60, f"the same {kind.kind}s")
        watch.end()


# -- frames -------------------------------------------------------------------------------------------------------


def test_envelopes(ctx: Context) -> None:
    w, ns = Wire(ctx.still.api), ctx.namespace(ctx.still)
    made = w.post(LEASE.path(ns), LEASE.make(ns, "l")).ok(201)
    answer = w.get(LEASE.path(ns, "l"), PROTOBUF)
    assert answer.code == 200 and answer.headers["Content-Type"] == PROTOBUF, answer.headers["Content-Type"]
    version, kind, message = envelope(answer.body)
    assert (version, kind) == ("coordination.k8s.io/v1", "Lease")
    assert (text(message, 1, 1), text(message, 1, 3),
            text(message, 1, 5)) == ("l", ns, made["metadata"]["uid"]) and text(message, 2, 1) == "x"
    answer = w.get(LEASE.path(ns), f"{PROTOBUF},{JSON}")
    assert answer.headers["Content-Type"] == PROTOBUF
    version, kind, message = envelope(answer.body)
    assert (version, kind) == ("coordination.k8s.io/v1", "LeaseList") and len(fields(message)[2]) == 1
    assert text(message, 1, 2) == w.get(LEASE.path(ns)).ok()["metadata"]["resourceVersion"]
    assert w.get(LEASE.path(ns), f"{JSON},{PROTOBUF}").headers["Content-Type"] == JSON, "the first that is known"
    answer = w.ask("PATCH", LEASE.path(ns, "l"), {"spec": {"holderIdentity": "y"}}, "application/merge-patch+json", accept=PROTOBUF)
    assert text(envelope(answer.body)[2], 2, 1) == "y", "answers to writes too"


def test_failures_are_protobuf_too(ctx: Context) -> None:
    w, ns = Wire(ctx.still.api), ctx.namespace(ctx.still)
    answer = w.get(POD.path(ns, "none"), PROTOBUF)
    assert (answer.code, answer.headers["Content-Type"]) == (404, PROTOBUF)
    version, kind, message = envelope(answer.body)
    assert (version, kind) == ("v1", "Status")
    assert (text(message, 2), text(message, 3), text(message, 4)) == ("Failure", 'pods "none" not found',
                                                                      "NotFound") and fields(message)[6] == [404]
    assert (text(message, 5, 1), text(message, 5, 3)) == ("none", "pods")


def test_frames_of_a_watch(ctx: Context) -> None:
    """Each has its length in four bytes before it: a WatchEvent, in it the envelope again."""
    w, ns = Wire(ctx.still.api), ctx.namespace(ctx.still)
    w.post(CONFIG_MAP.path(ns), config_map("x", ns)).ok(201)
    w.post(POD.path(ns), pod("p", ns, nodeName="n")).ok(201)
    for path, kind, name in ((CONFIG_MAP.path(ns), "ConfigMap", "x"), (POD.path(ns), "Pod", "p")):
        for limit in (1, 10, 40):  # a server that is busy may not have said all in a second
            events = frames(ctx, query(path, watch=True, timeoutSeconds=limit, sendInitialEvents=True, resourceVersionMatch="NotOlderThan",
                                       allowWatchBookmarks=True))
            if events and events[-1][0] == "BOOKMARK":
                break
        assert [e[:3] for e in events[:2]] == [("ADDED", "v1", kind), ("BOOKMARK", "v1", kind)], events
        assert all(e[0] == "BOOKMARK" for e in events[2:]), events  # a longer one has another before its end
        assert text(events[0][3], 1, 1) == name


def frames(ctx: Context, path: str) -> list[tuple]:
    """Of a watch until the server ends it: the type of each event, and what is in its envelope."""
    connection = ctx.still.api.connect(90)
    ctx.undo(connection.close)
    connection.request("GET", path, headers={**ctx.still.api._headers(None), "Accept": f"{PROTOBUF};stream=watch"})
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Content-Type"]) == (200, f"{PROTOBUF};stream=watch")
    data, events = answer.read(), []
    while data:
        length, = struct.unpack(">I", data[:4])
        event, data = fields(data[4:4 + length]), data[4 + length:]
        events.append((event[1][0].decode(), *envelope(fields(event[2][0])[1][0])))
    return events
