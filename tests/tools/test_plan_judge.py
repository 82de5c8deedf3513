"""Does the judge of plans (tests/lib/plan_judge.py) find what is wrong? A drain that is over, and a plan that says what happened: it has nothing
to say. Then one thing after the other is said differently, and each time it must complain. The same with real drains is in
tests/cli/test_plan_truth.py."""

from __future__ import annotations

import collections
import copy
import sys
import unittest
from pathlib import Path
from typing import Callable

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "lib")]
import tap  # noqa: E402
from plan_clusters import Made  # noqa: E402
from plan_judge import Trial, contradictions, too_many  # noqa: E402

FULL = "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable."
DRY = "maxUnavailable 1, needs 1 healthy of 2, has 2, allows 1; the replacement of web-a fits nowhere"


def pod(name: str, owner: str, node: str | None, uid: str = "", message: str = "") -> dict:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    kind, _, owned_by = owner.partition("/")
    return {"metadata": {"namespace": "default", "name": name, "uid": uid or name, "labels": {"app": name.partition("-")[0]},
                         "ownerReferences": [{"kind": kind, "name": owned_by, "controller": True}]},
            "spec": {"containers": []} | ({"nodeName": node} if node else {}),
            "status": {"phase": "Running" if node else "Pending", "conditions": [] if node else [condition]}}


BEFORE = [pod("web-a", "ReplicaSet/web", "w1"), pod("web-b", "ReplicaSet/web", "w2"), pod("api-a", "ReplicaSet/api", "w1"),
          pod("db-0", "StatefulSet/db", "w1"), pod("db-1", "StatefulSet/db", "w1"), pod("web-o", "ReplicaSet/web", None, message=FULL),
          pod("log-0", "StatefulSet/log", "w3"), pod("log-1", "StatefulSet/log", None, message=FULL)]
# web-a had the budget and has no room; web-b is left; api-a is on w3; db-0 has no room, and so db-1 is not made.
# log-1 has found a place by itself, so that its set goes on with log-2.
AFTER = [pod("web-x", "ReplicaSet/web", None, message=FULL), BEFORE[1], pod("api-x", "ReplicaSet/api", "w3"),
         pod("db-0", "StatefulSet/db", None, "db-0 again", FULL), pod("web-o", "ReplicaSet/web", "w3"), BEFORE[6],
         pod("log-1", "StatefulSet/log", "w3"), pod("log-2", "StatefulSet/log", None, message=FULL)]
DRAINED = {"w1"}


def said(name: str, owner: str, verdict: str, code: str = "", message: str = "", **rest: object) -> dict:
    blocker = {"blocker": {"code": code, "object": "", "message": message}} if code else {}
    return {"namespace": "default", "name": name, "uid": name, "owner": owner, "verdict": verdict, **blocker, **rest}


TRUTH = {
    "pods": {"goes": 1, "homeless": 3, "never": 1},
    "nodes": [
        {"name": "w1", "verdict": "homeless", "begins": 0, "ends": 9, "pods": [
            said("api-a", "ReplicaSet/api", "goes", to="w3"), said("db-0", "StatefulSet/db", "homeless", "CapacityInsufficient", FULL),
            said("db-1", "StatefulSet/db", "homeless", "NotRescheduled", "its replacement is made after db-0, which fits nowhere"),
            said("web-a", "ReplicaSet/web", "homeless", "CapacityInsufficient", FULL)]},
        {"name": "w2", "verdict": "never", "begins": 0, "pods": [said("web-b", "ReplicaSet/web", "never", "PDBNoBudget", DRY)]}],
}


class Quiet:
    """The cluster when all is over. A pod that is deleted comes again as it was."""

    patience = stuck = longer = enough = 1.0
    rehearsals = 0

    def items(self, path: str) -> list[dict]:
        return copy.deepcopy(AFTER) if path == "/api/v1/pods" else []

    def call(self, method: str, path: str, body: object = None) -> None:
        """Nothing comes of it."""

    def explain(self, pod: dict) -> None:
        """Nobody is there to be asked."""


def judge(plan: dict) -> Trial:
    made = Made(1, [{"name": f"w{i}", "cpu": 2} for i in (1, 2, 3)], [], ["w1", "w2"], [], wanted={}, ordered={"db", "log"})
    t = Trial(Quiet(), made)  # type: ignore[arg-type]
    t.plan = plan
    t.faults += contradictions(plan)
    t.compare_pods(BEFORE, AFTER)
    t.compare_nodes(DRAINED, AFTER)
    return t


def find(plan: dict, name: str) -> dict:
    return next(x for n in plan["nodes"] for x in (n, *n["pods"]) if x["name"] == name)


def count(plan: dict) -> None:
    plan["pods"] = dict(collections.Counter(p["verdict"] for n in plan["nodes"] for p in n["pods"]))


def say(name: str, verdict: str, code: str = "", message: str = "", node: str = "") -> Callable[[dict], None]:
    """Of this pod, and what follows for its node and the totals, so that the plan does not contradict itself."""
    def tell(plan: dict) -> None:
        p = find(plan, name)
        for key in ("to", "blocker"):
            p.pop(key, None)
        p |= said(p["name"], p["owner"], verdict, code, message)
        count(plan)
        for n in plan["nodes"]:
            if p in n["pods"] and node:
                n["verdict"] = node
                n.pop("ends", None)
                n |= {} if node in ("unsure", "never") else {"ends": 9}
    return tell


def put(name: str, **what: object) -> Callable[[dict], None]:
    return lambda plan: find(plan, name).update(what)


LIES: dict[str, Callable[[dict], None]] = {
    "one that goes is said never to": say("api-a", "never", "PDBUnsatisfiable", "x", "never"),
    "one that goes is said to be without room": say("api-a", "homeless", "CapacityInsufficient", FULL),
    "one that never goes is said to": say("web-b", "goes", node="goes"),
    "one that never goes is said to wait": say("web-b", "waits", "PDBNoBudget", "x", "waits"),
    "one that never goes is said to be without room": say("web-b", "homeless", "CapacityInsufficient", FULL, "homeless"),
    "one without room is said to have some": say("web-a", "goes"),
    "one of a StatefulSet without room is said to have some": say("db-0", "goes"),
    "one that is Pending is said not to be made": say("db-0", "homeless", "NotRescheduled", "x"),
    "one that is not made is said to be Pending": say("db-1", "homeless", "CapacityInsufficient", FULL),
    "one that is not made is said to be": say("db-1", "goes"),
    "one that is gone is said to stay for lack of a turn": say("web-a", "unsure", "MaxUnavailableReached", "its turn does not come", "unsure"),
    "the scheduler is said to say something else": say("web-a", "homeless", "CapacityInsufficient", FULL.replace("2 node(s)", "3 node(s)")),
    "a sibling is said to go in its stead": lambda plan: (say("web-b", "homeless", "CapacityInsufficient", FULL, "homeless")(plan),
                                                         say("web-a", "never", "PDBNoBudget", DRY, "never")(plan)),
    "a node that is drained is said not to be": put("w1", verdict="never", blocker={"code": "x", "message": "x"}),
    "a node that is not is said to be": put("w2", verdict="goes"),
    "a node that is not drained has an end": put("w2", ends=9),
    "a node is certain, and its blocker says that it is chance": put("w1", blocker={"code": "x", "message": "whether it is drained is chance"}),
    "a node is better than its pods": put("w1", verdict="goes"),
    "a node is worse than its pods, for no reason": put("w1", verdict="waits"),
    "the plan has an end that its nodes have not": lambda plan: plan.update(seconds=9),
    "the totals are others": lambda plan: plan["pods"].update(goes=2),
    "one without room has a place": put("web-a", to="w3"),
}
CHANCE = "x; which of them get away is chance"


class Judge(unittest.TestCase):
    def test_the_truth_is_not_complained_of(self) -> None:
        t = judge(copy.deepcopy(TRUTH))
        self.assertFalse(t.faults)
        self.assertEqual((t.counts()["elsewhere"], t.counts()["preempted"], t.counts()["pods by chance"]), (0, 0, 0))

    def test_lies_are_found(self) -> None:
        for what, tell in LIES.items():
            with self.subTest(what):
                plan = copy.deepcopy(TRUTH)
                tell(plan)
                self.assertNotEqual(plan, TRUTH)
                self.assertTrue(judge(plan).faults, what)

    def test_chance_excuses_its_own_pods_alone(self) -> None:
        plan = copy.deepcopy(TRUTH)
        say("web-b", "unsure", "PDBNoBudget", CHANCE, "unsure")(plan)
        self.assertFalse(judge(plan).faults)
        say("api-a", "homeless", "CapacityInsufficient", FULL)(plan)
        self.assertTrue(judge(plan).faults, "another owner's place is no part of that")
        plan = copy.deepcopy(TRUTH)
        say("api-a", "homeless", "CapacityInsufficient", "whether its replacement finds a place is chance")(plan)
        self.assertFalse(judge(plan).faults)
        say("web-b", "goes", node="goes")(plan)
        self.assertTrue(judge(plan).faults, "whether it leaves is no part of that")

    def test_who_calls_everything_chance_says_nothing(self) -> None:
        plan = copy.deepcopy(TRUTH)
        for name in ("web-a", "web-b", "api-a", "db-0", "db-1"):
            say(name, "unsure", "PDBNoBudget", CHANCE, "unsure")(plan)
        honest, vague = judge(copy.deepcopy(TRUTH)).counts(), judge(plan).counts()
        self.assertFalse(judge(plan).faults)
        many = collections.Counter({key: 20 * value for key, value in honest.items()}) + collections.Counter(clusters=20)
        self.assertFalse(too_many(many))
        self.assertTrue(too_many(collections.Counter({key: 20 * value for key, value in vague.items()}) + collections.Counter(clusters=20)))

    def test_a_pod_that_waited_before_is_none_of_the_plan(self) -> None:
        """That web-o has found room does not make up for a sibling that has none: the plan that says so is right."""
        plan = copy.deepcopy(TRUTH)
        self.assertTrue(any(p["metadata"]["name"] == "web-o" and p["spec"].get("nodeName") for p in AFTER))
        self.assertFalse(judge(plan).faults)
        say("web-a", "goes")(plan)
        self.assertTrue(judge(plan).faults)


if __name__ == "__main__":
    tap.main()
