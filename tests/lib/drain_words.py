"""What a drain says, read as a script would read it: kubectl's lines and sentences, Slipway's are the same."""

from __future__ import annotations

import re

POD = re.compile(r"^[a-z0-9.-]+/[a-z0-9.-]+$")


def pods_of(text: str) -> list[str]:
    """The list "ns/a, ns/b" at the beginning of a text, however it goes on."""
    found = []
    for word in re.split(r"[,\s]+", text.replace("]", " ").replace(";", " ; ").strip()):
        if not POD.match(word):
            break
        found.append(word)
    return found


def refused(stderr: str) -> set[tuple[str, str]]:
    """(reason, "ns/pod") of every pod that must not be touched without a flag."""
    found = set()
    for part in stderr.split("cannot delete ")[1:]:
        reason, _, rest = part.partition(": ")
        found |= {(reason, name) for name in pods_of(rest)}
    return found


def warned(stderr: str) -> set[tuple[str, str]]:
    """(message, "ns/pod") of the line "Warning: MESSAGE: ns/a, ns/b; MESSAGE: ns/c"."""
    found = set()
    for line in stderr.splitlines():
        if line.startswith("Warning: "):
            for part in line.removeprefix("Warning: ").split("; "):
                message, _, rest = part.partition(": ")
                found |= {(message, name) for name in pods_of(rest)}
    return found
