/* What people are told about a drain. */
#include "cli/drain_words.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/nodeset.h"

/* Nothing on the node has moved for so long: what clears itself is told as a blocker. A pod's
 * replacement takes some seconds to start, and until then its neighbour waits as it should. */
#define STUCK_AFTER SEC(30)

/* --- where a node stands --- */

static bool needs_somebody(const struct drain_blocker *b) {
    return !blocker_row(b->code)->clears_itself;
}

static bool pods_stuck(const struct drain_node *n, int64_t now) {
    int64_t moved = 0;
    bool waits = false, moves = false;
    for (size_t i = 0; i < n->n_pods; i++) {
        const struct drain_pod *p = n->pods[i];
        moved = MAX_OF(moved, MAX_OF(p->accepted, p->gone));
        if (p->state == DRAIN_POD_GONE || p->state == DRAIN_POD_STAYS)
            continue;
        if (!p->blocked) {
            moves |= p->state != DRAIN_POD_REFUSED && p->state != DRAIN_POD_FAILED;
            continue;
        }
        if (needs_somebody(&p->blocker))
            return true;
        if (blocker_row(p->blocker.code)->severity == SEVERITY_INFO)
            continue;
        waits = true;
        moved = MAX_OF(moved, p->blocker.since);
    }
    return waits && !moves && now - moved >= STUCK_AFTER;
}

enum drain_standing drain_standing(const struct drain_node *n, int64_t now) {
    switch (n->phase) {
    case DRAIN_WAITING:
        if (!n->gated)
            return STANDING_WAITING;
        break;
    case DRAIN_DONE:
        return STANDING_DONE;
    case DRAIN_STOPPED:
        return STANDING_STOPPED;
    case DRAIN_REFUSED:
    case DRAIN_TIMED_OUT:
    case DRAIN_FAILED:
        return STANDING_FAILED;
    default:
        break;
    }
    if (n->blocked &&
        (needs_somebody(&n->blocker) || (blocker_row(n->blocker.code)->severity != SEVERITY_INFO &&
                                         now - n->blocker.since >= STUCK_AFTER)))
        return STANDING_BLOCKED;
    if (n->phase == DRAIN_WAITING)
        return STANDING_WAITING;
    return n->blocked_pods && pods_stuck(n, now) ? STANDING_BLOCKED : STANDING_ACTIVE;
}

struct drain_counts drain_count(const struct drain_node *const *nodes, size_t n, int64_t now) {
    struct drain_counts c = {.total = (unsigned)n};
    for (size_t i = 0; i < n; i++)
        c.of[drain_standing(nodes[i], now)]++;
    return c;
}

unsigned drain_pods_left(const struct drain_node *n) {
    return n->total > n->gone ? n->total - n->gone : 0;
}

/* --- words --- */

const char *level_word(enum log_level level) {
    return level == LOG_ERROR ? "error" : level == LOG_WARN ? "warn" : "info";
}

const char *time_running(int64_t usec, char buf[static TIMEFMT_LEN]) {
    int64_t s = MAX_OF(usec, 0) / USEC_PER_SEC, m = s / 60, h = m / 60;
    if (s < 60)
        snprintf(buf, TIMEFMT_LEN, "%" PRId64 "s", s);
    else if (m < 60)
        snprintf(buf, TIMEFMT_LEN, "%" PRId64 "m%02ds", m, (int)(s % 60));
    else if (h < 24)
        snprintf(buf, TIMEFMT_LEN, "%" PRId64 "h%02dm", h, (int)(m % 60));
    else
        snprintf(buf, TIMEFMT_LEN, "%" PRId64 "d%02dh", h / 24, (int)(h % 24));
    return buf;
}

void drain_blocker_text(const struct drain_blocker *b, struct str *out) {
    const struct blocker_row *row = blocker_row(b->code);
    str_add(out, row->name);
    if (!str_empty(b->object))
        str_addf(out, " %s", b->object);
    str_addf(out, ": %s", str_empty(b->message) ? row->meaning : b->message);
}

bool drain_note_is_detail(const struct drain_note *note) {
    return note->kind == NOTE_POD_EVICTING || note->kind == NOTE_POD_DELETING ||
           note->kind == NOTE_POD_GONE;
}

enum log_level drain_note_level(const struct drain_note *note) {
    switch (note->kind) {
    case NOTE_CORDON_FAILED:
    case NOTE_POD_FAILED:
        return LOG_ERROR;
    case NOTE_WARNINGS:
    case NOTE_POD_LATE:
    case NOTE_POD_SKIPPED_WAIT:
    case NOTE_ESCALATED:
        return LOG_WARN;
    case NOTE_BLOCKED:
        return note->blocker && blocker_row(note->blocker->code)->severity != SEVERITY_INFO
                   ? LOG_WARN
                   : LOG_INFO;
    case NOTE_PHASE:
        switch (note->node ? note->node->phase : DRAIN_WAITING) {
        case DRAIN_REFUSED:
        case DRAIN_TIMED_OUT:
        case DRAIN_FAILED:
            return LOG_ERROR;
        case DRAIN_STOPPED:
            return LOG_WARN;
        default:
            return LOG_INFO;
        }
    default:
        return LOG_INFO;
    }
}

static const char *plural(unsigned n) {
    return n == 1 ? "" : "s";
}

static void phase_text(const struct drain_node *n, struct str *out) {
    char buf[TIMEFMT_LEN];
    unsigned left = drain_pods_left(n);
    switch (n->phase) {
    case DRAIN_WAITING:
        str_add(out, n->gated ? "is not cordoned before a check agrees" : "waits for its turn");
        break;
    case DRAIN_CORDONING:
        str_add(out, "is being cordoned");
        break;
    case DRAIN_CHECKING:
        str_add(out, "looks at its pods");
        break;
    case DRAIN_EVICTING:
        str_addf(out, "%u pod%s to go, %u stay%s", n->total, plural(n->total), n->stays,
                 n->stays == 1 ? "s" : "");
        break;
    case DRAIN_DETACHING:
        str_add(out, "its pods are gone, looks at their volumes");
        break;
    case DRAIN_RETURNING:
        str_add(out, "its volumes are detached, looks at the owners of its pods");
        break;
    case DRAIN_UNDOING:
        str_add(out, "takes its cordon back");
        break;
    case DRAIN_DONE:
        str_addf(out, "done in %s, %u pod%s gone",
                 time_running(n->started ? n->ended - n->started : 0, buf), n->gone,
                 plural(n->gone));
        break;
    case DRAIN_REFUSED:
    case DRAIN_TIMED_OUT:
    case DRAIN_FAILED:
        str_add(out, str_empty(n->error) ? drain_phase_word(n->phase) : n->error);
        break;
    case DRAIN_STOPPED:
        str_add(out, n->started ? "stopped" : "stopped before it began");
        if (n->started && n->total)
            str_addf(out, ", %u of %u pod%s left", left, n->total, plural(n->total));
        break;
    }
}

/* "pod web/frontend-1 ". */
static void add_pod(const struct drain_note *note, struct str *out) {
    if (note->pod)
        str_addf(out, "pod %s/%s ", strna(note->pod->ns), strna(note->pod->name));
}

/* "pod web/frontend-1: TEXT". */
static void pod_says(const struct drain_note *note, const char *what, struct str *out) {
    if (note->pod)
        str_addf(out, "pod %s/%s%s", strna(note->pod->ns), strna(note->pod->name), what);
    if (!str_empty(note->text))
        str_addf(out, "%s%s", note->pod ? ": " : "", note->text);
}

static void took(const char *word, int64_t from, int64_t to, struct str *out) {
    char buf[TIMEFMT_LEN];
    if (from && to >= from)
        str_addf(out, " %s %s", word, time_running(to - from, buf));
}

void drain_note_text(const struct drain_note *note, struct str *out) {
    switch (note->kind) {
    case NOTE_CORDONED:
        str_add(out, "cordoned");
        break;
    case NOTE_ALREADY_CORDONED:
        str_add(out, "was cordoned already");
        break;
    case NOTE_CORDON_FAILED:
        str_addf(out, "cannot be cordoned: %s", strna(note->text));
        break;
    case NOTE_UNCORDONED:
        str_add(out, "uncordoned");
        break;
    case NOTE_PHASE:
        if (note->node)
            phase_text(note->node, out);
        break;
    case NOTE_POD_EVICTING:
    case NOTE_POD_DELETING:
        str_add(out, note->kind == NOTE_POD_EVICTING ? "evicting " : "deleting ");
        pod_says(note, "", out);
        break;
    case NOTE_POD_GONE:
        add_pod(note, out);
        str_add(out, "is gone");
        if (note->pod)
            took("after", note->pod->first_try, note->pod->gone, out);
        break;
    case NOTE_POD_LATE:
        pod_says(note, " came after the cordon", out);
        break;
    case NOTE_POD_SKIPPED_WAIT:
        pod_says(note, " is not waited for", out);
        break;
    case NOTE_BLOCKED:
        str_add(out, "waits: ");
        if (note->blocker)
            drain_blocker_text(note->blocker, out);
        break;
    case NOTE_UNBLOCKED:
        str_add(out, "no longer waits");
        if (note->blocker) {
            str_addf(out, " for %s", blocker_row(note->blocker->code)->name);
            if (!str_empty(note->blocker->object))
                str_addf(out, " %s", note->blocker->object);
            took("after", note->blocker->since, note->time, out);
        }
        break;
    case NOTE_POD_FAILED:
    case NOTE_ESCALATED:
    case NOTE_SURGE:
        pod_says(note, "", out);
        break;
    case NOTE_WARNINGS:
    case NOTE_REMARK:
        str_add(out, strna(note->text));
        break;
    }
}

void drain_fold(const struct drain_node *const *nodes, size_t n, struct str *out) {
    const char **names = xcalloc(n, sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = nodes[i]->name;
    nodeset_fold(names, n, out);
    free(names);
}
