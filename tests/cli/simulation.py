"""A simulated cluster that runs beside a test of this directory, and a client for its API that shares nothing with the program."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import re
import select
import shutil
import signal
import ssl
import subprocess
import time
from pathlib import Path
from typing import Callable

from program import LIMIT, SLIPWAY, Result, environment


class Client:
    """The API by a kubeconfig of the simulator, with a TLS check of its own."""

    def __init__(self, kubeconfig: Path | str) -> None:
        text = Path(kubeconfig).read_text()
        self.server = re.search(r"server: https://(\S+)", text)[1]
        self.token = re.search(r"token: (\S+)", text)[1]
        authority = base64.b64decode(re.search(r"certificate-authority-data: (\S+)", text)[1]).decode()
        self.context = ssl.create_default_context(cadata=authority)

    def connect(self) -> http.client.HTTPSConnection:
        host, _, port = self.server.rpartition(":")
        return http.client.HTTPSConnection(host.strip("[]"), int(port), timeout=LIMIT, context=self.context)

    def call(self, method: str, path: str, body: object = None, content_type: str = "application/json") -> tuple[int, dict]:
        with contextlib.closing(self.connect()) as c:
            c.request(method, path, None if body is None else json.dumps(body),
                      {"Authorization": f"Bearer {self.token}", "Content-Type": content_type, "Accept": "application/json"})
            answer = c.getresponse()
            return answer.status, json.loads(answer.read())

    def get(self, path: str) -> dict:
        code, body = self.call("GET", path)
        assert code == 200, body
        return body

    def pods(self, namespace: str = "default", **fields: str) -> list[dict]:
        selector = ",".join(f"{k.replace('__', '.')}={v}" for k, v in fields.items())
        return self.get(f"/api/v1/namespaces/{namespace}/pods?fieldSelector={selector}")["items"]

    def evict(self, pod: dict) -> tuple[int, dict]:
        meta = pod["metadata"]
        return self.call("POST", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/eviction",
                         {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": meta["name"]}})

    def patch(self, path: str, body: object) -> dict:
        code, answer = self.call("PATCH", path, body, "application/merge-patch+json")
        assert code == 200, answer
        return answer


class Sim:
    """A simulation that runs beside the test, with its output in pipes: `with Sim("--nodes", "3") as sim`."""

    def __init__(self, *args: str, ready: bool = True, limits: Callable[[], None] | None = None, **env: str | None) -> None:
        self.process = subprocess.Popen([SLIPWAY, "sim", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment(**env), preexec_fn=limits)
        self.out = ""
        if ready:
            self.read_until("Ctrl-C ends it.\n")
            self.kubeconfig = Path(re.search(r"export KUBECONFIG=(\S+)", self.out)[1])
            self.client = Client(self.kubeconfig)

    def read_until(self, piece: str, stream: str = "stdout") -> str:
        pipe, text, deadline = getattr(self.process, stream), "", time.monotonic() + LIMIT
        while piece not in text:
            assert select.select([pipe], [], [], max(deadline - time.monotonic(), 0))[0], f"{piece!r} never came, but {text!r}"
            data = os.read(pipe.fileno(), 65536)
            assert data, f"it ended without {piece!r}: {text!r} {self.process.stderr.read()!r}"
            text += data.decode()
        if stream == "stdout":
            self.out += text
        return text

    def end(self, number: int = signal.SIGINT) -> Result:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=LIMIT)
        return Result(self.out + out.decode(), err.decode(), self.process.returncode)

    def __enter__(self) -> Sim:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        # Of one that had to be killed.
        if getattr(self, "kubeconfig", None) and self.kubeconfig.parent.name.startswith("slipway-sim."):
            shutil.rmtree(self.kubeconfig.parent, ignore_errors=True)


def until(check: Callable[[], object], what: str) -> object:
    """Waits for something of the simulation, which has its own pace; never longer than LIMIT."""
    deadline = time.monotonic() + LIMIT
    while not (value := check()):
        assert time.monotonic() < deadline, f"{what} never came"
        time.sleep(0.02)
    return value
