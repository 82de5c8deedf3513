"""A drain as the API server saw it: evictions, their refusals, budgets and the ends of pods, from its audit log.

The log of a cluster that was started with flags() has the body of each status write of a budget, so that it can be told which
of them allows a disruption.  Both ends of a latency are then times of one clock, the server's.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Iterable

from drain_bound import Eviction, Write

DISRUPTION_CONTROLLER = "system:serviceaccount:kube-system:disruption-controller"
POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: Request
  verbs: [update, patch]
  resources: [{group: policy, resources: [poddisruptionbudgets/status]}]
- level: Metadata
"""


def flags(directory: Path) -> list[str]:
    """Of kube-apiserver, for a policy of our own: the last one given counts."""
    path = directory / "audit-policy.yaml"
    path.write_text(POLICY)
    return [f"--audit-policy-file={path}"]


def seconds(stamp: str) -> float:
    """Of a time such as 2026-11-15T08:00:00.123456Z."""
    return datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp()


@dataclass
class Seen:
    requests: Counter = field(default_factory=Counter)  # of the drain's user: (verb, resource, code) -> number
    evictions: list[Eviction] = field(default_factory=list)  # the accepted ones
    refused: int = 0
    writes: list[Write] = field(default_factory=list)
    first: float = 0.0  # arrival of the drain's first request
    unknown: list[str] = field(default_factory=list)  # pods that were evicted and belong to no budget we know

    @property
    def total(self) -> int:
        return sum(self.requests.values())


def read(events: Iterable[dict], user: str, budget_of) -> Seen:
    """events: requests of the log since the drain began.  budget_of("ns/pod"): "ns/budget" or None."""
    seen, gone, accepted = Seen(), {}, []
    for event in events:
        reference, code = event.get("objectRef", {}), event.get("responseStatus", {}).get("code", 0)
        kind = reference.get("resource", "") + (f"/{reference['subresource']}" if reference.get("subresource") else "")
        name = f"{reference.get('namespace', '')}/{reference.get('name', '')}"
        arrived, done = seconds(event["requestReceivedTimestamp"]), seconds(event["stageTimestamp"])
        who = event.get("user", {}).get("username", "")
        if who == user:
            seen.requests[event["verb"], kind or event.get("requestURI", "").partition("?")[0], code] += 1
            seen.first = min(seen.first or arrived, arrived)
            if kind == "pods/eviction" and event["verb"] == "create":
                if 200 <= code < 300:
                    accepted.append((name, arrived, done))
                else:
                    seen.refused += 1
        elif kind == "poddisruptionbudgets/status" and who == DISRUPTION_CONTROLLER and 200 <= code < 300:
            allowed = event.get("requestObject", {}).get("status", {}).get("disruptionsAllowed", 0)
            seen.writes.append(Write(name, arrived, done, allowed))
        elif kind == "pods" and event["verb"] == "delete" and 200 <= code < 300:
            gone[name] = arrived  # the last word is the kubelet's
    for name, arrived, done in accepted:
        budget = budget_of(name)
        if budget is None:
            seen.unknown.append(name)
        seen.evictions.append(Eviction(name, budget or "", arrived, done, gone.get(name)))
    return seen


def requests_table(counted: Counter) -> str:
    return ", ".join(f"{n} {verb} {what} {code}" for (verb, what, code), n in counted.most_common())
