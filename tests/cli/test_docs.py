"""Pages of docs/ that are made from the program's tables, or that name what the program has: neither may fall behind."""

from __future__ import annotations

import json
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import TOP, run  # noqa: E402
from simulation import Sim  # noqa: E402

DOCS = TOP / "docs"


def anchors(text: str) -> set[str]:
    """Of the headings, as GitHub makes them."""
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.M)}


def members(value: object) -> set[str]:
    """The names of all members, however deep."""
    if isinstance(value, list):
        return set().union(*map(members, value)) if value else set()
    return set(value).union(*map(members, value.values())) if isinstance(value, dict) else set()


class Pages(unittest.TestCase):
    def test_blockers(self) -> None:
        done = run("__blockers")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual((DOCS / "blockers.md").read_text(), done.out,
                         "docs/blockers.md is out of date: slipway __blockers > docs/blockers.md")

    def test_resources(self) -> None:
        done = run("__resources")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual((DOCS / "resources.md").read_text(), done.out,
                         "docs/resources.md is out of date: slipway __resources > docs/resources.md")

    def test_metrics(self) -> None:
        done = run("__metrics")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual((DOCS / "metrics.md").read_text(), done.out,
                         "docs/metrics.md is out of date: slipway __metrics > docs/metrics.md")
        names = set(re.findall(r"^\| `(\w+)`", done.out, re.M))
        self.assertGreater(len(names), 30)
        self.assertLessEqual(names, {w.partition("{")[0] for w in run("help", "metrics").out.split()})

    def test_events(self) -> None:
        done = run("__events")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual((DOCS / "events.md").read_text(), done.out,
                         "docs/events.md is out of date: slipway __events > docs/events.md")

    def test_layers(self) -> None:
        """The directories of src/, in the table and in the picture: all of them, and no other."""
        there = {d.name for d in (TOP / "src").iterdir() if d.is_dir()}
        self.assertEqual(set(re.findall(r"^\| `src/(\w+)` \|", (DOCS / "architecture.md").read_text(), re.M)), there)
        names = re.findall(r'class="name[^"]*"[^>]*>([^<]*)<', (DOCS / "architecture.svg").read_text())
        self.assertEqual({n for text in names for n in text.split(", ")} - {"Kubernetes", "API server"}, there)

    def test_codes_that_are_named_exist(self) -> None:
        codes = set(re.findall(r"^## (\w+)$", (DOCS / "blockers.md").read_text(), re.M))
        self.assertGreater(len(codes), 20)
        for word in re.findall(r"`((?:PDB|Multiple|Finalizer|Admission)\w+)`", (DOCS / "events-stream.md").read_text()):
            self.assertIn(word, codes)
        self.assertLessEqual(codes, set(run("help", "blockers").out.split()))

    def test_status_names_every_member(self) -> None:
        """docs/status.md has every member of the document, and none that there is not."""
        page = (DOCS / "status.md").read_text().split("## The document")[1]
        named = set(re.findall(r"`([a-z]\w*)`", page)) - {"auto", "operator", "drain", "mark"}
        with Sim("--scenario", "pdb-stuck") as sim:
            self.leave_a_drain(sim)
            done = run("status", "-o", "json", KUBECONFIG=str(sim.kubeconfig))
        self.assertEqual((done.code, done.err), (0, ""))
        seen = members(json.loads(done.out))
        self.assertLessEqual({"lastHeard", "podsLeft", "holders", "clears", "needsReboot"}, seen)
        self.assertLessEqual(seen, named)
        source = "".join((TOP / f"src/cli/{name}.c").read_text() for name in ("status_show", "cmd_status", "stops", "orders", "not_in_force"))
        self.assertLessEqual(named, set(re.findall(r'"(\w+)"', source)))

    def leave_a_drain(self, sim: Sim) -> None:
        """What one that was killed long ago has left, and a node that wants a reboot."""
        record = {"v": 1, "before": False, "holders": [{"id": "night", "by": "a@b", "reason": "kernel", "since": "2001-01-01T00:00:00Z"}]}
        sim.client.patch("/api/v1/nodes/w1", {"metadata": {"annotations": {"slipway.dev/cordon": json.dumps(record)}}, "spec": {"unschedulable": True}})
        sim.client.patch("/api/v1/nodes/w2", {"metadata": {"annotations": {"flatcar-linux-update.v1.flatcar-linux.net/reboot-needed": "true"}}})
        condition = {"type": "DrainInProgress", "status": "True", "reason": "SlipwayDrain", "lastTransitionTime": "2001-01-01T00:00:00Z"}
        code, answer = sim.client.call("PATCH", "/api/v1/nodes/w1/status", {"status": {"conditions": [condition]}},
                                       "application/strategic-merge-patch+json")
        self.assertEqual(code, 200, answer)

    def test_links(self) -> None:
        """Every link within the repository leads somewhere."""
        for page in [TOP / "README.md", *sorted(DOCS.glob("*.md"))]:
            for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
                if re.match(r"\w+:", target):
                    continue
                path, _, anchor = target.partition("#")
                other = (page.parent / path).resolve() if path else page
                self.assertTrue(other.exists(), f"{page.name}: {target}")
                if anchor:
                    self.assertIn(anchor, anchors(other.read_text()), f"{page.name}: {target}")

    def test_the_page_is_found(self) -> None:
        for page in ("README.md", "docs/drain.md", "docs/events-stream.md"):
            self.assertIn("blockers.md", (TOP / page).read_text(), page)


if __name__ == "__main__":
    tap.main()
