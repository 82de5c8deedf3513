"""Small servers on loopback that stand between a client and a cluster, or behind the cluster: a TCP relay, an HTTP
CONNECT proxy, an HTTPS server.  Each runs in threads of its own until close()."""

from __future__ import annotations

import http.server
import socket
import ssl
import threading
from pathlib import Path
from typing import Callable


class Listener:
    """Accepts connections on a free loopback port and gives each to serve() in a thread of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.mute = False
        self._open: set[socket.socket] = set()
        self.accepted = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with self._lock:
                self.accepted += 1
                self._open.add(connection)
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection: socket.socket) -> None:
        try:
            self.serve(connection)
        except OSError:
            pass
        finally:
            self.drop(connection)

    def serve(self, connection: socket.socket) -> None:
        raise NotImplementedError

    def drop(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.discard(connection)
        try:
            connection.shutdown(socket.SHUT_RDWR)  # wakes a thread that reads from it
        except OSError:
            pass
        connection.close()

    def cut(self) -> None:
        """Ends every connection there is; new ones are still accepted."""
        with self._lock:
            mine = list(self._open)
        for connection in mine:
            self.drop(connection)

    def close(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()
        self.cut()

    def splice(self, one: socket.socket, other: socket.socket) -> None:
        """Copies both ways until one side ends; what comes back from `other` is lost as long as `mute` is set."""
        back = threading.Thread(target=self._copy, args=(other, one, True), daemon=True)
        back.start()
        self._copy(one, other, False)
        back.join()

    def _copy(self, source: socket.socket, target: socket.socket, back: bool) -> None:
        try:
            while data := source.recv(65536):
                if not (back and self.mute):
                    target.sendall(data)
        except OSError:
            pass
        for each in (source, target):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Relay(Listener):
    """Hands every connection on to a port, which may change; connections that are there stay with the old one."""

    def __init__(self, target: int) -> None:
        self.target: int | None = target
        super().__init__()

    def serve(self, connection: socket.socket) -> None:
        if self.target is None:
            return
        other = socket.create_connection(("127.0.0.1", self.target))
        with self._lock:
            self._open.add(other)
        try:
            self.splice(connection, other)
        finally:
            self.drop(other)

    def switch(self, target: int | None) -> None:
        """New connections go there (None: they are closed at once), and those that are there end."""
        self.target = target
        self.cut()


class Proxy(Listener):
    """An HTTP proxy that knows CONNECT only; `asked` has the host:port of each tunnel, `heads` what came with it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.heads: list[str] = []
        self.refuse = 0  # a status to answer with instead
        super().__init__()

    def serve(self, connection: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            data = connection.recv(4096)
            if not data:
                return
            head += data
        method, target, _ = head.split(b"\r\n", 1)[0].decode().split(" ", 2)
        self.asked.append(f"{method} {target}")
        self.heads.append(head.decode(errors="replace"))
        if method != "CONNECT" or self.refuse:
            connection.sendall(f"HTTP/1.1 {self.refuse or 405} No\r\nContent-Length: 0\r\n\r\n".encode())
            return
        host, _, port = target.rpartition(":")
        other = socket.create_connection((host.strip("[]"), int(port)))
        with self._lock:
            self._open.add(other)
        try:
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            self.splice(connection, other)
        finally:
            self.drop(other)


class Answers:
    """An HTTP server, with TLS when a certificate is given, that answers every request with answer(method, path, body):
    (status, headers, body)."""

    def __init__(self, answer: Callable[[str, str, bytes], tuple[int, dict[str, str], bytes]],
                 pair: tuple[Path, Path] | None = None) -> None:
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                outer.asked.append((self.command, self.path, dict(self.headers.items())))
                status, headers, data = answer(self.command, self.path, body)
                self.send_response(status)
                for key, value in headers.items():
                    self.send_header(key, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

            def log_message(self, *_: object) -> None:
                pass

        connections: set[socket.socket] = set()

        class Server(http.server.ThreadingHTTPServer):
            def process_request(self, request, address) -> None:
                connections.add(request)
                super().process_request(request, address)

            def shutdown_request(self, request) -> None:
                connections.discard(request)
                super().shutdown_request(request)

            def handle_error(self, *_: object) -> None:
                pass

        self._connections = connections
        self._server = Server(("127.0.0.1", 0), Handler)
        self.port: int = self._server.server_address[1]
        if pair:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(str(pair[0]), str(pair[1]))
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Ends it and the connections that clients have kept open."""
        self._server.shutdown()
        self._server.server_close()
        for connection in list(self._connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Socks(Listener):
    """A SOCKS5 proxy without authentication; `asked` has the host:port of each connection."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__()

    @staticmethod
    def _exactly(connection: socket.socket, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = connection.recv(count - len(data))
            if not more:
                raise OSError("the client ended")
            data += more
        return data

    def serve(self, connection: socket.socket) -> None:
        _, methods = self._exactly(connection, 2)
        self._exactly(connection, methods)
        connection.sendall(b"\x05\x00")
        _, _, _, kind = self._exactly(connection, 4)
        if kind == 1:
            host = socket.inet_ntoa(self._exactly(connection, 4))
        elif kind == 3:
            host = self._exactly(connection, self._exactly(connection, 1)[0]).decode()
        else:
            host = socket.inet_ntop(socket.AF_INET6, self._exactly(connection, 16))
        port = int.from_bytes(self._exactly(connection, 2), "big")
        self.asked.append(f"{host}:{port}")
        other = socket.create_connection((host, port))
        with self._lock:
            self._open.add(other)
        try:
            connection.sendall(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
            self.splice(connection, other)
        finally:
            self.drop(other)
