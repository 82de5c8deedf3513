/* Whether what is evicted is made again, apart from room. */
#include "engine/remake.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/fit_internal.h"
#include "engine/podrole.h"
#include "model/quantity.h"

#define OWN_CONTROLLER "kubernetes.io/job-controller"
/* How resources of a quota begin. */
#define REQUESTS "requests."
#define LIMITS   "limits."

/* --- Jobs --- */

/* Somebody else's controller may do as it likes. */
static bool is_ours(const struct job *job) {
    return str_empty(job->managed_by) || streq(job->managed_by, OWN_CONTROLLER);
}

static const struct job *job_of(struct remake *r, const struct pod *pod) {
    const struct owner *o = meta_controller(&pod->meta);
    bool gone;
    if (!o || !str_same(o->kind, "Job") || !str_same(o->api_version, "batch/v1"))
        return NULL;
    const struct job *job = r->look(r->arg, &kind_job, pod->meta.ns, o->name, &gone);
    return job && is_ours(job) && !job->meta.deleted && !job->suspend && !job_is_over(job) ? job
                                                                                           : NULL;
}

static struct remake_job *tally_of(struct remake *r, const struct job *job) {
    for (size_t i = 0; i < r->jobs.len; i++)
        if (r->jobs.p[i].job == job)
            return &r->jobs.p[i];
    struct remake_job *new = vec_push(&r->jobs);
    *new = (struct remake_job){.job = job};
    return new;
}

/* "backoffLimit 6, 2 pods have failed, 4 go before it". */
static const char *count_words(struct remake *r, const struct job *job, int32_t before) {
    _cleanup_str_ struct str text = STR_INIT;
    str_addf(&text, "backoffLimit %d", (int)job_limit(job));
    if (job->failed)
        str_addf(&text, ", %d pod%s failed", (int)job->failed,
                 job->failed == 1 ? " has" : "s have");
    if (before)
        str_addf(&text, ", %d go%s before it", (int)before, before == 1 ? "es" : "");
    return arena_strndup(r->arena, str_get(&text), text.len);
}

/* The Job fails because of this pod. */
static const char *fatal_words(struct remake *r, const struct job *job, const struct pod *pod,
                               const char *why) {
    struct remake_job *tally = tally_of(r, job);
    if (!tally->fatal) {
        tally->fatal = pod;
        tally->why = why;
    }
    return arena_printf(r->arena, "evicting it makes Job %s fail for good: %s",
                        strna(job->meta.name), why);
}

static const char *index_words(struct remake *r, const struct job *job, const struct pod *pod,
                               const char *why) {
    const char *index = map_get(pod->meta.annotations, JOB_INDEX);
    int64_t failed = job_failed_indexes(job) + ++tally_of(r, job)->indexes;
    index = str_empty(index) ? "?" : index;
    if (job->max_failed_indexes != ABSENT32 && failed > job->max_failed_indexes)
        return fatal_words(r, job, pod,
                           arena_printf(r->arena, "index %s fails (%s), and maxFailedIndexes is %d",
                                        index, why, (int)job->max_failed_indexes));
    return arena_printf(r->arena,
                        "evicting it makes index %s of Job %s fail for good, and the Job when the "
                        "others are done: %s",
                        index, strna(job->meta.name), why);
}

static const char *rule_words(struct remake *r, int rule, const char *action) {
    return arena_printf(r->arena, "rule %d of its podFailurePolicy says %s", rule + 1, action);
}

/* Why the Job, or an index of it, fails because of the pod; NULL: it does not. */
static const char *failure_words(struct remake *r, const struct job *job, const struct pod *pod) {
    int rule;
    enum job_action action = job_judge_pod(job, pod, r->how, &rule);
    struct remake_job *tally = tally_of(r, job);
    tally->judged++;
    if (action == JOB_IGNORE)
        return NULL;
    if (action == JOB_FAIL)
        return fatal_words(r, job, pod, rule_words(r, rule, "FailJob"));
    if (action == JOB_FAIL_INDEX)
        return index_words(r, job, pod, rule_words(r, rule, "FailIndex"));
    int32_t before = tally->failures++;
    if ((int64_t)job->failed + before + 1 > job_limit(job))
        return fatal_words(r, job, pod, count_words(r, job, before));
    if (job->index_limit != ABSENT32 && job_index_failures(pod) >= job->index_limit)
        return index_words(
            r, job, pod, arena_printf(r->arena, "backoffLimitPerIndex %d", (int)job->index_limit));
    return NULL;
}

static void tell_job(struct remake *r, const struct job *job, const char *text,
                     struct remade *out) {
    int32_t failures = job->failed + tally_of(r, job)->failures;
    *out = (struct remade){.end = REMAKE_JOB_FAILS,
                           .code = BLOCKER_JOB_WOULD_FAIL,
                           .kind = &kind_job,
                           .ns = strna(job->meta.ns),
                           .name = strna(job->meta.name),
                           .text = text,
                           .help = "",
                           .limit = failures > job_limit(job) ? failures : 0};
}

static bool judge_job(struct remake *r, const struct pod *pod, struct remade *out) {
    const struct job *job = job_of(r, pod);
    const char *text = job ? failure_words(r, job, pod) : NULL;
    if (text)
        tell_job(r, job, text, out);
    return text;
}

bool remake_judge_rest(struct remake *r, const struct pod *pod, struct remade *out) {
    const struct job *job = job_of(r, pod);
    const struct remake_job *tally = job ? tally_of(r, job) : NULL;
    if (!tally || !tally->fatal || pod->meta.deleted || pod_finished(pod) ||
        (out->end != REMAKE_WELL && out->end != REMAKE_JOB_FAILS))
        return false;
    const char *text =
        out->end == REMAKE_JOB_FAILS
            ? out->text
            : arena_printf(r->arena,
                           "Job %s makes it no more: it fails for good when %s is "
                           "evicted as well: %s",
                           strna(job->meta.name), strna(tally->fatal->meta.name), tally->why);
    int64_t others = job->active - tally->judged;
    if (others > 0)
        text = arena_printf(r->arena, "%s; %" PRId64 " pod%s of it that %s not evicted end%s then",
                            text, others, others == 1 ? "" : "s", others == 1 ? "is" : "are",
                            others == 1 ? "s" : "");
    tell_job(r, job, text, out);
    return true;
}

/* --- owners --- */

/* Those of which it is known that they make nothing any more once they are being deleted. */
static const struct kind *maker_kind(const struct owner *o) {
    static const struct {
        const char *group;
        const struct kind *kind;
    } rows[] = {{"apps/", &kind_replica_set}, {"apps/", &kind_stateful_set}, {"batch/", &kind_job}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_same(o->kind, rows[i].kind->name) &&
            str_starts(strna(o->api_version), rows[i].group))
            return rows[i].kind;
    return NULL;
}

/* It waits for a finalizer, or for its pods (foreground): its controller leaves it alone. */
static bool judge_owner(struct remake *r, const struct pod *pod, struct remade *out) {
    const struct owner *o = meta_controller(&pod->meta);
    const struct kind *kind = maker_kind(o);
    bool gone;
    const struct object *owner = kind ? r->look(r->arg, kind, pod->meta.ns, o->name, &gone) : NULL;
    if (!owner || !owner->meta.deleted || !str_same(owner->meta.uid, o->uid) ||
        (kind == &kind_job && !is_ours((const struct job *)owner)))
        return false;
    const char *finalizer =
        list_len(owner->meta.finalizers) ? strna(owner->meta.finalizers[0]) : "";
    *out = (struct remade){
        .end = REMAKE_NO_OWNER,
        .code = BLOCKER_REPLACEMENT_REFUSED,
        .kind = kind,
        .ns = strna(pod->meta.ns),
        .name = strna(o->name),
        .help = arena_printf(r->arena,
                             "let the deletion of %s %s end; what is still wanted of it "
                             "has to be made anew",
                             kind->name, strna(o->name)),
        .text = arena_printf(r->arena, "no replacement is made: its %s %s is being deleted%s%s%s",
                             kind->name, strna(o->name), *finalizer ? " (finalizer " : "",
                             finalizer, *finalizer ? ")" : "")};
    return true;
}

/* --- accounts --- */

static bool judge_account(struct remake *r, const struct pod *pod, struct remade *out) {
    const char *name = pod->spec ? pod->spec->account : NULL;
    bool gone = false;
    if (str_empty(name))
        return false;
    r->look(r->arg, &kind_service_account, pod->meta.ns, name, &gone);
    if (gone)
        *out = (struct remade){
            .end = REMAKE_NO_ACCOUNT,
            .code = BLOCKER_REPLACEMENT_REFUSED,
            .kind = &kind_service_account,
            .ns = strna(pod->meta.ns),
            .name = name,
            .help = arena_printf(r->arena, "make ServiceAccount %s again", name),
            .text = arena_printf(
                r->arena, "no replacement can be made: its ServiceAccount %s is gone", name)};
    return gone;
}

/* --- quotas --- */

/* What each container has to set once a quota counts it (validationSet of the API server's
 * pkg/quota/v1/evaluator/core/pods.go). */
static bool is_demand(const char *resource) {
    static const char *const names[] = {"cpu",           "memory",       "limits.cpu",
                                        "limits.memory", "requests.cpu", "requests.memory"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_same(resource, names[i]))
            return true;
    return false;
}

/* The controller counts a pod until it is gone, so that a quota which is just used up lets the
 * replacement in a moment later. Only one that is below its use (somebody has lowered it) does not:
 * what the pod gives back is not its replacement's. A quota for some pods only is not judged. */
void remake_quotas(struct remake *r, const struct store *quotas, const char *ns) {
    size_t n;
    if (!quotas)
        return;
    _cleanup_free_ const struct object **all = store_sorted(quotas, &n);
    for (size_t i = 0; i < n; i++) {
        const struct resource_quota *q = (const struct resource_quota *)all[i];
        if (list_len(q->scopes) || q->selector || (ns && !str_same(q->meta.ns, ns)))
            continue;
        for (size_t k = 0; k < list_len(q->hard); k++) {
            if (is_demand(q->hard[k].key))
                *vec_push(&r->demands) = (struct remake_demand){q, q->hard[k].key};
            int64_t used = map_qty(q->used, strna(q->hard[k].key));
            struct remake_excess e = {
                .quota = q, .resource = q->hard[k].key, .hard = q->hard[k].milli, .used = used};
            if (used > e.hard)
                *vec_push(&r->excess) = e;
            else if (r->keep_all)
                *vec_push(&r->rest) = e;
        }
    }
}

static int64_t limits_of(const struct pod_spec *spec, const char *name) {
    int64_t sum = 0;
    for (size_t i = 0; i < list_len(spec->containers); i++)
        sum += map_qty(spec->containers[i].resources.limits, name);
    return sum;
}

static int64_t requests_of(const struct pod_spec *spec, const char *name) {
    struct fit_load load;
    int64_t milli = 0;
    fit_load_of(spec, NULL, &load);
    if (streq(name, "cpu"))
        milli = load.amounts.cpu;
    else if (streq(name, "memory"))
        milli = load.amounts.memory * 1000;
    else if (streq(name, "ephemeral-storage"))
        milli = load.amounts.ephemeral * 1000;
    for (size_t i = 0; i < load.amounts.scalars.len; i++)
        if (streq(load.amounts.scalars.p[i].name, name))
            milli = load.amounts.scalars.p[i].value * 1000;
    fit_load_done(&load);
    return milli;
}

/* What the pod uses of a quota's resource, in thousandths. */
static int64_t share_of(const struct pod *pod, const char *resource) {
    if (streq(resource, "pods") || streq(resource, "count/pods"))
        return 1000;
    if (!pod->spec)
        return 0;
    if (str_starts(resource, LIMITS))
        return limits_of(pod->spec, resource + strlen(LIMITS));
    if (str_starts(resource, REQUESTS))
        return requests_of(pod->spec, resource + strlen(REQUESTS));
    return requests_of(pod->spec, resource);
}

static bool has_qty(const struct pair_qty *list, const char *name) {
    for (size_t i = 0; i < list_len(list); i++)
        if (str_same(list[i].key, name))
            return true;
    return false;
}

/* A limit without a request is its request, too. */
static bool sets(const struct container *c, const char *resource) {
    bool limit = str_starts(resource, LIMITS);
    const char *name = limit                            ? resource + strlen(LIMITS)
                       : str_starts(resource, REQUESTS) ? resource + strlen(REQUESTS)
                                                        : resource;
    return has_qty(c->resources.limits, name) || (!limit && has_qty(c->resources.requests, name));
}

static const struct container *without(const struct container *list, const char *resource) {
    for (size_t i = 0; i < list_len(list); i++)
        if (!sets(&list[i], resource))
            return &list[i];
    return NULL;
}

/* Where the pod as a whole says what it needs nothing is demanded of its containers. */
static const struct container *lacking(const struct pod_spec *spec, const char *resource) {
    const struct resources *whole = spec->resources;
    if (whole && (list_len(whole->requests) || list_len(whole->limits)))
        return NULL;
    const struct container *c = without(spec->containers, resource);
    return c ? c : without(spec->init_containers, resource);
}

/* They are sorted by namespace: a cluster may have thousands. */
static size_t first_demand(const struct remake *r, const char *ns) {
    size_t low = 0, high = r->demands.len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (strcmp(strna(r->demands.p[mid].quota->meta.ns), strna(ns)) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The pod was made before the quota was, or before that counted this. */
static bool judge_demands(struct remake *r, const struct pod *pod, struct remade *out) {
    for (size_t i = first_demand(r, pod->meta.ns); i < r->demands.len && pod->spec; i++) {
        const struct remake_demand *d = &r->demands.p[i];
        if (!str_same(d->quota->meta.ns, pod->meta.ns))
            break;
        const struct container *c = lacking(pod->spec, d->resource);
        if (!c)
            continue;
        *out = (struct remade){
            .end = REMAKE_NO_AMOUNT,
            .code = BLOCKER_REPLACEMENT_REFUSED,
            .kind = &kind_resource_quota,
            .ns = strna(pod->meta.ns),
            .name = strna(d->quota->meta.name),
            .resource = d->resource,
            .help = arena_printf(r->arena, "set %s in the template of its owner", d->resource),
            .text = arena_printf(r->arena,
                                 "no replacement can be made, unless a LimitRange adds it: "
                                 "ResourceQuota %s demands %s, which container %s does not set",
                                 strna(d->quota->meta.name), d->resource, strna(c->name))};
        return true;
    }
    return false;
}

static bool judge_quotas(struct remake *r, const struct pod *pod, struct remade *out) {
    bool refused = false;
    for (size_t i = 0; i < r->excess.len; i++) {
        struct remake_excess *e = &r->excess.p[i];
        char hard[QUANTITY_LEN], used[QUANTITY_LEN];
        int64_t share = str_same(e->quota->meta.ns, pod->meta.ns) ? share_of(pod, e->resource) : 0;
        /* Those before it that were not made again may have given enough back. */
        if (!share || e->used - e->given_back <= e->hard)
            continue;
        e->given_back += share;
        if (refused)
            continue;
        refused = true;
        *out = (struct remade){
            .end = REMAKE_NO_QUOTA,
            .code = BLOCKER_REPLACEMENT_REFUSED,
            .kind = &kind_resource_quota,
            .ns = strna(pod->meta.ns),
            .name = strna(e->quota->meta.name),
            .resource = e->resource,
            .used = e->used,
            .help = arena_printf(r->arena, "raise ResourceQuota %s, or use less of it",
                                 strna(e->quota->meta.name)),
            .text = arena_printf(
                r->arena,
                "no replacement can be made: ResourceQuota %s allows %s %s, and %s %s used",
                strna(e->quota->meta.name), quantity_format(e->hard, hard), e->resource,
                quantity_format(e->used, used), e->used == 1000 ? "is" : "are")};
    }
    return refused;
}

/* A second one beside the pod, which gives nothing back before that is there. */
static bool judge_second(struct remake *r, const struct pod *pod, const struct remake_excess *e,
                         struct remade *out) {
    char hard[QUANTITY_LEN], used[QUANTITY_LEN], more[QUANTITY_LEN];
    int64_t share = str_same(e->quota->meta.ns, pod->meta.ns) ? share_of(pod, e->resource) : 0;
    if (!share || e->used - e->given_back + share <= e->hard)
        return false;
    *out = (struct remade){
        .end = REMAKE_NO_QUOTA,
        .code = BLOCKER_REPLACEMENT_REFUSED,
        .kind = &kind_resource_quota,
        .ns = strna(pod->meta.ns),
        .name = strna(e->quota->meta.name),
        .resource = e->resource,
        .used = e->used + share,
        .help =
            arena_printf(r->arena, "raise ResourceQuota %s, use less of it, or do without --surge",
                         strna(e->quota->meta.name)),
        .text = arena_printf(r->arena,
                             "ResourceQuota %s allows %s %s, %s %s used, and it takes %s more",
                             strna(e->quota->meta.name), quantity_format(e->hard, hard),
                             e->resource, quantity_format(e->used, used),
                             e->used == 1000 ? "is" : "are", quantity_format(share, more))};
    return true;
}

static bool judge_seconds(struct remake *r, const struct pod *pod, struct remade *out) {
    for (size_t i = 0; i < r->excess.len; i++)
        if (judge_second(r, pod, &r->excess.p[i], out))
            return true;
    for (size_t i = 0; i < r->rest.len; i++)
        if (judge_second(r, pod, &r->rest.p[i], out))
            return true;
    return false;
}

/* --- all of it --- */

/* Else nobody makes it again, or somebody does already. */
static bool is_made(const struct pod *pod) {
    return meta_controller(&pod->meta) && !pod->meta.deleted && !pod_finished(pod);
}

static bool judge_but_quotas(struct remake *r, const struct pod *pod, struct remade *out) {
    return judge_owner(r, pod, out) || judge_job(r, pod, out) || judge_account(r, pod, out) ||
           judge_demands(r, pod, out);
}

bool remake_judge(struct remake *r, const struct pod *pod, struct remade *out) {
    *out = (struct remade){.end = REMAKE_WELL};
    return is_made(pod) && (judge_but_quotas(r, pod, out) || judge_quotas(r, pod, out));
}

bool remake_judge_second(struct remake *r, const struct pod *pod, struct remade *out) {
    *out = (struct remade){.end = REMAKE_WELL};
    return is_made(pod) && (judge_but_quotas(r, pod, out) || judge_seconds(r, pod, out));
}

void remake_again(struct remake *r) {
    r->jobs.len = 0;
    for (size_t i = 0; i < r->excess.len; i++)
        r->excess.p[i].given_back = 0;
}

void remake_done(struct remake *r) {
    vec_done(&r->jobs);
    vec_done(&r->excess);
    vec_done(&r->rest);
    vec_done(&r->demands);
}

const void *remake_look(void *stores, const struct kind *kind, const char *ns, const char *name,
                        bool *gone) {
    const struct remake_stores *s = stores;
    const struct store *store = kind == &kind_job            ? s->jobs
                                : kind == &kind_replica_set  ? s->replica_sets
                                : kind == &kind_stateful_set ? s->stateful_sets
                                                             : s->accounts;
    const void *obj = store ? store_get(store, ns, name) : NULL;
    *gone = store && !obj;
    return obj;
}
