"""The controller's FleetLock service on a real cluster: what the reboot manager (seed 002) did, step by step, for real."""

from __future__ import annotations

import json
import re

from context import Child, Context, limit
from crds import DEFINITIONS
from fleetlock_client import Machine, ask
from objects import deployment


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
        self.api.call("POST", "/apis/slipway.dev/v1alpha1/policies", {
            "apiVersion": "slipway.dev/v1alpha1", "kind": "Policy", "metadata": {"name": name},
            "spec": {"nodeSelector": {"matchLabels": labels}, "waitRescheduled": False} | spec})
        self.ctx.undo(lambda: self.api.raw("DELETE", f"/apis/slipway.dev/v1alpha1/policies/{name}"))

    def define(self) -> None:
        printed = self.ctx.run(self.ctx.slipway, "export", "crds", check=True).stdout
        for resource in ("policies", "maintenances", "rollouts"):
            path = f"{DEFINITIONS}/{resource}.slipway.dev"
            self.ctx.suite_undo(lambda path=path: self.api.raw("DELETE", path))
        self.ctx.cluster.kubectl("apply", "-f", "-", input=printed)
        for resource in ("policies", "maintenances", "rollouts"):
            self.ctx.wait_for(lambda resource=resource: self.api.raw("GET", f"/apis/slipway.dev/v1alpha1/{resource}")[0] == 200, 60,
                              f"{resource} to be served")

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
    first.boots()
    assert first.pre_reboot(base)[0] != 200, "not twice for one request"
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
    for machine in (a, b):
        ctx.wait_for(lambda machine=machine: machine.pre_reboot(base, group="workers")[0] == 200, 60, "the grant")
    fleet.says(c, base, 423, "slots_full", group="workers")
    assert sorted(fleet.holders(fleet.label)) == sorted([a.name, b.name])
    fleet.policy(fleet.label + "-2", pool, fleetlock={"groups": ["workers"]})
    ctx.wait_for(lambda: c.pre_reboot(base, group="workers")[1]["kind"] == "ambiguous_node", 60, "the second policy to be seen")
    fleet.api.delete(f"/apis/slipway.dev/v1alpha1/policies/{fleet.label}-2")
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
