/* The verb `export`: what belongs to Slipway and is installed elsewhere. */
#include "base/json.h"
#include "cli/cli.h"
#include "cli/emit.h"
#include "cli/verb.h"
#include "model/own_crd.h"

struct export_opts {
    struct document_opts output;
};

/* --- definitions of custom resources --- */

static void list_crds(struct jsonw *w) {
    jsonw_begin(w, '{');
    jsonw_kstr(w, "apiVersion", "v1");
    jsonw_kstr(w, "kind", "List");
    jsonw_kbegin(w, "items", '[');
    for (const struct own_resource *r = own_resources; r->kind; r++)
        own_crd(r, w);
    jsonw_end(w);
    jsonw_end(w);
}

/* One document for each, as people keep them in files. */
static int print_crds_yaml(struct cli *cli) {
    for (const struct own_resource *r = own_resources; r->kind; r++) {
        _cleanup_str_ struct str json = STR_INIT;
        _cleanup_err_ struct err err = ERR_INIT;
        struct jsonw w;
        jsonw_init(&w, &json, false);
        own_crd(r, &w);
        _cleanup_json_ json_t *object = json_loads(str_get(&json), 0, NULL);
        term_printf(&cli->out, "%s", r == own_resources ? "" : "---\n");
        if (emit_yaml(object, &cli->out.buf, &err))
            return cli_error(cli, &err);
    }
    return EXIT_DONE;
}

static int print_crds(struct cli *cli, const struct output_format *format) {
    if (format->kind == OUTPUT_TABLE || format->kind == OUTPUT_YAML)
        return print_crds_yaml(cli);
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &json, true);
    list_crds(&w);
    return cli_print_document(cli, &json, format, true);
}

/* --- the verb --- */

static const struct thing {
    const char *name;
    int (*print)(struct cli *cli, const struct output_format *format);
} things[] = {{"crds", print_crds}};

static const char *const thing_words[] = {"crds", NULL};

/* The word is one of thing_words: that was looked at before. */
static int run(struct cli *cli, int argc, char **argv) {
    const struct export_opts *o = cli->opts;
    size_t i = 0;
    (void)argc;
    while (i + 1 < ARRAY_LEN(things) && !streq(things[i].name, argv[0]))
        i++;
    return things[i].print(cli, &o->output.format);
}

const struct verb verb_export = {
    .name = "export",
    .summary = "Print what Slipway brings along for a cluster",
    .args = "crds",
    .text =
        "Needs no cluster and changes nothing: it prints files that are in this program.\n"
        "\n"
        "  crds   definitions of the custom resources Policy, Maintenance and Rollout\n"
        "\n"
        "The custom resources are for the controller, which is not part of this release yet: "
        "the API server takes and checks such objects once the definitions are installed, but "
        "nothing obeys them so far. No other verb needs them. docs/resources.md describes every "
        "field.\n"
        "\n"
        "YAML has one document for each object; -o json has one List.",
    .examples = {{"Install the definitions", "export crds | kubectl apply -f -"},
                 {"See what would change", "export crds | kubectl diff -f -"},
                 {"Their names", "export crds -o jsonpath='{.items[*].metadata.name}'"}},
    .options =
        (const struct verb_options[]){{&document_options, offsetof(struct export_opts, output)},
                                      {0}},
    .opts_size = sizeof(struct export_opts),
    .min_args = 1,
    .max_args = 1,
    .arg_hint = HINT_WORDS,
    .arg_words = thing_words,
    .see_also = (const char *const[]){"sim", "output", NULL},
    .run = run,
};
