"""As much of the protobuf wire format as is needed to look at an envelope: fields by number, nothing of their meaning."""

from __future__ import annotations

MAGIC = b"k8s\0"


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data: bytes) -> dict[int, list]:
    """number -> values: integers, and bytes for what has a length."""
    found: dict[int, list] = {}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            length, at = varint(data, at)
            assert at + length <= len(data), "a field is longer than its message"
            value, at = data[at:at + length], at + length
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = data[at:at + size], at + size
        else:
            raise AssertionError(f"wire type {kind}")
        found.setdefault(number, []).append(value)
    return found


def envelope(data: bytes) -> tuple[str, str, bytes]:
    """apiVersion, kind and the message itself of what the server sends: the magic and a runtime.Unknown."""
    assert data.startswith(MAGIC), data[:20]
    unknown = fields(data[len(MAGIC):])
    meta = fields(unknown[1][0])
    return meta[1][0].decode(), meta[2][0].decode(), unknown[2][0]


def text(message: bytes, *path: int) -> str:
    """The string at a path of field numbers; "" when it is not there."""
    for number in path[:-1]:
        message = fields(message).get(number, [b""])[0]
    return fields(message).get(path[-1], [b""])[0].decode()
