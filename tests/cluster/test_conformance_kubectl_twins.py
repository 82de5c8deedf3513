"""Stock kubectl says the same to the same on the real control plane and on the simulator: output, complaints, exit status."""

from __future__ import annotations

import difflib
import json
import re
import subprocess
import time
from typing import Callable

from binaries import CONTROL_PLANE, Unavailable
from cluster import Cluster
from context import Context, limit
from objects import budget, budget_status, config_map, deployment, pod, pod_template, running
from sim import Simulator, has_simulator

AGE = r"\d+[smhd][0-9smhd]*"


class Twins:
    """The same commands on this server and on the other sort of server, in namespaces and on nodes of the same names.

    What a run draws or a clock says is put aside: uids, times, ages, addresses, the ends of made-up names, widths of columns.
    """

    READS = {"get", "describe", "explain", "events", "api-resources", "api-versions", "wait", "rollout status", "rollout history"}
    WORDS = (
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b", "UID"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z|\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
        (r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b", "ADDRESS"),
        (r'("?resourceVersion"?: )"\d+"', r'\1"N"'), (r'(resourceVersion\\":\\"|Resource Version:\s+)\d+', r"\1N"),
        (r"\b(web|db|every)-[0-9a-z]{8,10}(-[0-9a-z]{5})?\b", r"\1-MADE\2"),
        (r"-MADE-[0-9a-z]{5}\b", "-MADE-MADE"),
        (r"\b(every|once)-[0-9a-z]{5}\b", r"\1-MADE"),
        (r"(pod-template-hash|controller-revision-hash|kubernetes.io/hash)([=:]) ?\S+", r"\1\2MADE"),
        (r"(?<![\w.-])(\d+[smhd]){1,2}(?![\w.-])|<invalid>", "AGE"),
        (r"[ \t]+\n", "\n"),
        (r"(?<=\S) {2,}(?=\S)", "  "),
    )

    def __init__(self, ctx: Context, nodes: int = 0) -> None:
        self.ctx, self.name = ctx, ctx.unique("twin")
        self.clusters = [ctx.cluster, ctx.once("other", lambda: self.start(ctx))]
        self.nodes: list[str] = []
        self.differences: list[str] = []
        for cluster in self.clusters:
            cluster.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.name}})
            ctx.undo(lambda api=cluster.api: api.delete(f"/api/v1/namespaces/{self.name}"))
            for what in ("serviceaccounts/default", "configmaps/kube-root-ca.crt"):
                ctx.wait_for(lambda: cluster.api.raw("GET", f"/api/v1/namespaces/{self.name}/{what}")[0] == 200, 60, what)
            if nodes:
                self.nodes = cluster.add_nodes(nodes, prefix=self.name, labels={"twin": self.name})
                ctx.undo(lambda api=cluster.api: api.delete(f"/api/v1/nodes?labelSelector=twin%3D{self.name}"))

    @staticmethod
    def start(ctx: Context) -> Cluster:
        kind = Cluster if isinstance(ctx.cluster, Simulator) else Simulator
        if kind is Simulator and not has_simulator():
            ctx.skip("the program under test has no simulator")
        try:
            ctx.cluster.binaries.need(*CONTROL_PLANE)
        except Unavailable as reason:
            ctx.skip(str(reason))
        cluster = kind(binaries=ctx.cluster.binaries).start()
        ctx.suite_undo(cluster.stop)
        return cluster

    def say(self, cluster: Cluster, arguments: tuple[str, ...], input: object) -> str:
        """What kubectl says on both channels, and its status."""
        if isinstance(input, list):
            input = {"apiVersion": "v1", "kind": "List", "items": input}
        done = subprocess.run([cluster.binaries.path("kubectl"), "-n", self.name, *arguments], text=True, capture_output=True,
                              input=input if isinstance(input, str) else json.dumps(input), timeout=120,
                              env=self.ctx.environment(cluster.admin, {"HOME": str(cluster.dir)}))
        text = f"{done.stdout}{done.stderr}status {done.returncode}\n"
        for pattern, word in self.WORDS:
            text = re.sub(pattern, word, text)
        return text

    def __call__(self, *arguments: str, input: object = None, fails: bool = False, less: str | None = None) -> str:
        """Runs it on both; `less` is a pattern of what may differ.

        What only reads is asked again for a while when they differ: a controller of one of them may be late.
        """
        def both() -> list[str]:
            said = [self.say(cluster, arguments, input) for cluster in self.clusters]
            return [re.sub(less, "", text, flags=re.S | re.M) for text in said] if less else said

        said, until = both(), time.monotonic() + 30
        reads = not self.READS.isdisjoint({arguments[0], " ".join(arguments[:2])})
        while said[0] != said[1] and reads and time.monotonic() < until:
            time.sleep(0.5)
            said = both()
        if said[0] != said[1]:
            names = [type(cluster).__name__ for cluster in self.clusters]
            self.differences += [f"kubectl {' '.join(arguments)}:", *difflib.unified_diff(
                *[text.splitlines() for text in said], *names, lineterm="", n=1)]
        elif said[0].endswith("status 0\n") == fails:
            self.differences.append(f"kubectl {' '.join(arguments)}: {said[0]}")
        return said[0]

    def __enter__(self) -> "Twins":
        return self

    def __exit__(self, kind, *_rest) -> None:
        """All differences at once, when nothing worse has happened."""
        assert kind or not self.differences, "\n".join(self.differences)

    @staticmethod
    def aggregated(cluster: Cluster, group: str) -> bool:
        """Whether kubectl, which reads discovery in one piece, finds resources of the group."""
        form = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        code, body = cluster.api.raw("GET", "/apis", accept=form)[:2]
        found = [g for g in json.loads(body).get("items", []) if g["metadata"]["name"] == group]
        return code == 200 and bool(found) and all(v.get("resources") for v in found[0]["versions"])

    def until(self, check: Callable[[Cluster], object], what: str) -> None:
        for cluster in self.clusters:
            self.ctx.wait_for(lambda: check(cluster), 60, f"{what} ({type(cluster).__name__})")

    def ready(self, count: int) -> None:
        for cluster in self.clusters:
            running(self.ctx, self.name, count, cluster)


def workloads(ns: str) -> list[dict]:
    """One of each, all of whose pods run on the twins' own nodes."""
    here = {"nodeSelector": {"twin": ns}}
    web = deployment("web", ns, 2, **here)
    db = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {
        "serviceName": "db", "replicas": 1, "selector": {"matchLabels": {"app": "db"}}, "template": pod_template({"app": "db"}, **here)}}
    every = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "every"}, "spec": {
        "selector": {"matchLabels": {"app": "every"}}, "template": pod_template({"app": "every"}, **here)}}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
               "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]}}
    return [web, db, every, service, budget("web", ns, {"app": "web"}, minAvailable="50%")]


# The server's choice, or the moment's.
DRAWN = (r'^\s*"?(clusterIPs?|nodePort|creationTimestamp|lastTransitionTime|lastUpdateTime)"?:.*?\n'
         r'(\s*-? ?"?ADDRESS"?,?\n)*')
DESCRIPTIONS = r"^DESCRIPTION:.*?(?=^FIELDS)|^    \S.*?\n"  # of which the simulator has none
EVENTS = r"^Events:.*?(?=^status)"  # who says what while things settle depends on the moment


@limit(180)
def test_reading(ctx: Context) -> None:
    with Twins(ctx, nodes=1) as k:
        k("apply", "-f", "-", input=workloads(k.name))
        k.ready(4)
        k.until(lambda c: budget_status(ctx, k.name, "web", c, currentHealthy=2, expectedPods=2), "the budget")
        for resource in ("deployment/web", "statefulset/db", "daemonset/every"):
            k("rollout", "status", resource, "--timeout=60s", less=r"^Waiting.*?\n")
        for what in ("pods", "deploy", "rs", "sts", "ds", "pdb", "svc", "sa", "secrets", "controllerrevisions", "all", "pods,svc"):
            for form in ((), ("-o", "wide"), ("-o", "name"), ("--no-headers",), ("--show-labels",)):
                k("get", what, *form)
        for what in ("deploy/web", "sts/db", "ds/every", "pdb/web", "svc/web"):
            for form in ("yaml", "json"):
                k("get", what, "-o", form, less=DRAWN)
        for form in ((), ("-o", "wide"), ("-o", "name"), ("-L", "topology.kubernetes.io/zone,none")):
            k("get", "nodes", "-l", f"twin={k.name}", *form)
        k("get", "pods", "-o", "jsonpath={range .items[*]}{.metadata.labels.app}{' '}{.status.phase}{'\\n'}{end}", "--sort-by=.metadata.labels.app")
        k("get", "pods", "-o", "custom-columns=APP:.metadata.labels.app,PHASE:.status.phase,NONE:.spec.none", "--sort-by=.metadata.name")
        k("get", "deploy,sts,ds", "-o", "go-template={{range .items}}{{.kind}} {{.metadata.name}}{{\"\\n\"}}{{end}}")
        k("get", "nodes", "-l", f"twin={k.name}", "--sort-by={.metadata.name}", "-o", "name")
        k("get", "pods", "--sort-by=.none", "-o", "name", fails=True)
        k("get", "pods", "--field-selector", f"status.phase=Running,spec.nodeName={k.nodes[0]}", "--no-headers", "-o",
          "custom-columns=APP:.metadata.labels.app", "--sort-by=.metadata.labels.app", less=r"^web\n")
        k("get", "pods", "--field-selector", "status.phase!=Running")
        k("get", "pods", "--field-selector", "spec.nothing=1", fails=True)
        k("get", "deploy", "--field-selector", "spec.replicas=2", fails=True)
        k("get", "pods", "-l", "app in (web,db),!none", "-o", "custom-columns=APP:.metadata.labels.app", "--sort-by=.metadata.labels.app")
        k("get", "pods", "-l", "app=,=", fails=True)
        k("get", "pods", "-A", "-l", "app=none")
        k("get", "nothings", fails=True)
        k("get", "pod", "none", fails=True)
        k("get", "pod", "none", "--ignore-not-found")
        k("get", "pod", "none", "db-0", "-o", "name", fails=True)
        for what in ("deployment/web", "statefulset/db", "daemonset/every", "node/none"):
            k("events", "--for", what)
        k("events", "--types=Nothing", fails=True)
        k("get", "events", "--field-selector", "involvedObject.kind=Deployment,reason=ScalingReplicaSet")
        k("describe", "deploy", "web", less=EVENTS)
        k("describe", "sts", "db", less=EVENTS)
        k("describe", "ds", "every", less=EVENTS)
        k("describe", "rs", less=EVENTS)
        k("describe", "pdb", "web", less=EVENTS)
        k("describe", "svc", "web", less=rf"^Endpoints:.*?\n|{EVENTS}")
        k("describe", "sa", "default")
        k("describe", "ns", k.name, less=r"\n^No resource quota\.\n|\n^No LimitRange resource\.\n")
        k("describe", "pod", "db-0", less=rf"^    (Container ID|Image ID):.*?\n|^Conditions:.*?(?=^Volumes)|kube-api-access-\w+|{EVENTS}")
        k("describe", "node", k.nodes[0], less=rf"^Annotations:.*?(?=^CreationTimestamp)|^Conditions:.*?(?=^Addresses)|^  Resource .*?(?=^Events)"
                                               rf"|^  Namespace .*?(?=^Allocated)|^Lease:.*?(?=^Addresses)|{EVENTS}")
        k("describe", "pod", "none", fails=True)


@limit(180)
def test_writing(ctx: Context) -> None:
    with Twins(ctx) as k:
        first = config_map("a", k.name, x="1")
        for words in ("client", "server", "none"):
            k("create", "-f", "-", f"--dry-run={words}", input=first)
        k("create", "-f", "-", input=first, fails=True)
        k("apply", "-f", "-", input=[first, config_map("b", k.name)])
        k("apply", "-f", "-", input=first)
        k("apply", "-f", "-", input=config_map("a", k.name, y="2"))
        k("apply", "-f", "-", input=[first, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "dta": {}}], fails=True)
        k("apply", "-f", "-", input=config_map("a", k.name) | {"dta": {}}, fails=True)
        k("apply", "-f", "-", input=config_map("a", k.name, x=1), fails=True)
        k("apply", "-f", "-", input=config_map("A_", k.name), fails=True)
        k("apply", "-f", "-", input={"apiVersion": "example.com/v1", "kind": "None", "metadata": {"name": "a"}}, fails=True)
        k("apply", "--dry-run=server", "-o", "yaml", "-f", "-", input=config_map("d", k.name, x="1"))
        k("replace", "-f", "-", input=config_map("a", k.name, z="3"))
        k("replace", "-f", "-", input=config_map("none", k.name), fails=True)
        stale = config_map("a", k.name)
        stale["metadata"]["resourceVersion"] = "1"
        k("replace", "-f", "-", input=stale, fails=True)
        k("replace", "--force", "-f", "-", input=config_map("a", k.name, z="4"))
        for kind, patch in (("strategic", '{"data":{"p":"1"}}'), ("merge", '{"data":{"p":null,"q":"2"}}'),
                            ("json", '[{"op":"replace","path":"/data/q","value":"3"}]')):
            k("patch", "cm", "a", f"--type={kind}", "-p", patch, "--dry-run=server")
            k("patch", "cm", "a", f"--type={kind}", "-p", patch)
            k("patch", "cm", "a", f"--type={kind}", "-p", patch, "-o", "yaml")
        k("patch", "cm", "a", "--type=json", "-p", '[{"op":"remove","path":"/data/none"}]', fails=True)
        k("patch", "cm", "a", "-p", '{"data":{"p":1}}', fails=True)
        k("patch", "cm", "none", "-p", "{}", fails=True)
        for verb in ("label", "annotate"):
            k(verb, "cm", "a", "k=v", "--dry-run=server")
            k(verb, "cm", "a", "b", "k=v")
            k(verb, "cm", "--all", "k=w", fails=True)
            k(verb, "cm", "--all", "k=w", "--overwrite")
            k(verb, "cm", "a", "--list")
            k(verb, "cm", "-l", "k=w", "k-")
        k("label", "cm", "a", "not a key=v", fails=True)
        k("label", "cm", "a", "k=not a value", fails=True)
        k("create", "deployment", "web", "--image=registry.test/x:1", "--replicas=0")
        k("set", "image", "deployment/web", "x=registry.test/x:2")
        k("set", "env", "deployment/web", "A=b")
        k("scale", "deployment/web", "--replicas=3", "--dry-run=server")
        k("scale", "deployment/web", "--replicas=3", "--current-replicas=2", fails=True)
        k("scale", "deployment/web", "--replicas=-1", fails=True)
        k("scale", "cm/a", "--replicas=1", fails=True)
        k("rollout", "pause", "deployment/web")
        k("rollout", "pause", "deployment/web", fails=True)
        k("rollout", "resume", "deployment/web")
        k("rollout", "status", "cm/a", fails=True)
        k("get", "deployment", "web", "-o", "jsonpath={.spec.replicas} {.spec.template.spec.containers[0]}")
        k("create", "job", "once", "--image=registry.test/x:1")
        k("create", "secret", "generic", "s", "--from-literal=a=b")
        k("create", "service", "clusterip", "s", "--tcp=80:8080")
        k("create", "pdb", "p", "--selector=app=web", "--min-available=1")
        k("create", "pdb", "q", "--selector=app=web", "--min-available=1", "--max-unavailable=1", fails=True)
        k("create", "sa", "robot")
        k("create", "priorityclass", k.name, "--value=5")
        k("delete", "priorityclass", k.name)
        k("delete", "cm", "b", "--dry-run=server")
        k("delete", "cm", "b", "none", fails=True)
        k("delete", "cm", "none", "--ignore-not-found")
        k("delete", "deploy,job,svc,pdb", "--all")
        k("delete", "cm", "-l", "!none", "--field-selector=metadata.name!=kube-root-ca.crt")
        k("get", "cm,secret,sa", "-o", "name")


@limit(240)
def test_rollouts(ctx: Context) -> None:
    waiting = r"^Waiting.*?\n"
    with Twins(ctx, nodes=1) as k:
        k("apply", "-f", "-", input=workloads(k.name))
        k.ready(4)
        for resource in ("deployment/web", "statefulset/db", "daemonset/every"):
            k("rollout", "status", resource, "--timeout=60s", less=waiting)
            k("rollout", "history", resource)
            k("set", "image", resource, "main=registry.test/app:2")
            k("rollout", "status", resource, "--timeout=60s", less=waiting)
            k("annotate", resource, "kubernetes.io/change-cause=newer")
            k("rollout", "restart", resource)
            k("rollout", "status", resource, "--timeout=60s", less=waiting)
            k("rollout", "history", resource)
            k("rollout", "history", resource, "--revision=2", less=r"^\s+(pod-template-hash|controller-revision-hash).*?\n")
            k("rollout", "undo", resource, "--to-revision=1", "--dry-run=server")
            k("rollout", "undo", resource, "--to-revision=1")
            k("rollout", "undo", resource, "--to-revision=9", fails=True)
            k("rollout", "status", resource, "--timeout=60s", less=waiting)
            k("get", resource, "-o", "jsonpath={.spec.template.spec.containers[*].image} {.metadata.generation} {.status.observedGeneration}")
            k("get", resource)
        k("get", "controllerrevisions", "--sort-by=.revision", "-o", "custom-columns=N:.revision,OF:.metadata.ownerReferences[0].name")
        k("get", "rs", "--sort-by=.spec.replicas", "-o", "custom-columns=WANTED:.spec.replicas,READY:.status.readyReplicas")
        k("scale", "deployment/web", "--replicas=0")
        k("rollout", "status", "deployment/web", "--timeout=60s", less=waiting)
        k.until(lambda c: c.api.get(f"/apis/apps/v1/namespaces/{k.name}/deployments/web")["status"].get("replicas", 0) == 0, "no pods")
        k("get", "deployment", "web")
        k("describe", "deployment", "web", less=EVENTS)
        k("patch", "deployment", "web", "--subresource=scale", "--type=merge", "-p", '{"spec":{"replicas":1}}', "-o", "yaml", less=DRAWN)
        k("get", "deployment", "web", "--subresource=scale", less=r"AVAILABLE.*?$")
        k("rollout", "status", "deployment/web", "--timeout=60s", less=waiting)
        for cluster in k.clusters:
            job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once", "namespace": k.name}, "spec": {"template": {
                "metadata": {"annotations": cluster.pod_timing(finish="0s")}, "spec": {
                    "restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.test/x:1"}]}}}}
            cluster.kubectl("apply", "-f", "-", input=job)
        k("wait", "--for=condition=Complete", "job/once", "--timeout=60s")
        k("wait", "--for=condition=Failed", "job/once", "--timeout=1s", fails=True)
        k("get", "job")
        k("get", "job", "-o", "wide")
        k("describe", "job", "once", less=rf"^Annotations:.*?(?=^Parallelism)|^  Annotations:.*?(?=^  Containers)|^Duration:.*?\n|{EVENTS}")
        k("get", "pods", "-l", "job-name=once")
        k("delete", "job", "once")
        k("delete", "sts,ds,deploy", "--all", "--cascade=foreground")
        k("get", "all", "-o", "name")


@limit(180)
def test_defaults(ctx: Context) -> None:
    """What the server makes of an object that it is only asked about."""
    with Twins(ctx) as k:
        template = pod_template({"app": "a"})
        rich = {"terminationGracePeriodSeconds": 5, "volumes": [{"name": "v", "emptyDir": {}}, {"name": "c", "configMap": {"name": "x"}}],
                "containers": [{"name": "main", "image": "registry.test/app", "ports": [{"containerPort": 80}], "resources": {
                    "limits": {"cpu": "0.5", "memory": "1e3"}}, "livenessProbe": {"httpGet": {"port": 80}},
                    "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}]}
        for body in (*workloads(k.name), pod("bare", k.name), pod("rich", k.name, **rich),
                     {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
                      "spec": {"template": pod_template({"app": "j"}, restartPolicy="Never")}},
                     {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "r"},
                      "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template}},
                     {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"},
                      "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
                     {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": k.name},
                      "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}}},
                     {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": k.name}, "provisioner": "a.test/b"},
                     {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": k.name},
                      "spec": {"attacher": "a.test", "nodeName": "n", "source": {"persistentVolumeName": "p"}}},
                     {"apiVersion": "v1", "kind": "Node", "metadata": {"name": k.name}, "spec": {"unschedulable": True}},
                     {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"{k.name}-x"}},
                     {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "b"}},
                     {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}},
                     {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}},
                     {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": k.name}, "value": 3}):
            less = rf"kube-api-access-\w+|{DRAWN}"
            k("create", "-f", "-", "--dry-run=server", "-o", "yaml", input=body, less=less)
            k("apply", "-f", "-", "--dry-run=server", "-o", "json", input=body, less=less)
            wrong = body | {"metadata": body["metadata"] | {"name": "not%a/name"}}
            k("create", "-f", "-", "--dry-run=server", input=wrong, fails=True)
            k("create", "-f", "-", "--dry-run=server", input=body | {"nothing": 1}, fails=True)
            k("create", "-f", "-", "--dry-run=server", "--validate=warn", input=body | {"nothing": 1})


@limit(120)
def test_volumes(ctx: Context) -> None:
    with Twins(ctx, nodes=1) as k:
        shelf = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": k.name},
                 "provisioner": "kubernetes.io/no-provisioner"}
        volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": k.name}, "spec": {
            "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}, "storageClassName": k.name}}
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": k.name}}
        for cluster in k.clusters:
            for path in (f"/api/v1/persistentvolumes/{k.name}", f"/apis/storage.k8s.io/v1/storageclasses/{k.name}"):
                ctx.undo(lambda api=cluster.api, path=path: api.raw("DELETE", path))
        k("apply", "-f", "-", input=[shelf, volume])
        k.until(lambda c: c.api.get(f"/api/v1/persistentvolumes/{k.name}").get("status", {}).get("phase") == "Available", "the volume")
        k("get", "pv", k.name)
        k("get", "sc", k.name)
        k("apply", "-f", "-", input=claim)
        k("wait", "--for=jsonpath={.status.phase}=Bound", "pvc/data", "--timeout=60s")
        user = pod("user", k.name, nodeSelector={"twin": k.name}, volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}])
        user["spec"]["containers"][0]["volumeMounts"] = [{"name": "d", "mountPath": "/d"}]
        k("apply", "-f", "-", input=user)
        k("wait", "--for=condition=Ready", "pod/user", "--timeout=60s")
        for form in ((), ("-o", "wide"), ("-o", "yaml")):
            k("get", "pvc", "data", *form, less=DRAWN)
            k("get", "pv", k.name, *form, less=DRAWN)
            k("get", "sc", k.name, *form, less=DRAWN)
        k("describe", "pvc", "data", less=EVENTS)
        k("describe", "pv", k.name, less=EVENTS)
        k("describe", "sc", k.name, less=EVENTS)
        k("describe", "pod", "user", less=rf"^    (Container ID|Image ID):.*?\n|^Conditions:.*?(?=^Volumes)|kube-api-access-\w+|{EVENTS}")
        k("patch", "pvc", "data", "-p", '{"spec":{"resources":{"requests":{"storage":"512Mi"}}}}', fails=True)
        k("patch", "pv", k.name, "-p", '{"spec":{"hostPath":{"path":"/b"}}}', fails=True)
        k("delete", "pvc", "data", "--wait=false")
        k("get", "pvc", "data", "-o", "custom-columns=S:.metadata.finalizers")  # while a pod has it
        k("delete", "pod", "user", "--grace-period=1")
        k("wait", "--for=delete", "pvc/data", "--timeout=60s", less=r"^persistent.*?\n")
        k("wait", "--for=jsonpath={.status.phase}=Released", f"pv/{k.name}", "--timeout=60s")
        k("get", "pv", k.name)
        k("delete", "pv,sc", k.name)


@limit(180)
def test_nodes(ctx: Context) -> None:
    with Twins(ctx, nodes=2) as k:
        one, two = k.nodes
        for arguments in (["cordon", one, "--dry-run=client"], ["cordon", one, "--dry-run=server"], ["cordon", one], ["cordon", one],
                          ["uncordon", one, "--dry-run=server"], ["uncordon", one], ["uncordon", one], ["cordon", "-l", f"twin={k.name}"],
                          ["cordon", "-l", "twin=none"], ["uncordon", one, two], ["taint", "node", one, "a=b:NoSchedule", "--dry-run=server"],
                          ["taint", "node", one, "a=b:NoSchedule", "a:PreferNoSchedule"], ["taint", "node", one, "a=c:NoSchedule", "--overwrite"],
                          ["taint", "nodes", "-l", f"twin={k.name}", "c:NoExecute"], ["taint", "node", one, two, "c-"],
                          ["taint", "node", one, "a:NoSchedule-"], ["taint", "node", one, "a-"],
                          ["label", "node", one, "disk=ssd"], ["annotate", "node", one, "note=x"],
                          ["patch", "node", one, "-p", '{"spec":{"unschedulable":true}}'], ["uncordon", one]):
            k(*arguments)
        for arguments in (["cordon", "nobody"], ["cordon"], ["taint", "node", one, "a=b:Nothing"], ["taint", "node", one, "none-"],
                          ["drain", one, two, "-l", "a=b"], ["drain", "nobody"],
                          ["patch", "node", one, "-p", '{"spec":{"podCIDR":"not one"}}'],
                          ["patch", "node", one, "-p", '{"spec":{"taints":[{"key":"a","effect":"Never"}]}}']):
            k(*arguments, fails=True)
        k("taint", "node", one, "kept=1:PreferNoSchedule")
        k("taint", "node", one, "kept=2:PreferNoSchedule", fails=True)
        k.until(lambda c: [t["key"] for t in c.api.get(f"/api/v1/nodes/{one}")["spec"].get("taints", [])] == ["kept"], "one taint")
        k("get", "node", one, "-o", "jsonpath={.spec.taints} {.metadata.labels.disk}")
        bare = pod("bare", k.name, {"app": "bare"}, nodeName=one)
        k("apply", "-f", "-", input=bare)
        k.ready(1)
        k("drain", one, fails=True)
        k("drain", one, "--force", "--dry-run=client")
        k("drain", one, "--force", "--dry-run=server")
        k("drain", one, "--pod-selector=app=none", "--force")
        k("get", "pod", "bare", "-o", "name")
        k("drain", one, "--force", "--timeout=60s")
        k("get", "pod", "bare", fails=True)
        k("drain", one, "--force")
        k("uncordon", one)


@limit(180)
def test_custom_resources(ctx: Context) -> None:
    with Twins(ctx) as k:
        group = f"{k.name}.example.com"
        ships, name = f"ships.{group}", f"ship.{group}/argo"
        schema = {"type": "object", "properties": {
            "spec": {"type": "object", "required": ["hull"], "properties": {
                "hull": {"type": "string", "enum": ["wood", "steel"]}, "masts": {"type": "integer", "minimum": 1, "default": 2}}},
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, "subresources": {
            "status": {}, "scale": {"specReplicasPath": ".spec.masts", "statusReplicasPath": ".status.masts"}},
            "additionalPrinterColumns": [
                {"name": "Hull", "type": "string", "jsonPath": ".spec.hull"}, {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                {"name": "Masts", "type": "integer", "jsonPath": ".spec.masts", "priority": 1}]}
        definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": ships}, "spec": {
            "group": group, "scope": "Namespaced", "versions": [version],
            "names": {"plural": "ships", "singular": "ship", "kind": "Ship", "shortNames": [f"sh{k.name[-4:]}"], "categories": ["all"]}}}
        for cluster in k.clusters:
            ctx.undo(lambda api=cluster.api: api.raw("DELETE", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{ships}"))
        k("apply", "-f", "-", input=definition)
        k("wait", "--for=condition=Established", f"crd/{ships}", "--timeout=60s")
        k.until(lambda c: c.api.raw("GET", f"/apis/{group}/v1/namespaces/{k.name}/ships")[0] == 200, "the definition to be served")
        k.until(lambda c: f"apis/{group}/v1" in c.api.get("/openapi/v3")["paths"], "its document")
        k.until(lambda c: group in [g["name"] for g in c.api.get("/apis")["groups"]] and k.aggregated(c, group), "its group in both forms of discovery")
        argo = {"apiVersion": f"{group}/v1", "kind": "Ship", "metadata": {"name": "argo"}, "spec": {"hull": "wood"}}
        k("api-resources", f"--api-group={group}", "-o", "wide")
        k("get", "crd", ships)
        k("explain", ships, less=DESCRIPTIONS)
        k("explain", f"{ships}.spec", less=DESCRIPTIONS)
        k("get", ships)
        for form in ("client", "server", "none"):
            k("apply", "-f", "-", f"--dry-run={form}", input=argo)
        k("apply", "-f", "-", input=[argo, argo | {"metadata": {"name": "boat"}}])
        for wrong in ({"hull": "paper"}, {}, {"hull": "wood", "masts": 0}, {"hull": "wood", "sail": 1}, {"hull": "wood", "masts": "2"}):
            k("apply", "-f", "-", input=argo | {"spec": wrong}, fails=True, less=r'\\"managedFields.*?}],')
            k("replace", "-f", "-", input=argo | {"spec": wrong}, fails=True)
        k("patch", ships, "argo", "-p", "{}", fails=True)
        k("patch", ships, "argo", "--type=merge", "-p", '{"spec":{"masts":3}}')
        k("patch", ships, "argo", "--type=json", "-p", '[{"op":"test","path":"/spec/masts","value":3}]')
        k("patch", ships, "argo", "--subresource=status", "--type=merge", "-p",
          '{"status":{"masts":3,"conditions":[{"type":"Afloat","status":"True"}]}}')
        k("wait", "--for=condition=Afloat", f"{ships}/argo", "--timeout=60s")
        k("wait", "--for=jsonpath={.status.masts}=3", f"{ships}/argo", "--timeout=60s")
        k("wait", "--for=condition=Sunk", f"{ships}/argo", "--timeout=1s", fails=True)
        k("scale", f"{ships}/argo", "--replicas=4")
        k("label", ships, "argo", "fleet=blue")
        k("annotate", ships, "--all", "seen=yes")
        k("taint", ships, "argo", "a:NoSchedule", fails=True)
        for form in ((), ("-o", "wide"), ("-o", "name"), ("-o", "yaml"), ("-o", "json"), ("--show-labels",), ("-l", "fleet=blue"),
                     ("--sort-by=.spec.masts",), ("-o", "jsonpath={.items[*].spec.masts}"), ("-o", "custom-columns=M:.spec.masts,N:.spec.none"),
                     ("--field-selector=metadata.name=boat",)):
            k("get", ships, *form)
        k("get", ships, "--field-selector=spec.hull=wood", fails=True)
        k("get", name, "-o", "yaml")
        k("get", definition["spec"]["names"]["shortNames"][0])
        k("get", "all")
        k("describe", ships, "argo", less=EVENTS)
        k("delete", ships, "argo", "--dry-run=server")
        k("delete", ships, "argo", "boat")
        k("wait", "--for=delete", f"{ships}/argo", "--timeout=60s")
        k("get", ships, "argo", fails=True)
        k("delete", "crd", ships)
        k.until(lambda c: c.api.raw("GET", f"/apis/{group}/v1")[0] == 404, "the definition to be gone")
        k("get", ships, fails=True)


@limit(120)
def test_watching(ctx: Context) -> None:
    """What -w shows of the life of an object, and what wait says."""
    with Twins(ctx) as k:
        children = [ctx.spawn(c.binaries.path("kubectl"), "-n", k.name, "get", "cm", "-w", "--output-watch-events", "-l", "seen",
                              kubeconfig=c.admin) for c in k.clusters]
        waits = [ctx.spawn(c.binaries.path("kubectl"), "-n", k.name, "wait", "--for=create", "cm/a", "--timeout=60s", kubeconfig=c.admin)
                 for c in k.clusters]
        body = config_map("a", k.name, x="1")
        body["metadata"]["labels"] = {"seen": "yes"}
        k("create", "-f", "-", input=body)
        for child in children:
            child.expect(r"^ADDED +a +1 ", 60)
        k("patch", "cm", "a", "--type=merge", "-p", '{"data":{"y":"2"}}')
        for child in children:
            child.expect(rf"^MODIFIED +a +2 +({AGE}|<invalid>)$", 60)
        k("label", "cm", "a", "seen-")  # out of sight
        for child in children:
            child.expect(r"^DELETED +a +2 ", 60)
        for child in waits:
            assert child.end(60, number=None) == 0 and child.out == ["configmap/a condition met"], child.out + child.err
        k("wait", "--for=jsonpath={.data.y}=2", "cm/a", "--timeout=5s")
        k("wait", "--for=jsonpath={.data.z}", "cm/a", "--timeout=1s", fails=True)
        k("wait", "--for=condition=Ready", "cm", "--all", "--timeout=1s", fails=True)
        k("wait", "--for=delete", "cm/none", "--timeout=5s")
        k("wait", "--for=condition=Ready", "pod/none", "--timeout=5s", fails=True)
        k("wait", "--for=condition=Ready", "pod", "--all", "--timeout=5s", fails=True)
        k("wait", "--for=nonsense", "cm/a", fails=True)
        gone = [ctx.spawn(c.binaries.path("kubectl"), "-n", k.name, "wait", "--for=delete", "cm/a", "--timeout=60s", kubeconfig=c.admin)
                for c in k.clusters]
        k("delete", "cm", "a")
        for child in gone:  # one that begins when it is gone already says nothing
            assert child.end(60, number=None) == 0 and child.out in ([], ["configmap/a condition met"]), child.out + child.err


@limit(120)
def test_explaining(ctx: Context) -> None:
    with Twins(ctx) as k:
        for what in ("pods", "nodes", "namespaces", "configmaps", "secrets", "services", "serviceaccounts", "events", "pv", "pvc",
                     "deployments", "replicasets", "statefulsets", "daemonsets", "controllerrevisions", "jobs", "pdb", "leases",
                     "storageclasses", "volumeattachments", "csinodes", "priorityclasses", "endpointslices", "crd"):
            k("explain", what, "--recursive", less=r"^DESCRIPTION:.*?(?=^FIELDS)|^ *enum: .*?\n")
        k("explain", "pods.spec.nothing", fails=True)
        k("explain", "nothings", fails=True)
