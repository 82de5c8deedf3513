"""Lets a file of unittest cases speak TAP: `if __name__ == "__main__": tap.main()`.

A case is called Class.method; its docstring's first line is shown beside it.  The reason of a skip goes after "# SKIP".
A pattern on the command line picks the cases that have it in their name.
"""

from __future__ import annotations

import sys
import unittest


def flatten(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    return [case for item in suite for case in (flatten(item) if isinstance(item, unittest.TestSuite) else [item])]


class TapResult(unittest.TestResult):
    count = 0

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

    def addFailure(self, test: unittest.TestCase, err: object) -> None:
        super().addFailure(test, err)
        self.broken(test, self.failures)

    def addError(self, test: unittest.TestCase, err: object) -> None:
        super().addError(test, err)
        self.broken(test, self.errors)


def main() -> None:
    cases = flatten(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    if sys.argv[1:]:
        cases = [c for c in cases if any(pattern in c.id() for pattern in sys.argv[1:])]
    print(f"1..{len(cases)}", flush=True)
    result = TapResult()
    unittest.TestSuite(cases).run(result)
    sys.exit(0 if result.wasSuccessful() and result.count == len(cases) else 1)
