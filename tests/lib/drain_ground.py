"""The ground for tests of drains on a real cluster: nodes and a namespace for one test, and judges of what was done there.

    with Ground(ctx, nodes=2) as g:
        g.place(0, deployment("web", g.ns, 3, **g.here))
        g.drain(g.nodes[0])

When the block ends well, everything that our users did is judged by the server's audit log and by a watcher in a process of its
own (drain_watcher.py), never by Slipway's own word:

- no budget of the namespace was broken;
- every eviction named the UID of a pod that is or was on a node that was to be drained;
- no pod was deleted without being evicted, unless the test says `deletes=True`, and then with the UID as well;
- who drains one node does not read the pods of all nodes.

The clusters belong to the suite: one with controllers, and one without (`still=True`), where pods and budgets stay as written.
"""

from __future__ import annotations

import contextlib
import json
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Callable, Iterator

from api import object_path
from cluster import Cluster
from context import Child, Context
from objects import budget

HERE = Path(__file__).resolve().parent
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: Request
  verbs: [create, delete]
  resources: [{group: "", resources: [pods, pods/eviction]}]
- level: Request
  verbs: [update, patch]
  resources: [{group: policy, resources: [poddisruptionbudgets/status]}]
- level: Metadata
"""
DONE, FAILED, BLOCKED, ACCESS, PARTIAL, USAGE = 0, 1, 3, 4, 6, 64
# Seconds that a drain may take: a budget whose controller is late takes a StatefulSet's next pod for the one that was evicted, which has
# the same name, and allows nothing for two minutes.
PATIENCE = 240


class Ended(Exception):
    """A drain has ended that should not have."""


class Watcher:
    """drain_watcher.py, or another one that is spoken to in the same way, beside the tests."""

    def __init__(self, cluster: Cluster, script: str = "drain_watcher.py") -> None:
        cert, key = cluster.authority.issue("drain-watcher", ["system:masters"])
        wrapper = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
        self.process = subprocess.Popen([*wrapper, sys.executable, HERE / script, str(cluster.ports[0]), cluster.ca, cert, key],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines: queue.Queue = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.line()

    def read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def line(self) -> str:
        line = self.lines.get(timeout=60)
        assert line, f"the watcher has ended with status {self.process.wait()}"
        return line

    def ask(self) -> dict:
        self.process.stdin.write("now\n")
        self.process.stdin.flush()
        return json.loads(self.line())

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


class Ground:
    """
    nodes    how many nodes of its own
    still    no controllers: nothing schedules, and budgets have the status that the test writes
    deletes  pods may be deleted instead of evicted
    """

    def __init__(self, ctx: Context, nodes: int = 2, still: bool = False, deletes: bool = False, **options: object) -> None:
        self.ctx, self.deletes = ctx, deletes
        self.cluster, self.watcher = ctx.once(f"drain-{'still' if still else 'live'}", lambda: self.start(still))
        self.api = self.cluster.api
        self.ns = ctx.namespace(self.cluster)
        self.label = ctx.unique("n")
        self.nodes = self.cluster.add_nodes(nodes, prefix=self.label, labels={"slipway.dev/test": self.label}, **options)
        ctx.undo(lambda: self.api.delete(f"/api/v1/nodes?labelSelector=slipway.dev/test%3D{self.label}"))
        ctx.undo(lambda: self.api.delete(f"/api/v1/namespaces/{self.ns}/pods", {"gracePeriodSeconds": 0}))
        self.here = {"nodeSelector": {"slipway.dev/test": self.label}}  # of pods: stay on the nodes of this test
        self.users: list[str] = []
        self.config = self.user()
        self.drained: set[str] = set()
        self.mark = self.cluster.audit.mark()

    def start(self, still: bool) -> tuple[Cluster, Watcher]:
        directory = tempfile.TemporaryDirectory(prefix="slipway-audit-")
        self.ctx.suite_undo(directory.cleanup)
        policy = Path(directory.name) / "policy.yaml"
        policy.write_text(POLICY)
        cluster = self.ctx.suite_cluster(controllers=not still, apiserver_flags=[f"--audit-policy-file={policy}"])
        if still:
            cluster.api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "default"}})
        watcher = Watcher(cluster)
        self.ctx.suite_undo(watcher.end)
        return cluster, watcher

    # -- people ----------------------------------------------------------------------------------------------------

    def user(self, *roles: dict) -> Path:
        """A kubeconfig of a new user: an administrator, or with a ClusterRole of these rules alone."""
        name = self.ctx.unique("drainer")
        self.users.append(name)
        if roles:
            self.grant(name, *roles)
        return self.cluster.kubeconfig(user=name, groups=[] if roles else ["system:masters"])

    def grant(self, user: str, *rules: dict) -> None:
        group = "rbac.authorization.k8s.io"
        for kind, more in (("ClusterRole", {"rules": list(rules)}),
                           ("ClusterRoleBinding", {"subjects": [{"kind": "User", "apiGroup": group, "name": user}],
                                                   "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": user}})):
            made = {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": user}, **more}
            self.api.create(made)
            self.ctx.undo(lambda path=object_path(made): self.api.delete(path))
        self.cluster.wait_allowed(user, user)

    # -- things ----------------------------------------------------------------------------------------------------

    def create(self, *objects: dict) -> list[dict]:
        return [self.api.create(o) for o in objects]

    def pods(self, node: int | None = None, **labels: str) -> list[dict]:
        """Of the namespace, sorted by name; of one node, with these labels."""
        found = [p for p in self.api.items(f"/api/v1/namespaces/{self.ns}/pods")
                 if (node is None or p["spec"].get("nodeName") == self.nodes[node]) and
                 labels.items() <= p["metadata"].get("labels", {}).items()]
        return sorted(found, key=lambda p: p["metadata"]["name"])

    def names(self, node: int | None = None, **labels: str) -> list[str]:
        return [p["metadata"]["name"] for p in self.pods(node, **labels)]

    def ready(self, count: int, node: int | None = None, **labels: str) -> list[dict]:
        """Waits until that many pods are ready and not on their way out."""
        def there() -> list[dict] | None:
            pods = [p for p in self.pods(node, **labels) if not p["metadata"].get("deletionTimestamp") and is_ready(p)]
            return pods if len(pods) == count else None
        return self.ctx.wait_for(there, 40, f"{count} ready pods {labels or ''} in {self.ns}")

    def cordon(self, *numbers: int, on: bool = True) -> None:
        for number in numbers:
            self.api.patch(f"/api/v1/nodes/{self.nodes[number]}", {"spec": {"unschedulable": on or None}})

        def follow() -> bool:
            return all(on == any(t["key"] == UNSCHEDULABLE for t in self.node(n)["spec"].get("taints", [])) for n in numbers)
        if self.cluster.with_controllers:
            self.ctx.wait_for(follow, 20, "the taints to follow")
        if on and numbers:
            self.cluster.wait_scheduler([self.nodes[n] for n in numbers])

    @contextlib.contextmanager
    def only(self, number: int) -> Iterator[None]:
        """What is scheduled meanwhile goes to that node."""
        others = [i for i in range(len(self.nodes)) if i != number]
        self.cordon(*others)
        yield
        self.cordon(*others, on=False)

    def place(self, node: int, *objects: dict, count: int | None = None) -> None:
        """Workloads whose pods all begin on one node; waits until they are ready."""
        wanted = count if count is not None else sum(o["spec"].get("replicas", 1) for o in objects)
        with self.only(node):
            before = len([p for p in self.pods(node) if is_ready(p)])
            self.create(*objects)
            self.ready(before + wanted, node)

    def budget(self, name: str, labels: dict[str, str], status: dict[str, int] | None = None, **rule: object) -> None:
        """A budget; waits until the controller has looked at it, or writes its status."""
        made = self.api.create(budget(name, self.ns, labels, **rule))
        path = object_path(made)
        if not self.cluster.with_controllers:
            if status is not None:
                self.api.patch(path + "/status", {"status": {"observedGeneration": 1} | status})
            return

        def looked_at() -> bool:
            found = self.api.get(path).get("status", {})
            return found.get("observedGeneration") == 1 and all(found.get(k, 0) == v for k, v in (status or {}).items())
        self.ctx.wait_for(looked_at, 30, f"the status of budget {name}: {status}")

    def node(self, number: int = 0) -> dict:
        return self.api.get(f"/api/v1/nodes/{self.nodes[number]}")

    def path(self, pod: str) -> str:
        return f"/api/v1/namespaces/{self.ns}/pods/{pod}"

    def set_ready(self, pod: str, value: bool) -> None:
        condition = {"type": "Ready", "status": str(value), "reason": "Test"}
        self.api.patch(self.path(pod) + "/status", {"status": {"conditions": [condition]}}, "strategic")

    # -- drains ----------------------------------------------------------------------------------------------------

    def targets(self, arguments: tuple[str, ...]) -> None:
        every = any(a.startswith(("-l", "--selector")) or "[" in a for a in arguments)
        self.drained |= set(self.nodes) if every else set(self.nodes) & set(arguments)

    def drain(self, *arguments: str, code: int = DONE, config: Path | None = None, timeout: float = PATIENCE) -> subprocess.CompletedProcess:
        self.targets(arguments)
        done = self.ctx.run(self.ctx.slipway, "drain", *arguments, kubeconfig=config or self.config, timeout=max(timeout, PATIENCE))
        assert done.returncode == code, f"slipway drain {' '.join(arguments)}: status {done.returncode}, not {code}\n" \
            f"{done.stdout}-- stderr:\n{done.stderr}"
        return done

    def blocked(self, *arguments: str, seconds: int, until: Callable[[subprocess.CompletedProcess], object] = lambda _: True,
                config: Path | None = None) -> subprocess.CompletedProcess:
        """A drain that ends blocked, by a timeout of so many seconds.

        until: how far it must have come by then.  One that had too little time for that, on a busy machine, goes on with more.
        """
        self.targets(arguments)
        for allowed in (seconds, 3 * seconds, max(60, 3 * seconds)):
            done = self.ctx.run(self.ctx.slipway, "drain", *arguments, f"--timeout={allowed}s", kubeconfig=config or self.config,
                                timeout=allowed + 120)
            late = f"no answer within {allowed}s" in done.stderr  # not even the first reads were over
            if done.returncode != BLOCKED and not late:
                break
            if not late and until(done):
                return done
        raise AssertionError(f"slipway drain {' '.join(arguments)}, {allowed} s: status {done.returncode}, pods {self.names()}\n"
                             f"{done.stdout}-- stderr:\n{done.stderr}")

    def begin(self, *arguments: str, config: Path | None = None) -> Child:
        """Starts a drain beside the test."""
        self.targets(arguments)
        return self.ctx.spawn(self.ctx.slipway, "drain", *arguments, kubeconfig=config or self.config)

    def hears(self, child: Child, pattern: str, timeout: float = 30) -> str:
        """Waits until something is said on its standard error."""
        def said() -> str | None:
            running = child.running
            found = next((line for line in list(child.err) if re.search(pattern, line)), None)
            if not found and not running:
                child.end(5, None)
                if not any(re.search(pattern, line) for line in child.err):
                    raise Ended(f"it ended with {child.process.returncode} and did not say /{pattern}/: {child.err}")
            return found
        return self.ctx.wait_for(said, timeout, f"/{pattern}/ on its standard error")

    def ends(self, child: Child, code: int = DONE, timeout: float = PATIENCE) -> Child:
        status = child.end(max(timeout, PATIENCE), None)
        assert status == code, f"{child.name}: status {status}, not {code}\n" + "\n".join(child.out + ["-- stderr:"] + child.err)
        return child

    # -- judges ----------------------------------------------------------------------------------------------------

    def asked(self, **wanted: str | None) -> list[dict]:
        """What our users asked the server for since the beginning, from its log."""
        return [e for e in self.cluster.audit.requests(self.mark, **wanted) if e.get("user", {}).get("username") in self.users]

    def evictions(self, pod: str | None = None) -> list[dict]:
        return self.asked(resource="pods", subresource="eviction", name=pod)

    def accepted(self) -> list[str]:
        return sorted(e["objectRef"]["name"] for e in self.evictions() if e["responseStatus"]["code"] == 201)

    def judge(self) -> None:
        report = self.watcher.ask()
        sent = [e for e in self.evictions() + self.asked(verb="delete", resource="pods", subresource="") if "requestObject" in e]
        assert len(sent) >= len(self.accepted()), "what was refused before it was read has no body, the rest has"
        deleted = {e["objectRef"]["name"] for e in sent if not e["objectRef"].get("subresource")}
        broken = [b for b in report["broken"] if b["budget"].startswith(self.ns + "/") and
                  (b["evicted"] or b["pod"].rpartition("/")[2] in deleted)]  # a test may do as it likes
        assert not broken, f"budgets were broken: {broken}"
        for event in sent:
            reference, body = event["objectRef"], event["requestObject"]
            options = body.get("deleteOptions", {}) if reference.get("subresource") else body
            uid = options.get("preconditions", {}).get("uid")
            assert uid, f"without a UID: {event}"
            assert reference.get("subresource") or self.deletes, f"a deletion: {event}"
            pod = report["pods"].get(uid)
            assert pod and (pod["ns"], pod["name"]) == (reference["namespace"], reference["name"]), f"{event}: {pod}"
            assert set(pod["nodes"]) <= self.drained, f"it was never on a node to be drained: {pod}, {self.drained}"
        assert not self.asked(verb="deletecollection"), "collections are never deleted"
        if len(self.drained) == 1:
            for event in self.asked(verb="list", resource="pods") + self.asked(verb="watch", resource="pods"):
                uri = event["requestURI"]
                assert uri.startswith("/api/v1/namespaces/") or "spec.nodeName" in uri, f"the pods of all nodes: {uri}"

    def __enter__(self) -> "Ground":
        return self

    def __exit__(self, kind, *_rest) -> None:
        if kind is None:
            self.judge()


def is_ready(pod: dict) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))


def lines(text: str, start: str = "") -> list[str]:
    return sorted(line for line in text.splitlines() if line.startswith(start))
