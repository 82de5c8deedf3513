/* The verb `explain`: what a blocker's code means, how it is found, what to do; and the states of
 * maintenances. */
#include "base/jsonw.h"
#include "cli/cli.h"
#include "cli/explain.h"
#include "cli/explain_states.h"
#include "cli/text.h"
#include "cli/verb.h"

#define SCHEMA "slipway.explain/1.0" /* docs/why.md */

struct explain_opts {
    struct document_opts output;
    bool dot;
};

static void write_code(struct jsonw *w, enum blocker_code code) {
    const struct blocker_row *row = blocker_row(code);
    jsonw_begin(w, '{');
    jsonw_kstr(w, "code", row->name);
    jsonw_kstr(w, "severity", explain_severity(row->severity));
    jsonw_kstr(w, "clears", row->clears_itself ? "auto" : "operator");
    jsonw_kstr(w, "meaning", row->meaning);
    jsonw_kopt(w, "found", explain_found(code));
    jsonw_kstr(w, "hint", row->hint);
    jsonw_kstr(w, "ends", row->ends);
    jsonw_end(w);
}

/* BLOCKER_CODES: all of them. */
static int print_document(struct cli *cli, const struct output_format *f, enum blocker_code only) {
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &json, true);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "schema", SCHEMA);
    jsonw_kbegin(&w, "items", '[');
    for (int i = 0; i < BLOCKER_CODES; i++)
        if (only == BLOCKER_CODES || (int)only == i)
            write_code(&w, (enum blocker_code)i);
    jsonw_end(&w);
    jsonw_end(&w);
    return cli_print_document(cli, &json, f, true);
}

static int print_states(struct cli *cli, const struct explain_opts *o) {
    if (output_is_document(&o->output.format))
        return cli_usage(cli, "states are text, or a graph with --dot: -o is for codes");
    if (o->dot)
        explain_states_dot(&cli->out.buf);
    else
        explain_states(&cli->out.buf, text_width(cli->out.tty, cli->out.columns));
    return EXIT_DONE;
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct explain_opts *o = cli->opts;
    if (argc && streq(argv[0], EXPLAIN_STATES))
        return print_states(cli, o);
    if (o->dot)
        return cli_usage(cli, "--dot is for 'explain " EXPLAIN_STATES "'");
    enum blocker_code code = argc ? explain_find(argv[0]) : BLOCKER_CODES;
    if (argc && code == BLOCKER_CODES) /* the table of words has caught it */
        return cli_usage(cli, "there is no code \"%s\"", argv[0]);
    if (output_is_document(&o->output.format))
        return print_document(cli, &o->output.format, code);
    size_t width = text_width(cli->out.tty, cli->out.columns);
    if (argc)
        explain_print(&cli->out.buf, code, width);
    else
        explain_list(&cli->out.buf, width);
    return EXIT_DONE;
}

static const struct option_group own_options = {
    "Options",
    (const struct option[]){
        {.name = "dot",
         .kind = OPTION_FLAG,
         .offset = offsetof(struct explain_opts, dot),
         .help = "Of states: the graph, for dot(1) of Graphviz"},
        {0},
    },
};

const struct verb verb_explain = {
    .name = "explain",
    .summary = "Explain why something waits, by its code",
    .args = "[CODE]",
    .text =
        "Whatever waits says why with a code, such as PDBNoBudget: in the lines and events of "
        "a drain, in status and in why. This tells what a code means, how it is found, what to "
        "do about it and what ends it. Without an argument all codes are listed. 'states' tells "
        "the states of a Maintenance and of its slot instead, and what leads from each to the "
        "next. No cluster is asked.",
    .examples = {{"All codes", "explain"},
                 {"What a code means and what to do", "explain PDBUnsatisfiable"},
                 {"The graph of the states", "explain states --dot | dot -Tsvg"}},
    .options =
        (const struct verb_options[]){
            {&own_options, 0}, {&document_options, offsetof(struct explain_opts, output)}, {0}},
    .opts_size = sizeof(struct explain_opts),
    .max_args = 1,
    .arg_hint = HINT_WORDS,
    .arg_words = explain_words,
    .see_also = (const char *const[]){"why", "blockers", NULL},
    .run = run,
};
