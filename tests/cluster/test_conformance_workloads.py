"""Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs: what their controllers make, in which order, and what they say of it."""

from __future__ import annotations

from context import Context
from kinds import BUDGET, CLAIM, DAEMON_SET, DEPLOYMENT, IMAGE, JOB, NODE, POD, REPLICA_SET, STATEFUL_SET, Kind
from objects import budget, budget_status, deployment, pod, running
from shape import TIME, Like, assert_has, merged
from wire import Stream, Wire, query

ALL = {"app": "x"}
HASH = "[bcdfghjklmnpqrstvwxz2456789]{1,10}"


def template(image: str = IMAGE, annotations: dict[str, str] = {}, **spec: object) -> dict:
    return {"metadata": {"labels": ALL, "annotations": annotations},
            "spec": {"containers": [{"name": "main", "image": image}], **spec}}


def workload(kind: Kind, ns: str, name: str, **spec: object) -> dict:
    return {"apiVersion": kind.version, "kind": kind.kind, "metadata": {"name": name, "namespace": ns},
            "spec": {"selector": {"matchLabels": ALL}, "template": template(), **spec}}


def image(tag: str) -> dict:
    return {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": f"registry.test/app:{tag}"}]}}}}


class Scene:
    def __init__(self, ctx: Context, nodes: int = 2) -> None:
        ctx.suite_nodes(nodes)
        self.ctx, self.w, self.ns = ctx, Wire(ctx.cluster.api), ctx.namespace()

    def make(self, kind: Kind, name: str, **spec: object) -> dict:
        return self.w.post(kind.path(self.ns), workload(kind, self.ns, name, **spec)).ok(201)

    def items(self, kind: Kind) -> list[dict]:
        return self.w.get(kind.path(self.ns)).ok()["items"]

    def names(self, kind: Kind) -> list[str]:
        return [i["metadata"]["name"] for i in self.items(kind)]

    def pods(self) -> list[dict]:
        return [p for p in self.items(POD) if "deletionTimestamp" not in p["metadata"]]

    def status(self, kind: Kind, name: str, **wanted: object) -> dict:
        """The object, as soon as its status is of the present generation and has these values (0: none)."""
        def there() -> dict | None:
            found = self.w.get(kind.path(self.ns, name)).ok()
            seen = found["status"]
            if seen.get("observedGeneration", found["metadata"]["generation"]) != found["metadata"]["generation"]:
                return None
            return found if all((seen.get(key) or 0) == value for key, value in wanted.items()) else None
        return self.ctx.wait_for(there, 60, f"{kind.kind} {name}: {wanted}")

    def noticed(self, **wanted: int) -> None:
        """Waits until the controllers, which share what they see of pods, have seen these: one that does not know them makes others."""
        self.w.post(BUDGET.path(self.ns), budget("noticed", self.ns, ALL, minAvailable=1)).ok(201)
        budget_status(self.ctx, self.ns, "noticed", **wanted)
        self.w.delete(BUDGET.path(self.ns, "noticed")).ok()

    def follow(self, kind: Kind) -> Stream:
        version = self.w.get(kind.path(self.ns)).ok()["metadata"]["resourceVersion"]
        stream = Stream(self.ctx.cluster.api, query(kind.path(self.ns), watch=True, resourceVersion=version))
        self.ctx.undo(stream.close)
        return stream


def ready(obj: dict) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in obj["status"].get("conditions", []))


def condition(obj: dict, kind: str) -> dict:
    return next((c for c in obj["status"].get("conditions") or [] if c["type"] == kind), {})


def owner(obj: dict) -> tuple[str, str]:
    found, = [o for o in obj["metadata"]["ownerReferences"] if o.get("controller")]
    assert found["blockOwnerDeletion"] is True
    return found["kind"], found["name"]


# -- Deployments --------------------------------------------------------------------------------------------------


def test_a_deployment(ctx: Context) -> None:
    s = Scene(ctx)
    s.make(DEPLOYMENT, "d", replicas=3)
    found = s.status(DEPLOYMENT, "d", replicas=3, readyReplicas=3, availableReplicas=3, updatedReplicas=3, unavailableReplicas=0)
    found = ctx.wait_for(lambda: (d := s.status(DEPLOYMENT, "d")) and condition(d, "Progressing").get(
        "reason") == "NewReplicaSetAvailable" and d, 60,
                         "its progress to be noted")
    only, = s.items(REPLICA_SET)
    name = only["metadata"]["name"]
    digest = only["metadata"]["labels"]["pod-template-hash"]
    assert Like(HASH) == digest and name == f"d-{digest}" and owner(only) == ("Deployment", "d")
    assert only["spec"]["selector"]["matchLabels"] == ALL | {"pod-template-hash": digest} == only["spec"]["template"][
        "metadata"]["labels"]
    assert_has(only["metadata"]["annotations"], {"deployment.kubernetes.io/revision": "1",
                                                 "deployment.kubernetes.io/desired-replicas": "3",
                                                 "deployment.kubernetes.io/max-replicas": "4"})
    assert_has(only["status"], {"replicas": 3, "readyReplicas": 3, "availableReplicas": 3, "fullyLabeledReplicas": 3,
                                "observedGeneration": only["metadata"]["generation"]})
    assert found["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"
    assert_has(condition(found, "Available"), {"status": "True", "reason": "MinimumReplicasAvailable",
                                               "message": "Deployment has minimum availability.",
                                               "lastUpdateTime": TIME, "lastTransitionTime": TIME})
    assert_has(condition(found, "Progressing"), {"status": "True", "message": f'ReplicaSet "{name}" has successfully progressed.'})
    for each in s.pods():
        assert Like(f"{name}-[bcdfghjklmnpqrstvwxz2456789]{{5}}") == each["metadata"]["name"] and each["metadata"][
            "generateName"] == f"{name}-"
        assert owner(each) == ("ReplicaSet", name) and each["metadata"]["labels"]["pod-template-hash"] == digest


def test_a_rolling_update_keeps_its_numbers(ctx: Context) -> None:
    """Never more pods than replicas and surge, never fewer that are ready than it says."""
    s = Scene(ctx)
    slow = ctx.cluster.pod_timing(ready="300ms")
    s.make(DEPLOYMENT, "d", replicas=4, strategy={"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}},
           template=template(annotations=slow))
    s.status(DEPLOYMENT, "d", availableReplicas=4)
    old = set(s.names(REPLICA_SET))
    held = {p["metadata"]["name"]: p for p in s.pods()}
    stream, sets = s.follow(POD), s.follow(REPLICA_SET)
    s.w.patch(DEPLOYMENT.path(s.ns, "d"), image("2"), "strategic").ok()
    s.status(DEPLOYMENT, "d", replicas=4, updatedReplicas=4, availableReplicas=4)
    s.w.post(POD.path(s.ns), POD.make(s.ns, "zz-mark")).ok(201)
    least = 4
    for event in stream.until(lambda e: e["object"]["metadata"]["name"] == "zz-mark")[:-1]:
        name = event["object"]["metadata"]["name"]
        held[name] = event["object"]
        if event["type"] == "DELETED":
            del held[name]
        least = min(least, sum(ready(p) for p in held.values() if "deletionTimestamp" not in p["metadata"]))
    assert least >= 3, least
    new, = set(s.names(REPLICA_SET)) - old
    # What the Deployment wants, one write after the other.  How many pods there are for a moment is up to two sets that know nothing of
    # each other.
    wanted = {old_set: 4 for old_set in old}
    sums = []
    for event in sets.until(lambda e: wanted.update({e["object"]["metadata"]["name"]: e["object"]["spec"]["replicas"]}) or
                            sums.append(sum(wanted.values())) or wanted == {new: 4, **dict.fromkeys(old, 0)}):
        assert event["type"] != "DELETED", event
    assert max(sums) == 5 and min(sums) >= 3, sums
    sizes = {r["metadata"]["name"]: (r["spec"]["replicas"],
                                     r["metadata"]["annotations"]["deployment.kubernetes.io/revision"]) for r in s.items(
                                         REPLICA_SET)}
    assert sizes == {new: (4, "2"), old.pop(): (0, "1")}


def test_recreate_and_back(ctx: Context) -> None:
    """All go before the first comes; the set of an earlier template is used again."""
    s = Scene(ctx)
    s.make(DEPLOYMENT, "d", replicas=2, strategy={"type": "Recreate"})
    s.status(DEPLOYMENT, "d", availableReplicas=2)
    first, = s.names(REPLICA_SET)
    stream = s.follow(POD)
    s.w.patch(DEPLOYMENT.path(s.ns, "d"), image("2"), "strategic").ok()
    s.status(DEPLOYMENT, "d", updatedReplicas=2, availableReplicas=2)
    events = stream.until(lambda e: e["type"] == "ADDED")
    assert sum(e["type"] == "DELETED" for e in events) == 2, [e["type"] for e in events]
    s.w.patch(DEPLOYMENT.path(s.ns, "d"), {"spec": {"template": template()}}).ok()
    s.status(DEPLOYMENT, "d", updatedReplicas=2, availableReplicas=2)
    sizes = {r["metadata"]["name"]: (r["spec"]["replicas"],
                                     r["metadata"]["annotations"]["deployment.kubernetes.io/revision"]) for r in s.items(
                                         REPLICA_SET)}
    assert len(sizes) == 2 and sizes[first] == (2, "3")
    assert s.w.get(REPLICA_SET.path(s.ns, first)).ok()["metadata"]["annotations"][
        "deployment.kubernetes.io/revision-history"] == "1"
    assert s.w.get(DEPLOYMENT.path(s.ns, "d")).ok()["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "3"


def test_pausing_scaling_and_history(ctx: Context) -> None:
    s = Scene(ctx)
    path = DEPLOYMENT.path(s.ns, "d")
    s.make(DEPLOYMENT, "d", replicas=2, revisionHistoryLimit=1)
    s.status(DEPLOYMENT, "d", availableReplicas=2)
    s.w.patch(path, {"spec": {"paused": True}}).ok()
    s.w.patch(path, image("2"), "strategic").ok()
    found = s.status(DEPLOYMENT, "d", updatedReplicas=0, replicas=2)
    assert len(s.items(REPLICA_SET)) == 1, "nothing is rolled out"
    s.w.patch(DEPLOYMENT.path(s.ns, "d", "scale"), {"spec": {"replicas": 3}}).ok()
    s.status(DEPLOYMENT, "d", replicas=3, availableReplicas=3, updatedReplicas=0)
    s.w.patch(path, {"spec": {"paused": False}}).ok()
    found = s.status(DEPLOYMENT, "d", replicas=3, availableReplicas=3, updatedReplicas=3)
    for tag in ("3", "4"):
        s.w.patch(path, image(tag), "strategic").ok()
        found = s.status(DEPLOYMENT, "d", replicas=3, availableReplicas=3, updatedReplicas=3)
    ctx.wait_for(lambda: len(s.items(REPLICA_SET)) == 2, 60, "the history to be cut")
    assert found["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "4"
    s.w.patch(DEPLOYMENT.path(s.ns, "d", "scale"), {"spec": {"replicas": 0}}).ok()
    found = s.status(DEPLOYMENT, "d", replicas=0, availableReplicas=0)
    ctx.wait_for(lambda: s.names(POD) == [], 60, "no pods")
    assert condition(found, "Available")["status"] == "True"


def test_a_deployment_that_cannot_be_available(ctx: Context) -> None:
    s = Scene(ctx)
    s.make(DEPLOYMENT, "d", replicas=2, template=template(nodeSelector={"no": "where"}))
    found = s.status(DEPLOYMENT, "d", replicas=2, updatedReplicas=2, unavailableReplicas=2, availableReplicas=0)
    assert_has(condition(found, "Available"), {"status": "False", "reason": "MinimumReplicasUnavailable",
                                               "message": "Deployment does not have minimum availability."})
    found = ctx.wait_for(lambda: (d := s.status(DEPLOYMENT, "d")) and condition(d, "Progressing").get(
        "reason") == "ReplicaSetUpdated" and d, 60, "progress")

    def unscheduled() -> list[dict] | None:
        told = [condition(p, "PodScheduled") for p in s.pods()]
        return told if len(told) == 2 and all(told) else None

    for told in ctx.wait_for(unscheduled, 60, "the scheduler's word"):
        assert_has(told, {"status": "False", "reason": "Unschedulable"})
        assert told["message"].startswith("0/") and "node(s) didn't match Pod's node affinity/selector" in told["message"], told


# -- ReplicaSets --------------------------------------------------------------------------------------------------


def test_adoption_and_release(ctx: Context) -> None:
    s = Scene(ctx)
    s.w.post(POD.path(s.ns), pod("mine", s.ns, ALL)).ok(201)
    running(ctx, s.ns, 1)
    s.noticed(expectedPods=1, currentHealthy=1)
    s.make(REPLICA_SET, "r", replicas=2)
    s.status(REPLICA_SET, "r", replicas=2, readyReplicas=2)
    found = {p["metadata"]["name"]: p for p in s.pods()}
    assert len(found) == 2 and owner(found["mine"]) == ("ReplicaSet", "r"), "a pod that fits is taken in"
    s.w.patch(POD.path(s.ns, "mine"), {"metadata": {"labels": {"app": "free"}}}).ok()
    ctx.wait_for(lambda: "ownerReferences" not in s.w.get(POD.path(s.ns, "mine")).ok()["metadata"], 60, "the pod to be let go")
    ctx.wait_for(lambda: len(s.pods()) == 3, 60, "another in its place")
    s.status(REPLICA_SET, "r", replicas=2, readyReplicas=2)
    before = {p["metadata"]["name"] for p in s.pods()}
    s.w.post(POD.path(s.ns), pod("third", s.ns, ALL)).ok(201)

    def one_less() -> bool:
        now = {p["metadata"]["name"] for p in s.pods()}
        return len(now) == 3 and "mine" in now and bool((before | {"third"}) - now)

    ctx.wait_for(one_less, 60, "one of what is too many to go again")
    s.status(REPLICA_SET, "r", replicas=2, readyReplicas=2)


def test_who_goes_first(ctx: Context) -> None:
    """Who has no node goes first, then who costs least."""
    s = Scene(ctx)
    gated = POD.make(s.ns, "gated", metadata={"labels": ALL})
    s.w.post(POD.path(s.ns), gated).ok(201)
    for name, cost in (("dear", "100"), ("cheap", "-100")):
        s.w.post(POD.path(s.ns), pod(name, s.ns, ALL, {"controller.kubernetes.io/pod-deletion-cost": cost})).ok(201)
    running(ctx, s.ns, 2)
    s.noticed(expectedPods=3, currentHealthy=2)
    s.make(REPLICA_SET, "r", replicas=3)
    s.status(REPLICA_SET, "r", replicas=3)
    for replicas, left in ((2, ["cheap", "dear"]), (1, ["dear"])):
        s.w.patch(REPLICA_SET.path(s.ns, "r", "scale"), {"spec": {"replicas": replicas}}).ok()
        s.status(REPLICA_SET, "r", replicas=replicas)
        ctx.wait_for(lambda: sorted(p["metadata"]["name"] for p in s.pods()) == left, 60, f"{left} to be left")


def test_pods_that_end_are_replaced(ctx: Context) -> None:
    s = Scene(ctx)
    s.make(REPLICA_SET, "r", replicas=1)
    s.status(REPLICA_SET, "r", readyReplicas=1)
    first, = s.pods()
    s.w.patch(POD.path(s.ns, first["metadata"]["name"], "status"), {"status": {"phase": "Failed"}}).ok()
    ctx.wait_for(lambda: [p for p in s.pods() if p["metadata"]["name"] != first["metadata"]["name"] and ready(p)], 60,
                 "another pod")
    assert s.w.get(POD.path(s.ns, first["metadata"]["name"])).ok()["status"]["phase"] == "Failed", "it stays as it is"
    s.status(REPLICA_SET, "r", replicas=1, readyReplicas=1)


# -- StatefulSets -------------------------------------------------------------------------------------------------


def test_a_stateful_set_in_order(ctx: Context) -> None:
    s = Scene(ctx)
    stream = s.follow(POD)
    s.make(STATEFUL_SET, "web", replicas=3, serviceName="web")
    found = s.status(STATEFUL_SET, "web", replicas=3, readyReplicas=3, availableReplicas=3, currentReplicas=3, updatedReplicas=3)
    assert found["status"]["currentRevision"] == found["status"]["updateRevision"] and Like(f"web-{HASH}") == found["status"][
        "updateRevision"]
    order: list[str] = []
    up: set[str] = set()
    for event in stream.until(lambda e: e["object"]["metadata"]["name"] == "web-2" and ready(e["object"])):
        name = event["object"]["metadata"]["name"]
        if event["type"] == "ADDED":
            assert up == set(order), f"{name} came before {set(order) - up} was ready"
            order.append(name)
        if ready(event["object"]):
            up.add(name)
    assert order == ["web-0", "web-1", "web-2"]
    for index, each in enumerate(s.pods()):
        assert owner(each) == ("StatefulSet", "web")
        assert_has(each["metadata"]["labels"], ALL | {"statefulset.kubernetes.io/pod-name": f"web-{index}",
                                                      "apps.kubernetes.io/pod-index": str(index),
                                                      "controller-revision-hash": found["status"]["updateRevision"]})
        assert_has(each["spec"], {"hostname": f"web-{index}", "subdomain": "web"})
    before = {p["metadata"]["name"]: p["metadata"]["uid"] for p in s.pods()}
    s.w.delete(POD.path(s.ns, "web-1")).ok()

    def again() -> dict[str, str] | None:
        found = {p["metadata"]["name"]: p["metadata"]["uid"] for p in s.pods() if ready(p)}
        return found if set(found) == set(before) and found["web-1"] != before["web-1"] else None

    after = ctx.wait_for(again, 60, "the same name again")
    assert [name for name in before if after[name] != before[name]] == ["web-1"]
    stream = s.follow(POD)
    s.w.patch(STATEFUL_SET.path(s.ns, "web", "scale"), {"spec": {"replicas": 1}}).ok()
    s.status(STATEFUL_SET, "web", replicas=1, readyReplicas=1)
    gone = [e["object"]["metadata"]["name"] for e in stream.until(lambda e: e["type"] == "DELETED" and e["object"]["metadata"][
        "name"] == "web-1") if e["type"] == "DELETED"]
    assert gone == ["web-2", "web-1"], "the last comes first"


def test_a_stateful_set_waits_for_the_one_before(ctx: Context) -> None:
    s = Scene(ctx)
    s.make(STATEFUL_SET, "web", replicas=3, serviceName="web", template=template(nodeSelector={"no": "where"}))
    s.status(STATEFUL_SET, "web", replicas=1, readyReplicas=0)
    assert s.names(POD) == ["web-0"]
    s.make(STATEFUL_SET, "all", replicas=3, serviceName="all", podManagementPolicy="Parallel",
           selector={"matchLabels": {"app": "y"}},
           template=merged(template(nodeSelector={"no": "where"}), {"metadata": {"labels": {"app": "y"}}}))
    s.status(STATEFUL_SET, "all", replicas=3, readyReplicas=0)
    assert s.names(POD) == ["all-0", "all-1", "all-2", "web-0"]


def test_claims_of_a_stateful_set(ctx: Context) -> None:
    """One for each pod and template; they stay when the pods go."""
    s = Scene(ctx)
    claim = {"metadata": {"name": "data", "labels": {"a": "b"}},
             "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    s.make(STATEFUL_SET, "db", replicas=2, serviceName="db", podManagementPolicy="Parallel", volumeClaimTemplates=[claim])
    ctx.wait_for(lambda: s.names(CLAIM) == ["data-db-0", "data-db-1"], 60, "the claims")
    first = s.items(CLAIM)[0]
    assert first["metadata"]["labels"] == ALL | {"a": "b"} and first["spec"]["accessModes"] == [
        "ReadWriteOnce"] and "ownerReferences" not in first["metadata"]
    ctx.wait_for(lambda: len(s.pods()) == 2, 60, "the pods")
    volume, = [v for v in s.pods()[1]["spec"]["volumes"] if v["name"] == "data"]
    assert volume["persistentVolumeClaim"] == {"claimName": "data-db-1"}
    s.w.patch(STATEFUL_SET.path(s.ns, "db", "scale"), {"spec": {"replicas": 1}}).ok()
    ctx.wait_for(lambda: s.names(POD) == ["db-0"], 60, "one pod")
    s.w.delete(STATEFUL_SET.path(s.ns, "db"), {"propagationPolicy": "Foreground"}).ok()
    ctx.wait_for(lambda: s.w.get(STATEFUL_SET.path(s.ns, "db")).code == 404 and s.names(POD) == [], 60, "all pods to be gone")
    assert s.names(CLAIM) == ["data-db-0", "data-db-1"]


def test_updates_of_a_stateful_set(ctx: Context) -> None:
    """From the last to the first, down to the partition; OnDelete waits for somebody."""
    s = Scene(ctx)
    path = STATEFUL_SET.path(s.ns, "web")
    s.make(STATEFUL_SET, "web", replicas=3, serviceName="web",
           updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}})
    s.status(STATEFUL_SET, "web", readyReplicas=3)
    stream = s.follow(POD)
    s.w.patch(path, image("2"), "strategic").ok()
    found = s.status(STATEFUL_SET, "web", readyReplicas=3, updatedReplicas=2, currentReplicas=1)
    assert found["status"]["currentRevision"] != found["status"]["updateRevision"]

    def images() -> list[str]:
        return [p["spec"]["containers"][0]["image"].rpartition(":")[2] for p in s.items(POD)]

    ctx.wait_for(lambda: images() == ["1", "2", "2"], 60, "all but the first")
    added = [e["object"]["metadata"]["name"] for e in stream.until(lambda e: e["type"] == "ADDED" and e["object"]["metadata"][
        "name"] == "web-1") if e["type"] == "ADDED"]
    # The real one deletes by name: one that has not yet seen that its pod is a new one deletes that, too, and makes it a second time.
    assert list(dict.fromkeys(added)) == ["web-2", "web-1"], added
    s.w.patch(path, {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}}).ok()
    found = s.status(STATEFUL_SET, "web", readyReplicas=3, updatedReplicas=3)
    found = ctx.wait_for(lambda: (f := s.status(STATEFUL_SET, "web")) and f["status"]["currentRevision"] == f["status"][
        "updateRevision"] and f, 60, "one revision")
    assert images() == ["2", "2", "2"]
    s.w.patch(path, {"spec": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": None}}}).ok()
    s.w.patch(path, image("3"), "strategic").ok()
    s.status(STATEFUL_SET, "web", readyReplicas=3, updatedReplicas=0)
    s.w.delete(POD.path(s.ns, "web-1")).ok()
    s.status(STATEFUL_SET, "web", readyReplicas=3, updatedReplicas=1)
    assert images() == ["2", "3", "2"]


# -- DaemonSets ---------------------------------------------------------------------------------------------------


def test_a_daemon_on_every_node(ctx: Context) -> None:
    """Cordoned or not; tainted ones only if it tolerates that; new ones as they come."""
    s = Scene(ctx, nodes=0)
    label = ctx.unique("ds")
    plain, cordoned = ctx.nodes(2, labels={"set": label})
    tainted, = ctx.nodes(1, labels={"set": label}, taints=[{"key": "only", "value": "me", "effect": "NoSchedule"}])
    s.w.patch(NODE.path(name=cordoned), {"spec": {"unschedulable": True}}).ok()
    s.make(DAEMON_SET, "ds", template=template(nodeSelector={"set": label}))
    found = s.status(DAEMON_SET, "ds", desiredNumberScheduled=2, currentNumberScheduled=2, numberReady=2, numberAvailable=2,
                     updatedNumberScheduled=2,
                     numberMisscheduled=0)
    assert {p["spec"]["nodeName"] for p in s.pods()} == {plain, cordoned}
    one = s.pods()[0]
    assert owner(one) == ("DaemonSet", "ds") and Like("ds-[bcdfghjklmnpqrstvwxz2456789]{5}") == one["metadata"]["name"]
    tolerated = {(t.get("key"), t.get("effect")) for t in one["spec"]["tolerations"]}
    assert {(f"node.kubernetes.io/{key}", effect) for key, effect in (("not-ready", "NoExecute"), ("unreachable", "NoExecute"),
                                                                      ("disk-pressure", "NoSchedule"),
            ("memory-pressure", "NoSchedule"), ("pid-pressure", "NoSchedule"),
            ("unschedulable", "NoSchedule"))} <= tolerated, tolerated
    terms = one["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert terms == [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [one["spec"]["nodeName"]]}]}]
    more, = ctx.nodes(1, labels={"set": label})
    s.status(DAEMON_SET, "ds", desiredNumberScheduled=3, numberReady=3)
    s.w.patch(NODE.path(name=more), {"metadata": {"labels": {"set": None}}}).ok()
    s.status(DAEMON_SET, "ds", desiredNumberScheduled=2, numberReady=2)
    ctx.wait_for(lambda: {p["spec"]["nodeName"] for p in s.pods()} == {plain, cordoned}, 60, "the pod to leave")
    s.w.patch(DAEMON_SET.path(s.ns, "ds"),
              {"spec": {"template": {"spec": {"tolerations": [{"key": "only", "operator": "Exists"}]}}}}).ok()
    found = s.status(DAEMON_SET, "ds", desiredNumberScheduled=3, numberReady=3, updatedNumberScheduled=3)
    assert found["metadata"]["generation"] == 2
    ctx.wait_for(lambda: {p["spec"]["nodeName"] for p in s.pods()} == {plain, cordoned, tainted}, 60, "the tainted node too")


# -- Jobs ---------------------------------------------------------------------------------------------------------


def job(s: Scene, name: str, finish: str | None = "0s", **spec: object) -> dict:
    annotations = s.ctx.cluster.pod_timing(finish=finish)
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": s.ns},
            "spec": {"template": {"metadata": {"annotations": annotations},
                                  "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": IMAGE}]}}, **spec}}
    return s.w.post(JOB.path(s.ns), body).ok(201)


def ended(s: Scene, name: str, kind: str) -> dict:
    def there() -> dict | None:
        found = s.w.get(JOB.path(s.ns, name)).ok()
        return found if condition(found, kind).get("status") == "True" else None
    return s.ctx.wait_for(there, 60, f"Job {name} to be {kind}")


def test_a_job_that_completes(ctx: Context) -> None:
    s = Scene(ctx)
    made = job(s, "j", completions=3, parallelism=2)
    found = ended(s, "j", "Complete")
    assert_has(found["status"], {"succeeded": 3, "startTime": TIME, "completionTime": TIME})
    assert not found["status"].get("active") and not found["status"].get("failed")
    assert condition(found, "SuccessCriteriaMet")["status"] == "True" and condition(found, "Complete")[
        "reason"] == "CompletionsReached"
    pods = s.pods()
    assert len(pods) == 3 and all(p["status"]["phase"] == "Succeeded" for p in pods)
    assert_has(pods[0]["metadata"]["labels"], {"batch.kubernetes.io/job-name": "j", "job-name": "j",
                                               "batch.kubernetes.io/controller-uid": made["metadata"]["uid"]})
    assert owner(pods[0]) == ("Job", "j") and "finalizers" not in pods[0]["metadata"]
    s.w.delete(JOB.path(s.ns, "j"), {"propagationPolicy": "Background"}).ok()
    ctx.wait_for(lambda: s.names(POD) == [], 60, "its pods to go with it")


def test_a_job_that_fails(ctx: Context) -> None:
    s = Scene(ctx)
    job(s, "j", finish=None, backoffLimit=1)
    for number in (1, 2):
        name = ctx.wait_for(lambda: next((p["metadata"]["name"] for p in s.pods() if p["status"]["phase"] == "Running"), None),
                            60, f"pod {number}")
        state = [{"name": "main", "image": IMAGE, "imageID": "", "ready": False, "restartCount": 0,
                  "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}]
        s.w.patch(POD.path(s.ns, name, "status"), {"status": {"phase": "Failed", "containerStatuses": state}}).ok()
    found = ended(s, "j", "Failed")
    assert_has(condition(found, "Failed"), {"reason": "BackoffLimitExceeded",
                                            "message": "Job has reached the specified backoff limit"})
    assert found["status"]["failed"] == 2 and not found["status"].get("active")


def test_suspended_and_late_jobs(ctx: Context) -> None:
    s = Scene(ctx)
    job(s, "s", suspend=True)
    ctx.wait_for(lambda: condition(s.w.get(JOB.path(s.ns, "s")).ok(), "Suspended").get("status") == "True", 60,
                 "the job to be suspended")
    assert s.names(POD) == []
    s.w.patch(JOB.path(s.ns, "s"), {"spec": {"suspend": False}}).ok()
    found = ended(s, "s", "Complete")
    assert condition(found, "Suspended")["status"] == "False"
    job(s, "late", finish=None, activeDeadlineSeconds=1)
    found = ended(s, "late", "Failed")
    assert_has(condition(found, "Failed"),
               {"reason": "DeadlineExceeded", "message": "Job was active longer than specified deadline"})
    job(s, "ttl", ttlSecondsAfterFinished=0)
    ctx.wait_for(lambda: s.w.get(JOB.path(s.ns, "ttl")).code == 404, 60, "the finished job to be removed")


def test_deleting_an_owner(ctx: Context) -> None:
    """By default a Deployment's pods go with it; orphaned ones stay and are taken in again."""
    s = Scene(ctx)
    s.w.post(DEPLOYMENT.path(s.ns), deployment("d", s.ns, 2)).ok(201)
    pods = {p["metadata"]["uid"] for p in running(ctx, s.ns, 2)}
    s.status(DEPLOYMENT, "d", availableReplicas=2)
    s.w.delete(DEPLOYMENT.path(s.ns, "d"), {"propagationPolicy": "Orphan"}).ok()
    ctx.wait_for(lambda: s.w.get(DEPLOYMENT.path(s.ns, "d")).code == 404, 60, "the owner to be gone")
    only, = s.items(REPLICA_SET)
    assert "ownerReferences" not in only["metadata"] and {p["metadata"]["uid"] for p in s.pods()} == pods
    s.w.post(DEPLOYMENT.path(s.ns), deployment("d", s.ns, 2)).ok(201)
    s.status(DEPLOYMENT, "d", availableReplicas=2)
    assert owner(s.items(REPLICA_SET)[0]) == ("Deployment", "d") and {p["metadata"]["uid"] for p in s.pods()} == pods
    s.w.delete(DEPLOYMENT.path(s.ns, "d")).ok()
    ctx.wait_for(lambda: s.names(POD) == [] and s.names(REPLICA_SET) == [], 60, "everything to go")
