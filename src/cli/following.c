/* Follows a Maintenance or a Rollout until it is over. */
#include "cli/following.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "cli/drain_view.h"
#include "cli/live.h"
#include "cli/own_target.h"
#include "cli/rollout_tty.h"
#include "engine/maintenance.h"
#include "engine/own_status.h"

enum { DRAW_MS = 200 }; /* between two drawings on a terminal */

/* --- what is said --- */

static void add_blocker(const struct own_blocker *b, struct str *out) {
    if (!b)
        return;
    str_add(out, ": ");
    own_blocker_text(b, out);
}

/* Why it stands still or has failed, as its condition has it. */
static void add_failure(const struct maintenance *m, const char *type, struct str *out) {
    for (size_t i = 0; i < list_len(m->conditions); i++) {
        const struct condition *c = &m->conditions[i].c;
        if (str_same(c->type, type) && !str_empty(c->message))
            str_addf(out, ": %s", c->message);
    }
}

void following_maintenance(const struct maintenance *m, struct str *out) {
    enum maint_phase phase = maint_phase_find(m->phase);
    str_addf(out, "%s %s", strna(m->node), maint_phases[phase].word);
    if (m->meta.deleted && !maint_ended(phase))
        str_add(out, " (cancelled)");
    add_blocker(m->blocker, out);
    if (!m->blocker && (phase == MAINT_HALTED || phase == MAINT_FAILED))
        add_failure(m, phase == MAINT_HALTED ? "Progressing" : "Failed", out);
}

void following_rollout(const struct rollout *r, struct str *out) {
    const struct rollout_counts *c = &r->counts;
    str_addf(out, "%s %s", r->meta.name, str_empty(r->phase) ? "Pending" : r->phase);
    if (c->total > 0)
        str_addf(out, ": %d of %d nodes done, %d under way, %d waiting, %d failed", c->complete,
                 c->total, c->current, c->waiting, c->failed);
    add_blocker(r->blocker, out);
}

static int code_of_rollout(const struct rollout *r) {
    if (str_same(r->phase, "Complete"))
        return r->counts.failed > 0 ? EXIT_PARTIAL : EXIT_DONE;
    if (!str_same(r->phase, "Failed"))
        return -1;
    return str_same(r->phase_reason, "TooManyFailed") ? EXIT_BLOCKED : EXIT_FAILED;
}

int following_code(const struct kind *kind, const struct object *obj) {
    if (kind == &kind_rollout)
        return code_of_rollout((const struct rollout *)obj);
    switch (maint_phase_find(((const struct maintenance *)obj)->phase)) {
    case MAINT_COMPLETE:
        return EXIT_DONE;
    case MAINT_HALTED:
        return EXIT_BLOCKED;
    case MAINT_FAILED:
    case MAINT_CANCELLED:
        return EXIT_FAILED;
    default:
        return -1;
    }
}

/* --- while it goes on --- */

struct told {
    char *name, *text;
};

struct following {
    struct session *session;
    const struct kind *kind;
    const char *name;
    struct store *own, *maintenances; /* the latter: of a Rollout */
    VEC(struct told) told;
    bool draws; /* a Rollout, on a terminal: a block instead of lines */
    struct live live;
    struct loop_timer *timer;
    int code; /* -1: it goes on */
};

/* Whether that is news. */
static bool is_news(struct following *f, const char *name, const char *text) {
    struct told *t = NULL;
    for (size_t i = 0; i < f->told.len && !t; i++)
        if (streq(f->told.p[i].name, name))
            t = &f->told.p[i];
    if (!t) {
        t = vec_push(&f->told);
        *t = (struct told){.name = xstrdup(name)};
    }
    if (t->text && streq(t->text, text))
        return false;
    str_replace(&t->text, text);
    return true;
}

static void tell(struct following *f, const char *name, const char *text) {
    if (is_news(f, name, text))
        cli_note(f->session->cli, "%s", text);
}

/* Of one node among many: when it begins, what it waits for, and how it ended. The steps between
 * are over in a moment, and 'slipway history' has them all. */
static bool is_told(const struct maintenance *m) {
    enum maint_phase phase = maint_phase_find(m->phase);
    if (m->blocker && str_same(m->blocker->code, blocker_row(BLOCKER_NODE_AWAITED)->name))
        return false; /* every node is, for a while */
    return maint_ended(phase) || phase == MAINT_DRAINING || phase == MAINT_OPERATING ||
           phase == MAINT_HALTED || (m->blocker && phase > MAINT_DRAINING);
}

static const struct maintenance **nodes_of(const struct following *f, const struct rollout *r,
                                           size_t *n) {
    const struct own_targets all = {.maintenances = f->maintenances};
    return own_maintenances_of(&all, r, n);
}

static void tell_maintenances(struct following *f, const struct rollout *r) {
    size_t n = 0;
    _cleanup_free_ const struct maintenance **list = nodes_of(f, r, &n);
    for (size_t i = 0; i < n; i++) {
        _cleanup_str_ struct str text = STR_INIT;
        _cleanup_free_ char *key = xasprintf("maintenance/%s", list[i]->meta.name);
        following_maintenance(list[i], &text);
        if (is_told(list[i]))
            tell(f, key, str_get(&text));
    }
}

/* --- on a terminal --- */

static void make_block(void *arg, const struct screen *s, struct str *out) {
    const struct following *f = arg;
    const struct rollout *r = (const struct rollout *)store_get(f->own, NULL, f->name);
    size_t n = 0;
    if (!r)
        return;
    _cleanup_free_ const struct maintenance **list = nodes_of(f, r, &n);
    rollout_tty_block(
        &(struct rollout_picture){
            .rollout = r, .nodes = list, .n = n, .now = session_now(f->session)},
        s, out);
}

/* What shall stay: nodes that are done. */
static void keep_ended(struct following *f, const struct rollout *r) {
    size_t n = 0;
    struct screen s = live_screen(&f->live);
    _cleanup_free_ const struct maintenance **list = nodes_of(f, r, &n);
    for (size_t i = 0; i < n; i++)
        if (maint_ended(maint_phase_find(list[i]->phase)) &&
            is_news(f, list[i]->meta.name, list[i]->phase))
            rollout_tty_done(list[i], &s, &f->live.above);
}

static void draw(struct following *f) {
    const struct rollout *r = (const struct rollout *)store_get(f->own, NULL, f->name);
    if (r)
        keep_ended(f, r);
    live_draw(&f->live, make_block, f);
}

static void on_tick(void *arg) {
    struct following *f = arg;
    draw(f);
    loop_timer_set(f->timer, MSEC(DRAW_MS));
}

/* The last picture stands above what is said at the end. */
static void end_drawing(struct following *f) {
    _cleanup_str_ struct str last = STR_INIT;
    struct screen s = live_screen(&f->live);
    draw(f);
    make_block(f, &s, &last);
    live_suspend(&f->live);
    str_add(&f->live.term->buf, str_get(&last));
    term_flush(f->live.term);
    live_done(&f->live);
    loop_timer_free(f->timer);
}

static void begin_drawing(struct following *f) {
    struct cli *cli = f->session->cli;
    if (f->kind != &kind_rollout || progress_choose(PROGRESS_AUTO, &cli->err, cli->general.quiet,
                                                    cli->general.verbose, cli->env) != PROGRESS_TTY)
        return;
    f->draws = true;
    live_init(&f->live, &cli->err);
    f->timer = loop_timer_new(f->session->loop, on_tick, f);
    loop_timer_set(f->timer, 0);
}

/* --- what is new --- */

static void look(struct following *f) {
    _cleanup_str_ struct str text = STR_INIT;
    const struct object *obj = store_get(f->own, NULL, f->name);
    if (!obj) {
        f->code = cli_fail(f->session->cli, EXIT_FAILED, "%s \"%s\" was deleted: it is cancelled",
                           f->kind->name, f->name);
        return;
    }
    if (f->kind == &kind_maintenance) {
        following_maintenance((const struct maintenance *)obj, &text);
    } else if (!f->draws) {
        tell_maintenances(f, (const struct rollout *)obj);
        following_rollout((const struct rollout *)obj, &text);
    }
    if (text.len)
        tell(f, f->name, str_get(&text));
    f->code = following_code(f->kind, obj);
}

static void on_change(void *arg, const struct object *before, const struct object *after) {
    struct following *f = arg;
    (void)before, (void)after;
    if (f->code >= 0)
        return;
    look(f);
    if (f->code >= 0)
        session_end(f->session);
}

static void on_first(void *arg) {
    on_change(arg, NULL, NULL);
}

/* --- how it ends --- */

static void tell_end(struct following *f, int code) {
    struct cli *cli = f->session->cli;
    const char *what = f->kind == &kind_rollout ? "rollout" : "maintenance";
    if (code == EXIT_BLOCKED)
        cli_note(cli,
                 "It stands still until somebody says how it goes on: '%s retry %s/%s', skip or "
                 "abort",
                 cli->prog, what, f->name);
    else if (code == EXIT_SIGINT || code == EXIT_SIGTERM)
        cli_note(cli, "%s/%s goes on without you: '%s pause %s/%s' lets it wait, abort ends it",
                 what, f->name, cli->prog, what, f->name);
}

int following_run(struct session *s, const struct kind *kind, const char *name) {
    struct following f = {.session = s, .kind = kind, .name = name, .code = -1};
    _cleanup_free_ char *selector = xasprintf("metadata.name=%s", name);
    f.own =
        session_feed(s, kind, &(struct session_feed){.field_selector = selector, .watch = true});
    if (kind == &kind_rollout)
        f.maintenances = session_feed(s, &kind_maintenance, &(struct session_feed){.watch = true});
    int rc = session_sync(s);
    if (!rc) {
        store_listen(f.own, on_change, &f);
        if (f.maintenances)
            store_listen(f.maintenances, on_change, &f);
        /* The first look is within session_run(), so that from its line on Ctrl-C is ours. */
        struct loop_timer *first = loop_timer_new(s->loop, on_first, &f);
        loop_timer_set(first, 0);
        begin_drawing(&f);
        rc = session_run(s);
        loop_timer_free(first);
        if (f.draws)
            end_drawing(&f);
    }
    if (!rc)
        rc = f.code < 0 ? EXIT_FAILED : f.code;
    tell_end(&f, rc);
    for (size_t i = 0; i < f.told.len; i++) {
        free(f.told.p[i].name);
        free(f.told.p[i].text);
    }
    vec_done(&f.told);
    return rc;
}
