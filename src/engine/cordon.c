/* Who has cordoned a node, and the patches that change it. */
#include "engine/cordon.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/jsonw.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "engine/next_mark.h"
#include "engine/record.h"

enum { HOLDERS_MAX = 100 }; /* a record with more is not ours */
#define CORDON_TAINT "node.kubernetes.io/unschedulable"

static const char *const known_members[] = {"v", "before", "holders", NULL};
static const char *const known_of_holder[] = {"id", "by", "reason", "since", "boot", NULL};

static const char *copy(struct arena *arena, const json_t *obj, const char *key) {
    const char *s = strna(json_str(obj, key));
    return arena_strndup(arena, s, strlen(s));
}

static const char *read_record(const json_t *root, struct arena *arena, struct cordon *out) {
    const json_t *v = json_object_get(root, "v"), *holders = json_object_get(root, "holders");
    if (!json_is_object(root) || !json_is_integer(v))
        return "it is no cordon record";
    if (json_integer_value(v) != CORDON_VERSION)
        return arena_printf(arena, "it is of version %lld, this program knows version %d",
                            (long long)json_integer_value(v), CORDON_VERSION);
    size_t n = json_array_size(holders);
    if (!json_is_array(holders) || n > HOLDERS_MAX)
        return "its holders make no sense";
    struct cordon_holder *list = arena_alloc(arena, (n + 1) * sizeof *list);
    for (size_t i = 0; i < n; i++) {
        const json_t *h = json_array_get(holders, i);
        const char *since = strna(json_str(h, "since"));
        if (!json_is_object(h))
            return "one of its holders is no object";
        list[i] = (struct cordon_holder){
            .id = copy(arena, h, "id"),
            .by = copy(arena, h, "by"),
            .reason = copy(arena, h, "reason"),
            .boot = copy(arena, h, "boot"),
            .rest = record_rest(h, known_of_holder, arena),
        };
        if (*since && !time_parse(since, strlen(since), &list[i].since))
            return "the time of one of its holders is no time";
    }
    out->before = json_is_true(json_object_get(root, "before"));
    out->holders = list;
    out->n_holders = n;
    out->rest = record_rest(root, known_members, arena);
    return NULL;
}

static const struct taint *find_taint(const struct node *node, const char *key) {
    for (size_t i = 0; i < list_len(node->taints); i++)
        if (str_same(node->taints[i].key, key))
            return &node->taints[i];
    return NULL;
}

static bool has_taint(const struct node *node, const char *key) {
    return find_taint(node, key) != NULL;
}

/* Of a cordon that no record tells of. */
static enum cordon_owner other_owner(const struct node *node) {
    if (has_taint(node, "ToBeDeletedByClusterAutoscaler"))
        return CORDON_AUTOSCALER;
    if (has_taint(node, "karpenter.sh/disrupted") || has_taint(node, "karpenter.sh/disruption"))
        return CORDON_KARPENTER;
    return CORDON_OTHER;
}

void cordon_of(const struct node *node, struct arena *arena, struct cordon *out) {
    *out = (struct cordon){.owner = CORDON_NONE};
    const char *record = map_get(node->meta.annotations, CORDON_ANNOTATION);
    if (record) {
        _cleanup_json_ json_t *root = json_loads(record, JSON_REJECT_DUPLICATES, NULL);
        out->problem = root ? read_record(root, arena, out) : "it is no JSON";
        if (out->problem) {
            *out = (struct cordon){.owner = CORDON_UNREADABLE, .problem = out->problem};
            return;
        }
    }
    if (!node->unschedulable)
        return;
    const struct taint *taint = find_taint(node, CORDON_TAINT);
    out->since = taint ? taint->added : 0;
    out->owner = out->n_holders ? CORDON_SLIPWAY : other_owner(node);
}

bool cordon_names(const struct node *node, const char *id) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct cordon c;
    cordon_of(node, &arena, &c);
    for (size_t i = 0; i < c.n_holders; i++)
        if (streq(c.holders[i].id, id))
            return true;
    return false;
}

void cordon_judge(const struct node *node, int64_t now, struct cordon *c) {
    if (c->owner != CORDON_SLIPWAY || !c->since || c->since > now)
        return;
    for (size_t i = 0; i < c->n_holders; i++)
        if (!c->holders[i].since || c->since - c->holders[i].since <= CORDON_MARGIN)
            return;
    c->earlier = true;
    c->owner = other_owner(node);
}

/* "alice@host" of cli/alice; "canary (alice@host)" of one that goes by another name. */
static void add_name(struct str *out, const struct cordon_holder *h) {
    const char *user = str_starts(h->id, "cli/") ? h->id + 4 : h->id;
    size_t len = strlen(user);
    bool same = *h->by && !strncmp(h->by, user, len) && (h->by[len] == '@' || !h->by[len]);
    if (!*h->by || same)
        str_add(out, *h->by ? h->by : h->id);
    else if (!*user)
        str_add(out, h->by);
    else
        str_addf(out, "%s (%s)", user, h->by);
}

const char *cordon_text(const struct cordon *c, struct arena *arena) {
    switch (c->owner) {
    case CORDON_NONE:
        return "";
    case CORDON_OTHER:
        return "somebody else";
    case CORDON_AUTOSCALER:
        return "cluster-autoscaler";
    case CORDON_KARPENTER:
        return "karpenter";
    case CORDON_UNREADABLE:
        return arena_printf(arena, "unreadable record (%s)", c->problem);
    case CORDON_SLIPWAY:
        break;
    }
    _cleanup_str_ struct str text = STR_INIT;
    for (size_t i = 0; i < c->n_holders; i++) {
        const struct cordon_holder *h = &c->holders[i];
        str_add(&text, i ? ", " : "");
        add_name(&text, h);
        str_addf(&text, "%s%s", *h->reason ? ": " : "", h->reason);
    }
    return arena_strndup(arena, str_get(&text), text.len);
}

/* --- changing it --- */

/* A patch that somebody else's change in between makes a conflict: without it the two records of
 * two holders who take the node at the same time would be one. */
static void patch_begin(struct jsonw *w, struct str *out, const struct node *node) {
    str_reset(out);
    jsonw_init(w, out, false);
    jsonw_begin(w, '{');
    jsonw_kbegin(w, "metadata", '{');
    jsonw_kopt(w, "resourceVersion", node->meta.version);
    jsonw_kbegin(w, "annotations", '{');
    jsonw_key(w, CORDON_ANNOTATION);
}

/* After the annotation's value. Kubernetes leaves `unschedulable` out where it is false. */
static void patch_end(struct jsonw *w, const struct node *node, bool cordoned) {
    jsonw_end(w);
    jsonw_end(w);
    jsonw_kbegin(w, "spec", '{');
    jsonw_key(w, "unschedulable");
    if (cordoned)
        jsonw_bool(w, true);
    else
        jsonw_null(w);
    next_mark_drop(w, node);
    jsonw_end(w);
    jsonw_end(w);
}

static void write_record(struct str *out, bool before, const char *rest,
                         const struct cordon_holder *holders, size_t n) {
    struct jsonw w;
    char since[TIMEFMT_LEN];
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    jsonw_kint(&w, "v", CORDON_VERSION);
    jsonw_kbool(&w, "before", before);
    jsonw_kbegin(&w, "holders", '[');
    for (size_t i = 0; i < n; i++) {
        jsonw_begin(&w, '{');
        jsonw_kstr(&w, "id", strna(holders[i].id));
        jsonw_kopt(&w, "by", holders[i].by);
        jsonw_kopt(&w, "reason", holders[i].reason);
        if (holders[i].since)
            jsonw_kstr(&w, "since", time_format(holders[i].since, false, since));
        jsonw_kopt(&w, "boot", holders[i].boot);
        record_write_rest(&w, holders[i].rest);
        jsonw_end(&w);
    }
    jsonw_end(&w);
    record_write_rest(&w, rest);
    jsonw_end(&w);
}

static void write_patch_as(struct str *patch, const struct node *node, bool cordoned, bool before,
                           const char *rest, const struct cordon_holder *holders, size_t n) {
    _cleanup_str_ struct str record = STR_INIT;
    struct jsonw w;
    write_record(&record, before, rest, holders, n);
    patch_begin(&w, patch, node);
    jsonw_strn(&w, str_get(&record), record.len);
    patch_end(&w, node, cordoned);
}

static void write_patch(struct str *patch, const struct node *node, bool before, const char *rest,
                        const struct cordon_holder *holders, size_t n) {
    write_patch_as(patch, node, true, before, rest, holders, n);
}

/* The same without a record. */
static void write_clearing_patch(struct str *patch, const struct node *node, bool cordoned) {
    struct jsonw w;
    patch_begin(&w, patch, node);
    jsonw_null(&w);
    patch_end(&w, node, cordoned);
}

static bool has_record(const struct node *node) {
    return map_has(node->meta.annotations, CORDON_ANNOTATION);
}

static void refuse_record(const struct node *node, const struct cordon *c, struct err *err) {
    err_set(err, EPROTO,
            "node \"%s\" has a cordon record (annotation " CORDON_ANNOTATION
            ") that this program does not understand: %s",
            strna(node->meta.name), c->problem);
}

enum cordon_change cordon_take(const struct node *node, const struct cordon_holder *holder,
                               struct str *patch, struct err *err) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct cordon c;
    cordon_of(node, &arena, &c);
    if (c.owner == CORDON_UNREADABLE) {
        refuse_record(node, &c, err);
        return CORDON_REFUSED;
    }
    cordon_judge(node, holder->since, &c);
    /* A record on a node that is not cordoned, or of an earlier cordon, is stale: somebody has
     * lifted the cordon without it. Its holders hold nothing any more. */
    size_t n = c.owner == CORDON_SLIPWAY ? c.n_holders : 0, mine = 0;
    struct cordon_holder *list = arena_alloc(&arena, (n + 1) * sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[i] = c.holders[i];
    while (mine < n && !str_same(list[mine].id, holder->id))
        mine++;
    if (mine < n) {
        if (str_empty(holder->reason) || str_same(holder->reason, list[mine].reason))
            return CORDON_NOTHING;
        list[mine].by = holder->by;
        list[mine].reason = holder->reason;
    } else if (n == HOLDERS_MAX) {
        err_set(err, ENOSPC,
                "node \"%s\" is held cordoned by %zu holders already, and a record has room for no "
                "more",
                strna(node->meta.name), n);
        return CORDON_REFUSED;
    } else {
        list[n++] = *holder;
    }
    bool before = c.owner == CORDON_SLIPWAY ? c.before : node->unschedulable;
    write_patch(patch, node, before, c.owner == CORDON_SLIPWAY ? c.rest : NULL, list, n);
    return CORDON_WRITE;
}

/* Why the record's holders do not count. */
static void say_earlier(const struct cordon *c, struct str *out) {
    char since[TIMEFMT_LEN];
    const struct cordon_holder *last = &c->holders[0];
    for (size_t i = 1; i < c->n_holders; i++)
        if (c->holders[i].since > last->since)
            last = &c->holders[i];
    str_addf(out, ", since %s; the record of ", time_format(c->since, false, since));
    str_add(out, *last->by ? last->by : last->id);
    if (*last->by && *last->id)
        str_addf(out, " as %s", last->id);
    str_addf(out, " (since %s) is of an earlier cordon, which somebody has lifted",
             time_format(last->since, false, since));
}

/* Says who holds it, one after the other, and since when. */
static void say_who(const struct node *node, const struct cordon *c,
                    const struct cordon_holder *holders, size_t n, struct err *err) {
    _cleanup_str_ struct str who = STR_INIT;
    char since[TIMEFMT_LEN];
    for (size_t i = 0; i < n; i++) {
        const struct cordon_holder *h = &holders[i];
        str_addf(&who, "%s%s", i ? ", " : "", *h->by ? h->by : h->id);
        if (*h->by && *h->id)
            str_addf(&who, " as %s", h->id);
        if (*h->reason || h->since)
            str_addf(&who, " (%s%s%s%s)", h->reason, *h->reason && h->since ? ", " : "",
                     h->since ? "since " : "", h->since ? time_format(h->since, false, since) : "");
    }
    if (!n && c->owner == CORDON_AUTOSCALER)
        str_add(&who, "cluster-autoscaler, which is removing it");
    else if (!n && c->owner == CORDON_KARPENTER)
        str_add(&who, "karpenter, which is removing it");
    else if (!n || c->before)
        str_addf(&who, "%ssomebody who left no record, kubectl cordon for instance",
                 n ? ", and before that by " : "");
    if (c->earlier)
        say_earlier(c, &who);
    err_set(err, EBUSY, "node \"%s\" is held cordoned by %s", strna(node->meta.name),
            str_get(&who));
}

enum cordon_change cordon_release(const struct node *node, const char *id, bool any,
                                  struct str *patch, bool *stays, struct err *err) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct cordon c;
    cordon_of(node, &arena, &c);
    /* Nothing has to be read in order to lift everything, so that it is also the way out where a
     * record is damaged. */
    if (any) {
        *stays = false;
        if (!node->unschedulable && !has_record(node) && !next_marked(node))
            return CORDON_NOTHING;
        write_clearing_patch(patch, node, false);
        return CORDON_WRITE;
    }
    if (c.owner == CORDON_UNREADABLE) {
        *stays = node->unschedulable;
        refuse_record(node, &c, err);
        return CORDON_REFUSED;
    }
    struct cordon_holder *rest = arena_alloc(&arena, (c.n_holders + 1) * sizeof *rest);
    size_t n = 0;
    for (size_t i = 0; i < c.n_holders; i++)
        if (!str_same(c.holders[i].id, id))
            rest[n++] = c.holders[i];
    bool held = n < c.n_holders;
    if (!node->unschedulable) {
        *stays = false;
        if (!held && !next_marked(node))
            return CORDON_NOTHING;
        /* Stale as a whole. Left behind it would claim the next cordon of somebody else. */
        write_clearing_patch(patch, node, false);
        return CORDON_WRITE;
    }
    *stays = !held || n || c.before;
    if (*stays)
        say_who(node, &c, rest, n, err);
    if (!held)
        return CORDON_REFUSED;
    if (n)
        write_patch(patch, node, c.before, c.rest, rest, n);
    else
        write_clearing_patch(patch, node, c.before);
    return CORDON_WRITE;
}

bool cordon_is_lifted(const struct node *node, const char *id) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct cordon c;
    if (node->unschedulable || !cordon_names(node, id))
        return false;
    cordon_of(node, &arena, &c);
    return c.owner != CORDON_UNREADABLE && !c.before;
}

enum cordon_change cordon_disown(const struct node *node, const char *id, struct str *patch) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct cordon c;
    if (!cordon_is_lifted(node, id))
        return CORDON_NOTHING;
    cordon_of(node, &arena, &c);
    write_patch_as(patch, node, false, true, c.rest, c.holders, c.n_holders);
    return CORDON_WRITE;
}

enum cordon_change cordon_release_later(const struct node *node, const char *id, bool any,
                                        int64_t now, struct str *patch, bool *stays,
                                        struct err *err) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct cordon c;
    cordon_of(node, &arena, &c);
    cordon_judge(node, now, &c);
    if (any || !c.earlier)
        return cordon_release(node, id, any, patch, stays, err);
    *stays = true;
    say_who(node, &c, NULL, 0, err);
    return CORDON_REFUSED;
}
