"""The controller's own node on a real cluster: the lease goes first, its own pod last, whoever drains."""

from __future__ import annotations

from audit import code_of, facts
from context import Context, limit
from test_maintenance import Yard

LEASE = "slipway-controller"


class Berth(Yard):
    """Replicas run outside of the cluster here; a pod stands for each of them, and is known by its name."""

    def replica(self, number: int) -> str:
        name, node = f"replica-{number}", self.machines[number].name
        self.api.create({"apiVersion": "v1", "kind": "Pod",
                         "metadata": {"name": name, "namespace": self.ns, "labels": {"slipway.dev/controller": ""}},
                         "spec": {"nodeName": node, "containers": [{"name": "c", "image": "example.com/slipway:1"}]}})
        self.ctx.wait_for(lambda: any(c["type"] == "Ready" and c["status"] == "True" for c in self.pod(name)["status"].get(
            "conditions", [])), 60, f"pod {name} to be ready")
        return name

    def pod(self, name: str) -> dict:
        return self.api.get(f"/api/v1/namespaces/{self.ns}/pods/{name}")

    def leader(self) -> str:
        code, _ = self.api.raw("GET", path := f"/apis/coordination.k8s.io/v1/namespaces/{self.ns}/leases/{LEASE}")
        return (self.api.get(path)["spec"].get("holderIdentity") or "").split("_")[0] if code == 200 else ""

    def leads(self, name: str) -> None:
        self.ctx.wait_for(lambda: self.leader() == name, 90, f"{name} to lead")

    def evictions(self, since: dict) -> list[str]:
        """The pods that were evicted, in the order in which that was granted."""
        return [facts(e)["name"] for e in self.ctx.cluster.audit.requests(since, subresource="eviction", namespace=self.ns)
                if code_of(e) == 201]


@limit(600)
def test_the_lease_is_given_away_first(ctx: Context) -> None:
    berth = Berth(ctx)
    berth.pods()
    own, other = berth.replica(0), berth.replica(1)
    child, _ = berth.controller("--identity", own)
    berth.leads(own)
    berth.controller("--identity", other)
    mark = ctx.cluster.audit.mark()
    name = berth.make(berth.machines[0].name, "Drain")
    berth.leads(other)
    assert any("gives the lease away" in line and other in line for line in child.err), child.err
    ctx.wait_for(lambda: berth.phase(name) == "Granted", 120, "the node to be drained")
    gone = ctx.wait_for(lambda: own in (found := berth.evictions(mark)) and found, 60, "the evictions to be in the audit log")
    assert gone[-1] == own and len(gone) > 1, gone
    assert berth.leader() == other


@limit(600)
def test_the_only_one_drains_its_own_node(ctx: Context) -> None:
    """Nobody else is ready: it goes on, and its own pod is the last to go."""
    berth = Berth(ctx)
    berth.pods()
    own = berth.replica(0)
    child, _ = berth.controller("--identity", own)
    berth.leads(own)
    mark = ctx.cluster.audit.mark()
    name = berth.make(berth.machines[0].name, "Drain")
    ctx.wait_for(lambda: berth.phase(name) == "Granted", 120, "the node to be drained")
    gone = ctx.wait_for(lambda: own in (found := berth.evictions(mark)) and found, 60, "the evictions to be in the audit log")
    assert gone[-1] == own and len(gone) > 1, gone
    assert any("no other one is ready" in line for line in child.err), child.err


@limit(600)
def test_its_pod_is_the_last_of_a_drain(ctx: Context) -> None:
    """Also where the command line drains the node."""
    berth = Berth(ctx)
    berth.pods()
    own = berth.replica(0)
    mark = ctx.cluster.audit.mark()
    ctx.run(ctx.slipway, "drain", berth.machines[0].name, "--force", "--ignore-daemonsets", "--delete-emptydir-data", check=True)
    gone = ctx.wait_for(lambda: own in (found := berth.evictions(mark)) and found, 60, "the evictions to be in the audit log")
    assert gone[-1] == own and len(gone) > 1, gone
