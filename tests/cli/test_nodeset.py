"""Node sets from the command line.  Where ClusterShell is installed (Debian: python3-clustershell) it is the judge of random ones."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import LIMIT, SLIPWAY, Result, environment, run  # noqa: E402

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian has it, whichever Python runs this
try:
    from ClusterShell.NodeSet import NodeSet, NodeSetParseError
except ImportError:
    NodeSet = None

HELP = "See 'slipway nodeset --help' for usage."


class Case(unittest.TestCase):
    def good(self, *args: str, stdin: str | None = None) -> str:
        done = run("nodeset", *args, stdin=stdin)
        self.assertEqual((done.code, done.err), (0, ""), args)
        return done.out

    def wrong(self, done: Result, message: str, help_line: bool = False) -> None:
        self.assertEqual((done.code, done.out), (64, ""))
        self.assertEqual(done.err.splitlines(), [f"error: {message}"] + [HELP] * help_line)


class Manual(Case):
    """The examples of nodeset(1) of ClusterShell 1.9."""

    def test_count(self) -> None:
        self.assertEqual(self.good("count", "node[0-7,32-159]"), "136\n")
        self.assertEqual(self.good("count", "node[0-7,32-159]", "node[160-163]"), "140\n")
        self.assertEqual(self.good("count", "dc[1-2]n[100-199]"), "200\n")

    def test_fold(self) -> None:
        self.assertEqual(self.good("fold", "node[0-7,32-159]", "node[160-163]"), "node[0-7,32-163]\n")
        self.assertEqual(self.good("fold", "-", stdin="node3 node6 node1 node2 node7 node5\n"), "node[1-3,5-7]\n")
        self.assertEqual(self.good("fold", "dc1n2", "dc2n2", "dc1n1", "dc2n1"), "dc[1-2]n[1-2]\n")

    def test_expand(self) -> None:
        self.assertEqual(self.good("expand", "node[160-163]"), "node160 node161 node162 node163\n")
        self.assertEqual(self.good("expand", "-", stdin="dc[1-2]n[2-6/2]\n"), "dc1n2 dc1n4 dc1n6 dc2n2 dc2n4 dc2n6\n")

    def test_operators(self) -> None:
        for text, folded in (("node[0-7],node[8-10]", "node[0-10]"), ("node[0-10]!node[8-10]", "node[0-7]"),
                             ("node[0-10]&node[5-13]", "node[5-10]"), ("node[0-10]^node[5-13]", "node[0-4,11-13]")):
            self.assertEqual(self.good("fold", text), f"{folded}\n")

    def test_flags(self) -> None:
        self.assertEqual(self.good("fold", "node[32-159]", "-x", "node33"), "node[32,34-159]\n")
        self.assertEqual(self.good("fold", "node[32-159]", "-i", "node[0-7,20-21,32,156-159]"), "node[32,156-159]\n")


class Use(Case):
    def test_as_drain_is_given_it(self) -> None:
        self.assertEqual(self.good("fold", "w[001-040]!w007"), "w[001-006,008-040]\n")
        self.assertEqual(self.good("count", "w[001-040]!w007"), "39\n")

    def test_input(self) -> None:
        """Names and sets, with blanks, tabs, empty lines, and no newline at the end."""
        self.assertEqual(self.good("fold", "-", stdin="\n w1\tw2\r\n\nw[5-6],x!x  w3"), "w[1-3,5-6]\n")
        self.assertEqual(self.good("fold", "a", "-", "c", stdin="b"), "a,b,c\n")
        self.assertEqual(self.good("fold", "a[1-9]", "-x", "-", stdin="a2\na3\n"), "a[1,4-9]\n")
        self.assertEqual(self.good("count", "-", stdin=""), "0\n")

    def test_separator(self) -> None:
        for separator, out in (("\\n", "w1\nw2\n"), (",", "w1,w2\n"), ("\\t", "w1\tw2\n"), ("\\\\", "w1\\w2\n"), (" + ", "w1 + w2\n"),
                               ("\\0", "w1\0w2\0")):
            self.assertEqual(self.good("expand", "-S", separator, "w[1-2]"), out)
            self.assertEqual(self.good("expand", f"--separator={separator}", "w[1-2]"), out)
        self.wrong(run("nodeset", "expand", "-S", "\\x", "w1"),
                   'invalid argument "\\\\x" for "--separator" flag: after a backslash stands n, t, 0 or another backslash')

    def test_nothing(self) -> None:
        """No nodes are no line."""
        self.assertEqual(self.good("fold", "a!a"), "")
        self.assertEqual(self.good("expand", "-S", "\\n", "a!a"), "")
        self.assertEqual(self.good("fold", ""), "")
        self.assertEqual(self.good("count", "a!a"), "0\n")

    def test_flags_in_order(self) -> None:
        """First what is kept, then what is left out."""
        self.assertEqual(self.good("fold", "-x", "w3", "-i", "w[2-5]", "-i", "w[1-4]", "w[1-9]", "-x", "w9"), "w[2,4]\n")

    def test_diff(self) -> None:
        self.assertEqual(self.good("diff", "w[1-5]", "w[3-7]"), "- w[1-2]\n+ w[6-7]\n")
        self.assertEqual(self.good("diff", "w[1-5]", "-", stdin="w1\nw2\nw3\nw4\n"), "- w5\n")
        self.assertEqual(self.good("diff", "-", "w[1-5]", stdin="w1\nw2\nw3\nw4\n"), "+ w5\n")
        self.assertEqual(self.good("diff", "--detailed-exitcode", "w[1-5]", "w[1-3],w[4-5]"), "")
        done = run("nodeset", "diff", "--detailed-exitcode", "a", "b")
        self.assertEqual((done.out, done.err, done.code), ("- a\n+ b\n", "", 2))

    def test_huge(self) -> None:
        self.assertEqual(self.good("count", "n[0-999999999999]!n7"), "999999999999\n")
        self.assertEqual(self.good("fold", "n[0-999999999999]!n7"), "n[0-6,8-999999999999]\n")
        self.wrong(run("nodeset", "expand", "n[0-9999999999]"),
                   "the set has 10000000000 names, and at most 1000000 can be written out: is a range too long?")
        self.wrong(run("nodeset", "count", "a[0-999999999999999999]b[0-99]"), "the set has more names than can be counted")

    def test_many(self) -> None:
        names = [f"ip-10-0-{i // 250}-{i % 250}.eu-west-1.compute.internal" for i in range(20000)]
        random.Random(1).shuffle(names)
        self.assertEqual(self.good("fold", "-", stdin="\n".join(names)), "ip-10-0-[0-79]-[0-249].eu-west-1.compute.internal\n")

    def test_no_cluster(self) -> None:
        done = run("nodeset", "fold", "w[1-3]", "--context", "nowhere", KUBECONFIG="/nonexistent", HOME=None)
        self.assertEqual((done.code, done.out, done.err), (0, "w[1-3]\n", ""))


class Mistakes(Case):
    def test_arguments(self) -> None:
        for args, message in (
                (["fold"], "fold needs a set, or - for standard input"),
                (["fld", "a"], '"fld" is not one of fold|expand|count|diff (did you mean "fold"?)'),
                (["w[1-3]"], '"w[1-3]" is not one of fold|expand|count|diff'),
                (["diff", "a"], "diff compares two sets; this is 1"),
                (["diff", "a", "b", "c"], "diff compares two sets; this is 3"),
                (["diff", "-", "-"], 'standard input, "-", can stand for one set only'),
                (["fold", "-", "-x", "-"], 'standard input, "-", can stand for one set only'),
                (["fold", "-S", ",", "a"], "--separator is for expand, not for fold"),
                (["count", "--detailed-exitcode", "a"], "--detailed-exitcode is for diff, not for count"),
                (["diff", "a", "b", "-x", "c"], "diff takes two sets and neither --exclude nor --intersection")):
            self.wrong(run("nodeset", *args), message, help_line=True)

    def test_sets(self) -> None:
        self.wrong(run("nodeset", "fold", "a", "w[1-3"), 'node set "w[1-3", column 2: "]" is missing')
        self.wrong(run("nodeset", "fold", "a", "-x", "b,,c"), 'node set "b,,c", column 3: a name is missing before ","')
        self.wrong(run("nodeset", "fold", "@gpu"),
                   'node set "@gpu", column 1: groups are not available here: write the names of the nodes')

    def test_input(self) -> None:
        self.wrong(run("nodeset", "fold", "-", stdin="w1\nw2 w3\nw4 w[5\n"),
                   'standard input, line 3: node set "w[5", column 2: "]" is missing')
        self.wrong(run("nodeset", "fold", "-", stdin="a\0b"), "standard input: it has a NUL byte in it, this is no text")

    def test_hostile_input(self) -> None:
        """What is no UTF-8 or could drive a terminal is shown, not sent."""
        done = subprocess.run([SLIPWAY, "nodeset", "fold", "-"], input=b"w1\n\xff\x1b[31mx\n", capture_output=True, timeout=LIMIT,
                              env=environment())
        self.assertEqual((done.returncode, done.stdout), (64, b""))
        self.assertEqual(done.stderr, b'error: standard input, line 2: node set "\\xff\\x1b[31mx", column 1: '
                                      b'no node has "\\xff" in its name\n')

    def test_input_that_cannot_be_read(self) -> None:
        directory = os.open("/", os.O_RDONLY)
        self.addCleanup(os.close, directory)
        done = subprocess.run([SLIPWAY, "nodeset", "fold", "-"], stdin=directory, capture_output=True, timeout=LIMIT, text=True,
                              env=environment())
        self.assertEqual((done.returncode, done.stdout, done.stderr), (64, "", "error: standard input: Is a directory\n"))


class Words:
    """Random texts of the grammar that both understand."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)

    def number(self) -> str:
        return self.r.choice((str(self.r.randrange(12)), f"{self.r.randrange(30):02}", str(self.r.randrange(120)),
                              f"{self.r.randrange(120):03}"))

    def range(self) -> str:
        if self.r.random() < .4:
            return self.number()
        width = self.r.choice((0, 0, 2, 3))
        low = self.r.randrange(99)
        high = low + self.r.randrange(min(30, 100 - low) if width else 30)
        step = f"/{self.r.randrange(2, 5)}" if self.r.random() < .2 and low < high else ""
        return f"{low:0{width or 1}}-{high:0{width or 1}}{step}"

    def pattern(self) -> str:
        numbers = self.r.choice((0, 1, 1, 1, 2, 2, 3))
        text = self.r.choice(("n", "ab", "x-", "")) if numbers else self.r.choice(("n", "foo", "a.b-c"))
        for i in range(numbers):
            text += f"[{','.join(self.range() for _ in range(self.r.randrange(1, 4)))}]" if self.r.random() < .6 else self.number()
            text += self.r.choice(("-", "c", ".x")) if i < numbers - 1 else self.r.choice(("-", "c", ".x", ""))
        return text

    def set(self) -> str:
        text = self.pattern()
        for _ in range(self.r.randrange(5)):
            text += self.r.choice(",,!&^") + self.pattern()
        return text


@unittest.skipIf(NodeSet is None, "ClusterShell is not installed (Debian: python3-clustershell)")
class Differential(Case):
    def test_random_sets(self) -> None:
        """Both read a text as the same set, and it reads what we fold."""
        words = Words(2026)
        for _ in range(150):
            text = words.set()
            try:
                theirs = sorted(NodeSet(text))
            except NodeSetParseError:
                self.assertEqual(run("nodeset", "expand", text).code, 64, text)
                continue
            self.assertEqual(sorted(self.good("expand", text).split()), theirs, text)
            self.assertEqual(sorted(NodeSet(self.good("fold", text).strip())), theirs, text)

    def test_one_number(self) -> None:
        """Where names have one number and no zeros in front, also the text is the same."""
        r = random.Random(7)
        for _ in range(40):
            names = {f"{r.choice('ab')}{r.randrange(130)}" for _ in range(r.randrange(1, 80))}
            self.assertEqual(self.good("fold", *names).strip(), str(NodeSet.fromlist(names)))


if __name__ == "__main__":
    tap.main()
