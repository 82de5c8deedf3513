"""The runner of the tests itself: whatever goes wrong with a program has to be counted."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402

RUNNER = Path(__file__).resolve().parent.parent / "run.py"


def run_program(script: str, *arguments: str, env: dict[str, str] | None = None) -> tuple[list[str], int]:
    """Lets the runner run one shell script; returns the lines it prints and its status."""
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as f:
        f.write(script)
        f.flush()
        done = subprocess.run([sys.executable, str(RUNNER), *arguments, "--only", "/bin/sh", f.name], capture_output=True, text=True,
                              timeout=60, env={**os.environ, **(env or {})})
    return done.stdout.splitlines() + done.stderr.splitlines(), done.returncode


class Counting(unittest.TestCase):
    def check(self, script: str, last: str, status: int, *mentions: str, arguments: tuple[str, ...] = ()) -> list[str]:
        lines, code = run_program(script, *arguments)
        self.assertEqual(lines[-1], last, "\n".join(lines))
        self.assertEqual(code, status)
        for mention in mentions:
            self.assertIn(mention, "\n".join(lines))
        return lines

    def test_all_pass(self) -> None:
        lines = self.check("echo 1..2; echo 'ok 1 - a'; echo 'ok 2 - b'; echo noise", "2 passed, 0 failed", 0)
        self.assertEqual(len(lines), 2, "one line for a good program, one for the sum")
        self.assertNotIn("noise", "\n".join(lines))

    def test_failing_case(self) -> None:
        self.check("echo 1..2; echo 'not ok 1 - bad one'; echo '# because'; echo 'ok 2 - b'", "1 passed, 1 failed", 1,
                   "failed: bad one", "| # because")

    def test_crash(self) -> None:
        self.check("echo 1..3; echo 'ok 1 - a'; kill -SEGV $$", "1 passed, 2 failed", 1, "signal 11")

    def test_crash_after_everything_passed(self) -> None:
        self.check("echo 1..1; echo 'ok 1 - a'; kill -ABRT $$", "1 passed, 1 failed", 1, "signal 6")

    def test_bad_status_though_all_is_ok(self) -> None:
        """A leak that the sanitizer finds at the end looks like this."""
        self.check("echo 1..1; echo 'ok 1 - a'; echo leak >&2; exit 23", "1 passed, 1 failed", 1, "status 23", "| leak")

    def test_short_plan(self) -> None:
        self.check("echo 1..3; echo 'ok 1 - a'", "1 passed, 2 failed", 1, "never came")

    def test_more_than_planned(self) -> None:
        self.check("echo 1..1; echo 'ok 1 - a'; echo 'ok 2 - b'", "2 passed, 1 failed", 1, "1 were planned")

    def test_no_plan(self) -> None:
        self.check("echo 'ok 1 - a'", "1 passed, 1 failed", 1, "no plan")

    def test_silence(self) -> None:
        self.check("exit 0", "0 passed, 1 failed", 1, "no plan")

    def test_timeout(self) -> None:
        start = time.monotonic()
        self.check("echo 1..2; echo 'ok 1 - a'; sleep 600", "1 passed, 1 failed", 1, "not finished after 0.5 s",
                   arguments=("--timeout", "0.5"))
        self.assertLess(time.monotonic() - start, 60)

    def test_not_startable(self) -> None:
        done = subprocess.run([sys.executable, str(RUNNER), "--only", "/nonexistent/program"], capture_output=True, text=True)
        self.assertEqual(done.stdout.splitlines()[-1], "0 passed, 1 failed")
        self.assertIn("cannot be started", done.stdout)

    def test_two_groups(self) -> None:
        """cmocka prints a plan for each group."""
        self.check("echo 1..1; echo 'ok 1 - a'; echo 1..2; echo 'ok 1 - b'; echo 'ok 2 - c'", "3 passed, 0 failed", 0)

    def test_second_group_missing(self) -> None:
        self.check("echo 1..1; echo 'ok 1 - a'; echo 1..2; kill -KILL $$", "1 passed, 2 failed", 1, "signal 9")

    def test_words_that_look_like_tap(self) -> None:
        self.check("echo 1..1; echo 'okay 1'; echo ' not ok 2'; echo 'ok'; echo 'ok 1 - a'", "1 passed, 0 failed", 0)

    def test_nothing_passed(self) -> None:
        """Zero tests are no success: somebody has broken the discovery."""
        self.check("echo 1..0", "0 passed, 0 failed", 1)


class Cases(unittest.TestCase):
    """tests/tap.py: the programs that are written in Python."""

    def test_parts_that_fail(self) -> None:
        """Each part that fails is shown; the case is one failure, whatever else fails in it."""
        script = """
import sys, unittest
sys.path.insert(0, sys.argv.pop())
import tap
class Case(unittest.TestCase):
    def test_a(self):
        for i in range(3):
            with self.subTest(part=i):
                self.assertEqual(i, 0)
    def test_b(self):
        with self.subTest(part="only"):
            raise ValueError("gone")
        self.fail("too")
    def test_c(self):
        with self.subTest(part=1):
            pass
tap.main()
"""
        with tempfile.NamedTemporaryFile("w", suffix=".py") as f:
            f.write(script)
            f.flush()
            done = subprocess.run([sys.executable, f.name, str(RUNNER.parent)], capture_output=True, text=True, timeout=60)
        told = [line for line in done.stdout.splitlines() if not line.startswith("#")]
        self.assertEqual(told, ["1..3", "not ok 1 - Case.test_a", "not ok 2 - Case.test_b", "ok 3 - Case.test_c"])
        for words in ("(part=1)", "(part=2)", "ValueError: gone", "AssertionError: too"):
            self.assertIn(words, done.stdout)
        self.assertEqual(done.returncode, 1)


class Skips(unittest.TestCase):
    def test_tap(self) -> None:
        lines, code = run_program("echo 1..2; echo 'ok 1 - a'; echo 'ok 2 - b # SKIP no such module'")
        self.assertEqual((lines[-1], code), ("1 passed, 0 failed, 1 skipped", 0))
        self.assertIn("    skipped: b: no such module", lines)

    def test_cmocka(self) -> None:
        """Its form is "not ok 2 # SKIP name", and the reason stands in a line before."""
        lines, code = run_program("echo 1..2; echo 'ok 1 - a'; echo '# skip: no Go'; echo 'not ok 2 # SKIP b'")
        self.assertEqual((lines[-1], code), ("1 passed, 0 failed, 1 skipped", 0))
        self.assertIn("    skipped: b: no Go", lines)

    def test_without_a_reason(self) -> None:
        lines, _ = run_program("echo 1..2; echo 'ok 1 - a'; echo 'not ok 2 # SKIP b'")
        self.assertIn("    skipped: b: no reason given", lines)

    def test_whole_program(self) -> None:
        lines, _ = run_program("echo '1..0 # SKIP no network here'")
        self.assertEqual(lines[-1], "0 passed, 0 failed, 1 skipped")
        self.assertIn("    skipped: all: no network here", lines)


class Surroundings(unittest.TestCase):
    def test_the_callers_cluster_is_out_of_reach(self) -> None:
        script = """
            echo 1..4
            [ -z "$KUBECONFIG$KUBERNETES_SERVICE_HOST" ] && echo 'ok 1 - env'
            [ "$HOME" != /home/caller ] && [ -z "$(ls -A "$HOME")" ] && echo 'ok 2 - home'
            case $SLIPWAY in */slipway) echo 'ok 3 - program' ;; esac
            [ "$LC_ALL $TZ" = 'C.UTF-8 UTC' ] && echo 'ok 4 - locale'
        """
        lines, code = run_program(script, env={"KUBECONFIG": "/x", "KUBERNETES_SERVICE_HOST": "h", "HOME": "/home/caller",
                                               "LC_ALL": "C", "TZ": "Asia/Tokyo"})
        self.assertEqual((lines[-1], code), ("4 passed, 0 failed", 0), "\n".join(lines))

    def test_left_over_processes_are_ended(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            alive = Path(directory, "pid")
            lines, _ = run_program(f"sleep 600 >/dev/null 2>&1 & echo $! > {alive}; echo 1..1; echo 'ok 1 - a'")
            self.assertEqual(lines[-1], "1 passed, 0 failed")
            pid = int(alive.read_text())
            deadline = time.monotonic() + 30
            while running(pid) and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertFalse(running(pid))


def running(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


if __name__ == "__main__":
    tap.main()
