/* Sets of characters in patterns: between brackets, by name, and the characters they are made of.
 */
#include <ctype.h>
#include <errno.h>

#include "base/utf8.h"
#include "sim/api/structural_pattern_internal.h"

int parser_refuse(struct parser *p, const char *why, const char *from, const char *to) {
    return err_set(p->err, EINVAL, "error parsing regexp: %s: `%.*s`", why, (int)(to - from), from);
}

/* --- characters --- */

int parser_rune(struct parser *p, uint32_t *rune) {
    *rune = 0xfffd;
    if (!parser_more(p))
        return 0;
    size_t len = utf8_len(p->at, (size_t)(p->end - p->at));
    if (!len)
        return parser_refuse(p, "invalid UTF-8", p->at, p->end);
    *rune = utf8_decode(p->at, len);
    p->at += len;
    return 0;
}

static int hex_digit(uint32_t c) {
    if (c >= '0' && c <= '9')
        return (int)(c - '0');
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? (int)(c - 'a' + 10) : -1;
}

/* After "\x". */
static int parse_hex(struct parser *p, const char *from, uint32_t *rune) {
    uint32_t c, d;
    int rc = parser_rune(p, &c);
    if (rc)
        return rc;
    if (c != '{') {
        if ((rc = parser_rune(p, &d)))
            return rc;
        if (hex_digit(c) < 0 || hex_digit(d) < 0)
            return parser_refuse(p, "invalid escape sequence", from, p->at);
        *rune = (uint32_t)(hex_digit(c) * 16 + hex_digit(d));
        return 0;
    }
    uint32_t value = 0;
    for (int digits = 0;; digits++) {
        if (!parser_more(p))
            break;
        if ((rc = parser_rune(p, &c)))
            return rc;
        if (c == '}' && digits) {
            *rune = value;
            return 0;
        }
        if (hex_digit(c) < 0 || (value = value * 16 + (uint32_t)hex_digit(c)) > RUNE_MAX)
            break;
    }
    return parser_refuse(p, "invalid escape sequence", from, p->at);
}

int parser_escape(struct parser *p, uint32_t *rune) {
    static const char letters[] = "afnrtv", meaning[] = "\a\f\n\r\t\v";
    const char *from = p->at++;
    uint32_t c;
    if (!parser_more(p))
        return parser_refuse(p, "trailing backslash at end of expression", from, from);
    int rc = parser_rune(p, &c);
    if (rc)
        return rc;
    bool octal_follows = parser_more(p) && *p->at >= '0' && *p->at <= '7';
    if (c == '0' || (c >= '1' && c <= '7' && octal_follows)) {
        uint32_t value = c - '0';
        for (int i = 1; i < 3 && parser_more(p) && *p->at >= '0' && *p->at <= '7'; i++)
            value = value * 8 + (uint32_t)(*p->at++ - '0');
        *rune = value;
        return 0;
    }
    if (c == 'x' && parser_more(p))
        return parse_hex(p, from, rune);
    const char *letter = c && c < 0x80 ? strchr(letters, (int)c) : NULL;
    if (letter) {
        *rune = (uint32_t)meaning[letter - letters];
        return 0;
    }
    if (c < 0x80 && !isalnum((int)c)) {
        *rune = c;
        return 0;
    }
    return parser_refuse(p, "invalid escape sequence", from, p->at);
}

/* --- sets with a name --- */

struct group {
    const char *name;
    struct rune_range ranges[5];
};

static const struct group perl_groups[] = {
    {"d", {{'0', '9'}}},
    {"s", {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}},
    {"w", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
};

static const struct group posix_groups[] = {
    {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
    {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
    {"ascii", {{0, 0x7f}}},
    {"blank", {{'\t', '\t'}, {' ', ' '}}},
    {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
    {"digit", {{'0', '9'}}},
    {"graph", {{'!', '~'}}},
    {"lower", {{'a', 'z'}}},
    {"print", {{' ', '~'}}},
    {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
    {"space", {{'\t', '\r'}, {' ', ' '}}},
    {"upper", {{'A', 'Z'}}},
    {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
    {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
};

/* Adds a part that is folded, then negated, by itself. */
static void add_part(const struct parser *p, struct runes *set, struct runes *part, bool negated) {
    runes_tidy(part);
    if (p->flags & PATTERN_FOLD) {
        runes_fold(part);
        runes_tidy(part);
    }
    if (negated)
        runes_negate(part);
    runes_add_set(set, part);
    runes_done(part);
}

static bool add_group(const struct parser *p, struct runes *set, const struct group *groups,
                      size_t n, struct view name, bool negated) {
    for (size_t i = 0; i < n; i++) {
        if (!view_eq(view_of(groups[i].name), name))
            continue;
        struct runes part = RUNES_INIT;
        for (size_t k = 0; k < ARRAY_LEN(groups[i].ranges); k++)
            if (groups[i].ranges[k].hi)
                runes_add(&part, groups[i].ranges[k].lo, groups[i].ranges[k].hi);
        add_part(p, set, &part, negated);
        return true;
    }
    return false;
}

/* \d, \D, ...: 1 when there was one. */
static int parse_perl_set(struct parser *p, struct runes *set) {
    if (p->end - p->at < 2 || p->at[0] != '\\' || !isalpha((unsigned char)p->at[1]))
        return 0;
    char name = (char)tolower((unsigned char)p->at[1]);
    if (!add_group(p, set, perl_groups, ARRAY_LEN(perl_groups), (struct view){&name, 1},
                   isupper((unsigned char)p->at[1])))
        return 0;
    p->at += 2;
    return 1;
}

/* [:alpha:], [:^alpha:]: 1 when there was one. */
static int parse_posix_set(struct parser *p, struct runes *set) {
    size_t left = (size_t)(p->end - p->at);
    if (left < 3 || p->at[0] != '[' || p->at[1] != ':')
        return 0;
    const char *close = memmem(p->at + 2, left - 2, ":]", 2);
    if (!close)
        return 0;
    const char *name = p->at + 2;
    bool negated = *name == '^';
    name += negated;
    if (name > close || !add_group(p, set, posix_groups, ARRAY_LEN(posix_groups),
                                   (struct view){name, (size_t)(close - name)}, negated))
        return parser_refuse(p, "invalid character class range", p->at, close + 2);
    p->at = close + 2;
    return 1;
}

/* \pL, \p{Greek}, \P{^Lu}: 1 when there was one. */
static int parse_unicode_set(struct parser *p, struct runes *set) {
    if (p->end - p->at < 2 || p->at[0] != '\\' || (p->at[1] != 'p' && p->at[1] != 'P'))
        return 0;
    const char *from = p->at;
    bool negated = from[1] == 'P';
    struct view name;
    if (p->end - from > 2 && from[2] == '{') {
        const char *close = memchr(from, '}', (size_t)(p->end - from));
        if (!close)
            return parser_refuse(p, "invalid character class range", from, p->end);
        name = (struct view){from + 3, (size_t)(close - from - 3)};
        p->at = close + 1;
    } else {
        uint32_t rune;
        p->at += 2;
        int rc = parser_rune(p, &rune);
        if (rc)
            return rc;
        name = (struct view){from + 2, (size_t)(p->at - from - 2)};
    }
    if (name.len && name.p[0] == '^') {
        negated = !negated;
        name.p++;
        name.len--;
    }
    struct runes part = RUNES_INIT;
    if (!runes_add_named(&part, name))
        return parser_refuse(p, "invalid character class range", from, p->at);
    add_part(p, set, &part, negated);
    return 1;
}

/* A set by one of the names that may stand within brackets and, but for POSIX', without. */
int parser_named_set(struct parser *p, struct runes *set) {
    int rc = parse_unicode_set(p, set);
    return rc ? rc : parse_perl_set(p, set);
}

/* --- [...] --- */

static int parse_class_char(struct parser *p, const char *class, uint32_t *rune) {
    if (!parser_more(p))
        return parser_refuse(p, "missing closing ]", class, p->end);
    return *p->at == '\\' ? parser_escape(p, rune) : parser_rune(p, rune);
}

static int parse_range(struct parser *p, const char *class, struct runes *set) {
    const char *from = p->at;
    uint32_t lo, hi;
    int rc = parse_class_char(p, class, &lo);
    if (rc)
        return rc;
    hi = lo;
    if (p->end - p->at >= 2 && p->at[0] == '-' && p->at[1] != ']') {
        p->at++;
        if ((rc = parse_class_char(p, class, &hi)))
            return rc;
        if (hi < lo)
            return parser_refuse(p, "invalid character class range", from, p->at);
    }
    struct runes part = RUNES_INIT;
    runes_add(&part, lo, hi);
    add_part(p, set, &part, false);
    return 0;
}

int parser_class(struct parser *p, struct runes *set) {
    const char *class = p->at++;
    bool negated = parser_at(p, '^');
    p->at += negated;
    for (bool first = true; !parser_at(p, ']') || first; first = false) {
        int rc = parse_posix_set(p, set);
        if (!rc)
            rc = parser_named_set(p, set);
        if (!rc)
            rc = parse_range(p, class, set);
        if (rc < 0)
            return rc;
    }
    p->at++;
    runes_tidy(set);
    if (negated)
        runes_negate(set);
    return 0;
}
