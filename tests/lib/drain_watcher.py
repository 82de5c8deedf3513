"""A process of its own that watches pods and budgets of a cluster and says when a budget was broken.

    drain_watcher.py PORT CA CERT KEY

It shares nothing with Slipway: it counts for itself.  Whenever a healthy pod (Ready, not being deleted) is told to go, the
healthy pods that are left under each budget that selects it are compared with what the budget wants (desiredHealthy of its
status, by the disruption controller).  Pods and budgets are looked at in the order of their resourceVersions, which is the order of
the writes, whichever of the two watches was faster.  Pods that fall ill by themselves break nothing.

It prints "ready" when it has its first picture.  Each line on its standard input is answered by one line of JSON about
everything up to that moment:

    {"broken": [{"budget", "pod", "uid", "healthy", "wanted", "evicted", "version"}], "pods": {UID: {"ns", "name", "nodes", "gone"}}}
"""

from __future__ import annotations

import json
import queue
import sys
import threading
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cluster"))

from api import Api  # noqa: E402

PODS, BUDGETS = "/api/v1/pods", "/apis/policy/v1/poddisruptionbudgets"
MARKER = "drain-watcher-"


def selects(selector: dict | None, labels: dict[str, str]) -> bool:
    """As policy/v1: an empty selector selects everything, none nothing."""
    if selector is None:
        return False
    for key, value in selector.get("matchLabels", {}).items():
        if labels.get(key) != value:
            return False
    for rule in selector.get("matchExpressions", []):
        there, value = rule["key"] in labels, labels.get(rule["key"])
        good = {"In": there and value in rule.get("values", []), "NotIn": not there or value not in rule.get("values", []),
                "Exists": there, "DoesNotExist": not there}[rule["operator"]]
        if not good:
            return False
    return True


def healthy(pod: dict) -> bool:
    return not pod["metadata"].get("deletionTimestamp") and \
        any(c["type"] == "Ready" and c["status"] == "True" for c in pod.get("status", {}).get("conditions", []))


def evicted(pod: dict) -> bool:
    return any(c["type"] == "DisruptionTarget" and c["status"] == "True" and c.get("reason") == "EvictionByEvictionAPI"
               for c in pod.get("status", {}).get("conditions", []))


class Picture:
    """What there is now, what was broken, and every pod that ever was."""

    def __init__(self) -> None:
        self.pods: dict[str, dict] = {}  # by uid
        self.budgets: dict[str, dict] = {}
        self.broken: list[dict] = []
        self.all: dict[str, dict] = {}

    def budget(self, kind: str, obj: dict) -> None:
        name = f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"
        if kind == "DELETED":
            self.budgets.pop(name, None)
        else:
            self.budgets[name] = obj

    def pod(self, kind: str, obj: dict) -> None:
        meta = obj["metadata"]
        before = self.pods.get(meta["uid"])
        known = self.all.setdefault(meta["uid"], {"ns": meta["namespace"], "name": meta["name"], "nodes": [], "gone": False})
        node = obj["spec"].get("nodeName")
        if node and node not in known["nodes"]:
            known["nodes"].append(node)
        if kind == "DELETED":
            known["gone"] = True
            self.pods.pop(meta["uid"], None)
        else:
            self.pods[meta["uid"]] = obj
        goes = kind == "DELETED" or meta.get("deletionTimestamp")
        if before is not None and healthy(before) and goes:
            self.left(obj)

    def left(self, obj: dict) -> None:
        meta = obj["metadata"]
        for name, budget in self.budgets.items():
            selector, ns = budget["spec"].get("selector"), budget["metadata"]["namespace"]
            status = budget.get("status", {})
            if ns != meta["namespace"] or not selects(selector, meta.get("labels", {})) or "desiredHealthy" not in status:
                continue
            still = sum(healthy(p) for p in self.pods.values()
                        if p["metadata"]["namespace"] == ns and selects(selector, p["metadata"].get("labels", {})))
            if still < status["desiredHealthy"]:
                self.broken.append({"budget": name, "pod": f"{ns}/{meta['name']}", "uid": meta["uid"], "healthy": still,
                                    "wanted": status["desiredHealthy"], "evicted": evicted(obj),
                                    "version": int(meta["resourceVersion"])})


class Watcher:
    def __init__(self, api: Api) -> None:
        self.api = api
        self.picture = Picture()
        self.events: queue.Queue = queue.Queue()
        self.later: list[tuple[int, str, str, dict]] = []

    def start(self) -> None:
        for path, add in ((BUDGETS, self.picture.budget), (PODS, self.picture.pod)):
            first = self.api.get(path)
            for obj in first["items"]:
                add("ADDED", obj)
            threading.Thread(target=self.follow, args=(path, first["metadata"]["resourceVersion"]), daemon=True).start()

    def follow(self, path: str, version: str) -> None:
        while True:
            try:
                for event in self.api.watch(f"{path}?watch=true&allowWatchBookmarks=true&resourceVersion={version}", timeout=None):
                    if event["type"] == "ERROR":
                        self.events.put((path, "ERROR", event["object"]))
                        return
                    version = event["object"]["metadata"]["resourceVersion"]
                    self.events.put((path, event["type"], event["object"]))
            except OSError as error:
                self.events.put((path, "ERROR", {"message": str(error)}))
                return

    def catch_up(self) -> None:
        """Takes everything in that was written before now: up to a budget and a pod of our own."""
        name = MARKER + uuid.uuid4().hex[:10]
        meta = {"name": name, "namespace": "default"}
        self.api.create({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": {"minAvailable": 0}})
        self.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta,
                         "spec": {"schedulerName": "nobody", "containers": [{"name": "x", "image": "registry.test/x:1"}]}})
        awaited = {PODS, BUDGETS}
        while awaited:
            path, kind, obj = self.events.get(timeout=60)
            if kind == "ERROR":
                raise SystemExit(f"the watch of {path} has failed: {obj.get('message')}")
            if kind == "BOOKMARK":
                continue
            self.later.append((int(obj["metadata"]["resourceVersion"]), path, kind, obj))
            if obj["metadata"]["name"] == name:
                awaited.discard(path)
        # What one watch has told beyond this moment the other may not have told yet: it is left for the next time.
        self.later.sort(key=lambda event: event[0])
        now = max(version for version, _, kind, obj in self.later if obj["metadata"]["name"] == name and kind == "ADDED")
        for version, path, kind, obj in self.later:
            if version <= now:
                (self.picture.pod if path == PODS else self.picture.budget)(kind, obj)
        self.later = [event for event in self.later if event[0] > now]
        self.api.delete(f"/api/v1/namespaces/default/pods/{name}", {"gracePeriodSeconds": 0})
        self.api.delete(f"/apis/policy/v1/namespaces/default/poddisruptionbudgets/{name}")


def main() -> None:
    port, ca, cert, key = sys.argv[1:]
    watcher = Watcher(Api(int(port), Path(ca), Path(cert), Path(key)))
    watcher.start()
    print("ready", flush=True)
    for _ in sys.stdin:
        watcher.catch_up()
        print(json.dumps({"broken": watcher.picture.broken, "pods": watcher.picture.all}), flush=True)


if __name__ == "__main__":
    main()
