"""What is not as its numbers say, or comes after the last pod: budgets that operators keep over their own pods, and that nobody is told to take
away; budgets that count none of their pods; volumes that do not get off a node. Plan, why, doctor and the drain itself say the same of them."""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import Result, run  # noqa: E402
from simulation import Sim, until  # noqa: E402

DONE, CHANGES, BLOCKED = 0, 2, 3
TIED = {"kubernetes.io/hostname": "w1"}


def workload(kind: str, name: str, labels: dict[str, str], replicas: int, **spec: object) -> dict:
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {
            "containers": [{"name": "c", "image": "x/y:1"}], **spec}}}}


def budget(name: str, labels: dict[str, str], **spec: object) -> dict:
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": labels}, **spec}}


PRIMARY = {"cnpg.io/cluster": "db", "cnpg.io/instanceRole": "primary"}
OSD = {"app": "rook-ceph-osd"}


class Guards(unittest.TestCase):
    def site(self, *objects: dict) -> Sim:
        d = tempfile.TemporaryDirectory()
        self.addCleanup(d.cleanup)
        path = Path(d.name) / "scenario.yaml"
        path.write_text(json.dumps({"description": "d", "nodes": [{"name": "w", "count": 3, "cpu": 8}], "objects": objects}))
        sim = Sim("--scenario", str(path), "--speed", "20")
        self.addCleanup(sim.__exit__)
        self.sim = sim
        return sim

    def slipway(self, line: str) -> Result:
        return run(*shlex.split(line), KUBECONFIG=str(self.sim.kubeconfig), SUDO_USER="alice")

    def settled(self, name: str, expected: int) -> None:
        path = f"/apis/policy/v1/namespaces/default/poddisruptionbudgets/{name}"
        until(lambda: self.sim.client.get(path).get("status", {}).get("currentHealthy") == expected, f"budget {name}")

    def no_harm(self, text: str) -> None:
        """Nobody disarms what keeps the data."""
        for piece in ("patch pdb", "delete pdb", "disable-eviction", "scale ", "nodeSelector", "PDBUnsatisfiable", "would never end"):
            self.assertNotIn(piece, text)

    def test_a_primary(self) -> None:
        sim = self.site(workload("StatefulSet", "db", PRIMARY, 1), budget("db-primary", PRIMARY, minAvailable=1))
        self.settled("db-primary", 1)
        node = sim.client.pods()[0]["spec"]["nodeName"]
        done = self.slipway(f"plan {node} --detailed-exitcode -o json")
        pod = json.loads(done.out)["nodes"][0]["pods"][0]
        self.assertEqual((done.code, pod["verdict"], pod["blocker"]["code"]), (BLOCKED, "unsure", "PrimaryOnNode"), done)
        done = self.slipway("doctor --pdbs --detailed-exitcode -o json")
        groups = {g["cause"]: g for g in json.loads(done.out)["groups"]}
        self.assertEqual((groups["operator-guard"]["effect"], "single-replica" in groups), ("remark", False), done)
        self.assertIn("CloudNativePG keeps this budget", done.out)
        self.no_harm(self.slipway("doctor --pdbs").out)
        done = self.slipway(f"why {node} -o json")
        self.assertIn("CloudNativePG keeps this budget", done.out)
        self.no_harm(done.out)
        self.assertNotIn("PrimaryOnNode", self.slipway("status").out)
        # The drain waits for it by that name, and goes on when another is the primary.
        drain: list[Result] = []
        thread = threading.Thread(target=lambda: drain.append(self.slipway(f"drain {node} --timeout 2m")))
        thread.start()
        until(lambda: "PrimaryOnNode" in self.slipway("status").out, "the wait")
        self.no_harm(self.slipway(f"why {node}").out)
        sim.client.patch("/api/v1/namespaces/default/pods/db-0", {"metadata": {"labels": {"cnpg.io/instanceRole": "replica"}}})
        thread.join()
        self.assertEqual(drain[0].code, DONE, drain)

    def test_osds_of_one_host(self) -> None:
        self.site(*(workload("Deployment", f"osd-{i}", {**OSD, "ceph-osd-id": str(i)}, 1, nodeSelector=TIED) for i in range(2)),
                  workload("Deployment", "others", {**OSD, "ceph-osd-id": "2"}, 2, nodeSelector={"kubernetes.io/hostname": "w2"}),
                  budget("rook-ceph-osd", OSD, maxUnavailable=1))
        self.settled("rook-ceph-osd", 4)
        done = self.slipway("plan w1 -o json")
        pods = sorted((p["verdict"], p["blocker"]["code"]) for p in json.loads(done.out)["nodes"][0]["pods"])
        self.assertEqual(pods, [("homeless", "LocalPV"), ("unsure", "StorageNotOkToStop")], done)
        for line in ("plan w1", "why w1", "why w1 --room", "doctor --pdbs", "doctor"):
            done = self.slipway(line)
            self.no_harm(done.out)
            self.assertNotIn("add a node", done.out)

    def test_pods_without_a_controller(self) -> None:
        labels = {"app": "bare"}
        self.site(*({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"bare-{i}", "labels": labels},
                     "spec": {"containers": [{"name": "c", "image": "x/y:1"}]}} for i in range(3)), budget("bare", labels, maxUnavailable=1))
        self.settled("bare", 3)
        node = self.sim.client.pods()[0]["spec"]["nodeName"]
        done = self.slipway(f"plan {node} --force --detailed-exitcode -o json")
        pod = json.loads(done.out)["nodes"][0]["pods"][0]
        self.assertEqual((done.code, pod["verdict"], pod["blocker"]["code"]), (BLOCKED, "never", "PDBUnsatisfiable"), done)
        groups = {g["cause"]: g for g in json.loads(self.slipway("doctor --pdbs -o json").out)["groups"]}
        fix = groups["counts-no-pods"]["findings"][0]["fixes"][-1]["command"]
        self.assertIn('"maxUnavailable":null,"minAvailable":2', fix)
        self.assertIn("counts none of its 3 healthy pods", self.slipway(f"why {node}").out)
        # What it advises helps.
        self.sim.client.patch("/apis/policy/v1/namespaces/default/poddisruptionbudgets/bare",
                              {"spec": {"maxUnavailable": None, "minAvailable": 2}})
        self.assertEqual(self.slipway(f"drain {node} --force --timeout 1m --pod-selector app=bare").code, DONE)

    def test_pods_that_are_not_made_yet(self) -> None:
        """A set that makes its pods in order, short of two: a budget with a number counts the pods that there are."""
        labels = {"app": "db"}
        spread = [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
                   "labelSelector": {"matchLabels": labels}}]
        sim = self.site(workload("StatefulSet", "db", labels, 3, topologySpreadConstraints=spread, terminationGracePeriodSeconds=1),
                        budget("db", labels, minAvailable=2))
        self.settled("db", 3)
        node = {p["metadata"]["name"]: p["spec"]["nodeName"] for p in sim.client.pods()}["db-1"]
        others = " ".join(n for n in ("w1", "w2", "w3") if n != node)
        self.assertEqual(self.slipway(f"cordon {others}").code, DONE)
        for name in ("db-0", "db-2"):
            sim.client.call("DELETE", f"/api/v1/namespaces/default/pods/{name}")

        def short() -> bool:
            status = sim.client.get("/apis/policy/v1/namespaces/default/poddisruptionbudgets/db")["status"]
            return (status["expectedPods"], status["desiredHealthy"], status["currentHealthy"]) == (2, 2, 1)
        until(short, "a budget that is short of pods")
        words = "3 are wanted, and 1 of them is not made yet"
        done = self.slipway(f"plan {node} --detailed-exitcode -o json")
        pod = json.loads(done.out)["nodes"][0]["pods"][0]
        self.assertEqual((done.code, pod["verdict"], pod["blocker"]["code"]), (BLOCKED, "unsure", "PDBNoBudget"), done)
        self.assertIn(words, pod["blocker"]["message"])
        done = self.slipway("doctor --pdbs -o json")
        groups = {g["cause"]: g for g in json.loads(done.out)["groups"]}
        self.assertEqual(groups["nothing-to-spare"]["effect"], "waits", done)
        for line in (f"why {node}", "why default/db-1", "doctor --pdbs", "status"):
            done = self.slipway(line)
            for piece in ("PDBUnsatisfiable", "scale ", "not even with all pods healthy", "needs all replicas"):
                self.assertNotIn(piece, done.out, line)
        self.assertIn("1 replica that the owner of its pods wants is not there", self.slipway(f"why {node}").out)
        # It is true: with places for the others the drain ends by itself.
        drain: list[Result] = []
        thread = threading.Thread(target=lambda: drain.append(self.slipway(f"drain {node} --timeout 5m")))
        thread.start()
        until(lambda: "PDBNoBudget" in self.slipway("status").out, "the wait")
        self.assertEqual(self.slipway(f"uncordon {others}").code, DONE)
        thread.join()
        self.assertEqual(drain[0].code, DONE, drain)
        self.assertNotIn("PDBUnsatisfiable", drain[0].out + drain[0].err)

    def test_a_volume_that_does_not_get_off_the_node(self) -> None:
        """A driver that cannot detach: what plan and rehearse say comes true in the drain."""
        self.sim = Sim("--scenario", "stateful", "--speed", "60")
        self.addCleanup(self.sim.__exit__)
        path = "/apis/storage.k8s.io/v1/volumeattachments"

        def failed() -> bool:
            return any(a["spec"]["nodeName"] == "w1" and "detachError" in a["status"] for a in self.sim.client.get(path)["items"])
        self.assertEqual(self.slipway("drain w1 --timeout 8s").code, BLOCKED)
        until(failed, "the driver's word")
        done = self.slipway("plan w1 --detailed-exitcode -o json")
        node = json.loads(done.out)["nodes"][0]
        self.assertEqual((done.code, node["verdict"], node["blocker"]["code"]), (BLOCKED, "unsure", "VolumeStillAttached"), done)
        done = self.slipway("rehearse w1 --runs 2")
        self.assertIn("VolumeStillAttached", done.out)
        self.assertEqual(done.code, BLOCKED, done)
        groups = {g["cause"]: g for g in json.loads(self.slipway("doctor --pdbs -o json").out)["groups"]}
        self.assertEqual(groups["volume-still-attached"]["nodes"], ["w1"])
        self.assertEqual(self.slipway("drain w1 --timeout 3s").code, BLOCKED)
        self.assertEqual(self.slipway("plan w1 --detailed-exitcode --volume-detach-timeout 1m").code, CHANGES)


if __name__ == "__main__":
    tap.main()
