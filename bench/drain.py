"""Measures `slipway drain` beside `kubectl drain` on one real cluster, in turns.

    python3 bench/drain.py [--part PART] [--rounds N] [--tool TOOL]

- slow     one node with 10 Deployments of 10 pods, a budget of maxUnavailable 1 each, 23 other nodes; pods start in
           2-5 s and end in 8-20 s
- instant  the same with pods that start and end at once
- many     20 nodes with 20 pods each of 40 Deployments of 10 pods spread over all of them, slow pods, 23 other nodes;
           kubectl takes one node after the other, so only its first nodes are measured and the rest is worked out

Everything but the wall time comes from the API server's audit log, each tool under a user of its own: requests, the
time from the status write that allows a disruption to the arrival of the eviction that uses it, and the lower bound of
the wall time (bench/drain_bound.py says how).  bench/run.py calls measure() as its part "drain".
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "cluster"))

import drain_audit  # noqa: E402
from drain_bound import Bound, bound, latencies, quantile  # noqa: E402

from binaries import SKIP_STATUS, Binaries, BuildFailed, Unavailable  # noqa: E402
from cluster import Cluster  # noqa: E402
from process import ClusterError, Died, wait_for  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
READY_MS, GONE_MS = (2000, 5000), (8000, 20000)
INSTANT = Cluster.pod_timing(ready="0s", gone="0s")
RATE = 20  # evictions a second: Slipway's default, DESIGN's eviction rate
KUBECTL, SLIPWAY = "kubectl", "slipway"
KUBECTL_NODES = 4  # of the many: then the rest is worked out
PATIENCE = 900  # seconds for one drain
HOLD = "bench.slipway.dev/role"


@dataclass
class Shape:
    """Who is drained, and what is on it."""

    name: str
    targets: int
    apps: int
    replicas: int
    slots: int  # pods that fit on a target
    instant: bool = False

    @property
    def pods(self) -> int:
        return self.apps * self.replicas


ONE = Shape("slow", targets=1, apps=10, replicas=10, slots=110)
ONE_INSTANT = Shape("instant", targets=1, apps=10, replicas=10, slots=110, instant=True)
MANY = Shape("many", targets=20, apps=40, replicas=10, slots=20)
PARTS = {shape.name: shape for shape in (ONE_INSTANT, ONE, MANY)}


@dataclass
class Run:
    """One drain, measured."""

    tool: str
    shape: str
    nodes: int
    pods: int
    wall: float
    requests: int
    requests_by_kind: str
    refused: int
    bound: Bound | None
    latency: list[float]
    latency_after_answer: list[float]
    to_first_eviction: float
    after_last_pod: float
    estimated: float | None = None  # wall time of all nodes, where only some were drained

    @property
    def ratio(self) -> float:
        return self.wall / self.bound.seconds if self.bound and self.bound.seconds else 0.0

    @property
    def per_pod(self) -> float:
        """Requests a pod, after the fifteen that a drain may take for itself."""
        return (self.requests - 15) / self.pods

    def numbers(self) -> dict:
        said = {k: v for k, v in vars(self).items() if k != "bound"}
        if self.bound:
            said |= {"lower_bound": self.bound.seconds, "ratio": self.ratio, "bound_by": self.bound.budget}
        return said


class Field:
    """A cluster with nodes to spare, a user for each tool, and a way to put pods where they are wanted."""

    def __init__(self, cluster: Cluster, others: int) -> None:
        self.cluster, self.api = cluster, cluster.api
        self.others = cluster.add_nodes(others, prefix="other", labels={HOLD: "other"})
        self.users = {tool: cluster.kubeconfig(user=f"bench-{tool}", groups=["system:masters"]) for tool in (KUBECTL, SLIPWAY)}
        self.turn = 0

    def cordon_others(self, value: bool) -> None:
        for name in self.others:
            self.api.patch(f"/api/v1/nodes/{name}", {"spec": {"unschedulable": value or None}})

        def settled() -> bool:
            found = self.api.items(f"/api/v1/nodes?labelSelector={HOLD}%3Dother")
            tainted = [any(t["key"] == "node.kubernetes.io/unschedulable" for t in n["spec"].get("taints", [])) for n in found]
            return all(t == value for t in tainted)
        wait_for(settled, 60, "the taints of the other nodes to follow", interval=0.2)

    def fill(self, shape: Shape) -> "Stand":
        """New nodes with all the pods on them, everything ready, every budget with room for one."""
        self.turn += 1
        ns, prefix = f"bench-{self.turn}", f"target{self.turn}"
        self.cordon_others(True)
        nodes = self.cluster.add_nodes(shape.targets, prefix=prefix, pods=shape.slots, labels={HOLD: prefix})
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns}})
        account = f"/api/v1/namespaces/{ns}/serviceaccounts/default"
        wait_for(lambda: self.api.raw("GET", account)[0] == 200, 30, account)
        objects = []
        for i in range(shape.apps):
            labels = {"app": f"app-{i:02d}"}
            spread = [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
                       "labelSelector": {"matchLabels": labels}}]
            template = {"metadata": {"labels": labels, "annotations": INSTANT if shape.instant else {}},
                        "spec": {"containers": [{"name": "main", "image": "registry.test/app:1"}], "topologySpreadConstraints": spread}}
            meta = {"name": labels["app"], "namespace": ns}
            objects.append({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta,
                            "spec": {"replicas": shape.replicas, "selector": {"matchLabels": labels}, "template": template}})
            objects.append({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta,
                            "spec": {"maxUnavailable": 1, "selector": {"matchLabels": labels}}})
        self.api.bulk(objects, workers=4)
        stand = Stand(self, shape, ns, nodes)
        wait_for(stand.ready, 120, f"{shape.pods} pods on {shape.targets} nodes", interval=0.5)
        self.cordon_others(False)
        return stand

    def close(self, stand: "Stand") -> None:
        for kind in ("deployments", "replicasets"):
            self.api.delete(f"/apis/apps/v1/namespaces/{stand.ns}/{kind}", {"propagationPolicy": "Orphan"})
        self.api.delete(f"/apis/policy/v1/namespaces/{stand.ns}/poddisruptionbudgets")
        self.api.delete(f"/api/v1/namespaces/{stand.ns}/pods", {"gracePeriodSeconds": 0})
        self.api.delete(f"/api/v1/namespaces/{stand.ns}")
        for name in stand.nodes:
            self.api.delete(f"/api/v1/nodes/{name}")
        wait_for(lambda: self.api.raw("GET", f"/api/v1/namespaces/{stand.ns}")[0] == 404, 120, f"{stand.ns} to be gone", interval=0.5)


class Stand:
    """The pods of one drain."""

    def __init__(self, field: Field, shape: Shape, ns: str, nodes: list[str]) -> None:
        self.field, self.shape, self.ns, self.nodes = field, shape, ns, nodes

    def pods(self) -> list[dict]:
        return list(self.field.api.items(f"/api/v1/namespaces/{self.ns}/pods"))

    def ready(self) -> bool:
        pods = [p for p in self.pods() if p["spec"].get("nodeName") in self.nodes and
                any(c["type"] == "Ready" and c["status"] == "True" for c in p["status"].get("conditions", []))]
        budgets = list(self.field.api.items(f"/apis/policy/v1/namespaces/{self.ns}/poddisruptionbudgets"))
        wanted = (self.shape.replicas, self.shape.replicas - 1, 1)
        good = [b for b in budgets if tuple(b.get("status", {}).get(k) for k in
                                            ("currentHealthy", "desiredHealthy", "disruptionsAllowed")) == wanted]
        return len(pods) == self.shape.pods and len(good) == self.shape.apps

    def drain(self, tool: str, command: list[str], nodes: list[str]) -> Run:
        cluster = self.field.cluster
        before = [p for p in self.pods() if p["spec"].get("nodeName") in nodes]
        budgets = {f"{self.ns}/{p['metadata']['name']}": f"{self.ns}/{p['metadata']['labels']['app']}" for p in before}
        env = {k: v for k, v in os.environ.items() if not k.startswith(("KUBE", "SLIPWAY"))}
        env |= {"KUBECONFIG": str(self.field.users[tool]), "HOME": str(cluster.dir)}
        log = cluster.logs / f"drain-{tool}-{self.ns}.log"
        mark, begun, started = cluster.audit.mark(), time.time(), time.monotonic()
        with open(log, "wb") as output:
            try:
                code = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                      timeout=PATIENCE).returncode
            except subprocess.TimeoutExpired:
                raise ClusterError(f"{' '.join(command[:4])} has not ended after {PATIENCE} s: {tail(log)}") from None
        wall = time.monotonic() - started
        if code != 0:
            raise ClusterError(f"{' '.join(command[:4])}: status {code}: {tail(log)}")
        left = [p for p in self.pods() if p["spec"].get("nodeName") in nodes]
        if left:
            raise ClusterError(f"{tool} is done and {len(left)} pods are still there")
        wait_for(lambda: self.everything_logged(mark, budgets), 20, "the audit log to be complete")
        return self.judge(tool, nodes, mark, budgets, wall, begun)

    def everything_logged(self, mark: dict, budgets: dict[str, str]) -> bool:
        gone = {f"{e['objectRef'].get('namespace')}/{e['objectRef'].get('name')}" for e in
                self.field.cluster.audit.requests(mark, verb="delete", resource="pods")}
        return set(budgets) <= gone

    def judge(self, tool: str, nodes: list[str], mark: dict, budgets: dict[str, str], wall: float, begun: float) -> Run:
        events = self.field.cluster.audit.requests(mark)
        # Replacements that were put on a node to be drained have the name of their Deployment too.
        seen = drain_audit.read(events, f"bench-{tool}", lambda pod: budgets.get(pod) or pod.rsplit("-", 2)[0])
        needed: dict[str, int] = {}
        for name in budgets.values():
            needed[name] = needed.get(name, 0) + 1
        at_once = {name: 1 for name in needed}
        try:
            lower = bound(seen.evictions, seen.writes, needed, at_once, RATE if self.shape.targets > 1 else 0)
        except ValueError as problem:
            raise ClusterError(f"the audit log does not explain {tool}'s drain: {problem}") from None
        used = latencies(seen.evictions, seen.writes, at_once)
        last = max(e.gone for e in seen.evictions if e.gone is not None)
        return Run(tool, self.shape.name, len(nodes), len(budgets), wall, seen.total, drain_audit.requests_table(seen.requests),
                   seen.refused, lower, [g.latency for g in used], [g.latency_after_answer for g in used],
                   min(e.arrived for e in seen.evictions) - begun, begun + wall - last)


def tail(path: Path) -> str:
    return "\n" + "\n".join(path.read_text(errors="replace").splitlines()[-12:])


def has_drain(program: Path) -> bool:
    try:
        return subprocess.run([program, "drain", "--help"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60).returncode == 0
    except OSError:
        return False


def command_of(tool: str, cluster: Cluster, program: Path, nodes: list[str]) -> list[str]:
    if tool == KUBECTL:
        return [str(cluster.binaries.path("kubectl")), "drain", *nodes, "--ignore-daemonsets"]
    return [str(program), "drain", *nodes]


def measure(binaries: Binaries, program: Path, parts: list[str], rounds: int, tools: list[str], say) -> dict[str, list[Run]]:
    """By part, the runs of all tools in the order in which they were made."""
    found: dict[str, list[Run]] = {}
    with tempfile.TemporaryDirectory(prefix="slipway-bench-") as scratch:
        cluster = Cluster(binaries=binaries, pod_ready_ms=READY_MS, pod_gone_ms=GONE_MS, apiserver_flags=drain_audit.flags(Path(scratch)))
        with cluster:
            field = Field(cluster, 23)
            for shape in [PARTS[part] for part in parts]:
                found[shape.name] = []
                for _ in range(rounds):
                    for tool in tools:
                        found[shape.name].append(one(field, shape, tool, program, say))
    return found


def one(field: Field, shape: Shape, tool: str, program: Path, say) -> Run:
    stand = field.fill(shape)
    nodes = stand.nodes[:KUBECTL_NODES] if shape is MANY and tool == KUBECTL else stand.nodes
    run = stand.drain(tool, command_of(tool, field.cluster, program, nodes), nodes)
    if len(nodes) < len(stand.nodes):
        run.estimated = run.wall / len(nodes) * len(stand.nodes)
    field.close(stand)
    waited = f", allowed to arrived {quantile(run.latency, 0.5) * 1000:.0f} ms median {quantile(run.latency, 0.95) * 1000:.0f} ms p95" \
        if run.latency else ""
    say(f"{shape.name} {tool}: {len(nodes)} node(s), {run.pods} pods in {run.wall:.1f} s, lower bound {run.bound.seconds:.1f} s "
        f"({run.ratio:.2f}x), {run.requests} requests, {run.refused} refused{waited}; "
        f"{run.to_first_eviction * 1000:.0f} ms to the first eviction, {run.after_last_pod * 1000:.0f} ms after the last pod")
    say(f"  {run.requests_by_kind}")
    return run


# -- judgement -----------------------------------------------------------------------------------------------------


@dataclass
class Verdict:
    name: str
    value: float
    unit: str
    most: float

    @property
    def met(self) -> bool:
        return self.value <= self.most


def middle(runs: list[Run], what) -> float:
    return quantile([what(r) for r in runs], 0.5)


def verdicts(found: dict[str, list[Run]]) -> list[Verdict]:
    """The figures that a drain shall meet; of several rounds the median."""
    made = []
    ours = {part: [r for r in runs if r.tool == SLIPWAY] for part, runs in found.items()}
    theirs = {part: [r for r in runs if r.tool == KUBECTL] for part, runs in found.items()}
    if slow := ours.get("slow"):
        waits = [w for r in slow for w in r.latency]
        made += [Verdict("drain, slow pods: requests a pod, beyond 15", middle(slow, lambda r: r.per_pod), "", 1.2),
                 Verdict("drain, slow pods: wall time / lower bound", middle(slow, lambda r: r.ratio), "x", 1.08),
                 Verdict("drain, slow pods: allowed to arrived, median", quantile(waits, 0.5) * 1000, " ms", 50),
                 Verdict("drain, slow pods: allowed to arrived, p95", quantile(waits, 0.95) * 1000, " ms", 150)]
    if ours.get("instant") and theirs.get("instant"):
        made.append(Verdict("drain, instant pods: wall time, slipway / kubectl",
                            middle(ours["instant"], lambda r: r.wall) / middle(theirs["instant"], lambda r: r.wall), "x", 0.4))
    if many := ours.get("many"):
        made.append(Verdict("drain, 20 nodes: wall time / lower bound", middle(many, lambda r: r.ratio), "x", 1.15))
    return made


def rows(found: dict[str, list[Run]]) -> list[list[str]]:
    made = [["drain", "tool", "nodes", "pods", "wall", "lower bound", "ratio", "requests", "refused", "allowed-arrived p50", "p95"]]
    for part, runs in found.items():
        for r in runs:
            wall = f"{r.wall:.1f} s" + (f" (all: about {r.estimated:.0f} s)" if r.estimated else "")
            waits = [f"{quantile(r.latency, p) * 1000:.0f} ms" for p in (0.5, 0.95)] if r.latency else ["-", "-"]
            made.append([part, r.tool, str(r.nodes), str(r.pods), wall, f"{r.bound.seconds:.1f} s", f"{r.ratio:.2f}", str(r.requests),
                         str(r.refused), *waits])
    return made


def table(lines: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", action="append", choices=list(PARTS), help="may be given again; all unless said")
    parser.add_argument("--tool", action="append", choices=[KUBECTL, SLIPWAY], help="may be given again; both unless said")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="runs of each tool")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers there")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    program = Path(os.environ.get("SLIPWAY") or ROOT / "build" / "slipway")
    tools = arguments.tool or [KUBECTL, SLIPWAY]
    try:
        if SLIPWAY in tools and not has_drain(program):
            print(f"{program} has no verb drain", file=sys.stderr)
            return 1
        found = measure(Binaries(), program, arguments.part or list(PARTS), arguments.rounds, tools,
                        lambda text: print(f"# {text}", file=sys.stderr, flush=True))
    except Unavailable as reason:
        print(f"skipped: {reason}")
        return SKIP_STATUS
    except (BuildFailed, ClusterError, Died) as reason:
        print(reason, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(table(rows(found)))
    for v in verdicts(found):
        print(f"{'PASS' if v.met else 'FAIL'}  {v.name}: {v.value:.2f}{v.unit} (at most {v.most:g}{v.unit})")
    if arguments.json:
        arguments.json.write_text(json.dumps({part: [r.numbers() for r in runs] for part, runs in found.items()}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
