"""Rollouts on a real cluster: all nodes, as many at a time as the policy says; what stops one, and what deleting it does."""

from __future__ import annotations

import json
import sys

from context import Context, limit
from test_maintenance import GROUP, Yard


class Ground(Yard):
    """The nodes of a test have a policy of their own."""

    def __init__(self, ctx: Context, nodes: int, **policy: object) -> None:
        super().__init__(ctx, nodes)
        self.policy(self.label, {"slipway.dev/test": self.label}, **policy)

    def forget(self) -> None:
        for item in self.api.get(f"{GROUP}/maintenances")["items"]:
            self.made.append(item["metadata"]["name"])
        super().forget()

    def rollout(self, **spec: object) -> str:
        name = self.ctx.unique("r")
        body = {"apiVersion": "slipway.dev/v1alpha1", "kind": "Rollout", "metadata": {"name": name},
                "spec": {"operation": "Reboot", "executor": {"exec": {"command": self.command}},
                         "nodeSelector": {"matchLabels": {"slipway.dev/test": self.label}}} | spec}
        self.ctx.undo(lambda: self.api.raw("DELETE", f"{GROUP}/rollouts/{name}"))
        self.ctx.cluster.kubectl("apply", "-f", "-", input=json.dumps(body))
        return name

    def status(self, name: str) -> dict:
        return self.api.get(f"{GROUP}/rollouts/{name}").get("status", {})

    def maintenance(self, rollout: str, index: int) -> str:
        return f"{rollout}-{self.machines[index].name}"


@limit(600)
def test_all_nodes(ctx: Context) -> None:
    """Each is rebooted once, never more than two are out, and kubectl wait sees the end."""
    ground = Ground(ctx, 5, maxUnavailable=2)
    ground.pods()
    ground.controller("--allow-commands")
    most = 0

    def done() -> bool:
        nonlocal most
        most = max(most, len(ground.holders(ground.label)))
        return ground.status(name).get("phase") == "Complete"

    name = ground.rollout(reason="kernel update")
    ctx.wait_for(done, 240, "the rollout to be done")
    ctx.cluster.kubectl("wait", "--for=condition=Complete", f"rollout/{name}", "--timeout=10s")
    assert sorted(ground.reboots()) == sorted(m.name for m in ground.machines), ground.reboots()
    assert 1 <= most <= 2, most
    assert ground.status(name)["counts"] == {"total": 5, "waiting": 0, "current": 0, "complete": 5, "failed": 0}
    assert not any(m.cordoned for m in ground.machines)
    made = ground.get(ground.maintenance(name, 0))
    assert made["metadata"]["ownerReferences"][0]["name"] == name and made["spec"]["reason"] == "kernel update"
    ctx.cluster.kubectl("delete", "rollout", name, "--timeout=60s")
    ctx.wait_for(lambda: all(ground.gone(ground.maintenance(name, i)) for i in range(5)), 60, "its maintenances to be gone")


@limit(600)
def test_what_is_cleared_away_is_not_done_again(ctx: Context) -> None:
    """Each Maintenance is deleted as soon as it is Complete."""
    ground = Ground(ctx, 3)
    ground.controller("--allow-commands")
    name = ground.rollout()
    cleared: set[str] = set()

    def done() -> bool:
        for i in range(3):
            one = ground.maintenance(name, i)
            if one not in cleared and not ground.gone(one) and ground.phase(one) == "Complete":
                ctx.cluster.kubectl("delete", "maintenance", one, "--timeout=60s")
                cleared.add(one)
        return ground.status(name).get("phase") == "Complete"

    ctx.wait_for(done, 240, "the rollout to be done")
    assert len(cleared) >= 2, cleared
    assert sorted(ground.reboots()) == sorted(m.name for m in ground.machines), ground.reboots()
    assert ground.status(name)["counts"]["complete"] == 3, ground.status(name)


@limit(600)
def test_one_that_fails_stops_it(ctx: Context) -> None:
    """The second node is not begun after the first has failed, until somebody has tried that one again."""
    ground = Ground(ctx, 2)
    ground.controller("--allow-commands")
    broken = ctx.tmp / "broken"
    broken.write_text("")
    script = f"import os, sys; os.path.exists({str(broken)!r}) and sys.exit('no power'); os.execv(sys.argv[1], sys.argv[1:])"
    name = ground.rollout(executor={"exec": {"command": [sys.executable, "-c", script, *ground.command]}})
    ctx.wait_for(lambda: ground.status(name).get("phase") == "Failed", 120, "it to stop")
    assert ground.status(name)["blocker"]["code"] == "TooManyFailed", ground.status(name)
    assert ground.phase(ground.maintenance(name, 0)) == "Halted" and ground.gone(ground.maintenance(name, 1))
    broken.unlink()
    ctx.cluster.kubectl("annotate", "maintenance", ground.maintenance(name, 0), "slipway.dev/word=retry")
    ctx.wait_for(lambda: ground.status(name).get("phase") == "Complete", 240, "the rollout to be done")
    assert sorted(ground.reboots()) == sorted(m.name for m in ground.machines), ground.reboots()


@limit(600)
def test_deleted_it_is_cancelled(ctx: Context) -> None:
    """What is under way is put back; the nodes are what they were."""
    ground = Ground(ctx, 2)
    ground.controller()
    name = ground.rollout(operation="Drain", executor=None)
    first = ground.maintenance(name, 0)
    ctx.wait_for(lambda: not ground.gone(first) and ground.phase(first) == "Granted", 120, "the first node to be drained")
    assert ground.machines[0].cordoned
    ctx.cluster.kubectl("delete", "rollout", name, "--timeout=60s")
    ctx.wait_for(lambda: ground.gone(first), 120, "its maintenance to be gone")
    assert not ground.machines[0].cordoned and ground.holders(ground.label) == []
    assert ground.gone(ground.maintenance(name, 1))


@limit(600)
def test_paused(ctx: Context) -> None:
    ground = Ground(ctx, 2)
    ground.controller("--allow-commands")
    name = ground.rollout(paused=True)
    ctx.wait_for(lambda: ground.status(name).get("phase") == "Paused", 60, "it to be paused")
    assert ground.status(name)["blocker"]["code"] == "ManualHold" and ground.gone(ground.maintenance(name, 0))
    ground.api.patch(f"{GROUP}/rollouts/{name}", {"spec": {"paused": False}})
    ctx.wait_for(lambda: ground.status(name).get("phase") == "Complete", 240, "the rollout to be done")


@limit(600)
def test_approval_of_a_rollout(ctx: Context) -> None:
    """Once for all of its nodes, and none is begun before."""
    ground = Ground(ctx, 2, approval="required")
    ground.controller("--allow-commands")
    name = ground.rollout()
    ctx.wait_for(lambda: ground.status(name).get("blocker", {}).get("code") == "ApprovalNeeded", 60, "why it waits")
    assert ground.status(name)["counts"]["waiting"] == 2 and ground.reboots() == []
    assert ctx.run(ctx.slipway, "approve", f"rollout/{name}", check=True).stdout == f"rollout/{name} approved\n"
    ctx.wait_for(lambda: ground.status(name).get("phase") == "Complete", 240, "the rollout to be done")
    assert sorted(ground.reboots()) == sorted(m.name for m in ground.machines), ground.reboots()
