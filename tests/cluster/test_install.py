"""The installation as it is written down: applied to a real API server, and the controller run as exactly the account that it makes.

What the account may do is what the controller does: a request that is refused fails the test, and so does a permission that nobody used.
"""

from __future__ import annotations

import itertools
import json
import re
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator

import checks_site
from api import object_path
from context import Child, Context, limit
from crds import DEFINITIONS, crd
from fleetlock_client import Machine
from objects import budget, deployment, pod_template
from test_auth import Account

RBAC = "/apis/rbac.authorization.k8s.io/v1"
SEED, OWN = ("reboot-manager", "reboot-manager", "reboot-manager"), ("slipway", "slipway-system", "slipway-controller")


# Critical pods only where a quota permits them, as some providers have it.
STRICT = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": [
    {"name": "ResourceQuota", "configuration": {
        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "ResourceQuotaConfiguration", "limitedResources": [
            {"resource": "pods", "matchScopes": [
                {"scopeName": "PriorityClass", "operator": "In", "values": ["system-cluster-critical"]}]}]}}]}


class Site:
    """A cluster of its own, with one of the two forms installed, and servers that are as hard to please as any.  One of them has no
    streamed lists, so that both ways to read a collection are taken."""

    def __init__(self, ctx: Context, form: tuple[str, str, str]) -> None:
        self.ctx = ctx
        self.form, self.ns, self.name = form
        strict = ctx.tmp / "admission.json"
        strict.write_text(json.dumps(STRICT))
        flags = [f"--admission-control-config-file={strict}"]
        self.cluster = ctx.private_cluster(apiservers=2, apiserver_flags=[flags, [*flags, "--feature-gates=WatchList=false"]])
        self.api = self.cluster.api
        self.user = f"system:serviceaccount:{self.ns}:{self.name}"
        self.machines = [Machine(self.api, name) for name in self.cluster.add_nodes(3)]
        self.objects = self.printed("--form", self.form)

    def printed(self, *flags: str) -> list[dict]:
        done = self.ctx.run(self.ctx.slipway, "install", "--dry-run=client", "-o", "json", *flags, check=True)
        return json.loads(done.stdout)["items"]

    def apply(self) -> None:
        self.cluster.kubectl("apply", "-f", "-", input=self.objects)
        path = f"/apis/apps/v1/namespaces/{self.ns}/deployments/{self.name}"
        self.ctx.wait_for(lambda: self.api.get(path).get("status", {}).get("readyReplicas") == 2, 60,
                          "the pods, which the namespace must let in")
        for rule, server in itertools.product(self.rules(), range(2)):
            for verb in rule["verbs"]:
                self.ctx.wait_for(lambda: self.may(rule, verb, server), 60, f"{rule} to be in force", interval=0.02)

    def rules(self) -> Iterator[dict]:
        """Of all roles: each with the namespace in which it holds, "" for all."""
        for role in (o for o in self.objects if o["kind"] in ("ClusterRole", "Role")):
            for rule in role["rules"]:
                yield rule | {"namespace": role["metadata"].get("namespace", "")}

    def may(self, rule: dict, verb: str, server: int) -> bool:
        resource, _, subresource = rule["resources"][0].partition("/")
        return self.cluster.may(self.user, server, verb=verb, group=rule["apiGroups"][0], resource=resource, subresource=subresource,
                                namespace=rule["namespace"], name=rule.get("resourceNames", [""])[0])

    def words(self) -> list[str]:
        """How the Deployment has it started, but for the addresses."""
        container = next(o for o in self.objects if o["kind"] == "Deployment")["spec"]["template"]["spec"]["containers"][0]
        return [re.sub(r"=:\d+$", "=127.0.0.1:0", word) for word in container["command"][1:] + container["args"]]

    def addresses(self, child: Child) -> tuple[str, str]:
        found = self.ctx.wait_for(lambda: re.search(r"FleetLock at ([\d.:]+), health at ([\d.:]+)", "\n".join(child.err)), 30,
                                  "FleetLock to be served")
        return f"http://{found[1]}", f"http://{found[2]}"

    def controller(self, server: int) -> tuple[Child, str]:
        config = self.cluster.kubeconfig(token=self.cluster.token(self.name, self.ns), server=server)
        child = self.ctx.spawn(self.ctx.slipway, *self.words(), "--namespace", self.ns, kubeconfig=config)
        return child, self.addresses(child)[0]

    def furnish(self) -> None:
        """Something of every sort: replicas, a set, pods that stay and have a volume, and that volume on every node."""
        labels, ns = {"app": "agent"}, "default"
        claim = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
        agent = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "namespace": ns},
                 "spec": {"selector": {"matchLabels": labels}, "template": pod_template(labels, volumes=[claim])}}
        db = deployment("db", ns, 3)
        db |= {"kind": "StatefulSet"}
        db["spec"]["serviceName"] = "db"
        self.api.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteMany"], "capacity": {"storage": "1Gi"}, "storageClassName": "none",
            "nfs": {"server": "127.0.0.1", "path": "/"}}})
        self.api.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": ns}, "spec": {
            "accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "none",
            "volumeName": "data"}})
        for made in (agent, db, deployment("web", ns, 6)):
            self.api.create(made)
        self.api.create(budget("web", ns, {"app": "web"}, maxUnavailable=2))
        for machine in self.machines:
            made = self.api.create({
                "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": f"data-{machine.name}"},
                "spec": {"attacher": "test", "nodeName": machine.name, "source": {"persistentVolumeName": "data"}}})
            self.api.patch(object_path(made, "status"), {"status": {"attached": True}})
        self.ctx.wait_for(lambda: self.ready() == 12, 90, "all pods to be ready")

    def systems(self) -> None:
        """The kinds of the storage systems, databases and quorums that the checks read."""
        kinds = [*checks_site.ALL, ("operator.etcd.io", "v1alpha1", "EtcdMember")]
        for group, version, kind in kinds:
            self.api.call("POST", DEFINITIONS, crd(self.ctx, kind, group=group, version={"name": version}))
        for group, version, kind in kinds:
            path = f"/apis/{group}/{version}/{kind.lower()}s"
            self.ctx.wait_for(lambda path=path: self.api.raw("GET", path)[0] == 200, 60, f"{path} to be served")

    def tie(self, node: str) -> None:
        """A pod whose data is on that node, so that it can run nowhere else."""
        self.api.patch(f"/api/v1/nodes/{node}", {"metadata": {"labels": {"kubernetes.io/hostname": node}}})
        where = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
        self.api.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "storageClassName": "none", "local": {"path": "/data"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [where]}]}}}})
        self.api.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "disk", "namespace": "default"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "none",
            "volumeName": "disk"}})
        volume = {"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}
        self.api.create(deployment("tied", "default", 1, volumes=[volume]))

    def unused(self) -> list[str]:
        requests = self.asked()
        return [f"{verb} {rule['apiGroups'][0]}/{rule['resources'][0]} in {rule['namespace'] or 'all'}"
                for rule in self.rules() for verb in rule["verbs"] if not any(permits(rule, verb, e) for e in requests)]

    def ready(self) -> int:
        return sum(any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))
                   for pod in self.api.get("/api/v1/namespaces/default/pods")["items"])

    def reboot(self, machine: Machine, base: str, quiet: bool = False) -> None:
        """quiet: what its kubelet says of its conditions is old, and only its Lease tells that it is up."""
        self.ctx.wait_for(lambda: machine.pre_reboot(base)[0] == 200, 120, "the grant")
        if quiet:
            self.cluster.leave(machine.name)
            self.api.patch(machine.path + "/status", {"status": {"nodeInfo": {"bootID": "another"}}})
            self.ctx.wait_for(lambda: any(e["objectRef"].get("namespace") == "kube-node-lease" for e in self.asked()
                                          if e.get("objectRef")), 60, "its Lease to be read")
            self.cluster.come_back(machine.name)
        else:
            machine.boots()
        self.ctx.wait_for(lambda: machine.steady_state(base)[0] == 200, 60, "the report to be taken")
        self.ctx.wait_for(lambda: machine.mark == "Ready" and not machine.cordoned, 60, "the node to be in service")

    def spoil_certificates(self) -> None:
        """What there is cannot be read: it is made anew, in the same Secrets."""
        for name in ("slipway-fleetlock-ca", "slipway-fleetlock-tls"):
            path = f"/api/v1/namespaces/{self.ns}/secrets/{name}"
            self.ctx.wait_for(lambda: self.api.raw("GET", path)[0] == 200, 60, f"Secret {name}")
            self.api.patch(path, {"data": {"tls.crt": "eA=="}})

    def https(self, child: Child) -> None:
        self.ctx.wait_for(lambda: any("FleetLock over HTTPS at" in line for line in child.err), 60, "HTTPS to be served")
        url = self.addresses(child)[1] + "/readyz"
        self.ctx.wait_for(lambda: b"[+]https ok\n" in self.ready_lines(url), 60, "readyz to say so")

    @staticmethod
    def ready_lines(url: str) -> bytes:
        """Whatever the status is: something else may not be ready yet."""
        try:
            with urllib.request.urlopen(url, timeout=10) as reply:
                return reply.read()
        except urllib.error.HTTPError as error:
            return error.read()

    def repeat(self, leader: Child) -> None:
        """What happens twice is one Event that is counted: another manager comes, goes, and comes again."""
        metrics = self.addresses(leader)[1] + "/metrics"
        mark, machine = "weave.works/kured-reboot-in-progress", self.machines[0]
        path = f"/api/v1/namespaces/default/events?fieldSelector=involvedObject.name={machine.name},reason=RivalAtWork"
        for count in (1, 2):
            self.api.patch(machine.path, {"metadata": {"annotations": {mark: "now"}}})
            self.ctx.wait_for(lambda count=count: [e["count"] for e in self.api.get(path)["items"]] == [count], 60, f"Event {count}")
            self.api.patch(machine.path, {"metadata": {"annotations": {mark: None}}})
            self.ctx.wait_for(lambda: b"kured" not in urllib.request.urlopen(metrics, timeout=10).read(), 60, "it to be gone")

    def asked(self) -> list[dict]:
        return list(self.cluster.audit.requests(user=self.user, agent="slipway/"))

    def judge(self) -> None:
        """Nothing was refused for want of a permission, and every permission was used."""
        refused = {(e["verb"], e["requestURI"]) for e in self.asked() if e.get("responseStatus", {}).get("code") == 403}
        assert not refused, refused
        unused = self.unused()
        assert not unused, f"nobody needs: {unused}"


def permits(rule: dict, verb: str, event: dict) -> bool:
    ref = event.get("objectRef", {})
    resource = "/".join(filter(None, [ref.get("resource"), ref.get("subresource")]))
    return (event["verb"] == verb and [ref.get("apiGroup", "")] == rule["apiGroups"] and [resource] == rule["resources"]
            and rule["namespace"] in ("", ref.get("namespace")) and ref.get("name") in rule.get("resourceNames", [ref.get("name")]))


def check_flows(ctx: Context, site: Site) -> None:
    """The share of a busy server: its levels exist, and it is this account's requests that are counted there."""
    flows = site.printed("--part", "flow-schema")
    site.cluster.kubectl("apply", "-f", "-", input=flows)
    base = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/"
    uids = {}
    for flow in flows:
        name = flow["metadata"]["name"]
        ctx.wait_for(lambda: [c for c in site.api.get(base + name).get("status", {}).get("conditions", [])
                              if (c["type"], c["status"]) == ("Dangling", "False")], 60, f"{name} to be in force")
        uids[name] = site.api.get(base + name)["metadata"]["uid"]
    config = site.cluster.kubeconfig(token=site.cluster.token(site.name, site.ns))

    def counted_as(path: str) -> str:
        said = ctx.run(ctx.cluster_binaries.path("kubectl"), "get", "--raw", path, "-v=8", kubeconfig=config).stderr
        return re.search(r"X-Kubernetes-Pf-Flowschema-Uid[^\w]+([\w-]+)", said, re.I)[1]

    ctx.wait_for(lambda: counted_as("/api/v1/nodes") == uids[site.name], 60, "reads to be counted there")
    lease = f"/apis/coordination.k8s.io/v1/namespaces/{site.ns}/leases/slipway-controller"
    ctx.wait_for(lambda: counted_as(lease) == uids[f"{site.name}-leader-election"], 60, "the Lease to be counted there")


def policy(escalates: bool) -> dict:
    rule = {"name": "stubborn", "match": {"labels": {"matchLabels": {"app": "stubborn"}}}, "escalate": [{"after": "1s", "to": "delete"}]}
    return {"apiVersion": "slipway.dev/v1alpha1", "kind": "Policy", "metadata": {"name": "workers"}, "spec": {
        "nodeSelector": {}, "maxUnavailable": 1, "waitRescheduled": True, "fleetlock": {"groups": ["default"]},
        "drain": {"rules": [rule] if escalates else []}}}


def own_resources(ctx: Context, site: Site, leader: Child) -> None:
    """A Maintenance and a Rollout of the last node, as far as the account has to do something for them."""
    hold = {"apiVersion": "slipway.dev/v1alpha1", "kind": "Maintenance", "metadata": {"name": "hold"},
            "spec": {"node": site.machines[2].name, "operation": "Drain"}}
    site.cluster.kubectl("apply", "-f", "-", input=hold)
    ctx.wait_for(lambda: site.machines[2].cordoned, 60, "the maintenance to begin")
    site.cluster.kubectl("delete", "maintenance", "hold", "--timeout=120s")
    ctx.wait_for(lambda: not site.machines[2].cordoned, 60, "the node to be in service")
    # One that is taken away by force is looked for before its node is put back.
    site.cluster.kubectl("apply", "-f", "-", input=hold)
    ctx.wait_for(lambda: site.machines[2].cordoned, 60, "the maintenance to begin again")
    leader.process.send_signal(signal.SIGSTOP)  # it would write the finalizer again
    site.cluster.kubectl("patch", "maintenance", "hold", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    site.cluster.kubectl("delete", "maintenance", "hold")
    leader.process.send_signal(signal.SIGCONT)
    ctx.wait_for(lambda: not site.machines[2].cordoned, 60, "the node to be in service without it")
    roll = {"apiVersion": "slipway.dev/v1alpha1", "kind": "Rollout", "metadata": {"name": "roll"},
            "spec": {"nodes": [site.machines[2].name], "operation": "Drain"}}
    site.cluster.kubectl("apply", "-f", "-", input=roll)
    ctx.wait_for(lambda: site.machines[2].cordoned, 60, "the rollout to begin")
    site.cluster.kubectl("delete", "rollout", "roll", "--timeout=120s")
    ctx.wait_for(lambda: not site.machines[2].cordoned, 60, "the node to be in service again")


@limit(900)
def test_the_reboot_managers_form(ctx: Context) -> None:
    """Two replicas as its account, each at another server: both answer, nodes reboot one after the other.  Then somebody installs the definitions
    besides, and what they make possible is obeyed as well."""
    site = Site(ctx, SEED)
    site.apply()
    site.systems()
    site.furnish()
    site.tie(site.machines[0].name)
    (leader, one), (second, other) = site.controller(0), site.controller(1)
    ctx.wait_for(lambda: any("leads, in term" in line for line in leader.err), 30, "the first one to lead")
    site.repeat(leader)
    site.reboot(site.machines[0], one, quiet=True)
    site.reboot(site.machines[1], other)
    assert leader.end() == 0
    site.reboot(site.machines[2], other)
    site.cluster.kubectl("apply", "-f", "-", input=ctx.run(ctx.slipway, "export", "crds", check=True).stdout)
    site.cluster.kubectl("wait", "--for=condition=Established", "crd", "--all")
    site.spoil_certificates()
    later, third = site.controller(0)
    site.https(later)
    ctx.wait_for(lambda: any("the cluster is known" in line for line in later.err), 60, "the third one to know the cluster")
    assert second.end() == 0
    ctx.wait_for(lambda: any("leads, in term" in line for line in later.err), 60, "the third one to lead")
    site.cluster.kubectl("apply", "-f", "-", input=policy(escalates=False))
    site.cluster.kubectl("wait", "--for=condition=Ready", "policy", "workers", "--timeout=60s")
    site.reboot(site.machines[0], third)
    own_resources(ctx, site, later)
    # Only the one that leads reads what the checks go by: also on the server that has no streamed lists.
    site.controller(1)
    later.process.kill()
    ctx.wait_for(lambda: not site.unused(), 120, "every permission to be used")
    site.judge()


@limit(300)
def test_a_role_that_may_not_write_policies(ctx: Context) -> None:
    """As it was in an earlier version: nobody gets a slot of a Policy, and whoever asks is told why."""
    site = Site(ctx, SEED)
    own = next(o for o in site.objects if o["kind"] == "ClusterRole")
    own["rules"] = [r for r in own["rules"] if r["apiGroups"] != ["slipway.dev"] or "list" in r["verbs"]]
    site.apply()
    site.cluster.kubectl("apply", "-f", "-", input=ctx.run(ctx.slipway, "export", "crds", check=True).stdout)
    site.cluster.kubectl("wait", "--for=condition=Established", "crd", "--all")
    site.cluster.kubectl("apply", "-f", "-", input=policy(escalates=False))
    site.cluster.kubectl("apply", "-f", "-", input={
        "apiVersion": "slipway.dev/v1alpha1", "kind": "Maintenance", "metadata": {"name": "hold"},
        "spec": {"node": site.machines[2].name, "operation": "Drain"}})
    leader, base = site.controller(0)
    words = "the finalizer cannot be written: "
    ctx.wait_for(lambda: words in str(site.machines[0].pre_reboot(base)), 60, "the client to be told")
    code, answer = site.machines[0].pre_reboot(base)[:2]
    assert code == 404 and 'cannot patch resource "policies"' in str(answer).replace("\\", ""), answer
    for line in ("the finalizer of policy workers cannot be written, and nobody gets a slot of it: ", "Maintenance hold does not go on: "):
        ctx.wait_for(lambda line=line: any(line in said for said in leader.err), 60, f"the log to say: {line}")
    metrics = urllib.request.urlopen(site.addresses(leader)[1] + "/metrics", timeout=10).read()
    assert b'slipway_policy_usable{policy="workers"} 0\n' in metrics, metrics

    def told() -> str:  # a minute after it was made
        return " ".join(ctx.run(ctx.slipway, "status", kubeconfig=site.cluster.admin, check=True).stdout.split())
    ctx.wait_for(lambda: "Policy workers is not in force, and nobody gets a slot of it: it has no finalizer" in told(), 120, "status to say so")
    assert "install --dry-run=client -o yaml" in told(), told()


@limit(600)
def test_slipways_form(ctx: Context) -> None:
    """The same with a Policy that escalates and waits until pods run elsewhere, with a Maintenance and with a Rollout."""
    site = Site(ctx, OWN)
    site.apply()
    site.systems()
    site.furnish()
    site.tie(site.machines[0].name)
    site.api.create(deployment("stubborn", "default", 3))
    site.api.create(budget("stubborn", "default", {"app": "stubborn"}, minAvailable="100%"))
    site.cluster.kubectl("apply", "-f", "-", input=policy(escalates=True))
    ctx.wait_for(lambda: site.ready() == 16, 60, "the stubborn ones to be ready")
    check_flows(ctx, site)
    (leader, one), (_, other) = site.controller(0), site.controller(1)
    ctx.wait_for(lambda: any("leads, in term" in line for line in leader.err), 30, "the first one to lead")
    site.repeat(leader)
    site.reboot(site.machines[0], one, quiet=True)
    site.reboot(site.machines[1], other)
    own_resources(ctx, site, leader)
    site.spoil_certificates()
    site.https(site.controller(1)[0])
    # Only the one that leads reads what the checks go by: also on the server that has no streamed lists.
    leader.process.kill()
    ctx.wait_for(lambda: not site.unused(), 120, "every permission to be used")
    site.judge()


POD = """set -e
mount -t tmpfs none /run
mkdir -p /run/secrets/kubernetes.io/serviceaccount
mount --bind "$1" /run/secrets/kubernetes.io/serviceaccount
cp "$2" /run/slipway
mkdir /run/root
mount --rbind / /run/root
mount -o remount,bind,ro /run/root
mount -o remount,bind,ro /run/root/run
shift 2
exec chroot /run/root setpriv --reuid 65532 --regid 65532 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all /run/slipway "$@"
"""


@limit(300)
def test_as_the_pod_runs(ctx: Context) -> None:
    """Nobody in particular, without capabilities, with nothing to write to, and with what a pod is told of the cluster: that is enough."""
    site = Site(ctx, SEED)
    site.apply()
    account = Account(ctx.tmp / "account")
    account.write(token=site.cluster.token(site.name, site.ns), ca_crt=site.cluster.ca.read_text(), namespace="none")
    pod = ["unshare", "--mount", "sh", "-c", POD, "sh", str(account.directory), str(ctx.slipway)]
    if ctx.run(*pod, "version").returncode != 0:
        ctx.skip("only root can make what a pod sees")
    child = ctx.spawn(*pod, *site.words(), env={
        "KUBECONFIG": "", "HOME": "/", "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(site.cluster.ports[0]),
        "POD_NAMESPACE": site.ns})
    base, health = site.addresses(child)
    ctx.wait_for(lambda: get(health, "/readyz") == 200, 60, "the controller to be ready")
    assert (get(health, "/healthz"), get(health, "/metrics"), get(health, "/other")) == (200, 200, 404)
    site.reboot(site.machines[0], base)
    assert child.end() == 0


def get(base: str, path: str) -> int:
    try:
        with urllib.request.urlopen(base + path, timeout=10) as reply:
            return reply.status
    except urllib.error.HTTPError as refusal:
        return refusal.code


@limit(300)
def test_over_the_reboot_manager(ctx: Context) -> None:
    """Where the reboot manager runs already: kubectl apply replaces it, and clients keep their address, which zincati gets."""
    site = Site(ctx, SEED)
    labels, meta = {"app": "reboot-manager"}, {"name": "reboot-manager", "namespace": "reboot-manager"}
    old = deployment("reboot-manager", "reboot-manager", 2, serviceAccountName="reboot-manager")
    old["spec"]["template"]["spec"]["containers"] = [{"name": "reboot-manager", "image": "registry.test/old:1",
                                                      "ports": [{"name": "http", "containerPort": 80}]}]
    site.cluster.kubectl("apply", "-f", "-", input=[
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "reboot-manager"}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}, old,
        {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {
            "selector": labels, "ports": [{"name": "http", "port": 80, "targetPort": 80}]}}])
    where = "/api/v1/namespaces/reboot-manager/services/reboot-manager"
    address = site.api.get(where)["spec"]["clusterIP"]
    site.apply()
    service = site.api.get(where)["spec"]
    assert service["clusterIP"] == address and [p["targetPort"] for p in service["ports"]] == ["fleetlock", "fleetlock-tls"], service
    found = site.api.get("/apis/apps/v1/namespaces/reboot-manager/deployments/reboot-manager")
    containers = found["spec"]["template"]["spec"]["containers"]
    assert [(c["name"], [p["containerPort"] for p in c["ports"]]) for c in containers] == [("reboot-manager", [8080, 8443, 8081])], containers
    told = ctx.run(ctx.slipway, "export", "zincati", kubeconfig=site.cluster.admin, check=True).stdout
    assert f'\nfleet_lock.base_url = "http://{address}/"\n' in told, told
