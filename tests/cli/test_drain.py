"""The verb `drain` as scripts and people meet it: flags, lines, refusals, exit codes, signals. On the simulator; beside kubectl on a
real cluster it is in tests/cluster/test_drain_kubectl.py, the live display in test_drain_view.py."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import LIMIT, SLIPWAY, Result, environment, run  # noqa: E402
from simulation import Sim, until  # noqa: E402

DONE, FAILED, BLOCKED, ACCESS, REFUSED, PARTIAL, USAGE, INTERRUPTED, TERMINATED = 0, 1, 3, 4, 5, 6, 64, 130, 143
RECORD = "slipway.dev/cordon"

# `kubectl drain --help` of 1.36.3: the flags and their defaults.
KUBECTL_FLAGS = ["--chunk-size=500", "--delete-emptydir-data=false", "--disable-eviction=false", "--dry-run=none", "--force=false",
                 "--grace-period=-1", "--ignore-daemonsets=false", "--pod-selector=", "--selector=",
                 "--skip-wait-for-delete-timeout=0", "--timeout=0s"]


def pod(name: str, node: str, labels: dict | None = None, **spec: object) -> dict:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels or {}},
            "spec": {"nodeName": node, "terminationGracePeriodSeconds": 1,
                     "containers": [{"name": "main", "image": "registry.test/app:1"}], **spec}}


class Case(unittest.TestCase):
    """One simulated cluster for all tests of a class, whose pods and cordons go after each."""

    ARGS = ("--nodes", "5", "--scenario", "empty")
    sim: Sim

    @classmethod
    def setUpClass(cls) -> None:
        cls.sim = Sim(*cls.ARGS)
        cls.addClassCleanup(cls.sim.__exit__)

    def tearDown(self) -> None:
        c = self.sim.client
        for p in c.get("/api/v1/namespaces/default/pods")["items"]:
            c.call("DELETE", f"/api/v1/namespaces/default/pods/{p['metadata']['name']}", {"gracePeriodSeconds": 0})
        for b in c.get("/apis/policy/v1/namespaces/default/poddisruptionbudgets")["items"]:
            c.call("DELETE", f"/apis/policy/v1/namespaces/default/poddisruptionbudgets/{b['metadata']['name']}")
        for n in c.get("/api/v1/nodes")["items"]:
            c.patch(f"/api/v1/nodes/{n['metadata']['name']}",
                    {"metadata": {"annotations": {RECORD: None}}, "spec": {"unschedulable": None}})

    def add(self, *pods: dict) -> None:
        c = self.sim.client
        for p in pods:
            code, answer = c.call("POST", "/api/v1/namespaces/default/pods", p)
            self.assertEqual(code, 201, answer)
        until(lambda: all(any(s["type"] == "Ready" and s["status"] == "True" for s in p["status"].get("conditions", []))
                          for p in c.pods()), "ready pods")

    def stuck(self, node: str = "w1") -> None:
        """A pod that a budget holds for ever."""
        code, answer = self.sim.client.call("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "never"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "held"}}}})
        self.assertEqual(code, 201, answer)
        self.add(pod("held", node, {"app": "held"}))

        def seen() -> bool:
            status = self.sim.client.get("/apis/policy/v1/namespaces/default/poddisruptionbudgets/never").get("status", {})
            return status.get("currentHealthy") == 1
        until(seen, "the budget's status")

    def names(self) -> set[str]:
        return {p["metadata"]["name"] for p in self.sim.client.pods()}

    def node(self, name: str) -> dict:
        return self.sim.client.get(f"/api/v1/nodes/{name}")

    def cordoned(self, name: str) -> bool:
        return self.node(name)["spec"].get("unschedulable", False)

    def env(self, **more: str | None) -> dict[str, str | None]:
        return {"KUBECONFIG": str(self.sim.kubeconfig), "SUDO_USER": "alice"} | more

    def slipway(self, line: str, **env: str | None) -> Result:
        return run(*shlex.split(line), **self.env(**env))

    def start(self, line: str) -> subprocess.Popen:
        p = subprocess.Popen([SLIPWAY, *shlex.split(line)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, env=environment(**self.env()))
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def says(self, line: str, out: list[str], err: str = "", code: int = DONE) -> None:
        done = self.slipway(line)
        self.assertEqual((sorted(done.out.splitlines()), done.err, done.code), (sorted(out), err, code), done)


class Lines(Case):
    def test_a_node_without_pods(self) -> None:
        done = self.slipway("drain w1")
        self.assertEqual(done, Result("node/w1 cordoned\nnode/w1 drained\n", "", DONE))
        self.assertEqual(self.slipway("drain w1").out, "node/w1 already cordoned\nnode/w1 drained\n")

    def test_pods(self) -> None:
        self.add(pod("a", "w1"), pod("b", "w1"))
        done = self.slipway("drain w1 --force")
        lines = done.out.splitlines()
        self.assertEqual(sorted(lines), sorted(["node/w1 cordoned", "evicting pod default/a", "evicting pod default/b", "pod/a evicted",
                                                "pod/b evicted", "node/w1 drained"]))
        self.assertEqual((lines[0], lines[-1]), ("node/w1 cordoned", "node/w1 drained"))
        for name in "ab":
            self.assertLess(lines.index(f"evicting pod default/{name}"), lines.index(f"pod/{name} evicted"))
        self.assertEqual((done.err, done.code), ("Warning: deleting Pods that declare no controller: default/a, default/b\n", DONE))
        self.assertEqual(self.names(), set())

    def test_refusals(self) -> None:
        self.add(pod("bare", "w1"), pod("data", "w2", volumes=[{"name": "v", "emptyDir": {}}]))
        bare = "cannot delete Pods that declare no controller (use --force to override): default/bare"
        data = "cannot delete Pods with local storage (use --delete-emptydir-data to override): default/data"
        self.says("drain w1", ["node/w1 cordoned"],
                  f'error: unable to drain node "w1" due to error: {bare}, continuing command...\n'
                  f"There are pending nodes to be drained:\n w1\n{bare}\n", FAILED)
        done = self.slipway("drain w1 w2 w3")
        self.assertEqual(sorted(done.out.splitlines()),
                         ["node/w1 already cordoned", "node/w2 cordoned", "node/w3 cordoned", "node/w3 drained"])
        for line in (f'error: unable to drain node "w2" due to error: {data}, continuing command...',
                     "There are pending nodes to be drained:\n w1\n w2\n" + bare + "\n" + data):
            self.assertIn(line + "\n", done.err)
        self.assertEqual(done.code, PARTIAL)
        self.assertEqual(self.names(), {"bare", "data"})
        self.assertEqual(self.slipway("drain w1 w2 --force --delete-emptydir-data").code, DONE)
        self.assertEqual(self.names(), set())

    def test_old_name_of_a_flag(self) -> None:
        self.add(pod("data", "w1", volumes=[{"name": "v", "emptyDir": {}}]))
        self.assertEqual(self.slipway("drain w1 --force --delete-local-data").code, DONE)
        self.assertNotIn("delete-local-data", self.slipway("drain --help").out)

    def test_dry_runs(self) -> None:
        self.add(pod("a", "w1"))
        for how, word in (("", "dry run"), ("=client", "dry run"), ("=server", "server dry run")):
            self.says(f"drain w1 --force --dry-run{how}",
                      [f"node/w1 cordoned ({word})", f"evicting pod default/a ({word})", f"node/w1 drained ({word})"],
                      "Warning: deleting Pods that declare no controller: default/a\n")
        self.assertEqual((self.names(), self.cordoned("w1")), ({"a"}, False))
        self.assertNotIn(RECORD, self.node("w1")["metadata"].get("annotations", {}))

    def test_dry_runs_of_deletion(self) -> None:
        """kubectl's words where it has some: in a dry run of the server's it names nothing and waits for ever."""
        self.add(pod("a", "w1"))
        warning = "Warning: deleting Pods that declare no controller: default/a\n"
        self.says("drain w1 --force --disable-eviction --dry-run=client",
                  ["node/w1 cordoned (dry run)", "evicting pod default/a (dry run)", "node/w1 drained (dry run)"], warning)
        self.says("drain w1 --force --disable-eviction --dry-run=server",
                  ["node/w1 cordoned (server dry run)", "deleting pod default/a (server dry run)", "node/w1 drained (server dry run)"],
                  warning)
        self.assertEqual((self.names(), self.cordoned("w1")), ({"a"}, False))

    def test_dry_runs_that_uncordon(self) -> None:
        self.sim.client.patch("/api/v1/nodes/w2", {"spec": {"unschedulable": True}})
        for how, word in (("client", "dry run"), ("server", "server dry run")):
            done = self.slipway(f"drain w1 w2 --uncordon --dry-run={how}")
            self.assertEqual([line for line in done.out.splitlines() if "w1" in line],
                             [f"node/w1 {what} ({word})" for what in ("cordoned", "drained", "uncordoned")])
            self.assertNotIn("w2 uncordoned", done.out)  # it was cordoned before
            events = [json.loads(line) for line in self.slipway(f"drain w1 --uncordon --json --dry-run={how}").out.splitlines()]
            self.assertEqual([e["node"] for e in events if e.get("event") == "uncordoned"], ["w1"])
        self.assertFalse(self.cordoned("w1"))

    def test_deletion(self) -> None:
        self.stuck()
        self.says("drain w1 --force --disable-eviction", ["node/w1 cordoned", "pod/held deleted", "node/w1 drained"],
                  "Warning: deleting Pods that declare no controller: default/held\n")

    def test_pod_selector(self) -> None:
        self.add(pod("a", "w1", {"x": "1"}), pod("b", "w1", {"x": "2"}))
        done = self.slipway("drain w1 --force --pod-selector=x=1")
        self.assertEqual((done.code, self.names()), (DONE, {"b"}))
        self.assertNotIn("default/b", done.out + done.err)

    def test_started_lines(self) -> None:
        self.add(pod("a", "w1"))
        self.assertIn("pod/a eviction started\nevicting pod default/a\n", self.slipway("drain w1 --force -v=2").out)

    def test_many_nodes_and_selectors(self) -> None:
        self.says("drain 'w[1-3]' w2", [f"node/w{i} {word}" for i in (1, 2, 3) for word in ("cordoned", "drained")])
        self.says("drain -l 'kubernetes.io/hostname in (w4,w5)'", [f"node/w{i} {word}" for i in (4, 5) for word in ("cordoned", "drained")])
        self.says("drain -l nope=1", [])  # kubectl says nothing
        self.says("drain -l nope=1 --progress=plain", [], "No resources found\n")

    def test_unknown_node(self) -> None:
        self.says("drain w1 nope", [], 'Error from server (NotFound): nodes "nope" not found\n', FAILED)
        self.says("drain 'w[1-9999]' nope", [], 'Error from server (NotFound): nodes "nope" not found\n'
                  'Error from server (NotFound): nodes "w[6-9999]" not found\n9994 nodes of the node set do not exist\n', FAILED)
        self.assertFalse(self.cordoned("w1"))

    def test_record_and_conditions(self) -> None:
        self.slipway("drain w1 --reason CHG-9")
        node = self.node("w1")
        holder, = json.loads(node["metadata"]["annotations"][RECORD])["holders"]
        self.assertEqual((holder["id"], holder["reason"]), ("cli/alice", "CHG-9"))

        def conditions() -> dict[str, tuple[str, bool]]:
            return {c["type"]: (c["status"], c["reason"].startswith("Slipway")) for c in self.node("w1")["status"]["conditions"]
                    if c["type"] in ("DrainInProgress", "Drained")}
        self.assertEqual(conditions().get("Drained"), ("True", True))
        self.assertEqual(self.slipway("uncordon w1").out, "node/w1 uncordoned\n")
        self.assertEqual({status for status, _ in conditions().values()}, {"False"})


class Flags(Case):
    def test_kubectls(self) -> None:
        for flag in KUBECTL_FLAGS:
            with self.subTest(flag):
                done = self.slipway(f"drain w1 '{flag}'")
                self.assertEqual((done.code, done.err), (DONE, ""), flag)
        names = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", self.slipway("drain --help").out, re.M))
        self.assertLessEqual({f.split("=")[0] for f in KUBECTL_FLAGS}, names)

    def test_ours(self) -> None:
        for flag in ("--parallel 2", "--max-unavailable 1", "--max-unavailable=50%", "--max-zones 1", "--eviction-rate 0.5",
                     "--eviction-rate 0", "--surge", "--wait-rescheduled", "--volume-detach-timeout 10s", "--uncordon-on-abort",
                     "--progress=quiet", "--holder x --reason y"):
            with self.subTest(flag):
                self.assertEqual(self.slipway(f"drain w1 w2 {flag}").code, DONE)

    def test_wrong_values(self) -> None:
        for flag, piece in (("--max-unavailable 0", "10%"), ("--max-unavailable=101%", "10%"), ("--max-unavailable=-1", "10%"),
                            ("--max-unavailable=x", "10%"), ("--max-unavailable='1 %'", "10%"), ("--eviction-rate=-1", "number"),
                            ("--eviction-rate=nan", "number"), ("--eviction-rate=0x10", "number"), ("--eviction-rate=1e9", "number"),
                            ("--progress=loud", "auto, tty, plain, json, quiet"), ("--timeout=x", "--timeout"),
                            ("--grace-period=x", "--grace-period"), ("--parallel=-1", "--parallel"), ("--chunk-size=x", "--chunk-size"),
                            ("--timeout=5", 'time: missing unit in duration "5"'),
                            ("--pod-selector='a in (b'", "--pod-selector=<pod_selector> must be a valid label selector"),
                            ("--rules=/nonexistent", "--rules: /nonexistent"), ("--dry-run=bogus", "Invalid dry-run value (bogus)"),
                            ("-l a=b", "cannot specify both a node name and a --selector option"), ("--forse", "--force")):
            with self.subTest(flag):
                done = self.slipway(f"drain w1 {flag}")
                self.assertEqual((done.out, done.code), ("", USAGE), done)
                self.assertIn(piece, done.err)
        self.assertFalse(self.cordoned("w1"))

    def test_rules(self) -> None:
        self.add(pod("a", "w1"), pod("b", "w1", {"keep": "me"}))
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
            f.write("apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\nrules:\n"
                    "  - {name: keep, match: {labels: {matchLabels: {keep: me}}}, action: skip}\n")
            f.flush()
            self.assertEqual(self.slipway(f"drain w1 --force --rules {f.name}").code, DONE)
            self.assertEqual(self.names(), {"b"})
            f.write("  - {nmae: x}\n")
            f.flush()
            done = self.slipway(f"drain w2 --rules {f.name}")
            self.assertEqual(done.code, USAGE)
            self.assertRegex(done.err, r"^error: --rules: \S+\.yaml:5:\d+: ")

    def test_rules_from_standard_input(self) -> None:
        self.add(pod("a", "w1", {"keep": "me"}))
        head = "apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\nrules:\n"
        done = run("drain", "w1", "--rules", "-", stdin=head + "  - {name: keep, match: {labels: {matchLabels: {keep: me}}}, action: skip}\n",
                   **self.env())
        self.assertEqual((done.code, self.names()), (DONE, {"a"}), done)
        done = run("drain", "w1", "--rules=-", stdin=head + "  - {nmae: x}\n", **self.env())
        self.assertEqual(done.code, USAGE)
        self.assertRegex(done.err, r"^error: --rules: standard input:4:\d+: ")

    def test_match_server_version(self) -> None:
        """One request before the others, as kubectl; the simulator is of a version that was tested."""
        done = self.slipway("drain w1 --match-server-version -v=6")
        self.assertEqual(done.code, DONE)
        urls = re.findall(r'verb="GET" url="https://[^/]+(/[^"]*)"', done.err)
        self.assertEqual(urls[0], "/version?timeout=32s")
        self.assertNotIn("/version", self.slipway("drain w1 -v=6").err)


class Ends(Case):
    def test_blocked(self) -> None:
        self.stuck()
        done = self.slipway("drain w1 --force --timeout 1s")
        self.assertEqual(done.code, BLOCKED)
        self.assertRegex(done.err, r"(?m)^pod default/held waits: PDB\w+ default/never: .*needs 1 healthy")
        self.assertRegex(done.err, r'(?m)^There are pending pods in node "w1" when an error occurred: .*\n'
                                   r"default/held  PDB\w+ default/never: .*  \ds$")
        self.assertRegex(done.err, r'(?m)^error: unable to drain node "w1" due to error: .*, continuing command\.\.\.$')
        self.assertIn("There are pending nodes to be drained:\n w1\n", done.err)
        self.assertNotIn("node/w1 drained", done.out)
        self.assertEqual(self.names(), {"held"})

    def test_partly(self) -> None:
        self.stuck()
        done = self.slipway("drain w1 w2 --force --timeout 1s")
        self.assertEqual(done.code, BLOCKED)
        self.assertIn("node/w2 drained\n", done.out)
        self.add(pod("bare", "w3"))
        self.assertEqual(self.slipway("drain w2 w3 --timeout 1s").code, PARTIAL)

    def interrupted(self, line: str, number: int = signal.SIGINT) -> Result:
        self.stuck()
        p = self.start(line)
        until(lambda: self.cordoned("w1"), "the cordon")
        first = p.stderr.readline()
        while "waits" not in first:
            first = p.stderr.readline()
            self.assertTrue(first, "it ended by itself")
        p.send_signal(number)
        out, err = p.communicate(timeout=LIMIT)
        return Result(out, err, p.returncode)

    def test_interrupted(self) -> None:
        done = self.interrupted("drain w1 --force --reason 'a b'")
        self.assertEqual(done.code, INTERRUPTED)
        self.assertTrue(done.err.endswith("Stopped: 0 of 1 node drained, 0 pods evicted, 1 left\n"
                                          "To go on:  slipway drain w1 --force --reason 'a b'\n"
                                          "To undo:   slipway uncordon w1\n"), done.err)
        self.assertEqual((self.names(), self.cordoned("w1")), ({"held"}, True))
        self.assertEqual(self.slipway("uncordon w1").out, "node/w1 uncordoned\n")

    def test_interrupted_with_rules_from_standard_input(self) -> None:
        """The command that goes on must not wait for what nobody types."""
        self.stuck()
        p = subprocess.Popen([SLIPWAY, "drain", "w1", "--force", "--rules", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, env=environment(**self.env()))
        p.stdin.write("apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\nrules: []\n")
        p.stdin.close()
        p.stdin = None
        while "waits" not in p.stderr.readline():
            self.assertIsNone(p.poll())
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=LIMIT)
        self.assertIn("To go on:  slipway drain w1 --force --rules FILE  # the rules came from standard input: save them in FILE\n", err)

    def test_interrupted_deletion(self) -> None:
        """What was deleted was not evicted."""
        held = pod("b", "w1")
        held["metadata"]["finalizers"] = ["example.com/held"]
        self.add(pod("a", "w1"), held)
        self.addCleanup(self.sim.client.patch, "/api/v1/namespaces/default/pods/b", {"metadata": {"finalizers": None}})
        p = self.start("drain w1 --force --disable-eviction")
        while "pod/a deleted" not in (line := p.stdout.readline()):
            self.assertTrue(line, "it ended by itself")
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=LIMIT)
        self.assertEqual(p.returncode, INTERRUPTED)
        self.assertRegex(err, r"(?m)^Stopped: 0 of 1 node drained, 1 pod deleted, 1 still ending, 0 left$")

    def test_terminated_and_undone(self) -> None:
        done = self.interrupted("drain w1 --force --uncordon-on-abort", signal.SIGTERM)
        self.assertEqual((done.code, self.cordoned("w1")), (TERMINATED, False))
        self.assertIn("node/w1 uncordoned\n", done.out)
        self.assertNotIn("To undo", done.err)

    def test_secrets_are_not_shown_again(self) -> None:
        token = self.sim.client.token
        done = self.interrupted(f"drain w1 --force --token {token}")
        self.assertIn("To go on:  slipway drain w1 --force --token ...\n", done.err)
        self.assertNotIn(token, done.err)


class Waits(Case):
    """Nothing waits silently: one line on standard error, with the reason."""

    def test_waits_for_the_end_of_a_pod(self) -> None:
        self.add(pod("job", "w1", {"cluster.x-k8s.io/drain": "wait-completed"}))
        p = self.start("drain w1 --force")
        told = ""
        while "waits" not in told:
            line = p.stderr.readline()
            self.assertTrue(line, "it ended by itself")
            told += line
        self.assertIn("pod default/job waits: JobRunning: it shall finish by itself (cluster.x-k8s.io/drain=wait-completed)\n", told)
        self.assertNotIn("deleting Pods", told)  # nobody does

    def test_waits_for_its_turn(self) -> None:
        self.stuck()
        done = self.slipway("drain w1 w2 w3 --force --max-unavailable 1 --timeout 4s")
        self.assertEqual(done.err.count("waits: MaxUnavailableReached"), 1, done.err)


class History(Case):
    def test_after_one_that_was_killed(self) -> None:
        """A line that was cut off does not take the next one with it."""
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "history"
            for node in ("w1", "w2"):
                self.add(pod(f"p-{node}", node, {}))
                self.assertEqual(self.slipway(f"drain {node} --force --history {path}").code, DONE)
                if node == "w1":
                    path.write_text(path.read_text()[:-20])
            cut, whole = path.read_text().splitlines()
            self.assertEqual(json.loads(whole)["node"], "w2")
            with self.assertRaises(ValueError):
                json.loads(cut)


    def test_what_says_nothing_about_others(self) -> None:
        """What has ended already, and what was given less time than it has by itself."""
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "history"
            self.add(pod("own", "w1"))
            self.add(pod("less", "w1", terminationGracePeriodSeconds=2))
            self.add(pod("ended", "w1", restartPolicy="Never"))
            self.sim.client.patch("/api/v1/namespaces/default/pods/ended/status", {"status": {"phase": "Succeeded"}})
            self.assertEqual(self.slipway(f"drain w1 --force --grace-period 1 --history {path}").code, DONE)
            self.assertEqual([json.loads(line)["pod"] for line in path.read_text().splitlines()], ["own"])

    def test_no_regular_file(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "fifo"
            os.mkfifo(path)
            done = self.slipway(f"drain w1 --force --history {path}")
            self.assertEqual((done.code, done.err), (USAGE, f"error: --history: {path}: is no regular file\n"))


class Surge(Case):
    def deployment(self) -> dict:
        return self.sim.client.get("/apis/apps/v1/namespaces/default/deployments/solo")

    def killed(self) -> str:
        """A drain that was killed while a Deployment had its second replica; returns the node."""
        c = self.sim.client
        c.call("POST", "/apis/apps/v1/namespaces/default/deployments", {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "solo"},
            "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "solo"}}, "template": {
                "metadata": {"labels": {"app": "solo"}}, "spec": {"containers": [{"name": "main", "image": "registry.test/app:1"}]}}}})
        self.addCleanup(c.call, "DELETE", "/apis/apps/v1/namespaces/default/deployments/solo")
        node = until(lambda: next((p["spec"]["nodeName"] for p in c.pods() if p["status"].get("phase") == "Running"), None), "the pod")
        for other in {f"w{i}" for i in range(1, 6)} - {node}:  # there is no room for the second one
            c.patch(f"/api/v1/nodes/{other}", {"spec": {"unschedulable": True}})
        p = self.start(f"drain {node} --surge")
        until(lambda: self.deployment()["spec"]["replicas"] == 2, "the second replica")
        p.kill()
        p.wait()
        return node

    def test_killed_and_uncordoned(self) -> None:
        node = self.killed()
        for verb in ("status", f"status {node}", "doctor"):
            done = self.slipway(verb)
            self.assertIn(f"Deployment default/solo has 2 replicas instead of 1 since the drain of node {node} by cli/alice",
                          done.out + done.err, verb)
        # Another holder's is left alone.
        self.assertEqual(self.slipway(f"uncordon {node} --holder bob").code, REFUSED)
        self.assertEqual(self.deployment()["spec"]["replicas"], 2)
        done = self.slipway(f"uncordon {node}")
        self.assertEqual((done.out, done.code), (f"node/{node} uncordoned\n", DONE))
        self.assertIn("Deployment default/solo has 1 replica again", done.err)
        d = self.deployment()
        self.assertEqual(d["spec"]["replicas"], 1)
        self.assertNotIn("slipway.dev/surge", d["metadata"].get("annotations", {}))
        self.assertNotIn("slipway.dev/surge", d["metadata"].get("labels", {}))
        self.assertEqual(self.slipway(f"uncordon {node}").err, "")
        self.assertNotIn("replicas instead of", self.slipway("doctor").out + self.slipway("status").err)

    def test_of_anybody(self) -> None:
        node = self.killed()
        self.assertIn("has 1 replica again", self.slipway(f"uncordon {node} --any-holder --holder bob").err)
        self.assertEqual(self.deployment()["spec"]["replicas"], 1)


class Progress(Case):
    def events(self, out: str) -> list[dict]:
        return [json.loads(line) for line in out.splitlines()]

    def test_json(self) -> None:
        for flag in ("--json", "--progress=json"):
            self.add(pod("a", "w1"))
            done = self.slipway(f"drain w1 --force {flag}")
            events = self.events(done.out)
            self.assertEqual((done.code, events[0]["type"], events[-1]["type"], events[-1]["exit"]), (DONE, "hello", "summary", DONE))
            self.assertNotRegex(done.out, r"(?m)^evicting pod")
            self.assertEqual([e["ts"] for e in events], sorted(e["ts"] for e in events))

    def test_json_when_refused(self) -> None:
        self.add(pod("a", "w1"))
        done = self.slipway("drain w1 --json")
        self.assertEqual((done.code, self.events(done.out)[-1]["exit"]), (FAILED, FAILED))

    def test_json_whatever_happens(self) -> None:
        """A hello, a summary with the exit code and the error, also when nothing could be begun."""
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
            f.write("kind: Nonsense\n")
            f.flush()
            for line, code, piece in (("nope", FAILED, 'nodes "nope" not found'), ("w1 nope nada", FAILED, 'nodes "nada" not found'),
                                      ("-l nope=1", DONE, None), ("w1 --server=http://127.0.0.1:1", ACCESS, "was refused"),
                                      (f"w1 --rules {f.name}", USAGE, "--rules"), ("'w[1-'", USAGE, "w[1-"), ("", USAGE, "USAGE"),
                                      ("w1 --pod-selector='a in (b'", USAGE, "--pod-selector"),
                                      ("w1 --kubeconfig /nonexistent", USAGE, "/nonexistent")):
                with self.subTest(line):
                    done = self.slipway(f"drain --json {line}")
                    events = self.events(done.out)
                    self.assertEqual((done.code, events[0]["type"], events[-1]["type"]), (code, "hello", "summary"), done)
                    self.assertEqual([e["seq"] for e in events], list(range(1, len(events) + 1)))
                    self.assertEqual((events[-1]["exit"], events[-1]["nodes"]), (code, 0))
                    if piece:
                        self.assertIn(piece, events[-1]["error"])
                        self.assertIn(piece, done.err)
                    else:
                        self.assertNotIn("error", events[-1])
                        self.assertEqual(done.err, "")
        self.assertFalse(self.cordoned("w1"))

    def test_plain(self) -> None:
        done = self.slipway("drain w1 --progress=plain")
        self.assertEqual(done.out, "node/w1 cordoned\nnode/w1 drained\n")
        self.assertRegex(done.err, r"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ info w1 ")

    def test_quiet(self) -> None:
        self.add(pod("a", "w1"))
        for flag in ("--progress=quiet", "-q"):
            done = self.slipway(f"drain w2 {flag}")
            self.assertEqual((done.code, done.err), (DONE, ""))
        done = self.slipway("drain w1 -q")
        self.assertEqual(done.code, FAILED)
        self.assertIn("cannot delete Pods that declare no controller", done.err)

    def test_quiet_names_the_pods_that_are_left(self) -> None:
        self.stuck()
        for flag in ("--progress=quiet", "-q"):
            done = self.slipway(f"drain w1 --force --timeout 1s {flag}")
            self.assertEqual(done.code, BLOCKED)
            self.assertRegex(done.err, r"\Aerror: node/w1: .*\n     default/held: PDB\w+ default/never: .*needs 1 healthy.*, for \ds.*\n"
                                       r"       \S+ .*\n\Z")

    def test_escalations_are_told_in_every_mode(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
            f.write("apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\nrules:\n"
                    "  - {name: go, match: {labels: {matchLabels: {app: held}}}, escalate: [{to: delete, after: 1s}]}\n")
            f.flush()
            for flag in ("", "-q", "--progress=plain", "--json"):
                with self.subTest(flag):
                    self.stuck()
                    done = self.slipway(f"drain w1 --force --rules {f.name} {flag}")
                    self.assertEqual(done.code, DONE)
                    self.assertIn("pod default/held: deleted instead of evicted", done.err)
                    if flag == "--json":
                        self.assertEqual([e["pod"]["name"] for e in self.events(done.out) if e.get("event") == "escalated"], ["held"])
                    self.tearDown()

    def test_environment(self) -> None:
        self.assertRegex(self.slipway("drain w1", SLIPWAY_PROGRESS="plain").err, r"^\d{4}-")


if __name__ == "__main__":
    tap.main()
