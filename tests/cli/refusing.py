"""A server in front of a simulation that refuses some lists, as one does whose user lacks the permission, or evictions, as one does that
has an admission webhook."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading

from simulation import Client


class Refusing:
    """`with Refusing(sim.client, "pods") as url`: for --server. "eviction" is refused by a webhook."""

    def __init__(self, client: Client, *kinds: str) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def forward(self) -> None:
                kind = self.path.partition("?")[0].rpartition("/")[2]
                if self.command == "GET" and kind in kinds:
                    self.refuse(kind)
                    return
                length = int(self.headers.get("Content-Length", 0))
                if self.command == "POST" and kind == "eviction" and kind in kinds:
                    self.rfile.read(length)
                    self.answer('admission webhook "no.example.com" denied the request: not tonight')
                    return
                headers = {k: v for k, v in self.headers.items() if k.lower() in ("accept", "content-type")}
                with contextlib.closing(client.connect()) as c:
                    c.request(self.command, self.path, self.rfile.read(length) or None, headers | {"Authorization": f"Bearer {client.token}"})
                    answer = c.getresponse()
                    self.send_response(answer.status)
                    self.send_header("Content-Type", answer.getheader("Content-Type", "application/json"))
                    self.end_headers()
                    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                        while data := answer.read1(65536):  # a watch has no end
                            self.wfile.write(data)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = forward

            def refuse(self, kind: str) -> None:
                self.answer(f'{kind} is forbidden: User "eve" cannot list resource "{kind}"')

            def answer(self, message: str) -> None:
                body = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403,
                                   "message": message}).encode()
                self.send_response(403)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # who hangs up has heard enough

    def __enter__(self) -> str:
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}"

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
