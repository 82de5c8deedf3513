/* The words of what helps. */
#include "engine/remedy.h"

#include <string.h>

#include "base/mem.h"
#include "base/shell.h"
#include "base/str.h"
#include "engine/budget.h"
#include "engine/podrole.h"
#include "model/quantity.h"

enum {
    /* More replicas than that are no quick help. */
    MORE_MAX = 3,
};

#define UNSCHEDULABLE_TAINT "node.kubernetes.io/unschedulable"
#define IGNORE_MARKS                                                                               \
    "{apiVersion: slipway.dev/v1alpha1, kind: DrainRules, marks: ignore}" /* engine/rules.h */

static void add(struct remedies *out, enum why_risk risk, const char *text, const char *command,
                const char *cost) {
    out->list[out->n++] = (struct why_remedy){risk, text, command, cost};
}

const char *remedy_patch(struct arena *arena, const struct pdb *pdb, const char *spec) {
    return arena_printf(arena, "kubectl -n %s patch pdb %s --type=merge -p '{\"spec\":{%s}}'",
                        shell_word(arena, strna(pdb->meta.ns)),
                        shell_word(arena, strna(pdb->meta.name)), spec);
}

const char *remedy_serve(struct arena *arena, int left, int of) {
    return left < 1 ? "none serves until the new one is ready"
                    : arena_printf(arena, "%d of %d serve meanwhile", left, of);
}

void remedy_lost_node(struct arena *arena, const char *node, struct remedies *out) {
    const char *name = shell_word(arena, node);
    *out = (struct remedies){.n = 0};
    add(out, WHY_RISK_NONE, "bring the node back: it then tells what has stopped",
        arena_printf(arena, "kubectl describe node %s", name), "");
    add(out, WHY_RISK_DATA,
        "if it is off for certain, say so (and take the taint off when it is back)",
        arena_printf(
            arena, "kubectl taint node %s node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
            name),
        "if it still runs, two pods write to one volume");
}

/* Whoever keeps the budget would set it back. */
static void add_patch(struct arena *arena, const struct pdb *pdb, struct remedies *out,
                      enum why_risk risk, const char *text, const char *spec, const char *cost) {
    const struct owner *o = meta_controller(&pdb->meta);
    if (o)
        add(out, WHY_RISK_NONE,
            arena_printf(arena, "%s %s keeps this budget: change it there", strna(o->kind),
                         strna(o->name)),
            "", "");
    add(out, risk, text, remedy_patch(arena, pdb, spec),
        o ? arena_printf(arena, "%s; %s %s may set it back", cost, strna(o->kind), strna(o->name))
          : cost);
}

void remedy_attached(struct arena *arena, const struct volume_attachment *va, const char *node,
                     struct remedies *out) {
    *out = (struct remedies){.n = 0};
    add(out, WHY_RISK_NONE, "wait; if it lasts, look at the CSI driver",
        arena_printf(arena, "kubectl describe volumeattachment %s",
                     shell_word(arena, strna(va->meta.name))),
        "");
    add(out, WHY_RISK_DATA, "let the drain go on without it",
        arena_printf(arena, "slipway drain %s --volume-detach-timeout=1m", shell_word(arena, node)),
        "a disk that is not unmounted may lose its last writes");
}

/* minAvailable as a number asks nobody for the number of replicas. */
static void add_number(struct arena *arena, const struct pdb *pdb, int ready,
                       struct remedies *out) {
    int least = MAX_OF(ready - 1, 0);
    add_patch(arena, pdb, out, WHY_RISK_SERVICE, "say how many must stay, as a number",
              arena_printf(arena, "\"maxUnavailable\":null,\"minAvailable\":%d", least),
              arena_printf(arena, "%s; it does not follow the number of pods",
                           remedy_serve(arena, least, ready)));
}

void remedy_uncounted(struct arena *arena, const struct pdb *pdb, struct remedies *out) {
    *out = (struct remedies){.n = 0};
    add(out, WHY_RISK_NONE,
        "give its pods a controller (a Deployment, a StatefulSet): the budget goes by its replicas",
        "", "");
    add_number(arena, pdb, pdb->healthy, out);
}

void remedy_sync_failed(struct arena *arena, const struct pdb *pdb, int ready,
                        struct remedies *out) {
    *out = (struct remedies){.n = 0};
    add(out, WHY_RISK_NONE, "give its pods a controller with a scale; its events tell what it met",
        arena_printf(arena, "kubectl -n %s describe pdb %s", shell_word(arena, strna(pdb->meta.ns)),
                     shell_word(arena, strna(pdb->meta.name))),
        "");
    add_number(arena, pdb, ready, out);
}

void remedy_unready(struct arena *arena, const struct pdb *pdb, struct remedies *out) {
    *out = (struct remedies){.n = 0};
    add_patch(arena, pdb, out, WHY_RISK_LOW, "let pods go that are not ready anyway",
              "\"unhealthyPodEvictionPolicy\":\"AlwaysAllow\"",
              "also one that was about to become ready");
}

void remedy_namespace(struct arena *arena, const char *ns, struct remedies *out) {
    *out = (struct remedies){.n = 0};
    add(out, WHY_RISK_NONE, "wait; if it does not end, look at its conditions",
        arena_printf(arena, "kubectl get namespace %s -o yaml", shell_word(arena, ns)), "");
}

/* --- budgets and their workloads --- */

bool template_has_claim(const struct pod_template *template) {
    const struct volume *v = template ? template->spec.volumes : NULL;
    for (size_t i = 0; i < list_len(v); i++)
        if (v[i].claim)
            return true;
    return false;
}

void remedy_scale(struct arena *arena, const struct pdb *pdb, const struct remedy_owner *owner,
                  int64_t healthy, const char *node, struct remedies *out) {
    *out = (struct remedies){.n = 0};
    bool surge = owner->resource && streq(owner->resource, "deployment") && owner->replicas == 1;
    if (!owner->resource || !owner->replicas || pdb->expected < 1 || owner->shares_claim)
        return;
    for (int more = 1; more <= MORE_MAX; more++) {
        if (budget_allows_with(pdb, healthy, more) <= 0)
            continue;
        if (surge && more == 1 && node)
            add(out, WHY_RISK_LOW, "let the drain make a second replica first, for the time being",
                arena_printf(arena, "slipway drain %s --surge", shell_word(arena, node)),
                "needs room for one pod more");
        add(out, WHY_RISK_LOW,
            more == 1 ? "one replica more" : arena_printf(arena, "%d replicas more", more),
            arena_printf(arena, "kubectl -n %s scale %s %s --replicas=%lld",
                         shell_word(arena, strna(owner->ns)), owner->resource,
                         shell_word(arena, owner->name), (long long)owner->replicas + more),
            streq(owner->resource, "statefulset") ? "a new member joins; it needs room and a volume"
                                                  : "needs room; an autoscaler may take it back");
        return;
    }
}

/* Where the number of replicas can be asked for, it follows that number. */
void remedy_allow_one(struct arena *arena, const struct pdb *pdb, bool has_owner,
                      struct remedies *out) {
    int expected = MAX_OF(pdb->expected, 1);
    const char *spec = pdb->max_unavailable.set ? "\"maxUnavailable\":1"
                       : has_owner              ? "\"minAvailable\":null,\"maxUnavailable\":1"
                                   : arena_printf(arena, "\"minAvailable\":%d", expected - 1);
    *out = (struct remedies){.n = 0};
    add_patch(arena, pdb, out, WHY_RISK_SERVICE, "let the budget allow one at a time", spec,
              remedy_serve(arena, expected - 1, expected));
}

void remedy_allow_now(struct arena *arena, const struct pdb *pdb, struct remedies *out) {
    bool max = pdb->max_unavailable.set;
    int value = max ? pdb->expected - pdb->healthy + 1 : pdb->healthy - 1;
    const char *field = max ? "maxUnavailable" : "minAvailable";
    *out = (struct remedies){.n = 0};
    if (pdb->healthy < 1 || pdb->expected < 1)
        return;
    add_patch(arena, pdb, out, WHY_RISK_SERVICE,
              arena_printf(arena, "let the budget allow one as it is now (%s %d)", field, value),
              arena_printf(arena, "\"%s\":%d", field, value),
              remedy_serve(arena, pdb->healthy - 1, pdb->expected));
}

/* --- pods --- */

static const char *plural(size_t n, const char *one, const char *more) {
    return n == 1 ? one : more;
}

static const char *kubectl_pod(struct arena *arena, const char *verb, const struct pod *pod,
                               const char *after) {
    return arena_printf(arena, "kubectl -n %s %s %s%s", shell_word(arena, strna(pod->meta.ns)),
                        verb, shell_word(arena, strna(pod->meta.name)), after);
}

static const char *patch_template(struct arena *arena, const struct remedy_owner *owner,
                                  const char *path) {
    return arena_printf(arena,
                        "kubectl -n %s patch %s %s --type=json -p "
                        "'[{\"op\":\"remove\",\"path\":\"/spec/template/spec/%s\"}]'",
                        shell_word(arena, strna(owner->ns)), owner->resource,
                        shell_word(arena, owner->name), path);
}

void remedy_bare(struct arena *arena, const struct pod *pod, size_t n, const char *drain,
                 bool orphan, bool data, struct remedies *out) {
    *out = (struct remedies){.n = 0};
    if (!orphan)
        add(out, WHY_RISK_NONE, "keep a copy to make it again from",
            kubectl_pod(arena, "get pod", pod,
                        arena_printf(arena, " -o yaml > %s.yaml",
                                     shell_word(arena, strna(pod->meta.name)))),
            "");
    add(out, WHY_RISK_SERVICE, "drain with --force", drain,
        data ? "gone for good, and so is emptyDir data"
             : plural(n, "it is gone for good", "they are gone for good"));
}

void remedy_empty_dir(const char *drain, struct remedies *out) {
    *out = (struct remedies){.n = 0};
    add(out, WHY_RISK_DATA, "drain with --delete-emptydir-data", drain,
        "the data is lost: save what matters first");
}

void remedy_pinned(struct arena *arena, const struct remedy_owner *owner, struct remedies *out) {
    *out = (struct remedies){.n = 0};
    if (!owner->resource)
        return;
    add(out, WHY_RISK_LOW, "take spec.nodeName out of the template",
        patch_template(arena, owner, "nodeName"), "its pods are made anew, on other nodes");
    add(out, WHY_RISK_SERVICE,
        arena_printf(arena, "delete the %s; deleting the pod is not enough", owner->resource),
        arena_printf(arena, "kubectl -n %s delete %s %s", shell_word(arena, strna(owner->ns)),
                     owner->resource, shell_word(arena, owner->name)),
        "it is down until somebody creates it again");
}

/* A selector can be taken out as a whole. In an affinity other things may stand beside it. */
void remedy_one_node(struct arena *arena, const struct pod *pod, const struct remedy_owner *owner,
                     struct remedies *out) {
    const struct pair *selector = pod->spec ? pod->spec->node_selector : NULL;
    bool only = list_len(selector) == 1 && map_has(selector, "kubernetes.io/hostname");
    *out = (struct remedies){.n = 0};
    if (owner && owner->resource && only)
        add(out, WHY_RISK_LOW, "take the node out of its nodeSelector",
            patch_template(arena, owner, "nodeSelector"), "its pods are made anew, on any node");
    else if (owner && owner->resource)
        add(out, WHY_RISK_LOW, "let its nodeSelector or affinity ask for more nodes than one",
            arena_printf(arena, "kubectl -n %s edit %s %s", shell_word(arena, strna(owner->ns)),
                         owner->resource, shell_word(arena, owner->name)),
            "its pods are made anew");
    else
        add(out, WHY_RISK_LOW, "let its nodeSelector or affinity ask for more nodes than one", "",
            "its pods are made anew");
    add(out, WHY_RISK_SERVICE, "drain only if the node comes back", "",
        "down as long as the node is");
}

void remedy_local_volume(struct remedies *out) {
    *out = (struct remedies){.n = 0};
    add(out, WHY_RISK_SERVICE, "drain only if the node comes back with its disk", "",
        "down as long as the node is");
}

/* The place in the template of a toleration that a cordon does not keep out; -1: none. */
static int toleration_at(const struct pod_template *template) {
    const struct toleration *list = template ? template->spec.tolerations : NULL;
    for (size_t i = 0; i < list_len(list); i++) {
        bool effect = str_empty(list[i].effect) || streq(list[i].effect, "NoSchedule");
        if (effect && (str_empty(list[i].key) || streq(list[i].key, UNSCHEDULABLE_TAINT)))
            return (int)i;
    }
    return -1;
}

void remedy_returns(struct arena *arena, const struct remedy_owner *owner,
                    const struct pod_template *template, struct remedies *out) {
    int at = toleration_at(template);
    *out = (struct remedies){.n = 0};
    add(out, WHY_RISK_LOW, "take the toleration out of the template",
        owner->resource && at >= 0
            ? patch_template(arena, owner, arena_printf(arena, "tolerations/%d", at))
            : "",
        "its pods are made anew");
}

void remedy_mark(struct arena *arena, const struct pod *pod, size_t n, const char *mark,
                 bool finishes, struct remedies *out) {
    *out = (struct remedies){.n = 0};
    add(out, WHY_RISK_NONE,
        plural(n, "wait until it has finished", "wait until they have finished"), "", "");
    add(out, WHY_RISK_SERVICE, "take the mark off",
        kubectl_pod(arena, finishes ? "label pod" : "annotate pod", pod,
                    arena_printf(arena, " %.*s-", (int)strcspn(mark, "="), mark)),
        "what it does is interrupted");
    if (n > 1 && !str_empty(pod->node_name)) /* all at once, without touching them */
        add(out, WHY_RISK_SERVICE, "drain with rules that ignore marks",
            arena_printf(arena, "echo '" IGNORE_MARKS "' | slipway drain %s --rules -",
                         shell_word(arena, pod->node_name)),
            "whatever is marked is interrupted");
}

/* Taken off before anybody asked the pod to go, what it guards would not be done either. */
void remedy_finalizer(struct arena *arena, const struct pod *pod, bool asked,
                      struct remedies *out) {
    *out = (struct remedies){.n = 0};
    add(out, WHY_RISK_NONE,
        asked ? "find out who sets it, and why that is not done"
              : "find out who takes it off when the pod goes, and whether that is at work",
        kubectl_pod(arena, "describe pod", pod, ""), "");
    if (asked)
        add(out, WHY_RISK_DATA, "take it off",
            kubectl_pod(arena, "patch pod", pod,
                        " --type=merge -p '{\"metadata\":{\"finalizers\":null}}'"),
            "what it guards is never done");
}

void remedy_stuck(struct arena *arena, const struct pod *pod, struct remedies *out) {
    *out = (struct remedies){.n = 0};
    add(out, WHY_RISK_NONE, "look at it and at the kubelet of its node",
        kubectl_pod(arena, "describe pod", pod, ""), "");
    add(out, WHY_RISK_DATA, "remove its object although it may still run",
        kubectl_pod(arena, "delete pod", pod, " --grace-period=0 --force"),
        "two pods may write to one volume");
}

static void add_job(struct arena *arena, const struct remade *remade, struct remedies *out) {
    const char *ns = shell_word(arena, remade->ns), *name = shell_word(arena, remade->name);
    add(out, WHY_RISK_NONE, "let it finish before the node is drained",
        arena_printf(arena, "kubectl -n %s get job %s --watch", ns, name), "");
    if (remade->limit)
        add(out, WHY_RISK_LOW,
            arena_printf(arena, "raise its backoffLimit to %d", (int)remade->limit),
            arena_printf(arena,
                         "kubectl -n %s patch job %s --type=merge -p "
                         "'{\"spec\":{\"backoffLimit\":%d}}'",
                         ns, name, (int)remade->limit),
            "it tries again as often when something else is wrong");
    add(out, WHY_RISK_SERVICE, "drain, and start the Job again afterwards", "",
        "what it has done so far may be lost");
}

void remedy_unmade(struct arena *arena, const struct remade *remade, struct remedies *out) {
    const char *ns = shell_word(arena, remade->ns), *name = shell_word(arena, remade->name);
    char used[QUANTITY_LEN];
    *out = (struct remedies){.n = 0};
    switch (remade->end) {
    case REMAKE_JOB_FAILS:
        add_job(arena, remade, out);
        break;
    case REMAKE_NO_OWNER:
        add(out, WHY_RISK_NONE, "find out what its deletion waits for: its pods may go with it",
            arena_printf(arena, "kubectl -n %s get %s %s -o yaml", ns, remade->kind->resource,
                         name),
            "");
        add(out, WHY_RISK_NONE, "make what is still wanted of it anew, with another name", "", "");
        break;
    case REMAKE_NO_ACCOUNT:
        add(out, WHY_RISK_LOW, "make the ServiceAccount again",
            arena_printf(arena, "kubectl -n %s create serviceaccount %s", ns, name),
            "the permissions that were bound to it by its name are there again");
        break;
    case REMAKE_NO_QUOTA:
        add(out, WHY_RISK_LOW, "raise the quota to what is used",
            arena_printf(arena,
                         "kubectl -n %s patch resourcequota %s --type=merge -p "
                         "'{\"spec\":{\"hard\":{\"%s\":\"%s\"}}}'",
                         ns, name, remade->resource, quantity_format(remade->used, used)),
            "whoever lowered it wanted less");
        break;
    case REMAKE_NO_AMOUNT:
        add(out, WHY_RISK_LOW,
            arena_printf(arena, "set %s in the template of its owner", remade->resource), "",
            "its pods are made anew");
        add(out, WHY_RISK_LOW, "let a LimitRange give it to containers that do not set it",
            arena_printf(arena, "kubectl -n %s get limitranges -o yaml", ns),
            "all pods that are made in the namespace get it");
        break;
    case REMAKE_WELL:
        break;
    }
}
