"""Measures a rollout of many nodes through the controller, on a real control plane, beside the planner's lower bound.

    python3 bench/run.py --only rollout

Nodes with slow pods under budgets (tests/lib/rollout_fleet.py), as many slots as a tenth of them; machines that come back from a reboot at
once, so that what is measured is everything but them.  The bound is `slipway plan`'s for the same nodes, slots and pods.  That no budget
was broken and no more nodes were out than may is judged by others than Slipway, in every run."""

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


@dataclass
class Found:
    nodes: int
    slots: int
    pods: int
    took: float
    bound: float
    binds: str  # which term makes the bound so long

    @property
    def ratio(self) -> float:
        return self.took / self.bound if self.bound else 0.0


def measure(binaries: Binaries, slipway: Path, nodes: int, say: Callable[[str], None]) -> Found:
    shape = Shape(nodes=nodes, slots=max(1, nodes // 10))
    with Cluster(binaries=binaries) as cluster, RolloutFleet(cluster, slipway, shape, patience=3600) as fleet:
        bound = fleet.lower_bound()
        say(f"{nodes} nodes, {shape.pods} pods, {shape.slots} slots: at least {bound['seconds']:.0f} s ({bound['binds']})")
        fleet.start()
        took = fleet.run()
        try:
            fleet.judge()
        except AssertionError as wrong:
            raise HoldFailed(f"the rollout: {wrong}") from None
        return Found(nodes, shape.slots, shape.pods, took, bound["seconds"], bound["binds"])


def rows(found: Found) -> list[list[str]]:
    return [["rollout", "nodes", "slots", "pods", "took", "lower bound", "ratio"],
            ["Reboot", str(found.nodes), str(found.slots), str(found.pods), f"{found.took:.0f} s",
             f"{found.bound:.0f} s ({found.binds})", f"{found.ratio:.2f}"]]
