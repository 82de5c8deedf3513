"""Watches: where they begin, what they tell and in which order, and how they end."""

from __future__ import annotations

import json
import threading
from typing import Callable

from context import Context
from crds import crd, make_crd
from kinds import CONFIG_MAP, DEPLOYMENT, NAMESPACE_KIND, POD
from objects import config_map
from shape import TIME, VERSION, Like, assert_has, assert_is, merged
from wire import Stream, Wire, brief, cause, query, status

END = {"k8s.io/initial-events-end": "true"}


def start(ctx: Context) -> tuple[Wire, str, str]:
    """A client, a namespace where no controller works, and the path of its config maps."""
    return Wire(ctx.still.api), (ns := ctx.namespace(ctx.still)), CONFIG_MAP.path(ns)


def follow(ctx: Context, path: str, **parameters: object) -> Stream:
    stream = Stream(ctx.still.api, query(path, watch=True, **parameters))
    ctx.undo(stream.close)
    assert stream.code == 200, (stream.code, stream.line())
    return stream


def version_of(w: Wire, path: str) -> str:
    return w.get(path).ok()["metadata"]["resourceVersion"]


def seen(w: Wire, path: str, version: str) -> None:
    """Waits until the server's cache, from which it serves watches, is as new as that."""
    w.get(query(path, resourceVersion=version, resourceVersionMatch="NotOlderThan", limit=1)).ok()


def whole(ctx: Context, path: str, wanted: Callable[[list[dict]], bool], seconds: int = 1, **parameters: object) -> list[dict]:
    """All events of a watch that the server ends after so many seconds; of a longer one when it was too busy to say all until then."""
    for limit in (seconds, seconds + 9, seconds + 39):
        told = follow(ctx, path, timeoutSeconds=limit, **parameters).rest(limit + 60)
        if wanted(told):
            break
    return told


def labelled(name: str, ns: str, **labels: str) -> dict:
    return merged(config_map(name, ns), {"metadata": {"labels": labels}})


def test_events_and_their_framing(ctx: Context) -> None:
    w, ns, path = start(ctx)
    stream = follow(ctx, path, resourceVersion=version_of(w, path))
    assert stream.headers["Content-Type"] == "application/json" and stream.headers["Transfer-Encoding"] == "chunked"
    made = w.post(path, config_map("x", ns, a="1")).ok(201)
    line = stream.line()
    assert line.endswith(b"\n") and line.startswith(b'{"type":"ADDED","object":{'), line
    assert_is(json.loads(line), {"type": "ADDED", "object": made})
    changed = w.patch(path + "/x", {"data": {"a": "2"}}).ok()
    assert_is(stream.next(), {"type": "MODIFIED", "object": changed})
    w.delete(path + "/x").ok()
    gone = stream.next()
    assert gone["type"] == "DELETED" and int(gone["object"]["metadata"]["resourceVersion"]) > int(
        changed["metadata"]["resourceVersion"])
    assert_is(gone["object"], merged(changed, {"metadata": {"resourceVersion": VERSION}}), "the last state")


def test_what_makes_no_event(ctx: Context) -> None:
    w, ns, path = start(ctx)
    made = w.post(path, config_map("x", ns, a="1")).ok(201)
    stream = follow(ctx, path, resourceVersion=made["metadata"]["resourceVersion"])
    w.put(path + "/x", made).ok()
    w.patch(path + "/x", {"data": {"a": "1"}}).ok()
    w.patch(query(path + "/x", dryRun="All"), {"data": {"a": "2"}}).ok()
    w.post(query(path, dryRun="All"), config_map("y", ns)).ok(201)
    w.delete(query(path + "/x", dryRun="All")).ok()
    w.patch(path + "/x", {"metadata": {"resourceVersion": "1"}}).refused(409, "Conflict")
    w.post(CONFIG_MAP.path("default"), config_map(ns, "default")).ok(201)
    ctx.undo(lambda: w.delete(CONFIG_MAP.path("default", ns)))
    w.post(path, config_map("last", ns)).ok(201)
    assert brief([stream.next()]) == ["ADDED last"]


def test_finalizers_and_grace_are_seen(ctx: Context) -> None:
    w, ns, path = start(ctx)
    stream = follow(ctx, path, resourceVersion=version_of(w, path))
    w.post(path, merged(config_map("x", ns), {"metadata": {"finalizers": ["slipway.dev/a"]}})).ok(201)
    w.delete(path + "/x").ok()
    w.patch(path + "/x", {"metadata": {"finalizers": None}}).ok()
    events = [stream.next() for _ in range(3)]
    assert brief(events) == ["ADDED x", "MODIFIED x", "DELETED x"]
    assert TIME == events[1]["object"]["metadata"]["deletionTimestamp"]
    assert events[2]["object"]["metadata"]["finalizers"] == ["slipway.dev/a"], "the last state that was stored"
    w.post(POD.path(ns), merged(POD.make(ns, "p"), {"spec": {"nodeName": "nowhere", "schedulingGates": None}})).ok(201)
    stream = follow(ctx, POD.path(ns), resourceVersion=version_of(w, POD.path(ns)))
    w.delete(POD.path(ns, "p"), {"gracePeriodSeconds": 60}).ok()
    w.delete(POD.path(ns, "p"), {"gracePeriodSeconds": 0}).ok()
    events = stream.until(lambda e: e["type"] == "DELETED")
    assert [(e["type"], e["object"]["metadata"]["deletionGracePeriodSeconds"]) for e in events] == [
        ("MODIFIED", 60), ("MODIFIED", 0), ("DELETED", 0)]


def test_where_a_watch_begins(ctx: Context) -> None:
    """Unset and 0: what is there now, sorted by name, then what happens; a version: what happened after it."""
    w, ns, path = start(ctx)
    first = w.post(path, config_map("b", ns)).ok(201)["metadata"]["resourceVersion"]
    second = w.post(path, config_map("a", ns)).ok(201)["metadata"]["resourceVersion"]
    seen(w, path, w.patch(path + "/b", {"data": {"x": "y"}}).ok()["metadata"]["resourceVersion"])
    for begin, wanted in ((None, ["ADDED a", "ADDED b"]), ("0", ["ADDED a", "ADDED b"]), ("", ["ADDED a", "ADDED b"]),
                          (first, ["ADDED a", "MODIFIED b"]), (second, ["MODIFIED b"])):
        stream = follow(ctx, path, resourceVersion=begin)
        assert brief([stream.next() for _ in wanted]) == wanted, begin
        name = ctx.unique("later")
        w.post(path, config_map(name, ns)).ok(201)
        assert brief(stream.until(lambda e: e["object"]["metadata"]["name"] == name))[-1] == f"ADDED {name}"
        w.delete(f"{path}/{name}").ok()
        stream.until(lambda e: e["type"] == "DELETED")  # so that the next one does not begin with it
        stream.close()


def test_resuming_loses_and_repeats_nothing(ctx: Context) -> None:
    w, ns, path = start(ctx)
    seen, version = [], version_of(w, path)
    for number in range(12):
        w.post(path, config_map(f"c{number:02}", ns)).ok(201)
        if number % 3 == 2:
            stream = follow(ctx, path, resourceVersion=version)
            for _ in range(3):
                event = stream.next()
                seen.append(event["object"]["metadata"]["name"])
                version = event["object"]["metadata"]["resourceVersion"]
            stream.close()
    assert seen == [f"c{number:02}" for number in range(12)]


def test_the_server_ends_it(ctx: Context) -> None:
    w, ns, path = start(ctx)
    w.post(path, config_map("x", ns)).ok(201)
    seen(w, path, version_of(w, path))
    assert brief(whole(ctx, path, bool)) == ["ADDED x"], "a clean end of the body, no error"


def test_initial_events_end_with_a_bookmark(ctx: Context) -> None:
    w, ns, path = start(ctx)
    for name in "ba":
        w.post(path, config_map(name, ns)).ok(201)
    version = version_of(w, path)
    for begin in (None, "0", version):
        stream = follow(ctx, path, sendInitialEvents=True, resourceVersionMatch="NotOlderThan", allowWatchBookmarks=True,
                        resourceVersion=begin)
        events = stream.until(lambda e: e["type"] == "BOOKMARK")
        assert brief(events) == ["ADDED a", "ADDED b", "BOOKMARK"], begin
        mark = events[-1]["object"]
        assert_has(mark, {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": VERSION, "annotations": END}})
        assert int(mark["metadata"]["resourceVersion"]) >= int(version)
        made = w.post(path, config_map("later", ns)).ok(201)
        assert_is(stream.next(), {"type": "ADDED", "object": made}, "the same stream goes on")
        w.delete(path + "/later").ok()
        stream.until(lambda e: e["type"] == "DELETED")  # so that the next one does not begin with it
        stream.close()
    stream = follow(ctx, CONFIG_MAP.path("nobody-made-this"), sendInitialEvents=True, resourceVersionMatch="NotOlderThan",
                    allowWatchBookmarks=True)
    assert stream.next()["object"]["metadata"]["annotations"] == END, "of nothing too"


def test_bookmarks_are_for_those_who_ask(ctx: Context) -> None:
    w, ns, path = start(ctx)
    w.post(path, config_map("x", ns)).ok(201)
    version = version_of(w, path)
    assert brief(whole(ctx, path, bool, sendInitialEvents=True, resourceVersionMatch="NotOlderThan")) == ["ADDED x"]
    stream = follow(ctx, path, sendInitialEvents=False, resourceVersionMatch="NotOlderThan", timeoutSeconds=1,
                    resourceVersion=version)
    assert brief(stream.rest()) == []
    # Written while the watch goes on: a server that replays it to a watch that begins later counts it as told, and says no more.
    w.post(CONFIG_MAP.path("default"), config_map(ns, "default")).ok(201)
    ctx.undo(lambda: w.delete(CONFIG_MAP.path("default", ns)))
    for limit in (4, 13, 43):  # a longer one when the server was too busy to say it in time
        stream = follow(ctx, path, timeoutSeconds=limit, resourceVersion=version_of(w, path), allowWatchBookmarks=True)
        changed = w.patch(CONFIG_MAP.path("default", ns), {"data": {"limit": str(limit)}}).ok()
        elsewhere = changed["metadata"]["resourceVersion"]
        if told := stream.rest(limit + 60):
            break
    assert {e["type"] for e in told} == {"BOOKMARK"}, "one before the end, of what happened elsewhere"
    mark = told[-1]["object"]["metadata"]
    assert int(elsewhere) <= int(mark["resourceVersion"]) <= int(version_of(w, path)), (elsewhere, mark)
    assert "annotations" not in mark, mark


def test_selectors_turn_changes_into_arrivals_and_departures(ctx: Context) -> None:
    w, ns, path = start(ctx)
    w.post(path, labelled("in", ns, team="a")).ok(201)
    w.post(path, labelled("out", ns, team="b")).ok(201)
    stream = follow(ctx, path, labelSelector="team=a")
    assert brief([stream.next()]) == ["ADDED in"]
    moved = w.patch(path + "/out", {"metadata": {"labels": {"team": "a"}}}).ok()
    assert_is(stream.next(), {"type": "ADDED", "object": moved})
    w.patch(path + "/out", {"data": {"x": "1"}}).ok()
    assert brief([stream.next()]) == ["MODIFIED out"]
    left = w.patch(path + "/out", {"metadata": {"labels": {"team": "c"}}}).ok()
    event = stream.next()
    assert event["type"] == "DELETED" and event["object"]["metadata"]["labels"] == {"team": "a"}, "as it was when it still matched"
    assert event["object"]["metadata"]["resourceVersion"] == left["metadata"]["resourceVersion"], "and the version of its departure"
    w.delete(path + "/out").ok()
    w.delete(path + "/in").ok()
    assert brief([stream.next()]) == ["DELETED in"], "what did not match leaves unseen"


def test_one_object_by_its_name(ctx: Context) -> None:
    """As `kubectl get -w NAME` and `kubectl wait` do."""
    w, ns, path = start(ctx)
    w.post(path, config_map("x", ns)).ok(201)
    w.post(path, config_map("y", ns)).ok(201)
    stream = follow(ctx, path, fieldSelector="metadata.name=x")
    assert brief([stream.next()]) == ["ADDED x"]
    w.patch(path + "/y", {"data": {"a": "1"}}).ok()
    w.patch(path + "/x", {"data": {"a": "1"}}).ok()
    assert brief([stream.next()]) == ["MODIFIED x"]
    w.delete(path + "/x").ok()
    assert brief([stream.next()]) == ["DELETED x"]
    w.post(path, config_map("x", ns)).ok(201)
    assert brief([stream.next()]) == ["ADDED x"]


def test_pods_of_a_node(ctx: Context) -> None:
    """A pod appears in the watch of a node's pods when it is bound."""
    w, ns, _ = start(ctx)
    path, node = POD.path(ns), ctx.unique("n")
    w.post(path, merged(POD.make(ns, "p"), {"spec": {"schedulingGates": None}})).ok(201)
    stream = follow(ctx, POD.path(), fieldSelector=f"spec.nodeName={node}", resourceVersion=version_of(w, path))
    bind = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p", "namespace": ns},
            "target": {"kind": "Node", "name": node}}
    assert w.post(path + "/p/binding", bind).ok(201)["status"] == "Success"
    event = stream.next()
    assert brief([event]) == ["ADDED p"] and event["object"]["spec"]["nodeName"] == node
    w.post(path + "/p/binding", bind).refused(409, "Conflict",
                                              'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node')


def test_all_namespaces_and_cluster_scope(ctx: Context) -> None:
    w, ns, path = start(ctx)
    label = ctx.unique("g")
    stream = follow(ctx, CONFIG_MAP.path(), labelSelector=f"g={label}", resourceVersion=version_of(w, CONFIG_MAP.path()))
    other = ctx.namespace(ctx.still)
    w.post(path, labelled("x", ns, g=label)).ok(201)
    w.post(CONFIG_MAP.path(other), labelled("x", other, g=label)).ok(201)
    assert [stream.next()["object"]["metadata"]["namespace"] for _ in range(2)] == [ns, other]
    namespaces = follow(ctx, NAMESPACE_KIND.path(), fieldSelector=f"metadata.name={ns}")
    assert brief([namespaces.next()]) == [f"ADDED {ns}"]


def test_every_watcher_sees_the_same(ctx: Context) -> None:
    w, ns, path = start(ctx)
    version = version_of(w, path)
    streams = [follow(ctx, path, resourceVersion=version) for _ in range(4)]

    def work(number: int) -> None:
        for step in range(10):
            name = f"w{number}-{step % 3}"
            if step < 3:
                w.post(path, config_map(name, ns)).ok(201)
            else:
                w.patch(f"{path}/{name}", {"data": {"step": str(step)}}).ok()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    w.post(path, config_map("zz-last", ns)).ok(201)
    told = [[(e["type"], e["object"]["metadata"]["name"], e["object"]["metadata"]["resourceVersion"])
             for e in s.until(lambda e: e["object"]["metadata"]["name"] == "zz-last")] for s in streams]
    assert len(told[0]) == 41 and all(t == told[0] for t in told)
    versions = [int(v) for _, _, v in told[0]]
    assert versions == sorted(versions) and len(set(versions)) == 41


def test_status_changes_are_seen(ctx: Context) -> None:
    w, ns, _ = start(ctx)
    w.post(DEPLOYMENT.path(ns), DEPLOYMENT.make(ns, "d")).ok(201)
    stream = follow(ctx, DEPLOYMENT.path(ns), resourceVersion=version_of(w, DEPLOYMENT.path(ns)))
    changed = w.patch(DEPLOYMENT.path(ns, "d", "status"), {"status": {"replicas": 3}}).ok()
    assert_is(stream.next(), {"type": "MODIFIED", "object": changed})
    w.patch(DEPLOYMENT.path(ns, "d", "scale"), {"spec": {"replicas": 2}}).ok()
    event = stream.next()
    assert event["object"]["spec"]["replicas"] == 2 and event["object"]["kind"] == "Deployment"


# -- what is refused ----------------------------------------------------------------------------------------------


def test_options_that_do_not_fit(ctx: Context) -> None:
    w, ns, path = start(ctx)

    def invalid(*causes: tuple[str, str], **parameters: object) -> None:
        w.get(query(path, watch=True, timeoutSeconds=1, **parameters)).invalid(
            "meta.k8s.io", "ListOptions", "", *[(reason, "resourceVersionMatch", message) for reason, message in causes])

    needs = ("FieldValueForbidden", "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
    invalid(needs, sendInitialEvents=True)
    invalid(needs, ("FieldValueNotSupported", 'Unsupported value: "Exact": supported values: "NotOlderThan"'),
            sendInitialEvents=True,
            resourceVersionMatch="Exact", resourceVersion="1")
    invalid(("FieldValueForbidden", "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"),
            resourceVersionMatch="NotOlderThan", resourceVersion="1")
    invalid(("FieldValueForbidden", "Forbidden: resourceVersionMatch is forbidden when continue is provided"),
            **{"continue": "abc"})
    w.get(query(path, watch=True, labelSelector="a=!")).fails(
        400, "BadRequest", "unable to parse requirement: found '!', expected: identifier")
    w.get(query(path, watch=True, fieldSelector="data.x=1")).fails(
        400, "BadRequest", '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"')
    w.get(query(path, watch=True, timeoutSeconds="x")).refused(400, "BadRequest")
    for version in ("abc", "-1"):
        w.get(query(path, watch=True, resourceVersion=version)).refused(500, None, f'resourceVersion: Invalid value: "{version}"')
    stream = follow(ctx, path, limit=1, timeoutSeconds=1)
    assert stream.code == 200, "a limit means nothing to a watch"


def test_a_version_that_is_too_old(ctx: Context) -> None:
    """The kind is younger than the version asked for: nobody remembers what happened since."""
    w, ns, _ = start(ctx)
    kind = make_crd(ctx, ctx.still, crd(ctx, "Boat"))
    w.post(kind.path(ns), kind.make(ns, "x")).ok(201)
    stream = follow(ctx, kind.path(ns), resourceVersion="1")
    event = stream.next()
    assert_is(event, {"type": "ERROR", "object": status(410, "Expired", Like(r"too old resource version: 1 \([1-9][0-9]*\)"))})
    assert stream.next() is None, "and it ends"
    version = w.get(kind.path(ns)).ok()["metadata"]["resourceVersion"]
    w.patch(kind.path(ns, "x"), {"spec": {"a": "b"}}).ok()
    assert brief([follow(ctx, kind.path(ns), resourceVersion=version).next()]) == ["MODIFIED x"]


def test_a_version_of_the_future(ctx: Context) -> None:
    w, ns, path = start(ctx)
    stream = follow(ctx, path, sendInitialEvents=True, resourceVersionMatch="NotOlderThan", allowWatchBookmarks=True,
                    resourceVersion="99999999")
    event = stream.next()
    too_large = status(504, "Timeout", Like(r"Timeout: Too large resource version: 99999999, current: [1-9][0-9]*"),
                       [cause("ResourceVersionTooLarge", "Too large resource version")], retryAfterSeconds=1)
    assert_is(event, {"type": "ERROR", "object": too_large})
    assert stream.next() is None
    stream = follow(ctx, path, resourceVersion="99999999", timeoutSeconds=1)
    assert stream.rest() == [], "without initial events it waits for that version"
