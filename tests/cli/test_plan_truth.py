"""Do plans come true? Random small clusters with little room and much in the way (tests/lib/plan_clusters.py): each is planned, then
really drained in the simulator, and what happened is compared with what the plan said (tests/lib/plan_judge.py). The same on a real control
plane is tests/cluster/test_plan.py.

SEEDS=N tries N clusters (20), SEEDS=7:8 the one of seed 7."""

from __future__ import annotations

import collections
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "lib")]
import tap  # noqa: E402
from plan_clusters import Ground, Made, draw  # noqa: E402
from plan_judge import Trial, summary, too_many  # noqa: E402
from program import LIMIT, SLIPWAY, Result, environment, run  # noqa: E402
from simulation import Sim  # noqa: E402

SEEDS = os.environ.get("SEEDS", "20")
FIRST, LAST = (int(x) for x in (SEEDS if ":" in SEEDS else f"0:{SEEDS}").split(":"))
GROUP = 10  # clusters of a test case
SPEED = 60
FOR_EVER = "100h"


def pace(r: random.Random, never: bool = False, slow: bool = False) -> dict:
    marks = {"start": "1s-3s", "stop": "4m-5m" if slow else "1s-4s", "run": FOR_EVER} | ({"ready": "never"} if never else {})
    return {f"sim.slipway.dev/{key}": value for key, value in marks.items()}


GROUND = Ground(provisioner="disk.sim.slipway.dev", topologies=False, pace=pace)


def scenario(made: Made) -> dict:
    groups = []
    for n in made.nodes:
        stem, number = n["name"].rstrip("0123456789"), n["name"].lstrip("w")
        group = {"name": f"{stem}[{number}-{number}]", "cpu": n["cpu"], "memory": "4Gi", "labels": n["labels"], "taints": n["taints"],
                 "unschedulable": n["cordoned"]}
        groups.append(group | ({"zones": [n["zone"]]} if n["zone"] else {}))
    return {"description": f"seed {made.seed}", "settle": "10m", "nodes": groups, "objects": made.objects}


class Simulated:
    """The world of a trial: the simulator, in which a minute passes in a second."""

    patience = LIMIT
    stuck, longer, enough = 4, 8, 50

    def __init__(self, sim: Sim) -> None:
        self.sim = sim

    def items(self, path: str) -> list[dict]:
        return self.sim.client.get(path)["items"]

    def call(self, method: str, path: str, body: object = None) -> object:
        merge = {"content_type": "application/merge-patch+json"} if method == "PATCH" else {}
        code, answer = self.sim.client.call(method, path, body, **merge)
        assert code < 400 or code == 404, answer
        return answer

    def slipway(self, *words: str, seconds: float | None = None) -> Result:
        env = {"KUBECONFIG": str(self.sim.kubeconfig), "SUDO_USER": "alice"}
        if seconds is None:
            return run(*words, **env)
        with subprocess.Popen([SLIPWAY, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=environment(**env)) as child:
            try:
                out, err = child.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                child.kill()
                out, err = child.communicate()
            return Result(out, err, child.returncode)

    def grow_old(self, seconds: float) -> None:
        time.sleep(seconds / SPEED)

    def prepare(self, pods: list[dict]) -> None:
        """They are a quarter of an hour old."""

    def explain(self, pod: dict) -> None:
        """The simulator's scheduler is src/engine/fit itself."""


def trial(seed: int) -> Trial:
    made = draw(seed, GROUND)
    with tempfile.TemporaryDirectory() as d:
        path = Path(d) / "cluster.yaml"
        path.write_text(json.dumps(scenario(made)))
        with Sim("--scenario", str(path), "--seed", str(seed), "--speed", str(SPEED)) as sim:
            return Trial(Simulated(sim), made).run()


class Truth(unittest.TestCase):
    seen: collections.Counter = collections.Counter()

    def test_what_was_explained(self) -> None:
        """After all others: differences that have a cause are counted, and few."""
        print(f"# clusters {FIRST} to {LAST}: {summary(self.seen)}", flush=True)
        self.assertFalse(too_many(self.seen), summary(self.seen))

    def group(self, first: int) -> None:
        for seed in range(first, min(first + GROUP, LAST)):
            with self.subTest(seed=seed):
                t = trial(seed)
                type(self).seen += t.counts()
                self.assertFalse(t.faults, f"seed {seed}: drain of {t.made.target} {t.made.flags}: {t.faults}\n" + "\n".join([*t.story, t.said]))


def add(first: int) -> None:
    setattr(Truth, f"test_seeds_{first:03}", lambda self: self.group(first))


for number in range(FIRST, LAST, GROUP):
    add(number)


if __name__ == "__main__":
    tap.main()
