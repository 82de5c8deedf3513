"""Plans of pods whose owner makes something else in their place, or maybe nothing: what comes of them is not known, and that is said."""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Callable

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "lib")]
import tap  # noqa: E402
from program import LIMIT, Result, run  # noqa: E402
from simulation import Sim  # noqa: E402

DONE, CHANGES, BLOCKED, REFUSED = 0, 2, 3, 5


def workload(kind: str, name: str, template: dict | None = None, cpu: str = "1", **spec: object) -> dict:
    labels = {"app": name}
    apart = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 100, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}}]}}
    container = {"name": "main", "image": "registry.test/app:1", "resources": {"requests": {"cpu": cpu}}}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name},
            "spec": {"replicas": 3, "selector": {"matchLabels": labels}, **spec,
                     "template": {"metadata": {"labels": labels}, "spec": {"affinity": apart, "containers": [container], **(template or {})}}}}


def budget(name: str) -> dict:
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
            "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": name}}}}


class Case(unittest.TestCase):
    def begin(self, *objects: dict, cpu: int = 4) -> None:
        d = tempfile.TemporaryDirectory()
        self.addCleanup(d.cleanup)
        self.dir = Path(d.name)
        (self.dir / "s.yaml").write_text(json.dumps(
            {"description": "makers", "nodes": [{"name": "w", "count": 3, "cpu": cpu}], "objects": list(objects)}))
        self.sim = Sim("--scenario", str(self.dir / "s.yaml"), "--speed", "20")
        self.addCleanup(self.sim.__exit__)

    def slipway(self, line: str) -> Result:
        return run(*shlex.split(line), KUBECONFIG=str(self.sim.kubeconfig), SUDO_USER="alice")

    def document(self, line: str) -> dict:
        return json.loads(self.slipway(f"{line} -o json").out)

    def patch(self, path: str, template: dict) -> None:
        code, answer = self.sim.client.call("PATCH", f"/apis/apps/v1/namespaces/default/{path}", {"spec": {"template": {"spec": template}}},
                                            content_type="application/strategic-merge-patch+json")
        self.assertEqual(code, 200, answer)

    def until(self, holds: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + LIMIT
        while not holds():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.05)

    def on(self, node: str) -> list[str]:
        return [p["metadata"]["name"] for p in self.sim.client.get("/api/v1/pods")["items"] if p["spec"].get("nodeName") == node]

    def unknown(self, node: str, words: str) -> None:
        """All who foresee say that they do not know, and why."""
        done = self.slipway(f"plan {node} --detailed-exitcode -o json")
        self.assertEqual(done.code, BLOCKED, done)
        (n,) = json.loads(done.out)["nodes"]
        self.assertEqual(n["blocker"]["code"], "RoomUnknown", n)
        self.assertIn(words, n["blocker"]["message"])
        self.assertFalse([p for p in n["pods"] if "to" in p], n)
        why = self.slipway(f"why {node} --room -o json")
        self.assertEqual(why.code, BLOCKED, why)
        self.assertIn(words, next(x["message"] for x in json.loads(why.out)["links"] if x.get("code") == "RoomUnknown"))
        (assumed,) = self.document(f"rehearse {node} --runs 1")["basis"]["assumed"]
        self.assertEqual((assumed["code"], assumed["pods"]), ("RoomUnknown", len([p for p in n["pods"] if p["verdict"] != "stays"])))
        self.assertIn(words, assumed["why"])
        doctor = self.document("doctor")
        self.assertIn("replacement-unknown", json.dumps(doctor))
        self.assertNotIn("Nothing would block", self.slipway("doctor").out)


class Templates(Case):
    def test_a_stateful_set_that_waits_for_deletes(self) -> None:
        self.begin(workload("StatefulSet", "db", serviceName="db", podManagementPolicy="Parallel", updateStrategy={"type": "OnDelete"}))
        path = self.dir / "plan.json"
        saved = self.slipway(f"plan w1 --detailed-exitcode --out {path}")
        self.assertEqual(saved.code, CHANGES, saved)
        self.patch("statefulsets/db", {"containers": [{"name": "main", "resources": {"requests": {"cpu": "16"}}}]})
        self.unknown("w1", "the template of StatefulSet db asks for other requests than the pod has")
        self.assertEqual(self.slipway(f"diff {path} --detailed-exitcode").code, CHANGES)
        self.assertEqual(self.slipway(f"apply {path}").code, REFUSED)

    def test_a_replica_set_that_was_edited(self) -> None:
        self.begin(workload("ReplicaSet", "rs"), budget("rs"))
        self.patch("replicasets/rs", {"nodeSelector": {"gpu": "yes"}})
        self.unknown("w1", "the template of ReplicaSet rs asks for another nodeSelector than the pod has")
        verdicts = [p["verdict"] for n in self.document("plan w1 w2")["nodes"] for p in n["pods"]]
        self.assertEqual(sorted(verdicts), ["goes", "unsure"])

    def test_gates_of_the_template(self) -> None:
        self.begin(workload("Deployment", "gated", {"schedulingGates": [{"name": "example.com/quota"}]}))
        pods = [p["metadata"]["name"] for p in self.sim.client.get("/api/v1/pods")["items"]]
        for name in pods:
            code, answer = self.sim.client.call("PATCH", f"/api/v1/namespaces/default/pods/{name}", {"spec": {"schedulingGates": []}},
                                                content_type="application/merge-patch+json")
            self.assertEqual(code, 200, answer)
        self.until(lambda: self.on("w1") and len(self.on("w1") + self.on("w2") + self.on("w3")) == 3, "nodes of the pods")
        self.unknown("w1", "has the scheduling gate example.com/quota")

    def test_nothing_was_changed(self) -> None:
        self.begin(workload("StatefulSet", "db", serviceName="db"), workload("Deployment", "web"), workload("ReplicaSet", "rs"), cpu=8)
        done = self.slipway("plan w1 --detailed-exitcode")
        self.assertEqual(done.code, CHANGES, done)
        self.assertEqual(self.slipway("why w1 --room").code, DONE)


class Kinds(Case):
    def test_an_owner_that_nobody_knows(self) -> None:
        self.begin(budget("c"))
        for name in ("c-1", "c-2"):
            body = {"apiVersion": "v1", "kind": "Pod",
                    "metadata": {"name": name, "labels": {"app": "c"}, "ownerReferences": [
                        {"apiVersion": "example.com/v1", "kind": "Foo", "name": "c", "uid": "0001", "controller": True}]},
                    "spec": {"nodeName": "w1", "containers": [{"name": "main", "image": "registry.test/app:1"}]}}
            self.assertEqual(self.sim.client.call("POST", "/api/v1/namespaces/default/pods", body)[0], 201)
        path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/c"
        self.sim.client.call("PATCH", path, {"spec": {"maxUnavailable": None, "minAvailable": 1}}, content_type="application/merge-patch+json")
        self.until(lambda: self.sim.client.get(path)["status"].get("disruptionsAllowed") == 1, "a budget that allows one")
        self.unknown("w1", "whether Foo c makes them again, and when, nobody can tell")
        verdicts = [p["verdict"] for p in self.document("plan w1")["nodes"][0]["pods"]]
        self.assertEqual(sorted(verdicts), ["goes", "unsure"])


class Deleted(Case):
    def test_an_owner_that_is_being_deleted_makes_none(self) -> None:
        web = workload("ReplicaSet", "web")
        web["metadata"]["finalizers"] = ["example.com/keep"]
        self.begin(web, budget("web"))
        path = "/apis/apps/v1/namespaces/default/replicasets/web"
        self.until(lambda: self.sim.client.get("/apis/policy/v1/namespaces/default/poddisruptionbudgets/web")["status"].get(
            "disruptionsAllowed") == 1, "a budget that allows one")
        code, answer = self.sim.client.call("DELETE", path, {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"})
        self.assertEqual(code, 200, answer)
        self.assertIn("deletionTimestamp", self.sim.client.get(path)["metadata"])
        words = "no replacement is made: its ReplicaSet web is being deleted (finalizer example.com/keep)"
        (pod,) = self.document("plan w1")["nodes"][0]["pods"]
        self.assertEqual((pod["verdict"], pod["blocker"]["code"], pod["blocker"]["message"]), ("homeless", "ReplacementRefused", words))
        self.assertIn("let the deletion of ReplicaSet web end", pod["blocker"]["help"])
        self.assertNotIn("to", pod)
        verdicts = [p["verdict"] for n in self.document("plan w1 w2")["nodes"] for p in n["pods"]]
        self.assertEqual(sorted(verdicts), ["homeless", "never"])
        for line in ("why w1", "why w1 --room"):
            why = self.document(line)
            self.assertIn(words, [x["message"] for x in why["links"] if x.get("code") == "ReplacementRefused"])
        self.assertIn(words, json.dumps(self.document("doctor")))
        self.assertEqual(self.slipway("drain w1 --timeout 60s").code, DONE)
        drain = self.slipway("drain w2 --timeout 5s")
        self.assertNotEqual(drain.code, DONE, drain)
        self.assertIn("PDBNoBudget", drain.out + drain.err)


class Waiting(Case):
    def test_who_waits_already_takes_the_place(self) -> None:
        """A pod that one of the node keeps out comes in when that goes, and then there is no room for the other's replacement."""
        zone = {"topologyKey": "kubernetes.io/os", "labelSelector": {"matchLabels": {"app": "a"}}}
        apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [zone]}}
        self.begin(workload("StatefulSet", "a", cpu="1500m", serviceName="a", replicas=1), cpu=2)
        (node,) = (n for n in ("w1", "w2", "w3") if self.on(n))
        (shut, _) = (n for n in ("w1", "w2", "w3") if n != node)
        code, _ = self.sim.client.call("PATCH", f"/api/v1/nodes/{shut}", {"spec": {"unschedulable": True}}, content_type="application/merge-patch+json")
        self.assertEqual(code, 200)
        late = workload("Deployment", "b", {"affinity": apart}, "1500m", replicas=1)
        self.assertEqual(self.sim.client.call("POST", "/apis/apps/v1/namespaces/default/deployments", late)[0], 201)
        self.until(lambda: any(c["type"] == "PodScheduled" and c["status"] == "False" for p in self.sim.client.get("/api/v1/pods")["items"]
                               for c in p["status"].get("conditions", [])), "a pod that waits")
        done = self.slipway(f"plan {node} --detailed-exitcode -o json")
        self.assertEqual(done.code, BLOCKED, done)
        (pod,) = json.loads(done.out)["nodes"][0]["pods"]
        self.assertEqual((pod["verdict"], pod.get("to")), ("homeless", None))
        why = self.slipway(f"why {node} --room")
        self.assertEqual(why.code, BLOCKED, why)
        self.assertIn("would leave its one pod without a node", " ".join(why.out.split()))
        found = json.loads(self.slipway("doctor --pdbs -o json").out)
        self.assertIn("no-room", json.dumps(found))

    def test_who_waits_already_and_the_replacement_are_tried_in_any_order(self) -> None:
        """Both are kept out by the pod that leaves, and one of them gets in when it has left: which is chance."""
        apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/os", "labelSelector": {"matchLabels": {"app": "a"}}}]}}
        self.begin(workload("Deployment", "a", {"affinity": apart}, replicas=2))
        self.until(lambda: any(c["type"] == "PodScheduled" and c["status"] == "False" for p in self.sim.client.get("/api/v1/pods")["items"]
                               for c in p["status"].get("conditions", [])), "a pod that waits")
        (node,) = (n for n in ("w1", "w2", "w3") if self.on(n))
        (pod,) = self.document(f"plan {node}")["nodes"][0]["pods"]
        self.assertEqual(pod["verdict"], "homeless")
        self.assertIn("is chance", pod["blocker"]["message"])


if __name__ == "__main__":
    tap.main()
