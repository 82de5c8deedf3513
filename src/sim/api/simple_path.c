/* Simple JSON paths: reading and following them. */
#include "sim/api/simple_path.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

/* Nested filters, in the path of a filter: nobody needs many. */
#define MAX_DEPTH 8

enum step_kind { STEP_NAME, STEP_INDEX, STEP_RANGE, STEP_ALL, STEP_FILTER };
enum compare {
    COMPARE_EXISTS,
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE
};

struct step {
    struct step *next;
    enum step_kind kind;
    const char *name;
    int from, to, by;
    bool has_to;
    /* of a filter */
    struct step *path; /* below @ */
    enum compare compare;
    json_t *literal;
};

struct simple_path {
    struct arena arena;
    struct step *first;
    VEC(json_t *) literals;
};

/* --- reading --- */

struct reader {
    struct simple_path *path;
    const char *text, *at, *end;
    int depth;
    struct err *err;
};

static int refuse(const struct reader *r, const char *why) {
    return err_set(r->err, EINVAL, "JSON path \"%s\", column %zu: %s", r->text,
                   (size_t)(r->at - r->text) + 1, why);
}

static bool at(const struct reader *r, char c) {
    return r->at < r->end && *r->at == c;
}

static bool take(struct reader *r, char c) {
    bool there = at(r, c);
    r->at += there;
    return there;
}

static void blanks(struct reader *r) {
    while (take(r, ' '))
        ;
}

static struct step *new_step(struct reader *r, enum step_kind kind) {
    struct step *s = arena_new(&r->path->arena, struct step);
    s->kind = kind;
    return s;
}

/* A name up to what ends one; a backslash takes the meaning off the next character. */
static int read_name(struct reader *r, const char *ends, const char **out) {
    _cleanup_str_ struct str name = STR_INIT;
    while (r->at < r->end && !strchr(ends, *r->at)) {
        if (*r->at == '\\' && ++r->at == r->end)
            return refuse(r, "a backslash at the end");
        str_addc(&name, *r->at++);
    }
    if (!name.len)
        return refuse(r, "a name is missing");
    *out = arena_strndup(&r->path->arena, str_get(&name), name.len);
    return 0;
}

/* At a quote. */
static int read_quoted(struct reader *r, const char **out) {
    _cleanup_str_ struct str text = STR_INIT;
    char quote = *r->at++;
    while (r->at < r->end && *r->at != quote) {
        if (*r->at == '\\' && r->at + 1 < r->end)
            r->at++;
        str_addc(&text, *r->at++);
    }
    if (!take(r, quote))
        return refuse(r, "the quoted text does not end");
    *out = arena_strndup(&r->path->arena, str_get(&text), text.len);
    return 0;
}

/* An optional number; false when there is none. */
static bool read_number(struct reader *r, int *out) {
    const char *begin = r->at;
    bool negative = take(r, '-');
    long n = 0;
    const char *digits = r->at;
    while (r->at < r->end && isdigit((unsigned char)*r->at) && n < INT_MAX / 10)
        n = n * 10 + (*r->at++ - '0');
    if (r->at == digits) {
        r->at = begin;
        return false;
    }
    *out = (int)(negative ? -n : n);
    return true;
}

static int read_steps(struct reader *r, const char *ends, struct step **out);

static int read_literal(struct reader *r, json_t **out) {
    const char *text;
    if (at(r, '\'') || at(r, '"')) {
        int rc = read_quoted(r, &text);
        if (rc)
            return rc;
        *out = json_string_nocheck(text);
    } else {
        int rc = read_name(r, " )", &text);
        if (rc)
            return rc;
        /* What JSON reads is JSON; anything else is no literal. */
        *out = json_loads(text, JSON_DECODE_ANY, NULL);
    }
    if (!*out || json_is_object(*out) || json_is_array(*out)) {
        json_decref(*out);
        return refuse(r, "not a text, a number, true or false");
    }
    *vec_push(&r->path->literals) = *out;
    return 0;
}

static bool read_compare(struct reader *r, enum compare *out) {
    static const struct {
        const char *text;
        enum compare compare;
    } all[] = {{"==", COMPARE_EQ}, {"!=", COMPARE_NE}, {"<=", COMPARE_LE},
               {">=", COMPARE_GE}, {"<", COMPARE_LT},  {">", COMPARE_GT}};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        size_t len = strlen(all[i].text);
        if ((size_t)(r->end - r->at) >= len && !memcmp(r->at, all[i].text, len)) {
            r->at += len;
            *out = all[i].compare;
            return true;
        }
    }
    return false;
}

/* Behind "[?(". */
static int read_filter(struct reader *r, struct step *s) {
    if (++r->depth > MAX_DEPTH)
        return refuse(r, "filters within filters within filters");
    blanks(r);
    if (!take(r, '@'))
        return refuse(r, "a filter begins with @");
    int rc = read_steps(r, " )=!<>", &s->path);
    if (rc)
        return rc;
    blanks(r);
    if (read_compare(r, &s->compare)) {
        blanks(r);
        if ((rc = read_literal(r, &s->literal)))
            return rc;
        blanks(r);
    }
    r->depth--;
    return take(r, ')') ? 0 : refuse(r, "the filter does not end with a parenthesis");
}

/* Behind a bracket. */
static int read_bracket(struct reader *r, struct step **out) {
    struct step *s = *out = new_step(r, STEP_NAME);
    int rc = 0;
    if (take(r, '*')) {
        s->kind = STEP_ALL;
    } else if (at(r, '\'') || at(r, '"')) {
        rc = read_quoted(r, &s->name);
    } else if (r->end - r->at >= 2 && !memcmp(r->at, "?(", 2)) {
        r->at += 2;
        s->kind = STEP_FILTER;
        rc = read_filter(r, s);
    } else {
        bool any = read_number(r, &s->from);
        s->kind = STEP_INDEX;
        s->by = 1;
        if (take(r, ':')) {
            s->kind = STEP_RANGE;
            s->has_to = read_number(r, &s->to);
            if (take(r, ':') && (!read_number(r, &s->by) || s->by <= 0))
                return refuse(r, "a step is a number above 0");
        } else if (!any) {
            return refuse(r, "an index, a quoted name, * or a filter is missing");
        }
    }
    if (rc)
        return rc;
    return take(r, ']') ? 0 : refuse(r, "the bracket does not end");
}

/* Up to one of `ends`, or the end. */
static int read_steps(struct reader *r, const char *ends, struct step **out) {
    _cleanup_free_ char *name_ends = xasprintf(".[%s", ends);
    struct step **last = out;
    *out = NULL;
    while (r->at < r->end && !strchr(ends, *r->at)) {
        struct step *s;
        int rc = 0;
        if (take(r, '[')) {
            rc = read_bracket(r, &s);
        } else if (!take(r, '.')) {
            return refuse(r, "a dot or a bracket is missing");
        } else if (at(r, '.')) {
            return refuse(r, "recursive descent (..) is not simple");
        } else if (r->at == r->end || strchr(ends, *r->at) || at(r, '[')) {
            continue; /* a dot alone is the value itself */
        } else if (take(r, '*')) {
            s = new_step(r, STEP_ALL);
        } else {
            s = new_step(r, STEP_NAME);
            rc = read_name(r, name_ends, &s->name);
        }
        if (rc)
            return rc;
        *last = s;
        last = &s->next;
    }
    return 0;
}

int simple_path_compile(const char *text, struct simple_path **out, struct err *err) {
    struct simple_path *p = xnew(struct simple_path);
    struct reader r = {p, text, text, text + strlen(text), 0, err};
    bool braces = r.end - r.at >= 2 && r.at[0] == '{' && r.end[-1] == '}';
    if (braces) {
        r.at++;
        r.end--;
    }
    take(&r, '$');
    int rc = r.at == r.end ? refuse(&r, "it is empty") : read_steps(&r, "", &p->first);
    if (rc) {
        simple_path_free(p);
        return rc;
    }
    *out = p;
    return 0;
}

void simple_path_free(struct simple_path *p) {
    if (!p)
        return;
    for (size_t i = 0; i < p->literals.len; i++)
        json_decref(p->literals.p[i]);
    vec_done(&p->literals);
    arena_done(&p->arena);
    free(p);
}

/* --- following --- */

/* `failed`: something was asked that has no answer, which ends the search. */
static const json_t *follow(const struct step *s, const json_t *v, bool *failed);

static int order_numbers(double a, double b) {
    return a < b ? -1 : a > b;
}

/* Only values of the same type can be compared. */
static bool compare(const json_t *left, const json_t *right, enum compare how, bool *failed) {
    int order;
    if (json_is_string(left) && json_is_string(right))
        order = strcmp(json_string_value(left), json_string_value(right));
    else if (json_is_number(left) && json_typeof(left) == json_typeof(right))
        order = order_numbers(json_number_value(left), json_number_value(right));
    else if (json_is_boolean(left) && json_is_boolean(right) && how <= COMPARE_NE)
        order = json_typeof(left) != json_typeof(right);
    else
        return !(*failed = true);
    switch (how) {
    case COMPARE_EQ:
        return order == 0;
    case COMPARE_NE:
        return order != 0;
    case COMPARE_LT:
        return order < 0;
    case COMPARE_LE:
        return order <= 0;
    case COMPARE_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

static bool passes(const struct step *filter, const json_t *item, bool *failed) {
    const json_t *left = follow(filter->path, item, failed);
    if (!left)
        return false;
    return filter->compare == COMPARE_EXISTS ||
           compare(left, filter->literal, filter->compare, failed);
}

static const json_t *follow_filter(const struct step *s, const json_t *v, bool *failed) {
    if (!json_is_array(v))
        *failed = true;
    for (size_t i = 0; i < json_array_size(v) && !*failed; i++) {
        const json_t *item = json_array_get(v, i);
        const json_t *found = passes(s, item, failed) ? follow(s->next, item, failed) : NULL;
        if (found && !*failed)
            return found;
    }
    return NULL;
}

static const json_t *follow_all(const struct step *s, const json_t *v, bool *failed) {
    const char *key;
    json_t *member;
    const json_t *found = NULL;
    for (size_t i = 0; i < json_array_size(v) && !found && !*failed; i++)
        found = follow(s->next, json_array_get(v, i), failed);
    json_object_foreach((json_t *)v, key, member) {
        if (found || *failed)
            break;
        found = follow(s->next, member, failed);
    }
    return found;
}

static const json_t *follow_range(const struct step *s, const json_t *v, bool *failed) {
    int len = (int)json_array_size(v);
    int from = s->from < 0 ? s->from + len : s->from;
    int to = !s->has_to ? len : s->to < 0 ? s->to + len : s->to;
    const json_t *found = NULL;
    if (from < 0 || to > len)
        *failed = true;
    for (int i = from; i < to && !found && !*failed; i += s->by)
        found = follow(s->next, json_array_get(v, (size_t)i), failed);
    return found;
}

static const json_t *follow(const struct step *s, const json_t *v, bool *failed) {
    if (!v || !s)
        return v;
    switch (s->kind) {
    case STEP_NAME:
        return follow(s->next, json_object_get(v, s->name), failed);
    case STEP_INDEX: {
        int index = s->from < 0 ? s->from + (int)json_array_size(v) : s->from;
        return index < 0 ? NULL : follow(s->next, json_array_get(v, (size_t)index), failed);
    }
    case STEP_RANGE:
        return follow_range(s, v, failed);
    case STEP_ALL:
        return follow_all(s, v, failed);
    case STEP_FILTER:
        return follow_filter(s, v, failed);
    }
    return NULL;
}

const json_t *simple_path_find(const struct simple_path *p, const json_t *obj) {
    bool failed = false;
    const json_t *found = follow(p->first, obj, &failed);
    return failed ? NULL : found;
}
