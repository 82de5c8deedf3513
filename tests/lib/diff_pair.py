"""Two servers side by side: a sequence is run on both and the results are compared; a difference can be made small.

    pair = Pair(Side("real", still, live), Side("sim", still, live))
    pair.difference("calls", seed)      lines that say what differs, none when nothing does
    pair.shrink("calls", steps)         the fewest of these steps that still differ
"""

from __future__ import annotations

import itertools
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Callable

import diff_calls
import diff_life
from api import Api, ApiError
from cluster import Cluster
from crds import DEFINITIONS, established
from diff_bodies import BOAT, BOAT_CRD
from diff_run import REST, LivePlayer, Player, compare
from kinds import NAMESPACE_KIND, NODE
from process import ClusterError, Died, wait_for

SORTS = 30  # of differences that are told
SEQUENCES: dict[str, Callable[[int], list[dict]]] = {"calls": diff_calls.sequence, "lives": diff_life.sequence}


def prepare(api: Api) -> None:
    """The custom resource that the calls know."""
    path = f"{DEFINITIONS}/{BOAT_CRD['metadata']['name']}"
    if api.raw("GET", path)[0] == 404:
        api.call("POST", DEFINITIONS, BOAT_CRD)
    wait_for(lambda: established(api.get(path)) and api.raw("GET", BOAT.path("default"))[0] == 200, 60, "boats to be served")


@dataclass
class Side:
    """still: a server where nothing moves, for calls; live: one with controllers, for lives.  Each is asked for when needed."""

    name: str
    still: Callable[[], Cluster]
    live: Callable[[], Cluster]
    _number: itertools.count = field(default_factory=itertools.count)

    def ready(self, what: str) -> None:
        """Starts what is needed, in the thread that calls."""
        if what == "calls":
            prepare(self.still().api)
        else:
            self.live()

    def namespace(self, seed: int) -> str:
        return f"{self.name}{seed}-{next(self._number)}-{time.time_ns() // 1000 % 10**7}"

    def play(self, what: str, seed: int, steps: list[dict]) -> list[dict]:
        """The results of the steps; what stopped it is the last one."""
        cluster, ns = (self.still() if what == "calls" else self.live()), self.namespace(seed)
        api = cluster.api
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns}})
        results: list[dict] = []
        try:
            player = self.player(cluster, ns, what)
            for step in steps:
                results.append(player.step(step))
        except (AssertionError, OSError, ApiError, ClusterError, Died) as error:
            results.append({"stopped": f"{type(error).__name__}: {error}".replace(ns, "NS")})
        finally:
            for path in (NAMESPACE_KIND.path(name=ns), f"{NODE.path()}?labelSelector=seq%3D{ns}"):
                api.raw("DELETE", path)
        return results

    @staticmethod
    def player(cluster: Cluster, ns: str, what: str) -> Player:
        account = f"/api/v1/namespaces/{ns}/serviceaccounts"
        if what == "lives":
            wait_for(lambda: cluster.api.raw("GET", account + "/default")[0] == 200, REST, f"the service account of {ns}")
            return LivePlayer(cluster, ns)
        cluster.api.call("POST", account, {"metadata": {"name": "default"}})
        player = Player(cluster.api, ns)
        player.start()
        return player


def sort_of(lines: list[str]) -> str:
    """Differences at the same place, in the same way, are of one sort."""
    return re.sub(r"\[\d+\]|\d+", "#", lines[1])


def summary(found: list[list[str]]) -> list[str]:
    """One of each sort of difference, the most frequent first."""
    sorts: dict[str, list[list[str]]] = {}
    for lines in found:
        sorts.setdefault(sort_of(lines[1:]), []).append(lines)
    told = []
    for alike in sorted(sorts.values(), key=len, reverse=True)[:SORTS]:
        told += [f"-- {len(alike)} like this:"] + alike[0]
    return told


class Pair:
    def __init__(self, one: Side, other: Side) -> None:
        self.sides = (one, other)

    def run(self, what: str, seed: int, steps: list[dict]) -> list[str]:
        with ThreadPoolExecutor(2) as pool:
            one, other = pool.map(lambda side: side.play(what, seed, steps), self.sides)
        return compare(steps, one, other, (f"{self.sides[0].name} ", f"{self.sides[1].name} "))

    def difference(self, what: str, seed: int) -> list[str]:
        lines = self.run(what, seed, SEQUENCES[what](seed))
        names = " and ".join(side.name for side in self.sides)
        again = f"python3 tests/cluster/differential.py --{what} --seed {seed} --shrink"
        return [f"seed {seed}: {names} differ; {again}", *lines] if lines else []

    def many(self, what: str, seeds: range, workers: int) -> list[str]:
        """The differences of all seeds, with how many differ in the first line."""
        for side in self.sides:
            side.ready(what)
        with ThreadPoolExecutor(workers) as pool:
            found = [lines for lines in pool.map(lambda seed: self.difference(what, seed), seeds) if lines]
        return [f"{len(found)} of {len(seeds)} sequences differ"] + summary(found) if found else []

    def shrink(self, what: str, seed: int, say: Callable[[str], None]) -> list[dict]:
        """Leaves out as many steps as it can: halves first, then single ones, while they differ in the same way.

        Not the last ones of calls: a watch cannot end without them."""
        steps = SEQUENCES[what](seed)
        sort = sort_of(self.run(what, seed, steps) or ["", ""])
        tail = steps[-diff_calls.TAIL:] if what == "calls" else []
        steps = steps[:len(steps) - len(tail)]
        size = max(len(steps) // 2, 1)
        while True:
            begin, smaller = 0, False
            while begin < len(steps):
                fewer = steps[:begin] + steps[begin + size:]
                lines = self.run(what, seed, fewer + tail)
                if lines and sort_of(lines) == sort:
                    steps, smaller = fewer, True
                    say(f"{len(steps)} steps")
                else:
                    begin += size
            if size == 1 and not smaller:
                return steps + tail
            size = max(size // 2, 1)
