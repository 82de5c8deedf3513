/* The verb `nodeset`: names folded, unfolded, counted and compared. It needs no cluster. */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/nodeset.h"
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/govalue.h"
#include "cli/verb.h"

/* Standard input at most: a million names of 64 characters. */
enum { INPUT_MAX = 64 << 20 };

struct nodeset_opts {
    const char *const *exclude, *const *intersect;
    const char *separator;
    bool detailed;
};

/* ---- what was given ---- */

static int read_input(struct str *out, struct err *err) {
    for (;;) {
        str_reserve(out, 1 << 16);
        ssize_t n = read(STDIN_FILENO, out->p + out->len, 1 << 16);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, errno, "standard input");
        if (n == 0)
            return 0;
        out->len += (size_t)n;
        out->p[out->len] = '\0';
        if (out->len > INPUT_MAX)
            return err_set(err, EFBIG, "standard input: longer than the %d bytes that are accepted",
                           INPUT_MAX);
    }
}

/* Adds the sets of standard input, which stand between blanks and newlines. */
static int add_input(struct nodeset_sum *sum, struct err *err) {
    static const char blanks[] = " \t\r\n";
    _cleanup_str_ struct str text = STR_INIT;
    size_t line = 1;
    int rc = read_input(&text, err);
    if (rc)
        return rc;
    if (strlen(str_get(&text)) != text.len)
        return err_set(err, EINVAL, "standard input: it has a NUL byte in it, this is no text");
    for (char *p = text.p; p && *p;) {
        struct nodeset set = NODESET_INIT;
        size_t len = strcspn(p, blanks);
        char end = p[len];
        p[len] = '\0';
        rc = nodeset_parse(p, NULL, NULL, &set, err);
        if (!rc)
            rc = nodeset_sum_add(sum, &set, err);
        if (rc) {
            err_wrap(err, "standard input, line %zu", line);
            return rc;
        }
        line += end == '\n';
        p += len + (end != '\0');
    }
    return 0;
}

/* An argument: a set, or "-" for standard input. */
static int add_argument(struct nodeset_sum *sum, const char *text, struct err *err) {
    struct nodeset set = NODESET_INIT;
    if (streq(text, "-"))
        return add_input(sum, err);
    int rc = nodeset_parse(text, NULL, NULL, &set, err);
    return rc ? rc : nodeset_sum_add(sum, &set, err);
}

static int read_arguments(char *const *texts, size_t n, struct nodeset *out, struct err *err) {
    _cleanup_nodeset_sum_ struct nodeset_sum sum = NODESET_SUM_INIT;
    for (size_t i = 0; i < n; i++) {
        int rc = add_argument(&sum, texts[i], err);
        if (rc)
            return rc;
    }
    return nodeset_sum_take(&sum, out, err);
}

static int apply_flags(struct nodeset *set, enum nodeset_op op, const char *const *texts,
                       struct err *err) {
    for (size_t i = 0; texts && texts[i]; i++) {
        _cleanup_nodeset_sum_ struct nodeset_sum sum = NODESET_SUM_INIT;
        _cleanup_nodeset_ struct nodeset other = NODESET_INIT;
        int rc = add_argument(&sum, texts[i], err);
        if (!rc)
            rc = nodeset_sum_take(&sum, &other, err);
        if (!rc)
            rc = nodeset_combine(set, op, &other, err);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- what is done with it ---- */

/* \n, \t, \0 and \\ as in ClusterShell and printf. */
static int unescape(const char *text, struct str *out, struct err *err) {
    static const char letters[] = "nt0\\", bytes[] = "\n\t\0\\";
    for (const char *p = text; *p; p++) {
        if (*p != '\\') {
            str_addc(out, *p);
            continue;
        }
        const char *letter = p[1] ? strchr(letters, p[1]) : NULL;
        if (!letter) {
            _cleanup_str_ struct str quoted = STR_INIT;
            govalue_quote(&quoted, text);
            return err_set(err, EINVAL,
                           "invalid argument %s for \"--separator\" flag: after a backslash stands "
                           "n, t, 0 or another backslash",
                           str_get(&quoted));
        }
        str_addn(out, &bytes[letter - letters], 1);
        p++;
    }
    return 0;
}

static int print_fold(struct cli *cli, const struct nodeset *set) {
    nodeset_print(set, &cli->out.buf);
    if (!nodeset_empty(set))
        str_addc(&cli->out.buf, '\n');
    return EXIT_DONE;
}

static int print_expanded(struct cli *cli, const struct nodeset *set) {
    const struct nodeset_opts *o = cli->opts;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_str_ struct str separator = STR_INIT;
    _cleanup_free_ char **names = NULL;
    size_t n;
    if (unescape(o->separator ? o->separator : " ", &separator, &err) ||
        nodeset_expand(set, &names, &n, &err))
        return cli_error(cli, &err);
    for (size_t i = 0; i < n; i++) {
        if (i)
            str_addn(&cli->out.buf, separator.p, separator.len);
        str_add(&cli->out.buf, names[i]);
    }
    /* What is read up to a NUL (xargs -0) must not have a newline at its end. */
    bool nul = separator.len && !separator.p[separator.len - 1];
    if (n)
        str_addc(&cli->out.buf, nul ? '\0' : '\n');
    return EXIT_DONE;
}

static int print_count(struct cli *cli, const struct nodeset *set) {
    uint64_t count = nodeset_count(set);
    if (count == UINT64_MAX)
        return cli_fail(cli, EXIT_USAGE, "the set has more names than can be counted");
    term_printf(&cli->out, "%" PRIu64 "\n", count);
    return EXIT_DONE;
}

static void print_side(struct cli *cli, char sign, const struct nodeset *set) {
    if (nodeset_empty(set))
        return;
    term_printf(&cli->out, "%c ", sign);
    print_fold(cli, set);
}

static int run_diff(struct cli *cli, int argc, char **argv) {
    const struct nodeset_opts *o = cli->opts;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_nodeset_ struct nodeset a = NODESET_INIT, b = NODESET_INIT, gone = NODESET_INIT;
    if (argc != 2)
        return cli_usage(cli, "diff compares two sets; this is %d", argc);
    if (read_arguments(argv, 1, &a, &err) || read_arguments(argv + 1, 1, &b, &err))
        return cli_error(cli, &err);
    nodeset_copy(&a, &gone);
    if (nodeset_difference(&gone, &b, &err) || nodeset_difference(&b, &a, &err))
        return cli_error(cli, &err);
    print_side(cli, '-', &gone);
    print_side(cli, '+', &b);
    bool differ = !nodeset_empty(&gone) || !nodeset_empty(&b);
    return o->detailed && differ ? EXIT_CHANGES : EXIT_DONE;
}

static const struct action {
    const char *name;
    int (*print)(struct cli *cli, const struct nodeset *set); /* NULL: diff */
} actions[] = {
    {"fold", print_fold}, {"expand", print_expanded}, {"count", print_count}, {"diff", NULL}};

static int unknown_action(struct cli *cli, const char *word) {
    const char *names[ARRAY_LEN(actions)];
    for (size_t i = 0; i < ARRAY_LEN(actions); i++)
        names[i] = actions[i].name;
    const char *near = suggest_nearest(word, names, ARRAY_LEN(actions));
    if (near)
        return cli_usage(cli, "\"%s\" is not one of fold|expand|count|diff (did you mean \"%s\"?)",
                         word, near);
    return cli_usage(cli, "\"%s\" is not one of fold|expand|count|diff", word);
}

/* Flags that would do nothing are mistakes. */
static int check_flags(struct cli *cli, const struct action *action) {
    const struct nodeset_opts *o = cli->opts;
    if (o->separator && action->print != print_expanded)
        return cli_usage(cli, "--separator is for expand, not for %s", action->name);
    if (o->detailed && action->print)
        return cli_usage(cli, "--detailed-exitcode is for diff, not for %s", action->name);
    if ((o->exclude || o->intersect) && !action->print)
        return cli_usage(cli, "diff takes two sets and neither --exclude nor --intersection");
    return EXIT_DONE;
}

/* Standard input can be read once. */
static int check_dashes(struct cli *cli, int argc, char **argv) {
    const struct nodeset_opts *o = cli->opts;
    int dashes = 0;
    for (int i = 0; i < argc; i++)
        dashes += streq(argv[i], "-");
    for (size_t i = 0; o->exclude && o->exclude[i]; i++)
        dashes += streq(o->exclude[i], "-");
    for (size_t i = 0; o->intersect && o->intersect[i]; i++)
        dashes += streq(o->intersect[i], "-");
    return dashes > 1 ? cli_usage(cli, "standard input, \"-\", can stand for one set only")
                      : EXIT_DONE;
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct nodeset_opts *o = cli->opts;
    size_t i = 0;
    while (i < ARRAY_LEN(actions) && !streq(actions[i].name, argv[0]))
        i++;
    if (i == ARRAY_LEN(actions))
        return unknown_action(cli, argv[0]);
    int code = check_flags(cli, &actions[i]);
    if (!code)
        code = check_dashes(cli, argc - 1, argv + 1);
    if (code)
        return code;
    if (!actions[i].print)
        return run_diff(cli, argc - 1, argv + 1);
    if (argc < 2)
        return cli_usage(cli, "%s needs a set, or - for standard input", argv[0]);
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_nodeset_ struct nodeset set = NODESET_INIT;
    if (read_arguments(argv + 1, (size_t)argc - 1, &set, &err) ||
        apply_flags(&set, NODESET_INTERSECTION, o->intersect, &err) ||
        apply_flags(&set, NODESET_DIFFERENCE, o->exclude, &err))
        return cli_error(cli, &err);
    return actions[i].print(cli, &set);
}

#define FIELD(member) offsetof(struct nodeset_opts, member)
static const struct option_group own_options = {
    "Options",
    (const struct option[]){
        {.name = "exclude",
         .letter = 'x',
         .kind = OPTION_LIST,
         .offset = FIELD(exclude),
         .arg = "SET",
         .help = "Leave these nodes out, as ! does without the shell's quotes; may be repeated"},
        {.name = "intersection",
         .letter = 'i',
         .kind = OPTION_LIST,
         .offset = FIELD(intersect),
         .arg = "SET",
         .help = "Keep only nodes that are in this set too, as & does; may be repeated, and comes "
                 "before --exclude"},
        {.name = "separator",
         .letter = 'S',
         .kind = OPTION_STRING,
         .offset = FIELD(separator),
         .arg = "TEXT",
         .help = "What expand puts between two names; \\n, \\t and \\0 are understood (default: a "
                 "blank)"},
        {.name = "detailed-exitcode",
         .kind = OPTION_FLAG,
         .offset = FIELD(detailed),
         .help = "End diff with status 2 when the sets differ"},
        {0}}};
#undef FIELD

const struct verb verb_nodeset = {
    .name = "nodeset",
    .summary = "Fold, expand, count and compare sets of node names",
    .args = "fold|expand|count|diff SET...",
    .text = "Works on names alone and needs no cluster. Several sets are put together; - reads "
            "sets or names from standard input, with blanks or newlines between them. How a set "
            "is written: '{prog} help nodesets'.\n"
            "\n"
            "  fold     the nodes as one short text: w[001-006,008-040]\n"
            "  expand   every name\n"
            "  count    how many there are\n"
            "  diff     what the second of two sets lacks (-) and has more (+)\n"
            "\n"
            "No nodes are no line of output. No more than 1000000 names are written out by expand; "
            "fold and count have no such limit.",
    .examples = {{"A list of names in few words", "nodeset fold - <names"},
                 {"Forty nodes but one, a name on each line",
                  "nodeset expand -S '\\n' 'w[001-040]!w007'"},
                 {"Which nodes of a list are missing, and which are new",
                  "nodeset diff 'w[001-040]' - <names"}},
    .options = (const struct verb_options[]){{&own_options, 0}, {0}},
    .opts_size = sizeof(struct nodeset_opts),
    .min_args = 1,
    .max_args = -1,
    .exits = (const enum exit_code[]){EXIT_CHANGES, EXIT_DONE},
    .see_also = (const char *const[]){"nodesets", "status", NULL},
    .run = run,
};
