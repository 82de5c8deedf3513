"""A FleetLock client, and a node that does what it is told: for tests of the controller."""

from __future__ import annotations

import datetime
import json
import urllib.error
import urllib.request
import uuid

PRE_REBOOT, STEADY_STATE = "pre-reboot", "steady-state"


def ask(base: str, api: str, machine: str, group: str = "default", timeout: float = 10) -> tuple[int, dict]:
    """The status and the body of an answer; every body is JSON."""
    body = json.dumps({"client_params": {"id": machine, "group": group}}, indent=2).encode()
    request = urllib.request.Request(f"{base}/v1/{api}", data=body, headers={"fleet-lock-protocol": "true"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


class Machine:
    """A node of a cluster, seen from its own client."""

    def __init__(self, api, name: str) -> None:
        self.api, self.name, self.path = api, name, f"/api/v1/nodes/{name}"
        self.id = self.node["status"]["nodeInfo"]["machineID"]

    @property
    def node(self) -> dict:
        return self.api.get(self.path)

    @property
    def mark(self) -> str | None:
        return self.node["metadata"].get("annotations", {}).get("rebootmanager/status")

    @property
    def cordoned(self) -> bool:
        return bool(self.node["spec"].get("unschedulable"))

    def boots(self) -> str:
        """It comes back with another boot, and says so as a kubelet does: with its conditions."""
        boot, node = str(uuid.uuid4()), self.node
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        conditions = [c | {"lastHeartbeatTime": now} for c in node["status"]["conditions"]]
        self.api.patch(self.path + "/status", {"status": {"nodeInfo": {"bootID": boot}, "conditions": conditions}})
        return boot

    def pre_reboot(self, base: str, **options) -> tuple[int, dict]:
        return ask(base, PRE_REBOOT, self.id, **options)

    def steady_state(self, base: str, **options) -> tuple[int, dict]:
        return ask(base, STEADY_STATE, self.id, **options)
