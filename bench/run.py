"""Measures Slipway beside what it is compared with, all in one run on one machine: `make bench`.

    python3 bench/run.py [--only PART] [--rounds N] [--nodes N] [--apps N] [--replicas N]

- A cluster of 1,000 nodes and 30,000 pods, held by client-go's shared informers (bench/informers), by the same with a
  transform that drops managedFields, and by Slipway (build/bench/hold), which take turns.
- The simulator (bench/simulate.py): events a second of one core on a fleet of fifty nodes that is rebooted node after
  node; the memory of 5,000 nodes and 150,000 pods; a full list of pods over HTTPS, in turns with the API server's.
- Steps of a drain (bench/steps.py): what an event costs with 50, 500 and 5,000 nodes under way, without a server.
- Plans and answers of why (bench/plans.py): 5,000 nodes with 150,000 pods, without a server; plans beside their lower bound.
- Drains (bench/drain.py): one node and twenty, slow pods and instant ones, by kubectl and by Slipway in turns.
- FleetLock (bench/fleetlock.py): requests a second of the controller with 1,000 nodes and 30,000 pods, and what it takes.
- Rehearsals (bench/rehearsals.py): what `slipway rehearse` says of twenty drains, and what then happens.
- The start of `slipway version` and of `kubectl version --client`, in turns.
- The size of the stripped program.

Prints a table, and for each figure what is wanted and whether it is met; build/bench.json holds all numbers.  The
status tells whether everything could be measured, not whether the figures are met.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import load
import drain
import fleetlock
import plans
import rehearsals
import rollouts
import steps
from agree import disagreements
from measure import Held, HoldFailed, hold, start_times
from simulate import LargeSimulator, events_per_second, list_rates, play

from binaries import CONTROL_PLANE, SKIP_STATUS, Binaries, BuildFailed, Unavailable
from process import ClusterError, Died

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("hold", "lists", "sim", "steps", "plan", "drain", "fleetlock", "rollout", "rehearse", "start", "size")
IN_PROCESS = {"sim", "steps", "plan", "size"}  # need nobody else's program
GO, GO_TRANSFORM, SLIPWAY = "client-go", "client-go, no managedFields", "slipway"


@dataclass
class Figure:
    name: str
    value: float
    unit: str
    wanted: str
    met: bool

    def row(self) -> list[str]:
        return [self.name, f"{self.value:.2f}{self.unit}", self.wanted, "yes" if self.met else "NO"]


def at_least(name: str, value: float, bound: float) -> Figure:
    return Figure(name, value, "x", f"at least {bound:g}x", value >= bound)


def at_most(name: str, value: float, unit: str, bound: float) -> Figure:
    return Figure(name, value, unit, f"at most {bound:g}{unit}", value <= bound)


def table(rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def say(text: str) -> None:
    print(f"# {text}", file=sys.stderr, flush=True)


def middle(runs: list[Held], field: str) -> float:
    return statistics.median(getattr(run, field) for run in runs)


class Bench:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.slipway = Path(os.environ.get("SLIPWAY") or ROOT / "build" / "slipway")
        self.holder = Path(os.environ.get("HOLD") or self.slipway.parent / "bench" / "hold")
        self.binaries = Binaries()
        self.figures: list[Figure] = []
        self.broken: list[str] = []
        self.numbers: dict[str, object] = {"kubernetes": self.binaries.version, "cores": os.cpu_count(),
                                           "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}

    def run(self) -> int:
        parts = {"hold": ("holding a large cluster", self.holding), "lists": ("lists of pods", self.listing),
                 "sim": ("simulating", self.simulating), "steps": ("steps of a drain", self.stepping), "plan": ("plans", self.planning),
                 "drain": ("draining", self.draining), "fleetlock": ("FleetLock", self.locking), "rollout": ("a rollout", self.rolling), "rehearse": ("rehearsing", self.rehearsing),
                 "start": ("start", self.starting), "size": ("size", self.size)}
        chosen = self.arguments.only or list(parts)
        if not set(chosen) <= IN_PROCESS:
            self.binaries.need("kube-apiserver", "etcd", "kubectl", "informers")
        for name in chosen:
            self.attempt(*parts[name])
        if self.figures:
            print(table([["figure", "measured", "wanted", "met"]] + [f.row() for f in self.figures]))
        for problem in self.broken:
            print(f"not measured: {problem}")
        self.numbers["figures"] = [asdict(f) for f in self.figures]
        self.numbers["not_measured"] = self.broken
        output = self.slipway.parent / "bench.json"
        output.parent.mkdir(exist_ok=True)
        output.write_text(json.dumps(self.numbers, indent=2) + "\n")
        print(f"all numbers: {os.path.relpath(output)}", flush=True)
        return 1 if self.broken else 0

    def attempt(self, what: str, action) -> None:
        try:
            action()
        except (HoldFailed, ClusterError, Died, OSError) as error:
            self.broken.append(f"{what}: {error}")

    # -- a large cluster, held ---------------------------------------------------------------------------------------

    def holding(self) -> None:
        a = self.arguments
        with load.load_cluster(binaries=self.binaries) as cluster:
            say(f"filling a cluster with {a.nodes} nodes and {a.apps * a.replicas} pods")
            made = load.fill(cluster, a.nodes, a.apps, a.replicas, say=lambda text: say(f"  {text}"))
            self.numbers["cluster"] = made
            informers = [str(self.binaries.path("informers")), "-kubeconfig", str(cluster.admin)]
            commands = {GO: informers, GO_TRANSFORM: informers + ["-transform"]}
            if self.holder.exists():
                commands[SLIPWAY] = [str(self.holder), "--kubeconfig", str(cluster.admin)]
            else:
                self.broken.append(f"Slipway holding a cluster: there is no {self.holder}")
            runs: dict[str, list[Held]] = {name: [] for name in commands}
            for turn in range(a.rounds):
                for name, command in list(commands.items()):
                    try:
                        run = hold(command, a.settle, collects=name != SLIPWAY)
                    except HoldFailed as error:
                        self.broken.append(str(error))
                        del commands[name]
                        continue
                    wanted = {key: made[key] for key in run.counts}
                    if run.counts != wanted:
                        self.broken.append(f"{name} holds {run.counts}, the cluster has {wanted}")
                    runs[name].append(run)
                    say(f"  {turn + 1}/{a.rounds} {name}: {run.rest_anon / 1024:.1f} MB private at rest, "
                        f"{run.peak_anon / 1024:.1f} MB peak, {run.synced_cpu:.2f} s CPU, {run.synced_wall:.1f} s")
            if SLIPWAY in commands:
                self.agreement(cluster, commands[SLIPWAY])
            self.numbers["hold"] = {name: [asdict(r) for r in each] for name, each in runs.items()}
            self.numbers["server_rss_kb"] = {n: c.memory_kb() for n, c in cluster.components.items()}
        self.report_holding({name: each for name, each in runs.items() if each})

    def agreement(self, cluster, command: list[str]) -> None:
        probe = self.slipway.parent / "tests" / "cluster" / "probe"
        agreed, wrong = disagreements(command, probe, self.binaries.path("kubectl"), cluster.admin)
        say(f"  {agreed} objects of Slipway's dump agree with kubectl, {len(wrong)} do not")
        self.numbers["agreement"] = {"agreed": agreed, "wrong": wrong[:20]}
        if wrong:
            self.broken.append(f"{len(wrong)} objects of Slipway's dump differ from kubectl's, first {wrong[0]}")

    def report_holding(self, runs: dict[str, list[Held]]) -> None:
        rows = [["holding (median)", "private at sync", "at rest", "after forced GC", "peak", "file pages", "peak/rest",
                 "CPU to synced", "wall"]]
        for name, each in runs.items():
            memory = [f"{middle(each, field) / 1024:.1f} MB"
                      for field in ("synced_anon", "rest_anon", "least_anon", "peak_anon", "rest_file")]
            rows.append([name, *memory, f"{middle(each, 'peak_over_rest'):.2f}",
                         f"{middle(each, 'synced_cpu'):.2f} s", f"{middle(each, 'synced_wall'):.1f} s"])
        print(table(rows) + "\n", flush=True)
        ours = runs.get(SLIPWAY)
        if not ours:
            return
        for name in (GO, GO_TRANSFORM):
            if name in runs:
                self.figures += [at_least(f"private memory, {name} / {SLIPWAY}",
                                          middle(runs[name], "rest_anon") / middle(ours, "rest_anon"), 20),
                                 at_least(f"CPU to synced, {name} / {SLIPWAY}",
                                          middle(runs[name], "synced_cpu") / middle(ours, "synced_cpu"), 4)]
        self.figures.append(at_most(f"peak while syncing / rest, {SLIPWAY}", middle(ours, "peak_over_rest"), "x", 1.5))

    # -- the simulator -----------------------------------------------------------------------------------------------

    def listing(self) -> None:
        """Two servers with as many pods, one of them real."""
        a = self.arguments
        with load.load_cluster(binaries=self.binaries) as cluster, LargeSimulator(a.nodes, binaries=self.binaries) as sim:
            say(f"filling a cluster with {a.nodes} nodes and {a.apps * a.replicas} pods")
            load.fill(cluster, a.nodes, a.apps, a.replicas, say=lambda text: say(f"  {text}"))
            rates = list_rates({"kube-apiserver": cluster.api, "slipway sim": sim.api}, a.rounds)
        self.numbers["list"] = rates
        speed = {name: r["bytes"] / r["seconds"] / 1e6 for name, r in rates.items()}
        print(table([["list of pods (median)", "bytes", "time", "rate"]]
                    + [[n, f"{r['bytes'] / 1e6:.1f} MB", f"{r['seconds']:.2f} s", f"{speed[n]:.0f} MB/s"]
                       for n, r in rates.items()]) + "\n", flush=True)
        self.figures.append(at_least("list of pods, time for the same bytes, kube-apiserver / sim",
                                     speed["slipway sim"] / speed["kube-apiserver"], 1))

    def simulating(self) -> None:
        a = self.arguments
        program = self.slipway.parent / "bench" / "sim"
        say("a fleet of 50 nodes for a day")
        best, runs = events_per_second(program, a.rounds, 24)
        say("a cluster of 5,000 nodes and 150,000 pods: this takes minutes")
        large = play(program, "big", 5000, 1, 0.05)
        self.numbers["sim"] = {"rolling": runs, "large": large}
        if (large["nodes"], large["pods"]) != (5000, 150000):
            raise HoldFailed(f"the large cluster has {large['nodes']} nodes and {large['pods']} pods")
        self.figures += [
            Figure("simulated events a second of one core", best, "", "at least 100000", best >= 100000),
            at_most("5,000 nodes and 150,000 pods, simulated", large["peak_rss_kb"] / 1024, " MiB", 2048)]

    # -- drains ------------------------------------------------------------------------------------------------------

    def stepping(self) -> None:
        say("steps of drains in process")
        found = steps.measure(self.slipway.parent / "bench" / "steps", self.arguments.rounds)
        self.numbers["steps"] = found
        print(table(steps.rows(found)) + "\n", flush=True)
        self.figures += [at_most(v.name, v.value, v.unit, v.most) for v in steps.verdicts(found)]

    def planning(self) -> None:
        say("plans and answers of why, in process")
        found = plans.measure(self.slipway.parent / "bench" / "plan", self.arguments.rounds)
        why = plans.measure_why(self.slipway.parent / "bench" / "why", self.arguments.rounds)
        with tempfile.TemporaryDirectory() as scratch:
            fleet = plans.plan_fleet(self.slipway, Path(scratch))
        self.numbers["plan"] = found
        self.numbers["plan_fleet"] = fleet
        self.numbers["why"] = why
        print(table(plans.rows(found, fleet)) + "\n\n" + table(plans.why_rows(why)) + "\n", flush=True)
        self.figures += [at_most(v.name, v.value, v.unit, v.most)
                         for v in plans.verdicts(found, fleet) + plans.why_verdicts(why)]

    def draining(self) -> None:
        if not drain.has_drain(self.slipway):
            raise HoldFailed(f"{self.slipway} has no verb drain")
        self.binaries.need(*CONTROL_PLANE)
        say("drains by kubectl and by slipway: this takes a quarter of an hour")
        found = drain.measure(self.binaries, self.slipway, list(drain.PARTS), self.arguments.drains, [drain.KUBECTL, drain.SLIPWAY],
                              lambda text: say(f"  {text}"))
        print(table(drain.rows(found)) + "\n", flush=True)
        self.numbers["drain"] = {part: [run.numbers() for run in runs] for part, runs in found.items()}
        self.figures += [at_most(v.name, v.value, v.unit, v.most) for v in drain.verdicts(found)]

    def locking(self) -> None:
        a = self.arguments
        with load.load_cluster(binaries=self.binaries) as cluster:
            say(f"filling a cluster with {a.nodes} nodes and {a.apps * a.replicas} pods")
            load.fill(cluster, a.nodes, a.apps, a.replicas, say=lambda text: say(f"  {text}"))
            found = fleetlock.measure(cluster, self.slipway, self.slipway.parent / "bench" / "ask", a.requests, lambda text: say(f"  {text}"))
        print(table(fleetlock.rows(found)) + "\n", flush=True)
        self.numbers["fleetlock"] = asdict(found)
        self.figures += [Figure(v.name, v.value, v.unit, v.bound, v.met) for v in fleetlock.verdicts(found)]

    def rolling(self) -> None:
        self.binaries.need(*CONTROL_PLANE)
        say("a rollout of many nodes: this takes minutes")
        found = rollouts.measure(self.binaries, self.slipway, self.arguments.rollout_nodes, lambda text: say(f"  {text}"))
        print(table(rollouts.rows(found)) + "\n", flush=True)
        self.numbers["rollout"] = asdict(found) | {"ratio": found.ratio}
        self.figures.append(at_most("rollout, time / the planner's lower bound", found.ratio, "x", rollouts.MOST))

    def rehearsing(self) -> None:
        if not drain.has_drain(self.slipway):
            raise HoldFailed(f"{self.slipway} has no verb drain")
        self.binaries.need(*CONTROL_PLANE)
        seed = rehearsals.any_seed()
        say(f"rehearsals and the drains that follow, seed {seed}: this takes twenty minutes")
        found = rehearsals.measure(self.binaries, self.slipway, seed, rehearsals.OBSERVED, rehearsals.DRAINS, rehearsals.RUNS,
                                   lambda text: say(f"  {text}"))
        print(table(rehearsals.rows(found)) + "\n", flush=True)
        self.numbers["rehearse"] = found.numbers()
        self.figures += [Figure(v.name, v.value, v.unit, v.bound, v.met) for v in rehearsals.verdicts(found)]

    # -- start and size ----------------------------------------------------------------------------------------------

    def starting(self) -> None:
        if not self.slipway.exists():
            raise HoldFailed(f"there is no {self.slipway}")
        commands = {"slipway version": [str(self.slipway), "version"],
                    "kubectl version --client": [str(self.binaries.path("kubectl")), "version", "--client"]}
        with tempfile.TemporaryDirectory() as home:
            env = {"PATH": os.environ["PATH"], "HOME": home}
            times = start_times(commands, self.arguments.starts, env)
        self.numbers["start_ms"] = times
        print(table([["start (median)", "time"]] + [[n, f"{t:.1f} ms"] for n, t in times.items()]) + "\n", flush=True)
        ours, theirs = times.values()
        self.figures.append(at_least("start, kubectl / slipway", theirs / ours, 4))

    def size(self) -> None:
        if not self.slipway.exists():
            raise HoldFailed(f"there is no {self.slipway}")
        if not shutil.which("strip"):
            raise HoldFailed("there is no strip command")
        with tempfile.TemporaryDirectory() as scratch:
            stripped = Path(scratch) / "slipway"
            subprocess.run(["strip", "-o", stripped, self.slipway], check=True)
            size = stripped.stat().st_size
        self.numbers["stripped_bytes"] = size
        self.figures.append(at_most("stripped program", size / 1e6, " MB", 3))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=PARTS, metavar="PART",
                        help=f"{', '.join(PARTS[:-1])} or {PARTS[-1]}; may be given again")
    parser.add_argument("--nodes", type=int, default=1000, metavar="N")
    parser.add_argument("--apps", type=int, default=300, metavar="N")
    parser.add_argument("--replicas", type=int, default=100, metavar="N", help="pods of each application")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="runs of each holder")
    parser.add_argument("--settle", type=float, default=15, metavar="SECONDS", help="watching before rest is measured")
    parser.add_argument("--drains", type=int, default=1, metavar="N", help="runs of each drain")
    parser.add_argument("--requests", type=int, default=20000, metavar="N", help="to FleetLock, of each kind")
    parser.add_argument("--rollout-nodes", type=int, default=200, metavar="N", help="of the rollout")
    parser.add_argument("--starts", type=int, default=40, metavar="N", help="runs of each start")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return Bench(arguments).run()
    except Unavailable as reason:
        print(f"skipped: {reason}")
        return SKIP_STATUS
    except BuildFailed as reason:
        print(reason, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
