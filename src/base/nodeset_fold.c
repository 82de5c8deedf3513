/* Node sets as text: names folded into ranges. */
#include <assert.h>
#include <inttypes.h>

#include "base/nodeset_internal.h"
#include "base/utf8.h"

/* Names that nodeset_fold() puts together at once: fewer than NODESET_PIECES_MAX, and few enough
 * that their numbers, DIMENSIONS_MAX each, take no more than NODESET_STEPS_MAX. */
enum { FOLD_AT_ONCE = 200000 };

/* ---- ranges ---- */

/* Intervals on their way to text: one waits for those that continue it. */
struct ranges {
    struct str *out;
    bool any;
    struct {
        unsigned digits, end_digits; /* 0: none waits */
        uint64_t from, to;
    } last;
};

static void ranges_flush(struct ranges *r) {
    if (!r->last.digits)
        return;
    str_addf(r->out, "%s%0*" PRIu64, r->any ? "," : "", (int)r->last.digits, r->last.from);
    if (r->last.digits != r->last.end_digits || r->last.from != r->last.to)
        str_addf(r->out, "-%0*" PRIu64, (int)r->last.end_digits, r->last.to);
    r->any = true;
    r->last.digits = 0;
}

/* Numbers of one length. Those without zeros in front go on from 9 to 10 and from 99 to 100. */
static void ranges_add(struct ranges *r, unsigned digits, uint64_t from, uint64_t to) {
    if (r->last.digits && digits == r->last.end_digits + 1 && from == powers_of_ten[digits - 1] &&
        r->last.to == from - 1 &&
        (r->last.digits == 1 || r->last.from >= powers_of_ten[r->last.digits - 1])) {
        r->last.end_digits = digits;
        r->last.to = to;
        return;
    }
    ranges_flush(r);
    r->last.digits = r->last.end_digits = digits;
    r->last.from = from;
    r->last.to = to;
}

/* A span is cut where the number of digits changes. */
static void ranges_add_span(struct ranges *r, const struct span *s) {
    uint64_t from, to;
    unsigned last = rank_digits(s->hi, &to);
    for (unsigned digits = rank_digits(s->lo, &from); digits < last; digits++, from = 0)
        ranges_add(r, digits, from, powers_of_ten[digits] - 1);
    ranges_add(r, last, from, to);
}

/* ---- trees ---- */

struct fold {
    struct str *out;
    struct str head;   /* of the names that are being put together */
    size_t terms_from; /* where the terms begin in `out` */
};

/* Spans that have the same below them: a product of sets. */
struct member {
    uint32_t span;
    uint32_t group; /* the first span of its group */
    uint64_t hash;
};

static int by_hash(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->span < y->span ? -1 : 1;
}

static int by_group(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->span < y->span ? -1 : x->span > y->span;
}

/* The spans ordered by group, groups by their first span. */
static struct member *group_spans(const struct axis *a) {
    struct member *m = xcalloc(a->n, sizeof *m);
    for (uint32_t i = 0; i < a->n; i++)
        m[i] = (struct member){.span = i, .hash = a->spans[i].below->hash};
    qsort(m, a->n, sizeof *m, by_hash);
    for (uint32_t i = 0; i < a->n; i++) {
        /* Should two that differ have one hash, the group is cut, which costs nothing but room. */
        bool same = i && m[i].hash == m[i - 1].hash &&
                    axis_equal(a->spans[m[i].span].below, a->spans[m[i - 1].span].below);
        m[i].group = same ? m[i - 1].group : m[i].span;
    }
    qsort(m, a->n, sizeof *m, by_group);
    return m;
}

static void str_cut(struct str *s, size_t len) {
    s->len = len;
    if (s->p)
        s->p[len] = '\0';
}

static void fold_axis(struct fold *f, const struct axis *a, const char *pattern);

/* The numbers of some spans of `a`, bare if it is only one, then what follows. */
static void fold_group(struct fold *f, const struct axis *a, const struct member *m, uint32_t n,
                       const char *pattern) {
    size_t len = f->head.len;
    const struct span *first = &a->spans[m ? m->span : 0];
    bool one = n == 1 && first->lo == first->hi;
    struct ranges r = {.out = &f->head};
    str_add(&f->head, one ? "" : "[");
    for (uint32_t i = 0; i < n; i++)
        ranges_add_span(&r, &a->spans[m ? m[i].span : i]);
    ranges_flush(&r);
    str_add(&f->head, one ? "" : "]");
    fold_axis(f, first->below, pattern);
    str_cut(&f->head, len);
}

/* Adds the terms of all names that begin with `head` and go on with `pattern` and `a`. */
static void fold_axis(struct fold *f, const struct axis *a, const char *pattern) {
    size_t len = f->head.len;
    const char *number = strchrnul(pattern, PLACEHOLDER);
    str_addn(&f->head, pattern, (size_t)(number - pattern));
    if (a == AXIS_END) {
        str_add(f->out, f->out->len > f->terms_from ? "," : "");
        str_addn(f->out, f->head.p, f->head.len);
    } else if (a->n == 1 || a->spans[0].below == AXIS_END) {
        fold_group(f, a, NULL, a->n, number + 1);
    } else {
        struct member *m = group_spans(a);
        for (uint32_t i = 0, n; i < a->n; i += n) {
            for (n = 1; i + n < a->n && m[i + n].group == m[i].group;)
                n++;
            fold_group(f, a, m + i, n, number + 1);
        }
        free(m);
    }
    str_cut(&f->head, len);
}

static void print_terms(const struct nodeset *s, struct fold *f) {
    for (size_t i = 0; i < s->n; i++)
        fold_axis(f, s->parts[i].axis, s->parts[i].pattern->text);
}

void nodeset_print(const struct nodeset *s, struct str *out) {
    struct fold f = {.out = out, .terms_from = out->len};
    print_terms(s, &f);
    str_done(&f.head);
}

/* ---- lists ---- */

static void fold_names(struct fold *f, const char *const *names, size_t n) {
    _cleanup_nodeset_sum_ struct nodeset_sum sum = NODESET_SUM_INIT;
    _cleanup_nodeset_ struct nodeset set = NODESET_INIT;
    int rc = 0;
    for (size_t i = 0; i < n; i++) {
        struct nodeset one = NODESET_INIT;
        sum.steps = 0; /* that of all together does not count: it is bounded by their number */
        if (nodeset_valid_name(names[i]))
            rc |= nodeset_add(&one, names[i], NULL) | nodeset_sum_add(&sum, &one, NULL);
    }
    sum.steps = 0;
    rc |= nodeset_sum_take(&sum, &set, NULL);
    assert(!rc);
    (void)rc;
    print_terms(&set, f);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Those that no set can have, one by one. */
static void add_strangers(struct fold *f, const char *const *names, size_t n) {
    VEC(const char *) found = VEC_INIT;
    for (size_t i = 0; i < n; i++)
        if (!nodeset_valid_name(names[i]))
            *vec_push(&found) = names[i];
    if (found.len)
        qsort(found.p, found.len, sizeof *found.p, by_text);
    for (size_t i = 0; i < found.len; i++)
        if (!i || !streq(found.p[i], found.p[i - 1])) {
            str_add(f->out, f->out->len > f->terms_from ? "," : "");
            utf8_printable(f->out, found.p[i]);
        }
    vec_done(&found);
}

void nodeset_fold(const char *const *names, size_t n, struct str *out) {
    struct fold f = {.out = out, .terms_from = out->len};
    for (size_t i = 0; i < n; i += FOLD_AT_ONCE)
        fold_names(&f, names + i, MIN_OF(n - i, (size_t)FOLD_AT_ONCE));
    add_strangers(&f, names, n);
    str_done(&f.head);
}
