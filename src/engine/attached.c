/* Volumes that are attached where no pod uses them. */
#include "engine/attached.h"

#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "engine/podrole.h"

/* The claim of an ephemeral volume is named after its pod. */
static bool is_ephemeral_claim(const struct pod *pod, const struct volume *v, const char *claim) {
    size_t len = strlen(strna(pod->meta.name));
    return v->ephemeral && !strncmp(claim, strna(pod->meta.name), len) && claim[len] == '-' &&
           streq(claim + len + 1, strna(v->name));
}

static bool pod_uses(const struct pod *pod, const struct object_ref *claim) {
    const struct volume *v = pod->spec ? pod->spec->volumes : NULL;
    for (size_t i = 0; i < list_len(v) && str_same(pod->meta.ns, claim->ns); i++)
        if ((v[i].claim && str_same(v[i].claim->claim, claim->name)) ||
            is_ephemeral_claim(pod, &v[i], strna(claim->name)))
            return true;
    return false;
}

void attached_add(struct attached *a, const struct volume_attachment *va,
                  const struct pod *const *pods, size_t n, attached_volume_fn *volume, void *arg) {
    /* One that was never attached has nothing to lose. */
    if (str_empty(va->pv) || !va->attached)
        return;
    const struct pv *pv = volume(arg, va->pv);
    for (size_t i = 0; pv && pv->claim && i < n; i++)
        if (pod_uses(pods[i], pv->claim))
            return;
    a->n++;
    if (!a->first || strcmp(va->pv, a->first->pv) < 0)
        a->first = va;
}

bool attached_is_stuck(const struct volume_attachment *va, const struct node *node, int64_t now) {
    return va->detach_error || (node && node->unschedulable) ||
           (va->meta.deleted && now - va->meta.deleted > SEC(POD_STUCK_AFTER));
}

void attached_explain(const struct attached *a, struct str *out) {
    str_addf(out, "%zu volume%s still attached, though no pod here uses %s", a->n,
             a->n == 1 ? " is" : "s are", a->n == 1 ? "it" : "them");
    if (a->first->detach_error && !str_empty(a->first->detach_error->message))
        str_addf(out, ": %s", a->first->detach_error->message);
}
