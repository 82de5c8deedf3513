"""Two copies of a random world (drain_random.py) on one cluster, one drained by kubectl, the other by Slipway, compared.

What is compared, with the names that differ taken out:

- whether the command succeeded;
- the lines on standard output, each once (kubectl says "evicting pod" again at every try), but "evicting pod" of pods that
  stay: Slipway does not try while it can see that the budget allows nothing;
- the pods that it refuses to touch, and why; the pods that it warns of, but for emptyDirs of pods that have a controller, where
  kubectl forgets its own warning;
- which pods are where when all controllers have come to rest, and which nodes are cordoned.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from cluster import Cluster
from drain_random import TIMEOUT, World, daemon, objects
from drain_words import refused, warned
from process import ClusterError, wait_for

FORGOTTEN = "deleting Pods with local storage"
# Seconds: more than any of them takes on a busy machine.  A disruption controller that is late finds a StatefulSet's next pod under the
# name of the one that was evicted, and takes it for that one for two minutes, in which its budget allows nothing.
PATIENCE = 300


class Twin:
    """One copy."""

    def __init__(self, cluster: Cluster, world: World, letter: str) -> None:
        self.cluster, self.api, self.world = cluster, cluster.api, world
        self.group = f"d{world.seed}{letter}"
        self.ns = f"ns-{self.group}"
        self.nodes: list[str] = []
        self.apps: dict[str, str] = {}  # "ns/pod" and "pod/pod" of those that were there -> app

    # -- making ----------------------------------------------------------------------------------------------------

    def build(self) -> None:
        """Node after node, each filled while it is the only one that takes pods; nodes to go to come last."""
        api, world = self.api, self.world
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.ns}})
        account = f"/api/v1/namespaces/{self.ns}/serviceaccounts/default"
        wait_for(lambda: api.raw("GET", account)[0] == 200, PATIENCE, account)
        for i in range(world.daemons):
            api.create(daemon(i, self.ns, self.group, self.cluster.pod_timing))
        wanted = 0
        for number in range(world.nodes):
            node, = self.cluster.add_nodes(1, prefix=f"{self.group}-n", first=number, labels={"group": self.group, "drain": self.group})
            self.nodes.append(node)
            for load in [one for one in world.loads if one.node == number]:
                for made in objects(load, self.ns, node, self.group, self.cluster.pod_timing):
                    api.create(made)
                wanted += load.replicas
            wait_for(lambda: self.placed(wanted + world.daemons * (number + 1)), PATIENCE, f"{wanted} pods of {self.group}", interval=0.2)
            self.cluster.fill([node])
        for name, labels, rule in world.budgets:
            api.create({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name, "namespace": self.ns},
                        "spec": {"selector": {"matchLabels": labels}, **rule}})
        self.cluster.add_nodes(world.spare, prefix=f"{self.group}-s", labels={"group": self.group})
        wanted += world.daemons * (world.nodes + world.spare)
        wait_for(lambda: self.placed(wanted) and self.budgets_known(), PATIENCE, f"{self.group} to be ready", interval=0.2)
        for pod in self.pods():
            meta = pod["metadata"]
            self.apps[meta["name"]] = meta["name"] if len(self.owners(pod)) == 0 else meta["labels"]["app"]

    def pods(self) -> list[dict]:
        return list(self.api.items(f"/api/v1/namespaces/{self.ns}/pods"))

    @staticmethod
    def owners(pod: dict) -> list[dict]:
        return pod["metadata"].get("ownerReferences", [])

    def placed(self, count: int) -> bool:
        """As many pods, all on nodes and as ready or finished as they will get."""
        lazy = {load.name for load in self.world.loads if load.never_ready}
        finished = {load.name for load in self.world.loads if load.finished}
        good = [p for p in self.pods() if p["spec"].get("nodeName") and (p["metadata"]["labels"]["app"] in lazy or (
            p["status"].get("phase") == "Succeeded" if p["metadata"]["labels"]["app"] in finished else is_ready(p)))]
        return len(good) == count == len(self.pods())

    def budgets_known(self) -> bool:
        sizes = {load.name: load.replicas for load in self.world.loads}
        for found in self.api.items(f"/apis/policy/v1/namespaces/{self.ns}/poddisruptionbudgets"):
            status = found.get("status", {})
            if status.get("observedGeneration") != 1 or status.get("currentHealthy") != sizes[found["metadata"]["name"]]:
                return False
        return True

    # -- draining --------------------------------------------------------------------------------------------------

    def drain(self, command: list[str | Path], kubeconfig: Path, home: Path) -> None:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("KUBE", "SLIPWAY"))}
        target = ["-l", f"drain={self.group}"] if self.world.by_label else self.nodes
        argv = [str(a) for a in command] + target + self.world.flags
        try:
            self.done = subprocess.run(argv, env={**env, "KUBECONFIG": str(kubeconfig), "HOME": str(home)}, stdin=subprocess.DEVNULL,
                                       capture_output=True, text=True, errors="replace", timeout=PATIENCE)
        except subprocess.TimeoutExpired as late:
            said = [(s or b"").decode(errors="replace") if isinstance(s, bytes) else s or "" for s in (late.stdout, late.stderr)]
            self.done = subprocess.CompletedProcess(argv, -1, said[0], said[1] + "\n(it did not end)")

    def plain(self, name: str) -> str:
        return self.apps.get(name.rpartition("/")[2], name)

    def said(self) -> dict:
        """What it said and how it ended, comparable."""
        known = sorted(self.apps, key=len, reverse=True)
        said = dict.fromkeys(self.done.stdout.splitlines())
        lines = []
        for line in said:
            start, _, pod = line.partition("/")
            if start == f"evicting pod {self.ns}" and f"pod/{pod} evicted" not in said:
                continue
            for name in known:
                line = line.replace(name, self.apps[name])
            lines.append(line.replace(self.ns, "NS").replace(self.group, "GROUP"))
        return {"succeeded": self.done.returncode == 0, "lines": dict(Counter(sorted(lines))),
                "refused": sorted(Counter((reason, self.plain(pod)) for reason, pod in refused(self.done.stderr)).items()),
                "warned": sorted(Counter((message, self.plain(pod)) for message, pod in warned(self.done.stderr)
                                         if message != FORGOTTEN).items())}

    # -- the end ---------------------------------------------------------------------------------------------------

    def picture(self) -> dict:
        places = Counter()
        for pod in self.pods():
            node, labels = pod["spec"].get("nodeName"), pod["metadata"].get("labels", {})
            place = node.replace(self.group, "") if node in self.nodes else "elsewhere" if node else "nowhere"
            places[f"{labels.get('app')} {place} {pod['status'].get('phase')} ready={is_ready(pod)} "
                   f"leaving={bool(pod['metadata'].get('deletionTimestamp'))}"] += 1
        found = self.api.items(f"/api/v1/nodes?labelSelector=group%3D{self.group}")
        cordoned = sorted(n["metadata"]["name"].replace(self.group, "") for n in found if n["spec"].get("unschedulable"))
        return {"pods": dict(sorted(places.items())), "cordoned": cordoned}

    def at_rest(self) -> bool:
        """Every workload has all of its pods, and none is on its way."""
        have = Counter(p["metadata"]["labels"]["app"] for p in self.pods() if not p["metadata"].get("deletionTimestamp"))
        if any(p["metadata"].get("deletionTimestamp") for p in self.pods()):
            return False
        lazy = {load.name for load in self.world.loads if load.never_ready}
        ready = Counter(p["metadata"]["labels"]["app"] for p in self.pods() if is_ready(p) or
                        p["metadata"]["labels"]["app"] in lazy and p["spec"].get("nodeName"))
        return all(have[load.name] == ready[load.name] == load.replicas for load in self.world.loads if load.managed)

    def remove(self) -> None:
        self.api.delete(f"/api/v1/namespaces/{self.ns}")
        self.api.delete(f"/api/v1/namespaces/{self.ns}/pods", {"gracePeriodSeconds": 0})
        self.api.delete(f"/api/v1/nodes?labelSelector=group%3D{self.group}")


def is_ready(pod: dict) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))


def differences(a: object, b: object, path: str = "") -> list[str]:
    if isinstance(a, dict) and isinstance(b, dict):
        return [line for key in sorted(a.keys() | b.keys()) for line in differences(a.get(key), b.get(key), f"{path}.{key}")]
    return [] if a == b else [f"{path.lstrip('.')}: kubectl {a!r}, slipway {b!r}"]


def compare(cluster: Cluster, world: World, slipway: Path, home: Path) -> tuple[list[str], dict]:
    """What differs between the two, line by line, and what kubectl said.

    Two that had too little time may have come to different places: they are judged with more.
    """
    wrong, told = compare_once(cluster, world, slipway, home, "ab")
    if wrong and TIMEOUT in world.flags:
        patient = replace(world, flags=[flag if flag != TIMEOUT else "--timeout=60s" for flag in world.flags])
        wrong, told = compare_once(cluster, patient, slipway, home, "cd")
    return wrong, told


def compare_once(cluster: Cluster, world: World, slipway: Path, home: Path, letters: str) -> tuple[list[str], dict]:
    one, other = (Twin(cluster, world, letter) for letter in letters)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda twin: twin.build(), (one, other)))
        commands = ([cluster.binaries.path("kubectl"), "drain", "--ignore-daemonsets"], [slipway, "drain"])
        list(pool.map(lambda pair: pair[0].drain(pair[1], cluster.admin, home), zip((one, other), commands)))
    wrong = differences(one.said(), other.said())
    try:
        wait_for(lambda: one.at_rest() and other.at_rest(), 60, "the controllers to come to rest", interval=0.3)
    except ClusterError as error:
        wrong.append(str(error))
    wrong += differences(one.picture(), other.picture(), "state")
    if wrong:
        wrong += [f"flags: {world.flags}", f"kubectl's stderr: {one.done.stderr.strip()}", f"slipway's stderr: {other.done.stderr.strip()}"]
    told = one.said()
    for twin in (one, other):
        twin.remove()
    return wrong, told
