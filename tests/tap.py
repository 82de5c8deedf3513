"""Lets a file of unittest cases speak TAP: `if __name__ == "__main__": tap.main()`.

A case is called Class.method; its docstring's first line is shown beside it.  The reason of a skip goes after "# SKIP".
A pattern on the command line picks the cases that have it in their name.
"""

from __future__ import annotations

import signal
import sys
import unittest


def flatten(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    return [case for item in suite for case in (flatten(item) if isinstance(item, unittest.TestSuite) else [item])]


class TapResult(unittest.TestResult):
    count = 0
    half_broken = False  # a subtest of the one that runs has failed

    def line(self, case: unittest.TestCase, good: bool, more: str = "") -> None:
        self.count += 1
        name = ".".join(case.id().split(".")[-2:])
        doc = (case.shortDescription() or "").replace("#", "\\#")  # else it could be read as a directive
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}{f': {doc}' if doc else ''}{more}", flush=True)

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self.line(test, True)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.line(test, True, f" # SKIP {reason}")

    def broken(self, test: unittest.TestCase, problems: list[tuple[unittest.TestCase, str]]) -> None:
        print("".join(f"# {line}\n" for line in problems[-1][1].splitlines()), end="")
        self.line(test, False)
        self.half_broken = False

    def addFailure(self, test: unittest.TestCase, err: object) -> None:
        super().addFailure(test, err)
        self.broken(test, self.failures)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: object) -> None:
        """The lines of what failed; the test itself is told of when it ends."""
        before = len(self.failures), len(self.errors)
        super().addSubTest(test, subtest, err)
        for problems, known in zip((self.failures, self.errors), before):
            for _, text in problems[known:]:
                print("".join(f"# {line}\n" for line in [str(subtest), *text.splitlines()]), end="")
                self.half_broken = True

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.half_broken = False

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        if self.half_broken:
            self.line(test, False)

    def addError(self, test: unittest.TestCase, err: object) -> None:
        super().addError(test, err)
        self.broken(test, self.errors)


def main() -> None:
    # A shell's background job begins with it ignored, and so would every program that is tested.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    cases = flatten(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    if sys.argv[1:]:
        cases = [c for c in cases if any(pattern in c.id() for pattern in sys.argv[1:])]
    print(f"1..{len(cases)}", flush=True)
    result = TapResult()
    unittest.TestSuite(cases).run(result)
    sys.exit(0 if result.wasSuccessful() and result.count == len(cases) else 1)
