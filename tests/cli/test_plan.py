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
from program import TOP, Result, on_terminal, run  # noqa: E402
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
        self.assertRegex(done.out, r"\nTime: about \d+s as planned; with such pods no order takes less than \d+s \(")
        self.assertEqual(lines[-1], "To run it:  slipway drain w1")

    def test_the_word_drain_may_be_left_out(self) -> None:
        first, second = self.plan("drain w1"), self.plan("w1")
        self.assertEqual(first["nodes"], second["nodes"])
        self.assertEqual(first["id"], second["id"])

    def test_the_document(self) -> None:
        plan = self.plan("drain w1 w2")
        self.assertEqual((plan["schema"], plan["operation"]), ("slipway.plan/1.1", "drain"))
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
        self.assertEqual(done, Result("w1 slipway.plan/1.1", "", DONE))
        self.assertTrue(self.slipway("plan w1 -o yaml").out.startswith("schema: slipway.plan/1.1\n"))
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

    def test_a_word_that_is_nearly_drain(self) -> None:
        done = self.slipway("plan drian w1")
        self.assertEqual((done.out, done.code), ("", FAILED), done)
        self.assertIn("nodes \"drian\" not found\n", done.err)
        self.assertIn("Did you mean 'slipway plan drain'?\n", done.err)
        for line in ("drian", "w1 drian", "rack9 w1"):  # a node that is not there, and nothing else
            self.assertNotIn("Did you mean", self.slipway(f"plan {line}").err)

    def test_a_selector_that_makes_no_sense(self) -> None:
        done = self.slipway("plan -l 'a in ('")
        self.assertEqual((done.out, done.code), ("", USAGE))
        self.assertEqual(done.err.splitlines()[0], 'error: --selector: label selector "a in (" ends too early: expected "," or ")"')
        self.assertNotIn("from server", done.err)

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

    def test_the_bare_flag_asks_the_server(self) -> None:
        """`--server` is the dry run where no address follows it."""
        place = self.sim.client.server
        url = f"https://{place}"
        for line in ("drain w1 --server", "--server w1", "--server drain w1", "w1 --server --force", "drain --server -l kubernetes.io/hostname=w1",
                     "w1 --dry-run=none --server", f"--server {url} w1 --server"):
            with self.subTest(line):
                plan = self.plan(line)
                self.assertEqual(([n["name"] for n in plan["nodes"]], plan["serverAsked"]), (["w1"], True))
        self.assertIn("The API server was asked about each eviction (dry run).\n", self.slipway("plan drain w1 --server").out)
        for line in (f"drain w1 --server {url}", f"--server={url} w1", f"w1 -s {url}", "w1 --server ''", "w1 --server="):
            with self.subTest(line):
                plan = self.plan(line)
                self.assertEqual(([n["name"] for n in plan["nodes"]], plan["serverAsked"]), (["w1"], False))
        self.assertIn(f"http://{place} does not answer", self.slipway(f"plan w1 --server {place}").err)  # as kubectl takes it
        self.assertIn("was asked", self.slipway("plan --server -- w1").out)
        # The flag says nothing about where the server is.
        self.assertEqual(self.slipway("plan w1 --server", SLIPWAY_SERVER="https://127.0.0.1:1").code, ACCESS)

    def test_a_node_that_was_taken_for_the_address(self) -> None:
        advice = ("It is the address of the API server: https://HOST:PORT or HOST:PORT. Its dry run is --dry-run=server, of 'plan' and of the "
                  "verbs that change something.\n")
        taken = '"w1.invalid" was taken for the API server, as the value of --server.\n' + advice
        for line, code, ends in (("plan w1 --server=w1.invalid", ACCESS, taken), ("plan -s w1.invalid", USAGE, taken),
                                 ("--server w1.invalid plan w1", ACCESS, taken), ("drain --server w1.invalid", USAGE, taken),
                                 ("why --server w1.invalid", USAGE, taken), ("drain w1 --server", USAGE, advice), ("why w1 --server", USAGE, advice),
                                 ("plan -s", USAGE, advice)):
            with self.subTest(line):
                done = self.slipway(line)
                self.assertEqual((done.out, done.code), ("", code), done)
                self.assertTrue(done.err.endswith(ends), done.err)
        self.assertNotIn("was taken", self.slipway("plan w1 -s https://127.0.0.1:1").err)

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
        self.assertEqual(done.out.splitlines()[-1], f"To run it:  slipway apply {path}")
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

    def test_wide(self) -> None:
        """Each pod that shall go, and where to: what the document says."""
        plan, text = self.plan("w1 w2"), self.slipway("plan w1 w2 -o wide").out
        rows = [line.split()[:4] for line in text.splitlines() if re.match(r"w[12] +\S+/\S+ ", line)]
        words = {"homeless": "no"}
        want = [[n["name"], f"{p['namespace']}/{p['name']}", words.get(p["verdict"], p["verdict"]), p.get("to", "-")]
                for n in plan["nodes"] for p in n["pods"] if p["verdict"] != "stays"]
        self.assertEqual(rows, want)
        self.assertTrue(any(row[3] != "-" for row in rows), rows)
        self.assertNotIn(want[0][1], self.slipway("plan w1 w2").out)
        self.assertEqual(self.slipway("plan w1 -o name").code, USAGE)

    def test_wide_on_a_narrow_terminal(self) -> None:
        """A name and a sentence for each pod: no line is wider than the terminal, unless it is a name."""
        plan = self.plan("w1 w2")
        text = on_terminal("plan", "w1", "w2", "-o", "wide", "--color", "never", rows=500, columns=40, KUBECONFIG=str(self.sim.kubeconfig)).out
        for line in text.splitlines():
            self.assertTrue(len(line) <= 40 or len(line.split()) == 1 or line.startswith("To run it:"), line)
        words = " ".join(text.split())
        for pod in (p for n in plan["nodes"] for p in n["pods"] if p["verdict"] == "goes"):
            self.assertIn(f"{pod['namespace']}/{pod['name']} goes to {pod['to']} ", words)

    def test_limits(self) -> None:
        plan = self.plan("w1 w2 --max-unavailable 1")
        self.assertEqual(plan["mostAtOnce"], 1)
        self.assertIn("--max-unavailable=1", plan["flags"])
        self.assertGreaterEqual(plan["nodes"][1]["begins"], plan["nodes"][0]["ends"])
        slots = next(t for t in plan["lowerBound"]["terms"] if t["term"] == "slots")
        self.assertAlmostEqual(slots["seconds"], sum(n["least"] for n in plan["nodes"]), delta=0.01)


class Crowd(Case):
    """All nodes of a small cluster at once: nobody has a place for what they evict."""

    ARGS = ("--nodes", "6", "--scenario", "happy", "--seed", "2")
    ALL = "w[1-6]"

    def sure(self, plan: dict) -> set[str]:
        return {n["name"] for n in plan["nodes"] if n["verdict"] not in ("never", "unsure")}

    def rehearsed(self, words: str, runs: int = 10) -> dict[str, int]:
        """In how many runs each node is left undrained."""
        found = json.loads(self.slipway(f"rehearse {words} -o json --runs {runs}").out)
        return {n["name"]: runs - n["drainedRuns"] for n in found["nodes"]}

    def test_who_competes_is_not_sure(self) -> None:
        plan, left = self.plan(f"{self.ALL} --parallel 6"), self.rehearsed(self.ALL)
        for n in plan["nodes"]:
            runs = left.get(n["name"], 0)
            self.assertTrue(n["verdict"] == "unsure" or runs == (10 if n["verdict"] == "never" else 0), (n["name"], n["verdict"], runs))
        self.assertTrue(any(0 < runs < 10 for runs in left.values()), left)
        said = " ".join(p["blocker"]["message"] for p in self.pods(plan, verdict="unsure").values())
        self.assertIn("which of them get through is chance", said)

    def test_fewer_at_a_time(self) -> None:
        """Whoever gives a limit keeps it, and is told of a better one."""
        for flag in ("--parallel 6", "--max-unavailable 100%"):
            plan = self.plan(f"{self.ALL} {flag}")
            better = self.plan(f"{self.ALL} --parallel {plan['better']['parallel']}")
            self.assertEqual(len(self.sure(better)), plan["better"]["nodes"])
            self.assertGreater(len(self.sure(better)), len(self.sure(plan)))
            self.assertEqual((plan["mostAtOnce"], "adopted" in plan), (6, False))
            text = self.slipway(f"plan {self.ALL} {flag}").out
            self.assertRegex(text, r"\nWith --parallel=\d \d of the 6 nodes drain for certain, instead of 0:")
            self.assertIn(" " + flag.replace(" ", "="), text.splitlines()[-1])

    def test_a_limit_is_found_where_none_is_given(self) -> None:
        path = self.dir / "plan.json"
        plan, text = self.plan(self.ALL), self.slipway(f"plan {self.ALL} --out {path}").out
        limit = plan["adopted"]["parallel"]
        self.assertEqual((plan["mostAtOnce"], "better" in plan), (limit, False))
        self.assertIn(f"--parallel={limit}", plan["flags"])
        self.assertGreater(len(self.sure(plan)), plan["adopted"]["without"])
        self.assertEqual(self.sure(plan), self.sure(self.plan(f"{self.ALL} --parallel {limit}")))
        self.assertIn(f"At most {limit} at a time (--parallel={limit}): with more, pods of the nodes that go together would take each other's room",
                      " ".join(text.split()))
        self.assertEqual(json.loads(path.read_text())["flags"], plan["flags"])
        done = self.slipway(f"diff {path} --detailed-exitcode")
        self.assertEqual((done.out, done.code), ("", DONE))
        # The command that it ends with gets more nodes through than all at once.
        command = self.slipway(f"plan {self.ALL}").out.splitlines()[-1].partition("slipway drain ")[2]
        self.assertIn(f" --parallel={limit}", command)
        self.assertLess(sum(self.rehearsed(command).values()), sum(self.rehearsed(self.ALL).values()))

    def test_the_command_does_what_the_plan_says(self) -> None:
        words = f"{self.ALL} --parallel 1"
        plan, text = self.plan(words), self.slipway(f"plan {words}").out
        command = text.splitlines()[-1].partition("slipway drain ")[2]
        self.assertIn("--in-order", command)
        left = self.rehearsed(command)
        for n in plan["nodes"]:
            if n["verdict"] != "unsure":
                self.assertEqual(left.get(n["name"], 0), 10 if n["verdict"] == "never" else 0, n["name"])

    def test_what_is_certain_comes_true_each_time(self) -> None:
        """Nodes with pods of the same workloads end at the same moment.

        The next two are cordoned together then, and what goes from the first of them finds the second shut."""
        runs = 40
        for words in (self.ALL, f"{self.ALL} --parallel 3"):
            plan, text = self.plan(words), self.slipway(f"plan {words}").out
            left = self.rehearsed(text.splitlines()[-1].partition("slipway drain ")[2], runs)
            for n in plan["nodes"]:
                if n["verdict"] != "unsure":
                    self.assertEqual(left.get(n["name"], 0), runs if n["verdict"] == "never" else 0, (words, n["name"], n["verdict"]))

    def test_what_the_scheduler_says_of_preemption(self) -> None:
        """It is in the document, as the scheduler words it, and nothing to whoever reads the text: as in `why`."""
        words = f"{self.ALL} --parallel 3"
        said = [p["blocker"]["message"] for p in self.pods(self.plan(words), verdict="homeless").values()]
        self.assertTrue(any(" preemption: " in m for m in said), said)
        for verb in ("plan", "rehearse"):
            text = self.slipway(f"{verb} {words}").out
            self.assertIn("node(s) were", text)
            self.assertNotRegex(" ".join(text.split()), "(?i)preemption|no new claims|unschedulable\\.", verb)

    def test_what_is_assumed_is_not_a_fact(self) -> None:
        hasty = " ".join(self.slipway("plan w1 --timeout 3s").out.split())
        self.assertIn("it may need 10s to stop (assumed), and its node is given up after 3s", hasty)
        for verb in ("plan", "rehearse"):
            self.assertRegex(" ".join(self.slipway(f"{verb} w1").out.split()), r"grace period, in 10s at most", verb)


    def history(self, **stops: float) -> Path:
        path = self.dir / "history"
        path.write_text("".join(json.dumps({"v": 1, "workload": f"shop-1/{kind}/{name}", "stop": s}) + "\n"
                                for kind, name in (("Deployment", "web"), ("Deployment", "worker"), ("StatefulSet", "db"))
                                if name in stops for s in (stops[name] - 1, stops[name], stops[name] + 1)))
        return path

    def test_what_earlier_drains_have_seen(self) -> None:
        seen = self.plan(f"w1 --history {self.history(web=25, worker=25, db=25)}")
        went = self.pods(seen)
        self.assertEqual({p["gone"] - p["evicted"] for p in went.values() if "gone" in p}, {25})
        self.assertEqual(seen["lowerBound"]["terms"][0]["seconds"], 25)
        self.assertEqual((seen["basis"]["stopsAssumed"], seen["basis"]["stopsSeen"]), (0, len([p for p in went.values() if "gone" in p])))
        basis = self.plan("w1")["basis"]
        self.assertEqual((basis["stopsSeen"], basis["stopsAssumed"]), (0, seen["basis"]["stopsSeen"]))

    def test_of_some_only(self) -> None:
        path = self.history(web=25)
        done = self.slipway(f"plan w1 --history {path}")
        self.assertRegex(" ".join(done.out.split()), r"Assumed: \d+ pods? stops? as fast as in earlier drains, the others within their grace "
                                                     r"period, in 10s at most; they start as fast as their siblings did")
        self.assertRegex(" ".join(self.slipway(f"plan w1 --history {path} --timeout 20s").out.split()),
                         r"it may need 25s to stop \(as in earlier drains\), and its node is given up after 20s")
        everything = self.history(web=25, worker=25, db=25)
        self.assertIn("Assumed: pods stop as fast as in earlier drains, and start as fast as their siblings did",
                      " ".join(self.slipway(f"plan w1 --history {everything}").out.split()))
        short = self.plan(f"w1 --history {everything} --grace-period 5")
        self.assertEqual({p["gone"] - p["evicted"] for p in self.pods(short).values() if "gone" in p}, {7})

    def test_no_longer_than_the_grace_period(self) -> None:
        """And what it takes to be killed then; a rehearsal agrees."""
        path = self.history(web=300, worker=300, db=300)
        took = {name.split("/")[-1]: p["gone"] - p["evicted"]
                for name, p in self.pods(self.plan(f"w1 --history {path}")).items() if "gone" in p}
        self.assertEqual(set(took.values()), {32, 62})
        rehearsed = json.loads(self.slipway(f"rehearse w1 --runs 3 --history {path} -o json").out)
        for p in rehearsed["nodes"][0]["pods"]:
            if p["gone"] is not None and p["name"] in took:
                self.assertAlmostEqual(p["gone"] - p["asked"], took[p["name"]], delta=1.5)

    def test_a_history_that_is_none(self) -> None:
        missing = self.dir / "missing"
        done = self.slipway(f"plan w1 --history {missing}")
        self.assertEqual(done.code, USAGE)
        self.assertIn(f"--history: {missing}: No such file or directory ('slipway drain --history FILE' writes one)", done.err)


class Undisturbed(Case):
    """Places are short, and the order that the plan finds is another one than that of the names."""

    ARGS = ("--scenario", "happy", "--seed", "1")

    def test_the_file_is_the_document(self) -> None:
        path = self.dir / "plan.json"
        done = self.slipway(f"plan w1 --out {path} -o json")
        self.assertEqual(path.read_text()[-2:], "}\n")
        self.assertEqual(json.loads(path.read_text()), json.loads(done.out))
        self.assertFalse(done.out.endswith("\n\n"))

    def test_nothing_has_changed(self) -> None:
        path = self.dir / "plan.json"
        for parallel in (2, 3, 4):
            self.assertEqual(self.slipway(f"plan w[1-6] --parallel {parallel} --out {path}").code, DONE)
            done = self.slipway(f"diff {path} --detailed-exitcode")
            self.assertEqual((done.out, done.code), ("", DONE), parallel)


class ControlPlane(Case):
    """Three nodes of the control plane and three workers: a label takes the former only for those who ask for them."""

    ARGS = ("--scenario", "control-plane")
    LEFT = "cp[1-3] are left out, being of the control plane: --include-control-plane\n"

    def test_plan(self) -> None:
        done = self.slipway("plan -l kubernetes.io/os=linux -o json")
        self.assertEqual((done.err, done.code), (self.LEFT, DONE))
        self.assertEqual({n["name"] for n in json.loads(done.out)["nodes"]}, {"w1", "w2", "w3"})
        for line in ("-l kubernetes.io/os=linux --include-control-plane", "-l kubernetes.io/os=linux,node-role.kubernetes.io/control-plane",
                     "cp[1-3]"):
            names = {n["name"] for n in self.plan(line)["nodes"]}
            self.assertLessEqual({"cp1", "cp2", "cp3"}, names, line)
        # That a set is empty because of it is not left unsaid.
        done = self.slipway("plan -l kubernetes.io/os=linux,!node-role.kubernetes.io/worker,kubernetes.io/hostname=cp1")
        self.assertEqual(done, Result("", self.LEFT.replace("cp[1-3] are", "cp1 is") + "No nodes found\n", DONE))

    def test_the_other_verbs(self) -> None:
        for line in ("drain -l kubernetes.io/os=linux --dry-run --force --delete-emptydir-data", "cordon -l kubernetes.io/os=linux --dry-run",
                     "rehearse -l kubernetes.io/os=linux --runs 1", "checks -l kubernetes.io/os=linux"):
            done = self.slipway(line)
            self.assertIn(self.LEFT, done.err, line)
            self.assertNotRegex(done.out, r"\bcp[1-3]\b|cp\[", line)
            self.assertTrue(re.search(r"\bw([1-3]|\[1-3\])", done.out) or line.startswith("checks"), line)
            self.assertNotIn("left out", self.slipway(line + " --include-control-plane").err)
        # Who puts nodes back takes all; without a selector every node is looked at.
        done = self.slipway("uncordon -l kubernetes.io/os=linux --dry-run")
        self.assertNotIn("left out", done.err)
        self.assertIn("node/cp1 already uncordoned", done.out)
        self.assertIn("cp[1-3]", self.slipway("checks").out)

    def test_checks_of_nobody(self) -> None:
        """As plan, drain and cordon: nothing to do is no error."""
        self.assertEqual(self.slipway("checks -l rack=none"), Result("", "No nodes found\n", DONE))


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


class Crowded(Case):
    """Many with a budget each, and no room anywhere."""

    ARGS = ("--nodes", "3", "--scenario", "happy", "--seed", "3")
    BUDGETS = {"app-0": 1, "app-1": 1, "app-2": 1, "app-3": "30%"}
    SPACE = "shop-1"

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        client = cls.sim.client
        for node in ("w2", "w3"):
            client.patch(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
        for name, limit in cls.BUDGETS.items():
            labels = {"app": name}
            pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "app"}]}}
            for path, spec in (("/apis/apps/v1/namespaces/shop-1/deployments",
                                {"replicas": 3, "selector": {"matchLabels": labels}, "template": pod}),
                               ("/apis/policy/v1/namespaces/shop-1/poddisruptionbudgets",
                                {"maxUnavailable": limit, "selector": {"matchLabels": labels}})):
                code, answer = client.call("POST", path, {"metadata": {"name": name}, "spec": spec})
                assert code == 201, answer
        until(lambda: [b["status"].get("currentHealthy") for b in client.get("/apis/policy/v1/poddisruptionbudgets")["items"]
                       if b["metadata"]["name"] in cls.BUDGETS] == [3] * len(cls.BUDGETS), "all of them are healthy")

    def test_budgets_of_which_the_same_is_said_are_one_entry(self) -> None:
        """Each names a pod of its own: the first stands for all of them."""
        done = self.slipway("plan w1")
        self.assertEqual((done.err, done.code), ("", DONE), done)
        entries = [e for e in re.split(r"\n  (?=[x!]  )", done.out) if "PDBNoBudget" in e]
        self.assertEqual(len(entries), 2, done.out)
        text = " ".join(entries[0].split())
        self.assertRegex(text, r"^x PDBNoBudget shop-1/app-0, shop-1/app-1, shop-1/app-2: maxUnavailable 1, needs 2 healthy of 3, has 3, "
                               r"allows 1; the replacement of app-0-\S+ \(and 2 more\) fits nowhere 6 pods on w1; until there is room ")
        self.assertIn(", for each of these budgets", text)
        alone = " ".join(entries[1].split())
        self.assertRegex(alone, r"^x PDBNoBudget shop-1/app-3: maxUnavailable 30%, .*; the replacement of app-3-\S+ fits nowhere 2 pods on w1; ")
        self.assertNotIn("each of these", alone)

    def test_the_document_has_them_all(self) -> None:
        held = self.pods(self.plan("w1"), verdict="never")
        self.assertEqual({p["blocker"]["object"] for p in held.values()}, {f"{self.SPACE}/{name}" for name in self.BUDGETS})


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
        sure = 0
        for p in homeless.values():
            self.assertEqual(p["blocker"]["code"], "CapacityInsufficient")
            sure += bool(re.match(r"0/5 nodes are available: .*1 node\(s\) were unschedulable.*4 Insufficient cpu", p["blocker"]["message"]))
            self.assertRegex(p["blocker"]["message"], r"^0/5 nodes are available|is chance")
            self.assertNotIn("to", p)
            self.assertNotIn("back", p)
        self.assertTrue(sure)
        self.assertEqual(self.slipway("plan w1 --detailed-exitcode").code, BLOCKED)


class Chance(Case):
    """Three places for seven pods under four budgets: who gets them is chance, and with it whether the node is drained."""

    ARGS = ("--scenario", "full")

    def test_one_decision(self) -> None:
        plan = self.plan("w3")
        node = plan["nodes"][0]
        self.assertEqual(node["verdict"], "unsure")
        for part in (plan, node):
            self.assertNotIn("ends", part)
        self.assertNotIn("seconds", plan)
        self.assertTrue(any("is chance" in p["blocker"]["message"] for p in self.pods(plan, verdict="unsure").values()))
        self.assertEqual(plan["pods"]["unsure"], len(self.pods(plan, verdict="unsure")))
        done = self.slipway("plan w3")
        self.assertRegex(done.out, r"\n  w3 +7   unsure +now +-\n")
        self.assertIn("\nTime: no node is certain to be drained as things are\n", done.out)
        self.assertEqual(self.slipway("plan w3 --detailed-exitcode").code, BLOCKED)


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
        c = self.sim.client
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone"},
                "spec": {"nodeName": "w1", "containers": [{"name": "main", "image": "registry.test/app:1"}]}}
        self.assertEqual(c.call("POST", "/api/v1/namespaces/default/pods", body)[0], 201)
        plan = self.save("w1 --force")
        gone = next(p for n in plan["nodes"] for p in n["pods"] if "owner" not in p)
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
        self.assertNotIn("drain", json.dumps(c.get("/api/v1/nodes/w1")["metadata"].get("annotations", {})))
        there = {p["metadata"]["uid"]: p for p in c.get("/api/v1/pods")["items"]}
        for p in (p for n in plan["nodes"] for p in n["pods"] if p["uid"] != gone["uid"]):
            self.assertNotIn("deletionTimestamp", there[p["uid"]]["metadata"], p["name"])  # nor is any of them missing

    def budget(self, line: str) -> tuple[dict, str]:
        """A plan that rests on a budget: the budget's name and namespace, and where it is."""
        plan = self.save(line)
        self.assertTrue(plan["budgets"], plan)
        ns, name = plan["budgets"][0]["name"].split("/")
        return plan["budgets"][0], f"/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets/{name}"

    def refused(self, line: str) -> None:
        """The line is what has changed, and nothing is done."""
        diff = self.slipway(f"diff {self.path} --detailed-exitcode")
        self.assertEqual((diff.out, diff.err, diff.code), (line + "\n", "", CHANGES), diff)
        done = self.slipway(f"apply {self.path}")
        self.assertEqual((done.out, done.code), ("", REFUSED), done)
        self.assertIn(line, done.err)
        self.assertFalse(self.sim.client.get("/api/v1/nodes/w1")["spec"].get("unschedulable", False))

    def test_the_flags_of_the_file_are_told(self) -> None:
        """Before anything is done: it may be anybody's."""
        self.save("w1 --disable-eviction --force --parallel 1 --reason 'CHG 1'")
        done = self.slipway(f"apply {self.path} --dry-run=client")
        self.assertEqual(done.err.splitlines()[0], "The plan drains with --force --disable-eviction --parallel=1 '--reason=CHG 1'", done)
        self.assertNotIn("The plan drains with", self.slipway(f"apply {self.path} --dry-run=client -q").err)
        self.save("w1")
        self.assertNotIn("The plan drains with", self.slipway(f"apply {self.path} --dry-run=client").err)

    def test_a_budget_that_is_gone(self) -> None:
        b, path = self.budget("w1")
        self.assertEqual(self.sim.client.call("DELETE", path)[0], 200)
        self.refused(f"- budget {b['name']} ({b['rule']}) is gone")

    def test_a_budget_that_is_tightened(self) -> None:
        """Also where every pod still goes or waits, and so the node is still drained."""
        b, path = self.budget("w1")
        patch = {"spec": {"maxUnavailable": "26%", "minAvailable": None}}
        self.assertEqual(self.sim.client.call("PATCH", path, patch, "application/merge-patch+json")[0], 200)
        until(lambda: (lambda o: o["status"].get("observedGeneration", 0) >= o["metadata"]["generation"])(self.sim.client.get(path)),
              "the budget's new numbers")
        self.refused(f"~ budget {b['name']}: maxUnavailable 26%, was {b['rule']}")

    def test_a_budget_that_is_new(self) -> None:
        plan = self.save("w1")
        free = next(p for n in plan["nodes"] for p in n["pods"] if p["verdict"] == "goes" and p.get("owner", "").startswith("ReplicaSet/"))
        c = self.sim.client
        app = c.get(f"/api/v1/namespaces/{free['namespace']}/pods/{free['name']}")["metadata"]["labels"]["app"]
        had = {b["name"] for b in plan["budgets"]}
        for b in had:
            ns, name = b.split("/")
            self.assertEqual(c.call("DELETE", f"/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets/{name}")[0], 200)
        self.save("w1")
        path = f"/apis/policy/v1/namespaces/{free['namespace']}/poddisruptionbudgets"
        body = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "late"},
                "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": app}}}}
        self.assertEqual(c.call("POST", path, body)[0], 201)
        until(lambda: c.get(f"{path}/late").get("status", {}).get("disruptionsAllowed", 0) > 0, "the new budget's numbers")
        self.refused(f"+ budget {free['namespace']}/late: maxUnavailable 1")

    def test_what_comes_and_goes_by_itself_is_no_change(self) -> None:
        """Evictions of others make a budget breathe; a pod that its controller makes again is as good."""
        plan = self.save("w1")
        c = self.sim.client
        going = {p["uid"] for n in plan["nodes"] for p in n["pods"]}
        b = plan["budgets"][0]["name"]
        ns, name = b.split("/")
        path = f"/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets/{name}"
        before = c.get(path)["status"]["disruptionsAllowed"]
        labels = c.get(path)["spec"]["selector"]["matchLabels"]
        other = next(p for p in c.get(f"/api/v1/namespaces/{ns}/pods")["items"]
                     if p["metadata"]["uid"] not in going and labels.items() <= p["metadata"]["labels"].items())
        other = next(p for p in c.pods(ns) if p["metadata"]["uid"] == other["metadata"]["uid"])
        had = len(c.pods(ns))
        self.assertEqual(self.slipway("cordon w1").code, DONE)  # its replacement does not come here
        self.assertEqual(c.evict(other)[0], 201)
        self.assertLess(c.get(path)["status"]["disruptionsAllowed"], before)

        def is_made_again() -> bool:
            """It is gone, and another one in its place has a node: a StatefulSet makes it when the old one is gone."""
            pods = c.pods(ns)
            return (len(pods) == had and all(p["spec"].get("nodeName") for p in pods)
                    and other["metadata"]["uid"] not in (p["metadata"]["uid"] for p in pods))
        until(is_made_again, "the scheduler to have seen what was made again")
        diff = self.slipway(f"diff {self.path} --detailed-exitcode")
        self.assertEqual((diff.out, diff.code), ("", DONE), diff)

    def test_a_restart_is_no_change(self) -> None:
        """All pods of all Deployments get other names, ReplicaSets and nodes: what the plan says of them is as true as it was."""
        plan = self.save("w1 w2 --timeout 600s")
        c = self.sim.client
        owners = {p["owner"] for n in plan["nodes"] for p in n["pods"] if p.get("owner", "").startswith("ReplicaSet/")}
        self.assertTrue(owners)
        deployments = c.get("/apis/apps/v1/deployments")["items"]
        for d in deployments:
            patch = {"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "2026-11-15T09:00:00Z"}}}}}
            path = f"/apis/apps/v1/namespaces/{d['metadata']['namespace']}/deployments/{d['metadata']['name']}"
            self.assertEqual(c.call("PATCH", path, patch, "application/merge-patch+json")[0], 200)

        def is_over(d: dict) -> bool:
            status, wanted = d.get("status", {}), d["spec"]["replicas"]
            return status.get("observedGeneration", 0) >= d["metadata"]["generation"] and \
                wanted == status.get("replicas", 0) == status.get("updatedReplicas", 0) == status.get("availableReplicas", 0)
        until(lambda: all(is_over(d) for d in c.get("/apis/apps/v1/deployments")["items"]), "the end of the rollouts")
        until(lambda: not [p for p in c.get("/api/v1/pods")["items"] if "deletionTimestamp" in p["metadata"]], "the end of the old pods")
        there = {f"{o['kind']}/{o['name']}" for p in c.get("/api/v1/pods")["items"] for o in p["metadata"].get("ownerReferences", [])}
        self.assertFalse(owners & there)
        diff = self.slipway(f"diff {self.path} --detailed-exitcode")
        self.assertEqual((diff.out, diff.code), ("", DONE), diff)
        done = self.slipway(f"apply {self.path}")
        self.assertEqual(done.code, DONE, done)
        self.assertIn("node/w2 drained\n", done.out)

    def test_two_plans_with_other_flags_have_other_ids(self) -> None:
        lines = ("w1", "w1 --timeout=60s", "w1 --surge", "w1 --holder=night", "w1 --pod-selector=app=nothing", "w2")
        self.assertEqual(len({self.plan(line)["id"] for line in lines}), len(lines))

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
        self.assertEqual(self.slipway(f"diff {self.path}").out.split("\n")[0], "~ the plan was edited after it was saved")
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

    def test_rules_that_an_edited_plan_names_are_not_read(self) -> None:
        """It may be any file, and a message about it would show a line of that."""
        secret = self.dir / "shadow"
        secret.write_text("root:$y$hidden:1\n")
        plan = self.save("w1")
        plan["flags"].append(f"--rules={secret}")
        self.path.write_text(json.dumps(plan))
        done = self.slipway(f"diff {self.path} --detailed-exitcode")
        self.assertEqual((done.out, done.err, done.code), ("~ the plan was edited after it was saved\n", "", CHANGES))
        for more in ("", " --anyway"):
            done = self.slipway(f"apply {self.path}{more}")
            self.assertEqual((done.out, done.code), ("", REFUSED), done)
            self.assertIn("make it anew", done.err)
            self.assertNotIn("hidden", done.err)

    def test_rules_of_a_plan_with_a_digest_made_anew(self) -> None:
        """Everybody can make one: what is no rules of the plan is not looked into for it."""
        secret = self.dir / "shadow"
        rules = self.dir / "rules.yaml"
        rules.write_text("apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\nrules:\n- name: late\n  match: {namespaces: [nowhere]}\n  order: 5\n")
        self.save(f"w1 --rules {rules}")
        rules.replace(secret)
        secret.write_text("root:$y$hidden:1\n")
        rules.symlink_to(secret)  # as if the plan named it
        for line in (f"diff {self.path}", f"apply {self.path}", f"apply {self.path} --anyway"):
            done = self.slipway(line)
            self.assertIn(f"~ the rules in {rules} are others", done.out + done.err)
            self.assertNotIn("hidden", done.out + done.err)
            self.assertEqual(done.code, DONE if line.startswith("diff") else REFUSED, done)
        self.assertFalse(self.sim.client.get("/api/v1/nodes/w1")["spec"].get("unschedulable", False))

    def test_a_node_that_is_gone_is_left_out(self) -> None:
        self.save("w1 w2")
        self.assertEqual(self.sim.client.call("DELETE", "/api/v1/nodes/w1")[0], 200)
        self.assertEqual(self.slipway(f"apply {self.path}").code, REFUSED)
        done = self.slipway(f"apply {self.path} --anyway --dry-run")
        self.assertIn("node w1 of the plan is gone: it is left out\n", done.err)
        self.assertIn("node/w2 drained (dry run)\n", done.out)
        self.assertEqual(done.code, DONE, done)
        self.assertEqual(self.sim.client.call("DELETE", "/api/v1/nodes/w2")[0], 200)
        done = self.slipway(f"apply {self.path} --anyway")
        self.assertEqual((done.out, done.code), ("", REFUSED), done)
        self.assertIn("no node of the plan exists any more", done.err)

    def test_a_plan_of_another_cluster(self) -> None:
        """Its nodes may have the same names: nothing is done to these, whatever is said."""
        self.save("w1")
        with Sim(*self.ARGS, "--seed", "77") as other:
            for words in ("", "--anyway"):
                done = run("apply", str(self.path), *words.split(), KUBECONFIG=str(other.kubeconfig), SUDO_USER="alice")
                self.assertEqual((done.out, done.code), ("", REFUSED), done)
                self.assertRegex(done.err, r"(?m)^~ the plan is of another cluster, https://\S+; this is https://\S+$")
                self.assertIn("~ node w1 is another one", done.err)
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
        evil = "\x1b]0;gone\x07\x1b[2J\x9b31m\u202e\r\n- node w9"
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
                    self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", done)
                    self.assertNotRegex(text, r"(?m)^- node w9", done)
        self.assertFalse(self.sim.client.get("/api/v1/nodes/w1")["spec"].get("unschedulable", False))


class Better(unittest.TestCase):
    """With fewer nodes at a time as many drain as is said: whoever makes that plan reads the same."""

    SCENARIO = {"description": "little room", "nodes": [{"name": "w", "count": 20, "zones": list("abcd"), "cpu": 8, "memory": "32Gi"}], "objects": [
        {"apiVersion": "apps/v1", "kind": "Deployment", "copies": 5, "metadata": {"name": "web{n}"},
         "spec": {"replicas": 20, "selector": {"matchLabels": {"app": "web{n}"}}, "template": {
             "metadata": {"labels": {"app": "web{n}"}},
             "spec": {"terminationGracePeriodSeconds": 5, "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "500m"}}}]}}}},
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "copies": 5, "metadata": {"name": "web{n}"},
         "spec": {"maxUnavailable": "20%", "selector": {"matchLabels": {"app": "web{n}"}}}}]}

    def test_what_is_said_of_fewer(self) -> None:
        seen = 0
        with tempfile.TemporaryDirectory() as d:
            path = Path(d) / "scenario.yaml"
            path.write_text(json.dumps(self.SCENARIO))
            for seed in range(4):
                with Sim("--scenario", str(path), "--seed", str(seed)) as sim:
                    def plan(*flags: str) -> dict:
                        return json.loads(run("plan", "w[1-20]", *flags, "-o", "json", KUBECONFIG=str(sim.kubeconfig)).out)
                    for limit in (20, 10):
                        better = plan("--parallel", str(limit)).get("better")
                        seen += bool(better)
                        if better:
                            ends = sum("ends" in n for n in plan("--parallel", str(better["parallel"]))["nodes"])
                            self.assertEqual(ends, better["nodes"], (seed, limit, better))
        self.assertTrue(seen)


class Clock(unittest.TestCase):
    """What is late is so by the server's clock, for all three verbs: ours may be anything."""

    def test_a_pod_that_should_be_gone(self) -> None:
        with Sim("--no-controllers", "--scenario", "empty", "--nodes", "10", "--speed", "500") as sim, tempfile.TemporaryDirectory() as d:
            c, env = sim.client, {"KUBECONFIG": str(sim.kubeconfig), "SUDO_USER": "alice"}
            c.call("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "hangs"}, "spec": {
                "nodeName": "w1", "containers": [{"name": "c", "image": "example.com/c:1"}], "terminationGracePeriodSeconds": 30}}
            self.assertEqual(c.call("POST", "/api/v1/namespaces/default/pods", pod)[0], 201)
            self.assertEqual(c.call("DELETE", "/api/v1/namespaces/default/pods/hangs")[0], 200)
            for nodes in ("w1", "w[1-10]"):  # read one by one, and together
                path = Path(d) / "plan.json"

                def late() -> bool:
                    self.assertEqual(run("plan", nodes, "--force", "--out", str(path), **env).code, DONE)
                    first = next(n for n in json.loads(path.read_text())["nodes"] if n["name"] == "w1")
                    return first["pods"][0]["verdict"] == "unsure"
                until(late, "a plan that sees it late")
                done = run("diff", str(path), "--detailed-exitcode", **env)
                self.assertEqual((done.out, done.code), ("", DONE), done)


class DryRuns(unittest.TestCase):
    """What a plan calls never is not said to be drained by a dry run of the client, and nothing else is kept by it."""

    SCENARIOS = {"two-budgets": {"never"}, "pdb-stuck": {"never"}, "pinned": {"never", "drains"}, "happy": {"drains"}, "zones": {"drains"}}

    def test_scenarios(self) -> None:
        for scenario, expected in self.SCENARIOS.items():
            with self.subTest(scenario), Sim("--scenario", scenario) as sim, tempfile.TemporaryDirectory() as d:
                seen = set()
                for node in (n["metadata"]["name"] for n in sim.client.get("/api/v1/nodes")["items"]):
                    seen.add(self.check(sim, node, Path(d) / f"{node}.json"))
                self.assertLessEqual(expected, seen)

    def check(self, sim: Sim, node: str, path: Path) -> str:
        env = {"KUBECONFIG": str(sim.kubeconfig), "SUDO_USER": "alice"}
        flags = ("--force", "--delete-emptydir-data")
        self.assertEqual(run("plan", "drain", node, *flags, "--out", str(path), **env).code, DONE)
        pods = json.loads(path.read_text())["nodes"][0]["pods"]
        never = {f"{p['namespace']}/{p['name']}": p["blocker"]["code"] for p in pods if p["verdict"] == "never"}
        for line in (("drain", node, *flags), ("apply", str(path))):
            done = run(*line, "--dry-run=client", **env)
            self.assertEqual(done.code, BLOCKED if never else DONE, (never, done))
            self.assertEqual(f"node/{node} drained (dry run)" in done.out, not never, (never, done))
            for pod, code in never.items():
                self.assertRegex(done.err, rf"(?m)^{re.escape(pod)} .*{code}")
        return "never" if never else "drains"


if __name__ == "__main__":
    tap.main()
