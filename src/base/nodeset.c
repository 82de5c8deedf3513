/* Node sets: names, algebra, order. */
#include "base/nodeset.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "base/nodeset_internal.h"
#include "base/utf8.h"

/* ---- names ---- */

bool nodeset_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._:/=+~", c));
}

/* The pattern and the numbers of a name. */
struct split {
    char pattern[NODESET_NAME_MAX + 1];
    unsigned dimensions;
    uint64_t ranks[DIMENSIONS_MAX];
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* False when the name cannot be in a set. */
static bool split(const char *name, struct split *out) {
    size_t len = 0;
    const char *p = name;
    out->dimensions = 0;
    while (*p) {
        const char *from = p;
        uint64_t value = 0;
        if (p - name >= NODESET_NAME_MAX || !nodeset_name_char(*p))
            return false;
        for (; is_digit(*p); p++)
            if (p - from < NODESET_DIGITS_MAX)
                value = value * 10 + (uint64_t)(*p - '0');
        if (p - name > NODESET_NAME_MAX)
            return false;
        if (p == from) {
            out->pattern[len++] = *p++;
        } else if (p - from <= NODESET_DIGITS_MAX) {
            out->pattern[len++] = PLACEHOLDER;
            out->ranks[out->dimensions++] = rank_of((unsigned)(p - from), value);
        } else {
            memcpy(out->pattern + len, from, (size_t)(p - from));
            len += (size_t)(p - from);
        }
    }
    out->pattern[len] = '\0';
    return len > 0;
}

bool nodeset_valid_name(const char *name) {
    struct split s;
    return split(name, &s);
}

/* ---- parts ---- */

static struct pattern *pattern_new(const char *text, unsigned dimensions) {
    size_t len = strlen(text);
    struct pattern *p = xmalloc(sizeof *p + len + 1);
    p->refs = 1;
    p->dimensions = dimensions;
    memcpy(p->text, text, len + 1);
    return p;
}

static void part_done(struct nodeset_part *part) {
    axis_unref(part->axis);
    if (!--part->pattern->refs)
        free(part->pattern);
}

/* Another reference to the pattern; the axis is the caller's. */
static struct nodeset_part part_with(const struct nodeset_part *part, const struct axis *axis) {
    part->pattern->refs++;
    return (struct nodeset_part){part->pattern, axis};
}

void nodeset_done(struct nodeset *s) {
    for (size_t i = 0; i < s->n; i++)
        part_done(&s->parts[i]);
    free(s->parts);
    *s = NODESET_INIT;
}

void nodeset_from_part(const char *pattern, unsigned dimensions, const struct axis *axis,
                       struct nodeset *out) {
    *out = NODESET_INIT;
    if (!axis)
        return;
    out->parts = xmalloc(sizeof *out->parts);
    out->parts[out->n++] = (struct nodeset_part){pattern_new(pattern, dimensions), axis};
}

void nodeset_copy(const struct nodeset *from, struct nodeset *to) {
    *to = NODESET_INIT;
    if (!from->n)
        return;
    to->parts = xcalloc(from->n, sizeof *to->parts);
    for (; to->n < from->n; to->n++) {
        const struct nodeset_part *part = &from->parts[to->n];
        to->parts[to->n] = part_with(part, axis_ref(part->axis));
    }
}

/* A set of one valid name. */
static void one_name(const struct split *name, struct nodeset *out) {
    const struct axis *axis = AXIS_END;
    for (unsigned i = name->dimensions; i-- > 0;)
        axis = axis_from_ranges(&(struct range){name->ranks[i], name->ranks[i]}, 1, axis);
    nodeset_from_part(name->pattern, name->dimensions, axis, out);
}

int nodeset_add(struct nodeset *s, const char *name, struct err *err) {
    struct split parts;
    if (!split(name, &parts)) {
        _cleanup_str_ struct str shown = STR_INIT;
        utf8_printable(&shown, name);
        return err_set(err, EINVAL, "\"%.80s\" is no name of a node", str_get(&shown));
    }
    _cleanup_nodeset_ struct nodeset one = NODESET_INIT;
    one_name(&parts, &one);
    return nodeset_union(s, &one, err);
}

/* ---- questions ---- */

bool nodeset_contains(const struct nodeset *s, const char *name) {
    struct split parts;
    if (!split(name, &parts))
        return false;
    size_t from = 0, to = s->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (strcmp(parts.pattern, s->parts[middle].pattern->text) > 0)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == s->n || !streq(parts.pattern, s->parts[from].pattern->text))
        return false;
    const struct axis *a = s->parts[from].axis;
    for (unsigned i = 0; i < parts.dimensions; i++) {
        const struct span *span = axis_find(a, parts.ranks[i]);
        if (!span)
            return false;
        a = span->below;
    }
    return true;
}

uint64_t nodeset_count(const struct nodeset *s) {
    uint64_t count = 0;
    for (size_t i = 0; i < s->n; i++)
        if (__builtin_add_overflow(count, s->parts[i].axis->count, &count))
            return UINT64_MAX;
    return count;
}

bool nodeset_equal(const struct nodeset *a, const struct nodeset *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!streq(a->parts[i].pattern->text, b->parts[i].pattern->text) ||
            !axis_equal(a->parts[i].axis, b->parts[i].axis))
            return false;
    return true;
}

/* ---- algebra ---- */

int nodeset_too_complicated(struct err *err) {
    return err_set(err, EFBIG,
                   "the set is too complicated: it would be more than %d separate pieces, or take "
                   "too long; use fewer operators or smaller sets",
                   NODESET_PIECES_MAX);
}

int nodeset_merge(struct nodeset *s, enum nodeset_op op, const struct nodeset *other,
                  uint64_t *steps) {
    struct nodeset result = NODESET_INIT;
    uint64_t pieces = 0;
    result.parts = xcalloc(s->n + other->n + 1, sizeof *result.parts);
    for (size_t i = 0, j = 0; i < s->n || j < other->n;) {
        const struct nodeset_part *x = i < s->n ? &s->parts[i] : NULL;
        const struct nodeset_part *y = j < other->n ? &other->parts[j] : NULL;
        int order = !x                         ? 1
                    : !y                       ? -1
                    : x->pattern == y->pattern ? 0
                                               : strcmp(x->pattern->text, y->pattern->text);
        const struct axis *axis;
        ++*steps;
        int rc = axis_combine(op, order <= 0 ? x->axis : NULL, order >= 0 ? y->axis : NULL, steps,
                              &axis);
        if (!rc && axis) {
            result.parts[result.n++] = part_with(order <= 0 ? x : y, axis);
            pieces += axis->pieces;
        }
        if (rc || pieces > NODESET_PIECES_MAX || *steps > NODESET_STEPS_MAX) {
            nodeset_done(&result);
            return -EFBIG;
        }
        i += order <= 0;
        j += order >= 0;
    }
    nodeset_done(s);
    if (result.n)
        s->n = result.n, s->parts = result.parts;
    else
        free(result.parts);
    return 0;
}

int nodeset_combine(struct nodeset *s, enum nodeset_op op, const struct nodeset *other,
                    struct err *err) {
    uint64_t steps = 0;
    return nodeset_merge(s, op, other, &steps) ? nodeset_too_complicated(err) : 0;
}

/* ---- sums ---- */

void nodeset_sum_done(struct nodeset_sum *sum) {
    for (size_t i = 0; i < ARRAY_LEN(sum->levels); i++)
        nodeset_done(&sum->levels[i]);
    sum->n = 0;
}

int nodeset_sum_add(struct nodeset_sum *sum, struct nodeset *s, struct err *err) {
    struct nodeset carry = *s;
    *s = NODESET_INIT;
    size_t level = 0;
    for (; sum->n >> level & 1 && level + 1 < ARRAY_LEN(sum->levels); level++) {
        if (nodeset_merge(&carry, NODESET_UNION, &sum->levels[level], &sum->steps)) {
            nodeset_done(&carry);
            return nodeset_too_complicated(err);
        }
        nodeset_done(&sum->levels[level]);
    }
    sum->levels[level] = carry;
    sum->n++;
    return 0;
}

int nodeset_sum_take(struct nodeset_sum *sum, struct nodeset *out, struct err *err) {
    struct nodeset all = NODESET_INIT;
    for (size_t i = 0; i < ARRAY_LEN(sum->levels); i++)
        if (nodeset_merge(&all, NODESET_UNION, &sum->levels[i], &sum->steps)) {
            nodeset_done(&all);
            nodeset_sum_done(sum);
            return nodeset_too_complicated(err);
        }
    nodeset_sum_done(sum);
    *out = all;
    return 0;
}

/* ---- going through ---- */

struct nodeset_level {
    const struct axis *axis;
    uint32_t span;
    uint64_t at;
};

struct nodeset_iter nodeset_iter(const struct nodeset *s) {
    return (struct nodeset_iter){.set = s};
}

void nodeset_iter_done(struct nodeset_iter *it) {
    mem_clear(&it->levels);
    it->n_levels = 0;
}

/* Puts the levels from `from` on to the first tuple below the one before. */
static void rewind_levels(struct nodeset_iter *it, size_t from) {
    for (size_t i = from; i < it->n_levels; i++) {
        struct nodeset_level *l = &it->levels[i];
        if (i)
            l->axis = it->levels[i - 1].axis->spans[it->levels[i - 1].span].below;
        l->span = 0;
        l->at = l->axis->spans[0].lo;
    }
}

/* To the next tuple; false at the end of the part. */
static bool advance(struct nodeset_iter *it) {
    for (size_t i = it->n_levels; i-- > 0;) {
        struct nodeset_level *l = &it->levels[i];
        if (l->at < l->axis->spans[l->span].hi)
            l->at++;
        else if (l->span + 1 < l->axis->n)
            l->at = l->axis->spans[++l->span].lo;
        else
            continue;
        rewind_levels(it, i + 1);
        return true;
    }
    return false;
}

static void write_digits(char *to, unsigned digits, uint64_t value) {
    for (; digits; value /= 10)
        to[--digits] = (char)('0' + value % 10);
}

const char *nodeset_next(struct nodeset_iter *it) {
    if (!it->n_levels || !advance(it)) {
        nodeset_iter_done(it);
        if (it->part == it->set->n)
            return NULL;
        const struct nodeset_part *part = &it->set->parts[it->part++];
        it->n_levels = part->pattern->dimensions;
        if (it->n_levels) {
            it->levels = xcalloc(it->n_levels, sizeof *it->levels);
            it->levels[0].axis = part->axis;
            rewind_levels(it, 0);
        }
    }
    size_t len = 0, level = 0;
    for (const char *p = it->set->parts[it->part - 1].pattern->text; *p; p++) {
        uint64_t value;
        if (*p != PLACEHOLDER) {
            it->name[len++] = *p;
            continue;
        }
        assert(level < it->n_levels);
        unsigned digits = rank_digits(it->levels[level++].at, &value);
        assert(len + digits <= NODESET_NAME_MAX);
        write_digits(it->name + len, digits, value);
        len += digits;
    }
    it->name[len] = '\0';
    return it->name;
}

int nodeset_expand(const struct nodeset *s, char ***names, size_t *n, struct err *err) {
    uint64_t count = nodeset_count(s);
    if (count > NODESET_EXPAND_MAX)
        return err_set(err, EFBIG,
                       "the set has %s%" PRIu64 " names, and at most %d can be written out: is a "
                       "range too long?",
                       count == UINT64_MAX ? "at least " : "", count, NODESET_EXPAND_MAX);
    _cleanup_str_ struct str texts = STR_INIT;
    _cleanup_nodeset_iter_ struct nodeset_iter it = nodeset_iter(s);
    for (const char *name; (name = nodeset_next(&it));)
        str_addn(&texts, name, strlen(name) + 1);
    size_t head = (count + 1) * sizeof(char *);
    char **out = xmalloc(head + texts.len);
    char *p = (char *)(out + count + 1);
    if (texts.len)
        memcpy(p, texts.p, texts.len);
    for (size_t i = 0; i < count; i++, p += strlen(p) + 1)
        out[i] = p;
    out[count] = NULL;
    *names = out;
    *n = count;
    return 0;
}
