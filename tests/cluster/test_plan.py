"""Do plans come true on a real cluster?  Small clusters drawn from a seed (tests/lib/plan_clusters.py) are made on a real control plane,
planned, really drained, and what happened is compared with what the plan said (tests/lib/plan_judge.py): which nodes are drained, which pods go
and which stay, which of their replacements stay Pending, and the scheduler's own message about these, to the letter.

$PLAN_ROUNDS is how many clusters there are (4), $SLIPWAY_SEED the first seed.  The same in the simulator is tests/cli/test_plan_truth.py.
"""

from __future__ import annotations

import collections
import json
import os
import random
import threading
import time
from typing import NamedTuple

from api import ApiError
from cluster import Cluster, fake_node
from context import Context, limit
from drain_ground import PATIENCE, Ground as Drained
from drain_objects import READ
from objects import deployment, pod
from plan_clusters import HOST, LOCAL, ZONE, Ground, Made, draw, zone_terms
from plan_judge import FITS, Trial, app_of, is_ready, summary, too_many
from plan_picture import Picture, objects
from stalls import Stalls

ROUNDS = int(os.environ.get("PLAN_ROUNDS", "4"))
FIRST = int(os.environ.get("SLIPWAY_SEED", "1"))
PROVISIONER = "plan.test/provisioner"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
CRASHES = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [
    {"name": "main", "image": "example.com/app:1", "imageID": "", "ready": False, "restartCount": 7,
     "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}


class Said(NamedTuple):
    out: str
    err: str
    code: int


def pace(r: random.Random, never: bool = False, slow: bool = False) -> dict:
    """Those that never become ready are Pending on their node, until they are said to crash."""
    return Cluster.pod_timing(ready="10h" if never else None, gone="8s" if slow else None)


class Provisioner:
    """Makes a volume for each claim for which the scheduler has chosen a node, in the zone of that."""

    def __init__(self, cluster: Cluster) -> None:
        self.api = cluster.api
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self) -> None:
        while not self.stop.wait(0.2):
            try:
                for claim in self.api.items("/api/v1/persistentvolumeclaims"):
                    self.provide(claim)
            except (OSError, ApiError):
                continue  # of a claim or a node that is gone meanwhile

    def provide(self, claim: dict) -> None:
        meta = claim["metadata"]
        node = meta.get("annotations", {}).get("volume.kubernetes.io/selected-node")
        if not node or claim["spec"].get("volumeName") or claim["spec"]["storageClassName"].endswith(LOCAL):
            return
        zone = self.api.get(f"/api/v1/nodes/{node}")["metadata"]["labels"].get(ZONE)
        spec: dict = {"capacity": {"storage": "2Gi"}, "accessModes": claim["spec"]["accessModes"], "hostPath": {"path": "/x"},
                      "storageClassName": claim["spec"]["storageClassName"], "persistentVolumeReclaimPolicy": "Retain",
                      "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": meta["namespace"], "name": meta["name"],
                                   "uid": meta["uid"]}}
        if zone:
            spec["nodeAffinity"] = zone_terms(ZONE, zone)
        try:
            self.api.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"made-{meta['uid']}"}, "spec": spec})
        except ApiError as error:
            if error.code != 409:
                raise

    def end(self) -> None:
        self.stop.set()
        self.thread.join(30)


class Real:
    """The world of a trial: a real control plane with fake kubelets."""

    patience = 180
    stuck, longer, enough = 6, 15, 150  # the last is more than the time for which a late controller holds a StatefulSet's budget
    rehearsals = 0  # tests/cluster/test_rehearse.py

    def __init__(self, ctx: Context, cluster: Cluster, made: Made, ground: Ground) -> None:
        self.ctx, self.cluster, self.api, self.made, self.ground = ctx, cluster, cluster.api, made, ground

    # what the judge asks for

    def items(self, path: str) -> list[dict]:
        return list(self.api.items(path))

    def call(self, method: str, path: str, body: object = None) -> object:
        try:
            return self.api.patch(path, body) if method == "PATCH" else self.api.call(method, path, body)
        except ApiError as error:
            if error.code != 404:
                raise
        return None

    def slipway(self, *words: str, seconds: float | None = None) -> Said:
        """seconds: it is stopped when it has done nothing for as long.  What it does is a line of its output; stalls of a busy server,
        in which it can do nothing, do not count."""
        child = self.ctx.spawn(self.ctx.slipway, *words, kubeconfig=self.cluster.admin)
        with Stalls(self.cluster) as stalls:
            seconds = seconds or 120
            done, until = 0, time.monotonic() + seconds
            while child.running and time.monotonic() < until + stalls.seconds:
                if len(child.out) != done:
                    done, until = len(child.out), time.monotonic() + seconds - stalls.seconds
                time.sleep(0.05)
        child.kill()
        code = child.end(number=None)
        return Said("\n".join(child.out), "\n".join(child.err), code)

    def grow_old(self, seconds: float) -> None:
        raise AssertionError("there is no time for that")

    def prepare(self, pods: list[dict]) -> None:
        """A pod that was just made and is not ready may be on its way: these are not."""
        for p in pods:
            if app_of(p) in self.made.never and p["spec"].get("nodeName") and p["status"]["phase"] == "Pending":
                assert not is_ready(p)
                self.api.patch(f"/api/v1/namespaces/{p['metadata']['namespace']}/pods/{p['metadata']['name']}/status", {"status": CRASHES})

    def explain(self, pod: dict) -> str | None:
        asked = {k: v for k, v in pod.items() if k != "status"}
        picture = Picture(self.ctx, self.cluster)
        picture.show([o for o in objects(self.api) if o["metadata"]["uid"] != pod["metadata"]["uid"]])
        said = picture.ask(asked).get("message", FITS)
        picture.end()
        return said

    # the cluster

    def build(self) -> None:
        nodes, names = [], [n["name"] for n in self.made.nodes]
        for i, n in enumerate(self.made.nodes):
            size = {"cpu": str(n["cpu"]), "memory": "4Gi", "ephemeral-storage": "20Gi", "pods": "110"}
            node = fake_node(n["name"], i, n["zone"], n["labels"], n["taints"], {}, size)
            node["spec"]["unschedulable"] = n["cordoned"]
            nodes.append(node)
        self.api.bulk(nodes, workers=4)
        self.namespace(self.ground.namespace)
        self.ctx.wait_for(lambda: self.cluster.nodes_ready(names), 30, "the nodes")
        self.ctx.wait_for(self.tainted, 30, "the taints of cordoned nodes")
        for o in self.made.objects:
            if o["kind"] == "Namespace":
                self.namespace(o["metadata"]["name"])
            else:
                self.api.create(o)

    def namespace(self, name: str) -> None:
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
        self.ctx.wait_for(lambda: self.api.raw("GET", account)[0] == 200, 30, account)

    def tainted(self) -> bool:
        """The node controller's taint follows the cordon."""
        return all(bool(n["spec"].get("unschedulable")) == any(t["key"] == UNSCHEDULABLE for t in n["spec"].get("taints", []))
                   for n in self.items("/api/v1/nodes"))

    def clear(self) -> None:
        spaces = {self.ground.namespace, *({self.made.doomed} if self.made.doomed else ())}
        for name in spaces:
            self.call("DELETE", f"/api/v1/namespaces/{name}")
        for path in ("apps/v1/{}/deployments", "apps/v1/{}/statefulsets", "apps/v1/{}/daemonsets", "batch/v1/{}/jobs", "apps/v1/{}/replicasets"):
            group, version, _, resource = path.split("/")
            for name in spaces:
                self.call("DELETE", f"/apis/{group}/{version}/namespaces/{name}/{resource}", {"propagationPolicy": "Background"})

        def empty() -> bool:
            for name in spaces:
                self.call("DELETE", f"/api/v1/namespaces/{name}/pods", {"gracePeriodSeconds": 0})
            return not self.items("/api/v1/pods")

        self.ctx.wait_for(empty, 60, "the end of the pods")
        for n in self.made.nodes:
            self.call("DELETE", f"/api/v1/nodes/{n['name']}")
        for kind, version in (("StorageClass", "storage.k8s.io/v1"), ("PriorityClass", "scheduling.k8s.io/v1")):
            for o in self.made.objects:
                if o["kind"] == kind:
                    self.call("DELETE", f"/apis/{version}/{kind.lower()}es/{o['metadata']['name']}")
        self.call("DELETE", "/api/v1/persistentvolumes")
        self.ctx.wait_for(lambda: not self.items("/api/v1/persistentvolumeclaims") and not self.items("/api/v1/persistentvolumes")
                          and not self.items("/api/v1/nodes"), 60, "the end of the volumes")


@limit(max(600, 60 * ROUNDS))
def test_plans_come_true(ctx: Context) -> None:
    cluster = ctx.private_cluster(pod_ready_ms=(0, 300), pod_gone_ms=(0, 500))
    provisioner = Provisioner(cluster)
    ctx.undo(provisioner.end)
    seen: collections.Counter = collections.Counter()
    faults: list[str] = []
    for seed in range(FIRST, FIRST + ROUNDS):
        ground = Ground(nodes=f"p{seed}-w", namespace=f"p{seed}", prefix=f"p{seed}-", provisioner=PROVISIONER, preemption=True,
                        long_held=False, pace=pace)
        world = Real(ctx, cluster, draw(seed, ground), ground)
        world.build()
        trial = Trial(world, world.made).run()
        faults += [f"seed {seed}, drain of {world.made.target} {world.made.flags}: {fault}" for fault in trial.faults]
        if trial.faults:
            print("".join(f"# {line}\n" for line in [*faults[-len(trial.faults):], *trial.story, *trial.said.splitlines()]), end="", flush=True)
        seen += trial.counts()
        world.clear()
    print(f"# {ROUNDS} clusters from seed {FIRST}: {summary(seen)}", flush=True)
    assert not faults, "\n".join(faults)
    assert not too_many(seen), summary(seen)


def test_without_storage_classes(ctx: Context) -> None:
    """Who may not read them is told what is not judged, and has a plan."""
    with Drained(ctx, nodes=2) as g:
        name = ctx.unique("static")
        g.api.create({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
                      "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"})
        ctx.undo(lambda: g.api.delete(f"/apis/storage.k8s.io/v1/storageclasses/{name}"))
        g.api.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
            "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}, "storageClassName": name,
            "persistentVolumeReclaimPolicy": "Retain", "nodeAffinity": zone_terms(HOST, g.nodes[0])}})
        ctx.undo(lambda: g.api.delete(f"/api/v1/persistentvolumes/{name}"))
        claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": name, "resources": {"requests": {"storage": "1Gi"}}}
        volumes = [{"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}]
        g.place(0, deployment("scratch", g.ns, 1, volumes=volumes, **g.here), deployment("plain", g.ns, 1, **g.here))
        rules = [*READ, {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["list"]}, {"apiGroups": [""], "verbs": ["list"], "resources": [
            "persistentvolumes", "persistentvolumeclaims", "resourcequotas", "serviceaccounts"]}]
        storage = {"apiGroups": ["storage.k8s.io"], "resources": ["storageclasses", "csinodes"], "verbs": ["list"]}

        def plan(*more: dict) -> tuple[str, dict[str, dict]]:
            done = ctx.run(ctx.slipway, "plan", "drain", g.nodes[0], "-o", "json", kubeconfig=g.user(*rules, *more), check=True)
            return done.stderr, {p["owner"].split("/")[1].split("-")[0]: p for n in json.loads(done.stdout)["nodes"] for p in n["pods"]}

        remarks, pods = plan(storage)
        assert not remarks and pods["scratch"]["verdict"] == "homeless", (remarks, pods)
        assert "1 node(s) didn't find available persistent volumes to bind" in pods["scratch"]["blocker"]["message"], pods
        remarks, pods = plan()
        assert "cannot list storageclasses" in remarks and "yet to be made find room is not judged" in remarks, remarks
        assert "cannot list csinodes" in remarks and "how many volumes nodes can take is not looked at" in remarks, remarks
        assert pods["scratch"]["verdict"] == "goes" and "to" not in pods["scratch"], pods
        assert pods["plain"]["to"] == g.nodes[1], pods
        # Whoever asks otherwise is told the same.
        said = json.loads(ctx.run(ctx.slipway, "plan", "drain", g.nodes[0], "-o", "json", kubeconfig=g.user(*rules), check=True).stdout)
        own = said["nodes"][0]["blocker"]
        assert {"storageclasses", "csinodes"} <= set(said["unread"]) and own["code"] == "Forbidden", said
        chain = json.loads(ctx.run(ctx.slipway, "why", g.nodes[0], "--room", "-o", "json", kubeconfig=g.user(*rules)).stdout)
        assert {"storageclasses", "csinodes"} <= set(chain["unread"]) and "as far as could be read" in chain["summary"], chain
        assert [x["message"] for x in chain["links"] if x.get("code") == "Forbidden"] == [own["message"]], chain
        report = json.loads(ctx.run(ctx.slipway, "doctor", "--pdbs", "-o", "json", kubeconfig=g.user(*rules), check=True).stdout)
        assert {"storageclasses", "csinodes"} <= set(report["unread"]), report
        of = [f for x in report["groups"] if x["cause"] == "room-unknown" for f in x["findings"] if g.nodes[0] in f["nodes"]]
        assert [f["message"] for f in of] == [own["message"]], report


def test_saved_plans_rest_on_budgets(ctx: Context) -> None:
    """A budget that is gone, new or another is a change, also when every pod can still go; one that breathes is none."""
    with Drained(ctx, nodes=2) as g:
        path = f"/apis/policy/v1/namespaces/{g.ns}/poddisruptionbudgets/web"
        file = ctx.tmp / "plan.json"
        g.place(0, deployment("web", g.ns, 3, **g.here))
        g.budget("web", {"app": "web"}, {"expectedPods": 3, "disruptionsAllowed": 2}, maxUnavailable=2)

        def save() -> dict:
            ctx.run(ctx.slipway, "plan", "drain", g.nodes[0], "--out", str(file), kubeconfig=g.cluster.admin, check=True)
            return json.loads(file.read_text())

        def diff() -> str:
            done = ctx.run(ctx.slipway, "diff", str(file), kubeconfig=g.cluster.admin)
            assert done.returncode == 0, done
            return done.stdout

        def refused() -> None:
            done = ctx.run(ctx.slipway, "apply", str(file), kubeconfig=g.cluster.admin)
            assert done.returncode == 5 and not done.stdout, done
            assert not g.node(0)["spec"].get("unschedulable"), "nothing was touched"

        assert [(b["name"], b["rule"], b["spare"]) for b in save()["budgets"]] == [(f"{g.ns}/web", "maxUnavailable 2", 2)]
        g.api.patch(path, {"spec": {"maxUnavailable": 1}})
        ctx.wait_for(lambda: diff() == f"~ budget {g.ns}/web: maxUnavailable 1, was maxUnavailable 2\n", PATIENCE, "what has changed")
        refused()
        save()
        g.api.delete(path)
        ctx.wait_for(lambda: diff() == f"- budget {g.ns}/web (maxUnavailable 1) is gone\n", PATIENCE,
                     "what has changed")
        refused()
        save()
        g.budget("web", {"app": "web"}, {"expectedPods": 3, "disruptionsAllowed": 1}, maxUnavailable=1)
        ctx.wait_for(lambda: diff() == f"+ budget {g.ns}/web: maxUnavailable 1\n", PATIENCE, "what has changed")
        refused()
        # Its numbers without its spec are no change: what others evict comes back.
        save()
        g.place(1, deployment("other", g.ns, 1, **g.here))
        ctx.wait_for(lambda: diff() == "", PATIENCE, "nothing that has changed")
        done = ctx.run(ctx.slipway, "apply", str(file), kubeconfig=g.cluster.admin, timeout=PATIENCE)
        assert done.returncode == 0 and f"node/{g.nodes[0]} drained" in done.stdout, done


def test_a_saved_plan_outlives_a_restart(ctx: Context) -> None:
    """`kubectl rollout restart` between plan and apply: other names, another ReplicaSet, and the same Deployment."""
    with Drained(ctx, nodes=2) as g:
        file = ctx.tmp / "plan.json"
        path = f"/apis/apps/v1/namespaces/{g.ns}/deployments/web"
        g.place(0, deployment("web", g.ns, 3, **g.here))
        g.budget("web", {"app": "web"}, {"expectedPods": 3, "disruptionsAllowed": 1}, maxUnavailable=1)
        plan = ["plan", "drain", g.nodes[0], "--out", str(file)]
        ctx.run(ctx.slipway, *plan, kubeconfig=g.cluster.admin, check=True)
        before = {p["owner"] for n in json.loads(file.read_text())["nodes"] for p in n["pods"]}
        g.api.patch(path, {"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "2026-11-15T09:00:00Z"}}}}})

        def is_over() -> bool:
            d = g.api.get(path)
            counts = [d["status"].get(k, 0) for k in ("replicas", "updatedReplicas", "availableReplicas")]
            return d["status"].get("observedGeneration") == d["metadata"]["generation"] and counts == [3] * 3
        ctx.wait_for(is_over, PATIENCE, "the end of the rollout")

        def unchanged() -> bool:
            return ctx.run(ctx.slipway, "diff", str(file), "--detailed-exitcode", kubeconfig=g.cluster.admin).returncode == 0
        ctx.wait_for(unchanged, PATIENCE, "nothing that has changed")
        ctx.run(ctx.slipway, *plan[:3], "--out", str(ctx.tmp / "now.json"), kubeconfig=g.cluster.admin, check=True)
        assert not before & {p.get("owner") for n in json.loads((ctx.tmp / "now.json").read_text())["nodes"] for p in n["pods"]}, before
        done = ctx.run(ctx.slipway, "apply", str(file), kubeconfig=g.cluster.admin, timeout=PATIENCE)
        assert done.returncode == 0 and f"node/{g.nodes[0]} drained" in done.stdout, done


def test_a_namespace_that_goes_is_not_never(ctx: Context) -> None:
    """The server refuses the eviction, and yet the pod goes: with its namespace. So nobody says that it never does."""
    with Drained(ctx, nodes=1, still=True) as g:
        g.create(pod("a", g.ns, nodeName=g.nodes[0]))
        ctx.wait_for(lambda: g.ready(1, 0), PATIENCE, "the pod")
        g.api.delete(f"/api/v1/namespaces/{g.ns}")
        ctx.wait_for(lambda: g.api.get(f"/api/v1/namespaces/{g.ns}")["status"]["phase"] == "Terminating", PATIENCE, "the namespace")
        try:
            g.api.call("POST", g.path("a") + "/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a", "namespace": g.ns}})
            raise AssertionError("it was evicted")
        except ApiError as refused:
            assert refused.code == 403 and "being terminated" in str(refused), refused

        def said() -> dict:
            done = ctx.run(ctx.slipway, "plan", "drain", g.nodes[0], "--force", "-o", "json", kubeconfig=g.config, check=True)
            return {p["name"]: (p["verdict"], p["blocker"]["code"]) for n in json.loads(done.stdout)["nodes"] for p in n["pods"]}
        ctx.wait_for(lambda: said() == {"a": ("unsure", "NamespaceTerminating")}, PATIENCE, "the verdict")


def test_a_plan_that_asked_the_server_asks_again(ctx: Context) -> None:
    """What nobody but the server knows, here that this user may not evict, is no change when it still says so."""
    with Drained(ctx, nodes=2) as g:
        file = ctx.tmp / "plan.json"
        g.place(0, deployment("web", g.ns, 1, **g.here))
        who = g.user(*READ)
        ctx.run(ctx.slipway, "plan", g.nodes[0], "--dry-run=server", "--out", str(file), kubeconfig=who, check=True)
        assert [p["blocker"]["code"] for n in json.loads(file.read_text())["nodes"] for p in n["pods"]] == ["Forbidden"], file.read_text()
        done = ctx.run(ctx.slipway, "diff", str(file), "--detailed-exitcode", kubeconfig=who)
        assert (done.stdout, done.returncode) == ("", 0), done
        done = ctx.run(ctx.slipway, "diff", str(file), "--detailed-exitcode", kubeconfig=g.cluster.admin)
        assert "goes, was never" in done.stdout and done.returncode == 2, done
