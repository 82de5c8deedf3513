"""Who we are and where the server is: every form of a kubeconfig, against a server that really checks."""

from __future__ import annotations

import base64
import datetime
import json
import os
import shutil
import socket
import ssl
import time
from pathlib import Path

import pki
from api import Api
from cluster import SERVER
from context import Context, limit
from kubeconfigs import Plugin, config, inline
from objects import lease
from probes import Watch, flags
from servers import Proxy, Relay, Socks
from stalls import undisturbed

WHOAMI = ("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
          '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}')


def call(ctx: Context, kubeconfig: Path | None, *request: str, env: dict[str, str] = {}, **options: object) -> dict:
    """One raw request of the probe: its reply, or {"status", "stderr"} when it could not even begin."""
    done = ctx.run(ctx.probe, "call", *request, *flags(options), kubeconfig=kubeconfig, env=env)
    return json.loads(done.stdout) if done.stdout else {"status": done.returncode, "stderr": done.stderr}


def info(reply: dict) -> dict:
    assert reply.get("outcome") == "OK", reply
    return json.loads(reply["body"])["status"]["userInfo"]


def whoami(ctx: Context, kubeconfig: Path | None, **options) -> str:
    return info(call(ctx, kubeconfig, *WHOAMI, **options))["username"]


class Caller:
    """A probe that makes one request after the other, over the same connections and with the same credentials."""

    def __init__(self, ctx: Context, kubeconfig: Path | None, **options: object) -> None:
        self.ctx = ctx
        self.child = ctx.spawn(ctx.probe, "call", *flags(options), kubeconfig=kubeconfig, stdin=True)

    def call(self, *request: str) -> dict:
        self.child.write(" ".join(request or WHOAMI) + "\n")
        return json.loads(self.child.expect('^{"outcome"', 30).string)

    def name(self) -> str:
        return info(self.call())["username"]


def cluster_of(ctx: Context, **more: object) -> dict:
    return {"server": ctx.cluster.server(), "certificate-authority-data": inline(ctx.cluster.ca), **more}


def pair_of(ctx: Context, user: str, **options) -> tuple[Path, Path]:
    return ctx.cluster.authority.issue(user, **options)


def certificate(pair: tuple[Path, Path]) -> dict:
    return {"client-certificate-data": inline(pair[0]), "client-key-data": inline(pair[1])}


def soon(seconds: float) -> str:
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


# -- certificates -------------------------------------------------------------------------------------------------


def test_client_certificates(ctx: Context) -> None:
    alice, bob = pair_of(ctx, "alice", groups=["crew", "deck"]), pair_of(ctx, "bob")
    home = ctx.tmp / "a" / "b"
    for i, name in enumerate(("ca.crt", "me.crt", "me.key")):
        home.mkdir(parents=True, exist_ok=True)
        shutil.copy((ctx.cluster.ca, *alice)[i], home / name)
    inlined = config(ctx.tmp / "inline", cluster_of(ctx), certificate(alice))
    who = info(call(ctx, inlined, *WHOAMI))
    assert who["username"] == "alice" and {"crew", "deck"} <= set(who["groups"]), who
    files = {"client-certificate": str(home / "me.crt"), "client-key": str(home / "me.key")}
    absolute = config(ctx.tmp / "absolute", {"server": ctx.cluster.server(), "certificate-authority": str(home / "ca.crt")}, files)
    assert whoami(ctx, absolute) == "alice"
    relative = config(home / "config", {"server": ctx.cluster.server(), "certificate-authority": "ca.crt"},
                      {"client-certificate": "./me.crt", "client-key": "../b/me.key"})
    assert whoami(ctx, relative) == "alice"
    both = config(ctx.tmp / "both", cluster_of(ctx), files | certificate(bob))
    assert whoami(ctx, both) == "bob", "data wins over files"
    assert not list(ctx.tmp.glob("**/*.pem")), "something was written"


def test_certificates_that_cannot_work(ctx: Context) -> None:
    alice, bob = pair_of(ctx, "alice"), pair_of(ctx, "bob")
    other = pki.Authority(ctx.tmp / "other")
    mixed = config(ctx.tmp / "mixed", cluster_of(ctx), {**certificate(alice), "client-key-data": inline(bob[1])})
    reply = call(ctx, mixed, *WHOAMI)
    said = reply.get("message") or reply["stderr"]
    assert "key" in said and "certificate" in said and reply.get("outcome") in (None, "NoCredentials"), reply
    missing = config(ctx.tmp / "missing", cluster_of(ctx), {"client-certificate": "/nowhere/me.crt", "client-key": "/nowhere/me.key"})
    reply = call(ctx, missing, *WHOAMI)
    assert "/nowhere/me.crt" in (reply.get("message") or reply["stderr"]), reply
    foreign = config(ctx.tmp / "foreign", cluster_of(ctx), certificate(other.issue("mallory")))
    reply = call(ctx, foreign, *WHOAMI)
    assert (reply["outcome"], reply["code"]) == ("Unauthorized", 401), reply
    expired = config(ctx.tmp / "expired", cluster_of(ctx), certificate(pair_of(ctx, "alice", days="-1")))
    reply = call(ctx, expired, *WHOAMI)
    said = reply.get("message") or reply["stderr"]
    assert reply.get("outcome") in ("Unauthorized", "NoCredentials") or "expired" in said, reply
    half = config(ctx.tmp / "half", cluster_of(ctx), {"client-certificate-data": inline(alice[0])})
    reply = call(ctx, half, *WHOAMI)
    assert reply["status"] == 4 and "client-key" in reply["stderr"] and str(half) in reply["stderr"], reply


def test_certificates_that_rotate(ctx: Context) -> None:
    """New files are used by the next request, on a new connection; half-written ones are not."""
    first, second = pair_of(ctx, "before"), pair_of(ctx, "after")
    home = ctx.tmp / "pair"
    home.mkdir()
    for source, name in zip(first, ("me.crt", "me.key")):
        shutil.copy(source, home / name)
    caller = Caller(ctx, config(home / "config", cluster_of(ctx), {"client-certificate": "me.crt", "client-key": "me.key"}))
    assert caller.name() == "before"
    shutil.copy(second[0], home / "new")
    os.replace(home / "new", home / "me.crt")
    assert caller.name() == "before", "a certificate without its key was used"
    shutil.copy(second[1], home / "new")
    os.replace(home / "new", home / "me.key")
    ctx.wait_for(lambda: caller.name() == "after", 15, "the new certificate to be used")


# -- tokens -------------------------------------------------------------------------------------------------------


def test_tokens(ctx: Context) -> None:
    ns = ctx.namespace()
    one, two = ctx.cluster.token("one", ns), ctx.cluster.token("two", ns)
    name = f"system:serviceaccount:{ns}:"
    file = ctx.tmp / "token"
    file.write_text(f"\n {two}\n")
    plain = config(ctx.tmp / "plain", cluster_of(ctx), {"token": one})
    assert whoami(ctx, plain) == name + "one"
    assert whoami(ctx, config(ctx.tmp / "file", cluster_of(ctx), {"tokenFile": "token"})) == name + "two"
    assert whoami(ctx, config(ctx.tmp / "both", cluster_of(ctx), {"token": one, "tokenFile": "token"})) == name + "two"
    assert whoami(ctx, plain, token=two) == name + "two"
    assert whoami(ctx, plain, token_file=file) == name + "two"
    gone = config(ctx.tmp / "gone", cluster_of(ctx), {"token": one, "tokenFile": "/nowhere"})
    assert whoami(ctx, gone) == name + "one", "an unreadable file leaves the token"
    reply = call(ctx, config(ctx.tmp / "only", cluster_of(ctx), {"tokenFile": "/nowhere"}), *WHOAMI)
    assert reply["status"] == 4 and "/nowhere" in reply["stderr"], reply
    reply = call(ctx, config(ctx.tmp / "bad", cluster_of(ctx), {"token": "no-such-token"}), *WHOAMI)
    assert (reply["outcome"], reply["code"]) == ("Unauthorized", 401), reply
    assert "no-such-token" not in json.dumps(reply), "a secret was shown"


@limit(180)
def test_revoked_token(ctx: Context) -> None:
    """401 after a revoked token: the file is read again at once and the request repeated; if that does not help, it is
    told.  A watch that must begin anew goes through the same."""
    ns = ctx.namespace()
    api = ctx.cluster.api
    for name in ("first", "second"):
        ctx.cluster.token(name, ns)  # makes the accounts
        ctx.cluster.allow(f"{ns}:{name}")
    api.call("POST", f"/api/v1/namespaces/{ns}/secrets", {"metadata": {"name": "bond"}})
    bound = ctx.cluster.kubectl("-n", ns, "create", "token", "first", "--bound-object-kind=Secret", "--bound-object-name=bond").strip()
    file = ctx.tmp / "token"
    file.write_text(bound)
    who = config(ctx.tmp / "config", cluster_of(ctx), {"tokenFile": str(file)})
    relay = Relay(ctx.cluster.ports[0])
    ctx.undo(relay.close)
    caller = Caller(ctx, who)
    watch = Watch(ctx, "Lease", who, n=ns, server=f"https://127.0.0.1:{relay.port}")
    watch.synced()
    assert caller.name() == f"system:serviceaccount:{ns}:first"
    file.write_text(ctx.cluster.token("second", ns))
    api.delete(f"/api/v1/namespaces/{ns}/secrets/bond")
    mark = ctx.cluster.audit.mark()
    # The server believes a token for ten seconds.  Not one request fails.
    ctx.wait_for(lambda: caller.name() == f"system:serviceaccount:{ns}:second", 30, "the new token to be used", interval=0.3)
    refused = [e for e in ctx.cluster.audit.requests(mark) if e["responseStatus"]["code"] == 401
               and "selfsubjectreviews" in e["requestURI"]]
    assert len(refused) == 1, refused
    relay.cut()
    api.create(lease("seen", ns))
    ctx.wait_for(lambda: watch.names() == ["seen"], 30, "the watch to go on with the new token")
    assert not [p for p in watch.problems if p["outcome"] == "Unauthorized"], watch.problems
    api.delete(f"/api/v1/namespaces/{ns}/serviceaccounts/second")
    reply = ctx.wait_for(lambda: [r for r in [caller.call()] if r["outcome"] != "OK"], 30, "the account to be gone", interval=0.3)[0]
    assert (reply["outcome"], reply["code"]) == ("Unauthorized", 401), reply
    relay.cut()
    assert watch.problem(outcome="Unauthorized")["message"]
    file.write_text(ctx.cluster.token("third", ns))
    ctx.cluster.allow(f"{ns}:third")
    ctx.wait_for(lambda: caller.name().endswith(":third"), 20, "the third account")
    api.create(lease("seen-too", ns))
    ctx.wait_for(lambda: watch.names() == ["seen", "seen-too"], 40, "the watch to go on")


def test_basic_authentication(ctx: Context) -> None:
    """The server has none and takes us for nobody: refused in words, and the password is nowhere to be seen."""
    basic = config(ctx.tmp / "basic", cluster_of(ctx), {"username": "me", "password": "sesame-7"})
    reply = call(ctx, basic, *WHOAMI)
    assert (reply["outcome"], reply["code"]) == ("Forbidden", 403) and "system:anonymous" in reply["message"], reply
    done = ctx.run(ctx.slipway, "status", "-v", "8", kubeconfig=basic)
    assert done.returncode == 4 and "username and password" in done.stderr, done.stderr
    encoded = base64.b64encode(b"me:sesame-7").decode()
    assert "sesame-7" not in done.stdout + done.stderr and encoded not in done.stdout + done.stderr


def test_nobody(ctx: Context) -> None:
    reply = call(ctx, config(ctx.tmp / "nobody", cluster_of(ctx), {}), "GET", "/version")
    assert reply["outcome"] == "OK", reply
    reply = call(ctx, ctx.tmp / "nobody", "GET", "/api/v1/nodes")
    assert reply["outcome"] == "Forbidden" and "system:anonymous" in reply["message"], reply


# -- exec plugins -------------------------------------------------------------------------------------------------


def test_plugins_that_work(ctx: Context) -> None:
    ns = ctx.namespace()
    token = ctx.cluster.token("robot", ns)
    pair = pair_of(ctx, "carol")
    pems = {"clientCertificateData": pair[0].read_text(), "clientKeyData": pair[1].read_text()}
    for version in ("v1", "v1beta1"):
        plugin = Plugin(ctx.tmp / version, {"token": token}, version=version)
        caller = Caller(ctx, config(ctx.tmp / version / "config", cluster_of(ctx), plugin.user()))
        assert [caller.name() for _ in range(3)] == [f"system:serviceaccount:{ns}:robot"] * 3
        assert len(plugin.runs) == 1, "credentials that do not expire are kept"
    certs = Plugin(ctx.tmp / "certs", pems)
    assert whoami(ctx, config(ctx.tmp / "certs.config", cluster_of(ctx), certs.user())) == "carol"
    asked = Plugin(ctx.tmp / "asked", {"token": token})
    user = asked.user(args=["--one", "two three", ""], env=[{"name": "PLUGIN_MODE", "value": "a=b"}], provideClusterInfo=True)
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "ops", "n": 7}}
    where = cluster_of(ctx, extensions=[extension])
    user["exec"]["command"] = "./asked/plugin"  # relative to the file
    assert whoami(ctx, config(ctx.tmp / "asked.config", where, user)).endswith(":robot")
    run, = asked.runs
    assert run["argv"] == ["--one", "two three", ""] and run["env"]["PLUGIN_MODE"] == "a=b", run
    told = json.loads(run["env"]["KUBERNETES_EXEC_INFO"])
    assert told["apiVersion"] == "client.authentication.k8s.io/v1" and told["kind"] == "ExecCredential", told
    assert told["spec"]["interactive"] is False and told["spec"]["cluster"]["server"] == ctx.cluster.server(), told
    assert told["spec"]["cluster"]["certificate-authority-data"] == inline(ctx.cluster.ca)
    assert told["spec"]["cluster"]["config"] == {"audience": "ops", "n": 7}, told
    path = Plugin(ctx.tmp / "bin", {"token": token}, name="login-helper")
    user = path.user()
    user["exec"]["command"] = "login-helper"
    env = {"PATH": f"{ctx.tmp / 'bin'}:{os.environ['PATH']}"}
    assert whoami(ctx, config(ctx.tmp / "path.config", cluster_of(ctx), user), env=env).endswith(":robot")


@undisturbed
def test_plugins_whose_credentials_expire(ctx: Context) -> None:
    """Asked again when the time has come, not before; a new certificate means a new connection."""
    pairs = [pair_of(ctx, name) for name in ("early", "late")]
    steps = [{"clientCertificateData": c.read_text(), "clientKeyData": k.read_text()} for c, k in pairs]
    steps[0]["expirationTimestamp"] = soon(8)
    home = ctx.tmp / ctx.unique("plugin")
    plugin = Plugin(home, *steps)
    caller = Caller(ctx, config(home / "config", cluster_of(ctx), plugin.user()))
    begun = time.monotonic()
    assert caller.name() == "early" and caller.name() == "early" and len(plugin.runs) == 1
    ctx.wait_for(lambda: caller.name() == "late", 20, "the next certificate", interval=0.2)
    assert time.monotonic() - begun > 2 and len(plugin.runs) == 2
    assert [caller.name() for _ in range(3)] == ["late"] * 3 and len(plugin.runs) == 2


@limit(180)
def test_plugin_is_run_again_on_401(ctx: Context) -> None:
    """Once for a request that was refused; a plugin that never gives anything better is not run in a circle."""
    ns = ctx.namespace()
    token = ctx.cluster.token("robot", ns)
    plugin = Plugin(ctx.tmp / "a", {"token": "stale"}, {"token": token})
    caller = Caller(ctx, config(ctx.tmp / "a.config", cluster_of(ctx), plugin.user()))
    assert caller.name().endswith(":robot") and len(plugin.runs) == 2
    assert caller.name().endswith(":robot") and len(plugin.runs) == 2
    hopeless = Plugin(ctx.tmp / "b", {"token": "stale"})
    caller = Caller(ctx, config(ctx.tmp / "b.config", cluster_of(ctx), hopeless.user()))
    mark = ctx.cluster.audit.mark()
    reply = caller.call()
    assert (reply["outcome"], reply["code"]) == ("Unauthorized", 401), reply
    assert len(hopeless.runs) == 2, len(hopeless.runs)
    for _ in range(5):
        assert caller.call()["outcome"] == "Unauthorized"
    assert len(hopeless.runs) <= 3, "run again at once although it has nothing better"
    refused = [e for e in ctx.cluster.audit.requests(mark) if e["responseStatus"]["code"] == 401]
    assert len(refused) <= 2 + 5 + 2, len(refused)
    hopeless.set({"token": token})
    ctx.wait_for(lambda: caller.call()["outcome"] == "OK", 30, "the better token", interval=0.3)


def test_many_requests_share_one_run(ctx: Context) -> None:
    ns = ctx.namespace()
    plugin = Plugin(ctx.tmp, {"token": ctx.cluster.token("robot", ns)})
    ctx.cluster.allow(f"{ns}:robot")
    config(ctx.tmp / "config", cluster_of(ctx), plugin.user())
    done = ctx.run(ctx.slipway, "doctor", kubeconfig=ctx.tmp / "config")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(plugin.runs) == 1, len(plugin.runs)


def test_plugins_that_do_not_work(ctx: Context) -> None:
    good = ctx.cluster.token("robot", ctx.namespace())
    cases = {
        "failed with exit status 3": [{"exit": 3, "stderr": "please log in\nTraceback\n"}],
        "printed nothing": [""],
        "did not print an ExecCredential": ["<html>login</html>"],
        "kind is Secret": ['{"apiVersion":"client.authentication.k8s.io/v1","kind":"Secret"}'],
        "apiVersion client.authentication.k8s.io/v1beta1": [
            '{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":{"token":"x"}}'],
        "neither a token nor a certificate": [{"token": ""}],
        "certificate without its key": [{"clientCertificateData": "x"}],
        "certificate that cannot be used": [{"clientCertificateData": "x", "clientKeyData": "y"}],
        "which is no time": [{"token": good, "expirationTimestamp": "tomorrow"}],
        "more than 1048576 bytes": ["x" * 1_100_000],
        "control character": [{"token": "a\r\nHost: b"}],
    }
    for i, (words, steps) in enumerate(cases.items()):
        plugin = Plugin(ctx.tmp / str(i), *steps)
        reply = call(ctx, config(ctx.tmp / f"{i}.config", cluster_of(ctx), plugin.user()), *WHOAMI)
        assert reply["outcome"] == "NoCredentials" and words in reply["message"], (words, reply)
        assert len(plugin.runs) == 1, (words, len(plugin.runs))
    absent = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-helper", "interactiveMode": "Never",
                       "installHint": "Install it\n  from example.com"}}
    reply = call(ctx, config(ctx.tmp / "absent", cluster_of(ctx), absent), *WHOAMI)
    assert reply["outcome"] == "NoCredentials" and "not installed" in reply["message"], reply
    assert "Install it from example.com" in reply["message"], reply
    asks = Plugin(ctx.tmp / "asks", {"token": good})
    reply = call(ctx, config(ctx.tmp / "asks.config", cluster_of(ctx), asks.user(interactiveMode="Always")), *WHOAMI)
    assert reply["outcome"] == "NoCredentials" and "no terminal" in reply["message"] and not asks.runs, reply


def running(plugin: Plugin) -> list[str]:
    """The processes of a plugin."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue  # gone meanwhile
        if str(plugin.path) in command:
            found.append(process.name)
    return found


def test_plugin_that_hangs(ctx: Context) -> None:
    """It is said what is waited for; the program ends at once when told to, and takes the plugin with it."""
    plugin = Plugin(ctx.tmp, {"sleep": 600})
    config(ctx.tmp / "config", cluster_of(ctx), plugin.user())
    child = ctx.spawn(ctx.slipway, "status", kubeconfig=ctx.tmp / "config")
    ctx.wait_for(lambda: any("waiting for the credential plugin" in line for line in child.err), 20, "a word about it")
    assert len(running(plugin)) == 1
    child.end()
    ctx.wait_for(lambda: not running(plugin), 10, "the plugin to be gone")


# -- impersonation ------------------------------------------------------------------------------------------------


def test_impersonation(ctx: Context) -> None:
    mark = ctx.cluster.audit.mark()
    who = info(call(ctx, None, *WHOAMI, **{"as": "drainer"}, as_group="ops", as_uid="u-7"))
    assert who["username"] == "drainer" and who["uid"] == "u-7" and "ops" in who["groups"], who
    user = {**certificate(ctx.cluster._admin_cert), "as": "system:serviceaccount:ops:robot", "as-groups": ["a", "b c"], "as-uid": "9",
            "as-user-extra": {"reason": ["night shift", "é"], "Ticket/No": ["7"]}}
    written = config(ctx.tmp / "as", cluster_of(ctx), user)
    who = info(call(ctx, written, *WHOAMI))
    assert who["username"] == "system:serviceaccount:ops:robot" and {"a", "b c"} <= set(who["groups"]), who
    assert who["extra"] == {"reason": ["night shift", "é"], "ticket/no": ["7"]}, who
    assert whoami(ctx, written, **{"as": "somebody"}) == "somebody", "the flag wins"
    seen = [e["impersonatedUser"]["username"] for e in ctx.cluster.audit.requests(mark, agent="slipway-probe") if "impersonatedUser" in e]
    assert {"drainer", "system:serviceaccount:ops:robot", "somebody"} <= set(seen), seen
    assert all(e["user"]["username"] == "admin" for e in ctx.cluster.audit.requests(mark, agent="slipway-probe"))
    reply = call(ctx, ctx.cluster.kubeconfig("alice"), *WHOAMI, **{"as": "root"})
    assert reply["outcome"] == "Forbidden" and "alice" in reply["message"] and "impersonate" in reply["message"], reply


# -- the way to the server ----------------------------------------------------------------------------------------


def test_names_and_authorities(ctx: Context) -> None:
    admin = certificate(ctx.cluster._admin_cert)
    port = ctx.cluster.ports[0]
    other = pki.Authority(ctx.tmp / "other", name="some-other-ca")

    def tried(**cluster: object) -> dict:
        return call(ctx, config(ctx.tmp / "config", cluster_of(ctx) | cluster, admin), "GET", "/version")

    assert tried(**{"tls-server-name": "kubernetes.default.svc"})["outcome"] == "OK"
    assert tried(server=f"https://localhost:{port}")["outcome"] == "OK"
    assert tried(server=f"https://localhost:{port}/")["outcome"] == "OK"
    assert call(ctx, ctx.tmp / "config", "GET", "/version", http2=True)["outcome"] == "OK"
    wrong = tried(**{"tls-server-name": "wrong.example"})
    assert wrong["outcome"] == "Unreachable" and "wrong.example" in wrong["message"] and "kubernetes.default.svc" in wrong["message"], wrong
    foreign = tried(**{"certificate-authority-data": inline(other.cert)})
    assert foreign["outcome"] == "Unreachable" and "unknown authority" in foreign["message"], foreign
    both = ctx.tmp / "both.crt"
    both.write_text(other.cert.read_text() + ctx.cluster.ca.read_text())
    assert tried(**{"certificate-authority-data": inline(both)})["outcome"] == "OK"
    assert tried(**{"certificate-authority-data": "bm90IGEgY2VydGlmaWNhdGU="}).get("status") == 4
    loose = config(ctx.tmp / "loose", {"server": ctx.cluster.server(), "insecure-skip-tls-verify": True}, admin)
    assert call(ctx, loose, "GET", "/version")["outcome"] == "OK"
    system = config(ctx.tmp / "system", {"server": ctx.cluster.server()}, admin)
    assert "unknown authority" in call(ctx, system, "GET", "/version")["message"], "the system's authorities do not know us"
    assert call(ctx, system, "GET", "/version", certificate_authority=ctx.cluster.ca)["outcome"] == "OK"
    assert call(ctx, system, "GET", "/version", insecure_skip_tls_verify=True)["outcome"] == "OK"
    plain = tried(server=f"http://127.0.0.1:{port}")
    assert plain["outcome"] in ("Invalid", "NotKubernetes") and "HTTPS" in plain["message"].upper(), plain


def test_proxies(ctx: Context) -> None:
    admin = certificate(ctx.cluster._admin_cert)
    target = f"127.0.0.1:{ctx.cluster.ports[0]}"
    http, socks = Proxy(), Socks()
    ctx.undo(http.close)
    ctx.undo(socks.close)

    def tried(proxy: str | None, env: dict[str, str] = {}, **options: object) -> dict:
        where = cluster_of(ctx) | ({"proxy-url": proxy} if proxy else {})
        return call(ctx, config(ctx.tmp / "config", where, admin), "GET", "/version", env=env, **options)

    assert tried(f"http://127.0.0.1:{http.port}")["outcome"] == "OK" and http.asked == [f"CONNECT {target}"], http.asked
    assert tried(f"http://me:pass%40word@127.0.0.1:{http.port}")["outcome"] == "OK"
    assert base64.b64encode(b"me:pass@word").decode() in http.heads[-1], http.heads[-1]
    assert "Authorization: Bearer" not in "".join(http.heads)
    assert tried(f"socks5://127.0.0.1:{socks.port}")["outcome"] == "OK" and socks.asked == [target], socks.asked
    count = len(http.asked)
    proxied = {"HTTPS_PROXY": f"http://127.0.0.1:{http.port}"}
    # As in Go, the environment's proxy is not asked for loopback addresses; a name is not one.
    tried(None, proxied)
    assert len(http.asked) == count, http.asked
    assert tried(None, proxied, proxy_url=f"socks5://127.0.0.1:{socks.port}")["outcome"] == "OK" and len(socks.asked) == 2
    watch = Watch(ctx, "Node", config(ctx.tmp / "watch", cluster_of(ctx, **{"proxy-url": f"http://127.0.0.1:{http.port}"}), admin))
    watch.synced()
    watch.end()
    http.refuse = 403
    refused = tried(f"http://127.0.0.1:{http.port}")
    assert refused["outcome"] == "Unreachable" and "proxy" in refused["message"] and "403" in refused["message"], refused
    http.close()
    gone = tried(f"http://127.0.0.1:{http.port}")
    assert gone["outcome"] == "Unreachable" and "the proxy" in gone["message"] and "refused" in gone["message"], gone


@limit(180)
def test_http2_connections_that_the_server_closes(ctx: Context) -> None:
    """GOAWAY now and then, as API servers behind a balancer send it: no request suffers, reads or writes."""
    cluster = ctx.private_cluster(controllers=False, kwok=False, apiserver_flags=["--goaway-chance=0.02"])
    caller = Caller(ctx, cluster.admin, http2=True)
    count = 500
    for i in range(count):
        request = " ".join(WHOAMI) if i % 2 else "GET /api/v1/namespaces/default"
        caller.child.write(request + "\n")
    ctx.wait_for(lambda: len(caller.child.out) == count, 60, "all answers")
    bad = [line for line in caller.child.out if '"outcome":"OK"' not in line]
    assert not bad, bad[:3]
    seen = cluster.audit.count(agent="slipway-probe")
    assert seen >= count, f"{seen} of {count} requests reached the server"


# -- files, contexts, flags ---------------------------------------------------------------------------------------


def test_merged_files_and_contexts(ctx: Context) -> None:
    alice, bob = pair_of(ctx, "alice"), pair_of(ctx, "bob")
    users, places = ctx.tmp / "users", ctx.tmp / "places"
    users.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "users": [
        {"name": "alice", "user": certificate(alice)}, {"name": "bob", "user": certificate(bob)}]}))
    places.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "night", "clusters": [
        {"name": "here", "cluster": cluster_of(ctx)}, {"name": "there", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "alice", "user": {"token": "a later file does not win"}}],
        "contexts": [{"name": "night", "context": {"cluster": "here", "user": "alice"}},
                     {"name": "day", "context": {"cluster": "here", "user": "bob"}},
                     {"name": "away", "context": {"cluster": "there", "user": "bob"}}]}))

    def who(**options: object) -> str:
        return whoami(ctx, None, env={"KUBECONFIG": f"{users}:/nowhere/at/all:{places}"}, **options)

    assert who() == "alice" and who(context="day") == "bob" and who(context="away", cluster="here") == "bob"
    assert who(context="night", user="bob") == "bob" and who(context="away", server=ctx.cluster.server(), insecure_skip_tls_verify=True) == "bob"
    home = ctx.tmp / "home"
    config(home / ".kube" / "config", cluster_of(ctx), certificate(alice))
    assert whoami(ctx, None, env={"KUBECONFIG": "", "HOME": str(home)}) == "alice"
    reply = call(ctx, None, *WHOAMI, env={"KUBECONFIG": f"{users}:{places}"}, context="nigth")
    assert reply["status"] == 4 and "nigth" in reply["stderr"] and "night" in reply["stderr"], reply
    bad = ctx.tmp / "bad"
    bad.write_text("apiVersion: v1\nkind: Config\nclusters:\n- name: x\n  cluster:\n    server: https://x\n    sever: y\n")
    reply = call(ctx, bad, *WHOAMI)
    assert reply["status"] == 4 and f"{bad}:7:5" in reply["stderr"] and "server" in reply["stderr"], reply
    reply = call(ctx, None, *WHOAMI, env={"KUBECONFIG": "/nowhere/at/all"})
    assert reply["status"] == 4 and reply["stderr"].count("\n") == 1, reply


# -- in a pod -----------------------------------------------------------------------------------------------------


class Account:
    """The files of a service account as a kubelet lays them out: links that are exchanged in one go."""

    def __init__(self, directory: Path) -> None:
        self.directory, self._count = directory, 0
        directory.mkdir()

    def write(self, **files: str) -> None:
        self._count += 1
        data = self.directory / f"..data-{self._count}"
        data.mkdir()
        for name, text in files.items():
            (data / name.replace("_", ".")).write_text(text)
        link = self.directory / "..new"
        link.symlink_to(data.name)
        os.replace(link, self.directory / "..data")
        for name in files:
            path = self.directory / name.replace("_", ".")
            if not path.is_symlink():
                path.symlink_to(f"..data/{path.name}")


def in_pod(ctx: Context, account: Path) -> list[str]:
    """A prefix of a command that runs it where the account is mounted as in a pod."""
    script = ('mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io/serviceaccount && '
              'mount --bind "$0" /run/secrets/kubernetes.io/serviceaccount && exec "$@"')
    command = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"]), "sh", "-c", script, str(account)]
    if not Path("/var/run").resolve() == Path("/run") or ctx.run(*command, "true").returncode != 0:
        ctx.skip("mount namespaces cannot be made here")
    return command


@limit(240)
def test_in_a_pod(ctx: Context) -> None:
    """The service account of a pod, with a watch that outlives its first token and its first authority."""
    cluster = ctx.private_cluster(controllers=False, kwok=False)
    for name in ("robot", "other"):
        cluster.allow(f"default:{name}")
    token = cluster.token("other")
    account = Account(ctx.tmp / "account")
    account.write(token=cluster.token("robot"), ca_crt=cluster.ca.read_text(), namespace="ship")
    prefix = in_pod(ctx, account.directory)
    relay = Relay(cluster.ports[0])
    ctx.undo(relay.close)
    env = {"KUBECONFIG": "", "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(relay.port)}
    done = ctx.run(*prefix, str(ctx.probe), "call", *WHOAMI, env=env)
    assert info(json.loads(done.stdout))["username"] == "system:serviceaccount:default:robot", done
    watch = ctx.spawn(*prefix, str(ctx.probe), "watch", "Lease", "-n", "default", env=env, stdin=True)
    watch.expect("SYNCED", 20)
    cluster.api.create(lease("one", "default"))
    watch.expect('"ADDED".*"name":"one"', 20)
    # The authority of the server changes: the old one does not do any more, the new one comes with the next files.
    successor = pki.Authority(cluster.dir / "pki2", name="successor")
    cert, key = successor.issue(SERVER, hosts=["IP:127.0.0.1"])
    for new, old in ((key, cluster._server_key), (cert, cluster._server_cert)):
        shutil.copy(new, f"{old}.new")
        os.replace(f"{old}.new", old)

    def serves_new() -> bool:
        trust = ssl.create_default_context(cafile=str(successor.cert))
        with socket.create_connection(("127.0.0.1", cluster.ports[0]), 5) as raw:
            with trust.wrap_socket(raw, server_hostname="127.0.0.1"):
                return True

    cluster[SERVER].kill()  # a server that goes on resumes TLS sessions, which asks for no certificate
    cluster[SERVER].spawn()
    ctx.wait_for(serves_new, 60, "the server with its new certificate", interval=0.2)
    told = json.loads(watch.expect('"PROBLEM".*authority', 20).string)
    assert told["outcome"] == "Unreachable", told
    account.write(token=token, ca_crt=successor.cert.read_text(), namespace="ship")
    Api(cluster.ports[0], successor.cert, *cluster._admin_cert).create(lease("two", "default"))
    watch.expect('"ADDED".*"name":"two"', 60)
    watch.close_stdin()
    assert watch.end(number=None) == 0
