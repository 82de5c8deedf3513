"""The shortest time in which a drain could have been done, from what was seen of budgets and pods: no I/O, no clock.

What a drain cannot hurry is what the cluster takes.  For each accepted eviction two times are seen in the audit log:

  reaction   from its arrival to the disruption controller's status write that allows the next one under the same
             budget: ReplicaSet controller, scheduler, the start of the replacement and the disruption controller
  going      from its arrival to the end of the pod's object

A budget that allows one disruption at once makes a chain of its evictions: the next cannot arrive before the one
before it has had its reaction.  With all waiting taken out, eviction i of the chain arrives after the reactions of
those before it, and its pod is gone after its own going:

  bound of a budget  =  max over i of ( reaction[0] + ... + reaction[i-1] + going[i] )

The i-th draw of the cluster's delays stays with the i-th eviction: a drain knows none of them in advance, so that
another order of pods would not have changed them.  A budget that allows c at once has no such order; there the last
of n evictions begins when all others have begun and at most c - 1 have their reaction before them, so not before the
n - c shortest reactions are through c doors; then its pod goes, for at least the shortest going.

The bound of a drain is the largest of these, and of evictions / rate when there is a limit to the rate.  Starting the
program, reading the cluster and noticing the end are not in it: what a drain takes for them counts against it.
Evictions beyond those that had to be (a replacement that was put on a node to be drained) do not lengthen the bound:
then the shortest reactions and goings stand for the needed ones.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Eviction:
    """An accepted one.  Times in seconds by the API server's clock."""

    pod: str
    budget: str
    arrived: float
    done: float  # the server has answered: its disruption was taken off before
    gone: float | None = None


@dataclass(frozen=True)
class Write:
    """A status write of the disruption controller: how many disruptions it allows from now on."""

    budget: str
    arrived: float
    done: float
    allowed: int


@dataclass(frozen=True)
class Grant:
    """One disruption that a write allows and an eviction uses."""

    write: Write
    reaction: float  # since the eviction that had used it up
    used_by: Eviction | None

    @property
    def latency(self) -> float | None:
        """From the arrival of the write to the arrival of the eviction; None when nobody had any use for it."""
        return None if self.used_by is None else max(0.0, self.used_by.arrived - self.write.arrived)

    @property
    def latency_after_answer(self) -> float | None:
        """The same from the moment at which the server had answered the writer."""
        return None if self.used_by is None else max(0.0, self.used_by.arrived - self.write.done)


@dataclass
class Bound:
    seconds: float
    budget: str  # which makes it so long; "" when it is not a budget
    by_budget: dict[str, float] = field(default_factory=dict)


def grants(evictions: list[Eviction], writes: list[Write], allowed: int) -> list[Grant]:
    """What happened under one budget that allowed so many disruptions at first: every disruption given back, by which
    write, and which eviction took it.

    The API server takes one off at each eviction, the controller writes the sum that it has worked out.  A write that
    allows more than is left gives the difference back, for the evictions that have waited longest for it.  When between
    its arrival and its answer an eviction took its one off is not in the log; a write that allows less than was left
    comes after that, any other before.
    """
    left, unused = allowed, allowed  # unused: of those that were there at first
    pending: list[Eviction] = []  # not taken off yet, for all we know
    owed: list[Eviction] = []  # not given back yet
    found: list[tuple[Write, float]] = []
    users: dict[int, Eviction] = {}
    waiting: list[int] = []  # of found: nobody has used it yet

    def take(eviction: Eviction) -> None:
        nonlocal left, unused
        pending.remove(eviction)
        owed.append(eviction)
        left -= 1
        if unused:
            unused -= 1
        elif waiting:
            users[waiting.pop(0)] = eviction

    moments = [(w.arrived, 0, w) for w in writes] + [(e.arrived, 1, e) for e in evictions] + [(e.done, 2, e) for e in evictions]
    for _, kind, what in sorted(moments, key=lambda m: m[:2]):
        if kind == 1:
            pending.append(what)
            continue
        if kind == 2:
            if what in pending:
                take(what)
            continue
        while left > what.allowed and pending:
            take(min(pending, key=lambda e: e.done))
        while left < what.allowed and owed:
            left += 1
            waiting.append(len(found))
            found.append((what, what.arrived - owed.pop(0).arrived))
        unused = max(0, unused + what.allowed - left)  # more or fewer for reasons of its own: pods that fell ill or got well
        while len(waiting) + unused > what.allowed:
            waiting.pop()
        left = what.allowed
    return [Grant(write, reaction, users.get(i)) for i, (write, reaction) in enumerate(found)]


def chain(reactions: list[float], goings: list[float], needed: int, at_once: int) -> float:
    """The bound of one budget: see above.  There is one going for each eviction and a reaction for all but the last ones."""
    if not needed:
        return 0.0
    if len(goings) < needed or len(reactions) < needed - at_once:
        raise ValueError(f"{needed} evictions, but {len(goings)} pods have gone and {len(reactions)} reactions were seen")
    if at_once == 1 and len(goings) == needed:
        begin, last = 0.0, 0.0
        for i in range(needed):
            last = max(last, begin + goings[i])
            begin += reactions[i] if i + 1 < needed else 0
        return last
    through = sum(sorted(reactions)[:max(0, needed - at_once)]) / at_once
    longest = max(goings) if len(goings) == needed else 0.0
    return max(through + min(goings), longest)


def bound(evictions: list[Eviction], writes: list[Write], needed: dict[str, int], at_once: dict[str, int],
          rate: float = 0) -> Bound:
    """needed: for each budget the pods that had to go; at_once: what it allowed when the drain began."""
    mine: dict[str, list[Eviction]] = defaultdict(list)
    for eviction in sorted(evictions, key=lambda e: e.arrived):
        mine[eviction.budget].append(eviction)
    by_budget = {}
    for name, count in needed.items():
        seen = grants(mine[name], [w for w in writes if w.budget == name], at_once[name])
        goings = [e.gone - e.arrived for e in mine[name] if e.gone is not None]
        by_budget[name] = chain([g.reaction for g in seen], goings, count, at_once[name])
    worst = max(by_budget, key=lambda name: by_budget[name], default="")
    longest = Bound(by_budget.get(worst, 0.0), worst, by_budget)
    paced = sum(needed.values()) / rate if rate else 0.0
    return longest if longest.seconds >= paced else Bound(paced, "", by_budget)


def latencies(evictions: list[Eviction], writes: list[Write], at_once: dict[str, int]) -> list[Grant]:
    """Of every budget the grants that somebody used."""
    used = []
    for name, allowed in at_once.items():
        seen = grants([e for e in evictions if e.budget == name], [w for w in writes if w.budget == name], allowed)
        used += [g for g in seen if g.used_by is not None]
    return used


def quantile(values: list[float], part: float) -> float:
    """The smallest value that is not exceeded by that part of them (nearest rank)."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    rank = max(1, -(-len(ordered) * round(part * 1000) // 1000))  # rounded up
    return ordered[min(rank, len(ordered)) - 1]
