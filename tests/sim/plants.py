"""Tests the oracles of the soaks: faults are planted in drain and controller, one at a time, and each must be found.

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
    soak: str = "soak"  # the program that has to find it


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
          "        write_patch(patch, node, c.before, c.rest, rest, n);\n"
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
    Plant("no-back-off", ENGINE, "return action_backoff(&d->random, tries, first, max);", "return 1000;"),
    Plant("ignores-retry-after", "src/exec", ".retry_after = reply->retry_after,", ".retry_after = -1,"),
    Plant("ignores-the-rate", ENGINE,
          "if (t->rate <= 0)\n"
          "        return true;",
          "if (t->rate < 1e9)\n"
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
          "if (n->unread || waits || unseen)", "if (waits || unseen)"),
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


def fleet(name: str, where: str, old: str, new: str) -> Plant:
    """A plant that the soak of the controller has to find."""
    return Plant(name, where, old, new, "soak-fleet")


PLANTS += [
    fleet("takes-one-too-many", ENGINE,
          "return s->list.len + rest->elsewhere + down >= census_limit(&k->opts.max, rest->members);",
          "return s->list.len + rest->elsewhere + down > census_limit(&k->opts.max, rest->members);"),
    fleet("forgets-the-zones", ENGINE, "return k->opts.max_zones && zones >= k->opts.max_zones;", "return false;"),
    fleet("overwrites-the-record", ENGINE, 'jsonw_kopt(&w, "resourceVersion", k->record.version);', ""),
    fleet("is-drained-too-early", ENGINE,
          "if (f->drain != MAINT_DRAIN_DONE || !f->cordoned)", "if (!f->cordoned)"),
    fleet("tells-one-to-go-that-is-uncordoned", ENGINE,
          "if (!node->unschedulable || !keeper_is_cordoned(node, slot->id))", "if (0)"),
    fleet("tells-one-to-go-in-another-boot", ENGINE,
          "if (!slots_may_go(&k->record.slots, t->node, strna(node->meta.uid), keeper_boot(node)))", "if (0)"),
    fleet("tells-one-to-go-that-others-hold", ENGINE,
          "return !keeper_is_upkeep(slot) || (m && m->executor && m->executor->fleetlock);", "return slot || m;"),
    fleet("operates-again-after-a-crash", ENGINE,
          "if (phase == MAINT_OPERATING && u->work == MAINT_WORK_NONE)\n"
          "        f->work = MAINT_WORK_BEGUN;",
          "if (phase == MAINT_OPERATING && u->work == MAINT_WORK_NONE)\n"
          "        u->operates = true;"),
    fleet("confirms-what-is-not-written", ENGINE,
          "if ((wish && streq(wish->by, SLOTS_BY_CLIENT)) || (slot && slot->state <= SLOT_GRANTED))", "if (0 && wish)"),
    fleet("takes-any-boot-for-a-new-one", ENGINE,
          "!str_empty(f->node_boot) && !streq(f->slot->boot, f->node_boot);", "!str_empty(f->node_boot);"),
    fleet("does-not-wait-for-the-same-boot", ENGINE,
          "int64_t due = h->steady_at + k->opts.same_boot;", "int64_t due = h->steady_at;"),
    fleet("lifts-the-cordons-of-people", ENGINE,
          "bool before = c.owner == CORDON_SLIPWAY ? c.before : node->unschedulable;", "bool before = false;"),
    fleet("cordons-without-reading-again", ENGINE, "h->sure = keeper_want_read(k);", "h->sure = 0;"),
    fleet("forgets-who-held-what-was-lost", ENGINE, "changed |= keeper_recover(k, s, arena);", "(void)keeper_recover;"),
    fleet("leaves-its-marks", ENGINE, "    if (placed && more)\n        take_off(rs);", "    (void)take_off;"),
    fleet("leaves-its-finalizer", ENGINE,
          "if (kept && !(k->opts.needed && k->opts.needed(k->opts.arg, m)))\n"
          "            keeper_upkeep_finalizer(k, u, m, false);",
          "(void)kept;"),
    fleet("undoes-what-was-granted-meanwhile", ENGINE, "return f->hasty && f->by_request", "return false && f->by_request"),
    fleet("commands-a-node-with-pods", ENGINE,
          "f->crowded = slot->state == SLOT_GRANTED && keeper_late_pod(k, slot->node);", "f->crowded = false;"),
    fleet("takes-what-it-does-not-know-for-gone", ENGINE,
          "if (h->left || h->left_action)\n        return h->left;", "if (h || h->left_action)\n        return true;"),
    fleet("commands-while-all-is-stopped", ENGINE,
          "f.again && !f.lifted && !f.paused && !f.crowded", "f.again && !f.lifted && !f.crowded"),
    fleet("never-frees-a-slot", ENGINE, "return f->slot ? MAINT_ACT_FREE : MAINT_ACT_NONE;", "return MAINT_ACT_NONE;"),
    fleet("takes-its-time-to-answer", ENGINE,
          "if (k->now.mono >= t->since + limit)", "if (k->now.mono >= t->since + 5 * limit)"),
    fleet("asks-nobody-again", "src/controller/desk.c",
          "d->asking.p[i].keeper = NULL;", "continue;"),
    fleet("does-not-pause-between-tries", ENGINE,
          "return k->now.mono +\n"
          "           action_backoff(&k->random, tries, MSEC(RETRY_FIRST_MS), MSEC(RETRY_MAX_MS));", "return k->now.mono + 1000;"),
    fleet("evicts-as-fast-as-it-can", "src/controller/policies.c", "opts.drain.tokens = &p->tokens;", ""),
    fleet("has-a-rate-for-each-policy", "src/controller/policies.c",
          "opts.drain.tokens = &p->tokens;", "opts.drain.rate = p->opts.rate;"),
    fleet("keeps-what-is-gone", ENGINE,
          "return u && object_of(k, u) ? u : NULL;", "return u;"),
    fleet("holds-a-rebooted-drain-for-ever", ENGINE,
          "return f->cancelled && !f->by_request && (!begun || f->operation == OPERATION_DRAIN);",
          "return f->cancelled && !f->by_request && !begun;"),
    fleet("leaves-cordons-of-the-frozen", ENGINE,
          "if (keeper_is_own_id(k, c.holders[j].id) && (!slot || !streq(slot->id, c.holders[j].id)))", "if (0)"),
    fleet("loses-the-reads-of-the-deposed", "src/controller/core.c",
          "cluster_read_done(&c->cluster, action, answer->outcome, answer->message, answer->obj);", ";"),
    fleet("ends-what-another-policy-holds", "src/controller/policies.c", "return one == k;", "continue;"),
    fleet("evicts-without-a-cordon", ENGINE,
          "if (node && node->unschedulable && is_named(h, node))", "if (node)"),
    fleet("counts-no-node-that-is-down", ENGINE,
          "size_t down = k->opts.down_count ? rest->down : 0;", "size_t down = 0;"),
    fleet("says-that-slots-are-held", ENGINE, "code = keeper_full(k, node, &text);", "code = BLOCKER_MAX_UNAVAILABLE;"),
    fleet("waits-for-a-slot-without-a-word", ENGINE,
          "return phase == MAINT_QUEUED && waits_for_slot(k, m, arena, out);", "return false;"),
    fleet("begins-too-many-at-once", ENGINE, "a->ahead && keeper_ahead_may(a->ahead, n->node)", "a->ahead"),
    fleet("begins-after-too-many-failed", ENGINE, "} else if ((size_t)c->failed > s->max_failed) {", "} else if (0) {"),
    fleet("begins-while-paused", ENGINE, "} else if (stopped || r->paused == 1) {", "} else if (stopped) {"),
    fleet("begins-while-all-is-stopped", ENGINE, "} else if (stopped || r->paused == 1) {", "} else if (r->paused == 1) {"),
    fleet("begins-without-a-pause-between", ENGINE,
          "if (!s->soak || !s->last_done || rs->now.wall >= v->until || !s->next.len) {", "if (s) {"),
    fleet("is-complete-with-one-that-is-halted", ENGINE,
          "} else if (c->complete + c->failed == c->total && !s->current.len) {", "} else if (c->complete + c->failed == c->total) {"),
    fleet("begins-only-once", ENGINE, "bool there = store_get(rs->opts.maintenances, NULL, b->name);", "bool there = false; b->since = rs->now.mono;"),
    fleet("gives-slots-while-all-is-stopped", ENGINE,
          "if (!store_synced(k->cluster->nodes) || k->stopped)\n"
          "        return changed;", "if (!store_synced(k->cluster->nodes))\n return changed;"),
    fleet("goes-on-while-all-is-stopped", ENGINE, ".paused = k->stopped,", ".paused = false,"),
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
        self.link: dict[str, list[str]] = {}

    def linking(self, program: str) -> list[str]:
        """The command that links a program of the build directory."""
        if program not in self.link:
            target = f"tests/sim/{program}"
            commands = subprocess.run(["ninja", "-C", str(self.build), "-t", "commands", target], check=True,
                                      capture_output=True, text=True).stdout.splitlines()
            self.link[program] = shlex.split([c for c in commands if f"-o {target} " in f"{c} "][-1])
        return list(self.link[program])

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
        link = self.linking(plant.soak)
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
        all_healthy = {soak: failures(build / "tests" / "sim" / soak, seeds, 0) for soak in {p.soak for p in plants}}
        for soak, failed in all_healthy.items():
            if failed:
                say(f"# {len(failed)} of {seeds} seeds of {soak} fail without any plant")
        for plant in plants:
            healthy = all_healthy[plant.soak]
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
    parser = argparse.ArgumentParser(description="plants faults in drain and controller and lets the soaks look for them")
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
