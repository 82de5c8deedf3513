/* kubectl's JSONPath: the parser. */
#include "cli/jsonpath.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/jsonpath_internal.h"

enum { MAX_NESTING = 16 }; /* of ranges and filters: a template is typed by hand */

struct parser {
    const char *start, *p;
    struct arena *arena;
    struct err *err;
    int depth;
};

static int fail(struct parser *p, const char *what) {
    return err_set(p->err, EINVAL, "jsonpath \"%s\", column %td: %s", p->start, p->p - p->start + 1,
                   what);
}

static void skip_blanks(struct parser *p) {
    while (isspace((unsigned char)*p->p))
        p->p++;
}

/* A quoted text with the escapes of Go and C that people use in templates. */
static int parse_quoted(struct parser *p, const char **out) {
    char quote = *p->p++;
    const char *end = p->p;
    while (*end && *end != quote)
        end += *end == '\\' && end[1] ? 2 : 1;
    char *text = arena_alloc(p->arena, (size_t)(end - p->p) + 1);
    size_t n = 0;
    for (; *p->p && *p->p != quote; p->p++) {
        if (*p->p != '\\') {
            text[n++] = *p->p;
            continue;
        }
        static const char from[] = "ntr\\\"'/", to[] = "\n\t\r\\\"'/";
        const char *known = p->p[1] ? strchr(from, p->p[1]) : NULL;
        if (!known)
            return fail(p, "unknown escape; write \\n, \\t, \\r, \\\\ or a quote");
        text[n++] = to[known - from];
        p->p++;
    }
    if (!*p->p)
        return fail(p, "a quote is not closed");
    p->p++;
    *out = text;
    return 0;
}

/* A bare name; a backslash takes the next character as it is, so that names may contain dots. */
static int parse_name(struct parser *p, const char **out) {
    const char *end = p->p;
    while (*end && !strchr(".[]{}()=!<>,'\" \t\n", *end))
        end += *end == '\\' && end[1] ? 2 : 1;
    if (end == p->p)
        return fail(p, "a name is missing");
    char *text = arena_alloc(p->arena, (size_t)(end - p->p) + 1);
    for (size_t n = 0; p->p < end; p->p++) {
        if (*p->p == '\\' && p->p + 1 < end)
            p->p++;
        text[n++] = *p->p;
    }
    *out = text;
    return 0;
}

static int parse_number(struct parser *p, int *out) {
    char *end;
    errno = 0;
    long v = strtol(p->p, &end, 10);
    if (errno || v > INT_MAX || v < INT_MIN + 1)
        return fail(p, "the index is too large");
    p->p = end;
    *out = (int)v;
    return 0;
}

static bool at_number(const struct parser *p) {
    return isdigit((unsigned char)*p->p) || (*p->p == '-' && isdigit((unsigned char)p->p[1]));
}

static int parse_path(struct parser *p, bool *from_root, const struct step **out);

static int parse_operand(struct parser *p, struct operand *out) {
    skip_blanks(p);
    if (*p->p == '@' || *p->p == '$') {
        out->is_path = true;
        return parse_path(p, &out->from_root, &out->path);
    }
    if (*p->p == '"' || *p->p == '\'') {
        out->kind = LITERAL_TEXT;
        return parse_quoted(p, &out->text);
    }
    if (at_number(p)) {
        char *end;
        out->kind = LITERAL_NUMBER;
        out->number = strtod(p->p, &end);
        p->p = end;
        return 0;
    }
    const char *word;
    int r = parse_name(p, &word);
    if (r)
        return r;
    if (streq(word, "null")) {
        out->kind = LITERAL_NULL;
        return 0;
    }
    if (!streq(word, "true") && !streq(word, "false"))
        return fail(p, "expected @.path, a quoted text, a number, true, false or null");
    out->kind = LITERAL_BOOL;
    out->number = streq(word, "true");
    return 0;
}

static int parse_filter(struct parser *p, struct step *s) {
    static const struct {
        const char *text;
        enum filter_op op;
    } ops[] = {{"==", FILTER_EQ}, {"!=", FILTER_NE}, {"<=", FILTER_LE},
               {">=", FILTER_GE}, {"<", FILTER_LT},  {">", FILTER_GT}};
    s->kind = STEP_FILTER;
    p->p += 2; /* "?(" */
    int r = parse_operand(p, &s->left);
    if (r)
        return r;
    skip_blanks(p);
    for (size_t i = 0; i < ARRAY_LEN(ops) && !s->op; i++)
        if (str_starts(p->p, ops[i].text)) {
            s->op = ops[i].op;
            p->p += strlen(ops[i].text);
        }
    if (s->op) {
        r = parse_operand(p, &s->right);
        if (r)
            return r;
        skip_blanks(p);
    } else if (!s->left.is_path) {
        return fail(p, "expected ==, !=, <, <=, > or >=");
    }
    if (*p->p++ != ')') {
        p->p--;
        return fail(p, "expected ) at the end of the filter");
    }
    return 0;
}

/* What stands between brackets, or one alternative of it. */
static int parse_subscript(struct parser *p, struct step *s) {
    skip_blanks(p);
    int r = 0;
    if (*p->p == '*') {
        p->p++;
        s->kind = STEP_ALL;
    } else if (*p->p == '\'' || *p->p == '"') {
        s->kind = STEP_FIELD;
        r = parse_quoted(p, &s->name);
    } else if (p->p[0] == '?' && p->p[1] == '(') {
        r = parse_filter(p, s);
    } else if (at_number(p) || *p->p == ':') {
        s->kind = STEP_INDEX;
        s->by = 1;
        if (at_number(p)) {
            s->has_from = true;
            r = parse_number(p, &s->from);
        }
        if (!r && *p->p == ':') {
            p->p++;
            s->kind = STEP_SLICE;
            s->has_to = at_number(p);
            if (s->has_to)
                r = parse_number(p, &s->to);
            if (!r && *p->p == ':') {
                p->p++;
                r = parse_number(p, &s->by);
                if (!r && s->by < 1)
                    r = fail(p, "the step of a slice must be 1 or more");
            }
        }
    } else {
        return fail(p, "expected a number, *, 'name' or ?(filter) after [");
    }
    skip_blanks(p);
    return r;
}

static int parse_brackets(struct parser *p, struct step *s) {
    p->p++;
    int r = parse_subscript(p, s);
    if (r)
        return r;
    if (*p->p == ',') {
        struct step *first = arena_new(p->arena, struct step), *last = first;
        *first = *s;
        while (*p->p == ',') {
            p->p++;
            struct step *more = arena_new(p->arena, struct step);
            r = parse_subscript(p, more);
            if (r)
                return r;
            last->sibling = more;
            last = more;
        }
        *s = (struct step){.kind = STEP_UNION, .alternatives = first};
    }
    if (*p->p != ']')
        return fail(p, "expected ]");
    p->p++;
    return 0;
}

/* The steps after $, @ or nothing. */
static int parse_path(struct parser *p, bool *from_root, const struct step **out) {
    const struct step **tail = out;
    if (++p->depth > MAX_NESTING)
        return fail(p, "too many ranges or filters inside each other");
    *from_root = *p->p == '$';
    if (*p->p == '$' || *p->p == '@')
        p->p++;
    for (;;) {
        struct step *s = arena_new(p->arena, struct step);
        int r = 0;
        if (p->p[0] == '.' && p->p[1] == '.') {
            s->kind = STEP_DESCEND;
            p->p++; /* the second dot begins the next step */
            if (p->p[1] == '[')
                p->p++;
        } else if (p->p[0] == '.' && p->p[1] == '*') {
            p->p += 2;
            s->kind = STEP_ALL;
        } else if (p->p[0] == '.' && p->p[1] == '[') {
            p->p++;
            r = parse_brackets(p, s);
        } else if (p->p[0] == '.') {
            p->p++;
            /* "{.}" is the whole document. */
            if (tail == out && (!*p->p || *p->p == '}'))
                break;
            s->kind = STEP_FIELD;
            r = parse_name(p, &s->name);
        } else if (p->p[0] == '[') {
            r = parse_brackets(p, s);
        } else {
            break;
        }
        if (r)
            return r;
        *tail = s;
        tail = &s->next;
    }
    p->depth--;
    return 0;
}

static bool at_word(const struct parser *p, const char *word) {
    size_t n = strlen(word);
    return !strncmp(p->p, word, n) && (isspace((unsigned char)p->p[n]) || p->p[n] == '}');
}

static int parse_parts(struct parser *p, bool in_range, const struct jsonpath **out);

/* After the opening brace. *ended: it was {end}. */
static int parse_braces(struct parser *p, bool in_range, struct jsonpath *part, bool *ended) {
    skip_blanks(p);
    int r = 0;
    bool range = false;
    if (at_word(p, "end")) {
        if (!in_range)
            return fail(p, "{end} without {range}");
        p->p += 3;
        *ended = true;
    } else if (*p->p == '"' || *p->p == '\'') {
        part->kind = PART_TEXT;
        r = parse_quoted(p, &part->text);
    } else {
        part->kind = PART_PATH;
        range = at_word(p, "range");
        if (range) {
            p->p += 5;
            skip_blanks(p);
            part->kind = PART_RANGE;
        }
        if (!*p->p || !strchr("$@.[", *p->p))
            return fail(p, "expected a path such as .metadata.name");
        r = parse_path(p, &part->from_root, &part->path);
    }
    if (r)
        return r;
    skip_blanks(p);
    if (*p->p != '}')
        return fail(p, *p->p ? "unexpected character" : "a brace is not closed");
    p->p++;
    return range ? parse_parts(p, true, &part->body) : 0;
}

static int parse_parts(struct parser *p, bool in_range, const struct jsonpath **out) {
    if (++p->depth > MAX_NESTING)
        return fail(p, "too many ranges or filters inside each other");
    while (*p->p) {
        struct jsonpath *part = arena_new(p->arena, struct jsonpath);
        if (*p->p != '{') {
            size_t n = strcspn(p->p, "{");
            part->kind = PART_TEXT;
            part->text = arena_strndup(p->arena, p->p, n);
            p->p += n;
        } else {
            p->p++;
            bool ended = false;
            int r = parse_braces(p, in_range, part, &ended);
            if (r)
                return r;
            if (ended) {
                p->depth--;
                return 0;
            }
        }
        *out = part;
        out = &part->next;
    }
    p->depth--;
    return in_range ? fail(p, "{range} without {end}") : 0;
}

int jsonpath_parse(const char *text, struct arena *arena, const struct jsonpath **out,
                   struct err *err) {
    struct parser p = {.start = text, .p = text, .arena = arena, .err = err};
    const struct jsonpath *parts = NULL;
    if (!*text)
        return err_set(err, EINVAL,
                       "jsonpath is empty: write for example jsonpath='{.items[*].name}'");
    int r;
    if (strchr(text, '{')) {
        r = parse_parts(&p, false, &parts);
    } else {
        struct jsonpath *part = arena_new(arena, struct jsonpath);
        part->kind = PART_PATH;
        if (!strchr("$@.[", *text))
            return fail(&p, "expected a path such as {.metadata.name}");
        r = parse_path(&p, &part->from_root, &part->path);
        if (!r && *p.p)
            r = fail(&p, "unexpected character");
        parts = part;
    }
    if (!r)
        *out = parts;
    return r;
}
