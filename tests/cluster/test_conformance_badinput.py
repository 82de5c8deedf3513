"""What is wrong with a request: bodies that are malformed, too large or something else, paths and queries that mean nothing.

The words are the server's own.  Where they hold what Go's tables or the machine make of it (the place of a scheme, sizes in an
error of gRPC), the rest of them is compared.
"""

from __future__ import annotations

import base64
import json

from context import Context
from kinds import CONFIG_MAP, GATES, NODE, POD
from objects import config_map, pod
from shape import Like
from wire import JSON, PATCHES, Answer, Wire, query

YAML, PROTOBUF = "application/yaml", "application/vnd.kubernetes.protobuf"
UNRECOGNIZED = "the object provided is unrecognized (must be of type ConfigMap): "
UNREADABLE = UNRECOGNIZED + "couldn't get version/kind; json parse error: "
HANDLED = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
STRUCT = ('into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string '
          '"json:\\"kind,omitempty\\"" }')
KEY = ("a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', "
       "regex used for validation is '[-._a-zA-Z0-9]+')")
SUBDOMAIN = ("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with "
             "an alphanumeric character (e.g. 'example.com', regex used for validation is "
             r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')")
LABEL_VALUE = ("a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with "
               "an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
               "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')")
MIB = 1 << 20


def varint(n: int) -> bytes:
    return bytes([n & 0x7F | 0x80]) + varint(n >> 7) if n > 0x7F else bytes([n])


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


class Place:
    """A namespace with one config map in it, and dry runs on its config maps."""

    def __init__(self, ctx: Context) -> None:
        self.wire, self.ns = Wire(ctx.cluster.api), ctx.namespace()
        self.maps = CONFIG_MAP.path(self.ns)
        self.here = CONFIG_MAP.path(self.ns, "here")
        self.wire.post(self.maps, config_map("here", self.ns, a="b")).ok(201)

    def create(self, body: object, content: str | None = JSON, **options: str) -> Answer:
        return self.wire.ask("POST", query(self.maps, dryRun="All", **options), body, content)

    def patch(self, kind: str, body: object, **options: str) -> Answer:
        return self.wire.ask("PATCH", query(self.here, dryRun="All", **options), body, PATCHES[kind])

    def delete(self, body: object, content: str | None = JSON) -> Answer:
        """Of what is not there: good options are a 404."""
        return self.wire.ask("DELETE", CONFIG_MAP.path(self.ns, "none"), body, content)


def shown(body: str | bytes) -> str:
    """As the server shows the beginning of a body that it cannot make anything of."""
    data = body.encode() if isinstance(body, str) else body
    if not data:
        return " (<empty>)"
    start = data[:30]
    text = start.decode(errors="replace") if data[:1] == b"{" else start.hex()
    return f" ({text}{' ...' if len(data) > 30 else ''})"


def unrecognized(answer: Answer, why: str, body: str | bytes) -> None:
    answer.fails(400, "BadRequest", UNRECOGNIZED + why + shown(body))


# -- JSON ---------------------------------------------------------------------------------------------------------


def test_json_that_is_none(ctx: Context) -> None:
    p = Place(ctx)
    after = "after top-level value"
    for body, why in (("", "unexpected end of JSON input"), ("   ", "unexpected end of JSON input"),
                      ('{"metadata":{"name":"x"', "unexpected end of JSON input"),
                      ('{"metadata":{"name":"x"}} x', f"invalid character 'x' {after}"),
                      ('{"metadata":{"name":"x"}}{}', f"invalid character '{{' {after}"),
                      ('{"metadata":{"name":"x"}} // x', f"invalid character '/' {after}"),
                      ('{"metadata":{"name":"x"},}', "invalid character '}' looking for beginning of object key string"),
                      ("{'metadata':{}}", r"invalid character '\'' looking for beginning of object key string"),
                      ('{"data":{"a":"\\x"}}', "invalid character 'x' in string escape code"),
                      ('{"data":{"a":"\\u12"}}', "invalid character '\"' in \\u hexadecimal character escape"),
                      ('{"data":{"a":"\n"}}', r"invalid character '\n' in string literal"),
                      ('{"data":{"a":"\1"}}', r"invalid character '\x01' in string literal"),
                      ('{"data":01}', "invalid character '1' after object key:value pair"),
                      ('{"data":+1}', "invalid character '+' looking for beginning of value"),
                      ('{"data":NaN}', "invalid character 'N' looking for beginning of value"),
                      ('{"data":1.}', "invalid character '}' after decimal point in numeric literal"),
                      ("[]", f"json: cannot unmarshal array {STRUCT}"), ('"x"', f"json: cannot unmarshal string {STRUCT}"),
                      ("1", f"json: cannot unmarshal number {STRUCT}"), ("true", f"json: cannot unmarshal bool {STRUCT}")):
        p.create(body).fails(400, "BadRequest", UNREADABLE + why + shown(body))
    p.create(b"\xef\xbb\xbf{}").fails(400, "BadRequest", UNREADABLE + "invalid character '\u00ef' looking for beginning of value" +
                                      shown(b"\xef\xbb\xbf{}"))
    p.create("{}".encode("utf-16")).fails(400, "BadRequest", UNREADABLE + "invalid character '\u00ff' looking for beginning of value" +
                                          shown("{}".encode("utf-16")))
    p.create('{"data":{"a":"\0"}}').refused(400, "BadRequest", UNREADABLE + r"invalid character '\x00' in string literal (")
    required = ("FieldValueRequired", "metadata.name", "Required value: name or generateName is required")
    for body in ("null", "{}", '{"metadata":null}'):
        p.create(body).invalid(None, "ConfigMap", "", required)


def test_texts_that_are_none(ctx: Context) -> None:
    """What is not UTF-8 becomes a replacement character; NUL is a character like any other, and allowed where any is."""
    p = Place(ctx)

    def data(value: bytes) -> dict:
        return p.create(b'{"metadata":{"name":"x"},"data":{"a":"' + value + b'"}}').ok(201)["data"]

    for value, text in ((b"\xff\xfe", "\ufffd\ufffd"), (rb"\ud800", "\ufffd"), (rb"\udc00b", "\ufffdb"), (rb"\ud83d\ude00", "\U0001f600"),
                        (rb"\ud83d\u0041", "\ufffdA"), (rb"\u0000", "\0")):
        assert data(value) == {"a": text}, (value, data(value))
    made = p.create(rb'{"metadata":{"name":"x","annotations":{"a":"b\u0000c"}}}').ok(201)
    assert made["metadata"]["annotations"] == {"a": "b\0c"}, made
    p.create(rb'{"metadata":{"name":"x\u0000y"}}').fails(
        422, "Invalid", rf'ConfigMap "x\x00y" is invalid: metadata.name: Invalid value: "x\x00y": {SUBDOMAIN}',
        [{"reason": "FieldValueInvalid", "message": rf'Invalid value: "x\x00y": {SUBDOMAIN}', "field": "metadata.name"}],
        name=Like(r"x.y"), kind="ConfigMap")
    p.create(rb'{"metadata":{"name":"x","labels":{"a":"b\u0000c"}}}').invalid(
        None, "ConfigMap", "x", ("FieldValueInvalid", "metadata.labels", rf'Invalid value: "b\x00c": {LABEL_VALUE}'))
    p.create(rb'{"metadata":{"name":"x","namespace":"' + p.ns.encode() + rb'\u0000y"}}').fails(
        400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request")
    p.create(rb'{"metadata":{"name":"x"},"data":{"a\u0000":"b"}}').refused(422, "Invalid", rf'Invalid value: "a\x00": {KEY}')
    p.create(rb'{"kind":"ConfigMap\u0000","metadata":{"name":"x"}}').refused(400, "BadRequest", "no kind", "is registered for version")


def test_values_of_another_type(ctx: Context) -> None:
    p = Place(ctx)
    meta = "Go struct field ObjectMeta.metadata."
    for body, why in (('{"metadata":{"name":1}}', f"number into {meta}name of type string"),
                      ('{"metadata":{"name":"x","labels":[]}}', f"array into {meta}labels of type map[string]string"),
                      ('{"metadata":{"name":"x","labels":{"a":1}}}', f"number into {meta}labels of type string"),
                      ('{"metadata":{"name":"x","generation":"1"}}', f"string into {meta}generation of type int64"),
                      ('{"metadata":{"name":"x","generation":1.5}}', f"number 1.5 into {meta}generation of type int64"),
                      ('{"metadata":{"name":"x","finalizers":"a"}}', f"string into {meta}finalizers of type []string"),
                      ('{"metadata":{"name":"x"},"data":{"a":1}}', "number into Go struct field ConfigMap.data of type string"),
                      ('{"metadata":{"name":"x"},"data":"a"}', "string into Go struct field ConfigMap.data of type map[string]string"),
                      ('{"metadata":{"name":"x"},"binaryData":{"a":1}}', "number into Go struct field ConfigMap.binaryData of type []uint8"),
                      ('{"metadata":{"name":"x"},"immutable":"yes"}', "string into Go struct field ConfigMap.immutable of type bool")):
        p.create(body).fails(400, "BadRequest", f"{HANDLED}json: cannot unmarshal {why}")
    p.create('{"metadata":{"name":"x"},"binaryData":{"a":"#"}}').fails(400, "BadRequest",
                                                                       HANDLED + "illegal base64 data at input byte 0")
    p.create('{"metadata":{"name":"x","creationTimestamp":"yesterday"}}').fails(
        400, "BadRequest", HANDLED + 'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"')
    p.create('{"metadata":{"name":"x"},"data":{"..":"a"}}').invalid(
        None, "ConfigMap", "x", ("FieldValueInvalid", "data[..]", "Invalid value: \"..\": must not be '..'"))


def test_keys_that_stand_twice(ctx: Context) -> None:
    p = Place(ctx)
    twice = '{"metadata":{"name":"x"},"data":{"a":"1","a":"2"}}'
    answer = p.create(twice)
    assert answer.ok(201)["data"] == {"a": "2"} and answer.warnings == ['duplicate field "data.a"'], answer
    p.create(twice, fieldValidation="Strict").fails(400, "BadRequest", HANDLED + 'strict decoding error: duplicate field "data.a"')
    answer = p.create(twice, fieldValidation="Ignore")
    assert answer.ok(201) and answer.warnings == [], answer
    twice = "metadata: {name: x}\ndata: {a: '1', a: '2'}\nnope: 1"
    answer = p.create(twice, YAML)
    assert answer.ok(201)["data"] == {"a": "2"}, answer
    assert answer.warnings == ['line 2: key "a" already set in map', 'unknown field "nope"'], answer.warnings
    p.create(twice, YAML, fieldValidation="Strict").fails(
        400, "BadRequest", HANDLED + 'strict decoding error: yaml: unmarshal errors:\n  line 2: key "a" already set in map, unknown field "nope"')


def test_deep_nesting(ctx: Context) -> None:
    p = Place(ctx)
    deep = 10001
    for open_, close in (("[", "]"), ('{"a":', "}")):
        body = '{"metadata":{"name":"x"},"zzz":' + open_ * deep + "1" + close * deep + "}"
        p.create(body).fails(400, "BadRequest", UNREADABLE + f"invalid character '{open_[0]}' exceeded max depth" + shown(body))
    patch = '{"zzz":' + "[" * deep + "]" * deep + "}"
    p.patch("merge", patch).fails(400, "BadRequest", "error decoding patch: invalid character '[' exceeded max depth")
    p.patch("strategic", patch).fails(400, "BadRequest", "invalid character '[' exceeded max depth")
    p.patch("json", '[{"op":"add","path":"/zzz","value":' + patch + "}]").refused(400, "BadRequest", "exceeded max depth")
    p.create("metadata: {name: x}\nzzz: " + "[" * deep + "]" * deep, YAML).fails(
        400, "BadRequest", UNRECOGNIZED + "yaml: line 2: exceeded max depth of 10000" + shown(b"metadata: {name: x}\nzzz: [[[[[[["))
    shallow = 300  # what both take
    answer = p.create('{"metadata":{"name":"x"},"zzz":' + "[" * shallow + "]" * shallow + "}")
    assert answer.ok(201) and answer.warnings == ['unknown field "zzz"'], answer


# -- YAML ---------------------------------------------------------------------------------------------------------


def test_yaml_that_is_none(ctx: Context) -> None:
    p = Place(ctx)
    named = "metadata: {name: x}\n"
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{y}: &{y} [{','.join([f'*{x}'] * 9)}]\n" for x, y in zip("abcdefgh", "bcdefghi"))
    for body, why in ((f"{named}zz: *nope", "yaml: unknown anchor 'nope' referenced"),
                      (f"{named}zz: &a [*a]", "yaml: anchor 'a' value contains itself"),
                      (bomb + named, "yaml: document contains excessive aliasing"),
                      ("metadata:\n\tname: x", "yaml: line 2: found character that cannot start any token"),
                      ("metadata: {name: x", "yaml: line 1: did not find expected ',' or '}'"),
                      ("metadata:\n  name: x\n bad: y", "yaml: line 2: did not find expected key"),
                      ("%YAML 9.9\n---\n" + named, "yaml: found incompatible YAML document"),
                      (f"{named}data: {{a: \1}}", "yaml: control characters are not allowed"),
                      (f"{named}data: {{a: !!binary '#'}}", "yaml: !!binary value contains invalid base64 data"),
                      ("metadata: {name: x, generation: .nan}", "json: unsupported value: NaN"),
                      (f"{named}zz: -.inf", "json: unsupported value: -Inf"),
                      ("hello", f"couldn't get version/kind; json parse error: json: cannot unmarshal string {STRUCT}"),
                      ("- a", f"couldn't get version/kind; json parse error: json: cannot unmarshal array {STRUCT}")):
        unrecognized(p.create(body, YAML), why, body)
    unrecognized(p.create(b"data: {a: \"\xff\"}", YAML), "yaml: invalid leading UTF-8 octet", b"data: {a: \"\xff\"}")
    for body in ("", "# nothing", "---\n"):
        p.create(body, YAML).invalid(None, "ConfigMap", "",
                                     ("FieldValueRequired", "metadata.name", "Required value: name or generateName is required"))
    for body, kind in ((f"{named}data: {{a: yes}}", "bool"), (f"{named}data: {{a: off}}", "bool"), (f"{named}data: {{a: 1}}", "number"),
                       (f"{named}data: {{a: 1_0}}", "number"), (f"{named}data: {{a: [b]}}", "array")):
        p.create(body, YAML).fails(400, "BadRequest", f"{HANDLED}json: cannot unmarshal {kind} into Go struct field ConfigMap.data of "
                                   "type string")


def test_yaml_as_go_reads_it(ctx: Context) -> None:
    p = Place(ctx)
    named = "metadata: {name: x}\n"
    for body, data in (('{"metadata":{"name":"x"},"data":{"a":"b"}}', {"a": "b"}), (f"{named}data: {{a: !!binary aGk=}}", {"a": "hi"}),
                       (f"{named}data: {{1: b, true: c, 1.5: d}}", {"1": "b", "true": "c", "1.5": "d"}),
                       (f"{named}data: {{a: !!str 1, b: !foo 2}}", {"a": "1", "b": "2"}), (f"{named}data: {{a: 2001-01-01}}", {"a": "2001-01-01"}),
                       (f"{named}data: {{a: 1e400}}", {"a": "1e400"}), (f"{named}data: {{a: 'yes', b: \"1\"}}", {"a": "yes", "b": "1"}),
                       (f"x: &x {{a: b}}\n{named}data: {{<<: *x, c: d}}", {"a": "b", "c": "d"}),
                       (f"x: &x {{a: b}}\n{named}data: {{a: c, <<: *x}}", {"a": "b"}),
                       (f"%YAML 1.1\n---\n{named}data: {{a: b}}\n---\n{named}data: {{c: d}}\n", {"a": "b"})):
        made = p.create(body, YAML).ok(201)
        assert made["data"] == data, (body, made)
    for text, number in (("010", 8), ("0x10", 16), ("0b11", 3), ("1_000", 1000), ("1e2", 100), ("+5", 5), ("3.0", 3)):
        made = p.create(f"metadata: {{name: x, generation: {text}}}", YAML).ok(201)
        assert made["metadata"]["generation"] == number, (text, made)


# -- protobuf -----------------------------------------------------------------------------------------------------


def envelope(version: bytes, kind: bytes, message: bytes, more: bytes = b"") -> bytes:
    return b"k8s\0" + field(1, field(1, version) + field(2, kind)) + field(2, message) + more


def test_protobuf_that_is_none(ctx: Context) -> None:
    p = Place(ctx)
    good = field(1, field(1, b"x"))
    magic = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    for body, why in ((b"", "empty data"), (b"k8s\0", "empty body"), (b"abcd", magic), (b"k8", magic), (b'{"metadata":{"name":"x"}}', magic),
                      (envelope(b"v1", b"ConfigMap", good)[:-2], "unexpected EOF"), (b"k8s\0" + b"\xff" * 11, "proto: integer overflow"),
                      (b"k8s\0\x0f", "proto: wrong wireType = 7 for field TypeMeta"),
                      (b"k8s\0\x0c", "proto: Unknown: wiretype end group for non-group"),
                      (b"k8s\0\x02\x00", "proto: Unknown: illegal tag 0 (wire type 2)"),
                      (b"k8s\0\x0a" + b"\xff" * 9 + b"\x01", "proto: negative length found during unmarshaling"),
                      (b"k8s\0" + field(1, b"\x08\x01"), "proto: wrong wireType = 0 for field APIVersion"),
                      (b"k8s\0\x4f", "proto: illegal wireType 7")):
        unrecognized(p.create(body, PROTOBUF), why, body)
    for message in (b"\x0a\x7f", b"\x08\x01", b"\x02\x01a"):
        p.create(envelope(b"v1", b"ConfigMap", message), PROTOBUF).refused(400, "BadRequest", HANDLED)
    for version, kind in ((b"v1", b"Nope"), (b"v9", b"ConfigMap")):
        p.create(envelope(version, kind, good), PROTOBUF).fails(
            400, "BadRequest", Like(rf'{kind.decode()} in version "{version.decode()}" cannot be handled as a ConfigMap: no kind '
                                    rf'"{kind.decode()}" is registered for version "{version.decode()}" in scheme "\S+"'))
    p.create(envelope(b"v1", b"Pod", good), PROTOBUF).fails(
        400, "BadRequest", 'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion')
    # What nobody knows is skipped; without a type it is what the path says; the last of two counts.
    for body in (envelope(b"v1", b"ConfigMap", good + field(99, b"x"), field(9, b"z") + b"\x53\x54" + b"\x5d1234"),
                 b"k8s\0" + field(2, good), envelope(b"", b"", good), envelope(b"v1", b"ConfigMap", field(1, field(1, b"y")) + good)):
        made = p.create(body, PROTOBUF).ok(201)
        assert made["metadata"]["name"] == "x", made
    made = p.create(envelope(b"v1", b"ConfigMap", good + field(2, field(1, b"a") + field(2, b"\xff"))), PROTOBUF).ok(201)
    assert made["data"] == {"a": "\ufffd"}, made
    p.delete(b"k8s\0\xff", PROTOBUF).fails(400, "BadRequest", "unexpected EOF")


# -- kinds, types, options ----------------------------------------------------------------------------------------


def test_bodies_of_another_kind(ctx: Context) -> None:
    p = Place(ctx)
    for kind, version, why in (("Pod", "v1", "converting (v1.Pod) to (core.ConfigMap): unknown conversion"),
                               ("ConfigMapList", "v1", "converting (v1.ConfigMapList) to (core.ConfigMap): unknown conversion"),
                               ("List", "v1", "converting (v1.List) to (core.ConfigMap): unknown conversion"),
                               ("Nope", "v1", 'no kind "Nope" is registered for version "v1" in scheme "'),
                               ("configmap", "v1", 'no kind "configmap" is registered for version "v1" in scheme "'),
                               ("ConfigMap", "v2", 'no kind "ConfigMap" is registered for version "v2" in scheme "'),
                               ("ConfigMap", "x.io/v1", 'no kind "ConfigMap" is registered for version "x.io/v1" in scheme "')):
        body = {"kind": kind, "apiVersion": version, "metadata": {"name": "here"}}
        start = f'{kind} in version "{version.rpartition("/")[2]}" cannot be handled as a ConfigMap: {why}'
        p.create(body).refused(400, "BadRequest", start)
        p.wire.put(query(p.here, dryRun="All"), body).refused(400, "BadRequest", start)
    body = json.dumps({"kind": "ConfigMap", "apiVersion": "a/b/c"})
    unrecognized(p.create(body), "unexpected GroupVersion string: a/b/c", body)
    body = '{"kind":1}'
    unrecognized(p.create(body), "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind "
                 "of type string", body)


def test_content_types(ctx: Context) -> None:
    p = Place(ctx)
    body = {"metadata": {"name": "x"}}
    unsupported = ("the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, "
                   "application/vnd.kubernetes.protobuf")
    for content in ("text/plain", "application/xml", "json", "application/jsonx", "application/json, text/plain", "*/*", "application/*",
                    ";", "application/json;;", "application/json; a", "application/json; a=b; a=c", "application/merge-patch+json",
                    "multipart/form-data; boundary=x", "a" * 5000):
        p.create(body, content).fails(415, "UnsupportedMediaType", unsupported)
        p.delete({"kind": "DeleteOptions"}, content).fails(415, "UnsupportedMediaType", unsupported)
        p.wire.ask("POST", POD.path(p.ns, "none") + "/eviction", body, content).fails(415, "UnsupportedMediaType", unsupported)
    for content in (None, "", "APPLICATION/JSON", " application/json ", "application/json;", "application/json; charset=utf-8",
                    'application/json; charset="latin1"', "application/json;stream=watch"):
        p.create(body, content).ok(201)


def test_options_of_a_deletion(ctx: Context) -> None:
    p = Place(ctx)
    options = "Go struct field DeleteOptions."
    for body, why in (('{"gracePeriodSeconds":"1"}', f"string into {options}gracePeriodSeconds of type int64"),
                      ('{"gracePeriodSeconds":1.5}', f"number 1.5 into {options}gracePeriodSeconds of type int64"),
                      ('{"propagationPolicy":1}', f"number into {options}propagationPolicy of type v1.DeletionPropagation"),
                      ('{"preconditions":"x"}', f"string into {options}preconditions of type v1.Preconditions"),
                      ('{"preconditions":{"uid":1}}', "number into Go struct field Preconditions.preconditions.uid of type types.UID"),
                      ('{"dryRun":"All"}', f"string into {options}dryRun of type []string")):
        p.delete(body).fails(400, "BadRequest", f"json: cannot unmarshal {why}")
    p.delete("[]").fails(400, "BadRequest", f"couldn't get version/kind; json parse error: json: cannot unmarshal array {STRUCT}")
    p.delete("{").fails(400, "BadRequest", "couldn't get version/kind; json parse error: unexpected end of JSON input")
    p.delete('{"kind":1}').fails(400, "BadRequest", "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go "
                                 "struct field .kind of type string")
    p.delete('{"kind":"DeleteOptions","apiVersion":"a/b/c"}').fails(400, "BadRequest", "unexpected GroupVersion string: a/b/c")
    p.delete('{"kind":"Status","apiVersion":"v1"}').fails(400, "BadRequest",
                                                          "converting (v1.Status) to (v1.DeleteOptions): unknown conversion")
    for body in ("", "null", "{}", '{"nobody":"knows"}', '{"gracePeriodSeconds":1,"gracePeriodSeconds":2}'):
        p.delete(body).fails(404, "NotFound", 'configmaps "none" not found', name="none", kind="configmaps")


def test_names_of_writers(ctx: Context) -> None:
    p = Place(ctx)
    p.create({"metadata": {"name": "x"}}, fieldManager="a\tb").invalid(
        "meta.k8s.io", "CreateOptions", "",
        ("FieldValueInvalid", "fieldManager", 'Invalid value: "a\\tb": invalid character U+0009 (at position 1)'))
    p.create({"metadata": {"name": "x"}}, fieldManager="\u00e9").ok(201)


# -- patches ------------------------------------------------------------------------------------------------------


def test_patches_that_grow(ctx: Context) -> None:
    p = Place(ctx)
    test = {"op": "test", "path": "/data/a", "value": "b"}
    p.patch("json", [test] * 10000).ok()
    p.patch("json", [test] * 10001).fails(
        413, "RequestEntityTooLarge", "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001")
    start = {"op": "add", "path": "/metadata/annotations", "value": {"a": ["x" * 100]}}
    copy = {"op": "copy", "from": "/metadata/annotations/a", "path": "/metadata/annotations/a/-"}
    p.patch("json", [start] + [copy] * 30).fails(
        422, "Invalid", "the server rejected our request due to an error in our request", empty=True)
    for body, why in (("{}", "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
                      ("[", "error decoding patch: unexpected end of JSON input")):
        p.patch("json", body).fails(400, "BadRequest", why)
    p.patch("json", [{"op": "add", "path": "/a" * 20000, "value": 1}]).refused(422, "Invalid")
    p.patch("json", [{"op": "frob", "path": "/a"}]).refused(422, "Invalid")


# -- sizes --------------------------------------------------------------------------------------------------------


def test_large_objects(ctx: Context) -> None:
    p = Place(ctx)

    def noisy(size: int) -> dict:
        made = pod(f"p{size}", p.ns, schedulingGates=GATES)  # so that no scheduler writes to it
        made["spec"]["containers"][0]["env"] = [{"name": "E", "value": "x" * size}]
        return made

    pods = POD.path(p.ns)
    p.wire.post(pods, noisy(1_400_000)).ok(201)
    p.wire.post(pods, noisy(1_700_000)).fails(500, None, "etcdserver: request is too large")
    p.wire.post(pods, noisy(2_200_000)).fails(
        500, None, Like(r"rpc error: code = ResourceExhausted desc = trying to send message larger than max \(22\d{5} vs\. 2097152\)"))
    assert p.wire.post(query(pods, dryRun="All"), noisy(1_700_000)).code == 201, "it is not stored"
    large = p.wire.get(POD.path(p.ns, "p1400000")).ok()
    p.wire.ask("PATCH", POD.path(p.ns, "p1400000"), {"metadata": {"annotations": {"a": "x" * 200_000}}}, PATCHES["merge"]).fails(
        500, None, "etcdserver: request is too large")
    assert p.wire.get(POD.path(p.ns, "p1400000")).ok()["metadata"]["resourceVersion"] == large["metadata"]["resourceVersion"]
    too_long = "may not be more than 262144 bytes"
    p.create({"metadata": {"name": "x", "annotations": {"a": "x" * (256 * 1024 - 1)}}}).ok(201)
    p.create({"metadata": {"name": "x", "annotations": {"a": "x" * (256 * 1024)}}}).invalid(
        None, "ConfigMap", "x", ("FieldValueTooLong", "metadata.annotations", f"Too long: {too_long}"))
    p.create({"metadata": {"name": "x"}, "data": {"a": "x" * MIB}}).ok(201)
    p.create({"metadata": {"name": "x"}, "data": {"a": "x" * MIB, "b": "c"}}).refused(422, "Invalid", "Too long: may not be more than 1048576 bytes")


def test_large_bodies(ctx: Context) -> None:
    p = Place(ctx)
    small = '{"metadata":{"name":"x"}}'
    p.create(small + " " * (3 * MIB - len(small))).ok(201)
    more = small + " " * (3 * MIB)
    limit = "Request entity too large: limit is 3145728"
    p.create(more).fails(413, "RequestEntityTooLarge", limit)
    p.delete(more).fails(413, "RequestEntityTooLarge", limit)
    p.patch("merge", more).fails(413, "RequestEntityTooLarge", limit)
    p.wire.ask("POST", POD.path(p.ns, "x") + "/eviction", more).fails(413, "RequestEntityTooLarge", limit)
    assert p.wire.ask("GET", p.here, more).ok()["metadata"]["name"] == "here", "nobody looks at it"


# -- paths, methods, queries --------------------------------------------------------------------------------------


def test_odd_paths(ctx: Context) -> None:
    p = Place(ctx)
    w = p.wire
    for name, shown_name in (("%22x%22", r'\"x\"'), ("a%0ab", r"a\nb"), ("a+b", "a+b"), ("a%20b", "a b"), ("A", "A")):
        answer = w.get(f"{p.maps}/{name}")
        assert answer.code == 404 and answer.json["message"] == f'configmaps "{shown_name}" not found', answer
    for name, why in (("..", "may not be '..'"), (".", "may not be '.'"), ("%2e%2e", "may not be '..'"), ("a%25b", "may not contain '%'")):
        shown_name = name.replace("%2e", ".").replace("%25", "%")
        for method in ("GET", "DELETE"):
            w.ask(method, f"{p.maps}/{name}").fails(400, "BadRequest", f'Name parameter invalid: "{shown_name}": {why}')
    # Escapes are undone before anybody looks for slashes.
    w.get(f"{p.maps}/a%2Fb").missing()
    for path in (f"{p.maps}/%2F", p.maps.replace("/configmaps", "%2Fconfigmaps"), p.maps.replace("config", "%63onfig"), p.maps + "/"):
        assert [m["metadata"]["name"] for m in w.get(path).ok()["items"] if m["metadata"]["name"] == "here"] == ["here"], path
    assert w.get(f"{p.maps}/h%65re").ok()["metadata"]["name"] == "here"
    w.get("/api/v1/nodes//status").fails(400, "BadRequest", "name must be provided")
    assert w.get("/api/v1/namespaces//configmaps").ok()["kind"] == "ConfigMapList"
    for path in ("/api/v1/nopes", "/api/v2/nodes", "/api/V1/nodes", "/api/v1/Nodes", "/api/v1/pods/none", f"{p.here}/status", f"{p.here}/x/y",
                 f"/api/v1/namespaces/{p.ns}/nodes", "/apis/apps/v9/deployments", "/apis/apps/v1/nodes", "/version/x", "/api/v1" + "/a" * 100):
        w.get(path).missing()
    for path in ("/nope", "/API/v1/nodes", "/apis/nope.io", "/apis/nope.io/v1/x", "/healthz/", "/healthz/nope", "/apis//v1/pods"):
        answer = w.get(path)
        assert (answer.code, answer.text) == (404, "404 page not found\n"), answer
    for path in (f"{p.maps}/%zz", f"{p.maps}/%", f"{p.maps}/%4"):
        assert w.get(path).code == 400, path
    long = "a" * 3000
    w.get(f"{p.maps}/{long}").fails(404, "NotFound", f'configmaps "{long}" not found', name=long, kind="configmaps")


def test_methods(ctx: Context) -> None:
    p = Place(ctx)
    for method in ("BREW", "TRACE", "LIST", "WATCH", "get", "OPTIONS"):
        for path in (p.maps, p.here, NODE.path(), POD.path(p.ns, "none") + "/eviction", "/api/v1", "/version", "/api"):
            p.wire.ask(method, path).no_method()
    for method, path in (("PUT", p.maps), ("PATCH", p.maps), ("POST", p.here), ("GET", POD.path(p.ns, "none") + "/eviction"),
                         ("POST", CONFIG_MAP.path()), ("DELETE", CONFIG_MAP.path()), ("DELETE", "/api/v1/namespaces")):
        p.wire.ask(method, path, "{}" if method != "GET" else None, PATCHES["merge"] if method == "PATCH" else JSON).no_method()
    for path in (p.maps, p.here, NODE.path(), "/api/v1", "/version"):
        answer = p.wire.ask("HEAD", path)
        assert (answer.code, answer.body) == (405, b""), answer
    one = p.wire.get(query(p.here, watch="1", timeoutSeconds="1")).ok()
    assert one["kind"] == "ConfigMap", "one object cannot be watched by its path"


def token(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def test_forged_tokens(ctx: Context) -> None:
    p = Place(ctx)
    bad = "invalid continue token: continue key is not valid: "
    form = {"v": "meta.k8s.io/v1", "rv": -1, "start": "a"}
    member = "Go struct field continueToken."
    for text, why in (("x", "illegal base64 data at input byte 0"), ("!!", "illegal base64 data at input byte 0"),
                      ("YQ==", "illegal base64 data at input byte 2"), ("Y Q", "illegal base64 data at input byte 1"),
                      (token([]), "json: cannot unmarshal array into Go value of type storage.continueToken"),
                      (token({}), "server does not recognize this encoded version "),
                      (token(None), "server does not recognize this encoded version "),
                      (token({**form, "v": "x"}), "server does not recognize this encoded version x"),
                      (token({**form, "rv": 0}), "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"),
                      (token({**form, "rv": "1"}), f"json: cannot unmarshal string into {member}rv of type int64"),
                      (token({**form, "rv": 1.5}), f"json: cannot unmarshal number 1.5 into {member}rv of type int64"),
                      (token({**form, "start": ""}), "encoded start key empty (version meta.k8s.io/v1)"),
                      (token({**form, "start": 5}), f"json: cannot unmarshal number into {member}start of type string"),
                      (token({**form, "start": "../../a"}), "../../a")):
        p.wire.get(query(p.maps, **{"continue": text})).fails(400, "BadRequest", bad + why)
    answer = p.wire.get(query(p.maps, **{"continue": token({**form, "rv": 1 << 60})}))
    assert answer.code == 504 and answer.json["message"].startswith(f"Timeout: Too large resource version: {1 << 60}, current: "), answer
    names = [m["metadata"]["name"] for m in p.wire.get(query(p.maps, **{"continue": token({**form, "start": "zzz"})})).ok()["items"]]
    assert names == [], "it goes on behind the key, as it is now"


def test_odd_queries(ctx: Context) -> None:
    p = Place(ctx)
    for name in ("limit", "timeoutSeconds"):
        for value, why in (("x", "invalid syntax"), ("1.5", "invalid syntax"), ("0x10", "invalid syntax"), ("1e2", "invalid syntax"),
                           ("9223372036854775808", "value out of range")):
            p.wire.get(query(p.maps, **{name: value})).fails(400, "BadRequest", f'strconv.ParseInt: parsing "{value}": {why}')
    for value, why in (("x", "invalid syntax"), ("-1", "invalid syntax"), ("1.5", "invalid syntax"), ("18446744073709551616", "value out of range")):
        p.wire.get(query(p.maps, resourceVersion=value)).fails(
            400, "BadRequest", f'invalid resource version: resourceVersion: Invalid value: "{value}": strconv.ParseUint: parsing "{value}": {why}')
    many = ",".join(f"a{i}=b" for i in range(3000))
    assert p.wire.get(query(p.maps, labelSelector=many)).ok()["items"] == []
    assert p.wire.get(query(p.maps, labelSelector="a in (" + ",".join(f"b{i}" for i in range(6000)) + ")")).ok()["items"] == []
    assert p.wire.get(query(p.maps, fieldSelector=",".join(["metadata.name=b"] * 3000))).ok()["items"] == []
    # A selector with NUL in it is not none at all: nothing more than it says may be deleted.
    answer = p.wire.get(p.maps + "?labelSelector=a%3D%00b")
    assert answer.code == 400 or answer.ok()["items"] == [], answer
    # What cannot be decoded is left out, and so is what nobody knows.
    for tail in ("?x=%zz", "?%zz", "?a;b", "?nobody=knows", "?&&&", "?="):
        assert p.wire.get(p.maps + tail).ok()["kind"] == "ConfigMapList", tail
