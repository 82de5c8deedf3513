"""Random cases for test_patches.py: objects shaped like Kubernetes' own, and patches of the three kinds, good and bad.

Everything comes from one random.Random: the same seed makes the same cases.  Names are drawn from a handful, so that items of
lists meet; what a patch says is mostly sensible, sometimes wrong in one place, and now and then nonsense.
"""

from __future__ import annotations

import copy
import json
import random

NAMES = ("a", "b", "c", "d", "e", "main", "side-car", "x.io/y", "ä", "a<b")
SCALARS = ("", "x", "y", "10m", "true", 0, 1, 2, 80, 8080, -1, True, False, 1.5, 1e6, 123456789012)

# Shapes: "name" and the like are scalars, {...} an object with some of these members, [shape] a list, ("map",) a map of
# strings.  The merge keys of lists are looked up in KEYS.
CONTAINER = {
    "name": "name", "image": "name", "args": ["name"], "env": [{"name": "name", "value": "name", "valueFrom": {"fieldRef": {
        "fieldPath": "name"}}}], "ports": [{"containerPort": "port", "name": "name", "protocol": "name"}],
    "volumeMounts": [{"mountPath": "name", "name": "name", "readOnly": "bool"}], "securityContext": {"capabilities": {
        "add": ["name"], "drop": ["name"]}, "privileged": "bool"}, "resources": {"limits": ("map",), "requests": ("map",)},
}
META = {
    "name": "name", "labels": ("map",), "annotations": ("map",), "finalizers": ["name"], "creationTimestamp": "null",
    "ownerReferences": [{"uid": "name", "name": "name", "kind": "name", "controller": "bool"}],
    "managedFields": [{"manager": "name", "fieldsV1": {"f:a": {"f:b": "null"}}}],
}
CONDITIONS = [{"type": "name", "status": "name", "lastProbeTime": "null", "reason": "name"}]
POD_SPEC = {
    "containers": [CONTAINER], "initContainers": [CONTAINER], "nodeName": "name", "nodeSelector": ("map",),
    "volumes": [{"name": "name", "emptyDir": {"medium": "name"}, "configMap": {"name": "name", "items": [{"key": "name"}]}}],
    "tolerations": [{"key": "name", "operator": "name", "tolerationSeconds": "port"}], "hostNetwork": "bool",
    "imagePullSecrets": [{"name": "name"}], "securityContext": {"runAsUser": "port", "sysctls": [{"name": "name"}],
                                                              "supplementalGroups": ["port"]},
    "topologySpreadConstraints": [{"topologyKey": "name", "maxSkew": "port"}], "hostAliases": [{"ip": "name", "hostnames": [
        "name"]}], "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "name", "values": ["name"]}]}]}}}, "terminationGracePeriodSeconds": "port",
}
SHAPES = {
    "Pod": {"metadata": META, "spec": POD_SPEC, "status": {"phase": "name", "conditions": CONDITIONS, "podIPs": [
        {"ip": "name"}]}},
    "Node": {"metadata": META, "spec": {"podCIDR": "name", "podCIDRs": ["name"], "unschedulable": "bool", "taints": [
        {"key": "name", "value": "name", "effect": "name"}]}, "status": {"capacity": ("map",), "conditions": CONDITIONS,
                                                                    "addresses": [{"type": "name", "address": "name"}],
                                                                    "nodeInfo": {"bootID": "name"}}},
    "Service": {"metadata": META, "spec": {"ports": [{"port": "port", "name": "name", "targetPort": "port", "protocol": "name"}],
                                           "selector": ("map",), "externalIPs": ["name"], "type": "name",
                                           "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": "port"}}}},
    "Deployment": {"metadata": META, "spec": {"replicas": "port", "selector": {"matchLabels": ("map",), "matchExpressions": [
        {"key": "name", "operator": "name", "values": ["name"]}]}, "strategy": {"type": "name", "rollingUpdate": {
            "maxSurge": "port", "maxUnavailable": "name"}}, "template": {"metadata": META, "spec": POD_SPEC}}},
    "ServiceAccount": {"metadata": META, "secrets": [{"name": "name", "namespace": "name"}], "imagePullSecrets": [
        {"name": "name"}]},
    "ConfigMap": {"metadata": META, "data": ("map",)},
    "PodDisruptionBudget": {"metadata": META, "spec": {"minAvailable": "port", "selector": {"matchLabels": ("map",)}}, "status": {
        "disruptedPods": ("map",), "conditions": CONDITIONS}},
}
KEYS = {"containers": "name", "initContainers": "name", "env": "name", "ports": "containerPort", "volumeMounts": "mountPath",
        "volumes": "name", "imagePullSecrets": "name", "topologySpreadConstraints": "topologyKey", "hostAliases": "ip",
        "ownerReferences": "uid", "conditions": "type", "podIPs": "ip", "addresses": "type", "secrets": "name"}
SETS = ("finalizers", "podCIDRs")


def go_text(value: object) -> str:
    """As Go's encoder writes it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for c in "<>&\u2028\u2029":
        text = text.replace(c, f"\\u{ord(c):04x}")
    return text


class Cases:
    def __init__(self, seed: object) -> None:
        self.r = random.Random(f"patches {seed}")

    def chance(self, percent: float) -> bool:
        return self.r.random() * 100 < percent

    # --- objects ---

    def scalar(self, shape: str) -> object:
        return {"name": self.r.choice(NAMES), "port": self.r.choice((1, 2, 80, 443, 8080)), "bool": self.chance(50),
                "null": None}[shape]

    def value(self, shape: object, filled: float = 50) -> object:
        """A value of this shape."""
        if isinstance(shape, str):
            return self.scalar(shape)
        if isinstance(shape, tuple):
            return {self.r.choice(NAMES): self.r.choice(NAMES) for _ in range(self.r.randrange(4))}
        if isinstance(shape, list):
            return [self.value(shape[0], filled) for _ in range(self.length())]
        members = [m for m in shape if self.chance(filled) or (m in ("spec", "metadata") and self.chance(90))]
        return {m: self.value(shape[m], filled) for m in members}

    def length(self) -> int:
        return self.r.randrange(20, 60) if self.chance(1) else self.r.choice((0, 1, 1, 2, 2, 3, 4))

    def clean(self, value: object, name: str = "") -> object:
        """As a server would hold it: the items of a merged list have their keys (mostly), and there is no key twice."""
        if isinstance(value, dict):
            return {k: self.clean(v, k) for k, v in value.items()}
        if not isinstance(value, list) or (name not in SETS and self.chance(3)):
            return value
        key = "port" if name == "ports" and any("port" in i for i in value) else KEYS.get(name)
        seen: list[object] = []
        kept = []
        for item in value:
            if isinstance(item, dict) and key:
                item = {key: self.r.choice((80, 443, 8080) if "ort" in key else NAMES), **item}
            known = item.get(key) if isinstance(item, dict) and key else item
            if not (key or name in SETS) or known not in seen:
                seen.append(known)
                kept.append(self.clean(item))
        return kept

    def object(self, kind: str) -> dict:
        return self.clean(self.value(SHAPES[kind]))

    def junk(self, depth: int = 2) -> object:
        pick = self.r.randrange(8 if depth else 5)
        if pick < 4:
            return self.r.choice(SCALARS)
        if pick == 4:
            return None
        if pick == 5:
            return [self.junk(depth - 1) for _ in range(self.r.randrange(3))]
        return {self.r.choice(("a", "name", "spec", "$patch", "image")): self.junk(depth - 1) for _ in range(self.r.randrange(3))}

    # --- strategic patches ---

    def strategic(self, shape: object, current: object, name: str = "") -> object:
        """A patch for a value of this shape."""
        if self.chance(1):
            return self.junk()
        if isinstance(shape, dict):
            return self.strategic_object(shape, current if isinstance(current, dict) else {})
        if isinstance(shape, list):
            return self.strategic_list(shape[0], current if isinstance(current, list) else [], name)
        if isinstance(shape, tuple):
            members = {self.r.choice(NAMES): None if self.chance(30) else self.r.choice(NAMES)
                       for _ in range(self.r.randrange(3))}
            return {**members, "$patch": self.r.choice(("replace", "delete"))} if self.chance(5) else members
        return None if self.chance(10) else self.scalar(shape)

    def strategic_object(self, shape: dict, current: dict) -> dict:
        patch: dict = {}
        members = list(shape)
        self.r.shuffle(members)
        for m in members:
            if not self.chance(70 if m in ("spec", "metadata", "template", "containers") else 25):
                continue
            if self.chance(8):
                patch[m] = None
                continue
            if isinstance(shape[m], list):
                self.list_directives(patch, m, shape[m], current.get(m))
            else:
                patch[m] = self.strategic(shape[m], current.get(m), m)
        if self.chance(4):
            patch["$retainKeys"] = self.retained(patch, current)
        if self.chance(3):
            patch["$patch"] = self.r.choice(("replace", "replace", "delete", "delete", "merge", "x", 5, None, ["a"], {"a": 1}))
        if self.chance(1):
            patch[self.r.choice(("$deleteFromPrimitiveList", "$setElementOrder", "$setElementOrder/", "$deleteFromPrimitiveList/",
                                 "$setElementOrder/nope", "$setElementOrder/Spec", "$setElementOrder/labels",
                                 "$deleteFromPrimitiveList/labels", "nope"))] = self.junk()
        if self.chance(1):
            name = self.r.choice(members)
            patch[self.r.choice(("$setElementOrder/", "$deleteFromPrimitiveList/")) + self.r.choice(
                (name, name.upper(), name.title(), name.replace("s", "\u017f").replace("k", "\u212a")))] = self.r.choice(
                    ([], ["a"], [{}], [{"name": "a"}], {}, "a"))
        return patch

    def retained(self, patch: dict, current: dict) -> object:
        keys = [k for k in patch if not k.startswith("$")] + [k for k in current if self.chance(50)]
        if self.chance(10):
            keys = keys[1:]
        return self.junk() if self.chance(5) else keys + ([self.junk(1)] if self.chance(5) else [])

    def list_directives(self, patch: dict, name: str, shape: list, current: object) -> None:
        """A list in a patch, and the parallel lists that go with it."""
        live = current if isinstance(current, list) else []
        pick = self.r.randrange(10)
        if pick < 7:
            patch[name] = self.strategic(shape, live, name)
        listed = patch.get(name)
        if isinstance(shape[0], str) and (pick == 7 or self.chance(15)):
            patch[f"$deleteFromPrimitiveList/{name}"] = self.junk() if self.chance(3) else self.r.sample(
                live, self.r.randrange(len(live) + 1)) + [self.scalar(shape[0]) for _ in range(self.r.randrange(2))]
        if pick >= 8 or self.chance(30):
            patch[f"$setElementOrder/{name}"] = self.order(name, shape[0], live, listed if isinstance(listed, list) else [])

    def order(self, name: str, shape: object, live: list, listed: list) -> object:
        if self.chance(3):
            return self.junk()
        key = self.merge_key(name, shape)
        items: list = []
        for item in [i for i in live if self.chance(60)] + [
                i for i in listed if not (isinstance(i, dict) and "$patch" in i) and self.chance(95)]:
            if isinstance(item, dict):
                item = {key: item[key]} if key in item else {}
            if item not in items:
                items.append(item)
        if self.chance(20):
            self.r.shuffle(items)
        return items if self.chance(97) else items + [self.junk()]

    def merge_key(self, name: str, shape: object) -> str:
        return "port" if name == "ports" and isinstance(shape, dict) and "port" in shape else KEYS.get(name, "name")

    def strategic_list(self, shape: object, live: list, name: str) -> list:
        items: list = []
        if not isinstance(shape, dict):
            return [self.scalar(shape) if self.chance(98) else self.junk() for _ in range(self.length())]
        key = self.merge_key(name, shape)
        for _ in range(self.length()):
            old = self.r.choice(live) if live and self.chance(60) else {}
            old = old if isinstance(old, dict) else {}
            item = {**self.strategic_object(shape, old)}
            if key in old:
                item[key] = copy.deepcopy(old[key])
            elif item.get(key) is None and self.chance(97):
                item[key] = self.r.choice((80, 81, 443) if "ort" in key else NAMES)
            if self.chance(10):
                item = {key: item.get(key), "$patch": "delete"}
            elif self.chance(2):
                item[key] = self.junk()
            items.append(item)
        if self.chance(5):
            items.insert(self.r.randrange(len(items) + 1), {"$patch": self.r.choice(("replace", "replace", "merge", "x"))})
        return items if self.chance(99) else items + [self.junk()]

    def changed(self, shape: object, value: object, name: str = "") -> object:
        """The same object, edited: for patches that kubectl makes of two objects."""
        if isinstance(shape, dict) and isinstance(value, dict):
            kept = {k: self.changed(shape.get(k, "name"), v, k) if self.chance(40) else v for k, v in value.items()
                    if not self.chance(6)}
            new = [m for m in shape if m not in value and self.chance(6)]
            return {**kept, **{m: self.value(shape[m]) for m in new}}
        if isinstance(shape, list) and isinstance(value, list):
            items = [self.changed(shape[0], v) if self.chance(40) else v for v in value if not self.chance(15)]
            if self.chance(25):
                items.insert(self.r.randrange(len(items) + 1), self.value(shape[0]))
            if self.chance(20):
                self.r.shuffle(items)
            return items
        return self.value(shape)

    # --- merge patches ---

    def merge(self, current: object) -> object:
        if not isinstance(current, dict) or self.chance(5):
            return self.junk(3)
        members = {k: None if self.chance(15) else self.merge(v) for k, v in current.items() if self.chance(40)}
        if self.chance(40):
            members[self.r.choice(NAMES)] = self.junk(3)
        return members

    # --- JSON patches ---

    def pointers(self, value: object, at: str = "") -> list[str]:
        found = [at]
        children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for k, v in children:
            found += self.pointers(v, f"{at}/{str(k).replace('~', '~0').replace('/', '~1')}")
        return found

    def pointer(self, pointers: list[str]) -> str:
        path = self.r.choice(pointers)
        if self.chance(30):
            path += self.r.choice(("/-", "/0", "/-1", "/00", "/+1", "/99", "/a", "/", "/x~1y", "/a~01", "/99999999999999999999",
                                   "/-9", "/1x", "/name/b"))
        elif self.chance(20):
            path = path.rpartition("/")[0] + self.r.choice(("/-", "/0", "/-1", "/1", "/2", "/-2", "/new"))
        if self.chance(2):
            path = self.r.choice(("a", "", "a/b", "//", "~", "/~", "/~2", "x" + path))
        return path

    def at(self, value: object, pointer: str) -> object:
        for part in pointer.split("/")[1:]:
            part = part.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and part in value:
                value = value[part]
            elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
                value = value[int(part)]
            else:
                return self.junk()
        return copy.deepcopy(value)

    def operation(self, current: object, pointers: list[str], tests: bool) -> object:
        if self.chance(0.5):
            return self.junk()
        op: dict = {"op": self.r.choice(("add", "add", "remove", "replace", "move", "copy", *(("test",) * 3 if tests else ()))),
                    "path": self.pointer(pointers)}
        if op["op"] in ("move", "copy") or self.chance(1):
            op["from"] = self.pointer(pointers)
        if op["op"] == "test" and self.chance(80):
            op["value"] = self.at(current, op["path"])
        elif op["op"] in ("add", "replace", "test") or self.chance(1):
            # How a null got there matters to a test that comes later (patch.h): so there is none where tests are.
            while True:
                op["value"] = self.at(current, self.r.choice(pointers)) if self.chance(40) else self.junk()
                if not tests or op["op"] == "test" or op["value"] is not None:
                    break
            if not tests and self.chance(2):
                del op["value"]
        if self.chance(1):
            op[self.r.choice(("op", "path", "from", "foo", "Path"))] = self.junk(1)
        if self.chance(0.5):
            del op[self.r.choice(list(op))]
        return op

    def json(self, current: object) -> object:
        pointers = self.pointers(current)
        tests = self.chance(50)
        if self.chance(1):
            return [{"op": self.r.choice(("test", "replace", "remove", "add")), "path": ""}]
        return [self.operation(current, pointers, tests) for _ in range(self.r.choice((1, 1, 1, 2, 3, 5)))]

    def text(self, patch: object) -> str:
        """A patch as some client writes it.  Which one matters to a test (patch.h), unless it comes after other operations."""
        tests = isinstance(patch, list) and any(isinstance(op, dict) and op.get("op") == "test" for op in patch[1:])
        if tests or self.chance(50):
            return go_text(patch)
        return json.dumps(patch, ensure_ascii=self.chance(50))

    # --- cases ---

    def case(self, kind: str) -> dict:
        name = self.r.choice(list(SHAPES))
        current = self.object(name)
        if self.chance(0.7):
            patch = self.junk()
        elif kind == "json":
            patch = self.json(current)
        elif kind == "merge":
            patch = self.merge(current)
        else:
            patch = self.strategic(SHAPES[name], current)
        return {"kind": kind, "type": name, "unchecked": self.chance(20), "current": current, "patch": self.text(patch)}

    def apply(self) -> dict:
        """What `kubectl apply` is asked to do: what it applied last, what it is to apply now, what there is."""
        name = self.r.choice(list(SHAPES))
        original = self.object(name)
        return {"kind": "diff", "type": name, "original": original, "modified": self.clean(self.changed(SHAPES[name], original)),
                "current": self.clean(self.changed(SHAPES[name], original))}
