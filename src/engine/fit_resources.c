/* What pods ask for, what nodes have, and whether it is enough. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/fit_internal.h"
#include "model/selector.h"

enum {
    /* What a container is taken to need that asks for nothing; only scores are made of it. */
    SOME_CPU = 100,
    SOME_MEMORY_MIB = 200,
};

/* Wraps around. */
static int64_t plus(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t minus(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* --- names --- */

static bool is_cpu(const char *name) {
    return str_same(name, "cpu");
}

static bool is_memory(const char *name) {
    return str_same(name, "memory");
}

/* The resources that the scheduler counts beside CPU, memory and ephemeral storage. Others
 * ("storage", "mine") say nothing about a node. */
static bool is_scalar(const char *name) {
    char quota[512]; /* a name of 253, a slash and 63 more is the longest that is valid */
    if (str_starts(name, "hugepages-") || str_starts(name, "attachable-volumes-") ||
        strstr(name, "kubernetes.io/"))
        return true;
    if (!strchr(name, '/') || str_starts(name, "requests."))
        return false;
    /* an extended resource must have a valid name in quotas too */
    int len = snprintf(quota, sizeof quota, "requests.%s", name);
    return len > 0 && (size_t)len < sizeof quota && !label_key_problem(view_of(quota));
}

/* Those that a pod may state as a whole. */
static bool is_pod_level(const char *name) {
    return is_cpu(name) || is_memory(name) || str_starts(name, "hugepages-");
}

/* --- lists of quantities --- */

typedef VEC(struct pair_qty) bag;

static struct pair_qty *bag_find(const bag *b, const char *name) {
    for (size_t i = 0; i < b->len; i++)
        if (str_same(b->p[i].key, name))
            return &b->p[i];
    return NULL;
}

static void bag_add(bag *b, const struct pair_qty *list, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct pair_qty *q = bag_find(b, list[i].key);
        if (q)
            q->milli = plus(q->milli, list[i].milli);
        else
            *vec_push(b) = list[i];
    }
}

static void bag_max(bag *b, const struct pair_qty *list, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct pair_qty *q = bag_find(b, list[i].key);
        if (!q)
            *vec_push(b) = list[i];
        else if (list[i].milli > q->milli)
            q->milli = list[i].milli;
    }
}

static int64_t bag_get(const bag *b, const char *name) {
    const struct pair_qty *q = bag_find(b, name);
    return q ? q->milli : 0;
}

static void bag_default(bag *b, const char *name, int64_t milli) {
    if (!bag_find(b, name))
        *vec_push(b) = (struct pair_qty){name, milli};
}

/* --- the requests of a pod --- */

struct wanted {
    const struct pod *status;   /* NULL: by the spec alone */
    bool some_cpu, some_memory; /* where a container asks for none */
    bool no_pod_level;          /* requests of the pod as a whole are not looked at */
};

static const struct container_status *status_of(const struct container_status *list,
                                                const char *name) {
    for (size_t i = 0; i < list_len(list); i++)
        if (str_same(list[i].name, name))
            return &list[i];
    return NULL;
}

static bool is_sidecar(const struct container *c) {
    return str_same(c->restart_policy, "Always");
}

static bool resize_infeasible(const struct pod *pod) {
    const struct condition *c = condition_find(pod->conditions, "PodResizePending");
    return c && str_same(c->reason, "Infeasible");
}

/* While a resize is under way the node must have room for whichever is largest: what is wanted,
 * what the kubelet has agreed to, and what the container has. */
static void container_requests(const struct container *c, const struct container_status *status,
                               const struct wanted *w, bag *out) {
    out->len = 0;
    if (status && status->resources) {
        const struct pair_qty *has = status->resources->requests, *agreed = status->allocated;
        if (!resize_infeasible(w->status))
            bag_max(out, c->resources.requests, list_len(c->resources.requests));
        bag_max(out, has, list_len(has));
        bag_max(out, agreed, list_len(agreed));
    } else {
        bag_max(out, c->resources.requests, list_len(c->resources.requests));
    }
    if (w->some_cpu)
        bag_default(out, "cpu", SOME_CPU);
    if (w->some_memory)
        bag_default(out, "memory", INT64_C(1000) * SOME_MEMORY_MIB * 1024 * 1024);
}

/* Containers run together, init containers one after the other; one that restarts always is a
 * sidecar, which runs beside all that come after it. */
static void containers_requests(const struct pod_spec *spec, const struct wanted *w, bag *sum) {
    bag one = VEC_INIT, sidecars = VEC_INIT, init = VEC_INIT;
    const struct pod *st = w->status;
    for (size_t i = 0; i < list_len(spec->containers); i++) {
        const struct container *c = &spec->containers[i];
        container_requests(c, st ? status_of(st->containers, c->name) : NULL, w, &one);
        bag_add(sum, one.p, one.len);
    }
    for (size_t i = 0; i < list_len(spec->init_containers); i++) {
        const struct container *c = &spec->init_containers[i];
        bool sidecar = is_sidecar(c);
        container_requests(c, st && sidecar ? status_of(st->init_containers, c->name) : NULL, w,
                           &one);
        if (sidecar) {
            bag_add(sum, one.p, one.len);
            bag_add(&sidecars, one.p, one.len);
            bag_max(&init, sidecars.p, sidecars.len);
        } else {
            bag_add(&one, sidecars.p, sidecars.len);
            bag_max(&init, one.p, one.len);
        }
    }
    bag_max(sum, init.p, init.len);
    vec_done(&one);
    vec_done(&sidecars);
    vec_done(&init);
}

static void pod_requests(const struct pod_spec *spec, const struct wanted *w, bag *sum) {
    const struct pair_qty *whole = spec->resources ? spec->resources->requests : NULL;
    sum->len = 0;
    containers_requests(spec, w, sum);
    for (size_t i = 0; !w->no_pod_level && i < list_len(whole); i++) {
        if (!is_pod_level(whole[i].key))
            continue;
        struct pair_qty *q = bag_find(sum, whole[i].key);
        if (q)
            q->milli = whole[i].milli;
        else
            *vec_push(sum) = whole[i];
    }
    bag_add(sum, spec->overhead, list_len(spec->overhead));
}

static bool has_pod_level(const struct pod_spec *spec) {
    const struct pair_qty *whole = spec->resources ? spec->resources->requests : NULL;
    for (size_t i = 0; i < list_len(whole); i++)
        if (is_pod_level(whole[i].key))
            return true;
    return false;
}

/* --- amounts --- */

/* Whole units, rounded up. */
static int64_t units(int64_t milli) {
    return milli > 0 ? (milli - 1) / 1000 + 1 : milli / 1000;
}

static int64_t scalar_get(const struct fit_amounts *a, const char *name) {
    for (size_t i = 0; i < a->scalars.len; i++)
        if (a->scalars.p[i].name == name)
            return a->scalars.p[i].value;
    return 0;
}

static void scalar_add(struct fit_amounts *a, const char *name, int64_t value) {
    for (size_t i = 0; i < a->scalars.len; i++) {
        if (a->scalars.p[i].name == name) {
            a->scalars.p[i].value = plus(a->scalars.p[i].value, value);
            return;
        }
    }
    *vec_push(&a->scalars) = (struct fit_scalar){.name = name, .value = value};
}

void fit_amounts_done(struct fit_amounts *a) {
    for (size_t i = 0; i < a->scalars.len; i++)
        free(a->scalars.p[i].text);
    vec_done(&a->scalars);
    *a = (struct fit_amounts){0};
}

static void amounts_of(const struct pair_qty *list, size_t n, struct fit_amounts *out) {
    for (size_t i = 0; i < n; i++) {
        const char *name = strna(list[i].key);
        int64_t milli = list[i].milli;
        if (is_cpu(name))
            out->cpu = milli;
        else if (is_memory(name))
            out->memory = units(milli);
        else if (streq(name, "ephemeral-storage"))
            out->ephemeral = units(milli);
        else if (is_scalar(name))
            scalar_add(out, list[i].key, units(milli));
    }
}

void fit_load_done(struct fit_load *l) {
    fit_amounts_done(&l->amounts);
}

void fit_load_add(struct fit_load *to, const struct fit_load *l, int sign) {
    int64_t (*op)(int64_t, int64_t) = sign > 0 ? plus : minus;
    to->amounts.cpu = op(to->amounts.cpu, l->amounts.cpu);
    to->amounts.memory = op(to->amounts.memory, l->amounts.memory);
    to->amounts.ephemeral = op(to->amounts.ephemeral, l->amounts.ephemeral);
    to->some_cpu = op(to->some_cpu, l->some_cpu);
    to->some_memory = op(to->some_memory, l->some_memory);
    for (size_t i = 0; i < l->amounts.scalars.len; i++)
        scalar_add(&to->amounts, l->amounts.scalars.p[i].name,
                   op(0, l->amounts.scalars.p[i].value));
    /* names are those of the pods' specs: they go with the last pod that has them */
    for (size_t i = to->amounts.scalars.len; sign < 0 && i-- > 0;)
        if (!to->amounts.scalars.p[i].value)
            fit_vec_drop(&to->amounts.scalars, i);
}

void fit_load_of(const struct pod_spec *spec, const struct pod *status, struct fit_load *out) {
    struct wanted w = {.status = status};
    bag sum = VEC_INIT;
    *out = (struct fit_load){0};
    pod_requests(spec, &w, &sum);
    amounts_of(sum.p, sum.len, &out->amounts);
    for (size_t i = 0; i < out->amounts.scalars.len; i++) {
        struct fit_scalar *s = &out->amounts.scalars.p[i];
        s->text = xasprintf("Insufficient %s", s->name);
    }
    /* A pod that states what it needs as a whole needs no guess about its containers. */
    bool whole = has_pod_level(spec);
    w.some_cpu = !whole || !bag_find(&sum, "cpu");
    w.some_memory = !whole || !bag_find(&sum, "memory");
    if (w.some_cpu || w.some_memory)
        pod_requests(spec, &w, &sum);
    out->some_cpu = bag_get(&sum, "cpu");
    out->some_memory = units(bag_get(&sum, "memory"));
    vec_done(&sum);
}

bool fit_load_differs(const struct pod_spec *spec, const struct pod *pod) {
    for (int init = 0; init < 2; init++) {
        const struct container_status *list = init ? pod->init_containers : pod->containers;
        const struct container *specs = init ? spec->init_containers : spec->containers;
        for (size_t i = 0; i < list_len(list); i++) {
            if (!list[i].resources)
                continue;
            /* kubelets report what they were told, in the same order; equal lists are one */
            const struct pair_qty *told = NULL;
            for (size_t k = 0; k < list_len(specs); k++)
                if (str_same(specs[k].name, list[i].name))
                    told = specs[k].resources.requests;
            if (list[i].resources->requests != told ||
                (list[i].allocated && list[i].allocated != told))
                return true;
        }
    }
    return false;
}

/* The real scheduler's LeastAllocated looks neither at requests of the pod as a whole nor at what
 * the kubelet reports. */
void fit_shape_scores(struct fit_shape *s) {
    struct wanted w = {.some_cpu = true, .some_memory = true, .no_pod_level = true};
    bag sum = VEC_INIT;
    pod_requests(fit_spec(s->spec), &w, &sum);
    s->score_cpu = bag_get(&sum, "cpu");
    s->score_memory = units(bag_get(&sum, "memory"));
    vec_done(&sum);
}

void fit_room_of(const struct pair_qty *allocatable, struct fit_amounts *room, int64_t *pods) {
    fit_amounts_done(room);
    amounts_of(allocatable, list_len(allocatable), room);
    *pods = units(map_qty(allocatable, "pods"));
}

/* --- the question --- */

static void insufficient(struct fit_ask *ask, const char *text, int64_t want, int64_t room) {
    fit_no(ask, FIT_RESOURCE, text);
    if (want > room)
        ask->final = true; /* even an empty node is too small */
}

bool fit_check_resources(struct fit_ask *ask, const struct fit_node *node) {
    const struct fit_amounts *want = &ask->cohort->shape->load.amounts;
    const struct fit_amounts *room = &node->room, *used = &node->used.amounts;
    if ((int64_t)node->pods.len + 1 > node->room_pods)
        fit_no(ask, FIT_PODS, NULL);
    if (want->cpu > 0 && want->cpu > minus(room->cpu, used->cpu))
        insufficient(ask, "Insufficient cpu", want->cpu, room->cpu);
    if (want->memory > 0 && want->memory > minus(room->memory, used->memory))
        insufficient(ask, "Insufficient memory", want->memory, room->memory);
    if (want->ephemeral > 0 && want->ephemeral > minus(room->ephemeral, used->ephemeral))
        insufficient(ask, "Insufficient ephemeral-storage", want->ephemeral, room->ephemeral);
    for (size_t i = 0; i < want->scalars.len; i++) {
        const struct fit_scalar *s = &want->scalars.p[i];
        int64_t has = scalar_get(room, s->name);
        if (s->value && s->value > minus(has, scalar_get(used, s->name)))
            insufficient(ask, s->text, s->value, has);
    }
    return !ask->reasons.len;
}

/* --- scores --- */

static int64_t least(int64_t used, int64_t room) {
    /* as a 128-bit product: what the API lets through need not fit 64 bits times a hundred */
    return used > room ? 0 : (int64_t)((__int128)minus(room, used) * FIT_SCORE_MAX / room);
}

/* LeastAllocated: the emptier, the better. */
int64_t fit_score_least(const struct fit_shape *s, const struct fit_node *node) {
    int64_t sum = 0, n = 0;
    if (node->room.cpu) {
        sum += least(plus(node->used.some_cpu, s->score_cpu), node->room.cpu);
        n++;
    }
    if (node->room.memory) {
        sum += least(plus(node->used.some_memory, s->score_memory), node->room.memory);
        n++;
    }
    return n ? sum / n : 0;
}

/* How even CPU and memory are used. */
static int64_t evenness(int64_t cpu, int64_t memory, const struct fit_amounts *room) {
    double deviation = 0;
    if (room->cpu && room->memory)
        deviation = fabs(fmin((double)cpu / (double)room->cpu, 1) -
                         fmin((double)memory / (double)room->memory, 1)) /
                    2;
    return (int64_t)((1 - deviation) * FIT_SCORE_MAX);
}

/* BalancedAllocation: 75 when the pod changes nothing, 100 when it makes up for all the imbalance.
 */
int64_t fit_score_balanced(const struct fit_shape *s, const struct fit_node *node) {
    const struct fit_amounts *want = &s->load.amounts, *used = &node->used.amounts;
    if (!want->cpu && !want->memory)
        return 0;
    int64_t with =
        evenness(plus(used->cpu, want->cpu), plus(used->memory, want->memory), &node->room);
    int64_t without = evenness(used->cpu, used->memory, &node->room);
    return FIT_SCORE_MAX / 2 + (FIT_SCORE_MAX / 2 + with - without) / 2;
}
