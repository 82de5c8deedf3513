/* The check of Longhorn: no volume loses its last healthy replica, and Longhorn has let go of the
 * node before it is operated on.
 *
 * Which replica is safe to do without is decided as Longhorn's instance manager controller decides
 * whether its PodDisruptionBudget may go (canDeleteInstanceManagerPDB): there must be another one
 * that is healthy, on a schedulable node whose instance manager runs. A replica that was never
 * used holds no data. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/check_internal.h"
#include "engine/guard.h"

/* Longhorn's setting node-drain-policy. */
enum drain_policy {
    POLICY_UNKNOWN,
    POLICY_BLOCK_LAST,    /* the default */
    POLICY_EVICT,         /* every replica is moved away once the node is cordoned */
    POLICY_EVICT_LAST,    /* those without a healthy one elsewhere are */
    POLICY_ALLOW_STOPPED, /* a stopped last replica does not matter */
    POLICY_ALWAYS,
};

static const char *const policy_names[] = {
    [POLICY_UNKNOWN] = "unknown",
    [POLICY_BLOCK_LAST] = "block-if-contains-last-replica",
    [POLICY_EVICT] = "block-for-eviction",
    [POLICY_EVICT_LAST] = "block-for-eviction-if-contains-last-replica",
    [POLICY_ALLOW_STOPPED] = "allow-if-replica-is-stopped",
    [POLICY_ALWAYS] = "always-allow",
};

/* A replica, its volume, and what is wrong with it as the one that is left. */
struct piece {
    const struct longhorn_replica *rep;
    struct held *of;   /* NULL: its volume is not there */
    const char *unfit; /* NULL: it counts */
};

/* A volume with its replicas. */
struct held {
    const struct longhorn_volume *v;
    struct piece *pieces;
    size_t n, healthy;
};

/* What is at work on a node that is to go. */
struct at_work {
    struct check_list attached, shared; /* volumes */
    struct check_list running;          /* engines */
};

struct longhorn {
    struct check_run *r;
    enum drain_policy policy;
    const struct longhorn_setting *setting; /* that says so; NULL: none does */
    struct held *volumes;                   /* by namespace and name */
    size_t n_volumes;
    struct piece *pieces; /* as their volumes, and then by name */
    size_t n_pieces;
    size_t *by_node, *on_node; /* their numbers by node_key(), and where those of a key begin */
    struct at_work *at_work;   /* of each node that goes */
    struct check_list sharded;
    const struct longhorn_manager **managers; /* by node */
    size_t n_managers;
};

static bool is_healthy(const struct longhorn_replica *rep) {
    return rep->healthy_at && !rep->failed_at && !rep->meta.deleted;
}

static int by_manager(const void *a, const void *b) {
    const struct longhorn_manager *x = *(const struct longhorn_manager *const *)a,
                                  *y = *(const struct longhorn_manager *const *)b;
    int c = strcmp(strna(x->node), strna(y->node));
    if (!c)
        c = strcmp(strna(x->meta.ns), strna(y->meta.ns));
    return c ? c : strcmp(strna(x->meta.name), strna(y->meta.name));
}

/* The instance managers of a node lie together. */
static const struct longhorn_manager **managers_on(const struct longhorn *l, const char *node,
                                                   size_t *n) {
    size_t low = 0, high = l->n_managers;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (strcmp(strna(l->managers[mid]->node), node) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    *n = 0;
    while (low + *n < l->n_managers && str_same(l->managers[low + *n]->node, node))
        ++*n;
    return &l->managers[low];
}

static bool manager_runs(const struct longhorn *l, const struct longhorn_replica *rep) {
    size_t n = 0;
    const struct longhorn_manager **all = managers_on(l, strna(rep->node), &n);
    for (size_t i = 0; i < n; i++) {
        const struct longhorn_manager *m = all[i];
        /* Managers of engines alone hold no replicas. */
        if (str_same(m->meta.ns, rep->meta.ns) && str_same(m->state, "running") &&
            !str_same(m->type, "engine") &&
            (str_empty(rep->engine) || str_empty(m->engine) || streq(rep->engine, m->engine)))
            return true;
    }
    return false;
}

/* Why this replica does not count as the one that is left; NULL when it does. */
static const char *no_help(const struct longhorn *l, const struct longhorn_replica *rep) {
    const char *why = run_unfit(l->r, rep->node);
    if (!why && !manager_runs(l, rep))
        why = "has no running instance manager";
    return why;
}

/* Where Longhorn is twice, which it does not allow, always of the same one. */
static enum drain_policy read_policy(const struct check_run *r,
                                     const struct longhorn_setting **from) {
    size_t n = 0;
    _cleanup_free_ const struct object **settings =
        store_sorted(run_store(r, SOURCE_LONGHORN_SETTINGS), &n);
    for (size_t i = 0; i < n; i++) {
        const struct longhorn_setting *s = (const struct longhorn_setting *)settings[i];
        if (!str_same(s->meta.name, "node-drain-policy") || (str_empty(s->value) && !s->unread))
            continue;
        *from = s;
        for (size_t k = 1; k < ARRAY_LEN(policy_names); k++)
            if (!s->unread && str_same(s->value, policy_names[k]))
                return (enum drain_policy)k;
        return POLICY_UNKNOWN;
    }
    return POLICY_BLOCK_LAST; /* Longhorn's default, which it acts by when there is none */
}

/* The numbers of n things in the order of their keys, those of equal keys as they were; `begin[k]`
 * is where those of key k begin. Thousands of them many times a drain: nothing is compared. */
static size_t *spread(struct arena *arena, const size_t *key, size_t n, size_t keys,
                      size_t **begin) {
    size_t *first = arena_alloc(arena, (keys + 2) * sizeof *first);
    size_t *order = arena_alloc(arena, (n + 1) * sizeof *order);
    for (size_t i = 0; i < n; i++)
        first[key[i] + 2]++;
    for (size_t k = 2; k < keys + 2; k++)
        first[k] += first[k - 1];
    for (size_t i = 0; i < n; i++)
        order[first[key[i] + 1]++] = i;
    *begin = first;
    return order;
}

static int by_name(const void *a, const void *b) {
    const struct longhorn_replica *x = ((const struct piece *)a)->rep,
                                  *y = ((const struct piece *)b)->rep;
    return strcmp(strna(x->meta.name), strna(y->meta.name));
}

/* Which volume an object is. */
struct place {
    const void *object;
    size_t number;
};

static int by_object(const void *a, const void *b) {
    const char *x = ((const struct place *)a)->object, *y = ((const struct place *)b)->object;
    return (x > y) - (x < y);
}

/* The number of each replica's volume; those without one have the number after the last. */
static size_t *find_volumes(const struct longhorn *l, const struct longhorn_replica *const *all,
                            size_t n) {
    const struct store *volumes = run_store(l->r, SOURCE_LONGHORN_VOLUMES);
    struct place *places = arena_alloc(l->r->arena, (l->n_volumes + 1) * sizeof *places);
    size_t *key = arena_alloc(l->r->arena, (n + 1) * sizeof *key);
    for (size_t i = 0; i < l->n_volumes; i++)
        places[i] = (struct place){l->volumes[i].v, i};
    qsort(places, l->n_volumes, sizeof *places, by_object);
    for (size_t i = 0; i < n; i++) {
        const struct place wanted = {
            .object = str_empty(all[i]->volume)
                          ? NULL
                          : (const void *)store_get(volumes, all[i]->meta.ns, all[i]->volume)};
        const struct place *found =
            wanted.object ? bsearch(&wanted, places, l->n_volumes, sizeof *places, by_object)
                          : NULL;
        key[i] = found ? found->number : l->n_volumes;
    }
    return key;
}

static void load_pieces(struct longhorn *l) {
    const struct store *replicas = run_store(l->r, SOURCE_LONGHORN_REPLICAS);
    size_t n = 0, *begin;
    const struct object *obj;
    const struct longhorn_replica **all =
        arena_alloc(l->r->arena, (store_len(replicas) + 1) * sizeof *all);
    for (uint32_t i = 0; (obj = store_next(replicas, &i));)
        if (!((const struct longhorn_replica *)obj)->unread)
            all[n++] = (const struct longhorn_replica *)obj;
    const size_t *order = spread(l->r->arena, find_volumes(l, all, n), n, l->n_volumes + 1, &begin);
    l->n_pieces = n;
    l->pieces = arena_alloc(l->r->arena, (n + 1) * sizeof *l->pieces);
    for (size_t i = 0; i < n; i++)
        l->pieces[i].rep = all[order[i]];
    for (size_t i = 0; i <= l->n_volumes; i++) {
        size_t here = begin[i + 1] - begin[i];
        struct piece *pieces = &l->pieces[begin[i]];
        if (here > 1)
            qsort(pieces, here, sizeof *pieces, by_name);
        if (i == l->n_volumes)
            break;
        l->volumes[i].pieces = pieces;
        l->volumes[i].n = here;
        for (size_t k = 0; k < here; k++) {
            pieces[k].of = &l->volumes[i];
            l->volumes[i].healthy += is_healthy(pieces[k].rep);
        }
    }
}

/* Where the replicas of a node lie: those that go, those that are back, the rest. */
static size_t node_key(const struct longhorn *l, const char *node) {
    const struct check_run *r = l->r;
    const char *const *going = run_asked(r, node), *const *back = going ? NULL : run_back(r, node);
    return going  ? (size_t)(going - r->going.p)
           : back ? r->going.n + (size_t)(back - r->back.p)
                  : r->going.n + r->back.n;
}

/* The answers for nodes that were asked about lately: equal strings are one (base/pool.h). */
struct fitness {
    const char *node, *ns, *engine;
    const char *unfit;
    size_t key;
};
enum { FITNESSES = 1024 };

static void load_nodes(struct longhorn *l) {
    struct fitness *known = arena_alloc(l->r->arena, FITNESSES * sizeof *known);
    size_t *key = arena_alloc(l->r->arena, (l->n_pieces + 1) * sizeof *key);
    for (size_t i = 0; i < l->n_pieces; i++) {
        const struct longhorn_replica *rep = l->pieces[i].rep;
        struct fitness *f = &known[((uintptr_t)rep->node >> 4) % FITNESSES];
        if (f->node != rep->node || f->ns != rep->meta.ns || f->engine != rep->engine || !f->node)
            *f = (struct fitness){rep->node, rep->meta.ns, rep->engine, no_help(l, rep),
                                  node_key(l, rep->node)};
        key[i] = f->key;
        if (is_healthy(rep))
            l->pieces[i].unfit = f->unfit;
    }
    l->by_node =
        spread(l->r->arena, key, l->n_pieces, l->r->going.n + l->r->back.n + 1, &l->on_node);
}

static void load_managers(struct longhorn *l) {
    const struct store *managers = run_store(l->r, SOURCE_LONGHORN_MANAGERS);
    const struct object *obj;
    l->managers = arena_alloc(l->r->arena, (store_len(managers) + 1) * sizeof *l->managers);
    for (uint32_t i = 0; (obj = store_next(managers, &i));)
        if (!((const struct longhorn_manager *)obj)->unread)
            l->managers[l->n_managers++] = (const struct longhorn_manager *)obj;
    qsort(l->managers, l->n_managers, sizeof *l->managers, by_manager);
}

/* NULL: it is not one of those that are to go. */
static struct at_work *at_work_on(const struct longhorn *l, const char *node) {
    const char *const *name = run_asked(l->r, node);
    return name ? &l->at_work[name - l->r->going.p] : NULL;
}

static void load_work(struct longhorn *l) {
    struct check_objects engines = run_sorted(l->r, SOURCE_LONGHORN_ENGINES);
    l->at_work = arena_alloc(l->r->arena, (l->r->going.n + 1) * sizeof *l->at_work);
    for (size_t i = 0; i < l->n_volumes; i++) {
        const struct longhorn_volume *v = l->volumes[i].v;
        struct at_work *at = at_work_on(l, v->node);
        if (str_same(v->layout, "sharded"))
            check_list_add(&l->sharded, v->meta.name);
        if (!at)
            continue;
        check_list_add(&at->attached, v->meta.name);
        if (str_same(v->access, "rwx"))
            check_list_add(&at->shared, v->meta.name);
    }
    for (size_t i = 0; i < engines.n; i++) {
        const struct longhorn_engine *e = (const struct longhorn_engine *)engines.p[i];
        struct at_work *at = at_work_on(l, e->node);
        if (at && !str_empty(e->state) && !str_same(e->state, "stopped"))
            check_list_add(&at->running, e->meta.name);
    }
}

static void load(struct longhorn *l) {
    struct check_objects volumes = run_sorted(l->r, SOURCE_LONGHORN_VOLUMES);
    l->n_volumes = volumes.n;
    l->volumes = arena_alloc(l->r->arena, (volumes.n + 1) * sizeof *l->volumes);
    for (size_t i = 0; i < volumes.n; i++)
        l->volumes[i].v = (const struct longhorn_volume *)volumes.p[i];
    load_managers(l);
    load_pieces(l);
    load_nodes(l);
    load_work(l);
    l->policy = read_policy(l->r, &l->setting);
}

/* The numbers of the replicas on a node that goes or is back. */
static const size_t *pieces_on(const struct longhorn *l, const char *node, size_t *n) {
    size_t key = node_key(l, node);
    *n = l->on_node[key + 1] - l->on_node[key];
    return &l->by_node[l->on_node[key]];
}

static struct check_finding *find(const struct longhorn *l, const struct held *h, const char *node,
                                  enum check_verdict verdict, unsigned when, enum blocker_code code,
                                  const char *evidence) {
    return run_find(l->r, node, verdict, when, code, &kind_longhorn_volume, &h->v->meta, evidence);
}

/* --- the last replica --- */

static const char *healthy_of(const struct longhorn *l, const struct held *h) {
    if (h->v->replicas == ABSENT32)
        return run_printf(l->r, "%zu healthy", h->healthy);
    return run_printf(l->r, "%zu of %d healthy", h->healthy, h->v->replicas);
}

/* There is another healthy replica, but none that counts. */
static void judge_others(const struct longhorn *l, const struct held *h,
                         const struct longhorn_replica *rep) {
    const char *name = h->v->meta.name;
    struct check_list nodes = {0};
    const char *other = NULL, *why = NULL;
    bool out = false;
    for (size_t i = 0; i < h->n; i++) {
        const struct longhorn_replica *o = h->pieces[i].rep;
        if (!is_healthy(o))
            continue;
        if (run_lost(l->r, o->node)) {
            check_list_add(&nodes, o->node);
            out = out || run_out(l->r, o->node);
        } else if (!str_same(o->node, rep->node)) {
            other = o->meta.name;
            why = run_printf(l->r, "node %s, which %s", strna(o->node), h->pieces[i].unfit);
        }
    }
    const char *evidence =
        other ? run_printf(l->r,
                           "volume %s: the only other healthy replica that is not on a node which "
                           "goes, %s, is on %s",
                           name, other, why)
              : run_printf(l->r,
                           "volume %s has all its %zu healthy replicas on nodes that would "
                           "be out of service together: %s",
                           name, h->healthy, run_list(l->r, &nodes));
    struct check_finding *f = find(l, h, rep->node, CHECK_WAIT, CHECK_CORDON | CHECK_OPERATION,
                                   BLOCKER_LAST_REPLICA, evidence);
    f->ends =
        run_printf(l->r, "volume %s has a healthy replica on a node that stays in service", name);
    if (!other)
        f->hint = out ? "wait until the node that is out is back and the volume is rebuilt"
                      : "take these nodes one after another";
}

/* A replica that could not be read may be another one of the volume. */
static bool may_have_more(const struct longhorn *l, const struct held *h) {
    const struct store *replicas = run_store(l->r, SOURCE_LONGHORN_REPLICAS);
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(replicas, &i));) {
        const char *of = map_get(obj->meta.labels, "longhornvolume");
        if (((const struct longhorn_replica *)obj)->unread &&
            str_same(obj->meta.ns, h->v->meta.ns) && (!of || streq(of, h->v->meta.name)))
            return true;
    }
    return false;
}

static void judge_only(const struct longhorn *l, const struct held *h,
                       const struct longhorn_replica *rep) {
    const char *name = h->v->meta.name;
    bool strict = str_same(h->v->locality, "strict-local");
    bool moves = (l->policy == POLICY_EVICT || l->policy == POLICY_EVICT_LAST) && !strict;
    bool single =
        (strict || (h->v->replicas != ABSENT32 && h->v->replicas <= 1)) && !may_have_more(l, h);
    const char *evidence =
        run_printf(l->r, "volume %s has its only healthy replica %s on node %s (%s%s)", name,
                   rep->meta.name, rep->node, healthy_of(l, h), strict ? ", strict-local" : "");
    struct check_finding *f;
    if (moves) {
        f = find(l, h, rep->node, CHECK_WAIT, CHECK_OPERATION, BLOCKER_LAST_REPLICA, evidence);
        f->hint = run_printf(l->r,
                             "wait: by its node-drain-policy %s Longhorn moves the replica away "
                             "once the node is cordoned, which copies the data",
                             policy_names[l->policy]);
    } else if (single) {
        f = find(l, h, rep->node, CHECK_DENY, CHECK_CORDON | CHECK_OPERATION, BLOCKER_LAST_REPLICA,
                 evidence);
        f->hint = strict ? "a strict-local volume cannot move: detach it and change its "
                           "dataLocality"
                         : "raise the volume's numberOfReplicas to 2";
    } else {
        f = find(l, h, rep->node, CHECK_WAIT, CHECK_CORDON | CHECK_OPERATION, BLOCKER_LAST_REPLICA,
                 evidence);
        f->hint = str_same(h->v->state, "detached")
                      ? "attach the volume so that Longhorn rebuilds the missing replicas"
                      : "wait until Longhorn has rebuilt the missing replicas; look at the volume "
                        "if it does not";
    }
    f->ends = run_printf(l->r, "volume %s has a healthy replica on another node", name);
}

/* Longhorn's owner has said that this does not matter. */
static bool consented(const struct longhorn *l, const struct longhorn_replica *rep) {
    return l->policy == POLICY_ALWAYS ||
           (l->policy == POLICY_ALLOW_STOPPED && str_same(rep->desired, "stopped") &&
            str_same(rep->state, "stopped"));
}

/* False when the node may go as far as this replica is concerned. */
static bool judge_replica(const struct longhorn *l, const struct held *h,
                          const struct longhorn_replica *rep) {
    const struct longhorn_volume *v = h->v;
    size_t good = 0, elsewhere = 0;
    for (size_t i = 0; i < h->n; i++)
        if (is_healthy(h->pieces[i].rep) && !str_same(h->pieces[i].rep->node, rep->node)) {
            elsewhere++;
            good += !h->pieces[i].unfit;
        }
    if (str_empty(v->state)) {
        find(l, h, rep->node, CHECK_WAIT, CHECK_CORDON | CHECK_OPERATION, BLOCKER_CHECK_UNKNOWN,
             run_printf(l->r,
                        "volume %s has a replica here and says nothing about its state "
                        "(status.state)",
                        v->meta.name));
        return true;
    }
    if (!good && consented(l, rep)) {
        run_remark(l->r, rep->node, CHECK_CORDON | CHECK_OPERATION, BLOCKER_LAST_REPLICA,
                   &kind_longhorn_volume, &v->meta,
                   run_printf(l->r,
                              "volume %s has no healthy replica elsewhere; Longhorn's "
                              "node-drain-policy %s allows that",
                              v->meta.name, policy_names[l->policy]));
        return true;
    }
    if (!good) {
        if (elsewhere)
            judge_others(l, h, rep);
        else
            judge_only(l, h, rep);
        return true;
    }
    bool attached = str_same(v->state, "attached");
    if ((attached && !str_same(v->robustness, "healthy")) || str_same(v->robustness, "faulted")) {
        struct check_finding *f = find(
            l, h, rep->node, CHECK_WAIT, CHECK_CORDON, BLOCKER_STORAGE_NOT_OK,
            run_printf(l->r,
                       "volume %s is %s (%s), and its replica %s on the node is one of "
                       "the healthy ones",
                       v->meta.name, str_empty(v->robustness) ? "of unknown health" : v->robustness,
                       healthy_of(l, h), rep->meta.name));
        f->ends = run_printf(l->r, "volume %s is healthy", v->meta.name);
        return true;
    }
    return false;
}

/* Its volume is there and could not be read, which is told; nobody is to delete it. */
static bool is_of_unread(const struct longhorn *l, const struct longhorn_replica *rep) {
    const struct object *v =
        str_empty(rep->volume)
            ? NULL
            : store_get(run_store(l->r, SOURCE_LONGHORN_VOLUMES), rep->meta.ns, rep->volume);
    return v && run_unread(SOURCE_LONGHORN_VOLUMES, v);
}

static void judge_volumes(const struct longhorn *l, const char *node) {
    struct check_list lone = {0};
    size_t safe = 0, n = 0;
    bool sound = true;
    const size_t *numbers = pieces_on(l, node, &n);
    const struct held *last = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct piece *p = &l->pieces[numbers[i]];
        if (!is_healthy(p->rep) || (p->of && p->of == last))
            continue; /* a second replica on the same node changes nothing */
        if (!p->of && is_of_unread(l, p->rep))
            continue;
        if (!p->of)
            check_list_add(&lone, p->rep->meta.name);
        else if (judge_replica(l, p->of, p->rep))
            sound = false;
        else
            safe++;
        last = p->of;
    }
    if (lone.n)
        run_find(l->r, node, CHECK_WAIT, CHECK_CORDON | CHECK_OPERATION, BLOCKER_CHECK_UNKNOWN,
                 NULL, NULL,
                 run_printf(l->r,
                            "%zu healthy replica%s on the node of a volume that is not there: "
                            "%s",
                            lone.n, plural(lone.n), run_list(l->r, &lone)))
            ->hint = "delete the replicas if their volume is gone for good";
    if (l->sharded.n) {
        run_find(l->r, node, CHECK_WAIT, CHECK_CORDON | CHECK_OPERATION, BLOCKER_CHECK_UNKNOWN,
                 NULL, NULL,
                 run_printf(l->r,
                            "%zu volume%s with erasure coding, whose shards this check does "
                            "not understand: %s",
                            l->sharded.n, plural(l->sharded.n), run_list(l->r, &l->sharded)))
            ->hint =
            "look at the ShardGroups of these volumes: only they tell whether the node can go";
    }
    if (l->policy == POLICY_EVICT && n)
        run_find(l->r, node, CHECK_WAIT, CHECK_OPERATION, BLOCKER_STORAGE_NOT_OK, NULL, NULL,
                 run_printf(l->r,
                            "Longhorn moves %zu replica%s away from the node before it lets "
                            "go (node-drain-policy %s)",
                            n, plural(n), policy_names[l->policy]))
            ->ends = "no replica is left on the node";
    if (sound)
        run_pass(l->r, node,
                 run_printf(l->r,
                            "%zu volume%s with a healthy replica here%s another on a node that "
                            "stays",
                            safe, plural(safe), safe == 1 ? ", and" : ", each with"));
}

/* --- letting go --- */

static void judge_attached(const struct longhorn *l, const char *node) {
    const struct at_work *at = at_work_on(l, node);
    if (at->attached.n || at->running.n) {
        struct check_finding *f = run_find(
            l->r, node, CHECK_WAIT, CHECK_OPERATION, BLOCKER_VOLUME_ATTACHED, NULL, NULL,
            at->attached.n
                ? run_printf(l->r, "%zu volume%s attached to the node: %s", at->attached.n,
                             at->attached.n == 1 ? " is" : "s are", run_list(l->r, &at->attached))
                : run_printf(l->r, "%zu engine%s still %s on the node: %s", at->running.n,
                             plural(at->running.n), at->running.n == 1 ? "runs" : "run",
                             run_list(l->r, &at->running)));
        f->hint = "nothing: they detach when the drain has evicted the pods that use them; "
                  "Longhorn's own budget goes with the last one";
        f->ends = "no volume is attached to the node";
    }
    if (at->shared.n)
        run_remark(l->r, node, CHECK_OPERATION, BLOCKER_VOLUME_ATTACHED, NULL, NULL,
                   run_printf(l->r,
                              "%zu shared volume%s served from the node move%s with it: "
                              "their clients pause for a while: %s",
                              at->shared.n, plural(at->shared.n), at->shared.n == 1 ? "s" : "",
                              run_list(l->r, &at->shared)));
}

/* Longhorn's budget for the instance manager stays until it lets go of the cordoned node. */
static void judge_budget(const struct longhorn *l, const char *node) {
    const struct store *budgets = run_store(l->r, SOURCE_BUDGETS);
    const struct node *n = (const struct node *)store_get(l->r->world->nodes, NULL, node);
    size_t count = 0;
    if (!budgets || !n || !n->unschedulable)
        return;
    const struct longhorn_manager **managers = managers_on(l, node, &count);
    for (size_t i = 0; i < count; i++) {
        const struct longhorn_manager *m = managers[i];
        if (!store_get(budgets, m->meta.ns, m->meta.name))
            continue;
        struct check_finding *f =
            run_find(l->r, node, CHECK_WAIT, CHECK_OPERATION, BLOCKER_STORAGE_NOT_OK,
                     &kind_longhorn_manager, &m->meta,
                     run_printf(l->r,
                                "Longhorn still guards instance manager %s with a "
                                "PodDisruptionBudget",
                                m->meta.name));
        f->hint = guards[GUARD_LONGHORN].hint;
        f->ends = run_printf(l->r, "the PodDisruptionBudget %s/%s is gone", strna(m->meta.ns),
                             m->meta.name);
    }
}

/* --- after the return --- */

static void judge_back(const struct longhorn *l, const char *node) {
    struct check_list sick = {0};
    const char *robustness = NULL;
    const struct held *last = NULL;
    size_t here = 0, n = 0;
    const size_t *numbers = pieces_on(l, node, &n);
    for (size_t i = 0; i < n; i++) {
        const struct held *h = l->pieces[numbers[i]].of;
        if (!h || h == last)
            continue;
        last = h;
        here++;
        if (!str_same(h->v->robustness, "healthy") &&
            (!str_same(h->v->state, "detached") || str_same(h->v->robustness, "faulted"))) {
            check_list_add(&sick, h->v->meta.name);
            robustness = str_empty(h->v->robustness) ? "of unknown health" : h->v->robustness;
        }
    }
    if (sick.n)
        run_find(l->r, node, CHECK_WAIT, CHECK_RETURN, BLOCKER_STORAGE_NOT_OK, NULL, NULL,
                 run_printf(l->r,
                            "%zu of %zu volumes with a replica on the node %s not healthy "
                            "yet: %s (%s)",
                            sick.n, here, sick.n == 1 ? "is" : "are", run_list(l->r, &sick),
                            robustness))
            ->ends = "these volumes are healthy, or detached";
    const struct object *obj = NULL;
    struct check_objects nodes = run_sorted(l->r, SOURCE_LONGHORN_NODES);
    for (size_t i = 0; i < nodes.n && !obj; i++)
        if (str_same(nodes.p[i]->meta.name, node))
            obj = nodes.p[i];
    const struct foreign_condition *ready =
        obj ? foreign_condition(((const struct longhorn_node *)obj)->conditions, "Ready") : NULL;
    if (obj && (!ready || !str_same(ready->status, "True")))
        run_find(l->r, node, CHECK_WAIT, CHECK_RETURN, BLOCKER_STORAGE_NOT_OK, &kind_longhorn_node,
                 &obj->meta,
                 run_printf(l->r, "Longhorn's node is not Ready: %s",
                            ready && ready->reason ? ready->reason : "it does not say why"))
            ->ends = "Longhorn's node is Ready";
    run_pass(l->r, node,
             run_printf(l->r,
                        "%zu volume%s with a replica on the node, none that still has to be "
                        "rebuilt",
                        here, plural(here)));
}

void check_longhorn(struct check_run *r) {
    struct longhorn l = {.r = r};
    const char *node;
    load(&l);
    for (size_t i = 0; (node = run_next(r, &i));) {
        if (l.policy == POLICY_UNKNOWN && !l.setting->unread)
            run_find(r, node, CHECK_WAIT, CHECK_CORDON | CHECK_OPERATION, BLOCKER_CHECK_UNKNOWN,
                     &kind_longhorn_setting, &l.setting->meta,
                     run_printf(r,
                                "Longhorn's setting node-drain-policy has the value %s, which this "
                                "check does not know",
                                l.setting->value));
        judge_attached(&l, node);
        judge_budget(&l, node);
        judge_volumes(&l, node);
    }
    for (size_t i = 0; i < r->back.n; i++)
        judge_back(&l, r->back.p[i]);
}
