/* Command-line options. */
#include "cli/options.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "cli/govalue.h"

bool option_group_shown(const struct option_group *group) {
    const struct option *o = group->rows;
    while (o->name && o->hidden)
        o++;
    return o->name;
}

void option_set_add(struct option_set *set, const struct option_group *group, void *base) {
    assert(set->n < OPTION_SET_MAX);
    set->items[set->n].group = group;
    set->items[set->n].base = base;
    set->n++;
}

/* kubectl takes underscores for dashes. */
static bool same_name(const char *name, const char *typed, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (name[i] != typed[i] && !(name[i] == '-' && typed[i] == '_'))
            return false;
    return true;
}

static const struct option *find_name(const struct option_set *set, const char *name, size_t len,
                                      bool bare, void **base) {
    for (size_t i = 0; i < set->n; i++)
        for (const struct option *o = set->items[i].group->rows; o->name; o++)
            if (strlen(o->name) == len && same_name(o->name, name, len) &&
                !o->bare_unless == !bare) {
                if (base)
                    *base = set->items[i].base;
                return o;
            }
    return NULL;
}

const struct option *options_find(const struct option_set *set, const char *name, size_t len,
                                  void **base) {
    return find_name(set, name, len, false, base);
}

static const struct option *find_letter(const struct option_set *set, char letter, void **base) {
    for (size_t i = 0; i < set->n; i++)
        for (const struct option *o = set->items[i].group->rows; o->name; o++)
            if (o->letter && o->letter == letter) {
                *base = set->items[i].base;
                return o;
            }
    return NULL;
}

/* ---- words to tokens ---- */

struct options_walk options_walk(const struct option_set *set, int argc, char *const *argv) {
    return (struct options_walk){.set = set, .argc = argc, .argv = argv};
}

static bool all_digits(const char *s) {
    return *s && !s[strspn(s, "0123456789")];
}

static bool takes_value(const struct option *o) {
    return o->kind != OPTION_FLAG && !o->implied;
}

/* Takes the next word as the value where the option wants one. */
static void take_value(struct options_walk *w, struct option_token *t) {
    const char *next = w->i < w->argc ? w->argv[w->i] : NULL;
    if (t->value)
        return;
    if (takes_value(t->row) && !next)
        t->kind = TOKEN_NEEDS_VALUE;
    else if (takes_value(t->row) ||
             (next && t->row->kind == OPTION_INT && t->row->implied && all_digits(next)))
        t->value = w->argv[w->i++];
}

/* The row that a flag without a value means, if the verb has one for it. */
static const struct option *find_bare(const struct options_walk *w, struct option_token *t,
                                      const char *name, size_t len) {
    const char *next = w->i < w->argc ? w->argv[w->i] : NULL;
    void *base = NULL;
    const struct option *o = name[len] || t->index < w->set->bare_from
                                 ? NULL
                                 : find_name(w->set, name, len, true, &base);
    if (!o || (next && o->bare_unless(next)))
        return NULL;
    t->base = base;
    return o;
}

static struct option_token next_letter(struct options_walk *w) {
    struct option_token t = {.kind = TOKEN_OPTION, .index = w->i - 1, .typed = w->cluster};
    t.row = find_letter(w->set, *w->cluster++, &t.base);
    if (!t.row) {
        w->cluster = NULL;
        t.kind = TOKEN_UNKNOWN;
        return t;
    }
    const char *rest = w->cluster;
    if (*rest == '=') {
        t.value = rest + 1;
        w->cluster = NULL;
    } else if (!*rest) {
        w->cluster = NULL;
        take_value(w, &t);
    } else if (takes_value(t.row) || (t.row->kind == OPTION_INT && isdigit((unsigned char)*rest))) {
        t.value = rest;
        w->cluster = NULL;
    }
    return t;
}

struct option_token options_next(struct options_walk *w) {
    if (w->cluster)
        return next_letter(w);
    if (w->i >= w->argc)
        return (struct option_token){.kind = TOKEN_END, .index = w->i};
    struct option_token t = {.kind = TOKEN_ARG, .index = w->i};
    const char *word = w->argv[w->i++];
    if (w->ended || word[0] != '-' || !word[1])
        return t;
    if (word[1] != '-') {
        w->cluster = word + 1;
        return next_letter(w);
    }
    if (!word[2]) {
        w->ended = true;
        return options_next(w);
    }
    const char *name = word + 2;
    size_t len = strcspn(name, "=");
    t.row = find_bare(w, &t, name, len);
    if (!t.row)
        t.row = options_find(w->set, name, len, &t.base);
    t.kind = t.row ? TOKEN_OPTION : TOKEN_UNKNOWN;
    if (name[len])
        t.value = name + len + 1;
    if (t.row)
        take_value(w, &t);
    return t;
}

/* ---- values ---- */

static size_t count_words(const char *const *words) {
    size_t n = 0;
    while (words && words[n])
        n++;
    return n;
}

static int parse_word(const struct option *o, const char *s, int *out, struct err *err) {
    size_t n = count_words(o->words);
    for (size_t i = 0; i < n; i++)
        if (streq(o->words[i], s)) {
            *out = (int)i;
            return 0;
        }
    _cleanup_str_ struct str list = STR_INIT;
    for (size_t i = 0; i < n; i++)
        str_addf(&list, "%s%s", !i ? "" : i + 1 < n ? ", " : " or ", o->words[i]);
    return err_set(err, EINVAL, "must be %s", str_get(&list));
}

static void list_append(const char *const **list, const char *s, struct arena *arena) {
    size_t n = count_words(*list);
    const char **grown = arena_alloc(arena, (n + 2) * sizeof *grown);
    for (size_t i = 0; i < n; i++)
        grown[i] = (*list)[i];
    grown[n] = s;
    *list = grown;
}

static int set_value(const struct option *o, void *base, const char *value, struct arena *arena,
                     struct err *err) {
    void *field = (char *)base + o->offset;
    int64_t number;
    switch (o->kind) {
    case OPTION_FLAG:
        return govalue_bool(value, field, err);
    case OPTION_STRING:
        if (o->filled && !*value)
            return err_set(err, EINVAL, "it is empty");
        *(const char **)field = *value ? value : NULL;
        return 0;
    case OPTION_INT:
        if (govalue_int(value, o->min, o->max, &number, err))
            return -EINVAL;
        *(int *)field = (int)number;
        return 0;
    case OPTION_DURATION:
        return govalue_duration(value, true, field, err);
    case OPTION_ENUM:
        return parse_word(o, value, field, err);
    case OPTION_LIST:
        if (*value)
            list_append(field, value, arena);
        return 0;
    case OPTION_PARSED:
        return o->parse(value, arena, field, err);
    }
    return 0;
}

/* ---- errors: pflag's words, and what it does not say as advice ---- */

static const char *nearest_name(const struct option_set *set, const char *typed,
                                struct arena *arena) {
    VEC(const char *) names = VEC_INIT;
    for (size_t i = 0; i < set->n; i++)
        for (const struct option *o = set->items[i].group->rows; o->name; o++)
            if (!o->hidden)
                *vec_push(&names) = o->name;
    const char *near = suggest_nearest(typed, names.p, names.len);
    vec_done(&names);
    return near ? arena_printf(arena, "Did you mean \"--%s\"?", near) : NULL;
}

static int unknown_error(const struct option_set *set, const char *word, const char *letters,
                         struct arena *arena, struct options_fault *fault, struct err *err) {
    _cleanup_free_ char *typed = xstrndup(word, strcspn(word, "="));
    const char *name = typed + strspn(typed, "-");
    /* A letter alone is near to every short name. */
    fault->advice = strlen(name) > 1 ? nearest_name(set, name, arena) : NULL;
    if (letters)
        return err_set(err, EINVAL, "unknown shorthand flag: '%c' in -%s", *letters, letters);
    if (word[2] == '-' || word[2] == '=')
        return err_set(err, EINVAL, "bad flag syntax: %s", word);
    return err_set(err, EINVAL, "unknown flag: %s", typed);
}

static int missing_error(const struct option_token *t, struct options_fault *fault,
                         struct err *err) {
    fault->advice = t->row->advice;
    if (t->typed)
        return err_set(err, EINVAL, "flag needs an argument: '%c' in -%s", *t->typed, t->typed);
    return err_set(err, EINVAL, "flag needs an argument: --%s", t->row->name);
}

/* What a value of the option must be. */
static const char *advice_for(const struct option *o, const char *value, struct arena *arena) {
    if (o->advice)
        return o->advice;
    switch (o->kind) {
    case OPTION_FLAG:
        return "It must be true or false.";
    case OPTION_INT:
        return arena_printf(arena, "It must be a whole number from %d to %d.", o->min, o->max);
    case OPTION_DURATION:
        return "Write for example 90s, 5m, 1h30m or 0.";
    case OPTION_ENUM: {
        const char *near = suggest_nearest(value, o->words, count_words(o->words));
        return near ? arena_printf(arena, "Did you mean \"%s\"?", near) : NULL;
    }
    default:
        return NULL;
    }
}

/* ---- parsing ---- */

struct parser {
    const struct option_set *set;
    struct arena *arena;
    char *(*env)(const char *name);
    struct options_fault *fault;
    VEC(const void *) given; /* fields; several options may share one */
};

static bool was_given(const struct parser *p, const void *field) {
    for (size_t i = 0; i < p->given.len; i++)
        if (p->given.p[i] == field)
            return true;
    return false;
}

static int apply(struct parser *p, const struct option_token *t, struct err *err) {
    if (!t->base)
        return 0;
    const char *value = t->value ? t->value : t->row->implied ? t->row->implied : "true";
    *vec_push(&p->given) = (char *)t->base + t->row->offset;
    if (!set_value(t->row, t->base, value, p->arena, err))
        return 0;
    const struct option *o = t->row;
    *p->fault = (struct options_fault){advice_for(o, value, p->arena), o->late};
    if (!err || o->late)
        return -EINVAL;
    _cleanup_str_ struct str quoted = STR_INIT, name = STR_INIT;
    govalue_quote(&quoted, value);
    if (o->called)
        str_add(&name, o->called);
    else if (o->letter)
        str_addf(&name, "-%c, --%s", o->letter, o->name);
    else
        str_addf(&name, "--%s", o->name);
    return err_set(err, EINVAL, "invalid argument %s for \"%s\" flag: %s", str_get(&quoted),
                   str_get(&name), err_msg(err));
}

/* Environment and defaults, where the command line said nothing. */
static int fill(struct parser *p, const struct option *o, void *base, bool defaults,
                struct err *err) {
    if (was_given(p, (char *)base + o->offset))
        return 0;
    const char *value = o->env ? p->env(o->env) : NULL;
    if (!str_empty(value)) {
        if (set_value(o, base, value, p->arena, err)) {
            p->fault->advice = advice_for(o, value, p->arena);
            return err_wrap(err, "environment variable %s: invalid value \"%s\"", o->env, value);
        }
    } else if (defaults && o->initial) {
        if (set_value(o, base, o->initial, p->arena, err))
            return err_wrap(err, "default of --%s", o->name);
    }
    return 0;
}

static int fill_all(struct parser *p, bool defaults, struct err *err) {
    for (size_t i = 0; i < p->set->n; i++) {
        void *base = p->set->items[i].base;
        for (const struct option *o = p->set->items[i].group->rows; base && o->name; o++) {
            int r = fill(p, o, base, defaults, defaults ? err : NULL);
            if (r && defaults)
                return r;
        }
    }
    return 0;
}

static int parse_words(struct parser *p, int argc, char **argv, int *n_args, struct err *err) {
    struct options_walk walk = options_walk(p->set, argc, argv);
    int n = 0;
    for (;;) {
        struct option_token t = options_next(&walk);
        int r;
        switch (t.kind) {
        case TOKEN_END:
            *n_args = n;
            return fill_all(p, true, err);
        case TOKEN_ARG:
            argv[n++] = argv[t.index]; /* n <= index: what is overwritten was read */
            break;
        case TOKEN_OPTION:
            r = apply(p, &t, err);
            if (r || t.row->stops) {
                *n_args = n;
                return r;
            }
            break;
        case TOKEN_NEEDS_VALUE:
            return missing_error(&t, p->fault, err);
        case TOKEN_UNKNOWN:
            return unknown_error(p->set, argv[t.index], t.typed, p->arena, p->fault, err);
        }
    }
}

int options_parse(const struct option_set *set, int argc, char **argv,
                  char *(*env)(const char *name), struct arena *arena, int *n_args,
                  struct options_fault *fault, struct err *err) {
    struct options_fault unwanted;
    struct parser p = {.set = set,
                       .arena = arena,
                       .env = env,
                       .fault = fault ? fault : &unwanted,
                       .given = VEC_INIT};
    *p.fault = (struct options_fault){0};
    int r = parse_words(&p, argc, argv, n_args, err);
    vec_done(&p.given);
    return r;
}

void options_guess(const struct option_set *set, int argc, char *const *argv,
                   char *(*env)(const char *name), struct arena *arena) {
    struct options_fault unwanted;
    struct parser p = {
        .set = set, .arena = arena, .env = env, .fault = &unwanted, .given = VEC_INIT};
    struct options_walk walk = options_walk(set, argc, argv);
    for (struct option_token t; (t = options_next(&walk)).kind != TOKEN_END;)
        if (t.kind == TOKEN_OPTION)
            apply(&p, &t, NULL);
    fill_all(&p, false, NULL);
    vec_done(&p.given);
}
