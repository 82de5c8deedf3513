"""The differential test by hand: sequences of random API calls on two servers, and a small way to a difference.

    python3 tests/cluster/differential.py --calls --seed 17 --shrink
    python3 tests/cluster/differential.py --lives --seed 0 --count 500

--calls   every answer of servers where nothing moves by itself; --lives: what controllers come to after each step
--self    both sides are the real control plane (what differs is a fault of the comparison), else the other is `$SLIPWAY sim`
--shrink  leaves out steps of the first that differs while a difference remains, and prints the rest
--show    prints the steps of the seed and ends
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parent.parent / "lib"))

from binaries import SKIP_STATUS, Unavailable  # noqa: E402
from cluster import Cluster  # noqa: E402
from diff_pair import SEQUENCES, Pair, Side  # noqa: E402
from sim import Simulator  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--calls", dest="what", action="store_const", const="calls", help="answers only")
    which.add_argument("--lives", dest="what", action="store_const", const="lives", help="with controllers")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the first seed")
    parser.add_argument("--count", type=int, default=1, metavar="N", help="how many seeds")
    parser.add_argument("--workers", type=int, default=8, metavar="N", help="how many at once")
    parser.add_argument("--self", dest="same", action="store_true", help="the real control plane against itself")
    parser.add_argument("--shrink", action="store_true", help="find few steps that differ")
    parser.add_argument("--show", action="store_true", help="print the steps and end")
    arguments = parser.parse_args()
    if arguments.show:
        for number, step in enumerate(SEQUENCES[arguments.what](arguments.seed)):
            print(number, json.dumps(step, ensure_ascii=False))
        return 0
    try:
        with contextlib.ExitStack() as stack:
            return run(arguments, stack)
    except Unavailable as reason:
        print(f"# skipped: {reason}", file=sys.stderr)
        return SKIP_STATUS


def run(arguments: argparse.Namespace, stack: contextlib.ExitStack) -> int:
    options = {"controllers": False, "kwok": False} if arguments.what == "calls" else {}
    real = stack.enter_context(Cluster(**options))
    other = real if arguments.same else stack.enter_context(Simulator(**options))
    pair = Pair(Side("real", lambda: real, lambda: real), Side("again" if arguments.same else "sim", lambda: other, lambda: other))
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    lines = pair.many(arguments.what, seeds, arguments.workers)
    print("\n".join(lines) or "no difference")
    if lines and arguments.shrink:
        seed = next((seed for seed in seeds if pair.difference(arguments.what, seed)), None)
        if seed is None:
            print("# no sequence differs when it is run alone")
            return 1
        steps = pair.shrink(arguments.what, seed, lambda text: print(f"# seed {seed}: {text}", flush=True))
        print("\n".join(json.dumps(step, ensure_ascii=False) for step in steps))
        print("\n".join(pair.run(arguments.what, seed, steps)))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
