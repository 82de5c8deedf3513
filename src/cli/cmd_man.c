/* The hidden verb `__man`: writes the manual pages into a directory, for the build. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/man.h"
#include "cli/verb.h"

static int write_page(struct cli *cli, const char *dir, const char *name, const struct str *page) {
    _cleanup_err_ struct err err = ERR_INIT;
    const char *path = arena_printf(&cli->arena, "%s/%s.1", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return cli_fail(cli, EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
    struct term file;
    term_open(&file, fd, COLOR_NEVER, &(struct term_env){0});
    str_addn(&file.buf, str_get(page), page->len);
    if (term_close(&file, &err))
        return cli_fail(cli, EXIT_FAILED, "cannot write %s: %s", path, strerror(file.error));
    return EXIT_DONE;
}

static int run(struct cli *cli, int argc, char **argv) {
    _cleanup_str_ struct str page = STR_INIT;
    (void)argc;
    man_program(&page);
    int code = write_page(cli, argv[0], "slipway", &page);
    for (size_t i = 0; !code && verbs[i]; i++) {
        if (verbs[i]->hidden)
            continue;
        str_reset(&page);
        man_verb(verbs[i], &page);
        code = write_page(cli, argv[0], arena_printf(&cli->arena, "slipway-%s", verbs[i]->name),
                          &page);
    }
    return code;
}

const struct verb verb_man = {
    .name = "__man",
    .summary = "Write the manual pages into a directory",
    .args = "DIRECTORY",
    .text = "For the build.",
    .min_args = 1,
    .max_args = 1,
    .hidden = true,
    .run = run,
};
