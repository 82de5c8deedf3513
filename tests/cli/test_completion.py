"""Completion: the protocol, and real shells with somebody pressing the tab key."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import LIMIT, SLIPWAY, Terminal, environment, run  # noqa: E402

KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: prod
clusters:
- name: c
  cluster: {server: "https://127.0.0.1:1"}
users:
- name: u
  user: {token: t}
contexts:
- name: prod
  context: {cluster: c, user: u}
- name: "arn:aws:eks:eu-west-1:123:cluster/test"
  context: {cluster: c, user: u}
- name: with blank
  context: {cluster: c, user: u}
"""


class Case(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        for name in ("slipway", "kubectl-slipway", "kubectl_complete-slipway"):
            (self.directory / name).symlink_to(SLIPWAY)
        self.config = self.directory / "config"
        self.config.write_text(KUBECONFIG)
        self.path = f"{self.directory}{os.pathsep}{os.environ['PATH']}"


class Protocol(Case):
    def complete(self, *words: str) -> tuple[list[str], int]:
        result = run("__complete", "--", *words, KUBECONFIG=str(self.config))
        self.assertEqual((result.code, result.err), (0, ""))
        *lines, directive = result.out.splitlines()
        self.assertRegex(directive, r"^:\d+$")
        return [line.split("\t")[0] for line in lines], int(directive[1:])

    def test_verbs(self) -> None:
        verbs, directive = self.complete("")
        self.assertLessEqual({"version", "help", "completion"}, set(verbs))
        self.assertEqual(directive, 4)
        self.assertEqual(self.complete("comp"), (["completion"], 4))
        self.assertEqual(self.complete(), (verbs, 4))

    def test_descriptions(self) -> None:
        self.assertEqual(run("__complete", "--", "versi").out.splitlines()[0].split("\t")[0], "version")
        for line in run("__complete", "--", "version", "-").out.splitlines()[:-1]:
            self.assertRegex(line, r"^--?[a-z-]+\t[A-Z].+")

    def test_every_visible_flag_is_offered(self) -> None:
        flags, _ = self.complete("version", "-")
        self.assertLessEqual({"--client", "--output", "-o", "--help", "-h", "--color"}, set(flags))
        self.assertNotIn("--v", flags)

    def test_a_bare_flag_of_the_verbs_own(self) -> None:
        """`plan --server` is complete without a value: it is offered once, and a node may follow."""
        self.assertEqual(self.complete("plan", "--serve")[0], ["--server"])
        result = run("__complete", "--", "plan", "--serve", KUBECONFIG=str(self.config))
        self.assertIn("dry run", result.out)
        self.assertEqual(self.complete("plan", "--server", "--out")[0], ["--out", "--output"])
        self.assertEqual(self.complete("drain", "--server", "--out")[0], [])

    def test_contexts(self) -> None:
        self.assertEqual(self.complete("--context", "p"), (["prod"], 4))
        self.assertEqual(self.complete("version", "--context=arn"), (["arn:aws:eks:eu-west-1:123:cluster/test"], 4))
        self.assertEqual(self.complete("--kubeconfig", "/nonexistent", "--context", ""), ([], 4))
        empty = self.directory / "empty"
        empty.write_text("apiVersion: v1\nkind: Config\n")
        self.assertEqual(self.complete(f"--kubeconfig={empty}", "--context", ""), ([], 4))

    def test_words(self) -> None:
        self.assertEqual(self.complete("--color", ""), (["auto", "always", "never"], 4))
        self.assertEqual(self.complete("version", "-o", "j"), (["json", "jsonpath="], 6))
        self.assertEqual(self.complete("--kubeconfig", ""), ([], 0))

    def test_as_kubectl_calls_it(self) -> None:
        for words in ((), ("vers",), ("version", "-o", ""), ("--color", "a"), ("help", "exit")):
            via_link = run(*words, program=str(self.directory / "kubectl_complete-slipway")).out
            self.assertEqual(via_link, run("__complete", "--", *words).out)


class Bash(Case):
    def setUp(self) -> None:
        super().setUp()
        if not shutil.which("bash"):
            self.skipTest("there is no bash")

    def tab(self, *lines: str, setup: str = "") -> list[str]:
        """What becomes of each line when the tab key is pressed at its end."""
        with Terminal("bash", "--norc", "--noprofile", "-i", columns=400, PATH=self.path, KUBECONFIG=str(self.config), PS1="",
                      HISTFILE="/dev/null", INPUTRC="/dev/null", HOME=str(self.directory)) as shell:
            shell.send(f"bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; cd {self.directory}\n")
            shell.send(f"source <(slipway completion bash); {setup} printf '%s%s\\n' rea dy\n")
            shell.expect("ready\r\n")
            results = []
            for line in lines:
                # The line becomes the text of a command that prints it: ctrl-A goes to its start, ctrl-E to its end.
                shell.send(f"{line}\t\x01printf '<%s>' '\x05'; printf '%s%s\\n' do ne\n")
                shell.expect("\r\n")
                results.append(shell.expect("done\r\n").rsplit("<", 1)[1].rstrip(">"))
            shell.send("exit\n")
            return results

    def test_script_is_clean(self) -> None:
        script = run("completion", "bash").out
        self.assertEqual(subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True).stderr, "")
        if checker := shutil.which("shellcheck"):
            done = subprocess.run([checker, "-s", "bash", "-"], input=script, text=True, capture_output=True)
            self.assertEqual(done.stdout, "")

    def test_words(self) -> None:
        self.assertEqual(self.tab("slipway versi", "slipway version --insec", "slipway --color alw", "slipway completion b",
                                  "slipway --context pro", "slipway nonsense x"),
                         ["slipway version ", "slipway version --insecure-skip-tls-verify ", "slipway --color always ", "slipway completion bash ",
                          "slipway --context prod ", "slipway nonsense x"])

    def test_equals_and_colons(self) -> None:
        """Characters at which bash splits words."""
        lines = ("slipway version --output=y", "slipway --context arn:aws", "slipway --context=arn:a", "slipway version -o=y",
                 "slipway version --output=jsonp")
        want = ["slipway version --output=yaml ", "slipway --context arn:aws:eks:eu-west-1:123:cluster/test ",
                "slipway --context=arn:aws:eks:eu-west-1:123:cluster/test ", "slipway version -o=yaml ",
                "slipway version --output=jsonpath="]
        self.assertEqual(self.tab(*lines), want)
        self.assertEqual(self.tab(*lines[:4], setup="COMP_WORDBREAKS=${COMP_WORDBREAKS//[:=]/};"), want[:4])

    def test_blanks_are_quoted(self) -> None:
        self.assertEqual(self.tab("slipway --context wi"), ["slipway --context with\\ blank "])

    def test_files(self) -> None:
        (self.directory / "unique-name").touch()
        self.assertEqual(self.tab("slipway --kubeconfig uni", "slipway --kubeconfig=uni", "slipway version uni"),
                         ["slipway --kubeconfig unique-name ", "slipway --kubeconfig=unique-name ", "slipway version uni"])

    def test_by_path(self) -> None:
        self.assertEqual(self.tab("./slipway versi"), ["./slipway version "])

    def test_nothing_is_evaluated(self) -> None:
        self.tab("slipway $(touch evil) ver", "slipway `touch evil` --color a", 'slipway --context "$(touch evil)" v')
        # The lines end up inside of single quotes, so that only the completion itself could have run them.
        self.assertFalse((self.directory / "evil").exists())


class OtherShells(Case):
    def test_zsh(self) -> None:
        zsh = shutil.which("zsh")
        if not zsh:
            self.skipTest("there is no zsh")
        script = self.directory / "_slipway"
        script.write_text(run("completion", "zsh").out)
        with Terminal(zsh, "-f", "-i", columns=400, PATH=self.path, KUBECONFIG=str(self.config), PS1="", RPS1="",
                      HOME=str(self.directory)) as shell:
            shell.send("unsetopt prompt_sp beep zle_bracketed_paste; autoload -Uz compinit; compinit -u -D\n")
            shell.send(f"cd {self.directory}; source ./_slipway; print rea''dy\n")
            shell.expect("ready\r\n")
            lines = {"slipway versi": "slipway version", "slipway version --output=y": "slipway version --output=yaml",
                     "slipway --context arn": "slipway --context arn:aws:eks:eu-west-1:123:cluster/test",
                     "slipway --color alw": "slipway --color always", "slipway --kubeconfig _sli": "slipway --kubeconfig _slipway"}
            for line, want in lines.items():
                # zsh may take back the blank that it has added.
                shell.send(f"{line}\t\x01print -r '<\x05>' do''ne\n")
                got = shell.expect("done\r\n").rsplit("<", 1)[1]
                self.assertEqual(got.split(">")[0].replace("\\:", ":").rstrip(), want)

    def test_fish(self) -> None:
        fish = shutil.which("fish")
        if not fish:
            self.skipTest("there is no fish")
        lines = {"slipway versi": ["version"], "slipway version --output=y": ["--output=yaml"], "slipway --color al": ["always"],
                 "slipway --context arn": ["arn:aws:eks:eu-west-1:123:cluster/test"], "slipway nonsense ": []}
        for line, want in lines.items():
            done = subprocess.run([fish, "--no-config", "-c", "slipway completion fish | source; complete -C \"$argv\"", line],
                                  capture_output=True, text=True, timeout=LIMIT,
                                  env=environment(PATH=self.path, KUBECONFIG=str(self.config), HOME=str(self.directory)))
            self.assertEqual([x.split("\t")[0] for x in done.stdout.splitlines()], want, done.stderr)

    def test_kubectl(self) -> None:
        """kubectl's own completion finds ours by the name of the link."""
        kubectl = shutil.which("kubectl")
        if not kubectl:
            self.skipTest("there is no kubectl")
        done = subprocess.run([kubectl, "__complete", "slipway", "versi"], capture_output=True, text=True, timeout=LIMIT,
                              env=environment(PATH=self.path, KUBECONFIG=str(self.config), HOME=str(self.directory)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[0].split("\t")[0], "version")
        self.assertEqual(done.stdout.splitlines()[-1], ":4")


if __name__ == "__main__":
    tap.main()
