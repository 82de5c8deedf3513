"""The checks of `make lint`: everything that can be said about the sources without running them.

    python3 tools/lint.py [--build DIR] [--format] [CHECK ...]

Each check is a function below whose first line says what it asks; a CHECK picks those that have it in their name.  It looks
at the files git knows or would add.  Prints what is wrong and, as the tests do, ends with `N passed, N failed`, counting
checks.  --format lays out the C files instead.
"""

from __future__ import annotations

import argparse
import ast
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Iterable

import layers

ROOT = Path(__file__).resolve().parent.parent
JOBS = len(os.sched_getaffinity(0))

# Verbs are tested by driving the program (tests/cli), and main() with them.
NO_UNIT_TEST = ("src/cli/cmd_*.c", "src/cli/main.c")
SHARED = ("support",)  # directories of tests/unit that are not a layer's


class Tree:
    """The files that are looked at, by kind, as paths relative to the top."""

    def __init__(self, build: Path) -> None:
        self.build = build
        out = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                             capture_output=True).stdout.decode()
        self.files = sorted({Path(f) for f in out.split("\0") if f and (ROOT / f).is_file()})
        self.c = [f for f in self.files if f.suffix in (".c", ".h")]
        self.python = [f for f in self.files if f.suffix == ".py"]
        self.shell = [f for f in self.files if f.suffix == ".sh" or first_line(f).startswith(("#!/bin/sh", "#!/usr/bin/env bash",
                                                                                             "#!/bin/bash"))]

    def commands(self) -> dict[Path, list[str]]:
        """How each C file is compiled: path relative to the top -> command."""
        with open(self.build / "compile_commands.json", encoding="utf-8") as f:
            entries = json.load(f)
        found = {}
        for entry in entries:
            path = Path(os.path.normpath(Path(entry["directory"]) / entry["file"]))
            if path.is_relative_to(ROOT):
                words = shlex.split(entry["command"])
                found[path.relative_to(ROOT)] = words[1:] if Path(words[0]).name == "ccache" else words
        return found


def first_line(path: Path) -> str:
    with open(ROOT / path, "rb") as f:
        return f.readline(120).decode("utf-8", "replace")


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """What a tool has to complain about; empty when it is content."""
    try:
        done = subprocess.run([str(c) for c in command], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace")
    except FileNotFoundError:
        return f"{command[0]} is not installed; `tools/setup.sh lint` installs it on Debian"
    if not done.returncode:
        return ""
    return done.stdout.strip() or f"{command[0]}: status {done.returncode}"


def each(items: Iterable[Path], one: Callable[[Path], str]) -> list[str]:
    """Runs a tool once for each file, on all processors."""
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return [text for text in pool.map(one, items) if text]


def run_version(tool: str) -> str:
    return subprocess.run([tool, "--version"], capture_output=True, text=True).stdout if shutil.which(tool) else ""


def closure(path: Path) -> list[Path]:
    """A source and all files of the tree that it includes, directly or not."""
    found = [path]
    for f in found:
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', f.read_text(encoding="utf-8"), re.M):
            for directory in (ROOT / "src", ROOT / "tests" / "unit", f.parent):
                if (directory / name).is_file() and directory / name not in found:
                    found.append(directory / name)
    return found


def system_headers() -> str:
    """The versions of the packages that headers outside of the tree come from; nothing where there is no dpkg."""
    if not shutil.which("dpkg-query"):
        return ""
    return subprocess.run(["dpkg-query", "-W", "*-dev"], capture_output=True, text=True).stdout


# --- the checks: each returns its complaints ---


def check_format(tree: Tree) -> list[str]:
    """clang-format would change nothing; `make format` mends it."""
    return [run("clang-format", "--dry-run", "-Werror", *tree.c)]


def check_tidy(tree: Tree) -> list[str]:
    """clang-tidy and the clang compiler's own warnings (.clang-tidy)."""
    commands = tree.commands()
    # An empty file for each source that had no complaint, named by all that clang-tidy looks at, wherever the tree lies.
    good = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "slipway" / "tidy"
    good.mkdir(parents=True, exist_ok=True)
    settings = [run_version("clang-tidy"), system_headers(),
                *sorted((ROOT / f).read_text() for f in tree.files if f.name == ".clang-tidy")]

    def tidy(f: Path) -> str:
        looked_at = [(p.relative_to(ROOT), p.read_bytes()) for p in closure(ROOT / f)]
        words = [word.replace(str(ROOT), "") for word in commands[f]]
        key = hashlib.sha256(repr((settings, words, looked_at)).encode())
        stamp = good / key.hexdigest()
        if stamp.exists():
            return ""
        complaint = run("clang-tidy", "--quiet", "-p", tree.build, "--extra-arg=-Wno-unknown-warning-option", f)
        if not complaint:
            stamp.touch()
        return complaint

    return each([f for f in commands if (ROOT / f).exists()], tidy)


def check_layers(tree: Tree) -> list[str]:
    """A lower layer never includes a higher one; engine and model are pure (tools/layers.py)."""
    count, breaches = layers.check(ROOT / "src")
    return breaches if count else ["src: no source files"]


def check_headers(tree: Tree) -> list[str]:
    """Every header of src/ compiles alone, in any order of inclusion."""
    flags = next((c for f, c in tree.commands().items() if f.parts[0] == "src"), None)
    if not flags:
        return ["compile_commands.json names no file of src/"]
    # The flags without what belongs to one object: -o FILE -c FILE, and the dependency file.
    keep = [flag for flag in flags if flag.startswith(("-I", "-D", "-W", "-std", "-f", "-isystem"))]
    return each([f for f in tree.c if f.suffix == ".h" and f.parts[0] == "src"],
                lambda f: run(flags[0], *keep, "-Werror", "-fdiagnostics-color=never", "-Wno-unused-function", "-U_FORTIFY_SOURCE", "-fsyntax-only", "-x", "c",
                              "-include", ROOT / f, os.devnull, cwd=tree.build))


def check_mirror(tree: Tree) -> list[str]:
    """Every src/x/y.c has its tests/unit/x/y.c, and whatever exists is in a meson.build."""
    wrong = []
    built = tree.commands()
    for f in (f for f in tree.files if f.suffix == ".c" and f.parts[0] in ("src", "tests")):
        if f not in built:
            wrong.append(f"{f}: not in the meson.build of its directory, so nothing builds it")
        if f.parts[0] == "src" and not any(f.match(p) for p in NO_UNIT_TEST):
            test = Path("tests/unit", *f.parts[1:])
            if test not in tree.files:
                wrong.append(f"{f}: its unit test, {test}, is missing")
        if f.parts[:2] == ("tests", "unit") and f.parts[2] not in SHARED:
            source = Path("src", *f.parts[2:])
            # A source may have further programs: transport_curl_tls.c tests transport_curl.c too.
            if not any(s.parent == source.parent and (s.stem == source.stem or source.stem.startswith(s.stem + "_"))
                       for s in tree.c if s.parts[0] == "src"):
                wrong.append(f"{f}: tests nothing; there is no {source}")
    return wrong


def check_shell(tree: Tree) -> list[str]:
    """shellcheck has nothing to say about the shell scripts."""
    return [run("shellcheck", *tree.shell)]


def check_python(tree: Tree) -> list[str]:
    """Python files compile, and pyflakes finds no unused or undefined name."""
    wrong = []
    for f in tree.python:
        try:
            ast.parse((ROOT / f).read_text(encoding="utf-8"), str(f))
        except (SyntaxError, UnicodeDecodeError) as e:
            wrong.append(f"{f}: {e}")
    return wrong or [run("pyflakes3", *tree.python)]


def check_text(tree: Tree) -> list[str]:
    """No blanks at the end of a line, no carriage return, no tab in C and Python, a newline at the end."""
    wrong = []
    for f in tree.files:
        data = (ROOT / f).read_bytes()
        if b"\0" in data or f.suffix in (".sum", ".svg") or f.parts[:2] == ("fuzz", "corpus"):
            continue
        for number, line in enumerate(data.split(b"\n"), 1):
            if line != line.rstrip():
                wrong.append(f"{f}:{number}: blanks at the end of the line")
            if b"\t" in line and f.suffix in (".c", ".h", ".py", ".sh"):
                wrong.append(f"{f}:{number}: a tab")
        if data and not data.endswith(b"\n"):
            wrong.append(f"{f}: no newline at the end")
    return wrong


def lay_out(tree: Tree) -> int:
    complaint = run("clang-format", "-i", *tree.c)
    if complaint:
        print(complaint)
    return 1 if complaint else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="The checks of make lint.")
    parser.add_argument("--build", default="build", type=Path, help="meson's build directory")
    parser.add_argument("--format", action="store_true", help="lay out the C files and check nothing")
    parser.add_argument("checks", nargs="*", metavar="CHECK")
    args = parser.parse_args()
    tree = Tree(args.build.resolve())
    if args.format:
        return lay_out(tree)

    passed = failed = 0
    for name, check in [(n[len("check_"):], f) for n, f in globals().items() if n.startswith("check_")]:
        if args.checks and not any(c in name for c in args.checks):
            continue
        start = time.monotonic()
        complaints = [c for c in check(tree) if c]
        word = "FAIL" if complaints else "ok"
        print(f"{word:5} {name:10} {check.__doc__} ({time.monotonic() - start:.1f} s)")
        for complaint in complaints:
            print("".join(f"    {line}\n" for line in complaint.splitlines()), end="")
        sys.stdout.flush()
        passed, failed = passed + (not complaints), failed + bool(complaints)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
