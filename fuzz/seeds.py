"""Inputs for the fuzz targets out of Kubernetes' own test data (tests/lib/gomodules.py): good objects to start from.

    python3 fuzz/seeds.py DIRECTORY

Writes DIRECTORY/<target>/<name>.  They are made when they are needed and never kept: what is kept, in fuzz/corpus, was written
by hand or found by a fuzzer.  Without the test data it says so and writes nothing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "lib"))
import gomodules  # noqa: E402

KINDS = {"Node": "v1", "Pod": "v1", "PersistentVolume": "v1", "PersistentVolumeClaim": "v1", "Namespace": "v1", "Event": "v1",
         "PodDisruptionBudget": "policy/v1", "Lease": "coordination.k8s.io/v1", "VolumeAttachment": "storage.k8s.io/v1", "StorageClass": "storage.k8s.io/v1",
         "DaemonSet": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "Deployment": "apps/v1", "Job": "batch/v1",
         "Status": "v1"}
# Streams are about what is around the objects: small ones will do, and are many times faster.
STREAMED = ("Lease", "Namespace", "PodDisruptionBudget")
MAGIC = b"k8s\0"
# Where they are created, for whole requests.
CLUSTER_WIDE = ("Node", "PersistentVolume", "Namespace", "VolumeAttachment", "StorageClass")


def varint(n: int) -> bytes:
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] & 0x80:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
    return value | data[at] << shift, at + 1


def unwrap(body: bytes) -> bytes:
    """The message in an envelope: field 2."""
    assert body.startswith(MAGIC)
    at = len(MAGIC)
    while at < len(body):
        tag, at = read_varint(body, at)
        length, at = read_varint(body, at)
        if tag == 2 << 3 | 2:
            return body[at:at + length]
        at += length
    raise ValueError("an envelope with nothing in it")


def wrap(version: str, kind: str, message: bytes) -> bytes:
    return MAGIC + field(1, field(1, version.encode()) + field(2, kind.encode())) + field(2, message) + field(3, b"") + \
        field(4, b"")


def frame(kind: str, body: bytes) -> bytes:
    event = field(1, kind.encode()) + field(2, field(1, body))
    return len(event).to_bytes(4, "big") + event


def requests(kind: str, version: str, text: bytes, body: bytes) -> bytes:
    """Created, read, replaced, patched and removed."""
    base = f"/apis/{version}" if "/" in version else f"/api/{version}"
    plural = base + ("" if kind in CLUSTER_WIDE else "/namespaces/default") + f"/{kind.lower()}s"
    thing = json.loads(text)
    path = f"{plural}/{thing['metadata']['name']}"
    for key in ("namespace", "resourceVersion", "uid", "deletionTimestamp", "deletionGracePeriodSeconds"):
        thing["metadata"].pop(key, None)
    plain = json.dumps(thing, separators=(",", ":")).encode()
    small = json.dumps({"metadata": {"name": "a"}, **{k: v for k, v in thing.items() if k not in ("metadata", "status")}}).encode()
    return b"bare\n" + b"\n%%\n".join((
        f"GET {plural}?watch=1 - watch".encode(),
        f"POST {plural} json pb\n".encode() + plain,
        f"POST {plural} pb -\n".encode() + body,
        f"POST {plural}?fieldValidation=Strict json table\n".encode() + small,
        f"PUT {path} json -\n".encode() + plain,
        f"PATCH {path} strategic -\n".encode() + small,
        f"PATCH {plural}/a merge -\n".encode() + plain,
        f"GET {plural} - table".encode(),
        f"GET {plural}?limit=1 - pb".encode(),
        b"PULL",
        f"DELETE {plural} - -".encode()))


def seeds(modules: gomodules.Modules) -> dict[str, dict[str, bytes]]:
    """Target -> name -> input."""
    found: dict[str, dict[str, bytes]] = {t: {} for t in ("json", "pb", "agree", "request", "schema", "stream_json", "stream_pb")}

    def texts(kind: str) -> tuple[bytes, bytes]:
        source = modules.data("HEAD", KINDS[kind], kind, "json")
        text = json.dumps(json.loads(source.read_bytes()), separators=(",", ":"))
        return text.encode(), source.with_suffix(".pb").read_bytes()

    status_json, status_pb = texts("Status")
    for number, (kind, version) in enumerate(KINDS.items()):
        text, body = texts(kind)
        message = unwrap(body)
        head = f"{kind}\n".encode()
        found["json"][kind] = head + text
        found["pb"][kind] = found["agree"][kind] = head + message
        group = "" if "/" not in version else version.split("/")[0] + "/"
        found["schema"][f"{kind}-json"] = f"json {group}{kind}\n".encode() + text
        found["schema"][f"{kind}-pb"] = f"pb {group}{kind}\n".encode() + message
        if kind != "Status":
            found["request"][kind] = requests(kind, version, text, body)
        if kind not in STREAMED:
            continue
        listed = f"{kind} list {number}\n".encode()
        watched = f"{kind} watch {number}\n".encode()
        found["stream_json"][f"{kind}-list"] = listed + (
            b'{"kind":"%sList","apiVersion":"%s","metadata":{"resourceVersion":"1","continue":"x","remainingItemCount":2},'
            b'"items":[%s,%s]}\n' % (kind.encode(), version.encode(), text, text))
        found["stream_json"][f"{kind}-watch"] = watched + b"".join(
            b'{"type":"%s","object":%s}\n' % (t, o) for t, o in
            ((b"ADDED", text), (b"MODIFIED", text), (b"BOOKMARK", text), (b"ERROR", status_json), (b"DELETED", text)))
        items = field(1, field(2, b"1") + field(3, b"x") + b"\x20\x02") + field(2, message) * 2
        found["stream_pb"][f"{kind}-list"] = listed + wrap(version, f"{kind}List", items)
        found["stream_pb"][f"{kind}-watch"] = watched + b"".join(
            frame(t, b) for t, b in
            (("ADDED", body), ("MODIFIED", body), ("BOOKMARK", body), ("ERROR", status_pb), ("DELETED", body)))
    return found


def main() -> int:
    modules = gomodules.find()
    if modules.missing:
        print(modules.missing)
        return 0
    for target, inputs in seeds(modules).items():
        directory = Path(sys.argv[1], target)
        directory.mkdir(parents=True, exist_ok=True)
        for name, data in inputs.items():
            (directory / name).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
