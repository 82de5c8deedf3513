"""Who may do what, which version this is, and whether the server is well."""

from __future__ import annotations

from api import Api
from context import Context
from shape import ANY, Like, assert_has, assert_is
from wire import Wire

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def review(**attributes: object) -> dict:
    return {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": attributes}


def test_access_reviews(ctx: Context) -> None:
    """The administrator may do everything; the answer is the review with its status."""
    w = Wire(ctx.cluster.api)
    for attributes in ({"verb": "create", "resource": "pods", "subresource": "eviction", "namespace": "default"},
                       {"verb": "patch", "resource": "nodes"},
                       {"verb": "*", "group": "*", "resource": "*"}, {"verb": "get", "group": "slipway.dev",
                                                                      "resource": "policies", "name": "x"}):
        made = w.post(REVIEWS, review(resourceAttributes=attributes)).ok(201)
        assert_has(made, {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
                          "spec": {"resourceAttributes": attributes},
                          "status": {"allowed": True}})
        assert "name" not in made["metadata"]
    assert w.post(REVIEWS, review(nonResourceAttributes={"verb": "get", "path": "/healthz"})).ok(201)["status"]["allowed"] is True
    w.post(REVIEWS, review()).refused(
        422, "Invalid", "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified")
    w.get(REVIEWS).no_method()
    w.post(REVIEWS, "{").refused(400, "BadRequest")


def test_access_reviews_that_are_refused(ctx: Context) -> None:
    w = Wire(ctx.cluster.api)
    good = {"verb": "get", "resource": "pods"}
    w.post(REVIEWS, {**review(resourceAttributes=good), "metadata": {"name": "x"}}).refused(
        422, "Invalid", '.authorization.k8s.io "" is invalid: metadata: Invalid value: {"name":"x"', ": must be empty")
    made = w.post(REVIEWS, {**review(resourceAttributes=good), "metadata": {"namespace": "x", "uid": "u", "selfLink": "/x"}}).ok(201)
    assert not set(made["metadata"]) & {"namespace", "uid", "selfLink"}, made
    w.post(REVIEWS, review(resourceAttributes=good, nonResourceAttributes={"verb": "get", "path": "/a"})).refused(
        422, "Invalid", 'spec.nonResourceAttributes: Invalid value: {"Path":"/a","Verb":"get"}: cannot be specified in combination')
    needs = [{"key": "a", "operator": "In", "values": ["b"]}]
    for selector in ("fieldSelector", "labelSelector"):
        where = f"spec.resourceAttributes.{selector}"
        w.post(REVIEWS, review(resourceAttributes={**good, selector: {"rawSelector": "a=b", "requirements": needs}})).refused(
            422, "Invalid", f'{where}.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements')
        w.post(REVIEWS, review(resourceAttributes={**good, selector: {}})).refused(
            422, "Invalid", f"{where}.requirements: Required value: when {where} is specified, requirements or rawSelector is required")
        made = w.post(REVIEWS, review(resourceAttributes={**good, selector: {"rawSelector": "((("}})).ok(201)
        assert_has(made["status"], {"allowed": True, "evaluationError": f"{where} ignored due to parse error"})
    odd = review(resourceAttributes={**good, "z": 3})
    w.post(REVIEWS + "?fieldValidation=Strict", odd).fails(
        400, "BadRequest", 'SelfSubjectAccessReview in version "v1" cannot be handled as a SelfSubjectAccessReview: strict decoding error: '
        'unknown field "spec.resourceAttributes.z"')
    assert w.post(REVIEWS, odd).warnings == ['unknown field "spec.resourceAttributes.z"']


def test_version(ctx: Context) -> None:
    w = Wire(ctx.cluster.api)
    answer = w.get("/version")
    said = answer.ok()
    assert answer.headers["Content-Type"] == "application/json"
    assert_has(said, {"major": "1", "minor": "36", "gitVersion": Like(r"v1\.36\.\d+.*"), "platform": Like("[a-z]+/[a-z0-9]+"),
                      "goVersion": ANY,
                      "gitCommit": ANY, "gitTreeState": ANY, "buildDate": ANY, "compiler": ANY})


def test_health(ctx: Context) -> None:
    w = Wire(ctx.cluster.api)
    for path in ("/healthz", "/readyz", "/livez"):
        answer = w.get(path)
        assert (answer.code, answer.text, answer.headers["Content-Type"]) == (200, "ok", "text/plain; charset=utf-8"), answer
        verbose = w.get(path + "?verbose")
        assert verbose.code == 200 and "[+]ping ok\n" in verbose.text and verbose.text.endswith(
            f"{path[1:]} check passed\n"), verbose
        assert w.get(path + "/ping").text == "ok"


def test_who_is_not_known(ctx: Context) -> None:
    """A wrong token opens nothing; without one health and version can be had."""
    api, ca = ctx.cluster.api, ctx.cluster.ca
    wrong = Wire(Api(api.port, ca, token="no-such-token"))
    for path in ("/api/v1/nodes", "/healthz", "/api"):
        wrong.get(path).fails(401, "Unauthorized", "Unauthorized")
    nobody = Wire(Api(api.port, ca))
    assert nobody.get("/healthz").text == "ok" and nobody.get("/version").ok()["major"] == "1"
    nobody.get("/api/v1/nodes").fails(403, "Forbidden",
                                      'nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group "" at '
                                      "the cluster scope", kind="nodes")
    nobody.get("/apis").fails(403, "Forbidden", 'forbidden: User "system:anonymous" cannot get path "/apis"', empty=True)
    nobody.post("/api/v1/namespaces/default/pods/x/eviction", {}).fails(
        403, "Forbidden", 'pods "x" is forbidden: User "system:anonymous" cannot create resource "pods/eviction" in API group "" in the namespace '
        '"default"', name="x", kind="pods")


def test_the_root(ctx: Context) -> None:
    w = Wire(ctx.cluster.api)
    paths = w.get("/").ok()["paths"]
    assert {"/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz", "/version"} <= set(paths), paths
    assert_is(w.get("/api").ok()["versions"], ["v1"])
