"""The simulator's patches before those of the API server: random cases, applied by both.

apply.c applies them with src/sim/api, the judge (judge/main.go) with the libraries that the server is built from, and both have
to say the same: object, status code, reason, message, and the error behind the message.  Where the server's answer depends on
the order of Go's maps, ours has to be one of those that it gives.

The judge is built with Go out of its module cache; without either this is skipped.  SLIPWAY_SEED=<n> runs one seed,
SLIPWAY_SEEDS=<n> more or fewer than usual.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path[:0] = [str(TOP / "tests"), str(HERE)]
import tap  # noqa: E402
from cases import Cases, go_text  # noqa: E402

BUILD = Path(os.environ.get("BUILD") or TOP / "build")
APPLY = os.environ.get("PATCHES_APPLY") or BUILD / "tests" / "patches" / "patches-apply"
SEEDS = [int(os.environ["SLIPWAY_SEED"])] if "SLIPWAY_SEED" in os.environ else \
    list(range(1, 1 + int(os.environ.get("SLIPWAY_SEEDS", "4"))))
CASES = 500  # of each kind and seed
ORDERS = 6  # how often the judge tries a case whose outcome depends on the order of maps
MORE_ORDERS = 3000  # and when none of these was ours
GO = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off", "GOPROXY": "off",
      "GOTOOLCHAIN": "local"}
PANIC = "This request caused apiserver to panic. Look in the logs for details."


def plain(value: object) -> object:
    """For comparison: Go prints 1.0 as 1, and True is not 1."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def canonical(outcome: dict) -> str:
    if outcome.get("crash") or outcome.get("message") == PANIC:
        return "crash"
    return json.dumps(plain({k: v for k, v in outcome.items() if v or k == "ok"}), sort_keys=True, ensure_ascii=False)


def ask(program: Path | str, cases: list[dict]) -> list:
    text = "".join(go_text(c) + "\n" for c in cases)
    done = subprocess.run([program], input=text, capture_output=True, text=True)
    lines = done.stdout.split("\n")[:-1]
    if done.returncode or len(lines) != len(cases):
        last = f"\nthe last case was {json.dumps(cases[len(lines)])}" if len(lines) < len(cases) else ""
        raise AssertionError(f"{program}: status {done.returncode} after {len(lines)} of {len(cases)} cases\n{done.stderr}{last}")
    return [json.loads(line) for line in lines]


def why_not() -> str:
    """Why the judge cannot be built; empty when it can."""
    if not shutil.which("go"):
        return "there is no Go to build the judge of patches with"
    done = subprocess.run(["go", "list", "-deps", "."], cwd=HERE / "judge", env=GO, capture_output=True, text=True)
    return "" if not done.returncode else "no judge of patches, Go's module cache lacks something (`go mod download` in " \
        f"tests/patches/judge brings it): {(done.stderr.strip().splitlines() or ['?'])[0]}"


MISSING = why_not()


@unittest.skipIf(MISSING, MISSING)
class Judged(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.judge = Path(directory.name, "judge")
        built = subprocess.run(["go", "build", "-o", cls.judge, "."], cwd=HERE / "judge", env=GO, capture_output=True, text=True)
        if built.returncode:
            raise AssertionError(f"go build in tests/patches/judge: {built.stderr}")

    def compare(self, seed: int, cases: list[dict]) -> dict[str, int]:
        """How many cases had which sort of outcome."""
        ours = [canonical(o) for o in ask(APPLY, cases)]
        theirs = ask(self.judge, [{**c, "times": ORDERS if c["kind"] == "strategic" else 1} for c in cases])
        unlike = [i for i, o in enumerate(ours) if o not in map(canonical, theirs[i])]
        for i, outcomes in zip(unlike, ask(self.judge, [{**cases[i], "times": MORE_ORDERS} for i in unlike])):
            if ours[i] not in map(canonical, outcomes):
                self.fail(f"seed {seed}\ncurrent: {json.dumps(cases[i]['current'], ensure_ascii=False)}\n"
                          f"patch: {cases[i]['patch']}\n{cases[i]['kind']} of a "
                          f"{cases[i]['type']}, unchecked: {cases[i].get('unchecked')}\nours: {ours[i]}\n"
                          + "".join(f"theirs: {canonical(o)}\n" for o in outcomes))
        sorts = ["ok" if o.startswith('{"notes"') or o.startswith('{"ok"') else o if o == "crash" else str(json.loads(o)["code"])
                 for o in ours]
        return {s: sorts.count(s) for s in sorted(set(sorts))}

    def judge_kind(self, kind: str, *expected: str) -> None:
        total: dict[str, int] = {}
        for seed in SEEDS:
            cases = Cases(f"{kind} {seed}")
            for sort, n in self.compare(seed, [cases.case(kind) for _ in range(CASES)]).items():
                total[sort] = total.get(sort, 0) + n
        print(f"# {kind}: {total}")
        # Cases that all fail, or all succeed, would say little.
        self.assertLessEqual(set(expected), set(total))
        self.assertGreater(total["ok"], sum(total.values()) // 4)

    def test_json(self) -> None:
        """RFC 6902, with status codes and messages."""
        self.judge_kind("json", "400", "422", "crash")

    def test_merge(self) -> None:
        """RFC 7386."""
        self.judge_kind("merge", "400")

    def test_strategic(self) -> None:
        """Strategic merge patches with all their directives."""
        self.judge_kind("strategic", "400", "500", "crash")

    def test_limits(self) -> None:
        """Too many operations, too much copied, and just not."""
        current = {"data": {"a": "x" * 100_000}}
        copies = [{"op": "copy", "from": "/data/a", "path": f"/data/{n}"} for n in range(32)]
        patches = {"ok": [[{"op": "test", "path": "/data/b"}] * 10_000, copies[:31]],
                   "413": [[{"op": "test", "path": "/data/b"}] * 10_001],
                   "422": [copies, [{"op": "copy", "from": "/data", "path": f"/data/{n}"} for n in range(10)]]}
        for sort, bodies in patches.items():
            cases = [{"kind": "json", "type": "ConfigMap", "current": current, "patch": go_text(body)} for body in bodies]
            self.assertEqual(self.compare(0, cases), {sort: len(cases)})

    def test_texts(self) -> None:
        """How a client writes a string or a number decides what a test says."""
        current = {"data": {"a": "a<b", "b": "é", "c": 1.5, "d": ["\u2028", {"e": "\b\u007f"}], "f": "/"}}
        patches = {"ok": [("a", r'"a\u003cb"'), ("b", '"é"'), ("c", "1.5"), ("f", '"/"'), ("x", "null"),
                          ("d", '[ "\\u2028" , {"e" : "\\b\u007f"} ]')],
                   "422": [("a", '"a<b"'), ("a", r'"a\u003Cb"'), ("b", r'"\u00e9"'), ("c", "1.50"), ("f", r'"\/"'),
                           ("d", '["\u2028",{"e":"\\b\u007f"}]'), ("d", '["\\u2028",{"e":"\\u0008\u007f"}]')]}
        for sort, tests in patches.items():
            cases = [{"kind": "json", "type": "ConfigMap", "current": current,
                      "patch": f'[{{"op": "test", "path": "/data/{name}", "value": {text} }} ]'} for name, text in tests]
            self.assertEqual(self.compare(0, cases), {sort: len(cases)})

    def test_apply(self) -> None:
        """The patches that `kubectl apply` sends, with its orders and deletions."""
        for seed in SEEDS:
            made = Cases(f"apply {seed}")
            asked = [made.apply() for _ in range(CASES)]
            answers = ask(self.judge, asked)
            cases = [{"kind": "strategic", "type": c["type"], "current": c["current"], "patch": go_text(a["patch"])}
                     for c, a in zip(asked, answers) if "patch" in a]
            self.assertGreater(len(cases), CASES // 2)
            self.assertGreater(self.compare(seed, cases)["ok"], CASES // 2)


if __name__ == "__main__":
    tap.main()
