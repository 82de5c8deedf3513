"""A real Kubernetes control plane on loopback: etcd, kube-apiserver(s), controller-manager, scheduler and kwok.

    with Cluster(apiservers=2) as cluster:
        cluster.add_nodes(3)
        print(cluster.kubectl("get", "nodes"))
        cluster["kube-apiserver-2"].pause()

Everything lives in one temporary directory: keys, kubeconfigs, etcd's data, and logs/, which keep_logs() leaves behind.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import shutil
import ssl
import subprocess
import tempfile
import uuid
from datetime import datetime, timezone
from pathlib import Path

import pki
from api import Api, ApiError, object_path
from audit import POLICY, Audit
from binaries import Binaries
from process import ClusterError, Component, Died, free_ports, wait_for

STAGES = Path(__file__).resolve().parent / "stages"
KWOK_ANNOTATION = "kwok.x-k8s.io/node"
SERVER = "kube-apiserver"


class Cluster:
    """
    apiservers        how many kube-apiservers share the one etcd
    controllers       start kube-controller-manager and kube-scheduler
    kwok              start kwok, which plays the kubelets of the nodes that add_nodes() makes
    pod_ready_ms      bounds between which the time a pod needs to become ready is drawn
    pod_gone_ms       the same for the time from a pod's deletion to its end
    apiserver_flags   further flags of every kube-apiserver; or a list of lists, one for each
    etcd_flags        further flags of etcd
    cache             False: the server asks etcd for everything and remembers nothing itself
    node_grace        seconds after which a node that is not heard of is given up; None: Kubernetes' own
    audit_policy      what the audit logs hold
    """

    def __init__(self, apiservers: int = 1, controllers: bool = True, kwok: bool = True,
                 pod_ready_ms: tuple[int, int] = (0, 0), pod_gone_ms: tuple[int, int] = (0, 0),
                 apiserver_flags: list = [], etcd_flags: list[str] = [], cache: bool = True, node_grace: int | None = None,
                 binaries: Binaries | None = None, audit_policy: str = POLICY) -> None:
        self.audit_policy = audit_policy
        self.binaries = binaries or Binaries()
        self.dir = Path(tempfile.mkdtemp(prefix="slipway-cluster-"))
        self.logs = self.dir / "logs"
        self.logs.mkdir()
        self.with_controllers, self.with_kwok = controllers, kwok
        self.pod_ready_ms, self.pod_gone_ms = pod_ready_ms, pod_gone_ms
        each = bool(apiserver_flags) and isinstance(apiserver_flags[0], (list, tuple))
        more = [] if cache else ["--watch-cache=false"]
        self.apiserver_flags = [[*flags, *more] for flags in (apiserver_flags if each else [apiserver_flags] * apiservers)]
        self.etcd_flags = list(etcd_flags)
        self.node_grace = node_grace
        self.components: dict[str, Component] = {}
        self.server_names = [SERVER] + [f"{SERVER}-{i}" for i in range(2, apiservers + 1)]
        self._etcd_port, self._peer_port, *self._spare_ports = free_ports(apiservers + 5)
        self.ports = [self._spare_ports.pop() for _ in self.server_names]
        self._kubeconfigs = 0
        self._kept = False

    # -- life ---------------------------------------------------------------------------------------------------

    def start(self) -> "Cluster":
        try:
            self._make_keys()
            self._add_etcd()
            for index in range(len(self.server_names)):
                self._add_apiserver(index)
            if self.with_controllers:
                self._add_controllers()
            if self.with_kwok:
                self._add_kwok()
            self["etcd"].start()
            for name in self.server_names:  # the first one alone writes what every cluster begins with
                self[name].start()
            others = [c for n, c in self.components.items() if n != "etcd" and n not in self.server_names]
            for component in others:
                component.spawn()
            for component in others:
                component.wait_ready()
            wait_for(self._usable, 60, "the default service account")
        except (ClusterError, Died):
            self.keep_logs()
            raise
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Kills everything (nothing is worth a goodbye) and removes the directory, but for the logs if kept."""
        for component in reversed(list(self.components.values())):
            if component.running:
                component.process.kill()
        for component in self.components.values():
            component.kill()
        if not self._kept:
            shutil.rmtree(self.dir, ignore_errors=True)
        elif self.dir.exists():
            for path in self.dir.iterdir():
                if path != self.logs:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def keep_logs(self) -> Path:
        """Makes stop() leave the logs behind; returns where."""
        self._kept = True
        return self.logs

    def __enter__(self) -> "Cluster":
        return self.start()

    def __exit__(self, kind, *_rest) -> None:
        if kind is not None and issubclass(kind, Exception):
            print(f"# logs: {self.keep_logs()}", flush=True)
        self.stop()

    def __getitem__(self, name: str) -> Component:
        return self.components[name]

    def _usable(self) -> bool:
        if not self.with_controllers:
            return True
        try:
            self.api.get("/api/v1/namespaces/default/serviceaccounts/default")
        except ApiError as error:
            if error.code != 404:
                raise
            return False
        return True

    # -- parts --------------------------------------------------------------------------------------------------

    def _make_keys(self) -> None:
        self.authority = pki.Authority(self.dir / "pki")
        self.ca = self.authority.cert
        names = ["IP:127.0.0.1", "DNS:localhost", "DNS:kubernetes.default.svc", "IP:10.0.0.1"]
        self._server_cert, self._server_key = self.authority.issue(SERVER, hosts=names)
        self._sa_key, self._sa_public = self.dir / "pki/sa.key", self.dir / "pki/sa.pub"
        pki.key_pair(self._sa_key, self._sa_public)
        self._admin_cert = self.authority.issue("admin", ["system:masters"])
        self.admin = self.kubeconfig_from("admin", self._admin_cert)
        self._apis = [Api(port, self.ca, *self._admin_cert) for port in self.ports]

    def _add(self, name: str, program: str, flags: list[str], ready) -> None:
        argv = [self.binaries.path(program), *flags]
        self.components[name] = Component(name, argv, self.logs / f"{name}.log", ready)

    def _add_etcd(self) -> None:
        client, peer = f"http://127.0.0.1:{self._etcd_port}", f"http://127.0.0.1:{self._peer_port}"
        flags = [f"--data-dir={self.dir / 'etcd'}", f"--listen-client-urls={client}",
                 f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}",
                 f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}",
                 "--unsafe-no-fsync", "--log-level=warn", *self.etcd_flags]
        self._add("etcd", "etcd", flags, lambda: "true" in str(self.etcd("/health", None).get("health")))

    def _add_apiserver(self, index: int) -> None:
        policy = self.dir / "audit-policy.yaml"
        policy.write_text(self.audit_policy)
        name, port = self.server_names[index], self.ports[index]
        flags = [f"--etcd-servers=http://127.0.0.1:{self._etcd_port}", f"--secure-port={port}",
                 "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
                 f"--tls-cert-file={self._server_cert}", f"--tls-private-key-file={self._server_key}",
                 f"--client-ca-file={self.ca}", "--service-account-issuer=https://kubernetes.default.svc",
                 f"--service-account-key-file={self._sa_public}",
                 f"--service-account-signing-key-file={self._sa_key}", "--service-cluster-ip-range=10.0.0.0/24",
                 "--authorization-mode=Node,RBAC", "--endpoint-reconciler-type=none", "--allow-privileged=true",
                 f"--audit-policy-file={policy}", f"--audit-log-path={self._audit_log(index)}",
                 "--audit-log-maxsize=4096", *self.apiserver_flags[index]]
        self._add(name, SERVER, flags, lambda: self._apis[index].raw("GET", "/readyz", timeout=5)[0] == 200)

    def _add_controllers(self) -> None:
        for name in ("kube-controller-manager", "kube-scheduler"):
            port = self._spare_ports.pop()
            config = self.kubeconfig_from(name, self.authority.issue(f"system:{name}"))
            flags = [f"--kubeconfig={config}", f"--authentication-kubeconfig={config}",
                     f"--authorization-kubeconfig={config}", "--leader-elect=false", f"--secure-port={port}",
                     "--bind-address=127.0.0.1", f"--cert-dir={self.dir / name}", "--kube-api-qps=500",
                     "--kube-api-burst=1000"]
            if name == "kube-controller-manager":
                flags += ["--use-service-account-credentials=true",
                          f"--service-account-private-key-file={self._sa_key}", f"--root-ca-file={self.ca}"]
                if self.node_grace is not None:
                    flags += [f"--node-monitor-grace-period={self.node_grace}s",
                              f"--node-startup-grace-period={self.node_grace}s", "--node-monitor-period=500ms"]
            self._add(name, name, flags, lambda port=port: self._healthy(port))

    def _healthy(self, port: int) -> bool:
        """/healthz of a component with a self-signed certificate of its own."""
        context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=context)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        finally:
            connection.close()

    def _add_kwok(self) -> None:
        port = self._spare_ports.pop()
        config = self.kubeconfig_from("kwok", self.authority.issue("kwok", ["system:masters"]))
        values = {"READY_MIN_MS": self.pod_ready_ms[0], "READY_MAX_MS": self.pod_ready_ms[1],
                  "GONE_MIN_MS": self.pod_gone_ms[0], "GONE_MAX_MS": self.pod_gone_ms[1]}
        text = "---\n".join(path.read_text() for path in sorted(STAGES.glob("*.yaml")))
        for key, value in values.items():
            text = text.replace(f"@{key}@", str(value))
        stages = self.dir / "stages.yaml"
        stages.write_text(text)
        # It renews leases four times as often as that: a node that is given up sooner must be heard of more often.
        lease = 40 if self.node_grace is None else max(4, self.node_grace // 3)
        flags = [f"--kubeconfig={config}", "--manage-all-nodes=false",
                 f"--manage-nodes-with-annotation-selector={KWOK_ANNOTATION}=fake",
                 f"--server-address=127.0.0.1:{port}", f"--node-lease-duration-seconds={lease}", f"--config={stages}"]
        self._add("kwok", "kwok", flags, lambda: self._plain_ok(port, "/healthz"))

    @staticmethod
    def _plain_ok(port: int, path: str) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        finally:
            connection.close()

    # -- clients ------------------------------------------------------------------------------------------------

    @property
    def api(self) -> Api:
        """The administrator's client of the first kube-apiserver."""
        return self._apis[0]

    def api_of(self, server: int) -> Api:
        return self._apis[server]

    def server(self, index: int = 0) -> str:
        return f"https://127.0.0.1:{self.ports[index]}"

    def kubeconfig_from(self, name: str, pair: tuple[Path, Path], server: int = 0, inline: bool = True) -> Path:
        user = {"client-certificate": pair[0], "client-key": pair[1]}
        return pki.write_kubeconfig(self.dir / f"{name}.kubeconfig", self.server(server), self.ca, user, inline)

    def kubeconfig(self, user: str | None = None, groups: list[str] | tuple[str, ...] = (), token: str | None = None,
                   server: int = 0, inline: bool = True, **more: object) -> Path:
        """A new kubeconfig file: for a user with a client certificate, for a token, or with any user entry (more)."""
        entry: dict[str, object] = dict(more)
        if user is not None:
            entry["client-certificate"], entry["client-key"] = self.authority.issue(user, groups)
        if token is not None:
            entry["token"] = token
        if not entry:
            entry["client-certificate"], entry["client-key"] = self._admin_cert
        self._kubeconfigs += 1
        path = self.dir / f"user-{self._kubeconfigs}.kubeconfig"
        return pki.write_kubeconfig(path, self.server(server), self.ca, entry, inline)

    def token(self, service_account: str, namespace: str = "default", seconds: int = 3600) -> str:
        """A token of a service account; the account is made if there is none."""
        account = {"apiVersion": "v1", "kind": "ServiceAccount",
                   "metadata": {"name": service_account, "namespace": namespace}}
        try:
            self.api.create(account)
        except ApiError as error:
            if error.code != 409:
                raise
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{service_account}/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                   "spec": {"expirationSeconds": seconds}}
        return self.api.call("POST", path, request)["status"]["token"]

    def allow(self, user: str, role: str = "cluster-admin") -> None:
        """Binds a user ('ns:name' is a service account) to a ClusterRole."""
        namespace, _, name = user.rpartition(":")
        subject = ({"kind": "ServiceAccount", "namespace": namespace, "name": name} if namespace else
                   {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name})
        self.api.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                         "metadata": {"name": f"test-{uuid.uuid4().hex[:8]}"}, "subjects": [subject],
                         "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}})
        self.wait_allowed(f"system:serviceaccount:{namespace}:{name}" if namespace else name, role)

    def wait_allowed(self, user: str, role: str) -> None:
        """Waits until every server knows that a user has a ClusterRole: each has it from a watch of its own."""
        rule = next(r for r in self.api.get(f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{role}")["rules"] if r.get("resources"))
        resource, _, subresource = rule["resources"][0].partition("/")
        asked = {"verb": rule["verbs"][0], "group": rule["apiGroups"][0], "resource": resource, "subresource": subresource,
                 "name": rule.get("resourceNames", [""])[0]}
        for server in range(len(self._apis)):
            wait_for(lambda: self.may(user, server, **asked), 60, f"{role} of {user} to be in force", interval=0.02)

    def may(self, user: str, server: int = 0, **attributes: str) -> bool:
        """What a server says to a review of a user's access; attributes: verb, group, resource, namespace and so on."""
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                  "spec": {"user": user, "resourceAttributes": attributes}}
        return self._apis[server].call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]

    def kubectl(self, *arguments: str, input: str | dict | list | None = None, kubeconfig: Path | None = None,
                timeout: float = 180) -> str:
        """kubectl's output; ClusterError with its stderr if it fails.  A dict or list is given to it as JSON."""
        if isinstance(input, list):
            input = {"apiVersion": "v1", "kind": "List", "items": input}
        text = json.dumps(input) if isinstance(input, dict) else input
        env = {**os.environ, "KUBECONFIG": str(kubeconfig or self.admin), "HOME": str(self.dir)}
        done = subprocess.run([self.binaries.path("kubectl"), *arguments], input=text, env=env, text=True,
                              stdin=None if text is not None else subprocess.DEVNULL, capture_output=True,
                              timeout=timeout)
        if done.returncode != 0:
            raise ClusterError(f"kubectl {' '.join(arguments)}: status {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    # -- content ------------------------------------------------------------------------------------------------

    def add_nodes(self, count: int, prefix: str = "node", labels: dict[str, str] = {},
                  zones: list[str] | tuple[str, ...] = ("a", "b", "c"), taints: list[dict] = [],
                  annotations: dict[str, str] = {}, cpu: str = "16", memory: str = "64Gi", pods: int = 110,
                  first: int = 0, wait: bool = True) -> list[str]:
        """Fake nodes that kwok keeps Ready, spread over the zones; returns their names when all are schedulable."""
        nodes = [fake_node(f"{prefix}-{first + i}", first + i, zones[i % len(zones)] if zones else None, labels, taints,
                           annotations, {"cpu": cpu, "memory": memory, "ephemeral-storage": "200Gi", "pods": str(pods)})
                 for i in range(count)]
        self.api.bulk(nodes, workers=8)
        names = [node["metadata"]["name"] for node in nodes]
        if wait and self.with_kwok:
            wait_for(lambda: self.nodes_ready(names), 30 + count / 20, f"{count} nodes to be ready", interval=0.2)
        return names

    @staticmethod
    def pod_timing(ready: str | None = None, gone: str | None = None, finish: str | None = None) -> dict[str, str]:
        """Annotations that tell the fake kubelet when a pod becomes ready, is gone after its deletion, ends well ("3s")."""
        given = {"ready-after": ready, "gone-after": gone, "finish-after": finish}
        return {f"slipway.dev/test-{key}": value for key, value in given.items() if value is not None}

    def forgotten_version(self) -> str:
        """A resourceVersion that etcd has forgotten; a server with a cache may remember it for a while."""
        revision = self.etcd_revision()
        for _ in range(2):
            self.api.create({"apiVersion": "v1", "kind": "ConfigMap",
                             "metadata": {"generateName": "later-", "namespace": "default"}})
        self.compact()
        return str(revision)

    def add_ghost(self, name: str) -> None:
        """A node that no kubelet has ever played."""
        self.api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})

    def leave(self, node: str) -> None:
        """The node's kubelet falls silent: no status, no lease, nothing done to its pods."""
        self.api.patch(f"/api/v1/nodes/{node}", {"metadata": {"annotations": {KWOK_ANNOTATION: None}}})
        # A lease that it has taken once kwok goes on to renew, unless another holds it.
        lease, now = self._lease(node), datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        wait_for(lambda: self.api.raw("GET", lease)[0] == 200, 60, f"the lease of {node}")
        self.api.patch(lease, {"spec": {"holderIdentity": "nobody", "leaseDurationSeconds": 86400, "renewTime": now}})

    def come_back(self, node: str) -> None:
        """It is heard of again."""
        self.api.patch(self._lease(node), {"spec": {"holderIdentity": None, "leaseDurationSeconds": 1}})
        self.api.patch(f"/api/v1/nodes/{node}", {"metadata": {"annotations": {KWOK_ANNOTATION: "fake"}}})

    @staticmethod
    def _lease(node: str) -> str:
        return f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{node}"

    def nodes_ready(self, names: list[str]) -> bool:
        wanted = set(names)
        for node in self.api.items("/api/v1/nodes"):
            ready = any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))
            held = any(t["key"] == "node.kubernetes.io/not-ready" for t in node["spec"].get("taints", []))
            if ready and not (held and self.with_controllers):
                wanted.discard(node["metadata"]["name"])
        return not wanted

    def wait_scheduler(self, nodes: list[str]) -> None:
        """Waits until the scheduler places nothing on any of these nodes, which somebody has cordoned, tainted or deleted.

        It hears of nodes and of pods by different watches: for a moment it may put a new pod on a node that the server knows to be
        closed.  A pod that wants one of them is made until it refuses one.
        """
        if not self.with_controllers:
            return
        terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": nodes}]}]
        asks = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "asks-the-scheduler-", "namespace": "default"}, "spec": {
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}},
            "containers": [{"name": "main", "image": "registry.test/app:1"}]}}

        def refused() -> bool:
            path = object_path(self.api.create(asks))
            try:
                return wait_for(lambda: answer(self.api.get(path)), 60, "the scheduler's word", interval=0.02) == "no"
            finally:
                self.api.delete(path, {"gracePeriodSeconds": 0})

        def answer(pod: dict) -> str | None:
            said = [c["status"] for c in pod["status"].get("conditions", []) if c["type"] == "PodScheduled"]
            return "yes" if pod["spec"].get("nodeName") else "no" if said == ["False"] else None

        wait_for(refused, 60, f"the scheduler to leave {', '.join(nodes)} alone")

    def fill(self, nodes: list[str]) -> None:
        """Nothing more is placed on these nodes, by a taint of their own.

        Before a drain by kubectl: a scheduler that hears of its cordon late puts a pod back on the node, for which kubectl does not look.
        """
        for node in nodes:
            self.api.patch(f"/api/v1/nodes/{node}", {"spec": {"taints": [{"key": "slipway.dev/test-full", "effect": "NoSchedule"}]}})
        self.wait_scheduler(nodes)

    def remove_nodes(self, names: list[str], selector: str) -> None:
        """Deletes the nodes of a selector, and waits until the scheduler has heard of it: pods of a later test are not for them."""
        self.api.delete(f"/api/v1/nodes?labelSelector={selector}")
        self.wait_scheduler(names)

    # -- underneath ---------------------------------------------------------------------------------------------

    @property
    def audit(self) -> Audit:
        return Audit([self._audit_log(i) for i in range(len(self.server_names))])

    def _audit_log(self, index: int) -> Path:
        return self.logs / f"{self.server_names[index]}-audit.log"

    def etcd(self, path: str, body: dict | None) -> dict:
        """One call of etcd's JSON gateway: POST of body, or GET when there is none."""
        connection = http.client.HTTPConnection("127.0.0.1", self._etcd_port, timeout=60)
        try:
            data = None if body is None else json.dumps(body)
            connection.request("GET" if body is None else "POST", path, data, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise ClusterError(f"etcd {path}: {answer.status} {text[:300]!r}")
            return json.loads(text)
        finally:
            connection.close()

    @property
    def etcd_url(self) -> str:
        return f"http://127.0.0.1:{self._etcd_port}"

    def etcd_revision(self) -> int:
        key = base64.b64encode(b"/").decode()
        return int(self.etcd("/v3/kv/range", {"key": key})["header"]["revision"])

    def compact(self, revision: int | None = None) -> int:
        """Compacts etcd's history up to now (or up to a revision); resourceVersions before it are gone."""
        revision = revision or self.etcd_revision()
        self.etcd("/v3/kv/compaction", {"revision": str(revision), "physical": True})
        return revision


def fake_node(name: str, number: int, zone: str | None, labels: dict, taints: list, annotations: dict,
              capacity: dict) -> dict:
    own = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    if zone:
        own |= {"topology.kubernetes.io/zone": zone, "topology.kubernetes.io/region": "test"}
    address = f"10.{128 + number // 62500}.{number // 250 % 250}.{number % 250 + 1}"
    info = {"machineID": uuid.uuid4().hex, "systemUUID": str(uuid.uuid4()), "bootID": str(uuid.uuid4()),
            "kernelVersion": "6.1.0-28-amd64", "osImage": "Debian GNU/Linux 12 (bookworm)",
            "containerRuntimeVersion": "containerd://2.1.5", "kubeletVersion": "v1.36.3", "kubeProxyVersion": "",
            "operatingSystem": "linux", "architecture": "amd64"}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": own | labels, "annotations": {KWOK_ANNOTATION: "fake"} | annotations},
            "spec": {"taints": taints} if taints else {},
            "status": {"capacity": capacity, "allocatable": capacity, "nodeInfo": info,
                       "addresses": [{"type": "InternalIP", "address": address},
                                     {"type": "Hostname", "address": name}]}}
