""".ci/run with a make that only says what it is told: nothing that fails may end green."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

# Runs the script called by the target's name, and notes how it was called.
MAKE = """#!/bin/sh
echo "$SLIPWAY_CLUSTER_REQUIRED $*" >> "$STAGE/calls"
. "$STAGE/$1"
"""
GOOD = "echo noise; echo '3 passed, 0 failed'\n"


class Ci(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.stage = Path(holder.name)
        for path, text in {".ci/run": None, "tools/setup.sh": '#!/bin/sh\necho "setup $*" >> "$STAGE/calls"\n', "bin/make": MAKE}.items():
            file = self.stage / path
            file.parent.mkdir(exist_ok=True)
            if text is None:
                shutil.copy(TOP / path, file)
            else:
                file.write_text(text)
            file.chmod(0o755)
        for target in ("test", "test-asan", "lint", "test-cluster"):
            self.make(target, GOOD)

    def make(self, target: str, script: str) -> None:
        (self.stage / target).write_text(script)

    def ci(self) -> tuple[str, int, str]:
        """The last line, the status, everything."""
        env = {**os.environ, "STAGE": str(self.stage), "PATH": f"{self.stage}/bin:{os.environ['PATH']}"}
        env.pop("SLIPWAY_CLUSTER_REQUIRED", None)
        done = subprocess.run([self.stage / ".ci/run"], env=env, capture_output=True, text=True, cwd="/", timeout=60)
        return done.stdout.splitlines()[-1], done.returncode, done.stdout + done.stderr

    def test_green(self) -> None:
        last, status, out = self.ci()
        self.assertEqual((last, status), ("12 passed, 0 failed", 0), out)
        calls = (self.stage / "calls").read_text().splitlines()
        self.assertEqual(calls[0], "setup ci")
        self.assertEqual([c.split()[0] for c in calls[1:4]], ["test", "test-asan", "lint"])
        self.assertTrue(calls[4].startswith("1 test-cluster"), calls)

    def test_skips_are_summed(self) -> None:
        self.make("test", "echo '3 passed, 0 failed, 2 skipped'\n")
        self.make("test-asan", "echo '3 passed, 0 failed, 1 skipped'\n")
        self.assertEqual(self.ci()[:2], ("12 passed, 0 failed, 3 skipped", 0))

    def test_failures_are_summed_and_nothing_is_left_out(self) -> None:
        self.make("test", "echo '1 passed, 2 failed'; exit 1\n")
        self.make("lint", "echo '5 passed, 1 failed'; exit 1\n")
        self.assertEqual(self.ci()[:2], ("12 passed, 3 failed", 1))

    def test_failures_count_even_with_a_good_status(self) -> None:
        self.make("test", "echo '1 passed, 2 failed'\n")
        self.assertEqual(self.ci()[:2], ("10 passed, 2 failed", 1))

    def test_bad_status_without_a_failure(self) -> None:
        self.make("test-asan", GOOD + "exit 2\n")
        last, status, out = self.ci()
        self.assertEqual((last, status), ("12 passed, 1 failed", 1))
        self.assertIn("status 2", out)

    def test_no_result(self) -> None:
        self.make("test-cluster", "echo 'no such file' >&2; exit 127\n")
        last, status, out = self.ci()
        self.assertEqual((last, status), ("9 passed, 1 failed", 1))
        self.assertIn("no result", out)

    def test_no_result_with_a_good_status(self) -> None:
        self.make("test-cluster", "echo '3 passed, 0 failed, but not alone on its line'\n")
        self.assertEqual(self.ci()[:2], ("9 passed, 1 failed", 1))

    def test_packages_that_cannot_be_installed(self) -> None:
        (self.stage / "tools/setup.sh").write_text("#!/bin/sh\necho 'setup: cannot'\nexit 1\n")
        last, status, _ = self.ci()
        self.assertEqual((last, status), ("0 passed, 1 failed", 1))
        self.assertFalse((self.stage / "calls").exists())


if __name__ == "__main__":
    tap.main()
