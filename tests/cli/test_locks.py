"""`slipway locks` and `slipway unlock` in the simulator: what is said of each state of a slot, as golden files of tests/fixtures/locks,
and what becomes of a slot that somebody lets go.

A golden file was read with an operator's eyes before it was kept.  To write them anew, and to read what has changed:

    SLIPWAY_GOLDEN=write python3 tests/cli/test_locks.py; git diff tests/fixtures/locks

No controller runs here: the records are made by hand, and the clock stands."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import LIMIT, SLIPWAY, TOP, Result, Terminal, environment, run  # noqa: E402
from simulation import Sim  # noqa: E402

GOLDEN = TOP / "tests" / "fixtures" / "locks"
NOW = "2026-11-16T12:05:00Z"
NAMESPACE = "slipway-system"
DONE, FAILED, ACCESS, REFUSED, USAGE = 0, 1, 4, 5, 64
NODES = [f"w{i}" for i in range(1, 8)]
HOLDING = "slot:default:"


def at(minute: int) -> str:
    return f"2026-11-16T12:{minute:02}:00Z"


class Case(unittest.TestCase):
    """One simulated cluster for all tests of a class, without records at the beginning of each."""

    maxDiff = None
    sim: Sim

    @classmethod
    def setUpClass(cls) -> None:
        cls.sim = Sim("--nodes", str(len(NODES)), "--scenario", "empty")
        cls.addClassCleanup(cls.sim.__exit__)
        for name in (NAMESPACE, "other"):
            cls.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    @classmethod
    def post(cls, path: str, body: dict) -> None:
        code, answer = cls.sim.client.call("POST", path, body)
        assert code == 201, answer

    def setUp(self) -> None:
        client = self.sim.client
        for item in client.get("/api/v1/configmaps?labelSelector=slipway.dev/slots")["items"]:
            client.call("DELETE", self.path(item["metadata"]["name"], item["metadata"]["namespace"]))
        for item in client.get("/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.name=slipway-controller")["items"]:
            client.call("DELETE", f"/apis/coordination.k8s.io/v1/namespaces/{item['metadata']['namespace']}/leases/slipway-controller")
        for item in self.events():
            client.call("DELETE", f"/api/v1/namespaces/default/events/{item['metadata']['name']}")
        for name in NODES:
            client.patch(f"/api/v1/nodes/{name}", {"metadata": {"annotations": {"slipway.dev/cordon": None}}, "spec": {"unschedulable": None}})

    def path(self, name: str = "slipway-slots-default", namespace: str = NAMESPACE) -> str:
        return f"/api/v1/namespaces/{namespace}/configmaps/{name}"

    def node(self, name: str) -> dict:
        return self.sim.client.get(f"/api/v1/nodes/{name}")

    def events(self) -> list[dict]:
        found = self.sim.client.get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.kind=Node")["items"]
        return [e for e in found if e.get("reportingComponent") == "slipway"]

    def slot(self, name: str, state: str, **more: str | bool) -> dict:
        """A holding of that node as it is, taken at 12:01."""
        node = self.node(name)
        boot = {} if state == "taken" else {"boot": node["status"]["nodeInfo"]["bootID"]}
        return {"id": HOLDING + name, "node": name, "uid": node["metadata"]["uid"], "operation": "Reboot", "by": "fleetlock",
                "state": state, "since": at(1), "asked": at(1)} | boot | more

    def wish(self, name: str, **more: str) -> dict:
        return {"node": name, "operation": "Reboot", "by": "fleetlock", "since": at(2), "asked": at(4)} | more

    def record(self, *slots: dict, waiting: tuple[dict, ...] = (), policy: str = "default", namespace: str = NAMESPACE,
               version: int = 1) -> None:
        text = json.dumps({"v": version, "fence": 7, "slots": slots, "waiting": waiting})
        self.post(f"/api/v1/namespaces/{namespace}/configmaps",
                  {"apiVersion": "v1", "kind": "ConfigMap", "data": {"slots": text, "else": "kept"},
                   "metadata": {"name": f"slipway-slots-{policy}", "labels": {"slipway.dev/slots": policy}}})

    def read(self, policy: str = "default") -> dict:
        return json.loads(self.sim.client.get(self.path(f"slipway-slots-{policy}"))["data"]["slots"])

    def state(self, name: str) -> str | None:
        return next((s["state"] for s in self.read()["slots"] if s["node"] == name), None)

    def cordon(self, name: str) -> None:
        holder = {"id": HOLDING + name, "by": "fleetlock", "reason": "Reboot", "since": at(1)}
        text = json.dumps({"v": 1, "before": False, "holders": [holder]})
        self.sim.client.patch(f"/api/v1/nodes/{name}",
                              {"metadata": {"annotations": {"slipway.dev/cordon": text}}, "spec": {"unschedulable": True}})

    def stop(self) -> None:
        text = json.dumps({"v": 1, "by": "bob@ops", "reason": "storage is red", "since": at(3)})
        self.post(f"/api/v1/namespaces/{NAMESPACE}/configmaps",
                  {"apiVersion": "v1", "kind": "ConfigMap", "data": {"pause": text},
                   "metadata": {"name": "slipway-pause", "labels": {"slipway.dev/slots": ""}}})

    def lease(self, renewed: str, namespace: str = NAMESPACE) -> None:
        self.post(f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases",
                  {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "slipway-controller"},
                   "spec": {"holderIdentity": "pod-1", "leaseDurationSeconds": 15, "renewTime": renewed.replace("Z", ".000000Z")}})

    def event(self, node: str, reason: str, message: str, minute: int) -> None:
        self.post("/api/v1/namespaces/default/events",
                  {"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"{node}.{reason.lower()}.{minute}"},
                   "involvedObject": {"kind": "Node", "name": node, "uid": node}, "reason": reason, "message": message,
                   "type": "Warning", "source": {"component": "slipway"}, "reportingComponent": "slipway",
                   "firstTimestamp": at(minute), "lastTimestamp": at(minute), "count": 1})

    def environment(self, **env: str | None) -> dict[str, str | None]:
        return {"KUBECONFIG": str(self.sim.kubeconfig), "SLIPWAY_FAKE_NOW": NOW, "SUDO_USER": "alice"} | env

    def slipway(self, line: str, **env: str | None) -> Result:
        return run(*shlex.split(line), **self.environment(**env))

    def says(self, line: str, out: str, err: str = "", code: int = DONE) -> None:
        self.assertEqual(self.slipway(line), Result(out, err, code), line)

    def golden(self, name: str, *lines: str) -> None:
        """What these say, both streams, as they were typed."""
        text = ""
        for line in lines:
            done = self.slipway(line)
            self.assertEqual(done.code, DONE, (line, done))
            text += f"$ slipway {line}\n{done.out}{done.err}\n"
        text = re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", lambda m: re.sub("[0-9a-f]", "X", m[0]), text)
        text = "\n".join(line.rstrip() for line in text.split("\n"))
        path = GOLDEN / f"{name}.txt"
        if os.environ.get("SLIPWAY_GOLDEN") == "write":
            path.write_text(text)
        self.assertEqual(text, path.read_text(), f"{path} has something else")


class Locks(Case):
    def every_state(self) -> None:
        for name in ("w1", "w2", "w3", "w4"):
            self.cordon(name)
        self.event("w1", "DrainBlocked", "PDBNoBudget shop/web: needs 2, has 2: no pod may go", 3)
        self.event("w1", "DrainBlocked", "BarePod dev/debug: no controller would bring it back", 0)  # of an earlier drain
        self.record(self.slot("w1", "taken"),
                    self.slot("w2", "drained", asked=at(4)),
                    self.slot("w3", "granted", granted=at(3)),
                    self.slot("w4", "steady", granted=at(2), steady=at(3)),
                    self.slot("w5", "returned", granted=at(2)),
                    self.slot("w7", "granted", granted=at(2), uid="another"),
                    self.slot("w1", "granted", granted=at(2)) | {"node": "w9", "id": HOLDING + "w9"},
                    waiting=(self.wish("w6"),))
        self.record(policy="future", version=2)
        self.lease(at(5))

    def test_every_state(self) -> None:
        self.every_state()
        self.golden("states", "locks", "locks --utc --no-headers w3 w6", "locks -o name")

    def test_wide(self) -> None:
        self.cordon("w3")
        self.record(self.slot("w3", "granted", granted=at(3)), self.slot("w4", "taken", by="maintenance/m1"),
                    self.slot("w5", "returned"), waiting=(self.wish("w6"),))
        self.lease(at(5))
        self.golden("wide", "locks -o wide")

    def test_document(self) -> None:
        self.every_state()
        done = self.slipway("locks -o json")
        self.assertEqual((done.code, done.err), (DONE, ""))
        found = json.loads(done.out)
        self.assertEqual(found["schema"], "slipway.locks/1.0")
        self.assertEqual(found["policies"][0], {"name": "default", "namespace": NAMESPACE, "configMap": "slipway-slots-default",
                                                "limit": 1, "held": 7, "waiting": 1})
        self.assertIn("version 2", found["policies"][1]["problem"])
        self.assertEqual(found["controllers"], [{"namespace": NAMESPACE, "holder": "pod-1", "leads": True, "renewed": at(5)}])
        items = {item.get("node"): item for item in found["items"]}
        self.assertEqual(items["w3"]["state"], "granted")
        self.assertEqual(items["w3"]["break"], "slipway unlock w3 --anyway --reason WHY")
        self.assertEqual((items["w3"]["granted"], items["w3"]["since"]), (at(3), at(1)))
        self.assertEqual((items["w1"]["outlook"], items["w6"]["outlook"], items["w5"]["outlook"]), ("goesOn", "waits", "goesOn"))
        self.assertNotIn("break", items["w5"])
        self.assertEqual(items[None]["state"], "unreadable")
        yaml = self.slipway("locks w3 -o yaml")
        self.assertIn("state: granted", yaml.out)

    def test_page_names_every_member(self) -> None:
        """docs/locks.md has every member of the document."""
        self.every_state()
        self.stop()
        named = set(re.findall(r"`([a-z]\w*)`", (TOP / "docs" / "locks.md").read_text().split("## The document")[1]))

        def members(value: object) -> set[str]:
            if isinstance(value, list):
                return set().union(*map(members, value)) if value else set()
            return set(value).union(*map(members, value.values())) if isinstance(value, dict) else set()

        seen = members(json.loads(self.slipway("locks -o json").out))
        self.assertLessEqual(seen, named)

    def test_nothing(self) -> None:
        self.golden("nothing", "locks", "locks w1", "locks -n other", "locks -o json")
        self.record()
        self.golden("empty", "locks", "locks w1")

    def test_namespaces(self) -> None:
        self.record(self.slot("w1", "taken"))
        self.record(self.slot("w2", "taken"), namespace="other", policy="batch")
        done = self.slipway("locks -o name")
        self.assertEqual(done.out, "node/w2\nnode/w1\n")
        self.assertEqual(self.slipway("locks -n other -o name").out, "node/w2\n")
        self.assertEqual(self.slipway("locks -l kubernetes.io/hostname=w1 -o name").out, "node/w1\n")

    def test_no_controller(self) -> None:
        self.record(self.slot("w1", "taken"))
        self.lease("2026-11-16T11:00:00Z")
        self.golden("no-controller", "locks")

    def test_paused(self) -> None:
        """It is said before the table, is no record of slots, and no reason for `unlock` to be in doubt."""
        self.cordon("w2")
        self.record(self.slot("w2", "drained"), self.slot("w3", "granted", granted=at(3)), waiting=(self.wish("w6"),))
        self.stop()
        self.lease(at(5))
        self.golden("paused", "locks")
        found = json.loads(self.slipway("locks -o json").out)
        self.assertEqual(found["paused"], [{"namespace": NAMESPACE, "by": "bob@ops", "reason": "storage is red", "since": at(3)}])
        self.assertEqual([p["name"] for p in found["policies"]], ["default"])
        self.assertIn("holds no slot", self.slipway("unlock w5 --reason x --yes").err)
        status = self.slipway("status")
        self.assertRegex(" ".join(status.out.split()), "^! Everything is paused by bob@ops since 12:03 UTC, in namespace slipway-system: "
                         r"storage is red; 'slipway resume --all' ends it\. Nothing is being drained")
        self.assertEqual(json.loads(self.slipway("status -o json").out)["paused"], found["paused"])
        self.assertIn("Everything is paused by bob@ops", self.slipway("status -o wide").err)

    def test_mistakes(self) -> None:
        self.says("locks nope", "", "There are no slots: a record of them is made when a node first asks a controller ('slipway "
                  "controller') whether it may reboot\nerror: there is no node \"nope\"\n", FAILED)
        self.assertEqual(self.slipway("locks w1 -l a=b").code, USAGE)
        self.assertEqual(self.slipway("locks -l '!!'").code, USAGE)

    def test_watch(self) -> None:
        self.record(waiting=(self.wish("w6"),))
        self.lease(at(5))
        with subprocess.Popen([SLIPWAY, "locks", "-w"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env=environment(**self.environment())) as process:
            try:
                self.assertTrue(process.stdout.readline().startswith("POLICY"))
                self.assertRegex(process.stdout.readline(), r"^default +w6 +waits .*a slot is free")
                text = json.dumps({"v": 1, "fence": 7, "slots": [self.slot("w6", "granted", granted=at(4))], "waiting": []})
                self.sim.client.patch(self.path(), {"data": {"slots": text}})
                lines = [process.stdout.readline() for _ in range(2)]
                self.assertRegex(lines[0], r"^default +w6 +granted .*was told at 12:04 UTC")
                self.assertRegex(lines[1], r"^default +w6 +over\b")
            finally:
                process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(LIMIT), 130)


class Unlock(Case):
    def test_a_slot(self) -> None:
        self.cordon("w1")
        self.record(self.slot("w1", "taken"), self.slot("w2", "taken"))
        self.lease(at(5))
        self.says("unlock w1 --reason 'board is dead' --yes", "node/w1 unlocked\n",
                  "w1: the controller uncordons it and frees the slot\n")
        self.assertEqual((self.state("w1"), self.state("w2")), ("returned", "taken"))
        self.assertEqual(self.read()["fence"], 7)
        self.assertEqual(self.sim.client.get(self.path())["data"]["else"], "kept")
        self.assertTrue(self.node("w1")["spec"]["unschedulable"], "to uncordon it is for the controller")
        event, = self.events()
        self.assertEqual((event["reason"], event["involvedObject"]["name"], event["type"]), ("Unlocked", "w1", "Normal"))
        self.assertRegex(event["message"], r"^Slot of policy default \(taken\) let go by alice@\S+: board is dead$")
        self.says("unlock w1 --reason again --yes", "node/w1 already unlocked\n", "w1: the controller uncordons it and frees the slot\n")
        self.assertEqual(len(self.events()), 1)

    def test_nobody_to_free_it(self) -> None:
        self.record(self.slot("w1", "taken"), self.slot("w2", "drained"))
        self.says("unlock 'w[1-2]' --reason x --yes", "node/w1 unlocked\nnode/w2 unlocked\n",
                  f"w[1-2]: no controller runs in namespace {NAMESPACE}; nothing uncordons them, and the slots stay held, until one does\n")

    def test_granted_needs_more(self) -> None:
        self.record(self.slot("w1", "granted", granted=at(3)), self.slot("w2", "taken"))
        self.lease(at(5))
        self.says("unlock w2 w1 --reason x --yes", "",
                  'error: node "w1" was told at 12:03 UTC that it may go, and may still reboot, while another node gets its slot; '
                  "--anyway lets the slot go all the same\n", REFUSED)
        self.assertEqual((self.state("w1"), self.state("w2")), ("granted", "taken"), "nothing is done to the other, either")
        self.says("unlock w1 --reason x --yes --anyway", "node/w1 unlocked\n",
                  "w1: the controller uncordons it and frees the slot\n"
                  "w1: was told that it may go, and may still reboot at any time\n")
        self.assertEqual(self.state("w1"), "returned")
        self.assertEqual([e["type"] for e in self.events()], ["Warning"])

    def test_what_may_have_been_granted_needs_more(self) -> None:
        self.record(self.slot("w1", "drained", unsure=True))
        self.lease(at(5))
        self.says("unlock w1 --reason x --yes", "",
                  'error: node "w1" may have been told that it may go, and may still reboot, while another node gets its slot; '
                  "--anyway lets the slot go all the same\n", REFUSED)
        self.assertEqual(self.state("w1"), "drained")
        self.says("unlock w1 --reason x --yes --anyway", "node/w1 unlocked\n",
                  "w1: the controller uncordons it and frees the slot\n"
                  "w1: may have been told that it may go, and may still reboot at any time\n")

    def test_a_wish(self) -> None:
        self.record(self.slot("w1", "taken"), waiting=(self.wish("w2"), self.wish("w3")))
        self.says("unlock w2 --reason x -y", "node/w2 waits no longer\n", "w2: waits again as soon as it asks\n")
        self.assertEqual([w["node"] for w in self.read()["waiting"]], ["w3"])
        self.assertEqual(self.state("w1"), "taken")
        self.assertIn("Wish for a slot of policy default taken back by alice@", self.events()[0]["message"])

    def test_none(self) -> None:
        self.record(self.slot("w1", "taken"))
        self.says("unlock w1 w5 --reason x --yes", "",
                  'error: node "w5" holds no slot and waits for none; nothing was changed. \'slipway locks\' shows who does\n', REFUSED)
        self.assertEqual(self.state("w1"), "taken")
        self.record(policy="future", version=2)
        done = self.slipway("unlock w5 --reason x --yes")
        self.assertEqual(done.code, REFUSED)
        self.assertIn('whether node "w5" holds a slot is not known', done.err)
        self.assertIn("version 2", done.err)

    def test_confirmation(self) -> None:
        self.record(self.slot("w1", "taken"))
        self.lease(at(5))
        self.says("unlock w1 --reason x", "",
                  "error: there is nobody to ask whether this is meant: say --yes; nothing was changed\n", REFUSED)
        for keys, code, state in (("n\n", REFUSED, "taken"), ("\n", REFUSED, "taken"), ("yes\n", DONE, "returned")):
            with Terminal(SLIPWAY, "unlock", "w1", "--reason", "x", **self.environment()) as t:
                before = t.expect("Let it go? [y/N] ")
                self.assertIn("w1 holds a slot of policy default: taken, for Reboot, by fleetlock, 4m ago", before)
                t.send(keys)
                self.assertEqual((t.finish().code, self.state("w1")), (code, state))

    def test_dry_runs(self) -> None:
        self.record(self.slot("w1", "taken"))
        self.says("unlock w1 --reason x --dry-run", "node/w1 unlocked (dry run)\n")
        self.says("unlock w1 --reason x --dry-run=server", "node/w1 unlocked (server dry run)\n")
        self.assertEqual((self.state("w1"), self.events()), ("taken", []))

    def test_mistakes(self) -> None:
        self.assertIn("--reason is needed", self.slipway("unlock w1 --yes").err)
        self.assertEqual([self.slipway(f"unlock {line}").code for line in ("w1 --yes", "--reason x", "'w[1' --reason x")], 3 * [USAGE])


if __name__ == "__main__":
    tap.main()
