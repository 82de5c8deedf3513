"""What a drain shows: on a terminal (resized, interrupted, suspended), in lines, as events.

The screen is judged by a small terminal of our own, which breaks and joins lines when its width changes as today's
terminals do.  Nothing here sleeps: each step waits until the screen shows what it should."""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import LIMIT, SLIPWAY, TOP, Result, Terminal, environment, run  # noqa: E402
from simulation import Sim, until  # noqa: E402

SHOW, HIDE = "\x1b[?25h", "\x1b[?25l"
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (info|warn|error) \S+ \S+ \S.*")
HEADING = re.compile(r"^Draining \d+ of \d+ ", re.M)


class Screen:
    """Rows of text, the cursor, and what has scrolled off the top."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.lines: list[tuple[str, bool]] = [("", False)]  # text, and whether it goes on in the next one; all, from the start
        self.row = self.column = 0
        self.hidden = False
        self.styles: set[str] = set()
        self.rest = ""

    def feed(self, text: str) -> None:
        text = self.rest + text
        self.rest = ""
        while text:
            if text[0] == "\x1b":
                m = re.match(r"\x1b\[(\??)(\d*)([A-Za-z])", text)
                if not m:  # the rest of it has not come yet
                    assert len(text) < 12, f"no sequence of ours: {text!r}"
                    self.rest = text
                    return
                self.escape(*m.groups())
                text = text[m.end():]
            else:
                self.put(text[0])
                text = text[1:]

    def put(self, c: str) -> None:
        if c == "\r":
            self.column = 0
        elif c == "\n":
            self.down(False)
        else:
            assert c.isprintable(), f"{c!r} reached the terminal"
            if self.column == self.columns:
                self.down(True)
                self.column = 0
            text, more = self.lines[self.row]
            self.lines[self.row] = (text.ljust(self.column)[:self.column] + c + text[self.column + 1:], more)
            self.column += 1

    def down(self, wraps: bool) -> None:
        self.lines[self.row] = (self.lines[self.row][0], wraps)
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append(("", False))

    def escape(self, private: str, number: str, final: str) -> None:
        if private:
            assert number == "25" and final in "lh", (private, number, final)
            self.hidden = final == "l"
        elif final == "A":
            top = max(len(self.lines) - self.rows, 0)
            self.row = max(self.row - int(number or 1), top)
        elif final == "K":
            self.erase(self.row, self.column)
        elif final == "J":
            self.erase(self.row, self.column)
            del self.lines[self.row + 1:]
        else:
            assert final == "m", (number, final)
            self.styles.add(number)

    def erase(self, row: int, column: int) -> None:
        self.lines[row] = (self.lines[row][0][:column], False)

    def resize(self, rows: int, columns: int) -> None:
        """The cursor is at the beginning of a line whenever nothing is being drawn."""
        whole, place = [""], 0
        for i, (text, more) in enumerate(self.lines):
            if i == self.row:
                place = len(whole) - 1
            whole[-1] += text
            if not more:
                whole.append("")
        self.lines, self.rows, self.columns = [], rows, columns
        for i, text in enumerate(whole[:-1]):
            pieces = [text[k:k + columns] for k in range(0, len(text), columns)] or [""]
            if i == place:
                self.row, self.column = len(self.lines), 0
            self.lines += [(piece, piece is not pieces[-1]) for piece in pieces]

    @property
    def text(self) -> str:
        joined = "".join(text + ("" if more else "\n") for text, more in self.lines)
        return "\n".join(line.rstrip() for line in joined.split("\n")).rstrip("\n") + "\n"


class Drain(Terminal):
    """`slipway drain` on a terminal with such a screen; `before`: what it is an argument of."""

    def __init__(self, sim: Sim, *args: str, rows: int = 24, columns: int = 80, before: tuple[str, ...] = (), **more: object) -> None:
        self.screen = Screen(rows, columns)
        self.fed = 0
        super().__init__(*before, SLIPWAY, "drain", *args, rows=rows, columns=columns, KUBECONFIG=str(sim.kubeconfig), **more)

    def read_some(self) -> bool:
        more = super().read_some()
        self.screen.feed(self.text[self.fed:])
        self.fed = len(self.text)
        return more

    def until(self, check: Callable[[str], object], what: str) -> str:
        """Reads until the screen is as it should be."""
        while not check(self.screen.text):
            if not self.read_some():
                raise EOFError(f"{what} never came; the screen is\n{self.screen.text}")
        return self.screen.text

    def see(self, *pieces: str) -> str:
        return self.until(lambda text: all(piece in text for piece in pieces), str(pieces))

    def resize(self, rows: int, columns: int) -> None:
        """While it writes nothing: what is under way would be for the old size."""
        os.kill(self.pid, signal.SIGSTOP)
        self.stopped()
        while select.select([self.fd], [], [], 0)[0]:
            self.read_some()
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.pid, signal.SIGCONT)

    def interrupt(self) -> None:
        """Ctrl-C while nothing is on its way: a terminal throws away what it has not shown yet."""
        os.kill(self.pid, signal.SIGSTOP)
        self.stopped()
        while select.select([self.fd], [], [], 0)[0]:
            self.read_some()
        self.send("\x03")
        os.kill(self.pid, signal.SIGCONT)

    def stopped(self) -> None:
        """Waits until the process is suspended; reads what it has written by then."""
        _, status = os.waitpid(self.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            self.code = os.waitstatus_to_exitcode(status)
            raise AssertionError(f"it ended with {self.code}")


class OnTerminal(unittest.TestCase):
    def test_done(self) -> None:
        """kubectl's lines and the nodes that are done stay; the block does not."""
        with Sim("--nodes", "5", "--scenario", "happy", "--speed", "50") as sim, Drain(sim, "w[1-3]", rows=60) as t:
            result = t.finish()
            text = t.screen.text
        self.assertEqual(result.code, 0, text)
        self.assertFalse(t.screen.hidden)
        self.assertIn(HIDE, result.out)
        self.assertIsNone(HEADING.search(text), text)
        for node in ("w1", "w2", "w3"):
            self.assertEqual(text.count(f"node/{node} cordoned\n"), 1, text)
            self.assertEqual(text.count(f"node/{node} drained\n"), 1, text)
        self.assertRegex(text, r"\nDrained 3 nodes in \d+s: \d+ pods evicted\n")
        self.assertIn(" \u2713 w[1-3]  drained in ", text)
        self.assertTrue(text.endswith("\nTo put the nodes back into service:  slipway uncordon 'w[1-3]'\n"), text)

    def test_blocked_and_interrupted(self) -> None:
        """The reason with its code, in one block; Ctrl-C ends with a summary."""
        with Sim("--scenario", "pdb-stuck") as sim, Drain(sim, "w1", columns=120) as t:
            text = t.see("BLOCKED", "PDBUnsatisfiable shop/web", " \u2192 raise the replicas")
            self.assertEqual(len(HEADING.findall(text)), 1, text)
            self.assertTrue(t.screen.hidden)
            t.interrupt()
            result = t.finish()
            text = t.screen.text
        self.assertEqual(result.code, 130, text)
        self.assertFalse(t.screen.hidden)
        self.assertIsNone(HEADING.search(text), text)
        self.assertIn("Drained 0 of 1 node in ", text)
        self.assertRegex(text, r"\n     shop/web-\S+: PDBUnsatisfiable shop/web: .*, for \d+s")
        self.assertIn("slipway uncordon w1\n", text)

    def test_interrupted_twice(self) -> None:
        """The server does not answer any more: the second Ctrl-C does not wait for it."""
        with Sim("--scenario", "pdb-stuck") as sim, Drain(sim, "w1", columns=120) as t:
            t.see("BLOCKED", "PDBUnsatisfiable")
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

    def test_resized(self) -> None:
        """A narrower terminal breaks the lines of the block; nothing of it stays behind."""
        with Sim("--scenario", "pdb-stuck") as sim, Drain(sim, "w1", rows=40, columns=160) as t:
            t.see("BLOCKED", "PDBUnsatisfiable shop/web", " \u2192 raise the replicas")
            for columns in (50, 120, 30, 80):
                before = len(t.text)
                t.resize(40, columns)
                # Drawn for this width: no line was broken, and there is one block.
                text = t.until(lambda text: len(t.text) > before and (block := HEADING.split(text)) and len(block) == 2
                               and all(len(line) < columns for line in block[1].splitlines())
                               and "BLOCKED" in block[1] and not any(more for _, more in t.screen.lines[-8:]),
                               f"a block for {columns} columns")
                self.assertEqual(text.count("node/w1 cordoned"), 1, repr(t.text))
            t.interrupt()
            t.finish()
        self.assertEqual(t.screen.text.count("node/w1 cordoned"), 1, t.screen.text + repr(t.text))
        self.assertIsNone(HEADING.search(t.screen.text), t.screen.text)

    def test_few_rows(self) -> None:
        """What has scrolled off cannot be taken back, but the block is never higher than the screen."""
        with Sim("--scenario", "pdb-stuck") as sim, Drain(sim, "w1", rows=40) as t:
            t.see("BLOCKED", " \u2192 raise the replicas")
            t.resize(7, 80)
            t.see("2 more blockers")
            self.assertEqual(len(HEADING.split(t.screen.text)[-1].splitlines()), 2)
            t.interrupt()
            self.assertEqual(t.finish().code, 130)

    def test_suspended(self) -> None:
        """Ctrl-Z: the block goes and the cursor comes back; fg draws it again."""
        with Sim("--scenario", "pdb-stuck") as sim, Drain(sim, "w1") as t:
            t.see("BLOCKED")
            os.kill(t.pid, signal.SIGTSTP)  # as Ctrl-Z, which also throws away what is not shown yet
            t.stopped()
            t.until(lambda text: not HEADING.search(text), "an empty screen")
            self.assertFalse(t.screen.hidden)
            self.assertIn("node/w1 cordoned", t.screen.text, repr(t.text))
            os.kill(t.pid, signal.SIGCONT)
            t.see("BLOCKED")
            self.assertTrue(t.screen.hidden)
            self.assertEqual(len(HEADING.findall(t.screen.text)), 1)
            os.kill(t.pid, signal.SIGTERM)
            self.assertEqual(t.finish().code, 143)
        self.assertFalse(t.screen.hidden)

    def test_in_the_background(self) -> None:
        """Somebody has a prompt there: lines come as from any job, nothing goes back over what is typed, and nothing stops it."""
        with Sim("--nodes", "5", "--scenario", "happy", "--speed", "50") as sim, \
                Drain(sim, "w[1-2]", rows=60, before=("bash", "--norc", "-ic", '"$0" "$@" & wait $!')) as t:
            result = t.finish()
        self.assertEqual(result.code, 0, result.out)
        self.assertNotIn(HIDE, result.out)
        self.assertNotRegex(result.out, "\x1b\\[\\d*[AJK]")
        for line in ("node/w1 cordoned\n", "node/w2 drained\n", "Drained 2 nodes in "):
            self.assertEqual(result.out.count(line), 1, result.out)

    def test_enter(self) -> None:
        """Somebody looks whether it is alive: nothing of the block stays behind, and no line above it is lost."""
        with Sim("--scenario", "pdb-stuck") as sim, Drain(sim, "w1", rows=40) as t:
            t.see("BLOCKED")
            for _ in range(4):
                t.send("\n")
                before = len(t.text)
                t.until(lambda _: "Draining " in t.text[before:], "another drawing")
            t.until(lambda text: len(HEADING.findall(text)) == 1 and "BLOCKED" in text, "one block")
            self.assertEqual(t.screen.text.count("node/w1 cordoned"), 1, t.screen.text)
            t.interrupt()  # an Enter right before it is echoed and then thrown away by the terminal: nobody can know of it
            self.assertEqual(t.finish().code, 130)
        self.assertIsNone(HEADING.search(t.screen.text), t.screen.text)
        self.assertEqual(t.screen.text.count("node/w1 cordoned"), 1, t.screen.text)

    def test_styles(self) -> None:
        """Colour only where it is wanted, and only the few codes that any theme can cope with."""
        allowed = {"0", "1", "2"} | {str(n) for n in range(31, 37)}
        with Sim("--scenario", "pdb-stuck") as sim:
            for env, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"LC_ALL": "C"}, True)):
                with Drain(sim, "w1", **env) as t:
                    text = t.see("BLOCKED", "PDBUnsatisfiable")
                    self.assertEqual(bool(t.screen.styles), coloured)
                    self.assertLessEqual(t.screen.styles, allowed)
                    if "LC_ALL" in env:
                        self.assertTrue(text.isascii(), text)
                    t.interrupt()
                    self.assertEqual(t.finish().code, 130)
                    self.assertLessEqual(t.screen.styles, allowed)

    def test_output_elsewhere(self) -> None:
        """Standard output is a file, and gets kubectl's lines and no more."""
        with Sim("--nodes", "3", "--scenario", "happy", "--speed", "50") as sim, tempfile.TemporaryFile() as f, \
                Drain(sim, "w1", stdout=f.fileno()) as t:
            self.assertEqual(t.finish().code, 0)
            f.seek(0)
            out = f.read().decode()
        self.assertNotIn("\x1b", out)
        self.assertTrue(out.startswith("node/w1 cordoned\n"), out)
        self.assertTrue(out.endswith("node/w1 drained\n"), out)
        self.assertNotIn("node/w1", t.screen.text)
        self.assertIn("Drained 1 node in ", t.screen.text)


    def test_no_block(self) -> None:
        """Where nobody looks at the terminal, or it cannot do it, or it is not wanted."""
        for args, env in (([], {"CI": "true"}), ([], {"TERM": "dumb"}), (["--progress=plain"], {})):
            with self.subTest(args=args, **env), Sim("--nodes", "3", "--scenario", "happy", "--speed", "50") as sim, \
                    Drain(sim, "w1", *args, **env) as t:
                result = t.finish()
                self.assertEqual(result.code, 0, result.out)
                self.assertNotIn(HIDE, result.out)
                self.assertIn(" info w1 cordoning cordoned\n", result.out)


def blocked(*args: str) -> Result:
    """A drain of a node that cannot be drained, until its time is over; with more time where that was too little to see why."""
    for seconds in (3, 10, 40):
        with Sim("--scenario", "pdb-stuck") as sim:
            result = run("drain", "w1", *args, f"--timeout={seconds}s", KUBECONFIG=str(sim.kubeconfig))
        if "PDBUnsatisfiable" in result.out + result.err:
            break
    return result


class Unread(unittest.TestCase):
    """Nobody reads what it writes: a paused pager, Ctrl-S, a connection that hangs."""

    def stalled(self, reader: int) -> None:
        """Waits until the pipe is as full as it gets: what does not fit as a whole is not begun."""
        full, same, deadline = 0, 0, time.monotonic() + LIMIT
        while same < 40 and time.monotonic() < deadline:
            time.sleep(0.05)
            now = struct.unpack("i", fcntl.ioctl(reader, termios.FIONREAD, b"    "))[0]
            same = same + 1 if now == full and now else 0
            full = now
        self.assertGreater(full, 0, "it has written nothing")

    @staticmethod
    def taken(pid: int) -> None:
        """Waits until no signal waits for the process, if that is still there."""
        def none() -> bool:
            try:
                status = Path(f"/proc/{pid}/status").read_text()
            except OSError:
                return True
            pending = [int(mask, 16) for mask in re.findall(r"^(?:Sig|Shd)Pnd:\t(\w+)$", status, re.M)]
            return "\nState:\tZ" in status or not any(mask >> (signal.SIGINT - 1) & 1 for mask in pending)
        until(none, "the process to take the signal")

    def test_interrupts(self) -> None:
        """The first one makes it give up writing and end; two end it in any case."""
        for signals in (1, 2):
            with self.subTest(signals=signals), Sim("--nodes", "40", "--scenario", "happy") as sim:
                reader, writer = os.pipe()
                fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
                with subprocess.Popen([SLIPWAY, "drain", "w[1-40]", "--json", "--timeout=600s"], stdout=writer,
                                      stderr=subprocess.DEVNULL, env=environment(KUBECONFIG=str(sim.kubeconfig))) as drain:
                    os.close(writer)
                    try:
                        self.stalled(reader)
                        for _ in range(signals):
                            drain.send_signal(signal.SIGINT)
                            self.taken(drain.pid)  # two that come together are one
                        code = drain.wait(timeout=LIMIT)
                    finally:
                        drain.kill()
                        os.close(reader)
                self.assertNotEqual(code, 0)
                if signals == 2:
                    self.assertEqual(code, -signal.SIGINT)


class InPipes(unittest.TestCase):
    def drain(self, sim: Sim, *args: str, **env: str) -> Result:
        return run("drain", *args, KUBECONFIG=str(sim.kubeconfig), **env)

    def test_plain(self) -> None:
        result = blocked("--progress=plain")
        self.assertEqual(result.code, 3, result.err)
        self.assertNotIn("\x1b", result.err)
        lines, summary = result.err.split("Drained 0 of 1 node in ")
        for line in lines.splitlines():
            self.assertTrue(LINE.fullmatch(line), line)
            self.assertEqual(line, line.rstrip())
        self.assertIn(" info w1 cordoning cordoned\n", lines)
        # Each blocker once, however often it was tried.
        told = re.findall(r" warn w1 draining blocked: PDBUnsatisfiable (\S+): ", lines)
        self.assertIn("shop/web", told)
        self.assertEqual(len(told), len(set(told)), lines)
        self.assertNotIn("evicting pod", lines)
        self.assertRegex(lines, r" error w1 blocked .*\n$")
        self.assertIn("PDBUnsatisfiable shop/web", summary)

    def test_details(self) -> None:
        with Sim("--nodes", "3", "--scenario", "happy", "--speed", "50") as sim:
            result = self.drain(sim, "w1", "--progress=plain", "-v")
        self.assertEqual(result.code, 0, result.err)
        pods = re.findall(r" info w1 draining evicting pod (\S+)\n", result.err)
        self.assertTrue(pods)
        self.assertEqual(sorted(pods), sorted(re.findall(r" info w1 draining pod (\S+) is gone after ", result.err)))

    def test_quiet(self) -> None:
        with Sim("--nodes", "3", "--scenario", "happy", "--speed", "50") as sim:
            result = self.drain(sim, "w1", "--progress=quiet")
            self.assertEqual((result.code, result.err), (0, ""))
            self.assertIn("node/w1 drained\n", result.out)
            result = self.drain(sim, "w9", "--progress=quiet")
        self.assertNotEqual(result.code, 0)
        self.assertRegex(result.err, r"^[Ee]rror[: ].*w9.*\n$")

    def test_wrong_word(self) -> None:
        result = run("drain", "w1", "--progress=loud")
        self.assertEqual(result.code, 64)
        for word in ("auto", "tty", "plain", "json", "quiet"):
            self.assertIn(word, result.err)


class Events(unittest.TestCase):
    """The stream is what docs/events-stream.md says."""

    page = (TOP / "docs" / "events-stream.md").read_text()

    def check(self, result: Result) -> list[dict]:
        lines = [json.loads(line) for line in result.out.splitlines()]
        self.assertEqual([line["seq"] for line in lines], list(range(1, len(lines) + 1)))
        self.assertEqual(len({line["run"] for line in lines}), 1)
        self.assertEqual(lines[0]["type"], "hello")
        self.assertEqual(lines[0]["schema"], "slipway.events/1.0")
        self.assertEqual([line["type"] for line in lines if line["type"] in ("hello", "summary")], ["hello", "summary"])
        self.assertEqual(lines[-1]["type"], "summary")
        self.assertEqual(lines[-1]["exit"], result.code)
        for line in lines:
            self.known(line)
        return lines

    def known(self, value: object) -> None:
        """Every member, type, event and phase is on the page."""
        if isinstance(value, list):
            for item in value:
                self.known(item)
        if not isinstance(value, dict):
            return
        for key, item in value.items():
            self.assertIn(f"`{key}`", self.page)
            if key in ("type", "event", "phase", "prev", "result", "severity", "clears", "level"):
                self.assertIn(f"`{item}`", self.page)
            self.known(item)

    def test_done(self) -> None:
        with Sim("--nodes", "5", "--scenario", "happy", "--speed", "50") as sim:
            result = run("drain", "w[1-2]", "--json", KUBECONFIG=str(sim.kubeconfig))
        lines = self.check(result)
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertEqual([e["node"] for e in lines if e.get("event") == "state"], ["w1", "w2"])
        for node in ("w1", "w2"):
            phases = [(e["prev"], e["phase"]) for e in lines if e.get("event") == "phase" and e["node"] == node]
            # Each begins where the one before ended.
            self.assertEqual([p[0] for p in phases], ["waiting"] + [p[1] for p in phases[:-1]])
            self.assertEqual(phases[-1][1], "drained")
            gone = {e["pod"]["uid"] for e in lines if e.get("event") == "gone" and e["node"] == node}
            self.assertEqual(gone, {e["pod"]["uid"] for e in lines if e.get("event") == "evicting" and e["node"] == node})
        summary = lines[-1]
        self.assertEqual(summary["phases"], {"drained": {"count": 2, "nodes": "w[1-2]"}})
        self.assertEqual((summary["result"], summary["remaining"], summary["errors"]), ("done", [], []))
        self.assertEqual(summary["pods"]["evicted"], len([e for e in lines if e.get("event") == "gone"]))

    def test_blocked(self) -> None:
        result = blocked("--progress=json")
        lines = self.check(result)
        self.assertEqual(result.code, 3)
        began = next(e for e in lines if e.get("event") == "began" and e["code"] == "PDBUnsatisfiable")
        self.assertEqual((began["object"]["kind"], began["object"]["ns"]), ("PodDisruptionBudget", "shop"))
        self.assertEqual((began["severity"], began["clears"]), ("error", "operator"))
        left = {r["pod"]["name"]: r for r in lines[-1]["remaining"]}
        self.assertTrue(any(r["blocker"]["code"] == "PDBUnsatisfiable" for r in left.values()))
        self.assertEqual([e["phase"] for e in lines[-1]["errors"]], ["blocked"])

    def test_interrupted(self) -> None:
        with Sim("--scenario", "pdb-stuck") as sim:
            with subprocess.Popen([SLIPWAY, "drain", "w1", "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True,
                                  env=environment(KUBECONFIG=str(sim.kubeconfig))) as process:
                late = threading.Timer(LIMIT, process.kill)
                late.start()
                out, told = "", False
                for line in process.stdout:
                    out += line
                    if '"began"' in line and not told:
                        process.send_signal(signal.SIGINT)
                        told = True
                err = process.stderr.read()
                late.cancel()
        lines = self.check(Result(out, err, process.returncode))
        self.assertEqual(process.returncode, 130)
        self.assertEqual(list(lines[-1]["phases"]), ["stopped"])


if __name__ == "__main__":
    tap.main()
