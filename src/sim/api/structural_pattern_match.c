/* Running a pattern: the tree becomes a program, whose threads all step over the text together. */
#include <errno.h>

#include "base/utf8.h"
#include "sim/api/structural_pattern.h"
#include "sim/api/structural_pattern_internal.h"

enum op { OP_SET, OP_ASSERT, OP_SPLIT, OP_JUMP, OP_MATCH };

struct inst {
    enum op op;
    uint32_t arg;  /* set, assertion; where a split or jump goes */
    uint32_t next; /* of a split: the other way; otherwise the next instruction follows */
};

struct pattern {
    VEC(struct inst) code;
    runes_list sets;
    bool anchored; /* only the beginning of the text can match */
};

/* --- building --- */

static uint32_t emit(struct pattern *p, enum op op, uint32_t arg) {
    *vec_push(&p->code) = (struct inst){op, arg, 0};
    return (uint32_t)p->code.len - 1;
}

static uint32_t here(const struct pattern *p) {
    return (uint32_t)p->code.len;
}

static void build(struct pattern *p, const struct pnode *n);

/* Zero or one of them for each of `count`, all of which can be left out from some point on. */
static void build_optional(struct pattern *p, const struct pnode *n, int count) {
    VEC(uint32_t) splits = VEC_INIT;
    for (int i = 0; i < count; i++) {
        uint32_t split = emit(p, OP_SPLIT, 0);
        p->code.p[split].arg = here(p);
        *vec_push(&splits) = split;
        build(p, n);
    }
    for (size_t i = 0; i < splits.len; i++)
        p->code.p[splits.p[i]].next = here(p);
    vec_done(&splits);
}

static void build_repeat(struct pattern *p, const struct pnode *n) {
    uint32_t last = 0;
    for (int i = 0; i < n->min; i++) {
        last = here(p);
        build(p, n->sub);
    }
    if (n->max >= 0) {
        build_optional(p, n->sub, n->max - n->min);
    } else if (n->min > 0) {
        uint32_t split = emit(p, OP_SPLIT, last);
        p->code.p[split].next = here(p);
    } else {
        uint32_t split = emit(p, OP_SPLIT, 0);
        p->code.p[split].arg = here(p);
        build(p, n->sub);
        emit(p, OP_JUMP, split);
        p->code.p[split].next = here(p);
    }
}

static void build_alternatives(struct pattern *p, const struct pnode *n) {
    VEC(uint32_t) jumps = VEC_INIT;
    for (const struct pnode *s = n->sub; s; s = s->next) {
        if (!s->next) {
            build(p, s);
            break;
        }
        uint32_t split = emit(p, OP_SPLIT, 0);
        p->code.p[split].arg = here(p);
        build(p, s);
        *vec_push(&jumps) = emit(p, OP_JUMP, 0);
        p->code.p[split].next = here(p);
    }
    for (size_t i = 0; i < jumps.len; i++)
        p->code.p[jumps.p[i]].arg = here(p);
    vec_done(&jumps);
}

static void build(struct pattern *p, const struct pnode *n) {
    switch (n->kind) {
    case PNODE_EMPTY:
        break;
    case PNODE_SET:
        emit(p, OP_SET, (uint32_t)n->set);
        break;
    case PNODE_ASSERT:
        emit(p, OP_ASSERT, (uint32_t)n->assertion);
        break;
    case PNODE_CAT:
        for (const struct pnode *s = n->sub; s; s = s->next)
            build(p, s);
        break;
    case PNODE_ALT:
        build_alternatives(p, n);
        break;
    case PNODE_REPEAT:
        build_repeat(p, n);
        break;
    }
}

struct pattern *pattern_build(const struct pnode *tree, runes_list *sets) {
    struct pattern *p = xnew(struct pattern);
    p->sets = *sets;
    *sets = (runes_list)VEC_INIT;
    build(p, tree);
    emit(p, OP_MATCH, 0);
    p->anchored = p->code.p[0].op == OP_ASSERT && p->code.p[0].arg == PASSERT_BEGIN_TEXT;
    return p;
}

void pattern_free(struct pattern *p) {
    if (!p)
        return;
    for (size_t i = 0; i < p->sets.len; i++)
        runes_done(&p->sets.p[i]);
    vec_done(&p->sets);
    vec_done(&p->code);
    free(p);
}

/* --- running --- */

/* Which instructions have a thread: a sparse set, emptied without touching it. */
struct threads {
    uint32_t *dense, *sparse, len;
};

static bool threads_has(const struct threads *t, uint32_t pc) {
    uint32_t at = t->sparse[pc];
    return at < t->len && t->dense[at] == pc;
}

static void threads_add(struct threads *t, uint32_t pc) {
    t->sparse[pc] = t->len;
    t->dense[t->len++] = pc;
}

struct run {
    const struct pattern *p;
    struct threads now, then;
    uint32_t *stack;
    uint64_t steps;
    bool matched;
};

/* Between two characters; -1 is no character. */
struct place {
    int32_t before, after;
};

static bool is_word(int32_t c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool holds(uint32_t assertion, struct place at) {
    switch ((enum passert)assertion) {
    case PASSERT_BEGIN_TEXT:
        return at.before < 0;
    case PASSERT_END_TEXT:
        return at.after < 0;
    case PASSERT_BEGIN_LINE:
        return at.before < 0 || at.before == '\n';
    case PASSERT_END_LINE:
        return at.after < 0 || at.after == '\n';
    case PASSERT_WORD:
        return is_word(at.before) != is_word(at.after);
    case PASSERT_NO_WORD:
        return is_word(at.before) == is_word(at.after);
    }
    return false;
}

/* Starts a thread and follows it to where it waits for a character. Each instruction gets on the
 * stack at most twice, by the two ways into it that a split or the one before it has. */
static void start(struct run *r, struct threads *t, uint32_t pc, struct place at) {
    uint32_t depth = 0;
    r->stack[depth++] = pc;
    while (depth) {
        pc = r->stack[--depth];
        r->steps++;
        if (threads_has(t, pc))
            continue;
        threads_add(t, pc);
        const struct inst *i = &r->p->code.p[pc];
        switch (i->op) {
        case OP_SET:
            break;
        case OP_MATCH:
            r->matched = true;
            return;
        case OP_ASSERT:
            if (holds(i->arg, at))
                r->stack[depth++] = pc + 1;
            break;
        case OP_JUMP:
            r->stack[depth++] = i->arg;
            break;
        case OP_SPLIT:
            r->stack[depth++] = i->next;
            r->stack[depth++] = i->arg;
            break;
        }
    }
}

/* The character at `p`, or -1 at the end; bytes that are not UTF-8 are U+FFFD, as for Go. */
static int32_t decode(const char *p, const char *end, size_t *len) {
    *len = 0;
    if (p == end)
        return -1;
    *len = utf8_len(p, (size_t)(end - p));
    if (*len)
        return (int32_t)utf8_decode(p, *len);
    *len = 1;
    return 0xfffd;
}

int pattern_match(const struct pattern *p, struct view text) {
    size_t n = p->code.len;
    uint32_t *memory = xcalloc(6 * n + 2, sizeof *memory);
    struct run r = {
        .p = p,
        .now = {memory, memory + n, 0},
        .then = {memory + 2 * n, memory + 3 * n, 0},
        .stack = memory + 4 * n,
    };
    const char *at = text.p, *end = text.p + text.len;
    struct place place = {-1, 0};
    for (;;) {
        size_t len;
        place.after = decode(at, end, &len);
        if (place.before < 0 || !p->anchored)
            start(&r, &r.now, 0, place);
        if (r.matched || place.after < 0 || r.steps > PATTERN_MAX_STEPS || !r.now.len)
            break;
        size_t next_len;
        struct place behind = {place.after, decode(at + len, end, &next_len)};
        for (uint32_t k = 0; k < r.now.len && !r.matched; k++) {
            uint32_t pc = r.now.dense[k];
            const struct inst *i = &p->code.p[pc];
            r.steps++;
            if (i->op == OP_SET && runes_has(&p->sets.p[i->arg], (uint32_t)place.after))
                start(&r, &r.then, pc + 1, behind);
        }
        if (r.matched)
            break;
        struct threads swap = r.now;
        r.now = r.then;
        r.then = swap;
        r.then.len = 0;
        place.before = place.after;
        at += len;
    }
    free(memory);
    return r.matched ? 1 : r.steps > PATTERN_MAX_STEPS ? -E2BIG : 0;
}
