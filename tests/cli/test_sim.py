"""The verb `sim` as users meet it: what it prints, the kubeconfig it writes, commands and signals, mistakes, scenarios."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import LIMIT, SLIPWAY, TOP, Result, Terminal, environment, on_terminal, run  # noqa: E402
from simulation import Client, Sim, until  # noqa: E402

FAILED, ACCESS, REFUSED, USAGE = 1, 4, 5, 64
SCENARIOS = sorted(p.stem for p in (TOP / "scenarios").glob("*.yaml"))
NOW = "2026-11-15T08:00:00Z"


def sim(*args: str, **env: str | None) -> Result:
    return run("sim", *args, **env)


class Case(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def wrong(self, result: Result, code: int, *pieces: str) -> None:
        """One sentence on standard error (and perhaps where help is), nothing else."""
        lines = [x for x in result.err.splitlines() if x != "See 'slipway sim --help' for usage."]
        self.assertEqual((result.code, result.out, len(lines)), (code, "", 1), result)
        self.assertTrue(lines[0].startswith("error: "), lines)
        for piece in pieces:
            self.assertIn(piece, lines[0])

    def file(self, text: str, name: str = "mine.yaml") -> str:
        path = self.directory / name
        path.write_text(text)
        return str(path)


class Start(Case):
    def test_says_how_to_use_it(self) -> None:
        """In a pipe too, and at once: whoever reads it waits for nothing else."""
        with Sim("--scenario", "pinned") as s:
            self.assertRegex(s.out, r"\AA simulated cluster of 3 nodes is ready at https://127\.0\.0\.1:\d+\.\n")
            self.assertIn("\n    export KUBECONFIG=/", s.out)
            for line in ("kubectl get pods -o wide", "kubectl drain w1 --force"):
                self.assertIn(f"\n    {line}\n", s.out)
            mode = s.kubeconfig.stat().st_mode
            self.assertEqual(stat.S_IMODE(mode), 0o600)
            names = [n["metadata"]["name"] for n in s.client.get("/api/v1/nodes")["items"]]
            self.assertEqual(names, ["w1", "w2", "w3"])

    def test_every_way_to_end_it(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with Sim("--nodes", "1", "--scenario", "empty") as s:
                done = s.end(number)
                self.assertEqual((done.code, done.err), (0, ""))
                self.assertFalse(s.kubeconfig.exists() or s.kubeconfig.parent.exists())

    def test_ends_with_clients_connected(self) -> None:
        with Sim("--nodes", "2") as s, contextlib.closing(s.client.connect()) as watch:
            watch.request("GET", "/api/v1/nodes?watch=1", headers={"Authorization": f"Bearer {s.client.token}"})
            self.assertEqual(watch.getresponse().status, 200)
            self.assertEqual(s.end().code, 0)

    def test_terminal(self) -> None:
        """No pager, however small the screen; Ctrl-C; the prompt begins a line of its own."""
        with Terminal(SLIPWAY, "sim", "--scenario", "pinned", rows=5) as t:
            text = t.expect("Ctrl-C ends it.\r\n")
            self.assertLessEqual(max(map(len, text.split("\r\n"))), 80)
            t.send("\x03")
            done = t.finish()
            self.assertEqual((done.code, done.out), (0, "^C\n"))

    def test_token_is_needed(self) -> None:
        with Sim("--scenario", "empty") as s:
            self.assertEqual(s.client.call("GET", "/api/v1/nodes")[0], 200)
            self.assertNotIn(s.client.token, s.out)
            s.client.token = "0" * len(s.client.token)
            self.assertEqual(s.client.call("GET", "/api/v1/nodes")[0], 401)

    def test_temporary_directory(self) -> None:
        for name in ("XDG_RUNTIME_DIR", "TMPDIR"):
            env = {"XDG_RUNTIME_DIR": None, "TMPDIR": None, name: str(self.directory)}
            done = sim("--scenario", "empty", "--", "sh", "-c", "echo $KUBECONFIG", **env)
            self.assertTrue(done.out.startswith(f"{self.directory}/slipway-sim."), done)
        self.assertEqual(list(self.directory.iterdir()), [])
        self.wrong(sim("--scenario", "empty", XDG_RUNTIME_DIR=f"{self.directory}/no"), USAGE, "cannot make the directory",
                   "No such file or directory")

    def test_export_line_is_for_a_shell(self) -> None:
        base = self.directory / "it's here"
        base.mkdir()
        with Sim("--scenario", "empty", ready=False, XDG_RUNTIME_DIR=str(base)) as s:
            s.read_until("Ctrl-C ends it.\n")
            line = re.search(r"^ +(export KUBECONFIG=.+)$", s.out, re.M)[1]
            shown = subprocess.run(["sh", "-c", f'{line}; cat "$KUBECONFIG"'], capture_output=True, text=True)
            self.assertIn("current-context: slipway-sim\n", shown.stdout)
            self.assertEqual(s.end().code, 0)

    def test_many_connections(self) -> None:
        """The soft limit of descriptors is not ours to keep."""
        soft, count = 128, 300

        def limits() -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

        if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 2 * count:
            self.skipTest("the hard limit of open files is too low here")
        with Sim("--nodes", "1", limits=limits) as s, contextlib.ExitStack() as stack:
            watches = []
            for _ in range(count):
                c = stack.enter_context(contextlib.closing(s.client.connect()))
                c.request("GET", "/api/v1/nodes?watch=1", headers={"Authorization": f"Bearer {s.client.token}"})
                watches.append(c.getresponse())
            s.client.patch("/api/v1/nodes/w1", {"metadata": {"labels": {"seen": "by-all"}}})
            for w in watches:
                until(lambda w=w: b'"seen":"by-all"' in w.readline(), "the change")


class Command(Case):
    def test_exit_codes(self) -> None:
        for command, code in (("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -KILL $$", 137), ("kill -TERM $$", 143)):
            done = sim("--scenario", "empty", "--", "sh", "-c", command)
            self.assertEqual((done.code, done.out, done.err), (code, "", ""), command)

    def test_cannot_be_run(self) -> None:
        self.wrong(sim("--scenario", "empty", "--", "no-such-program"), 127, "cannot run no-such-program", "$PATH")
        self.wrong(sim("--scenario", "empty", "--", f"{self.directory}/no"), 127, "no such file")
        self.wrong(sim("--scenario", "empty", "--", self.file("#!/bin/sh\n", "script")), 126, "cannot run", "Permission denied")
        self.wrong(sim("--scenario", "empty", "--", ""), 127, "cannot run")

    def test_environment_and_streams(self) -> None:
        done = run("sim", "--scenario", "empty", "--", "sh", "-c", 'cat; echo "$KUBECONFIG" >&2; test -s "$KUBECONFIG"; echo $#',
                   stdin="from outside\n", KUBECONFIG="/elsewhere")
        self.assertEqual((done.code, done.out), (0, "from outside\n0\n"))
        path = Path(done.err.strip())
        self.assertNotEqual(str(path), "/elsewhere")
        self.assertFalse(path.exists())

    def test_flags_of_the_command_are_its_own(self) -> None:
        self.assertEqual(sim("--scenario", "empty", "--", "printf", "%s|", "--nodes", "-q", "--", "x").out, "--nodes|-q|--|x|")

    def test_slipway_itself(self) -> None:
        out = sim("--scenario", "pdb-stuck", "--", SLIPWAY, "status").out
        self.assertIn("PDBUnsatisfiable shop/web", out)

    def test_terminated(self) -> None:
        """The command may finish in peace, but not for ever."""
        for trap, code in (("trap 'exit 9' TERM", 9), ("trap '' TERM", 143)):
            script = f"{trap}; echo on; while :; do sleep 0.1; done"
            with Sim("--scenario", "empty", "--", "sh", "-c", script, ready=False) as s:
                s.read_until("on\n")
                if code == 9:  # as timeout and service managers do, both are told
                    child = int(Path(f"/proc/{s.process.pid}/task/{s.process.pid}/children").read_text().split()[0])
                    os.kill(child, signal.SIGTERM)
                self.assertEqual(s.end(signal.SIGTERM).code, code)

    def test_ctrl_c_is_the_command_s(self) -> None:
        script = "trap 'echo caught; exit 3' INT; echo on; while :; do sleep 0.1; done"
        with Terminal(SLIPWAY, "sim", "--scenario", "empty", "--", "sh", "-c", script) as t:
            t.expect("on\r\n")
            t.send("\x03")
            t.expect("caught")
            self.assertEqual(t.finish().code, 3)


class Kubeconfig(Case):
    def test_named(self) -> None:
        path = self.directory / "config"
        with Sim("--scenario", "empty", "--kubeconfig", str(path)) as s:
            self.assertEqual(s.kubeconfig, path)
            self.assertEqual(list(self.directory.iterdir()), [path])
            self.assertEqual(s.end().code, 0)
        self.assertEqual(list(self.directory.iterdir()), [])

    def at_directory(self, *args: str) -> Result:
        done = subprocess.run([SLIPWAY, "sim", "--scenario", "empty", *args], capture_output=True, text=True, timeout=LIMIT,
                              stdin=subprocess.DEVNULL, env=environment(), cwd=self.directory)
        return Result(done.stdout, done.stderr, done.returncode)

    def test_relative(self) -> None:
        """Whoever is told the path may be in another directory."""
        here = self.directory.resolve()
        for path in ("config", "./config"):
            done = self.at_directory("--kubeconfig", path, "--", "sh", "-c", 'cd / && test -s "$KUBECONFIG" && echo "$KUBECONFIG"')
            self.assertEqual((done.code, done.out, done.err), (0, f"{here}/{path}\n", ""))
            self.assertEqual(list(self.directory.iterdir()), [])
        with Sim("--scenario", "empty", "--kubeconfig", os.path.relpath(self.directory / "config")) as s:
            self.assertTrue(s.kubeconfig.is_absolute(), s.out)
            self.assertTrue(s.kubeconfig.samefile(self.directory / "config"))
            self.assertEqual(s.end().code, 0)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_link(self) -> None:
        """What it leads to is written and removed; the link is its owner's."""
        (self.directory / "far").mkdir()
        link, target = self.directory / "link", self.directory / "far" / "config"
        (self.directory / "far" / "middle").symlink_to("config")
        for text in (None, "", "# nothing\n"):
            for leads in ("far/config", "far/middle", str(target)):
                link.symlink_to(leads)
                if text is not None:
                    target.write_text(text)
                with Sim("--scenario", "empty", "--kubeconfig", str(link)) as s:
                    self.assertEqual(s.kubeconfig, link)
                    self.assertTrue(link.is_symlink() and not target.is_symlink())
                    self.assertIn("current-context: slipway-sim\n", target.read_text())
                    self.assertEqual(s.end().code, 0)
                self.assertEqual(os.readlink(link), leads)
                self.assertEqual([p.name for p in (self.directory / "far").iterdir()], ["middle"])
                link.unlink()

    def test_link_to_somebody_s_file(self) -> None:
        link, target = self.directory / "link", Path(self.file("precious", "target"))
        link.symlink_to("target")
        self.wrong(sim("--scenario", "empty", "--kubeconfig", str(link), "--", "true"), REFUSED, str(link), f"a link to {target}",
                   "left as it is")
        self.assertEqual((os.readlink(link), target.read_text()), ("target", "precious"))
        target.unlink()
        target.symlink_to("link")
        self.wrong(sim("--scenario", "empty", "--kubeconfig", str(link), "--", "true"), REFUSED, str(link), "leads to itself")
        self.assertEqual((os.readlink(link), os.readlink(target)), ("target", "link"))
        self.assertEqual(self.at_directory("--kubeconfig", "/dev/stdout", "--", "true").code, REFUSED)

    def test_link_that_is_turned_away(self) -> None:
        """While it runs: what it leads to then is not removed, and nothing is left behind."""
        link, target, other = self.directory / "link", self.directory / "target", Path(self.file("precious", "other"))
        link.symlink_to("target")
        with Sim("--scenario", "empty", "--kubeconfig", str(link)) as s:
            link.unlink()
            link.symlink_to("other")
            self.assertEqual(s.end().code, 0)
        self.assertEqual((os.readlink(link), other.read_text(), target.exists()), ("other", "precious", False))

    def test_somebody_s_file_is_left_alone(self) -> None:
        """Above all ~/.kube/config."""
        with Sim("--scenario", "empty") as s:
            ours = s.kubeconfig.read_text()
        foreign = [
            "apiVersion: v1\nkind: Config\n",
            "not a kubeconfig",
            "\0",
            ours + "- name: prod\n  context: {cluster: prod, user: prod}\n",
            ours.replace("name: slipway-sim", "name: prod"),
            ours.replace("current-context: slipway-sim", "current-context: prod"),
            "[]\n",
        ]
        for text in foreign:
            path = self.file(text, "config")
            self.wrong(sim("--scenario", "empty", "--kubeconfig", path, "--", "true"), REFUSED, path, "left as it is")
            self.assertEqual(Path(path).read_text(), text)
        self.wrong(sim("--scenario", "empty", "--kubeconfig", str(self.directory), "--", "true"), REFUSED, str(self.directory))

    def test_our_own_is_replaced(self) -> None:
        """Left over from one that was killed, or made by mktemp."""
        with Sim("--scenario", "empty") as s:
            ours = s.kubeconfig.read_text()
        for text in (ours, "", "# nothing\n"):
            path = self.file(text, "config")
            with Sim("--scenario", "empty", "--kubeconfig", path) as s:
                self.assertNotEqual(Path(path).read_text(), text)
                self.assertEqual(s.client.get("/version")["major"], "1")
                self.assertEqual(s.end().code, 0)
            self.assertFalse(Path(path).exists())

    def test_another_file_in_its_place_stays(self) -> None:
        path = self.directory / "config"
        with Sim("--scenario", "empty", "--kubeconfig", str(path)) as s:
            other = Path(self.file("precious", "other"))
            other.rename(path)
            self.assertEqual(s.end().code, 0)
        self.assertEqual(path.read_text(), "precious")

    def test_two_runs_with_one_file(self) -> None:
        """The second takes the file over; the end of the first does not take it away."""
        path = self.directory / "config"
        with Sim("--scenario", "empty", "--kubeconfig", str(path)) as first:
            with Sim("--scenario", "empty", "--nodes", "2", "--kubeconfig", str(path)) as second:
                self.assertEqual(first.end().code, 0)
                self.assertEqual(len(Client(path).get("/api/v1/nodes")["items"]), 2)
                self.assertEqual(second.end().code, 0)
        self.assertFalse(path.exists())

    def test_cannot_be_written(self) -> None:
        for path, why in (("/nonexistent/config", "No such file or directory"),
                          (f"{self.file('x', 'plain')}/config", "Not a directory")):
            done = sim("--scenario", "empty", "--kubeconfig", path, "--", "echo", "ran")
            self.wrong(done, USAGE, f"cannot write the kubeconfig {path}: {why}")

    @unittest.skipIf(os.getuid() == 0, "root may write everywhere")
    def test_not_allowed(self) -> None:
        self.directory.chmod(0o500)
        self.wrong(sim("--scenario", "empty", "--kubeconfig", f"{self.directory}/c", "--", "true"), ACCESS, "Permission denied")
        self.directory.chmod(0o700)


class Listen(Case):
    def test_in_use(self) -> None:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            port = s.getsockname()[1]
            self.wrong(sim("--scenario", "empty", "--listen", f"127.0.0.1:{port}", "--", "true"), FAILED,
                       f"127.0.0.1:{port}", "in use", "another port")

    def test_chosen_port(self) -> None:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        with Sim("--scenario", "empty", "--listen", f"127.0.0.1:{port}") as s:
            self.assertEqual(s.client.server, f"127.0.0.1:{port}")

    def test_everywhere(self) -> None:
        """Said aloud; and the kubeconfig names an address that can be called, for which the certificate is good."""
        for address in ("0.0.0.0:0", ":0"):
            with Sim("--scenario", "empty", "--listen", address) as s:
                self.assertRegex(s.client.server, r"^127\.0\.0\.1:\d+$")
                self.assertEqual(s.client.get("/version")["major"], "1")
                done = s.end()
                self.assertRegex(done.err, r"\ANote: other machines may reach \S+:\d+; whoever has the token [^\n]+\n\Z")

    def test_quiet(self) -> None:
        self.assertEqual(sim("-q", "--scenario", "empty", "--listen", "0.0.0.0:0", "--", "true").err, "")

    def test_nonsense(self) -> None:
        for address in ("here", "127.0.0.1", "127.0.0.1:66000", "127.0.0.1:x", "localhost:1:2:3", "[::1:1"):
            self.wrong(sim("--scenario", "empty", "--listen", address, "--", "true"), USAGE, "no address to listen on")
        self.wrong(sim("--scenario", "empty", "--listen", "203.0.113.1:0", "--", "true"), FAILED, "does not have that address")
        self.wrong(sim("--listen", ""), USAGE, "--listen needs a value")


class Values(Case):
    def test_speed(self) -> None:
        for value in ("0", "-1", "nan", "inf", "1e7", "0.0001", "fast", "1xx", "max2", ""):
            self.wrong(sim("--scenario", "empty", "--speed", value, "--", "true"), USAGE, "--speed must be", f'not "{value}"')
        for value in ("0.5", "60", "60x", "1e3", "max"):
            self.assertEqual(sim("--scenario", "empty", "--speed", value, "--", "true").code, 0, value)

    def test_speed_is_felt(self) -> None:
        """A lease is renewed every ten seconds of the simulation's own."""
        for speed in ("500", "max"):
            with Sim("--nodes", "1", "--speed", speed) as s:
                def renewed() -> str:
                    return s.client.get("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/w1")["spec"]["renewTime"]
                first, start = renewed(), time.monotonic()
                until(lambda: renewed()[:16] > first[:16], "another minute")
                self.assertLess(time.monotonic() - start, LIMIT)

    def test_seed(self) -> None:
        for value in ("-1", "+1", "1.5", "x", "18446744073709551616"):
            self.wrong(sim("--scenario", "empty", "--seed", value, "--", "true"), USAGE, "--seed must be", f'"{value}"')
        self.assertEqual(sim("--scenario", "empty", "--seed", "18446744073709551615", "--", "true").code, 0)

    def test_nodes(self) -> None:
        for value, why in (("0", "value out of range"), ("-3", "value out of range"), ("20001", "value out of range"),
                           ("many", "invalid syntax"), ("1e3", "invalid syntax")):
            done = sim("--nodes", value, "--", "true")
            self.assertEqual((done.code, done.out), (USAGE, ""))
            self.assertEqual(done.err, f'error: invalid argument "{value}" for "--nodes" flag: strconv.ParseInt: parsing "{value}": {why}\n'
                                       "See 'slipway sim --help' for usage.\nIt must be a whole number from 1 to 20000.\n")
        with Sim("--scenario", "empty", "--nodes", "17") as s:
            self.assertIn("cluster of 17 nodes is", s.out)
            self.assertEqual(len(s.client.get("/api/v1/nodes")["items"]), 17)

    def test_no_controllers(self) -> None:
        """Nothing happens that no client does."""
        with Sim("--scenario", "empty", "--nodes", "1", "--no-controllers", "--speed", "1000") as s:
            code, _ = s.client.call("POST", "/api/v1/namespaces/default/pods",
                                    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
                                     "spec": {"containers": [{"name": "c", "image": "i"}]}})
            # The service account is nobody's to create here.
            self.assertIn(code, (201, 403))
            node = s.client.get("/api/v1/nodes/w1")
            self.assertNotIn("conditions", node["status"])


class Same(Case):
    """Chance comes from the seed alone."""

    def pods(self, *args: str) -> list[dict]:
        with Sim(*args, SLIPWAY_FAKE_NOW=NOW) as s:
            return s.client.get("/api/v1/pods")["items"]

    def test_seed(self) -> None:
        for scenario in ("happy", "control-plane"):
            first = self.pods("--scenario", scenario, "--seed", "42")
            self.assertGreater(len(first), 10)
            self.assertEqual(first, self.pods("--scenario", scenario, "--seed", "42"))
            self.assertEqual(first, self.pods("--scenario", scenario, "--seed", "42", "--speed", "max"))
            other = self.pods("--scenario", scenario, "--seed", "43")
            self.assertEqual(len(first), len(other))
            self.assertNotEqual(first, other)
            self.assertEqual(self.pods("--scenario", scenario), self.pods("--scenario", scenario, "--seed", "1"))


class Scenarios(Case):
    def test_list(self) -> None:
        done = sim("--scenario", "help")
        self.assertEqual((done.code, done.err), (0, ""))
        head, *lines = done.out.splitlines()
        self.assertRegex(head, r"^NAME +NODES +WHAT$")
        self.assertEqual([line.split()[0] for line in lines], SCENARIOS)
        for line in lines:
            self.assertRegex(line, r"^\S+ +\d+ +[A-Z].+\.$")

    def test_list_on_a_terminal(self) -> None:
        done = on_terminal("sim", "--scenario", "help", rows=100, columns=80)
        self.assertEqual(done.code, 0)
        lines = done.out.splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertEqual([line.split()[0] for line in lines if re.match(r"[a-z]", line)], SCENARIOS)
        self.assertIn("sim --scenario NAME", lines[-1])

    def test_unknown(self) -> None:
        self.wrong(sim("--scenario", "pdb-stuk"), USAGE, 'there is no scenario "pdb-stuk"', 'did you mean "pdb-stuck"?')
        self.wrong(sim("--scenario", "xyzzy"), USAGE, 'there is no scenario "xyzzy"; there are ', "--scenario help")
        self.wrong(sim("--scenario", ""), USAGE, "--scenario needs a value")
        self.wrong(sim("--scenario", "./nothing.yaml"), USAGE, "./nothing.yaml")
        self.wrong(sim("--scenario", str(self.directory)), USAGE, str(self.directory))

    def test_completion(self) -> None:
        out = run("__complete", "--", "sim", "--scenario", "pdb").out
        self.assertEqual(out, "pdb-stuck\n:4\n")
        names = run("__complete", "--", "sim", "--scenario", "").out.splitlines()[:-1]
        self.assertEqual(names, SCENARIOS)

    def test_mistakes_in_files(self) -> None:
        for text, place, words in (
                ("description: a\nnods: []\n", "2:1", 'did you mean "nodes"?'),
                ("description: a\nnodes:\n- name: w\n  count: lots\n", "4:10", "count must be a whole number"),
                ("description: a\nnodes:\n- name: w[5-1]\n", "3:9", "FIRST and LAST"),
                ("description: a\n\tnodes: []\n", "2:1", ""),
                ("description: a\nevents:\n- {after: 5s, node: w1, do: expolde}\n", "3:29", "no valid thing to do"),
                ("description: a\nevents:\n- {after: 5 minutes, node: w1, do: reboot}\n", "3:11", '"after"'),
                ("description: a\nnodes: [{name: w}]\nevents:\n- {after: 5s, node: w2, do: reboot}\n", "4:21", 'did you mean "w1"?'),
                ("description: a\nobjects:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec:\n    containers:\n"
                 "    - name: c\n      imge: i\n", "9:7", 'unknown field "spec.containers[0].imge"'),
                ("description: a\nobjects:\n- apiVersion: policy/v1\n  kind: PodDisruptionBudget\n  metadata: {name: a}\n"
                 "  spec:\n    minAvailable: -1\n", "7:5", "spec.minAvailable"),
                ("description: a\nobjects:\n- {apiVersion: v1, kind: Dog, metadata: {name: a}}\n", "3:20", 'no kind "Dog"'),
                ("description: a\nevents:\n- {after: 5h, delete: {kind: Dog, name: a}}\n", "3:24", 'no kind "Dog"'),
                ("description: a\nevents:\n- after: 5h\n  apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dta: {}}\n",
                 "4:65", 'unknown field "dta"'),
                ("description: a\nnodes: [{name: w, annotations: {sim.slipway.dev/boot: nonsense}}]\n", "2:55",
                 "sim.slipway.dev/boot must be a duration"),
        ):
            path = self.file(text)
            self.wrong(sim("--scenario", path, "--", "echo", "ran"), USAGE, f"{path}:{place}: ", words)

    def test_hostile_files(self) -> None:
        """Nothing that a file says reaches the terminal as it is."""
        path = self.file('description: "a\\e[31mb"\ntry: ["\\e[2Jc"]\n')
        with Sim("--scenario", path) as s:
            self.assertNotIn("\x1b", s.end().out)
        for text in ("&a [*a]", "a: &a [x, x]\nb: &b [*a, *a]\ndescription: [*b, *b]", "[" * 10000, "\0", "\xff"):
            path = self.file(text)
            self.assertEqual(sim("--scenario", path, "--", "true").code, USAGE)

    def test_bad_annotation_is_told(self) -> None:
        """By an event, as kubectl describe shows it, and once."""
        with Sim("--scenario", "empty", "--nodes", "1") as s:
            for value in ("nonsense", "nonsense", "5s"):
                s.client.patch("/api/v1/nodes/w1", {"metadata": {"annotations": {"sim.slipway.dev/boot": value}}})
            told = [(e["type"], e["source"]["component"], e["involvedObject"]["kind"], e["involvedObject"]["name"], e["count"])
                    for e in s.client.get("/api/v1/namespaces/default/events")["items"] if e["reason"] == "BadAnnotation"]
            self.assertEqual(told, [("Warning", "slipway-sim", "Node", "w1", 1)])

    def test_many_nodes_take_a_while(self) -> None:
        """Said of all nodes, not only of the group that --nodes is about."""
        path = self.file("description: a\nnodes: [{name: w}, {name: x, count: 2}]\n")
        self.assertEqual(sim("--scenario", path, "--nodes", "998", "--no-controllers", "--", "true").err,
                         "Making a cluster of 1000 nodes; that may take some minutes ...\n")
        self.assertEqual(sim("--scenario", path, "--nodes", "997", "--no-controllers", "--", "true").err, "")

    def test_one_of_one_s_own(self) -> None:
        path = self.file("description: Mine.\nnodes: [{name: 'n[08-10]', zones: [x, y]}]\n"
                         "objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: 'c{n}'}, copies: nodes}]\n")
        with Sim("--scenario", path) as s:
            self.assertIn("\nMine.\n", s.out)
            self.assertNotIn("try", s.out)
            nodes = s.client.get("/api/v1/nodes")["items"]
            self.assertEqual([(n["metadata"]["name"], n["metadata"]["labels"]["topology.kubernetes.io/zone"]) for n in nodes],
                             [("n08", "x"), ("n09", "y"), ("n10", "x")])
            names = [c["metadata"]["name"] for c in s.client.get("/api/v1/namespaces/default/configmaps")["items"]]
            self.assertLessEqual({"c1", "c2", "c3"}, set(names))

    def test_event_that_cannot_happen_is_told(self) -> None:
        path = self.file("description: a\nevents:\n- {after: 1s, delete: {kind: Pod, name: nobody}}\n")
        with Sim("--scenario", path, "--speed", "100") as s:
            self.assertIn(f'{path}:3:3: Pod "nobody" could not be deleted', s.read_until("\n", "stderr"))

    def test_events_wait_for_the_user(self) -> None:
        """They are counted from the moment at which it says that it is ready, not from the birth of the cluster."""
        path = self.file("description: a\nnodes: [{name: w}]\nevents:\n- {after: 5s, node: w1, do: 'off'}\n")
        with Sim("--scenario", path, "--speed", "30") as s:
            lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/w1"
            self.assertIn("renewTime", s.client.get(lease)["spec"])

            def ready() -> str:
                conditions = s.client.get("/api/v1/nodes/w1")["status"]["conditions"]
                return next(c["status"] for c in conditions if c["type"] == "Ready")
            self.assertEqual(ready(), "True")
            until(lambda: ready() == "Unknown", "the loss of the node")


class Kubectl(Case):
    def test_views(self) -> None:
        """Stock kubectl, where there is one that this machine's users would use."""
        kubectl = shutil.which("kubectl")
        if not kubectl:
            self.skipTest("there is no kubectl on PATH")
        done = sim("--nodes", "2", "--", kubectl, "get", "nodes", "--no-headers")
        self.assertEqual((done.code, [line.split()[:2] for line in done.out.splitlines()]), (0, [["w1", "Ready"], ["w2", "Ready"]]))


class Demo(Case):
    def test_without_kubectl(self) -> None:
        """`make demo` on a machine that has nothing but Debian's essential packages ends by itself, and well."""
        for tool in ("sh", "awk", "tail", "realpath", "cat", "env", "grep", "mktemp", "rm", "sleep"):
            (self.directory / tool).symlink_to(shutil.which(tool))
        done = subprocess.run([str(TOP / "tools" / "demo.sh"), SLIPWAY], capture_output=True, text=True, timeout=2 * LIMIT,
                              stdin=subprocess.DEVNULL, env=environment(PATH=str(self.directory), KUBECONFIG="/elsewhere"))
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        for piece in ("Client Version: v", "With kubectl on PATH", "PDBUnsatisfiable shop/web", "pdb-stuck "):
            self.assertIn(piece, done.stdout)
        plan, apply = (done.stdout.find(f"$ slipway {verb} ") for verb in ("plan drain -l", "apply tonight.json"))
        self.assertTrue(0 < plan < apply, done.stdout)
        self.assertNotIn("$ slipway drain", done.stdout[:plan], "it begins with the plan of the fleet that it then drains")
        self.assertRegex(done.stdout[apply:], r"\nDrained 50 nodes in \S+: \d+ pods evicted\n")


if __name__ == "__main__":
    tap.main()
