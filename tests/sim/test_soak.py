"""Bounded soaks, and the tests of their oracles: by hand-made histories, and that faults can still be planted (plants.py)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(TOP / "tests"), str(TOP / "tests" / "sim")]
import plants  # noqa: E402
import tap  # noqa: E402

BUILD = Path(os.environ.get("BUILD", TOP / "build"))
SOAK = BUILD / "tests" / "sim" / "soak"
FLEET = BUILD / "tests" / "sim" / "soak-fleet"
SEEDS = 150
AGAIN = 120  # few seeds meet what depends on the addresses of things


def soak(*args: str, program: Path = SOAK) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *args], capture_output=True, text=True, errors="replace")


class Soak(unittest.TestCase):
    def test_seeds(self) -> None:
        """Random drains of random clusters break no promise."""
        result = soak("--seeds", str(SEEDS))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, rf"(?m)^{SEEDS} seeds, 0 failed; ")

    def test_again(self) -> None:
        """A seed is the same every time, to the last request and note, wherever in memory things are."""
        first, second = (soak("--first", "11", "--seeds", str(AGAIN), "--trace").stderr.splitlines() for _ in range(2))
        self.assertEqual(sum(line.startswith("digest ") for line in first), AGAIN)
        differ = [pair for pair in zip(first, second) if pair[0] != pair[1]]
        self.assertFalse(differ or len(first) != len(second), f"{len(differ)} lines differ, the first: {differ[:1]}")

    def test_every_seed_differs(self) -> None:
        out = soak("--first", "11", "--seeds", "4", "--trace").stderr
        self.assertEqual(len(set(re.findall(r"digest (\w+)", out))), 4, out)

    def test_table(self) -> None:
        """What was covered is counted: faults at writes, carried out and lost."""
        out = soak("--seeds", "60", "--table").stdout
        for kind in ("evict", "patch node", "create event", "watch"):
            self.assertRegex(out, rf"(?m)^{kind}  .*\d+/\d+|^{kind}  .*\d+ .* of \d+")
        numbers = re.search(r"(?m)^evict +-/(\d+) +(\d+)/(\d+)", out)
        assert numbers
        self.assertGreater(sum(map(int, numbers.groups())), 0)

    def test_usage(self) -> None:
        for args in (["--seeds", "x"], ["--nonsense"]):
            self.assertEqual(soak(*args).returncode, 64)


class Fleet(unittest.TestCase):
    """The soak of the controller."""

    SEEDS = 40
    AGAIN = 8

    def test_seeds(self) -> None:
        """Replicas, clients and people on random clusters break no promise."""
        result = soak("--seeds", str(self.SEEDS), program=FLEET)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, rf"(?m)^{self.SEEDS} seeds, 0 failed; ")

    def test_again(self) -> None:
        """A seed is the same every time, to the last request and answer, whatever was played before it."""
        first, second = (re.findall(r"digest (\w+)", soak("--first", str(n), "--seeds", str(self.AGAIN - n), "--trace", program=FLEET).stderr)
                         for n in (1, 4))
        self.assertEqual(len(set(first)), self.AGAIN - 1)
        self.assertEqual(first[3:], second)

    def test_table(self) -> None:
        """What was reached is counted, and in a short run it is no failure that something was not."""
        result = soak("--seeds", "6", "--table", program=FLEET)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        for line in (r"  Pending -> Queued: GatesOpen +[1-9]", r"  taken -> drained +[1-9]", r"  pre-reboot: ok +[1-9]"):
            self.assertRegex(result.stdout, f"(?m)^{line}")
        self.assertIn("everything was reached: no", result.stdout)


class Oracle(unittest.TestCase):
    def test_histories(self) -> None:
        """What is right passes, what is wrong is found."""
        result = subprocess.run([str(BUILD / "tests" / "sim" / "soak-oracle")], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


class Plants(unittest.TestCase):
    def test_places(self) -> None:
        """Every plant has its place in the sources as they are: a plant that has none tests nothing."""
        self.assertGreaterEqual(len(plants.PLANTS), 20)
        for plant in plants.PLANTS:
            with self.subTest(plant.name):
                file, text = plants.planted(plant)
                self.assertNotEqual(text, file.read_text(encoding="utf-8"))

    def test_one_is_found(self) -> None:
        """A fault that is built in is found; the others are looked for by `make soak PLANTS=1`."""
        few = [p for p in plants.PLANTS if p.name in ("no-uid", "takes-one-too-many")]
        self.assertEqual(plants.check(BUILD.resolve(), 40, few, say=lambda _: None), [])


if __name__ == "__main__":
    tap.main()
