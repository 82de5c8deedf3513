/* The text of a node set, read. */
#include <errno.h>

#include "base/nodeset_internal.h"
#include "base/utf8.h"

/* What a number that is written out costs (it is sorted too), in steps of NODESET_STEPS_MAX. */
enum { STEPS_OF_NUMBER = 16 };

struct parser {
    const char *text, *p;
    nodeset_groups_fn *groups;
    void *arg;
    unsigned nested;
    uint64_t steps;
    struct err *err;
};

static int read_set(struct parser *ps, struct nodeset *out);

/* ---- errors ---- */

enum { QUOTE_MAX = 60 }; /* bytes of the text that a message shows */

/* What stands before the message. Of a long text it shows the part around `at`. */
static void add_place(const struct parser *ps, const char *at, struct str *out) {
    size_t len = strlen(ps->text), column = (size_t)(at - ps->text);
    size_t from = len <= QUOTE_MAX || column < QUOTE_MAX / 2 ? 0 : column - QUOTE_MAX / 2;
    size_t to = MIN_OF(len, from + QUOTE_MAX);
    _cleanup_free_ char *part = xstrndup(ps->text + from, to - from);
    str_addf(out, "node set \"%s", from ? "..." : "");
    utf8_printable(out, part);
    str_addf(out, "%s\", column %zu", to < len ? "..." : "", column + 1);
}

static int fail(const struct parser *ps, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int fail(const struct parser *ps, const char *at, const char *fmt, ...) {
    _cleanup_str_ struct str place = STR_INIT;
    va_list ap;
    va_start(ap, fmt);
    err_vset(ps->err, EINVAL, fmt, ap);
    va_end(ap);
    add_place(ps, at, &place);
    err_wrap(ps->err, "%s", str_get(&place));
    return -EINVAL;
}

/* Puts the place before an error of somebody else. */
static int fail_at(const struct parser *ps, const char *at, int rc) {
    _cleanup_str_ struct str place = STR_INIT;
    add_place(ps, at, &place);
    err_wrap(ps->err, "%s", str_get(&place));
    return rc;
}

/* A character that cannot be where it is. */
static int fail_character(const struct parser *ps, bool after_term) {
    const char *p = ps->p;
    if (after_term && (nodeset_name_char(*p) || strchr("([@", *p)))
        return fail(ps, p, "an operator is missing before \"%c\": one of , ! & ^", *p);
    if (*p == ']')
        return fail(ps, p, "\"]\" without \"[\"");
    if (*p == ')')
        return fail(ps, p, "\")\" without \"(\"");
    if (*p == '*' || *p == '?')
        return fail(ps, p, "\"%c\" is no wildcard here: write ranges, w[1-40], or select by label",
                    *p);
    char *one = xstrndup(p, MAX_OF(utf8_len(p, strlen(p)), (size_t)1));
    _cleanup_str_ struct str shown = STR_INIT;
    utf8_printable(&shown, one);
    free(one);
    return fail(ps, p, "no node has \"%s\" in its name", str_get(&shown));
}

/* ---- numbers and ranges ---- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(struct parser *ps) {
    while (is_blank(*ps->p))
        ps->p++;
}

struct number {
    unsigned digits;
    uint64_t value;
};

static bool is_padded(struct number n) {
    return n.digits > 1 && n.value < powers_of_ten[n.digits - 1];
}

/* Digits, of which there may be none. */
static int read_digits(struct parser *ps, struct number *out) {
    const char *from = ps->p;
    *out = (struct number){0};
    for (; is_digit(*ps->p); ps->p++) {
        if (out->digits == NODESET_DIGITS_MAX)
            return fail(ps, from, "a number in a range has at most %d digits", NODESET_DIGITS_MAX);
        out->value = out->value * 10 + (uint64_t)(*ps->p - '0');
        out->digits++;
    }
    return 0;
}

static int read_number(struct parser *ps, struct number *out) {
    skip_blanks(ps);
    const char *from = ps->p;
    int rc = read_digits(ps, out);
    if (rc)
        return rc;
    if (!out->digits)
        return *from ? fail(ps, from, "a number is missing") : fail(ps, from, "\"]\" is missing");
    skip_blanks(ps);
    return 0;
}

struct item { /* of a bracket */
    const char *at;
    struct number from, to;
    uint64_t step; /* 0: none */
};

static int read_item(struct parser *ps, struct item *out) {
    skip_blanks(ps);
    *out = (struct item){.at = ps->p};
    int rc = read_number(ps, &out->from);
    if (rc)
        return rc;
    out->to = out->from;
    if (*ps->p == '/')
        return fail(ps, ps->p, "a step needs a range before it, as in 0-10/2");
    if (*ps->p != '-')
        return 0;
    ps->p++;
    rc = read_number(ps, &out->to);
    if (rc)
        return rc;
    if (out->from.digits != out->to.digits && (is_padded(out->from) || is_padded(out->to)))
        return fail(ps, out->at,
                    "with zeros in front, both ends of a range have the same number of digits: "
                    "write 001-100, or 1-100");
    if (out->from.value > out->to.value)
        return fail(ps, out->at, "the range ends before it begins");
    if (*ps->p == '/') {
        const char *slash = ps->p++;
        struct number step;
        rc = read_number(ps, &step);
        if (rc)
            return rc;
        if (!step.value)
            return fail(ps, slash, "a step is at least 1");
        out->step = step.value;
    }
    return 0;
}

/* A pattern, while it is read. */
struct shape {
    struct str text;
    VEC(struct range) ranges; /* of all numbers, one after the other */
    VEC(size_t) ends;         /* where those of each number end in `ranges` */
    size_t longest;           /* name */
};

static void shape_done(struct shape *s) {
    str_done(&s->text);
    vec_done(&s->ranges);
    vec_done(&s->ends);
}

static void end_number(struct shape *s, unsigned digits) {
    *vec_push(&s->ends) = s->ranges.len;
    str_addc(&s->text, PLACEHOLDER);
    s->longest += digits;
}

static unsigned digits_of(uint64_t value) {
    unsigned digits = 1;
    while (digits < NODESET_DIGITS_MAX && value >= powers_of_ten[digits])
        digits++;
    return digits;
}

/* An item without a step, without digits before and behind: an interval for each number of digits.
 */
static void add_interval(struct shape *s, const struct item *item) {
    for (unsigned d = item->from.digits; d <= item->to.digits; d++) {
        uint64_t lo = d == item->from.digits ? item->from.value : powers_of_ten[d - 1];
        uint64_t hi = d == item->to.digits ? item->to.value : powers_of_ten[d] - 1;
        *vec_push(&s->ranges) = (struct range){rank_of(d, lo), rank_of(d, hi)};
    }
}

/* The ranges of an item, with the digits that stand before and behind the bracket. */
static int add_item(struct parser *ps, struct shape *s, const struct item *item,
                    struct number before, struct number behind) {
    unsigned longest = before.digits + item->to.digits + behind.digits;
    bool one_length = item->from.digits == item->to.digits;
    if (longest > NODESET_DIGITS_MAX)
        return fail(ps, item->at, "with the digits beside the bracket a number has more than %d",
                    NODESET_DIGITS_MAX);
    /* 1[9-10] could be 19 and 110, or 19 to 110 as ClusterShell reads it: too dear a mistake. */
    if (before.digits && !one_length)
        return fail(ps, item->at,
                    "after a digit, both ends of a range have the same number of digits: write "
                    "the whole number into the bracket");
    if (item->step && behind.digits)
        return fail(ps, item->at, "a range with a step has no digits behind its bracket");
    uint64_t step = MAX_OF(item->step, UINT64_C(1));
    if (step == 1 && !behind.digits) {
        if (one_length) {
            uint64_t base = before.value * powers_of_ten[item->from.digits];
            *vec_push(&s->ranges) = (struct range){rank_of(longest, base + item->from.value),
                                                   rank_of(longest, base + item->to.value)};
        } else {
            add_interval(s, item);
        }
        return 0;
    }
    uint64_t count = (item->to.value - item->from.value) / step + 1;
    if (count > NODESET_PIECES_MAX || s->ranges.len + count > NODESET_PIECES_MAX) {
        err_set(ps->err, EFBIG, "the range has more than %d separate numbers", NODESET_PIECES_MAX);
        return fail_at(ps, item->at, -EFBIG);
    }
    ps->steps += count * STEPS_OF_NUMBER;
    for (uint64_t v = item->from.value; v <= item->to.value; v += step) {
        unsigned digits = one_length ? item->from.digits : digits_of(v);
        uint64_t whole = before.value * powers_of_ten[digits] + v;
        whole = whole * powers_of_ten[behind.digits] + behind.value;
        uint64_t rank = rank_of(before.digits + digits + behind.digits, whole);
        *vec_push(&s->ranges) = (struct range){rank, rank};
    }
    return 0;
}

/* "[...]" and the digits behind it; those before it have been read. */
static int read_bracket(struct parser *ps, struct shape *s, struct number before) {
    const char *bracket = ps->p;
    VEC(struct item) items = VEC_INIT;
    struct number behind;
    unsigned longest = 0;
    int rc;
    do {
        ps->p++; /* "[" or "," */
        rc = read_item(ps, vec_push(&items));
    } while (!rc && *ps->p == ',');
    if (!rc && *ps->p != ']')
        rc = *ps->p ? fail(ps, ps->p, "in a bracket there are numbers, and between them , or -")
                    : fail(ps, bracket, "\"]\" is missing");
    if (!rc) {
        ps->p++;
        rc = read_digits(ps, &behind);
    }
    if (!rc && *ps->p == '[')
        rc = fail(ps, ps->p, "something must stand between two brackets that is no digit");
    for (size_t i = 0; !rc && i < items.len; i++) {
        rc = add_item(ps, s, &items.p[i], before, behind);
        longest = MAX_OF(longest, items.p[i].to.digits);
    }
    if (!rc)
        end_number(s, before.digits + longest + behind.digits);
    vec_done(&items);
    return rc;
}

/* Digits, and the bracket that they may belong to. */
static int read_number_in_name(struct parser *ps, struct shape *s) {
    const char *from = ps->p;
    size_t len = strspn(from, "0123456789");
    struct number n;
    if (len > NODESET_DIGITS_MAX && from[len] != '[') { /* too long for a number: text */
        str_addn(&s->text, from, len);
        s->longest += len;
        ps->p += len;
        return 0;
    }
    int rc = read_digits(ps, &n);
    if (!rc && *ps->p == '[')
        return read_bracket(ps, s, n);
    if (!rc) {
        uint64_t rank = rank_of(n.digits, n.value);
        *vec_push(&s->ranges) = (struct range){rank, rank};
        end_number(s, n.digits);
    }
    return rc;
}

static int read_shape(struct parser *ps, struct shape *s) {
    const char *from = ps->p;
    int rc = 0;
    while (!rc) {
        if (is_digit(*ps->p))
            rc = read_number_in_name(ps, s);
        else if (*ps->p == '[')
            rc = read_bracket(ps, s, (struct number){0});
        else if (nodeset_name_char(*ps->p)) {
            str_addc(&s->text, *ps->p++);
            s->longest++;
        } else
            break;
        if (!rc && s->longest > NODESET_NAME_MAX)
            rc = fail(ps, from, "a name of a node has at most %d characters", NODESET_NAME_MAX);
    }
    if (!rc && ps->p == from)
        rc = fail_character(ps, false);
    return rc;
}

static int read_pattern(struct parser *ps, struct nodeset *out) {
    const char *from = ps->p;
    struct shape s = {.ranges = VEC_INIT};
    int rc = read_shape(ps, &s);
    if (!rc) {
        const struct axis *axis = AXIS_END;
        for (size_t i = s.ends.len; i-- > 0;) {
            size_t begin = i ? s.ends.p[i - 1] : 0;
            axis = axis_from_ranges(s.ranges.p + begin, s.ends.p[i] - begin, axis);
        }
        nodeset_from_part(str_get(&s.text), (unsigned)s.ends.len, axis, out);
        if (axis->pieces > NODESET_PIECES_MAX) {
            nodeset_done(out);
            rc = fail_at(ps, from, nodeset_too_complicated(ps->err));
        }
    }
    shape_done(&s);
    return rc;
}

/* ---- groups ---- */

/* Asks for one group, "source:name" or "name", and adds what it has to `sum`. */
static int ask_group(struct parser *ps, const char *at, const char *name, struct nodeset_sum *sum) {
    _cleanup_nodeset_ struct nodeset found = NODESET_INIT;
    _cleanup_free_ char *source = NULL;
    const char *colon = strchr(name, ':'), *group = colon ? colon + 1 : name;
    if (colon)
        source = xstrndup(name, (size_t)(colon - name));
    if (!*group || (source && !*source))
        return fail(ps, at, "a group is @NAME or @SOURCE:NAME");
    int rc = ps->groups(ps->arg, source, group, &found, ps->err);
    sum->steps = ps->steps;
    if (!rc)
        rc = nodeset_sum_add(sum, &found, ps->err);
    ps->steps = sum->steps;
    return rc ? fail_at(ps, at, rc) : 0;
}

/* "*" at the end of "@*" and "@source:*": how many characters there are up to it, else 0. */
static size_t all_nodes_len(const char *p) {
    size_t n = 0;
    while (nodeset_name_char(p[n]) && p[n] != ':')
        n++;
    n += n && p[n] == ':';
    return p[n] == '*' && (!n || p[n - 1] == ':') ? n + 1 : 0;
}

static int read_group(struct parser *ps, struct nodeset *out) {
    const char *at = ps->p++;
    _cleanup_nodeset_sum_ struct nodeset_sum sum = NODESET_SUM_INIT;
    _cleanup_nodeset_ struct nodeset names = NODESET_INIT;
    size_t all = all_nodes_len(ps->p);
    int rc = 0;
    if (!ps->groups)
        return fail(ps, at, "groups are not available here: write the names of the nodes");
    if (all) {
        _cleanup_free_ char *name = xstrndup(ps->p, all);
        ps->p += all;
        rc = ask_group(ps, at, name, &sum);
    } else {
        if (!nodeset_name_char(*ps->p) && *ps->p != '[')
            return fail(ps, at, "a group is @NAME or @SOURCE:NAME");
        rc = read_pattern(ps, &names);
        if (rc)
            return rc;
        if (nodeset_count(&names) > NODESET_GROUPS_MAX)
            return fail(ps, at, "more than %d groups at once", NODESET_GROUPS_MAX);
        _cleanup_nodeset_iter_ struct nodeset_iter it = nodeset_iter(&names);
        for (const char *name; !rc && (name = nodeset_next(&it));)
            rc = ask_group(ps, at, name, &sum);
    }
    if (rc)
        return rc;
    rc = nodeset_sum_take(&sum, out, ps->err);
    ps->steps = sum.steps;
    return rc ? fail_at(ps, at, rc) : 0;
}

/* ---- terms and operators ---- */

static const char operators[] = {
    [NODESET_UNION] = ',',
    [NODESET_DIFFERENCE] = '!',
    [NODESET_INTERSECTION] = '&',
    [NODESET_XOR] = '^',
};

static bool read_operator(struct parser *ps, enum nodeset_op *op) {
    for (size_t i = 0; i < sizeof operators; i++)
        if (*ps->p == operators[i]) {
            *op = (enum nodeset_op)i;
            ps->p++;
            return true;
        }
    return false;
}

static int read_term(struct parser *ps, struct nodeset *out) {
    skip_blanks(ps);
    const char *from = ps->p;
    if (!*from)
        return fail(ps, from, "a name is missing at the end");
    if (*from == ')' && !ps->nested)
        return fail_character(ps, false);
    if (*from == ')' || memchr(operators, *from, sizeof operators))
        return fail(ps, from, "a name is missing before \"%c\"", *from);
    if (*from == '@')
        return read_group(ps, out);
    if (*from != '(')
        return read_pattern(ps, out);
    if (ps->nested == NODESET_NESTED_MAX)
        return fail(ps, from, "more than %d parentheses in each other", NODESET_NESTED_MAX);
    ps->nested++;
    ps->p++;
    int rc = read_set(ps, out);
    ps->nested--;
    if (!rc && *ps->p != ')') {
        nodeset_done(out);
        return fail(ps, from, "\")\" is missing");
    }
    ps->p += !rc;
    return rc;
}

/* What was read of a set. Neighbours that are added, or taken away, wait to be put together: so
 * that long lists of them do not go through the whole set for each. */
struct result {
    struct nodeset left;
    struct nodeset_sum waiting;
    enum nodeset_op op; /* what is to be done with those: NODESET_UNION or NODESET_DIFFERENCE */
};

static void result_done(struct result *r) {
    nodeset_done(&r->left);
    nodeset_sum_done(&r->waiting);
}

static int result_settle(struct result *r, struct err *err) {
    _cleanup_nodeset_ struct nodeset all = NODESET_INIT;
    int rc = nodeset_sum_take(&r->waiting, &all, err);
    if (!rc && nodeset_merge(&r->left, r->op, &all, &r->waiting.steps))
        rc = nodeset_too_complicated(err);
    return rc;
}

/* left op term; takes the term. */
static int result_apply(struct result *r, enum nodeset_op op, struct nodeset *term,
                        struct err *err) {
    bool waits = op == NODESET_UNION || op == NODESET_DIFFERENCE;
    if (op != r->op) {
        int rc = result_settle(r, err);
        if (rc)
            return rc;
    }
    if (waits) {
        r->op = op;
        return nodeset_sum_add(&r->waiting, term, err);
    }
    return nodeset_merge(&r->left, op, term, &r->waiting.steps) ? nodeset_too_complicated(err) : 0;
}

/* The terms up to the end of the text or a ")". */
static int read_terms(struct parser *ps, struct result *r) {
    enum nodeset_op op = NODESET_UNION;
    for (;;) {
        _cleanup_nodeset_ struct nodeset term = NODESET_INIT;
        const char *at = ps->p;
        int rc = read_term(ps, &term);
        if (rc)
            return rc;
        r->waiting.steps = ps->steps;
        rc = result_apply(r, op, &term, ps->err);
        ps->steps = r->waiting.steps;
        if (rc)
            return fail_at(ps, at, rc);
        bool blank = is_blank(*ps->p);
        skip_blanks(ps);
        if (!*ps->p || (*ps->p == ')' && ps->nested))
            return 0;
        if (read_operator(ps, &op))
            continue;
        if (blank && nodeset_name_char(*ps->p))
            return fail(ps, ps->p, "between two names stands an operator, not a blank: , ! & ^");
        return fail_character(ps, true);
    }
}

static int read_set(struct parser *ps, struct nodeset *out) {
    struct result r = {.op = NODESET_UNION};
    int rc = read_terms(ps, &r);
    if (!rc) {
        rc = result_settle(&r, ps->err);
        ps->steps = r.waiting.steps;
        if (rc)
            fail_at(ps, ps->p, rc);
    }
    if (!rc) {
        *out = r.left;
        r.left = NODESET_INIT;
    }
    result_done(&r);
    return rc;
}

int nodeset_parse(const char *text, nodeset_groups_fn *groups, void *arg, struct nodeset *out,
                  struct err *err) {
    /* The words of an error are put together in steps, which needs a place for them. */
    _cleanup_err_ struct err words = ERR_INIT;
    struct parser ps = {.text = text, .p = text, .groups = groups, .arg = arg, .err = &words};
    struct nodeset set = NODESET_INIT;
    skip_blanks(&ps);
    int rc = *ps.p ? read_set(&ps, &set) : 0;
    if (rc)
        return err_move(err, &words);
    *out = set;
    return 0;
}
