"""Checks that the layers are layers (docs/architecture.md).

    python3 tools/layers.py [SOURCE_DIRECTORY]

A directory of src/ includes only itself and those before it in ORDER.  The engine is narrower: base and model.  Engine, model
and the simulated world (all of sim but its faces to the outside, SIM_OUTSIDE) are pure: no clock, no environment, no files, no
sockets, so they may neither include a header nor call a function that has one.  Of net the world knows nothing, of kube the decoders
alone.  Prints each breach as file:line: sentence; status 1 when there is any.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ORDER = ["base", "model", "net", "kube", "engine", "exec", "fleetlock", "request", "pool", "runbook", "sim", "web",
         "controller", "agent", "cli"]
ONLY = {"engine": {"base", "model", "engine"}}
PURE = {"model", "engine"}
# The simulator's ways out of its world: real time, sockets, other people's requests, files that somebody wrote.
SIM_OUTSIDE = {"sim/pace.c", "sim/pace.h", "sim/serve.c", "sim/serve.h", "sim/transport.c", "sim/transport.h", "sim/scenario.c"}
# What its world may use all the same: decoders, digests, and the end when there is no memory.
SIM_MAY = {"kube/codec.h", "openssl/evp.h", "abort"}

# A prefix ending in "/" stands for everything below it.
IMPURE_HEADERS = ("time.h", "unistd.h", "fcntl.h", "poll.h", "signal.h", "pthread.h", "threads.h", "netdb.h", "dirent.h",
                  "dlfcn.h", "spawn.h", "syslog.h", "termios.h", "event.h", "event2/", "curl/", "openssl/", "systemd/", "sys/",
                  "arpa/", "netinet/", "net/", "linux/")
PURE_HEADERS = {"arpa/inet.h"}  # addresses as text; what could send something is in IMPURE_CALLS
IMPURE_CALLS = """
    time clock clock_gettime gettimeofday timespec_get localtime localtime_r gmtime mktime nanosleep usleep sleep
    rand random srand srandom rand_r drand48 getrandom arc4random
    getenv secure_getenv setenv putenv setlocale
    open openat creat fopen fdopen freopen read write pread pwrite close unlink rename mkdir opendir stat fstat lstat
    printf fprintf vprintf vfprintf dprintf puts fputs fputc putchar perror fwrite fread fgets getline
    socket connect bind listen accept send sendto recv recvfrom poll select epoll_wait getaddrinfo
    fork vfork execve execvp posix_spawn posix_spawnp system popen kill raise signal sigaction exit _exit abort
    pthread_create syscall ioctl mmap
    file_read file_read_within file_check yaml_load_file
""".split()

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# A function of the file's own, which may have the name of one of them.
OWN = re.compile(r"^static\b[^;{}()=]*?\b(\w+)\s*\(", re.M)
CALL = re.compile(r"(?<![\w.>])(" + "|".join(IMPURE_CALLS) + r")\s*\(")
# Comments and literals, so that a word in them is no call.  Newlines stay: line numbers count on them.
NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def is_pure(name: str) -> bool:
    """`name` is the path below src/."""
    layer = name.split("/")[0]
    return layer in PURE or (layer == "sim" and name not in SIM_OUTSIDE)


def check_include(name: str, system: bool, header: str) -> str | None:
    """What is wrong with including it, or None."""
    layer = name.split("/")[0]
    may = SIM_MAY if layer == "sim" else set()
    if system:
        listed = any(header == h or (h.endswith("/") and header.startswith(h)) for h in IMPURE_HEADERS)
        if is_pure(name) and listed and header not in PURE_HEADERS | may:
            return f"{layer} may not include <{header}>: it does no I/O and reads no clock"
        return None
    if ".." in Path(header).parts:
        return f'"{header}" leaves its directory; write the path from src/'
    target = header.split("/")[0] if "/" in header else layer
    allowed = ONLY.get(layer, set(ORDER[:ORDER.index(layer) + 1]))
    if target not in allowed:
        return f'{layer} may not include "{header}": it knows only {", ".join(x for x in ORDER if x in allowed)}'
    if layer == "sim" and is_pure(name) and header not in may and (target in ("net", "kube") or header in SIM_OUTSIDE):
        return f'the simulated world may not include "{header}": it does no I/O and reads no clock'
    return None


def check_calls(name: str, text: str) -> list[tuple[int, str]]:
    layer = name.split("/")[0]
    code = NOISE.sub(blank, text)
    fine = set(OWN.findall(code)) | (SIM_MAY if layer == "sim" else set())
    return [(number, f"{layer} may not call {m[1]}(): it does no I/O and reads no clock")
            for number, line in enumerate(code.splitlines(), 1) for m in CALL.finditer(line) if m[1] not in fine]


def check_file(path: Path, src: Path) -> list[str]:
    name = path.relative_to(src).as_posix()
    layer = name.split("/")[0]
    if layer not in ORDER:
        return [f"{path}:1: src/{layer} is no layer; if it should be one, give it a place in ORDER of tools/layers.py"]
    text = path.read_text(encoding="utf-8")
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if (m := INCLUDE.match(line)) and (wrong := check_include(name, m[1] == "<", m[2])):
            found.append((number, wrong))
    if is_pure(name):
        found += check_calls(name, text)
    return [f"{path}:{number}: {sentence}" for number, sentence in found]


def check(src: Path) -> tuple[int, list[str]]:
    files = sorted(p for p in src.rglob("*") if p.suffix in (".c", ".h"))
    return len(files), [breach for path in files for breach in check_file(path, src)]


def main() -> int:
    src = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "src"
    count, breaches = check(src)
    for breach in breaches:
        print(breach)
    if not count:
        print(f"{src}: no source files")
        return 1
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
