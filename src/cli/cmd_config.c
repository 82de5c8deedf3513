/* The verb `config`: configuration of other programs, as ours. */
#include "base/file.h"
#include "base/json.h"
#include "cli/airlock.h"
#include "cli/cli.h"
#include "cli/emit.h"
#include "cli/verb.h"

enum { FILE_MAX = 1 << 20 };

static int run(struct cli *cli, int argc, char **argv) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *text = NULL;
    _cleanup_json_ json_t *list = NULL;
    _cleanup_str_ struct str notes = STR_INIT;
    size_t len, i;
    json_t *one;
    (void)argc;
    if (!streq(argv[0], "import"))
        return cli_usage(cli, "%s config can import, and not \"%s\"", cli->prog, argv[0]);
    if (file_read(argv[1], FILE_MAX, &text, &len, &err) ||
        airlock_import(argv[1], text, &list, &notes, &err))
        return cli_error(cli, &err);
    json_array_foreach(list, i, one) {
        term_printf(&cli->out, "%s", i ? "---\n" : "");
        if (emit_yaml(one, &cli->out.buf, &err))
            return cli_error(cli, &err);
    }
    term_printf(&cli->err, "%s", str_get(&notes));
    return EXIT_DONE;
}

const struct verb verb_config = {
    .name = "config",
    .summary = "Make Policies of another FleetLock service's file",
    .args = "import FILE",
    .text =
        "Reads airlock's configuration, /etc/airlock/config.toml, and prints a Policy for each of "
        "its groups. What cannot be carried over, and what is left to do, is said on standard "
        "error.",
    .examples = {{"See what would become of it", "config import /etc/airlock/config.toml"},
                 {"Install it", "config import airlock.toml | kubectl apply -f -"},
                 {"Keep it in a file", "config import airlock.toml > policies.yaml"}},
    .min_args = 2,
    .max_args = 2,
    .arg_hint = HINT_FILE,
    .see_also = (const char *const[]){"export", NULL},
    .run = run,
};
