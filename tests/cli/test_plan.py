"""The verbs `plan`, `apply` and `diff` as scripts and people meet them, on the simulator. Whether what a plan says comes true is in
test_plan_truth.py."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import TOP, Result, run  # noqa: E402
from simulation import Sim, until  # noqa: E402

DONE, FAILED, CHANGES, BLOCKED, ACCESS, REFUSED, USAGE = 0, 1, 2, 3, 4, 5, 64
EVERYTHING = ("/api/v1/nodes", "/api/v1/pods", "/api/v1/events", "/apis/policy/v1/poddisruptionbudgets", "/apis/apps/v1/deployments",
              "/apis/apps/v1/statefulsets", "/apis/apps/v1/replicasets")


class Case(unittest.TestCase):
    """A simulated cluster for all tests of a class."""

    ARGS: tuple[str, ...] = ()
    sim: Sim

    @classmethod
    def setUpClass(cls) -> None:
        if not cls.ARGS:
            raise unittest.SkipTest("for others to inherit")
        cls.sim = Sim(*cls.ARGS)
        cls.addClassCleanup(cls.sim.__exit__)

    def setUp(self) -> None:
        d = tempfile.TemporaryDirectory()
        self.addCleanup(d.cleanup)
        self.dir = Path(d.name)

    def slipway(self, line: str, **env: str | None) -> Result:
        return run(*shlex.split(line), KUBECONFIG=str(self.sim.kubeconfig), SUDO_USER="alice", **env)

    def plan(self, line: str) -> dict:
        done = self.slipway(f"plan {line} -o json")
        self.assertEqual((done.err, done.code), ("", DONE), done)
        return json.loads(done.out)

    def pods(self, plan: dict, **want: str) -> dict[str, dict]:
        """Those with these values, by name."""
        return {p["name"]: p for n in plan["nodes"] for p in n["pods"] if all(p.get(k) == v for k, v in want.items())}

    def codes(self, plan: dict) -> dict[str, str]:
        """What is in the way, by object."""
        return {p["blocker"]["object"]: p["blocker"]["code"] for p in self.pods(plan).values() if "blocker" in p}

    def versions(self) -> dict[str, str]:
        """Of all that there is: what somebody else than the kubelets would have written."""
        found = {}
        for path in EVERYTHING:
            for o in self.sim.client.get(path)["items"]:
                meta = o["metadata"]
                mine = {k: o.get(k) for k in ("spec",)} | {k: meta.get(k) for k in ("uid", "generation", "labels", "annotations",
                                                                                   "deletionTimestamp")}
                # Nodes are written to by their kubelets, budgets by their controller; of all others every write counts.
                if path != "/api/v1/nodes":
                    mine["version"] = meta["resourceVersion"]
                found[f"{path}/{meta.get('namespace', '')}/{meta['name']}"] = json.dumps(mine, sort_keys=True)
        return found


class Happy(Case):
    ARGS = ("--nodes", "5", "--scenario", "happy", "--seed", "3")

    def test_text(self) -> None:
        done = self.slipway("plan drain w1")
        self.assertEqual((done.err, done.code), ("", DONE), done)
        lines = done.out.splitlines()
        self.assertRegex(lines[0], r"^Plan [0-9a-f]{16} · 1 node · at most 1 at a time$")
        self.assertRegex(done.out, r"\n  w1 +\d+   drains +now +\d+s\n")
        self.assertNotIn("In the way", done.out)
        self.assertRegex(done.out, r"\nTime: \d+s as planned, \d+s at least \(.*\)\n")
        self.assertEqual(lines[-1], "To run it:  slipway drain w1")

    def test_the_word_drain_may_be_left_out(self) -> None:
        first, second = self.plan("drain w1"), self.plan("w1")
        self.assertEqual(first["nodes"], second["nodes"])
        self.assertEqual(first["id"], second["id"])

    def test_the_document(self) -> None:
        plan = self.plan("drain w1 w2")
        self.assertEqual((plan["schema"], plan["operation"]), ("slipway.plan/1.0", "drain"))
        self.assertIn(self.sim.client.server, plan["server"])
        self.assertEqual({n["name"] for n in plan["nodes"]}, {"w1", "w2"})
        self.assertEqual(sum(plan["pods"].values()), len(self.pods(plan)))
        on = {p["metadata"]["name"]: p for p in self.sim.client.get("/api/v1/pods")["items"]
              if p["spec"].get("nodeName") in ("w1", "w2")}
        self.assertEqual(set(self.pods(plan)), set(on))
        for name, p in self.pods(plan).items():
            self.assertEqual(p["uid"], on[name]["metadata"]["uid"])
            if p["verdict"] in ("goes", "waits"):
                self.assertNotIn(p["to"], ("w1", "w2"))
                self.assertLessEqual(p["evicted"], p["gone"])
        self.assertGreaterEqual(plan["seconds"], plan["lowerBound"]["seconds"])
        self.assertEqual(plan["lowerBound"]["seconds"], max(t["seconds"] for t in plan["lowerBound"]["terms"]))

    def test_the_page_names_every_member(self) -> None:
        """docs/plan.md has every member of the document, and of no other."""
        page = (TOP / "docs" / "plan.md").read_text().split("## The document")[1].split("\n## ")[0]
        named = set(re.findall(r"[`.](\w+)`", page))
        seen: set[str] = set()

        def walk(v: object) -> None:
            if isinstance(v, dict):
                for k, w in v.items():
                    seen.add(k)
                    walk(w)
            elif isinstance(v, list):
                for w in v:
                    walk(w)
        walk({k: v for k, v in self.plan("drain w1 w2").items() if k != "pods"})
        self.assertLessEqual(seen - {"stays", "goes"}, named)

    def test_jsonpath_and_yaml(self) -> None:
        done = self.slipway("plan w1 -o jsonpath='{.nodes[*].name} {.schema}'")
        self.assertEqual(done, Result("w1 slipway.plan/1.0", "", DONE))
        self.assertTrue(self.slipway("plan w1 -o yaml").out.startswith("schema: slipway.plan/1.0\n"))
        self.assertEqual(self.slipway("plan w1 -o name").code, USAGE)

    def test_exit_codes(self) -> None:
        self.assertEqual(self.slipway("plan w1").code, DONE)
        self.assertEqual(self.slipway("plan w1 --detailed-exitcode").code, CHANGES)
        self.assertEqual(self.slipway("plan w1 --detailed-exitcode -o json").code, CHANGES)

    def test_nodes_that_do_not_exist(self) -> None:
        done = self.slipway("plan drain w1 w99 w98")
        self.assertEqual((done.out, done.code), ("", FAILED))
        self.assertIn('nodes "w99" not found', done.err)
        self.assertIn('nodes "w98" not found', done.err)

    def test_a_selector_without_match(self) -> None:
        for flag in ("", " --detailed-exitcode"):
            self.assertEqual(self.slipway("plan -l rack=none" + flag), Result("", "No nodes found\n", DONE))

    def test_usage(self) -> None:
        for line in ("plan", "plan drain", "plan w1 -l a=b", "plan w1 --pod-selector=a=b=c", "plan w1 --rules /nonexistent",
                     "plan w1 --timeout 5", "plan w1 --rules - --out x"):
            with self.subTest(line):
                done = self.slipway(line)
                self.assertEqual((done.out, done.code), ("", USAGE), done)
                self.assertTrue(done.err.startswith("error: "), done)

    def test_nobody_answers(self) -> None:
        done = self.slipway("plan w1 -s https://127.0.0.1:1")
        self.assertEqual((done.out, done.code), ("", ACCESS), done)

    def test_nothing_is_changed(self) -> None:
        before = self.versions()
        for line in ("plan w1", "plan w1 w2 w3 --force --dry-run=server", "plan -l kubernetes.io/os=linux -o json", "plan w1 --surge",
                     f"plan w2 --out {self.dir}/p"):
            self.assertEqual(self.slipway(line).code, DONE, line)
        self.assertEqual(self.versions(), before)

    def test_out(self) -> None:
        path = self.dir / "plan.json"
        done = self.slipway(f"plan w1 --out {path}")
        self.assertEqual((done.err, done.code), ("", DONE))
        self.assertIn("Time: ", done.out)
        first = json.loads(path.read_text())
        self.assertEqual(first["nodes"][0]["name"], "w1")
        self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o111, 0)
        both = self.slipway(f"plan w2 -o json --out {path}")
        self.assertEqual(json.loads(path.read_text()), json.loads(both.out))
        self.assertEqual(os.listdir(self.dir), ["plan.json"])  # nothing is left beside it
        self.assertEqual(json.loads(self.slipway("plan w1 -o json --out /dev/null").out)["id"], first["id"])

    def test_out_where_nothing_can_be_written(self) -> None:
        done = self.slipway(f"plan w1 --out {self.dir}/none/plan.json")
        self.assertEqual((done.out, done.code), ("", FAILED))
        self.assertEqual(done.err, f"error: --out: {self.dir}/none/plan.json: No such file or directory\n")
        (self.dir / "file").write_text("mine")
        done = self.slipway(f"plan w1 --out {self.dir}")
        self.assertEqual((done.out, done.code), ("", FAILED))
        self.assertIn("Is a directory", done.err)
        done = self.slipway("plan w1 --out /dev/full")
        self.assertEqual((done.out, done.code), ("", FAILED))
        self.assertIn("No space left on device", done.err)
        self.assertEqual(os.listdir(self.dir), ["file"])

    def test_the_same_plan_twice(self) -> None:
        first, second = (self.plan("w1 w2 w3 --max-unavailable 1") for _ in range(2))
        for p in (first, second):
            del p["made"], p["digest"]  # which is of the time as well
        self.assertEqual(first, second)

    def test_limits(self) -> None:
        plan = self.plan("w1 w2 --max-unavailable 1")
        self.assertEqual(plan["mostAtOnce"], 1)
        self.assertIn("--max-unavailable=1", plan["flags"])
        self.assertGreaterEqual(plan["nodes"][1]["begins"], plan["nodes"][0]["ends"])
        slots = next(t for t in plan["lowerBound"]["terms"] if t["term"] == "slots")
        self.assertAlmostEqual(slots["seconds"], sum(n["least"] for n in plan["nodes"]), delta=0.01)


class Stuck(Case):
    ARGS = ("--nodes", "3", "--scenario", "pdb-stuck")

    def test_every_budget_that_never_allows_is_named(self) -> None:
        plan = self.plan("drain w1 w2 w3")
        self.assertEqual({o for o, code in self.codes(plan).items() if code == "PDBUnsatisfiable"},
                         {"shop/web", "shop/single", "shop/never"})
        held = [p for p in self.pods(plan, verdict="never").values() if p["blocker"]["code"] == "PDBUnsatisfiable"]
        self.assertEqual(len(held), 6)  # web 3, single 1, never 2
        self.assertNotIn("seconds", plan)
        for n in plan["nodes"]:
            self.assertEqual(n["verdict"], "never")
            self.assertNotIn("ends", n)
        for p in held:
            self.assertNotIn("evicted", p)
            self.assertEqual(p["blocker"]["clears"], "operator")

    def test_exit_code(self) -> None:
        self.assertEqual(self.slipway("plan w1").code, DONE)
        self.assertEqual(self.slipway("plan w1 --detailed-exitcode").code, BLOCKED)

    def test_text(self) -> None:
        done = self.slipway("plan w1 w2 w3")
        self.assertIn("\nIn the way\n  x  PDBUnsatisfiable shop/", done.out)
        self.assertIn("maxUnavailable 0, needs 2 healthy of 2, has 2, allows 0", done.out)
        self.assertIn("\nTime: no node can be drained as things are\n", done.out)

    def test_without_evictions_no_budget_is_asked(self) -> None:
        plan = self.plan("w1 --disable-eviction")
        self.assertEqual(plan["pods"]["never"], 0)


class Pinned(Case):
    ARGS = ("--nodes", "3", "--scenario", "pinned")

    def test_verdicts(self) -> None:
        plan = self.plan("w1 w2")
        self.assertEqual(self.codes(plan), self.codes(plan) | {"default/debug": "BarePod", "default/licence-0": "PinnedToNode"})
        self.assertEqual(self.pods(plan)["licence-0"]["blocker"]["message"], "StatefulSet licence declares spec.nodeName w2")
        self.assertNotIn("owner", self.pods(plan)["debug"])

    def test_force_helps_the_bare_pod_only(self) -> None:
        plan = self.plan("w1 w2 --force")
        self.assertEqual(self.pods(plan)["debug"]["verdict"], "goes")
        self.assertNotIn("to", self.pods(plan)["debug"])
        self.assertEqual(self.pods(plan)["licence-0"]["verdict"], "never")


class CrashLoop(Case):
    ARGS = ("--nodes", "3", "--scenario", "crash-loop")

    def test_who_is_not_well_is_named(self) -> None:
        """Pods under AlwaysAllow go, those under the default policy are not sure, and the plan says whose fault it is."""
        plan = self.plan("w1 w2 w3 --force")
        broken = {n: p for n, p in self.pods(plan).items() if n.startswith("broken-")}
        self.assertEqual(len(broken), 3)
        for p in broken.values():
            self.assertEqual((p["verdict"], p["blocker"]["code"], p["blocker"]["object"]), ("unsure", "PDBNoBudget", "default/broken"))
            self.assertRegex(p["blocker"]["message"], r"needs 2 healthy of 3, has 0, allows 0; broken-\S+ ")
        tolerant = [p["verdict"] for n, p in self.pods(plan).items() if n.startswith("tolerant-")]
        self.assertEqual(len(tolerant), 3)
        self.assertFalse({"unsure", "never"} & set(tolerant), tolerant)
        self.assertEqual(self.slipway("plan w1 w2 w3 --force --detailed-exitcode").code, BLOCKED)


class Full(Case):
    ARGS = ("--nodes", "5", "--scenario", "full")

    def test_no_room(self) -> None:
        plan = self.plan("w1")
        homeless = self.pods(plan, verdict="homeless")
        self.assertTrue(homeless)
        for p in homeless.values():
            self.assertEqual(p["blocker"]["code"], "CapacityInsufficient")
            self.assertRegex(p["blocker"]["message"], r"^0/5 nodes are available: .*1 node\(s\) were unschedulable.*4 Insufficient cpu")
            self.assertNotIn("to", p)
            self.assertNotIn("back", p)
        self.assertEqual(self.slipway("plan w1 --detailed-exitcode").code, BLOCKED)


class Big(Case):
    ARGS = ("--nodes", "100", "--scenario", "big")

    def test_a_large_fleet(self) -> None:
        names = [n["metadata"]["name"] for n in self.sim.client.get("/api/v1/nodes")["items"]]
        plan = self.plan(" ".join(names[:20]) + " --max-unavailable 5")
        self.assertEqual(len(plan["nodes"]), 20)
        self.assertLessEqual(plan["mostAtOnce"], 5)
        self.assertGreater(sum(plan["pods"].values()), 400)
        begins = [n["begins"] for n in plan["nodes"]]
        self.assertEqual(begins, sorted(begins))
        self.assertGreaterEqual(plan["seconds"], plan["lowerBound"]["seconds"])
        out = 0
        for _, step in sorted([(n["begins"], 1) for n in plan["nodes"]] + [(n["ends"], -1) for n in plan["nodes"]]):
            out += step
            self.assertLessEqual(out, 5)


class Saved(Case):
    """Plans that are carried out later. Each test has a cluster of its own, which it changes."""

    ARGS = ("--nodes", "4", "--scenario", "happy", "--speed", "20")

    @classmethod
    def setUpClass(cls) -> None:
        pass

    def setUp(self) -> None:
        super().setUp()
        self.sim = Sim(*self.ARGS)
        self.addCleanup(self.sim.__exit__)
        self.path = self.dir / "plan.json"

    def save(self, line: str) -> dict:
        done = self.slipway(f"plan {line} --out {self.path}")
        self.assertEqual((done.err, done.code), ("", DONE), done)
        return json.loads(self.path.read_text())

    def test_apply(self) -> None:
        plan = self.save("w1 --timeout 60s")
        going = {p["uid"] for n in plan["nodes"] for p in n["pods"] if p["verdict"] != "stays"}
        self.assertTrue(going)
        self.assertEqual(self.slipway(f"diff {self.path} --detailed-exitcode").code, DONE)
        done = self.slipway(f"apply {self.path}")
        self.assertEqual(done.code, DONE, done)
        self.assertIn("node/w1 drained\n", done.out)
        left = {p["metadata"]["uid"] for p in self.sim.client.get("/api/v1/pods")["items"]}
        self.assertFalse(going & left)

    def test_what_has_changed_is_shown_and_nothing_done(self) -> None:
        plan = self.save("w1")
        gone = next(p for n in plan["nodes"] for p in n["pods"] if p.get("owner", "").startswith("ReplicaSet/"))
        c = self.sim.client
        path = f"/api/v1/namespaces/{gone['namespace']}/pods/{gone['name']}"
        self.assertEqual(c.call("DELETE", path, {"gracePeriodSeconds": 0})[0], 200)
        until(lambda: c.call("GET", path)[0] == 404, "the end of the pod")
        diff = self.slipway(f"diff {self.path}")
        self.assertEqual((diff.err, diff.code), ("", DONE))
        self.assertRegex(diff.out, rf"(?m)^- pod {gone['namespace']}/{gone['name']}\b")
        self.assertEqual(self.slipway(f"diff {self.path} --detailed-exitcode").code, CHANGES)
        done = self.slipway(f"apply {self.path}")
        self.assertRegex(done.err, r"(?m)^[-+~] pod \S+ on \S+")  # a line each
        self.assertNotIn("\\n", done.err)
        self.assertEqual((done.out, done.code), ("", REFUSED), done)
        self.assertIn(gone["name"], done.err)
        self.assertFalse(c.get("/api/v1/nodes/w1")["spec"].get("unschedulable", False))

    def test_two_at_once(self) -> None:
        """The second says who is at it, whether it goes on or not."""
        self.save("w1 --grace-period=3600 --timeout=1s")
        first = self.slipway(f"apply {self.path} --holder=night --reason=kernel")
        self.assertEqual(first.err.count("another drain"), 0, first)
        c = self.sim.client
        body = {"status": {"conditions": [{"type": "DrainInProgress", "status": "True", "reason": "SlipwayDrain",
                                           "lastTransitionTime": "2026-11-15T08:00:00Z"}]}}
        self.assertEqual(c.call("PATCH", "/api/v1/nodes/w1/status", body, "application/strategic-merge-patch+json")[0], 200)
        words = r"another drain of it, begun at 2026-11-15T08:00:00Z is still at work, or was killed; it is held by night \(\S+\): kernel"
        self.assertRegex(self.slipway(f"apply {self.path} --anyway --holder=day").err, rf"(?m)^node w1: {words}")
        self.assertEqual(c.call("PATCH", "/api/v1/nodes/w1/status", body, "application/strategic-merge-patch+json")[0], 200)
        events = [json.loads(e) for e in self.slipway(f"apply {self.path} --anyway --json").out.splitlines()]
        self.assertTrue([e for e in events if e["type"] == "log" and re.search("another drain of it.*night", e["msg"])], events)
        self.assertEqual(c.call("PATCH", "/api/v1/nodes/w1/status", body, "application/strategic-merge-patch+json")[0], 200)
        refused = self.slipway(f"apply {self.path}")
        self.assertEqual(refused.code, REFUSED, refused)
        self.assertRegex(refused.err, "(?m)^node w1: another drain of it.*night")

    def test_what_was_edited_is_not_carried_out(self) -> None:
        plan = self.save("w1")
        plan["flags"].append("--disable-eviction")
        self.path.write_text(json.dumps(plan))
        done = self.slipway(f"apply {self.path}")
        self.assertEqual((done.out, done.code), ("", REFUSED), done)
        self.assertIn("~ the plan was edited after it was saved", done.err)
        self.assertEqual(self.slipway(f"diff {self.path}").out, "~ the plan was edited after it was saved\n")
        self.assertEqual(self.slipway(f"apply {self.path} --anyway --dry-run").code, DONE)

    def test_rules_belong_to_the_plan(self) -> None:
        """By what is in them, and wherever one is when it is carried out."""
        rules = self.dir / "rules.yaml"
        rules.write_text("apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\nrules:\n- name: late\n  match: {namespaces: [nowhere]}\n  order: 5\n")
        self.save(f"w1 --rules {os.path.relpath(rules)}")
        self.assertEqual(self.slipway(f"diff {self.path} --detailed-exitcode").code, DONE)
        rules.write_text(rules.read_text().replace("5", "6"))
        done = self.slipway(f"apply {self.path}")
        self.assertEqual((done.out, done.code), ("", REFUSED), done)
        self.assertIn(f"~ the rules in {rules} are others", done.err)

    def test_a_plan_of_another_cluster(self) -> None:
        """Its nodes may have the same names: nothing is done to these, whatever is said."""
        self.save("w1")
        with Sim(*self.ARGS, "--seed", "77") as other:
            for words in ("", "--anyway"):
                done = run("apply", str(self.path), *words.split(), KUBECONFIG=str(other.kubeconfig), SUDO_USER="alice")
                self.assertEqual((done.out, done.code), ("", REFUSED), done)
                self.assertRegex(done.err, r"(?m)^~ the plan is of another cluster, https://\S+; this is https://\S+$")
                self.assertIn("- node w1 is another one", done.err)
                self.assertNotIn("--anyway", done.err)
            self.assertFalse(other.client.get("/api/v1/nodes/w1")["spec"].get("unschedulable", False))
            diff = run("diff", str(self.path), "--detailed-exitcode", KUBECONFIG=str(other.kubeconfig))
            self.assertEqual((diff.err, diff.code), ("", CHANGES))

    def test_flags_that_mean_nothing(self) -> None:
        self.save("w1")
        for line in (f"apply {self.path} -l a=b", "plan w1 --json", "plan w1 --progress=plain", "plan w1 --out -", "plan w1 --out ''",
                     "plan w1 --out=", "plan w1 --out /dev/stdout", "plan w1 --out /dev/stderr", "apply ''", "diff ''", "apply",
                     f"apply {self.path} {self.path}"):
            done = self.slipway(line)
            self.assertEqual((done.out, done.code), ("", USAGE), line)
            self.assertRegex(done.err, r"^error: \S", line)
        self.assertEqual(self.slipway("plan w1 --out ''").err.splitlines()[0], 'error: invalid argument "" for "--out" flag: it is empty')

    def test_files_that_are_no_plans(self) -> None:
        for text in ("", "{}", "[1]", '{"schema":"slipway.plan/2.0","nodes":[]}', '{"schema":"slipway.events/1.0"}', "\0\xff"):
            self.path.write_text(text)
            for verb in ("apply", "diff"):
                done = self.slipway(f"{verb} {self.path}")
                self.assertEqual((done.out, done.code), ("", USAGE), (text, done))
                self.assertIn(str(self.path), done.err)
        self.assertEqual(self.slipway("apply /nonexistent").code, USAGE)
        for path, why in ((self.dir, "Is a directory"), ("/dev/zero", "longer than"), ("/dev/null", "expected near end of file")):
            done = self.slipway(f"apply {path}")
            self.assertEqual((done.out, done.code), ("", USAGE), done)
            self.assertIn(f"error: {path}:", done.err)
            self.assertIn(why, done.err)

    def test_what_was_cut_off(self) -> None:
        self.save("w1")
        whole = self.path.read_text()
        for length in (1, len(whole) // 3, len(whole) // 2, len(whole) - 3):
            self.path.write_text(whole[:length])
            for verb in ("apply", "diff"):
                done = self.slipway(f"{verb} {self.path}")
                self.assertEqual((done.out, done.code), ("", USAGE), (length, done))
                self.assertRegex(done.err, rf"^error: {re.escape(str(self.path))}:\d+:\d+: ")
        self.assertFalse(self.sim.client.get("/api/v1/nodes/w1")["spec"].get("unschedulable", False))

    def test_hostile_bytes_do_not_reach_the_terminal(self) -> None:
        """Nor does a flag that is none of a drain's reach anything."""
        plan = self.save("w1")
        evil = "\x1b]0;gone\x07\x1b[2J\r\n- node w9"
        for edit in (lambda p: p["nodes"][0]["pods"][0].update(name=evil), lambda p: p["nodes"][0]["pods"][0].update(namespace=evil),
                     lambda p: p["nodes"][0].update(name=evil), lambda p: p["nodes"][0].update(uid=evil), lambda p: p.update(made=evil),
                     lambda p: p.update(server=evil), lambda p: p.update(operation=evil), lambda p: p.update(schema=evil),
                     lambda p: p.update(flags=["--kubeconfig=/etc/passwd"]), lambda p: p.update(flags=[evil]),
                     lambda p: p["nodes"][0]["pods"][0].update(verdict=evil), lambda p: p.update(server=evil, nodes=[
                         n | {"uid": "other"} for n in p["nodes"]])):
            edited = json.loads(json.dumps(plan))
            edit(edited)
            self.path.write_text(json.dumps(edited))
            for verb, codes in (("apply", (REFUSED, USAGE)), ("diff", (DONE, USAGE))):
                done = self.slipway(f"{verb} {self.path}")
                self.assertIn(done.code, codes, done)
                for text in (done.out, done.err):
                    self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f\x7f]", done)
                    self.assertNotRegex(text, r"(?m)^- node w9", done)
        self.assertFalse(self.sim.client.get("/api/v1/nodes/w1")["spec"].get("unschedulable", False))


if __name__ == "__main__":
    tap.main()
