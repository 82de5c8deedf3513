"""Two controllers on two API servers with one etcd, killed and frozen at random, while the clients of all nodes ask.

Never two nodes out on one slot, never a grant before the node is drained, every node done in the end.  Only with
SLIPWAY_CHAOS_SECONDS, the time for which there are faults; SLIPWAY_CHAOS_NODES is the number of nodes.  The seed of its chances is
printed, SLIPWAY_CHAOS_SEED repeats them.
"""

from __future__ import annotations

import os
import random
import re
import signal
import threading
import time

from context import Child, Context, limit
from fleetlock_client import Machine
from objects import deployment

NODES = int(os.environ.get("SLIPWAY_CHAOS_NODES", "6"))
SECONDS = int(os.environ.get("SLIPWAY_CHAOS_SECONDS", "0"))
DONE_WITHIN = 420  # seconds after the last fault


class Oracle:
    """What is true of the clients, whatever the controllers say: written by the clients, under one lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.out: dict[str, float] = {}
        self.done: set[str] = set()
        self.wrong: list[str] = []

    def told(self, name: str) -> None:
        with self.lock:
            self.out[name] = time.monotonic()
            if len(self.out) > 1:
                self.wrong.append(f"out at once: {sorted(self.out)}")

    def back(self, name: str) -> None:
        with self.lock:
            del self.out[name]
            self.done.add(name)


class Client(threading.Thread):
    """Asks until it is told to go, goes, comes back, and reports until somebody listens."""

    def __init__(self, machine: Machine, bases: list[str], oracle: Oracle, seed: int, pods) -> None:
        super().__init__(daemon=True)
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
        name = self.machine.name
        if not self.until(self.machine.pre_reboot):
            return
        self.oracle.told(name)
        node = self.machine.node
        if not node["spec"].get("unschedulable"):
            self.oracle.wrong.append(f"{name} was told to go and is not cordoned")
        if left := self.pods(name):
            self.oracle.wrong.append(f"{name} was told to go with pods on it: {left}")
        self.over.wait(self.random.uniform(0, 0.6))
        self.machine.boots()
        self.oracle.back(name)
        self.until(self.machine.steady_state)


class Replica:
    def __init__(self, ctx: Context, cluster, index: int, ns: str) -> None:
        self.ctx, self.ns, self.index = ctx, ns, index
        self.kubeconfig = cluster.kubeconfig(server=index) if index else cluster.admin
        self.port = free_port()
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


def free_port() -> int:
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@limit(SECONDS + DONE_WITHIN + 200)
def killed_and_frozen(ctx: Context) -> None:
    seed = int(os.environ.get("SLIPWAY_CHAOS_SEED") or random.randrange(1 << 32))
    print(f"# seed {seed}", flush=True)
    chances = random.Random(seed)
    cluster = ctx.private_cluster(apiservers=2)
    api = cluster.api
    names = cluster.add_nodes(NODES, prefix="w")
    ns = ctx.namespace(cluster)
    api.create(deployment("web", ns, NODES))
    ctx.wait_for(lambda: api.get(f"/apis/apps/v1/namespaces/{ns}/deployments/web")["status"].get("readyReplicas") == NODES, 90,
                 "the pods")

    def pods(node: str) -> list[str]:
        return [p["metadata"]["name"] for p in api.get(f"/api/v1/namespaces/{ns}/pods")["items"]
                if p["spec"].get("nodeName") == node and "deletionTimestamp" not in p["metadata"]]

    replicas = [Replica(ctx, cluster, i, ns) for i in range(2)]
    oracle = Oracle()
    clients = [Client(Machine(api, name), [r.base for r in replicas], oracle, chances.randrange(1 << 32), pods) for name in names]
    for client in clients:
        client.start()
    ctx.undo(lambda: [client.over.set() for client in clients])
    end = time.monotonic() + SECONDS
    faults = []
    while time.monotonic() < end:
        time.sleep(chances.uniform(0, 3))
        faults.append(chances.choice(replicas).fault(chances))
        assert not oracle.wrong, (oracle.wrong, faults)
    ctx.wait_for(lambda: len(oracle.done) == NODES or oracle.wrong, DONE_WITHIN, "every node to have gone")
    assert not oracle.wrong, (oracle.wrong, faults)
    for client in clients:
        client.join(90)
        assert not client.is_alive(), f"{client.machine.name} was not heard"
    ctx.wait_for(lambda: all(not m.cordoned and m.mark == "Ready" for m in (c.machine for c in clients)), 120,
                 "all nodes to be in service again")
    found = api.get(f"/api/v1/namespaces/{ns}/configmaps/slipway-slots-default")["data"]["slots"]
    assert re.search(r'"slots":\[\]', found), found


if SECONDS:
    test_killed_and_frozen = killed_and_frozen
