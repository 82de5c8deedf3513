"""The status and scale subresources, and when an object's generation counts up."""

from __future__ import annotations

from context import Context
from kinds import (BUDGET, CONFIG_MAP, DAEMON_SET, DEPLOYMENT, JOB, KINDS, LEASE, NAMESPACE_KIND, NODE, POD, REPLICA_SET,
                   STATEFUL_SET)
from objects import config_map
from shape import TIME, UID, VERSION, assert_has, assert_is, merged
from wire import Wire

CHANGED = "the object has been modified; please apply your changes to the latest version and try again"


def start(ctx: Context) -> tuple[Wire, str]:
    return Wire(ctx.still.api), ctx.namespace(ctx.still)


def test_status_is_written_through_its_subresource_only(ctx: Context) -> None:
    w, ns = start(ctx)
    for kind, status, other in ((DEPLOYMENT, {"replicas": 3, "observedGeneration": 1}, {"spec": {"replicas": 5}}),
                                (BUDGET, {"disruptionsAllowed": 2, "observedGeneration": 1}, {"spec": {"minAvailable": 2}}),
                                (POD, {"phase": "Running", "message": "up"}, {"spec": {"activeDeadlineSeconds": 5}}),
                                (JOB, {"active": 1}, {"spec": {"suspend": False}})):
        path = kind.path(ns, "x")
        made = w.post(kind.path(ns), kind.make(ns, "x", status=status)).ok(201)
        assert_is(made["status"], kind.wanted(ns, "x").get("status", {}), f"{kind.kind}: a creator gives no status")
        ignored = w.put(path, merged(made, {"status": status})).ok()
        assert ignored["status"] == made["status"], kind.kind
        if kind is not JOB:  # whose managed fields note the attempt
            assert ignored["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"], kind.kind
        written = w.put(path + "/status", merged(ignored, {"status": status, **other})).ok()
        assert_has(written["status"], status)
        assert written["spec"] == made["spec"], f"{kind.kind}: nothing but the status"
        assert written["metadata"]["generation"] == 1 and w.get(path + "/status").ok() == w.get(path).ok()
        w.put(path + "/status", merged(made, {"status": status})).refused(409, "Conflict", CHANGED)
        w.delete(path, {"gracePeriodSeconds": 0}).ok()


def test_status_of_a_node(ctx: Context) -> None:
    """A creator may give a node its status, as a kubelet does; labels can be written through it too."""
    w, _ = start(ctx)
    name = ctx.unique("n")
    path = NODE.path(name=name)
    ctx.undo(lambda: w.delete(path))
    capacity = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    made = w.post(NODE.path(), merged(NODE.make("", name),
                                      {"status": {"capacity": capacity, "nodeInfo": {"bootID": "one"}}})).ok(201)
    assert made["status"]["capacity"] == capacity and made["status"]["nodeInfo"]["bootID"] == "one"
    assert w.patch(path, {"status": {"nodeInfo": {"bootID": "two"}}}).ok()["status"]["nodeInfo"]["bootID"] == "one"
    assert w.patch(path + "/status", {"status": {"nodeInfo": {"bootID": "two"}}}).ok()["status"]["nodeInfo"]["bootID"] == "two"
    done = w.patch(path + "/status", {"spec": {"unschedulable": True}, "metadata": {"labels": {"a": "b"}}}).ok()
    assert "unschedulable" not in done["spec"] and done["metadata"]["labels"] == {"a": "b"}
    assert "generation" not in done["metadata"], "a node's generations are not counted"


def test_kinds_without_a_status(ctx: Context) -> None:
    w, ns = start(ctx)
    for kind in KINDS:
        if not kind.status:
            w.get(kind.path(ns, "x", "status")).missing()
        if not kind.scale:
            w.get(kind.path(ns, "x", "scale")).missing()
    w.get(DEPLOYMENT.path(ns, "none", "status")).fails(404, "NotFound", 'deployments.apps "none" not found', name="none",
                                                       group="apps", kind="deployments")
    w.post(DEPLOYMENT.path(ns, "none", "status"), {}).no_method()
    w.delete(DEPLOYMENT.path(ns, "none", "status")).no_method()


def test_scale(ctx: Context) -> None:
    w, ns = start(ctx)
    for kind in (DEPLOYMENT, REPLICA_SET, STATEFUL_SET):
        path = kind.path(ns, "x", "scale")
        made = w.post(kind.path(ns), kind.make(ns, "x", spec={"replicas": 3})).ok(201)
        seen = w.get(path).ok()
        assert_is(seen, {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {
            "name": "x", "namespace": ns, "uid": made["metadata"]["uid"], "resourceVersion": made["metadata"]["resourceVersion"],
            "creationTimestamp": made["metadata"]["creationTimestamp"]}, "spec": {"replicas": 3},
            "status": {"replicas": 0, "selector": "app=x"}})
        done = w.put(path, merged(seen, {"spec": {"replicas": 5}})).ok()
        assert_has(done, {"spec": {"replicas": 5}, "metadata": {"uid": UID, "resourceVersion": VERSION, "creationTimestamp": TIME}})
        now = w.get(kind.path(ns, "x")).ok()
        assert now["spec"]["replicas"] == 5 and now["metadata"]["generation"] == 2
        w.put(path, merged(seen, {"spec": {"replicas": 6}})).refused(409, "Conflict", CHANGED)
        w.put(path, merged(seen, {"metadata": {"resourceVersion": None}, "spec": {"replicas": 7}})).ok()
        same = w.put(path, merged(seen, {"metadata": {"resourceVersion": None}, "spec": {"replicas": 7}})).ok()
        assert w.get(kind.path(ns, "x")).ok()["metadata"]["generation"] == 3 and same["spec"] == {"replicas": 7}
        w.put(path, merged(seen, {"metadata": {"name": "y", "resourceVersion": None}})).fails(
            400, "BadRequest", "the name of the object (y) does not match the name on the URL (x)")
        w.put(path, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}).refused(400, "BadRequest")
        empty = w.put(path, merged(seen, {"metadata": {"resourceVersion": None}, "spec": {"replicas": 0}})).ok()
        assert empty["spec"] == {}, "no replicas are not written"
        w.delete(kind.path(ns, "x")).ok()
    w.get(DEPLOYMENT.path(ns, "none", "scale")).fails(404, "NotFound", 'deployments.apps "none" not found', name="none",
                                                      group="apps", kind="deployments")


def test_generations(ctx: Context) -> None:
    """A change of the spec counts; labels, annotations, finalizers, the status and the same again do not."""
    w, ns = start(ctx)
    for kind, change in ((DEPLOYMENT, {"spec": {"replicas": 1}}), (REPLICA_SET, {"spec": {"replicas": 1}}),
                         (STATEFUL_SET, {"spec": {"replicas": 1}}),
                         (DAEMON_SET, {"spec": {"minReadySeconds": 1}}), (JOB, {"spec": {"parallelism": 2}}),
                         (BUDGET, {"spec": {"minAvailable": 2}})):
        path = kind.path(ns, "x")
        assert w.post(kind.path(ns), kind.make(ns, "x", metadata={"generation": 7})).ok(201)["metadata"]["generation"] == 1
        for patch in ({"metadata": {"labels": {"a": "b"}}}, {"metadata": {"generation": 9}}, {}):
            assert w.patch(path, patch).ok()["metadata"]["generation"] == 1, (kind.kind, patch)
        first = 2 if kind is DEPLOYMENT else 1
        assert w.patch(path, {"metadata": {"annotations": {"a": "b"}}}).ok()["metadata"][
            "generation"] == first, "of Deployments annotations count"
        assert w.patch(path, change).ok()["metadata"]["generation"] == first + 1, kind.kind
        assert w.patch(path, change).ok()["metadata"]["generation"] == first + 1, kind.kind
        w.patch(path, {"metadata": {"finalizers": ["slipway.dev/a"]}}).ok()
        gone = w.delete(path).ok()
        assert gone["metadata"]["generation"] == first + 2, f"{kind.kind}: a deletion that waits counts too"
        w.patch(path, {"metadata": {"finalizers": None}}).ok()
    made = w.post(CONFIG_MAP.path(ns), config_map("x", ns)).ok(201)
    assert "generation" not in made["metadata"] and "generation" not in w.patch(
        CONFIG_MAP.path(ns, "x"), {"data": {"a": "b"}}).ok()["metadata"]
    made = w.post(LEASE.path(ns), LEASE.make(ns, "x")).ok(201)
    assert "generation" not in w.patch(LEASE.path(ns, "x"), {"spec": {"holderIdentity": "y"}}).ok()["metadata"]


def test_generations_of_daemon_sets_are_told_twice(ctx: Context) -> None:
    w, ns = start(ctx)
    path = DAEMON_SET.path(ns, "x")
    key = "deprecated.daemonset.template.generation"
    assert w.post(DAEMON_SET.path(ns), DAEMON_SET.make(ns, "x")).ok(201)["metadata"]["annotations"][key] == "1"
    image = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "registry.test/app:2"}]}}}}
    assert w.patch(path, image, "strategic").ok()["metadata"]["annotations"][key] == "2"
    done = w.patch(path, {"spec": {"minReadySeconds": 3}}).ok()["metadata"]
    assert (done["annotations"][key], done["generation"]) == ("2", 3), "only the template counts there"


def test_finalizing_a_namespace(ctx: Context) -> None:
    w, ns = start(ctx)
    name = ctx.unique("ns")
    w.post(NAMESPACE_KIND.path(), NAMESPACE_KIND.make("", name)).ok(201)
    gone = w.delete(NAMESPACE_KIND.path(name=name)).ok()
    assert_has(gone, {"metadata": {"deletionTimestamp": TIME}, "spec": {"finalizers": ["kubernetes"]},
                      "status": {"phase": "Terminating"}})
    w.put(NAMESPACE_KIND.path(name=name, sub="finalize"), merged(gone, {"spec": {"finalizers": []}})).ok()
    assert w.get(NAMESPACE_KIND.path(name=name)).code == 404
