/* Who has cordoned a node. */
#include "engine/cordon.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/timefmt.h"

enum { HOLDERS_MAX = 100 }; /* a record with more is not ours */

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
        };
        if (*since && !time_parse(since, strlen(since), &list[i].since))
            return "the time of one of its holders is no time";
    }
    out->before = json_is_true(json_object_get(root, "before"));
    out->holders = list;
    out->n_holders = n;
    return NULL;
}

static bool has_taint(const struct node *node, const char *key) {
    for (size_t i = 0; i < list_len(node->taints); i++)
        if (str_same(node->taints[i].key, key))
            return true;
    return false;
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
    if (out->n_holders)
        out->owner = CORDON_SLIPWAY;
    else if (has_taint(node, "ToBeDeletedByClusterAutoscaler"))
        out->owner = CORDON_AUTOSCALER;
    else if (has_taint(node, "karpenter.sh/disrupted") ||
             has_taint(node, "karpenter.sh/disruption"))
        out->owner = CORDON_KARPENTER;
    else
        out->owner = CORDON_OTHER;
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
        str_addf(&text, "%s%s%s%s", i ? ", " : "", *h->by ? h->by : h->id, *h->reason ? ": " : "",
                 h->reason);
    }
    return arena_strndup(arena, str_get(&text), text.len);
}
