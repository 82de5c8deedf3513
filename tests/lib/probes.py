"""The probe (tests/cluster/probe.c) as the suites use it: what the C client sees and does, as Python values."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

from context import Child, Context
from process import wait_for


def flags(options: dict[str, object]) -> list[str]:
    """page=3, json=True, n="x", field_selector="a=b" -> --page 3 --json -n x --field-selector a=b; None and False: left out."""
    result: list[str] = []
    for key, value in options.items():
        name = f"-{key}" if len(key) == 1 else "--" + key.replace("_", "-")
        if value is True:
            result.append(name)
        elif value is not None and value is not False:
            result += [name, str(value)]
    return result


def tables(ctx: Context) -> dict:
    return json.loads(ctx.run(ctx.probe, "tables", check=True).stdout)


def write(ctx: Context, verb: str, kind: str, name: str, kubeconfig: Path | None = None, body: object = None,
          **options: object) -> dict:
    """One request and its outcome: {"outcome", "code", "message", "cause"?, "retryAfter", "object"?}."""
    text = body if body is None or isinstance(body, str) else json.dumps(body)
    done = ctx.run(ctx.probe, "write", verb, kind, name, *flags({"body": text, **options}), kubeconfig=kubeconfig)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"probe write {verb} {kind} {name}: status {done.returncode}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


class Watch:
    """A probe that watches a kind.  Its events are all that it has printed: {"type", "object"}."""

    def __init__(self, ctx: Context, kind: str, kubeconfig: Path | None = None, env: dict[str, str] = {},
                 **options: object) -> None:
        self.ctx, self.kind = ctx, kind
        self.child: Child = ctx.spawn(ctx.probe, "watch", kind, *flags(options), kubeconfig=kubeconfig, stdin=True,
                                      env=env)

    def lines(self, begin: int = 0) -> list[dict]:
        return [json.loads(line) for line in self.child.out[begin:]]

    @property
    def events(self) -> list[dict]:
        return [line for line in self.lines() if line.get("type") in ("ADDED", "MODIFIED", "DELETED") and "object" in line]

    @property
    def problems(self) -> list[dict]:
        return [line for line in self.lines() if line.get("type") == "PROBLEM" and "outcome" in line]

    def synced(self, timeout: float = 30) -> dict:
        return json.loads(self.child.expect(r'^\{"type":"SYNCED".*', timeout)[0])

    def problem(self, timeout: float = 30, outcome: str | None = None) -> dict:
        """The next problem that it tells of (of that outcome)."""
        return json.loads(self.child.expect(rf'^\{{"type":"PROBLEM","outcome":"{outcome or ""}.*', timeout)[0])

    def ask(self, question: str, answer: str, timeout: float = 20) -> list[dict]:
        """Writes a line; returns the lines up to the one that begins with the answer."""
        begin = len(self.child.out)
        self.child.write(question + "\n")

        def answered() -> int | None:
            for index in range(begin, len(self.child.out)):
                if self.child.out[index].startswith(answer):
                    return index + 1
            if not self.child.running:
                raise RuntimeError(f"{self.child.name} has ended: {self.child.err[-5:]}")
            return None

        end = wait_for(answered, timeout, f"an answer to {question!r}", interval=0.01)
        return [json.loads(line) for line in self.child.out[begin:end]]

    def dump(self) -> list[dict]:
        """What it holds now, sorted by namespace and name."""
        lines = self.ask("dump", '{"dumped":')
        objects = [line for line in lines if "apiVersion" in line]
        assert len(objects) == lines[-1]["dumped"], lines[-1]
        return objects

    def names(self) -> list[str]:
        return [o["metadata"]["name"] for o in self.dump()]

    def version(self) -> str:
        return self.ask("dump", '{"dumped":')[-1]["version"]

    def stats(self) -> dict[str, int]:
        return self.ask("stats", '{"lists":')[-1]

    def wrote(self, namespace: str | None, name: str, version: str) -> None:
        self.ask(f"wrote {namespace or '-'} {name} {version}", '{"noted":')

    def fresh(self, namespace: str | None, name: str) -> bool:
        return self.ask(f"fresh {namespace or '-'} {name}", '{"fresh":')[-1]["fresh"]

    def end(self) -> None:
        """Ends it by closing its input: it must give everything back and end well."""
        self.child.close_stdin()
        status = self.child.end(number=None)
        assert status == 0 and not self.child.err, (status, self.child.err)

    def check_history(self) -> None:
        """Each object was added before it changed, was removed at most once, and never went back in version."""
        known: dict[tuple[str | None, str], dict] = {}
        for event in self.events:
            meta = event["object"]["metadata"]
            key = (meta.get("namespace"), meta["name"])
            before = known.get(key)
            if event["type"] == "ADDED":
                assert before is None, f"{key} was added twice"
            else:
                assert before is not None, f"{key} {event['type']} and never added"
                assert int(meta["resourceVersion"]) >= int(before["resourceVersion"]), f"{key} went back: {before} {meta}"
            if event["type"] == "MODIFIED":
                assert meta["resourceVersion"] != before["resourceVersion"], f"{key} changed without a new version"
            if event["type"] == "DELETED":
                del known[key]
            else:
                known[key] = meta
        held = {(o["metadata"].get("namespace"), o["metadata"]["name"]): o["metadata"] for o in self.dump()}
        assert held == known, "what it told and what it holds differ"


class Candidate:
    """A probe that wants a Lease."""

    def __init__(self, ctx: Context, namespace: str, name: str, identity: str, kubeconfig: Path | None = None,
                 **options: object) -> None:
        self.identity = identity
        self.child: Child = ctx.spawn(ctx.probe, "lease", namespace, name, identity, *flags(options),
                                      kubeconfig=kubeconfig, stdin=True)

    @property
    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.child.out]

    @property
    def leads(self) -> bool:
        told = [line["type"] for line in self.lines if line["type"] in ("STARTED", "STOPPED")]
        return bool(told) and told[-1] == "STARTED"

    def expect(self, what: str, timeout: float = 30) -> dict:
        return json.loads(self.child.expect(rf'^\{{"type":"{what}".*', timeout)[0])

    def resign(self) -> None:
        self.child.write("resign\n")
        assert self.child.end(number=None) == 0


def outcome(reply: dict) -> tuple[str, int]:
    return reply["outcome"], reply["code"]


def elapsed(begin: float) -> float:
    return time.monotonic() - begin


def matches(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None
