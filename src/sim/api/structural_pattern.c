/* The parser of patterns: Go's syntax (regexp/syntax, flags Perl), its limits and its words. */
#include "sim/api/structural_pattern.h"

#include <ctype.h>
#include <errno.h>

#include "sim/api/structural_pattern_internal.h"

/* Go's: groups and repetitions within each other, copies by {n}, and how big n may be. */
#define MAX_HEIGHT 1000
#define MAX_REPEAT 1000
#define MAX_NUMBER 100000000
/* Ranges in all sets together: each \pL has some hundreds. */
#define MAX_RANGES 1000000

static int refuse_all(struct parser *p, const char *why) {
    return parser_refuse(p, why, p->text, p->end);
}

/* --- nodes --- */

static struct pnode *node(struct parser *p, enum pnode_kind kind) {
    struct pnode *n = arena_new(&p->arena, struct pnode);
    n->kind = kind;
    n->size = 1;
    n->height = 1;
    return n;
}

static struct pnode *node_assert(struct parser *p, enum passert assertion) {
    struct pnode *n = node(p, PNODE_ASSERT);
    n->assertion = assertion;
    return n;
}

/* Takes the set over. */
static int node_set(struct parser *p, struct runes *set, struct pnode **out) {
    runes_tidy(set);
    p->ranges += set->len;
    if (p->ranges > MAX_RANGES) {
        runes_done(set);
        return refuse_all(p, "expression too large");
    }
    struct pnode *n = node(p, PNODE_SET);
    n->set = p->sets.len;
    *vec_push(&p->sets) = *set;
    *set = RUNES_INIT;
    *out = n;
    return 0;
}

static int node_literal(struct parser *p, uint32_t rune, struct pnode **out) {
    struct runes set = RUNES_INIT;
    runes_add(&set, rune, rune);
    if (p->flags & PATTERN_FOLD)
        runes_fold(&set);
    return node_set(p, &set, out);
}

/* Adds up what a parent needs to know of its children. */
static int node_sum(struct parser *p, struct pnode *n) {
    uint64_t size = 0, children = 0;
    for (const struct pnode *s = n->sub; s; s = s->next) {
        size += s->size;
        children++;
        n->copies = MAX_OF(n->copies, s->copies);
        n->height = MAX_OF(n->height, s->height + 1);
    }
    if (n->kind == PNODE_ALT)
        size += 2 * (children - 1);
    if (n->kind == PNODE_REPEAT) {
        uint64_t copies = (uint64_t)(n->max < 0 ? MAX_OF(n->min, 1) : n->max);
        size = size * copies + 2 * copies + 2;
    }
    n->size = MAX_OF(size, (uint64_t)1);
    if (n->height > MAX_HEIGHT)
        return refuse_all(p, "expression nests too deeply");
    if (n->size > PATTERN_MAX_SIZE)
        return refuse_all(p, "expression too large");
    return 0;
}

/* --- repetitions --- */

/* Digits without a leading zero; -1 when it is too big to count. */
static bool parse_number(const char **at, const char *end, int *out) {
    const char *s = *at;
    if (s == end || !isdigit((unsigned char)*s) ||
        (s[0] == '0' && end - s > 1 && isdigit((unsigned char)s[1])))
        return false;
    int n = 0;
    for (; s < end && isdigit((unsigned char)*s); s++)
        n = n < 0 || n >= MAX_NUMBER ? -1 : n * 10 + (*s - '0');
    *at = s;
    *out = n;
    return true;
}

/* {2}, {2,}, {2,5}; anything else that begins with a brace is a brace. */
static bool parse_counts(const char *at, const char *end, int *min, int *max, const char **rest) {
    at++;
    if (!parse_number(&at, end, min) || at == end)
        return false;
    *max = *min;
    if (*at == ',') {
        if (++at == end)
            return false;
        *max = -1;
        if (*at != '}') {
            if (!parse_number(&at, end, max))
                return false;
            if (*max < 0)
                *min = -1;
        }
    }
    if (at == end || *at != '}')
        return false;
    *rest = at + 1;
    return true;
}

/* At *, +, ? or counts that end at `after`; what is repeated is *top, or NULL. `last` is where the
 * repetition just before began, if there was one. */
static int parse_repeat(struct parser *p, int min, int max, const char *after, const char *last,
                        struct pnode **top) {
    const char *from = p->at;
    bool counted = *from == '{';
    p->at = after;
    if (parser_at(p, '?'))
        p->at++;
    if (last)
        return parser_refuse(p, "invalid nested repetition operator", last, p->at);
    if (!*top)
        return parser_refuse(p, "missing argument to repetition operator", from, p->at);
    struct pnode *n = node(p, PNODE_REPEAT);
    n->min = min;
    n->max = max;
    n->sub = *top;
    int rc = node_sum(p, n);
    if (rc)
        return rc;
    if (counted) {
        uint64_t factor = (uint64_t)(max < 0 ? min : max);
        n->copies = max == 0 ? 0 : MAX_OF(n->copies, (uint64_t)1) * MAX_OF(factor, (uint64_t)1);
        if ((min >= 2 || max >= 2) && n->copies > MAX_REPEAT)
            return parser_refuse(p, "invalid repeat count", from, p->at);
    }
    *top = n;
    return 0;
}

/* --- groups --- */

static int parse_alternatives(struct parser *p, struct pnode **out);

/* "(?P<name>" or "(?<name>": moves behind it. */
static int parse_group_name(struct parser *p, size_t skip) {
    const char *from = p->at, *close = memchr(from, '>', (size_t)(p->end - from));
    if (!close)
        return parser_refuse(p, "invalid named capture", from, p->end);
    bool good = from + skip < close;
    for (const char *s = from + skip; s < close; s++)
        good &= *s == '_' || isalnum((unsigned char)*s);
    if (!good)
        return parser_refuse(p, "invalid named capture", from, close + 1);
    p->at = close + 1;
    return 0;
}

/* "(?i)" or "(?i:" and so on. `opens` says whether a group has begun. */
static int parse_flags(struct parser *p, unsigned *flags, bool *opens) {
    static const char letters[] = "imsU";
    static const unsigned meaning[] = {PATTERN_FOLD, PATTERN_MULTI_LINE, PATTERN_DOT_NL,
                                       PATTERN_UNGREEDY};
    const char *from = p->at;
    bool off = false, any = false;
    p->at += 2;
    while (parser_more(p)) {
        uint32_t c;
        int rc = parser_rune(p, &c);
        if (rc)
            return rc;
        const char *letter = c && c < 0x80 ? strchr(letters, (int)c) : NULL;
        if (letter) {
            unsigned flag = meaning[letter - letters];
            *flags = off ? *flags & ~flag : *flags | flag;
            any = true;
        } else if (c == '-' && !off) {
            off = true;
            any = false;
        } else if ((c == ':' || c == ')') && (!off || any)) {
            *opens = c == ':';
            return 0;
        } else {
            break;
        }
    }
    return parser_refuse(p, "invalid or unsupported Perl syntax", from, p->at);
}

/* At a parenthesis. Leaves *out NULL where only flags were set. */
static int parse_group(struct parser *p, struct pnode **out) {
    unsigned before = p->flags, flags = p->flags;
    size_t left = (size_t)(p->end - p->at);
    bool opens = true;
    int rc = 0;
    if (left >= 2 && p->at[1] == '?') {
        if (left > 4 && p->at[2] == 'P' && p->at[3] == '<')
            rc = parse_group_name(p, 4);
        else if (left > 3 && p->at[2] == '<')
            rc = parse_group_name(p, 3);
        else
            rc = parse_flags(p, &flags, &opens);
    } else {
        p->at++;
    }
    if (rc)
        return rc;
    p->flags = flags;
    if (!opens)
        return 0;
    if (++p->depth > MAX_HEIGHT)
        return refuse_all(p, "expression nests too deeply");
    if ((rc = parse_alternatives(p, out)))
        return rc;
    p->depth--;
    if (!parser_more(p))
        return refuse_all(p, "missing closing )");
    p->at++;
    p->flags = before;
    return 0;
}

/* --- the whole --- */

/* \A, \b and others that are no character: 1 when there was one. */
static int parse_backslash(struct parser *p, struct pnode **out) {
    char c = p->end - p->at >= 2 ? p->at[1] : 0;
    if (c == 'C')
        return parser_refuse(p, "invalid escape sequence", p->at, p->at + 2);
    if (c != 'A' && c != 'z' && c != 'b' && c != 'B')
        return 0;
    p->at += 2;
    *out = node_assert(p, c == 'A'   ? PASSERT_BEGIN_TEXT
                          : c == 'z' ? PASSERT_END_TEXT
                          : c == 'b' ? PASSERT_WORD
                                     : PASSERT_NO_WORD);
    return 1;
}

/* One thing that can be repeated; *out stays NULL when there was none (flags). */
static int parse_atom(struct parser *p, struct pnode **out) {
    uint32_t rune;
    int rc;
    switch (*p->at) {
    case '(':
        return parse_group(p, out);
    case '[': {
        _cleanup_runes_ struct runes set = RUNES_INIT;
        rc = parser_class(p, &set);
        return rc ? rc : node_set(p, &set, out);
    }
    case '^':
        p->at++;
        *out =
            node_assert(p, p->flags & PATTERN_MULTI_LINE ? PASSERT_BEGIN_LINE : PASSERT_BEGIN_TEXT);
        return 0;
    case '$':
        p->at++;
        *out = node_assert(p, p->flags & PATTERN_MULTI_LINE ? PASSERT_END_LINE : PASSERT_END_TEXT);
        return 0;
    case '.': {
        struct runes set = RUNES_INIT;
        p->at++;
        if (!(p->flags & PATTERN_DOT_NL))
            runes_add(&set, '\n', '\n');
        runes_negate(&set);
        return node_set(p, &set, out);
    }
    case '\\': {
        _cleanup_runes_ struct runes set = RUNES_INIT;
        if ((rc = parse_backslash(p, out)))
            return rc < 0 ? rc : 0;
        if ((rc = parser_named_set(p, &set)))
            return rc < 0 ? rc : node_set(p, &set, out);
        rc = parser_escape(p, &rune);
        break;
    }
    default:
        rc = parser_rune(p, &rune);
    }
    return rc ? rc : node_literal(p, rune, out);
}

/* A list of children, in order. */
struct children {
    struct pnode *first, **last;
    struct pnode **top; /* where the last one hangs */
};

static void children_add(struct children *c, struct pnode *n) {
    c->top = c->last;
    *c->last = n;
    c->last = &n->next;
}

/* \Q...\E: each character for itself. */
static int parse_quoted(struct parser *p, struct children *list) {
    p->at += 2;
    const char *close = memmem(p->at, (size_t)(p->end - p->at), "\\E", 2);
    const char *stop = close ? close : p->end;
    while (p->at < stop) {
        uint32_t rune;
        struct pnode *n;
        int rc = parser_rune(p, &rune);
        if (!rc)
            rc = node_literal(p, rune, &n);
        if (rc)
            return rc;
        children_add(list, n);
    }
    if (close)
        p->at = close + 2;
    return 0;
}

static int finish_list(struct parser *p, enum pnode_kind kind, struct pnode *first,
                       struct pnode **out) {
    if (!first || !first->next) {
        *out = first ? first : node(p, PNODE_EMPTY);
        return 0;
    }
    struct pnode *n = node(p, kind);
    n->sub = first;
    *out = n;
    return node_sum(p, n);
}

/* Up to a bar, a closing parenthesis or the end. */
static int parse_sequence(struct parser *p, struct pnode **out) {
    struct children list = {NULL, &list.first, NULL};
    const char *last = NULL;
    while (parser_more(p) && *p->at != '|' && *p->at != ')') {
        const char *from = p->at, *after = from + 1, *repeated = NULL;
        struct pnode *none = NULL, **top = list.top ? list.top : &none;
        int min = *from == '+', max = *from == '?' ? 1 : -1, rc = 0;
        if (strchr("*+?", *from) ||
            (*from == '{' && parse_counts(from, p->end, &min, &max, &after))) {
            if (*from == '{' &&
                (min < 0 || min > MAX_REPEAT || max > MAX_REPEAT || (max >= 0 && min > max)))
                return parser_refuse(p, "invalid repeat count", from, after);
            rc = parse_repeat(p, min, max, after, last, top);
            if (!rc)
                list.last = &(*top)->next;
            repeated = from;
        } else if (p->end - from >= 2 && from[0] == '\\' && from[1] == 'Q') {
            rc = parse_quoted(p, &list);
        } else {
            struct pnode *n = NULL;
            rc = parse_atom(p, &n);
            if (!rc && n)
                children_add(&list, n);
        }
        if (rc)
            return rc;
        last = repeated;
    }
    return finish_list(p, PNODE_CAT, list.first, out);
}

static int parse_alternatives(struct parser *p, struct pnode **out) {
    struct children list = {NULL, &list.first, NULL};
    for (;;) {
        struct pnode *n = NULL;
        int rc = parse_sequence(p, &n);
        if (rc)
            return rc;
        children_add(&list, n);
        if (!parser_at(p, '|'))
            return finish_list(p, PNODE_ALT, list.first, out);
        p->at++;
    }
}

int pattern_compile(const char *text, struct pattern **out, struct err *err) {
    struct parser p = {.text = text, .at = text, .end = text + strlen(text), .err = err};
    struct pnode *tree = NULL;
    int rc = parse_alternatives(&p, &tree);
    if (!rc && parser_more(&p))
        rc = refuse_all(&p, "unexpected )");
    if (!rc)
        *out = pattern_build(tree, &p.sets);
    for (size_t i = 0; i < p.sets.len; i++)
        runes_done(&p.sets.p[i]);
    vec_done(&p.sets);
    arena_done(&p.arena);
    return rc;
}
