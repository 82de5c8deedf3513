"""Custom resources: their definitions, schemas, defaults, pruning and refusals, subresources and versions."""

from __future__ import annotations

from dataclasses import replace

from context import Context, real_only
from crds import DEFINITIONS, OPEN, crd, established, make_crd, make_crds
from kinds import Kind
from shape import TIME, assert_has, assert_is, merged, settled
from wire import Wire, query

SCALE = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}


def schema(**properties: dict) -> dict:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}, "status": {**OPEN}}}


SHIP = {"type": "object", "properties": {"spec": {"type": "object", "required": ["hull"], "properties": {
    "hull": {"type": "string", "enum": ["wood", "steel"]}, "masts": {"type": "integer", "minimum": 0, "maximum": 5, "default": 2},
    "name": {"type": "string", "pattern": "^[A-Z]", "maxLength": 8, "minLength": 2},
    "crew": {"type": "array", "maxItems": 2, "minItems": 1, "items": {"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "rank": {"type": "string", "default": "sailor"}}}},
    "speed": {"x-kubernetes-int-or-string": True}, "note": {"type": "string", "nullable": True},
    "when": {"type": "string", "format": "date-time"},
    "id": {"type": "string", "format": "uuid"}, "cargo": {"type": "object", "additionalProperties": {"type": "number"}},
    "ratio": {"type": "number", "multipleOf": 0.5}, "afloat": {"type": "boolean"},
    "ports": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    "rooms": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {
        "type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "string"}}}},
    "deep": {"type": "object", "default": {}, "properties": {"a": {"type": "string", "default": "x"}, "b": {"type": "integer"}}},
    "free": {**OPEN}}}}}


def definitions(ctx: Context) -> dict[str, dict]:
    cutter = crd(ctx, "Cutter", schema(a={"type": "string"}))
    first, = cutter["spec"]["versions"]
    cutter["spec"]["versions"] = [first, first | {"name": "v1beta1", "storage": False},
                                  first | {"name": "v0", "storage": False, "served": False}]
    fields = [{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.size"}]
    rules = [{"rule": "self == oldSelf", "message": "the name cannot change"}]
    return {"Ship": crd(ctx, "Ship", SHIP), "Open": crd(ctx, "Open", {**OPEN}), "Cutter": cutter,
            "Ocean": crd(ctx, "Ocean", scope="Cluster"),
            "Fleet": crd(ctx, "Fleet", schema(replicas={"type": "integer"}, other={"type": "string"}),
                         version={"subresources": {"status": {}, "scale": SCALE}}),
            "Flag": crd(ctx, "Flag", schema(color={"type": "string"}, size={"type": "integer"}),
                        version={"selectableFields": fields}),
            "Yawl": crd(ctx, "Yawl", schema(name={"type": "string", "x-kubernetes-validations": rules}))}


def start(ctx: Context, name: str) -> tuple[Wire, str, Kind]:
    """The kinds are made once for all tests of this file, all at the same time: each takes the server a while."""
    def make() -> dict[str, Kind]:
        return make_crds(ctx, ctx.still, definitions(ctx), undo=ctx.suite_undo)

    kind = ctx.once("kinds", make)[name]
    kind.least = {"spec": {"hull": "wood"}} if name == "Ship" else {}
    return Wire(ctx.still.api), ctx.namespace(ctx.still), kind


# -- definitions --------------------------------------------------------------------------------------------------


def test_a_definition_becomes_established(ctx: Context) -> None:
    w = Wire(ctx.still.api)
    body = crd(ctx, "Buoy", names={"listKind": None, "singular": None})
    body["spec"]["names"] = {key: value for key, value in body["spec"]["names"].items() if value}
    path = f"{DEFINITIONS}/{body['metadata']['name']}"
    ctx.undo(lambda: w.delete(path))
    made = w.post(DEFINITIONS, body).ok(201)
    assert_has(made["spec"], {"names": {"plural": "buoys", "singular": "buoy", "kind": "Buoy", "listKind": "BuoyList"},
                              "conversion": {"strategy": "None"}})
    assert made["metadata"]["generation"] == 1
    found = ctx.wait_for(lambda: established(w.get(path).ok()) and w.get(path).ok(), 30, "it to be established")
    assert_has(found["status"], {"acceptedNames": made["spec"]["names"], "storedVersions": ["v1"]})
    conditions = {c["type"]: c for c in found["status"]["conditions"]}
    assert_has(conditions, {"NamesAccepted": {"status": "True", "reason": "NoConflicts", "message": "no conflicts found",
                                              "lastTransitionTime": TIME},
                            "Established": {"status": "True", "reason": "InitialNamesAccepted",
                                            "message": "the initial names have been accepted"}})
    w.post(DEFINITIONS, body).fails(409, "AlreadyExists",
                                    f'customresourcedefinitions.apiextensions.k8s.io "{body["metadata"]["name"]}" already exists',
                                    name=body["metadata"]["name"], group="apiextensions.k8s.io", kind="customresourcedefinitions")


def test_definitions_that_are_refused(ctx: Context) -> None:
    w = Wire(ctx.still.api)

    def refused(change: dict, *words: str) -> None:
        w.post(DEFINITIONS, merged(crd(ctx, "Wreck"), change)).refused(422, "Invalid", *words)

    refused({"metadata": {"name": "wrong"}}, "metadata.name: Invalid value: \"wrong\": must be spec.names.plural+\".\"+spec.group")
    refused({"spec": {"scope": "Somewhere"}},
            'spec.scope: Unsupported value: "Somewhere": supported values: "Cluster", "Namespaced"')
    refused({"spec": {"versions": []}}, "spec.versions")
    refused({"spec": {"versions": [{"name": "v1", "served": True, "storage": False, "schema": {"openAPIV3Schema": OPEN}}]}},
            "spec.versions",
            "must have exactly one version marked as storage version")
    refused({"spec": {"versions": [{"name": "v1", "served": True, "storage": True}]}},
            "spec.versions[0].schema.openAPIV3Schema: Required value")
    refused({"spec": {"versions": [{"name": "v1", "served": True, "storage": True,
                                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {}}}}}]}},
            "openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields")
    refused({"spec": {"names": {"kind": ""}}}, "spec.names.kind: Required value")


def test_names_are_given_once(ctx: Context) -> None:
    """A second definition that wants a taken name in the same group waits, and says so."""
    w = Wire(ctx.still.api)
    first = crd(ctx, "Anchor")
    make_crd(ctx, ctx.still, first)
    second = crd(ctx, "Anchor", group=first["spec"]["group"])
    second["metadata"]["name"] = f"others.{first['spec']['group']}"
    second["spec"]["names"] |= {"plural": "others", "singular": "other"}
    path = f"{DEFINITIONS}/{second['metadata']['name']}"
    ctx.undo(lambda: w.delete(path))
    w.post(DEFINITIONS, second).ok(201)

    def refused() -> dict | None:
        found = [c for c in w.get(path).ok().get("status", {}).get("conditions") or [] if c["type"] == "NamesAccepted"]
        return found[0] if found else None

    told = ctx.wait_for(refused, 30, "the names to be judged")
    assert_has(told, {"status": "False", "reason": "ListKindConflict", "message": '"AnchorList" is already in use'})
    assert w.get(f"/apis/{first['spec']['group']}/v1/others").code == 404


def test_deleting_a_definition_deletes_its_objects(ctx: Context) -> None:
    cluster = ctx.cluster
    w, ns = Wire(cluster.api), ctx.namespace()
    definition = crd(ctx, "Raft")
    kind = make_crd(ctx, cluster, definition)
    path = f"{DEFINITIONS}/{definition['metadata']['name']}"
    w.post(kind.path(ns), kind.make(ns, "x", metadata={"finalizers": ["slipway.dev/a"]})).ok(201)
    w.post(kind.path(ns), kind.make(ns, "y")).ok(201)
    gone = w.delete(path).ok()
    assert gone["kind"] == "CustomResourceDefinition" and "customresourcecleanup.apiextensions.k8s.io" in gone["metadata"][
        "finalizers"]
    ctx.wait_for(lambda: [i["metadata"]["name"] for i in w.get(kind.path(ns)).ok()["items"]] == ["x"], 60,
                 "the object without a finalizer to be gone")
    w.post(kind.path(ns), kind.make(ns, "z")).fails(
        403, "Forbidden", f'rafts.{kind.group} "z" is forbidden: create not allowed while custom resource definition is terminating', name="z",
        group=kind.group, kind="rafts")
    assert w.get(path).ok()["metadata"]["deletionTimestamp"]
    w.patch(kind.path(ns, "x"), {"metadata": {"finalizers": None}}).ok()
    ctx.wait_for(lambda: w.get(path).code == 404, 60, "the definition to be gone")
    ctx.wait_for(lambda: w.get(kind.path(ns)).code == 404, 60, "the resource to be gone")


# -- objects ------------------------------------------------------------------------------------------------------


def test_life_of_an_object(ctx: Context) -> None:
    w, ns, kind = start(ctx, "Ship")
    path = kind.path(ns, "x")
    made = w.post(kind.path(ns), kind.make(ns, "x")).ok(201)
    assert_is(settled(made), {"apiVersion": kind.version, "kind": "Ship",
                              "metadata": {"name": "x", "namespace": ns, "generation": 1},
                              "spec": {"hull": "wood", "masts": 2, "deep": {"a": "x"}}})
    assert w.get(path).ok() == made
    listed = w.get(kind.path(ns)).ok()
    assert_is({k: v for k, v in listed.items() if k not in ("items", "metadata")}, {"apiVersion": kind.version, "kind": "ShipList"})
    assert_is(listed["items"], [made], "items of custom resources have a kind")
    named = f"ships.{kind.group}"
    w.get(kind.path(ns, "none")).fails(404, "NotFound", f'{named} "none" not found', name="none", group=kind.group, kind="ships")
    w.post(kind.path(ns), kind.make(ns, "x")).fails(409, "AlreadyExists", f'{named} "x" already exists', name="x",
                                                    group=kind.group, kind="ships")
    w.put(path, kind.make(ns, "x")).invalid(kind.group, "ships", "x", (
        "FieldValueInvalid", "metadata.resourceVersion", "Invalid value: 0: must be specified for an update"))
    changed = w.put(path, merged(made, {"spec": {"masts": 3}})).ok()
    assert (changed["spec"]["masts"], changed["metadata"]["generation"]) == (3, 2)
    assert w.patch(path, {"metadata": {"labels": {"a": "b"}}}).ok()["metadata"]["generation"] == 2
    assert w.patch(path, [{"op": "replace", "path": "/spec/masts", "value": 4}], "json").ok()["metadata"]["generation"] == 3
    w.patch(path, {"spec": {"masts": 1}}, "strategic").fails(
        415, "UnsupportedMediaType", "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, "
        "application/merge-patch+json, application/apply-patch+yaml")
    w.get(path + "/status").fails(404, "NotFound", f'{named} "x" not found', name="x", group=kind.group, kind="ships")
    w.get(path + "/scale").fails(404, "NotFound", f'{named} "x" not found', name="x", group=kind.group, kind="ships")
    gone = w.delete(path).ok()
    assert_is(gone, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
                     "details": {"name": "x", "group": kind.group, "kind": "ships", "uid": made["metadata"]["uid"]}})
    assert w.get(path).code == 404


def test_what_a_schema_refuses(ctx: Context) -> None:
    w, ns, kind = start(ctx, "Ship")

    def refused(spec: dict, *causes: tuple[str, str, str]) -> None:
        w.post(kind.path(ns), kind.make(ns, "x", spec=spec)).invalid(kind.group, "Ship", "x", *causes)

    def of_type(field: str, wanted: str, seen: str) -> tuple[str, str, str]:
        return "FieldValueTypeInvalid", field, f'Invalid value: "{seen}": {field} in body must be of type {wanted}: "{seen}"'

    refused({"hull": None}, ("FieldValueRequired", "spec.hull", "Required value"))
    refused({"hull": "paper"}, ("FieldValueNotSupported", "spec.hull",
                                'Unsupported value: "paper": supported values: "wood", "steel"'))
    refused({"masts": 9}, ("FieldValueInvalid", "spec.masts",
                           "Invalid value: 9: spec.masts in body should be less than or equal to 5"))
    refused({"masts": -1}, ("FieldValueInvalid", "spec.masts",
                            "Invalid value: -1: spec.masts in body should be greater than or equal to 0"))
    refused({"masts": "x"}, of_type("spec.masts", "integer", "string"))
    refused({"name": "argo"}, ("FieldValueInvalid", "spec.name",
                               "Invalid value: \"argo\": spec.name in body should match '^[A-Z]'"))
    refused({"name": "A" * 9}, ("FieldValueTooLong", "spec.name", "Too long: may not be more than 8 bytes"))
    refused({"name": "A"}, ("FieldValueInvalid", "spec.name",
                            'Invalid value: "A": spec.name in body should be at least 2 chars long'))
    refused({"crew": []}, ("FieldValueInvalid", "spec.crew", "Invalid value: 0: spec.crew in body should have at least 1 items"))
    refused({"crew": [{"name": "a"}] * 3}, ("FieldValueTooMany", "spec.crew", "Too many: 3: must have at most 2 items"))
    refused({"crew": [{"rank": "captain"}]}, ("FieldValueRequired", "spec.crew[0].name", "Required value"))
    refused({"crew": ["a"]}, of_type("spec.crew[0]", "object", "string"))
    refused({"speed": 1.5}, of_type("spec.speed", "integer,string", "number"))
    refused({"when": "x"}, ("FieldValueTypeInvalid", "spec.when",
                            'Invalid value: "x": spec.when in body must be of type date-time: "x"'))
    refused({"id": "x"}, ("FieldValueTypeInvalid", "spec.id", 'Invalid value: "x": spec.id in body must be of type uuid: "x"'))
    refused({"cargo": {"a": "b"}}, of_type("spec.cargo.a", "number", "string"))
    refused({"ratio": 0.7}, ("FieldValueInvalid", "spec.ratio",
                             "Invalid value: 0.7: spec.ratio in body should be a multiple of 0.5"))
    refused({"afloat": "yes"}, of_type("spec.afloat", "boolean", "string"))
    refused({"ports": ["a", "a"]}, ("FieldValueDuplicate", "spec.ports[1]", 'Duplicate value: "a"'))
    refused({"rooms": [{"k": "a"}, {"k": "a"}]}, ("FieldValueDuplicate", "spec.rooms[1]", 'Duplicate value: {"k":"a"}'))
    refused({"deep": {"b": "x"}}, of_type("spec.deep.b", "integer", "string"))
    both = w.post(kind.path(ns), kind.make(ns, "x", spec={"hull": "paper", "masts": 9}))
    both.refused(422, "Invalid", "spec.masts: Invalid value: 9", 'spec.hull: Unsupported value: "paper"')
    assert len(both.json["details"]["causes"]) == 2
    w.post(kind.path(ns), kind.make(ns, "x") | {"spec": []}).invalid(kind.group, "Ship", "x", of_type("spec", "object", "array"))
    w.post(kind.path(ns), kind.make(ns, "x") | {"kind": "Boat"}).invalid(
        kind.group, "Boat", "x", ("FieldValueInvalid", "kind", 'Invalid value: "Boat": must be Ship'))
    w.post(kind.path(ns), kind.make(ns, "x") | {"apiVersion": f"{kind.group}/v2"}).fails(
        400, "BadRequest", f"the API version in the data ({kind.group}/v2) does not match the expected API version ({kind.version})")
    w.post(kind.path(ns), {"metadata": {"name": "x"}, "spec": {"hull": "wood"}}).refused(
        400, "BadRequest", "the object provided is unrecognized (must be of type Ship): Object 'Kind' is missing in ")
    w.post(kind.path(ns), "{").refused(400, "BadRequest", "the object provided is unrecognized (must be of type Ship)")
    w.post(kind.path(ns), kind.make(ns, "x", spec={"hull": "wood"})).ok(201)
    w.patch(kind.path(ns, "x"), {"spec": {"masts": 7}}).invalid(kind.group, "Ship", "x", (
        "FieldValueInvalid", "spec.masts", "Invalid value: 7: spec.masts in body should be less than or equal to 5"))


def test_defaults_pruning_and_nulls(ctx: Context) -> None:
    w, ns, kind = start(ctx, "Ship")

    def spec(**given: object) -> dict:
        return w.post(query(kind.path(ns), dryRun="All"),
                      kind.make(ns, "x") | {"spec": {"hull": "wood", "masts": 1, "deep": {"a": "y"}, **given}}).ok(201)["spec"]

    base = {"hull": "wood", "masts": 1, "deep": {"a": "y"}}
    assert spec(extra=1, more={"a": 1}) == base, "what the schema does not know is pruned"
    assert spec(crew=[{"name": "a", "extra": 1}]) == base | {"crew": [{"name": "a", "rank": "sailor"}]}
    assert spec(free={"a": [1, {"b": None}],
                      "c": "d"}) == base | {"free": {"a": [1, {"b": None}], "c": "d"}}, "but for what may have anything"
    assert spec(masts=None) == base | {"masts": 2}, "null where none may be is as good as nothing, and the default follows"
    assert spec(note=None) == base | {"note": None}, "null where it may be stays"
    assert spec(deep={}) == base | {"deep": {"a": "x"}}
    assert spec(deep=None) == base | {"deep": {"a": "x"}}
    assert spec(speed="10%")["speed"] == "10%" and spec(speed=10)["speed"] == 10
    answer = w.post(query(kind.path(ns), dryRun="All"), kind.make(ns, "x", spec={"extra": 1}, other=2))
    assert "other" not in answer.ok(201) and sorted(answer.warnings) == ['unknown field "other"', 'unknown field "spec.extra"']
    w.post(query(kind.path(ns), fieldValidation="Strict"), kind.make(ns, "x", spec={"extra": 1})).fails(
        400, "BadRequest", 'Ship in version "v1" cannot be handled as a Ship: strict decoding error: unknown field "spec.extra"')
    assert "spec" not in w.post(query(kind.path(ns), dryRun="All"), {"apiVersion": kind.version, "kind": "Ship",
                                                                     "metadata": {"name": "x"}}).ok(201)


def test_numbers_keep_their_kind(ctx: Context) -> None:
    w, ns, kind = start(ctx, "Open")
    w.post(kind.path(ns), kind.make(ns, "x", spec={"big": 9007199254740993, "float": 1.5, "whole": 3.0, "neg": -7,
                                                   "text": "größer \u2028"})).ok(201)
    text = w.get(kind.path(ns, "x")).text
    assert '"big":9007199254740993' in text and '"float":1.5' in text and '"neg":-7' in text, text
    assert w.get(kind.path(ns, "x")).ok()["spec"]["text"] == "größer \u2028"


def test_embedded_status_and_scale(ctx: Context) -> None:
    w, ns, kind = start(ctx, "Fleet")
    path = kind.path(ns, "f")
    made = w.post(kind.path(ns), kind.make(ns, "f", spec={"replicas": 3}, status={"replicas": 1})).ok(201)
    assert "status" not in made, "a creator gives no status"
    assert "status" not in w.patch(path, {"status": {"replicas": 1}}).ok()
    done = w.patch(path + "/status", {"status": {"replicas": 2, "selector": "app=x"}, "spec": {"other": "y"},
                                      "metadata": {"labels": {"a": "b"}}}).ok()
    assert done["status"] == {"replicas": 2, "selector": "app=x"} and done["spec"] == {"replicas": 3} and "labels" not in done[
        "metadata"]
    assert done["metadata"]["generation"] == 1
    scale = w.get(path + "/scale").ok()
    assert_is(scale, {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {
        "name": "f", "namespace": ns, "uid": done["metadata"]["uid"], "resourceVersion": done["metadata"]["resourceVersion"],
        "creationTimestamp": done["metadata"]["creationTimestamp"]}, "spec": {"replicas": 3},
        "status": {"replicas": 2, "selector": "app=x"}})
    assert w.patch(path + "/scale", {"spec": {"replicas": 5}}).ok()["spec"] == {"replicas": 5}
    now = w.get(path).ok()
    assert (now["spec"]["replicas"], now["metadata"]["generation"]) == (5, 2)
    w.put(path + "/status", merged(now, {"status": {"replicas": 4}})).ok()
    w.put(path + "/status", merged(now, {"status": {"replicas": 3}})).refused(409, "Conflict", "the object has been modified")


def test_selectable_fields(ctx: Context) -> None:
    w, ns, kind = start(ctx, "Flag")
    for name, spec in (("a", {"color": "red", "size": 1}), ("b", {"color": "blue", "size": 1}), ("c", {})):
        w.post(kind.path(ns), kind.make(ns, name, spec=spec)).ok(201)

    def names(selector: str) -> list[str]:
        return [i["metadata"]["name"] for i in w.get(query(kind.path(ns), fieldSelector=selector)).ok()["items"]]

    assert names("spec.color=red") == ["a"] and names("spec.color!=red") == ["b", "c"] and names("spec.size=1") == [
        "a", "b"] and names("spec.color=") == ["c"]
    assert names("spec.size=1,metadata.name=b") == ["b"] and names(f"metadata.namespace={ns}") == ["a", "b", "c"]
    w.get(query(kind.path(ns), fieldSelector="spec.none=1")).fails(400, "BadRequest", "field label not supported: spec.none")


def test_several_versions(ctx: Context) -> None:
    """Without a converter the versions differ in their name only."""
    w, ns, kind = start(ctx, "Cutter")
    beta, old = (replace(kind, version=f"{kind.group}/{version}") for version in ("v1beta1", "v0"))
    made = w.post(beta.path(ns), beta.make(ns, "x", spec={"a": "b"})).ok(201)
    assert made["apiVersion"] == beta.version
    seen = w.get(kind.path(ns, "x")).ok()
    assert seen["apiVersion"] == kind.version and seen["metadata"]["uid"] == made["metadata"]["uid"] and seen["spec"] == {"a": "b"}
    assert w.patch(kind.path(ns, "x"), {"spec": {"a": "c"}}).ok()["spec"] == {"a": "c"} and w.get(beta.path(ns, "x")).ok()[
        "spec"] == {"a": "c"}
    assert w.get(old.path(ns)).code == 404, "not served"


def test_cluster_scope(ctx: Context) -> None:
    w, ns, kind = start(ctx, "Ocean")
    made = w.post(kind.path(), kind.make("", "x")).ok(201)
    assert "namespace" not in made["metadata"]
    assert w.get(f"/apis/{kind.version}/namespaces/{ns}/oceans").code == 404
    w.delete(kind.path(name="x")).ok()


def test_no_protobuf(ctx: Context) -> None:
    w, ns, kind = start(ctx, "Ship")
    protobuf = "application/vnd.kubernetes.protobuf"
    assert w.get(kind.path(ns), protobuf).code == 406
    answer = w.get(kind.path(ns), f"{protobuf},application/json")
    assert answer.headers["Content-Type"] == "application/json" and answer.ok()["kind"] == "ShipList"


@real_only("CEL")
def test_validation_rules(ctx: Context) -> None:
    w, ns, kind = start(ctx, "Yawl")
    w.post(kind.path(ns), kind.make(ns, "x", spec={"name": "a"})).ok(201)
    w.patch(kind.path(ns, "x"), {"spec": {"name": "b"}}).invalid(kind.group, "Yawl", "x", (
        "FieldValueInvalid", "spec.name", 'Invalid value: "b": the name cannot change'))
