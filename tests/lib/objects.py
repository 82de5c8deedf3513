"""Kubernetes objects that suites make again and again."""

from __future__ import annotations

from context import Context


def pod_template(labels: dict[str, str], **spec: object) -> dict:
    return {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "registry.test/app:1"}], **spec}}


def pod(name: str, namespace: str, labels: dict[str, str] = {}, annotations: dict[str, str] = {}, **spec: object) -> dict:
    made = pod_template(labels, **spec)
    made["metadata"] |= {"name": name, "namespace": namespace, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", **made}


def deployment(name: str, namespace: str, replicas: int, **spec: object) -> dict:
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": namespace},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod_template(labels, **spec)}}


def budget(name: str, namespace: str, labels: dict[str, str], **rule: object) -> dict:
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name, "namespace": namespace},
            "spec": {"selector": {"matchLabels": labels}, **rule}}


def config_map(name: str, namespace: str, **data: str) -> dict:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}


def lease(name: str, namespace: str, **spec: object) -> dict:
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name, "namespace": namespace},
            "spec": spec}


def running(ctx: Context, namespace: str, count: int, cluster=None) -> list[dict]:
    """Waits until that many pods of the namespace are ready, and returns them sorted by name."""
    api = (cluster or ctx.cluster).api

    def ready() -> list[dict] | None:
        pods = [p for p in api.items(f"/api/v1/namespaces/{namespace}/pods") if not p["metadata"].get("deletionTimestamp")
                and any(c["type"] == "Ready" and c["status"] == "True" for c in p["status"].get("conditions", []))]
        return pods if len(pods) == count else None

    return sorted(ctx.wait_for(ready, 30, f"{count} ready pods in {namespace}"), key=lambda p: p["metadata"]["name"])


def budget_status(ctx: Context, namespace: str, name: str, cluster=None, **wanted: int) -> dict:
    """Waits until the controller has looked at the budget and its status has these values."""
    path = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets/{name}"

    def there() -> dict | None:
        found = (cluster or ctx.cluster).api.get(path)
        status = found.get("status", {})
        if status.get("observedGeneration", 0) < found["metadata"]["generation"]:
            return None
        return found if all(status.get(key, 0) == value for key, value in wanted.items()) else None

    return ctx.wait_for(there, 30, f"the status of budget {name}: {wanted}")
