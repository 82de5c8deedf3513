/* The verb `export`: what belongs to Slipway and is installed elsewhere. */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/emit.h"
#include "cli/session.h"
#include "cli/verb.h"
#include "cli/zincati.h"
#include "controller/manifests.h"
#include "model/own_crd.h"

struct export_opts {
    struct document_opts output;
    struct connection_opts connection;
    const char *service, *url;
    bool https;
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

static int print_crds(struct cli *cli, const struct export_opts *o) {
    const struct output_format *format = &o->output.format;
    if (o->service || o->url || o->https)
        return cli_usage(cli, "--service, --url and --https are for zincati");
    if (format->kind == OUTPUT_TABLE || format->kind == OUTPUT_YAML)
        return print_crds_yaml(cli);
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &json, true);
    list_crds(&w);
    return cli_print_document(cli, &json, format, true);
}

/* --- Zincati's configuration --- */

static json_t *read_service(struct session *s, const char *called) {
    _cleanup_free_ char *ns = xstrndup(called, strcspn(called, "/"));
    _cleanup_free_ char *path =
        xasprintf("/api/v1/namespaces/%s/services%s", ns, strchr(called, '/'));
    struct kube_held held;
    session_ask(s, &(struct kube_op_spec){.path = path}, &held);
    enum kube_outcome outcome = held.reply.outcome;
    json_t *service = outcome == KUBE_OK ? json_loads(strna(held.body), 0, NULL) : NULL;
    if (!service && outcome != KUBE_NOT_FOUND) {
        _cleanup_free_ char *what = xasprintf("read Service %s", called);
        bool odd = outcome == KUBE_OK;
        s->failed = session_fail(s, what, odd ? KUBE_NOT_KUBERNETES : outcome,
                                 odd ? "the answer is no JSON" : held.reply.message);
    }
    kube_held_done(&s->conn.client, NULL, &held);
    return service;
}

/* Those of which there may be one: the one that was named, or that of either form. */
static int find_url(struct session *s, const struct export_opts *o, struct str *url) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *found = NULL;
    _cleanup_json_ json_t *service = NULL;
    for (size_t i = 0; !s->failed && i < (o->service ? 1 : FORM_COUNT); i++) {
        const struct manifest_names *n = &manifest_names[i];
        _cleanup_free_ char *called =
            o->service ? xstrdup(o->service) : xasprintf("%s/%s", n->ns, n->service);
        json_t *one = read_service(s, called);
        if (one && service) {
            json_decref(one);
            return cli_fail(s->cli, EXIT_FAILED,
                            "there are two: say which with --service %s or --service %s", found,
                            called);
        }
        if (one) {
            service = one;
            found = TAKE_PTR(called);
        }
    }
    if (s->failed)
        return s->failed;
    if (!service && o->service)
        return cli_fail(s->cli, EXIT_FAILED, "there is no Service %s", o->service);
    if (!service)
        return cli_fail(s->cli, EXIT_FAILED,
                        "there is no Service reboot-manager/reboot-manager, nor "
                        "slipway-system/slipway-fleetlock: name it with --service NAMESPACE/NAME");
    if (zincati_url(service, found, o->https, url, &err))
        return cli_fail(s->cli, EXIT_FAILED, "%s", err_msg(&err));
    return EXIT_DONE;
}

static int read_url(struct cli *cli, const struct export_opts *o, struct str *url) {
    struct session s;
    int rc = session_open(cli, &o->connection, &s);
    if (rc)
        return rc;
    rc = find_url(&s, o, url);
    session_close(&s);
    return rc;
}

/* "NAMESPACE/NAME", of which nothing else can be made in a path. */
static bool is_service(const char *text) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    size_t ns = strspn(text, letters);
    const char *name = text + ns + 1;
    return ns && text[ns] == '/' && *name && !name[strspn(name, letters)];
}

static int print_zincati(struct cli *cli, const struct export_opts *o) {
    _cleanup_str_ struct str url = STR_INIT;
    _cleanup_err_ struct err err = ERR_INIT;
    int rc = EXIT_DONE;
    if (o->output.format.kind != OUTPUT_TABLE)
        return cli_usage(cli, "zincati is a file in TOML: -o is for crds");
    if (o->url && (o->service || o->https))
        return cli_usage(cli, "--url goes neither with --service nor with --https");
    if (o->service && !is_service(o->service))
        return cli_usage(cli, "--service \"%s\" is not NAMESPACE/NAME", o->service);
    if (o->url && zincati_check_url(o->url, &url, &err))
        return cli_usage(cli, "--url: %s", err_msg(&err));
    if (!o->url)
        rc = read_url(cli, o, &url);
    if (!rc)
        zincati_file(str_get(&url), &cli->out.buf);
    return rc;
}

/* --- the verb --- */

static const struct thing {
    const char *name;
    int (*print)(struct cli *cli, const struct export_opts *o);
} things[] = {{"crds", print_crds}, {"zincati", print_zincati}};

static const char *const thing_words[] = {"crds", "zincati", NULL};

#define FIELD(member) offsetof(struct export_opts, member)
static const struct option_group zincati_options = {
    "Options for zincati",
    (const struct option[]){{.name = "service",
                             .kind = OPTION_STRING,
                             .offset = FIELD(service),
                             .arg = "NAMESPACE/NAME",
                             .filled = true,
                             .help = "The Service whose address it is"},
                            {.name = "https",
                             .kind = OPTION_FLAG,
                             .offset = FIELD(https),
                             .help = "By HTTPS, which the Service must have a port for"},
                            {.name = "url",
                             .kind = OPTION_STRING,
                             .offset = FIELD(url),
                             .arg = "URL",
                             .filled = true,
                             .help = "This address; no cluster is asked"},
                            {0}}};
#undef FIELD

/* The word is one of thing_words: that was looked at before. */
static int run(struct cli *cli, int argc, char **argv) {
    const struct export_opts *o = cli->opts;
    size_t i = 0;
    (void)argc;
    while (i + 1 < ARRAY_LEN(things) && !streq(things[i].name, argv[0]))
        i++;
    return things[i].print(cli, o);
}

const struct verb verb_export = {
    .name = "export",
    .summary = "Print what Slipway brings along for a cluster",
    .args = "crds|zincati",
    .text = "Changes nothing: it prints files that are in this program.\n"
            "\n"
            "  crds      definitions of Policy, Maintenance and Rollout; needs no cluster\n"
            "  zincati   reboot-manager.toml for /etc/zincati/config.d/ of the hosts, with\n"
            "            the address of the FleetLock Service filled in\n"
            "\n"
            "The custom resources are for the controller ('slipway install' prints what makes it "
            "run); plan, drain, cordon and uncordon need none of them. docs/resources.md describes "
            "every field.\n"
            "\n"
            "YAML has one document for each object; -o json has one List.",
    .examples = {{"Install the definitions", "export crds | kubectl apply -f -"},
                 {"See what would change", "export crds | kubectl diff -f -"},
                 {"What a host needs to ask before it reboots", "export zincati"}},
    .options =
        (const struct verb_options[]){
            {&zincati_options, 0}, {&document_options, offsetof(struct export_opts, output)}, {0}},
    .opts_size = sizeof(struct export_opts),
    .min_args = 1,
    .max_args = 1,
    .arg_hint = HINT_WORDS,
    .arg_words = thing_words,
    .connection = offsetof(struct export_opts, connection),
    .see_also = (const char *const[]){"sim", "output", NULL},
    .run = run,
};
