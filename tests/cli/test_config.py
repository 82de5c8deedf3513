"""`slipway config import`: another FleetLock service's file as Policies, which this program itself takes."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import run  # noqa: E402

AIRLOCK = """\
# /etc/airlock/config.toml
[service]
address = "0.0.0.0"
port = 3333
tls = false

[etcd3]
endpoints = [ "http://127.0.0.1:2379" ]

[lock]
default_group_name = "default"
default_slots = 1

[[lock.groups]]
name = "workers"
slots = 2
"""
POLICIES = """\
apiVersion: slipway.dev/v1alpha1
kind: Policy
metadata:
  name: default
spec:
  nodeSelector:
    matchLabels:
      slipway.dev/fleetlock-group: default
  maxUnavailable: 1
  fleetlock:
    groups:
    - default
    denyStatus: 423
---
apiVersion: slipway.dev/v1alpha1
kind: Policy
metadata:
  name: workers
spec:
  nodeSelector:
    matchLabels:
      slipway.dev/fleetlock-group: workers
  maxUnavailable: 2
  fleetlock:
    groups:
    - workers
    denyStatus: 423
"""


class Config(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.file = Path(self.dir.name) / "airlock.toml"
        self.file.write_text(AIRLOCK)

    def test_import(self) -> None:
        done = run("config", "import", str(self.file))
        self.assertEqual((done.code, done.out), (0, POLICIES))
        self.assertEqual(len(done.err.splitlines()), 4, done.err)
        self.assertIn("not carried over: [etcd3]: etcd is not used, and who holds a slot there is not taken over", done.err)
        self.assertIn("kubectl label node NODE slipway.dev/fleetlock-group=workers", done.err)

    def test_refusals(self) -> None:
        self.file.write_text("[lock\n")
        for args, code, words in ((("import", str(self.file)), 64, "airlock.toml:1: "), (("import", "/nonexistent"), 64, "/nonexistent"),
                                  (("export", "x"), 64, "can import"), (("import",), 64, "")):
            done = run("config", *args)
            self.assertNotEqual(done.code, 0, args)
            self.assertEqual(done.out, "")
            self.assertIn(words, done.err)


if __name__ == "__main__":
    tap.main()
