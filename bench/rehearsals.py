"""Compares rehearsals with what then happens, on a real cluster whose pods are slow: `slipway rehearse`, then `slipway drain`.

    python3 bench/rehearsals.py [--seed N] [--observed N] [--drains N] [--runs N] [--keep DIRECTORY]
    python3 bench/rehearsals.py --again DIRECTORY [--runs N]

Five drains are only watched (`drain --history`), node after node.  Then twenty more of random nodes are rehearsed, with that history and
nothing else, and done.
Wanted: the same pods stay; at least 12 of 20 durations are between the rehearsal's p10 and p90; p90 is at most 1.5 times p10; the
median error of the middle one (p50) is at most 10 %.

Everything is drawn from the seed: how many replicas each workload has, how long its pods take to start and to end (steady, evenly
spread, or with a slow fifth: stages of the fake kubelets, one set for each workload), which budgets they have, and which nodes are
drained.  Nobody tells Slipway any of it.  There are Deployments and StatefulSets, ordered and parallel, with and without a budget;
and one whose budget allows nothing, so that some drains never end: those are given up when nothing has moved for a while, and last
until the last pod that could go was gone.  Durations are those of the whole program as seen from outside, and the server's audit log's.
bench/run.py calls measure() as its part "rehearse".

A series that was kept has the snapshot before each drain, the history and the durations in it: --again rehearses it with another build, or
another model, in seconds and without a cluster.  What is tuned by it has to be shown by a series of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "cluster"))

from drain import has_drain, table, tail  # noqa: E402
from drain_audit import seconds  # noqa: E402

from binaries import SKIP_STATUS, Binaries, BuildFailed, Unavailable  # noqa: E402
from cluster import STAGES, Cluster  # noqa: E402
from process import ClusterError, Died, wait_for  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
NAMESPACE = "rehearsed"
NODES = 6
OBSERVED, DRAINS, RUNS = 5, 20, 200
LEAST_PODS = 20  # of a drain: what hangs on a pod or two differs by more than is wanted, whoever foretells it
QUIET = 13  # seconds without a change after which a drain is given up; no pod takes so long to start or to end
PATIENCE = 600
DONE, BLOCKED = 0, 3
WITHIN_LEAST, RATIO_MOST, ERROR_MOST = 0.6, 1.5, 10.0

# -- workloads -----------------------------------------------------------------------------------------------------


@dataclass
class Pace:
    """How long something takes: with what weight between which milliseconds."""

    name: str
    parts: list[tuple[int, int, int]]

    @staticmethod
    def draw(rnd: random.Random, least: float, most: float) -> "Pace":
        name, mean = rnd.choice(["steady", "even", "slow fifth"]), rnd.uniform(least, most) * 1000
        spans = {"steady": [(1, 0.97, 1.03)], "even": [(1, 0.65, 1.35)], "slow fifth": [(4, 0.7, 1.1), (1, 1.3, 1.7)]}[name]
        return Pace(name, [(weight, int(mean * low), int(mean * high)) for weight, low, high in spans])

    def __str__(self) -> str:
        return f"{self.name} {self.parts[0][1] / 1000:.1f}-{self.parts[-1][2] / 1000:.1f} s"


@dataclass
class Workload:
    name: str
    kind: str
    replicas: int
    start: Pace
    stop: Pace
    budget: dict = field(default_factory=dict)
    spec: dict = field(default_factory=dict)  # of the workload
    pods: dict = field(default_factory=dict)  # of its pods

    def objects(self) -> list[dict]:
        labels, meta = {"app": self.name}, {"name": self.name, "namespace": NAMESPACE}
        containers = [{"name": "main", "image": "registry.test/app:1"}]
        template = {"metadata": {"labels": labels}, "spec": {"terminationGracePeriodSeconds": 60, "containers": containers, **self.pods}}
        spec = {"selector": {"matchLabels": labels}, "template": template, **self.spec}
        if self.kind != "DaemonSet":
            spec["replicas"] = self.replicas
        made = [{"apiVersion": "apps/v1", "kind": self.kind, "metadata": meta, "spec": spec}]
        if self.budget:
            made.append({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta,
                         "spec": {"selector": {"matchLabels": labels}, **self.budget}})
        return made

    def stages(self) -> str:
        """Of the fake kubelets, for these pods alone: the common ones with other delays, and with a weight, which the common ones lack."""
        made = []
        for stage, pace in (("pod-ready", self.start), ("pod-gone", self.stop)):
            text = (STAGES / f"{stage}.yaml").read_text()
            for i, (weight, low, high) in enumerate(pace.parts):
                one = text.replace(f"name: {stage}\nspec:", f"name: {stage}-{self.name}-{i}\nspec:\n  weight: {weight}", 1)
                own = f"matchExpressions:\n    - jq: {{key: .metadata.labels.app, operator: In, values: [{self.name}]}}"
                one = one.replace("matchExpressions:", own, 1)
                for key, value in (("MIN", low), ("MAX", high)):
                    one = one.replace(f"@{'READY' if stage == 'pod-ready' else 'GONE'}_{key}_MS@", str(value))
                made.append(one)
        return "".join(f"---\n{one}" for one in made)


def draw_workloads(rnd: random.Random) -> list[Workload]:
    def one(name: str, kind: str, least: int, most: int, **more) -> Workload:
        return Workload(name, kind, rnd.randint(least, most), Pace.draw(rnd, 1.5, 3.5), Pace.draw(rnd, 3, 7), **more)

    apart = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "rigid"}}}]}}}
    made = [one(f"web-{i}", "Deployment", 10, 16, budget={"maxUnavailable": 1}) for i in range(4)]
    made.append(one("share", "Deployment", 8, 12, budget={"minAvailable": rnd.choice(["75%", "80%"])}))
    made.append(one("free", "Deployment", 6, 10))
    made.append(one("db", "StatefulSet", 5, 7, budget={"maxUnavailable": 1}))
    made.append(one("queue", "StatefulSet", 5, 7, spec={"podManagementPolicy": "Parallel"}))
    made[-1].budget = {"minAvailable": made[-1].replicas - 1}
    made.append(one("rigid", "Deployment", 2, 2, budget={"maxUnavailable": 0}, pods=apart))
    made.append(one("agent", "DaemonSet", NODES, NODES))
    return made


class SlowCluster(Cluster):
    """With stages for each workload beside the common ones."""

    def __init__(self, workloads: list[Workload], **options) -> None:
        super().__init__(**options)
        self.workloads = workloads

    def _add_kwok(self) -> None:
        super()._add_kwok()
        with open(self.dir / "stages.yaml", "a") as stages:
            stages.write("\n" + "".join(w.stages() for w in self.workloads))


# -- drains --------------------------------------------------------------------------------------------------------


@dataclass
class Trial:
    """One rehearsal and the drain that followed."""

    nodes: list[str]
    pods: int
    p10: float
    p50: float
    p90: float
    took: float
    rehearsed_left: list[str]
    left: list[str]
    codes: list[str]  # why the rehearsal says they stay
    assumed: str  # stops that rest on no observation, of how many

    @property
    def inside(self) -> bool:
        return self.p10 <= self.took <= self.p90

    @property
    def ratio(self) -> float:
        return self.p90 / self.p10 if self.p10 else float("inf")

    @property
    def error(self) -> float:
        return abs(self.p50 - self.took) / self.took * 100

    @property
    def same_left(self) -> bool:
        return self.rehearsed_left == self.left

    def numbers(self) -> dict:
        return asdict(self) | {"inside": self.inside, "ratio": self.ratio, "error_percent": self.error}


@dataclass
class Series:
    seed: int
    observed: list[float]
    lines: int  # of the history
    trials: list[Trial]

    def numbers(self) -> dict:
        return {"seed": self.seed, "observed": self.observed, "history_lines": self.lines, "drains": [t.numbers() for t in self.trials]}


class Stage:
    """The cluster with its workloads, at rest between two drains."""

    def __init__(self, cluster: Cluster, workloads: list[Workload], program: Path, rnd: random.Random) -> None:
        self.cluster, self.api, self.workloads, self.program, self.rnd = cluster, cluster.api, workloads, program, rnd
        self.nodes = cluster.add_nodes(NODES, prefix="node")
        self.log = cluster.logs / "rehearsals.log"
        self.turn: list[str] = []
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"
        wait_for(lambda: self.api.raw("GET", account)[0] == 200, 30, account)
        self.api.bulk([o for w in workloads for o in w.objects()], workers=4)
        self.settle()

    def pods(self) -> list[dict]:
        return list(self.api.items(f"/api/v1/namespaces/{NAMESPACE}/pods"))

    def to_go(self, nodes: list[str]) -> list[dict]:
        return [p for p in self.pods() if p["spec"].get("nodeName") in nodes and p["metadata"]["labels"]["app"] != "agent"]

    def settled(self) -> bool:
        pods = self.pods()
        if len(pods) != sum(w.replicas for w in self.workloads) or not all(is_ready(p) for p in pods):
            return False
        found = self.api.items(f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets")
        budgets = {b["metadata"]["name"]: b.get("status", {}) for b in found}
        return all(budgets[w.name].get("currentHealthy") == w.replicas and not budgets[w.name].get("disruptedPods")
                   for w in self.workloads if w.budget)

    def settle(self) -> None:
        wait_for(self.settled, 180, "all pods to be ready again", interval=0.5)

    def choose(self) -> list[str]:
        """Random nodes, as many as it takes to have something to do."""
        nodes: list[str] = []
        pods = 0
        for node in self.rnd.sample(self.nodes, len(self.nodes) - 2):
            if pods < LEAST_PODS:
                nodes.append(node)
                pods += len(self.to_go([node]))
        return sorted(nodes)

    def next_in_turn(self) -> list[str]:
        """One or two, as a maintenance goes through them: each node once before any comes again."""
        chosen = []
        for _ in range(self.rnd.choice([1, 1, 2])):
            self.turn = self.turn or self.rnd.sample(self.nodes, len(self.nodes))
            chosen.append(self.turn.pop())
        return sorted(set(chosen))

    def environment(self) -> dict[str, str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("KUBE", "SLIPWAY"))}
        return env | {"KUBECONFIG": str(self.cluster.admin), "HOME": str(self.cluster.dir)}

    def slipway(self, *arguments: str, codes: tuple[int, ...] = (DONE,)) -> str:
        try:
            done = subprocess.run([self.program, *arguments], env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise ClusterError(f"slipway {' '.join(arguments)} has not ended after {PATIENCE} s") from None
        if done.returncode not in codes:
            raise ClusterError(f"slipway {' '.join(arguments)}: status {done.returncode}: {done.stderr.strip()[-1000:]}")
        return done.stdout

    def rehearse(self, nodes: list[str], history: Path, runs: int, seed: int) -> dict:
        flags = ["--history", str(history), "--runs", str(runs), "--seed", str(seed), "-o", "json"]
        return json.loads(self.slipway("rehearse", *nodes, *flags, codes=(DONE, BLOCKED)))

    def keep(self, directory: Path | None, trial: int) -> None:
        if directory:
            self.slipway("snapshot", "--out", str(directory / f"{trial}.json.gz"))

    def drain(self, nodes: list[str], *more: str) -> tuple[float, list[str]]:
        """Seconds until it was over, or the last pod that could go was gone; and the pods that stayed."""
        before, state = {p["metadata"]["name"] for p in self.to_go(nodes)}, self.state()
        mark, begun, started = self.cluster.audit.mark(), time.time(), time.monotonic()
        with open(self.log, "wb") as output:
            process = subprocess.Popen([self.program, "drain", *nodes, *more], env=self.environment(), stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=subprocess.STDOUT)
        try:
            took = self.watch(process, nodes, started, state)
        finally:
            process.kill()
            process.wait()
        left = sorted(p["metadata"]["name"] for p in self.to_go(nodes))
        if took is None:
            deletions = self.cluster.audit.requests(mark, user="kwok", verb="delete", resource="pods")
            gone = [seconds(e["requestReceivedTimestamp"]) for e in deletions  # a fake kubelet may ask again for what is gone
                    if e["objectRef"].get("name") in before and e["responseStatus"]["code"] == 200]
            took = max(gone, default=begun) - begun
        elif process.returncode != DONE or left:
            raise ClusterError(f"drain {' '.join(nodes)}: status {process.returncode}, {len(left)} pods left: {tail(self.log)}")
        self.slipway("uncordon", *nodes)
        self.settle()
        return took, left

    def state(self) -> set[tuple]:
        return {(p["metadata"]["uid"], p["metadata"].get("deletionTimestamp"), is_ready(p)) for p in self.pods()}

    def watch(self, process: subprocess.Popen, nodes: list[str], started: float, before: set[tuple]) -> float | None:
        """How long it ran; None when it was given up. There is always something that goes: on a busy machine it is waited for."""
        last, moved = before, None
        while time.monotonic() - started < PATIENCE:
            try:
                process.wait(1)
                return time.monotonic() - started
            except subprocess.TimeoutExpired:
                pass
            now = self.state()
            if now != last:
                last, moved = now, time.monotonic()
            elif moved and time.monotonic() - moved > QUIET and self.to_go(nodes):
                break
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            raise ClusterError(f"drain {' '.join(nodes)} does not end when it is told to: {tail(self.log)}") from None
        return None


def any_seed() -> int:
    return random.SystemRandom().randrange(10**6)


def is_ready(pod: dict) -> bool:
    return not pod["metadata"].get("deletionTimestamp") and any(
        c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))


def measure(binaries: Binaries, program: Path, seed: int, observed: int, drains: int, runs: int, say,
            keep: Path | None = None) -> Series:
    rnd = random.Random(seed)
    workloads = draw_workloads(rnd)
    for w in workloads:
        say(f"{w.kind} {w.name}: {w.replicas} pods, start {w.start}, stop {w.stop}, budget {json.dumps(w.budget) if w.budget else 'none'}")
    series = Series(seed, [], 0, [])
    with SlowCluster(workloads, binaries=binaries) as cluster, tempfile.TemporaryDirectory(prefix="slipway-bench-") as scratch:
        history = Path(scratch) / "history.ndjson"
        stage = Stage(cluster, workloads, program, rnd)
        for i in range(observed):
            nodes = stage.next_in_turn()
            took, left = stage.drain(nodes, "--history", str(history))
            series.observed.append(took)
            say(f"observed {i + 1}/{observed}: {' '.join(nodes)} in {took:.1f} s, {len(left)} pods left")
        series.lines = len(history.read_text().splitlines())
        if keep:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / "history.ndjson").write_text(history.read_text())
        for i in range(drains):
            nodes = stage.choose()
            pods = len(stage.to_go(nodes))
            said = stage.rehearse(nodes, history, runs, rnd.randrange(10**6))
            stage.keep(keep, i)
            series.trials.append(trial_of(said, nodes, pods, *stage.drain(nodes)))
            say(f"{i + 1}/{drains}: " + "  ".join(cells(series.trials[-1])))
            if keep:
                (keep / "series.json").write_text(json.dumps(series.numbers(), indent=2) + "\n")
    return series


def trial_of(said: dict, nodes: list[str], pods: int, took: float, left: list[str]) -> Trial:
    return Trial(nodes, pods, *(said["took"][q] for q in ("p10", "p50", "p90")), took,
                 sorted({p["name"] for p in said["left"]}), left, sorted({p["code"] for p in said["left"]}),
                 f"{said['basis']['stopsAssumed']} of {said['basis']['workloadsStopped']}")


def again(program: Path, directory: Path, runs: int, seed: int) -> Series:
    """A series that was kept, rehearsed once more."""
    kept = json.loads((directory / "series.json").read_text())
    series = Series(kept["seed"], kept["observed"], kept["history_lines"], [])
    for i, t in enumerate(kept["drains"]):
        done = subprocess.run([program, "rehearse", *t["nodes"], "--snapshot", str(directory / f"{i}.json.gz"), "--history",
                               str(directory / "history.ndjson"), "--runs", str(runs), "--seed", str(seed + i * runs), "-o", "json"],
                              capture_output=True, text=True)
        if done.returncode not in (DONE, BLOCKED):
            raise ClusterError(done.stderr)
        series.trials.append(trial_of(json.loads(done.stdout), t["nodes"], t["pods"], t["took"], t["left"]))
    return series


# -- judgement -----------------------------------------------------------------------------------------------------


@dataclass
class Verdict:
    name: str
    value: float
    unit: str
    wanted: float
    least: bool = False  # the wanted value is the least, not the most

    @property
    def met(self) -> bool:
        return self.value >= self.wanted if self.least else self.value <= self.wanted

    @property
    def bound(self) -> str:
        return f"at {'least' if self.least else 'most'} {self.wanted:g}{self.unit}"


def verdicts(found: Series) -> list[Verdict]:
    trials = found.trials
    return [Verdict("rehearsals: drains in which other pods stayed", sum(not t.same_left for t in trials), "", 0),
            Verdict(f"rehearsals: durations of {len(trials)} between p10 and p90", sum(t.inside for t in trials), "",
                    WITHIN_LEAST * len(trials), least=True),
            Verdict("rehearsals: p90 / p10, the widest", max(t.ratio for t in trials), "x", RATIO_MOST),
            Verdict("rehearsals: error of p50, median", statistics.median(t.error for t in trials), " %", ERROR_MOST)]


def cells(t: Trial) -> list[str]:
    stay = f"{len(t.left)} ({', '.join(t.codes)})" if t.left and t.same_left else \
        str(len(t.left)) if t.same_left else f"NOT THE SAME: {t.rehearsed_left} rehearsed, {t.left} found"
    return [" ".join(t.nodes), str(t.pods), f"{t.p10:.1f} s", f"{t.p50:.1f} s", f"{t.p90:.1f} s", f"{t.took:.1f} s",
            "in" if t.inside else "OUT", f"{t.ratio:.2f}", f"{t.error:.1f} %", t.assumed, stay]


def rows(found: Series) -> list[list[str]]:
    head = ["rehearsed", "pods", "p10", "p50", "p90", "drained in", "", "p90/p10", "error", "stops assumed", "left"]
    return [head] + [cells(t) for t in found.trials]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, metavar="N", help="of everything that is drawn; another one each time unless given")
    parser.add_argument("--observed", type=int, default=OBSERVED, metavar="N", help="drains for the history")
    parser.add_argument("--drains", type=int, default=DRAINS, metavar="N", help="drains that are rehearsed and done")
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N", help="runs of each rehearsal")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers there")
    parser.add_argument("--keep", type=Path, metavar="DIRECTORY", help="keep snapshots, history and numbers there")
    parser.add_argument("--again", type=Path, metavar="DIRECTORY", help="rehearse what was kept there, without a cluster")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    program = Path(os.environ.get("SLIPWAY") or ROOT / "build" / "slipway")
    seed = any_seed() if arguments.seed is None else arguments.seed
    try:
        if not has_drain(program):
            print(f"{program} has no verb drain", file=sys.stderr)
            return 1
        found = again(program, arguments.again, arguments.runs, seed) if arguments.again else \
            measure(Binaries(), program, seed, arguments.observed, arguments.drains, arguments.runs,
                    lambda text: print(f"# {text}", file=sys.stderr, flush=True), arguments.keep)
    except Unavailable as reason:
        print(f"skipped: {reason}")
        return SKIP_STATUS
    except (BuildFailed, ClusterError, Died) as reason:
        print(reason, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(f"seed {found.seed}; {len(found.observed)} drains observed, {found.lines} lines of history")
    print(table(rows(found)))
    for v in verdicts(found):
        print(f"{'PASS' if v.met else 'FAIL'}  {v.name}: {v.value:.2f}{v.unit} ({v.bound})")
    if arguments.json:
        arguments.json.write_text(json.dumps(found.numbers(), indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
