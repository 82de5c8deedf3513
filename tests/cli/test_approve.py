"""`slipway approve` in the simulator: what it writes, what it says, and what it refuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from test_locks import FAILED, REFUSED, USAGE  # noqa: E402
from test_pause import Own  # noqa: E402

APPROVED = "slipway.dev/approved"


class Approve(Own):
    def approved(self, obj: dict) -> dict | None:
        text = obj["metadata"].get("annotations", {}).get(APPROVED)
        return json.loads(text) if text else None

    def node(self, name: str) -> dict:
        return self.sim.client.get(f"/api/v1/nodes/{name}")

    def test_a_maintenance(self) -> None:
        """Who, and when; once is enough."""
        self.maintenance("m", "Pending")
        self.says("approve m", "maintenance/m approved\n")
        found = self.approved(self.there("maintenances", "m"))
        self.assertTrue(found["by"].startswith("alice@"), found)
        self.assertEqual((found["v"], sorted(found)), (1, ["at", "by", "v"]))
        self.says("approve maintenance/m", "maintenance/m already approved\n")
        self.assertEqual(self.approved(self.there("maintenances", "m")), found)

    def test_a_rollout(self) -> None:
        """It hands it on to what it makes; to what it has made, as far as that waits, it is given as well."""
        rollout = self.rollout("kernel", "Progressing")
        self.maintenance("kernel-w1", "Operating", owner=rollout)
        self.maintenance("kernel-w2", "Pending", "w2", owner=rollout)
        self.maintenance("stray", "Pending", "w3")
        self.says("approve rollout/kernel", "rollout/kernel approved\nmaintenance/kernel-w2 approved\n")
        self.assertTrue(self.approved(self.there("rollouts", "kernel")))
        self.assertTrue(self.approved(self.there("maintenances", "kernel-w2")))
        for name in ("kernel-w1", "stray"):
            self.assertIsNone(self.approved(self.there("maintenances", name)))

    def test_a_node(self) -> None:
        """For the boot that it is in."""
        self.says("approve node/w1", "node/w1 approved\n")
        self.addCleanup(lambda: self.sim.client.patch("/api/v1/nodes/w1", {"metadata": {"annotations": {APPROVED: None}}}))
        found = self.approved(self.node("w1"))
        self.assertEqual(found["boot"], self.node("w1")["status"]["nodeInfo"].get("bootID") or "-")
        self.says("approve nodes/w1", "node/w1 already approved\n")
        found["boot"] = "an earlier one"
        self.sim.client.patch("/api/v1/nodes/w1", {"metadata": {"annotations": {APPROVED: json.dumps(found)}}})
        self.says("approve no/w1", "node/w1 approved\n")

    def test_refusals(self) -> None:
        self.maintenance("over", "Complete")
        self.maintenance("m", "Pending")
        self.says("approve over", "", "error: unable to approve maintenance/over: it is over already\n", REFUSED)
        self.says("approve node/w99 m", "", 'error: there is no Node "w99"; nothing was changed\n', FAILED)
        self.assertIsNone(self.approved(self.there("maintenances", "m")))
        self.assertEqual([self.slipway(line).code for line in ("approve", "approve policy/x")], 2 * [USAGE])
        self.assertEqual(self.slipway("approve nobody").code, FAILED)

    def test_dry_runs(self) -> None:
        self.maintenance("m", "Pending")
        for how, said in (("client", "dry run"), ("server", "server dry run")):
            self.says(f"approve m --dry-run={how}", f"maintenance/m approved ({said})\n")
        self.assertIsNone(self.approved(self.there("maintenances", "m")))


if __name__ == "__main__":
    tap.main()
