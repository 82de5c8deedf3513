/* The command line program: from argv to a verb, and from its result to an exit code. */
#include "cli/cli.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "base/timefmt.h"
#include "cli/complete.h"
#include "cli/emit.h"
#include "cli/help.h"
#include "cli/verb.h"

/* ---- speaking ---- */

void cli_keep_error(struct cli *cli, const char *text) {
    enum { MOST = 64 << 10 }; /* bytes: a thousand nodes may be missing */
    if (strlen(strna(cli->errors)) < MOST)
        cli->errors =
            arena_printf(&cli->arena, "%s%s%s", strna(cli->errors), cli->errors ? "; " : "", text);
}

enum tone {
    TONE_ERROR,   /* "error: ", and kept for documents */
    TONE_REFUSAL, /* kept as well */
    TONE_REMARK,
};

/* The result so far comes first, so that a terminal shows both in the order they were said. */
__attribute__((format(printf, 3, 0))) static void say(struct cli *cli, enum tone tone,
                                                      const char *fmt, va_list ap) {
    _cleanup_free_ char *text = xvasprintf(fmt, ap);
    term_flush(&cli->out);
    if (tone != TONE_REMARK)
        cli_keep_error(cli, text);
    if (tone == TONE_ERROR) {
        term_styled(&cli->err, STYLE_RED, "error");
        term_printf(&cli->err, ": ");
    }
    term_text(&cli->err, text);
    term_printf(&cli->err, "\n");
    term_flush(&cli->err);
}

int cli_fail(struct cli *cli, enum exit_code code, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    say(cli, TONE_ERROR, fmt, ap);
    va_end(ap);
    return (int)code;
}

int cli_refuse(struct cli *cli, enum exit_code code, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    say(cli, TONE_REFUSAL, fmt, ap);
    va_end(ap);
    return (int)code;
}

int cli_error(struct cli *cli, const struct err *err) {
    return cli_fail(cli, exit_from_errno(err->code ? err->code : EIO), "%s", err_msg(err));
}

int cli_usage(struct cli *cli, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    say(cli, TONE_ERROR, fmt, ap);
    va_end(ap);
    if (cli->verb && !cli->verb->hidden && !streq(cli->verb->name, "help"))
        term_printf(&cli->err, "See '%s %s --help' for usage.\n", cli->prog, cli->verb->name);
    else
        term_printf(&cli->err, "See '%s --help' for usage.\n", cli->prog);
    term_flush(&cli->err);
    return EXIT_USAGE;
}

void cli_advise(struct cli *cli, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    say(cli, TONE_REMARK, fmt, ap);
    va_end(ap);
}

void cli_note(struct cli *cli, const char *fmt, ...) {
    if (cli->general.quiet)
        return;
    va_list ap;
    va_start(ap, fmt);
    say(cli, TONE_REMARK, fmt, ap);
    va_end(ap);
}

void cli_warning(struct cli *cli, const char *text) {
    enum { MOST = 1000 }; /* a server could make up new ones for ever */
    if (!*text || cli->warnings.seen.len == MOST)
        return;
    for (size_t i = 0; i < cli->warnings.seen.len; i++)
        if (streq(cli->warnings.seen.p[i], text))
            return;
    *vec_push(&cli->warnings.seen) = arena_strndup(&cli->arena, text, strlen(text));
    cli_note(cli, "Warning: %s", text);
}

int64_t cli_now(const struct cli *cli) {
    const char *fake = cli->env("SLIPWAY_FAKE_NOW");
    int64_t now;
    if (fake && time_parse(fake, strlen(fake), &now))
        return now;
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return SEC(ts.tv_sec) + ts.tv_nsec / 1000;
}

static int64_t log_now(void *arg) {
    return cli_now(arg);
}

/* ---- results ---- */

int cli_print_document(struct cli *cli, const struct str *json, const struct output_format *f,
                       bool no_headers) {
    _cleanup_err_ struct err err = ERR_INIT;
    if (emit_document(str_get(json), json->len, f, no_headers, cli->out.tty, &cli->out.buf, &err))
        return cli_error(cli, &err);
    return EXIT_DONE;
}

int cli_print_table(struct cli *cli, struct table *table, const struct output_opts *o,
                    int64_t now) {
    assert(!output_is_document(&o->format));
    if (o->format.kind == OUTPUT_NAME) {
        table_names(table, &cli->out.buf);
        return EXIT_DONE;
    }
    bool wide = o->format.kind == OUTPUT_WIDE;
    table_text(table,
               &(struct table_view){.wide = wide,
                                    .no_headers = o->no_headers,
                                    .absolute = wide || o->utc,
                                    .color = cli->out.color,
                                    .glyphs = cli->out.tty,
                                    .utf8 = cli->out.utf8,
                                    .now = now,
                                    .columns = cli->out.tty ? cli->out.columns : 0},
               &cli->out.buf);
    return EXIT_DONE;
}

/* ---- dispatch ---- */

/* A flag that only the verb knows, before it, as kubectl allows it: with its value in the same
 * word, or else the next word is taken for one. */
static void skip_unknown(struct options_walk *walk, const char *word) {
    if (!strchr(word, '=') && (word[1] == '-' || !word[2]))
        walk->i++;
}

/* Index of the verb in argv: the first word that is neither flag nor value. -1: there is none; -2:
 * an unknown flag comes first, and no verb after it. */
static int find_verb(int argc, char **argv) {
    struct general_opts general;
    struct shared_opts shared;
    struct option_set set;
    verb_shared_set(&general, &shared, &set); /* bound, but only looked at */
    struct options_walk walk = options_walk(&set, argc, argv);
    bool unknown = false;
    for (;;) {
        struct option_token t = options_next(&walk);
        if (t.kind == TOKEN_ARG)
            return unknown && !verb_find(argv[t.index]) ? -2 : t.index;
        if (t.kind == TOKEN_UNKNOWN) {
            unknown = true;
            skip_unknown(&walk, argv[t.index]);
        } else if (t.kind != TOKEN_OPTION || t.row->stops) {
            return unknown ? -2 : -1;
        }
    }
}

static void settle(struct cli *cli) {
    struct term_env env;
    term_env_get(&env, cli->env);
    cli->out.color = term_wants_color((enum color_when)cli->general.color, &env, cli->out.tty);
    cli->err.color = term_wants_color((enum color_when)cli->general.color, &env, cli->err.tty);
    cli->log.level = (enum log_level)general_log_level(&cli->general);
    cli->log.timestamps = cli->general.verbose > 0;
}

static void print_version(struct cli *cli) {
    term_printf(&cli->out, "slipway %s\n", SLIPWAY_VERSION);
}

static int bad_flags(struct cli *cli, const struct options_fault *fault, const struct err *err) {
    int code = fault->late ? cli_fail(cli, EXIT_USAGE, "%s", err_msg(err))
                           : cli_usage(cli, "%s", err_msg(err));
    if (fault->advice)
        cli_advise(cli, "%s", fault->advice);
    return code;
}

/* Flags alone, or nothing. */
static int run_no_verb(struct cli *cli, int argc, char **argv, bool unknown_flag) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct shared_opts shared = {0};
    struct options_fault fault;
    struct option_set set;
    int n_args = 0;
    verb_shared_set(&cli->general, &shared, &set);
    if (options_parse(&set, argc, argv, cli->env, &cli->arena, &n_args, &fault, &err)) {
        if (unknown_flag && argc > 1 && !fault.advice)
            fault.advice = "Flags of a verb stand after it.";
        return bad_flags(cli, &fault, &err);
    }
    settle(cli);
    if (cli->general.help)
        help_index(cli->prog, &cli->out.buf);
    else if (cli->general.version)
        print_version(cli);
    else if (argc)
        return cli_usage(cli, "a verb is missing");
    else
        help_overview(cli->prog, &cli->out.buf);
    return EXIT_DONE;
}

static bool is_quiet_word(const struct verb *v, const char *word) {
    for (size_t i = 0; v->quiet_words && v->quiet_words[i]; i++)
        if (streq(v->quiet_words[i], word))
            return true;
    return false;
}

static int check_args(struct cli *cli, int argc, char **argv) {
    const struct verb *v = cli->verb;
    if (argc < v->min_args)
        return cli_usage(cli, "%s %s needs %s", cli->prog, v->name, v->args);
    if (v->max_args >= 0 && argc > v->max_args)
        return cli_usage(cli, "%s %s takes %s: \"%s\" is too much", cli->prog, v->name,
                         v->max_args ? v->args : "no arguments", argv[v->max_args]);
    size_t n = 0;
    while (v->arg_words && v->arg_words[n])
        n++;
    for (int i = 0; n && i < argc; i++) {
        size_t w = 0;
        while (w < n && !streq(v->arg_words[w], argv[i]))
            w++;
        for (size_t k = 0; w == n && k < n; k++) /* the same in capitals is meant */
            if (strcasecmp(v->arg_words[k], argv[i]) == 0)
                argv[i] = arena_printf(&cli->arena, "%s", v->arg_words[w = k]);
        if (w < n || is_quiet_word(v, argv[i]))
            continue;
        const char *near = suggest_nearest(argv[i], v->arg_words, n);
        /* "[CODE]" is one of many words, "bash|zsh|fish" are the words themselves. */
        bool listed = strchr(v->args, '|') != NULL;
        _cleanup_free_ char *what =
            listed ? xasprintf("not one of %s", v->args)
                   : xasprintf("none of those that '%s %s' lists", cli->prog, v->name);
        if (near)
            return cli_usage(cli, "\"%s\" is %s (did you mean \"%s\"?)", argv[i], what, near);
        return cli_usage(cli, "\"%s\" is %s", argv[i], what);
    }
    return EXIT_DONE;
}

static int count_before(const struct option_set *set, int argc, char *const *argv) {
    struct options_walk walk = options_walk(set, argc, argv);
    struct option_token token;
    int n = 0;
    while ((token = options_next(&walk)).kind != TOKEN_END)
        n += token.kind == TOKEN_ARG && !walk.ended;
    return n;
}

/* `drain --server w1`: what was meant for a node is the address, and the node is missing or the
 * address is nobody's. */
static void advise_server(struct cli *cli, const struct option_set *set) {
    void *base = NULL;
    const struct option *o = options_find(set, "server", strlen("server"), &base);
    if (!o || !base || o->kind != OPTION_STRING)
        return;
    const char *server = *(const char **)((char *)base + o->offset);
    if (!server || strchr(server, '/') || connection_is_address(server))
        return;
    cli_advise(cli, "\"%s\" was taken for the API server, as the value of --server.", server);
    cli_advise(cli, "%s", o->advice);
}

/* `ahead` words stand before where the verb was. */
static int run_verb(struct cli *cli, const struct verb *verb, int ahead, int argc, char **argv) {
    _cleanup_err_ struct err err = ERR_INIT;
    cli->verb = verb;
    if (verb->raw)
        return verb->run(cli, argc, argv);
    struct options_fault fault;
    struct option_set set;
    cli->opts = verb->opts_size ? arena_alloc(&cli->arena, verb->opts_size) : NULL;
    verb_option_set(verb, &cli->general, cli->opts, &set);
    verb_accept_connection(verb, cli->opts, &set);
    set.bare_from = ahead;
    cli->n_before = count_before(&set, argc, argv);
    if (options_parse(&set, argc, argv, cli->env, &cli->arena, &argc, &fault, &err))
        return bad_flags(cli, &fault, &err);
    settle(cli);
    if (cli->general.help) {
        help_verb(cli->prog, verb, &cli->out.buf);
        return EXIT_DONE;
    }
    if (cli->general.version) {
        print_version(cli);
        return EXIT_DONE;
    }
    int code = check_args(cli, argc, argv);
    code = code ? code : verb->run(cli, argc, argv);
    if (code == EXIT_USAGE || code == EXIT_ACCESS)
        advise_server(cli, &set);
    return code;
}

static int dispatch(struct cli *cli, int argc, char **argv) {
    const struct verb *raw = argc ? verb_find(argv[0]) : NULL;
    if (raw && raw->raw)
        return run_verb(cli, raw, 0, argc - 1, argv + 1);
    int at = find_verb(argc, argv);
    if (at < 0)
        return run_no_verb(cli, argc, argv, at == -2);
    const char *name = argv[at];
    const struct verb *verb = verb_find(name);
    if (!verb || verb->raw) {
        const char *near = verb_suggest(name);
        if (near)
            return cli_usage(cli, "unknown verb \"%s\" (did you mean \"%s\"?)", name, near);
        return cli_usage(cli, "unknown verb \"%s\"", name);
    }
    memmove(argv + at, argv + at + 1, (size_t)(argc - at - 1) * sizeof *argv);
    return run_verb(cli, verb, at, argc - 1, argv);
}

/* ---- the process ---- */

/* A closed standard stream must not become the number of the next file or socket that is opened.
 * Standard output is replaced by something that cannot be written, so that output still fails. */
static void keep_standard_streams(void) {
    static const int modes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            int got = open("/dev/null", modes[fd]);
            if (got >= 0 && got != fd) {
                dup2(got, fd);
                close(got);
            }
        }
}

/* A code that says what was found, not that looking failed. */
static bool is_answer(int code) {
    return code == EXIT_CHANGES || code == EXIT_BLOCKED || code == EXIT_REFUSED ||
           code == EXIT_PARTIAL;
}

static int finish(struct cli *cli, int code) {
    _cleanup_err_ struct err err = ERR_INIT;
    size_t warnings = cli->warnings.seen.len;
    if (!code && cli->warnings.fatal && warnings)
        code = cli_fail(cli, EXIT_FAILED, "%zu warning%s received", warnings,
                        warnings == 1 ? "" : "s");
    int r = term_close(&cli->out, &err);
    /* Of a reader that had enough nothing is said. */
    if (r && r != -EPIPE)
        cli_error(cli, &err);
    if (r && !code)
        code = r == -EPIPE ? EXIT_SIGPIPE : EXIT_FAILED;
    else if (r && r != -EPIPE && cli->verb && cli->verb->answers && is_answer(code))
        code = EXIT_FAILED; /* nobody has read it */
    term_close(&cli->err, NULL);
    vec_done(&cli->warnings.seen);
    arena_done(&cli->arena);
    return code;
}

int cli_main(int argc, char **argv, const char *commit) {
    keep_standard_streams();
    signal(SIGPIPE,
           SIG_IGN); /* a write says EPIPE; work in progress is not torn down by a reader */
    signal(SIGCHLD, SIG_DFL); /* whoever ignored it would take the exit status of plugins from us */
    json_set_alloc_funcs(xmalloc, free);
    setlocale(LC_CTYPE, "");

    struct cli cli = {.prog = "slipway", .commit = commit, .completer = &completer, .env = getenv};
    struct term_env env;
    term_env_get(&env, cli.env);
    term_open(&cli.out, STDOUT_FILENO, COLOR_AUTO, &env);
    term_open(&cli.err, STDERR_FILENO, COLOR_AUTO, &env);
    cli.err.pager = NULL;
    cli.log = (struct log){.level = LOG_WARN, .fd = STDERR_FILENO, .now = log_now, .now_arg = &cli};
    struct option_set general = {0};
    option_set_add(&general, &general_options, &cli.general);
    options_guess(&general, 0, NULL, cli.env, &cli.arena);
    settle(&cli); /* by the environment, for errors about the command line itself */

    const char *called = argc ? strrchr(argv[0], '/') : NULL;
    called = called ? called + 1 : argc ? argv[0] : "";
    bool complete = streq(called, "kubectl_complete-slipway");
    if (complete || streq(called, "kubectl-slipway"))
        cli.prog = "kubectl slipway";
    int n = argc ? argc - 1 : 0;
    char **words = argc ? argv + 1 : argv;
    int code =
        complete ? run_verb(&cli, verb_find("__complete"), 0, n, words) : dispatch(&cli, n, words);
    return finish(&cli, code);
}
