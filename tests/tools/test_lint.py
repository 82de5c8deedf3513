"""The checks of tools/lint.py that are our own, on a small tree with one thing wrong at a time."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests"))
import tap  # noqa: E402

GOOD = {
    "src/base/a.h": "#ifndef A_H\n#define A_H\nint a(void);\n#endif\n",
    "src/base/a.c": '#include "base/a.h"\nint a(void) {\n    return 1;\n}\n',
    "src/cli/cmd_x.c": "int x;\n",
    "tests/unit/base/a.c": "int main(void) {\n    return 0;\n}\n",
}


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Lint(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.top = Path(holder.name).resolve()
        for name in ("lint.py", "layers.py"):
            (self.top / "tools").mkdir(exist_ok=True)
            shutil.copy(TOP / "tools" / name, self.top / "tools" / name)
        subprocess.run(["git", "init", "-q", self.top], check=True)
        (self.top / ".gitignore").write_text("/build/\n__pycache__/\n")
        for path, text in GOOD.items():
            self.write(path, text)
        self.compiled = [f for f in GOOD if f.endswith(".c")]

    def write(self, path: str, text: str) -> None:
        file = self.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def lint(self, check: str) -> tuple[int, str]:
        build = self.top / "build"
        build.mkdir(exist_ok=True)
        (build / "compile_commands.json").write_text(json.dumps([
            {"directory": str(build), "file": f"../{f}", "command": f"cc -I../src -Wall -o x.o -c ../{f}"} for f in self.compiled]))
        done = subprocess.run([sys.executable, self.top / "tools" / "lint.py", "--build", build, check], capture_output=True,
                              text=True)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def good(self, check: str) -> None:
        status, out = self.lint(check)
        self.assertEqual((status, out.splitlines()[-1]), (0, "1 passed, 0 failed"), out)

    def bad(self, check: str, *words: str) -> None:
        status, out = self.lint(check)
        self.assertEqual((status, out.splitlines()[-1]), (1, "0 passed, 1 failed"), out)
        for word in words:
            self.assertIn(word, out)

    def test_good_tree(self) -> None:
        for check in ("layers", "headers", "mirror", "text"):
            self.good(check)

    def test_no_such_check(self) -> None:
        status, out = self.lint("nonsense")
        self.assertEqual((status, out), (1, "0 passed, 0 failed\n"))

    def test_layers(self) -> None:
        self.write("src/base/a.c", '#include "cli/x.h"\n')
        self.bad("layers", "src/base/a.c:1: base may not include")

    def test_header_that_needs_another(self) -> None:
        self.write("src/base/b.h", "size_t b(void);\n")
        self.bad("headers", "src/base/b.h:1:1: error: unknown type name", "size_t")

    def test_header_with_a_warning(self) -> None:
        self.write("src/base/b.h", "static inline int b(int x) {\n    int unused = x;\n    return x;\n}\n")
        self.bad("headers", "unused")

    def test_source_without_test(self) -> None:
        self.write("src/base/b.c", "int b;\n")
        self.compiled.append("src/base/b.c")
        self.bad("mirror", "src/base/b.c: its unit test, tests/unit/base/b.c, is missing")

    def test_source_that_nothing_builds(self) -> None:
        self.write("src/base/b.c", "int b;\n")
        self.write("tests/unit/base/b.c", "int main(void) {\n    return 0;\n}\n")
        self.bad("mirror", "src/base/b.c: not in the meson.build", "tests/unit/base/b.c: not in the meson.build")

    def test_test_of_nothing(self) -> None:
        self.write("tests/unit/base/b.c", "int b;\n")
        self.compiled.append("tests/unit/base/b.c")
        self.bad("mirror", "tests/unit/base/b.c: tests nothing")

    def test_further_programs_and_support(self) -> None:
        for path in ("tests/unit/base/a_more.c", "tests/unit/support/helper.c"):
            self.write(path, "int b;\n")
            self.compiled.append(path)
        self.good("mirror")

    def test_ignored_files_do_not_count(self) -> None:
        self.write("build/src/generated.c", "int b;   \n")
        self.good("mirror")
        self.good("text")

    def test_deleted_files_do_not_count(self) -> None:
        subprocess.run(["git", "add", "."], cwd=self.top, check=True)
        (self.top / "src/cli/cmd_x.c").unlink()
        self.good("mirror")

    def test_blanks_and_tabs(self) -> None:
        self.write("notes.md", "one\ntwo \n")
        self.bad("text", "notes.md:2: blanks at the end")
        self.write("notes.md", "one\r\n")
        self.bad("text", "notes.md:1: blanks at the end")
        self.write("notes.md", "one")
        self.bad("text", "notes.md: no newline at the end")
        self.write("notes.md", "one\n")
        self.write("src/base/a.c", "int a(void) {\n\treturn 1;\n}\n")
        self.bad("text", "src/base/a.c:2: a tab")

    def test_broken_python(self) -> None:
        self.write("x.py", "def f(:\n")
        self.bad("python", "x.py")

    @unittest.skipUnless(shutil.which("clang-format"), "clang-format is not installed")
    def test_format(self) -> None:
        self.write(".clang-format", "BasedOnStyle: LLVM\nIndentWidth: 4\nAllowShortFunctionsOnASingleLine: None\n")
        self.good("format")
        self.write("src/base/a.c", "int  a( void ){return 1;}\n")
        self.bad("format", "src/base/a.c:1:")

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_shell(self) -> None:
        self.write("x.sh", "#!/bin/sh\necho hello\n")
        self.good("shell")
        self.write("run", "#!/bin/sh\ncd $1\n")
        self.bad("shell", "SC2086")


if __name__ == "__main__":
    tap.main()
