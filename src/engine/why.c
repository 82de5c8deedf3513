/* Why: how a chain is put together. */
#include "engine/why.h"

#include "engine/why_internal.h"

const char *why_risk_word(enum why_risk risk) {
    static const char *const words[] = {[WHY_RISK_NONE] = "none",
                                        [WHY_RISK_LOW] = "low",
                                        [WHY_RISK_SERVICE] = "service",
                                        [WHY_RISK_DATA] = "data"};
    return words[risk];
}

const char *why_state_word(enum why_state state) {
    static const char *const words[] = {
        [WHY_FREE] = "free", [WHY_WAITS] = "waits", [WHY_BLOCKED] = "blocked"};
    return words[state];
}

/* --- looking --- */

static const char *what_is_wanted(const struct why_want *want) {
    switch (want->what) {
    case WHY_WANT_OBJECT:
        return want->kind->resource;
    case WHY_WANT_BUDGETS:
        return kind_pdb.resource;
    case WHY_WANT_QUOTAS:
        return kind_resource_quota.resource;
    case WHY_WANT_ATTACHMENTS:
        return kind_volume_attachment.resource;
    case WHY_WANT_EVENTS:
        return kind_event.resource;
    case WHY_WANT_NODE_PODS:
    case WHY_WANT_BUDGET_PODS:
    case WHY_WANT_ROOM:
    case WHY_WANT_VOLUMES:
        break;
    }
    return kind_pod.resource;
}

void why_unread(struct making *m, const char *what) {
    for (size_t i = 0; i < m->unread.len; i++)
        if (streq(m->unread.p[i], what))
            return;
    *vec_push(&m->unread) = what;
}

static enum known ask(struct making *m, const struct why_want *want) {
    enum known known = m->w->ask(m->w->arg, want);
    if (known == KNOWN_NOT_YET)
        m->out->complete = false;
    if (known == KNOWN_NEVER)
        why_unread(m, what_is_wanted(want));
    return known;
}

bool why_has(struct making *m, const struct why_want *want) {
    return ask(m, want) == KNOWN_THERE;
}

bool why_has_or_cannot(struct making *m, const struct why_want *want, bool *cannot) {
    enum known known = ask(m, want);
    *cannot = known == KNOWN_NEVER;
    return known != KNOWN_NOT_YET;
}

struct why_link *why_unread_link(struct making *m, const struct kind *kind, const char *text,
                                 const char *help) {
    struct why_link *l = why_link_new(m, BLOCKER_FORBIDDEN, kind->name, "", text);
    l->severity = SEVERITY_WARN; /* of the answer, not of the drain */
    why_link_remedy(m, l, WHY_RISK_NONE, help, NULL, NULL);
    *vec_push(&m->links) = l;
    return l;
}

static const struct store *store_of(const struct why_world *w, const struct kind *kind) {
    const struct {
        const struct kind *kind;
        const struct store *store;
    } stores[] = {
        {&kind_node, w->nodes},
        {&kind_pod, w->pods},
        {&kind_replica_set, w->replica_sets},
        {&kind_stateful_set, w->stateful_sets},
        {&kind_deployment, w->deployments},
        {&kind_daemon_set, w->daemon_sets},
        {&kind_namespace, w->namespaces},
        {&kind_pv, w->volumes},
        {&kind_pvc, w->claims},
        {&kind_job, w->jobs},
        {&kind_service_account, w->accounts},
    };
    for (size_t i = 0; i < ARRAY_LEN(stores); i++)
        if (stores[i].kind == kind)
            return stores[i].store;
    return NULL;
}

const void *why_look(struct making *m, const struct kind *kind, const char *ns, const char *name,
                     bool *gone) {
    const struct why_want want = {
        .what = WHY_WANT_OBJECT, .kind = kind, .ns = kind->namespaced ? ns : NULL, .name = name};
    if (gone)
        *gone = false;
    if (str_empty(name) || (kind->namespaced && str_empty(ns)))
        return NULL;
    enum known known = ask(m, &want);
    if (gone)
        *gone = known == KNOWN_GONE;
    return known == KNOWN_THERE ? store_get(store_of(m->w, kind), want.ns, name) : NULL;
}

/* --- building --- */

const char *why_name(struct making *m, const struct meta *meta) {
    return str_empty(meta->ns) ? arena_printf(m->arena, "%s", strna(meta->name))
                               : arena_printf(m->arena, "%s/%s", meta->ns, strna(meta->name));
}

const char *why_text(struct making *m, const struct str *text) {
    return arena_strndup(m->arena, str_get(text), text->len);
}

struct why_link *why_link_new(struct making *m, int code, const char *kind, const char *object,
                              const char *text) {
    struct why_link *l = arena_new(m->arena, struct why_link);
    *l = (struct why_link){.code = code,
                           .severity = code == WHY_NO_CODE
                                           ? SEVERITY_WARN
                                           : blocker_row((enum blocker_code)code)->severity,
                           .blocks = code != WHY_NO_CODE,
                           .kind = kind,
                           .object = object,
                           .text = text,
                           .example = ""};
    return l;
}

void why_link_pods(struct making *m, struct why_link *l, const struct pod *const *pods, size_t n) {
    l->pods = (unsigned)n;
    l->example = n ? why_name(m, &pods[0]->meta) : "";
}

void why_link_cause(struct making *m, struct why_link *l, const struct why_link *cause) {
    const struct why_link **list = arena_alloc(m->arena, (l->n_causes + 1) * sizeof *list);
    size_t at = l->n_causes;
    while (at && l->causes[at - 1]->severity < cause->severity)
        at--;
    for (size_t i = 0; i < l->n_causes; i++)
        list[i + (i >= at)] = l->causes[i];
    list[at] = cause;
    l->causes = list;
    l->n_causes++;
}

void why_link_remedy(struct making *m, struct why_link *l, enum why_risk risk, const char *text,
                     const char *command, const char *cost) {
    struct why_remedy *list = arena_alloc(m->arena, (l->n_remedies + 1) * sizeof *list);
    size_t at = l->n_remedies;
    for (size_t i = 0; i < l->n_remedies; i++)
        if (streq(l->remedies[i].text, text) && streq(l->remedies[i].command, strna(command)))
            return;
    while (at && l->remedies[at - 1].risk > risk)
        at--;
    for (size_t i = 0; i < l->n_remedies; i++)
        list[i + (i >= at)] = l->remedies[i];
    list[at] = (struct why_remedy){risk, text, strna(command), strna(cost)};
    l->remedies = list;
    l->n_remedies++;
}

void why_use_remedies(struct making *m, struct why_link *l, const struct remedies *r) {
    for (size_t i = 0; i < r->n; i++)
        why_link_remedy(m, l, r->list[i].risk, r->list[i].text, r->list[i].command,
                        r->list[i].cost);
}

/* --- the whole --- */

void why_begin(struct making *m, const struct why_world *w, struct arena *arena, struct why *out) {
    *m = (struct making){.w = w, .arena = arena, .out = out, .rules = rules_new()};
    why_owners_init(m);
    *out = (struct why){.ns = "", .name = "", .summary = "", .held_by = "", .complete = true};
}

/* What blocks first, then errors before warnings, what never passes, what holds more pods, the
 * order of the codes, names. */
static int compare_links(const void *a, const void *b) {
    const struct why_link *x = *(const struct why_link *const *)a;
    const struct why_link *y = *(const struct why_link *const *)b;
    if (x->blocks != y->blocks)
        return x->blocks ? -1 : 1;
    if (x->severity != y->severity)
        return (int)y->severity - (int)x->severity;
    /* What has no code: of pods what they suffer from themselves, which comes first. */
    if (x->code != y->code)
        return x->code < y->code ? -1 : 1;
    if (x->pods != y->pods)
        return x->pods < y->pods ? 1 : -1;
    int c = strcmp(x->object, y->object);
    if (!c && !x->since != !y->since) /* what has come about, then what would */
        return x->since ? -1 : 1;
    c = c ? c : strcmp(x->example, y->example);
    return c ? c : strcmp(x->text, y->text);
}

static bool passes(const struct why_link *l) {
    if (l->lasts)
        return false;
    return l->code == WHY_NO_CODE ? l->severity == SEVERITY_INFO
                                  : blocker_row((enum blocker_code)l->code)->clears_itself;
}

void why_end(struct making *m) {
    struct why *out = m->out;
    if (m->links.len)
        qsort(m->links.p, m->links.len, sizeof m->links.p[0], compare_links);
    const struct why_link **links = arena_alloc(m->arena, (m->links.len + 1) * sizeof *links);
    for (size_t i = 0; i < m->links.len; i++) {
        const struct why_link *l = links[i] = m->links.p[i];
        if (l->blocks)
            out->state = MAX_OF(out->state, passes(l) ? WHY_WAITS : WHY_BLOCKED);
    }
    const char **unread = arena_alloc(m->arena, (m->unread.len + 1) * sizeof *unread);
    for (size_t i = 0; i < m->unread.len; i++)
        unread[i] = m->unread.p[i];
    out->links = links;
    out->n_links = m->links.len;
    out->unread = unread;
    out->n_unread = m->unread.len;
    vec_done(&m->links);
    vec_done(&m->held);
    vec_done(&m->told);
    vec_done(&m->unmade);
    vec_done(&m->unread);
    rules_free(m->rules);
    budget_owners_done(&m->budget_owners);
}
