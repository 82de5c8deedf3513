"""Flags of a drain that decide whether a node is ever drained: `plan` says of them what a drain does, which `rehearse` plays through."""

from __future__ import annotations

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import run  # noqa: E402
from simulation import Sim  # noqa: E402

BLOCKED, CHANGES = 3, 2
RUNS = 10

SINGLE = """
description: One Deployment on two nodes.
nodes:
- {name: w, count: 2, cpu: 4}
objects:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: %(replicas)d
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: c, image: x/y:1, resources: {requests: {cpu: %(cpu)s}}}]}
"""
BUDGET = """
- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata: {name: web}
  spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
"""
RULES = """
apiVersion: slipway.dev/v1alpha1
kind: DrainRules
rules:
- {name: hasty, match: {namespaces: ["*"]}, deadline: %s}
"""


class Flags(unittest.TestCase):
    def setUp(self) -> None:
        d = tempfile.TemporaryDirectory()
        self.addCleanup(d.cleanup)
        self.dir = Path(d.name)

    def sim(self, text: str) -> Sim:
        path = self.dir / "scenario.yaml"
        path.write_text(text)
        sim = Sim("--scenario", str(path))
        self.addCleanup(sim.__exit__)
        return sim

    def compare(self, sim: Sim, node: str, *flags: str) -> tuple[dict, int]:
        """What the plan says of the node, and in how many of the rehearsals it is drained."""
        env = {"KUBECONFIG": str(sim.kubeconfig)}
        done = run("plan", node, *flags, "--detailed-exitcode", "-o", "json", **env)
        self.assertEqual(done.err, "")
        told = json.loads(done.out)["nodes"][0]
        self.assertEqual(done.code, BLOCKED if told["verdict"] in ("unsure", "never", "homeless") else CHANGES)
        found = json.loads(run("rehearse", node, *flags, "-o", "json", **env).out)
        return told, next(n["drainedRuns"] for n in found["nodes"] if n["name"] == node)

    def home(self, sim: Sim) -> str:
        return sim.client.pods()[0]["spec"]["nodeName"]

    def test_surge(self) -> None:
        sim = self.sim(SINGLE % {"replicas": 1, "cpu": "1"} + BUDGET)
        node = self.home(sim)
        told, drained = self.compare(sim, node)
        self.assertEqual((told["verdict"], drained), ("never", 0))
        told, drained = self.compare(sim, node, "--surge")
        self.assertEqual((told["verdict"], told["pods"][0]["blocker"]["code"], drained), ("waits", "SurgePending", RUNS))
        text = run("plan", node, "--surge", KUBECONFIG=str(sim.kubeconfig)).out
        self.assertIn("1 pod to evict: 1 after a second replica\n", text)

    def test_surge_without_room(self) -> None:
        sim = self.sim(SINGLE % {"replicas": 1, "cpu": "1"} + BUDGET)
        node = self.home(sim)
        other = "w1" if node == "w2" else "w2"
        sim.client.patch(f"/api/v1/nodes/{other}", {"spec": {"unschedulable": True}})
        told, drained = self.compare(sim, node, "--surge")
        self.assertEqual((told["verdict"], told["pods"][0]["blocker"]["code"], drained), ("never", "SurgePending", 0))

    def test_wait_rescheduled(self) -> None:
        sim = self.sim(SINGLE % {"replicas": 3, "cpu": "2"})  # four places of which two go
        crowded = max(("w1", "w2"), key=lambda n: len(sim.client.pods(spec__nodeName=n)))
        told, drained = self.compare(sim, crowded)
        self.assertEqual((told["verdict"], drained), ("homeless", RUNS))
        told, drained = self.compare(sim, crowded, "--wait-rescheduled")
        self.assertEqual((told["verdict"], told["blocker"]["code"], drained), ("unsure", "NotRescheduled", 0))
        self.assertNotIn("ends", told)

    def test_deadline(self) -> None:
        sim = self.sim(SINGLE % {"replicas": 1, "cpu": "1"})
        path = self.dir / "rules.yaml"
        path.write_text(RULES % "1s")
        told, _ = self.compare(sim, self.home(sim), "--rules", str(path))
        self.assertEqual(told["verdict"], "unsure")
        self.assertIn("the deadline of rule hasty is 1s", told["pods"][0]["blocker"]["message"])
        path.write_text(RULES % "1m")
        told, drained = self.compare(sim, self.home(sim), "--rules", str(path))
        self.assertEqual((told["verdict"], drained), ("goes", RUNS))


if __name__ == "__main__":
    tap.main()
