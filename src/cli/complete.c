/* Shell completion. */
#include "cli/complete.h"

#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/text.h"
#include "cli/verb.h"

void completion_add(struct completion *c, const char *value, const char *about) {
    if (!str_starts(value, c->prefix))
        return;
    _cleanup_str_ struct str shown = STR_INIT;
    utf8_printable(&shown, value);
    if (!streq(str_get(&shown), value))
        return;
    str_add(&c->out, value);
    if (!str_empty(about)) {
        str_addc(&c->out, '\t');
        utf8_printable(&c->out, about);
    }
    str_addc(&c->out, '\n');
    c->n++;
}

static void add_words(struct completion *c, const char *const *words) {
    for (; words && *words; words++) {
        size_t before = c->n;
        completion_add(c, *words, NULL);
        /* "jsonpath=" goes on. */
        if (c->n > before && str_ends(*words, "="))
            c->directive |= COMPLETE_NO_SPACE;
    }
}

static void add_hint(struct cli *cli, struct completion *c, enum hint hint,
                     const char *const *words) {
    c->directive |= COMPLETE_NO_FILES;
    if (hint == HINT_WORDS)
        add_words(c, words);
    else if (hint == HINT_FILE)
        c->directive &= ~(unsigned)COMPLETE_NO_FILES;
    else if (cli->completer && cli->completer->by_hint[hint])
        cli->completer->by_hint[hint](cli, c);
}

/* The bare flag means another row, and that one was told. */
static bool is_told(const struct option_set *set, size_t before, const struct option *o) {
    for (size_t i = 0; i < before; i++)
        for (const struct option *p = set->items[i].group->rows; p->name; p++)
            if (p->bare_unless && streq(p->name, o->name))
                return true;
    return false;
}

static void add_flags(struct cli *cli, struct completion *c, const struct option_set *set) {
    for (size_t i = 0; i < set->n; i++)
        for (const struct option *o = set->items[i].group->rows; o->name; o++) {
            if (o->hidden)
                continue;
            _cleanup_free_ char *flag = xasprintf("--%s", o->name);
            _cleanup_str_ struct str about = STR_INIT;
            text_expand(&about, o->help, cli->prog);
            if (!is_told(set, i, o))
                completion_add(c, flag, str_get(&about));
            if (o->letter && streq(c->prefix, "-")) {
                char letter[] = {'-', o->letter, '\0'};
                completion_add(c, letter, str_get(&about));
            }
        }
    c->directive |= COMPLETE_NO_FILES;
}

/* The option that "--name=" or "-x=" at the start of `word` means. */
static const struct option *before_equals(const struct option_set *set, const char *word,
                                          size_t len) {
    if (word[1] == '-')
        return options_find(set, word + 2, len - 2, NULL);
    for (size_t i = 0; len == 2 && i < set->n; i++)
        for (const struct option *o = set->items[i].group->rows; o->name; o++)
            if (o->letter == word[1])
                return o;
    return NULL;
}

static void complete_flag(struct cli *cli, struct completion *c, const struct option_set *offered,
                          const struct option_set *accepted, const char *word) {
    const char *equals = strchr(word, '=');
    if (!equals) {
        add_flags(cli, c, offered);
        return;
    }
    const struct option *o = before_equals(accepted, word, (size_t)(equals - word));
    c->prefix = equals + 1;
    c->directive |= COMPLETE_NO_FILES;
    if (o && o->kind == OPTION_FLAG)
        add_words(c, (const char *const[]){"true", "false", NULL});
    else if (o)
        add_hint(cli, c, o->hint, o->words);
}

static void add_verbs(struct completion *c) {
    for (size_t i = 0; verbs[i]; i++)
        if (!verbs[i]->hidden)
            completion_add(c, verbs[i]->name, verbs[i]->summary);
    c->directive |= COMPLETE_NO_FILES;
}

/* What the words before the last one tell. */
struct line {
    const struct verb *verb; /* NULL: not typed yet, or unknown */
    bool unknown_verb;
    int at;                       /* index of the verb */
    int n_args;                   /* arguments of the verb */
    const struct option *waiting; /* the last word is this one's value */
    bool ended;                   /* "--" was seen: no more flags */
};

/* The verb may stand behind flags, and which flags there are depends on the verb: so first with the
 * shared ones until a verb is found, then with its own. */
static void read_line(struct line *line, int argc, char *const *argv, const struct option_set *set,
                      bool with_verb) {
    struct options_walk walk = options_walk(set, argc, argv);
    bool seen_verb = false;
    for (struct option_token t; (t = options_next(&walk)).kind != TOKEN_END;) {
        if (t.kind == TOKEN_NEEDS_VALUE)
            line->waiting = t.row;
        if (t.kind != TOKEN_ARG)
            continue;
        if (seen_verb) {
            line->n_args++;
            continue;
        }
        seen_verb = true;
        if (with_verb)
            continue;
        const struct verb *v = verb_find(argv[t.index]);
        line->verb = v && !v->hidden ? v : NULL;
        line->at = t.index;
        line->unknown_verb = !line->verb;
        return;
    }
    line->ended = walk.ended;
}

static void complete_argument(struct cli *cli, struct completion *c, const struct line *line) {
    c->directive |= COMPLETE_NO_FILES;
    if (line->unknown_verb)
        return;
    if (!line->verb)
        add_verbs(c);
    else if (line->verb->max_args < 0 || line->n_args < line->verb->max_args)
        add_hint(cli, c, line->verb->arg_hint, line->verb->arg_words);
}

void complete_words(struct cli *cli, int argc, char *const *argv, struct str *out) {
    const char *last = argc ? argv[argc - 1] : "";
    int before = argc ? argc - 1 : 0;
    struct general_opts general = {0};
    struct shared_opts shared = {0};
    struct option_set accepted, offered = {0};
    struct line line = {0};
    verb_shared_set(&general, &shared, &accepted);
    options_guess(&accepted, before, argv, cli->env, &cli->arena);
    struct completion c = {.prefix = last, .connection = &shared.connection};

    read_line(&line, before, argv, &accepted, false);
    if (line.verb) {
        line.waiting = NULL;
        verb_option_set(line.verb, NULL, NULL, &offered);
        accepted = offered;
        verb_accept_connection(line.verb, NULL, &accepted);
        accepted.bare_from = line.at;
        read_line(&line, before, argv, &accepted, true);
    } else {
        option_set_add(&offered, &connection_options, NULL);
        option_set_add(&offered, &general_options, NULL);
    }
    if (line.waiting)
        add_hint(cli, &c, line.waiting->hint, line.waiting->words);
    else if (last[0] == '-' && !line.ended)
        complete_flag(cli, &c, &offered, &accepted, last);
    else
        complete_argument(cli, &c, &line);
    str_addn(out, str_get(&c.out), c.out.len);
    str_addf(out, ":%u\n", c.directive);
    str_done(&c.out);
}
