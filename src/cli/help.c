/* Help texts. */
#include "cli/help.h"

#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/text.h"
#include "cli/topics.h"
#include "cli/verb.h"

enum {
    VERB_COLUMN = 16,   /* where the summary of a verb begins */
    OPTION_COLUMN = 30, /* where the help of an option begins */
};

const char help_what[] =
    "Slipway takes Kubernetes nodes out of service and puts them back, as many at a time as the "
    "cluster can bear, and always says why it is waiting.";

static void item(struct str *out, const char *name, const char *text, size_t column) {
    size_t start = out->len;
    str_addf(out, "  %-*s", (int)column - 2, name);
    text_fill(out, text, out->len - start, column);
}

static void heading(struct str *out, const char *title) {
    str_addf(out, "\n%s:\n", title);
}

void help_overview(const char *prog, struct str *out) {
    text_fill(out, help_what, 0, 0);
    heading(out, "Commonest verbs");
    for (size_t i = 0; verbs[i]; i++)
        if (verbs[i]->common)
            item(out, verbs[i]->name, verbs[i]->summary, VERB_COLUMN);
    str_addf(out, "\nRun '%s help' for all verbs, '%s VERB --help' for one.\n", prog, prog);
}

void help_index(const char *prog, struct str *out) {
    text_fill(out, help_what, 0, 0);
    heading(out, "Usage");
    str_addf(out, "  %s VERB [ARGUMENTS] [flags]\n", prog);
    heading(out, "Verbs");
    for (size_t i = 0; verbs[i]; i++)
        if (!verbs[i]->hidden)
            item(out, verbs[i]->name, verbs[i]->summary, VERB_COLUMN);
    heading(out, "Topics");
    for (size_t i = 0; i < n_topics; i++)
        item(out, topics[i].name, topics[i].summary, VERB_COLUMN);
    str_addf(out, "\nRun '%s help NAME' for a verb or a topic.\n", prog);
}

void help_synopsis(const struct verb *verb, struct str *out) {
    str_add(out, verb->name);
    if (verb->args)
        str_addf(out, " %s", verb->args);
    str_add(out, " [flags]");
}

void help_spelling(const struct option *o, struct str *out) {
    if (o->letter)
        str_addf(out, "-%c, ", o->letter);
    else
        str_add(out, "    ");
    str_addf(out, "--%s", o->name);
    if (o->kind != OPTION_FLAG && !o->bare_unless)
        str_addf(out, o->implied ? "[=%s]" : "=%s", o->arg);
}

static void add_option(const char *prog, const struct option *o, struct str *out) {
    _cleanup_str_ struct str left = STR_INIT, text = STR_INIT;
    help_spelling(o, &left);
    text_expand(&text, o->help, prog);
    if (o->initial)
        str_addf(&text, " (default %s)", o->initial);
    if (left.len + 4 <= OPTION_COLUMN) {
        item(out, str_get(&left), str_get(&text), OPTION_COLUMN);
        return;
    }
    str_addf(out, "  %s\n%*s", str_get(&left), OPTION_COLUMN, "");
    text_fill(out, str_get(&text), OPTION_COLUMN, OPTION_COLUMN);
}

static void add_options(const char *prog, const struct option_group *group, struct str *out) {
    if (option_group_shown(group))
        heading(out, group->title);
    for (const struct option *o = group->rows; o->name; o++)
        if (!o->hidden)
            add_option(prog, o, out);
}

/* Commands are whole on a line. */
static void see_also(const char *prog, const char *const names[], struct str *out) {
    size_t start = out->len;
    str_add(out, "See also:");
    for (size_t i = 0; names[i]; i++) {
        _cleanup_free_ char *one =
            xasprintf(" '%s %s%s'%s", prog, topic_find(names[i]) ? "help " : "", names[i],
                      names[i + 1] ? "," : "");
        if (out->len - start + strlen(one) > TEXT_WIDTH) {
            str_addc(out, '\n');
            start = out->len;
            str_add(out, "         ");
        }
        str_add(out, one);
    }
    str_addc(out, '\n');
}

void help_verb(const char *prog, const struct verb *verb, struct str *out) {
    text_fill(out, verb->summary, 0, 0);
    heading(out, "Examples");
    for (size_t i = 0; i < VERB_EXAMPLES; i++) {
        str_addf(out, "  # %s\n  ", verb->examples[i].what);
        str_addf(out, "%s %s\n", prog, verb->examples[i].line);
    }
    heading(out, "Usage");
    str_addf(out, "  %s ", prog);
    help_synopsis(verb, out);
    str_add(out, "\n\n");
    text_add(out, verb->text, prog, 0);
    for (const struct verb_options *o = verb->options; o && o->group; o++)
        add_options(prog, o->group, out);
    add_options(prog, &general_options, out);
    heading(out, "Exit codes");
    for (size_t i = 0; i < n_exit_rows; i++)
        if (exit_is_used_by(exit_rows[i].code, verb)) {
            str_addf(out, "  %3d   ", exit_rows[i].code);
            text_fill(out, exit_rows[i].meaning, 8, 8);
        }
    if (!verb->see_also || !verb->see_also[0])
        return;
    str_add(out, "\n");
    see_also(prog, verb->see_also, out);
}

void help_topic(const char *prog, const struct topic *topic, struct str *out) {
    text_fill(out, topic->summary, 0, 0);
    str_addc(out, '\n');
    text_add(out, topic->text, prog, 0);
    if (topic->list) {
        str_addc(out, '\n');
        topic->list(prog, out);
    }
}
