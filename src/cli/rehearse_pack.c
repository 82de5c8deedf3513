/* Numbers as eight bytes, texts with their lengths, lists with theirs. Both ends are the same
 * program on the same machine. */
#include "cli/rehearse_pack.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

/* --- writing --- */

static void put(struct str *out, int64_t v) {
    str_addn(out, &v, sizeof v);
}

/* NULL is told apart from "". */
static void put_text(struct str *out, const char *s) {
    put(out, s ? (int64_t)strlen(s) : -1);
    str_addn(out, strna(s), strlen(strna(s)));
}

static void put_node(struct str *out, const struct rehearsal_node *n) {
    put_text(out, n->name);
    put(out, n->phase);
    put(out, n->began);
    put(out, n->ended);
    put(out, n->total);
    put(out, n->left);
    put(out, n->emptied);
    put_text(out, n->error);
    put(out, n->code);
    put(out, (int64_t)n->pods.len);
    for (size_t i = 0; i < n->pods.len; i++) {
        const struct rehearsal_pod *p = &n->pods.p[i];
        put_text(out, p->ns);
        put_text(out, p->name);
        put_text(out, p->owner);
        put(out, p->state);
        put(out, p->late);
        put(out, p->asked);
        put(out, p->gone);
        put_text(out, p->why);
        put(out, p->code);
    }
}

void rehearsal_pack(const struct rehearsal *r, struct str *out) {
    put(out, (int64_t)r->seed);
    put(out, r->took);
    put(out, r->halted);
    put(out, r->code);
    put(out, (int64_t)r->moved);
    put(out, (int64_t)r->nodes.len);
    for (size_t i = 0; i < r->nodes.len; i++)
        put_node(out, &r->nodes.p[i]);
    put(out, (int64_t)r->waits.len);
    for (size_t i = 0; i < r->waits.len; i++) {
        const struct rehearsal_wait *w = &r->waits.p[i];
        put(out, w->code);
        put_text(out, w->kind);
        put_text(out, w->object);
        put_text(out, w->message);
        put(out, w->pods);
        put(out, w->begun);
        put(out, w->waited);
        put(out, w->open);
    }
    put(out, (int64_t)r->budgets.len);
    for (size_t i = 0; i < r->budgets.len; i++) {
        const struct rehearsal_budget *b = &r->budgets.p[i];
        put_text(out, b->ns);
        put_text(out, b->name);
        put(out, b->before);
        put(out, b->least);
        put(out, b->expected);
        put(out, b->desired);
        put(out, b->closed);
    }
    put(out, (int64_t)r->pending.len);
    for (size_t i = 0; i < r->pending.len; i++) {
        put_text(out, r->pending.p[i].workload);
        put_text(out, r->pending.p[i].example);
        put_text(out, r->pending.p[i].why);
        put(out, r->pending.p[i].pods);
    }
    put(out, (int64_t)r->remarks.len);
    for (size_t i = 0; i < r->remarks.len; i++)
        put_text(out, r->remarks.p[i]);
}

/* --- reading --- */

struct reader {
    struct view left;
    bool bad;
};

static int64_t get(struct reader *r) {
    int64_t v = 0;
    if (r->left.len < sizeof v) {
        r->bad = true;
        return 0;
    }
    memcpy(&v, r->left.p, sizeof v);
    r->left = (struct view){r->left.p + sizeof v, r->left.len - sizeof v};
    return v;
}

static char *get_text(struct reader *r) {
    int64_t len = get(r);
    if (len < 0 || r->bad)
        return NULL;
    if ((uint64_t)len > r->left.len) {
        r->bad = true;
        return NULL;
    }
    char *s = xstrndup(r->left.p, (size_t)len);
    r->left = (struct view){r->left.p + len, r->left.len - (size_t)len};
    return s;
}

/* A text that is always there. */
static char *get_word(struct reader *r) {
    char *s = get_text(r);
    return s ? s : xstrdup("");
}

/* Of a list: each element takes at least eight bytes. */
static size_t get_len(struct reader *r) {
    int64_t n = get(r);
    if (n < 0 || (uint64_t)n > r->left.len / sizeof(int64_t))
        r->bad = true;
    return r->bad ? 0 : (size_t)n;
}

static void get_node(struct reader *r, struct rehearsal_node *n) {
    *n = (struct rehearsal_node){.name = get_word(r), .phase = (enum drain_phase)get(r)};
    n->began = get(r);
    n->ended = get(r);
    n->total = (unsigned)get(r);
    n->left = (unsigned)get(r);
    n->emptied = get(r) != 0;
    n->error = get_text(r);
    n->code = (int)get(r);
    if (n->code >= BLOCKER_CODES)
        r->bad = true;
    size_t len = get_len(r);
    for (size_t i = 0; i < len && !r->bad; i++) {
        struct rehearsal_pod *p = vec_push(&n->pods);
        *p = (struct rehearsal_pod){.ns = get_word(r)};
        p->name = get_word(r);
        p->owner = get_word(r);
        p->state = (enum drain_pod_state)get(r);
        p->late = get(r) != 0;
        p->asked = get(r);
        p->gone = get(r);
        p->why = get_text(r);
        p->code = (int)get(r);
        if (p->code >= BLOCKER_CODES)
            r->bad = true;
    }
}

static void get_wait(struct reader *r, struct rehearsal_wait *w) {
    *w = (struct rehearsal_wait){.code = (enum blocker_code)get(r)};
    w->kind = get_word(r);
    w->object = get_word(r);
    w->message = get_text(r);
    w->pods = (unsigned)get(r);
    w->begun = get(r);
    w->waited = get(r);
    w->open = get(r) != 0;
    if ((unsigned)w->code >= BLOCKER_CODES)
        r->bad = true;
}

static void get_budget(struct reader *r, struct rehearsal_budget *b) {
    *b = (struct rehearsal_budget){.ns = get_word(r)};
    b->name = get_word(r);
    b->before = (int32_t)get(r);
    b->least = (int32_t)get(r);
    b->expected = (int32_t)get(r);
    b->desired = (int32_t)get(r);
    b->closed = get(r);
}

static void get_pending(struct reader *r, struct rehearsal_pending *p) {
    *p = (struct rehearsal_pending){.workload = get_word(r)};
    p->example = get_word(r);
    p->why = get_word(r);
    p->pods = (unsigned)get(r);
}

bool rehearsal_unpack(struct view bytes, struct rehearsal *out) {
    struct reader r = {bytes, false};
    *out = (struct rehearsal){.seed = (uint64_t)get(&r)};
    out->took = get(&r);
    out->halted = get(&r) != 0;
    out->code = (int)get(&r);
    out->moved = (size_t)get(&r);
    size_t n = get_len(&r);
    for (size_t i = 0; i < n && !r.bad; i++)
        get_node(&r, vec_push(&out->nodes));
    n = get_len(&r);
    for (size_t i = 0; i < n && !r.bad; i++)
        get_wait(&r, vec_push(&out->waits));
    n = get_len(&r);
    for (size_t i = 0; i < n && !r.bad; i++)
        get_budget(&r, vec_push(&out->budgets));
    n = get_len(&r);
    for (size_t i = 0; i < n && !r.bad; i++)
        get_pending(&r, vec_push(&out->pending));
    n = get_len(&r);
    for (size_t i = 0; i < n && !r.bad; i++)
        *vec_push(&out->remarks) = get_word(&r);
    if (!r.bad && !r.left.len)
        return true;
    rehearsal_done(out);
    return false;
}
