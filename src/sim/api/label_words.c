/* The lexer and the parser of pkg/labels, for their messages. */
#include "sim/api/label_words.h"

#include <stdarg.h>
#include <stdlib.h>

#include "sim/api/names.h"

enum token {
    T_END,
    T_CLOSE,
    T_COMMA,
    T_NOT,
    T_DOUBLE_EQUALS,
    T_EQUALS,
    T_GREATER,
    T_NAME,
    T_IN,
    T_LESS,
    T_NOT_EQUALS,
    T_NOT_IN,
    T_OPEN,
    T_ERROR,
};

struct parser {
    const char *p;
    enum token token;
    struct str text; /* of the token */
    struct str *out;
};

static bool special(char c) {
    return c && strchr("=!(),<>", c);
}
static bool space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Reads the next token. In a list of values `in` and `notin` are plain names. */
static void next(struct parser *s, bool values) {
    static const struct {
        const char *text;
        enum token token;
    } symbols[] = {
        {")", T_CLOSE},          {",", T_COMMA},       {"!", T_NOT},
        {"==", T_DOUBLE_EQUALS}, {"=", T_EQUALS},      {">", T_GREATER},
        {"<", T_LESS},           {"!=", T_NOT_EQUALS}, {"(", T_OPEN},
    };
    while (space(*s->p))
        s->p++;
    str_reset(&s->text);
    if (!*s->p) {
        s->token = T_END;
        return;
    }
    const char *start = s->p;
    if (special(*s->p)) {
        /* The longest run of special characters that still ends in a symbol. */
        size_t best = 0;
        s->token = T_ERROR;
        for (size_t n = 1; special(start[n - 1]); n++)
            for (size_t i = 0; i < ARRAY_LEN(symbols); i++)
                if (strlen(symbols[i].text) == n && strncmp(symbols[i].text, start, n) == 0) {
                    best = n;
                    s->token = symbols[i].token;
                }
        s->p += best ? best : 1;
        str_addn(&s->text, start, (size_t)(s->p - start));
        return;
    }
    while (*s->p && !special(*s->p) && !space(*s->p))
        s->p++;
    str_addn(&s->text, start, (size_t)(s->p - start));
    const char *word = str_get(&s->text);
    s->token = values                 ? T_NAME
               : streq(word, "in")    ? T_IN
               : streq(word, "notin") ? T_NOT_IN
                                      : T_NAME;
}

static bool refuse(struct parser *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(struct parser *s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    str_addvf(s->out, fmt, ap);
    va_end(ap);
    return true;
}

static bool bad_key(struct parser *s, const char *key) {
    _cleanup_problems_ struct problems why = PROBLEMS_INIT;
    name_label_key(key, &why);
    if (!why.v.len)
        return false;
    _cleanup_free_ char *text = problems_join(&why, "; ");
    return refuse(s, "unable to parse requirement: <nil>: Invalid value: \"%s\": %s", key, text);
}

static bool bad_value(struct parser *s, const char *key, size_t i, const char *value) {
    _cleanup_problems_ struct problems why = PROBLEMS_INIT;
    name_label_value(value, &why);
    if (!why.v.len)
        return false;
    _cleanup_free_ char *text = problems_join(&why, "; ");
    return refuse(s, "unable to parse requirement: values[%zu][%s]: Invalid value: \"%s\": %s", i,
                  key, value, text);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "(a, b)": the values, checked in the order of the alphabet, as a set prints. */
static bool bad_values(struct parser *s, const char *key) {
    next(s, true);
    if (s->token != T_OPEN)
        return refuse(s, "unable to parse requirement: found '%s' expected: '('",
                      str_get(&s->text));
    VEC(char *) values = VEC_INIT;
    bool bad = false, want = true;
    next(s, true);
    for (;;) {
        if (s->token == T_NAME && want) {
            *vec_push(&values) = xstrdup(str_get(&s->text));
            want = false;
            next(s, true);
            if (s->token != T_COMMA && s->token != T_CLOSE) {
                bad = refuse(s, "unable to parse requirement: found '%s', expected: ',' or ')'",
                             str_get(&s->text));
                break;
            }
        } else if (s->token == T_COMMA) {
            if (want)
                *vec_push(&values) = xstrdup("");
            want = true;
            next(s, true);
            if (s->token == T_CLOSE) {
                *vec_push(&values) = xstrdup("");
                break;
            }
        } else if (s->token == T_CLOSE) {
            if (want && !values.len)
                *vec_push(&values) = xstrdup("");
            break;
        } else {
            bad = refuse(
                s, "unable to parse requirement: found '%s', expected: ',', ')' or identifier",
                str_get(&s->text));
            break;
        }
    }
    if (!bad && values.len)
        qsort(values.p, values.len, sizeof *values.p, by_text);
    for (size_t i = 0; i < values.len && !bad; i++)
        bad = bad_value(s, key, i, values.p[i]);
    for (size_t i = 0; i < values.len; i++)
        free(values.p[i]);
    vec_done(&values);
    return bad;
}

static bool bad_requirement(struct parser *s) {
    bool not = s->token == T_NOT;
    if (not )
        next(s, false);
    if (s->token != T_NAME && s->token != T_IN && s->token != T_NOT_IN)
        return refuse(s, "unable to parse requirement: found '%s', expected: identifier",
                      str_get(&s->text));
    _cleanup_free_ char *key = xstrdup(str_get(&s->text));
    if (bad_key(s, key))
        return true;
    next(s, false);
    if (not || s->token == T_END || s->token == T_COMMA)
        return false;
    switch (s->token) {
    case T_IN:
    case T_NOT_IN:
        if (bad_values(s, key))
            return true;
        break;
    case T_EQUALS:
    case T_DOUBLE_EQUALS:
    case T_NOT_EQUALS:
    case T_GREATER:
    case T_LESS: {
        bool number = s->token == T_GREATER || s->token == T_LESS;
        const char *before = s->p;
        next(s, true);
        if (s->token == T_END || s->token == T_COMMA) { /* an empty value */
            if (number)
                return refuse(s, "unable to parse requirement: values[0]: Invalid value: \"\": for "
                                 "'Gt', 'Lt' operators, the value must be an integer");
            s->p = before;
            break;
        }
        if (s->token != T_NAME)
            return refuse(s, "unable to parse requirement: found '%s', expected: identifier",
                          str_get(&s->text));
        char *end;
        (void)strtoll(str_get(&s->text), &end, 10);
        if (number && (*end || !s->text.len))
            return refuse(
                s,
                "unable to parse requirement: values[0]: Invalid value: \"%s\": for 'Gt', "
                "'Lt' operators, the value must be an integer",
                str_get(&s->text));
        if (bad_value(s, key, 0, str_get(&s->text)))
            return true;
        break;
    }
    default:
        return refuse(
            s,
            "unable to parse requirement: found '%s', expected: in, notin, =, ==, !=, gt, "
            "lt",
            str_get(&s->text));
    }
    next(s, false);
    return false;
}

bool label_refusal(const char *selector, struct str *out) {
    struct parser s = {.p = selector, .out = out};
    bool bad = false;
    next(&s, false);
    while (!bad && s.token != T_END) {
        if (s.token != T_NAME && s.token != T_NOT && s.token != T_IN && s.token != T_NOT_IN) {
            bad = refuse(&s, "found '%s', expected: !, identifier, or 'end of string'",
                         str_get(&s.text));
            break;
        }
        bad = bad_requirement(&s);
        if (bad || s.token == T_END)
            break;
        if (s.token != T_COMMA) {
            bad = refuse(&s, "found '%s', expected: ',' or 'end of string'", str_get(&s.text));
            break;
        }
        next(&s, false);
        if (s.token != T_NAME && s.token != T_NOT && s.token != T_IN && s.token != T_NOT_IN)
            bad = refuse(&s, "found '%s', expected: identifier after ','", str_get(&s.text));
    }
    str_done(&s.text);
    return bad;
}
