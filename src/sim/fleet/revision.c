/* History of templates. */
#include "sim/fleet/revision.h"
#include "sim/schema/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int64_t number_of(struct record *r) {
    return json_integer_value(json_object_get(record_body(r), "revision"));
}

static int by_number(const void *a, const void *b) {
    int64_t x = number_of(*(struct record *const *)a), y = number_of(*(struct record *const *)b);
    return x < y ? -1 : x > y;
}

void revisions_of(struct fleet *f, const struct record *owner, struct revisions *out) {
    const struct meta *m = &owner->obj->meta;
    struct snapshot *snap = shelf_snapshot(f->revisions->shelf);
    for (size_t i = snapshot_seek(snap, m->ns, ""); i < snap->n; i++) {
        const struct meta *rm = &snap->items[i]->obj->meta;
        if (!str_same(rm->ns, m->ns))
            break;
        const struct owner *o = meta_controller(rm);
        if (o && str_same(o->uid, m->uid))
            *vec_push(&out->v) = record_ref(snap->items[i]);
    }
    snapshot_unref(snap);
    if (out->v.len)
        qsort(out->v.p, out->v.len, sizeof *out->v.p, by_number);
}

void revisions_done(struct revisions *r) {
    for (size_t i = 0; i < r->v.len; i++)
        record_unref(r->v.p[i]);
    vec_done(&r->v);
}

const json_t *revision_template(struct record *revision) {
    const json_t *data = json_object_get(record_body(revision), "data");
    return json_object_get(json_object_get(data, "spec"), "template");
}

/* The real one adds the directive of a patch to the template; without it kubectl rollout undo could
 * not use it. */
static json_t *data_of(const json_t *template) {
    json_t *copy = json_deep_copy(template);
    json_object_set_new(copy, "$patch", json_string("replace"));
    return json_pack("{s:{s:o}}", "spec", "template", copy);
}

/* The template that is stored has one member more than the template: the directive. */
static bool same(struct record *r, const json_t *template) {
    const json_t *stored = revision_template(r);
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)template, key,
                        v) if (!json_equal(v, json_object_get(stored, key))) return false;
    return json_object_size(stored) ==
           json_object_size(template) + (json_object_get(stored, "$patch") != NULL);
}

static struct record *create(struct fleet *f, const struct resource *res,
                             const struct record *owner, const json_t *template, int64_t number) {
    const struct meta *m = &owner->obj->meta;
    _cleanup_str_ struct str text = STR_INIT;
    text_value(template, &text);
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    uint32_t h = hash_bytes(text.p, text.len);
    char hash[11];
    for (size_t i = 0; i < 10; i++, h = h * 1664525u + 1013904223u)
        hash[i] = letters[(h >> 16) % (sizeof letters - 1)];
    hash[10] = 0;
    _cleanup_free_ char *name = xasprintf("%s-%s", m->name, hash);
    json_t *labels = json_object_get(json_object_get(template, "metadata"), "labels");
    json_t *copy = labels ? json_deep_copy(labels) : json_object();
    /* Each controller has its own word; on pods it is the first for both. */
    bool daemon = str_same(res->info->kind, "DaemonSet");
    json_object_set_new(copy, daemon ? "controller-revision-hash" : "controller.kubernetes.io/hash",
                        json_string(hash));
    json_t *raw =
        json_pack("{s:{s:s, s:s, s:o, s:[o]}, s:o, s:I}", "metadata", "name", name, "namespace",
                  strna(m->ns), "labels", copy, "ownerReferences", fleet_owner(res, owner), "data",
                  data_of(template), "revision", (json_int_t)number);
    /* kubectl rollout history reads the reason of a change from here. */
    _cleanup_json_ json_t *whole = record_json(owner);
    json_t *annotations = json_object_get(json_object_get(whole, "metadata"), "annotations");
    if (annotations)
        json_object_set_new(json_object_get(raw, "metadata"), "annotations",
                            json_deep_copy(annotations));
    return fleet_create(f, f->revisions, m->ns, raw, NULL);
}

struct record *revision_current(struct fleet *f, const struct resource *res,
                                const struct record *owner, const json_t *template) {
    struct revisions all = {0};
    revisions_of(f, owner, &all);
    int64_t newest = all.v.len ? number_of(all.v.p[all.v.len - 1]) : 0;
    struct record *found = NULL;
    for (size_t i = all.v.len; i-- > 0 && !found;)
        if (same(all.v.p[i], template))
            found = record_ref(all.v.p[i]);
    if (!found) {
        found = create(f, res, owner, template, newest + 1);
    } else if (number_of(found) < newest) {
        json_t *obj = record_json(found);
        json_object_set_new(obj, "revision", json_integer(newest + 1));
        fleet_update(f, f->revisions, NULL, obj, NULL);
        struct record *now =
            shelf_get(f->revisions->shelf, owner->obj->meta.ns, found->obj->meta.name);
        if (now) {
            record_unref(found);
            found = record_ref(now);
        }
    }
    revisions_done(&all);
    return found;
}

void revisions_trim(struct fleet *f, struct revisions *r, int64_t limit, const char *const *keep) {
    int64_t idle = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < r->v.len; i++) {
            const struct meta *m = &r->v.p[i]->obj->meta;
            bool live = false;
            for (size_t k = 0; keep[k]; k++)
                live = live || streq(keep[k], m->name);
            if (live)
                continue;
            if (pass == 0) {
                idle++;
            } else if (idle > limit) {
                fleet_delete(f, f->revisions, m->ns, m->name, NULL);
                idle--;
            }
        }
    }
}
