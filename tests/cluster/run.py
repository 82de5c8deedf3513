"""Runs the suites against a real control plane, and then those that can against the simulator: `make test-cluster`.

    python3 tests/cluster/run.py [--real|--sim] [--jobs N] [--list] [PATTERN ...]

A PATTERN picks tests by their name, SUITE.TEST ("harness.nodes_are_ready"): a shell pattern, or a part of the name.
The program under test is $SLIPWAY (build/slipway), the probe is $PROBE (build/tests/cluster/probe).

For the simulator it starts `$SLIPWAY sim` instead of the control plane and runs the suites whose name begins with
"conformance", but for the tests marked real_only; $SLIPWAY_SIM_SEED and $SLIPWAY_SIM_SPEED are passed on.  Its tests are
called sim:SUITE.TEST.  --real and --sim (or SLIPWAY_CLUSTER=real|sim) leave the other half out.

--jobs N (or SLIPWAY_CLUSTER_JOBS) runs N suites beside each other, each worker with clusters of its own: tests wait for servers most of
the time.  Lines then come in the order in which tests end, with the numbers that they have without it.

One line a test, as TAP; what went wrong is above its line.  A skipped test is named with the reason; with
SLIPWAY_CLUSTER_REQUIRED=1 a skip is a failure, but for want of what a machine need not have (cargo).  A test that exceeds its
limit fails with the stacks of all threads.
The last line is `N passed, N failed`, with `, N skipped` when there are any; the status is 1 when something failed.
Logs of the clusters of failed tests are kept and their path is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import faulthandler
import fnmatch
import importlib
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

from binaries import CONTROL_PLANE, Binaries, BuildFailed, Unavailable
from cluster import Cluster
from context import DEFAULT_LIMIT, Context, Skip, Suite
from process import ClusterError, Died, kill_all
from sim import Simulator, has_simulator

HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent / "lib"))  # what suites share with other tests
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
GRACE = 120  # seconds a test has to clean up, or to unwind after its limit, before the whole run is ended


class TimedOut(BaseException):
    """Not an Exception, so that no test catches it by accident."""


@dataclass
class Test:
    name: str
    function: object

    sim: bool = False
    number: int = 0

    @property
    def label(self) -> str:
        return f"sim:{self.name}" if self.sim else self.name

    @property
    def suite(self) -> str:
        return self.name.partition(".")[0]

    @property
    def for_simulator(self) -> bool:
        return self.suite.startswith("conformance") and not hasattr(self.function, "real_only")


def discover(patterns: list[str], sim: bool) -> list[Test]:
    found = []
    for path in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(path.stem)
        suite = path.stem.removeprefix("test_")
        for key, value in vars(module).items():
            if key.startswith("test_") and callable(value):
                found.append(Test(f"{suite}.{key.removeprefix('test_')}", value, sim))
    if sim:
        found = [t for t in found if t.for_simulator]
    if not patterns:
        return found
    return [t for t in found if any(p in t.name or fnmatch.fnmatch(t.name, p) for p in patterns)]


class Shared:
    """A cluster for many tests, started when first asked for; one that cannot be started is not tried again."""

    def __init__(self, make, **options: object) -> None:
        self._make, self._options = make, options
        self.cluster: Cluster | None = None
        self._broken: Exception | None = None
        self.kept: set[Path] = set()

    def get(self) -> Cluster:
        if self._broken:
            raise ClusterError(f"the shared cluster could not be started: {self._broken}")
        if self.cluster is None:
            cluster = self._make(**self._options)
            try:
                self.cluster = cluster.start()
            except (ClusterError, Died) as error:
                self._broken = error
                self.kept.add(cluster.keep_logs())
                cluster.stop()
                raise ClusterError(f"{error}\nlogs: {cluster.logs}") from error
        return self.cluster

    def check(self, failed: bool) -> list[str]:
        """The next test gets a cluster that runs; after a failure the logs stay.  A test that broke it has failed."""
        cluster = self.cluster
        if cluster is None:
            return []
        if failed:
            self.kept.add(cluster.keep_logs())
        for component in cluster.components.values():
            if component.running:
                component.resume()
            else:
                self.kept.add(cluster.keep_logs())
                cluster.stop()
                self.cluster = None
                return [f"{component.name} of the shared cluster does not run any more: {component.log_tail()}"]
        return []

    def close(self) -> None:
        if self.cluster:
            self.cluster.stop()


class Runner:
    """Runs suites of one half, one after the other."""

    def __init__(self, sim: bool) -> None:
        self.sim = sim
        self.passed = self.skipped = 0
        self.required = os.environ.get("SLIPWAY_CLUSTER_REQUIRED") == "1"
        self.shared = Shared(self.make)
        self.still = Shared(self.make, controllers=False, kwok=False)
        self.suite = Suite()

    def make(self, **options: object) -> Cluster:
        kind = Simulator if self.sim else Cluster
        return kind(binaries=Context.cluster_binaries, **options)

    def make_other(self, **options: object) -> Cluster:
        """What make() does not make."""
        if self.sim:
            Context.cluster_binaries.need(*CONTROL_PLANE)
            return Cluster(binaries=Context.cluster_binaries, **options)
        if not has_simulator():
            raise Unavailable("the program under test has no simulator")
        return Simulator(binaries=Context.cluster_binaries, **options)

    def run(self, suite: list[Test], reason: str | None) -> None:
        """reason: why none of them can be run."""
        for test in suite:
            if reason:
                self.report_skip(test, reason)
            else:
                self.run_one(test, test is suite[-1])

    def report_skip(self, test: Test, reason: str, optional: bool = False) -> None:
        if self.required and not optional:
            say(f"# skipped, and SLIPWAY_CLUSTER_REQUIRED=1 makes that a failure: {reason}", f"not ok {test.number} - {test.label}")
        else:
            self.skipped += 1
            say(f"ok {test.number} - {test.label} # SKIP {reason}")

    def run_one(self, test: Test, last: bool) -> None:
        """last: no other test of its suite follows."""
        context = Context(test.name, self.shared.get, self.still.get, self.make, self.make_other, self.suite)
        begun = time.monotonic()
        trouble, skip = self.call(test, context)
        signal.alarm(GRACE)
        try:
            notes = context.close(failed=bool(trouble))
            if last:
                notes += self.close_suite()
        except TimedOut:
            notes = ["its clean-up did not end"]
            trouble = trouble or ["its clean-up did not end"]
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()
        seconds = time.monotonic() - begun
        trouble += self.shared.check(bool(trouble)) + self.still.check(bool(trouble))
        if skip is not None:
            self.report_skip(test, str(skip), skip.optional)
            return
        self.passed += not trouble
        say(*(f"# {line}" for line in (trouble + notes if trouble else [])),
            f"{'not ok' if trouble else 'ok'} {test.number} - {test.label} ({seconds:.1f} s)")

    def call(self, test: Test, context: Context) -> tuple[list[str], Skip | None]:
        """Runs the test under its limit: what went wrong, line by line, and why if it wants to be skipped."""
        seconds = max(getattr(test.function, "limit", 0), DEFAULT_LIMIT)
        stacks = tempfile.TemporaryFile("w+")

        def expired(*_):
            faulthandler.dump_traceback(stacks, all_threads=True)
            raise TimedOut

        signal.signal(signal.SIGALRM, expired)
        faulthandler.dump_traceback_later(seconds + 2 * GRACE, exit=True)
        signal.alarm(int(seconds) or 1)
        try:
            test.function(context)
            return [], None
        except Skip as skip:
            return [], skip
        except TimedOut:
            stacks.seek(0)
            return [f"it took longer than its limit of {seconds:g} s"] + stacks.read().splitlines(), None
        except (Exception, ClusterError):
            return describe(*sys.exc_info()), None
        finally:
            signal.alarm(0)

    def close_suite(self) -> list[str]:
        try:
            self.suite.close()
        except (Exception, ClusterError) as error:
            return [f"clean-up of the suite: {error}"]
        return []

    def close(self) -> None:
        self.shared.close()
        self.still.close()
        for path in sorted(self.shared.kept | self.still.kept):
            say(f"# logs kept: {path}")


def say(*lines: str) -> None:
    """In one write, so that those of several workers do not mix."""
    sys.stdout.flush()
    os.write(sys.stdout.fileno(), "".join(f"{line}\n" for line in lines).encode())


def describe(kind, error, trace) -> list[str]:
    """A traceback that begins in the test, not in the runner."""
    frames = traceback.extract_tb(trace)[1:]
    lines = "".join(traceback.format_list(frames)).splitlines()
    text = "".join(traceback.format_exception_only(kind, error)).splitlines()
    if isinstance(error, subprocess.TimeoutExpired):
        for name, output in (("stdout", error.stdout), ("stderr", error.stderr)):
            said = output.decode(errors="replace") if isinstance(output, bytes) else output or ""
            text += [f"{name}: {line}" for line in said.splitlines()[-10:]]
    return lines + text


def prepare(sim: bool) -> str | None:
    """Gets the programs, which may take minutes and is nobody's time limit; the reason when it cannot be done."""
    try:
        if not shutil.which("openssl"):
            raise Unavailable("no openssl command to make certificates with")
        Context.cluster_binaries = Context.cluster_binaries or Binaries()
        Context.cluster_binaries.need(*(["kubectl"] if sim else CONTROL_PLANE))
    except Unavailable as reason:
        return str(reason)
    return None


def by_suite(tests: list[Test]) -> list[list[Test]]:
    return [list(group) for _, group in itertools.groupby(tests, key=lambda t: (t.sim, t.suite))]


def work(suites: Iterator[list[Test]], reasons: dict[bool, str | None]) -> tuple[int, int]:
    """Runs them one after the other: how many passed, and how many were skipped.  All others have failed."""
    runners = {sim: Runner(sim) for sim in reasons}
    try:
        for suite in suites:
            runners[suite[0].sim].run(suite, reasons[suite[0].sim])
    finally:
        for runner in runners.values():
            runner.close()
    return sum(r.passed for r in runners.values()), sum(r.skipped for r in runners.values())


def work_beside(jobs: int, suites: list[list[Test]], reasons: dict[bool, str | None]) -> tuple[int, int]:
    """As work(), in processes of which each takes the next suite when it is done with one.  One that dies has counted nothing."""
    suites = sorted(suites, key=lambda suite: -sum(getattr(t.function, "limit", 0) for t in suite))  # what may take long first
    queue, results = os.pipe(), os.pipe()
    os.write(queue[1], b"".join(i.to_bytes(4, "big") for i in range(len(suites))))

    def taken() -> Iterator[list[Test]]:
        while number := os.read(queue[0], 4):
            yield suites[int.from_bytes(number, "big")]

    workers = []
    for _ in range(min(jobs, len(suites))):
        if pid := os.fork():
            workers.append(pid)
            continue
        status = 1
        try:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
            os.close(queue[1])
            os.write(results[1], b"%d %d\n" % work(taken(), reasons))
            status = 0
        except (KeyboardInterrupt, SystemExit):
            pass
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            kill_all()
            os._exit(status)
    for end in (queue[0], queue[1], results[1]):
        os.close(end)
    try:
        with open(results[0], encoding="ascii") as told:
            counts = [tuple(map(int, line.split())) for line in told]
        for pid in workers:
            os.waitpid(pid, 0)
    except BaseException:
        for pid in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        for pid in workers:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        raise
    return sum(c[0] for c in counts), sum(c[1] for c in counts)


def main() -> int:
    # A shell's background job begins with it ignored, and so would every program that is tested.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.set_defaults(only=os.environ.get("SLIPWAY_CLUSTER"))
    parser.add_argument("--real", dest="only", action="store_const", const="real", help="the control plane alone")
    parser.add_argument("--sim", dest="only", action="store_const", const="sim", help="the simulator alone")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("SLIPWAY_CLUSTER_JOBS") or 1), help="suites beside each other")
    parser.add_argument("--list", action="store_true", help="print the names of the tests and end")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    arguments = parser.parse_args()
    tests = [t for sim in (False, True) if arguments.only in (None, ("real", "sim")[sim]) for t in discover(arguments.patterns, sim)]
    if not tests:
        print(f"no test matches {' '.join(arguments.patterns)}", file=sys.stderr)
        return 2
    if arguments.list:
        print("\n".join(t.label for t in tests))
        return 0
    for number, test in enumerate(tests, 1):
        test.number = number
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        say(f"1..{len(tests)}")
        reasons = {sim: prepare(sim) for sim in sorted({t.sim for t in tests})}
        suites = by_suite(tests)
        if arguments.jobs > 1 and len(suites) > 1:
            passed, skipped = work_beside(arguments.jobs, suites, reasons)
        else:
            passed, skipped = work(iter(suites), reasons)
    except BuildFailed as error:
        print(f"# {error}", file=sys.stderr)
        print(f"0 passed, {len(tests)} failed", flush=True)
        return 1
    except KeyboardInterrupt:
        print("# interrupted", file=sys.stderr)
        return 130
    failed = len(tests) - passed - skipped
    more = f", {skipped} skipped" if skipped else ""
    print(f"{passed} passed, {failed} failed{more}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
