/* The verb `doctor`: is everything there that Slipway needs, and what will be trouble? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "cli/session.h"
#include "cli/verb.h"
#include "engine/blocker.h"
#include "engine/lint.h"
#include "kube/permissions.h"

struct doctor_opts {
    struct connection_opts connection;
    struct document_opts output;
    bool all;
};

enum {
    OLDEST_MINOR = 22, /* policy/v1 evictions */
    TESTED_MIN = 33,
    TESTED_MAX = 36, /* what the tests run against */
    SKEW_WARN = 2,   /* seconds: certificates, leases and logs still make sense */
    SKEW_BAD = 30,   /* a node lease is late after 40 */
    SHOWN = 10,      /* of a long list of findings */
};

struct finding {
    enum state state;
    const char *check; /* stable word */
    char *text, *hint;
};

struct doctor {
    struct session session;
    VEC(struct finding) findings;
    int pending; /* reviews under way */
};

static void find(struct doctor *d, enum state state, const char *check, char *text, char *hint) {
    *vec_push(&d->findings) = (struct finding){state, check, text, hint};
}

/* --- the server --- */

static void judge_version(struct doctor *d, const json_t *v) {
    const char *git = json_str(v, "gitVersion"), *minor = json_str(v, "minor");
    long m = minor ? strtol(minor, NULL, 10) : 0; /* "33+" is 33 */
    if (m < OLDEST_MINOR)
        find(d, STATE_BAD, "version",
             xasprintf("Kubernetes %s is too old: evictions of policy/v1 came with 1.%d", git,
                       OLDEST_MINOR),
             xstrdup("upgrade the control plane"));
    else if (m < TESTED_MIN || m > TESTED_MAX)
        find(d, STATE_WARN, "version",
             xasprintf("Kubernetes %s is outside of what was tested (1.%d to 1.%d)", git,
                       TESTED_MIN, TESTED_MAX),
             NULL);
    else
        find(d, STATE_GOOD, "version", xasprintf("Kubernetes %s", git), NULL);
}

/* The server's clock is only told in whole seconds, some time between asking and answering. */
static void judge_clock(struct doctor *d, int64_t asked, int64_t answered, int64_t date) {
    if (!date)
        return;
    int64_t low = date - answered, high = date + USEC_PER_SEC - asked;
    int64_t skew = low > 0 ? low : high < 0 ? high : 0;
    int64_t size = llabs(skew);
    const char *way = skew > 0 ? "behind" : "ahead of";
    if (size < SEC(SKEW_WARN))
        find(d, STATE_GOOD, "clock", xstrdup("this clock agrees with the server's"), NULL);
    else
        find(d, size < SEC(SKEW_BAD) ? STATE_WARN : STATE_BAD, "clock",
             xasprintf("this clock is %.0f s %s the server's", (double)size / USEC_PER_SEC, way),
             xstrdup("run a time service on both machines"));
}

static int ask_server(struct doctor *d) {
    struct session *s = &d->session;
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
        find(d, STATE_GOOD, "reach",
             xasprintf("%s answers in %.0f ms (%s%s%s)", c->server,
                       (double)(end - start) / USEC_PER_MSEC, c->context ? "context " : "",
                       c->context ? c->context : c->origin, c->user ? ", user " : ""),
             NULL);
        if (c->user) {
            struct finding *f = &d->findings.p[d->findings.len - 1];
            char *text = f->text;
            text[strlen(text) - 1] = '\0';
            f->text = xasprintf("%s%s)", text, c->user);
            free(text);
        }
        judge_version(d, v);
        judge_clock(d, start, end, held.reply.date);
    }
    kube_held_done(&s->conn.client, NULL, &held);
    return rc;
}

/* --- permissions --- */

struct review {
    struct doctor *doctor;
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
    if (!--r->doctor->pending)
        loop_stop(r->doctor->session.loop);
}

static void judge_permission(struct doctor *d, const struct permission *p, struct review *reviews,
                             size_t n) {
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
        find(d, STATE_BAD, "permission",
             xasprintf("%s %s: cannot be asked: %s", str_get(&all), str_get(&name), failed), NULL);
    else if (missing.len)
        find(d, STATE_BAD, "permission",
             xasprintf("%s %s is not allowed, needed %s", str_get(&missing), str_get(&name),
                       p->what_for),
             xstrdup("add it to the user's ClusterRole"));
    else
        find(d, STATE_GOOD, "permission", xasprintf("%s %s", str_get(&all), str_get(&name)), NULL);
}

static void ask_permissions(struct doctor *d) {
    VEC(struct review) reviews = VEC_INIT;
    for (size_t i = 0; i < n_permissions; i++)
        for (const char *const *verb = permissions[i].verbs; *verb; verb++)
            *vec_push(&reviews) = (struct review){d, &permissions[i], *verb, UNASKED, NULL};
    d->pending = (int)reviews.len;
    for (size_t i = 0; i < reviews.len; i++) {
        _cleanup_str_ struct str body = STR_INIT;
        permission_review(reviews.p[i].permission, reviews.p[i].verb, &body);
        struct kube_op_spec spec = {
            .method = "POST",
            .path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            .body = str_get(&body),
        };
        kube_op_start(&d->session.conn.client, &spec, on_review, &reviews.p[i]);
    }
    while (d->pending)
        session_wait(&d->session);
    for (size_t i = 0; i < reviews.len;) {
        size_t n = 1;
        while (i + n < reviews.len && reviews.p[i + n].permission == reviews.p[i].permission)
            n++;
        judge_permission(d, reviews.p[i].permission, &reviews.p[i], n);
        i += n;
    }
    for (size_t i = 0; i < reviews.len; i++)
        free(reviews.p[i].message);
    vec_done(&reviews);
}

/* --- budgets --- */

static void judge_budgets(struct doctor *d, const struct lint *lint, size_t shown) {
    for (size_t i = 0; i < lint->n_never && i < shown; i++) {
        const struct lint_budget *b = &lint->never[i];
        find(d, STATE_WARN, "budget",
             xasprintf("PodDisruptionBudget %s/%s never allows a disruption of its %zu pod%s (%s)",
                       b->pdb->meta.ns, b->pdb->meta.name, b->pods, b->pods == 1 ? "" : "s",
                       b->why),
             xstrdup(blocker_row(BLOCKER_PDB_UNSATISFIABLE)->hint));
    }
    for (size_t i = 0; i < lint->n_overlaps && i < shown; i++) {
        const struct lint_overlap *o = &lint->overlaps[i];
        _cleanup_str_ struct str names = STR_INIT;
        for (size_t k = 0; k < o->n_pdbs; k++)
            str_addf(&names, "%s%s", k ? ", " : "", o->pdbs[k]->meta.name);
        find(d, STATE_WARN, "overlap",
             xasprintf("%zu pod%s in %s cannot be evicted: selected by %zu PodDisruptionBudgets "
                       "(%s), for example %s",
                       o->pods, o->pods == 1 ? "" : "s", strna(o->example->meta.ns), o->n_pdbs,
                       str_get(&names), o->example->meta.name),
             xstrdup(blocker_row(BLOCKER_MULTIPLE_PDBS)->hint));
    }
    size_t more = (lint->n_never > shown ? lint->n_never - shown : 0) +
                  (lint->n_overlaps > shown ? lint->n_overlaps - shown : 0);
    if (more)
        find(d, STATE_WARN, "budget", xasprintf("%zu more findings of this sort", more),
             xstrdup("see all of them with --all or -o json"));
    if (!lint->n_never && !lint->n_overlaps)
        find(d, STATE_GOOD, "budget",
             xasprintf("%zu PodDisruptionBudget%s, each of which can allow a disruption",
                       lint->budgets, lint->budgets == 1 ? "" : "s"),
             NULL);
}

static int look_at_budgets(struct doctor *d, size_t shown) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct lint lint;
    struct store *pods = session_feed(&d->session, &kind_pod, &(struct session_feed){0});
    struct store *budgets = session_feed(&d->session, &kind_pdb, &(struct session_feed){0});
    struct pdbs *pdbs = pdbs_new(pods, budgets);
    int rc = session_sync(&d->session);
    if (!rc) {
        lint_budgets(pods, budgets, pdbs, &arena, &lint);
        judge_budgets(d, &lint, shown);
    } else {
        find(d, STATE_BAD, "budget", xstrdup("the PodDisruptionBudgets could not be looked at"),
             NULL);
    }
    pdbs_free(pdbs);
    return rc;
}

/* --- the report --- */

static const char *const state_words[] = {
    [STATE_GOOD] = "ok", [STATE_WARN] = "warning", [STATE_BAD] = "bad"};
static const enum glyph state_glyphs[] = {
    [STATE_GOOD] = GLYPH_OK, [STATE_WARN] = GLYPH_WARN, [STATE_BAD] = GLYPH_BAD};
static const enum style state_styles[] = {
    [STATE_GOOD] = STYLE_GREEN, [STATE_WARN] = STYLE_YELLOW, [STATE_BAD] = STYLE_RED};

static int report_document(struct doctor *d, const struct doctor_opts *o) {
    _cleanup_str_ struct str json = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &json, true);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "schema", "slipway.doctor/1.0");
    jsonw_kbegin(&w, "items", '[');
    for (size_t i = 0; i < d->findings.len; i++) {
        const struct finding *f = &d->findings.p[i];
        jsonw_begin(&w, '{');
        jsonw_kstr(&w, "check", f->check);
        jsonw_kstr(&w, "state", state_words[f->state]);
        jsonw_kstr(&w, "message", f->text);
        jsonw_kopt(&w, "hint", f->hint);
        jsonw_end(&w);
    }
    jsonw_end(&w);
    jsonw_end(&w);
    return cli_print_document(d->session.cli, &json, &o->output.format, true);
}

static int report_text(struct doctor *d) {
    struct term *out = &d->session.cli->out;
    unsigned n[STATE_BAD + 1] = {0};
    for (size_t i = 0; i < d->findings.len; i++) {
        const struct finding *f = &d->findings.p[i];
        n[f->state]++;
        term_styled(out, state_styles[f->state], term_glyph(state_glyphs[f->state], out->utf8));
        term_printf(out, " ");
        term_printf(out, "%s: ", state_words[f->state]);
        term_text(out, f->text);
        term_printf(out, "\n");
        if (f->hint)
            term_printf(out, "    %s\n", f->hint);
    }
    term_printf(out, "%u ok, %u warning%s, %u bad\n", n[STATE_GOOD], n[STATE_WARN],
                n[STATE_WARN] == 1 ? "" : "s", n[STATE_BAD]);
    return EXIT_DONE;
}

static int run(struct cli *cli, int argc, char **argv) {
    const struct doctor_opts *o = cli->opts;
    struct doctor d = {0};
    (void)argc, (void)argv;
    int rc = session_open(cli, &o->connection, &d.session);
    if (rc)
        return rc;
    rc = ask_server(&d);
    if (!rc) {
        ask_permissions(&d);
        /* Without the budgets the rest is still worth printing. */
        bool document = output_is_document(&o->output.format);
        int budgets = look_at_budgets(&d, o->all || document ? SIZE_MAX : SHOWN);
        rc = document ? report_document(&d, o) : report_text(&d);
        for (size_t i = 0; !rc && i < d.findings.len; i++)
            if (d.findings.p[i].state == STATE_BAD)
                rc = EXIT_FAILED;
        rc = rc ? rc : budgets;
    }
    for (size_t i = 0; i < d.findings.len; i++) {
        free(d.findings.p[i].text);
        free(d.findings.p[i].hint);
    }
    vec_done(&d.findings);
    session_close(&d.session);
    return rc;
}

static const struct option_group own_options = {
    "Options", (const struct option[]){{.name = "all",
                                        .kind = OPTION_FLAG,
                                        .offset = offsetof(struct doctor_opts, all),
                                        .help = "Show every finding, however many there are"},
                                       {0}}};

const struct verb verb_doctor = {
    .name = "doctor",
    .summary = "Check that a cluster is fit for maintenance",
    .text =
        "Looks at what a maintenance needs, before the night of the maintenance: whether the API "
        "server can be reached and how its version and clock compare with ours; each permission "
        "that {prog} needs, asked from the server (SelfSubjectAccessReview); "
        "PodDisruptionBudgets that never allow a disruption; pods that more than one "
        "PodDisruptionBudget selects, which the API server never evicts. Nothing is changed.\n"
        "\n"
        "Warnings do not change the exit status; something bad ends in 1.",
    .examples = {{"Check the current context's cluster", "doctor"},
                 {"What is wrong, for a program", "doctor -o json"},
                 {"May this user drain nodes?", "doctor --as system:serviceaccount:ops:drainer"}},
    .options =
        (const struct verb_options[]){
            {&own_options, 0},
            {&document_options, offsetof(struct doctor_opts, output)},
            {&connection_options, offsetof(struct doctor_opts, connection)},
            {0}},
    .opts_size = sizeof(struct doctor_opts),
    .exits = (const enum exit_code[]){EXIT_ACCESS, 0},
    .see_also = (const char *const[]){"status", NULL},
    .common = true,
    .run = run,
};
