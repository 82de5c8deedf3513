"""Rehearsals and the drains that follow them on a real cluster: what a drain has seen is in its history, a rehearsal rests on it, and
the pods that it says will stay are those that do.

Nothing here depends on how long anything takes: bench/rehearsals.py compares durations."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from context import Context, limit
from drain_ground import BLOCKED, DONE, Ground
from drain_objects import daemon_set, slow, stateful_set
from objects import deployment

REPLICAS = {"web": 8, "db": 4, "rigid": 2}
APART = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "rigid"}}}]}}}
SUMMARY = re.compile(r"Rehearsed: (1 node|2 nodes) would be drained in (\S+)( \(p10 \S+, p90 \S+\))?\n|Rehearsed: \d of 2 nodes would be drained")


def furnish(g: Ground) -> None:
    """Two workloads that budgets slow down and one that a budget holds for ever, on nodes of its own."""
    g.create(slow(deployment("web", g.ns, REPLICAS["web"], **g.here), ready="1s", gone="2s"),
             slow(stateful_set("db", g.ns, REPLICAS["db"], **g.here), ready="1s", gone="1s"),
             deployment("rigid", g.ns, REPLICAS["rigid"], **g.here, **APART), daemon_set("agent", g.ns, **g.here))
    rest(g)
    g.budget("web", {"app": "web"}, maxUnavailable=1)
    g.budget("db", {"app": "db"}, minAvailable=REPLICAS["db"] - 1)
    g.budget("rigid", {"app": "rigid"}, maxUnavailable=0)


def rest(g: Ground) -> None:
    for name, replicas in REPLICAS.items():
        g.ready(replicas, app=name)
    g.ready(len(g.nodes), app="agent")


def rehearse(g: Ground, *arguments: str, code: int) -> str:
    done = g.ctx.run(g.ctx.slipway, "rehearse", *arguments, kubeconfig=g.config, timeout=120)
    assert done.returncode == code, f"slipway rehearse {' '.join(arguments)}: status {done.returncode}, not {code}\n{done.stdout}{done.stderr}"
    assert not done.stderr, done.stderr
    return done.stdout


def drain(g: Ground, *arguments: str, code: int) -> None:
    """A blocked one ends when the others are gone: its time is up long after that."""
    if code != BLOCKED:
        g.drain(*arguments, code=code, timeout=150)
        return
    g.blocked(*arguments, seconds=60, until=lambda _: all(pod.startswith("rigid") for n in g.nodes if n in arguments for pod in to_go(g, n)))


def to_go(g: Ground, node: str) -> set[str]:
    return {p["metadata"]["name"] for p in g.pods(g.nodes.index(node)) if p["metadata"]["labels"]["app"] != "agent"}


def uncordon(g: Ground, *nodes: str) -> None:
    g.ctx.run(g.ctx.slipway, "uncordon", *nodes, kubeconfig=g.config, check=True)
    rest(g)


def read(history: Path) -> list[dict]:
    return [json.loads(line) for line in history.read_text().splitlines()]


def workloads(pods: dict[str, set[str]]) -> set[str]:
    """By name, of the pods that go."""
    return {pod.split("-")[0] for each in pods.values() for pod in each} - {"rigid"}


def check_spread(spread: dict) -> None:
    assert 0 <= spread["p10"] <= spread["p50"] <= spread["p90"], spread


@limit(1200)
def test_observed_rehearsed_done(ctx: Context) -> None:
    """A drain is observed; then one that goes through and one that cannot are rehearsed and done."""
    with Ground(ctx, nodes=5) as g, tempfile.TemporaryDirectory() as directory:
        furnish(g)
        history = Path(directory) / "history.ndjson"
        held = {p["spec"]["nodeName"]: p["metadata"]["name"] for p in g.pods(app="rigid")}
        free = sorted((n for n in g.nodes if n not in held), key=lambda n: -len(to_go(g, n)))

        # Nothing is known yet, and that is said.
        said = json.loads(rehearse(g, free[0], "--runs", "3", "-o", "json", code=DONE))
        assert said["basis"]["observations"] == 0 and said["basis"]["stopsAssumed"] == said["basis"]["workloadsStopped"] > 0, said["basis"]
        text = rehearse(g, free[0], "--runs", "3", code=DONE)
        assert re.search(r"How long pods take to end is assumed for (\d+) of \1 workloads?: from 1s up to", text), text

        gone = {n: to_go(g, n) for n in free[:2]}
        drain(g, *free[:2], "--history", str(history), code=DONE)
        check_history(g, history, gone)
        uncordon(g, *free[:2])

        for nodes, code in (([free[2]], DONE), ([next(iter(held)), free[2]], BLOCKED)):
            pods = {n: to_go(g, n) for n in nodes}
            said = json.loads(rehearse(g, *nodes, "--history", str(history), "--runs", "5", "-o", "json", code=code))
            unseen = workloads(pods) - {e["pod"].split("-")[0] for e in read(history) if "stop" in e}
            check_said(said, pods, len(read(history)), len(unseen))
            text = rehearse(g, *nodes, "--history", str(history), "--runs", "5", code=code)
            assert SUMMARY.match(text) and "Nothing was changed in the cluster." in text, text
            assert ("is assumed for" in text) == bool(unseen), text
            drain(g, *nodes, code=code)
            stayed = {(n, pod) for n in nodes for pod in to_go(g, n)}
            assert stayed == {(p["node"], p["name"]) for p in said["left"]}, (stayed, said["left"])
            assert stayed == {(n, held[n]) for n in nodes if n in held}, stayed
            assert all(p["name"] in text and p["code"] == "PDBUnsatisfiable" for p in said["left"]), text
            uncordon(g, *nodes)


def check_history(g: Ground, history: Path, gone: dict[str, set[str]]) -> None:
    """A line for each pod that goes, none for those that stay, and one for each that came meanwhile."""
    assert history.stat().st_mode & 0o777 == 0o600, oct(history.stat().st_mode)
    ups = [e for e in read(history) if "up" in e]
    lines = [e for e in read(history) if "up" not in e]
    assert len({e["drain"] for e in lines + ups}) == 1, lines + ups
    assert {(e["node"], e["pod"]) for e in lines} == {(n, pod) for n, pods in gone.items() for pod in pods}, lines
    assert len(lines) == sum(len(pods) for pods in gone.values()), lines
    kinds = {"web": "Deployment", "db": "StatefulSet"}
    for e in lines + ups:
        name = e["pod"].split("-")[0]
        assert e["v"] == 1 and e["workload"] == f"{g.ns}/{kinds[name]}/{name}", e
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", e["time"]), e
        if "stop" in e:
            assert e["stop"] >= {"web": 2, "db": 1}[name] - 0.1 and e["answer"] >= 0, e  # as their stages say, and no less
    # With a budget of one, the next pod goes when the last replacement is ready: all but the last of them are seen.
    web = [e for e in ups if e["pod"].startswith("web-")]
    assert len(web) >= sum(e["pod"].startswith("web-") for e in lines) - 1 > 0, (lines, ups)
    assert all(e["node"] not in gone and e["up"] >= 0.5 and 0 <= e.get("place", 0) < 10 for e in web), web


def check_said(said: dict, pods: dict[str, set[str]], observations: int, unseen: int) -> None:
    runs = len(said["runs"])
    assert said["schema"] == "slipway.rehearsal/1.1" and runs == 5
    assert said["basis"]["observations"] == observations
    assert (said["basis"]["stopsAssumed"], said["basis"]["workloadsStopped"]) == (unseen, len(workloads(pods))), said["basis"]
    check_spread(said["took"])
    assert {n["name"]: {p["name"] for p in n["pods"]} for n in said["nodes"]} == pods, said["nodes"]
    for node in said["nodes"]:
        left = [p for p in said["left"] if p["node"] == node["name"]]
        assert node["drainedRuns"] == (0 if left else runs), node
        assert all(p["runs"] == runs for p in left), left
        if not left:
            check_spread(node["took"])
