"""What rest.World leaves out and the sequences of diff_life need: when a paused Deployment, a StatefulSet with a partition, old
revisions and the anti-affinity of pods that were there first have come to rest."""

from __future__ import annotations

import rest
from rest import condition, owner_of, ready, selects

REVISION = "deployment.kubernetes.io/revision"
APART = "requiredDuringSchedulingIgnoredDuringExecution"


def apart(pod: dict) -> list[dict]:
    return pod["spec"].get("affinity", {}).get("podAntiAffinity", {}).get(APART, [])


class World(rest.World):
    def fits(self, pod: dict, node: dict) -> bool:
        """A pod keeps others off its node even when they would not mind it."""
        here = [p for p in self.pods if p["spec"].get("nodeName") == node["metadata"]["name"] and p["status"]["phase"] in (
            "Pending", "Running")]
        kept_off = any(selects(term["labelSelector"], pod) for other in here for term in apart(other))
        return not kept_off and super().fits(pod, node)

    def _deployments(self) -> str | None:
        every = self.deployments
        try:
            self.deployments = [d for d in every if not d["spec"].get("paused")]
            return super()._deployments() or self._paused(every) or self._history(every)
        finally:
            self.deployments = every

    def sets_of(self, deployment: dict) -> list[dict]:
        return [s for s in self.sets if (owner_of(s) or {}).get("uid") == deployment["metadata"]["uid"]]

    def _paused(self, deployments: list[dict]) -> str | None:
        """It is scaled, in whatever revisions it has, and not rolled out."""
        for found in deployments:
            name, spec, status, mine = found["metadata"]["name"], found["spec"], found["status"], self.sets_of(found)
            if not spec.get("paused"):
                continue
            total, available = sum(s["spec"]["replicas"] for s in mine), sum(s["status"].get("availableReplicas", 0) for s in mine)
            seen = (status.get("replicas", 0), status.get("availableReplicas", 0), status.get("readyReplicas", 0))
            if status.get("observedGeneration") != found["metadata"]["generation"] or seen != (total, available, available):
                return f"Deployment {name}, paused: {seen}, has {total}, {available} available"
            if mine and total != spec["replicas"]:
                return f"Deployment {name}, paused: has {total} of {spec['replicas']}"
            if condition(found, "Progressing").get("reason") != "DeploymentPaused":
                return f"Deployment {name}, paused: its condition Progressing"
        return None

    def _history(self, deployments: list[dict]) -> str | None:
        for found in deployments:
            limit = found["spec"]["revisionHistoryLimit"]
            current = found["metadata"].get("annotations", {}).get(REVISION)
            old = [s for s in self.sets_of(found)
                   if not s["spec"]["replicas"] and s["metadata"].get("annotations", {}).get(REVISION) != current]
            if not found["spec"].get("paused") and len(old) > limit:
                return f"Deployment {found['metadata']['name']} keeps {len(old)} old revisions, not {limit}"
        return None

    def _stateful(self) -> str | None:
        every = self.stateful
        try:
            self.stateful = [s for s in every if not self.partition(s)]
            return super()._stateful() or self._parts(every)
        finally:
            self.stateful = every

    @staticmethod
    def partition(found: dict) -> int:
        return found["spec"]["updateStrategy"].get("rollingUpdate", {}).get("partition", 0)

    def _parts(self, sets: list[dict]) -> str | None:
        """Those from the partition on have the new revision."""
        for found in sets:
            name, spec, status, mine = found["metadata"]["name"], found["spec"], found["status"], self.pods_of(found)
            if not self.partition(found):
                continue
            numbers = (status.get("observedGeneration"), status["replicas"], status.get("readyReplicas", 0))
            if numbers != (found["metadata"]["generation"], len(mine), sum(map(ready, mine))):
                return f"StatefulSet {name}: {numbers}, {len(mine)} pods"
            if any(not ready(p) for p in mine):
                continue
            new = [p for p in mine if p["metadata"]["labels"]["controller-revision-hash"] == status["updateRevision"]]
            wanted = max(0, spec["replicas"] - self.partition(found))
            if len(mine) != spec["replicas"] or len(new) < wanted or status.get("updatedReplicas", 0) != len(new):
                return f"StatefulSet {name}: {len(mine)} of {spec['replicas']} pods, {len(new)} of {wanted} new"
        return None

