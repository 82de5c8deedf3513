"""Runs every test of `make test` and counts every case.

    python3 tests/run.py [--build DIR] [--built] [--list] [PATTERN ...]

Two sorts of programs, both of which write TAP (testanything.org) on standard output:

  unit      every executable that meson has under tests/unit, written with cmocka: tests/unit/base/str.c is "base-str";
  scripts   tests/<kind>/test_*.py, each called "<kind>/<name>", except those of `make test-cluster`.

A PATTERN picks the programs that have it in their name.  Programs run beside each other, one for each processor.  They
find the program under test in $SLIPWAY and the build directory in $BUILD; their home is an empty directory and nothing of
the caller's Kubernetes configuration reaches them.

A case fails when it says so, and also when the plan promised it and it never came.  A program that dies, hangs, ends
with a status other than 0, or has no plan is a failure even if all that it printed was "ok".  A skipped case is named
with its reason: the text after "# SKIP", or, because cmocka has no place for one there, the last line "# skip: REASON"
before it.

The last line is `N passed, N failed`, with `, N skipped` when there are any.  Status 0 only when nothing failed and
something passed.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ELSEWHERE = {"cluster"}  # kinds that have a make target of their own
NOT_BUILT = {"proofs", "tools"}  # kinds that run nothing of the build directory
TIME_LIMIT = 300  # seconds; the slowest program takes a few, and sanitizers and a busy machine a multiple of that

PLAN = re.compile(r"^1\.\.(\d+)(?:\s*# skip\S*\s*(.*))?$", re.I)
CASE = re.compile(r"^(not )?ok (\d+)(?:\s+-\s*|\s+|$)(.*)$")
SKIP = re.compile(r"^(.*?)\s*(?<!\\)# skip\S*\s*(.*)$", re.I)
REASON = re.compile(r"^# skip: (.*)$")


@dataclass
class Program:
    name: str
    command: list[str]


@dataclass
class Result:
    """What one program had to say."""

    program: Program
    passed: int = 0
    failures: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # "case: reason"
    output: str = ""
    seconds: float = 0.0


def unit_programs(build: Path) -> list[Program]:
    """The executables of tests/unit as meson knows them: a forgotten file of an old build is not one."""
    with open(build / "meson-info" / "intro-targets.json", encoding="utf-8") as f:
        targets = json.load(f)
    return [Program(t["name"], [t["filename"][0]]) for t in targets
            if t["type"] == "executable" and (TESTS / "unit") in Path(t["defined_in"]).parents]


def scripts(left_out: set[str]) -> list[Program]:
    return [Program(f"{p.parent.name}/{p.stem.removeprefix('test_')}", [sys.executable, str(p)])
            for p in TESTS.glob("*/test_*.py") if p.parent.name not in left_out]


def parse(result: Result, tap: str, ending: str) -> None:
    """Reads TAP.  Several plans may follow each other: each cmocka group has its own.  ending: how the program ended, if
    badly."""
    planned = 0
    plans = 0
    seen = 0
    reason = ""
    for line in tap.splitlines():
        if m := PLAN.match(line):
            planned += int(m[1])
            plans += 1
            if m[1] == "0" and m[2] is not None:
                result.skipped.append(f"all: {m[2] or 'no reason given'}")
        elif m := REASON.match(line):
            reason = m[1]
        elif m := CASE.match(line):
            seen += 1
            name = m[3].strip()
            if skip := SKIP.match(name):
                # TAP has "name # SKIP reason", cmocka "# SKIP name".
                case, why = (skip[1], skip[2]) if skip[1] else (skip[2], reason)
                result.skipped.append(f"{case}: {why or 'no reason given'}")
                reason = ""
            elif m[1]:
                result.failures.append(name or f"case {m[2]}")
            else:
                result.passed += 1
    missing = max(planned - seen, 0)
    result.failures += [f"a test of the plan never came: {ending or 'the program ended without it'}"] * missing
    if not plans:
        result.failures.append(f"no plan: {ending or 'the program never said how many tests it has'}")
    elif seen > planned:
        result.failures.append(f"{seen} tests ran and {planned} were planned")
    if ending and not result.failures:
        result.failures.append(ending)


def run(program: Program, env: dict[str, str], limit: float) -> Result:
    result = Result(program)
    start = time.monotonic()
    ending = ""
    out = err = b""
    with tempfile.TemporaryDirectory(prefix="slipway-test-") as home:
        try:
            with subprocess.Popen(program.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env={**env, "HOME": home, "TMPDIR": home}, start_new_session=True) as child:
                try:
                    out, err = child.communicate(timeout=limit)
                except subprocess.TimeoutExpired:
                    ending = f"not finished after {limit:g} s"
                    kill_group(child.pid)
                    out, err = child.communicate()
                kill_group(child.pid)  # whatever it left behind
            if not ending and child.returncode < 0:
                ending = f"killed by signal {-child.returncode} ({signal.strsignal(-child.returncode)})"
            elif not ending and child.returncode:
                ending = f"ended with status {child.returncode}"
        except OSError as e:
            ending = f"cannot be started: {e}"
    result.seconds = time.monotonic() - start
    tap = out.decode("utf-8", "replace")
    result.output = tap + err.decode("utf-8", "replace")
    parse(result, tap, ending)
    return result


def kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def environment(build: Path) -> dict[str, str]:
    """The caller's, without what could lead a test to a real cluster, and with what makes runs alike."""
    env = {k: v for k, v in os.environ.items()
           if (not k.startswith(("SLIPWAY", "KUBE", "XDG_CONFIG")) or k == "SLIPWAY_FIXTURES")
           and k not in ("NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR")}
    env |= {
        "SLIPWAY": str(build / "slipway"),
        "BUILD": str(build),
        "CMOCKA_MESSAGE_OUTPUT": "TAP",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    env.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
    # Kubernetes' own test data lies in Go's module cache, which is found by the home directory.
    home = Path.home()
    env.setdefault("XDG_CACHE_HOME", str(home / ".cache"))
    env.setdefault("GOPATH", str(home / "go"))
    env.setdefault("GOCACHE", str(home / ".cache" / "go-build"))
    if "GOMODCACHE" not in env:
        env["GOMODCACHE"] = str(Path(env["GOPATH"].split(os.pathsep)[0]) / "pkg" / "mod")
    return env


def report(result: Result) -> None:
    counts = [f"{result.passed} passed"]
    if result.failures:
        counts.append(f"{len(result.failures)} FAILED")
    if result.skipped:
        counts.append(f"{len(result.skipped)} skipped")
    word = "FAIL" if result.failures else "ok"
    print(f"{word:5} {result.program.name:28} {', '.join(counts)}  ({result.seconds:.2f} s)")
    if result.failures:
        print("".join(f"    | {line}\n" for line in result.output.splitlines()), end="")
        for failure in result.failures:
            print(f"    failed: {failure}")
    for skipped in result.skipped:
        print(f"    skipped: {skipped}")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the tests of make test.")
    parser.add_argument("--build", default="build", type=Path, help="meson's build directory")
    parser.add_argument("--list", action="store_true", help="print the names of the programs, run nothing")
    parser.add_argument("--timeout", type=float, default=TIME_LIMIT, help="seconds one program may take")
    parser.add_argument("--built", action="store_true", help="leave out what does not run anything of the build directory")
    parser.add_argument("--only", nargs="+", metavar="COMMAND", help="run this program instead of the project's tests")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    args = parser.parse_args()
    build = args.build.resolve()

    if args.only:
        programs = [Program(Path(args.only[0]).name, args.only)]
    else:
        if not (build / "meson-info").is_dir():
            print(f"{args.build} is no build directory: run `make test`, or meson setup {args.build}", file=sys.stderr)
            return 64
        left_out = ELSEWHERE | NOT_BUILT if args.built else ELSEWHERE
        programs = sorted(unit_programs(build) + scripts(left_out), key=lambda p: p.name)
    if args.patterns:
        programs = [p for p in programs if any(pattern in p.name for pattern in args.patterns)]
    if args.list:
        print("\n".join(p.name for p in programs))
        return 0
    if not programs:
        print(f"no test has {' or '.join(args.patterns)} in its name; --list shows them all", file=sys.stderr)

    env = environment(build)
    results = []
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, p, env, args.timeout) for p in programs]):
            results.append(done.result())
            report(results[-1])
    passed = sum(r.passed for r in results)
    failed = sum(len(r.failures) for r in results)
    skipped = sum(len(r.skipped) for r in results)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
