"""`slipway explain`: every code of docs/blockers.md, and what is none."""

from __future__ import annotations

import json
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import TOP, run  # noqa: E402

PAGE = (TOP / "docs" / "blockers.md").read_text()
CODES = re.findall(r"^## (\w+)$", PAGE, re.M)
WIDTH = 80


def words(text: str) -> str:
    return " ".join(text.split())


class Explain(unittest.TestCase):
    def good(self, *args: str) -> str:
        done = run("explain", *args)
        self.assertEqual((done.code, done.err), (0, ""), args)
        return done.out

    def test_every_code(self) -> None:
        """It says what the page says, and how the code is found."""
        self.assertGreater(len(CODES), 25)
        for code in CODES:
            with self.subTest(code):
                out = self.good(code)
                section = re.search(rf"^## {code}\n\n(.*)\n\n- \*\*Over when:\*\* (.*)\n- \*\*What to do:\*\* (.*)\n", PAGE, re.M)
                meaning, ends, hint = section.groups()
                for part in (meaning, ends, hint):
                    self.assertIn(words(part).lower(), words(out).lower())
                found = re.search(r"^How it is found\n((?:    .*\n)+)", out, re.M)
                self.assertGreater(len(words(found[1])), 20)
                for line in out.splitlines():
                    self.assertLessEqual(len(line), WIDTH)
                    self.assertEqual(line, line.rstrip())

    def test_list(self) -> None:
        listed = re.findall(r"^(\w+) ", self.good(), re.M)
        self.assertEqual(listed, CODES)

    def test_states(self) -> None:
        """The states are told, and the graph of docs/states.md is that of the tables."""
        out = self.good("states")
        self.assertIn("\nDraining: It holds a slot; the node is cordoned and drained.\n    -> Undoing, SlotLost:", out)
        self.assertIn("\nreturned: What was changed is being put back.\n    -> free: The node is what it was.\n", out)
        for line in out.splitlines():
            self.assertLessEqual(len(line), WIDTH)
        page = (TOP / "docs" / "states.md").read_text()
        self.assertEqual(re.search(r"^```dot\n(.*?)^```$", page, re.M | re.S)[1], self.good("states", "--dot"))
        told = re.search(r"^```text\n(.*?)^```$", page, re.M | re.S)[1]
        self.assertEqual(told, out)
        for args in (("--dot",), ("PDBNoBudget", "--dot"), ("states", "-o", "json")):
            self.assertEqual(run("explain", *args).code, 64)

    def test_document(self) -> None:
        doc = json.loads(self.good("-o", "json"))
        self.assertEqual(doc["schema"], "slipway.explain/1.0")
        self.assertEqual([x["code"] for x in doc["items"]], CODES)
        docs = (TOP / "docs" / "why.md").read_text()
        for item in doc["items"]:
            self.assertEqual(set(item), {"code", "severity", "clears", "meaning", "found", "hint", "ends"})
            for name in item:
                self.assertIn(f"`{name}`", docs)
        one = json.loads(self.good("PDBNoBudget", "-o", "json"))["items"]
        self.assertEqual([x["code"] for x in one], ["PDBNoBudget"])
        self.assertEqual(self.good("PDBNoBudget", "-o", "jsonpath={.items[0].clears}").strip(), "auto")

    def test_what_is_near_is_named(self) -> None:
        for typed, meant in (("PDBNoBudge", "PDBNoBudget"), ("pdbnobudgt", "PDBNoBudget"), ("bare-pod", "BarePod")):
            done = run("explain", typed)
            self.assertEqual((done.code, done.out), (64, ""))
            self.assertIn(f'did you mean "{meant}"?', done.err)
        done = run("explain", "nothing like it")
        self.assertEqual((done.code, done.out), (64, ""))
        self.assertTrue(done.err.startswith("error: \"nothing like it\" is none of those that 'slipway explain' lists\n"), done.err)
        self.assertEqual(run("explain", "BarePod", "PDBBroken").code, 64)

    def test_the_case_of_letters_does_not_matter(self) -> None:
        for typed in ("pdbnobudget", "PDBNOBUDGET"):
            self.assertEqual(run("explain", typed), run("explain", "PDBNoBudget"))

    def test_completion(self) -> None:
        out = run("__complete", "explain", "PDBU").out.splitlines()
        self.assertEqual(out, ["PDBUnsatisfiable", ":4"])
        self.assertEqual(set(run("__complete", "explain", "").out.splitlines()[:-1]), {*CODES, "states"})

    def test_no_cluster_is_asked(self) -> None:
        done = run("explain", "BarePod", "--server", "http://127.0.0.1:1", KUBECONFIG="/nonexistent")
        self.assertEqual((done.code, done.err), (0, ""))


if __name__ == "__main__":
    tap.main()
