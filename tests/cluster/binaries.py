"""Finds, or builds once, the programs a real control plane is made of.

Three places are asked in this order:

1. the directory named by KUBEBUILDER_ASSETS;
2. the cache, ${XDG_CACHE_HOME:-~/.cache}/slipway/cluster;
3. the Go module proxy: each program is built from the go.mod and go.sum pinned beside this file and put into the cache.

K8S_VERSION (1.36, 1.33.13, ...) picks one of the pinned Kubernetes versions.  A cache directory carries a digest of
its pins in its name, so that a changed pin never meets an old binary.

As a command: `binaries.py` prints the path of every program, `binaries.py kubectl etcd` of those named,
`binaries.py --module k8s.io/api` the directory of a pinned Go module's source.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
BENCH = HERE.parent.parent / "bench"
DEFAULT_KUBERNETES = "1.36.3"
SKIP_STATUS = 77  # what the automake and meson test protocols call "skipped"

KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "etcdctl": "go.etcd.io/etcd/etcdctl/v3",
    "kwok": "sigs.k8s.io/kwok/cmd/kwok",
    "informers": ".",
    **{name: f"k8s.io/kubernetes/cmd/{name}" for name in (*KUBERNETES, "kubeadm")},
}
CONTROL_PLANE = (*KUBERNETES, "etcd", "kwok")


class Unavailable(Exception):
    """A program is neither there nor can it be built here: the reason why the suites are skipped."""


class BuildFailed(Exception):
    """Go was there and failed, or a version was asked for that is not pinned: an error, never a skip."""


def pinned_versions() -> list[str]:
    found = [d.name for d in (HERE / "versions").iterdir() if (d / "go.sum").exists()]
    return sorted(found, key=lambda v: [int(part) for part in v.split(".")])


def resolve_version(wanted: str | None) -> str:
    """'1.33' or '1.33.13' or 'v1.33.13' -> the pinned version meant; None -> the default."""
    pinned = pinned_versions()
    if not wanted:
        return DEFAULT_KUBERNETES
    number = wanted.removeprefix("v")
    matches = [v for v in pinned if v == number or v.startswith(number + ".")]
    if not matches:
        raise BuildFailed(f"K8S_VERSION={wanted}: not pinned under tests/cluster/versions; "
                          f"there are {', '.join(pinned)} (pin.py adds one)")
    return matches[-1]


def pin_of(name: str, version: str) -> Path:
    """The directory whose go.mod and go.sum decide what the program called name is built from."""
    if name == "informers":
        return BENCH / "informers"
    if name in ("etcd", "etcdctl"):
        return HERE / "etcd"
    if name == "kwok":
        return HERE / "kwok"
    return HERE / "versions" / version


def linker_flags(name: str, version: str) -> str:
    if name not in (*KUBERNETES, "kubeadm"):
        return "-s -w"
    major, minor, _ = version.split(".")
    stamps = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return " ".join(["-s -w"] + [f"-X {p}.{k}={v}" for p in packages for k, v in stamps.items()])


def cache_root() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "slipway" / "cluster"


def cache_dir(name: str, version: str) -> Path:
    pin = pin_of(name, version)
    digest = hashlib.sha256(linker_flags(name, version).encode())
    for path in sorted(p for p in pin.iterdir() if p.name in ("go.mod", "go.sum") or p.suffix == ".go"):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    label = f"kubernetes-{version}" if pin.parent.name == "versions" else pin.name
    return cache_root() / f"{label}-{digest.hexdigest()[:12]}"


def version_of(program: Path) -> str:
    """What a Kubernetes program says with --version: '1.36.3'."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60).stdout
    match = re.search(r"v(\d+\.\d+\.\d+)", said)
    if not match:
        raise BuildFailed(f"{program} --version said {said.strip()!r}, which names no version")
    return match.group(1)


class Binaries:
    """The paths of the programs of one Kubernetes version; missing ones are built when first asked for."""

    def __init__(self, version: str | None = None) -> None:
        wanted = version or os.environ.get("K8S_VERSION") or None
        assets = os.environ.get("KUBEBUILDER_ASSETS")
        self.assets = Path(assets) if assets else None
        if self.assets and not self.assets.is_dir():
            raise BuildFailed(f"KUBEBUILDER_ASSETS={assets}: no such directory")
        self.version = resolve_version(wanted)
        if self.assets and (self.assets / "kube-apiserver").exists():
            self._follow_assets(version_of(self.assets / "kube-apiserver"), wanted)
        self._found: dict[str, Path] = {}

    def _follow_assets(self, theirs: str, wanted: str | None) -> None:
        """What the assets lack must be of their minor version: a newer controller than its server is unsupported."""
        minor = theirs.rsplit(".", 1)[0]
        if wanted and self.version.rsplit(".", 1)[0] != minor:
            raise BuildFailed(f"K8S_VERSION={wanted}, but KUBEBUILDER_ASSETS holds Kubernetes {theirs}")
        with contextlib.suppress(BuildFailed):
            self.version = resolve_version(minor)

    def path(self, name: str) -> Path:
        return self.need(name)[name]

    def need(self, *names: str) -> dict[str, Path]:
        """All of these, built first if they are not there yet."""
        missing = []
        for name in names:
            if name in self._found:
                continue
            places = [self.assets] if self.assets else []
            places.append(cache_dir(name, self.version))
            there = next((p / name for p in places if os.access(p / name, os.X_OK)), None)
            if there:
                self._found[name] = there
            else:
                missing.append(name)
        by_pin: dict[Path, list[str]] = {}
        for name in missing:
            by_pin.setdefault(pin_of(name, self.version), []).append(name)
        for group in by_pin.values():
            self._found.update(build(group, self.version))
        return {name: self._found[name] for name in names}


def check_go(pin: Path, wanted_for: str) -> None:
    if not shutil.which("go"):
        raise Unavailable(f"no {wanted_for}: KUBEBUILDER_ASSETS is unset or lacks it, the cache {cache_root()} "
                          "has none, and there is no Go to build it with")
    env = {**os.environ, "GOTOOLCHAIN": "local"}
    said = subprocess.run(["go", "version"], capture_output=True, text=True, env=env).stdout
    have = re.search(r"go(\d+)\.(\d+)", said)
    need = re.search(r"^go (\d+)\.(\d+)", (pin / "go.mod").read_text(), re.M)
    if have and need and tuple(map(int, have.groups())) < tuple(map(int, need.groups())):
        raise Unavailable(f"no {wanted_for}: building it needs Go {'.'.join(need.groups())}, "
                          f"this is Go {'.'.join(have.groups())}")


@contextlib.contextmanager
def locked(path: Path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another build to end ({path})")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def say(text: str) -> None:
    print(f"# {text}", file=sys.stderr, flush=True)


def build(names: list[str], version: str) -> dict[str, Path]:
    """Builds programs of one pin directory into the cache; each appears there whole or not at all."""
    pin, target = pin_of(names[0], version), cache_dir(names[0], version)
    with locked(cache_root() / "build.lock"):
        missing = [n for n in names if not os.access(target / n, os.X_OK)]  # the other build may have made them
        if missing:
            for stale in cache_root().glob(".build-*"):  # of a build that was killed: the lock is ours now
                shutil.rmtree(stale, ignore_errors=True)
            check_go(pin, ", ".join(missing))
            say(f"building {', '.join(missing)} from {pin.relative_to(HERE.parent.parent)} (once; minutes)")
            with tempfile.TemporaryDirectory(prefix=".build-", dir=cache_root()) as scratch:
                for name in missing:
                    run_go_build(pin, name, version, Path(scratch) / name)
                target.mkdir(exist_ok=True)
                for name in missing:
                    os.rename(Path(scratch) / name, target / name)
    return {n: target / n for n in names}


def run_go_build(pin: Path, name: str, version: str, output: Path) -> None:
    env = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off"}
    command = ["go", "build", "-trimpath", "-ldflags", linker_flags(name, version), "-o", str(output), PACKAGES[name]]
    begun = time.monotonic()
    process = subprocess.Popen(command, cwd=pin, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines: list[str] = []
    reader = threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True)
    reader.start()
    try:
        while process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=30)
                continue
            say(f"  {name}: still building, {time.monotonic() - begun:.0f} s")
    finally:
        if process.poll() is None:
            process.kill()
    reader.join()
    if process.returncode != 0:
        tail = "".join(line for line in lines if not line.startswith("go: downloading"))[-3000:]
        raise BuildFailed(f"go build of {name} in {pin} failed with status {process.returncode}:\n{tail}")
    say(f"  {name}: built in {time.monotonic() - begun:.0f} s, {output.stat().st_size / 1e6:.0f} MB")


def module_dir(module: str, version: str | None = None) -> Path:
    """Where the source of a module pinned with Kubernetes lies (Kubernetes' own test data are in k8s.io/api)."""
    pin = HERE / "versions" / resolve_version(version or os.environ.get("K8S_VERSION"))
    check_go(pin, f"source of {module}")
    env = {**os.environ, "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
    ask = ["go", "list", "-m", "-f", "{{.Dir}}", module]
    found = subprocess.run(ask, cwd=pin, env=env, capture_output=True, text=True)
    if found.returncode == 0 and not found.stdout.strip():  # known, but not in the module cache yet
        subprocess.run(["go", "mod", "download", module], cwd=pin, env=env, capture_output=True, text=True)
        found = subprocess.run(ask, cwd=pin, env=env, capture_output=True, text=True)
    if found.returncode != 0 or not found.stdout.strip():
        raise BuildFailed(f"Go module {module}: {found.stderr.strip() or 'cannot be downloaded'}")
    return Path(found.stdout.strip())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PACKAGES)}")
    parser.add_argument("--module", metavar="MODULE", help="print the source directory of a pinned Go module instead")
    arguments = parser.parse_args()
    unknown = [n for n in arguments.names if n not in PACKAGES]
    if unknown:
        parser.error(f"unknown program {unknown[0]}")
    try:
        if arguments.module:
            print(module_dir(arguments.module))
            return 0
        for path in Binaries().need(*(arguments.names or CONTROL_PLANE)).values():
            print(path)
    except Unavailable as reason:
        say(f"skipped: {reason}")
        return SKIP_STATUS
    except BuildFailed as reason:
        say(str(reason))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
