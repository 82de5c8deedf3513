"""Ctrl-C during a drain, once and twice: what is said, what it leaves behind, and a terminal that is slow or not read at all."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import termios
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import LIMIT, SLIPWAY, environment, run  # noqa: E402
from simulation import Sim, until  # noqa: E402
from test_drain_view import HEADING, Drain  # noqa: E402

LAST = re.compile(r"^ended at once: up to (\d+) nodes? (?:is|are) still cordoned; to undo: slipway (uncordon .*)\n\Z", re.M)
LINES = 30  # above the block, as of an earlier command


def cordoned(sim: Sim) -> set[str]:
    return {n["metadata"]["name"] for n in sim.client.get("/api/v1/nodes")["items"] if n["spec"].get("unschedulable")}


def noflsh(fd: int) -> bool:
    return bool(termios.tcgetattr(fd)[3] & termios.NOFLSH)


class Twice(unittest.TestCase):
    def undone(self, sim: Sim, err: str) -> None:
        """The last line names every node that is still cordoned, and its command undoes it."""
        said = LAST.search(err)
        self.assertTrue(said, err)
        before = cordoned(sim)
        self.assertLessEqual(len(before), int(said[1]))
        done = run(*shlex.split(said[2]), KUBECONFIG=str(sim.kubeconfig))
        self.assertEqual((done.code, cordoned(sim)), (0, set()), done.err)

    def test_in_a_pipe(self) -> None:
        with Sim("--nodes", "200", "--scenario", "big") as sim:
            command = [SLIPWAY, "drain", "w[1-200]", "--uncordon-on-abort", "--holder", "canary"]
            with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env=environment(KUBECONFIG=str(sim.kubeconfig))) as process:
                told = 0
                while told < 20:
                    line = process.stdout.readline()
                    self.assertTrue(line, "it ended by itself")
                    told += line.endswith(" cordoned\n")
                sim.process.send_signal(signal.SIGSTOP)  # else it may be done before the second one comes
                try:
                    process.send_signal(signal.SIGINT)
                    self.assertIn("interrupted: ", process.stderr.readline())
                    process.send_signal(signal.SIGINT)
                    _, err = process.communicate(timeout=LIMIT)
                finally:
                    sim.process.send_signal(signal.SIGCONT)
            self.assertEqual(process.returncode, -signal.SIGINT, err)
            self.assertIn("to undo: slipway uncordon --holder canary ", err)
            self.undone(sim, err)

    def test_on_a_terminal(self) -> None:
        """Below the block, which stays; the terminal is as it was."""
        with Sim("--scenario", "pdb-stuck") as sim, Drain(sim, "w1", columns=120) as t:
            self.assertFalse(noflsh(t.fd))
            t.see("BLOCKED", "PDBUnsatisfiable")
            self.assertTrue(noflsh(t.fd))
            sim.process.send_signal(signal.SIGSTOP)
            try:
                t.interrupt()
                t.see("interrupted: ", "stopping")
                t.interrupt()
                result = t.finish()
            finally:
                sim.process.send_signal(signal.SIGCONT)
            self.assertEqual(result.code, -signal.SIGINT, t.screen.text)
            self.assertFalse(t.screen.hidden)
            self.assertTrue(HEADING.search(t.screen.text), t.screen.text)
            self.assertTrue(t.screen.text.endswith("\nended at once: up to 1 node is still cordoned; to undo: slipway uncordon w1\n"),
                            t.screen.text)
            self.undone(sim, t.screen.text)

    def test_before_anything_was_begun(self) -> None:
        """Nothing is cordoned, and there is nothing to say."""
        with Sim("--nodes", "3", "--scenario", "happy") as sim:
            sim.process.send_signal(signal.SIGSTOP)
            try:
                process = subprocess.Popen([SLIPWAY, "drain", "w1"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, text=True, env=environment(KUBECONFIG=str(sim.kubeconfig)))
                self.assertIn("waiting for", process.stderr.readline())
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=LIMIT)
            finally:
                sim.process.send_signal(signal.SIGCONT)
            self.assertEqual((process.returncode, out, err), (-signal.SIGINT, "", ""))

    def test_quit_key(self) -> None:
        """Ctrl-\\ does not wait, either, and leaves a terminal that can be used."""
        with Sim("--scenario", "pdb-stuck") as sim, Drain(sim, "w1", columns=120) as t:
            t.see("BLOCKED", "PDBUnsatisfiable")
            t.send("\x1c")
            result = t.finish()
            self.assertEqual(result.code, -signal.SIGQUIT)
            self.assertFalse(t.screen.hidden)
            self.undone(sim, t.screen.text)


class Slow(unittest.TestCase):
    """A terminal with more on its way than it has shown."""

    def stalled(self, t: Drain) -> None:
        """Reads nothing until the process hangs in a write: it is not even woken up any more."""
        def switches() -> str:
            """Of one that only waits for its turn on a busy machine nothing is the same."""
            status = Path(f"/proc/{t.pid}/status").read_text()
            return str(time.monotonic()) if "\nState:\tR" in status else "".join(re.findall(r"ctxt_switches:\t\d+", status))

        def hangs() -> bool:
            before = switches()
            time.sleep(0.5)  # five drawings
            return switches() == before
        until(hangs, "a full terminal")

    def test_interrupted(self) -> None:
        """The terminal throws nothing away: no line of others is erased, and none of ours is missing."""
        script = f"for i in $(seq 1 {LINES}); do echo \"precious $i\"; done; exec \"$0\" \"$@\""
        with Sim("--nodes", "60", "--scenario", "big") as sim, \
                Drain(sim, "w[1-60]", "--max-unavailable=30", rows=45, columns=200, before=("sh", "-c", script), LC_ALL="C") as t:
            t.see("Draining ")
            self.stalled(t)
            t.send("\x03")
            result = t.finish()
            text = t.screen.text
        self.assertEqual(result.code, 130, text)
        self.assertEqual(re.findall(r"^precious (\d+)$", text, re.M), [str(i) for i in range(1, LINES + 1)], text)
        for i in range(1, 31):
            self.assertLessEqual(text.count(f"node/w{i} cordoned\n"), 1)
        self.assertIsNone(HEADING.search(text), text)
        self.assertFalse(t.screen.hidden)
        self.assertIn("To go on:  slipway drain ", text)

    def test_never_read(self) -> None:
        """Twice, and nobody reads: it ends all the same, and the terminal's settings are as before."""
        with Sim("--nodes", "60", "--scenario", "big") as sim, Drain(sim, "w[1-60]", rows=45, columns=200, LC_ALL="C") as t:
            t.see("Draining ")
            self.stalled(t)

            def ended() -> bool:
                os.kill(t.pid, signal.SIGINT)  # two that come together are one
                pid, status = os.waitpid(t.pid, os.WNOHANG)
                t.code = os.waitstatus_to_exitcode(status) if pid else None
                return bool(pid)
            until(ended, "its end")
            self.assertEqual(t.code, -signal.SIGINT)
            self.assertFalse(noflsh(t.fd))

    def test_typed_before(self) -> None:
        """What was typed before Ctrl-C does not reach the shell, as on any terminal."""
        script = "\"$0\" \"$@\"; echo \"then: $(timeout 1 head -c 1)\""
        with Sim("--scenario", "pdb-stuck") as sim, Drain(sim, "w1", before=("sh", "-c", f"trap : INT; {script}")) as t:
            t.see("BLOCKED")
            t.send("reboot\n")
            t.see("reboot")
            t.send("\x03")
            t.see("To go on:", "then:")
            t.finish()
            self.assertNotIn("then: r", t.screen.text)


if __name__ == "__main__":
    tap.main()
