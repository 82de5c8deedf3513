/* Content negotiation as the real server does it: clauses in the order of munnerz/goautoneg, and
 * the first that the endpoint can serve (apiserver's pkg/endpoints/handlers/negotiation). */
#include "sim/api/accept.h"

#include <stdlib.h>

/* Clauses that are looked at. No client sends a tenth of it; up to 12 the order is the original's,
 * which sorts more of them by other means. */
enum { MAX_CLAUSES = 64 };

struct clause {
    struct view type, sub; /* "application", "json" */
    struct view params;
    double q;
};

static struct view trim(struct view v) {
    while (v.len && *v.p == ' ')
        v.p++, v.len--;
    while (v.len && v.p[v.len - 1] == ' ')
        v.len--;
    return v;
}

/* Cuts off what is before the next `sep`. */
static struct view next(struct view *rest, char sep) {
    const char *end = memchr(rest->p, sep, rest->len);
    struct view part = {rest->p, end ? (size_t)(end - rest->p) : rest->len};
    size_t used = part.len + (end != NULL);
    rest->p += used;
    rest->len -= used;
    return part;
}

static bool is(struct view v, const char *word) {
    return v.len == strlen(word) && memcmp(v.p, word, v.len) == 0;
}

/* The next parameter that has a key and one value; false: there is none. */
static bool next_param(struct view *rest, struct view *key, struct view *value) {
    while (rest->len) {
        struct view pair = next(rest, ';');
        *key = trim(next(&pair, '='));
        *value = next(&pair, '=');
        if (value->len && !pair.len)
            return true;
    }
    return false;
}

/* strconv.ParseFloat(), whose error nobody looks at: what is no number is 0. */
static double quality(struct view v) {
    char text[32], *end;
    if (!v.len || v.len >= sizeof text)
        return 0;
    memcpy(text, v.p, v.len);
    text[v.len] = '\0';
    if (strspn(text, "0123456789.eE+-") != v.len)
        return 0;
    float q = strtof(text, &end);
    return *end ? 0 : (double)q;
}

/* False: it is left out. */
static bool clause_read(struct view text, struct clause *out) {
    text = trim(text);
    struct view media = next(&text, ';');
    *out = (struct clause){.type = trim(next(&media, '/')), .params = text, .q = 1};
    if (!media.len) {
        out->sub = out->type;
        return is(out->type, "*");
    }
    out->sub = trim(next(&media, '/'));
    struct view key, value;
    while (next_param(&text, &key, &value))
        if (is(key, "q"))
            out->q = quality(value);
    return !media.len;
}

/* No order that mathematics knows: a wildcard comes behind all else whatever its weight is, and a
 * weight counts between neighbours only. */
static bool before(const struct clause *a, const struct clause *b) {
    return a->q > b->q || (!is(a->type, "*") && is(b->type, "*")) ||
           (!is(a->sub, "*") && is(b->sub, "*"));
}

static size_t clauses_read(struct view header, struct clause *out) {
    size_t n = 0;
    while (header.len && n < MAX_CLAUSES) {
        if (!clause_read(next(&header, ','), &out[n]))
            continue;
        /* as Go's sort.Sort() puts in order what is short */
        for (size_t i = n++; i > 0 && before(&out[i], &out[i - 1]); i--) {
            struct clause swapped = out[i];
            out[i] = out[i - 1];
            out[i - 1] = swapped;
        }
    }
    return n;
}

/* False when we cannot serve it. */
static bool clause_take(const struct clause *c, unsigned offer, struct accept *out) {
    struct accept a = {0};
    bool any = is(c->sub, "*") && (is(c->type, "*") || is(c->type, "application"));
    if (!any && !is(c->type, "application"))
        return false;
    if (is(c->sub, "vnd.kubernetes.protobuf")) {
        if (!(offer & OFFER_PROTOBUF))
            return false;
        a.format = KUBE_PROTOBUF;
    } else if (!any && !is(c->sub, "json")) {
        if (!is(c->sub, "yaml"))
            return false;
        a.yaml = true;
    }
    struct view as = {0}, group = {0}, version = {0}, rest = c->params, key, value;
    bool convert = false; /* each alone asks for something else already */
    while (next_param(&rest, &key, &value)) {
        value = trim(value);
        struct view *of = is(key, "as")  ? &as
                          : is(key, "g") ? &group
                          : is(key, "v") ? &version
                                         : NULL;
        if (of) {
            *of = value;
            convert = true;
        } else if (is(key, "pretty")) {
            a.pretty = is(value, "1");
        } else if ((is(key, "stream") && value.len && (a.yaml || !is(value, "watch"))) ||
                   (is(key, "sv") && value.len)) {
            return false;
        }
    }
    if (convert) {
        a.beta = is(version, "v1beta1");
        bool meta =
            is(group, "meta.k8s.io") && (a.beta || is(version, "v1")) && offer & OFFER_TABLE;
        if (meta && is(as, "Table") && a.format == KUBE_JSON) {
            a.as = ACCEPT_TABLE;
        } else if (meta &&
                   (is(as, "PartialObjectMetadata") || is(as, "PartialObjectMetadataList"))) {
            a.as = ACCEPT_PARTIAL;
            a.list = is(as, "PartialObjectMetadataList");
        } else if (offer & OFFER_DISCOVERY && is(group, "apidiscovery.k8s.io") &&
                   is(version, "v2") && is(as, "APIGroupDiscoveryList")) {
            a.as = ACCEPT_DISCOVERY;
        } else {
            return false;
        }
    }
    *out = a;
    return true;
}

/* Is this a type that routes are made for? They do not look behind it, and know "*" of both parts
 * only. */
static bool routed(struct view text) {
    struct view type = trim(next(&text, ';'));
    return is(type, "application/json") || is(type, "application/yaml") ||
           is(type, "application/vnd.kubernetes.protobuf") || is(type, "*/*");
}

int accept_parse(const char *header, unsigned offer, struct accept *out, struct failure *f) {
    *out = (struct accept){0};
    struct view all = trim(view_of(header)), rest = all;
    bool found = !all.len || !(offer & OFFER_TABLE) || offer & OFFER_CUSTOM;
    while (rest.len && !found)
        found = routed(next(&rest, ','));
    if (!found) {
        bool stream = offer & OFFER_STREAM;
        fail(f, 406, "NotAcceptable",
             "406: Not Acceptable\n\nAvailable representations: application/json, "
             "application/yaml, application/vnd.kubernetes.protobuf%s%s",
             stream ? ", application/json;stream=watch" : "",
             stream ? ", application/vnd.kubernetes.protobuf;stream=watch" : "");
        f->details = true; /* and nothing in them */
        return -1;
    }
    if (!all.len)
        return 0;
    struct clause clauses[MAX_CLAUSES];
    size_t n = clauses_read(all, clauses);
    for (size_t i = 0; i < n; i++)
        if (clause_take(&clauses[i], offer, out))
            return 0;
    return fail(f, 406, "NotAcceptable",
                "only the following media types are accepted: application/json, application/yaml, "
                "application/vnd.kubernetes.protobuf");
}
