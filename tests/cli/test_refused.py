"""Verbs for somebody who may not list pods or budgets: what can be said without is told, what cannot is named. `status` is in
test_servers.py."""

from __future__ import annotations

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import Result, run  # noqa: E402
from refusing import Refusing  # noqa: E402
from simulation import Sim  # noqa: E402

FAILED, BLOCKED, ACCESS = 1, 3, 4
PODS, BUDGETS = "pods", "poddisruptionbudgets"


class Refused(unittest.TestCase):
    sim: Sim

    @classmethod
    def setUpClass(cls) -> None:
        cls.sim = cls.enterClassContext(Sim("--scenario", "happy", "--seed", "2"))

    def slipway(self, kind: str, *words: str) -> Result:
        with Refusing(self.sim.client, kind) as url:
            return run(*words, "--server", url)

    def test_why_a_node_without_its_pods(self) -> None:
        done = self.slipway(PODS, "why", "w1")
        text = " ".join(done.out.split())
        self.assertEqual((done.code, done.err), (BLOCKED, ""))
        self.assertIn("not known: its pods cannot be read", text)
        self.assertIn("Forbidden the pods of the node cannot be listed 1. give the permission to list pods", text)
        self.assertNotIn("nothing", text)
        said = json.loads(self.slipway(PODS, "why", "w1", "-o", "json").out)
        self.assertEqual((said["unread"], "podsToMove" in said, said["state"] == "free"), ([PODS], False, False))

    def test_why_a_cordoned_node_without_its_pods(self) -> None:
        """Volumes that pods use are not said to be left over."""
        with Sim("--scenario", "happy", "--seed", "2") as sim, Refusing(sim.client, PODS) as url:
            attached = sim.client.get("/apis/storage.k8s.io/v1/volumeattachments")["items"][0]["spec"]["nodeName"]
            sim.client.patch(f"/api/v1/nodes/{attached}", {"spec": {"unschedulable": True}})
            done = run("why", attached, "--server", url)
            self.assertIn("cordoned (somebody else)", done.out)
            self.assertNotIn("VolumeStillAttached", done.out)

    def test_why_without_budgets(self) -> None:
        done = self.slipway(BUDGETS, "why", "w1")
        self.assertEqual((done.code, done.err), (BLOCKED, ""))
        self.assertIn("pods to move, and whether budgets let them go is not known", " ".join(done.out.split()))
        done = self.slipway(BUDGETS, "why", "shop-1/db-0")
        self.assertEqual((done.code, done.err), (BLOCKED, ""))
        self.assertIn("well; whether a budget keeps it from being evicted is not known", " ".join(done.out.split()))

    def test_a_plan_needs_both(self) -> None:
        for kind in (PODS, BUDGETS):
            done = self.slipway(kind, "plan", "w1")
            self.assertEqual((done.out, done.code), ("", ACCESS))
            self.assertEqual(done.err, f'error: cannot list {kind}: {kind} is forbidden: User "eve" cannot list resource "{kind}"\n')

    def test_doctor_tells_the_rest(self) -> None:
        for kind, words in ((PODS, "pods may not be listed: what would block a drain is not known"),
                            (BUDGETS, "PodDisruptionBudgets may not be listed: what would block a drain because of them is not known")):
            done = self.slipway(kind, "doctor", "-o", "json")
            said = json.loads(done.out)
            self.assertEqual((done.code, said["unread"]), (FAILED, [kind]))
            self.assertIn(words, [item["message"] for item in said["items"]])
            self.assertRegex(done.err, f"^cannot list {kind}: ")
            self.assertEqual(self.slipway(kind, "doctor", "--pdbs").code, ACCESS)

    def test_doctor_finds_what_was_left_behind_without_pods(self) -> None:
        with Sim("--scenario", "happy", "--seed", "2") as sim, Refusing(sim.client, PODS) as url:
            mark = json.dumps({"v": 1, "replicas": 4, "pod": "u", "node": "w1", "by": "alice"})
            sim.client.patch("/apis/apps/v1/namespaces/shop-1/deployments/worker", {"metadata": {
                "labels": {"slipway.dev/surge": "true"}, "annotations": {"slipway.dev/surge": mark}}})
            done = run("doctor", "--server", url)
            self.assertIn("shop-1/worker", done.out)

    def test_what_a_webhook_refuses_is_told_when_the_drain_is_over(self) -> None:
        """Nobody finds it by looking: status, why of the node and why of the pod know it from the drain."""
        with Sim("--scenario", "happy", "--seed", "2") as sim, Refusing(sim.client, "eviction") as url:
            self.assertEqual(run("drain", "w1", "--timeout", "5s", "--ignore-daemonsets", "--delete-emptydir-data", "--server", url).code, BLOCKED)
            env = {"KUBECONFIG": str(sim.kubeconfig)}
            status = json.loads(run("status", "-o", "json", **env).out)
            refused = [b for b in status["blockers"] if b["code"] == "AdmissionDenied"]
            self.assertTrue(refused)
            for b in refused:
                self.assertEqual((b["nodes"], b["pods"]), (["w1"], 1))
                self.assertIn("the last drain did not get through", b["message"])
                done = run("why", b["object"], **env)
                text = " ".join(done.out.split())
                self.assertEqual(done.code, BLOCKED)
                self.assertIn("it cannot be evicted now", text)
                self.assertIn('admission webhook "no.example.com" denied the request: not tonight', text)
            done = run("why", "w1", **env)
            self.assertEqual(done.code, BLOCKED)
            self.assertIn("the last drain did not get through", done.out)
            self.assertNotIn("nothing forbids a drain", done.out)


if __name__ == "__main__":
    tap.main()
