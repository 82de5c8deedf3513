"""The .proto files of the Go modules k8s.io/api and k8s.io/apimachinery: message -> field number -> name and type."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

MESSAGE = re.compile(r"^message (\w+) \{$")
FIELD = re.compile(r"^  (optional|repeated|map<string, ([\w.]+)>) ?([\w.]*) (\w+) = (\d+);$")
PACKAGE = re.compile(r"^package ([\w.]+);$")


@dataclass
class Field:
    name: str
    number: int
    label: str  # optional, repeated or map
    type: str  # int32, string, ... or the full name of a message; of a map its value's


class Protos:
    def __init__(self, roots: list[Path]) -> None:
        """roots: directories k8s.io/api and k8s.io/apimachinery."""
        self.messages: dict[str, dict[int, Field]] = {}
        for root in roots:
            for path in root.rglob("generated.proto"):
                self.read(path)

    def read(self, path: Path) -> None:
        package = message = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if m := PACKAGE.match(line):
                package = m[1]
            elif m := MESSAGE.match(line):
                message = f"{package}.{m[1]}"
                self.messages[message] = {}
            elif message and (m := FIELD.match(line)):
                kind = m[2] or m[3]
                if kind.startswith("."):
                    kind = kind[1:]
                elif kind not in SCALARS:
                    kind = f"{package}.{kind}"
                label = "map" if m[2] else m[1]
                self.messages[message][int(m[5])] = Field(m[4], int(m[5]), label, kind)
            elif line.startswith("}"):
                message = ""
            elif message and (m := re.match(r"^  \w.* = \d+.*;$", line)):
                raise ValueError(f"{path}: a line that is not understood: {line}")


SCALARS = {"string", "bytes", "bool", "int32", "int64", "uint32", "uint64", "double", "float"}

META = "k8s.io.apimachinery.pkg.apis.meta.v1."
QUANTITY = "k8s.io.apimachinery.pkg.api.resource.Quantity"

# Kind of a row -> the declarations it may stand for: label and type, * for any message.
FITS: dict[str, set[tuple[str, str]]] = {
    "str": {("optional", "string")},
    "bool": {("optional", "bool")},
    "int32": {("optional", "int32")},
    "int64": {("optional", "int64")},
    "optint32": {("optional", "int32")},
    "optint64": {("optional", "int64")},
    "time": {("optional", META + "Time")},
    "microtime": {("optional", META + "MicroTime")},
    "intstr": {("optional", "k8s.io.apimachinery.pkg.util.intstr.IntOrString")},
    "present": {("optional", "*")},
    "msg": {("optional", "*")},
    "ptr": {("optional", "*")},
    "list": {("repeated", "*")},
    "strs": {("repeated", "string")},
    "ints": {("repeated", "int32")},
    "map": {("map", "string")},
    "mapqty": {("map", QUANTITY)},
    "maptime": {("map", META + "Time")},
}


def fits(row: dict, field: Field) -> bool:
    return any(label == field.label and (kind == field.type or kind == "*" and field.type not in SCALARS)
               for label, kind in FITS[row["kind"]])
