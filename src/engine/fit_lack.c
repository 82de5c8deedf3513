/* What a pod that fits nowhere lacks. */
#include "engine/fit_lack.h"

#include "engine/fit_internal.h"
#include "engine/podrole.h"
#include "model/quantity.h"

enum { CORDONED_TRIED = 64 }; /* cordoned nodes that are asked "what if they were not" */

/* --- what is missing --- */

static void print_bytes(int64_t bytes, struct str *out) {
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti"};
    size_t unit = 0;
    /* Rounded up: what is told must be enough. */
    while (unit + 1 < ARRAY_LEN(units) && bytes >= 10 * 1024) {
        bytes = bytes / 1024 + (bytes % 1024 != 0);
        unit++;
    }
    str_addf(out, "%lld%s", (long long)bytes, units[unit]);
}

static void print_milli(int64_t milli, struct str *out) {
    char buf[QUANTITY_LEN];
    str_add(out, quantity_format(milli, buf));
}

struct lack {
    double share;     /* the worst, of what the node has in all */
    struct str *text; /* "500m cpu and 2Gi memory"; NULL: only the share matters */
};

static void add_lack(struct lack *l, const char *name, int64_t wants, int64_t used, int64_t room,
                     void (*print)(int64_t, struct str *)) {
    /* Sums of fit wrap around (engine/fit_internal.h). */
    int64_t lacks = (int64_t)((uint64_t)wants - ((uint64_t)room - (uint64_t)used));
    if (wants <= 0 || lacks <= 0)
        return;
    double share = room > 0 ? (double)lacks / (double)room : 1e9;
    l->share = MAX_OF(l->share, share);
    if (!l->text)
        return;
    str_add(l->text, l->text->len ? " and " : "");
    print(lacks, l->text);
    str_addf(l->text, "%s%s", *name ? " " : "", name);
}

static const struct fit_scalar *scalar(const struct fit_amounts *a, const char *name) {
    for (size_t i = 0; i < a->scalars.len; i++)
        if (str_same(a->scalars.p[i].name, name))
            return &a->scalars.p[i];
    return NULL;
}

static void print_pods(int64_t n, struct str *out) {
    str_addf(out, "%lld pod%s", (long long)n, n == 1 ? "" : "s");
}

static void print_count(int64_t n, struct str *out) {
    str_addf(out, "%lld", (long long)n);
}

static double lack_of(const struct fit_load *load, const struct fit_node *node, struct str *text) {
    struct lack l = {.text = text}, *out = &l;
    const struct fit_amounts *wants = &load->amounts, *used = &node->used.amounts,
                             *room = &node->room;
    add_lack(out, "cpu", wants->cpu, used->cpu, room->cpu, print_milli);
    add_lack(out, "memory", wants->memory, used->memory, room->memory, print_bytes);
    add_lack(out, "ephemeral-storage", wants->ephemeral, used->ephemeral, room->ephemeral,
             print_bytes);
    for (size_t i = 0; i < wants->scalars.len; i++) {
        const char *name = wants->scalars.p[i].name;
        const struct fit_scalar *u = scalar(used, name), *r = scalar(room, name);
        add_lack(out, name, wants->scalars.p[i].value, u ? u->value : 0, r ? r->value : 0,
                 print_count);
    }
    add_lack(out, "", 1, (int64_t)node->pods.len, node->room_pods, print_pods);
    return l.share;
}

/* --- the nodes one by one --- */

struct search {
    struct fit *fit;
    const struct store *nodes;
    const struct pod *pod;
    const char *except;
    struct fit_load load;
    const struct fit_node *nearest;
    double share;             /* that it lacks */
    VEC(const char *) closed; /* cordoned nodes */
    struct fit_lack *out;
};

static bool only_short(const struct fit_ask *ask) {
    for (size_t i = 0; i < ask->reasons.len; i++)
        if (ask->reasons.p[i].code != FIT_RESOURCE && ask->reasons.p[i].code != FIT_PODS)
            return false;
    return ask->reasons.len > 0;
}

static bool is_cordoned(const struct fit_ask *ask) {
    return ask->reasons.len && ask->reasons.p[0].code == FIT_UNSCHEDULABLE;
}

/* The same node without its cordon, and without the taint that goes with it. */
static bool fits_uncordoned(struct search *s, const struct node *node) {
    struct fit_verdict v;
    if (!node || !node->unschedulable) /* somebody closed it in the picture alone */
        return false;
    bool played = fit_node_find(s->fit, node->meta.name)->played;
    fit_cordon_node(s->fit, node->meta.name, false);
    bool fits = fit_check(s->fit, s->pod, node->meta.name, &v);
    if (played)
        fit_cordon_node(s->fit, node->meta.name, true);
    else
        fit_put_node(s->fit, node);
    return fits;
}

static void look_at_node(struct search *s, const struct fit_node *node) {
    const struct fit_ask *ask = &s->fit->ask;
    const char *name = node->meta.name;
    if (fit_ask_node(s->fit, node)) {
        s->out->fits = s->out->fits ? s->out->fits : name;
        return;
    }
    if (is_cordoned(ask) && s->closed.len < CORDONED_TRIED)
        *vec_push(&s->closed) = name;
    if (is_cordoned(ask) || str_same(name, s->except))
        return;
    for (size_t i = 0; i < ask->reasons.len; i++)
        s->out->codes |= 1u << ask->reasons.p[i].code;
    if (!only_short(ask))
        return;
    double share = lack_of(&s->load, node, NULL);
    s->out->short_of++;
    if (!s->nearest || share < s->share ||
        (share <= s->share && strcmp(name, s->nearest->meta.name) < 0)) {
        s->nearest = node;
        s->share = share;
    }
}

/* Last: it changes the picture for a moment, and asks anew. */
static void look_behind_cordons(struct search *s) {
    for (size_t i = 0; s->nodes && i < s->closed.len; i++) {
        const char *name = s->closed.p[i];
        if (str_same(name, s->except) ||
            !fits_uncordoned(s, (const struct node *)store_get(s->nodes, NULL, name)))
            continue;
        s->out->cordoned++;
        if (!s->out->behind || strcmp(name, s->out->behind) < 0)
            s->out->behind = name;
    }
}

static void search(struct search *s) {
    const struct fit_ask *ask = &s->fit->ask;
    if (!fit_ask(s->fit, s->pod)) { /* no node could mend it */
        bool storage = str_starts(strna(ask->trouble), "persistentvolume"); /* or its claim */
        s->out->codes |= storage ? 1u << ask->trouble_code : 0;
        return;
    }
    for (size_t i = 0; i < ask->bound.len; i++) {
        const struct fit_volume *v = ask->bound.p[i];
        s->out->on_disk |= v && v->affinity && volume_names_nodes(v->affinity->required);
    }
    fit_load_of(fit_spec(s->pod->spec), NULL, &s->load);
    size_t n = ask->only_some ? ask->only.len : fit_node_count(s->fit);
    for (size_t i = 0; i < n; i++) {
        const struct fit_node *node =
            ask->only_some ? fit_node_find(s->fit, ask->only.p[i]) : s->fit->nodes.p[i];
        if (node && node->known)
            look_at_node(s, node);
    }
    if (s->nearest) {
        s->out->nearest = s->nearest->meta.name;
        lack_of(&s->load, s->nearest, &s->out->lack);
    }
    look_behind_cordons(s);
}

void fit_lack_of(struct fit *fit, const struct store *nodes, const struct pod *pod,
                 const char *except, struct fit_lack *out) {
    struct search s = {.fit = fit, .nodes = nodes, .pod = pod, .except = except, .out = out};
    *out = (struct fit_lack){.lack = STR_INIT};
    search(&s);
    vec_done(&s.closed);
    fit_load_done(&s.load);
}

#define BIT(code) (UINT32_C(1) << FIT_##code)

/* Of what is on disks of certain nodes, in the place of what is said of zones. */
#define ON_DISK                                                                                    \
    "its volume is on a disk of certain nodes alone: let one of these be in service, or drain "    \
    "them one after the other, each back before the next"

/* Where a pod is bound to a place by several rules, the one that it can do least about first. */
static const struct {
    uint32_t codes;
    const char *text;
} helps[] = {
    {BIT(VOLUME_NODE) | BIT(VOLUME_ZONE),
     "add a node in the zone of its volume, which does not leave it, or drain the nodes of that "
     "zone one after the other, each back before the next"},
    {BIT(POD) | BIT(VOLUME_GONE),
     "no node helps: make the claim or the volume that it names again, with the data from a "
     "backup. A claim that is being deleted is gone for good when the pod that uses it is, and "
     "with it, if it is reclaimed so (Delete), the data"},
    {BIT(VOLUME_NONE), "let its StorageClass make a volume where there is room, or make one"},
    {BIT(VOLUME_COUNT),
     "add a node, or move pods with volumes off one: the CSI driver of its volumes can attach no "
     "more of them to the nodes that would do otherwise"},
    {BIT(CLAIM_USE), "stop the other pod that uses its claim (ReadWriteOncePod)"},
    {BIT(ANTI_AFFINITY) | BIT(ANTI_AFFINITY_OF_OTHERS),
     "add a node: by anti-affinity it shares none with the pods on the others"},
    {BIT(SPREAD) | BIT(SPREAD_LABEL),
     "add a node where its topologySpreadConstraints have too few pods, or let these be "
     "ScheduleAnyway"},
    {BIT(AFFINITY), "make room beside the pods that its affinity names, or let these move first"},
    {BIT(NODE_AFFINITY) | BIT(NOT_ASKED) | BIT(NODE_NAME),
     "give another node the labels that its nodeSelector or node affinity asks for, or add one "
     "like that"},
    {BIT(TAINT), "add a node without these taints, or let the pod tolerate them"},
    {BIT(PORTS), "add a node: its host ports are taken on the others"},
};

size_t fit_lack_help(const struct fit_lack *l, const char *out[static FIT_HELPS]) {
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(helps) && n < FIT_HELPS; i++)
        if (l->codes & helps[i].codes)
            out[n++] = l->on_disk && helps[i].codes & BIT(VOLUME_NODE) ? ON_DISK : helps[i].text;
    return n;
}

void fit_lack_done(struct fit_lack *l) {
    str_done(&l->lack);
}
