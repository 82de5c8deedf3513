"""Zincati's own FleetLock client, from its crate, against the controller: over HTTP and HTTPS.

The client is built once with cargo from tests/zincati, outside of the tree.  Where there is no cargo, or it cannot fetch the crates,
these tests are skipped, and say so.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import shutil
import subprocess
from pathlib import Path

from context import Context, limit
from fleetlock_client import Machine
from test_fleetlock import Fleet

PROJECT = Path(__file__).resolve().parent.parent / "zincati"
VERSION = "0.0.32"  # of the crate: the protocol of 2026, as in Fedora CoreOS
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "slipway/zincati-client"
APP = bytes.fromhex("de35106b6ec24688b63afddaa156679b")
BUILD = 1500  # seconds: two hundred crates on a busy machine


def cargo(*args: str | Path, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run(["cargo", *map(str, args)], capture_output=True, text=True, timeout=BUILD, env={**os.environ, **env})


def source() -> Path | None:
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    return next(iter(sorted((home / "registry/src").glob(f"*/zincati-{VERSION}"))), None)


def build(ctx: Context) -> Path:
    if not shutil.which("cargo"):
        ctx.skip("there is no cargo to build Zincati's client with", optional=True)
    if not source():
        cargo("info", f"zincati@{VERSION}")  # fetches and unpacks it
    if not (where := source()):
        ctx.skip("cargo cannot fetch the crate zincati", optional=True)
    shutil.copytree(PROJECT, CACHE / "project", dirs_exist_ok=True)
    done = cargo("build", "--manifest-path", CACHE / "project/Cargo.toml", ZINCATI_SOURCE=str(where), CARGO_TARGET_DIR=str(CACHE / "target"))
    if done.returncode != 0 and re.search(r"failed to (download|fetch|get)|network", done.stderr):
        ctx.skip(f"cargo cannot fetch what Zincati's client needs: {done.stderr.splitlines()[-1]}", optional=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return CACHE / "target/debug/zincati-client"


def id_of(machine: Machine) -> str:
    """As Zincati derives it: systemd's application-specific machine id."""
    made = bytearray(hmac.new(bytes.fromhex(machine.id.replace("-", "")), APP, hashlib.sha256).digest()[:16])
    made[6], made[8] = made[6] & 0x0F | 0x40, made[8] & 0x3F | 0x80
    return made.hex()


class Zincati:
    def __init__(self, ctx: Context, machine: Machine, base: str, **env: str) -> None:
        self.ctx, self.machine, self.base, self.env = ctx, machine, base, env
        self.program = ctx.once("zincati", lambda: build(ctx))

    def says(self, what: str, group: str = "default") -> str:
        done = self.ctx.run(self.program, self.base + "/", id_of(self.machine), group, what, env=self.env, check=True)
        return done.stdout.strip()

    def until(self, what: str, wanted: str) -> None:
        self.ctx.wait_for(lambda: self.says(what).startswith(wanted), 60, f"{wanted} in answer to {what}")


def go_round(ctx: Context, fleet: Fleet, base: str, **env: str) -> None:
    """Two of them: one is granted, the other waits in the words that Zincati logs; then the other way round."""
    first, second = (Zincati(ctx, m, base, **env) for m in sorted(fleet.machines, key=lambda m: m.name))
    for one in (first, second):
        one.until("steady-state", "granted")
    first.until("pre-reboot", "granted")
    assert fleet.holders() == [first.machine.name]
    second.until("pre-reboot", "slots_full: server-side error, code 404: other nodes rebooting")
    first.machine.boots()
    first.until("steady-state", "granted")
    second.until("pre-reboot", "granted")
    ctx.wait_for(lambda: not first.machine.cordoned, 60, "the first one to be in service")


@limit(BUILD + 300)
def test_http(ctx: Context) -> None:
    fleet = Fleet(ctx, 2)
    ctx.once("zincati", lambda: build(ctx))
    _, base = fleet.controller()
    fleet.ready(base)
    go_round(ctx, fleet, base)
    stranger = Zincati(ctx, fleet.machines[0], base)
    assert stranger.says("pre-reboot", group="no group").startswith("bad_request: server-side error, code 400")


@limit(BUILD + 300)
def test_https(ctx: Context) -> None:
    """It trusts what the system trusts, and has no option for more: without that it cannot ask."""
    fleet = Fleet(ctx, 2)
    ctx.once("zincati", lambda: build(ctx))
    cert, key = ctx.cluster.authority.issue("fleetlock", hosts=["IP:127.0.0.1"])
    child, _ = fleet.controller("--fleetlock-tls-listen=127.0.0.1:0", "--fleetlock-tls-cert", str(cert), "--fleetlock-tls-key", str(key))
    found = ctx.wait_for(lambda: re.search(r"over HTTPS at ([\d.:]+)", "\n".join(child.err)), 60, "HTTPS to be served")
    base = f"https://{found[1]}"
    assert Zincati(ctx, fleet.machines[0], base).says("steady-state").startswith("client_failed_request: client-side error")
    go_round(ctx, fleet, base, SSL_CERT_FILE=str(ctx.cluster.ca))
