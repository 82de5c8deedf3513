"""Tests the oracle of the soak: faults are planted in the drain, one at a time, and each must be found.

    python3 tests/sim/plants.py [--build DIR] [--seeds N] [--list] [NAME ...]

A plant is a change of one source file: a text that stands there exactly once, and another one in its place.  The changed
copy is compiled into a soak of its own, beside the build directory's objects; nothing of it is ever in the program.  A
plant whose text is no longer there, or there twice, must be written anew: that is a failure, too.

A plant counts as found when a seed fails with it that does not fail without it, and by something that no seed fails by
without it.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent


ENGINE = "src/engine"


@dataclass(frozen=True)
class Plant:
    name: str
    where: str  # a file, or a directory: the one file in it that has the text
    old: str
    new: str


PLANTS = [
    Plant("no-uid", "src/kube/client.c", 'jsonw_kopt(j, "uid", o->uid);', ""),
    Plant("deletes-instead-of-evicting", ENGINE,
          "return d->opts.disable_eviction ? BY_DELETION : BY_EVICTION;",
          "return BY_DELETION;"),
    Plant("escalates-too-early", ENGINE, "if (waited >= p->rule.delete_after)", "if (waited * 5 >= p->rule.delete_after)"),
    Plant("forces-where-it-may-delete", ENGINE,
          "int64_t grace = p->how == BY_FORCE ? 0",
          "int64_t grace = p->how != BY_EVICTION ? 0"),
    Plant("evicts-daemons", ENGINE,
          "if (f.verdict != FILTER_GO)\n"
          "        return f;",
          "f.verdict = FILTER_GO;"),
    Plant("evicts-mirrors", ENGINE, "if (map_has(pod->meta.annotations, MIRROR_ANNOTATION))", "if (0)"),
    Plant("evicts-local-data", ENGINE, "if (!opts->delete_emptydir)", "if (0)"),
    Plant("evicts-bare-pods", ENGINE, "if (!opts->force)", "if (0)"),
    Plant("ignores-the-selector", ENGINE,
          "return requirements_match(opts->pod_selector, pod->meta.labels);",
          "return pod != NULL || opts;"),
    Plant("ignores-marks", ENGINE, "if (p->rule.action == RULE_HOLD) {", "if (0) {"),
    Plant("ignores-the-order", ENGINE, "n->pods.p[i]->rule.order <= order", "n->pods.p[i]->rule.order <= order + 100"),
    Plant("drains-a-refused-node", ENGINE, "    if (refused) {", "    if (0) {"),
    Plant("does-not-wait-for-its-cordon", ENGINE,
          "if (d->opts.dry_run == DRY_RUN_SERVER && !undo) {",
          "if (!undo) {\n"
          "            n->held = true;"),
    Plant("goes-on-after-an-uncordon", ENGINE,
          "if (!node->unschedulable)\n"
          "        drain_node_end(d, n, DRAIN_FAILED,",
          "if (0)\n"
          "        drain_node_end(d, n, DRAIN_FAILED,"),
    Plant("forgets-before", ENGINE,
          "bool before = c.owner == CORDON_SLIPWAY ? c.before : node->unschedulable;",
          "bool before = false;"),
    Plant("drops-other-holders", ENGINE,
          "size_t n = c.owner == CORDON_SLIPWAY ? c.n_holders : 0, mine = 0;",
          "size_t n = 0, mine = 0;"),
    Plant("uncordons-what-others-hold", ENGINE,
          "if (n)\n"
          "        write_patch(patch, node, c.before, rest, n);\n"
          "    else\n"
          "        write_clearing_patch(patch, node, c.before);",
          "write_clearing_patch(patch, node, false);"),
    Plant("writes-without-comparing", ENGINE, 'jsonw_kopt(w, "resourceVersion", node->meta.version);', ""),
    Plant("forgets-late-pods", ENGINE,
          "if (skip)\n"
          "        f = (struct filter){.verdict = FILTER_STAYS};",
          "if (skip || n->pub.phase > DRAIN_CHECKING)\n"
          "        f = (struct filter){.verdict = FILTER_STAYS};"),
    Plant("calls-it-drained-while-pods-stop", ENGINE,
          "bool over = p->pub.state == DRAIN_POD_STAYS ||",
          "bool over = p->pub.state == DRAIN_POD_STAYS || p->pub.state == DRAIN_POD_LEAVING ||"),
    Plant("does-not-wait-for-volumes", ENGINE,
          "if (time_is_over(d, n))\n"
          "        return true;",
          "if (d || time_is_over(d, n))\n"
          "        return true;"),
    Plant("no-back-off", ENGINE, "return delay + prng_range(&d->random, 0, delay / 2);", "return 1000;"),
    Plant("ignores-retry-after", "src/exec", ".retry_after = reply->retry_after,", ".retry_after = -1,"),
    Plant("ignores-the-rate", ENGINE,
          "if (rate <= 0)\n"
          "        return true;",
          "if (rate < 1e9)\n"
          "        return true;"),
    Plant("waits-without-a-word", ENGINE,
          "    struct drain_blocker *b = &p->pub.blocker;\n"
          "    bool was",
          "    struct drain_blocker *b = &p->pub.blocker;\n"
          "    if (code == BLOCKER_DO_NOT_DISRUPT || code == BLOCKER_FINALIZER_STUCK)\n"
          "        return;\n"
          "    bool was"),
    Plant("loses-the-deadline", ENGINE, "if (!n->deadline || d->now.mono < n->deadline)", "if (d)"),
    Plant("never-tries-again", ENGINE,
          "p->not_before = d->now.mono + drain_pause(d, a, ++p->tries, first, max);",
          "p->not_before = INT64_MAX;"),
    Plant("forgets-what-is-due", ENGINE, "n->dirty |= n->wake <= d->now.mono;", ""),
    Plant("forgets-whom-an-answer-is-for", ENGINE, "dirty(d, r->node);", ""),
    Plant("forgets-who-had-to-read", ENGINE,
          "if (n->unread || (n->pub.phase == DRAIN_RETURNING && (!uid || drain_owner(n, uid))))",
          "if (n->pub.phase == DRAIN_RETURNING && (!uid || drain_owner(n, uid)))"),
    Plant("evicts-what-is-leaving", ENGINE,
          "if (!pod->meta.deleted || p->action)\n"
          "            return;",
          "if (pod || p->action)\n"
          "            return;"),
    Plant("goes-on-after-a-stop", ENGINE,
          "if (d->stopped)\n"
          "        return;\n"
          "    if (d->throttled",
          "if (d->throttled"),
    Plant("forgets-the-surge-in-a-crash", ENGINE,
          "surge_resume(d->surge, deployment, d->now, d->out);",
          ";"),
    Plant("leaves-nodes-marked", ENGINE,
          "return drain_ended(n->pub.phase) && n->mark == MARK_SET && next_marked(node);",
          "return n->mark == MARK_SET && !node;"),
    Plant("loses-other-taints", ENGINE, "if (!str_same(node->taints[i].key, NEXT_TAINT))\n            write_taint", "if (0)\n            write_taint"),
    Plant("cordons-with-the-mark", ENGINE, "    next_mark_drop(w, node);\n", ""),
    Plant("leaves-no-mark", ENGINE,
          'drain_record_condition(d, n, false, true, "SlipwayDrained",',
          'drain_record_condition(d, n, true, false, "SlipwayDrained",'),
]


def place(plant: Plant) -> tuple[Path, re.Pattern[str]]:
    """The file that a plant belongs in.  How its text is laid out there does not matter."""
    where = TOP / plant.where
    pattern = re.compile(r"\s+".join(re.escape(word) for word in plant.old.split()))
    counts = {file: len(pattern.findall(file.read_text(encoding="utf-8")))
              for file in (sorted(where.glob("*.c")) if where.is_dir() else [where])}
    if sum(counts.values()) != 1:
        raise LookupError(f"its text is {sum(counts.values())} times in {plant.where}, not once: the plant must be written anew")
    return max(counts, key=lambda file: counts[file]), pattern


def planted(plant: Plant) -> tuple[Path, str]:
    """The file, and its text with the plant in it."""
    file, pattern = place(plant)
    return file, pattern.sub(lambda _: plant.new, file.read_text(encoding="utf-8"))


class Builder:
    """Compiles a changed file and links a soak with it, as the build directory does."""

    def __init__(self, build: Path, out: Path) -> None:
        self.build, self.out = build, out
        with open(build / "compile_commands.json", encoding="utf-8") as f:
            self.compile = {str((Path(c["directory"]) / c["file"]).resolve()): shlex.split(c["command"]) for c in json.load(f)}
        commands = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "tests/sim/soak"], check=True,
                                  capture_output=True, text=True).stdout.splitlines()
        self.link = shlex.split([c for c in commands if "-o tests/sim/soak " in f"{c} "][-1])

    def soak(self, plant: Plant) -> Path:
        # Beside its original, so that it finds the same headers.
        source = self.out / f"{plant.name}.c"
        file, text = planted(plant)
        source.write_text(text, encoding="utf-8")
        command = list(self.compile[str(file)])
        command[command.index("-c") + 1] = str(source)
        command[command.index("-o") + 1] = str(self.out / f"{plant.name}.o")
        for flag in ("-MF", "-MQ"):
            if flag in command:
                command[command.index(flag) + 1] = str(self.out / f"{plant.name}.d")
        self.call([*command, "-w", f"-I{file.parent}"])
        program = self.out / plant.name
        link = list(self.link)
        at = link.index("-o")
        link[at + 1:at + 2] = [str(program), f"{plant.name}.o"]
        # Its functions are there before the library is looked into.
        link[link.index(f"{plant.name}.o")] = str(self.out / f"{plant.name}.o")
        self.call(link)
        return program

    def call(self, command: list[str]) -> None:
        result = subprocess.run(command, cwd=self.build, capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError(result.stderr)


def failures(program: Path, seeds: int, enough: int) -> dict[int, str]:
    """The seeds that fail, and the first thing that each broke."""
    command = [str(program), "--seeds", str(seeds)]
    if enough:
        command += ["--stop-after", str(enough)]
    out = subprocess.run(command, capture_output=True, text=True, errors="replace").stdout
    return {int(m[1]): m[2] for m in re.finditer(r"^FAILED seed (\d+)\n  (.*)$", out, re.M)}


def sort_of(what: str) -> str:
    """What was broken, without names and numbers."""
    what = re.sub(r" \(process .*", "", what)
    return re.sub(r"[\w.-]*[/\d][\w./-]*", "X", what)


def check(build: Path, seeds: int, plants: list[Plant], say=print) -> list[str]:
    """The plants that were not found, with the reason."""
    missed = []
    with tempfile.TemporaryDirectory() as directory:
        builder = Builder(build, Path(directory))
        healthy = failures(build / "tests" / "sim" / "soak", seeds, 0)
        if healthy:
            say(f"# {len(healthy)} of {seeds} seeds fail without any plant")
        for plant in plants:
            try:
                ill = failures(builder.soak(plant), seeds, 0 if healthy else 1)
            except (LookupError, RuntimeError) as e:
                missed.append(f"{plant.name}: {e}")
                say(missed[-1])
                continue
            usual = {sort_of(what) for what in healthy.values()}
            new = {seed: what for seed, what in ill.items() if seed not in healthy and sort_of(what) not in usual}
            if not new:
                missed.append(f"{plant.name}: not found in {seeds} seeds")
                say(missed[-1])
            else:
                seed = min(new)
                say(f"{plant.name}: seed {seed}: {new[seed]}")
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description="plants faults in the drain and lets the soak look for them")
    parser.add_argument("--build", type=Path, default=TOP / "build")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    chosen = [p for p in PLANTS if not args.names or p.name in args.names]
    if args.list:
        for p in chosen:
            print(f"{p.name:36} {p.where}")
        return 0
    missed = check(args.build.resolve(), args.seeds, chosen)
    print(f"{len(chosen)} plants, {len(missed)} not found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
