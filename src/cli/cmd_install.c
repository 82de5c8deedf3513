/* The verb `install`: what makes the controller run in a cluster. Printed, and not applied yet. */
#include "base/json.h"
#include "cli/cli.h"
#include "cli/emit.h"
#include "cli/target.h"
#include "cli/verb.h"
#include "controller/manifests.h"

struct install_opts {
    struct connection_opts connection;
    struct document_opts output;
    int dry_run; /* enum dry_run */
    int form, part, replicas;
    const char *image;
};

static const char *const form_words[] = {"slipway", "reboot-manager", NULL};

static const char *const part_words[] = {"all", "rbac", "crds", "controller", "flow-schema", NULL};
/* All is what everybody needs: a busy API server's favour is asked for by name. */
static const unsigned part_bits[] = {PART_RBAC | PART_CRDS | PART_CONTROLLER, PART_RBAC, PART_CRDS,
                                     PART_CONTROLLER, PART_FLOW_SCHEMA};

/* One document for each object, as people keep them in files. */
static int print_yaml(struct cli *cli, const json_t *list) {
    _cleanup_err_ struct err err = ERR_INIT;
    size_t i;
    json_t *object;
    json_array_foreach(list, i, object) {
        term_printf(&cli->out, "%s", i ? "---\n" : "");
        if (emit_yaml(object, &cli->out.buf, &err))
            return cli_error(cli, &err);
    }
    return EXIT_DONE;
}

static int print(struct cli *cli, const struct output_format *format, json_t *list) {
    if (format->kind == OUTPUT_TABLE || format->kind == OUTPUT_YAML)
        return print_yaml(cli, list);
    _cleanup_str_ struct str text = STR_INIT;
    _cleanup_json_ json_t *all =
        json_pack("{s:s,s:s,s:O}", "apiVersion", "v1", "kind", "List", "items", list);
    _cleanup_free_ char *json = json_dumps(all, JSON_INDENT(2));
    str_add(&text, json);
    return cli_print_document(cli, &text, format, true);
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct install_opts *o = cli->opts;
    const struct manifest_names *names = &manifest_names[o->form];
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_json_ json_t *list = NULL;
    (void)argc, (void)argv;
    if (o->dry_run != DRY_RUN_CLIENT)
        return cli_usage(cli,
                         "%s install does not change a cluster by itself yet: see what it would "
                         "make with --dry-run=client, and pipe that to 'kubectl apply -f -'",
                         cli->prog);
    if (!(part_bits[o->part] & ~(unsigned)PART_CRDS) && !names->definitions)
        return cli_usage(cli, "--form %s has no definitions of custom resources", names->form);
    const char *ns = o->connection.flags.ns;
    if (manifests_make(&(struct manifest_opts){.form = (enum manifest_form)o->form,
                                               .parts = part_bits[o->part],
                                               .ns = ns ? ns : names->ns,
                                               .image = o->image,
                                               .replicas = o->replicas},
                       &list, &err))
        return cli_error(cli, &err);
    return print(cli, &o->output.format, list);
}

#define FIELD(member) offsetof(struct install_opts, member)
static const struct option_group own_options = {
    "Options",
    (const struct option[]){
        {.name = "dry-run",
         .kind = OPTION_PARSED,
         .offset = FIELD(dry_run),
         .arg = "HOW",
         .implied = "unchanged",
         .initial = "none",
         .hint = HINT_WORDS,
         .words = (const char *const[]){"client", NULL},
         .late = true,
         .parse = target_parse_dry_run,
         .help = "client, which is also the bare flag: print the objects and ask no cluster"},
        {.name = "form",
         .kind = OPTION_ENUM,
         .offset = FIELD(form),
         .arg = "FORM",
         .initial = "slipway",
         .words = form_words,
         .hint = HINT_WORDS,
         .help = "slipway: obeys Policies; reboot-manager: with the names of the reboot manager, "
                 "over which it can be applied, and the built-in policy"},
        {.name = "part",
         .kind = OPTION_ENUM,
         .offset = FIELD(part),
         .arg = "PART",
         .initial = "all",
         .words = part_words,
         .hint = HINT_WORDS,
         .help = "Only this part: rbac has the namespace and the service account, crds the "
                 "definitions of custom resources, controller the rest. flow-schema, which is not "
                 "in all, has a share of a busy API server"},
        {.name = "image",
         .kind = OPTION_STRING,
         .offset = FIELD(image),
         .arg = "IMAGE",
         .initial = MANIFEST_IMAGE,
         .filled = true,
         .help = "The image with this program"},
        {.name = "replicas",
         .kind = OPTION_INT,
         .offset = FIELD(replicas),
         .arg = "N",
         .initial = MANIFEST_REPLICAS,
         .min = 1,
         .max = REPLICAS_MAX,
         .help = "How many controllers: one leads, the others answer clients and take over"},
        {0}}};
#undef FIELD

const struct verb verb_install = {
    .name = "install",
    .summary = "Print what makes the controller run in a cluster",
    .text =
        "Prints the objects with which the controller runs in a cluster: namespace, service "
        "account with the least rights, definitions of the custom resources, Deployment, "
        "Services and a budget for itself. With --dry-run=client no cluster is asked and nothing "
        "is changed, which is the only way so far: kubectl applies it. docs/install.md goes "
        "through it.",
    .examples = {{"Install it", "install --dry-run=client | kubectl apply -f -"},
                 {"See what would change", "install --dry-run=client | kubectl diff -f -"},
                 {"With an image of your own",
                  "install --dry-run=client --image example.com/slipway:1"}},
    .options =
        (const struct verb_options[]){
            {&own_options, 0},
            {&document_options, offsetof(struct install_opts, output)},
            {&connection_options, offsetof(struct install_opts, connection)},
            {0}},
    .opts_size = sizeof(struct install_opts),
    .run = run,
};
