"""slipway replay: recordings that somebody sends. What a real controller records is played in tests/cluster/test_replay.py."""

from __future__ import annotations

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import run  # noqa: E402

DONE, FAILED, USAGE = 0, 1, 64

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "replay.md"
NODE = {"metadata": {"name": "w0", "uid": "u", "resourceVersion": "2"},
        "status": {"nodeInfo": {"bootID": "b"}, "conditions": [{"type": "Ready", "status": "True"}]}}
SLOTS = {"v": 1, "fence": 3, "slots": [
    {"id": "h", "node": "w0", "uid": "u", "operation": "Reboot", "by": "fleetlock", "state": "granted", "boot": "b",
     "since": "2026-11-15T08:00:00Z", "asked": "2026-11-15T08:00:00Z", "granted": "2026-11-15T08:01:00Z"}],
    "waiting": [{"node": "w1", "operation": "Reboot", "by": "fleetlock", "since": "2026-11-15T08:02:00Z", "asked": "2026-11-15T08:02:00Z"}]}
MAP = {"metadata": {"namespace": "default", "name": "slipway-slots-default", "resourceVersion": "2", "labels": {"slipway.dev/slots": "default"}},
       "data": {"slots": json.dumps(SLOTS)}}
HEAD = {"in": "begin", "format": "slipway.record/1.0", "seed": "7", "namespace": "default", "identity": "me"}
KINDS = ["nodes", "poddisruptionbudgets", "volumeattachments", "configmaps", "policies", "maintenances", "rollouts"]
WALL = 1794729600000000


def lists() -> list[dict]:
    lines = []
    for kind in KINDS:
        lines.append({"in": "list", "kind": kind})
        lines += [{"in": "put", "kind": kind, "object": obj} for obj in ({"nodes": NODE, "configmaps": MAP}.get(kind),) if obj]
        lines.append({"in": "listed", "kind": kind, "version": "3"})
    return lines


LINES = [HEAD, *lists(), {"in": "ready"}, {"in": "look"}, {"in": "step", "mono": 1000, "wall": WALL}]


class TestReplay(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.record = Path(scratch.name) / "record"

    def write(self, *lines: dict | str) -> None:
        self.record.write_text("".join(line if isinstance(line, str) else json.dumps(line, separators=(",", ":")) + "\n" for line in lines))

    def replay(self, *flags: str, code: int = DONE):
        result = run("replay", str(self.record), *flags)
        self.assertEqual(result.code, code, result)
        return result

    def test_state(self) -> None:
        self.write(*LINES)
        said = self.replay("--state").out
        self.assertIn("the engine then: 1 nodes, does not lead\n  policy default: 1 of 1 slots are held, term 3\n"
                      "    w0 granted since 2026-11-15T08:00:00Z, for fleetlock\n"
                      "    w1 waits since 2026-11-15T08:02:00Z, for fleetlock\n", said)
        self.assertIn("everything came out as it was recorded: ", said)

    def test_document(self) -> None:
        self.write(*LINES, '{"in":"st')
        found = json.loads(self.replay("-o", "json").out)
        self.assertEqual((found["schema"], found["differences"], found["torn"]), ("slipway.replay/1.0", 0, True))
        self.assertEqual([h["node"] for h in found["state"]["policies"][0]["held"]], ["w0"])

    def test_differs(self) -> None:
        self.write(*LINES, {"out": "note", "node": "w0", "reason": "SlotTaken"}, {"in": "poke"})
        said = self.replay(code=FAILED).out
        self.assertIn(f"line {len(LINES)} of the recording had another outcome:\n"
                      '  then: {"out":"note","node":"w0","reason":"SlotTaken"}\n', said)
        self.assertEqual(json.loads(self.replay("-o", "json", code=FAILED).out)["firstDifferenceLine"], len(LINES))

    def test_not_reached(self) -> None:
        self.write(*LINES)
        self.assertIn("does not come to that transition: there are 0", self.replay("--until", "1", code=FAILED).err)

    def test_no_recording(self) -> None:
        for text, said in (("", "no recording"), ("hello\n", "line 1: "), ("\0\n", "line 1: "), ('{"in":"step"}\n', "no recording")):
            with self.subTest(text=text):
                self.record.write_text(text)
                self.assertIn(said, self.replay(code=USAGE).err)
        self.write(HEAD, {"in": "put", "kind": "secrets"})
        self.assertIn('line 2: there are no "secrets"', self.replay(code=USAGE).err)

    def test_page_names_every_member(self) -> None:
        self.write(*LINES)
        page = PAGE.read_text(encoding="utf-8")

        def members(value: object) -> set[str]:
            if isinstance(value, dict):
                return set(value) | {m for v in value.values() for m in members(v)}
            return {m for v in value for m in members(v)} if isinstance(value, list) else set()

        for member in members(json.loads(self.replay("-o", "json").out)) - {"schema"}:
            self.assertIn(f"`{member}`", page, member)


if __name__ == "__main__":
    tap.main()
