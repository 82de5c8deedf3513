/* A drain in plain lines. */
#include "cli/drain_plain.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/drain_blockers.h"
#include "cli/drain_words.h"

/* Shorter waits are the normal course under a budget and would drown the others. */
#define TOLD_AFTER SEC(1)
#define HEARTBEAT  SEC(600)
#define EVERY_HOUR SEC(3600)

/* When a blocker that lasts is told again. */
static const int64_t again[] = {SEC(60), SEC(300), SEC(900), SEC(1800), SEC(3600)};

/* --- what was told --- */

struct told {
    enum blocker_code code;
    char *kind, *object;
    int64_t since, next; /* wall clock; when it is told again */
    bool spoken;
    unsigned round;    /* the last tick that saw it */
    VEC(size_t) nodes; /* places of those that were named, ascending */
};

static uint32_t key_hash(enum blocker_code code, const char *kind, const char *object) {
    uint32_t h = hash_bytes(&code, sizeof code);
    h = hash_more(h, strna(kind), strlen(strna(kind)) + 1);
    return hash_more(h, strna(object), strlen(strna(object)));
}

static uint32_t told_hash(const void *entry) {
    const struct told *t = entry;
    return key_hash(t->code, t->kind, t->object);
}

static bool told_equal(const void *entry, const void *key) {
    const struct told *t = entry;
    const struct drain_blocker *b = key;
    return t->code == b->code && str_same(t->kind, b->kind) && str_same(t->object, b->object);
}

static const struct htab_ops told_ops = {told_hash, told_equal};

static void told_free(struct told *t) {
    free(t->kind);
    free(t->object);
    vec_done(&t->nodes);
    free(t);
}

void drain_plain_init(struct drain_plain *p, bool verbose, int64_t now) {
    *p = (struct drain_plain){.verbose = verbose, .started = now, .beat = now + HEARTBEAT};
    htab_init(&p->told, &told_ops);
}

void drain_plain_done(struct drain_plain *p) {
    struct told *t;
    for (uint32_t i = 0; (t = htab_next(&p->told, &i));)
        told_free(t);
    htab_done(&p->told);
}

/* --- lines --- */

void drain_plain_say(enum log_level level, const char *node, const char *phase, const char *text,
                     int64_t now, struct str *out) {
    char buf[TIMEFMT_LEN];
    str_addf(out, "%s %s ", time_format(now, false, buf), level_word(level));
    utf8_printable(out, str_empty(node) ? "-" : node);
    str_addf(out, " %s ", str_empty(phase) ? "-" : phase);
    utf8_printable(out, text);
    while (out->len && out->p[out->len - 1] == ' ')
        out->p[--out->len] = 0;
    str_addc(out, '\n');
}

void drain_plain_note(struct drain_plain *p, const struct drain_note *note, struct str *out) {
    /* Blockers are told by the tick, put together. */
    if (note->kind == NOTE_BLOCKED || note->kind == NOTE_UNBLOCKED)
        return;
    if (drain_note_is_detail(note) && !p->verbose)
        return;
    _cleanup_str_ struct str text = STR_INIT;
    drain_note_text(note, &text);
    drain_plain_say(drain_note_level(note), note->node ? note->node->name : NULL,
                    note->node ? drain_phase_word(note->node->phase) : NULL, str_get(&text),
                    note->time, out);
}

void drain_headline(const struct drain_node *const *nodes, size_t n, const struct eta *eta,
                    int64_t now, int64_t started, struct str *out) {
    char buf[TIMEFMT_LEN];
    struct drain_counts c = drain_count(nodes, n, now);
    struct eta_left left = eta_left(eta, nodes, n, now);
    str_addf(out, "%u of %u draining, %u done, ", c.of[STANDING_ACTIVE] + c.of[STANDING_BLOCKED],
             c.total, c.of[STANDING_DONE]);
    if (c.of[STANDING_BLOCKED])
        str_addf(out, "%u blocked, ", c.of[STANDING_BLOCKED]);
    str_addf(out, "%u failed, %s, ", c.of[STANDING_FAILED], time_running(now - started, buf));
    eta_text(&left, out);
}

/* --- blockers --- */

static int by_place(const void *pa, const void *pb) {
    const size_t *a = pa, *b = pb;
    return (*a > *b) - (*a < *b);
}

static void fold(const struct drain_node *const *nodes, const size_t *places, size_t n,
                 struct str *out) {
    const struct drain_node **list = xcalloc(n, sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[i] = nodes[places[i]];
    drain_fold(list, n, out);
    free(list);
}

static void say_group(const struct drain_group *g, const struct drain_node *const *nodes,
                      const size_t *places, size_t n, bool still, int64_t now, struct str *out) {
    char buf[TIMEFMT_LEN];
    const struct blocker_row *row = blocker_row(g->blocker->code);
    _cleanup_str_ struct str names = STR_INIT, text = STR_INIT;
    fold(nodes, places, n, &names);
    str_addf(&text, "%s%s", still ? "still " : "", row->clears_itself ? "waits" : "blocked");
    if (still)
        str_addf(&text, " after %s", time_running(now - g->blocker->since, buf));
    str_add(&text, ": ");
    drain_blocker_text(g->blocker, &text);
    if (g->pods)
        str_addf(&text, "; %u pod%s", g->pods, g->pods == 1 ? "" : "s");
    if (g->attempts)
        str_addf(&text, ", %u %s", g->attempts, g->attempts == 1 ? "try" : "tries");
    str_addf(&text, "; %s", drain_hint(g->blocker));
    drain_plain_say(row->severity == SEVERITY_INFO ? LOG_INFO : LOG_WARN, str_get(&names),
                    drain_phase_word(nodes[places[0]]->phase), str_get(&text), now, out);
}

static int64_t next_time(int64_t since, int64_t now) {
    for (size_t i = 0; i < ARRAY_LEN(again); i++)
        if (since + again[i] > now)
            return since + again[i];
    return since + ((now - since) / EVERY_HOUR + 1) * EVERY_HOUR;
}

/* The nodes of a group that were not named yet; from now on they are. One that was held up, got on
 * and is held up again by the same is not named again. */
static size_t take_new(struct told *t, const struct drain_group *g, size_t *fresh) {
    size_t n = 0, k = 0, old = t->nodes.len;
    for (size_t i = 0; i < g->n_nodes; i++) {
        while (k < old && t->nodes.p[k] < g->nodes[i])
            k++;
        if (k == old || t->nodes.p[k] != g->nodes[i])
            fresh[n++] = g->nodes[i];
    }
    for (size_t i = 0; i < n; i++)
        *vec_push(&t->nodes) = fresh[i];
    if (n && old)
        qsort(t->nodes.p, t->nodes.len, sizeof *t->nodes.p, by_place);
    return n;
}

static struct told *told_of(struct drain_plain *p, const struct drain_blocker *b) {
    struct told *t = htab_find(&p->told, key_hash(b->code, b->kind, b->object), b);
    if (!t) {
        t = xnew(struct told);
        t->code = b->code;
        t->kind = xstrdup(strna(b->kind));
        t->object = xstrdup(strna(b->object));
        t->since = b->since;
        htab_insert(&p->told, t);
    }
    return t;
}

static void look_at(struct drain_plain *p, const struct drain_group *g,
                    const struct drain_node *const *nodes, int64_t now, struct str *out) {
    struct told *t = told_of(p, g->blocker);
    t->round = p->round;
    bool grave = blocker_row(g->blocker->code)->severity == SEVERITY_ERROR;
    if (!t->spoken && !grave && now - t->since < TOLD_AFTER)
        return;
    bool again_now = t->spoken && now >= t->next;
    size_t *fresh = xcalloc(g->n_nodes, sizeof *fresh);
    size_t n = take_new(t, g, fresh);
    if (again_now)
        say_group(g, nodes, g->nodes, g->n_nodes, true, now, out);
    else if (n)
        say_group(g, nodes, fresh, n, false, now, out);
    if (!t->spoken || again_now)
        t->next = next_time(t->since, now);
    t->spoken = true;
    free(fresh);
}

static int by_name(const void *pa, const void *pb) {
    const struct told *a = *(const struct told *const *)pa, *b = *(const struct told *const *)pb;
    return a->code != b->code ? (a->code > b->code) - (a->code < b->code)
                              : strcmp(a->object, b->object);
}

static void say_ended(const struct told *t, const struct drain_node *const *nodes, int64_t now,
                      struct str *out) {
    char buf[TIMEFMT_LEN];
    const struct drain_node **left = xcalloc(t->nodes.len, sizeof *left);
    size_t n = 0;
    for (size_t i = 0; i < t->nodes.len; i++)
        if (!drain_ended(nodes[t->nodes.p[i]]->phase)) /* the others have said how it ended */
            left[n++] = nodes[t->nodes.p[i]];
    _cleanup_str_ struct str names = STR_INIT, text = STR_INIT;
    drain_fold(left, n, &names);
    str_addf(&text, "no longer waits for %s%s%s, after %s", blocker_row(t->code)->name,
             *t->object ? " " : "", t->object, time_running(now - t->since, buf));
    if (n)
        drain_plain_say(LOG_INFO, str_get(&names), drain_phase_word(left[0]->phase), str_get(&text),
                        now, out);
    free(left);
}

/* Those that the last look did not see any more. */
static void drop_ended(struct drain_plain *p, const struct drain_node *const *nodes, int64_t now,
                       struct str *out) {
    VEC(struct told *) gone = VEC_INIT;
    struct told *t;
    for (uint32_t i = 0; (t = htab_next(&p->told, &i));)
        if (t->round != p->round)
            *vec_push(&gone) = t;
    if (gone.len)
        qsort(gone.p, gone.len, sizeof *gone.p, by_name);
    for (size_t i = 0; i < gone.len; i++) {
        t = gone.p[i];
        if (t->spoken)
            say_ended(t, nodes, now, out);
        struct drain_blocker key = {.code = t->code, .kind = t->kind, .object = t->object};
        htab_remove(&p->told, told_hash(t), &key);
        told_free(t);
    }
    vec_done(&gone);
}

void drain_plain_tick(struct drain_plain *p, const struct drain_node *const *nodes, size_t n,
                      const struct eta *eta, int64_t now, struct str *out) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct drain_groups groups;
    p->round++;
    drain_groups_take(nodes, n, false, now, &arena, &groups);
    for (size_t i = 0; i < groups.n; i++)
        look_at(p, &groups.list[i], nodes, now, out);
    drop_ended(p, nodes, now, out);
    if (p->beat - now > HEARTBEAT) /* the clock was set back */
        p->beat = now + HEARTBEAT;
    if (now < p->beat)
        return;
    p->beat = now + HEARTBEAT;
    _cleanup_str_ struct str text = STR_INIT;
    drain_headline(nodes, n, eta, now, p->started, &text);
    drain_plain_say(LOG_INFO, NULL, NULL, str_get(&text), now, out);
}
