/* Requests to the API server. */
#include "kube/client.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "kube/stream.h"

#define ACCEPT_JSON     "application/json"
#define ACCEPT_PROTOBUF "application/vnd.kubernetes.protobuf,application/json"

enum {
    TIMEOUT_DEFAULT = 60, /* seconds: what the API server gives a request (--request-timeout) */
    SNIPPET_MAX = 200,    /* of a body that is no Status, for the message */
};

struct kube_op {
    struct kube_client *client;
    struct kube_call *call;
    const struct kind *result;
    kube_reply_fn *fn;
    void *arg;
    char *what; /* "GET /api/v1/pods" for messages: method and path */
    const struct kind *kind;
    char *subresource;
    int64_t began; /* monotonic */
    bool write;
    struct loop_timer *refused; /* instead of a call: it cannot even be sent */
    char *bad_name;
    int code;
    struct kube_head head;
    char *content_type, *warning;
    struct str body;
};

static void op_free(struct kube_op *op) {
    loop_timer_free(op->refused);
    free(op->bad_name);
    free(op->what);
    free(op->subresource);
    free(op->content_type);
    free(op->warning);
    str_done(&op->body);
    free(op);
}

void kube_path(struct str *out, const struct kind *kind, const char *ns, const char *name,
               const char *subresource) {
    if (*kind->group)
        str_addf(out, "/apis/%s/%s", kind->group, kind->version);
    else
        str_addf(out, "/api/%s", kind->version);
    if (kind->namespaced && ns) {
        str_add(out, "/namespaces/");
        str_add_url(out, ns);
    }
    str_addf(out, "/%s", kind->resource);
    if (name) {
        str_addc(out, '/');
        str_add_url(out, name);
    }
    if (subresource)
        str_addf(out, "/%s", subresource);
}

void kube_client_heard(struct kube_client *c, const struct kube_head *head) {
    if (head->date)
        c->ahead = head->date - loop_wall(c->loop);
}

static void on_head(void *arg, const struct kube_head *head) {
    struct kube_op *op = arg;
    kube_client_heard(op->client, head);
    op->head = *head;
    op->content_type = xstrdup(head->content_type);
    op->warning = head->warning ? xstrdup(head->warning) : NULL;
    op->head.content_type = op->content_type;
    op->head.warning = op->warning;
    op->code = head->code;
}

static int on_data(void *arg, const char *p, size_t len) {
    struct kube_op *op = arg;
    if (op->body.len + len > KUBE_BODY_MAX)
        return -EMSGSIZE;
    str_addn(&op->body, p, len);
    return 0;
}

char *kube_snippet(const struct str *body) {
    struct str clean = STR_INIT;
    _cleanup_str_ struct str s = STR_INIT;
    for (size_t i = 0; i < body->len && s.len < SNIPPET_MAX; i++) {
        unsigned char c = (unsigned char)body->p[i];
        bool blank = c <= ' ' || c == 0x7f;
        if (blank && (!s.len || s.p[s.len - 1] == ' '))
            continue;
        str_addc(&s, blank ? ' ' : (char)c);
    }
    while (s.len && s.p[s.len - 1] == ' ')
        s.p[--s.len] = '\0';
    utf8_clean(&clean, str_get(&s), s.len);
    return str_take(&clean);
}

/* Everything arrived: what does it say? */
static void finish_answer(struct kube_op *op, struct kube_reply *r) {
    struct codec codec;
    struct status status = {0};
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *text = NULL;
    enum kube_format format;
    bool typed = kube_format_of(strna(op->content_type), &format);
    struct view body = {str_get(&op->body), op->body.len};
    codec_init(&codec, op->client->pool);
    bool is_status = typed && kube_decode_status(&codec, format, body, &status, NULL) == 0;

    /* A Status that is no success is an error, whatever the HTTP code says (client-go's rule). */
    int code = op->code;
    if (is_status && code >= 200 && code < 300 && !str_same(status.status, "Success"))
        code = status.code >= 300 ? status.code : 500;
    r->outcome = kube_outcome_of(code, &op->head, &status, is_status);
    r->retry_after = kube_retry_after(&op->head, is_status ? &status : NULL);
    r->status = is_status ? &status : NULL;
    r->message = kube_outcome_row(r->outcome)->meaning;
    /* A write that something else answered with 200 was not carried out by an API server. */
    bool expected = (op->result && !is_status) || (op->write && !typed);
    if (r->outcome == KUBE_OK && expected) {
        int rc = typed
                     ? kube_decode(&codec, op->result, format, body, &r->obj, &err)
                     : err_set(&err, EBADMSG, "the answer to %s is \"%s\", not a Kubernetes object",
                               op->what, strna(op->content_type));
        if (rc) {
            r->outcome = KUBE_NOT_KUBERNETES;
            r->message = err_msg(&err);
        }
    } else if (r->outcome == KUBE_OK) {
        r->body = body;
    } else if (is_status && status.message) {
        r->message = status.message;
        if (status.details && list_len(status.details->causes))
            r->cause = status.details->causes[0].message;
    } else {
        _cleanup_free_ char *part = kube_snippet(&op->body);
        text = xasprintf("%s: HTTP %d%s%s", op->what, op->code, *part ? ": " : "", part);
        r->message = text;
    }
    op->fn(op->arg, r);
    if (r->obj)
        object_free(op->result, op->client->pool, r->obj);
    type_release(&type_status, op->client->pool, &status, NULL);
    codec_done(&codec);
}

static void tell_seen(const struct kube_op *op, int code) {
    const struct kube_client *c = op->client;
    if (!c->seen)
        return;
    _cleanup_free_ char *method = xstrndup(op->what, strcspn(op->what, " "));
    c->seen(c->seen_arg, &(struct kube_seen){.method = method,
                                             .kind = op->kind,
                                             .subresource = op->subresource,
                                             .code = code,
                                             .took = loop_now(c->loop) - op->began});
}

static void on_done(void *arg, const struct kube_done *done) {
    struct kube_op *op = arg;
    struct kube_reply r = {
        .code = done->code,
        .retry_after = -1,
        .date = op->head.date,
        .warning = op->warning,
        .message = "",
    };
    op->call = NULL;
    tell_seen(op, done->error ? 0 : op->code);
    if (!done->error) {
        finish_answer(op, &r);
    } else {
        _cleanup_free_ char *text = NULL;
        r.outcome = kube_outcome_of_failure(done);
        if (done->error == -EMSGSIZE) {
            r.outcome = KUBE_NOT_KUBERNETES;
            text = xasprintf("%s: the answer is longer than %d MiB and was cut off", op->what,
                             KUBE_BODY_MAX >> 20);
        } else {
            text = xstrdup(done->msg ? done->msg : strerror(-done->error));
        }
        r.message = text;
        op->fn(op->arg, &r);
    }
    op_free(op);
}

static const struct kube_handler handler = {on_head, on_data, on_done};

/* Such names change what the path means (DELETE .../pods/ deletes all of them); Kubernetes has no
 * object of such a name. */
static bool bad_name(const char *name) {
    return name && (!*name || streq(name, ".") || streq(name, "..") || strpbrk(name, "/%"));
}

static void on_refused(void *arg) {
    struct kube_op *op = arg;
    _cleanup_free_ char *text =
        xasprintf("\"%s\" cannot be the name of a Kubernetes object", op->bad_name);
    struct kube_reply r = {.outcome = KUBE_INVALID, .message = text, .retry_after = -1};
    op->fn(op->arg, &r);
    op_free(op);
}

struct kube_op *kube_op_start(struct kube_client *c, const struct kube_op_spec *spec,
                              kube_reply_fn *fn, void *arg) {
    _cleanup_str_ struct str path = STR_INIT;
    if (spec->path)
        str_add(&path, spec->path);
    else
        kube_path(&path, spec->kind, spec->ns, spec->name, spec->subresource);
    if (!str_empty(spec->query))
        str_addf(&path, "%c%s", strchr(str_get(&path), '?') ? '&' : '?', spec->query);
    struct kube_op *op = xnew(struct kube_op);
    op->client = c;
    op->result = spec->result;
    op->fn = fn;
    op->arg = arg;
    op->head.retry_after = -1;
    int64_t timeout = spec->timeout ? spec->timeout : c->timeout;
    struct kube_request req = {
        .method = spec->method ? spec->method : "GET",
        .path = str_get(&path),
        .accept = spec->result ? ACCEPT_PROTOBUF : ACCEPT_JSON,
        .content_type = !spec->body          ? NULL
                        : spec->content_type ? spec->content_type
                                             : "application/json",
        .body = spec->body,
        .body_len = spec->body ? strlen(spec->body) : 0,
        .lane = spec->lane,
        .timeout = timeout ? timeout : SEC(TIMEOUT_DEFAULT),
    };
    op->what = xasprintf("%s %s", req.method, req.path);
    op->write = !streq(req.method, "GET");
    op->kind = spec->path ? NULL : spec->kind;
    str_replace(&op->subresource, spec->subresource);
    op->began = loop_now(c->loop);
    const char *bad = bad_name(spec->ns) ? spec->ns : bad_name(spec->name) ? spec->name : NULL;
    if (bad && !spec->path) {
        op->bad_name = xstrdup(bad);
        op->refused = loop_timer_new(c->loop, on_refused, op);
        loop_timer_set(op->refused, 0);
        return op;
    }
    op->call = kube_start(c->transport, &req, &handler, op);
    return op;
}

void kube_op_cancel(struct kube_op *op) {
    if (!op)
        return;
    kube_cancel(op->client->transport, op->call);
    op_free(op);
}

/* --- writes --- */

static struct kube_op *write_op(struct kube_client *c, const struct kube_write *w,
                                const char *method, const char *name, const char *content_type,
                                const char *json, const struct kind *result, kube_reply_fn *fn,
                                void *arg) {
    _cleanup_str_ struct str query = STR_INIT;
    bool managed = strcmp(method, "DELETE") != 0;
    assert(name || streq(method, "POST")); /* never a whole collection */
    if (managed) {
        str_add(&query, "fieldManager=");
        str_add_url(&query, w->field_manager ? w->field_manager : "slipway");
    }
    if (w->dry_run)
        str_addf(&query, "%sdryRun=All", query.len ? "&" : "");
    struct kube_op_spec spec = {
        .method = method,
        .kind = w->kind,
        .ns = w->ns,
        .name = name,
        .subresource = w->subresource,
        .query = str_get(&query),
        .body = json,
        .content_type = content_type,
        .result = result,
        .timeout = w->timeout,
        .lane = w->lane,
    };
    return kube_op_start(c, &spec, fn, arg);
}

struct kube_op *kube_create(struct kube_client *c, const struct kube_write *w, const char *json,
                            kube_reply_fn *fn, void *arg) {
    /* A subresource is created under the name of its object. */
    return write_op(c, w, "POST", w->subresource ? w->name : NULL, NULL, json,
                    w->subresource ? NULL : w->kind, fn, arg);
}

struct kube_op *kube_replace(struct kube_client *c, const struct kube_write *w, const char *json,
                             kube_reply_fn *fn, void *arg) {
    return write_op(c, w, "PUT", w->name, NULL, json, w->kind, fn, arg);
}

struct kube_op *kube_patch(struct kube_client *c, const struct kube_write *w, enum kube_patch how,
                           const char *json, kube_reply_fn *fn, void *arg) {
    static const char *const types[] = {
        [KUBE_PATCH_JSON] = "application/json-patch+json",
        [KUBE_PATCH_MERGE] = "application/merge-patch+json",
        [KUBE_PATCH_STRATEGIC] = "application/strategic-merge-patch+json",
    };
    return write_op(c, w, "PATCH", w->name, types[how], json, w->kind, fn, arg);
}

static void add_delete_options(struct jsonw *j, const struct kube_delete_options *o, bool dry_run) {
    if (o->grace >= 0)
        jsonw_kint(j, "gracePeriodSeconds", o->grace);
    jsonw_kopt(j, "propagationPolicy", o->propagation);
    if (o->uid || o->version) {
        jsonw_kbegin(j, "preconditions", '{');
        jsonw_kopt(j, "uid", o->uid);
        jsonw_kopt(j, "resourceVersion", o->version);
        jsonw_end(j);
    }
    if (dry_run) { /* the API server does not look at ?dryRun= of a DELETE that has a body */
        jsonw_kbegin(j, "dryRun", '[');
        jsonw_str(j, "All");
        jsonw_end(j);
    }
}

void kube_delete_body(const struct kube_delete_options *opts, bool dry_run, struct str *out) {
    struct jsonw j;
    jsonw_init(&j, out, false);
    jsonw_begin(&j, '{');
    jsonw_kstr(&j, "apiVersion", "v1");
    jsonw_kstr(&j, "kind", "DeleteOptions");
    add_delete_options(&j, opts, dry_run);
    jsonw_end(&j);
}

struct kube_op *kube_delete(struct kube_client *c, const struct kube_write *w,
                            const struct kube_delete_options *opts, kube_reply_fn *fn, void *arg) {
    _cleanup_str_ struct str body = STR_INIT;
    kube_delete_body(opts, w->dry_run, &body);
    /* The answer is the object while it is still terminating, or a Status when it is gone at once.
     */
    return write_op(c, w, "DELETE", w->name, NULL, str_get(&body), w->kind, fn, arg);
}

struct kube_op *kube_evict(struct kube_client *c, const struct kube_write *w, const char *uid,
                           int64_t grace, kube_reply_fn *fn, void *arg) {
    _cleanup_str_ struct str body = STR_INIT;
    struct jsonw j;
    struct kube_delete_options opts = {.uid = uid, .grace = grace};
    assert(!str_empty(uid));
    jsonw_init(&j, &body, false);
    jsonw_begin(&j, '{');
    jsonw_kstr(&j, "apiVersion", "policy/v1");
    jsonw_kstr(&j, "kind", "Eviction");
    jsonw_kbegin(&j, "metadata", '{');
    jsonw_kstr(&j, "name", w->name);
    jsonw_kopt(&j, "namespace", w->ns);
    jsonw_end(&j);
    jsonw_kbegin(&j, "deleteOptions", '{');
    add_delete_options(&j, &opts, w->dry_run);
    jsonw_end(&j);
    jsonw_end(&j);
    struct kube_write eviction = *w;
    eviction.kind = &kind_pod;
    eviction.subresource = "eviction";
    return kube_create(c, &eviction, str_get(&body), fn, arg);
}

/* --- one thing after another --- */

struct run {
    struct kube_client *client;
    struct kube_held *hold;
    bool done;
};

static void on_reply(void *arg, struct kube_reply *reply) {
    struct run *run = arg;
    struct kube_held *h = run->hold;
    h->reply = *reply;
    reply->obj = NULL;
    h->message = xstrdup(reply->message);
    h->cause = reply->cause ? xstrdup(reply->cause) : NULL;
    h->warning = reply->warning ? xstrdup(reply->warning) : NULL;
    h->body = reply->body.p ? xstrndup(reply->body.p, reply->body.len) : NULL;
    h->reply.message = h->message;
    h->reply.cause = h->cause;
    h->reply.warning = h->warning;
    h->reply.body.p = h->body;
    h->reply.status = NULL;
    run->done = true;
    loop_stop(run->client->loop);
}

void kube_run(struct kube_client *c, const struct kube_op_spec *spec, struct kube_held *hold) {
    *hold = (struct kube_held){0};
    struct run run = {c, hold, false};
    kube_op_start(c, spec, on_reply, &run);
    while (!run.done)
        loop_run(c->loop);
}

void kube_held_done(struct kube_client *c, const struct kind *result, struct kube_held *hold) {
    if (hold->reply.obj)
        object_free(result, c->pool, hold->reply.obj);
    free(hold->message);
    free(hold->cause);
    free(hold->warning);
    free(hold->body);
    *hold = (struct kube_held){0};
}
