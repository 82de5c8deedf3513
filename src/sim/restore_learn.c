/* What the pods of a cluster show of how long they take to start.
 *
 * The times in a pod's status are whole seconds, cut off, so what lies between two of them is up to
 * a second more or less than it seems, by chance: the mean of several pods is right, but they seem
 * to differ more than they do. That would make rehearsals differ more than drains do, so it is
 * taken out of what the pods of a workload differ by. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/podrole.h"
#include "model/workload.h"
#include "sim/fleet/static_pods.h"
#include "sim/restore_internal.h"

/* So long a pod may take to be ready: then it is not going to be. */
#define PATIENCE SEC(300)
/* Each end is cut off by something from nothing to a second, all equally likely: a variance of 1/12
 * s^2, and the difference of two has twice that. */
#define CUT_OFF (1.0 / 6)

int64_t restore_time(const json_t *obj, const char *key) {
    const char *text = json_str(obj, key);
    int64_t t = 0;
    return text && time_parse(text, strlen(text), &t) ? t : 0;
}

const json_t *restore_condition(const json_t *status, const char *type) {
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(status, "conditions"), i,
                       c) if (str_same(json_str(c, "type"), type)) return c;
    return NULL;
}

bool restore_is_true(const json_t *condition) {
    return str_same(json_str(condition, "status"), "True");
}

/* When the last container began to run, 0 when one of them does not, or did so before. */
static int64_t began(const json_t *status) {
    const json_t *list = json_object_get(status, "containerStatuses");
    int64_t last = 0;
    size_t i;
    json_t *c;
    json_array_foreach((json_t *)list, i, c) {
        int64_t t =
            restore_time(json_object_get(json_object_get(c, "state"), "running"), "startedAt");
        if (!t || json_integer_value(json_object_get(c, "restartCount")))
            return 0;
        last = MAX_OF(last, t);
    }
    return last;
}

void restore_learn(struct restore *r, const json_t *obj, const struct pod *pod) {
    const json_t *status = json_object_get(obj, "status");
    const json_t *ready = restore_condition(status, "Ready");
    int64_t bound = restore_time(restore_condition(status, "PodScheduled"), "lastTransitionTime");
    int64_t started = began(status), now = r->fleet->world->clock.now;
    if (pod_finished(pod) || pod->meta.deleted || pod_is_mirror(pod))
        return;
    _cleanup_str_ struct str name = STR_INIT;
    workload_name(pod, &name);
    if (restore_is_true(ready) || (bound && bound < now - PATIENCE))
        habits_note_state(r->habits, str_get(&name), restore_is_true(ready));
    if (!restore_is_true(ready) || !bound || !started || started < bound)
        return;
    *vec_push(&r->starts) = (struct restore_start){
        .workload = str_take(&name),
        .took = {[HABIT_START] = started - bound,
                 [HABIT_READY] = restore_time(ready, "lastTransitionTime") - started}};
}

/* The part of the deviations from the mean (seconds, both) that is real, by the mean of their
 * squares. Where all take the same, two and a half seconds, say, they are seen as two or three, as
 * often as it takes to make their mean right: a variance of 1/4. */
static double real_part(double mean, double squares) {
    double beyond = mean - floor(mean);
    double by_chance = MAX_OF(CUT_OFF, beyond * (1 - beyond));
    return squares > by_chance ? sqrt((squares - by_chance) / squares) : 0;
}

/* Of one workload. What is far off (a readiness that was lost and came back) stays so: the real
 * part is all of it then. */
static void tell(struct restore *r, const struct restore_start *s, size_t n, enum habit habit) {
    double mean = 0, squares = 0, good = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i].took[habit] < 0)
            continue; /* clocks */
        double took = (double)s[i].took[habit] / 1e6, off = took - mean;
        mean += off / ++good;
        squares += off * (took - mean);
    }
    double part = good > 0 ? real_part(mean, squares / good) : 1;
    for (size_t i = 0; i < n; i++) {
        double took = (double)s[i].took[habit] / 1e6;
        if (took >= 0)
            habits_note(r->habits, s[i].workload, habit,
                        (int64_t)((mean + part * (took - mean)) * 1e6 + 0.5));
    }
}

static int by_workload(const void *a, const void *b) {
    const struct restore_start *x = a, *y = b;
    int c = strcmp(x->workload, y->workload);
    for (size_t i = 0; !c && i < ARRAY_LEN(x->took); i++)
        c = (x->took[i] > y->took[i]) - (x->took[i] < y->took[i]);
    return c;
}

void restore_learn_end(struct restore *r) {
    if (r->starts.len)
        qsort(r->starts.p, r->starts.len, sizeof *r->starts.p, by_workload);
    for (size_t i = 0, n; i < r->starts.len; i += n) {
        for (n = 1;
             i + n < r->starts.len && streq(r->starts.p[i].workload, r->starts.p[i + n].workload);
             n++)
            ;
        tell(r, &r->starts.p[i], n, HABIT_START);
        tell(r, &r->starts.p[i], n, HABIT_READY);
    }
    restore_learn_done(r);
}

void restore_learn_done(struct restore *r) {
    for (size_t i = 0; i < r->starts.len; i++)
        free(r->starts.p[i].workload);
    vec_done(&r->starts);
}
