"""`slipway reboot`, `shutdown`, `rollout` and `history` in the simulator: what is made, what is refused, and what is said of it until it is over.

No controller runs here: what one would write is written by the tests, and the clock stands."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import LIMIT, SLIPWAY, environment  # noqa: E402
from test_locks import DONE, FAILED, REFUSED, USAGE, Case, at  # noqa: E402
from test_pause import GROUP, Own  # noqa: E402

BLOCKED, PARTIAL = 3, 6
ONE, MANY = "reboot-w1-20261116-120500", "reboot-20261116-120500"
FLEETLOCK = ("A node reboots by itself, when its FleetLock client (Zincati) asks and is told that it may; --by says who else does it\n")


class Orders(Own):
    def setUp(self) -> None:
        super().setUp()
        self.lease(at(5))

    def spec(self, kind: str, name: str) -> dict:
        return {k: v for k, v in self.there(kind, name)["spec"].items() if k != "paused"}

    def test_one_node(self) -> None:
        self.says("reboot w1 --reason 'new kernel'", f"maintenance/{ONE} created\n", FLEETLOCK)
        self.assertEqual(self.spec("maintenances", ONE),
                         {"node": "w1", "operation": "Reboot", "reason": "new kernel", "executor": {"fleetlock": {}}})

    def test_several(self) -> None:
        self.says("reboot 'w[1-2]' node/w4 --by sim", f"rollout/{MANY} created\n")
        self.assertEqual(self.spec("rollouts", MANY), {"nodes": ["w[1-2,4]"], "operation": "Reboot", "executor": {"sim": {}}})
        self.says("reboot -l kubernetes.io/hostname=w3 --by sim --name w3-now", "maintenance/w3-now created\n")

    def test_by_a_command(self) -> None:
        self.says("shutdown w1 --name off -- /bin/power --off w9", "maintenance/off created\n")
        self.assertEqual(self.spec("maintenances", "off"),
                         {"node": "w1", "operation": "Shutdown", "executor": {"exec": {"command": ["/bin/power", "--off", "w9"]}}})
        self.says("shutdown w2 --by http=http://power/off --name web", "maintenance/web created\n")
        self.assertEqual(self.spec("maintenances", "web")["executor"], {"http": {"url": "http://power/off"}})

    def test_dry_runs(self) -> None:
        for how, said in (("client", "dry run"), ("server", "server dry run")):
            self.says(f"reboot w1 --by sim --wait --dry-run={how}", f"maintenance/{ONE} created ({said})\n")
        self.assertIsNone(self.there("maintenances", ONE))

    def refused(self, line: str, *words: str, code: int = REFUSED) -> None:
        done = self.slipway(line)
        self.assertEqual((done.code, done.out), (code, ""), done)
        for word in words:
            self.assertIn(word, done.err)

    def test_a_policy_must_have_it(self) -> None:
        for name, node in (("one", "w1"), ("two", "w2"), ("again", "w2")):
            self.post(f"{GROUP}/policies", {"apiVersion": "slipway.dev/v1alpha1", "kind": "Policy", "metadata": {"name": name},
                                            "spec": {"nodeSelector": {"matchLabels": {"kubernetes.io/hostname": node}}}})
        self.refused("reboot 'w[1,3-4]'", "no Policy has w[3-4]: nobody says how many may be out at once")
        self.refused("reboot w2", "several Policies have w2")
        self.assertEqual(self.slipway("reboot w1").code, DONE)

    def test_a_policy_that_is_not_in_force(self) -> None:
        ready = {"type": "Ready", "status": "False", "reason": "Invalid", "message": "spec.drain is odd", "observedGeneration": 1,
                 "lastTransitionTime": at(1)}
        path = f"{GROUP}/policies"
        self.post(path, {"apiVersion": "slipway.dev/v1alpha1", "kind": "Policy", "metadata": {"name": "odd"}, "spec": {"nodeSelector": {}}})
        self.assertNotIn("odd", self.slipway("status").out)
        self.sim.client.patch(f"{path}/odd/status", {"status": {"conditions": [ready]}})
        text = "Policy odd is not in force, and nobody gets a slot of it: spec.drain is odd; mend what is named"
        self.assertTrue(" ".join(self.slipway("status").out.split()).startswith(f"! {text}. "), self.slipway("status").out)
        self.assertEqual(self.slipway("status -o wide").err, text + "\n")
        self.assertEqual([(p["name"], p["reason"]) for p in json.loads(self.slipway("status -o json").out)["notInForce"]], [("odd", "Invalid")])

    def test_another_is_under_way(self) -> None:
        self.maintenance("other", "Draining", "w1")
        self.maintenance("old", "Complete", "w2")
        self.refused("reboot w2 w1", "maintenance/other of node w1 is under way already (Reboot of it is Draining)",
                     "'slipway abort maintenance/other' ends it")
        self.assertEqual(self.slipway("reboot w2").code, DONE)

    def test_mistakes(self) -> None:
        self.refused("reboot nope", '"nope" not found', code=FAILED)
        self.refused("reboot -l a=b", "no node has these labels", code=FAILED)
        for line in ("shutdown w1", "shutdown w1 --by fleetlock", "reboot w1 --by me", "reboot w1 --by sim -- x", "reboot w1 --wait --no-wait"):
            self.refused(line, "error: ", code=USAGE)
        self.assertEqual(self.slipway("reboot").code, USAGE)


class NoController(Own):
    def test_no_controller(self) -> None:
        def refused() -> None:
            done = self.slipway("reboot w1")
            self.assertEqual((done.code, done.out), (REFUSED, ""))
            self.assertIn("no controller runs, so that nobody would carry it out", done.err)

        refused()
        self.lease("2026-11-16T11:00:00Z")
        refused()


class NoDefinitions(Case):
    def test_refused(self) -> None:
        self.lease(at(5))
        done = self.slipway("reboot w1")
        self.assertEqual((done.code, done.out), (REFUSED, ""))
        self.assertIn("the custom resources are not installed. 'slipway export crds | kubectl apply -f -' does that", done.err)
        self.says("rollout", "", "There are no Rollouts\n")
        self.says("history", "", "There are no Maintenances\n")
        self.says("pause x", "", 'error: there is no Maintenance and no Rollout "x"; nothing was changed. There are: none\n', FAILED)


class Following(Own):
    def setUp(self) -> None:
        super().setUp()
        self.lease(at(5))

    def start(self, *args: str) -> subprocess.Popen:
        process = subprocess.Popen([SLIPWAY, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=environment(**self.environment()))
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def write(self, kind: str, name: str, **status: object) -> None:
        self.sim.client.patch(f"{GROUP}/{kind}/{name}/status", {"status": status})

    def follow(self, *args: str) -> tuple[subprocess.Popen, str]:
        process = self.start("reboot", *args, "--by", "sim", "--wait")
        made = process.stdout.readline().split()[0]
        return process, made.split("/")[1]

    def line(self, process: subprocess.Popen, wanted: str) -> None:
        self.assertEqual(process.stderr.readline(), wanted + "\n")

    def test_until_it_is_done(self) -> None:
        process, name = self.follow("w1")
        self.line(process, "w1 Pending")
        self.write("maintenances", name, phase="Draining", blocker={"code": "PDBNoBudget", "object": "shop/web", "message": "needs 2, has 2"})
        self.line(process, "w1 Draining: PDBNoBudget shop/web: needs 2, has 2")
        self.write("maintenances", name, phase="Complete", blocker=None)
        self.line(process, "w1 Complete")
        self.assertEqual(process.wait(LIMIT), DONE)

    def test_halted(self) -> None:
        process, name = self.follow("w1")
        self.line(process, "w1 Pending")
        self.write("maintenances", name, phase="Halted")
        self.line(process, "w1 Halted")
        self.line(process, f"It stands still until somebody says how it goes on: 'slipway retry maintenance/{name}', skip or abort")
        self.assertEqual(process.wait(LIMIT), BLOCKED)

    def test_deleted(self) -> None:
        process, name = self.follow("w1")
        self.line(process, "w1 Pending")
        self.sim.client.call("DELETE", f"{GROUP}/maintenances/{name}")
        self.line(process, f'error: Maintenance "{name}" was deleted: it is cancelled')
        self.assertEqual(process.wait(LIMIT), FAILED)

    def test_ctrl_c(self) -> None:
        process, name = self.follow("w1")
        self.line(process, "w1 Pending")
        process.send_signal(signal.SIGINT)
        self.line(process, f"maintenance/{name} goes on without you: 'slipway pause maintenance/{name}' lets it wait, abort ends it")
        self.assertEqual(process.wait(LIMIT), 130)
        self.assertTrue(self.there("maintenances", name))

    def test_a_rollout(self) -> None:
        process, name = self.follow("w[1-2]")
        self.line(process, f"{name} Pending")
        counts = {"total": 2, "waiting": 1, "current": 1, "complete": 0, "failed": 0}
        self.write("rollouts", name, phase="Progressing", counts=counts)
        self.line(process, f"{name} Progressing: 0 of 2 nodes done, 1 under way, 1 waiting, 0 failed")
        self.maintenance(f"{name}-w1", "Draining", "w1", self.there("rollouts", name))
        self.line(process, "w1 Draining")
        self.write("rollouts", name, phase="Complete", counts=counts | {"complete": 1, "failed": 1, "current": 0, "waiting": 0})
        self.line(process, f"{name} Complete: 1 of 2 nodes done, 0 under way, 0 waiting, 1 failed")
        self.assertEqual(process.wait(LIMIT), PARTIAL)


class Shown(Own):
    def some(self) -> None:
        kernel = self.rollout("kernel", "Progressing", reason="new kernel")
        self.rollout("new")
        self.maintenance("kernel-w1", "Complete", "w1", kernel)
        self.maintenance("kernel-w2", "Draining", "w2", kernel)
        self.maintenance("single", "Halted", "w5")
        self.sim.client.patch(f"{GROUP}/maintenances/kernel-w2/status",
                              {"status": {"blocker": {"code": "PDBNoBudget", "object": "shop/web", "message": "needs 2, has 2"}}})

    def rows(self, text: str) -> list[list[str]]:
        return [[cell.strip() for cell in line.split("   ") if cell.strip()] for line in text.splitlines()]

    def test_rollouts(self) -> None:
        self.some()
        done = self.slipway("rollout --no-headers")
        rows = self.rows(done.out)
        self.assertEqual(rows[0][:7], ["kernel", "Reboot", "Progressing", "3", "1", "1", "0"])
        self.assertEqual(rows[1][:3], ["new", "Reboot", "Pending"])
        self.assertEqual(self.slipway("rollout -o name").out, "rollout/kernel\nrollout/new\n")

    def test_one(self) -> None:
        self.some()
        done = self.slipway("rollout rollout/kernel --no-headers")
        self.assertEqual(done.err, "Reboot of 3 nodes, Progressing: 1 done, 1 under way, 1 waiting, 0 failed\n")
        rows = self.rows(done.out)
        self.assertEqual([row[:2] for row in rows], [["w1", "Complete"], ["w2", "Draining"]])
        self.assertEqual(rows[1][-1], "PDBNoBudget shop/web: needs 2, has 2")
        self.assertIn("No node was begun yet", self.slipway("rollout new").err)
        found = json.loads(self.slipway("rollout kernel -o json").out)
        item, = found["items"]
        self.assertEqual((found["schema"], item["name"], item["total"], item["complete"]), ("slipway.rollout/1.0", "kernel", 3, 1))
        self.assertEqual([n["phase"] for n in item["nodes"]], ["Complete", "Draining"])
        self.assertEqual(item["nodes"][1]["blocker"]["code"], "PDBNoBudget")
        self.assertIn("phase: Progressing", self.slipway("rollout -o yaml").out)
        self.assertEqual(self.slipway("rollout nope").code, FAILED)
        self.assertEqual([self.slipway(f"rollout {a}").code for a in ("maintenance/x", "-w -o json", "a b", "-l a=b")], 4 * [USAGE])

    def test_one_that_never_began(self) -> None:
        """No node of it tells why it has failed."""
        self.rollout("typo", "Failed")
        why = "node set \"w[1-\", column 5: \"]\" is missing"
        at = "2026-11-15T08:00:00Z"
        self.sim.client.patch(f"{GROUP}/rollouts/typo/status", {"status": {
            "counts": {"total": 0, "current": 0, "complete": 0, "waiting": 0, "failed": 0}, "reason": "BadNodes",
            "conditions": [{"type": "Complete", "status": "False", "reason": "BadNodes", "message": "", "lastTransitionTime": at},
                           {"type": "Failed", "status": "True", "reason": "BadNodes", "message": why, "lastTransitionTime": at}]}})
        self.assertEqual(self.rows(self.slipway("rollout --no-headers").out)[0][-1], f"BadNodes: {why}")
        self.assertEqual(self.slipway("rollout typo").err,
                         f"Reboot of 0 nodes, Failed: 0 done, 0 under way, 0 waiting, 0 failed; BadNodes: {why}\nNo node was begun\n")

    def test_watch(self) -> None:
        self.some()
        with subprocess.Popen([SLIPWAY, "rollout", "kernel", "-w"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env=environment(**self.environment())) as process:
            try:
                self.assertTrue(process.stdout.readline().startswith("NODE"))
                self.assertRegex(process.stdout.readline(), "^w1 +Complete")
                self.assertRegex(process.stdout.readline(), "^w2 +Draining")
                self.sim.client.patch(f"{GROUP}/maintenances/kernel-w2/status", {"status": {"phase": "Operating", "blocker": None}})
                self.assertRegex(process.stdout.readline(), "^w2 +Operating")
            finally:
                process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(LIMIT), 130)

    def test_history(self) -> None:
        self.some()
        journal = [{"time": f"2026-11-16T12:0{i}:00Z", "from": a, "to": b, "reason": "x"} for i, (a, b) in enumerate(
            (("Queued", "Draining"), ("Draining", "Operating"), ("Operating", "Complete")))]
        self.sim.client.patch(f"{GROUP}/maintenances/kernel-w1/status", {"status": {"journal": journal}})
        done = self.slipway("history w1 --no-headers")
        row, = self.rows(done.out)
        self.assertEqual((row[:3], row[-1]), (["w1", "Reboot", "Complete"], "Draining 60s, Operating 60s"))
        item, = json.loads(self.slipway("history w1 -o json").out)["items"]
        self.assertEqual((item["name"], item["rollout"], item["phase"], item["ended"]), ("kernel-w1", "kernel", "Complete", at(2)))
        self.assertEqual([(p["phase"], p["seconds"]) for p in item["phases"]], [("Draining", 60), ("Operating", 60)])
        self.assertEqual(len(self.slipway("history --no-headers").out.splitlines()), 3)
        self.says("history w7", "", "There are no Maintenances of these nodes\n")
        self.assertEqual(self.slipway("history -w").code, USAGE)


if __name__ == "__main__":
    tap.main()
