/* What the process has been told. */
#include <stdio.h>
#include <stdlib.h>

#include "chaos_internal.h"

/* A page of so many has all that there is in these clusters. */
enum { PAGE_ALL = 500 };

/* Whether it shows all objects that it could show: not those of one namespace or with some labels
 * alone, nor a page of several. Of ConfigMaps only the records matter, which have a label. */
static bool is_whole(const struct kube_call *s) {
    const char *limit = strstr(s->path, "limit=");
    if (strstr(s->path, "fieldSelector=metadata.name"))
        limit = NULL; /* there is one at most */
    bool records =
        str_same(s->req.target.resource, "configmaps") && strstr(s->path, "slipway.dev%2Fslots");
    return (records || (!s->req.target.ns && !strstr(s->path, "labelSelector="))) &&
           !strstr(s->path, "continue=") && (!limit || atoi(limit + strlen("limit=")) >= PAGE_ALL);
}

static void remember(struct chaos *c, const char *resource, const char *selected, int64_t until) {
    for (size_t i = 0; i < c->known.len; i++) {
        struct known *k = &c->known.p[i];
        if (streq(k->resource, resource) && streq(k->selected, selected)) {
            k->until = MAX_OF(k->until, until);
            return;
        }
    }
    struct known *k = vec_push(&c->known);
    *k = (struct known){.until = until};
    (void)snprintf(k->resource, sizeof k->resource, "%s", resource);
    (void)snprintf(k->selected, sizeof k->selected, "%s", selected);
}

/* Up to when this stream has told everything. */
static int64_t stream_known(const struct kube_call *s) {
    if (!s->spoke || !s->handler)
        return 0;
    /* What happens in this very moment has not been read from the server yet. */
    int64_t until = s->unread ? s->unread : chaos_wall(s->chaos);
    return (s->pieces.len ? MIN_OF(s->pieces.p[0].made, until) : until) - MSEC(1);
}

void chaos_known_stream(const struct kube_call *s) {
    if (s->req.kind == CHAOS_WATCH && s->spoke && is_whole(s))
        remember(s->chaos, strna(s->req.target.resource), s->req.target.selected, stream_known(s));
}

void chaos_known_list(const struct kube_call *s) {
    if (s->req.kind == CHAOS_LIST && is_whole(s))
        remember(s->chaos, strna(s->req.target.resource), s->req.target.selected, s->served_at);
}

int64_t chaos_known(const struct chaos *c, const char *resource, const char *selected) {
    int64_t until = 0;
    for (size_t i = 0; i < c->known.len; i++) {
        const struct known *k = &c->known.p[i];
        if (streq(k->resource, resource) && (!*k->selected || streq(k->selected, selected)))
            until = MAX_OF(until, k->until);
    }
    for (const struct kube_call *s = c->calls; s; s = s->next)
        if (s->req.kind == CHAOS_WATCH && s->state == CALL_STREAMING && is_whole(s) &&
            str_same(s->req.target.resource, resource) &&
            (!*s->req.target.selected || streq(s->req.target.selected, selected)))
            until = MAX_OF(until, stream_known(s));
    return until;
}

unsigned chaos_pending(const struct chaos *c, enum chaos_kind kind, const char *ns,
                       const char *name) {
    unsigned n = 0;
    for (const struct kube_call *s = c->calls; s; s = s->next)
        n += s->handler && s->req.kind == kind &&
             (!name || (str_same(s->req.target.ns, ns) && str_same(s->req.target.name, name)));
    return n;
}
