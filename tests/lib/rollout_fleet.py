"""A fleet for rollouts on a real cluster: nodes with slow pods under budgets, machines that reboot when they are told to, and judges.

    with RolloutFleet(cluster, slipway, Shape(nodes=20, slots=4)) as fleet:
        fleet.run()
        fleet.judge()

Nothing here takes Slipway's word for it: budgets are judged by drain_watcher.py in a process of its own, who was out at the same time
by a watch of the Nodes, and who has rebooted by the machines themselves.  The lower bound is `slipway plan`'s, of the same nodes with as
many slots; how long the pods take to stop it is told as earlier drains would have told it (--history)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cluster"))

from api import Api  # noqa: E402
from cluster import Cluster  # noqa: E402
from drain_ground import Watcher  # noqa: E402
from drain_objects import slow  # noqa: E402
from fleetlock_client import Machine  # noqa: E402
from objects import budget, deployment  # noqa: E402
from process import wait_for  # noqa: E402
from shape import merged  # noqa: E402

GROUP = "/apis/slipway.dev/v1alpha1"
ROLE = "slipway.dev/test"
PER_NODE = 4  # pods
TOGETHER = 4  # workloads that are made at the same time


@dataclass(frozen=True)
class Shape:
    nodes: int
    slots: int
    replicas: int = 20  # of each workload: there are as many workloads as it takes
    at_once: str = "10%"  # that budgets allow
    ready: int = 3  # seconds until a pod is
    gone: int = 8  # seconds until one that was told to go is gone

    @property
    def workloads(self) -> int:
        return max(1, self.nodes * PER_NODE // self.replicas)

    @property
    def pods(self) -> int:
        return self.workloads * self.replicas


class Hook:
    """What stands for the machines: asked to reboot one, it comes back with another boot."""

    def __init__(self, api: Api) -> None:
        self.reboots: Counter[str] = Counter()
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                hook.reboots[asked["node"]] += 1
                self.send_response(204)
                self.end_headers()
                Machine(api, asked["node"]).boots()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Sentry:
    """Counts the nodes that are cordoned at the same time, by every version of every Node."""

    def __init__(self, api: Api, label: str) -> None:
        self.most, self.failed = 0, ""
        path = f"/api/v1/nodes?labelSelector={ROLE}%3D{label}"
        first = api.get(path)
        self.out = {n["metadata"]["name"] for n in first["items"] if n["spec"].get("unschedulable")}
        where = f"{path}&watch=true&allowWatchBookmarks=true&resourceVersion={first['metadata']['resourceVersion']}"
        threading.Thread(target=self.follow, args=(api, where), daemon=True).start()

    def follow(self, api: Api, where: str) -> None:
        try:
            for event in api.watch(where, timeout=None):
                if event["type"] == "ERROR":
                    self.failed = event["object"].get("message", "the watch has failed")
                    return
                if event["type"] != "BOOKMARK":
                    self.look(event["object"])
        except (OSError, ValueError) as error:
            self.failed = str(error)

    def look(self, node: dict) -> None:
        (self.out.add if node["spec"].get("unschedulable") else self.out.discard)(node["metadata"]["name"])
        self.most = max(self.most, len(self.out))


class RolloutFleet:
    def __init__(self, cluster: Cluster, slipway: Path, shape: Shape, name: str = "fleet", patience: float = 600) -> None:
        self.cluster, self.api, self.slipway, self.shape, self.name, self.patience = cluster, cluster.api, slipway, shape, name, patience
        self.said: list[str] = []
        self.process: subprocess.Popen | None = None

    def __enter__(self) -> "RolloutFleet":
        try:
            self.define()
            self.nodes = self.cluster.add_nodes(self.shape.nodes, prefix=self.name, labels={ROLE: self.name})
            self.furnish()
            self.hook, self.watcher, self.sentry = Hook(self.api), Watcher(self.cluster), Sentry(self.api, self.name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if hasattr(self, "hook"):
            self.hook.end()
            self.watcher.end()

    def define(self) -> None:
        crds = subprocess.run([self.slipway, "export", "crds"], check=True, capture_output=True, text=True).stdout
        self.cluster.kubectl("apply", "-f", "-", input=crds)
        for resource in ("policies", "maintenances", "rollouts"):
            wait_for(lambda resource=resource: self.api.raw("GET", f"{GROUP}/{resource}")[0] == 200, 60, f"{resource} to be served")

    def furnish(self) -> None:
        """Workloads, a few at a time: the plan takes how long a start takes from them, and a cluster that makes a thousand pods at once is
        slower than one that replaces some."""
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.name}})
        account = f"/api/v1/namespaces/{self.name}/serviceaccounts/default"
        wait_for(lambda: self.api.raw("GET", account)[0] == 200, 60, account)
        for first in range(0, self.shape.workloads, TOGETHER):
            made = range(first, min(first + TOGETHER, self.shape.workloads))
            self.api.bulk([obj for i in made for obj in self.workload(f"app-{i}")], workers=4)
            wait_for(lambda made=made: self.settled(made.stop), 120, f"{made.stop} workloads to be ready", interval=0.5)

    def workload(self, app: str) -> list[dict]:
        shape = self.shape
        spread = [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
                   "labelSelector": {"matchLabels": {"app": app}}}]
        made = deployment(app, self.name, shape.replicas, nodeSelector={ROLE: self.name}, terminationGracePeriodSeconds=shape.gone,
                          topologySpreadConstraints=spread)
        return [slow(made, ready=f"{shape.ready}s", gone=f"{shape.gone}s"),
                merged(budget(app, self.name, {"app": app}), {"spec": {"maxUnavailable": shape.at_once}})]

    def settled(self, workloads: int) -> bool:
        budgets = self.api.get(f"/apis/policy/v1/namespaces/{self.name}/poddisruptionbudgets")["items"]
        return len(budgets) == workloads and all(b.get("status", {}).get("currentHealthy") == self.shape.replicas for b in budgets)

    def start(self, *flags: str) -> None:
        """A policy for these nodes, and a controller."""
        self.api.call("POST", f"{GROUP}/policies", {
            "apiVersion": "slipway.dev/v1alpha1", "kind": "Policy", "metadata": {"name": self.name},
            "spec": {"nodeSelector": {"matchLabels": {ROLE: self.name}}, "maxUnavailable": self.shape.slots}})
        self.process = subprocess.Popen([self.slipway, "controller", "--kubeconfig", self.cluster.admin, "--namespace", self.name, "-v=2",
                                         "--allow-hooks", *flags], stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()
        wait_for(lambda: any("leads, in term" in line for line in self.said) and
                 any("the cluster is known" in line for line in self.said), 120, "the controller to lead")

    def read(self) -> None:
        for line in self.process.stderr:
            self.said.append(f"{time.time():.3f} {line.rstrip()}")

    def stop(self) -> None:
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def lower_bound(self) -> dict:
        """Of a drain of all of them with so many slots, by `slipway plan`."""
        with tempfile.NamedTemporaryFile("w", suffix=".ndjson") as history:
            for i in range(self.shape.workloads):
                history.write(json.dumps({"v": 1, "workload": f"{self.name}/Deployment/app-{i}", "stop": self.shape.gone}) + "\n")
            history.flush()
            done = subprocess.run([self.slipway, "plan", "drain", "-l", f"{ROLE}={self.name}", "--max-unavailable", str(self.shape.slots),
                                   "--uncordon", "--wait-rescheduled", "--history", history.name, "-o", "json", "--kubeconfig",
                                   self.cluster.admin], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["lowerBound"]

    def status(self) -> dict:
        return self.api.get(f"{GROUP}/rollouts/{self.name}").get("status", {})

    def begin(self) -> None:
        self.api.call("POST", f"{GROUP}/rollouts", {
            "apiVersion": "slipway.dev/v1alpha1", "kind": "Rollout", "metadata": {"name": self.name},
            "spec": {"operation": "Reboot", "reason": "kernel update", "executor": {"http": {"url": self.hook.url}},
                     "nodeSelector": {"matchLabels": {ROLE: self.name}}}})

    def run(self) -> float:
        """Seconds that it took, by the Rollout's own times: from its making until it was complete."""
        begun = time.monotonic()
        self.begin()
        wait_for(lambda: self.status().get("phase") in ("Complete", "Failed"), self.patience, "the rollout to be over", interval=0.2)
        return time.monotonic() - begun

    def judge(self) -> None:
        found, nodes = self.status(), len(self.nodes)
        assert found["phase"] == "Complete" and found["counts"]["complete"] == nodes, found
        assert sorted(self.hook.reboots) == sorted(self.nodes) and set(self.hook.reboots.values()) == {1}, "each of them once"
        assert not self.sentry.failed and 1 <= self.sentry.most <= self.shape.slots, (self.sentry.failed, self.sentry.most)
        seen = self.watcher.ask()
        gone = [p for p in seen["pods"].values() if p["ns"] == self.name and p["gone"]]
        assert len(gone) >= self.shape.pods // 2, "pods have moved"
        assert seen["broken"] == [], seen["broken"][:3]
        assert not [line for line in self.said if re.search(r"\berror\b", line)], self.said[-20:]
