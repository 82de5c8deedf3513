"""The controller's flight recorder: what it has recorded of a real run gives the same transitions when it is played again."""

from __future__ import annotations

import json
import signal
import stat
from pathlib import Path

from context import Child, Context, limit
from test_fleetlock import Fleet, kubevirt, virtual_machine
from test_rollout import Ground


def replay(ctx: Context, record: Path, *flags: str, code: int = 0):
    result = ctx.run(ctx.slipway, "replay", str(record), *flags)
    assert result.returncode == code, (result.returncode, result.stdout[-3000:], result.stderr[-2000:])
    return result


def document(ctx: Context, record: Path, *flags: str, code: int = 0) -> dict:
    return json.loads(replay(ctx, record, "-o", "json", *flags, code=code).stdout)


def logged(child: Child, reason: str) -> list[str]:
    """What the controller itself has said, in order."""
    return [line.split("node ", 1)[1] for line in child.err if "node " in line and f"({reason})" in line]


def told(found: dict, reason: str) -> list[str]:
    return [f"{t['node']} {t['text']} ({reason})" for t in found["transitions"] if t.get("reason") == reason]


@limit(600)
def test_fleetlock(ctx: Context) -> None:
    """Three nodes, two ask at once, one is granted, boots and reports; then it is the other one's turn."""
    fleet = Fleet(ctx)
    fleet.pods()
    record = ctx.tmp / "record"
    child, base = fleet.controller("--record", str(record))
    first, second, _ = fleet.machines
    fleet.ready(base)
    ctx.wait_for(lambda: first.pre_reboot(base) and fleet.holders() == [first.name], 60, "it to hold the slot")
    fleet.says(second, base, 404, "slots_full")
    fleet.granted(base, first)
    first.boots()
    ctx.wait_for(lambda: first.steady_state(base)[0] == 200, 60, "the report to be taken")
    ctx.wait_for(lambda: first.name not in fleet.holders(), 60, "the slot to be free again")
    ctx.wait_for(lambda: second.pre_reboot(base)[0] == 200, 60, "the turn of the second one")
    child.end()
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    found = document(ctx, record)
    assert found["differences"] == 0 and not found["torn"], found
    for reason in ("SlotTaken", "Drained", "Granted", "SlotReleased"):
        assert told(found, reason) == logged(child, reason), (reason, told(found, reason), logged(child, reason))
    text = record.read_text()
    assert first.id not in text and "machineID" not in text and '"addresses"' not in text
    stops_where_it_is_told(ctx, record, first.name)
    says_where_it_differs(ctx, record, found)
    copes_with_a_torn_file(ctx, record)


def stops_where_it_is_told(ctx: Context, record: Path, node: str) -> None:
    found = document(ctx, record, "--node", node, "--until-transition", "(Granted)")
    assert found["transitions"][-1]["reason"] == "Granted", found["transitions"][-1]
    held = found["state"]["policies"][0]["held"]
    assert [(h["node"], h["state"]) for h in held] == [(node, "granted")], held
    assert {t["node"] for t in found["transitions"]} == {node}
    number = found["transitions"][-1]["number"]
    again = document(ctx, record, "--until", str(number))
    assert again["transitions"][-1] == found["transitions"][-1]
    said = replay(ctx, record, "--until", str(number)).stdout
    assert f"{node} granted since" in said, said
    assert "does not come to that" in replay(ctx, record, "--until", "100000", code=1).stderr


def says_where_it_differs(ctx: Context, record: Path, found: dict) -> None:
    """An answer that was another one: what follows from it is not what was recorded."""
    lines = record.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if '"to":"Draining"' in line and line.startswith('{"out":"note"'))
    changed = ctx.tmp / "changed"
    changed.write_text("".join([*lines[:at], lines[at].replace('"to":"Draining"', '"to":"Granted"'), *lines[at + 1:]]))
    other = document(ctx, changed, code=1)
    assert other["differences"] == 1 and other["firstDifferenceLine"] <= at, other
    assert other["transitions"] == found["transitions"], "what comes of it now is what the engine says"
    said = replay(ctx, changed, code=1).stdout
    assert "had another outcome" in said and '"to":"Granted"' in said, said[-2000:]
    answers = [i for i, line in enumerate(lines) if line.startswith('{"in":"answer"') and '"code":20' in line and '"kind":"configmaps"' in line]
    refused = json.loads(lines[answers[0]]) | {"outcome": "Forbidden", "code": 403, "message": "no"}
    changed.write_text("".join([*lines[:answers[0]], json.dumps(refused, separators=(",", ":")) + "\n", *lines[answers[0] + 1:]]))
    assert document(ctx, changed, code=1)["differences"] > 0


def copes_with_a_torn_file(ctx: Context, record: Path) -> None:
    torn = ctx.tmp / "torn"
    text = record.read_text()
    torn.write_text(text[:len(text) * 2 // 3])
    found = document(ctx, torn)
    assert found["differences"] == 0 and found["torn"] == (not text[:len(text) * 2 // 3].endswith("\n")), found


@limit(600)
def test_gates(ctx: Context) -> None:
    """What a check found is among the inputs: also after the Policy has changed."""
    fleet = Fleet(ctx, 1)
    node, = fleet.machines
    fleet.policy("gated", {"slipway.dev/test": fleet.label}, fleetlock={"groups": ["default"]})
    kubevirt(ctx, fleet)
    machine = virtual_machine(ctx, fleet, node.name)
    record = ctx.tmp / "record"
    child, base = fleet.controller("--record", str(record))
    fleet.ready(base)
    ctx.wait_for(lambda: node.pre_reboot(base)[1]["value"].startswith(f"NotMigratable {fleet.ns}/vm: "), 120, "why it waits")
    fleet.api.patch("/apis/slipway.dev/v1alpha1/policies/gated", {"spec": {"maxUnavailable": 2}})
    ctx.wait_for(lambda: sum("policy gated: is in force" in line for line in child.err) == 2, 60, "the change")
    ctx.wait_for(lambda: node.pre_reboot(base)[1]["value"].startswith(f"NotMigratable {fleet.ns}/vm: "), 120, "why it waits still")
    fleet.api.call("DELETE", machine)
    fleet.granted(base, node)
    child.end()
    found = document(ctx, record)
    assert found["differences"] == 0, replay(ctx, record, code=1).stdout[:3000]
    for reason in ("GateShut", "SlotTaken", "Drained", "Granted"):
        assert told(found, reason) == logged(child, reason) != [], (reason, told(found, reason), logged(child, reason))


@limit(600)
def test_rollout(ctx: Context) -> None:
    """A rollout of three nodes, through several files, killed at the end: each of them can be played."""
    ground = Ground(ctx, 3, maxUnavailable=2)
    ground.pods()
    record = ctx.tmp / "record"
    child, _ = ground.controller("--allow-commands", "--record", str(record))
    name = ground.rollout()
    ctx.wait_for(lambda: ground.status(name).get("phase") == "Complete", 240, "the rollout to be done")
    ctx.wait_for(lambda: '"reason":"AllDone"' in record.read_text(), 60, "that to be recorded")
    child.send(signal.SIGKILL)
    found = document(ctx, record)
    assert found["differences"] == 0, replay(ctx, record, code=1).stdout[:3000]
    assert {t["node"] for t in found["transitions"] if t.get("to") == "Complete"} == {m.name for m in ground.machines}
    assert ground.command[-1] not in record.read_text(), "what is run is nobody's business"
