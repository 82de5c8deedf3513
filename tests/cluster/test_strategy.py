"""Built-in objects on their way into the store: what the simulated API server makes of them is what the real one makes.

Objects of every kind, good and bad, are sent to the real server with dryRun=All, and given to the simulator's own rules
(probe_strategy.c); objects, and refusals word by word, must be the same.  SLIPWAY_STRATEGY=all tries every small change
of every example, which takes minutes; without it a fixed sample is tried.

SLIPWAY_STRATEGY_RECORD=DIR writes what the server said of some of them: the cases of tests/unit/sim/api.
"""

from __future__ import annotations

import copy
import json
import os
import zlib

from api import Api, object_path
from cluster import Cluster
from context import Context, limit
from strategy_cases import BASES, GONE, STATUSES, TIME, WORLD, edited, mutations, odd_creations
from strategy_judge import Judge
from strategy_record import record

EVERYTHING = os.environ.get("SLIPWAY_STRATEGY") == "all"
SAMPLE = 8  # one of so many small changes is tried when not all are
STAYS_OUT = {("metadata", key) for key in ("name", "resourceVersion", "uid")}  # others answer for those


def chosen(name: str) -> bool:
    """The same changes every time, spread over all of them."""
    return EVERYTHING or zlib.crc32(name.encode()) % SAMPLE == 0


def bare_cluster(ctx: Context) -> Cluster:
    """Nobody changes what is stored there but the test."""
    return ctx.private_cluster(controllers=False, kwok=False)


def furnish(ctx: Context, api: Api) -> list[dict]:
    """Makes what the objects refer to; returns it with what is there already."""
    world = [api.create(o) for o in WORLD]
    path = "/apis/scheduling.k8s.io/v1/priorityclasses"
    ctx.wait_for(lambda: len(list(api.items(path))) >= 3, 30, "the priority classes of the system")
    names = {o["metadata"]["name"] for o in world}
    world += [{**o, "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"} for o in api.items(path)
              if o["metadata"]["name"] not in names]
    # admission looks at caches of its own
    pod = BASES["pod-small"]
    for probe in (edited(pod, spec__serviceAccountName="robot"), edited(pod, spec__priorityClassName="high")):
        ctx.wait_for(lambda: api.raw("POST", object_path(probe, named=False) + "?dryRun=All",
                                     json.dumps(probe).encode(), "application/json")[0] == 201,
                     30, "admission to know the world")
    return world


def make_judge(ctx: Context, api: Api, world: list[dict]) -> Judge:
    judge = Judge(api, ctx.probe.with_name("probe_strategy"))
    judge.world = world
    return judge


@limit(600)
def test_creations(ctx: Context) -> None:
    api = bare_cluster(ctx).api
    world = furnish(ctx, api)
    judge = make_judge(ctx, api, world)
    for name, base in BASES.items():
        judge.create(name, base)
        for change in mutations(base):
            if chosen(f"{name} {change}"):
                judge.create_changed(name, base, change)
    for name, obj in odd_creations():
        judge.create(name, obj)
    judge.report()
    record(judge)


def remove(api: Api, obj: dict) -> None:
    path = object_path(obj)
    api.patch(path, {"metadata": {"finalizers": None}})
    code, _ = api.raw("DELETE", path, b'{"gracePeriodSeconds":0,"propagationPolicy":"Background"}', "application/json")
    assert code < 300 or code == 404, f"DELETE {path}: {code}"


@limit(900)
def test_updates(ctx: Context) -> None:
    api = bare_cluster(ctx).api
    judge = make_judge(ctx, api, furnish(ctx, api))
    for name, base in BASES.items():
        if name == "pod-overhead":
            continue  # it cannot be
        old = api.create(base)
        versioned = edited(base, metadata__resourceVersion=old["metadata"]["resourceVersion"])
        stored = edited(old, metadata__managedFields=GONE)
        judge.update(f"{name} again as sent", versioned, old)
        judge.update(f"{name} without a version", base, old)
        judge.update(f"{name} with another version", edited(versioned, metadata__resourceVersion="1"), old)
        for change in mutations(stored):
            if chosen(f"{name} {change}") and change.path[0] != "status" and change.path[:2] not in STAYS_OUT:
                judge.update_changed(name, stored, change, old)
        if base["kind"] in STATUSES:
            status = {**stored, "status": {**stored.get("status", {}), **copy.deepcopy(STATUSES[base["kind"]])}}
            judge.update(f"{name} status", status, old, "status")
            for change in mutations(status, ("status",)):
                if chosen(f"{name} {change}"):
                    judge.update_changed(name, status, change, old, "status")
        judge.run_now()
        remove(api, base)
    judge.report()
    record(judge)


def with_status(api: Api, obj: dict, status: dict) -> dict:
    """Creates an object and gives it a status."""
    made = api.create(obj)
    return api.replace({**made, "status": {**made.get("status", {}), **status}}, "status")


@limit(300)
def test_updates_that_depend_on_what_was(ctx: Context) -> None:
    api = bare_cluster(ctx).api
    judge = make_judge(ctx, api, furnish(ctx, api))

    def attempt(old: dict, name: str, part: str = "", **edits: object) -> None:
        judge.update(name, edited(old, metadata__managedFields=GONE, **edits), old, part)

    def forget(old: dict) -> None:
        judge.run_now()
        remove(api, old)

    # what is being deleted
    held = api.create(edited(BASES["configmap-small"], metadata__finalizers=["example.com/hold"]))
    api.delete(object_path(held))
    held = api.get(object_path(held))
    attempt(held, "a finalizer more on what is being deleted", metadata__finalizers=["example.com/hold", "b.c/d", "a.b/c"])
    attempt(held, "a deletion undone", metadata__deletionTimestamp=GONE)
    attempt(held, "a deletion moved", metadata__deletionTimestamp=TIME)
    attempt(held, "a grace period changed", metadata__deletionGracePeriodSeconds=5)

    # pods at their gates
    gated = api.create(edited(BASES["pod-gated"], spec__affinity={"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}}))
    required = "spec__affinity__nodeAffinity__requiredDuringSchedulingIgnoredDuringExecution__nodeSelectorTerms"
    one, two = {"key": "a", "operator": "Exists"}, {"key": "b", "operator": "In", "values": ["x"]}
    attempt(gated, "a gate less", spec__schedulingGates=[{"name": "second"}])
    attempt(gated, "no gates", spec__schedulingGates=GONE)
    attempt(gated, "another gate", spec__schedulingGates=[{"name": "third"}])
    attempt(gated, "a node label more", spec__nodeSelector={"a": "b", "c": "d"})
    attempt(gated, "a node label less", spec__nodeSelector=GONE)
    attempt(gated, "a node label changed", spec__nodeSelector={"a": "x"})
    attempt(gated, "an expression more", **{required: [{"matchExpressions": [one, two]}]})
    attempt(gated, "another expression", **{required: [{"matchExpressions": [two]}]})
    attempt(gated, "a term more", **{required: [{"matchExpressions": [one]}, {"matchExpressions": [two]}]})
    attempt(gated, "no affinity", spec__affinity=GONE)
    attempt(gated, "other affinity, too", spec__affinity__podAffinity={
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z"}]})
    forget(gated)

    # other pods
    pod = api.create(edited(BASES["pod-small"], spec__activeDeadlineSeconds=100, metadata__annotations={
        "container.apparmor.security.beta.kubernetes.io/c": "runtime/default"}))
    more = pod["spec"]["tolerations"] + [{"key": "x", "operator": "Exists"}]
    attempt(pod, "another image", spec__containers__0__image="other:1")
    attempt(pod, "an image with blanks", spec__containers__0__image=" other")
    attempt(pod, "a toleration more", spec__tolerations=more)
    attempt(pod, "a toleration changed", spec__tolerations=more[1:])
    attempt(pod, "seconds of a toleration", spec__tolerations__0__tolerationSeconds=5)
    attempt(pod, "a shorter deadline", spec__activeDeadlineSeconds=50)
    attempt(pod, "a longer deadline", spec__activeDeadlineSeconds=150)
    attempt(pod, "no deadline", spec__activeDeadlineSeconds=GONE)
    attempt(pod, "a container more", spec__containers=pod["spec"]["containers"] + [{"name": "x", "image": "y"}])
    attempt(pod, "no AppArmor annotation", metadata__annotations=GONE)
    attempt(pod, "another AppArmor annotation", metadata__annotations={
        "container.apparmor.security.beta.kubernetes.io/c": "unconfined"})
    attempt(pod, "a mirror annotation", metadata__annotations={"kubernetes.io/config.mirror": "x"})
    attempt(pod, "priority left out", spec__priority=GONE, spec__preemptionPolicy=GONE)
    attempt(pod, "on a node", spec__nodeName="node-1")
    attempt(pod, "another grace period", spec__terminationGracePeriodSeconds=5)
    forget(pod)

    # containers that have ended
    ended = {"name": "c", "image": "x", "imageID": "", "ready": False, "restartCount": 0,
             "state": {"terminated": {"exitCode": 1}}}
    running = {**ended, "state": {"running": {}}}
    for policy in ("Always", "OnFailure", "Never"):
        for code in (0, 1):
            for own in (None, "Always", "Never", "OnFailure"):
                was = {**ended, "state": {"terminated": {"exitCode": code}}}
                spec = {**BASES["pod-small"]["spec"], "restartPolicy": policy, "containers": [
                    {"name": "c", "image": "x", **({"restartPolicy": own} if own else {})}]}
                old = with_status(api, edited(BASES["pod-small"], spec=spec), {"containerStatuses": [was]})
                attempt(old, f"ended with {code}, {policy}, {own}", "status", status__containerStatuses=[running])
                forget(old)

    # claims
    claim = with_status(api, edited(BASES["pvc"], metadata__finalizers=GONE),
                        {"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]})
    for size in ("2Gi", "1Gi", "1073741824", "512Mi", "0"):
        attempt(claim, f"bound claim of {size}", spec__resources__requests__storage=size)
    attempt(claim, "bound claim on another class", spec__storageClassName="std")
    attempt(claim, "bound claim with attributes", spec__volumeAttributesClassName="x")
    attempt(claim, "the old annotation", metadata__annotations={"volume.beta.kubernetes.io/storage-class": "x"})
    forget(claim)
    slow = with_status(api, edited(BASES["pvc"], spec__storageClassName="std"), {"phase": "Bound"})
    attempt(slow, "a class that does not grow", spec__resources__requests__storage="2Gi")
    forget(slow)
    waiting = api.create(edited(BASES["pvc"], spec__storageClassName="fast", spec__volumeName=GONE))
    attempt(waiting, "an unbound claim grows", spec__resources__requests__storage="2Gi")
    attempt(waiting, "an unbound claim is bound", spec__volumeName="pv-9")
    forget(waiting)

    # jobs that wait
    job = api.create(BASES["job"])
    attempt(job, "suspended: node selector", spec__template__spec__nodeSelector={"a": "b"})
    attempt(job, "suspended: resources", spec__template__spec__containers__0__resources={"requests": {"cpu": "1"}})
    attempt(job, "suspended: image", spec__template__spec__containers__0__image="other")
    attempt(job, "suspended: labels", spec__template__metadata__labels={"a": "b"})
    attempt(job, "resumed", spec__suspend=False)
    attempt(job, "another parallelism", spec__parallelism=7)
    attempt(job, "other completions", spec__completions=7)
    attempt(job, "another boss", spec__managedBy="example.com/other")
    forget(job)
    elastic = api.create(BASES["job-indexed"])
    attempt(elastic, "both numbers", spec__completions=5, spec__parallelism=5)
    attempt(elastic, "one number", spec__completions=5)
    attempt(elastic, "the template of a job that runs", spec__template__spec__nodeSelector={"a": "b"})
    done = [{"type": t, "status": "True", "lastTransitionTime": TIME, "lastProbeTime": TIME}
            for t in ("SuccessCriteriaMet", "Complete")]
    failed = [{**c, "type": t} for c, t in zip(done, ("FailureTarget", "Failed"))]
    attempt(elastic, "complete", "status", status={"conditions": done, "startTime": TIME, "completionTime": TIME})
    attempt(elastic, "complete too early", "status", status={"conditions": done[1:], "active": 1, "ready": 2})
    attempt(elastic, "failed", "status", status={"conditions": failed, "startTime": TIME, "failedIndexes": "0"})
    attempt(elastic, "failed badly", "status", status={"conditions": failed[1:], "completionTime": TIME,
                                                       "failedIndexes": "x", "completedIndexes": "9"})
    attempt(elastic, "both", "status", status={"conditions": done + failed, "startTime": TIME, "terminating": 1,
                                               "uncountedTerminatedPods": {"failed": ["u"]}})
    forget(elastic)
    over = with_status(api, BASES["job-indexed"], {"conditions": done, "startTime": TIME, "completionTime": TIME,
                                                   "succeeded": 2, "failed": 1})
    attempt(over, "incomplete again", "status", status={"startTime": "2026-11-16T08:00:00Z", "succeeded": 1})
    forget(over)

    # services that become others
    for name, fields in (("ClusterIP", {}), ("NodePort", {"type": "NodePort"}),
                         ("LoadBalancer", {"type": "LoadBalancer", "externalTrafficPolicy": "Local"}),
                         ("headless", {"clusterIP": "None", "selector": {"a": "b"}}),
                         ("ExternalName", {"type": "ExternalName", "externalName": "x.y"})):
        base = edited(BASES["service-small"], metadata__name="changing", **{f"spec__{k}": v for k, v in fields.items()})
        old = api.create(base)
        for kind in ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"):
            attempt(old, f"{name} to {kind}", spec__type=kind, spec__externalName="x.y")
        attempt(old, f"{name} without addresses", spec__clusterIP=GONE, spec__clusterIPs=GONE, spec__ipFamilies=GONE)
        attempt(old, f"{name} on another address", spec__clusterIP="10.0.0.200", spec__clusterIPs=["10.0.0.200"])
        attempt(old, f"{name} on another address, in one place", spec__clusterIP="10.0.0.200")
        attempt(old, f"{name} headless", spec__clusterIP="None", spec__clusterIPs=["None"])
        attempt(old, f"{name} with another port", spec__ports=[{"port": 81, "name": "x"}])
        forget(old)

    # the rest
    ns = api.create(BASES["namespace-small"])
    attempt(ns, "a namespace finalized", "finalize", spec__finalizers=GONE)
    attempt(ns, "a namespace held by another", "finalize", spec__finalizers=["kubernetes", "bad"])
    attempt(ns, "a namespace's label changed", metadata__labels={"kubernetes.io/metadata.name": "other"})
    fixed = api.create(edited(BASES["configmap"], metadata__finalizers=GONE, metadata__name="fixed"))
    attempt(fixed, "immutable data", data={"a": "b"})
    attempt(fixed, "mutable again", immutable=GONE)
    secret = api.create(edited(BASES["secret-basic"], metadata__name="typed"))
    attempt(secret, "another type", type="Opaque")
    attempt(secret, "no type", type=GONE)
    node = api.create(edited(BASES["node"], metadata__finalizers=GONE, metadata__name="n-9"))
    attempt(node, "another range", spec__podCIDR="10.9.0.0/24", spec__podCIDRs=["10.9.0.0/24"])
    attempt(node, "another provider", spec__providerID="y://2")
    attempt(node, "the same address twice", "status", status__addresses=[{"type": "X", "address": "y"}] * 2)
    daemons = api.create(edited(BASES["daemonset-small"], metadata__name="ds"))
    attempt(daemons, "another template", spec__template__spec__containers__0__image="other")
    attempt(daemons, "its generation made up", metadata__annotations={"deprecated.daemonset.template.generation": "77"})
    attempt(daemons, "another selector", spec__selector={"matchLabels": {"rev": "1"}})
    deploy = api.create(edited(BASES["deployment-small"], metadata__name="dep"))
    attempt(deploy, "an annotation counts", metadata__annotations={"a": "b"})
    attempt(deploy, "labels through status", "status", metadata__labels={"a": "b"})
    attempt(deploy, "a collision forgotten", "status", status={"collisionCount": 1})
    judge.report()
    record(judge)
