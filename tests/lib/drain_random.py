"""Random content for a drain: nodes, workloads, budgets and flags, from a seed.

A world is a plan that can be carried out any number of times, each time with its own names of nodes and namespace.  It has none
of what Slipway does better than kubectl on purpose: nothing comes late or back, no pod has two budgets, no foreign owners.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

IMAGE = "registry.test/app:1"
TIMEOUT = "--timeout=7s"  # of a drain that cannot end: enough for all that can go, unless the machine is busy


@dataclass
class Load:
    """One workload or pod and the node it begins on."""

    node: int
    kind: str  # Deployment, StatefulSet, Job, Pod
    name: str
    replicas: int = 1
    local: bool = False  # has an emptyDir
    never_ready: bool = False
    finished: bool = False
    mirror: bool = False
    tier: str = "a"

    @property
    def managed(self) -> bool:
        return self.kind != "Pod"


@dataclass
class World:
    seed: int
    nodes: int
    spare: int
    loads: list[Load] = field(default_factory=list)
    budgets: list[tuple[str, dict[str, str], dict]] = field(default_factory=list)  # name, labels, rule
    daemons: int = 0
    flags: list[str] = field(default_factory=list)
    by_label: bool = False


def make(seed: int) -> World:
    luck = random.Random(f"drain {seed}")
    world = World(seed, nodes=luck.choice([1, 1, 1, 2]), spare=luck.randint(1, 2), daemons=luck.choice([0, 0, 1, 2]))
    clean = luck.random() < 0.45  # nothing that a drain refuses
    for i in range(luck.randint(1, 6)):
        node, kind = luck.randrange(world.nodes), luck.choice(["Deployment"] * 4 + ["StatefulSet"] * 2 + ["Job"] + ["Pod"] * 3)
        if clean and kind == "Pod":
            kind = "Deployment"
        load = Load(node, kind, f"app-{i}", luck.randint(1, 4) if kind in ("Deployment", "StatefulSet") else 1, tier=luck.choice("ab"))
        load.local = not clean and luck.random() < 0.2
        if kind == "Pod":
            load.mirror, load.finished = luck.random() < 0.2, luck.random() < 0.3
        elif kind == "Deployment":
            load.never_ready = luck.random() < 0.1
        world.loads.append(load)
    for load in world.loads:
        if load.kind in ("Deployment", "StatefulSet") and not load.never_ready and luck.random() < 0.4:
            rule = luck.choice([{"maxUnavailable": 1}, {"maxUnavailable": "50%"}, {"minAvailable": max(0, load.replicas - 1)},
                                {"minAvailable": "50%"}, {"minAvailable": 0}])
            if luck.random() < 0.08:
                rule = {"minAvailable": load.replicas}
            world.budgets.append((load.name, {"app": load.name}, rule))
    sizes = {load.name: load.replicas for load in world.loads}
    never = [b for b in world.budgets if b[2] == {"minAvailable": sizes[b[0]]} or b[2] == {"minAvailable": "50%"} and sizes[b[0]] == 1]
    if never:  # how far others get until the time is over is a matter of speed, so that there are none
        world.budgets = never + [b for b in world.budgets if b[2] == {"minAvailable": 0}]
    world.flags = flags(luck, clean, bool(never))
    world.by_label = luck.random() < 0.2
    return world


def flags(luck: random.Random, clean: bool, never: bool) -> list[str]:
    chosen = []
    if luck.random() < (0.2 if clean else 0.6):
        chosen.append("--force")
    if luck.random() < (0.2 if clean else 0.6):
        chosen.append("--delete-emptydir-data")
    if luck.random() < 0.12:
        chosen.append(luck.choice(["--pod-selector=tier=a", "--pod-selector=tier!=a", "--pod-selector=app in (app-0,app-1)"]))
    if luck.random() < 0.15:
        chosen.append(f"--grace-period={luck.choice([0, 1, 20])}")
    if luck.random() < 0.08:
        chosen.append("--disable-eviction")
    if never:
        chosen.append(TIMEOUT)
    luck.shuffle(chosen)
    return chosen


# -- as objects ----------------------------------------------------------------------------------------------------


def template(load: Load, labels: dict[str, str], annotations: dict[str, str], **more: object) -> dict:
    spec: dict = {"containers": [{"name": "main", "image": IMAGE}], **more}
    if load.local:
        spec["volumes"] = [{"name": "scratch", "emptyDir": {}}]
    return {"metadata": {"labels": labels, "annotations": annotations}, "spec": spec}


def objects(load: Load, ns: str, node: str, group: str, timing) -> list[dict]:
    """timing: as of Cluster.pod_timing().  Managed pods stay in their group of nodes; the others name theirs."""
    labels = {"app": load.name, "tier": load.tier}
    meta = {"name": load.name, "namespace": ns}
    # A fake kubelet that is late may delete the namesake of a pod that was to go at once; a delay it forgets in time.
    gone = "1s" if load.kind == "StatefulSet" else "0s"
    finish = "0s" if load.finished else "100h" if load.kind == "Job" else None
    annotations = timing(ready="1h" if load.never_ready else "0s", gone=gone, finish=finish)
    if load.mirror:
        annotations |= {"kubernetes.io/config.mirror": "x", "kubernetes.io/config.source": "file"}
    here = {"nodeSelector": {"group": group}}
    if load.kind == "Pod":
        never = {"restartPolicy": "Never"} if load.finished else {}
        made = template(load, labels, annotations, nodeName=node, **never)
        return [{"apiVersion": "v1", "kind": "Pod", **made, "metadata": made["metadata"] | meta}]
    if load.kind == "Job":
        spec = {"template": template(load, labels, annotations, restartPolicy="Never", **here), "backoffLimit": 100}
        return [{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}]
    spec = {"replicas": load.replicas, "selector": {"matchLabels": {"app": load.name}}, "template": template(load, labels, annotations, **here)}
    if load.kind == "StatefulSet":
        spec |= {"serviceName": load.name, "podManagementPolicy": "Parallel"}
    return [{"apiVersion": "apps/v1", "kind": load.kind, "metadata": meta, "spec": spec}]


def daemon(number: int, ns: str, group: str, timing) -> dict:
    name = f"daemon-{number}"
    made = template(Load(0, "DaemonSet", name), {"app": name, "tier": "d"}, timing(ready="0s", gone="0s"), nodeSelector={"group": group})
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": ns},
            "spec": {"selector": {"matchLabels": {"app": name}}, "template": made}}
