"""The set-up of a machine, with dpkg-query, apt-get, sudo and id played by scripts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

SETUP = TOP / "tools" / "setup.sh"
# Beside the actors, only what the script itself needs.
REAL = ("sh", "env", "find", "head", "sed", "true")

# Knows of the packages in the file "installed"; has a removed one with its configuration left; notes that it was asked.
DPKG = """#!/bin/sh
echo dpkg-query >> $STAGE/calls
shift 3
status=0
for package; do
    if grep -qx "$package" $STAGE/installed; then echo "$package installed"
    elif [ "$package" = openssl ]; then echo "$package config-files"
    else echo "dpkg-query: no packages found matching $package" >&2; status=1; fi
done
exit $status
"""
# Fails as often as the file "fail" has lines.
APT = """#!/bin/sh
echo "$WHO apt-get $DEBIAN_FRONTEND $*" >> $STAGE/calls
if [ -s $STAGE/fail ]; then sed -i 1d $STAGE/fail; echo "E: mirror out of reach" >&2; exit 100; fi
"""
SUDO = """#!/bin/sh
[ -e $STAGE/sudo-allowed ] || exit 1
[ "$1" = -n ] && shift
WHO=root exec "$@"
"""


class Setup(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.stage = Path(holder.name)
        self.bin = self.stage / "bin"
        self.lists = self.stage / "lists"
        self.bin.mkdir()
        self.lists.mkdir()
        for name in ("grep", *REAL):
            path = next(p for d in ("/usr/bin", "/bin") if (p := Path(d, name)).exists())
            (self.bin / name).symlink_to(path)
        self.actor("dpkg-query", DPKG)
        self.actor("apt-get", APT)
        self.user(0)
        (self.stage / "installed").write_text("")
        (self.stage / "calls").write_text("")
        (self.lists / "mirror_dists_bookworm_main_binary-amd64_Packages.lz4").write_text("")

    def actor(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def user(self, number: int) -> None:
        self.actor("id", f"#!/bin/sh\necho {number}\n")

    def install(self, *packages: str) -> None:
        with open(self.stage / "installed", "a", encoding="utf-8") as f:
            f.writelines(p + "\n" for p in packages)

    def run_setup(self, *sets: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": str(self.bin), "STAGE": str(self.stage), "SLIPWAY_APT_LISTS": str(self.lists), "WHO": "user"}
        return subprocess.run(["/bin/sh", str(SETUP), *sets], env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def calls(self) -> list[str]:
        return [c for c in (self.stage / "calls").read_text().splitlines() if c != "dpkg-query"]

    def missing(self, *sets: str) -> list[str]:
        """What it wants when nothing is there."""
        self.run_setup(*sets)
        line = next(c for c in self.calls() if " install " in c)
        return line.split("--no-install-recommends ")[1].split()

    def test_nothing_missing(self) -> None:
        """It asks dpkg once, and does and says nothing."""
        self.install(*self.missing("test"))
        (self.stage / "calls").write_text("")
        done = self.run_setup("test")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual((self.stage / "calls").read_text().splitlines(), ["dpkg-query"])

    def test_root_installs_what_is_missing_and_no_more(self) -> None:
        every = self.missing("test")
        self.assertIn("meson", every)
        self.assertIn("libcmocka-dev", every)
        self.install(*[p for p in every if p not in ("meson", "openssl")])
        (self.stage / "calls").write_text("")
        done = self.run_setup("test")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.calls()), 1)
        self.assertTrue(self.calls()[0].startswith("user apt-get noninteractive "))
        self.assertTrue(self.calls()[0].endswith(" install -y --no-install-recommends meson openssl"), self.calls())
        self.assertEqual(done.stdout, "", "standard output belongs to the caller")

    def test_no_package_twice(self) -> None:
        every = self.missing("build", "test", "lint", "ci")
        self.assertEqual(len(every), len(set(every)))

    def test_sets_grow(self) -> None:
        sets = {}
        for name in ("build", "test", "lint", "fuzz", "ci"):
            (self.stage / "calls").write_text("")
            sets[name] = set(self.missing(name))
        self.assertLess(sets["build"], sets["test"])
        self.assertLess(sets["test"], sets["lint"])
        self.assertLess(sets["lint"], sets["ci"])
        self.assertLess(sets["build"], sets["fuzz"])

    def test_judges_of_tests_are_there(self) -> None:
        """A test that names a Debian package as what it is skipped without gets it."""
        suites = [f.read_text() for f in (TOP / "tests").glob("*/test_*.py")]
        named = {name for text in suites for name in re.findall(r"is not installed \(Debian: ([a-z0-9.+-]+)\)", text)}
        self.assertIn("python3-clustershell", named)
        self.assertLessEqual(named, set(self.missing("test")))

    def test_lists_are_fetched_when_there_are_none(self) -> None:
        for f in self.lists.iterdir():
            f.unlink()
        self.assertEqual(self.run_setup("build").returncode, 0)
        self.assertEqual([c.split()[6] for c in self.calls()], ["update", "install"])

    def test_old_lists_are_fetched_anew(self) -> None:
        (self.stage / "fail").write_text("1\n")
        done = self.run_setup("build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([c.split()[6] for c in self.calls()], ["install", "update", "install"])

    def test_mirror_out_of_reach(self) -> None:
        (self.stage / "fail").write_text("1\n2\n3\n4\n")
        done = self.run_setup("build")
        self.assertEqual(done.returncode, 1)
        self.assertIn("mirror out of reach", done.stderr)
        self.assertIn("setup: apt-get failed, see above.", done.stderr)
        self.assertIn("apt-get update && apt-get install -y --no-install-recommends gcc ", done.stderr)

    def test_no_lists_and_no_mirror(self) -> None:
        for f in self.lists.iterdir():
            f.unlink()
        (self.stage / "fail").write_text("1\n2\n3\n4\n")
        done = self.run_setup("build")
        self.assertEqual(done.returncode, 1)
        self.assertIn("setup: apt-get failed, see above.", done.stderr)

    def test_user_without_sudo_gets_the_command(self) -> None:
        self.user(1000)
        self.install("gcc", "libc6-dev")
        done = self.run_setup("build")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.calls(), [])
        self.assertIn("may not install them. As root, run:\n", done.stderr)
        self.assertIn("setup:   apt-get update && apt-get install -y --no-install-recommends libcmocka-dev ", done.stderr)

    def test_user_whom_sudo_refuses_gets_the_command(self) -> None:
        self.user(1000)
        self.actor("sudo", SUDO)
        done = self.run_setup("build")
        self.assertEqual((done.returncode, self.calls()), (1, []))
        self.assertIn("As root, run:", done.stderr)

    def test_user_with_sudo(self) -> None:
        self.user(1000)
        self.actor("sudo", SUDO)
        (self.stage / "sudo-allowed").write_text("")
        done = self.run_setup("build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.calls()[0].startswith("root apt-get noninteractive "), self.calls())

    def test_other_distribution_with_the_tools(self) -> None:
        (self.bin / "dpkg-query").unlink()
        self.actor("meson", "#!/bin/sh\n")
        done = self.run_setup("test")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_other_distribution_without_the_tools(self) -> None:
        (self.bin / "dpkg-query").unlink()
        done = self.run_setup("test")
        self.assertEqual(done.returncode, 1)
        self.assertIn("this is no Debian", done.stderr)
        self.assertIn("libcurl4-openssl-dev", done.stderr)

    def test_unknown_set(self) -> None:
        done = self.run_setup("tests")
        self.assertEqual(done.returncode, 64)
        self.assertIn('there is no set of packages "tests"', done.stderr)


if __name__ == "__main__":
    os.umask(0o022)
    tap.main()
