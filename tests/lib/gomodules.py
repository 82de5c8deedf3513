"""Where Go keeps the modules of the pinned Kubernetes version: the judge's test data and .proto files are in them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

VERSIONS = Path(__file__).resolve().parent.parent / "cluster" / "versions"


@dataclass
class Modules:
    api: Path  # k8s.io/api
    machinery: Path | None  # k8s.io/apimachinery
    missing: str  # why there is no test data; empty when there is

    @property
    def releases(self) -> list[str]:
        """The releases that there is data of: HEAD is the pinned one, the others are older."""
        return [] if self.missing else sorted(d.name for d in (self.api / "testdata").iterdir() if d.is_dir())

    def data(self, release: str, api_version: str, kind: str, suffix: str) -> Path:
        group, _, version = api_version.rpartition("/")
        return self.api / "testdata" / release / f"{group or 'core'}.{version}.{kind}.{suffix}"


def pinned() -> str:
    """The version of k8s.io/api that the newest control plane of the tests is built from."""
    newest = max(VERSIONS.iterdir(), key=lambda p: [int(n) for n in p.name.split(".")])
    m = re.search(r"\bk8s\.io/api (v\S+)", (newest / "go.mod").read_text(encoding="utf-8"))
    if not m:
        raise ValueError(f"{newest}/go.mod does not name k8s.io/api")
    return m[1]


def cache() -> Path:
    if "GOMODCACHE" in os.environ:
        return Path(os.environ["GOMODCACHE"])
    if go := shutil.which("go"):
        return Path(subprocess.run([go, "env", "GOMODCACHE"], capture_output=True, text=True, check=True).stdout.strip())
    return Path.home() / "go" / "pkg" / "mod"


def find() -> Modules:
    """SLIPWAY_FIXTURES names another directory of k8s.io/api."""
    version = pinned()
    api = Path(os.environ.get("SLIPWAY_FIXTURES") or cache() / f"k8s.io/api@{version}")
    machinery = cache() / f"k8s.io/apimachinery@{version}"
    missing = "" if (api / "testdata" / "HEAD").is_dir() else \
        f"no test data of Kubernetes: {api}/testdata/HEAD is missing; `go mod download k8s.io/api@{version}` brings it"
    return Modules(api, machinery if machinery.is_dir() else None, missing)
