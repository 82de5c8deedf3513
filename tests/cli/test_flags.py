"""kubectl's global flags on every verb that connects, what -v shows of the requests, and what drain, cordon and uncordon say to a
wrong command line, a wrong configuration and a server that refuses: kubectl's words, held against kubectl itself where there is one."""

from __future__ import annotations

import concurrent.futures
import contextlib
import http.server
import json
import re
import shlex
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Iterator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import stock_kubectl  # noqa: E402
import tap  # noqa: E402
from program import Result, run  # noqa: E402
from simulation import Sim  # noqa: E402

# `kubectl options` of kubectl 1.36.3, with a value that changes nothing.
KUBECTL = {
    "--as": "", "--as-group": "", "--as-uid": "", "--as-user-extra": "", "--cache-dir": "/nonexistent",
    "--certificate-authority": "", "--client-certificate": "", "--client-key": "", "--cluster": "", "--context": "",
    "--disable-compression": "true", "--insecure-skip-tls-verify": "false", "--kubeconfig": "", "--kuberc": "/nonexistent",
    "--log-flush-frequency": "5s", "--match-server-version": "true", "--namespace": "default", "-n": "default", "--password": "",
    "--profile": "none", "--profile-output": "profile.pprof", "--request-timeout": "0", "--server": "", "-s": "",
    "--tls-server-name": "", "--token": "", "--user": "", "--username": "", "--v": "0", "-v": "0", "--vmodule": "a=1",
    "--warnings-as-errors": "true",
}
HEAD = r"I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ "
RESPONSE = HEAD + r'round_trippers\.go:632\] "Response" verb="(\w+)" url="(https://\S+)" status="(\d+ [\w ]+)" milliseconds=\d+'


class Server:
    """/version and two lists, with headers of the test's; remembers what it was sent."""

    def __init__(self, *headers: tuple[str, str]) -> None:
        seen = self.seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.append(dict(self.headers))
                body = b'{"major":"1","minor":"36","gitVersion":"v1.36.3","platform":"linux/amd64"}'
                self.send_response(200)
                for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(body))), *headers):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@contextlib.contextmanager
def server(*headers: tuple[str, str]) -> Iterator[Server]:
    s = Server(*headers)
    try:
        yield s
    finally:
        s.close()


class Flags(unittest.TestCase):
    def test_all_of_kubectl(self) -> None:
        """Together, on each verb that connects, before and after it; the empty ones mean that nothing was said."""
        words = [word for flag, value in KUBECTL.items() for word in
                 ([f"{flag}={value}"] if value in ("true", "false") or flag in ("-v", "--v") else [flag, value])]
        with Sim("--nodes", "2") as sim:
            config = str(sim.kubeconfig)
            node = sim.client.get("/api/v1/nodes")["items"][0]["metadata"]["name"]
            for verb in (["status"], ["doctor"], ["version", "--remote"], ["cordon", node], ["uncordon", node],
                         ["drain", node, "--dry-run=client", "--force", "--delete-emptydir-data"]):
                for args in ([*verb, *words], [*words, *verb]):
                    with self.subTest(" ".join(args)):
                        done = run(*args, KUBECONFIG=config)
                        self.assertNotEqual(done.code, 64, done.err)
                        self.assertNotIn("unknown flag", done.err)
                        self.assertEqual(done.code == 0, run(*verb, KUBECONFIG=config).code == 0, done.err)

    def test_wrong_values(self) -> None:
        for flag, message in (("--log-flush-frequency=soon", 'invalid argument "soon" for "--log-flush-frequency" flag: '),
                              ("--match-server-version=2", 'for "--match-server-version" flag: strconv.ParseBool: parsing "2": '),
                              ("--as-user-extra==x", "is not KEY=VALUE"), ("-v=much", "strconv.ParseInt: parsing \"much\": ")):
            with self.subTest(flag):
                done = run("version", "--remote", "-s", "http://127.0.0.1:1", "--as=u", flag)
                self.assertEqual(done.code, 64, done.err)
                self.assertIn(message, done.err)

    def test_hidden(self) -> None:
        out = run("status", "--help").out
        for flag in ("--cache-dir", "--kuberc", "--profile", "--vmodule", "--log-flush-frequency"):
            self.assertNotIn(flag, out)
        for flag in ("--match-server-version", "--as-user-extra", "--username", "--password", "--warnings-as-errors"):
            self.assertIn(flag, out)

    def test_extra(self) -> None:
        with server() as s:
            done = run("version", "--remote", "-s", s.url, "--as=jane", "--as-uid=7", "--as-group=a", "--as-user-extra=reason=a=b",
                       "--as-user-extra", "acme.com/team=blue")
            self.assertEqual((done.code, done.err), (0, ""))
            sent = {k.lower(): v for k, v in s.seen[0].items()}
            self.assertEqual(sent["impersonate-user"], "jane")
            self.assertEqual(sent["impersonate-uid"], "7")
            self.assertEqual(sent["impersonate-extra-reason"], "a=b")
            self.assertEqual(sent["impersonate-extra-acme.com%2fteam"], "blue")
            # Without a value it is nothing to kubectl.
            self.assertEqual(run("version", "--remote", "-s", s.url, "--as-user-extra=x").code, 0)
            self.assertFalse([name for name in s.seen[1] if name.lower().startswith("impersonate")])


# What is typed, VERB being any of the three; what kubectl 1.36.3 prints on standard error; what we add in a line of its own.
ALL, DRAIN = ("drain", "cordon", "uncordon"), ("drain",)
USAGE = "\nSee 'kubectl VERB --help' for usage.\n"
DURATION, BOOL = "Write for example 90s, 5m, 1h30m or 0.\n", "It must be true or false.\n"
INT = "It must be a whole number from -2147483647 to 2147483647.\n"
FORM = "error: arguments in resource/name form "
SELECTOR = 'Error from server (BadRequest): Unable to find "/v1, Resource=nodes" that match label selector '
WRONG = [
    (ALL, "VERB --foo", "error: unknown flag: --foo" + USAGE, ""),
    (ALL, "VERB w1 --foo=bar", "error: unknown flag: --foo" + USAGE, ""),
    (ALL, "VERB w1 --selectr=a", "error: unknown flag: --selectr" + USAGE, 'Did you mean "--selector"?\n'),
    (ALL, "VERB w1 ---foo", "error: bad flag syntax: ---foo" + USAGE, ""),
    (ALL, "VERB w1 --=x", "error: bad flag syntax: --=x" + USAGE, ""),
    (ALL, "VERB -x", "error: unknown shorthand flag: 'x' in -x" + USAGE, ""),
    (ALL, "VERB -xyz", "error: unknown shorthand flag: 'x' in -xyz" + USAGE, ""),
    (ALL, "VERB -= w1", "error: unknown shorthand flag: '=' in -=" + USAGE, ""),
    (ALL, "VERB w1 -o json", "error: unknown shorthand flag: 'o' in -o" + USAGE, ""),
    (ALL, "VERB --selector", "error: flag needs an argument: --selector" + USAGE, ""),
    (ALL, "VERB w1 -l", "error: flag needs an argument: 'l' in -l" + USAGE, ""),
    (ALL, "VERB w1 --context", "error: flag needs an argument: --context" + USAGE, ""),
    (DRAIN, "VERB w1 --timeout", "error: flag needs an argument: --timeout" + USAGE, "Write for example 90s, 5m, 1h30m or 0.\n"),
    (DRAIN, "VERB w1 --timeout=x", 'error: invalid argument "x" for "--timeout" flag: time: invalid duration "x"' + USAGE, DURATION),
    (DRAIN, "VERB w1 --timeout=", 'error: invalid argument "" for "--timeout" flag: time: invalid duration ""' + USAGE, DURATION),
    (DRAIN, "VERB w1 --timeout=5",
     'error: invalid argument "5" for "--timeout" flag: time: missing unit in duration "5"' + USAGE, DURATION),
    (DRAIN, "VERB w1 --timeout=5d",
     'error: invalid argument "5d" for "--timeout" flag: time: unknown unit "d" in duration "5d"' + USAGE, DURATION),
    (DRAIN, "VERB w1 --grace_period=x",
     'error: invalid argument "x" for "--grace-period" flag: strconv.ParseInt: parsing "x": invalid syntax' + USAGE, INT),
    (DRAIN, "VERB w1 --grace-period=x",
     'error: invalid argument "x" for "--grace-period" flag: strconv.ParseInt: parsing "x": invalid syntax' + USAGE, INT),
    (DRAIN, "VERB w1 --grace-period=99999999999999999999", 'error: invalid argument "99999999999999999999" for "--grace-period" flag: '
     'strconv.ParseInt: parsing "99999999999999999999": value out of range' + USAGE, INT),
    (DRAIN, "VERB w1 --skip-wait-for-delete-timeout=1s", 'error: invalid argument "1s" for "--skip-wait-for-delete-timeout" flag: '
     'strconv.ParseInt: parsing "1s": invalid syntax' + USAGE, INT),
    (DRAIN, "VERB w1 --chunk-size=x",
     'error: invalid argument "x" for "--chunk-size" flag: strconv.ParseInt: parsing "x": invalid syntax' + USAGE, ""),
    (DRAIN, "VERB w1 '--chunk-size=a\"b\\c\n'", 'error: invalid argument "a\\"b\\\\c\\n" for "--chunk-size" flag: '
     'strconv.ParseInt: parsing "a\\"b\\\\c\\n": invalid syntax' + USAGE, ""),
    (DRAIN, "VERB w1 --force=maybe",
     'error: invalid argument "maybe" for "--force" flag: strconv.ParseBool: parsing "maybe": invalid syntax' + USAGE, BOOL),
    (ALL, "VERB w1 --warnings-as-errors=",
     'error: invalid argument "" for "--warnings-as-errors" flag: strconv.ParseBool: parsing "": invalid syntax' + USAGE, BOOL),
    (ALL, "VERB w1 -v=x", 'error: invalid argument "x" for "-v, --v" flag: strconv.ParseInt: parsing "x": invalid syntax' + USAGE,
     "It must be a whole number from -2147483648 to 2147483647.\n"),
    (ALL, "VERB w1 --dry-run=bad", 'error: Invalid dry-run value (bad). Must be "none", "server", or "client".\n', ""),
    (ALL, "VERB w1 --request-timeout=x", "error: Invalid timeout value. Timeout must be a single integer in seconds, or an integer "
     "followed by a corresponding time unit (e.g. 1s | 2m | 3h)\n", ""),
    (ALL, "VERB", "error: USAGE: VERB NODE [flags]\nSee 'kubectl VERB -h' for help and examples\n", ""),
    (ALL, "VERB w1 -l a=b", "error: cannot specify both a node name and a --selector option\n"
     "See 'kubectl VERB -h' for help and examples\n", ""),
    (ALL, "VERB ''", "error: resource name may not be empty\n", ""),
    (ALL, "VERB node/", FORM + "must have a single resource and name\n", ""),
    (ALL, "VERB /w1", FORM + "must have a single resource and name\n", ""),
    (ALL, "VERB pods/w1 node/w1/x", FORM + "may not have more than one slash\n", ""),
    (ALL, "VERB w1 pods/x", "error: you may only specify a single resource type\n", ""),
    (ALL, "VERB ..", "error: invalid resource name \"..\": [may not be '..']\n", ""),
    (ALL, "VERB w%1", "error: invalid resource name \"w%1\": [may not contain '%']\n", ""),
    (ALL, "VERB nope", 'Error from server (NotFound): nodes "nope" not found\n', ""),
    (ALL, "VERB node/nope", 'Error from server (NotFound): nodes "nope" not found\n', ""),
    (ALL, "VERB nope nada", 'Error from server (NotFound): nodes "nope" not found\n',
     'Error from server (NotFound): nodes "nada" not found\n'),
    (ALL, "VERB -l '!!'", SELECTOR + "\"!!\", field selector \"\": unable to parse requirement: found '!', expected: identifier\n",
     '--selector: label selector "!!", character 2: expected a label key, not "!"\n'),
    (ALL, "VERB -l a=b=c", SELECTOR + "\"a=b=c\", field selector \"\": found '=', expected: ',' or 'end of string'\n",
     '--selector: label selector "a=b=c", character 4: expected "," or the end, not "="\n'),
    (DRAIN, "VERB w1 --pod-selector='!!'", "error: --pod-selector=<pod_selector> must be a valid label selector\n", ""),
    (ALL, "VERB w1 --kubeconfig=/nonexistent/config", "error: stat /nonexistent/config: no such file or directory\n",
     "cannot read the kubeconfig: /nonexistent/config: No such file or directory\n"),
    (ALL, "VERB w1 --context=nope", 'error: context "nope" does not exist\n', 'there is: "slipway-sim"\n'),
    (ALL, "VERB w1 --cluster=nope", 'error: cluster "nope" does not exist\n', 'there is: "slipway-sim"\n'),
    (ALL, "VERB w1 --user=nope", 'error: auth info "nope" does not exist\n', 'there is: "slipway-sim"\n'),
    (ALL, "VERB w1 --insecure-skip-tls-verify --certificate-authority=/dev/null",
     "error: specifying a root certificates file with the insecure flag is not allowed\n",
     "--insecure-skip-tls-verify and --certificate-authority exclude each other\n"),
    (ALL, "VERB w1 --certificate-authority=/nonexistent/ca", "error: unable to read certificate-authority /nonexistent/ca for "
     "slipway-sim due to open /nonexistent/ca: no such file or directory\n", ""),
    (ALL, "VERB w1 --certificate-authority=/proc/version",
     "error: unable to load root certificates: unable to parse bytes as PEM block\n",
     "certificate-authority /proc/version holds no valid PEM certificate\n"),
    (ALL, "VERB w1 --client-certificate=/nonexistent/c --client-key=/nonexistent/k", "Error in configuration: \n"
     "* unable to read client-cert /nonexistent/c for slipway-sim due to open /nonexistent/c: no such file or directory\n"
     "* unable to read client-key /nonexistent/k for slipway-sim due to open /nonexistent/k: no such file or directory\n", ""),
    (ALL, "VERB w1 --client-certificate=/nonexistent/c", "Error in configuration: \n"
     "* client-key-data or client-key must be specified for slipway-sim to use the clientCert authentication method.\n"
     "* unable to read client-cert /nonexistent/c for slipway-sim due to open /nonexistent/c: no such file or directory\n", ""),
    (ALL, "VERB w1 --client-certificate=/dev/null",
     "error: client-key-data or client-key must be specified for slipway-sim to use the clientCert authentication method.\n",
     "--client-certificate: a client certificate needs its key as well (client-key or client-key-data)\n"),
    (ALL, "VERB w1 --as-uid=1", "error: requesting uid, groups or user-extra for slipway-sim without impersonating a user\n",
     "--as-uid: it is of no use without whom to impersonate (as, or --as)\n"),
    (ALL, "VERB w1 --as-group=g", "error: requesting uid, groups or user-extra for slipway-sim without impersonating a user\n",
     "--as-group: it is of no use without whom to impersonate (as, or --as)\n"),
    (ALL, "VERB w1 --token=a --username=b",
     "error: more than one authentication method found for slipway-sim; found [token basicAuth], only one is allowed\n",
     "--token and --username exclude each other\n"),
    (ALL, "VERB w1 --username=b --password=c",
     "error: more than one authentication method found for slipway-sim; found [token basicAuth], only one is allowed\n",
     "--username: a user has either a token or a username and password, not both\n"),
    (ALL, "VERB w1 -s ://x", 'error: host must be a URL or a host:port pair: "://x"\n',
     '--server: "://x" is no server URL: the host is missing\n'),
    (ALL, "VERB w1 -s host/path", 'error: host must be a URL or a host:port pair: "host/path"\n',
     '--server: "host/path" is no server URL: write https://host:port/path or host:port\n'),
    (ALL, "VERB w1 -s https://127.0.0.1:1",
     "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n", ""),
    (ALL, "VERB -l a=b -s localhost:1",
     "The connection to the server localhost:1 was refused - did you specify the right host or port?\n", ""),
]
# The same, and it succeeds: nothing is said.
RIGHT = [
    (ALL, "VERB -l no=such"), (ALL, "-l no=such VERB"), (ALL, "--selector no=such VERB"), (ALL, "--selector=no=such VERB --dry-run=client"),
    (ALL, "VERB -l no=such --as-user-extra=x"),
    (DRAIN, "--timeout=1m VERB -l no=such"), (DRAIN, "VERB -l no=such --grace-period=0x1_0 --chunk-size=010 --timeout=1.5h"),
]


def without_log(text: str) -> str:
    """What kubectl says about itself on the way (E1115 08:00:00.000000 1 memcache.go:265] ...) is left out."""
    return "".join(line for line in text.splitlines(keepends=True) if not re.match(HEAD.replace("I", "[IWE]", 1), line))


class AsKubectl(unittest.TestCase):
    """`kubectl` of the tests' table is `slipway` of the program's."""

    maxDiff = None

    @classmethod
    def setUpClass(cls) -> None:
        cls.sim = Sim("--nodes", "2", "--scenario", "empty")
        cls.addClassCleanup(cls.sim.__exit__)

    def cases(self) -> Iterator[tuple[str, str, str]]:
        for verbs, line, err, more in WRONG + [(verbs, line, "", "") for verbs, line in RIGHT]:
            for verb in verbs:
                line_, err_ = line.replace("VERB", verb), err.replace("VERB", verb)
                with self.subTest(line_):
                    yield line_, err_, more

    def test_words(self) -> None:
        for line, err, more in self.cases():
            done = run(*shlex.split(line), KUBECONFIG=str(self.sim.kubeconfig))
            self.assertEqual((done.out, done.err.replace("'slipway ", "'kubectl "), done.code != 0), ("", err + more, bool(err)))

    def test_beside_kubectl(self) -> None:
        """So that what is written down here is what it says."""
        program = stock_kubectl.find()
        if not program:
            self.skipTest(f"there is no kubectl {stock_kubectl.RELEASE}")
        with tempfile.TemporaryDirectory() as home:
            for line, err, _ in self.cases():
                done = stock_kubectl.kubectl(program, *shlex.split(line), KUBECONFIG=str(self.sim.kubeconfig), HOME=home)
                self.assertEqual((done.out, without_log(done.err), done.code != 0), ("", err, bool(err)))

    def test_wrong_credentials(self) -> None:
        words = "error: You must be logged in to the server (Unauthorized)\n"
        program = stock_kubectl.find()
        for verb in ALL:
            for target in (["w1"], ["-l", "a=b"], ["-l", "!!"], [f"w{i}" for i in range(20)]):
                args, env = [verb, *target, "--token=bad"], {"KUBECONFIG": str(self.sim.kubeconfig)}
                with self.subTest(" ".join(args)):
                    done = run(*args, **env)
                    self.assertEqual((done.out, done.code), ("", 4))
                    self.assertTrue(done.err.startswith(words + "https://127.0.0.1:"), done.err)
                    self.assertIn("does not accept the credentials of user slipway-sim", done.err)
            if program:
                with tempfile.TemporaryDirectory() as home:
                    stock_kubectl.kubectl(program, "get", "nodes", HOME=home, **env)  # it then knows what the server serves
                    theirs = stock_kubectl.kubectl(program, verb, "w1", "--token=bad", HOME=home, **env)
                self.assertEqual((theirs.out, without_log(theirs.err), theirs.code), ("", words, 1))


class Refusing:
    """An API server that serves nodes, says so, and refuses to show them, or answers what it is told to."""

    MESSAGE = 'nodes "w1" is forbidden: User "jane" cannot get resource "nodes" in API group "" at the cluster scope'

    def __init__(self, code: int = 403, body: bytes | None = None, content_type: str = "application/json") -> None:
        answers = {
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
            "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [
                {"name": "nodes", "singularName": "node", "namespaced": False, "kind": "Node", "shortNames": ["no"],
                 "verbs": ["get", "list", "patch", "watch"]}]},
        }
        refusal = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403,
                   "message": self.MESSAGE, "details": {"name": "w1", "kind": "nodes"}}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer = answers.get(self.path.split("?")[0])
                text = body if body is not None and not answer else json.dumps(answer or refusal).encode()
                self.send_response(200 if answer else code)
                self.send_header("Content-Type", "application/json" if answer else content_type)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def __enter__(self) -> Refusing:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


class Forbidden(unittest.TestCase):
    def test_words(self) -> None:
        words = f"Error from server (Forbidden): {Refusing.MESSAGE}\n"
        program = stock_kubectl.find()
        with Refusing() as server, tempfile.TemporaryDirectory() as home:
            env = {"KUBECONFIG": "/dev/null", "HOME": home}
            for verb in ALL:
                for target in (["w1"], ["node/w1"], ["-l", "a=b"]):
                    with self.subTest(f"{verb} {target}"):
                        done = run(verb, *target, "-s", server.url, **env)
                        self.assertEqual((done.out, done.err, done.code), ("", words, 4))
                        if program:
                            theirs = stock_kubectl.kubectl(program, verb, *target, "-s", server.url, **env)
                            self.assertEqual((theirs.out, without_log(theirs.err), theirs.code), ("", words, 1))
                # One sentence, however many there are.
                self.assertEqual(run(verb, "w[1-40]", "-s", server.url, **env).err, words)


def failure(code: int, reason: str | None, message: str) -> bytes:
    return json.dumps({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "code": code}
                      | ({"reason": reason} if reason else {})).encode()


class Failing(unittest.TestCase):
    """A server that fails: in kubectl's words, whether one node was asked for or a list. What the words leave out follows."""

    PLAIN = "text/plain"
    SERVERS = [
        (500, failure(500, "InternalError", "etcd is gone"), "application/json", "Error from server (InternalError): etcd is gone\n"),
        (500, failure(500, None, "odd"), "application/json", "Error from server: odd\n"),
        (503, failure(503, "ServiceUnavailable", "later"), "application/json", "Error from server (ServiceUnavailable): later\n"),
        (500, b"boom\n", PLAIN, 'Error from server (InternalError): an error on the server ("boom") has prevented the request from '
         "succeeding (get nodes%s)\n"),
        (502, b"<html>Bad</html>", "text/html", 'Error from server (InternalError): an error on the server ("<html>Bad</html>") has '
         "prevented the request from succeeding (get nodes%s)\n"),
        (503, b"down\n", PLAIN, "Error from server (ServiceUnavailable): the server is currently unable to handle the request "
         "(get nodes%s)\n"),
        (504, b"slow\n", PLAIN, "Error from server (Timeout): the server was unable to return a response in the time allotted, but may "
         "still be processing the request (get nodes%s)\n"),
    ]

    def check(self, server: tuple[int, bytes, str, str], verb: str, program: str | None) -> None:
        code, body, content_type, words = server
        with Refusing(code, body, content_type) as s, tempfile.TemporaryDirectory() as home:
            env = {"KUBECONFIG": "/dev/null", "HOME": home}
            for target, named in ((["w1"], " w1"), (["-l", "a=b"], "")):
                want = words % named if "%s" in words else words
                done = run(verb, *target, "-s", s.url, **env)
                said = "".join(line for line in done.err.splitlines(keepends=True)
                               if "trying again" not in line and not line.startswith("waiting for "))
                self.assertTrue(said.startswith(want), done)
                self.assertIn(said[len(want):].count("\n"), (0, 1))
                if said != want:
                    self.assertIn(body.decode().strip(), said[len(want):])
                self.assertEqual((done.out, done.code), ("", 1))
                if program:
                    theirs = stock_kubectl.kubectl(program, verb, *target, "-s", s.url, **env)
                    self.assertEqual((theirs.out, without_log(theirs.err), theirs.code), ("", want, 1))

    def test_words(self) -> None:
        """All at once: each is tried four times, with pauses."""
        program = stock_kubectl.find()
        with concurrent.futures.ThreadPoolExecutor(len(self.SERVERS)) as pool:
            for number, one in enumerate([pool.submit(self.check, server, ALL[i % len(ALL)], program)
                                          for i, server in enumerate(self.SERVERS)]):
                with self.subTest(self.SERVERS[number]):
                    one.result()


class NoPods(unittest.TestCase):
    """Nodes may be read, pods may not."""

    MESSAGE = 'pods is forbidden: User "jane" cannot list resource "pods" in API group "" at the cluster scope'

    def answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        path, _, query = handler.path.partition("?")
        node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "w1", "uid": "u1", "resourceVersion": "5"}, "spec": {}}
        code, events = 200, []
        if path in ("/api", "/apis", "/api/v1", "/apis/policy/v1"):
            body = {"/api": {"kind": "APIVersions", "versions": ["v1"]},
                    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
                    "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [
                        {"name": "nodes", "singularName": "node", "namespaced": False, "kind": "Node", "verbs": ["get", "list", "patch"]},
                        {"name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod", "verbs": ["list"]},
                        {"name": "pods/eviction", "namespaced": True, "kind": "Eviction", "group": "policy", "version": "v1",
                         "verbs": ["create"]}]}}.get(path)
        elif path == "/api/v1/nodes/w1":
            body = node
        elif path == "/api/v1/pods":
            code, body = 403, json.loads(failure(403, "Forbidden", self.MESSAGE))
        elif "watch=" in query:
            version, kind = {"/api/v1/nodes": ("v1", "Node"), "/apis/policy/v1/poddisruptionbudgets": ("policy/v1", "PodDisruptionBudget")
                             }.get(path, ("storage.k8s.io/v1", "VolumeAttachment"))
            end = {"kind": kind, "apiVersion": version,
                   "metadata": {"resourceVersion": "5", "annotations": {"k8s.io/initial-events-end": "true"}}}
            body, events = None, [{"type": "ADDED", "object": node}] * (path == "/api/v1/nodes") + [{"type": "BOOKMARK", "object": end}]
        else:
            body = {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "5"}, "items": [node] * path.endswith("nodes")}
        text = json.dumps(body).encode() if body else b"".join(json.dumps(e).encode() + b"\n" for e in events)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it has heard enough
            handler.send_response(code)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(text)))
            handler.end_headers()
            handler.wfile.write(text)

    def test_words(self) -> None:
        test = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                test.answer(self)

            def do_PATCH(self) -> None:
                test.changed.append(self.path)
                test.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self.changed: list[str] = []
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        words = (f'error: unable to drain node "w1" due to error: {self.MESSAGE}, continuing command...\n'
                 f"There are pending nodes to be drained:\n w1\nError from server (Forbidden): {self.MESSAGE}\n")
        args = ["drain", "w1", "-s", f"http://127.0.0.1:{server.server_port}"]
        with tempfile.TemporaryDirectory() as home:
            env = {"KUBECONFIG": "/dev/null", "HOME": home}
            done = run(*args, **env)
            self.assertEqual((done.out, done.err, done.code, self.changed), ("", words, 4, []))
            self.assertEqual(run(*args, "--progress=plain", **env).err.count("forbidden"), 1)
            if program := stock_kubectl.find():
                theirs = stock_kubectl.kubectl(program, *args, **env)
                self.assertEqual((without_log(theirs.err), theirs.code), (words, 1))


class Warnings(unittest.TestCase):
    """As kubectl: told once each, and with --warnings-as-errors the end is a failure."""

    def ask(self, *flags: str, headers: list[str]) -> Result:
        with server(*(("Warning", text) for text in headers)) as s:
            return run("version", "--remote", "-s", s.url, *flags)

    def test_told(self) -> None:
        done = self.ask(headers=['299 - "old is deprecated"', '299 - "old is deprecated"', '199 - "no"', '299 - "\x1b[31m"'])
        self.assertEqual(done.code, 0)
        self.assertEqual(done.err, "Warning: old is deprecated\nWarning: \\x1b[31m\n")
        self.assertEqual(self.ask("-q", headers=['299 - "x"']).err, "")

    def test_as_errors(self) -> None:
        one, two = ['299 - "a"'], ['299 - "a"', '299 - "b"']
        done = self.ask("--warnings-as-errors", headers=one)
        self.assertEqual((done.code, done.err), (1, "Warning: a\nerror: 1 warning received\n"))
        self.assertIn("Server Version: v1.36.3", done.out)
        done = self.ask("--warnings-as-errors", headers=two)
        self.assertEqual((done.code, done.err), (1, "Warning: a\nWarning: b\nerror: 2 warnings received\n"))
        self.assertEqual(self.ask("--warnings-as-errors", headers=[]).code, 0)
        self.assertEqual(self.ask("--warnings-as-errors=false", headers=two).code, 0)


class Verbosity(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.sim = Sim("--nodes", "2")
        cls.env = {"KUBECONFIG": str(cls.sim.kubeconfig)}

    @classmethod
    def tearDownClass(cls) -> None:
        cls.sim.__exit__()

    def test_requests(self) -> None:
        """One line each, and nothing else."""
        for flag in ("-v=6", "-v6", "--v=6", "--verbose=6"):
            done = run("status", flag, **self.env)
            self.assertEqual(done.code, 0)
            lines = [re.fullmatch(RESPONSE, line) for line in done.err.splitlines()]
            self.assertTrue(all(lines), done.err)
            self.assertEqual(sorted(m[2].split("/", 3)[3] for m in lines),
                             ["api/v1/configmaps?limit=500&labelSelector=slipway.dev%2Fslots", "api/v1/namespaces?limit=500",
                              "api/v1/nodes?limit=500", "api/v1/pods?limit=500", "apis", "apis/apps/v1/daemonsets?limit=500",
                              "apis/apps/v1/namespaces/shop-1/replicasets?limit=500", "apis/apps/v1/namespaces/shop-1/statefulsets?limit=500",
                              "apis/policy/v1/poddisruptionbudgets?limit=500"])
            self.assertEqual({(m[1], m[3]) for m in lines}, {("GET", "200 OK")})
        self.assertEqual(run("status", "-v=6", "-q", **self.env).err, "")

    def test_every_verb(self) -> None:
        node = self.sim.client.get("/api/v1/nodes")["items"][0]["metadata"]["name"]
        for args in (["status"], ["doctor"], ["version", "--remote"], ["cordon", node], ["uncordon", node],
                     ["drain", node, "--dry-run=client", "--force", "--delete-emptydir-data"]):
            with self.subTest(args[0]):
                done = run(*args, "-v=6", **self.env)
                self.assertRegex(done.err, re.compile(f"^{RESPONSE}$", re.M))
                self.assertNotIn("round_trippers", done.out)

    def test_headers_and_bodies(self) -> None:
        def shown(level: int) -> str:
            done = run("version", "--remote", f"-v={level}", **self.env)
            self.assertEqual(done.code, 0)
            self.assertNotIn(self.sim.client.token, done.err)
            self.assertNotIn("debug:", done.err)
            return re.sub(f"(?m)^{HEAD}", "", done.err)

        seven, eight, nine = shown(7), shown(8), shown(9)
        request = 'round_trippers.go:527] "Request" verb="GET" url="https://'
        self.assertIn(request, seven)
        self.assertIn("\tAuthorization: Bearer <masked>\n", seven)
        self.assertRegex(seven, r'(?m)^round_trippers\.go:632\] "Response" status="200 OK" milliseconds=\d+$')
        self.assertNotIn("Body", seven)
        self.assertIn(request, eight)
        self.assertRegex(eight, r'(?m)^type\.go:165\] "Request Body" body=""$')
        self.assertRegex(eight, r'"Response" status="200 OK" headers=<\n\tAudit-Id: ')
        self.assertRegex(eight, r'"Response Body" body="\{\\"major\\":\\"1\\"|"Response Body" body=<\n\t\{')
        self.assertIn('"Request" curlCommand=<\n\tcurl -v -XGET  -H "Accept: ', nine)
        self.assertIn('-H "Authorization: Bearer <masked>"', nine)
        self.assertIn('"HTTP Trace: Dial succeed" network="tcp" address="127.0.0.1:', nine)
        self.assertRegex(nine, r" milliseconds=\d+ dnsLookupMilliseconds=\d+ dialMilliseconds=\d+ tlsHandshakeMilliseconds=\d+ ")

    def test_nobody_there(self) -> None:
        done = run("version", "--remote", "-v=6", "-s", "https://127.0.0.1:1", **self.env)
        self.assertRegex(done.err, re.compile(f'^{HEAD}' r'round_trippers\.go:632\] "Response" verb="GET" '
                                              r'url="https://127.0.0.1:1/version" status="" milliseconds=\d+$', re.M))
        self.assertEqual(done.code, 4)


if __name__ == "__main__":
    tap.main()
