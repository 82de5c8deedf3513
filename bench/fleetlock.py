"""Measures the controller as a FleetLock server, on a real API server with a large fleet.

    python3 bench/run.py --only fleetlock

One slot, which the first node holds: everybody else is denied, again and again, by a thousand ids with a new connection for each
request (bench/ask.c), over HTTP and over HTTPS, while somebody else reads the whole cluster and plans; the same of reports that a node
is steady. The first report of each is measured apart and has no bound: it takes back what the node has just asked for, and marks its Node,
which are two writes. Then fifty slots, and fifty nodes without pods that ask at the same moment: how long until all of them were told to go.

With PEER_FLEETLOCK=PROGRAM that one (poseidon/fleetlock) is asked in the same way, on the same cluster."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Callable, Iterator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "lib"))

from cluster import Cluster, fake_node  # noqa: E402
from fleetlock_client import Machine, ask  # noqa: E402
from measure import HoldFailed  # noqa: E402
from process import wait_for  # noqa: E402

NAMESPACE = "slipway-bench"
IDLE = {"bench": "idle"}
SLOTS = 50
AT_A_TIME = 16
FIRST = "first report"  # no bound
PEER_REQUESTS = 200  # it answers a handful a second
GROUP = "/apis/slipway.dev/v1alpha1"


@dataclass
class Found:
    rates: dict[str, dict] = field(default_factory=dict)  # "denied, HTTP": what ask.c says
    grants_s: float = 0
    anon_mb: dict[str, float] = field(default_factory=dict)  # private memory, at rest and afterwards


@dataclass
class Verdict:
    name: str
    value: float
    unit: str
    bound: str
    met: bool


class Controller:
    """One, with FleetLock at a port of its own."""

    def __init__(self, cluster: Cluster, slipway: Path, *flags: str) -> None:
        self.process = subprocess.Popen([slipway, "controller", "--kubeconfig", cluster.admin, "--namespace", NAMESPACE,
                                         "--fleetlock-listen", "127.0.0.1:0", "--fleetlock-address-rate=0", "-v=2", *flags],
                                        stderr=subprocess.PIPE, text=True)
        self.said: list[str] = []
        threading.Thread(target=self.read, daemon=True).start()
        try:
            found = wait_for(lambda: re.search(r"FleetLock at [\d.]+:(\d+)", "\n".join(self.said)), 60, "the controller to listen")
            self.port = int(found[1])
            wait_for(lambda: "the cluster is known" in "\n".join(self.said), 120, "the controller to know the cluster")
        except BaseException:
            self.__exit__()
            raise

    def read(self) -> None:
        for line in self.process.stderr:
            self.said = (self.said + [line.rstrip()])[-50:]

    @property
    def anon_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+)", status)[1]) / 1024

    def __enter__(self) -> "Controller":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def reader(cluster: Cluster, slipway: Path, node: str) -> Iterator[None]:
    """Somebody who reads the whole cluster and plans, again and again."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            subprocess.run([slipway, "plan", "drain", node, "--kubeconfig", cluster.admin], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def measure_rate(program: Path, scheme: str, port: int, api: str, ids: Path, requests: int) -> dict:
    ran = subprocess.run([program, scheme, str(port), api, ids, str(requests), str(AT_A_TIME)], capture_output=True, text=True)
    if ran.returncode:
        raise HoldFailed(f"{program}: status {ran.returncode}: {ran.stderr.strip()}")
    return json.loads(ran.stdout)


def hold_the_slot(port: int, ids: list[str]) -> None:
    """The first one is being drained for ever, since there are no kubelets: all others are denied."""
    base = f"http://127.0.0.1:{port}"
    wait_for(lambda: ask(base, "pre-reboot", ids[0]) and ask(base, "pre-reboot", ids[1])[1]["kind"] == "slots_full", 120,
             "the first node to hold the slot")


def certificate(folder: Path) -> list[str]:
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out",
                    cert, "-days", "2", "-subj", "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return ["--fleetlock-tls-cert", str(cert), "--fleetlock-tls-key", str(key)]


def idle_nodes(cluster: Cluster) -> list[Machine]:
    names = [f"idle-{i:02d}" for i in range(SLOTS)]
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    for i, name in enumerate(names):
        node = fake_node(name, 20000 + i, None, IDLE, [], {}, {"cpu": "8", "memory": "32Gi", "pods": "110"})
        status = node.pop("status") | {"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "",
                                                       "lastHeartbeatTime": now, "lastTransitionTime": now}]}
        cluster.api.create(node)
        cluster.api.patch(f"/api/v1/nodes/{name}/status", {"status": status})
    return [Machine(cluster.api, name) for name in names]


def grants(cluster: Cluster, port: int, machines: list[Machine]) -> float:
    """Seconds until each of them was told to go; all ask at once and again a moment later, as a client that is told to wait."""
    base, left = f"http://127.0.0.1:{port}", list(machines)
    lock = threading.Lock()

    def client(machine: Machine) -> None:
        while machine.pre_reboot(base)[0] != 200:
            time.sleep(0.1)
        with lock:
            left.remove(machine)

    threads = [threading.Thread(target=client, args=(m,), daemon=True) for m in machines]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.1, 120 - (time.monotonic() - begun)))
    if left:
        raise HoldFailed(f"{len(left)} of {len(machines)} nodes were not granted in two minutes")
    return time.monotonic() - begun


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
        return True
    except OSError:
        return False


def peer(cluster: Cluster, program: str, asker: Path, ids: Path, say: Callable[[str], None]) -> dict[str, dict]:
    """poseidon/fleetlock, or whatever else takes its flags: it answers by a Lease in its namespace, and has one slot, which the first that asks
    holds from then on."""
    env, port = os.environ | {"KUBECONFIG": str(cluster.admin), "NAMESPACE": NAMESPACE}, free_port()
    found = {}
    with subprocess.Popen([program, "-address", f"127.0.0.1:{port}"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
        try:
            wait_for(lambda: answers(port), 60, f"{program} to listen at the address that -address says")
            for api, name in (("pre-reboot", "peer, denied, HTTP"), ("steady-state", "peer, steady-state, HTTP")):
                found[name] = measure_rate(asker, "http", port, api, ids, PEER_REQUESTS)
                say(f"{Path(program).name}, {name}: {found[name]}")
        finally:
            p.kill()
    return found


def measure_all(found: Found, asker: Path, scheme: str, port: int, ids: Path, requests: int, nodes: int, say: Callable[[str], None]) -> None:
    for api, name, count in (("pre-reboot", "denied", requests), ("steady-state", FIRST, nodes), ("steady-state", "steady-state", requests)):
        row = f"{name}, {scheme.upper()}"
        found.rates[row] = measure_rate(asker, scheme, port, api, ids, count)
        say(f"{row}: {found.rates[row]}")


def measure(cluster: Cluster, slipway: Path, asker: Path, requests: int, say: Callable[[str], None]) -> Found:
    found = Found()
    nodes = cluster.api.get("/api/v1/nodes")["items"]
    cluster.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        ids = folder / "ids"
        every = [n["status"]["nodeInfo"]["machineID"] for n in nodes]
        ids.write_text("\n".join(every[1:]) + "\n")
        other = nodes[1]["metadata"]["name"]
        with Controller(cluster, slipway) as c:
            time.sleep(5)
            found.anon_mb["at rest"] = c.anon_mb
            hold_the_slot(c.port, every)
            with reader(cluster, slipway, other):
                measure_all(found, asker, "http", c.port, ids, requests, len(every) - 1, say)
            found.anon_mb["afterwards"] = c.anon_mb
        with Controller(cluster, slipway, *certificate(folder)) as c, reader(cluster, slipway, other):
            measure_all(found, asker, "https", c.port, ids, max(1, requests // 5), len(every) - 1, say)
        if os.environ.get("PEER_FLEETLOCK"):
            found.rates |= peer(cluster, os.environ["PEER_FLEETLOCK"], asker, ids, say)
        machines = idle_nodes(cluster)
        crds = subprocess.run([slipway, "export", "crds"], check=True, capture_output=True, text=True).stdout
        cluster.kubectl("apply", "-f", "-", input=crds)
        wait_for(lambda: cluster.api.raw("GET", f"{GROUP}/policies")[0] == 200, 60, "policies to be served")
        cluster.api.call("POST", f"{GROUP}/policies", {
            "apiVersion": "slipway.dev/v1alpha1", "kind": "Policy", "metadata": {"name": "idle"},
            "spec": {"nodeSelector": {"matchLabels": IDLE}, "maxUnavailable": SLOTS, "waitRescheduled": False,
                     "fleetlock": {"groups": ["default"]}}})
        with Controller(cluster, slipway) as c:
            found.grants_s = grants(cluster, c.port, machines)
            say(f"{SLOTS} grants in {found.grants_s:.1f} s")
    return found


def rows(found: Found) -> list[list[str]]:
    out = [["FleetLock", "a second", "p50", "p99", "longest", "answers"]]
    for name, r in found.rates.items():
        codes = ", ".join(f"{n}x {code}" for code, n in r["codes"].items())
        out.append([name, f"{r['rate']:.0f}", f"{r['p50_ms']:.1f} ms", f"{r['p99_ms']:.1f} ms", f"{r['max_ms']:.0f} ms", codes])
    return out


def verdicts(found: Found) -> list[Verdict]:
    out = []
    for name, r in found.rates.items():
        if name.startswith(("peer", FIRST)):
            continue
        least = 300 if "HTTPS" in name else 2000
        out += [Verdict(f"FleetLock, {name}, requests a second", r["rate"], "", f"at least {least}", r["rate"] >= least),
                Verdict(f"FleetLock, {name}, p99", r["p99_ms"], " ms", "under 50 ms", r["p99_ms"] < 50)]
    out.append(Verdict(f"FleetLock, {SLOTS} grants of idle nodes", found.grants_s, " s", "at most 5 s", found.grants_s <= 5))
    worst = max(found.anon_mb.values())
    out.append(Verdict("controller, private memory", worst, " MB", "at most 25 MB", worst <= 25))
    return out
