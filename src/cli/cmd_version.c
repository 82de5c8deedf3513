/* The verb `version`: which program this is, and which server it talks to. */
#include <sys/utsname.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/session.h"
#include "cli/verb.h"

struct version_opts {
    struct connection_opts connection;
    struct document_opts output;
    bool client, remote;
};

#define STRING_(x) #x
#define STRING(x)  STRING_(x)
#if defined(__clang__)
#define COMPILER                                                                                   \
    "clang " STRING(__clang_major__) "." STRING(__clang_minor__) "." STRING(__clang_patchlevel__)
#else
#define COMPILER "gcc " __VERSION__
#endif

/* Go's names for machines, as everybody in Kubernetes writes them. */
static const char *platform(struct arena *arena) {
    static const char *const names[][2] = {
        {"x86_64", "amd64"}, {"aarch64", "arm64"}, {"armv7l", "arm"}, {"i686", "386"}};
    struct utsname u;
    if (uname(&u))
        return "linux/unknown";
    const char *machine = u.machine;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (streq(machine, names[i][0]))
            machine = names[i][1];
    return arena_printf(arena, "linux/%s", machine);
}

static void add_client(struct cli *cli, struct jsonw *w) {
    jsonw_kbegin(w, "clientVersion", '{');
    jsonw_kstr(w, "gitVersion", "v" SLIPWAY_VERSION);
    jsonw_kopt(w, "gitCommit", cli->commit);
    jsonw_kstr(w, "compiler", COMPILER);
    jsonw_kstr(w, "platform", platform(&cli->arena));
    jsonw_end(w);
}

/* *out is what the server says about itself. */
static int ask_server(struct cli *cli, const struct connection_opts *o, json_t **out) {
    static const char what[] = "ask the server for its version";
    struct session s;
    struct kube_held held;
    int rc = session_open(cli, o, &s);
    if (rc)
        return rc;
    rc = session_call(&s, &(struct kube_op_spec){.path = "/version"}, what, &held);
    if (!rc) {
        _cleanup_json_ json_t *v = json_loads(strna(held.body), 0, NULL);
        if (json_str(v, "gitVersion"))
            *out = TAKE_PTR(v);
        else
            rc = session_fail(&s, what, KUBE_NOT_KUBERNETES, "/version names no version");
        kube_held_done(&s.conn.client, NULL, &held);
    }
    session_close(&s);
    return rc;
}

static void add_server(const json_t *v, struct jsonw *w) {
    static const char *const keys[] = {"major",     "minor",        "gitVersion",
                                       "gitCommit", "gitTreeState", "buildDate",
                                       "goVersion", "compiler",     "platform"};
    jsonw_kbegin(w, "serverVersion", '{');
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        jsonw_kopt(w, keys[i], json_str(v, keys[i]));
    jsonw_end(w);
}

static int print_document(struct cli *cli, const struct version_opts *o, const json_t *server) {
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &json, true);
    jsonw_begin(&w, '{');
    add_client(cli, &w);
    if (server)
        add_server(server, &w);
    jsonw_end(&w);
    return cli_print_document(cli, &json, &o->output.format, true);
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct version_opts *o = cli->opts;
    bool document = output_is_document(&o->output.format);
    _cleanup_json_ json_t *server = NULL;
    (void)argc, (void)argv;
    if (!document)
        term_printf(&cli->out, "Client Version: v%s\n", SLIPWAY_VERSION);
    int code = EXIT_DONE;
    if (o->remote && !o->client)
        code = ask_server(cli, &o->connection, &server);
    if (document) {
        int printed = print_document(cli, o, server);
        return code ? code : printed;
    }
    if (server) {
        term_printf(&cli->out, "Server Version: ");
        term_text(&cli->out, json_str(server, "gitVersion"));
        term_printf(&cli->out, "\n");
    }
    return code;
}

#define FIELD(member) offsetof(struct version_opts, member)
static const struct option_group own_options = {
    "Options",
    (const struct option[]){{.name = "remote",
                             .kind = OPTION_FLAG,
                             .offset = FIELD(remote),
                             .help = "Ask the API server for its version, too"},
                            {.name = "client",
                             .kind = OPTION_FLAG,
                             .offset = FIELD(client),
                             .help = "Only the version of this program (which is the default; for "
                                     "those who are used to kubectl)"},
                            {0}}};
#undef FIELD

const struct verb verb_version = {
    .name = "version",
    .summary = "Show the version of this program, and of the server",
    .text =
        "Prints the version of this program. No server is asked, so that it answers at once; with "
        "--remote the version of the API server follows. With -o json or yaml also the commit, "
        "the compiler and the platform.",
    .examples = {{"The version of the program", "version"},
                 {"And that of the server", "version --remote"},
                 {"Only the commit it was built from",
                  "version -o jsonpath='{.clientVersion.gitCommit}'"}},
    .options =
        (const struct verb_options[]){
            {&own_options, 0},
            {&document_options, offsetof(struct version_opts, output)},
            {&connection_options, offsetof(struct version_opts, connection)},
            {0}},
    .opts_size = sizeof(struct version_opts),
    .exits = (const enum exit_code[]){EXIT_ACCESS, EXIT_DONE},
    .see_also = (const char *const[]){"doctor", "output", NULL},
    .run = run,
};
