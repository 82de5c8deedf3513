"""The layer check: the tree obeys it, and it finds what it is for."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(TOP / "tests"), str(TOP / "tools")]
import layers  # noqa: E402
import tap  # noqa: E402


class ThisTree(unittest.TestCase):
    def test_layers_of_src(self) -> None:
        count, breaches = layers.check(TOP / "src")
        self.assertGreater(count, 10)
        self.assertEqual(breaches, [])

    def test_every_directory_has_its_place(self) -> None:
        self.assertLessEqual({d.name for d in (TOP / "src").iterdir() if d.is_dir()}, set(layers.ORDER))


class Finds(unittest.TestCase):
    def breaches(self, path: str, text: str) -> list[str]:
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory, path)
            file.parent.mkdir(parents=True)
            file.write_text(text)
            count, found = layers.check(Path(directory))
            self.assertEqual(count, 1)
            return [breach.removeprefix(f"{directory}/") for breach in found]

    def refused(self, path: str, text: str, *words: str) -> None:
        found = self.breaches(path, text)
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def allowed(self, path: str, text: str) -> None:
        self.assertEqual(self.breaches(path, text), [])

    def test_upwards(self) -> None:
        self.refused("base/x.c", '\n#include "net/loop.h"\n', "base/x.c:2: ", "base may not include")
        self.refused("kube/x.h", '#include "cli/cli.h"\n', "kube/x.h:1: ")
        self.refused("net/x.c", '#  include   "kube/config.h"\n', "net/x.c:1: ")

    def test_every_step_upwards(self) -> None:
        for i, low in enumerate(layers.ORDER):
            for high in layers.ORDER[i + 1:]:
                self.refused(f"{low}/x.c", f'#include "{high}/y.h"\n', f"{low} may not include")

    def test_downwards(self) -> None:
        for i, high in enumerate(layers.ORDER):
            for low in layers.ORDER[:i + 1]:
                # Engine and the simulated world know less.
                if high not in ("engine", "sim") or low in ("base", "model", "engine"):
                    self.allowed(f"{high}/x.c", f'#include "{low}/y.h"\n')

    def test_engine_knows_base_and_model_only(self) -> None:
        self.refused("engine/x.c", '#include "net/loop.h"\n', "knows only base, model, engine")
        self.refused("engine/x.c", '#include "kube/config.h"\n', "knows only base, model, engine")

    def test_simulated_world(self) -> None:
        """All of sim but its faces."""
        for path in ("sim/x.c", "sim/x.h", "sim/api/x.c", "sim/fleet/pace.c", "sim/scenario_play.c", "sim/scenario.h"):
            for header in ("net/loop.h", "net/server.h", "kube/config.h", "kube/transport.h", "sim/serve.h", "sim/pace.h",
                           "sim/transport.h"):
                self.refused(path, f'#include "{header}"\n', f'the simulated world may not include "{header}"')
            for header in ("base/str.h", "model/object.h", "engine/fit.h", "kube/codec.h", "sim/world.h", "sim/scenario.h"):
                self.allowed(path, f'#include "{header}"\n')
            self.refused(path, "#include <time.h>\n", "no I/O")
            self.refused(path, "int f(void) { return rand(); }\n", "may not call rand()")
            self.refused(path, 'int f(void) { return yaml_load_file("f"); }\n', "may not call yaml_load_file()")
            self.allowed(path, "#include <openssl/evp.h>\nvoid f(void) { abort(); }\n")
            self.refused(path, "#include <openssl/ssl.h>\n", "no I/O")

    def test_faces_of_the_simulated_world(self) -> None:
        for path in ("sim/serve.c", "sim/pace.h", "sim/transport.c"):
            self.allowed(path, '#include <unistd.h>\n#include "net/loop.h"\n#include "kube/transport.h"\n#include "sim/pace.h"\n'
                               "int f(void) { return time(0); }\n")
            self.refused(path, '#include "cli/cli.h"\n', "sim may not include")
        self.allowed("sim/scenario.c", 'int f(void) { return yaml_load_file("f"); }\n')
        for name in layers.SIM_OUTSIDE:
            self.assertTrue((TOP / "src" / name).exists(), name)

    def test_engine_and_model_have_no_such_exceptions(self) -> None:
        for layer in ("engine", "model"):
            self.refused(f"{layer}/x.c", "#include <openssl/evp.h>\n", "no I/O")
            self.refused(f"{layer}/x.c", "void f(void) { abort(); }\n", "may not call abort()")
            self.allowed(f"{layer}/x.c", "#include <arpa/inet.h>\n")
            self.refused(f"{layer}/x.c", "#include <arpa/telnet.h>\n", "no I/O")

    def test_own_functions_of_such_a_name(self) -> None:
        for head in ("static int bind(int a) {", "static const struct thing *bind(struct a *b,\n        int c) {",
                     "static inline bool bind(void) {"):
            self.allowed("engine/x.c", f"{head} return 0; }}\nint f(void) {{ return bind(1); }}\n")
        self.refused("engine/x.c", "static int x = 1;\nint f(void) { return bind(1); }\n", "may not call bind()")
        self.refused("engine/x.c", "static int f(void) {\n    return bind(1);\n}\n", "engine/x.c:2: ")
        self.refused("engine/x.c", "int bind(int a);\n", "may not call bind()")

    def test_no_way_around_by_a_relative_path(self) -> None:
        self.refused("base/x.c", '#include "../net/loop.h"\n', "leaves its directory")

    def test_unknown_directory(self) -> None:
        self.refused("misc/x.c", "\n", "no layer")

    def test_impure_headers(self) -> None:
        for header in ("time.h", "unistd.h", "event2/event.h", "curl/curl.h", "sys/socket.h", "fcntl.h"):
            for layer in ("engine", "model"):
                self.refused(f"{layer}/x.c", f"#include <{header}>\n", header, "no I/O")
            self.allowed("kube/x.c", f"#include <{header}>\n")

    def test_pure_headers(self) -> None:
        for header in ("string.h", "stdint.h", "stdlib.h", "jansson.h", "errno.h"):
            self.allowed("engine/x.c", f"#include <{header}>\n")

    def test_impure_calls(self) -> None:
        for call in ("time(NULL)", "clock_gettime(CLOCK_REALTIME, &ts)", 'getenv("HOME")', 'fopen("f", "r")', "rand ()"):
            self.refused("engine/x.c", f"int f(void) {{\n    return {call};\n}}\n", "engine/x.c:2: ", call.split("(")[0].strip())
            self.allowed("exec/x.c", f"int f(void) {{ return {call}; }}\n")

    def test_words_that_are_no_calls(self) -> None:
        self.allowed("engine/x.c", '/* time(NULL) is\n * fopen("x") */\nconst char *s = "getenv(\\"a\\") read(0)"; // exit(1)\n'
                                   "int runtime(int a) { return set_time(a) + world->open(a) + ops.read(a); }\n")

    def test_line_after_a_long_comment(self) -> None:
        self.refused("engine/x.c", "/*\n\n\n*/\nint f(void) { return rand(); }\n", "engine/x.c:5: ")


if __name__ == "__main__":
    tap.main()
