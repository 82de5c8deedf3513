"""Measures the simulator: how fast its world turns, how much a large one takes, and how fast it lists pods.

The first two in process (bench/sim.c); lists over HTTPS, as a client reads them, in turns with those of a real API server: time for
each byte, since the two do not hold the same objects (the simulator writes no managedFields).
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "cluster"))

from api import Api  # noqa: E402
from measure import HoldFailed  # noqa: E402
from sim import PROGRAM, Simulator  # noqa: E402

HERE = Path(__file__).resolve().parent
BLOCK = 1 << 20
START_LIMIT = 900  # seconds that a large cluster may take to come to rest on a busy machine


def play(program: Path, scenario: str, nodes: int, seed: int, hours: float) -> dict:
    """What bench/sim.c says of one run."""
    ran = subprocess.run([program, scenario, str(nodes), str(seed), str(hours)], capture_output=True, text=True)
    if ran.returncode != 0:
        raise HoldFailed(f"{program} {scenario}: status {ran.returncode}: {ran.stderr.strip()}")
    return json.loads(ran.stdout)


def events_per_second(program: Path, rounds: int, hours: float) -> tuple[float, list[dict]]:
    """Of the best round: what else runs on the machine can only make it slower."""
    runs = [play(program, str(HERE / "rolling.yaml"), 50, 1, hours) for _ in range(rounds)]
    if len({(run["events"], run["changes"]) for run in runs}) != 1:
        raise HoldFailed(f"the same seed gave different runs: {runs}")
    return max(run["events"] / run["cpu_s"] for run in runs), runs


def list_once(api: Api, path: str) -> tuple[float, int]:
    """Seconds and bytes of one whole answer, read as it comes and not looked at."""
    connection = api.connect(timeout=600)
    try:
        begun = time.perf_counter()
        connection.request("GET", path, headers=api._headers(None))
        answer = connection.getresponse()
        if answer.status != 200:
            raise HoldFailed(f"GET {path}: {answer.status}")
        size = 0
        while block := answer.read(BLOCK):
            size += len(block)
        return time.perf_counter() - begun, size
    finally:
        connection.close()


def list_rates(sides: dict[str, Api], rounds: int, path: str = "/api/v1/pods") -> dict[str, dict]:
    """Median of the seconds for each, with the bytes; they take turns, after one round that is not counted."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    sizes: dict[str, int] = {}
    for turn in range(rounds + 1):
        for name, api in sides.items():
            seconds, sizes[name] = list_once(api, path)
            if turn:
                times[name].append(seconds)
    return {name: {"bytes": sizes[name], "seconds": statistics.median(each), "all": each} for name, each in times.items()}


class LargeSimulator(Simulator):
    """`slipway sim` with the scenario for measurements, at real speed."""

    def __init__(self, nodes: int, **options) -> None:
        super().__init__(speed="1", **options)
        argv = self[PROGRAM].argv
        argv[argv.index("empty")] = "big"
        argv += ["--nodes", str(nodes)]

    def start(self) -> "LargeSimulator":
        try:
            self[PROGRAM].spawn()
            self[PROGRAM].wait_ready(START_LIMIT)
            self._connect()
        except BaseException:
            self.stop()
            raise
        return self
