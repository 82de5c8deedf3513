"""docs/plan.schema.json is the schema of what `slipway plan` says, to the member: plans of every scenario are judged by it."""

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

SCHEMA = json.loads((TOP / "docs" / "plan.schema.json").read_text())
SCENARIOS = sorted(p.stem for p in (TOP / "scenarios").glob("*.yaml"))
LINES = ("", "--force --delete-emptydir-data --max-unavailable=1", "--disable-eviction --timeout=1s --dry-run=server")
# Not in any scenario: what may not be read, budgets with a policy of their own, findings about objects.
RARE = {"unread", "unhealthyPodEvictionPolicy", "overWhen", "kind", "later"}


def names(value: object) -> set[str]:
    """Of all members in it."""
    if isinstance(value, dict):
        return set(value) | {n for v in value.values() for n in names(v)}
    return {n for v in value for n in names(v)} if isinstance(value, list) else set()


class Schema(unittest.TestCase):
    def plan(self, sim: Sim, line: str, nodes: list[str]) -> dict:
        done = run("plan", "drain", *nodes, *line.split(), "-o", "json", KUBECONFIG=str(sim.kubeconfig), SUDO_USER="alice")
        self.assertEqual(done.code, 0, done)
        return json.loads(done.out)

    def test_every_scenario(self) -> None:
        self.assertGreater(len(SCENARIOS), 15)
        seen: set[str] = set()
        with tempfile.TemporaryDirectory() as d:
            rules = Path(d) / "rules.yaml"
            rules.write_text("apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\nrules:\n- name: late\n  match: {namespaces: [a]}\n  order: 5\n")
            for scenario in SCENARIOS:
                with Sim("--scenario", scenario) as sim:
                    nodes = [n["metadata"]["name"] for n in sim.client.get("/api/v1/nodes")["items"]][:8]
                    for line in (*LINES, "--force --delete-emptydir-data --parallel=8", f"--rules={rules}") if nodes else ():
                        plan = self.plan(sim, line, nodes)
                        self.assertEqual(faults(plan, SCHEMA), [], (scenario, line))
                        seen |= names(plan)
        self.assertEqual(members(SCHEMA) - seen - RARE, set())  # nothing in it that no plan has

    def test_what_checks_say_to_the_operation(self) -> None:
        """The only member of an etcd: it can be drained, and that is not all there is to say."""
        etcd = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "etcd", "namespace": "kube-system", "labels": {
            "component": "etcd", "tier": "control-plane"}}, "spec": {"containers": [{"name": "etcd", "image": "example.com/etcd:1"}]}}
        made = {"description": "one member", "nodes": [{"name": "w", "count": 2}, {
            "name": "m", "count": 1, "roles": ["control-plane"], "staticPods": [etcd]}]}
        with tempfile.TemporaryDirectory() as d:
            path = Path(d) / "scenario.yaml"
            path.write_text(json.dumps(made))
            with Sim("--scenario", str(path)) as sim:
                plan = self.plan(sim, "", ["m1"])
                text = run("plan", "m1", "--detailed-exitcode", KUBECONFIG=str(sim.kubeconfig))
        self.assertEqual(faults(plan, SCHEMA), [])
        self.assertEqual([(f["check"], f["verdict"], f["before"]) for f in plan["nodes"][0]["later"]], [("etcd", "deny", ["operation"])])
        self.assertIn("m1 can be drained, but nothing more may be done to it", " ".join(text.out.split()))
        self.assertEqual(text.code, 2, text)

    def test_a_member_that_it_does_not_know_is_a_fault(self) -> None:
        """Wherever it is: a member that is added to the plan must be added to the schema."""
        self.assertTrue(all(o["additionalProperties"] is False for o in objects(SCHEMA)))
        with Sim("--scenario", "happy") as sim:
            plan = self.plan(sim, "", ["w1"])
        for place in (lambda p: p, lambda p: p["nodes"][0], lambda p: p["nodes"][0]["pods"][0], lambda p: p["lowerBound"],
                      lambda p: p["budgets"][0]):
            other = copy.deepcopy(plan)
            place(other)["new"] = 1
            self.assertEqual([f.split(": ")[1] for f in faults(other, SCHEMA)], ["new is unknown"])
        del plan["id"]
        plan["made"] = plan["mostAtOnce"] = "soon"
        self.assertEqual(len(faults(plan, SCHEMA)), 3)

    def test_its_version(self) -> None:
        version = re.fullmatch(r"slipway\.plan/(\d+\.\d+)", SCHEMA["properties"]["schema"]["const"])[1]
        self.assertEqual((SCHEMA["title"], SCHEMA["$id"]), (f"slipway.plan/{version}", f"https://slipway.dev/schemas/plan-{version}.json"))

    def test_the_page_has_every_member(self) -> None:
        page = (TOP / "docs" / "plan.md").read_text()
        self.assertTrue("(plan.schema.json)" in page)
        for name in sorted(members(SCHEMA)):
            self.assertTrue(re.search(rf"[`.]{name}`", page), name)


if __name__ == "__main__":
    tap.main()
