/* LIST: selected objects of a snapshot, whole or in pages. */
#include "sim/api/list.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/base64.h"
#include "sim/api/body.h"
#include "sim/api/names.h"
#include "sim/schema/text.h"
#include "sim/schema/text_read.h"

enum { PIECE = 64 << 10 };

struct listing {
    struct api_stream stream;
    struct printer printer;
    struct list_page page;
    bool done;
};

static void listing_free(struct api_stream *stream) {
    struct listing *l = CONTAINER_OF(stream, struct listing, stream);
    printer_done(&l->printer);
    list_page_done(&l->page);
    free(l);
}

static enum api_pull listing_pull(struct api_stream *stream, struct str *out) {
    struct listing *l = CONTAINER_OF(stream, struct listing, stream);
    struct list_page *p = &l->page;
    size_t start = out->len;
    while (p->at < p->end) {
        const struct record *r = p->snap->items[p->at++];
        if (filter_match(&p->filter, r))
            print_list_item(&l->printer, r, out);
        if (out->len - start >= PIECE)
            return API_MORE;
    }
    if (!l->done) {
        print_list_end(&l->printer, out);
        l->done = true;
    }
    return API_END;
}

static const struct api_stream_ops listing_ops = {listing_pull, listing_free};

/* --- continue tokens: apiserver's own form --- */

/* Base64 with the alphabet of URLs and without padding. */
static void to_url(struct str *s) {
    for (size_t i = 0; i < s->len; i++) {
        if (s->p[i] == '+')
            s->p[i] = '-';
        else if (s->p[i] == '/')
            s->p[i] = '_';
        else if (s->p[i] == '=') {
            s->len = i;
            s->p[i] = 0;
        }
    }
}

static char *token_of(int64_t version, const char *start) {
    _cleanup_str_ struct str text = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &text, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "v", "meta.k8s.io/v1");
    jsonw_kint(&w, "rv", version);
    jsonw_key(&w, "start");
    _cleanup_str_ struct str key = STR_INIT;
    json_quote(&key, strna(start), strlen(strna(start)));
    key.p[--key.len] = 0; /* the key ends with a NUL: the list goes on behind it */
    str_add(&key, "\\u0000\"");
    jsonw_raw(&w, str_get(&key));
    jsonw_end(&w);
    struct str out = STR_INIT;
    base64_encode(&out, str_get(&text), text.len);
    to_url(&out);
    return str_take(&out);
}

/* Where a list goes on behind `last`. `ns` is the namespace of the list, NULL for all. */
static char *token_behind(uint64_t version, const struct record *last, const char *ns) {
    const struct meta *m = &last->obj->meta;
    _cleanup_free_ char *start =
        m->ns && !ns ? xasprintf("%s/%s", m->ns, m->name) : xstrdup(m->name);
    return token_of((int64_t)version, start);
}

static int bad_token(struct failure *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int bad_token(struct failure *f, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *why = xvasprintf(fmt, ap);
    va_end(ap);
    return fail_bad_request(f, "invalid continue token: continue key is not valid: %s", why);
}

/* A path that stays below where it begins: no "..", no empty part. */
static bool clean_key(const char *key) {
    if (*key == '/')
        key++;
    for (const char *p = key; *p;) {
        size_t n = strcspn(p, "/");
        if (n == 0 || (n == 1 && *p == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            return false;
        p += n;
        if (*p == '/' && !*++p)
            return false;
    }
    return true;
}

/* Where base64.RawURLEncoding stops; the length when nowhere. */
static size_t token_end(const char *token) {
    size_t n = 0, letters = 0;
    for (; token[n]; n++) {
        char c = token[n];
        bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_';
        if (!letter && c != '\n' && c != '\r')
            return n;
        letters += letter;
    }
    return letters % 4 == 1 ? n - 1 : n;
}

/* A member must be of its Go type, or null. */
static bool token_member(const json_t *v, const char *key, const char *type, struct failure *f) {
    const json_t *m = json_object_get(v, key);
    bool text = streq(type, "string");
    if (!m || json_is_null(m) || (text ? json_is_string(m) : json_is_integer(m)))
        return true;
    _cleanup_str_ struct str number = STR_INIT;
    if (json_is_real(m) && !text) {
        str_addc(&number, ' ');
        text_value(m, &number);
    }
    (void)bad_token(f,
                    "json: cannot unmarshal %s%s into Go struct field continueToken.%s of type %s",
                    json_type_go(m), str_get(&number), key, type);
    return false;
}

/* The version may be -1: as it is now. */
static int token_read(const char *token, int64_t *version, char **start, struct failure *f) {
    _cleanup_str_ struct str plain = STR_INIT;
    size_t stop = token_end(token);
    if (token[stop])
        return bad_token(f, "illegal base64 data at input byte %zu", stop);
    str_add(&plain, token);
    for (size_t i = 0; i < plain.len; i++)
        plain.p[i] = plain.p[i] == '-' ? '+' : plain.p[i] == '_' ? '/' : plain.p[i];
    while (plain.len % 4)
        str_addc(&plain, '=');
    size_t len = 0;
    _cleanup_free_ char *text = NULL;
    if (!base64_decode(plain.p, plain.len, &text, &len))
        return bad_token(f, "illegal base64 data");
    _cleanup_json_ json_t *v = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    if (text_read((struct view){text, len}, NULL, &v, &err))
        return bad_token(f, "%s", err_msg(&err));
    if (!json_is_object(v) && !json_is_null(v))
        return bad_token(f, "json: cannot unmarshal %s into Go value of type storage.continueToken",
                         json_type_go(v));
    if (!token_member(v, "v", "string", f) || !token_member(v, "rv", "int64", f) ||
        !token_member(v, "start", "string", f))
        return -1;
    const char *form = strna(json_str(v, "v")), *from = strna(json_str(v, "start"));
    if (!streq(form, "meta.k8s.io/v1"))
        return bad_token(f, "server does not recognize this encoded version %s", form);
    *version = json_integer_value(json_object_get(v, "rv"));
    if (*version == 0)
        return bad_token(f, "incorrect encoded start resourceVersion (version %s)", form);
    if (!json_string_length(json_object_get(v, "start")))
        return bad_token(f, "encoded start key empty (version %s)", form);
    if (!clean_key(from))
        return bad_token(f, "%s", from);
    *start = xstrdup(*from == '/' ? from + 1 : from);
    return 0;
}

/* The rest can be had as it is now: the answer carries a token for that. */
static int expired(const char *start, struct failure *f) {
    fail(
        f, 410, "Expired",
        "The provided continue parameter is too old to display a consistent list result. You can "
        "start a new list without the continue parameter, or use the continue token in this "
        "response to retrieve the remainder of the results. Continuing with the provided token "
        "results in an inconsistent list - objects that were created, modified, or deleted between "
        "the time the first chunk was returned and now may show up in the list.");
    f->token = token_of(-1, start);
    return -1;
}

/* --- pages --- */

/* The state that a resourceVersion asks for: the present one, which is never stale, unless an exact
 * one is wanted. */
static int take_snapshot(struct list_page *p, struct call *c, const struct list_options *o,
                         bool single, struct failure *f) {
    struct shelf *shelf = c->res->shelf;
    uint64_t version = 0;
    if (version_parse(o->version, 400, &version, f))
        return -1;
    uint64_t now = c->api->world->version;
    if (version > now)
        return fail_too_large(f, version, now);
    bool pages = o->limit > 0 && !single;
    bool exact = version && (o->match == MATCH_EXACT || (o->match == MATCH_UNSET && pages));
    p->snap = exact ? shelf_snapshot_at(shelf, version) : shelf_snapshot(shelf);
    return p->snap
               ? 0
               : fail(f, 410, "Expired", "The resourceVersion for the provided list is too old.");
}

/* The state that a token was made of. */
static int resume_snapshot(struct list_page *p, struct call *c, const struct list_options *o,
                           char **start, struct failure *f) {
    int64_t version = 0;
    if (token_read(o->token, &version, start, f))
        return -1;
    if (o->version && !streq(o->version, "0"))
        return fail_bad_request(f,
                                "specifying resource version is not allowed when using continue");
    uint64_t now = c->api->world->version;
    if (version >= 0 && (uint64_t)version > now)
        return fail_too_large(f, (uint64_t)version, now);
    p->snap = version < 0 ? shelf_snapshot(c->res->shelf)
                          : shelf_snapshot_at(c->res->shelf, (uint64_t)version);
    return p->snap ? 0 : expired(*start, f);
}

/* The namespace that the fields demand, or NULL. */
static const char *demanded_namespace(const struct filter *filter) {
    for (size_t i = 0; i < filter->fields.len; i++)
        if (streq(filter->fields.p[i].path, "metadata.namespace") && !filter->fields.p[i].differs)
            return filter->fields.p[i].value;
    return NULL;
}

/* Moves the beginning behind the key of a token. */
static void skip_to(struct list_page *p, const char *ns, bool namespaced, char *start) {
    char *slash = ns || !namespaced ? NULL : strchr(start, '/');
    if (slash)
        *slash = 0;
    const char *in = slash ? start : strna(ns), *name = slash ? slash + 1 : start;
    size_t at = snapshot_seek(p->snap, in, name);
    const struct meta *m = at < p->snap->n ? &p->snap->items[at]->obj->meta : NULL;
    if (m && streq(m->name, name) && str_same(m->ns, in))
        at++;
    p->at = MAX_OF(p->at, at);
}

/* How far the page goes, and how many follow. */
static void cut(struct list_page *p, const char *ns, const struct list_options *o) {
    size_t i = p->at;
    int64_t n = 0;
    const struct record *last = NULL;
    for (; i < p->end && n < o->limit; i++)
        if (filter_match(&p->filter, p->snap->items[i])) {
            last = p->snap->items[i];
            n++;
        }
    /* Whether anything of what follows is selected the server does not look; and it counts only
     * where no selector is in the way. */
    if (n < o->limit || i == p->end)
        return;
    p->head.token = token_behind(p->snap->version, last, ns);
    if (str_empty(o->labels) && !p->filter.fields.len)
        p->head.remaining = (int64_t)(p->end - i);
    p->end = i;
}

int list_page_init(struct list_page *p, struct call *c, const struct list_options *o,
                   struct failure *f) {
    *p = (struct list_page){.head.remaining = ABSENT64};
    if (filter_init(&p->filter, c->res->info, c->ns, o->labels, o->fields,
                    resource_selectable(c->res), f))
        return -1;
    /* As ListPredicate() in apiserver's pkg/registry/generic/registry/store.go: a selector that
     * demands a namespace makes the list one of that namespace, and one that demands a name makes
     * it a look at one object, which has no pages. A list that goes on stays what it was. */
    bool namespaced = c->res->info->namespaced;
    const char *ns = c->ns, *name = o->token ? NULL : filter_name(&p->filter);
    if (!ns && namespaced && !o->token) {
        const char *asked = demanded_namespace(&p->filter);
        ns = asked && name_ok(name_dns1123_label, asked) ? asked : NULL;
    }
    bool single = !str_empty(name) && (ns || !namespaced);
    _cleanup_free_ char *start = NULL;
    if (o->token ? resume_snapshot(p, c, o, &start, f) : take_snapshot(p, c, o, single, f)) {
        list_page_done(p);
        return -1;
    }
    p->head.version = p->snap->version;
    p->at = ns ? snapshot_seek(p->snap, ns, "") : 0;
    p->end = p->snap->n;
    if (ns) { /* names are never this */
        _cleanup_free_ char *after = xasprintf("%s%c", ns, 1);
        p->end = snapshot_seek(p->snap, after, "");
    }
    if (start)
        skip_to(p, ns, namespaced, start);
    /* "0" is answered from the watch cache, which has no pages. */
    bool cached = o->version && streq(o->version, "0") && !o->token;
    if (o->limit > 0 && !single && !cached)
        cut(p, ns, o);
    return 0;
}

void list_page_done(struct list_page *p) {
    filter_done(&p->filter);
    snapshot_unref(p->snap);
    free((void *)p->head.token);
}

int api_list(struct call *c, struct failure *f) {
    struct list_options o;
    if (query_list_options(&c->query, &o, f))
        return -1;
    if (o.watch)
        return api_watch(c, &o, f);
    struct listing *l = xnew(struct listing);
    l->stream.ops = &listing_ops;
    if (list_page_init(&l->page, c, &o, f)) {
        free(l);
        return -1;
    }
    if (printer_init(&l->printer, c, PRINT_LIST, f)) {
        listing_free(&l->stream);
        return -1;
    }
    /* Lists without a Go type of their own leave nothing out. */
    struct list_head head = l->page.head;
    if (!head.token && c->res->info->custom && l->printer.accept.as == ACCEPT_OBJECT)
        head.token = "";
    c->reply->code = 200;
    c->reply->content_type = printer_type(&l->printer, false);
    print_list_begin(&l->printer, &head, &c->reply->body);
    /* What fits one piece is sent whole; protobuf must be. */
    enum api_pull state;
    do
        state = listing_pull(&l->stream, &c->reply->body);
    while (state == API_MORE && l->printer.accept.format == KUBE_PROTOBUF);
    if (state == API_END)
        listing_free(&l->stream);
    else
        c->reply->stream = &l->stream;
    return 0;
}
