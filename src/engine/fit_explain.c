/* Why a pod fits no node, in the words of kube-scheduler (FitError), and whether evicting less
 * important pods would help. */
#include <stdlib.h>
#include <string.h>

#include "engine/fit_internal.h"

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* How many nodes gave which reason, by the address of its text: texts are constants, or belong to
 * the pod's shape. "2 Insufficient cpu, 3 Too many pods.": sorted as text, so that 10 comes
 * before 2. */
static void print_reasons(const struct fit_counts *t, struct str *out) {
    _cleanup_free_ char **lines = xcalloc(t->len + 1, sizeof *lines);
    const struct fit_count *e;
    size_t n = 0;
    for (uint32_t i = 0; (e = fit_counts_next(t, &i));)
        lines[n++] = xasprintf("%lld %s", (long long)e->n, (const char *)e->key);
    if (n > 1)
        qsort(lines, n, sizeof *lines, compare_lines);
    for (size_t i = 0; i < n; i++) {
        str_addf(out, "%s%s", i ? ", " : " ", lines[i]);
        free(lines[i]);
    }
    str_add(out, n ? "." : "");
}

/* --- preemption --- */

static const char no_victims[] = "No preemption victims found for incoming pod";
static const char no_help[] = "Preemption is not helpful for scheduling";

static bool is_victim(const struct fit_ask *ask, const struct fit_pod *p) {
    return p->cohort->shape->priority < ask->cohort->shape->priority;
}

/* Takes all less important pods off the node, asks again, and puts them back. */
static bool fits_without_others(struct fit *f, struct fit_node *node, struct fit_counts *why) {
    VEC(struct fit_pod *) victims = VEC_INIT;
    for (size_t i = 0; i < node->pods.len; i++)
        if (is_victim(&f->ask, node->pods.p[i]))
            *vec_push(&victims) = node->pods.p[i];
    if (!victims.len) {
        fit_counts_add(why, no_victims, 1);
        return false;
    }
    for (size_t i = 0; i < victims.len; i++)
        fit_pod_unplace(f, victims.p[i]);
    fit_ask_refresh(f);
    bool fits = fit_ask_node(f, node);
    for (size_t i = 0; !fits && i < f->ask.reasons.len; i++)
        fit_counts_add(why, f->ask.reasons.p[i].text, 1);
    for (size_t i = 0; i < victims.len; i++)
        fit_pod_place(f, victims.p[i], node);
    fit_ask_refresh(f);
    vec_done(&victims);
    return fits;
}

/* What DefaultPreemption says; nothing when it would evict somebody. */
static void explain_preemption(struct fit *f, struct fit_node *const *nodes, size_t n,
                               struct str *out) {
    struct fit_counts why = {0};
    bool helps = false;
    size_t all = f->nodes.len;
    if (str_same(f->ask.spec->preemption, "Never")) {
        str_add(out, " no new claims to deallocate, preemption: not eligible due to "
                     "preemptionPolicy=Never.");
        return;
    }
    for (size_t i = 0; !helps && i < n; i++)
        helps = fits_without_others(f, nodes[i], &why);
    if (!helps) {
        fit_counts_add(&why, no_help, (int64_t)(all - n));
        str_addf(out, " no new claims to deallocate, preemption: 0/%zu nodes are available:", all);
        print_reasons(&why, out);
    }
    fit_counts_done(&why);
}

/* --- the whole message --- */

/* Asks all nodes; those where eviction might help are left in f->found. */
static bool ask_all(struct fit *f, struct fit_counts *why) {
    struct fit_ask *ask = &f->ask;
    size_t asked = 0, n = ask->only_some ? ask->only.len : f->nodes.len;
    f->found.len = 0;
    for (size_t i = 0; i < n; i++) {
        struct fit_node *node = ask->only_some ? fit_node_find(f, ask->only.p[i]) : f->nodes.p[i];
        if (!node || !node->known)
            continue;
        if (fit_ask_node(f, node))
            return false;
        asked++;
        for (size_t k = 0; k < ask->reasons.len; k++)
            fit_counts_add(why, ask->reasons.p[k].text, 1);
        if (!ask->final)
            *vec_push(&f->found) = node;
    }
    if (ask->only_some && asked < f->nodes.len) {
        ask->reasons.len = 0;
        fit_no(ask, FIT_NOT_ASKED, NULL);
        fit_counts_add(why, ask->reasons.p[0].text, (int64_t)(f->nodes.len - asked));
    }
    return true;
}

bool fit_explain(struct fit *f, const struct pod *pod, struct str *out) {
    struct fit_ask *ask = &f->ask;
    bool asked = fit_ask(f, pod);
    size_t all = f->nodes.len;
    if (ask->trouble_code == FIT_GATED) {
        str_add(out, ask->trouble);
        return true;
    }
    if (!all) {
        str_add(out, "no nodes available to schedule pods");
        return true;
    }
    if (!asked) {
        /* The last two words are what the real one ends with since v1.34: its plugin for
         * ResourceClaims is asked although it never looked at the pod. */
        str_addf(out, "0/%zu nodes are available: %s. not found", all, ask->trouble);
        return true;
    }
    struct fit_counts why = {0};
    bool none = ask_all(f, &why);
    if (none) {
        str_addf(out, "0/%zu nodes are available:", all);
        print_reasons(&why, out);
        explain_preemption(f, f->found.p, f->found.len, out);
    }
    fit_counts_done(&why);
    return none;
}

/* --- the message of another --- */

static bool begins_with(struct view text, const char *with) {
    size_t n = strlen(with);
    return text.len >= n && !memcmp(text.p, with, n);
}

/* Of a node; of taints and resources the text goes on. The second half is how schedulers from
 * v1.21 on word or worded it. */
static bool knows_reason(struct view text) {
    static const char *const open[] = {
        "Insufficient ",
        "node(s) had untolerated taint",
        "node(s) had taint {",
        "node(s) had volume node affinity conflict",
        "node(s) didn't match Pod's node affinity",
        "node(s) didn't match node selector",
        "node(s) didn't match pod affinity/anti-affinity",
    };
    for (int i = 0; i < FIT_CODES; i++)
        if (*fit_text(i) && view_eq(text, view_of(fit_text(i))))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(open); i++)
        if (begins_with(text, open[i]))
            return true;
    return false;
}

/* Something about the pod, in place of reasons of nodes. */
static bool knows_trouble(struct view text) {
    static const char *const open[] = {
        "persistentvolumeclaim \"",
        "persistentvolume \"",
        "pod has unbound immediate PersistentVolumeClaims",
        "waiting for ephemeral volume controller to create the persistentvolumeclaim",
        "PVC ",
    };
    for (size_t i = 0; i < ARRAY_LEN(open); i++)
        if (begins_with(text, open[i]))
            return true;
    return false;
}

/* "3 " before a reason. */
static size_t number_len(const char *s) {
    size_t n = strspn(s, "0123456789");
    return n && s[n] == ' ' ? n + 1 : 0;
}

/* The reason ends where the next number is: a comma may be in it. */
static size_t reason_len(const char *s) {
    const char *end = s;
    while ((end = strstr(end, ", ")) && !number_len(end + 2))
        end += 2;
    return end ? (size_t)(end - s) : strlen(s);
}

bool fit_knows(const char *message) {
    static const char mark[] = "nodes are available: ";
    const char *s = strstr(message, mark);
    if (!s)
        return !*message || str_starts(message, "no nodes available") ||
               str_starts(message, fit_text(FIT_GATED));
    s += strlen(mark);
    if (!number_len(s))
        return knows_trouble(view_of(s));
    while (*s) {
        s += number_len(s);
        struct view text = {s, reason_len(s)};
        s += text.len + (s[text.len] ? 2 : 0);
        while (text.len && text.p[text.len - 1] == '.')
            text.len--;
        if (!knows_reason(text))
            return false;
    }
    return true;
}
