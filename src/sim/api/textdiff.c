/* The diff. */
#include "sim/api/textdiff.h"

#include <stdint.h>

#include "base/vec.h"

enum {
    CONTEXT = 3,
    POPULAR_FROM = 200, /* lines; below, every line is an anchor */
    NONE = -1,
};

struct line {
    struct view text;
    int id; /* the same for equal lines of both texts */
};

struct match {
    int a, b, size;
};

struct opcode {
    char tag; /* 'e'qual, 'r'eplace, 'd'elete, 'i'nsert */
    int a1, a2, b1, b2;
};

struct lines {
    VEC(struct line) v;
};

struct matcher {
    struct lines a, b;
    int *first;         /* by id: the first line of b that is an anchor with that text, or NONE */
    int *next;          /* by line of b: the next one with the same text */
    int *row, *old_row; /* by line of b plus one: length of the common run that ends there */
    VEC(struct match) matches;
    VEC(struct opcode) codes;
};

static void split(const char *text, struct lines *lines) {
    for (;;) {
        size_t len = strcspn(text, "\n");
        *vec_push(&lines->v) = (struct line){{text, len}, 0};
        if (!text[len])
            return;
        text += len + 1;
    }
}

static int by_text(const void *x, const void *y) {
    const struct line *a = *(struct line *const *)x, *b = *(struct line *const *)y;
    size_t n = MIN_OF(a->text.len, b->text.len);
    int c = n ? memcmp(a->text.p, b->text.p, n) : 0;
    return c ? c : (a->text.len > b->text.len) - (a->text.len < b->text.len);
}

/* Numbers the different lines; returns how many there are. */
static int number(struct matcher *m) {
    size_t n = m->a.v.len + m->b.v.len;
    struct line **all = xcalloc(n, sizeof *all);
    for (size_t i = 0; i < m->a.v.len; i++)
        all[i] = &m->a.v.p[i];
    for (size_t i = 0; i < m->b.v.len; i++)
        all[m->a.v.len + i] = &m->b.v.p[i];
    qsort(all, n, sizeof *all, by_text);
    int id = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && by_text(&all[i - 1], &all[i]))
            id++;
        all[i]->id = id;
    }
    free(all);
    return id + 1;
}

static void index_b(struct matcher *m, int n_ids) {
    size_t n = m->b.v.len, limit = n / 100 + 1;
    size_t *count = xcalloc((size_t)n_ids, sizeof *count);
    m->first = xcalloc((size_t)n_ids, sizeof *m->first);
    m->next = xcalloc(n, sizeof *m->next);
    for (int i = 0; i < n_ids; i++)
        m->first[i] = NONE;
    for (size_t j = n; j-- > 0;) {
        int id = m->b.v.p[j].id;
        m->next[j] = m->first[id];
        m->first[id] = (int)j;
        count[id]++;
    }
    if (n >= POPULAR_FROM)
        for (int i = 0; i < n_ids; i++)
            if (count[i] > limit)
                m->first[i] = NONE;
    free(count);
}

static struct match longest(struct matcher *m, int alo, int ahi, int blo, int bhi) {
    struct match best = {alo, blo, 0};
    for (int i = alo; i < ahi; i++) {
        for (int j = m->first[m->a.v.p[i].id]; j != NONE && j < bhi; j = m->next[j]) {
            if (j < blo)
                continue;
            int k = m->row[j + 1] = m->old_row[j] + 1;
            if (k > best.size)
                best = (struct match){i - k + 1, j - k + 1, k};
        }
        if (i > alo)
            for (int j = m->first[m->a.v.p[i - 1].id]; j != NONE; j = m->next[j])
                m->old_row[j + 1] = 0;
        int *swap = m->row;
        m->row = m->old_row;
        m->old_row = swap;
    }
    if (ahi > alo)
        for (int j = m->first[m->a.v.p[ahi - 1].id]; j != NONE; j = m->next[j])
            m->old_row[j + 1] = 0;
    while (best.a > alo && best.b > blo && m->a.v.p[best.a - 1].id == m->b.v.p[best.b - 1].id)
        best = (struct match){best.a - 1, best.b - 1, best.size + 1};
    while (best.a + best.size < ahi && best.b + best.size < bhi &&
           m->a.v.p[best.a + best.size].id == m->b.v.p[best.b + best.size].id)
        best.size++;
    return best;
}

/* Depth is bounded by the number of lines, which the caller bounds. */
static void find_matches(struct matcher *m, int alo, int ahi, int blo, int bhi) {
    struct match x = longest(m, alo, ahi, blo, bhi);
    if (!x.size)
        return;
    if (alo < x.a && blo < x.b)
        find_matches(m, alo, x.a, blo, x.b);
    *vec_push(&m->matches) = x;
    if (x.a + x.size < ahi && x.b + x.size < bhi)
        find_matches(m, x.a + x.size, ahi, x.b + x.size, bhi);
}

static void add_codes(struct matcher *m, struct match x, int *a, int *b) {
    char tag = *a < x.a ? (*b < x.b ? 'r' : 'd') : *b < x.b ? 'i' : 0;
    if (tag)
        *vec_push(&m->codes) = (struct opcode){tag, *a, x.a, *b, x.b};
    *a = x.a + x.size;
    *b = x.b + x.size;
    if (x.size)
        *vec_push(&m->codes) = (struct opcode){'e', x.a, *a, x.b, *b};
}

static void make_codes(struct matcher *m) {
    struct match run = {0, 0, 0};
    int a = 0, b = 0;
    for (size_t i = 0; i < m->matches.len; i++) {
        struct match x = m->matches.p[i];
        if (run.a + run.size == x.a && run.b + run.size == x.b) {
            run.size += x.size;
            continue;
        }
        if (run.size)
            add_codes(m, run, &a, &b);
        run = x;
    }
    if (run.size)
        add_codes(m, run, &a, &b);
    add_codes(m, (struct match){(int)m->a.v.len, (int)m->b.v.len, 0}, &a, &b);
}

static void add_range(struct str *out, char sign, int start, int stop) {
    int length = stop - start;
    str_addf(out, "%c%d", sign, length ? start + 1 : start);
    if (length != 1)
        str_addf(out, ",%d", length);
}

static void add_lines(struct str *out, char sign, const struct line *lines, int from, int to) {
    for (int i = from; i < to; i++) {
        str_addc(out, sign);
        str_addn(out, lines[i].text.p, lines[i].text.len);
        str_addc(out, '\n');
    }
}

static void print_hunk(const struct matcher *m, const struct opcode *c, size_t n, struct str *out) {
    str_add(out, "@@ ");
    add_range(out, '-', c[0].a1, c[n - 1].a2);
    str_addc(out, ' ');
    add_range(out, '+', c[0].b1, c[n - 1].b2);
    str_add(out, " @@\n");
    for (size_t i = 0; i < n; i++) {
        if (c[i].tag == 'e') {
            add_lines(out, ' ', m->a.v.p, c[i].a1, c[i].a2);
            continue;
        }
        add_lines(out, '-', m->a.v.p, c[i].a1, c[i].a2);
        add_lines(out, '+', m->b.v.p, c[i].b1, c[i].b2);
    }
}

/* Hunks end where more than twice the context is equal. */
static void print_hunks(struct matcher *m, struct str *out) {
    struct opcode *codes = m->codes.p;
    size_t n = m->codes.len;
    if (codes[0].tag == 'e') {
        codes[0].a1 = MAX_OF(codes[0].a1, codes[0].a2 - CONTEXT);
        codes[0].b1 = MAX_OF(codes[0].b1, codes[0].b2 - CONTEXT);
    }
    if (codes[n - 1].tag == 'e') {
        codes[n - 1].a2 = MIN_OF(codes[n - 1].a2, codes[n - 1].a1 + CONTEXT);
        codes[n - 1].b2 = MIN_OF(codes[n - 1].b2, codes[n - 1].b1 + CONTEXT);
    }
    VEC(struct opcode) hunk = VEC_INIT;
    for (size_t i = 0; i < n; i++) {
        struct opcode c = codes[i];
        if (c.tag == 'e' && c.a2 - c.a1 > 2 * CONTEXT) {
            struct opcode head = {'e', c.a1, c.a1 + CONTEXT, c.b1, c.b1 + CONTEXT};
            *vec_push(&hunk) = head;
            print_hunk(m, hunk.p, hunk.len, out);
            hunk.len = 0;
            c.a1 = c.a2 - CONTEXT;
            c.b1 = c.b2 - CONTEXT;
        }
        *vec_push(&hunk) = c;
    }
    if (hunk.len > 1 || (hunk.len == 1 && hunk.p[0].tag != 'e'))
        print_hunk(m, hunk.p, hunk.len, out);
    vec_done(&hunk);
}

void text_diff(const char *a, const char *b, size_t max_lines, struct str *out) {
    if (streq(a, b))
        return;
    struct matcher m = {0};
    split(a, &m.a);
    split(b, &m.b);
    if (m.a.v.len <= max_lines && m.b.v.len <= max_lines) {
        index_b(&m, number(&m));
        m.row = xcalloc(m.b.v.len + 1, sizeof *m.row);
        m.old_row = xcalloc(m.b.v.len + 1, sizeof *m.old_row);
        find_matches(&m, 0, (int)m.a.v.len, 0, (int)m.b.v.len);
        make_codes(&m);
        print_hunks(&m, out);
    }
    free(m.first);
    free(m.next);
    free(m.row);
    free(m.old_row);
    vec_done(&m.a.v);
    vec_done(&m.b.v);
    vec_done(&m.matches);
    vec_done(&m.codes);
}
