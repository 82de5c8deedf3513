"""Definitions of custom resources, and the resources, beside the real server: the same ones are given to both (ours through
probe_structural.c), and both must say the same: the object as stored, or the errors with their fields and words.

Most requests are dry runs.  Random cases come from a seed ($SLIPWAY_SEED, else fixed); a failure prints it.
"""

from __future__ import annotations

import copy
import json
import os
import random
import string
import subprocess
from concurrent.futures import ThreadPoolExecutor

from api import Api, ApiError
from context import Context, limit

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DRY = "?dryRun=All&fieldValidation=Strict"
SEED = int(os.environ.get("SLIPWAY_SEED", "20261115"))


class Probe:
    """Our side: one request, one answer."""

    def __init__(self, ctx: Context) -> None:
        program = os.environ.get("PROBE_STRUCTURAL") or str(ctx.probe.with_name("probe_structural"))
        self.child = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ctx.undo(self.close)

    def ask(self, op: str, **request: object) -> dict:
        self.child.stdin.write(json.dumps({"op": op, **request}) + "\n")
        self.child.stdin.flush()
        line = self.child.stdout.readline()
        assert line, f"the probe has ended with {self.child.wait()} at {op} {json.dumps(request)[:2000]}"
        return json.loads(line)

    def close(self) -> None:
        self.child.stdin.close()
        assert self.child.wait(20) == 0, "the probe did not end well"


# -- what is compared ---------------------------------------------------------------------------------------------


def without_metadata(obj: dict) -> dict:
    return {k: v for k, v in obj.items() if k != "metadata"}


def causes(status: dict) -> list[tuple[str, str, str]]:
    return sorted((c.get("field", ""), c["reason"], c["message"]) for c in status["details"].get("causes", []))


def server_says(api: Api, method: str, path: str, body: object) -> dict:
    """{"code", "object"}, {"code", "causes"} of a 422, or {"code", "message"}."""
    try:
        return {"code": 200, "object": api.call(method, path, body)}
    except ApiError as error:
        if error.code == 422 and "causes" in error.body.get("details", {}):
            return {"code": 422, "causes": causes(error.body)}
        return {"code": error.code, "message": error.body["message"] if isinstance(error.body, dict) else str(error.body)}


def we_say(answer: dict, kind: str, version: str) -> dict:
    """The probe's answer in the same form; unknown fields are what a strict decoder refuses."""
    prefix = f'{kind} in version "{version}" cannot be handled as a {kind}: '
    if "error" in answer:
        return {"code": 400, "message": prefix + answer["error"]}
    if answer["notes"]:
        return {"code": 400, "message": prefix + "strict decoding error: " + ", ".join(answer["notes"])}
    if answer["errors"]:
        # The server tells a cause once.
        return {"code": 422, "causes": sorted({(e["field"], e["reason"], e["message"]) for e in answer["errors"]})}
    return {"code": 200, "object": answer["object"]}


def differences(server: dict, ours: dict) -> list[str]:
    if server["code"] != ours["code"]:
        return [f"server {server!s:.600}", f"ours   {ours!s:.600}"]
    if server["code"] == 422:
        theirs, our = sorted(set(server["causes"])), ours["causes"]
        only = [c for c in theirs if c not in our], [c for c in our if c not in theirs]
        if len(only[0]) == len(only[1]) == 1:
            return apart(str(only[0][0]), str(only[1][0]))
        return [f"only the server: {c!s:.400}" for c in only[0]] + [f"only ours: {c!s:.400}" for c in only[1]]
    if server["code"] == 400:
        # Of several resources whose metadata cannot be decoded the server names the one it comes upon first, in no order.
        a, b = (o["message"].partition(": Invalid value: ")[2] or o["message"] for o in (server, ours))
        return apart(a, b)
    a, b = (json.dumps(without_metadata(o["object"]), sort_keys=True) for o in (server, ours))
    return apart(a, b)  # whole numbers and floats are told apart


def apart(server: str, ours: str) -> list[str]:
    """Where two texts begin to differ."""
    if server == ours:
        return []
    begin = max(0, len(os.path.commonprefix([server, ours])) - 100)
    return [f"server ...{server[begin:begin + 300]}", f"ours   ...{ours[begin:begin + 300]}"]


class Report:
    """Collects what differs; the first few are shown."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.count = 0

    def add(self, what: object, lines: list[str]) -> None:
        self.count += 1
        if lines:
            self.wrong.append(f"{json.dumps(what):.1200}\n    " + "\n    ".join(lines))

    def end(self, at_least: int) -> None:
        assert not self.wrong, f"{len(self.wrong)} of {self.count} cases differ (seed {SEED}):\n" + "\n".join(self.wrong[:8])
        assert self.count >= at_least, f"only {self.count} cases were compared"


# -- definitions --------------------------------------------------------------------------------------------------


def definition(name: str, schema: object, **more: object) -> dict:
    """A definition of one version, named NAMEs.structural.slipway.dev; `more` are members of the version or of the spec."""
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "structural.slipway.dev", "scope": "Cluster", "names": {"plural": name + "s", "kind": name.capitalize()},
            "versions": [version]}
    for key, value in more.items():
        (spec if key in ("group", "scope", "names", "versions", "conversion", "preserveUnknownFields") else version)[key] = value
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{spec['names'].get('plural')}.{spec['group']}"}, "spec": spec}


def spec_schema(**properties: object) -> dict:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}


def compare_definitions(ctx: Context, cases: list[dict], at_least: int) -> None:
    api, probe, report = ctx.cluster.api, Probe(ctx), Report()
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda crd: server_says(api, "POST", DEFINITIONS + DRY, crd), cases))
    for crd, server in zip(cases, said):
        ours = we_say(probe.ask("define", value=crd), "CustomResourceDefinition", "v1")
        if server["code"] == 200:  # its status is made later
            server["object"].pop("status", None)
            ours.get("object", {}).pop("status", None)
        report.add(crd["spec"] if isinstance(crd.get("spec"), dict) else crd, differences(server, ours))
    report.end(at_least)


def established(ctx: Context, probe: Probe, crd: dict) -> str:
    """Creates it for both; returns the path of its objects when the server serves them."""
    api, spec = ctx.cluster.api, crd["spec"]
    name = crd["metadata"]["name"]
    api.call("POST", DEFINITIONS, crd)
    ctx.undo(lambda: api.delete(f"{DEFINITIONS}/{name}"))
    base = f"/apis/{spec['group']}/{spec['versions'][0]['name']}"
    path = f"{base}/{spec['names']['plural']}"

    def served() -> bool:
        conditions = api.get(f"{DEFINITIONS}/{name}").get("status", {}).get("conditions") or []
        return any(c["type"] == "Established" and c["status"] == "True" for c in conditions) and api.raw("GET", path)[0] == 200

    ctx.wait_for(served, 30, f"{name} to be served", interval=0.02)
    answer = probe.ask("define", value=crd)
    assert not answer.get("errors") and "error" not in answer, answer
    return path


GOOD = spec_schema(size={"type": "integer", "minimum": 0}, name={"type": "string", "default": "x"})


def changed(change, base: dict | None = None) -> dict:
    crd = copy.deepcopy(base or definition("thing", GOOD, subresources={"status": {}}))
    change(crd, crd["spec"], crd["spec"]["versions"][0] if crd["spec"].get("versions") else None)
    return crd


def put(*path: object, value: object):
    """A change that sets what a path leads to."""
    def change(crd: dict, *_: object) -> None:
        at = crd
        for step in path[:-1]:
            at = at[step] if isinstance(step, int) else at.setdefault(step, {})
        at[path[-1]] = value
    return change


def bad_definitions() -> list[dict]:
    out = [changed(lambda *_: None)]
    long = "x" * 70

    def at(*path: object, value: object) -> None:
        out.append(changed(put(*path, value=value)))

    for group in ("", "plain", "Upper.dev", "a..b", "k8s.io", "x.k8s.io", "y.kubernetes.io", "under_score.dev"):
        at("spec", "group", value=group)
    for scope in ("", "Global", "Namespaced"):
        at("spec", "scope", value=scope)
    for names in ({}, {"plural": "things"}, {"kind": "Thing"}, {"plural": "Things", "kind": "thing"},
                  {"plural": "things", "kind": "1Thing"}, {"plural": "things", "kind": "Thing", "listKind": "Thing"},
                  {"plural": "things", "kind": "Thing", "singular": "a.b", "shortNames": ["ok", "No", ""],
                   "categories": ["all", "x_y"]}, {"plural": long + "s", "kind": "K" * 70}):
        at("spec", "names", value=names)
    at("metadata", "name", value="other.structural.slipway.dev")
    at("metadata", "name", value="UPPER")
    at("metadata", "labels", value={"a b": "c d"})
    at("metadata", "annotations", value={"a b": "c"})
    at("metadata", "finalizers", value=["no good", "x"])
    for approval in ("", "unapproved, for a test", "https://github.com/kubernetes/kubernetes/pull/1", "nonsense", "https:///x"):
        out.append(changed(lambda crd, spec, version: (
            spec.update(group="x.k8s.io"), crd["metadata"].update(
                name="things.x.k8s.io", annotations={"api-approved.kubernetes.io": approval}))))
    # versions
    out.append(changed(lambda crd, spec, version: spec.pop("versions")))
    at("spec", "versions", 0, "name", value="V1")
    at("spec", "versions", 0, "name", value="")
    at("spec", "versions", 0, "storage", value=False)
    at("spec", "versions", 0, "served", value=False)
    at("spec", "versions", 0, "schema", value=None)
    at("spec", "versions", 0, "schema", value={})
    at("spec", "versions", 0, "deprecated", value=True)
    for words in ("", "go away", "x" * 257, "tab\there", "zero\u200bwidth", "\u00e4"):
        at("spec", "versions", 0, "deprecationWarning", value=words)
        out.append(changed(lambda crd, spec, version: version.update(deprecated=True, deprecationWarning=words)))
    second = {"name": "v2", "served": True, "storage": False, "schema": {"openAPIV3Schema": GOOD}}
    for other in (second, {**second, "storage": True}, {**second, "name": "v1"}, {**second, "subresources": {}},
                  {**second, "subresources": {"status": {}}}, {**second, "schema": {"openAPIV3Schema": {"type": "string"}}},
                  {**second, "schema": None}, {**second, "additionalPrinterColumns": [{"name": "", "type": "", "jsonPath": "x"}]},
                  {**second, "selectableFields": [{"jsonPath": ".spec.name"}]},
                  {**second, "schema": {"openAPIV3Schema": {"type": "object"}}, "selectableFields": [{"jsonPath": ".spec.name"}]}):
        out.append(changed(lambda crd, spec, version: spec["versions"].append(other)))
    # subresources, columns, selectable fields
    for scale in ({}, {"specReplicasPath": ".spec.size"}, {"specReplicasPath": "spec.size", "statusReplicasPath": ".spec.size"},
                  {"specReplicasPath": ".status.size", "statusReplicasPath": ".status.n", "labelSelectorPath": "x"},
                  {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.n", "labelSelectorPath": ".metadata.x"},
                  {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.sel"}):
        at("spec", "versions", 0, "subresources", value={"scale": scale})
    for column in ({}, {"name": "A"}, {"name": "A", "type": "text", "jsonPath": ".spec"},
                   {"name": "A", "type": "string", "jsonPath": "spec", "format": "uuid"},
                   {"name": "A", "type": "date", "jsonPath": ".metadata.creationTimestamp", "format": "date-time", "priority": 1},
                   {"name": "A", "type": "string", "jsonPath": "."}):
        at("spec", "versions", 0, "additionalPrinterColumns", value=[column])
    for fields in ([""], [".spec.name", ".spec.size"], [".spec.name", ".spec.name"], ["spec.name"], [".spec"], [".spec.none"],
                   [".metadata.name"], [".spec['name']"], [".spec.name["], ["."], [".spec."], [".spec.name.x"],
                   [".spec.f%d" % i for i in range(9)]):
        out.append(changed(lambda crd, spec, version: version.update(
            selectableFields=[{"jsonPath": f} for f in fields],
            schema={"openAPIV3Schema": spec_schema(name={"type": "string"}, size={"type": "integer"},
                                                   **{f"f{i}": {"type": "boolean"} for i in range(9)})})))
    # conversion, preserveUnknownFields
    at("spec", "conversion", value={})
    at("spec", "conversion", value={"strategy": "Magic"})
    at("spec", "conversion", value={"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"],
                                                                    "clientConfig": {"url": "https://x.y/z"}}})
    at("spec", "preserveUnknownFields", value=True)
    at("spec", "preserveUnknownFields", value=False)
    # what decoding refuses or drops
    at("spec", "unknown", value=1)
    at("spec", "versions", 0, "schema", "openAPIV3Schema", "nonsense", value=1)
    return out


@limit(180)
def test_definitions(ctx: Context) -> None:
    """Each with one thing wrong."""
    compare_definitions(ctx, bad_definitions(), 90)


def odd_schemas() -> list[dict]:
    """Schemas of one property that are wrong, or nearly."""
    leaf = {"type": "string"}
    thing = {"type": "object", "properties": {"k": leaf, "n": {"type": "integer"}, "o": {"type": "object"}}, "required": ["k"]}
    out: list[dict] = [
        {}, {"type": ""}, {"type": "null"}, {"type": "text"}, {"type": "array"},
        {"type": "array", "items": [leaf, leaf]}, {"type": "array", "items": {}}, {"type": "object", "items": leaf},
        {"type": "string", "id": "x"}, {"type": "string", "$schema": "x"}, {"type": "string", "$ref": "#/x"},
        {"type": "string", "$ref": ""}, {"type": "object", "patternProperties": {"x": leaf}},
        {"type": "object", "dependencies": {"x": ["y"]}}, {"type": "object", "dependencies": {"x": leaf}},
        {"type": "array", "items": leaf, "additionalItems": True},
        {"type": "array", "items": leaf, "additionalItems": False}, {"type": "object", "definitions": {"x": {"type": "null"}}},
        {"type": "array", "items": leaf, "uniqueItems": True}, {"type": "string", "format": "nonsense"},
        {"type": "integer", "format": "date"}, {"type": "string", "description": "d", "title": "t", "example": 1},
        {"type": "string", "externalDocs": {"url": "u", "description": "d"}},
        {"x-kubernetes-preserve-unknown-fields": True}, {"type": "object", "x-kubernetes-preserve-unknown-fields": False},
        {"x-kubernetes-int-or-string": True}, {"type": "string", "x-kubernetes-int-or-string": True},
        {"x-kubernetes-int-or-string": True, "x-kubernetes-preserve-unknown-fields": True},
        {"x-kubernetes-int-or-string": True, "x-kubernetes-embedded-resource": True},
        {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "string"}, {"type": "integer"}]},
        {"x-kubernetes-int-or-string": True, "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"pattern": "x"}]},
        {"type": "string", "anyOf": [{"type": "integer"}, {"type": "string"}]},
        {"x-kubernetes-embedded-resource": True}, {"type": "object", "x-kubernetes-embedded-resource": True},
        {"type": "string", "x-kubernetes-embedded-resource": True},
        {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
        {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": {"type": "object"}}},
        {"type": "object", "x-kubernetes-embedded-resource": True, "additionalProperties": leaf},
        {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {
            "kind": {"type": "integer"}, "apiVersion": {"type": "object"}, "metadata": {"type": "string"}}},
        {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {
            "metadata": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}}},
        {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"metadata": {
            "type": "object", "properties": {"labels": {"type": "object", "additionalProperties": {
                "type": "string", "default": "x"}}, "name": {"type": "string", "default": "a b"}}}}},
        {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"metadata": {
            "type": "object", "properties": {"name": {"type": "string", "default": "good"}}}}},
        {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"kind": {"type": "string", "default": "a b"}}},
        {"type": "object", "additionalProperties": True}, {"type": "object", "additionalProperties": False},
        {"type": "object", "additionalProperties": leaf}, {"type": "object", "additionalProperties": {}},
        {"type": "object", "properties": {"a": leaf}, "additionalProperties": leaf},
        {"type": "object", "properties": {"a": leaf}, "additionalProperties": True},
        {"type": "object", "properties": {"a": leaf}, "additionalProperties": False},
        # nested
        {"type": "object", "properties": {"a": leaf}, "anyOf": [{"required": ["a"]}, {"properties": {"b": {"pattern": "x"}}}]},
        {"type": "object", "allOf": [{"properties": {"a": {}}, "items": {"minLength": 1}}]},
        {"type": "array", "items": leaf, "oneOf": [{"items": {"minLength": 1}}, {"items": {"properties": {"z": {}}}}]},
        {"type": "string", "not": {"type": "string", "default": "x", "title": "t", "description": "d", "nullable": True,
                                   "x-kubernetes-preserve-unknown-fields": True, "x-kubernetes-embedded-resource": True,
                                   "x-kubernetes-int-or-string": True, "x-kubernetes-list-map-keys": ["a"],
                                   "x-kubernetes-list-type": "set", "x-kubernetes-map-type": "atomic",
                                   "x-kubernetes-validations": [{"rule": "true"}], "additionalProperties": {"type": "string"},
                                   "properties": {"metadata": {}}}},
        {"type": "object", "properties": {"a": leaf}, "not": {"additionalProperties": False}},
        {"type": "object", "properties": {"a": leaf}, "not": {"additionalProperties": True}},
        # lists
        {"type": "array", "items": leaf, "x-kubernetes-list-type": "set"},
        {"type": "array", "items": leaf, "x-kubernetes-list-type": "bag"},
        {"type": "object", "x-kubernetes-list-type": "set"}, {"x-kubernetes-preserve-unknown-fields": True,
                                                             "x-kubernetes-list-type": "set"},
        {"type": "array", "items": thing, "x-kubernetes-list-type": "set"},
        {"type": "array", "items": {**thing, "x-kubernetes-map-type": "atomic"}, "x-kubernetes-list-type": "set"},
        {"type": "array", "items": {"type": "array", "items": leaf, "x-kubernetes-list-type": "set"}, "x-kubernetes-list-type": "set"},
        {"type": "array", "items": {"type": "array", "items": leaf}, "x-kubernetes-list-type": "set"},
        {"type": "array", "items": {**leaf, "nullable": True}, "x-kubernetes-list-type": "set"},
        {"type": "array", "items": thing, "x-kubernetes-list-type": "map"},
        {"type": "array", "items": leaf, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]},
        {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]},
        {"type": "array", "items": [thing], "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]},
        {"type": "array", "items": thing, "x-kubernetes-list-map-keys": ["k"]},
        {"type": "array", "items": thing, "x-kubernetes-list-type": "set", "x-kubernetes-list-map-keys": ["k"]},
        *({"type": "array", "items": thing, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys}
          for keys in (["k"], ["k", "k"], ["n"], ["o"], ["none"], ["k", "n"])),
        {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
         "items": {"type": "object", "nullable": True, "properties": {"k": {"type": "string", "nullable": True, "default": "x"}}}},
        {"type": "object", "x-kubernetes-map-type": "granular"}, {"type": "object", "x-kubernetes-map-type": "odd"},
        {"type": "string", "x-kubernetes-map-type": "atomic"}, {"x-kubernetes-preserve-unknown-fields": True,
                                                               "x-kubernetes-map-type": "atomic"},
        # defaults
        *({"type": "string", "default": v} for v in ("", "x", 1, None, {}, [])),
        *({"type": "integer", "default": v} for v in (1, 1.0, 1.5, "1", True)),
        {"type": "string", "default": "abc", "maxLength": 2}, {"type": "string", "default": "abc", "pattern": "^x"},
        {"type": "string", "default": "x", "enum": ["a", "b"]}, {"type": "string", "nullable": True, "default": None},
        {"type": "string", "format": "date", "default": "nope"}, {"type": "string", "format": "odd", "default": "x"},
        {"x-kubernetes-int-or-string": True, "default": 1}, {"x-kubernetes-int-or-string": True, "default": "1%"},
        {"x-kubernetes-int-or-string": True, "default": 1.5}, {"x-kubernetes-int-or-string": True, "default": {}},
        {"type": "object", "properties": {"a": leaf}, "default": {}}, {"type": "object", "properties": {"a": leaf}, "default": {"b": 1}},
        {"type": "object", "properties": {"a": leaf}, "default": {"a": 1}}, {"type": "object", "properties": {"a": leaf}, "required": ["a"],
                                                                             "default": {}},
        {"type": "object", "properties": {"a": {"type": "string", "default": "x"}}, "default": {}},
        {"type": "object", "additionalProperties": {"type": "string", "default": "x"}},
        {"type": "array", "items": {"type": "string", "default": "x"}}, {"type": "array", "items": leaf, "default": ["a", 1]},
        {"type": "array", "items": leaf, "default": ["a", "a"], "x-kubernetes-list-type": "set"},
        {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True,
         "default": {"kind": "A", "apiVersion": "v1", "metadata": {"name": "x"}}},
        {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True,
         "default": {"kind": "A b", "apiVersion": "a/b/c", "metadata": {"labels": {"a b": "c"}}}},
        {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True,
         "default": {"kind": 1}},
        {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True,
         "default": {"kind": "A", "apiVersion": "v1", "metadata": {"labels": 1}}},
        {"type": "object", "properties": {"a": leaf}, "anyOf": [{"additionalProperties": False}], "default": {"a": "x"}},
        # CEL rules: their form
        *({"type": "string", "maxLength": 9, "x-kubernetes-validations": [rule]} for rule in (
            {"rule": "true"}, {"rule": ""}, {"rule": " \n"}, {"rule": "true", "message": " "}, {"rule": "true", "message": "a\nb"},
            {"rule": "true\n"}, {"rule": "true &&\ntrue"}, {"rule": "true &&\ntrue", "message": "m"},
            {"rule": "true", "messageExpression": " "}, {"rule": "true", "reason": "FieldValueInvalid"},
            {"rule": "true", "reason": "Odd"}, {"rule": "true", "fieldPath": ".x"}, {"rule": "true", "fieldPath": " "},
            {"rule": "true", "fieldPath": ".a\n"})),
        *({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": leaf}}, "m.n": leaf,
                                            "map": {"type": "object", "additionalProperties": leaf, "maxProperties": 2}},
           "x-kubernetes-validations": [{"rule": "true", "fieldPath": p}]}
          for p in (".a", ".a.b", ".a.c", "a", ".a.", ".", ".map.x", ".map['x']", "['m.n']", ".['a']", "['a'", "['a'.b", "[a]",
                    "['\\a']", "['\\q']", "['a\\'b']", ".a.b.c", ".map.x.y")),
        # patterns
        *({"type": "string", "pattern": p} for p in BAD_PATTERNS),
    ]
    return out


BAD_PATTERNS = ["(", ")", "a)", "(a", "[", "[a", "[]a", "[z-a]", "*", "a**", "a*+", "a{1}{2}", "a{2,1}", "a{1001}", "(a{100}){11}",
                "a{,2}", "a{1", "\\", "\\8", "\\1", "\\q", "\\x", "\\xg", "\\x{", "\\x{110000}", "\\x{}", "\\x4", "\\C", "\\p", "\\pX",
                "\\p{", "\\p{Nope}", "\\p{Old_Italic}", "(?=x)", "(?<=x)", "(?<n>x)", "(?P<n>x)", "(?P<n", "(?P<>x)", "(?P<a b>x)",
                "(?i", "(?z)", "(?i-)", "(?-i)x", "(?i--s)", "(?", "(?:", "[[:foo:]]", "[[:alpha:]]", "[[:^digit:]]", "[[:alpha]",
                "[a-\\d]", "[\\d-z]", "[a-", "x{2}?", "x*?", "x??", "x+?*", "|*", "(|)", "(*)", "^*", "$+", "\\b*", "\\Qa(b\\E)",
                "\\Qx", "\\E", "a\\z", "\\Z", "\\G", "\\K", "\\R", "(?#c)", "(?>x)", "[^]", "[]", "{", "a{", "}", "(?U)x", "(?s).",
                "\\_", "\\-", "\\/", "\\u0041", "\\é", "é+", "\\07", "\\012", "(?i)(?-i)x", "[\\", "[\\x", "[a\\]", "(?i)*", "a(?i)*"]


@limit(240)
def test_schemas_of_definitions(ctx: Context) -> None:
    """Schemas as the type of a property, of list items and of map members, and at the root."""
    cases = []
    for schema in odd_schemas():
        cases.append(definition("thing", spec_schema(it=schema)))
        cases.append(definition("thing", spec_schema(it={"type": "array", "items": schema})))
        cases.append(definition("thing", spec_schema(it={"type": "object", "additionalProperties": schema})))
        root = schema if schema.get("type") else {**schema, "type": "object"}
        cases.append(definition("thing", root))
        cases.append(definition("thing", root, subresources={"status": {}}))
    for metadata in ({}, {"type": "string"}, {"type": "object", "description": "d"}, {"type": "object", "properties": {"labels": {"type": "object"}}},
                     {"type": "object", "properties": {"name": {"type": "string", "maxLength": 3}}},
                     {"type": "object", "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}}},
                     {"type": "object", "properties": {"name": {"type": "string", "default": "x"}}}, {"type": "object", "required": ["name"]}):
        cases.append(definition("thing", {"type": "object", "properties": {"metadata": metadata, "kind": {"type": "string"}}}))
    for root in ({"type": "object", "nullable": True}, {"type": "object", "properties": {"kind": {"type": "integer"}, "apiVersion": {}}}):
        cases.append(definition("thing", root))
    compare_definitions(ctx, cases, 600)


# -- random schemas and objects -----------------------------------------------------------------------------------


class Maker:
    """Structural schemas and values for them, wrong ones among both."""

    NAMES = ["a", "b", "c", "d-e", "f.g", "name"]
    WORDS = ["", "a", "b", "abc", "10.0.0.1", "2026-11-15", "x@y.z", "12345678-1234-1234-1234-123456789abc", "ü", "5m", "a b",
             "-", "true", "1", "aaaaaaaaaaaa"]
    PATTERNS = ["^a", "b$", "^[a-z]+$", "^\\d+$", "^.{2,4}$", "^(a|b)*$", "[^a-c]", "(?i)^ABC$", "^\\S*$"]
    FORMATS = ["date", "date-time", "uuid", "email", "ipv4", "duration", "byte", "uri", "hostname", "odd", "k8s-short-name"]
    NUMBERS = [0, 1, -1, 2, 3, 5, 10, 1.5, -2.5, 1000000, 2147483648, 9007199254740993, 1e21, 0.1, 3.0, 1e6]

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def maybe(self, p: float) -> bool:
        return self.rng.random() < p

    def pick(self, values: list):
        return self.rng.choice(values)

    # schemas: right ones

    def limits(self, type_: str, schema: dict, nested: bool) -> None:
        rng = self.rng
        if type_ == "string":
            if self.maybe(0.3):
                schema["maxLength"] = rng.randint(0, 5)
            if self.maybe(0.3):
                schema["minLength"] = rng.randint(0, 4)
            if self.maybe(0.3):
                schema["pattern"] = self.pick(self.PATTERNS)
            if self.maybe(0.3):
                schema["format"] = self.pick(self.FORMATS)
            if self.maybe(0.15):
                schema["enum"] = rng.sample(self.WORDS, 3)
        elif type_ in ("integer", "number"):
            for key in ("maximum", "minimum", "multipleOf"):
                if self.maybe(0.3):
                    schema[key] = self.pick([0, 1, 2, 2.5, 10, -3, 0.5, 1e6, 5000000000])
            for key in ("exclusiveMaximum", "exclusiveMinimum"):
                if self.maybe(0.3):
                    schema[key] = True
            if self.maybe(0.3):
                schema["format"] = self.pick(["int32", "int64", "float", "double", "odd"])
            if self.maybe(0.15):
                schema["enum"] = rng.sample(self.NUMBERS, 3)
        elif type_ == "array":
            for key in ("minItems", "maxItems"):
                if self.maybe(0.3):
                    schema[key] = rng.randint(0, 3)
        elif type_ == "object":
            for key in ("minProperties", "maxProperties"):
                if self.maybe(0.2):
                    schema[key] = rng.randint(0, 3)
            if self.maybe(0.3):
                schema["required"] = rng.sample(self.NAMES, rng.randint(1, 2))

    def clause(self, schema: dict, depth: int) -> dict:
        """Something about the values of a schema."""
        out: dict = {}
        self.limits(schema.get("type") or self.pick(["string", "integer"]), out, True)
        if schema.get("properties") and self.maybe(0.6):
            name = self.pick(list(schema["properties"]))
            out["properties"] = {name: self.clause(schema["properties"][name], depth + 1)}
        if isinstance(schema.get("items"), dict) and self.maybe(0.5):
            out["items"] = self.clause(schema["items"], depth + 1)
        if depth < 2 and self.maybe(0.15):
            out[self.pick(["anyOf", "oneOf", "allOf"])] = [self.clause(schema, depth + 1) for _ in range(self.rng.randint(1, 3))]
        return out

    def schema(self, depth: int = 0) -> dict:
        rng = self.rng
        if self.maybe(0.06):
            out: dict = {"x-kubernetes-int-or-string": True}
            if self.maybe(0.4):
                out["anyOf"] = [{"type": "integer"}, {"type": "string"}]
            if self.maybe(0.3):
                out["pattern"] = "^\\d+%$"
            if self.maybe(0.2):
                out["maximum"] = 10
            return out
        if self.maybe(0.05):
            return {"x-kubernetes-preserve-unknown-fields": True}
        kinds = ["string", "integer", "number", "boolean"] + (["object", "object", "array", "array", "map"] if depth < 3 else [])
        type_ = self.pick(kinds)
        out = {"type": "object" if type_ == "map" else type_}
        if type_ == "object":
            out["properties"] = {n: self.schema(depth + 1) for n in rng.sample(self.NAMES, rng.randint(1, 4))}
            if self.maybe(0.1):
                out["x-kubernetes-preserve-unknown-fields"] = True
            if self.maybe(0.08):
                out["x-kubernetes-embedded-resource"] = True
        elif type_ == "map":
            out["additionalProperties"] = self.schema(depth + 1) if self.maybe(0.8) else self.maybe(0.6)
        elif type_ == "array":
            out["items"] = self.schema(depth + 1)
            self.list_type(out)
        self.limits(out["type"], out, False)
        if self.maybe(0.2):
            out["nullable"] = True
        if self.maybe(0.2):
            out[self.pick(["anyOf", "oneOf", "allOf"])] = [self.clause(out, 0) for _ in range(rng.randint(1, 3))]
        if self.maybe(0.08):
            out["not"] = self.clause(out, 0)
        if out.get("x-kubernetes-list-type") in ("set", "map"):
            out["items"].pop("nullable", None)
        return out

    def list_type(self, out: dict) -> None:
        items = out["items"]
        choice = self.pick(["", "", "atomic", "set", "map"])
        if choice == "set" and items.get("type") == "object":
            items["x-kubernetes-map-type"] = "atomic"
        if choice == "set" and items.get("type") == "array":
            items.pop("x-kubernetes-list-type", None)
            items.pop("x-kubernetes-list-map-keys", None)
        if choice == "map":
            scalars = [n for n, s in items.get("properties", {}).items() if s.get("type") in ("string", "integer", "boolean")]
            if not scalars:
                return
            keys = scalars[:self.rng.randint(1, 2)]
            items["required"] = sorted(set(items.get("required", [])) | set(keys))
            for key in keys:
                items["properties"][key].pop("nullable", None)
            out["x-kubernetes-list-map-keys"] = keys
        if choice:
            out["x-kubernetes-list-type"] = choice

    # schemas: any

    def broken(self, schema: dict) -> dict:
        """One keyword more or less, somewhere."""
        rng, out = self.rng, copy.deepcopy(schema)
        at = out
        while True:
            inner = [at[k] for k in ("items", "additionalProperties", "not") if isinstance(at.get(k), dict)]
            inner += list(at.get("properties", {}).values())
            inner += [c for k in ("anyOf", "oneOf", "allOf") for c in at.get(k, [])]
            if not inner or self.maybe(0.35):
                break
            at = self.pick(inner)
        extra = self.pick([
            ("type", self.pick(["", "string", "object", "array", "null", "odd"])), ("nullable", True), ("default", self.value_any()),
            ("x-kubernetes-preserve-unknown-fields", self.maybe(0.7)), ("x-kubernetes-embedded-resource", True),
            ("x-kubernetes-int-or-string", True), ("x-kubernetes-list-type", self.pick(["set", "map", "atomic", "odd"])),
            ("x-kubernetes-map-type", self.pick(["atomic", "granular", "odd"])), ("x-kubernetes-list-map-keys", ["a", "name"]),
            ("pattern", self.pick(BAD_PATTERNS)), ("additionalProperties", self.pick([True, False, {"type": "string"}, {}])),
            ("properties", {"metadata": {"type": "object"}, "z": {}}), ("items", self.pick([{}, {"type": "string"}])),
            ("title", "t"), ("description", "d"), ("uniqueItems", True), ("anyOf", [{"type": "integer"}, {"properties": {"q": {}}}]),
            ("not", {"required": ["z"]}), ("format", "odd"), ("id", "x"), ("required", ["z"]), ("definitions", {"x": {}})])
        at[extra[0]] = extra[1]
        if self.maybe(0.3):
            for key in rng.sample(sorted(at), 1):
                del at[key]
        return out

    # values

    def value_any(self, depth: int = 0):
        rng = self.rng
        choice = rng.randrange(9 if depth < 2 else 6)
        if choice < 2:
            return self.pick(self.WORDS)
        if choice < 4:
            return self.pick(self.NUMBERS)
        if choice == 4:
            return self.maybe(0.5)
        if choice == 5:
            return None
        if choice == 6:
            return [self.value_any(depth + 1) for _ in range(rng.randint(0, 3))]
        return {self.pick(self.NAMES + ["zzz"]): self.value_any(depth + 1) for _ in range(rng.randint(0, 3))}

    def value(self, schema: dict, depth: int = 0):
        rng = self.rng
        if self.maybe(0.07):
            return self.value_any()
        if self.maybe(0.04) or (schema.get("nullable") and self.maybe(0.2)):
            return None
        if "enum" in schema and self.maybe(0.6):
            return self.pick(schema["enum"])
        type_ = schema.get("type")
        if schema.get("x-kubernetes-int-or-string"):
            return self.pick([1, "1", "50%", 65, "a"])
        if type_ == "string":
            return self.pick(self.WORDS)
        if type_ == "integer":
            return self.pick([n for n in self.NUMBERS if n == int(n)])
        if type_ == "number":
            return self.pick(self.NUMBERS)
        if type_ == "boolean":
            return self.maybe(0.5)
        if type_ == "array":
            items = [self.value(schema["items"], depth + 1) for _ in range(rng.randint(0, 3))]
            return items + [copy.deepcopy(items[0])] if items and self.maybe(0.3) else items
        if type_ == "object" and "properties" in schema:
            out = {n: self.value(s, depth + 1) for n, s in schema["properties"].items() if self.maybe(0.75)}
            if schema.get("x-kubernetes-embedded-resource") and self.maybe(0.8):
                out |= {"apiVersion": self.pick(["v1", "a/b", "a/b/c", ""]), "kind": self.pick(["Kind", "bad kind", ""]),
                        "metadata": self.pick([{"name": "x"}, {"labels": {"a b": "c"}}, {"name": "UP/", "odd": 1}, None, {"labels": 1}])}
            if self.maybe(0.15):
                out["zzz"] = self.value_any()
            return out
        if type_ == "object" and isinstance(schema.get("additionalProperties"), dict):
            return {n: self.value(schema["additionalProperties"], depth + 1) for n in rng.sample(self.NAMES, rng.randint(0, 3))}
        return self.value_any(depth)

    def with_defaults(self, schema: dict, probe: Probe) -> dict:
        """Adds defaults where a value happens to be good."""
        out = copy.deepcopy(schema)

        def walk(s: dict, name: str) -> None:
            if "default" not in s and self.maybe(0.3) and name not in ("apiVersion", "kind", "metadata"):
                value = self.value(s)
                if value is not None:
                    s["default"] = value
            for key, sub in s.get("properties", {}).items():
                walk(sub, key)
            if isinstance(s.get("items"), dict):
                walk(s["items"], "")

        for _ in range(6):
            trial = copy.deepcopy(out)
            for key, sub in trial.get("properties", {}).items():
                walk(sub, key)
            answer = probe.ask("define", value=definition("trial", spec_schema(it=trial)))
            if not answer.get("errors") and "error" not in answer:
                out = trial
        return out


@limit(300)
def test_random_definitions(ctx: Context) -> None:
    maker, cases = Maker(random.Random(SEED)), []
    for number in range(700):
        schema = maker.schema()
        for _ in range(number % 3):
            schema = maker.broken(schema)
        more = {"subresources": {"status": {}}} if number % 5 == 0 else {}
        cases.append(definition("thing", spec_schema(it=schema) if number % 7 else schema, **more))
    compare_definitions(ctx, cases, 700)


def compare_objects(ctx: Context, probe: Probe, path: str, kind: str, specs: list[object], report: Report, key: str = "spec") -> None:
    api = ctx.cluster.api
    version = "structural.slipway.dev/v1"
    objects = [{"apiVersion": version, "kind": kind, "metadata": {"name": "it"}, key: spec} for spec in specs]
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda o: server_says(api, "POST", path + DRY, o), objects))
    for obj, server in zip(objects, said):
        answer = probe.ask("create", version="v1", value=obj)
        ours = we_say(answer, kind, "v1")
        report.add(obj[key], differences(server, ours))
        # What a strict decoder refuses others drop.
        if server["code"] == 400 and answer.get("notes"):
            loose = server_says(api, "POST", path + "?dryRun=All&fieldValidation=Ignore", obj)
            report.add(obj[key], differences(loose, we_say({**answer, "notes": []}, kind, "v1")))


@limit(400)
def test_random_objects(ctx: Context) -> None:
    rng, probe, report = random.Random(SEED), Probe(ctx), Report()
    maker = Maker(rng)
    for number in range(5):
        schemas: dict[str, dict] = {}
        while len(schemas) < 24:
            schema = maker.with_defaults(maker.schema(), probe)
            crd = definition("trial", spec_schema(it=schema))
            answer = probe.ask("define", value=crd)
            if not answer.get("errors") and "error" not in answer:
                schemas[f"p{len(schemas)}"] = schema
        kind = f"Rnd{string.ascii_lowercase[number]}"
        crd = definition(kind.lower(), spec_schema(**schemas))
        try:
            path = established(ctx, probe, crd)
        except ApiError as error:
            raise AssertionError(f"the server refuses what we accept (seed {SEED}): {error} {json.dumps(crd)}") from error
        specs: list[object] = []
        for name, schema in schemas.items():
            specs += [{name: maker.value(schema)} for _ in range(10)]
        specs += [maker.value_any() for _ in range(5)]
        compare_objects(ctx, probe, path, kind, specs, report)
    report.end(1200)


# -- texts: formats and patterns ----------------------------------------------------------------------------------

FORMATS = ["bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5", "isbn",
           "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "password", "date", "duration", "datetime",
           "date-time", "k8s-short-name", "k8s-long-name", "odd", "int32"]
TEXTS = [
    "", " ", "a", "x", "507f1f77bcf86cd799439011", "507F1F77BCF86CD79943901Z",
    # uri
    "/", "*", "/a?b", "http://a", "http://a/b?c#d", "http:", "http://", "mailto:a@b", ":x", "1http://a", "a/b", "?x", "http://a b", "http://a/%zz",
    "http://a/%41", "http://[::1]:80/x", "http://[::1", "http://[1.2.3.4]/", "http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/",
    "http://a:b/", "http://a:80:90/", "x://a:80:90/", "x://a,b:1,c:2/", "http://u:p@h/", "http://u@v@h/", "http://u p@h/", "http://a%41b/",
    "http://ä/", "http://a\\b/", "http://%e4/", "http://%41/", "//a/b", "x:///a", "http://a\tb", "http://a:/", "http://]/", "http://a[b]/",
    # mail
    "a@b", "a.b@c.d", ".a@b", "a.@b", "a..b@c", "\"a b\"@c", "\"\"@c", "A <a@b>", "A B <a@b>", "\"A, B\" <a@b>", "<a@b>", "A. B <a@b>",
    "a@[1.2.3.4]", "a@[::1]", "a@[x]", "a@b (c)", "a@b (c", "a@b (c(d))", "a@b, c@d", "g: a@b;", "g:;", "g: a@b, c@d;", " a@b ", "a @b", "a@ b",
    "ä@ö", "a@b c", "a@", "@b", "a", "(c) a@b", "a(c)@b", "A (x) B <a@b>", "A <a@b> (c)", "\"a\\\"b\"@c", "a@b.", "A <a@b", "a<b@c>", "a,b@c",
    # hosts
    "localhost", "a-b", "ab-c", "a-", "-a", "a.b", "a.bc", "a-b.com", "a_b.com", "a.b.c.example", "1.2", "1.com", "x" * 63, "x" * 64, "x" * 65,
    "x" * 63 + ".com", "x" * 64 + ".com", "a..com", "a.com.", "ä", "ä.com", "a.ä", "a.öö", "☃.net", "a☃", "$a", "a." + "b" * 64, "x-y" * 21,
    "a.b" * 90, "A.COM", "a.c-m", "a-.com", "-.com",
    # addresses
    "1.2.3.4", "01.2.3.4", "1.2.3.256", "1.2.3", "1.2.3.4.5", "::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::",
    "::2:3:4:5:6:7:8", "1::2::3", ":1", "1:", "::ffff:1.2.3.4", "::ffff:01.2.3.4", "::1.2.3.4.5", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4",
    "12345::", "g::", "fe80::1%eth0", "FE80::A", "1.2.3.4/8", "1.2.3.4/33", "1.2.3.4/", "::/0", "::/128", "::/129", "1.2.3/8", "01.2.3.4/8", "1.2.3.4/08",
    "1.2.3.4/+8", "/8", "::1/64x", "01:23:45:67:89:ab", "01-23-45-67-89-AB", "0123.4567.89ab", "0123456789ab", "01:23:45:67:89", "01:23:45:67:89:ab:cd:ef",
    "01:23-45:67:89:ab", "0123.4567.89ab.cdef", "0123456789abc", "01:23:45:67:89:ag", "01:23:45:67:89:ab:", "0123.4567.89a",
    # ids
    "12345678-1234-1234-1234-123456789abc", "123456781234123412341234567890AB", "12345678-1234-3234-1234-123456789abc",
    "12345678-1234-4234-8234-123456789abc", "12345678-1234-4234-C234-123456789abc", "12345678-1234-5234-B234-123456789ABC", "12345678-1234-1234-1234-123456789ab",
    "0321751043", "032-175104 3", "0321751044", "097522980X", "097522980x", "978-0321751041", "9780321751041", "9780321751042", "4111111111111111",
    "4111 1111 1111 1111", "4111111111111112", "378282246310005", "6011111111111117", "5105105105105100", "30569309025904", "3530111333300000",
    "213112345678901", "123-45-6789", "123 45 6789", "123456789", "123-456789", "12-345-6789", "#fff", "#FFFFFF", "fff", "ffff", "#ggg", "rgb(0,0,0)",
    "rgb( 255 , 1,2 )", "rgb(256,0,0)", "rgb(01,0,0)", "rgb(0,0)", "RGB(0,0,0)", "YQ==", "YWI=", "YWJj", "YQ", "YQ=", "Y Q==", "YWJj\n", "Y-_=",
    # times
    "2026-11-15", "2024-02-29", "2025-02-29", "2026-13-01", "2026-00-01", "2026-11-31", "26-11-15", "2026-1-5", "2026-11-15 ", "2026/11/15",
    "2026-11-15T10:00:00Z", "2026-11-15t10:00:00z", "2026-11-15T10:00:00", "2026-11-15T10:00:00.5Z", "2026-11-15T10:00:00x5Z", "2026-11-15T10:00:00+05:00",
    "2026-11-15T10:00:00-0500", "2026-11-15T24:00:00Z", "2026-11-15T10:60:00Z", "2026-11-15T10:00:60Z", "2026-11-15T10:00:00+99:99", "2026-11-15 10:00:00Z",
    "2026-11-15T10:00:00.Z", "2026-11-15T10:00:00ZT", "2026-11-15T10:00:00Ztx", "T10:00:00Z", "2026-11-15T", "2026-02-30T10:00:00Z", "2026-11-15T10:00:00é5Z",
    "5m", "1h30m", "1.5h", "-1h", "+1h", "0", "-0", "1", "1d", "1 day", "5 seconds", "five", "1hour", "3 weeks ago", "10 ns", "10µs", "10μs", "1us", "1e3s", ".5s",
    "1.s", ".s", "1h1", "99999999999h", "9223372036854775807ns", "9223372036854775808ns", "-9223372036854775808ns", "99999999999999999999 s", "1m1M", "1 Mo", "2 mins",
    "1hr", "1hrs", "1 wk", "1 wks", "1 NANO", "1 secs", "x1s", "1\ts", "5 milliseconds",
    # names
    "a-b-c", "a.b-c.d", "A", "a_b", "a.-b", "a..b", "a" * 253, "a" * 254, ".a", "a.",
]


@limit(180)
def test_formats(ctx: Context) -> None:
    """Every format with every text."""
    probe, report = Probe(ctx), Report()
    schema = spec_schema(**{f"f{i}": {"type": "string", "format": f} for i, f in enumerate(FORMATS)})
    path = established(ctx, probe, definition("format", schema))
    compare_objects(ctx, probe, path, "Format", [{f"f{i}": text for i in range(len(FORMATS))} for text in TEXTS], report)
    report.end(290)


PATTERNS = ["", "a", "^a$", "^$", "a|b", "^(a|b)$", "(?i)abc", "(?i)k", "(?i)ſ", "(?i)É", "[a-c]", "[^a-c]", "^[^a]$", ".", "^.$", "(?s)^.$", "a.c", "a*", "^a*$",
            "^a+$", "^a?$", "^a{2}$", "^a{2,}$", "^a{2,3}$", "^a{0,2}$", "^(ab){2}$", "^(a{2}){2}$", "\\d", "^\\D+$", "^\\w+$", "\\W", "\\s", "^\\S+$", "\\bfoo\\b", "\\Boo",
            "^foo", "(?m)^foo", "foo$", "(?m)foo$", "\\Afoo\\z", "[[:alpha:]]", "^[[:^digit:]]+$", "[[:punct:]]", "\\p{L}", "^\\p{Lu}", "\\pN", "\\p{Greek}",
            "^\\P{L}+$", "\\p{^L}", "(?i)\\p{Lu}", "[\\p{Greek}\\d]", "\\x41", "\\x{1F600}", "\\101", "\\Qa.b\\E", "^a\\.b$", "(?P<x>a)b", "(?:ab)+", "a(?i)b", "(?i:a)b",
            "^(a|ab)(c|bcd)$", "(a*)*b", "(a|aa)+$", "^(?U)a+$", "a$b", "^^a$$", "x*", "()", "(|a)b", "[a\\]b]", "[]a]", "[a-]", "[-a]", "[\\d-x]", "^[\\w.-]+@[\\w-]+$",
            "^([0-9a-f]{2}:){5}[0-9a-f]{2}$", "^(25[0-5]|2[0-4]\\d|1?\\d?\\d)(\\.(25[0-5]|2[0-4]\\d|1?\\d?\\d)){3}$", "\\t", "\\n", "[^\\n]", "é", "^é$", "[à-ü]", "(?i)[à-ü]",
            "^[\\x00-\\x7f]*$", "\\v", "\\a", "{", "a{,2}", "a{x}", "^(((a)))$", "(?i)straße", "^\\PL", "[[:word:]]+", "\\p{Han}", "(?i)[^k]", "^a|b$", "(^a|b$)c?"]
MATCHED = ["", "a", "b", "c", "ab", "abc", "ABC", "aBc", "aa", "aaa", "aaaa", "ba", "abab", "a\nb", "\n", "a.b", "axb", "foo", " foo ", "foo\nbar", "bar\nfoo", "food", "1", "12",
           "a1", "_", "-", "k", "K", "\u212a", "s", "ſ", "S", "é", "É", "e\u0301", "α", "Ω", "ω", "\U0001F600", "漢字", "Ǆ", "ß", "a@b", "a-b@c", "00:11:22:33:44:55", "10.0.0.1",
           "10.0.0.256", "\t", "\v", "\a", "a{,2}", "{", "a{x}", "]", "[", "ac", "abcd", "abbcd", "x" * 300, "STRASSE", "straße"]


@limit(180)
def test_patterns(ctx: Context) -> None:
    """Every pattern with every text."""
    probe, report = Probe(ctx), Report()
    schema = spec_schema(**{f"p{i}": {"type": "string", "pattern": p} for i, p in enumerate(PATTERNS)})
    path = established(ctx, probe, definition("pattern", schema))
    compare_objects(ctx, probe, path, "Pattern", [{f"p{i}": text for i in range(len(PATTERNS))} for text in MATCHED], report)
    report.end(50)


# -- objects: what is not their spec ------------------------------------------------------------------------------


SCALED = {"type": "object", "properties": {
    "spec": {"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string", "maxLength": 3}, "any": {
        "x-kubernetes-preserve-unknown-fields": True}, "list": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {
                "type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "string", "maxLength": 3}}}},
        "plain": {"type": "array", "items": {"type": "string", "maxLength": 3}},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}},
    "status": {"type": "object", "properties": {"n": {"type": "integer", "maximum": 100}, "sel": {"type": "string"}, "any": {
        "x-kubernetes-preserve-unknown-fields": True}, "d": {"type": "string", "default": "here"}}}}}
SUBRESOURCES = {"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.sel"}}


@limit(120)
def test_metadata_and_type(ctx: Context) -> None:
    """Names, labels, namespaces, kinds: what is around a spec."""
    probe, report, api = Probe(ctx), Report(), ctx.cluster.api
    version = "structural.slipway.dev/v1"
    for scope in ("Cluster", "Namespaced"):
        kind = f"Meta{scope.lower()}"
        path = established(ctx, probe, definition(kind.lower(), SCALED, scope=scope, subresources=SUBRESOURCES))
        inside = scope == "Namespaced"
        if inside:
            path = path.replace("/v1/", "/v1/namespaces/default/")
        metas = [{"name": n} for n in ("a", "a.b", "A", "a_b", "a/b", "-a", "a-", "x" * 253, "x" * 254)]
        metas += [{"name": "a", **m} for m in (
            {"labels": {"a": "b"}}, {"labels": {"a b": "c d"}}, {"labels": {"": "x"}}, {"labels": {"x/y/z": "1"}}, {"annotations": {"A/B": "x", "no good": ""}},
            {"annotations": {"big": "x" * 262144}}, {"finalizers": ["a b"]}, {"finalizers": ["x.y/z"]}, {"finalizers": ["orphan", "foregroundDeletion"]},
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "1"}]}, {"ownerReferences": [{"apiVersion": "", "kind": "", "name": "", "uid": ""}]},
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "x", "uid": "1"}]},
            {"ownerReferences": [{"apiVersion": "v1", "kind": "A", "name": n, "uid": "1", "controller": True} for n in "xy"]},
            {"odd": 1}, {"labels": {"a": None}}, {"labels": {"a": 1}}, {"labels": []}, {"generation": 5}, {"generateName": "Bad_"}, {"generateName": "good-"}, {"name": 5},
            {"creationTimestamp": None}, {"creationTimestamp": "x"}, {"managedFields": []})]
        if inside:
            for m in metas:
                m["namespace"] = "default"
        for meta in metas:
            obj = {"apiVersion": version, "kind": kind, "metadata": meta, "spec": {"n": 1}}
            server = server_says(api, "POST", path + DRY, obj)
            ours = we_say(probe.ask("create", version="v1", value=obj), kind, "v1")
            if server["code"] == 200 and ours["code"] == 200:
                for side in (server, ours):
                    meta_of = side["object"]["metadata"]
                    side["object"] = {"meta": {k: meta_of.get(k) for k in ("labels", "annotations", "finalizers", "ownerReferences", "generation", "odd")}}
            report.add(meta, differences(server, ours))
        for rest in ({"spec": {}, "status": {"n": 1}}, {"spec": {"n": "x"}}, {"spec": {"n": -1}}, {"spec": {"n": 3000000000}}, {"spec": {"n": 1.0}}, {"spec": {"n": 1.5}}, {"spec": 5},
                     {"spec": None}, {}, {"spec": [1]}, {"status": 5}, {"extra": 1}, {"spec": {"n": None}}):
            obj = {"apiVersion": version, "kind": kind, "metadata": {"name": "a", **({"namespace": "default"} if inside else {})}, **rest}
            server = server_says(api, "POST", path + DRY, obj)
            report.add(obj, differences(server, we_say(probe.ask("create", version="v1", value=obj), kind, "v1")))
    report.end(60)


@limit(180)
def test_updates(ctx: Context) -> None:
    """Status and spec apart, generations, and what was wrong before."""
    api, probe, report = ctx.cluster.api, Probe(ctx), Report()
    loose = copy.deepcopy(SCALED)
    text = json.dumps(loose).replace('"maxLength": 3', '"maxLength": 300').replace(', "x-kubernetes-list-type": "set"', "").replace('"maximum": 100', '"maximum": 100000')
    crd = definition("update", json.loads(text), subresources=SUBRESOURCES)
    path = established(ctx, probe, crd)
    version, kind = "structural.slipway.dev/v1", "Update"
    spec = {"n": 1, "s": "too long", "list": [{"k": "a", "v": "too long"}, {"k": "b", "v": "ok"}], "plain": ["too long", "ok"], "set": ["x", "x"]}
    created = api.call("POST", path, {"apiVersion": version, "kind": kind, "metadata": {"name": "it"}, "spec": spec})
    assert "status" in created and created["status"] == {"d": "here"} or "status" not in created, created
    created["status"] = {"n": 5000, "sel": "a=b"}
    old = api.call("PUT", f"{path}/it/status", created)
    # Now with the strict schema, which the object breaks in many places.
    strict = api.get(f"{DEFINITIONS}/{crd['metadata']['name']}")
    strict["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = SCALED
    before = api.get(f"{DEFINITIONS}/{crd['metadata']['name']}")
    answer = probe.ask("define", value=strict, old=before)
    assert not answer["errors"], answer
    api.call("PUT", f"{DEFINITIONS}/{crd['metadata']['name']}", strict)
    bad = {**old, "spec": {**spec, "plain": ["another that is too long"]}}
    ctx.wait_for(lambda: server_says(api, "PUT", f"{path}/it{DRY}", bad)["code"] == 422, 30, "the new schema to be used")

    def changes() -> list[tuple[str, dict]]:
        def with_spec(**more: object) -> dict:
            return {**old, "spec": {**old["spec"], **more}}

        def with_status(**more: object) -> dict:
            return {**old, "status": {**old["status"], **more}}

        rng, out = random.Random(SEED), []
        out += [("", o) for o in (
            old, with_spec(n=2), with_spec(s="another"), with_spec(s="ok"), with_spec(n=-1), with_spec(n="x"), with_spec(any={"a": 1}),
            with_spec(list=[{"k": "b", "v": "ok"}, {"k": "a", "v": "too long"}]), with_spec(list=[{"k": "a", "v": "too long"}]),
            with_spec(list=[{"k": "a", "v": "other wrong"}]), with_spec(list=[{"k": "c", "v": "too long"}]), with_spec(list=[{"k": "a", "v": "too long"}, {"k": "a", "v": "x"}]),
            with_spec(plain=["too long", "ok", "x"]), with_spec(plain=["ok"]), with_spec(set=["x", "x", "y"]), with_spec(set=["a", "a"]), with_spec(set=["a"]), with_spec(odd=1),
            {k: v for k, v in old.items() if k != "spec"}, {k: v for k, v in old.items() if k != "status"}, with_status(n=1), with_status(n="x"),
            {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}}, {**old, "metadata": {**old["metadata"], "labels": {"a b": "c"}}},
            {**old, "metadata": {**old["metadata"], "generation": 77}}, {**old, "metadata": {**old["metadata"], "finalizers": ["x", "a.b"]}},
            {**old, "metadata": {**old["metadata"], "uid": "other"}}, {**old, "spec": None}, {**old, "spec": "x"}, with_spec(n=1.0), with_spec(s=None),
            {**old, "spec": {"s": {"s": "too long"}}}, with_spec(any={"s": "too long", "n": "x"}))]
        out += [("status", o) for o in (
            old, with_status(n=1), with_status(n=101), with_status(n=5000, sel="x"), with_status(n="x"), with_status(sel=5), with_status(d=None), with_status(d="other"),
            with_status(odd=1), {k: v for k, v in old.items() if k != "status"}, {**old, "status": None}, {**old, "status": "x"}, {**old, "status": {}},
            {**with_status(n=2), "spec": {"n": 99}}, {**with_status(n=2), "spec": {"s": "ignored too long"}}, {**with_status(n=3), "metadata": {**old["metadata"], "labels": {"l": "x"}}},
            with_status(n=-1), with_status(any={"deep": [1, {"x": None}]}))]
        maker = Maker(rng)
        for _ in range(150):
            section = rng.choice(["spec", "status"])
            schema = SCALED["properties"][section]
            value = maker.value(schema)
            if isinstance(value, dict) and rng.random() < 0.8:
                value = {**old[section], **value}
            out.append((rng.choice(["", "status"]), {**old, section: value}))
        return out

    for sub, obj in changes():
        target = f"{path}/it/status" if sub else f"{path}/it"
        server = server_says(api, "PUT", target + DRY, obj)
        answer = probe.ask("update", version="v1", value=obj, old=old, **({"sub": "status"} if sub else {}))
        ours = we_say(answer, kind, "v1")
        if server["code"] == 409 and "UID" in server.get("message", ""):
            continue  # another layer's
        for side in (server, ours):
            if side["code"] == 200:
                side["object"]["generation"] = side["object"]["metadata"]["generation"]
                side["object"]["labels"] = side["object"]["metadata"].get("labels")
        report.add([sub, {k: obj.get(k) for k in ("spec", "status", "metadata")}], differences(server, ours))
    report.end(190)


def test_scale(ctx: Context) -> None:
    """Through /scale and back: what our paths find in the same object."""
    api, probe = ctx.cluster.api, Probe(ctx)
    path = established(ctx, probe, definition("scale", SCALED, subresources=SUBRESOURCES))
    obj = api.call("POST", path, {"apiVersion": "structural.slipway.dev/v1", "kind": "Scale", "metadata": {"name": "it"}, "spec": {"n": 3}})
    obj["status"] = {"n": 2, "sel": "app=x"}
    obj = api.call("PUT", f"{path}/it/status", obj)
    seen = api.get(f"{path}/it/scale")
    for key, where in ((".spec.n", seen["spec"]["replicas"]), (".status.n", seen["status"]["replicas"]), (".status.sel", seen["status"]["selector"])):
        assert probe.ask("path", path=key, value=obj) == {"found": where}
    seen["spec"]["replicas"] = 7
    api.call("PUT", f"{path}/it/scale", seen)
    assert api.get(f"{path}/it")["spec"]["n"] == 7 and api.get(f"{path}/it")["metadata"]["generation"] == 2


PATHS = [".spec.n", ".spec", ".", ".metadata.name", ".metadata.labels.a\\.b/c", ".metadata.labels['a.b/c']", ".spec.any.list[0]", ".spec.any.list[-1]", ".spec.any.list[5]",
         ".spec.any.list[*].k", ".spec.any.list[?(@.k==\"b\")].v", ".spec.any.list[?(@.v>1)].k", ".spec.any.list[?(@.v<=1)].k", ".spec.any.list[?(@.x)].k", ".spec.any.list[1:2].k",
         ".spec.any.list[0:].k", ".spec.any.none", ".spec.any.none.deeper", ".spec.any.text.x", ".spec.any.bool", ".spec.any.list[?(@.k!=\"a\")].k", ".spec.any.null", ".spec.any.map.*",
         ".spec.any.list[?(@.k=='b')].v", ".spec['any']['text']", ".spec.any.list[?(@.deep.er==true)].k", ".spec.any.float", ".spec.any.list[?(@.v==\"2\")].k", ".spec.any.text[0]",
         ".spec.any.map[?(@.a==1)]", ".spec.any.list[0].deep.er", ".spec.any.list[::2].k"]


def test_paths(ctx: Context) -> None:
    """The server follows the paths of its printer columns; we must find the same."""
    api, probe = ctx.cluster.api, Probe(ctx)
    crd = definition("path", SCALED, additionalPrinterColumns=[
        {"name": f"C{i}{t}", "type": t, "jsonPath": p} for i, p in enumerate(PATHS) for t in ("integer", "number", "boolean")])
    path = established(ctx, probe, crd)
    api.call("POST", path, {"apiVersion": "structural.slipway.dev/v1", "kind": "Path", "metadata": {"name": "it", "labels": {"a.b/c": "x"}}, "spec": {"n": 4, "any": {
        "list": [{"k": "a", "v": 1, "deep": {"er": True}}, {"k": "b", "v": 2, "x": 0}, {"k": "c", "v": 3}], "text": "t", "bool": True, "null": None, "map": {"a": 1}, "float": 2.5}}})
    obj = api.get(f"{path}/it")
    table = json.loads(api.raw("GET", f"{path}/it", accept="application/json;as=Table;v=v1;g=meta.k8s.io")[1])
    cells = iter(table["rows"][0]["cells"][1:])
    wrong = []
    for p in PATHS:
        integer, number, boolean = next(cells), next(cells), next(cells)
        found = probe.ask("path", path=p, value=obj).get("found")
        is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
        ours = (int(found) if is_number else None, found if is_number else None, found if isinstance(found, bool) else None)
        if ours != (integer, number, boolean):
            wrong.append(f"{p}: server {(integer, number, boolean)}, ours {found!r}")
    assert not wrong, "\n".join(wrong)


def test_status_of_definitions(ctx: Context) -> None:
    """Defaults, names and conditions as the server's controllers leave them."""
    api, probe, report = ctx.cluster.api, Probe(ctx), Report()
    cases = [definition("one", GOOD), definition("two", GOOD, names={"plural": "twos", "singular": "second", "kind": "Second", "listKind": "Seconds", "shortNames": ["se"],
                                                                     "categories": ["all"]}),
             definition("three", GOOD, deprecated=True, deprecationWarning="go", subresources=SUBRESOURCES,
                        selectableFields=[{"jsonPath": ".spec.name"}])]
    protected = definition("four", GOOD, group="structural.k8s.io")
    protected["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}
    cases.append(protected)
    for crd in cases:
        established(ctx, probe, crd)

        def settled() -> dict | None:
            got = api.get(f"{DEFINITIONS}/{crd['metadata']['name']}")
            return got if "k8s.io" not in crd["spec"]["group"] or len(got["status"]["conditions"]) == 3 else None

        server, ours = ctx.wait_for(settled, 20, "conditions"), probe.ask("define", value=crd)["object"]
        for side in (server, ours):
            side["status"]["conditions"] = sorted(({k: v for k, v in c.items() if k != "lastTransitionTime"} for c in side["status"]["conditions"]),
                                                  key=lambda c: c["type"])
        report.add(crd["spec"], differences({"code": 200, "object": server}, {"code": 200, "object": ours}))
    report.end(4)


def test_updates_of_definitions(ctx: Context) -> None:
    """What may change once it is established."""
    api, probe, report = ctx.cluster.api, Probe(ctx), Report()
    crd = definition("mutable", GOOD)
    established(ctx, probe, crd)
    name = crd["metadata"]["name"]
    old = api.get(f"{DEFINITIONS}/{name}")
    second = {"name": "v2", "served": True, "storage": False, "schema": {"openAPIV3Schema": GOOD}}
    changes = [put("spec", "scope", value="Namespaced"), put("spec", "group", value="other.slipway.dev"), put("spec", "names", "kind", value="Other"),
               put("spec", "names", "plural", value="others"), put("spec", "names", "shortNames", value=["mu"]), put("spec", "names", "singular", value="mut"),
               lambda c, spec, version: spec["versions"].append(second), lambda c, spec, version: (spec["versions"].append({**second, "storage": True}), version.update(storage=False)),
               lambda c, spec, version: version.update(name="v3"), lambda c, spec, version: version.update(schema={"openAPIV3Schema": {"type": "string"}}),
               lambda c, spec, version: version.update(served=False), put("status", "storedVersions", value=["v9"]), put("metadata", "labels", value={"a": "b"}),
               put("metadata", "generation", value=9), lambda *_: None]
    for change in changes:
        new = changed(change, old)
        server = server_says(api, "PUT", f"{DEFINITIONS}/{name}{DRY}", new)
        ours = we_say(probe.ask("define", value=new, old=old), "CustomResourceDefinition", "v1")
        for side in (server, ours):
            if side["code"] == 200:
                side["object"]["generation"] = side["object"]["metadata"]["generation"]
                side["object"]["stored"] = side["object"].pop("status")["storedVersions"]
        report.add(new["spec"], differences(server, ours))
    report.end(14)
