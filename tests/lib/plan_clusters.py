"""Small clusters drawn from a seed, with little room and much in the way of a drain: for the question whether plans come true.

draw(seed, ground) makes one.  The ground says what differs between the simulator and a real control plane: how nodes and
namespaces are called, how pods are told their pace, and what the one cannot do that the other can.

What is in them: Deployments, StatefulSets (parallel and in order), Jobs, DaemonSets and bare pods; budgets of all sorts, two on one pod,
budgets over Jobs and bare pods; pods that are pinned by their template, by a selector of the hostname, by affinity; anti-affinity within
hosts and zones, spreading; taints and tolerations, cordoned nodes; priorities; emptyDirs, local and zonal volumes, volumes for one pod
alone, claims that wait for their first consumer, ephemeral volumes; pods that are never ready, that are leaving already, that a finalizer
holds; a namespace that is being deleted.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
LOCAL, MADE, NEAR = "local", "made", "near"  # StorageClasses: disks that are there; made on demand; the same in one zone alone
HOLD = "test.slipway.dev/hold"  # a finalizer
NO_PROVISIONER = "kubernetes.io/no-provisioner"
LIMIT, PAIRS = "--max-unavailable=1", "--parallel=2"


@dataclass
class Ground:
    """nodes and namespace are what names begin with; pace(never=, slow=) are a pod's annotations."""

    nodes: str = "w"
    namespace: str = "default"
    prefix: str = ""  # of objects that have no namespace
    provisioner: str = NO_PROVISIONER
    preemption: bool = False  # the scheduler evicts less important pods
    long_held: bool = True  # there is time to wait until a pod counts as stuck
    pace: object = None


@dataclass
class Made:
    seed: int
    nodes: list[dict]  # name, cpu, zone, labels, taints, cordoned
    objects: list[dict]
    target: list[str]
    flags: list[str]
    wanted: dict[str, int] = field(default_factory=dict)  # pods of each app
    ordered: set[str] = field(default_factory=set)  # apps whose pods come one after the other
    never: set[str] = field(default_factory=set)  # apps that do not become ready
    leaving: list[str] = field(default_factory=list)  # apps of which one pod on the target is told to go before
    held: list[str] = field(default_factory=list)  # the same, long before, and a finalizer holds it
    doomed: str = ""  # a namespace that is deleted before
    features: set[str] = field(default_factory=set)


def labels(name: str) -> dict:
    return {"matchLabels": {"app": name}}


def zone_terms(key: str, value: str) -> dict:
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]}}


class Drawing:
    def __init__(self, seed: int, ground: Ground) -> None:
        self.r, self.ground = random.Random(f"plan {seed}"), ground
        self.made = Made(seed, [], [], [], [])
        self.preempts = ground.preemption and self.chance(0.2, "preemption")
        self.disks = 0

    def chance(self, share: float, feature: str = "") -> bool:
        yes = self.r.random() < share
        if yes and feature:
            self.made.features.add(feature)
        return yes

    def add(self, version: str, kind: str, name: str, namespaced: bool = True, **rest: object) -> dict:
        meta = {"name": name} | ({"namespace": rest.pop("namespace", self.ground.namespace)} if namespaced else {})
        made = {"apiVersion": version, "kind": kind, "metadata": meta, **rest}
        self.made.objects.append(made)
        return made

    def class_name(self, use: str) -> str:
        return self.ground.prefix + use

    # the cluster

    def nodes(self) -> None:
        r = self.r
        cpu = r.choice([2, 3])
        zones = self.chance(0.6)
        for i in range(r.randint(3, 6)):
            node: dict = {"name": f"{self.ground.nodes}{i + 1}", "cpu": cpu, "labels": {}, "taints": [], "cordoned": False,
                          "zone": r.choice(["a", "b"]) if zones else None}
            if self.chance(0.5):
                node["labels"]["disk"] = r.choice(["ssd", "hdd"])
            if self.chance(0.12, "taint"):
                node["taints"].append({"key": "dedicated", "value": r.choice(["x", "y"]), "effect": "NoSchedule"})
            if self.chance(0.1):
                node["taints"].append({"key": "soft", "value": "x", "effect": "PreferNoSchedule"})
            node["cordoned"] = self.chance(0.05, "cordoned")
            self.made.nodes.append(node)

    def storage(self) -> None:
        """Disks that are there already, in the machines or in a zone; and classes."""
        r, g = self.r, self.ground
        for use, provisioner, zones in ((LOCAL, NO_PROVISIONER, []), (MADE, g.provisioner, []), (NEAR, g.provisioner, ["a"])):
            topologies = {"allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": zones}]}]} if zones else {}
            self.add("storage.k8s.io/v1", "StorageClass", self.class_name(use), False, provisioner=provisioner,
                     volumeBindingMode="WaitForFirstConsumer", **topologies)
        for node in self.made.nodes:
            for _ in range(r.choice([0, 1, 2])):
                self.disk(zone_terms(HOST, node["name"]), LOCAL)

    def disk(self, affinity: dict | None, use: str | None, zone: str | None = None, claim: str = "", modes: str = "ReadWriteOnce") -> str:
        """For everybody who asks for the class, or for one claim."""
        self.disks += 1
        name = f"{self.ground.prefix}disk{self.disks}"
        spec: dict = {"capacity": {"storage": "2Gi"}, "accessModes": [modes], "persistentVolumeReclaimPolicy": "Retain",
                      "hostPath": {"path": "/x"}, "storageClassName": self.class_name(use) if use else ""}
        if affinity:
            spec["nodeAffinity"] = affinity
        if claim:
            spec["claimRef"] = {"namespace": self.ground.namespace, "name": claim}
        made = self.add("v1", "PersistentVolume", name, False, spec=spec)
        if zone:  # as volumes said it before they had an affinity
            made["metadata"]["labels"] = {ZONE: zone}
        return name

    def claim(self, name: str, disk: str, modes: str) -> None:
        self.add("v1", "PersistentVolumeClaim", name, spec={
            "accessModes": [modes], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "", "volumeName": disk})

    def bound_disk(self, claim: str, modes: str) -> None:
        """A claim with a volume that can be reached from one node, one zone, or everywhere."""
        sort = self.r.choice(["host", "zone", "old zone", "anywhere"])
        node = self.r.choice(self.made.nodes)
        zone = node["zone"] if sort in ("zone", "old zone") else None
        affinity = zone_terms(HOST, node["name"]) if sort == "host" else zone_terms(ZONE, zone) if sort == "zone" and zone else None
        self.made.features.add(f"volume of {'a host' if sort == 'host' else 'a zone' if zone else 'all'}")
        self.claim(claim, self.disk(affinity, None, zone if sort == "old zone" else None, claim, modes), modes)

    # pods

    def spec(self, name: str, kind: str) -> dict:
        r = self.r
        spec: dict = {"terminationGracePeriodSeconds": 5, "containers": [
            {"name": "main", "image": "example.com/app:1", "resources": {"requests": {
                "cpu": r.choice(["100m", "300m", "500m", "900m", "1400m"]), "memory": "64Mi"}}}]}
        if kind == "Job":
            spec["restartPolicy"] = "Never"
        extra = r.random()
        if extra < 0.08:
            spec["nodeSelector"] = {HOST: r.choice(self.made.nodes)["name"]}
            self.made.features.add("hostname")
        elif extra < 0.14:
            spec["nodeSelector"] = {"disk": r.choice(["ssd", "hdd"])}
        elif extra < 0.18:
            spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": ZONE, "operator": r.choice(["In", "NotIn"]), "values": ["a"]}]}]}}}
        elif extra < 0.30:
            spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": r.choice([HOST, HOST, ZONE]), "labelSelector": labels(name)}]}}
            self.made.features.add("anti-affinity")
        elif extra < 0.38:
            spec["topologySpreadConstraints"] = [{
                "maxSkew": 1, "topologyKey": r.choice([HOST, ZONE]), "labelSelector": labels(name),
                "whenUnsatisfiable": r.choice(["DoNotSchedule", "ScheduleAnyway"])}]
            for policy in ("nodeTaintsPolicy", "nodeAffinityPolicy"):  # which nodes count: a cordon is a taint
                if self.chance(0.5, policy):
                    spec["topologySpreadConstraints"][0][policy] = r.choice(["Honor", "Honor", "Ignore"])
            self.made.features.add("spread")
        elif extra < 0.41 and kind in ("Deployment", "StatefulSet"):
            spec["nodeName"] = r.choice(self.made.nodes)["name"]
            self.made.features.add("pinned")
        if self.chance(0.15, "toleration"):
            spec["tolerations"] = [r.choice([{"key": "dedicated", "operator": "Exists"},
                                             {"key": "dedicated", "value": "x", "effect": "NoSchedule"}])]
        if self.chance(0.15, "priority"):
            spec["priorityClassName"] = self.class_name(r.choice(["high", "low"]))
        if "nodeName" in spec and self.preempts:  # else the scheduler evicts it, it is there again, and so on
            spec["priorityClassName"] = self.class_name("high")
        return spec

    def volumes(self, name: str, kind: str, replicas: int, spec: dict) -> list[dict]:
        """Adds some to the pods of an app; returns the templates of a StatefulSet's claims."""
        draw = self.r.random()
        mount = None
        if draw < 0.06:
            mount = {"emptyDir": {}}
        elif draw < 0.16:
            if kind == "StatefulSet":
                for i in range(replicas):
                    self.bound_disk(f"data-{name}-{i}", "ReadWriteOnce")
                return [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "",
                                                                "resources": {"requests": {"storage": "1Gi"}}}}]
            mode = "ReadWriteOncePod" if replicas == 1 and self.chance(0.5, "volume of one pod") else "ReadWriteMany"
            self.bound_disk(f"data-{name}", mode)
            mount = {"persistentVolumeClaim": {"claimName": f"data-{name}"}}
        elif draw < 0.30 and "nodeName" not in spec:
            use = self.r.choice([LOCAL, LOCAL, MADE, NEAR])
            claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": self.class_name(use), "resources": {"requests": {"storage": "1Gi"}}}
            if kind == "StatefulSet" and self.chance(0.5):
                self.made.features.add("claim that waits")
                return [{"metadata": {"name": "data"}, "spec": claim}]
            self.made.features.add("ephemeral volume")
            mount = {"ephemeral": {"volumeClaimTemplate": {"spec": claim}}}
        if mount:
            spec["volumes"] = [{"name": "data", **mount}]
        return []

    def template(self, name: str, kind: str, spec: dict) -> dict:
        never = self.chance(0.07, "never ready") and kind in ("Deployment", "StatefulSet")
        if never:
            self.made.never.add(name)
        return {"metadata": {"labels": {"app": name}, "annotations": self.ground.pace(self.r, never=never)}, "spec": spec}

    def budgets(self, name: str, replicas: int) -> None:
        kinds: list[list[dict]] = [[], [], [], [{"maxUnavailable": 1}], [{"maxUnavailable": 1}], [{"maxUnavailable": "50%"}],
                                   [{"minAvailable": max(replicas - 1, 0)}], [{"minAvailable": replicas}], [{"maxUnavailable": 0}],
                                   [{"minAvailable": "50%"}], [{"maxUnavailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"}],
                                   [{"maxUnavailable": 1}, {"minAvailable": 1}]]
        drawn = self.r.choice(kinds)
        if len(drawn) > 1:
            self.made.features.add("two budgets")
        for i, spec in enumerate(drawn):
            self.add("policy/v1", "PodDisruptionBudget", f"{name}-{i}", spec={"selector": labels(name), **spec})

    def app(self, name: str) -> None:
        r, replicas = self.r, self.r.randint(1, 4)
        kind = r.choice(["Deployment"] * 4 + ["StatefulSet"] * 3 + ["Job"])
        spec = self.spec(name, kind)
        claims = self.volumes(name, kind, replicas, spec) if kind != "Job" else []
        template = self.template(name, kind, spec)
        self.made.wanted[name] = replicas
        self.made.features.add(kind)
        if kind == "Job":
            self.add("batch/v1", kind, name, spec={"parallelism": replicas, "backoffLimit": 100, "template": template})
        elif kind == "Deployment":
            self.add("apps/v1", kind, name, spec={"replicas": replicas, "selector": labels(name), "template": template})
        else:
            policy = "OrderedReady" if self.chance(0.3) and name not in self.made.never else "Parallel"
            if policy == "OrderedReady":
                self.made.ordered.add(name)
                self.made.features.add("in order")
            self.add("apps/v1", kind, name, spec={"replicas": replicas, "selector": labels(name), "template": template, "serviceName": name,
                                                  "podManagementPolicy": policy, **({"volumeClaimTemplates": claims} if claims else {})})
        self.budgets(name, replicas)

    def bare(self) -> None:
        spec = self.spec("bare", "Pod") | {"nodeName": self.r.choice(self.made.nodes)["name"]}
        spec.pop("nodeSelector", None)
        pod = self.add("v1", "Pod", "bare", spec=spec)
        pod["metadata"] |= {"labels": {"app": "bare"}, "annotations": self.ground.pace(self.r)}
        self.made.wanted["bare"] = 1
        if self.chance(0.3):
            self.budgets("bare", 1)

    def daemons(self) -> None:
        template = {"metadata": {"labels": {"app": "agent"}, "annotations": self.ground.pace(self.r)}, "spec": {
            "terminationGracePeriodSeconds": 5, "tolerations": [{"operator": "Exists"}], "containers": [
                {"name": "main", "image": "example.com/app:1", "resources": {"requests": {"cpu": "100m"}}}]}}
        self.add("apps/v1", "DaemonSet", "agent", spec={"selector": labels("agent"), "template": template})
        self.made.wanted["agent"] = len(self.made.nodes)

    # what is under way before the plan is made

    def on_its_way(self) -> None:
        """One pod of a Deployment is leaving, or was told to long ago and cannot."""
        name = "slow"
        held = self.ground.long_held and self.chance(0.4)
        self.made.features.add("held by a finalizer" if held else "leaving")
        template = {"metadata": {"labels": {"app": name}, "annotations": self.ground.pace(self.r, slow=not held)},
                    "spec": {"terminationGracePeriodSeconds": 600 if not held else 5, "containers": [
                        {"name": "main", "image": "example.com/app:1", "resources": {"requests": {"cpu": "100m"}}}]}}
        self.add("apps/v1", "Deployment", name, spec={"replicas": 2, "selector": labels(name), "template": template})
        self.made.wanted[name] = 2
        (self.made.held if held else self.made.leaving).append(name)

    def namespace(self) -> None:
        name = self.made.doomed = f"{self.ground.prefix}doomed"
        self.made.features.add("namespace that ends")
        self.add("v1", "Namespace", name, False)
        template = {"metadata": {"labels": {"app": "doomed"}, "annotations": self.ground.pace(self.r, slow=True)},
                    "spec": {"terminationGracePeriodSeconds": 600, "containers": [
                        {"name": "main", "image": "example.com/app:1", "resources": {"requests": {"cpu": self.r.choice(["100m", "900m"])}}}]}}
        self.add("apps/v1", "Deployment", "doomed", namespace=name, spec={"replicas": 2, "selector": labels("doomed"), "template": template})
        self.made.wanted["doomed"] = 2

    def draw(self) -> Made:
        r, made = self.r, self.made
        self.nodes()
        # Without preemption nobody may be less important than a pod that says nothing, which would evict it.
        policy = "PreemptLowerPriority" if self.preempts else "Never"
        for name, value in (("high", 1000), ("low", -1000 if self.preempts else 500)):
            self.add("scheduling.k8s.io/v1", "PriorityClass", self.class_name(name), False, value=value, preemptionPolicy=policy)
        self.storage()
        for i in range(r.randint(2, 5)):
            self.app(f"app{i}")
        if self.chance(0.25, "bare"):
            self.bare()
        if self.chance(0.2, "DaemonSet"):
            self.daemons()
        if self.chance(0.12):
            self.on_its_way()
        if self.chance(0.08):
            self.namespace()
        names = [n["name"] for n in made.nodes]
        made.target = sorted(r.sample(names, r.choice([1, 1, 2, 3])))
        made.flags = [f for f, share in (("--force", 0.6), ("--delete-emptydir-data", 0.75)) if r.random() < share]
        if len(made.target) > 1 and self.chance(0.4, "one at a time"):
            made.flags.append(LIMIT)
        if self.chance(0.4, "many nodes"):
            self.many(names)
        return made

    def many(self, names: list[str]) -> None:
        """Nodes that compete for the last places, and for what budgets allow; at times nothing is left beside them."""
        made = self.made
        made.target = sorted(self.r.sample(names, self.r.randint(3, len(names))))
        made.flags = [f for f in made.flags if f != LIMIT] + self.r.choice([[], [], [LIMIT], [PAIRS]])


def draw(seed: int, ground: Ground) -> Made:
    return Drawing(seed, ground).draw()
