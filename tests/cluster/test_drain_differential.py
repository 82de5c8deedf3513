"""`slipway drain` beside the real `kubectl drain --ignore-daemonsets`: random worlds, twice each, on the simulator and on a real
cluster.  Both must end in the same state, refuse the same pods and say the same lines.

SLIPWAY_DRAIN_SEEDS=17 (or 0-9) runs those alone, to look at a difference.
"""

from __future__ import annotations

import os
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import drain_random
from cluster import Cluster
from context import Context, limit
from drain_twins import compare

SIMULATED, REAL = 300, 40
AT_ONCE = 6  # pairs of worlds; the fake kubelets of a real cluster keep up with fewer


def seeds(count: int) -> range:
    chosen = os.environ.get("SLIPWAY_DRAIN_SEEDS")
    if not chosen:
        return range(count)
    first, _, last = chosen.partition("-")
    return range(int(first), int(last or first) + 1)


def play(ctx: Context, cluster: Cluster, count: int, at_once: int) -> None:
    home, seen = ctx.tmp, Counter()

    def one(seed: int) -> list[str]:
        world = drain_random.make(seed)
        try:
            wrong, told = compare(cluster, world, ctx.slipway, home)
        except Exception:  # whatever it is, it belongs to this seed
            return [f"seed {seed}:"] + [f"  {line}" for line in traceback.format_exc().splitlines()[-6:]]
        seen["succeeded" if told["succeeded"] else "failed"] += 1
        seen["refused"] += bool(told["refused"])
        seen["warned"] += bool(told["warned"])
        seen["evicted"] += any("evicted" in line for line in told["lines"])
        seen["deleted"] += any("deleted" in line for line in told["lines"])
        seen["timed out"] += not told["succeeded"] and not told["refused"]
        return [f"seed {seed}:"] + [f"  {line}" for line in wrong] if wrong else []

    with ThreadPoolExecutor(at_once) as pool:
        wrong = [lines for lines in pool.map(one, seeds(count)) if lines]
    assert not wrong, f"{len(wrong)} of {len(seeds(count))} worlds differ\n" + "\n".join(line for lines in wrong[:8] for line in lines)
    if "SLIPWAY_DRAIN_SEEDS" not in os.environ:  # a test that compares nothing is no test
        assert all(seen[what] >= count / 40 for what in ("succeeded", "failed", "refused", "warned", "evicted", "deleted", "timed out")), seen


@limit(1500)
def test_on_the_simulator(ctx: Context) -> None:
    play(ctx, ctx.counterpart(), SIMULATED, AT_ONCE)


@limit(1800)
def test_on_a_real_cluster(ctx: Context) -> None:
    play(ctx, ctx.private_cluster(), REAL, AT_ONCE // 2)
