"""`slipway pause`, `resume`, `retry`, `skip` and `abort` in the simulator: what each writes, what it says, and what it refuses.

No controller runs here: statuses and records are made by hand, and the clock stands."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import SLIPWAY, Terminal, run  # noqa: E402
from test_locks import ACCESS, DONE, FAILED, NAMESPACE, REFUSED, USAGE, Case, at  # noqa: E402

GROUP = "/apis/slipway.dev/v1alpha1"
KINDS = ("rollouts", "maintenances", "policies")


class Own(Case):
    """A cluster with our definitions."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        for crd in json.loads(run("export", "crds", "-o", "json").out)["items"]:
            cls.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
        deadline = time.monotonic() + 60
        while not all(cls.is_served(kind) for kind in KINDS):  # a moment after it was made
            assert time.monotonic() < deadline
            time.sleep(0.05)

    @classmethod
    def is_served(cls, kind: str) -> bool:
        try:
            return cls.sim.client.call("GET", f"{GROUP}/{kind}")[0] == 200
        except ValueError:  # of a group that is not there the server says so in plain text
            return False

    def setUp(self) -> None:
        super().setUp()
        for kind in KINDS:
            for item in self.sim.client.get(f"{GROUP}/{kind}")["items"]:
                self.sim.client.call("DELETE", f"{GROUP}/{kind}/{item['metadata']['name']}")

    def make(self, kind: str, name: str, spec: dict, status: dict | None = None, owner: dict | None = None) -> dict:
        """An object, and what a controller would have written of it."""
        path = f"{GROUP}/{kind.lower()}s"
        owners = [{"apiVersion": "slipway.dev/v1alpha1", "kind": owner["kind"], "name": owner["metadata"]["name"],
                   "uid": owner["metadata"]["uid"], "controller": True}] if owner else []
        self.post(path, {"apiVersion": "slipway.dev/v1alpha1", "kind": kind,
                         "metadata": {"name": name, "ownerReferences": owners}, "spec": spec})
        if status:
            self.sim.client.patch(f"{path}/{name}/status", {"status": status})
        return self.sim.client.get(f"{path}/{name}")

    def maintenance(self, name: str, phase: str | None = None, node: str = "w1", owner: dict | None = None, **spec: object) -> dict:
        status = {"phase": phase, "reason": "Test", "since": at(1)} if phase else None
        return self.make("Maintenance", name, {"node": node, "operation": "Reboot", "executor": {"fleetlock": {}}} | spec, status, owner)

    def rollout(self, name: str, phase: str | None = None, **spec: object) -> dict:
        counts = {"total": 3, "waiting": 1, "current": 1, "complete": 1, "failed": 0}
        status = {"phase": phase, "reason": "Test", "since": at(1), "counts": counts} if phase else None
        return self.make("Rollout", name, {"nodes": ["w[1-3]"], "operation": "Reboot", "executor": {"fleetlock": {}}} | spec, status)

    def there(self, kind: str, name: str) -> dict | None:
        code, body = self.sim.client.call("GET", f"{GROUP}/{kind}/{name}")
        return body if code == 200 else None

    def paused(self, kind: str, name: str) -> bool:
        return self.there(kind, name)["spec"]["paused"]

    def word(self, name: str) -> str | None:
        return self.there("maintenances", name)["metadata"].get("annotations", {}).get("slipway.dev/word")


class ByName(Own):
    def test_pause_and_resume(self) -> None:
        self.maintenance("m", "Queued")
        self.rollout("r")
        self.says("pause maintenance/m swr/r", "maintenance/m paused\nrollout/r paused\n")
        self.assertTrue(self.paused("maintenances", "m") and self.paused("rollouts", "r"))
        self.says("pause m", "maintenance/m already paused\n")
        self.says("resume maintenances.slipway.dev/m Rollouts/r r",
                  "maintenance/m resumed\nrollout/r resumed\n")
        self.assertFalse(self.paused("maintenances", "m") or self.paused("rollouts", "r"))
        self.says("resume r", "rollout/r already resumed\n")

    def test_what_goes_on(self) -> None:
        self.maintenance("gone", "Operating")
        self.maintenance("back", "Uncordoning")
        self.maintenance("over", "Complete")
        kernel = self.rollout("kernel", "Progressing")
        for node, phase in (("w1", "Complete"), ("w2", "Draining"), ("w3", "Queued")):
            self.maintenance(f"kernel-{node}", phase, node, kernel)
        self.says("pause gone back over kernel",
                  "maintenance/gone paused\nmaintenance/back paused\nmaintenance/over paused\nrollout/kernel paused\n",
                  "maintenance/gone: node w1 was told to go, and that goes on: it is put back into service when it is back\n"
                  "maintenance/back: node w1 is being put back into service, and that goes on\n"
                  "maintenance/over: it is over already: Complete\n"
                  "rollout/kernel: no further node is begun; those that were go on: w[2-3]\n")

    def test_which_one(self) -> None:
        self.maintenance("both")
        self.rollout("both")
        self.says("pause both", "", 'error: there are a Maintenance and a Rollout "both": say maintenance/both or rollout/both; '
                  "nothing was changed\n", REFUSED)
        self.says("pause rollout/both nope", "", 'error: there is no Maintenance and no Rollout "nope"; nothing was changed. There are: '
                  '"rollout/both", "maintenance/both"\n', FAILED)
        self.assertFalse(self.paused("rollouts", "both"), "nothing is done to the other, either")
        self.assertIn("neither maintenance/NAME nor rollout/NAME nor node/NAME", self.slipway("pause pod/w1").err)
        self.assertEqual([self.slipway(line).code for line in ("pause pod/w1", "pause", "pause m --all", "pause m --reason x", "resume",
                                                               "resume m --all", "retry", "pause rollout/")], 8 * [USAGE])

    def test_a_node_is_named(self) -> None:
        """Its Maintenance is meant: the one that is under way."""
        self.maintenance("over", "Complete")
        self.maintenance("stuck", "Halted")
        self.says("retry w1 --dry-run=client", "maintenance/stuck retried (dry run)\n")
        self.says("retry node/w1 --dry-run=client", "maintenance/stuck retried (dry run)\n")
        self.says("retry node/w9", "", 'error: node "w9" has no Maintenance; nothing was changed\n', FAILED)

    def test_dry_runs(self) -> None:
        self.maintenance("m", "Halted")
        self.maintenance("busy", "Draining")
        for how, said in (("client", "dry run"), ("server", "server dry run")):
            self.says(f"pause m --dry-run={how}", f"maintenance/m paused ({said})\n")
            self.says(f"retry m --dry-run={how}", f"maintenance/m retried ({said})\n")
            self.says(f"abort m busy --dry-run={how}", f"maintenance/m aborted ({said})\nmaintenance/busy aborted ({said})\n")
        self.assertFalse(self.paused("maintenances", "m"))
        self.assertIsNone(self.word("m"))
        self.assertTrue(self.there("maintenances", "busy"))

    def test_no_server(self) -> None:
        done = self.slipway("pause m --server http://127.0.0.1:1")
        self.assertEqual((done.code, done.out), (ACCESS, ""), done.err)


class Everything(Own):
    def stops(self) -> dict[str, dict]:
        found = self.sim.client.get("/api/v1/configmaps?labelSelector=slipway.dev/slots")["items"]
        return {item["metadata"]["namespace"]: json.loads(item["data"]["pause"]) for item in found
                if item["metadata"]["name"] == "slipway-pause"}

    def test_pause_and_resume(self) -> None:
        self.lease(at(5))
        self.says("pause --all --reason 'storage is red'", f"everything paused in namespace {NAMESPACE}\n")
        record = self.stops()[NAMESPACE]
        self.assertRegex(record.pop("by"), "^alice@")
        self.assertEqual(record, {"v": 1, "reason": "storage is red", "since": "2026-11-16T12:05:00Z"})
        done = self.slipway("pause --all")
        self.assertEqual((done.code, done.out), (DONE, f"everything already paused in namespace {NAMESPACE}\n"))
        self.assertRegex(done.err, rf"^Everything is paused by alice@\S+ since 12:05 UTC, in namespace {NAMESPACE}: storage is red; "
                         "'slipway resume --all' ends it\n$")
        self.assertIn("Everything is paused", self.slipway("locks").err)
        self.says("resume --all", f"everything resumed in namespace {NAMESPACE}\n")
        self.assertEqual(self.stops(), {})
        self.says("resume --all", f"nothing is paused in namespace {NAMESPACE}\n")

    def test_who_goes_on(self) -> None:
        self.record(self.slot("w1", "granted", granted=at(3)), self.slot("w2", "taken"), self.slot("w3", "granted", granted=at(3)))
        self.lease("2026-11-16T11:00:00Z")
        self.says("pause --all", f"everything paused in namespace {NAMESPACE}\n",
                  "w[1,3]: were told to go before, and may still do so; put back into service when back\n"
                  f"no controller runs in namespace {NAMESPACE} now; one that starts there obeys it\n")

    def test_where(self) -> None:
        nowhere = ("error: there is no Lease slipway-controller in any namespace, so that nobody knows where the controller is: name its "
                   "namespace with -n; nothing was changed\n")
        self.says("pause --all", "", nowhere, REFUSED)
        self.says("resume --all", "", nowhere, REFUSED)
        self.says("pause --all -n other", "everything paused in namespace other\n",
                  "no controller runs in namespace other now; one that starts there obeys it\n")
        self.lease(at(5))
        self.lease(at(5), "other")
        self.says("pause --all --reason x -q", f"everything already paused in namespace other\neverything paused in namespace {NAMESPACE}\n")
        self.assertEqual(set(self.stops()), {"other", NAMESPACE})
        self.says("resume --all -n other", "everything resumed in namespace other\n")
        self.says("resume --all -q", f"everything resumed in namespace {NAMESPACE}\nnothing is paused in namespace other\n")
        self.assertEqual(self.stops(), {})

    def test_dry_runs(self) -> None:
        self.lease(at(5))
        for how, said in (("client", "dry run"), ("server", "server dry run")):
            self.says(f"pause --all --dry-run={how}", f"everything paused in namespace {NAMESPACE} ({said})\n")
        self.assertEqual(self.stops(), {})
        self.stop()
        for how, said in (("client", "dry run"), ("server", "server dry run")):
            self.says(f"resume --all --dry-run={how}", f"everything resumed in namespace {NAMESPACE} ({said})\n")
        self.assertEqual(set(self.stops()), {NAMESPACE})


class Words(Own):
    def test_one_that_is_halted(self) -> None:
        for word, done in (("retry", "retried"), ("skip", "skipped"), ("abort --yes", "aborted")):
            self.setUp()
            self.maintenance("m", "Halted")
            self.says(f"{word} m", f"maintenance/m {done}\n")
            self.assertEqual(self.word("m"), word.split()[0])
            self.says(f"{word} m", f"maintenance/m already {done}\n")

    def test_one_that_is_not(self) -> None:
        self.maintenance("m", "Draining")
        self.maintenance("over", "Complete")
        self.maintenance("halted", "Halted")
        self.says("retry halted m over", "",
                  "error: unable to retry maintenance/m: it is Draining, and only one that is under way or Halted waits for that word; "
                  "nothing was changed\n"
                  "error: unable to retry maintenance/over: it is over already: Complete; nothing was changed\n", REFUSED)
        self.assertIsNone(self.word("halted"))
        self.assertEqual(self.slipway("skip m").code, REFUSED)
        self.says("abort over --yes", "", "error: unable to abort maintenance/over: it is over already: Complete; nothing was changed\n",
                  REFUSED)
        self.says("abort m -y", "maintenance/m aborted\n")
        self.assertIsNone(self.there("maintenances", "m"))

    def test_one_that_is_under_way(self) -> None:
        """Heard when it is clear whether its node goes, which is said: nobody is left to think that it was done."""
        note = ("maintenance/m: it is Operating, and nobody can call node w1 back: that is done when the node is back, or when it is clear that "
                "it stays up\n")
        for word, done in (("retry", "retried"), ("skip", "skipped")):
            self.setUp()
            self.maintenance("m", "Operating")
            self.says(f"{word} m", f"maintenance/m {done}\n", note)
            self.assertEqual(self.word("m"), word)
        self.says("abort m -y", "maintenance/m aborted\n", note)
        self.assertIsNone(self.there("maintenances", "m"))
        self.make("Maintenance", "again", {"node": "w1", "operation": "Reboot", "executor": {"sim": {}}},
                  {"phase": "Operating", "reason": "Retried", "since": at(1)})
        self.says("retry again", "", "error: unable to retry maintenance/again: it is being tried again just now; it halts when nothing comes of "
                  "it; nothing was changed\n", REFUSED)

    def test_one_that_has_failed_just_now(self) -> None:
        """Its node may be on its way down all the same: nobody is left to think that it was tried again."""
        self.make("Maintenance", "m", {"node": "w1", "operation": "Reboot", "executor": {"sim": {}}},
                  {"phase": "Halted", "reason": "OperationFailed", "since": at(5)})
        done = self.slipway("retry m")
        self.assertEqual((done.out, done.code), ("maintenance/m retried\n", DONE))
        self.assertIn("its command has failed just now, and its node may go down all the same: that is heard at 2026-11-16T12:06:00Z\n", done.err)

    def of_a_rollout(self) -> None:
        kernel = self.rollout("kernel", "Failed")
        for node, phase in (("w1", "Complete"), ("w2", "Halted"), ("w3", "Failed"), ("w4", "Cancelled"), ("w5", "Draining")):
            self.maintenance(f"kernel-{node}", phase, node, kernel)
        self.maintenance("stray", "Halted", "w6")

    def test_retry_of_a_rollout(self) -> None:
        self.of_a_rollout()
        self.says("retry kernel", "maintenance/kernel-w2 retried\nmaintenance/kernel-w3 retried\nmaintenance/kernel-w4 retried\n"
                  "rollout/kernel retried\n")
        self.assertEqual([bool(self.there("maintenances", f"kernel-w{i}")) for i in range(1, 6)], [True, True, False, False, True])
        self.assertEqual((self.word("kernel-w2"), self.word("kernel-w5"), self.word("stray")), ("retry", None, None))

    def test_skip_of_a_rollout(self) -> None:
        self.of_a_rollout()
        self.says("skip kernel", "maintenance/kernel-w2 skipped\n")
        self.assertTrue(self.there("maintenances", "kernel-w3"))
        self.rollout("idle", "Progressing")
        self.says("skip idle", "", "error: unable to skip rollout/idle: none of its nodes is Halted; nothing was changed\n", REFUSED)
        self.says("retry idle", "", "error: unable to retry rollout/idle: none of its nodes is Halted, has failed or was cancelled; "
                  "nothing was changed\n", REFUSED)

    def test_abort_of_a_rollout(self) -> None:
        self.of_a_rollout()
        self.rollout("done", "Complete")
        self.says("abort kernel", "", "error: there is nobody to ask whether this is meant: say --yes; nothing was changed\n", REFUSED)
        self.assertTrue(self.there("rollouts", "kernel"))
        self.says("abort done --yes", "", "error: unable to abort rollout/done: it is over already: Complete; nothing was changed\n", REFUSED)
        self.says("abort kernel --yes", "rollout/kernel aborted\n")
        self.assertIsNone(self.there("rollouts", "kernel"))

    def test_the_question(self) -> None:
        self.of_a_rollout()
        for keys, code in (("n\n", REFUSED), ("\n", REFUSED), ("y\n", DONE)):
            with Terminal(SLIPWAY, "abort", "kernel", **self.environment()) as t:
                before = t.expect("Abort it? [y/N] ")
                self.assertIn("rollout/kernel: Reboot of 3 nodes, 1 done; cancelled and put back into service: w[2,5]", before)
                self.assertTrue(self.there("rollouts", "kernel"))
                t.send(keys)
                self.assertEqual(t.finish().code, code)
        self.assertIsNone(self.there("rollouts", "kernel"))
        self.maintenance("m", "Draining")
        with Terminal(SLIPWAY, "abort", "m", "stray", **self.environment()) as t:
            before = t.expect("Abort them? [y/N] ")
            self.assertIn("maintenance/m: Reboot of node w1, Draining; the node is put back into service", before)
            t.send("n\n")
            self.assertEqual(t.finish().code, REFUSED)


if __name__ == "__main__":
    tap.main()
