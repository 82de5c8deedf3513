"""Stock kubectl: every verb that Slipway's users have in their fingers, and the shape of what it prints."""

from __future__ import annotations

import json
import re

from context import Child, Context
from crds import crd, make_crds
from kinds import NODE, POD
from objects import budget, budget_status, config_map, deployment, pod, running
from process import ClusterError
from shape import assert_has
from wire import Wire

AGE = r"\d+[smhd][0-9smhd]*"
POD_LINE = rf"web-\S+ +1/1 +Running +0 +{AGE}"


class Shell:
    """kubectl in a namespace of its own."""

    def __init__(self, ctx: Context, nodes: int = 2) -> None:
        if nodes:
            ctx.suite_nodes(nodes)
        self.ctx, self.ns, self.w = ctx, ctx.namespace(), Wire(ctx.cluster.api)

    def __call__(self, *arguments: str, input: object = None, timeout: float = 120) -> str:
        return self.ctx.cluster.kubectl("-n", self.ns, *arguments, input=input, timeout=timeout)

    def fails(self, *arguments: str, input: object = None) -> str:
        """What it says when it fails; it must."""
        try:
            said = self(*arguments, input=input)
        except ClusterError as error:
            return str(error)
        raise AssertionError(f"kubectl {' '.join(arguments)} did not fail: {said}")

    def json(self, *arguments: str) -> dict:
        return json.loads(self(*arguments, "-o", "json"))

    def spawn(self, *arguments: str) -> Child:
        return self.ctx.spawn(self.ctx.cluster.binaries.path("kubectl"), "-n", self.ns, *arguments)

    def web(self, replicas: int = 2) -> None:
        self("apply", "-f", "-", input=deployment("web", self.ns, replicas))
        self("rollout", "status", "deployment/web", "--timeout=120s")
        running(self.ctx, self.ns, replicas)


def lines(text: str) -> list[str]:
    return text.rstrip("\n").split("\n")


def matches(pattern: str, text: str) -> None:
    assert re.fullmatch(pattern, text, re.S), f"{text!r} is not /{pattern}/"


# -- reading ------------------------------------------------------------------------------------------------------


def test_get(ctx: Context) -> None:
    k = Shell(ctx)
    k.web()
    header, *rows = lines(k("get", "pods"))
    matches(r"NAME +READY +STATUS +RESTARTS +AGE", header)
    assert len(rows) == 2 and all(re.fullmatch(POD_LINE, row) for row in rows), rows
    header, *rows = lines(k("get", "pods", "-o", "wide"))
    matches(r"NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES", header)
    assert all(re.fullmatch(POD_LINE + r" +\S+ +\S+ +<none> +<none>", row) for row in rows), rows
    names = lines(k("get", "po", "-o", "name"))
    assert len(names) == 2 and all(re.fullmatch(r"pod/web-\S+", name) for name in names)
    one = names[0].removeprefix("pod/")
    assert k("get", "pod", one, "-o", "jsonpath={.status.phase}") == "Running"
    assert_has(json.loads(k("get", "pod", one, "-o", "json")), {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": one}})
    assert "managedFields" not in k("get", "pod", one, "-o", "yaml") and f"  name: {one}\n" in k("get", names[0], "-o", "yaml")
    assert_has(k.json("get", "pods"), {"kind": "List", "apiVersion": "v1"})
    assert len(lines(k("get", "pods", "-l", "app=web", "--no-headers"))) == 2 and k(
        "get", "pods", "-l", "app=none", "-o", "name") == ""
    assert k("get", "pods", "--field-selector", f"metadata.name={one}", "-o", "name") == f"{names[0]}\n"
    assert k("get", "pods", "-o", "custom-columns=N:.metadata.name,P:.status.phase", "--no-headers").split()[1] == "Running"
    header, *rows = lines(k("get", "pods", "-A", "-l", "app=web"))
    matches(r"NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE", header)
    assert any(row.startswith(k.ns) for row in rows)
    assert {line.split()[0] for line in lines(k("get", "deploy,rs", "-o", "name"))} == {
        "deployment.apps/web", lines(k("get", "rs", "-o", "name"))[0]}
    assert "deployment.apps/web" in k("get", "all") and "app=web" in k("get", "pods", "--show-labels")
    assert "NotFound" in k.fails("get", "pod", "none") and "doesn't have a resource type" in k.fails("get", "nothings")
    assert k("get", "pod", "none", "--ignore-not-found") == ""


def test_get_nodes(ctx: Context) -> None:
    k = Shell(ctx)
    name = ctx.suite_nodes(1)[0]
    header, row = lines(k("get", "node", name))
    matches(r"NAME +STATUS +ROLES +AGE +VERSION", header)
    matches(rf"{name} +Ready +<none> +{AGE} +v\S+", row)
    assert re.search(r"INTERNAL-IP +EXTERNAL-IP +OS-IMAGE +KERNEL-VERSION +CONTAINER-RUNTIME", k("get", "node", name, "-o", "wide"))
    assert name in k("get", "nodes", "-L", "topology.kubernetes.io/zone")


def test_get_and_watch(ctx: Context) -> None:
    k = Shell(ctx, nodes=0)
    child = k.spawn("get", "configmaps", "-w", "-l", "watched=yes")
    body = config_map("seen", k.ns)
    body["metadata"]["labels"] = {"watched": "yes"}
    k.w.post(f"/api/v1/namespaces/{k.ns}/configmaps", body).ok(201)
    child.expect(rf"^seen +0 +{AGE}$", 60)
    k("patch", "configmap", "seen", "--type=merge", "-p", '{"data":{"a":"b"}}')
    child.expect(rf"^seen +1 +{AGE}$", 60)
    k("delete", "configmap", "seen")
    child.expect(r"^seen +1 ", 60)
    events = k.spawn("get", "configmaps", "-w", "--output-watch-events", "-o", "name")
    k("create", "configmap", "other", "--from-literal=a=b")
    events.expect(r"configmap/other", 60)


def test_describe(ctx: Context) -> None:
    k = Shell(ctx)
    k.web()
    name = running(ctx, k.ns, 2)[0]["metadata"]["name"]
    told = k("describe", "pod", name)
    for words in (rf"Name: +{name}\n", rf"Namespace: +{k.ns}\n", r"Node: +\S+", r"Status: +Running\n",
                  r"Controlled By: +ReplicaSet/web-", r"Ready +True",
                  r"QoS Class: +BestEffort", r"Tolerations: +node.kubernetes.io/not-ready:NoExecute op=Exists for 300s"):
        assert re.search(words, told), f"no {words} in\n{told}"
    told = k("describe", "deployment", "web")
    assert re.search(r"Replicas: +2 desired \| 2 updated \| 2 total \| 2 available \| 0 unavailable",
                     told) and re.search(r"StrategyType: +RollingUpdate", told), told
    told = k("describe", "node", ctx.suite_nodes(1)[0])
    assert re.search(r"Unschedulable: +false", told) and "Non-terminated Pods:" in told and "Allocated resources:" in told, told
    k("apply", "-f", "-", input=budget("web", k.ns, {"app": "web"}, minAvailable=1))
    budget_status(ctx, k.ns, "web", disruptionsAllowed=1)
    told = k("describe", "pdb", "web")
    assert re.search(r"Min available: +1\n", told) and re.search(r"Allowed disruptions: +1\n",
                                                                 told) and re.search(r"Current: +2\n", told), told
    k("wait", "--for=create", "configmap/kube-root-ca.crt", "--timeout=60s")
    assert re.search(r"Name: +kube-root-ca.crt\n",
                     k("describe", "configmap")) and re.search(r"Name: +default\n", k("describe", "serviceaccount"))


def test_events(ctx: Context) -> None:
    k = Shell(ctx, nodes=0)
    body = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "reason": "Tested",
            "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": "p", "namespace": k.ns},
            "message": "as it should be", "type": "Warning", "count": 2, "firstTimestamp": "2026-01-02T03:04:05Z",
            "lastTimestamp": "2026-01-02T03:04:05Z"}
    k("create", "-f", "-", input=body)
    header, row = lines(k("get", "events"))
    matches(r"LAST SEEN +TYPE +REASON +OBJECT +MESSAGE", header)
    matches(r"\S+ +Warning +Tested +pod/p +as it should be", row)
    told = k("events")
    assert re.search(r"LAST SEEN +TYPE +REASON +OBJECT +MESSAGE",
                     told) and re.search(r"Warning +Tested +Pod/p +as it should be", told), told
    assert "Tested" in k("events", "--for", "pod/p") and k("events", "--for", "pod/q") == "" and k("events", "--types=Normal") == ""


def test_api_resources(ctx: Context) -> None:
    k = Shell(ctx, nodes=0)
    rows = {line.split()[0]: line for line in lines(k("api-resources", "--no-headers"))}
    matches(r"pods +po +v1 +true +Pod", rows["pods"])
    matches(r"nodes +no +v1 +false +Node", rows["nodes"])
    matches(r"deployments +deploy +apps/v1 +true +Deployment", rows["deployments"])
    matches(r"poddisruptionbudgets +pdb +policy/v1 +true +PodDisruptionBudget", rows["poddisruptionbudgets"])
    assert {"v1", "apps/v1", "batch/v1", "policy/v1", "coordination.k8s.io/v1",
            "apiextensions.k8s.io/v1"} <= set(lines(k("api-versions")))
    assert "deletecollection" in k("api-resources", "--verbs=list", "-o", "wide", "--api-group=apps")
    told = k("explain", "pod.spec.nodeName")
    assert "KIND:       Pod" in told and "FIELD: nodeName <string>" in told, told
    assert re.search(r"Server Version: v1\.36\.", k("version"))
    assert k("auth", "can-i", "create", "pods/eviction") == "yes\n"


# -- writing ------------------------------------------------------------------------------------------------------


def test_create_apply_replace_delete(ctx: Context) -> None:
    k = Shell(ctx, nodes=0)
    assert k("create", "-f", "-", input=config_map("a", k.ns, x="1")) == "configmap/a created\n"
    assert "AlreadyExists" in k.fails("create", "-f", "-", input=config_map("a", k.ns))
    assert k("create", "configmap", "lit", "--from-literal=a=b") == "configmap/lit created\n"
    assert k("create", "deployment", "dep", "--image=registry.test/x:1", "--replicas=0") == "deployment.apps/dep created\n"
    assert k("apply", "-f", "-", input=config_map("b", k.ns, x="1")) == "configmap/b created\n"
    assert k("apply", "-f", "-", input=config_map("b", k.ns, x="1")) == "configmap/b unchanged\n"
    assert k("apply", "-f", "-", input=config_map("b", k.ns, y="2")) == "configmap/b configured\n"
    assert k.json("get", "configmap", "b")["data"] == {"y": "2"}, "what was applied and is left out goes"
    assert k("apply", "--dry-run=server", "-f", "-", input=config_map("c", k.ns)) == "configmap/c created (server dry run)\n"
    assert k("apply", "--dry-run=client", "-f", "-", input=config_map("c", k.ns)) == "configmap/c created (dry run)\n"
    assert k("replace", "-f", "-", input=config_map("b", k.ns, z="3")) == "configmap/b replaced\n"
    assert "NotFound" in k.fails("replace", "-f", "-", input=config_map("none", k.ns))
    assert k("replace", "--force", "-f", "-", input=config_map("b", k.ns, z="4")) == 'configmap "b" deleted' + k_from(
        k) + "\nconfigmap/b replaced\n"
    bad = config_map("d", k.ns) | {"dta": {}}
    assert 'unknown field "dta"' in k.fails("create", "-f", "-",
                                            input=bad) and 'unknown field "dta"' in k.fails("apply", "-f", "-", input=bad)
    assert k("create", "--validate=ignore", "-f", "-", input=bad) == "configmap/d created\n"
    both = k("apply", "-f", "-", input=[config_map("one", k.ns), config_map("two", k.ns)])
    assert both == "configmap/one created\nconfigmap/two created\n"
    assert k("delete", "configmap", "one", "two") == f'configmap "one" deleted{k_from(k)}\nconfigmap "two" deleted{k_from(k)}\n'
    assert "NotFound" in k.fails("delete", "configmap", "one") and k("delete", "configmap", "one", "--ignore-not-found") == ""
    assert k("delete", "configmap", "a", "--dry-run=server") == f'configmap "a" deleted{k_from(k)} (server dry run)\n'
    assert set(lines(k("delete", "configmap", "-l", "!none", "--field-selector", "metadata.name!=kube-root-ca.crt", "-o",
                       "name"))) == {
        "configmap/a", "configmap/b", "configmap/d", "configmap/lit"}
    assert k("delete", "deployment", "dep", "--cascade=foreground") == f'deployment.apps "dep" deleted{k_from(k)}\n'


def k_from(k: Shell) -> str:
    """kubectl says from where something was deleted."""
    return f" from {k.ns} namespace"


def test_patch_label_annotate(ctx: Context) -> None:
    k = Shell(ctx, nodes=0)
    k("create", "-f", "-", input=config_map("a", k.ns, x="1"))
    assert k("patch", "configmap", "a", "-p", '{"data":{"y":"2"}}') == "configmap/a patched\n"
    assert k("patch", "configmap", "a", "-p", '{"data":{"y":"2"}}') == "configmap/a patched (no change)\n"
    assert k("patch", "configmap", "a", "--type=json", "-p", '[{"op":"remove","path":"/data/y"}]') == "configmap/a patched\n"
    refused = k.fails("patch", "configmap", "a", "--type=json", "-p", '[{"op":"test","path":"/data/x","value":"9"}]')
    assert "the server rejected our request due to an error in our request" in refused, refused
    assert k("label", "configmap", "a",
             "k=v") == "configmap/a labeled\n" and k("label", "configmap", "a", "k=v") == "configmap/a not labeled\n"
    assert "already has a value (v), and --overwrite is false" in k.fails("label", "configmap", "a", "k=w")
    assert k("label", "configmap", "a", "k=w",
             "--overwrite") == "configmap/a labeled\n" and k("label", "configmap", "a", "k-") == "configmap/a unlabeled\n"
    assert k("annotate", "configmap", "a",
             "n=one two") == "configmap/a annotated\n" and k("annotate", "configmap", "a", "n-") == "configmap/a annotated\n"
    meta = k.json("get", "configmap", "a")["metadata"]
    assert not meta.get("labels") and not meta.get("annotations")


def test_scale_and_rollout(ctx: Context) -> None:
    k = Shell(ctx)
    k.web(2)
    matches(r'(Waiting for .*\n)*deployment "web" successfully rolled out\n',
            k("rollout", "status", "deployment/web", "--timeout=60s"))
    assert k("scale", "deployment/web", "--replicas=3") == "deployment.apps/web scaled\n"
    assert "Expected replicas to be 7, was 3" in k.fails("scale", "deployment/web", "--replicas=1", "--current-replicas=7")
    matches(r'(Waiting for .*\n)*deployment "web" successfully rolled out\n',
            k("rollout", "status", "deployment/web", "--timeout=60s"))
    assert k("set", "image", "deployment/web", "main=registry.test/app:2") == "deployment.apps/web image updated\n"
    k("rollout", "status", "deployment/web", "--timeout=60s")
    assert k("rollout", "restart", "deployment/web") == "deployment.apps/web restarted\n"
    k("rollout", "status", "deployment/web", "--timeout=60s")
    assert re.search(r"REVISION +CHANGE-CAUSE\n1 +<none>\n2 +<none>\n3 +<none>\n", k("rollout", "history", "deployment/web"))
    assert k("rollout", "undo", "deployment/web", "--to-revision=1") == "deployment.apps/web rolled back\n"
    k("rollout", "status", "deployment/web", "--timeout=60s")
    assert k.json("get", "deployment", "web")["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.test/app:1"
    assert k("rollout", "pause", "deployment/web") == "deployment.apps/web paused\n" and k(
        "rollout", "resume", "deployment/web") == "deployment.apps/web resumed\n"


def test_wait(ctx: Context) -> None:
    k = Shell(ctx)
    k.web(1)
    assert k("wait", "--for=condition=Available", "deployment/web", "--timeout=60s") == "deployment.apps/web condition met\n"
    assert k("wait", "--for=jsonpath={.status.phase}=Running", "pod", "-l", "app=web", "--timeout=60s").endswith("condition met\n")
    # Of a busy server not even the first answer may come in a second, which is said in other words.
    ctx.wait_for(lambda: "timed out waiting for the condition" in k.fails("wait", "--for=condition=Never", "deployment/web", "--timeout=1s"),
                 60, "the right complaint")
    child = k.spawn("wait", "--for=delete", "deployment/web", "--timeout=60s")
    k("delete", "deployment", "web")
    assert child.end(60, number=None) == 0, child.err
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once"}, "spec": {"template": {
        "metadata": {"annotations": ctx.cluster.pod_timing(finish="0s")},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.test/x:1"}]}}}}
    k("apply", "-f", "-", input=job)
    assert k("wait", "--for=condition=Complete", "job/once", "--timeout=60s") == "job.batch/once condition met\n"
    assert k("wait", "--for=create", "configmap/kube-root-ca.crt", "--timeout=60s") == "configmap/kube-root-ca.crt condition met\n"


# -- nodes --------------------------------------------------------------------------------------------------------


def test_cordon_taint_uncordon(ctx: Context) -> None:
    k = Shell(ctx, nodes=0)
    name, = ctx.nodes(1)
    assert k("cordon", name) == f"node/{name} cordoned\n" and k("cordon", name) == f"node/{name} already cordoned\n"
    matches(rf"{name} +Ready,SchedulingDisabled +.*", lines(k("get", "node", name))[1])
    assert k("uncordon", name) == f"node/{name} uncordoned\n" and k("uncordon", name) == f"node/{name} already uncordoned\n"
    ctx.wait_for(lambda: not k.w.get(NODE.path(name=name)).ok()["spec"].get("taints"), 60, "the taint of the cordon to go")
    assert k("taint", "nodes", name, "a=b:NoSchedule") == f"node/{name} tainted\n"
    assert "already has a taint" in k.fails("taint", "nodes", name, "a=c:NoSchedule")
    assert k("taint", "nodes", name, "a=c:NoSchedule", "--overwrite") == f"node/{name} modified\n"
    taints = k.w.get(NODE.path(name=name)).ok()["spec"]["taints"]
    # That of the cordon may come once more, and go again, by a controller that is late.
    assert [(t["key"], t["value"], t["effect"]) for t in taints if t["key"] == "a"] == [("a", "c", "NoSchedule")]
    assert k("taint", "nodes", name, "a:NoSchedule-") == f"node/{name} untainted\n"
    assert k("label", "node", name, "disk=ssd") == f"node/{name} labeled\n"
    assert 'nodes "nobody" not found' in k.fails("cordon", "nobody")


def test_drain(ctx: Context) -> None:
    k = Shell(ctx, nodes=0)
    first, second = ctx.nodes(2, labels={"drain": k.ns})
    body = deployment("web", k.ns, 4, nodeSelector={"drain": k.ns})
    k("apply", "-f", "-", input=body)
    running(ctx, k.ns, 4)
    k("apply", "-f", "-", input=budget("web", k.ns, {"app": "web"}, maxUnavailable=2))
    budget_status(ctx, k.ns, "web", disruptionsAllowed=2, currentHealthy=4)
    mine = [p["metadata"]["name"] for p in running(ctx, k.ns, 4) if p["spec"]["nodeName"] == first]
    ctx.cluster.fill([first])
    told = k("drain", first, "--ignore-daemonsets", "--timeout=120s", timeout=180)
    assert f"node/{first} cordoned\n" in told and f"node/{first} drained\n" in told, told
    for name in mine:
        assert f"evicting pod {k.ns}/{name}\n" in told and f"pod/{name} evicted\n" in told, told
    assert {p["spec"]["nodeName"] for p in running(ctx, k.ns, 4)} == {second}
    k("uncordon", first)


def test_drain_that_is_refused(ctx: Context) -> None:
    k = Shell(ctx, nodes=0)
    name, = ctx.nodes(1)
    k("apply", "-f", "-", input=pod("bare", k.ns, {"app": "bare"}, nodeSelector={"kubernetes.io/hostname": name}))
    running(ctx, k.ns, 1)
    refused = k.fails("drain", name, "--timeout=5s")
    assert f"cannot delete Pods that declare no controller (use --force to override): {k.ns}/bare" in refused, refused
    k("apply", "-f", "-", input=budget("bare", k.ns, {"app": "bare"}, minAvailable=1))
    budget_status(ctx, k.ns, "bare", currentHealthy=1, disruptionsAllowed=0)
    violates = "Cannot evict pod as it would violate the pod's disruption budget."
    for limit in ("4s", "20s", "60s"):  # a busy server may not have answered by then
        held = ctx.run(ctx.cluster.binaries.path("kubectl"), "drain", name, "--force", f"--timeout={limit}")
        if violates in held.stderr:
            break
    assert held.returncode == 1 and violates in held.stderr, held.stderr
    assert k.w.get(POD.path(k.ns, "bare")).code == 200
    k("delete", "pdb", "bare")
    assert f"node/{name} drained\n" in k("drain", name, "--force", "--timeout=60s")
    assert k.w.get(POD.path(k.ns, "bare")).code == 404


# -- custom resources ---------------------------------------------------------------------------------------------


def test_custom_resources(ctx: Context) -> None:
    k = Shell(ctx, nodes=0)
    schema = {"type": "object", "properties": {"spec": {"type": "object",
                                                        "properties": {"hull": {"type": "string", "enum": ["wood", "steel"]},
                                                                       "masts": {"type": "integer"}}},
                                               "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
    columns = [{"name": "Hull", "type": "string", "jsonPath": ".spec.hull"},
               {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}]
    definition = crd(ctx, "Ketch", schema, names={"shortNames": [ctx.unique("k").replace("-", "")]}, version={
        "additionalPrinterColumns": columns, "subresources": {"status": {}}})
    kind = make_crds(ctx, ctx.cluster, {"k": definition})["k"]
    resource = f"ketchs.{kind.group}"
    ctx.wait_for(lambda: resource.partition(".")[0] in k("api-resources", f"--api-group={kind.group}"), 60, "discovery")
    body = {"apiVersion": kind.version, "kind": "Ketch", "metadata": {"name": "argo"}, "spec": {"hull": "wood"}}
    assert k("apply", "-f", "-", input=body) == f"ketch.{kind.group}/argo created\n"
    assert k("apply", "-f", "-", input=body | {"spec": {"hull": "steel", "masts": 2}}) == f"ketch.{kind.group}/argo configured\n"
    header, row = lines(k("get", resource))
    matches(r"NAME +HULL +AGE", header)
    matches(rf"argo +steel +{AGE}", row)
    assert "Unsupported value" in k.fails("apply", "-f", "-", input=body | {"spec": {"hull": "paper"}})
    assert 'unknown field "spec.sail"' in k.fails("apply", "-f", "-", input=body | {"spec": {"sail": 1}})
    assert k("patch", resource, "argo", "--type=merge", "-p", '{"spec":{"masts":3}}') == f"ketch.{kind.group}/argo patched\n"
    k("patch", resource, "argo", "--subresource=status", "--type=merge", "-p",
      json.dumps({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}))
    assert k("wait", "--for=condition=Ready", f"{resource}/argo", "--timeout=60s") == f"ketch.{kind.group}/argo condition met\n"
    assert re.search(r"Hull: +steel", k("describe", resource, "argo"))
    assert k("get", definition["spec"]["names"]["shortNames"][0], "-o", "name") == f"ketch.{kind.group}/argo\n"
    ctx.wait_for(lambda: "hull" in k("explain", f"{resource}.spec"), 60, "its fields to be explained")
    assert k("delete", resource, "--all") == f'ketch.{kind.group} "argo" deleted{k_from(k)}\n'


def test_names_of_everything(ctx: Context) -> None:
    """Every kind by its short name, as far as it has one."""
    k = Shell(ctx, nodes=0)
    for short in ("po", "cm", "svc", "sa", "pvc", "pv", "no", "ns", "ev", "deploy", "rs", "sts", "ds", "jobs", "pdb", "leases",
                  "secrets", "crd",
                  "volumeattachments"):
        k("get", short)
    assert k.json("get", "deploy")["items"] == []
