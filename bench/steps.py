"""Measures what a step of a drain costs as the nodes become more (bench/steps.c), in process.

Four situations: nothing is in the way, every pod waits for its budget, --max-unavailable 100, and nodes that have to be cordoned
first.  What is wanted is a ratio: an event of one pod, or the cordon of one node, should cost much the same with 5,000 nodes under
way as with 50.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from measure import HoldFailed

SITUATIONS = {"free": "nothing in the way", "blocked": "all wait for budgets", "limited": "--max-unavailable 100",
              "open": "not cordoned yet"}
NODES = (50, 500, 5000)
TIMES = ("first_ms", "cordon_ms", "second_ms", "pod_us", "step_us", "same_us", "budget_us", "answer_us")
# A hundred times the nodes: an event costs a look at one flag of each, and more misses of the processor's caches.  What
# matters is that it stays far below the 50 ms in which an eviction has to follow its budget.
RATIO_MOST = 10.0
FIRST_MOST_MS = 3000.0  # of 150,000 pods, once
LIMIT = 300  # seconds for one run


@dataclass
class Verdict:
    name: str
    value: float
    unit: str
    most: float


def run(program: Path, situation: str, nodes: int) -> dict:
    try:
        ran = subprocess.run([program, situation, str(nodes)], capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise HoldFailed(f"{program} {situation} {nodes}: not done after {LIMIT} s") from None
    if ran.returncode != 0:
        raise HoldFailed(f"{program} {situation} {nodes}: status {ran.returncode}: {ran.stderr.strip()}")
    return json.loads(ran.stdout)


def best(runs: list[dict]) -> dict:
    """The least of each time: what else runs on the machine can only make it slower.  The rest must not differ."""
    counts = [{key: value for key, value in each.items() if key not in TIMES} for each in runs]
    if any(each != counts[0] for each in counts):
        raise HoldFailed(f"the same drain went in different ways: {counts}")
    return counts[0] | {key: min(each[key] for each in runs) for key in TIMES}


def measure(program: Path, rounds: int) -> dict[str, list[dict]]:
    """For each situation what was measured, from few nodes to many."""
    return {situation: [best([run(program, situation, nodes) for _ in range(rounds)]) for nodes in NODES] for situation in SITUATIONS}


def rows(found: dict[str, list[dict]]) -> list[list[str]]:
    out = [["a step of a drain (least)", "nodes", "first step", "cordons", "a second", "pod event", "its step", "same pod", "budget event", "answer"]]
    for situation, runs in found.items():
        for each in runs:
            cordons = f"{each['cordon_ms']:.1f} ms" if situation == "open" else "-"
            answer = f"{each['answer_us']:.1f} us" if each["answer_us"] else "-"
            out.append([SITUATIONS[situation], str(each["nodes"]), f"{each['first_ms']:.1f} ms", cordons, f"{each['second_ms']:.1f} ms",
                        *(f"{each[key]:.1f} us" for key in ("pod_us", "step_us", "same_us", "budget_us")), answer])
    return out


def verdicts(found: dict[str, list[dict]]) -> list[Verdict]:
    out = []
    for situation, runs in found.items():
        few, many = runs[0], runs[-1]
        if situation == "open":
            out.append(Verdict(f"a node's cordon, {many['nodes']} nodes / {few['nodes']}",
                               many["cordon_ms"] / many["nodes"] / (few["cordon_ms"] / few["nodes"]), "x", RATIO_MOST))
            continue
        out += [Verdict(f"a pod's event, {many['nodes']} nodes / {few['nodes']}, {SITUATIONS[situation]}",
                        many["pod_us"] / few["pod_us"], "x", RATIO_MOST),
                Verdict(f"first step of {many['nodes']} nodes, {SITUATIONS[situation]}", many["first_ms"], " ms", FIRST_MOST_MS)]
    return out
