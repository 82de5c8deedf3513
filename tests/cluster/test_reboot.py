"""`slipway reboot`, `rollout` and `history` on a real cluster, beside the controller that does the work."""

from __future__ import annotations

import json
import sys

from context import Context, limit
from test_maintenance import Yard
from test_pause import slipway
from test_rollout import Ground

BLOCKED, REFUSED = 3, 5


def reboot(yard: Yard, name: str, nodes: list[str], *more: str, command: list[str] | None = None, code: int = 0) -> tuple[str, str]:
    yard.made.append(name)
    return slipway(yard, "reboot", *nodes, "--name", name, "-n", yard.ns, *more, "--", *(command or yard.command), code=code)


@limit(600)
def test_one_node(ctx: Context) -> None:
    """Followed to its end: every phase is told, the node was rebooted once, and the history has it."""
    yard = Yard(ctx)
    yard.pods()
    yard.controller("--allow-commands")
    machine, name = yard.machines[0], ctx.unique("m")
    ctx.wait_for(lambda: ctx.run(ctx.slipway, "reboot", machine.name, "-n", yard.ns, "--dry-run", "--by", "sim").returncode == 0, 60,
                 "a controller that leads")
    out, err = reboot(yard, name, [machine.name], "--wait", "--reason", "kernel update")
    assert out == f"maintenance/{name} created\n" and err.splitlines()[-1] == f"{machine.name} Complete", (out, err)
    assert yard.reboots() == [machine.name] and not machine.cordoned
    found = json.loads(slipway(yard, "history", machine.name, "-o", "json")[0])["items"]
    item, = [i for i in found if i["name"] == name]
    assert (item["phase"], item["reason"]) == ("Complete", "kernel update") and item["bootBefore"] != item["bootAfter"], item
    assert [p["phase"] for p in item["phases"]][-3:] == ["Restoring", "Uncordoning", "Settling"], item


@limit(600)
def test_one_that_fails(ctx: Context) -> None:
    """It halts: the exit status says so, and the words say how it goes on."""
    yard = Yard(ctx)
    yard.controller("--allow-commands")
    machine, name = yard.machines[0], ctx.unique("m")
    ctx.wait_for(lambda: ctx.run(ctx.slipway, "reboot", machine.name, "-n", yard.ns, "--dry-run", "--by", "sim").returncode == 0, 60,
                 "a controller that leads")
    fails = [sys.executable, "-c", "import sys; sys.exit('no power')"]
    _, err = reboot(yard, name, [machine.name], "--wait", command=fails, code=BLOCKED)
    assert f"'slipway retry maintenance/{name}', skip or abort" in err, err
    _, err = reboot(yard, ctx.unique("m"), [machine.name], code=REFUSED)
    assert f"maintenance/{name} of node {machine.name} is under way already" in err, err
    slipway(yard, "skip", name)
    ctx.wait_for(lambda: yard.phase(name) == "Complete", 90, "it to be done")


@limit(600)
def test_several(ctx: Context) -> None:
    """A Rollout, one node at a time; shown with its nodes."""
    ground = Ground(ctx, 3)
    ground.controller("--allow-commands")
    names, name = [m.name for m in ground.machines], ctx.unique("r")
    ctx.undo(lambda: ground.api.raw("DELETE", f"/apis/slipway.dev/v1alpha1/rollouts/{name}"))
    ctx.wait_for(lambda: ctx.run(ctx.slipway, "reboot", *names, "-n", ground.ns, "--dry-run", "--by", "sim").returncode == 0, 60,
                 "a controller that leads")
    out, err = reboot(ground, name, names, "--wait")
    assert out == f"rollout/{name} created\n" and "3 of 3 nodes done" in err.splitlines()[-1], (out, err)
    assert sorted(ground.reboots()) == sorted(names), ground.reboots()
    item, = json.loads(slipway(ground, "rollout", name, "-o", "json")[0])["items"]
    assert (item["phase"], item["complete"]) == ("Complete", 3), item
    assert sorted(n["node"] for n in item["nodes"]) == sorted(names), item


@limit(600)
def test_nobody_would_do_it(ctx: Context) -> None:
    yard = Yard(ctx)
    _, err = slipway(yard, "reboot", yard.machines[0].name, "-n", yard.ns, code=REFUSED)
    assert "no controller runs" in err, err
