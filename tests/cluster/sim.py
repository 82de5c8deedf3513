"""The simulator in the place of the real control plane: `slipway sim` with the face of cluster.Cluster.

    with Simulator(speed=20) as cluster:
        cluster.add_nodes(3)
        print(cluster.kubectl("get", "nodes"))

What the conformance suites need of it beside the API itself, all in this file:

  --no-controllers            as of up.py: the API alone, nothing schedules, starts or collects anything
  annotated Nodes             have a kubelet, as of kwok, until their machine hangs
  annotations of pods         how long they take to become ready, to stop and to end well: src/sim/fleet/machine.h
  resourceVersion 1           is before all that it remembers: 410

The world begins without nodes: the suites make their own, as on the real cluster.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import urllib.parse
from pathlib import Path

from api import Api
from binaries import Binaries
from cluster import Cluster
from process import ClusterError, Component, Died

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = "slipway-sim"
SEED = "1"
SPEED = "20"  # a pod's 30 seconds of grace are then 1.5
TIMING = "sim.slipway.dev/"


def program() -> Path:
    return Path(os.environ.get("SLIPWAY") or ROOT / "build" / "slipway")


def has_simulator() -> bool:
    """Whether the program under test knows the verb."""
    try:
        return subprocess.run([program(), "sim", "--help"], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60).returncode == 0
    except OSError:
        return False


class Simulator(Cluster):
    """
    nodes, seed, speed   as of the command; $SLIPWAY_SIM_SEED and $SLIPWAY_SIM_SPEED when not given
    controllers          False: --no-controllers
    cache                the same either way
    node_grace           a test that wants nodes to be given up soon: the clock runs faster instead
    """

    def __init__(self, nodes: int = 0, seed: str | None = None, speed: str | None = None, controllers: bool = True,
                 kwok: bool = True, cache: bool = True, node_grace: int | None = None, binaries: Binaries | None = None,
                 **unknown: object) -> None:
        if unknown:
            raise ClusterError(f"the simulator has no {', '.join(unknown)}: such a test cannot be a conformance test")
        self.binaries = binaries or Binaries()
        self.dir = Path(tempfile.mkdtemp(prefix="slipway-sim-"))
        self.logs = self.dir / "logs"
        self.logs.mkdir()
        self.with_controllers, self.with_kwok = controllers, kwok and controllers
        self.admin = self.dir / "admin.kubeconfig"
        self.ca = self.dir / "ca.crt"
        self.server_names = [PROGRAM]
        self._kept = False
        fast = "200" if node_grace is not None else os.environ.get("SLIPWAY_SIM_SPEED") or SPEED
        argv = [program(), "sim", "--scenario", "empty", "--seed", seed or os.environ.get("SLIPWAY_SIM_SEED") or SEED,
                "--speed", speed or fast, "--kubeconfig", self.admin, "--listen", "127.0.0.1:0",
                *([] if controllers else ["--no-controllers"])]
        self.components = {PROGRAM: Component(PROGRAM, argv, self.logs / f"{PROGRAM}.log", self.admin.exists)}

    def start(self) -> "Simulator":
        try:
            self[PROGRAM].start()
            self._connect()
        except (ClusterError, Died):
            self.keep_logs()
            raise
        except BaseException:
            self.stop()
            raise
        return self

    def _connect(self) -> None:
        """What the simulator wrote for its users is what the harness uses too."""
        said = subprocess.run([self.binaries.path("kubectl"), "config", "view", "--raw", "-o", "json"],
                              env={**os.environ, "KUBECONFIG": str(self.admin)}, capture_output=True, text=True)
        if said.returncode != 0:
            raise ClusterError(f"kubectl does not read the kubeconfig of the simulator: {said.stderr.strip()}")
        config = json.loads(said.stdout)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.ca.write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
        port = urllib.parse.urlsplit(cluster["server"]).port
        if not port:
            raise ClusterError(f"no port in {cluster['server']}, the server in the kubeconfig of the simulator")
        self.ports = [port]
        self._apis = [Api(port, self.ca, token=user["token"])]

    def stop(self) -> None:
        component = self[PROGRAM]
        if component.running:
            component.stop(timeout=10)
        if not self._kept:
            shutil.rmtree(self.dir, ignore_errors=True)

    @staticmethod
    def pod_timing(ready: str | None = None, gone: str | None = None, finish: str | None = None) -> dict[str, str]:
        # As of the real cluster's fake kubelets: until it is ready a pod is Pending (stages/pod-ready.yaml).
        given = {"start": ready, "stop": gone, "run": finish}
        return {TIMING + key: value for key, value in given.items() if value is not None}

    def forgotten_version(self) -> str:
        return "1"

    def add_ghost(self, name: str) -> None:
        self.api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})

    def leave(self, node: str) -> None:
        self.api.patch(f"/api/v1/nodes/{node}", {"metadata": {"annotations": {TIMING + "do": "hang"}}})

    def come_back(self, node: str) -> None:
        self.api.patch(f"/api/v1/nodes/{node}", {"metadata": {"annotations": {TIMING + "do": "on"}}})
