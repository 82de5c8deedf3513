"""The models of proofs/, checked by spin: what must hold holds in every state, and what must be refuted is."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

PROOFS = TOP / "proofs"
MISSING = [tool for tool in ("spin", "gcc") if not shutil.which(tool)]
DEPTH = 1_000_000  # steps of the longest path; more than any of the models has
MEGABYTES = 2000


class Verdict:
    """What a search has found. It was whole, or it is no verdict."""

    def __init__(self, model: str, *variants: str, fair: bool = False) -> None:
        with tempfile.TemporaryDirectory(prefix="slipway-spin-") as place:
            def run(*command: str) -> str:
                done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=280)
                assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
                return done.stdout

            run("spin", "-a", *(f"-D{name}" for name in variants), str(PROOFS / model))
            run("gcc", "-O2", "-w", "-DCOLLAPSE", f"-DMEMLIM={MEGABYTES}", *(("-DNOREDUCE",) if fair else ("-DSAFETY",)),
                "-o", "pan", "pan.c")
            self.text = run("./pan", f"-m{DEPTH}", *(("-a", "-f") if fair else ()))
        assert "max search depth too small" not in self.text and "out of memory" not in self.text, self.text[-2000:]
        self.errors = int(re.search(r"errors: (\d+)", self.text).group(1))
        self.states = int(float(re.search(r"([0-9.e+]+) states, stored", self.text).group(1)))
        self.what = (re.search(r"^pan:1: (.*) \(at depth", self.text, re.M) or [None, ""])[1]


@unittest.skipIf(MISSING, f"{' and '.join(MISSING)} not installed")
class Slots(unittest.TestCase):
    def test_no_state_breaks_a_promise(self) -> None:
        """two nodes, one slot, two leaders: every state"""
        found = Verdict("slots.pml")
        self.assertEqual(found.errors, 0, found.text[-2000:])
        self.assertGreater(found.states, 1_000_000, "a model in which little can happen proves little")

    def test_every_rule_is_needed(self) -> None:
        """each left out in turn is refuted"""
        for variant in ("BLIND_GRANT", "CACHED_REPLY", "EAGER_RELEASE", "BLIND_UNCORDON", "UNSURE", "FORGOTTEN_REPORT", "UNLISTED"):
            with self.subTest(variant):
                found = Verdict("slots.pml", variant)
                self.assertEqual(found.errors, 1, found.text[-2000:])
                self.assertRegex(found.what, "assertion violated")

    def test_variants_are_those_of_the_model(self) -> None:
        """a variant that the model does not know would be the model itself"""
        text = (PROOFS / "slots.pml").read_text()
        known = set(re.findall(r"^#ifdef (\w+)", text, re.M))
        self.assertEqual(known, {"BLIND_GRANT", "CACHED_REPLY", "EAGER_RELEASE", "BLIND_UNCORDON", "UNSURE", "FORGOTTEN_REPORT", "UNLISTED"})


@unittest.skipIf(MISSING, f"{' and '.join(MISSING)} not installed")
class Seed(unittest.TestCase):
    def test_two_nodes_go_at_once(self) -> None:
        found = Verdict("seed.pml")
        self.assertEqual((found.errors, found.what), (1, "assertion violated ((gone[0]+gone[1])<=1)"), found.text[-2000:])

    def test_two_nodes_deny_each_other_for_ever(self) -> None:
        found = Verdict("seed.pml", "STUCK", fair=True)
        self.assertEqual((found.errors, found.what), (1, "acceptance cycle"), found.text[-2000:])


if __name__ == "__main__":
    tap.main()
