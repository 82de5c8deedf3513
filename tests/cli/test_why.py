"""`slipway why` in the simulator: the chain in every scenario, as golden files of tests/fixtures/why, and the command line around it.

A golden file was read with an operator's eyes before it was kept.  To write them anew, and to read what has changed:

    SLIPWAY_GOLDEN=write python3 tests/cli/test_why.py; git diff tests/fixtures/why

The clock stands long before everything that happens, so that no ages are shown; names that chance makes are X.
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
from simulation import Client, Sim, until  # noqa: E402

GOLDEN = TOP / "tests" / "fixtures" / "why"
LONG_AGO = "2001-01-01T00:00:00Z"
WIDTH = 80
FREE, FAILED, BLOCKED, USAGE = 0, 1, 3, 64


def masked(text: str) -> str:
    """Without what chance made, and no line longer or shorter than before."""
    text = re.sub(r"\b(report|strict|patient)-[a-z0-9]{5}\b", lambda m: f"{m[1]}-XXXXX", text)
    text = re.sub(r"-[a-z0-9]{8,10}-[a-z0-9]{5}\b", lambda m: re.sub("[a-z0-9]", "X", m[0]), text)
    text = re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", lambda m: re.sub("[0-9a-f]", "X", m[0]), text)
    text = re.sub(r"\bcsi-[0-9a-f]{64}\b", "csi-" + 64 * "X", text)
    text = re.sub(r"\b2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "YYYY-MM-DDTHH:MM:SSZ", text)
    text = re.sub(r"\b\d+ restarts?", "N restarts", text)
    # Who drains, and from where, is as long as it is: the sentence is put on one line again.
    text = re.sub(r"^node/\S+: being drained.*(\n  .*)*", lambda m: " ".join(m[0].split()), text, flags=re.M)
    return re.sub(r"\(night \(\S+@\S+\)", "(night (USER@HOST)", text)


def ready(pod: dict) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))


def unschedulable(pod: dict) -> bool:
    return any(c.get("reason") == "Unschedulable" for c in pod["status"].get("conditions", []))


class Case(unittest.TestCase):
    maxDiff = None

    def why(self, sim: Sim, *args: str, **env: str | None) -> Result:
        return run("why", *args, KUBECONFIG=str(sim.kubeconfig), SLIPWAY_FAKE_NOW=LONG_AGO, **env)

    def golden(self, sim: Sim, scenario: str, *targets: tuple[int, str] | tuple[int, str, str]) -> None:
        """What is said of the targets, each with its exit code; a third word is what it is called in the file."""
        text = ""
        for code, target, *name in targets:
            done = self.why(sim, *target.split())
            self.assertEqual((done.code, done.err), (code, ""), (scenario, target, done.out))
            for line in done.out.splitlines():
                self.assertTrue(len(line) <= WIDTH or " " not in line.strip(), line)
                self.assertEqual(line, line.rstrip())
            text += f"$ slipway why {name[0] if name else target}\n{masked(done.out)}\n"
        path = GOLDEN / f"{scenario}.txt"
        if os.environ.get("SLIPWAY_GOLDEN") == "write":
            path.write_text(text)
        self.assertEqual(text, path.read_text(), f"{path} has something else")


class Quiet(Case):
    """Clusters in which nobody does anything: what a drain would meet."""

    def test_every_scenario_has_its_file(self) -> None:
        for scenario in (TOP / "scenarios").glob("*.yaml"):
            self.assertTrue((GOLDEN / f"{scenario.stem}.txt").exists(), f"no golden file about {scenario.stem}")

    def scenario(self, name: str, *targets: tuple, args: tuple[str, ...] = ()) -> None:
        with Sim("--scenario", name, *args) as sim:
            self.golden(sim, name, *targets)

    def test_happy(self) -> None:
        self.scenario("happy", (FREE, "w1"), (FREE, "node/w2"))

    def test_empty(self) -> None:
        self.scenario("empty", (FREE, "w1"), args=("--nodes", "1"))

    def test_big(self) -> None:
        self.scenario("big", (FREE, "w1"), args=("--nodes", "20"))

    def test_zones(self) -> None:
        self.scenario("zones", (FREE, "w1"))

    def test_control_plane(self) -> None:
        self.scenario("control-plane", (FREE, "cp1"), (FREE, "kube-system/etcd-cp1"))

    def test_flapping_node(self) -> None:
        self.scenario("flapping-node", (FREE, "w1"))

    def test_reboot_hang(self) -> None:
        self.scenario("reboot-hang", (FREE, "old1"), (FREE, "w1"))

    def test_slow_pods(self) -> None:
        self.scenario("slow-pods", (FREE, "w1"))

    def test_pinned(self) -> None:
        self.scenario("pinned", (BLOCKED, "w1"), (BLOCKED, "w2"), (FREE, "w3"), (BLOCKED, "debug"), (BLOCKED, "pod/licence-0"))

    def test_two_budgets(self) -> None:
        with Sim("--scenario", "two-budgets") as sim:
            pod = min(p["metadata"]["name"] for p in sim.client.pods() if p["metadata"]["labels"]["app"] == "web")
            self.golden(sim, "two-budgets", (BLOCKED, "w1"), (BLOCKED, f"pod/{pod}", "pod/web-..."))

    def test_crash_loop(self) -> None:
        with Sim("--scenario", "crash-loop") as sim:
            first = {p["metadata"]["labels"]["app"]: p["metadata"]["name"] for p in reversed(sim.client.pods(spec__nodeName="w1"))}
            self.golden(sim, "crash-loop", (BLOCKED, "w1"), (BLOCKED, first["broken"], "broken-..."))

    def test_jobs(self) -> None:
        with Sim("--scenario", "jobs") as sim:
            first = {p["metadata"]["name"].split("-")[0]: p["metadata"]["name"] for p in sim.client.pods(spec__nodeName="w1")}
            self.golden(sim, "jobs", (BLOCKED, "w1"), (BLOCKED, "w2 --room"), (BLOCKED, first["report"], "report-..."),
                        (FREE, first["patient"], "patient-..."))

    def test_webhook_less_edge(self) -> None:
        self.scenario("webhook-less-edge", (BLOCKED, "edge1"), (BLOCKED, "recorder-1-0"))


class Busy(Case):
    """Something has been done to them."""

    def test_pdb_stuck(self) -> None:
        """Also while somebody drains: it says who, and what is left."""
        with Sim("--scenario", "pdb-stuck", "--speed", "20") as sim:
            before = self.why(sim, "w1")
            self.assertEqual(before.code, BLOCKED)
            drain = subprocess.Popen([SLIPWAY, "drain", "w1", "--holder=night", "--reason=kernel"], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     env=environment(KUBECONFIG=str(sim.kubeconfig)))
            try:
                def stuck() -> bool:
                    node = sim.client.get("/api/v1/nodes/w1")
                    held = [c for c in node["status"]["conditions"] if c["type"] == "DrainInProgress" and c["status"] == "True"]
                    apps = {p["metadata"]["labels"]["app"] for p in sim.client.pods("shop", spec__nodeName="w1")}
                    return bool(held) and "good" not in apps
                until(stuck, "the drain that only waits")
                pod = next(p["metadata"]["name"] for p in sim.client.pods("shop", spec__nodeName="w1")
                           if p["metadata"]["labels"]["app"] == "web")
                self.golden(sim, "pdb-stuck", (BLOCKED, "w1"), (BLOCKED, f"shop/{pod}", "shop/web-..."))
            finally:
                drain.kill()
                drain.wait(LIMIT)

    def as_planned(self, sim: Sim, node: str) -> None:
        """A plan has the same codes, for as many pods unless chance decides: a plan plays it and names all who may be left."""
        def counted(pairs: list[tuple[str, int]]) -> dict[str, int]:
            return {code: sum(n for c, n in pairs if c == code) for code, _ in pairs}
        chain = json.loads(self.why(sim, node, "--room", "-o", "json").out)
        plan = json.loads(run("plan", "drain", node, "-o", "json", KUBECONFIG=str(sim.kubeconfig)).out)
        pods = [pod for n in plan["nodes"] for pod in n["pods"]]
        own = [n["blocker"] for n in plan["nodes"] if "blocker" in n]
        verdicts = {pod["verdict"] for pod in pods}
        said = counted([(link["code"], link.get("pods", 0)) for link in chain["links"]])
        planned = counted([(pod["blocker"]["code"], 1) for pod in pods if "blocker" in pod] + [(b["code"], 0) for b in own])
        if "unsure" in verdicts:
            self.assertEqual(set(said), set(planned), (node, chain, plan))
            self.assertTrue(all(said[code] <= planned[code] for code in said), (node, chain, plan))
        else:
            self.assertEqual(said, planned, (node, chain, plan))
        self.assertLessEqual({b["object"] for b in own}, {link.get("object") for link in chain["links"]}, node)
        self.assertEqual(chain["state"] == "blocked" and "never end" in chain["summary"], "never" in verdicts, (node, chain["summary"]))
        chance = "may not end" in chain["summary"] or "whether it ends is chance" in chain["summary"]
        self.assertEqual(chance, "unsure" in verdicts or bool(own), (node, chain["summary"]))
        report = json.loads(run("doctor", "--pdbs", "-o", "json", KUBECONFIG=str(sim.kubeconfig)).out)
        effects = {g["effect"] for g in report["groups"] if g["code"] == "PDBNoBudget" and node in {x for f in g["findings"] for x in f["nodes"]}}
        self.assertEqual(effects, ({"never"} if "never" in verdicts else set()) | ({"waits"} if "unsure" in verdicts or own else set()), node)

    def test_full(self) -> None:
        """Evicted one by one until there is no room for the next."""
        with Sim("--scenario", "full", "--speed", "20") as sim:
            c = sim.client
            before = self.why(sim, "w1", "--room")
            self.assertEqual(before.code, BLOCKED)
            self.assertIn("a drain may not end: 1 of its 7 pods goes only with luck", before.out)
            self.assertIn("who gets the last places is chance", " ".join(before.out.split()))
            for node in ("w1", "w2", "w3", "w4"):
                self.as_planned(sim, node)
            self.assertEqual(self.why(sim, "w1").code, FREE)
            c.patch("/api/v1/nodes/w1", {"spec": {"unschedulable": True}})
            for pod in sorted(c.pods(spec__nodeName="w1"), key=lambda p: p["metadata"]["name"]):
                until(lambda: c.evict(pod)[0] == 201, "an eviction that goes through")

                def settled() -> bool:
                    """Its replacement is there, and ready or without a node."""
                    pods = c.pods()
                    return len(pods) == 28 and all(ready(p) or unschedulable(p) for p in pods) and \
                        pod["metadata"]["uid"] not in {p["metadata"]["uid"] for p in pods}
                until(settled, "the replacement")
                homeless = [p["metadata"]["name"] for p in c.pods() if unschedulable(p)]
                if homeless:
                    break
            app = next(p for p in c.pods() if unschedulable(p))["metadata"]["labels"]["app"]

            def known() -> bool:
                budget = c.get(f"/apis/policy/v1/namespaces/default/poddisruptionbudgets/{app}")
                return budget["status"]["disruptionsAllowed"] == 0
            until(known, "the budget that is used up")
            self.assertEqual(len(homeless), 1)
            self.golden(sim, "full", (BLOCKED, "w1"), (BLOCKED, f"pod/{homeless[0]}", "pod/app-..."))

    def test_finalizer_stuck(self) -> None:
        with Sim("--scenario", "finalizer-stuck", "--speed", "20") as sim:
            c = sim.client
            pod = next(p for p in c.pods(spec__nodeName="w1") if p["metadata"]["labels"]["app"] == "archive")
            name = pod["metadata"]["name"]
            self.assertEqual(self.why(sim, "w1").code, BLOCKED)  # a drain would wait for ever
            self.assertEqual(c.evict(pod)[0], 201)
            until(lambda: c.get(f"/api/v1/namespaces/default/pods/{name}")["status"]["phase"] != "Running", "its end")
            self.golden(sim, "finalizer-stuck", (BLOCKED, "w1"), (BLOCKED, name, "archive-..."), (BLOCKED, "w2"))

    def test_stateful(self) -> None:
        with Sim("--scenario", "stateful", "--speed", "20") as sim:
            c = sim.client
            c.patch("/api/v1/nodes/w1", {"spec": {"unschedulable": True}})
            old = c.get("/api/v1/namespaces/default/pods/logs-0")
            for pod in c.pods(spec__nodeName="w1"):
                self.assertEqual(c.evict(pod)[0], 201)

            def stuck() -> bool:
                events = c.get("/api/v1/namespaces/default/events?fieldSelector=reason%3DFailedAttachVolume")["items"]
                code, now = c.call("GET", "/api/v1/namespaces/default/pods/logs-0")
                left = c.get("/apis/storage.k8s.io/v1/volumeattachments")["items"]
                here = [a for a in left if a["spec"]["nodeName"] == "w1"]
                return code == 200 and now["metadata"]["uid"] != old["metadata"]["uid"] and len(here) == 1 and \
                    "detachError" in here[0]["status"] and not c.pods(spec__nodeName="w1") and \
                    any(e["involvedObject"].get("uid") == now["metadata"]["uid"] and "attached to node" in e["message"] for e in events)
            until(stuck, "the volume that stays")
            self.golden(sim, "stateful", (BLOCKED, "w1"), (BLOCKED, "logs-0"))

    def test_node_lost(self) -> None:
        with Sim("--scenario", "node-lost", "--speed", "200") as sim:
            def lost() -> bool:
                pods = sim.client.pods(spec__nodeName="w2")
                return bool(pods) and all("deletionTimestamp" in p["metadata"] for p in pods)
            until(lost, "the loss")
            db = next(p["metadata"]["name"] for p in sim.client.pods(spec__nodeName="w2") if p["metadata"]["name"].startswith("db"))
            self.golden(sim, "node-lost", (BLOCKED, "w2"), (BLOCKED, f"default/{db}"))


class Advice(Case):
    """What it tells to do helps: the patches are sent as they stand there, and the link is gone."""

    def helps(self, scenario: str, target: str, code: str, words: str, path: str) -> None:
        def links(sim: Sim) -> list[dict]:
            doc = json.loads(self.why(sim, target, "-o", "json").out)
            return [x for x in doc["links"] if x.get("code") == code and words in json.dumps(x["remedies"])]
        with Sim("--scenario", scenario, "--speed", "20") as sim:
            link = links(sim)[0]
            remedy = next(r for r in link["remedies"] if words in r["command"])
            command = shlex.split(remedy["command"])
            self.assertEqual(command[0], "kubectl")
            how = {"--type=merge": "application/merge-patch+json", "--type=json": "application/json-patch+json"}
            kind = next(how[w] for w in command if w in how)
            status, answer = sim.client.call("PATCH", path, json.loads(command[command.index("-p") + 1]), kind)
            self.assertEqual(status, 200, answer)
            until(lambda: link["object"] not in [x["object"] for x in links(sim)], f"a cluster without {code}")

    def test_pinned(self) -> None:
        self.helps("pinned", "w2", "PinnedToNode", "/spec/template/spec/nodeName", "/apis/apps/v1/namespaces/default/statefulsets/licence")

    def test_budget(self) -> None:
        self.helps("pdb-stuck", "w1", "PDBUnsatisfiable", "minAvailable", "/apis/policy/v1/namespaces/shop/poddisruptionbudgets/web")

    def test_policy(self) -> None:
        self.helps("crash-loop", "w1", "PDBNoBudget", "AlwaysAllow", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/broken")

    def test_scale(self) -> None:
        with Sim("--scenario", "pdb-stuck", "--speed", "20") as sim:
            doc = json.loads(self.why(sim, "w1", "-o", "json").out)
            link = next(x for x in doc["links"] if x["object"] == "shop/web")
            self.assertEqual(link["remedies"][0]["command"], "kubectl -n shop scale deployment web --replicas=4")
            sim.client.patch("/apis/apps/v1/namespaces/shop/deployments/web/scale", {"spec": {"replicas": 4}})
            until(lambda: "shop/web" not in self.why(sim, "w1", "-o", "json").out, "a budget that allows one")


class Words(Case):
    """Targets, formats, exit codes."""

    sim: Sim

    @classmethod
    def setUpClass(cls) -> None:
        cls.sim = Sim("--scenario", "pinned")
        cls.pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "w3"},
                   "spec": {"containers": [{"name": "c", "image": "example.com/a:1"}]}}
        c: Client = cls.sim.client
        for name in ("other", "third"):
            c.call("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        for ns, name in (("other", "w3"), ("default", "w3"), ("other", "alone"), ("other", "twin"), ("third", "twin")):
            body = cls.pod | {"metadata": {"name": name}}
            until(lambda: c.call("POST", f"/api/v1/namespaces/{ns}/pods", body)[0] == 201, "the pod")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.sim.__exit__()

    def document(self, *args: str) -> tuple[int, dict]:
        done = self.why(self.sim, *args, "-o", "json")
        return done.code, json.loads(done.out)

    def test_ways_to_name_a_node(self) -> None:
        for target in ("w2", "node/w2", "nodes/w2", "no/w2"):
            code, doc = self.document(target)
            self.assertEqual((code, doc["target"]), (BLOCKED, {"kind": "Node", "name": "w2"}), target)

    def test_ways_to_name_a_pod(self) -> None:
        want = {"kind": "Pod", "namespace": "default", "name": "debug"}
        for args in (["debug"], ["default/debug"], ["pod/debug"], ["pod/default/debug"], ["po/debug"], ["pods/default/debug"],
                     ["-n", "default", "debug"], ["-n", "default", "pod/debug"], ["-n", "other", "default/debug"]):
            self.assertEqual(self.document(*args)[1]["target"], want, args)

    def test_a_pod_of_another_namespace_is_found(self) -> None:
        self.assertEqual(self.document("alone")[1]["target"], {"kind": "Pod", "namespace": "other", "name": "alone"})

    def test_what_is_ambiguous_is_told(self) -> None:
        done = self.why(self.sim, "w3")
        self.assertEqual((done.code, done.out), (USAGE, ""))
        self.assertIn('"w3" is a node and a pod: write node/w3, or pod/default/w3', done.err)
        self.assertEqual(self.document("node/w3")[1]["target"]["kind"], "Node")
        self.assertEqual(self.document("-n", "other", "w3")[1]["target"]["namespace"], "other")
        done = self.why(self.sim, "twin")
        self.assertEqual((done.code, done.out), (USAGE, ""))
        self.assertIn('"other/twin", "third/twin"', done.err)

    def test_what_is_unknown_is_told_with_what_is_near(self) -> None:
        done = self.why(self.sim, "w9")
        self.assertEqual((done.code, done.out), (FAILED, ""))
        self.assertRegex(done.err, r'^error: there is no node, and no pod "w9" in namespace default \(there are "w1", "w2", "w3"')
        done = self.why(self.sim, "node/w9")
        self.assertRegex(done.err, r'^error: there is no node "w9" \(there are "w1", "w2", "w3"\)')
        done = self.why(self.sim, "pod/debgu")
        self.assertRegex(done.err, r'^error: there is no pod "debgu" in namespace default \(there are "debug"')

    def test_other_kinds(self) -> None:
        for target in ("deploy/web", "statefulset/licence", "pdb/web"):
            done = self.why(self.sim, target)
            self.assertEqual((done.code, done.out), (USAGE, ""), target)
            self.assertIn(f"{target} cannot be asked about: name a node, or one of its pods", done.err)

    def test_what_names_nothing(self) -> None:
        for target in ("", "/", "a/", "/b", "node/", "node/a/b", "pod/", "pod/a/b/c", "a/b/c"):
            done = self.why(self.sim, target)
            self.assertEqual((done.code, done.out), (USAGE, ""), target)
            self.assertIn("names neither a node", done.err)
        self.assertEqual(self.why(self.sim).code, USAGE)
        self.assertEqual(self.why(self.sim, "w1", "w2").code, USAGE)
        for target, kind in (("..", "node, and no pod,"), ("a%2fb", "node, and no pod,"), ("a,b=c", "node, and no pod,"), ("W1", "node, and no pod,"),
                             ("\x1b[31m", "node, and no pod,"), ("x" * 300, "node, and no pod,"), ("../x", "namespace"), ("pod/../x", "namespace"),
                             ("node/..", "node"), ("shop/-", "pod")):
            done = self.why(self.sim, target)
            self.assertEqual((done.code, done.out), (FAILED, ""), target)
            self.assertNotIn("\x1b", done.err)
            self.assertRegex(done.err, f'^error: there is no {kind} ".*": names are of lower case letters')

    def test_document(self) -> None:
        code, doc = self.document("w2")
        self.assertEqual(code, BLOCKED)
        self.assertEqual(doc["schema"], "slipway.why/1.0")
        self.assertEqual(doc["state"], "blocked")
        link, = [x for x in doc["links"] if x.get("code") == "PinnedToNode"]
        self.assertEqual((link["severity"], link["blocks"], link["pods"], link["example"]), ("error", True, 1, "default/licence-0"))
        self.assertEqual([r["risk"] for r in link["remedies"]], ["low", "service"])
        code, doc = self.document("node/w3")
        self.assertEqual(doc["unread"], [])
        done = self.why(self.sim, "w2", "-o", "jsonpath={.links[0].code}")
        self.assertEqual(done.out.strip(), "PinnedToNode")

    def test_the_document_is_as_documented(self) -> None:
        """Every member that is written is named in docs/why.md."""
        docs = (TOP / "docs" / "why.md").read_text()

        def members(value: object) -> set[str]:
            if isinstance(value, dict):
                return set(value).union(*(members(v) for v in value.values()))
            return set().union(*(members(v) for v in value)) if isinstance(value, list) else set()
        for target in ("w1", "w2", "debug"):
            for name in members(self.document(target)[1]):
                self.assertIn(f"`{name}`", docs)

    def test_nobody_answers(self) -> None:
        done = run("why", "w1", "--server", "http://127.0.0.1:1")
        self.assertEqual((done.code, done.out), (4, ""))
        self.assertIn("127.0.0.1:1", done.err)

    def test_no_color_in_a_pipe_and_color_on_demand(self) -> None:
        self.assertNotIn("\x1b", self.why(self.sim, "w2").out)
        colored = self.why(self.sim, "w2", "--color=always").out
        self.assertIn("\x1b[31m", colored)
        self.assertEqual(re.sub(r"\x1b\[[0-9;]*m", "", colored), self.why(self.sim, "w2").out)

    def test_ascii(self) -> None:
        self.assertTrue(self.why(self.sim, "w2", LC_ALL="C").out.isascii())


if __name__ == "__main__":
    tap.main()
