"""The arithmetic of a PodDisruptionBudget's status, which the disruption controller keeps, and what a budget may say."""

from __future__ import annotations

from dataclasses import dataclass

from context import Context, limit
from kinds import BUDGET, DAEMON_SET, DEPLOYMENT, IMAGE, JOB, POD, REPLICA_SET, STATEFUL_SET, Kind
from objects import budget, budget_status, deployment, pod, running
from shape import TIME, assert_is, merged
from wire import Wire

NEVER = "10h"  # longer than any test
ALL = {"app": "x"}


def workload(kind: Kind, ns: str, name: str, replicas: int, annotations: dict[str, str] = {}) -> dict:
    template = {"metadata": {"labels": ALL, "annotations": annotations}, "spec": {"containers": [{"name": "main", "image": IMAGE}]}}
    return {"apiVersion": kind.version, "kind": kind.kind, "metadata": {"name": name, "namespace": ns},
            "spec": {"replicas": replicas, "selector": {"matchLabels": ALL}, "template": template}}


def numbers(status: dict) -> tuple[int, int, int, int]:
    return status["expectedPods"], status["currentHealthy"], status["desiredHealthy"], status["disruptionsAllowed"]


@dataclass
class Row:
    """What runs, what the budget says, and (expected, healthy, desired, allowed)."""

    rule: dict
    wanted: tuple[int, int, int, int]
    kind: Kind = DEPLOYMENT
    replicas: tuple[int, ...] = (7,)
    unready: int = 0


ROWS = [
    Row({"minAvailable": 5}, (7, 7, 5, 2)),
    Row({"minAvailable": 7}, (7, 7, 7, 0)),
    Row({"minAvailable": 10}, (7, 7, 10, 0)),
    Row({"minAvailable": 0}, (7, 7, 0, 7)),
    Row({"minAvailable": "50%"}, (7, 7, 4, 3)),  # rounded up
    Row({"minAvailable": "1%"}, (7, 7, 1, 6)),
    Row({"minAvailable": "100%"}, (7, 7, 7, 0)),
    Row({"minAvailable": "0%"}, (7, 7, 0, 7)),
    Row({"maxUnavailable": 2}, (7, 7, 5, 2)),
    Row({"maxUnavailable": 0}, (7, 7, 7, 0)),
    Row({"maxUnavailable": 10}, (7, 7, 0, 7)),
    Row({"maxUnavailable": "30%"}, (7, 7, 4, 3)),  # rounded up too
    Row({"maxUnavailable": "1%"}, (7, 7, 6, 1)),
    Row({"maxUnavailable": "0%"}, (7, 7, 7, 0)),
    Row({"maxUnavailable": "100%"}, (7, 7, 0, 7)),
    Row({"minAvailable": "50%"}, (1, 1, 1, 0), replicas=(1,)),
    Row({"maxUnavailable": 1}, (3, 3, 2, 1), STATEFUL_SET, (3,)),
    Row({"minAvailable": "34%"}, (3, 3, 2, 1), STATEFUL_SET, (3,)),
    Row({"maxUnavailable": "50%"}, (3, 3, 1, 2), REPLICA_SET, (3,)),
    Row({"minAvailable": "50%"}, (5, 5, 3, 2), replicas=(2, 3)),  # two owners under one budget
    Row({"minAvailable": 3}, (5, 5, 3, 2), replicas=(2, 3)),
    Row({"minAvailable": 3}, (5, 3, 3, 0), replicas=(3,), unready=2),
    Row({"minAvailable": "50%"}, (5, 3, 3, 0), replicas=(3,), unready=2),
    Row({"maxUnavailable": 3}, (5, 3, 2, 1), replicas=(3,), unready=2),
    Row({"maxUnavailable": 1}, (5, 3, 4, 0), replicas=(3,), unready=2),
]


@limit(300)
def test_numbers(ctx: Context) -> None:
    """Every row in a namespace of its own, all at once."""
    ctx.suite_nodes(4)
    api = ctx.cluster.api
    spaces = [ctx.namespace() for _ in ROWS]
    for row, ns in zip(ROWS, spaces):
        for index, replicas in enumerate(row.replicas):
            api.create(workload(row.kind, ns, f"w{index}", replicas))
        if row.unready:
            api.create(workload(row.kind, ns, "unready", row.unready, ctx.cluster.pod_timing(ready=NEVER)))
        api.create(budget("b", ns, ALL, **row.rule))
    seen = {}

    def settled() -> bool:
        for row, ns in zip(ROWS, spaces):
            found = api.get(BUDGET.path(ns, "b"))
            seen[ns] = numbers(found["status"]) if found["status"].get("observedGeneration") == 1 else None
        return all(seen[ns] == row.wanted for row, ns in zip(ROWS, spaces))

    try:
        ctx.wait_for(settled, 120, "the budgets", interval=0.3)
    except Exception:
        wrong = [f"{row}: {seen[ns]}" for row, ns in zip(ROWS, spaces) if seen.get(ns) != row.wanted]
        raise AssertionError("\n".join(wrong)) from None


def test_two_owners_that_share_a_selector(ctx: Context) -> None:
    """The pods of both count, and the scale of both."""
    ctx.suite_nodes(2)
    api, ns = ctx.cluster.api, ctx.namespace()
    api.create(merged(deployment("a", ns, 2), {"spec": {"template": {"metadata": {"labels": {"tier": "x"}}}}}))
    api.create(merged(deployment("b", ns, 4), {"spec": {"template": {"metadata": {"labels": {"tier": "x"}}}}}))
    api.create(budget("b", ns, {"tier": "x"}, maxUnavailable="50%"))
    budget_status(ctx, ns, "b", expectedPods=6, currentHealthy=6, desiredHealthy=3, disruptionsAllowed=3)


def test_it_follows_the_scale(ctx: Context) -> None:
    """What is wanted of an owner counts, not what is there."""
    ctx.suite_nodes(2)
    api, ns = ctx.cluster.api, ctx.namespace()
    w = Wire(api)
    api.create(workload(DEPLOYMENT, ns, "d", 2))
    api.create(budget("b", ns, ALL, minAvailable="100%"))
    budget_status(ctx, ns, "b", expectedPods=2, currentHealthy=2, desiredHealthy=2, disruptionsAllowed=0)
    w.patch(DEPLOYMENT.path(ns, "d", "scale"), {"spec": {"replicas": 4}}).ok()
    budget_status(ctx, ns, "b", expectedPods=4, currentHealthy=4, desiredHealthy=4)
    w.patch(BUDGET.path(ns, "b"), {"spec": {"minAvailable": "25%"}}).ok()
    budget_status(ctx, ns, "b", expectedPods=4, currentHealthy=4, desiredHealthy=1, disruptionsAllowed=3)
    w.patch(DEPLOYMENT.path(ns, "d", "scale"), {"spec": {"replicas": 0}}).ok()
    budget_status(ctx, ns, "b", expectedPods=0, currentHealthy=0, desiredHealthy=0, disruptionsAllowed=0)


def test_pods_without_an_owner(ctx: Context) -> None:
    """A number of them can be asked for; a part of what nobody scales is nothing."""
    ctx.suite_nodes(2)
    api, ns = ctx.cluster.api, ctx.namespace()
    for name in "abc":
        api.create(pod(name, ns, ALL))
    running(ctx, ns, 3)  # of several budgets the controller looks at one only when a pod changes
    api.create(budget("number", ns, ALL, minAvailable=2))
    api.create(budget("part", ns, ALL, minAvailable="50%"))
    api.create(budget("most", ns, ALL, maxUnavailable=1))
    budget_status(ctx, ns, "number", expectedPods=3, currentHealthy=3, desiredHealthy=2, disruptionsAllowed=1)
    budget_status(ctx, ns, "part", expectedPods=0, currentHealthy=3, desiredHealthy=0, disruptionsAllowed=0)
    budget_status(ctx, ns, "most", expectedPods=0, currentHealthy=3, desiredHealthy=0, disruptionsAllowed=0)


def test_nobody_at_all(ctx: Context) -> None:
    api, ns = ctx.cluster.api, ctx.namespace()
    api.create(budget("b", ns, ALL, minAvailable=1))
    status = budget_status(ctx, ns, "b")["status"]
    assert numbers(status) == (0, 0, 1, 0), status
    assert_is(status["conditions"], [{"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "",
                                      "lastTransitionTime": TIME, "observedGeneration": 1}])


def test_who_is_healthy(ctx: Context) -> None:
    """Ready and not going; the phase says nothing."""
    api, ns = ctx.cluster.api, ctx.namespace()
    w = Wire(api)

    def healthy(name: str, phase: str, ready: str) -> None:
        w.post(POD.path(ns), merged(POD.make(ns, name), {"metadata": {"labels": ALL}})).ok(201)
        conditions = [{"type": "Ready", "status": ready, "lastTransitionTime": "2026-01-02T03:04:05Z"}]
        w.patch(POD.path(ns, name, "status"), {"status": {"phase": phase, "conditions": conditions}}, "strategic").ok()

    for name, phase, ready in (("a", "Running", "True"), ("b", "Running", "False"), ("c", "Running", "Unknown"),
                               ("d", "Pending", "True")):
        healthy(name, phase, ready)
    api.create(budget("b", ns, ALL, minAvailable=1))
    budget_status(ctx, ns, "b", expectedPods=4, currentHealthy=2, desiredHealthy=1, disruptionsAllowed=1)
    w.patch(POD.path(ns, "a"), {"metadata": {"finalizers": ["slipway.dev/a"]}}).ok()
    w.delete(POD.path(ns, "a")).ok()
    budget_status(ctx, ns, "b", expectedPods=4, currentHealthy=1, disruptionsAllowed=0)
    w.patch(POD.path(ns, "a"), {"metadata": {"finalizers": None}}).ok()
    budget_status(ctx, ns, "b", expectedPods=3, currentHealthy=1, desiredHealthy=1, disruptionsAllowed=0)


def test_conditions(ctx: Context) -> None:
    ctx.suite_nodes(1)
    api, ns = ctx.cluster.api, ctx.namespace()
    api.create(pod("a", ns, ALL))
    api.create(budget("b", ns, ALL, minAvailable=0))
    status = budget_status(ctx, ns, "b", disruptionsAllowed=1)["status"]
    assert_is(status["conditions"], [{"type": "DisruptionAllowed", "status": "True", "reason": "SufficientPods", "message": "",
                                      "lastTransitionTime": TIME, "observedGeneration": 1}])
    api.patch(BUDGET.path(ns, "b"), {"spec": {"minAvailable": 1}})
    status = budget_status(ctx, ns, "b", disruptionsAllowed=0)["status"]
    assert status["observedGeneration"] == 2
    assert_is(status["conditions"], [{"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "",
                                      "lastTransitionTime": TIME, "observedGeneration": 2}])


def test_owners_that_nobody_can_scale(ctx: Context) -> None:
    """The numbers cannot be had: nothing is allowed, and the condition says why."""
    ctx.suite_nodes(2)
    api = ctx.cluster.api

    def failed(ns: str) -> dict:
        def there() -> dict | None:
            status = api.get(BUDGET.path(ns, "b"))["status"]
            found = [c for c in status.get("conditions", []) if c["reason"] == "SyncFailed"]
            return found[0] | {"allowed": status["disruptionsAllowed"]} if found else None
        return ctx.wait_for(there, 60, f"the failure of the budget in {ns}")

    spaces = [ctx.namespace() for _ in range(3)]
    lost, daemons, jobs = spaces
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "none", "uid": "11111111-1111-1111-1111-111111111111",
             "controller": True}
    daemon = DAEMON_SET.make(daemons, "d")
    api.create(merged(daemon, {"spec": {"template": {"spec": {"nodeSelector": None}}}}))
    api.create(merged(JOB.make(jobs, "j"), {"spec": {"suspend": False, "template": {"metadata": {"labels": ALL}}}}))
    for ns in (daemons, jobs):
        ctx.wait_for(lambda: len(list(api.items(POD.path(ns)))) > 0, 60, f"pods in {ns}")
        api.create(budget("b", ns, ALL, maxUnavailable=1))
    assert failed(daemons)["message"] == "daemonsets.apps does not implement the scale subresource"
    assert failed(jobs)["message"] == "jobs.batch does not implement the scale subresource"
    api.create(budget("b", lost, ALL, maxUnavailable=1))
    budget_status(ctx, lost, "b")
    orphan = merged(POD.make(lost, "p"), {"metadata": {"labels": ALL, "finalizers": ["slipway.dev/a"], "ownerReferences": [owner]}})
    api.create(orphan)
    ctx.undo(lambda: api.patch(POD.path(lost, "p"), {"metadata": {"finalizers": None}}))
    told = failed(lost)
    assert told["message"] == 'found no controllers for pod "p"' and told["allowed"] == 0 and told["status"] == "False", told


def test_promises_expire_with_their_pods(ctx: Context) -> None:
    """disruptedPods: a pod on the list does not count; one that is not there, or is going, is struck off."""
    ctx.suite_nodes(1)
    api, ns = ctx.cluster.api, ctx.namespace()
    for name in "ab":
        api.create(pod(name, ns, ALL))
    api.create(budget("b", ns, ALL, minAvailable=1))
    budget_status(ctx, ns, "b", currentHealthy=2, disruptionsAllowed=1)
    api.patch(BUDGET.path(ns, "b", "status"),
              {"status": {"disruptedPods": {"gone": "2038-01-01T00:00:00Z", "a": "2038-01-01T00:00:00Z",
                                                                           "b": "2001-01-01T00:00:00Z"}}})
    ctx.wait_for(lambda: budget_status(ctx, ns, "b", currentHealthy=1, disruptionsAllowed=0)["status"].get("disruptedPods")
                 == {"a": "2038-01-01T00:00:00Z"}, 60, "the list to be put in order")
    api.delete(POD.path(ns, "a"), {"gracePeriodSeconds": 0})
    ctx.wait_for(lambda: "disruptedPods" not in budget_status(ctx, ns, "b", expectedPods=1, currentHealthy=1)["status"], 60,
                 "an empty list")


# -- what a budget may say ----------------------------------------------------------------------------------------


def test_budgets_that_are_refused(ctx: Context) -> None:
    w, ns = Wire(ctx.cluster.api), ctx.namespace()

    def refused(rule: dict, *causes: tuple[str, str, str]) -> None:
        w.post(BUDGET.path(ns), merged(budget("b", ns, ALL), {"spec": rule})).invalid("policy", "PodDisruptionBudget", "b", *causes)

    refused({"minAvailable": 1, "maxUnavailable": 1}, (
        "FieldValueInvalid", "spec", 'Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{"app":"x"}},"MaxUnavailable":1,'
        '"UnhealthyPodEvictionPolicy":null}: '
        "minAvailable and maxUnavailable cannot be both set"))
    refused({"minAvailable": -1}, ("FieldValueInvalid", "spec.minAvailable",
                                   "Invalid value: -1: must be greater than or equal to 0"))
    refused({"maxUnavailable": "101%"}, ("FieldValueInvalid", "spec.maxUnavailable",
                                         'Invalid value: "101%": must not be greater than 100%'))
    percent = ("a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation "
               "is '[0-9]+%')")
    refused({"minAvailable": "half"}, ("FieldValueInvalid", "spec.minAvailable", f'Invalid value: "half": {percent}'))
    refused({"minAvailable": 1, "unhealthyPodEvictionPolicy": "Sometimes"}, (
        "FieldValueNotSupported", "spec.unhealthyPodEvictionPolicy",
        'Unsupported value: "Sometimes": supported values: "AlwaysAllow", "IfHealthyBudget"'))
    refused({"minAvailable": 1, "selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}, (
        "FieldValueRequired", "spec.selector.matchExpressions[0].values",
        "Required value: must be specified when `operator` is 'In' or 'NotIn'"))
    w.get(f"/apis/policy/v1beta1/namespaces/{ns}/poddisruptionbudgets").missing()


def test_a_budget_can_be_changed(ctx: Context) -> None:
    w, ns = Wire(ctx.cluster.api), ctx.namespace()
    w.post(BUDGET.path(ns), budget("b", ns, ALL, minAvailable=1)).ok(201)
    changed = w.patch(BUDGET.path(ns, "b"),
                      {"spec": {"minAvailable": None, "maxUnavailable": "20%", "selector": {"matchLabels": {"app": "y"}}}}).ok()
    assert changed["spec"] == {"maxUnavailable": "20%",
                               "selector": {"matchLabels": {"app": "y"}}} and changed["metadata"]["generation"] == 2
    changed = w.patch(BUDGET.path(ns, "b"), {"metadata": {"labels": {"a": "b"}}}).ok()
    assert changed["metadata"]["generation"] == 2, "labels make no generation"
    w.patch(BUDGET.path(ns, "b", "status"), {"status": {"disruptionsAllowed": -1}}).invalid("policy", "PodDisruptionBudget", "b", (
        "FieldValueInvalid", "status.disruptionsAllowed", "Invalid value: -1: must be greater than or equal to 0"))
