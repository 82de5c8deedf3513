/* The Job controller: pods that run to their end, so many of them, so many at a time. By
 * pkg/controller/job; success policies and backoffLimitPerIndex are not evaluated
 * (docs/simulator.md). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/job.h"
#include "sim/fleet/parts.h"
#include "sim/fleet/workload.h"

#define TRACKING    "batch.kubernetes.io/job-tracking"
#define BACKOFF     SEC(10) /* after a failure, doubling */
#define BACKOFF_MAX SEC(600)

struct jobs {
    struct fleet *fleet;
    struct queue *queue;
};

struct look {
    struct jobs *c;
    struct fleet *f;
    struct record *r; /* a reference */
    const struct job *j;
    json_t *obj;
    const json_t *spec;
    struct pod_set pods;
    int64_t active, ready, terminating, succeeded, failed; /* with what the status counted before */
    int64_t again;
    char *policy;  /* why the pod failure policy makes the Job fail; NULL: it does not */
    char *indexes; /* of Indexed jobs: a byte per index, 1 when it has succeeded, 2 when it runs */
    int64_t completions;
};

static bool finished(const struct job *j) {
    for (size_t i = 0; i < list_len(j->conditions); i++) {
        const struct condition *c = &j->conditions[i];
        if (str_same(c->status, "True") &&
            (str_same(c->type, "Complete") || str_same(c->type, "Failed")))
            return true;
    }
    return false;
}

static bool tracked(const struct pod *pod) {
    for (size_t i = 0; i < list_len(pod->meta.finalizers); i++)
        if (str_same(pod->meta.finalizers[i], TRACKING))
            return true;
    return false;
}

static void untrack(struct fleet *f, struct record *r) {
    json_t *obj = record_json(r);
    json_t *list = json_object_get(meta_of(obj), "finalizers"), *v;
    size_t i;
    json_array_foreach(list, i, v) if (str_same(json_string_value(v), TRACKING)) {
        json_array_remove(list, i);
        break;
    }
    fleet_update(f, f->pods, NULL, obj, NULL);
}

static int64_t index_of(const struct pod *pod) {
    const char *text = map_get(pod->meta.annotations, JOB_INDEX);
    return text ? strtol(text, NULL, 10) : -1;
}

/* --- counting --- */

/* "1,3-5": the completed indexes of the status. */
static void read_indexes(struct look *l, const char *text) {
    while (text && *text) {
        char *end;
        int64_t first = strtol(text, &end, 10), last = first;
        if (end == text)
            return;
        if (*end == '-') {
            text = end + 1;
            last = strtol(text, &end, 10);
        }
        for (int64_t i = first; i <= last && i < l->completions; i++)
            if (i >= 0)
                l->indexes[i] = 1;
        text = *end == ',' ? end + 1 : end;
        if (*end != ',')
            return;
    }
}

static char *write_indexes(const struct look *l) {
    struct str out = STR_INIT;
    for (int64_t i = 0; i < l->completions; i++) {
        if (l->indexes[i] != 1)
            continue;
        int64_t last = i;
        while (last + 1 < l->completions && l->indexes[last + 1] == 1)
            last++;
        str_addf(&out, "%s%" PRId64, out.len ? "," : "", i);
        if (last > i)
            str_addf(&out, "%c%" PRId64, last == i + 1 ? ',' : '-', last);
        i = last;
    }
    return str_take(&out);
}

static const struct container_status *ended_badly(const struct pod *pod) {
    for (size_t i = 0; i < list_len(pod->containers); i++) {
        const struct state_terminated *end = pod->containers[i].state.terminated;
        if (end && end->exit_code)
            return &pod->containers[i];
    }
    return NULL;
}

/* The first that makes the Job fail is the one that is told of. */
static void fail_by_policy(struct look *l, const struct pod *pod, int rule) {
    const struct failure_rule *r = &l->j->policy->rules[rule];
    const struct container_status *c = ended_badly(pod);
    if (l->policy)
        return;
    if (r->codes && c)
        l->policy = xasprintf("Container %s for pod %s/%s failed with exit code %d matching "
                              "FailJob rule at index %d",
                              c->name, pod->meta.ns, pod->meta.name,
                              (int)c->state.terminated->exit_code, rule);
    else
        l->policy =
            xasprintf("Pod %s/%s has condition %s matching FailJob rule at index %d", pod->meta.ns,
                      pod->meta.name, list_len(r->conditions) ? r->conditions[0].type : "", rule);
}

static void count_failure(struct look *l, const struct pod *pod) {
    int rule;
    enum job_action action = job_judge_pod(l->j, pod, JOB_POD_ENDED, &rule);
    if (action == JOB_FAIL)
        fail_by_policy(l, pod, rule);
    l->failed += action != JOB_IGNORE;
}

/* Each pod that ended is counted once: its finalizer says that it has not been yet. */
static void count(struct look *l) {
    l->succeeded = l->j->succeeded;
    l->failed = l->j->failed;
    for (size_t i = 0; i < l->pods.v.len; i++) {
        struct record *r = l->pods.v.p[i];
        const struct pod *pod = record_as(pod, r);
        if (pod_active(pod)) {
            l->active++;
            l->ready += pod_ready(pod);
            int64_t at = index_of(pod);
            if (l->indexes && at >= 0 && at < l->completions && l->indexes[at] == 0)
                l->indexes[at] = 2;
            continue;
        }
        if (!pod_finished(pod))
            l->terminating++;
        if (!tracked(pod) || (!pod_finished(pod) && job_waits_for_end(l->j)))
            continue;
        if (str_same(pod->phase, "Succeeded")) {
            int64_t at = index_of(pod);
            if (!l->indexes)
                l->succeeded++;
            else if (at >= 0 && at < l->completions && l->indexes[at] != 1)
                l->indexes[at] = 1;
        } else if (pod_finished(pod) || pod->meta.deleted) {
            count_failure(l, pod);
        }
        untrack(l->f, r);
    }
    if (l->indexes) {
        l->succeeded = 0;
        for (int64_t i = 0; i < l->completions; i++)
            l->succeeded += l->indexes[i] == 1;
    }
}

/* --- pods --- */

static bool create_pods(struct look *l, int64_t n) {
    const json_t *template = json_object_get(l->spec, "template");
    int64_t next = 0;
    for (int64_t i = 0; i < n; i++) {
        _cleanup_free_ char *prefix = NULL;
        json_t *raw;
        if (l->indexes) {
            while (next < l->completions && l->indexes[next])
                next++;
            if (next == l->completions)
                return true;
            prefix = xasprintf("%s-%" PRId64 "-", l->j->meta.name, next);
            raw = workload_pod(template, l->f->jobs, l->r, NULL, prefix);
            json_t *meta = meta_of(raw);
            json_t *map = json_object_get(meta, "annotations");
            if (!map) {
                map = json_object();
                json_object_set_new(meta, "annotations", map);
            }
            json_object_set_new(map, JOB_INDEX, json_sprintf("%" PRId64, next));
            json_object_set_new(json_object_get(meta, "labels"), JOB_INDEX,
                                json_sprintf("%" PRId64, next));
            json_object_set_new(json_object_get(raw, "spec"), "hostname",
                                json_sprintf("%s-%" PRId64, l->j->meta.name, next));
            l->indexes[next] = 2;
        } else {
            prefix = xasprintf("%s-", l->j->meta.name);
            raw = workload_pod(template, l->f->jobs, l->r, NULL, prefix);
        }
        json_t *list = json_object_get(meta_of(raw), "finalizers");
        if (!list) {
            list = json_array();
            json_object_set_new(meta_of(raw), "finalizers", list);
        }
        json_array_append_new(list, json_string(TRACKING));
        _cleanup_failure_ struct failure failure = FAILURE_INIT;
        struct record *pod = fleet_create(l->f, l->f->pods, l->j->meta.ns, raw, &failure);
        if (!pod) {
            fleet_event(l->f, "job-controller", l->f->jobs, l->r, "Warning", "FailedCreate",
                        "Error creating: %s", strna(failure.message));
            return false;
        }
        fleet_event(l->f, "job-controller", l->f->jobs, l->r, "Normal", "SuccessfulCreate",
                    "Created pod: %s", pod->obj->meta.name);
        record_unref(pod);
        l->active++;
    }
    return true;
}

static void delete_active(struct look *l, int64_t n) {
    for (size_t i = 0; i < l->pods.v.len && n > 0; i++) {
        const struct pod *pod = record_as(pod, l->pods.v.p[i]);
        if (!pod_active(pod))
            continue;
        if (fleet_delete(l->f, l->f->pods, pod->meta.ns, pod->meta.name, NULL))
            fleet_event(l->f, "job-controller", l->f->jobs, l->r, "Normal", "SuccessfulDelete",
                        "Deleted pod: %s", pod->meta.name);
        l->active--;
        n--;
    }
}

/* --- status --- */

static void add_condition(struct look *l, json_t *s, const char *type, bool value,
                          const char *reason, const char *message) {
    json_t *list = json_object_get(s, "conditions"), *c;
    size_t i;
    const char *text = value ? "True" : "False";
    if (!list) {
        list = json_array();
        json_object_set_new(s, "conditions", list);
    }
    char now[TIMEFMT_LEN];
    time_format(l->f->world->clock.now, false, now);
    json_t *new =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "type", type, "status", text, "lastProbeTime",
                  now, "lastTransitionTime", now, "reason", reason, "message", message);
    json_array_foreach(list, i, c) if (str_same(json_str(c, "type"), type)) {
        if (str_same(json_str(c, "status"), text))
            json_decref(new);
        else
            json_array_set_new(list, i, new);
        return;
    }
    json_array_append_new(list, new);
}

static void fail_job(struct look *l, json_t *s, const char *reason, const char *message) {
    add_condition(l, s, "FailureTarget", true, reason, message);
    delete_active(l, INT64_MAX);
    l->ready = 0;
    /* Failed is said when the last pod has gone. */
    bool running = false;
    for (size_t i = 0; i < l->pods.v.len; i++) {
        const struct meta *m = &l->pods.v.p[i]->obj->meta;
        const struct record *now = shelf_get(l->f->pods->shelf, m->ns, m->name);
        running = running || (now && !pod_finished(record_as(pod, now)));
    }
    if (!running) {
        add_condition(l, s, "Failed", true, reason, message);
        fleet_event(l->f, "job-controller", l->f->jobs, l->r, "Warning", reason, "%s", message);
    }
}

static bool has_condition(const struct job *j, const char *type) {
    const struct condition *c = condition_find(j->conditions, type);
    return c && str_same(c->status, "True");
}

/* The time after which a failed pod is replaced. */
static int64_t backoff(const struct look *l) {
    int64_t last = 0, wait = BACKOFF;
    for (size_t i = 0; i < l->pods.v.len; i++) {
        const struct pod *pod = record_as(pod, l->pods.v.p[i]);
        const struct condition *c = condition_find(pod->conditions, "Ready");
        if (str_same(pod->phase, "Failed"))
            last = MAX_OF(last, c ? c->changed : pod->meta.created);
    }
    if (!last || !l->failed)
        return 0;
    for (int64_t i = 1; i < l->failed && wait < BACKOFF_MAX; i++)
        wait *= 2;
    return last + MIN_OF(wait, BACKOFF_MAX) - l->f->world->clock.now;
}

static bool work(struct look *l, json_t *s) {
    const struct job *j = l->j;
    int64_t now = l->f->world->clock.now;
    int64_t parallelism = j->parallelism == ABSENT32 ? 1 : j->parallelism;
    int64_t limit = job_limit(j);
    char text[TIMEFMT_LEN];
    if (j->suspend) {
        if (!has_condition(j, "Suspended"))
            fleet_event(l->f, "job-controller", l->f->jobs, l->r, "Normal", "Suspended",
                        "Job suspended");
        add_condition(l, s, "Suspended", true, "JobSuspended", "Job suspended");
        json_object_del(s, "startTime");
        delete_active(l, INT64_MAX);
        return true;
    }
    if (has_condition(j, "Suspended")) {
        add_condition(l, s, "Suspended", false, "JobResumed", "Job resumed");
        fleet_event(l->f, "job-controller", l->f->jobs, l->r, "Normal", "Resumed", "Job resumed");
    }
    int64_t started = j->started ? j->started : now;
    json_object_set_new(s, "startTime", json_string(time_format(started, false, text)));
    if (l->policy || l->failed > limit || has_condition(j, "FailureTarget")) {
        const struct condition *c = condition_find(j->conditions, "FailureTarget");
        fail_job(l, s,
                 c           ? c->reason
                 : l->policy ? "PodFailurePolicy"
                             : "BackoffLimitExceeded",
                 c           ? c->message
                 : l->policy ? l->policy
                             : "Job has reached the specified backoff limit");
        return true;
    }
    if (j->deadline != ABSENT64) {
        int64_t left = started + clock_go_seconds(j->deadline) - now;
        if (left <= 0) {
            fail_job(l, s, "DeadlineExceeded", "Job was active longer than specified deadline");
            return true;
        }
        l->again = MIN_OF(l->again, left);
    }
    bool complete = j->completions == ABSENT32 ? l->succeeded > 0 && !l->active
                                               : l->succeeded >= l->completions;
    if (complete) {
        if (l->active) {
            delete_active(l, INT64_MAX);
            return true;
        }
        add_condition(l, s, "SuccessCriteriaMet", true, "CompletionsReached",
                      "Reached expected number of succeeded pods");
        if (l->terminating) /* Complete is said when the last pod has gone */
            return true;
        add_condition(l, s, "Complete", true, "CompletionsReached",
                      "Reached expected number of succeeded pods");
        json_object_set_new(s, "completionTime", json_string(time_format(now, false, text)));
        fleet_event(l->f, "job-controller", l->f->jobs, l->r, "Normal", "Completed",
                    "Job completed");
        return true;
    }
    int64_t want = j->completions == ABSENT32 ? (l->succeeded ? l->active : parallelism)
                                              : MIN_OF(parallelism, l->completions - l->succeeded);
    if (l->active > want) {
        delete_active(l, l->active - want);
        return true;
    }
    int64_t wait = backoff(l);
    if (l->active < want && wait > 0) {
        l->again = MIN_OF(l->again, wait);
        return true;
    }
    /* A pod that is on its way out still counts: its index or place is not free. */
    int64_t room = want - l->active - (job_waits_for_end(j) ? l->terminating : 0);
    return room <= 0 || create_pods(l, room);
}

static void expire(struct look *l) {
    const struct job *j = l->j;
    if (j->ttl == ABSENT32 || j->meta.deleted)
        return;
    int64_t ended = j->completed;
    const struct condition *failed = condition_find(j->conditions, "Failed");
    if (!ended && failed)
        ended = failed->changed;
    int64_t left = ended + SEC(j->ttl) - l->f->world->clock.now;
    if (left > 0) {
        l->again = left;
        return;
    }
    struct delete_options o = DELETE_OPTIONS_INIT;
    o.propagation = "Foreground";
    fleet_delete(l->f, l->f->jobs, j->meta.ns, j->meta.name, &o);
}

static bool sync(void *arg, const char *ns, const char *name) {
    struct jobs *c = arg;
    struct fleet *f = c->fleet;
    struct record *r = shelf_get(f->jobs->shelf, ns, name);
    if (!r)
        return true;
    struct look l = {
        .c = c, .f = f, .r = record_ref(r), .j = record_as(job, r), .again = INT64_MAX};
    l.obj = record_json(r);
    l.spec = json_object_get(l.obj, "spec");
    l.completions = l.j->completions == ABSENT32 ? 0 : l.j->completions;
    json_t *old = json_object_get(l.obj, "status");
    if (str_same(l.j->completion_mode, "Indexed")) {
        l.indexes = xcalloc((size_t)l.completions + 1, 1);
        read_indexes(&l, json_str(old, "completedIndexes"));
    }
    bool ok = true;
    workload_claim(f, f->jobs, r, l.j->selector, NULL, NULL, &l.pods);
    if (finished(l.j)) {
        for (size_t i = 0; i < l.pods.v.len; i++)
            if (tracked(record_as(pod, l.pods.v.p[i])))
                untrack(f, l.pods.v.p[i]);
        expire(&l);
    } else if (!l.j->meta.deleted) {
        count(&l);
        json_t *s = old ? json_deep_copy(old) : json_object();
        ok = work(&l, s);
        json_object_set_new(s, "active", json_integer(l.active));
        json_object_set_new(s, "ready", json_integer(l.ready));
        json_object_set_new(s, "terminating", json_integer(l.terminating));
        json_object_set_new(s, "succeeded", json_integer(l.succeeded));
        json_object_set_new(s, "failed", json_integer(l.failed));
        json_object_set_new(s, "uncountedTerminatedPods", json_object());
        if (l.indexes) {
            _cleanup_free_ char *text = write_indexes(&l);
            json_object_set_new(s, "completedIndexes", json_string(text));
        }
        struct record *now = shelf_get(f->jobs->shelf, ns, name);
        if (now)
            fleet_put_status(f, f->jobs, now, s);
        else
            json_decref(s);
    } else {
        for (size_t i = 0; i < l.pods.v.len; i++)
            if (tracked(record_as(pod, l.pods.v.p[i])))
                untrack(f, l.pods.v.p[i]);
    }
    if (l.again != INT64_MAX)
        queue_add_after(c->queue, ns, name, l.again);
    pod_set_done(&l.pods);
    free(l.indexes);
    free(l.policy);
    json_decref(l.obj);
    record_unref(l.r);
    return ok;
}

static void job_changed(void *arg, const struct change *change) {
    struct jobs *c = arg;
    const struct meta *m = &change->after->obj->meta;
    if (change->type != CHANGE_DELETED)
        queue_add(c->queue, m->ns, m->name);
}

/* A pod whose job is gone keeps nobody's finalizer. */
static bool orphaned(struct jobs *c, const struct record *r) {
    const struct meta *m = &r->obj->meta;
    const struct owner *o = meta_controller(m);
    if (!tracked(record_as(pod, r)))
        return false;
    if (!o)
        return true;
    const struct record *j = shelf_get(c->fleet->jobs->shelf, m->ns, o->name);
    return !j || !str_same(j->obj->meta.uid, o->uid);
}

static void pod_changed(void *arg, const struct change *change) {
    struct jobs *c = arg;
    const struct meta *m = &change->after->obj->meta;
    const struct owner *o = meta_controller(m);
    if (!o && change->before)
        o = meta_controller(&change->before->obj->meta);
    if (o && str_same(o->kind, "Job"))
        queue_add(c->queue, m->ns, o->name);
    if (change->type != CHANGE_DELETED && m->deleted && orphaned(c, change->after))
        untrack(c->fleet, change->after);
}

static void *start(struct fleet *f) {
    struct jobs *c = xnew(struct jobs);
    c->fleet = f;
    c->queue = queue_new(f->world, MSEC(1), MSEC(10), sync, c);
    shelf_listen(f->jobs->shelf, job_changed, c);
    shelf_listen(f->pods->shelf, pod_changed, c);
    return c;
}

static void stop(void *part) {
    struct jobs *c = part;
    shelf_unlisten(c->fleet->jobs->shelf, job_changed, c);
    shelf_unlisten(c->fleet->pods->shelf, pod_changed, c);
    queue_free(c->queue);
    free(c);
}

const struct part jobs_part = {"job-controller", start, stop};
