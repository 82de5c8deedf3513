"""A server process of the cluster: started, stopped, killed, frozen and thawed on demand, and never left behind.

Every process is started through setpriv(1) with a parent-death signal, so that the kernel kills it when the runner
dies in any way.  The signal is tied to the thread that started the process: components are started by the main thread.
"""

from __future__ import annotations

import atexit
import http.client
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Callable

from api import ApiError

ALL: set["Component"] = set()

# Seconds before which nothing that is waited for is given up.  A shorter limit would say how fast the machine is, not what was done;
# and one that is met costs nothing.
PATIENCE = 60


class ClusterError(Exception):
    """A part of the cluster did not do what it should."""


def free_ports(count: int) -> list[int]:
    """Unused loopback ports below the ephemeral range, so that no outgoing connection takes one meanwhile."""
    held, ports = [], []
    while len(ports) < count:
        port = random.SystemRandom().randrange(20000, 32000)
        with_port = socket.socket()
        try:
            with_port.bind(("127.0.0.1", port))
        except OSError:
            with_port.close()
            continue
        held.append(with_port)
        ports.append(port)
    for each in held:
        each.close()
    return ports


def wait_for(check: Callable[[], object], timeout: float, what: str, interval: float = 0.1):
    """Polls check() until it returns something true, and returns that; fails with the last value or error seen.

    timeout: what it takes on a busy machine, if that is more than PATIENCE.
    """
    timeout = max(timeout, PATIENCE)
    deadline = time.monotonic() + timeout
    last: object = None
    while True:
        try:
            last = check()
            if last:
                return last
        except (OSError, http.client.HTTPException, ApiError, AssertionError, ClusterError, ValueError, KeyError, IndexError) as error:
            last = error
        if time.monotonic() >= deadline:
            raise ClusterError(f"waited {timeout:g} s for {what}; last seen: {last!r}")
        time.sleep(interval)


class Component:
    def __init__(self, name: str, argv: list[str | Path], log: Path, ready: Callable[[], object]) -> None:
        self.name, self.log = name, log
        self.argv = [str(a) for a in argv]
        self._ready = ready
        self.process: subprocess.Popen | None = None

    @property
    def pid(self) -> int:
        if not self.running:
            raise ClusterError(f"{self.name} does not run")
        return self.process.pid

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def spawn(self) -> None:
        """Starts the process and does not wait until it serves."""
        if self.running:
            raise ClusterError(f"{self.name} runs already")
        wrapper = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
        with open(self.log, "ab") as output:
            self.process = subprocess.Popen(wrapper + self.argv, stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=output, start_new_session=True)
        ALL.add(self)

    def wait_ready(self, timeout: float = 60) -> None:
        def check():
            if not self.running:
                raise Died(f"{self.name} ended with status {self.process.returncode}: {self.log_tail()}")
            return self._ready()
        wait_for(check, timeout, f"{self.name} to be ready (log: {self.log})", interval=0.05)

    def start(self, timeout: float = 60) -> None:
        self.spawn()
        self.wait_ready(timeout)

    def stop(self, timeout: float = 15) -> None:
        """Asks it to end (SIGTERM) and kills it when it has not done so in time."""
        self._end(signal.SIGTERM, timeout)

    def kill(self) -> None:
        self._end(signal.SIGKILL, 10)

    def _end(self, number: int, timeout: float) -> None:
        if self.running:
            self.process.send_signal(number)
            if number != signal.SIGKILL:
                self.process.send_signal(signal.SIGCONT)
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)
        ALL.discard(self)

    def restart(self, timeout: float = 60) -> None:
        self.stop()
        self.start(timeout)

    def pause(self) -> None:
        """SIGSTOP; returns when every thread really stands still."""
        self.process.send_signal(signal.SIGSTOP)
        wait_for(lambda: set(self._thread_states()) <= {"T", "t"}, 10, f"{self.name} to stand still", interval=0.01)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def _thread_states(self) -> list[str]:
        states = []
        for thread in Path(f"/proc/{self.pid}/task").iterdir():
            states.append((thread / "stat").read_text().rpartition(")")[2].split()[0])
        return states

    def memory_kb(self, field: str = "VmRSS") -> int:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
        raise ClusterError(f"no {field} of {self.name}")

    def log_tail(self, lines: int = 8) -> str:
        try:
            with open(self.log, "rb") as handle:
                handle.seek(max(0, os.fstat(handle.fileno()).st_size - 20000))
                return "\n" + "\n".join(handle.read().decode(errors="replace").splitlines()[-lines:])
        except OSError as error:
            return str(error)


class Died(Exception):
    """The process ended while it was waited for: no use in waiting on."""


def kill_all() -> None:
    for component in list(ALL):
        component.kill()


atexit.register(kill_all)
