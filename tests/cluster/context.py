"""What a test of `make test-cluster` is given: ctx.

A suite is a file test_NAME.py with functions test_WHAT(ctx).  They share one cluster (ctx.cluster) and clean up after
themselves by asking ctx for what they need: a namespace, nodes, processes, a temporary directory, all gone after the
test.  A test that breaks things takes a cluster of its own from ctx.private_cluster().

    from context import limit

    @limit(600)                       # seconds; 300 unless more is said
    def test_survives_a_restart(ctx):
        ns = ctx.namespace()
        child = ctx.spawn(ctx.probe, "watch", "pods", "-n", ns)
        child.expect("synced", 10)
        ctx.wait_for(lambda: ..., 30, "the pod to be seen")

Suites called conformance_* say what Kubernetes does.  They run on the real control plane, and with `run.py --sim` on the
simulator, where ctx.cluster is a sim.Simulator.  @real_only(reason) marks a test of what the simulator leaves out.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import Callable

from api import object_path
from binaries import Unavailable
from cluster import Cluster
from process import PATIENCE, ClusterError, wait_for

ROOT = Path(__file__).resolve().parent.parent.parent
DEFAULT_LIMIT = 300  # of a test that hangs; room for a few waits that nearly fail


class Skip(Exception):
    """Raised by ctx.skip().  optional: for want of somebody else's program that a machine need not have."""

    def __init__(self, reason: str, optional: bool = False) -> None:
        super().__init__(reason)
        self.optional = optional


def limit(seconds: float):
    """Decorator: a longer hard time limit for one test."""
    def mark(function):
        function.limit = seconds
        return function
    return mark


def real_only(reason: str):
    """Decorator: what the test is about is documented as left out of the simulator (server-side apply, CEL)."""
    def mark(function):
        function.real_only = reason
        return function
    return mark


class Suite:
    """What the tests of one file share, gone after the last of them."""

    def __init__(self) -> None:
        self.nodes: list[str] = []
        self.things: dict[str, object] = {}
        self.undo: list[Callable[[], object]] = []

    def close(self) -> None:
        actions, self.nodes, self.things, self.undo = self.undo, [], {}, []
        for action in reversed(actions):
            action()


class Child:
    """A program that runs beside the test; its output is read all the time and kept."""

    def __init__(self, argv: list[str], env: dict[str, str], cwd: Path, stdin: bool) -> None:
        self.argv = argv
        wrapper = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
        self.process = subprocess.Popen(wrapper + argv, env=env, cwd=cwd, start_new_session=True, text=True,
                                        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace")
        self.out: list[str] = []
        self.err: list[str] = []
        self._seen = 0
        self._readers = [threading.Thread(target=self._read, args=pair, daemon=True)
                         for pair in ((self.process.stdout, self.out), (self.process.stderr, self.err))]
        for reader in self._readers:
            reader.start()

    @staticmethod
    def _read(stream, lines: list[str]) -> None:
        for line in stream:
            lines.append(line.rstrip("\n"))

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def write(self, text: str) -> None:
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def expect(self, pattern: str, timeout: float = PATIENCE) -> re.Match:
        """The next line of its output (after the one expected last) in which the pattern is found; timeout as of wait_for()."""
        timeout = max(timeout, PATIENCE)
        deadline = time.monotonic() + timeout
        begin = self._seen
        while True:
            ended = not self.running
            if ended:
                for reader in self._readers:
                    reader.join(5)
            while self._seen < len(self.out):
                line = self.out[self._seen]
                self._seen += 1
                if match := re.search(pattern, line):
                    return match
            if ended or time.monotonic() > deadline:
                why = f"it ended with status {self.process.returncode}" if ended else f"{timeout:g} s passed"
                said = "\n".join(self.out[begin:][-20:] + ["-- stderr:"] + self.err[-20:])
                raise AssertionError(f"{self.name}: no line with /{pattern}/ and {why}; its output since:\n{said}")
            time.sleep(0.02)

    @property
    def name(self) -> str:
        return " ".join([Path(self.argv[0]).name, *self.argv[1:]])[:150]

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def close_stdin(self) -> None:
        self.process.stdin.close()

    def end(self, timeout: float = PATIENCE, number: int | None = signal.SIGTERM) -> int:
        """Sends the signal (None: just waits) and returns its status; AssertionError when it does not end in time."""
        if number is not None and self.running:
            self.process.send_signal(number)
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name}: still runs {timeout:g} s after "
                                 f"{signal.Signals(number).name if number else 'it should have ended'}") from None
        for reader in self._readers:
            reader.join(5)
        return self.process.returncode

    def kill(self) -> None:
        if self.running:
            self.process.kill()
            self.process.wait()


class Context:
    def __init__(self, name: str, shared: Callable[[], Cluster], still: Callable[[], Cluster],
                 make: Callable[..., Cluster], other: Callable[..., Cluster], suite: Suite) -> None:
        self.name = name
        self._shared, self._still, self._make, self._other, self._suite = shared, still, make, other, suite
        self._tmp: Path | None = None
        self._private: list[Cluster] = []
        self._children: list[Child] = []
        self._undo: list[Callable[[], object]] = []
        self.slipway = Path(os.environ.get("SLIPWAY") or ROOT / "build" / "slipway")
        self.probe = Path(os.environ.get("PROBE") or ROOT / "build" / "tests" / "cluster" / "probe")

    @property
    def cluster(self) -> Cluster:
        """The cluster all tests share; leave it as it was."""
        return self._shared()

    @property
    def still(self) -> Cluster:
        """Another cluster that all tests share: an API server alone, where what is written stays as it is."""
        return self._still()

    def private_cluster(self, **options) -> Cluster:
        """A started cluster for this test alone, stopped after it; options as of cluster.Cluster."""
        cluster = self._make(**options)
        self._private.append(cluster)
        return cluster.start()

    def counterpart(self, **options) -> Cluster:
        """As private_cluster(), of the other sort: the simulator beside a real cluster, or the other way round."""
        try:
            cluster = self._other(**options)
        except Unavailable as reason:
            self.skip(str(reason))
        self._private.append(cluster)
        return cluster.start()

    @property
    def tmp(self) -> Path:
        if self._tmp is None:
            self._tmp = Path(tempfile.mkdtemp(prefix="slipway-test-"))
        return self._tmp

    @staticmethod
    def wait_for(check: Callable[[], object], timeout: float, what: str, interval: float = 0.1):
        """Polls check() until it is true and returns its value; fails with the last value or error seen."""
        return wait_for(check, timeout, what, interval)

    @staticmethod
    def skip(reason: str, optional: bool = False) -> None:
        raise Skip(reason, optional)

    def undo(self, action: Callable[[], object]) -> None:
        """Something to do after the test, whatever its result; the last given comes first."""
        self._undo.append(action)

    # -- things in the shared cluster, gone after the test ---------------------------------------------------------

    def unique(self, prefix: str = "t") -> str:
        return f"{prefix}-{uuid.uuid4().hex[:8]}"

    def namespace(self, cluster: Cluster | None = None) -> str:
        """A new namespace (of the shared cluster, or of another) whose default service account is there."""
        cluster = cluster or self.cluster
        name, api = self.unique("test"), cluster.api
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        # From the first on nothing new is made in it; without the second its pods might yet come to the nodes of the next test.
        self.undo(lambda: api.raw("DELETE", f"/api/v1/namespaces/{name}/pods?gracePeriodSeconds=0"))
        # A controller that was killed there would keep that of the next test from its work.
        self.undo(lambda: api.raw("DELETE", f"/apis/coordination.k8s.io/v1/namespaces/{name}/leases/slipway-controller"))
        self.undo(lambda: api.delete(f"/api/v1/namespaces/{name}"))
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
        if cluster.with_controllers:
            wait_for(lambda: api.raw("GET", object_path(account))[0] == 200, 30, f"the service account of {name}")
        else:
            api.create(account)
        return name

    def nodes(self, count: int, **options) -> list[str]:
        """New nodes with a prefix of their own, labelled slipway.dev/test=<prefix>; options as of add_nodes()."""
        prefix, cluster = self.unique("n"), self.cluster
        labels = {"slipway.dev/test": prefix} | options.pop("labels", {})
        names = cluster.add_nodes(count, prefix=prefix, labels=labels, **options)
        self.undo(lambda: cluster.remove_nodes(names, f"slipway.dev/test%3D{prefix}"))
        return names

    def suite_nodes(self, count: int) -> list[str]:
        """Nodes that the tests of this file share; leave them as they were."""
        suite, cluster = self._suite, self.cluster
        if len(suite.nodes) < count:
            prefix = self.unique("s")
            made = cluster.add_nodes(count - len(suite.nodes), prefix=prefix, labels={"slipway.dev/test": prefix})
            suite.undo.append(lambda: cluster.remove_nodes(made, f"slipway.dev/test%3D{prefix}"))
            suite.nodes += made
        return suite.nodes[:count]

    def once(self, key: str, make: Callable[[], object]):
        """Something that the tests of this file share, made when first asked for; what it leaves behind goes to suite_undo()."""
        if key not in self._suite.things:
            self._suite.things[key] = make()
        return self._suite.things[key]

    def suite_cluster(self, **options) -> Cluster:
        """As private_cluster(), until the last test of this file."""
        cluster = self._make(**options).start()
        self.suite_undo(cluster.stop)
        return cluster

    def suite_undo(self, action: Callable[[], object]) -> None:
        """As undo(), after the last test of this file."""
        self._suite.undo.append(action)

    # -- programs --------------------------------------------------------------------------------------------------

    def environment(self, kubeconfig: Path | None, env: dict[str, str]) -> dict[str, str]:
        """The caller's environment without its Kubernetes settings, a home of its own, and the kubeconfig."""
        base = {k: v for k, v in os.environ.items() if not k.startswith(("KUBE", "SLIPWAY"))}
        return {**base, "HOME": str(self.tmp), "KUBECONFIG": str(kubeconfig or self.cluster.admin), **env}

    def run(self, *argv: str | Path, kubeconfig: Path | None = None, input: str | None = None, timeout: float = 120,
            check: bool = False, env: dict[str, str] = {}) -> subprocess.CompletedProcess:
        """Runs a program to its end; with check, a status other than 0 fails the test and shows its output."""
        command = [str(a) for a in argv]
        done = subprocess.run(command, env=self.environment(kubeconfig, env), cwd=self.tmp, input=input, text=True,
                              stdin=subprocess.DEVNULL if input is None else None, capture_output=True,
                              errors="replace", timeout=timeout)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: status {done.returncode}\n"
                                 f"{done.stdout}-- stderr:\n{done.stderr}")
        return done

    def spawn(self, *argv: str | Path, kubeconfig: Path | None = None, stdin: bool = False,
              env: dict[str, str] = {}) -> Child:
        """Starts a program beside the test; it is killed after the test if it still runs."""
        child = Child([str(a) for a in argv], self.environment(kubeconfig, env), self.tmp, stdin)
        self._children.append(child)
        return child

    def kill_children(self) -> None:
        """All that spawn() has started."""
        for child in self._children:
            child.kill()

    # -- the runner's side -----------------------------------------------------------------------------------------

    cluster_binaries = None

    def close(self, failed: bool) -> list[str]:
        """Cleans up; returns what a reader of a failure wants to see."""
        notes: list[str] = []
        for child in self._children:
            child.kill()
            if failed and child.err:
                notes += [f"stderr of {child.name}:"] + [f"  {line}" for line in child.err[-15:]]
        for action in reversed(self._undo):
            try:
                action()
            except (Exception, ClusterError) as error:
                notes.append(f"clean-up: {error}")
        for cluster in self._private:
            if failed:
                notes.append(f"logs: {cluster.keep_logs()}")
            cluster.stop()
        if self._tmp:
            shutil.rmtree(self._tmp, ignore_errors=True)
        return notes
