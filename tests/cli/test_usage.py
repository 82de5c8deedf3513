"""Help, verbs, flags and what the program says about mistakes."""

from __future__ import annotations

import http.server
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import SLIPWAY, Result, run  # noqa: E402


def listed(section: str) -> list[str]:
    """The names under a heading of `slipway help`."""
    text = run("help").out.split(f"{section}:\n", 1)[1].split("\n\n", 1)[0]
    return [line.split()[0] for line in text.splitlines()]


VERBS = listed("Verbs")
TOPICS = listed("Topics")


class Case(unittest.TestCase):
    def good(self, result: Result) -> str:
        self.assertEqual((result.code, result.err), (0, ""))
        return result.out

    def wrong(self, result: Result, code: int, message: str, hint: str | None = None, advice: str | None = None) -> None:
        """One sentence, perhaps where the usage is, perhaps one line of advice, nothing on standard output."""
        lines = result.err.splitlines()
        self.assertEqual(lines[0], f"error: {message}")
        self.assertEqual(lines[1:], [f"See '{hint}' for usage."] * (hint is not None) + [advice] * (advice is not None))
        self.assertEqual((result.code, result.out), (code, ""))


class Help(Case):
    def tidy(self, text: str) -> None:
        self.assertTrue(text.endswith("\n") and not text.endswith("\n\n"))
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)
            self.assertEqual(line, line.rstrip())
            self.assertTrue(line.isprintable(), line)

    def test_alone(self) -> None:
        out = self.good(run())
        self.tidy(out)
        self.assertIn(len(out.splitlines()), range(8, 14))
        self.assertIn("Kubernetes nodes out of service", out)
        self.assertIn("'slipway help'", out)

    def test_index(self) -> None:
        self.assertLessEqual({"version", "help", "completion"}, set(VERBS))
        self.assertLessEqual({"exit-codes", "environment", "output"}, set(TOPICS))
        self.tidy(self.good(run("help")))
        self.assertEqual(self.good(run("--help")), self.good(run("help")))
        self.assertEqual(self.good(run("-h")), self.good(run("help")))

    def test_hidden_verbs_are_hidden(self) -> None:
        self.assertFalse([v for v in VERBS if v.startswith("_")])
        self.wrong(run("help", "__complete"), 64, 'there is no verb or topic "__complete"', "slipway --help")

    def test_every_verb(self) -> None:
        for verb in VERBS:
            with self.subTest(verb):
                out = self.good(run("help", verb))
                self.assertEqual(out, self.good(run(verb, "--help")))
                self.tidy(out)
                # The summary, then three examples: a remark and a command each.
                head = out.split("\n\n", 2)
                self.assertEqual(head[1].splitlines()[0], "Examples:")
                examples = head[1].splitlines()[1:]
                self.assertEqual(len(examples), 6)
                for remark, command in zip(examples[::2], examples[1::2]):
                    self.assertRegex(remark, "^  # [A-Z]")
                    self.assertTrue(command.startswith(f"  slipway {verb}"), command)
                self.assertIn(f"\nUsage:\n  slipway {verb}", out)
                self.assertIn("\nExit codes:\n    0   Done", out)

    def test_every_option_has_help(self) -> None:
        for verb in VERBS:
            lines = self.good(run("help", verb)).splitlines()
            for i, line in enumerate(lines):
                if m := re.match(r"  (?:-\w, |    )--([a-z-]+)(\[?=\S+)?(\s{2,}\S.*)?$", line):
                    words = m[3] or lines[i + 1]
                    self.assertRegex(words, r"^ {2,}\S.*[a-z]", f"{verb}: --{m[1]}")

    def test_every_topic(self) -> None:
        for topic in TOPICS:
            self.tidy(self.good(run("help", topic)))

    def test_exit_codes_topic(self) -> None:
        out = self.good(run("help", "exit-codes"))
        self.assertIn("\n   64   Usage error", out)
        self.assertIn("\n  141   ", out)

    def test_helps_without_a_home(self) -> None:
        self.good(run("help", HOME=None, KUBECONFIG="/nonexistent"))
        self.good(run("version", HOME=None, KUBECONFIG="/nonexistent"))


class Version(Case):
    def test_plain(self) -> None:
        self.assertRegex(self.good(run("version")), r"\AClient Version: v\d+\.\d+\.\d+\n")
        self.assertEqual(self.good(run("version", "--client")), self.good(run("version", "--client=true")))
        self.assertRegex(self.good(run("--version")), r"\Aslipway \d+\.\d+\.\d+\n\Z")
        self.assertEqual(self.good(run("--version")), self.good(run("version", "--version")))

    def test_json(self) -> None:
        client = json.loads(self.good(run("version", "--client", "-o", "json")))["clientVersion"]
        self.assertEqual(f"Client Version: {client['gitVersion']}\n", self.good(run("version", "--client")))
        self.assertIn(client["platform"].split("/")[0], "linux")
        self.assertRegex(client["compiler"], r"^(gcc|clang) \d+\.\d+\.\d+$")

    def test_other_formats(self) -> None:
        version = json.loads(self.good(run("version", "--client", "-ojson")))["clientVersion"]["gitVersion"]
        self.assertIn(f"clientVersion:\n  gitVersion: {version}\n", self.good(run("version", "--client", "-o", "yaml")))
        self.assertEqual(self.good(run("version", "--client", "-o=jsonpath={.clientVersion.gitVersion}")), version)
        template = 'jsonpath={range .*}{.gitVersion}{"\\n"}{end}'
        self.assertEqual(self.good(run("version", "--client", "-o", template)), f"{version}\n")

    def test_refused_formats(self) -> None:
        self.wrong(run("version", "-o", "go-template={{.x}}"), 64,
                   'invalid argument "go-template={{.x}}" for "-o, --output" flag: format "go-template" needs Go; use jsonpath=TEMPLATE, '
                   "or json and a tool like jq",
                   "slipway version --help")
        self.wrong(run("version", "-o", "wide"), 64,
                   'invalid argument "wide" for "-o, --output" flag: format "wide" is for tables, and this is none: use json, yaml or jsonpath=TEMPLATE',
                   "slipway version --help")
        self.wrong(run("version", "--output=jsonpath={.a"), 64,
                   'invalid argument "jsonpath={.a" for "-o, --output" flag: jsonpath "{.a", column 4: a brace is not closed',
                   "slipway version --help")


class ServerVersion(Case):
    """A server that is there, and all the ways in which it is not."""

    def serve(self, body: bytes, content_type: str = "application/json") -> str:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200 if self.path == "/version" else 404)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    def test_answers(self) -> None:
        url = self.serve(b'{"major":"1","minor":"36","gitVersion":"v1.36.3","platform":"linux/amd64"}')
        client = self.good(run("version", "--client"))
        self.assertEqual(self.good(run("version", "--remote", "-s", url)), f"{client}Server Version: v1.36.3\n")
        both = json.loads(self.good(run("version", "--remote", "-o", "json", SLIPWAY_SERVER=url)))
        self.assertEqual(both["serverVersion"], {"major": "1", "minor": "36", "gitVersion": "v1.36.3", "platform": "linux/amd64"})
        self.assertEqual(self.good(run("version", "-s", url)), client)

    def test_hostile_answer(self) -> None:
        out = self.good(run("version", "--remote", "-s", self.serve(b'{"gitVersion":"v1\\u001b[31m\\u202e"}')))
        self.assertIn("Server Version: v1\\x1b[31m\\u{202e}\n", out)

    def test_no_kubernetes(self) -> None:
        for body, kind in ((b"<html>hello</html>", "text/html"), (b"{}", "application/json"), (b"[1]", "application/json"),
                           (b"", "application/json"), (b'{"gitVersion":7}', "application/json")):
            done = run("version", "--remote", "-s", self.serve(body, kind))
            self.assertEqual(done.code, 4, done.err)
            self.assertEqual(done.out, self.good(run("version", "--client")))
            self.assertEqual(len(done.err.splitlines()), 1)
            self.assertIn("error: cannot ask the server for its version: ", done.err)

    def test_nobody_there(self) -> None:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))  # bound, but nobody listens
            done = run("version", "--remote", "-o", "json", "-s", f"http://127.0.0.1:{s.getsockname()[1]}")
        self.assertEqual(done.code, 4)
        self.assertNotIn("serverVersion", json.loads(done.out))
        self.assertRegex(done.err, r"\Aerror: cannot ask the server for its version: .+\n\Z")

    def test_no_configuration(self) -> None:
        """Nobody is asked unless told to; then a configuration is needed."""
        self.good(run("version", "--kubeconfig", "/nonexistent/config", HOME="/nonexistent"))
        done = run("version", "--remote", "--kubeconfig", "/nonexistent/config")
        self.assertEqual((done.code, done.out), (64, self.good(run("version", "--client"))))
        self.assertEqual(done.err, "error: stat /nonexistent/config: no such file or directory\n"
                                   "cannot read the kubeconfig: /nonexistent/config: No such file or directory\n")


class Mistakes(Case):
    def test_verbs(self) -> None:
        self.wrong(run("versoin"), 64, 'unknown verb "versoin" (did you mean "version"?)', "slipway --help")
        self.wrong(run("frobnicate"), 64, 'unknown verb "frobnicate"', "slipway --help")
        self.wrong(run(""), 64, 'unknown verb ""', "slipway --help")
        self.wrong(run("help", "exit-code"), 64, 'there is no verb or topic "exit-code" (did you mean "exit-codes"?)',
                   "slipway --help")

    def test_flags(self) -> None:
        self.wrong(run("version", "--clinet"), 64, "unknown flag: --clinet", "slipway version --help", 'Did you mean "--client"?')
        self.wrong(run("--verion"), 64, "unknown flag: --verion", "slipway --help", 'Did you mean "--version"?')
        self.wrong(run("version", "-z"), 64, "unknown shorthand flag: 'z' in -z", "slipway version --help")
        self.wrong(run("--client", "version"), 64, "unknown flag: --client", "slipway --help", "Flags of a verb stand after it.")
        self.wrong(run("--context"), 64, "flag needs an argument: --context", "slipway --help")
        self.wrong(run("version", "--context"), 64, "flag needs an argument: --context", "slipway version --help")
        self.wrong(run("version", "--color", "mauve"), 64, 'invalid argument "mauve" for "--color" flag: must be auto, always or never',
                   "slipway version --help")
        self.wrong(run("-q"), 64, "a verb is missing", "slipway --help")

    def test_arguments(self) -> None:
        self.wrong(run("version", "now"), 64, 'slipway version takes no arguments: "now" is too much', "slipway version --help")
        self.wrong(run("completion"), 64, "slipway completion needs bash|zsh|fish", "slipway completion --help")
        self.wrong(run("completion", "bahs"), 64, '"bahs" is not one of bash|zsh|fish (did you mean "bash"?)',
                   "slipway completion --help")
        self.wrong(run("completion", "bash", "zsh"), 64, 'slipway completion takes bash|zsh|fish: "zsh" is too much',
                   "slipway completion --help")

    def test_environment(self) -> None:
        self.wrong(run("version", SLIPWAY_COLOR="mauve"), 64,
                   'environment variable SLIPWAY_COLOR: invalid value "mauve": must be auto, always or never', "slipway version --help")
        self.good(run("version", "--client", "--color=auto", SLIPWAY_COLOR="mauve"))
        self.good(run("version", "--client", SLIPWAY_COLOR=""))

    def test_hostile_words(self) -> None:
        """What was typed cannot do anything to the terminal it is shown on."""
        for word in ("\x1b[31m", "a\nb", "\x7f", "\u202e", "x" * 100000):
            result = run(word)
            self.assertEqual(result.code, 64)
            self.assertEqual(len(result.err.splitlines()), 2)
            self.assertFalse(set(result.err) & set("\x1b\x7f\u202e"))
        result = subprocess.run([SLIPWAY.encode(), b"\xff\xfe"], capture_output=True)
        self.assertEqual(result.stderr.splitlines()[0], b'error: unknown verb "\\xff\\xfe"')

    def test_order_of_words(self) -> None:
        plain = self.good(run("version", "--client", "-o", "json"))
        for words in (("-o", "json", "version", "--client"), ("-ojson", "--context", "x", "version", "--client"),
                      ("version", "-v=3", "-o=json", "--client"), ("--v=3", "version", "--output=json", "--client", "--"),
                      ("version", "--client", "--context", "x", "-n", "y", "-o", "json"),
                      ("--client=true", "version", "-o", "json")):
            self.assertEqual(self.good(run(*words)), plain, words)

    def test_no_argument_at_all(self) -> None:
        """execve() with an empty argv, as only attackers and tests do it."""
        code = ("import ctypes, os; libc = ctypes.CDLL(None); "
                f"libc.execve({os.fsencode(SLIPWAY)!r}, (ctypes.c_char_p * 1)(None), (ctypes.c_char_p * 1)(None))")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Plugin(Case):
    """Linked as kubectl-slipway the program is `kubectl slipway`."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.link = Path(directory.name, "kubectl-slipway")
        self.link.symlink_to(SLIPWAY)

    def test_help(self) -> None:
        out = self.good(run(program=str(self.link)))
        self.assertIn("'kubectl slipway help'", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        for verb in VERBS:
            self.assertIn(f"  kubectl slipway {verb}", self.good(run("help", verb, program=str(self.link))))

    def test_mistakes(self) -> None:
        self.wrong(run("version", "--clinet", program=str(self.link)), 64, "unknown flag: --clinet",
                   "kubectl slipway version --help", 'Did you mean "--client"?')
        self.wrong(run("completion", program=str(self.link)), 64, "kubectl slipway completion needs bash|zsh|fish",
                   "kubectl slipway completion --help")

    def test_same_results(self) -> None:
        self.assertEqual(self.good(run("version", "--client", program=str(self.link))), self.good(run("version", "--client")))
        self.assertEqual(self.good(run("completion", "bash", program=str(self.link))), self.good(run("completion", "bash")))


if __name__ == "__main__":
    tap.main()
