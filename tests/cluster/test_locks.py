"""`slipway locks` and `slipway unlock` on a real cluster, beside the controller that keeps the slots."""

from __future__ import annotations

import json

from context import Context, limit
from objects import budget
from test_fleetlock import Fleet

DONE, REFUSED = 0, 5


def rows(fleet: Fleet) -> dict[str, dict]:
    done = fleet.ctx.run(fleet.ctx.slipway, "locks", "-n", fleet.ns, "-o", "json", check=True)
    found = json.loads(done.stdout)
    assert [c["leads"] for c in found["controllers"]] == [True], found
    return {item["node"]: item for item in found["items"]}


def unlock(fleet: Fleet, *args: str) -> tuple[int, str, str]:
    done = fleet.ctx.run(fleet.ctx.slipway, "unlock", "-n", fleet.ns, *args)
    return done.returncode, done.stdout, done.stderr


@limit(600)
def test_a_node_that_never_comes_back(ctx: Context) -> None:
    """It was granted its slot, and a human gives that to the next one; nothing else would."""
    fleet = Fleet(ctx)
    _, base = fleet.controller()
    fleet.ready(base)
    first, second, third = fleet.machines
    fleet.granted(base, first)
    fleet.says(second, base, 404, "slots_full")
    ctx.wait_for(lambda: second.name in rows(fleet), 60, "the second one to wait")
    found = rows(fleet)
    assert (found[first.name]["state"], found[second.name]["state"]) == ("granted", "waits"), found
    assert "waits for its reboot" in found[first.name]["why"], found
    assert found[second.name]["why"] == f"another holds the only slot: {first.name}", found
    code, _, err = unlock(fleet, third.name, "--yes", "--reason", "x")
    assert code == REFUSED and "holds no slot" in err, (code, err)
    code, _, err = unlock(fleet, first.name, "--yes", "--reason", "x")
    assert code == REFUSED and "may still reboot" in err, (code, err)
    assert fleet.holders() == [first.name]
    code, out, err = unlock(fleet, first.name, "--yes", "--anyway", "--reason", "its board is dead")
    assert (code, out) == (DONE, f"node/{first.name} unlocked\n"), (code, out, err)
    assert "the controller uncordons it and frees the slot" in err, err
    ctx.wait_for(lambda: not first.cordoned and first.name not in fleet.holders(), 60, "the slot to be free")
    fleet.granted(base, second)
    events = fleet.api.get(f"/api/v1/namespaces/default/events?fieldSelector=involvedObject.name={first.name}")["items"]
    assert [e["message"].endswith(": its board is dead") for e in events if e["reason"] == "Unlocked"] == [True], events


@limit(600)
def test_a_drain_that_cannot_end(ctx: Context) -> None:
    """What it waits for is named, and who lets the slot go gets the node back."""
    fleet = Fleet(ctx)
    fleet.pods()
    fleet.api.create(budget("never", fleet.ns, {"app": "web"}, maxUnavailable=0))
    _, base = fleet.controller()
    fleet.ready(base)
    first = fleet.machines[0]
    fleet.says(first, base, 404, "blocked")
    ctx.wait_for(lambda: f"{fleet.ns}/never" in rows(fleet).get(first.name, {"why": ""})["why"], 120, "the budget to be named")
    row = rows(fleet)[first.name]
    assert (row["state"], row["outlook"]) == ("taken", "stuck"), row
    assert row["why"].startswith("is being drained: PDBUnsatisfiable "), row
    code, out, _ = unlock(fleet, first.name, "--yes", "--reason", "not tonight")
    assert (code, out) == (DONE, f"node/{first.name} unlocked\n"), (code, out)
    ctx.wait_for(lambda: not first.cordoned and fleet.holders() == [], 60, "the node to be in service")
