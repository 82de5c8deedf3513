"""The eviction subresource: who may go, who may not and why, and what is written down before a pod goes.

In a cluster where nothing else moves: pods and budgets are what the tests write, so that every row can be had at will.  The last
tests have the controllers at work.
"""

from __future__ import annotations

import threading

from context import Context
from kinds import BUDGET, IMAGE, POD
from objects import budget, budget_status, deployment, pod, running
from shape import TIME, assert_has, assert_is, merged
from wire import Answer, Wire, cause, query

NOBODY = "11111111-1111-1111-1111-111111111111"
VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
WHEN = "2026-01-02T03:04:05Z"


class Stage:
    """A namespace of the still cluster with pods that seem to run on a node and budgets with a given status."""

    def __init__(self, ctx: Context) -> None:
        self.w, self.ns = Wire(ctx.still.api), ctx.namespace(ctx.still)

    def pod(self, name: str, phase: str = "Running", ready: bool = True, labels: dict[str, str] = {"app": "x"},
            **meta: object) -> dict:
        body = pod(name, self.ns, labels, nodeName="nowhere", terminationGracePeriodSeconds=77)
        self.w.post(POD.path(self.ns), merged(body, {"metadata": meta})).ok(201)
        conditions = [{"type": "Ready", "status": str(ready), "lastTransitionTime": WHEN}]
        return self.w.patch(POD.path(self.ns, name, "status"), {"status": {"phase": phase, "conditions": conditions}}).ok()

    def budget(self, name: str, labels: dict[str, str] = {"app": "x"}, policy: str | None = None, **status: object) -> dict:
        """disruptionsAllowed and so on as given; observedGeneration is the present one unless given."""
        rule = {"unhealthyPodEvictionPolicy": policy} if policy else {}
        made = self.w.post(BUDGET.path(self.ns), budget(name, self.ns, labels, minAvailable=1, **rule)).ok(201)
        status = {"observedGeneration": made["metadata"]["generation"], **status}
        return self.w.patch(BUDGET.path(self.ns, name, "status"), {"status": status}).ok()

    def evict(self, name: str, options: dict | None = None, dry_run: str | None = None, **body: object) -> Answer:
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": self.ns}, **body}
        if options is not None:
            eviction["deleteOptions"] = options
        return self.w.post(query(POD.path(self.ns, name, "eviction"), dryRun=dry_run), eviction)

    def evicted(self, name: str, **more: object) -> dict:
        """Evicts it and returns what is left of it: this pod's node never lets go."""
        answer = self.evict(name, **more)
        assert_is(answer.ok(201), {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, name)
        left = self.w.get(POD.path(self.ns, name)).ok()
        assert TIME == left["metadata"].get("deletionTimestamp"), left["metadata"]
        return left

    def stays(self, name: str) -> None:
        left = self.w.get(POD.path(self.ns, name)).ok()
        assert "deletionTimestamp" not in left["metadata"], left["metadata"]
        assert not [c for c in left["status"]["conditions"] if c["type"] == "DisruptionTarget"], left["status"]

    def status(self, name: str) -> dict:
        return self.w.get(BUDGET.path(self.ns, name)).ok()["status"]


def refused(answer: Answer, why: str, after: int | None = None) -> None:
    """429 by a budget; after: the seconds to wait, in the body and as a header, or nothing of it in either."""
    details = {"retryAfterSeconds": after} if after else {}
    answer.fails(429, "TooManyRequests", VIOLATES, [cause("DisruptionBudget", why)], **details)
    assert answer.headers["Retry-After"] == (str(after) if after else None), answer.headers


# -- without a budget ---------------------------------------------------------------------------------------------


def test_a_pod_without_a_budget_goes(ctx: Context) -> None:
    s = Stage(ctx)
    before = s.pod("p")
    left = s.evicted("p")
    assert left["metadata"]["deletionGracePeriodSeconds"] == 77, "its own grace period"
    target, = [c for c in left["status"]["conditions"] if c["type"] == "DisruptionTarget"]
    assert_has(target, {"status": "True", "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
                        "lastTransitionTime": TIME})
    assert left["metadata"]["uid"] == before["metadata"]["uid"]
    again = s.evicted("p")
    assert again["metadata"]["deletionTimestamp"] == left["metadata"]["deletionTimestamp"], "a second time changes nothing"


def test_options_of_an_eviction(ctx: Context) -> None:
    s = Stage(ctx)
    for name in "abcd":
        s.pod(name)
    assert s.evicted("a", options={"gracePeriodSeconds": 5})["metadata"]["deletionGracePeriodSeconds"] == 5
    s.evict("b", options={"gracePeriodSeconds": 0}).ok(201)
    assert s.w.get(POD.path(s.ns, "b")).code == 404
    s.evicted("c", apiVersion="policy/v1beta1")
    s.pod("held", finalizers=["slipway.dev/a"])
    s.evict("held", options={"gracePeriodSeconds": 0}).ok(201)
    assert s.w.get(POD.path(s.ns, "held")).ok()["metadata"]["deletionGracePeriodSeconds"] == 0
    s.w.patch(POD.path(s.ns, "held"), {"metadata": {"finalizers": None}}).ok()
    assert s.evict("d", options={"propagationPolicy": "Background"}).ok(201)


def test_unknown_fields_of_evictions_and_bindings(ctx: Context) -> None:
    s = Stage(ctx)
    s.pod("a")
    s.w.post(POD.path(s.ns), pod("b", s.ns, {"app": "x"})).ok(201)
    for name, sub, kind, body in (("a", "eviction", "Eviction", {"x": 1, "deleteOptions": {"y": 2}}),
                                  ("b", "binding", "Binding", {"x": 1, "target": {"y": 2, "name": "n"}})):
        path, body = POD.path(s.ns, name, sub), {"metadata": {"name": name}, **body}
        told = ['unknown field "x"', f'unknown field "{list(body)[2]}.y"']
        for mode, warned in (("Warn", told), (None, told), ("Ignore", [])):
            answer = s.w.post(query(path, dryRun="All", fieldValidation=mode), body)
            assert answer.ok(201) and answer.warnings == warned, answer.headers
        s.w.post(query(path, fieldValidation="Strict"), body).fails(
            400, "BadRequest", f'{kind} in version "v1" cannot be handled as a {kind}: strict decoding error: ' + ", ".join(told))
    s.stays("a")


def test_evictions_of_nobody(ctx: Context) -> None:
    s = Stage(ctx)
    s.evict("none").fails(404, "NotFound", 'pods "none" not found', name="none", kind="pods")
    s.pod("p")
    s.w.post(POD.path(s.ns, "p", "eviction"), {"apiVersion": "policy/v1", "kind": "Eviction",
                                               "metadata": {"name": "q", "namespace": s.ns}}).fails(
        400, "BadRequest", "name in URL does not match name in Eviction object")
    s.w.post(POD.path(s.ns, "p", "eviction"), {"apiVersion": "policy/v1", "kind": "Eviction",
                                               "metadata": {"name": "p", "namespace": "q"}}).fails(
        400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request")
    s.w.post(POD.path(s.ns, "p", "eviction"), {"apiVersion": "v1", "kind": "Pod",
                                               "metadata": {"name": "p"}}).refused(400, "BadRequest")
    s.w.post(POD.path(s.ns, "p", "eviction"), "{").refused(400, "BadRequest")
    s.w.get(POD.path(s.ns, "p", "eviction")).no_method()
    s.evict("p", options={"propagationPolicy": "Nope"}).refused(422, "Invalid", "propagationPolicy")
    s.evict("p", options={"ignoreStoreReadErrorWithClusterBreakingPotential": True}).invalid("policy", "Eviction", "p", (
        "FieldValueInvalid", "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential",
        "Invalid value: true: can not be set for pod eviction, try after removing the option"))


def test_preconditions_of_an_eviction(ctx: Context) -> None:
    """Only the pod that was meant: uid and version are looked at before anything is written to the pod."""
    s = Stage(ctx)
    made = s.pod("p")
    uid, version = made["metadata"]["uid"], made["metadata"]["resourceVersion"]
    s.evict("p", options={"preconditions": {"uid": NOBODY}}).fails(
        409, "Conflict", f'Operation cannot be fulfilled on Pod "p": the UID in the precondition ({NOBODY}) does not match the UID in '
        f"record ({uid}). The object might have been deleted and then recreated", name="p", kind="Pod")
    s.evict("p", options={"preconditions": {"resourceVersion": "1"}}).fails(
        409, "Conflict", f'Operation cannot be fulfilled on Pod "p": the ResourceVersion in the precondition (1) does not match the '
        f"ResourceVersion in record ({version}). The object might have been modified", name="p", kind="Pod")
    s.stays("p")
    s.evicted("p", options={"preconditions": {"uid": uid, "resourceVersion": version}})


def test_a_pod_that_does_not_run_asks_no_budget(ctx: Context) -> None:
    s = Stage(ctx)
    s.budget("b", disruptionsAllowed=0, currentHealthy=1, desiredHealthy=1, expectedPods=4)
    s.pod("running")
    refused(s.evict("running"), "The disruption budget b needs 1 healthy pods and has 1 currently")
    s.pod("pending", "Pending", False)
    s.evicted("pending")
    for phase in ("Succeeded", "Failed"):
        s.pod(phase.lower(), phase, False)
        s.evict(phase.lower()).ok(201)
        assert s.w.get(POD.path(s.ns, phase.lower())).code == 404, "nobody has to stop it"
    s.pod("going")
    s.w.delete(POD.path(s.ns, "going")).ok()
    s.evicted("going")
    assert s.status("b").get("disruptedPods") is None and s.status("b")["disruptionsAllowed"] == 0


# -- one budget ---------------------------------------------------------------------------------------------------


def test_an_eviction_spends_the_budget(ctx: Context) -> None:
    s = Stage(ctx)
    for name in "abc":
        s.pod(name)
    s.budget("b", disruptionsAllowed=2, currentHealthy=3, desiredHealthy=1, expectedPods=3)
    s.evicted("a")
    status = s.status("b")
    assert status["disruptionsAllowed"] == 1 and status["disruptedPods"] == {"a": TIME}, status
    assert (status["currentHealthy"], status["desiredHealthy"]) == (3, 1), "the rest is the controller's"
    s.evicted("b")
    status = s.status("b")
    assert status["disruptionsAllowed"] == 0 and status["disruptedPods"] == {"a": TIME, "b": TIME}, status
    assert_has(status["conditions"], [{"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods",
                                       "observedGeneration": 1}])
    refused(s.evict("c"), "The disruption budget b does not allow evicting pods currently")
    s.stays("c")


def test_the_words_of_a_refusal(ctx: Context) -> None:
    """Why there is no room comes from the budget's condition, unless its numbers say enough."""
    s = Stage(ctx)
    s.pod("p")
    s.budget("b", disruptionsAllowed=0, currentHealthy=2, desiredHealthy=3, expectedPods=3)
    refused(s.evict("p"), "The disruption budget b needs 3 healthy pods and has 2 currently")

    def condition(**more: str) -> list[dict]:
        return [{"type": "DisruptionAllowed", "status": "False", "lastTransitionTime": WHEN, "observedGeneration": 1, **more}]

    def rewrite(**status: object) -> None:
        s.w.patch(BUDGET.path(s.ns, "b", "status"), {"status": status}).ok()

    rewrite(conditions=condition(reason="SyncFailed", message="found no controllers for pod"))
    refused(s.evict("p"), "The disruption budget b does not allow evicting pods currently because it failed sync: found no controllers for pod")
    rewrite(conditions=condition(reason="Because", message="of the moon"))
    refused(s.evict("p"), "The disruption budget b needs 3 healthy pods and has 2 currently")
    rewrite(currentHealthy=4)
    refused(s.evict("p"), "The disruption budget b does not allow evicting pods currently (Because): of the moon")
    rewrite(conditions=condition(reason="Because", message=""))
    refused(s.evict("p"), "The disruption budget b does not allow evicting pods currently")
    s.stays("p")


def test_a_budget_that_was_not_looked_at_yet(ctx: Context) -> None:
    s = Stage(ctx)
    s.pod("p")
    s.budget("b", observedGeneration=0, disruptionsAllowed=1, currentHealthy=2, desiredHealthy=1, expectedPods=2)
    busy = "The disruption budget b is still being processed by the server."
    refused(s.evict("p"), busy, after=10)
    s.w.patch(BUDGET.path(s.ns, "b", "status"), {"status": {"observedGeneration": 1}}).ok()
    s.w.patch(BUDGET.path(s.ns, "b"), {"spec": {"minAvailable": 2}}).ok()
    refused(s.evict("p"), busy, after=10)
    s.stays("p")
    assert s.status("b")["disruptionsAllowed"] == 1
    s.w.patch(BUDGET.path(s.ns, "b", "status"), {"status": {"observedGeneration": 2}}).ok()
    s.evicted("p")


def test_a_budget_with_too_many_promises(ctx: Context) -> None:
    s = Stage(ctx)
    s.pod("p")
    crowd = {f"gone-{i}": WHEN for i in range(2001)}
    s.budget("b", disruptionsAllowed=1, currentHealthy=2, desiredHealthy=1, expectedPods=2, disruptedPods=crowd)
    s.evict("p").fails(403, "Forbidden",
                       'poddisruptionbudget.policy "b" is forbidden: DisruptedPods map too big - too many evictions not '
                       "confirmed by PDB controller", name="b", group="policy", kind="poddisruptionbudget")
    s.stays("p")
    s.w.patch(BUDGET.path(s.ns, "b", "status"), {"status": {"disruptedPods": {"gone-0": None}}}).ok()
    s.evicted("p")


def test_two_budgets_are_one_too_many(ctx: Context) -> None:
    s = Stage(ctx)
    s.pod("p", labels={"app": "x", "tier": "y"})
    s.budget("a", {"app": "x"}, disruptionsAllowed=1, expectedPods=1, currentHealthy=1)
    s.budget("b", {"tier": "y"}, disruptionsAllowed=1, expectedPods=1, currentHealthy=1)
    answer = s.evict("p")
    answer.fails(500, None, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
    s.stays("p")
    assert [s.status(name)["disruptionsAllowed"] for name in "ab"] == [1, 1]
    s.w.delete(BUDGET.path(s.ns, "b")).ok()
    s.evicted("p")


def test_whom_a_budget_selects(ctx: Context) -> None:
    """An empty selector selects everybody, none selects nobody, and expressions count."""
    s = Stage(ctx)
    none = {"minAvailable": 1, "selector": None}
    no_budget = {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 1, "expectedPods": 1}
    cases = [({"selector": {}}, True), (none, False), ({"selector": {"matchLabels": {"app": "y"}}}, False),
             ({"selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["x", "y"]}]}}, True),
             ({"selector": {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["x"]}]}}, False),
             ({"selector": {"matchExpressions": [{"key": "other", "operator": "DoesNotExist"}]}}, True),
             ({"selector": {"matchExpressions": [{"key": "other", "operator": "Exists"}]}}, False)]
    for number, (spec, selected) in enumerate(cases):
        name = f"b{number}"
        body = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name, "namespace": s.ns},
                "spec": {"minAvailable": 1, **spec}}
        s.w.post(BUDGET.path(s.ns), body).ok(201)
        s.w.patch(BUDGET.path(s.ns, name, "status"), {"status": {"observedGeneration": 1, **no_budget}}).ok()
        s.pod(f"p{number}")
        answer = s.evict(f"p{number}")
        assert answer.code == (429 if selected else 201), (spec, str(answer))
        s.w.delete(BUDGET.path(s.ns, name)).ok()


def test_pods_that_are_not_ready(ctx: Context) -> None:
    """By the default policy they go when the others suffice; by AlwaysAllow always; in neither case is the budget spent."""
    s = Stage(ctx)
    enough = {"disruptionsAllowed": 0, "currentHealthy": 3, "desiredHealthy": 3, "expectedPods": 5}
    few = enough | {"currentHealthy": 2}
    none_wanted = enough | {"desiredHealthy": 0, "currentHealthy": 0}
    few_text = "The disruption budget b needs 3 healthy pods and has 2 currently"
    for policy in (None, "IfHealthyBudget"):
        s.budget("b", policy=policy, **enough)
        s.pod("u", ready=False)
        s.evicted("u")
        assert s.status("b")["disruptionsAllowed"] == 0 and "disruptedPods" not in s.status("b")
        s.w.delete(POD.path(s.ns, "u"), {"gracePeriodSeconds": 0}).ok()
        s.w.patch(BUDGET.path(s.ns, "b", "status"), {"status": few}).ok()
        s.pod("u", ready=False)
        refused(s.evict("u"), few_text)
        s.w.patch(BUDGET.path(s.ns, "b", "status"), {"status": none_wanted}).ok()
        refused(s.evict("u"), "The disruption budget b needs 0 healthy pods and has 0 currently")
        s.w.patch(BUDGET.path(s.ns, "b", "status"), {"status": few | {"disruptionsAllowed": 1}}).ok()
        s.evicted("u")
        assert s.status("b")["disruptedPods"] == {"u": TIME}, "where the others do not suffice it is spent"
        s.w.delete(POD.path(s.ns, "u"), {"gracePeriodSeconds": 0}).ok()
        s.w.delete(BUDGET.path(s.ns, "b")).ok()
    s.budget("b", policy="AlwaysAllow", **few)
    s.pod("u", ready=False)
    s.evicted("u")
    assert "disruptedPods" not in s.status("b")
    s.pod("r")
    refused(s.evict("r"), few_text)
    s.w.patch(BUDGET.path(s.ns, "b", "status"), {"status": {"observedGeneration": 0}}).ok()
    s.pod("v", ready=False)
    s.evicted("v")  # the budget is not even looked at


def test_a_wrong_pod_costs_the_budget_all_the_same(ctx: Context) -> None:
    s = Stage(ctx)
    s.pod("p")
    s.budget("b", disruptionsAllowed=2, currentHealthy=3, desiredHealthy=1, expectedPods=3)
    s.evict("p", options={"preconditions": {"uid": NOBODY}}).refused(409, "Conflict", "the UID in the precondition")
    s.stays("p")
    assert s.status("b")["disruptionsAllowed"] == 1 and s.status("b")["disruptedPods"] == {"p": TIME}


def test_dry_runs(ctx: Context) -> None:
    s = Stage(ctx)
    made = s.pod("p")
    s.budget("b", disruptionsAllowed=1, currentHealthy=2, desiredHealthy=1, expectedPods=2)
    before = s.w.get(BUDGET.path(s.ns, "b")).ok()
    s.evict("p", dry_run="All").ok(201)
    s.evict("p", options={"dryRun": ["All"]}).ok(201)
    s.evict("p", options={"dryRun": ["All"]}, dry_run="All").ok(201)
    s.evict("p", options={"dryRun": ["All", "All"]},
            dry_run="All").refused(500, None, "Non-matching dry-run options in request and content")
    s.evict("p", options={"dryRun": ["Some"]}).refused(422, "Invalid", "dryRun")
    s.evict("p", dry_run="Some").refused(422, "Invalid", "dryRun")
    s.evict("p", options={"preconditions": {"uid": NOBODY}}, dry_run="All").refused(409, "Conflict", "the UID in the precondition")
    assert s.w.get(POD.path(s.ns, "p")).ok() == made and s.w.get(BUDGET.path(s.ns, "b")).ok() == before
    s.w.patch(BUDGET.path(s.ns, "b", "status"), {"status": {"disruptionsAllowed": 0}}).ok()
    refused(s.evict("p", dry_run="All"), "The disruption budget b does not allow evicting pods currently")
    s.evict("none", dry_run="All").refused(404, "NotFound")


def test_many_at_once_never_overspend(ctx: Context) -> None:
    s = Stage(ctx)
    for number in range(12):
        s.pod(f"p{number}")
    s.budget("b", disruptionsAllowed=5, currentHealthy=12, desiredHealthy=7, expectedPods=12)
    codes: list[int] = []

    def one(number: int) -> None:
        codes.append(s.evict(f"p{number}").code)

    threads = [threading.Thread(target=one, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [201] * 5 + [429] * 7, codes
    assert s.status("b")["disruptionsAllowed"] == 0 and len(s.status("b")["disruptedPods"]) == 5


# -- with the controllers -----------------------------------------------------------------------------------------


def test_a_budget_recovers_when_the_replacement_is_ready(ctx: Context) -> None:
    ctx.suite_nodes(2)
    api, ns = ctx.cluster.api, ctx.namespace()
    w = Wire(api)
    api.create(deployment("web", ns, 3))
    running(ctx, ns, 3)
    api.create(budget("web", ns, {"app": "web"}, maxUnavailable=1))
    for _ in range(3):
        budget_status(ctx, ns, "web", currentHealthy=3, desiredHealthy=2, expectedPods=3, disruptionsAllowed=1)
        name = running(ctx, ns, 3)[0]["metadata"]["name"]
        w.post(POD.path(ns, name, "eviction"), {"apiVersion": "policy/v1", "kind": "Eviction",
                                                "metadata": {"name": name, "namespace": ns}}).ok(201)
        ctx.wait_for(lambda: w.get(POD.path(ns, name)).code == 404, 60, "the pod to be gone")
    status = budget_status(ctx, ns, "web", currentHealthy=3, disruptionsAllowed=1)["status"]
    assert "disruptedPods" not in status


def test_a_pod_that_never_goes_is_not_waited_for(ctx: Context) -> None:
    """Evicted, and its finalizer holds it: it does not count any more, and the budget stays spent while its replacement is not there."""
    ctx.suite_nodes(2)
    api, ns = ctx.cluster.api, ctx.namespace()
    w = Wire(api)
    for name in ("a", "b"):
        api.create(merged(pod(name, ns, {"app": "x"}), {"metadata": {"finalizers": ["slipway.dev/a"]}}))
        ctx.undo(lambda name=name: w.patch(POD.path(ns, name), {"metadata": {"finalizers": None}}))
    running(ctx, ns, 2)
    api.create(budget("x", ns, {"app": "x"}, minAvailable=1))
    budget_status(ctx, ns, "x", currentHealthy=2, desiredHealthy=1, expectedPods=2, disruptionsAllowed=1)
    w.post(POD.path(ns, "a", "eviction"), {"apiVersion": "policy/v1", "kind": "Eviction",
                                           "metadata": {"name": "a", "namespace": ns}}).ok(201)
    budget_status(ctx, ns, "x", currentHealthy=1, desiredHealthy=1, disruptionsAllowed=0)
    answer = w.post(POD.path(ns, "b", "eviction"), {"apiVersion": "policy/v1", "kind": "Eviction",
                                                    "metadata": {"name": "b", "namespace": ns}})
    refused(answer, "The disruption budget x needs 1 healthy pods and has 1 currently")


def test_evictions_in_a_namespace_that_goes(ctx: Context) -> None:
    api, ns = ctx.cluster.api, ctx.namespace()
    w = Wire(api)
    held = merged(POD.make(ns, "p"), {"metadata": {"finalizers": ["slipway.dev/a"]},
                                      "spec": {"containers": [{"name": "main", "image": IMAGE}]}})
    w.post(POD.path(ns), held).ok(201)
    ctx.undo(lambda: w.patch(POD.path(ns, "p"), {"metadata": {"finalizers": None}}))
    w.delete(f"/api/v1/namespaces/{ns}").ok()
    answer = w.post(POD.path(ns, "p", "eviction"), {"apiVersion": "policy/v1", "kind": "Eviction",
                                                    "metadata": {"name": "p", "namespace": ns}})
    answer.fails(403, "Forbidden",
                 f'pods "p" is forbidden: unable to create new content in namespace {ns} because it is being terminated',
                 [cause("NamespaceTerminating", f"namespace {ns} is being terminated", "metadata.namespace")], name="p",
                 kind="pods")
