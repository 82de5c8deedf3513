"""Custom resources for the suites: a definition, made and established, and the Kind to use it with."""

from __future__ import annotations

from typing import Callable

from cluster import Cluster
from context import Context
from kinds import Kind

OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def crd(ctx: Context, kind: str, schema: dict | None = None, scope: str = "Namespaced", group: str | None = None,
        names: dict | None = None, version: dict | None = None, **spec: object) -> dict:
    """A definition with one version, v1, in a group of its own."""
    group = group or f"{ctx.unique('g')}.example.com"
    plural = kind.lower() + "s"
    one = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema or OPEN}, **(version or {})}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": scope, "versions": [one],
                     "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List",
                               **(names or {})}, **spec}}


def kind_of(definition: dict) -> Kind:
    spec = definition["spec"]
    return Kind(f"{spec['group']}/v1", spec["names"]["kind"], spec["names"]["plural"], {},
                namespaced=spec["scope"] == "Namespaced", unconditional=False)


def established(found: dict) -> bool:
    conditions = found.get("status", {}).get("conditions") or []
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


def make_crds(ctx: Context, cluster: Cluster, definitions: dict[str, dict], undo: Callable | None = None) -> dict[str, Kind]:
    """Creates definitions and waits until their objects are served; they are gone after the test (with ctx.suite_undo, after the suite)."""
    made: dict[str, Kind] = {}
    for definition in definitions.values():
        path = f"{DEFINITIONS}/{definition['metadata']['name']}"
        cluster.api.call("POST", DEFINITIONS, definition)
        (undo or ctx.undo)(lambda path=path: cluster.api.raw("DELETE", path))
    for name, definition in definitions.items():
        path = f"{DEFINITIONS}/{definition['metadata']['name']}"
        ctx.wait_for(lambda: established(cluster.api.get(path)), 30, f"{path} to be established", interval=0.05)
        kind = made[name] = kind_of(definition)
        ctx.wait_for(lambda: cluster.api.raw("GET", kind.path("default"))[0] == 200, 30, f"{kind.kind}s to be served",
                     interval=0.05)
    return made


def make_crd(ctx: Context, cluster: Cluster, definition: dict, least: dict | None = None) -> Kind:
    """One of them."""
    kind = make_crds(ctx, cluster, {"one": definition})["one"]
    kind.least = least or {}
    return kind
