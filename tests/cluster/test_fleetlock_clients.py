"""FleetLock clients that are not as they should be, on real sockets: none of them keeps others from being heard."""

from __future__ import annotations

import socket

from context import Context, limit
from fleetlock_client import Machine, ask
from test_fleetlock import Fleet

HEAD = b"POST /v1/pre-reboot HTTP/1.1\r\nHost: a\r\nfleet-lock-protocol: true\r\n"


def dial(base: str) -> socket.socket:
    host, _, port = base.removeprefix("http://").rpartition(":")
    return socket.create_connection((host, int(port)), timeout=60)


@limit(600)
def test_slow_idle_and_oversized(ctx: Context) -> None:
    """Hundreds that say nothing, half of a head, half of a body, or do not take their answer; the others are answered."""
    fleet = Fleet(ctx, 1)
    _, base = fleet.controller("--fleetlock-address-rate=0")  # all of them are one address, and ask 30,000 times
    fleet.ready(base)
    said = {"nothing": b"", "half a head": HEAD, "half a body": HEAD + b"Content-Length: 1000\r\n\r\n{",
            "chunks without end": HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
            "pipelined": (HEAD + b"Content-Length: 2\r\n\r\n{}") * 200}
    held = []
    for words in said.values():
        for _ in range(150):
            held.append(dial(base))
            held[-1].sendall(words)
    ctx.undo(lambda: [s.close() for s in held])
    for _ in range(20):
        assert ask(base, "pre-reboot", "f" * 32)[0] == 400
    ctx.wait_for(lambda: fleet.machines[0].steady_state(base)[0] == 200, 60, "somebody who has something to say")
    for body, code in ((b"x" * (1 << 20), 413), (b"{" * 16000, 400)):
        with dial(base) as big:
            big.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body[:16000])
            assert b" %d " % code in big.recv(100)
    with dial(base) as long:
        long.sendall(HEAD + b"X: " + b"y" * 9000 + b"\r\n")
        assert b" 431 " in long.recv(100)
    for s in held[:3 * 150]:  # what is not complete is given up by the server itself
        s.settimeout(60)
        while s.recv(1 << 16):
            pass


@limit(300)
def test_callers(ctx: Context) -> None:
    """Whoever is not the node: reported by default, refused on demand; other ids on demand; too many requests are too many."""
    fleet = Fleet(ctx, 2)
    own, stranger = fleet.machines
    addresses = [{"type": "InternalIP", "address": "127.0.0.1"}]
    fleet.api.patch(own.path + "/status", {"status": {"addresses": addresses}})
    reports, open_base = fleet.controller()
    _, strict = fleet.controller("--fleetlock-caller-check=enforce", "--fleetlock-rate=60")
    for base in (open_base, strict):
        fleet.ready(base)
    ctx.wait_for(lambda: stranger.steady_state(open_base)[0] == 200, 60, "a stranger to be heard")
    ctx.wait_for(lambda: any("does not have that address" in line for line in reports.err), 60, "that to be said")
    ctx.wait_for(lambda: own.steady_state(strict)[0] == 200, 60, "the node itself to be heard")
    assert (refused := stranger.steady_state(strict))[0] == 403 and refused[1]["kind"] == "caller_mismatch", refused
    ctx.wait_for(lambda: own.steady_state(strict)[1]["kind"] == "rate_limited", 60, "it to have asked too often", interval=0)
    assert ask(strict, "steady-state", "e" * 32)[0] == 400, "others have their own share"


@limit(300)
def test_other_ids(ctx: Context) -> None:
    """By the name of the node, and by the ids of another application, where that was asked for; the seed's way stays."""
    fleet = Fleet(ctx, 1)
    machine = fleet.machines[0]
    # The pair of spec and systemd-id128: an application's id, and what it makes of that machine.
    app, raw, derived = "033b1b9b264441fcaa173e9e5bf35c5a", "2e074e9b299c41a59923c51ae16f279b", "4d4a86c9c6644a479560ded5d19a30c5"
    fleet.api.patch(machine.path + "/status", {"status": {"nodeInfo": {"machineID": raw}}})
    _, plain = fleet.controller()
    _, more = fleet.controller("--fleetlock-node-names", f"--fleetlock-app-id={app}")
    for base in (plain, more):
        fleet.ready(base)
    for name in (derived, machine.name):
        ctx.wait_for(lambda: ask(more, "steady-state", name)[0] == 200, 60, f"{name} to be known")
        assert ask(plain, "steady-state", name)[1]["kind"] == "unknown_node"
    ctx.wait_for(lambda: Machine(fleet.api, machine.name).steady_state(more)[0] == 200, 60, "its machine id")
    child = fleet.ctx.run(fleet.ctx.slipway, "controller", "--fleetlock-listen=127.0.0.1:0", "--fleetlock-app-id=x")
    assert child.returncode != 0 and "32 hexadecimal digits" in child.stderr, child
