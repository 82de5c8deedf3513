/* The verb `version`: which program this is. */
#include <sys/utsname.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/verb.h"

struct version_opts {
    struct document_opts output;
    bool client;
};

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
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

static int run(struct cli *cli, int argc, char **argv) {
    const struct version_opts *o = cli->opts;
    (void)argc, (void)argv;
    if (!output_is_document(&o->output.format)) {
        term_printf(&cli->out, "Client Version: v%s\n", SLIPWAY_VERSION);
        return EXIT_DONE;
    }
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &json, true);
    jsonw_begin(&w, '{');
    add_client(cli, &w);
    jsonw_end(&w);
    return cli_print_document(cli, &json, &o->output.format, true);
}

static const struct option_group own_options = {
    "Options", (const struct option[]){{.name = "client",
                                        .kind = OPTION_FLAG,
                                        .offset = offsetof(struct version_opts, client),
                                        .help = "Only the version of this program; ask no server"},
                                       {0}}};

const struct verb verb_version = {
    .name = "version",
    .summary = "Show the version of this program",
    .text = "Prints the version, and with -o json or yaml also the commit it was built from, the "
            "compiler and the platform. No server is asked.",
    .examples = {{"The version", "version"},
                 {"For a program", "version -o json"},
                 {"Only the commit it was built from",
                  "version -o jsonpath='{.clientVersion.gitCommit}'"}},
    .options =
        (const struct verb_options[]){
            {&own_options, 0}, {&document_options, offsetof(struct version_opts, output)}, {0}},
    .opts_size = sizeof(struct version_opts),
    .see_also = (const char *const[]){"output", NULL},
    .common = true,
    .run = run,
};
