"""Runs the real program for the tests of this directory, in pipes and on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("BUILD", TOP / "build")).resolve()
SLIPWAY = os.environ.get("SLIPWAY", str(BUILD / "slipway"))
LIMIT = 60  # seconds after which something hangs; a call takes milliseconds, sanitizers and a busy machine included


@dataclass
class Result:
    out: str
    err: str
    code: int


def environment(**more: str | None) -> dict[str, str]:
    """The caller's environment without what the program looks at, and with `more`; None removes."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("SLIPWAY_") and k not in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "PAGER", "LESS",
                                                        "KUBECONFIG", "CI")}
    env |= {"TERM": "xterm", "LC_ALL": "C.UTF-8"}
    for key, value in more.items():
        if value is None:
            env.pop(key, None)
        else:
            env[key] = value
    return env


def run(*args: str, program: str = SLIPWAY, stdin: str | None = None, **env: str | None) -> Result:
    done = subprocess.run([program, *args], input=stdin, stdin=subprocess.DEVNULL if stdin is None else None,
                          capture_output=True, text=True, timeout=LIMIT, env=environment(**env))
    return Result(done.stdout, done.stderr, done.returncode)


class Terminal:
    """A program on a terminal of its own: `with Terminal("slipway", "help") as t`.  Nothing waits longer than LIMIT."""

    def __init__(self, *command: str, rows: int = 24, columns: int = 80, stdout: int | None = None, **env: str | None) -> None:
        self.deadline = time.monotonic() + LIMIT
        self.text = ""
        self.code: int | None = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                # Whoever started the tests in the background had these ignored.
                for number in (signal.SIGINT, signal.SIGQUIT):
                    signal.signal(number, signal.SIG_DFL)
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                if stdout is not None:
                    os.dup2(stdout, 1)
                os.execvpe(command[0], command, environment(**env))
            finally:
                os._exit(127)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def send(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def read_some(self) -> bool:
        """Waits for more text; False at its end."""
        if not select.select([self.fd], [], [], max(self.deadline - time.monotonic(), 0))[0]:
            raise TimeoutError(f"nothing more came after {self.text!r}")
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # the other side was closed
            return False
        self.text += data.decode("utf-8", "replace")
        return bool(data)

    def expect(self, piece: str) -> str:
        """Reads until `piece` was shown; returns what came before it, and forgets both."""
        while piece not in self.text:
            if not self.read_some():
                raise EOFError(f"{piece!r} never came, but {self.text!r}")
        before, self.text = self.text.split(piece, 1)
        return before

    def finish(self) -> Result:
        """Reads to the end; standard output and error are one here."""
        while self.read_some():
            pass
        status = os.waitpid(self.pid, 0)[1]
        self.code = os.waitstatus_to_exitcode(status)
        return Result(self.text.replace("\r\n", "\n"), "", self.code)


def on_terminal(*args: str, rows: int = 24, columns: int = 80, **env: str | None) -> Result:
    with Terminal(SLIPWAY, *args, rows=rows, columns=columns, **env) as t:
        return t.finish()
