"""A rollout of many nodes with slow pods under budgets on a real cluster: all of them are done, and no budget was broken.

SLIPWAY_ROLLOUT_NODES=200 makes it as large as bench/rollouts.py measures, which also says how long it took; no time decides here."""

from __future__ import annotations

import os

from context import Context, limit
from rollout_fleet import RolloutFleet, Shape

NODES = int(os.environ.get("SLIPWAY_ROLLOUT_NODES", "12"))
SLOTS = max(3, NODES // 10)


@limit(3600)
def test_many(ctx: Context) -> None:
    cluster = ctx.suite_cluster()
    shape = Shape(nodes=NODES, slots=SLOTS, replicas=min(20, NODES), at_once="25%", ready=1, gone=2)
    with RolloutFleet(cluster, ctx.slipway, shape, patience=3000) as fleet:
        bound = fleet.lower_bound()
        assert bound["seconds"] > 0 and bound["binds"] in ("slots", "budget", "node", "rate"), bound
        fleet.start()
        fleet.run()
        fleet.judge()
