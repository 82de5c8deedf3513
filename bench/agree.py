"""Does a holder really hold what it claims?  Its dump is compared, object by object and field by field, with what kubectl
prints of the same cluster."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))

from project import project  # noqa: E402

PAGE = 500
PATHS = {"Node": "/api/v1/nodes", "Pod": "/api/v1/pods", "PodDisruptionBudget": "/apis/policy/v1/poddisruptionbudgets"}


def kubectl_objects(kubectl: Path, kubeconfig: Path, path: str):
    """All objects at a path, page by page: kubectl would want gigabytes for 30,000 pods at once."""
    token = ""
    while True:
        url = f"{path}?limit={PAGE}" + (f"&continue={token}" if token else "")
        page = json.loads(subprocess.run([kubectl, "--kubeconfig", kubeconfig, "get", "--raw", url], check=True,
                                         capture_output=True).stdout)
        yield from page["items"]
        token = page["metadata"].get("continue", "")
        if not token:
            return


def key(obj: dict) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def dumped(process: subprocess.Popen, kind: str) -> dict[tuple[str, str], dict]:
    process.stdin.write(f"dump {kind}\n")
    process.stdin.flush()
    found = {}
    for line in process.stdout:
        obj = json.loads(line)
        if "dumped" in obj:
            return found
        found[key(obj)] = obj
    raise ValueError(f"the dump of {kind} broke off")


def disagreements(holder: list[str], probe: Path, kubectl: Path, kubeconfig: Path) -> tuple[int, list[str]]:
    """How many objects agree, and a line for each that does not."""
    tables = json.loads(subprocess.run([probe, "tables"], check=True, capture_output=True).stdout)
    agreed, wrong = 0, []
    with subprocess.Popen(holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        json.loads(process.stdout.readline())
        for kind, path in PATHS.items():
            ours = dumped(process, kind)
            for obj in kubectl_objects(kubectl, kubeconfig, path):
                obj.setdefault("kind", kind)
                have, want = ours.pop(key(obj), None), project(kind, obj, tables)
                for side in (have, want):
                    for name in ("kind", "apiVersion"):
                        (side or {}).pop(name, None)
                if have == want:
                    agreed += 1
                else:
                    wrong.append(f"{kind} {'/'.join(key(obj))}: {'missing' if have is None else 'differs'}")
            wrong += [f"{kind} {'/'.join(k)}: not in the cluster" for k in ours]
        process.stdin.close()
    return agreed, wrong
