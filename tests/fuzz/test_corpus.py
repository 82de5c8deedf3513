"""The fuzz targets over what is known: fuzz/corpus (written by hand or found by a fuzzer) and Kubernetes' own test data.

Each target is a case that fails when the program ends badly: a broken promise ends it with a signal, and so does whatever the
sanitizers find in a build with them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(TOP / "tests"), str(TOP / "fuzz"), str(TOP / "tests" / "lib")]
import gomodules  # noqa: E402
import seeds  # noqa: E402
import tap  # noqa: E402

BUILD = Path(os.environ.get("BUILD") or TOP / "build")
TARGETS = re.findall(r"^  '(\w+)',$", (TOP / "fuzz" / "meson.build").read_text(encoding="utf-8"), re.M)
MODULES = gomodules.find()


def replay(target: str, directory: Path) -> None:
    files = sorted(f for f in directory.iterdir() if f.is_file())
    done = subprocess.run([BUILD / "fuzz" / f"fuzz-{target}", directory], capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise AssertionError(f"status {done.returncode} with the last of\n{done.stdout}\n{done.stderr}")
    assert len(done.stdout.splitlines()) == len(files) > 0, f"{len(files)} inputs in {directory}, run: {done.stdout}"


class Corpus(unittest.TestCase):
    def test_every_target_has_one(self) -> None:
        self.assertEqual(sorted(TARGETS), sorted(d.name for d in (TOP / "fuzz" / "corpus").iterdir()))

    def test_an_input_that_is_not_there(self) -> None:
        """The replay does not take a missing file for a good one."""
        done = subprocess.run([BUILD / "fuzz" / f"fuzz-{TARGETS[0]}", TOP / "no-such-file"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no-such-file", done.stderr)


@unittest.skipIf(MODULES.missing, MODULES.missing)
class Kubernetes(unittest.TestCase):
    def run_seeds(self, target: str) -> None:
        with tempfile.TemporaryDirectory() as directory:
            for name, data in seeds.seeds(MODULES)[target].items():
                Path(directory, name).write_bytes(data)
            replay(target, Path(directory))


for each in TARGETS:
    setattr(Corpus, f"test_{each}", lambda self, t=each: replay(t, TOP / "fuzz" / "corpus" / t))
    if each not in ("fleetlock", "nodeset", "patch", "selector", "server", "slots", "structural", "tape", "toml"):
        setattr(Kubernetes, f"test_{each}", lambda self, t=each: self.run_seeds(t))


if __name__ == "__main__":
    tap.main()
