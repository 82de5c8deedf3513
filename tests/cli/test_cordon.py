"""The verbs `cordon` and `uncordon`: kubectl's words, the record of who holds a node, and what becomes of mistakes.

What kubectl says is written down here as kubectl 1.36.3 said it on the simulator; where that release is at hand, both are run
side by side as well."""

from __future__ import annotations

import http.server
import json
import os
import shlex
import socket
import sys
import threading
import unittest
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import stock_kubectl  # noqa: E402
import tap  # noqa: E402
from program import Result, on_terminal, run  # noqa: E402
from simulation import Client, Sim, until  # noqa: E402

DONE, FAILED, ACCESS, REFUSED, USAGE = 0, 1, 4, 5, 64
RECORD = "slipway.dev/cordon"
NODES = [f"w{i}" for i in range(1, 6)]


def ago(seconds: int) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


class Case(unittest.TestCase):
    """One simulated cluster for all tests of a class; its nodes are as new for each."""

    sim: Sim

    @classmethod
    def setUpClass(cls) -> None:
        cls.sim = Sim("--nodes", str(len(NODES)), "--scenario", "empty")
        cls.addClassCleanup(cls.sim.__exit__)

    def setUp(self) -> None:
        self.reset()

    def reset(self) -> None:
        for name in NODES:
            self.change(name, annotations={RECORD: None}, cordoned=False)

    def change(self, name: str, annotations: dict | None = None, cordoned: bool | None = None) -> None:
        body: dict = {"metadata": {"annotations": annotations or {}}}
        if cordoned is not None:
            body["spec"] = {"unschedulable": cordoned or None}
        self.sim.client.patch(f"/api/v1/nodes/{name}", body)

    def node(self, name: str) -> dict:
        return self.sim.client.get(f"/api/v1/nodes/{name}")

    def cordoned(self, *names: str) -> list[bool]:
        return [self.node(name)["spec"].get("unschedulable", False) for name in names]

    def record(self, name: str) -> dict | None:
        text = self.node(name)["metadata"]["annotations"].get(RECORD)
        return json.loads(text) if text else None

    def holders(self, name: str) -> list[str]:
        return [h["id"] for h in (self.record(name) or {"holders": []})["holders"]]

    def slipway(self, line: str, **env: str | None) -> Result:
        return run(*shlex.split(line), KUBECONFIG=str(self.sim.kubeconfig), **({"SUDO_USER": "alice"} | env))

    def says(self, line: str, out: str, err: str = "", code: int = DONE, **env: str | None) -> None:
        self.assertEqual(self.slipway(line, **env), Result(out, err, code), line)

    def refused(self, line: str, *pieces: str, out: str = "") -> str:
        """One sentence on standard error that has these pieces."""
        done = self.slipway(line)
        self.assertEqual((done.out, done.code, done.err.count("\n")), (out, REFUSED, 1), done)
        self.assertTrue(done.err.startswith("error: "), done.err)
        for piece in pieces:
            self.assertIn(piece, done.err)
        return done.err


# What is typed, and what kubectl prints; the nodes are as new, but for w5, which is cordoned.
KUBECTL = [
    ("cordon w1", "node/w1 cordoned\n", ""),
    ("cordon w2 w1 w5", "node/w2 cordoned\nnode/w1 cordoned\nnode/w5 already cordoned\n", ""),
    ("cordon node/w1 nodes/w2 no/w3", "node/w1 cordoned\nnode/w2 cordoned\nnode/w3 cordoned\n", ""),
    ("--request-timeout=30s cordon --dry-run=client w1 w5", "node/w1 cordoned (dry run)\nnode/w5 already cordoned (dry run)\n", ""),
    ("cordon --dry-run=server w1", "node/w1 cordoned (server dry run)\n", ""),
    ("cordon w1 --dry-run=none", "node/w1 cordoned\n", ""),
    ("cordon -l kubernetes.io/hostname=w2", "node/w2 cordoned\n", ""),
    ("cordon --selector='kubernetes.io/hostname in (w3,w1)'", "node/w1 cordoned\nnode/w3 cordoned\n", ""),
    ("uncordon w1", "node/w1 already uncordoned\n", ""),
    ("uncordon w1 --dry-run=server", "node/w1 already uncordoned (server dry run)\n", ""),
    ("uncordon w1 -l a=b", None, "error: cannot specify both a node name and a --selector option\n"
                                 "See 'kubectl uncordon -h' for help and examples\n"),
    ("cordon", None, "error: USAGE: cordon NODE [flags]\nSee 'kubectl cordon -h' for help and examples\n"),
    ("uncordon", None, "error: USAGE: uncordon NODE [flags]\nSee 'kubectl uncordon -h' for help and examples\n"),
    ("drain", None, "error: USAGE: drain NODE [flags]\nSee 'kubectl drain -h' for help and examples\n"),
    ("cordon nope", None, 'Error from server (NotFound): nodes "nope" not found\n'),
    ("cordon w1 nope w2", None, 'Error from server (NotFound): nodes "nope" not found\n'),
    ("cordon w1 a/b/c", None, "error: arguments in resource/name form may not have more than one slash\n"),
    ("cordon ''", None, "error: resource name may not be empty\n"),
]


class AsKubectl(Case):
    def begin(self) -> None:
        self.reset()
        self.change("w5", cordoned=True)

    def same(self, line: str, done: Result, out: str | None, err: str) -> None:
        """`out` None: it fails."""
        said = done.err.replace("'slipway ", "'kubectl ")
        self.assertEqual((done.out, said, done.code == 0), (out or "", err, out is not None), line)

    def test_lines(self) -> None:
        for line, out, err in KUBECTL:
            with self.subTest(line):
                self.begin()
                self.same(line, self.slipway(line), out, err)

    def test_beside_kubectl(self) -> None:
        """The same of kubectl itself, so that what is written down here is what it says; and the nodes are the same after it."""
        program = stock_kubectl.find()
        if not program:
            self.skipTest(f"there is no kubectl {stock_kubectl.RELEASE}")
        for line, out, err in KUBECTL:
            with self.subTest(line):
                self.begin()
                theirs = stock_kubectl.kubectl(program, *shlex.split(line), KUBECONFIG=str(self.sim.kubeconfig))
                after = self.cordoned(*NODES)
                self.same(line, theirs, out, err)
                self.begin()
                self.slipway(line)
                self.assertEqual(self.cordoned(*NODES), after, line)

    def test_round_trip(self) -> None:
        for verb, word in (("cordon", "cordoned"), ("cordon", "already cordoned"), ("uncordon", "uncordoned"),
                           ("uncordon", "already uncordoned")):
            self.says(f"{verb} w1 w2", f"node/w1 {word}\nnode/w2 {word}\n")
        self.assertEqual((self.cordoned("w1"), self.record("w1")), ([False], None))

    def test_missing_node_stops_all(self) -> None:
        done = self.slipway("cordon w1 nope w2 nada")
        self.assertEqual((done.out, done.code), ("", FAILED))
        self.assertEqual(done.err, "".join(f'Error from server (NotFound): nodes "{n}" not found\n' for n in ("nope", "nada")))
        self.assertEqual(self.cordoned(*NODES), [False] * 5)

    def test_a_node_twice_is_done_once(self) -> None:
        self.says("cordon w1 node/w1 w1", "node/w1 cordoned\n")

    def test_selector_without_nodes(self) -> None:
        """kubectl says nothing and succeeds; people at a terminal are told."""
        self.says("cordon -l nope=1", "")
        self.says("uncordon -l nope=1", "")
        for flags, text in (([], "No resources found\n"), (["-q"], "")):
            done = on_terminal("cordon", "-l", "nope=1", *flags, KUBECONFIG=str(self.sim.kubeconfig))
            self.assertEqual((done.out, done.code), (text, DONE))

    def test_dry_runs_change_nothing(self) -> None:
        for how in ("", "=client", "=server", "=true"):
            self.slipway(f"cordon w1 --dry-run{how} --reason x")
            self.assertEqual((self.cordoned("w1"), self.record("w1")), ([False], None))
        self.slipway("cordon w1")
        for how in ("", "=client", "=server", "=true"):
            self.slipway(f"uncordon w1 --dry-run{how}")
            self.assertEqual((self.cordoned("w1"), self.holders("w1")), ([True], ["cli/alice"]))

    def test_wrong_values(self) -> None:
        for line, piece in (("cordon w1 --dry-run=bogus", 'Invalid dry-run value (bogus). Must be "none", "server", or "client".'),
                            ("cordon -l 'a in (b'", "--selector: "), ("cordon w1 --reason 'a\nb'", "--reason"),
                            ("cordon w1 --holder 'a\nb'", "--holder"), ("cordon pod/w1", "expected resource of type node"),
                            ("cordon 'w[1-'", "w[1-"), ("cordon 'w[1-9]&x'", "is empty"), ("cordon w1 --any-holder", "--any-holder")):
            with self.subTest(line):
                done = self.slipway(line)
                self.assertEqual((done.out, done.code), ("", USAGE))
                self.assertIn(piece, done.err)
        self.assertEqual(self.cordoned("w1"), [False])

    def test_node_sets(self) -> None:
        self.says("cordon 'w[1-5]!w3'", "".join(f"node/w{i} cordoned\n" for i in (1, 2, 4, 5)))
        self.says("uncordon 'w[4-5],w1' w2", "".join(f"node/w{i} uncordoned\n" for i in (1, 4, 5, 2)))
        done = self.slipway("cordon 'w[1-40]'")
        self.assertEqual((done.out, done.code), ("", FAILED))
        self.assertEqual(done.err, 'Error from server (NotFound): nodes "w[6-40]" not found\n35 nodes of the node set do not exist\n')
        self.assertEqual(self.cordoned(*NODES), [False] * 5)


class Holders(Case):
    def test_record(self) -> None:
        self.says("cordon w1 --reason 'CHG-1: new disk'", "node/w1 cordoned\n")
        record = self.record("w1")
        holder, = record.pop("holders")
        self.assertEqual(record, {"v": 1, "before": False})
        self.assertRegex(holder.pop("since"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertRegex(holder.pop("by"), r"^alice@\S+$")
        self.assertEqual(holder, {"id": "cli/alice", "reason": "CHG-1: new disk"})
        self.assertIn("alice@", self.slipway("status w1").out)

    def test_again_changes_nothing_but_the_reason(self) -> None:
        earlier = ago(30)
        self.slipway("cordon w1 --reason one", SLIPWAY_FAKE_NOW=earlier)
        before = self.record("w1")
        self.says("cordon w1", "node/w1 already cordoned\n")
        self.assertEqual(self.record("w1"), before)
        self.says("cordon w1 --reason two", "node/w1 already cordoned\n")
        holder, = self.record("w1")["holders"]
        self.assertEqual((holder["reason"], holder["since"]), ("two", earlier))

    def test_the_last_one_uncordons(self) -> None:
        self.slipway("cordon w1 w2")
        self.says("cordon w1", "node/w1 already cordoned\n", SUDO_USER="bob")
        self.says("cordon w1 --holder team --reason night", "node/w1 already cordoned\n")
        self.assertEqual(self.holders("w1"), ["cli/alice", "cli/bob", "team"])
        self.refused("uncordon w1 w2", 'node "w1" is held cordoned by bob@', "as cli/bob", "as team (night, since ",
                     "your hold is lifted", "'slipway uncordon w1 --any-holder'", out="node/w2 uncordoned\n")
        self.assertEqual((self.holders("w1"), self.cordoned("w1")), (["cli/bob", "team"], [True]))
        self.refused("uncordon w1", "you do not hold it, and nothing was changed")
        self.assertEqual(self.slipway("uncordon w1", SUDO_USER="bob").code, REFUSED)
        self.says("uncordon w1 --holder team", "node/w1 uncordoned\n")
        self.assertEqual((self.cordoned("w1"), self.record("w1")), ([False], None))

    def test_a_cordon_without_a_record_is_not_ours(self) -> None:
        self.change("w1", cordoned=True)
        self.refused("uncordon w1", "somebody who left no record", "--any-holder")
        self.says("cordon w1", "node/w1 already cordoned\n")
        self.assertTrue(self.record("w1")["before"])
        self.refused("uncordon w1", "somebody who left no record", "your hold is lifted")
        self.assertEqual((self.cordoned("w1"), self.record("w1")), ([True], None))
        self.says("uncordon w1 --any-holder", "node/w1 uncordoned\n")
        self.assertEqual(self.cordoned("w1"), [False])

    def test_any_holder(self) -> None:
        self.slipway("cordon w1")
        self.slipway("cordon w1", SUDO_USER="bob")
        self.says("uncordon w1 --any-holder --dry-run", "node/w1 uncordoned (dry run)\n", SUDO_USER="eve")
        self.says("uncordon w1 --any-holder", "node/w1 uncordoned\n", SUDO_USER="eve")
        self.assertEqual((self.cordoned("w1"), self.record("w1")), ([False], None))

    def test_lifted_behind_our_back(self) -> None:
        """kubectl uncordon leaves our record behind: it must not claim the next cordon."""
        self.slipway("cordon w1")
        self.change("w1", cordoned=False)
        self.says("uncordon w1", "node/w1 already uncordoned\n")
        self.assertIsNone(self.record("w1"))
        self.slipway("cordon w2 --holder a")
        self.change("w2", cordoned=False)
        self.says("cordon w2 --holder b", "node/w2 cordoned\n")
        self.assertEqual((self.holders("w2"), self.record("w2")["before"]), (["b"], False))

    def tainted(self, name: str) -> bool:
        return any(t["key"] == "node.kubernetes.io/unschedulable" for t in self.node(name)["spec"].get("taints", []))

    def test_lifted_and_cordoned_again_by_others(self) -> None:
        """Our record of an hour ago must not lift what somebody else has cordoned since."""
        self.says("cordon w1 --holder bob", "node/w1 cordoned\n", SLIPWAY_FAKE_NOW=ago(3600))
        self.change("w1", cordoned=False)
        until(lambda: not self.tainted("w1"), "a node without the taint")
        self.change("w1", cordoned=True)
        until(lambda: self.tainted("w1"), "the taint")
        self.assertIn("somebody else", self.slipway("status w1").out)
        self.assertEqual(json.loads(self.slipway("status w1 -o json").out)["items"][0]["holders"], [])
        self.refused("uncordon w1 --holder bob", "somebody who left no record", "as bob (since ", "is of an earlier cordon",
                     "'slipway uncordon w1 --any-holder'")
        self.assertEqual((self.cordoned("w1"), self.holders("w1")), ([True], ["bob"]))
        self.says("cordon w1 --holder bob", "node/w1 already cordoned\n")
        self.assertTrue(self.record("w1")["before"])
        self.refused("uncordon w1 --holder bob", "your hold is lifted", "somebody who left no record")
        self.assertEqual((self.cordoned("w1"), self.record("w1")), ([True], None))

    def test_ones_own_taint_is_no_news(self) -> None:
        """It comes a moment after the cordon, from a machine whose clock is another."""
        for seconds in (0, 30):
            self.says("cordon w1", "node/w1 cordoned\n", SLIPWAY_FAKE_NOW=ago(seconds))
            until(lambda: self.tainted("w1"), "the taint")
            self.says("uncordon w1", "node/w1 uncordoned\n")
            until(lambda: not self.tainted("w1"), "a node without the taint")

    def test_who_joined_later_holds_it(self) -> None:
        self.slipway("cordon w1 --holder a", SLIPWAY_FAKE_NOW=ago(3600))
        until(lambda: self.tainted("w1"), "the taint")
        self.change("w1", annotations={RECORD: json.dumps({"v": 1, "before": False, "holders": [
            {"id": "a", "since": ago(3600)}, {"id": "b", "since": ago(0)}]})})
        self.refused("uncordon w1 --holder b", "held cordoned by a (since ", "your hold is lifted")

    def test_root_is_another_on_every_machine(self) -> None:
        if os.getuid():
            self.skipTest("not root")
        self.says("cordon w1", "node/w1 cordoned\n", SUDO_USER=None)
        self.assertEqual(self.holders("w1"), [f"cli/root@{socket.gethostname()}"])
        self.says("cordon w1", "node/w1 already cordoned\n", SUDO_USER=None)
        self.says("uncordon w1", "node/w1 uncordoned\n", SUDO_USER=None)
        self.slipway("cordon w1 --holder cli/root@another")
        self.assertEqual(self.slipway("uncordon w1", SUDO_USER=None).code, REFUSED)

    def test_records_that_are_not_understood(self) -> None:
        for text, piece in (('{"v":2,"holders":[]}', "it is of version 2, this program knows version 1"), ("{", "it is no JSON")):
            self.change("w1", annotations={RECORD: text}, cordoned=True)
            self.refused("cordon w1", 'unable to cordon node "w1"', piece)
            self.refused("uncordon w1", piece, "--any-holder")
            self.assertEqual(self.node("w1")["metadata"]["annotations"][RECORD], text)
        self.says("uncordon w1 --any-holder", "node/w1 uncordoned\n")

    def test_hostile_holders_do_not_reach_the_terminal(self) -> None:
        self.change("w1", annotations={RECORD: json.dumps({"v": 1, "before": False, "holders": [
            {"id": "x", "by": "\x1b[2Jevil\n", "reason": "\u202e"}]})}, cordoned=True)
        self.assertNotRegex(self.refused("uncordon w1", "evil"), "[\x1b\u202e]")

    def test_environment(self) -> None:
        self.says("cordon w1", "node/w1 cordoned\n", SLIPWAY_HOLDER="night-shift", SLIPWAY_REASON="CHG-7")
        holder, = self.record("w1")["holders"]
        self.assertEqual((holder["id"], holder["reason"]), ("night-shift", "CHG-7"))

    def test_events(self) -> None:
        self.slipway("cordon w3 --reason CHG-2")
        self.slipway("cordon w3")
        self.slipway("uncordon w3")
        events = [e for e in self.sim.client.get("/api/v1/namespaces/default/events")["items"]
                  if e["involvedObject"]["name"] == "w3" and e["source"].get("component") == "slipway"]
        self.assertEqual(sorted(e["reason"] for e in events), ["Cordoned", "Uncordoned"])
        for e in events:
            self.assertEqual((e["involvedObject"]["kind"], e["involvedObject"]["uid"], e["type"], e["reportingComponent"]),
                             ("Node", "w3", "Normal", "slipway"))
            self.assertIn("alice@", e["message"])
        self.assertTrue(any("CHG-2" in e["message"] for e in events))

    def test_conditions_of_a_drain_are_ended(self) -> None:
        self.slipway("cordon w4")
        ours, theirs = {"status": "True", "reason": "SlipwayDraining"}, {"status": "True", "reason": "OtherTool"}
        code, answer = self.sim.client.call("PATCH", "/api/v1/nodes/w4/status", {"status": {"conditions": [
            {"type": "DrainInProgress", **ours}, {"type": "Drained", **theirs}]}}, "application/strategic-merge-patch+json")
        self.assertEqual(code, 200, answer)
        self.says("uncordon w4", "node/w4 uncordoned\n")
        found = {c["type"]: c for c in self.node("w4")["status"]["conditions"]}
        self.assertEqual((found["DrainInProgress"]["status"], found["DrainInProgress"]["reason"]), ("False", "SlipwayUncordoned"))
        self.assertEqual((found["Drained"]["status"], found["Drained"]["reason"]), ("True", "OtherTool"))
        self.assertEqual(found["Ready"]["status"], "True")


class Meddler:
    """An API server in between that lets somebody else change a node right before a patch, or that loses an answer."""

    def __init__(self, client: Client) -> None:
        self.client, self.before, self.after, self.refuse = client, [], [], None
        self.patches = 0
        meddler = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def handle_one(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length) if length else None
                lose = False
                if self.command == "PATCH" and "/status" not in self.path:
                    meddler.patches += 1
                    if meddler.refuse:
                        self.answer(meddler.refuse, json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure",
                                                                "message": "somebody said no", "reason": "Forbidden",
                                                                "code": meddler.refuse}).encode())
                        return
                    if meddler.before:
                        meddler.before.pop(0)()
                    lose = bool(meddler.after) and meddler.after.pop(0)
                c = meddler.client.connect()
                c.request(self.command, self.path, body, {k: v for k, v in self.headers.items() if k.lower() != "host"}
                          | {"Authorization": f"Bearer {meddler.client.token}"})
                answer = c.getresponse()
                data = answer.read()
                c.close()
                if lose:
                    self.close_connection = True
                    self.connection.close()
                    return
                self.answer(answer.status, data, answer.getheader("Content-Type"))

            def answer(self, status: int, data: bytes, kind: str = "application/json") -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_PATCH = do_POST = handle_one

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Races(Case):
    def setUp(self) -> None:
        super().setUp()
        self.meddler = Meddler(self.sim.client)
        self.addCleanup(self.meddler.close)

    def touch(self, name: str = "w1") -> None:
        self.change(name, annotations={"touched": self.id() + str(self.meddler.patches)})

    def through(self, line: str, **env: str | None) -> Result:
        return run(*shlex.split(line), "--server", self.meddler.url, KUBECONFIG="/dev/null", **({"SUDO_USER": "alice"} | env))

    def test_a_change_in_between(self) -> None:
        self.meddler.before = [self.touch, self.touch]
        self.assertEqual(self.through("cordon w1"), Result("node/w1 cordoned\n", "", DONE))
        self.assertEqual((self.meddler.patches, self.holders("w1")), (3, ["cli/alice"]))

    def test_two_who_take_it_at_once(self) -> None:
        self.meddler.before = [lambda: self.slipway("cordon w1", SUDO_USER="bob")]
        self.assertEqual(self.through("cordon w1"), Result("node/w1 already cordoned\n", "", DONE))
        self.assertEqual(sorted(self.holders("w1")), ["cli/alice", "cli/bob"])
        self.assertFalse(self.record("w1")["before"])

    def test_somebody_takes_it_while_we_let_go(self) -> None:
        self.slipway("cordon w1")
        self.meddler.before = [lambda: self.slipway("cordon w1", SUDO_USER="bob")]
        done = self.through("uncordon w1")
        self.assertEqual((done.out, done.code), ("", REFUSED))
        self.assertEqual((self.holders("w1"), self.cordoned("w1")), (["cli/bob"], [True]))

    def test_changes_without_end(self) -> None:
        self.meddler.before = [self.touch] * 100
        done = self.through("cordon w1")
        self.assertEqual((done.out, done.code), ("", FAILED))
        self.assertIn('error: unable to cordon node "w1": ', done.err)
        self.assertLess(self.meddler.patches, 20)
        self.assertEqual(self.cordoned("w1"), [False])

    def test_a_lost_answer(self) -> None:
        """The write was done, nobody told us: it is seen, and told as ours."""
        self.meddler.after = [True]
        self.assertEqual(self.through("cordon w1"), Result("node/w1 cordoned\n", "", DONE))
        self.assertEqual(self.holders("w1"), ["cli/alice"])
        self.meddler.after = [True]
        self.assertEqual(self.through("uncordon w1"), Result("node/w1 uncordoned\n", "", DONE))
        self.assertEqual((self.cordoned("w1"), self.record("w1")), ([False], None))
        self.slipway("cordon w1")
        self.slipway("cordon w1", SUDO_USER="bob")
        self.meddler.after = [True]
        done = self.through("uncordon w1")
        self.assertEqual((done.out, done.code), ("", REFUSED))
        self.assertIn("your hold is lifted", done.err)

    def test_failures_are_not_hidden(self) -> None:
        """kubectl ends with 0 here."""
        self.meddler.refuse = 403
        done = self.through("cordon w1 w2")
        self.assertEqual((done.out, done.code), ("", ACCESS))
        self.assertEqual(done.err, "".join(f'error: unable to cordon node "{n}": somebody said no\n' for n in ("w1", "w2")))
        self.assertEqual(self.through("cordon w1 w2 --dry-run=client").out, "node/w1 cordoned (dry run)\nnode/w2 cordoned (dry run)\n")


class NoCluster(unittest.TestCase):
    def test_nobody_there(self) -> None:
        for verb in ("cordon", "uncordon", "drain"):
            done = run(verb, "w1", "--server=http://127.0.0.1:1", KUBECONFIG="/dev/null")
            self.assertEqual((done.out, done.code), ("", ACCESS))
            self.assertEqual(done.err, "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n")

    def test_help(self) -> None:
        for verb in ("cordon", "uncordon", "drain"):
            done = run(verb, "--help")
            self.assertEqual((done.code, done.err), (0, ""))
            self.assertIn("--dry-run", done.out)


if __name__ == "__main__":
    tap.main()
