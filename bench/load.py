"""Fills a real cluster with a large fleet: by default 1,000 nodes and 30,000 running pods of 300 applications.

    python3 bench/load.py [--nodes N] [--apps N] [--replicas N] [-- COMMAND ...]

stays up (or runs one command) with KUBECONFIG set, for trying things at that size; bench/run.py uses fill().

One node, one pod of each application and its budget take the whole way through the API, each step under the name of
the manager that takes it in a real cluster (controller manager, scheduler, kubelet), so that defaults, admission and
managedFields are the server's own work.  Node and pods are then cloned straight into etcd, with names, uids, addresses,
nodes and times of their own: 30,000 pods in half a minute instead of five.  Clones are stored as JSON, which
kube-apiserver reads as well as protobuf; what it sends to its clients is encoded anew.
"""

from __future__ import annotations

import argparse
import base64
import copy
import json
import random
import signal
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Iterable, Iterator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "cluster"))

from cluster import Cluster, fake_node  # noqa: E402
from process import wait_for  # noqa: E402

APPS_PER_NAMESPACE = 10
BATCH_BYTES = 700_000  # of JSON in one etcd transaction: base64 makes it a third more, etcd takes 1.5 MiB
ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # of Kubernetes' generated names


def load_cluster(**options) -> Cluster:
    """A cluster without controllers and kubelets: they would repair, move and delete what they did not make."""
    return Cluster(controllers=False, kwok=False, etcd_flags=["--quota-backend-bytes=8589934592"], **options)


def fill(cluster: Cluster, nodes: int = 1000, apps: int = 300, replicas: int = 100, seed: int = 1, say=print) -> dict:
    """Fills an empty cluster; returns what it made and how long that took."""
    begun = time.monotonic()
    luck = random.Random(seed)
    names = [f"worker-{i:04d}" for i in range(nodes)]
    template = node_template(cluster, nodes + 1)
    store(cluster, (("minions/" + n["metadata"]["name"], n) for n in clone_nodes(template, names, luck)))
    cluster.api.delete("/api/v1/nodes/template")
    say(f"{nodes} nodes after {time.monotonic() - begun:.0f} s")
    namespaces = [f"team-{i:02d}" for i in range((apps + APPS_PER_NAMESPACE - 1) // APPS_PER_NAMESPACE)]
    for namespace in namespaces:
        cluster.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        cluster.api.create({"apiVersion": "v1", "kind": "ServiceAccount",
                            "metadata": {"name": "default", "namespace": namespace}})
    sizes: list[int] = []

    def everything() -> Iterator[tuple[str, dict]]:
        for app in range(apps):
            namespace = namespaces[app // APPS_PER_NAMESPACE]
            first = app_template(cluster, namespace, app, names[app % nodes], replicas)
            sizes.append(len(json.dumps(first, separators=(",", ":"))))
            for pod in clone_pods(first, replicas - 1, names, luck):
                yield f"pods/{namespace}/{pod['metadata']['name']}", pod

    store(cluster, everything())
    wanted = (nodes, apps * replicas)
    wait_for(lambda: (count(cluster, "/api/v1/nodes"), count(cluster, "/api/v1/pods")) == wanted, 120,
             "the server to show every object", interval=0.5)
    made = {"nodes": nodes, "pods": apps * replicas, "pdbs": apps, "pod_json_bytes": sum(sizes) // max(1, len(sizes)),
            "seconds": round(time.monotonic() - begun, 1)}
    say(f"{made['pods']} pods of {made['pod_json_bytes']} bytes of JSON, {apps} budgets after {made['seconds']:.0f} s")
    return made


def count(cluster: Cluster, path: str) -> int:
    """How many objects the server's cache holds."""
    answer = cluster.api.get(path + "?limit=1")
    return len(answer["items"]) + answer["metadata"].get("remainingItemCount", 0)


# -- templates: through the API, each step by its own manager ------------------------------------------------------


def node_template(cluster: Cluster, number: int) -> dict:
    capacity = {"cpu": "64", "memory": "263842104Ki", "ephemeral-storage": "1919048156Ki", "pods": "250",
                "hugepages-1Gi": "0", "hugepages-2Mi": "0"}
    labels = {"beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux",
              "node.kubernetes.io/instance-type": "m64", "node-role.kubernetes.io/worker": ""}
    annotations = {"volumes.kubernetes.io/controller-managed-attach-detach": "true",
                   "node.alpha.kubernetes.io/ttl": "0"}
    node = fake_node("template", number, "a", labels, [], annotations, capacity)
    cluster.api.create(node, manager="kubelet")
    cluster.api.call("PATCH", "/api/v1/nodes/template?fieldManager=kube-controller-manager",
                     {"spec": {"podCIDR": "10.1.0.0/24", "podCIDRs": ["10.1.0.0/24"]}},
                     "application/strategic-merge-patch+json")
    now = timestamp()
    reasons = {"MemoryPressure": "KubeletHasSufficientMemory", "DiskPressure": "KubeletHasNoDiskPressure",
               "PIDPressure": "KubeletHasSufficientPID", "Ready": "KubeletReady"}
    conditions = [{"type": kind, "status": "True" if kind == "Ready" else "False", "reason": reason,
                   "message": f"kubelet: {reason}", "lastHeartbeatTime": now, "lastTransitionTime": now}
                  for kind, reason in reasons.items()]
    image = "registry.example.net/group/image"
    images = [{"names": [f"{image}-{i}@sha256:{i:064x}", f"{image}-{i}:1.{i}"], "sizeBytes": 9000000 + i * 1234567}
              for i in range(30)]
    status = {"conditions": conditions, "images": images, "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}}
    cluster.api.call("PATCH", "/api/v1/nodes/template/status?fieldManager=kubelet", {"status": status},
                     "application/strategic-merge-patch+json")
    # a new node is tainted until a controller has seen it Ready: that controller's part
    cluster.api.call("PATCH", "/api/v1/nodes/template?fieldManager=kube-controller-manager", {"spec": {"taints": None}},
                     "application/merge-patch+json")
    return cluster.api.get("/api/v1/nodes/template")


def app_template(cluster: Cluster, namespace: str, app: int, node: str, replicas: int) -> dict:
    """The first pod of an application, Running, and the application's budget."""
    name, digest = f"app-{app:03d}", f"{0x5f00000000 + app * 7919:x}"
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{name}-{digest}", "uid": str(uuid.uuid4()),
             "controller": True, "blockOwnerDeletion": True}
    labels = {"app": name, "app.kubernetes.io/part-of": namespace, "pod-template-hash": digest}
    pod = {"apiVersion": "v1", "kind": "Pod",
           "metadata": {"name": f"{name}-{digest}-bcdfg", "generateName": f"{name}-{digest}-", "namespace": namespace,
                        "labels": labels, "ownerReferences": [owner], "annotations": {"prometheus.io/scrape": "true"}},
           "spec": pod_spec(name, namespace)}
    path = f"/api/v1/namespaces/{namespace}/pods/{pod['metadata']['name']}"
    cluster.api.create(pod, manager="kube-controller-manager")
    cluster.api.call("POST", path + "/binding?fieldManager=kube-scheduler",
                     {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod["metadata"]["name"]},
                      "target": {"apiVersion": "v1", "kind": "Node", "name": node}})
    cluster.api.call("PATCH", path + "/status?fieldManager=kubelet", {"status": pod_status(pod)},
                     "application/strategic-merge-patch+json")
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
              "metadata": {"name": name, "namespace": namespace},
              "spec": {"maxUnavailable": "10%", "selector": {"matchLabels": {"app": name}}}}
    made = cluster.api.create(budget, manager="kubectl-client-side-apply")
    made["status"] = {"observedGeneration": 1, "currentHealthy": replicas, "desiredHealthy": replicas * 9 // 10,
                      "expectedPods": replicas, "disruptionsAllowed": replicas - replicas * 9 // 10,
                      "conditions": [{"type": "DisruptionAllowed", "status": "True", "reason": "SufficientPods",
                                      "message": "", "lastTransitionTime": timestamp(), "observedGeneration": 1}]}
    cluster.api.replace(made, "status", manager="kube-controller-manager")
    return cluster.api.get(path)


def pod_spec(name: str, namespace: str) -> dict:
    """A service with a sidecar, about 8 KB of JSON when the server has added its defaults and managedFields."""
    probe = {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 10}
    main = {"name": "main", "image": f"registry.example.net/{namespace}/{name}:2026.11.3",
            "env": [{"name": "LOG_LEVEL", "value": "info"},
                    {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            "ports": [{"name": "http", "containerPort": 8080}], "readinessProbe": probe,
            "livenessProbe": {**probe, "initialDelaySeconds": 15},
            "resources": {"requests": {"cpu": "250m", "memory": "512Mi"}, "limits": {"memory": "512Mi"}},
            "volumeMounts": [{"name": "config", "mountPath": "/etc/app"}]}
    proxy = {"name": "proxy", "image": "registry.example.net/mesh/proxy:1.9.4",
             "env": [{"name": "UPSTREAM", "value": f"{name}.{namespace}.svc:8080"}],
             "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "64Mi"}}}
    mine = {"matchLabels": {"app": name}}
    apart = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 100, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "labelSelector": mine}}]}}
    return {"containers": [main, proxy], "volumes": [{"name": "config", "configMap": {"name": f"{name}-config"}}],
            "affinity": apart, "terminationGracePeriodSeconds": 60,
            "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
                                           "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": mine}],
            "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "apps", "effect": "NoSchedule"}]}


def pod_status(pod: dict) -> dict:
    now = timestamp()
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    statuses = [{"name": c["name"], "image": c["image"], "imageID": f"{c['image'].split(':')[0]}@sha256:{i:064x}",
                 "containerID": f"containerd://{i:064x}", "ready": True, "started": True, "restartCount": 0,
                 "lastState": {}, "state": {"running": {"startedAt": now}}}
                for i, c in enumerate(pod["spec"]["containers"])]
    return {"phase": "Running", "hostIP": "10.128.0.1", "hostIPs": [{"ip": "10.128.0.1"}], "podIP": "10.1.0.1",
            "podIPs": [{"ip": "10.1.0.1"}], "startTime": now, "containerStatuses": statuses,
            "conditions": [{"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
                           for kind in kinds]}


def timestamp(age: float = 0) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - age))


# -- clones: straight into etcd --------------------------------------------------------------------------------------


def clone_nodes(template: dict, names: list[str], luck: random.Random) -> Iterator[dict]:
    for number, name in enumerate(names):
        node = copy.deepcopy(template)
        renew(node, name, luck)
        node["metadata"]["labels"]["kubernetes.io/hostname"] = name
        node["metadata"]["labels"]["topology.kubernetes.io/zone"] = "abc"[number % 3]
        cidr = f"10.{1 + number // 250}.{number % 250}.0/24"
        node["spec"]["podCIDR"], node["spec"]["podCIDRs"] = cidr, [cidr]
        node["status"]["addresses"] = [{"type": "InternalIP", "address": host_address(number)},
                                       {"type": "Hostname", "address": name}]
        for key in ("machineID", "systemUUID", "bootID"):
            node["status"]["nodeInfo"][key] = random_uuid(luck)
        yield node


def clone_pods(template: dict, number: int, nodes: list[str], luck: random.Random) -> Iterator[dict]:
    """Copies by text: what differs is marked once, then replaced in each."""
    token_volume = next(v["name"] for v in template["spec"]["volumes"] if v["name"].startswith("kube-api-access-"))
    marked = copy.deepcopy(template)
    renew(marked, "@NAME@", luck)
    marked["metadata"]["uid"] = "@UID@"
    marked["spec"]["nodeName"] = "@NODE@"
    status = marked["status"]
    status["podIP"], status["podIPs"] = "@IP@", [{"ip": "@IP@"}]
    status["hostIP"], status["hostIPs"] = "@HOST@", [{"ip": "@HOST@"}]
    for container in status["containerStatuses"]:
        container["containerID"] = f"containerd://{container['name'].encode().hex():0<12}@ID@"
    text = json.dumps(marked, separators=(",", ":")).replace(token_volume, "kube-api-access-@SUFFIX@")
    taken: set[str] = set()
    while len(taken) < number:
        suffix = "".join(luck.choices(ALPHABET, k=5))
        if suffix in taken or suffix == "bcdfg":
            continue
        taken.add(suffix)
        node = luck.randrange(len(nodes))
        values = {"NAME": template["metadata"]["generateName"] + suffix, "UID": random_uuid(luck), "NODE": nodes[node],
                  "IP": f"10.{1 + node // 250}.{node % 250}.{luck.randrange(2, 254)}", "HOST": host_address(node),
                  "ID": f"{luck.getrandbits(208):052x}", "SUFFIX": "".join(luck.choices(ALPHABET, k=5))}
        pod = text
        for key, value in values.items():
            pod = pod.replace(f"@{key}@", value)
        yield json.loads(pod)


def renew(obj: dict, name: str, luck: random.Random) -> None:
    obj["metadata"].pop("resourceVersion")  # etcd's revision takes its place
    obj["metadata"] |= {"name": name, "uid": random_uuid(luck), "creationTimestamp": timestamp(luck.randrange(86400))}


def random_uuid(luck: random.Random) -> str:
    return str(uuid.UUID(int=luck.getrandbits(128), version=4))


def host_address(number: int) -> str:
    return f"10.{128 + number // 62500}.{number // 250 % 250}.{number % 250 + 1}"


def store(cluster: Cluster, entries: Iterable[tuple[str, dict]], workers: int = 4) -> None:
    """Writes objects under /registry in transactions of a bounded size, a few at a time."""
    def batches() -> Iterator[list[dict]]:
        batch, size = [], 0
        for key, obj in entries:
            value = json.dumps(obj, separators=(",", ":")).encode()
            batch.append({"requestPut": {"key": base64.b64encode(f"/registry/{key}".encode()).decode(),
                                         "value": base64.b64encode(value).decode()}})
            size += len(value)
            if size > BATCH_BYTES or len(batch) == 100:  # etcd takes 128 operations at most
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    with ThreadPoolExecutor(workers) as pool:
        waiting = []
        for batch in batches():
            waiting.append(pool.submit(cluster.etcd, "/v3/kv/txn", {"success": batch}))
            if len(waiting) > 2 * workers:
                waiting.pop(0).result()
        for each in waiting:
            each.result()


def main() -> int:
    import up
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], usage="%(prog)s [options] [-- COMMAND ...]")
    parser.add_argument("--nodes", type=int, default=1000, metavar="N")
    parser.add_argument("--apps", type=int, default=300, metavar="N")
    parser.add_argument("--replicas", type=int, default=100, metavar="N", help="pods of each application")
    parser.add_argument("command", nargs="*", metavar="COMMAND")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with load_cluster() as cluster:
            fill(cluster, arguments.nodes, arguments.apps, arguments.replicas,
                 say=lambda text: print(f"# {text}", file=sys.stderr, flush=True))
            return up.use(cluster, arguments.command)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
