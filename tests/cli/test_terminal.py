"""Terminals, pipes, and outputs that fail."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import LIMIT, SLIPWAY, Terminal, environment, on_terminal, run  # noqa: E402
from simulation import Sim  # noqa: E402

RED = "\x1b[31merror\x1b[0m: unknown verb"
PLAIN = "error: unknown verb"


class Colour(unittest.TestCase):
    def colour(self, on: bool, text: str) -> None:
        self.assertIn(RED if on else PLAIN, text)
        if not on:
            self.assertNotIn("\x1b", text)

    def test_terminal(self) -> None:
        self.colour(True, on_terminal("nonsense").out)

    def test_pipe(self) -> None:
        self.colour(False, run("nonsense").err)

    def test_no_color(self) -> None:
        self.colour(False, on_terminal("nonsense", NO_COLOR="1").out)
        self.colour(True, on_terminal("nonsense", NO_COLOR="").out)

    def test_dumb(self) -> None:
        self.colour(False, on_terminal("nonsense", TERM="dumb").out)

    def test_forced(self) -> None:
        self.colour(True, run("nonsense", FORCE_COLOR="1").err)
        self.colour(True, run("nonsense", CLICOLOR_FORCE="1").err)
        self.colour(False, run("nonsense", FORCE_COLOR="1", NO_COLOR="1").err)
        self.colour(True, run("nonsense", SLIPWAY_FORCE_TTY="1").err)

    def test_flag_and_variable(self) -> None:
        bad = ("completion", "nonsense")
        self.assertIn("\x1b[31m", run(*bad, "--color=always", NO_COLOR="1").err)
        self.assertNotIn("\x1b", on_terminal(*bad, "--color=never", FORCE_COLOR="1").out)
        self.colour(True, run("nonsense", SLIPWAY_COLOR="always", NO_COLOR="1").err)
        self.colour(False, on_terminal("nonsense", SLIPWAY_COLOR="never").out)
        self.assertIn("\x1b[31m", run(*bad, "--color=always", SLIPWAY_COLOR="never").err)

    def test_streams_apart(self) -> None:
        """Standard output is a file; standard error is still a terminal."""
        with tempfile.TemporaryFile() as f, Terminal(SLIPWAY, "nonsense", stdout=f.fileno()) as t:
            self.colour(True, t.finish().out)


class Pager(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.log = Path(directory.name, "log")
        self.pager = Path(directory.name, "pager")
        self.pager.write_text(f'#!/bin/sh\necho "LESS=$LESS" >{self.log}\nexec cat\n')
        self.pager.chmod(0o755)

    def paged(self, *args: str, **more: object) -> tuple[str, bool]:
        self.log.unlink(missing_ok=True)
        result = on_terminal(*args, **{"PAGER": str(self.pager), **more})
        self.assertEqual(result.code, 0)
        return result.out, self.log.exists()

    def test_long_output(self) -> None:
        text, paged = self.paged("help", "environment", rows=10)
        self.assertTrue(paged)
        self.assertEqual(text, run("help", "environment").out)
        self.assertEqual(self.log.read_text(), "LESS=FRX\n")

    def test_users_options_stay(self) -> None:
        self.paged("help", "environment", rows=10, LESS="S")
        self.assertEqual(self.log.read_text(), "LESS=S\n")

    def test_short_output(self) -> None:
        text, paged = self.paged("help", "environment", rows=200)
        self.assertFalse(paged)
        self.assertEqual(text, run("help", "environment").out)
        self.assertFalse(self.paged("version", "--client", rows=10)[1])

    def test_no_pager(self) -> None:
        for none in ("", "cat"):
            text, _ = self.paged("help", "environment", rows=10, PAGER=none)
            self.assertEqual(text, run("help", "environment").out)
        self.assertFalse(self.paged("help", "environment", rows=10, SLIPWAY_PAGER="")[1])
        self.assertTrue(self.paged("help", "environment", rows=10, SLIPWAY_PAGER=str(self.pager), PAGER="")[1])

    def test_missing_pager(self) -> None:
        text, _ = self.paged("help", "environment", rows=10, PAGER="/nonexistent/pager")
        self.assertTrue(text.endswith(run("help", "environment").out))

    def test_not_in_a_pipe(self) -> None:
        self.log.unlink(missing_ok=True)
        self.assertEqual(run("help", "environment", PAGER=str(self.pager), SLIPWAY_FORCE_TTY="1").code, 0)
        self.assertFalse(self.log.exists())

    def test_pager_that_leaves_early(self) -> None:
        self.assertEqual(on_terminal("help", "environment", rows=10, PAGER="exec true").code, 0)


class Narrow(unittest.TestCase):
    """Nothing is wider than the terminal, but for a single word that is."""

    def narrow(self, columns: int, *args: str, **env: str | None) -> str:
        done = on_terminal(*args, columns=columns, NO_COLOR="1", PAGER="cat", LC_ALL="C.UTF-8", **env)
        self.assertTrue(done.out.strip(), done)
        for line in done.out.splitlines():
            self.assertTrue(len(line) <= columns or len(line.strip()) > columns and " " not in line.strip(), (args, columns, line))
            self.assertEqual(line, line.rstrip())
        return done.out

    def test_explain(self) -> None:
        for columns in (40, 60):
            text = self.narrow(columns, "explain")
            self.assertIn("MultiplePDBs", text)
            for code in ("PDBUnsatisfiable", "DoNotDisrupt"):
                self.narrow(columns, "explain", code)

    def test_of_a_cluster(self) -> None:
        with Sim("--scenario", "pdb-stuck") as sim:
            for columns in (40, 60):
                for args in (("why", "w1"), ("doctor",), ("doctor", "--pdbs", "--all"), ("checks",), ("checks", "-o", "wide"), ("status",),
                             ("status", "--details=health"), ("status", "--details=all")):
                    with self.subTest(args=args, columns=columns):
                        self.narrow(columns, *args, KUBECONFIG=str(sim.kubeconfig))

    def test_commands_stay_whole(self) -> None:
        """What is broken at a backslash is the command that is printed elsewhere."""
        with Sim("--scenario", "pdb-stuck") as sim:
            piped = run("doctor", "--pdbs", KUBECONFIG=str(sim.kubeconfig)).out
            shown = self.narrow(40, "doctor", "--pdbs", KUBECONFIG=str(sim.kubeconfig))
        commands = {line.strip() for line in piped.splitlines() if line.startswith("        kubectl ")}
        self.assertTrue(commands)
        joined = re.sub(r" \\\n *", " ", shown)
        self.assertEqual(commands, {line.strip() for line in joined.splitlines() if line.startswith("        kubectl ")})


class LostOutput(unittest.TestCase):
    def direct(self, command: str, **more: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=LIMIT,
                              env=environment(SLIPWAY_BINARY=SLIPWAY), **more)

    def test_full_disk(self) -> None:
        for args in ("version --client", "help", "completion bash"):
            done = self.direct(f'"$SLIPWAY_BINARY" {args} >/dev/full')
            self.assertEqual(done.stderr, "error: cannot write to standard output: No space left on device\n")
            self.assertEqual(done.returncode, 1)

    def test_an_answer_that_is_lost_is_none(self) -> None:
        with Sim("--scenario", "pdb-stuck") as sim:
            config = f"KUBECONFIG={sim.kubeconfig}"
            node = sim.client.get("/api/v1/pods")["items"][0]["spec"]["nodeName"]
            for args in (f"why {node}", f"rehearse {node}", f"plan {node} --detailed-exitcode", "doctor --pdbs --detailed-exitcode"):
                self.assertEqual(self.direct(f'{config} "$SLIPWAY_BINARY" {args}').returncode, 3, args)
                done = self.direct(f'{config} "$SLIPWAY_BINARY" {args} >/dev/full')
                self.assertEqual(done.returncode, 1, (args, done))
                self.assertIn("error: cannot write to standard output: No space left on device\n", done.stderr)

    def test_closed(self) -> None:
        done = self.direct('"$SLIPWAY_BINARY" version --client >&-')
        self.assertEqual((done.returncode, done.stderr), (1, "error: cannot write to standard output: Bad file descriptor\n"))

    def test_all_closed(self) -> None:
        done = self.direct('"$SLIPWAY_BINARY" version --client <&- >&- 2>&-')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", ""))
        self.assertEqual(self.direct('"$SLIPWAY_BINARY" nonsense 2>&-').returncode, 64)

    def test_mistakes_keep_their_code(self) -> None:
        done = self.direct('"$SLIPWAY_BINARY" nonsense >/dev/full')
        self.assertEqual(done.returncode, 64)
        self.assertNotIn("cannot write", done.stderr)
        self.assertEqual(self.direct('"$SLIPWAY_BINARY" nonsense 2>/dev/full').returncode, 64)

    def test_reader_gone(self) -> None:
        """Quiet, and what a shell shows for SIGPIPE, but without a signal."""
        for disposition in (signal.SIG_DFL, signal.SIG_IGN):
            read, write = os.pipe()
            os.close(read)
            done = subprocess.run([SLIPWAY, "help"], stdout=write, stderr=subprocess.PIPE, text=True, timeout=LIMIT,
                                  env=environment(), preexec_fn=lambda d=disposition: signal.signal(signal.SIGPIPE, d))
            os.close(write)
            self.assertEqual((done.returncode, done.stderr), (141, ""))

    def test_nothing_said_nothing_lost(self) -> None:
        """A directory for the pages that cannot be written is named."""
        done = run("__man", "/nonexistent/directory")
        self.assertEqual((done.code, done.out), (1, ""))
        self.assertEqual(done.err, "error: cannot write /nonexistent/directory/slipway.1: No such file or directory\n")


if __name__ == "__main__":
    tap.main()
