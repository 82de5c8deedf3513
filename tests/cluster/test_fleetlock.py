"""The controller's FleetLock service on a real cluster: what the reboot manager (seed 002) did, step by step, for real."""

from __future__ import annotations

import json
import re

from api import Api, object_path
from context import Child, Context, limit
from crds import DEFINITIONS, crd, established
from fleetlock_client import Machine, ask
from objects import budget, deployment, pod
from process import wait_for

GROUP = "/apis/slipway.dev/v1alpha1"
RESOURCES = ("policies", "maintenances", "rollouts")


def forget_definitions(api: Api) -> None:
    """And waits until they are gone: while one is being deleted, the next file's objects of it are refused.  No controller is left that would
    take its finalizers off."""
    for resource in RESOURCES:
        code, found = api.raw("GET", f"{GROUP}/{resource}")
        for item in json.loads(found)["items"] if code == 200 else []:
            if item["metadata"].get("finalizers"):
                api.patch(f"{GROUP}/{resource}/{item['metadata']['name']}", {"metadata": {"finalizers": None}})
        api.raw("DELETE", f"{DEFINITIONS}/{resource}.slipway.dev")
    for resource in RESOURCES:
        wait_for(lambda resource=resource: api.raw("GET", f"{DEFINITIONS}/{resource}.slipway.dev")[0] == 404, 60, f"{resource} to be gone")


class Fleet:
    """Nodes with pods, and a controller."""

    def __init__(self, ctx: Context, nodes: int = 3) -> None:
        self.ctx, self.api = ctx, ctx.cluster.api
        self.ns = ctx.namespace()
        self.machines = [Machine(self.api, name) for name in ctx.nodes(nodes)]
        self.label = self.machines[0].node["metadata"]["labels"]["slipway.dev/test"]
        self.ctx.undo(self.forget_marks)

    def forget_marks(self) -> None:
        self.ctx.kill_children()

    def says(self, machine: Machine, base: str, code: int, kind: str, **options: str) -> str:
        """The words of that answer to pre-reboot; a server that is busy for a moment may have another one first."""
        found = self.ctx.wait_for(lambda: (r := machine.pre_reboot(base, **options))[1]["kind"] == kind and r, 60, kind)
        assert found[0] == code, found
        return found[1]["value"]

    def granted(self, base: str, machine: Machine) -> None:
        self.ctx.wait_for(lambda: machine.pre_reboot(base)[0] == 200, 60, f"the grant of {machine.name}")

    def ready(self, base: str) -> None:
        """The controller knows the cluster, and its policies: an id that nobody has is refused as such."""
        self.ctx.wait_for(lambda: ask(base, "pre-reboot", "f" * 32)[0] == 400, 60, "the controller to know the cluster")

    def controller(self, *flags: str) -> tuple[Child, str]:
        child = self.ctx.spawn(self.ctx.slipway, "controller", "--fleetlock-listen", "127.0.0.1:0", "--namespace", self.ns,
                               "-v=2", *flags)
        found = self.ctx.wait_for(lambda: re.search(r"FleetLock at ([\d.:]+)", "\n".join(child.err)), 30, "FleetLock to be served")
        return child, f"http://{found[1]}"

    def policy(self, name: str, labels: dict[str, str], **spec: object) -> None:
        """A Policy for the nodes with these labels; the definitions are there until the last test of this file."""
        self.ctx.once("definitions", self.define)
        self.api.call("POST", f"{GROUP}/policies", {
            "apiVersion": "slipway.dev/v1alpha1", "kind": "Policy", "metadata": {"name": name},
            "spec": {"nodeSelector": {"matchLabels": labels}, "waitRescheduled": False} | spec})
        self.ctx.undo(lambda: self.api.raw("DELETE", f"{GROUP}/policies/{name}"))

    def define(self) -> None:
        printed = self.ctx.run(self.ctx.slipway, "export", "crds", check=True).stdout
        self.ctx.suite_undo(lambda api=self.api: forget_definitions(api))
        self.ctx.cluster.kubectl("apply", "-f", "-", input=printed)
        for resource in RESOURCES:
            self.ctx.wait_for(lambda resource=resource: self.api.raw("GET", f"{GROUP}/{resource}")[0] == 200, 60, f"{resource} to be served")

    def slots(self, policy: str = "default") -> dict:
        code, found = self.api.raw("GET", f"/api/v1/namespaces/{self.ns}/configmaps/slipway-slots-{policy}")
        return json.loads(json.loads(found)["data"]["slots"]) if code == 200 else {"slots": [], "waiting": []}

    def holders(self, policy: str = "default") -> list[str]:
        return [s["node"] for s in self.slots(policy)["slots"]]

    def pods(self) -> None:
        self.api.create(deployment("web", self.ns, 2 * len(self.machines), nodeSelector={"slipway.dev/test": self.label}))
        self.ctx.wait_for(lambda: self.api.get(f"/apis/apps/v1/namespaces/{self.ns}/deployments/web")["status"].get(
            "readyReplicas") == 2 * len(self.machines), 60, "the pods to be ready")


@limit(600)
def test_the_seed(ctx: Context) -> None:
    """Two ask at once: one is denied and retried, the other is drained, granted, reboots, reports; then it is the first one's turn."""
    fleet = Fleet(ctx)
    fleet.pods()
    _, base = fleet.controller()
    first, second, _ = fleet.machines
    fleet.ready(base)
    assert first.pre_reboot(base)[0] in (200, 404, 503)
    ctx.wait_for(lambda: first.pre_reboot(base) and fleet.holders() == [first.name], 60, "it to hold the slot")
    said = fleet.says(second, base, 404, "slots_full")
    assert said.startswith("other nodes rebooting"), said
    ctx.wait_for(lambda: first.mark == "Rebooting" and first.cordoned, 60, "it to be cordoned")
    assert second.mark is None and not second.cordoned
    fleet.granted(base, first)
    assert [p for p in fleet.api.get(f"/api/v1/namespaces/{fleet.ns}/pods")["items"]
            if p["spec"].get("nodeName") == first.name] == [], "no grant before the node is drained"
    fleet.granted(base, first)  # a holder may ask again
    fleet.says(second, base, 404, "slots_full")
    boot = first.boots()
    while first.pre_reboot(base)[0] == 200:  # it was back by then, and this is another request, of another boot
        assert [s["boot"] for s in fleet.slots()["slots"]] == [boot], "not twice for one request"
        boot = first.boots()
    ctx.wait_for(lambda: first.steady_state(base)[0] == 200, 60, "the report to be taken")
    ctx.wait_for(lambda: first.name not in fleet.holders(), 60, "the slot to be free again")
    assert first.mark == "Ready" and not first.cordoned
    ctx.wait_for(lambda: second.pre_reboot(base)[0] == 200, 60, "the turn of the second one")
    assert fleet.holders() == [second.name]


@limit(600)
def test_policies(ctx: Context) -> None:
    """Two at a time where a Policy says so, with its groups and its status; a node that two have, or none, is refused."""
    fleet = Fleet(ctx, 4)
    for machine in fleet.machines[:3]:
        fleet.api.patch(machine.path, {"metadata": {"labels": {"pool": fleet.label}}})
    pool = {"pool": fleet.label}
    fleet.policy(fleet.label, pool, maxUnavailable=2, fleetlock={"groups": ["workers"], "denyStatus": 423})
    _, base = fleet.controller()
    fleet.ready(base)
    a, b, c, other = fleet.machines
    fleet.says(a, base, 403, "group_mismatch")
    assert "no policy" in fleet.says(other, base, 403, "group_mismatch", group="workers")
    ctx.wait_for(lambda: other.steady_state(base)[0] == 200, 60, "the report of one that holds nothing")
    for machine in (a, b):
        ctx.wait_for(lambda machine=machine: machine.pre_reboot(base, group="workers")[0] == 200, 60, "the grant")
    fleet.says(c, base, 423, "slots_full", group="workers")
    assert sorted(fleet.holders(fleet.label)) == sorted([a.name, b.name])
    fleet.policy(fleet.label + "-2", pool, fleetlock={"groups": ["workers"]})
    ctx.wait_for(lambda: c.pre_reboot(base, group="workers")[1]["kind"] == "ambiguous_node", 60, "the second policy to be seen")
    fleet.api.delete(f"{GROUP}/policies/{fleet.label}-2")
    a.boots()
    ctx.wait_for(lambda: a.name not in fleet.holders(fleet.label), 60, "the first one to be back, without a report")
    ctx.wait_for(lambda: c.pre_reboot(base, group="workers")[0] == 200, 60, "the third one's turn")


@limit(600)
def test_what_the_seed_has_left(ctx: Context) -> None:
    """A node found Rebooting and cordoned by the manager of before is a holder, and its cordon is ours to lift."""
    fleet = Fleet(ctx)
    left, other, _ = fleet.machines
    fleet.api.patch(left.path, {"metadata": {"annotations": {"rebootmanager/status": "Rebooting"}}, "spec": {"unschedulable": True}})
    _, base = fleet.controller()
    fleet.ready(base)
    ctx.wait_for(lambda: fleet.holders() == [left.name], 60, "it to be taken over")
    fleet.says(other, base, 404, "slots_full")
    ctx.wait_for(lambda: left.steady_state(base)[0] == 200, 60, "its report to be taken")
    ctx.wait_for(lambda: not left.cordoned and left.mark == "Ready", 60, "it to be in service")
    fleet.granted(base, other)


@limit(600)
def test_a_pod_that_comes_late(ctx: Context) -> None:
    """A pod that comes to a drained node, past the cordon, is a pod that must go: nobody is told before, also not for the second time."""
    fleet = Fleet(ctx, 2)
    fleet.pods()
    _, base = fleet.controller()
    fleet.ready(base)
    machine = fleet.machines[0]

    def state() -> str:
        return next((s["state"] for s in fleet.slots()["slots"] if s["node"] == machine.name), "")

    def comes(name: str) -> None:
        """Held by a budget; no scheduler is asked."""
        fleet.api.create(budget(name, fleet.ns, {"late": name}, minAvailable=1))
        fleet.api.create(pod(name, fleet.ns, {"late": name}, nodeName=machine.name))

    def goes(name: str) -> None:
        fleet.api.delete(f"/apis/policy/v1/namespaces/{fleet.ns}/poddisruptionbudgets/{name}")

    comes("first")
    ctx.wait_for(lambda: machine.pre_reboot(base)[0] != 200 and state() == "taken", 60, "it to hold a slot")
    goes("first")
    ctx.wait_for(lambda: state() == "drained", 60, "it to be drained")
    comes("second")
    ctx.wait_for(lambda: state() == "taken", 60, "it to be drained again")
    assert machine.pre_reboot(base)[0] != 200
    goes("second")
    fleet.granted(base, machine)
    comes("third")
    answer = machine.pre_reboot(base)
    assert answer[0] == 404 and f"pod {fleet.ns}/third has come" in answer[1]["value"], answer
    assert state() == "granted"
    goes("third")
    fleet.granted(base, machine)


@limit(600)
def test_across_policies(ctx: Context) -> None:
    """Who is out for the built-in policy counts for the one that takes its place, and of the control plane one goes at a time."""
    fleet = Fleet(ctx, 4)
    fleet.ctx.once("definitions", fleet.define)
    child, base = fleet.controller()
    fleet.ready(base)
    first, second, *control = fleet.machines
    fleet.granted(base, first)
    fleet.policy(fleet.label, {"slipway.dev/test": fleet.label}, fleetlock={"groups": ["default"]})
    ctx.wait_for(lambda: f"policy {fleet.label}: is in force" in "\n".join(child.err), 60, "the policy to be in force")
    said = fleet.says(second, base, 404, "slots_full")
    assert "another policy" in said and fleet.holders(fleet.label) == [], said
    first.boots()
    fleet.granted(base, second)
    second.boots()
    for machine in control:
        fleet.api.patch(machine.path, {"metadata": {"labels": {"node-role.kubernetes.io/control-plane": "", "alone": machine.name,
                                                              "slipway.dev/test": None}}})
        fleet.policy(f"{fleet.label}-{machine.name}", {"alone": machine.name}, fleetlock={"groups": ["default"]})
    ctx.wait_for(lambda: not fleet.holders(fleet.label), 60, "nobody to be out")
    told = ctx.wait_for(lambda: [m for m in control if m.pre_reboot(base)[0] == 200], 60, "one of them to go")
    for _ in range(5):
        assert [m for m in control if m.pre_reboot(base)[0] == 200] == told
    # Policies are there for as long as somebody holds a slot of theirs.
    told[0].boots()
    ctx.wait_for(lambda: all(m.steady_state(base)[0] == 200 for m in control)
                 and not any(fleet.holders(f"{fleet.label}-{m.name}") for m in control), 60, "nobody to be out")


@limit(600)
def test_two_slipways(ctx: Context) -> None:
    """In two namespaces: the later one does nothing, and says so, until the other one is gone."""
    fleet, other = Fleet(ctx, 2), Fleet(ctx, 1)
    child, base = fleet.controller()
    fleet.ready(base)
    first, second = fleet.machines
    fleet.granted(base, first)
    _, late = other.controller()
    said = fleet.says(second, late, 503, "unavailable")
    assert f"another Slipway is at work in namespace {fleet.ns}" in said, said
    assert other.holders() == [] and first.cordoned, "the cordon of the other one stays"
    fleet.granted(base, first)
    child.end()
    ctx.wait_for(lambda: second.pre_reboot(late)[1]["kind"] != "unavailable", 60, "the other one to take its turn")
    fleet.says(second, late, 404, "slots_full")  # the first node is out still
    assert first.cordoned


@limit(600)
def test_the_first_by_name(ctx: Context) -> None:
    """Of several who wait the first by name goes next, whoever asked first."""
    fleet = Fleet(ctx, 4)
    _, base = fleet.controller()
    fleet.ready(base)
    a, b, c, d = sorted(fleet.machines, key=lambda m: m.name)
    fleet.granted(base, d)
    for machine in (c, b):
        fleet.says(machine, base, 404, "slots_full")
    ctx.wait_for(lambda: [w["node"] for w in fleet.slots()["waiting"]] == [b.name, c.name], 60, "both to wait")
    d.boots()
    ctx.wait_for(lambda: fleet.holders() == [b.name], 60, "the turn of the first by name")


@limit(600)
def test_steady_without_a_slot(ctx: Context) -> None:
    """Always taken: the node is marked Ready, and a cordon of somebody else stays."""
    fleet = Fleet(ctx)
    _, base = fleet.controller()
    fleet.ready(base)
    machine = fleet.machines[0]
    fleet.api.patch(machine.path, {"spec": {"unschedulable": True}})
    ctx.wait_for(lambda: machine.steady_state(base)[0] == 200, 60, "its report to be taken")
    ctx.wait_for(lambda: machine.mark == "Ready", 30, "the seed's mark")
    assert machine.cordoned and fleet.holders() == []


def kubevirt(ctx: Context, fleet: Fleet) -> None:
    """A system that the checks know, installed while the controller runs."""
    api = fleet.api
    api.call("POST", DEFINITIONS, crd(ctx, "VirtualMachineInstance", group="kubevirt.io", version={"name": "v1"}))
    path = f"{DEFINITIONS}/virtualmachineinstances.kubevirt.io"
    ctx.undo(lambda: api.raw("DELETE", path))
    ctx.wait_for(lambda: established(api.get(path)), 60, "it to be established")


def virtual_machine(ctx: Context, fleet: Fleet, node: str) -> str:
    """One that may only leave by live migration, and cannot; its path."""
    made = fleet.api.create({
        "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance", "metadata": {"name": "vm", "namespace": fleet.ns},
        "spec": {"evictionStrategy": "LiveMigrate"},
        "status": {"nodeName": node, "phase": "Running",
                   "conditions": [{"type": "LiveMigratable", "status": "False", "message": "its disk is not shared"}]}})
    ctx.undo(lambda: fleet.api.raw("DELETE", object_path(made)))
    return object_path(made)


@limit(600)
def test_gates(ctx: Context) -> None:
    """What a check denies gets no slot, and everybody is told why; others go past it, and it goes when that is over."""
    fleet = Fleet(ctx, 2)
    first, second = fleet.machines
    kubevirt(ctx, fleet)
    machine = virtual_machine(ctx, fleet, first.name)
    fleet.policy("gated", {"slipway.dev/test": fleet.label}, fleetlock={"groups": ["default"]})
    _, base = fleet.controller()
    fleet.ready(base)
    ctx.wait_for(lambda: first.pre_reboot(base)[1]["value"].startswith(f"NotMigratable {fleet.ns}/vm: kubevirt: "), 60, "why it waits")
    assert not first.cordoned and first.name not in fleet.holders("gated")
    waits = next(w for w in fleet.slots("gated")["waiting"] if w["node"] == first.name)
    assert waits["wait"]["code"] == "NotMigratable", waits
    told = ctx.run(ctx.slipway, "locks", "-n", fleet.ns, check=True).stdout
    assert "NotMigratable" in told, told
    events = ctx.wait_for(lambda: [e for e in fleet.api.get("/api/v1/events")["items"]
                                   if e["reason"] == "GateShut" and e["involvedObject"]["name"] == first.name], 60, "the Event")
    assert "NotMigratable" in events[0]["message"], events
    fleet.granted(base, second)
    second.boots()
    ctx.wait_for(lambda: second.steady_state(base)[0] == 200, 60, "its report")
    ctx.wait_for(lambda: not fleet.holders("gated"), 90, "its slot to be free")
    fleet.api.call("DELETE", machine)
    fleet.granted(base, first)


@limit(600)
def test_a_check_that_is_skipped(ctx: Context) -> None:
    """With a reason, in the Policy."""
    fleet = Fleet(ctx, 1)
    kubevirt(ctx, fleet)
    virtual_machine(ctx, fleet, fleet.machines[0].name)
    fleet.policy("skips", {"slipway.dev/test": fleet.label}, fleetlock={"groups": ["default"]},
                 skipChecks=[{"name": "kubevirt", "reason": "these machines may stop"}])
    _, base = fleet.controller()
    fleet.ready(base)
    fleet.granted(base, fleet.machines[0])


@limit(600)
def test_approval(ctx: Context) -> None:
    """A node that asks waits for somebody's yes, which is good for one boot."""
    fleet = Fleet(ctx, 1)
    machine = fleet.machines[0]
    fleet.policy("careful", {"slipway.dev/test": fleet.label}, fleetlock={"groups": ["default"]}, approval="required")
    _, base = fleet.controller()
    fleet.ready(base)
    said = fleet.says(machine, base, 404, "blocked")
    assert said.startswith("ApprovalNeeded: ") and f"'slipway approve node/{machine.name}'" in said, said
    done = ctx.run(ctx.slipway, "approve", f"node/{machine.name}", check=True)
    assert done.stdout == f"node/{machine.name} approved\n", done
    fleet.granted(base, machine)
    machine.boots()
    ctx.wait_for(lambda: machine.steady_state(base)[0] == 200, 60, "its report")
    ctx.wait_for(lambda: not fleet.holders("careful"), 90, "its slot to be free")
    assert fleet.says(machine, base, 404, "blocked").startswith("ApprovalNeeded: ")
