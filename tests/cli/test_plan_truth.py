"""Do plans come true? Random small clusters with little room and much in the way (tests/lib/plan_clusters.py): each is planned, then
really drained in the simulator, and what happened is compared with what the plan said (tests/lib/plan_judge.py). The same on a real control
plane is tests/cluster/test_plan.py.

SEEDS=N tries N clusters (20), SEEDS=7:8 the one of seed 7."""

from __future__ import annotations

import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Callable

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


GROUND = Ground(provisioner="disk.sim.slipway.dev", pace=pace)


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
    stuck, longer, enough, rehearsals = 4, 8, 50, 20

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
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err, \
                subprocess.Popen([SLIPWAY, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment(**env)) as child:
            said, until = 0, time.monotonic() + seconds
            while child.poll() is None and time.monotonic() < until:  # it is stopped when it has done nothing for as long
                if (now := os.fstat(out.fileno()).st_size) != said:
                    said, until = now, time.monotonic() + seconds
                time.sleep(0.02)
            child.kill()
            child.wait()
            for file in (out, err):
                file.seek(0)
            return Result(out.read(), err.read(), child.returncode)

    def grow_old(self, seconds: float) -> None:
        time.sleep(seconds / SPEED)

    def prepare(self, pods: list[dict]) -> None:
        """They are a quarter of an hour old."""

    def explain(self, pod: dict) -> None:
        """The simulator's scheduler is src/engine/fit itself."""


def trial(seed: int, judge: type[Trial] = Trial) -> Trial:
    made = draw(seed, GROUND)
    with tempfile.TemporaryDirectory() as d:
        path = Path(d) / "cluster.yaml"
        path.write_text(json.dumps(scenario(made)))
        with Sim("--scenario", str(path), "--seed", str(seed), "--speed", str(SPEED)) as sim:
            return judge(Simulated(sim), made).run()


# -- plans that are wrong on purpose ----------------------------------------------------------------------------------


def pods_of(plan: dict, *verdicts: str) -> list[tuple[dict, dict]]:
    return [(n, p) for n in plan["nodes"] for p in n["pods"] if p["verdict"] in verdicts]


def held_up(plan: dict) -> bool:
    """One that goes is said never to."""
    for n, p in pods_of(plan, "goes"):
        p |= {"verdict": "never", "blocker": {"code": "PDBUnsatisfiable", "object": "", "message": ""}}
        n["verdict"] = "never"
        return True
    return False


def let_go(plan: dict) -> bool:
    """One that never goes is said to."""
    for _, p in pods_of(plan, "never"):
        if p["blocker"]["code"] != "PinnedToNode":
            del p["blocker"]
            p["verdict"] = "goes"
            return True
    return False


def given_room(plan: dict) -> bool:
    """One without room is said to have some."""
    for _, p in pods_of(plan, "homeless"):
        del p["blocker"]
        p["verdict"] = "goes"
        return True
    return False


def denied_room(plan: dict) -> bool:
    """One that has room is said to have none."""
    for _, p in pods_of(plan, "goes"):
        if p.get("to"):
            del p["to"]
            p |= {"verdict": "homeless", "blocker": {"code": "CapacityInsufficient", "object": "", "message": "0/9 nodes are available"}}
            return True
    return False


def other_words(plan: dict) -> bool:
    """The scheduler is said to say something else."""
    for _, p in pods_of(plan, "homeless"):
        if p["blocker"]["code"] == "CapacityInsufficient":
            p["blocker"]["message"] = re.sub(r"(\d+) node\(s\) were unschedulable", lambda m: f"{int(m[1]) + 1} node(s) were unschedulable",
                                             p["blocker"]["message"])
            return True
    return False


def not_made(plan: dict) -> bool:
    """One that is Pending is said not to be made."""
    for _, p in pods_of(plan, "homeless"):
        if p["owner"].startswith("StatefulSet/") and p["blocker"]["code"] == "CapacityInsufficient":
            p["blocker"]["code"] = "NotRescheduled"
            return True
    return False


def node_that_stays(plan: dict) -> bool:
    """A node that is drained is said not to be, for no pod's sake."""
    for n in plan["nodes"]:
        if n["verdict"] in ("goes", "waits", "homeless"):
            n["verdict"] = "never"
            return True
    return False


def node_that_goes(plan: dict) -> bool:
    """And the other way round."""
    for n in plan["nodes"]:
        if n["verdict"] == "never":
            n["verdict"] = "goes"
            return True
    return False


# With the seed from which on a cluster is looked for about which that can be said.
LIES = {held_up: 1, let_go: 0, given_room: 6, denied_room: 1, other_words: 6, not_made: 13, node_that_stays: 2, node_that_goes: 0}
LOOK = 40


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


class Judge(unittest.TestCase):
    """Whoever says something wrong is found out: else that nothing was found says nothing."""

    def lie(self, tell: Callable[[dict], bool], first: int) -> None:
        class Liar(Trial):
            told = False

            def carry_out(self, before: list[dict], path: Path) -> None:
                type(self).told = tell(self.plan)
                self.world.enough = self.world.longer  # what is said to get through may not
                if self.told:
                    super().carry_out(before, path)

        for seed in range(first, first + LOOK):
            t = trial(seed, Liar)
            if Liar.told:
                self.assertTrue(t.faults, f"seed {seed}: {tell.__doc__} {t.counts()}")
                return
        self.fail(f"no cluster from {first} on: {tell.__doc__}")


for lie, since in LIES.items():
    setattr(Judge, f"test_{lie.__name__}", lambda self, lie=lie, since=since: self.lie(lie, since))


def add(first: int) -> None:
    setattr(Truth, f"test_seeds_{first:03}", lambda self: self.group(first))


for number in range(FIRST, LAST, GROUP):
    add(number)


if __name__ == "__main__":
    tap.main()
