"""The harness itself: the cluster is real, its parts can be broken one by one, and the judges count right."""

from __future__ import annotations

import json
import socket
import time
from types import SimpleNamespace

from api import ApiError
from context import Context, limit
from process import ClusterError
from stalls import ATTEMPTS, undisturbed

APP = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
       "spec": {"replicas": 6, "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"labels": {"app": "web"}},
                             "spec": {"containers": [{"name": "main", "image": "registry.test/web:1"}]}}}}


def deploy(ctx: Context, namespace: str, on: dict[str, str] | None = None, **annotations: str) -> None:
    app = json.loads(json.dumps(APP))
    app["spec"]["template"]["spec"]["nodeSelector"] = on or {}
    app["spec"]["template"]["metadata"]["annotations"] = {k.replace("_", "-"): v for k, v in annotations.items()}
    ctx.cluster.kubectl("-n", namespace, "apply", "-f", "-", input=app)
    ctx.cluster.kubectl("-n", namespace, "rollout", "status", "deployment/web", "--timeout=60s")


def pods(ctx: Context, namespace: str) -> dict[str, dict]:
    return {p["metadata"]["name"]: p for p in ctx.cluster.api.items(f"/api/v1/namespaces/{namespace}/pods")}


def test_versions(ctx: Context) -> None:
    said = json.loads(ctx.cluster.kubectl("version", "-o", "json"))
    assert said["clientVersion"]["gitVersion"].startswith("v1."), said
    assert said["serverVersion"]["gitVersion"] == said["clientVersion"]["gitVersion"], said
    assert said["serverVersion"]["minor"] == ctx.cluster.binaries.version.split(".")[1], said


def test_nodes_are_ready(ctx: Context) -> None:
    names = ctx.nodes(4, labels={"role": "x"}, taints=[{"key": "only", "value": "me", "effect": "NoSchedule"}])
    listed = json.loads(ctx.cluster.kubectl("get", "nodes", "-l", "role=x", "-o", "json"))["items"]
    assert sorted(n["metadata"]["name"] for n in listed) == sorted(names)
    assert {n["metadata"]["labels"]["topology.kubernetes.io/zone"] for n in listed} == {"a", "b", "c"}
    assert len({n["status"]["nodeInfo"]["bootID"] for n in listed}) == 4
    assert all(n["spec"]["taints"][0]["key"] == "only" for n in listed)

    def leases() -> set[str]:
        found = ctx.cluster.api.items("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases")
        return {lease["metadata"]["name"] for lease in found if lease["spec"].get("renewTime")}
    ctx.wait_for(lambda: set(names) <= leases(), 30, "a lease of each node")


def test_fake_kubelet_says_ready_again(ctx: Context) -> None:
    name, = ctx.nodes(1)
    path = f"/api/v1/nodes/{name}"
    boot = ctx.cluster.api.get(path)["status"]["nodeInfo"]["bootID"]
    down = {"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Test"}]}}
    ctx.cluster.api.patch(path + "/status", down, "strategic")
    ctx.wait_for(lambda: ctx.cluster.nodes_ready([name]), 30, "the node to be ready again")
    assert ctx.cluster.api.get(path)["status"]["nodeInfo"]["bootID"] == boot


def test_nodes_are_not_rewritten_all_the_time(ctx: Context) -> None:
    """kwok 0.7.0 without our heartbeat stage writes each status every 20 s; the lease is what may be renewed."""
    names = ctx.nodes(2)

    def renewed(since: dict) -> bool:
        return all(ctx.cluster.audit.count(since, user="kwok", resource="leases", name=n) >= 1 for n in names)
    mark = ctx.cluster.audit.mark()
    ctx.wait_for(lambda: renewed(mark), 60, "the leases")  # a kwok that is late may say Ready twice before
    mark, until = ctx.cluster.audit.mark(), time.monotonic() + 25
    ctx.wait_for(lambda: time.monotonic() > until and renewed(mark), 60, "25 s to pass")
    assert sum(ctx.cluster.audit.count(mark, user="kwok", resource="nodes", name=n) for n in names) == 0


def test_deployment_runs_and_comes_back(ctx: Context) -> None:
    namespace = ctx.namespace()
    here = {"role": namespace}
    nodes = set(ctx.nodes(3, labels=here))
    deploy(ctx, namespace, here)
    first = pods(ctx, namespace)
    assert len(first) == 6 and all(p["status"]["phase"] == "Running" for p in first.values())
    where = {p["spec"]["nodeName"] for p in first.values()}
    assert where <= nodes, (where - nodes, [n["metadata"]["name"] for n in ctx.cluster.api.items("/api/v1/nodes")])
    ctx.cluster.kubectl("-n", namespace, "delete", "pods", "--all")
    ctx.wait_for(lambda: len([p for n, p in pods(ctx, namespace).items()
                              if n not in first and p["status"]["phase"] == "Running"]) == 6, 30, "six new pods")
    ctx.cluster.kubectl("-n", namespace, "delete", "deployment", "web")
    ctx.wait_for(lambda: not pods(ctx, namespace), 30, "no pods")
    deploy(ctx, namespace, here)
    assert not set(pods(ctx, namespace)) & set(first)


def test_slow_pods(ctx: Context) -> None:
    """Delays by annotation: not ready before its time, not gone before its time."""
    ctx.nodes(1)
    namespace = ctx.namespace()
    pod = {"apiVersion": "v1", "kind": "Pod",
           "metadata": {"name": "slow", "namespace": namespace,
                        "annotations": {"slipway.dev/test-ready-after": "2s", "slipway.dev/test-gone-after": "2s"}},
           "spec": {"containers": [{"name": "main", "image": "registry.test/slow:1"}]}}
    path = f"/api/v1/namespaces/{namespace}/pods/slow"
    begun = time.monotonic()
    ctx.cluster.api.create(pod)
    ctx.wait_for(lambda: ctx.cluster.api.get(path)["status"]["phase"] == "Running", 30, "the pod to run")
    assert time.monotonic() - begun >= 1.9
    begun = time.monotonic()
    ctx.cluster.api.delete(path)
    ctx.wait_for(lambda: ctx.cluster.api.raw("GET", path)[0] == 404, 30, "the pod to be gone")
    assert time.monotonic() - begun >= 1.9


def test_pod_that_finishes(ctx: Context) -> None:
    ctx.nodes(1)
    namespace = ctx.namespace()
    template = {"metadata": {"annotations": {"slipway.dev/test-finish-after": "500ms"}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.test/job:1"}]}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once"}, "spec": {"template": template}}
    ctx.cluster.kubectl("-n", namespace, "apply", "-f", "-", input=job)
    ctx.cluster.kubectl("-n", namespace, "wait", "--for=condition=Complete", "job/once", "--timeout=60s")


def test_budget_is_computed_and_kept(ctx: Context) -> None:
    ctx.nodes(3)
    namespace = ctx.namespace()
    deploy(ctx, namespace, **{"slipway.dev/test_ready_after": "0s"})
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"},
              "spec": {"minAvailable": 6, "selector": {"matchLabels": {"app": "web"}}}}
    ctx.cluster.kubectl("-n", namespace, "apply", "-f", "-", input=budget)
    path = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets/web"
    ctx.wait_for(lambda: ctx.cluster.api.get(path)["status"].get("currentHealthy") == 6, 30, "six healthy pods")
    name = sorted(pods(ctx, namespace))[0]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace}}
    refused = ctx.cluster.api.raw("POST", f"/api/v1/namespaces/{namespace}/pods/{name}/eviction",
                                  json.dumps(eviction).encode(), "application/json")
    assert refused[0] == 429, refused
    ctx.cluster.api.patch(path, {"spec": {"minAvailable": 5}})
    ctx.wait_for(lambda: ctx.cluster.api.get(path)["status"].get("disruptionsAllowed") == 1, 30, "one allowed")
    ctx.cluster.api.call("POST", f"/api/v1/namespaces/{namespace}/pods/{name}/eviction", eviction)
    ctx.wait_for(lambda: name not in pods(ctx, namespace), 30, "the evicted pod to be gone")


def test_users_and_tokens(ctx: Context) -> None:
    who = ("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
    for inline in (True, False):
        config = ctx.cluster.kubeconfig("alice", ["crew", "deck"], inline=inline)
        assert ctx.cluster.kubectl(*who, kubeconfig=config) == "alice"
    assert "crew" in ctx.cluster.kubectl("auth", "whoami", kubeconfig=config)
    namespace = ctx.namespace()
    config = ctx.cluster.kubeconfig(token=ctx.cluster.token("robot", namespace))
    assert ctx.cluster.kubectl(*who, kubeconfig=config) == f"system:serviceaccount:{namespace}:robot"
    try:
        ctx.cluster.kubectl("get", "nodes", kubeconfig=config)
        raise AssertionError("a robot without rights may list nodes")
    except ClusterError as error:
        assert "Forbidden" in str(error), error
    ctx.cluster.allow(f"{namespace}:robot")
    ctx.wait_for(lambda: ctx.cluster.kubectl("get", "namespaces", kubeconfig=config), 10, "the robot's rights")


def test_audit_counts(ctx: Context) -> None:
    config = ctx.cluster.kubeconfig("counted", ["system:masters"])
    name, mark = ctx.unique("c"), ctx.cluster.audit.mark()
    ctx.cluster.kubectl("create", "configmap", name, kubeconfig=config)
    for _ in range(3):
        ctx.cluster.kubectl("get", "configmap", name, kubeconfig=config)
    ctx.cluster.kubectl("delete", "configmap", name, kubeconfig=config)
    audit = ctx.cluster.audit
    wanted = {"user": "counted", "resource": "configmaps"}
    ctx.wait_for(lambda: audit.count(mark, verb="delete", **wanted) == 1, 10, "the delete in the log")
    assert audit.count(mark, verb="create", **wanted) == 1
    assert audit.table(mark, **wanted)[("counted", "get", "configmaps", 200)] == 3
    assert audit.count(mark, user="counted", agent="kubectl/v1.") == audit.count(mark, user="counted")
    assert audit.count(user="counted", verb="get", resource="configmaps", name=name) >= 3


@limit(180)
def test_bulk_creation(ctx: Context) -> None:
    namespace = ctx.namespace()
    maps = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{i}", "namespace": namespace}}
            for i in range(1000)]
    assert ctx.cluster.api.bulk(maps) == 1000
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    names = {m["metadata"]["name"] for m in ctx.cluster.api.items(path, page=300)}
    assert {f"m{i}" for i in range(1000)} <= names
    try:
        ctx.cluster.api.bulk(maps[:5])
        raise AssertionError("bulk() did not tell of a conflict")
    except ApiError as error:
        assert error.code == 409 and error.reason == "AlreadyExists"


def test_two_servers_on_one_etcd(ctx: Context) -> None:
    cluster = ctx.private_cluster(apiservers=2, controllers=False, kwok=False)
    first, second = cluster.api_of(0), cluster.api_of(1)
    assert first.port != second.port
    made = first.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "1"}})
    path = "/api/v1/namespaces/default/configmaps/x"
    assert second.get(path)["metadata"]["uid"] == made["metadata"]["uid"]
    config = cluster.kubeconfig(server=1)
    assert "x" in cluster.kubectl("get", "configmaps", "-o", "name", kubeconfig=config)
    cluster["kube-apiserver"].kill()
    assert second.get(path)["data"] == {"a": "1"}
    cluster["kube-apiserver"].start()
    assert first.get(path)["data"] == {"a": "1"}
    assert cluster.audit.count(user="admin", verb="get", resource="configmaps", name="x") >= 2


def test_stale_server(ctx: Context) -> None:
    """With etcd's watches towards it cut by SIGSTOP of etcd the cache of a server goes on answering."""
    cluster = ctx.private_cluster(apiservers=2, controllers=False, kwok=False)
    second = cluster.api_of(1)
    cluster.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "seen"}})
    cached = "/api/v1/namespaces?resourceVersion=0"
    ctx.wait_for(lambda: "seen" in [n["metadata"]["name"] for n in second.get(cached)["items"]], 10, "it in the cache")
    cluster["etcd"].pause()
    assert "seen" in [n["metadata"]["name"] for n in second.get(cached)["items"]]
    cluster["etcd"].resume()
    ctx.wait_for(lambda: second.get("/api/v1/namespaces/seen"), 30, "a quorum read")


def test_server_restart(ctx: Context) -> None:
    cluster = ctx.private_cluster(controllers=False, kwok=False)
    before = cluster["kube-apiserver"].pid
    uid = cluster.api.get("/api/v1/namespaces/default")["metadata"]["uid"]
    cluster["kube-apiserver"].stop()
    try:
        cluster.api.get("/api/v1/namespaces/default")
        raise AssertionError("a stopped server answered")
    except OSError:
        pass
    cluster["kube-apiserver"].start()
    assert cluster["kube-apiserver"].pid != before
    assert cluster.api.get("/api/v1/namespaces/default")["metadata"]["uid"] == uid


def test_frozen_server(ctx: Context) -> None:
    cluster = ctx.private_cluster(controllers=False, kwok=False)
    server = cluster["kube-apiserver"]
    server.pause()
    connection = cluster.api.connect(timeout=2)
    try:
        connection.request("GET", "/readyz")
        connection.getresponse()
        raise AssertionError("a frozen server answered")
    except (socket.timeout, TimeoutError):
        pass
    finally:
        connection.close()
    server.resume()
    ctx.wait_for(lambda: cluster.api.raw("GET", "/readyz")[0] == 200, 20, "the thawed server")


def test_compaction_makes_old_watches_fail(ctx: Context) -> None:
    cluster = ctx.private_cluster(controllers=False, kwok=False, apiserver_flags=["--watch-cache=false"])
    old = cluster.api.get("/api/v1/namespaces/default/configmaps")["metadata"]["resourceVersion"]
    for i in range(5):
        cluster.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{i}"}})
    watch = f"/api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=5&resourceVersion={old}"
    assert next(cluster.api.watch(watch))["type"] == "ADDED"
    assert cluster.compact() > int(old)
    event = next(cluster.api.watch(watch))
    assert event["type"] == "ERROR" and event["object"]["code"] == 410, event


def test_compaction_reaches_a_restarted_cache(ctx: Context) -> None:
    """With the watch cache on, a server that was restarted after the compaction knows nothing older than that."""
    cluster = ctx.private_cluster(controllers=False, kwok=False)
    old = cluster.api.get("/api/v1/namespaces/default/configmaps")["metadata"]["resourceVersion"]
    for i in range(5):
        cluster.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{i}"}})
    cluster.compact()
    cluster["kube-apiserver"].restart()
    watch = f"/api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=5&resourceVersion={old}"
    try:
        event = next(cluster.api.watch(watch))
    except ApiError as error:
        assert error.code == 410, error
    else:
        assert event["type"] == "ERROR" and event["object"]["code"] == 410, event


def test_child_processes(ctx: Context) -> None:
    child = ctx.spawn("sh", "-c", "echo one; read line; echo got $line; echo bad >&2; exit 3", stdin=True)
    child.expect("^one$")
    child.write("x\n")
    assert child.expect(r"got (\w+)").group(1) == "x"
    assert child.end(number=None) == 3 and child.err == ["bad"]
    try:
        child.expect("never", 1)
        raise AssertionError("expect() found what was not there")
    except AssertionError as error:
        assert "status 3" in str(error)


def test_failures_while_nothing_moves(ctx: Context) -> None:
    """They say nothing, and the test is made again; those of a program that is wrong stand, whatever happens."""
    cluster = ctx.private_cluster(controllers=False, kwok=False)
    there = SimpleNamespace(cluster=cluster, name=ctx.name, kill_children=lambda: None)
    server, attempts = cluster["kube-apiserver"], []

    @undisturbed
    def late(_: object) -> None:
        attempts.append("late")
        if len(attempts) == 1:
            server.pause()
            begun = time.monotonic()
            ctx.wait_for(lambda: time.monotonic() > begun + 1.5, 60, "a while to pass")
            server.resume()
            raise AssertionError("too late")

    @undisturbed
    def wrong(_: object) -> None:
        attempts.append("wrong")
        raise AssertionError("wrong for ever")

    late(there)
    assert attempts[:2] == ["late", "late"], attempts
    try:
        wrong(there)
    except AssertionError as error:
        assert str(error) == "wrong for ever" and 1 <= attempts.count("wrong") <= ATTEMPTS, attempts
    else:
        raise AssertionError("a test that fails has passed")
