"""FleetLock over HTTPS on a real cluster: the certificate that Slipway makes, and one that is given as files, as curl sees them."""

from __future__ import annotations

import base64
import json
import re
import ssl
import subprocess
from pathlib import Path

from context import Child, Context, limit
from fleetlock_client import Machine

CA, TLS, SERVICE = "slipway-fleetlock-ca", "slipway-fleetlock-tls", "reboot-manager"


class Site:
    def __init__(self, ctx: Context) -> None:
        self.ctx, self.api, self.ns = ctx, ctx.cluster.api, ctx.namespace()
        self.machine = Machine(self.api, ctx.nodes(1)[0])
        made = self.api.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": SERVICE, "namespace": self.ns},
                                "spec": {"selector": {"app": "x"}, "ports": [{"port": 443}]}})
        self.address = made["spec"]["clusterIP"]

    def spawn(self, *flags: str) -> Child:
        return self.ctx.spawn(self.ctx.slipway, "controller", "--fleetlock-tls-listen", "127.0.0.1:0", "--namespace", self.ns,
                              "--fleetlock-service", SERVICE, "-v=2", *flags)

    def controller(self, *flags: str) -> tuple[Child, str]:
        child = self.spawn(*flags)
        return child, self.address_of(child)

    def address_of(self, child: Child) -> str:
        found = self.ctx.wait_for(lambda: re.search(r"over HTTPS at ([\d.:]+)", "\n".join(child.err)), 60, "HTTPS to be served")
        return found[1]

    def path(self, name: str) -> str:
        return f"/api/v1/namespaces/{self.ns}/secrets/{name}"

    def stored(self, name: str, member: str) -> str:
        return base64.b64decode(self.api.get(self.path(name))["data"][member]).decode()

    def file(self, name: str, text: str) -> Path:
        path = self.ctx.tmp / name
        path.write_text(text)
        return path

    def authority(self) -> Path:
        """As a host gets it."""
        return self.file("ca.crt", self.stored(TLS, "ca.crt"))

    def curl(self, where: str, host: str, ca: Path) -> subprocess.CompletedProcess:
        body = json.dumps({"client_params": {"id": self.machine.id, "group": "default"}})
        return self.ctx.run("curl", "-sS", "--cacert", ca, "--connect-to", f"{host}:443:{where}", "-H", "fleet-lock-protocol: true",
                            "-d", body, "--max-time", "30", f"https://{host}/v1/steady-state")

    def answers(self, where: str, host: str, ca: Path) -> None:
        self.ctx.wait_for(lambda: '"kind":"ok"' in self.curl(where, host, ca).stdout, 60, f"an answer at https://{host}/")


def shown(where: str) -> str:
    host, _, port = where.rpartition(":")
    return ssl.get_server_certificate((host, int(port)), timeout=30)


@limit(300)
def test_made_by_slipway(ctx: Context) -> None:
    """Two replicas that begin at once serve the same certificate: for the address of the Service and its names, for nothing else."""
    site = Site(ctx)
    both = [site.spawn() for _ in range(2)]
    one, other = (site.address_of(child) for child in both)
    ca = site.authority()
    for where in (one, other):
        for host in (site.address, f"{SERVICE}.{site.ns}.svc", f"{SERVICE}.{site.ns}.svc.cluster.local"):
            site.answers(where, host, ca)
    assert shown(one) == shown(other) == site.stored(TLS, "tls.crt")
    assert "no alternative certificate subject name matches" in (said := site.curl(one, "10.0.0.250", ca).stderr), said
    # What its key could be used for by a thief: nothing beyond the Service.
    key, where = site.file("ca.key", site.stored(CA, "tls.key")), ctx.tmp / "stolen.crt"
    config = site.file("names", "subjectAltName=DNS:example.org")
    ctx.run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", ctx.tmp / "stolen.key",
            "-subj", "/CN=x", "-out", ctx.tmp / "stolen.csr", check=True)
    ctx.run("openssl", "x509", "-req", "-in", ctx.tmp / "stolen.csr", "-CA", ca, "-CAkey", key, "-extfile", config, "-out", where,
            check=True)
    refused = ctx.run("openssl", "verify", "-CAfile", ca, where)
    assert refused.returncode != 0 and "permitted subtree violation" in refused.stderr, refused


@limit(300)
def test_over_when_it_begins(ctx: Context) -> None:
    """A certificate that has ended is replaced by one of the same authority, before anybody is served the old one."""
    site = Site(ctx)
    child, _ = site.controller()
    child.kill()
    ca, key = site.authority(), site.file("ca.key", site.stored(CA, "tls.key"))
    leaf = site.file("leaf.key", site.stored(TLS, "tls.key"))
    names = site.file("names", f"subjectAltName=IP:{site.address}")
    old = ctx.tmp / "old.crt"
    ctx.run("openssl", "req", "-new", "-key", leaf, "-subj", "/CN=x", "-out", ctx.tmp / "leaf.csr", check=True)
    ctx.run("openssl", "x509", "-req", "-in", ctx.tmp / "leaf.csr", "-CA", ca, "-CAkey", key, "-days", "-1", "-extfile", names,
            "-out", old, check=True)
    assert ctx.run("openssl", "verify", "-CAfile", ca, old).returncode != 0
    site.api.patch(site.path(TLS), {"data": {"tls.crt": base64.b64encode(old.read_bytes()).decode()}})
    _, where = site.controller()
    site.answers(where, site.address, ca)
    assert site.stored(CA, "tls.crt") == ca.read_text()
    assert shown(where) == site.stored(TLS, "tls.crt") != old.read_text()


@limit(300)
def test_given_as_files(ctx: Context) -> None:
    """cert-manager replaces them while it runs; the first address is HTTPS where it has no other one."""
    site = Site(ctx)
    authority = ctx.cluster.authority
    cert, key = ctx.tmp / "tls.crt", ctx.tmp / "tls.key"

    def put(name: str) -> None:
        made, secret = authority.issue(name, hosts=[f"IP:{site.address}"])
        cert.write_bytes(Path(made).read_bytes())
        key.write_bytes(Path(secret).read_bytes())
    put("first")
    _, where = site.controller("--fleetlock-tls-cert", str(cert), "--fleetlock-tls-key", str(key))
    site.answers(where, site.address, ctx.cluster.ca)
    first = shown(where)
    assert first == cert.read_text()
    put("second")
    ctx.wait_for(lambda: shown(where) == cert.read_text(), 120, "the second one to be served")
    site.answers(where, site.address, ctx.cluster.ca)
    assert site.api.raw("GET", site.path(TLS))[0] == 404
