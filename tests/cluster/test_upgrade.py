"""Two releases of the controller on one cluster, as during an upgrade: slipway-next (tests/cluster/meson.build) writes into each slot what this
one does not know. Each takes over from the other in the middle of a drain, and neither loses what the other has written."""

from __future__ import annotations

import json
import re

from context import Child, Context, limit
from test_fleetlock import Fleet

NEXT = {"of": [1, 2]}


class Upgrade(Fleet):
    def release(self, newer: bool, name: str) -> tuple[Child, str]:
        program = self.ctx.probe.with_name("slipway-next") if newer else self.ctx.slipway
        child = self.ctx.spawn(program, "controller", "--fleetlock-listen", "127.0.0.1:0", "--namespace", self.ns, "--identity", name, "-v=2")
        found = self.ctx.wait_for(lambda: re.search(r"FleetLock at ([\d.:]+)", "\n".join(child.err)), 30, "FleetLock to be served")
        base = f"http://{found[1]}"
        self.ready(base)
        return child, base

    def leads(self, name: str) -> None:
        path = f"/apis/coordination.k8s.io/v1/namespaces/{self.ns}/leases/slipway-controller"

        def holds() -> bool:
            code, found = self.api.raw("GET", path)
            return code == 200 and str(json.loads(found)["spec"].get("holderIdentity")).startswith(name + "_")

        self.ctx.wait_for(holds, 60, f"{name} to lead")

    def slot(self) -> dict:
        found = self.slots()["slots"]
        assert len(found) <= 1, found  # never two
        return found[0] if found else {}

    def blocked(self) -> str:
        """A pod that does not go until somebody lets it: its finalizer."""
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "stays", "namespace": self.ns, "finalizers": ["slipway.dev/test"]},
               "spec": {"nodeName": self.machines[0].name, "terminationGracePeriodSeconds": 0,
                        "containers": [{"name": "c", "image": "registry.k8s.io/pause:3.10"}]}}
        self.api.create(pod)
        path = f"/api/v1/namespaces/{self.ns}/pods/stays"
        self.ctx.undo(lambda: self.api.raw("GET", path)[0] == 200 and self.let_go(path))
        return path

    def let_go(self, path: str) -> None:
        self.api.patch(path, {"metadata": {"finalizers": None}})


@limit(900)
def test_back_and_forth_in_the_middle_of_a_drain(ctx: Context) -> None:
    """The newer one gives the slot; the older one leads while the node is drained, the newer one again at the end. Killed, and stopped."""
    fleet = Upgrade(ctx, 2)
    pod = fleet.blocked()
    machine, other = fleet.machines
    newer, there = fleet.release(True, "newer")
    fleet.leads("newer")
    older, here = fleet.release(False, "older")
    ctx.wait_for(lambda: machine.pre_reboot(here) and fleet.slot().get("node") == machine.name, 60, "it to hold the slot")
    given = fleet.slot()
    assert given["next"] == NEXT, given
    ctx.wait_for(lambda: machine.cordoned, 60, "it to be cordoned")
    newer.process.kill()
    fleet.leads("older")
    fence = fleet.slots()["fence"]
    ctx.wait_for(lambda: other.pre_reboot(here)[1]["kind"] == "slots_full" and fleet.slots()["waiting"], 60, "the other one to wait")
    assert fleet.slot()["id"] == given["id"] and fleet.slot()["next"] == NEXT, fleet.slot()
    newer, there = fleet.release(True, "newer-2")
    fleet.let_go(pod)
    fleet.granted(here, machine)
    assert fleet.slot()["state"] == "granted" and fleet.slot()["next"] == NEXT, fleet.slot()
    older.process.terminate()  # gives the Lease up
    fleet.leads("newer-2")
    ctx.wait_for(lambda: fleet.slots()["fence"] > fence, 60, "the record to be adopted")
    assert fleet.slot()["id"] == given["id"] and fleet.slot()["next"] == NEXT, fleet.slot()
    fleet.granted(there, machine)  # what the older one has granted
    machine.boots()
    ctx.wait_for(lambda: machine.steady_state(there)[0] == 200, 60, "the report to be taken")
    ctx.wait_for(lambda: fleet.slot().get("node") != machine.name and not machine.cordoned, 60, "the slot to be free again")


@limit(600)
def test_what_the_older_one_gave(ctx: Context) -> None:
    """The newer one takes over a slot that has nothing of its own, and sees it to its end."""
    fleet = Upgrade(ctx, 1)
    pod = fleet.blocked()
    machine = fleet.machines[0]
    older, here = fleet.release(False, "older")
    fleet.leads("older")
    ctx.wait_for(lambda: machine.pre_reboot(here) and fleet.slot(), 60, "it to hold the slot")
    assert "next" not in fleet.slot()
    _, there = fleet.release(True, "newer")
    older.process.kill()
    fleet.leads("newer")
    fleet.let_go(pod)
    fleet.granted(there, machine)
    machine.boots()
    ctx.wait_for(lambda: machine.steady_state(there)[0] == 200, 60, "the report to be taken")
    ctx.wait_for(lambda: not fleet.slot() and not machine.cordoned, 60, "the slot to be free again")


@limit(300)
def test_a_record_of_a_newer_version(ctx: Context) -> None:
    """It is not read and not written: nobody is told to go, whoever leads."""
    fleet = Upgrade(ctx, 1)
    record = '{"v":2,"fence":1,"holders":{"w":{}}}'
    path = f"/api/v1/namespaces/{fleet.ns}/configmaps"
    made = fleet.api.call("POST", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": "slipway-slots-default", "labels": {"slipway.dev/slots": "default"}}, "data": {"slots": record}})
    _, base = fleet.release(False, "older")
    fleet.leads("older")
    said = fleet.says(fleet.machines[0], base, 503, "unavailable")
    assert "version 2" in said, said
    assert fleet.machines[0].steady_state(base)[0] == 503
    found = fleet.api.get(f"{path}/slipway-slots-default")
    assert found["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"], found
