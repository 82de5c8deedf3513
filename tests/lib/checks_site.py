"""A server without controllers, where objects stay as they are written, for tests of the checks: nodes, the kinds of the systems that the
checks know, and Slipway's verbs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from api import ApiError, object_path
from cluster import Cluster
from context import Child, Context
from crds import DEFINITIONS, crd, established

DONE, FAILED, BLOCKED, REFUSED, USAGE = 0, 1, 3, 5, 64
CHECKS = ["longhorn", "rook-ceph", "kubevirt", "cnpg", "zalando", "etcd-operator", "etcd", "statefulset"]

LONGHORN = [("longhorn.io", "v1beta2", kind) for kind in ("Volume", "Replica", "Engine", "Node", "InstanceManager", "Setting")]
ROOK = [("ceph.rook.io", "v1", kind) for kind in ("CephCluster", "CephBlockPool", "CephFilesystem", "CephObjectStore")]
KUBEVIRT = [("kubevirt.io", "v1", "VirtualMachineInstance"), ("kubevirt.io", "v1", "KubeVirt")]
CNPG = [("postgresql.cnpg.io", "v1", "Cluster")]
ZALANDO = [("acid.zalan.do", "v1", "postgresql")]
ETCD = [("operator.etcd.io", "v1alpha1", "EtcdCluster")]
ALL = LONGHORN + ROOK + KUBEVIRT + CNPG + ZALANDO + ETCD

# A drain of pods without controllers and without a kubelet.
AT_ONCE = ["--force", "--grace-period=0"]
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
UNREADY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}


class Site:
    """With nodes that are Ready, and nothing else."""

    def __init__(self, ctx: Context, cluster: Cluster, nodes: int = 3) -> None:
        self.ctx, self.cluster, self.api = ctx, cluster, cluster.api
        self.made: list[dict] = []
        self.nodes = [f"w{i + 1}" for i in range(nodes)]
        for name in self.nodes:
            node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"slipway.dev/test": "checks"}}}
            self.api.create(node)
            self.api.patch(f"/api/v1/nodes/{name}/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, "strategic")
        for name in ("x", "kube-system"):
            self.space(name)

    def space(self, name: str) -> None:
        for obj in ({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
                    {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}):
            try:
                self.api.create(obj)
            except ApiError as error:
                assert error.code == 409, error

    def install(self, kinds: list[tuple[str, str, str]]) -> None:
        for group, version, kind in kinds:
            self.api.call("POST", DEFINITIONS, crd(self.ctx, kind, group=group, version={"name": version}))
        for group, version, kind in kinds:
            plural = kind.lower() + "s"
            path = f"{DEFINITIONS}/{plural}.{group}"
            self.ctx.wait_for(lambda: established(self.api.get(path)), 30, f"{path} to be established", interval=0.05)
            served = f"/apis/{group}/{version}/{plural}"
            self.ctx.wait_for(lambda: self.api.raw("GET", served)[0] == 200, 30, f"{served} to be served", interval=0.05)
            found = f"/apis/{group}/{version}"
            self.ctx.wait_for(lambda: plural in [r["name"] for r in self.api.get(found)["resources"]], 30, f"{plural} to be discovered")

    def add(self, version: str, kind: str, name: str, namespace: str = "x", **body: object) -> dict:
        obj = {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **body}
        self.api.create(obj)
        self.made.append(obj)
        return obj

    def pod(self, name: str, node: str, labels: dict[str, str], status: dict = READY, namespace: str = "x", **metadata: object) -> dict:
        spec = {"nodeName": node, "containers": [{"name": "main", "image": "registry.test/app:1"}]}
        obj = {"apiVersion": "v1", "kind": "Pod", "spec": spec,
               "metadata": {"name": name, "namespace": namespace, "labels": labels, **metadata}}
        self.api.create(obj)
        self.made.append(obj)
        self.api.patch(object_path(obj, "status"), {"status": status}, "strategic")
        return obj

    def clear(self) -> None:
        for obj in self.made:
            status, answer = self.api.raw("DELETE", object_path(obj) + "?gracePeriodSeconds=0")
            assert status in (200, 404), answer  # a drain may have evicted it
        self.made.clear()

    def config(self, user: str | None) -> Path:
        return self.cluster.kubeconfig(user=user, groups=[]) if user else self.cluster.admin

    def slipway(self, *arguments: str, code: int = DONE, user: str | None = None, timeout: float = 120) -> subprocess.CompletedProcess:
        done = self.ctx.run(self.ctx.slipway, *arguments, kubeconfig=self.config(user), timeout=timeout)
        assert done.returncode == code, f"{' '.join(arguments)}: status {done.returncode}, not {code}\n{done.stdout}-- stderr:\n{done.stderr}"
        return done

    def run(self, *arguments: str, code: int = DONE, user: str | None = None) -> subprocess.CompletedProcess:
        return self.slipway("checks", *arguments, code=code, user=user)

    def ask(self, *arguments: str, code: int = DONE, **options: str | None) -> dict:
        return json.loads(self.run(*arguments, "-o", "json", code=code, **options).stdout)

    def expect(self, check: str, arguments: str, code: int, *wanted: str) -> list[dict]:
        """Findings of this check, as "verdict code node before", and no others of it."""
        items = [i for i in self.ask(*arguments.split(), code=code)["items"] if i["check"] == check]
        found = [" ".join([i["verdict"], i.get("code", "-"), i["node"], ",".join(i["before"])]) for i in items]
        assert sorted(found) == sorted(wanted), f"{check} {arguments}: {json.dumps(items, indent=1)}"
        for item in items:
            assert item["message"] and (item["verdict"] == "pass") != ("hint" in item and "overWhen" in item), item
        return items

    # -- drains ------------------------------------------------------------------------------------------------------

    def drain(self, *arguments: str, code: int = DONE, user: str | None = None) -> subprocess.CompletedProcess:
        """Of pods without controllers, which are gone at once."""
        return self.slipway("drain", *arguments, *AT_ONCE, code=code, user=user)

    def blocked(self, evidence: str, *arguments: str, user: str | None = None) -> subprocess.CompletedProcess:
        """A drain that ends blocked by its timeout and says why.  One whose time was over before it had read everything, on a busy
        machine, is tried again with more."""
        for seconds in (1, 5, 20, 60):
            words = [*arguments, f"--timeout={seconds}s", *AT_ONCE]
            done = self.ctx.run(self.ctx.slipway, "drain", *words, kubeconfig=self.config(user))
            late = f"no answer within {seconds}s" in done.stderr  # not even the first reads were over
            if done.returncode != BLOCKED and not late:
                break
            if evidence in done.stdout + done.stderr:
                return done
        raise AssertionError(f"{' '.join(words)}: status {done.returncode}, no {evidence!r}\n{done.stdout}-- stderr:\n{done.stderr}")

    def begin(self, *arguments: str, user: str | None = None) -> Child:
        return self.ctx.spawn(self.ctx.slipway, "drain", *arguments, *AT_ONCE, kubeconfig=self.config(user))

    def hears(self, child: Child, text: str, timeout: float = 60) -> None:
        """Waits until it has been said, on either stream."""
        def said() -> bool:
            running = child.running
            if any(text in line for line in list(child.out) + list(child.err)):
                return True
            assert running, f"{child.name}: ended with {child.process.returncode} and has not said {text!r}:\n" + \
                "\n".join(child.out + ["-- stderr:"] + child.err)
            return False
        self.ctx.wait_for(said, timeout, f"{text!r} to be said", interval=0.05)

    def ends(self, child: Child, code: int = DONE, timeout: float = 120) -> str:
        status = child.end(timeout, None)
        said = "\n".join(child.out + ["-- stderr:"] + child.err)
        assert status == code, f"{child.name}: status {status}, not {code}\n{said}"
        return said

    def node(self, name: str) -> dict:
        return self.api.get(f"/api/v1/nodes/{name}")

    def untouched(self, name: str, pods: int | None = None) -> None:
        """It is not cordoned, nobody holds it, and its pods are there."""
        node = self.node(name)
        assert not node["spec"].get("unschedulable") and "slipway.dev/cordon" not in node["metadata"].get("annotations", {}), node
        if pods is not None:
            there = [p["metadata"]["name"] for p in self.pods_on(name)]
            assert len(there) == pods, there

    def cordoned(self, name: str) -> bool:
        return bool(self.node(name)["spec"].get("unschedulable"))

    def pods_on(self, name: str) -> list[dict]:
        return [p for p in self.api.items("/api/v1/pods") if p["spec"].get("nodeName") == name and "deletionTimestamp" not in p["metadata"]]

    def events(self, reason: str) -> list[dict]:
        return [e for e in self.api.items("/api/v1/events") if e["reason"] == reason]

    def back(self, *names: str) -> None:
        self.slipway("uncordon", *(names or self.nodes))
