/* A tiny Kubernetes API for one Lease. */
#include "support/mini_lease.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "base/vec.h"

struct mini_lease {
    struct loop *loop;
    json_t *object; /* NULL: none */
    uint64_t version;
    int64_t changed;
    VEC(struct kube_call *) calls; /* all that are under way, of all links */
};

struct kube_call {
    struct mini_link *link; /* NULL: its sender is gone */
    struct mini_lease *lease;
    const struct kube_handler *handler;
    void *arg;
    char *method, *path, *body;
    struct loop_timer *timer, *timeout;
    bool lose, carried_out, busy, dead;
    int refuse; /* with this code, 0: no */
    int64_t back;
    int code;
    char *answer;
};

/* --- the object --- */

static void touch(struct mini_lease *m) {
    char version[32];
    snprintf(version, sizeof version, "%" PRIu64, ++m->version);
    json_object_set_new(json_object_get(m->object, "metadata"), "resourceVersion",
                        json_string(version));
    m->changed = loop_now(m->loop);
}

const json_t *mini_lease_get(const struct mini_lease *m) {
    return m->object;
}

void mini_lease_set(struct mini_lease *m, const char *text) {
    json_decref(m->object);
    m->object = NULL;
    if (!text)
        return;
    _cleanup_free_ char *copy = xstrdup(text);
    for (char *p = copy; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    m->object = json_loads(copy, 0, NULL);
    if (!m->object)
        abort();
    touch(m);
}

const char *mini_lease_str(const struct mini_lease *m, const char *key) {
    return strna(json_str(json_object_get(m->object, "spec"), key));
}

int64_t mini_lease_int(const struct mini_lease *m, const char *key) {
    const json_t *v = json_object_get(json_object_get(m->object, "spec"), key);
    return json_is_integer(v) ? json_integer_value(v) : -1;
}

void mini_lease_put(struct mini_lease *m, const char *key, json_t *value) {
    json_object_set_new(json_object_get(m->object, "spec"), key, value);
    touch(m);
}

int64_t mini_lease_changed(const struct mini_lease *m) {
    return m->changed;
}

/* RFC 7386. */
static void merge(json_t *target, json_t *patch) {
    const char *key;
    json_t *value;
    json_object_foreach(patch, key, value) {
        json_t *old = json_object_get(target, key);
        if (json_is_null(value)) {
            json_object_del(target, key);
        } else if (json_is_object(value)) {
            if (!json_is_object(old)) {
                json_object_set_new(target, key, json_object());
                old = json_object_get(target, key);
            }
            merge(old, value);
        } else {
            json_object_set(target, key, value);
        }
    }
}

static char *status(int code, const char *reason) {
    return xasprintf("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                     "\"message\":\"%s\",\"reason\":\"%s\",\"code\":%d}",
                     reason, reason, code);
}

static int refuse(struct kube_call *c, int code, const char *reason) {
    c->answer = status(code, reason);
    return code;
}

static int show(struct kube_call *c, int code) {
    c->answer = json_dumps(c->lease->object, JSON_COMPACT);
    return code;
}

static int create(struct kube_call *c, json_t *body) {
    struct mini_lease *m = c->lease;
    if (m->object)
        return refuse(c, 409, "AlreadyExists");
    m->object = json_incref(body);
    if (!json_object_get(m->object, "metadata"))
        json_object_set_new(m->object, "metadata", json_object());
    touch(m);
    return show(c, 201);
}

static int change(struct kube_call *c, json_t *body) {
    struct mini_lease *m = c->lease;
    if (!m->object)
        return refuse(c, 404, "NotFound");
    const char *wanted = json_str(json_object_get(body, "metadata"), "resourceVersion");
    const char *have = json_str(json_object_get(m->object, "metadata"), "resourceVersion");
    if (!str_empty(wanted) && !str_same(wanted, have))
        return refuse(c, 409, "Conflict");
    if (streq(c->method, "PUT")) {
        json_decref(m->object);
        m->object = json_incref(body);
    } else {
        merge(m->object, body);
    }
    touch(m);
    return show(c, 200);
}

static int carry_out(struct kube_call *c) {
    if (c->refuse)
        return refuse(c, c->refuse, c->refuse == 409 ? "Conflict" : "InternalError");
    if (streq(c->method, "GET"))
        return c->lease->object ? show(c, 200) : refuse(c, 404, "NotFound");
    _cleanup_json_ json_t *body = json_loads(c->body, 0, NULL);
    if (!json_is_object(body))
        return refuse(c, 400, "BadRequest");
    return streq(c->method, "POST") ? create(c, body) : change(c, body);
}

/* --- calls --- */

static void call_free(struct kube_call *c) {
    struct mini_lease *m = c->lease;
    for (size_t i = 0; i < m->calls.len; i++) {
        if (m->calls.p[i] == c) {
            memmove(&m->calls.p[i], &m->calls.p[i + 1],
                    (--m->calls.len - i) * sizeof m->calls.p[0]);
            break;
        }
    }
    loop_timer_free(c->timer);
    loop_timer_free(c->timeout);
    free(c->method);
    free(c->path);
    free(c->body);
    free(c->answer);
    free(c);
}

/* Its sender hears no more of it; what was sent goes on. */
static void abandon(struct kube_call *c) {
    c->link = NULL;
    loop_timer_stop(c->timeout);
    if (c->busy)
        c->dead = true;
    else if (c->carried_out || !loop_timer_pending(c->timer))
        call_free(c);
}

static void finish(struct kube_call *c, int error, bool sent, const char *msg) {
    const struct kube_handler *handler = c->handler;
    void *arg = c->arg;
    struct kube_done done = {.code = c->code, .error = error, .sent = sent, .msg = msg};
    abandon(c);
    handler->done(arg, &done);
}

static void on_timeout(void *arg) {
    finish(arg, -ETIMEDOUT, true, "no answer came in time");
}

static void deliver(struct kube_call *c) {
    struct kube_head head = {
        .code = c->code, .content_type = "application/json", .retry_after = -1};
    int rc = 0;
    c->busy = true;
    c->handler->head(c->arg, &head);
    if (!c->dead)
        rc = c->handler->data(c->arg, c->answer, strlen(c->answer));
    c->busy = false;
    if (c->dead)
        call_free(c);
    else
        finish(c, rc, true, rc ? "the receiver stopped it" : NULL);
}

static void on_timer(void *arg) {
    struct kube_call *c = arg;
    if (!c->carried_out) {
        c->carried_out = true;
        c->code = carry_out(c);
        if (!c->link)
            call_free(c);
        else
            loop_timer_set(c->timer, c->back);
        return;
    }
    if (c->lose) {
        c->code = 0;
        finish(c, -ECONNRESET, true, "the connection was lost");
    } else {
        deliver(c);
    }
}

static void on_refused(void *arg) {
    struct kube_call *c = arg;
    c->carried_out = true;
    if (c->link)
        finish(c, -ECONNREFUSED, false, "connection refused");
    else
        call_free(c);
}

/* --- links --- */

static bool bad_luck(struct mini_link *l) {
    return prng_range(&l->prng, 0, 1000) < l->faults;
}

static struct kube_call *start(struct kube_transport *t, const struct kube_request *req,
                               const struct kube_handler *handler, void *arg) {
    struct mini_link *l = (struct mini_link *)t;
    bool get = streq(req->method, "GET");
    bool cut = l->cut || bad_luck(l), hang = l->hang || bad_luck(l);
    *(get ? &l->gets : &l->writes) += 1;
    struct kube_call *c = xnew(struct kube_call);
    *c = (struct kube_call){
        .link = l,
        .lease = l->lease,
        .handler = handler,
        .arg = arg,
        .method = xstrdup(req->method),
        .path = xstrdup(req->path),
        .body = xstrndup(req->body, req->body_len),
        .timer = loop_timer_new(l->lease->loop, cut ? on_refused : on_timer, c),
        .timeout = loop_timer_new(l->lease->loop, on_timeout, c),
        .lose = l->lose || bad_luck(l),
        .refuse = l->code                    ? l->code
                  : bad_luck(l)              ? 500
                  : l->refuse_writes && !get ? 409
                                             : 0,
        .back = l->steady ? l->back : prng_range(&l->prng, 0, l->back + 1),
    };
    *vec_push(&l->lease->calls) = c;
    if (cut || !hang)
        loop_timer_set(c->timer, l->steady ? l->there : prng_range(&l->prng, 0, l->there + 1));
    if (req->timeout && !l->late)
        loop_timer_set(c->timeout, req->timeout);
    return c;
}

static void cancel(struct kube_transport *t, struct kube_call *c) {
    (void)t;
    abandon(c);
}

static void link_free(struct kube_transport *t) {
    struct mini_link *l = (struct mini_link *)t;
    struct mini_lease *m = l->lease;
    for (size_t i = m->calls.len; i-- > 0;)
        if (m->calls.p[i]->link == l)
            abandon(m->calls.p[i]);
    free(l);
}

static const struct kube_transport_ops ops = {start, cancel, link_free};

struct mini_link *mini_lease_link(struct mini_lease *m, uint64_t seed) {
    struct mini_link *l = xnew(struct mini_link);
    l->transport.ops = &ops;
    l->lease = m;
    l->prng.state = seed;
    return l;
}

struct mini_lease *mini_lease_new(struct loop *loop) {
    struct mini_lease *m = xnew(struct mini_lease);
    m->loop = loop;
    m->version = 100;
    return m;
}

void mini_lease_free(struct mini_lease *m) {
    while (m->calls.len)
        call_free(m->calls.p[0]);
    vec_done(&m->calls);
    json_decref(m->object);
    free(m);
}
