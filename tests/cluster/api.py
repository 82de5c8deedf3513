"""A small HTTPS client for the Kubernetes API: what a test needs beside kubectl, and bulk creation.

It is the judge's own client and shares nothing with Slipway's.  One keep-alive connection per thread; bulk() spreads
requests over many.
"""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Iterable, Iterator

PLURALS = {"NetworkPolicy": "networkpolicies", "Endpoints": "endpoints", "Ingress": "ingresses",
           "StorageClass": "storageclasses", "PriorityClass": "priorityclasses"}
CLUSTER_SCOPED = {"Node", "Namespace", "PersistentVolume", "VolumeAttachment", "ClusterRole", "ClusterRoleBinding",
                  "StorageClass", "PriorityClass", "CustomResourceDefinition"}


class ApiError(Exception):
    """An answer of 400 or above; body is the Status object if there was one."""

    def __init__(self, method: str, path: str, code: int, body: object) -> None:
        message = body.get("message") if isinstance(body, dict) else str(body)[:300]
        super().__init__(f"{method} {path}: {code} {message}")
        self.code, self.body = code, body
        self.reason = body.get("reason") if isinstance(body, dict) else None


def object_path(obj: dict, subresource: str = "", named: bool = True) -> str:
    """The path of an object, or of its collection, from its apiVersion, kind, namespace and name."""
    version, kind = obj["apiVersion"], obj["kind"]
    base = f"/api/{version}" if "/" not in version else f"/apis/{version}"
    if kind not in CLUSTER_SCOPED:
        base += "/namespaces/" + obj["metadata"].get("namespace", "default")
    base += "/" + PLURALS.get(kind, kind.lower() + "s")
    if named:
        base += "/" + obj["metadata"]["name"]
    return base + (f"/{subresource}" if subresource else "")


class Api:
    def __init__(self, port: int, ca: Path, cert: Path | None = None, key: Path | None = None,
                 token: str | None = None) -> None:
        self.port, self.token = port, token
        self._context = ssl.create_default_context(cafile=str(ca))
        if cert:
            self._context.load_cert_chain(str(cert), str(key))
        self._local = threading.local()

    def connect(self, timeout: float | None = 60) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=self._context)

    def _headers(self, content_type: str | None, accept: str = "application/json") -> dict[str, str]:
        headers = {"Accept": accept, "User-Agent": "slipway-test-harness"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if content_type:
            headers["Content-Type"] = content_type
        return headers

    def raw(self, method: str, path: str, body: bytes | None = None, content_type: str | None = None,
            accept: str = "application/json", timeout: float = 60) -> tuple[int, bytes]:
        """Status and body, whatever they are.  A connection the server has closed meanwhile is opened again."""
        for attempt in (1, 2):
            connection = getattr(self._local, "connection", None)
            fresh = connection is None
            if fresh:
                connection = self._local.connection = self.connect(timeout)
            try:
                connection.request(method, path, body, self._headers(content_type, accept))
                answer = connection.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException):
                connection.close()
                self._local.connection = None
                if fresh or attempt == 2:
                    raise

    def call(self, method: str, path: str, body: object = None, content_type: str = "application/json"):
        data = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        status, answer = self.raw(method, path, data, content_type if data else None)
        try:
            parsed = json.loads(answer) if answer else {}
        except ValueError:
            parsed = answer.decode(errors="replace")
        if status >= 400:
            raise ApiError(method, path, status, parsed)
        return parsed

    def get(self, path: str):
        return self.call("GET", path)

    def create(self, obj: dict, manager: str | None = None):
        query = "?" + urllib.parse.urlencode({"fieldManager": manager}) if manager else ""
        return self.call("POST", object_path(obj, named=False) + query, obj)

    def replace(self, obj: dict, subresource: str = "", manager: str | None = None):
        query = "?" + urllib.parse.urlencode({"fieldManager": manager}) if manager else ""
        return self.call("PUT", object_path(obj, subresource) + query, obj)

    def patch(self, path: str, body: object, kind: str = "merge"):
        """kind: merge, strategic or json."""
        types = {"merge": "merge-patch", "strategic": "strategic-merge-patch", "json": "json-patch"}
        return self.call("PATCH", path, body, f"application/{types[kind]}+json")

    def delete(self, path: str, options: dict | None = None):
        return self.call("DELETE", path, options)

    def items(self, path: str, page: int = 2000) -> Iterator[dict]:
        """Every item of a collection, page by page."""
        token, joint = "", "&" if "?" in path else "?"
        while True:
            query = f"{joint}limit={page}" + (f"&continue={urllib.parse.quote(token)}" if token else "")
            answer = self.get(path + query)
            yield from answer["items"]
            token = answer["metadata"].get("continue", "")
            if not token:
                return

    def bulk(self, objects: Iterable[dict], workers: int = 16, manager: str | None = None) -> int:
        """Creates all of them over parallel connections; the first error is raised."""
        return self.bulk_calls((("POST", object_path(o, named=False) +
                                 (f"?fieldManager={manager}" if manager else ""), o) for o in objects), workers)

    def bulk_calls(self, calls: Iterable[tuple[str, str, object]], workers: int = 16) -> int:
        source, lock, errors, done = iter(calls), threading.Lock(), [], [0] * workers

        def work(index: int) -> None:
            while not errors:
                with lock:
                    entry = next(source, None)
                if entry is None:
                    return
                try:
                    self.call(*entry)
                except Exception as error:  # whatever it is, the caller gets it
                    errors.append(error)
                    return
                done[index] += 1

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(work, range(workers)))
        if errors:
            raise errors[0]
        return sum(done)

    def watch(self, path: str, timeout: float = 30) -> Iterator[dict]:
        """The events of a watch, on a connection of its own, until the server ends it; ApiError if it is refused."""
        connection = self.connect(timeout)
        try:
            connection.request("GET", path, headers=self._headers(None))
            answer = connection.getresponse()
            if answer.status >= 400:
                body = answer.read()
                try:
                    parsed: object = json.loads(body)
                except ValueError:
                    parsed = body.decode(errors="replace")
                raise ApiError("GET", path, answer.status, parsed)
            while line := answer.readline():
                yield json.loads(line)
        finally:
            connection.close()
