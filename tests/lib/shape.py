"""Comparing JSON values with what is wanted of them, place by place."""

from __future__ import annotations

import copy
import re

CHANGING = ("uid", "resourceVersion", "creationTimestamp", "managedFields")  # of metadata, different in each run


class Like:
    """Equal to any text that the pattern matches as a whole."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and re.fullmatch(self.pattern, other, re.S) is not None

    def __repr__(self) -> str:
        return f"/{self.pattern}/"


class Anything:
    """Equal to any value that is there."""

    def __eq__(self, other: object) -> bool:
        return other is not None

    def __repr__(self) -> str:
        return "anything"


ANY = Anything()
UID = Like(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = Like(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
MICROTIME = Like(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
VERSION = Like(r"[1-9][0-9]*")
ABSENT = None  # as a wanted value: the key must not be there


def differences(seen: object, wanted: object, path: str = "", whole: bool = True,
                names: tuple[str, str] = ("", "wanted ")) -> list[str]:
    """Where seen is not what is wanted, one line a place.  whole: keys that nobody asked for are differences too.

    names: what to call the two in the lines.
    """
    if isinstance(seen, dict) and isinstance(wanted, dict):
        keys = set(wanted) | (set(seen) if whole else set())
        return [line for key in sorted(keys)
                for line in differences(seen.get(key), wanted.get(key), f"{path}.{key}", whole, names)]
    if isinstance(seen, list) and isinstance(wanted, list) and len(seen) == len(wanted):
        return [line for i, (a, b) in enumerate(zip(seen, wanted)) for line in differences(a, b, f"{path}[{i}]", whole, names)]
    if type(seen) is bool or type(wanted) is bool:  # True is 1 for Python and is not for JSON
        same = type(seen) is type(wanted) and seen == wanted or isinstance(wanted, Anything) and seen is not None
    else:
        same = wanted == seen
    return [] if same else [f"{path or 'value'}: {names[0]}{seen!r:.300}, {names[1]}{wanted!r:.300}"]


def assert_is(seen: object, wanted: object, what: object = "") -> None:
    lines = differences(seen, wanted)
    assert not lines, f"{what}\n" + "\n".join(lines[:20])


def assert_has(seen: object, wanted: object, what: object = "") -> None:
    """What is wanted is there; more may be."""
    lines = differences(seen, wanted, whole=False)
    assert not lines, f"{what}\n" + "\n".join(lines[:20])


def settled(obj: dict) -> dict:
    """The object without what is different in each run; those must be there and well formed."""
    meta = obj["metadata"]
    assert_has(meta, {"uid": UID, "resourceVersion": VERSION, "creationTimestamp": TIME}, obj)
    made = copy.deepcopy(obj)
    for key in CHANGING:
        made["metadata"].pop(key, None)
    return made


def merged(base: dict, more: dict) -> dict:
    """base with more laid over it; None removes a key."""
    result = dict(base)
    for key, value in more.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result
