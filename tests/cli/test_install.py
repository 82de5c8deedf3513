"""What `make install` puts where, the manual pages, and that the installed program runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import BUILD, LIMIT, run  # noqa: E402


def verbs() -> list[str]:
    text = run("help").out.split("Verbs:\n", 1)[1].split("\n\n", 1)[0]
    return [line.split()[0] for line in text.splitlines()]


class Pages(unittest.TestCase):
    """The manual pages, as the program writes them."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.temporary = tempfile.TemporaryDirectory()
        cls.directory = Path(cls.temporary.name)
        cls.result = run("__man", cls.temporary.name)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.temporary.cleanup()

    def test_one_for_each_verb(self) -> None:
        self.assertEqual((self.result.code, self.result.out, self.result.err), (0, "", ""))
        want = {"slipway.1"} | {f"slipway-{verb}.1" for verb in verbs()}
        self.assertEqual({p.name for p in self.directory.iterdir()}, want)

    def test_lint(self) -> None:
        if not shutil.which("mandoc"):
            self.skipTest("there is no mandoc")
        for page in sorted(self.directory.iterdir()):
            done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", str(page)], capture_output=True, text=True, timeout=LIMIT)
            self.assertEqual(done.stdout + done.stderr, "")

    def test_says_what_help_says(self) -> None:
        if not shutil.which("mandoc"):
            self.skipTest("there is no mandoc")
        for verb in verbs():
            done = subprocess.run(["mandoc", "-Tascii", "-Owidth=1000", str(self.directory / f"slipway-{verb}.1")],
                                  capture_output=True, text=True, timeout=LIMIT)
            page = " ".join("".join(c for i, c in enumerate(done.stdout) if done.stdout[i + 1:i + 2] != "\b" and c != "\b").split())
            for line in run("help", verb).out.splitlines():
                if line.startswith(f"  slipway {verb}") and "[flags]" not in line:
                    self.assertIn(line.strip(), page)
                if line.startswith(("  -", "      --")):
                    self.assertIn(line.strip().split("  ")[0], page)

    def test_repeats_to_the_byte(self) -> None:
        with tempfile.TemporaryDirectory() as other:
            self.assertEqual(run("__man", other, TZ="Asia/Tokyo", LC_ALL="C").code, 0)
            for page in self.directory.iterdir():
                self.assertEqual(page.read_bytes(), Path(other, page.name).read_bytes())


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        if not shutil.which("meson") or not (BUILD / "meson-info").is_dir():
            raise unittest.SkipTest("there is no meson build directory")
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.done = subprocess.run(["meson", "install", "-C", str(BUILD), "--no-rebuild", "--destdir", cls.temporary.name],
                                  capture_output=True, text=True, timeout=LIMIT, env=os.environ)
        prefix = subprocess.run(["meson", "introspect", str(BUILD), "--buildoptions"], capture_output=True, text=True, check=True)
        options = {o["name"]: o["value"] for o in json.loads(prefix.stdout)}
        cls.prefix = Path(cls.temporary.name, options["prefix"].lstrip("/"))
        cls.options = options

    def test_everything_is_there(self) -> None:
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        share, man = self.prefix / self.options["datadir"], self.prefix / self.options["mandir"] / "man1"
        wanted = {share / "bash-completion/completions/slipway": "bash", share / "zsh/site-functions/_slipway": "zsh",
                  share / "fish/vendor_completions.d/slipway.fish": "fish"}
        for path, shell in wanted.items():
            self.assertEqual(path.read_text(), run("completion", shell).out)
        with tempfile.TemporaryDirectory() as pages:
            run("__man", pages)
            for page in Path(pages).iterdir():
                self.assertEqual((man / page.name).read_bytes(), page.read_bytes())

    def test_links(self) -> None:
        binaries = self.prefix / self.options["bindir"]
        for name in ("kubectl-slipway", "kubectl_complete-slipway"):
            self.assertEqual(os.readlink(binaries / name), "slipway")
        done = run("completion", program=str(binaries / "kubectl-slipway"))
        self.assertIn("kubectl slipway completion --help", done.err)
        done = run("versi", program=str(binaries / "kubectl_complete-slipway"))
        self.assertEqual(done.out.splitlines()[-1], ":4")
        self.assertTrue(done.out.startswith("version\t"))

    def test_runs(self) -> None:
        done = run("version", "--client", program=str(self.prefix / self.options["bindir"] / "slipway"))
        self.assertEqual((done.code, done.out, done.err), (0, run("version", "--client").out, ""))

    def test_nothing_else(self) -> None:
        """Everything that is installed is meant to be."""
        found = {str(p.relative_to(self.prefix)) for p in self.prefix.rglob("*") if not p.is_dir()}
        pages = {f"{self.options['mandir']}/man1/{p}" for p in ["slipway.1", *(f"slipway-{v}.1" for v in verbs())]}
        binaries = {f"{self.options['bindir']}/{b}" for b in ("slipway", "kubectl-slipway", "kubectl_complete-slipway")}
        share = self.options["datadir"]
        self.assertLessEqual(found, pages | binaries | {
            f"{share}/bash-completion/completions/slipway", f"{share}/zsh/site-functions/_slipway",
            f"{share}/fish/vendor_completions.d/slipway.fish"})


if __name__ == "__main__":
    tap.main()
