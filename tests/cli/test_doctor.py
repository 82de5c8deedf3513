"""`slipway doctor --pdbs` and `slipway status` in the simulator: what is said in every scenario, as golden files of
tests/fixtures/doctor and tests/fixtures/status, the order of the sections of a status, and the command line around both.

A golden file was read with an operator's eyes before it was kept.  To write them anew, and to read what has changed:

    SLIPWAY_GOLDEN=write python3 tests/cli/test_doctor.py; git diff tests/fixtures

The clock stands long before everything that happens, so that no ages are shown; names that chance makes are X.
That the fixes help is tried on a real cluster: tests/cluster/test_doctor.py.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import LIMIT, SLIPWAY, TOP, Result, environment, run  # noqa: E402
from simulation import Sim, until  # noqa: E402

FIXTURES = TOP / "tests" / "fixtures"
LONG_AGO = "2001-01-01T00:00:00Z"
WIDTH = 80
DONE, FAILED, CHANGES, BLOCKED, USAGE = 0, 1, 2, 3, 64
# What each scenario comes to, with --detailed-exitcode; others are in good health.
CODES = {"pdb-stuck": BLOCKED, "two-budgets": BLOCKED, "pinned": BLOCKED, "crash-loop": BLOCKED, "finalizer-stuck": BLOCKED, "full": BLOCKED,
         "webhook-less-edge": CHANGES, "jobs": CHANGES}
SMALL = {"empty": ("--nodes", "1"), "big": ("--nodes", "20")}
# Time goes on in these, so that what is there depends on when one looks.
MOVING = {"node-lost", "flapping-node"}
SECTIONS = ["Blockers", "Waves", "Nodes", "Locks", "Gates", "Next"]


def masked(text: str) -> str:
    """Without what chance made, and no line longer or shorter than before."""
    text = re.sub(r"\b(report|strict|patient)-[a-z0-9]{5}\b", lambda m: f"{m[1]}-XXXXX", text)
    text = re.sub(r"-[a-z0-9]{8,10}-[a-z0-9]{5}\b", lambda m: re.sub("[a-z0-9]", "X", m[0]), text)
    return re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", lambda m: re.sub("[0-9a-f]", "X", m[0]), text)


class Case(unittest.TestCase):
    maxDiff = None

    def slipway(self, sim: Sim, *args: str, **env: str | None) -> Result:
        return run(*args, KUBECONFIG=str(sim.kubeconfig), SLIPWAY_FAKE_NOW=LONG_AGO, **env)

    def golden(self, verb: str, scenario: str, text: str) -> None:
        path = FIXTURES / verb / f"{scenario}.txt"
        if os.environ.get("SLIPWAY_GOLDEN") == "write":
            path.write_text(text)
        self.assertEqual(text, path.read_text(), f"{path} has something else")


def scenarios() -> list[str]:
    return sorted(p.stem for p in (TOP / "scenarios").glob("*.yaml") if p.stem not in MOVING)


class Scenarios(Case):
    def test_every_scenario(self) -> None:
        for name in scenarios():
            with self.subTest(name), Sim("--scenario", name, *SMALL.get(name, ())) as sim:
                done = self.slipway(sim, "doctor", "--pdbs", "--all", "--detailed-exitcode")
                self.assertEqual((done.code, done.err), (CODES.get(name, DONE), ""), done.out)
                for line in done.out.splitlines():
                    self.assertTrue(len(line) <= WIDTH or re.match(" +(kubectl|slipway) ", line), line)
                    self.assertEqual(line, line.rstrip())
                self.golden("doctor", name, f"$ slipway doctor --pdbs --all\n{masked(done.out)}")
                status = self.slipway(sim, "status")
                self.assertEqual((status.code, status.err), (DONE, ""), status.out)
                self.golden("status", name, f"$ slipway status\n{masked(status.out)}")


class Doctor(Case):
    sim: Sim

    @classmethod
    def setUpClass(cls) -> None:
        cls.sim = Sim("--scenario", "pdb-stuck")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.sim.__exit__()

    def test_exit_codes(self) -> None:
        self.assertEqual(self.slipway(self.sim, "doctor", "--pdbs").code, DONE)
        self.assertEqual(self.slipway(self.sim, "doctor").code, DONE)
        self.assertEqual(self.slipway(self.sim, "doctor", "--detailed-exitcode").code, BLOCKED)
        self.assertEqual(self.slipway(self.sim, "doctor", "w1").code, USAGE)
        self.assertEqual(self.slipway(self.sim, "doctor", "-o", "xml").code, USAGE)

    def test_formats(self) -> None:
        doc = json.loads(self.slipway(self.sim, "doctor", "--pdbs", "-o", "json").out)
        self.assertEqual((doc["schema"], doc["nodes"], doc["blockedNodes"]), ("slipway.doctor/1.3", 3, ["w1", "w2", "w3"]))
        self.assertEqual([g["cause"] for g in doc["groups"]], ["max-unavailable-zero", "single-replica", "min-available-all"])
        self.assertEqual([i["check"] for i in doc["items"]], ["budget", "budget", "budget"])
        names = self.slipway(self.sim, "doctor", "--pdbs", "-o", "name").out.splitlines()
        self.assertEqual(names, [f"{f['object']['kind'].lower()}/{f['object']['namespace']}/{f['object']['name']}"
                                 for g in doc["groups"] for f in g["findings"]])
        wide = self.slipway(self.sim, "doctor", "--pdbs", "-o", "wide").out.splitlines()
        self.assertEqual(len(wide), 1 + len(names))
        self.assertTrue(wide[0].startswith("CAUSE ") and wide[0].endswith("FIX"), wide[0])
        bare = self.slipway(self.sim, "doctor", "--pdbs", "-o", "wide", "--no-headers").out.splitlines()
        self.assertEqual([line.split() for line in bare], [line.split() for line in wide[1:]])
        self.assertIn("\ngroups:\n", self.slipway(self.sim, "doctor", "--pdbs", "-o", "yaml").out)
        self.assertEqual(self.slipway(self.sim, "doctor", "-o", "jsonpath={.items[0].check}").out, "reach")

    def test_the_whole_report(self) -> None:
        """The server and the permissions first, then the groups, a sum at the end."""
        out = self.slipway(self.sim, "doctor").out
        self.assertRegex(out, r"^ok ok: https://|^\S+ ok: https://")
        self.assertLess(out.index("ok: https://"), out.index("budget allows no disruption"))
        self.assertRegex(out.splitlines()[-1], r"^\d+ ok, \d+ warnings?, \d+ bad$")
        ok, warnings, bad = map(int, re.findall(r"\d+", out.splitlines()[-1]))
        marks = [line[0] for line in out.splitlines() if re.match(r"[^\s\dA-Z] ", line)]
        self.assertEqual((marks.count("!"), marks.count("✗")), (warnings, bad), out)
        self.assertNotIn("https://", self.slipway(self.sim, "doctor", "--pdbs").out)

    def test_commands_are_whole(self) -> None:
        """What can be pasted is the same in the text and in the document, and a shell takes it for one command."""
        doc = json.loads(self.slipway(self.sim, "doctor", "--pdbs", "-o", "json").out)
        lines = [line.strip() for line in self.slipway(self.sim, "doctor", "--pdbs", "--all").out.splitlines()]
        commands = [x["command"] for g in doc["groups"] for f in g["findings"] for x in f["fixes"] if "command" in x]
        self.assertGreater(len(commands), 5)
        for command in commands:
            self.assertIn(command, lines)
            words = shlex.split(command)
            self.assertIn(words[0], ("kubectl", "slipway"))
            if "-p" in words:
                json.loads(words[words.index("-p") + 1])

    def test_many(self) -> None:
        """A screen is not filled by one cause: the first three, and how to see the others."""
        with Sim("--scenario", "empty", "--nodes", "2") as sim:
            for i in range(12):
                body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"bare-{i:02}"},
                        "spec": {"nodeName": f"w{i % 2 + 1}", "containers": [{"name": "c", "image": "example.com/a:1"}]}}
                until(lambda: sim.client.call("POST", "/api/v1/namespaces/default/pods", body)[0] == 201, "the pod")
            out = self.slipway(sim, "doctor", "--pdbs").out
            self.assertIn("12 pods have no controller: nothing brings them back (BarePod)", out)
            self.assertEqual(len(re.findall(r"^    default/bare-\d\d: ", out, re.M)), 3)
            self.assertIn("and 9 more; 12 pods in all, on 2 nodes: w[1-2]", out)
            self.assertEqual(len(re.findall(r"^    default/bare-\d\d: ", self.slipway(sim, "doctor", "--pdbs", "--all").out, re.M)), 12)
            self.assertEqual(len(self.slipway(sim, "doctor", "--pdbs", "-o", "name").out.splitlines()), 12)
            self.assertIn("  and 7 more: slipway status --details=health\n", self.slipway(sim, "status").out)
            self.assertNotIn("more", self.slipway(sim, "status", "--details=health").out)


class Clock(Case):
    """What is late is so by the server's clock: ours may be anything."""

    def test_a_pod_that_should_be_gone(self) -> None:
        with Sim("--no-controllers", "--scenario", "empty", "--nodes", "1", "--speed", "500") as sim:
            c = sim.client
            c.call("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
            code, pod = c.call("POST", "/api/v1/namespaces/default/pods", {
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "hangs"},
                "spec": {"nodeName": "w1", "containers": [{"name": "c", "image": "example.com/c:1"}], "terminationGracePeriodSeconds": 30}})
            self.assertEqual(code, 201, pod)
            self.assertEqual(c.call("DELETE", "/api/v1/namespaces/default/pods/hangs")[0], 200)

            def codes(*args: str) -> set[str]:
                done = run(*args, "-o", "json", KUBECONFIG=str(sim.kubeconfig))
                doc = json.loads(done.out)
                found = doc["groups"] if args[0] == "doctor" else doc["links"] if args[0] == "why" else doc["items"][0]["blockers"]
                return {x["code"] for x in found if "code" in x}
            # 500 seconds of the server's pass in one of ours: by our clock it is not late before minutes have passed.
            for args in (("doctor", "--pdbs"), ("status", "w1"), ("why", "w1")):
                until(lambda: "PodTerminatingStuck" in codes(*args), f"{args[0]} that sees it late")


class Checks(Case):
    """A cluster with KubeVirt: what its check says is in the report, with the nodes."""

    def machine(self, sim: Sim, name: str, **status: object) -> None:
        body = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance", "metadata": {"name": name},
                "spec": {"evictionStrategy": "LiveMigrate"}, "status": {"nodeName": "w1", "phase": "Running"} | status}
        path = "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances"

        def made() -> bool:
            try:
                return sim.client.call("POST", path, body)[0] == 201
            except json.JSONDecodeError:  # "404 page not found": it is not served yet
                return False
        until(made, "the virtual machine")

    def define(self, sim: Sim) -> None:
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": "virtualmachineinstances.kubevirt.io"},
                "spec": {"group": "kubevirt.io", "scope": "Namespaced",
                         "names": {"plural": "virtualmachineinstances", "kind": "VirtualMachineInstance"},
                         "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}
        code, answer = sim.client.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)
        self.assertEqual(code, 201, answer)

    def test_what_a_check_denies(self) -> None:
        with Sim("--scenario", "empty", "--nodes", "2") as sim:
            self.define(sim)
            condition = {"type": "LiveMigratable", "status": "True"}
            self.machine(sim, "free", conditions=[condition])
            # A drain ends when the machine has left: that is told before it begins, as in a plan.
            done = self.slipway(sim, "doctor", "--pdbs", "--detailed-exitcode")
            self.assertEqual(done.code, BLOCKED, done.out)
            self.assertIn("KubeVirt holds up the end of a drain of w1 (EvictionInProgress)", done.out)
            self.assertIn("A drain of 1 of 2 nodes would wait: w1", done.out)
            done = self.slipway(sim, "why", "w1")
            self.assertEqual(done.code, BLOCKED, done.out)
            self.assertIn("when its pods are gone the drain waits: kubevirt: virtual machine default/free", " ".join(done.out.split()))
            sim.client.call("DELETE", "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/free", None)
            done = self.slipway(sim, "doctor", "--detailed-exitcode")
            self.assertIn("KubeVirt: nothing against a drain of any node by itself", done.out)
            self.assertIn("list, watch virtualmachineinstances.kubevirt.io", done.out)  # the permission
            self.assertNotIn("longhorn.io", done.out)
            self.machine(sim, "tied", conditions=[condition | {"status": "False", "message": "it has a host disk"}])
            done = self.slipway(sim, "doctor", "--detailed-exitcode")
            self.assertEqual(done.code, BLOCKED, done.out)
            self.assertRegex(done.out, r"\n\S+ KubeVirt denies a drain of w1 \(NotMigratable\)\n    VirtualMachineInstance default/tied: ")
            doc = json.loads(self.slipway(sim, "doctor", "-o", "json").out)
            self.assertEqual([(c["finding"]["check"], c["finding"]["verdict"], c["nodes"]) for c in doc["checks"]], [("kubevirt", "deny", ["w1"])])
            # What denies a drain is in the way of it, whoever says so.
            done = self.slipway(sim, "doctor", "--pdbs", "--detailed-exitcode")
            self.assertEqual(done.code, BLOCKED, done.out)
            self.assertIn("KubeVirt denies a drain of w1", done.out)
            self.assertNotIn("Nothing of", done.out)
            self.assertIn("A drain of 1 of 2 nodes would be blocked: w1", done.out)
            self.assertEqual(self.slipway(sim, "doctor", "--pdbs", "-o", "name").out, "check/kubevirt\n")

    def test_an_object_of_another_shape(self) -> None:
        """It is named, with the field, wherever the check is asked."""
        with Sim("--scenario", "empty", "--nodes", "2") as sim:
            self.define(sim)
            self.machine(sim, "odd", migrationState={"completed": "maybe"})
            for verb in (["doctor"], ["checks", "-o", "wide"], ["why", "w1"]):
                out = " ".join(self.slipway(sim, *verb).out.split())
                self.assertIn("VirtualMachineInstance default/odd: status.migrationState.completed:", out, verb)


class Status(Case):
    def order(self, text: str) -> list[str]:
        """The sections in the order in which they come, after the headline."""
        return [word for line in text.splitlines()[1:] for word in SECTIONS if re.match(rf"{word}\b", line)]

    def test_a_drain_at_work(self) -> None:
        """Headline, blockers, waves, nodes that are not idle, locks: in this order, and only about what is going on."""
        with Sim("--scenario", "pdb-stuck", "--speed", "20") as sim:
            drain = subprocess.Popen([SLIPWAY, "drain", "w1", "--holder=night", "--reason=kernel"], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(KUBECONFIG=str(sim.kubeconfig)))
            try:
                def stuck() -> bool:
                    node = sim.client.get("/api/v1/nodes/w1")
                    at_work = any(c["type"] == "DrainInProgress" and c["status"] == "True" for c in node["status"]["conditions"])
                    return at_work and "good" not in {p["metadata"]["labels"]["app"] for p in sim.client.pods("shop", spec__nodeName="w1")}
                until(stuck, "the drain that only waits")
                out = self.slipway(sim, "status").out
                self.assertEqual(self.order(out), ["Blockers", "Waves", "Nodes", "Locks"], out)
                self.assertTrue(out.startswith("Draining 1 of 3 nodes, 2 pods to go: blocked, "), out)
                self.assertRegex(out, r"\n  \S+ PDBUnsatisfiable shop/web on w1, 1 pod")
                self.assertNotIn("shop/single", out)  # of w2, which nobody drains
                self.assertRegex(out, r"\nNodes\n  NODES .*\n  w1 +Ready +Blocked +2 +2 ")
                self.assertEqual(self.order(self.slipway(sim, "status", "--details=all").out), ["Blockers", "Waves", "Nodes", "Locks"])
                doc = json.loads(self.slipway(sim, "status", "-o", "json").out)
                self.assertEqual([(w["nodes"], w["blocked"], w["podsLeft"]) for w in doc["waves"]], [(["w1"], 1, 2)])
                self.assertEqual([(lock["nodes"], "kernel" in lock["heldBy"]) for lock in doc["locks"]], [(["w1"], True)])
                self.assertEqual([i["phase"] for i in doc["items"]], ["Blocked", "Idle", "Idle"])
                self.assertEqual(list(doc)[:9], ["schema", "paused", "summary", "blockers", "orders", "waves", "locks", "gates", "needReboot"])
            finally:
                drain.kill()
                drain.wait(LIMIT)

    def test_what_a_check_holds_back(self) -> None:
        """A drain has told in an Event that storage is in the way: a gate, after the locks."""
        with Sim("--scenario", "happy") as sim:
            c = sim.client
            c.patch("/api/v1/nodes/w1", {"spec": {"unschedulable": True}})
            code, answer = c.call("PATCH", "/api/v1/nodes/w1/status", {"status": {"conditions": [
                {"type": "DrainInProgress", "status": "True", "reason": "SlipwayDrain", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}},
                "application/strategic-merge-patch+json")
            self.assertEqual(code, 200, answer)
            event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "w1.1", "namespace": "default"}, "reason": "DrainBlocked",
                     "involvedObject": {"kind": "Node", "name": "w1", "uid": "w1"}, "message": "LastReplica x/pvc-1: the only healthy replica",
                     "type": "Warning", "firstTimestamp": "2026-01-01T00:01:00Z", "lastTimestamp": "2026-01-01T00:01:00Z"}
            code, answer = c.call("POST", "/api/v1/namespaces/default/events", event)
            self.assertEqual(code, 201, answer)
            out = self.slipway(sim, "status").out
            self.assertEqual(self.order(out), ["Waves", "Nodes", "Locks", "Gates"], out)
            self.assertRegex(out, r"\nGates\n  \S+ LastReplica x/pvc-1 on w1, 1 pod\n  -> slipway why w1\n$")
            doc = json.loads(self.slipway(sim, "status", "-o", "json").out)
            self.assertEqual([(g["code"], g["since"]) for g in doc["gates"]], [("LastReplica", "2026-01-01T00:01:00Z")])

    def test_left_behind(self) -> None:
        """A drain is killed: its marks and its cordon are named with what takes them away, and that does."""
        with Sim("--scenario", "pdb-stuck", "--speed", "20") as sim:
            drain = subprocess.Popen([SLIPWAY, "drain", "w1", "w2", "w3", "--max-unavailable=1", "--holder=night"], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(KUBECONFIG=str(sim.kubeconfig)))

            def nodes() -> dict[str, dict]:
                return {n["metadata"]["name"]: n for n in sim.client.get("/api/v1/nodes")["items"]}

            def at_work() -> bool:
                now = nodes()
                marked = {n for n, node in now.items() if any(t["key"] == "slipway.dev/next" for t in node["spec"].get("taints", []))}
                busy = {n for n, node in now.items() for c in node["status"]["conditions"] if (c["type"], c["status"]) == ("DrainInProgress", "True")}
                return len(marked) == 2 and len(busy) == 1
            try:
                until(at_work, "a node that is drained, and two to come")
            finally:
                drain.kill()
                drain.wait(LIMIT)
            self.assertNotIn("Left behind", self.slipway(sim, "status").out)  # not yet: it may well be at work
            until(lambda: not any("deletionTimestamp" in pod["metadata"] for pod in sim.client.get("/api/v1/pods")["items"]),
                  "what it had evicted is gone")
            later = "2101-01-01T00:00:00Z"
            out = run("status", KUBECONFIG=str(sim.kubeconfig), SLIPWAY_FAKE_NOW=later).out
            self.assertRegex(out, r"\nLeft behind, if no drain is at work any more\n")
            doc = json.loads(run("status", "-o", "json", KUBECONFIG=str(sim.kubeconfig), SLIPWAY_FAKE_NOW=later).out)
            self.assertEqual([x["what"] for x in doc["leftBehind"]], ["drain", "mark"])
            said = run("doctor", KUBECONFIG=str(sim.kubeconfig), SLIPWAY_FAKE_NOW=later).out
            for left in doc["leftBehind"]:
                self.assertIn(f"  -> {left['command']}\n", out)
                self.assertIn(left["command"], said)
                words = shlex.split(left["command"])
                self.assertEqual(words[0], "slipway")
                self.assertEqual(run(*words[1:], KUBECONFIG=str(sim.kubeconfig)).code, DONE)
            self.assertFalse([n for n, node in nodes().items() if node["spec"].get("taints") or node["spec"].get("unschedulable")])
            self.assertEqual(json.loads(run("status", "-o", "json", KUBECONFIG=str(sim.kubeconfig), SLIPWAY_FAKE_NOW=later).out)["leftBehind"], [])

    def test_a_finalizer_that_holds_a_drain_up(self) -> None:
        with Sim("--scenario", "finalizer-stuck", "--speed", "20") as sim:
            drain = subprocess.Popen([SLIPWAY, "drain", "w1"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL, env=environment(KUBECONFIG=str(sim.kubeconfig)))
            try:
                def stuck() -> bool:
                    doc = json.loads(self.slipway(sim, "status", "-o", "json").out)
                    return [(b["code"], b["nodes"]) for b in doc["blockers"]] == [("FinalizerStuck", ["w1"])]
                until(stuck, "the finalizer among the blockers")
                # the other pod may be on its way out still
                until(lambda: self.slipway(sim, "status").out.startswith("Draining 1 of 3 nodes, 1 pod to go: blocked, "),
                      "one pod to go, and that it is blocked")
            finally:
                drain.kill()
                drain.wait(LIMIT)

    def test_reboots(self) -> None:
        with Sim("--scenario", "empty", "--nodes", "3") as sim:
            mark = "flatcar-linux-update.v1.flatcar-linux.net/reboot-needed"
            for node in ("w2", "w3"):
                sim.client.patch(f"/api/v1/nodes/{node}", {"metadata": {"annotations": {mark: "true"}}})
            out = self.slipway(sim, "status").out
            self.assertEqual(out, "All idle: 3 nodes. Every node is Ready.\n\n2 nodes need a reboot: w[2-3]\n\nNext: slipway plan drain w2\n")
            sim.client.patch("/api/v1/nodes/w2", {"metadata": {"annotations": {"rebootmanager/status": "Rebooting"}}})
            self.assertTrue(self.slipway(sim, "status").out.startswith("Rebooting 1 of 3 nodes. Of 3: 2 idle, 1 rebooting."))

    def test_flags(self) -> None:
        with Sim("--scenario", "happy") as sim:
            self.assertEqual(self.slipway(sim, "status", "--details=none").out, self.slipway(sim, "status").out)
            self.assertIn("\nNodes\n  NAME ", self.slipway(sim, "status", "--details=nodes").out)
            done = self.slipway(sim, "status", "--details=some")
            self.assertEqual(done.code, USAGE)
            self.assertIn("none, nodes, health and all", done.err)
            rows = self.slipway(sim, "status", "-o", "wide").out
            self.assertTrue(rows.startswith("NAME ") and "BOOT-ID" in rows.splitlines()[0], rows)


if __name__ == "__main__":
    tap.main()
