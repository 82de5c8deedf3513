"""Sequences of changes for a cluster that lives: after each the controllers come to rest, and the state they reach is compared.

    steps = sequence(seed)

A step is a call as in diff_calls, or one on a pod that has another name on each server: {"pod_of": labels, "index": n, ...},
whose @pod@ is the n-th pod of those labels; {"taint": node, "taints": [...]}; or {"end": true}, where the namespace goes.
Nodes are called @ns@-n-0 and so on.  A pure function of the seed.

Everything is of a kind that has one outcome: no rollout meets a full cluster, and where a choice is the scheduler's only the
number of pods that found a place is looked at.
"""

from __future__ import annotations

from random import Random

from kinds import BUDGET, DAEMON_SET, DEPLOYMENT, IMAGE, JOB, NODE, POD, REPLICA_SET, STATEFUL_SET, Kind
from wire import JSON, PATCHES, query

NODES, CPUS, SLOTS = 2, 4, 60  # room for all small pods of a sequence on one of them, and for two large ones beside
LENGTH = 10
SCALABLE = {"dep": DEPLOYMENT, "rs": REPLICA_SET, "sts": STATEFUL_SET}
KINDS = SCALABLE | {"ds": DAEMON_SET, "job": JOB, "pod": POD}
TAINT = "diff.example.com/taint"


def call(method: str, path: str, body: object = None, content: str = JSON) -> dict:
    return {"method": method, "path": path, "body": body, "content": content}


def patch(path: str, body: object, kind: str = "merge") -> dict:
    return call("PATCH", path, body, PATCHES[kind])


def pod_template(name: str, cpu: str = "10m", timing: str | None = None, **spec: object) -> dict:
    """timing: @finish@ or @ready@, the annotation for which the server that it is sent to has a name of its own."""
    annotations = {f"@{timing}@": "0s" if timing == "finish" else "10h"} if timing else {}
    return {"metadata": {"labels": {"app": name}, "annotations": annotations},
            "spec": {"nodeSelector": {"seq": "@ns@"}, "terminationGracePeriodSeconds": 1,
                     "containers": [{"name": "main", "image": IMAGE, "resources": {"requests": {"cpu": cpu}}}], **spec}}


class Maker:
    def __init__(self, seed: int) -> None:
        self.r = Random(seed)
        self.alive: dict[str, Kind] = {}
        self.budgets: list[str] = []
        self.guarded: set[str] = set()
        self.count = 0
        self.images = 1
        self.crowded = False  # the nodes are full
        self.loose = False  # there may be pods that nobody replaces
        self.waiting: set[str] = set()  # whose pods never become ready
        self.paused: set[str] = set()
        self.parted: set[str] = set()  # StatefulSets with a partition
        self.tainted = False  # some node may have a NoSchedule taint
        self.closed: dict[int, set[str]] = {number: set() for number in range(NODES)}  # to new pods, and by what

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def one(self, *prefixes: str) -> str | None:
        known = [name for name in self.alive if name.rstrip("0123456789") in prefixes]
        return self.r.choice(known) if known else None

    def path(self, name: str, sub: str = "") -> str:
        return KINDS[name.rstrip("0123456789")].path("@ns@", name, sub)

    # -- steps: None when there is nothing to do it to ----------------------------------------------------------------

    def make(self) -> dict:
        r = self.r
        prefix = r.choice(("dep", "dep", "dep", "rs", "sts", "sts", "job", "pod") + (() if self.tainted else ("ds",)))
        name, kind = self.fresh(prefix), KINDS[prefix]
        labels = {"matchLabels": {"app": name}}
        timing = "ready" if r.random() < 0.1 and prefix in ("dep", "rs") else None
        spec: dict[str, object] = {"selector": labels, "template": pod_template(name, timing=timing)}
        if prefix in SCALABLE:
            spec["replicas"] = r.randrange(5) if prefix != "sts" else r.randrange(4)
        if prefix == "dep":
            spec["strategy"] = r.choice(({"type": "Recreate"}, {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
                                         {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
                                         {"rollingUpdate": {"maxSurge": "50%", "maxUnavailable": "50%"}}, {}))
            spec |= r.choice(({}, {}, {"revisionHistoryLimit": r.randrange(2)}))
        if prefix in ("dep", "rs") and r.random() < 0.1:
            spec["minReadySeconds"] = 1
        if prefix == "sts":
            spec |= {"serviceName": "x", "podManagementPolicy": r.choice(("OrderedReady", "Parallel"))}
            if r.random() < 0.2:
                spec["updateStrategy"] = {"rollingUpdate": {"partition": r.randrange(1, 3)}}
                self.parted.add(name)
        if prefix == "job":
            spec = {"template": pod_template(name, timing="finish", restartPolicy="Never"), "completions": r.randrange(1, 4),
                    "parallelism": r.randrange(1, 3),
                    **({"suspend": True} if r.random() < 0.2 else {})}
        if prefix == "pod":
            spec = pod_template(name)["spec"]
        if timing:
            self.waiting.add(name)
        self.loose |= prefix in ("pod", "job")
        labels = {"labels": {"app": name}} if prefix == "pod" else {}
        self.alive[name] = kind
        return call("POST", kind.path("@ns@"), {"apiVersion": kind.version, "kind": kind.kind,
                                                "metadata": {"name": name, **labels}, "spec": spec})

    def crowd(self) -> dict | None:
        """More pods than there is room for, once: some must wait.  From then on the nodes stay as they are."""
        if self.crowded or any(self.closed.values()):
            return None
        self.crowded = True
        name = self.fresh("rs")
        self.alive[name] = REPLICA_SET
        template = pod_template(name, "1500m")
        if self.r.random() < 0.5:  # one on each node
            template = pod_template(name, affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": name}}}]}})
        spec = {"replicas": self.r.randrange(5, 7), "selector": {"matchLabels": {"app": name}}, "template": template}
        return call("POST", REPLICA_SET.path("@ns@"), {"apiVersion": "apps/v1", "kind": "ReplicaSet",
                                                       "metadata": {"name": name}, "spec": spec})

    def scale(self) -> dict | None:
        name = self.one(*SCALABLE)
        return name and patch(self.path(name, self.r.choice(("", "scale"))), {"spec": {"replicas": self.r.randrange(4)}})

    def roll(self) -> dict | None:
        """Only where it can come to an end."""
        name = self.one("dep", "sts", "ds")
        if not name or name in self.waiting or all(self.closed.values()):
            return None
        self.images += 1
        # Rarely one that it may have had before: then it goes back to that revision.
        image = self.r.randrange(1, self.images) if self.r.random() < 0.3 else self.images
        containers = [{"name": "main", "image": f"registry.test/app:{image}"}]
        return patch(self.path(name), {"spec": {"template": {"spec": {"containers": containers}}}}, "strategic")

    def pause(self) -> dict | None:
        name = self.one("dep")
        if not name or name in self.waiting or all(self.closed.values()):
            return None
        (self.paused.discard if name in self.paused else self.paused.add)(name)
        return patch(self.path(name), {"spec": {"paused": name in self.paused or None}}, "strategic")

    def part(self) -> dict | None:
        name = self.one("sts")
        if not name or name not in self.parted or all(self.closed.values()):
            return None
        return patch(self.path(name), {"spec": {"updateStrategy": {"rollingUpdate": {"partition": self.r.randrange(1, 3)}}}})

    def job(self) -> dict | None:
        """A Job that waits, or that has ended already."""
        name = self.one("job")
        return name and patch(self.path(name), {"spec": self.r.choice(({"suspend": False}, {"suspend": True}, {"parallelism": 3},
                                                                       {"completions": 9}, {"activeDeadlineSeconds": 1000}))})

    def budget(self) -> dict | None:
        """One for each: of several that select a pod the controller looks after any one when the pod changes."""
        name = self.one("dep", "rs", "sts", "ds", "pod")
        if not name or name in self.guarded:
            return None
        self.guarded.add(name)
        rule = {self.r.choice(("minAvailable", "maxUnavailable")): self.r.choice((0, 1, 2, "25%", "50%", "100%"))}
        if self.r.random() < 0.4:
            rule["unhealthyPodEvictionPolicy"] = self.r.choice(("AlwaysAllow", "IfHealthyBudget"))
        made = self.fresh("pdb")
        self.budgets.append(made)
        return call("POST", BUDGET.path("@ns@"), {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                                                  "metadata": {"name": made},
                                                 "spec": {"selector": {"matchLabels": {"app": name}}, **rule}})

    def rebudget(self) -> dict | None:
        if not self.budgets:
            return None
        rule = {"minAvailable": None, "maxUnavailable": None} | {
            self.r.choice(("minAvailable", "maxUnavailable")): self.r.choice((0, 1, 3, "40%"))}
        return patch(BUDGET.path("@ns@", self.r.choice(self.budgets)), {"spec": rule})

    def evict(self) -> dict | None:
        name = self.one("dep", "rs", "sts", "ds", "pod")
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "@pod@", "namespace": "@ns@"}}
        if self.r.random() < 0.2:
            eviction["deleteOptions"] = {"gracePeriodSeconds": 0}
        rehearsed = {"dryRun": "All"} if self.r.random() < 0.15 else {}
        return name and {"pod_of": f"app={name}", "index": self.r.randrange(3),
                         **call("POST", query(POD.path("@ns@", "@pod@", "eviction"), **rehearsed), eviction)}

    def kill(self) -> dict | None:
        name = self.one("dep", "rs", "sts", "ds")
        options = self.r.choice((None, {"gracePeriodSeconds": 0}))
        return name and {"pod_of": f"app={name}", "index": self.r.randrange(3),
                         **call("DELETE", POD.path("@ns@", "@pod@"), options)}

    def release(self) -> dict | None:
        """A pod leaves its owner: another takes its place (in a StatefulSet it could not: the name is still taken)."""
        name = self.one("dep", "rs")
        self.loose |= name is not None
        return name and {"pod_of": f"app={name}", "index": 0, **patch(POD.path("@ns@", "@pod@"),
                                                                      {"metadata": {"labels": {"app": f"free-{name}"}}})}

    def remove(self) -> dict | None:
        name = self.one(*KINDS)
        if not name:
            return None
        del self.alive[name]
        policies = ("Background", "Background", "Foreground") + (("Orphan",) if name.startswith(("dep", "rs")) else ())
        policy = self.r.choice(policies)
        self.loose |= policy == "Orphan"
        return call("DELETE", self.path(name), {"propagationPolicy": policy})

    def close(self, node: int, by: str, closed: bool) -> None:
        (self.closed[node].add if closed else self.closed[node].discard)(by)

    def cordon(self) -> dict | None:
        node, closed = self.r.randrange(NODES), self.r.random() < 0.65
        if self.crowded:
            return None
        self.close(node, "cordon", closed)
        return patch(NODE.path(name=f"@ns@-n-{node}"), {"spec": {"unschedulable": closed or None}}, "strategic")

    def taint(self) -> dict | None:
        """A DaemonSet looks again at a node with a new NoSchedule taint only when something else happens to it; and how many must
        leave a node is the scheduler's affair: they must all be replaced, and find room elsewhere."""
        node = self.r.randrange(NODES)
        effects = ["", "NoExecute"] if not self.loose and not any(self.closed[n] for n in self.closed if n != node) else [""]
        if not any(kind is DAEMON_SET for kind in self.alive.values()):
            effects.append("NoSchedule")
        effect = self.r.choice(effects)
        if self.crowded:
            return None
        self.close(node, "taint", bool(effect))
        self.tainted |= effect == "NoSchedule"
        return {"taint": f"@ns@-n-{node}", "taints": [{"key": TAINT, "effect": effect}] if effect else []}


WEIGHTS = {"make": 30, "crowd": 4, "scale": 14, "roll": 12, "budget": 10, "rebudget": 4, "evict": 14, "kill": 6, "release": 3,
           "remove": 8, "cordon": 6, "taint": 5, "pause": 5, "part": 3, "job": 3}


def sequence(seed: int, length: int = LENGTH) -> list[dict]:
    maker = Maker(seed)
    steps = [maker.make(), maker.make()]
    while len(steps) < length:
        name, = maker.r.choices(list(WEIGHTS), list(WEIGHTS.values()))
        step = getattr(maker, name)()
        if step:
            steps.append(step)
    return steps + [{"end": True}] * (maker.r.random() < 0.25)
