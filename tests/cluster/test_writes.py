"""Writes of the C client against the real API server: what happened, what it was told, and that nothing else happened."""

from __future__ import annotations

import base64
import json
import threading
import uuid

from api import Api, ApiError
from context import Child, Context
from objects import budget, budget_status, deployment, lease, pod, running
from probes import outcome, write
from servers import Answers, Relay

NOBODY = "00000000-0000-4000-8000-000000000000"  # a UID that nothing has


def path_of(namespace: str, name: str = "", resource: str = "leases") -> str:
    base = {"leases": "/apis/coordination.k8s.io/v1", "pods": "/api/v1",
            "poddisruptionbudgets": "/apis/policy/v1"}[resource]
    return f"{base}/namespaces/{namespace}/{resource}" + (f"/{name}" if name else "")


def names(ctx: Context, namespace: str, resource: str = "leases") -> list[str]:
    return sorted(o["metadata"]["name"] for o in ctx.cluster.api.items(path_of(namespace, resource=resource)))


# -- create, replace, patch, delete -------------------------------------------------------------------------------


def test_create(ctx: Context) -> None:
    ns = ctx.namespace()
    made = write(ctx, "create", "Lease", "one", n=ns, body=lease("one", ns, holderIdentity="me", leaseDurationSeconds=7))
    assert outcome(made) == ("OK", 201), made
    stored = ctx.cluster.api.get(path_of(ns, "one"))
    assert made["object"]["metadata"]["uid"] == stored["metadata"]["uid"]
    assert made["object"]["metadata"]["resourceVersion"] == stored["metadata"]["resourceVersion"]
    assert stored["metadata"]["managedFields"][0]["manager"] == "slipway"
    again = write(ctx, "create", "Lease", "one", n=ns, body=lease("one", ns, holderIdentity="you"))
    assert outcome(again) == ("AlreadyExists", 409) and '"one" already exists' in again["message"], again
    assert ctx.cluster.api.get(path_of(ns, "one")) == stored


def test_names_are_encoded(ctx: Context) -> None:
    """A hostile name reaches no other path: neither as a path segment nor as a query."""
    ns = ctx.namespace()
    ctx.cluster.api.create(lease("one", ns))
    for bad in ("one?dryRun=All", "../leases/one", "one/status", "%6fne", "one#x"):
        got = write(ctx, "get", "Lease", bad, n=ns)
        assert got["outcome"] in ("NotFound", "Invalid"), (bad, got)
        gone = write(ctx, "delete", "Lease", bad, n=ns)
        assert gone["outcome"] in ("NotFound", "Invalid"), (bad, gone)
    assert names(ctx, ns) == ["one"]


def test_invalid_objects_are_refused_with_the_cause(ctx: Context) -> None:
    ns = ctx.namespace()
    bad = write(ctx, "create", "Lease", "x", n=ns, body=lease("x", ns, leaseDurationSeconds=-5))
    assert outcome(bad) == ("Invalid", 422), bad
    assert "leaseDurationSeconds" in bad["message"] and "greater than 0" in bad["cause"], bad
    broken = write(ctx, "create", "Lease", "x", n=ns, body='{"apiVersion":"coordination.k8s.io/v1","kind":')
    assert outcome(broken) == ("Invalid", 400), broken
    other = write(ctx, "create", "Lease", "x", n=ns, body=lease("x", "default"))
    assert outcome(other) == ("Invalid", 400) and "namespace" in other["message"], other
    assert names(ctx, ns) == []


def test_warnings_are_handed_on(ctx: Context) -> None:
    ns = ctx.namespace()
    old = pod("old", ns, nodeSelector={"beta.kubernetes.io/os": "plan9"})
    made = write(ctx, "create", "Pod", "old", n=ns, body=old, dry_run=True)
    assert made["outcome"] == "OK" and "beta.kubernetes.io/os" in made["warning"], made


def test_replace_is_a_compare_and_swap(ctx: Context) -> None:
    ns = ctx.namespace()
    first = ctx.cluster.api.create(lease("one", ns, holderIdentity="a"))
    mine = json.loads(json.dumps(first))
    mine["spec"]["holderIdentity"] = "b"
    won = write(ctx, "replace", "Lease", "one", n=ns, body=mine)
    assert outcome(won) == ("OK", 200) and won["object"]["spec"]["holderIdentity"] == "b", won
    assert int(won["object"]["metadata"]["resourceVersion"]) > int(first["metadata"]["resourceVersion"])
    late = json.loads(json.dumps(first))
    late["spec"]["holderIdentity"] = "c"
    lost = write(ctx, "replace", "Lease", "one", n=ns, body=late)
    assert outcome(lost) == ("Conflict", 409) and "has been modified" in lost["message"], lost
    assert ctx.cluster.api.get(path_of(ns, "one"))["spec"]["holderIdentity"] == "b"
    foreign = won["object"] | {"metadata": won["object"]["metadata"] | {"uid": NOBODY}}
    assert outcome(write(ctx, "replace", "Lease", "one", n=ns, body=foreign)) == ("Conflict", 409)
    absent = write(ctx, "replace", "Lease", "gone", n=ns, body=late | {"metadata": {**late["metadata"], "name": "gone"}})
    assert outcome(absent)[0] in ("NotFound", "Conflict"), absent
    assert names(ctx, ns) == ["one"]


def test_of_many_swaps_one_wins(ctx: Context) -> None:
    """Eight at once against the same version: one OK, seven Conflict, and the winner's value is there."""
    ns = ctx.namespace()
    first = ctx.cluster.api.create(lease("one", ns, holderIdentity="none"))
    replies: dict[int, dict] = {}

    def swap(number: int) -> None:
        replies[number] = write(ctx, "replace", "Lease", "one", n=ns, body=first | {"spec": {"holderIdentity": f"w{number}"}})

    threads = [threading.Thread(target=swap, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    won = [n for n, reply in replies.items() if reply["outcome"] == "OK"]
    assert len(replies) == 8 and len(won) == 1, replies
    assert sorted(r["outcome"] for r in replies.values()) == ["Conflict"] * 7 + ["OK"]
    assert ctx.cluster.api.get(path_of(ns, "one"))["spec"]["holderIdentity"] == f"w{won[0]}"


def test_patches(ctx: Context) -> None:
    ns = ctx.namespace()
    made = ctx.cluster.api.create(lease("one", ns, holderIdentity="a") | {
        "metadata": {"name": "one", "namespace": ns, "labels": {"keep": "1", "drop": "2"},
                     "finalizers": ["slipway.dev/x"]}})
    ctx.undo(lambda: ctx.cluster.api.patch(path_of(ns, "one"), {"metadata": {"finalizers": None}}))
    merge = write(ctx, "patch", "Lease", "one", n=ns, patch="merge", body={"metadata": {"labels": {"drop": None, "new": "3"}}})
    assert outcome(merge) == ("OK", 200) and merge["object"]["metadata"]["labels"] == {"keep": "1", "new": "3"}, merge
    strategic = {"metadata": {"finalizers": ["slipway.dev/y"]}}
    both = write(ctx, "patch", "Lease", "one", n=ns, patch="strategic", body=strategic)
    assert sorted(both["object"]["metadata"]["finalizers"]) == ["slipway.dev/x", "slipway.dev/y"], both
    swap = [{"op": "test", "path": "/spec/holderIdentity", "value": "a"},
            {"op": "replace", "path": "/spec/holderIdentity", "value": "b"}]
    assert outcome(write(ctx, "patch", "Lease", "one", n=ns, patch="json", body=swap)) == ("OK", 200)
    failed = write(ctx, "patch", "Lease", "one", n=ns, patch="json", body=swap)
    assert outcome(failed) == ("Invalid", 422), failed
    nowhere = [{"op": "replace", "path": "/spec/nowhere/at/all", "value": 1}]
    assert outcome(write(ctx, "patch", "Lease", "one", n=ns, patch="json", body=nowhere)) == ("Invalid", 422)
    now = ctx.cluster.api.get(path_of(ns, "one"))
    assert now["spec"]["holderIdentity"] == "b" and now["metadata"]["labels"] == {"keep": "1", "new": "3"}
    assert {f["manager"] for f in now["metadata"]["managedFields"]} >= {"slipway"}
    stale = {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"]}, "spec": {"holderIdentity": "c"}}
    for how in ("merge", "strategic"):
        assert outcome(write(ctx, "patch", "Lease", "one", n=ns, patch=how, body=stale)) == ("Conflict", 409), how
    fresh = {"metadata": {"resourceVersion": now["metadata"]["resourceVersion"]}, "spec": {"holderIdentity": "c"}}
    assert outcome(write(ctx, "patch", "Lease", "one", n=ns, patch="merge", body=fresh)) == ("OK", 200)
    assert outcome(write(ctx, "patch", "Lease", "two", n=ns, patch="merge", body={})) == ("NotFound", 404)


def test_delete_with_preconditions(ctx: Context) -> None:
    ns = ctx.namespace()
    made = ctx.cluster.api.create(lease("one", ns))
    uid, version = made["metadata"]["uid"], made["metadata"]["resourceVersion"]
    wrong = write(ctx, "delete", "Lease", "one", n=ns, uid=NOBODY)
    assert outcome(wrong) == ("Conflict", 409) and "UID in the precondition" in wrong["message"], wrong
    old = write(ctx, "delete", "Lease", "one", n=ns, uid=uid, version="1")
    assert outcome(old) == ("Conflict", 409) and "ResourceVersion in the precondition" in old["message"], old
    assert ctx.cluster.api.get(path_of(ns, "one")) == made
    assert outcome(write(ctx, "delete", "Lease", "one", n=ns, uid=uid, version=version)) == ("OK", 200)
    assert names(ctx, ns) == []
    assert outcome(write(ctx, "delete", "Lease", "one", n=ns, uid=uid)) == ("NotFound", 404)
    twin = ctx.cluster.api.create(lease("one", ns))
    assert outcome(write(ctx, "delete", "Lease", "one", n=ns, uid=uid)) == ("Conflict", 409)
    assert ctx.cluster.api.get(path_of(ns, "one"))["metadata"]["uid"] == twin["metadata"]["uid"]


def test_delete_with_a_grace_period(ctx: Context) -> None:
    ctx.nodes(1)
    ns = ctx.namespace()
    slow = {"slipway.dev/test-gone-after": "1h"}
    for name in ("own", "given", "now"):
        ctx.cluster.api.create(pod(name, ns, annotations=slow, terminationGracePeriodSeconds=77))
    running(ctx, ns, 3)
    own = write(ctx, "delete", "Pod", "own", n=ns)
    assert outcome(own) == ("OK", 200) and own["object"]["metadata"]["deletionGracePeriodSeconds"] == 77, own
    given = write(ctx, "delete", "Pod", "given", n=ns, grace=1234)
    assert given["object"]["metadata"]["deletionGracePeriodSeconds"] == 1234, given
    assert ctx.cluster.api.get(path_of(ns, "given", "pods"))["metadata"]["deletionGracePeriodSeconds"] == 1234
    assert outcome(write(ctx, "delete", "Pod", "now", n=ns, grace=0)) == ("OK", 200)
    assert names(ctx, ns, "pods") == ["given", "own"]
    for name in ("own", "given"):
        assert outcome(write(ctx, "delete", "Pod", name, n=ns, grace=0)) == ("OK", 200)
    assert names(ctx, ns, "pods") == []


def test_dry_runs_change_nothing(ctx: Context) -> None:
    ctx.nodes(1)
    ns = ctx.namespace()
    ctx.cluster.api.create(pod("p", ns, {"app": "p"}))
    running(ctx, ns, 1)
    victim = ctx.cluster.api.get(path_of(ns, "p", "pods"))
    ctx.cluster.api.create(budget("p", ns, {"app": "p"}, minAvailable=0))
    ctx.cluster.api.create(lease("one", ns, holderIdentity="a"))
    before_lease = ctx.cluster.api.get(path_of(ns, "one"))
    before_budget = budget_status(ctx, ns, "p", disruptionsAllowed=1)
    tried = {
        "create": write(ctx, "create", "Lease", "two", n=ns, dry_run=True, body=lease("two", ns)),
        "replace": write(ctx, "replace", "Lease", "one", n=ns, dry_run=True,
                         body=before_lease | {"spec": {"holderIdentity": "b"}}),
        "merge": write(ctx, "patch", "Lease", "one", n=ns, dry_run=True, patch="merge", body={"spec": {"holderIdentity": "c"}}),
        "json": write(ctx, "patch", "Lease", "one", n=ns, dry_run=True, patch="json",
                      body=[{"op": "replace", "path": "/spec/holderIdentity", "value": "d"}]),
        "delete": write(ctx, "delete", "Lease", "one", n=ns, dry_run=True),
        "delete with uid": write(ctx, "delete", "Lease", "one", n=ns, dry_run=True, uid=before_lease["metadata"]["uid"]),
        "delete now": write(ctx, "delete", "Pod", "p", n=ns, dry_run=True, grace=0),
        "evict": write(ctx, "evict", "Pod", "p", n=ns, dry_run=True, uid=victim["metadata"]["uid"]),
    }
    assert {how: reply["outcome"] for how, reply in tried.items()} == {how: "OK" for how in tried}, tried
    assert tried["json"]["object"]["spec"]["holderIdentity"] == "d"
    assert outcome(write(ctx, "delete", "Lease", "one", n=ns, dry_run=True, uid=NOBODY)) == ("Conflict", 409)
    assert ctx.cluster.api.get(path_of(ns, "one")) == before_lease and names(ctx, ns) == ["one"]
    assert ctx.cluster.api.get(path_of(ns, "p", "pods")) == victim
    assert ctx.cluster.api.get(path_of(ns, "p", "poddisruptionbudgets")) == before_budget


# -- evictions ----------------------------------------------------------------------------------------------------


def test_eviction_and_its_budget(ctx: Context) -> None:
    ctx.nodes(2)
    ns = ctx.namespace()
    ctx.cluster.api.create(deployment("web", ns, 3))
    pods = running(ctx, ns, 3)
    ctx.cluster.api.create(budget("web", ns, {"app": "web"}, minAvailable=3))
    budget_status(ctx, ns, "web", currentHealthy=3, disruptionsAllowed=0)
    name, uid = pods[0]["metadata"]["name"], pods[0]["metadata"]["uid"]
    refused = write(ctx, "evict", "Pod", name, n=ns, uid=uid)
    assert outcome(refused) == ("PDBNoBudget", 429), refused
    assert refused["cause"] == "The disruption budget web needs 3 healthy pods and has 3 currently", refused
    assert refused["retryAfter"] == -1, refused
    assert outcome(write(ctx, "evict", "Pod", name, n=ns, uid=uid, dry_run=True)) == ("PDBNoBudget", 429)
    ctx.cluster.api.patch(path_of(ns, "web", "poddisruptionbudgets"), {"spec": {"minAvailable": 2}})
    budget_status(ctx, ns, "web", disruptionsAllowed=1)
    assert outcome(write(ctx, "evict", "Pod", "nobody", n=ns, uid=uid)) == ("NotFound", 404)
    assert budget_status(ctx, ns, "web")["status"]["disruptionsAllowed"] == 1
    gone = write(ctx, "evict", "Pod", name, n=ns, uid=uid, grace=0)
    assert outcome(gone) == ("OK", 201), gone
    ctx.wait_for(lambda: name not in names(ctx, ns, "pods"), 30, "the evicted pod to be gone")
    assert outcome(write(ctx, "evict", "Pod", name, n=ns, uid=uid)) == ("NotFound", 404)


def test_eviction_hits_only_the_pod_that_was_meant(ctx: Context) -> None:
    """A twin with the same name and another UID stays, though the server spends the budget on the attempt."""
    ctx.nodes(1)
    ns = ctx.namespace()
    ctx.cluster.api.create(pod("p", ns, {"app": "p"}))
    first, = running(ctx, ns, 1)
    assert outcome(write(ctx, "evict", "Pod", "p", n=ns, uid=first["metadata"]["uid"])) == ("OK", 201)
    ctx.wait_for(lambda: names(ctx, ns, "pods") == [], 30, "the pod to be gone")
    ctx.cluster.api.create(pod("p", ns, {"app": "p"}))
    twin, = running(ctx, ns, 1)
    wrong = write(ctx, "evict", "Pod", "p", n=ns, uid=first["metadata"]["uid"])
    assert outcome(wrong) == ("Conflict", 409) and "UID in the precondition" in wrong["message"], wrong
    still, = running(ctx, ns, 1)
    assert still["metadata"]["uid"] == twin["metadata"]["uid"]


def test_eviction_under_two_budgets(ctx: Context) -> None:
    ctx.nodes(1)
    ns = ctx.namespace()
    ctx.cluster.api.create(pod("p", ns, {"app": "p", "tier": "x"}))
    victim, = running(ctx, ns, 1)
    ctx.cluster.api.create(budget("a", ns, {"app": "p"}, minAvailable=0))
    ctx.cluster.api.create(budget("b", ns, {"tier": "x"}, minAvailable=0))
    refused = write(ctx, "evict", "Pod", "p", n=ns, uid=victim["metadata"]["uid"])
    assert outcome(refused) == ("MultiplePDBs", 500), refused
    assert names(ctx, ns, "pods") == ["p"]


def test_eviction_before_the_budget_was_observed(ctx: Context) -> None:
    ctx.nodes(1)
    ns = ctx.namespace()
    ctx.cluster.api.create(pod("p", ns, {"app": "p"}))
    victim, = running(ctx, ns, 1)
    manager = ctx.cluster["kube-controller-manager"]
    ctx.undo(manager.resume)
    manager.pause()
    ctx.cluster.api.create(budget("p", ns, {"app": "p"}, maxUnavailable=1))
    early = write(ctx, "evict", "Pod", "p", n=ns, uid=victim["metadata"]["uid"])
    assert outcome(early) == ("PDBNotObserved", 429) and early["retryAfter"] == 10, early
    assert "still being processed" in early["cause"], early
    manager.resume()
    budget_status(ctx, ns, "p")


def test_eviction_under_a_budget_that_makes_no_sense(ctx: Context) -> None:
    """More than 2000 disrupted pods: the server refuses with 403, which is no missing permission."""
    ctx.nodes(1)
    ns = ctx.namespace()
    ctx.cluster.api.create(pod("p", ns, {"app": "p"}))
    victim, = running(ctx, ns, 1)
    ctx.cluster.api.create(budget("p", ns, {"app": "p"}, minAvailable=0))
    budget_status(ctx, ns, "p", disruptionsAllowed=1)
    manager = ctx.cluster["kube-controller-manager"]
    ctx.undo(manager.resume)
    manager.pause()
    crowd = {f"gone-{i}": "2038-01-01T00:00:00Z" for i in range(2001)}
    ctx.cluster.api.patch(path_of(ns, "p", "poddisruptionbudgets") + "/status", {"status": {"disruptedPods": crowd}})
    refused = write(ctx, "evict", "Pod", "p", n=ns, uid=victim["metadata"]["uid"])
    assert outcome(refused) == ("PDBBroken", 403), refused
    assert names(ctx, ns, "pods") == ["p"]


def test_eviction_of_a_pending_pod_asks_no_budget(ctx: Context) -> None:
    ns = ctx.namespace()
    ctx.cluster.api.create(pod("p", ns, {"app": "p"}, nodeSelector={"nowhere": "at-all"}))
    made = ctx.cluster.api.get(path_of(ns, "p", "pods"))
    ctx.cluster.api.create(budget("p", ns, {"app": "p"}, maxUnavailable=0))
    budget_status(ctx, ns, "p", disruptionsAllowed=0)
    assert outcome(write(ctx, "evict", "Pod", "p", n=ns, uid=made["metadata"]["uid"])) == ("OK", 201)
    ctx.wait_for(lambda: names(ctx, ns, "pods") == [], 30, "the pod to be gone")


def test_a_terminating_namespace(ctx: Context) -> None:
    ctx.nodes(1)
    ns = ctx.namespace()
    ctx.cluster.api.create(pod("p", ns) | {"metadata": {"name": "p", "namespace": ns, "finalizers": ["slipway.dev/x"]}})
    held, = running(ctx, ns, 1)
    drop = [{"op": "remove", "path": "/metadata/finalizers"}]
    ctx.undo(lambda: ctx.cluster.api.patch(path_of(ns, "p", "pods"), drop, "json"))
    ctx.cluster.api.delete(f"/api/v1/namespaces/{ns}")
    evicted = write(ctx, "evict", "Pod", "p", n=ns, uid=held["metadata"]["uid"])
    assert outcome(evicted) == ("NamespaceTerminating", 403), evicted
    made = write(ctx, "create", "Lease", "x", n=ns, body=lease("x", ns))
    assert outcome(made) == ("NamespaceTerminating", 403) and ns in made["message"], made
    absent = write(ctx, "create", "Lease", "x", n=f"{ns}-nowhere", body=lease("x", f"{ns}-nowhere"))
    assert outcome(absent) == ("NotFound", 404) and "namespaces" in absent["message"], absent


# -- who may, and who must wait -----------------------------------------------------------------------------------


def test_forbidden_verbs(ctx: Context) -> None:
    ns = ctx.namespace()
    made = ctx.cluster.api.create(lease("one", ns))
    ctx.cluster.api.create(pod("p", ns))
    stranger = ctx.cluster.kubeconfig("stranger")
    tried = {
        "get": write(ctx, "get", "Lease", "one", n=ns, kubeconfig=stranger),
        "create": write(ctx, "create", "Lease", "two", n=ns, body=lease("two", ns), kubeconfig=stranger),
        "update": write(ctx, "replace", "Lease", "one", n=ns, body=made, kubeconfig=stranger),
        "patch": write(ctx, "patch", "Lease", "one", n=ns, body={"spec": {}}, patch="merge", kubeconfig=stranger),
        "delete": write(ctx, "delete", "Lease", "one", n=ns, kubeconfig=stranger),
    }
    for verb, reply in tried.items():
        assert outcome(reply) == ("Forbidden", 403), (verb, reply)
        assert f'User "stranger" cannot {verb} resource "leases"' in reply["message"], (verb, reply)
    evict = write(ctx, "evict", "Pod", "p", n=ns, uid=NOBODY, kubeconfig=stranger)
    assert outcome(evict) == ("Forbidden", 403) and 'create resource "pods/eviction"' in evict["message"], evict
    assert ctx.cluster.api.get(path_of(ns, "one")) == made and names(ctx, ns) == ["one"]


def webhook(ctx: Context, namespace: str, resource: str, answer) -> Answers:
    """A real ValidatingWebhookConfiguration for creations of a resource in the namespace, served by this process.

    answer(request) returns the response's members beside the uid.
    """
    def serve(_method: str, _path: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        review = json.loads(body)
        said = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                "response": {"uid": review["request"]["uid"], **answer(review["request"])}}
        return 200, {"Content-Type": "application/json"}, json.dumps(said).encode()

    server = Answers(serve, ctx.cluster.authority.issue("webhook", hosts=["IP:127.0.0.1"]))
    ctx.undo(server.close)
    name = ctx.unique("webhook")
    group, _, resource = resource.rpartition(":")
    ctx.cluster.api.call("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [{"name": "judge.slipway.dev", "admissionReviewVersions": ["v1"], "sideEffects": "None",
                      "timeoutSeconds": 30, "failurePolicy": "Fail",
                      "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                      "clientConfig": {"url": f"https://127.0.0.1:{server.port}/",
                                       "caBundle": base64.b64encode(ctx.cluster.ca.read_bytes()).decode()},
                      "rules": [{"apiGroups": [group], "apiVersions": ["*"], "operations": ["CREATE"],
                                 "resources": [resource], "scope": "Namespaced"}]}]})
    ctx.undo(lambda: ctx.cluster.api.delete(
        f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{name}"))
    return server


class Gate:
    """A webhook that holds the creation of Leases called held-... until `go` is set, and allows everything."""

    def __init__(self, ctx: Context, namespace: str) -> None:
        self.arrived, self.go = threading.Event(), threading.Event()
        server = webhook(ctx, namespace, "coordination.k8s.io:leases", self.answer)
        path, probing = path_of(namespace) + "?dryRun=All", lease("probing", namespace)
        ctx.undo(self.go.set)
        ctx.wait_for(lambda: ctx.cluster.api.call("POST", path, probing) and server.asked, 30, "the webhook to be asked")

    def answer(self, request: dict) -> dict:
        if request["name"].startswith("held-"):
            self.arrived.set()
            self.go.wait(25)
        return {"allowed": True}


def test_webhook_that_asks_to_wait(ctx: Context) -> None:
    """KubeVirt's way: 429 from an admission webhook, without a cause, means that the eviction is being worked on."""
    ctx.nodes(1)
    ns = ctx.namespace()
    ctx.cluster.api.create(pod("p", ns))
    victim, = running(ctx, ns, 1)
    said = {"allowed": False, "status": {"code": 429, "message": "Eviction triggered evacuation of VMI x"}}
    server = webhook(ctx, ns, "pods/eviction", lambda request: said)

    def evict() -> dict:
        return write(ctx, "evict", "Pod", "p", n=ns, uid=victim["metadata"]["uid"], dry_run=not server.asked)

    # A new configuration reaches the server a moment later; until the webhook is asked nothing is really evicted.
    ctx.wait_for(lambda: evict()["code"] == 429, 30, "the webhook to be asked")
    reply = evict()
    assert outcome(reply) == ("NotYet", 429) and "evacuation of VMI x" in reply["message"], reply
    assert names(ctx, ns, "pods") == ["p"]
    said["status"] = {"code": 403, "reason": "Forbidden", "message": "not on a Friday"}
    reply = evict()
    assert outcome(reply) == ("Denied", 403) and "not on a Friday" in reply["message"], reply
    said["status"] = {"code": 409, "reason": "Conflict", "message": "busy"}
    assert outcome(evict()) == ("Denied", 409)
    del said["status"]
    reply = evict()
    assert outcome(reply) == ("Denied", 400) and "without explanation" in reply["message"], reply
    server.close()
    dead = evict()
    assert outcome(dead) == ("ServerError", 500) and "judge.slipway.dev" in dead["message"], dead
    assert names(ctx, ns, "pods") == ["p"]


def test_policy_that_says_no(ctx: Context) -> None:
    """A ValidatingAdmissionPolicy's no is a Denied, whatever code it chooses; no permission is still Forbidden."""
    ns, policy = ctx.namespace(), ctx.unique("policy")
    base = "/apis/admissionregistration.k8s.io/v1"
    meta = {"metadata": {"name": policy}}

    def rule(reason: str | None) -> list[dict]:
        return [{"expression": "object.metadata.name != 'denied'", "message": "not that one",
                 **({"reason": reason} if reason else {})}]

    ctx.cluster.api.call("POST", f"{base}/validatingadmissionpolicies", {**meta, "spec": {
        "failurePolicy": "Fail", "validations": rule(None), "matchConstraints": {"resourceRules": [
            {"apiGroups": ["coordination.k8s.io"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["leases"]}]}}})
    ctx.undo(lambda: ctx.cluster.api.delete(f"{base}/validatingadmissionpolicies/{policy}"))
    ctx.cluster.api.call("POST", f"{base}/validatingadmissionpolicybindings", {**meta, "spec": {
        "policyName": policy, "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": ns}}}}})
    ctx.undo(lambda: ctx.cluster.api.delete(f"{base}/validatingadmissionpolicybindings/{policy}"))

    def create(name: str, **more: object) -> dict:
        return write(ctx, "create", "Lease", name, n=ns, dry_run=True, body=lease(name, ns), **more)

    for reason, code in ((None, 422), ("Forbidden", 403), ("RequestEntityTooLarge", 413)):
        ctx.cluster.api.patch(f"{base}/validatingadmissionpolicies/{policy}", {"spec": {"validations": rule(reason)}})
        ctx.wait_for(lambda: create("denied")["code"] == code, 30, "the policy to be in force")
        said = create("denied")
        assert outcome(said) == ("Denied", code), said
        assert f"ValidatingAdmissionPolicy '{policy}'" in said["message"] and "not that one" in said["message"], said
    assert outcome(create("allowed")) == ("OK", 201)
    stranger = create("denied", kubeconfig=ctx.cluster.kubeconfig(ctx.unique("stranger")))
    assert outcome(stranger) == ("Forbidden", 403), stranger


def test_a_write_without_an_answer(ctx: Context) -> None:
    """The connection breaks after the request was taken in: Unknown, whether it was carried out (its answer was lost)
    or not (the server gave up on it).  Before: Unreachable."""
    ns = ctx.namespace()
    gate = Gate(ctx, ns)
    relay = Relay(ctx.cluster.ports[0])
    ctx.undo(relay.close)
    address = f"https://127.0.0.1:{relay.port}"

    def create(name: str) -> Child:
        gate.arrived.clear()
        gate.go.clear()
        child = ctx.spawn(ctx.probe, "write", "create", "Lease", name, "-n", ns, "--server", address, "--body",
                          json.dumps(lease(name, ns)))
        assert gate.arrived.wait(60), "the request did not arrive"
        return child

    child = create("held-done")
    relay.mute = True
    gate.go.set()
    ctx.wait_for(lambda: names(ctx, ns) == ["held-done"], 20, "the write to be carried out")
    relay.cut()
    reply = json.loads(child.expect("outcome", 20).string)
    assert outcome(reply) == ("Unknown", 0), reply
    relay.mute = False
    child = create("held-dropped")
    relay.cut()
    reply = json.loads(child.expect("outcome", 20).string)
    gate.go.set()
    assert outcome(reply) == ("Unknown", 0), reply
    relay.switch(None)
    refused = write(ctx, "create", "Lease", "never", n=ns, body=lease("never", ns), server=address)
    assert refused["outcome"] == "Unreachable", refused
    relay.close()
    closed = write(ctx, "create", "Lease", "never", n=ns, body=lease("never", ns), server=address)
    assert outcome(closed) == ("Unreachable", 0), closed
    assert names(ctx, ns) == ["held-done"]


def test_throttled_by_priority_and_fairness(ctx: Context) -> None:
    """A priority level without a share serves one request at a time and refuses the rest: one is held in a webhook."""
    ns = ctx.namespace()
    gate = Gate(ctx, ns)
    user = ctx.unique("slow")
    base = "/apis/flowcontrol.apiserver.k8s.io/v1"
    level = {"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "PriorityLevelConfiguration",
             "metadata": {"name": user},
             "spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 0, "borrowingLimitPercent": 0,
                                                     "lendablePercent": 0, "limitResponse": {"type": "Reject"}}}}
    schema = {"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "FlowSchema", "metadata": {"name": user},
              "spec": {"priorityLevelConfiguration": {"name": user}, "matchingPrecedence": 50,
                       "rules": [{"subjects": [{"kind": "User", "user": {"name": user}}],
                                  "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"],
                                                     "clusterScope": True, "namespaces": ["*"]}]}]}}
    config = ctx.cluster.kubeconfig(user)
    ctx.cluster.allow(user)
    ctx.cluster.api.call("POST", f"{base}/prioritylevelconfigurations", level)
    ctx.undo(lambda: ctx.cluster.api.delete(f"{base}/prioritylevelconfigurations/{user}"))
    uid = ctx.cluster.api.call("POST", f"{base}/flowschemas", schema)["metadata"]["uid"]
    ctx.undo(lambda: ctx.cluster.api.delete(f"{base}/flowschemas/{user}"))

    def flow_schema() -> str | None:
        connection = Api(ctx.cluster.ports[0], ctx.cluster.ca, *ctx.cluster.authority.issue(user)).connect()
        try:
            connection.request("GET", path_of(ns))
            return connection.getresponse().headers.get("X-Kubernetes-PF-FlowSchema-UID")
        finally:
            connection.close()

    ctx.wait_for(lambda: flow_schema() == uid, 30, "the flow schema to work", interval=0.3)
    ctx.spawn(ctx.probe, "write", "create", "Lease", "held-x", "-n", ns, "--dry-run", "--body",
              json.dumps(lease("held-x", ns)), kubeconfig=config)
    assert gate.arrived.wait(60), "the request did not arrive"
    for reply in (write(ctx, "create", "Lease", "x", n=ns, body=lease("x", ns), kubeconfig=config),
                  write(ctx, "get", "Lease", "x", n=ns, kubeconfig=config),
                  write(ctx, "delete", "Lease", "x", n=ns, kubeconfig=config)):
        assert outcome(reply) == ("Throttled", 429) and reply["retryAfter"] >= 1, reply
        assert "oo many requests" in reply["message"], reply
    assert names(ctx, ns) == []


def test_long_bodies(ctx: Context) -> None:
    """An object near the server's limit goes through in both directions; one beyond it is refused in words."""
    ns = ctx.namespace()
    big = lease("big", ns) | {"metadata": {"name": "big", "namespace": ns, "annotations": {"a": "x" * 200_000}}}
    child = ctx.run(ctx.probe, "write", "create", "Lease", "big", "-n", ns, "--body-file", "-", input=json.dumps(big))
    made = json.loads(child.stdout)
    assert outcome(made) == ("OK", 201) and len(made["object"]["metadata"]["annotations"]["a"]) == 200_000
    big["metadata"] |= {"name": "huge", "annotations": {"a": "x" * 300_000}}
    child = ctx.run(ctx.probe, "write", "create", "Lease", "huge", "-n", ns, "--body-file", "-", input=json.dumps(big))
    refused = json.loads(child.stdout)
    assert outcome(refused) == ("Invalid", 422) and "262144" in refused["message"], refused
    big["metadata"]["annotations"] = {"a": "x" * 4_000_000}
    child = ctx.run(ctx.probe, "write", "create", "Lease", "huge", "-n", ns, "--body-file", "-", input=json.dumps(big))
    refused = json.loads(child.stdout)
    assert refused["outcome"] == "Invalid" and refused["code"] == 413, refused
    assert names(ctx, ns) == ["big"]
    try:
        ctx.cluster.api.get(path_of(ns, f"x-{uuid.uuid4().hex}"))
        raise AssertionError("a lease that nobody made")
    except ApiError as error:
        assert error.code == 404
