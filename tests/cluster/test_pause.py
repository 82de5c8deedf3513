"""`slipway pause`, `resume`, `retry`, `skip` and `abort` on a real cluster, beside the controller that obeys them."""

from __future__ import annotations

import sys

from context import Context, limit
from test_maintenance import Yard
from test_rollout import Ground

DONE, REFUSED = 0, 5


def slipway(yard: Yard, *args: str, code: int = DONE) -> tuple[str, str]:
    done = yard.ctx.run(yard.ctx.slipway, *args)
    assert done.returncode == code, (args, done)
    return done.stdout, done.stderr


def blocker(yard: Yard, name: str) -> dict:
    return yard.get(name).get("status", {}).get("blocker", {})


@limit(600)
def test_everything(ctx: Context) -> None:
    """Nothing begins while all is paused, and why is written there; then it goes on."""
    yard = Yard(ctx)
    yard.controller("--allow-commands")
    machine = yard.machines[0]
    out, _ = slipway(yard, "pause", "--all", "-n", yard.ns, "--reason", "storage is red")
    assert out == f"everything paused in namespace {yard.ns}\n", out
    name = yard.make(machine.name)
    ctx.wait_for(lambda: "storage is red" in blocker(yard, name).get("message", ""), 60, "it to wait for that")
    assert not machine.cordoned and yard.reboots() == []
    _, err = slipway(yard, "locks", "-n", yard.ns)
    assert err.startswith("Everything is paused by ") and "storage is red; 'slipway resume --all' ends it" in err, err
    out, _ = slipway(yard, "resume", "--all", "-n", yard.ns)
    assert out == f"everything resumed in namespace {yard.ns}\n", out
    ctx.wait_for(lambda: yard.phase(name) == "Complete", 120, "the reboot to be done")
    assert yard.reboots() == [machine.name]


@limit(600)
def test_one_maintenance(ctx: Context) -> None:
    yard = Yard(ctx)
    yard.controller("--allow-commands")
    name = yard.make(yard.machines[0].name, paused=True)
    ctx.wait_for(lambda: blocker(yard, name).get("code") == "ManualHold", 60, "it to be paused")
    assert slipway(yard, "pause", f"swm/{name}")[0] == f"maintenance/{name} already paused\n"
    assert slipway(yard, "resume", name)[0] == f"maintenance/{name} resumed\n"
    ctx.wait_for(lambda: yard.phase(name) == "Complete", 120, "the reboot to be done")
    assert "over already" in slipway(yard, "retry", name, code=REFUSED)[1]


@limit(600)
def test_halted(ctx: Context) -> None:
    """Its command fails; skipped it is done, and another is aborted."""
    yard = Yard(ctx)
    yard.controller("--allow-commands")
    fails = {"exec": {"command": [sys.executable, "-c", "import sys; sys.exit('no power')"]}}
    for index, (word, phase) in enumerate((("skip", "Complete"), ("abort", "Cancelled"))):
        machine = yard.machines[index]
        name = yard.make(machine.name, executor=fails)
        ctx.wait_for(lambda: yard.phase(name) == "Halted", 90, "it to halt")
        slipway(yard, word, name, *(["--yes"] if word == "abort" else []))
        ctx.wait_for(lambda: yard.phase(name) == phase, 90, f"it to be {phase}")
        assert not machine.cordoned


@limit(600)
def test_abort_cancels(ctx: Context) -> None:
    """One that holds its node drained is given up: the node is what it was."""
    yard = Yard(ctx)
    yard.controller()
    machine = yard.machines[0]
    name = yard.make(machine.name, "Drain")
    ctx.wait_for(lambda: yard.phase(name) == "Granted", 90, "it to be drained")
    assert machine.cordoned
    assert "say --yes" in slipway(yard, "abort", name, code=REFUSED)[1]
    slipway(yard, "abort", name, "--yes", "--dry-run=server")
    assert not yard.get(name)["metadata"].get("deletionTimestamp")
    assert slipway(yard, "abort", name, "--yes")[0] == f"maintenance/{name} aborted\n"
    ctx.wait_for(lambda: yard.gone(name), 60, "it to be gone")
    assert not machine.cordoned


@limit(600)
def test_a_rollout_is_retried(ctx: Context) -> None:
    """What has halted is tried again, and so is what was given up."""
    ground = Ground(ctx, 2)
    ground.controller("--allow-commands")
    broken = ctx.tmp / "broken"
    broken.write_text("")
    script = f"import os, sys; os.path.exists({str(broken)!r}) and sys.exit('no power'); os.execv(sys.argv[1], sys.argv[1:])"
    name = ground.rollout(executor={"exec": {"command": [sys.executable, "-c", script, *ground.command]}})
    first = ground.maintenance(name, 0)
    ctx.wait_for(lambda: not ground.gone(first) and ground.phase(first) == "Halted", 120, "the first to halt")
    slipway(ground, "abort", first, "--yes")
    ctx.wait_for(lambda: ground.phase(first) == "Cancelled", 120, "the first to be given up")
    broken.unlink()
    out, _ = slipway(ground, "retry", f"rollout/{name}")
    assert out == f"maintenance/{first} retried\nrollout/{name} retried\n", out
    ctx.wait_for(lambda: ground.status(name).get("phase") == "Complete", 240, "the rollout to be done")
    assert sorted(ground.reboots()) == sorted(m.name for m in ground.machines), ground.reboots()
