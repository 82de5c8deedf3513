/* Content negotiation, as far as Kubernetes' clients go: order decides, q= is not weighed. */
#include "sim/api/accept.h"

#include <strings.h>

static struct view trim(struct view v) {
    while (v.len && (*v.p == ' ' || *v.p == '\t'))
        v.p++, v.len--;
    while (v.len && (v.p[v.len - 1] == ' ' || v.p[v.len - 1] == '\t'))
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
    return trim(part);
}

static bool is(struct view v, const char *word) {
    return v.len == strlen(word) && strncasecmp(v.p, word, v.len) == 0;
}

/* One clause: false when we cannot serve it. */
static bool clause(struct view text, unsigned offer, struct accept *out) {
    struct accept a = {0};
    struct view type = next(&text, ';');
    if (is(type, "application/vnd.kubernetes.protobuf")) {
        if (!(offer & OFFER_PROTOBUF))
            return false;
        a.format = KUBE_PROTOBUF;
    } else if (!is(type, "application/json") && !is(type, "*/*") && !is(type, "application/*")) {
        if (!is(type, "application/yaml"))
            return false;
        a.yaml = true;
    }
    struct view as = {0}, group = {0}, version = {0};
    while (text.len) {
        struct view value = next(&text, ';');
        struct view key = next(&value, '=');
        if (is(key, "as"))
            as = value;
        else if (is(key, "g"))
            group = value;
        else if (is(key, "v"))
            version = value;
        else if (is(key, "pretty"))
            a.pretty = is(value, "1");
    }
    if (as.len || group.len || version.len) { /* each alone asks for something else already */
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
    struct view type = next(&text, ';');
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
    for (rest = all; rest.len;)
        if (clause(next(&rest, ','), offer, out))
            return 0;
    if (!all.len)
        return 0;
    return fail(f, 406, "NotAcceptable",
                "only the following media types are accepted: application/json, application/yaml, "
                "application/vnd.kubernetes.protobuf");
}
