"""Objects are made, read, replaced and removed, and what is wrong with a request is said, as Kubernetes does it."""

from __future__ import annotations

import json

from context import Context
from kinds import (CONFIG_MAP, DEPLOYMENT, GATES, KINDS, LEASE, NAMESPACE_KIND, NAMESPACED, NODE, POD, SECRET, SERVICE, Kind)
from objects import config_map, pod
from shape import TIME, UID, VERSION, Like, assert_has, assert_is, merged, settled
from wire import JSON, Wire, cause, query

NOBODY = "11111111-1111-1111-1111-111111111111"
SUBDOMAIN = ("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with "
             "an alphanumeric character (e.g. 'example.com', regex used for validation is "
             r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')")
QUALIFIED = ("name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
             "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')")
LABEL_VALUE = ("a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with "
               "an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
               "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')")
NOT_ACCEPTABLE = ("406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
                  "application/vnd.kubernetes.protobuf, application/json;stream=watch, "
                  "application/vnd.kubernetes.protobuf;stream=watch")
UNSUPPORTED = ("the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, "
               "application/vnd.kubernetes.protobuf")
CHANGED = "the object has been modified; please apply your changes to the latest version and try again"


def start(ctx: Context) -> tuple[Wire, str, str]:
    """A client, a namespace and the path of its config maps."""
    ns = ctx.namespace()
    return Wire(ctx.cluster.api), ns, CONFIG_MAP.path(ns)


def with_finalizers(obj: dict, *names: str) -> dict:
    return merged(obj, {"metadata": {"finalizers": list(names)}})


# -- every kind ---------------------------------------------------------------------------------------------------


def test_every_kind_is_created_with_its_defaults(ctx: Context) -> None:
    w, ns, _ = start(ctx)
    for kind in KINDS:
        name = ctx.unique(kind.kind.lower())
        body = kind.make(ns, name)
        tried = w.post(query(kind.path(ns), dryRun="All"), body).ok(201)
        assert tried["metadata"].pop("resourceVersion", None) is None, tried
        assert_is(settled(merged(tried, {"metadata": {"resourceVersion": "1"}})), kind.wanted(ns, name), f"dry run of {kind.kind}")
        made = w.post(kind.path(ns), body).ok(201)
        ctx.undo(lambda path=kind.path(ns, name): w.delete(path, {"gracePeriodSeconds": 0}))
        assert_is(settled(made), kind.wanted(ns, name), kind.kind)


def test_every_kind_is_read_and_listed(ctx: Context) -> None:
    w, ns, _ = start(ctx)
    for kind in NAMESPACED:
        name = ctx.unique(kind.kind.lower())
        w.post(kind.path(ns), kind.make(ns, name)).ok(201)
        found = w.get(kind.path(ns, name)).ok()
        assert_has(found, {"apiVersion": kind.version, "kind": kind.kind, "metadata": {"name": name, "namespace": ns}})
        for path in (kind.path(ns), kind.path()):
            listed = w.get(path).ok()
            assert_is({k: v for k, v in listed.items() if k != "items"},
                      {"apiVersion": kind.version, "kind": kind.kind + "List", "metadata": {"resourceVersion": VERSION}}, path)
            ours, = [item for item in listed["items"] if item["metadata"]["name"] == name]
            assert "kind" not in ours and "apiVersion" not in ours, "a list's items do not repeat its kind"
            assert ours["metadata"]["uid"] == found["metadata"]["uid"]
            assert path == kind.path() or {i["metadata"]["namespace"] for i in listed["items"]} == {ns}
        group = {"group": kind.group} if kind.group else {}
        named = f"{kind.resource}.{kind.group}" if kind.group else kind.resource
        w.get(kind.path(ns, "none")).fails(404, "NotFound", f'{named} "none" not found', name="none", **group, kind=kind.resource)
        w.delete(kind.path(ns, "none")).fails(404, "NotFound", f'{named} "none" not found', name="none", **group,
                                              kind=kind.resource)
        w.post(kind.path(ns), kind.make(ns, name)).fails(409, "AlreadyExists", f'{named} "{name}" already exists', name=name,
                                                         **group,
                                                        kind=kind.resource)
    empty = w.get(CONFIG_MAP.path("nobody-made-this")).ok()
    assert empty["items"] == [] and empty["kind"] == "ConfigMapList", empty


def test_every_kind_is_replaced(ctx: Context) -> None:
    """With the version that was read; without one where the kind allows it; never with an old one."""
    w, ns, _ = start(ctx)
    for kind in KINDS:
        name = ctx.unique(kind.kind.lower())
        path = kind.path(ns, name)
        first = w.post(kind.path(ns), kind.make(ns, name)).ok(201)
        ctx.undo(lambda path=path: w.delete(path, {"gracePeriodSeconds": 0}))

        def put(version: str | None):
            """A controller may write at the same time: what is asked for is a change of the newest object."""
            now = w.get(path).ok()
            meta = {"labels": {"round": ctx.unique()},
                    "resourceVersion": now["metadata"]["resourceVersion"] if version == "now" else version}
            return w.put(path, merged(now, {"metadata": meta}))

        def accepted(answer) -> bool:
            return answer.code == 200 or (answer.code == 409 and answer.json["reason"] != "Conflict")

        ctx.wait_for(lambda: accepted(put("now")), 20, f"{kind.kind} to be replaced")
        now = w.get(path).ok()
        assert now["metadata"]["labels"]["round"] and now["metadata"]["uid"] == first["metadata"]["uid"]
        assert int(now["metadata"]["resourceVersion"]) > int(first["metadata"]["resourceVersion"])
        named = f"{kind.resource}.{kind.group}" if kind.group else kind.resource
        group = {"group": kind.group} if kind.group else {}
        put(first["metadata"]["resourceVersion"]).fails(409, "Conflict",
                                                        f'Operation cannot be fulfilled on {named} "{name}": {CHANGED}',
                                                        name=name, **group, kind=kind.resource)
        answer = put(None)
        if kind.unconditional:
            answer.ok()
        else:
            answer.invalid(kind.group, kind.resource, name,
                           ("FieldValueInvalid", "metadata.resourceVersion", "Invalid value: 0: must be specified for an update"))


def test_every_kind_is_deleted(ctx: Context) -> None:
    """Some answer with the object, most with a Status."""
    w, ns, _ = start(ctx)
    for kind in KINDS:
        name = ctx.unique(kind.kind.lower())
        made = w.post(kind.path(ns), kind.make(ns, name)).ok(201)
        answer = w.delete(kind.path(ns, name), {"propagationPolicy": "Background", "gracePeriodSeconds": 0}).ok()
        assert answer["kind"] == kind.delete_answers, (kind.kind, answer)
        if answer["kind"] == "Status":
            group = {"group": kind.group} if kind.group else {}
            details = {"name": name, **group, "kind": kind.resource, "uid": made["metadata"]["uid"]}
            assert_is(answer, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
        else:
            assert answer["metadata"]["uid"] == made["metadata"]["uid"]
        ctx.wait_for(lambda: w.get(kind.path(ns, name)).code == 404, 60, f"{kind.kind} to be gone")


# -- creating -----------------------------------------------------------------------------------------------------


def test_names_that_are_not_allowed(ctx: Context) -> None:
    w, ns, path = start(ctx)
    w.post(path, config_map("A_b", ns)).invalid(None, "ConfigMap", "A_b", (
        "FieldValueInvalid", "metadata.name", f'Invalid value: "A_b": {SUBDOMAIN}'))
    long = "x" * 254
    w.post(path, config_map(long, ns)).invalid(None, "ConfigMap", long, (
        "FieldValueInvalid", "metadata.name", f'Invalid value: "{long}": must be no more than 253 characters'))
    for metadata in ({}, {"name": ""}, {"namespace": ns}):
        w.post(path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}).invalid(None, "ConfigMap", "", (
            "FieldValueRequired", "metadata.name", "Required value: name or generateName is required"))
    w.post(NAMESPACE_KIND.path(), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a.b"}}).invalid(
        None, "Namespace", "a.b", ("FieldValueInvalid", "metadata.name", 'Invalid value: "a.b": must not contain dots'))


def test_labels_annotations_and_finalizers_that_are_not_allowed(ctx: Context) -> None:
    w, ns, path = start(ctx)
    labels = w.post(path, merged(config_map("x", ns), {"metadata": {"labels": {"a b": "x", "c": "bad value!", "d": "x" * 64}}}))
    assert labels.code == 422, labels
    causes = labels.json["details"]["causes"]  # in the order of a Go map: any
    wanted = [f'Invalid value: "a b": {QUALIFIED}', f'Invalid value: "bad value!": {LABEL_VALUE}',
              f'Invalid value: "{"x" * 64}": must be no more than 63 bytes']
    assert sorted(c["message"] for c in causes) == sorted(wanted), labels
    assert {(c["reason"], c["field"]) for c in causes} == {("FieldValueInvalid", "metadata.labels")}
    w.post(path, merged(config_map("x", ns), {"metadata": {"annotations": {"a/b/c": "x"}}})).invalid(None, "ConfigMap", "x", (
        "FieldValueInvalid", "metadata.annotations",
        'Invalid value: "a/b/c": a valid label key must consist of alphanumeric characters, '
        "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used "
        "for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
        "'example.com/MyName')"))
    w.post(path, merged(config_map("x", ns), {"metadata": {"annotations": {"a": "x" * 262144}}})).invalid(None, "ConfigMap", "x", (
        "FieldValueTooLong", "metadata.annotations", "Too long: may not be more than 262144 bytes"))
    w.post(path, with_finalizers(config_map("x", ns), "plain")).invalid(None, "ConfigMap", "x", (
        "FieldValueInvalid", "metadata.finalizers[0]",
        'Invalid value: "plain": name is neither a standard finalizer name nor is it fully qualified'))
    w.post(path, with_finalizers(config_map("x", ns), "bad name")).invalid(
        None, "ConfigMap", "x", ("FieldValueInvalid", "metadata.finalizers", f'Invalid value: "bad name": {QUALIFIED}'),
        ("FieldValueInvalid", "metadata.finalizers[0]",
         'Invalid value: "bad name": name is neither a standard finalizer name nor is it fully qualified'))


def test_owner_references_that_are_not_allowed(ctx: Context) -> None:
    w, ns, path = start(ctx)
    good = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": NOBODY}

    def post(*references: dict):
        return w.post(path, merged(config_map("x", ns), {"metadata": {"ownerReferences": list(references)}}))

    post({"apiVersion": "", "kind": "", "name": "", "uid": ""}).invalid(
        None, "ConfigMap", "x", ("FieldValueInvalid", "metadata.ownerReferences.apiVersion",
                                 'Invalid value: "": version must not be empty'),
        ("FieldValueInvalid", "metadata.ownerReferences.kind", 'Invalid value: "": must not be empty'),
        ("FieldValueInvalid", "metadata.ownerReferences.name", 'Invalid value: "": must not be empty'),
        ("FieldValueInvalid", "metadata.ownerReferences.uid", 'Invalid value: "": must not be empty'))
    two = post(good | {"controller": True}, good | {"controller": True, "name": "p"})
    two.refused(422, "Invalid", "Only one reference can have Controller set to true", "metadata.ownerReferences")
    assert w.get(path + "/x").code == 404


def test_generated_names(ctx: Context) -> None:
    w, ns, path = start(ctx)
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "made-"}}
    suffix = "[bcdfghjklmnpqrstvwxz2456789]{5}"
    made = [w.post(path, body).ok(201)["metadata"] for _ in range(3)]
    assert all(Like(f"made-{suffix}") == m["name"] and m["generateName"] == "made-" for m in made), made
    assert len({m["name"] for m in made}) == 3
    tried = w.post(query(path, dryRun="All"), body).ok(201)["metadata"]
    assert Like(f"made-{suffix}") == tried["name"], tried
    long = w.post(path, merged(body, {"metadata": {"generateName": "x" * 100}})).ok(201)["metadata"]["name"]
    assert Like("x" * 58 + suffix) == long, "cut so that the whole has 63 characters"
    named = w.post(path, merged(body, {"metadata": {"name": "mine"}})).ok(201)["metadata"]
    assert (named["name"], named["generateName"]) == ("mine", "made-"), "a name of one's own wins"


def test_what_a_creator_may_not_choose(ctx: Context) -> None:
    w, ns, path = start(ctx)
    past = "2001-02-03T04:05:06Z"
    made = w.post(path, merged(config_map("x", ns), {"metadata": {
        "uid": NOBODY, "creationTimestamp": past, "deletionTimestamp": past, "deletionGracePeriodSeconds": 7, "generation": 5,
        "selfLink": "/x"}})).ok(201)["metadata"]
    assert made["uid"] != NOBODY and made["creationTimestamp"] != past, made
    assert not {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} & set(made), made
    assert made["generation"] == 5, "nobody counts a ConfigMap's generations"
    w.post(path, merged(config_map("y", ns), {"metadata": {"resourceVersion": "12"}})).fails(
        500, None, "resourceVersion should not be set on objects to be created")


def test_creation_in_the_wrong_place(ctx: Context) -> None:
    w, ns, path = start(ctx)
    w.post(path, config_map("x", "elsewhere")).fails(
        400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request")
    w.post(CONFIG_MAP.path("none-such"), config_map("x", "none-such")).fails(
        404, "NotFound", 'namespaces "none-such" not found', name="none-such", kind="namespaces")
    w.post(CONFIG_MAP.path(), config_map("x", ns)).no_method()
    w.post(path + "/x", config_map("x", ns)).no_method()
    assert w.post(path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}).ok(201)["metadata"]["namespace"] == ns
    node = w.post(query(NODE.path(), dryRun="All"), {"apiVersion": "v1", "kind": "Node",
                                                     "metadata": {"name": "x", "namespace": ns}})
    assert "namespace" not in node.ok(201)["metadata"], "what has no namespace loses it"


def test_bodies_that_are_something_else(ctx: Context) -> None:
    w, ns, path = start(ctx)
    w.post(path, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}}).refused(
        400, "BadRequest", 'Secret in version "v1" cannot be handled as a ConfigMap')
    w.post(path, {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "x"}}).refused(
        400, "BadRequest", 'ConfigMap in version "v2" cannot be handled as a ConfigMap')
    w.post(path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": 1}}).refused(
        400, "BadRequest", 'ConfigMap in version "v1" cannot be handled as a ConfigMap')
    w.post(path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": []}).refused(400, "BadRequest")
    w.post(path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": []}).refused(400, "BadRequest")
    w.post(DEPLOYMENT.path(ns), DEPLOYMENT.make(ns, "x", spec={"replicas": "many"})).refused(
        400, "BadRequest", 'Deployment in version "v1" cannot be handled as a Deployment')
    for text in ('{"kind":', "", "[]", '"x"', "7", '{"kind":"ConfigMap"', "{'kind':1}", "\x00"):
        w.post(path, text).refused(400, "BadRequest", "the object provided is unrecognized (must be of type ConfigMap)")
    made = w.post(path, {"metadata": {"name": "by-default"}, "data": {"a": "b"}}).ok(201)
    assert (made["apiVersion"], made["kind"]) == ("v1", "ConfigMap"), "kind and version follow from the path"
    assert [c["metadata"]["name"] for c in w.get(path).ok()["items"] if c["metadata"]["name"] != "kube-root-ca.crt"] == [
        "by-default"]


def test_bodies_that_are_too_large(ctx: Context) -> None:
    w, ns, path = start(ctx)
    w.post(path, config_map("x", ns, a="x" * 1_100_000)).invalid(None, "ConfigMap", "x", (
        "FieldValueTooLong", "[]", "Too long: may not be more than 1048576 bytes"))
    w.post(path, config_map("x", ns, a="x" * 3_200_000)).fails(
        413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728")
    assert w.post(path, config_map("x", ns, a="x" * 1_000_000)).ok(201)["data"]["a"] == "x" * 1_000_000


def test_media_types(ctx: Context) -> None:
    w, ns, path = start(ctx)
    for content in ("text/plain", "application/xml", "application/json-patch+json"):
        w.post(path, config_map("x", ns), content).fails(415, "UnsupportedMediaType", UNSUPPORTED)
    for accept in ("text/plain", "application/xml", "application/cbor"):
        answer = w.get(path, accept)
        assert (answer.code, answer.json["message"]) == (406, NOT_ACCEPTABLE), answer
        assert_has(answer.json, {"kind": "Status", "status": "Failure", "reason": "NotAcceptable", "code": 406})
    w.ask("POST", path, config_map("x", ns), content=None).ok(201)
    w.post(path, config_map("y", ns), "application/json; charset=utf-8").ok(201)
    yaml = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: z\n  namespace: {ns}\ndata:\n  a: 'yes'\n"
    assert w.post(path, yaml, "application/yaml").ok(201)["data"] == {"a": "yes"}
    for accept in (None, "*/*", "text/plain, application/json;q=0.5", "application/json;charset=utf-8"):
        answer = w.get(path + "/x", accept)
        assert answer.headers["Content-Type"] == JSON and answer.ok()["metadata"]["name"] == "x", accept
    w.get(path + "/x", "application/*").refused(406, "NotAcceptable", "Available representations: application/json")
    for accept, form in (("application/json;q=0.1,application/yaml;q=0.9", "yaml"), ("application/yaml;q=0.5, application/json", "json"),
                         ("*/*,application/yaml", "yaml"), ("*/*;q=0.9,application/yaml;q=0.1", "yaml"),
                         ("application/json;q=x,application/yaml;q=0.9", "yaml"), ("application/json;q=0", "json")):
        assert w.get(path + "/x", accept).headers["Content-Type"] == "application/" + form, accept
    answer = w.get(path + "/x", "application/yaml")
    assert answer.code == 200 and answer.headers["Content-Type"] == "application/yaml", answer
    assert "kind: ConfigMap\n" in answer.text and f"  namespace: {ns}\n" in answer.text, answer


def test_paths_that_lead_nowhere(ctx: Context) -> None:
    w, ns, path = start(ctx)
    for nowhere in (f"/api/v1/namespaces/{ns}/nothings", "/api/v9", "/apis/apps/v1beta9", path + "/x/status",
                    f"/apis/apps/v1/namespaces/{ns}/pods", f"/api/v1/namespaces/{ns}/deployments"):
        w.get(nowhere).missing()
    for nowhere in ("/apis/nope.example.com/v1/things", "/nope"):
        answer = w.get(nowhere)
        assert (answer.code, answer.text) == (404, "404 page not found\n"), answer
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    for method, where in (("PUT", path), ("PATCH", path), ("TRACE", path), ("OPTIONS", path),
                          ("DELETE", POD.path(ns, "x", "eviction")),
                          ("GET", POD.path(ns, "x", "eviction")), ("POST", NODE.path(name="x"))):
        w.ask(method, where, {} if method in ("PUT", "PATCH") else None, content="application/merge-patch+json").no_method()


# -- fields nobody knows ------------------------------------------------------------------------------------------


def test_unknown_fields(ctx: Context) -> None:
    w, ns, _ = start(ctx)
    path = DEPLOYMENT.path(ns)
    body = DEPLOYMENT.make(ns, "x", spec={"nope": 1}, extra=2)
    w.post(query(path, fieldValidation="Strict"), body).fails(
        400, "BadRequest", 'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: '
        'unknown field "spec.nope", unknown field "extra"')
    w.post(query(path, fieldValidation="Nope"), body).invalid("meta.k8s.io", "CreateOptions", "", (
        "FieldValueNotSupported", "fieldValidation",
        'Unsupported value: "Nope": supported values: "", "Ignore", "Strict", "Warn"'))
    for mode, told in (("Warn", True), (None, True), ("Ignore", False)):
        answer = w.post(query(path, fieldValidation=mode, dryRun="All"), body)
        made = answer.ok(201)
        assert "extra" not in made and "nope" not in made["spec"]
        assert answer.warnings == (['unknown field "spec.nope"', 'unknown field "extra"'] if told else []), answer.headers
    many = {f"f{number:02}": 1 for number in range(30)}
    answer = w.post(query(CONFIG_MAP.path(ns), dryRun="All"), {**config_map("x", ns), **many})
    assert answer.ok(201) and answer.warnings == [f'unknown field "{name}"' for name in many], answer.headers
    long = {f"f{number:02}" + "x" * 300: 1 for number in range(30)}
    answer = w.post(query(CONFIG_MAP.path(ns), dryRun="All"), {**config_map("x", ns), **long})
    assert answer.ok(201) and answer.warnings == [f'unknown field "{name}"'[:256] for name in long][:16], answer.headers
    made = w.post(path, DEPLOYMENT.make(ns, "x")).ok(201)
    changed = w.put(query(path + "/x", fieldValidation="Strict"), merged(made, {"spec": {"nope": 1}}))
    changed.fails(400, "BadRequest",
                  'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.nope"')
    answer = w.put(query(path + "/x", dryRun="All"), merged(made, {"spec": {"nope": 1}, "metadata": {"resourceVersion": None}}))
    assert answer.ok() and answer.warnings == ['unknown field "spec.nope"'], answer.headers


def test_doubled_fields_and_wrong_case(ctx: Context) -> None:
    w, ns, path = start(ctx)
    text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","name":"two"},"data":{"a":"1","a":"2"}}'
    w.post(query(path, fieldValidation="Strict"), text).fails(
        400, "BadRequest", 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
        'duplicate field "metadata.name", duplicate field "data.a"')
    answer = w.post(query(path, dryRun="All"), text)
    assert answer.ok(201)["metadata"]["name"] == "two" and answer.json["data"] == {"a": "2"}, "the last one counts"
    assert answer.warnings == ['duplicate field "metadata.name"', 'duplicate field "data.a"']
    answer = w.post(query(path, dryRun="All"), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"},
                                                "DATA": {"a": "b"}})
    assert "data" not in answer.ok(201) and answer.warnings == ['unknown field "DATA"'], "field names are exact"


# -- replacing ----------------------------------------------------------------------------------------------------


def test_replacing_something_else(ctx: Context) -> None:
    w, ns, path = start(ctx)
    made = w.post(path, config_map("x", ns, a="1")).ok(201)
    uid = made["metadata"]["uid"]
    w.put(path + "/x", config_map("y", ns)).fails(400, "BadRequest",
                                                  "the name of the object (y) does not match the name on the URL (x)")
    w.put(path + "/x", config_map("x", "elsewhere")).fails(
        400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request")
    w.put(path + "/none", config_map("none", ns)).fails(404, "NotFound", 'configmaps "none" not found', name="none",
                                                        kind="configmaps")
    w.put(path + "/x", merged(made, {"metadata": {"uid": NOBODY}})).refused(
        409, "Conflict", 'Operation cannot be fulfilled on configmaps "x": ',
        f"Precondition failed: UID in precondition: {NOBODY}, UID in object meta: {uid}")
    w.put(path + "/x", merged(made, {"metadata": {"resourceVersion": "1"}})).fails(
        409, "Conflict", f'Operation cannot be fulfilled on configmaps "x": {CHANGED}', name="x", kind="configmaps")
    w.put(path + "/x", merged(made, {"metadata": {"resourceVersion": "abc"}})).refused(500, None, "abc")
    assert w.get(path + "/x").ok() == made


def test_replacing_with_the_same_changes_nothing(ctx: Context) -> None:
    w, ns, path = start(ctx)
    made = w.post(path, config_map("x", ns, a="1")).ok(201)
    assert w.put(path + "/x", made).ok() == made
    assert w.put(path + "/x", config_map("x", ns, a="1")).ok()["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    other = w.put(path + "/x", config_map("x", ns, b="2")).ok()
    assert other["data"] == {"b": "2"} and int(other["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])
    assert (other["metadata"]["uid"],
            other["metadata"]["creationTimestamp"]) == (made["metadata"]["uid"], made["metadata"]["creationTimestamp"])


def test_what_a_replacement_may_not_change(ctx: Context) -> None:
    w, ns, path = start(ctx)
    made = w.post(path, config_map("x", ns, a="1")).ok(201)
    past = "2001-02-03T04:05:06Z"
    kept = w.put(path + "/x", merged(made, {"metadata": {"creationTimestamp": past, "generation": 7, "labels": {"a": "b"}}})).ok()
    assert kept["metadata"]["creationTimestamp"] == made["metadata"]["creationTimestamp"] and "generation" not in kept["metadata"]
    w.put(path + "/x", merged(kept, {"metadata": {"deletionTimestamp": past, "deletionGracePeriodSeconds": 3}})).invalid(
        None, "ConfigMap", "x", *[("FieldValueInvalid", "metadata.deletionTimestamp",
                                   f'Invalid value: "{past}": field is immutable'),
                                  ("FieldValueInvalid", "metadata.deletionGracePeriodSeconds",
                                   "Invalid value: 3: field is immutable")] * 2)
    for kind, body in ((CONFIG_MAP, merged(config_map("frozen", ns, a="1"), {"immutable": True})),
                       (SECRET, SECRET.make(ns, "frozen", immutable=True))):
        frozen = w.post(kind.path(ns), body).ok(201)
        w.put(kind.path(ns, "frozen"), merged(frozen, {"data": {"a": "Mg=="}})).invalid(None, kind.kind, "frozen", (
            "FieldValueForbidden", "data", "Forbidden: field is immutable when `immutable` is set"))


def test_immutable_fields_of_built_in_kinds(ctx: Context) -> None:
    w, ns, _ = start(ctx)
    made = w.post(DEPLOYMENT.path(ns), DEPLOYMENT.make(ns, "x")).ok(201)
    other = {"matchLabels": {"app": "x", "more": "y"}}
    labels = {"metadata": {"labels": {"app": "x", "more": "y"}}}
    answer = w.put(DEPLOYMENT.path(ns, "x"),
                   merged(made, {"metadata": {"resourceVersion": None}, "spec": {"selector": other, "template": labels}}))
    answer.refused(422, "Invalid", "spec.selector: Invalid value: ", "field is immutable")
    assert [(c["reason"], c["field"]) for c in answer.json["details"]["causes"]] == [("FieldValueInvalid", "spec.selector")], answer
    wrong = w.post(DEPLOYMENT.path(ns), DEPLOYMENT.make(ns, "y", spec={"selector": {"matchLabels": {"app": "z"}}}))
    wrong.fails(422, "Invalid", Like(r'Deployment\.apps "y" is invalid: spec\.template\.metadata\.labels: Invalid value: .*: '
                                     r"`selector` does not match template `labels`"),
                [cause("FieldValueInvalid", 'Invalid value: {"app":"x"}: `selector` does not match template `labels`',
                       "spec.template.metadata.labels")], name="y", group="apps", kind="Deployment")
    victim = w.post(POD.path(ns), POD.make(ns, "p")).ok(201)
    answer = w.put(POD.path(ns, "p"), merged(victim, {"metadata": {"resourceVersion": None}, "spec": {"restartPolicy": "Never"}}))
    answer.refused(422, "Invalid", 'Pod "p" is invalid: spec: Forbidden: pod updates may not change fields other than')
    service = w.post(SERVICE.path(ns), SERVICE.make(ns, "s")).ok(201)
    other = "10.0.0.250" if service["spec"]["clusterIP"] != "10.0.0.250" else "10.0.0.251"  # any may have been given to it
    w.put(SERVICE.path(ns, "s"), merged(service, {"spec": {"clusterIP": other, "clusterIPs": [other]}})).refused(
        422, "Invalid", "spec.clusterIPs[0]: Invalid value: ", "may not change once set")


# -- removing -----------------------------------------------------------------------------------------------------


def test_preconditions_of_a_deletion(ctx: Context) -> None:
    w, ns, path = start(ctx)
    made = w.post(path, config_map("x", ns)).ok(201)["metadata"]
    uid, version = made["uid"], made["resourceVersion"]
    w.delete(path + "/x", {"preconditions": {"uid": NOBODY}}).fails(
        409, "Conflict", f'Operation cannot be fulfilled on ConfigMap "x": the UID in the precondition ({NOBODY}) does not match the UID '
        f"in record ({uid}). The object might have been deleted and then recreated", name="x", kind="ConfigMap")
    w.delete(path + "/x", {"preconditions": {"resourceVersion": "1"}}).fails(
        409, "Conflict", f'Operation cannot be fulfilled on ConfigMap "x": the ResourceVersion in the precondition (1) does not match the '
        f"ResourceVersion in record ({version}). The object might have been modified", name="x", kind="ConfigMap")
    w.delete(path + "/x", {"preconditions": {"uid": NOBODY, "resourceVersion": "1"}}).refused(409, "Conflict", "the UID in the")
    w.delete(path + "/x", {"preconditions": {"uid": uid, "resourceVersion": version}}).ok()
    assert w.get(path + "/x").code == 404
    victim = w.post(POD.path(ns), POD.make(ns, "p")).ok(201)["metadata"]
    w.delete(POD.path(ns, "p"), {"preconditions": {"uid": NOBODY}, "gracePeriodSeconds": 0}).refused(
        409, "Conflict", f"the UID in the precondition ({NOBODY}) does not match the UID in record ({victim['uid']})")
    assert w.get(POD.path(ns, "p")).ok()["metadata"]["uid"] == victim["uid"]


def test_options_of_a_deletion(ctx: Context) -> None:
    """They come as a body, as a query, or not at all."""
    w, ns, path = start(ctx)
    w.post(path, config_map("x", ns)).ok(201)
    w.delete(path + "/x", {"propagationPolicy": "Nope"}).invalid("meta.k8s.io", "DeleteOptions", "", (
        "FieldValueNotSupported", "propagationPolicy",
        'Unsupported value: "Nope": supported values: "Foreground", "Background", "Orphan", "nil"'))
    w.delete(path + "/x", {"propagationPolicy": "Orphan", "orphanDependents": True}).invalid("meta.k8s.io", "DeleteOptions", "", (
        "FieldValueInvalid", "propagationPolicy",
        'Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set'))
    w.delete(path + "/x", {"dryRun": ["Some"]}).invalid("meta.k8s.io", "DeleteOptions", "", (
        "FieldValueNotSupported", "dryRun", 'Unsupported value: ["Some"]: supported values: "All"'))
    w.delete(query(path + "/x", dryRun="Some")).refused(422, "Invalid", 'supported values: "All"')
    w.delete(path + "/x", {"kind": "Nope", "apiVersion": "v1"}).refused(400, "BadRequest")
    w.delete(path + "/x", '{"kind"').refused(400, "BadRequest")
    w.delete(path + "/x", {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": "soon"}).refused(400, "BadRequest")
    assert w.get(path + "/x").code == 200
    tried = w.delete(query(path + "/x", dryRun="All")).ok()
    assert tried["status"] == "Success" and w.get(path + "/x").code == 200
    w.delete(path + "/x", {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 30}).ok()
    assert w.get(path + "/x").code == 404, "a grace period is for pods only"
    for version in ("v1", "meta.k8s.io/v1", "policy/v1"):
        w.post(path, config_map("y", ns)).ok(201)
        w.delete(path + "/y", {"kind": "DeleteOptions", "apiVersion": version}).ok()


def test_finalizers_hold_an_object(ctx: Context) -> None:
    w, ns, path = start(ctx)
    w.post(path, with_finalizers(config_map("x", ns, a="1"), "slipway.dev/a", "slipway.dev/b")).ok(201)
    gone = w.delete(path + "/x").ok()
    assert gone["kind"] == "ConfigMap" and TIME == gone["metadata"]["deletionTimestamp"], gone
    assert gone["metadata"]["deletionGracePeriodSeconds"] == 0
    assert w.get(path + "/x").ok() == gone
    assert w.delete(path + "/x").ok() == gone, "a second deletion changes nothing"
    forbidden = 'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"slipway.dev/c"}'
    w.put(path + "/x", with_finalizers(gone, "slipway.dev/a", "slipway.dev/b", "slipway.dev/c")).invalid(
        None, "ConfigMap", "x", *[("FieldValueForbidden", "metadata.finalizers", forbidden)] * 2)
    w.post(path, config_map("x", ns)).fails(409, "AlreadyExists", 'object is being deleted: configmaps "x" already exists',
                                            name="x",
                                           kind="configmaps")
    one = w.patch(path + "/x", [{"op": "remove", "path": "/metadata/finalizers/0"}], "json").ok()
    assert one["metadata"]["finalizers"] == ["slipway.dev/b"] and one["data"] == {"a": "1"}
    changed = w.patch(path + "/x", {"data": {"a": "2"}}).ok()
    assert changed["data"] == {"a": "2"}, "it can still be changed"
    last = w.patch(path + "/x", {"metadata": {"finalizers": None}}).ok()
    assert "finalizers" not in last["metadata"] and last["metadata"]["deletionTimestamp"] == gone["metadata"]["deletionTimestamp"]
    assert w.get(path + "/x").code == 404


def test_dry_runs_leave_no_trace(ctx: Context) -> None:
    w, ns, path = start(ctx)
    made = w.post(path, with_finalizers(config_map("x", ns, a="1"), "slipway.dev/a")).ok(201)
    ctx.undo(lambda: w.patch(path + "/x", {"metadata": {"finalizers": None}}))
    ghost = w.post(query(path, dryRun="All"), config_map("y", ns)).ok(201)
    assert UID == ghost["metadata"]["uid"] and "resourceVersion" not in ghost["metadata"]
    assert w.put(query(path + "/x", dryRun="All"), config_map("x", ns, a="2")).ok()["data"] == {"a": "2"}
    assert w.patch(query(path + "/x", dryRun="All"), {"data": {"a": "3"}}).ok()["data"] == {"a": "3"}
    assert "deletionTimestamp" in w.delete(query(path + "/x", dryRun="All")).ok()["metadata"]
    assert w.delete(path + "/x", {"dryRun": ["All"]}).ok()["kind"] == "ConfigMap"
    listed = w.delete(query(path, dryRun="All", fieldSelector="metadata.name=x")).ok()
    assert [i["metadata"]["name"] for i in listed["items"]] == ["x"]
    w.post(query(path, dryRun="All"), config_map("x", ns)).fails(409, "AlreadyExists", 'configmaps "x" already exists',
                                                                 name="x", kind="configmaps")
    w.post(query(path, dryRun="All"), config_map("A", ns)).refused(422, "Invalid", "metadata.name")
    w.put(query(path + "/x", dryRun="All"), merged(made, {"metadata": {"resourceVersion": "1"}})).refused(409, "Conflict", CHANGED)
    for value in ("", "None", "all"):
        w.post(query(path, dryRun=value), config_map("z", ns)).invalid("meta.k8s.io", "CreateOptions", "", (
            "FieldValueNotSupported", "dryRun", f'Unsupported value: {json.dumps([value])}: supported values: "All"'))
    assert w.get(path + "/x").ok() == made and w.get(path + "/y").code == 404


def test_grace_periods_of_pods(ctx: Context) -> None:
    """The object stays until its kubelet says that it is over, or the grace period is 0; a pod without a node goes at once."""
    w, ns = Wire(ctx.still.api), ctx.namespace(ctx.still)
    path = POD.path(ns)

    def bound(name: str) -> dict:
        return pod(name, ns, nodeName="nowhere", terminationGracePeriodSeconds=77)

    def seconds(meta: dict) -> int:
        return meta["deletionGracePeriodSeconds"]

    own = w.post(path, bound("own")).ok(201)["metadata"]
    gone = w.delete(path + "/own").ok()["metadata"]
    assert seconds(gone) == 77 and TIME == gone["deletionTimestamp"] and gone["generation"] == own["generation"] + 1, gone
    assert int(gone["resourceVersion"]) > int(own["resourceVersion"]) and w.get(path + "/own").ok()["metadata"] == gone
    assert seconds(w.delete(path + "/own", {"gracePeriodSeconds": 100}).ok()["metadata"]) == 77, "it can only be shortened"
    assert w.get(path + "/own").ok()["metadata"] == gone
    sooner = w.delete(path + "/own", {"gracePeriodSeconds": 10}).ok()["metadata"]
    assert seconds(sooner) == 10 and sooner["deletionTimestamp"] < gone["deletionTimestamp"]
    assert seconds(w.delete(query(path + "/own", gracePeriodSeconds=4)).ok()["metadata"]) == 4
    assert seconds(w.delete(path + "/own", {"gracePeriodSeconds": -5}).ok()["metadata"]) == 1, "below 0 is 1"
    assert w.get(path + "/own").code == 200
    assert seconds(w.delete(path + "/own", {"gracePeriodSeconds": 0}).ok()["metadata"]) == 0
    assert w.get(path + "/own").code == 404
    w.post(path, bound("given")).ok(201)
    assert seconds(w.delete(path + "/given", {"gracePeriodSeconds": 1234}).ok()["metadata"]) == 1234
    w.post(path, with_finalizers(bound("held"), "slipway.dev/a")).ok(201)
    assert seconds(w.delete(path + "/held", {"gracePeriodSeconds": 0}).ok()["metadata"]) == 0
    w.patch(path + "/held", {"metadata": {"finalizers": None}}).ok()
    assert w.get(path + "/held").code == 404
    w.post(path, pod("homeless", ns, schedulingGates=GATES)).ok(201)
    assert seconds(w.delete(path + "/homeless").ok()["metadata"]) == 0
    assert w.get(path + "/homeless").code == 404
    for phase in ("Succeeded", "Failed"):
        w.post(path, bound(phase.lower())).ok(201)
        w.patch(f"{path}/{phase.lower()}/status", {"status": {"phase": phase}}).ok()
        assert seconds(w.delete(f"{path}/{phase.lower()}").ok()["metadata"]) == 0
        assert w.get(f"{path}/{phase.lower()}").code == 404


def test_deleting_a_collection(ctx: Context) -> None:
    w, ns, path = start(ctx)
    for name, group in (("a", "x"), ("b", "x"), ("c", "x"), ("d", "y")):
        w.post(path, merged(config_map(name, ns), {"metadata": {"labels": {"group": group}}})).ok(201)

    def names(answer: dict) -> list[str]:
        assert answer["kind"] == "ConfigMapList" and answer["apiVersion"] == "v1", answer
        return [item["metadata"]["name"] for item in answer["items"]]

    def left() -> list[str]:
        return names(w.get(query(path, labelSelector="group")).ok())

    w.delete(query(path, labelSelector="==")).refused(400, "BadRequest", "found '==', expected")
    first = w.delete(query(path, labelSelector="group=x", limit=2)).ok()
    assert names(first) == ["a", "b"] and first["metadata"]["continue"] and left() == ["c", "d"]
    assert names(w.delete(query(path, labelSelector="group=x", dryRun="All")).ok()) == ["c"] and left() == ["c", "d"]
    assert names(w.delete(query(path, labelSelector="group=z")).ok()) == [] and left() == ["c", "d"]
    assert names(w.delete(query(path, fieldSelector="metadata.name=d"), {"propagationPolicy": "Background"}).ok()) == ["d"]
    assert left() == ["c"]
    assert "c" in names(w.delete(path).ok()) and left() == []
    w.delete(CONFIG_MAP.path()).no_method()


def test_deleting_a_collection_by_the_options_of_a_list(ctx: Context) -> None:
    w, ns, path = start(ctx)
    for name in "abcdef":
        w.post(path, merged(config_map(name, ns), {"metadata": {"labels": {"mine": "x"}}})).ok(201)
    mine = query(path, labelSelector="mine")

    def names(answer: dict) -> list[str]:
        return [item["metadata"]["name"] for item in answer["items"]]

    w.delete(query(path, **{"continue": "!!"})).fails(
        400, "BadRequest", "invalid continue token: continue key is not valid: illegal base64 data at input byte 0")
    w.delete(query(path, resourceVersion="abc")).refused(400, "BadRequest", "invalid resource version: ", '"abc"')
    w.delete(query(path, resourceVersion=10**12)).refused(504, "Timeout", "Too large resource version")
    page = w.get(query(path, labelSelector="mine", limit=2)).ok()["metadata"]
    w.delete(query(path, resourceVersion=page["resourceVersion"], **{"continue": page["continue"]})).fails(
        400, "BadRequest", "specifying resource version is not allowed when using continue")
    w.delete(query(path, labelSelector="mine", resourceVersion="0")).refused(409, "Conflict", "the ResourceVersion in the precondition (0)")
    assert names(w.get(mine).ok()) == list("abcdef")
    for _ in "twice":  # of what has gone, as it was
        assert names(w.delete(query(path, labelSelector="mine", limit=2, **{"continue": page["continue"]})).ok()) == ["c", "d"]
    assert names(w.get(mine).ok()) == list("abef")
    w.delete(query(path + "/a", resourceVersion=1)).refused(409, "Conflict", "the ResourceVersion in the precondition (1)")
    w.delete(query(path + "/a", uid="x")).refused(409, "Conflict", "the UID in the precondition (x)")


def test_what_nobody_may_delete(ctx: Context) -> None:
    w = Wire(ctx.still.api)
    for name in ("system-node-critical", "system-cluster-critical"):
        w.delete(f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}").fails(
            403, "Forbidden", f'priorityclasses.scheduling.k8s.io "{name}" is forbidden: this is a system priority class and cannot be deleted',
            group="scheduling.k8s.io", kind="priorityclasses", name=name)


def test_links_to_itself_are_dropped(ctx: Context) -> None:
    w, ns, path = start(ctx)
    link = {"metadata": {"selfLink": "/x"}}
    made = w.post(path, merged(config_map("x", ns), link)).ok(201)
    for answer in (w.put(path + "/x", merged(made, link)).ok(), w.patch(path + "/x", link).ok(), made):
        assert "selfLink" not in answer["metadata"], answer


def test_what_unmanaged_kinds_ask_for(ctx: Context) -> None:
    """Rules of single kinds that a user of Slipway runs into."""
    w, ns, _ = start(ctx)

    def refused(kind: Kind, name: str, causes: list[tuple[str, str, str]], **more: object) -> None:
        w.post(kind.path(ns), kind.make(ns, name, **more)).invalid(kind.group, kind.kind, name, *causes)

    refused(DEPLOYMENT, "x", [("FieldValueInvalid", "spec.replicas", "Invalid value: -1: must be greater than or equal to 0")],
            spec={"replicas": -1})
    refused(LEASE, "x", [("FieldValueInvalid", "spec.leaseDurationSeconds", "Invalid value: 0: must be greater than 0")],
            spec={"leaseDurationSeconds": 0})
    refused(LEASE, "x", [("FieldValueInvalid", "spec.leaseTransitions", "Invalid value: -1: must be greater than or equal to 0")],
            spec={"leaseTransitions": -1})
    refused(POD, "x", [("FieldValueRequired", "spec.containers", "Required value")], spec={"containers": []})
    refused(POD, "x", [("FieldValueRequired", "spec.containers[0].image", "Required value")],
            spec={"containers": [{"name": "main"}]})
    refused(POD, "x", [("FieldValueNotSupported", "spec.restartPolicy",
                        'Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"')],
            spec={"restartPolicy": "Sometimes"})
    refused(SERVICE, "x", [("FieldValueRequired", "spec.ports", "Required value")], spec={"ports": []})
