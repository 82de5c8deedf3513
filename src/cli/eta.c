/* How long a drain will still take. */
#include "cli/eta.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "cli/drain_words.h"

static int compare(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int64_t eta_middle(int64_t *v, size_t n) {
    qsort(v, n, sizeof *v, compare);
    return n % 2 ? v[n / 2] : v[n / 2 - 1] + (v[n / 2] - v[n / 2 - 1]) / 2;
}

void eta_add(struct eta_samples *s, int64_t duration) {
    if (duration >= 0)
        s->kept[s->n++ % ETA_KEPT] = duration;
}

int64_t eta_median(const struct eta_samples *s) {
    int64_t copy[ETA_KEPT];
    size_t n = MIN_OF(s->n, (size_t)ETA_KEPT);
    if (n < ETA_ENOUGH)
        return -1;
    memcpy(copy, s->kept, n * sizeof *copy);
    return eta_middle(copy, n);
}

void eta_note(struct eta *e, const struct drain_note *note) {
    const struct drain_node *n = note->node;
    const struct drain_pod *p = note->pod;
    if (note->kind == NOTE_POD_GONE && p && p->first_try && p->gone)
        eta_add(&e->pods, p->gone - p->first_try);
    if (note->kind == NOTE_PHASE && n && n->phase == DRAIN_DONE && n->started && n->ended)
        eta_add(&e->nodes, n->ended - n->started);
}

/* By its own pods: those that are leaving need what is missing of `pod`, the others come at the
 * pace at which the node has lost pods so far. */
static int64_t left_by_pods(const struct drain_node *n, int64_t pod, int64_t now) {
    int64_t leaving = 0;
    unsigned others = 0;
    for (size_t i = 0; i < n->n_pods; i++) {
        const struct drain_pod *p = n->pods[i];
        if (p->state == DRAIN_POD_LEAVING && p->first_try)
            leaving = MAX_OF(leaving, pod - (now - p->first_try));
        else if (p->state == DRAIN_POD_LEAVING)
            leaving = MAX_OF(leaving, pod);
        else if (p->state == DRAIN_POD_QUEUED || p->state == DRAIN_POD_SENT ||
                 p->state == DRAIN_POD_BLOCKED)
            others++;
    }
    if (!others)
        return leaving;
    int64_t pace = n->gone && now > n->started ? (now - n->started) / n->gone : 0;
    return MAX_OF(MAX_OF(leaving, pod), pace * others);
}

struct eta_left eta_left(const struct eta *e, const struct drain_node *const *nodes, size_t n,
                         int64_t now) {
    struct eta_left out = {.usec = -1};
    bool limited = true;
    int64_t node = eta_median(&e->nodes), pod = eta_median(&e->pods);
    VEC(int64_t) left = VEC_INIT;  /* of each node that is at work */
    VEC(int64_t) whole = VEC_INIT; /* what each will have taken then */
    unsigned waiting = 0, active = 0;
    for (size_t i = 0; i < n; i++) {
        enum drain_standing standing = drain_standing(nodes[i], now);
        waiting += standing == STANDING_WAITING;
        active += standing == STANDING_ACTIVE;
        if (standing == STANDING_BLOCKED) {
            out.excluded++;
            limited &= nodes[i]->deadline != 0;
            out.gives_up = MAX_OF(out.gives_up, nodes[i]->deadline - now);
        }
        if (standing != STANDING_ACTIVE || (node < 0 && pod < 0))
            continue;
        int64_t gone_by = nodes[i]->started ? MAX_OF(now - nodes[i]->started, 0) : 0;
        int64_t l = node >= 0 ? MAX_OF(node - gone_by, 0) : 0;
        if (!l && pod >= 0) /* nothing to compare with, or slower than the others */
            l = left_by_pods(nodes[i], pod, now);
        *vec_push(&left) = l;
        *vec_push(&whole) = gone_by + l;
    }
    if (left.len) {
        /* A node that waits takes the place of the one that is done first, and so on: the places
         * take turns, the earliest ones once more when it does not divide. */
        int64_t one = node >= 0 ? node : eta_middle(whole.p, whole.len);
        qsort(left.p, left.len, sizeof *left.p, compare);
        for (size_t i = 0; i < left.len; i++) {
            int64_t turns = (int64_t)(waiting / left.len + (i < waiting % left.len)), t;
            if (__builtin_mul_overflow(turns, one, &t) || __builtin_add_overflow(t, left.p[i], &t))
                t = INT64_MAX;
            out.usec = MAX_OF(out.usec, t);
        }
    } else if (!waiting && !active && !out.excluded) {
        out.usec = 0;
    }
    out.stuck = out.excluded && !waiting && !active;
    if (!limited)
        out.gives_up = -1;
    vec_done(&left);
    vec_done(&whole);
    return out;
}

/* To what can be believed: five minutes of hours, a minute of tens of minutes. */
static int64_t rounded(int64_t usec) {
    int64_t unit = usec >= SEC(3600)  ? SEC(300)
                   : usec >= SEC(600) ? SEC(60)
                   : usec >= SEC(60)  ? SEC(10)
                                      : SEC(1);
    return usec > INT64_MAX - unit ? usec : (usec + unit / 2) / unit * unit;
}

void eta_text(const struct eta_left *left, struct str *out) {
    char buf[TIMEFMT_LEN];
    int64_t t = rounded(left->usec);
    if (left->stuck && left->gives_up < 0)
        str_add(out, "waits without a limit");
    else if (left->stuck)
        str_addf(out, "gives up in %s", time_running(left->gives_up, buf));
    if (left->stuck)
        return;
    if (left->usec < 0)
        str_add(out, "? left");
    else if (t < SEC(1))
        str_add(out, "almost done");
    else
        str_addf(out, "about %s left",
                 t < SEC(3600) ? duration_format(t, buf) : time_running(t, buf));
    if (left->excluded)
        str_addf(out, " (excluding %u blocked)", left->excluded);
}
