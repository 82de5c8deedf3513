"""An admission webhook for evictions: a small HTTPS server in a thread of the test, and its registration.

    hook = Webhook(g, lambda review: (False, 429, "moving the machine away"))
    hook.judge = ...                       # from now on
"""

from __future__ import annotations

import base64
import http.server
import json
import ssl
import threading
import traceback
from typing import Callable

from drain_ground import Ground

Verdict = tuple[bool, int, str]
PATH = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


class Webhook:
    """Judges every eviction in the ground's namespace.  judge(review) gives (allowed, code, message)."""

    def __init__(self, ground: Ground, judge: Callable[[dict], Verdict]) -> None:
        self.ground, self.judge = ground, judge
        self.seen: list[dict] = []  # the requests of reviews that were not dry runs
        self.dry = 0
        self.broken = False  # answers nothing of use
        self.troubles: list[str] = []  # of the judge: exceptions that nobody expects
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        cert, key = ground.cluster.authority.issue("drain-webhook", hosts=["IP:127.0.0.1"])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        ground.ctx.undo(self.close)
        self.register()

    def handler(self):
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
                body = b"no such thing"
                code = 500
                if request.get("dryRun"):
                    hook.dry += 1
                else:
                    hook.seen.append(request)
                if not hook.broken:
                    try:
                        allowed, status, message = hook.judge(request) if not request.get("dryRun") else (True, 200, "")
                    except Exception:
                        hook.troubles.append(traceback.format_exc())
                        raise
                    answer = {"uid": request["uid"], "allowed": allowed}
                    if not allowed:
                        answer["status"] = {"code": status, "message": message}
                    body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer}).encode()
                    code = 200
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_arguments: object) -> None:
                pass

        return Handler

    def register(self) -> None:
        g = self.ground
        hook = {"name": "evictions.test.slipway.dev", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail",
                "timeoutSeconds": 30, "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": g.ns}},
                "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/eviction"]}],
                "clientConfig": {"url": f"https://127.0.0.1:{self.server.server_port}/",
                                 "caBundle": base64.b64encode(g.cluster.ca.read_bytes()).decode()}}
        made = g.api.call("POST", PATH, {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                                         "metadata": {"generateName": "drain-test-"}, "webhooks": [hook]})
        g.ctx.undo(lambda: g.api.delete(f"{PATH}/{made['metadata']['name']}"))
        pod = g.names()[0]

        def asked() -> bool:
            eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": g.ns}}
            g.api.raw("POST", g.path(pod) + "/eviction?dryRun=All", json.dumps(eviction).encode(), "application/json")
            return self.dry > 0
        g.ctx.wait_for(asked, 30, "the server to ask the webhook", interval=0.3)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        assert not self.troubles, "\n".join(self.troubles)
