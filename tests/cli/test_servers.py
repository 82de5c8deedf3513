"""Servers that answer wrongly, late, without end or not at all: each ends in one sentence and the right exit status, or in
retries that are told and bounded."""

from __future__ import annotations

import http.server
import json
import re
import socket
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import run  # noqa: E402

ACCESS, FAILED, USAGE = 4, 1, 64
KINDS = {"/api/v1/nodes": ("v1", "NodeList"), "/api/v1/pods": ("v1", "PodList"),
         "/apis/policy/v1/poddisruptionbudgets": ("policy/v1", "PodDisruptionBudgetList"), "/api/v1/configmaps": ("v1", "ConfigMapList"),
         "/apis/apps/v1/daemonsets": ("apps/v1", "DaemonSetList")}


def status(code: int, reason: str, message: str, **details) -> bytes:
    return json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
                       "message": message, "details": details}).encode()


def objects(path: str, *items: dict) -> bytes:
    if path == "/apis":
        return json.dumps({"kind": "APIGroupList", "apiVersion": "v1", "groups": []}).encode()
    version, kind = KINDS[path]
    return json.dumps({"kind": kind, "apiVersion": version, "metadata": {"resourceVersion": "7"}, "items": list(items)}).encode()


class Api:
    """An API server whose answers are a function of (handler, path, number of the request for that path)."""

    def __init__(self, answer) -> None:
        api = self
        self.seen: list[str] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path = self.path.split("?")[0]
                with api.lock:
                    api.seen.append(path)
                    number = api.seen.count(path)
                try:
                    answer(self, path, number)
                except (BrokenPipeError, ConnectionResetError):
                    pass

            do_POST = do_GET

            def reply(self, code: int, body: bytes, content_type: str = "application/json", **headers: str) -> None:
                self.send_response(code)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_) -> None:
                pass

        self.lock = threading.Lock()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # clients that hang up are what this is about
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> Api:
        return self

    def __exit__(self, *_) -> None:
        self.server.shutdown()
        self.server.server_close()


def normal(handler, path: str, *items: dict) -> None:
    handler.reply(200, objects(path, *(items if path.endswith("nodes") else ())))


class Servers(unittest.TestCase):
    def ends(self, answer, code: int, pattern: str, *args: str, verb: str = "status") -> Api:
        """Runs a verb against the server and wants this exit status and exactly this one sentence."""
        with Api(answer) as api:
            done = run(verb, "--server", api.url, *args)
            self.assertRegex(done.err.splitlines()[-1] if done.err else "", pattern)
            self.assertTrue(done.err.startswith(("error: ", "cannot ", "note: ")), done.err)
            self.assertEqual((done.code, done.out), (code, ""), done.err)
        return api

    def test_unreachable(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        done = run("status", "--server", f"http://127.0.0.1:{port}")
        self.assertEqual((done.code, done.out), (ACCESS, ""))
        self.assertEqual(done.err, f"error: cannot list nodes: cannot reach http://127.0.0.1:{port}: connection refused\n")

    def test_unauthorized(self) -> None:
        api = self.ends(lambda h, path, n: h.reply(401, status(401, "Unauthorized", "Unauthorized")), ACCESS,
                        r"^error: cannot list \w+: http://127.0.0.1:\d+ does not accept requests without credentials \(none are sent over "
                        r"http://\): Unauthorized$")
        self.assertLessEqual(len(api.seen), 5)  # one for each list

    @staticmethod
    def refusing(*kinds: str):
        """Answers with one node, and refuses these lists."""
        node = {"metadata": {"name": "w1", "uid": "u1", "resourceVersion": "5", "creationTimestamp": "2026-01-01T00:00:00Z"},
                "status": {"conditions": [{"type": "Ready", "status": "True"}]}}

        def answer(h, path: str, n: int) -> None:
            kind = path.rpartition("/")[2]
            if kind in kinds:
                h.reply(403, status(403, "Forbidden", f'{kind} is forbidden: User "eve" cannot list resource "{kind}"'))
            else:
                h.reply(200, objects(path, *([node] if kind == "nodes" else [])))
        return answer

    def test_forbidden(self) -> None:
        """Without nodes there is nothing to say."""
        self.ends(self.refusing("nodes", "pods"), ACCESS, r'^error: cannot list nodes: nodes is forbidden: User "eve" cannot list resource "nodes"$')

    def test_the_rest_is_told(self) -> None:
        """Whoever may not list pods or budgets still sees the nodes, and is told what that leaves open."""
        for kind, words in (("pods", "Pods could not be read: what they are in the way of is not known."),
                            ("poddisruptionbudgets", "Budgets could not be read: which pods they keep is not known.")):
            with self.subTest(kind), Api(self.refusing(kind)) as api:
                done, wide, json_text = (run("status", "--server", api.url, *more) for more in ((), ("-o", "wide"), ("-o", "json")))
                self.assertEqual([done.code, wide.code, json_text.code], [0, 0, 0], done.err)
                self.assertRegex(done.err, f'^cannot list {kind}: {kind} is forbidden: .*; ')
                self.assertTrue(" ".join(done.out.split()).startswith(f"All idle: 1 node. Every node is Ready. {words}"), done.out)
                self.assertRegex(wide.out.splitlines()[1], r"^w1 +Ready +<none> +\? +\? " if kind == "pods" else r"^w1 +Ready +<none> +0 +0 ")
                said = json.loads(json_text.out)
                self.assertEqual((said["unread"], "pods" in said["items"][0]), ([kind], kind != "pods"))

    def test_something_else_than_kubernetes(self) -> None:
        page = b"<html><body>Welcome to nginx!</body></html>"
        for code in (200, 404, 302, 400):
            with self.subTest(code=code):
                self.ends(lambda h, path, n: h.reply(code, page, "text/html", Location="http://127.0.0.1:1/"), ACCESS,
                          r"^error: cannot list \w+: http://127.0.0.1:\d+ does not answer like a Kubernetes API server: ")

    def test_garbage(self) -> None:
        for body in (b"\x00\xff\x1b]0;x\x07", b"[]", b'{"kind":"NodeList"', b'{"kind":"PodList","items":[]}x', b"{}",
                     b'{"kind":"NodeList","items":[{"metadata":{"name":5}}]}'):
            with self.subTest(body=body), Api(lambda h, path, n: h.reply(200, body)) as api:
                done = run("status", "--server", api.url)
                self.assertEqual((done.code, done.out), (ACCESS, ""), done.err)
                self.assertTrue(done.err.splitlines()[-1].startswith("error: cannot list "), done.err)
                self.assertNotRegex(done.err, r"[\x00-\x08\x0b-\x1f\x7f]")

    def test_an_answer_that_never_comes(self) -> None:
        release = threading.Event()
        started = time.monotonic()
        self.ends(lambda h, path, n: release.wait(60), ACCESS, r"^error: cannot list \w+: .*: no answer within 1s",
                  "--request-timeout", "1s")
        self.assertLess(time.monotonic() - started, 40)
        release.set()

    def test_a_server_that_accepts_and_says_nothing(self) -> None:
        """The limit that was given bounds it, before and after the connection stands."""
        with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
            port = silent.getsockname()[1]
            for scheme in ("http", "https"):
                for line, words in (("drain w1 --timeout=1s", "1s"), ("drain -l a=b --timeout=1s", "1s"),
                                    ("drain w1 --timeout=1h --request-timeout=1s", "1s"), ("plan w1 --request-timeout=1s", "1s"),
                                    ("why w1 --request-timeout=1s", "1s"), ("status --request-timeout=1s", "1s")):
                    with self.subTest(scheme=scheme, line=line):
                        done = run(*line.split(), "--server", f"{scheme}://127.0.0.1:{port}", "--insecure-skip-tls-verify=true")
                        self.assertEqual((done.code, done.out), (ACCESS, ""), done.err)
                        self.assertRegex(done.err.splitlines()[-1], rf"no (answer|connection) within {words}$")

    def test_a_server_that_falls_silent(self) -> None:
        """The node is there, and then there is no answer any more: nothing was begun."""
        release = threading.Event()

        def answer(h, path: str, n: int) -> None:
            if path == "/api/v1/nodes/w1" and n == 1:
                h.reply(200, json.dumps({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "w1", "uid": "u", "resourceVersion": "1"}}).encode())
            else:
                release.wait(60)
        with Api(answer) as api:
            done = run("drain", "w1", "--timeout=1s", "--server", api.url)
            release.set()
        self.assertEqual((done.code, done.out), (ACCESS, ""), done.err)
        self.assertRegex(done.err.splitlines()[-1], r"no answer within 1s$")

    def test_a_list_without_end(self) -> None:
        def answer(h, path: str, n: int) -> None:
            version, kind = KINDS[path]
            h.send_response(200)
            h.send_header("Content-Type", "application/json")
            h.send_header("Connection", "close")
            h.end_headers()
            h.wfile.write(f'{{"kind":"{kind}","apiVersion":"{version}","items":[{{}}'.encode())
            number = 0
            while True:
                h.wfile.write(b"".join(b',{"metadata":{"name":"n%d"}}' % (number + i) for i in range(1000)))
                number += 1000
        self.ends(answer, ACCESS, r"^error: cannot list \w+: .* the list does not end$")

    def test_an_object_without_end(self) -> None:
        def answer(h, path: str, n: int) -> None:
            h.send_response(200)
            h.send_header("Content-Type", "application/json")
            h.send_header("Connection", "close")
            h.end_headers()
            h.wfile.write(f'{{"kind":"{KINDS[path][1]}","items":[{{"metadata":{{"name":"'.encode())
            while True:
                h.wfile.write(b"a" * 65536)
        self.ends(answer, ACCESS, r"^error: cannot list \w+: .* an object of more than 8 MiB$")

    def test_a_body_without_end(self) -> None:
        def answer(h, path: str, n: int) -> None:
            h.send_response(200)
            h.send_header("Content-Type", "application/json")
            h.send_header("Connection", "close")
            h.end_headers()
            while True:
                h.wfile.write(b" " * 65536)
        self.ends(answer, ACCESS, r"^error: cannot reach the API server: .* is longer than 16 MiB and was cut off$", verb="doctor")

    def test_trouble_that_passes_is_told_and_survived(self) -> None:
        node = {"metadata": {"name": "n1", "uid": "u"}}

        def answer(h, path: str, n: int) -> None:
            if n == 1 and path.endswith("nodes"):
                h.reply(503, b"upstream connect error", "text/plain")
            else:
                normal(h, path, node)
        with Api(answer) as api:
            done = run("status", "--server", api.url, "-o", "name")
            self.assertEqual((done.code, done.out), (0, "node/n1\n"), done.err)
            self.assertRegex(done.err, r"\Acannot list nodes: HTTP 503: .*; trying again in \d\.\d s\n\Z")

    def test_trouble_that_stays_ends(self) -> None:
        api = self.ends(lambda h, path, n: h.reply(500, status(500, "InternalError", "etcd is sad")), FAILED,
                        r"^error: cannot list \w+: etcd is sad$")
        self.assertLessEqual(len(api.seen), 16)  # four lists, each four times

    def test_throttling_is_honoured(self) -> None:
        asked: list[float] = []

        def answer(h, path: str, n: int) -> None:
            if path.endswith("nodes"):
                asked.append(time.monotonic())
            if n == 1 and path.endswith("nodes"):
                h.reply(429, b"Too many requests", "text/plain", Retry_After="2")
            else:
                normal(h, path)
        with Api(answer) as api:
            done = run("status", "--server", api.url)
            self.assertEqual(done.code, 0, done.err)
        self.assertGreaterEqual(asked[1] - asked[0], 2)

    def test_a_list_that_breaks_off_is_asked_for_again(self) -> None:
        def answer(h, path: str, n: int) -> None:
            body = objects(path)
            if n > 1:
                h.reply(200, body)
                return
            h.send_response(200)
            h.send_header("Content-Type", "application/json")
            h.send_header("Content-Length", str(len(body)))
            h.end_headers()
            h.wfile.write(body[:20])
            h.close_connection = True
        with Api(answer) as api:
            done = run("status", "--server", api.url)
            self.assertEqual(done.code, 0, done.err)
            self.assertEqual(len(api.seen), 12)  # five lists and which groups there are, each twice

    def test_names_cannot_speak_to_the_terminal(self) -> None:
        name = "n\x1b]0;owned\x07\x1b[31m\u202e"
        with Api(lambda h, path, n: normal(h, path, {"metadata": {"name": name, "uid": "u"}})) as api:
            done = run("status", "--server", api.url)
            self.assertEqual(done.code, 0)
            self.assertNotRegex(done.out, "[\x00-\x09\x0b-\x1f\x7f\u202e]")
            self.assertIn("owned", done.out)
            self.assertEqual(json.loads(run("status", "--server", api.url, "-o", "json").out)["items"][0]["name"], name)


class Configuration(unittest.TestCase):
    def refused(self, text: str, pattern: str, code: int = USAGE) -> None:
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "config"
            file.write_text(text)
            done = run("status", KUBECONFIG=str(file))
            self.assertEqual((done.code, done.out), (code, ""), done.err)
            self.assertRegex(done.err.replace(str(file), "FILE"), re.compile(pattern))

    def test_an_unknown_key(self) -> None:
        self.refused("apiVersion: v1\nkind: Config\nclusters:\n- name: a\n  cluster:\n    servr: https://x\n",
                     r'\Aerror: FILE:6:5: .*"servr".*did you mean "server"')

    def test_no_yaml(self) -> None:
        self.refused("apiVersion: v1\nclusters: [\n", r"\Aerror: FILE:\d+:\d+: ")

    def test_a_context_that_is_not_there(self) -> None:
        self.refused("apiVersion: v1\nkind: Config\ncurrent-context: prod\n", r"\Aerror: .*prod")

    def test_none_at_all(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            done = run("status", HOME=home)
            self.assertEqual((done.code, done.out), (USAGE, ""), done.err)
            self.assertRegex(done.err, r"\Aerror: .*kubeconfig")


if __name__ == "__main__":
    tap.main()
