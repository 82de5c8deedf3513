"""A namespace in which controllers work: has it come to rest, and what does it look like then?

    world = World(api, namespace, {POD, DEPLOYMENT, REPLICA_SET})
    world.restless()     why it cannot stay as it is: the first thing a controller has still to do; None when there is nothing
    world.picture()      what another server must show too

Written from what the controllers promise, with nothing of Slipway's in it.  The namespace has nodes of its own, labelled seq=NAMESPACE,
and pods that ask for cpu only.
"""

from __future__ import annotations

import math

from api import Api
from kinds import BUDGET, CLAIM, DAEMON_SET, DEPLOYMENT, JOB, NODE, POD, REPLICA_SET, STATEFUL_SET, Kind
from project import milli

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
WAITS = "10h"  # the value of an annotation that keeps a pod from becoming ready


def condition(obj: dict, kind: str) -> dict:
    return next((c for c in obj["status"].get("conditions") or [] if c["type"] == kind), {})


def ready(pod: dict) -> bool:
    return condition(pod, "Ready").get("status") == "True"


def owner_of(obj: dict) -> dict | None:
    return next((o for o in obj["metadata"].get("ownerReferences", []) if o.get("controller")), None)


def selects(selector: dict, obj: dict) -> bool:
    labels = obj["metadata"].get("labels", {})
    return all(labels.get(key) == value for key, value in selector["matchLabels"].items())


def part(value: int | str, whole: int) -> int:
    return math.ceil(whole * int(value[:-1]) / 100) if isinstance(value, str) else value


def cpu(pod: dict) -> int:
    return sum(milli(c.get("resources", {}).get("requests", {}).get("cpu", "0")) for c in pod["spec"]["containers"])


class World:
    def __init__(self, api: Api, namespace: str, kinds: set[Kind]) -> None:
        """kinds: those that may be there; nobody is asked for the others."""
        self.api, self.ns = api, namespace

        def items(kind: Kind) -> list[dict]:
            return [{**item, "kind": kind.kind} for item in api.items(kind.path(namespace))] if kind in kinds else []

        self.nodes = {n["metadata"]["name"]: n for n in api.items(f"{NODE.path()}?labelSelector=seq%3D{namespace}")}
        self.pods = items(POD)
        self.sets = items(REPLICA_SET)
        self.deployments, self.stateful, self.daemons = items(DEPLOYMENT), items(STATEFUL_SET), items(DAEMON_SET)
        self.jobs, self.budgets = items(JOB), items(BUDGET)
        owners = self.sets + self.deployments + self.stateful + self.daemons + self.jobs
        self.owners = {o["metadata"]["uid"]: o for o in owners}

    def versions(self) -> list[str]:
        """Two pictures with the same versions are the same."""
        everything = [*self.nodes.values(), *self.pods, *self.owners.values(), *self.budgets]
        return sorted(f"{o['metadata']['uid']} {o['metadata']['resourceVersion']}" for o in everything)

    def pods_of(self, owner: dict) -> list[dict]:
        uid = owner["metadata"]["uid"]
        return [p for p in self.pods if (owner_of(p) or {}).get("uid") == uid]

    # -- what is still to be done -------------------------------------------------------------------------------------

    def restless(self) -> str | None:
        for check in (self._nodes, self._pods, self._places, self._replica_sets, self._deployments, self._stateful,
                      self._daemons, self._jobs, self._budgets):
            why = check()
            if why:
                return why
        return None

    def taints(self, node: dict) -> set[tuple[str, str]]:
        return {(t["key"], t["effect"]) for t in node["spec"].get("taints", [])}

    def _nodes(self) -> str | None:
        for name, node in self.nodes.items():
            if bool(node["spec"].get("unschedulable")) != ((UNSCHEDULABLE, "NoSchedule") in self.taints(node)):
                return f"the taint of a cordon of {name}"
            if condition(node, "Ready").get("status") != "True" or any(key.endswith("/not-ready") for key, _ in self.taints(node)):
                return f"{name} is not ready"
        return None

    def _pods(self) -> str | None:
        for obj in [*self.pods, *self.owners.values()]:
            name, meta = f"{obj['metadata']['name']}", obj["metadata"]
            if "deletionTimestamp" in meta:
                return f"{name} is going"
            owner = owner_of(obj)
            if owner and owner["uid"] not in self.owners:
                return f"the owner of {name} is gone"
        for pod in self.pods:
            name = pod["metadata"]["name"]
            node = self.nodes.get(pod["spec"].get("nodeName", ""))
            if node and any(effect == "NoExecute" for _, effect in self.taints(node)):
                return f"{name} must leave its node"
            if "batch.kubernetes.io/job-tracking" in pod["metadata"].get("finalizers", []) and pod["status"]["phase"] in (
                "Succeeded", "Failed"):
                return f"{name} is not counted yet"
            if node and pod["status"]["phase"] in ("Pending", "Running") and not ready(pod) and not self.waits(pod):
                return f"{name} is not ready yet"
            if pod["status"]["phase"] == "Running" and (owner_of(pod) or {}).get("kind") == "Job":
                return f"{name} has not ended"
            if not owner_of(pod) and any(selects(s["spec"]["selector"], pod) for s in self.sets + self.stateful):
                return f"{name} will be adopted"
        return None

    @staticmethod
    def waits(pod: dict) -> bool:
        return WAITS in pod["metadata"].get("annotations", {}).values()

    def _places(self) -> str | None:
        for pod in self.pods:
            if pod["spec"].get("nodeName"):
                continue
            name = pod["metadata"]["name"]
            if condition(pod, "PodScheduled").get("reason") != "Unschedulable":
                return f"{name} was not looked at by the scheduler"
            if any(self.fits(pod, node) for node in self.nodes.values()):
                return f"{name} has a place to go to"
        return None

    def fits(self, pod: dict, node: dict) -> bool:
        if node["spec"].get("unschedulable") or any(effect != "PreferNoSchedule" for _, effect in self.taints(node)):
            return False
        here = [p for p in self.pods if p["spec"].get("nodeName") == node["metadata"]["name"] and p["status"]["phase"] in (
            "Pending", "Running")]
        if sum(map(cpu, here)) + cpu(pod) > milli(node["status"]["allocatable"]["cpu"]):
            return False
        apart = pod["spec"].get("affinity", {}).get("podAntiAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", [])
        return not any(selects(term["labelSelector"], other) for term in apart for other in here)

    def _replica_sets(self) -> str | None:
        for found in self.sets:
            name, status, mine = found["metadata"]["name"], found["status"], self.pods_of(found)
            seen = (status.get("observedGeneration"), status["replicas"], status.get("readyReplicas", 0),
                    status.get("availableReplicas", 0))
            wanted = (found["metadata"]["generation"], found["spec"]["replicas"], sum(map(ready, mine)), sum(map(ready, mine)))
            if seen != wanted or len(mine) != found["spec"]["replicas"]:
                return f"ReplicaSet {name}: {seen}, {wanted}, {len(mine)} pods"
            if any(not selects(found["spec"]["selector"], p) for p in mine):
                return f"ReplicaSet {name} must let a pod go"
        return None

    def _deployments(self) -> str | None:
        for found in self.deployments:
            name, spec, status = found["metadata"]["name"], found["spec"], found["status"]
            mine = [s for s in self.sets if (owner_of(s) or {}).get("uid") == found["metadata"]["uid"]]
            if status.get("observedGeneration") != found["metadata"]["generation"] or not mine:
                return f"Deployment {name} was not looked at"
            total, available = sum(s["spec"]["replicas"] for s in mine), sum(s["status"].get("availableReplicas", 0) for s in mine)
            seen = (status.get("replicas", 0), status.get("updatedReplicas", 0), status.get("availableReplicas", 0),
                    status.get("readyReplicas", 0))
            if total != spec["replicas"] or seen != (total, total, available, available):
                return f"Deployment {name}: {seen}, wants {spec['replicas']}, has {total}, {available} available"
            rolling = spec["strategy"].get("rollingUpdate", {})
            most = rolling.get("maxUnavailable", 0)
            slack = int(most[:-1]) * spec["replicas"] // 100 if isinstance(most, str) else most
            if not slack and rolling and not part(rolling["maxSurge"], spec["replicas"]):
                slack = 1
            if (condition(found, "Available").get("status") == "True") != (available >= spec["replicas"] - slack):
                return f"Deployment {name}: its condition Available"
            if available == total and condition(found, "Progressing").get("reason") != "NewReplicaSetAvailable":
                return f"Deployment {name}: its condition Progressing"
        return None

    def _stateful(self) -> str | None:
        for found in self.stateful:
            name, spec, status, mine = found["metadata"]["name"], found["spec"], found["status"], self.pods_of(found)
            if status.get("observedGeneration") != found["metadata"]["generation"]:
                return f"StatefulSet {name} was not looked at"
            if (status["replicas"], status.get("readyReplicas", 0)) != (len(mine), sum(map(ready, mine))):
                return f"StatefulSet {name}: {status}, {len(mine)} pods"
            if any(not selects(spec["selector"], p) for p in mine):
                return f"StatefulSet {name} must let a pod go"
            stuck = any(not ready(p) for p in mine)  # who waits in order for one that has no place
            if not stuck and (len(mine) != spec["replicas"] or status["currentRevision"] != status["updateRevision"]):
                return f"StatefulSet {name} has {len(mine)} of {spec['replicas']}, or is not rolled out"
            if stuck and spec["podManagementPolicy"] == "Parallel" and len(mine) != spec["replicas"]:
                return f"StatefulSet {name} has {len(mine)} of {spec['replicas']}"
        return None

    def _daemons(self) -> str | None:
        for found in self.daemons:
            name, status, mine = found["metadata"]["name"], found["status"], self.pods_of(found)
            tolerated = {UNSCHEDULABLE}
            wanted = [n for n in self.nodes.values() if all(key in tolerated or effect == "PreferNoSchedule" for key,
                                                            effect in self.taints(n))]
            numbers = (status.get("observedGeneration"), status["desiredNumberScheduled"], status["numberReady"],
                       status.get("updatedNumberScheduled", 0))
            if numbers != (found["metadata"]["generation"], len(wanted), len(wanted), len(wanted)):
                return f"DaemonSet {name}: {numbers}, {len(wanted)} nodes"
            if len(mine) != len(wanted) or not all(map(ready, mine)):
                return f"DaemonSet {name}: {len(mine)} pods for {len(wanted)} nodes"
        return None

    def _jobs(self) -> str | None:
        for found in self.jobs:
            name, spec, status, mine = found["metadata"]["name"], found["spec"], found["status"], self.pods_of(found)
            if condition(found, "Complete").get("status") == "True" or condition(found, "Failed").get("status") == "True":
                continue
            if spec.get("suspend"):
                if condition(found, "Suspended").get("status") != "True" or status.get("active"):
                    return f"Job {name} is not suspended yet"
                continue
            waiting = [p for p in mine if p["status"]["phase"] == "Pending"]
            if not waiting or len(waiting) != status.get("active", 0) or status.get("succeeded", 0) + len(waiting) < min(
                spec["parallelism"], spec["completions"]):
                return f"Job {name} goes on: {status}"
        return None

    def _budgets(self) -> str | None:
        for found in self.budgets:
            name, status = found["metadata"]["name"], found["status"]
            mine = [p for p in self.pods if selects(found["spec"]["selector"], p)]
            if status.get("observedGeneration") != found["metadata"]["generation"] and condition(
                found, "DisruptionAllowed").get("reason") != "SyncFailed":
                return f"budget {name} was not looked at"
            wanted = self.expected(found, mine)
            if wanted is None:
                if condition(found, "DisruptionAllowed").get("reason") != "SyncFailed":
                    return f"budget {name} must fail"
                continue
            seen = (status["expectedPods"], status["currentHealthy"], status["desiredHealthy"])
            if seen != wanted or status.get("disruptedPods"):
                return f"budget {name}: {seen}, {wanted}"
        return None

    def expected(self, budget: dict, mine: list[dict]) -> tuple[int, int, int] | None:
        """(expected, healthy, desired); None when an owner cannot be scaled."""
        spec, healthy = budget["spec"], sum(map(ready, mine))
        if isinstance(spec.get("minAvailable"), int):
            return len(mine), healthy, spec["minAvailable"]
        scale = {}
        for pod in mine:
            owner = self.owners.get((owner_of(pod) or {}).get("uid", ""))
            if owner is None:
                continue
            if owner["kind"] == "ReplicaSet" and owner_of(owner):
                owner = self.owners[owner_of(owner)["uid"]]
            if owner["kind"] not in ("ReplicaSet", "Deployment", "StatefulSet"):
                return None
            scale[owner["metadata"]["uid"]] = owner["spec"]["replicas"]
        total = sum(scale.values())
        if "maxUnavailable" in spec:
            return total, healthy, max(0, total - part(spec["maxUnavailable"], total))
        return total, healthy, part(spec["minAvailable"], total)

    # -- what it looks like -------------------------------------------------------------------------------------------

    def picture(self) -> dict:
        def short(obj: dict, *names: str) -> dict:
            told = {name: obj["status"].get(name) for name in names if obj["status"].get(name)}
            conditions = [[c["type"], c["status"], c.get("reason"),
                           c.get("message", "")] for c in obj["status"].get("conditions") or []]
            owner = owner_of(obj)
            return {"name": obj["metadata"]["name"], "replicas": obj["spec"].get("replicas"), "status": told,
                    "conditions": sorted(conditions),
                    "owner": owner and owner["name"],
                    "revision": obj["metadata"].get("annotations", {}).get("deployment.kubernetes.io/revision")}

        def pod(found: dict) -> dict:
            owner, daemon = owner_of(found), (owner_of(found) or {}).get("kind") == "DaemonSet"
            return {"name": found["metadata"]["name"], "owner": owner and f"{owner['kind']} {owner['name']}", "ready": ready(found),
                    "phase": "waits" if self.waits(found) else found["status"][
                        "phase"],  # whether it runs meanwhile is its kubelet's affair
                    "labels": {k: "somewhere" if k.startswith("topology.") else v for k,
                               v in found["metadata"].get("labels", {}).items()
                               if not k.endswith(("-hash", "-uid"))},
                    "node": found["spec"].get("nodeName") if daemon else bool(found["spec"].get("nodeName"))}

        counts = ("replicas", "readyReplicas", "availableReplicas", "updatedReplicas", "unavailableReplicas",
                  "fullyLabeledReplicas", "currentReplicas")
        return {
            "nodes": [{"name": n["metadata"]["name"], "unschedulable": n["spec"].get("unschedulable", False),
                       "taints": sorted(map(list, self.taints(n)))}
                      for n in self.nodes.values()],
            "pods": [pod(p) for p in self.pods],
            "replicasets": [short(s, *counts) for s in self.sets],
            "deployments": [short(d, "observedGeneration", *counts) for d in self.deployments],
            "statefulsets": [short(s, "observedGeneration", *counts) for s in self.stateful],
            "daemonsets": [short(d, "observedGeneration", "desiredNumberScheduled", "currentNumberScheduled", "numberReady",
                                 "numberAvailable", "numberUnavailable",
                                 "numberMisscheduled", "updatedNumberScheduled") for d in self.daemons],
            "jobs": [short(j, "active", "ready", "succeeded", "failed", "terminating") for j in self.jobs],
            "budgets": [short(b, "observedGeneration", "disruptionsAllowed", "currentHealthy", "desiredHealthy",
                              "expectedPods") for b in self.budgets],
            "claims": [{"name": c["metadata"]["name"], "phase": c["status"]["phase"]} for c in self.api.items(CLAIM.path(self.ns))],
        }
