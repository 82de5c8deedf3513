"""`slipway drain`, `cordon` and `uncordon` beside the real kubectl, on a real cluster: the same lines on standard output, the same
refusals, the same nodes and pods afterwards.

Each case is set up twice, on nodes and in a namespace of its own, and the one is drained with kubectl and the other with Slipway.
Names are then replaced by what they stand for, so that the two can be compared word by word."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from context import Context, limit
from objects import budget_status, pod, running

HOST = "kubernetes.io/hostname"
REPLICA = re.compile(r"\b(web|agent)-[a-z0-9]{5}\b")


def replica_set(name: str, namespace: str, node: str, replicas: int, **spec: object) -> dict:
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name, "namespace": namespace},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels}, "spec": {"nodeSelector": {HOST: node}, "terminationGracePeriodSeconds": 1,
                                                         "containers": [{"name": "main", "image": "registry.test/app:1"}], **spec}}}}


def daemon_set(name: str, namespace: str, prefix: str) -> dict:
    made = replica_set(name, namespace, "", 1)
    made["kind"] = "DaemonSet"
    del made["spec"]["replicas"]
    made["spec"]["template"]["spec"]["nodeSelector"] = {"slipway.dev/test": prefix}
    return made


EMPTY_DIR = {"volumes": [{"name": "v", "emptyDir": {}}]}


@dataclass
class Outcome:
    out: list[str]
    err: list[str]
    good: bool
    cordoned: list[bool]
    pods: list[str]  # that are left and do not leave


class Side:
    """Nodes and a namespace of one of the two programs."""

    def __init__(self, ctx: Context, program: object, nodes: int) -> None:
        self.ctx, self.program, self.ns = ctx, program, ctx.namespace()
        self.nodes = ctx.nodes(nodes)
        self.prefix = self.nodes[0].rsplit("-", 1)[0]

    def plain(self, text: str) -> str:
        text = text.replace(self.ns, "NS").replace(self.prefix, "n").replace("'slipway ", "'kubectl ")
        return REPLICA.sub(r"\1-x", text)

    def lines(self, text: str) -> list[str]:
        """Sorted, for kubectl's order is that of its threads and maps; so are the parts of a line of warnings, which is a map's."""
        def parts(line: str) -> str:
            if several := re.search(r"error: \[(.*)\], continuing", line):
                return line.replace(several[1], "; ".join(sorted(several[1].replace(", cannot", "; cannot").split("; "))))
            if line.startswith("Warning: "):
                return "Warning: " + "; ".join(sorted(", ".join(sorted(set(part.split(", ")))) for part in line[9:].split("; ")))
            return line
        return sorted(parts(self.plain(line)) for line in text.splitlines())

    def run(self, *arguments: str) -> Outcome:
        words = [w.format(*self.nodes, prefix=self.prefix, ns=self.ns) for w in arguments]
        done = self.ctx.run(self.program, *words, timeout=180)
        api = self.ctx.cluster.api
        nodes = [api.get(f"/api/v1/nodes/{n}")["spec"].get("unschedulable", False) for n in self.nodes]
        left = sorted(self.plain(p["metadata"]["name"]) for p in api.items(f"/api/v1/namespaces/{self.ns}/pods")
                      if p["spec"].get("nodeName") and not p["metadata"].get("deletionTimestamp"))
        return Outcome(self.lines(done.stdout), self.lines(done.stderr), done.returncode == 0, nodes, left)


class Twins:
    def __init__(self, ctx: Context, nodes: int = 1) -> None:
        self.ctx = ctx
        self.sides = [Side(ctx, ctx.cluster.binaries.path("kubectl"), nodes), Side(ctx, ctx.slipway, nodes)]

    def apply(self, *objects, ready: int | None = None) -> Twins:
        """Each object is a function of a side."""
        for side in self.sides:
            made = [make(side) for make in objects]
            self.ctx.cluster.kubectl("apply", "-f", "-", input=made)
        for side in self.sides:
            running(self.ctx, side.ns, len(objects) if ready is None else ready)
            self.ctx.cluster.fill(side.nodes)
        return self

    def same(self, *arguments: str, good: bool | None = None, err: bool = True) -> Outcome:
        """Runs both; what kubectl did is what Slipway does."""
        theirs, ours = [side.run(*arguments) for side in self.sides]
        if not err:
            theirs.err = ours.err = []
        assert theirs == ours, f"{' '.join(arguments)}:\nkubectl {theirs}\nslipway {ours}"
        assert good is None or theirs.good == good, f"{' '.join(arguments)}: {theirs}"
        return ours


def bare(name: str, node: int = 0, **spec: object):
    return lambda s: pod(name, s.ns, {"app": name}, nodeName=s.nodes[node], terminationGracePeriodSeconds=1, **spec)


def web(replicas: int = 2, node: int = 0, **spec: object):
    return lambda s: replica_set("web", s.ns, s.nodes[node], replicas, **spec)


def test_plain(ctx: Context) -> None:
    done = Twins(ctx).apply(web(3), ready=3).same("drain", "{0}", "--ignore-daemonsets", good=True)
    assert done.out == sorted(["node/n-0 cordoned", "node/n-0 drained"] + 3 * ["evicting pod NS/web-x", "pod/web-x evicted"]), done
    assert (done.err, done.cordoned, done.pods) == ([], [True], []), done


def test_nothing_there(ctx: Context) -> None:
    twins = Twins(ctx)
    assert twins.same("drain", "{0}", "--ignore-daemonsets", good=True).out == ["node/n-0 cordoned", "node/n-0 drained"]
    assert twins.same("drain", "node/{0}", "--ignore-daemonsets", good=True).out == ["node/n-0 already cordoned", "node/n-0 drained"]


def test_bare_pods(ctx: Context) -> None:
    twins = Twins(ctx).apply(bare("one"), bare("two"), web(1))
    done = twins.same("drain", "{0}", "--ignore-daemonsets", good=False)
    assert done.pods == ["one", "two", "web-x"] and done.cordoned == [True], done
    assert any(line.startswith("error: unable to drain node ") for line in done.err), done
    done = twins.same("drain", "{0}", "--ignore-daemonsets", "--force", good=True)
    assert done.pods == [] and done.err == ["Warning: NS/two, deleting Pods that declare no controller: NS/one"], done


def test_local_storage(ctx: Context) -> None:
    twins = Twins(ctx).apply(web(2, **EMPTY_DIR), ready=2)
    assert twins.same("drain", "{0}", "--ignore-daemonsets", good=False).pods == ["web-x", "web-x"]
    # kubectl forgets its warning about local storage for pods that have a controller; Slipway does not.
    assert twins.same("drain", "{0}", "--ignore-daemonsets", "--delete-emptydir-data", good=True, err=False).pods == []


def test_two_reasons(ctx: Context) -> None:
    twins = Twins(ctx).apply(bare("one"), bare("data", **EMPTY_DIR), bare("two"))
    done = twins.same("drain", "{0}", "--ignore-daemonsets", good=False)
    assert "cannot delete Pods that declare no controller (use --force to override): NS/one, NS/two" in done.err, done
    twins = Twins(ctx, 2).apply(bare("one"), bare("data", node=1, **EMPTY_DIR))
    assert twins.same("drain", "{0}", "{1}", "--ignore-daemonsets", good=False).pods == ["data", "one"]
    twins.same("drain", "{0}", "{1}", "--ignore-daemonsets", "--delete-emptydir-data", good=False)
    assert twins.same("drain", "{0}", "{1}", "--ignore-daemonsets", "--force", "--delete-emptydir-data", good=True).pods == []


def test_daemon_sets(ctx: Context) -> None:
    twins = Twins(ctx).apply(lambda s: daemon_set("agent", s.ns, s.prefix), web(1))
    done = twins.same("drain", "{0}", "--ignore-daemonsets=false", good=False)
    assert "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): NS/agent-x" in done.err, done
    assert done.pods == ["agent-x", "web-x"], done
    done = twins.same("drain", "{0}", "--ignore-daemonsets", good=True)
    assert (done.pods, done.err) == (["agent-x"], ["Warning: ignoring DaemonSet-managed Pods: NS/agent-x"]), done


def test_default_of_daemon_sets(ctx: Context) -> None:
    """The one default that differs: what kubectl does only when told, Slipway does by itself."""
    twins = Twins(ctx).apply(lambda s: daemon_set("agent", s.ns, s.prefix))
    theirs, ours = twins.sides[0].run("drain", "{0}", "--ignore-daemonsets"), twins.sides[1].run("drain", "{0}")
    assert theirs == ours and ours.good, (theirs, ours)


def test_orphaned_daemon_set_pods(ctx: Context) -> None:
    """Their DaemonSet is gone. On an API server alone: the garbage collector would be faster than either."""
    api, ns = ctx.still.api, ctx.namespace(ctx.still)
    said = []
    for program in (ctx.still.binaries.path("kubectl"), ctx.slipway):
        node = ctx.unique("n")
        api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}})
        ctx.undo(lambda name=node: api.delete(f"/api/v1/nodes/{name}"))
        made = pod(f"orphan-{node}", ns, nodeName=node)
        made["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "gone", "uid": "u", "controller": True}]
        api.create(made)
        runs = [ctx.run(program, "drain", node, "--ignore-daemonsets", *more, kubeconfig=ctx.still.admin)
                for more in ([], ["--force", "--dry-run=client"])]
        said.append([(r.returncode == 0, r.stdout.replace(node, "N"), r.stderr.replace(node, "N")) for r in runs])
    # kubectl loses this warning, as that about local storage, to the filters that come after; Slipway does not.
    assert said[0][0] == said[1][0] and said[0][1][:2] == said[1][1][:2], f"kubectl {said[0]}\nslipway {said[1]}"
    (refused, _, why), (forced, out, warning) = said[1]
    assert not refused and f'cannot delete daemonsets.apps "gone" not found: {ns}/orphan-N' in why, said
    assert forced and f"evicting pod {ns}/orphan-N (dry run)" in out and warning == f'Warning: daemonsets.apps "gone" not found: {ns}/orphan-N\n', said


def test_pod_selector(ctx: Context) -> None:
    twins = Twins(ctx).apply(bare("one"), bare("two"), web(2), ready=4)
    done = twins.same("drain", "{0}", "--ignore-daemonsets", "--pod-selector=app=web", good=True)
    assert done.pods == ["one", "two"], done
    assert twins.same("drain", "{0}", "--ignore-daemonsets", "--pod-selector=app in (one)", "--force", good=True).pods == ["two"]


def test_deletion(ctx: Context) -> None:
    twins = Twins(ctx).apply(bare("one"), web(2), ready=3)
    done = twins.same("drain", "{0}", "--ignore-daemonsets", "--force", "--disable-eviction", good=True)
    assert done.out == sorted(["node/n-0 cordoned", "node/n-0 drained", "pod/one deleted", "pod/web-x deleted", "pod/web-x deleted"]), done


def test_grace_period(ctx: Context) -> None:
    """The pods' own is 1 s; with another one the server is told so."""
    for grace in ("0", "1", "-1"):
        twins = Twins(ctx).apply(bare("one"), web(1))
        assert twins.same("drain", "{0}", "--ignore-daemonsets", "--force", f"--grace-period={grace}", good=True).pods == []


def test_dry_runs(ctx: Context) -> None:
    twins = Twins(ctx).apply(bare("one"), web(1))
    for how in ("client", "server"):
        done = twins.same("drain", "{0}", "--ignore-daemonsets", "--force", f"--dry-run={how}", good=True)
        assert (done.cordoned, done.pods) == ([False], ["one", "web-x"]), done
        twins.same("drain", "{0}", "--ignore-daemonsets", f"--dry-run={how}", good=False)
        for verb in ("cordon", "uncordon"):
            assert twins.same(verb, "{0}", f"--dry-run={how}", good=True).cordoned == [False]
    twins.same("drain", "{0}", "--ignore-daemonsets", "--disable-eviction", "--force", "--dry-run=client", good=True)


def test_finished_pods(ctx: Context) -> None:
    """They go without --force, whatever they have."""
    twins = Twins(ctx).apply(bare("one", **EMPTY_DIR))
    for side in twins.sides:
        ctx.cluster.api.patch(f"/api/v1/namespaces/{side.ns}/pods/one/status", {"status": {"phase": "Succeeded"}}, "merge")
    assert twins.same("drain", "{0}", "--ignore-daemonsets", good=True).pods == []


def test_several_nodes(ctx: Context) -> None:
    twins = Twins(ctx, 3).apply(web(2, node=0), bare("one", node=1), ready=3)
    done = twins.same("drain", "{0}", "{1}", "{2}", "--ignore-daemonsets", good=False)
    assert "node/n-0 drained" in done.out and "node/n-2 drained" in done.out and "node/n-1 drained" not in done.out, done
    assert done.err.count(" n-1") == 1 and "There are pending nodes to be drained:" in done.err, done
    twins.same("drain", "-l", "slipway.dev/test={prefix}", "--ignore-daemonsets", "--force", good=True)


def test_selectors(ctx: Context) -> None:
    twins = Twins(ctx, 2)
    done = twins.same("drain", "--selector=slipway.dev/test={prefix}", "--ignore-daemonsets", good=True)
    assert done.cordoned == [True, True], done
    assert twins.same("uncordon", "-l", "slipway.dev/test={prefix}", good=True, err=False).out == \
        ["node/n-0 uncordoned", "node/n-1 uncordoned"]
    theirs, ours = [side.run("drain", "-l", "slipway.dev/nobody=1", "--ignore-daemonsets") for side in twins.sides]
    assert (theirs.out, theirs.good) == (ours.out, ours.good) == ([], True), (theirs, ours)
    assert ours.err == theirs.err == [], (theirs, ours)


def test_mistakes(ctx: Context) -> None:
    twins = Twins(ctx)
    for verb in ("drain", "cordon", "uncordon"):
        assert twins.same(verb, good=False).err[0] == f"See 'kubectl {verb} -h' for help and examples"
        twins.same(verb, "{0}", "-l", "a=b", good=False)
        twins.same(verb, "{0}", "nope", good=False)
        twins.same(verb, "a/b/c", good=False)
        twins.same(verb, "", good=False)
    twins.same("drain", "{0}", "--pod-selector=a in (b", good=False)
    for flag in ("--timeout=x", "--grace-period=x", "--no-such-flag", "--dry-run=maybe", "--chunk-size=x"):
        assert twins.same("drain", "{0}", flag, good=False, err=False).cordoned == [False]


def test_already_cordoned(ctx: Context) -> None:
    twins = Twins(ctx)
    assert twins.same("cordon", "{0}", good=True).out == ["node/n-0 cordoned"]
    assert twins.same("cordon", "{0}", good=True).out == ["node/n-0 already cordoned"]
    assert "node/n-0 already cordoned" in twins.same("drain", "{0}", "--ignore-daemonsets", good=True).out
    assert twins.same("uncordon", "{0}", good=True).out == ["node/n-0 uncordoned"]
    assert twins.same("uncordon", "{0}", good=True).out == ["node/n-0 already uncordoned"]


@limit(180)
def test_blocked(ctx: Context) -> None:
    """What a budget holds stays, and both fail; in other words, for kubectl does not say which budget."""
    def never(s: Side) -> dict:
        return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "never", "namespace": s.ns},
                "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "web"}}}}
    twins = Twins(ctx).apply(never, web(1), ready=1)
    for side in twins.sides:
        budget_status(ctx, side.ns, "never", currentHealthy=1, expectedPods=1)
    for limit_of_both in ("2s", "10s", "60s"):  # a busy machine may not have come that far
        theirs, ours = [side.run("drain", "{0}", "--ignore-daemonsets", f"--timeout={limit_of_both}") for side in twins.sides]
        if all(" n-0" in side.err for side in (theirs, ours)) and any("PDBUnsatisfiable" in line for line in ours.err):
            break
    assert (theirs.good, theirs.cordoned, theirs.pods) == (ours.good, ours.cordoned, ours.pods) == (False, [True], ["web-x"]), (theirs, ours)
    for line in ("There are pending nodes to be drained:", " n-0"):
        assert line in theirs.err and line in ours.err, (theirs, ours)
    assert any(re.match(r"pod NS/web-x waits: PDBUnsatisfiable NS/never: ", line) for line in ours.err), ours


def test_events_and_conditions(ctx: Context) -> None:
    """The server takes what Slipway writes beside the cordon, and kubectl shows it."""
    node, = ctx.nodes(1)
    for verb in ("cordon", "uncordon"):
        ctx.run(ctx.slipway, verb, node, "--reason", "CHG-1", check=True)
    said = ctx.cluster.kubectl("describe", "node", node)
    for word in ("Cordoned", "Uncordoned"):
        assert re.search(rf"Normal +{word} +\S+ +slipway +Node {node} {word.lower()} by \S+@\S+: CHG-1", said), said
    ctx.run(ctx.slipway, "drain", node, check=True)

    def conditions() -> dict[str, str]:
        found = json.loads(ctx.cluster.kubectl("get", "node", node, "-o", "json"))["status"]["conditions"]
        return {c["type"]: c["status"] for c in found}
    assert conditions()["Drained"] == "True", conditions()
    ctx.run(ctx.slipway, "uncordon", node, check=True)
    assert conditions()["Drained"] == "False" and conditions()["Ready"] == "True", conditions()
