"""Measures a process from outside, through /proc: private memory at rest and at its peak, CPU time, start time."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


@dataclass
class Held:
    """What one run of a program that holds a cluster cost.  Memory in kB, time in seconds."""

    counts: dict[str, int]
    synced_cpu: float
    synced_wall: float
    synced_anon: int
    rest_anon: int
    rest_file: int
    peak_anon: int
    least_anon: int
    said: dict

    @property
    def peak_over_rest(self) -> float:
        return self.peak_anon / self.rest_anon


class HoldFailed(Exception):
    """The program ended, said something else than the agreed line, or never said it."""


def status(pid: int) -> dict[str, int]:
    """The kB fields of /proc/PID/status."""
    fields = {}
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            key, _, rest = line.partition(":")
            if rest.endswith("kB\n"):
                fields[key] = int(rest.split()[0])
    return fields


def cpu_seconds(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICK


class PeakSampler(threading.Thread):
    """Reads RssAnon again and again: the kernel's own high-water mark (VmHWM) has file pages in it."""

    def __init__(self, pid: int, interval: float = 0.002) -> None:
        super().__init__(daemon=True)
        self.pid, self.interval = pid, interval
        self.peak = 0
        self._end = threading.Event()

    def run(self) -> None:
        try:
            descriptor = os.open(f"/proc/{self.pid}/status", os.O_RDONLY)
        except OSError:
            return
        try:
            while not self._end.wait(self.interval):
                text = os.pread(descriptor, 4096, 0)
                start = text.find(b"RssAnon:")
                if start >= 0:
                    self.peak = max(self.peak, int(text[start + 8:text.index(b"kB", start)]))
        except OSError:
            pass  # it has ended
        finally:
            os.close(descriptor)

    def stop(self) -> int:
        self._end.set()
        self.join()
        return self.peak


def hold(command: list[str], settle: float, collects: bool = False, timeout: float = 300) -> Held:
    """Runs a holder until it says that it is synced, lets it watch for a while, measures it at rest and ends it.

    The holder prints one JSON line with "synced": true and the counts nodes, pods, pdbs, and goes on until its standard
    input is closed; what it says of its own memory and CPU time is kept but not believed.  One that collects garbage is
    told "gc" at the end, to see how little it could live with.
    """
    begun = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    sampler = PeakSampler(process.pid)
    sampler.start()
    killer = threading.Timer(timeout, process.kill)
    killer.start()
    try:
        line = process.stdout.readline()
        wall = time.monotonic() - begun
        if line:
            cpu, synced = cpu_seconds(process.pid), status(process.pid)
        try:
            said = json.loads(line)
        except ValueError:
            process.kill()
            raise HoldFailed(f"{' '.join(command)}: said {line!r} instead of a JSON line "
                             f"(status {process.wait()}, after {wall:.0f} s)") from None
        if not said.get("synced"):
            raise HoldFailed(f"{' '.join(command)}: said {line.strip()!r}")
        time.sleep(settle)
        if process.poll() is not None:
            raise HoldFailed(f"{' '.join(command)}: ended with status {process.returncode} instead of watching on")
        rest = status(process.pid)
        # RssFile only grows, so that this is at most the peak; it catches what falls between two samples.
        peak = max(sampler.stop(), rest["VmHWM"] - rest["RssFile"], int(said.get("hwm_anon_kb", 0)))
        least = rest["RssAnon"]
        if collects:
            process.stdin.write("gc\n")
            process.stdin.flush()
            process.stdout.readline()
            least = status(process.pid)["RssAnon"]
        process.stdin.close()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            raise HoldFailed(f"{' '.join(command)}: does not end when its standard input is closed") from None
        return Held({k: int(said.get(k, -1)) for k in ("nodes", "pods", "pdbs")}, cpu, wall,
                    synced["RssAnon"], rest["RssAnon"], rest["RssFile"], peak, least, said)
    finally:
        killer.cancel()
        if process.poll() is None:
            process.kill()
            process.wait()
        sampler.stop()


def start_times(commands: dict[str, list[str]], rounds: int, env: dict[str, str]) -> dict[str, float]:
    """Median milliseconds from start to end of each command; they take turns, after one round that is not counted."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    with open(os.devnull, "r+b") as null:
        for turn in range(rounds + 1):
            for name, command in commands.items():
                begun = time.perf_counter()
                code = subprocess.Popen(command, stdin=null, stdout=null, stderr=null, env=env, close_fds=False).wait()
                if code != 0:
                    raise HoldFailed(f"{' '.join(command)}: status {code}")
                if turn:
                    times[name].append((time.perf_counter() - begun) * 1000)
    return {name: statistics.median(values) for name, values in times.items()}
