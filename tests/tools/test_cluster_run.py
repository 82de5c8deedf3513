"""The runner of the tests against clusters, with suites that need none: whatever goes wrong has to be counted, with one worker or several."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))
import tap  # noqa: E402

sys.path.insert(0, str(TESTS / "cluster"))
from binaries import CONTROL_PLANE, DEFAULT_KUBERNETES  # noqa: E402

GOOD = "def test_one(ctx):\n    pass\n\n\ndef test_two(ctx):\n    pass\n"
BAD = "def test_right(ctx):\n    pass\n\n\ndef test_wrong(ctx):\n    assert 1 == 2, 'sums'\n"
SKIPPED = "def test_never(ctx):\n    ctx.skip('no moon tonight')\n"
DEADLY = "import os\n\n\ndef test_before(ctx):\n    pass\n\n\ndef test_dies(ctx):\n    os._exit(0)\n\n\ndef test_after(ctx):\n    pass\n"


def ended(lines: list[str]) -> list[str]:
    """Those of tests, without how long they took."""
    return sorted(re.sub(r" \([\d.]+ s\)$", "", line) for line in lines if re.match(r"(not )?ok \d+ - ", line))


class ClusterRun(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.top = Path(holder.name) / "cluster"
        shutil.copytree(TESTS / "cluster", self.top, ignore=shutil.ignore_patterns("test_*.py", "__pycache__"))
        assets = self.top / "assets"
        assets.mkdir()
        for name in CONTROL_PLANE:
            (assets / name).write_text(f"#!/bin/sh\necho Kubernetes v{DEFAULT_KUBERNETES}\n")
            (assets / name).chmod(0o755)

    def suites(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.top / f"test_{name}.py").write_text(text)

    def run_suites(self, *arguments: str, required: bool = False) -> tuple[list[str], int]:
        env = {**os.environ, "KUBEBUILDER_ASSETS": str(self.top / "assets"), "SLIPWAY_CLUSTER_REQUIRED": "1" if required else ""}
        done = subprocess.run([sys.executable, self.top / "run.py", "--real", *arguments], env=env, capture_output=True, text=True, timeout=60)
        return done.stdout.splitlines() + done.stderr.splitlines(), done.returncode

    def both(self, last: str, status: int, required: bool = False) -> list[list[str]]:
        """Of one worker and of two: the lines of tests, by number."""
        found = []
        for jobs in ("1", "2"):
            with self.subTest(jobs=jobs):
                lines, code = self.run_suites("--jobs", jobs, required=required)
                said = "\n".join(lines)
                self.assertEqual(code, status, said)
                self.assertIn(last, lines, said)
                found.append(ended(lines))
        return found

    def test_all_pass(self) -> None:
        self.suites(a=GOOD, b=GOOD, c=GOOD)
        one, two = self.both("6 passed, 0 failed", 0)
        self.assertEqual(one, two)
        self.assertEqual(one, sorted(f"ok {n} - {suite}.{test}" for n, (suite, test) in
                                     enumerate(((s, t) for s in "abc" for t in ("one", "two")), 1)))

    def test_failures_and_skips(self) -> None:
        self.suites(a=GOOD, b=BAD, c=SKIPPED)
        for lines in self.both("3 passed, 1 failed, 1 skipped", 1):
            self.assertIn("not ok 4 - b.wrong", lines)
            self.assertIn("ok 5 - c.never # SKIP no moon tonight", lines)

    def test_a_skip_that_may_not_be(self) -> None:
        self.suites(a=GOOD, c=SKIPPED)
        self.both("2 passed, 1 failed", 1, required=True)

    def test_a_worker_that_dies(self) -> None:
        """It ends with status 0, and says nothing of what it had done: all of that has failed, the other one's has not."""
        self.suites(a=DEADLY, b=GOOD)
        lines, code = self.run_suites("--jobs", "2")
        self.assertEqual(code, 1, lines)
        self.assertRegex(lines[-1], r"^[0-9]+ passed, [1-9][0-9]* failed$")

    def test_patterns(self) -> None:
        self.suites(a=GOOD, b=GOOD)
        lines, code = self.run_suites("--jobs", "2", "a.one", "b.two")
        self.assertEqual((ended(lines), code), (["ok 1 - a.one", "ok 2 - b.two"], 0), lines)
        self.assertIn("2 passed, 0 failed", lines)
        self.assertEqual(self.run_suites("--list"), (["a.one", "a.two", "b.one", "b.two"], 0))
        self.assertEqual(self.run_suites("nobody")[1], 2)


if __name__ == "__main__":
    tap.main()
