"""The verb `rehearse`: a drain on a copy of a cluster, live or from a snapshot. On the simulator, which a copy can be compared with; on a
real cluster it is in tests/cluster/test_rehearse.py."""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import Result, run  # noqa: E402
from simulation import Sim  # noqa: E402

DONE, FAILED, BLOCKED, USAGE = 0, 1, 3, 64
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
        self.assertIn(" (6 nodes, ", out)
        self.assertIn("How long pods take to end is assumed for ", out)
        self.assertTrue(out.endswith("Nothing was changed in the cluster.\n"))

    def test_document(self) -> None:
        d = self.document("happy", "w1", "w2", "--runs", "7", "--seed", "3")
        self.assertEqual((d["schema"], d["exitCode"], d["wholeRuns"]), ("slipway.rehearsal/1.0", 0, 7))
        self.assertEqual([r["seed"] for r in d["runs"]], list(range(3, 10)))
        self.assertLessEqual(d["took"]["p10"], d["took"]["p50"])
        self.assertLessEqual(d["took"]["p50"], d["took"]["p90"])
        self.assertEqual({n["name"] for n in d["nodes"]}, {"w1", "w2"})
        self.assertTrue(all(p["gone"] > 0 for n in d["nodes"] for p in n["pods"]))
        self.assertEqual(d["basis"]["podsMovedBefore"], 0)

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
        self.assertEqual((done.code, done.out), (FAILED, ""))
        self.assertIn("no node matches the selector", done.err)

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
        vague = self.document("happy", "w1", "--runs", "100")
        sharp = self.document("happy", "w1", "--runs", "100", "--history", self.lines(4))
        self.assertEqual(vague["basis"]["observations"], 0)
        self.assertEqual(sharp["basis"]["observations"], 15)
        self.assertGreater(vague["basis"]["stopsAssumed"], 0)
        self.assertEqual(sharp["basis"]["stopsAssumed"], 0)

        def width(d: dict) -> float:
            return d["took"]["p90"] - d["took"]["p10"]
        self.assertLess(width(sharp), width(vague) * 0.8)  # how long the volume takes to detach is as uncertain as before
        self.assertTrue(4 <= sharp["took"]["p50"] < 15, sharp["took"])

    def test_longer_is_longer(self) -> None:
        short, long = (self.document("happy", "w1", "--history", self.lines(s))["took"]["p50"] for s in (2, 25))
        self.assertGreater(long, short + 15)

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
