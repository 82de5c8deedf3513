"""Checks that the layers are layers (docs/architecture.md).

    python3 tools/layers.py [SOURCE_DIRECTORY]

A directory of src/ includes only itself and those before it in ORDER.  The engine is narrower: base and model.  Engine and
model are pure: no clock, no environment, no files, no sockets, so they may neither include a header nor call a function that
has one.  Prints each breach as file:line: sentence; status 1 when there is any.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ORDER = ["base", "model", "net", "kube", "engine", "exec", "fleetlock", "request", "pool", "runbook", "sim", "web",
         "controller", "agent", "cli"]
ONLY = {"engine": {"base", "model", "engine"}}
PURE = {"model", "engine"}

# A prefix ending in "/" stands for everything below it.
IMPURE_HEADERS = ("time.h", "unistd.h", "fcntl.h", "poll.h", "signal.h", "pthread.h", "threads.h", "netdb.h", "dirent.h",
                  "dlfcn.h", "spawn.h", "syslog.h", "termios.h", "event.h", "event2/", "curl/", "openssl/", "systemd/", "sys/",
                  "arpa/", "netinet/", "net/", "linux/")
IMPURE_CALLS = """
    time clock clock_gettime gettimeofday timespec_get localtime localtime_r gmtime mktime nanosleep usleep sleep
    rand random srand srandom rand_r drand48 getrandom arc4random
    getenv secure_getenv setenv putenv setlocale
    open openat creat fopen fdopen freopen read write pread pwrite close unlink rename mkdir opendir stat fstat lstat
    printf fprintf vprintf vfprintf dprintf puts fputs fputc putchar perror fwrite fread fgets getline
    socket connect bind listen accept send sendto recv recvfrom poll select epoll_wait getaddrinfo
    fork vfork execve execvp posix_spawn posix_spawnp system popen kill raise signal sigaction exit _exit abort
    pthread_create syscall ioctl mmap
""".split()

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CALL = re.compile(r"(?<![\w.>])(" + "|".join(IMPURE_CALLS) + r")\s*\(")
# Comments and literals, so that a word in them is no call.  Newlines stay: line numbers count on them.
NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def check_file(path: Path, src: Path) -> list[str]:
    layer = path.relative_to(src).parts[0]
    if layer not in ORDER:
        return [f"{path}:1: src/{layer} is no layer; if it should be one, give it a place in ORDER of tools/layers.py"]
    allowed = ONLY.get(layer, set(ORDER[:ORDER.index(layer) + 1]))
    text = path.read_text(encoding="utf-8")
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        m = INCLUDE.match(line)
        if not m:
            continue
        header = m[2]
        if m[1] == '"':
            if ".." in Path(header).parts:
                found.append(f'{path}:{number}: "{header}" leaves its directory; write the path from src/')
                continue
            target = header.split("/")[0] if "/" in header else layer
            if target not in allowed:
                found.append(f'{path}:{number}: {layer} may not include "{header}": it knows only '
                             f"{', '.join(x for x in ORDER if x in allowed)}")
        elif layer in PURE and any(header == h or (h.endswith("/") and header.startswith(h)) for h in IMPURE_HEADERS):
            found.append(f"{path}:{number}: {layer} may not include <{header}>: it does no I/O and reads no clock")
    if layer in PURE:
        for number, line in enumerate(NOISE.sub(blank, text).splitlines(), 1):
            for m in CALL.finditer(line):
                found.append(f"{path}:{number}: {layer} may not call {m[1]}(): it does no I/O and reads no clock")
    return found


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
