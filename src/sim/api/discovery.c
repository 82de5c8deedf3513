/* Discovery documents. */
#include "sim/api/discovery.h"

#include <stdint.h>
#include <stdlib.h>

#include <openssl/evp.h>

#include "base/base64.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/vec.h"

/* The release whose behaviour is simulated. */
#define RELEASE_MAJOR "1"
#define RELEASE_MINOR "36"
#define RELEASE       "v1.36.3+slipway-sim"

/* --- order --- */

struct kube_version {
    enum { ALPHA, BETA, STABLE } stage;
    uint64_t major, minor;
};

/* Digits of a number that fits into Go's int. */
static bool number(const char **p, uint64_t *out) {
    const char *begin = *p;
    uint64_t v = 0;
    for (; **p >= '0' && **p <= '9'; (*p)++)
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(**p - '0'), &v) || v > INT64_MAX)
            return false;
    *out = v;
    return *p > begin;
}

/* v2, v1beta1, ...; false for anything else, which is a version all the same. */
static bool parse_version(const char *s, struct kube_version *out) {
    struct kube_version v = {.stage = STABLE};
    if (*s++ != 'v' || !number(&s, &v.major))
        return false;
    if (*s) {
        bool alpha = str_starts(s, "alpha");
        if (!alpha && !str_starts(s, "beta"))
            return false;
        v.stage = alpha ? ALPHA : BETA;
        s += strlen(alpha ? "alpha" : "beta");
        if (!number(&s, &v.minor) || *s)
            return false;
    }
    *out = v;
    return true;
}

int discovery_compare_versions(const char *a, const char *b) {
    struct kube_version x, y;
    bool x_good = parse_version(a, &x), y_good = parse_version(b, &y);
    if (!x_good && !y_good)
        return strcmp(a, b);
    if (!x_good || !y_good)
        return x_good ? -1 : 1;
    if (x.stage != y.stage)
        return x.stage > y.stage ? -1 : 1;
    if (x.major != y.major)
        return x.major > y.major ? -1 : 1;
    return (x.minor < y.minor) - (x.minor > y.minor);
}

/* --- the rows by group and version --- */

struct group_version {
    const char *name;
    VEC(const struct resource_info *) rows;
};

struct group {
    const char *name;
    bool custom;
    size_t index;   /* of its first row */
    char *services; /* "v1.example.com": the first by name of those that register its versions */
    VEC(struct group_version) versions;
};

struct groups {
    VEC(struct group) v;
};

#define _cleanup_groups_ __attribute__((cleanup(groups_done)))

static void groups_done(struct groups *g) {
    for (size_t i = 0; i < g->v.len; i++) {
        for (size_t k = 0; k < g->v.p[i].versions.len; k++)
            vec_done(&g->v.p[i].versions.p[k].rows);
        vec_done(&g->v.p[i].versions);
        free(g->v.p[i].services);
    }
    vec_done(&g->v);
}

static struct group *group_of(struct groups *g, const struct resource_info *row) {
    for (size_t i = 0; i < g->v.len; i++)
        if (streq(g->v.p[i].name, row->group))
            return &g->v.p[i];
    size_t index = g->v.len;
    struct group *made = vec_push(&g->v);
    *made = (struct group){.name = row->group, .custom = true, .index = index};
    return made;
}

static struct group_version *version_of(struct group *g, const char *name) {
    for (size_t i = 0; i < g->versions.len; i++)
        if (streq(g->versions.p[i].name, name))
            return &g->versions.p[i];
    struct group_version *made = vec_push(&g->versions);
    *made = (struct group_version){.name = name};
    char *service = xasprintf("%s.%s", name, g->name);
    if (g->services && strcmp(g->services, service) < 0) {
        free(service);
    } else {
        free(g->services);
        g->services = service;
    }
    return made;
}

static int compare_rows(const void *a, const void *b) {
    const struct resource_info *const *x = a, *const *y = b;
    return strcmp((*x)->plural, (*y)->plural);
}

static int compare_group_versions(const void *a, const void *b) {
    const struct group_version *x = a, *y = b;
    return discovery_compare_versions(x->name, y->name);
}

/* Built-in groups have priorities; custom ones share one, and names decide: those of the objects
 * that register their versions in /apis, their own in the aggregated form. */
static int compare_groups(const struct group *x, const struct group *y) {
    if (x->custom != y->custom)
        return x->custom ? 1 : -1;
    if (!x->custom)
        return (x->index > y->index) - (x->index < y->index);
    return 0;
}

static int compare_registered(const void *a, const void *b) {
    const struct group *x = a, *y = b;
    int order = compare_groups(x, y);
    return order || !x->custom ? order : strcmp(x->services, y->services);
}

static int compare_aggregated(const void *a, const void *b) {
    const struct group *x = a, *y = b;
    int order = compare_groups(x, y);
    return order || !x->custom ? order : strcmp(x->name, y->name);
}

static struct groups groups_make(const struct discovery *d,
                                 int (*compare)(const void *, const void *)) {
    struct groups g = {.v = VEC_INIT};
    for (size_t i = 0; i < d->n; i++) {
        struct group *group = group_of(&g, d->rows[i]);
        group->custom = group->custom && d->rows[i]->custom;
        *vec_push(&version_of(group, d->rows[i]->version)->rows) = d->rows[i];
    }
    for (size_t i = 0; i < g.v.len; i++) {
        struct group *group = &g.v.p[i];
        qsort(group->versions.p, group->versions.len, sizeof *group->versions.p,
              compare_group_versions);
        for (size_t k = 0; k < group->versions.len; k++)
            qsort(group->versions.p[k].rows.p, group->versions.p[k].rows.len,
                  sizeof *group->versions.p[k].rows.p, compare_rows);
    }
    if (g.v.len)
        qsort(g.v.p, g.v.len, sizeof *g.v.p, compare);
    return g;
}

static const struct group *groups_find(const struct groups *g, const char *name) {
    for (size_t i = 0; i < g->v.len; i++)
        if (streq(g->v.p[i].name, name))
            return &g->v.p[i];
    return NULL;
}

/* --- the documents --- */

static void write_verbs(struct jsonw *w, unsigned verbs, bool custom_resource) {
    static const enum api_verb sorted[] = {VERB_CREATE, VERB_DELETE, VERB_DELETECOLLECTION,
                                           VERB_GET,    VERB_LIST,   VERB_PATCH,
                                           VERB_UPDATE, VERB_WATCH};
    /* As the server has them in its code for these. */
    static const enum api_verb custom[] = {
        VERB_DELETE, VERB_DELETECOLLECTION, VERB_GET,    VERB_LIST,
        VERB_PATCH,  VERB_CREATE,           VERB_UPDATE, VERB_WATCH};
    jsonw_kbegin(w, "verbs", '[');
    for (size_t i = 0; i < VERB_COUNT; i++) {
        enum api_verb verb = custom_resource ? custom[i] : sorted[i];
        if (verbs & verb)
            jsonw_str(w, api_verb_name(verb));
    }
    jsonw_end(w);
}

static void write_names(struct jsonw *w, const char *key, const char *const *names) {
    if (!names || !*names)
        return;
    jsonw_kbegin(w, key, '[');
    for (; *names; names++)
        jsonw_str(w, *names);
    jsonw_end(w);
}

static void write_group_version(struct jsonw *w, const char *group, const char *version) {
    _cleanup_str_ struct str text = STR_INIT;
    group_version_add(&text, group, version);
    jsonw_kstr(w, "groupVersion", str_get(&text));
}

void discovery_core(const struct discovery *d, const char *address, struct str *out) {
    _cleanup_groups_ struct groups g = groups_make(d, compare_registered);
    const struct group *core = groups_find(&g, "");
    struct jsonw w;
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "kind", "APIVersions");
    jsonw_kbegin(&w, "versions", '[');
    for (size_t i = 0; core && i < core->versions.len; i++)
        jsonw_str(&w, core->versions.p[i].name);
    jsonw_end(&w);
    jsonw_kbegin(&w, "serverAddressByClientCIDRs", '[');
    if (!str_empty(address)) {
        jsonw_begin(&w, '{');
        jsonw_kstr(&w, "clientCIDR", "0.0.0.0/0");
        jsonw_kstr(&w, "serverAddress", address);
        jsonw_end(&w);
    }
    jsonw_end(&w);
    jsonw_end(&w);
}

static void write_group_of(struct jsonw *w, const struct group *g) {
    jsonw_kstr(w, "name", g->name);
    jsonw_kbegin(w, "versions", '[');
    for (size_t i = 0; i < g->versions.len; i++) {
        jsonw_begin(w, '{');
        write_group_version(w, g->name, g->versions.p[i].name);
        jsonw_kstr(w, "version", g->versions.p[i].name);
        jsonw_end(w);
    }
    jsonw_end(w);
    jsonw_kbegin(w, "preferredVersion", '{');
    write_group_version(w, g->name, g->versions.p[0].name);
    jsonw_kstr(w, "version", g->versions.p[0].name);
    jsonw_end(w);
}

void discovery_groups(const struct discovery *d, struct str *out) {
    _cleanup_groups_ struct groups g = groups_make(d, compare_registered);
    struct jsonw w;
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "kind", "APIGroupList");
    jsonw_kstr(&w, "apiVersion", "v1");
    jsonw_kbegin(&w, "groups", '[');
    for (size_t i = 0; i < g.v.len; i++) {
        if (!*g.v.p[i].name)
            continue;
        jsonw_begin(&w, '{');
        write_group_of(&w, &g.v.p[i]);
        jsonw_end(&w);
    }
    jsonw_end(&w);
    jsonw_end(&w);
}

bool discovery_group(const struct discovery *d, const char *group, struct str *out) {
    _cleanup_groups_ struct groups g = groups_make(d, compare_registered);
    const struct group *found = *group ? groups_find(&g, group) : NULL;
    if (!found)
        return false;
    struct jsonw w;
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "kind", "APIGroup");
    jsonw_kstr(&w, "apiVersion", "v1");
    write_group_of(&w, found);
    jsonw_end(&w);
    return true;
}

/* By which clients see that objects are stored in another version than before: the first 8 bytes of
 * a SHA-256, as the server makes it. */
static void write_storage_hash(struct jsonw *w, const struct resource_info *r) {
    const char *stored = r->stored ? r->stored : r->version;
    _cleanup_free_ char *kind = xasprintf("%s/%s/%s", r->group, stored, r->kind);
    _cleanup_str_ struct str text = STR_INIT;
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    if (!r->list_kind || !*stored) /* not stored, or in a version that is not served */
        return;
    if (!EVP_Digest(kind, strlen(kind), hash, &n, EVP_sha256(), NULL))
        abort(); /* only when there is no memory */
    base64_encode(&text, hash, 8);
    jsonw_kstr(w, "storageVersionHash", str_get(&text));
}

/* The resource, then one entry for each of its subresources. */
static void write_entries(struct jsonw *w, const struct resource_info *r) {
    struct subresource_info *subs = xcalloc(r->n_subresources + 2, sizeof *subs);
    size_t n = resource_subresources(r, subs);
    jsonw_begin(w, '{');
    jsonw_kstr(w, "name", r->plural);
    jsonw_kstr(w, "singularName", r->singular);
    jsonw_kbool(w, "namespaced", r->namespaced);
    jsonw_kstr(w, "kind", r->kind);
    write_verbs(w, r->verbs, r->custom);
    write_names(w, "shortNames", r->short_names);
    write_names(w, "categories", r->categories);
    write_storage_hash(w, r);
    jsonw_end(w);
    for (size_t i = 0; i < n; i++) {
        _cleanup_free_ char *name = xasprintf("%s/%s", r->plural, subs[i].name);
        jsonw_begin(w, '{');
        jsonw_kstr(w, "name", name);
        jsonw_kstr(w, "singularName", "");
        jsonw_kbool(w, "namespaced", r->namespaced);
        jsonw_kopt(w, "group", subs[i].group);
        jsonw_kopt(w, "version", subs[i].version);
        jsonw_kstr(w, "kind", subs[i].kind);
        write_verbs(w, subs[i].verbs, false);
        jsonw_end(w);
    }
    free(subs);
}

bool discovery_resources(const struct discovery *d, const char *group, const char *version,
                         struct str *out) {
    _cleanup_groups_ struct groups g = groups_make(d, compare_registered);
    const struct group *found = groups_find(&g, group);
    const struct group_version *v = NULL;
    for (size_t i = 0; found && i < found->versions.len; i++)
        if (streq(found->versions.p[i].name, version))
            v = &found->versions.p[i];
    if (!v)
        return false;
    struct jsonw w;
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "kind", "APIResourceList");
    if (*group) /* the core group's document is older than that */
        jsonw_kstr(&w, "apiVersion", "v1");
    write_group_version(&w, group, version);
    jsonw_kbegin(&w, "resources", '[');
    for (size_t i = 0; i < v->rows.len; i++)
        write_entries(&w, v->rows.p[i]);
    jsonw_end(&w);
    jsonw_end(&w);
    return true;
}

/* --- the aggregated form --- */

static void write_response_kind(struct jsonw *w, const char *group, const char *version,
                                const char *kind) {
    jsonw_kbegin(w, "responseKind", '{');
    jsonw_kstr(w, "group", strna(group));
    jsonw_kstr(w, "version", strna(version));
    jsonw_kstr(w, "kind", kind);
    jsonw_end(w);
}

static void write_aggregated_resource(struct jsonw *w, const struct resource_info *r) {
    struct subresource_info *subs = xcalloc(r->n_subresources + 2, sizeof *subs);
    size_t n = resource_subresources(r, subs);
    /* Of built-in kinds the group and version are left empty: those of the document. */
    const char *group = r->custom ? r->group : "", *version = r->custom ? r->version : "";
    jsonw_begin(w, '{');
    jsonw_kstr(w, "resource", r->plural);
    write_response_kind(w, group, version, r->kind);
    jsonw_kstr(w, "scope", r->namespaced ? "Namespaced" : "Cluster");
    jsonw_kstr(w, "singularResource", r->singular);
    write_verbs(w, r->verbs, r->custom);
    write_names(w, "shortNames", r->short_names);
    write_names(w, "categories", r->categories);
    if (n)
        jsonw_kbegin(w, "subresources", '[');
    for (size_t i = 0; i < n; i++) {
        jsonw_begin(w, '{');
        jsonw_kstr(w, "subresource", subs[i].name);
        write_response_kind(w, subs[i].group ? subs[i].group : group,
                            subs[i].version ? subs[i].version : version, subs[i].kind);
        write_verbs(w, subs[i].verbs, false);
        jsonw_end(w);
    }
    if (n)
        jsonw_end(w);
    jsonw_end(w);
    free(subs);
}

static void write_aggregated_group(struct jsonw *w, const struct group *g) {
    jsonw_begin(w, '{');
    jsonw_kbegin(w, "metadata", '{');
    jsonw_kopt(w, "name", g->name);
    jsonw_end(w);
    jsonw_kbegin(w, "versions", '[');
    for (size_t i = 0; i < g->versions.len; i++) {
        jsonw_begin(w, '{');
        jsonw_kstr(w, "version", g->versions.p[i].name);
        jsonw_kbegin(w, "resources", '[');
        for (size_t k = 0; k < g->versions.p[i].rows.len; k++)
            write_aggregated_resource(w, g->versions.p[i].rows.p[k]);
        jsonw_end(w);
        jsonw_kstr(w, "freshness", "Current");
        jsonw_end(w);
    }
    jsonw_end(w);
    jsonw_end(w);
}

void discovery_aggregated(const struct discovery *d, bool core, struct str *out) {
    _cleanup_groups_ struct groups g = groups_make(d, compare_aggregated);
    struct jsonw w;
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "kind", "APIGroupDiscoveryList");
    jsonw_kstr(&w, "apiVersion", "apidiscovery.k8s.io/v2");
    jsonw_kbegin(&w, "metadata", '{');
    jsonw_end(&w);
    jsonw_kbegin(&w, "items", '[');
    for (size_t i = 0; i < g.v.len; i++)
        if (!*g.v.p[i].name == core)
            write_aggregated_group(&w, &g.v.p[i]);
    jsonw_end(&w);
    jsonw_end(&w);
}

/* --- the version --- */

void discovery_version(struct str *out) {
    /* What tells of a build is empty: the release was not built here. */
    static const char *const members[][2] = {
        {"major", RELEASE_MAJOR},
        {"minor", RELEASE_MINOR},
        {"emulationMajor", RELEASE_MAJOR},
        {"emulationMinor", RELEASE_MINOR},
        {"minCompatibilityMajor", RELEASE_MAJOR},
        {"minCompatibilityMinor", "35"}, /* the release before */
        {"gitVersion", RELEASE},
        {"gitCommit", ""},
        {"gitTreeState", ""},
        {"buildDate", ""},
        {"goVersion", ""},
        {"compiler", ""},
        {"platform", "linux/amd64"},
    };
    struct jsonw w;
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        jsonw_kstr(&w, members[i][0], members[i][1]);
    jsonw_end(&w);
}
