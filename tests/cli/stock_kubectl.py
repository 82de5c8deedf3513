"""The kubectl that the program is compared with: the release that its lines were taken from."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from pathlib import Path

from program import LIMIT, Result, environment

RELEASE = "1.36."


def find() -> str | None:
    """Built for the tests on a real cluster, or on PATH; None when there is none of that release."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path(pwd.getpwuid(os.getuid()).pw_dir) / ".cache")
    candidates = [*sorted((cache / "slipway" / "cluster").glob(f"kubernetes-{RELEASE}*/kubectl"))]
    if assets := os.environ.get("KUBEBUILDER_ASSETS"):
        candidates.insert(0, Path(assets) / "kubectl")
    if on_path := shutil.which("kubectl"):
        candidates.append(Path(on_path))
    for program in candidates:
        if os.access(program, os.X_OK):
            said = subprocess.run([program, "version", "--client"], capture_output=True, text=True, timeout=LIMIT).stdout
            if f"v{RELEASE}" in said:
                return str(program)
    return None


def kubectl(program: str, *args: str, **env: str | None) -> Result:
    done = subprocess.run([program, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT,
                          env=environment(**env))
    return Result(done.stdout, done.stderr, done.returncode)
