"""Does a pod fit a node?  src/engine/fit against the real kube-scheduler.

Small clusters drawn from a seed are made on a real control plane, and pods with every sort of wish are created one by one.
For each the real scheduler's decision is compared with ours on the same objects: the nodes that it found to fit and the
score that it gave to each, by its own log; and, where it calls the pod unschedulable, what it says, to the letter.

$SLIPWAY_SEED is the first seed, $SLIPWAY_FIT_ROUNDS how many there are; what they differ about last is written to the file
$SLIPWAY_FIT_SAVE: the objects before the pod came, and the pod.

The two sides see a change of the cluster at different moments.  So when they differ, the cause is looked for: what has changed since the
last look before the pod came, and while the scheduler decided; and whether we say exactly what it says when some of these changes are taken
as not yet, or as already seen.  If so, the difference is counted under that cause (preemption under way, or a change by a controller or by the test
itself that was under way), and the pod is created again a little later: who is wrong stays wrong.  A difference that no change explains is a
failure at once.  What was found is printed at the end: pods compared, differences by cause.
"""

from __future__ import annotations

import collections
import copy
import itertools
import json
import os
import random
import re
import time
import urllib.parse
from typing import Callable, Iterable

from api import ApiError, object_path
from cluster import Cluster, fake_node
from context import Context, limit
from plan_picture import Picture, objects

PODS = 30  # in a round
TRIES = 4
CHANGES = 3  # looked at together when a difference is explained
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
SCHEDULER_TIMEOUT = 60
TOPICS = (None, "pods", "spread", "volumes", "resources", "nodes", "pods")  # what a round is about, by its seed


# -- the judge ----------------------------------------------------------------------------------------------------


class Judge:
    """Creates pods on the real cluster and compares."""

    def __init__(self, ctx: Context, cluster: Cluster) -> None:
        self.ctx, self.cluster, self.api = ctx, cluster, cluster.api
        self.picture = Picture(ctx, cluster)
        self.placed = self.refused = 0
        self.causes: collections.Counter = collections.Counter()  # of differences
        self.known: dict[str, dict] = {}  # what there was at the last look
        self.leaving: set[str] = set()  # pods that stay on their way out
        self.log = open(cluster["kube-scheduler"].log, encoding="utf-8", errors="replace")
        self.scored: dict[str, dict[str, int]] = {}  # by the scheduler: pod -> node -> score
        ctx.undo(self.log.close)
        self.reasons: set[str] = set()

    def decided(self, path: str) -> dict:
        """The pod, once the scheduler has said yes or no."""
        def there() -> dict | None:
            pod = self.api.get(path)
            if pod["spec"].get("nodeName"):
                return pod
            self.provide(pod)
            scheduled = condition(pod)
            return pod if scheduled and scheduled["reason"] in ("Unschedulable", "SchedulingGated") else None

        return self.ctx.wait_for(there, SCHEDULER_TIMEOUT, f"the scheduler's word about {path}", interval=0.01)

    def provide(self, pod: dict) -> None:
        """Plays the provisioner: a claim for which the scheduler has chosen a node gets a volume there."""
        for volume in pod["spec"].get("volumes", []):
            if "persistentVolumeClaim" not in volume:
                continue
            meta = {"namespace": pod["metadata"]["namespace"], "name": volume["persistentVolumeClaim"]["claimName"]}
            claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta}
            try:
                claim |= self.api.get(object_path(claim))
            except ApiError:
                continue
            node = claim["metadata"].get("annotations", {}).get("volume.kubernetes.io/selected-node")
            name = f"made-{claim['metadata']['uid']}"
            if node and not claim["spec"].get("volumeName") and self.api.raw("GET", f"/api/v1/persistentvolumes/{name}")[0] == 404:
                made = volume_object(name, claim["spec"]["storageClassName"], "8Gi", claim["spec"]["accessModes"],
                                     [[{"key": HOST, "operator": "In", "values": [node]}]])
                made["spec"]["claimRef"] = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "uid": claim["metadata"]["uid"], **meta}
                self.api.create(made)

    def cause(self, before: dict[str, dict], pod: dict, bound: dict) -> str | None:
        """Why the scheduler may have seen something else than we did: the changes that, seen sooner or later, make our answers the same."""
        later = by_path(o for o in objects(self.api) if o["metadata"]["uid"] != pod["metadata"]["uid"])
        changes = [(path, old.get(path), new.get(path)) for old, new in ((self.known, before), (before, later))
                   for path in sorted({*old, *new}) if essence(old.get(path)) != essence(new.get(path))]
        for count in range(1, min(len(changes), CHANGES) + 1):
            for some in itertools.combinations(changes, count):
                seen = dict(before)
                for path, old, new in some:
                    # Of a change before our look it has seen what was before, of one after it what came.
                    other = old if new is before.get(path) else new
                    seen.pop(path, None) if other is None else seen.update({path: other})
                if not self.compare(list(seen.values()), pod, bound):
                    return ", ".join(sorted({kind_of_change(old, new) for _, old, new in some}))
        return None

    def compare(self, before: list[dict], pod: dict, bound: dict) -> str | None:
        """What is wrong with our answer."""
        asked = copy.deepcopy(pod)
        node = asked["spec"].pop("nodeName", None)
        asked.pop("status", None)
        self.picture.show(before)
        ours = self.picture.ask(asked)
        if node:
            scores = self.scores(pod) or {node: 0}  # a single one that fits is not scored
            best = max(scores.values())
            if set(scores) != set(ours["scores"]):
                return f"it found {sorted(scores)} to fit, we see {ours['nodes']}"
            if scores != ours["scores"]:
                return f"its scores are {sorted(scores.items())}\n   ours are {sorted(ours['scores'].items())}"
            if scores[node] != best or ours["scores"].get(ours["place"]) != best:
                return f"we would have taken {ours['place']}, not one of the best of {ours['scores']}"
            wanted = self.picture.bindings(node, asked)
            if {k: v for k, v in wanted.items() if v and bound.get(k) != v}:
                return f"its claims are bound to {bound}, we would have bound them to {wanted}"
            return None
        message = condition(pod)["message"]
        if ours.get("message") != message:
            fits = [n for n, reasons in ours["nodes"].items() if not reasons]
            return f"it says: {message}\nwe say:  {ours.get('message')}\nnodes that fit: {fits}"
        self.reasons |= {reason for reasons in ours["nodes"].values() for reason in reasons}
        return None

    def scores(self, pod: dict) -> dict[str, int]:
        """What the scheduler has written about its last look at this pod."""
        while line := self.log.readline():
            if match := re.search(r'Calculated node\'s final score for pod" pod="([^"]+)" node="([^"]+)" score=(-?\d+)$', line):
                self.scored.setdefault(match[1], {})[match[2]] = int(match[3])
        return self.scored.get(f"{pod['metadata']['namespace']}/{pod['metadata']['name']}", {})

    def bound(self, pod: dict) -> dict[str, str]:
        """The volumes of the pod's claims now."""
        names = {v["persistentVolumeClaim"]["claimName"] for v in pod["spec"].get("volumes", []) if "persistentVolumeClaim" in v}
        return {c["metadata"]["name"]: c["spec"].get("volumeName", "")
                for c in self.api.items(f"/api/v1/namespaces/{pod['metadata']['namespace']}/persistentvolumeclaims")
                if c["metadata"]["name"] in names} if names else {}

    def dismiss(self, pod: dict, seconds: int) -> str:
        """Tells a pod to go, if it was not evicted before; returns its path."""
        path = object_path({"apiVersion": "v1", "kind": "Pod", **pod})
        try:
            self.api.delete(path, {"gracePeriodSeconds": seconds})
        except ApiError as error:
            if error.code != 404:
                raise
        return path

    def remove(self, pod: dict) -> None:
        path = self.dismiss(pod, 0)
        self.ctx.wait_for(lambda: self.api.raw("GET", path)[0] == 404, 30, f"{path} to be gone")

    def check(self, where: str, make: Callable[[], dict], remove: Callable[[dict], None] | None = None) -> dict:
        """Has the real scheduler decide about a new pod: make() creates it and returns it.  One that it does not place is
        removed again, and when it has evicted others, they are waited for."""
        trouble, remove = "", remove or self.remove
        for attempt in range(TRIES):
            before = objects(self.api)
            self.known = self.known or by_path(before)
            path = object_path({"apiVersion": "v1", "kind": "Pod", **make()})
            pod = self.decided(path)
            trouble = self.compare(before, pod, self.bound(pod))
            if not trouble:
                self.known = by_path(before)
                break
            why = self.cause(by_path(before), pod, self.bound(pod))
            self.known = by_path(before)
            if os.environ.get("SLIPWAY_FIT_SAVE"):
                with open(os.environ["SLIPWAY_FIT_SAVE"], "w", encoding="utf-8") as f:
                    json.dump({"before": before, "pod": pod}, f)
            assert why, f"{where}: nothing explains it: pod {json.dumps(pod['spec'])} labels {pod['metadata'].get('labels')}:\n{trouble}"
            self.causes[why] += 1
            print(f"# {where}: {why}: {trouble.splitlines()[0][:200]}", flush=True)
            remove(pod)
            time.sleep(0.3 * (attempt + 1))
        assert not trouble, f"{where}: pod {json.dumps(pod['spec'])} labels {pod['metadata'].get('labels')}:\n{trouble}"
        if pod["spec"].get("nodeName"):
            self.placed += 1
        else:
            self.refused += 1
            remove(pod)
            self.settle()
        return pod

    def settle(self) -> None:
        """Victims of preemption have their grace period; nothing may be under way when the next pod is asked about."""
        self.ctx.wait_for(lambda: not any(p["metadata"].get("deletionTimestamp") for p in self.api.items("/api/v1/pods")
                                          if p["metadata"]["uid"] not in self.leaving), 60, "the victims to be gone")


def by_path(found: Iterable[dict]) -> dict[str, dict]:
    return {object_path(o): o for o in found}


def essence(obj: dict | None) -> object:
    """What of an object a scheduler looks at."""
    if obj is None:
        return None
    meta, status = obj["metadata"], obj.get("status", {})
    return [{k: meta.get(k) for k in ("uid", "labels", "annotations", "deletionTimestamp", "ownerReferences")},
            {k: v for k, v in obj.items() if k not in ("metadata", "status")},
            {k: status.get(k) for k in ("phase", "allocatable", "nominatedNodeName")}]


def kind_of_change(old: dict | None, new: dict | None) -> str:
    kind = (old or new)["kind"]
    if kind == "Pod":
        disrupted = any(c["type"] == "DisruptionTarget" for o in (old, new) if o for c in o.get("status", {}).get("conditions", []))
        if disrupted or any(o and o.get("status", {}).get("nominatedNodeName") for o in (old, new)):
            return "preemption under way"
        return "a pod that came" if not old else "a pod that went" if not new else "a pod that changed"
    return f"a {kind} that {'came' if not old else 'went' if not new else 'changed'}"


def condition(pod: dict) -> dict | None:
    return next((c for c in pod.get("status", {}).get("conditions", []) if c["type"] == "PodScheduled" and c["status"] == "False"), None)


# -- objects ------------------------------------------------------------------------------------------------------


def volume_object(name: str, storage_class: str, size: str, modes: list[str], terms: list[list[dict]] | None, labels: dict = {}) -> dict:
    spec = {"capacity": {"storage": size}, "accessModes": modes, "storageClassName": storage_class,
            "csi": {"driver": "fit.test", "volumeHandle": name}, "persistentVolumeReclaimPolicy": "Retain"}
    if terms is not None:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": t} for t in terms]}}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name, "labels": labels}, "spec": spec}


def claim_object(name: str, namespace: str, storage_class: str, size: str, modes: list[str], **spec: object) -> dict:
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": namespace},
            "spec": {"storageClassName": storage_class, "accessModes": modes, "resources": {"requests": {"storage": size}}, **spec}}


def class_object(name: str, waits: bool, provisioner: str, topologies: list[dict] = []) -> dict:
    made = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner,
            "volumeBindingMode": "WaitForFirstConsumer" if waits else "Immediate"}
    return made | ({"allowedTopologies": topologies} if topologies else {})


def pod_object(name: str, namespace: str, labels: dict, spec: dict) -> dict:
    """One that takes its time when it is told to go, unless it is told to hurry."""
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "labels": labels, "annotations": Cluster.pod_timing(gone="1h")},
            "spec": {"containers": [{"name": "main", "image": "registry.test/app:1"}], "terminationGracePeriodSeconds": 0, **spec}}


# -- rounds -------------------------------------------------------------------------------------------------------


class Round:
    """A cluster and pods drawn from one seed."""

    def __init__(self, judge: Judge, seed: int) -> None:
        self.judge, self.api, self.seed = judge, judge.api, seed
        self.rng = random.Random(seed)
        self.topic = TOPICS[seed % len(TOPICS)]
        self.count = 0
        self.pods: list[dict] = []
        self.names = [f"r{seed}-n{i}" for i in range(self.rng.randint(3, 7))]
        self.spaces = [f"r{seed}-{letter}" for letter in "xyz"]
        self.classes = {use: f"r{seed}-{use}" for use in ("static", "dynamic", "now")}
        self.sets: list[dict] = []
        self.limits = random.Random(-seed)  # a chance of its own: what the seeds draw otherwise stays as it is

    def some(self, *choices):
        return self.rng.choice(choices)

    def maybe(self, share: float, topic: str | None = None) -> bool:
        """A share of the pods; more of them when this is the topic of the round, fewer when another is."""
        if topic and self.topic:
            share = max(share, 0.5) if topic == self.topic else share * 0.4
        return self.rng.random() < share

    # the cluster

    def node(self, index: int) -> dict:
        rng, labels, taints = self.rng, {}, []
        if self.maybe(0.7):
            labels["disk"] = self.some("ssd", "hdd")
        if self.maybe(0.8):
            labels["num"] = self.some("1", "5", "9", "x")
        if self.maybe(0.8):
            labels["rack"] = self.some("r1", "r2", "")
        for key, share in (("dedicated", 0.3), ("soft", 0.4), ("soft2", 0.2)):
            if self.maybe(share):
                effect = "PreferNoSchedule" if key.startswith("soft") else self.some("NoSchedule", "NoExecute")
                taints.append({"key": key, "value": self.some("a", "b"), "effect": effect})
        capacity = {"cpu": self.some("2", "3500m", "4"), "memory": self.some("3Gi", "4Gi", "6000000000"), "ephemeral-storage": "20Gi",
                    "pods": str(rng.choice((2, 4, 6, 9) if not self.topic else (4, 20, 30)))}
        if self.maybe(0.4):
            capacity["example.com/gpu"] = self.some("1", "2")
        if self.maybe(0.3):
            capacity["hugepages-2Mi"] = "64Mi"
        zone = self.some("a", "b", "c", None) if self.maybe(0.9) else None
        node = fake_node(self.names[index], index, zone, labels, taints, {}, capacity)
        if self.maybe(0.15):
            node["spec"]["unschedulable"] = True
        return node

    def build(self) -> None:
        api = self.api
        for name in self.spaces:
            labels = {"team": self.some("red", "blue")} | ({"env": "prod"} if self.maybe(0.5) else {})
            api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        topologies = [{"matchLabelExpressions": [{"key": ZONE, "values": ["a", "b"]}]}] if self.maybe(0.5) else []
        api.create(class_object(self.classes["static"], True, "kubernetes.io/no-provisioner"))
        api.create(class_object(self.classes["dynamic"], True, "fit.test", topologies))
        api.create(class_object(self.classes["now"], False, "kubernetes.io/no-provisioner"))
        for name in self.names:
            self.limit(name)
        for i in range(len(self.names)):
            api.create(self.node(i))
        for i in range(self.rng.randint(2, 6)):
            terms = self.some([[{"key": HOST, "operator": "In", "values": [self.rng.choice(self.names)]}]],
                              [[{"key": ZONE, "operator": "In", "values": ["a"]}], [{"key": "rack", "operator": "Exists"}]], None)
            api.create(volume_object(f"r{self.seed}-pv{i}", self.classes["static"], self.some("1Gi", "2Gi", "5Gi"),
                                     self.some(["ReadWriteOnce"], ["ReadWriteOnce", "ReadWriteMany"]), terms, {"kind": self.some("fast", "slow")}))
        for name in self.spaces:
            self.claims(name)
        self.attach()
        wait = self.judge.ctx.wait_for
        wait(lambda: self.judge.cluster.nodes_ready(self.names), 30, "the nodes")
        wait(self.tainted, 30, "the taints of cordoned nodes")
        wait(lambda: all(v["status"]["phase"] in ("Available", "Bound") for v in api.items("/api/v1/persistentvolumes")), 30, "the volumes")
        wait(lambda: all(c["status"].get("phase") == "Bound" for name in self.spaces for c in api.items(
            f"/api/v1/namespaces/{name}/persistentvolumeclaims") if c["metadata"]["name"].startswith("bound")), 30, "bound claims")
        for name in self.spaces:
            account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
            wait(lambda account=account: api.raw("GET", account)[0] == 200, 30, account)

    def limit(self, node: str) -> None:
        """How many volumes the driver can attach to the node, if it says so."""
        driver = {"name": "fit.test", "nodeID": node}
        most = self.limits.choice((None, 1, 1, 2, 3, 6))
        if most:
            driver["allocatable"] = {"count": most}
        if self.limits.random() < 0.8:
            self.api.create({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": node}, "spec": {
                "drivers": [driver, {"name": "other.test", "nodeID": node, "allocatable": {"count": 1}}]}})

    def attach(self) -> None:
        """Volumes that are attached, whether somebody uses them or not."""
        volumes = [v["metadata"]["name"] for v in self.api.items("/api/v1/persistentvolumes")]
        for i in range(self.limits.randint(0, 3)):
            self.api.create({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": f"r{self.seed}-{i}"}, "spec": {
                "attacher": self.limits.choice(("fit.test", "fit.test", "other.test")), "nodeName": self.limits.choice(self.names),
                "source": {"persistentVolumeName": self.limits.choice([*volumes, "gone"])}}})

    def tainted(self) -> bool:
        """The node controller's taint follows the cordon."""
        return all(bool(n["spec"].get("unschedulable")) == any(t["key"] == "node.kubernetes.io/unschedulable" for t in n["spec"].get("taints", []))
                   for n in self.api.items("/api/v1/nodes"))

    def claims(self, space: str) -> None:
        """Claims that are bound already, in several ways; and one that never will be."""
        api, now = self.api, self.classes["now"]
        for i in range(2):
            zone = {ZONE: self.some("a", "b", "a__b", "c")} if self.maybe(0.5) else {}
            terms = [[{"key": HOST, "operator": "In", "values": self.rng.sample(self.names, 2)}]] if self.maybe(0.6) else None
            modes = self.some(["ReadWriteOnce"], ["ReadWriteOncePod"])
            volume = volume_object(f"{space}-bound{i}", now, "3Gi", modes, terms, zone)
            volume["spec"]["claimRef"] = {"namespace": space, "name": f"bound{i}"}
            api.create(volume)
            api.create(claim_object(f"bound{i}", space, now, "3Gi", modes, volumeName=f"{space}-bound{i}"))
        api.create(claim_object("never", space, now, "3Gi", ["ReadWriteOnce"]))

    # pods

    def selector(self) -> dict | None:
        if self.topic in ("pods", "spread") and self.maybe(0.6):
            return {"matchLabels": {"app": self.some("a", "b")}}
        return self.some({"matchLabels": {"app": self.some("a", "b", "c")}}, {"matchLabels": {"app": "a", "tier": "front"}},
                         {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
                         {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]},
                         {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
                         {"matchLabels": {"app": "b"}, "matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}, {}, None)

    def topology(self) -> str:
        return self.some(HOST, ZONE, ZONE, "rack", "disk")

    def term(self) -> dict:
        made: dict = {"topologyKey": self.topology(), "labelSelector": self.selector()}
        if self.maybe(0.3):
            made["namespaces"] = self.rng.sample(self.spaces, self.rng.randint(1, 2))
        if self.maybe(0.4):
            made["namespaceSelector"] = self.some({}, {"matchLabels": {"team": "red"}}, {"matchExpressions": [{"key": "env", "operator": "Exists"}]},
                                                  {"matchExpressions": [{"key": "env", "operator": "DoesNotExist"}]},
                                                  {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["red"]}]})
        if self.maybe(0.2):
            made["labelSelector"] = {"matchLabels": {"app": self.some("a", "b")}}
            made[self.some("matchLabelKeys", "mismatchLabelKeys")] = ["tier"]
        return made

    def terms(self, share: float) -> dict:
        made: dict = {}
        if self.maybe(share, "pods"):
            made["requiredDuringSchedulingIgnoredDuringExecution"] = [self.term() for _ in range(self.some(1, 1, 2))]
        if self.maybe(share, "pods"):
            made["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": self.rng.randint(1, 100), "podAffinityTerm": self.term()} for _ in range(self.some(1, 2))]
        return made

    def node_requirement(self) -> dict:
        return self.some({"key": "disk", "operator": "In", "values": ["ssd"]}, {"key": "disk", "operator": "NotIn", "values": ["ssd"]},
                         {"key": "num", "operator": "Gt", "values": ["3"]}, {"key": "num", "operator": "Lt", "values": ["6"]},
                         {"key": "rack", "operator": "Exists"}, {"key": "rack", "operator": "DoesNotExist"})

    def node_term(self) -> dict:
        made: dict = {"matchExpressions": [self.node_requirement() for _ in range(self.some(1, 1, 2))]}
        if self.maybe(0.25):
            field = {"key": "metadata.name", "operator": self.some("In", "NotIn"), "values": [self.rng.choice(self.names + ["nobody"])]}
            made = {"matchFields": [field]} if self.maybe(0.6) else made | {"matchFields": [field]}
        return made

    def spread(self) -> list[dict]:
        made, seen = [], set()
        for _ in range(self.some(1, 1, 2)):
            one: dict = {"topologyKey": self.topology(), "whenUnsatisfiable": self.some("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"),
                         "maxSkew": self.some(1, 1, 2), "labelSelector": self.selector()}
            if one["whenUnsatisfiable"] == "DoNotSchedule" and self.maybe(0.3):
                one["minDomains"] = self.some(1, 2, 3, 5)
            for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
                if self.maybe(0.4):
                    one[policy] = self.some("Honor", "Ignore")
            if self.maybe(0.2):
                one["labelSelector"] = {"matchLabels": {"app": self.some("a", "b")}}
                one["matchLabelKeys"] = ["tier"]
            if (one["topologyKey"], one["whenUnsatisfiable"]) not in seen:
                seen.add((one["topologyKey"], one["whenUnsatisfiable"]))
                made.append(one)
        return made

    def resources(self) -> dict:
        made: dict = {"requests": {}, "limits": {}}
        if self.maybe(0.7, "resources"):
            made["requests"]["cpu"] = self.some("100m", "500m", "1", "1500m", "0.0015", "3")
        if self.maybe(0.5, "resources"):
            made["requests"]["memory"] = self.some("100Mi", "1Gi", "2500M", "1.5Gi")
        if self.maybe(0.1, "resources"):
            made["requests"]["ephemeral-storage"] = self.some("1Gi", "15Gi")
        if self.maybe(0.1, "resources"):
            made["limits"]["example.com/gpu"] = self.some("1", "2")
        if self.maybe(0.06):
            made["limits"]["hugepages-2Mi"] = "32Mi"
            made["requests"].setdefault("cpu", "100m")
        return made

    def containers(self, spec: dict) -> None:
        main = {"name": "main", "image": "registry.test/app:1", "resources": self.resources()}
        spec["containers"] = [main]
        if self.maybe(0.15, "nodes"):
            port = {"containerPort": 80, "hostPort": self.some(80, 81), "protocol": self.some("TCP", "UDP")}
            main["ports"] = [port | self.some({}, {"hostIP": "127.0.0.1"}, {"hostIP": "10.1.1.1"}, {"hostIP": "0.0.0.0"})]
        if self.maybe(0.2):
            spec["containers"].append({"name": "second", "image": "registry.test/app:1", "resources": self.resources()})
        if self.maybe(0.25):
            spec["initContainers"] = []
            for i in range(self.some(1, 2, 3)):
                one = {"name": f"init{i}", "image": "registry.test/app:1", "resources": self.resources()}
                if self.maybe(0.5):
                    one["restartPolicy"] = "Always"
                    if self.maybe(0.2):
                        one["ports"] = [{"containerPort": 80, "hostPort": 82}]
                spec["initContainers"].append(one)
        if self.maybe(0.1):
            for one in spec["containers"] + spec.get("initContainers", []):
                one["resources"] = {"requests": {"cpu": "10m"}} if self.maybe(0.5) else {}
            spec["resources"] = {"requests": {"cpu": self.some("500m", "1"), "memory": self.some("512Mi", "1Gi")}}

    def volumes(self, space: str, spec: dict) -> None:
        kind = self.some("bound0", "bound1", "both", "static", "static", "dynamic", "never", "missing", "selected", "twice")
        names = {"both": ["bound0", "bound1"], "missing": ["nobody"]}.get(kind, [kind])
        if kind in ("static", "dynamic", "selected", "twice"):
            names = []
            for _ in range(1 if kind == "twice" else self.some(1, 1, 2)):
                self.count += 1
                more = {"selector": {"matchLabels": {"kind": "fast"}}} if kind == "selected" else {}
                names.append(f"c{self.count}")
                storage = self.classes["dynamic" if kind == "dynamic" else "static"]
                modes = self.some(["ReadWriteOnce"], ["ReadWriteOnce"], ["ReadWriteMany"])
                self.api.create(claim_object(names[-1], space, storage, self.some("1Gi", "2Gi", "3Gi"), modes, **more))
        if kind == "twice":
            names *= 2
        spec["volumes"] = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": n}} for i, n in enumerate(names)]

    def pod(self) -> dict:
        space, spec, affinity = self.rng.choice(self.spaces), {}, {}
        labels = {"app": self.some("a", "b", *("c" if not self.topic else ""))} | ({"tier": self.some("front", "back")} if self.maybe(0.5) else {})
        if self.maybe(0.05):
            labels = {}
        self.containers(spec)
        if self.maybe(0.15, "nodes"):
            spec["nodeSelector"] = self.some({"disk": "ssd"}, {"disk": "hdd"}, {"rack": "r1"}, {"rack": ""}, {ZONE: "a"})
        node_affinity: dict = {}
        if self.maybe(0.15, "nodes"):
            node_affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {
                "nodeSelectorTerms": [self.node_term() for _ in range(self.some(1, 1, 2))]}
        if self.maybe(0.25, "nodes"):
            node_affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": self.rng.randint(1, 100), "preference": self.node_term()} for _ in range(self.some(1, 2))]
        for key, made in (("nodeAffinity", node_affinity), ("podAffinity", self.terms(0.12)), ("podAntiAffinity", self.terms(0.15))):
            if made:
                affinity[key] = made
        if affinity:
            spec["affinity"] = affinity
        if self.maybe(0.35):
            spec["tolerations"] = [self.some({"key": "dedicated", "operator": "Exists"}, {"key": "dedicated", "value": "a"}, {"operator": "Exists"},
                                             {"key": "dedicated", "operator": "Equal", "value": "b", "effect": "NoSchedule"},
                                             {"key": "soft", "operator": "Exists", "effect": "PreferNoSchedule"},
                                             {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"})
                                   for _ in range(self.some(1, 2))]
        if self.maybe(0.3, "spread"):
            spec["topologySpreadConstraints"] = self.spread()
        if self.maybe(0.15, "volumes"):
            self.volumes(space, spec)
        if self.maybe(0.1):
            spec["priorityClassName"] = self.some("polite", "pushy")
        if self.maybe(0.1):
            spec["runtimeClassName"] = "heavy"
        if self.maybe(0.03):
            spec["schedulingGates"] = [{"name": "test.slipway.dev/gate"}]
        self.count += 1
        return pod_object(f"p{self.count}", space, labels, spec)

    # what happens

    def step_pod(self) -> None:
        made = self.pod()

        def make() -> dict:
            self.count += 1
            made["metadata"]["name"] = f"p{self.count}"
            return self.api.create(made)

        pod = self.judge.check(f"seed {self.seed}", make)
        if pod["spec"].get("nodeName"):
            self.pods.append(pod)

    def step_set(self) -> None:
        """One pod more of a ReplicaSet: these are spread without being told to."""
        if not self.sets or self.maybe(0.3):
            self.count += 1
            labels = {"app": "set", "set": f"s{self.count}"}
            spec: dict = {"containers": [{"name": "main", "image": "registry.test/app:1", "resources": {"requests": {"cpu": "50m"}}}]}
            if self.maybe(0.3):
                spec["nodeSelector"] = {"disk": "ssd"}
            self.sets.append(self.api.create({
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": f"s{self.count}", "namespace": self.rng.choice(self.spaces)},
                "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}}))
        chosen = self.rng.choice(self.sets)
        path = object_path({"apiVersion": "apps/v1", "kind": "ReplicaSet", **chosen})
        selector = urllib.parse.quote(f"set={chosen['spec']['template']['metadata']['labels']['set']}")
        pods = f"/api/v1/namespaces/{chosen['metadata']['namespace']}/pods?labelSelector={selector}"
        old = {p["metadata"]["uid"] for p in self.api.items(pods)}

        def make() -> dict:
            # after a try that failed, the controller itself replaces the pod that was removed
            if self.api.get(path)["spec"]["replicas"] == len(old):
                self.api.patch(path, {"spec": {"replicas": len(old) + 1}})
            return self.judge.ctx.wait_for(lambda: next((p for p in self.api.items(pods) if p["metadata"]["uid"] not in old), None), 30,
                                           "the set's new pod", interval=0.01)

        self.judge.check(f"seed {self.seed}, a set", make, lambda _: self.shrink(path, pods, len(old)))

    def shrink(self, path: str, pods: str, count: int) -> None:
        """Takes the newest pod away again; the controller prefers one that is not bound."""
        self.api.patch(path, {"spec": {"replicas": count}})
        self.judge.ctx.wait_for(lambda: len(list(self.api.items(pods))) == count, 30, "the set to shrink")

    def step_gone(self) -> None:
        """A pod is gone, or on its way out and does not come to an end."""
        if not self.pods:
            return
        pod = self.pods.pop(self.rng.randrange(len(self.pods)))
        if self.maybe(0.5):
            self.judge.remove(pod)
        else:
            self.judge.leaving.add(pod["metadata"]["uid"])
            self.judge.dismiss(pod, 3600)

    def step_node(self) -> None:
        """A node changes: cordoned or not, other labels, other taints."""
        name = self.rng.choice(self.names)
        path = f"/api/v1/nodes/{name}"
        what = self.some("cordon", "label", "taint")
        if what == "cordon":
            self.api.patch(path, {"spec": {"unschedulable": not self.api.get(path)["spec"].get("unschedulable")}})
            self.judge.ctx.wait_for(self.tainted, 30, "the taint of the cordon")
        elif what == "label":
            self.api.patch(path, {"metadata": {"labels": {"rack": self.some("r1", "r2", None), ZONE: self.some("a", "b", None)}}})
        else:
            taints = [t for t in self.api.get(path)["spec"].get("taints", []) if t["key"] != "soft"]
            if self.maybe(0.5):
                taints.append({"key": "soft", "value": "a", "effect": "PreferNoSchedule"})
            self.api.patch(path, {"spec": {"taints": taints}})

    def step_space(self) -> None:
        self.api.patch(f"/api/v1/namespaces/{self.rng.choice(self.spaces)}", {"metadata": {"labels": {
            "team": self.some("red", "blue"), "env": self.some("prod", None)}}})

    def run(self) -> None:
        self.build()
        asked = 0
        while asked < PODS:
            step = self.rng.choices((self.step_pod, self.step_set, self.step_gone, self.step_node, self.step_space), (12, 3, 2, 1.5, 0.7))[0]
            step()
            asked += step in (self.step_pod, self.step_set)

    def close(self) -> None:
        api = self.api
        for name in self.spaces:
            api.delete(f"/api/v1/namespaces/{name}")
        for name in self.spaces:
            api.delete(f"/apis/apps/v1/namespaces/{name}/replicasets")
            api.delete(f"/api/v1/namespaces/{name}/pods", {"gracePeriodSeconds": 0})
        self.judge.ctx.wait_for(lambda: not any(True for name in self.spaces for _ in api.items(f"/api/v1/namespaces/{name}/pods")), 60, "the end of the pods")
        for name in self.names:
            api.delete(f"/api/v1/nodes/{name}")
        api.delete("/apis/storage.k8s.io/v1/csinodes")
        api.delete("/apis/storage.k8s.io/v1/volumeattachments")
        for name in self.classes.values():
            api.delete(f"/apis/storage.k8s.io/v1/storageclasses/{name}")
        api.delete("/api/v1/persistentvolumes")


def start(ctx: Context) -> Judge:
    """A cluster whose scheduler writes down how it comes to its decisions."""
    cluster = ctx.private_cluster()
    cluster["kube-scheduler"].argv.append("--vmodule=schedule_one=10")
    cluster["kube-scheduler"].restart()
    api = cluster.api
    api.call("POST", "/apis/node.k8s.io/v1/runtimeclasses", {
        "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "heavy"}, "handler": "x",
        "overhead": {"podFixed": {"cpu": "250m", "memory": "64Mi"}}})
    for name, value, policy in (("polite", 1000, "Never"), ("pushy", 2000, "PreemptLowerPriority"), ("boss", 3000, "Never")):
        api.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value,
                    "preemptionPolicy": policy})
    return Judge(ctx, cluster)


@limit(900)
def test_random_clusters(ctx: Context) -> None:
    """Many small clusters, and in each a few dozen pods."""
    first, rounds = int(os.environ.get("SLIPWAY_SEED", "1")), int(os.environ.get("SLIPWAY_FIT_ROUNDS", "12"))
    judge = start(ctx)
    for seed in range(first, first + rounds):
        one = Round(judge, seed)
        one.run()
        one.close()
    print(f"# {rounds} clusters from seed {first}: {judge.placed} pods placed, {judge.refused} refused, for {len(judge.reasons)} reasons; "
          f"{sum(judge.causes.values())} differences, each explained: {dict(judge.causes)}", flush=True)
    assert judge.placed > rounds * PODS / 5 and judge.refused > rounds * PODS / 10, "the clusters are too easy or too hard"
    if rounds >= 12:
        assert len(judge.reasons) >= 15 and "node(s) exceed max volume count" in judge.reasons, sorted(judge.reasons)
    judge.picture.end()


class Scene:
    """A few equal nodes in a namespace of their own, for what chance does not find."""

    def __init__(self, judge: Judge, name: str, nodes: int, **capacity: str) -> None:
        self.judge, self.api, self.space = judge, judge.api, name
        self.names = [f"{name}-n{i}" for i in range(nodes)]
        size = {"cpu": "2", "memory": "4Gi", "pods": "20"} | capacity
        for i, node in enumerate(self.names):
            self.api.create(fake_node(node, i, "a", {}, [], {}, size))
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
        judge.ctx.wait_for(lambda: judge.cluster.nodes_ready(self.names) and self.api.raw("GET", account)[0] == 200, 30, f"the nodes of {name}")

    def pod(self, name: str, cpu: str = "100m", labels: dict = {}, **spec: object) -> dict:
        main = {"name": "main", "image": "registry.test/app:1", "resources": {"requests": {"cpu": cpu}}}
        return pod_object(name, self.space, labels, {"containers": [main], **spec})

    def check(self, name: str, *arguments: str, **more) -> dict:
        attempts = iter(range(TRIES))
        return self.judge.check(f"{self.space}, {name}", lambda: self.api.create(self.pod(f"{name}-{next(attempts)}", *arguments, **more)))


def test_room_that_was_made_for_another(ctx: Context) -> None:
    """A pod that has preempted waits for its victims; its room is kept from pods that are no more important."""
    judge = start(ctx)
    scene = Scene(judge, "kept", 1)
    api = judge.api
    victim = api.create(scene.pod("victim", "1500m", terminationGracePeriodSeconds=3600))
    judge.leaving.add(victim["metadata"]["uid"])
    judge.decided(object_path({"apiVersion": "v1", "kind": "Pod", **victim}))
    first = object_path(scene.pod("first"))
    api.create(scene.pod("first", "1500m", priorityClassName="pushy"))
    ctx.wait_for(lambda: api.get(first)["status"].get("nominatedNodeName") == scene.names[0], 30, "the nomination")
    ctx.wait_for(lambda: api.get(object_path(scene.pod("victim")))["metadata"].get("deletionTimestamp"), 30, "the eviction")
    for name, more in (("equal", {"priorityClassName": "pushy"}), ("less", {"priorityClassName": "polite"}), ("least", {})):
        pod = scene.check(name, "400m", **more)
        assert "nodeName" not in pod["spec"] and "1 Insufficient cpu" in condition(pod)["message"], pod
    assert scene.check("more", "400m", priorityClassName="boss")["spec"].get("nodeName") == scene.names[0]
    judge.picture.end()


def test_what_preemption_would_do(ctx: Context) -> None:
    """Words about victims: none, some that would help, some that would not."""
    judge = start(ctx)
    scene = Scene(judge, "victims", 2)

    def slow(name: str) -> None:
        """One that takes so long to go that the scheduler's words about its successor can be read."""
        made = scene.check(name, "100m", terminationGracePeriodSeconds=3600)
        assert made["spec"].get("nodeName"), made
        judge.leaving.add(made["metadata"]["uid"])
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "alone"}}}]}}
    for i in range(2):
        assert scene.check(f"alone{i}", labels={"app": "alone"}, affinity=apart, priorityClassName="pushy")["spec"].get("nodeName")
    slow("small")
    third = scene.check("alone2", labels={"app": "alone"}, affinity=apart, priorityClassName="pushy")
    assert "1 No preemption victims found for incoming pod, 1 node(s) didn't match pod anti-affinity rules" in condition(third)["message"], third
    huge = scene.check("huge", "5", priorityClassName="pushy")
    assert condition(huge)["message"].endswith("2 Preemption is not helpful for scheduling."), huge
    polite = scene.check("polite", "1950m", priorityClassName="polite")
    assert condition(polite)["message"].endswith("preemption: not eligible due to preemptionPolicy=Never."), polite
    slow("other")
    pushy = scene.check("pushy", "1850m", priorityClassName="pushy")
    assert condition(pushy)["message"] == "0/2 nodes are available: 2 Insufficient cpu.", pushy
    judge.picture.end()


def test_no_nodes(ctx: Context) -> None:
    judge = start(ctx)
    scene = Scene(judge, "nothing", 0)
    assert condition(scene.check("lonely"))["message"] == "no nodes available to schedule pods"
    judge.picture.end()
