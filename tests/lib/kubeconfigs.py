"""Kubeconfig files of every form, and exec plugins, for the suites that are about who we are."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path


def inline(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def config(path: Path, cluster: dict | None = None, user: dict | None = None, context: dict | None = None,
           name: str = "test", **more: object) -> Path:
    """One cluster, one user, one context of that name; None leaves one out."""
    made: dict[str, object] = {"apiVersion": "v1", "kind": "Config", "current-context": name}
    if cluster is not None:
        made["clusters"] = [{"name": name, "cluster": cluster}]
    if user is not None:
        made["users"] = [{"name": name, "user": user}]
    made["contexts"] = [{"name": name, "context": {"cluster": name, "user": name, **(context or {})}}]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**made, **more}, indent=1, default=str))
    return path


class Plugin:
    """An exec credential plugin, a real program: its n-th run does the n-th of its steps, and the last one ever after.

    A step is what it prints (a dict: the status of an ExecCredential; text: that), or {"exit": 3, "stderr": "..."}, or
    {"sleep": seconds}.  It notes each run: its arguments and the environment that it was given.
    """

    def __init__(self, directory: Path, *steps: object, version: str = "v1", name: str = "plugin") -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.path = directory / name
        self._steps, self._runs = directory / f"{name}.steps", directory / f"{name}.runs"
        self.version = f"client.authentication.k8s.io/{version}"
        self._runs.touch()
        self.set(*steps)
        self.path.write_text(f"""#!{sys.executable} -IS
import fcntl, json, os, sys, time
steps = json.load(open({str(self._steps)!r}))
runs = open({str(self._runs)!r}, "a+")
fcntl.flock(runs, fcntl.LOCK_EX)
runs.seek(0)
number = len(runs.readlines())
runs.write(json.dumps({{"argv": sys.argv[1:], "env": dict(os.environ)}}) + "\\n")
runs.close()
step = steps["list"][min(number - steps["from"], len(steps["list"]) - 1)]
if isinstance(step, str):
    sys.stdout.write(step)
elif "exit" in step:
    sys.stderr.write(step.get("stderr", ""))
    sys.exit(step["exit"])
elif "sleep" in step:
    time.sleep(step["sleep"])
else:
    print(json.dumps({{"apiVersion": {self.version!r}, "kind": "ExecCredential", "status": step}}))
""")
        self.path.chmod(0o755)

    def set(self, *steps: object) -> None:
        """Other steps, from the next run on."""
        self._steps.write_text(json.dumps({"from": len(self.runs), "list": list(steps)}))

    @property
    def runs(self) -> list[dict]:
        return [json.loads(line) for line in self._runs.read_text().splitlines()]

    def user(self, **more: object) -> dict:
        return {"exec": {"apiVersion": self.version, "command": str(self.path), "interactiveMode": "Never", **more}}
