"""What the server says it serves: groups, versions, resources, in the old form and in the aggregated one, and its OpenAPI."""

from __future__ import annotations

from context import Context, real_only
from crds import crd, make_crd
from kinds import KINDS, Kind
from process import wait_for
from shape import Like, assert_has, assert_is
from wire import JSON, Answer, Wire

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
ALL = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
CHANGE = ["get", "patch", "update"]
SHORT = {"pods": ["po"], "configmaps": ["cm"], "events": ["ev"], "namespaces": ["ns"], "nodes": ["no"],
         "persistentvolumeclaims": ["pvc"],
         "persistentvolumes": ["pv"], "serviceaccounts": ["sa"], "services": ["svc"], "daemonsets": ["ds"],
         "deployments": ["deploy"],
         "replicasets": ["rs"], "statefulsets": ["sts"], "poddisruptionbudgets": ["pdb"],
         "customresourcedefinitions": ["crd", "crds"]}
CATEGORY_ALL = {"pods", "services", "daemonsets", "deployments", "replicasets", "statefulsets", "jobs"}
SCALE = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
EVICTION = {"group": "policy", "version": "v1", "kind": "Eviction"}
DEFINITION = Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", {}, namespaced=False,
                  status=True)


def verbs(kind: Kind) -> list[str]:
    return [v for v in ALL if v != "deletecollection"] if kind.resource == "namespaces" else ALL


def categories(kind: Kind) -> list[str] | None:
    return ["all"] if kind.resource in CATEGORY_ALL else ["api-extensions"] if kind is DEFINITION else None


def subresources(kind: Kind) -> dict[str, tuple[dict, list[str]]]:
    """Those of which Slipway and kubectl make use: name -> (kind, verbs)."""
    found: dict[str, tuple[dict, list[str]]] = {}
    if kind.status:
        found["status"] = ({"kind": kind.kind}, CHANGE)
    if kind.scale:
        found["scale"] = (SCALE, CHANGE)
    if kind.kind == "Pod":
        found |= {"eviction": (EVICTION, ["create"]), "binding": ({"kind": "Binding"}, ["create"])}
    return found


def root_of(kind: Kind) -> str:
    return f"/apis/{kind.version}" if kind.group else f"/api/{kind.version}"


def test_groups(ctx: Context) -> None:
    w = Wire(ctx.cluster.api)
    assert_has(w.get("/api").ok(), {"kind": "APIVersions", "versions": ["v1"]})
    listed = w.get("/apis").ok()
    assert (listed["kind"], listed["apiVersion"]) == ("APIGroupList", "v1")
    groups = {g["name"]: g for g in listed["groups"]}
    for name in ("apps", "batch", "policy", "coordination.k8s.io", "storage.k8s.io", "apiextensions.k8s.io",
                 "authorization.k8s.io"):
        version = {"groupVersion": f"{name}/v1", "version": "v1"}
        assert version in groups[name]["versions"] and groups[name]["preferredVersion"] == version, name
        alone = w.get(f"/apis/{name}").ok()
        assert_has(alone, {"kind": "APIGroup", "apiVersion": "v1", "name": name, "preferredVersion": version})
    for nowhere in ("/apis/none.example.com", "/apis/none.example.com/v1"):
        answer = w.get(nowhere)
        assert answer.code == 404, answer


def test_resources(ctx: Context) -> None:
    """The list of a group and version: one row for each resource and for each of its subresources."""
    w = Wire(ctx.cluster.api)
    for kind in KINDS + [DEFINITION]:
        listed = w.get(root_of(kind)).ok()
        assert_has(listed, {"kind": "APIResourceList", "groupVersion": kind.version})
        rows = {row["name"]: row for row in listed["resources"]}
        assert list(rows) == sorted(rows), "sorted by name"
        wanted = {"name": kind.resource, "singularName": kind.kind.lower(), "namespaced": kind.namespaced, "kind": kind.kind,
                  "verbs": verbs(kind),
                  "shortNames": SHORT.get(kind.resource), "categories": categories(kind)}
        seen = {key: value for key, value in rows[kind.resource].items() if key != "storageVersionHash"}
        assert_is(seen, wanted, kind.kind)
        for name, (what, allowed) in subresources(kind).items():
            assert_is(rows[f"{kind.resource}/{name}"], {"name": f"{kind.resource}/{name}", "singularName": "",
                                                        "namespaced": kind.namespaced, **what,
                                                       "verbs": allowed})
        assert (f"{kind.resource}/status" in rows) == kind.status and (f"{kind.resource}/scale" in rows) == kind.scale, kind.kind


def test_aggregated(ctx: Context) -> None:
    """All of it in two requests, as kubectl asks for it."""
    w = Wire(ctx.cluster.api)

    def asked(path: str) -> Answer:
        answer = w.get(path, AGGREGATED)
        assert answer.headers["Content-Type"] == AGGREGATED, answer.headers["Content-Type"]
        assert answer.headers["ETag"] and answer.headers["Vary"] == "Accept", answer.headers
        assert_has(answer.ok(), {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}})
        assert w.get(path, f"{AGGREGATED},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,{JSON}").json == answer.json
        again = w.ask("GET", path, accept=AGGREGATED, headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.code, again.body) == (304, b""), again
        return answer

    # Definitions of the tests before may still be going: then two answers differ.
    answers = {path: ctx.wait_for(lambda: asked(path), 60, f"{path} in all its forms") for path in ("/api", "/apis")}
    core, = answers["/api"].json["items"]
    assert core["metadata"] == {} and [v["version"] for v in core["versions"]] == ["v1"]
    groups = {g["metadata"]["name"]: g for g in answers["/apis"].json["items"]}
    for kind in KINDS + [DEFINITION]:
        group = groups[kind.group] if kind.group else core
        version, = [v for v in group["versions"] if v["version"] == "v1"]
        assert version["freshness"] == "Current"
        row, = [r for r in version["resources"] if r["resource"] == kind.resource]
        assert_has(row, {"resource": kind.resource, "responseKind": {"kind": kind.kind},
                         "scope": "Namespaced" if kind.namespaced else "Cluster",
                         "singularResource": kind.kind.lower(), "verbs": verbs(kind), "shortNames": SHORT.get(kind.resource),
                         "categories": categories(kind)}, kind.kind)
        subs = {s["subresource"]: s for s in row.get("subresources", [])}
        for name, (what, allowed) in subresources(kind).items():
            assert_has(subs[name], {"responseKind": what, "verbs": allowed})


def test_custom_resources_appear(ctx: Context) -> None:
    w = Wire(ctx.cluster.api)
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    definition = crd(ctx, "Tug", names={"shortNames": ["tg", "tgs"], "categories": ["slipway"]},
                     version={"subresources": {"status": {}, "scale": scale}})
    kind = make_crd(ctx, ctx.cluster, definition)

    def row() -> dict | None:
        listed = w.get(root_of(kind))
        found = {r["name"]: r for r in listed.json["resources"]} if listed.code == 200 else {}
        return found if "tugs" in found else None

    rows = ctx.wait_for(row, 30, "discovery of the new group")
    assert_has(rows["tugs"], {"singularName": "tug", "namespaced": True, "kind": "Tug", "shortNames": ["tg", "tgs"],
                              "categories": ["slipway"]})
    assert sorted(rows["tugs"]["verbs"]) == ALL
    assert_has(rows["tugs/status"], {"kind": "Tug", "verbs": CHANGE}) and assert_has(rows["tugs/scale"], {**SCALE, "verbs": CHANGE})

    def aggregated() -> dict | None:
        found = [g for g in w.get("/apis", AGGREGATED).ok()["items"] if g["metadata"]["name"] == kind.group]
        return found[0] if found and all(v["freshness"] == "Current" and v.get("resources") for v in found[0]["versions"]) else None

    group = ctx.wait_for(aggregated, 30, "the new group in the aggregated form")
    assert_has(group["versions"], [{"version": "v1", "freshness": "Current", "resources": [
        {"resource": "tugs", "responseKind": {"group": kind.group, "version": "v1", "kind": "Tug"}, "scope": "Namespaced",
         "shortNames": ["tg", "tgs"],
         "singularResource": "tug", "categories": ["slipway"]}]}])
    ctx.wait_for(lambda: kind.group in [g["name"] for g in w.get("/apis").ok()["groups"]], 60, "the new group in the list of groups")


# -- OpenAPI ------------------------------------------------------------------------------------------------------


def document(w: Wire, version: str) -> dict:
    def found() -> dict:
        paths = w.get("/openapi/v3").ok()["paths"]
        url = paths[f"apis/{version}" if "/" in version else f"api/{version}"]["serverRelativeURL"]
        assert Like(r"/openapi/v3/.*\?hash=[0-9A-F]+") == url, url
        answer = w.get(url)
        answer.ok()  # not a hint to another hash, as of a document that has changed meanwhile
        assert answer.headers["Content-Type"] == JSON
        return answer.json

    return wait_for(found, 60, f"the document of {version}")


def schema_of(doc: dict, kind: Kind) -> dict:
    wanted = {"group": kind.group, "version": kind.version.rpartition("/")[2], "kind": kind.kind}
    found = [s for s in doc["components"]["schemas"].values() if wanted in s.get("x-kubernetes-group-version-kind", [])]
    assert len(found) == 1, (kind.kind, len(found))
    return found[0]


def test_openapi(ctx: Context) -> None:
    """kubectl looks here for the kinds it may send, whether the server validates fields, and how lists are merged."""
    w = Wire(ctx.cluster.api)
    docs = {version: document(w, version) for version in sorted({kind.version for kind in KINDS})}
    for kind in KINDS:
        doc = docs[kind.version]
        assert Like(r"3\.0\.\d+") == doc["openapi"]
        properties = schema_of(doc, kind)["properties"]
        assert {"apiVersion", "kind", "metadata"} <= set(properties) and all(key in properties for key in kind.least), kind.kind
        path = kind.path("{namespace}")
        operations = {"post": doc["paths"][path]["post"], "patch": doc["paths"][path + "/{name}"]["patch"],
                      "put": doc["paths"][path + "/{name}"]["put"]}
        wanted = {"group": kind.group, "version": kind.version.rpartition("/")[2], "kind": kind.kind}
        for verb, operation in operations.items():
            assert operation["x-kubernetes-group-version-kind"] == wanted, (kind.kind, verb)
            names = {p.get("name") for p in operation["parameters"]}
            assert {"fieldValidation", "dryRun", "fieldManager"} <= names, (kind.kind, verb, names)


def test_openapi_knows_how_lists_are_merged(ctx: Context) -> None:
    w = Wire(ctx.cluster.api)
    schemas = document(w, "v1")["components"]["schemas"]
    containers = schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert_has(containers, {"type": "array", "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"})
    assert "x-kubernetes-patch-strategy" not in schemas["io.k8s.api.core.v1.NodeSpec"]["properties"]["taints"]


@real_only("server-side apply is the only reader of list types")
def test_openapi_knows_types_of_lists(ctx: Context) -> None:
    schemas = document(Wire(ctx.cluster.api), "v1")["components"]["schemas"]
    containers = schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert_has(containers, {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]})
    assert schemas["io.k8s.api.core.v1.NodeSpec"]["properties"]["taints"]["x-kubernetes-list-type"] == "atomic"


def test_openapi_of_a_custom_resource(ctx: Context) -> None:
    w = Wire(ctx.cluster.api)
    schema = {"type": "object", "properties": {"spec": {"type": "object", "description": "what is wanted",
                                                        "properties": {"hull": {"type": "string"}}}}}
    kind = make_crd(ctx, ctx.cluster, crd(ctx, "Sloop", schema))

    def there() -> bool:
        return f"apis/{kind.version}" in w.get("/openapi/v3").ok()["paths"]

    ctx.wait_for(there, 60, "the document of the new group")
    found = ctx.wait_for(lambda: schema_of(document(w, kind.version), kind), 60, "its schema")
    assert_has(found["properties"]["spec"], {"type": "object", "description": "what is wanted",
                                             "properties": {"hull": {"type": "string"}}})
