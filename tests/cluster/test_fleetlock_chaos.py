"""Two controllers on two API servers with one etcd, killed and frozen at random, while the clients of all nodes ask.

Never two nodes out on one slot, never a grant before the node is drained, never a reboot without a grant, every node done in the
end: by the word of the clients themselves, of a watcher that is a process of its own, and of the API servers' audit logs.

A short run is among the tests of the cluster.  `make chaos` is the long one: SLIPWAY_CHAOS_SECONDS is the time for which there are
faults, SLIPWAY_CHAOS_NODES the number of nodes.  The seed of its chances is printed, SLIPWAY_CHAOS_SEED repeats them.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import threading
import time
from pathlib import Path

import slots_audit
from context import Child, Context, limit
from drain_ground import Watcher
from fleetlock_client import Machine, ask
from objects import deployment
from process import free_ports

NODES = int(os.environ.get("SLIPWAY_CHAOS_NODES", "5"))
SECONDS = int(os.environ.get("SLIPWAY_CHAOS_SECONDS", "12"))
DONE_WITHIN = 420  # seconds after the last fault


class Oracle:
    """What is true of the clients, whatever the controllers say: written by the clients, under one lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.out: dict[str, float] = {}
        self.reboots = 0
        self.wrong: list[str] = []

    def told(self, name: str) -> None:
        with self.lock:
            self.out[name] = time.monotonic()
            if len(self.out) > 1:
                self.wrong.append(f"out at once: {sorted(self.out)}")

    def back(self, name: str) -> None:
        with self.lock:
            del self.out[name]
            self.reboots += 1


class Client(threading.Thread):
    """Asks until it is told to go, goes, comes back, and reports until somebody listens; and again, as long as there is time."""

    def __init__(self, machine: Machine, bases: list[str], oracle: Oracle, seed: int, pods, until: float) -> None:
        super().__init__(daemon=True)
        self.end = until
        self.machine, self.bases, self.oracle, self.random, self.pods = machine, bases, oracle, random.Random(seed), pods
        self.over = threading.Event()

    def ask(self, what) -> bool:
        try:
            return what(self.random.choice(self.bases), timeout=3)[0] == 200
        except OSError:
            return False

    def until(self, what) -> bool:
        while not self.over.is_set():
            if self.ask(what):
                return True
            self.over.wait(self.random.uniform(0.1, 0.5))
        return False

    def run(self) -> None:
        while self.until(self.machine.pre_reboot):
            self.goes()
            if not self.until(self.machine.steady_state) or time.monotonic() >= self.end:
                return

    def goes(self) -> None:
        name = self.machine.name
        self.oracle.told(name)
        if not self.machine.cordoned:
            self.oracle.wrong.append(f"{name} was told to go and is not cordoned")
        if left := self.pods(name):
            self.oracle.wrong.append(f"{name} was told to go with pods on it: {left}")
        self.over.wait(self.random.uniform(0, 0.6))
        self.machine.boots()
        self.oracle.back(name)


class Replica:
    def __init__(self, ctx: Context, cluster, index: int, ns: str) -> None:
        self.ctx, self.ns, self.index = ctx, ns, index
        self.kubeconfig = cluster.kubeconfig(server=index) if index else cluster.admin
        self.port = free_ports(1)[0]
        self.base = f"http://127.0.0.1:{self.port}"
        self.child: Child | None = None
        self.start()

    def start(self) -> None:
        self.child = self.ctx.spawn(self.ctx.slipway, "controller", "--fleetlock-listen", f"127.0.0.1:{self.port}",
                                    "--namespace", self.ns, "--identity", f"replica-{self.index}-{time.monotonic_ns()}", "-v=2",
                                    kubeconfig=self.kubeconfig)

    def fault(self, chances: random.Random) -> str:
        if chances.random() < 0.4:
            self.child.kill()
            pause = chances.uniform(0, 4)
            time.sleep(pause)
            self.start()
            return f"replica {self.index} killed, away for {pause:.1f} s"
        pause = chances.choice((0.3, 1, 4, 17))
        self.child.send(signal.SIGSTOP)
        time.sleep(pause)
        self.child.send(signal.SIGCONT)
        return f"replica {self.index} frozen for {pause} s"


def judged(ctx: Context, cluster, watcher: Watcher, oracle: Oracle, ns: str) -> str:
    """What the watcher and the audit logs say; both have seen all of it."""
    seen = watcher.ask()
    assert not seen["broken"], seen["broken"]
    ctx.wait_for(lambda: slots_audit.broken(cluster.audit, ns)[1] >= seen["grants"], 60, "the audit logs to be written")
    broken, grants = slots_audit.broken(cluster.audit, ns)
    assert not broken, broken
    assert seen["reboots"] == oracle.reboots and seen["grants"] == grants >= oracle.reboots, (seen, grants, oracle.reboots)
    return f"{oracle.reboots} reboots, {grants} grants, {seen['records']} records"


@limit(SECONDS + DONE_WITHIN + 300)
def test_killed_and_frozen(ctx: Context) -> None:
    seed = int(os.environ.get("SLIPWAY_CHAOS_SEED") or random.randrange(1 << 32))
    print(f"# seed {seed}", flush=True)
    chances = random.Random(seed)
    cluster = ctx.private_cluster(apiservers=2, audit_policy=slots_audit.POLICY)
    api = cluster.api
    names = cluster.add_nodes(NODES, prefix="w")
    ns = ctx.namespace(cluster)
    watcher = Watcher(cluster, "slots_watcher.py")
    ctx.undo(watcher.end)
    api.create(deployment("web", ns, NODES))
    ctx.wait_for(lambda: api.get(f"/apis/apps/v1/namespaces/{ns}/deployments/web")["status"].get("readyReplicas") == NODES, 90,
                 "the pods")

    def pods(node: str) -> list[str]:
        return [p["metadata"]["name"] for p in api.get(f"/api/v1/namespaces/{ns}/pods")["items"]
                if p["spec"].get("nodeName") == node and "deletionTimestamp" not in p["metadata"]]

    replicas = [Replica(ctx, cluster, i, ns) for i in range(2)]
    oracle, end = Oracle(), time.monotonic() + SECONDS
    clients = [Client(Machine(api, name), [r.base for r in replicas], oracle, chances.randrange(1 << 32), pods, end)
               for name in names]
    for client in clients:
        client.start()
    ctx.undo(lambda: [client.over.set() for client in clients])
    faults = []
    while time.monotonic() < end:
        time.sleep(chances.uniform(0, 3))
        faults.append(chances.choice(replicas).fault(chances))
        assert not oracle.wrong, (oracle.wrong, faults)
    ctx.wait_for(lambda: oracle.wrong or not any(c.is_alive() for c in clients), DONE_WITHIN, "every node to have gone and reported")
    assert not oracle.wrong, (oracle.wrong, faults)
    ctx.wait_for(lambda: all(not c.machine.cordoned and c.machine.mark == "Ready" for c in clients), 120,
                 "all nodes to be in service again")
    found = api.get(f"/api/v1/namespaces/{ns}/configmaps/slipway-slots-default")["data"]["slots"]
    assert re.search(r'"slots":\[\]', found) and re.search(r'"waiting":\[\]', found), found
    print(f"# {len(faults)} faults, {judged(ctx, cluster, watcher, oracle, ns)}", flush=True)


def heard(question) -> int | None:
    """The status of the answer; None: there was none."""
    try:
        return question()[0]
    except OSError:
        return None


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@limit(300)
def test_asked_of_one_that_is_frozen(ctx: Context) -> None:
    """What a replica finds in its sockets when it wakes is nobody's wish any more: else the first by name would hold the slot."""
    api, ns = ctx.cluster.api, ctx.namespace()
    gone, other = (Machine(api, name) for name in sorted(ctx.nodes(2)))
    replica = Replica(ctx, ctx.cluster, 0, ns)
    ctx.wait_for(lambda: heard(lambda: ask(replica.base, "pre-reboot", "f" * 32)) == 400, 60, "the controller to know the cluster")
    replica.child.send(signal.SIGSTOP)
    ctx.wait_for(lambda: state_of(replica.child.process.pid) == "T", 60, "it to stop")
    for _ in range(3):
        assert heard(lambda: gone.pre_reboot(replica.base, timeout=0.3)) is None, "one that is stopped has answered"
    replica.child.send(signal.SIGCONT)
    ctx.wait_for(lambda: heard(lambda: other.pre_reboot(replica.base)) == 200, 60, "the grant of the one who still asks")
    found = json.loads(api.get(f"/api/v1/namespaces/{ns}/configmaps/slipway-slots-default")["data"]["slots"])
    assert [s["node"] for s in found["slots"]] == [other.name] and not found["waiting"], found
    assert not gone.cordoned
