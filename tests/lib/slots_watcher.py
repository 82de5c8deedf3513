"""A process of its own that watches slots, Nodes and pods of a cluster and says when a promise about them was broken.

    slots_watcher.py PORT CA CERT KEY

It shares nothing with Slipway but the format of the record: it looks at every version of the three, in the order of their
resourceVersions, which is the order of the writes.  What it wants, with one slot in a policy:

    never two holders; never a grant of a node that is not cordoned, has a pod, or has rebooted since it was drained; never a
    reboot of a node that was not granted its slot

It prints "ready" when it has its first picture.  Each line on its standard input is answered by one line of JSON about
everything up to that moment:

    {"broken": [TEXT, ...], "records": N, "grants": N, "reboots": N}
"""

from __future__ import annotations

import json
import sys
import threading
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cluster"))

from api import Api  # noqa: E402
from drain_watcher import Watcher  # noqa: E402

PODS, NODES, MAPS = "/api/v1/pods", "/api/v1/nodes", "/api/v1/configmaps"
LABEL = "slipway.dev/slots"
LIMIT = 1


class Picture:
    def __init__(self) -> None:
        self.pods: dict[str, str] = {}  # by uid: the node
        self.nodes: dict[str, dict] = {}
        self.slots: dict[str, dict] = {}  # of the record: by node
        self.broken: list[str] = []
        self.records = self.grants = self.reboots = 0

    def pod(self, kind: str, obj: dict) -> None:
        uid, node = obj["metadata"]["uid"], obj["spec"].get("nodeName")
        if kind == "DELETED":
            self.pods.pop(uid, None)
        elif node:
            self.pods[uid] = node

    def node(self, kind: str, obj: dict) -> None:
        name, before = obj["metadata"]["name"], self.nodes.get(obj["metadata"]["name"])
        self.nodes[name] = obj
        if before and boot(before) != boot(obj):
            self.reboots += 1
            if self.slots.get(name, {}).get("state") != "granted":
                self.say(obj, f"{name} has rebooted with {self.slots.get(name)}")

    def map(self, kind: str, obj: dict) -> None:
        if LABEL not in obj["metadata"].get("labels", {}):
            return
        before, record = self.slots, json.loads(obj["data"]["slots"])
        self.slots = {s["node"]: s for s in record["slots"]} if kind != "DELETED" else {}
        self.records += 1
        if len(self.slots) > LIMIT:
            self.say(obj, f"{len(self.slots)} hold slots: {sorted(self.slots)}")
        for name, slot in self.slots.items():
            if slot["state"] == "granted" and before.get(name, {}).get("state") != "granted":
                self.granted(obj, name, slot)

    def granted(self, obj: dict, name: str, slot: dict) -> None:
        self.grants += 1
        node = self.nodes[name]
        if not node["spec"].get("unschedulable"):
            self.say(obj, f"{name} was granted its slot and is not cordoned")
        if left := [uid for uid, where in self.pods.items() if where == name]:
            self.say(obj, f"{name} was granted its slot with {len(left)} pods on it")
        if slot["boot"] != boot(node):
            self.say(obj, f"{name} was granted its slot in boot {boot(node)}: it was drained in {slot['boot']}")

    def say(self, obj: dict, text: str) -> None:
        self.broken.append(f"{text} (version {obj['metadata']['resourceVersion']})")


def boot(node: dict) -> str:
    return node["status"]["nodeInfo"]["bootID"]


class SlotsWatcher(Watcher):
    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.picture = Picture()
        self.add = {PODS: self.picture.pod, NODES: self.picture.node, MAPS: self.picture.map}

    def start(self) -> None:
        for path, add in self.add.items():
            first = self.api.get(path)
            for obj in first["items"]:
                add("ADDED", obj)
            threading.Thread(target=self.follow, args=(path, first["metadata"]["resourceVersion"]), daemon=True).start()

    def catch_up(self) -> None:
        """Takes everything in that was written before now: up to a marker of our own in each of the three."""
        name = "slots-watcher-" + uuid.uuid4().hex[:10]
        meta = {"name": name, "namespace": "default"}
        self.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
        self.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta,
                         "spec": {"schedulerName": "nobody", "containers": [{"name": "x", "image": "registry.test/x:1"}]}})
        self.api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
        awaited = set(self.add)
        while awaited:
            path, kind, obj = self.events.get(timeout=60)
            if kind == "ERROR":
                raise SystemExit(f"the watch of {path} has failed: {obj.get('message')}")
            if kind != "BOOKMARK":
                self.later.append((int(obj["metadata"]["resourceVersion"]), path, kind, obj))
            if obj["metadata"].get("name") == name:
                awaited.discard(path)
        for path in (f"{PODS.replace('pods', 'namespaces/default/pods')}/{name}?gracePeriodSeconds=0", f"{NODES}/{name}",
                     f"/api/v1/namespaces/default/configmaps/{name}"):
            self.api.delete(path)
        self.later.sort(key=lambda event: event[0])
        now = max(version for version, _, kind, obj in self.later if obj["metadata"]["name"] == name and kind == "ADDED")
        for version, path, kind, obj in self.later:
            if version <= now and not obj["metadata"]["name"].startswith("slots-watcher-"):
                self.add[path](kind, obj)
        self.later = [event for event in self.later if event[0] > now]


def main() -> None:
    port, ca, cert, key = sys.argv[1:]
    watcher = SlotsWatcher(Api(int(port), Path(ca), Path(cert), Path(key)))
    watcher.start()
    print("ready", flush=True)
    for _ in sys.stdin:
        watcher.catch_up()
        p = watcher.picture
        print(json.dumps({"broken": p.broken, "records": p.records, "grants": p.grants, "reboots": p.reboots}), flush=True)


if __name__ == "__main__":
    main()
