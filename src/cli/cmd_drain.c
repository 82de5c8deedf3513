/* The verb `drain`: takes the pods off nodes. The engine decides (engine/drain.h), the executor
 * acts (exec/drain_run.h); here are the flags, the lines, the signals and the exit code. */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/again.h"
#include "cli/drain_args.h"
#include "cli/drain_lines.h"
#include "cli/drain_view.h"
#include "cli/history.h"
#include "cli/identity.h"
#include "cli/refusal.h"
#include "cli/tty.h"
#include "cli/verb.h"
#include "exec/drain_run.h"

enum {
    CMDLINE_MAX = 128 << 10, /* of our own command line, to be shown again */
    MANY = 500,              /* nodes that take a while to be put into words: 5,000 some 10 ms */
};

/* --- the run --- */

struct drain_cmd {
    struct cli *cli;
    const struct drain_flags *opts;
    struct session *session;
    struct drain_run *run;
    struct drain_lines lines;
    enum progress mode; /* AUTO: no view, kubectl's lines alone */
    struct drain_view *view;
    bool shown;               /* the view knows the nodes */
    const char *const *names; /* of the nodes */
    size_t n_names;
    struct loop_timer *ticker;
    struct loop_timer *late; /* of --timeout, until there is something that the engine can time */
    struct loop_timer *wording; /* of what a second signal says */
    bool soon;                  /* the words are those for what may follow */
    int signal;
    int failed; /* exit code, when nothing could be begun */
    bool over;
    int history; /* the file that gets a line for each pod; -1: none */
    struct history_log log;
    char *id;    /* of the run, in events */
    char *again; /* the command that goes on with it */
    char *undo;  /* and the one that undoes it */
};

static void show_nodes(struct drain_cmd *c) {
    struct drain *engine = c->run ? drain_run_engine(c->run) : NULL;
    if (!c->view || c->shown || !engine)
        return;
    size_t n;
    const struct drain_node *const *nodes = drain_nodes(engine, &n);
    c->shown = true;
    drain_view_nodes(c->view, nodes, n, cli_now(c->cli));
}

/* Lines go out as they come; on a terminal the view puts them above its block. */
static void flush(struct drain_cmd *c, const struct str *err) {
    if (!c->view && err->len)
        str_addn(&c->cli->err.buf, str_get(err), err->len);
    if (c->mode != PROGRESS_TTY)
        term_flush(&c->cli->out);
    if (!c->view)
        term_flush(&c->cli->err);
}

static void keep_words(struct drain_cmd *c, const struct drain_note *note);

static void tell(struct drain_cmd *c, const struct drain_note *note) {
    _cleanup_str_ struct str out = STR_INIT, err = STR_INIT;
    if (c->view)
        drain_view_note(c->view, note);
    drain_lines_note(&c->lines, note, &out, &err);
    if (c->mode != PROGRESS_JSON)
        str_addn(&c->cli->out.buf, str_get(&out), out.len);
    flush(c, &err);
}

static void on_remark(void *arg, const char *text);

/* In one write: two drains may add to one file. */
static void keep_line(struct drain_cmd *c, const struct str *line) {
    if (!line->len || write(c->history, str_get(line), line->len) == (ssize_t)line->len)
        return;
    _cleanup_free_ char *text = xasprintf("cannot write to %s: %s; it gets no more lines",
                                          c->opts->history, strerror(errno));
    close(c->history);
    c->history = -1;
    on_remark(c, text);
}

static void keep_history(struct drain_cmd *c, const struct drain_note *note) {
    _cleanup_str_ struct str line = STR_INIT;
    if (note->kind == NOTE_BLOCKED && note->node && !note->pod)
        history_waits(&c->log, note->node, note->blocker);
    if (c->history < 0 || note->kind != NOTE_POD_GONE)
        return;
    history_line(&c->log, note->node, note->pod, note->time, &line);
    keep_line(c, &line);
}

static void on_started(void *arg, const struct start_seen *start) {
    struct drain_cmd *c = arg;
    _cleanup_str_ struct str line = STR_INIT;
    if (c->history < 0)
        return;
    history_start_line(&c->log, start, cli_now(c->cli), &line);
    keep_line(c, &line);
}

static void on_note(void *arg, const struct drain_note *note) {
    struct drain_cmd *c = arg;
    keep_history(c, note);
    show_nodes(c);
    keep_words(c, note);
    tell(c, note);
    /* The engine takes no cordon back that was not made; whoever asks for both wants to see it. */
    if (c->opts->uncordon && c->opts->target.dry_run != DRY_RUN_NONE && note->kind == NOTE_PHASE &&
        note->node->phase == DRAIN_DONE && !note->node->was_cordoned)
        tell(c,
             &(struct drain_note){.kind = NOTE_UNCORDONED, .time = note->time, .node = note->node});
}

static void on_remark(void *arg, const char *text) {
    struct drain_cmd *c = arg;
    if (c->view)
        drain_view_remark(c->view, LOG_WARN, text, cli_now(c->cli));
    else
        cli_note(c->cli, "%s", text);
}

/* kubectl, which has cordoned the nodes by then, says it for each and names them. We have done
 * nothing, and say the same. */
static bool fail_as_kubectl(struct drain_cmd *c, enum kube_outcome outcome, const char *message) {
    if (c->mode != PROGRESS_AUTO || outcome != KUBE_FORBIDDEN)
        return false;
    _cleanup_str_ struct str err = STR_INIT;
    drain_lines_refused(c->names, c->n_names, message, &err);
    str_addn(&c->cli->err.buf, str_get(&err), err.len);
    return c->n_names > 1 || refusal_say(c->session, outcome, NULL, message);
}

static void on_failed(void *arg, const char *what, enum kube_outcome outcome, const char *message) {
    struct drain_cmd *c = arg;
    if (c->view)
        drain_view_hide(c->view);
    c->failed = fail_as_kubectl(c, outcome, message)
                    ? (int)session_code(outcome)
                    : session_fail(c->session, what, outcome, message);
    loop_stop(c->session->loop);
}

/* The first picture does not come. Once there is one the engine counts. */
static void on_late(void *arg) {
    struct drain_cmd *c = arg;
    char limit[TIMEFMT_LEN];
    if (drain_run_engine(c->run) || c->failed || c->over)
        return;
    _cleanup_free_ char *text =
        xasprintf("%s: no answer within %s", c->session->conn.config->server,
                  duration_format_limit(c->opts->timeout, limit));
    on_failed(c, "read what is on the nodes", KUBE_UNKNOWN, text);
}

static void on_over(void *arg) {
    struct drain_cmd *c = arg;
    c->over = true;
    loop_stop(c->session->loop);
}

static void on_tick(void *arg) {
    struct drain_cmd *c = arg;
    show_nodes(c);
    drain_view_tick(c->view, cli_now(c->cli));
    loop_timer_set(c->ticker, drain_view_interval(c->view));
}

/* --- signals --- */

/* Before anything was begun. */
static void end_at_once(struct drain_cmd *c, int number) {
    if (c->mode == PROGRESS_JSON)
        drain_view_end(c->view, 128 + number, cli_now(c->cli));
    if (c->view)
        drain_view_restore(c->view);
    kube_auth_free(c->session->conn.auth); /* and a credential plugin with it */
    signal(number, SIG_DFL);
    raise(number);
}

static void on_stop(evutil_socket_t number, short what, void *arg) {
    struct drain_cmd *c = arg;
    (void)what;
    /* Before the first picture there is nothing to stop. */
    if (!c->run || !drain_run_engine(c->run)) {
        end_at_once(c, (int)number);
        return;
    }
    c->signal = (int)number;
    const char *text = "interrupted: nothing more is evicted; waiting for the answers to what is "
                       "under way (interrupt again to end at once)";
    if (c->view) {
        drain_view_stopping(c->view);
        drain_view_remark(c->view, LOG_WARN, text, cli_now(c->cli));
    } else {
        cli_note(c->cli, "%s", text);
    }
    drain_run_stop(c->run, number == SIGINT ? "interrupted" : "terminated");
}

static void on_resize(evutil_socket_t number, short what, void *arg) {
    const struct drain_cmd *c = arg;
    (void)number, (void)what;
    if (c->view)
        drain_view_resize(c->view);
}

static void on_suspend(evutil_socket_t number, short what, void *arg) {
    const struct drain_cmd *c = arg;
    (void)number, (void)what;
    if (c->view)
        drain_view_suspend(c->view);
    raise(SIGSTOP); /* the next tick after SIGCONT draws again */
}

static const struct {
    int number;
    event_callback_fn handle;
    bool tty; /* only with a block on the terminal */
} handlers[] = {
    {SIGINT, on_stop, false},    {SIGTERM, on_stop, false},   {SIGHUP, on_stop, false},
    {SIGWINCH, on_resize, true}, {SIGTSTP, on_suspend, true},
};

/* Signals reach the loop between two events. When it hangs in a write to a terminal or a pipe that
 * nobody reads, that is never: so the second one ends the process from here, and the first one
 * makes the write give up (struct term, interrupted). Nothing can be put into words here: they are
 * ready, and replaced as a whole. */
static volatile sig_atomic_t interrupted; /* signals that came */
static struct {
    struct drain_view *volatile view;
    const char *volatile words;
    void (*handler)(int number); /* the loop's */
} at_once;

static void on_signal(int number) {
    struct drain_view *view = at_once.view;
    const char *words = at_once.words;
    if (view && number == SIGINT)
        drain_view_key(view);
    if (number != SIGQUIT && !interrupted++) {
        at_once.handler(number);
        return;
    }
    if (view)
        drain_view_restore(view);
    if (words)
        tty_write_now(STDERR_FILENO, words, strlen(words));
    signal(number, SIG_DFL);
    raise(number);
}

/* What a second signal says. `soon`: nodes whose turn comes at this moment are among them, which is
 * true until the next time. */
static void word(struct drain_cmd *c, bool soon) {
    struct drain *engine = c->run ? drain_run_engine(c->run) : NULL;
    struct str text = STR_INIT;
    if (engine && c->opts->target.dry_run == DRY_RUN_NONE) {
        size_t n;
        const struct drain_node *const *nodes = drain_nodes(engine, &n);
        drain_lines_at_once(nodes, n, soon, c->undo, &text);
    }
    char *before = (char *)(uintptr_t)at_once.words;
    at_once.words = str_take(&text);
    free(before);
    c->soon = soon;
}

static void on_wording(void *arg) {
    word(arg, false);
}

/* Cordons come and go. The words name what may be cordoned, at any moment: when one is about to be
 * asked for they are made at once, for all that may follow, and again when all have been told. */
static void keep_words(struct drain_cmd *c, const struct drain_note *note) {
    bool begins = note->kind == NOTE_PHASE && note->node->phase == DRAIN_CORDONING;
    if (!c->wording || (note->kind != NOTE_PHASE && note->kind != NOTE_UNCORDONED &&
                        note->kind != NOTE_CORDONED && note->kind != NOTE_ALREADY_CORDONED))
        return;
    if (begins && !c->soon)
        word(c, true);
    size_t n;
    drain_nodes(drain_run_engine(c->run), &n);
    if (!loop_timer_pending(c->wording))
        loop_timer_set(c->wording, n > MANY ? MSEC((int64_t)n / 5) : 0);
}

static void catch_signal(struct drain_cmd *c, int number, struct sigaction *old) {
    struct sigaction action;
    if (sigaction(number, NULL, &action))
        return;
    *old = action;
    c->cli->out.interrupted = c->cli->err.interrupted = &interrupted;
    action.sa_handler = on_signal;
    action.sa_flags &= ~SA_RESTART;
    sigaction(number, &action, NULL);
}

static bool is_ignored(int number) { /* nohup */
    struct sigaction now;
    return !sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN;
}

static void run_loop(struct drain_cmd *c) {
    struct event *events[ARRAY_LEN(handlers)] = {0};
    struct sigaction old, quit = {.sa_handler = SIG_IGN};
    bool tty = c->mode == PROGRESS_TTY;
    at_once.view = c->view;
    for (size_t i = 0; i < ARRAY_LEN(handlers); i++) {
        if (is_ignored(handlers[i].number) || (handlers[i].tty && !tty))
            continue;
        events[i] =
            evsignal_new(loop_base(c->session->loop), handlers[i].number, handlers[i].handle, c);
        event_add(events[i], NULL);
        if (handlers[i].handle == on_stop) {
            catch_signal(c, handlers[i].number, &old);
            at_once.handler = old.sa_handler;
        }
    }
    if (tty && !is_ignored(SIGQUIT)) /* Ctrl-\ ends it as a second Ctrl-C does */
        catch_signal(c, SIGQUIT, &quit);
    c->wording = loop_timer_new(c->session->loop, on_wording, c);
    c->late = loop_timer_new(c->session->loop, on_late, c);
    if (c->opts->timeout)
        loop_timer_set(c->late, c->opts->timeout);
    while (!c->over && !c->failed)
        loop_run(c->session->loop);
    for (size_t i = 0; i < ARRAY_LEN(handlers); i++)
        if (events[i])
            event_free(events[i]);
    if (quit.sa_handler != SIG_IGN)
        sigaction(SIGQUIT, &quit, NULL);
    at_once.view = NULL;
    loop_timer_free(c->wording);
    loop_timer_free(c->late);
    c->wording = c->late = NULL;
}

/* --- the end --- */

/* The words in argv have been moved about since they were typed. */
static void keep_commands(struct drain_cmd *c) {
    _cleanup_free_ char *line = NULL;
    size_t len = 0;
    struct str again = STR_INIT, undo = STR_INIT;
    if (c->again)
        return;
    if (file_read("/proc/self/cmdline", CMDLINE_MAX, &line, &len, NULL)) {
        str_addf(&again, "%s %s", c->cli->prog, c->cli->verb->name);
        str_addf(&undo, "%s uncordon", c->cli->prog);
    } else {
        again_command(c->cli->prog, line, len, &again);
        again_uncordon(c->cli->prog, line, len, &undo);
    }
    c->again = str_take(&again);
    c->undo = str_take(&undo);
}

static int finish(struct drain_cmd *c) {
    struct cli *cli = c->cli;
    size_t n = 0;
    const struct drain_node *const *nodes = drain_nodes(drain_run_engine(c->run), &n);
    int code = c->signal ? 128 + c->signal : (int)drain_exit_code(nodes, n);
    if (c->view) {
        drain_view_tick(c->view, cli_now(cli));
        drain_view_end(c->view, code, cli_now(cli));
    }
    term_flush(&cli->out);
    _cleanup_str_ struct str err = STR_INIT;
    if (!c->view && c->signal)
        drain_lines_stopped(nodes, n, c->undo, c->again, &err);
    else if (!c->view)
        drain_lines_end(nodes, n, &err);
    str_addn(&cli->err.buf, str_get(&err), err.len);
    term_flush(&cli->err);
    return code;
}

/* --- from flags to the engine --- */

static void fill(struct drain_cmd *c, const struct identity *me, const struct drain_args *args,
                 struct drain_run_opts *out) {
    const struct drain_flags *o = c->opts;
    const struct target *target = &args->target;
    uint64_t seed = (uint64_t)loop_now(c->session->loop) ^ (uint64_t)getpid() << 40;
    *out = (struct drain_run_opts){
        .names = target->names.p,
        .n_names = target->names.len,
        .checks = o->skip_checks != (1u << n_checks) - 1,
        .selected = target->selector != NULL,
        .page = o->chunk ? o->chunk : INT_MAX,
        .seed = seed,
        .note = on_note,
        .remark = on_remark,
        .failed = on_failed,
        .started = c->history >= 0 ? on_started : NULL,
        .over = on_over,
        .arg = c,
    };
    drain_args_opts(o, args, &out->drain);
    out->drain.seed = seed;
    out->drain.holder = (struct cordon_holder){
        .id = me->id, .by = me->by, .reason = strna(o->target.reason), .since = cli_now(c->cli)};
}

static void open_view(struct drain_cmd *c) {
    struct cli *cli = c->cli;
    cli->out.pager = NULL;
    keep_commands(c);
    if (!c->id)
        c->id = xasprintf("drain-%llx", (unsigned long long)cli_now(cli));
    c->log.drain = c->id;
    if (c->mode == PROGRESS_AUTO || c->view)
        return;
    c->view = drain_view_new(&(struct drain_view_opts){
        .mode = c->mode,
        .term = c->mode == PROGRESS_JSON ? &cli->out : &cli->err,
        .err = c->mode == PROGRESS_JSON ? &cli->err : NULL,
        .out = c->mode == PROGRESS_TTY ? &cli->out : NULL,
        .undo = c->undo,
        .again = c->again,
        .run = c->id,
        .verbose = cli->general.verbose > 0,
        .dry_run = c->opts->target.dry_run != DRY_RUN_NONE,
        .now = cli_now(cli),
    });
}

/* The last word, if it was not said yet. */
static void end_view(struct drain_cmd *c, int code) {
    if (!c->view)
        return;
    drain_view_error(c->view, c->cli->errors);
    drain_view_end(c->view, code, cli_now(c->cli));
}

/* No request takes longer than the whole drain may. */
static int read_target(struct drain_cmd *c, struct target *target) {
    int64_t *limit = &c->session->conn.client.timeout, given = *limit;
    if (c->opts->timeout && (!given || c->opts->timeout < given))
        *limit = c->opts->timeout;
    int rc = target_read(c->session, target);
    *limit = given;
    return rc;
}

static int run_session(struct drain_cmd *c, const struct identity *me, struct drain_args *args) {
    struct target *target = &args->target;
    struct drain_run_opts opts;
    int rc = read_target(c, target);
    if (rc)
        return rc;
    if (!target->names.len) {
        if (c->mode != PROGRESS_AUTO) /* kubectl says nothing */
            on_remark(c, "No resources found");
        return EXIT_DONE;
    }
    c->names = target->names.p;
    c->n_names = target->names.len;
    fill(c, me, args, &opts);
    open_view(c);
    if (c->view) {
        c->ticker = loop_timer_new(c->session->loop, on_tick, c);
        loop_timer_set(c->ticker, 0);
    }
    c->run = drain_run_new(&c->session->conn.client, &opts);
    run_loop(c);
    rc = c->failed ? c->failed : finish(c);
    end_view(c, rc);
    loop_timer_free(c->ticker);
    drain_run_free(c->run);
    return rc;
}

/* Whoever wrote to it before may have been killed in the middle of a line. */
static int end_line(int fd) {
    off_t end = lseek(fd, 0, SEEK_END);
    char last;
    if (end <= 0 || pread(fd, &last, 1, end - 1) != 1 || last == '\n')
        return 0;
    return write(fd, "\n", 1) == 1 ? 0 : -1;
}

/* Before anything is touched: what cannot be written is said at once. */
static int open_history(struct drain_cmd *c) {
    _cleanup_err_ struct err err = ERR_INIT;
    const char *path = c->opts->history;
    if (!path || c->opts->target.dry_run != DRY_RUN_NONE)
        return 0;
    c->history = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    struct stat st;
    /* A drain waits for nobody who reads a pipe. */
    if (c->history >= 0 && !fstat(c->history, &st) && !S_ISREG(st.st_mode))
        return cli_fail(c->cli, EXIT_USAGE, "--history: %s: is no regular file", path);
    if (c->history >= 0 && !end_line(c->history))
        return 0;
    err_errno(&err, errno, "%s", path);
    return cli_fail(c->cli, EXIT_USAGE, "--history: %s", err_msg(&err));
}

static int run_with(struct drain_cmd *c, struct drain_args *args) {
    struct cli *cli = c->cli;
    _cleanup_err_ struct err err = ERR_INIT;
    struct session session;
    struct identity me;
    if (identity_get(cli->env, c->opts->target.holder, &cli->arena, &me, &err))
        return cli_error(cli, &err);
    int rc = session_open(cli, &c->opts->connection, &session);
    if (rc)
        return rc;
    c->session = &session;
    rc = run_session(c, &me, args);
    target_done(&session, &args->target);
    session_close(&session);
    c->session = NULL;
    return rc;
}

static int run_words(struct drain_cmd *c, int argc, char **argv) {
    struct drain_args args;
    int rc = drain_args_parse(c->cli, c->opts, argc, argv, &args);
    if (rc)
        return rc;
    rc = open_history(c);
    if (!rc)
        rc = run_with(c, &args);
    if (c->history >= 0)
        close(c->history);
    drain_args_done(&args);
    return rc;
}

/* What a pipe passes on may end up on the same screen (| tee log), behind the back of a block. */
static bool is_piped(int fd) {
    struct stat st;
    return !fstat(fd, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct drain_flags *opts = cli->opts;
    struct term shown = cli->err;
    shown.tty = shown.tty && !is_piped(cli->out.fd);
    struct drain_cmd c = {
        .cli = cli,
        .opts = opts,
        .history = -1,
        .log = {.started = cli_now(cli)},
        .mode =
            drain_flags_progress(opts, &shown, cli->general.quiet, cli->general.verbose, cli->env),
        .lines = {.dry_run = (enum dry_run)opts->target.dry_run,
                  .skip_wait = opts->skip_wait,
                  .started = cli->general.verbose >= 2},
    };
    /* Whoever reads events gets a summary, whatever happens from here on. */
    if (c.mode == PROGRESS_JSON)
        open_view(&c);
    int rc = run_words(&c, argc, argv);
    end_view(&c, rc);
    drain_view_free(c.view);
    history_log_done(&c.log);
    free(c.id);
    free(c.again);
    free(c.undo);
    free((char *)(uintptr_t)at_once.words);
    at_once.words = NULL;
    return rc;
}

const struct verb verb_drain = {
    .name = "drain",
    .summary = "Take the pods off nodes",
    .args = "NODE...|-l SELECTOR",
    .text =
        "Cordons the nodes and evicts their pods, with the arguments and flags of kubectl drain "
        "and the same lines on standard output, each once. NODE may be a node set. Nothing is ever "
        "asked.\n"
        "\n"
        "Several nodes are drained at once, as many as PodDisruptionBudgets and --max-unavailable "
        "allow; one that is stuck does not hold up the others. --max-unavailable binds this "
        "process alone. Whatever waits is shown with a reason: which budget, how many pods it "
        "needs and has.\n"
        "\n"
        "A node is drained when its pods are gone and their volumes detached. Pods of DaemonSets "
        "and static pods stay. Pods that nothing brings back and pods with emptyDir data are a "
        "reason to refuse the node, which then stays cordoned with all its pods, unless --force or "
        "--delete-emptydir-data is given.\n"
        "\n"
        "Longhorn, Rook Ceph, KubeVirt, PostgreSQL and etcd, where they are installed, are asked "
        "whether the node may go: one that waits for them is not cordoned before they agree, and "
        "one that holds the last copy of something is refused. --skip-check does without one, by "
        "name and with a reason.\n"
        "\n"
        "Ctrl-C stops: nothing more is evicted, and the commands to go on and to undo are shown. A "
        "second one ends at once. Started again, a drain goes on where it was.",
    .examples = {{"One node, and why", "drain w1 --reason CHG-1234"},
                 {"A rack, at most three nodes at a time", "drain -l rack=r12 --max-unavailable 3"},
                 {"What would be done, as the API server sees it",
                  "drain 'w[001-040]!w007' --dry-run=server"}},
    .options =
        (const struct verb_options[]){
            {&drain_kubectl_options, 0},
            {&drain_own_options, 0},
            {&drain_history_options, 0},
            {&drain_progress_options, 0},
            {&target_options, offsetof(struct drain_flags, target)},
            {&connection_options, offsetof(struct drain_flags, connection)},
            {0}},
    .opts_size = sizeof(struct drain_flags),
    .max_args = -1,
    .arg_hint = HINT_NODE,
    .exits = (const enum exit_code[]){EXIT_BLOCKED, EXIT_ACCESS, EXIT_REFUSED, EXIT_PARTIAL,
                                      EXIT_SIGINT, EXIT_SIGTERM, 0},
    .see_also = (const char *const[]){"checks", "why", NULL},
    .common = true,
    .run = run,
};
