"""Sequences of API calls for a cluster where nothing moves by itself: every answer can be compared.

    steps = sequence(seed)

A step is a dict: {"method", "path", "body", "content", "accept"} for a call, {"watch": path, "until": name} for what a watch from
the sequence's beginning tells up to an object of that name; diff_views has more.  In its texts

    @ns@            is the namespace
    @rv PATH@       the version that was last seen of the object at that path, @old PATH@ one before that, @uid PATH@ its uid
    @continue@      the token of the last list that had one

A pure function of the seed.
"""

from __future__ import annotations

from random import Random

from diff_bodies import ALL_KINDS, BOAT, NAMES, NAMESPACED, SCOPED, WORDS, body, make, metadata, some, spoil
from diff_views import PARTIAL, Views, call
from kinds import (BUDGET, CONFIG_MAP, DEPLOYMENT, IMAGE, NAMESPACE_KIND, POD, REPLICA_SET, SERVICE_ACCOUNT, STATEFUL_SET, Kind)
from wire import JSON, PATCHES, query

NOBODY = "11111111-1111-1111-1111-111111111111"
LENGTH = 40
SCALED = (DEPLOYMENT, REPLICA_SET, STATEFUL_SET, BOAT)
MARK = "zz-mark"
TAIL = 7  # steps at the end of each sequence: an account, and three watches

# How long a pod may take to go.  A second deletion makes the time shorter, but not shorter than it has already lasted; so that no
# answer depends on how fast the steps follow each other, it is either over at once or never.
GRACES = (0, 0, 1, 2000, 4000, -1)


class Maker(Views):
    """Draws one step after the other; favours a few objects, so that they meet."""

    def __init__(self, seed: int) -> None:
        self.r = Random(seed)
        self.kinds = self.r.sample(NAMESPACED, 4) + self.r.sample(SCOPED, 1) + [POD, BUDGET]
        self.made: list[tuple[Kind, str]] = []
        self.generated = 0

    def kind(self) -> Kind:
        return self.r.choice(self.kinds if self.r.random() < 0.9 else ALL_KINDS)

    def name(self, kind: Kind) -> str:
        name = self.r.choice(NAMES)
        return name if kind.namespaced else f"@ns@-{name}"

    def target(self, *kinds: Kind) -> tuple[Kind, str]:
        """Mostly something that may be there."""
        known = [(k, n) for k, n in self.made if not kinds or k in kinds]
        if known and self.r.random() < 0.85:
            return self.r.choice(known)
        kind = self.r.choice(kinds) if kinds else self.kind()
        return kind, self.name(kind)

    def options(self, *names: str) -> dict:
        """Some of the options of a write, rarely."""
        r, drawn = self.r, {}
        if "dryRun" in names and r.random() < 0.1:
            drawn["dryRun"] = r.choice(("All", "All", "All", "None"))
        if "fieldValidation" in names and r.random() < 0.2:
            drawn["fieldValidation"] = r.choice(("Strict", "Strict", "Warn", "Ignore", "Maybe"))
        if "fieldManager" in names and r.random() < 0.05:
            drawn["fieldManager"] = r.choice(("me", "x" * 129))
        return drawn

    # -- steps --------------------------------------------------------------------------------------------------------

    def create(self) -> dict:
        kind = self.kind() if self.r.random() < 0.75 else self.r.choice((POD, POD, BUDGET))
        name = self.name(kind)
        good = body(self.r, kind, name)
        if self.r.random() < 0.1:
            good["metadata"].pop("name")
            # Each another one: what is random in the names must not decide their order, and with it where pages end.
            self.generated += 1
            good["metadata"]["generateName"] = f"gen-{name}{self.generated}-" if kind.namespaced else f"{name}-gen{self.generated}-"
        else:
            self.made.append((kind, name))
        content = "application/yaml" if self.r.random() < 0.03 else JSON  # what is JSON is YAML too
        return call("POST", query(kind.path("@ns@"), **self.options("dryRun", "fieldValidation", "fieldManager")), good, content)

    def create_badly(self) -> dict:
        kind = self.kind()
        bad = spoil(self.r, kind, body(self.r, kind, self.name(kind)))
        content = self.r.choice((JSON,) * 8 + ("text/plain", "application/json-patch+json"))
        return call("POST", query(kind.path("@ns@"), **self.options("fieldValidation")), bad, content)

    def read(self) -> dict:
        kind, name = self.target()
        return call("GET", kind.path("@ns@", name))

    def replace(self) -> dict:
        r = self.r
        kind, name = self.target()
        path = kind.path("@ns@", name)
        new = body(r, kind, name)
        how = r.random()
        if how < 0.5:
            new["metadata"]["resourceVersion"] = f"@rv {path}@"
        elif how < 0.65:
            new["metadata"]["resourceVersion"] = f"@old {path}@"
        elif how < 0.7:
            new["metadata"]["resourceVersion"] = r.choice(("1", "abc"))
        if r.random() < 0.3:
            new["metadata"]["uid"] = r.choice((f"@uid {path}@", f"@uid {path}@", NOBODY))
        if r.random() < 0.1:
            new = spoil(r, kind, new)
        return call("PUT", query(path, **self.options("dryRun", "fieldValidation")), new)

    def replace_status(self) -> dict:
        r = self.r
        kind, name = self.target(*[k for k in self.kinds if k.status])
        path = kind.path("@ns@", name)
        new = body(r, kind, name)
        new["metadata"]["resourceVersion"] = f"@rv {path}@"
        new["status"] = self.status(kind)
        return call("PUT", path + "/status", new)

    def status(self, kind: Kind) -> dict:
        r = self.r
        return {"Pod": lambda: {"phase": r.choice(("Running", "Running", "Pending", "Succeeded", "Failed")), "conditions": [
                    {"type": "Ready", "status": r.choice(("True", "False")), "lastTransitionTime": "2026-01-02T03:04:05Z"}]},
                "PodDisruptionBudget": lambda: {"observedGeneration": r.randrange(4), "disruptionsAllowed": r.randrange(-1, 3),
                                                "currentHealthy": r.randrange(4),
                                                "desiredHealthy": r.randrange(4), "expectedPods": r.randrange(5)},
                "Node": lambda: {"conditions": [{"type": r.choice(("Ready", "MemoryPressure")),
                                                 "status": r.choice(("True", "False", "Unknown")), "reason": "Test"}],
                                 **some(r, addresses=lambda: [{"type": "InternalIP", "address": "10.1.2.3"}],
                                        capacity=lambda: {"cpu": r.choice(("4", "4000m", "0.5")), "memory": "1.5Gi"},
                                        nodeInfo=lambda: {"bootID": r.choice(NAMES), "kubeletVersion": "v1"})},
                "Deployment": lambda: {"replicas": r.randrange(3), **some(
                    r, readyReplicas=lambda: r.randrange(4), availableReplicas=lambda: r.randrange(-1, 4),
                    updatedReplicas=lambda: r.randrange(3), observedGeneration=lambda: r.randrange(3), conditions=lambda: [
                        {"type": "Progressing", "status": "True"}])},
                "StatefulSet": lambda: {"replicas": r.randrange(3), **some(
                    r, readyReplicas=lambda: r.randrange(4), availableReplicas=lambda: r.randrange(4),
                    currentRevision=lambda: "a-1", collisionCount=lambda: r.randrange(-1, 2))},
                "DaemonSet": lambda: {"currentNumberScheduled": r.randrange(3), "numberMisscheduled": r.randrange(-1, 2),
                                      "desiredNumberScheduled": r.randrange(3), "numberReady": r.randrange(3)},
                "Job": lambda: some(r, active=lambda: r.randrange(-1, 3), succeeded=lambda: r.randrange(3),
                                    startTime=lambda: "2026-01-02T03:04:05Z", conditions=lambda: [
                                        {"type": r.choice(("Complete", "Suspended")), "status": "True"}]),
                "PersistentVolumeClaim": lambda: {"phase": r.choice(("Bound", "Pending")), **some(
                    r, capacity=lambda: {"storage": r.choice(("1Gi", "1024Mi"))}, accessModes=lambda: ["ReadWriteOnce"])},
                "Service": lambda: {"loadBalancer": some(r, ingress=lambda: [{"ip": r.choice(("1.2.3.4", "x"))}])},
                "VolumeAttachment": lambda: {"attached": r.random() < 0.5},
                "Namespace": lambda: {"phase": r.choice(("Active", "Terminating", "x"))}}.get(
            kind.kind, lambda: {"replicas": r.randrange(-1, 4), "phase": r.choice(("Bound", "Pending", "x"))})()

    def patch(self) -> dict:
        r = self.r
        kind, name = self.target()
        path = kind.path("@ns@", name)
        if r.random() < (0.25 if kind.status else 0.03):
            where = query(path + "/status", **self.options("dryRun", "fieldValidation"))
            return call("PATCH", where, {"status": self.status(kind)}, PATCHES[r.choice(("merge", "strategic"))])
        content = r.choice(("merge", "merge", "strategic", "json"))
        drawn = self.json_patch(path) if content == "json" else self.merge_patch(kind, path)
        if r.random() < 0.05:
            drawn = r.choice(("{", "[]", "", "null", '{"a"}', "7"))
        return call("PATCH", query(path, **self.options("dryRun", "fieldValidation")), drawn,
                    PATCHES[content] if r.random() < 0.97 else JSON)

    def json_patch(self, path: str) -> list[dict]:
        r = self.r
        operations = [
            {"op": "add", "path": "/metadata/labels", "value": {"app": r.choice(WORDS)}},
            {"op": "replace", "path": "/metadata/labels/app", "value": r.choice(WORDS)},
            {"op": "remove", "path": "/metadata/labels"}, {"op": "remove", "path": "/metadata/labels/tier"},
            {"op": "test", "path": "/metadata/labels/app", "value": "web"},
            {"op": "add", "path": "/metadata/finalizers/-", "value": "slipway.dev/more"},
            {"op": "remove", "path": "/metadata/finalizers/0"},
            {"op": "add", "path": "/metadata/annotations/slipway.dev~1note", "value": "patched"},
            {"op": "copy", "from": "/metadata/labels", "path": "/metadata/annotations"},
            {"op": "move", "from": "/metadata/labels/app", "path": "/metadata/labels/was"},
            {"op": "test", "path": "/metadata/resourceVersion", "value": f"@rv {path}@"},
            {"op": "replace", "path": "/spec/replicas", "value": r.randrange(-1, 4)},
            {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "registry.test/app:2"},
            {"op": "add", "path": "/spec/taints/-", "value": {"key": "p", "effect": "NoExecute"}},
            {"op": "replace", "path": "/metadata/name", "value": "other"},
            {"op": "add", "path": "/data/new", "value": "1"}, {"op": "remove", "path": "/data"}, {"op": "nope", "path": "/"},
            {"op": "add", "path": "/spec/masts", "value": 4}, {"op": "add", "path": "/spec/crew/-", "value": {"name": "y"}},
            {"op": "add", "path": "/zzz", "value": 1}, {"op": "add", "path": "/spec/zzz", "value": {"b": 1, "a": 2}},
            {"op": "add", "path": "/metadata/aaa", "value": []}, {"op": "replace", "path": "", "value": {}},
            {"op": "remove", "path": "/metadata/annotations"}, {"op": "remove", "path": "/spec"},
            {"op": "add", "path": "/spec/template/spec/containers/0/env", "value": [{"name": "Z", "value": "1"}]},
            {"op": "add", "path": "/spec/template/spec/containers/1", "value": {"name": "more", "image": IMAGE}},
            {"op": "test", "path": "/spec/replicas", "value": 1}, {"op": "test", "path": "/metadata/labels", "value": None},
            {"op": "copy", "from": "/spec/template/metadata/labels", "path": "/metadata/labels"}]
        return [r.choice(operations) for _ in range(r.randrange(1, 4))]

    def merge_patch(self, kind: Kind, path: str) -> object:
        r = self.r
        patches: list[object] = [
            {"metadata": metadata(r)}, {"metadata": {"labels": None}},
            {"metadata": {"labels": {"app": r.choice(WORDS), "tier": None}}}, {"metadata": {"finalizers": None}},
            {"metadata": {"finalizers": ["slipway.dev/hold"]}},
            {"metadata": {"resourceVersion": f"@rv {path}@", "labels": {"by": "rv"}}},
            {"metadata": {"resourceVersion": f"@old {path}@", "labels": {"by": "old"}}}, {"metadata": {"uid": NOBODY}},
            {"metadata": {"name": "other"}}, {"kind": "Other"},
            {"metadata": {"labels": {"bad key": "x"}}}, {"metadata": {"annotations": {"slipway.dev/note": 7}}}, {},
            {"extra": 1}, {"spec": make(r, kind).get("spec")},
            {"data": {"x": None, "y": "patched"}}, {"data": {"x": 1}}, {"spec": {"replicas": r.randrange(-1, 5)}},
            {"spec": {"unschedulable": r.random() < 0.5}},
            {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "registry.test/app:3"}]}}}},
            {"spec": {"suspend": True}},
            {"spec": {"template": {"spec": {"containers": [{"name": "extra", "image": IMAGE},
                                                           {"name": "main", "$patch": "delete"}]}}}},
            {"spec": {"taints": [{"key": "q", "effect": "NoSchedule"}]}},
            {"spec": {"minAvailable": 1, "maxUnavailable": None}}, {"spec": {"holderIdentity": "other"}},
            {"spec": {"masts": 3, "hull": "steel"}}, {"spec": {"masts": 99}},
            {"metadata": {"labels": {"$patch": "replace", "app": "db"}}},
            {"metadata": {"$deleteFromPrimitiveList/finalizers": ["slipway.dev/hold"]}}, {"status": {"replicas": 7}},
            {"spec": None}, {"metadata": None}, {"metadata": {"annotations": None}},
            {"spec": {"z": 1, "a": {"c": 1, "b": 2}}, "b": 0},
            {"metadata": {"generateName": "x-", "generation": 7, "creationTimestamp": None}},
            {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": NOBODY}]}},
            {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": NOBODY, "controller": True},
                                              {"apiVersion": "v1", "kind": "Node", "name": "b", "uid": "other",
                                               "controller": True}]}},
            {"metadata": {"deletionTimestamp": "2026-01-02T03:04:05Z", "namespace": "elsewhere"}},
            {"spec": {"selector": {"matchLabels": {"app": "other"}}}}, {"spec": {"replicas": 2**31}}, {"spec": {"replicas": 1.5}},
            {"spec": {"nodeName": "n9"}}, {"spec": {"terminationGracePeriodSeconds": 1}}, {"spec": {"activeDeadlineSeconds": 5}},
            {"spec": {"tolerations": [{"key": "more", "operator": "Exists"}]}}, {"spec": {"schedulingGates": None}},
            {"spec": {"containers": [{"name": "main", "image": "registry.test/app:4"}]}}, {"spec": {"clusterIP": "10.96.0.77"}},
            {"spec": {"resources": {"requests": {"storage": "3Gi"}}}}, {"spec": {"strategy": {"type": "Recreate"}}},
            {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}, {"spec": {"parallelism": 2}},
            {"spec": {"providerID": "test://y", "podCIDR": "10.2.0.0/24"}}, {"immutable": True}, {"type": "Other"}]
        return r.choice(patches)

    def scale(self) -> dict:
        r = self.r
        kind, name = self.target(*SCALED)
        path = kind.path("@ns@", name, "scale")
        how = r.random()
        if how < 0.3:
            return call("GET", path)
        if how < 0.6:
            return call("PATCH", path, {"spec": {"replicas": r.randrange(-1, 5)}}, PATCHES["merge"])
        version = {"resourceVersion": f"@rv {kind.path('@ns@', name)}@"} if r.random() < 0.5 else {}
        return call("PUT", path, {"apiVersion": "autoscaling/v1", "kind": "Scale",
                                  "metadata": {"name": name, "namespace": "@ns@", **version},
                                  "spec": {"replicas": r.randrange(4)}})

    def delete(self) -> dict:
        r = self.r
        kind, name = self.target()
        path = kind.path("@ns@", name)
        options: dict[str, object] = {}
        if r.random() < 0.4:
            options["gracePeriodSeconds"] = r.choice(GRACES)
        if r.random() < 0.4:
            options["propagationPolicy"] = r.choice(("Background", "Background", "Foreground", "Orphan", "Nope"))
        if r.random() < 0.3:
            options["preconditions"] = r.choice(({"uid": f"@uid {path}@"}, {"uid": NOBODY},
                                                 {"resourceVersion": f"@rv {path}@"}, {"resourceVersion": "1"}))
        asked = {}
        if r.random() < 0.15:
            options.pop("preconditions", None)
            asked, options = options, {}
        return call("DELETE", query(path, **self.options("dryRun"), **asked), options or None)

    def delete_many(self) -> dict:
        kind = self.r.choice([k for k in self.kinds if k.namespaced])
        limited = {"limit": 1} if self.r.random() < 0.2 else {}
        fields: dict[str, str] = {}
        if self.r.random() < 0.2:
            fields["fieldSelector"] = self.r.choice(("metadata.name=a", "metadata.name!=a", "nope=1"))
        options = {"gracePeriodSeconds": self.r.choice(GRACES)} if self.r.random() < 0.3 else None
        return call("DELETE", query(kind.path("@ns@"),
                                    labelSelector=self.r.choice(("app=web", "app=db", "!app", "tier=1", "=")),
                                    **limited, **fields, **self.options("dryRun")), options)

    def finalize(self) -> dict:
        """A namespace's own finalizers have a subresource of their own."""
        _, name = self.target(NAMESPACE_KIND)
        path = NAMESPACE_KIND.path(name=name)
        return call("PUT", path + "/finalize", {"apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": name, **some(self.r, resourceVersion=lambda: f"@rv {path}@")},
            "spec": self.r.choice(({}, {"finalizers": []}, {"finalizers": ["kubernetes"]}))})

    def elsewhere(self) -> dict:
        """An object in another namespace, which may be going or not be there."""
        _, name = self.target(NAMESPACE_KIND)
        return call("POST", CONFIG_MAP.path(name), CONFIG_MAP.make(name, self.r.choice(NAMES)))

    def directive(self) -> dict:
        """Strategic patches that say more than what is to be there."""
        kind, name = self.target(*[k for k in self.kinds if k is not BOAT])
        containers = {"containers": self.r.choice((
            [{"$patch": "replace"}, {"name": "new", "image": IMAGE}],
            [{"name": "main", "$patch": "delete"}, {"name": "x", "image": IMAGE}],
            [{"name": "main", "env": [{"name": "A", "$patch": "delete"}, {"name": "C", "value": "1"}]}],
            [{"name": "main", "ports": [{"containerPort": 80, "$patch": "delete"}]}],
            [{"name": "main", "command": None, "resources": {"$patch": "replace", "limits": {"cpu": "8"}}}],
            [{"image": "no-name"}], [{"name": "main", "$patch": "nope"}]))}
        order = {"$setElementOrder/containers": [{"name": "side"}, {"name": "main"}]} if self.r.random() < 0.4 else {}
        spec = self.r.choice(({**containers, **order}, {"tolerations": [{"key": "t", "operator": "Exists"}]},
                              {"volumes": [{"name": "v", "$patch": "delete"}]},
                              {"volumes": [{"name": "v", "$retainKeys": ["name", "emptyDir"], "emptyDir": {}}]},
                              {"nodeSelector": {"$patch": "replace", "a": "b"}}))
        whole = {"spec": spec if kind in (POD, NAMESPACE_KIND) else {"template": {"spec": spec}}}
        meta = self.r.choice((
            {"metadata": {"labels": {"$patch": "delete"}}}, {"metadata": {"annotations": {"$retainKeys": ["x"], "x": "1"}}},
            {"metadata": {"finalizers": ["slipway.dev/more"],
                          "$setElementOrder/finalizers": ["slipway.dev/more", "slipway.dev/hold"]}},
            {"metadata": {"ownerReferences": [{"uid": NOBODY, "$patch": "delete"}]}}, {"$patch": "replace", "data": {"only": "x"}},
            {"$patch": "delete"}, {"data": {"$patch": "replace", "r": "1"}}, {"$retainKeys": ["metadata"]}))
        return call("PATCH", query(kind.path("@ns@", name), **self.options("dryRun", "fieldValidation")),
                    whole if self.r.random() < 0.6 else meta, PATCHES["strategic"])

    def evict(self) -> dict:
        r = self.r
        _, name = self.target(POD)
        path = POD.path("@ns@", name)
        options: dict[str, object] = {}
        if r.random() < 0.3:
            options["gracePeriodSeconds"] = r.choice(GRACES)
        if r.random() < 0.4:
            # Rarely another's uid: on a pod that is pending the server tries that again for ten seconds.
            options["preconditions"] = r.choice(({"uid": f"@uid {path}@"}, {"resourceVersion": f"@rv {path}@"}) * 5 + (
                {"uid": NOBODY}, {"resourceVersion": "1"}))
        eviction = {"apiVersion": r.choice(("policy/v1", "policy/v1", "policy/v1beta1", "v1")), "kind": "Eviction",
                    "metadata": {"name": name if r.random() < 0.95 else "other", "namespace": "@ns@"},
                    **({"deleteOptions": options} if options else {})}
        return call("POST", query(path + "/eviction", **self.options("dryRun")), eviction)

    def healthy(self) -> dict:
        """A pod that runs and is ready: so that evictions have something to ask budgets about."""
        _, name = self.target(POD)
        return call("PATCH", POD.path("@ns@", name, "status"), {"status": {"phase": "Running", "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z"}]}}, PATCHES["merge"])

    def allowing(self) -> dict:
        _, name = self.target(BUDGET)
        return call("PATCH", BUDGET.path("@ns@", name, "status"), {"status": {
            "observedGeneration": 9, "disruptionsAllowed": self.r.randrange(3), "currentHealthy": 3,
            "desiredHealthy": self.r.randrange(4), "expectedPods": 3}},
            PATCHES["merge"])

    def scene(self) -> list[dict]:
        """Two pods that run, one or two budgets with some status, and evictions of both."""
        r = self.r
        ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": r.choice(("True", "True", "False")),
                                                     "lastTransitionTime": "2026-01-02T03:04:05Z"}]}
        steps = []
        for name in ("p1", "p2"):
            spec = {"nodeName": "nowhere", "containers": [{"name": "main", "image": IMAGE}]}
            steps.append(call("POST", POD.path("@ns@"), {"apiVersion": "v1", "kind": "Pod",
                                                         "metadata": {"name": name, "labels": {"scene": "x"}}, "spec": spec}))
            steps.append(call("PATCH", POD.path("@ns@", name, "status"), {"status": ready}, PATCHES["merge"]))
            self.made.append((POD, name))
        for name in r.choice((("q1",), ("q1",), ("q1",), ("q1", "q2"))):
            rule = some(r, unhealthyPodEvictionPolicy=lambda: r.choice(("AlwaysAllow", "IfHealthyBudget")))
            spec = {"selector": {"matchLabels": {"scene": "x"}}, "minAvailable": 1, **rule}
            steps.append(call("POST", BUDGET.path("@ns@"), {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                                                            "metadata": {"name": name}, "spec": spec}))
            status = {"observedGeneration": r.choice((0, 1, 1, 1)), "disruptionsAllowed": r.randrange(3),
                      "currentHealthy": r.randrange(4), "desiredHealthy": r.randrange(4),
                      "expectedPods": 3}
            steps.append(call("PATCH", BUDGET.path("@ns@", name, "status"), {"status": status}, PATCHES["merge"]))
            self.made.append((BUDGET, name))
        for name in ("p1", "p2", "p1"):
            steps.append(call("POST", query(POD.path("@ns@", name, "eviction"), **self.options("dryRun")),
                              {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "@ns@"}}))
        return steps + [call("GET", BUDGET.path("@ns@")), call("GET", POD.path("@ns@"))]

    def bind(self) -> dict:
        _, name = self.target(POD)
        return call("POST", POD.path("@ns@", name, "binding"), {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
                                                               "target": {"kind": "Node", "name": self.r.choice(("n1", ""))}})

    def stray(self) -> dict:
        """A path or a method that leads nowhere."""
        kind, name = self.target()
        return self.r.choice((call("GET", kind.path("@ns@", name, "nothing")), call("PUT", kind.path("@ns@"), {}),
                              call("POST", kind.path("@ns@", name), {}),
                              call("GET", "/apis/none.example.com/v1/things"),
                              call("PATCH", kind.path("@ns@"), {}, PATCHES["merge"]), call("GET", "/api/v1/nothings"),
                              call("GET", kind.path("@ns@", name, "scale")), call("GET", kind.path("@ns@", name, "status")),
                              call("DELETE", POD.path("@ns@", "a", "eviction"))))


WEIGHTS = {"create": 22, "create_badly": 10, "read": 5, "browse": 8, "replace": 10, "replace_status": 4, "patch": 16,
           "scale": 5, "delete": 8, "delete_many": 2,
           "evict": 9, "healthy": 9, "allowing": 9, "bind": 2, "stray": 3, "view": 5, "written_view": 2, "pages": 2, "initial": 2,
           "directive": 3, "finalize": 1, "elsewhere": 1}


# Selections in which the last object is.
WATCHES = ({}, {"labelSelector": "app!=web"}, {"labelSelector": "!tier"}, {"fieldSelector": "metadata.name!=a"},
           {"labelSelector": "app notin (web,db)", "fieldSelector": "metadata.name!=b"})


def sequence(seed: int, length: int = LENGTH) -> list[dict]:
    maker = Maker(seed)
    steps = [maker.create() for _ in range(length // 5)]
    if maker.r.random() < 0.5:
        steps += maker.scene()
    while len(steps) < length:
        name, = maker.r.choices(list(WEIGHTS), list(WEIGHTS.values()))
        step = getattr(maker, name)()
        steps += step if isinstance(step, list) else [step]
    # A deletion of many may have hit the account that pods need.
    steps.append(call("POST", SERVICE_ACCOUNT.path("@ns@"), {"apiVersion": "v1", "kind": "ServiceAccount",
                                                             "metadata": {"name": "default"}}))
    extra = maker.r.choice([kind for kind in maker.kinds if kind.namespaced])
    watches = ((CONFIG_MAP, {}, JSON), (POD, {}, JSON), (extra, maker.r.choice(WATCHES), maker.r.choice((JSON, PARTIAL))))
    for number, (kind, chosen, accept) in enumerate(watches):
        steps.append(call("POST", kind.path("@ns@"), kind.make("@ns@", f"{MARK}-{number}")))
        steps.append({"watch": query(kind.path("@ns@"), **chosen), "until": f"{MARK}-{number}", "accept": accept})
    return steps
