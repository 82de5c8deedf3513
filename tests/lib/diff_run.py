"""Runs a sequence of the differential test on one server and brings its answers into a form that can be compared.

What differs from server to server by nature becomes a word: UID, TIME, VERSION, RANDOM, HASH, NS.  What follows from it is
told apart all the same: the uid in a deletion's precondition was that of the object, or it was not.
"""

from __future__ import annotations

import json
import re
import urllib.parse

from api import Api
from cluster import Cluster
from diff_life import CPUS, NODES, SLOTS, TAINT
from diff_rest import World
from diff_views import PARTIAL
from kinds import BUDGET, CONFIG_MAP, DAEMON_SET, DEPLOYMENT, JOB, NAMESPACE_KIND, NODE, POD, REPLICA_SET, STATEFUL_SET, Kind
from process import wait_for
from rest import ready
from shape import differences
from wire import JSON, Answer, Stream, Wire, query

NOBODY = "11111111-1111-1111-1111-111111111111"
RANDOM = "[bcdfghjklmnpqrstvwxz2456789]{5}"
REPLACED = [
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), lambda m: m[0] if m[0] == NOBODY else "UID"),
    (re.compile(r"20[0-9]{2}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"),
     lambda m: m[0] if m[0].startswith("2026-01-02T03:04:05") else "TIME"),
    (re.compile(rf"kube-api-access-{RANDOM}"), "kube-api-access-RANDOM"),
    (re.compile(rf"\b(gen-[a-c]\d+-|NS-[a-c]-gen\d+-){RANDOM}\b"), r"\1RANDOM"),
    (re.compile(r"\b(dep\d+)-[0-9a-z]{6,10}\b(?!-RANDOM)"), r"\1-HASH"),
    (re.compile(rf"\b(dep\d+-HASH|(?:rs|ds|job|pod)\d+)-{RANDOM}\b"), r"\1-RANDOM"),
    (re.compile(r"\b((?:sts|ds)\d+)-[0-9a-z]{8,10}\b"), r"\1-HASH"),
    (re.compile(r"((?:UID|Version|version) in (?:the )?(?:record|precondition) \()\d+\)"), r"\1VERSION)"),
    (re.compile(r"(ResourceVersion in object meta: )\d+"), r"\1VERSION"),
    (re.compile(r"(resource version: \d+, current: )\d+"), r"\1VERSION"),
    # Where in the server's sources its table of kinds is made.
    (re.compile(r'( in scheme ")[^"]*'), r"\1"),
    # An address that a service would have had.
    (re.compile(r'(IPAddress\.networking\.k8s\.io ")[0-9.]+'), r"\1ADDRESS"),
]
DROPPED = {"managedFields", "clusterIP", "clusterIPs", "podIP", "podIPs", "hostIP", "hostIPs"}
YAML = "application/yaml"
PASSING = {"Age", "Last Seen", "First Seen", "Duration"}  # columns of tables
HASHES = {"pod-template-hash", "controller-revision-hash"}

REST = 240  # seconds: who waits longer waits for ever, however slow the machine is

# Warnings about fields that are not known or stand twice; what else is wise or not about an object is not simulated.
TOLD = ("unknown field", "duplicate field")


def words(text: str) -> str:
    for pattern, replacement in REPLACED:
        text = pattern.sub(replacement, text)
    if "Invalid value: {" in text:  # a list without items and none are the same on the wire, and two things in Go
        text = text.replace('":[]', '":null')
    # Of an object that is quoted in a message only what is said about it: the rest has versions and Go's own way of printing.
    text = re.sub(r'(Invalid value: )"(\{.*\}|map\[.*\])": ', r"\1OBJECT: ", text, flags=re.S)
    return re.sub(r"(pod updates may not change fields other than [^\n]*).*", r"\1", text, flags=re.S)


def ordered(value: object) -> str:
    """By which values are sorted: the order of their members is nobody's affair."""
    return json.dumps(value, sort_keys=True)


def plain(value: object, key: str = "") -> object:
    if isinstance(value, dict):
        if value.get("kind") == "Table":
            value = ageless(value)
        made = {words(k): plain(v, k) for k, v in value.items() if k not in DROPPED and v is not None}
        return sorted_causes(made) if made.get("kind") == "Status" else made
    if isinstance(value, list):
        made_of = [plain(v, key) for v in value]
        return sorted(made_of, key=ordered) if key in ("items", "rows") else made_of  # names with a random part sort as they like
    if isinstance(value, str):
        if key in ("resourceVersion", "continue"):
            return key.upper() if value else ""
        return "HASH" if key in HASHES else words(value)
    return value


def ageless(table: dict) -> dict:
    """How long ago something was says how fast the server is; an address is the one that it has chosen."""
    passing = [n for n, column in enumerate(table.get("columnDefinitions", ())) if column["name"] in PASSING]
    columns = [{k: v for k, v in column.items() if k != "description"} for column in table.get("columnDefinitions", ())]
    if "columnDefinitions" in table:  # their descriptions are left out of the simulator: src/sim/api/table.h
        table = table | {"columnDefinitions": columns}
    return table | {"rows": [row | {"cells": ["AGE" if n in passing and re.fullmatch(r"\d+s|\d+m\d*s?", str(cell)) else
                                              "ADDRESS" if re.fullmatch(r"10\.\d+\.\d+\.\d+", str(cell)) else cell
                                              for n, cell in enumerate(row["cells"])]} for row in table.get("rows") or []]}


def sorted_causes(status: dict) -> dict:
    """Several causes may come in any order, as Go's maps have them."""
    causes = status.get("details", {}).get("causes", [])
    if len(causes) < 2:
        return status
    causes = sorted(causes, key=lambda c: (c.get("field", ""), c["message"]))
    message = status["message"].partition(" is invalid: ")[0] + " is invalid"
    return status | {"message": message, "details": status["details"] | {"causes": causes}}


class Player:
    """One namespace of one server, and what was seen of its objects."""

    def __init__(self, api: Api, namespace: str) -> None:
        self.api, self.ns = api, namespace
        self.w = Wire(api)
        self.seen: dict[str, list[dict]] = {}
        self.token = ""
        self.words: dict[str, str] = {}  # what has another name on each server
        self.begin = ""

    def fill(self, text: str) -> str:
        def value(match: re.Match) -> str:
            word, _, path = match[1].partition(" ")
            if word == "ns":
                return self.ns
            if word == "continue":
                return self.token
            known = self.seen.get(path.replace("@ns@", self.ns))
            if not known:
                return NOBODY if word == "uid" else "1"
            # Not the first one seen: whether it is still good depends on writes that change nothing but managedFields.
            return self.begin if word == "old" else known[-1]["uid" if word == "uid" else "resourceVersion"]

        text = re.sub(r"@((?:rv|old|uid) .+?)@(?!ns@|/|-)", value, text)
        return re.sub(r"@(ns|continue)@", value, text)

    def filled(self, value: object):
        if isinstance(value, dict):
            return {key: self.filled(v) for key, v in value.items()}
        if isinstance(value, list):
            return [self.filled(v) for v in value]
        return self.fill(value) if isinstance(value, str) else value

    def note(self, path: str, answer: Answer) -> None:
        """Remembers versions, uids and tokens for later steps."""
        try:
            found = answer.json
        except AssertionError:
            return
        meta = found.get("metadata", {}) if isinstance(found, dict) else {}
        if "items" in found:
            self.token = meta.get("continue") or self.token
        elif meta.get("resourceVersion") and meta.get("uid") and meta.get("name"):
            base = path.partition("?")[0]
            for sub in ("/status", "/scale"):
                base = base.removesuffix(sub)
            if not base.endswith("/" + meta["name"]):
                base += "/" + meta["name"]
            self.seen.setdefault(base, []).append(meta)

    def step(self, step: dict) -> dict:
        """What came of one step, comparable."""
        for name in ("watch", "pages", "initial"):
            if name in step:
                return getattr(self, name)(step)
        path = self.place(step["path"])
        answer = self.w.ask(step["method"], path, self.filled(step["body"]), step["content"], step.get("accept", JSON))
        self.note(path, answer)
        done = self.shown(answer)
        if isinstance(step["body"], str) and isinstance(done["body"], dict):
            done["body"].pop("message", None)  # it quotes a parser
        return done

    def shown(self, answer: Answer) -> dict:
        text = answer.text.replace(self.ns, "NS")
        for word, name in self.words.items():
            text = text.replace(name, word)
        if answer.headers["Content-Type"] == YAML:
            text = ""  # the same in another form; there is no reader of it here
        try:
            told = plain(json.loads(text)) if text else None
        except ValueError:
            told = words(text)
        return {"code": answer.code, "type": answer.headers["Content-Type"],
                "warnings": sorted(words(w.replace(self.ns, "NS")) for w in answer.warnings if w.startswith(TOLD)),
                "retry": answer.headers["Retry-After"], "body": told}

    def place(self, path: str) -> str:
        return urllib.parse.quote(self.fill(urllib.parse.unquote(path)), safe="/?=&,:;!()+~*'")

    def told(self, event: dict) -> object:
        return plain(json.loads(json.dumps(event).replace(self.ns, "NS")))

    def watch(self, step: dict) -> dict:
        path = query(self.place(step["watch"]), watch=True, resourceVersion=self.begin)
        with Stream(self.api, path, step["accept"]) as stream:
            events = stream.until(lambda e: e["object"].get("metadata", {}).get("name") == step["until"], REST)
        shown, last = [], {}
        for event in events:
            meta, made = event["object"]["metadata"], self.told(event)
            before = last.get(meta["name"])
            last[meta["name"]] = made["object"]
            # A write that changes nothing that is shown, but managedFields or how the bytes are kept in etcd: there are none of
            # these in the simulator, which has no managedFields to know it by.  In metadata alone it cannot be told from one of
            # the rest.
            silent = step["accept"] == PARTIAL or "managedFields" in meta
            if event["type"] != "MODIFIED" or made["object"] != before or not silent:
                shown.append(made)
        return {"events": shown}

    def pages(self, step: dict) -> dict:
        """What is on them is compared as a whole: names with a random part sort as they like."""
        path, found, sizes = self.place(step["pages"]), [], []
        token: str | None = None
        while token != "" and len(sizes) < 20:
            answer = self.w.get(query(path, **({"continue": token} if token else {})), step["accept"])
            if answer.code != 200:
                return {"pages": sizes, "refused": self.shown(answer)}
            page = answer.json
            rows = page.get("rows" if page["kind"] == "Table" else "items") or []
            token = page["metadata"].get("continue") or ""
            sizes.append([len(rows), page["metadata"].get("remainingItemCount"), bool(token)])
            found.append(self.shown(answer)["body"])
        return {"pages": sizes, "kind": found[0]["kind"],
                "items": sorted((row for page in found for row in page.get("rows") or page.get("items") or []), key=ordered)}

    def initial(self, step: dict) -> dict:
        with Stream(self.api, self.place(step["initial"])) as stream:
            if stream.code != 200:
                return {"code": stream.code, "body": self.told(json.loads(stream.line()))}
            events = stream.until(lambda e: e["type"] not in ("ADDED", "MODIFIED", "DELETED"), REST)
        return {"events": sorted((self.told(e) for e in events[:-1]), key=ordered), "last": self.told(events[-1])}

    def start(self) -> None:
        """Where the watches begin."""
        self.begin = self.api.get(CONFIG_MAP.path(self.ns))["metadata"]["resourceVersion"]


# What there may be in a namespace once an object of a kind was made.
MADE = {"Pod": {POD}, "ReplicaSet": {REPLICA_SET}, "Deployment": {DEPLOYMENT, REPLICA_SET}, "StatefulSet": {STATEFUL_SET},
        "DaemonSet": {DAEMON_SET},
        "Job": {JOB}, "PodDisruptionBudget": {BUDGET}}


def daemon_node(pod: dict) -> str:
    """Of a DaemonSet's pod its node, by which they can be told apart; of others nothing: any will do."""
    daemon = any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences", []))
    return pod["spec"].get("nodeName", "") if daemon else ""


class LivePlayer(Player):
    """One on a cluster with controllers, with nodes of its own: what comes of a step is also where they come to rest."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        super().__init__(cluster.api, namespace)
        cluster.add_nodes(NODES, prefix=f"{namespace}-n", labels={"seq": namespace}, cpu=str(CPUS), pods=SLOTS)
        self.words = {"@finish@": next(iter(cluster.pod_timing(finish="x"))), "@ready@": next(iter(cluster.pod_timing(ready="x")))}
        self.pod = ""
        self.kinds: set[Kind] = {POD}  # of which there may be objects

    def fill(self, text: str) -> str:
        return super().fill(self.words.get(text, text).replace("@pod@", self.pod))

    def filled(self, value: object):
        if isinstance(value, dict):
            return {self.fill(key): self.filled(v) for key, v in value.items()}
        return super().filled(value)

    def step(self, step: dict) -> dict:
        if "taint" in step:
            path = NODE.path(name=self.fill(step["taint"]))
            kept = [t for t in self.api.get(path)["spec"].get("taints", []) if t["key"] != TAINT]
            done = {"code": self.w.patch(path, {"spec": {"taints": kept + step["taints"]}}).code}
        elif "pod_of" in step:
            done = self.one_pod(step)
        elif "end" in step:
            return {"gone": self.end()}
        else:
            if step["method"] == "POST":
                self.kinds |= MADE[step["body"]["kind"]]
            done = super().step(step)
        self.simplify(done)
        return {"answer": done, "rest": self.rest()}

    def one_pod(self, step: dict) -> dict:
        """Those that are ready come first: they are alike."""
        found = list(self.api.items(query(POD.path(self.ns), labelSelector=step["pod_of"])))
        if not found:
            return {"nobody": step["pod_of"]}
        found.sort(key=lambda p: (not ready(p), daemon_node(p), p["metadata"]["name"]))
        self.pod = found[step["index"] % (sum(map(ready, found)) or len(found))]["metadata"]["name"]
        return json.loads(json.dumps(super().step(step)).replace(self.pod, "POD"))

    def end(self) -> bool:
        """The namespace is deleted, and all that is in it."""
        path = NAMESPACE_KIND.path(name=self.ns)
        self.w.delete(path).ok()
        return wait_for(lambda: self.w.get(path).code == 404, REST, f"{self.ns} to be gone", interval=0.2)

    @staticmethod
    def simplify(done: dict) -> None:
        """Of a pod in an answer the kubelet's part says nothing; of a Deployment's set nobody knows how often it was written."""
        body = done.get("body")
        if isinstance(body, dict) and body.get("kind") == "Pod":
            for key in ("status", "metadata"):
                body.pop(key, None)
            for key in ("nodeName", "volumes", "containers"):
                body["spec"].pop(key, None)
        if isinstance(body, dict) and body.get("kind") == "Node":
            body.pop("status", None)
        if isinstance(body, dict) and body.get("kind") in ("ReplicaSet", "StatefulSet", "DaemonSet", "Job", "Deployment"):
            body.pop("status", None)
            body["metadata"].pop("generation", None)

    def rest(self) -> dict:
        last: list[list[str]] = [[]]

        def still() -> World | None:
            world = World(self.api, self.ns, self.kinds)
            why = world.restless()
            if why:
                last[0] = []
                raise AssertionError(why)
            versions = world.versions()
            same, last[0] = versions == last[0], versions
            return world if same else None

        world = wait_for(still, REST, f"{self.ns} to come to rest", interval=0.2)
        picture = plain(json.loads(json.dumps(world.picture()).replace(self.ns, "NS")))
        return {key: sorted(rows, key=ordered) for key, rows in picture.items()}


def compare(steps: list[dict], one: list[dict], other: list[dict], names: tuple[str, str]) -> list[str]:
    """The first step whose results differ, or that one could not take, and how; nothing when all agree."""
    for number, (step, a, b) in enumerate(zip(steps, one, other)):
        lines = differences(a, b, names=names) or [f"both: {a.get('stopped')}"] * ("stopped" in a)
        if lines:
            shown = json.dumps(step, ensure_ascii=False)
            return [f"step {number}: {shown[:1500]}"] + [f"  {line}" for line in lines[:12]]
    return []
