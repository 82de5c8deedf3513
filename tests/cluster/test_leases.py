"""Leader election between real processes on a real API server: one leads, the next takes over, never two.

The candidates are probes with `--act`: as long as one believes that it leads, it writes what it does, and with which
fence, to a file that all of them share.  Acts is the judge over that file.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path

from context import Child, Context, limit
from objects import lease
from probes import Candidate
from servers import Relay
from stalls import undisturbed

QUICK = {"lease": 3000, "renew": 2000, "retry": 300}  # milliseconds
SLACK = 2.0  # seconds that a busy machine may be late, beyond what stalls.py sees


def lease_path(namespace: str, name: str = "lock") -> str:
    return f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}"


class Acts:
    """What leaders did: (identity, fence, seconds), in the order in which it was written."""

    def __init__(self, ctx: Context) -> None:
        self.path: Path = ctx.tmp / ctx.unique("acts")
        self.path.touch()

    def all(self) -> list[tuple[str, int, float]]:
        lines = [line.split() for line in self.path.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return [(identity, int(fence), int(when) / 1e6) for identity, fence, when in lines]

    def of(self, identity: str) -> list[float]:
        return [when for who, _, when in self.all() if who == identity]

    def last(self, identity: str) -> float:
        return max(self.of(identity), default=0)

    def check(self) -> None:
        """A fence belongs to one identity, and nobody acts with a lower one after somebody acted with a higher one."""
        owner: dict[int, str] = {}
        highest = -1
        for identity, fence, when in sorted(self.all(), key=lambda act: act[2]):
            assert owner.setdefault(fence, identity) == identity, f"fence {fence} was used by {owner[fence]} and {identity}"
            assert fence >= highest, f"{identity} acted with fence {fence} at {when} after {highest} had been used"
            highest = max(highest, fence)


class Crew:
    """Candidates for one Lease."""

    def __init__(self, ctx: Context, namespace: str, **options: object) -> None:
        self.ctx, self.namespace, self.options = ctx, namespace, {**QUICK, **options}
        self.acts = Acts(ctx)
        self.members: dict[str, Candidate] = {}

    def join(self, identity: str, kubeconfig: Path | None = None, **more: object) -> Candidate:
        self.members[identity] = Candidate(self.ctx, self.namespace, "lock", identity, kubeconfig, act=self.acts.path,
                                           **{**self.options, **more})
        return self.members[identity]

    def record(self) -> dict:
        return self.ctx.cluster.api.get(lease_path(self.namespace))["spec"]

    def leader(self, timeout: float = 15, other_than: str = "") -> Candidate:
        """Waits until one of those that run, and only one, says that it leads."""
        def only() -> Candidate | None:
            leading = [m for m in self.members.values() if m.child.running and m.leads and m.identity != other_than]
            return leading[0] if len(leading) == 1 else None
        return self.ctx.wait_for(only, timeout, "one leader", interval=0.02)

    def follow(self, leader: Candidate) -> None:
        """Waits until all the others have seen who leads."""
        others = [m for m in self.members.values() if m.child.running and m is not leader]
        self.ctx.wait_for(lambda: all([{"type": "LEADER", "identity": leader.identity}] == m.lines[-1:] for m in others), 15,
                          f"everybody to know that {leader.identity} leads")


def pause(ctx: Context, child: Child) -> None:
    """SIGSTOP; returns when it stands still."""
    child.send(signal.SIGSTOP)
    stat = Path(f"/proc/{child.pid}/stat")
    ctx.wait_for(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", 10, "it to stand still", interval=0.005)


@undisturbed
def test_of_five_one_leads(ctx: Context) -> None:
    crew = Crew(ctx, ctx.namespace())
    mark = ctx.cluster.audit.mark()
    for i in range(5):
        crew.join(f"c{i}")
    first = crew.leader()
    crew.follow(first)
    before = crew.record()
    assert before["holderIdentity"] == first.identity and before["leaseTransitions"] == 0, before
    assert before["leaseDurationSeconds"] == 3, before
    ctx.wait_for(lambda: crew.record()["renewTime"] > before["renewTime"], 10, "a renewal")
    ctx.wait_for(lambda: crew.acts.last(first.identity) > crew.acts.of(first.identity)[0] + 3.5, 15, "a lease's time")
    after = crew.record()
    assert {**after, "renewTime": 0} == {**before, "renewTime": 0}, (before, after)
    assert crew.leader() is first and {who for who, _, _ in crew.acts.all()} == {first.identity}
    crew.acts.check()
    # Those who wait only look; who leads only writes.
    audit = ctx.cluster.audit
    wanted = {"agent": "slipway-probe", "namespace": crew.namespace, "resource": "leases"}
    assert audit.count(mark, verb="patch", **wanted) >= 8
    created = [e["responseStatus"]["code"] for e in audit.requests(mark, verb="create", **wanted)]
    assert created.count(201) == 1 and set(created) <= {201, 409}, created


@undisturbed
def test_killed_leader(ctx: Context) -> None:
    crew = Crew(ctx, ctx.namespace())
    for name in "abc":
        crew.join(name)
    first = crew.leader()
    crew.follow(first)
    ctx.wait_for(lambda: len(crew.acts.of(first.identity)) > 20, 10, "it to act")
    first.child.kill()
    died = crew.acts.last(first.identity)
    second = crew.leader()
    began = crew.acts.of(second.identity)
    waited = ctx.wait_for(lambda: crew.acts.of(second.identity), 5, "the second to act")[0] - died
    # The last renewal was up to a retry period before the death, and the others look every 2.2 retry periods.
    assert 3 - 0.3 - 0.1 <= waited <= 3 + 0.3 * 2.2 + SLACK, (waited, began[:1])
    record = crew.record()
    assert record["holderIdentity"] == second.identity and record["leaseTransitions"] == 1, record
    assert {"type": "STARTED", "fence": 1} in second.lines
    crew.follow(second)
    second.child.kill()
    third = crew.leader()
    assert crew.record()["leaseTransitions"] == 2 and {"type": "STARTED", "fence": 2} in third.lines
    crew.acts.check()


@undisturbed
def test_suspended_leader(ctx: Context) -> None:
    """SIGSTOP past the lease: the next one takes over; back to life, the first does nothing any more and says so."""
    crew = Crew(ctx, ctx.namespace())
    first = crew.join("a")
    crew.leader()
    second = crew.join("b")
    crew.follow(first)
    pause(ctx, first.child)
    crew.leader(other_than="a")
    ctx.wait_for(lambda: len(crew.acts.of("b")) > 50, 10, "the second to act")
    before = len(crew.acts.of("a"))
    first.child.send(signal.SIGCONT)
    told = first.expect("STOPPED", 5)
    assert "could not be renewed in time" in told["why"] or "taken" in told["why"], told
    ctx.wait_for(lambda: first.lines[-1:] == [{"type": "LEADER", "identity": "b"}], 10, "the first to see the second")
    assert len(crew.acts.of("a")) == before, "it acted after its time"
    assert second.leads and not first.leads and crew.record()["leaseTransitions"] == 1
    crew.acts.check()


@undisturbed
def test_short_suspension(ctx: Context) -> None:
    """SIGSTOP for longer than the renew deadline but not the lease, alone: it stops, renews and goes on, same fence."""
    crew = Crew(ctx, ctx.namespace(), lease=60000)
    first = crew.join("a")
    crew.leader()
    pause(ctx, first.child)
    stopped = time.monotonic()
    ctx.wait_for(lambda: time.monotonic() > stopped + 2.5, 10, "the renew deadline to pass")
    first.child.send(signal.SIGCONT)
    first.expect("STOPPED", 5)
    assert first.expect("STARTED", 5)["fence"] == 0
    assert crew.record()["leaseTransitions"] == 0
    gap = [when for when in crew.acts.of("a") if stopped + 0.2 < when < stopped + 2.4]
    assert not gap, gap
    crew.acts.check()


@undisturbed
def test_resigning(ctx: Context) -> None:
    """A Lease that was given up is taken at once, however long it would have lasted."""
    crew = Crew(ctx, ctx.namespace(), lease=60000)
    first = crew.join("a")
    crew.leader()
    second = crew.join("b")
    crew.follow(first)
    begun = time.monotonic()
    first.resign()
    assert first.lines[-1]["type"] == "STOPPED", first.lines
    second.expect("STARTED", 10)
    # The record that is left behind lasts a second at most (client-go's rule), and b looks every 0.66 s.
    assert time.monotonic() - begun < 1 + 0.66 + SLACK
    assert crew.record()["holderIdentity"] == "b" and crew.record()["leaseTransitions"] == 1
    crew.acts.check()
    second.resign()
    left = crew.record()
    assert not left.get("holderIdentity") and left["leaseDurationSeconds"] == 1 and left["leaseTransitions"] == 1, left


@undisturbed
def test_resigning_without_leading(ctx: Context) -> None:
    crew = Crew(ctx, ctx.namespace())
    first = crew.join("a")
    crew.leader()
    second = crew.join("b")
    crew.follow(first)
    second.resign()
    assert first.leads and crew.record()["holderIdentity"] == "a"


@undisturbed
def test_server_gone_and_back(ctx: Context) -> None:
    """No way to the server for longer than the renew deadline: it stops in time, whether connections fail or hang."""
    relay = Relay(ctx.cluster.ports[0])
    ctx.undo(relay.close)
    crew = Crew(ctx, ctx.namespace())
    first = crew.join("a", server=f"https://127.0.0.1:{relay.port}")
    crew.leader()
    for round, harm in enumerate(("refuse", "silence")):
        if harm == "refuse":
            relay.switch(None)
        else:
            relay.mute = True
        begun = time.monotonic()
        told = first.expect("STOPPED", 10)
        assert told["why"] == "the Lease could not be renewed in time", told
        assert time.monotonic() - begun < 2 + SLACK
        last = crew.acts.last("a")
        assert last < begun + 2.05, "it acted after its renew deadline"
        if harm == "refuse":
            relay.switch(ctx.cluster.ports[0])
        else:
            relay.mute = False
            relay.cut()
        # Nobody else wanted it: the same term goes on.
        assert first.expect("STARTED", 15)["fence"] == 0, round
    assert crew.acts.last("a") > last or ctx.wait_for(lambda: crew.acts.last("a") > last, 5, "it to act again")
    crew.acts.check()


@undisturbed
def test_cut_off_leader_is_replaced(ctx: Context) -> None:
    relay = Relay(ctx.cluster.ports[0])
    ctx.undo(relay.close)
    crew = Crew(ctx, ctx.namespace())
    first = crew.join("a", server=f"https://127.0.0.1:{relay.port}")
    crew.leader()
    second = crew.join("b")
    crew.follow(first)
    relay.mute = True
    crew.leader(other_than="a")
    assert not first.leads, "the first one still believed in itself when the second began"
    relay.mute = False
    relay.cut()
    ctx.wait_for(lambda: first.lines[-1:] == [{"type": "LEADER", "identity": "b"}], 15, "the first to see the second")
    assert second.leads and not first.leads
    crew.acts.check()


@undisturbed
def test_somebody_elses_record(ctx: Context) -> None:
    """A record as client-go and kubectl write it: honoured for its own duration from when it was seen, whatever its
    clock says; each change starts the time anew; what else is in the object survives."""
    ns = ctx.namespace()
    held = lease("lock", ns, holderIdentity="other_1234", leaseDurationSeconds=4, leaseTransitions=41,
                 acquireTime="2001-01-01T00:00:00.000000Z", renewTime="2001-01-01T00:00:00.000000Z")
    held["metadata"] |= {"labels": {"team": "ops", "empty": ""}, "finalizers": ["slipway.dev/test"],
                         "annotations": {"note": "keep \"me\" ✓", "control-plane.alpha.kubernetes.io/leader": "{}"}}
    ctx.cluster.kubectl("apply", "-f", "-", input=held)
    uid = ctx.cluster.api.get(f"/api/v1/namespaces/{ns}")["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Namespace", "name": ns, "uid": uid, "controller": True, "blockOwnerDeletion": True}
    ctx.cluster.api.patch(lease_path(ns), {"metadata": {"ownerReferences": [owner]}})
    ctx.undo(lambda: ctx.cluster.api.patch(lease_path(ns), {"metadata": {"finalizers": None}}))
    before = ctx.cluster.api.get(lease_path(ns))["metadata"]
    crew = Crew(ctx, ns)
    mine = crew.join("a")
    assert mine.expect("LEADER")["identity"] == "other_1234"
    seen = time.monotonic()
    ctx.wait_for(lambda: time.monotonic() > seen + 2.5, 10, "most of its time to pass")
    ctx.cluster.api.patch(lease_path(ns), {"spec": {"renewTime": "2001-01-01T00:00:02.000000Z"}})
    renewed = time.monotonic()
    mine.expect("STARTED", 15)
    waited = time.monotonic() - renewed
    assert 3.9 <= waited <= 4 + 0.66 + SLACK, waited
    after = ctx.cluster.api.get(lease_path(ns))
    assert after["spec"]["leaseTransitions"] == 42 and after["spec"]["holderIdentity"] == "a", after
    assert after["spec"]["acquireTime"] > "2026" and after["spec"]["leaseDurationSeconds"] == 3, after
    for key in ("uid", "labels", "annotations", "finalizers", "ownerReferences", "creationTimestamp"):
        assert after["metadata"].get(key) == before.get(key), f"{key} did not survive: {after['metadata'].get(key)}"


def test_a_lease_without_a_holder(ctx: Context) -> None:
    """An empty object, as somebody may have made it by hand, is free."""
    ns = ctx.namespace()
    ctx.cluster.api.create(lease("lock", ns))
    crew = Crew(ctx, ns)
    crew.join("a").expect("STARTED", 10)
    assert crew.record()["holderIdentity"] == "a"


@undisturbed
def test_a_deleted_lease(ctx: Context) -> None:
    """Somebody deletes the Lease: there is one leader again soon, and the fence does not begin anew: it is higher than
    any before, so that what the one before still does with the old one is refused."""
    crew = Crew(ctx, ctx.namespace())
    first = crew.join("a")
    crew.leader()
    crew.join("b")
    crew.follow(first)
    first.child.kill()
    second = crew.leader()
    assert crew.record()["leaseTransitions"] == 1
    crew.join("c")
    crew.follow(second)
    acted = len(crew.acts.all())
    assert crew.acts.all()[-1][:2] == (second.identity, 1)
    ctx.cluster.api.delete(lease_path(crew.namespace))
    ctx.wait_for(lambda: ctx.cluster.api.raw("GET", lease_path(crew.namespace))[0] == 200, 15, "the Lease to be made again")
    third = crew.leader()
    ctx.wait_for(lambda: len(crew.acts.of(third.identity)) and len(crew.acts.all()) > acted + 100, 15, "it to act")
    assert crew.record()["leaseTransitions"] == 2, crew.record()
    assert crew.acts.all()[-1][:2] == (third.identity, 2)
    assert any(line["type"] == "STOPPED" for line in second.lines), "the leader was not told"


@undisturbed
def test_without_permission(ctx: Context) -> None:
    """A candidate that may not: it never leads, asks no more often than it should, and leads once it may."""
    ns = ctx.namespace()
    user = ctx.unique("sailor")
    config = ctx.cluster.kubeconfig(user)
    mark = ctx.cluster.audit.mark()
    crew = Crew(ctx, ns)
    mine = crew.join("a", config)
    begun = time.monotonic()
    ctx.wait_for(lambda: ctx.cluster.audit.count(mark, user=user) >= 4, 15, "a few attempts")
    tries = ctx.cluster.audit.count(mark, user=user)
    assert tries <= 2 + (time.monotonic() - begun) / 0.3, tries
    assert not mine.lines and not crew.acts.all()
    ctx.cluster.allow(user)
    mine.expect("STARTED", 15)


def test_durations_that_do_not_fit(ctx: Context) -> None:
    for options in (["--lease", "2000", "--renew", "2000"], ["--lease", "9000", "--renew", "1000", "--retry", "900"]):
        done = ctx.run(ctx.probe, "lease", "x", "x", "me", *options)
        assert done.returncode == 64 and "longer than the renew deadline" in done.stderr, done


@undisturbed
def test_shared_with_client_go(ctx: Context) -> None:
    """One Lease between a probe and a real kube-scheduler: both keep the other's term, both take over."""
    ns = ctx.namespace()
    crew = Crew(ctx, ns)
    first = crew.join("a")
    crew.leader()
    argv = [a for a in ctx.cluster["kube-scheduler"].argv if not a.startswith(("--leader-elect", "--secure-port", "--cert-dir"))]
    scheduler = ctx.spawn(*argv, "--leader-elect=true", f"--leader-elect-resource-namespace={ns}",
                          "--leader-elect-resource-name=lock", "--leader-elect-lease-duration=3s", "--secure-port=0",
                          "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=300ms", f"--cert-dir={ctx.tmp}",
                          "--v=4")
    user = "system:kube-scheduler"
    may = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]}
    base = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}"
    ctx.cluster.api.call("POST", f"{base}/roles", {"metadata": {"name": "lock"}, "rules": [may]})
    ctx.cluster.api.call("POST", f"{base}/rolebindings", {
        "metadata": {"name": "lock"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "lock"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]})
    mark = ctx.cluster.audit.mark()
    ctx.wait_for(lambda: ctx.cluster.audit.count(mark, user=user, namespace=ns, resource="leases") >= 5, 30,
                 "the scheduler to have looked")
    assert first.leads and crew.record()["holderIdentity"] == "a" and crew.record()["leaseTransitions"] == 0
    first.child.kill()
    record = ctx.wait_for(lambda: crew.record()["holderIdentity"] != "a" and crew.record(), 20, "the scheduler to take over")
    assert record["leaseTransitions"] == 1, record
    second = crew.join("b")
    assert second.expect("LEADER")["identity"] == record["holderIdentity"]
    renewed = record["renewTime"]
    ctx.wait_for(lambda: crew.record()["renewTime"] > renewed, 10, "its renewal")
    joined = time.monotonic()
    ctx.wait_for(lambda: time.monotonic() > joined + 4, 10, "more than a lease's time")
    assert not second.leads and not crew.acts.of("b")
    scheduler.kill()
    second.expect("STARTED", 15)
    assert crew.record()["leaseTransitions"] == 2
    crew.acts.check()


@limit(180)
def test_churn(ctx: Context) -> None:
    """Candidates are killed, suspended, cut off, resign and come back, in an order drawn from a seed: never two."""
    seed = int(os.environ.get("SLIPWAY_SEED", "4711"))
    rng = random.Random(seed)
    relay = Relay(ctx.cluster.ports[0])
    ctx.undo(relay.close)
    crew = Crew(ctx, ctx.namespace(), lease=2000, renew=1200, retry=200)
    through = f"https://127.0.0.1:{relay.port}"
    for i in range(3):
        crew.join(f"c{i}", server=through if i == 0 else None)
    count, paused = 3, []
    direct = {"c1", "c2"}  # not behind the relay: somebody must be able to lead when it is mute

    def resume(candidate: Candidate) -> None:
        candidate.child.send(signal.SIGCONT)
        crew.members[candidate.identity] = candidate

    try:
        for _ in range(9):
            leader = crew.leader()
            ctx.wait_for(lambda: len(crew.acts.of(leader.identity)) > 5, 10, "it to act", interval=0.01)
            harm = rng.choice(("kill", "suspend", "resign", "cut"))
            if harm == "resign":
                leader.resign()
            elif harm == "suspend":
                pause(ctx, leader.child)
                paused.append(leader)
            elif harm == "cut":
                relay.mute = not relay.mute
                relay.cut()
                continue
            else:
                leader.child.kill()
            del crew.members[leader.identity]
            behind = rng.random() < 0.3 and not direct.isdisjoint(crew.members)
            crew.join(f"c{count}", server=through if behind else None)
            if not behind:
                direct.add(f"c{count}")
            count += 1
            if paused and rng.random() < 0.5:
                resume(paused.pop(0))
            crew.acts.check()
        for each in paused:
            resume(each)
        relay.mute = False
        relay.cut()
        crew.leader()
        crew.acts.check()
    except BaseException:
        print(f"# seed {seed}: " + json.dumps(crew.acts.all()[-10:]))
        raise
