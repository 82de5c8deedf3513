"""Kubernetes' own tests of kubectl (test/cmd of its sources) against the real control plane and against the simulator.

    python3 tests/cluster/testcmd.py [--real] [--sim] [--list] [--keep DIR] [FUNCTION ...]

Without --real or --sim it does both.  A FUNCTION is a shell function of test/cmd/*.sh, "run_nodes_tests", a part of its name,
or a script, "wait.sh"; without one it is every function that concerns the verbs that the simulator serves (testcmd_lists.py
says which are not, and why).

Each function has a server, a directory and a shell of its own; the server is as upstream's hack/make-rules/test-cmd.sh has it:
controllers, and one Node, 127.0.0.1, without a kubelet.  The scripts come from the Go module cache and are the pinned ones;
for the simulator the lines that testcmd_lists.py names are left out, each for a reason that it names too.

Prints one line a function: what became of it, and where it stopped.  The status is 1 when a function ends otherwise than
testcmd_lists.py says.  --keep leaves the output of each function in a directory.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from binaries import SKIP_STATUS, Binaries, BuildFailed, Unavailable, module_dir
from cluster import Cluster
from process import ClusterError, Died, wait_for
from sim import Simulator
from testcmd_lists import INSTEAD, LATE, LEFT_OUT, LEFT_OUT_OF_BOTH, OTHER, STOPS

HERE = Path(__file__).resolve().parent
LIMIT = 300  # seconds a function may take; upstream's longest waits add up to 100
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "127.0.0.1", "annotations": {"save-managers": "true"}},
        "status": {"capacity": {"memory": "1Gi"}}}


@dataclass
class Ending:
    passed: bool
    where: str  # the line at which it stopped, and the command there
    seconds: float


class Upstream:
    """Kubernetes' sources in the module cache."""

    def __init__(self, version: str) -> None:
        self.root = module_dir("k8s.io/kubernetes", version)
        self.scripts = {path.name: path.read_text() for path in sorted((self.root / "test/cmd").glob("*.sh"))}

    def functions(self) -> dict[str, str]:
        """Every function that upstream would call, by the script that has it."""
        called = set(re.findall(r"record_command (run_\w+)", self.scripts["legacy-script.sh"]))
        found = {}
        for script, text in self.scripts.items():
            for name in re.findall(r"^(?:function )?(run_\w+) ?\(\)", text, re.M):
                if name in called:
                    found[name] = script
        return found

    def tree(self, where: Path, kubectl: Path, function: str, simulator: bool) -> None:
        """A root of Kubernetes' sources in which the scripts can write, and the function as it is run."""
        for entry in self.root.iterdir():
            if entry.name not in ("hack", "test"):
                (where / entry.name).symlink_to(entry)
        for inner, own in (("hack", "lib"), ("test", "cmd")):
            (where / inner).mkdir()
            for entry in (self.root / inner).iterdir():
                if entry.name == own:
                    shutil.copytree(entry, where / inner / own, copy_function=shutil.copyfile)
                else:
                    (where / inner / entry.name).symlink_to(entry)
        (where / "_output/bin").mkdir(parents=True)
        (where / "_output/bin/kubectl").symlink_to(kubectl)
        (where / "tmp").mkdir()
        for name, text in self.scripts.items():
            if name == self.functions()[function]:
                text = shorten(text, function, simulator)
            # two runs at a time must not share their files
            (where / "test/cmd" / name).write_text(re.sub(r"(?<![\w}])/tmp/", f"{where}/tmp/", text))


def shorten(text: str, function: str, simulator: bool) -> str:
    """The script without what testcmd_lists.py leaves out of this function; every other line keeps its number."""
    lines = text.split("\n")
    first = next(i for i, line in enumerate(lines) if re.match(rf"(function )?{function} ?\(\)", line))
    last = next((i for i in range(first + 1, len(lines)) if re.match(r"(function )?[\w-]+ ?\(\)", lines[i])), len(lines))
    for place in (i for i in range(first, last) if simulator and "managedFields" in lines[i]):
        lines[place:place + 2] = ["  :"] * 2  # the question and the comparison
    spans = LEFT_OUT_OF_BOTH.get(function, []) + (LEFT_OUT.get(function, []) if simulator else [])
    for begin, end, _why in spans:
        place = next((i for i in range(first, last) if begin in lines[i]), None)
        stop = None if place is None else next((i for i in range(place, last) if end in lines[i]), None)
        if place is None or stop is None:
            raise ClusterError(f"testcmd_lists.py leaves out of {function} what is not there: {begin!r} to {end!r}")
        lines[place:stop + 1] = ["  :"] * (stop + 1 - place)
    body = "\n".join(lines[first:last])
    for old, new, _why in INSTEAD.get(function, []) if simulator else []:
        if old not in body:
            raise ClusterError(f"testcmd_lists.py replaces in {function} what is not there: {old!r}")
        body = body.replace(old, new)
    return "\n".join([*lines[:first], body, *lines[last:]])


def run(upstream: Upstream, kind: type[Cluster], function: str, keep: Path | None) -> Ending:
    begun = time.monotonic()
    options = {"speed": "1"} if kind is Simulator else {"kwok": False}
    with kind(**options) as cluster, tempfile.TemporaryDirectory(prefix="slipway-testcmd-") as scratch:
        cluster.api.create(NODE)
        where = Path(scratch)
        if function in LATE:
            wait_for(lambda: cluster.api.get("/api/v1/nodes/127.0.0.1")["status"].get("conditions"), 120, "the Node to be given up")
        upstream.tree(where, cluster.binaries.path("kubectl"), function, simulator=kind is Simulator)
        report = where / "report"
        output = (keep / f"{kind.__name__.lower()}-{function}.log" if keep else where / "log").open("w")
        env = {key: value for key, value in os.environ.items() if not key.startswith(("KUBE", "SLIPWAY"))}
        env |= {"KUBECONFIG": str(config(cluster, where)), "SERVER": cluster.server(), "REPORT": str(report), "TERM": "dumb",
                "ALLOW_SKEW": "1", "TMPDIR": str(where / "tmp"),
                "SUPPORTED": "*" if kind is not Simulator else " ".join(served(cluster))}
        shell = subprocess.Popen(["bash", HERE / "testcmd/one.sh", function], cwd=where, env=env, stdin=subprocess.DEVNULL,
                                 stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            shell.wait(timeout=LIMIT)
            said = report.read_text().strip() if report.exists() else f"the shell ended with {shell.returncode}"
        except subprocess.TimeoutExpired:
            said = f"did not end within {LIMIT} s"
        finally:
            end(shell)
    if match := re.match(r"(\S+\.sh):(\d+)$", said):
        said = f"{said} {upstream.scripts[match[1]].splitlines()[int(match[2]) - 1].strip()}"
    return Ending(said == "passed", "" if said == "passed" else said, time.monotonic() - begun)


def served(cluster: Cluster) -> set[str]:
    """What the scripts may ask for, in the words that they use: they know servers that do not have everything."""
    words = set()
    for kind in json.loads(cluster.kubectl("api-resources", "-o", "json"))["resources"]:
        words |= {kind["name"], kind["singularName"], *kind.get("shortNames", [])}
    return words


def end(shell: subprocess.Popen) -> None:
    """The shell and whatever it left in the background."""
    try:
        os.killpg(shell.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    shell.wait()


def config(cluster: Cluster, where: Path) -> Path:
    """The administrator's kubeconfig with a context of the name that the scripts know."""
    path = where / "tmp/kubeconfig"
    shown = subprocess.run([cluster.binaries.path("kubectl"), "config", "view", "--raw", "--flatten", "-o", "json"],
                           env={**os.environ, "KUBECONFIG": str(cluster.admin)}, capture_output=True, text=True, check=True)
    whole = json.loads(shown.stdout)
    for cluster_entry in whole["clusters"]:  # the scripts say --insecure-skip-tls-verify, which excludes an authority
        cluster_entry["cluster"] = {"server": cluster_entry["cluster"]["server"], "insecure-skip-tls-verify": True}
    whole["contexts"] = [{"name": "test", "context": whole["contexts"][0]["context"]}]
    whole["current-context"] = "test"
    path.write_text(json.dumps(whole))
    return path


def pick(functions: dict[str, str], patterns: list[str]) -> list[str]:
    if not patterns:
        return [name for name in functions if name not in OTHER]
    return [name for name, script in functions.items()
            if any(p == script or p in name or fnmatch.fnmatch(name, p) for p in patterns)]


def show(function: str, endings: dict[str, Ending]) -> bool:
    """Prints the line; whether it is as testcmd_lists.py says."""
    words, right = [], True
    for side, ending in endings.items():
        expected = STOPS.get(function, {}).get(side)
        as_said = ending.passed if expected is None else not ending.passed and ending.where.startswith(expected[0])
        right &= as_said
        words.append(f"{side} {'passes' if ending.passed else 'stops'} {ending.seconds:.0f} s{'' if as_said else ' (!)'}")
    print(f"{function}: {', '.join(words)}")
    for side, ending in endings.items():
        if not ending.passed:
            print(f"    {side}: {ending.where[:180]}")
    sys.stdout.flush()
    return right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--real", action="store_true", help="against the real control plane")
    parser.add_argument("--sim", action="store_true", help="against the simulator, $SLIPWAY sim")
    parser.add_argument("--list", action="store_true", help="print the functions and end")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave the output of each function here")
    parser.add_argument("patterns", nargs="*", metavar="FUNCTION")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    both = arguments.real == arguments.sim
    kinds = {"real": Cluster} if arguments.real or both else {}
    kinds |= {"sim": Simulator} if arguments.sim or both else {}
    try:
        upstream = Upstream(Binaries().version)
        functions = upstream.functions()
        names = pick(functions, arguments.patterns)
        if arguments.list:
            for name, script in functions.items():
                print(f"{script:24} {name}{'  # ' + OTHER[name] if name in OTHER else ''}")
            return 0
        if not names:
            parser.error(f"no function matches {' '.join(arguments.patterns)}")
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
        right = [show(name, {side: run(upstream, kind, name, arguments.keep) for side, kind in kinds.items()}) for name in names]
        print(f"{sum(right)} as expected, {len(right) - sum(right)} not")
        return 0 if all(right) else 1
    except Unavailable as reason:
        print(f"# skipped: {reason}", file=sys.stderr)
        return SKIP_STATUS
    except (BuildFailed, ClusterError, Died) as reason:
        print(f"# {reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
