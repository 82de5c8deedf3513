"""Reads what /metrics answers, strictly: both forms of the text, as their definitions have them, and nothing that only happens to be read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"^({NAME})(?:\{{(.*)\}})? (\S+)$")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)')
NUMBER = re.compile(r"^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]Inf|NaN)$")
TYPES = {False: {"counter", "gauge", "histogram", "summary", "untyped"},
         True: {"counter", "gauge", "histogram", "summary", "unknown", "info", "stateset"}}


@dataclass
class Family:
    name: str
    help: str
    type: str = ""
    samples: list[tuple[str, tuple[tuple[str, str], ...], float]] = field(default_factory=list)


class Exposition:
    """All families by name; sample("slipway_leader") and the like find values."""

    def __init__(self, text: str, open_metrics: bool = False) -> None:
        self.open = open_metrics
        self.families: dict[str, Family] = {}
        lines = text.split("\n")
        assert lines.pop() == "", "it ends with a line break"
        if open_metrics:
            assert lines.pop() == "# EOF", "it ends with # EOF"
        assert "# EOF" not in lines
        current: Family | None = None
        for line in lines:
            current = self.read(line, current)
        for family in self.families.values():
            self.check(family)

    def read(self, line: str, current: Family | None) -> Family:
        if line.startswith("# HELP "):
            _, _, name, text = line.split(" ", 3)
            assert re.fullmatch(NAME, name) and name not in self.families, f"there twice: {line}"
            assert text.strip() and not re.search(r"\\(?![\\n\"])", text), line
            self.families[name] = Family(name, text)
            return self.families[name]
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert current and current.name == name and not current.type and kind in TYPES[self.open], line
            current.type = kind
            return current
        found = SAMPLE.match(line)
        assert found and current and current.type, f"no sample, or of no family: {line!r}"
        name, labels, value = found.groups()
        assert NUMBER.match(value), line
        current.samples.append((name, self.labels(labels, line), float(value.replace("Inf", "inf"))))
        assert name in self.sample_names(current), f"{line!r} in family {current.name}"
        return current

    @staticmethod
    def labels(text: str | None, line: str) -> tuple[tuple[str, str], ...]:
        at, out = 0, []
        while text is not None and at < len(text):
            found = LABEL.match(text, at)
            assert found, f"labels of {line!r} at {at}"
            out.append((found[1], re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), found[2])))
            at = found.end()
        assert text is None or (text and not text.endswith(",")), line
        assert len({n for n, _ in out}) == len(out), f"a label twice: {line}"
        return tuple(out)

    def sample_names(self, family: Family) -> set[str]:
        if family.type == "histogram":
            return {family.name + suffix for suffix in ("_bucket", "_sum", "_count")}
        if family.type == "counter" and self.open:
            return {family.name + "_total"}
        return {family.name}

    def check(self, family: Family) -> None:
        assert family.type and family.samples, f"{family.name} has no type, or no sample"
        keys = [(name, frozenset(labels)) for name, labels, _ in family.samples]
        assert len(set(keys)) == len(keys), f"{family.name}: a series twice"
        assert len({frozenset(n for n, _ in labels if n != "le") for _, labels, _ in family.samples}) == 1, f"{family.name}: labels differ"
        if family.type == "counter":
            assert all(value >= 0 for _, _, value in family.samples), family.name
            assert self.open or family.name.endswith("_total"), family.name
        if family.type == "histogram":
            self.check_histogram(family)

    def check_histogram(self, family: Family) -> None:
        series: dict[frozenset, dict[str, list]] = {}
        for name, labels, value in family.samples:
            rest = frozenset(item for item in labels if item[0] != "le")
            part = series.setdefault(rest, {"_bucket": [], "_sum": [], "_count": []})
            suffix = name[len(family.name):]
            assert ("le" in dict(labels)) == (suffix == "_bucket"), family.name
            part[suffix].append((dict(labels).get("le"), value))
        for part in series.values():
            bounds = [float(le.replace("Inf", "inf")) for le, _ in part["_bucket"]]
            counts = [value for _, value in part["_bucket"]]
            assert bounds == sorted(set(bounds)) and bounds[-1] == float("inf"), family.name
            assert counts == sorted(counts) and len(part["_sum"]) == len(part["_count"]) == 1, family.name
            assert part["_count"][0][1] == counts[-1], family.name
            if self.open:
                assert all("." in le or "e" in le or "Inf" in le for le, _ in part["_bucket"]), family.name

    def all(self, name: str, **labels: str) -> list[float]:
        """The values of the samples of that name with (at least) these labels."""
        return [value for family in self.families.values() for n, have, value in family.samples
                if n == name and set(labels.items()) <= set(have)]

    def sample(self, name: str, **labels: str) -> float | None:
        found = self.all(name, **labels)
        assert len(found) <= 1, f"{name} {labels}: {len(found)} of them"
        return found[0] if found else None
