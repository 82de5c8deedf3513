"""Steps of the differential test that look at what is there: lists, selectors, pages, tables, metadata, a watch's first events.

A part of diff_calls.Maker, which has `r`, `kind()` and `target()`.  Beside calls there are two steps more:

    {"pages": path, "accept": media type}     a list in pages, to its end
    {"initial": path}                         what a watch tells before its first bookmark
"""

from __future__ import annotations

from random import Random
from typing import Callable

from kinds import Kind
from wire import JSON, PATCHES, query

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIALS = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
KUBECTL = f"{TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,{JSON}"

LABELS = ("app", "!app", "app=web", "app==web", "app!=web", "app in (web,db)", "app notin (web)", "app in (,web)", "tier>0",
          "tier<2", "tier=1,app", "app=", "app,!tier", "seq", "=", "a in", "app=web=x", "tier<x", "", "a b", "app=a b", "x/y/z=1",
          "app in ()", "!", ",", "app=web,")
FIELDS = {
    "Pod": ("spec.nodeName=nowhere", "status.phase=Running", "status.phase!=Running", "spec.restartPolicy=Always",
            "spec.schedulerName=default-scheduler", "spec.serviceAccountName=default", "spec.hostNetwork=false", "status.podIP=",
            "status.nominatedNodeName=", "spec.nodeName=,metadata.name!=a"),
    "Node": ("spec.unschedulable=true", "spec.unschedulable!=true"), "Secret": ("type=Opaque", "type!=Opaque"),
    "Event": ("involvedObject.kind=Pod", "involvedObject.name=p", "reason=Why", "type=Normal", "involvedObject.namespace=@ns@",
              "source=", "reportingComponent=", "involvedObject.uid="),
    "Job": ("status.successful=0",), "ReplicaSet": ("status.replicas=0",), "Namespace": ("status.phase=Active",),
    "Boat": ("spec.hull=wood", "spec.hull!=wood", "spec.masts=2"),
}
ANY_FIELDS = ("metadata.name=a", "metadata.name!=a", "metadata.name==a", "metadata.namespace=@ns@", "metadata.namespace!=@ns@",
              "metadata.name=a,metadata.name=b", "metadata.name", "nope=1", "metadata.name=a\\,b", "metadata.labels=x", "=")


def call(method: str, path: str, body: object = None, content: str = JSON, accept: str = JSON) -> dict:
    return {"method": method, "path": path, "body": body, "content": content} | ({"accept": accept} if accept != JSON else {})


class Views:
    r: Random
    kind: Callable[[], Kind]
    target: Callable[..., tuple[Kind, str]]

    def selection(self, kind: Kind) -> dict[str, object]:
        """Of objects that are no namespace's only those of this sequence: the others need not be on both servers."""
        r, chosen = self.r, {}
        if not kind.namespaced:
            chosen["labelSelector"] = "seq=@ns@"
        elif r.random() < 0.5:
            chosen["labelSelector"] = r.choice(LABELS)
        if r.random() < 0.4:
            chosen["fieldSelector"] = r.choice(ANY_FIELDS + FIELDS.get(kind.kind, ()) * 3)
        return chosen

    def browse(self) -> dict:
        r, kind = self.r, self.kind()
        chosen = self.selection(kind)
        if r.random() < 0.3 and kind.namespaced:
            chosen["limit"] = r.choice((1, 2, 500, 0, -1, "x"))
            if r.random() < 0.3:
                chosen["continue"] = r.choice(("@continue@", "@continue@", "abc"))
        if r.random() < 0.1:
            chosen["resourceVersion"] = r.choice(("0", "abc", "-1"))
        if r.random() < 0.05:
            chosen["resourceVersionMatch"] = r.choice(("Exact", "NotOlderThan", "x"))
        return call("GET", query(kind.path("@ns@"), **chosen))

    def view(self) -> dict:
        """What kubectl asks for, of one object or of many."""
        r = self.r
        kind, name = self.target()
        one = r.random() < 0.4
        accept = r.choice((KUBECTL, TABLE, PARTIAL if one else PARTIALS, PARTIALS if one else PARTIAL, "*/*", "application/*",
                           "text/html", "application/yaml", "application/json;as=Table;v=v2;g=meta.k8s.io",
                           "application/json;q=0.5"))
        shown = {"includeObject": r.choice(("None", "Metadata", "Object", "x"))} if r.random() < 0.4 else {}
        if one:
            return call("GET", query(kind.path("@ns@", name), **shown), accept=accept)
        return call("GET", query(kind.path("@ns@"), **self.selection(kind), **shown), accept=accept)

    def written_view(self) -> dict:
        """A write that is answered with a table, or with metadata alone."""
        r = self.r
        kind, name = self.target()
        accept = r.choice((TABLE, PARTIAL))
        if r.random() < 0.2:
            return call("DELETE", kind.path("@ns@", name), accept=accept)
        seen = {"metadata": {"labels": {"seen": str(r.randrange(3))}}}
        return call("PATCH", kind.path("@ns@", name), seen, PATCHES["merge"], accept)

    def pages(self) -> dict:
        """In a namespace: where pages end depends on what is there and not selected."""
        r, kind = self.r, self.kind()
        while not kind.namespaced:
            kind = self.kind()
        chosen = self.selection(kind)
        accept = r.choice((JSON, JSON, TABLE, PARTIALS))
        return {"pages": query(kind.path("@ns@"), **chosen, limit=r.randrange(1, 4)), "accept": accept}

    def initial(self) -> dict:
        kind = self.kind()
        chosen = self.selection(kind)
        chosen.pop("fieldSelector", None)
        return {"initial": query(kind.path("@ns@"), watch=True, sendInitialEvents=True, allowWatchBookmarks=True,
                                 resourceVersionMatch="NotOlderThan", **chosen)}
