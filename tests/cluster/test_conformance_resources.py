"""Slipway's own custom resources: the definitions that `slipway export crds` prints, as a server takes them, and what it then refuses."""

from __future__ import annotations

import json
import re

from context import Context, real_only
from crds import DEFINITIONS, established
from probes import Watch
from process import ClusterError
from shape import assert_has, assert_is, merged
from wire import Answer, Wire

GROUP = "slipway.dev/v1alpha1"
RESOURCES = {"Policy": "policies", "Maintenance": "maintenances", "Rollout": "rollouts"}
NO_CEL = "the simulator keeps rules in CEL and does not evaluate them"

SMALLEST = """\
apiVersion: slipway.dev/v1alpha1
kind: Policy
metadata: {name: NAME}
spec:
  nodeSelector: {matchLabels: {}}
  maxUnavailable: 1
  drain: {}
  fleetlock: {groups: [default], denyStatus: 404}
"""
DRAIN = {"node": "w1", "operation": "Drain"}
REBOOT = {"operation": "Reboot", "nodeSelector": {}, "executor": {"fleetlock": {}}}
LEAST = {"Policy": {"nodeSelector": {}}, "Maintenance": DRAIN, "Rollout": REBOOT}
RULES = {"marks": "ignore", "rules": [
    {"name": "databases", "match": {"namespaces": ["db", "prod-*"], "owners": ["StatefulSet"], "priority": {"min": 1000, "max": 2000},
                                    "labels": {"matchLabels": {"tier": "db"},
                                               "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}},
     "order": 10, "action": "evict", "grace": "30s", "deadline": 600, "marks": "honour",
     "escalate": [{"after": "5m", "to": "delete"}, {"after": 600, "to": "force"}]}]}


class Site:
    """A server with the definitions; each test has names of its own."""

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.cluster, self.w = ctx, ctx.still, Wire(ctx.still.api)
        self.warnings = ctx.once("definitions", self.install)

    def install(self) -> str:
        done = self.ctx.run(self.ctx.slipway, "export", "crds")
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        for resource in RESOURCES.values():
            self.ctx.suite_undo(lambda resource=resource: self.w.delete(f"{DEFINITIONS}/{resource}.slipway.dev"))
        said = self.cluster.kubectl("apply", "--validate=strict", "-f", "-", input=done.stdout)
        for kind, resource in RESOURCES.items():
            path = f"{DEFINITIONS}/{resource}.slipway.dev"
            self.ctx.wait_for(lambda: established(self.w.get(path).ok()), 60, f"{kind} to be established")
            self.ctx.wait_for(lambda: self.w.get(self.path(kind)).code == 200, 60, f"{resource} to be served")
        return said

    @staticmethod
    def path(kind: str, name: str = "") -> str:
        return f"/apis/{GROUP}/{RESOURCES[kind]}" + (f"/{name}" if name else "")

    def body(self, kind: str, spec: dict, name: str = "") -> dict:
        return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name or self.ctx.unique("r")}, "spec": spec}

    def read(self, kind: str, spec: dict) -> dict:
        """What Slipway itself makes of such an object: its spec with defaults, or {"error"}."""
        done = self.ctx.run(self.ctx.probe, "own", kind, input=json.dumps(self.body(kind, spec, "x")) + "\n")
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        told = json.loads(done.stdout)
        return told if "error" in told else told["spec"]

    def try_make(self, kind: str, spec: dict, name: str = "") -> Answer:
        return self.w.post(self.path(kind) + "?fieldValidation=Strict", self.body(kind, spec, name))

    def make(self, kind: str, spec: dict | None = None, name: str = "") -> dict:
        made = self.try_make(kind, LEAST[kind] if spec is None else spec, name).ok(201)
        self.ctx.undo(lambda: self.w.delete(self.path(kind, made["metadata"]["name"])))
        self.agree(kind, self.read(kind, LEAST[kind] if spec is None else spec), made["spec"])
        self.agree(kind, self.read(kind, made["spec"]), made["spec"])
        return made

    @staticmethod
    def agree(kind: str, read: dict, stored: dict) -> None:
        """Both have put in the same defaults; what is empty is absent for those who read."""
        def bare(value: object) -> object:
            if isinstance(value, dict):
                return {k: bare(v) for k, v in value.items() if bare(v) != {}}
            return value

        assert_is(bare(read), bare(stored), kind)

    def refused(self, kind: str, change: dict, *words: str) -> None:
        """What is refused of the least with that change, and all words of the message.  Slipway would not take it either."""
        spec = merged(LEAST[kind], change)
        self.try_make(kind, spec).refused(422, "Invalid", *words)
        read = self.read(kind, spec)
        assert "error" in read, f"{kind} {spec} was read: {read}"

    def kubectl(self, *arguments: str, input: object = None) -> str:
        return self.cluster.kubectl(*arguments, input=input)

    def kubectl_fails(self, *arguments: str, input: object = None) -> str:
        try:
            said = self.kubectl(*arguments, input=input)
        except ClusterError as error:
            return str(error)
        raise AssertionError(f"kubectl {' '.join(arguments)} did not fail: {said}")


def table(text: str) -> list[list[str]]:
    return [re.split(r" {2,}", line.strip()) for line in text.splitlines()]


# -- definitions --------------------------------------------------------------------------------------------------


def test_the_definitions_are_established(ctx: Context) -> None:
    s = Site(ctx)
    for kind, resource in RESOURCES.items():
        found = s.w.get(f"{DEFINITIONS}/{resource}.slipway.dev").ok()
        conditions = {c["type"]: c["status"] for c in found["status"]["conditions"]}
        assert_has(conditions, {"Established": "True", "NamesAccepted": "True"})
        assert conditions.get("NonStructuralSchema", "False") == "False", found["status"]
        assert (found["spec"]["scope"], found["spec"]["names"]["kind"]) == ("Cluster", kind)


def test_applying_them_again_changes_nothing(ctx: Context) -> None:
    """What the server fills in must not be taken for a difference."""
    s = Site(ctx)
    printed = ctx.run(ctx.slipway, "export", "crds").stdout
    assert s.kubectl("apply", "-f", "-", input=printed).count(" unchanged") == 3
    as_list = ctx.run(ctx.slipway, "export", "crds", "-o", "json").stdout
    assert s.kubectl("apply", "-f", "-", input=as_list).count(" unchanged") == 3


def test_short_names_and_category(ctx: Context) -> None:
    s = Site(ctx)
    names = {kind: s.make(kind)["metadata"]["name"] for kind in RESOURCES}
    # kubectl keeps what it has learnt about a server for hours; this makes it look again.
    listed = {row[-1]: row[:-1] for row in table(s.kubectl("api-resources", "--api-group=slipway.dev", "--no-headers"))}
    everything = s.kubectl("get", "slipway", "-o", "name").split()
    for kind, short in {"Policy": "swpol", "Maintenance": "swm", "Rollout": "swr"}.items():
        named = f"{kind.lower()}.slipway.dev/{names[kind]}"
        assert named in everything, everything
        assert listed[kind] == [RESOURCES[kind], short, GROUP, "false"], listed
        assert s.kubectl("get", short, names[kind], "-o", "name").strip() == named


def test_fields_are_explained(ctx: Context) -> None:
    s = Site(ctx)
    for field, words in {"policy.spec.maxUnavailable": "rounded down", "policy.spec.drain.rules.escalate.to": "breaks the budget",
                         "maintenance.status.journal": "the oldest first", "rollout.spec.executor.exec": "A program is run"}.items():
        kind, _, rest = field.partition(".")
        told = " ".join(s.kubectl("explain", "--api-version", GROUP, f"{RESOURCES[kind.capitalize()]}.{rest}").split())
        assert words in told, told


# -- objects ------------------------------------------------------------------------------------------------------


def test_the_smallest_policy(ctx: Context) -> None:
    s = Site(ctx)
    name = ctx.unique("p")
    ctx.undo(lambda: s.w.delete(s.path("Policy", name)))
    said = s.kubectl("apply", "--validate=strict", "-f", "-", input=SMALLEST.replace("NAME", name))
    assert said.strip() == f"policy.slipway.dev/{name} created"
    assert_is(s.w.get(s.path("Policy", name)).ok()["spec"], {
        "nodeSelector": {"matchLabels": {}}, "maxUnavailable": 1, "drain": {}, "drainTimeout": "1h", "returnTimeout": "30m", "escalation": "wait",
        "settle": "0s", "soak": "0s", "waitRescheduled": True, "maxFailed": 0, "approval": "none",
        "fleetlock": {"groups": ["default"], "denyStatus": 404, "unknownGroup": "refuse", "callerCheck": "report", "rate": 60,
                      "ids": {"appIds": ["de35106b6ec24688b63afddaa156679b"], "nodeNames": False}}})


def test_defaults(ctx: Context) -> None:
    s = Site(ctx)
    assert_is(s.make("Policy")["spec"], {
        "nodeSelector": {}, "maxUnavailable": 1, "drain": {}, "drainTimeout": "1h", "returnTimeout": "30m", "escalation": "wait", "settle": "0s",
        "soak": "0s", "waitRescheduled": True, "maxFailed": 0, "approval": "none"})
    assert_is(s.make("Maintenance")["spec"], DRAIN | {"paused": False})
    assert_is(s.make("Rollout")["spec"], REBOOT | {"paused": False})


def test_what_is_accepted(ctx: Context) -> None:
    s = Site(ctx)
    for spec in ({"maxUnavailable": "10%"}, {"maxUnavailable": 0}, {"maxUnavailable": "100%"}, {"drain": RULES}, {"maxZones": 1},
                 {"drainTimeout": "1h30m", "returnTimeout": "2h", "escalation": "release", "settle": "1.5s", "soak": "8760h"},
                 {"drainTimeout": "525600m", "returnTimeout": "31536000s", "settle": "31536000000ms", "soak": "8759h59m59.5s"},
                 {"drain": {"rules": [{"name": "jobs", "action": "wait", "order": -5, "deadline": "1h"},
                                      {"name": "agents", "action": "skip", "match": {"owners": ["Bare"]}}]}},
                 {"fleetlock": {"groups": ["A.b-c", "default"], "denyStatus": 423, "unknownGroup": "default", "rate": 1,
                                "callerCheck": "enforce", "ids": {"nodeNames": True, "appIds": [
                                    "DE35106B-6EC2-4688-B63A-FDDAA156679B"]}}}):
        made = s.make("Policy", merged(LEAST["Policy"], spec))
        assert_has(made["spec"], spec)
    for executor in ({"fleetlock": {}}, {"exec": {"command": ["/bin/reboot-it", "--now"]}}, {"sim": {}},
                     {"http": {"url": "https://bmc.example.com/reboot?node=w1"}}):
        made = s.make("Maintenance", {"node": "w1.example.com", "operation": "Reboot", "executor": executor, "policy": "default",
                                      "reason": "why not", "paused": True})
        assert made["spec"]["executor"] == executor
    s.make("Rollout", {"operation": "Drain", "nodes": ["w[1-20]", "x"], "maxFailed": 3, "soak": "5m"})


def test_unknown_fields(ctx: Context) -> None:
    s = Site(ctx)
    for kind, change, field in (("Policy", {"maxUnavailible": 2}, "spec.maxUnavailible"),
                                ("Policy", {"drain": {"rules": [{"name": "a", "graze": 1}]}}, "spec.drain.rules[0].graze"),
                                ("Policy", {"drain": {"force": True}}, "spec.drain.force"),
                                ("Policy", {"windows": []}, "spec.windows"),
                                ("Maintenance", {"executor": {"sim": {"a": 1}}, "operation": "Reboot"}, "spec.executor.sim.a"),
                                ("Rollout", {"node": "w1"}, "spec.node")):
        s.try_make(kind, merged(LEAST[kind], change)).refused(400, "BadRequest", f'unknown field "{field}"')
    told = s.kubectl_fails("apply", "--validate=strict", "-f", "-",
                           input=SMALLEST.replace("NAME", ctx.unique("p")).replace("maxUnavailable", "maxUnavailible"))
    assert 'unknown field "spec.maxUnavailible"' in told, told


def test_bad_values(ctx: Context) -> None:
    """Types, words and bounds: what schemas say by themselves."""
    s = Site(ctx)
    s.try_make("Policy", {}).refused(422, "Invalid", "spec.nodeSelector: Required value")
    s.refused("Policy", {"escalation": "force"}, 'spec.escalation: Unsupported value: "force": supported values: "wait", "release"')
    s.refused("Policy", {"maxZones": 0}, "spec.maxZones", "should be greater than or equal to 1")
    s.refused("Policy", {"fleetlock": {"groups": []}}, "spec.fleetlock.groups", "should have at least 1 items")
    s.refused("Policy", {"fleetlock": {"groups": ["a", "a"]}}, 'spec.fleetlock.groups[1]: Duplicate value: "a"')
    s.refused("Policy", {"fleetlock": {"groups": ["a"], "denyStatus": 200}},
              'spec.fleetlock.denyStatus: Unsupported value: 200: supported values: "404", "423"')
    s.refused("Policy", {"drain": {"rules": [{"name": "a"}, {"name": "a"}]}}, "spec.drain.rules[1]: Duplicate value")
    s.refused("Policy", {"drain": {"rules": [{"name": "a", "grace": 0}]}}, "spec.drain.rules[0].grace",
              "should be greater than or equal to 1")
    s.refused("Policy", {"drain": {"rules": [{"name": "a", "grace": "soon"}]}}, "spec.drain.rules[0].grace", "should match")
    s.refused("Policy", {"drain": {"rules": [{"action": "skip"}]}}, "spec.drain.rules[0].name: Required value")
    s.refused("Policy", {"drain": {"rules": [{"name": "a", "escalate": [{"after": "1m", "to": "kill"}]}]}},
              'escalate[0].to: Unsupported value: "kill": supported values: "delete", "force"')
    s.refused("Maintenance", {"operation": "Rebuild"},
              'spec.operation: Unsupported value: "Rebuild": supported values: "Drain", "Reboot", "Shutdown"')
    s.refused("Maintenance", {"paused": "yes"}, "spec.paused", "must be of type boolean")
    s.refused("Rollout", {"maxFailed": -1}, "spec.maxFailed", "should be greater than or equal to 0")


@real_only(NO_CEL)
def test_rules_and_their_sentences(ctx: Context) -> None:
    s = Site(ctx)
    count = "must be a number of nodes such as 1, at most 1000000, or a percentage such as 10%"
    for value in ("ten", "10", "101%", "-1%", "1.5%", -1, 1000001, 99999999999, ""):
        s.refused("Policy", {"maxUnavailable": value}, "spec.maxUnavailable: Invalid value", count)
    for field in ("drainTimeout", "settle", "soak"):
        for value in ("5", "soon", "-5m", "1d", "9000h", "525601m", "31536000001ms", "100000000000h", "00001h"):
            s.refused("Policy", {field: value}, f"spec.{field}: Invalid value", "must be a duration such as 30s, 5m or 1h30m")
    s.refused("Policy", {"fleetlock": {"groups": ["a/b"]}}, "spec.fleetlock.groups[0]: Invalid value", "letters, digits, dots and dashes")
    s.refused("Policy", {"fleetlock": {"groups": ["a"], "ids": {"appIds": ["z" * 32]}}}, "spec.fleetlock.ids.appIds[0]",
              "32 hexadecimal digits")
    s.refused("Policy", {"nodeSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
              "spec.nodeSelector.matchExpressions[0]", "In and NotIn need values")
    s.refused("Policy", {"nodeSelector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}},
              "Exists and DoesNotExist have none")
    s.refused("Policy", {"drain": {"rules": [{"name": "a", "match": {"priority": {"min": 2, "max": 1}}}]}},
              "spec.drain.rules[0].match.priority", "min must not be greater than max: nothing would match")
    s.refused("Policy", {"drain": {"rules": [{"name": "a", "action": "skip", "grace": 5}]}}, "mean nothing with action skip")
    s.refused("Policy", {"drain": {"rules": [{"name": "a", "action": "wait", "grace": 5}]}}, "mean nothing with action wait")
    s.refused("Policy", {"drain": {"rules": [{"name": "a", "escalate": [{"after": 1, "to": "force"}, {"after": 2, "to": "delete"}]}]}},
              "spec.drain.rules[0].escalate", "delete must come before force")
    s.try_make("Policy", LEAST["Policy"], "x" * 240).refused(422, "Invalid", "has at most 239 characters")
    s.refused("Maintenance", {"node": "W1"}, "spec.node: Invalid value", "must be the name of a node")
    s.refused("Maintenance", {"operation": "Reboot"}, "Reboot and Shutdown need an executor")
    s.refused("Maintenance", {"executor": {"sim": {}}}, "Drain has none")
    s.refused("Maintenance", {"operation": "Reboot", "executor": {}}, "spec.executor", "name one executor: fleetlock, exec, http or sim")
    s.refused("Maintenance", {"operation": "Reboot", "executor": {"sim": {}, "fleetlock": {}}}, "name one executor")
    s.refused("Maintenance", {"operation": "Shutdown", "executor": {"fleetlock": {}}}, "goes with the operation Reboot alone")
    for url in ("ftp://example.com/", "example.com", "http://"):
        s.refused("Maintenance", {"operation": "Reboot", "executor": {"http": {"url": url}}}, "spec.executor.http.url",
                  "must be a URL that begins with http:// or https://")
    s.refused("Rollout", {"nodes": ["w1"]}, "either nodeSelector or nodes, not both")
    s.try_make("Rollout", {"operation": "Drain"}).refused(422, "Invalid", "say which nodes")
    told = s.kubectl_fails("apply", "--validate=strict", "-f", "-",
                           input=SMALLEST.replace("NAME", ctx.unique("p")).replace("maxUnavailable: 1", "maxUnavailable: many"))
    assert count in told, told


@real_only(NO_CEL)
def test_what_cannot_be_changed(ctx: Context) -> None:
    s = Site(ctx)
    made = s.make("Maintenance", {"node": "w1", "operation": "Reboot", "executor": {"sim": {}}})
    path = s.path("Maintenance", made["metadata"]["name"])
    for field, value in {"node": "w2", "operation": "Shutdown", "policy": "other", "executor": {"sim": None, "exec": {"command": ["x"]}}
                         }.items():
        s.w.patch(path, {"spec": {field: value}}).refused(422, "Invalid", f"spec.{field}: ",
                                                           f"{field} cannot be changed: delete this object and make another")
    assert s.w.get(path).ok()["spec"] == made["spec"]
    changed = s.w.patch(path, {"spec": {"paused": True, "reason": "later"}}).ok()
    assert changed["metadata"]["generation"] == made["metadata"]["generation"] + 1
    made = s.make("Rollout", {"operation": "Drain", "nodes": ["w1"], "policy": "default"})
    path = s.path("Rollout", made["metadata"]["name"])
    for change in ({"nodes": ["w2"]}, {"nodes": None, "nodeSelector": {}}, {"policy": None}, {"policy": "other"}):
        field = next(iter(change))
        s.w.patch(path, {"spec": change}).refused(422, "Invalid", f"{field} cannot be changed")
    s.w.patch(path, {"spec": {"maxFailed": 5, "soak": "1m", "paused": True}}).ok()
    made = s.make("Policy")
    s.w.patch(s.path("Policy", made["metadata"]["name"]), {"spec": {"maxUnavailable": "50%", "nodeSelector": {
        "matchLabels": {"a": "b"}}}}).ok()


def test_what_slipway_refuses_besides(ctx: Context) -> None:
    """What cannot be said in a schema: an object that the server has taken is not believed."""
    s = Site(ctx)
    for kind, change, word in (("Policy", {"nodeSelector": {"matchLabels": {"a b": "c"}}}, "spec.nodeSelector must be a label selector"),
                               ("Policy", {"drain": {"rules": [{"name": "a", "match": {"owners": ["Deployment"]}}]}}, "ReplicaSet"),
                               ("Rollout", {"nodeSelector": None, "nodes": ["w[1-"]}, "spec.nodes[0] must be the name of a node")):
        spec = {key: value for key, value in merged(LEAST[kind], change).items() if value is not None}
        made = s.try_make(kind, spec).ok(201)
        ctx.undo(lambda path=s.path(kind, made["metadata"]["name"]): s.w.delete(path))
        assert word in s.read(kind, spec)["error"], s.read(kind, spec)


def test_a_store_of_them(ctx: Context) -> None:
    """The reflector keeps them as it does any kind."""
    s = Site(ctx)
    for kind in RESOURCES:
        first = s.make(kind)["metadata"]["name"]
        watch = Watch(ctx, kind, kubeconfig=s.cluster.admin)
        watch.synced()
        second = s.make(kind)["metadata"]["name"]
        path = s.path(kind, second)
        ctx.wait_for(lambda: second in watch.names(), 60, "the second to be seen")
        s.w.patch(path + "/status", {"status": {"observedGeneration": 7}}).ok()
        ctx.wait_for(lambda: any(e["object"].get("status", {}).get("observedGeneration") == 7 for e in watch.events), 60,
                     "its status to be seen")
        assert first in watch.names()
        watch.end()


# -- status -------------------------------------------------------------------------------------------------------

NOW = "2026-11-16T08:00:00Z"
COMPLETE = {"type": "Complete", "status": "True", "reason": "SlotFreed", "message": "Done.", "lastTransitionTime": NOW}
BLOCKER = {"code": "PDBNoBudget", "object": "pod/a/b", "message": "needs 1 of 1", "since": NOW, "hint": "wait"}


def test_status_is_apart(ctx: Context) -> None:
    s = Site(ctx)
    made = s.make("Maintenance")
    path = s.path("Maintenance", made["metadata"]["name"])
    assert "status" not in s.w.patch(path, {"status": {"phase": "Draining"}}).ok()
    status = {"observedGeneration": 1, "phase": "Draining", "reason": "SlotTaken", "since": NOW, "slot": "6f0c", "bootBefore": "a",
              "bootAfter": "b", "blocker": BLOCKER, "conditions": [COMPLETE | {"observedGeneration": 1}],
              "journal": [{"time": NOW, "from": "Queued", "to": "Draining", "reason": "SlotTaken"}]}
    told = s.w.patch(path + "/status", {"status": status, "spec": {"reason": "not here"}}).ok()
    assert_is(told["status"], status)
    assert_is(told["spec"], made["spec"])
    assert told["metadata"]["generation"] == 1
    s.w.patch(path + "/status", {"status": {"phase": "Sleeping"}}).refused(422, "Invalid", 'status.phase: Unsupported value: "Sleeping"')
    step = status["journal"][0]
    s.w.patch(path + "/status", {"status": {"journal": [step] * 101}}).refused(422, "Invalid", "status.journal", "must have at most 100 items")
    made = s.make("Rollout")
    path = s.path("Rollout", made["metadata"]["name"])
    status = {"observedGeneration": 1, "phase": "Progressing", "reason": "Begun", "since": NOW, "current": ["w1"], "blocker": BLOCKER,
              "counts": {"total": 5, "waiting": 1, "current": 1, "complete": 2, "failed": 1}, "conditions": [COMPLETE]}
    assert_is(s.w.patch(path + "/status", {"status": status}).ok()["status"], status)
    made = s.make("Policy")
    path = s.path("Policy", made["metadata"]["name"])
    status = {"observedGeneration": 1, "nodes": 40, "held": 1, "waiting": 2, "conditions": [COMPLETE]}
    assert_is(s.w.patch(path + "/status", {"status": status}).ok()["status"], status)


def test_kubectl_waits_for_a_condition(ctx: Context) -> None:
    s = Site(ctx)
    name = s.make("Maintenance")["metadata"]["name"]
    s.w.patch(s.path("Maintenance", name) + "/status", {"status": {"conditions": [COMPLETE]}}).ok()
    assert s.kubectl("wait", "--for=condition=Complete", f"swm/{name}", "--timeout=60s").strip() == \
        f"maintenance.slipway.dev/{name} condition met"


def test_columns(ctx: Context) -> None:
    s = Site(ctx)

    def shown(kind: str, spec: dict, status: dict, wide: bool = False) -> list[list[str]]:
        name = s.make(kind, spec)["metadata"]["name"]
        s.w.patch(s.path(kind, name) + "/status", {"status": status}).ok()
        head, row = table(s.kubectl("get", RESOURCES[kind] + ".slipway.dev", name, *(["-o", "wide"] if wide else [])))
        assert (head[0], row[0]) == ("NAME", name)
        age = head.index("AGE")
        assert re.fullmatch(r"\d+[smhd][0-9smhd]*", row[age]), row
        return [head[1:age] + head[age + 1:], row[1:age] + row[age + 1:]]

    ready = {"conditions": [COMPLETE | {"type": "Ready"}]}
    assert shown("Policy", {"nodeSelector": {}, "maxUnavailable": "10%"}, {"nodes": 40, "held": 1, "free": 3, "waiting": 2} | ready) == [
        ["MAX", "HELD", "FREE", "WAITING", "READY", "NODES"], ["10%", "1", "3", "2", "True", "40"]]
    assert shown("Policy", {"nodeSelector": {}, "maxUnavailable": 3}, {"nodes": 1, "held": 0, "free": 3, "waiting": 0} | ready)[1][0] == "3"
    assert shown("Maintenance", DRAIN, {"phase": "Draining", "blocker": BLOCKER}) == [
        ["NODE", "OPERATION", "PHASE", "BLOCKER"], ["w1", "Drain", "Draining", "PDBNoBudget"]]
    assert shown("Maintenance", DRAIN | {"policy": "default", "reason": "a fan"}, {"phase": "Draining", "blocker": BLOCKER}, wide=True) == [
        ["NODE", "OPERATION", "PHASE", "BLOCKER", "POLICY", "MESSAGE", "REASON"],
        ["w1", "Drain", "Draining", "PDBNoBudget", "default", "needs 1 of 1", "a fan"]]
    assert shown("Rollout", REBOOT, {"phase": "Progressing", "counts": {"total": 5, "complete": 2, "failed": 1}, "blocker": BLOCKER}) == [
        ["OPERATION", "PHASE", "COMPLETE", "FAILED", "NODES", "BLOCKER"], ["Reboot", "Progressing", "2", "1", "5", "PDBNoBudget"]]


def test_examples(ctx: Context) -> None:
    """Those of docs/resources.md, each as it stands there."""
    s = Site(ctx)
    page = ctx.run(ctx.slipway, "__resources")
    assert page.returncode == 0, page.stderr
    examples = re.findall(r"(?:^    .*\n)+", page.stdout, re.M)
    examples = [e for e in examples if e.lstrip().startswith("apiVersion:")]
    assert len(examples) == 3
    for example in examples:
        text = re.sub(r"^    ", "", example, flags=re.M)
        told = json.loads(s.kubectl("create", "--dry-run=server", "--validate=strict", "-o", "json", "-f", "-", input=text))
        assert told["apiVersion"] == GROUP
