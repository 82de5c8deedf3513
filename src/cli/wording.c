/* Says how Maintenances go on that are halted. */
#include "cli/wording.h"

#include <unistd.h>

#include "base/mem.h"
#include "base/nodeset.h"
#include "base/timefmt.h"
#include "cli/question.h"
#include "engine/maintenance.h"

static const char *const done_words[] = {
    [WORDING_RETRY] = "retried", [WORDING_SKIP] = "skipped", [WORDING_ABORT] = "aborted"};

static enum maint_phase phase_of(const struct maintenance *m) {
    return maint_phase_find(m->phase);
}

/* What is said is heard when it is clear whether the node goes. */
static bool is_under_way(const struct maintenance *m) {
    return phase_of(m) == MAINT_OPERATING || phase_of(m) == MAINT_RETURNING;
}

static bool is_retried(const struct maintenance *m) {
    return phase_of(m) == MAINT_OPERATING && str_same(m->phase_reason, "Retried");
}

static void add(struct wording_steps *steps, const struct kind *kind, const struct object *obj,
                bool deletes) {
    *vec_push(&steps->list) = (struct wording_step){{kind, obj}, deletes};
}

/* --- what it means --- */

static const char *plan_maintenance(const struct maintenance *m, enum wording word,
                                    struct arena *arena, struct wording_steps *steps) {
    enum maint_phase phase = phase_of(m);
    const char *word_of_phase = maint_phases[phase].word;
    if (maint_ended(phase))
        return arena_printf(arena, "it is over already: %s", word_of_phase);
    if (m->meta.deleted && word != WORDING_ABORT)
        return "it is being cancelled";
    if (is_retried(m) && word == WORDING_RETRY)
        return "it is being tried again just now; it halts when nothing comes of it";
    bool asked = phase == MAINT_HALTED || (is_under_way(m) && word != WORDING_ABORT);
    if (asked && !m->meta.deleted) {
        add(steps, &kind_maintenance, (const struct object *)m, false);
        return NULL;
    }
    if (word == WORDING_ABORT) {
        add(steps, &kind_maintenance, (const struct object *)m, true);
        return NULL;
    }
    return arena_printf(arena,
                        "it is %s, and only one that is under way or Halted waits for that word",
                        word_of_phase);
}

static const char *plan_rollout(const struct own_targets *all, const struct rollout *r,
                                enum wording word, struct arena *arena,
                                struct wording_steps *steps) {
    size_t n = 0, had = steps->list.len;
    _cleanup_free_ const struct maintenance **list = own_maintenances_of(all, r, &n);
    if (word == WORDING_ABORT) {
        if (str_same(r->phase, "Complete"))
            return "it is over already: Complete";
        add(steps, &kind_rollout, (const struct object *)r, true);
        return NULL;
    }
    if (r->meta.deleted)
        return "it is being cancelled";
    bool failed = word == WORDING_RETRY && !str_empty(r->failed_nodes);
    for (size_t i = 0; i < n; i++) {
        enum maint_phase phase = phase_of(list[i]);
        bool again = word == WORDING_RETRY && (phase == MAINT_FAILED || phase == MAINT_CANCELLED);
        if ((phase == MAINT_HALTED && !list[i]->meta.deleted) || again)
            add(steps, &kind_maintenance, (const struct object *)list[i], again);
        failed = failed || again;
    }
    if (failed) /* last: what is said is of those that are gone, or going */
        add(steps, &kind_rollout, (const struct object *)r, false);
    if (steps->list.len > had)
        return NULL;
    return arena_printf(arena, "none of its nodes is Halted%s",
                        word == WORDING_RETRY ? ", has failed or was cancelled" : "");
}

const char *wording_plan(const struct own_targets *all, const struct own_target *t,
                         enum wording word, struct arena *arena, struct wording_steps *steps) {
    return t->kind == &kind_maintenance
               ? plan_maintenance((const struct maintenance *)t->obj, word, arena, steps)
               : plan_rollout(all, (const struct rollout *)t->obj, word, arena, steps);
}

/* --- doing it --- */

struct saying {
    struct own_writing w;
    enum wording word;
    const struct own_target *target; /* of the step at hand */
};

static int decide(void *arg, const struct object *obj, struct jsonw *w) {
    const struct saying *s = arg;
    struct cli *cli = s->w.session->cli;
    const struct maintenance *m = (const struct maintenance *)obj;
    if (str_same(map_get(obj->meta.annotations, OWN_WORD_ANNOTATION), own_words[s->word]))
        return 0;
    if (phase_of(m) != MAINT_HALTED && (!is_under_way(m) || s->word == WORDING_ABORT))
        return -cli_fail(cli, EXIT_REFUSED, "unable to %s %s: it is %s by now", s->w.verb,
                         own_target_name(s->target, &cli->arena), maint_phases[phase_of(m)].word);
    jsonw_kbegin(w, "annotations", '{');
    jsonw_kstr(w, OWN_WORD_ANNOTATION, own_words[s->word]);
    jsonw_end(w);
    jsonw_end(w);
    return 1;
}

/* Each time something else, since it is heard once. */
static int decide_rollout(void *arg, const struct object *obj, struct jsonw *w) {
    const struct saying *s = arg;
    char now[TIMEFMT_LEN];
    (void)obj;
    jsonw_kbegin(w, "annotations", '{');
    jsonw_kstr(w, OWN_RETRY_ANNOTATION, time_format(cli_now(s->w.session->cli), true, now));
    jsonw_end(w);
    jsonw_end(w);
    return 1;
}

/* Nobody is left to think that it was done. */
static void tell_when(struct cli *cli, const struct own_target *t, enum wording word) {
    const struct maintenance *m = (const struct maintenance *)t->obj;
    bool told = phase_of(m) == MAINT_GRANTED && m->executor && m->executor->fleetlock;
    int64_t clear = m->since + SEC(MAINT_DOUBT_S);
    if (phase_of(m) == MAINT_HALTED && str_same(m->phase_reason, "OperationFailed") &&
        cli_now(cli) < clear) {
        char at[TIMEFMT_LEN];
        cli_note(cli,
                 "%s: its command has failed just now, and its node may go down all the same: that "
                 "is heard at %s",
                 own_target_name(t, &cli->arena), time_format(clear, false, at));
        return;
    }
    if (!is_under_way(m) && !told)
        return;
    if (word == WORDING_SKIP && phase_of(m) == MAINT_RETURNING)
        cli_note(cli, "%s: it is %s: node %s is put back into service when it is Ready",
                 own_target_name(t, &cli->arena), m->phase, strna(m->node));
    else
        cli_note(cli,
                 "%s: it is %s, and nobody can call node %s back: that is done when the node is "
                 "back, or when it is clear that it stays up",
                 own_target_name(t, &cli->arena), m->phase, strna(m->node));
}

static int run_step(struct saying *s, const struct wording_step *step) {
    bool changed;
    s->target = &step->target;
    own_decide_fn *patch = step->target.kind == &kind_rollout ? decide_rollout : decide;
    int rc = step->deletes ? own_delete(&s->w, &step->target, &changed)
                           : own_patch(&s->w, &step->target, patch, s, &changed);
    if (rc)
        return rc;
    own_tell(&s->w, &step->target, changed, done_words[s->word]);
    if (step->target.kind == &kind_maintenance)
        tell_when(s->w.session->cli, &step->target, s->word);
    return 0;
}

static int collect(struct cli *cli, const struct own_targets *all, enum wording word,
                   struct wording_steps *steps) {
    int code = EXIT_DONE;
    for (size_t i = 0; i < all->list.len; i++) {
        const struct own_target *t = &all->list.p[i];
        const char *why = wording_plan(all, t, word, &cli->arena, steps);
        if (why)
            code = cli_fail(cli, EXIT_REFUSED, "unable to %s %s: %s; nothing was changed",
                            own_words[word], own_target_name(t, &cli->arena), why);
    }
    return code;
}

/* What an abort is about to do, for the question. */
static void describe(struct cli *cli, const struct own_targets *all,
                     const struct wording_step *step) {
    const char *name = own_target_name(&step->target, &cli->arena);
    _cleanup_str_ struct str nodes = STR_INIT;
    if (step->target.kind == &kind_maintenance) {
        const struct maintenance *m = (const struct maintenance *)step->target.obj;
        cli_advise(cli, "%s: %s of node %s, %s; the node is put back into service", name,
                   strna(m->operation), strna(m->node), maint_phases[phase_of(m)].word);
        return;
    }
    const struct rollout *r = (const struct rollout *)step->target.obj;
    VEC(const char *) names = VEC_INIT;
    size_t n = 0;
    _cleanup_free_ const struct maintenance **list = own_maintenances_of(all, r, &n);
    for (size_t i = 0; i < n; i++)
        if (!maint_ended(phase_of(list[i])))
            *vec_push(&names) = strna(list[i]->node);
    if (names.len)
        nodeset_fold(names.p, names.len, &nodes);
    cli_advise(cli, "%s: %s of %d nodes, %d done%s%s", name, strna(r->operation), r->counts.total,
               r->counts.complete, names.len ? "; cancelled and put back into service: " : "",
               str_get(&nodes));
    vec_done(&names);
}

static int ask(struct cli *cli, const struct wording_opts *o, const struct own_targets *all,
               const struct wording_steps *steps) {
    if (o->yes || o->dry_run != DRY_RUN_NONE)
        return 0;
    if (!question_possible(cli))
        return cli_fail(cli, EXIT_REFUSED,
                        "there is nobody to ask whether this is meant: say --yes; nothing was "
                        "changed");
    for (size_t i = 0; i < steps->list.len; i++)
        describe(cli, all, &steps->list.p[i]);
    if (question_ask(cli, STDIN_FILENO, steps->list.len == 1 ? "Abort it?" : "Abort them?"))
        return 0;
    return cli_fail(cli, EXIT_REFUSED, "nothing was changed");
}

static int run_session(struct session *s, enum wording word, const struct wording_opts *o, int argc,
                       char **argv) {
    struct saying saying = {
        .w = {.session = s, .dry_run = (enum dry_run)o->dry_run, .verb = own_words[word]},
        .word = word};
    struct wording_steps steps = {0};
    struct own_targets all;
    int rc = own_targets_read(s, false, argc, argv, &all);
    if (!rc)
        rc = collect(s->cli, &all, word, &steps);
    if (!rc && word == WORDING_ABORT)
        rc = ask(s->cli, o, &all, &steps);
    int code = rc;
    for (size_t i = 0; i < steps.list.len && !rc; i++)
        code = exit_graver(code, run_step(&saying, &steps.list.p[i]));
    vec_done(&steps.list);
    own_targets_done(&all);
    return code;
}

int wording_main(struct cli *cli, enum wording word, const struct wording_opts *o, int argc,
                 char **argv) {
    struct session s;
    int rc = session_open(cli, &o->connection, &s);
    if (rc)
        return rc;
    rc = run_session(&s, word, o, argc, argv);
    session_close(&s);
    return rc;
}
