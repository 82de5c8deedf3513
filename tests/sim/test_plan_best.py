"""The order of nodes in a plan, beside the best of all orders (plan_best.c).  By hand, for more of them: plan-best --seeds 500."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(TOP / "tests")]
import tap  # noqa: E402

BUILD = Path(os.environ.get("BUILD", TOP / "build"))
SEEDS = 50


class PlanBest(unittest.TestCase):
    def test_small_clusters(self) -> None:
        """95 of 100 plans take at most a tenth longer than the best order; none is faster than its own lower bound."""
        result = subprocess.run([str(BUILD / "tests" / "sim" / "plan-best"), "--seeds", str(SEEDS), "--nodes", "8"],
                                capture_output=True, text=True, errors="replace")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, rf"(?m)^\d+ of {SEEDS} plans within a tenth of the best order")


if __name__ == "__main__":
    tap.main()
