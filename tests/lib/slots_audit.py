"""What the API servers' audit logs say of slots: the server's own word on who was told to go, and what was on its node then.

Of two requests that overlapped nobody can say which came first: what is wrong here is wrong whichever it was.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from audit import Audit, code_of

# Bodies of the records and of the scheduler's decisions; of the rest that it was asked for.
POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  verbs: [create, update, patch]
  resources:
  - {group: "", resources: [configmaps, pods/binding]}
- level: Metadata
"""
LIMIT = 1


@dataclass
class Write:
    """A record as it was written."""
    version: int
    begun: str
    slots: dict[str, dict]


@dataclass
class Pod:
    node: str
    bound: str  # not later than
    gone: str = field(default="~")  # not before


def began(event: dict) -> str:
    return event["requestReceivedTimestamp"]


def writes(audit: Audit, ns: str) -> list[Write]:
    found = []
    for event in audit.requests(resource="configmaps", namespace=ns):
        obj = event.get("responseObject", {})
        if code_of(event) in (200, 201) and "slots" in obj.get("data", {}):
            slots = json.loads(obj["data"]["slots"])["slots"]
            found.append(Write(int(obj["metadata"]["resourceVersion"]), began(event), {s["node"]: s for s in slots}))
    return sorted(found, key=lambda w: w.version)


def pods(audit: Audit) -> list[Pod]:
    known: dict[tuple[str, str], Pod] = {}
    for event in audit.requests(resource="pods", subresource="binding", verb="create"):
        if code_of(event) == 201:
            where = event["objectRef"]["namespace"], event["objectRef"]["name"]
            known[where] = Pod(event["requestObject"]["target"]["name"], event["stageTimestamp"])
    for event in audit.requests(resource="pods"):
        where = event["objectRef"].get("namespace", ""), event["objectRef"].get("name", "")
        ends = event["verb"] == "delete" or event["objectRef"].get("subresource") == "eviction"
        if where in known and ends and code_of(event) in (200, 201):
            pod = known[where]
            pod.gone = began(event) if pod.gone == "~" else max(pod.gone, began(event))
    return list(known.values())


def broken(audit: Audit, ns: str) -> tuple[list[str], int]:
    """What was wrong, and how many grants were looked at."""
    found, grants, before = [], 0, {}
    there = pods(audit)
    for write in writes(audit, ns):
        if len(write.slots) > LIMIT:
            found.append(f"{sorted(write.slots)} hold slots (version {write.version})")
        for name, slot in write.slots.items():
            if slot["state"] != "granted" or before.get(name, {}).get("state") == "granted":
                continue
            grants += 1
            left = [p for p in there if p.node == name and p.bound < write.begun and p.gone > write.begun]
            if left:
                found.append(f"{name} was granted its slot with {len(left)} pods on it (version {write.version})")
        before = write.slots
    return found, grants
