"""`slipway controller` that is told to end while a command of its runs, in the simulator."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import LIMIT, SLIPWAY, environment, run  # noqa: E402
from simulation import Sim, until  # noqa: E402

GROUP = "/apis/slipway.dev/v1alpha1"


class Stopping(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.sim = self.enterContext(Sim("--scenario", "empty", "--nodes", "2", "--speed", "1"))
        for crd in json.loads(run("export", "crds", "-o", "json").out)["items"]:
            self.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
        until(lambda: any(r["name"] == "maintenances/status" for r in self.resources()), "our definitions")
        os.mkfifo(self.dir / "go")
        self.controller = subprocess.Popen(
            [SLIPWAY, "controller", "--allow-commands", "-n", "default", "--kubeconfig", str(self.sim.kubeconfig)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment())
        self.addCleanup(self.controller.communicate)
        self.addCleanup(self.controller.kill)

    def post(self, path: str, body: dict) -> None:
        code, answer = self.sim.client.call("POST", path, body)
        self.assertEqual(code, 201, answer)

    def resources(self) -> list[dict]:
        groups = self.sim.client.get("/apis")["groups"]
        return self.sim.client.get(GROUP)["resources"] if any(g["name"] == "slipway.dev" for g in groups) else []

    def status(self, name: str) -> dict:
        return self.sim.client.get(f"{GROUP}/maintenances/{name}").get("status", {})

    def begin(self, name: str, node: str, script: str) -> None:
        self.post(f"{GROUP}/maintenances", {
            "apiVersion": "slipway.dev/v1alpha1", "kind": "Maintenance", "metadata": {"name": name},
            "spec": {"node": node, "operation": "Reboot", "executor": {"exec": {"command": ["/bin/sh", "-c", script]}}}})

    def told(self) -> int:
        """It has begun, is told to end, and waits."""
        self.begin("m", "w1", f"echo $$ > {self.dir}/pid; read word < {self.dir}/go; exit $word")
        until(lambda: (self.dir / "pid").exists() and (self.dir / "pid").read_text().strip(), "the command")
        self.controller.send_signal(signal.SIGTERM)
        line = b""
        while b"ends when what it has begun is over: 1 operation" not in line:
            line = self.controller.stderr.readline()
            self.assertTrue(line, "it ended")
        return int((self.dir / "pid").read_text())

    def test_waits_for_the_command(self) -> None:
        pid = self.told()
        os.kill(pid, 0)
        self.assertIsNone(self.controller.poll())
        (self.dir / "go").write_text("3\n")
        self.assertEqual(self.controller.wait(LIMIT), 0)
        status = self.status("m")
        self.assertEqual((status["phase"], status["reason"]), ("Halted", "OperationFailed"))
        lease = self.sim.client.get("/apis/coordination.k8s.io/v1/namespaces/default/leases/slipway-controller")
        self.assertFalse(lease["spec"].get("holderIdentity"))
        self.assertIn(b"info: leads no longer", self.controller.stderr.read())

    def test_begins_no_other(self) -> None:
        self.sim.client.call("POST", f"{GROUP}/policies", {
            "apiVersion": "slipway.dev/v1alpha1", "kind": "Policy", "metadata": {"name": "all"},
            "spec": {"nodeSelector": {}, "maxUnavailable": 2}})
        self.told()
        self.begin("other", "w2", f"touch {self.dir}/other")
        until(lambda: self.status("other").get("phase") == "Granted", "the other one")
        (self.dir / "go").write_text("0\n")
        self.assertEqual(self.controller.wait(LIMIT), 0)
        self.assertEqual(self.status("other")["phase"], "Granted")
        self.assertFalse((self.dir / "other").exists())

    def test_a_second_signal_is_heard_at_once(self) -> None:
        self.told()
        self.controller.send_signal(signal.SIGTERM)
        self.assertEqual(self.controller.wait(LIMIT), 0)


if __name__ == "__main__":
    tap.main()
