"""Measures a rollout of many nodes through the controller, on a real control plane, beside the planner's lower bound.

    python3 bench/run.py --only rollout

Nodes with slow pods under budgets (tests/lib/rollout_fleet.py), as many slots as a tenth of them; machines that come back from a reboot at
once, so that what is measured is everything but them.  The bound is `slipway plan`'s for the same nodes, slots and pods.  That no budget
was broken and no more nodes were out than may is judged by others than Slipway, in every run.

Pods take their time (STOPS, STARTS), because they do, and so that it is not the control plane that is measured: that 800 pods move takes the
API server and its controllers some 200 seconds of computing, and with pods that are gone after 8 s two cores have 160 of them before the bound
is over.  How busy the machine was is printed beside the result: where it is near 100 %, nobody could have been faster there."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "lib"))

from binaries import Binaries  # noqa: E402
from cluster import Cluster  # noqa: E402
from measure import HoldFailed  # noqa: E402
from rollout_fleet import RolloutFleet, Shape  # noqa: E402

MOST = 1.25  # times the bound
STOPS, STARTS = 20, 8  # seconds that a pod takes


@dataclass
class Found:
    nodes: int
    slots: int
    pods: int
    took: float
    bound: float
    binds: str  # which term makes the bound so long
    busy: float  # of the machine's processors, 0 to 1

    @property
    def ratio(self) -> float:
        return self.took / self.bound if self.bound else 0.0


def cpu() -> tuple[float, float]:
    """Of all processors together: ticks in which they worked, and all."""
    ticks = [float(t) for t in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)  # idle, and waiting for a disk


def measure(binaries: Binaries, slipway: Path, nodes: int, say: Callable[[str], None]) -> Found:
    shape = Shape(nodes=nodes, slots=max(1, nodes // 10), ready=STARTS, gone=STOPS)
    with Cluster(binaries=binaries) as cluster, RolloutFleet(cluster, slipway, shape, patience=3600) as fleet:
        bound = fleet.lower_bound()
        say(f"{nodes} nodes, {shape.pods} pods, {shape.slots} slots: at least {bound['seconds']:.0f} s ({bound['binds']})")
        fleet.start()
        before = cpu()
        took = fleet.run()
        busy, all_of_it = (b - a for a, b in zip(before, cpu()))
        try:
            fleet.judge()
        except AssertionError as wrong:
            raise HoldFailed(f"the rollout: {wrong}") from None
        return Found(nodes, shape.slots, shape.pods, took, bound["seconds"], bound["binds"], busy / all_of_it)


def rows(found: Found) -> list[list[str]]:
    return [["rollout", "nodes", "slots", "pods", "took", "lower bound", "ratio", "machine busy"],
            ["Reboot", str(found.nodes), str(found.slots), str(found.pods), f"{found.took:.0f} s",
             f"{found.bound:.0f} s ({found.binds})", f"{found.ratio:.2f}", f"{found.busy:.0%}"]]
