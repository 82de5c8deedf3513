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
    } else if (!is(type, "application/json") && !is(type, "*/*")) {
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
    if (as.len) {
        bool meta = is(group, "meta.k8s.io") && is(version, "v1") && offer & OFFER_TABLE;
        if (meta && is(as, "Table") && a.format == KUBE_JSON) {
            a.as = ACCEPT_TABLE;
        } else if (meta &&
                   (is(as, "PartialObjectMetadata") || is(as, "PartialObjectMetadataList"))) {
            a.as = ACCEPT_PARTIAL;
            /* Each is for one sort of answer only. */
            if (is(as, "PartialObjectMetadataList") != ((offer & OFFER_LIST) != 0))
                return false;
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

int accept_parse(const char *header, unsigned offer, struct accept *out, struct failure *f) {
    *out = (struct accept){0};
    struct view rest = trim(view_of(header));
    if (!rest.len)
        return 0;
    while (rest.len)
        if (clause(next(&rest, ','), offer, out))
            return 0;
    /* Resources answer in one way, documents in another. */
    if (offer & OFFER_TABLE)
        return fail(f, 406, "NotAcceptable",
                    "406: Not Acceptable\n\nAvailable representations: application/json, "
                    "application/yaml%s, application/json;stream=watch%s",
                    offer & OFFER_PROTOBUF ? ", application/vnd.kubernetes.protobuf" : "",
                    offer & OFFER_PROTOBUF ? ", application/vnd.kubernetes.protobuf;stream=watch"
                                           : "");
    return fail(f, 406, "NotAcceptable",
                "only the following media types are accepted: application/json, application/yaml, "
                "application/vnd.kubernetes.protobuf");
}
