"""Measures what a plan of a large cluster costs (bench/plan.c) and how good it is, and what an answer of why costs (bench/why.c).

Costs are measured in process, for 5,000 nodes with 150,000 pods.  Three plans: half of the nodes at once; all of them, a hundred at
a time and put back, as an upgrade does it; all of them at once, where nothing fits anywhere.  Two questions: a node each of whose
thirty pods waits for a budget with a pod that finds no node; a node with nothing in the way.  The least time of several rounds
counts: what else runs on the machine can only make it slower.

How good a plan is: the time that it takes beside the lower bound that it states itself.  For the plans above, and for those of the
simulator's fleet of fifty (bench/rolling.yaml) with one to twenty-five nodes out at a time.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from measure import HoldFailed
from steps import LIMIT, Verdict, run

SITUATIONS = {"half": "half of the nodes", "rolling": "all, a hundred at a time", "all": "all at once"}
QUESTIONS = {"blocked": "30 pods, 30 budgets that allow nothing", "free": "nothing is in the way"}
NODES = 5000
PLAN_MOST_MS = 2000.0
MEMORY_MOST_MB = 300.0
WHY_MOST_MS = 200.0
OVER_BOUND_MOST = 1.15
FLEET = Path(__file__).resolve().parent / "rolling.yaml"
FLEET_NODES = 50
FLEET_AT_ONCE = (1, 2, 3, 5, 10, 25)


def measure(program: Path, rounds: int) -> dict[str, dict]:
    return {situation: min((run(program, situation, NODES) for _ in range(rounds)), key=lambda each: each["plan_ms"])
            for situation in SITUATIONS}


def measure_why(program: Path, rounds: int) -> dict[str, dict]:
    return {question: min((run(program, question, NODES) for _ in range(rounds)), key=lambda each: each["first_ms"])
            for question in QUESTIONS}


def plan_fleet(slipway: Path, scratch: Path) -> dict[str, dict]:
    """The plans of the simulator's fleet, all of one simulator: node after node is drained and put back."""
    files = {at_once: scratch / f"plan-{at_once}.json" for at_once in FLEET_AT_ONCE}
    plans = [f'"$0" plan drain -l kubernetes.io/os=linux --uncordon --max-unavailable={at_once} -o json >"{path}"'
             for at_once, path in files.items()]
    command = [str(slipway), "sim", "--nodes", str(FLEET_NODES), "--scenario", str(FLEET), "--", "sh", "-c", " && ".join(plans), str(slipway)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise HoldFailed(f"plans of {FLEET.name}: not done after {LIMIT} s") from None
    if ran.returncode != 0:
        raise HoldFailed(f"plans of {FLEET.name}: status {ran.returncode}: {ran.stderr.strip()}")
    found = {}
    for at_once, path in files.items():
        plan = json.loads(path.read_text())
        if plan["pods"]["never"] or plan["pods"]["unsure"] or plan["pods"]["homeless"]:
            raise HoldFailed(f"a plan of {FLEET.name}, {at_once} at a time, does not get through: {plan['pods']}")
        found[f"fleet-{at_once}"] = {"name": f"a fleet of {FLEET_NODES}, {at_once} at a time", "nodes": FLEET_NODES,
                                     "seconds": plan["drained"], "least": plan["lowerBound"]["seconds"],
                                     "binds": plan["lowerBound"]["binds"]}
    return found


def rows(found: dict[str, dict], fleet: dict[str, dict]) -> list[list[str]]:
    out = [["a plan (least)", "nodes", "pods", "time", "memory", "as planned", "at least", "ratio"]]
    for situation, each in found.items():
        out.append([SITUATIONS[situation], str(each["nodes"]), str(each["pods"]), f"{each['plan_ms']:.0f} ms",
                    f"{each['memory_mb']:.0f} MB", f"{each['seconds']:.0f} s", f"{each['least']:.0f} s", f"{ratio(each):.3f}"])
    for each in fleet.values():
        out.append([each["name"], str(each["nodes"]), "1500", "-", "-", f"{each['seconds']:.0f} s", f"{each['least']:.0f} s",
                    f"{ratio(each):.3f}"])
    return out


def why_rows(found: dict[str, dict]) -> list[list[str]]:
    out = [["why a node is not drained (least)", "nodes", "pods", "picture", "first answer", "next"]]
    for question, each in found.items():
        out.append([QUESTIONS[question], str(each["nodes"]), str(each["pods"]), f"{each['picture_ms']:.0f} ms",
                    f"{each['first_ms']:.1f} ms", f"{each['why_ms']:.1f} ms"])
    return out


def ratio(each: dict) -> float:
    return each["seconds"] / each["least"] if each["least"] else 1.0


def verdicts(found: dict[str, dict], fleet: dict[str, dict]) -> list[Verdict]:
    costs = [verdict for situation, each in found.items() for verdict in (
        Verdict(f"a plan of {each['nodes']} nodes, {SITUATIONS[situation]}", each["plan_ms"], " ms", PLAN_MOST_MS),
        Verdict(f"its memory beyond the cache, {SITUATIONS[situation]}", each["memory_mb"], " MB", MEMORY_MOST_MB))]
    named = [(SITUATIONS[situation], each) for situation, each in found.items()] + [(each["name"], each) for each in fleet.values()]
    return costs + [Verdict(f"as planned / lower bound, {name}", ratio(each), "x", OVER_BOUND_MOST) for name, each in named]


def why_verdicts(found: dict[str, dict]) -> list[Verdict]:
    return [Verdict(f"why, {each['nodes']} nodes, {QUESTIONS[question]}", each["first_ms"], " ms", WHY_MOST_MS)
            for question, each in found.items()]
