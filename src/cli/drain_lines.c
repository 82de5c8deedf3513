/* A drain in kubectl's words. */
#include "cli/drain_lines.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/drain_summary.h"
#include "cli/drain_words.h"
#include "cli/target.h"

#define PENDING "There are pending nodes to be drained:\n"

/* Appends a line, made printable as a whole: names and messages come from the cluster. */
__attribute__((format(printf, 2, 3))) static void say(struct str *out, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *text = xvasprintf(fmt, ap);
    va_end(ap);
    utf8_printable(out, text);
    str_addc(out, '\n');
}

/* --- one note --- */

static void pod_begins(const struct drain_lines *l, const struct drain_pod *p, bool deletion,
                       struct str *out) {
    if (l->started && l->dry_run == DRY_RUN_NONE)
        say(out, "pod/%s %s started", p->name, deletion ? "deletion" : "eviction");
    /* kubectl says nothing when it begins to delete, but for its own dry run; in that of the server
     * it waits for ever for the pods to go, so that there are no words of its to keep to. */
    if (deletion && l->dry_run == DRY_RUN_SERVER)
        say(out, "deleting pod %s/%s%s", p->ns, p->name, target_dry_run_suffix(l->dry_run));
    else if (!deletion || l->dry_run == DRY_RUN_CLIENT)
        say(out, "evicting pod %s/%s%s", p->ns, p->name, target_dry_run_suffix(l->dry_run));
}

static void blocked(struct drain_lines *l, const struct drain_note *note, struct str *err) {
    if (!note->blocker)
        return;
    struct drain_blocker b = *note->blocker;
    _cleanup_str_ struct str text = STR_INIT, self = STR_INIT;
    /* One node that waits for its turn stands for the others. */
    if (blocker_is_turn(b.code) && l->told_turn)
        return;
    l->told_turn |= blocker_is_turn(b.code);
    if (note->pod)
        str_addf(&self, "%s/%s", note->pod->ns, note->pod->name);
    else
        str_add(&self, note->node->name);
    if (str_same(b.object, str_get(&self)))
        b.object = NULL;
    drain_blocker_text(&b, &text);
    if (!blocker_row(b.code)->clears_itself)
        str_addf(&text, "; %s", drain_hint(&b));
    say(err, "%s %s waits: %s", note->pod ? "pod" : "node", str_get(&self), str_get(&text));
}

static void remaining(const struct drain_node *n, int64_t now, struct str *err) {
    char buf[TIMEFMT_LEN];
    bool any = false;
    for (size_t i = 0; i < n->n_pods; i++) {
        const struct drain_pod *p = n->pods[i];
        _cleanup_str_ struct str why = STR_INIT;
        if (!drain_pod_remains(p))
            continue;
        if (!any)
            say(err, "There are pending pods in node \"%s\" when an error occurred: %s", n->name,
                strna(n->error));
        any = true;
        drain_remains_text(p, &why);
        int64_t since = drain_remains_since(p);
        say(err, "%s/%s  %s  %s", p->ns, p->name, str_get(&why),
            since ? duration_format(now - since, buf) : "-");
    }
}

static void unable(const char *node, const char *error, struct str *err) {
    say(err, "error: unable to drain node \"%s\" due to error: %s, continuing command...", node,
        error);
}

static void node_ended(const struct drain_lines *l, const struct drain_note *note, struct str *out,
                       struct str *err) {
    const struct drain_node *n = note->node;
    switch (n->phase) {
    case DRAIN_DONE:
        if (note->before != DRAIN_UNDOING) /* said before it was uncordoned */
            say(out, "node/%s drained%s", n->name, target_dry_run_suffix(l->dry_run));
        return;
    case DRAIN_UNDOING:
        if (n->emptied)
            say(out, "node/%s drained%s", n->name, target_dry_run_suffix(l->dry_run));
        return;
    case DRAIN_TIMED_OUT:
    case DRAIN_FAILED:
        remaining(n, note->time, err);
        break;
    case DRAIN_REFUSED: /* the error names the pods */
        break;
    default: /* stopped: drain_lines_stopped() says it for all */
        return;
    }
    unable(n->name, strna(n->error), err);
}

/* "pod NS/P: TEXT", "node N: TEXT" or the text alone. */
static void remark(const struct drain_note *note, struct str *err) {
    if (note->pod)
        say(err, "pod %s/%s: %s", note->pod->ns, note->pod->name, strna(note->text));
    else if (note->node)
        say(err, "node %s: %s", note->node->name, strna(note->text));
    else
        say(err, "%s", strna(note->text));
}

void drain_lines_note(struct drain_lines *l, const struct drain_note *note, struct str *out,
                      struct str *err) {
    const struct drain_node *n = note->node;
    const struct drain_pod *p = note->pod;
    const char *suffix = target_dry_run_suffix(l->dry_run);
    switch (note->kind) {
    case NOTE_CORDONED:
        say(out, "node/%s cordoned%s", n->name, suffix);
        break;
    case NOTE_ALREADY_CORDONED:
        say(out, "node/%s already cordoned%s", n->name, suffix);
        break;
    case NOTE_CORDON_FAILED:
        say(err, "error: unable to cordon node \"%s\": %s", n->name, strna(note->text));
        break;
    case NOTE_UNCORDONED:
        say(out, "node/%s uncordoned%s", n->name, suffix);
        break;
    case NOTE_PHASE:
        node_ended(l, note, out, err);
        break;
    case NOTE_WARNINGS:
        say(err, "Warning: %s", strna(note->text));
        break;
    case NOTE_POD_EVICTING:
        pod_begins(l, p, false, out);
        break;
    case NOTE_POD_DELETING:
        pod_begins(l, p, true, out);
        break;
    case NOTE_POD_GONE: /* in a dry run nothing goes */
        if (l->dry_run == DRY_RUN_NONE)
            say(out, "pod/%s %s", p->name, p->deleted ? "deleted" : "evicted");
        break;
    case NOTE_POD_SKIPPED_WAIT:
        say(out, "pod \"%s\" has DeletionTimestamp older than %lld seconds, skipping", p->name,
            (long long)l->skip_wait);
        break;
    case NOTE_POD_LATE:
        say(err, "pod %s/%s came to node %s after the cordon: %s", p->ns, p->name, n->name,
            strna(note->text));
        break;
    case NOTE_BLOCKED:
        blocked(l, note, err);
        break;
    case NOTE_POD_FAILED:
    case NOTE_ESCALATED:
    case NOTE_SURGE:
    case NOTE_REMARK:
        remark(note, err);
        break;
    case NOTE_UNBLOCKED:
        break;
    }
}

/* --- the end --- */

/* An error of several parts, "[cannot delete A: a, cannot delete B: b]", is taken apart by kubectl
 * when it is the only one. */
static void say_parts(const char *error, struct str *err) {
    static const char separator[] = ", cannot delete ";
    size_t len = strlen(error);
    if (error[0] != '[' || error[len - 1] != ']') {
        say(err, "%s", error);
        return;
    }
    _cleanup_free_ char *inner = xstrndup(error + 1, len - 2);
    for (const char *part = inner, *next; part; part = next) {
        const char *end = strstr(part, separator);
        next = end ? end + 2 : NULL;
        say(err, "%.*s", (int)(end ? (size_t)(end - part) : strlen(part)), part);
    }
}

void drain_lines_end(const struct drain_node *const *nodes, size_t n, struct str *err) {
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        if (nodes[i]->phase == DRAIN_DONE)
            continue;
        if (!left++)
            str_add(err, PENDING);
        say(err, " %s", nodes[i]->name);
    }
    /* What kubectl ends with: the errors once more, each on a line. */
    for (size_t i = 0; i < n; i++) {
        if (nodes[i]->phase == DRAIN_DONE || str_empty(nodes[i]->error))
            continue;
        if (left == 1)
            say_parts(nodes[i]->error, err);
        else
            say(err, "%s", nodes[i]->error);
    }
}

void drain_lines_refused(const char *const *names, size_t n, const char *error, struct str *err) {
    for (size_t i = 0; i < n; i++)
        unable(names[i], error, err);
    str_add(err, PENDING);
    for (size_t i = 0; i < n; i++)
        say(err, " %s", names[i]);
    for (size_t i = 0; n > 1 && i < n; i++)
        say(err, "%s", error);
}

/* Nodes as a word that a shell takes; to be freed. */
static char *set_word(const struct drain_node *const *nodes, size_t n) {
    _cleanup_str_ struct str set = STR_INIT;
    drain_fold(nodes, n, &set);
    const char *quote = strpbrk(str_get(&set), "[](),!&^;'\" *?$") ? "'" : "";
    return xasprintf("%s%s%s", quote, str_get(&set), quote);
}

void drain_lines_stopped(const struct drain_node *const *nodes, size_t n, const char *undo,
                         const char *again, struct str *err) {
    struct drain_totals t;
    VEC(const struct drain_node *) ours = VEC_INIT;
    drain_totals_take(nodes, n, &t);
    for (size_t i = 0; i < n; i++)
        if (nodes[i]->cordoned_by_us)
            *vec_push(&ours) = nodes[i];
    unsigned first = t.evicted || !t.deleted ? t.evicted : t.deleted;
    _cleanup_str_ struct str went = STR_INIT;
    str_addf(&went, "%u pod%s %s", first, first == 1 ? "" : "s",
             t.evicted || !t.deleted ? "evicted" : "deleted");
    if (t.evicted && t.deleted)
        str_addf(&went, ", %u deleted", t.deleted);
    if (t.leaving)
        str_addf(&went, ", %u still ending", t.leaving);
    say(err, "Stopped: %u of %zu node%s drained, %s, %u left", t.of[DRAIN_DONE], n,
        n == 1 ? "" : "s", str_get(&went), t.remaining - t.leaving);
    say(err, "To go on:  %s", again);
    if (ours.len) {
        _cleanup_free_ char *set = set_word(ours.p, ours.len);
        say(err, "To undo:   %s %s", undo, set);
    }
    vec_done(&ours);
}

void drain_lines_at_once(const struct drain_node *const *nodes, size_t n, bool soon,
                         const char *undo, struct str *err) {
    VEC(const struct drain_node *) ours = VEC_INIT;
    for (size_t i = 0; i < n; i++) {
        enum drain_phase phase = nodes[i]->phase;
        if (nodes[i]->cordoned_by_us || (phase == DRAIN_CORDONING && !nodes[i]->was_cordoned) ||
            (phase == DRAIN_WAITING && soon))
            *vec_push(&ours) = nodes[i];
    }
    if (ours.len) {
        _cleanup_free_ char *set = set_word(ours.p, ours.len);
        say(err, "ended at once: up to %zu node%s still cordoned; to undo: %s %s", ours.len,
            ours.len == 1 ? " is" : "s are", undo, set);
    } else {
        say(err, "ended at once: no node is left cordoned by it");
    }
    vec_done(&ours);
}

enum exit_code drain_exit_code(const struct drain_node *const *nodes, size_t n) {
    size_t done = 0, late = 0;
    bool access = false, denied = false;
    for (size_t i = 0; i < n; i++) {
        done += nodes[i]->phase == DRAIN_DONE;
        late += nodes[i]->phase == DRAIN_TIMED_OUT;
        access |= nodes[i]->access;
        denied |= nodes[i]->denied;
    }
    return done == n          ? EXIT_DONE
           : done + late == n ? EXIT_BLOCKED
           : done             ? EXIT_PARTIAL
           : access           ? EXIT_ACCESS
           : denied           ? EXIT_REFUSED
                              : EXIT_FAILED;
}
