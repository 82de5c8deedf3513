"""Random sequences of API calls, on the real control plane and on the simulator: the same answers, and the same rest.

`calls` go to servers where nothing moves by itself, and every answer is compared.  `lives` go to servers with controllers and nodes,
and after each step what they have come to is compared as well.  The first tests run each sequence twice on one server: what
differs then would be a fault of the comparison.  differential.py beside this file runs single seeds and makes their differences small.

On the simulator there are the first ones only: the others have it beside the real one already.

$SLIPWAY_DIFF_SEED is the first seed (0), so that a run can go where no other has been.
"""

from __future__ import annotations

import os

import diff_calls
import diff_life
from context import Context, limit, real_only
from diff_pair import Pair, Side

FIRST = int(os.environ.get("SLIPWAY_DIFF_SEED") or 0)
CALLS, LIVES = 200, 200
# Of lives most of the time goes into waiting; of calls none.
CALL_WORKERS, LIFE_WORKERS = 6, 8


def check(lines: list[str]) -> None:
    assert not lines, "\n".join(lines)


def twice(ctx: Context) -> Pair:
    return Pair(Side("one", lambda: ctx.still, lambda: ctx.cluster), Side("two", lambda: ctx.still, lambda: ctx.cluster))


def both(ctx: Context, what: str) -> Pair:
    still = what == "calls"
    other = ctx.counterpart(**({"controllers": False, "kwok": False} if still else {}))
    return Pair(Side("here", lambda: ctx.still, lambda: ctx.cluster), Side("there", lambda: other, lambda: other))


def test_sequences_are_a_function_of_their_seed(ctx: Context) -> None:
    for sequence in (diff_calls.sequence, diff_life.sequence):
        assert sequence(7) == sequence(7) != sequence(8)


@limit(900)
def test_calls_agree_with_themselves(ctx: Context) -> None:
    check(twice(ctx).many("calls", range(FIRST, FIRST + 12), CALL_WORKERS))


@limit(900)
def test_lives_agree_with_themselves(ctx: Context) -> None:
    check(twice(ctx).many("lives", range(FIRST, FIRST + 6), LIFE_WORKERS))


@limit(1800)
@real_only("it is the other side")
def test_calls_agree(ctx: Context) -> None:
    check(both(ctx, "calls").many("calls", range(FIRST, FIRST + CALLS), CALL_WORKERS))


@limit(1800)
@real_only("it is the other side")
def test_lives_agree(ctx: Context) -> None:
    check(both(ctx, "lives").many("lives", range(FIRST, FIRST + LIVES), LIFE_WORKERS))
