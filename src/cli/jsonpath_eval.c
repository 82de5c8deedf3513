/* kubectl's JSONPath: the evaluator. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/jsonpath.h"
#include "cli/jsonpath_internal.h"

static void push(struct jsonpath_values *v, json_t *value) {
    if (value)
        *vec_push(v) = value;
}

static void push_children(struct jsonpath_values *v, json_t *value) {
    size_t i;
    const char *key;
    json_t *child;
    if (json_is_array(value))
        json_array_foreach(value, i, child) push(v, child);
    else if (json_is_object(value))
        json_object_foreach(value, key, child) push(v, child);
}

static void push_all_below(struct jsonpath_values *v, json_t *value) {
    /* Breadth first over the growing list itself: no recursion into a foreign document. */
    size_t i = v->len;
    push(v, value);
    for (; i < v->len; i++)
        push_children(v, v->p[i]);
}

static void eval(const struct step *path, json_t *root, json_t *from, struct jsonpath_values *out);

static json_t *operand_value(const struct operand *o, json_t *root, json_t *at) {
    struct jsonpath_values v = VEC_INIT;
    eval(o->path, root, o->from_root ? root : at, &v);
    json_t *first = v.len ? v.p[0] : NULL;
    vec_done(&v);
    return first;
}

static int order(double a, double b) {
    return a < b ? -1 : a > b;
}

/* -1, 0 or 1; 2 when they cannot be compared. */
static int compare_literal(const json_t *a, const struct operand *b) {
    if (b->kind == LITERAL_TEXT && json_is_string(a)) {
        int r = strcmp(json_string_value(a), b->text);
        return r < 0 ? -1 : r > 0;
    }
    if (b->kind == LITERAL_NUMBER && json_is_number(a))
        return order(json_number_value(a), b->number);
    if (b->kind == LITERAL_BOOL && json_is_boolean(a))
        return order(json_is_true(a), b->number);
    if (b->kind == LITERAL_NULL && json_is_null(a))
        return 0;
    return 2;
}

static int compare_values(const json_t *a, const json_t *b) {
    if (json_is_number(a) && json_is_number(b))
        return order(json_number_value(a), json_number_value(b));
    if (json_is_string(a) && json_is_string(b)) {
        int r = strcmp(json_string_value(a), json_string_value(b));
        return r < 0 ? -1 : r > 0;
    }
    return json_equal(a, b) ? 0 : 2;
}

static int compare_literals(const struct operand *a, const struct operand *b) {
    if (a->kind != b->kind)
        return 2;
    if (a->kind == LITERAL_TEXT) {
        int r = strcmp(a->text, b->text);
        return r < 0 ? -1 : r > 0;
    }
    return a->kind == LITERAL_NULL ? 0 : order(a->number, b->number);
}

static bool passes(const struct step *s, json_t *root, json_t *at) {
    json_t *a = s->left.is_path ? operand_value(&s->left, root, at) : NULL;
    if (s->op == FILTER_EXISTS)
        return a != NULL;
    json_t *b = s->right.is_path ? operand_value(&s->right, root, at) : NULL;
    if ((s->left.is_path && !a) || (s->right.is_path && !b))
        return false;
    int c = a && b ? compare_values(a, b)
            : a    ? compare_literal(a, &s->right)
            : b    ? compare_literal(b, &s->left)
                   : compare_literals(&s->left, &s->right);
    if (b && !a && c != 2)
        c = -c;
    switch (s->op) {
    case FILTER_EQ:
        return c == 0;
    case FILTER_NE:
        return c != 0;
    case FILTER_LT:
        return c == -1;
    case FILTER_LE:
        return c == -1 || c == 0;
    case FILTER_GT:
        return c == 1;
    case FILTER_GE:
        return c == 1 || c == 0;
    case FILTER_EXISTS:
        break;
    }
    return false;
}

static int64_t clamp_index(int64_t i, int64_t n) {
    if (i < 0)
        i += n;
    return i < 0 ? 0 : i > n ? n : i;
}

static void take_step(const struct step *s, json_t *root, json_t *at, struct jsonpath_values *out) {
    int64_t n = json_is_array(at) ? (int64_t)json_array_size(at) : 0;
    switch (s->kind) {
    case STEP_FIELD:
        push(out, json_object_get(at, s->name));
        break;
    case STEP_INDEX: {
        int64_t i = s->from < 0 ? s->from + n : s->from;
        if (i >= 0 && i < n)
            push(out, json_array_get(at, (size_t)i));
        break;
    }
    case STEP_SLICE: {
        int64_t to = s->has_to ? clamp_index(s->to, n) : n;
        for (int64_t i = s->has_from ? clamp_index(s->from, n) : 0; i < to; i += s->by)
            push(out, json_array_get(at, (size_t)i));
        break;
    }
    case STEP_ALL:
        push_children(out, at);
        break;
    case STEP_DESCEND:
        push_all_below(out, at);
        break;
    case STEP_UNION:
        for (const struct step *a = s->alternatives; a; a = a->sibling)
            take_step(a, root, at, out);
        break;
    case STEP_FILTER: {
        struct jsonpath_values children = VEC_INIT;
        push_children(&children, at);
        for (size_t i = 0; i < children.len; i++)
            if (passes(s, root, children.p[i]))
                push(out, children.p[i]);
        vec_done(&children);
        break;
    }
    }
}

static void eval(const struct step *path, json_t *root, json_t *from, struct jsonpath_values *out) {
    struct jsonpath_values now = VEC_INIT;
    push(&now, from);
    for (const struct step *s = path; s; s = s->next) {
        struct jsonpath_values next = VEC_INIT;
        for (size_t i = 0; i < now.len; i++)
            take_step(s, root, now.p[i], &next);
        vec_done(&now);
        now = next;
    }
    for (size_t i = 0; i < now.len; i++)
        push(out, now.p[i]);
    vec_done(&now);
}

void jsonpath_print_value(const json_t *value, struct str *out) {
    if (json_is_string(value)) {
        str_addn(out, json_string_value(value), json_string_length(value));
        return;
    }
    json_add_text(value, out);
}

static void print_parts(const struct jsonpath *part, json_t *root, json_t *at, struct str *out) {
    for (; part; part = part->next) {
        if (part->kind == PART_TEXT) {
            str_add(out, part->text);
            continue;
        }
        struct jsonpath_values v = VEC_INIT;
        eval(part->path, root, part->from_root ? root : at, &v);
        for (size_t i = 0; i < v.len; i++) {
            if (part->kind == PART_RANGE) {
                print_parts(part->body, root, v.p[i], out);
                continue;
            }
            if (i)
                str_addc(out, ' ');
            jsonpath_print_value(v.p[i], out);
        }
        vec_done(&v);
    }
}

void jsonpath_print(const struct jsonpath *path, json_t *doc, struct str *out) {
    print_parts(path, doc, doc, out);
}

void jsonpath_values(const struct jsonpath *path, json_t *doc, struct jsonpath_values *out) {
    for (const struct jsonpath *part = path; part; part = part->next)
        if (part->kind == PART_PATH)
            eval(part->path, doc, doc, out);
}
