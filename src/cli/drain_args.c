/* From the flags of `drain` to what the engine wants. */
#include "cli/drain_args.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/plan_text.h"

enum { RULES_MAX = 1 << 20 }; /* bytes of a file of rules */

static int read_rules(struct cli *cli, const char *path, struct drain_args *out) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *text = NULL;
    size_t len;
    if (!path)
        return 0;
    bool in = streq(path, "-");
    if (in && isatty(STDIN_FILENO))
        cli_note(cli, "reading the rules from standard input; Ctrl-D ends them");
    if (file_read(in ? "/dev/stdin" : path, RULES_MAX, &text, &len, &err) ||
        rules_parse(text, len, in ? "standard input" : path, &out->rules, &err))
        return cli_fail(cli, EXIT_USAGE, "--rules: %s", err_msg(&err));
    plan_hash(text, len, out->rules_id);
    return 0;
}

int drain_args_rules_id(const char *path, char out[17], struct err *err) {
    _cleanup_free_ char *text = NULL;
    size_t len;
    int rc = file_read(path, RULES_MAX, &text, &len, err);
    if (!rc)
        plan_hash(text, len, out);
    return rc;
}

int drain_args_parse(struct cli *cli, const struct drain_flags *f, int argc, char **argv,
                     struct drain_args *out) {
    *out = (struct drain_args){0};
    const char *reason = strna(f->target.reason);
    if (f->skip_checks && !reason[strspn(reason, " \t\n")])
        return cli_usage(cli, "--skip-check needs --reason: why is it safe to do without?");
    int rc = target_parse(cli, &f->target, argc, argv, &out->target);
    if (rc)
        return rc;
    if (f->pod_selector && selector_parse(f->pod_selector, &out->pods, NULL))
        rc = cli_fail(cli, EXIT_USAGE,
                      "--pod-selector=<pod_selector> must be a valid label selector");
    if (!rc)
        rc = read_rules(cli, f->rules, out);
    if (rc)
        drain_args_done(out);
    return rc;
}

void drain_args_done(struct drain_args *w) {
    target_forget(&w->target);
    selector_done(&w->pods);
    rules_free(w->rules);
}

void drain_args_opts(const struct drain_flags *f, const struct drain_args *w,
                     struct drain_opts *out) {
    *out = (struct drain_opts){
        .force = f->force,
        .ignore_daemonsets = f->ignore_daemonsets,
        .delete_emptydir = f->delete_emptydir,
        .disable_eviction = f->disable_eviction,
        .grace = f->grace,
        .timeout = f->timeout,
        .skip_wait = MAX_OF(f->skip_wait, 0),
        .pod_selector = w->pods.list,
        .dry_run = (enum dry_run)f->target.dry_run,
        .max_unavailable = f->max_unavailable,
        .parallel = (unsigned)f->parallel,
        .max_zones = (unsigned)f->max_zones,
        .in_order = f->in_order,
        .avoid_next = f->avoid_next,
        .rate = f->rate,
        .detach_timeout = f->detach_timeout,
        .surge = f->surge,
        .skip_checks = f->skip_checks,
        .wait_rescheduled = f->wait_rescheduled,
        .uncordon_on_abort = f->uncordon_on_abort,
        .uncordon_when_done = f->uncordon,
        .keep_record = f->target.dry_run == DRY_RUN_NONE,
        .rules = w->rules,
        .foreseen = f->foreseen,
        .n_foreseen = f->n_foreseen,
        .skew = w->target.ahead,
    };
}

/* --- and back --- */

__attribute__((format(printf, 2, 3))) static void word(struct drain_args_list *out, const char *fmt,
                                                       ...) {
    va_list ap;
    va_start(ap, fmt);
    *vec_push(out) = xvasprintf(fmt, ap);
    va_end(ap);
}

static void flag(struct drain_args_list *out, bool given, const char *name) {
    if (given)
        word(out, "--%s", name);
}

void drain_args_list_done(struct drain_args_list *l) {
    for (size_t i = 0; i < l->len; i++)
        free(l->p[i]);
    vec_done(l);
}

void drain_args_words(const struct drain_flags *f, struct drain_args_list *out) {
    char when[TIMEFMT_LEN];
    flag(out, f->force, "force");
    flag(out, !f->ignore_daemonsets, "ignore-daemonsets=false");
    flag(out, f->delete_emptydir, "delete-emptydir-data");
    flag(out, f->disable_eviction, "disable-eviction");
    if (f->grace >= 0)
        word(out, "--grace-period=%d", f->grace);
    if (f->timeout)
        word(out, "--timeout=%s", duration_format_go(f->timeout, when));
    if (f->skip_wait > 0)
        word(out, "--skip-wait-for-delete-timeout=%d", f->skip_wait);
    if (f->pod_selector)
        word(out, "--pod-selector=%s", f->pod_selector);
    if (f->max_unavailable.value)
        word(out, "--max-unavailable=%u%s", f->max_unavailable.value,
             f->max_unavailable.percent ? "%" : "");
    if (f->parallel)
        word(out, "--parallel=%d", f->parallel);
    if (f->max_zones)
        word(out, "--max-zones=%d", f->max_zones);
    flag(out, f->in_order, "in-order");
    flag(out, !f->avoid_next, "avoid-next=false");
    word(out, "--eviction-rate=%g", f->rate);
    if (f->rules) {
        /* Whoever gives it again may be elsewhere. */
        _cleanup_free_ char *path = realpath(f->rules, NULL);
        word(out, "--rules=%s", path ? path : f->rules);
    }
    for (size_t i = 0; i < n_checks; i++)
        if (f->skip_checks & 1u << i)
            word(out, "--skip-check=%s", checks_table[i].name);
    flag(out, f->surge, "surge");
    flag(out, f->wait_rescheduled, "wait-rescheduled");
    if (f->detach_timeout)
        word(out, "--volume-detach-timeout=%s", duration_format_go(f->detach_timeout, when));
    flag(out, f->uncordon, "uncordon");
    flag(out, f->uncordon_on_abort, "uncordon-on-abort");
    if (f->target.reason)
        word(out, "--reason=%s", f->target.reason);
    if (f->target.holder)
        word(out, "--holder=%s", f->target.holder);
}
