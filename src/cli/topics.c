/* Help topics. */
#include "cli/topics.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "cli/groups.h"
#include "cli/text.h"
#include "cli/verb.h"
#include "controller/metrics.h"
#include "engine/blocker.h"

/* ---- exit codes ---- */

bool exit_is_used_by(enum exit_code code, const struct verb *verb) {
    if (code == EXIT_DONE || code == EXIT_FAILED || code == EXIT_USAGE || code == EXIT_SIGPIPE)
        return true;
    for (const enum exit_code *e = verb->exits; e && *e != EXIT_DONE; e++)
        if (*e == code)
            return true;
    return false;
}

bool exit_is_used(enum exit_code code) {
    for (size_t i = 0; verbs[i]; i++)
        if (!verbs[i]->hidden && exit_is_used_by(code, verbs[i]))
            return true;
    return false;
}

static void list_exits(const char *prog, struct str *out) {
    (void)prog;
    for (size_t i = 0; i < n_exit_rows; i++)
        if (exit_is_used(exit_rows[i].code)) {
            str_addf(out, "  %3d   ", exit_rows[i].code);
            text_fill(out, exit_rows[i].meaning, 8, 8);
        }
}

/* ---- blockers ---- */

static void list_blockers(const char *prog, struct str *out) {
    (void)prog;
    for (int i = 0; i < BLOCKER_CODES; i++) {
        const struct blocker_row *row = blocker_row((enum blocker_code)i);
        _cleanup_free_ char *text =
            xasprintf("%c%s. To do: %s.", row->meaning[0] - 'a' + 'A', row->meaning + 1, row->hint);
        str_addf(out, "%s  %s\n      ", i ? "\n" : "", row->name);
        text_fill(out, text, 6, 6);
    }
}

/* ---- metrics ---- */

static void list_metrics(const char *prog, struct str *out) {
    (void)prog;
    for (size_t i = 0; i < METRICS; i++) {
        const struct metric_row *row = &metric_rows[i];
        str_addf(out, "%s  %s", i ? "\n" : "", row->name);
        for (size_t j = 0; row->labels[j]; j++)
            str_addf(out, "%c%s", j ? ',' : '{', row->labels[j]);
        str_addf(out, "%s\n      ", row->labels[0] ? "}" : "");
        text_fill(out, row->help, 6, 6);
    }
}

/* ---- environment ---- */

static const struct env_row other_env[] = {
    {.name = "KUBECONFIG",
     .about = "Kubeconfig files, separated by colons and merged as kubectl does."},
    {.name = "NO_COLOR", .about = "If not empty, no colour. Beats the next two."},
    {.name = "CLICOLOR_FORCE",
     .about = "If not empty, colour even when the output is no terminal."},
    {.name = "FORCE_COLOR", .about = "The same as CLICOLOR_FORCE."},
    {.name = "TERM", .about = "A terminal called dumb gets no colour."},
    {.name = "COLUMNS", .about = "Width of the terminal, if it is not what the terminal says."},
    {.name = "SLIPWAY_FORCE_TTY",
     .about = "If not empty, print as on a terminal; a number above 1 is its width."},
    {.name = "SLIPWAY_PAGER",
     .about = "Pager for output that is longer than the screen. If empty "
              "or cat, none. Else PAGER, else less."},
    {.name = "PAGER", .about = "See SLIPWAY_PAGER."},
    {.name = "LESS", .about = "Options of less; FRX if it is not set."},
    {.name = "SLIPWAY_FAKE_NOW",
     .about = "A time such as 2026-11-15T08:00:00Z that ages are counted to, for tests."},
};

struct env_walk {
    VEC(const char *) seen;
    void (*fn)(void *arg, const struct env_row *row);
    void *arg;
};

static void env_group(struct env_walk *w, const struct option_group *group) {
    for (const struct option *o = group->rows; o->name; o++) {
        bool known = !o->env || o->hidden;
        for (size_t i = 0; !known && i < w->seen.len; i++)
            known = streq(w->seen.p[i], o->env);
        if (known)
            continue;
        *vec_push(&w->seen) = o->env;
        w->fn(w->arg, &(struct env_row){.name = o->env, .flag = o->name});
    }
}

void env_each(void (*fn)(void *arg, const struct env_row *row), void *arg) {
    struct env_walk w = {.fn = fn, .arg = arg};
    env_group(&w, &general_options);
    for (size_t i = 0; verbs[i]; i++)
        for (const struct verb_options *o = verbs[i]->options; o && o->group; o++)
            env_group(&w, o->group);
    vec_done(&w.seen);
    for (size_t i = 0; i < ARRAY_LEN(other_env); i++)
        fn(arg, &other_env[i]);
}

static void list_env_row(void *arg, const struct env_row *row) {
    enum { COLUMN = 36 };
    struct str *out = arg;
    size_t start = out->len;
    str_addf(out, "  %-*s", COLUMN - 2, row->name);
    if (row->flag)
        str_addf(out, "--%s\n", row->flag);
    else
        text_fill(out, row->about, out->len - start, COLUMN);
}

static void list_env(const char *prog, struct str *out) {
    (void)prog;
    env_each(list_env_row, out);
}

/* ---- the table ---- */

static const char exit_text[] = "What the program ends with, for scripts.";

static const char blockers_text[] =
    "Whatever waits says why, with one of these codes, which never change their meaning. A drain "
    "shows them while it waits, and in its --json events; status shows those that would block a "
    "drain right now.";

static const char metrics_text[] = "What the controller tells Prometheus at /metrics of its "
                                   "--http-listen. Those of kured, airlock "
                                   "and fleetlock are there when --metrics-compat asks for them.";

static const char env_text[] =
    "A flag beats its variable, and a variable beats the default. An empty variable is the same as "
    "none.";

static const char output_text[] =
    "Results go to standard output, everything else to standard error.\n"
    "\n"
    "Formats (-o):\n"
    "\n"
    "  wide                  a table with more columns and times of day\n"
    "  name                  kind/name, a line each\n"
    "  json, yaml            everything, for programs\n"
    "  jsonpath=TEMPLATE     text made from the JSON document\n"
    "  custom-columns=SPEC   a table of one's own: TITLE:PATH,TITLE:PATH\n"
    "\n"
    "A template is kubectl's: text, and paths in braces. Paths know .name, ['name'], [0], [-1], "
    "[1:3], [*], ..name, filters such as [?(@.ready==false)], {range PATH}...{end} and "
    "{\"\\n\"}. Go templates are not supported.\n"
    "\n"
    "  -o jsonpath='{range .items[*]}{.name}{\"\\n\"}{end}'\n"
    "  -o custom-columns=NODE:.name,STATE:.state\n"
    "\n"
    "Names in JSON are stable; a document says its schema and version in the member schema.\n"
    "\n"
    "Ages are written as kubectl writes them (4m12s, 3h31m, 17d); with -o wide or --utc they are "
    "times of day in UTC.\n"
    "\n"
    "Colour and the marks in front of states are for terminals only and never say anything that a "
    "word does not say too. Where the locale is not UTF-8 the marks are ASCII. What comes from the "
    "cluster is shown without control characters. Output that is longer than the screen goes "
    "through the pager. If the reader of a pipe goes away, the work goes on, and the exit code "
    "is 141.";

static const char nodesets_text[] =
    "A node set is many names written as few words:\n"
    "\n"
    "  w[001-040]              w001 to w040\n"
    "  w[1-3,7]                w1, w2, w3, w7\n"
    "  w[0-10/2]               w0, w2, w4 and so on to w10\n"
    "  rack[1-2]-node[01-32]   several ranges: 64 nodes\n"
    "\n"
    "Operators stand between names and go from left to right; none binds stronger than another, so "
    "use parentheses:\n"
    "\n"
    "  A,B    what is in A or in B\n"
    "  A!B    what is in A, but not in B\n"
    "  A&B    what is in both\n"
    "  A^B    what is in one of them, but not in both\n"
    "  (A)    first of all\n"
    "\n"
    "Quote a set, because the shell has its own ideas about these characters:\n"
    "\n"
    "  {prog} nodeset count 'w[001-040]!w007'\n"
    "\n"
    "Zeros in front count: w1 and w01 are two nodes, and [08-11] is 08, 09, 10, 11. Digits beside "
    "a bracket belong to its numbers: n0[1-3] is n[01-03]. Blanks around names and operators do "
    "not count. A name without brackets and operators is taken as it is.\n"
    "\n"
    "This is the language of ClusterShell's nodeset, with parentheses added. Two things differ: "
    "a range whose ends have different numbers of digits is refused directly after a digit, as in "
    "n1[9-10], and there are no wildcards.";

const struct topic topics[] = {
    {"exit-codes", "What the exit codes mean", exit_text, list_exits},
    {"blockers", "Why something waits, by its code", blockers_text, list_blockers},
    {"metrics", "What the controller tells Prometheus", metrics_text, list_metrics},
    {"environment", "Environment variables", env_text, list_env},
    {"output", "Formats, times, colour, pager", output_text, NULL},
    {"nodesets", "How many nodes are written as few words", nodesets_text, NULL},
};
const size_t n_topics = ARRAY_LEN(topics);

const struct topic *topic_find(const char *name) {
    for (size_t i = 0; i < n_topics; i++)
        if (streq(topics[i].name, name))
            return &topics[i];
    return NULL;
}
