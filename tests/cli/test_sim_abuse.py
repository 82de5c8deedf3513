"""What clients can do to the simulator over its socket: ten thousand of them, clients that never read, that never finish what they
begin, that send more than anybody needs.  It answers as an API server does, serves the others meanwhile, and its memory is bounded.

Nothing here depends on how fast the machine is: what must come is waited for, what must not grow has a bound with its reason.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import socket
import ssl
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import LIMIT, SLIPWAY  # noqa: E402
from simulation import Client, Sim, until  # noqa: E402

MIB = 1 << 20
# The sanitizers' allocator keeps what is freed and takes several times as much: bounds of memory are not for it, and neither are as
# many connections.
SANITIZED = b"__asan_init" in Path(SLIPWAY).read_bytes()
WATCHES = 1000 if SANITIZED else 10000
SPARE = 200  # descriptors that this process and the simulator need for other things
# One watch over TLS costs the simulator 17 KiB: OpenSSL's session (11, without the buffers that it gives up while idle), libevent's
# buffers and timers, the request and the watch itself.  The bound is twice that: it fails when an idle watch keeps a buffer.
WATCH_COST = 40 << 10


def memory(pid: int) -> int:
    """Resident bytes of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    raise AssertionError("no VmRSS")


def files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def allow_files(count: int) -> bool:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < count:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))
    return True


class Raw:
    """A connection of which every byte is the test's own."""

    def __init__(self, client: Client, session: ssl.SSLSession | None = None, buffer: int = 0) -> None:
        host, _, port = client.server.rpartition(":")
        plain = socket.socket()
        if buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        plain.settimeout(LIMIT)
        plain.connect((host, int(port)))
        self.socket = client.context.wrap_socket(plain, server_hostname=host, session=session)
        self.client, self.data = client, b""

    def send(self, text: str | bytes) -> Raw:
        self.socket.sendall(text.encode() if isinstance(text, str) else text)
        return self

    def ask(self, method: str, target: str, *headers: str, body: bytes = b"") -> Raw:
        lines = [f"{method} {target} HTTP/1.1", "Host: sim", f"Authorization: Bearer {self.client.token}", *headers]
        return self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def until(self, piece: bytes) -> bytes:
        """What came up to and with this piece."""
        while piece not in self.data:
            more = self.socket.recv(65536)
            assert more, f"it ended without {piece!r}: {self.data[-300:]!r}"
            self.data += more
        head, _, self.data = self.data.partition(piece)
        return head + piece

    def rest(self) -> bytes:
        """All until the server closes, in order or by a reset."""
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            while more := self.socket.recv(65536):
                self.data += more
        return self.data

    def stream(self) -> bytes:
        """All of a stream until its last chunk, or until the server hangs up."""
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            while not self.data.endswith(b"\r\n0\r\n\r\n") and (more := self.socket.recv(65536)):
                self.data += more
        return self.data

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def config_map(name: str, size: int, **labels: str) -> dict:
    return {"metadata": {"name": name, "labels": labels}, "data": {"text": "x" * size}}


MAPS = "/api/v1/namespaces/default/configmaps"


class Writer:
    """Changes over one connection that is kept."""

    def __init__(self, client: Client) -> None:
        self.client, self.connection = client, client.connect()

    def call(self, method: str, path: str, body: object = None, content: str = "application/json") -> dict:
        self.connection.request(method, path, None if body is None else json.dumps(body),
                                {"Authorization": f"Bearer {self.client.token}", "Content-Type": content})
        answer = self.connection.getresponse()
        data = answer.read()
        assert answer.status in (200, 201), (answer.status, data[:300])
        return json.loads(data)

    def patch(self, path: str, body: object) -> dict:
        return self.call("PATCH", path, body, "application/merge-patch+json")


class Watches(unittest.TestCase):
    def setUp(self) -> None:
        if not allow_files(WATCHES + SPARE):
            self.skipTest(f"the hard limit of open files is too low for {WATCHES} watches")

    def hear(self, open_: list[Raw], piece: bytes) -> None:
        """All of them get this."""
        with contextlib.closing(select.epoll()) as poll:
            waiting = {}
            for raw in open_:
                raw.socket.setblocking(False)
                waiting[raw.socket.fileno()] = raw
                poll.register(raw.socket.fileno(), select.EPOLLIN)
            for fd in list(waiting):  # OpenSSL may hold what the socket no longer has
                self.take(waiting, fd, piece)
            while waiting:
                ready = poll.poll(LIMIT)
                self.assertTrue(ready, f"{len(waiting)} watches never got {piece!r}")
                for fd, _ in ready:
                    self.take(waiting, fd, piece)

    def take(self, waiting: dict[int, Raw], fd: int, piece: bytes) -> None:
        raw = waiting.get(fd)
        if not raw:
            return
        found = False
        with contextlib.suppress(ssl.SSLWantReadError):
            while True:
                data = raw.socket.recv(65536)
                self.assertTrue(data, "a watch ended")
                raw.data = raw.data[-len(piece):] + data
                found = found or piece in raw.data
        if found:
            raw.data = b""
            del waiting[fd]

    def test_ten_thousand(self) -> None:
        with Sim("--nodes", "1") as sim, contextlib.ExitStack() as stack:
            pid, client = sim.process.pid, sim.client
            target = "/api/v1/nodes?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dw1"
            with Raw(client) as first:  # its ticket spares the others the costly half of the handshake
                first.ask("GET", target).until(b'"ADDED"')
                session = first.socket.session
            before, descriptors = memory(pid), files(pid)
            watches = []
            for _ in range(WATCHES):
                watches.append(stack.enter_context(Raw(client, session)).ask("GET", target))
            self.hear(watches, b'"type":"ADDED"')
            self.assertGreaterEqual(files(pid), WATCHES)
            for number in ("one", "two"):
                client.patch("/api/v1/nodes/w1", {"metadata": {"labels": {"seen": number}}})
                self.hear(watches, f'"seen":"{number}"'.encode())
            cost = memory(pid) - before
            if not SANITIZED:
                self.assertLess(cost / WATCHES, WATCH_COST, f"{cost >> 20} MiB for {WATCHES} watches")
            stay = watches[::40]  # scattered over all of the memory
            for raw in watches:
                if raw not in stay:
                    raw.close()
            until(lambda: files(pid) <= descriptors + len(stay) + 10, "the end of most connections")
            if not SANITIZED:
                until(lambda: memory(pid) - before < cost * 0.9, "the return of some memory")
            for raw in stay:
                raw.close()
            until(lambda: files(pid) <= descriptors + 10, "the end of the connections")
            if not SANITIZED:  # given back, but for what malloc() cannot
                until(lambda: memory(pid) - before < cost / 4, "the return of the memory")
            self.assertEqual(client.get("/api/v1/nodes/w1")["metadata"]["labels"]["seen"], "two")


    def test_after_large_events(self) -> None:
        """What was sent is not kept, however large it was: an idle watch costs the same."""
        watches, maps, size = 200, 10, 100_000
        with Sim("--nodes", "1") as sim, contextlib.ExitStack() as stack:
            pid, writer = sim.process.pid, Writer(sim.client)
            for i in range(maps):
                writer.call("POST", MAPS, config_map(f"m{i}", size))
            with Raw(sim.client) as first:
                first.ask("GET", f"{MAPS}/m0").until(b'"kind"')
                session, before = first.socket.session, memory(pid)
            open_ = []
            for _ in range(watches):
                open_.append(stack.enter_context(Raw(sim.client, session)).ask("GET", MAPS + "?watch=1&resourceVersion=0"))
                self.hear(open_[-1:], f'"name":"m{maps - 1}"'.encode())
            writer.patch(f"{MAPS}/m0", {"metadata": {"labels": {"seen": "yes"}}})
            self.hear(open_, b'"seen":"yes"')
            if not SANITIZED:  # a few buffers of malloc()'s own, which are not given back one by one
                until(lambda: memory(pid) - before < watches * WATCH_COST + 8 * MIB, "what was sent to be let go of")


class Silent(unittest.TestCase):
    """Clients that ask and never read."""

    # Of a kind the simulator remembers 64 MiB of changes; a change keeps the state before it, so the objects of the oldest one and
    # of the newest count as well.  What is made ahead for a client is 256 KiB and one piece.  The rest is room for malloc().
    HISTORY, AHEAD, ROOM = 64 * MIB, 384 << 10, 96 * MIB

    def test_watches_and_lists(self) -> None:
        size, maps, clients, changes = 100_000, 20, 60, 1500
        self.assertGreater(changes * size, 2 * self.HISTORY, "more is changed than is remembered")
        with Sim("--nodes", "1") as sim, contextlib.ExitStack() as stack:
            pid, client = sim.process.pid, sim.client
            writer = Writer(client)
            for i in range(maps):
                writer.call("POST", MAPS, config_map(f"m{i}", size))
            before = memory(pid)
            silent = []
            for i in range(clients):
                raw = stack.enter_context(Raw(client, buffer=4096))
                silent.append(raw.ask("GET", MAPS + ("?watch=1&resourceVersion=0" if i % 2 else "")))
            reader = stack.enter_context(Raw(client)).ask("GET", MAPS + "?watch=1&labelSelector=seen")
            for i in range(changes):
                writer.patch(f"{MAPS}/m{i % maps}", {"data": {"text": chr(97 + i % 26) * size, "number": str(i)}})
            # Others are served, at once and completely.
            writer.patch(f"{MAPS}/m0", {"metadata": {"labels": {"seen": "yes"}}})
            reader.until(b'"seen":"yes"')
            self.assertEqual(len(client.get(MAPS)["items"]), maps + 1)  # and the root certificate
            if not SANITIZED:
                bound = before + self.HISTORY + clients * self.AHEAD + self.ROOM
                self.assertLess(memory(pid), bound, f"{memory(pid) >> 20} MiB, {before >> 20} before")
            # One that reads again finds that it has missed the rest: its watch ends, as the real server ends those that are too slow.
            # (On a machine on which all this took minutes it has been hung up on before.)
            late = silent[1].stream()
            self.assertTrue(late.startswith(b"HTTP/1.1 200 OK\r\n"), late[:100])
            self.assertNotIn(f'"number":"{changes - 1}"'.encode(), late)
            self.assertLess(len(late), changes * size // 2)
            for raw in silent:
                raw.close()

    def test_whole_lists(self) -> None:
        """Protobuf cannot be sent before it is known whole: such answers are counted, and refused when they are too many."""
        size, maps, clients = 900_000, 30, 40
        protobuf = "Accept: application/vnd.kubernetes.protobuf"
        with Sim("--nodes", "1") as sim, contextlib.ExitStack() as stack:
            pid, client = sim.process.pid, sim.client
            writer = Writer(client)
            for i in range(maps):
                writer.call("POST", MAPS, config_map(f"m{i}", size))
            for _ in range(clients):  # together more than a gigabyte
                stack.enter_context(Raw(client, buffer=4096)).ask("GET", MAPS, protobuf)
            with Raw(client) as late:
                head = late.ask("GET", MAPS, protobuf).until(b"\r\n\r\n")
                self.assertIn(b"HTTP/1.1 429 Too Many Requests\r\n", head)
                self.assertIn(b"\r\nRetry-After: 1\r\n", head)
                late.until(b"Too many requests, please try again later.\n")
                # Small answers and streams are not: those who ask for them are not to blame.
                late.ask("GET", f"{MAPS}/none").until(b'"code":404')
            self.assertEqual(len(client.get(MAPS)["items"]), maps + 1)
            if not SANITIZED:  # 512 MiB of answers, a list under way, the objects and the room for them
                self.assertLess(memory(pid), 800 * MIB, f"{memory(pid) >> 20} MiB")
            stack.close()
            until(lambda: b" 200 " in self.first_line(client, protobuf), "the end of the refusals")

    def first_line(self, client: Client, accept: str) -> bytes:
        with Raw(client) as raw:
            return raw.ask("GET", f"{MAPS}", accept).until(b"\r\n")


class Requests(unittest.TestCase):
    """Requests that are no good, or never whole."""

    def setUp(self) -> None:
        self.sim = Sim("--nodes", "1")
        self.sim.__enter__()
        self.addCleanup(self.sim.__exit__)
        self.client = self.sim.client

    def served(self) -> None:
        self.assertEqual(self.client.get("/api/v1/nodes/w1")["metadata"]["name"], "w1")

    def test_unfinished(self) -> None:
        """Half a head, half a body, no handshake: others are served meanwhile, and after half a minute they are hung up on."""
        pid, before = self.sim.process.pid, files(self.sim.process.pid)
        host, _, port = self.client.server.rpartition(":")
        with contextlib.ExitStack() as stack:
            plain = [stack.enter_context(socket.create_connection((host, int(port)), LIMIT)) for _ in range(100)]
            for s in plain[:50]:
                s.sendall(b"\x16\x03\x01\x02\x00\x01")  # the beginning of a ClientHello
            heads = [stack.enter_context(Raw(self.client)).send("GET /api/v1/nodes HTTP/1.1\r\nHost: s") for _ in range(50)]
            bodies = [stack.enter_context(Raw(self.client)).ask("POST", MAPS, "Content-Length: 1000", body=b'{"metadata":')
                      for _ in range(50)]
            until(lambda: files(pid) >= before + 200, "the connections")
            self.served()
            for raw in heads:  # a byte now and then does not help
                raw.send("i")
            self.served()
            for s in plain:
                s.settimeout(LIMIT)
                with contextlib.suppress(ConnectionError):
                    while s.recv(65536):
                        pass
            for raw in heads:
                self.assertTrue(raw.rest().startswith(b"HTTP/1.1 408 Request Timeout\r\n"), raw.data)
            self.served()
            for raw in bodies:  # theirs is a minute
                raw.close()
            until(lambda: files(pid) <= before + 10, "the end of the connections")

    def test_gigantic_headers(self) -> None:
        for text in ("X-Large: " + "x" * (4 << 20), "".join(f"X-{i}: y\r\n" for i in range(200_000))):
            with Raw(self.client) as raw:
                with contextlib.suppress(ConnectionError, ssl.SSLError):  # it does not read to the end
                    raw.send("GET /version HTTP/1.1\r\nHost: sim\r\n" + text)
                self.assertTrue(raw.rest().startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n"), raw.data[:100])
        with Raw(self.client) as raw:
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                raw.send("GET /" + "a" * (4 << 20))
            self.assertTrue(raw.rest().startswith(b"HTTP/1.1 431 "), raw.data[:100])
        self.served()

    def test_bodies_without_end(self) -> None:
        """In chunks, and longer than it said: 413 in the words of Kubernetes, long before all of it was sent."""
        chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
        before = memory(self.sim.process.pid)
        with Raw(self.client) as raw:
            raw.ask("POST", MAPS, "Content-Type: application/json", "Transfer-Encoding: chunked")
            sent = 0
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                while sent < 64 * MIB:
                    raw.send(chunk)
                    sent += 65536
            self.assertLess(sent, 64 * MIB, "it read on for ever")
        for method, extra in (("POST", ""), ("PUT", "/x"), ("PATCH", "/x"), ("DELETE", "/x"), ("DELETE", "")):
            with Raw(self.client) as raw:
                raw.ask(method, MAPS + extra, "Content-Type: application/json", f"Content-Length: {1 << 40}")
                answer = raw.rest()
                self.assertTrue(answer.startswith(b"HTTP/1.1 413 Request Entity Too Large\r\n"), answer[:100])
                self.assertIn(b'"message":"Request entity too large: limit is 3145728","reason":"RequestEntityTooLarge"', answer)
        if not SANITIZED:
            self.assertLess(memory(self.sim.process.pid) - before, 32 * MIB)
        self.served()

    def test_broken_framing(self) -> None:
        """What two servers could understand differently is understood by none."""
        for lines in (("Content-Length: 5", "Transfer-Encoding: chunked"), ("Content-Length: 5", "Content-Length: 6"),
                      ("Content-Length: -1",), ("Content-Length: 0x10",), ("Transfer-Encoding: gzip",), ("Bad Header: x",),
                      (" folded: x",), ("Content-Length: 99999999999999999999",)):
            with Raw(self.client) as raw:
                raw.ask("POST", MAPS, "Content-Type: application/json", *lines, body=b"0\r\n\r\n")
                self.assertRegex(raw.rest()[:40], rb"\AHTTP/1\.1 (400|413|501) ", lines)
        with Raw(self.client) as raw:
            raw.ask("POST", MAPS, "Content-Type: application/json", "Transfer-Encoding: chunked", body=b"zz\r\n")
            self.assertTrue(raw.rest().startswith(b"HTTP/1.1 400 "), raw.data)
        self.served()

    def test_pipelined(self) -> None:
        """Answers come in the order of the requests, also when nobody reads them until all are sent."""
        count = 500
        with Raw(self.client) as raw:
            for i in range(count):
                raw.ask("GET", f"{MAPS}/none-{i}")
            for i in range(count):
                self.assertIn(b"404 Not Found", raw.until(f'configmaps \\"none-{i}\\" not found'.encode()))
        self.served()

    def test_large_and_wrong(self) -> None:
        """What fills a body is looked at once: comparing each with each would keep everybody waiting for minutes."""
        many = {f"k {i}": "v" for i in range(40_000)}
        code, body = self.client.call("POST", MAPS, {"metadata": {"name": "x", "labels": many}})
        self.assertEqual((code, body["reason"], len(body["details"]["causes"])), (422, "Invalid", len(many)))
        spread = [{"maxSkew": 1, "topologyKey": f"k{i}", "whenUnsatisfiable": "DoNotSchedule"} for i in range(20_000)]
        pod = {"metadata": {"name": "x"}, "spec": {"containers": [{"name": "c", "image": "i"}], "topologySpreadConstraints": spread}}
        code, body = self.client.call("POST", "/api/v1/namespaces/default/pods?dryRun=All", pod)
        self.assertEqual((code, len(body["spec"]["topologySpreadConstraints"])), (201, len(spread)))
        doubled = '{"metadata":{"name":"x"},"data":{' + ",".join('"a":"1"' for _ in range(100_000)) + "}}"
        with Raw(self.client) as raw:
            raw.ask("POST", MAPS + "?dryRun=All", "Content-Type: application/json", f"Content-Length: {len(doubled)}", body=doubled.encode())
            self.assertIn(b" 201 Created", raw.until(b"\r\n\r\n"))
        self.served()

    def test_connections_without_a_word(self) -> None:
        """They come and go; nothing of them stays."""
        pid, before = self.sim.process.pid, files(self.sim.process.pid)
        host, _, port = self.client.server.rpartition(":")
        for _ in range(500):
            with socket.create_connection((host, int(port)), LIMIT) as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset instead of a goodbye
        self.served()
        until(lambda: files(pid) <= before + 10, "the end of the connections")


if __name__ == "__main__":
    tap.main()
