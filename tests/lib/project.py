"""What Slipway must see in a Kubernetes object: the object's JSON reduced to the rows of the tables.

    project("Pod", obj, tables)

`obj` is an object as kubectl and the API server print it, `tables` what `probe tables` prints.  The result is what the probe
prints for that object, as Python values.  Written from the semantics of the API and not from the decoders, so that the two can
be compared: empty and absent are the same, a Time has whole seconds, a MicroTime microseconds, quantities are thousandths
rounded away from zero, and of some lists and maps only a part is kept (FILTERS).
"""

from __future__ import annotations

import datetime
import re
from fractions import Fraction
from typing import Callable

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MOST = 2**63 - 1

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
POD_ANNOTATIONS = ("kubernetes.io/config.", "cluster-autoscaler.kubernetes.io/", "karpenter.sh/", "cluster.x-k8s.io/",
                   "controller.kubernetes.io/", "slipway.dev/", "kubevirt.io/", "k8s.io/")

VOLUME_SOURCES = ("hostPath", "emptyDir", "ephemeral", "persistentVolumeClaim", "csi")

# Message -> which elements of a list of it are kept.
FILTERS: dict[str, Callable[[dict], bool]] = {
    "Volume": lambda v: any(v.get(source) is not None for source in VOLUME_SOURCES),
    "ContainerPort": lambda p: bool(p.get("hostPort")),
    "PodCondition": lambda c: c.get("type") not in ("Initialized", "ContainersReady", "PodReadyToStartContainers"),
}


def keeps_annotation(kind: str, key: str) -> bool:
    return key.startswith(POD_ANNOTATIONS) if kind == "Pod" else key != LAST_APPLIED


SUFFIXES = {"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1),
            **{s: Fraction(1000**(i + 1)) for i, s in enumerate("kMGTPE")},
            **{s + "i": Fraction(1024**(i + 1)) for i, s in enumerate("KMGTPE")}}
QUANTITY = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([a-zA-Z]*)|[eE]([+-]?[0-9]+))")


def milli(quantity: object) -> int:
    text = str(quantity) if quantity not in (None, "") else "0"
    m = QUANTITY.fullmatch(text)
    if not m or not (m[2] or m[3]) or (m[4] or "") not in SUFFIXES:
        raise ValueError(f"{text!r} is no quantity")
    value = Fraction(int((m[2] or "") + (m[3] or "")), 10**len(m[3] or ""))
    value *= Fraction(10)**int(m[5]) if m[5] else SUFFIXES[m[4] or ""]
    rounded = min(-(-value.numerator * 1000 // value.denominator), MOST)
    return -rounded if m[1] == "-" else rounded


def quantity(value: object) -> str:
    n = milli(value)
    return str(n // 1000) if n % 1000 == 0 else f"{n}m"


TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))")


def moment(text: object, digits: int) -> str | None:
    """In UTC with that many digits of a fraction; None for what is not set."""
    if not text:
        return None
    m = TIME.fullmatch(str(text))
    if not m:
        raise ValueError(f"{text!r} is no time")
    t = datetime.datetime.fromisoformat(f"{m[1]}T{m[2]}+00:00")
    if m[4]:
        offset = datetime.timedelta(hours=int(m[5]), minutes=int(m[6]))
        t += -offset if m[4] == "+" else offset
    t = t.replace(microsecond=int(((m[3] or "") + "000000")[:6]) if digits else 0)
    if t == EPOCH:
        return None
    return t.replace(tzinfo=None).isoformat(timespec="microseconds" if digits else "seconds") + "Z"


def project_value(kind: str, row: dict, value: object) -> object:
    """The value of a row, None when there is nothing to show."""
    what = row["kind"]
    if what == "msg":
        return project_fields(kind, row["fields"], value or {})
    if value is None:
        return None
    if what == "ptr":
        return project_fields(kind, row["fields"], value)
    if what == "present":
        return {}
    if what in ("str", "bool", "int32", "int64"):
        return value or None
    if what in ("optint32", "optint64", "intstr"):
        return value
    if what == "time":
        return moment(value, 0)
    if what == "microtime":
        return moment(value, 6)
    if what == "strs":
        return [v or "" for v in value] or None
    if what == "ints":
        return [v or 0 for v in value] or None
    if what == "list":
        keep = FILTERS[row["message"]] if row["filtered"] else lambda _: True
        return [project_fields(kind, row["fields"], v or {}) for v in value if keep(v or {})] or None
    if what in ("map", "mapqty", "maptime"):
        one = {"map": lambda v: v or "", "mapqty": quantity, "maptime": lambda v: moment(v, 0)}[what]
        if row["filtered"] and row["json"] != "annotations":
            raise KeyError(f"a filter of {row['json']} that is not known here")
        return {k: one(v) for k, v in value.items() if not row["filtered"] or keeps_annotation(kind, k)} or None
    raise KeyError(f"a field of kind {what}")


def project_fields(kind: str, rows: list[dict], value: dict) -> dict:
    result = {}
    for row in rows:
        if row["json"] is None:  # its fields stand among ours
            result |= project_fields(kind, row["fields"], value)
            continue
        projected = project_value(kind, row, value.get(row["json"]))
        if projected is not None:
            result[row["json"]] = projected
    return result


def project(kind: str, obj: dict, tables: dict) -> dict:
    table = tables[kind]
    return {"apiVersion": table["apiVersion"], "kind": kind, **project_fields(kind, table["fields"], obj)}
