"""Lists in pages, lists of a certain version, and tokens that are no good."""

from __future__ import annotations

import base64
import json

from context import Context
from kinds import CONFIG_MAP, NAMESPACE_KIND
from objects import config_map
from shape import VERSION, Like, assert_is, merged
from wire import Wire, cause, query

MATCH = "resourceVersionMatch"


def start(ctx: Context, *names: str) -> tuple[Wire, str, str]:
    w, ns = Wire(ctx.still.api), ctx.namespace(ctx.still)
    for name in names:
        w.post(CONFIG_MAP.path(ns), config_map(name, ns)).ok(201)
    return w, ns, CONFIG_MAP.path(ns)


def names(answer: dict) -> list[str]:
    return [item["metadata"]["name"] for item in answer["items"]]


def token(**fields: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(fields, separators=(",", ":")).encode()).rstrip(b"=").decode()


def test_pages(ctx: Context) -> None:
    w, _, path = start(ctx, *"gfedcba")
    found, left, answer = [], [], w.get(query(path, limit=3)).ok()
    version = answer["metadata"]["resourceVersion"]
    while True:
        found.append(names(answer))
        left.append(answer["metadata"].get("remainingItemCount"))
        assert answer["metadata"]["resourceVersion"] == version, "every page is of the version of the first"
        if "continue" not in answer["metadata"]:
            break
        answer = w.get(query(path, limit=3, **{"continue": answer["metadata"]["continue"]})).ok()
    assert found == [["a", "b", "c"], ["d", "e", "f"], ["g"]] and left == [4, 1, None]
    exact = w.get(query(path, limit=7)).ok()
    assert names(exact) == list("abcdefg") and "continue" not in exact["metadata"] and "remainingItemCount" not in exact["metadata"]
    for limit in (0, 100, -1):
        whole = w.get(query(path, limit=limit)).ok()
        assert len(whole["items"]) == 7 and set(whole["metadata"]) == {"resourceVersion"}
    w.get(query(path, limit="x")).refused(400, "BadRequest")


def test_pages_do_not_see_what_happens_meanwhile(ctx: Context) -> None:
    w, ns, path = start(ctx, *"abcdef")
    first = w.get(query(path, limit=2)).ok()
    w.delete(path + "/d").ok()
    w.post(path, config_map("c2", ns)).ok(201)
    w.patch(path + "/e", {"data": {"new": "1"}}).ok()
    second = w.get(query(path, limit=2, **{"continue": first["metadata"]["continue"]})).ok()
    assert names(second) == ["c", "d"] and second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    rest = w.get(query(path, **{"continue": second["metadata"]["continue"]})).ok()
    assert names(rest) == ["e", "f"] and "data" not in rest["items"][0] and "continue" not in rest["metadata"]
    again = w.get(query(path, limit=2, **{"continue": first["metadata"]["continue"]})).ok()
    assert names(again) == ["c", "d"], "a token can be used twice"
    assert names(w.get(path).ok()) == ["a", "b", "c", "c2", "e", "f"]


def test_a_list_of_one_name_has_no_pages(ctx: Context) -> None:
    w, ns, path = start(ctx, *"abc")
    for where, selector, more in ((path, "metadata.name=a", False), (path, "metadata.name!=c", True), (path, "metadata.name=z", False),
                                  (CONFIG_MAP.path(), f"metadata.name=a,metadata.namespace={ns}", False),
                                  (CONFIG_MAP.path(), f"metadata.namespace={ns}", True)):
        answer = w.get(query(where, limit=1, fieldSelector=selector)).ok()
        assert ("continue" in answer["metadata"]) is more, (selector, answer)
    rest = w.get(query(path, **{"continue": answer["metadata"]["continue"]})).ok()
    assert names(rest)[:2] == ["b", "c"], "the token is one of the namespace's own list"


def test_pages_with_selectors(ctx: Context) -> None:
    w, ns, path = start(ctx)
    for number in range(9):
        w.post(path, merged(config_map(f"c{number}", ns), {"metadata": {"labels": {"odd": str(number % 2)}}})).ok(201)
    answer = w.get(query(path, limit=2, labelSelector="odd=1")).ok()
    assert names(answer) == ["c1", "c3"] and "remainingItemCount" not in answer["metadata"], "nobody has counted"
    rest = w.get(query(path, limit=5, labelSelector="odd=1", **{"continue": answer["metadata"]["continue"]})).ok()
    assert names(rest) == ["c5", "c7"] and "continue" not in rest["metadata"]
    assert names(w.get(query(path, limit=1, fieldSelector="metadata.name=c5")).ok()) == ["c5"]
    other = w.get(query(path, limit=5, labelSelector="odd=0", **{"continue": answer["metadata"]["continue"]})).ok()
    assert names(other) == ["c4", "c6", "c8"], "the token says where, not what"


def test_pages_of_all_namespaces(ctx: Context) -> None:
    w, one, _ = start(ctx)
    two = ctx.namespace(ctx.still)
    label = ctx.unique("g")
    for ns in (one, two):
        for name in "ab":
            w.post(CONFIG_MAP.path(ns), merged(config_map(name, ns), {"metadata": {"labels": {"g": label}}})).ok(201)
    seen, go_on = [], ""
    while True:
        answer = w.get(query(CONFIG_MAP.path(), limit=1, labelSelector=f"g={label}", **({"continue": go_on} if go_on else {}))).ok()
        seen += [(i["metadata"]["namespace"], i["metadata"]["name"]) for i in answer["items"]]
        go_on = answer["metadata"].get("continue", "")
        if not go_on:
            break
    assert seen == [(ns, name) for ns in sorted((one, two)) for name in "ab"]
    scoped = w.get(query(NAMESPACE_KIND.path(), limit=1)).ok()
    assert names(scoped) == ["default"] and scoped["metadata"]["remainingItemCount"] >= 4


def test_tokens_that_are_no_good(ctx: Context) -> None:
    w, _, path = start(ctx, "a")
    for bad in ("abc", "!!!", "AAAA"):
        w.get(query(path, limit=1, **{"continue": bad})).refused(400, "BadRequest",
                                                                 "invalid continue token: continue key is not valid: ")
    for fields, why in (({"v": "meta.k8s.io/v2", "rv": 5, "start": "a"},
                         "server does not recognize this encoded version meta.k8s.io/v2"),
                        ({"v": "meta.k8s.io/v1", "rv": 0, "start": "a"},
                         "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"),
                        ({"v": "meta.k8s.io/v1", "rv": 5, "start": ""}, "encoded start key empty (version meta.k8s.io/v1)"),
                        ({"v": "meta.k8s.io/v1", "rv": 5, "start": "../../x"}, "../../x")):
        w.get(query(path, limit=1, **{"continue": token(**fields)})).refused(400, "BadRequest", "continue key is not valid: ", why)
    good = w.get(query(CONFIG_MAP.path(), limit=1)).ok()["metadata"]["continue"]
    w.get(query(path, limit=1, resourceVersion="5", **{"continue": good})).fails(
        400, "BadRequest", "specifying resource version is not allowed when using continue")
    w.get(query(path, limit=1, resourceVersion="0", **{"continue": good})).ok()


def test_tokens_that_are_too_old(ctx: Context) -> None:
    """410, and a token of another kind with which the rest can be read as it is now."""
    cluster = ctx.private_cluster(controllers=False, kwok=False, cache=False)
    w, ns = Wire(cluster.api), ctx.unique("ns")
    path = CONFIG_MAP.path(ns)
    w.post(NAMESPACE_KIND.path(), NAMESPACE_KIND.make("", ns)).ok(201)
    for name in "abc":
        w.post(path, config_map(name, ns)).ok(201)
    old = cluster.forgotten_version()
    later = token(v="meta.k8s.io/v1", rv=int(old), start="/a\u0000")
    answer = w.get(query(path, limit=1, **{"continue": later}))
    said = answer.json
    go_on = said["metadata"].pop("continue", "")
    assert_is(said, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "Expired", "code": 410,
                     "message": Like("The provided continue parameter is too old to display a consistent list result. .*")})
    rest = w.get(query(path, **{"continue": go_on})).ok()
    assert names(rest) == ["b", "c"] and VERSION == rest["metadata"]["resourceVersion"]
    w.get(query(path, resourceVersion=old, resourceVersionMatch="Exact")).fails(
        410, "Expired", "The resourceVersion for the provided list is too old.")


def test_versions_of_a_list(ctx: Context) -> None:
    w, ns, path = start(ctx, *"ab")
    old = w.get(path).ok()["metadata"]["resourceVersion"]
    w.post(path, config_map("c", ns)).ok(201)
    now = w.get(path).ok()["metadata"]["resourceVersion"]
    for parameters, wanted, version in (
            ({}, "abc", now), ({"resourceVersion": "0"}, "abc", None), ({"resourceVersion": old}, "abc", None),
            ({"resourceVersion": old, MATCH: "NotOlderThan"}, "abc", None), ({"resourceVersion": old, MATCH: "Exact"}, "ab", old),
            ({"resourceVersion": old, "limit": 1}, "a", old), ({"resourceVersion": old, "limit": 1, MATCH: "NotOlderThan"},
                                                               "a", None),
            ({"resourceVersion": "0", "limit": 1}, "abc", None), ({"resourceVersion": "0", "limit": 1, MATCH: "NotOlderThan"},
                                                                  "abc", None)):
        answer = w.get(query(path, **parameters)).ok()
        assert names(answer) == list(wanted), (parameters, names(answer))
        assert int(answer["metadata"]["resourceVersion"]) >= int(version or old), parameters
        assert version != old or answer["metadata"]["resourceVersion"] == old, parameters
    assert w.get(query(path + "/c", resourceVersion=old)).ok()["metadata"]["name"] == "c"
    assert w.get(query(path + "/c", resourceVersion="0")).ok()["metadata"]["name"] == "c"


def test_versions_that_are_refused(ctx: Context) -> None:
    w, _, path = start(ctx, "a")

    def invalid(*causes: tuple[str, str], field: str = MATCH, **parameters: object) -> None:
        w.get(query(path, **parameters)).invalid("meta.k8s.io", "ListOptions", "",
                                                 *[(reason, field, message) for reason, message in causes])

    invalid(("FieldValueForbidden", "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"),
            resourceVersionMatch="Exact")
    invalid(("FieldValueForbidden", 'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
            resourceVersion="0",
            resourceVersionMatch="Exact")
    invalid(("FieldValueNotSupported", 'Unsupported value: "Nope": supported values: "Exact", "NotOlderThan", ""'),
            resourceVersion="5",
            resourceVersionMatch="Nope")
    invalid(("FieldValueForbidden", "Forbidden: sendInitialEvents is forbidden for list"), field="sendInitialEvents",
            sendInitialEvents=True)
    w.get(query(path, resourceVersion="abc")).refused(400, "BadRequest",
                                                      'invalid resource version: resourceVersion: Invalid value: "abc"')
    w.get(query(path + "/a", resourceVersion="abc")).refused(500, None, 'resourceVersion: Invalid value: "abc"')
    future = w.get(query(path, resourceVersion="99999999"))
    future.fails(504, "Timeout", Like(r"Timeout: Too large resource version: 99999999, current: [1-9][0-9]*"),
                 [cause("ResourceVersionTooLarge", "Too large resource version")], retryAfterSeconds=1)
    assert future.headers["Retry-After"] == "1"
