"""Tests of the arithmetic of the drain's bench: the lower bound, what was granted and used, the reading of the log.

    python3 bench/drain_selftest.py

Speaks TAP.  The cases are worked out by hand.
"""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import tap  # noqa: E402
from drain_audit import DISRUPTION_CONTROLLER, read, seconds  # noqa: E402
from drain_bound import Eviction, Write, bound, chain, grants, latencies, quantile  # noqa: E402


def evicted(pod: str, at: float, gone: float | None = None, budget: str = "b", takes: float = 0.01) -> Eviction:
    return Eviction(pod, budget, at, at + takes, gone)


def wrote(at: float, allowed: int, budget: str = "b") -> Write:
    return Write(budget, at, at + 0.01, allowed)


class Chain(unittest.TestCase):
    def test_one_pod_is_its_going(self) -> None:
        self.assertEqual(chain([], [12.0], 1, 1), 12.0)
        self.assertEqual(chain([], [], 0, 1), 0.0)

    def test_the_last_pod_ends_it(self) -> None:
        """Begins at 0, 3 and 7; ends at 10, 13 and 15."""
        self.assertEqual(chain([3.0, 4.0], [10.0, 10.0, 8.0], 3, 1), 15.0)

    def test_an_early_pod_that_goes_slowly_ends_it(self) -> None:
        """Begins at 0, 3 and 7; ends at 20, 11 and 15."""
        self.assertEqual(chain([3.0, 4.0], [20.0, 8.0, 8.0], 3, 1), 20.0)

    def test_the_reaction_to_the_last_one_does_not_matter(self) -> None:
        self.assertEqual(chain([3.0, 4.0, 100.0], [10.0, 10.0, 8.0], 3, 1), 15.0)

    def test_two_at_once(self) -> None:
        """The last of four begins when two reactions (the shortest, 2 and 3) are through two doors: 2.5, and goes in 5 at best."""
        self.assertEqual(chain([3.0, 2.0, 4.0], [5.0, 6.0, 7.0, 5.0], 4, 2), 7.5)
        self.assertEqual(chain([3.0, 2.0, 4.0], [5.0, 60.0, 7.0, 5.0], 4, 2), 60.0)

    def test_more_evictions_than_needed(self) -> None:
        """One of three was for nothing: the shortest reaction and the shortest going stand for the two."""
        self.assertEqual(chain([3.0, 4.0], [10.0, 9.0, 8.0], 2, 1), 11.0)

    def test_what_was_not_seen_is_an_error(self) -> None:
        with self.assertRaises(ValueError):
            chain([3.0], [10.0, 10.0, 10.0], 3, 1)
        with self.assertRaises(ValueError):
            chain([3.0, 3.0], [10.0, 10.0], 3, 1)


class Grants(unittest.TestCase):
    def test_one_after_the_other(self) -> None:
        evictions = [evicted("a", 10), evicted("b", 13.5), evicted("c", 18)]
        writes = [wrote(10.1, 0), wrote(13.4, 1), wrote(13.6, 0), wrote(17.0, 1), wrote(18.1, 0), wrote(21, 1)]
        found = grants(evictions, writes, 1)
        self.assertEqual([round(g.reaction, 6) for g in found], [3.4, 3.5, 3.0])
        self.assertEqual([g.used_by and g.used_by.pod for g in found], ["b", "c", None])
        self.assertEqual([g.latency and round(g.latency, 6) for g in found], [0.1, 1.0, None])
        self.assertEqual(round(found[0].latency_after_answer, 6), 0.09)

    def test_writes_that_allow_no_more_give_nothing(self) -> None:
        found = grants([evicted("a", 10), evicted("b", 14)], [wrote(9, 1), wrote(13, 1), wrote(13.5, 1)], 1)
        self.assertEqual([(g.write.arrived, g.used_by.pod) for g in found], [(13, "b")])

    def test_a_write_that_crosses_an_eviction(self) -> None:
        """The server had not taken the disruption off yet: the write still allows the old one, and nothing is given back."""
        evictions = [evicted("a", 10), evicted("b", 13, takes=0.2)]
        found = grants(evictions, [wrote(12.9, 1), wrote(13.1, 1), wrote(16, 1)], 1)
        self.assertEqual([(g.write.arrived, round(g.reaction, 6)) for g in found], [(12.9, 2.9), (16, 3.0)])
        self.assertEqual([g.used_by and g.used_by.pod for g in found], ["b", None])

    def test_an_eviction_that_waits_for_the_write_to_be_stored(self) -> None:
        found = grants([evicted("a", 10), evicted("b", 12.99, takes=0.5)], [wrote(13, 1)], 1)
        self.assertEqual([(g.used_by.pod, g.latency) for g in found], [("b", 0.0)])

    def test_the_controller_is_faster_than_the_answer(self) -> None:
        """It has seen the disruption taken off and written so before the eviction is answered."""
        evictions = [evicted("a", 10, takes=0.2), evicted("b", 13.1, takes=0.2)]
        found = grants(evictions, [wrote(10.1, 0), wrote(13, 1), wrote(13.2, 0), wrote(16, 1)], 1)
        self.assertEqual([(round(g.reaction, 6), g.latency and round(g.latency, 6)) for g in found], [(3.0, 0.1), (2.9, None)])

    def test_evictions_that_stand_in_line_in_the_server(self) -> None:
        """b collides with a and is tried again half a second later by the server, when c has come and gone."""
        evictions = [evicted("a", 10, takes=0.02), evicted("b", 10, takes=0.5), evicted("c", 10.3, takes=0.02)]
        found = grants(evictions, [wrote(10.01, 0), wrote(10.2, 1), wrote(10.31, 0), wrote(10.4, 1), wrote(10.6, 0), wrote(10.7, 1)], 1)
        self.assertEqual([g.used_by and g.used_by.pod for g in found], ["c", "b", None])

    def test_two_at_once(self) -> None:
        evictions = [evicted("a", 10), evicted("b", 10.5), evicted("c", 14), evicted("d", 15)]
        found = grants(evictions, [wrote(13, 1), wrote(14.5, 1)], 2)
        self.assertEqual([(round(g.reaction, 6), g.used_by.pod) for g in found], [(3.0, "c"), (4.0, "d")])

    def test_two_given_back_by_one_write(self) -> None:
        found = grants([evicted("a", 10), evicted("b", 11), evicted("c", 15)], [wrote(14, 2)], 2)
        self.assertEqual([(round(g.reaction, 6), g.used_by and g.used_by.pod) for g in found], [(4.0, "c"), (3.0, None)])

    def test_what_is_taken_back_is_nobodys(self) -> None:
        """A pod fell ill in between: what was given is gone, and comes back with the pod, for no eviction."""
        found = grants([evicted("a", 10), evicted("b", 20)], [wrote(13, 1), wrote(14, 0), wrote(19, 1)], 1)
        self.assertEqual([(g.write.arrived, g.used_by) for g in found], [(13, None)])


class Bounds(unittest.TestCase):
    def test_of_a_drain(self) -> None:
        """b: 3 + 9 = 12; c: 10.5.  What the drain lost between a write and the next eviction (1 s) is not in it."""
        evictions = [evicted("b1", 100, 108), evicted("b2", 104, 113), evicted("c1", 100, 110.5, "c")]
        writes = [wrote(103, 1), wrote(104.1, 0), wrote(103.5, 1, "c")]
        made = bound(evictions, writes, {"b": 2, "c": 1}, {"b": 1, "c": 1})
        self.assertEqual((made.seconds, made.budget, made.by_budget), (12.0, "b", {"b": 12.0, "c": 10.5}))
        self.assertEqual([g.latency for g in latencies(evictions, writes, {"b": 1, "c": 1})], [1.0])

    def test_of_the_rate(self) -> None:
        evictions = [evicted("b1", 100, 100.1), evicted("b2", 104, 104.1)]
        made = bound(evictions, [wrote(100.2, 1)], {"b": 2}, {"b": 1}, rate=1)
        self.assertEqual((made.seconds, made.budget), (2.0, ""))

    def test_quantiles(self) -> None:
        values = [float(v) for v in range(1, 101)]
        self.assertEqual((quantile(values, 0.5), quantile(values, 0.95), quantile(values, 1), quantile([7.0], 0.95)), (50, 95, 100, 7))
        self.assertEqual(quantile([3.0, 1.0, 2.0], 0.5), 2.0)
        with self.assertRaises(ValueError):
            quantile([], 0.5)


def event(user: str, verb: str, resource: str, name: str, at: str, code: int = 200, sub: str = "", **more: object) -> dict:
    reference = {"resource": resource, "namespace": "n", "name": name} | ({"subresource": sub} if sub else {})
    return {"user": {"username": user}, "verb": verb, "objectRef": reference, "responseStatus": {"code": code},
            "requestReceivedTimestamp": f"2026-11-15T08:00:{at}Z", "stageTimestamp": f"2026-11-15T08:00:{at[:-1]}9Z", **more}


class Log(unittest.TestCase):
    def test_reading(self) -> None:
        base = seconds("2026-11-15T08:00:00.000000Z")
        status = {"requestObject": {"status": {"disruptionsAllowed": 1}}}
        log = [event("us", "create", "pods", "p", "01.000000", 429, "eviction"),
               event(DISRUPTION_CONTROLLER, "update", "poddisruptionbudgets", "b", "02.000000", 200, "status", **status),
               event(DISRUPTION_CONTROLLER, "update", "poddisruptionbudgets", "b", "02.500000", 409, "status", **status),
               event("us", "create", "pods", "p", "03.000000", 201, "eviction"),
               event("other", "create", "pods", "q", "03.100000", 201, "eviction"),
               event("kwok", "delete", "pods", "p", "09.000000"), event("us", "patch", "nodes", "x", "00.500000")]
        seen = read(log, "us", {"n/p": "n/b"}.get)
        self.assertEqual((seen.total, seen.refused, seen.unknown), (3, 1, []))
        self.assertEqual(round(seen.first - base, 6), 0.5)
        self.assertEqual([(w.budget, round(w.arrived - base, 6), w.allowed) for w in seen.writes], [("n/b", 2.0, 1)])
        self.assertEqual([(e.pod, e.budget, round(e.arrived - base, 6), round(e.gone - base, 6)) for e in seen.evictions],
                         [("n/p", "n/b", 3.0, 9.0)])

    def test_a_pod_of_no_budget_is_named(self) -> None:
        seen = read([event("us", "create", "pods", "p", "03.000000", 201, "eviction")], "us", {}.get)
        self.assertEqual(seen.unknown, ["n/p"])


if __name__ == "__main__":
    tap.main()
