"""The generator of the simulator's table of inner types (tools/gotypes): src/sim/api/gotypes_data.c is what it prints."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

TOOL = TOP / "tools" / "gotypes"
TABLE = TOP / "src" / "sim" / "api" / "gotypes_data.c"
COMMAND = "cd tools/gotypes && go run . > ../../src/sim/api/gotypes_data.c"
ENV = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off", "GOPROXY": "off",
       "GOTOOLCHAIN": "local"}


def go(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["go", *args], cwd=TOOL, env=ENV, capture_output=True, text=True)


def missing() -> str:
    """Why the generator cannot run here; empty when it can."""
    if not shutil.which("go"):
        return "there is no Go to run the generator with"
    have = go("list", "-deps", ".")
    if have.returncode:
        return f"Go cannot build the generator here; `go mod download` in tools/gotypes may help: {have.stderr.splitlines()[0]}"
    return ""


MISSING = missing()


class Table(unittest.TestCase):
    @unittest.skipIf(MISSING, MISSING)
    def test_is_what_the_generator_prints(self) -> None:
        done = go("run", ".")
        self.assertEqual(done.returncode, 0, done.stderr)
        old = TABLE.read_text(encoding="utf-8")
        if done.stdout != old:
            diff = difflib.unified_diff(old.splitlines(), done.stdout.splitlines(), "committed", "generated", n=1, lineterm="")
            self.fail("`" + COMMAND + "` would change it:\n" + "\n".join(list(diff)[:40]))

    def test_says_how_it_is_made(self) -> None:
        self.assertIn(COMMAND, TABLE.read_text(encoding="utf-8")[:300])

    def test_versions_are_the_pinned_ones(self) -> None:
        """The table is of the Kubernetes version that the tests' control plane is built from."""
        newest = max((TOP / "tests" / "cluster" / "versions").iterdir(), key=lambda p: [int(n) for n in p.name.split(".")])
        pins = (newest / "go.mod").read_text(encoding="utf-8")
        ours = (TOOL / "go.mod").read_text(encoding="utf-8")
        for module in ("k8s.io/kubernetes", "k8s.io/apimachinery"):
            pinned = re.search(rf"\b{module} (v\S+)", pins)
            self.assertIsNotNone(pinned, module)
            self.assertRegex(ours, rf"\b{module} {re.escape(pinned[1])}\n")


@unittest.skipIf(MISSING, MISSING)
class Sources(unittest.TestCase):
    def test_go_vet(self) -> None:
        done = go("vet", "./...")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    @unittest.skipIf(not shutil.which("gofmt"), "there is no gofmt")
    def test_gofmt(self) -> None:
        done = subprocess.run(["gofmt", "-l", "."], cwd=TOOL, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    tap.main()
