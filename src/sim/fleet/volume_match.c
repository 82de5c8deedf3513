/* Size, modes, class and selector. By component-helpers' FindMatchingVolume() and the volume
 * controller's index of access modes. */
#include "sim/fleet/volume_match.h"

#include "model/selector.h"

/* The model does not read it: few objects have one. */
static bool same_attributes_class(const struct record *a, const struct record *b) {
    static const struct view key = VIEW("\"volumeAttributesClassName\":");
    if (!memmem(a->json, a->len, key.p, key.len) && !memmem(b->json, b->len, key.p, key.len))
        return true;
    _cleanup_json_ json_t *x = record_json(a), *y = record_json(b);
    return str_same(json_str(json_object_get(x, "spec"), "volumeAttributesClassName"),
                    json_str(json_object_get(y, "spec"), "volumeAttributesClassName"));
}

bool volume_same_mode(const struct pv *pv, const struct pvc *pvc) {
    const char *a = pv->volume_mode, *b = pvc->volume_mode;
    return str_same(a ? a : "Filesystem", b ? b : "Filesystem");
}

static bool has_modes(const struct pv *pv, const struct pvc *pvc) {
    for (size_t i = 0; i < list_len(pvc->access_modes); i++) {
        bool found = false;
        for (size_t k = 0; !found && k < list_len(pv->access_modes); k++)
            found = str_same(pv->access_modes[k], pvc->access_modes[i]);
        if (!found)
            return false;
    }
    return true;
}

static bool large_enough(const struct pv *pv, const struct pvc *pvc) {
    return map_qty(pv->capacity, "storage") >= map_qty(pvc->resources.requests, "storage");
}

/* What even a volume that is reserved for the claim must have. */
static bool could_do(const struct record *volume, const struct record *claim) {
    const struct pv *pv = record_as(pv, volume);
    const struct pvc *pvc = record_as(pvc, claim);
    return large_enough(pv, pvc) && volume_same_mode(pv, pvc) && !pv->meta.deleted &&
           has_modes(pv, pvc) && same_attributes_class(volume, claim);
}

static bool is_free(const struct pv *pv, const struct pvc *pvc) {
    return str_same(pv->phase, "Available") &&
           (!pvc->selector || selector_match(pvc->selector, pv->meta.labels));
}

/* Fewer modes are nearer to what was asked for; a volume that is reserved beats others with as
 * many; then the smallest, and of these the first by name. */
static bool better(const struct pv *a, const struct pv *b) {
    size_t x = list_len(a->access_modes), y = list_len(b->access_modes);
    if (x != y)
        return x < y;
    if (!a->claim != !b->claim)
        return a->claim;
    int64_t p = map_qty(a->capacity, "storage"), q = map_qty(b->capacity, "storage");
    return p != q ? p < q : strcmp(a->meta.name, b->meta.name) < 0;
}

static void consider(struct record *r, struct record **best) {
    if (!*best || better(record_as(pv, r), record_as(pv, *best)))
        *best = r;
}

struct record *volume_match(const struct fleet *f, const struct record *claim, bool waits) {
    const struct pvc *pvc = record_as(pvc, claim);
    struct record *best = NULL;
    struct names reserved = claim_volumes(f, pvc->meta.ns, pvc->meta.name);
    for (size_t i = 0; i < reserved.len; i++) {
        struct record *r = shelf_get(f->pvs->shelf, NULL, reserved.p[i]);
        if (volume_refers(record_as(pv, r), pvc) && could_do(r, claim))
            consider(r, &best);
    }
    struct names others = waits ? (struct names){0} : free_volumes(f, claim_class(pvc));
    for (size_t i = 0; i < others.len; i++) {
        struct record *r = shelf_get(f->pvs->shelf, NULL, others.p[i]);
        if (is_free(record_as(pv, r), pvc) && could_do(r, claim))
            consider(r, &best);
    }
    return best;
}

const char *volume_mismatch(const struct record *volume, const struct record *claim,
                            struct str *buf) {
    const struct pv *pv = record_as(pv, volume);
    const struct pvc *pvc = record_as(pvc, claim);
    if (pv->meta.deleted) {
        str_addf(buf, "the volume is marked for deletion \"%s\"", pv->meta.name);
        return str_get(buf);
    }
    if (!large_enough(pv, pvc))
        return "requested PV is too small";
    if (!str_same(volume_class(pv), claim_class(pvc)))
        return "storageClassName does not match";
    if (!same_attributes_class(volume, claim))
        return "volumeAttributesClassName does not match";
    if (!volume_same_mode(pv, pvc))
        return "incompatible volumeMode";
    return has_modes(pv, pvc) ? NULL : "incompatible accessMode";
}
