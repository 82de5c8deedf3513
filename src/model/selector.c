/* Selectors: matching, checking, and the notation of -l. */
#include "model/selector.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

/* In the order in which requirements of one key are sorted. */
enum op { OP_IN, OP_NOT_IN, OP_EXISTS, OP_NOT_EXISTS, OP_GT, OP_LT, OP_UNKNOWN };

static const char *const op_names[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};

static enum op op_of(const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(op_names); i++)
        if (str_same(name, op_names[i]))
            return (enum op)i;
    return OP_UNKNOWN;
}

/* --- what labels may look like --- */

enum { NAME_MAX_LEN = 63, PREFIX_MAX_LEN = 253 };

static bool is_lower(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c) {
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}

static bool is_name(struct view v) {
    for (size_t i = 0; i < v.len; i++)
        if (!is_alnum(v.p[i]) && v.p[i] != '-' && v.p[i] != '_' && v.p[i] != '.')
            return false;
    return v.len && is_alnum(v.p[0]) && is_alnum(v.p[v.len - 1]);
}

/* Parts of a-z, 0-9 and '-' between dots, none of which begins or ends with '-'. */
static bool is_dns(struct view v) {
    for (size_t i = 0; i < v.len; i++) {
        bool first = i == 0 || v.p[i - 1] == '.', last = i + 1 == v.len || v.p[i + 1] == '.';
        if (!is_lower(v.p[i]) && (first || last || (v.p[i] != '-' && v.p[i] != '.')))
            return false;
    }
    return v.len > 0;
}

const char *label_key_problem(struct view key) {
    const char *slash = key.len ? memchr(key.p, '/', key.len) : NULL;
    struct view name = key;
    if (slash) {
        struct view prefix = {key.p, (size_t)(slash - key.p)};
        name = (struct view){slash + 1, key.len - prefix.len - 1};
        if (memchr(name.p, '/', name.len))
            return "it has more than one \"/\"";
        if (prefix.len > PREFIX_MAX_LEN)
            return "the prefix before its \"/\" is longer than 253 characters";
        if (!is_dns(prefix))
            return "the prefix before its \"/\" must be a DNS name: a-z, 0-9, \"-\" and \".\"";
    }
    if (!name.len)
        return slash ? "there is nothing after its \"/\"" : "it is empty";
    if (name.len > NAME_MAX_LEN)
        return "its name is longer than 63 characters";
    if (!is_name(name))
        return "it must be letters, digits, \"-\", \"_\" and \".\", and begin and end with a "
               "letter "
               "or digit";
    return NULL;
}

const char *label_value_problem(struct view value) {
    if (value.len > NAME_MAX_LEN)
        return "it is longer than 63 characters";
    if (value.len && !is_name(value))
        return "it must be letters, digits, \"-\", \"_\" and \".\", and begin and end with a "
               "letter "
               "or digit";
    return NULL;
}

/* A whole number as Go's strconv.ParseInt() reads it. */
static bool parse_int(const char *s, int64_t *out) {
    bool negative = *s == '-';
    int64_t v = 0;
    if (*s == '-' || *s == '+')
        s++;
    if (!*s)
        return false;
    for (; *s; s++) {
        int digit = negative ? '0' - *s : *s - '0';
        if (*s < '0' || *s > '9' || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, digit, &v))
            return false;
    }
    *out = v;
    return true;
}

/* --- requirements --- */

static bool has_value(const char *const *values, const char *value) {
    for (size_t i = 0; i < list_len(values); i++)
        if (str_same(values[i], value))
            return true;
    return false;
}

/* What the operator says, whether or not the requirement is valid. */
static bool holds(const struct requirement *r, const struct pair *labels) {
    const char *value = map_get(labels, strna(r->key));
    int64_t have, want;
    enum op op = op_of(r->op);
    switch (op) {
    case OP_IN:
        return value && has_value(r->values, value);
    case OP_NOT_IN:
        return !value || !has_value(r->values, value);
    case OP_EXISTS:
        return value;
    case OP_NOT_EXISTS:
        return !value;
    case OP_GT:
    case OP_LT:
        if (!value || list_len(r->values) != 1 || !parse_int(value, &have) ||
            !parse_int(strna(r->values[0]), &want))
            return false;
        return op == OP_GT ? have > want : have < want;
    case OP_UNKNOWN:
        break;
    }
    return false;
}

static int check_values(const struct requirement *r, struct err *err) {
    size_t n = list_len(r->values);
    const char *key = strna(r->key);
    int64_t number;
    switch (op_of(r->op)) {
    case OP_IN:
    case OP_NOT_IN:
        if (!n)
            return err_set(err, EINVAL, "%s of key \"%s\" needs values", r->op, key);
        break;
    case OP_EXISTS:
    case OP_NOT_EXISTS:
        if (n)
            return err_set(err, EINVAL, "%s of key \"%s\" takes no values", r->op, key);
        break;
    case OP_GT:
    case OP_LT:
        if (n != 1 || !parse_int(strna(r->values[0]), &number))
            return err_set(err, EINVAL, "%s of key \"%s\" needs one whole number", r->op, key);
        break;
    case OP_UNKNOWN:
        return err_set(
            err, EINVAL,
            "operator \"%s\" of key \"%s\" is none of In, NotIn, Exists, DoesNotExist, Gt, Lt",
            strna(r->op), key);
    }
    for (size_t i = 0; i < n; i++) {
        const char *problem = label_value_problem(view_of(strna(r->values[i])));
        if (problem)
            return err_set(err, EINVAL, "\"%s\" is no label value: %s", r->values[i], problem);
    }
    return 0;
}

static int check_key(const char *key, struct err *err) {
    const char *problem = label_key_problem(view_of(strna(key)));
    return problem ? err_set(err, EINVAL, "\"%s\" is no label key: %s", strna(key), problem) : 0;
}

int requirement_check(const struct requirement *r, struct err *err) {
    int rc = check_key(r->key, err);
    return rc ? rc : check_values(r, err);
}

/* The check comes last in all of these: most of what is asked does not match, and then need not be
 * looked at further. */
bool requirement_match(const struct requirement *r, const struct pair *labels) {
    return holds(r, labels) && !requirement_check(r, NULL);
}

bool requirements_match(const struct requirement *list, const struct pair *labels) {
    for (size_t i = 0; i < list_len(list); i++)
        if (!requirement_match(&list[i], labels))
            return false;
    return true;
}

/* --- the selectors of PDBs and workloads --- */

int selector_check(const struct label_selector *sel, struct err *err) {
    for (size_t i = 0; sel && i < list_len(sel->labels); i++) {
        const struct pair *p = &sel->labels[i];
        const char *problem = label_value_problem(view_of(strna(p->value)));
        if (check_key(p->key, err)) {
            err_wrap(err, "matchLabels");
            return -EINVAL;
        }
        if (problem)
            return err_set(err, EINVAL, "matchLabels: \"%s\" is no label value: %s", p->value,
                           problem);
    }
    for (size_t i = 0; sel && i < list_len(sel->exprs); i++) {
        const struct requirement *r = &sel->exprs[i];
        enum op op = op_of(r->op);
        if (op == OP_GT || op == OP_LT)
            return err_set(err, EINVAL,
                           "matchExpressions[%zu]: operator \"%s\" of key \"%s\" is none of In, "
                           "NotIn, Exists, DoesNotExist",
                           i, r->op, strna(r->key));
        if (requirement_check(r, err)) {
            err_wrap(err, "matchExpressions[%zu]", i);
            return -EINVAL;
        }
    }
    return 0;
}

bool labels_contain(const struct pair *labels, const struct pair *want) {
    for (size_t i = 0; i < list_len(want); i++) {
        const char *value = map_get(labels, strna(want[i].key));
        if (!value || !str_same(value, want[i].value))
            return false;
    }
    return true;
}

bool selector_match(const struct label_selector *sel, const struct pair *labels) {
    if (!sel || !labels_contain(labels, sel->labels))
        return false;
    for (size_t i = 0; i < list_len(sel->exprs); i++)
        if (!holds(&sel->exprs[i], labels))
            return false;
    return !selector_check(sel, NULL);
}

/* --- node affinity --- */

/* Of a node's fields only its name can be asked for; another field is as if it were empty. */
static bool field_holds(const struct requirement *r, const struct meta *node) {
    const char *value = str_same(r->key, "metadata.name") ? node->name : NULL;
    return has_value(r->values, value) == (op_of(r->op) == OP_IN);
}

static int check_field(const struct requirement *r, struct err *err) {
    enum op op = op_of(r->op);
    if (op != OP_IN && op != OP_NOT_IN)
        return err_set(err, EINVAL, "operator \"%s\" of field \"%s\" is none of In, NotIn",
                       strna(r->op), strna(r->key));
    if (list_len(r->values) != 1)
        return err_set(err, EINVAL, "%s of field \"%s\" needs one value", r->op, strna(r->key));
    return 0;
}

int node_term_check(const struct node_term *term, struct err *err) {
    for (size_t i = 0; i < list_len(term->exprs); i++) {
        if (requirement_check(&term->exprs[i], err)) {
            err_wrap(err, "matchExpressions[%zu]", i);
            return -EINVAL;
        }
    }
    for (size_t i = 0; i < list_len(term->fields); i++) {
        if (check_field(&term->fields[i], err)) {
            err_wrap(err, "matchFields[%zu]", i);
            return -EINVAL;
        }
    }
    return 0;
}

bool node_term_match(const struct node_term *term, const struct meta *node) {
    if (!list_len(term->exprs) && !list_len(term->fields))
        return false;
    for (size_t i = 0; i < list_len(term->exprs); i++)
        if (!holds(&term->exprs[i], node->labels))
            return false;
    for (size_t i = 0; node->name && i < list_len(term->fields); i++)
        if (!field_holds(&term->fields[i], node))
            return false;
    return !node_term_check(term, NULL);
}

int node_selector_check(const struct node_selector *sel, struct err *err) {
    for (size_t i = 0; sel && i < list_len(sel->terms); i++) {
        if (node_term_check(&sel->terms[i], err)) {
            err_wrap(err, "nodeSelectorTerms[%zu]", i);
            return -EINVAL;
        }
    }
    return 0;
}

bool node_selector_match(const struct node_selector *sel, const struct meta *node) {
    for (size_t i = 0; sel && i < list_len(sel->terms); i++)
        if (node_term_match(&sel->terms[i], node))
            return true;
    return false;
}

/* --- printing --- */

static void print_values(struct str *out, const char *const *values) {
    for (size_t i = 0; i < list_len(values); i++) {
        str_add(out, i ? "," : "");
        str_add(out, strna(values[i]));
    }
}

static void requirement_print(struct str *out, const struct requirement *r) {
    static const char *const one[] = {"=", "!=", "", "", ">", "<"};
    static const char *const many[] = {" in (", " notin (", "", "", ">", "<"};
    enum op op = op_of(r->op);
    if (op == OP_UNKNOWN) {
        str_addf(out, "%s %s (", strna(r->key), strna(r->op));
        print_values(out, r->values);
        str_addc(out, ')');
        return;
    }
    bool set = (op == OP_IN || op == OP_NOT_IN) && list_len(r->values) != 1;
    str_add(out, op == OP_NOT_EXISTS ? "!" : "");
    str_add(out, strna(r->key));
    str_add(out, set ? many[op] : one[op]);
    print_values(out, r->values);
    str_add(out, set ? ")" : "");
}

void requirements_print(struct str *out, const struct requirement *list) {
    for (size_t i = 0; i < list_len(list); i++) {
        str_add(out, i ? "," : "");
        requirement_print(out, &list[i]);
    }
}

/* --- parsing --- */

enum token_kind {
    T_END,
    T_WORD,
    T_NOT,
    T_EQUAL,
    T_NOT_EQUAL,
    T_GT,
    T_LT,
    T_OPEN,
    T_CLOSE,
    T_COMMA
};

struct token {
    enum token_kind kind;
    struct view text;
};

struct parser {
    const char *text;
    struct token token; /* the one that comes next */
    struct pool *pool;
    VEC(struct requirement) list;
    struct err *err;
};

static bool is_special(char c) {
    return c && strchr("=!(),<>", c);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void advance(struct parser *p) {
    static const struct {
        const char *text;
        enum token_kind kind;
    } specials[] = {{"==", T_EQUAL}, {"!=", T_NOT_EQUAL}, {"=", T_EQUAL},
                    {"!", T_NOT},    {">", T_GT},         {"<", T_LT},
                    {"(", T_OPEN},   {")", T_CLOSE},      {",", T_COMMA}};
    const char *s = p->token.text.p + p->token.text.len;
    while (is_blank(*s))
        s++;
    for (size_t i = 0; i < ARRAY_LEN(specials); i++) {
        if (str_starts(s, specials[i].text)) {
            p->token = (struct token){specials[i].kind, {s, strlen(specials[i].text)}};
            return;
        }
    }
    size_t n = 0;
    while (s[n] && !is_special(s[n]) && !is_blank(s[n]))
        n++;
    p->token = (struct token){n ? T_WORD : T_END, {s, n}};
}

static bool is_word(const struct parser *p, const char *word) {
    return p->token.kind == T_WORD && view_eq(p->token.text, view_of(word));
}

/* What is wrong with a word, and why. */
static int refuse(struct parser *p, struct view word, const char *what, const char *why) {
    return err_set(p->err, EINVAL, "label selector \"%s\", character %zu: \"%.*s\" is no %s%s%s",
                   p->text, (size_t)(word.p - p->text) + 1, (int)MIN_OF(word.len, (size_t)80),
                   word.p, what, *why ? ": " : "", why);
}

static int expected(struct parser *p, const char *what) {
    if (p->token.kind == T_END)
        return err_set(p->err, EINVAL, "label selector \"%s\" ends too early: expected %s", p->text,
                       what);
    return err_set(p->err, EINVAL,
                   "label selector \"%s\", character %zu: expected %s, not \"%.*s\"", p->text,
                   (size_t)(p->token.text.p - p->text) + 1, what,
                   (int)MIN_OF(p->token.text.len, (size_t)80), p->token.text.p);
}

static int compare_strings(const void *a, const void *b) {
    return strcmp(strna(*(const char *const *)a), strna(*(const char *const *)b));
}

typedef VEC(const char *) strings;

/* Takes the values over; sorted and without duplicates. */
static void add_requirement(struct parser *p, const char *key, enum op op, strings *values) {
    size_t n = 0;
    if (values->len > 1)
        qsort(values->p, values->len, sizeof *values->p, compare_strings);
    for (size_t i = 0; i < values->len; i++)
        if (!i || !str_same(values->p[i], values->p[n - 1]))
            values->p[n++] = values->p[i];
    *vec_push(&p->list) = (struct requirement){
        .key = key,
        .op = op_names[op],
        .values = pool_blob(p->pool, &type_strs, values->p, n * sizeof *values->p),
    };
}

static int add_value(struct parser *p, struct view text, strings *values) {
    const char *problem = label_value_problem(text);
    if (problem)
        return refuse(p, text, "label value", problem);
    *vec_push(values) = pool_str(p->pool, text.p, text.len);
    return 0;
}

/* After "in" or "notin". A value may be empty: "(a,)" is "a" and "". */
static int parse_set(struct parser *p, strings *values) {
    int rc;
    if (p->token.kind != T_OPEN)
        return expected(p, "\"(\" and the values");
    do {
        advance(p);
        struct view text = {p->token.text.p, 0};
        if (p->token.kind == T_WORD) {
            text = p->token.text;
            advance(p);
        }
        if ((rc = add_value(p, text, values)))
            return rc;
    } while (p->token.kind == T_COMMA);
    if (p->token.kind != T_CLOSE)
        return expected(p, "\",\" or \")\"");
    advance(p);
    return 0;
}

/* After "=" and its like; what is missing is the empty value. */
static int parse_value(struct parser *p, enum op op, strings *values) {
    struct view text = {p->token.text.p, 0};
    int64_t number;
    if (p->token.kind == T_WORD) {
        text = p->token.text;
        advance(p);
    } else if (p->token.kind != T_END && p->token.kind != T_COMMA) {
        return expected(p, "a value");
    }
    int rc = add_value(p, text, values);
    if (!rc && (op == OP_GT || op == OP_LT) && !parse_int(strna(values->p[0]), &number))
        return refuse(p, text, "whole number", "");
    return rc;
}

static int parse_operator(struct parser *p, enum op *op, bool *set) {
    *set = is_word(p, "in") || is_word(p, "notin");
    if (*set)
        *op = is_word(p, "in") ? OP_IN : OP_NOT_IN;
    else if (p->token.kind == T_EQUAL)
        *op = OP_IN;
    else if (p->token.kind == T_NOT_EQUAL)
        *op = OP_NOT_IN;
    else if (p->token.kind == T_GT)
        *op = OP_GT;
    else if (p->token.kind == T_LT)
        *op = OP_LT;
    else
        return expected(p, "\",\", =, !=, in, notin, > or <");
    advance(p);
    return 0;
}

static int parse_requirement(struct parser *p) {
    strings values = VEC_INIT;
    enum op op = OP_NOT_EXISTS;
    bool set, negated = p->token.kind == T_NOT;
    int rc = 0;
    if (negated)
        advance(p);
    if (p->token.kind != T_WORD)
        return expected(p, "a label key");
    const char *problem = label_key_problem(p->token.text);
    if (problem)
        return refuse(p, p->token.text, "label key", problem);
    const char *key = pool_str(p->pool, p->token.text.p, p->token.text.len);
    advance(p);
    if (!negated) {
        op = OP_EXISTS;
        if (p->token.kind != T_END && p->token.kind != T_COMMA &&
            !(rc = parse_operator(p, &op, &set)))
            rc = set ? parse_set(p, &values) : parse_value(p, op, &values);
    }
    if (!rc)
        add_requirement(p, key, op, &values);
    vec_done(&values);
    return rc;
}

static int compare_requirements(const void *a, const void *b) {
    const struct requirement *x = a, *y = b;
    int c = strcmp(x->key, y->key);
    if (c)
        return c;
    enum op ox = op_of(x->op), oy = op_of(y->op);
    if (ox != oy)
        return ox < oy ? -1 : 1;
    size_t nx = list_len(x->values), ny = list_len(y->values);
    for (size_t i = 0; !c && i < MIN_OF(nx, ny); i++)
        c = compare_strings(&x->values[i], &y->values[i]);
    return c ? c : (nx > ny) - (nx < ny);
}

/* The list as a pool entry, in normal form. */
static const struct requirement *finish(struct parser *p) {
    size_t n = 0;
    if (p->list.len > 1)
        qsort(p->list.p, p->list.len, sizeof *p->list.p, compare_requirements);
    for (size_t i = 0; i < p->list.len; i++)
        if (!i || compare_requirements(&p->list.p[i], &p->list.p[n - 1]))
            p->list.p[n++] = p->list.p[i];
    return pool_blob(p->pool, op_names, p->list.p, n * sizeof *p->list.p);
}

/* All references end together, with the pool. */
static void keep(struct pool *pool, const void *tag, const void *data, size_t len) {
    (void)pool;
    (void)tag;
    (void)data;
    (void)len;
}

int selector_parse(const char *text, struct selector *out, struct err *err) {
    struct parser p = {.text = text, .token = {T_END, {text, 0}}, .err = err};
    int rc = 0;
    p.pool = pool_new(keep);
    advance(&p);
    bool more = p.token.kind != T_END;
    while (more && !(rc = parse_requirement(&p))) {
        more = p.token.kind == T_COMMA;
        if (more)
            advance(&p);
        else if (p.token.kind != T_END)
            rc = expected(&p, "\",\" or the end");
    }
    if (rc) {
        pool_free(p.pool);
    } else {
        out->list = finish(&p);
        out->pool = p.pool;
    }
    vec_done(&p.list);
    return rc;
}

void selector_done(struct selector *s) {
    pool_free(s->pool);
    *s = (struct selector){0};
}
