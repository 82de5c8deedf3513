"""Pins one more Kubernetes version: writes versions/VERSION/go.mod and go.sum.

    python3 tests/cluster/pin.py 1.33.13

k8s.io/kubernetes cannot be depended on as it is: its go.mod replaces its staging modules by directories of its own
tree.  Each of them is therefore replaced here by the release of that module that belongs to the version.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from binaries import HERE, KUBERNETES, PACKAGES


def upstream_go_mod(version: str) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        asked = subprocess.run(["go", "mod", "download", "-json", f"k8s.io/kubernetes@v{version}"], cwd=scratch,
                               capture_output=True, text=True)
    answer = json.loads(asked.stdout or "{}")
    if "GoMod" not in answer:
        sys.exit(f"pin.py: k8s.io/kubernetes v{version}: {answer.get('Error') or asked.stderr.strip()}")
    return Path(answer["GoMod"]).read_text()


def pinned_go_mod(version: str, upstream: str) -> str:
    staging = sorted(set(re.findall(r"^\s*(\S+) => \./staging/src/", upstream, re.M)))
    go_line = re.search(r"^go \S+", upstream, re.M).group(0)
    release = "v0." + version.split(".", 1)[1]
    lines = ["module slipway.dev/tests/cluster/kubernetes", "", go_line, "",
             f"require k8s.io/kubernetes v{version}", "", "replace ("]
    lines += [f"\t{module} => {module} {release}" for module in staging]
    return "\n".join(lines + [")", ""])


def main() -> int:
    if len(sys.argv) != 2 or not re.fullmatch(r"\d+\.\d+\.\d+", sys.argv[1]):
        sys.exit("usage: pin.py VERSION (such as 1.33.13)")
    version = sys.argv[1]
    target = HERE / "versions" / version
    target.mkdir(parents=True, exist_ok=True)
    (target / "go.mod").write_text(pinned_go_mod(version, upstream_go_mod(version)))
    (target / "go.sum").unlink(missing_ok=True)
    packages = [PACKAGES[name] for name in (*KUBERNETES, "kubeadm")]
    env = {**os.environ, "GOFLAGS": "-mod=mod", "GOWORK": "off", "CGO_ENABLED": "0"}
    done = subprocess.run(["go", "list", "-deps", *packages], cwd=target, env=env, stdout=subprocess.DEVNULL)
    print(f"{target}: {'pinned' if done.returncode == 0 else 'failed'}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
