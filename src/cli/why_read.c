/* Reads what an answer needs. */
#include "cli/why_read.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/moveout.h"
#include "engine/waiting.h"

enum { LISTS_MAX = 4 };

/* One list as it is read. */
struct why_list {
    struct why_wanted *wanted;
    struct store *store;
    struct reflector *reflector;
    bool done;
    bool optional; /* without it there is less of an answer, but one */
    bool missing;  /* of that: it cannot be read */
};

/* One thing that was asked for. */
struct why_wanted {
    struct why_reader *reader;
    uint32_t hash;
    struct why_want want; /* its texts are ours */
    char *ns, *name, *selector;
    enum known known;
    enum kube_outcome outcome;  /* of KNOWN_NEVER */
    const struct kind *refused; /* the same, of a list: which */
    char *message;
    struct why_list lists[LISTS_MAX]; /* of the room and its volumes: several; else one */
    size_t n_lists;
    struct store *into; /* of a list that is nobody's question; NULL: the world's */
};

/* --- asking --- */

static bool same(const struct why_want *a, const struct why_want *b) {
    return a->what == b->what && a->kind == b->kind && str_same(a->ns, b->ns) &&
           str_same(a->name, b->name) && str_same(a->selector, b->selector);
}

static char *dup_or_null(const char *s) {
    return s ? xstrdup(s) : NULL;
}

/* Names come from the cluster: the hash begins with what nobody can guess. */
static uint32_t hash_want(const struct why_reader *r, const struct why_want *w) {
    const char *const texts[] = {strna(w->ns), strna(w->name), strna(w->selector)};
    uint32_t h = hash_more(r->seed, &w->what, sizeof w->what);
    h = hash_more(h, &w->kind, sizeof w->kind);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        h = hash_more(h, texts[i], strlen(texts[i]) + 1);
    return h;
}

static uint32_t wanted_hash(const void *entry) {
    return ((const struct why_wanted *)entry)->hash;
}

static bool wanted_equal(const void *entry, const void *key) {
    return same(&((const struct why_wanted *)entry)->want, key);
}

static const struct htab_ops wanted_ops = {wanted_hash, wanted_equal};

static struct why_wanted *find(struct why_reader *r, const struct why_want *want) {
    uint32_t hash = hash_want(r, want);
    struct why_wanted *w = htab_find(&r->wanted, hash, want);
    if (w)
        return w;
    w = xnew(struct why_wanted);
    *w = (struct why_wanted){.reader = r,
                             .hash = hash,
                             .ns = dup_or_null(want->ns),
                             .name = dup_or_null(want->name),
                             .selector = dup_or_null(want->selector),
                             .known = KNOWN_NOT_YET};
    w->want = (struct why_want){.what = want->what,
                                .kind = want->kind,
                                .ns = w->ns,
                                .name = w->name,
                                .selector = w->selector};
    *vec_push(&r->list) = w;
    htab_insert(&r->wanted, w);
    return w;
}

static enum known ask(void *arg, const struct why_want *want) {
    return find(arg, want)->known;
}

/* --- answers --- */

static struct store **store_of(struct why_world *w, const struct kind *kind) {
    return kind == &kind_node                ? &w->nodes
           : kind == &kind_pod               ? &w->pods
           : kind == &kind_pdb               ? &w->budgets
           : kind == &kind_replica_set       ? &w->replica_sets
           : kind == &kind_stateful_set      ? &w->stateful_sets
           : kind == &kind_deployment        ? &w->deployments
           : kind == &kind_daemon_set        ? &w->daemon_sets
           : kind == &kind_namespace         ? &w->namespaces
           : kind == &kind_pv                ? &w->volumes
           : kind == &kind_pvc               ? &w->claims
           : kind == &kind_storage_class     ? &w->classes
           : kind == &kind_csi_node          ? &w->csi_nodes
           : kind == &kind_volume_attachment ? &w->attachments
           : kind == &kind_job               ? &w->jobs
           : kind == &kind_service_account   ? &w->accounts
           : kind == &kind_resource_quota    ? &w->quotas
                                             : &w->events;
}

static void answered(struct why_wanted *w, enum known known) {
    w->known = known;
    if (!--w->reader->pending)
        loop_stop(w->reader->session->loop);
}

static void failed(struct why_wanted *w, enum kube_outcome outcome, const char *message) {
    w->outcome = outcome;
    str_replace(&w->message, message);
    answered(w, KNOWN_NEVER);
}

static void on_object(void *arg, struct kube_reply *reply) {
    struct why_wanted *w = arg;
    /* A name that no object can have is that of none. */
    if (reply->outcome == KUBE_NOT_FOUND || reply->outcome == KUBE_INVALID) {
        answered(w, KNOWN_GONE);
    } else if (reply->outcome == KUBE_OK && reply->obj) {
        store_put(*store_of(&w->reader->world, w->want.kind), TAKE_PTR(reply->obj));
        answered(w, KNOWN_THERE);
    } else {
        failed(w, reply->outcome, reply->message);
    }
}

static void move_all(struct store *from, struct store *to) {
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(from, &i));)
        store_put(to, object_copy(store_kind(from), obj));
}

static void keep_waiting(struct store *from, struct store *to) {
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(from, &i));)
        if (waiting_for_node((const struct pod *)obj))
            store_put(to, object_copy(store_kind(from), obj));
}

/* The picture of the whole cluster. The pods are not kept, but for those without a node: what the
 * answer is about was read before, and there may be very many. */
static void build_room(struct why_wanted *w) {
    struct why_world *world = &w->reader->world;
    world->fit = fit_new(w->reader->session->conn.client.pool);
    world->now = session_now(w->reader->session);
    world->least_priority = moveout_least_priority(w->lists[1].store);
    moveout_fill(world->fit, &(struct moveout_stores){.nodes = w->lists[0].store,
                                                      .pods = w->lists[1].store,
                                                      .namespaces = w->lists[2].store,
                                                      .now = world->now});
    move_all(w->lists[0].store, world->nodes);
    keep_waiting(w->lists[1].store, world->waiting);
}

/* As much of it as could be read. */
static void add_volumes(struct why_wanted *w) {
    struct why_world *world = &w->reader->world;
    world->room_volumes = !w->lists[0].missing && !w->lists[1].missing;
    world->room_classes = !w->lists[2].missing;
    if (world->room_volumes) {
        move_all(w->lists[0].store, world->volumes);
        move_all(w->lists[1].store, world->claims);
    }
    if (world->room_classes)
        move_all(w->lists[2].store, world->classes);
    world->no_limits = w->lists[3].missing;
    if (!world->no_limits)
        move_all(w->lists[3].store, world->csi_nodes);
    moveout_fill(world->fit,
                 &(struct moveout_stores){.volumes = world->room_volumes ? world->volumes : NULL,
                                          .claims = world->room_volumes ? world->claims : NULL,
                                          .classes = world->room_classes ? world->classes : NULL,
                                          .csi_nodes = world->csi_nodes});
}

static void on_list(struct why_wanted *w) {
    for (size_t i = 0; i < w->n_lists; i++)
        if (!w->lists[i].done)
            return;
    struct store *first = w->lists[0].store;
    if (w->into)
        move_all(first, w->into);
    else if (w->want.what == WHY_WANT_ROOM)
        build_room(w);
    else if (w->want.what == WHY_WANT_VOLUMES)
        add_volumes(w);
    else
        move_all(first, *store_of(&w->reader->world, store_kind(first)));
    answered(w, KNOWN_THERE);
}

static void on_synced(void *arg) {
    struct why_list *l = arg;
    if (l->wanted->known != KNOWN_NOT_YET || l->done)
        return;
    l->done = true;
    on_list(l->wanted);
}

static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    struct why_list *l = arg;
    (void)retry_in;
    if (l->wanted->known != KNOWN_NOT_YET || l->done)
        return;
    if (outcome == KUBE_NOT_FOUND && l->wanted->want.what == WHY_WANT_QUOTAS) {
        on_synced(l); /* who does not serve them has none */
        return;
    }
    if (!l->optional) {
        l->wanted->refused = store_kind(l->store);
        failed(l->wanted, outcome, message);
        return;
    }
    l->done = l->missing = true;
    on_list(l->wanted);
}

/* --- requests --- */

static void start_list(struct why_wanted *w, const struct kind *kind,
                       struct reflector_options opts) {
    struct session *s = w->reader->session;
    struct why_list *l = &w->lists[w->n_lists++];
    opts.once = true;
    opts.seed = (uint64_t)loop_now(s->loop) + w->n_lists;
    opts.synced = on_synced;
    opts.problem = on_problem;
    opts.arg = l;
    l->wanted = w;
    l->store = store_new(kind, s->conn.client.pool);
    l->reflector = reflector_new(&s->conn.client, l->store, &opts);
    w->reader->requests++;
}

/* All are in the list before one can be the last. */
static void start_volumes(struct why_wanted *w) {
    static const struct kind *const rows[] = {&kind_pv, &kind_pvc, &kind_storage_class,
                                              &kind_csi_node};
    static_assert(ARRAY_LEN(rows) <= LISTS_MAX, "a place for each list");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        start_list(w, rows[i], (struct reflector_options){0});
        w->lists[i].optional = true;
    }
}

static void start(struct why_wanted *w) {
    const struct why_want *want = &w->want;
    _cleanup_str_ struct str fields = STR_INIT;
    w->reader->pending++;
    switch (want->what) {
    case WHY_WANT_OBJECT:
        w->reader->requests++;
        kube_op_start(
            &w->reader->session->conn.client,
            &(struct kube_op_spec){
                .kind = want->kind, .ns = want->ns, .name = want->name, .result = want->kind},
            on_object, w);
        break;
    case WHY_WANT_NODE_PODS:
        str_addf(&fields, "spec.nodeName=%s", want->name);
        start_list(w, &kind_pod, (struct reflector_options){.field_selector = str_get(&fields)});
        break;
    case WHY_WANT_BUDGETS:
        start_list(w, &kind_pdb, (struct reflector_options){.ns = want->ns});
        break;
    case WHY_WANT_QUOTAS:
        start_list(w, &kind_resource_quota, (struct reflector_options){.ns = want->ns});
        break;
    case WHY_WANT_BUDGET_PODS:
        start_list(w, &kind_pod,
                   (struct reflector_options){
                       .ns = want->ns,
                       .label_selector = str_empty(want->selector) ? NULL : want->selector});
        break;
    case WHY_WANT_ATTACHMENTS:
        start_list(w, &kind_volume_attachment, (struct reflector_options){0});
        break;
    case WHY_WANT_EVENTS:
        /* Those about nodes are in "default". */
        str_addf(&fields, "involvedObject.kind=%s,involvedObject.name=%s", want->kind->name,
                 want->name);
        start_list(w, &kind_event,
                   (struct reflector_options){.ns = want->ns ? want->ns : "default",
                                              .field_selector = str_get(&fields)});
        break;
    case WHY_WANT_ROOM:
        start_list(w, &kind_node, (struct reflector_options){0});
        start_list(w, &kind_pod,
                   (struct reflector_options){.field_selector =
                                                  "status.phase!=Succeeded,status.phase!=Failed"});
        start_list(w, &kind_namespace, (struct reflector_options){0});
        break;
    case WHY_WANT_VOLUMES:
        start_volumes(w);
        break;
    }
}

/* Lists are read only once: what they needed is given back as soon as they are done. */
static void finish(struct why_wanted *w) {
    for (size_t i = 0; i < w->n_lists; i++) {
        reflector_free(w->lists[i].reflector);
        store_free(w->lists[i].store);
    }
    w->n_lists = 0;
}

/* When these fail there is no answer; who may not list them is told the rest. */
static bool is_needed(const struct why_want *want) {
    return want->what == WHY_WANT_NODE_PODS || want->what == WHY_WANT_BUDGETS;
}

/* Nobody is there, or nobody who knows us: the rest will not work either. */
static bool is_hopeless(enum kube_outcome outcome) {
    return session_code(outcome) == EXIT_ACCESS && outcome != KUBE_FORBIDDEN;
}

static int judge(struct why_reader *r, const struct why_wanted *w) {
    if (w->known != KNOWN_NEVER ||
        ((!is_needed(&w->want) || w->outcome == KUBE_FORBIDDEN) && !is_hopeless(w->outcome)))
        return 0;
    bool get = w->want.what == WHY_WANT_OBJECT;
    _cleanup_free_ char *what = xasprintf("%s %s", get ? "get" : "list",
                                          get ? w->want.kind->resource : w->refused->resource);
    return session_fail(r->session, what, w->outcome, strna(w->message));
}

int why_reader_read(struct why_reader *r) {
    size_t from = r->begun;
    r->more = from < r->list.len;
    while (r->begun < r->list.len)
        start(r->list.p[r->begun++]);
    while (r->pending)
        session_wait(r->session);
    for (size_t i = from; i < r->begun; i++)
        finish(r->list.p[i]);
    int rc = 0;
    for (size_t i = from; i < r->begun; i++) {
        const struct why_wanted *w = r->list.p[i];
        if (rc && w->outcome != KUBE_FORBIDDEN)
            continue; /* of permissions each is told that is missing */
        int one = judge(r, w);
        rc = rc ? rc : one;
    }
    return rc;
}

static struct why_wanted *find_object(struct why_reader *r, const struct kind *kind, const char *ns,
                                      const char *name) {
    return find(r,
                &(struct why_want){.what = WHY_WANT_OBJECT, .kind = kind, .ns = ns, .name = name});
}

int why_reader_look(struct why_reader *r, const struct kind *kind, const char *ns, const char *name,
                    enum known *out) {
    struct why_wanted *w = find_object(r, kind, ns, name);
    int rc = why_reader_read(r);
    *out = w->known;
    return rc;
}

int why_reader_refuse(struct why_reader *r, const struct kind *kind, const char *ns,
                      const char *name) {
    const struct why_wanted *w = find_object(r, kind, ns, name);
    _cleanup_free_ char *what = xasprintf("get %s", kind->resource);
    return session_fail(r->session, what, w->outcome, strna(w->message));
}

int why_reader_refuse_any(struct why_reader *r, const char *ns, const char *name) {
    const struct why_wanted *node = find_object(r, &kind_node, NULL, name),
                            *pod = find_object(r, &kind_pod, ns, name);
    if (node->known != KNOWN_NEVER)
        return cli_fail(r->session->cli, session_code(pod->outcome),
                        "there is no node \"%s\", and whether there is such a pod is not known: "
                        "cannot get pods: %s",
                        name, strna(pod->message));
    if (pod->known != KNOWN_NEVER)
        return why_reader_refuse(r, &kind_node, NULL, name);
    return cli_fail(r->session->cli, session_code(node->outcome),
                    "cannot get nodes: %s; nor pods, if \"%s\" is one: %s", strna(node->message),
                    name, strna(pod->message));
}

int why_reader_list(struct why_reader *r, const struct kind *kind, const char *ns,
                    const char *fields, struct store *into) {
    struct why_wanted w = {.reader = r, .known = KNOWN_NOT_YET, .into = into};
    r->pending++;
    start_list(&w, kind, (struct reflector_options){.ns = ns, .field_selector = fields});
    while (r->pending)
        session_wait(r->session);
    finish(&w);
    int rc = w.known == KNOWN_NEVER && is_hopeless(w.outcome)
                 ? session_fail(r->session, "list what there is", w.outcome, strna(w.message))
                 : 0;
    free(w.message);
    return rc;
}

/* --- life --- */

static const struct kind *const kept[] = {
    &kind_node,
    &kind_pod,
    &kind_pdb,
    &kind_replica_set,
    &kind_stateful_set,
    &kind_deployment,
    &kind_daemon_set,
    &kind_namespace,
    &kind_pv,
    &kind_pvc,
    &kind_storage_class,
    &kind_csi_node,
    &kind_volume_attachment,
    &kind_event,
    &kind_job,
    &kind_service_account,
    &kind_resource_quota,
};

void why_reader_init(struct why_reader *r, struct session *s) {
    *r = (struct why_reader){.session = s, .seed = hash_seed()};
    htab_init(&r->wanted, &wanted_ops);
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        *store_of(&r->world, kept[i]) = store_new(kept[i], s->conn.client.pool);
    r->world.waiting = store_new(&kind_pod, s->conn.client.pool);
    r->world.pods_by_node = store_index(r->world.pods, store_key_node);
    r->world.pdbs = pdbs_new(r->world.pods, r->world.budgets);
    r->world.ask = ask;
    r->world.arg = r;
    r->world.now = session_now(s);
}

void why_reader_done(struct why_reader *r) {
    for (size_t i = 0; i < r->list.len; i++) {
        struct why_wanted *w = r->list.p[i];
        finish(w);
        free(w->ns);
        free(w->name);
        free(w->selector);
        free(w->message);
        free(w);
    }
    vec_done(&r->list);
    htab_done(&r->wanted);
    if (r->world.fit)
        fit_free(r->world.fit);
    pdbs_free(r->world.pdbs);
    store_free(r->world.waiting);
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        store_free(*store_of(&r->world, kept[i]));
    *r = (struct why_reader){0};
}
