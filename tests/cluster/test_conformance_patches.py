"""JSON, merge and strategic patches: what they change, and what they are refused for."""

from __future__ import annotations

import threading

from context import Context, real_only
from kinds import CONFIG_MAP, DEPLOYMENT, NODE, POD, STATEFUL_SET
from objects import config_map
from shape import assert_has, merged
from wire import Wire, query

CHANGED = "the object has been modified; please apply your changes to the latest version and try again"
REJECTED = "the server rejected our request due to an error in our request"
NOBODY = "11111111-1111-1111-1111-111111111111"


def start(ctx: Context, **data: str) -> tuple[Wire, str, str]:
    """A client, a namespace and the path of a config map x with these data."""
    w, ns = Wire(ctx.cluster.api), ctx.namespace()
    w.post(CONFIG_MAP.path(ns), config_map("x", ns, **data)).ok(201)
    return w, ns, CONFIG_MAP.path(ns, "x")


def node_of(ctx: Context, w: Wire, **more: object) -> str:
    """The path of a node that nobody keeps: no kubelet writes to it."""
    name = ctx.unique("n")
    w.post(NODE.path(), merged(NODE.make("", name), more)).ok(201)
    ctx.undo(lambda: w.delete(NODE.path(name=name)))
    return NODE.path(name=name)


# -- JSON patch (RFC 6902) ----------------------------------------------------------------------------------------


def test_json_patch_operations(ctx: Context) -> None:
    w, _, path = start(ctx, a="1", b="2")

    def data(*operations: dict) -> dict:
        return w.patch(path, list(operations), "json").ok().get("data")

    assert data({"op": "add", "path": "/data/c", "value": "3"}) == {"a": "1", "b": "2", "c": "3"}
    assert data({"op": "replace", "path": "/data/a", "value": "9"}) == {"a": "9", "b": "2", "c": "3"}
    assert data({"op": "remove", "path": "/data/c"}) == {"a": "9", "b": "2"}
    assert data({"op": "copy", "from": "/data/a", "path": "/data/d"}) == {"a": "9", "b": "2", "d": "9"}
    assert data({"op": "move", "from": "/data/d", "path": "/data/e"}) == {"a": "9", "b": "2", "e": "9"}
    assert data({"op": "test", "path": "/data/a", "value": "9"}, {"op": "remove", "path": "/data/e"}) == {"a": "9", "b": "2"}
    assert data({"op": "replace", "path": "/data/new", "value": "7"}) == {"a": "9", "b": "2", "new": "7"}, "the server adds it"
    assert data({"op": "test", "path": "/data/none",
                 "value": None}) == {"a": "9", "b": "2", "new": "7"}, "what is not there is null"
    assert data({"op": "remove", "path": "/data"}) is None
    assert data({"op": "add", "path": "/data", "value": {"z": "26"}}) == {"z": "26"}
    assert data({"op": "add", "path": "/data"}) is None, "no value is null"
    meta = w.patch(path, [{"op": "add", "path": "/metadata/labels", "value": {"app.test/name": "x"}},
                          {"op": "add", "path": "/metadata/labels/app.test~1tilde", "value": "y"}], "json").ok()["metadata"]
    assert meta["labels"] == {"app.test/name": "x", "app.test/tilde": "y"}, "~1 is /"


def test_json_patch_of_lists(ctx: Context) -> None:
    w, ns, path = start(ctx)

    def finalizers(*operations: dict) -> list[str] | None:
        return w.patch(path, list(operations), "json").ok()["metadata"].get("finalizers")

    def add(where: str, name: str) -> dict:
        return {"op": "add", "path": f"/metadata/finalizers/{where}", "value": f"slipway.dev/{name}"}

    assert finalizers({"op": "add", "path": "/metadata/finalizers", "value": ["slipway.dev/b"]}) == ["slipway.dev/b"]
    assert finalizers(add("0", "a")) == ["slipway.dev/a", "slipway.dev/b"]
    assert finalizers(add("-", "c")) == ["slipway.dev/a", "slipway.dev/b", "slipway.dev/c"]
    assert finalizers({"op": "replace", "path": "/metadata/finalizers/1", "value": "slipway.dev/z"},
                      {"op": "remove", "path": "/metadata/finalizers/0"}
                      ) == ["slipway.dev/z", "slipway.dev/c"]
    w.patch(path, [add("7", "x")], "json").fails(422, "Invalid", REJECTED, empty=True)
    w.patch(path, [{"op": "remove", "path": "/metadata/finalizers/2"}], "json").fails(422, "Invalid", REJECTED, empty=True)
    assert finalizers({"op": "remove", "path": "/metadata/finalizers"}) is None


def test_json_patches_that_fail(ctx: Context) -> None:
    """All or nothing: the operations before the one that fails leave nothing behind."""
    w, _, path = start(ctx, a="1")
    before = w.get(path).ok()
    change = {"op": "replace", "path": "/data/a", "value": "2"}
    for operation in ({"op": "test", "path": "/data/a", "value": "7"}, {"op": "remove", "path": "/data/none"},
                      {"op": "add", "path": "/none/x", "value": "1"}, {"op": "nope", "path": "/data/a"}, {"path": "/data/a"},
                      {"op": "add", "path": "/metadata/labels/x", "value": "y"}, {"op": "remove", "path": ""},
                      {"op": "move", "from": "/data/none", "path": "/data/b"}):
        w.patch(path, [change, operation], "json").fails(422, "Invalid", REJECTED, empty=True)
    w.patch(path, [{"op": "replace", "path": "/data/a", "value": 5}], "json").refused(422, "Invalid", "patch: Invalid value: ")
    w.patch(path, [{"op": "replace", "path": "/kind", "value": "Secret"}], "json").refused(422, "Invalid", "patch: Invalid value: ")
    for root in ({"metadata": {"name": "q"}}, {"kind": "ConfigMap", "metadata": {"name": "x"}}):
        answer = w.patch(path, [{"op": "replace", "path": "", "value": root}], "json")
        answer.refused(400, "BadRequest", "the name of the object (x based on URL) was undeterminable: name must be provided")
        assert answer.warnings == ['unknown field "metadata"'], answer.headers
    w.patch(path, [{"op": "replace", "path": "", "value": {}}], "json").fails(
        400, "BadRequest", "the name of the object (x based on URL) was undeterminable: name must be provided")
    for text in ('{"op":"add"}', "[", "", "7", '[{"op":1}]'):
        w.patch(path, text, "json").refused(400, "BadRequest", "error decoding patch")
    w.patch(path, [change] * 10001, "json").fails(
        413, "RequestEntityTooLarge", "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001")
    assert w.get(path).ok() == before
    assert w.patch(path, [change] * 10000, "json").ok()["data"] == {"a": "2"}


def test_json_patch_as_a_lock(ctx: Context) -> None:
    """Of many who test for the old value and set their own, one wins."""
    w, _, path = start(ctx, holder="")
    codes: list[int] = []

    def grab(name: str) -> None:
        body = [{"op": "test", "path": "/data/holder", "value": ""}, {"op": "replace", "path": "/data/holder", "value": name}]
        codes.append(w.patch(path, body, "json").code)

    threads = [threading.Thread(target=grab, args=(f"t{i}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [200] + [422] * 7, codes


# -- merge patch (RFC 7386) ---------------------------------------------------------------------------------------


def test_merge_patch(ctx: Context) -> None:
    w, _, path = start(ctx, a="1", b="2")
    assert w.patch(path, {"data": {"a": None, "c": "3"}}).ok()["data"] == {"b": "2", "c": "3"}
    assert w.patch(path, {"metadata": {"labels": {"k": "v"}, "annotations": {"n": "1"}}}).ok()["metadata"]["labels"] == {"k": "v"}
    done = w.patch(path, {"metadata": {"labels": {"k": None, "l": "w"}, "finalizers": ["slipway.dev/a", "slipway.dev/b"]}}).ok(
        )["metadata"]
    assert done["labels"] == {"l": "w"} and done["annotations"] == {"n": "1"}
    done = w.patch(path, {"metadata": {"finalizers": ["slipway.dev/c"]}}).ok()["metadata"]
    assert done["finalizers"] == ["slipway.dev/c"], "a list is replaced as a whole"
    assert "finalizers" not in w.patch(path, {"metadata": {"finalizers": []}}).ok()["metadata"]
    assert "data" not in w.patch(path, {"data": None}).ok()


def test_merge_patches_that_fail(ctx: Context) -> None:
    w, _, path = start(ctx, a="1")
    before = w.get(path).ok()
    for text in ("[]", "x", '{"data":', "", "7"):
        w.patch(path, text).refused(400, "BadRequest", "error decoding patch")
    w.patch(path, "null").fails(400, "BadRequest", "Invalid JSON Patch")
    for body in ({"data": {"a": 1}}, {"data": []}, {"kind": "Secret"}, {"apiVersion": "v2"}, {"data": {"a": {"b": None}}}):
        w.patch(path, body).refused(422, "Invalid", ' "" is invalid: patch: Invalid value: ')
    w.patch(path, {"metadata": {"labels": {"bad label": "x"}}}).refused(422, "Invalid", 'ConfigMap "x" is invalid: metadata.labels')
    assert w.get(path).ok() == before


def test_what_no_patch_may_change(ctx: Context) -> None:
    w, ns, path = start(ctx, a="1")
    before = w.get(path).ok()
    for kind in ("merge", "strategic"):
        w.patch(path, {"metadata": {"name": "other"}}, kind).fails(
            400, "BadRequest", "the name of the object (other) does not match the name on the URL (x)")
        w.patch(path, {"metadata": {"namespace": "other"}}, kind).fails(
            400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request")
        w.patch(path, {"metadata": {"uid": NOBODY}}, kind).invalid(
            None, "ConfigMap", "x", *[("FieldValueInvalid", "metadata.uid", f'Invalid value: "{NOBODY}": field is immutable')] * 2)
        kept = w.patch(path, {"metadata": {"creationTimestamp": "2001-02-03T04:05:06Z", "resourceVersion": ""}}, kind).ok()
        assert kept == before
        w.patch(CONFIG_MAP.path(ns, "none"), {}, kind).fails(404, "NotFound", 'configmaps "none" not found', name="none",
                                                             kind="configmaps")
    w.patch(CONFIG_MAP.path(ns, "none"), [], "json").fails(404, "NotFound", 'configmaps "none" not found', name="none",
                                                           kind="configmaps")
    assert w.get(path).ok() == before


# -- versions, options, media types -------------------------------------------------------------------------------


def test_a_version_in_a_patch_is_a_condition(ctx: Context) -> None:
    w, _, path = start(ctx, a="1")
    version = w.get(path).ok()["metadata"]["resourceVersion"]
    conflict = {"message": f'Operation cannot be fulfilled on configmaps "x": {CHANGED}', "name": "x", "kind": "configmaps"}
    for kind in ("merge", "strategic"):
        w.patch(path, {"metadata": {"resourceVersion": "1"}, "data": {"a": "2"}}, kind).fails(409, "Conflict", **conflict)
        done = w.patch(path, {"metadata": {"resourceVersion": version}, "data": {"a": kind}}, kind).ok()
        w.patch(path, {"metadata": {"resourceVersion": version}, "data": {"a": "3"}}, kind).fails(409, "Conflict", **conflict)
        version = done["metadata"]["resourceVersion"]
    replace = {"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}
    w.patch(path, [replace, {"op": "replace", "path": "/data/a", "value": "3"}], "json").fails(409, "Conflict", **conflict)
    w.patch(path, [{"op": "test", "path": "/metadata/resourceVersion", "value": "1"}],
            "json").fails(422, "Invalid", REJECTED, empty=True)
    assert w.patch(path, [{"op": "test", "path": "/metadata/resourceVersion", "value": version}],
                   "json").ok()["data"] == {"a": "strategic"}


def test_a_patch_without_effect_makes_no_version(ctx: Context) -> None:
    w, _, path = start(ctx, a="1")
    before = w.get(path).ok()
    for body, kind in (({}, "merge"), ([], "json"), ({}, "strategic"), ({"data": {"a": "1"}}, "merge"),
                       ({"data": {"none": None}}, "merge"),
                       ([{"op": "test", "path": "/data/a", "value": "1"}], "json"), ({"data": {"a": "1"}}, "strategic")):
        assert w.patch(path, body, kind).ok() == before, (body, kind)


def test_patches_at_the_same_time_are_all_applied(ctx: Context) -> None:
    """Without a version in it a patch is laid over whatever is newest."""
    w, _, path = start(ctx)
    codes: list[int] = []

    def one(number: int) -> None:
        for step in range(3):
            codes.append(w.patch(path, {"data": {f"{number}-{step}": "x"}}).code)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [200] * 9, codes
    assert sorted(w.get(path).ok()["data"]) == [f"{i}-{s}" for i in range(3) for s in range(3)]


def test_options_and_media_types(ctx: Context) -> None:
    w, _, path = start(ctx, a="1")
    for content in ("application/json", "text/plain", "application/merge-patch+yaml"):
        w.patch(path, {}, content).fails(415, "UnsupportedMediaType", "415: Unsupported Media Type", empty=True)
    w.ask("PATCH", path, {}, content=None).fails(415, "UnsupportedMediaType", "415: Unsupported Media Type", empty=True)
    w.patch(path, {}, "application/merge-patch+json; charset=utf-8").ok()
    w.patch(query(path, force="true"), {}).invalid("meta.k8s.io", "PatchOptions", "", (
        "FieldValueForbidden", "force", "Forbidden: may not be specified for non-apply patch"))
    w.patch(query(path, dryRun="Some"), {}).invalid("meta.k8s.io", "PatchOptions", "", (
        "FieldValueNotSupported", "dryRun", 'Unsupported value: ["Some"]: supported values: "All"'))
    before = w.get(path).ok()
    tried = w.patch(query(path, dryRun="All"), {"data": {"a": "2"}}).ok()
    assert tried["data"] == {"a": "2"} and w.get(path).ok() == before


def test_unknown_fields(ctx: Context) -> None:
    w, ns, path = start(ctx, a="1")
    for body, kind in (({"nope": 1}, "merge"), ([{"op": "add", "path": "/nope", "value": 1}], "json"), ({"nope": 1}, "strategic")):
        w.patch(query(path, fieldValidation="Strict"), body, kind).refused(
            422, "Invalid", ' "" is invalid: patch: Invalid value: ', 'strict decoding error: unknown field "nope"')
        for mode, told in (("Warn", True), (None, True), ("Ignore", False)):
            answer = w.patch(query(path, fieldValidation=mode), body, kind)
            assert "nope" not in answer.ok() and answer.warnings == (['unknown field "nope"'] if told else []), (
                kind, mode, answer.headers)


# -- strategic merge patch ----------------------------------------------------------------------------------------


def test_strategic_patch_merges_lists_by_key(ctx: Context) -> None:
    w, ns, _ = start(ctx)
    path = DEPLOYMENT.path(ns, "d")
    w.post(DEPLOYMENT.path(ns), DEPLOYMENT.make(ns, "d")).ok(201)

    def patch(**spec: object) -> dict:
        return w.patch(path, {"spec": {"template": {"spec": spec}}}, "strategic").ok()["spec"]["template"]["spec"]

    def names(found: list[dict]) -> list[str]:
        return [c["name"] for c in found]

    two = patch(containers=[{"name": "side", "image": "registry.test/side:1"}])["containers"]
    assert names(two) == ["side", "main"], "new ones come first"
    both = patch(containers=[{"name": "main", "image": "registry.test/app:2"}])["containers"]
    assert [(c["name"], c["image"]) for c in both] == [("side", "registry.test/side:1"), ("main", "registry.test/app:2")]
    assert names(patch(containers=[{"$patch": "delete", "name": "side"}])["containers"]) == ["main"]
    ordered = patch(**{"$setElementOrder/containers": [{"name": "a"}, {"name": "main"}, {"name": "b"}]},
                    containers=[{"name": "a", "image": "registry.test/a:1"}, {"name": "b", "image": "registry.test/b:1"}])[
                        "containers"]
    assert names(ordered) == ["a", "main", "b"]
    unordered = {"$setElementOrder/containers": [{"name": "a"}, {"name": "b"}], "containers": [{"name": "b"}, {"name": "a"}]}
    answer = w.patch(path, {"spec": {"template": {"spec": unordered}}}, "strategic")
    answer.refused(500, None, "The order in patch list:", "doesn't match $setElementOrder list:")
    env = patch(containers=[{"name": "main", "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}]}])[
        "containers"][1]["env"]
    assert env == [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}]
    env = patch(containers=[{"name": "main", "env": [{"name": "Y", "$patch": "delete"}, {"name": "Z", "value": "3"}]}])[
        "containers"][1]["env"]
    assert sorted(e["name"] for e in env) == ["X", "Z"]
    only = patch(containers=[{"$patch": "replace"}, {"name": "new", "image": "registry.test/new:1"}])["containers"]
    assert names(only) == ["new"], "the whole list is replaced"
    patch(tolerations=[{"key": "a", "operator": "Exists"}])
    assert patch(tolerations=[{"key": "b", "operator": "Exists"}])["tolerations"] == [{"key": "b", "operator": "Exists"}], "atomic"


def test_strategic_patch_of_maps(ctx: Context) -> None:
    w, ns, _ = start(ctx)
    path = DEPLOYMENT.path(ns, "d")
    w.post(DEPLOYMENT.path(ns), DEPLOYMENT.make(ns, "d", metadata={"labels": {"a": "1", "b": "2"}})).ok(201)
    assert w.patch(path, {"metadata": {"labels": {"a": None, "c": "3"}}},
                   "strategic").ok()["metadata"]["labels"] == {"b": "2", "c": "3"}
    whole = w.patch(path, {"metadata": {"labels": {"$patch": "replace", "z": "26"}}}, "strategic").ok()["metadata"]["labels"]
    assert whole == {"z": "26"}
    gone = w.patch(path, {"metadata": {"labels": {"$patch": "delete"}}}, "strategic").ok()["metadata"]
    assert "labels" not in gone
    strategy = {"$retainKeys": ["type"], "type": "Recreate"}
    assert w.patch(path, {"spec": {"strategy": strategy}}, "strategic").ok()["spec"]["strategy"] == {"type": "Recreate"}
    back = {"$retainKeys": ["rollingUpdate", "type"], "type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2}}
    assert w.patch(path, {"spec": {"strategy": back}}, "strategic").ok()["spec"]["strategy"] == {
        "type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": "25%"}}
    w.patch(path, {"spec": {"strategy": {"type": "Recreate"}}}, "strategic").refused(
        422, "Invalid", "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'")


def test_strategic_patch_of_plain_lists(ctx: Context) -> None:
    w, _, path = start(ctx)

    def finalizers(body: dict) -> list[str] | None:
        return w.patch(path, {"metadata": body}, "strategic").ok()["metadata"].get("finalizers")

    assert finalizers({"finalizers": ["slipway.dev/a", "slipway.dev/b"]}) == ["slipway.dev/a", "slipway.dev/b"]
    assert sorted(finalizers({"finalizers": ["slipway.dev/c"]})) == ["slipway.dev/a", "slipway.dev/b", "slipway.dev/c"], "merged"
    assert sorted(finalizers({"$deleteFromPrimitiveList/finalizers": ["slipway.dev/b"]})) == ["slipway.dev/a", "slipway.dev/c"]
    assert finalizers({"$setElementOrder/finalizers": ["slipway.dev/c", "slipway.dev/a"]}) == ["slipway.dev/c", "slipway.dev/a"]
    assert finalizers({"finalizers": None}) is None


def test_strategic_patch_of_a_node(ctx: Context) -> None:
    """What kubectl cordon, taint and label send: taints are one value, conditions and addresses go by their type."""
    w = Wire(ctx.still.api)
    path = node_of(ctx, w)
    taint = {"key": "a", "value": "1", "effect": "NoSchedule"}
    assert w.patch(path, {"spec": {"unschedulable": True}}, "strategic").ok()["spec"]["unschedulable"] is True
    assert w.patch(path, {"spec": {"taints": [taint]}},
                   "strategic").ok()["spec"]["taints"] == [taint], "the one of its birth is gone"
    other = taint | {"key": "b"}
    assert w.patch(path, {"spec": {"taints": [other]}}, "strategic").ok()["spec"]["taints"] == [other]
    done = w.patch(path, {"spec": {"taints": None, "unschedulable": None}}, "strategic").ok()["spec"]
    assert not done, done
    ready = {"type": "Ready", "status": "True", "reason": "Test", "message": "up", "lastHeartbeatTime": "2026-01-02T03:04:05Z",
             "lastTransitionTime": "2026-01-02T03:04:05Z"}
    disk = ready | {"type": "DiskPressure", "status": "False"}
    w.patch(path + "/status", {"status": {"conditions": [ready, disk]}}, "strategic").ok()
    found = w.patch(path + "/status", {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, "strategic").ok()
    assert found["status"]["conditions"] == [ready | {"status": "False"}, disk]
    w.patch(path + "/status", {"status": {"addresses": [{"type": "InternalIP", "address": "10.1.1.1"},
                                                        {"type": "Hostname", "address": "h"}]}},
            "strategic").ok()
    found = w.patch(path + "/status", {"status": {"addresses": [{"type": "InternalIP", "address": "10.1.1.2"}]}}, "strategic").ok()
    assert found["status"]["addresses"] == [{"type": "InternalIP", "address": "10.1.1.2"}, {"type": "Hostname", "address": "h"}]


def test_strategic_patches_that_fail(ctx: Context) -> None:
    w, ns, path = start(ctx, a="1")
    before = w.get(path).ok()
    for text in ("[]", "x", '{"data":', "", "7"):
        w.patch(path, text, "strategic").refused(400, "BadRequest")
    w.patch(path, {"data": {"$patch": "nope"}}, "strategic").refused(500, None, "unknown patch type: nope in map")
    w.patch(path, {"data": {"a": 1}}, "strategic").refused(422, "Invalid", "patch: Invalid value: ")
    w.post(DEPLOYMENT.path(ns), DEPLOYMENT.make(ns, "d")).ok(201)
    nameless = {"spec": {"template": {"spec": {"containers": [{"image": "registry.test/x:1"}]}}}}
    answer = w.patch(DEPLOYMENT.path(ns, "d"), nameless, "strategic")
    assert answer.code == 500 and "does not contain declared merge key: name" in answer.json["message"], answer
    assert w.get(path).ok() == before


# -- subresources -------------------------------------------------------------------------------------------------


def test_patches_of_the_status(ctx: Context) -> None:
    """A patch of the status changes nothing else, a patch of the object never the status."""
    w, ns = Wire(ctx.still.api), ctx.namespace(ctx.still)
    path = STATEFUL_SET.path(ns, "s")
    made = w.post(STATEFUL_SET.path(ns), STATEFUL_SET.make(ns, "s")).ok(201)
    for kind in ("merge", "strategic"):
        done = w.patch(path + "/status", {"spec": {"replicas": 5}, "status": {"replicas": 3},
                                          "metadata": {"labels": {"by": kind}}}, kind).ok()
        assert (done["spec"], done["status"]["replicas"]) == (made["spec"], 3) and done["metadata"]["generation"] == 1
        done = w.patch(path, {"status": {"replicas": 7}, "metadata": {"labels": {"by": kind}}}, kind).ok()
        assert done["status"]["replicas"] == 3 and done["metadata"]["labels"] == {"by": kind}
    done = w.patch(path + "/status", [{"op": "replace", "path": "/status/replicas", "value": 4}], "json").ok()
    assert done["status"]["replicas"] == 4
    w.patch(path + "/status", {"status": {"readyReplicas": -1}}).invalid(
        "apps", "StatefulSet", "s",
        ("FieldValueInvalid", "status.readyReplicas", "Invalid value: -1: must be greater than or equal to 0"),
        ("FieldValueInvalid", "status.availableReplicas", "Invalid value: 0: cannot be greater than status.readyReplicas"))


def test_patches_of_the_scale(ctx: Context) -> None:
    w, ns = Wire(ctx.still.api), ctx.namespace(ctx.still)
    path = DEPLOYMENT.path(ns, "d", "scale")
    w.post(DEPLOYMENT.path(ns), DEPLOYMENT.make(ns, "d")).ok(201)
    done = w.patch(path, {"spec": {"replicas": 4}}).ok()
    assert_has(done, {"kind": "Scale", "apiVersion": "autoscaling/v1", "spec": {"replicas": 4},
                      "metadata": {"name": "d", "namespace": ns}})
    now = w.get(DEPLOYMENT.path(ns, "d")).ok()
    assert (now["spec"]["replicas"], now["metadata"]["generation"]) == (4, 2)
    assert w.patch(path, [{"op": "replace", "path": "/spec/replicas", "value": 2}], "json").ok()["spec"] == {"replicas": 2}
    assert "replicas" not in w.patch(path, {"spec": {"replicas": 0}}, "strategic").ok()["spec"]
    w.patch(path, {"spec": {"replicas": -1}}).invalid("autoscaling", "Scale", "d", (
        "FieldValueInvalid", "spec.replicas", "Invalid value: -1: must be greater than or equal to 0"))
    w.patch(path, {"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 2}}).refused(409, "Conflict", CHANGED)


def test_a_pod_keeps_most_of_its_spec(ctx: Context) -> None:
    w, ns, _ = start(ctx)
    path = POD.path(ns, "p")
    w.post(POD.path(ns), POD.make(ns, "p")).ok(201)
    image = {"spec": {"containers": [{"name": "main", "image": "registry.test/app:2"}]}}
    done = w.patch(path, image, "strategic").ok()
    assert done["spec"]["containers"][0]["image"] == "registry.test/app:2" and done["metadata"]["generation"] == 2
    w.patch(path, {"spec": {"restartPolicy": "Never"}}).refused(422, "Invalid",
                                                                'Pod "p" is invalid: spec: Forbidden: pod updates may not change')
    w.patch(path, {"spec": {"nodeName": "x"}}).refused(422, "Invalid",
                                                       'Pod "p" is invalid: spec: Forbidden: pod updates may not change')
    tolerations = done["spec"]["tolerations"] + [{"key": "a", "operator": "Exists"}]
    assert w.patch(path, {"spec": {"tolerations": tolerations}}).ok()["spec"]["tolerations"] == tolerations
    w.patch(path, {"spec": {"tolerations": [{"key": "b", "operator": "Exists"}]}}).refused(
        422, "Invalid", "spec.tolerations: Forbidden: existing toleration")


@real_only("server-side apply")
def test_server_side_apply(ctx: Context) -> None:
    w, ns, path = start(ctx, a="1")
    w.patch(path, {}, "apply").invalid("meta.k8s.io", "PatchOptions", "", (
        "FieldValueRequired", "fieldManager", "Required value: is required for apply patch"))
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}, "data": {"a": "1"}}
    target = query(CONFIG_MAP.path(ns, "new"), fieldManager="one")
    assert w.patch(target, body, "apply").ok(201)["data"] == {"a": "1"}
    conflict = w.patch(query(CONFIG_MAP.path(ns, "new"), fieldManager="two"), merged(body, {"data": {"a": "2"}}), "apply")
    conflict.refused(409, "Conflict", 'Apply failed with 1 conflict: conflict with "one": .data.a')
    assert conflict.json["details"]["causes"][0]["reason"] == "FieldManagerConflict"
