/* What `doctor` asks the API server itself. */
#include "cli/doctor_server.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "kube/permissions.h"

enum {
    OLDEST_MINOR = 22, /* policy/v1 evictions */
    SKEW_WARN = 2,     /* seconds: certificates, leases and logs still make sense */
    SKEW_BAD = 30,     /* a node lease is late after 40 */
};

void doctor_find(struct doctor_findings *f, enum state state, const char *check, char *text,
                 char *hint) {
    *vec_push(&f->list) = (struct doctor_finding){state, check, text, hint};
}

void doctor_findings_done(struct doctor_findings *f) {
    for (size_t i = 0; i < f->list.len; i++) {
        free(f->list.p[i].text);
        free(f->list.p[i].hint);
    }
    vec_done(&f->list);
}

/* --- the server --- */

static void judge_version(struct doctor_findings *f, const json_t *v) {
    const char *git = json_str(v, "gitVersion"), *minor = json_str(v, "minor");
    long m = minor ? strtol(minor, NULL, 10) : 0; /* "33+" is 33 */
    if (m < OLDEST_MINOR)
        doctor_find(f, STATE_BAD, "version",
                    xasprintf("Kubernetes %s is too old: evictions of policy/v1 came with 1.%d",
                              git, OLDEST_MINOR),
                    xstrdup("upgrade the control plane"));
    else if (m < TESTED_MIN || m > TESTED_MAX)
        doctor_find(f, STATE_WARN, "version",
                    xasprintf("Kubernetes %s is outside of what was tested (1.%d to 1.%d)", git,
                              TESTED_MIN, TESTED_MAX),
                    NULL);
    else
        doctor_find(f, STATE_GOOD, "version", xasprintf("Kubernetes %s", git), NULL);
}

/* The server's clock is only told in whole seconds, some time between asking and answering. */
static void judge_clock(struct doctor_findings *f, int64_t asked, int64_t answered, int64_t date) {
    if (!date)
        return;
    int64_t low = date - answered, high = date + USEC_PER_SEC - asked;
    int64_t skew = low > 0 ? low : high < 0 ? high : 0;
    int64_t size = llabs(skew);
    const char *way = skew > 0 ? "behind" : "ahead of";
    if (size < SEC(SKEW_WARN))
        doctor_find(f, STATE_GOOD, "clock", xstrdup("this clock agrees with the server's"), NULL);
    else
        doctor_find(
            f, size < SEC(SKEW_BAD) ? STATE_WARN : STATE_BAD, "clock",
            xasprintf("this clock is %.0f s %s the server's", (double)size / USEC_PER_SEC, way),
            xstrdup("run a time service on both machines"));
}

int doctor_ask_server(struct session *s, struct doctor_findings *f) {
    const struct kube_config *c = s->conn.config;
    struct kube_held held;
    int64_t start = loop_wall(s->loop);
    int rc =
        session_call(s, &(struct kube_op_spec){.path = "/version"}, "reach the API server", &held);
    if (rc)
        return rc;
    int64_t end = loop_wall(s->loop);
    _cleanup_json_ json_t *v = json_loads(strna(held.body), 0, NULL);
    if (!json_str(v, "gitVersion")) {
        rc = session_fail(s, "reach the API server", KUBE_NOT_KUBERNETES,
                          "/version names no version");
    } else {
        doctor_find(f, STATE_GOOD, "reach",
                    xasprintf("%s answers in %.0f ms (%s%s%s%s)", c->server,
                              (double)(end - start) / USEC_PER_MSEC, c->context ? "context " : "",
                              c->context ? c->context : c->origin, c->user ? ", user " : "",
                              strna(c->user)),
                    NULL);
        judge_version(f, v);
        judge_clock(f, start, end, held.reply.date);
    }
    kube_held_done(&s->conn.client, NULL, &held);
    return rc;
}

/* --- permissions --- */

struct asking {
    struct session *session;
    int pending; /* reviews under way */
};

struct review {
    struct asking *asking;
    const struct permission *permission;
    const char *verb;
    enum { UNASKED, ALLOWED, DENIED, FAILED } answer;
    char *message;
};

static void on_review(void *arg, struct kube_reply *reply) {
    struct review *r = arg;
    r->answer = FAILED;
    if (reply->outcome == KUBE_OK) {
        _cleanup_json_ json_t *v = json_loadb(reply->body.p, reply->body.len, 0, NULL);
        const json_t *status = json_object_get(v, "status");
        const json_t *allowed = json_object_get(status, "allowed");
        if (json_is_boolean(allowed))
            r->answer = json_is_true(allowed) ? ALLOWED : DENIED;
    }
    if (r->answer == FAILED)
        r->message = xstrdup(reply->message);
    if (!--r->asking->pending)
        loop_stop(r->asking->session->loop);
}

static void judge_permission(struct doctor_findings *f, const struct permission *p,
                             struct review *reviews, size_t n) {
    _cleanup_str_ struct str name = STR_INIT, missing = STR_INIT, all = STR_INIT;
    const char *failed = NULL;
    permission_name(p, &name);
    for (size_t i = 0; i < n; i++) {
        str_addf(&all, "%s%s", all.len ? ", " : "", reviews[i].verb);
        if (reviews[i].answer == DENIED)
            str_addf(&missing, "%s%s", missing.len ? ", " : "", reviews[i].verb);
        if (reviews[i].answer == FAILED)
            failed = reviews[i].message;
    }
    if (failed)
        doctor_find(f, STATE_BAD, "permission",
                    xasprintf("%s %s: cannot be asked: %s", str_get(&all), str_get(&name), failed),
                    NULL);
    else if (missing.len)
        doctor_find(f, p->optional ? STATE_WARN : STATE_BAD, "permission",
                    xasprintf("%s %s is not allowed, needed %s", str_get(&missing), str_get(&name),
                              p->what_for),
                    xstrdup("add it to the user's ClusterRole"));
    else
        doctor_find(f, STATE_GOOD, "permission", xasprintf("%s %s", str_get(&all), str_get(&name)),
                    NULL);
}

struct groups {
    struct session *session;
    json_t *list; /* NULL: not known */
    bool answered;
};

static void on_groups(void *arg, struct kube_reply *reply) {
    struct groups *g = arg;
    if (reply->outcome == KUBE_OK) {
        _cleanup_json_ json_t *v = json_loadb(reply->body.p, reply->body.len, 0, NULL);
        g->list = json_incref(json_object_get(v, "groups"));
    }
    g->answered = true;
    loop_stop(g->session->loop);
}

/* Discovery, which everybody may read; without an answer no system is taken to be there. */
static json_t *read_groups(struct session *s) {
    struct groups g = {.session = s};
    kube_op_start(&s->conn.client, &(struct kube_op_spec){.path = "/apis"}, on_groups, &g);
    while (!g.answered)
        session_wait(s);
    return g.list;
}

static bool is_asked(const struct permission *p, const json_t *groups) {
    for (size_t i = 0; p->where && i < json_array_size(groups); i++)
        if (str_same(json_str(json_array_get(groups, i), "name"), p->where))
            return true;
    return !p->where;
}

void doctor_ask_permissions(struct session *s, struct doctor_findings *f) {
    struct asking asking = {.session = s};
    VEC(struct review) reviews = VEC_INIT;
    _cleanup_json_ json_t *groups = read_groups(s);
    for (size_t i = 0; i < n_permissions; i++)
        for (const char *const *verb = permissions[i].verbs;
             *verb && is_asked(&permissions[i], groups); verb++)
            *vec_push(&reviews) = (struct review){&asking, &permissions[i], *verb, UNASKED, NULL};
    asking.pending = (int)reviews.len;
    for (size_t i = 0; i < reviews.len; i++) {
        _cleanup_str_ struct str body = STR_INIT;
        permission_review(reviews.p[i].permission, reviews.p[i].verb, &body);
        struct kube_op_spec spec = {
            .method = "POST",
            .path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            .body = str_get(&body),
        };
        kube_op_start(&s->conn.client, &spec, on_review, &reviews.p[i]);
    }
    while (asking.pending)
        session_wait(s);
    for (size_t i = 0; i < reviews.len;) {
        size_t n = 1;
        while (i + n < reviews.len && reviews.p[i + n].permission == reviews.p[i].permission)
            n++;
        judge_permission(f, reviews.p[i].permission, &reviews.p[i], n);
        i += n;
    }
    for (size_t i = 0; i < reviews.len; i++)
        free(reviews.p[i].message);
    vec_done(&reviews);
}
