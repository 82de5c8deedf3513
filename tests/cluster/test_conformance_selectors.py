"""Label and field selectors in lists: whom they pick, and what is wrong with those that are refused."""

from __future__ import annotations

from context import Context
from kinds import (BUDGET, CONFIG_MAP, DEPLOYMENT, EVENT, JOB, LEASE, NAMESPACE_KIND, NODE, POD, SECRET, SERVICE, VOLUME, Kind)
from objects import config_map, pod
from shape import merged
from wire import Wire, query

NAME = ("name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
        "'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')")


def start(ctx: Context) -> tuple[Wire, str]:
    return Wire(ctx.still.api), ctx.namespace(ctx.still)


def names(w: Wire, path: str, **selectors: str) -> list[str]:
    return [item["metadata"]["name"] for item in w.get(query(path, **selectors)).ok()["items"]]


def test_labels(ctx: Context) -> None:
    w, ns = start(ctx)
    path = CONFIG_MAP.path(ns)
    everybody = {"a": {"app": "web", "tier": "1"}, "b": {"app": "web", "tier": "20"}, "c": {"app": "db", "x.io/y": "z"},
                 "d": {"app": ""}, "e": {}}
    for name, labels in everybody.items():
        w.post(path, merged(config_map(name, ns), {"metadata": {"labels": labels}})).ok(201)
    for selector, wanted in (
            ("app", "abcd"), ("!app", "e"), ("app=web", "ab"), ("app==web", "ab"), ("app!=web", "cde"), ("app=", "d"),
            ("app!=", "abce"),
            ("app in (web,db)", "abc"), ("app in (web, )", "abd"), ("app in ()", "d"), ("app notin (web,db)", "de"),
            ("app notin ()", "abce"),
            ("app=web,tier=1", "a"), ("app=web,app=db", ""), (" app = web , tier ", "ab"), ("tier>1", "b"), ("tier<20", "a"),
            ("tier>0", "ab"),
            ("app>0", ""), ("x.io/y=z", "c"), ("x.io/y", "c"), ("none", ""), ("!none", "abcde"), ("", "abcde")):
        assert names(w, path, labelSelector=selector) == list(wanted), selector


def test_label_selectors_that_are_refused(ctx: Context) -> None:
    w, ns = start(ctx)
    for selector, message in (
            ("=b", "found '=', expected: !, identifier, or 'end of string'"),
            ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
            ("a=b=c", "found '=', expected: ',' or 'end of string'"), ("a=b c", "found 'c', expected: ',' or 'end of string'"),
            ("a,", "found '', expected: identifier after ','"), ("a in b", "unable to parse requirement: found 'b' expected: '('"),
            ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
            ("a>=1", "unable to parse requirement: found '=', expected: identifier"),
            ("a<x", "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"),
            ("&", f'unable to parse requirement: <nil>: Invalid value: "&": {NAME}'),
            ("a=" + "v" * 64, f'unable to parse requirement: values[0][a]: Invalid value: "{"v" * 64}": must be no more than 63 bytes')):
        w.get(query(CONFIG_MAP.path(ns), labelSelector=selector)).fails(400, "BadRequest", message)
        w.get(query(CONFIG_MAP.path(), labelSelector=selector)).fails(400, "BadRequest", message)


def test_names_and_namespaces(ctx: Context) -> None:
    w, ns = start(ctx)
    path = CONFIG_MAP.path(ns)
    for name in "ab":
        w.post(path, config_map(name, ns)).ok(201)
    for selector, wanted in (("metadata.name=a", "a"), ("metadata.name==a", "a"), ("metadata.name!=a", "b"),
                             (f"metadata.namespace={ns}", "ab"),
                             ("metadata.namespace=other", ""), (f"metadata.name=b,metadata.namespace={ns}", "b"),
                             ("metadata.name=", ""), ("", "ab")):
        assert names(w, path, fieldSelector=selector) == list(wanted), selector
    assert names(w, CONFIG_MAP.path(), fieldSelector=f"metadata.name=a,metadata.namespace={ns}") == ["a"]
    assert names(w, path, fieldSelector="metadata.name=a", labelSelector="none") == []
    for selector, message in (("metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"),
                              ("nope=1", '"nope" is not a known field selector: only "metadata.name", "metadata.namespace"'),
                              ("=x", '"" is not a known field selector: only "metadata.name", "metadata.namespace"')):
        w.get(query(path, fieldSelector=selector)).fails(400, "BadRequest", message)


def test_fields_of_pods(ctx: Context) -> None:
    w, ns = start(ctx)
    path = POD.path(ns)
    w.post("/api/v1/namespaces/%s/serviceaccounts" % ns, {"metadata": {"name": "robot"}}).ok(201)
    w.post(path, pod("a", ns, nodeName="n1")).ok(201)
    w.post(path, pod("b", ns, nodeName="n2", restartPolicy="Never", serviceAccountName="robot", hostNetwork=True)).ok(201)
    w.post(path, pod("c", ns, schedulerName="other")).ok(201)
    w.patch(path + "/a/status", {"status": {"phase": "Running", "podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}]}}).ok()
    w.patch(path + "/c/status", {"status": {"nominatedNodeName": "n3"}}).ok()
    for selector, wanted in (
            ("spec.nodeName=n1", "a"), ("spec.nodeName!=n1", "bc"), ("spec.nodeName=", "c"), ("spec.nodeName!=", "ab"),
            ("status.phase=Running", "a"),
            ("status.phase!=Running", "bc"), ("status.phase=Pending,spec.nodeName!=", "b"), ("spec.restartPolicy=Never", "b"),
            ("spec.schedulerName=other", "c"), ("spec.serviceAccountName=robot", "b"), ("spec.hostNetwork=true", "b"),
            ("spec.hostNetwork=false", "ac"),
            ("status.podIP=10.9.9.9", "a"), ("status.nominatedNodeName=n3", "c"), ("metadata.name=b,spec.nodeName=n2", "b")):
        assert names(w, path, fieldSelector=selector) == list(wanted), selector
    assert names(w, POD.path(), fieldSelector=f"spec.nodeName=n1,metadata.namespace={ns}") == ["a"]
    for field in ("spec.nope", "metadata.labels", "status.hostIP"):
        w.get(query(path, fieldSelector=f"{field}=1")).fails(400, "BadRequest", f"field label not supported: {field}")


def test_fields_of_other_kinds(ctx: Context) -> None:
    w, ns = start(ctx)
    node = ctx.unique("n")
    w.post(NODE.path(), merged(NODE.make("", node), {"spec": {"unschedulable": True}})).ok(201)
    ctx.undo(lambda: w.delete(NODE.path(name=node)))
    assert node in names(w, NODE.path(), fieldSelector="spec.unschedulable=true")
    assert node not in names(w, NODE.path(), fieldSelector="spec.unschedulable=false")
    assert ns in names(w, NAMESPACE_KIND.path(), fieldSelector="status.phase=Active")
    w.post(EVENT.path(ns), EVENT.make(ns, "e")).ok(201)
    for selector in ("involvedObject.kind=Pod", "involvedObject.name=p", f"involvedObject.namespace={ns}", "reason=Why",
                     "type=Normal",
                     "involvedObject.uid=", "involvedObject.kind=Pod,reason!=Other"):
        assert names(w, EVENT.path(ns), fieldSelector=selector) == ["e"], selector
    assert names(w, EVENT.path(ns), fieldSelector="reason=Other") == []
    w.post(SECRET.path(ns), SECRET.make(ns, "s")).ok(201)
    assert names(w, SECRET.path(ns),
                 fieldSelector="type=Opaque") == ["s"] and names(w, SECRET.path(ns), fieldSelector="type=other") == []
    w.post(SERVICE.path(ns), SERVICE.make(ns, "s")).ok(201)
    assert names(w, SERVICE.path(ns), fieldSelector="spec.type=ClusterIP") == ["s"] and names(
        w, SERVICE.path(ns), fieldSelector="spec.clusterIP=None") == []
    w.post(JOB.path(ns), JOB.make(ns, "j")).ok(201)
    assert names(w, JOB.path(ns), fieldSelector="status.successful=0") == ["j"] and names(
        w, JOB.path(ns), fieldSelector="status.successful=1") == []

    def unsupported(kind: Kind, field: str) -> None:
        w.get(query(kind.path(ns), fieldSelector=f"{field}=1")).fails(400, "BadRequest", f"field label not supported: {field}")

    def unknown(kind: Kind, field: str) -> None:
        w.get(query(kind.path(ns), fieldSelector=f"{field}=1")).fails(
            400, "BadRequest", f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"')

    unsupported(NODE, "spec.providerID")
    unsupported(NAMESPACE_KIND, "name")
    unsupported(EVENT, "nope")
    unsupported(SECRET, "data")
    for kind in (DEPLOYMENT, BUDGET, LEASE, VOLUME):
        unknown(kind, "spec.replicas")
