"""Counts requests from kube-apiserver's audit log: the server's own word on what its clients did."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Iterator

POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
"""


class Audit:
    """The audit logs of one cluster.  A mark taken before and given to count() leaves out what was there already."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = paths

    def mark(self) -> dict[Path, int]:
        return {path: path.stat().st_size for path in self.paths if path.exists()}

    def requests(self, since: dict[Path, int] | None = None, **wanted: str | None) -> Iterator[dict]:
        """One audit event a request, in the order of the log; a watch appears when it begins.

        wanted: user, verb, resource, subresource, namespace, name, agent (a substring of the user agent); a request
        that differs in any of those given is left out.
        """
        for path in self.paths:
            if not path.exists():
                continue
            seen: set[str] = set()
            with open(path, "rb") as log:
                log.seek((since or {}).get(path, 0))
                for line in log:
                    if not line.endswith(b"\n"):
                        break  # still being written
                    event = json.loads(line)
                    if event["auditID"] in seen:
                        continue  # the end of a watch whose beginning was counted
                    if event["stage"] == "ResponseStarted":
                        seen.add(event["auditID"])
                    if matches(event, wanted):
                        yield event

    def count(self, since: dict[Path, int] | None = None, **wanted: str | None) -> int:
        return sum(1 for _ in self.requests(since, **wanted))

    def table(self, since: dict[Path, int] | None = None, **wanted: str | None) -> Counter:
        """(user, verb, resource[/subresource], code) -> number of requests."""
        counted: Counter = Counter()
        for event in self.requests(since, **wanted):
            counted[(facts(event)["user"], event["verb"], resource_of(event), code_of(event))] += 1
        return counted


def facts(event: dict) -> dict[str, str]:
    reference = event.get("objectRef", {})
    return {"user": event.get("user", {}).get("username", ""), "verb": event["verb"],
            **{key: reference.get(key, "") for key in ("resource", "subresource", "namespace", "name")}}


def matches(event: dict, wanted: dict[str, str | None]) -> bool:
    have = facts(event)
    for key, value in wanted.items():
        if value is None:
            continue
        if key == "agent":
            if value not in event.get("userAgent", ""):
                return False
        elif have[key] != value:
            return False
    return True


def resource_of(event: dict) -> str:
    have = facts(event)
    if not have["resource"]:
        return event.get("requestURI", "").partition("?")[0]
    return have["resource"] + (f"/{have['subresource']}" if have["subresource"] else "")


def code_of(event: dict) -> int:
    return event.get("responseStatus", {}).get("code", 0)
