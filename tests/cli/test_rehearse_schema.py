"""docs/rehearse.schema.json is the schema of what `slipway rehearse` says, to the member: rehearsals of every scenario are judged by it."""

from __future__ import annotations

import copy
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
import tap  # noqa: E402
from json_schema import faults, members, objects  # noqa: E402
from program import TOP, run  # noqa: E402
from simulation import Sim  # noqa: E402

SCHEMA = json.loads((TOP / "docs" / "rehearse.schema.json").read_text())
SCENARIOS = sorted(p.stem for p in (TOP / "scenarios").glob("*.yaml"))
LINES = ("", "--force --delete-emptydir-data --max-unavailable=1 --timeout=60s")
# Not in any scenario: what a check waits for, a node that only such a wait keeps, a pod that comes to a node while it is drained, and an
# owner of which nobody knows what it makes (test_plan_makers.py has it).
RARE = {"check", "emptied", "late", "here"}
ENDS = {0, 1, 3, 5}  # of the drain that is rehearsed


def names(value: object) -> set[str]:
    """Of all members in it."""
    if isinstance(value, dict):
        return set(value) | {n for v in value.values() for n in names(v)}
    return {n for v in value for n in names(v)} if isinstance(value, list) else set()


class Schema(unittest.TestCase):
    def rehearse(self, snapshot: Path, line: str, nodes: list[str]) -> dict:
        done = run("rehearse", *nodes, *line.split(), "--snapshot", str(snapshot), "--runs", "2", "-o", "json")
        self.assertIn(done.code, ENDS, done)
        document = json.loads(done.out)
        self.assertEqual(document["exitCode"], done.code)
        return document

    def snapshot(self, scenario: str, directory: str) -> tuple[Path, list[str]]:
        path = Path(directory) / f"{scenario}.json.gz"
        with Sim("--scenario", scenario) as sim:
            done = run("snapshot", "--out", str(path), KUBECONFIG=str(sim.kubeconfig))
            self.assertEqual(done.code, 0, done)
            return path, [n["metadata"]["name"] for n in sim.client.get("/api/v1/nodes")["items"]][:3]

    def test_every_scenario(self) -> None:
        self.assertGreater(len(SCENARIOS), 15)
        seen: set[str] = set()
        with tempfile.TemporaryDirectory() as d:
            for scenario in SCENARIOS:
                snapshot, nodes = self.snapshot(scenario, d)
                for line in LINES if nodes else ():
                    document = self.rehearse(snapshot, line, nodes)
                    self.assertEqual(faults(document, SCHEMA), [], (scenario, line))
                    seen |= names(document)
        self.assertEqual(members(SCHEMA) - seen - RARE, set())  # nothing in it that no rehearsal has

    def test_a_member_that_it_does_not_know_is_a_fault(self) -> None:
        """Wherever it is: a member that is added to the document must be added to the schema."""
        self.assertTrue(all(o["additionalProperties"] is False for o in objects(SCHEMA)))
        with tempfile.TemporaryDirectory() as d:
            snapshot, _ = self.snapshot("happy", d)
            document = self.rehearse(snapshot, "", ["w1"])
        for place in (lambda x: x, lambda x: x["nodes"][0], lambda x: x["nodes"][0]["pods"][0], lambda x: x["took"], lambda x: x["basis"],
                      lambda x: x["basis"]["controlPlane"]["times"], lambda x: x["runs"][0]):
            other = copy.deepcopy(document)
            place(other)["new"] = 1
            self.assertEqual([f.split(": ")[1] for f in faults(other, SCHEMA)], ["new is unknown"])
        del document["waits"]
        document["haltAfter"] = None
        document["took"]["p50"] = "soon"
        self.assertEqual(len(faults(document, SCHEMA)), 3)

    def test_its_version(self) -> None:
        version = re.fullmatch(r"slipway\.rehearsal/(\d+\.\d+)", SCHEMA["properties"]["schema"]["const"])[1]
        self.assertEqual((SCHEMA["title"], SCHEMA["$id"]), (f"slipway.rehearsal/{version}", f"https://slipway.dev/schemas/rehearsal-{version}.json"))

    def test_the_page_has_every_member(self) -> None:
        page = (TOP / "docs" / "rehearse.md").read_text().split("## The document")[1]
        self.assertTrue("(rehearse.schema.json)" in page)
        for name in sorted(members(SCHEMA)):
            self.assertTrue(re.search(rf"[`.]{name}`", page), name)


if __name__ == "__main__":
    tap.main()
