"""The verb `rehearse`: a drain on a copy of a cluster, live or from a snapshot. On the simulator, which a copy can be compared with; on a
real cluster it is in tests/cluster/test_rehearse.py."""

from __future__ import annotations

import gzip
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import TOP, Result, run  # noqa: E402
from simulation import Sim, until  # noqa: E402

DONE, FAILED, BLOCKED, DENIED, USAGE = 0, 1, 3, 5, 64
TIMED_OUT = "blocked"


class Case(unittest.TestCase):
    """Snapshots of scenarios, each taken once."""

    files: dict[str, Path] = {}

    @classmethod
    def setUpClass(cls) -> None:
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.directory = Path(directory.name)
        cls.files = {}

    def snapshot(self, scenario: str) -> str:
        path = self.directory / f"{scenario}.json.gz"
        if not path.exists():
            with Sim("--scenario", scenario) as sim:
                done = run("snapshot", "--out", str(path), KUBECONFIG=str(sim.kubeconfig))
                self.assertEqual(done.code, 0, done.err)
        return str(path)

    def rehearse(self, scenario: str, *args: str, code: int = DONE) -> Result:
        done = run("rehearse", "--snapshot", self.snapshot(scenario), *args)
        self.assertEqual(done.code, code, done.out + done.err)
        return done

    def document(self, scenario: str, *args: str, code: int = DONE) -> dict:
        return json.loads(self.rehearse(scenario, *args, "-o", "json", code=code).out)


class Told(Case):
    def test_says_what_happens(self) -> None:
        out = self.rehearse("happy", "w[1-2]", "--runs", "5").out
        self.assertRegex(out, r"\ARehearsed: 2 nodes would be drained in \d+[ms]")
        self.assertRegex(out, r"(?m)^Order \(of the middle run\)$")
        self.assertRegex(out, r"(?m)^ +0s to \d\S* +w")
        self.assertRegex(out, r"(?m)^Budgets closest to the edge$")
        self.assertIn(" (6 nodes, ", " ".join(out.split()))
        self.assertIn("How long pods take to end is assumed for ", " ".join(out.split()))
        self.assertTrue(out.endswith("Nothing was changed in the cluster.\n"))

    def test_what_has_no_node_afterwards(self) -> None:
        """The drain ends well, and what it evicted stays Pending."""
        doc = self.document("webhook-less-edge", "edge1", "--runs", "2")
        self.assertEqual([(p["workload"], p["pods"], p["example"], p["runs"]) for p in doc["pending"]],
                         [("default/StatefulSet/recorder-1", 1, "recorder-1-0", 2)])
        self.assertIn("2 node(s) didn't match PersistentVolume's node affinity", doc["pending"][0]["why"])
        self.assertEqual(doc["left"], [])
        out = self.rehearse("webhook-less-edge", "edge1", "--runs", "2").out
        self.assertRegex(out, r"(?m)^Without a node afterwards\n . default/StatefulSet/recorder-1  1 pod, recorder-1-0: 0/3 nodes")
        self.assertEqual(self.document("happy", "w1", "--runs", "1")["pending"], [])

    def test_dry_run(self) -> None:
        done = self.rehearse("happy", "w1", "--dry-run=client", "--runs", "1")
        self.assertIn("--dry-run changes nothing", done.err)

    def test_counts_of_several_runs(self) -> None:
        """Which pods stay may differ from run to run: the line has all of those below it."""
        out = self.rehearse("full", "w[1-2]", "--runs", "5", code=BLOCKED).out
        for least, most in re.findall(r"undrained in all 5 runs: (?:(\d+) to )?(\d+) of 7 pods left", out):
            self.assertLessEqual(int(least or 0), int(most))
        nodes = {n["name"]: n for n in self.document("full", "w[1-2]", "--runs", "5", code=BLOCKED)["nodes"]}
        said = dict(re.findall(r"(?m)^ . (w\d)  would stay undrained in all 5 runs: (?:\d+ to )?(\d+) of 7", out))
        for name, most in said.items():
            self.assertGreaterEqual(int(most), nodes[name]["podsLeft"])
        self.assertEqual(sorted(said), ["w1", "w2"])

    def test_document(self) -> None:
        d = self.document("happy", "w1", "w2", "--runs", "7", "--seed", "3")
        self.assertEqual((d["schema"], d["exitCode"], d["wholeRuns"]), ("slipway.rehearsal/1.1", 0, 7))
        self.assertEqual([r["seed"] for r in d["runs"]], list(range(3, 10)))
        self.assertLessEqual(d["took"]["p10"], d["took"]["p50"])
        self.assertLessEqual(d["took"]["p50"], d["took"]["p90"])
        self.assertEqual({n["name"] for n in d["nodes"]}, {"w1", "w2"})
        self.assertTrue(all(p["gone"] > 0 for n in d["nodes"] for p in n["pods"]))
        self.assertEqual(d["basis"]["podsMovedBefore"], 0)

    def test_document_is_described(self) -> None:
        """Each member of it, by its name, in docs/rehearse.md."""
        text = (TOP / "docs" / "rehearse.md").read_text()
        described = text[text.index("## The document"):]
        found: set[str] = set()

        def collect(v: object) -> None:
            for item in v if isinstance(v, list) else v.values() if isinstance(v, dict) else ():
                collect(item)
            found.update(v if isinstance(v, dict) else ())
        for scenario, code in (("pdb-stuck", BLOCKED), ("happy", DONE), ("pinned", FAILED)):
            collect(self.document(scenario, "w1", "--runs", "2", code=code))
        self.assertGreater(len(found), 50)
        self.assertEqual({name for name in found if f"`{name}`" not in described and name not in ("p10", "p50", "p90")}, set())

    def test_fits_the_screen(self) -> None:
        """No line is wider than the terminal, but where a single name is; without one it is 80 columns."""
        for scenario, code in (("pdb-stuck", BLOCKED), ("happy", DONE), ("zones", DONE)):
            for columns in (40, 80, None):
                with self.subTest(scenario, columns=columns):
                    terminal = {"SLIPWAY_FORCE_TTY": str(columns), "NO_COLOR": "1"} if columns else {}
                    done = run("rehearse", "w1", "w2", "--runs", "3", "--snapshot", self.snapshot(scenario), **terminal)
                    self.assertEqual(done.code, code, done.err)
                    for line in done.out.splitlines():
                        self.assertTrue(len(line) <= (columns or 80) or len(line.split()) == 1, line)

    def test_says_when_it_gives_up(self) -> None:
        d = self.document("pdb-stuck", "w1", "--runs", "2", code=BLOCKED)
        self.assertEqual(d["haltAfter"], 1800)
        out = self.rehearse("pdb-stuck", "w1", "--runs", "2", code=BLOCKED).out
        self.assertIn("All runs were given up when nothing had moved for 30m00s", " ".join(out.split()))
        self.assertNotIn("given up", self.rehearse("happy", "w1", "--runs", "2").out)

    def test_same_seed_same_result(self) -> None:
        first, second = (self.rehearse("zones", "w1", "-o", "json", "--runs", "3").out for _ in range(2))
        self.assertEqual(first, second)
        self.assertNotEqual(first, self.rehearse("zones", "w1", "-o", "json", "--runs", "3", "--seed", "77").out)

    def test_blocked_for_ever(self) -> None:
        d = self.document("pdb-stuck", "w1", code=BLOCKED)
        self.assertEqual((d["exitCode"], d["wholeRuns"]), (BLOCKED, 0))
        self.assertEqual(d["haltedRuns"], len(d["runs"]))
        self.assertIn("PDBUnsatisfiable", {w["code"] for w in d["waits"]})
        self.assertTrue(all(p["code"] == "PDBUnsatisfiable" for p in d["left"]), d["left"])
        out = self.rehearse("pdb-stuck", "w1", code=BLOCKED).out
        self.assertIn("nothing moves any more after ", out)
        self.assertRegex(out, r"(?m)^ ! w1  would stay undrained in all 10 runs: \d+ of \d+ pods? left$")

    def test_flags_of_drain(self) -> None:
        """They mean the same: what is refused without is done with."""
        d = self.document("pinned", "w1", code=FAILED)
        self.assertEqual(d["nodes"][0]["phase"], "refused")
        self.assertEqual({p["code"] for p in d["left"] if p["why"].startswith("refused: ")}, {"BarePod"}, d["left"])
        d = self.document("pdb-stuck", "w1", "--timeout", "90s", code=BLOCKED)
        self.assertEqual((d["nodes"][0]["phase"], d["haltedRuns"]), (TIMED_OUT, 0))
        self.assertTrue(85 < d["took"]["p50"] < 100, d["took"])
        self.document("pdb-stuck", "w1", "--disable-eviction")
        one = self.document("happy", "w[1-3]", "--parallel", "1")
        order = sorted(one["nodes"], key=lambda n: n["began"]["p50"])
        self.assertGreater(order[2]["began"]["p50"], order[0]["took"]["p50"])

    def test_rules(self) -> None:
        rules = self.directory / "rules.yaml"
        rules.write_text("rules:\n- match: {namespaces: [shop]}\n  action: nonsense\n")
        done = run("rehearse", "w1", "--snapshot", self.snapshot("happy"), "--rules", str(rules))
        self.assertEqual(done.code, USAGE)
        self.assertIn("--rules: ", done.err)

    def test_selector(self) -> None:
        d = self.document("zones", "-l", "topology.kubernetes.io/zone=a,!no", "--runs", "1", "--disable-eviction")
        self.assertEqual([n["name"] for n in sorted(d["nodes"], key=lambda n: n["name"])], self.names("zones", "a"))
        done = run("rehearse", "-l", "no=node", "--snapshot", self.snapshot("zones"))
        self.assertEqual((done.code, done.out, done.err), (DONE, "", "No nodes found\n"))

    def names(self, scenario: str, zone: str) -> list[str]:
        with gzip.open(self.snapshot(scenario), "rt") as f:
            nodes = [o for o in map(json.loads, f) if o.get("kind") == "Node"]
        return sorted(n["metadata"]["name"] for n in nodes if n["metadata"]["labels"]["topology.kubernetes.io/zone"] == zone)


class History(Case):
    """What earlier drains have seen makes it sharper."""

    def lines(self, seconds: float, spread: float = 0.5) -> str:
        path = self.directory / f"history-{seconds}"
        with open(path, "w") as f:
            for workload in ("shop-1/Deployment/web", "shop-1/Deployment/worker", "shop-1/StatefulSet/db"):
                for i in range(5):
                    f.write(json.dumps({"v": 1, "workload": workload, "stop": seconds + spread * i / 4}) + "\n")
        return str(path)

    def test_sharper(self) -> None:
        only_pods = ("--runs", "100", "--volume-detach-timeout", "1s")  # how long volumes take to detach no history tells
        vague = self.document("happy", "w1", *only_pods)
        sharp = self.document("happy", "w1", *only_pods, "--history", self.lines(4))
        self.assertEqual(vague["basis"]["observations"], 0)
        self.assertEqual(sharp["basis"]["observations"], 15)
        self.assertGreater(vague["basis"]["stopsAssumed"], 0)
        self.assertEqual(sharp["basis"]["stopsAssumed"], 0)

        def width(d: dict) -> float:
            return d["took"]["p90"] - d["took"]["p10"]
        self.assertLess(width(sharp), width(vague) * 0.8)
        self.assertTrue(4 <= sharp["took"]["p50"] < 15, sharp["took"])

    def test_longer_is_longer(self) -> None:
        short, long = (self.document("happy", "w1", "--history", self.lines(s))["took"]["p50"] for s in (2, 25))
        self.assertGreater(long, short + 15)

    def test_starts(self) -> None:
        """How long replacements took counts, more than what running pods show."""
        path = self.directory / "starts"
        with open(path, "w") as f:
            for workload in ("web", "worker"):
                for i in range(4):
                    f.write(json.dumps({"v": 1, "workload": f"shop-1/Deployment/{workload}", "up": 60 + i}) + "\n")
        usual = self.document("happy", "w[1-3]", "--parallel", "1", "--wait-rescheduled")
        slow = self.document("happy", "w[1-3]", "--parallel", "1", "--wait-rescheduled", "--history", str(path))
        self.assertEqual(slow["basis"]["observations"], 8)
        self.assertGreater(slow["took"]["p50"], usual["took"]["p50"] + 40)

    def test_control_plane(self) -> None:
        """How long it takes is drawn from what was seen, or assumed, and said either way."""
        d = self.document("happy", "w1", "--runs", "2")
        self.assertEqual(d["basis"]["controlPlane"], {"drains": 0, "assumed": True, "answer": {"least": 0.02, "most": 0.4},
                                                      "step": {"least": 0, "most": 0}, "budget": {"least": 0, "most": 0},
                                                      "begin": {"least": 0, "most": 0}, "times": {"least": 1, "most": 1}})
        words = " ".join(self.rehearse("happy", "w1", "--runs", "2").out.split())
        self.assertIn("A request to the API is assumed to take 20 to 400 ms", words)
        path = self.directory / "lags"
        path.write_text("".join(json.dumps({"v": 1, "drain": drain, "workload": "a/Pod/b", "stop": 1, "answer": answer, "up": 1,
                                            "place": place, "turn": turn}) + "\n"
                                for drain, answer, place, turn in (("a", 0.01, 0.06, 0.11), ("a", 0.01, 0.06, 0.11), ("b", 3, 5, 4))))
        d = self.document("happy", "w1", "--runs", "40", "--history", str(path))
        self.assertEqual(d["basis"]["controlPlane"], {"drains": 2, "assumed": False, "answer": {"least": 0.01, "most": 3},
                                                      "step": {"least": 0.03, "most": 2.5}, "budget": {"least": 0.1, "most": 1},
                                                      "begin": {"least": 0, "most": 0}, "times": {"least": 0.75, "most": 6}})
        words = " ".join(self.rehearse("happy", "w1", "--runs", "2", "--history", str(path)).out.split())
        self.assertIn("A request to the API took 10 to 3000 ms, a step of a controller or the scheduler 30 to 2500 ms, a budget to be "
                      "counted anew 100 to 1000 ms, in 2 earlier drains. How busy it will be is not known: each run takes 0.75 to 6 "
                      "times that.", words)

    def test_slow_to_begin(self) -> None:
        """A drain that took long to begin is one that is drained later, not one that never is."""
        path = self.directory / "begin"
        path.write_text(json.dumps({"v": 1, "drain": "a", "workload": "a/Pod/b", "stop": 1, "answer": 0.01, "begin": 900}) + "\n")
        d = self.document("happy", "w1", "--history", str(path))
        self.assertEqual((d["wholeRuns"], d["haltedRuns"], d["nodes"][0]["drainedRuns"]), (10, 0, 10))
        self.assertTrue(all(run["drained"] == 1 and run["took"] > 600 for run in d["runs"]), d["runs"])

    def test_long_ago(self) -> None:
        """A pod that took days to go does not make the history useless."""
        path = self.directory / "days"
        path.write_text(json.dumps({"v": 1, "drain": "a", "workload": "a/Pod/b", "stop": 300000}) + "\n")
        d = self.document("happy", "w1", "--runs", "1", "--history", str(path))
        self.assertEqual(d["basis"]["observations"], 0)

    def test_what_drain_writes(self) -> None:
        """A line for each pod that goes and for each that comes instead; a rehearsal goes by both."""
        path = self.directory / "written"
        with Sim("--nodes", "4", "--speed", "20") as sim:
            env = {"KUBECONFIG": str(sim.kubeconfig)}
            done = run("drain", "w1", "--history", str(path), "--wait-rescheduled", **env)
            self.assertEqual(done.code, DONE, done.err)
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            stops, ups = ([e for e in lines if key in e] for key in ("stop", "up"))
            self.assertTrue(stops and ups, lines)
            self.assertEqual(len({e["drain"] for e in lines}), 1)
            self.assertTrue(all(e["node"] == "w1" and e["answer"] > 0 for e in stops), stops)
            self.assertTrue(all(e["node"] != "w1" for e in ups), ups)
            self.assertLessEqual({e["workload"] for e in ups}, {e["workload"] for e in stops})
            self.assertTrue(any(e.get("place", -1) >= 0 for e in ups), ups)
            self.assertEqual([e["begin"] > 0 for e in lines if "begin" in e], [True], lines)
            self.assertEqual(run("uncordon", "w1", **env).code, DONE)
            d = json.loads(run("rehearse", "w2", "--history", str(path), "-o", "json", **env).out)
            self.assertEqual((d["basis"]["observations"], d["basis"]["startsObserved"]), (len(lines), len(ups)))
            self.assertEqual(d["basis"]["controlPlane"]["drains"], 1)

    def test_mistakes(self) -> None:
        path = self.directory / "bad"
        path.write_text('{"v":1}\n')
        done = run("rehearse", "w1", "--snapshot", self.snapshot("happy"), "--history", str(path))
        self.assertEqual((done.code, done.out), (USAGE, ""))
        self.assertIn(f"--history: {path}:1: ", done.err)
        missing = self.directory / "missing"
        done = run("rehearse", "w1", "--snapshot", self.snapshot("happy"), "--history", str(missing))
        self.assertEqual((done.code, done.out), (USAGE, ""))
        self.assertIn(f"--history: {missing}: No such file or directory ('slipway drain --history FILE' writes one)", done.err)


class Live(Case):
    def test_changes_nothing(self) -> None:
        """The live cluster is read: not one object of it has another version afterwards, but for heartbeats."""
        with Sim("--nodes", "5") as sim:
            def versions() -> dict:
                paths = ["/api/v1/pods", "/apis/policy/v1/poddisruptionbudgets", "/apis/apps/v1/deployments", "/api/v1/events",
                         "/apis/storage.k8s.io/v1/volumeattachments"]
                found = {o["metadata"]["uid"]: o["metadata"]["resourceVersion"] for p in paths for o in sim.client.get(p)["items"]}
                nodes = {n["metadata"]["name"]: (n["spec"], n["metadata"].get("annotations")) for n in sim.client.get("/api/v1/nodes")["items"]}
                return found | nodes
            before = versions()
            done = run("rehearse", "w1", "w2", "--runs", "3", KUBECONFIG=str(sim.kubeconfig))
            self.assertEqual((done.code, done.err), (DONE, ""))
            self.assertIn("Based on the cluster as it was at ", done.out)
            self.assertEqual(versions(), before)

    def test_mistakes(self) -> None:
        with Sim("--nodes", "2", "--scenario", "empty") as sim:
            env = {"KUBECONFIG": str(sim.kubeconfig)}
            done = run("rehearse", **env)
            self.assertEqual((done.code, done.out), (USAGE, ""))
            self.assertIn("USAGE: rehearse NODE", done.err)
            done = run("rehearse", "w1", "nope", **env)
            self.assertEqual((done.code, done.out), (FAILED, ""))
            self.assertIn('nodes "nope" not found', done.err)
            for args in (("--runs", "0"), ("--runs", "x"), ("--seed", "-1"), ("--snapshot", "/nonexistent")):
                done = run("rehearse", "w1", *args, **env)
                self.assertEqual(done.code, USAGE, (args, done.err))
            self.assertEqual(run("rehearse", "w1", **env).code, DONE)
        done = run("rehearse", "w1", KUBECONFIG="/nonexistent")
        self.assertNotEqual(done.code, DONE)


DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
LONGHORN = ("Volume", "Replica", "Engine", "Node", "InstanceManager", "Setting")


class Checks(Case):
    """Storage and quorums are obeyed as in a drain. Nobody rebuilds anything in a copy, and that is said."""

    def longhorn(self, sim: Sim) -> None:
        """A volume with a replica on w1 and on w2, attached to neither."""
        c = sim.client
        for kind in LONGHORN:
            plural = kind.lower() + "s"
            schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
            made = {"metadata": {"name": f"{plural}.longhorn.io"}, "spec": {
                "group": "longhorn.io", "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
                "versions": [{"name": "v1beta2", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}
            self.assertEqual(c.call("POST", DEFINITIONS, made)[0], 201)
        for kind in LONGHORN:
            until(lambda: c.call("GET", f"/apis/longhorn.io/v1beta2/{kind.lower()}s")[0] == 200, kind)
        self.put(sim, "Volume", "v", {"numberOfReplicas": 2, "dataLocality": "disabled"}, {"state": "detached", "robustness": "unknown"})
        for node in ("w1", "w2"):
            self.put(sim, "Replica", f"v-{node}", {"volumeName": "v", "nodeID": node, "healthyAt": "2026-11-15T08:00:00Z", "failedAt": "",
                                                   "desireState": "stopped"}, {"currentState": "stopped"})
            self.put(sim, "InstanceManager", f"m-{node}", {"nodeID": node, "type": "aio", "dataEngine": "v1"}, {"currentState": "running"})
        code, answer = c.call("POST", "/apis/longhorn.io/v1beta2/namespaces/default/settings",
                              {"apiVersion": "longhorn.io/v1beta2", "kind": "Setting", "metadata": {"name": "node-drain-policy"},
                               "value": "block-if-contains-last-replica"})
        self.assertEqual(code, 201, answer)

    def put(self, sim: Sim, kind: str, name: str, spec: dict, status: dict) -> None:
        code, answer = sim.client.call("POST", f"/apis/longhorn.io/v1beta2/namespaces/default/{kind.lower()}s",
                                       {"apiVersion": "longhorn.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec,
                                        "status": status})
        self.assertEqual(code, 201, answer)

    def volume(self, sim: Sim, replicas: int | str = 2, **status: str) -> None:
        sim.client.patch("/apis/longhorn.io/v1beta2/namespaces/default/volumes/v", {"spec": {"numberOfReplicas": replicas}, "status": status})

    def replica(self, sim: Sim, node: str, **spec: str) -> None:
        sim.client.patch(f"/apis/longhorn.io/v1beta2/namespaces/default/replicas/v-{node}", {"spec": spec})

    def both(self, sim: Sim, *args: str) -> tuple[dict, Result]:
        """What is rehearsed from the file alone, and what the drain then does."""
        env = {"KUBECONFIG": str(sim.kubeconfig)}
        path = str(self.directory / "checks.json.gz")
        self.assertEqual(run("snapshot", "--out", path, **env).code, DONE)
        said = json.loads(run("rehearse", *args, "--runs", "2", "--snapshot", path, "-o", "json", KUBECONFIG="/nonexistent").out)
        return said, run("drain", *args, **env)

    def test_obeyed(self) -> None:
        with Sim("--nodes", "4", "--speed", "20") as sim:
            self.longhorn(sim)
            skip = ("--skip-check", "longhorn", "--reason", "a test")
            with self.subTest("denied"):
                self.replica(sim, "w2", failedAt="2026-11-15T09:00:00Z", healthyAt="")
                self.volume(sim, replicas=1)
                said, done = self.both(sim, "w1", "--timeout", "20s")
                self.assertEqual((said["exitCode"], done.code), (DENIED, DENIED), (said["nodes"], done.err))
                self.assertEqual(said["nodes"][0]["phase"], "refused")
                self.assertIn("longhorn: ", said["nodes"][0]["error"])
                self.assertIn(said["nodes"][0]["error"], done.err)
                self.assertEqual(said["nodes"][0]["code"], "LastReplica")
                self.assertEqual(said["basis"]["objectsNotSimulated"], 0)
            with self.subTest("waits, and the copy has nobody who ends it"):
                self.replica(sim, "w2", failedAt="", healthyAt="2026-11-15T08:00:00Z")
                self.volume(sim, state="attached", robustness="degraded", currentNodeID="w3")
                said, done = self.both(sim, "w1", "--timeout", "5s")
                self.assertEqual((said["exitCode"], done.code), (BLOCKED, BLOCKED), (said["waits"], done.err))
                waits = [w for w in said["waits"] if w.get("check") == "longhorn"]
                self.assertEqual(len(waits), 1, said["waits"])
                self.assertIn(waits[0]["code"], done.err)
                path = str(self.directory / "checks.json.gz")
                out = run("rehearse", "w1", "--runs", "2", "--snapshot", path).out
                words = " ".join(out.split())
                self.assertIn("does not end here", words)
                self.assertIn("nobody rebuilds, moves or heals anything in a rehearsal", words)
                self.assertIn("with --skip-check longhorn --reason WHY what follows is rehearsed", words)
                self.assertEqual(run("rehearse", "w1", "--runs", "2", *skip, "--snapshot", path).code, DONE)
            with self.subTest("what cannot be read is not well in a copy either"):
                self.volume(sim, replicas="two", state="detached", robustness="unknown", currentNodeID="")
                said, done = self.both(sim, "w1", "--timeout", "5s")
                self.assertEqual((said["exitCode"], done.code), (BLOCKED, BLOCKED), (said["waits"], done.err))
                self.assertEqual([(w["code"], w["check"]) for w in said["waits"]], [("CheckUnknown", "longhorn")])
                self.assertIn("CheckUnknown", done.err)
                self.volume(sim)
            with self.subTest("passes"):
                self.volume(sim, state="detached", robustness="unknown", currentNodeID="")
                said, done = self.both(sim, "w1", "--timeout", "10m")
                self.assertEqual((said["exitCode"], done.code), (DONE, DONE), (said["waits"], done.err))


class Truth(Case):
    """What it says is what a drain of the same cluster does: the same pods go, the same stay."""

    def test_stays(self) -> None:
        for scenario, node in (("two-budgets", "w1"), ("crash-loop", "w1"), ("finalizer-stuck", "w1"), ("pdb-stuck", "w1")):
            with self.subTest(scenario), Sim("--scenario", scenario, "--speed", "30") as sim:
                env = {"KUBECONFIG": str(sim.kubeconfig)}
                here = sim.client.pods
                said = json.loads(run("rehearse", node, "--runs", "3", "-o", "json", "--timeout", "5m", **env).out)
                before = {p["metadata"]["uid"]: p["metadata"]["name"] for ns in self.namespaces(sim)
                          for p in here(ns, spec__nodeName=node)}
                done = run("drain", node, "--timeout", "10s", **env)
                after = {p["metadata"]["uid"] for ns in self.namespaces(sim) for p in here(ns, spec__nodeName=node)}
                stayed = {name for uid, name in before.items() if uid in after}
                self.assertEqual(said["exitCode"] == 0, done.code == 0, (said["left"], done.err))
                self.assertEqual({p["name"] for p in said["left"]}, stayed - self.daemons(sim), done.err)

    @staticmethod
    def daemons(sim: Sim) -> set[str]:
        return {p["metadata"]["name"] for p in sim.client.get("/api/v1/pods")["items"]
                for o in p["metadata"].get("ownerReferences", []) if o["kind"] == "DaemonSet"}

    @staticmethod
    def namespaces(sim: Sim) -> list[str]:
        return [n["metadata"]["name"] for n in sim.client.get("/api/v1/namespaces")["items"]]


if __name__ == "__main__":
    tap.main()
