"""The scenarios that are built in: each shows what it is for.

The answers are those of the real API server (pkg/registry/core/pod/storage/eviction.go) and of the real controllers.
"""

from __future__ import annotations

import collections
import contextlib
import re
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Iterator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import TOP  # noqa: E402
from simulation import Client, Sim, until  # noqa: E402

def ready(pod: dict) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))


DOCS = (TOP / "docs" / "simulator.md").read_text()


class Troubles(unittest.TestCase):
    @contextlib.contextmanager
    def play(self, scenario: str, speed: str = "50", *args: str) -> Iterator[Client]:
        with Sim("--scenario", scenario, "--speed", speed, *args) as s:
            yield s.client

    def refused(self, answer: tuple[int, dict], code: int, words: str) -> None:
        self.assertEqual((answer[0], answer[1]["code"]), (code, code), answer)
        self.assertIn(words, answer[1]["message"])

    def test_pdb_stuck(self) -> None:
        with self.play("pdb-stuck") as c:
            allowed = {b["metadata"]["name"]: b["status"]["disruptionsAllowed"]
                       for b in c.get("/apis/policy/v1/namespaces/shop/poddisruptionbudgets")["items"]}
            self.assertEqual(allowed, {"web": 0, "single": 0, "never": 0, "good": 1})
            pods = {p["metadata"]["labels"]["app"]: p for p in c.pods("shop")}
            for app in ("web", "single", "never"):
                self.refused(c.evict(pods[app]), 429, "violate the pod's disruption budget")
            self.assertEqual(c.evict(pods["good"])[0], 201)
            # Each node has one of web: none can be drained.
            self.assertEqual({p["spec"]["nodeName"] for p in c.pods("shop") if p["metadata"]["labels"]["app"] == "web"},
                             {"w1", "w2", "w3"})

    def test_two_budgets(self) -> None:
        with self.play("two-budgets") as c:
            for pod in c.pods():
                answer = c.evict(pod)
                if pod["metadata"]["labels"]["app"] == "web":
                    self.refused(answer, 500, "more than one PodDisruptionBudget")
                else:
                    self.assertEqual(answer[0], 201)
                    break

    def test_crash_loop(self) -> None:
        with self.play("crash-loop", "1") as c:
            pods = {p["metadata"]["labels"]["app"]: p for p in c.pods()}
            for app in ("broken", "tolerant"):
                self.assertGreater(pods[app]["status"]["containerStatuses"][0]["restartCount"], 3)
            self.refused(c.evict(pods["broken"]), 429, "violate the pod's disruption budget")
            self.assertEqual(c.evict(pods["tolerant"])[0], 201)
            self.assertEqual(c.evict(pods["fine"])[0], 201)

    def test_full(self) -> None:
        with self.play("full") as c:
            self.assertEqual(c.pods(status__phase="Pending"), [])
            c.patch("/api/v1/nodes/w1", {"spec": {"unschedulable": True}})

            def evict_all() -> list[dict] | None:
                """What is left on the node when nothing moves any more: all that can be ready is, and the budgets know."""
                healthy = {b["metadata"]["name"]: b["status"]["currentHealthy"]
                           for b in c.get("/apis/policy/v1/namespaces/default/poddisruptionbudgets")["items"]}
                pods = c.pods()
                placed = [p for p in pods if p["spec"].get("nodeName")]
                if len(pods) != 7 * len(healthy) or not all(map(ready, placed)):
                    return None
                if healthy != collections.Counter(p["metadata"]["labels"]["app"] for p in placed):
                    return None
                left = [p for p in placed if p["spec"]["nodeName"] == "w1"]
                return left if all(c.evict(p)[0] == 429 for p in left) else None
            left = until(evict_all, "the end of what can move")
            waiting = {p["metadata"]["labels"]["app"] for p in c.pods(status__phase="Pending")}
            self.assertTrue(left and waiting)
            self.assertLessEqual({p["metadata"]["labels"]["app"] for p in left}, waiting)

    def test_finalizer_stuck(self) -> None:
        with self.play("finalizer-stuck") as c:
            pod = next(p for p in c.pods() if p["metadata"]["labels"]["app"] == "archive")
            path = f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}"
            self.assertEqual(c.evict(pod)[0], 201)
            until(lambda: c.get(path)["status"]["phase"] != "Running", "the end of its containers")
            self.assertIn("deletionTimestamp", c.get(path)["metadata"])
            self.assertEqual(c.get("/api/v1/namespaces/old")["status"]["phase"], "Terminating")
            c.patch(path, {"metadata": {"finalizers": None}})
            until(lambda: c.call("GET", path)[0] == 404, "the end of the pod")

    def test_pinned(self) -> None:
        with self.play("pinned") as c:
            self.assertNotIn("ownerReferences", c.get("/api/v1/namespaces/default/pods/debug")["metadata"])
            c.patch("/api/v1/nodes/w2", {"spec": {"unschedulable": True}})
            path = "/api/v1/namespaces/default/pods/licence-0"
            pod = c.get(path)
            self.assertEqual(c.evict(pod)[0], 201)

            def back() -> bool:
                code, now = c.call("GET", path)
                return code == 200 and now["metadata"]["uid"] != pod["metadata"]["uid"] and now["status"]["phase"] == "Running"
            until(back, "its return")
            self.assertEqual(c.get(path)["spec"]["nodeName"], "w2")

    def test_control_plane(self) -> None:
        with self.play("control-plane") as c:
            cp1 = c.get("/api/v1/nodes/cp1")
            self.assertIn("node-role.kubernetes.io/control-plane", cp1["metadata"]["labels"])
            self.assertEqual([t["effect"] for t in cp1["spec"]["taints"]], ["NoSchedule"])
            names = {p["metadata"]["name"] for p in c.pods("kube-system", spec__nodeName="cp1")}
            self.assertLessEqual({"etcd-cp1", "kube-apiserver-cp1", "kube-controller-manager-cp1", "kube-scheduler-cp1"}, names)
            path = "/api/v1/namespaces/kube-system/pods/etcd-cp1"
            etcd = c.get(path)
            self.assertIn("kubernetes.io/config.mirror", etcd["metadata"]["annotations"])
            self.assertEqual([(o["kind"], o["name"], o["uid"]) for o in etcd["metadata"]["ownerReferences"]],
                             [("Node", "cp1", cp1["metadata"]["uid"])])
            self.assertEqual(c.call("DELETE", path)[0], 200)

            def back() -> dict | None:
                code, now = c.call("GET", path)
                return now if code == 200 and now["metadata"]["uid"] != etcd["metadata"]["uid"] and "phase" in now["status"] else None
            self.assertEqual(until(back, "the mirror")["status"]["containerStatuses"], etcd["status"]["containerStatuses"])

    def test_edge(self) -> None:
        with self.play("webhook-less-edge", "50", "--nodes", "4") as c:
            for i in range(1, 5):
                pod = c.get(f"/api/v1/namespaces/default/pods/recorder-{i}-0")
                self.assertEqual((pod["spec"]["nodeName"], pod["status"]["phase"]), (f"edge{i}", "Running"))
            c.patch("/api/v1/nodes/edge1", {"spec": {"unschedulable": True}})
            path = "/api/v1/namespaces/default/pods/recorder-1-0"
            self.assertEqual(c.evict(c.get(path))[0], 201)

            def unschedulable() -> str | None:
                code, now = c.call("GET", path)
                return next((x["message"] for x in now.get("status", {}).get("conditions", [])
                             if code == 200 and x.get("reason") == "Unschedulable"), None)
            self.assertIn("didn't match PersistentVolume's node affinity", until(unschedulable, "the scheduler's answer"))

    def test_stateful(self) -> None:
        with self.play("stateful") as c:
            logs = c.get("/api/v1/namespaces/default/pods/logs-0")
            self.assertEqual(logs["spec"]["nodeName"], "w1")
            c.patch("/api/v1/nodes/w1", {"spec": {"unschedulable": True}})
            self.assertEqual(c.evict(logs)[0], 201)

            def stuck() -> bool:
                events = c.get("/api/v1/namespaces/default/events?fieldSelector=reason%3DFailedAttachVolume")["items"]
                return any("Multi-Attach" in e["message"] for e in events)
            until(stuck, "the Multi-Attach error")
            zones = {n["metadata"]["name"]: n["metadata"]["labels"]["topology.kubernetes.io/zone"]
                     for n in c.get("/api/v1/nodes")["items"]}
            self.assertEqual(len({zones[p["spec"]["nodeName"]] for p in c.pods() if p["metadata"]["name"].startswith("db-")}), 3)

    def test_zones(self) -> None:
        with self.play("zones") as c:
            zones = {n["metadata"]["name"]: n["metadata"]["labels"]["topology.kubernetes.io/zone"]
                     for n in c.get("/api/v1/nodes")["items"]}
            spread = {zone: 0 for zone in "abc"}
            for pod in c.pods():
                if pod["metadata"]["labels"].get("app") == "web":
                    spread[zones[pod["spec"]["nodeName"]]] += 1
            self.assertEqual(spread, {"a": 4, "b": 4, "c": 4})
            allowed = {b["metadata"]["name"]: b["status"]["disruptionsAllowed"]
                       for b in c.get("/apis/policy/v1/namespaces/default/poddisruptionbudgets")["items"]}
            self.assertEqual(allowed, {"web": 4, "quorum": 1, "cache-a": 1, "cache-b": 1, "cache-c": 1})

    def ready(self, c: Client, node: str) -> str:
        return next(x["status"] for x in c.get(f"/api/v1/nodes/{node}")["status"]["conditions"] if x["type"] == "Ready")

    def test_node_lost(self) -> None:
        with self.play("node-lost", "200") as c:
            until(lambda: self.ready(c, "w2") == "Unknown", "the loss")

            def terminating() -> bool:
                return all("deletionTimestamp" in p["metadata"] for p in c.pods(spec__nodeName="w2"))
            until(terminating, "the deletion of its pods")
            self.assertTrue(any(p["metadata"]["name"].startswith("db-") for p in c.pods(spec__nodeName="w2")))
            self.assertEqual(self.ready(c, "w1"), "True")

    def test_reboot_hang(self) -> None:
        with self.play("reboot-hang", "100") as c:
            boots = {n: c.get(f"/api/v1/nodes/{n}")["status"]["nodeInfo"]["bootID"] for n in ("w1", "old1")}
            for node in boots:
                c.patch(f"/api/v1/nodes/{node}", {"metadata": {"annotations": {"sim.slipway.dev/do": "reboot"}}})
            until(lambda: c.get("/api/v1/nodes/w1")["status"]["nodeInfo"]["bootID"] != boots["w1"], "the boot of w1")
            until(lambda: self.ready(c, "old1") == "Unknown", "the loss of old1")
            self.assertEqual(c.get("/api/v1/nodes/old1")["status"]["nodeInfo"]["bootID"], boots["old1"])
            c.patch("/api/v1/nodes/old1", {"metadata": {"annotations": {"sim.slipway.dev/do": "on"}}})
            until(lambda: self.ready(c, "old1") == "True", "the return of old1")
            self.assertNotEqual(c.get("/api/v1/nodes/old1")["status"]["nodeInfo"]["bootID"], boots["old1"])

    def test_flapping_node(self) -> None:
        with self.play("flapping-node", "100") as c:
            for word in ("Unknown", "True", "Unknown"):
                until(lambda word=word: self.ready(c, "w3") == word, f"Ready={word}")

    def test_slow_pods(self) -> None:
        with self.play("slow-pods", "100") as c:
            self.assertTrue(all(p["status"]["phase"] == "Running" for p in c.pods()))
            slow = [p for p in c.pods() if p["metadata"]["labels"]["app"] == "slow"]
            self.assertEqual(c.evict(slow[0])[0], 201)
            self.refused(c.evict(slow[1]), 429, "violate the pod's disruption budget")

    def test_big(self) -> None:
        """Thirty pods for every node."""
        with self.play("big", "1", "--nodes", "10") as c:
            self.assertEqual(len(c.get("/api/v1/pods")["items"]), 300)
            self.assertTrue(all(p["status"]["phase"] == "Running" for p in c.get("/api/v1/pods")["items"]))


class Documented(unittest.TestCase):
    """docs/simulator.md says all there is."""

    def test_scenarios(self) -> None:
        table = DOCS.split("## Scenarios", 1)[1].split("## Writing one", 1)[0]
        self.assertEqual(sorted(re.findall(r"^\| `([a-z-]+)` \|", table, re.M)), sorted(p.stem for p in (TOP / "scenarios").glob("*.yaml")))

    def test_keys(self) -> None:
        """Every key that the reader's tables know is in a table of the page, and every one there is known."""
        source = (TOP / "src" / "sim" / "scenario.c").read_text()
        keys = {table: set(re.findall(r'YAML_FIELD\("(\w+)"', source.split(f"{table}_fields[] = {{", 1)[1].split("};", 1)[0]))
                for table in ("top", "group", "event")}
        page = DOCS.split("## Writing one", 1)[1].split("### How long things take", 1)[0]
        tables = [set(re.findall(r"`(\w+)`(?=[^|]*\|)", "\n".join(line[:line.index("|", 2) + 1] for line in block.splitlines()[2:])))
                  for block in re.findall(r"(?:^\|.*\n)+", page, re.M)]
        self.assertEqual(len(tables), 3)
        self.assertEqual(tables[0], keys["top"])
        self.assertEqual(tables[1], keys["group"])
        self.assertEqual(tables[2] | {"after", "every"}, keys["event"])
        for word in ("`after`", "`every`"):
            self.assertIn(word, page)

    def test_annotations(self) -> None:
        """Those that the headers of the fleet explain."""
        fleet = TOP / "src" / "sim" / "fleet"
        said = set(re.findall(r"sim\.slipway\.dev/([a-z]+)", (fleet / "machine.h").read_text() + (fleet / "volumes.h").read_text()))
        page = DOCS.split("### How long things take", 1)[1].split("## What is simulated", 1)[0]
        self.assertEqual(set(re.findall(r"^\| `sim\.slipway\.dev/([a-z]+)` \|", page, re.M)), said)

    def test_example(self) -> None:
        """The file in the text works as it stands, and does what it says."""
        text = textwrap.dedent(re.search(r"\n\n((?:    .*\n)+)", DOCS.split("## Writing one", 1)[1])[1])
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "mine.yaml")
            path.write_text(text)
            with Sim("--scenario", str(path), "--speed", "200") as s:
                def state() -> dict[str, str]:
                    return {n["metadata"]["name"]: next(c["status"] for c in n["status"]["conditions"] if c["type"] == "Ready")
                            for n in s.client.get("/api/v1/nodes")["items"]}
                dark = {"w1": "Unknown", "w2": "True", "w3": "Unknown", "w4": "True"}
                until(lambda: state() == dark, "the dark zone")
                until(lambda: state() == dark | {"w1": "True"}, "the return of w1")


if __name__ == "__main__":
    tap.main()
