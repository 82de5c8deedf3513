"""--wait-rescheduled on a real cluster: a node is done at the moment in which the owners of its pods are well again.

Judged by the server's clock alone: the audit log has the status that the owner's controller wrote, the pods that kwok took away and
our last write to the node, so that a slow machine changes nothing.
"""

from __future__ import annotations

import re
import tempfile
from datetime import datetime
from pathlib import Path

import drain_ground
from cluster import Cluster
from context import Context
from drain_ground import Ground, Watcher
from drain_objects import slow, stateful_set
from objects import deployment
from stalls import Stalls

OWNERS = """\
- level: Request
  verbs: [update, patch]
  resources: [{group: apps, resources: [replicasets/status, statefulsets/status]}]
"""
POLICY = drain_ground.POLICY.replace("- level: Metadata\n", OWNERS + "- level: Metadata\n")
SOON = 5.0  # seconds that a busy machine may take from one event to the next; a drain that waits for no event waits for 10
REPLICAS = 3


class OwnersGround(Ground):
    """Its audit log has what controllers write of their owners."""

    def start(self, still: bool) -> tuple[Cluster, Watcher]:
        directory = tempfile.TemporaryDirectory(prefix="slipway-audit-")
        self.ctx.suite_undo(directory.cleanup)
        policy = Path(directory.name) / "policy.yaml"
        policy.write_text(POLICY)
        cluster = self.ctx.suite_cluster(apiserver_flags=[f"--audit-policy-file={policy}"])
        watcher = Watcher(cluster)
        self.ctx.suite_undo(watcher.end)
        return cluster, watcher


def moment(event: dict) -> float:
    """When the server was done with it."""
    return datetime.fromisoformat(event["stageTimestamp"].replace("Z", "+00:00")).timestamp()


def became_well(g: Ground, resource: str) -> float | None:
    """The write after the last one that said that something is missing; None when there is none yet."""
    writes = [e for e in g.cluster.audit.requests(g.mark, resource=resource, subresource="status", namespace=g.ns)
              if e["responseStatus"]["code"] == 200]
    missing = [i for i, e in enumerate(writes) if e["requestObject"]["status"].get("availableReplicas", 0) < REPLICAS]
    return moment(writes[missing[-1] + 1]) if missing and missing[-1] + 1 < len(writes) else None


def last_gone(g: Ground) -> float:
    return max(moment(e) for e in g.cluster.audit.requests(g.mark, user="kwok", verb="delete", resource="pods", namespace=g.ns)
               if e["responseStatus"]["code"] == 200)


def our_end(g: Ground) -> float:
    """The condition Drained is the last that is written to the node."""
    return max(moment(e) for e in g.asked(resource="nodes", subresource="status", name=g.nodes[0]))


def timeline(ctx: Context, owner: str, resource: str, ready: str, gone: str) -> None:
    """All pods on one node, drained with their owner in view."""
    with OwnersGround(ctx) as g:
        make = {"Deployment": deployment, "StatefulSet": stateful_set}[owner]
        g.place(0, slow(make("web", g.ns, REPLICAS, **g.here), ready=ready, gone=gone))
        ctx.wait_for(lambda: all(o["status"].get("availableReplicas") == REPLICAS for o in
                                 g.api.items(f"/apis/apps/v1/namespaces/{g.ns}/{resource}")), 30, "the owner to be well")
        g.mark = g.cluster.audit.mark()
        with Stalls(g.cluster) as stalls:
            child = g.ends(g.begin(g.nodes[0], "--wait-rescheduled", "--progress=plain"), timeout=80)
        left, end = last_gone(g), our_end(g)
        well = ctx.wait_for(lambda: became_well(g, resource), 30, "the owner to be well again")
        assert end >= well, f"the end came {well - end:.3f} s before the owner was well again: {child.err}"
        assert end - max(well, left) < SOON + stalls.seconds, \
            f"the end came {end - max(well, left):.3f} s after all was well, stalls of {stalls.seconds:.3f} s: {child.err}"
        said = "\n".join(child.err)
        assert not re.search(r"\b(\d+) of \1 replicas", said), f"that all are there is no reason to wait: {said}"


def test_the_next_pods_take_longer(ctx: Context) -> None:
    timeline(ctx, "Deployment", "replicasets", ready="4s", gone="0s")


def test_the_old_pods_take_longer(ctx: Context) -> None:
    """The owner is well before they have gone; nothing more is written about it but that they have."""
    timeline(ctx, "Deployment", "replicasets", ready="0s", gone="4s")


def test_pods_that_take_no_time(ctx: Context) -> None:
    timeline(ctx, "Deployment", "replicasets", ready="0s", gone="0s")


def test_pods_with_a_name(ctx: Context) -> None:
    """The next one cannot be made before the last one has gone."""
    timeline(ctx, "StatefulSet", "statefulsets", ready="2s", gone="1s")


def test_pods_with_a_name_that_take_no_time(ctx: Context) -> None:
    timeline(ctx, "StatefulSet", "statefulsets", ready="0s", gone="0s")


def test_until_they_are_well_elsewhere(ctx: Context) -> None:
    with OwnersGround(ctx) as g:
        g.place(0, slow(deployment("web", g.ns, 2, **g.here), ready="3s", gone="0s"))
        g.drain(g.nodes[0], "--wait-rescheduled", timeout=60)
        found = g.api.get(f"/apis/apps/v1/namespaces/{g.ns}/deployments/web")["status"]
        assert found.get("availableReplicas") == 2 and not g.names(0), found
