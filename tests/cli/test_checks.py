"""The verb `checks` as people and scripts meet it, on the simulator. What each check says to which objects is in tests/unit/engine/check_*.c
and tests/cluster/test_checks.py."""

from __future__ import annotations

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import Result, run  # noqa: E402
from simulation import Sim, until  # noqa: E402

DONE, BLOCKED, REFUSED = 0, 3, 5
LONGHORN = "/apis/longhorn.io/v1beta2/namespaces/longhorn-system"
KINDS = {"volumes": "Volume", "replicas": "Replica", "instancemanagers": "InstanceManager", "settings": "Setting"}


class Longhorn(unittest.TestCase):
    """Volumes a and b with replicas on w1 and w2, c with its only one on w3."""

    sim: Sim

    @classmethod
    def setUpClass(cls) -> None:
        cls.sim = Sim("--scenario", "empty", "--nodes", "4")
        cls.addClassCleanup(cls.sim.__exit__)
        cls.sim.client.call("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "longhorn-system"}})
        for plural, kind in KINDS.items():
            cls.define(plural, kind)
        for node in ("w1", "w2", "w3"):
            cls.make("instancemanagers", f"im-{node}", spec={"nodeID": node, "type": "aio"}, status={"currentState": "running"})
        for name, nodes in (("a", ("w1", "w2")), ("b", ("w1", "w2")), ("c", ("w3",))):
            cls.make("volumes", name, spec={"numberOfReplicas": len(nodes)}, status={"state": "attached", "robustness": "healthy"})
            for node in nodes:
                cls.make("replicas", f"{name}-{node}", spec={"volumeName": name, "nodeID": node, "healthyAt": "2026-11-01T00:00:00Z"})

    @classmethod
    def define(cls, plural: str, kind: str) -> None:
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        cls.sim.client.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.longhorn.io"},
            "spec": {"group": "longhorn.io", "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
                     "versions": [{"name": "v1beta2", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}})

    @classmethod
    def make(cls, plural: str, name: str, **body: object) -> None:
        def made() -> bool:
            try:
                return cls.sim.client.call("POST", f"{LONGHORN}/{plural}", {
                    "apiVersion": "longhorn.io/v1beta2", "kind": KINDS[plural], "metadata": {"name": name}, **body})[0] == 201
            except json.JSONDecodeError:  # "404 page not found": it is not served yet
                return False
        until(made, f"{plural}/{name}")

    def checks(self, *args: str) -> Result:
        return run("checks", *args, KUBECONFIG=str(self.sim.kubeconfig))

    def row(self, out: str) -> str:
        """Longhorn's, in one line."""
        lines = out.splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("longhorn "))
        end = next((i for i in range(at + 1, len(lines)) if not lines[i].startswith(" ")), len(lines))
        return " ".join(" ".join(lines[at:end]).split())

    def test_a_pass_shows_its_evidence(self) -> None:
        """Of one node all that was found, with the numbers; of several, which are told apart by numbers alone, that nothing is in the way."""
        evidence = "2 volumes with a healthy replica here, each with another on a node that stays"
        done = self.checks("w1")
        self.assertEqual((done.err, done.code), ("", DONE), done)
        self.assertEqual(self.row(done.out), f"longhorn pass w1 cordon,operation {evidence}")
        # None of its objects has to do with this one: that is evidence as well.
        none = "0 volumes with a healthy replica here, each with another on a node that stays"
        self.assertEqual(self.row(self.checks("w4").out), f"longhorn pass w4 cordon,operation {none}")
        self.assertEqual(self.row(self.checks("w1", "w4").out), "longhorn pass w[1,4] cordon,operation nothing that stands in the way")
        # A document has that of each.
        said = json.loads(self.checks("w1", "w4", "-o", "json").out)["items"]
        self.assertEqual({i["node"]: (i["verdict"], i["message"]) for i in said if i["check"] == "longhorn"},
                         {"w1": ("pass", evidence), "w4": ("pass", none)})

    def test_a_pass_of_the_return(self) -> None:
        done = self.checks("w1", "--before", "next")
        self.assertEqual((done.err, done.code), ("", DONE), done)
        self.assertEqual(self.row(done.out),
                         "longhorn pass w1 next 2 volumes with a replica on the node, none that still has to be rebuilt")

    def test_no_pass_beside_what_does_not(self) -> None:
        done = self.checks("w3", "-o", "json")
        self.assertEqual(done.code, REFUSED, done)
        self.assertEqual([i["verdict"] for i in json.loads(done.out)["items"] if i["check"] == "longhorn"], ["deny"])

    def test_one_that_cannot_be_read_hides_no_other(self) -> None:
        self.make("replicas", "odd", metadata={"name": "odd", "labels": {"longhornvolume": "d"}}, spec={"volumeName": "d", "nodeID": 7})
        self.addCleanup(self.sim.client.call, "DELETE", f"{LONGHORN}/replicas/odd", None)
        why = "cannot read Replica longhorn-system/odd: spec.nodeID: expected a string, found a number"
        said = json.loads(self.checks("w3", "-o", "json").out)["items"]
        self.assertEqual([(i["verdict"], i["code"]) for i in said if i["check"] == "longhorn"],
                         [("deny", "LastReplica"), ("wait", "CheckUnknown")])
        self.assertEqual(said[1]["message"], why)
        done = self.checks("w1")
        self.assertEqual(done.code, BLOCKED, done)
        self.assertEqual(self.row(done.out), f"longhorn wait w1 cordon,operation {why}")


if __name__ == "__main__":
    tap.main()
