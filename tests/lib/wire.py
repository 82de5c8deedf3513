"""Requests to a Kubernetes API whose answers are looked at as they are: code, headers, body, word for word.

    w = Wire(ctx.cluster.api)
    made = w.post("/api/v1/namespaces/x/configmaps", body).ok(201)
    w.get("/api/v1/namespaces/x/configmaps/none").fails(404, "NotFound", 'configmaps "none" not found', name="none", kind="configmaps")
"""

from __future__ import annotations

import http.client
import json
import queue
import socket
import threading
import urllib.parse

from api import Api
from shape import assert_is

JSON = "application/json"
PATCHES = {"json": "application/json-patch+json", "merge": "application/merge-patch+json",
           "strategic": "application/strategic-merge-patch+json", "apply": "application/apply-patch+yaml"}


def status(code: int, reason: str | None, message: str, causes: list[dict] | None = None, empty: bool = False,
           **details: object) -> dict:
    """The Status of a failure as the server writes it; details: name, group, kind, uid, retryAfterSeconds.

    empty: there are details without anything in them.
    """
    made: dict[str, object] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message}
    if reason:
        made["reason"] = reason
    if details or causes or empty:
        made["details"] = {**details, **({"causes": causes} if causes else {})}
    return made | {"code": code}


def cause(reason: str, message: str, field: str | None = None) -> dict:
    return {"reason": reason, "message": message, **({"field": field} if field else {})}


class Answer:
    def __init__(self, request: str, code: int, headers: http.client.HTTPMessage, body: bytes) -> None:
        self.request, self.code, self.headers, self.body = request, code, headers, body

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            raise AssertionError(f"{self}: the body is not JSON") from None

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    def __str__(self) -> str:
        return f"{self.request}: {self.code} {self.text[:1500]}"

    def ok(self, code: int = 200):
        """Its object; it must have this code."""
        assert self.code == code, f"{self} (wanted {code})"
        return self.json

    def fails(self, code: int, reason: str | None, message: object, causes: list[dict] | None = None, empty: bool = False,
              **details: object) -> None:
        """It is exactly this Status; message may be a shape.Like."""
        wanted = status(code, reason, message, causes, empty, **details)
        assert self.code == code, f"{self}\nwanted {wanted}"
        assert self.headers["Content-Type"] == JSON, f"{self}: {self.headers['Content-Type']}"
        assert_is(self.json, wanted, self.request)

    def refused(self, code: int, reason: str | None, *words: str) -> None:
        """It is a Status with this code and reason, and its message has these words: the rest of it is Go's."""
        said = self.json
        assert (self.code, said.get("code"), said.get("reason")) == (code, code, reason), f"{self}\nwanted {code} {reason}"
        assert said["kind"] == "Status" and said["status"] == "Failure", self
        assert all(word in said["message"] for word in words), f"{self}\nwanted {words}"

    def missing(self) -> None:
        """No such resource: the path leads nowhere."""
        self.fails(404, "NotFound", "the server could not find the requested resource", empty=True)

    def no_method(self) -> None:
        self.fails(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", empty=True)

    def invalid(self, group: str | None, kind: str, name: str, *causes: tuple[str, str, str]) -> None:
        """It is a 422 with exactly these causes: (reason, field, message); the message says each of them once."""
        named = f"{kind}.{group}" if group else kind
        each = list(dict.fromkeys(f"{field}: {message}" for _, field, message in causes))
        text = each[0] if len(each) == 1 else "[" + ", ".join(each) + "]"
        details = {"name": name} if name else {}
        details |= {"group": group} if group else {}
        self.fails(422, "Invalid", f'{named} "{name}" is invalid: {text}',
                   [cause(reason, message, field) for reason, field, message in causes], **details, kind=kind)

    @property
    def warnings(self) -> list[str]:
        """The texts of its Warning headers, each of which is `299 - "text"`."""
        found = []
        for line in self.headers.get_all("Warning") or []:
            assert line.startswith('299 - "') and line.endswith('"'), line
            found.append(json.loads(line.removeprefix("299 - ")))
        return found


def encode(body: object) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else json.dumps(body, separators=(",", ":")).encode()


class Wire:
    """One keep-alive connection for each thread that asks."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self._local = threading.local()

    def ask(self, method: str, path: str, body: object = None, content: str | None = JSON, accept: str | None = JSON,
            headers: dict[str, str] = {}, timeout: float = 90) -> Answer:
        """A connection that the server has closed meanwhile is opened again."""
        data = encode(body)
        sent = {**self.api._headers(content if data is not None else None), "Accept": accept, **headers}
        sent = {key: value for key, value in sent.items() if value is not None}
        while True:
            connection = getattr(self._local, "connection", None)
            fresh = connection is None
            if fresh:
                connection = self._local.connection = self.api.connect(timeout)
            try:
                connection.request(method, path, data, sent)
                reply = connection.getresponse()
                return Answer(f"{method} {path}", reply.status, reply.headers, reply.read())
            except (OSError, http.client.HTTPException):
                connection.close()
                self._local.connection = None
                if fresh:
                    raise

    def get(self, path: str, accept: str | None = JSON) -> Answer:
        return self.ask("GET", path, accept=accept)

    def post(self, path: str, body: object, content: str = JSON) -> Answer:
        return self.ask("POST", path, body, content)

    def put(self, path: str, body: object, content: str = JSON) -> Answer:
        return self.ask("PUT", path, body, content)

    def patch(self, path: str, body: object, kind: str = "merge") -> Answer:
        return self.ask("PATCH", path, body, PATCHES.get(kind, kind))

    def delete(self, path: str, options: object = None) -> Answer:
        return self.ask("DELETE", path, options)


class Stream:
    """A watch that is read in a thread of its own, so that a test can ask for its next event with a limit."""

    def __init__(self, api: Api, path: str, accept: str = JSON) -> None:
        self.path = path
        self._connection = api.connect(timeout=None)
        self._connection.request("GET", path, headers={**api._headers(None), "Accept": accept})
        self._reply = self._connection.getresponse()
        self.code, self.headers = self._reply.status, self._reply.headers
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self.seen: list[dict] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            while line := self._reply.readline():
                self._lines.put(line)
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass  # close() of the other thread
        self._lines.put(None)

    def line(self, timeout: float = 60) -> bytes | None:
        """The next line as it came; None when the server has ended the watch."""
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            raise AssertionError(f"{self.path}: no event within {timeout:g} s; before: {brief(self.seen)}") from None
        if line is None:
            self._lines.put(None)
        return line

    def next(self, timeout: float = 60) -> dict | None:
        line = self.line(timeout)
        if line is None:
            return None
        event = json.loads(line)
        assert set(event) == {"type", "object"}, event
        self.seen.append(event)
        return event

    def until(self, check, timeout: float = 60) -> list[dict]:
        """The events up to the first for which check(event) is true, that one included."""
        found = []
        while True:
            event = self.next(timeout)
            assert event is not None, f"{self.path}: the watch ended after {brief(self.seen)}"
            found.append(event)
            if check(event):
                return found

    def rest(self, timeout: float = 60) -> list[dict]:
        """All events until the server ends the watch."""
        found = []
        while (event := self.next(timeout)) is not None:
            found.append(event)
        return found

    def close(self) -> None:
        """Wakes the reader, which a mere close() would leave in its read."""
        try:
            if self._connection.sock:
                self._connection.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._connection.close()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def brief(events: list[dict]) -> list[str]:
    """Events as TYPE name, for comparing and for messages."""
    return [f"{e['type']} {e['object'].get('metadata', {}).get('name', '')}".rstrip() for e in events]


def query(path: str, **parameters: object) -> str:
    given = {key: value for key, value in parameters.items() if value is not None}
    text = urllib.parse.urlencode({k: str(v).lower() if isinstance(v, bool) else v for k, v in given.items()})
    return f"{path}{'&' if '?' in path else '?'}{text}" if text else path
