"""Pages of docs/ that are made from the program's tables, or that name what the program has: neither may fall behind."""

from __future__ import annotations

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import TOP, run  # noqa: E402

DOCS = TOP / "docs"


def anchors(text: str) -> set[str]:
    """Of the headings, as GitHub makes them."""
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.M)}


class Pages(unittest.TestCase):
    def test_blockers(self) -> None:
        done = run("__blockers")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual((DOCS / "blockers.md").read_text(), done.out,
                         "docs/blockers.md is out of date: slipway __blockers > docs/blockers.md")

    def test_codes_that_are_named_exist(self) -> None:
        codes = set(re.findall(r"^## (\w+)$", (DOCS / "blockers.md").read_text(), re.M))
        self.assertGreater(len(codes), 20)
        for word in re.findall(r"`((?:PDB|Multiple|Finalizer|Admission)\w+)`", (DOCS / "events-stream.md").read_text()):
            self.assertIn(word, codes)
        self.assertLessEqual(codes, set(run("help", "blockers").out.split()))

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
