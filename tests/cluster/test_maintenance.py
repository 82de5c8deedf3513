"""Maintenances on a real cluster: what `kubectl apply` of one does, and what deleting it does, in every phase."""

from __future__ import annotations

import json
import sys

from api import object_path
from context import Context, limit
from objects import deployment
from test_fleetlock import GROUP, Fleet

# What stands for a machine: told to reboot, it comes back with another boot, as its kubelet would say it.
REBOOT = """
import datetime, json, os, subprocess, sys, uuid
kubectl, kubeconfig, log, node = sys.argv[1], sys.argv[2], sys.argv[3], os.environ["SLIPWAY_NODE"]
open(log, "a").write(node + "\\n")
run = lambda *a: subprocess.run([kubectl, "--kubeconfig", kubeconfig, *a], check=True, capture_output=True, text=True).stdout
now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
found = json.loads(run("get", "node", node, "-o", "json"))
conditions = [c | {"lastHeartbeatTime": now} for c in found["status"]["conditions"]]
run("patch", "node", node, "--subresource=status", "--type=merge", "-p",
    json.dumps({"status": {"nodeInfo": {"bootID": str(uuid.uuid4())}, "conditions": conditions}}))
"""


class Yard(Fleet):
    def __init__(self, ctx: Context, nodes: int = 3) -> None:
        super().__init__(ctx, nodes)
        ctx.once("definitions", self.define)
        self.script, self.log = ctx.tmp / "reboot.py", ctx.tmp / "reboots"
        self.script.write_text(REBOOT)
        self.made: list[str] = []
        ctx.undo(self.forget)

    def forget(self) -> None:
        for name in self.made:
            if not self.gone(name):
                self.api.patch(f"{GROUP}/maintenances/{name}", {"metadata": {"finalizers": None}})
            self.api.raw("DELETE", f"{GROUP}/maintenances/{name}")

    @property
    def command(self) -> list[str]:
        return [sys.executable, str(self.script), str(self.ctx.cluster.binaries.path("kubectl")), str(self.ctx.cluster.admin), str(self.log)]

    def make(self, node: str, operation: str = "Reboot", **spec: object) -> str:
        name = self.ctx.unique("m")
        body = {"apiVersion": "slipway.dev/v1alpha1", "kind": "Maintenance", "metadata": {"name": name},
                "spec": {"node": node, "operation": operation} | spec}
        if operation != "Drain":
            body["spec"].setdefault("executor", {"exec": {"command": self.command}})
        self.ctx.cluster.kubectl("apply", "-f", "-", input=json.dumps(body))
        self.made.append(name)
        return name

    def get(self, name: str) -> dict:
        return self.api.get(f"{GROUP}/maintenances/{name}")

    def phase(self, name: str) -> str | None:
        return self.get(name).get("status", {}).get("phase")

    def gone(self, name: str) -> bool:
        return self.api.raw("GET", f"{GROUP}/maintenances/{name}")[0] == 404

    def reboots(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []


@limit(600)
def test_a_reboot(ctx: Context) -> None:
    """Applied, it is drained, rebooted once, and back in service; kubectl wait sees it."""
    yard = Yard(ctx)
    yard.pods()
    yard.controller("--allow-commands")
    machine = yard.machines[0]
    before = machine.node["status"]["nodeInfo"]["bootID"]
    name = yard.make(machine.name, reason="kernel update")
    ctx.cluster.kubectl("wait", "--for=condition=Complete", f"maintenance/{name}", "--timeout=120s")
    found = yard.get(name)["status"]
    assert found["phase"] == "Complete" and yard.reboots() == [machine.name], (found, yard.reboots())
    assert found["bootBefore"] == before and found["bootAfter"] == machine.node["status"]["nodeInfo"]["bootID"] != before, found
    steps = [t["to"] for t in found["journal"]]
    assert steps == ["Queued", "Draining", "Granted", "Operating", "Returning", "Restoring", "Uncordoning", "Settling", "Complete"], steps
    assert not machine.cordoned and yard.holders() == []
    ctx.cluster.kubectl("delete", "maintenance", name, "--timeout=60s")


@limit(600)
def test_a_drain_is_held_until_it_is_deleted(ctx: Context) -> None:
    yard = Yard(ctx)
    yard.pods()
    yard.controller()
    machine = yard.machines[0]
    name = yard.make(machine.name, "Drain")
    ctx.wait_for(lambda: yard.phase(name) == "Granted", 90, "it to be drained")
    assert machine.cordoned and yard.holders() == [machine.name]
    other = yard.make(yard.machines[1].name, "Drain")
    ctx.wait_for(lambda: yard.get(other).get("status", {}).get("blocker", {}).get("code") == "MaxUnavailableReached", 60, "why it waits")
    ctx.cluster.kubectl("delete", "maintenance", name, "--timeout=60s")
    assert not machine.cordoned
    ctx.wait_for(lambda: yard.phase(other) == "Granted", 90, "the turn of the other one")


@limit(600)
def test_an_operation_that_fails(ctx: Context) -> None:
    """It halts, and somebody has to say how it goes on: here once more, and then it works."""
    yard = Yard(ctx)
    yard.controller("--allow-commands")
    machine = yard.machines[0]
    name = yard.make(machine.name, executor={"exec": {"command": [sys.executable, "-c", "import sys; sys.exit('no power')"]}})
    ctx.wait_for(lambda: yard.phase(name) == "Halted", 90, "it to halt")
    assert machine.cordoned and "no power" in json.dumps(yard.get(name)["status"]["conditions"]), yard.get(name)["status"]
    ctx.cluster.kubectl("annotate", "maintenance", name, "slipway.dev/word=abort")
    ctx.wait_for(lambda: yard.phase(name) == "Cancelled", 90, "it to be given up")
    assert not machine.cordoned and yard.holders() == []


@limit(600)
def test_commands_have_to_be_allowed(ctx: Context) -> None:
    yard = Yard(ctx)
    yard.controller()
    name = yard.make(yard.machines[0].name)
    ctx.wait_for(lambda: yard.get(name).get("status", {}).get("blocker", {}).get("code") == "ExecutorRefused", 90, "why it does not begin")
    assert "--allow-commands" in yard.get(name)["status"]["blocker"]["message"] and yard.reboots() == []
    assert yard.phase(name) == "Pending" and yard.holders() == [] and not yard.machines[0].cordoned
    yard.api.delete(f"{GROUP}/maintenances/{name}")
    ctx.wait_for(lambda: yard.gone(name), 60, "it to be gone")
    assert not yard.machines[0].cordoned


@limit(600)
def test_a_node_that_does_not_come_back(ctx: Context) -> None:
    """The command ends well, and nothing comes of it: that ends, and then it can be deleted."""
    yard = Yard(ctx)
    yard.policy("short", {"slipway.dev/test": yard.label}, returnTimeout="5s")
    yard.controller("--allow-commands")
    machine = yard.machines[0]
    name = yard.make(machine.name, executor={"exec": {"command": [sys.executable, "-c", "pass"]}})
    ctx.wait_for(lambda: yard.phase(name) == "Halted", 90, "it to halt")
    status = yard.get(name)["status"]
    ctx.wait_for(lambda: yard.get(name)["status"].get("blocker", {}).get("code") == "NotBack", 60, "what it waits for")
    assert status["reason"] == "NotBack" and machine.cordoned and yard.holders("short") == [machine.name], status
    yard.api.delete(f"{GROUP}/maintenances/{name}")
    ctx.wait_for(lambda: yard.gone(name), 60, "it to be gone")
    assert not machine.cordoned and yard.holders("short") == []


@limit(600)
def test_a_client_that_does_not_ask(ctx: Context) -> None:
    """Drained for a FleetLock client: that is a phase of its own, and ends."""
    yard = Yard(ctx)
    yard.policy("brief", {"slipway.dev/test": yard.label}, returnTimeout="5s")
    yard.controller()
    machine = yard.machines[0]
    name = yard.make(machine.name, executor={"fleetlock": {}})
    ctx.wait_for(lambda: yard.phase(name) == "Failed", 90, "it to be given up")
    steps = [(j["to"], j["reason"]) for j in yard.get(name)["status"]["journal"]]
    assert steps[-4:] == [("Draining", "SlotTaken"), ("Drained", "AwaitsClient"), ("Undoing", "ClientSilent"), ("Failed", "PutBack")], steps
    assert not machine.cordoned and yard.holders("brief") == []


def tie(yard: Yard, node: str) -> None:
    """A Deployment of two: one replica has its data on that node and can run nowhere else."""
    name, ns = yard.ctx.unique("disk"), yard.ns
    where = {"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]}}
    volume = yard.api.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
        "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "storageClassName": "none", "local": {"path": "/data"},
        "nodeAffinity": where, "claimRef": {"namespace": ns, "name": "disk"}}})
    yard.ctx.undo(lambda: yard.api.raw("DELETE", object_path(volume)))
    yard.api.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "disk", "namespace": ns}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "none", "volumeName": name}})
    yard.api.create(deployment("tied", ns, 1, volumes=[{"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}]))
    yard.ctx.wait_for(lambda: [p["spec"].get("nodeName") for p in yard.api.get(f"/api/v1/namespaces/{ns}/pods")["items"]
                               if p["status"]["phase"] == "Running"] == [node], 90, "its pod to run there")


@limit(600)
def test_a_pod_that_is_tied_to_its_node(ctx: Context) -> None:
    """Its owner cannot be well again before the node is back: that is not waited for."""
    yard = Yard(ctx)
    machine = yard.machines[0]
    yard.api.patch(f"/api/v1/nodes/{machine.name}", {"metadata": {"labels": {"kubernetes.io/hostname": machine.name}}})
    tie(yard, machine.name)
    yard.policy("patient", {"slipway.dev/test": yard.label}, waitRescheduled=True)
    yard.controller("--allow-commands")
    name = yard.make(machine.name)
    ctx.cluster.kubectl("wait", "--for=condition=Complete", f"maintenance/{name}", "--timeout=120s")
    assert yard.reboots() == [machine.name]


@limit(600)
def test_zones(ctx: Context) -> None:
    """It says that it is the zones, where it is."""
    yard = Yard(ctx, 2)
    for machine, zone in zip(yard.machines, "ab"):
        yard.api.patch(f"/api/v1/nodes/{machine.name}", {"metadata": {"labels": {"topology.kubernetes.io/zone": zone}}})
    yard.policy("zones", {"slipway.dev/test": yard.label}, maxUnavailable=2, maxZones=1)
    yard.controller()
    first = yard.make(yard.machines[0].name, "Drain")
    ctx.wait_for(lambda: yard.phase(first) == "Granted", 90, "it to be drained")
    second = yard.make(yard.machines[1].name, "Drain")
    ctx.wait_for(lambda: yard.get(second).get("status", {}).get("blocker", {}).get("code") == "MaxZonesReached", 60, "why it waits")


@limit(600)
def test_approval_of_a_maintenance(ctx: Context) -> None:
    yard = Yard(ctx, 1)
    yard.policy("careful", {"slipway.dev/test": yard.label}, approval="required")
    yard.controller()
    name = yard.make(yard.machines[0].name, "Drain")
    ctx.wait_for(lambda: yard.get(name).get("status", {}).get("blocker", {}).get("code") == "ApprovalNeeded", 60, "why it waits")
    assert yard.phase(name) == "Pending" and not yard.machines[0].cordoned
    ctx.run(ctx.slipway, "approve", name, check=True)
    ctx.wait_for(lambda: yard.phase(name) == "Granted", 90, "it to be drained")


@limit(600)
def test_a_record_that_is_deleted_while_nobody_leads(ctx: Context) -> None:
    """The node was told to reboot: it keeps its cordon and its slot, and nobody else goes."""
    yard = Yard(ctx)
    child, _ = yard.controller("--allow-commands")
    machine, other = yard.machines[:2]
    name = yard.make(machine.name, executor={"exec": {"command": [sys.executable, "-c", "pass"]}})
    ctx.wait_for(lambda: yard.phase(name) == "Operating", 90, "it to be told")
    child.process.kill()
    child.process.wait()
    yard.api.delete(f"/api/v1/namespaces/{yard.ns}/configmaps/slipway-slots-default")
    yard.controller("--allow-commands")
    ctx.wait_for(lambda: yard.holders() == [machine.name], 90, "the record to be made again")
    waits = yard.make(other.name, "Drain")
    ctx.wait_for(lambda: yard.get(waits).get("status", {}).get("blocker", {}).get("code") == "MaxUnavailableReached", 90, "the other one to wait")
    assert yard.phase(name) == "Operating" and machine.cordoned and yard.holders() == [machine.name], yard.get(name)["status"]
    told = [e for e in yard.api.get("/api/v1/events")["items"] if e["reason"] == "RecordLost" and e["involvedObject"]["name"] == machine.name]
    assert told, "it is told"
    machine.boots()
    ctx.wait_for(lambda: yard.phase(name) == "Complete", 90, "it to be back")
    assert not machine.cordoned
    ctx.wait_for(lambda: yard.phase(waits) == "Granted", 90, "the turn of the other one")
